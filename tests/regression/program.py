"""Tests that run the program, whose path is the first argument, on cases written as text in a folder of their own."""

import csv
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
HANG = 1800  # s, after which a run is taken for hanging; a busy machine needs far less


def read_table(path):
    """Rows of a CSV file by column; a cell that is empty is NaN."""
    with open(path, newline="") as file:
        return [{key: float(x) if x else math.nan for key, x in row.items()} for row in csv.DictReader(file)]


class Cases(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def percuss(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=HANG)

    def try_case(self, text, name="case", command="run"):
        (self.folder / f"{name}.yaml").write_text(text)
        return self.percuss(command, self.folder / f"{name}.yaml", "-q", "-o", self.folder / name)

    def history(self, text, name="case"):
        result = self.try_case(text, name)
        self.assertEqual(result.returncode, 0, f"{result.stderr}\n{text}")
        return read_table(self.folder / name / "history.csv")

    def statics(self, text):
        """Exit status, message, rows of statics.csv; none of an earlier call."""
        shutil.rmtree(self.folder / "case", ignore_errors=True)
        done = self.try_case(text, command="statics")
        path = self.folder / "case" / "statics.csv"
        return done.returncode, done.stderr, read_table(path) if path.exists() else []
