"""Where ParaView, VTK, NumPy and gnuplot are missing, all that does not need them works, and what does says so.
Argument: the path of the program."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
HANG = 1800  # s, after which a run is taken for hanging; a busy machine needs far less
HIDDEN = ("paraview", "vtk", "vtkmodules", "numpy", "scipy", "matplotlib")


class Without(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        hidden, empty = (os.path.join(self.folder.name, name) for name in ("hidden", "bin"))
        os.mkdir(hidden)
        os.mkdir(empty)
        for name in HIDDEN:
            with open(os.path.join(hidden, name + ".py"), "w") as file:
                file.write(f"raise ImportError('{name} is hidden')\n")
        # Programs are found in the search path: with nothing in it but a shell there is neither gnuplot nor Python.
        os.symlink("/bin/sh", os.path.join(empty, "sh"))
        self.bare = {"PATH": empty, "PYTHONPATH": hidden, "HOME": self.folder.name}
        self.results = os.path.join(self.folder.name, "results")

    def percuss(self, *arguments, environment=None):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=HANG,
                              env=environment or self.bare)

    def succeed(self, *arguments):
        answer = self.percuss(*arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def test_the_stubs_hide(self):
        for name in HIDDEN:
            answer = subprocess.run(["/usr/bin/python3", "-c", f"import {name}"], env=self.bare, capture_output=True,
                                    text=True, timeout=HANG)
            self.assertIn(f"{name} is hidden", answer.stderr)

    def test_all_that_computes_works(self):
        short = ["--set", "time.end=0.02"]
        self.succeed("run", "cases/bar_impact", *short, "-q", "-o", self.results)
        with open(os.path.join(self.results, "summary.json")) as file:
            self.assertEqual(json.load(file)["certificate"]["verdict"], "held")
        self.assertTrue(any(name.endswith((".vtu", ".vtp", ".pvd", ".vtk")) for _, _, names in os.walk(self.results)
                            for name in names), "no frames were written")
        self.succeed("check", "cases/bar_impact")
        self.succeed("statics", "cases/cantilever_stop", "-q", "-o", self.results + "_statics")
        self.succeed("modes", "cases/cantilever_stop", "--count", "2", "-q", "-o", self.results + "_modes")
        self.succeed("study", "cases/bar_impact", *short, "--vary", "scheme.rho_inf=0.5,1", "-q", "-o",
                     self.results + "_study")
        self.succeed("compare", self.results, self.results)
        self.succeed("report", self.results, "-q")
        self.succeed("new", "bar", self.results + "_new")
        for arguments in (["list"], ["list", "--schema"], ["help", "--man"], ["--version"]):
            self.assertTrue(self.succeed(*arguments))

    def test_what_needs_them_says_so(self):
        self.succeed("run", "cases/bar_impact", "--set", "time.end=0.02", "-q", "-o", self.results)
        picture = os.path.join(self.folder.name, "picture.png")
        for search in (self.bare["PATH"], "/usr/bin:/bin"):  # without any Python, and with one that has no ParaView
            answer = self.percuss("view", self.results, "-o", picture, environment={**self.bare, "PATH": search})
            self.assertNotEqual(answer.returncode, 0)
            self.assertRegex(answer.stderr, "(?i)paraview")
            self.assertFalse(os.path.exists(picture))
        answer = self.percuss("plot", self.results, "-o", self.folder.name)
        self.assertIn("gnuplot", answer.stdout + answer.stderr)
        self.assertTrue(any(name.endswith(".gp") for name in os.listdir(self.folder.name)), "no script was written")


if __name__ == "__main__":
    unittest.main()
