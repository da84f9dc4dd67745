"""Numbers with units, vectors, options by `percuss list --schema`, and bodies, of which random_cases.py makes cases."""

import json
import math
import re
import subprocess

UNIT = {"kg": (1, 0, 0), "m": (0, 1, 0), "s": (0, 0, 1), "N": (1, 1, -2), "J": (1, 2, -2), "Hz": (0, 0, -1),
        "rad": (0, 0, 0), "1": (0, 0, 0)}


def dimension(unit):
    """Exponents of (mass, length, time) of a unit such as `N m/rad`, or None."""
    total, sign = [0, 0, 0], 1
    for part in re.findall(r"[ /]|[^ /]+", unit):
        match = re.fullmatch(r"(kg|m|s|N|J|Hz|rad|1)(?:\^(\d))?", part)
        if part in " /":
            sign = -1 if part == "/" else 1
        elif match is None:
            return None
        else:
            total = [t + sign * int(match[2] or 1) * u for t, u in zip(total, UNIT[match[1]])]
    return tuple(total)


def measure(prop):
    """Dimension of an option by the unit in its description."""
    clauses = [dimension(c.strip()) for c in re.split("[,;]", prop.get("description", ""))]
    return next((c for c in clauses if c is not None), (0, 0, 0))


class Number:
    def __init__(self, value, unit):
        self.value, self.dimension = value, unit if isinstance(unit, tuple) else dimension(unit)

    def scaled(self, scale):
        return self.value * math.prod(s ** d for s, d in zip(scale, self.dimension))


def vector(values, unit):
    return [Number(v, unit) for v in values]


def plain(tree, scale):
    if isinstance(tree, Number):
        return tree.scaled(scale)
    if isinstance(tree, dict):
        return {key: plain(value, scale) for key, value in tree.items() if not key.startswith("_")}
    return [plain(value, scale) for value in tree] if isinstance(tree, (list, tuple)) else tree


def text(case, scale=(1.0, 1.0, 1.0)):
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in plain(case, scale).items())


def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    size = math.sqrt(dot(a, a))
    return [x / size for x in a]


def across(rng, a):
    """A unit vector square to another."""
    other = [0.0, 0.0, 0.0]
    other[min(range(3), key=lambda i: abs(a[i]))] = rng.choice([-1.0, 1.0])
    return unit(cross(a, other))


class Schema:
    def __init__(self, program):
        whole = json.loads(subprocess.run([program, "list", "--schema"], capture_output=True, check=True).stdout)
        self.kinds = {}
        for kind, definition in whole["definitions"].items():
            types = {}
            for entry in definition.get("allOf", []):
                name = entry.get("if", {}).get("properties", {}).get("type", {}).get("const")
                if name and "then" in entry:
                    types[name] = entry["then"]["properties"]
            self.kinds[kind] = types


class Body:
    """Nodes by place, the set of one node at either end, how they move, and what the mesh says of them."""

    def __init__(self, name, dim, mesh, points, ends, turns):
        self.name, self.dim, self.mesh, self.points, self.ends, self.turns = name, dim, mesh, points, ends, turns
        self.mass, self.is_line, self.way, self.joined = 1.0, False, [0.0, 0.0, 0.0], False

    def shift(self, way):
        self.points = [add(p, way) for p in self.points]
        self.way = add(self.way, way)

    def end(self, rng):
        name = rng.choice(sorted(self.ends))
        return self.name + name, self.points[self.ends[name]]

    def placed(self):
        moved = {}
        for key, value in self.mesh.items():
            if key in ("from", "to", "at", "centre", "start", "origin"):
                value = vector(add(value, self.way), "m")
            elif key == "points":
                value = {k: vector(add(v, self.way), "m") for k, v in value.items()}
            elif key == "size":
                value = vector(value, "m")
            moved[key] = value
        return moved


def vector_in(rng, dim, size):
    """A vector of that length in so many dimensions; often along an axis."""
    if rng.random() < 0.5 or dim == 1:
        way = [0.0, 0.0, 0.0]
        way[rng.randrange(dim)] = rng.choice([-size, size])
        return way
    return [size * x for x in unit([rng.gauss(0, 1) if i < dim else 0.0 for i in range(3)])]
