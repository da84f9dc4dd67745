"""What tests of the Python package share. The path of the program is the first argument; without what the package
needs the tests are skipped."""

import importlib.util
import os
import sys

sys.path.insert(0, "tests/cli")

import program  # noqa: E402
from program import HANG, PROGRAM  # noqa: E402, F401
from tools import call  # noqa: E402 - says where percuss is

STUDY_PROGRAM = PROGRAM + "-study"
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
for name in ("numpy", "pandas", "scipy", "matplotlib"):
    if importlib.util.find_spec(name) is None:
        print(f"{name} is not installed: the Python package is not tested")
        sys.exit(77)
from percuss import units  # noqa: E402


class Studies(program.Cases):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.folder, "out")

    def study(self, *arguments, status=0):
        return call("study", *arguments, "-o", self.out, status=status)

    def rows(self, levels=1):
        """Rows of the finest levels, without units."""
        rows = program.read_rows(os.path.join(self.out, "study.csv"))
        return [{units.split(name)[0]: x for name, x in row.items()} for row in rows[levels - 1::levels]]
