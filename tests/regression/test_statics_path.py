"""Equilibrium paths beyond a limit point, by prescribed displacements: statics drives the ridge of a roof of two rods
all the way through, and its reaction follows the closed form (von Mises) on the unstable branch, too.

  P(y) = 2 E A (L - l)/L y/l,   l = sqrt(1 + y^2),  L = sqrt(1 + b^2)
"""
import math
import sys
import tempfile
from pathlib import Path

import program

CASE = """
parameters: {{ b: {rise} }}
mesh:
  roof: {{ type: line, from: [-1, 0, 0], to: [0, "${{b}}", 0], elements: 1 }}
  other: {{ type: line, from: [0, "${{b}}", 0], to: [1, 0, 0], elements: 1 }}
merge: {{ ridge: {{ sets: [roof.end, other.start] }} }}
elements:
  roof: {{ type: rod_large_2d, mesh: roof, E: 1000.0, rho: 1.0, area: 1.0 }}
  other: {{ type: rod_large_2d, mesh: other, E: 1000.0, rho: 1.0, area: 1.0 }}
supports: {{ a: {{ set: roof.start, fix: [x, y] }}, b: {{ set: other.end, fix: [x, y] }} }}
joints: {{ push: {{ type: prescribed, node: roof.end, along: y, table: [[0, 0], [1, {way}]] }} }}
scheme: {{ type: alpha_ggl }}
time: {{ step: 0.01, end: 1.0 }}
output: {{ probes: {{ ridge: {{ node: roof.end, of: [x, y] }} }} }}
"""


def force(y, b):
    length, now = math.hypot(1.0, b), math.hypot(1.0, y)
    return 2000.0 * (length - now) / length * y / now


def main():
    failed = 0
    for b in (0.05, 0.2, 0.5, 1.0, 3.0):
        for steps in (23, 90):
            with tempfile.TemporaryDirectory() as folder:
                case = Path(folder) / "case.yaml"
                case.write_text(CASE.format(rise=b, way=-2.2 * b).replace('"', ""))
                program.percuss("statics", case, "--steps", steps, "--time", "1", "--quiet", "-o",
                                Path(folder) / "out", check=True)
                rows = program.read_table(Path(folder) / "out/statics.csv")
            largest = max(abs(force(row["ridge.y"], b)) for row in rows)
            off = max(abs(row["push.fy"] + force(row["ridge.y"], b)) for row in rows)
            signs = sum(p["push.fy"] * q["push.fy"] < 0.0 for p, q in zip(rows, rows[1:]))
            print(f"rise {b}, {steps} steps: off by {off / largest:.1e} of {largest:.4g} N, {signs} changes of sign")
            failed += len(rows) != steps + 1 or not off <= 1e-10 * largest or signs != 2
    return 1 if failed else 0


sys.exit(main())
