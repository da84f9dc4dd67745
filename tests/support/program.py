"""Tests that run the program, whose path is the first argument; cases are texts, in a folder of their own."""

import csv
import functools
import json
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


TOOLS = ("study", "plot", "compare", "report", "view", "fit", "converge")  # commands in Python


def percuss(*arguments, **keywords):
    """Runs the program; a test that needs a command in Python is skipped if that cannot run."""
    if arguments and arguments[0] in TOOLS and not has_tools():
        raise unittest.SkipTest("the library cannot be loaded by Python")
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=HANG, **keywords)


@functools.lru_cache(None)
def has_tools():
    """Whether commands in Python can load the library: not if it has sanitizers, or is built for another processor."""
    return subprocess.run([PROGRAM, "study", "--help"], capture_output=True, timeout=HANG).returncode == 0


def read_rows(path):
    """Rows of a CSV file as texts by column."""
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def read_json(path):
    with open(path) as file:
        return json.load(file)


def read_table(path):
    """Rows of a CSV file by column; a cell that is empty is NaN."""
    return [{key: float(x) if x else math.nan for key, x in row.items()} for row in read_rows(path)]


class Cases(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def path(self, *names):
        return str(self.folder.joinpath(*names))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def percuss(self, *arguments):
        return percuss(*arguments)

    def try_case(self, text, name="case", command="run"):
        return self.percuss(command, self.write(f"{name}.yaml", text), "-q", "-o", self.folder / name)

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
