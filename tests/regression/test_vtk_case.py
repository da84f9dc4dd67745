"""The files of one run agree with each other: frames as VTK reads them, contact frames, history and summary of
bar_impact. Argument: the program."""

import json
import math
import unittest

import program
import vtk_readback

EVERY, CELLS, AREA = 30, 200, 1.0


def read_series(folder, stem):
    series = json.loads((folder / f"{stem}.vtk.series").read_text())
    return [(entry["time"], vtk_readback.read_frame(folder / entry["name"])) for entry in series["files"]]


class OneRun(program.Cases):
    def setUp(self):
        super().setUp()
        program.percuss("run", "cases/bar_impact", "-o", self.folder, "--quiet", "--set",
                        f"output.frames.every={EVERY}", check=True)
        self.rows = program.read_table(self.folder / "history.csv")
        self.frames = read_series(self.folder, "bar_impact")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.endswith(".part")], [])

    def near(self, actual, expected, tolerance, what):
        self.assertLessEqual(abs(actual - expected), tolerance, what)

    def test_frames(self):
        last = len(self.rows) - 1
        steps = sorted(set(range(0, last + 1, EVERY)) | {last})
        self.assertEqual([frame["step"] for _, frame in self.frames], steps)
        first = self.frames[0][1]
        reference = first["points"] - first["arrays"]["point", "displacement"]
        for (time, frame), step in zip(self.frames, steps):
            row, arrays = self.rows[step], frame["arrays"]
            self.assertEqual((time, frame["time"], len(frame["cells"])), (row["t"], row["t"], CELLS), step)
            self.assertEqual(frame["points"][-1][0], row["tip.x"], step)
            self.assertEqual(arrays["point", "velocity"][-1][0], row["tip.vx"], step)
            moved = reference + arrays["point", "displacement"]
            self.near(abs(moved - frame["points"]).max(), 0.0, 1e-13, step)
            force, stress = arrays["cell", "axial_force"], arrays["cell", "stress"]
            self.near(abs(force - AREA * stress).max(), 0.0, 1e-12 * abs(force).max() + 1e-300, step)
            self.near(arrays["cell", "strain_energy"].sum(), row["strain"], 1e-12 * (1.0 + abs(row["strain"])), step)

    def test_contacts(self):
        """Of the frames' steps those in which the wall is touched or has been since the frame before, the first one,
        and those that follow these."""
        contacts = {contact["step"]: (time, contact) for time, contact in read_series(self.folder, "contacts")}
        before, was_loaded, wanted = -1, True, []
        for _, frame in self.frames:
            step, row = frame["step"], self.rows[frame["step"]]
            since = self.rows[max(before + 1, 1):step + 1]
            is_loaded = row["active"] > 0 or any(r["wall.step_impulse"] != 0 for r in since)
            if is_loaded or was_loaded:
                wanted.append(step)
                self.check_contact(*contacts[step], frame, since)
            before, was_loaded = step, is_loaded
        self.assertEqual(sorted(contacts), wanted)
        self.assertTrue(2 < len(contacts) < len(self.frames))

    def check_contact(self, time, contact, frame, since):
        step, row, arrays = frame["step"], self.rows[frame["step"]], contact["arrays"]
        self.assertEqual((time, contact["step"]), (row["t"], step))
        for name, column in ("gap", "wall.gap"), ("gap_velocity", "wall.gap_rate"), ("state", "active"):
            self.assertEqual(arrays["point", name][0][0], row[column], (step, name))
        self.assertEqual(list(contact["points"][0]), list(frame["points"][0]), step)
        if step > 0:
            self.assertEqual(arrays["point", "force"][0][0], row["wall.force"], step)
            self.assertEqual(list(arrays["point", "force_vector"][0]), [row["wall.force"], 0.0, 0.0], step)
        for name in "impulse", "step_impulse":
            self.near(arrays["point", name][0][0], math.fsum(r[f"wall.{name}"] for r in since), 1e-12, (step, name))

    def test_summary(self):
        rows, summary = self.rows, program.read_json(self.folder / "summary.json")
        last = rows[-1]
        self.assertEqual((summary["ending"], summary["certificate"]["verdict"]), ("finished", "held"))
        self.assertEqual((summary["steps"]["done"], summary["time"]["reached"]), (len(rows) - 1, last["t"]))
        for name in ("kinetic", "strain", "potential", "impact_loss", "friction_loss", "correction_work",
                     "numerical_loss"):
            self.assertEqual(summary["energy"][name], last[name], name)
        self.near(summary["energy"]["imbalance"], 0.0, 1e-10, "imbalance of the ledger")
        closed = [i for i, row in enumerate(rows) if row["wall.step_impulse"] > 0]
        contact = summary["contacts"][0]
        interval = contact["intervals"][0]
        self.assertEqual(contact["interval_count"], 1)
        self.assertEqual((interval["first_step"], interval["last_step"]), (closed[0], closed[-1]))
        self.assertEqual((interval["start"], interval["end"]), (rows[closed[0] - 1]["t"], rows[closed[-1]]["t"]))
        self.near(interval["total_impulse"], math.fsum(rows[i]["wall.step_impulse"] for i in closed), 1e-10, "impulse")
        self.assertEqual(interval["peak_force"], max(rows[i]["wall.force"] for i in closed))
        self.assertEqual(summary["min_gap"], min(row["min_gap"] for row in rows))
        # The momentum that the wall has given.
        self.near(contact["total_impulse"], last["momentum_x"] - rows[0]["momentum_x"], 1e-9, "momentum")


class Arrows(program.Cases):
    def test_the_arrow_of_a_force_has_its_friction(self):
        """A mass of 2 kg slides along (3, 4, 0) on a floor: N = 20 N, friction 0.25 N against the motion."""
        case = self.folder / "slide.yaml"
        case.write_text("""
mesh: { mass: { type: point, at: [0, 0, 0] } }
elements: { mass: { type: point_mass, mesh: mass, mass: 2.0 } }
initial: [{ set: mass, velocity: [3, 4, 0] }]
loads: { weight: { type: gravity, g: [0, 0, -10] } }
contacts: { floor: { type: node_plane, nodes: mass, point: [0, 0, 0], normal: [0, 0, 1], restitution: 0,
  friction: 0.25 } }
scheme: { type: alpha_ggl }
time: { step: 0.01, end: 0.1 }
""")
        program.percuss("run", case, "-q", "-o", self.folder / "out", check=True)
        arrow = read_series(self.folder / "out", "contacts")[-1][1]["arrays"]["point", "force_vector"][0]
        for got, wanted in zip(arrow, (-3.0, -4.0, 20.0)):
            self.assertAlmostEqual(got, wanted, delta=1e-9)


if __name__ == "__main__":
    unittest.main()
