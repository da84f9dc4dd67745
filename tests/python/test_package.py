"""The Python package as a whole: mypy --strict finds nothing, and a wheel holds library and program and works outside
the tree. Argument: the path of the program, beside which mypy keeps what it knows of unchanged files."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.dirname(os.path.abspath(sys.argv.pop(1)))
BAR = os.path.abspath("cases/bar_impact")


class Types(unittest.TestCase):
    def test_mypy_finds_nothing(self):
        if shutil.which("mypy", path="/usr/bin:/bin") is None:
            self.skipTest("mypy is not installed")
        run = subprocess.run(["/usr/bin/mypy", "--strict", f"--cache-dir={BUILD}/mypy", "percuss"], cwd="python",
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)


class Wheel(unittest.TestCase):
    def test_package_works_by_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PERCUSS"))}
            command = [sys.executable, "setup.py", "-q", "egg_info", "-e", folder, "build", "-b", folder + "/temporary"]
            subprocess.run([*command, "build_py", "-d", folder], cwd="python", env={**plain, "PERCUSS_BUILD": BUILD},
                           check=True, capture_output=True)
            used = f"import percuss; print(percuss._lib.path, percuss.run({BAR!r}).summary['energy']['final'])"
            done = subprocess.run([sys.executable, "-B", "-c", used], cwd=folder, env={**plain, "PYTHONPATH": folder},
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            path, energy = done.stdout.split()
            self.assertEqual(path, os.path.join(folder, "percuss", "lib", "libpercuss.so.0"))
            self.assertAlmostEqual(float(energy), 497.544132, delta=1e-5)


unittest.main()
