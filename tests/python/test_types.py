"""The Python package under mypy --strict. Argument: the path of the program, which is not used."""

import shutil
import subprocess
import sys
import unittest


class Types(unittest.TestCase):
    def test_mypy_finds_nothing(self):
        if shutil.which("mypy", path="/usr/bin:/bin") is None:
            self.skipTest("mypy is not installed")
        run = subprocess.run(["/usr/bin/mypy", "--strict", "--cache-dir=/dev/null", "percuss"], cwd="python",
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)


del sys.argv[1:]
unittest.main()
