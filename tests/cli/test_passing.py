"""Bodies that jump over others within a step: they bounce all the same, or the run says so and is not certified."""

import os
import unittest

import program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# At 1 m/s step control has let the steps grow to seconds where the circle is met, which is crossed in 0.2 s.
CIRCLE = """
mesh: { body: { type: point, at: [-3, 0, 0] } }
elements: { body: { type: point_mass, mesh: body, mass: 1.0, in: plane } }
initial: [ { set: body, velocity: [1, 0, 0] } ]
contacts: { post: { type: node_circle, nodes: body, centre: [0, 0, 0], radius: 0.1, side: outside, restitution: 0.5 } }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-3, end: 6, control: { type: adaptive, tolerance: 1.0e-6 } }
output: { frames: false, probes: { body: { node: body, of: [x, vx] } } }
"""

# 0.06 m a step against a beam of 0.1 m: the ends of a step lie on both sides of its axis.
BEAM = """
mesh:
  beam: { type: line, from: [0, -0.5, 0], to: [0, 0.5, 0], elements: 10 }
  body: { type: point, at: [-0.515, 0.03, 0] }
elements:
  beam: { type: beam_exact_3d, mesh: beam, E: 2.1e+11, nu: 0.3, rho: 7800, orientation: [0, 0, 1],
          section: { type: circle, diameter: 0.1 } }
  body: { type: rigid_body_3d, mesh: body, mass: 1.0, inertia: [0.01, 0.01, 0.01] }
supports: { clamp: { set: beam.start, fix: [x, y, z, rx, ry, rz] } }
initial: [ { set: body, velocity: [60, 0, 0] } ]
contacts: { post: { type: node_segment, nodes: body, segments: beam, radius: 0.05, restitution: 0.5 } }
scheme: { type: moreau_jean, theta: 0.5 }
time: { step: 1.0e-3, end: 0.02 }
output: { frames: false, probes: { body: { node: body, of: [x, vx] } } }
"""


class Passing(program.Cases):
    def run_case(self, case, *settings):
        """Exit status, rows of the history, errors."""
        path = self.write("case.yaml", case) if "\n" in case else case
        words = [word for text in settings for word in ("--set", text)]
        done = self.percuss("run", path, "-o", self.path("out"), "-q", *words)
        return done.returncode, program.read_rows(self.path("out", "history.csv")), done.stderr

    def check_bounce(self, case):
        status, rows, errors = self.run_case(case)
        self.assertEqual(status, 0, errors)
        self.assertLess(float(rows[-1]["body.x"]), 0.0)
        self.assertLess(float(rows[-1]["body.vx"]), 0.0)

    def test_a_circle_under_step_control(self):
        self.check_bounce(CIRCLE)

    def test_a_clamped_beam_at_60_m_per_s(self):
        self.check_bounce(BEAM)

    def test_crossed_beams_push_each_other(self):
        crossed = os.path.join(ROOT, "cases", "beams_crossed")
        status, rows, errors = self.run_case(crossed, "time.step=2e-2", "scheme={type: moreau_jean, theta: 0.5}",
                                             "contacts.touch.restitution=1", "time.end=0.06")
        self.assertEqual(status, 0, errors)
        self.assertGreater(sum(float(row["touch.step_impulse"] or 0.0) for row in rows), 0.1)

    def test_steps_that_may_not_be_cut_are_told(self):
        status, _, errors = self.run_case(BEAM, "time.retry=0")
        self.assertEqual(status, 1)
        self.assertIn("jumped", errors)


if __name__ == "__main__":
    unittest.main()
