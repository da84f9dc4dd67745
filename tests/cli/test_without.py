"""Where ParaView, VTK, NumPy and matplotlib are missing, all that does not need them works, and what does says so.
Argument: the path of the program."""

import os
import subprocess
import unittest

import program

HIDDEN = ("paraview", "vtk", "vtkmodules", "numpy", "scipy", "matplotlib")


class Without(program.Cases):
    def setUp(self):
        super().setUp()
        hidden, empty = (self.path(name) for name in ("hidden", "bin"))
        os.mkdir(empty)
        for name in HIDDEN:
            self.write(f"hidden/{name}.py", f"raise ModuleNotFoundError('{name} is hidden', name='{name}')\n")
        # Programs are found in the search path: with nothing in it but a shell there is no Python.
        os.symlink("/bin/sh", os.path.join(empty, "sh"))
        self.bare = {"PATH": empty, "PYTHONPATH": hidden, "HOME": str(self.folder)}
        self.results = self.path("results")

    def percuss(self, *arguments, environment=None, **wanted):
        return program.percuss(*arguments, env=environment or self.bare, **wanted)

    def succeed(self, *arguments):
        return self.percuss(*arguments, status=0).stdout

    def test_the_stubs_hide(self):
        for name in HIDDEN:
            answer = subprocess.run(["/usr/bin/python3", "-c", f"import {name}"], env=self.bare, capture_output=True,
                                    text=True, timeout=program.HANG)
            self.assertIn(f"{name} is hidden", answer.stderr)

    def test_all_that_computes_works(self):
        short = ["--set", "time.end=0.02"]
        self.succeed("run", "cases/bar_impact", *short, "-q", "-o", self.results)
        self.assertEqual(program.read_json(self.path("results", "summary.json"))["certificate"]["verdict"], "held")
        self.assertTrue(any(name.endswith((".vtu", ".vtp", ".pvd", ".vtk")) for _, _, names in os.walk(self.results)
                            for name in names), "no frames were written")
        self.succeed("check", "cases/bar_impact")
        self.succeed("statics", "cases/cantilever_stop", "-q", "-o", self.results + "_statics")
        self.succeed("modes", "cases/cantilever_stop", "--count", "2", "-q", "-o", self.results + "_modes")
        if program.has_tools():
            self.succeed("study", "cases/bar_impact", *short, "--vary", "scheme.rho_inf=0.5,1", "-q", "-o",
                         self.results + "_study")
        self.succeed("new", "bar", self.results + "_new")
        for arguments in (["list"], ["list", "--schema"], ["help", "--man"], ["--version"]):
            self.assertTrue(self.succeed(*arguments))

    @unittest.skipIf(not program.has_tools(), "the library cannot be loaded by Python")
    def test_what_needs_them_says_so(self):
        self.succeed("run", "cases/bar_impact", "--set", "time.end=0.02", "-q", "-o", self.results)
        picture = self.path("picture.png")
        for search in (self.bare["PATH"], "/usr/bin:/bin"):  # without any Python, and with one that has no ParaView
            answer = self.percuss("view", self.results, "-o", picture, environment={**self.bare, "PATH": search})
            self.assertNotEqual(answer.returncode, 0)
            self.assertRegex(answer.stderr, "(?i)paraview|python3-numpy")
            self.assertFalse(os.path.exists(picture))
        for words in (["plot", self.results, "-o", self.folder], ["compare", self.results, self.results],
                      ["report", self.results], ["fit", "cases/bar_impact", "--data", "x.csv"]):
            answer = self.percuss(*words)
            self.assertEqual((answer.returncode, answer.stderr.count("\n")), (2, 1), answer.stderr)
            self.assertIn("install the Debian package python3-numpy", answer.stderr)


unittest.main()
