"""A system of one's own: a pendulum of one angle that hits a stop, written in Python."""

import numpy as np
import percuss


class Pendulum(percuss.System):
    """m l^2 phi'' = -m g l sin(phi), and a stop at an angle: g = l (phi - stop) >= 0."""

    name = "pendulum_py"
    summary = "a pendulum and a stop"
    parameters = {
        "mass": percuss.Parameter(1.0, "mass, kg", 0.0),
        "length": percuss.Parameter(0.5, "length, m", 0.0),
        "gravity": percuss.Parameter(9.81, "m/s^2"),
        "angle": percuss.Parameter(1.0, "of the start, rad"),
        "stop": percuss.Parameter(-0.3, "angle of the stop, rad"),
    }
    coordinates = ["phi"]
    rows = [percuss.Row("stop", restitution=0.8)]
    has_constant_mass = True
    has_constant_directions = True
    point_count, cells = 2, [(0, 1)]

    def start(self, p):
        return [p.angle], [0.0]

    def length(self, p):
        return p.length

    def mass(self, p, q):
        return [[p.mass * p.length**2]]

    def force(self, p, t, q, v):
        return [-p.mass * p.gravity * p.length * np.sin(q[0])]

    def gaps(self, p, q):
        return [p.length * (q[0] - p.stop)]

    def directions(self, p, q):
        return [[p.length]]

    def energy(self, p, q, v):
        return 0.5 * p.mass * p.length**2 * v[0]**2, p.mass * p.gravity * p.length * (1.0 - np.cos(q[0]))

    def points(self, p, q):
        return [[0, 0, 0], [p.length * np.sin(q[0]), -p.length * np.cos(q[0]), 0]]


CASE = """
system: { type: pendulum_py, angle: 1.0 }
scheme: { type: alpha_ggl, rho_inf: 0.9 }
time: { step: 1.0e-3, end: 3.0 }
"""

sim = percuss.load(text=CASE, system=Pendulum())
impacts = []
for step in sim:
    if sim.contacts["stop"].is_impact:
        impacts.append((sim.time, sim.contacts["stop"].impulse))
energy = sim.energy
print(f"{len(impacts)} impacts, the first at {impacts[0][0]:.3f} s; {energy.total:.4f} of {energy.initial:.4f} J left")

# Between start and stop energy gives the speed of the first impact, and restitution its loss.
speed2 = 2.0 * 9.81 / 0.5 * (np.cos(-0.3) - np.cos(1.0))
impulse = 1.0 * 0.5 * np.sqrt(speed2) * 1.8
print(f"impulse of the first impact {impacts[0][1]:.4f} N s, exact {impulse:.4f} N s")
assert abs(impacts[0][1] / impulse - 1.0) < 0.02
