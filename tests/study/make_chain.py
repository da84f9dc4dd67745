"""Writes a case: a chain of rigid massless links with beads at its joints over a rough drum, a weight at each end.

    make_chain.py LINKS >case.yaml

LINKS lie on the upper half of the drum, as many hang on its sides. The tensions of a chain that sticks are not unique.
"""
import math
import sys

COUNT, RADIUS, LIGHT, HEAVY = int(sys.argv[1]), 0.1, 0.1, 0.3
CHORD = 2.0 * RADIUS * math.sin(0.5 * math.pi / COUNT)
LEFT, RIGHT = COUNT // 3, COUNT - COUNT // 3


def places():
    for i in range(LEFT, 0, -1):
        yield -RADIUS, -i * CHORD
    for i in range(COUNT + 1):
        angle = math.pi * (1.0 - i / COUNT)
        yield RADIUS * math.cos(angle), RADIUS * math.sin(angle)
    for i in range(1, RIGHT + 1):
        yield RADIUS, -i * CHORD


beads = list(places())
last = len(beads) - 1
print("title: Chain of rigid links over a rough drum\n\nmesh:")
for i, (x, y) in enumerate(beads):
    print(f"  b{i}: {{ type: point, at: [{x:.17g}, {y:.17g}, 0] }}")
inner = ", ".join(f"b{i}" for i in range(1, last))
print(f"""
sets:
  inner: {{ cells: [{inner}] }}

elements:
  light: {{ type: point_mass, mesh: b0, mass: {LIGHT}, in: plane }}
  beads: {{ type: point_mass, mesh: inner, mass: {0.002 * CHORD / RADIUS:.17g}, in: plane }}
  heavy: {{ type: point_mass, mesh: b{last}, mass: {HEAVY}, in: plane }}

loads:
  weight: {{ type: gravity, g: [0, -9.81, 0] }}

contacts:
  drum: {{ type: node_circle, nodes: inner, centre: [0, 0, 0], radius: {RADIUS}, side: outside,
           restitution: 0.0, friction: 0.2 }}

joints:""")
for i in range(last):
    print(f"  l{i}: {{ type: distance, a: b{i}, b: b{i + 1} }}")
print(f"""
scheme: {{ type: moreau_jean, theta: 1.0 }}
time: {{ step: 5.0e-4, end: 0.1 }}

output:
  probes:
    heavy: {{ node: b{last}, of: [y, vy] }}
    light: {{ node: b0, of: [y, vy] }}""")
