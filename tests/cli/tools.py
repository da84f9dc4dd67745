"""Commands of the Python package for tests, in the process of the test: it loads pandas and the like once."""

import contextlib
import io
import os
import subprocess
import sys

from program import PROGRAM

sys.path.insert(0, os.path.abspath("python"))
sys.dont_write_bytecode = True
os.environ.pop("PERCUSS_ROUNDING", None)  # the library would round numbers of Python, pandas and numpy, too
os.environ["PERCUSS_LIBRARY"] = os.path.join(os.path.dirname(PROGRAM), "libpercuss.so.0")


def call(name, *words):
    """Exit status and texts of `percuss NAME ...`."""
    from percuss import command
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command.run(name, [str(word) for word in words])
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())
