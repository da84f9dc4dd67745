"""Writes a case: a crib of beams, WIDTH in a layer, LAYERS crosswise on one another on a floor, all with friction.

    make_pile.py WIDTH LAYERS [GAP] >case.yaml

Every crossing is a contact between two nodes, so that there are LAYERS * WIDTH^2 contacts. The beams start GAP
metres apart, falling and sliding, and come to rest.
"""
import sys

HEAD = """\
title: Crib of {beams} beams in {layers} layers that drops on a floor and comes to rest

mesh:
{mesh}
sets:
  all: {{ cells: [{names}] }}
{sets}
elements:
  beams:
    type: beam_timo_3d
    mesh: all
    E: 1.0e+10
    nu: 0.3
    rho: 600.0
    orientation: [0, 0, 1]
    section: {{ type: circle, diameter: 0.1 }}
    damping: {{ stiffness: 2.0e-3 }}

loads:
  weight: {{ type: gravity, g: [0, 0, -9.81] }}

initial:
  - {{ set: all, velocity: [0.4, 0.2, -0.1] }}

contacts:
{contacts}
scheme: {{ type: moreau_jean, theta: 0.5 }}
time: {{ step: 1.0e-3, end: 1.0 }}

output:
  probes:
    top: {{ node: {top}.end, of: [z, vx] }}
"""


def pile(width, layers, gap=0.001):
    mesh, sets, contacts, names = [], [], [], []
    for k in range(layers):
        z = gap * (k + 1)
        for i in range(width):
            name = f"l{k}b{i}"
            names.append(name)
            a, b = ([0, i + 1], [width + 1, i + 1]) if k % 2 == 0 else ([i + 1, 0], [i + 1, width + 1])
            mesh.append(f"  {name}: {{ type: line, from: [{a[0]}, {a[1]}, {z:.6g}], to: [{b[0]}, {b[1]}, {z:.6g}], "
                        f"elements: {width + 1} }}\n")
            # The crossings of this beam, in the order of the beams below.
            sets.append(f"  {name}_on: {{ nodes: {name}, without: [{name}.start, {name}.end] }}\n")
            law = "normal: [0, 0, 1], restitution: 0.0, friction: 0.5"
            if k == 0:
                contacts.append(f"  {name}: {{ type: node_plane, nodes: {name}_on, point: [0, 0, 0], {law} }}\n")
                continue
            below = ", ".join(f"l{k - 1}b{j}" for j in range(width))
            normal = "[1, 0, 0]" if k % 2 else "[0, 1, 0]"
            sets.append(f"  {name}_under: {{ nodes: [{below}], plane: [[{i + 1}, {i + 1}, 0], {normal}] }}\n")
            contacts.append(f"  {name}: {{ type: node_node, a: {name}_under, b: {name}_on, {law} }}\n")
    return HEAD.format(beams=len(names), layers=layers, mesh="".join(mesh), sets="".join(sets), names=", ".join(names),
                       contacts="".join(contacts), top=names[-1])


if __name__ == "__main__":
    sys.stdout.write(pile(int(sys.argv[1]), int(sys.argv[2]), *map(float, sys.argv[3:])))
