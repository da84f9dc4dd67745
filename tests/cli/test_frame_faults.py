"""Frames that cannot be written end the run; checkpoints know what is on the disk. Argument: the program."""

import csv
import filecmp
import os
import unittest

import program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEPS = 40
BAR = f"""
mesh: {{ bar: {{ type: line, from: [1.0e-3, 0, 0], to: [10.001, 0, 0], elements: 60 }} }}
elements: {{ bar: {{ type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 }} }}
initial: [ {{ set: bar, velocity: [-10, 0, 0] }} ]
contacts: {{ wall: {{ type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 }} }}
scheme: {{ type: alpha_ggl, rho_inf: 0.8 }}
time: {{ step: 1.0e-3, end: {STEPS}.0e-3 }}
output: {{ frames: {{ every: 1 }}, history: {{ every: 1 }}, checkpoint: {{ every: 7 }} }}
"""


class FrameFaults(program.Cases):
    def setUp(self):
        super().setUp()
        self.write("bar.yaml", BAR)

    def run_case(self, out, *more):
        return self.percuss("run", self.path("bar.yaml"), "-q", "-o", self.path(out), *more)

    def done(self, out, *more):
        result = self.run_case(out, *more)
        self.assertEqual(result.returncode, 0, result.stderr)

    def listed(self, out):
        return [entry["name"] for entry in program.read_json(self.path(out, "bar.vtk.series"))["files"]]

    def assert_same(self, one, other):
        self.assertTrue(filecmp.cmp(one, other, shallow=False), f"{one} and {other} differ")

    def test_failures_are_told(self):
        self.done("all")
        os.makedirs(self.path("out", "bar_000013.vtk.part"))
        result = self.run_case("out")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("bar_000013.vtk: Is a directory", result.stderr)
        self.assertEqual(self.listed("out"), [f"bar_{i:06d}.vtk" for i in range(13)])
        with open(self.path("out", "history.csv")) as rows, open(self.path("all", "history.csv")) as whole:
            kept, all_rows = list(csv.reader(rows)), list(csv.reader(whole))
        self.assertGreaterEqual(len(kept), 1 + 13)
        self.assertEqual(kept, all_rows[:len(kept)])
        self.assertIn("bar_000013.vtk", program.read_json(self.path("out", "summary.json"))["reason"])

    def test_checkpoints_know_what_is_on_the_disk(self):
        self.done("all")
        os.makedirs(self.path("out", "bar_000025.vtk.part"))
        self.assertEqual(self.run_case("out").returncode, 1)
        os.rmdir(self.path("out", "bar_000025.vtk.part"))
        self.done("out", "--resume")
        self.assertEqual(self.listed("out"), self.listed("all"))
        for name in self.listed("all") + ["bar.vtk.series", "history.csv", "obstacles.vtk"]:
            self.assert_same(self.path("all", name), self.path("out", name))


if __name__ == "__main__":
    unittest.main()
