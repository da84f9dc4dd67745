"""Error against time of every scheme that applies, on six kinds of problems; beside Siconos on a bar.

    python3 tests/study/work_precision.py build/percuss [work_precision.csv [work_precision.png]]
    ... --only bar,rotor    some of the problems
    ... --runs 3            repetitions, of which the fastest counts

A run's error is the mean difference of a history from the answer, over all times, relative to the largest change of the
answer: of the contact impulse for bars, of momentum for pendulum and pile, of angles and impact loss for the mechanism,
of deflections for the rotor. It is a mean because a jump one step later would count in full in the largest difference.
Bars have exact answers; the others a fine run of one scheme, whose own error is taken from a second one and printed:
figures near it mean nothing. The time is that of the steps alone, without certificate and output.
Printed is the time of the coarsest run from which on all finer ones are below 3 %, 1 % and 0.1 %, with its verdict on
resolution: r, c or u for resolved, coarse and unresolved."""

import argparse
import csv
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LEVELS = (0.03, 0.01, 0.001)
VELOCITY = ["moreau_jean, theta: 0.5", "newmark", "hht", "alpha_velocity", "jump_newmark, rho_inf: 0.8"]
IMPLICIT = ["alpha_ggl", "alpha_ggl, rho_inf: 1", "ggl_midpoint, metric: mass", *VELOCITY]
LUMPED = ["half_explicit", "schatzman_paoli"]
QUIET = ["output.frames=false", "output.view=false", "output.checkpoint=false", "output.history={every: 1}"]


def clamped(t):
    """Impulse on the obstacle of bar_clamped: force 1/2 from 0.5 s to 1.5 s of every period of 3 s."""
    return 0.5 * (np.floor(t / 3.0) + np.clip(t % 3.0 - 1.0, 0.0, 1.0))


def struck(t):
    """Impulse on the wall of bar_impact: force 300 N for two travel times."""
    return 300.0 * np.clip(t - 0.5005, 0.0, 20.0 / 30.0)


def bar(courant):
    """Settings of the bars: the mesh goes with the step, 25 to 1600 elements."""
    return lambda length, speed: [(n, [f"mesh.bar.elements={n}", f"time.step={courant * length / n / speed!r}"])
                                  for n in (25 * 2 ** k for k in range(7))]


def steps(first, count):
    return [(None, [f"time.step={first * 0.5 ** k!r}"]) for k in range(count)]


PROBLEMS = {
    "bar": {
        "title": "Bar, impacts on the grid", "case": "bar_clamped", "columns": "obstacle.step_impulse",
        "exact": clamped, "bar": (1.0, 1.0), "set": [], "schemes": ["wave", *IMPLICIT], "lumped": LUMPED},
    "off grid": {
        "title": "Bar, impact off the grid", "case": "bar_impact", "columns": "wall.step_impulse", "exact": struck,
        "bar": (10.0, 30.0), "set": ["mesh.bar.from=[5.005, 0, 0]"],
        "schemes": ["wave", "moreau_midpoint", *IMPLICIT], "lumped": LUMPED},
    "pendulum": {
        "title": "Flexible pendulum, stop without restitution", "case": "beam_pendulum", "columns": "momentum_",
        "set": ["contacts.hurdle.restitution=0.0", "elements.beam.damping={stiffness: 1e-5}", "time.end=0.4"],
        "schemes": IMPLICIT, "steps": steps(1.6e-3, 8),
        "answer": (("alpha_ggl", 2e-6), ("moreau_jean, theta: 0.5", 2e-6))},
    "mechanism": {
        "title": "Slider-crank with clearance and friction", "case": "slider_crank",
        "columns": ("theta1", "theta2", "impact_loss"), "set": [],
        "schemes": [*IMPLICIT, "half_explicit", "half_explicit_rk", "splitting", "moreau_midpoint",
                    "moreau_jean_explicit"],
        "steps": steps(8e-4, 11), "answer": (("half_explicit", 1e-7), ("moreau_midpoint", 1e-7))},
    "friction": {
        "title": "Pile of beams with friction", "case": "beam_pile", "columns": "momentum_", "set": ["time.end=0.3"],
        "schemes": IMPLICIT, "steps": steps(4e-3, 7),
        "answer": (("moreau_jean, theta: 0.5", 1e-5), ("alpha_ggl", 1e-5))},
    "rotor": {
        "title": "Rotor in a bearing with backlash", "case": "rotor", "columns": ("journal.u", "wheel.u"),
        "set": ["time.end=0.03"], "schemes": [*IMPLICIT, "half_explicit", "moreau_midpoint"],
        "steps": [*steps(8e-5, 6), (None, ["time.step=5e-6"])],
        "answer": (("half_explicit", 2e-7), ("moreau_jean, theta: 0.5", 2e-7))},
}


def run(program, problem, settings, repetitions=1):
    """Times and columns of the history, ms of the steps and verdict; None where the program refuses or stops."""
    command = [program, "run", str(HERE.parent.parent / "cases" / problem["case"]), "-q"]
    for text in [*QUIET, *problem["set"], *settings]:
        command += ["--set", text]
    ms = np.inf
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            if subprocess.run([*command, "-o", folder + "/out"], capture_output=True).returncode:
                return None
            with open(folder + "/out/summary.json") as file:
                summary = json.load(file)
            if repetitions == 1 or np.isinf(ms):
                with open(folder + "/out/history.csv", newline="") as file:
                    rows = list(csv.reader(file))
        ms = min(ms, 1e3 * summary["wall_time"]["step"])
    names = [i for i, name in enumerate(rows[0]) if name.startswith(problem["columns"])]
    data = np.array([[float(row[i] or 0.0) for i in [0, *names]] for row in rows[1:]])
    values = np.cumsum(data[:, 1:], axis=0) if "exact" in problem else data[:, 1:]
    return data[:, 0], values, ms, summary["resolution"]["verdict"]


def difference(t, values, answer):
    """The mean over times, relative to the largest change of the column; of all columns the largest."""
    times, exact = answer
    inside = t <= times[-1] * (1.0 + 1e-9)
    worst = 0.0
    for k in range(exact.shape[1]):
        size = np.ptp(exact[:, k])
        if size > 1e-6 * np.ptp(exact):
            worst = max(worst, np.mean(np.abs(values[inside, k] - np.interp(t[inside], times, exact[:, k]))) / size)
    return worst


def answer_of(program, problem):
    """Times and values of the answer, and its own error."""
    if "exact" in problem:
        t = np.linspace(0.0, 6.0, 2_000_001)
        return (t, problem["exact"](t)[:, None]), 0.0
    fine = [run(program, problem, [f"scheme={{type: {scheme}}}", f"time.step={h}"]) for scheme, h in problem["answer"]]
    if None in fine:
        sys.exit(f"error: a reference run of {problem['case']} stopped")
    return fine[0][:2], difference(*fine[1][:2], fine[0][:2])


def settings_of(problem, scheme, is_lumped):
    if "steps" in problem:
        return [s for _, s in problem["steps"]]
    courant = 1.0 if scheme == "wave" else 0.9 if is_lumped else 0.5 if scheme == "moreau_midpoint" else 0.7
    mass = ["elements.bar.mass=lumped"] if is_lumped else []
    return [s + mass for _, s in bar(courant)(*problem["bar"])]


def siconos(answer):
    """Error and ms of the bar off the grid by Moreau and Jean's scheme in Siconos, with theta 1/2."""
    found = importlib.util.find_spec("siconos")
    if found is None:
        print("Siconos is not installed: no row of it")
        return []
    sys.path.insert(0, str(HERE.parent / "bench"))
    import siconos_bar
    rows = []
    siconos_bar.THETA = 0.5
    for n in (25 * 2 ** k for k in range(5)):
        step = 0.7 * 10.0 / n / 30.0
        siconos_bar.model = lambda _, step=step: (step, 5.005)
        count = int(1.5 / step)
        seconds, history = siconos_bar.siconos_run(n, count, n > 100)
        t = step * np.arange(1, count + 1)
        rows.append((difference(t, np.cumsum(history[:, 4])[:, None], answer), 1e3 * seconds * count, "-"))
    return rows


def told(rows):
    """Cells of a table: the time from which on all finer runs are below a level, with the verdict."""
    cells = []
    for level in LEVELS:
        good = None
        for row in reversed(rows):
            if row is None or row[0] > level:
                break
            good = row
        cells.append("-" if good is None else f"{good[1]:.3g} {good[2][0]}")
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("table", nargs="?", default="work_precision.csv")
    parser.add_argument("picture", nargs="?", default="work_precision.png")
    parser.add_argument("--only", default=",".join(PROBLEMS))
    parser.add_argument("--runs", type=int, default=3)
    a = parser.parse_args()
    lines = [("problem", "scheme", "error", "ms", "verdict")]
    plt.style.use(HERE.parent.parent / "python/percuss/percuss.mplstyle")
    fig, axes = plt.subplots(3, 2, figsize=(10.0, 13.0))
    for ax, (name, problem) in zip(axes.flat, PROBLEMS.items()):
        if name not in a.only.split(","):
            continue
        answer, own = answer_of(a.program, problem)
        print(f"\n{problem['title']} (`{problem['case']}`)" + (f", answer known to {own:.1e}" if own else ""))
        print("| scheme | 3 % | 1 % | 0.1 % |\n|---|---|---|---|")
        schemes = [(s, False) for s in problem["schemes"]] + [(s, True) for s in problem.get("lumped", [])]
        for scheme, is_lumped in schemes:
            runs = [run(a.program, problem, [f"scheme={{type: {scheme}}}", *settings], a.runs)
                    for settings in settings_of(problem, scheme, is_lumped)]
            rows = [r and (difference(r[0], r[1], answer), r[2], r[3]) for r in runs]
            report(ax, lines, name, scheme + (", lumped mass" if is_lumped else ""), rows)
        if name == "off grid":
            report(ax, lines, name, "Siconos: Moreau-Jean, theta 1/2", siconos(answer))
        ax.set(xscale="log", yscale="log", title=problem["title"], xlabel="time of the steps in ms",
               ylabel="mean error")
        ax.legend(fontsize=6)
    fig.savefig(a.picture, dpi=150)
    with open(a.table, "w", newline="") as file:
        csv.writer(file).writerows(lines)


def report(ax, lines, name, label, rows):
    print(f"| {label} | " + " | ".join(told(rows)) + " |", flush=True)
    made = [row for row in rows if row is not None]
    lines.extend((name, label, *row) for row in made)
    ax.plot([row[1] for row in made], [row[0] for row in made], marker=".", lw=1.0, label=label)


if __name__ == "__main__":
    main()
