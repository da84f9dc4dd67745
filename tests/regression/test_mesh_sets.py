"""Sets that a case chooses, parts that it merges, and what is refused; meshes themselves are in python/test_meshes.py.
Argument: the program."""

import unittest

import program

BEAM = "E: 2.0e+11, nu: 0.3, rho: 7800.0, section: { type: rectangle, height: 0.02, width: 0.01 }"


def case(mesh, elements, held, tip, more=""):
    """A cantilever of plane beams that a force bends for some steps."""
    return f"""mesh:
{mesh}
{more}
elements:
{elements}
supports:
  hold: {{ set: {held}, fix: [x, y, rz] }}
loads:
  push: {{ type: force, node: {tip}, value: [3.0, 20.0, 0.0] }}
scheme: {{ type: newmark }}
time: {{ step: 1.0e-4, end: 5.0e-3 }}
output:
  frames: false
  probes:
    tip: {{ node: {tip}, of: [x, y, vx, vy] }}
"""


def beams(*sets):
    return "\n".join(f"  g{i}: {{ type: beam_timo_2d, mesh: {name}, {BEAM} }}" for i, name in enumerate(sets))


class Meshes(program.Cases):
    def history(self, text, name="case"):
        """The probes of every step."""
        return [[row[f"tip.{of}"] for of in ("x", "y", "vx", "vy")] for row in super().history(text, name)]

    def refused(self, text, *parts):
        result = self.try_case(text, "bad")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertFalse((self.folder / "bad").exists())


class Parts(Meshes):
    def test_sets_of_sets(self):
        mesh = "  net: { type: lattice, cells: [3, 2], size: [0.2], diagonals: one, elements: 2 }"
        sets = """sets:
  left: { nodes: net.joints, within: net.xmin }
  right: { nodes: net.joints, plane: [[0.6, 0, 0], [-5, 0, 0]] }
  tip: { nodes: [net.corners, right], without: left, at: [0.6, 0.4, 0] }
  stiff: { cells: net, box: [[0, 0, 0], [0.2, 0.4, 0]] }
  soft: { cells: net, without: stiff }"""
        groups = beams("stiff", "soft")
        history = self.history(case(mesh, groups, "left", "tip", sets))
        for k, place in enumerate((0.6, 0.4)):
            self.assertAlmostEqual(history[0][k], place, delta=1e-15)
        self.assertGreater(history[-1][1], 0.4)

        def bad(old, new, *parts):
            self.assertIn(old, sets)
            self.refused(case(mesh, groups, "left", "tip", sets.replace(old, new, 1)), *parts)

        def counted(entry, count):
            more = f"{sets}\n  new: {entry}"
            self.refused(case(mesh, groups, "left", "tip", more).replace("node: tip, value", "node: new, value"),
                         f"loads.push.node must name a single node, the set 'new' has {count}")

        # Of the five nodes of the left edge the two at the corners go.
        counted("{ nodes: net, within: net.xmin, without: net.corners }", 3)
        counted("{ nodes: [net.xmin, net.ymin, net.corners] }", 5 + 7 - 1 + 1)
        # One column of boxes: six joints and the middle of four upright, three level and two oblique struts.
        counted("{ cells: net, box: [[0, 0, 0], [0.2, 0.4, 0]] }", 15)
        counted("{ cells: net, box: [[0.6, 0.4, 0], [0.4, 0, 0]] }", 15)
        counted("{ cells: [net.y, net.diagonals], plane: [[0.2, 0, 0], [1, 0, 0]] }", 5)

        bad("at: [0.6, 0.4, 0]", "at: [0.6, 0.41, 0]", "bad.yaml:6:8: sets.tip: no node lies at [0.6, 0.41, 0]: the "
            "nearest, node ", "at [0.6, 0.4, 0], is 0.01 m away")
        bad("within: net.xmin", "within: net.xmni", "sets.left.within must name a set of nodes, is 'net.xmni', did you "
            "mean 'net.xmin'?")
        bad("[net.corners, right]", "[net.corners, rihgt]", "sets.tip.nodes[1] must name a set of nodes, is 'rihgt', "
            "did you mean 'right'?")
        bad("plane: [[0.6", "plane: [[0.5", "sets.right: no node lies there: the nearest, node ", "is 0.1 m away")
        bad("plane: [[0.6, 0, 0], [-5, 0, 0]]", "plane: [[0.6, 0, 0]]",
            "sets.right: a plane must be a point and a normal")
        bad("nodes: net.joints, within", "within", "sets.left: missing key 'nodes' or 'cells'")
        bad("cells: net, without: stiff", "cells: net, without: net", "sets.soft: no cell is chosen")
        bad("cells: net, without: stiff", "cells: net, nodes: net", "sets.soft: 'nodes' and 'cells' are both given")
        bad("cells: net, without: stiff", "cells: net, at: [0, 0, 0]", "sets.soft: 'at' chooses nodes, not cells")
        bad("cells: net, without: stiff", "cells: [[net, net], [net, net]]", "without lists in it")
        bad("  soft:", "  net:", "sets.net: there is a part of the mesh of this name")
        bad("  stiff: { cells: net,", "  stiff: { cells: net.left,", "sets.stiff.cells must name a set of cells")

    def test_wrong_merges(self):
        mesh = ("  a: { type: line, from: [0, 0, 0], to: [0.5, 0.25, 0], elements: 3 }\n"
                "  b: { type: line, from: [1, 0.5, 0], to: [0.5, 0.25, 0], elements: 3 }")

        def bad(merge, *parts):
            self.refused(case(mesh, beams("a", "b"), "a.start", "b.start", f"merge: {{ joint: {merge} }}"), *parts)

        bad("{ sets: [a.end, b.start] }", "merge.joint: no node of 'a.end' lies where another of these sets has one: "
            "the nearest is 0.559017 m away")
        bad("{ sets: [a, b], tolerance: 0.2 }", "would lose its length: its nodes 0 at [0, 0, 0] and 1 at ")
        bad("{ sets: a }", "merge.joint: must name two sets or more")
        bad("{ sets: [a.end, b.edn] }",
            "merge.joint.sets[1] must name a set of nodes, is 'b.edn', did you mean 'b.end'?")
        bad("[a.end, b.end]", "merge.joint must be a map { key: value }, is a list")
        bad("{ sets: [a.end, b.end], tolerance: 0 }", "merge.joint.tolerance must be > 0, is 0")

    def test_cells_and_elements_must_fit(self):
        mesh = ("  bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 }\n"
                "  p: { type: point, nodes: bar.end }")
        groups = beams("bar") + "\n  m: { type: point_mass, mesh: p, mass: 1.0 }"
        text = case(mesh, groups, "bar.start", "bar.end")
        self.history(text)
        self.refused(text.replace("mesh: p,", "mesh: bar.end,"), "elements.m: 'point_mass' takes points",
                     "cell 1 of the set 'bar.end' has two nodes")
        self.refused(text.replace("mesh: bar,", "mesh: p,"), "elements.g0: 'beam_timo_2d' takes cells of two nodes, "
                     "cell 2 of the set 'p' is a point")
        self.refused(case(mesh, beams("bar"), "bar.start", "bar.end"), "mesh.p has 1 of 1 cells without elements")
        far = "  bar: { type: line, from: [1.0e+17, 0, 0], to: [1.0000000000000001e+17, 0, 0], elements: 4 }"
        self.refused(case(far, beams("bar"), "bar.start", "bar.end"),
                     "mesh.bar: cell 0 has no length: its nodes 0 and 1 are both at [1e+17, 0, 0]")


if __name__ == "__main__":
    unittest.main()
