"""Tests that run the program, whose path is the first argument; cases are texts, in a folder of their own."""

import contextlib
import csv
import fcntl
import functools
import json
import math
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
HANG = 1800  # s, after which a run is taken for hanging; a busy machine needs far less


TOOLS = ("study", "plot", "compare", "report", "view", "fit", "converge")  # commands in Python


def judged(run, wanted):
    """The run, which fails a test unless its status, stdout and stderr are those that are wanted; None: any."""
    for name, value in zip(("returncode", "stdout", "stderr"), wanted):
        told = f"{name} is {getattr(run, name)!r}, wanted is {value!r}: {run.args}\n{run.stdout}{run.stderr}"
        assert value in (None, getattr(run, name)), told
    return run


def percuss(*arguments, status=None, stdout=None, stderr=None, **keywords):
    """Runs the program; a test that needs a command in Python is skipped if that cannot run."""
    if arguments and arguments[0] in TOOLS and not has_tools():
        raise unittest.SkipTest("the library cannot be loaded by Python")
    words = [PROGRAM, *map(str, arguments)]
    run = subprocess.run(words, capture_output=True, text=True, timeout=HANG, **keywords)
    return judged(run, (status, stdout, stderr))


def on_terminal(*words, width=80):
    """What a terminal of so many columns gets from the program, or from a command of its own; it must end with 0."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 500, width, 0, 0))
    told = b""
    with subprocess.Popen([PROGRAM, *map(str, words)], stdout=follower, stderr=follower) as process:
        os.close(follower)
        with contextlib.suppress(OSError):  # which is how a terminal ends
            while part := os.read(leader, 65536):
                told += part
    os.close(leader)
    assert process.returncode == 0, told
    return told.decode()


@functools.lru_cache(None)
def has_tools():
    """Whether commands in Python can load the library: not if it has sanitizers, or is built for another processor."""
    return subprocess.run([PROGRAM, "study", "--help"], capture_output=True, timeout=HANG).returncode == 0


def read_rows(path):
    """Rows of a CSV file as texts by column."""
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def read_bytes(path):
    return pathlib.Path(path).read_bytes()


def read_file(path):
    return pathlib.Path(path).read_text()


def read_json(path):
    return json.loads(read_file(path))


def write_file(path, content):
    """Writes a text, or bytes, into a file, whose folder is made if it is not there; returns its path."""
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


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
        return write_file(self.folder / name, text)

    def percuss(self, *arguments, **wanted):
        return percuss(*arguments, **wanted)

    def try_case(self, text, name="case", command="run", **wanted):
        return self.percuss(command, self.write(f"{name}.yaml", text), "-q", "-o", self.folder / name, **wanted)

    def history(self, text, name="case"):
        self.try_case(text, name, status=0)
        return read_table(self.folder / name / "history.csv")

    def statics(self, text):
        """Exit status, message, rows of statics.csv; none of an earlier call."""
        shutil.rmtree(self.folder / "case", ignore_errors=True)
        done = self.try_case(text, command="statics")
        path = self.folder / "case" / "statics.csv"
        return done.returncode, done.stderr, read_table(path) if path.exists() else []
