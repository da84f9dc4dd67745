"""percuss list --schema: it takes every case that is shipped, refuses damaged ones as the program does, and knows the
same keys and choices as the reader of cases. Argument: the path of the program."""

import glob
import json
import os
import re
import tempfile
import unittest

import jsonschema
import yaml

import program
from program import percuss, read_file, write_file

UNKNOWN = "qqqqqq"


SCHEMA = json.loads(percuss("list", "--schema").stdout)
DEFINITIONS = SCHEMA["definitions"]
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


class Loader(yaml.SafeLoader):
    """Numbers as YAML 1.2 and Percuss have them: 1e-3 is one."""


Loader.yaml_implicit_resolvers = {k: [r for r in v if r[0] != "tag:yaml.org,2002:float"]
                                  for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"),
                             list("-+.0123456789"))
SIGNS = "{}[],:#"


def read(text):
    """Formulas need no quotes for Percuss, for other readers they do: their signs are hidden from these."""
    hide = {ord(sign): chr(0xE000 + i) for i, sign in enumerate(SIGNS)}
    show = {code: chr(sign) for sign, code in ((a, ord(b)) for a, b in hide.items())}

    def back(value):
        if isinstance(value, dict):
            return {back(key): back(item) for key, item in value.items()}
        if isinstance(value, list):
            return [back(item) for item in value]
        return value.translate(show) if isinstance(value, str) else value
    return back(yaml.load(re.sub(r"\$\{[^}]*\}", lambda m: m.group(0).translate(hide), text), Loader))


def errors(case):
    """What is wrong with a case."""
    return [error.message for error in VALIDATOR.iter_errors(case)]


BAR = """
mesh: { bar: { type: line, from: [0.1, 0, 0], to: [1, 0, 0], elements: 4 } }
elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 } }
initial: [{ set: bar, velocity: [-1, 0, 0] }]
loads: { push: { type: force, node: bar.end, value: [1, 0, 0], amplitude: { table: [[0, 1], [1, 0]] } } }
contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 } }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 0.01, end: 0.1 }
output: { frames: false, probes: { tip: { node: bar.end, of: [x] } } }
"""

# Each of them makes of the bar above a case that neither the program nor the schema takes.
DAMAGES = [
    ("type: line", "type: lime"), ("elements: 4", "elements: 0"), ("elements: 4", "elements: 2.5"),
    ("elements: 4", "elements: four"), ("from: [0.1, 0, 0]", "from: [0.1, 0]"), ("from: [0.1, 0, 0]", "from: 0.1"),
    ("from: [0.1, 0, 0]", "from: [0.1, 0, a]"), ("rho: 1.0", "rho: -1.0"), ("rho: 1.0", "rho: 0"),
    ("rho: 1.0", "density: 1.0"), ("rho: 1.0", "rho: '1.0'"),
    ("area: 1.0", "area: 1.0, section: { type: circle, diameter: 1 }"), ("velocity: [-1", "speed: [-1"),
    ("velocity: [-1, 0, 0]", "velocity: { from: [1, 0, 0] }"),
    ("initial: [{ set: bar, velocity: [-1, 0, 0] }]", "initial: { set: bar, velocity: [-1, 0, 0] }"),
    ("type: force", "type: farce"), ("{ table: [[0, 1], [1, 0]] }", "{ table: [[0, 1], [1]] }"),
    ("{ table: [[0, 1], [1, 0]] }", "2"), ("restitution: 0", "restitution: 1.5"),
    ("restitution: 0", "restitution: 0, points: some"),
    ("restitution: 0", "restitution: 0, repeat: { shift: [0, 0, 0] }"),
    ("restitution: 0", "restitution: 0, repeat: { count: 1, gap: 1 }"), ("rho_inf: 0.8", "rho_inf: 1.1"),
    ("rho_inf: 0.8", "rho: 0.8"), ("rho_inf: 0.8", "theta: 0.8"), ("{ type: alpha_ggl, rho_inf: 0.8 }", "alpha"),
    ("{ type: alpha_ggl, rho_inf: 0.8 }", "2"), ("type: alpha_ggl", "type: alpha"), ("scheme: {", "schema: {"),
    ("step: 0.01", "step: 0"), ("step: 0.01", "step: soon"), ("end: 0.1", "end: 0.1, control: { type: fixed }"),
    ("end: 0.1", "end: 0.1, retry: 31"), ("frames: false", "frames: true"), ("frames: false", "frames: { often: 1 }"),
    ("frames: false", "frame: {}"), ("of: [x]", "of: x"), ("of: [x]", "of: []"), ("of: [x]", "of: [x, x]"),
    ("output: {", "supports: { a: { set: bar.end, fix: [u] } }\noutput: {"), ("output: {", "certify: lax\noutput: {"),
    ("output: {", "solver: { type: magic }\noutput: {"), ("output: {", "start: later\noutput: {"),
    ("output: {", "parameters: { L: long }\noutput: {"), ("wall: {", "1wall: {"), ("wall: {", "my wall: {"),
    ("mesh: { bar", "mesh: { include: 1, bar"), ("elements: 4", "cells: 4"),
    ("elements: 4", "cells: { travel_time: 0 }"), ("elements: 4", "cells: { travel_time: 0.225, count: 4 }"),
    ("frames: false", "checkpoint: true"), ("frames: false", "checkpoint: { minutes: 0 }"),
    ("frames: false", "checkpoint: { hours: 1 }"), ("output: {", "start: { from: there, at: first }\noutput: {"),
    ("output: {", "start: [statics]\noutput: {"),
]

# Each of them leaves out what is needed, or gives two of what excludes each other: the program alone says so.
MISSING = [
    (", elements: 4", ""), ("mesh: bar, E", "E"), ("type: rod, ", ""), ("set: bar, ", ""),
    (", velocity: [-1, 0, 0]", ""), ("node: bar.end, value", "value"),
    ("node: bar.end, value", "node: bar.end, set: bar, value"),
    ("{ table: [[0, 1], [1, 0]] }", "{ table: [[0, 1], [1, 0]], sine: { frequency: 1 } }"),
    ("{ table: [[0, 1], [1, 0]] }", "{}"), ("{ table: [[0, 1], [1, 0]] }", "{ sine: { size: 1 } }"),
    ("step: 0.01, ", ""), (", end: 0.1", ""), (", of: [x]", ""),
    ("output: {", "supports: { a: { set: bar.end } }\noutput: {"),
    ("output: {", "sets: { a: { nodes: bar, cells: bar } }\noutput: {"), ("output: {", "sets: { a: {} }\noutput: {"),
    ("output: {", "merge: { a: { tolerance: 1 } }\noutput: {"), ("output: {", "system: { type: ball }\noutput: {"),
    ("elements: 4", "cells: {}"), ("output: {", "start: { at: last }\noutput: {"),
]

# Each of them the program and the schema both take.
VARIANTS = [
    ("elements: 4", "elements: ${2*2}"), ("elements: 4", "elements: '${2*2}'"), ("rho: 1.0", "rho: ${pi}"),
    ("[0.1, 0, 0]", "[${1/10}, 0, 0]"), ("[0.1, 0, 0]", "[0.1, { repeat: { count: 2 }, each: 0 }]"),
    ("[[0, 1], [1, 0]]", "[[0, 1], { repeat: { count: 3 }, each: ['${i}', 0] }]"),
    ("wall: {", "wall${i}: { repeat: { count: 2 }, "),
    ("wall: {", "wall: { repeat: { count: 2, shift: [-1, 0, 0] }, "),
    ("output: {", "parameters: { L: 2.0, half: '${L/2}' }\noutput: {"), ("step: 0.01", "step: 1e-2"),
    ("velocity: [-1, 0, 0]", "velocity: { from: [-1, 0, 0], to: [-1, 0, 0] }"),
    ("{ table: [[0, 1], [1, 0]] }", "{ expression: 1 }"),
    ("{ table: [[0, 1], [1, 0]] }", "{ expression: exp(-t) }"),
    ("output: {", "sets: { a: { nodes: [bar, bar.end] } }\noutput: {"),
    ("output: {", "title: 2\noutput: {"),
    ("output: {", "solver: { type: auto, linear: cholmod, threads: 1 }\noutput: {"),
    ("frames: false", "frames: { every: 2 }"), ("of: [x]", "of: [x, vx]"),
    ("restitution: 0", "restitution: 0, points: all"), ("elements: 4", "cells: { travel_time: 0.225 }"),
    ("elements: 4", "elements: 4, cells: { travel_time: 0.225 }"),
    ("{ type: alpha_ggl, rho_inf: 0.8 }", "auto"), ("{ type: alpha_ggl, rho_inf: 0.8 }", "newmark"),
    ("frames: false", "checkpoint: false"), ("frames: false", "checkpoint: { every: 10 }"),
]


def words(schema):
    """All keys and choices of a schema."""
    if isinstance(schema, list):
        for part in schema:
            yield from words(part)
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from (word for word in schema.get("enum", []) if isinstance(word, str))
        for part in schema.values():
            yield from words(part)


class Documents(program.Cases):
    def test_the_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_every_key_and_choice_is_in_the_list(self):
        listed = set(re.findall(r"\w+", percuss("list").stdout))
        self.assertGreater(len(set(words(SCHEMA))), 400)
        self.assertEqual(set(words(SCHEMA)) - listed, set())

    def test_every_case_that_is_shipped_is_taken(self):
        files = sorted(glob.glob("cases/**/*.yaml", recursive=True))
        self.assertGreater(len(files), 20)
        for path in files:
            case, plain = read(text := read_file(path)), yaml.safe_load(text)  # as any reader of YAML takes it
            self.assertEqual((errors(case), plain), ([], case), path)

    def test_every_case_to_start_from_is_taken(self):
        for name in [line.split()[0] for line in percuss("new").stdout.splitlines()]:
            percuss("new", name, self.path(name))
            self.assertEqual(errors(read(read_file(self.path(name, "case.yaml")))), [], name)

    def compare(self, changes, status, is_taken):
        for old, new in changes:
            self.assertIn(old, BAR)
            text = BAR.replace(old, new, 1)
            with self.subTest(old=old, new=new):
                percuss("check", self.write("case.yaml", text), status=status)
                self.assertEqual(errors(read(text)) == [], is_taken)

    def test_damaged_cases_are_refused_as_by_the_program(self):
        self.compare([("time:", "time:")], 0, True)  # as it is, it is sound
        self.compare(DAMAGES, 2, False)

    def test_what_is_missing_only_the_program_tells(self):
        self.compare(MISSING, 2, True)

    def test_formulas_and_repetition_are_taken_as_by_the_program(self):
        self.compare(VARIANTS, 0, True)

    def test_a_plug_in_has_parameters_of_its_own(self):
        case = {"system": {"plugin": "own.so", "anything": 1}, "scheme": {"type": "moreau_jean"},
                "time": {"step": 0.1, "end": 1}}
        self.assertEqual(errors(case), [])


def answers(case):
    """What the reader says about the maps of a case: allowed keys, missing keys and choices by path."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case.yaml")
        write_file(path, json.dumps(case))
        lines = percuss("check", path).stderr.splitlines()
    allowed, missing, choices = {}, {}, {}
    for line in lines:
        text = re.sub(r"^error: \S+:\d+:\d+: ", "", line)
        if match := re.match(rf"(?:(.+): )?unknown key '{UNKNOWN}', allowed: (.*)$", text):
            allowed[match.group(1) or ""] = set(match.group(2).split(", ")) - {"none"}
        elif match := re.match(r"(?:(.+): )?missing key '(\w+)' \(.*\)$", text):
            missing.setdefault(match.group(1) or "", set()).add(match.group(2))
        elif match := re.match(rf"(\S+) must be (?:one of )?(.*), is (?:the text )?'{UNKNOWN}'", text):
            choices[match.group(1)] = set(match.group(2).split(", "))
    return allowed, missing, choices


def types(name):
    """Keys of every type of a map, by the schema."""
    return {rule["if"]["properties"]["type"]["const"]: set(rule["then"]["properties"])
            for rule in DEFINITIONS[name]["allOf"] if "properties" in rule["if"]}


WRITTEN_OUT = {"include", "repeat", "each"}  # before the case is read


class Reader(unittest.TestCase):
    """The reader of cases tells which keys it allows: the schema says the same."""

    def check(self, case, path, keys):
        self.assertEqual(answers(case)[0].get(path), (keys - WRITTEN_OUT), path)

    def test_maps_of_a_type(self):
        places = {"mesh part": "mesh", "element group": "elements", "load": "loads", "joint": "joints",
        "contact": "contacts"}
        for name, section in places.items():
            known = types(name)
            self.assertTrue(known)
            case = {section: {f"a_{key}": {"type": key, UNKNOWN: 1} for key in known}}
            allowed, _, _ = answers(case)
            for key, keys in known.items():
                path = f"{section}.a_{key}"
                self.assertEqual(allowed[path], keys - WRITTEN_OUT, path)
            _, missing, choices = answers({section: {"a": {"type": UNKNOWN}, "b": {}}})
            self.assertEqual(choices[f"{section}.a.type"], set(known))
            self.assertIn("type", missing[f"{section}.b"])

    def test_schemes_systems_and_sections(self):
        for name, make in (("scheme", lambda x: {"scheme": x}), ("system", lambda x: {"system": x}),
                           ("section", lambda x: {"elements": {"e": {"type": "beam_timo_3d", "section": x}}}),
                           ("control", lambda x: {"time": {"control": x}})):
            place = {"section": "elements.e.section", "control": "time.control"}.get(name, name)
            for key, keys in types(name).items():
                known = keys - ({"plugin"} if name == "system" else set())
                allowed, _, _ = answers(make({"type": key, UNKNOWN: 1}))
                self.assertEqual(allowed[place] - {"plugin"}, known - WRITTEN_OUT, key)
            self.assertEqual(answers(make({"type": UNKNOWN}))[2][place + ".type"], set(types(name)), name)

    def test_plain_maps(self):
        unknown = {UNKNOWN: 1}
        force = {"type": "force", "amplitude": unknown}
        places = [("damping", {"damping": unknown}, "damping"), ("solver", {"solver": unknown}, "solver"),
                  ("time", {"time": unknown}, "time"), ("start", {"start": unknown}, "start"),
                  ("output", {"output": unknown}, "output"),
                  ("set", {"sets": {"a": unknown}}, "sets.a"), ("merged", {"merge": {"a": unknown}}, "merge.a"),
                  ("support", {"supports": {"a": unknown}}, "supports.a"),
                  ("initial value", {"initial": [unknown]}, "initial[0]"),
                  ("amplitude", {"loads": {"a": force}}, "loads.a.amplitude"),
                  ("probe", {"output": {"probes": {"a": unknown}}}, "output.probes.a")]
        for shape in ("sine", "ramp", "pulse"):
            load = {"type": "force", "amplitude": {shape: unknown}}
            places.append((shape, {"loads": {"a": load}}, f"loads.a.amplitude.{shape}"))
        for name, case, path in places:
            self.check({**case, "mesh": {}}, path, set(DEFINITIONS[name]["properties"]))

    def test_the_whole_case(self):
        allowed, _, _ = answers({UNKNOWN: 1})
        self.assertEqual(allowed[""], set(DEFINITIONS["case"]["properties"]) - {"repeat", "each"})

    def test_observers(self):
        known = {key: value for key, value in DEFINITIONS["output"]["properties"].items()
                 if key not in ("probes", "include")}
        allowed, _, _ = answers({"output": {key: {UNKNOWN: 1} for key in known}})
        for key, value in known.items():
            self.assertEqual(allowed[f"output.{key}"], set(value["properties"]) - WRITTEN_OUT, key)

    def test_choices(self):
        case = {"certify": UNKNOWN, "start": UNKNOWN, "solver": {"type": UNKNOWN, "linear": UNKNOWN},
                "contacts": {"a": {"type": "node_plane", "points": UNKNOWN}},
                "supports": {"a": {"set": "b", "fix": [UNKNOWN]}}}
        _, _, choices = answers(case)
        whole, solver = DEFINITIONS["case"]["properties"], DEFINITIONS["solver"]["properties"]
        contact = DEFINITIONS["contact"]["allOf"][0]["then"]["properties"]
        fix = DEFINITIONS["support"]["properties"]["fix"]
        known = {"certify": whole["certify"]["anyOf"][0]["enum"], "start": whole["start"]["anyOf"][0]["enum"],
                 **{f"solver.{key}": solver[key]["anyOf"][0]["enum"] for key in ("type", "linear")},
                 "contacts.a.points": contact["points"]["enum"],
                 "supports.a.fix[0]": fix["anyOf"][0]["items"]["enum"]}
        for path, values in known.items():
            self.assertEqual(choices[path], set(values), path)


unittest.main()
