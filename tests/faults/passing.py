"""Bodies that are fast for their steps: none may go through another one, or round it on the wrong side, certified.

With restitution 1 a point that meets a circle off its middle by less than 0.7 of the radius flies back; so does one
that meets a beam. Sizes, speeds, angles, offsets, units, steps, schemes and step control are drawn at random.
"""

import math

import faults

SCHEMES = ["alpha_ggl, rho_inf: 0.8", "moreau_jean, theta: 0.5", "newmark, gamma: 0.5", "hht, alpha: 0.1",
           "half_explicit", "moreau_midpoint", "schatzman_paoli", "event_driven",
           "jump_newmark, gamma: 0.5", "ggl_midpoint, metric: mass", "mannshardt", "tdg_minus",
           "splitting, contact_forces: true"]
EQUAL_STEPS = ("schatzman_paoli", "splitting")  # neither step control nor smaller steps


def draw(c):
    """Lengths in units of L, a speed, and a step that moves the body by `pace` radii."""
    r = c.random
    d = {"L": 10.0 ** r.uniform(-4, 3), "speed": 10.0 ** r.uniform(-3, 4), "pace": 10.0 ** r.uniform(-1.0, 2.0)}
    d["angle"] = r.uniform(0.0, 2.0 * math.pi) if r.random() < 0.7 else r.randrange(4) * 0.5 * math.pi
    d["offset"] = r.choice([0.0, r.uniform(-0.6, 0.6)])
    d["phase"] = r.uniform(3.0, 3.0 + 2.0 * d["pace"])  # radii from the middle at the start
    d["scheme"] = r.choice(SCHEMES)
    d["h"] = d["pace"] * d["L"] / d["speed"]
    d["way"] = [math.cos(d["angle"]), math.sin(d["angle"])]
    d["across"] = [-d["way"][1], d["way"][0]]
    return d


def timing(c, d):
    end = (2.0 * d["phase"] + 4.0 * d["pace"]) * d["L"] / d["speed"]
    if c.random.random() < 0.3 and not d["scheme"].startswith(EQUAL_STEPS):
        tolerance = 10.0 ** c.random.uniform(-8, -3)
        return f"{{ step: {d['h']!r}, end: {end!r}, control: {{ type: adaptive, tolerance: {tolerance!r} }} }}"
    retry = "" if c.random.random() < 0.8 else ", retry: 0"
    return f"{{ step: {d['h']!r}, end: {end!r}{retry} }}"


def vector(xs):
    return "[" + ", ".join(repr(x) for x in xs) + "]"


def circle(c, d):
    share = c.random.uniform(0.1, 1.0)
    start = [-d["phase"] * w + d["offset"] * a for w, a in zip(d["way"], d["across"])]
    return f"""
mesh: {{ ball: {{ type: point, at: {vector([d["L"] * x for x in start] + [0.0])} }} }}
elements: {{ ball: {{ type: point_mass, mesh: ball, mass: 1.0, in: plane }} }}
initial: [ {{ set: ball, velocity: {vector([d["speed"] * w for w in d["way"]] + [0.0])} }} ]
contacts:
  post: {{ type: node_circle, nodes: ball, centre: [0, 0, 0], radius: {share * d["L"]!r},
          node_radius: {(1.0 - share) * d["L"]!r}, side: outside, restitution: 1 }}
"""


def beam(c, d, side):
    """A wall of some cells that supports hold; the ball comes across it."""
    half = 20.0 * d["L"]
    ends = [[s * half * a for a in d["across"]] + [0.0] for s in (-1.0, 1.0)]
    start = [d["L"] * (-d["phase"] * w + 3.0 * d["offset"] * a) for w, a in zip(d["way"], d["across"])] + [0.0]
    thickness = c.random.choice([0.0, d["L"]])
    radius = f"radius: {d['L']!r}" if side == "round" else f"side: {side}, node_radius: {thickness!r}"
    return f"""
mesh:
  wall: {{ type: line, from: {vector(ends[0])}, to: {vector(ends[1])}, elements: {c.random.randint(1, 8)} }}
  ball: {{ type: point, at: {vector(start)} }}
elements:
  wall: {{ type: rod_2d, mesh: wall, E: {1e6 * d["speed"] ** 2!r}, area: {d["L"] ** 2!r}, rho: {1e9 / d["L"] ** 3!r} }}
  ball: {{ type: point_mass, mesh: ball, mass: 1.0, in: plane }}
supports: {{ clamp: {{ set: wall, fix: [x, y] }} }}
initial: [ {{ set: ball, velocity: {vector([d["speed"] * w for w in d["way"]] + [0.0])} }} ]
contacts: {{ post: {{ type: node_segment, nodes: ball, segments: wall, {radius}, restitution: 1 }} }}
"""


def crossed(c, d):
    """A rod across another one that is held, in space."""
    length, tilt = 40.0 * d["L"], c.random.uniform(0.3, 2.8)
    half, n = [0.5 * length * math.cos(tilt), 0.5 * length * math.sin(tilt)], c.random.randint(1, 6)
    high = [[s * half[0], s * half[1], d["phase"] * d["L"]] for s in (-1, 1)]
    low = [[s * 0.5 * length, 0.0, 0.0] for s in (-1, 1)]
    return f"""
mesh:
  low: {{ type: line, from: {vector(low[0])}, to: {vector(low[1])}, elements: {n} }}
  ball: {{ type: line, from: {vector(high[0])}, to: {vector(high[1])}, elements: 1 }}
elements:
  low: {{ type: rod_3d, mesh: low, E: 1.0, area: 1.0, rho: 1.0 }}
  ball: {{ type: rod_large_3d, mesh: ball, E: {1e-3 * d["speed"] ** 2!r}, area: {d["L"] ** 2!r},
          rho: {1.0 / d["L"] ** 3!r} }}
supports: {{ clamp: {{ set: low, fix: [x, y, z] }} }}
initial: [ {{ set: ball, velocity: {vector([0.0, 0.0, -d["speed"]])} }} ]
contacts: {{ post: {{ type: beam_beam, a: low, b: ball, radius: {0.5 * d["L"]!r}, restitution: 1, most: 4 }} }}
"""


KINDS = {"circle": circle, "round": lambda c, d: beam(c, d, "round"), "left": lambda c, d: beam(c, d, "left"),
         "crossed": crossed}


def through_middle(d, p, q):
    """Does the way from p to q lead from one side of the circle to the other, near its middle?"""
    way = [b - a for a, b in zip(p, q)]
    if p[0] * q[0] + p[1] * q[1] >= 0.0:
        return False
    s = -(p[0] * way[0] + p[1] * way[1]) / (way[0] ** 2 + way[1] ** 2)
    return math.hypot(p[0] + s * way[0], p[1] + s * way[1]) < 0.5 * d["L"]


def is_through(rows, d, kind):
    """Is the ball beyond what it came against, or was it there on the way?"""
    if kind == "crossed":
        return any(row["a.z"] + row["b.z"] < 0.0 for row in rows)
    places = [(row["b.x"], row["b.y"]) for row in rows]
    if kind == "circle":
        is_missed = all(not row["post.step_impulse"] for row in rows)
        is_beyond = places[-1][0] * d["way"][0] + places[-1][1] * d["way"][1] > 0.0
        return (is_missed and is_beyond) or any(through_middle(d, p, q) for p, q in zip(places, places[1:]))
    return places[-1][0] * d["way"][0] + places[-1][1] * d["way"][1] > 0.0


def campaign(c):
    while c.goes_on():
        d = draw(c)
        kind = c.random.choice(list(KINDS))
        probes = "b: { node: ball, of: [x, y] }"
        if kind == "crossed":
            probes = "a: { node: ball.start, of: [z] }, b: { node: ball.end, of: [z] }"
        text = KINDS[kind](c, d) + f"scheme: {{ type: {d['scheme']} }}\ntime: {timing(c, d)}\n"
        case = c.write("case.yaml", text + f"output: {{ frames: false, probes: {{ {probes} }} }}\n")
        result = c.run("run", case, "-o", c.path("out"), "--quiet", "--set", "time.allow_unstable=true")
        what = f"{kind} pace {d['pace']:.3g} {d['scheme']}"
        if not c.ends_well(what, result):
            continue
        if result.status == 2:
            c.fail(f"{what}: {result.err.strip()}")
        if result.status == 0 and is_through(c.history(c.path("out")), d, kind):
            c.fail(f"{what}: through, certified\n{text}")
        has_retry = "retry" not in text and not d["scheme"].startswith(EQUAL_STEPS)
        if result.status == 1 and "jumped" in result.err and has_retry:
            c.fail(f"{what}: not found with smaller steps: {result.err.strip()}\n{text}")


faults.main(campaign)
