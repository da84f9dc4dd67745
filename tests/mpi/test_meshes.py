"""Meshes of every type over several ranks, which have parts of them: results and frames are those of one process, and
what a rank takes falls with their number. Argument: the program."""

import json
import os
import random
import unittest

import ranks

import pieces

BEAM = """{ type: beam_timo_2d, mesh: %s, E: 1.0e9, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: 0.02 } }"""

REST = """
scheme: { type: moreau_jean, theta: 0.5 }
time: { step: 2.0e-5, end: 2.0e-4 }
output:
  frames: { every: 5, format: vtu }
  probes:
    all: { set: %s, of: [x, y, vx] }
    one: { set: %s, item: 5, of: [x, vy] }
"""

FRAME = """
mesh:
  portal: { type: frame, points: { a: [0, 0, 0], b: [0, 2, 0], c: [4, 2, 0], d: [4, 0, 0] },
            members: [[a, b], [b, c], [c, d], [a, c]], elements: 9 }
elements:
  portal: %s
sets:
  top: { nodes: portal, plane: [[0, 2, 0], [0, 1, 0]] }
  beam: { cells: portal, plane: [[0, 2, 0], [0, 1, 0]] }
supports:
  feet: { set: portal.a, fix: [x, y], reactions: true }
loads:
  push: { type: force, set: portal.c, value: [10, 0, 0] }
  snow: { type: line, cells: beam, value: [0, -20, 0] }
""" % BEAM % "portal" + REST % ("top", "portal.m2")

# Parts that share nodes, with sets that are chosen and springs between bodies.
MERGED = """
mesh:
  grid: { type: lattice, cells: [6, 2], size: [0.1], diagonals: one }
  tail: { type: line, from: [0.6, 0.1, 0], to: [1.5, 0.1, 0], elements: 12 }
  other: { type: line, from: [0, 1, 0], to: [1, 1, 0], elements: 9 }
  spring: { type: link, a: tail.end, b: other.end }
  body: { type: point, at: [[2, 0, 0], [2, 1, 0]] }
elements:
  grid: %s
  tail: %s
  other: %s
  spring: { type: spring_damper, mesh: spring, in: plane, stiffness: 1.0e+3 }
  body: { type: rigid_body_2d, mesh: body, mass: 1.0, inertia: 0.1 }
sets:
  left: { nodes: grid, plane: [[0, 0, 0], [1, 0, 0]] }
merge:
  corner: { sets: [grid.xmax, tail.start] }
supports:
  left: { set: left, fix: [x, y] }
initial:
  - { set: other, velocity: [5, 1, 0] }
  - { set: body, velocity: [-5, 0, 0] }
""" % (BEAM % "grid", BEAM % "tail", BEAM % "other") + REST % ("grid", "tail")

GMSH = """
mesh:
  net: { type: gmsh, file: net.msh }
elements:
  net: %s
sets:
  free: { nodes: net.rows, without: net.feet }
supports:
  feet: { set: net.feet, fix: [x, y] }
initial:
  - { set: free, velocity: [0, 1, 0] }
contacts:
  wall: { type: node_plane, nodes: net.tip, point: [%s, 0, 0], normal: [-1, 0, 0], restitution: 0.5 }
""" % (BEAM % "net", "%g")


def write_net(path, nx, ny):
    """A grid of lines with tags in any order, in groups of rows and columns, and points that mark corners."""
    rng = random.Random(1)
    tags = list(range(5, 5 + (nx + 1) * (ny + 1)))
    rng.shuffle(tags)
    at = {(i, j): tags[i * (ny + 1) + j] for i in range(nx + 1) for j in range(ny + 1)}
    lines = [(1, at[i, j], at[i + 1, j]) for i in range(nx) for j in range(ny + 1)]
    lines += [(2, at[i, j], at[i, j + 1]) for i in range(nx + 1) for j in range(ny)]
    rng.shuffle(lines)
    points = [(3, at[0, 0]), (3, at[0, ny]), (4, at[nx, ny // 2])]
    with open(path, "w") as file:
        file.write("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n"
                   '1 1 "rows"\n1 2 "columns"\n0 3 "feet"\n0 4 "tip"\n$EndPhysicalNames\n')
        file.write(f"$Entities\n{len(points)} 2 0 0\n")
        file.writelines(f"{k + 1} 0 0 0 1 {group}\n" for k, (group, _) in enumerate(points))
        file.write("1 0 0 0 1 1 0 1 1 0\n2 0 0 0 1 1 0 1 2 0\n$EndEntities\n")
        file.write(f"$Nodes\n1 {len(at)} 5 {4 + len(at)}\n2 1 0 {len(at)}\n")
        file.writelines(f"{tag}\n" for tag in at.values())
        file.writelines(f"{0.1 * i:.17g} {0.1 * j:.17g} 0\n" for i, j in at)
        file.write(f"$EndNodes\n$Elements\n{len(points) + len(lines)} {len(points) + len(lines)} 1 {9 + len(lines)}\n")
        file.writelines(f"0 {k + 1} 15 1\n{k + 1} {a}\n" for k, (_, a) in enumerate(points))
        file.writelines(f"1 {group} 1 1\n{k + 9} {a} {b}\n" for k, (group, a, b) in enumerate(lines))
        file.write("$EndElements\n")


class Meshes(ranks.Ranks):
    def model(self, text):
        return self.case("model", text)

    def run_into(self, folder, count, *arguments):
        """count = 0: without mpiexec."""
        result = ranks.run(count, *arguments, "-q", "-o", self.path(folder), *(ranks.TIGHT if count > 0 else []))
        self.assertEqual(result.returncode, 0, result.stderr)

    def same(self, one, other):
        self.agree(self.path(one), self.path(other))
        frames = [pieces.read_list(self.path(f"{folder}/model.pvd")) for folder in (one, other)]
        self.assertEqual([t for t, _ in frames[0]], [t for t, _ in frames[1]])
        pieces.compare_lists(*frames, 1e-7)

    def taken(self, case, count):
        self.run_into("out", count, case)
        with open(self.path("out/summary.json")) as file:
            return json.load(file)["ranks"]["memory_bytes_least"]


class Agreement(Meshes):
    def compare(self, text):
        case = self.model(text)
        self.run_into("serial", 0, case)
        for count in 2, 3:
            self.run_into("out", count, case)
            self.same("serial", "out")

    def test_frame(self):
        self.compare(FRAME)

    def test_parts_that_share_nodes(self):
        self.compare(MERGED)

    # Points that only mark nodes go, on ranks as on one process.
    def test_file_of_gmsh(self):
        write_net(self.path("net.msh"), 9, 4)
        self.compare(GMSH % 0.9 + REST % ("net.rows", "net.columns"))

    # Ranks get the same parts, and sums the same order.
    def test_runs_repeat(self):
        write_net(self.path("net.msh"), 30, 30)
        case = self.model((GMSH % 3.0 + REST % ("net.rows", "net.columns")).replace("end: 2.0e-4", "end: 4.0e-5"))
        for k in range(3):
            self.run_into("out", 3, case)
            os.rename(self.path("out"), self.path(f"out{k}"))
            self.same_bytes(self.path("out0"), self.path(f"out{k}"))


# Other ranks than the first never have more than their part.
class Memory(Meshes):
    def falls(self, models):
        growth = []
        for count in (1, 4):
            taken = [self.taken(model(), count) for model in models]
            growth.append(taken[1] - taken[0])
        self.assertGreater(growth[1], 0)
        self.assertLess(growth[1], 0.3 * growth[0])

    # Probes of sets copy them to all ranks.
    def frame(self, elements):
        return self.model(FRAME.replace("elements: 9", f"elements: {elements}")
                         .replace("set: top, of", "set: portal.b, of")
                         .replace("set: portal.m2, item: 5", "set: portal.c")
                         .replace("end: 2.0e-4", "end: 2.0e-5").replace("every: 5", "every: 0"))

    def net(self, n):
        write_net(self.path("net.msh"), n, 12)
        return self.model((GMSH % (0.1 * n) + REST.replace("item: 5, ", "") % ("net.rows", "net.columns"))
                         .replace("end: 2.0e-4", "end: 2.0e-5").replace("every: 5", "every: 0"))

    def test_of_a_frame(self):
        self.falls([lambda: self.frame(1000), lambda: self.frame(2500)])

    def test_of_a_file(self):
        self.falls([lambda: self.net(80), lambda: self.net(240)])


if __name__ == "__main__":
    unittest.main()
