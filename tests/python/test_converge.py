"""percuss converge: bounds of sequences, the command of the manual, budgets, and what does not converge. Argument: the
path of the program."""

import os
import re
import shlex
import unittest

from studies import Studies, call  # before percuss: it says where that is
from program import read_rows  # noqa: I100

import percuss
from percuss._converge import Convergence
from percuss.measure import Bound, bound


class Converge(Studies):
    def test_bounds_of_sequences(self):
        self.assertGreater(bound([0.0, 1.0, 1.5, 1.6]).error, bound([0.0, 1.0, 1.5, 1.6][1:]).error)  # orders scatter
        for values, jumps, kind, error in (([1.0, 2.0, 4.0], False, "diverges", float("inf")),
                                           ([1.0, 2.0, 1.6], False, "oscillates", 0.5),
                                           ([1.0, 2.0, 2.5], True, "jumps", 4.5), ([2.0] * 3, True, "exact", 0.0),
                                           ([1.0, 2.0, 2.01], False, "converges", 0.5)):
            found = bound(values, 2, [((), (("stop", jumps, 0),), (("stop", 0, 0),))[k] for k in range(3)] * jumps)
            self.assertEqual((found.kind, found.error), (kind, error))
        self.assertEqual(bound([1.0, 5.0, 6.0, 6.1], 2, [(("stop", 1, 1),)] * 4).error, 1.4)  # not a quarter of 4
        for kind, error in (("converges", 5.0), ("diverges", float("inf"))):  # a peak at a constant Courant number
            parts = {"both": Bound(0.0, kind="exact"), "mesh": Bound(3.0, 1.0, kind), "step": Bound(4.0)}
            self.assertEqual(Convergence.total(parts, 0.0), error)

    def test_the_command_of_the_manual(self):
        with open("docs/manual.md") as file:
            words = shlex.split(re.search(r"\npercuss converge (.*)\n", file.read())[1])
        done = call("converge", *words, "-o", self.out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        value, error = map(float, re.search(r"wall.total_impulse = ([\d.]+) \+- ([\d.]+) ", done.stdout).groups())
        self.assertLessEqual(abs(value - 200.0), error)  # 2 rho A L v
        self.assertLessEqual(error, 0.03 * value)
        self.assertRegex(done.stdout, r"mesh alone: .*\n.*step alone: .*\n(The bound is .*\n)?The cheapest level")
        rows = read_rows(os.path.join(self.out, "converge.csv"))
        self.assertEqual({(row["mesh_factor"], row["step_factor"]) for row in rows},
                         {(str(a), str(b)) for a, b in ((1, 1), (2, 2), (4, 4), (1, 4), (2, 4), (4, 1), (4, 2))})
        with open(os.path.join(self.out, "converge.png"), "rb") as file:
            self.assertEqual(file.read(4), b"\x89PNG")

    def test_what_does_not_converge_is_told(self):
        done = call("converge", "bar_impact", "--measure", "peak(wall.force)", "--to", "0.1%", "--runs", "9", "--set",
                    "mesh.bar.elements=10", "--set", "time.step=0.01", "-o", self.out)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, "Not known to .* after 7 runs. Of the usual measures")
        self.assertRegex(done.stdout, r"  wall.total_impulse \w+: [\d.]+ \+-")
        for words, message in ((("--to", "0"), "--to must be a size"), (("--to", "1", "--runs", "3"), "--runs must be"),
                               (("--to", "1", "--set", "a=1"), "unknown key 'a'")):
            done = call("converge", "bar_impact", "--measure", "energy.final", *words, "-o", self.out)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_function(self):
        found = percuss.converge("cases/impacting_oscillator", "energy.final", "50%")
        self.assertTrue(found.is_reached)
        self.assertEqual(list(found.parts), ["both"])  # it has no mesh


unittest.main()
