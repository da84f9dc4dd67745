"""A body that is put onto a belt: until it moves along, friction takes as much energy as it gives, and the drive of the
belt does the work of both. Argument: the program.
"""

import unittest

import program

SCHEMES = ("alpha_ggl", "newmark", "hht", "alpha_velocity", "moreau_jean, theta: 0.5", "moreau_jean_explicit",
           "moreau_midpoint", "half_explicit", "half_explicit_rk", "schatzman_paoli")
MASS, MU, G, SPEED = 2.0, 0.3, 10.0, 1.5


def belt(scheme, step):
    return f"""mesh: {{ belt: {{ type: point, at: [1, 0, 0] }}, body: {{ type: point, at: [1, 0, 0] }} }}
elements:
  belt: {{ type: point_mass, mesh: belt, mass: 7.0 }}
  body: {{ type: point_mass, mesh: body, mass: {MASS} }}
initial: [{{ set: belt, velocity: [{SPEED}, 0, 0] }}]
supports: {{ rollers: {{ set: belt, fix: [y, z], reactions: true }} }}
joints: {{ drive: {{ type: prescribed, node: belt, along: x, velocity: {{ expression: "{SPEED}" }} }} }}
loads: {{ weight: {{ type: force, node: body, value: [0, 0, {-MASS * G}] }} }}
contacts:
  rub: {{ type: node_node, a: belt, b: body, normal: [0, 0, 1], restitution: 0.0, friction: {MU} }}
scheme: {{ type: {scheme} }}
time: {{ step: {step}, end: 0.8 }}
output: {{ frames: false, checkpoint: false, probes: {{ body: {{ node: body, of: [vx] }} }} }}
"""


class Belts(program.Cases):
    def check(self, scheme):
        """Sliding ends after 0.5 s, a whole number of steps."""
        rows = self.history(belt(scheme, 2.5e-3))
        summary = program.read_json(self.folder / "case" / "summary.json")
        contact, drive, last = summary["contacts"][0], summary["joints"][0], rows[-1]
        energy, middle = 0.5 * MASS * SPEED ** 2, rows[100]
        self.assertAlmostEqual(last["body.vx"], SPEED, delta=1e-9)
        self.assertAlmostEqual(contact["friction_loss"] / energy, 1.0, delta=2e-3)
        self.assertAlmostEqual(contact["work"] / energy, -1.0, delta=2e-3)
        self.assertAlmostEqual(drive["work"] / energy, 2.0, delta=4e-3)
        self.assertAlmostEqual(last["external_work"] / energy, 2.0, delta=4e-3)
        self.assertAlmostEqual(last["numerical_loss"] / energy, 0.0, delta=4e-3)
        self.assertAlmostEqual(contact["sliding_distance"], 0.5 * SPEED * 0.5, delta=SPEED * 2.5e-3)
        # The place of the belt is followed to its round-off, 1e-14 m, which mass over h^2 makes a force of.
        self.assertAlmostEqual(middle["drive.fx"], MU * MASS * G, delta=1e-7)
        self.assertAlmostEqual(middle["rollers.fz"], MASS * G, delta=1e-9)

    def test_energies_of_a_belt(self):
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                self.check(scheme)


if __name__ == "__main__":
    unittest.main()
