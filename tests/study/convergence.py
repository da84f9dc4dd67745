"""How often does the bound of `percuss converge` hold the truth? Problems with exact answers, of many sizes, units and
speeds, on coarse meshes and steps: bars on walls and on each other, clamped bars, masses on springs and Hertz's law, a
stop, pendulums.

    /usr/bin/python3 tests/study/convergence.py build/percuss [CASES] [SEED]       [240 cases, seed 1]

A bound is judged on the third or fourth level, as the command would stop there. Bounds that are infinite, and values
that are exact to round-off, count apart."""

import os
import random
import sys
import tempfile

import numpy as np
from scipy.special import ellipj, ellipk

PROGRAM = os.path.abspath(sys.argv[1])
os.environ["PERCUSS_LIBRARY"] = os.path.join(os.path.dirname(PROGRAM), "libpercuss.so.0")
sys.path.insert(0, "python")
from percuss._converge import Convergence  # noqa: E402

SCHEMES = ("alpha_ggl, rho_inf: 0.8", "alpha_ggl, rho_inf: 0.4", "moreau_jean, theta: 0.5", "moreau_jean, theta: 0.8",
           "newmark", "hht", "jump_newmark, rho_inf: 0.8")
ROUND_OFF = 1e-9
PLANE = "contacts: {{ hit: {{ type: node_plane, nodes: {}, point: [0, 0, 0], normal: [1, 0, 0], {} }} }}\n"


def size(r, low, high):
    """A size whose logarithm is uniform."""
    return float(low * (high / low) ** r.random())


def finish(r, text, step, end, probe=""):
    """The case with a scheme, a time and a probe."""
    probes = f", probes: {{ tip: {{ node: {probe}, of: [x, vx] }} }}" if probe else ""
    return (f"{text}scheme: {{ type: {r.choice(SCHEMES)} }}\ntime: {{ step: {step!r}, end: {end!r} }}\n"
            f"output: {{ frames: false{probes} }}\n")


def bars(r, count):
    """Mesh and elements of bars one after another, with a gap between them; their data."""
    length, E, rho, area = size(r, 0.01, 10.0), size(r, 1.0, 1e12), size(r, 0.5, 2e4), size(r, 1e-6, 1.0)
    c, n = (E / rho) ** 0.5, r.choice((6, 10, 16))
    gap, V = length * r.uniform(0.001, 0.01), c * size(r, 1e-4, 1e-2)
    names, starts = ("a", "b")[:count], [0.0, length + gap] if count == 2 else [gap]
    lines = [f"  {k}: {{ type: line, from: [{x!r}, 0, 0], to: [{x + length!r}, 0, 0], elements: {n} }}\n"
             for k, x in zip(names, starts)]
    rods = [f"  {k}: {{ type: rod, mesh: {k}, E: {E!r}, rho: {rho!r}, area: {area!r} }}\n" for k in names]
    text = "mesh:\n" + "".join(lines) + "elements:\n" + "".join(rods)
    return text, length, c, rho * area * length, gap, V, length / c / n * r.uniform(0.3, 1.5)


def bar_on_wall(r):
    text, length, c, mass, gap, V, h = bars(r, 1)
    text += f"initial: [{{ set: a, velocity: [{-V!r}, 0, 0] }}]\n" + PLANE.format("a.start", "restitution: 0.0")
    flight, travel = gap / V, length / c
    x = gap + length - V * (flight + travel) + 0.5 * V * travel  # half a travel time after the wave has come
    end = flight + 3.0 * travel
    return finish(r, text, min(h, end / 40), end, "a.end"), {
        "hit.total_impulse": 2.0 * mass * V, "hit.time_in_contact": 2.0 * travel,
        f"at(tip.x, {flight + 1.5 * travel!r})": x,
        f"filtered_peak(hit, {0.5 * travel!r})": mass * V / travel}


def two_bars(r):
    text, length, c, mass, gap, V, h = bars(r, 2)
    text += f"initial: [{{ set: a, velocity: [{V!r}, 0, 0] }}]\n"
    text += "contacts: { hit: { type: node_node, a: a.end, b: b.start, normal: [1, 0, 0], restitution: 0.0 } }\n"
    end = gap / V + 3.0 * length / c
    return finish(r, text, min(h, end / 40), end), {"hit.total_impulse": mass * V}


def clamped_bar(r):
    text, length, c, _, gap, V, h = bars(r, 1)
    text += "supports: { clamp: { set: a.start, fix: [x] } }\n"
    text += f"initial: [{{ set: a.rest, velocity: [{V!r}, 0, 0] }}]\n"
    travel, part = length / c, r.uniform(0.2, 0.8)
    return finish(r, text, h, 4.0 * travel, "a.end"), {  # the tip goes on until the wave comes
        f"at(tip.x, {(1.0 + part) * travel!r})": gap + length + V * (1.0 - part) * travel,
        f"at(tip.vx, {1.5 * travel!r})": -V}


def mass_on_law(r):
    m, V, power = size(r, 1e-3, 1e3), size(r, 0.01, 50.0), r.choice((1.0, 1.5))
    k, gap = size(r, 1e2, 1e9), V * 1e-3 * r.uniform(0.5, 2.0)
    law = f"law: {{ type: {'linear' if power == 1.0 else 'hertz'}, stiffness: {k!r} }}"
    depth = ((power + 1.0) * 0.5 * m * V**2 / k) ** (1.0 / (power + 1.0))
    duration = np.pi * (m / k) ** 0.5 if power == 1.0 else 2.94327 * depth / V
    gap = V * duration * r.uniform(0.2, 0.8)
    text = f"mesh: {{ bar: {{ type: point, at: [{gap!r}, 0, 0] }} }}\n"
    text += f"elements: {{ bar: {{ type: point_mass, mesh: bar, mass: {m!r}, in: line }} }}\n"
    text += f"initial: [{{ set: bar, velocity: [{-V!r}, 0, 0] }}]\n" + PLANE.format("bar", law)
    return finish(r, text, float(duration / r.uniform(8.0, 30.0)), float(gap / V + 1.4 * duration)), {
        "hit.total_impulse": 2.0 * m * V, "peak(hit.force)": k * depth**power, "hit.time_in_contact": float(duration)}


def pendulum(r):
    g, length, angle = r.uniform(1.0, 20.0), size(r, 0.1, 10.0), r.uniform(0.1, 1.0)
    w, modulus = (g / (1.1 * length)) ** 0.5, np.sin(0.5 * angle) ** 2
    text = (f"system: {{ type: pendulum, mass: 1.0, inertia: {0.1 * length**2!r}, length: {length!r}, gravity: {g!r}, "
            f"angle: {angle - 0.5 * np.pi!r}, wall: {-10.0 * length!r} }}\n")
    t = r.uniform(0.5, 2.0) / w
    phase = float(ellipk(modulus) - w * t)
    theta = 2.0 * float(np.arcsin(np.sqrt(modulus) * ellipj(phase, modulus)[0]))
    return finish(r, text, t / r.uniform(8.0, 30.0), 1.5 * t), {f"at(theta, {t!r}) + pi/2": theta}


def stop(r):
    k, m, e, x = size(r, 1.0, 1e6), size(r, 0.01, 100.0), r.uniform(0.2, 0.9), size(r, 1e-3, 1.0)
    w = (k / m) ** 0.5
    text = (f"system: {{ type: impacting_oscillator, mass: {m!r}, stiffness: {k!r}, position: {x!r}, "
            f"restitution: {e!r} }}\n")
    t = 0.5 * np.pi / w
    late = r.uniform(0.3, 1.2)
    return finish(r, text, float(t / r.uniform(10.0, 30.0)), float(t + 2.0 / w)), {
        f"at(position, {float(t + late / w)!r})": float(e * x * np.sin(late))}


PROBLEMS = (bar_on_wall, two_bars, clamped_bar, mass_on_law, pendulum, stop)


def main():
    count, seed = ([*map(int, sys.argv[2:4]), 240, 1][k] if len(sys.argv) > 2 + k else (240, 1)[k] for k in (0, 1))
    r, found = random.Random(seed), []
    for number in range(count):
        problem, level = PROBLEMS[number % len(PROBLEMS)], r.choice((2, 3))
        text, exact = problem(r)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.yaml")
            with open(path, "w") as file:
                file.write(text)
            one = Convergence(path, {name: name for name in exact}, [], folder, 2)
            one.find_kinds()
            one.make([place for places in one.places(level).values() for place in places])
        for name, truth in exact.items():
            answer = one.judge(name, level)
            found.append((problem.__name__, number, name.split("(")[0].split(".")[-1], answer.parts["both"].kind,
                          abs(answer.value - truth) / abs(truth), answer.bound / abs(truth)))
    table("all", found)
    for name in dict.fromkeys(row[0] for row in found):
        table(name, [row for row in found if row[0] == name])
    for kind in dict.fromkeys(row[3] for row in found):
        table(kind, [row for row in found if row[3] == kind])


def table(name, rows):
    """One line: values, those with a bound, how many of these hold, median of bound over error."""
    judged = [(error, bound) for *_, error, bound in rows if np.isfinite(bound) and error > ROUND_OFF]
    held = sum(error <= bound for error, bound in judged)
    width = np.median([bound / error for error, bound in judged]) if judged else np.nan
    error = np.median([error for error, _ in judged]) if judged else np.nan
    print(f"| {name} | {len(rows)} | {len(judged)} | {100.0 * held / max(len(judged), 1):.0f} % | {width:.1f} | "
          f"{100 * error:.2g} % |")


if __name__ == "__main__":
    main()
