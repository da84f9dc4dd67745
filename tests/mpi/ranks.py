"""What tests over several ranks share: the program, runs with and without mpiexec, results read and compared."""

import csv
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
import kill  # noqa: E402

TIGHT = ["--", "-ksp_rtol", "1e-13"]
# Factors of general matrices sum in the order in which messages come; these iterations do not.
REPEATABLE = [*TIGHT, "-iteration_ksp_type", "gmres", "-iteration_pc_type", "bjacobi", "-iteration_sub_pc_type", "lu"]
HANG = 600  # s, after which a run is taken for hanging; a busy machine needs far less
# Ties and stops may be settled the other way by round-off; the rate of a contact is that of its smallest gap, and at
# a floor several gaps vanish at once.
COUNTS = ("active", "iterations", "floor.gap_rate")


def run(count, *arguments):
    """On so many ranks; 0: without mpiexec."""
    launcher = ["mpiexec", "-n", str(count)] if count > 0 else []
    return subprocess.run([*launcher, PROGRAM, "run", *arguments], capture_output=True, text=True, timeout=HANG)


def serial(*arguments):
    return run(0, *arguments)


def history(folder):
    with open(os.path.join(folder, "history.csv"), newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], [[float(x) if x else math.nan for x in row] for row in rows[1:]]


def numbers(path, name):
    """The doubles of one array of a legacy VTK file: "name components tuples double", or "POINTS tuples double"."""
    with open(path, "rb") as file:
        text = file.read()
    head = re.search(rb"^" + name.encode() + rb" ((?:\d+ )+)double\n", text, re.M)
    count = math.prod(map(int, head.group(1).split())) * (3 if name == "POINTS" else 1)
    return struct.unpack_from(f">{count}d", text, head.end())


def errors_of(result):
    return [line for line in result.stderr.splitlines() if line.startswith("error: ")]


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def case(self, name, text):
        with open(self.path(name + ".yaml"), "w") as file:
            file.write(text)
        return self.path(name + ".yaml")

    # A run whose solvers do not repeat to the byte would differ from others now and then.
    def repeats(self, folder):
        with open(os.path.join(folder, "summary.txt")) as file:
            self.assertNotIn("petsc lu", file.read())

    def same_bytes(self, folder, other):
        self.repeats(folder)
        self.assertEqual(kill.differences(folder, other), [])

    def agree(self, folder, other):
        names, a = history(folder)
        others, b = history(other)
        self.assertEqual(names, others)
        self.assertEqual(len(a), len(b))
        for k, name in enumerate(names):
            if name in COUNTS:
                continue
            size = max([1.0] + [abs(row[k]) for row in a if math.isfinite(row[k])])
            for x, y in zip(a, b):
                self.assertEqual(math.isnan(x[k]), math.isnan(y[k]), name)
                if math.isfinite(x[k]):
                    self.assertLessEqual(abs(x[k] - y[k]), 1e-9 * size, f"{name} at t = {x[0]}")
        return len(a)

    def compare(self, *arguments, counts=(1, 2, 4), rows=2, options=TIGHT):
        result = serial(*arguments, "-q", "-o", self.path("serial"))
        self.assertEqual(result.returncode, 0, result.stderr)
        for count in counts:
            result = run(count, *arguments, "-q", "-o", self.path(f"np{count}"), *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, "")
            self.assertGreaterEqual(self.agree(self.path("serial"), self.path(f"np{count}")), rows)

    # The worst penetration of the run by two ranks is that of one process, and the same laws were judged.
    def same_certificate(self):
        worst, judged = [], []
        for folder in ("serial", "np2"):
            with open(self.path(folder + "/summary.json")) as file:
                checks = {c["name"]: c for c in json.load(file)["certificate"]["checks"]}
            worst.append(checks["penetration <= 2 max|gap rate| h"])
            judged.append({name for name, check in checks.items() if check["tolerance"] > 0.0})
        self.assertEqual(judged[1], judged[0])
        self.assertGreater(worst[0]["worst_value"], 1e-5)
        for key in ("worst_value", "tolerance", "worst_ratio", "worst_time"):
            self.assertAlmostEqual(worst[1][key], worst[0][key], delta=1e-9 * worst[0][key])

    # A checkpoint is that of the whole model: the same number of ranks goes on to the same bytes, others to round-off.
    def resume(self, counts, *case, options=TIGHT):
        out, whole = self.path("out"), self.path("whole")
        case = [*case, "-q", "-o", out]
        result = run(2, *case, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        shutil.copytree(out, whole)
        for count in counts:
            shutil.rmtree(out)
            shutil.copytree(whole, out)
            os.remove(os.path.join(out, "checkpoint.bin"))
            result = serial(*case, "--resume") if count == 1 else run(count, *case, "--resume", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            if count == 2:
                self.same_bytes(whole, out)
            else:
                self.agree(whole, out)
