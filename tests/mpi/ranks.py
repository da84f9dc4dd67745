"""What tests over several ranks share: the program, runs with and without mpiexec, results read and compared."""

import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
import kill  # noqa: E402

import pieces  # noqa: E402
from outputs import history  # noqa: E402

TIGHT = ["--", "-ksp_rtol", "1e-13"]
# Factors of general matrices sum in the order in which messages come; these iterations do not.
REPEATABLE = [*TIGHT, "-iteration_ksp_type", "gmres", "-iteration_pc_type", "bjacobi", "-iteration_sub_pc_type", "lu"]
HANG = 600  # s, after which a run is taken for hanging; a busy machine needs far less
# Ties and stops may be settled the other way by round-off; the rate of a contact is that of its smallest gap, and at
# a floor several gaps vanish at once.
COUNTS = ("active", "iterations", "floor.gap_rate")
# One strut is of three cells: points repeat where struts meet, and section forces are drawn.
LATTICE = """
mesh:
  grid: { type: lattice, cells: [3, 2], size: [0.1, 0.1], origin: [4.0e-4, 0, 0], diagonals: one, elements: 3 }
elements:
  grid: { type: beam_timo_2d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: 0.02 } }
initial:
  - { set: grid, velocity: [-5.0, 0, 0] }
contacts:
  wall: { type: node_plane, nodes: grid.xmin, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.0 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 5.0e-5, end: 4.0e-4 }
output:
  frames: { every: 4 }
  waves: { body: grid.x, of: [axial_force, vx] }
"""


def run(count, *arguments):
    """On so many ranks; 0: without mpiexec."""
    launcher = ["mpiexec", "-n", str(count)] if count > 0 else []
    return subprocess.run([*launcher, PROGRAM, "run", *arguments], capture_output=True, text=True, timeout=HANG)


def serial(*arguments):
    return run(0, *arguments)


def errors_of(result):
    return [line for line in result.stderr.splitlines() if line.startswith("error: ")]


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def case(self, name, text):
        with open(self.path(name + ".yaml"), "w") as file:
            file.write(text)
        return self.path(name + ".yaml")

    # A run whose solvers do not repeat to the byte would differ from others now and then.
    def repeats(self, folder):
        with open(os.path.join(folder, "summary.txt")) as file:
            self.assertNotIn("petsc lu", file.read())

    def same_bytes(self, folder, other):
        self.repeats(folder)
        self.assertEqual(kill.differences(folder, other), [])

    def agree(self, folder, other):
        names, a = history(folder)
        others, b = history(other)
        self.assertEqual(names, others)
        self.assertEqual(len(a), len(b))
        for k, name in enumerate(names):
            if name in COUNTS:
                continue
            size = max([1.0] + [abs(row[k]) for row in a if math.isfinite(row[k])])
            for x, y in zip(a, b):
                self.assertEqual(math.isnan(x[k]), math.isnan(y[k]), name)
                if math.isfinite(x[k]):
                    self.assertLessEqual(abs(x[k] - y[k]), 1e-9 * size, f"{name} at t = {x[0]}")
        return len(a)

    # The worst penetration of the run by two ranks is that of one process, and the same laws were judged.
    def same_certificate(self):
        worst, judged = [], []
        for folder in ("serial", "np2"):
            checks = {c["name"]: c for c in self.summary(folder)["certificate"]["checks"]}
            worst.append(checks["penetration <= 2 max|gap rate| h"])
            judged.append({name for name, check in checks.items() if check["tolerance"] > 0.0})
        self.assertEqual(judged[1], judged[0])
        self.assertGreater(worst[0]["worst_value"], 1e-5)
        for key in ("worst_value", "tolerance", "worst_ratio", "worst_time"):
            self.assertAlmostEqual(worst[1][key], worst[0][key], delta=1e-9 * worst[0][key])

    def summary(self, folder):
        with open(self.path(folder + "/summary.json")) as file:
            return json.load(file)

    # Bytes that a rank which does not write takes, or one process.
    def memory(self, folder):
        summary = self.summary(folder)
        return summary.get("ranks", {}).get("memory_bytes_least", summary["memory_bytes"])

    def run_into(self, folder, count, *arguments, options=None):
        """count = 0: without mpiexec. With options PETSc solves, else symmetric matrices go to substructures."""
        result = run(count, *arguments, "-q", "-o", self.path(folder), *(options or ()) if count > 0 else ())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "")

    def frames(self, folder, stem):
        return pieces.read_list(os.path.join(self.path(folder), stem + ".pvd"))

    def same_frames(self, one, other, stem, tolerance=0.0):
        """The number of arrays."""
        if tolerance == 0.0:
            self.repeats(self.path(one))
        a, b = self.frames(one, stem), self.frames(other, stem)
        self.assertEqual([t for t, _ in a], [t for t, _ in b])
        self.assertGreater(len(a), 1)
        return pieces.compare_lists(a, b, tolerance)

    def same_obstacles(self, one, other):
        """Discs, bearings and arms: the same polygons in the same order, corners as near as digits of runs go."""
        names = [n for n in sorted(os.listdir(self.path(one))) if re.match(r"obstacles_\d+\.vtk", n)]
        self.assertEqual(names, [n for n in sorted(os.listdir(self.path(other))) if re.match(r"obstacles_\d+\.vtk", n)])
        for name in names:
            a, b = (pieces.read_polygons(os.path.join(self.path(folder), name)) for folder in (one, other))
            self.assertEqual(a[1], b[1])
            self.assertLess(max(map(lambda x, y: abs(x - y), a[0], b[0])), 1e-7)

    def listed(self, folder, stem, frames):
        """The list names so many frames, all of them are whole, and nothing else of frames is there."""
        found = self.frames(folder, stem)
        self.assertEqual(len(found), frames)
        expected = [os.path.basename(path) for _, path in found]
        for name in list(expected):
            expected += pieces.read_index(os.path.join(self.path(folder), name))[0]
            pieces.read_frame(os.path.join(self.path(folder), name))
        self.assertEqual(pieces.files_of(self.path(folder), stem), sorted(expected))
        self.assertEqual(glob.glob(os.path.join(self.path(folder), "*.part")), [])

    def same_results(self, count, case, *settings, options=None, resumed=None):
        """History, frames and obstacles of one process and of so many ranks, arrays at least; what they began by so
        many others, where that is a number, is compared instead."""
        stem = os.path.splitext(os.path.basename(case))[0]
        self.run_into("serial", 0, case, *settings, "--set", "output.frames.format=vtu")
        parts = f"np{count}"
        self.run_into(parts, count, case, *settings, options=options)
        if resumed is not None:
            os.remove(self.path(parts + "/checkpoint.bin"))  # the one before is there, too
            self.run_into(parts, resumed, case, *settings, "--resume", options=options)
        self.assertGreater(self.agree(self.path("serial"), self.path(parts)), 2)
        self.assertGreater(self.same_frames("serial", parts, stem, 1e-7), 8)
        self.listed(parts, stem, len(self.frames(parts, stem)))
        if resumed is None:
            names = pieces.read_index(self.frames(parts, stem)[0][1])[0]
            self.assertEqual(names, [f"{stem}_000000_{rank}.vtu" for rank in range(count)])
        self.same_obstacles("serial", parts)
        one, other = (self.summary(folder) for folder in ("serial", parts))
        for key in ("points", "cells", "dofs"):
            self.assertEqual(one["model"][key], other["model"][key])
        for key in ("low", "high"):
            self.assertLess(max(abs(a - b) for a, b in zip(one["frames"][key], other["frames"][key])), 1e-7)
