"""Runs over several ranks: they agree with the serial run, write once, and end together. Argument: the program.

Linear systems are solved to 1e-13 here; every column of the history must then agree to 1e-9 of its size (or of 1).
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import pieces
from ranks import HANG, PROGRAM, REPEATABLE, TIGHT, Ranks, errors_of, history, run, serial

TWO_BARS = ["cases/bars_two", "--set", "mesh.left.elements=40", "--set", "mesh.right.elements=40",
            "--set", "time.step=0.15"]

LATTICE = """
mesh:
  grid: { type: lattice, cells: [6, 6], size: [0.1, 0.1], origin: [0.01, 0, 0], diagonals: one }
elements:
  grid: { type: beam_timo_2d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: 0.02 } }
initial:
  - { set: grid, velocity: [-5.0, 0, 0] }
contacts:
  wall: { type: node_plane, nodes: grid.xmin, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.0 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 5.0e-5, end: 0.004 }
output:
  frames: { every: 40 }
  probes:
    free: { set: grid.xmax, of: [x, vx, y] }
    struts: { element: grid.y, of: [axial_force] }
"""

SETS = """
mesh:
  grid: { type: lattice, cells: [6, 5], size: [0.1], origin: [0.0005, 0, 0], elements: 2 }
  bar: { type: line, from: [-1, 5, 0], to: [1, 5, 0], elements: 40 }
elements:
  grid: { type: beam_timo_2d, mesh: grid, E: 2.1e+11, nu: 0.3, rho: 7800.0,
          section: { type: rectangle, width: 0.01, height: 0.02 } }
  bar: { type: rod, mesh: bar, E: 2.0e+11, rho: 8000.0, area: 1.0e-4 }
sets:
  left: { nodes: grid.joints, box: [[-1, -1, -1], [0.15, 9, 9]] }
  two: { nodes: grid, at: [[0.1005, 0.1, 0], [0.5005, 0.4, 0]] }
  rows: { cells: grid.x, plane: [[0, 0.2, 0], [0, 1, 0]] }
  rest: { nodes: grid, without: [left, grid.xmax, grid.ymin] }
supports:
  top: { set: grid.ymax, fix: [y], reactions: true }
  bottom: { set: grid.ymin, fix: [y, rz] }
  end: { set: bar.end, fix: [x] }
initial:
  - { set: grid, velocity: [-10, 0, 0] }
  - { set: grid.xmax, displacement: { from: [0, 0, 0], to: [1.0e-4, 0, 0] } }
  - { set: bar, velocity: { from: [3, 0, 0], to: [0, 0, 0] } }
loads:
  weight: { type: gravity, g: [-9.81, 0, 0] }
  pull: { type: force, set: grid.xmax, value: [-10, 0, 0] }
  turn: { type: moment, set: rest, value: [0, 0, 0.1] }
  line: { type: line, cells: grid.x, value: [0, 20, 0] }
contacts:
  floor: { type: node_plane, nodes: left, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.2 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.1e-5, end: 2.2e-4 }
output:
  frames: { every: 0 }
  probes:
    two: { set: two, of: [x, vx] }
    rows: { set: rows, of: [x, y] }
    struts: { element: rows, of: [axial_force, axial_start, shear_end, moment_start, moment_end] }
    body: { body: grid, of: [x, vx] }
    one: { set: rest, item: 3, of: [x] }
    bar: { set: bar, of: [vx] }
"""

SPINNING = """
mesh:
  beam: { type: line, from: [0, 0, 0.02], to: [1, 0, 0.02], elements: 8 }
elements:
  beam: { type: beam_exact_3d, mesh: beam, E: 1.0e8, nu: 0.3, rho: 1000.0,
          orientation: [0, 0, 1], section: { type: rectangle, width: 0.03, height: 0.02 } }
initial:
  - { set: beam, velocity: [2.0, 1.0, -3.0], spin: [1.0, 2.0, 5.0] }
loads:
  weight: { type: gravity, g: [0, 0, -9.81] }
contacts:
  floor: { type: node_plane, nodes: beam, point: [0, 0, 0], normal: [0, 0, 1], restitution: 0.5, friction: 0.3 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-3, end: 0.03 }
output:
  frames: { every: 0 }
  probes:
    end: { node: beam.end, of: [x, y, z, vx] }
"""

# Rods that give way where they touch, and a wall that does and presses from the start.
SOFT = """
mesh:
  left: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 30 }
  right: { type: line, from: [1.0001, 0, 0], to: [2.0001, 0, 0], elements: 30 }
elements:
  left: { type: rod, mesh: left, E: 2.0e+11, rho: 8000.0, area: 1.0e-4 }
  right: { type: rod, mesh: right, E: 2.0e+11, rho: 8000.0, area: 1.0e-4 }
initial:
  - { set: left, velocity: [2.0, 0, 0] }
contacts:
  touch: { type: node_node, a: left.end, b: right.start, normal: [1, 0, 0],
           law: { type: hunt_crossley, stiffness: 1.0e+10, damping: 0.05 } }
  wall: { type: node_plane, nodes: right.end, point: [2.00009, 0, 0], normal: [-1, 0, 0],
          law: { type: linear, stiffness: 1.0e+8 } }
scheme: { type: newmark }
time: { step: 2.0e-6, end: 1.2e-4 }
output:
  frames: { every: 0 }
"""

PENDULUM = ["cases/beam_pendulum", "--set", "time.end=0.33"]  # chaotic after that

SOFT_FLOOR = ("contacts.floor={type: node_plane, nodes: beam, point: [0, 0, 0.019], normal: [0, 0, 1], friction: 0.4, "
              "law: {type: linear, stiffness: 1.0e+6}}")

# A bar that yields at a wall, and one that relaxes behind it.
YIELDING = """
mesh:
  steel: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 24 }
  acrylic: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 16 }
merge: { joint: { sets: [steel.end, acrylic.start] } }
elements:
  steel: { type: rod_plastic, mesh: steel, E: 2.0e+11, rho: 7800.0, area: 1.0e-4, mass: lumped,
           yield_stress: 1.0e+8, tangent_modulus: 2.0e+10, kinematic: 0.5 }
  acrylic: { type: rod_viscoelastic, mesh: acrylic, E: 5.6e+9, rho: 1190.0, area: 1.0e-4, mass: lumped,
             relaxed_modulus: 4.2e+9, relaxation_time: 1.0e-4 }
sets: { all: { nodes: [steel, acrylic] } }
initial:
  - { set: all, velocity: [-12, 0, 0] }
contacts:
  wall: { type: node_plane, nodes: steel.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.0 }
scheme: { type: newmark, gamma: 0.6, beta: 0.3025 }
time: { step: 4.0e-6, end: 4.0e-4 }
output:
  frames: { every: 50 }
  probes:
    tip: { node: acrylic.end, of: [x, vx] }
    steel: { element: steel, of: [plastic_strain, plastic_work] }
    acrylic: { element: acrylic, of: [viscous_strain] }
"""

# A bushing, a mount and a spring at points that ride on exact beams.
RIDERS = """
mesh:
  one: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 6 }
  two: { type: line, from: [1.2, 0, 0], to: [2.2, 0.1, 0], elements: 6 }
  tie: { type: link, a: one.end, b: two.start }
  foot: { type: point, nodes: one.start }
  spring: { type: link, a: one.end, b: two.end }
elements:
  one: { type: beam_exact_3d, mesh: one, E: 1.0e8, nu: 0.3, rho: 1000.0,
         orientation: [0, 0, 1], section: { type: rectangle, width: 0.03, height: 0.02 } }
  two: { type: beam_exact_3d, mesh: two, E: 1.0e8, nu: 0.3, rho: 1000.0,
         orientation: [0, 0, 1], section: { type: rectangle, width: 0.03, height: 0.02 } }
  tie: { type: bushing, mesh: tie, stiffness: [4000, 2000, 3000], damper: [1, 2, 3], torsional_stiffness: [20, 30, 10],
         angles: finite, offset_b: [-0.1, 0.05, 0.02] }
  foot: { type: mount, mesh: foot, stiffness: [3000, 3000, 3000], torsional_stiffness: [5, 5, 5], angles: finite,
          offset: [0, -0.1, 0.05] }
  spring: { type: spring_damper, mesh: spring, stiffness: 500.0, offset_a: [0, 0.1, 0], offset_b: [0, 0, 0.1] }
initial:
  - { set: two, velocity: [2.0, 1.0, -3.0], spin: [1.0, 2.0, 5.0] }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-3, end: 0.03 }
output:
  frames: { every: 15 }
  probes:
    tip: { node: two.end, of: [x, y, z, rx] }
    tie: { element: tie, of: [force, moment, strain_energy] }
"""

# Sections that vary along rods and beams, with corners and steps within cells.
TAPERED = """
mesh:
  cone: { type: line, from: [0.001, 0, 0], to: [1.001, 0, 0], elements: 21 }
  beam: { type: line, from: [0, 1, 0], to: [1, 1, 0], elements: 13 }
elements:
  cone: { type: rod, mesh: cone, E: 2.0e+11, rho: 7800.0, area: { table: [[0, 1.0e-4], [0.33, 3.0e-4], [1, 2.0e-4]] } }
  beam: { type: beam_timo_2d, mesh: beam, E: 2.0e+11, nu: 0.3, rho: 7800.0,
          section: { type: tube, diameter: { from: 0.05, to: 0.03 },
                     thickness: { steps: [[0, 0.004], [0.52, 0.002]] } } }
supports: { root: { set: beam.start, fix: [x, y, rz], reactions: true } }
initial:
  - { set: cone, velocity: [-5, 0, 0] }
  - { set: beam.end, velocity: [1, 3, 0] }
contacts:
  wall: { type: node_plane, nodes: cone.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.0 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-5, end: 8.0e-4 }
output:
  frames: { every: 40 }
  probes:
    cone: { node: cone.end, of: [x, vx] }
    beam: { node: beam.end, of: [x, y, vy] }
"""


class Agreement(Ranks):
    # The contact lies on the border of the two ranks: one bar each; with four ranks the bars are cut, too.
    def test_two_bars(self):
        for scheme, count in (("{type: alpha_ggl, rho_inf: 0.8}", 4), ("{type: moreau_jean, rho_inf: 0.8}", 2)):
            self.compare(*TWO_BARS, "--set", "scheme=" + scheme, rows=201, counts=(count,))

    # Chaotic, but momentum is kept to the last digit as long as both ranks push with the same impulse.
    def test_copies_keep_their_bits(self):
        result = run(2, *TWO_BARS, "--set", "scheme={type: alpha_index3, rho_inf: 0.8}", "-q",
                       "-o", self.path("out"))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_damping_loads_and_supports(self):
        self.compare("cases/bar_clamped", "--set", "mesh.bar.elements=40", "--set", "time.end=1.0", counts=(2,))
        self.compare("cases/cantilever_stop", "--set", "time.end=0.02", "--set", "supports.clamp.reactions=true",
                     counts=(3,))
        self.compare("cases/shaft_whirl", "--set", "time.end=0.01", counts=(2,))

    def test_lattice(self):
        case = self.case("lattice", LATTICE)
        self.compare(case, counts=(3,), rows=81)

    # Sets of all kinds, of which no rank has all items: chosen by place, with reactions, line loads across borders,
    # values from the first to the last node, and one item.
    def test_sets_over_run(self):
        self.compare(self.case("sets", SETS), counts=(2, 3), rows=20)

    def test_many_contacts_solver(self):
        self.compare(self.case("lattice", LATTICE), "--set", "solver.type=schur", counts=(3,), rows=81)
        self.compare("cases/frame_lattice", "--set", "mesh.net.cells=[12, 12]", "--set", "time.end=2.2e-4",
                     counts=(2,))

    # An exact beam on a joint; few steps, because three ranks share two cores.
    def test_pendulum(self):
        self.compare(*PENDULUM, "--set", "time.step=5.0e-3", counts=(3,), rows=67)
        self.compare(*PENDULUM, "--set", "time.step=5.0e-3", "--set", "solver.type=schur", counts=(2,), rows=67)

    # Finite rotations and friction in space; every node may touch the floor, so that every rank has copies of all.
    def test_beam_in_space(self):
        self.compare(self.case("spinning", SPINNING), counts=(2,), rows=31)
        self.compare(self.case("spinning", SPINNING), "--set", "contacts.floor.nodes=beam.end", counts=(3,), rows=31)

    # Force laws: every rank evaluates all points, one of them counts their energy.
    def test_force_laws(self):
        self.compare(self.case("soft", SOFT), counts=(3,), rows=61)
        self.compare(self.case("soft", SOFT), "--set", "scheme.type=half_explicit", counts=(2,), rows=61)

    # Their friction remembers where points stuck, and how.
    def test_force_laws_with_friction(self):
        for scheme, count in (("alpha_ggl", 3), ("half_explicit", 2)):
            self.compare(self.case("spinning", SPINNING), "--set", SOFT_FLOOR, "--set", "scheme={type: " + scheme + "}",
                         "--set", "time={step: 5.0e-5, end: 1.5e-3}", counts=(count,), rows=31)
            with open(self.path(f"np{count}/summary.json")) as file:
                self.assertGreater(json.load(file)["energy"]["friction_loss"], 0.0)

    def test_materials_with_internal_variables(self):
        for scheme in ("newmark", "half_explicit"):
            self.compare(self.case("yielding", YIELDING), "--set", "scheme={type: " + scheme + "}", counts=(2,),
                         rows=101)
        with open(self.path("np2/summary.json")) as file:
            self.assertGreater(json.load(file)["energy"]["material_loss"], 1.0)

    def test_sections_that_vary(self):
        self.compare(self.case("tapered", TAPERED), counts=(2,), rows=81)

    # Some of them have nothing to do.
    def test_more_ranks_than_nodes(self):
        self.compare("cases/bar_impact", "--set", "mesh.bar.elements=2", "--set", "time={step: 0.01, end: 0.6}",
                     counts=(4,))

    # A system in closed form is computed by every rank, and written by one.
    def test_closed_form(self):
        self.compare("cases/ball", counts=(2,), options=[])

    def test_petsc_in_one_process(self):
        self.assertEqual(serial("cases/bar_impact", "-q", "-o", self.path("serial")).returncode, 0)
        result = serial("cases/bar_impact", "-q", "--set", "solver.linear=petsc", "-o", self.path("petsc"), *TIGHT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.agree(self.path("serial"), self.path("petsc"))
        with open(self.path("petsc/summary.json")) as file:
            self.assertIn("petsc", file.read())


class Writing(Ranks):
    # More cells than a rank sends at once, along a bar.
    def test_waves(self):
        self.compare("cases/bar_impact", "--set", "mesh.bar.elements=4000", "--set", "time={step: 1.0e-3, end: 2.0e-2}",
                     "--set", "initial=[{set: bar, velocity: ['-1 - x*x', 0, 0], displacement: ['0.001*x*x', 0, 0]}]",
                     "--set", "output.waves={body: bar, of: [axial_force, vx]}", counts=(3,))
        rows = []
        for folder in "serial", "np3":
            with open(self.path(f"{folder}/bar_impact.waves.csv")) as file:
                rows.append([list(map(float, line.split(","))) for line in file if line[0] != "#"])
        self.assertGreater(len(set(rows[0][1])), 4000)
        for x, y in zip(*rows):
            size = max(map(abs, x))
            self.assertLessEqual(max(abs(a - b) for a, b in zip(x, y)), 1e-8 * size)

    def test_frames_of_points_that_ride(self):
        self.compare(self.case("riders", RIDERS), "--set", "output.frames.format=vtu", counts=(3,), rows=31)
        lists = [pieces.read_list(self.path(f"{folder}/riders.pvd")) for folder in ("serial", "np3")]
        self.assertGreater(pieces.compare_lists(*lists, 1e-8), 12)

    # More equations than are exchanged at once.
    def test_resuming_a_large_model(self):
        out, whole = self.path("out"), self.path("whole")
        case = ["cases/bar_impact", "--set", "mesh.bar.elements=150000", "--set", "time={step: 1.0e-6, end: 4.0e-6}",
                "--set", "output={frames: {every: 0}, checkpoint: {every: 2}}", "-q", "-o", out]
        result = run(2, *case, *TIGHT)
        self.assertEqual(result.returncode, 0, result.stderr)
        shutil.copytree(out, whole)
        os.remove(os.path.join(out, "checkpoint.bin"))
        result = run(2, *case, "--resume", *TIGHT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.same_bytes(whole, out)

    def test_resuming(self):
        self.resume((2, 3, 1), "cases/cantilever_stop", "--set", "time.end=0.02",
                    "--set", "supports.clamp.reactions=true", "--set", "output.checkpoint.every=20")

    # What materials went through stands in the file as in one process.
    def test_resuming_materials(self):
        self.resume((2, 1), self.case("yielding", YIELDING), "--set", "output.checkpoint.every=30",
                    options=REPEATABLE)

    # And so does what stuck where.
    def test_resuming_friction_of_force_laws(self):
        self.resume((2, 1), self.case("spinning", SPINNING), "--set", SOFT_FLOOR,
                    "--set", "time={step: 5.0e-5, end: 1.5e-3}", "--set", "output.checkpoint.every=17",
                    options=REPEATABLE)

    def test_results_are_written_once(self):
        result = run(2, *TWO_BARS, "-o", self.path("out"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("Results in"), 1)
        self.assertEqual(result.stdout.count("82 dofs"), 1, result.stdout)
        self.assertEqual([name for name in os.listdir(self.path("out")) if name.endswith(".part")], [])
        with open(self.path("out/summary.json")) as file:
            self.assertEqual(json.load(file)["model"]["dofs"], 82)


# Bytes that a rank takes by itself, as Percuss counts them: those of the rank that has least, as the first one shows
# the model. They are taken per dof, from two lengths of a model that is cut across: what every process takes falls out,
# and so do copies at the cuts. A quarter of the model is 0.253 (line) and 0.261 (lattice) of what one rank takes; with
# the whole mesh on every rank it was 0.3.
class Memory(Ranks):
    def taken(self, count, *arguments):
        result = run(count, *arguments, "-q", "-o", self.path("out"), "--set", "output.frames.every=0")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out/summary.json")) as file:
            memory = json.load(file)["ranks"]
        self.assertEqual(memory["count"], count)
        self.assertLessEqual(memory["memory_bytes_least"], memory["memory_bytes_most"])
        return memory["memory_bytes_least"]

    def falls(self, lengths, *arguments):
        short, long = [["--set", length] for length in lengths]
        growth = [self.taken(n, *arguments, *long) - self.taken(n, *arguments, *short) for n in (1, 4)]
        self.assertGreater(growth[1], 0)
        self.assertLess(growth[1], 0.27 * growth[0])

    def test_of_a_lattice(self):
        self.falls(("mesh.net.cells=[200, 8]", "mesh.net.cells=[400, 8]"), "cases/frame_lattice",
                   "--set", "time.end=1.1e-5", "--set", "scheme={type: moreau_jean, theta: 0.5}")


class Ending(Ranks):
    def ends(self, status, part, *arguments, count=2):
        result = run(count, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        told = errors_of(result)
        self.assertEqual(len(told), 1, result.stderr)
        self.assertIn(part, told[0])

    def test_bad_input(self):
        self.ends(2, "unknown key 'foo'", *TWO_BARS, "-q", "-o", self.path("out"), "--set", "scheme.foo=3")
        self.ends(2, "one process", *TWO_BARS, "-q", "-o", self.path("out"), "--set", "scheme={type: event_driven}")
        self.ends(2, "over processes: use 'petsc'", *TWO_BARS, "-q", "-o", self.path("out"), "--set",
                  "solver.linear=cholmod")

    def test_bad_options_of_petsc(self):
        out = ["-q", "-o", self.path("out")]
        self.ends(2, "requested KSP type gc", *TWO_BARS, *out, "--", "-ksp_type", "gc")
        self.ends(2, "-kps_type", *TWO_BARS, *out, "--", "-kps_type", "cg")
        self.ends(2, "'cg'", *TWO_BARS, *out, "--", "cg")
        result = serial(*TWO_BARS, *out, "--", "-ksp_type", "cg")
        self.assertEqual(result.returncode, 2)
        self.assertIn("mpiexec", result.stderr)

    # A file that is old on one machine, another command line or table: every rank tells, none goes on.
    def test_ranks_that_are_not_alike(self):
        def start(*words):
            launcher = ["mpiexec", "-n", "1", *words[0], ":", "-n", "1", *words[1]]
            result = subprocess.run(launcher, capture_output=True, text=True, timeout=HANG)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertFalse(os.path.exists(self.path("out")))
            return result.stderr

        here = [PROGRAM, "run", os.path.abspath("cases/bar_impact"), "-q", "-o"]
        command = start([*here, self.path("out")], [*here, self.path("other")])
        self.assertIn("do not have the same command line", command)
        for rank, force, factor in ((0, 1, 1), (1, 2, 1), (2, 1, 2)):
            os.mkdir(self.path(f"rank{rank}"))
            shutil.copy("cases/bar_impact/case.yaml", self.path(f"rank{rank}/case.yaml"))
            with open(self.path(f"rank{rank}/case.yaml"), "a") as file:
                file.write("loads:\n  push: { type: force, node: bar.end, value: [%g, 0, 0], "
                           "amplitude: { csv: t.csv } }\n" % force)
            with open(self.path(f"rank{rank}/t.csv"), "w") as file:
                file.write(f"0 0\n1 {factor}\n")
        words = "cd $0 && exec \"$@\""
        ranks = [["sh", "-c", words, self.path(f"rank{rank}"), PROGRAM, "run", "case.yaml", "-q", "-o",
                  self.path("out")] for rank in range(3)]
        self.assertIn("do not have the same case", start(ranks[0], ranks[1]))
        self.assertIn("do not have the same files", start(ranks[0], ranks[2]))

    # The mass is solved at the start, the matrix of the step in its first step: what was computed before is kept.
    def test_a_solve_that_fails(self):
        self.ends(1, "mass matrix gave up after 2 iterations", *TWO_BARS, "-q", "-o", self.path("out"),
                  "--", "-mass_ksp_max_it", "2", "-mass_pc_type", "none")
        self.ends(1, "iteration matrix gave up after 1 iterations", "cases/bar_impact", "-q", "-o", self.path("out"),
                  "--", "-iteration_ksp_max_it", "1", "-iteration_pc_type", "none")
        self.assertEqual(len(history(self.path("out"))[1]), 1)

    def test_interruption(self):
        process = self.begin_endless_run()
        os.kill(self.rank_of(process.pid), signal.SIGTERM)  # one rank hears it, all stop after the same step
        told = process.communicate(timeout=HANG)[1]
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len(re.findall("^error: .*stopped on request$", told, re.M)), 1, told)
        self.assertGreater(len(history(self.path("out"))[1]), 1)

    # Two ranks that have written three frames, and go on until they are stopped.
    def begin_endless_run(self):
        folder = self.path("out")
        process = subprocess.Popen(["mpiexec", "-n", "2", PROGRAM, "run", "cases/bar_impact", "--set", "time.end=1e5",
                                    "-q", "-o", folder], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        end = time.monotonic() + HANG
        while time.monotonic() < end and process.poll() is None:
            names = os.listdir(folder) if os.path.isdir(folder) else []
            if sum(name.endswith(".pvtu") for name in names) >= 3:
                return process
            time.sleep(0.05)
        self.fail("the run does not begin")

    # The last rank that mpiexec has started.
    @staticmethod
    def rank_of(launcher):
        with open(f"/proc/{launcher}/task/{launcher}/children") as file:
            return int(file.read().split()[-1])


if __name__ == "__main__":
    unittest.main()
