"""Parameters, included files, repeated entries and amplitudes through the program: errors with their places, results
that are the same bits as those of the plain case."""
import os
import unittest

import yaml

import program
from program import read_file

BAR = """\
mesh: { bar: { type: line, from: [0.015625, 0, 0], to: [1.015625, 0, 0], elements: 8 } }
elements: { bar: { type: rod, mesh: bar, E: 900, rho: 1, area: 1 } }
initial: [{ set: bar, velocity: [-1, 0, 0] }]
contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.0 } }
scheme: { type: moreau_jean, theta: 0.5 }
time: { step: 1.0e-3, end: 0.05 }
"""


class Language(program.Cases):
    def percuss(self, *arguments, **wanted):
        return program.percuss(*arguments, cwd=self.folder, **wanted)

    def run_case(self, case, out, *options):
        self.percuss("run", case, "-q", "-o", out, *options, status=0)
        return read_file(os.path.join(self.folder, out, "history.csv"))

    def same_bits(self, text, plain, *options):
        """The case and its plain form give the same history, and so does the resolved case, which is plain."""
        self.write("a.yaml", text)
        self.write("b.yaml", plain)
        history = self.run_case("a.yaml", "a", *options)
        self.assertEqual(history, self.run_case("b.yaml", "b"))
        self.check_resolved("a", history)

    def check_resolved(self, out, history):
        resolved = os.path.join(out, "case.resolved.yaml")
        text = read_file(os.path.join(self.folder, resolved))
        for word in ("${", "repeat:", "include:", "parameters:", "each:"):
            self.assertNotIn(word, text)
        yaml.safe_load(text)
        self.assertEqual(history, self.run_case(resolved, out + "_again"))
        self.assertEqual(read_file(os.path.join(self.folder, out + "_again", "case.resolved.yaml")), text)

    def test_parameters_and_assignments(self):
        text = BAR.replace("0.015625,", "${gap},").replace("1.015625", "${gap + L}").replace("8 }", "${8*L} }")
        self.same_bits("parameters: { gap: 0.015625, L: 2 }\n" + text, BAR, "--set", "parameters.L=1")

    def test_included_files(self):
        self.write("base/bar.yaml", BAR + "parameters: { unused: 1 }\n")
        self.same_bits("include: base/bar.yaml\ntime: { end: 0.02 }\nelements: { bar: { rho: 2 } }\n",
                       BAR.replace("0.05", "0.02").replace("rho: 1", "rho: 2"))

    def test_repeated_entries(self):
        wall = "{ type: node_plane, nodes: bar%s.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.0%s }"
        line = "{ type: line, from: [0.015625, %s, 0], to: [1.015625, %s, 0], elements: 8%s }"
        repeated = BAR.replace(BAR.splitlines()[0], "mesh: { bar: %s }"
                               % (line % (1, 1, ", repeat: { count: 3, shift: [0, 0.5, 0] }")))
        repeated = repeated.replace(BAR.splitlines()[3],
                                    "contacts: { wall: %s }" % (wall % ("${i}", ", repeat: { count: 3 }")))
        lines = ", ".join(f"bar{i}: " + line % (1 + (i - 1) * 0.5, 1 + (i - 1) * 0.5, "") for i in (1, 2, 3))
        plain = BAR.replace(BAR.splitlines()[0],
                            f"mesh: {{ {lines} }}\nsets: {{ bar: {{ cells: [bar1, bar2, bar3] }} }}")
        walls = ", ".join(f"wall{i}: " + wall % (i, "") for i in (1, 2, 3))
        self.same_bits(repeated, plain.replace(BAR.splitlines()[3], f"contacts: {{ {walls} }}"))

    def test_tables_from_files(self):
        self.write("data/push.csv", "t, factor\n# measured\n0, 0\n0.02; 1\n0.03 -0.5\r\n")
        push = BAR + "loads: { push: { type: force, node: bar.end, value: [5, 0, 0], amplitude: { %s } } }\n"
        self.same_bits(push % "csv: data/push.csv", push % "table: [[0, 0], [0.02, 1], [0.03, -0.5]]")
        drive = BAR.replace("initial: [{ set: bar, velocity: [-1, 0, 0] }]\n", "") + \
            "joints: { drive: { type: prescribed, node: bar.end, along: x, interpolation: smooth, %s } }\n"
        self.same_bits(drive % "csv: data/push.csv", drive % "table: [[0, 0], [0.02, 1], [0.03, -0.5]]")

    def test_wrong_tables_are_told_by_line(self):
        push = BAR + "loads: { push: { type: force, node: bar.end, value: [5, 0, 0], amplitude: { csv: push.csv } } }\n"
        self.write("a.yaml", push)
        for text, message in (("0 1\n0 2\n", "push.csv:2: the time must be later than in the row before (0), is 0"),
                              ("t x\ny z\n", "push.csv:2: must be two numbers 't, value', is 'y z'"),
                              ("0, 1, 2\n", "push.csv:1: must be two numbers"),
                              ("0, 1x\n", "push.csv:1: must be two numbers"),
                              ("1-2\n", "push.csv:1: must be two numbers"),
                              ("1,5;2\n", "push.csv:1: must be two numbers"),
                              ("0, inf\n", "push.csv:1: must be two numbers"),
                              ("# none\n\n", "push.csv: has no rows 't, value'")):
            self.write("push.csv", text)
            result = self.percuss("check", "a.yaml", status=2)
            self.assertIn("error: a.yaml:7:82: loads.push.amplitude.csv: " + message, result.stderr)

    def test_errors_have_their_places(self):
        self.write("a.yaml", "include: b.yaml\nparameters: { L: 1 }\ntime: { end: ${0.1*l} }\n")
        self.write("b.yaml", BAR.replace("8 }", "${8*} }"))
        errors = self.percuss("check", "a.yaml", "--set", "parameters.M=3", "--set", "mesh.bar.from=[${M*}, 0, 0]",
                              status=2).stderr.splitlines()
        self.assertEqual(len(errors), 4, errors)
        for error, start in zip(errors, (
                "error: a.yaml:3:20: time.end: in '0.1*l': unknown name 'l', did you mean 'L'? known are: L, M, sqrt",
                "error: b.yaml:1:88: mesh.bar.elements: in '8*': it ends too early",
                "error: --set mesh.bar.from=[${M*}, 0, 0]: mesh.bar.from[0]: in 'M*': it ends too early",
                "error: --set parameters.M=3: no formula uses the parameter 'M'")):
            self.assertTrue(error.startswith(start), error)

    def test_shipped_cases_resolve_to_plain_ones(self):
        for name, end in (("beam_pile", "0.05"), ("rotor", "0.01")):
            case = os.path.abspath(os.path.join("cases", name))
            self.check_resolved(name, self.run_case(case, name, "--set", f"time.end={end}", "--set",
                                                    "output.frames=false"))


unittest.main()
