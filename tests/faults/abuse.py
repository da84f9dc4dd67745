"""Numbers and models that make no sense, or that mechanics has no good answer to.

First chosen models, then every number of the shipped cases in turn, at random, against numbers that are zero, negative,
huge, tiny, infinite or none.
"""

import math
import os
import re

import faults

BAR = """
mesh: { bar: { type: line, from: [0, 0, 0], to: [TO, 0, 0], elements: 4 } }
elements: { bar: { type: rod, mesh: bar, E: 1.0e+9, rho: 1000.0, area: 1.0e-4 } }
"""
WALL = """
contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.5 } }
"""
RUN = "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-4, end: 1.0e-2 }\n"
BODY = """
mesh: { rod: { type: point, at: [0, 1, 0] } }
elements: { rod: { type: rigid_body_2d, mesh: rod, mass: 1.0, inertia: 0.05 } }
"""


def contacts():
    for e in ("0", "1"):
        for mu in ("0", "1", "1e6", "1e300"):
            yield f"restitution {e}, friction {mu}", BODY + f"""
initial: [ {{ set: rod, velocity: [3, -10, 0], spin: [0, 0, 5] }} ]
loads: {{ weight: {{ type: gravity, g: [0, -9.81, 0] }} }}
contacts:
  floor: {{ type: node_plane, nodes: rod, point: [0, 0, 0], normal: [0, 1, 0], node_radius: 0.1, restitution: {e},
           friction: {mu} }}
scheme: {{ type: moreau_jean, theta: 0.5 }}
time: {{ step: 1.0e-3, end: 1.0 }}
"""
    for count, solver, end in ((1000, "auto", 0.03), (1000, "newton", 0.002)):
        floor = "{ type: node_plane, nodes: rod, point: [0, 0.999, 0], normal: [0, 1, 0], restitution: 0 }"
        lines = "\n".join(f"  c{i}: {floor}" for i in range(count))
        yield f"{count} times the same contact, {solver}", BODY + f"""
loads: {{ weight: {{ type: gravity, g: [0, -9.81, 0] }} }}
contacts:
{lines}
solver: {{ type: {solver} }}
scheme: {{ type: alpha_ggl, rho_inf: 0.8 }}
time: {{ step: 1.0e-3, end: {end} }}
"""


def painleve():
    """A rod that slides on its tip: with much friction neither contact nor its loss has a consistent force."""
    for angle in (0.3, 0.5, 0.8, 1.1):
        for mu in (0.5, 1.5, 3.0, 10.0):
            for scheme in ("moreau_jean, theta: 0.5", "alpha_ggl, rho_inf: 0.8", "half_explicit"):
                x, y = math.cos(angle), math.sin(angle)
                yield f"Painleve {angle} {mu} {scheme}", f"""
mesh: {{ tip: {{ type: point, at: [0, 0, 0] }}, body: {{ type: point, at: [{x!r}, {y!r}, 0] }} }}
elements:
  tip: {{ type: rigid_body_2d, mesh: tip, mass: 1.0e-9, inertia: 1.0e-9 }}
  body: {{ type: rigid_body_2d, mesh: body, mass: 1.0, inertia: 0.333 }}
joints: {{ stick: {{ type: fixed, a: body, b: tip, at: [0, 0, 0] }} }}
initial: [ {{ set: tip, velocity: [-5, 0, 0] }}, {{ set: body, velocity: [-5, 0, 0] }} ]
loads: {{ weight: {{ type: gravity, g: [0, -9.81, 0] }} }}
contacts:
  floor: {{ type: node_plane, nodes: tip, point: [0, 0, 0], normal: [0, 1, 0], restitution: 0, friction: {mu} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-3, end: 0.3 }}
"""


def times():
    for step, end in (("1e-300", "1"), ("1e-20", "1"), ("1e-17", "1"), ("1e300", "1e301"), ("1e-300", "1e-299"),
                      ("5e-324", "5e-323"), ("1", "1e300"), ("0", "1"), (".nan", "1"), ("1", ".inf"), ("1e-4", "0")):
        times = RUN.replace("1.0e-4", step).replace("1.0e-2", end)
        yield f"step {step} to {end}", BAR.replace("TO", "1") + WALL + times


def forces():
    """A force that is too large for the numbers there are is told, and not lost."""
    for force in ("1e308", "1e300", "1e200"):
        for scheme in ("event_driven", "mannshardt", "alpha_ggl, rho_inf: 0.8", "half_explicit"):
            yield f"force {force} {scheme}", BODY + f"""
loads: {{ push: {{ type: force, node: rod, value: [0, -{force}, 0] }} }}
contacts: {{ floor: {{ type: node_plane, nodes: rod, point: [0, 0, 0], normal: [0, 1, 0], restitution: 0.5 }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-3, end: 1.0 }}
"""


NUMBERS = ["0", "-1", "1e300", "-1e300", "1e-300", "1e308", "5e-324", ".nan", ".inf", "-.inf", "1e30", "1e-30", "1e9",
           "0.0", "2147483648", "-2147483649", "1e5", "1e-8", "1e16"]


def keys(text):
    """Paths of all numbers of a resolved case in block style, and of entries of short lists."""
    stack, found = [], []
    for line in text.splitlines():
        match = re.match(r"^( *)([\w.-]+):(?: (.*))?$", line)
        if not match:
            continue
        depth = len(match.group(1))
        stack = [entry for entry in stack if entry[0] < depth] + [(depth, match.group(2))]
        path, value = ".".join(entry[1] for entry in stack), match.group(3) or ""
        if re.match(r"^[-+.\deE]+$", value):
            found.append((path, None))
        elif re.match(r"^\[[-+.\deE, ]+\]$", value):
            found.append((path, value))
    return found


def mutate(c):
    cases = []
    for folder in sorted(os.listdir(os.path.join(c.source, "cases"))):
        case = os.path.join(c.source, "cases", folder)
        step = re.search(r"step: ([-+.e\d]+)", open(os.path.join(case, "case.yaml")).read())
        end = f"time.end={20.0 * float(step.group(1))!r}" if step else "title=x"
        c.run("run", case, "--set", end, "--quiet", "-o", c.path("out"))
        cases += [(case, end, key) for key in keys(open(c.path("out", "case.resolved.yaml")).read())]
        if c.most is not None and cases:
            break
    c.check(len(cases) > 5, f"only {len(cases)} numbers were found in the cases")
    while c.goes_on():
        case, end, (path, value) = c.random.choice(cases)
        number = c.random.choice(NUMBERS)
        if value is not None:
            entries = value[1:-1].split(",")
            entries[c.random.randrange(len(entries))] = number
            number = "[" + ",".join(entries) + "]"
        # A long run that was asked for is no fault.
        if path in ("time.step", "time.end"):
            continue
        result = c.run("run", case, "--set", end, "--set", f"{path}={number}", "--quiet", "-o", c.path("out"))
        c.ends_well(f"{os.path.basename(case)} {path}={number}", result)


def campaign(c):
    for source in (contacts, painleve, times, forces):
        for name, text in source():
            if c.most is None or c.random.random() < 0.2:
                result = c.run("run", c.write("case.yaml", text), "--quiet", "-o", c.path("out"))
                c.ends_well(name, result, may_finish=source is not forces)
    mutate(c)


faults.main(campaign, "90")
