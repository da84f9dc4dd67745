"""Frames in pieces, one from each rank: the same numbers as in one file, whole or not there, whatever happens.
Argument: the program."""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import ranks
from ranks import HANG, LATTICE, PROGRAM, kill

import pieces

BAR = ["cases/bar_impact", "--set", "time={step: 0.01, end: 0.5}"]


class Pieces(ranks.Ranks):
    def run_with_faults(self, faults, *arguments):
        """On two ranks, to the second of which the disk does what is said at the head of interpose.c."""
        source, library = os.path.join(os.path.dirname(kill.__file__), "interpose.c"), self.path("interpose.so")
        subprocess.run(["cc", "-std=gnu17", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
        linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        preload = ":".join([*re.findall(r"(\S*/libasan\S*)", linked), library])  # a sanitizer must come first
        program = [PROGRAM, "run", *arguments]
        return subprocess.run(["mpiexec", "-n", "1", *program, ":", "-n", "1", "env", f"LD_PRELOAD={preload}", *faults,
                               *program], capture_output=True, text=True, timeout=HANG)


class Writing(Pieces):
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
        for count in 3, 0:
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


class Resuming(Pieces):
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
        self.assertEqual(ranks.run(2, *case, "--resume").returncode, 0)
        self.run_into("whole", 2, *case[:-3])
        self.same_frames("whole", "out", "bar_impact")
        self.listed("out", "bar_impact", len(self.frames("whole", "bar_impact")))

    # One process goes on in pieces by itself; several do not go on with whole frames.
    def test_forms_that_change(self):
        case = ["cases/bar_impact", "--set", "time={step: 1.0e-6, end: 4.0e-6}", "--set",
                "output={frames: {every: 1, fields: none}, checkpoint: {every: 2}}", "-o", self.path("out")]
        for first, second in ((2, 0), (0, 2)):
            shutil.rmtree(self.path("out"), ignore_errors=True)
            self.assertEqual(ranks.run(first, *case).returncode, 0)
            os.remove(self.path("out/checkpoint.bin"))
            result = ranks.run(second, *case, "--resume")
            if first == 2:
                self.assertEqual(result.returncode, 0, result.stderr)
                self.listed("out", "bar_impact", 5)
            else:
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(len(re.findall("^error: .*'frames.pieces' says that complete frames were written",
                                                result.stderr, re.M)), 1, result.stderr)


class Ending(Pieces):
    def ends(self, folder, part, count, *arguments):
        result = ranks.run(count, *arguments, "-o", self.path(folder))
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
