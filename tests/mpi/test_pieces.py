"""Frames in pieces, one from each rank: the same numbers as in one file, whole or not there, whatever happens.
Argument: the program."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import ranks
from ranks import HANG, PROGRAM, REPEATABLE, kill

import pieces

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

# Springs beside a beam whose section varies, the last cells and nodes of which other ranks have, one of them at a point
# of a body, and a single node.
MIXED = """
mesh:
  beam: { type: line, from: [0, 0, 0], to: [1, 0.5, 0], elements: 7 }
  other: { type: line, from: [0, 1, 0], to: [1, 1.5, 0], elements: 2 }
  spring: { type: link, a: beam.end, b: other.end }
  second: { type: link, a: other.start, b: beam.start }
  body: { type: point, at: [2, 0, 0] }
elements:
  beam: { type: beam_exact_2d, mesh: beam, E: 1.0e8, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: { from: 0.03, to: 0.02 } } }
  other: { type: beam_exact_2d, mesh: other, E: 1.0e8, nu: 0.3, rho: 1000.0,
           section: { type: rectangle, width: 0.02, height: 0.02 } }
  spring: { type: spring_damper, mesh: spring, in: plane, stiffness: 1.0e+3 }
  second: { type: spring_damper, mesh: second, in: plane, offset_b: [0.02, 0.1, 0], stiffness: 1.0e+3 }
  body: { type: rigid_body_2d, mesh: body, mass: 1.0, inertia: 0.1 }
joints:
  pin: { type: hinge, node: beam.start }
  arm: { type: hinge, a: body, b: other.end, at: [1.5, 0.5, 0] }
initial:
  - { set: beam.end, velocity: [1.0, 3.0, 0] }
  - { set: other, velocity: [5.0, 0, 0] }
  - { set: body, velocity: [5.0, 0, 0] }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-4, end: 4.0e-4 }
output:
  frames: { every: 2 }
"""

# Two exact beams; %s are more parts of the mesh, and elements, beside them.
BEAMS = """
mesh:
  beam: { type: line, from: [0, 0, 0], to: [1, 0.5, 0], elements: 9 }
  other: { type: line, from: [0, 1, 0], to: [1, 1.5, 0], elements: 4 }
%s
elements:
  other: { type: beam_exact_3d, mesh: other, E: 1.0e8, nu: 0.3, rho: 1000.0, orientation: [0, 0, 1],
           section: { type: rectangle, width: 0.02, height: 0.02 } }
%s
initial:
  - { set: beam.end, velocity: [1.0, 3.0, 0] }
  - { set: other, velocity: [5.0, 0, 1.0] }
loads:
  push: { type: force, set: other.end, value: [0, 10.0, 0] }
  twist: { type: moment, set: other.end, value: [1.0, -0.3, 0.2] }
contacts:
  wall: { type: node_plane, nodes: other.end, point: [2, 0, 0], normal: [-1, 0, 0], restitution: 0.5 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-4, end: 2.0e-4 }
output:
  frames: { every: 1 }
"""
BEAM = """
  beam: { type: beam_exact_3d, mesh: beam, E: 1.0e8, nu: 0.3, rho: 1000.0, orientation: [0, 0, 1],
          section: { type: rectangle, width: 0.02, height: 0.03 } }
"""
LINKS = """
  first: { type: link, a: other.end, b: beam.end }
  second: { type: link, a: beam.start, b: other.start }
"""
POINTS = "  points: { type: point, nodes: beam }"
TAPERED = BEAM.replace("height: 0.03", "height: { from: 0.03, to: 0.02 }")
DISC = "  disc: { type: disc, mesh: points, mass: 0.1, inertia: [2.0e-4, 1.0e-4, 1.0e-4] }"
# What hangs at the beams, or is drawn on them: parts of the mesh, and elements. Those of `small` turn by small angles.
FEATURES = {
    "small": (POINTS, BEAM.replace("height: 0.03 }", "height: 0.03 }, offset: [0.02, 0, 0.05]") + DISC),
    "springs": (LINKS, TAPERED + """
  first: { type: spring_damper, mesh: first, stiffness: 1.0e+3 }
  second: { type: spring_damper, mesh: second, stiffness: 1.0e+3, offset_a: [0, 0.1, 0], offset_b: [0, 0, 0.05] }
"""),
    "bushings": (LINKS + POINTS, BEAM + """
  first: { type: bushing, mesh: first, angles: finite, stiffness: [1.0e+3, 1.0e+3, 1.0e+3], offset_b: [0.05, 0, 0] }
  second: { type: bushing, mesh: second, angles: finite, stiffness: [1.0e+3, 1.0e+3, 1.0e+3],
            torsional_stiffness: [1.0, 1.0, 1.0] }
  mount: { type: mount, mesh: points, angles: finite, stiffness: [1.0e+3, 1.0e+3, 0], offset: [0.02, 0, 0.05] }
"""),
}

BAR = ["cases/bar_impact", "--set", "time={step: 0.01, end: 0.5}"]


def run(count, *arguments):
    return ranks.run(count, "-q", *arguments)


class Pieces(ranks.Ranks):
    def run_into(self, folder, count, *arguments, options=()):
        """count = 0: without mpiexec."""
        result = run(count, *arguments, "-o", self.path(folder), *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def run_with_faults(self, faults, *arguments):
        """On two ranks, to the second of which the disk does what is said at the head of interpose.c."""
        source, library = os.path.join(os.path.dirname(kill.__file__), "interpose.c"), self.path("interpose.so")
        subprocess.run(["cc", "-std=gnu17", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
        linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        preload = ":".join([*re.findall(r"(\S*/libasan\S*)", linked), library])  # a sanitizer must come first
        program = [PROGRAM, "run", *arguments]
        return subprocess.run(["mpiexec", "-n", "1", *program, ":", "-n", "1", "env", f"LD_PRELOAD={preload}", *faults,
                               *program], capture_output=True, text=True, timeout=HANG)

    def summary(self, folder):
        with open(os.path.join(self.path(folder), "summary.json")) as file:
            return json.load(file)

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


class Writing(Pieces):
    def same_results(self, case, stem, counts, least, *settings, options=()):
        self.run_into("serial", 0, case, *settings, "--set", "output.frames.format=vtu")
        for count in counts:
            parts = f"pieces{count}"
            self.run_into(parts, count, case, *settings, options=options)
            self.assertGreaterEqual(self.same_frames("serial", parts, stem, 1e-7), least)
            self.listed(parts, stem, len(self.frames(parts, stem)))
            names = pieces.read_index(self.frames(parts, stem)[0][1])[0]
            self.assertEqual(names, [f"{stem}_000000_{rank}.vtu" for rank in range(count)])
            self.same_obstacles("serial", parts)
            one, other = (self.summary(folder) for folder in ("serial", parts))
            for key in ("points", "cells", "dofs"):
                self.assertEqual(one["model"][key], other["model"][key])
            for key in ("low", "high"):
                self.assertLess(max(abs(a - b) for a, b in zip(one["frames"][key], other["frames"][key])), 1e-7)

    # Each cell is in one piece. Forces at points follow those at the ends of cells, of other ranks as well.
    def test_arrays(self):
        loads = """loads:
  weight: { type: gravity, g: [3, -10, 0] }
  line: { type: line, cells: grid.x, value: [0, 2.0e+4, 0], amplitude: { ramp: { rise: 4.0e-4 } } }
"""
        case = self.case("loaded", LATTICE.replace("contacts:", loads + "contacts:"))
        self.same_results(case, "loaded", (2, 3), 18)

    def test_springs_joints_and_single_nodes(self):
        self.same_results(self.case("mixed", MIXED), "mixed", (3,), 18, options=REPEATABLE)

    # What hangs at beams, or is drawn on them, is drawn by the rank that has it.
    def test_what_cells_carry(self):
        for index, (name, (mesh, elements)) in enumerate(FEATURES.items()):
            with self.subTest(name):
                text = BEAMS % (mesh, elements)
                if name == "small":
                    text = text.replace("beam_exact_3d", "beam_timo_3d")
                self.same_results(self.case(name, text), name, (2 + index % 2,), 18,
                                  options=() if "beam_timo_3d" in text else REPEATABLE)

    # Discs and bearings that nodes of several ranks carry.
    def test_what_nodes_carry(self):
        self.same_results("cases/rotor", "rotor", (3,), 20, "--set", "time.end=2.0e-4",
                          "--set", "output.frames.every=20")

    # A rank without nodes has an empty piece.
    def test_more_ranks_than_nodes(self):
        self.same_results("cases/bar_impact", "bar_impact", (4,), 9, "--set", "mesh.bar.elements=2",
                          "--set", "time.end=0.1", "--set", "output.frames.every=2")

    def test_float_and_chosen_fields(self):
        settings = ["--set", "output.frames={every: 4, precision: float, fields: [velocity, stress]}"]
        self.run_into("out", 2, self.case("lattice", LATTICE), *settings)
        index = self.frames("out", "lattice")[1][1]
        with open(index) as file:
            text = file.read()
        self.assertEqual((text.count("Float32"), text.count("Float64")), (5, 0))
        names, arrays = pieces.read_index(index)
        self.assertEqual(sorted(arrays), [("CellData", "stress"), ("PointData", "radius"), ("PointData", "stress"),
                                          ("PointData", "velocity"), ("Points", "Points")])
        for name in names:
            grid = pieces.read_grid(os.path.join(self.path("out"), name))
            self.assertEqual(len(grid["PointData", "velocity"][1]), 3 * grid["npoint"])

    # One process writes one piece; systems in closed form are computed by every rank and written by the first.
    def test_one_piece(self):
        for count, case, stem in ((1, "cases/bar_impact", "bar_impact"), (2, "cases/ball", "ball")):
            self.run_into("whole", count, case, "--set", "output.frames={every: 100, format: vtu}")
            self.run_into("out", count, case, "--set", "output.frames={every: 100, pieces: always}")
            self.same_frames("whole", "out", stem)
            self.assertEqual(pieces.read_index(self.frames("out", stem)[0][1])[0], [f"{stem}_000000_0.vtu"])
            shutil.rmtree(self.path("out"))

    # Nothing of an earlier run stays, however many ranks it had, and nothing else goes.
    def test_what_is_left_of_other_runs(self):
        os.mkdir(self.path("out"))
        kept = ["bar_impact_notes.vtu", "bar_impact_000001_000002.vtu", "bar_impact_00001_2.vtu", "bar_impact_1.pvtu",
                "other_000001_2.vtu", "bar_impact_000001.vtu.txt"]
        for name in kept + ["bar_impact_000777_1.vtu", "bar_impact_000003_5.vtu.part", "bar_impact_000778.vtk"]:
            open(os.path.join(self.path("out"), name), "w").close()
        for count in 3, 2, 0:
            self.run_into("out", count, *BAR, "--set", "output.frames.every=10")
            names = [n for n in os.listdir(self.path("out")) if re.search(r"_\d+\.vtu|pvtu|778", n) and n not in kept]
            frames = len(self.frames("out", "bar_impact")) if count else 0
            self.assertEqual(len(names), frames * (count + 1), names)
            self.assertEqual([n for n in kept if not os.path.exists(os.path.join(self.path("out"), n))], [])
        self.assertFalse(os.path.exists(self.path("out/bar_impact.pvd")))

    # VTK's own reader, where there is one.
    def test_vtk_reads_it(self):
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
        if subprocess.run([python, "-c", "import vtk"], capture_output=True).returncode != 0:
            self.skipTest("there is no vtk for Python")
        self.run_into("out", 3, self.case("lattice", LATTICE))
        path = self.frames("out", "lattice")[2][1]
        text = """
import sys, vtk
errors = []
reader = vtk.vtkXMLPUnstructuredGridReader()
reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
reader.SetFileName(sys.argv[1])
reader.Update()
grid = reader.GetOutput()
print(len(errors), grid.GetNumberOfCells(), grid.GetNumberOfPoints(), grid.GetPointData().GetNumberOfArrays(),
      grid.GetCellData().GetNumberOfArrays(), grid.GetCellData().GetArray("axial_force").GetRange()[0])
"""
        result = subprocess.run([python, "-c", text, path], capture_output=True, text=True, timeout=HANG)
        self.assertEqual(result.returncode, 0, result.stderr)
        words = result.stdout.split()
        grids = pieces.read_frame(path)
        self.assertEqual(words[:5], ["0", str(sum(g["ncell"] for g in grids)), str(sum(g["npoint"] for g in grids)),
                                     "9", "8"])
        self.assertEqual(float(words[5]), min(min(g["CellData", "axial_force"][1]) for g in grids))


# What each rank takes of a model with pieces falls as their number grows: they have parts of it.
class Memory(Pieces):
    def taken(self, case, count, elements):
        self.run_into("out", count, case, "--set", f"mesh.beam.elements={elements}",
                      "--set", "time={step: 1.0e-7, end: 1.0e-7}",
                      "--set", "scheme={type: moreau_jean, theta: 0.5}")
        return self.summary("out")["ranks"]["memory_bytes_least"]

    def test_of_sections_that_vary_and_discs(self):
        case = self.case("memory", (BEAMS % (POINTS, TAPERED + DISC)).replace("beam_exact_3d", "beam_timo_3d"))
        growth = [self.taken(case, n, 6000) - self.taken(case, n, 2000) for n in (1, 4)]
        self.assertGreater(growth[1], 0)
        self.assertLess(growth[1], 0.28 * growth[0])


class Resuming(Pieces):
    def resume(self, counts, *case):
        out, whole = self.path("out"), self.path("whole")
        case = [*case, "-o", out]
        self.assertEqual(run(2, *case).returncode, 0)
        shutil.copytree(out, whole)
        for count in counts:
            shutil.rmtree(out)
            shutil.copytree(whole, out)
            os.remove(os.path.join(out, "checkpoint.bin"))  # the one before is there, too
            result = run(count, *case, "--resume")
            self.assertEqual(result.returncode, 0, result.stderr)
            if count == 2:
                self.same_bytes(whole, out)
            self.same_frames("whole", "out", "bar_impact", 1e-7)
            self.listed("out", "bar_impact", len(self.frames("whole", "bar_impact")))

    def test_resuming(self):
        self.resume((2, 3, 0), "cases/bar_impact", "--set", "time.step=0.01", "--set",
                    "output.frames.every=10", "--set", "output.checkpoint.every=80")

    # A checkpoint counts pieces of all ranks: where one of them cannot get its own to the disk, it does not take its
    # place, and the one before it is there to go on from.
    def test_pieces_that_do_not_reach_the_disk(self):
        out = self.path("out")
        case = [*BAR, "--set", "output.frames.every=10", "--set", "output.checkpoint.every=20",
                "-q", "-o", out]
        result = self.run_with_faults(["FAULT_KIND=sync", "FAULT_NTH=2"], *case)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(re.findall("^error: cannot write what a checkpoint counts", result.stderr, re.M)), 1,
                         result.stderr)
        self.assertEqual([n for n in os.listdir(out) if n.startswith("checkpoint")], ["checkpoint.bin"])
        self.assertEqual(run(2, *case, "--resume").returncode, 0)
        self.run_into("whole", 2, *case[:-3])
        self.same_frames("whole", "out", "bar_impact")
        self.listed("out", "bar_impact", len(self.frames("whole", "bar_impact")))

    # One process goes on in pieces by itself; several do not go on with whole frames.
    def test_forms_that_change(self):
        case = ["cases/bar_impact", "--set", "time={step: 1.0e-6, end: 4.0e-6}", "--set",
                "output={frames: {every: 1, fields: none}, checkpoint: {every: 2}}", "-o", self.path("out")]
        for first, second in ((2, 0), (0, 2)):
            shutil.rmtree(self.path("out"), ignore_errors=True)
            self.assertEqual(run(first, *case).returncode, 0)
            os.remove(self.path("out/checkpoint.bin"))
            result = run(second, *case, "--resume")
            if first == 2:
                self.assertEqual(result.returncode, 0, result.stderr)
                self.listed("out", "bar_impact", 5)
            else:
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(len(re.findall("^error: .*'frames.pieces' says that complete frames were written",
                                                result.stderr, re.M)), 1, result.stderr)


class Ending(Pieces):
    def ends(self, folder, part, count, *arguments):
        result = run(count, *arguments, "-o", self.path(folder))
        self.assertEqual(result.returncode, 1, result.stderr)
        told = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(told), 1, result.stderr)
        self.assertIn(part, told[0])

    # A disk that fails on one rank, for its piece, for the index and for the list: the frames before stay as they are.
    # A folder cannot be opened as a file.
    def test_a_disk_that_fails(self):
        for name, frames in (("bar_impact_000002_1.vtu", 2), ("bar_impact_000002.pvtu", 2)):
            folder = self.path("out")
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(os.path.join(folder, name + ".part", "here"))
            self.ends("out", name, 3, *BAR, "--set", "output.frames.every=10")
            shutil.rmtree(os.path.join(folder, name + ".part"))
            self.listed("out", "bar_impact", frames)

    def test_a_list_that_fails(self):
        os.makedirs(self.path("out/bar_impact.pvd.part/here"))
        self.ends("out", "bar_impact.pvd", 2, *BAR)
        self.assertEqual(pieces.files_of(self.path("out"), "bar_impact"), [])

    def test_bad_input(self):
        result = run(2, *BAR, "--set", "output.frames.pieces=some", "-o", self.path("out"))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, "pieces must be one of auto, always.*some")

    # Whatever a rank was doing, the list names frames that are whole.
    def test_a_killed_rank(self):
        folder = self.path("out")
        process = subprocess.Popen(["mpiexec", "-n", "2", PROGRAM, "run", "cases/bar_impact", "--set", "time.end=1e5",
                                    "--set", "mesh.bar.elements=4200", "--set", "output.checkpoint.every=20", "--set",
                                    "output.frames.every=1", "-q", "-o", folder],
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        end = time.monotonic() + HANG
        while len(glob.glob(os.path.join(folder, "*.pvtu"))) < 8 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            os.kill(int(file.read().split()[-1]), signal.SIGKILL)
        process.communicate(timeout=HANG)
        self.assertNotEqual(process.returncode, 0)
        found = self.frames("out", "bar_impact")
        self.assertGreaterEqual(len(found), 7)
        for _, path in found:
            self.assertEqual(sum(grid["ncell"] for grid in pieces.read_frame(path)), 4200)


if __name__ == "__main__":
    unittest.main()
