"""percuss statics and percuss modes from the command line: tables, files, options, exit status. Argument: the path of
the program."""

import fcntl
import math
import os
import unittest

import program

BEAM = """\
title: A cantilever
mesh:
  beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 32 }
elements:
  beam: { type: beam_timo_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7800.0,
          section: { type: rectangle, width: 0.01, height: 0.01, shear_factor: 0.8333333333333333 } }
supports:
  clamp: { set: beam.start, fix: [x, y, rz] }
loads:
  tip: { type: force, node: beam.end, value: [0, -10.0, 0], amplitude: { table: [[0, 1], [1, 3]] } }
output:
  probes: { tip: { node: beam.end, of: [uy] } }
"""
# The tip keeps its distance of 1 from the origin, and is moved along x from 0.6 on: to 1 it can follow, no further.
TIED = """\
mesh:
  beam: { type: line, from: [0.6, -1.0, 0], to: [0.6, 0.8, 0], elements: 6 }
elements:
  beam: { type: beam_exact_2d, mesh: beam, E: 1.0e6, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.1, height: 0.1 } }
supports:
  clamp: { set: beam.start, fix: [x, y, rz] }
joints:
  tie: { type: distance, node: beam.end, anchor: [0, 0, 0] }
  pull: { type: prescribed, node: beam.end, along: x, table: [[0, 0], [1, 1]] }
output:
  probes: { tip: { node: beam.end, of: [x, y] } }
"""


# A sagging beam that slides along x, with a body below its end that has swung down by a quarter turn and spins freely.
HANGING = """\
mesh:
  beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 10 }
  bob: { type: point, at: [2, 0, 0] }
elements:
  beam: { type: beam_exact_3d, mesh: beam, E: 1.0e+7, nu: 0.3, rho: 1000.0, orientation: [0, 0, 1],
          section: { type: rectangle, width: 0.1, height: 0.15 } }
  bob: { type: rigid_body_3d, mesh: bob, mass: 1.0, inertia: [0.1, 0.2, 0.3] }
joints: { tie: { type: ball, a: beam.end, b: bob, at: [1, 0, 0] } }
supports: { guide: { set: beam.start, fix: [y, z, rx, ry, rz] } }
loads: { weight: { type: gravity, g: [0, 0, -9.81] } }
"""


class Analyses(program.Cases):
    def setUp(self):
        super().setUp()
        self.write("beam.yaml", BEAM)

    def percuss(self, *arguments, **wanted):
        return program.percuss(*arguments, cwd=self.folder, **wanted)

    # More motions without force than modes asked for, in models that are too large for LAPACK.
    def test_whirl_among_many_free_motions(self):
        bodies = 10
        lines = "".join(f"  b{i}: {{ type: line, from: [0, {i}, 0], to: [1, {i}, 0], elements: 20 }}\n"
                        for i in range(bodies))
        beam = BEAM[BEAM.index("elements:\n"):BEAM.index("supports:")].replace("mesh: beam", "mesh: all")
        names = ", ".join(f"b{i}" for i in range(bodies))
        self.write("free.yaml", f"mesh:\n{lines}sets: {{ all: {{ cells: [{names}] }} }}\n"
                   f"{beam}damping: {{ stiffness: 1.0e-6 }}\n")
        # A straight chain: each node moves across at will.
        self.write("chain.yaml", "mesh: { b: { type: line, from: [0, 0, 0], to: [200, 0, 0], elements: 200 } }\n"
                   "elements: { b: { type: rod_2d, mesh: b, E: 2.1e11, rho: 7800, area: 1.0e-4 } }\n"
                   "supports: { a: { set: b.start, fix: [x, y] } }\n")
        for case, count, free in (("free", 1, 30), ("free", 6, 30), ("free", 29, 30), ("free", 30, 30),
                                  ("free", 31, 30), ("free", 40, 30), ("chain", 50, 200)):
            with self.subTest(case=case, count=count):
                self.percuss("modes", case + ".yaml", "--whirl", "--count", str(count), "-q", status=0, stderr="")
                table = program.read_rows(self.path("results", case + "_modes", "modes.csv"))
                self.assertEqual(len(table), count)
                for i, row in enumerate(table):
                    if i < free:
                        self.assertEqual(float(row["w"]), 0.0)
                        self.assertIn(row["kind"].split(":")[0], ("rigid", "mechanism"))
                    else:  # of a free beam of one metre, each ten times
                        self.assertAlmostEqual(float(row["w"]) / 335.0, 1.0, delta=0.01)

    def test_rigid_motions_about_a_state_are_named(self):
        self.write("hanging.yaml", HANGING)
        self.percuss("modes", "hanging.yaml", "--about", "statics", "--count", "4", "-q", status=0, stderr="")
        table = program.read_rows(self.path("results", "hanging_modes", "modes.csv"))
        self.assertEqual([row["kind"] for row in table] + [table[0]["name"]], ["rigid"] * 2 + ["vibration"] * 2 +
                         ["translation along x"])  # nothing holds the model along x: it rests anywhere there
        self.assertRegex(table[1]["name"], r"rotation about z through \([\d.]+, 0, -1\.07.*\) of part 'bob'")

    def test_modes_are_a_table_and_files(self):
        result = self.percuss("modes", "beam.yaml", "--count", "3", status=0, stderr="")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0].split(), ["mode", "w,", "rad/s", "f,", "Hz", "damping", "kind"])
        self.assertEqual(lines[1].split()[0], "1")
        self.assertAlmostEqual(float(lines[1].split()[1]) / 52.6608455, 1, delta=1e-7)
        self.assertIn("Open in ParaView: results/beam_modes/beam_modes.vtk.series", result.stdout)
        table = program.read_rows(self.path("results", "beam_modes", "modes.csv"))
        self.assertEqual([row["mode"] for row in table], ["1", "2", "3"])
        for row, w in zip(table, (52.6608455, 329.862708, 922.915464)):
            self.assertAlmostEqual(float(row["w"]) / w, 1, delta=1e-5)
            self.assertAlmostEqual(float(row["f"]) * 2 * math.pi / float(row["w"]), 1, delta=1e-14)
            self.assertEqual((row["kind"], row["name"]), ("vibration", ""))
        names = sorted(os.listdir(self.path("results", "beam_modes")))
        self.assertEqual(names, ["beam_modes.vtk.series", "beam_modes_000000.vtk", "beam_modes_000001.vtk",
                                 "beam_modes_000002.vtk", "case.resolved.yaml", "modes.csv", "view.json", "view.py"])

    def test_statics_are_a_summary_and_files(self):
        result = self.percuss("statics", "beam.yaml", "--steps", "4", status=0, stderr="")
        self.assertIn("Static analysis finished", result.stdout)
        table = program.read_rows(self.path("results", "beam_statics", "statics.csv"))
        self.assertEqual([float(row["factor"]) for row in table], [0, 0.25, 0.5, 0.75, 1])
        area, inertia, shear = 1e-4, 1e-8 / 12, 2.1e11 / 2.6
        exact = -10 * (1 / (3 * 2.1e11 * inertia) + 1.2 / (shear * area))
        self.assertAlmostEqual(float(table[-1]["tip.uy"]) / exact, 1, delta=1e-9)
        self.assertAlmostEqual(float(table[1]["tip.uy"]) / exact, 0.25, delta=1e-9)
        self.assertTrue(os.path.exists(self.path("results", "beam_statics", "beam_statics_000004.vtk")))
        self.percuss("statics", "beam.yaml", "--time", "0.5", "-o", "later", "-q", status=0, stdout="")
        last = program.read_rows(self.path("later", "statics.csv"))[-1]
        self.assertAlmostEqual(float(last["tip.uy"]) / exact, 2, delta=1e-9)

    def test_forces_that_are_not_told_apart_have_no_work(self):
        self.write("ball.yaml", "system: { type: ball }\nscheme: { type: alpha_ggl }\ntime: { step: 1.0e-3, end: 1 }\n")
        self.assertNotIn("  work ", self.percuss("statics", "ball.yaml", "-o", "ball", status=0, stderr="").stdout)
        last = program.read_rows(self.path("ball", "statics.csv"))[-1]
        self.assertEqual([last[f"{name}_work"] for name in ("load", "joint", "friction")], 3 * [""])
        self.assertAlmostEqual(float(last["floor.force"]), 10, delta=1e-12)

    def test_what_cannot_be_reached_keeps_what_there_was(self):
        self.write("tied.yaml", TIED)
        result = self.percuss("statics", "tied.yaml", "--time", "1", "-o", "stopped", status=1)
        self.assertRegex(result.stderr, r"\Aerror: no equilibrium at load factor 0\.4\S*, the last one is at 0\.39")
        self.assertIn("Static analysis stopped", result.stdout)
        table = program.read_rows(self.path("stopped", "statics.csv"))
        self.assertGreater(len(table), 4)
        last = table[-1]
        self.assertAlmostEqual(float(last["tip.x"]), 0.6 + float(last["factor"]), delta=1e-11)
        self.assertTrue(os.path.exists(self.path("stopped", f"tied_statics_{len(table) - 1:06d}.vtk")))
        self.assertFalse(os.path.exists(self.path("stopped", f"tied_statics_{len(table):06d}.vtk")))

    def test_modes_about_an_equilibrium(self):
        stop = ("contacts.stop={type: node_plane, nodes: beam.end, point: [0, -0.002, 0], normal: [0, 1, 0], "
                "restitution: 0}")
        for name, more in (("free", []), ("held", ["--about", "statics", "--steps", "2"])):
            self.percuss("modes", "beam.yaml", "--set", stop, "--count", "1", "-o", name, *more, status=0)
        w = [float(program.read_rows(self.path(name, "modes.csv"))[0]["w"]) for name in ("free", "held")]
        self.assertAlmostEqual(w[0], 52.6608, delta=1e-3)
        self.assertAlmostEqual(w[1] / (15.41821 / 3.516015), w[0], delta=0.1)

    def test_a_folder_of_another_run_is_left_alone(self):
        os.mkdir(self.path("taken"))
        lock = os.open(self.path("taken"), os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in ("modes", "statics"):
            result = self.percuss(command, "beam.yaml", "-o", "taken", status=1)
            self.assertIn("another run writes into the output directory 'taken'", result.stderr)
        self.assertEqual(os.listdir(self.path("taken")), [])

    def test_wrong_options_are_refused(self):
        for arguments, message in (
                (["modes", "beam.yaml", "--count", "0"], "--count must be a whole number from 1 to 1000000, is '0'"),
                (["modes", "beam.yaml", "--count", "2.5"], "--count must be a whole number"),
                (["modes", "beam.yaml", "--about", "static"], "--about must be 'statics', is 'static'"),
                (["modes", "beam.yaml", "--steps", "3"], "--steps is for statics and modes --about statics"),
                (["statics", "beam.yaml", "--count", "3"], "--count is an option of modes, not of 'statics'"),
                (["statics", "beam.yaml", "--whirl"], "--whirl is an option of modes, not of 'statics'"),
                (["statics", "beam.yaml", "--about", "statics"], "--about is an option of modes, not of 'statics'"),
                (["statics", "beam.yaml", "--time", "soon"], "--time must be a number, is 'soon'"),
                (["statics", "beam.yaml", "--steps"], "a value must follow the option '--steps'"),
                (["run", "beam.yaml", "--time", "1"], "--time is an option of statics, modes, not of 'run'"),
                (["static", "beam.yaml"], "unknown command 'static', did you mean 'statics'?"),
                (["statics"], "a case must follow 'statics'"),
                (["modes", "none.yaml"], "none.yaml")):
            self.assertIn(message, self.percuss(*arguments, status=2, stdout="").stderr)

    def test_a_start_in_equilibrium_finds_displacements_itself(self):
        more = ["--set", "scheme={type: alpha_ggl, rho_inf: 0.8}", "--set", "time={step: 1.0e-4, end: 1.0e-3}", "--set",
                "start=statics", "-q", "-o", "run"]
        self.percuss("run", "beam.yaml", *more, "--set", "loads.tip.amplitude={table: [[0, 1]]}", status=0, stderr="")
        history = program.read_rows(self.path("run", "history.csv"))
        self.assertAlmostEqual(float(history[0]["tip.uy"]), float(history[-1]["tip.uy"]), delta=1e-12)
        self.assertLess(float(history[0]["tip.uy"]), -0.01)
        moved = "initial=[{set: beam.end, displacement: [0, 0, 0]}]"
        self.assertIn("a start in equilibrium finds the displacements itself",
                      self.percuss("run", "beam.yaml", *more, "--set", moved, status=2).stderr)
        result = self.percuss("run", "beam.yaml", *more, "--set", "supports={}", status=2)
        self.assertIn("the equilibrium to start from: the model is free to move", result.stderr)


unittest.main()
