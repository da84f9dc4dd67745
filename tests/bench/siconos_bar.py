"""The same bar against the same wall in Percuss and in Siconos, side by side.

    python3 tests/bench/siconos_bar.py build/percuss

Both take Moreau-Jean steps with the same mesh, step, theta, restitution and number of steps; a contact is forecast at
q + h/2 v. Siconos is asked for dense and for sparse matrices and judged by its fastest step of all runs, Percuss by the
mean of its best run. Printed are the times per step, their ratio, and the largest differences of the two solutions over
all steps, each relative to the largest value of its quantity.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

CASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cases", "bar_impact")
YOUNG, DENSITY, AREA, LENGTH, SPEED = 900.0, 1.0, 1.0, 10.0, 10.0  # of the case, SI
RESTITUTION, THETA = 0.0, 1.0 / 1.8
RUNS = ((50, 200), (200, 600), (1000, 150))  # elements, steps
REPETITIONS = 3  # of the run in Percuss
QUANTITIES = ("tip.x", "tip.vx", "wall.gap", "wall.gap_rate", "wall.step_impulse")


def model(elements):
    """Step and initial gap: the wave crosses 1.2 elements in a step, the bar arrives in mid-step."""
    step = float(1.2 * LENGTH / elements / np.sqrt(YOUNG / DENSITY))
    return step, 5.3 * SPEED * step


def matrices(elements):
    """Consistent mass and stiffness as {(row, column): value}."""
    length = LENGTH / elements
    mass, stiffness = {}, {}
    for e in range(elements):
        for i in range(2):
            for j in range(2):
                place = (e + i, e + j)
                mass[place] = mass.get(place, 0.0) + DENSITY * AREA * length / 6.0 * (2.0 if i == j else 1.0)
                stiffness[place] = stiffness.get(place, 0.0) + YOUNG * AREA / length * (1.0 if i == j else -1.0)
    return mass, stiffness


def siconos_matrix(sk, entries, n, is_sparse):
    if not is_sparse:
        dense = np.zeros((n, n))
        for place, value in entries.items():
            dense[place] = value
        return dense
    sparse = sk.SimpleMatrix(n, n, sk.SPARSE, len(entries))
    for (i, j), value in entries.items():
        sparse.setValue(i, j, value)
    return sparse


def siconos_run(elements, steps, is_sparse):
    """Seconds of the fastest step and the history [steps, quantities]."""
    import siconos.kernel as sk

    n = elements + 1
    step, gap = model(elements)
    mass, stiffness = (siconos_matrix(sk, m, n, is_sparse) for m in matrices(elements))
    # The constructor does not take a sparse mass: it gets a placeholder.
    body = sk.LagrangianLinearTIDS(np.zeros(n), np.full(n, -SPEED), np.eye(n) if is_sparse else mass)
    if is_sparse:
        body.setMassPtr(mass)
    body.setKPtr(stiffness)
    direction = np.zeros((1, n))
    direction[0, 0] = 1.0
    wall = sk.Interaction(sk.NewtonImpactNSL(RESTITUTION), sk.LagrangianLinearTIR(direction, np.array([gap])))
    system = sk.NonSmoothDynamicalSystem(0.0, (steps + 1) * step)
    system.insertDynamicalSystem(body)
    system.link(wall, body)
    problem = sk.LCP()
    loop = sk.TimeStepping(system, sk.TimeDiscretisation(0.0, step), sk.MoreauJeanOSI(THETA), problem)

    history = np.zeros((steps, len(QUANTITIES)))
    seconds = np.zeros(steps)
    for k in range(steps):
        start = time.perf_counter()
        loop.computeOneStep()
        middle = time.perf_counter()
        q, v = body.q(), body.velocity()
        history[k] = (gap + LENGTH + q[-1], v[-1], gap + q[0], v[0], wall.lambda_(1)[0])
        resumed = time.perf_counter()
        loop.nextStep()
        seconds[k] = time.perf_counter() - resumed + middle - start
    return seconds.min(), history


def percuss_run(program, elements, steps, directory):
    """Seconds per step without and with its certificate, and the history [steps, quantities]."""
    step, gap = model(elements)
    settings = {
        "mesh.bar.elements": elements,
        "mesh.bar.from": f"[{gap!r}, 0, 0]",
        "mesh.bar.to": f"[{gap + LENGTH!r}, 0, 0]",
        "contacts.wall.restitution": RESTITUTION,
        "scheme": f"{{type: moreau_jean, theta: {THETA!r}}}",
        "time.step": repr(step),
        "time.end": repr(steps * step),
        "output.frames.every": 10 * steps,
    }
    command = [program, "run", CASE, "-o", directory, "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True)
    with open(os.path.join(directory, "summary.json"), encoding="utf-8") as file:
        wall_time = json.load(file)["wall_time"]
    with open(os.path.join(directory, "history.csv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if int(row["step"]) > 0]
    if len(rows) != steps:
        sys.exit(f"error: {program} wrote {len(rows)} steps, asked for were {steps}")
    history = np.array([[float(row[name]) for name in QUANTITIES] for row in rows])
    return wall_time["step"] / steps, (wall_time["step"] + wall_time["certify"]) / steps, history


def siconos_version():
    """Of the Debian package: the module says 4.5.0 of itself in the package 4.4.0."""
    answer = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "python3-siconos"], capture_output=True, text=True)
    return answer.stdout or "of unknown version"


def differences(ours, theirs):
    return np.abs(ours - theirs).max(axis=0) / np.abs(theirs).max(axis=0)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"Percuss and Siconos {siconos_version()}: a bar against a wall, Moreau-Jean, theta {THETA:.4f}, "
          f"e {RESTITUTION}")
    print(f"\n{'':24}{'us per step':^34}{'Siconos':>10}{'':4}largest difference of the solutions, relative")
    print(f"{'elements':>8}{'steps':>7}{'Percuss':>12}{'certified':>12}{'Siconos':>12}{'matrices':>10}{'/ Percuss':>11}"
          + "".join(f"{name:>15}" for name in ("tip x", "tip v", "contact x", "contact v", "impulse")))
    for elements, steps in RUNS:
        with tempfile.TemporaryDirectory() as directory:
            runs = [percuss_run(sys.argv[1], elements, steps, directory) for _ in range(REPETITIONS)]
        pure, certified = min(run[0] for run in runs), min(run[1] for run in runs)
        ours = runs[0][2]
        theirs = [(*siconos_run(elements, steps, storage == "sparse"), storage)
                  for storage in ("dense", "sparse")]
        seconds, history, storage = min(theirs, key=lambda run: run[0])
        print(f"{elements:8d}{steps:7d}{1e6 * pure:12.2f}{1e6 * certified:12.2f}{1e6 * seconds:12.1f}{storage:>10}"
              f"{seconds / pure:11.0f}" + "".join(f"{d:15.1e}" for d in differences(ours, history)), flush=True)


if __name__ == "__main__":
    main()
