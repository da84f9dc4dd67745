"""Random lawful cases: bodies of every element, supports, joints, contacts, loads, schemes and closed-form systems.

Kinds, options, ranges and units are those of `percuss list --schema`, so that a new option is drawn without a word
here; only places and names of sets follow from the type. Numbers carry their unit: `text(case, scale)` writes a case in
units of scale = (mass, length, time). The same seed gives the same case.
"""

import math
import random
import re

from random_parts import Body, Number, Schema, across, add, cross, dot, measure, text, unit, vector, vector_in

__all__ = ["Draw", "Number", "Schema", "text"]

# Schemes that state no law of friction, and those whose step has a bound.
FRICTIONLESS = ("half_explicit_acceleration", "alpha_index3", "tdg_minus", "tdg_plus", "splitting",
                "event_driven", "mannshardt")
EXPLICIT = ("half_explicit", "moreau_jean_explicit", "moreau_midpoint", "half_explicit_acceleration", "schatzman_paoli",
            "half_explicit_rk", "splitting", "tdg_minus", "tdg_plus", "mannshardt", "event_driven", "ggl_midpoint")
UNBOUND = ("event_driven", "ggl_midpoint", "schatzman_paoli", "mannshardt")
TURNING = ("alpha_ggl", "alpha_velocity", "newmark", "hht", "moreau_jean", "moreau_jean_explicit", "half_explicit")
MOVING = TURNING + ("wave", "half_explicit_rk", "alpha_index3", "schatzman_paoli", "moreau_midpoint")
UNSAID = ("type", "beta", "allow_mismatch", "events")  # options that follow from others, or that let a bad case pass
SPECIAL = {"tableau": {"a": [[0, 0], [1, 0]], "b": [0.5, 0.5], "c": [0, 1]}}


class Draw:
    def __init__(self, schema, seed):
        self.rng, self.schema = random.Random(seed), schema
        self.case = {"title": f"random case {seed}"}
        self.bodies, self.speed, self.cell_time, self.uses = [], 1.0, math.inf, []

    def log(self, low, high):
        return 10.0 ** self.rng.uniform(low, high)

    def chance(self, p):
        return self.rng.random() < p

    def put(self, kind, name, entry):
        self.case.setdefault(kind, {})[name] = entry
        if "type" in entry:
            self.uses.append((kind, entry["type"]))

    def option(self, prop, typical):
        """A value of an option in its range; `typical` are sizes (mass, length, time) of what has a unit."""
        if "enum" in prop:
            return self.rng.choice(prop["enum"])
        kind = prop.get("type", [])
        if kind == "boolean":
            return self.chance(0.5)
        low, high = prop.get("minimum", prop.get("exclusiveMinimum")), prop.get("maximum", prop.get("exclusiveMaximum"))
        if low is not None and high is not None:
            value = self.rng.choice([self.rng.uniform(low, high)] * 3 + [prop.get("minimum", high)])
            return round(value) if "integer" in kind else value
        found = measure(prop)
        size = math.prod(t ** d for t, d in zip(typical, found)) * self.log(-1, 0.5)
        if isinstance(prop.get("default"), (int, float)) and prop["default"]:
            size = prop["default"] * self.log(-0.5, 0.5)
        if low == 0 and "minimum" in prop and self.chance(0.2):
            size = 0.0
        return Number(size if low is not None or self.chance(0.7) else -size, found)

    def options(self, kind, name, leave=(), typical=(1.0, 1.0, 1.0), share=0.5):
        """Type and some of its options, apart from those to leave; of options of which one may be given one is."""
        entry, given = {"type": name}, self.schema.kinds[kind][name]
        rivals = [key for key, prop in given.items() if "give this or" in prop.get("description", "")]
        rivals += [key for key in given if any(f"or {key}" in given[r]["description"] for r in rivals)]
        chosen = self.rng.choice(rivals) if rivals else None
        for key, prop in given.items():
            scalar = "enum" in prop or prop.get("type") in ("boolean", ["number", "string"], ["integer", "string"])
            if key in leave or key in UNSAID or not scalar or key in rivals and key != chosen:
                continue
            if key == chosen or self.chance(share):
                entry[key] = self.option(prop, typical)
            elif kind == "system" and isinstance(prop.get("default"), float):
                entry[key] = Number(prop["default"], measure(prop))
        for value in list(entry.values()):
            entry.update(SPECIAL.get(value, {}) if isinstance(value, str) else {})
        return entry

    # Bodies

    def shape(self, name, dim):
        """Mesh, node places and ends of a body that is no point."""
        rng, n, size = self.rng, self.rng.randint(1, 6), self.log(-0.7, 0.3)
        source = "line" if dim == 1 else rng.choice(["line", "line", "arc", "frame", "lattice"])
        self.uses.append(("mesh", source))
        if source == "line":
            to = vector_in(rng, dim, size)
            points = [[x * i / n for x in to] for i in range(n + 1)]
            mesh = {"type": source, "from": [0.0, 0.0, 0.0], "to": to, "elements": n}
            return mesh, points, {".start": 0, ".end": n}, size / n
        if source == "arc":
            n, angle = n + 2, rng.choice([90.0, 180.0, -120.0, rng.uniform(20, 330), 360.0])
            turn = [math.radians(angle) * i / n for i in range(n + 1)]
            points = [[size * math.cos(a), size * math.sin(a), 0.0] for a in turn]
            mesh = {"type": source, "centre": [0.0, 0.0, 0.0], "start": [size, 0.0, 0.0], "angle": angle, "elements": n}
            return mesh, points, {".start": 0, ".end": n}, size * abs(turn[1])
        if source == "frame":
            named = {"a": [0.0, 0.0, 0.0], "b": [0.0, size, 0.0], "c": [size, size * rng.uniform(0.5, 1.5), 0.0]}
            if dim == 3:
                named["d"] = [size, 0.0, size]
            members = [["a", "b"], ["b", "c"]] + ([["b", "d"]] if dim == 3 else [])
            n = rng.randint(1, 3)
            mesh = {"type": source, "points": named, "members": members, "elements": n}
            return mesh, list(named.values()), {"." + k: i for i, k in enumerate(named)}, 0.5 * size / n
        boxes = [rng.randint(1, 2), 1] + ([1] if dim == 3 else [])
        mesh = {"type": source, "cells": boxes, "size": [size], "origin": [0.0, 0.0, 0.0],
                "diagonals": rng.choice(["one", "cross"])}
        far = [b * size for b in boxes] + [0.0] * (3 - dim)
        return mesh, [[a, b, c] for a in (0.0, far[0]) for b in (0.0, far[1]) for c in (0.0, far[2])], {}, size

    def element(self, name, kind, dim, cell):
        """Material and section of a group of rods or beams; notes its wave time and a size of its mass."""
        speed, rho, thick = self.log(1.3, 3.7), self.log(1, 4), cell * self.log(-1.3, -0.2)
        entry = self.options("element group", kind, share=0.3, leave=(
            "E", "rho", "area", "speed", "mass", "relaxed_modulus", "tangent_modulus", "yield_stress", "polar_moment",
            "relaxation_time"), typical=(rho * thick ** 3, thick, cell / speed))
        given = self.schema.kinds["element group"][kind]
        stiff = rho * speed ** 2
        entry.update({"mesh": name, "E": Number(stiff, "N/m^2"), "rho": Number(rho, "kg/m^3")})
        if self.chance(0.3):
            entry["mass"] = "lumped"
        special = {"nu": self.rng.choice([0.0, 0.3, 0.5, -0.2]), "area": Number(thick ** 2, "m^2"),
                   "orientation": [0.36, 0.48, 0.8], "speed": Number(self.log(0, 3), "1/s"),
                   "yield_stress": Number(stiff * self.log(-4, -2), "N/m^2"),
                   "relaxed_modulus": Number(stiff * self.rng.random(), "N/m^2"),
                   "relaxation_time": Number(cell / speed * self.log(0, 2), "s")}
        entry.update({key: value for key, value in special.items() if key in given})
        if "section" in given:
            entry["section"] = self.section(kind, thick)
        if self.chance(0.3):
            entry["damping"] = {"mass": Number(speed / cell * self.log(-4, -1), "1/s"),
                                "stiffness": Number(cell / speed * self.log(-4, -1), "s")}
        self.cell_time = min(self.cell_time, cell / speed, (thick if dim > 1 else cell) / speed)
        self.put("elements", name, entry)
        return rho * thick ** 2 * cell

    def section(self, kind, thick):
        sizes = {"rectangle": {"width": 1.0, "height": 1.3}, "circle": {"diameter": 1.0},
                 "tube": {"diameter": 1.0, "thickness": 0.2}}
        name = self.rng.choice(["circle", "tube"] if "rotor" in kind else sorted(sizes))
        return {"type": name} | {key: Number(f * thick, "m") for key, f in sizes[name].items()}

    def body(self, number, world):
        name = f"b{number}"
        kinds = {1: ["rod", "rod", "rod_love", "rod_plastic", "rod_viscoelastic", "point_mass"],
                 2: ["beam_timo_2d", "beam_exact_2d", "beam_exact_2d", "rod_2d", "rod_large_2d", "rigid_body_2d",
                     "rigid_body_2d", "point_mass"],
                 3: ["beam_timo_3d", "beam_exact_3d", "beam_exact_3d", "rod_3d", "rod_large_3d", "rotor_beam",
                     "rotor_beam_driven", "rigid_body_3d", "rigid_body_3d", "point_mass", "disc", "disc_driven"]}[world]
        if world == 3 and self.scheme not in TURNING:
            kinds = [k for k in kinds if "exact" not in k and "rigid" not in k]
        if self.scheme not in TURNING + ("half_explicit_rk", "jump_newmark", "schatzman_paoli"):
            kinds = [k for k in kinds if k not in ("rod_plastic", "rod_viscoelastic")]
        kind = self.rng.choice(kinds)
        turns = "small" if re.match("beam_timo|rotor|disc", kind) else None
        turns = "finite" if re.match("beam_ex|rigid", kind) else turns
        if kind in ("point_mass", "rigid_body_2d", "rigid_body_3d", "disc", "disc_driven"):
            mass, size = self.log(-1, 2), self.log(-0.7, 0.0)
            entry = self.options("element group", kind, leave=("mass", "in", "speed", "axis"))
            entry.update({"mesh": name, "mass": Number(mass, "kg")})
            if kind == "point_mass":
                entry["in"] = ["line", "plane", "space"][world - 1]
            else:
                sides = [size ** 2 * self.rng.uniform(0.5, 1.0) for _ in range(3)]
                inertia = [mass / 12 * (sides[i - 1] + sides[i - 2]) for i in range(3)]
                if "disc" in kind:
                    inertia[2] = inertia[1]
                entry["inertia"] = Number(inertia[2], "kg m^2") if world == 2 else vector(inertia, "kg m^2")
            if kind == "disc":
                entry["speed"] = Number(self.log(0, 2), "1/s")
            self.put("elements", name, entry)
            body = Body(name, world, {"type": "point", "at": [0.0, 0.0, 0.0]}, [[0.0, 0.0, 0.0]], {"": 0}, turns)
            body.size = size
            self.uses.append(("mesh", "point"))
        else:
            mesh, points, ends, cell = self.shape(name, world)
            while "rod_" in kind and world > 1 and mesh["type"] == "frame":
                mesh, points, ends, cell = self.shape(name, world)
            mass = self.element(name, kind, world, cell)
            if mesh["type"] != "line" and "curvature" in self.case["elements"][name]:
                del self.case["elements"][name]["curvature"]
            body = Body(name, world, mesh, points, ends, turns)
            body.is_line, body.size = True, cell
        body.mass, body.kind = mass, kind
        self.bodies.append(body)
        return body

    # What holds, joins and loads them

    def fixed_ways(self, body):
        ways = ["x", "y", "z"][:body.dim]
        return ways + ({2: ["rz"], 3: ["rx", "ry", "rz"]}[body.dim] if body.turns else [])

    def hold(self, body):
        """A support or a joint to the ground; what moves with it starts at rest."""
        if not body.ends:
            return
        node, place = body.end(self.rng)
        body.joined = True
        if self.chance(0.4) or body.dim == 1:
            fix = self.rng.sample(self.fixed_ways(body), self.rng.randint(1, len(self.fixed_ways(body))))
            self.put("supports", "s" + body.name, {"set": node, "fix": sorted(fix), "reactions": self.chance(0.5)})
            return
        kinds = ["ball", "distance"] + ["prescribed"] * (self.scheme in MOVING)
        if body.turns:
            kinds += ["hinge", "hinge", "fixed", "slider"]
        if body.turns == "finite" and body.dim == 3:
            kinds += ["cylindrical", "screw", "universal"]
        kind = self.rng.choice(kinds)
        entry = self.joint(kind, body.dim) | {"node": node}
        if kind == "distance":
            entry["anchor"] = vector(add(place, vector_in(self.rng, body.dim, body.size)), "m")
        self.put("joints", "j" + body.name, entry)

    def joint(self, kind, dim):
        entry = self.options("joint", kind, leave=(
            "pitch", "amplitude", "distance", "speed", "phase", "frequency", "rise", "along", "expression",
            "interpolation", "flank", "teeth_a", "teeth_b"))
        if kind == "gear":
            entry.setdefault("internal", False)
        axis = vector_in(self.rng, dim, 1.0)
        if kind in ("hinge", "gear"):
            axis = vector_in(self.rng, 3, 1.0) if dim == 3 else [0.0, 0.0, 1.0]
        square = across(self.rng, axis)
        special = {"axis": axis, "axis_a": axis, "axis_b": axis if kind == "gear" else square,
                   "pitch": Number(self.rng.choice([-1, 1]) * self.log(-2, 0), "m"),
                   "teeth_a": self.rng.randint(5, 40), "teeth_b": self.rng.randint(5, 40)}
        given = self.schema.kinds["joint"][kind]
        entry.update({key: value for key, value in special.items() if key in given})
        if kind == "prescribed":
            entry["along"] = self.rng.choice("xyz"[:dim])
            if self.chance(0.5):
                entry["distance"] = Number(self.log(-3, -1), "m")
                entry["rise"] = Number(self.end * self.log(-1, 0), "s")
            else:
                entry["velocity"] = {"pulse": {
                    "duration": Number(self.end * self.log(-1, 0), "s"), "shape": "half_sine",
                    "size": Number(self.speed * self.log(-2, 0), "m/s")}}
        return entry

    def connect(self, a, b):
        """A joint or a spring between two bodies."""
        if not a.ends or not b.ends:
            return
        (node_a, place_a), (node_b, place_b) = a.end(self.rng), b.end(self.rng)
        both = a.turns == b.turns and a.turns is not None
        name, kinds = f"c{a.name}{b.name}", ["spring_damper", "bushing", "distance"]
        kinds += ["hinge", "ball", "fixed", "slider", "rigid_link", "gear"] if both else []
        kinds += ["cylindrical", "screw", "universal"] if both and a.turns == "finite" and a.dim == 3 else []
        kind = self.rng.choice(kinds)
        if kind in ("spring_damper", "bushing"):
            self.spring(kind, name, node_a, node_b, min(a.mass, b.mass), a)
            return
        a.joined = b.joined = True
        entry = self.joint(kind, a.dim) | {"a": node_a}
        entry["nodes" if kind == "rigid_link" else "b"] = node_b
        if kind == "gear":
            for node in (node_a, node_b):
                hinge = {"type": "hinge", "node": node, "axis": entry["axis_a"]}
                self.put("joints", "w" + node.replace(".", "_"), hinge)
            if self.chance(0.5) and not any(x for x in cross(entry["axis_a"], [0.0, 0.0, 1.0])):
                share = entry["teeth_a"] / (entry["teeth_a"] + entry["teeth_b"] * (-1 if entry["internal"] else 1))
                entry["at"] = vector(add(place_a, add(place_b, place_a, -1.0), share), "m")
            else:
                entry.pop("pressure_angle", None)
        elif "at" in self.schema.kinds["joint"][kind]:
            entry["at"] = vector(place_b, "m")
        self.put("joints", name, entry)

    def spring(self, kind, name, node_a, node_b, mass, body):
        rate = 0.1 / (self.cell_time if self.cell_time < math.inf else 0.01 * self.end) * self.log(-2, 0)
        entry = self.options("element group", kind, share=0.3, typical=(mass, body.size, 1 / rate), leave=(
            "stop", "stop_stiffness", "damper_exponent", "damper_speed", "in", "angles", "damper", "stiffness",
            "force"))
        stiff, damp = mass * rate ** 2, mass * rate * self.log(-2, 0)
        if kind == "spring_damper":
            entry.update({"stiffness": Number(stiff, "N/m"), "damper": Number(damp, "N s/m"),
                          "in": ["line", "plane", "space"][body.dim - 1]})
        else:
            ways = [1.0 if i < body.dim else 0.0 for i in range(3)]
            entry.update({"stiffness": vector([stiff * w for w in ways], "N/m"),
                          "damper": vector([damp * w for w in ways], "N s/m"), "angles": body.turns or "small"})
        self.put("elements", name, entry | {"mesh": name})
        link = {"type": "link", "a": node_a, "b": node_b} if node_b else {"type": "point", "nodes": node_a}
        self.put("mesh", name, link)

    def load(self, number):
        body = self.rng.choice(self.bodies)
        pull = self.speed / self.end * self.log(-1, 0.5)
        kinds = ["gravity"] + (["force"] if body.ends else []) + (["line"] if body.is_line else [])
        kinds += ["moment"] if body.ends and body.turns and body.dim == 3 else []
        kinds += ["torque"] if body.ends and body.turns else []
        kind = self.rng.choice(kinds)
        way = vector_in(self.rng, body.dim, 1.0)
        if kind == "gravity":
            self.put("loads", f"l{number}", {"type": kind, "g": vector([pull * w for w in way], "m/s^2")})
            return
        entry = {"type": kind, "amplitude": self.amplitude()}
        if kind == "line":
            entry |= {"cells": body.name, "value": vector([body.mass * pull / body.size * w for w in way], "N/m")}
        elif kind == "torque":
            entry |= {"node": body.end(self.rng)[0], "value": Number(body.mass * pull * body.size, "N m"),
                      "axis": [0.0, 0.0, 1.0] if body.dim == 2 else way}
        else:
            arm, name = (body.size, "N m") if kind == "moment" else (1.0, "N")
            entry |= {"node": body.end(self.rng)[0], "value": vector([body.mass * pull * arm * w for w in way], name)}
        if kind != "line" and body.turns == "finite":
            entry["follower"] = self.chance(0.3)
        self.put("loads", f"l{number}", entry)

    def amplitude(self):
        end = self.end
        return self.rng.choice([
            {"table": [[Number(0.0, "s"), 0.0], [Number(end * 0.3, "s"), 1.0], [Number(end, "s"), -0.5]]},
            {"sine": {"frequency": Number(self.log(-0.3, 1) / end, "Hz"), "phase": 0.4}},
            {"ramp": {"rise": Number(end * 0.4, "s"), "shape": self.rng.choice(["linear", "smooth"])}},
            {"pulse": {"duration": Number(end * 0.4, "s"), "shape": self.rng.choice(["rectangle", "half_sine"])}}])

    # Contacts

    def law(self, dim, mass):
        entry = {}
        rate = 0.2 / (self.cell_time if self.cell_time < math.inf else 0.02 * self.end) * self.log(-1.5, 0)
        stiff = mass * rate ** 2
        is_smooth = self.scheme in FRICTIONLESS or dim == 1 or self.chance(0.4)
        friction = 0.0 if is_smooth else self.rng.choice([0.1, 0.3, 1.0, self.rng.random()])
        if friction:
            entry["friction"] = friction
        if self.chance(0.75):
            entry["restitution"] = self.rng.choice([0.0, 1.0, self.rng.random(), self.rng.random()])
            if friction and self.chance(0.15):
                entry["tangent_restitution"] = self.rng.random()
            return entry
        name = self.rng.choice(sorted(set(self.schema.kinds["law"]) - {"newton"}))
        law = {"type": name, "stiffness": Number(stiff, "N/m")}
        if name in ("hertz", "hunt_crossley"):
            depth = self.speed / rate
            law["stiffness"] = Number(stiff / math.sqrt(depth), (1, -0.5, -2))
        if name in ("hunt_crossley", "kelvin_voigt"):
            law["damping"] = Number(self.log(-1, 0) / self.speed, "s/m") if name == "hunt_crossley" else Number(
                mass * rate * self.log(-1.5, 0), "N s/m")
        self.uses.append(("force law", name))
        return entry | {"law": law}

    def gap(self):
        return self.rng.choice([0.0, 1.0, 1.0, 1.0]) * self.speed * self.end * self.rng.uniform(0.05, 0.7)

    def obstacle(self, body):
        """A contact of one body with what stands still; the body then moves towards it."""
        n, rng = vector_in(self.rng, body.dim, 1.0), self.rng
        low = min(dot(n, p) for p in body.points)
        kinds = ["node_plane", "node_plane", "node_circle"][:2 if body.dim == 1 else 3]
        kinds += ["disc_plane"] * 3 if body.kind == "rigid_body_3d" else []
        kind, radius = rng.choice(kinds), rng.choice([0.0, body.size * self.log(-2, -0.5)])
        entry, reach, gap = {"type": kind, "nodes": body.name, "points": rng.choice(["sum", "all"])}, radius, self.gap()
        if kind == "disc_plane":
            size = body.size * self.log(-0.5, 0.3)
            width = rng.choice([0.0, size * self.log(-2, 0)])
            entry |= {"axis": vector_in(rng, 3, 1.0), "radius": Number(size, "m"), "width": Number(width, "m")}
            reach = size + 0.5 * width
        else:
            entry["node_radius"] = Number(radius, "m")
            if body.kind.startswith("rigid") and self.chance(0.7):
                arms = [vector_in(rng, body.dim, body.size) for _ in range(rng.randint(1, 4))]
                entry["offsets"] = [vector(a, "m") for a in arms]
                reach += body.size
        place = add([0.0, 0.0, 0.0], n, low - reach - gap)
        middle = body.points[0]
        place = add(place, add(middle, n, -dot(n, middle)))
        if kind == "node_circle":
            size = body.size * self.log(-0.5, 1)
            axis = [0.0, 0.0, 1.0] if body.dim == 2 else across(rng, n)
            entry |= {"axis": axis, "side": "outside", "radius": Number(size, "m"),
                      "centre": vector(add(place, n, -size), "m")}
            if self.chance(0.4):
                far = max(math.dist(p, middle) for p in body.points)
                entry |= {"side": "inside", "radius": Number(far + reach + gap + 1e-3 * body.size, "m"),
                          "centre": vector(middle, "m")}
        else:
            entry |= {"point": vector(place, "m"), "normal": n}
        name = "w" + body.name + str(len(self.case.get("contacts", {})))
        self.put("contacts", name, entry | self.law(body.dim, body.mass))
        return n

    def meet(self, a, b):
        """A contact between two bodies; b is put beside a first and moves towards it."""
        n, rng, gap = vector_in(self.rng, a.dim, 1.0), self.rng, self.gap()
        kinds = ["node_node"] if a.ends and b.ends else []
        kinds += ["node_segment"] * 2 if a.is_line and a.dim > 1 else []
        kinds += ["beam_beam"] * 2 if a.is_line and b.is_line and a.dim == 3 else []
        kinds += ["journal"] * 2 if len(a.points) == 1 and b.ends and a.dim > 1 else []
        if not kinds:
            return
        kind, radius = rng.choice(kinds), a.size * self.log(-2, -0.7)
        b.shift(add([0.0, 0.0, 0.0], n, max(dot(n, p) for p in a.points) - min(dot(n, p) for p in b.points) + gap))
        entry = {"type": kind}
        if kind == "node_node":
            entry |= {"a": a.end(rng)[0], "b": b.end(rng)[0], "normal": n}
        elif kind == "node_segment":
            b.shift([2 * radius * x for x in n])
            entry |= {"nodes": b.name, "segments": a.name, "radius": Number(radius, "m"),
                      "node_radius": Number(radius, "m")}
        elif kind == "beam_beam":
            b.shift([2 * radius * x for x in n])
            entry |= {"a": a.name, "b": b.name, "radius": Number(radius, "m")}
        else:
            node, place = b.end(rng)
            axis = across(rng, n) if a.dim == 3 else [0.0, 0.0, 1.0]
            play = radius * self.log(-2, 0)
            b.shift(add(add(a.points[0], place, -1.0), n, play * rng.random()))
            entry |= {"nodes": node, "housing": a.name, "axis": axis, "radius": Number(radius + play, "m"),
                      "node_radius": Number(radius, "m")}
        self.put("contacts", f"m{a.name}{b.name}", entry | self.law(a.dim, min(a.mass, b.mass)))
        b.toward = n

    def start(self):
        """Velocities of rigid bodies, as long as no joint has a say."""
        listed = []
        for body in self.bodies:
            if body.joined or self.chance(0.15):
                continue
            way = getattr(body, "toward", vector_in(self.rng, body.dim, 1.0))
            aside = vector_in(self.rng, body.dim, self.speed)
            v = add([-self.speed * x for x in way], aside, self.rng.choice([0.0, 0.3]))
            entry = {"set": body.name, "velocity": vector(v, "m/s")}
            if body.turns == "finite" and self.chance(0.6):
                axis = [0.0, 0.0, 1.0] if body.dim == 2 else vector_in(self.rng, 3, 1.0)
                spin = self.speed / body.size * self.log(-1, 0.3)
                entry |= {"spin": vector([spin * x for x in axis], "1/s"), "about": vector(body.points[0], "m")}
            listed.append(entry)
        if listed:
            self.case["initial"] = listed

    # Whole cases

    def method(self, is_mesh):
        entry = self.options("scheme", self.scheme, typical=(1.0, 1e-6, 0.1 * self.step), share=0.4)
        if is_mesh and self.scheme == "ggl_midpoint":
            entry["metric"] = "mass"
        if is_mesh and self.scheme == "splitting":
            entry["contact_forces"] = True
        if self.scheme == "event_driven":
            entry["accumulation"] = "rest"
        self.uses.append(("scheme", self.scheme))
        self.case["scheme"] = entry
        is_bound = self.scheme in ("wave",) + EXPLICIT and self.scheme not in UNBOUND
        by_itself = is_bound and self.cell_time < math.inf and self.chance(0.6)
        self.case["time"] = {"step": "auto" if by_itself else Number(self.step, "s"), "end": Number(self.end, "s")}
        if self.chance(0.1) and self.scheme in TURNING:
            self.case["time"]["control"] = {"type": "adaptive", "tolerance": self.log(-6, -2)}
            self.case["time"]["step"] = Number(self.step, "s")
        if self.chance(0.2) and is_mesh:
            self.case["solver"] = {"type": self.rng.choice(["newton", "schur"])}

    def closed_form(self):
        name = self.rng.choice(sorted(self.schema.kinds["system"]))
        self.case["system"] = self.options("system", name, share=0.3)
        if self.scheme in FRICTIONLESS and "friction" in self.schema.kinds["system"][name]:
            self.case["system"]["friction"] = 0.0
        self.uses.append(("system", name))
        self.step, count = self.log(-5, -1.7), self.rng.randint(10, 200)
        self.end = self.step * count

    def model(self):
        world = self.rng.choice([1, 2, 2, 3, 3, 3])
        self.end = 1.0
        for number in range(self.rng.choice([1, 1, 2, 2, 3])):
            self.body(number, world)
        count = self.rng.randint(10, 200)
        if self.cell_time < math.inf:
            self.speed = self.bodies[0].size / self.cell_time * self.log(-4.5, -2)
            is_bound = self.scheme in EXPLICIT + ("wave",)
            self.step = self.cell_time * self.log(-2, -0.5 if is_bound else 2)
        else:
            self.speed = self.log(-1, 1)
            self.step = self.bodies[0].size / self.speed * self.log(-4.5, -1.3)
        self.end = self.step * count
        for a, b in zip(self.bodies, self.bodies[1:]):
            b.shift([3.0 * max(math.dist(p, a.points[0]) for p in a.points) + 3.0 + a.way[0], 0.0, 0.0])
            self.rng.choice([self.meet, self.meet, self.connect])(a, b)
        for body in self.bodies:
            if self.chance(0.6 if len(self.bodies) == 1 else 0.3):
                body.toward = self.obstacle(body)
            if self.chance(0.3) or "rod_" in body.kind and world > 1 and body.mesh["type"] == "line":
                self.hold(body)
            if self.chance(0.1) and body.ends and world > 1:
                self.spring("mount", "k" + body.name, body.end(self.rng)[0], None, body.mass, body)
        for number in range(self.rng.choice([0, 1, 1, 2])):
            self.load(number)
        self.start()
        self.case["mesh"] = {b.name: b.placed() for b in self.bodies} | self.case.get("mesh", {})
        if any(b.ends for b in self.bodies):
            body = next(b for b in self.bodies if b.ends)
            ways = "xyz"[:world]
            probe = {"node": body.end(self.rng)[0], "of": list(ways) + ["v" + w for w in ways]}
            self.case["output"] = {"probes": {"p": probe}}

    def draw(self):
        self.scheme = self.rng.choice(sorted(self.schema.kinds["scheme"]))
        is_mesh = self.chance(0.85)
        self.model() if is_mesh else self.closed_form()
        self.method(is_mesh)
        frames = self.rng.randint(20, 100)
        self.case.setdefault("output", {}).update(
            {"frames": {"every": frames}, "checkpoint": {"every": self.rng.randint(3, 60)}})
        return self.case
