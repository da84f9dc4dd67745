"""Frames read back into numpy: both formats alike, against what the program says of them, and damaged ones.
Argument: the path of the program."""

import os
import subprocess
import tempfile
import unittest

from studies import PROGRAM  # before percuss: it says where that is
from program import read_json  # noqa: I100 - studies says where it is
import numpy as np  # noqa: I100

from percuss.frames import Frame, Frames, join

SMALL = ["--set", "mesh.bar.elements=8", "--set", "time.end=0.6"]


class FramesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)

    def results(self, name, *arguments, case="bar_impact", command="run"):
        folder = os.path.join(self.temporary.name, name)
        if not os.path.exists(folder):
            subprocess.run([PROGRAM, command, f"cases/{case}", "--quiet", "-o", folder, *arguments], check=True)
        return folder

    def test_a_frame_is_what_the_program_says_of_it(self):
        folder = self.results("legacy", *SMALL)
        frames = Frames(folder)
        seen = read_json(os.path.join(folder, "summary.json"))["frames"]
        all_frames = list(frames)
        self.assertEqual(seen["drawn"], len(frames))
        stress = np.array([frame.cell_data["stress"] for frame in all_frames])
        self.assertEqual([seen["fields"]["stress"][k] for k in ("min", "max")], [stress.min(), stress.max()])
        points = np.array([frame.points for frame in all_frames])
        radius = all_frames[0].point_data["radius"].max()
        np.testing.assert_allclose(seen["high"], points.max((0, 1)) + radius, rtol=1e-14)
        reference = points - [frame.point_data["displacement"] for frame in all_frames]
        np.testing.assert_allclose(reference, np.broadcast_to(reference[0], reference.shape), atol=1e-14)
        self.assertEqual(all_frames[0].cells.tolist(), [[i, i + 1] for i in range(8)])
        self.assertEqual(frames.times[0], 0.0)
        self.assertEqual(frames.at(frames.times[3]).time, frames.times[3])
        self.assertEqual(frames.at(0.5 * (frames.times[3] + frames.times[4])).time, frames.times[3])

    def test_contacts_and_obstacles(self):
        frames = Frames(self.results("legacy", *SMALL))
        touching = max(frames.contacts, key=lambda frame: frame.point_data["force"][0])
        self.assertGreater(touching.point_data["force"][0], 0.0)
        np.testing.assert_allclose(touching.point_data["force_vector"],
                                   touching.point_data["force"][:, None] * touching.point_data["normal"])
        wall = frames.obstacles
        self.assertEqual([len(polygon) for polygon in wall.polygons], [4] * 6)
        self.assertEqual(wall.cell_data["contact"].tolist(), [0] * 6)
        self.assertEqual(len(frames.carried), 0)

    def test_formats_agree(self):
        legacy, xml = Frames(self.results("legacy", *SMALL)), Frames(
            self.results("vtu", *SMALL, "--set", "output.frames.format=vtu"))
        pieces = Frames(self.results("pieces", *SMALL, "--set", "output.frames.pieces=always"))
        self.assertTrue(xml.paths[0].endswith(".vtu") and pieces.paths[0].endswith(".pvtu"))
        for other in xml, pieces:
            np.testing.assert_array_equal(legacy.times, other.times)
            for a, b in zip(legacy, other):
                np.testing.assert_array_equal(a.points, b.points)
                np.testing.assert_array_equal(a.cells, b.cells)
                for one, two in (a.point_data, b.point_data), (a.cell_data, b.cell_data):
                    self.assertEqual(list(one), list(two))
                    for name in one:
                        np.testing.assert_array_equal(one[name], two[name], name)

    def test_pieces_are_joined(self):
        one = Frame(0.0, np.zeros((3, 3)), np.array([[0, 1], [1, 2]]), [], {"a": np.arange(3)}, {"b": np.arange(2)})
        two = Frame(0.0, np.ones((2, 3)), np.array([[0, 1]]), [], {"a": np.arange(3, 5)}, {"b": np.array([2])})
        both = join([one, two], 0.5)
        self.assertEqual(both.cells.tolist(), [[0, 1], [1, 2], [3, 4]])
        self.assertEqual((both.point_data["a"].tolist(), both.cell_data["b"].tolist()), ([0, 1, 2, 3, 4], [0, 1, 2]))

    def test_modes_and_statics(self):
        modes = Frames(self.results("modes", "--count", "3", case="shaft_whirl", command="modes"))
        self.assertEqual(modes.times.tolist(), [1.0, 2.0, 3.0])
        statics = Frames(self.results("statics", case="beams_crossed", command="statics"))
        self.assertEqual([statics.times[0], statics.times[-1]], [0.0, 1.0])

unittest.main()
