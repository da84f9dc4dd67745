"""Beams that fall onto others at any angle, from along each other to across: contact along a line has no closest point.

Cells from 2 to 40 on either side, gaps from 0 to a radius, held or free below, with and without restitution. No run
stops.
"""

import math

import faults

SCHEMES = ("newmark", "moreau_jean, theta: 0.5", "alpha_ggl, rho_inf: 0.8", "alpha_velocity, rho_inf: 0.8", "hht")
RADIUS = 0.01
# First those that stopped: cells, angle in degrees, gap, whether the lower one is held, restitution, scheme.
CHOSEN = [(7, 4, 0.0, 1e-4, True, 0.0, SCHEMES[0]), (7, 4, 0.0, 0.0, True, 0.0, SCHEMES[2]),
          (4, 4, 0.0, 1e-4, False, 0.5, SCHEMES[1]), (7, 8, 0.5, 1e-6, False, 0.5, SCHEMES[1]),
          (4, 13, 0.5, 1e-4, True, 0.0, SCHEMES[0]), (20, 20, 0.0, 1e-4, False, 0.5, SCHEMES[1]),
          (20, 34, 0.1, 1e-3, False, 0.0, SCHEMES[2]), (2, 19, 90.0, 0.0, False, 0.0, SCHEMES[1]),
          (40, 40, 1e-3, 0.0, False, 1.0, SCHEMES[0]), (4, 40, 1.0, 1e-4, True, 0.5, SCHEMES[0])]


def case(na, nb, angle, gap, is_held, restitution, scheme):
    x, y, z = 0.5 * math.cos(math.radians(angle)), 0.5 * math.sin(math.radians(angle)), 2.0 * RADIUS + gap
    steel = (f"E: 2.0e+9, nu: 0.3, rho: 2000.0, orientation: [0, 0, 1], "
             f"section: {{ type: circle, diameter: {2.0 * RADIUS} }}")
    held = "supports: { low: { set: low, fix: [x, y, z] } }" if is_held else ""
    return f"""
mesh:
  low: {{ type: line, from: [-0.5, 0, 0], to: [0.5, 0, 0], elements: {na} }}
  high: {{ type: line, from: [{-x!r}, {-y!r}, {z!r}], to: [{x!r}, {y!r}, {z!r}], elements: {nb} }}
elements:
  low: {{ type: beam_exact_3d, mesh: low, {steel} }}
  high: {{ type: beam_exact_3d, mesh: high, {steel} }}
{held}
initial: [ {{ set: high, velocity: [0, 0, -0.5] }} ]
contacts: {{ touch: {{ type: beam_beam, a: low, b: high, radius: {RADIUS}, restitution: {restitution} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-4, end: 1.0e-2 }}
output: {{ frames: false, checkpoint: false }}
"""


def draw(c):
    pick = c.random.choice
    angle = pick((0.0, 0.0, 1e-6, 1e-3, 0.01, 0.1, c.random.uniform(0.0, 3.0), c.random.uniform(0.0, 90.0), 90.0))
    return (c.random.randint(2, 40), c.random.randint(2, 40), angle, pick((0.0, 1e-6, 1e-4, 1e-3, RADIUS)),
            pick((True, False)), pick((0.0, 0.5, 1.0)), pick(SCHEMES))


def campaign(c):
    chosen = list(CHOSEN)
    while c.goes_on():
        values = chosen.pop(0) if chosen else draw(c)
        result = c.run("run", c.write("case.yaml", case(*values)), "--quiet", "-o", c.path("out"))
        line = result.err.strip().splitlines()[0] if result.err.strip() else ""
        c.check(result.status == 0, f"{values}: exit {result.status} {line}")


faults.main(campaign, "60")
