"""Friction on paths of equilibria, against statics by hand: a block on an incline, a rod on a floor that is pulled and
released, a belt on a drum, a ladder, a block between springs that slides in a plane. Argument: the path of percuss."""
import math
import unittest

import program


def block(angle, mu, space, size=1.0):
    return f"""
mesh: {{ block: {{ type: point, at: [[0, 0, 0]] }} }}
elements: {{ block: {{ type: point_mass, mesh: block, mass: {size**3}, in: {space} }} }}
loads: {{ weight: {{ type: gravity, g: [0, -10, 0] }} }}
contacts:
  slope: {{ type: node_plane, nodes: block, point: [0, 0, 0], normal: [{-math.sin(angle)!r}, {math.cos(angle)!r}, 0],
           restitution: 0, friction: {mu!r} }}
"""


def rod(cells, size, element, statics, pull="{ table: [[0, 1]] }"):
    return f"""
mesh: {{ bar: {{ type: line, from: [0, 0, 0], to: [{size!r}, 0, 0], elements: {cells} }} }}
elements: {{ bar: {{ type: {element}, mesh: bar, E: 1.0e6, rho: 1.0, area: {1e-2 * size**2!r} }} }}
loads:
  weight: {{ type: line, cells: bar, value: [0, {-10.0 * size!r}, 0] }}
  pull: {{ type: force, node: bar.end, value: [{size**2!r}, 0, 0], amplitude: {pull} }}
contacts:
  floor: {{ type: node_plane, nodes: bar, normal: [0, 1, 0], point: [0, 0, 0], restitution: 0, friction: 0.3,
           points: all }}
statics: {statics}
output: {{ probes: {{ tip: {{ node: bar.end, of: [ux] }} }} }}
"""


def front(cells, force, friction):
    """Tip and number of nodes that slide, of a rod of EA = 1e4 and length 1 with a friction per length."""
    h, way, node = 1.0 / cells, 0.0, cells
    while node > 0 and force > friction * h * (0.5 if node == cells else 1.0):
        force -= friction * h * (0.5 if node == cells else 1.0)
        way += force * h / 1e4
        node -= 1
    return way, cells - node


def belt(cells, angle, mu, size, steps):
    start = [size * math.cos(angle), size * math.sin(angle)]
    pull = [-math.sin(angle) * size**2, math.cos(angle) * size**2]
    return f"""
mesh: {{ belt: {{ type: arc, centre: [0, 0, 0], start: [{start[0]!r}, {start[1]!r}, 0],
                 angle: {-math.degrees(angle)!r}, elements: {cells} }} }}
elements: {{ belt: {{ type: rod_large_2d, mesh: belt, E: 1.0e7, rho: 1.0, area: {size**2!r} }} }}
loads: {{ hold: {{ type: force, node: belt.start, value: [{pull[0]!r}, {pull[1]!r}, 0] }} }}
joints: {{ pull: {{ type: prescribed, node: belt.end, along: y, table: [[0, 0], [1, {-2e-5 * size!r}]] }} }}
contacts:
  drum: {{ type: node_circle, nodes: belt, centre: [0, 0, 0], radius: {size!r}, side: outside, restitution: 0,
          friction: {mu!r}, points: all }}
statics: {{ path: history, steps: {steps}, time: 1 }}
"""


def ladder(angle, mu, element):
    return f"""
mesh: {{ beam: {{ type: line, from: [0, 0, 0], to: [{-math.cos(angle)!r}, {math.sin(angle)!r}, 0], elements: 4 }} }}
elements:
  beam: {{ type: {element}, mesh: beam, E: 1.0e11, nu: 0.3, rho: 1000.0,
          section: {{ type: rectangle, width: 0.1, height: 0.1 }} }}
loads: {{ weight: {{ type: gravity, g: [0, -10, 0] }} }}
contacts:
  floor: {{ type: node_plane, nodes: beam.start, normal: [0, 1, 0], point: [0, 0, 0], restitution: 0,
           friction: {mu!r} }}
  wall: {{ type: node_plane, nodes: beam.end, normal: [1, 0, 0], point: [{-math.cos(angle)!r}, 0, 0], restitution: 0 }}
"""


def springs(force, stiffness, mu):
    return f"""
mesh: {{ block: {{ type: point, at: [[0, 0, 0]] }}, ties: {{ type: point, nodes: block }} }}
elements: {{ block: {{ type: point_mass, mesh: block, mass: 1 }}, ties: {{ type: mount, mesh: ties, stiffness:
  [{stiffness[0]}, {stiffness[1]}, 0] }} }}
loads: {{ f: {{ type: force, node: block, value: [{force[0]}, {force[1]}, -10] }} }}
contacts: {{ floor: {{ type: node_plane, nodes: block, point: [0, 0, 0], normal: [0, 0, 1], restitution: 0,
  friction: {mu} }} }}
statics: {{ steps: 1 }}
output: {{ probes: {{ at: {{ node: block, of: [ux, uy] }} }} }}
"""


class Friction(program.Cases):
    def balance(self, row, tolerance):
        works = [row[name] for name in ("load_work", "joint_work", "friction_work")]
        self.assertLessEqual(row["friction_work"], 0.0)
        self.assertLess(abs(sum(works) - row["strain"]), tolerance * max(map(abs, works)))

    def test_a_block_stands_up_to_the_angle_of_friction(self):
        for space in ("plane", "space"):
            for degrees in (5.0, 20.0, 40.0):
                angle = math.radians(degrees)
                for size in (1.0, 1e-3):
                    held = self.statics(block(angle, math.tan(angle) * (1.0 + 1e-9), space, size))
                    self.assertEqual(held[0], 0, held[1])
                    last = held[2][-1]
                    self.assertAlmostEqual(last["slope.force"] / (10.0 * size**3 * math.cos(angle)), 1.0, delta=1e-12)
                    self.assertAlmostEqual(abs(last["slope.friction"]) / (10.0 * size**3 * math.sin(angle)), 1.0,
                                           delta=1e-12)
                    self.assertEqual(last["slope.state"], 1.0)
                    self.assertLess(abs(last["slope.slip"]), 1e-12 * size)
                status, message, _ = self.statics(block(angle, math.tan(angle) * (1.0 - 1e-9), space))
                self.assertEqual(status, 2)
                self.assertIn("friction does not hold it", message)

    def test_the_front_of_a_rod_that_is_pulled(self):
        for element in ("rod_2d", "rod_large_2d"):
            for cells, steps, size in ((10, 1, 1.0), (10, 7, 1e3), (10, 7, 1e-6), (50, 1, 1e6), (50, 20, 1.0)):
                status, message, rows = self.statics(rod(cells, size, element, f"{{ steps: {steps} }}"))
                self.assertEqual(status, 0, message)
                way, count = front(cells, 1.0, 3.0)
                last = rows[-1]
                self.assertAlmostEqual(last["tip.ux"] / size / way, 1.0, delta=1e-11)
                self.assertAlmostEqual(way * 1e4 * 6.0, 1.0, delta=1.5 / cells**2)
                self.assertEqual(sum(last[f"floor[{i}].state"] == 2.0 for i in range(cells + 1)), count)
                self.assertAlmostEqual(last["floor.friction"] / size**2, -1.0, delta=1e-11)
                self.balance(last, 1e-10)

    def test_a_rod_that_is_released_keeps_half_of_it(self):
        # The front comes back against twice the friction. One step for each way is as good as many.
        for steps in (2, 16):
            how = f"{{ path: history, steps: {steps}, time: 2 }}"
            status, message, rows = self.statics(rod(40, 1.0, "rod_2d", how, "{ table: [[0, 0], [1, 1], [2, 0]] }"))
            self.assertEqual(status, 0, message)
            forth, back = front(40, 1.0, 3.0)[0], front(40, 1.0, 6.0)[0]
            self.assertAlmostEqual(rows[steps // 2]["tip.ux"] / forth, 1.0, delta=1e-11)
            self.assertAlmostEqual(rows[-1]["tip.ux"] / (forth - back), 1.0, delta=1e-11)
            self.assertAlmostEqual(back / forth, 0.5, delta=2e-3)
            self.assertAlmostEqual(rows[-1]["t"], 2.0)
            self.balance(rows[-1], 1e-11)

    def test_a_belt_on_a_drum(self):
        last = math.inf
        for cells, size, steps in ((5, 1.0, 1), (10, 1e-6, 4), (20, 1e6, 2), (40, 1.0, 3)):
            status, message, rows = self.statics(belt(cells, math.pi, 0.3, size, steps))
            self.assertEqual(status, 0, message)
            # Two tensions meet in a node at the angle of a cell.
            t = 0.3 * math.tan(0.5 * math.pi / cells)
            ratio = -rows[-1]["pull.fy"] / size**2
            self.assertAlmostEqual(ratio / ((1.0 + t) / (1.0 - t))**cells, 1.0, delta=1e-7)
            off = abs(ratio / math.exp(0.3 * math.pi) - 1.0)
            self.assertLess(off, 0.3 * last)
            last = off
            self.assertTrue(all(rows[-1][f"drum[{i}].state"] == 2.0 for i in range(cells + 1)))
            # Before, the belt has been let down the other way.
            self.assertAlmostEqual(-rows[0]["pull.fy"] / size**2 * ((1.0 + t) / (1.0 - t))**cells, 1.0, delta=1e-6)
            self.balance(rows[-1], 1e-4)

    def test_a_ladder_stands_where_its_foot_sticks(self):
        weight = 100.0
        for element, angles in (("beam_timo_2d", (50.0, 75.0)), ("beam_exact_2d", (60.0,))):
            for degrees in angles:
                angle = math.radians(degrees)
                need = 0.5 / math.tan(angle)
                status, message, rows = self.statics(ladder(angle, need * 1.001, element))
                self.assertEqual(status, 0, message)
                last = rows[-1]
                self.assertEqual(last["floor.state"], 1.0)
                self.assertAlmostEqual(last["floor.force"] / weight, 1.0, delta=1e-9)
                self.assertAlmostEqual(last["wall.force"] / (weight * need), 1.0, delta=1e-4)
                self.assertAlmostEqual(last["floor.friction"] / last["wall.force"], -1.0, delta=1e-8)
                status, message, rows = self.statics(ladder(angle, need * 0.999, element))
                self.assertNotEqual(status, 0, f"{element}, {degrees}")

    def test_sliding_in_a_plane_is_against_the_friction(self):
        for force, stiffness, mu in (((3.0, 4.0), (100.0, 100.0), 0.3), ((3.0, 4.0), (1000.0, 10.0), 0.3),
                                     ((-2.0, 7.0), (1.0, 50.0), 0.05), ((1.0, 0.0), (10.0, 10.0), 0.2)):
            status, message, rows = self.statics(springs(force, stiffness, mu))
            self.assertEqual(status, 0, message)
            x, y = rows[-1]["at.ux"], rows[-1]["at.uy"]
            way, limit = math.hypot(x, y), 10.0 * mu
            if math.hypot(*force) <= limit:
                self.assertLess(way, 1e-15)
                continue
            self.assertAlmostEqual(force[0] - stiffness[0] * x - limit * x / way, 0.0, delta=1e-9)
            self.assertAlmostEqual(force[1] - stiffness[1] * y - limit * y / way, 0.0, delta=1e-9)
            self.assertAlmostEqual(rows[-1]["floor.friction"], limit, delta=1e-10)
        status, _, rows = self.statics(springs((3.0, 4.0), (100.0, 100.0), 0.3) + "certify: strict\n")
        self.assertAlmostEqual(math.hypot(rows[-1]["at.ux"], rows[-1]["at.uy"]), 0.02, delta=1e-12)

    def test_friction_may_be_left_out(self):
        text = springs((3.0, 4.0), (100.0, 100.0), 0.3).replace("steps: 1", "steps: 1, friction: false")
        status, _, rows = self.statics(text)
        self.assertEqual(status, 0)
        self.assertAlmostEqual(rows[-1]["at.ux"], 0.03, delta=1e-14)
        status, message, _ = self.statics(text.replace("friction: false", "path: arc"))
        self.assertEqual(status, 2)
        self.assertIn("a path by arc length takes no friction", message)
        self.assertIn(":8:", message)

    def test_friction_of_force_laws_is_told(self):
        text = springs((3.0, 4.0), (100.0, 100.0), 0.3)
        text = text.replace("restitution: 0,", "law: { type: linear, stiffness: 1.0e5 },")
        status, message, _ = self.statics(text)
        self.assertEqual(status, 2)
        self.assertIn("contacts.floor: a static analysis does not follow friction of contacts with force laws", message)
        self.assertRegex(message, r"case.yaml:\d+:\d+: ")


if __name__ == "__main__":
    unittest.main()
