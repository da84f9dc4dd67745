"""`step: auto` and `elements: auto`: the choice resolves the run in any units, is the one that `check` foresees, stands
as numbers in the resolved case, and is refused with its place where nothing decides. Argument: the path of the program.
"""

import re
import unittest

import program

BAR = """\
mesh: {{ bar: {{ type: line, from: [{gap}, 0, 0], to: [{end}, 0, 0], elements: auto }} }}
elements: {{ bar: {{ type: rod, mesh: bar, E: {E}, rho: {rho}, area: {area} }} }}
initial: [{{ set: bar, velocity: [{v}, 0, 0] }}]
contacts: {{ wall: {{ type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 }} }}
scheme: {{ type: alpha_ggl, rho_inf: 0.8 }}
time: {{ step: auto, end: {time} }}
"""
BEAM = """\
mesh: {{ beam: {{ type: line, from: [0, {gap}, 0], to: [{L}, {gap}, 0], elements: auto }} }}
elements: {{ beam: {{ type: beam_timo_2d, mesh: beam, E: {E}, nu: 0.3, rho: {rho}, section: {{ type: rectangle,
  width: {d}, height: {d} }} }} }}
initial: [{{ set: beam, velocity: [0, {v}, 0] }}]
contacts: {{ stop: {{ type: node_plane, nodes: beam.end, point: [0, 0, 0], normal: [0, 1, 0],
  law: {{ type: linear, stiffness: {k} }} }} }}
scheme: {{ type: newmark }}
time: {{ step: auto, end: {time} }}
"""
BALL = """\
system: {{ type: ball, mass: 1.0, radius: {r}, gravity: {g}, height: {h}, restitution: 0.8 }}
scheme: {{ type: moreau_jean, theta: 0.5 }}
time: {{ step: auto, end: {time} }}
"""


class Auto(program.Cases):
    def judge(self, text, *more):
        """Verdict of a run, its step and the resolved case."""
        ran = self.percuss("run", self.write("case.yaml", text), "--overwrite", "-o", self.path("out"), *more, status=0)
        case = (self.folder / "out" / "case.resolved.yaml").read_text()
        self.assertNotRegex(case, r"(step|elements): auto")
        verdict = program.read_json(self.folder / "out" / "summary.json")["resolution"]["verdict"]
        return verdict, float(re.search(r"\n  step: (\S+)", case)[1]), case, ran.stdout + ran.stderr

    def test_bars_of_all_sizes(self):
        for size, stiff in ((1.0, 1.0), (1e-9, 1.0), (1e4, 1.0), (1.0, 1e-7), (1e-6, 1e3)):
            with self.subTest(size=size, stiff=stiff):
                c = (stiff * 2.1e11 / 7850.0) ** 0.5
                text = BAR.format(gap=2e-4 * size, end=1.0002 * size, E=stiff * 2.1e11, rho=7850.0, area=1e-4 * size**2,
                                  v=-6e-4 * c, time=4.0 * size / c)
                verdict, step, case, shown = self.judge(text)
                self.assertEqual(verdict, "resolved")
                self.assertIn("elements: 200", case)
                self.assertAlmostEqual(step * c / size, 80 / 200 / 120, delta=1e-8)
                self.assertIn("mesh.bar.elements: auto is 200", shown)
                self.assertRegex(shown, "time.step: auto is .* s: 120 steps in .* s, a wave of 80 cells in bar")

    def test_beams_and_balls_of_all_sizes(self):
        steps, cells = set(), set()
        for size in (1.0, 1e-9, 1e3):
            text = BEAM.format(gap=1e-3 * size, L=size, E=2.1e11, rho=7800, d=1e-2 * size, v=-1.0, k=1e4 * size,
                               time=0.02 * size)
            verdict, step, case, _ = self.judge(text)
            self.assertEqual(verdict, "resolved")
            steps.add(f"{step / size:.6g}")
            cells.add(re.search(r"elements: (\d+)", case)[1])
            verdict, step, _, _ = self.judge(BALL.format(r=0.2 * size, g=10 * size, h=1.001 * size, time=1.0))
            self.assertEqual(verdict, "resolved")
            steps.add(f"{step:.6g}")
        self.assertEqual((len(steps), len(cells)), (2, 1))

    def test_check_foresees_the_same(self):
        text = BAR.format(gap=2e-4, end=1.0002, E=2.1e11, rho=7850.0, area=1e-4, v=-3.0, time=1e-3)
        _, step, _, _ = self.judge(text)
        coarse = text.replace("step: auto", "step: 1.0e-5").replace("elements: auto", "elements: 200")
        told = self.percuss("check", self.write("coarse.yaml", coarse)).stdout
        self.assertIn(f"time.step: auto would take {step:.4g} s, 120 steps", told)
        self.assertNotIn("elements: auto would", told)
        told = self.percuss("check", self.write("few.yaml", coarse.replace("200", "20"))).stdout
        self.assertIn("elements: auto would take 200 in bar", told)
        for command in ("statics", "modes"):
            done = self.percuss(command, "cases/bar_steel", "--set", "mesh.bar.elements=auto", "-o", self.folder / "s")
            self.assertIn("note: mesh.bar.elements: auto is ", done.stderr)
        done = self.percuss("check", self.write("case.yaml", text))
        told = done.stdout + done.stderr
        self.assertRegex(told, f"time.step: auto is {step:.6g} s: ")
        self.assertNotIn("auto would", told)

    def test_the_scheme(self):
        """Exact waves first; explicit steps where stability asks for no smaller ones; else alpha_ggl."""
        bar = BAR.format(gap=2e-4, end=1.0002, E=2.1e11, rho=7850.0, area=1e-4, v=-3.0, time=1e-3)
        bar = bar.replace("alpha_ggl, rho_inf: 0.8", "auto")
        ball = BALL.format(r=0.2, g=10, h=1.001, time=1.0).replace("moreau_jean, theta: 0.5", "auto")
        for text, scheme, reason in (
                (bar, "wave", "waves take one time"),
                (bar.replace("{ type: auto }", "auto"), "wave", "waves take one time"),
                (bar.replace("area:", "mass: consistent, area:"), "alpha_ggl",
                 "half_explicit takes 5.02e-07 s at most, accuracy asks for 6.44e-07 s; not wave: "),
                (bar.replace("area:", "damping: { stiffness: 1.0e-9 }, area:"), "alpha_ggl",
                 "not wave: it is exact for undamped rods only"),
                (bar.replace("area:", "mass: lumped, area:"), "half_explicit",
                 "time.step: auto is 8.70037e-07 s: 0.9 of the largest step"),
                (ball, "half_explicit", "; not wave: ")):
            with self.subTest(scheme=scheme):
                verdict, _, case, shown = self.judge(text)
                self.assertEqual(verdict, "resolved")
                self.assertRegex(case, rf"\n  type: {scheme}\n")
                self.assertIn(f"scheme: auto is {scheme}: ", shown)
                self.assertIn(reason, shown)
        for wrong, words in ((bar.replace("type: auto", "type: auto, rho_inf: 0.8"), r":5:.*unknown key 'rho_inf'"),
                             (bar.replace("rho:", "rh:").replace("auto", "atuo"), r":2:\d+: .*rh.*\n.*'auto'")):
            self.assertRegex(self.percuss("check", self.write("case.yaml", wrong), status=2).stderr, words)

    def test_the_scheme_by_an_assignment(self):
        auto = ("check", "cases/bar_impact", "--set", "scheme.type=auto")
        done = self.percuss(*auto, status=0)
        self.assertIn("scheme.rho_inf of the file is left out", done.stdout + done.stderr)
        self.assertIn("scheme: auto is alpha_ggl: half_explicit cannot run it: ", done.stdout + done.stderr)
        word = self.percuss("check", "cases/bar_impact", "--set", "scheme=auto")
        self.assertEqual(word.stdout, done.stdout)
        for scheme, option, words in (("auto", "rho_inf=0.5", "scheme: unknown key 'rho_inf', allowed: type\n$"),
                                      ("alpha_ggl", "rho_inf=0.5", "^$"), ("[auto]", "a=1", "has no item 'a'")):
            done = self.percuss("check", "cases/bar_impact", "--set", "scheme=" + scheme, "--set", "scheme." + option)
            self.assertRegex(done.stderr, words)
        self.assertIn("unknown key 'rho_inf'", self.percuss(*auto, "--set", "scheme.rho_inf=0.5").stderr)
        done = self.percuss(*auto, "--set", 'elements.bar.E="${EE}"')
        self.assertEqual(done.stderr.count("error: "), 1)
        done = self.percuss(*auto, "--set", "start=statics", "--set", "loads.push={type: force, node: bar.end, "
                            "value: [1, 0, 0]}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("error: ", done.stderr)  # of alpha_ggl, as of all schemes: a free bar has no equilibrium

    def test_as_many_lines_as_are_looked_at(self):
        star = ("mesh: {'b${i}': { repeat: {count: 8}, type: line, from: [0, 0, 0], to: ['${i}', 1, 0], elements: 3}}\n"
                "elements: { b: { type: rod_2d, mesh: [b1, b2, b3, b4, b5, b6, b7, b8], E: 1, rho: 1, area: 1 } }\n"
                "initial: [{ set: b1, velocity: [-1, 0, 0] }]\n"
                "scheme: { type: alpha_ggl }\ntime: { step: auto, end: 3.0e-3 }\n")
        self.percuss("check", self.write("case.yaml", star), status=0)

    def test_loads_without_jumps(self):
        """A slow sine excites no waves: 120 steps in its period, however fine the mesh."""
        text = ("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 500 } }\n"
                "elements: { bar: { type: rod, mesh: bar, E: 2.1e11, rho: 7850, area: 1.0e-4 } }\n"
                "supports: { left: { set: bar.start, fix: [x] } }\nscheme: { type: newmark }\n"
                "loads: { pull: { type: force, set: bar.end, value: [1.0, 0, 0], amplitude: %s } }\n"
                "time: { step: auto, end: 1.0 }\n")
        self.assertAlmostEqual(self.judge(text % "{ sine: { frequency: 50 } }")[1], 0.02 / 120, delta=1e-12)
        sudden = text % "{ pulse: { shape: rectangle, duration: 0.01 } }"
        self.assertLess(self.judge(sudden, "--set", "time.end=0.02")[1], 1e-6)

    def test_errors_have_a_place(self):
        spring = ("mesh:\n  s: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: auto }\n"
                  "  m: { type: point, nodes: s }\n"
                  "elements: { s: { type: spring_damper, mesh: s, stiffness: 1.0 },\n"
                  "  m: { type: point_mass, mesh: m, mass: 1.0 } }\n"
                  "scheme: { type: newmark }\ntime: { step: 0.1, end: 1.0 }\n")
        done = self.percuss("run", self.write("case.yaml", spring), status=2)
        self.assertRegex(done.stderr, r"case.yaml:2:62: mesh.s: must be a number: 'auto' counts cells for waves")
        euler = ("check", "cases/bar_fast", "--set", "scheme=moreau_jean_explicit", "--set", "time.step=auto", "--set")
        self.assertIn("vibrations with little or no damping grow", self.percuss(*euler, "damping={mass: 1}").stderr)
        still = ("mesh: { m: { type: point, at: [0, 0, 0] } }\n"
                 "elements: { m: { type: point_mass, mesh: m, mass: 1.0, in: line } }\n"
                 "scheme: { type: newmark }\ntime: { step: auto, end: 1.0 }\n")
        done = self.percuss("check", self.write("case.yaml", still), status=2)
        self.assertRegex(done.stderr, r"case.yaml:4:15: .*nothing in this model moves, .* give a number")

    def test_runs_do_not_end_early(self):
        """Whirls that grow, forces that fall to 0 within a step, impacts that accumulate, a journal in mid-bore."""
        shaft = "elements.shaft.speed=1.0e+5"  # ends after 1 ms without the limit for what spins
        for case, scheme, *more in (
                ("shaft_whirl", "half_explicit", "time.end=1e-4", shaft),
                ("shaft_whirl", "{type: tdg_minus, degree: 2}", "time.end=5e-4", shaft),
                ("shaft_whirl", "half_explicit_rk", "time.end=1e-3", shaft),
                ("cantilever_stop", "mannshardt", "time.end=0.015"),
                ("rocking_block", "event_driven"), ("rotor", "moreau_jean_explicit", "time.end=1e-6")):
            with self.subTest(case=case, scheme=scheme):
                sets = [word for text in ("scheme=" + scheme, "time.step=auto", *more) for word in ("--set", text)]
                self.percuss("run", "cases/" + case, *sets, "--overwrite", "-o", self.folder / "out", status=0)
                if case == "shaft_whirl":
                    energy = program.read_json(self.folder / "out" / "summary.json")["energy"]
                    self.assertLess(energy["final"] / energy["initial"], 1.001)

    def test_no_step_where_none_will_do(self):
        for case, scheme, words in (
                ("shaft_whirl", "moreau_midpoint", "grow at any step of use, and so does the whirl of what spins"),
                ("shaft_whirl", "schatzman_paoli", "grow at any step of use, and so does the whirl of what spins"),
                ("oscillator", "moreau_jean_explicit", "vibrations with little or no damping"),
                ("pendulum", "alpha_index3", "no step for impacts of rigid bodies")):
            done = self.percuss("check", "cases/" + case, "--set", "scheme=" + scheme, "--set", "time.step=auto")
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
        done = self.percuss("check", "cases/rotor", "--set", "scheme=moreau_jean_explicit", "--set", "time.step=auto")
        self.assertIn("auto is 2.95285e-08 s", done.stderr)  # 60/w^2 + 3.2e-8 s of the axle: dampers of mounts may rest
        self.percuss("check", "cases/oscillator", "--set", "scheme=moreau_jean_explicit", status=0)

    def test_sets_by_place(self):
        text = BAR.format(gap=2e-4, end=1.0002, E=2.1e11, rho=7850.0, area=1e-4, v=-3.0, time=1e-3)
        text += "sets: { s: { nodes: bar, at: [0.5011, 0, 0] } }\n"
        done = self.percuss("check", self.write("case.yaml", text))
        self.assertRegex(done.stderr, "no node lies at .*\n.*sets.s: is chosen on a trial mesh first, with 400 cells")

    def test_studies_refine_the_numbers(self):
        text = BAR.format(gap=2e-4, end=1.0002, E=2.1e11, rho=7850.0, area=1e-4, v=-3.0, time=5e-4)
        self.percuss("study", self.write("case.yaml", text), "--refine", "mesh=2,3 step=2,3", "--measure",
                     "E=energy.final", "-o", self.folder / "study", status=0)
        resolved = [path.read_text() for path in (self.folder / "study").rglob("case.resolved.yaml")]
        self.assertEqual({re.search(r"elements: (\d+)", case)[1] for case in resolved}, {"200", "400", "800"})
        steps = sorted(float(re.search(r"\n  step: (\S+)", case)[1]) for case in resolved)
        self.assertAlmostEqual(steps[-1], 4.0 * steps[0], delta=1e-12)


unittest.main()
