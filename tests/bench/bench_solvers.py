"""Does `solver: auto` take the fastest step solver? bench_solvers.py PROGRAM [PATTERN]

Runs models by every step solver that takes them; prints processor times, s, and `auto` over the best (goal: 1.3).
"""

import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "study"))
import make_pile  # noqa: E402

GOAL = 1.3
SOLVERS = "condensed", "newton", "schur"
CASE = """
mesh: {{ net: {{ type: lattice, cells: {cells}, size: [0.1], origin: [0.0004, 0, 0], diagonals: {diagonals} }} }}
elements:
  struts: {{ type: {element}, mesh: net, E: 2.1e+11, nu: 0.3, rho: 7800.0, {more}
            section: {{ type: rectangle, width: 0.01, height: 0.01 }} }}
initial: [{{ set: net, velocity: [-10.0, 3.0, 0] }}]
contacts: {{ wall: {{ type: node_plane, nodes: net.xmin, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0,
           friction: {friction} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-5, end: {end} }}
output: {{ frames: {{ every: 0 }}, contact_frames: {{ every: 0 }}, history: {{ every: 100 }} }}
"""


def models():
    plane = [[n, n] for n in (8, 20, 40, 60)] + [[3, 100], [100, 3], [3, 300]]
    for cells in plane + [[3, 3, 3], [6, 6, 6], [20, 3, 3], [2, 10, 10]]:
        for friction in 0.0, 0.3:
            for scheme in "alpha_ggl", "moreau_jean, theta: 0.6":
                size = "x".join(map(str, cells))
                yield f"{size} {scheme.split(',')[0]} {friction}", CASE.format(
                    cells=cells, friction=friction, scheme=scheme, diagonals="none" if len(cells) == 2 else "one",
                    element="beam_timo_2d" if len(cells) == 2 else "beam_timo_3d",
                    end=1.0e-3 if min(cells) > 10 else 4.0e-3,
                    more="" if len(cells) == 2 else "orientation: [0.3, 0.5, 0.8],")
    for width in 2, 3, 4, 5:
        for friction in 0.0, 0.5:
            for scheme in "alpha_ggl", "moreau_jean, theta: 0.5":
                text = make_pile.pile(width, width).replace("friction: 0.5", f"friction: {friction}")
                text = text.replace("moreau_jean, theta: 0.5", scheme).replace("end: 1.0", "end: 0.1")
                yield f"pile {width} {scheme.split(',')[0]} {friction}", text


def seconds(program, case, solver, folder):
    """Processor time of the run and the solver that it took; None if that solver does not take the model."""
    command = [program, "run", case, "--set", f"solver={{type: {solver}, threads: 1}}", "-q", "-o", folder]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = subprocess.run(command, capture_output=True, text=True)
    taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if result.returncode != 0:
        return None, result.stderr
    with open(os.path.join(folder, "summary.txt")) as file:
        return taken, re.search(r"solver (\w+)", file.read()).group(1)


def main():
    program, pattern = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    worst = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in models():
            if not re.search(pattern, name):
                continue
            case, out = os.path.join(folder, "case.yaml"), os.path.join(folder, "out")
            with open(case, "w") as file:
                file.write(text)
            found = {s: seconds(program, case, s, out) for s in SOLVERS}
            times = {s: t for s, (t, _) in found.items() if t is not None}
            taken = seconds(program, case, "auto", out)[1]
            ratio = times[taken] / min(times.values())
            worst.append(ratio)
            print(f"{name:28}", *(f"{s} {t:.2f}" for s, t in times.items()), f"auto: {taken} {ratio:.2f}", flush=True)
    print(f"{sum(r <= GOAL for r in worst)} of {len(worst)} within {GOAL} of the best, worst {max(worst):.2f}")


if __name__ == "__main__":
    main()
