"""Equilibrium paths by arc length against closed forms: a roof of two rods (von Mises) that snaps through, with a
spring in series that snaps back, with a stop; Lee's frame, a deep arch (DaDeppo and Schmidt 1975), a column (Euler).
Argument: the path of percuss.

  P(y) = 2 E A (L - l)/L y/l,   l = sqrt(1 + y^2),  L = sqrt(1 + b^2)
"""
import math
import re
import tempfile
import unittest
from pathlib import Path

import program


def solve(text, *words):
    """Exit status, message, rows of statics.csv, summary."""
    with tempfile.TemporaryDirectory() as folder:
        case, out = Path(folder) / "case.yaml", Path(folder) / "out"
        case.write_text(text)
        done = program.percuss("statics", case, "-q", "-o", out, *words)
        rows, summary = [], ""
        if (out / "statics.csv").exists():
            rows = program.read_table(out / "statics.csv")
            summary = (out / "summary.txt").read_text()
    return done.returncode, done.stderr, rows, summary


def marks(summary, title):
    lines = [line for line in summary.splitlines() if title in line]
    return [float(word) for word in lines[0].split(title)[1].split(",")] if lines else []


def force(y, b):
    """Of E A = 1000 and a half span of 1."""
    length, now = math.hypot(1.0, b), math.hypot(1.0, y)
    return 2000.0 * (length - now) / length * y / now


def limit(b):
    """The largest force: l^3 = L."""
    return force(math.sqrt(math.hypot(1.0, b)**(2.0 / 3.0) - 1.0), b)


def roof(b, arc, size, load, spring=None, stop=None):
    """Lengths in units of `size`, forces as if it were 1."""
    area, tip = 1.0, "roof.end"
    parts = {"mesh": "", "merge": "", "elements": "", "supports": "", "contacts": "", "probes": ""}
    if spring is not None:
        tip = "spring.end"
        low, high = b * size, (b + 3.0) * size
        parts["mesh"] = f"  spring: {{ type: line, from: [0, {low!r}, 0], to: [0, {high!r}, 0], elements: 1 }}"
        parts["merge"] = ", spring.start"
        rod = f"type: rod_large_2d, E: {3.0 * spring!r}, rho: 1, area: {area!r}"
        parts["elements"] = f"  spring: {{ mesh: spring, {rod} }}"
        parts["supports"] = ", c: { set: spring.end, fix: [x] }, d: { set: roof.end, fix: [x] }"
        parts["probes"] = ", top: { node: spring.end, of: [uy] }"
    if stop is not None:
        parts["contacts"] = (f"contacts: {{ stop: {{ type: node_plane, nodes: roof.end, normal: [0, 1, 0], "
                             f"point: [0, {stop * size!r}, 0], restitution: 0 }} }}")
    return f"""
mesh:
  roof: {{ type: line, from: [{-size!r}, 0, 0], to: [0, {b * size!r}, 0], elements: 1 }}
  other: {{ type: line, from: [0, {b * size!r}, 0], to: [{size!r}, 0, 0], elements: 1 }}
{parts["mesh"]}
merge: {{ ridge: {{ sets: [roof.end, other.start{parts["merge"]}] }} }}
elements:
  roof: {{ type: rod_large_2d, mesh: roof, E: 1000, rho: 1, area: {area!r} }}
  other: {{ type: rod_large_2d, mesh: other, E: 1000, rho: 1, area: {area!r} }}
{parts["elements"]}
supports: {{ a: {{ set: roof.start, fix: [x, y] }}, b: {{ set: other.end, fix: [x, y] }}{parts["supports"]} }}
loads: {{ push: {{ type: force, node: {tip}, value: [0, {-load!r}, 0] }} }}
{parts["contacts"]}
statics: {{ path: arc, arc_length: {arc!r}, arcs: 5000 }}
output: {{ probes: {{ ridge: {{ node: roof.end, of: [y] }}{parts["probes"]} }} }}
"""


def frame(cells, arc, size=1.0):
    """Lee's frame: E = 720, A = 6, I = 2, legs of 120, a load of 3 at 24 from the corner."""
    beam = (f"type: beam_exact_2d, E: {720.0 / size**2!r}, nu: 0.3, rho: 1, section: {{ type: rectangle, "
            f"width: {3.0 * size!r}, height: {2.0 * size!r} }}")
    top, at = 120.0 * size, 24.0 * size
    return f"""
mesh:
  column: {{ type: line, from: [0, 0, 0], to: [0, {top!r}, 0], elements: {5 * cells} }}
  beam: {{ type: line, from: [0, {top!r}, 0], to: [{at!r}, {top!r}, 0], elements: {cells} }}
  rest: {{ type: line, from: [{at!r}, {top!r}, 0], to: [{top!r}, {top!r}, 0], elements: {4 * cells} }}
merge: {{ corner: {{ sets: [column.end, beam.start] }}, load: {{ sets: [beam.end, rest.start] }} }}
elements: {{ c: {{ mesh: column, {beam} }}, b: {{ mesh: beam, {beam} }}, r: {{ mesh: rest, {beam} }} }}
supports: {{ a: {{ set: column.start, fix: [x, y] }}, b: {{ set: rest.end, fix: [x, y] }} }}
loads: {{ push: {{ type: force, node: beam.end, value: [0, -3, 0] }} }}
statics: {{ path: arc, arc_length: {arc!r} }}
output: {{ probes: {{ load: {{ node: beam.end, of: [ux, uy] }} }} }}
"""


def arch(cells):
    """Radius 100, thickness 1, 215 degrees, one end clamped; the load is 20 E I/R^2."""
    half, inertia = math.radians(107.5), 1.0 / 12.0
    return f"""
mesh:
  arch: {{ type: arc, centre: [0, 0, 0], start: [{-100 * math.sin(half)!r}, {100 * math.cos(half)!r}, 0], angle: -215,
          elements: {cells} }}
sets: {{ crown: {{ nodes: arch, at: [0, 100, 0] }} }}
elements: {{ arch: {{ type: beam_exact_2d, mesh: arch, E: 1.0e6, nu: 0, rho: 1,
                     section: {{ type: rectangle, width: 1, height: 1 }} }} }}
supports: {{ a: {{ set: arch.start, fix: [x, y, rz] }}, b: {{ set: arch.end, fix: [x, y] }} }}
loads: {{ push: {{ type: force, node: crown, value: [0, {-20.0 * 1e6 * inertia / 100.0**2!r}, 0] }} }}
statics: {{ path: arc, arc_length: 0.05, arcs: 40 }}
"""


def column(arc, factor=2.0):
    """Length 10, thickness 0.1, hinged; the load is a multiple of Euler's."""
    euler = math.pi**2 * 1e9 * 0.1**4 / 12.0 / 100.0
    return f"""
mesh: {{ c: {{ type: line, from: [0, 0, 0], to: [0, 10, 0], elements: 32 }} }}
elements: {{ c: {{ type: beam_exact_2d, mesh: c, E: 1.0e9, nu: 0.3, rho: 1,
                  section: {{ type: rectangle, width: 0.1, height: 0.1 }} }} }}
supports: {{ a: {{ set: c.start, fix: [x, y] }}, b: {{ set: c.end, fix: [x] }} }}
loads: {{ push: {{ type: force, node: c.end, value: [0, {-factor * euler!r}, 0] }} }}
statics: {{ path: arc, arc_length: {arc!r} }}
"""


class Arc(unittest.TestCase):
    def check_limits(self, summary, expected):
        found = marks(summary, "limit points")
        self.assertEqual(len(found), len(expected), f"{found}, {expected}")
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, delta=2e-9)

    def test_a_roof_snaps_through(self):
        for b, arc, size in ((0.05, 0.2, 1.0), (0.05, 0.002, 1e-6), (0.5, 0.05, 1e3), (0.5, 0.005, 1.0),
                             (1.0, 0.2, 1e6), (1.0, 0.02, 1.0), (3.0, 0.02, 1.0)):
            top = limit(b)
            status, message, rows, summary = solve(roof(b, arc, size, 1.5 * top))
            self.assertEqual(status, 0, message)
            off = max(abs(1.5 * top * row["factor"] - force(row["ridge.y"] / size, b)) for row in rows)
            self.assertLess(off, 1e-11 * top)
            self.check_limits(summary, [1.0 / 1.5, -1.0 / 1.5])
            self.assertEqual(rows[-1]["factor"], 1.0)
            self.assertLess(rows[-1]["ridge.y"], -b * size)
            # The determinant tells the stable pieces of the path, where no other path crosses it.
            if b < 1.5:
                for row in rows[1:]:
                    inner = abs(row["ridge.y"] / size) < 0.99 * math.sqrt(math.hypot(1.0, b)**(2.0 / 3.0) - 1.0)
                    outer = abs(row["ridge.y"] / size) > 1.01 * math.sqrt(math.hypot(1.0, b)**(2.0 / 3.0) - 1.0)
                    self.assertFalse((inner and row["determinant"] != -1) or (outer and row["determinant"] != 1))
            self.assertEqual(len(marks(summary, "other paths near")), 4 if b > 1.5 else 0)

    def test_the_work_of_the_load_is_the_strain_energy(self):
        left = []
        for arc in (0.02, 0.01, 0.005):
            rows = solve(roof(0.5, arc, 1.0, 1.5 * limit(0.5)))[2]
            left.append(abs(rows[-1]["load_work"] / rows[-1]["strain"] - 1.0))
        self.assertLess(left[0], 0.02)
        self.assertLess(left[1], 0.3 * left[0])  # the trapezoidal rule: of second order
        self.assertLess(left[2], 0.3 * left[1])

    def test_a_spring_in_series_snaps_back(self):
        for b, share, arc, size in ((0.3, 0.2, 0.2, 1.0), (0.6, 0.2, 0.02, 1e-6), (0.6, 0.5, 0.005, 1e3),
                                    (1.0, 0.5, 0.05, 1e6), (1.0, 2.0, 0.02, 1.0)):
            top, stiff = limit(b), share * (force(1e-6, b) - force(-1e-6, b)) / 2e-6
            status, message, rows, summary = solve(roof(b, arc, size, 1.5 * top, spring=stiff))
            self.assertEqual(status, 0, message)
            for row in rows:
                load = 1.5 * top * row["factor"]
                self.assertAlmostEqual(load, force(row["ridge.y"] / size, b), delta=1e-10 * top)
                self.assertAlmostEqual(row["top.uy"] / size, row["ridge.y"] / size - b - load / stiff, delta=1e-10)
            self.check_limits(summary, [1.0 / 1.5, -1.0 / 1.5])
            back = sum(q["top.uy"] - p["top.uy"] > 1e-9 * size for p, q in zip(rows, rows[1:]))
            self.assertEqual(back > 0, share < 1.0)

    def test_a_stop_makes_a_corner(self):
        for b, share, arc, size in ((0.3, 0.5, 0.2, 1.0), (0.6, 0.1, 0.02, 1e3), (0.6, -0.1, 0.002, 1.0),
                                    (1.0, -0.5, 0.02, 1e-6), (1.0, -1.02, 0.05, 1e6)):
            top = limit(b)
            status, message, rows, _ = solve(roof(b, arc, size, 1.5 * top, stop=share * b))
            self.assertEqual(status, 0, message)
            for row in rows:
                rest = 1.5 * top * row["factor"] - force(row["ridge.y"] / size, b)
                self.assertAlmostEqual(row["stop.force"], rest, delta=1e-10 * top)
                self.assertGreaterEqual(row["stop.force"], 0.0)
            self.assertAlmostEqual(min(row["ridge.y"] for row in rows) / size, share * b, delta=1e-12)
            self.assertEqual(rows[-1]["factor"], 1.0)
            self.assertGreater(rows[-1]["stop.force"], 0.1 * top)
            self.assertEqual(rows[-1]["determinant"], 1.0)

    def test_a_joint_may_drive_the_path(self):
        text = roof(0.5, 0.02, 1.0, 1.0).replace("arcs: 5000", "arcs: 5000, time: 1")
        drive = "joints: { push: { type: prescribed, node: roof.end, along: y, table: [[0, 0], [1, -1.2]] } }"
        status, message, rows, _ = solve(re.sub("loads: .*", drive, text))
        self.assertEqual(status, 0, message)
        self.assertEqual(rows[-1]["factor"], 1.0)
        for row in rows:
            self.assertAlmostEqual(row["ridge.y"], 0.5 - 1.2 * row["factor"], delta=1e-12)
            self.assertAlmostEqual(-row["push.fy"], force(row["ridge.y"], 0.5), delta=1e-9)

    def test_a_driven_ridge_passes_limit_points(self):
        """By load steps: the reaction is known on the unstable branch, too."""
        for b, steps in ((0.05, 23), (0.2, 90), (0.5, 23), (1.0, 90), (3.0, 23)):
            text = re.sub("path: arc.*", f"steps: {steps}, time: 1 }}", roof(b, 0.02, 1.0, 1.0))
            table = f"[[0, 0], [1, {-2.2 * b}]]"
            drive = f"joints: {{ push: {{ type: prescribed, node: roof.end, along: y, table: {table} }} }}"
            status, message, rows, _ = solve(re.sub("loads: .*", drive, text))
            self.assertEqual((status, len(rows)), (0, steps + 1), message)
            largest = max(abs(force(row["ridge.y"], b)) for row in rows)
            self.assertLess(max(abs(row["push.fy"] + force(row["ridge.y"], b)) for row in rows), 1e-10 * largest)
            self.assertEqual(sum(p["push.fy"] * q["push.fy"] < 0.0 for p, q in zip(rows, rows[1:])), 2)

    def test_lees_frame(self):
        found = []
        for cells, arc, size in ((2, 0.2, 1.0), (4, 0.02, 1e-3), (8, 0.05, 1.0)):
            status, message, rows, summary = solve(frame(cells, arc, size))
            self.assertEqual(status, 0, message)
            found.append([3.0 * s for s in marks(summary, "limit points")])
            self.assertEqual(len(found[-1]), 2)
            self.assertEqual(rows[-1]["factor"], 1.0)
            back = sum(q["load.uy"] > p["load.uy"] for p, q in zip(rows, rows[1:]))
            self.assertGreater(back, 3)  # the loaded point rises while the load falls
        for k, published in ((0, 1.854), (1, -0.940)):
            order = math.log2((found[0][k] - found[1][k]) / (found[1][k] - found[2][k]))
            self.assertAlmostEqual(order, 2.0, delta=0.1)
            exact = found[2][k] + (found[2][k] - found[1][k]) / 3.0
            self.assertAlmostEqual(exact, published, delta=1e-3)

    def test_a_deep_arch(self):
        found = []
        for cells in (20, 40):
            status, message, rows, summary = solve(arch(cells))
            self.assertEqual(status, 0, message)
            self.assertEqual(len(rows), 41)  # the path ends after so many arcs
            found.append(20.0 * marks(summary, "limit points")[0])
        self.assertAlmostEqual(found[1] + (found[1] - found[0]) / 3.0, 8.97, delta=5e-3)

    def test_a_column_passes_where_it_may_buckle(self):
        status, message, _, summary = solve(column(5e-6))
        self.assertEqual(status, 0, message)
        near = marks(summary, "other paths near")
        self.assertEqual(len(near), 1, summary)
        self.assertAlmostEqual(near[0], 0.5, delta=0.05)
        self.assertEqual(marks(summary, "limit points"), [])

    def test_load_steps_jump_nowhere(self):
        for share, reached in ((0.95, 1.0), (1.01, 1.0 / 1.01), (1.9, 1.0 / 1.9), (20.0, 0.05)):
            for size in (1e-3, 7.0):
                case = roof(0.3, 0.05, size, share * limit(0.3)).replace("path: arc", "path: load")
                status, message, rows, _ = solve(case)
                self.assertEqual((status, "snaps through" in message), (int(share > 1.0), share > 1.0), message)
                self.assertAlmostEqual(float(rows[-1]["factor"]), reached, delta=1e-4)

    def test_a_column_beyond_its_buckling_load_is_refused(self):
        for factor, status in ((0.98, 0), (1.02, 1), (9.5, 1)):
            done, message, rows, _ = solve(column(0.01, factor).replace("path: arc", "path: load"))
            self.assertEqual((done, "is not stable" in message), (status, status == 1), message)
            self.assertEqual(float(rows[-1]["factor"]), 1.0)

    def test_a_chain_that_stands_falls(self):
        """The relaxation comes back to the upright chain: kicks alternate and grow until it hangs."""
        for cells, push, fall in ((1, -2.764, -9.0), (3, 0.0, -9.81), (7, 1.0, -9.0)):
            status, message, rows, _ = solve(
                f"mesh: {{ b: {{ type: line, from: [0, 0, 0], to: [6.123234e-17, 1, 0], elements: {cells} }} }}\n"
                "elements: { b: { type: rod_large_3d, mesh: b, E: 2.0e9, rho: 1000, area: 1.0e-4 } }\n"
                f"loads: {{ g: {{ type: gravity, g: [{push}, {fall}, 0] }} }}\n"
                "supports: { w: { set: b.start, fix: [x, y, z] } }\n"
                "output: { probes: { e: { node: b.end, of: [y] } } }\n")
            self.assertEqual(status, 0, message)
            self.assertAlmostEqual(float(rows[-1]["e.y"]), fall / math.hypot(push, fall), delta=1e-5)

    def test_what_cannot_be_followed(self):
        text = roof(0.5, 0.02, 1.0, 100.0)
        for change, message in (("arc_length: 0.02", "arc_length must be in (0, 10], is -1"),
                                ("arcs: 5000", "arcs must be a whole number in [1, 1e+09], is 0")):
            key = change.split(":")[0]
            wrong = text.replace(change, f"{key}: {'-1' if key == 'arc_length' else '0'}")
            status, told, _, _ = solve(wrong)
            self.assertEqual(status, 2)
            self.assertIn("statics." + key, told)
            self.assertIn(message.split(",")[0].split("must")[1].strip().split(" ")[0], told)
        status, told, _, _ = solve(text.replace("value: [0, -100.0, 0]", "value: [0, 0, 0]"))
        self.assertEqual(status, 2)
        self.assertIn("nothing to follow", told)
        cable = column(0.01).replace("beam_exact_2d", "rod_large_2d").replace("nu: 0.3, ", "").replace(
            "section: { type: rectangle, width: 0.1, height: 0.1 }", "area: 1.0e-4")
        status, told, _, _ = solve(cable)
        self.assertEqual(status, 2)
        self.assertIn("must begin with a regular stiffness matrix", told)


if __name__ == "__main__":
    unittest.main()
