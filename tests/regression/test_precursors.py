"""A mass on a clamped bar (Saint-Venant): why a consistent mass splits its contact.

Short waves of linear elements travel at up to sqrt(2) c and are back at sqrt(2) L/c, ahead of the front at 2 L/c.
Solved without any step, by event_driven, the contact opens from then on and not before; scheme wave has none of it.
"""
import json
import math
import sys
import tempfile
from pathlib import Path

from program import percuss

CASE = """
mesh:
  bar: {{ type: line, from: [0, 0, 0], to: [1, 0, 0], elements: {cells} }}
  ball: {{ type: point, at: [0, 0, 0] }}
elements:
  bar: {{ type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0{mass} }}
  ball: {{ type: point_mass, mesh: ball, mass: {ratio} }}
supports: {{ clamp: {{ set: bar.end, fix: [x] }}, guide: {{ set: ball, fix: [y, z] }} }}
initial: [ {{ set: ball, velocity: [1, 0, 0] }} ]
contacts: {{ hit: {{ type: node_node, a: ball, b: bar.start, normal: [1, 0, 0], restitution: 0.0 }} }}
scheme: {{ type: {scheme} }}
time: {{ step: {step}, end: {end} }}
output: {{ frames: {{ every: 0 }}{summary} }}
"""


def intervals(ratio, scheme, mass, step, cells=50, end=4.0, summary=""):
    with tempfile.TemporaryDirectory() as folder:
        case, out = Path(folder) / "case.yaml", Path(folder) / "out"
        case.write_text(CASE.format(ratio=ratio, scheme=scheme, mass=mass, step=step, cells=cells, end=end,
                                    summary=summary))
        percuss("run", case, "--quiet", "-o", out, check=True)
        return json.loads((out / "summary.json").read_text())["contacts"][0]["intervals"]


def every(step):
    """The summary tells every opening of more than three steps."""
    return f", summary: {{ open_time: {3 * step} }}"


def check_hopkinson():
    """The mesh opens an interface of bars for parts of a swing of its ripple; by default that is one contact."""
    with tempfile.TemporaryDirectory() as folder:
        percuss("run", "cases/hopkinson", "--quiet", "-o", folder, "--set", "output.frames=false",
                "--set", "scheme={type: half_explicit}", "--set", "time.step=1.0e-7", check=True)
        found = json.loads((Path(folder) / "summary.json").read_text())["contacts"]
        counts = {contact["name"]: contact["interval_count"] for contact in found}
    print(f"Hopkinson bar, intervals: {counts}")
    return 0 if counts["front"] == counts["back"] == 1 else 1


def check_cures():
    """200 cells to 8 L/c: what a consistent mass splits, what does not, and where the first contact ends."""
    failed, cells, end = 0, 200, 8.0
    for ratio, count, first in ((0.25, 1, 2.25), (1.0, 2, 3.07), (4.0, 2, 5.9)):
        split = intervals(ratio, "alpha_ggl, rho_inf: 0.8", ", mass: consistent", 0.5 / cells, cells, end,
                          every(0.5 / cells))
        tuned = intervals(ratio, "alpha_ggl, rho_inf: 0.8", ", mass: tuned", 0.95 / cells, cells, end)
        wave = intervals(ratio, "wave", "", "auto", cells, end)
        joined = intervals(ratio, "alpha_ggl, rho_inf: 0.8", ", mass: consistent", 0.5 / cells, cells, end,
                           ", summary: { open_time: 0.15 }")
        counts = [len(way) for way in (split, tuned, wave, joined)]
        print(f"mass ratio {ratio}: consistent, tuned, wave, joined: {counts}")
        failed += not len(split) > count + 2
        failed += not (len(tuned) == len(wave) == count)
        failed += not all(abs(way[0]["end"] - first) < 0.01 for way in (tuned, wave))
        failed += len(joined) != (1 if ratio == 4.0 else count)  # a flight of 0.1 is joined, too
    return failed


def main():
    failed = check_cures() + check_hopkinson()
    for ratio, last in ((0.25, 2.26), (1.0, 3.07)):
        mesh = intervals(ratio, "event_driven", ", mass: consistent", 0.01, summary=every(0.01))
        wave = intervals(ratio, "wave", "", "auto")
        print(f"mass ratio {ratio}: {len(mesh)} intervals, first open at {mesh[0]['end']:.3f};"
              f" wave: {len(wave)}, to {wave[0]['end']:.3f}")
        failed += len(mesh) < 3 or not math.sqrt(2.0) - 0.01 <= mesh[0]["end"] < 2.0
        failed += len(wave) != 1 or abs(wave[0]["end"] - last) > 0.02
    return 1 if failed else 0


sys.exit(main())
