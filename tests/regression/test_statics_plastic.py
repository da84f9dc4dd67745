"""Plastic rods on paths of equilibria: a rod pulled, released and pushed against the bilinear law by hand; rods that
age are refused with their place. Argument: the path of percuss."""
import unittest

import program

E, YIELD, TANGENT, AREA = 2.0e11, 2.0e8, 2.0e10, 1.0e-4

CASE = """
mesh: {{ bar: {{ type: line, from: [0, 0, 0], to: [1, 0, 0], elements: {cells} }} }}
elements:
  bar: {{ type: rod_plastic, mesh: bar, E: 2.0e11, rho: 7800, area: 1.0e-4, yield_stress: 2.0e8,
         tangent_modulus: 2.0e10, kinematic: {kinematic} }}
supports: {{ a: {{ set: bar.start, fix: [x] }} }}
loads: {{ pull: {{ type: force, node: bar.end, value: [3.0e4, 0, 0], amplitude: {{ table: {table} }} }} }}
statics: {statics}
output: {{ probes: {{ tip: {{ node: bar.end, of: [ux] }} }} }}
"""


def strain(loads, kinematic):
    """At the end of a way of loads: p, and the range of stress that is elastic, follow the law."""
    hard = E * TANGENT / (E - TANGENT)
    plastic = path = 0.0
    for load in loads:
        stress = load / AREA
        over = abs(stress - kinematic * hard * plastic) - YIELD - (1.0 - kinematic) * hard * path
        if over > 0.0:
            sign = 1.0 if stress > kinematic * hard * plastic else -1.0
            plastic += sign * over / hard
            path += over / hard
    return loads[-1] / AREA / E + plastic


class Plastic(program.Cases):
    def test_a_way_forth_and_back(self):
        table = "[[0, 0], [1, 1], [2, 0], [3, -1], [4, -1.3], [5, 0]]"
        ways = [3.0e4, 0.0, -3.0e4, -3.9e4, 0.0]
        for kinematic in (0.0, 0.5, 1.0):
            for steps, cells in ((5, 1), (20, 4)):
                how = f"{{ path: history, time: 5, steps: {steps} }}"
                text = CASE.format(cells=cells, kinematic=kinematic, table=table, statics=how)
                status, message, rows = self.statics(text)
                self.assertEqual(status, 0, message)
                for k in range(5):
                    row = [r for r in rows if abs(r["t"] - (k + 1)) < 1e-9][0]
                    self.assertAlmostEqual(row["tip.ux"], strain(ways[:k + 1], kinematic), delta=1e-12)
                last = rows[-1]
                self.assertGreater(last["material_loss"], 100.0)
                if steps == 20:
                    spent = last["material_loss"] + last["strain"]
                    self.assertAlmostEqual(last["load_work"] / spent, 1.0, delta=0.05)

    def test_paths_by_load_and_arc(self):
        for statics in ("{ steps: 1 }", "{ steps: 7 }", "{ path: arc, arc_length: 0.001 }"):
            status, message, rows = self.statics(CASE.format(cells=3, kinematic=0.0, table="[[0, 1]]", statics=statics))
            self.assertEqual(status, 0, message)
            self.assertAlmostEqual(rows[-1]["tip.ux"], 0.006, delta=1e-13)
            self.assertAlmostEqual(rows[-1]["material_loss"], 112.5, delta=1e-9)

    def test_what_ages_is_refused_with_its_place(self):
        text = CASE.format(cells=1, kinematic=0.0, table="[[0, 1]]", statics="{}")
        text = text.replace("rod_plastic", "rod_viscoelastic").replace("yield_stress: 2.0e8", "relaxed_modulus: 1.0e11")
        text = text.replace("tangent_modulus: 2.0e10, kinematic: 0.0", "relaxation_time: 1")
        status, message, _ = self.statics(text)
        self.assertEqual(status, 2)
        self.assertIn("case.yaml:4:", message)
        self.assertIn("elements.bar", message)
        self.assertIn("materials that age", message)
        self.assertEqual(message.count("error:"), 1)


if __name__ == "__main__":
    unittest.main()
