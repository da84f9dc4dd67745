"""Loads that jump where a step ends, by times such as 0.09 + 0.01 and 10 x 0.01. Argument: the program."""

import itertools
import math
import unittest

import program

SCHEMES = ("newmark", "hht", "alpha_ggl, rho_inf: 0.8", "alpha_velocity", "moreau_jean, theta: 0.5",
           "jump_newmark, rho_inf: 0.9", "half_explicit", "half_explicit_rk, method: hem4", "splitting")


def pushed(scheme, amplitude):
    return f"""mesh: {{ ball: {{ type: point, at: [0, 0, 0] }} }}
elements: {{ ball: {{ type: point_mass, mesh: ball, mass: 1.0, in: line }} }}
initial: [ {{ set: ball, velocity: [0.3, 0, 0] }} ]
loads:
  push: {{ type: force, node: ball, value: [10.0, 0, 0], amplitude: {{ {amplitude} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-2, end: 0.6 }}
output: {{ frames: false, checkpoint: false }}
"""


# The first mass is led, the other hangs at it by a spring.
def led(scheme, velocity, step, stiffness=0.0, end=0.6):
    return f"""mesh: {{ lead: {{ type: point, at: [0, 0, 0] }}, tail: {{ type: point, at: [1, 0, 0] }},
        pair: {{ type: link, a: lead, b: tail }} }}
elements:
  lead: {{ type: point_mass, mesh: lead, mass: 1.0, in: line }}
  tail: {{ type: point_mass, mesh: tail, mass: 2.0, in: line }}
  pair: {{ type: spring_damper, mesh: pair, stiffness: {stiffness!r}, in: line }}
joints: {{ motor: {{ type: prescribed, node: lead, along: x, velocity: {{ {velocity} }} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
output: {{ frames: false, checkpoint: false }}
"""


class Jumps(program.Cases):
    # A velocity that jumps from 0 to 0.5 m/s costs 0.125 J, and gives them back.
    def test_work_of_velocities_that_jump(self):
        pulse = "pulse: { start: 0.1, duration: 0.3, shape: rectangle, size: 0.5 }"
        for radius, step in itertools.product((0.8, 0.0, 1.0), (0.01, 0.003)):
            with self.subTest(radius=radius, step=step):
                rows = self.history(led(f"alpha_ggl, rho_inf: {radius}", pulse, step))
                for row in rows:
                    self.assertAlmostEqual(row["external_work"], row["kinetic"], delta=1e-12)
                self.assertAlmostEqual(max(row["kinetic"] for row in rows), 0.125, delta=1e-12)

    def test_work_of_smooth_velocities_is_of_second_order(self):
        found = []
        for step in (0.02, 0.01, 0.005, 0.0005):
            rows = self.history(led("alpha_ggl, rho_inf: 0.8", "expression: sin(5*t)^2", step, 40.0))
            found.append(rows[-1]["external_work"])
        errors = [abs(x - found[-1]) for x in found[:3]]
        self.assertLess(errors[0], 0.05 * abs(found[-1]))
        for coarse, fine in zip(errors, errors[1:]):
            self.assertGreater(coarse / fine, 3.4)

    # The impulse of 10 N over 0.2 s; a jump that two ends of steps see on different sides of them would be off by 0.05.
    def test_impulses_are_those_of_the_loads(self):
        for i, (scheme, start) in enumerate(itertools.product(SCHEMES, (0.01, 0.07, 0.1, 0.13, 0.29))):
            for amplitude in (f"pulse: {{ start: {start}, duration: 0.2, shape: rectangle }}",
                              f"expression: step(t - {start})*(1 - step(t - {start + 0.2}))")[i % 2::2]:
                with self.subTest(scheme=scheme, amplitude=amplitude):
                    rows = self.history(pushed(scheme, amplitude))
                    self.assertAlmostEqual(rows[-1]["momentum_x"], 2.3, delta=2e-5)
                    self.assertAlmostEqual(rows[-1]["kinetic"], 0.5 * 2.3**2, delta=1e-4)

    # Dampers that hold the load alone: u = (F L/EA) (1 - exp(-t/b)), b = 1 s, however long a step is beside m/c. The
    # first way is off by h^2 F/m, the velocities are not: what they lose is the work of the load.
    def test_dampers_that_take_all_work_are_no_error(self):
        schemes = ("newmark, gamma: 0.9, beta: 0.49", "hht", "alpha_velocity", "jump_newmark, rho_inf: 0.9")
        for scheme, step in [*itertools.product(schemes, (1e-4, 3e-4, 1e-3)), ("jump_newmark, rho_inf: 0.0", 1e-4)]:
            with self.subTest(scheme=scheme, step=step):
                last = self.history(f"""mesh: {{ bar: {{ type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 10 }} }}
elements: {{ bar: {{ type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0, damping: {{ stiffness: 1.0 }} }} }}
supports: {{ left: {{ set: bar.start, fix: [x] }} }}
loads: {{ push: {{ type: force, node: bar.end, value: [10.0, 0, 0] }} }}
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: {100 * step!r} }}
output: {{ frames: false, checkpoint: false, probes: {{ tip: {{ node: bar.end, of: [x] }} }} }}""")[-1]
                exact = 10.0 / 900.0 * -math.expm1(-100.0 * step)
                self.assertAlmostEqual(last["tip.x"] - 1.0, exact, delta=0.07 * exact)
                self.assertLess(last["damping_loss"], 1.1 * 10.0 * exact)


if __name__ == "__main__":
    unittest.main()
