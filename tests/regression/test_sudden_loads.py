"""Loads that jump where a step ends, by times such as 0.09 + 0.01 and 10 x 0.01. Argument: the program."""

import itertools
import unittest

import program

SCHEMES = ("newmark", "hht", "alpha_ggl, rho_inf: 0.8", "alpha_velocity", "moreau_jean, theta: 0.5",
           "jump_newmark, rho_inf: 0.9", "jump_bathe", "half_explicit", "half_explicit_rk, method: hem4", "splitting")


def pushed(scheme, amplitude):
    return f"""mesh:
  ball: {{ type: point, at: [0, 0, 0] }}
elements:
  ball: {{ type: point_mass, mesh: ball, mass: 1.0, in: line }}
initial:
  - {{ set: ball, velocity: [0.3, 0, 0] }}
loads:
  push: {{ type: force, node: ball, value: [10.0, 0, 0], amplitude: {{ {amplitude} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-2, end: 0.6 }}
output: {{ frames: false, checkpoint: false }}
"""


class Jumps(program.Cases):
    # The impulse of 10 N over 0.2 s; a jump that two ends of steps see on different sides of them would be off by 0.05.
    def test_impulses_are_those_of_the_loads(self):
        for scheme, start in itertools.product(SCHEMES, (0.01, 0.07, 0.1, 0.13, 0.29)):
            for amplitude in (f"pulse: {{ start: {start}, duration: 0.2, shape: rectangle }}",
                              f"expression: step(t - {start})*(1 - step(t - {start + 0.2}))"):
                with self.subTest(scheme=scheme, amplitude=amplitude):
                    rows = self.history(pushed(scheme, amplitude))
                    self.assertAlmostEqual(rows[-1]["momentum_x"], 2.3, delta=2e-5)
                    self.assertAlmostEqual(rows[-1]["kinetic"], 0.5 * 2.3**2, delta=1e-4)


if __name__ == "__main__":
    unittest.main()
