"""Known answers of the mesh parts: arcs, frames, lattices, points, links and files of Gmsh, what they refuse, nodes
chosen by place, and parts that are joined. Argument: the path of the program."""

import itertools
import math
import os
import tempfile
import unittest

import studies  # noqa: F401 - says where percuss is
from program import read_file, write_file
import numpy as np  # noqa: I100

import percuss

ALL = "tests/contract/meshes.yaml"
BEAM = ("{ type: beam_timo_3d, mesh: %s, E: 1, nu: 0, rho: 1, orientation: [0.3, 0.5, 0.8], section: "
        "{ type: circle, diameter: 0.01 } }")
BODY = "{ type: point_mass, mesh: %s, mass: 1 }"
SPRING = "{ type: spring_damper, mesh: %s, stiffness: 1 }"
REST = "scheme: { type: alpha_ggl }\ntime: { step: 1.0e-6, end: 1.0e-5 }\n"


def load(more="", **parts):
    """A model of parts of a mesh, {name: "{ type: ... }"}."""
    kinds = {name: SPRING if "type: link" in part else BODY if "type: point" in part else BEAM
             for name, part in parts.items()}
    mesh = ", ".join(f"{name}: {part}" for name, part in parts.items())
    elements = ", ".join(f"{name}: {kind % name}" for name, kind in kinds.items())
    return percuss.load(text=f"mesh: {{ {mesh} }}\nelements: {{ {elements} }}\n{more}{REST}")


class Mesh:
    """The mesh as the library has it."""

    def __init__(self, more="", **parts):
        self.sim = load(more, **parts)
        self.x, self.cells = np.array(self.sim.nodes), np.array(self.sim.cells)
        self.nodes = {name: list(items) for name, items in self.sim.node_sets.items()}
        self.groups = {name: list(items) for name, items in self.sim.cell_sets.items()}

    def bandwidth(self):
        return abs(self.cells[:, 0] - self.cells[:, 1]).max()

    def lengths(self):
        return np.linalg.norm(self.x[self.cells[:, 0]] - self.x[self.cells[:, 1]], axis=1)

    def sizes(self, *names):
        return [len(self.nodes[name]) for name in names]


def line(start, end, count):
    return f"{{ type: line, from: {start}, to: {end}, elements: {count} }}"


def lattice(cells, size, more=""):
    return f"{{ type: lattice, cells: {cells}, size: {size}{more} }}"


PORTAL = ("{ type: frame, points: { a: [0, 0, 0], b: [0, 2, 0], c: [4, 2, 0], d: [4, 0, 0] }, "
          "members: [[a, b], [c, b], [c, d]], elements: 4 }")
STALK = ("{ type: frame, points: { foot: [0, 0, 5], p: [0, 0, 6], q: [1, 0, 7], r: [-1, 0, 7] }, "
         "members: [[p, q], [q, r], [r, p], [p, foot]], elements: 10 }")
TWO = "points: { a: [0, 0, 0], b: [1, 0, 0] }"
REFUSED = {
    "line": (("from: [1, 2, 3], to: [1, 2, 3], elements: 1", "no length"),
             ("from: [-1e300, 0, 0], to: [1e300, 0, 0], elements: 1", "too long")),
    "arc": (("centre: [0, 0, 0], start: [1, 0, 0], angle: 0, elements: 2", "no length"),
            ("centre: [0, 0, 0], start: [1, 0, 0], angle: 361, elements: 2", "must be in [-360, 360], is 361"),
            ("centre: [1, 0, 0], start: [1, 0, 0], angle: 90, elements: 2", "no radius"),
            ("centre: [-1e300, 0, 0], start: [1e300, 0, 0], angle: 90, elements: 2", "no radius"),
            ("centre: [0, 0, 0], start: [1, 0, 1], angle: 90, elements: 2", "does not lie in the plane"),
            ("centre: [0, 0, 0], start: [1, 0, 0], normal: [0, 0, 0], angle: 90, elements: 2", "no direction"),
            ("centre: [0, 0, 0], start: [1, 0, 0], angle: -360, elements: 2", "at least 3 cells"),
            ("centre: [0, 0, 0], start: [1, 0, 0], angle: 90, elements: 0", "elements must be in [1,")),
    "frame": ((f"{TWO}, members: [[a, c]], elements: 1", "member 1 names the point 'c'"),
              ("points: { a: [0, 0, 0], b: [0, 0, 0] }, members: [[a, b]], elements: 1",
               "member 1 has length 0, must be > 0 and finite: 'a' is at [0, 0, 0], 'b' at [0, 0, 0]"),
              ("points: { a: [0, 0, 0], b: [1e200, 0, 0] }, members: [[a, b]], elements: 1", "length inf"),
              (f"{TWO}, members: [[a, b], [b, a]], elements: 1", "two members join 'a' and 'b'"),
              ("points: { a: [0, 0, 0], b: [1, 0, 0], c: [2, 0, 0] }, members: [[a, b]], elements: 1",
               "no member ends at the point 'c'"),
              ("points: { a: [0, 0, 0], m1: [1, 0, 0] }, members: [[a, m1]], elements: 1", "names of members"),
              (f"{TWO}, members: [[a, b, a]], elements: 1", "a pair of points"),
              (f"{TWO}, members: [a, b, a], elements: 1", "a pair of points"),
              (f"{TWO}, members: [[a, b], [b]], elements: 1", "members[1] must be a list of 2 names"),
              ("points: { a: [0, 0, 0], b: [1, 0] }, members: [[a, b]], elements: 1", "points.b must be a list of 3"),
              ("points: { a: [0, 0, 0], b.c: [1, 0, 0] }, members: [[a, b.c]], elements: 1", "a name must start"),
              ("points: [[0, 0, 0]], members: [[a, b]], elements: 1", "points must be a map"),
              ("points: {}, members: [[a, b]], elements: 1", "points is empty"),
              (f"{TWO}, members: [], elements: 1", "members must be a list of names"),
              (f"{TWO}, members: [[a, [b]]], elements: 1", "must be a text")),
    "lattice": (("cells: [1.5, 2], size: [1, 1]", "must be whole"), ("cells: [0, 0, 0], size: [1]", "no boxes"),
                ("cells: [1, 1, 1, 1], size: [1]", "must be [nx], [nx, ny] or [nx, ny, nz]"),
                ("cells: [[1, 1], [1, 1]], size: [1]", "must be [nx], [nx, ny] or [nx, ny, nz]"),
                ("cells: [-1, 2], size: [1, 1]", "cells[0] must be in [0, 16777216], is -1"),
                ("cells: [1, 2], size: [1, 1, 1]", "as many as 'cells'"),
                ("cells: [1, 2], size: [1, 0]", "size[1] must be > 0, is 0"),
                ("cells: [1, 2], size: [1e300, 1]", "too large"),
                ("cells: [10000, 10000, 10000], size: [1]", "more than the program can number"),
                ("cells: [16777216, 16777216, 16777216], size: [1], elements: 1048576, diagonals: cross",
                 "more than the program can number"),
                ("cells: [2, 2], size: [1], diagonals: both", "must be one of none, one, cross")),
    "point": (("at: [1, 2]", "3 numbers"), ("at: [[1, 2], [3, 4]]", "3 numbers"), ("", "missing key 'at' or 'nodes'"),
              ("at: [1, 2, 3], nodes: a", "both given"),
              ("nodes: rab", "no part of the mesh above makes a set of nodes 'rab'")),
    "link": (("a: a, b: d", "no part of the mesh above makes a set of nodes 'd'"),
             ("a: a, b: two", "'a' has 3 nodes and 'two' has 2, must be as many or one"),
             ("a: a, b: a.end", "have node 2 in common")),
}

HEAD = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
# What stands in corner.msh, what in its place, and what is told then.
DAMAGES = (
    ("$MeshFormat\n", "Mesh\n", ":1: this is no mesh file of Gmsh"),
    ("4.1 0 8", "2.2 0 8", ":2: format 2.2 cannot be read, only 4.1"),
    ("4.1 0 8", "4.1 1 8", ":2: format 4.1 binary cannot be read"),
    ("4.1 0 8", "4,1 0 8", ":2: the version must be a number, is '4,1'"),
    ("4.1 0 8", "4.1 0", ":2: the line ends before the data size"),
    ("$EndMeshFormat", "$EndMesh", ":3: $EndMeshFormat must follow here"),
    ('0 2 "foot"', "0 2 foot", ":6: a group needs its name in quotes"),
    ('0 2 "foot"', '0 2 ""', ":6: the name of a group is empty"),
    ('0 2 "foot"', '1 3 "foot"', ":7: group 3 has a name already"),
    ('0 2 "foot"', '1 2 "deck"', ":7: groups 2 and 3 have the same name 'deck'"),
    ('0 2 "foot"', '4 2 "foot"', ":6: the dimension of a group must be from 0 to 3, is 4"),
    ("\n4\n", "\n3\n", ":9: $EndPhysicalNames must follow here, after the names that the section announces; is '2'"),
    ("3 2 1 0\n", "3 2 2 0\n", "entity 2 of 2 surfaces: corner.msh:19: the tag of an entity"),
    ("4 5 7 10", "4 6 7 10", ":36: the blocks hold 5 nodes, but 6 are announced"),
    ("0 2 0 2\n", "0 2 0 1\n", ":27: the line ends before y of a node"),
    ("0 2 0 2\n", "0 2 2 2\n", ":25: 'parametric' of a block must be from 0 to 1, is 2"),
    ("0 2 0 2\n", "7 2 0 2\n", ":25: the dimension of a block must be from 0 to 3, is 7"),
    ("0.5 0 0 0.5\n", "0.5 0 0\n", ":32: the line ends before a parameter of a node"),
    ("\n7\n1000000007\n", "\n100\n1000000007\n", ":26: node 100 is given twice"),
    ("5 6 1 6\n", "5 7 1 6\n", ":50: the blocks hold 6 elements, but 7 are announced"),
    ("1 1 1 2\n4 100", "1 1 1 3\n4 100", ":48: element 1 has node 2, which $Nodes does not give"),
    ("1 1 1 2\n4 100", "1 1 8 2\n4 100", ":45: elements of type 8 (line of 3 nodes) cannot be read"),
    ("1 1 1 2\n4 100", "2 1 1 2\n4 100", ":45: elements of type 1 must have dimension 1, have 2"),
    ("4 100 8", "4 100 9", ":46: element 4 has node 9, which $Nodes does not give"),
    ("4 100 8", "4 100 100", ":46: element 4 has no length"),
    ("4 5 7 10", "-4 5 7 10", ":21: the number of blocks must be from 0 to"),
    ("4 5 7 10", "99999 5 7 10", ":21: the number of blocks is 99999, but the rest of the file has room for"),
    ("\n7\n1000000007\n", "\n0\n1000000007\n", ":26: the tag of a node must be from 1 to"),
    ("\n1 0 0\n1 -1.5e0", "\nnan 0 0\n1 -1.5e0", ":28: x of a node must be a number, is 'nan'"),
    ("\n1 0 0\n1 -1.5e0", "\n1e999 0 0\n1 -1.5e0", ":28: x of a node must be finite, is 1e999"),
    ("\n1 0 0\n1 -1.5e0", "\n\x01 0 0\n1 -1.5e0", ":28: x of a node must be a number, is '?'"),
    ("0.5 0 0 0.5\n", "0 0 0 0.5\n", ":46: element 4 has no length: its nodes 100 and 8 are both at [0, 0, 0]"),
    ("1 1 1 2\n4 100", "1 1 2 2\n4 100", ":45: elements of type 2 (triangle) cannot be read"),
    ("1 1 1 2\n4 100", "1 1 93 2\n4 100", ":45: elements of type 93 cannot be read"),
    ("$Elements", "$Element", ":50: the file ends within $Element, which begins in line 37"),
    ("$EndElements\n", "$EndElements\n$Nodes\n0\n$EndNodes\n", ":51: the file has the section twice"),
    ("$EndElements\n", "$EndElements\n$Data\n1\n", ":52: the file ends within $Data, which begins in line 51"),
    ("$EndElements\n", "$EndElements\n$EndNodes\n", ":51: $EndNodes ends what has not begun"),
    ("$EndElements\n", "$EndElements\n$PartitionedEntities\n", ":51: a partitioned mesh cannot be read"),
)


class Parts(unittest.TestCase):
    def near(self, actual, expected, tolerance=0.0):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)

    # What every part owes: cells and sets of what there is, named after it, and the same mesh every time.
    def test_sound(self):
        sims = [percuss.load(ALL) for _ in range(2)]
        for name in ("nodes", "cells"):
            np.testing.assert_array_equal(*(getattr(sim, name) for sim in sims))
        x, cells = np.array(sims[0].nodes), np.array(sims[0].cells)
        text = read_file(ALL)
        for options in percuss.options():
            if options.section == "mesh" and options.part and options.key:
                self.assertIn(f"type: {options.part},", text)
        self.assertTrue(((cells >= 0) & (cells < len(x))).all())
        for sets, count in ((sims[0].node_sets, len(x)), (sims[0].cell_sets, len(cells))):
            for items in sets.values():
                self.assertEqual(len(set(items)), len(items))
                self.assertTrue(all(0 <= item < count for item in items))
        one_node = cells[:, 0] == cells[:, 1]
        self.assertTrue((one_node | (x[cells[:, 0]] != x[cells[:, 1]]).any(axis=1)).all())
        self.assertEqual(len({node for name, items in sims[0].node_sets.items() if "." not in name for node in items}),
                         len(x))

    def test_refusals(self):
        for kind, cases in REFUSED.items():
            for options, told in cases:
                with self.subTest(options), self.assertRaises(percuss.InputError) as caught:
                    Mesh(a=line([0, 9, 0], [1, 9, 0], 2), two="{ type: point, at: [[4, 5, 6], [7, 8, 9]] }",
                         part=f"{{ type: {kind}{', ' if options else ''}{options} }}")
                self.assertIn(told, str(caught.exception))

    def test_lines(self):
        m = Mesh(bar=line([1, 2, 3], [3, 5, 9], 4), long=line([0.1, -0.3, 0.7], [-10.1, 0.9, 1e3], 1000))
        self.near(m.x[:5], [[1 + 0.5 * i, 2 + 0.75 * i, 3 + 1.5 * i] for i in range(5)], 1e-15)
        self.assertEqual(m.cells[:4].tolist(), [[i, i + 1] for i in range(4)])
        self.assertEqual((m.nodes["bar"], m.groups["bar"]), ([0, 1, 2, 3, 4], [0, 1, 2, 3]))
        self.assertEqual((m.nodes["bar.start"], m.nodes["bar.end"]), ([0], [4]))
        self.assertEqual((m.groups["bar.start"], m.groups["bar.end"]), ([0], [3]))
        # Node i is i/n of the way: nothing adds up, and the ends are exact.
        ends = np.array([[0.1, -0.3, 0.7], [-10.1, 0.9, 1e3]])
        self.near(m.x[[5, 1005]], ends)
        self.near(m.x[5:], ends[0] + np.outer(np.arange(1001) / 1000, ends[1] - ends[0]), 1e-12)

    def test_arcs(self):
        m = Mesh(bow="{ type: arc, centre: [1, 2, 3], start: [3, 2, 3], angle: 90, elements: 3 }")
        root = math.sqrt(3.0)
        self.near(m.x, [[3, 2, 3], [1 + root, 3, 3], [2, 2 + root, 3], [1, 4, 3]], 1e-15)
        self.assertEqual(m.x[3].tolist(), [1.0, 4.0, 3.0])  # quarter turns are exact
        self.assertEqual([m.nodes["bow" + s] for s in (".start", ".rest", ".end")], [[0], [1, 2, 3], [3]])
        # Backwards about a tilted axis of any length; a third of a turn about the diagonal exchanges the axes.
        m = Mesh(bow="{ type: arc, centre: [0, 0, 1], start: [2, -2, 1], normal: [3, 3, 3], angle: -120, elements: 8 }")
        self.near(m.x[8], [-2, 0, 3], 2e-15)
        self.near(np.linalg.norm(m.x - [0, 0, 1], axis=1), math.sqrt(8.0), 4e-15)
        self.near(m.x.sum(axis=1), 1.0, 4e-15)
        m = Mesh(ring="{ type: arc, centre: [0, 0, 0], start: [1, 0, 0], angle: 360, elements: 12 }")
        self.assertEqual((len(m.x), m.cells[11].tolist(), m.nodes["ring.end"]), (12, [11, 0], [0]))
        self.near(m.lengths(), 2.0 * math.sin(math.pi / 12), 1e-15)

    # Members that end to end make a chain are numbered along it, whichever way each of them runs; branches stay near.
    def test_frames(self):
        m = Mesh(f=PORTAL)
        self.assertEqual((len(m.x), len(m.cells), m.bandwidth()), (13, 12, 1))
        self.assertEqual([m.nodes["f." + p] for p in "abcd"], [[0], [4], [8], [12]])
        self.assertEqual((m.nodes["f.m1"], m.nodes["f.m2"]), ([0, 1, 2, 3, 4], [8, 7, 6, 5, 4]))
        self.assertEqual((m.groups["f.m2"], m.cells[4].tolist()), ([4, 5, 6, 7], [8, 7]))
        self.near(m.x[[7, 8]], [[3, 2, 0], [4, 2, 0]])
        m = Mesh(f=PORTAL, g=STALK)
        self.assertEqual((len(m.x), len(m.cells), m.bandwidth()), (13 + 4 + 4 * 9, 12 + 40, 2))
        self.assertEqual(m.nodes["g.foot"], [13])  # its only end comes first
        self.assertEqual(m.nodes["g.m3"][10], m.nodes["g.p"][0])
        # A ladder whose first point is in the middle: numbered from one of its ends all the same.
        rungs = [(i + 20) % 40 for i in range(40)]
        points = ", ".join(f"p{i}{s}: [{i}, {s}, 0]" for i in rungs for s in (0, 1))
        members = [f"[p{i}0, p{i}1]" for i in rungs] + [f"[p{i}{s}, p{i + 1}{s}]" for i in range(39) for s in (0, 1)]
        m = Mesh(f=f"{{ type: frame, points: {{ {points} }}, members: [{', '.join(members)}], elements: 1 }}")
        self.assertLessEqual(m.bandwidth(), 3)

    def test_plane_lattice(self):
        m = Mesh(net=lattice([3, 2], [0.5, 0.25], ", origin: [1, 2, 3]"))
        self.near(m.x, [[1 + 0.5 * (i // 3), 2 + 0.25 * (i % 3), 3] for i in range(12)])
        self.assertEqual((len(m.cells), m.bandwidth()), (3 * 3 + 4 * 2, 3))
        self.assertEqual((len(m.groups["net.x"]), len(m.groups["net.y"])), (9, 8))
        sides = {"xmin": [0, 1, 2], "xmax": [9, 10, 11], "ymin": [0, 3, 6, 9], "ymax": [2, 5, 8, 11],
                 "corners": [0, 2, 9, 11], "joints": list(range(12))}
        self.assertEqual({name: m.nodes["net." + name] for name in sides}, sides)
        self.assertFalse({"net.z", "net.diagonals"} & m.groups.keys() or "net.zmin" in m.nodes)
        m = Mesh(net=lattice([1, 0, 1], [2], ", diagonals: one"))
        self.assertEqual((len(m.x), len(m.cells), len(m.groups["net.diagonals"])), (4, 5, 1))
        self.near(m.x[m.cells[m.groups["net.diagonals"][0]]], [[0, 0, 0], [2, 0, 2]])
        self.assertFalse("net.ymin" in m.nodes or "net.y" in m.groups)

    # Each cell is as long as its kind says, and every joint has the neighbours that it should have.
    def test_spatial_lattice(self):
        size = np.array([0.3, 0.7, 0.1])
        m = Mesh(other=line([-9, 0, 0], [-8, 0, 0], 5),
                 net=lattice([2, 3, 4], size.tolist(), ", elements: 3, diagonals: cross, origin: [0.1, 0.2, 0.3]"))
        struts = {"x": 2 * 4 * 5, "y": 3 * 3 * 5, "z": 3 * 4 * 4,
                  "diagonals": 2 * (2 * 3 * 5 + 2 * 4 * 4 + 3 * 3 * 4)}
        total = sum(struts.values())
        self.assertEqual((len(m.cells), len(m.x)), (5 + 3 * total, 6 + 3 * 4 * 5 + 2 * total))
        for kind, count in struts.items():
            cells = m.cells[m.groups["net." + kind]]
            self.assertEqual(len(cells), 3 * count)
            way = abs(m.x[cells[:, 1]] - m.x[cells[:, 0]])
            self.near(way[way > 1e-9], (np.tile(size / 3, (len(way), 1)))[way > 1e-9], 1e-14)
            along = (way > 1e-9) @ [1, 2, 4]
            self.assertEqual(set(along.tolist()), {3, 5, 6} if kind == "diagonals" else {1 << "xyz".index(kind)})
        self.assertEqual(m.sizes("net.joints", "net.corners", "net.xmin", "net.zmax"),
                         [60, 8, 4 * 5 + 2 * (3 * 5 + 4 * 4 + 2 * 3 * 4), 3 * 4 + 2 * (2 * 4 + 3 * 3 + 2 * 2 * 3)])
        degree = np.bincount(m.cells.ravel(), minlength=len(m.x))
        self.assertEqual(set(degree[m.nodes["net.corners"]]), {6})
        place = (m.x[m.nodes["net.joints"]] - [0.1, 0.2, 0.3]) / size
        inner = ((place > 0.5) & (place < np.array([1.5, 2.5, 3.5]))).all(axis=1)
        self.assertEqual(set(degree[m.nodes["net.joints"]][inner]), {18})
        self.near(m.x[m.nodes["net.xmax"], 0], 0.1 + 2 * 0.3)

    def test_points_and_links(self):
        m = Mesh(a=line([0, 0, 0], [1, 0, 0], 2), b=line([0, 1, 0], [1, 1, 0], 2), c="{ type: point, at: [0, 0, 1] }",
                 two="{ type: point, at: [[4, 5, 6], [7, 8, 9]] }", tip="{ type: point, nodes: a.end }",
                 springs="{ type: link, a: a, b: b }", star="{ type: link, a: a, b: c }",
                 shifted="{ type: link, a: b.start, b: c }")
        self.assertEqual([m.nodes[name] for name in ("c", "two", "tip")], [[6], [7, 8], [2]])
        self.assertEqual([m.cells[m.groups[name]].tolist() for name in ("c", "two", "tip")],
                         [[[6, 6]], [[7, 7], [8, 8]], [[2, 2]]])
        self.near(m.x[8], [7, 8, 9])
        self.assertEqual(m.cells[m.groups["springs"]].tolist(), [[i, 3 + i] for i in range(3)])
        self.assertEqual(m.cells[m.groups["star"]].tolist(), [[i, 6] for i in range(3)])
        self.assertEqual([m.nodes[name] for name in ("springs", "star")], [[0, 1, 2, 3, 4, 5], [0, 1, 2, 6]])


class Sets(unittest.TestCase):
    def chosen(self, how, nodes="net"):
        m = Mesh(f"sets: {{ s: {{ nodes: {nodes}, {how} }} }}\n", net=lattice([4, 4], [1]))
        return m.nodes["s"]

    # A net of 4 x 4 boxes; node i lies at (i % 5, i / 5) or the other way round. Several places: in the order of nodes.
    def test_by_place(self):
        self.assertEqual(self.chosen("at: [2, 3, 1.0e-7]"), [17])
        self.assertEqual(self.chosen("at: [[4, 4, 0], [0, 1, 0]]"), [5, 24])
        self.assertEqual(self.chosen("box: [[3, 1, 1], [1, 0, -1]]"), [1, 2, 3, 6, 7, 8])
        self.assertEqual(self.chosen("plane: [[0, 4, 0], [2, 2, 0]]"), [4, 8, 12, 16, 20])
        self.assertEqual(self.chosen("plane: [[0, 4, 0], [2, 2, 0]], box: [[3, 1, 1], [1, 0, -1]]"), [8])
        for how, told in (("at: [[0, 0, 0], [2, 0, 0.5]], tolerance: 1.0e-3",
                           "no node lies at [2, 0, 0.5]: the nearest, node 2 at [2, 0, 0], is 0.5 m away, the "
                           "tolerance is 0.001 m"),
                          ("box: [[5, 0, 0], [7, 9, 0]]", "node 4 at [4, 0, 0], is 1 m away"),
                          ("box: [[0, 0, 0]]", "a box must be two"), ("at: [0, 0]", "at "),
                          ("plane: [[0, 0, 0]]", "a plane must be"),
                          ("plane: [[0, 0, 0], [0, 0, 0]]", "normal"), ("box: [[0, 0], [1, 1]]", "a box must be two")):
            with self.subTest(how), self.assertRaises(percuss.InputError) as caught:
                self.chosen(how)
            self.assertIn(told, str(caught.exception))

    # Lines that run towards each other become one chain, numbered from end to end; the first node stays where it was.
    def test_joined_lines(self):
        m = Mesh("merge: { j: { sets: [b.end, a.end], tolerance: 1.0e-7 } }\n", a=line([0, 0, 0], [1, 0, 0], 4),
                 b=line([3, 0, 0], [1, 0, 1e-8], 4))
        self.assertEqual((len(m.x), m.bandwidth(), m.nodes["a.end"], m.nodes["b.end"]), (9, 1, [4], [4]))
        self.assertEqual((m.nodes["b"], m.x[4, 2], m.x[8, 0]), ([8, 7, 6, 5, 4], 0.0, 3.0))
        # Coincident nodes that nobody joins stay apart.
        m = Mesh("merge: { j: { sets: [a.end, c.start] } }\n", a=line([0, 0, 0], [1, 0, 0], 1),
                 b=line([1, 0, 0], [2, 0, 0], 1), c=line([1, 0, 0], [1, 1, 0], 1))
        self.assertEqual((len(m.x), m.nodes["c.start"]), (5, m.nodes["a.end"]))
        self.assertNotEqual(m.nodes["b.start"], m.nodes["a.end"])
        with self.assertRaises(percuss.InputError) as caught:
            Mesh("sets: { m: { nodes: a, at: [0.4, 0, 0] }, n: { nodes: a, at: [0.5, 0, 0] } }\n"
                 "merge: { j: { sets: [m, n], tolerance: 0.11 } }\n", a=line([0, 0, 0], [1, 0, 0], 10))
        self.assertIn("cell 4 would lose its length: its nodes 4 at [0.4, 0, 0] and 5 at [0.5, 0, 0]",
                      str(caught.exception))

    def test_joined_nets(self):
        m = Mesh("merge: { j: { sets: [a, b] } }\n", a=lattice([10, 9], [0.1], ", origin: [-1, 0.3, 0]"),
                 b=lattice([10, 9], [0.1], ", origin: [0, 0.3, 0]"))
        self.assertEqual((len(m.x), m.nodes["a.xmax"]), (2 * 110 - 10, m.nodes["b.xmin"]))
        self.assertLessEqual(m.bandwidth(), 11)
        self.assertEqual(m.sizes("a", "b"), [110, 110])

    # Nodes within reach on either side of a border of the boxes that they are sorted into.
    def test_all_neighbours_are_found(self):
        places, others, far = [], [], 0
        for i, axis, gap in itertools.product(range(100), range(3), (0.999, 1.001)):
            x = [0.1 * axis, 0.1 * (gap > 1), 0.0]
            x[2] = -1.0 + 0.0301 * i
            y = list(x)
            y[axis] += 0.01 * gap * (1 if i % 2 else -1)
            places.append(x)
            others.append(y)
            far += gap > 1
        m = Mesh("merge: { j: { sets: [p, q], tolerance: 0.01 } }\n", p=f"{{ type: point, at: {places} }}",
                 q=f"{{ type: point, at: {others} }}")
        self.assertEqual(len(m.x), len(places) + far)


class Gmsh(unittest.TestCase):
    """corner.msh: an L of 2 + 1 cells, nodes numbered at will, one that nobody uses, a mass at the far end, points
    without a group, parameters at the inner node."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = os.path.join(temporary.name, "corner.msh")
        self.good = read_file("tests/regression/gmsh/corner.msh")

    def read(self, text, more="", make=Mesh, **parts):
        if os.path.exists(self.path):
            os.remove(self.path)  # a new file is not waited for, an overwritten one is
        write_file(self.path, text)
        return make(**parts, p=f"{{ type: gmsh, file: {self.path}{more} }}")

    def refused(self, text, more=""):
        with self.assertRaises(percuss.InputError) as caught:
            self.read(text, more)
        self.assertIn(self.path, str(caught.exception))
        return str(caught.exception)

    # The nodes stand along the L from its first end: 100, 8, 7, 1000000007; node 55 is gone.
    def check_corner(self, m):
        np.testing.assert_array_equal(m.x, [[0, 0, 0], [0.5, 0, 0], [1, 0, 0], [1, -1.5, 0]])
        self.assertEqual(m.cells.tolist(), [[0, 1], [1, 2], [2, 3]])
        self.assertEqual({name: items for name, items in m.nodes.items() if items},
                         {"p": [0, 1, 2, 3], "p.deck": [0, 1, 2], "p.all of it": [0, 1, 2, 3], "p.foot": [0],
                          "p.4": [3], "p.6": [2, 3]})
        self.assertEqual({name: items for name, items in m.groups.items() if items},
                         {"p": [0, 1, 2], "p.deck": [0, 1], "p.all of it": [0, 1, 2], "p.6": [2]})

    # Line ends of other systems, blank lines, sections of other programs; nothing after the last word.
    def test_a_file_is_read(self):
        self.check_corner(self.read(self.good))
        other = self.good.replace("$Nodes", "\n \n$Comments\nNodes follow: $Nodes\n$EndComments\n$Nodes", 1)
        self.check_corner(self.read(other.replace("\n", "\r\n").rstrip()))
        m = self.read(self.good, ", scale: 0.001", first="{ type: point, at: [9, 0, 0] }")
        self.assertEqual((m.x[4, 1], m.nodes["p.foot"], m.groups["p.deck"]), (-1.5e-3, [1], [1, 2]))
        self.assertIn("too far away", self.refused(self.good, ", scale: 1.7e308"))

    # Groups of points with the names of groups of lines; two curves between the same points are two bars.
    def test_groups(self):
        nodes = "$Nodes\n1 2 1 2\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n"
        m = self.read(HEAD + "$Entities\n2 1 0 0\n1 0 0 0 1 1\n2 1 0 0 1 2\n1 0 0 0 1 0 0 1 1 0\n$EndEntities\n" + nodes
                      + "$Elements\n3 3 1 3\n1 1 1 1\n1 1 2\n0 1 15 1\n2 1\n0 2 15 1\n3 2\n$EndElements\n")
        self.assertEqual([m.nodes["p." + name] for name in ("1", "1.points", "2")], [[0, 1], [0], [1]])
        m = self.read(HEAD + "$Entities\n0 2 0 0\n1 0 0 0 1 0 0 2 1 3 0\n2 0 0 0 1 0 0 1 3 0\n$EndEntities\n" + nodes
                      + "$Elements\n2 2 1 2\n1 1 1 1\n1 1 2\n1 2 1 1\n2 1 2\n$EndElements\n")
        self.assertEqual((len(m.cells), m.groups["p.1"], m.groups["p.3"]), (2, [0], [0, 1]))

    # Each file is the good one with one change; the message names the line and what is wrong.
    def test_faults_are_told_with_their_line(self):
        for old, new, told in DAMAGES:
            self.assertIn(old, self.good)
            with self.subTest(old=old, new=new):
                self.assertIn(told, self.refused(self.good.replace(old, new, 1)).replace(
                    self.path, "corner.msh") if "corner.msh" in told else self.refused(self.good.replace(old, new, 1)))
        none = "$Nodes\n0 0 0 0\n$EndNodes\n"
        one = "$Elements\n1 1 1 1\n0 1 15 1\n1 1\n$EndElements\n"
        for text, told in (("", ":0: the file is empty"), ("\n \n", "the file is empty"),
                           (HEAD, "the file ends without $Nodes"), (HEAD + none, "the file ends without $Elements"),
                           (HEAD + none + "$Elements\n0 0 0 0\n$EndElements\n", "has no line"),
                           (HEAD + one, ":7: element 1 has node 1, which $Nodes does not give"),
                           (HEAD + "$Nodes\n1 1 1 1\n0 1 0 1\n1\n0 0 0\n$EndNodes\n" + one,
                            "has no line, and no point that belongs to a group")):
            self.assertIn(told, self.refused(text))
        with self.assertRaisesRegex(percuss.InputError, "cannot open the mesh file '/': Is a directory"):
            Mesh(p="{ type: gmsh, file: / }")

    # Whatever is in a file: a mesh, or an error that names the file.
    def test_damaged_files(self):
        whole, signs, fine = len(self.good) - 1, b"0123456789-.eE \n\"$xN\xff\0", 0  # the last line may lack its end
        for size in range(0, whole, 3):
            self.refused(self.good[:size])
        self.check_corner(self.read(self.good[:whole]))
        good = self.good.encode()
        for i in range(len(good)):
            for sign in (signs[(7 * i + k) % len(signs):][:1] for k in range(0, 18, 3)):
                try:
                    sim = self.read(good[:i] + sign + good[i + 1:], make=load)
                    self.assertTrue((sim.cells < len(sim.nodes)).all() and len(sim.cells) > 0)
                    fine += 1
                except percuss.InputError as error:
                    self.assertRegex(str(error), "corner.msh:|case:")
        self.assertGreater(fine, 500)

unittest.main()
