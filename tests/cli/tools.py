"""Commands of the Python package for tests, in the process of the test: it loads pandas and the like once."""

import contextlib
import io
import os
import subprocess
import sys

from program import PROGRAM, judged

sys.path.insert(0, os.path.abspath("python"))
sys.dont_write_bytecode = True
os.environ.pop("PERCUSS_ROUNDING", None)  # the library would round numbers of Python, pandas and numpy, too
os.environ["PERCUSS_LIBRARY"] = os.path.join(os.path.dirname(PROGRAM), "libpercuss.so.0")


def call(name, *words, status=None, stdout=None, stderr=None):
    """Exit status and texts of `percuss NAME ...`, which are judged if they are given."""
    from percuss import command
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        answer = command.run(name, [str(word) for word in words])
    run = subprocess.CompletedProcess(words, answer, out.getvalue(), err.getvalue())
    return judged(run, (status, stdout, stderr))
