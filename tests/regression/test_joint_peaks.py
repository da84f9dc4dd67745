"""Largest forces of joints and supports where contacts close: those between impacts, whatever the step. Argument: the
path of the program."""

import unittest

import program
from program import read_json

# A rigid pendulum falls from the side against a wall below its hinge.
PENDULUM = """\
mesh: {{ bob: {{ type: point, at: [0.5, 0, 0] }} }}
elements: {{ bob: {{ type: rigid_body_2d, mesh: bob, mass: 1.0, inertia: 0.1 }} }}
joints: {{ pivot: {{ type: hinge, node: bob, at: [0, 0, 0] }} }}
loads: {{ weight: {{ type: gravity, g: [0, -9.81, 0] }} }}
contacts: {{ wall: {{ type: node_plane, nodes: bob, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.5 }} }}
scheme: {scheme}
time: {{ step: {step}, end: 0.8 }}
output: {{ frames: false, contact_frames: false }}
"""
# m g + m w^2 l at the lowest point, just before the impact: w^2 = 2 m g l / (inertia + m l^2).
LARGEST = 9.81 + 0.5 * 2 * 9.81 * 0.5 / 0.35
SCHEMES = ["{ type: alpha_ggl, rho_inf: 0.8 }", "{ type: moreau_jean, theta: 0.5 }", "{ type: half_explicit }",
           "{ type: event_driven }"]


class JointPeaks(program.Cases):
    def test_the_force_of_a_hinge_is_that_between_impacts(self):
        for scheme in SCHEMES:
            for step in ("1.0e-3", "1.0e-4"):
                result = self.try_case(PENDULUM.format(scheme=scheme, step=step))
                self.assertEqual(result.returncode, 0, result.stderr)
                summary = read_json(self.path("case", "summary.json"))
                self.assertEqual(summary["contacts"][0]["impacts"], 1)
                joint = summary["joints"][0]
                self.assertAlmostEqual(joint["peak_force"], LARGEST, delta=0.01 * LARGEST, msg=f"{scheme} {step}")
                self.assertLess(joint["peak_force_time"], summary["contacts"][0]["last_time"])


if __name__ == "__main__":
    unittest.main()
