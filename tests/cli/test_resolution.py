"""The verdict on resolution: what it says of runs that are known to be good or bad, and what `resolution: refuse` does.
How often it is right is measured by tests/study/resolution.py. Argument: the path of the program."""

import re
import unittest

import program

BEAM = """\
mesh: { beam: { type: line, from: [0, 0.001, 0], to: [1, 0.001, 0], elements: %d } }
elements: { beam: { type: beam_timo_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7800, section: { type: rectangle,
  width: 0.01, height: 0.01, shear_factor: 0.8333 } } }
initial: [{ set: beam, velocity: [0, -1.0, 0] }]
contacts: { stop: { type: node_plane, nodes: beam.end, point: [0, 0, 0], normal: [0, 1, 0],
  law: { type: linear, stiffness: 1.0e4 } } }
scheme: { type: newmark }
time: { step: 2.0e-6, end: 0.02 }
"""
FREE = """\
mesh: { rod: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 }, m: { type: point, at: [1, 0, 0] } }
merge: { tip: { sets: [rod.end, m] } }
elements: { rod: { type: rod, mesh: rod, E: 39.4784, rho: 1.0e-6, area: 1.0 },
  m: { type: point_mass, mesh: m, mass: 1.0, in: line } }
supports: { clamp: { set: rod.start, fix: [x] } }
initial: [{ set: m, velocity: [0.1, 0, 0] }]
scheme: { type: newmark }
"""
BALL = """\
system: { type: ball, mass: 1.0, radius: 0.2, gravity: 10.0, height: 1.001, restitution: 0.8 }
scheme: { type: moreau_jean, theta: 0.5 }
"""


class Resolution(program.Cases):
    def judge(self, text, *more):
        """Verdict and figures of a run."""
        self.percuss("run", self.write("case.yaml", text), "-q", "--overwrite", "-o", self.path("out"), *more, status=0)
        return program.read_json(self.folder / "out" / "summary.json")["resolution"]

    def bar(self, *more, **wanted):
        self.percuss("new", "bar", self.folder / "bar")
        return self.percuss("run", self.folder / "bar", "--overwrite", "-o", self.folder / "out", *more, **wanted)

    def test_template_is_resolved(self):
        done = self.bar()
        found = program.read_json(self.folder / "out" / "summary.json")["resolution"]
        self.assertEqual((done.returncode, found["verdict"], found["reason"]), (0, "resolved", None))
        self.assertEqual(set(found["grades"].values()), {"resolved", "never"})
        self.assertEqual(found["grades"]["peak"], "never")
        self.assertEqual(found["contact"], "wall")
        # 2 L/c = 193.3 us at 0.5 us; 4 n cells in a wave of twice the duration
        self.assertAlmostEqual(found["steps"], 387, delta=4)
        self.assertAlmostEqual(found["cells_per_wavelength"], 800, delta=10)
        self.assertLess(found["largest_share"], 0.004)
        self.assertIn("Resolution: resolved", (self.folder / "out" / "summary.txt").read_text())

    def test_four_steps_are_not(self):
        done = self.bar("--set", "time.step=1e-4", status=0)
        self.assertIn("every check held", done.stdout)
        self.assertTrue(done.stdout.splitlines()[-1].startswith("UNRESOLVED: "), done.stdout[-200:])
        found = program.read_json(self.folder / "out" / "summary.json")["resolution"]
        self.assertEqual(found["verdict"], "unresolved")
        self.assertLess(found["advice"]["step"], 2e-6)

    def test_advice_leads_there(self):
        done = self.bar("--set", "time.step=4e-6", "--set", "mesh.bar.elements=60")
        found = program.read_json(self.folder / "out" / "summary.json")["resolution"]
        self.assertEqual(found["verdict"], "coarse")
        for _ in range(4):
            if found["verdict"] == "resolved":
                break
            n = max(round(60 * found["advice"]["elements_factor"]), 120)
            done = self.bar("--set", f"time.step={found['advice']['step']}", "--set", f"mesh.bar.elements={n}")
            found = program.read_json(self.folder / "out" / "summary.json")["resolution"]
        self.assertEqual((done.returncode, found["verdict"]), (0, "resolved"))

    def test_refuse(self):
        done = self.bar("--set", "time.step=1e-4", "--set", "resolution=refuse", status=1)
        self.assertIn("'resolution: refuse'", done.stderr)
        self.bar("--set", "resolution=refuse", status=0)
        self.bar("--set", "resolution=maybe", status=2)
        done = self.bar("--set", "resolution=refuse", "--set", "output.summary=false", status=2)
        self.assertIn("needs output.summary", done.stderr)

    def test_two_cells_of_a_beam(self):
        """Energy is kept and the force is smooth: only the cells per wavelength tell."""
        found = self.judge(BEAM % 2)
        self.assertEqual((found["verdict"], found["class"]), ("coarse", "force law"))
        self.assertIn("cells", found["reason"])
        self.assertLess(found["net_loss"], 0.01)
        self.assertGreater(found["advice"]["elements_factor"], 2.0)
        self.assertGreater(self.judge(BEAM % 20)["cells_per_wavelength"], 9.0 * found["cells_per_wavelength"])

    def test_without_contact(self):
        fine = self.judge(FREE + "time: { step: 0.005, end: 3.0 }\n")  # the period is 1 s
        self.assertEqual((fine["verdict"], fine["class"], fine["contact"]), ("resolved", "no contact", None))
        self.assertAlmostEqual(fine["steps_per_period"], 200, delta=1)
        rough = self.judge(FREE + "time: { step: 0.2, end: 3.0 }\n")
        self.assertEqual(rough["verdict"], "unresolved")
        self.assertAlmostEqual(rough["steps_per_period"], 5.7, delta=0.5)  # the scheme stretches the period

    def test_rigid_bodies(self):
        self.assertEqual(self.judge(BALL + "time: { step: 1.0e-3, end: 0.5 }\n")["verdict"], "resolved")
        rough = self.judge(BALL + "time: { step: 2.0e-2, end: 0.5 }\n")
        self.assertEqual((rough["verdict"], rough["class"]), ("coarse", "rigid bodies"))
        self.assertAlmostEqual(rough["steps_before"], 20, delta=1)  # falls for 0.4 s

    def test_springs_between_rigid_bodies(self):
        text = ("system: { type: oscillator, lower_mass: 0.01, stiffness: 1.0e+7, height: 1.001, restitution: 0 }\n"
                "scheme: { type: moreau_jean, theta: 0.5 }\ncertify: warn\ntime: { step: 1.0e-3, end: 1.0 }\n")
        found = self.judge(text)
        self.assertEqual((found["verdict"], found["class"]), ("coarse", "rigid bodies"))
        self.assertIn("springs", found["reason"])
        self.assertLess(found["advice"]["step"], 1e-5)  # 60 steps in 2 pi sqrt(0.01/1e7) s

    def test_what_a_run_does_not_show(self):
        self.bar("--set", "time.end=1.5e-4")  # the contact lasts 1.9e-4 s
        grades = program.read_json(self.folder / "out" / "summary.json")["resolution"]["grades"]
        self.assertEqual((grades["impulse"], grades["duration"]), ("coarse", "coarse"))
        free = self.judge(FREE + "time: { step: 0.005, end: 3.0 }\n")["grades"]
        self.assertEqual((free["impulse"], free["duration"], free["velocity"]), ("none", "none", "resolved"))
        rest = self.judge(BALL.replace("1.001", "0.2") + "time: { step: 1.0e-3, end: 0.1 }\n")
        self.assertEqual((rest["verdict"], rest["advice"]["step"]), ("coarse", None))
        self.assertNotRegex((self.folder / "out" / "summary.txt").read_text(), "nan|try time.step")

    def test_a_flight_under_wave_tells_no_period(self):
        found = self.judge("mesh: { rod: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 3 } }\n"
                           "elements: { rod: { type: rod, mesh: rod, E: 900, rho: 1, area: 1 } }\n"
                           "initial: [{ set: rod, velocity: [1, 0, 0] }]\nscheme: { type: wave }\n"
                           "time: { step: auto, end: 1.0 }\n")
        self.assertEqual((found["verdict"], found["advice"]["step"]), ("coarse", None))
        self.assertIn("no period can be measured", found["reason"])

    def test_a_late_start(self):
        """Advice is a part of the step, not of the time."""
        self.bar("--set", "time.end=1.0e-4", "--set", "output.checkpoint.every=100")
        first = self.folder / "first"
        (self.folder / "out").rename(first)
        case = self.folder / "bar" / "case.yaml"
        case.write_text(re.sub(r"(?ms)^initial:.*?(?=^\w)", f"start: {{ from: {first} }}\n", case.read_text()))
        self.percuss("run", case, "--overwrite", "-o", self.folder / "out", "--set", "time.end=1.1e-4", status=0)
        found = program.read_json(self.folder / "out" / "summary.json")["resolution"]
        self.assertNotEqual(found["verdict"], "resolved")
        self.assertLess(found["advice"]["step"], 5e-7)

    def test_check_foresees(self):
        self.percuss("new", "bar", self.folder / "bar")
        good = self.percuss("check", self.folder / "bar").stdout
        self.assertIn("time.step: auto would take 3.222e-07 s, 120 steps in 3.867e-05 s, a wave of 80 cells in bar; "
                      "that of the case is enough", good)
        bad = self.percuss("check", self.folder / "bar", "--set", "time.step=1e-4").stdout
        self.assertRegex(bad, "time.step: auto would take 3.222e-07 s, .* in bar\n")
        self.assertNotIn("elements", bad)
        few = self.percuss("check", self.folder / "bar", "--set", "mesh.bar.elements=100").stdout
        self.assertIn("elements: auto would take 200 in bar\n", few)


unittest.main()
