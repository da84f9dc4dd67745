"""Steps that follow contacts with force laws (`time.control: contact`). Argument: the program.

A mass on a linear spring has left after T = pi sqrt(m/k) at the speed with which it came, half a sine deep in between.
"""

import bisect
import itertools
import math
import unittest

import program

IMPLICIT = ("newmark", "hht", "alpha_ggl, rho_inf: 0.8", "alpha_velocity", "moreau_jean, theta: 0.5",
            "jump_newmark, rho_inf: 0.9", "ggl_midpoint, metric: mass", "event_driven")
EXPLICIT = ("half_explicit", "half_explicit_acceleration", "half_explicit_rk", "moreau_midpoint",
            "mannshardt")  # whose steps are below the stable one, 0.6 of a contact
MASS, SPEED, GAP = 2.0, 3.0, 0.01


def ball(stiffness, scheme, step, end, control, unit=1.0, law="linear", more=""):
    """A mass that flies against a wall; `unit` scales lengths."""
    return f"""mesh:
  ball: {{ type: point, at: [{GAP * unit!r}, 0, 0] }}
elements:
  ball: {{ type: point_mass, mesh: ball, mass: {MASS}, in: line }}
initial:
  - {{ set: ball, velocity: [{-SPEED * unit!r}, 0, 0] }}
contacts:
  wall: {{ type: node_plane, nodes: ball, point: [0, 0, 0], normal: [1, 0, 0],
          law: {{ type: {law}, stiffness: {stiffness!r} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: {end!r}, control: {control} }}
output: {{ frames: false, contact_frames: false, checkpoint: false{more} }}
"""


def pendulum(stiffness, step, control):
    """A thin beam of steel that falls on a stop: it touches twice, and vibrates in between and after that."""
    return f"""mesh:
  beam: {{ type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 }}
elements:
  beam: {{ type: beam_exact_2d, mesh: beam, E: 2.1e+11, nu: 0.3, rho: 7800.0,
          section: {{ type: rectangle, width: 0.01, height: 0.01 }} }}
joints:
  pivot: {{ type: hinge, node: beam.start }}
loads:
  weight: {{ type: gravity, g: [0, -9.81, 0] }}
contacts:
  stop: {{ type: node_plane, nodes: beam.end, point: [0.7071067811865476, 0, 0], normal: [1, 0, 0],
          law: {{ type: linear, stiffness: {stiffness!r} }} }}
scheme: {{ type: alpha_ggl, rho_inf: 0.8 }}
time: {{ step: {step!r}, end: 0.4{control} }}
output: {{ frames: false, checkpoint: false, probes: {{ tip: {{ node: beam.end, of: [x, y] }} }} }}
"""


class LawSteps(program.Cases):
    def flight(self, stiffness, scheme, steps, unit=1.0):
        """Rows of a run to twice the contact time after the touch, with steps that could pass over the contact."""
        contact = math.pi * math.sqrt(MASS / stiffness)
        end = GAP / SPEED + 3.0 * contact
        step = min(0.5 if scheme in EXPLICIT else 3.0, end / contact) * contact
        return contact, self.history(ball(stiffness, scheme, step, end, f"{{ type: contact, steps: {steps} }}", unit))

    def test_a_ball_leaves_as_it_came(self):
        for scheme, stiffness in zip(IMPLICIT + EXPLICIT, itertools.cycle((1.0e+4, 1.0e+7))):
            with self.subTest(scheme=scheme, stiffness=stiffness):
                errors = []
                for steps in (30, 120):
                    contact, rows = self.flight(stiffness, scheme, steps)
                    exact = SPEED * (rows[-1]["t"] - GAP / SPEED - contact)
                    errors.append(abs(rows[-1]["wall.gap"] - exact) / (SPEED * contact))
                self.assertLess(errors[0], 3e-3)
                self.assertLess(errors[1], 3e-3 / 8.0)

    def check_steps(self, rows, part, largest):
        """While closed, and where a contact closes, steps are parts; after that they grow by 2 % each."""
        touches = sum(a["wall.gap"] >= 0.0 > b["wall.gap"] for a, b in zip(rows, rows[1:]))
        for before, now, a, b in zip([None, *rows], rows, rows[1:], [*rows[2:], None]):
            h = a["t"] - now["t"]
            if now["wall.gap"] < 0.0 or a["wall.gap"] < 0.0:
                self.assertLess(h, part * (1.0 + 1e-9))
            elif before is not None:
                self.assertLess(h, 1.02 * (now["t"] - before["t"]) * (1.0 + 1e-9))
            if b is not None and now["wall.gap"] < 0.0:  # but for the last two, no step is shorter than it need be
                self.assertGreater(h, part * (1.0 - 1e-9))
            self.assertLess(h, largest * (1.0 + 1e-9))
        return touches

    def test_stiffness_that_grows(self):
        """The contact time of Hertz's law is that of the largest stiffness, at the depth of this energy or above it."""
        for stiffness in (1.0e+6, 1.0e+9):
            rows = self.history(ball(stiffness, "newmark", 0.01, 0.03, "{ type: contact }", law="hertz"))
            closed = sum(row["wall.gap"] < 0.0 for row in rows)
            self.assertGreater(closed, 30)
            self.assertLess(closed, 90)
            self.assertAlmostEqual(rows[-1]["wall.gap_rate"], SPEED, delta=1e-3 * SPEED)

    def test_steps_follow_touch_and_release(self):
        for stiffness, steps in ((1.0e+4, 20), (1.0e+6, 50)):
            contact, rows = self.flight(stiffness, "newmark", steps)
            self.assertEqual(self.check_steps(rows, contact / steps, 3.0 * contact), 1)

    def test_a_touch_that_was_not_foreseen_is_found(self):
        """A mass at rest is pushed against the wall: nothing approaches at the start of the step that would pass it."""
        text = ball(1.0e+6, "newmark", 0.05, 0.1, "{ type: contact }").replace(
            f"[{-SPEED!r}, 0, 0]", "[0, 0, 0]") + "loads: { push: { type: force, node: ball, value: [-40, 0, 0] } }\n"
        rows = self.history(text)
        part = math.pi * math.sqrt(MASS / 1.0e+6) / 30
        touch = next(i for i, row in enumerate(rows) if row["wall.gap"] < 0.0)
        self.assertLess(rows[touch]["t"] - rows[touch - 1]["t"], part * (1.0 + 1e-9))
        self.assertAlmostEqual(rows[touch]["t"], math.sqrt(2.0 * GAP / 20.0), delta=0.01 * math.sqrt(2.0 * GAP / 20.0))

    def tip_error(self, rows, exact):
        """The mean over time of the distance of the tip, m."""
        total, clocks = 0.0, [[row["t"] for row in table] for table in (rows, exact)]
        for i in range(1, 401):
            t, at = 0.001 * i, []
            for table, clock in zip((rows, exact), clocks):
                k = bisect.bisect_left(clock, t * (1.0 - 1e-12), 1)
                a, b = table[k - 1], table[k]
                part = (t - a["t"]) / (b["t"] - a["t"])
                at.append([a[x] + part * (b[x] - a[x]) for x in ("tip.x", "tip.y")])
            total += math.dist(*at) / 400
        return total

    def test_flexible_pendulum(self):
        """At one nominal step, errors are a fraction of those of as many equal steps."""
        exact = self.history(pendulum(1.0e+6, 2.0e-5, ", control: { type: contact, steps: 300 }"))
        rows = self.history(pendulum(1.0e+6, 4.0e-3, ", control: { type: contact }"))
        equal = self.history(pendulum(1.0e+6, 0.4 / len(rows), ""))
        error = self.tip_error(rows, exact)
        self.assertLess(error, 4e-4)
        self.assertLess(error, 0.6 * self.tip_error(equal, exact))

    def test_what_is_refused(self):
        rigid = ball(1.0e+5, "newmark", 1e-3, 0.01, "{ type: contact }").replace(
            "law: { type: linear, stiffness: 100000.0 }", "restitution: 0.5")
        equal = ball(1.0e+5, "schatzman_paoli", 1e-3, 0.01, "{ type: contact }")
        both = ball(1.0e+5, "newmark", 1e-3, 0.01, "{ type: contact, tolerance: 1e-4 }")
        for name, text, words in (("rigid", rigid, "this model has none"), ("equal", equal, "schatzman_paoli"),
                                  ("both", both, "unknown key 'tolerance'")):
            answer = program.percuss("run", self.write(name + ".yaml", text), "-o", self.path(name))
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn(words, answer.stderr)


if __name__ == "__main__":
    unittest.main()
