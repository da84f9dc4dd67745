"""percuss new: every case to start from runs as it is written, touches something, is resolved, and never overwrites.
Argument: the path of the program."""

import os
import tempfile
import unittest

from program import percuss, read_json


class New(unittest.TestCase):
    def test_every_template_runs(self):
        names = [line.split()[0] for line in percuss("new").stdout.splitlines()]
        self.assertEqual(names, ["bar", "pendulum", "two_bars", "frame", "rotor"])
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                case = os.path.join(folder, "cases", name)
                run = percuss("new", name, case)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("percuss run", run.stdout)
                run = percuss("run", case, "-q", "-o", os.path.join(folder, name))
                self.assertEqual(run.returncode, 0, run.stderr)
                summary = read_json(os.path.join(folder, name, "summary.json"))
                self.assertEqual(summary["certificate"]["verdict"], "held")
                self.assertGreater(summary["contacts"][0]["interval_count"], 0)
                self.assertEqual(summary["resolution"]["verdict"], "resolved", name)

    def test_nothing_is_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.yaml")
            with open(path, "w") as file:
                file.write("mine")
            run = percuss("new", "bar", folder)
            self.assertEqual(run.returncode, 2)
            self.assertIn("is there already", run.stderr)
            with open(path) as file:
                self.assertEqual(file.read(), "mine")
        run = percuss("new", "pendulm")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean 'pendulum'?", run.stderr)


unittest.main()
