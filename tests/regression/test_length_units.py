"""The same model with lengths in other units runs to the same results: nothing compares an angle with a length, or
either with a length of 1. Argument: the program.

Units differ by powers of four, which scale every number without rounding.
"""

import unittest

import program

UNITS = (4.0 ** -8, 4.0 ** 5)

END = "output: { frames: false, checkpoint: false }\n"


def ball(u):
    """A point on its way to a plane: step control knows no length but the gap."""
    return f"""mesh: {{ ball: {{ type: point, at: [0, 0, 0] }} }}
elements: {{ ball: {{ type: point_mass, mesh: ball, mass: 2.0 }} }}
contacts:
  floor: {{ type: node_plane, nodes: ball, point: [0, 0, {u * -0.3}], normal: [0, 0, 1], restitution: 0.5,
    friction: 0.3 }}
initial: [{{ set: ball, velocity: [{u * 2.0}, 0, {u * -3.0}] }}]
loads: {{ weight: {{ type: gravity, g: [0, 0, {u * -9.81}] }} }}
scheme: {{ type: alpha_velocity }}
time: {{ step: 1.0e-3, end: 0.5, control: {{ type: adaptive, tolerance: 1.0e-3 }} }}
""" + END


def pendulum(u):
    """Step control of lengths and an angle."""
    return f"""system: {{ type: pendulum, mass: 1.0, inertia: {u * u * 0.1}, length: {u}, gravity: {u * 10.0},
  wall: {u * 0.7}, angle: 0.26, rate: 3.0, restitution: 0.0 }}
scheme: {{ type: moreau_jean, theta: 0.65 }}
time: {{ step: 1.0e-2, end: 1.0, control: {{ type: adaptive, tolerance: 4.0e-3 }} }}
""" + END


def pad(u):
    """A stable step by the depth that the fall of a beam, whose gravity has moments, can reach."""
    return f"""mesh: {{ beam: {{ type: line, from: [0, {u * 0.01}, 0], to: [{u}, {u * 0.01}, 0], elements: 4 }} }}
elements:
  beam: {{ type: beam_timo_2d, mesh: beam, E: {1.0e7 / u}, nu: 0.3, rho: {1000.0 / u ** 3},
    section: {{ type: circle, diameter: {u * 0.1} }} }}
contacts:
  pad: {{ type: node_plane, nodes: beam, point: [0, 0, 0], normal: [0, 1, 0],
    law: {{ type: hertz, stiffness: {1.0e8 / u ** 0.5} }} }}
loads: {{ weight: {{ type: gravity, g: [0, {u * -9.81}, 0] }} }}
scheme: {{ type: half_explicit }}
time: {{ step: auto, end: 0.02 }}
""" + END


def hinge(u):
    """Angles of a joint are round-off of 1 rad, however small the beam is."""
    return f"""mesh: {{ beam: {{ type: line, from: [0, 0, 0], to: [{u * 0.3}, {u * 0.6}, {u * -0.2}], elements: 3 }} }}
elements:
  beam: {{ type: beam_exact_3d, mesh: beam, E: {1.0e6 / u}, nu: 0.3, rho: {1000.0 / u ** 3},
    orientation: [0.36, 0.48, 0.8], section: {{ type: circle, diameter: {u * 0.05} }} }}
joints: {{ pivot: {{ type: hinge, node: beam.start, axis: [0.5, -0.7, 0.3] }} }}
loads: {{ weight: {{ type: gravity, g: [{u * 3.0}, {u * -9.81}, {u * 2.0}] }} }}
scheme: {{ type: alpha_ggl }}
time: {{ step: 2.0e-3, end: 0.2, retry: 0 }}
""" + END


def struck(u):
    """A mass strikes a light beam, which turns fast: changes of angles count as ways when a step is judged as found."""
    return f"""mesh:
  beam: {{ type: line, from: [0, 0, 0], to: [{u * 0.32}, {u * 0.44}, {u * 0.09}], elements: 6 }}
  mass: {{ type: point, at: [{u * 4.7}, 0, {u * -0.068}] }}
elements:
  beam: {{ type: beam_exact_3d, mesh: beam, E: {2.0e8 / u}, nu: 0.3, rho: {1.05 / u ** 3},
    orientation: [0.36, 0.48, 0.8], section: {{ type: rectangle, width: {u * 0.0056}, height: {u * 0.0073} }} }}
  mass: {{ type: point_mass, mesh: mass, mass: 1.0e-3 }}
joints: {{ guide: {{ type: slider, node: beam.start, axis: [-0.70, -0.59, -0.41] }} }}
contacts:
  touch: {{ type: node_node, a: beam.start, b: mass, normal: [0, 0, -1], restitution: 0.0 }}
initial: [{{ set: mass, velocity: [0, 0, {u * 20.0}] }}]
scheme: {{ type: alpha_ggl }}
time: {{ step: 5.0e-5, end: 5.0e-3 }}
""" + END


def rattling(u):
    """The end of a beam in a journal, whose directions turn: an iteration that shrinks slowly is not at round-off."""
    return f"""mesh:
  body: {{ type: point, at: [0, 0, 0] }}
  beam: {{ type: line, from: [{u * -2.03e-4}, {u * 1.16e-4}, 0],
    to: [{u * -0.0708}, {u * 0.408}, 0], elements: 6 }}
elements:
  body: {{ type: rigid_body_2d, mesh: body, mass: 2.97, inertia: {u * u * 0.135} }}
  beam: {{ type: beam_timo_2d, mesh: beam, E: {6.55 / u}, nu: -0.2, rho: {62.7 / u ** 3},
    section: {{ type: tube, diameter: {u * 0.0321}, thickness: {u * 0.00643} }} }}
contacts:
  journal: {{ type: journal, nodes: beam.start, housing: body, axis: [0, 0, 1], radius: {u * 0.01088},
    node_radius: {u * 0.01028}, restitution: 1.0 }}
supports: {{ hold: {{ set: beam.end, fix: [rz] }} }}
loads:
  twist: {{ type: torque, node: beam.start, value: {u * u * 5.73e-7}, axis: [0, 0, 1] }}
initial: [{{ set: body, velocity: [0, {u * -0.0153}, 0] }}]
scheme: {{ type: alpha_ggl, rho_inf: 0.72 }}
time: {{ step: 0.035, end: 3.0 }}
""" + END


def spun(u):
    """Rates of angles that a hinge holds are judged by the speeds of points at the size of the body."""
    return f"""mesh: {{ body: {{ type: point, at: [0, 0, 0] }} }}
elements:
  body: {{ type: rigid_body_3d, mesh: body, mass: 0.05,
    inertia: [{u * u * 5.0e-9}, {u * u * 6.0e-9}, {u * u * 5.2e-9}] }}
contacts:
  floor: {{ type: node_plane, nodes: body, offsets: [[{u * 9.0e-4}, 0, 0], [0, {u * 9.0e-4}, 0]],
    point: [0, {u * -9.0e-4}, 0], normal: [0, 1, 0], restitution: 0.4 }}
joints: {{ pivot: {{ type: hinge, node: body, axis: [0.47, 0.21, 0.86] }} }}
loads: {{ twist: {{ type: moment, node: body, value: [{u * u * -2.1e-5}, 0, 0], follower: true }} }}
scheme: {{ type: half_explicit }}
time: {{ step: 1.1e-4, end: 0.4 }}
""" + END


def tossed(u):
    """A mass leaves the floor slowly beside a hinge under a large moment: speeds of angles do not hold it there."""
    return f"""mesh:
  mass: {{ type: point, at: [0, 0, 0] }}
  beam: {{ type: line, from: [0, {u}, 0], to: [{u}, {u}, 0], elements: 1 }}
elements:
  mass: {{ type: point_mass, mesh: mass, mass: 1.0 }}
  beam: {{ type: beam_timo_3d, mesh: beam, E: {1.0e-2 / u}, nu: 0.3, rho: {1.0 / u ** 3},
    orientation: [0, 0, 1], section: {{ type: circle, diameter: {u * 0.1} }} }}
contacts: {{ floor: {{ type: node_plane, nodes: mass, point: [0, 0, 0], normal: [0, 0, 1], restitution: 0.5 }} }}
joints: {{ pivot: {{ type: hinge, node: beam.start, axis: [0, 0, 1] }} }}
loads:
  weight: {{ type: gravity, g: [0, 0, {u * -1.0e-3}] }}
  twist: {{ type: moment, node: beam.start, value: [{u * u * 1.0e4}, 0, 0] }}
initial: [{{ set: mass, velocity: [0, 0, {u * 1.0e-4}] }}]
scheme: {{ type: half_explicit_acceleration }}
time: {{ step: 0.01, end: 0.15 }}
""" + END


# By how much results may differ, of their size.
CASES = ((ball, 0.0), (pendulum, 1e-11), (pad, 1e-9), (hinge, 1e-9), (struck, 1e-9), (spun, 1e-9), (rattling, 1e-9),
         (tossed, 1e-9))


class LengthUnits(program.Cases):
    def test_units(self):
        for case, most in CASES:
            expected = self.history(case(1.0))
            for u in UNITS:
                found, where = self.history(case(u)), f"{case.__name__} in units of {u}"
                self.assertEqual(len(found), len(expected), where)
                for name, size in (("t", 1.0), ("kinetic", u * u), ("potential", u * u)):
                    largest = max(abs(row[name]) for row in expected)
                    off = max(abs(a[name] / size - b[name]) for a, b in zip(found, expected))
                    self.assertLessEqual(off, most * largest, f"{name} of {where}")


if __name__ == "__main__":
    unittest.main()
