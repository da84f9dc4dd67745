"""The Python package under mypy --strict. Argument: the path of the program, beside which mypy
keeps what it knows of unchanged files."""

import os
import shutil
import subprocess
import sys
import unittest

CACHE = os.path.join(os.path.dirname(os.path.abspath(sys.argv.pop(1))), "mypy")


class Types(unittest.TestCase):
    def test_mypy_finds_nothing(self):
        if shutil.which("mypy", path="/usr/bin:/bin") is None:
            self.skipTest("mypy is not installed")
        run = subprocess.run(["/usr/bin/mypy", "--strict", f"--cache-dir={CACHE}", "percuss"], cwd="python",
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)


unittest.main()
