"""How often is the verdict on resolution right? Runs with known answers, from absurd to fine meshes and steps.

    python3 tests/study/resolution.py build/percuss           1,200 runs, some minutes on two cores
    python3 tests/study/resolution.py build/percuss --quick   120 runs
    ... --runs N, --seed N, --table FILE                      figures of every run as CSV

The error of a run is the largest of impulse, duration, velocity and filtered peak (window a tenth of the contact) of
the first contact, or of the momentum over all of a run without contact, relative to the exact answer. Problems marked
'new' had no part in the choice of the rules. All bars have E = rho = A = 1, so c = Z = 1."""

import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

GOOD, BAD = 0.02, 0.2
V = 0.01  # m/s, speed of impact
IMPLICIT = ("alpha_ggl, rho_inf: 0.8", "alpha_ggl, rho_inf: 0.3", "alpha_ggl, rho_inf: 1.0", "moreau_jean, theta: 0.5",
            "moreau_jean, theta: 1.0", "newmark", "hht", "alpha_velocity", "ggl_midpoint, metric: mass",
            "jump_newmark, rho_inf: 0.8")
EXPLICIT = ("half_explicit", "schatzman_paoli", "moreau_midpoint")
GRAIN = 2000  # steps of the exact solutions in a travel time


def rod(name, at, n, area=1.0):
    return (f"  {name}: {{ type: line, from: [{at:.12g}, 0, 0], to: [{at + 1.0:.12g}, 0, 0], elements: {n} }}\n",
            f"  {name}: {{ type: rod, mesh: {name}, E: 1.0, rho: 1.0, area: {area} }}\n")


def case(parts, rest):
    return "mesh:\n" + "".join(p[0] for p in parts) + "elements:\n" + "".join(p[1] for p in parts) + rest


def wall(law, node="bar.start"):
    return f"contacts: {{ hit: {{ type: node_plane, nodes: {node}, point: [0, 0, 0], normal: [1, 0, 0], {law} }} }}\n"


def march(mass=0.0, stiffness=math.inf, power=1.0):
    """Force over time of a bar of length 1, with a mass at its rear, that meets a rigid wall or one of a force law: the
    characteristics N + Z v and N - Z v on a grid, the ends by their equations."""
    h, delay = 1.0 / GRAIN, GRAIN
    to_wall, to_rear, force = [V] * delay, [-V] * delay, []  # the bar flies with -V and is free of force
    depth, rear = 0.0, -V
    while len(force) < 40 * GRAIN:
        j = to_wall[-delay]
        if math.isinf(stiffness):
            N, v = j, 0.0
        else:  # depth' = j - N(depth), implicit midpoint by two corrections
            new = depth
            for _ in range(4):
                N = stiffness * max(0.5 * (depth + new), 0.0) ** power
                new = depth + h * (j - N)
            depth, v = new, N - j
        if N <= 0.0 and len(force) > 10:
            break
        force.append(N)
        i = to_rear[-delay]
        if mass > 0.0:  # mass v' = N(rear) = i - v
            before = rear
            rear = i + (rear - i) * math.exp(-h / mass)
            at_rear = 0.5 * (rear + before)
        else:
            at_rear = i
        to_wall.append((i - at_rear) - at_rear)
        to_rear.append(N + v)
    return np.arange(len(force) + 1) * h, np.array(force) * h


def known(t, steps, mass):
    """Exact impulse, duration, filtered peak and mass from impulses of steps."""
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return {"impulse": total[-1], "duration": t[-1], "peak": filtered(t, total, t[-1]), "mass": mass}


def filtered(t, total, duration):
    """Largest moving mean over a tenth of the contact."""
    window = 0.1 * duration
    ends = np.linspace(t[0] + window, max(t[-1], t[0] + window), 2000)
    return max((np.interp(ends, t, total) - np.interp(ends - window, t, total)) / window)


def flat(force, duration, mass):
    return {"impulse": force * duration, "duration": duration, "peak": force, "mass": mass}


CACHE = {}


def marched(bar_mass, **keys):
    name = str(sorted(keys.items()))
    if name not in CACHE:
        CACHE[name] = known(*march(**keys), bar_mass)
    return CACHE[name]


def bar(r, n, law="restitution: 0.0", mass=0.0):
    gap = r.uniform(0.05, 1.0) * V
    parts = [rod("bar", gap, n)]
    rest = f"initial: [{{ set: bar, velocity: [-{V}, 0, 0] }}]\n" + wall(law)
    if mass > 0.0:
        parts.append(("  tip: { type: point, at: [%.12g, 0, 0] }\n" % (gap + 1.0),
                      f"  tip: {{ type: point_mass, mesh: tip, mass: {mass}, in: line }}\n"))
        rest = "merge: { rear: { sets: [bar.end, tip] } }\n" + rest
    return case(parts, rest), gap / V


def bar_on_wall(r, n):
    text, flight = bar(r, n)
    return text, flight, flat(V, 2.0, 1.0)


def bar_with_mass(r, n, masses=(0.3, 1.0)):
    mass = r.choice(masses)
    text, flight = bar(r, n, mass=mass)
    return text, flight, marched(1.0 + mass, mass=mass)


def bar_with_heavy_mass(r, n):
    return bar_with_mass(r, n, (2.0, 4.0))


def bar_on_spring(r, n):
    k = r.choice((0.3, 1.0, 5.0))
    text, flight = bar(r, n, f"law: {{ type: linear, stiffness: {k} }}")
    return text, flight, marched(1.0, stiffness=k)


def mass_bar_on_spring(r, n):
    text, flight = bar(r, n, "law: { type: linear, stiffness: 2.0 }", 0.5)
    return text, flight, marched(1.5, stiffness=2.0, mass=0.5)


def bar_on_hertz(r, n, mass=0.0):
    text, flight = bar(r, n, "law: { type: hertz, stiffness: 20.0 }", mass)
    return text, flight, marched(1.0 + mass, stiffness=20.0, power=1.5, mass=mass)


def mass_bar_on_hertz(r, n):
    return bar_on_hertz(r, n, 0.5)


def two_bars(r, n, area=1.0):
    gap = r.uniform(0.05, 1.0) * V
    text = case([rod("a", 0.0, n), rod("b", 1.0 + gap, n, area)],
                f"initial: [{{ set: a, velocity: [{V}, 0, 0] }}]\n"
                "contacts: { hit: { type: node_node, a: a.end, b: b.start, normal: [1, 0, 0], restitution: 0.0 } }\n")
    return text, gap / V, flat(V * area / (1.0 + area), 2.0, 1.0)


def unequal_bars(r, n):
    return two_bars(r, n, r.choice((0.3, 3.0)))


def rigid_mass(law):
    return lambda gap: case([("  bar: { type: point, at: [%.12g, 0, 0] }\n" % gap,
                              "  bar: { type: point_mass, mesh: bar, mass: 1.0, in: line }\n")],
                            f"initial: [{{ set: bar, velocity: [-{V}, 0, 0] }}]\n" + wall(law, "bar"))


def mass_on_spring(r, n):
    gap, k = r.uniform(0.05, 1.0) * V, 4.0
    w = math.sqrt(k)
    t = np.linspace(0.0, math.pi / w, 4001)
    steps = np.diff(-V * np.cos(w * t))
    return rigid_mass(f"law: {{ type: linear, stiffness: {k} }}")(gap), gap / V, known(t, steps, 1.0)


def falling_mass(r, n):
    """A mass falls on a floor: time of the impact, impulse and speed afterwards."""
    height, e = r.uniform(0.2, 2.0), r.choice((0.3, 0.5, 0.9))
    text = case([("  bar: { type: point, at: [%.12g, 0, 0] }\n" % height,
                  "  bar: { type: point_mass, mesh: bar, mass: 1.0, in: line }\n")],
                "loads: { g: { type: gravity, g: [-10.0, 0, 0] } }\n" + wall(f"restitution: {e}", "bar"))
    flight = math.sqrt(0.2 * height)
    return text, flight, {"impulse": (1.0 + e) * 10.0 * flight, "flight": flight}


def oscillator(r, n):
    """A mass on a spring meets a stop at its position of rest."""
    e = r.choice((0.3, 0.8))
    text = f"system: {{ type: impacting_oscillator, mass: 1.0, stiffness: 4.0, position: 1.0, restitution: {e} }}\n"
    return text, math.pi / 4.0, {"impulse": (1.0 + e) * 2.0, "flight": math.pi / 4.0}


def free_rod(r, n):
    """A clamped rod with uniform velocity: its momentum is a triangle."""
    text = case([rod("bar", 0.0, n)], "supports: { clamp: { set: bar.start, fix: [x] } }\n"
                f"initial: [{{ set: bar.rest, velocity: [{V}, 0, 0] }}]\n")
    return text, 8.0, {"momentum": lambda t: V * (1.0 - 2.0 * np.abs((t / 2.0 + 1.0) % 2.0 - 1.0)), "axis": "x"}


def free_beam(r, n):
    """A beam between hinges under a sudden load: Timoshenko's frequencies, shapes of sines."""
    text = ("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: %d } }\n" % n +
            "elements: { bar: { type: beam_timo_2d, mesh: bar, E: 1.0, nu: 0.3, rho: 1.0, section: { type: rectangle, "
            "width: 0.01, height: 0.01, shear_factor: 0.8333333333 } } }\nsupports: { a: { set: bar.start, "
            "fix: [x, y] }, b: { set: bar.end, fix: [y] } }\nloads: { g: { type: gravity, g: [0, -1.0, 0] } }\n")
    k, radius2, soft = np.pi * np.arange(1, 60, 2), 1e-4 / 12.0, 2.6 * 1.2  # E/(kappa G)
    b = 1.0 + radius2 * (1.0 + soft) * k ** 2
    w = np.sqrt((b - np.sqrt(b ** 2 - 4.0 * radius2 ** 2 * soft * k ** 4)) / (2.0 * radius2 * soft))
    series = lambda t: -1e-4 * np.sin(np.outer(t, w)) @ (8.0 / k ** 2 / w)
    return text, 4.0 * math.pi / w[0], {"momentum": series, "axis": "y"}


# problem, and whether it took part in the choice of the rules
PROBLEMS = {
    "bar on wall": (bar_on_wall, True), "bar with mass": (bar_with_mass, True), "two bars": (two_bars, True),
    "bar on spring": (bar_on_spring, True), "mass on spring": (mass_on_spring, True),
    "bar on Hertz": (bar_on_hertz, True), "falling mass": (falling_mass, True), "clamped rod": (free_rod, True),
    "unequal bars": (unequal_bars, False), "bar with heavy mass": (bar_with_heavy_mass, False),
    "mass and bar on Hertz": (mass_bar_on_hertz, False), "mass and bar on spring": (mass_bar_on_spring, False),
    "oscillator on stop": (oscillator, False), "hinged beam": (free_beam, False)}


def draw(r, name):
    """Text of a case of random mesh, step and scheme, with its exact answer."""
    problem = PROBLEMS[name][0]
    n = round(10 ** r.uniform(math.log10(2), math.log10(400)))
    text, flight, exact = problem(r, n)
    duration = exact.get("duration", 0.0)
    end = flight + 1.3 * duration if duration else flight * (1.0 if "momentum" in exact else 1.2)
    scale = duration or flight
    h = scale / 10 ** r.uniform(0.5, 3.5 if n < 150 else 3.0)
    scheme = r.choice(IMPLICIT + EXPLICIT)
    is_rod = "type: rod" in text
    if is_rod and h * n > 0.5 or "beam" in text:
        scheme = r.choice(IMPLICIT)
    if is_rod and "law:" not in text and r.random() < 0.06:
        scheme, h = "wave", 1.0 / n
    text += f"scheme: {{ type: {scheme} }}\ntime: {{ step: {h:.9g}, end: {end:.9g} }}\n"
    return text + "output: { frames: false, view: false, checkpoint: false, history: { every: 1 } }\n", exact


def measure(rows, exact):
    """Largest relative error; infinite where there is no contact."""
    t = np.array([float(row["t"]) for row in rows])
    if "momentum" in exact:
        p, want = np.array([float(row[f"momentum_{exact['axis']}"]) for row in rows]), exact["momentum"](t)
        return float(np.max(np.abs(p - want)) / np.max(np.abs(want)))
    column = next(key for key in rows[0] if key.endswith(".step_impulse"))
    steps = np.array([float(row[column] or 0.0) for row in rows])
    touched = np.flatnonzero(steps > 1e-9 * exact["impulse"])
    if not len(touched):
        return math.inf
    first = touched[0]
    if "flight" in exact:
        impact = sum(steps[first:first + 3])  # some schemes take more than one step
        return max(abs(impact / exact["impulse"] - 1.0), abs(t[first] / exact["flight"] - 1.0))
    last = first
    for i in touched[1:]:
        if t[i - 1] - t[last] > 0.05 * exact["duration"]:
            break
        last = i
    times, total = t[first - 1:last + 1], np.concatenate([[0.0], np.cumsum(steps[first:last + 1])])
    return max(abs(total[-1] / exact["impulse"] - 1.0), abs(total[-1] - exact["impulse"]) / (exact["mass"] * V),
               abs((times[-1] - times[0]) / exact["duration"] - 1.0),
               abs(filtered(times, total, exact["duration"]) / exact["peak"] - 1.0))


def run(program, name, text, exact):
    """Figures of a run; None if the program refuses it or it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "case.yaml")
        path.write_text(text)
        done = subprocess.run([program, "run", str(path), "-q", "-o", folder + "/out"], capture_output=True, text=True)
        if done.returncode:
            return None
        with open(folder + "/out/summary.json") as file:
            found = json.load(file)["resolution"]
        with open(folder + "/out/history.csv", newline="") as file:
            rows = list(csv.DictReader(file))
    found.update(problem=name, error=measure(rows, exact), scheme=text.split("scheme: { type: ")[1].split(" }")[0])
    return {key: value for key, value in found.items() if not isinstance(value, dict)}


def line(name, runs):
    of = {verdict: [r["error"] for r in runs if r["verdict"] == verdict] for verdict in
          ("resolved", "coarse", "unresolved")}
    good = [r for r in runs if r["error"] < GOOD]
    right, wrong = sum(e < GOOD for e in of["resolved"]), sum(e > BAD for e in of["unresolved"])
    found = sum(r["verdict"] == "resolved" for r in good)
    worst = f"{100 * max(of['resolved']):.1f} %" if of["resolved"] else "-"
    print(f"| {name} | {len(runs)} | {right} of {len(of['resolved'])} | {worst} | {wrong} of {len(of['unresolved'])} "
          f"| {found} of {len(good)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table")
    a = parser.parse_args()
    r, names = random.Random(a.seed), list(PROBLEMS)
    jobs = [(name, *draw(r, name)) for name in (names[i % len(names)] for i in range(120 if a.quick else a.runs))]
    with ThreadPoolExecutor(2) as pool:
        runs = [x for x in pool.map(lambda job: run(a.program, *job), jobs) if x is not None]
    print(f"{len(runs)} of {len(jobs)} runs were made; the others were refused or failed\n")
    print("| problem | runs | resolved: error < 2 % | worst | unresolved: error > 20 % | good ones called resolved |")
    print("|---|---|---|---|---|---|")
    for name in names:
        line(name + ("" if PROBLEMS[name][1] else " (new)"), [x for x in runs if x["problem"] == name])
    for title, is_old in (("**all that chose the rules**", True), ("**all new**", False)):
        line(title, [x for x in runs if PROBLEMS[x["problem"]][1] == is_old])
    line("**all**", runs)
    if a.table:
        with open(a.table, "w", newline="") as file:
            out = csv.DictWriter(file, list(runs[0]))
            out.writeheader()
            out.writerows(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
