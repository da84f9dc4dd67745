"""The example plug-in, compiled against the installed header and run by the installed program; then copies of it with
one fault each, which must be refused with the place in the case and a reason. Objects are loaded from where they are
meant to be, and only if code may run."""

import csv
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath("tests/plugin")
TELLS_ITS_PATH = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
__attribute__((constructor)) static void tell_path(void)
{
    Dl_info info;
    if (dladdr(__extension__ (void *)tell_path, &info) != 0) fprintf(stderr, "loaded <%s>\\n", info.dli_fname);
}
"""


def run(*command, **kwargs):
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


class Plugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.path.dirname(PROGRAM))
        cls.prefix = os.path.join(cls.folder, "prefix")
        result = run("cmake", "--install", os.path.dirname(PROGRAM), "--prefix", cls.prefix)
        assert result.returncode == 0, result.stderr
        cls.program = os.path.join(cls.prefix, "bin", "percuss")
        for name in ("two_walls.c", "two_walls.yaml"):
            shutil.copy(os.path.join(SOURCE, name), cls.folder)
        cls.build("two_walls.so")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def build(cls, target, *changes):
        """Compiles the example with parts of its text exchanged."""
        with open(os.path.join(cls.folder, "two_walls.c"), encoding="utf-8") as file:
            text = file.read()
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        cls.compile(target, text)

    @classmethod
    def compile(cls, target, text):
        result = run("cc", "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wno-unused-function", "-Werror", "-shared",
                     "-fPIC", "-I", os.path.join(cls.prefix, "include"), "-x", "c", "-", "-o",
                     os.path.join(cls.folder, target), input=text)
        assert result.returncode == 0, result.stderr

    def percuss(self, *arguments, cwd=None):
        return run(self.program, *arguments, cwd=cwd)

    def case(self, **keys):
        """Checks the example's case with keys of `system` exchanged or, with None, left out."""
        given = {"plugin": "./two_walls.so", "length": "1.0", **keys}
        system = ", ".join(f"{key}: {value}" for key, value in given.items() if value is not None)
        path = os.path.join(self.folder, "changed.yaml")
        with open(os.path.join(self.folder, "two_walls.yaml"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        lines[2] = f"system: {{ {system} }}"
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        return self.percuss("check", path)

    def refused(self, result, *parts):
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for part in ("changed.yaml:3:",) + parts:
            self.assertIn(part, result.stderr)

    def history(self, folder):
        with open(os.path.join(folder, "history.csv"), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_runs_from_any_folder_and_again_from_the_resolved_case(self):
        out = os.path.join(self.folder, "out")
        result = self.percuss("run", os.path.join(self.folder, "two_walls.yaml"), "--quiet", "-o", out, cwd="/")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.history(out)
        # Right at 0.375 s, then 1 m at 1.6 m/s: left at 1 s, then 1 m at 0.8 m/s: right at 2.25 s, back at 0.64 m/s.
        speeds = [float(row["v_x"]) for row in rows]
        for time, speed in ((0.3, 2.0), (0.8, -1.6), (1.6, 0.8), (2.5, -0.64)):
            self.assertAlmostEqual(speeds[round(time / 1.3e-3)], speed, delta=1e-13)
        exact = 1.0 - 0.64 * (2.6 - 2.25)
        self.assertAlmostEqual(float(rows[-1]["x"]), exact, delta=5e-3)
        impulses = sum(float(row["right.impulse"]) for row in rows[1:])
        self.assertAlmostEqual(impulses, 2.0 * 1.8 + 0.8 * 1.8, delta=1e-12)
        again = os.path.join(self.folder, "again")
        result = self.percuss("run", os.path.join(out, "case.resolved.yaml"), "--quiet", "-o", again)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(rows, self.history(again))

    def test_other_schemes_take_it(self):
        for scheme in ("{type: alpha_ggl, rho_inf: 0.8}", "{type: moreau_jean, theta: 0.5}"):
            result = self.percuss("run", os.path.join(self.folder, "two_walls.yaml"), "--quiet", "-o",
                                  os.path.join(self.folder, "other"), "--set", f"scheme={scheme}", "--set",
                                  "system.damping=0.5")
            self.assertEqual(result.returncode, 0, result.stderr)
            rows = self.history(os.path.join(self.folder, "other"))
            self.assertLess(abs(float(rows[-1]["v_x"])), 0.64)
            self.assertGreater(float(rows[-1]["damping_loss"]), 0.1)

    def test_parameters_are_judged_by_its_table(self):
        self.refused(self.case(mass="-1.0"), "system.mass must be > 0, is -1.0")
        self.refused(self.case(left_restitution="1.1"), "system.left_restitution must be in [0, 1], is 1.1")
        self.refused(self.case(position="1.5"), "the bead starts behind the right wall")
        self.refused(self.case(postion="0.5"), "did you mean 'position'")
        self.refused(self.case(type="ball"), "'type' and 'plugin' are both given")
        self.refused(self.case(length=None), "missing key 'length' (between the walls, m)")
        self.assertEqual(self.case().returncode, 0)

    def test_its_parameters_are_listed(self):
        path = os.path.join(self.folder, "two_walls.so")
        result = subprocess.run([PROGRAM, "list", path], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in ("two_walls", "left_restitution", "between the walls, m"):
            self.assertIn(word, result.stdout)
        result = subprocess.run([PROGRAM, "list", "./nowhere.so"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot be loaded", result.stderr)

    def test_objects_that_cannot_be_used_are_named(self):
        self.refused(self.case(plugin="./nowhere.so"), "the plug-in cannot be loaded", "nowhere.so")
        self.refused(self.case(plugin="./two_walls.yaml"), "the plug-in cannot be loaded")
        self.refused(self.case(plugin="[1]"))
        self.build("unnamed.so", ("percuss_system = {", "other_name = {"))
        self.refused(self.case(plugin="./unnamed.so"), "/unnamed.so' has no symbol 'percuss_system'")

    def test_a_fault_of_a_definition_is_named(self):
        """All of them are looked for by one function, see unit/test_closed_form_check."""
        self.build("fault.so", ("G[1] = -1.0", "G[1] = 1.0"))
        self.refused(self.case(plugin="./fault.so"), "G of row 1, coordinate 'x', is 1, but the gap changes by -1")

    def test_no_code_of_a_plug_in_runs_where_that_is_forbidden(self):
        path = os.path.join(self.folder, "tells.so")
        with open(os.path.join(self.folder, "two_walls.c"), encoding="utf-8") as file:
            self.compile(path, TELLS_ITS_PATH + file.read())
        words = ("check", os.path.join(self.folder, "two_walls.yaml"), "--set", f"system.plugin={path}")
        self.assertIn(f"loaded <{path}>", self.percuss(*words).stderr)
        result = self.percuss(*words, "--no-plugins")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn(f"--no-plugins: loading '{path}' runs its code", result.stderr)
        self.assertNotIn("loaded <", result.stderr)
        self.assertEqual(self.percuss("check", "bar_impact", "--no-plugins").returncode, 0)

    def test_the_object_with_mpi_comes_from_beside_the_program_or_from_its_installation(self):
        installed = glob.glob(os.path.join(self.prefix, "**", "libpercuss_petsc.so"), recursive=True)
        if not installed:
            self.skipTest("built without MPI and PETSc")
        below = os.path.relpath(installed[0], self.prefix)
        root = os.path.join(self.folder, "places")
        environment = {**os.environ, "OMPI_COMM_WORLD_SIZE": "1", "LD_LIBRARY_PATH": ""}  # as started by mpiexec
        self.compile("object.so", TELLS_ITS_PATH)

        def loaded(folder, place):
            """What a program in this folder of `root` loads, started there, where the object lies at that place."""
            shutil.rmtree(root, ignore_errors=True)
            for path in (os.path.join(root, folder, "percuss"), os.path.join(root, place)):
                os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(self.program, os.path.join(root, folder))
            shutil.copy(os.path.join(self.folder, "object.so"), os.path.join(root, place))
            result = run(os.path.join(root, folder, "percuss"), "check", "bar_impact", cwd=root, env=environment)
            self.assertEqual(result.returncode, 2, result.stderr)
            return "loaded <" in result.stderr

        self.assertTrue(loaded("bin", below))
        self.assertTrue(loaded("bin", "bin/libpercuss_petsc.so"))
        self.assertTrue(loaded("sub", "sub/libpercuss_petsc.so"))
        self.assertFalse(loaded("sub", below))
        for folder in ("bin", "sub"):
            self.assertFalse(loaded(folder, "libpercuss_petsc.so"))  # the parent, and the current folder


if __name__ == "__main__":
    unittest.main()
