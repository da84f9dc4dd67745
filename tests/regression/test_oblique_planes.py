"""Bodies that slide on planes across all axes: their gap is zero to the round-off of their places only, which neither
refuses them, nor lets them fall for a step, nor ends the run. Argument: the program.
"""

import math
import unittest

import program

SCHEMES = ("alpha_ggl", "alpha_velocity", "newmark", "hht", "moreau_jean, theta: 0.5", "moreau_jean_explicit",
           "moreau_midpoint", "half_explicit", "half_explicit_rk", "schatzman_paoli", "jump_newmark, gamma: 0.5",
           "ggl_midpoint, metric: mass")
IN_SPACE = SCHEMES[:6] + ("half_explicit",)
FRAMES = ((0.3, 0.2, 1.1), (1.2, 0.7, 0.4), (2.1, 1.9, 2.6), (4.4, 2.3, 0.8))
MU, NORMAL, DOWN = 0.3, 9.0, 2.0  # friction, and gravity across and along the plane


def frame(a, b, c):
    """Two axes along the plane and its normal, by Euler angles."""
    ca, sa, cb, sb, cc, sc = math.cos(a), math.sin(a), math.cos(b), math.sin(b), math.cos(c), math.sin(c)
    return ((ca * cc - sa * cb * sc, sa * cc + ca * cb * sc, sb * sc),
            (-ca * sc - sa * cb * cc, -sa * sc + ca * cb * cc, sb * cc), (sa * sb, -ca * sb, cb))


def along(axes, x):
    return [math.fsum(x[i] * axes[i][k] for i in range(3)) for k in range(3)]


def slide(scheme, axes, place, radius, body):
    """It starts on the plane with 1 m/s downhill, in steps of 10 ms for 0.2 s."""
    return f"""mesh: {{ body: {{ type: point, at: {along(axes, (place[0], place[1], radius))} }} }}
elements: {{ body: {{ mesh: body, mass: 2.0, {body} }} }}
initial: [{{ set: body, velocity: {along(axes, (1.0, 0.0, 0.0))} }}]
contacts:
  floor: {{ type: node_plane, nodes: body, point: [0, 0, 0], normal: {list(axes[2])}, node_radius: {radius},
    restitution: 0.0, friction: {MU} }}
loads: {{ weight: {{ type: gravity, g: {along(axes, (DOWN, 0.0, -NORMAL))} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 0.01, end: 0.2 }}
output: {{ frames: false, checkpoint: false, probes: {{ body: {{ node: body, of: [vx, vy, vz] }} }} }}
"""


def rest(scheme, axes, place, unit, offset, is_late):
    """It lies on the plane, within `offset`, and sticks; the load is there from the start, or sets in after 50 ms."""
    factors = "[[0, 0], [0.05, 0], [0.06, 1]]" if is_late else "[[0, 1], [1, 1]]"
    return f"""mesh: {{ body: {{ type: point, at: {[unit * x for x in place]} }} }}
elements: {{ body: {{ mesh: body, type: point_mass, mass: 2.0 }} }}
contacts:
  floor: {{ type: node_plane, nodes: body, point: {[unit * (x + offset * n) for x, n in zip(place, axes[2])]},
    normal: {list(axes[2])}, restitution: 0.0, friction: {MU} }}
loads:
  push: {{ type: force, set: body, value: {along(axes, (2.0 * DOWN * unit, 0.0, -2.0 * NORMAL * unit))},
    amplitude: {{ table: {factors} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-3, end: 0.2 }}
output: {{ frames: false, checkpoint: false, probes: {{ body: {{ node: body, of: [ux, uy, uz] }} }} }}
"""


class Planes(program.Cases):
    def test_points_at_rest(self):
        """Nothing sinks or slides, in m, mm and km, in the origin and off it, where a gap is round-off, too."""
        for i, scheme in enumerate(SCHEMES):
            for place, unit, offset, is_late in (((0, 0, 0), 1.0, 9e-19, False), ((0, 0, 0), 1.0, -9e-19, False),
                                                 ((0, 0, 0), 1e3, 9e-19, True), ((0, 0, 0), 1e-3, -9e-19, True),
                                                 ((0, 0, 9e-19), 1.0, -9e-19, False), ((0, 0, -9e-19), 1, 9e-19, True),
                                                 ((1, 2, 3), 1.0, 0.0, False), ((1, 2, 3), 1e-3, 0.0, True))[i % 2::2]:
                with self.subTest(scheme=scheme, place=place, unit=unit, offset=offset, is_late=is_late):
                    rows = self.history(rest(scheme, frame(*FRAMES[0]), place, unit, offset, is_late))
                    way = max(abs(row[f"body.u{k}"]) for row in rows for k in "xyz")
                    self.assertLess(way, (1e-8 if is_late else 1e-12) * unit)  # g h^2 is 9e-6
                    self.assertAlmostEqual(rows[-1]["floor.force"] / (2.0 * NORMAL * unit), 1.0, delta=1e-9)
                    self.assertLess(abs(rows[-1]["friction_loss"]) + abs(rows[-1]["impact_loss"]), 1e-12 * unit**2)

    def check(self, text, speed):
        """The force of every step is the weight, after a first one in which `schatzman_paoli` has half of it."""
        rows = self.history(text)
        forces = [row["floor.force"] / (2.0 * NORMAL) for row in rows[2:]]
        velocity = math.hypot(*(rows[-1][f"body.v{k}"] for k in "xyz"))
        self.assertLess(max(abs(force - 1.0) for force in forces), 1e-6)
        self.assertAlmostEqual(velocity, speed, delta=0.02 * speed)

    def test_points(self):
        """Far from the origin, and in it, where nothing but the way of a step is a length."""
        speed = 1.0 + 0.2 * (DOWN - MU * NORMAL)
        for i, scheme in enumerate(SCHEMES):
            for k, place in enumerate(((5.0, 3.0), (0.0, 0.0))):
                for angles in FRAMES[(i + k) % 2::2]:
                    with self.subTest(scheme=scheme, place=place, angles=angles):
                        self.check(slide(scheme, frame(*angles), place, 0.0, "type: point_mass"), speed)

    def test_small_balls_far_away(self):
        """A ball of 1 mm, 583 m away, which rolls, with 5/7 of gravity, when friction has turned it up to its speed."""
        radius = 1e-3
        body = f"type: rigid_body_3d, inertia: {[2.0 * 0.4 * radius ** 2] * 3}"
        slip = 1.0 / (3.5 * MU * NORMAL - DOWN)
        speed = 1.0 + slip * (DOWN - MU * NORMAL) + 5.0 / 7.0 * DOWN * (0.2 - slip)
        for scheme in IN_SPACE:
            for angles in FRAMES[:2]:
                with self.subTest(scheme=scheme, angles=angles):
                    self.check(slide(scheme, frame(*angles), (500.0, 300.0), radius, body), speed)


if __name__ == "__main__":
    unittest.main()
