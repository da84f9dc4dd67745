"""The horizon of a run, perturbed starts and their statistics. Argument: the path of the program."""

import re
import unittest

import program

CASES = "cases/"
PENDULUM = CASES + "beam_pendulum", "--set", "output.frames.every=0"
OWN = "--perturb adds its own perturbation: leave 'perturbation' out of the case"
FINE = *PENDULUM, "--set", "time.step=5.0e-5"


class Horizon(program.Cases):
    def find(self, size, case, *more, name="out"):
        self.percuss("run", case, "-q", "-o", self.folder / name, "--perturb", size, *more, status=0)
        found = program.read_json(self.folder / name / "summary.json")["horizon"]
        return found, {probe["name"]: probe for probe in found["probes"]}

    def test_a_beam_on_a_stop_has_one_after_its_burst_of_impacts(self):
        found, probes = self.find("1e-9", *FINE)
        self.assertEqual(found["time"], min(p["time"] for p in probes.values() if p["time"] is not None))
        self.assertAlmostEqual(found["time"], 0.347, delta=0.005)
        self.assertEqual((probes["tip.y"]["time"], found["reason"], found["compared"]), (None, None, 0.45))
        self.assertIn("the motion with this step depends on 1e-09 of its start: quote statistics, not curves",
                      (self.folder / "out" / "summary.txt").read_text())
        # Pictures are shaded from there on.
        if not program.has_tools():
            return
        from tools import call
        call("plot", self.folder / "out", "tip.vx", "-q", "-o", self.folder / "v.svg", status=0)
        edges = r'patch_2">\s*<path d="M (\S+) \S+ \nL (\S+).*?"patch_3">\s*<path d="M (\S+)'
        left, right, first = map(float, re.search(edges, (self.folder / "v.svg").read_text(), re.DOTALL).groups())
        self.assertAlmostEqual(0.45 * (first - left) / (right - left), 0.347, delta=0.005)

    def test_differences_are_linear_before_it(self):
        large, small = (self.find(size, *PENDULUM, name=size)[1] for size in ("1e-7", "1e-9"))
        for name in large:
            self.assertIsNone(large[name]["time"])
            self.assertAlmostEqual(large[name]["largest"] / small[name]["largest"], 100.0, delta=2.0)
        self.assertGreater(small["tip.vy"]["largest"], 5e-8)  # grown 50-fold

    def test_linear_motion_has_none(self):
        for case, *more in (("bar_wave", "--set", "time.end=20"), ("oscillator",), ("bars_two",)):
            found, probes = self.find("1e-9", CASES + case, *more, name=case)
            self.assertIsNone(found["time"])
            self.assertLess(max(probe["largest"] for probe in probes.values()), 1e-6)

    def test_an_impact_a_step_later_is_none(self):
        # Impacts fall on ends of steps: one step of the velocity differs by half of its range, no position does.
        _, probes = self.find("1e-9", CASES + "impacting_oscillator", "--set", "time.end=1")
        self.assertEqual([probe["time"] for probe in probes.values()], [None, None])

    def test_it_changes_nothing_of_the_run(self):
        self.find("1e-9", *PENDULUM)
        self.percuss("run", *PENDULUM, "-q", "-o", self.folder / "alone")
        self.assertEqual(*((self.folder / name / "history.csv").read_bytes() for name in ("out", "alone")))

    def test_what_is_refused(self):
        for wanted, *more in (("--resume", "--perturb", "1e-9", "--resume"),
                              ("must be in [1e-15, 1e-3], is '2'", "--perturb", "2"),
                              ("must be in [1e-15, 1e-3], is '1e-16'", "--perturb", "1e-16"),
                              (OWN, "--perturb", "1e-9", "--set", "perturbation={energy: 1}"),
                              ("--perturb compares runs of equal steps: leave 'control' out", "--perturb", "1e-9",
                               "--set", "time.control={type: adaptive, tolerance: 1e-4}"),
                              ("--perturb compares probes, and output.probes has none", "--perturb", "1e-9", "--set",
                               "output.probes={}"),
                              ("--perturb writes to the summary: output.summary is false", "--perturb", "1e-9",
                               "--set", "output.summary=false"),
                              ("velocities of that one", "--set", "perturbation={energy: 1}", "--set",
                               f"start={{from: {self.folder}}}")):
            done = self.percuss("run", *PENDULUM, "-q", "-o", self.folder / "out", *more, status=2)
            self.assertIn(wanted, done.stderr)

    def test_it_says_why_nothing_is_judged(self):
        small = "no probe moves by more than 1000 times the perturbation"
        for case, reason, *more in (("ball_rest", "nothing moves"), ("bar_wave", small, "--set",
                                     "output.probes={far: {node: bar.end, of: [x]}}", "--set", "time.end=0.1"),
                                    ("double_pendulum_stop", small, "--set", "output.probes={pin: {node: upper.start, "
                                     "of: [x, vy]}}", "--set", "time.end=0.1")):
            found, probes = self.find("1e-9", CASES + case, *more, name=case)
            self.assertEqual((found["time"], found["reason"]), (None, reason))
            self.assertEqual({probe["largest"] for probe in probes.values()}, {None})
            self.assertIn(f"Horizon: not judged: {reason}\n", (self.folder / case / "summary.txt").read_text())


class Perturbation(program.Cases):
    def start(self, case, seed, energy=1e-4, *more):
        name = f"{seed}"
        self.percuss("run", CASES + case, "-q", "--overwrite", "-o", self.folder / name, "--set",
                     f"perturbation={{ energy: {energy}, seed: {seed} }}", *more, status=0)
        return program.read_table(self.folder / name / "history.csv")

    def test_joints_and_closed_contacts_hold(self):
        probes = ", ".join(f"{name}: {{node: {node}, of: [vx, vy]}}" for name, node in (
            ("pin", "upper.start"), ("knee", "upper.end"), ("elbow", "lower.start")))
        first = self.start("double_pendulum_stop", 1, 1e-6, "--set", f"output.probes={{{probes}}}")[0]
        speed = abs(first["knee.vy"])
        self.assertGreater(speed, 1e-4)
        for axis in ("vx", "vy"):
            self.assertAlmostEqual(first[f"pin.{axis}"], 0.0, delta=1e-7 * speed)
            self.assertAlmostEqual(first[f"knee.{axis}"], first[f"elbow.{axis}"], delta=1e-7 * speed)
        self.assertAlmostEqual(first["kinetic"], 1e-6, delta=1e-15)
        block = self.start("incline", 1)[0]
        self.assertGreater(abs(block["v_s"]), 1e-3)
        self.assertEqual(block["v_n"], 0.0)

    def test_seeds_differ_and_repeat(self):
        short = "--set", "time.end=0.1"
        once, again, other = (self.start("double_pendulum_stop", seed, 1e-4, *short) for seed in (1, 1, 2))
        self.assertEqual([row["tip.vy"] for row in once], [row["tip.vy"] for row in again])
        self.assertNotEqual(once[0]["tip.vy"], other[0]["tip.vy"])

    def test_study_has_statistics(self):
        done = self.percuss("study", *PENDULUM, "-o", self.folder / "study", "--perturb", "6", "--size", "1e-3",
                            "--measure", "impulse=hurdle.total_impulse", "--measure", "T=at(kinetic, 0)", status=0)
        about = program.read_json(self.folder / "study" / "study.json")
        self.assertEqual(about["perturb"], {"starts": 6, "size": 1e-3})
        self.assertEqual([point["parameters"]["perturbation.seed"] for point in about["points"]], list("123456"))
        impulse, kinetic = (about["statistics"][name] for name in ("impulse", "T"))
        self.assertEqual(impulse["count"], 6)
        self.assertTrue(2.6 < impulse["p5"] < impulse["p50"] < impulse["p95"] < 3.2, impulse)
        self.assertAlmostEqual(kinetic["min"] / kinetic["max"], 1.0, delta=1e-9)  # all of the same energy
        self.assertIn("p95", done.stdout)

    def test_what_a_study_refuses(self):
        (self.folder / "case.yaml").write_text("title: t\nsystem: { type: ball, mass: 1.0, radius: 0.2 }\n"
                                               "time: { step: 1.0e-3, end: 0.01 }\nscheme: { type: half_explicit }\n"
                                               "perturbation: { energy: 1.0e-6 }\n")
        for wanted, case, *more in (("--size is for --perturb", PENDULUM[0], "--size", "1e-6", "--vary", "time.end=1"),
                                    ("size must be in [1e-15, 1e-3], is '0.01'", PENDULUM[0], "--perturb", "2",
                                     "--size", "0.01"),
                                    (OWN, PENDULUM[0], "--perturb", "2", "--set", "perturbation={energy: 1}"),
                                    (OWN, self.folder / "case.yaml", "--perturb", "2")):
            self.assertIn(wanted, self.percuss("study", case, "-o", self.folder / "refused", *more, status=2).stderr)


unittest.main()
