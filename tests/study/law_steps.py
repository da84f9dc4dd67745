"""Error against steps of contacts with force laws: equal steps, step control by doubling, and by contacts.

    python3 tests/study/law_steps.py build/percuss [--stiffness 1e4,1e5,1e6,1e7] [--scheme "newmark"]

A pendulum, a beam of steel of 1 m and 0.78 kg in four exact cells, falls on a stop with F = k d. The error is the mean
over 0.45 s of the distance of its tip from that of a fine run, whose own error comes from a second scheme. Each row is
the median of nine runs, with nominal steps (tolerances) between 0.73 and 1.36 times the one given. Steps are those that
were tried: a pair of halves is three. Ends with 1 if a run with `control: contact` has an error above 1.4 mm at any
nominal step, or above that of equal steps at equal work."""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

CASE = pathlib.Path(__file__).resolve().parent.parent.parent / "cases" / "beam_pendulum"
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
TOLERANCES = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
END, GOAL, RUNS = 0.45, 1.4e-3, 9
TIMES = np.linspace(0.0, END, 4001)


def run(program, stiffness, scheme, step, control=""):
    """Steps that were tried, and the path of the tip at TIMES."""
    stop = ("{type: node_plane, nodes: beam.end, point: [0.7071067811865476, 0, 0], normal: [1, 0, 0], "
            f"law: {{type: linear, stiffness: {stiffness!r}}}}}")
    command = [program, "run", str(CASE), "-q"]
    for text in (f"contacts.hurdle={stop}", f"scheme={{type: {scheme}}}",
                 f"time={{step: {step!r}, end: {END}{', control: ' + control if control else ''}}}",
                 "output={frames: false, view: false, checkpoint: false, history: {every: 1}, "
                 "probes: {tip: {node: beam.end, of: [x, y]}}}"):
        command += ["--set", text]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "-o", folder + "/out"], check=True, capture_output=True)
        with open(folder + "/out/summary.json") as file:
            steps = json.load(file)["steps"]["attempts"]
        with open(folder + "/out/history.csv", newline="") as file:
            rows = list(csv.DictReader(file))
    t = [float(row["t"]) for row in rows]
    return steps, np.array([np.interp(TIMES, t, [float(row[x]) for row in rows]) for x in ("tip.x", "tip.y")])


def distance(a, b):
    return float(np.mean(np.hypot(*(a - b))))


def row(program, stiffness, scheme, exact, settings):
    """Medians of steps and errors."""
    found = [run(program, stiffness, scheme, *s) for s in settings]
    return statistics.median(n for n, _ in found), statistics.median(distance(tip, exact) for _, tip in found)


def about(x):
    return [x * 2.0 ** ((k - RUNS // 2) / RUNS) for k in range(RUNS)]


def kinds(x, tolerance):
    """Settings of the runs of a row, by kind."""
    return {"equal": [(h,) for h in about(x)],
            "doubling": [(1e-3, f"{{type: adaptive, tolerance: {t!r}}}") for t in about(tolerance)],
            "contact": [(h, "{type: contact}") for h in about(x)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--stiffness", default="1e4,1e5,1e6,1e7")
    parser.add_argument("--scheme", default="alpha_ggl, rho_inf: 0.8")
    arguments = parser.parse_args()
    misses = 0
    for stiffness in map(float, arguments.stiffness.split(",")):
        fine = 4e-6 * min(1.0, (1e5 / stiffness) ** 0.25)
        exact = run(arguments.program, stiffness, "alpha_ggl, rho_inf: 1.0", fine)[1]
        other = run(arguments.program, stiffness, "moreau_jean, theta: 0.5", 1.3 * fine)[1]
        print(f"k = {stiffness:g} N/m, answer to {1e3 * distance(other, exact):.2g} mm")
        print("nominal step | equal steps: tried, mm | doubling: tolerance, tried, mm | contact: tried, mm")
        table = {"equal": [], "doubling": [], "contact": []}
        for h, tolerance in zip(STEPS, TOLERANCES):
            for kind, settings in kinds(h, tolerance).items():
                table[kind].append(row(arguments.program, stiffness, arguments.scheme, exact, settings))
            (a, b), (c, d), (e, f) = (table[kind][-1] for kind in table)
            print(f"{h:12g} | {a:5g} {1e3 * b:7.3f} | {tolerance:7g} {c:5g} {1e3 * d:7.3f} | {e:5g} {1e3 * f:7.3f}",
                  flush=True)
        work, error = np.log(np.array(table["equal"]).T)
        for tried, mean in table["contact"]:
            equal = np.exp(np.interp(np.log(tried), work, error))
            if mean > GOAL or mean > 1.02 * equal:  # where no step is cut they are the same runs
                print(f"  misses: {tried:g} steps, {1e3 * mean:.3f} mm, {1e3 * equal:.3f} mm with equal steps")
                misses += 1
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
