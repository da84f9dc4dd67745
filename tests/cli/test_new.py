"""percuss new: every case to start from runs as it is written, touches something, is resolved, and never overwrites.
Argument: the path of the program."""

import unittest

import program
from program import percuss, read_file, read_json


class New(program.Cases):
    def test_every_template_runs(self):
        names = [line.split()[0] for line in percuss("new").stdout.splitlines()]
        self.assertEqual(names, ["bar", "pendulum", "two_bars", "frame", "rotor"])
        for name in names:
            case = self.path("cases", name)
            self.assertIn("percuss run", percuss("new", name, case, status=0).stdout)
            percuss("run", case, "-q", "-o", self.path(name), status=0)
            summary = read_json(self.path(name, "summary.json"))
            self.assertEqual(summary["certificate"]["verdict"], "held")
            self.assertGreater(summary["contacts"][0]["interval_count"], 0)
            self.assertEqual(summary["resolution"]["verdict"], "resolved", name)

    def test_nothing_is_overwritten(self):
        path = self.write("case.yaml", "mine")
        self.assertIn("is there already", percuss("new", "bar", self.folder, status=2).stderr)
        self.assertEqual(read_file(path), "mine")
        self.assertIn("did you mean 'pendulum'?", percuss("new", "pendulm", status=2).stderr)


unittest.main()
