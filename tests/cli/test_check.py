"""What `percuss check` tells of bars: speeds, impedances, travel times, Courant numbers; and what
it refuses before a run does. Argument: the path of the program."""

import re
import unittest

import program

BARS = """\
mesh:
  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], cells: { travel_time: 1.0e-2 } }
  b: { type: line, from: [1, 0, 0], to: [3, 0, 0], elements: 200 }
  c: { type: line, from: [3.5, 0, 0], to: [4.5, 0, 0], elements: 100 }
merge: { ab: { sets: [a.end, b.start] } }
elements:
  a: { type: rod, mesh: a, E: 4.0, rho: 1.0, area: 3.0 }
  b: { type: rod, mesh: b, E: 2.0, rho: 2.0, area: { steps: [[0, 1.0], [0.5, 3.0]] } }
  c: { type: rod, mesh: c, E: 1.0, rho: 1.0, area: { from: 1.0, to: 2.0 } }
contacts:
  hit: { type: node_node, a: b.end, b: c.start, normal: [1, 0, 0], restitution: 0.0 }
"""
IMPLICIT = "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-2, end: 0.1 }\n"
BEAM = """\
mesh: { beam: { type: line, from: [0, 0, 0], to: [2, 0, 0], elements: 4 } }
elements: { beam: { type: beam_exact_2d, mesh: beam, E: 8.0, nu: 0.0, rho: 2.0,
  section: { type: rectangle, width: 0.5, height: 0.5, shear_factor: 0.5 } } }
"""
WAVE = """\
mesh: { bar: { type: line, from: [0, 0, 0], to: [1.003, 0, 0], cells: { travel_time: 1.0e-2 } } }
elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 } }
contacts: { wall: { type: node_plane, nodes: bar.start, point: [-1, 0, 0], normal: [1, 0, 0], restitution: 0.0 } }
scheme: { type: wave }
time: { step: auto, end: 1.0 }
"""


# Cones that meet with ends of their own, and a line of cells of two lengths.
CONES = """\
mesh:
  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 }
  b: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 5 }
  p: { type: line, from: [0, 1, 0], to: [1, 1, 0], elements: 2 }
  q: { type: line, from: [1, 1, 0], to: [2, 1, 0], elements: 6 }
merge: { tip: { sets: [a.end, b.start] }, even: { sets: [p.end, q.start] } }
sets: { pq: { cells: [p, q] } }
elements:
  a: { type: rod, mesh: a, E: 1.0, rho: 1.0, area: { from: 1.0, to: 3.0 } }
  b: { type: rod, mesh: b, E: 1.0, rho: 1.0, area: { from: 1.0, to: 5.0 } }
  pq: { type: rod, mesh: pq, E: 1.0, rho: 1.0, area: 1.0 }
"""


# Statics and modes need no scheme and no clock.
ROOF = """\
mesh: { roof: { type: line, from: [-1, 0, 0], to: [0, 0.3, 0], elements: 1 } }
elements: { roof: { type: rod_large_2d, mesh: roof, E: 2.1e11, rho: 7800, area: 1.0e-4 } }
supports: { a: { set: roof.start, fix: [x, y] } }
output: { probes: { ridge: { node: roof.end, of: [uy] } } }
"""


# A pushed mass and one that is led: formulas of t that stop to be numbers within the run.
FORMULAS = """\
mesh:
  a: { type: point, at: [0, 0, 0] }
  b: { type: point, at: [1, 0, 0] }
elements:
  a: { type: point_mass, mesh: a, mass: 1.0, in: line }
  b: { type: point_mass, mesh: b, mass: 1.0, in: line }
loads:
  push: { type: force, node: a, value: [1, 0, 0], amplitude: { expression: LOAD } }
joints:
  lead: { type: prescribed, node: b, along: x, MOTION }
scheme: { type: alpha_ggl }
time: { step: 0.01, end: END }
"""


class Check(program.Cases):
    def formulas(self, load="1", motion="expression: 0", end="1.0", **wanted):
        return self.check(FORMULAS.replace("LOAD", load).replace("MOTION", motion).replace("END", end), **wanted)

    def test_formulas_that_end_within_the_run(self):
        where = "amplitude: { expression: "
        column = FORMULAS.splitlines()[7].index(where) + len(where) + 1
        for load, time, value in (("sqrt(0.505 - t)", "0.51", "-?nan"), ("exp(2000 * t)", "0.36", "inf"),
                                  ("sqrt(1 - t)", "1", "-?nan")):
            with self.subTest(load=load):
                result = self.formulas(load=load, status=2)
                self.assertRegex(result.stderr, r":8:%d: .*loads\.push\.amplitude\.expression.*" % column
                                 + f"finite number over the run, is {value} at t = {time} s")
        for motion, message in (("expression: t^2 * sqrt(0.505 - t)", "is -?nan at t = 0.51 s"),
                                ("displacement: { expression: t^3 * exp(-exp(800*t)) }", "rate.*(nan|inf) at t = 0.88"),
                                ("velocity: { expression: 0 * exp(2000 * t) }", "")):
            with self.subTest(motion=motion):
                self.assertRegex(self.formulas(motion=motion, status=2).stderr, r"joints\.lead\..*" + message)

    def test_formulas_that_hold_over_the_run(self):
        for end in ("0.5", "0.495"):
            self.formulas("sqrt(0.505 - t)", "displacement: { expression: sin(t)^3 }", end, status=0)

    def test_what_a_case_is_enough_for(self):
        result = self.check(ROOF, status=0)
        self.assertIn("bars.yaml: fine, 2 dofs, 0 contact points, enough for statics and modes; a run needs 'scheme' "
                      "and 'time'", result.stdout)
        self.assertNotIn("Courant", result.stdout)
        result = self.check(ROOF.replace("[uy]", "[uq]"), status=2)
        self.assertRegex(result.stderr, r"^error: bars.yaml:4:51: .*a node has no component 'uq'")
        self.assertEqual(result.stderr.count("error:"), 1, result.stderr)
        # Who gives one of both wants a run, which still needs both.
        result = self.check(ROOF + "time: { step: 1.0e-3, end: 1 }\n")
        self.assertEqual((result.returncode, result.stderr.count("missing key 'scheme'")), (2, 1))
        program.percuss("run", "bars.yaml", "-o", "out", cwd=self.folder, status=2)

    def check(self, text, *options, **wanted):
        self.write("bars.yaml", text)
        return program.percuss("check", "bars.yaml", *options, cwd=self.folder, **wanted)

    def lines(self, text, *options):
        result = self.check(text, *options, status=0)
        return [line.strip() for line in result.stdout.splitlines()[1:]]

    def numbers(self, line):
        return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", line)]

    def test_parts_of_bars(self):
        a, b, c, clock, cells, step = self.lines(BARS + IMPLICIT)
        # L/c = 0.5, 2 and 1 s
        self.assertEqual(cells, "elements: auto would take 200 in a, 800 in b, 400 in c")
        self.assertEqual(step, "time.step: auto would take 0.0005 s, 200 steps in 0.1 s, the run")
        self.assertEqual(a, "a: c = 2 m/s, Z = 6 kg/s, travel time 0.5 s over 1 m, 0.01 s through each of 50 cells")
        self.assertEqual(b, "b: c = 1 m/s, Z = 2 to 6 kg/s, travel time 2 s over 2 m, 0.01 s through each of 200 cells")
        self.assertEqual(c, "c: c = 1 m/s, Z = 1 to 2 kg/s, travel time 1 s over 1 m, 0.01 s through each of 100 cells")
        self.assertTrue(clock.startswith("steps of 0.01 s, Courant number 1; stable step of half_explicit 0.00577"),
                        clock)

    def test_the_stable_step_is_that_of_the_scheme(self):
        """Gyroscopic moments leave half_explicit a twelfth of its step, and four schemes none."""
        def said(scheme, *more):
            out = program.percuss("check", "shaft_whirl", "--set", f"scheme={scheme}", *more).stdout
            return re.search("Courant number [^;]*; (.*)", out)[1]
        self.assertEqual(said("newmark"), "stable step of half_explicit 2.84598e-07 s")
        self.assertEqual(said("half_explicit", "--set", "time.step=auto"), "stable step of half_explicit 2.84598e-07 s")
        self.assertEqual(said("half_explicit_rk", "--set", "time.step=1e-6"),
                         "stable step of half_explicit_rk 5.48976e-06 s")
        self.assertEqual(said("moreau_midpoint", "--set", "time.allow_unstable=true"),
                         "no step of moreau_midpoint is stable")

    def test_cones_and_uneven_cells(self):
        lines = self.lines(CONES + IMPLICIT)
        self.assertIn("a: c = 1 m/s, Z = 1 to 3 kg/s, travel time 1 s over 1 m, 0.25 s through each of 4 cells", lines)
        self.assertIn("pq: c = 1 m/s, Z = 1 kg/s, travel time 2 s over 2 m, 0.25 s through each of 8 cells on average",
                      lines)
        self.assertTrue(lines[-2].startswith("steps of 0.01 s, Courant number 0.02 to 0.06"), lines[-2])

    def test_a_group_may_have_several_lines(self):
        text = """
mesh:
  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 10 }
  b: { type: line, from: [2, 0, 0], to: [4, 0, 0], elements: 10 }
  c: { type: line, from: [5, 0, 0], to: [6, 0, 0], cells: { travel_time: 0.05 } }
elements:
  bars: { type: rod, mesh: [a, b, c], E: 4.0, rho: 1.0, area: 3.0 }
contacts:
  hit: { type: node_node, a: a.end, b: b.start, normal: [1, 0, 0], restitution: 0 }
"""
        a, b, c, clock, *pulse = self.lines(text + IMPLICIT)
        self.assertEqual(a, "bars, a: c = 2 m/s, Z = 6 kg/s, travel time 0.5 s over 1 m, 0.05 s through each of 10 "
                            "cells")
        self.assertEqual(b, "bars, b: c = 2 m/s, Z = 6 kg/s, travel time 1 s over 2 m, 0.1 s through each of 10 cells")
        self.assertEqual(c, a.replace("bars, a", "bars, c"))
        self.assertIn("Courant number 0.1 to 0.2", clock)
        # The same by a set, and what a list may not have.
        by_set = text.replace("[a, b, c]", "all").replace("cells: { travel_time: 0.05 }", "elements: 10")
        by_set += "sets: { all: { cells: [a, b, c] } }\n"
        self.assertEqual(self.lines(by_set + IMPLICIT), [a, b, c, clock, *pulse])
        for bad, expected in (("[a, q, c]", "must name a set of cells, is 'q'"), ("[]", "is an empty list"),
                              ("[a, [b], c]", "elements.bars.mesh")):
            self.assertIn(expected, self.check(text.replace("[a, b, c]", bad) + IMPLICIT, status=2).stderr)
        # A lattice is reported as a whole.
        frame = program.percuss("check", "cases/frame_lattice").stdout.splitlines()
        self.assertRegex(frame[1], "struts: axial waves .* through each of 3280 cells")
        self.assertRegex(frame[-1], "elements: auto would take [0-9]+ in net$")
        self.assertEqual(len(frame), 5)

    def test_beams_have_two_kinds_of_waves(self):
        axial, transverse, clock, cells, *step = self.lines(BEAM + IMPLICIT)
        self.assertIn("elements: auto would take 24 in", cells)
        self.assertEqual(self.numbers(axial), [2.0, 1.0, 1.0, 2.0, 0.25, 4.0])
        self.assertEqual(self.numbers(transverse), [1.0, 0.5, 2.0, 2.0, 0.5, 4.0])
        self.assertIn("Courant number 0.04;", clock)

    def test_the_mismatch_of_cells_is_told(self):
        result = self.check(WAVE, status=0)
        self.assertIn("note: mesh.bar: 100 cells, whose travel time differs by +0.3 % from 0.01 s", result.stderr)

    def test_what_the_first_step_of_waves_would_refuse(self):
        result = self.check(WAVE, "--set", "contacts.wall.restitution=0.5", status=2, stdout="")
        self.assertIn("bars.yaml:4:9: scheme: contact 'wall' has a restitution of 0.5", result.stderr)

    def test_models_without_bars_say_nothing_of_waves(self):
        ball = "system: { type: ball, mass: 1.0, radius: 0.2, gravity: 10.0, height: 1.0, restitution: 0.5 }\n"
        self.assertEqual(len(self.lines(ball + IMPLICIT)), 1)
        self.assertIn("time.step: auto would take", self.lines(ball + IMPLICIT)[0])
        self.assertEqual(self.check(BARS + IMPLICIT, "-q").stdout, "")


unittest.main()
