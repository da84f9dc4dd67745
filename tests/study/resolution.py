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
from scipy.integrate import solve_ivp

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


def march(mass=0.0, stiffness=math.inf, power=1.0, target=0.0):
    """Force over time of a bar of length 1, with a mass at its rear, that meets a rigid wall, one of a force law, or a
    free mass: the characteristics N + Z v and N - Z v on a grid, the ends by their equations."""
    h, delay = 1.0 / GRAIN, GRAIN
    to_wall, to_rear, force = [V] * delay, [-V] * delay, []  # the bar flies with -V and is free of force
    depth, rear, pushed = 0.0, -V, 0.0
    while len(force) < 40 * GRAIN:
        j = to_wall[-delay]
        if target > 0.0:  # target pushed' = N = j - pushed
            before = pushed
            pushed = j + (pushed - j) * math.exp(-h / target)
            N, v = j - 0.5 * (before + pushed), -0.5 * (before + pushed)
        elif math.isinf(stiffness):
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


def bar_on_mass(r, n):
    """A bar meets a free mass."""
    gap, mass = r.uniform(0.05, 1.0) * V, r.choice((0.3, 1.0, 3.0))
    point = ("  mass: { type: point, at: [0, 0, 0] }\n",
             f"  mass: {{ type: point_mass, mesh: mass, mass: {mass}, in: line }}\n")
    text = case([rod("bar", gap, n), point], f"initial: [{{ set: bar, velocity: [-{V}, 0, 0] }}]\n"
                "contacts: { hit: { type: node_node, a: mass, b: bar.start, normal: [1, 0, 0], restitution: 0.0 } }\n")
    return text, gap / V, marched(1.0, target=mass)


def stepped_bar(r, n):
    """A bar of two sections meets a wall: part of each wave passes the joint, the rest comes back."""
    gap, area = r.uniform(0.05, 1.0) * V, r.choice((0.4, 0.6, 1.7, 2.5))
    text = case([rod("bar", gap, n), rod("rear", gap + 1.0, n, area)],
                "merge: { joint: { sets: [bar.end, rear.start] } }\n"
                f"initial: [{{ set: bar, velocity: [-{V}, 0, 0] }}, {{ set: rear, velocity: [-{V}, 0, 0] }}]\n" +
                wall("restitution: 0.0"))
    h, delay, force = 1.0 / GRAIN, GRAIN, []
    to_wall, from_wall, to_joint, from_joint = [V] * delay, [-V] * delay, [area * V] * delay, [-area * V] * delay
    while to_wall[-delay] > 0.0:  # N - Z v and N + Z v of both parts
        force.append(to_wall[-delay])
        i, j = from_wall[-delay], to_joint[-delay]
        N, v = (area * i + j) / (1.0 + area), (i - j) / (1.0 + area)
        to_joint.append(-from_joint[-delay])
        from_wall.append(force[-1])
        to_wall.append(N - v)
        from_joint.append(N + area * v)
    return text, gap / V, known(np.arange(len(force) + 1) * h, np.array(force) * h, 1.0 + area)


def mass_on_hertz(r, n):
    gap, k = r.uniform(0.05, 1.0) * V, 20.0
    deepest = (1.25 * V ** 2 / k) ** 0.4
    depth = deepest * np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, 4001)) ** 2  # x'^2 = V^2 - 4/5 k x^2.5
    speed = np.sqrt(np.maximum(V ** 2 - 0.8 * k * depth ** 2.5, 0.0))
    t = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(depth) / (speed[1:] + speed[:-1]))])
    t, speed = np.concatenate([t, 2.0 * t[-1] - t[-2::-1]]), np.concatenate([speed, -speed[-2::-1]])
    return (rigid_mass(f"law: {{ type: hertz, stiffness: {k} }}")(gap), gap / V, known(t, -np.diff(speed), 1.0))


def pushed_rod(r, n):
    """A force at the end of a clamped rod begins suddenly: the momentum is a triangle."""
    text = case([rod("bar", 0.0, n)], "supports: { clamp: { set: bar.start, fix: [x] } }\n"
                "loads: { push: { type: force, set: bar.end, value: [0.01, 0, 0] } }\n")
    return text, 8.0, {"momentum": lambda t: 0.01 * (1.0 - np.abs((t + 1.0) % 4.0 - 2.0)), "axis": "x"}


def clamped_beam(r, n, is_free=False):
    """A slender beam, clamped at one or both ends, under a sudden load: Bernoulli's frequencies and momenta."""
    text = ("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: %d } }\n" % n +
            "elements: { bar: { type: beam_timo_2d, mesh: bar, E: 1.0, nu: 0.3, rho: 1.0, section: { type: rectangle, "
            "width: 0.005, height: 0.005, shear_factor: 0.8333333333 } } }\n"
            "supports: { a: { set: bar.start, fix: [x, y, rz] }" +
            (" }\n" if is_free else ", b: { set: bar.end, fix: [y, rz] } }\n") +
            "loads: { g: { type: gravity, g: [0, -1.0, 0] } }\n")
    if is_free:  # tan(k/2) tanh(k/2) = +-1: both signs; else tan(k/2) = -tanh(k/2), the symmetric modes
        k = np.concatenate([[1.875104068711961, 4.694091132974174, 7.854757438237613],
                            np.pi * (np.arange(4, 40) - 0.5)])
        weight = (2.0 * (np.sinh(k) - np.sin(k)) / (np.cosh(k) + np.cos(k)) / k) ** 2
    else:
        k = np.concatenate([[4.730040744862704, 10.995607838001671], np.pi * (np.arange(5, 80, 2) + 0.5)])
        weight = (4.0 * np.tanh(0.5 * k) / k) ** 2
    w = k ** 2 * math.sqrt(2.5e-5 / 12.0)
    series = lambda t: -2.5e-5 * np.sin(np.outer(t, w)) @ (weight / w)
    return text, 4.0 * math.pi / w[0], {"momentum": series, "axis": "y"}


def cantilever(r, n):
    return clamped_beam(r, n, True)


def pendulum(r, n, links=1):
    """Masses on massless links swing from rest; the motion by a fine integration of the same equations."""
    angles = [r.uniform(-1.2, 0.2) for _ in range(links)]
    x = np.cumsum([[math.cos(a), math.sin(a)] for a in angles], axis=0)
    names = [f"m{k}" for k in range(links)]
    text = "".join([
        "mesh:\n", *(f"  {m}: {{ type: point, at: [{p[0]:.17g}, {p[1]:.17g}, 0] }}\n" for m, p in zip(names, x)),
        "elements:\n", *(f"  {m}: {{ type: point_mass, mesh: {m}, mass: 1.0, in: plane }}\n" for m in names),
        "joints:\n  pin: { type: distance, node: m0, anchor: [0, 0, 0] }\n",
        *(f"  link: {{ type: distance, a: {a}, b: {b} }}\n" for a, b in zip(names, names[1:])),
        "loads: { g: { type: gravity, g: [0, -10.0, 0] } }\n"])

    def rates(t, y):
        q, v = y.reshape(2, links, 2)
        G = np.zeros((links, links, 2))
        w = np.diff(v, axis=0, prepend=[[0.0, 0.0]])
        for k, d in enumerate(np.diff(q, axis=0, prepend=[[0.0, 0.0]])):
            G[k, k] = d
            if k:
                G[k, k - 1] = -d
        G, free = G.reshape(links, -1), np.tile([0.0, -10.0], links)
        force = np.linalg.solve(G @ G.T, -(w * w).sum(axis=1) - G @ free)
        return np.concatenate([v.ravel(), free + G.T @ force])

    motion = solve_ivp(rates, (0.0, 4.0), np.concatenate([x.ravel(), np.zeros(2 * links)]), "DOP853", rtol=1e-10,
                       atol=1e-10, dense_output=True).sol
    return text, 3.9, {"momentum": lambda t: motion(t)[2 * links + 1::2].sum(axis=0), "axis": "y"}


def double_pendulum(r, n):
    return pendulum(r, n, 2)


# problem, and whether it took part in the choice of the rules
PROBLEMS = {
    "bar on wall": (bar_on_wall, True), "bar with mass": (bar_with_mass, True), "two bars": (two_bars, True),
    "bar on spring": (bar_on_spring, True), "mass on spring": (mass_on_spring, True),
    "bar on Hertz": (bar_on_hertz, True), "falling mass": (falling_mass, True), "clamped rod": (free_rod, True),
    "unequal bars": (unequal_bars, True), "bar with heavy mass": (bar_with_heavy_mass, True),
    "mass and bar on Hertz": (mass_bar_on_hertz, True), "mass and bar on spring": (mass_bar_on_spring, True),
    "oscillator on stop": (oscillator, True), "hinged beam": (free_beam, True), "cantilever": (cantilever, True),
    "bar on mass": (bar_on_mass, False), "stepped bar": (stepped_bar, False), "mass on Hertz": (mass_on_hertz, False),
    "pushed rod": (pushed_rod, False), "clamped beam": (clamped_beam, False), "pendulum": (pendulum, False),
    "double pendulum": (double_pendulum, False)}


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
    if is_rod and h * n > 0.5 or "beam" in text or "distance" in text:
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
