"""What runs tell of joints and supports: columns of the history, the summary, work, and the largest forces between
impacts, whatever the step. Argument: the program."""

import math
import unittest

import program

MODEL = """mesh:
  one: { type: point, at: [0.5, 0, 0] }
  bar: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 4 }
elements:
  one: { type: rigid_body_2d, mesh: one, mass: 2, inertia: 0.1 }
  bar: { type: beam_timo_2d, mesh: bar, E: 1.0e+9, nu: 0.3, rho: 1000,
    section: { type: rectangle, width: 0.02, height: 0.03 } }
supports: { wall: { set: bar.end, fix: [x, y, rz], reactions: true }, quiet: { set: bar.start, fix: [x] } }
joints: { pivot: { type: hinge, node: one, at: [0, 0, 0] } }
contacts: { floor: { type: node_plane, nodes: one, point: [0, -0.3, 0], normal: [0, 1, 0], restitution: 0.5 } }
loads: { weight: { type: gravity, g: [0, -9.81, 0] } }
time: { step: 1.0e-2, end: 0.1 }
output: { frames: false, probes: { one: { node: one, of: [vx, vy] } } }
"""
# Two motors drive a bar, one of them shakes it against a wall.
MOTORS = """mesh:
  bar: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 10 }
  rod: { type: line, from: [3, 0, 0], to: [4, 0, 0], elements: 5 }
elements:
  bar: { type: rod, mesh: bar, E: 900, rho: 1, area: 1 }
  rod: { type: rod, mesh: rod, E: 900, rho: 1, area: 1 }
joints:
  motor: { type: prescribed, node: bar.end, along: x, amplitude: 0.05, frequency: 3, rise: 0.2 }
  other: { type: prescribed, node: rod.end, along: x, amplitude: 0.02, frequency: 5, rise: 0.1 }
contacts: { wall: { type: node_plane, nodes: bar.start, point: [0.97, 0, 0], normal: [1, 0, 0], restitution: 0 } }
time: { step: 1.0e-3, end: 0.5 }
output: { frames: false, contact_frames: false }
"""
# A rigid pendulum falls from the side against a wall below its hinge: m g + m w^2 l at the lowest point, just before
# the impact, w^2 = 2 m g l / (inertia + m l^2).
FALLING = """mesh: { bob: { type: point, at: [0.5, 0, 0] } }
elements: { bob: { type: rigid_body_2d, mesh: bob, mass: 1.0, inertia: 0.1 } }
joints: { pivot: { type: hinge, node: bob, at: [0, 0, 0] } }
loads: { weight: { type: gravity, g: [0, -9.81, 0] } }
contacts: { wall: { type: node_plane, nodes: bob, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.5 } }
output: { frames: false, contact_frames: false, history: { every: 100 } }
"""
LARGEST = 9.81 + 0.5 * 2 * 9.81 * 0.5 / 0.35
ON_A_ROD = """mesh: { bob: { type: point, at: [0, -1, 0] } }
elements: { bob: { type: point_mass, mesh: bob, mass: 2, in: plane } }
joints: { rod: { type: distance, node: bob, anchor: [0, 0, 0] } }
loads: { weight: { type: gravity, g: [0, -9.81, 0] } }
initial: [{ set: bob, velocity: [3, 0, 0] }]
time: { step: 0.02, end: 0.4 }
output: { frames: false }
"""


class JointOutput(program.Cases):
    def run_case(self, text, scheme):
        rows = self.history(text + f"scheme: {{ type: {scheme} }}\n")
        return rows, program.read_json(self.path("case", "summary.json"))

    def test_reactions_are_written(self):
        rows, summary = self.run_case(MODEL, "alpha_ggl")
        columns = rows[0].keys()
        for name in ("pivot.gap", "pivot.fx", "pivot.fy", "wall.fx", "wall.fy", "wall.mz", "floor.gap_rate"):
            self.assertIn(name, columns)
        for name in ("pivot.gap_rate", "pivot.mz", "quiet.fx"):
            self.assertNotIn(name, columns)
        # A joint carries a force at the start, a support has no step yet; joints are no contacts.
        self.assertAlmostEqual(rows[0]["pivot.fy"], 2.0 * 9.81 * 0.1 / 0.6, delta=1e-12)
        self.assertTrue(math.isnan(rows[0]["wall.fy"]))
        self.assertAlmostEqual(rows[0]["min_gap"], 0.3, delta=1e-15)
        self.assertEqual(rows[0]["active"], 0.0)
        self.assertEqual((summary["model"]["joint_rows"], summary["model"]["contact_points"]), (2, 1))
        self.assertGreater(abs(rows[-1]["wall.mz"]), 0.1)
        # At velocity level misfits show, and forces of the hinge are the change of the momentum.
        rows, summary = self.run_case(MODEL, "moreau_jean, theta: 0.5")
        for before, row in zip(rows, rows[1:]):
            for name, weight in (("x", 0.0), ("y", 2.0 * 9.81)):
                change = 2.0 * (row["one.v" + name] - before["one.v" + name]) / 0.01
                self.assertAlmostEqual(row["pivot.f" + name], change + weight, delta=1e-9)
        joint, support = summary["joints"][0], summary["supports"][0]
        self.assertAlmostEqual(joint["largest_error"], max(row["pivot.gap"] for row in rows), delta=1e-15)
        self.assertGreater(joint["largest_error"], 1e-6)
        self.assertAlmostEqual(joint["peak_force"], max(math.hypot(r["pivot.fx"], r["pivot.fy"]) for r in rows[1:]),
                               delta=1e-12)
        self.assertAlmostEqual(support["peak_moment"], max(abs(r["wall.mz"]) for r in rows[1:]), delta=1e-12)
        text = (self.folder / "case" / "summary.txt").read_text()
        for part in ("1 contact point, 2 conditions of joints", "Reactions", "\n  pivot ", "\n  wall "):
            self.assertIn(part, text)

    def test_work_of_joints_is_that_of_what_drives_them(self):
        """Without loads it is all the external work, and what the wall does is what the impacts took."""
        for scheme in ("moreau_jean, theta: 0.5", "moreau_jean, theta: 0.8", "alpha_ggl, rho_inf: 0.8", "newmark",
                       "hht"):
            rows, summary = self.run_case(MOTORS, scheme)
            motor, other = (joint["work"] for joint in summary["joints"])
            whole = rows[-1]["external_work"]
            self.assertTrue(motor > 0.1 and other > 1e-4)
            self.assertAlmostEqual(motor + other, whole, delta=1e-11 * whole)
            self.assertAlmostEqual(summary["contacts"][0]["work"], -rows[-1]["impact_loss"], delta=1e-11 * whole)

    def test_the_largest_force_of_a_hinge_is_that_between_impacts(self):
        for scheme in ("alpha_ggl, rho_inf: 0.8", "moreau_jean, theta: 0.5", "half_explicit", "event_driven"):
            for step in (1.0e-3, 2.0e-4):
                _, summary = self.run_case(FALLING + f"time: {{ step: {step}, end: 0.8 }}\n", scheme)
                joint, contact = summary["joints"][0], summary["contacts"][0]
                self.assertEqual(contact["impacts"], 1)
                self.assertAlmostEqual(joint["peak_force"], LARGEST, delta=0.01 * LARGEST, msg=f"{scheme} {step}")
                self.assertLess(joint["peak_force_time"], contact["last_time"])

    def test_means_have_the_direction_of_the_middle(self):
        """The force of a rod that turns is what changes the momentum, of schemes that act within a step as far as its
        direction may be that of the middle."""
        for scheme in ("event_driven", "mannshardt", "splitting, contact_forces: true", "moreau_midpoint",
                       "ggl_midpoint, metric: mass"):
            rows, _ = self.run_case(ON_A_ROD, scheme)
            for before, row in zip(rows, rows[1:]):
                size = math.hypot(row["rod.fx"], row["rod.fy"])
                for name, weight in (("x", 0.0), ("y", 2.0 * 9.81)):
                    change = (row["momentum_" + name] - before["momentum_" + name]) / 0.02
                    self.assertAlmostEqual(row["rod.f" + name], change + weight, delta=2e-3 * size, msg=scheme)


if __name__ == "__main__":
    unittest.main()
