"""Tables, levels and random points of studies, the function percuss.study, worker processes, what measures are made of,
convergence and signals, and percuss converge. Argument: the path of the program."""

import mmap
import os
import re
import shlex
import signal
import subprocess
import time
import unittest

from studies import HANG, STUDY_PROGRAM, Studies, call
from program import read_file, read_json, read_rows  # noqa: I100 - studies says where it is
import numpy as np  # noqa: I100
import pandas
import scipy.stats

import percuss
from percuss import measure
from percuss._converge import Convergence
from percuss.formula import Signal
from percuss.measure import Bound


class Tables(Studies):
    def test_pandas_opens_the_table_without_arguments(self):
        self.study("cases/bar_impact", "--set", "time.end=0.6", "--vary", "mesh.bar.elements=10,20", "--vary",
                   "elements.bar.E=800:900:100", "--vary", "title=a,'b, c'", "--measure", "F=wall.peak_force",
                   "--measure", "E=energy.final", "--measure", "e=restitution(wall)", "--measure", "x=at(tip.x, 0.1)",
                   "--measure", "r=wall.peak_force/300")
        table = pandas.read_csv(os.path.join(self.out, "study.csv"))
        self.assertEqual(list(table.columns),
                         ["mesh.bar.elements", "elements.bar.E [N/m^2]", "title", "run", "status", "F [N]", "E [J]",
                          "e", "x [m]", "r", "reason"])
        for name in table.columns:
            if name not in ("title", "run", "status", "reason"):
                self.assertTrue(pandas.api.types.is_numeric_dtype(table[name]), name)
        np.testing.assert_array_equal(table["r"], table["F [N]"] / 300)
        own = percuss.open(self.out).table
        self.assertEqual((own["F"].tolist(), own.attrs["units"]["F"]), (table["F [N]"].tolist(), "N"))

    def test_levels_are_rows(self):
        shown = self.study("cases/bar_impact", "--refine", "mesh=2,3", "--set", "mesh.bar.elements=5", "--set",
                           "time.end=0.6", "--vary", "elements.bar.E=800,900", "--measure", "n=model.cells",
                           "--measure", "E=energy.final").stdout
        rows = self.rows()
        self.assertEqual([(r["elements.bar.E"], r["level"], r["mesh_factor"], r["n"]) for r in rows],
                         [(E, str(k), str(2**k), str(5 * 2**k)) for E in ("800", "900") for k in range(3)])
        self.assertEqual([bool(r["E.convergence"]) for r in rows], [False, False, True] * 2)
        self.assertEqual(len({r["run"] for r in rows}), 6)
        self.assertEqual([line.split()[:3] for line in shown.splitlines()[1:7]],
                         [[r["elements.bar.E"], r["mesh_factor"], r["n"]] for r in rows])
        points = read_json(os.path.join(self.out, "study.json"))["points"]
        self.assertEqual([point["runs"] for point in points], [[r["run"] for r in rows[k:k + 3]] for k in (0, 3)])

    def test_random_points(self):
        # Over a length of time without an impact the energy is that of the start, 1/2 rho A L v^2 = 500 J rho.
        words = ["cases/bar_impact", "--set", "time.end=0.004", "--set", "mesh.bar.elements=4", "--random", "64",
                 "--vary", "elements.bar.rho=uniform(1, 3)", "--vary", "elements.bar.E=normal(900, 9)", "--measure",
                 "E=energy.final", "--measure", "half=energy.final/2"]
        shown = self.study(*words, "--seed", "3").stdout
        rows = self.rows()
        rho, modulus = (np.array([float(row[k]) for row in rows]) for k in ("elements.bar.rho", "elements.bar.E"))
        # One point in each of 64 slices of equal probability, of both keys.
        for slices in ((rho - 1.0) / 2.0, scipy.stats.norm.cdf((modulus - 900.0) / 9.0)):
            self.assertEqual(sorted(np.floor(64 * slices)), list(range(64)))
        found = read_json(os.path.join(self.out, "study.json"))
        E = found["statistics"]["E"]
        np.testing.assert_allclose([E["mean"], E["p50"], E["p5"], E["p95"]], [1000, 1000, 550, 1450], atol=16)
        self.assertAlmostEqual(E["deviation"], 1000 / 12**0.5, delta=10)
        np.testing.assert_allclose(E["p25"], np.percentile(500 * rho, 25), rtol=1e-9)
        self.assertRegex(shown, r"(?m)^E +\d")
        first = rows
        self.study(*words, "--seed", "3")
        self.assertEqual(self.rows(), first)
        self.study(*words, "--seed", "4")
        self.assertNotEqual(self.rows()[0]["elements.bar.E"], first[0]["elements.bar.E"])
        for more, message in ((["--vary", "time.end=normal(1, 0)"], "deviation > 0"),
                              (["--vary", "time.end=uniform(2, 1)"], "to > from"),
                              (["--vary", "time.end=uniform(a, 1)"], "to > from"),
                              (["--random", "0"], "random must be a whole number from 1")):
            self.assertIn(message, self.study(*words, *more, status=2).stderr)
        self.assertIn("give --random N", self.study("cases/bar_impact", "--vary", "a.b=normal(1, 1)", status=2).stderr)
        self.assertIn("needs keys", self.study("cases/bar_impact", "--vary", "a=1", "--random", "3", status=2).stderr)

    def test_function(self):
        table = percuss.study("cases/bar_impact", {"mesh.bar.elements": [4, 8]}, set={"time.end": 0.01}, jobs=1,
                              zip={"elements.bar.E": [800.0, 900.0], "elements.bar.rho": np.array([1.0, 2.0])},
                              points=[{"title": "a"}, {}], measure={"n": "model.cells", "E": "energy.final"})
        self.assertEqual(table["n"].tolist(), [4] * 4 + [8] * 4)
        np.testing.assert_allclose(table["E"], [500, 500, 1000, 1000] * 2, rtol=1e-12)
        self.assertEqual((table.attrs["units"]["E"], len(table.attrs["study"]["points"])), ("J", 8))
        refined = percuss.study("cases/bar_impact", refine={"mesh": (2, 3)}, set={"time.end": 0.01})
        self.assertEqual(refined["mesh_factor"].tolist(), [1, 2, 4])
        with self.assertRaisesRegex(percuss.InputError, "time.end must be"):
            percuss.study("cases/bar_impact", {"time.end": [-1]})
        with self.assertRaisesRegex(percuss.InputError, "no/such"):
            percuss.study("no/such", {"a": [1]})

    def test_a_worker_that_dies_costs_its_run(self):
        from percuss.pool import Ended, Pool

        def work(index):
            if index == 3:
                os.kill(os.getpid(), signal.SIGKILL)
            return index * index

        before = os.listdir("/proc/self/fd")
        found = dict(Pool(40, work, 2).results())
        self.assertEqual(os.listdir("/proc/self/fd"), before)
        self.assertEqual(found.pop(3), Ended("broke", reason="the process ended by signal 9"))
        self.assertEqual(found, {i: i * i for i in range(40) if i != 3})

    def test_workers_that_die_while_they_wait(self):
        from percuss.pool import Pool

        first = mmap.mmap(-1, 8)

        def work(index):
            if index == 0:
                first[:] = os.getpid().to_bytes(8, "little")
                return 0
            time.sleep(0.3)
            os.kill(int.from_bytes(first[:], "little"), signal.SIGKILL)
            time.sleep(0.3)
            return index

        self.assertEqual(list(Pool(2, work, 2).results()), [(0, 0), (1, 1)])

    def test_an_interrupt_ends_a_study_after_the_present_steps(self):
        words = ["cases/bar_impact", "--vary", "scheme.rho_inf=0.5:0.9:0.01", "-j2", "--set", "time.end=60"]
        process = subprocess.Popen([STUDY_PROGRAM, *words, "-o", self.out], stdout=subprocess.PIPE, text=True)
        while not os.path.isdir(os.path.join(self.out, "runs")) or not os.listdir(os.path.join(self.out, "runs")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        shown = process.communicate(timeout=HANG)[0]
        self.assertEqual(process.returncode, 1)
        self.assertIn("not run: ", shown)
        self.assertIn("not run", {row["status"] for row in self.rows()})


class Bounds(unittest.TestCase):
    def test_order_and_limit_of_a_power_are_found(self):
        for p in range(1, 5):
            for factor in (2, 3):
                f = [3.0 - 2.0 * factor**(-p * k) for k in range(4)]
                c = measure.bound(f, factor)
                self.assertEqual(c.kind, "converges")
                self.assertAlmostEqual(c.order, p, delta=1e-9)
                self.assertAlmostEqual(c.limit, 3.0, delta=1e-10)
                # The bound holds the limit: a quarter more than the error up to order 2, more above.
                error = 3.0 - f[3]
                if p <= 2:
                    self.assertAlmostEqual(c.error, 1.25 * error, delta=1e-10)
                self.assertGreaterEqual(c.error, 1.25 * error * (1.0 - 1e-9))

    def test_times_of_steps_are_known_to_a_step(self):
        c = measure.bound([1.0, 1.0, 1.0], 2.0, grain=0.1)
        self.assertEqual((c.kind, c.error), ("steps", 0.1))
        self.assertTrue(np.isnan(c.order) and np.isnan(c.limit))
        for values, bound in (([1.0, 1.3, 1.4], 0.2), ([1.0, 2.0, 2.5], 1.25 * 0.5 + 0.1), ([1.0, 2.0, 1.6], 0.6)):
            self.assertAlmostEqual(measure.bound(values, 2.0, grain=0.1).error, bound, delta=1e-9)


class Signals(unittest.TestCase):
    def signal(self, t, x):
        return Signal(np.array(t, dtype=float), np.array(x, dtype=float))

    def test_values_between_rows_are_linear(self):
        s = self.signal([0, 1, 1, 3], [0, 2, 6, 2])  # it jumps at 1
        for t, x in ((0.25, 0.5), (1.0, 6.0), (2.0, 4.0), (3.0 + 1e-12, 2.0)):
            self.assertAlmostEqual(s.at(t), x, delta=1e-15)
        for t in (3.1, -0.1, float("nan")):
            self.assertTrue(np.isnan(s.at(t)))
        self.assertTrue(np.isnan(self.signal([], []).at(0.0)))

    def test_rms_is_that_of_broken_lines(self):
        # a = t on [0, 4] and b = 0 on [1, 3] in any rows: mean square (27 - 1)/3/2.
        a, b = self.signal([0, 0.7, 4], [0, 0.7, 4]), self.signal([1, 1.3, 2.9, 3], [0] * 4)
        for one, other in ((a, b), (b, a)):
            self.assertAlmostEqual(one.rms(other), (26.0 / 6.0)**0.5, delta=1e-14)
        self.assertEqual(a.rms(a), 0.0)
        self.assertAlmostEqual(a.rms(self.signal([1, 1.3], [0, 0])), ((1.3**3 - 1.0) / 0.9)**0.5, delta=1e-14)
        self.assertTrue(np.isnan(a.rms(self.signal([5, 6], [0, 0]))))
        # A jump from 0 to 2 in the middle: mean square 2.
        self.assertAlmostEqual(self.signal([0, 1, 1, 2], [0, 0, 2, 2]).rms(self.signal([0, 2], [0, 0])), 2**0.5,
                               delta=1e-14)

    def test_filtered_peak_is_the_largest_mean(self):
        # A force of 3 from 1 to 2 and of 5 from 2 to 2.5 s, nothing else; rows every 0.25 s, the last at 4 s.
        t = 0.25 * np.arange(17)
        force = np.where((t > 1) & (t <= 2), 3.0, np.where((t > 2) & (t <= 2.5), 5.0, 0.0))
        s = self.signal(t, 0.25 * force)
        for window, mean in ((0.1, 5.0), (0.5, 5.0), (0.8, 3.4 / 0.8), (1.0, 4.0), (3.0, 5.5 / 3.0), (100.0, 0.055)):
            self.assertAlmostEqual(s.filtered_peak(window), mean, delta=1e-12)
        # An impact at the start stands in the first row.
        self.assertAlmostEqual(self.signal([0, 0.25], [2, 0]).filtered_peak(0.125), 16.0, delta=1e-12)


class Converge(Studies):
    def test_bounds_of_sequences(self):
        bound = measure.bound
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
        parts["both"] = Bound(1.0, 2.0, "converges")  # in which larger parts cancel, of 5
        self.assertEqual(Convergence.total(parts, 0.5), 1.6 + 0.5)

    def test_the_command_of_the_manual(self):
        words = shlex.split(re.search(r"\npercuss converge (.*)\n", read_file("docs/manual.md"))[1])
        done = call("converge", *words, "-o", self.out, status=0)
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
                    "mesh.bar.elements=10", "--set", "time.step=0.01", "-o", self.out, status=1)
        self.assertRegex(done.stdout, "Not known to .* after 7 runs. Of the usual measures")
        self.assertRegex(done.stdout, r"  wall.total_impulse \w+: [\d.]+ \+-")
        for words, message in ((("--to", "0"), "--to must be a size"), (("--to", "1", "--runs", "3"), "--runs must be"),
                               (("--to", "1", "--set", "a=1"), "unknown key 'a'")):
            done = call("converge", "bar_impact", "--measure", "energy.final", *words, "-o", self.out, status=2)
            self.assertIn(message, done.stderr)

    def test_function(self):
        found = percuss.converge("cases/impacting_oscillator", "energy.final", "50%")
        self.assertTrue(found.is_reached)
        self.assertEqual(list(found.parts), ["both"])  # it has no mesh
        explicit = {"mesh.bar.elements": 10, "time.step": "auto", "scheme": "half_explicit"}
        found = percuss.converge("cases/bar_impact", "energy.final", "5%", set=explicit, runs=9)
        self.assertEqual(list(found.parts), ["both"])  # its step follows the cells


unittest.main()
