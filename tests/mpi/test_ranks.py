"""Runs over several ranks: they agree with the serial run, write once, and end together. Argument: the program.

Linear systems are solved to 1e-13 here; every column of the history must then agree to 1e-9 of its size (or of 1).
"""

import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from ranks import HANG, LATTICE, PROGRAM, REPEATABLE, TIGHT, Ranks, errors_of, history, run, serial

TWO_BARS = ["cases/bars_two", "--set", "mesh.left.elements=40", "--set", "mesh.right.elements=40",
            "--set", "time.step=0.15"]

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
  frames: { every: 15 }
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
  frames: { every: 15 }
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
  frames: { every: 15 }
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


# Springs beside a beam whose section varies, the last cells and nodes of which other ranks have, one of them at a point
# of a body, and a single node.
MIXED = """
mesh:
  beam: { type: line, from: [0, 0, 0], to: [1, 0.5, 0], elements: 7 }
  other: { type: line, from: [0, 1, 0], to: [1, 1.5, 0], elements: 2 }
  spring: { type: link, a: beam.end, b: other.end }
  second: { type: link, a: other.start, b: beam.start }
  body: { type: point, at: [2, 0, 0] }
elements:
  beam: { type: beam_exact_2d, mesh: beam, E: 1.0e8, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: { from: 0.03, to: 0.02 } } }
  other: { type: beam_exact_2d, mesh: other, E: 1.0e8, nu: 0.3, rho: 1000.0,
           section: { type: rectangle, width: 0.02, height: 0.02 } }
  spring: { type: spring_damper, mesh: spring, in: plane, stiffness: 1.0e+3 }
  second: { type: spring_damper, mesh: second, in: plane, offset_b: [0.02, 0.1, 0], stiffness: 1.0e+3 }
  body: { type: rigid_body_2d, mesh: body, mass: 1.0, inertia: 0.1 }
joints:
  pin: { type: hinge, node: beam.start }
  arm: { type: hinge, a: body, b: other.end, at: [1.5, 0.5, 0] }
initial:
  - { set: beam.end, velocity: [1.0, 3.0, 0] }
  - { set: other, velocity: [5.0, 0, 0] }
  - { set: body, velocity: [5.0, 0, 0] }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-4, end: 4.0e-4 }
output:
  frames: { every: 2 }
"""

# Two exact beams; %s are more parts of the mesh, and elements, beside them.
BEAMS = """
mesh:
  beam: { type: line, from: [0, 0, 0], to: [1, 0.5, 0], elements: 9 }
  other: { type: line, from: [0, 1, 0], to: [1, 1.5, 0], elements: 4 }
%s
elements:
  other: { type: beam_exact_3d, mesh: other, E: 1.0e8, nu: 0.3, rho: 1000.0, orientation: [0, 0, 1],
           section: { type: rectangle, width: 0.02, height: 0.02 } }
%s
initial:
  - { set: beam.end, velocity: [1.0, 3.0, 0] }
  - { set: other, velocity: [5.0, 0, 1.0] }
loads:
  push: { type: force, set: other.end, value: [0, 10.0, 0] }
  twist: { type: moment, set: other.end, value: [1.0, -0.3, 0.2] }
contacts:
  wall: { type: node_plane, nodes: other.end, point: [2, 0, 0], normal: [-1, 0, 0], restitution: 0.5 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-4, end: 2.0e-4 }
output:
  frames: { every: 1 }
"""
BEAM = """
  beam: { type: beam_exact_3d, mesh: beam, E: 1.0e8, nu: 0.3, rho: 1000.0, orientation: [0, 0, 1],
          section: { type: rectangle, width: 0.02, height: 0.03 } }
"""
LINKS = """
  first: { type: link, a: other.end, b: beam.end }
  second: { type: link, a: beam.start, b: other.start }
"""
POINTS = "  points: { type: point, nodes: beam }"
TAPERED_BEAM = BEAM.replace("height: 0.03", "height: { from: 0.03, to: 0.02 }")
DISC = "  disc: { type: disc, mesh: points, mass: 0.1, inertia: [2.0e-4, 1.0e-4, 1.0e-4] }"
# What hangs at the beams, or is drawn on them: parts of the mesh, and elements. Those of `small` turn by small angles.
FEATURES = {
    "small": (POINTS, BEAM.replace("height: 0.03 }", "height: 0.03 }, offset: [0.02, 0, 0.05]") + DISC),
    "springs": (LINKS, TAPERED_BEAM + """
  first: { type: spring_damper, mesh: first, stiffness: 1.0e+3 }
  second: { type: spring_damper, mesh: second, stiffness: 1.0e+3, offset_a: [0, 0.1, 0], offset_b: [0, 0, 0.05] }
"""),
}

GENERAL = """{ type: beam_timo_2d, mesh: %s, E: 1.0e9, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: 0.02 } }"""

REST = """
scheme: { type: moreau_jean, theta: 0.5 }
time: { step: 2.0e-5, end: 2.0e-4 }
output:
  frames: { every: 5, format: vtu }
  probes:
    all: { set: %s, of: [x, y, vx] }
    one: { set: %s, item: 5, of: [x, vy] }
"""

FRAME = """
mesh:
  portal: { type: frame, points: { a: [0, 0, 0], b: [0, 2, 0], c: [4, 2, 0], d: [4, 0, 0] },
            members: [[a, b], [b, c], [c, d], [a, c]], elements: 9 }
elements:
  portal: %s
sets:
  top: { nodes: portal, plane: [[0, 2, 0], [0, 1, 0]] }
  beam: { cells: portal, plane: [[0, 2, 0], [0, 1, 0]] }
supports:
  feet: { set: portal.a, fix: [x, y], reactions: true }
loads:
  push: { type: force, set: portal.c, value: [10, 0, 0] }
  snow: { type: line, cells: beam, value: [0, -20, 0] }
""" % GENERAL % "portal" + REST % ("top", "portal.m2")

# Parts that share nodes, with sets that are chosen and springs between bodies.
MERGED = """
mesh:
  grid: { type: lattice, cells: [6, 2], size: [0.1], diagonals: one }
  tail: { type: line, from: [0.6, 0.1, 0], to: [1.5, 0.1, 0], elements: 12 }
  other: { type: line, from: [0, 1, 0], to: [1, 1, 0], elements: 9 }
  spring: { type: link, a: tail.end, b: other.end }
  body: { type: point, at: [[2, 0, 0], [2, 1, 0]] }
elements:
  grid: %s
  tail: %s
  other: %s
  spring: { type: spring_damper, mesh: spring, in: plane, stiffness: 1.0e+3 }
  body: { type: rigid_body_2d, mesh: body, mass: 1.0, inertia: 0.1 }
sets:
  left: { nodes: grid, plane: [[0, 0, 0], [1, 0, 0]] }
merge:
  corner: { sets: [grid.xmax, tail.start] }
supports:
  left: { set: left, fix: [x, y] }
initial:
  - { set: other, velocity: [5, 1, 0] }
  - { set: body, velocity: [-5, 0, 0] }
""" % (GENERAL % "grid", GENERAL % "tail", GENERAL % "other") + REST % ("grid", "tail")

GMSH = """
mesh:
  net: { type: gmsh, file: net.msh }
elements:
  net: %s
sets:
  free: { nodes: net.rows, without: net.feet }
supports:
  feet: { set: net.feet, fix: [x, y] }
initial:
  - { set: free, velocity: [0, 1, 0] }
contacts:
  wall: { type: node_plane, nodes: net.tip, point: [%s, 0, 0], normal: [-1, 0, 0], restitution: 0.5 }
""" % (GENERAL % "net", "%g")


def write_net(path, nx, ny):
    """A grid of lines with tags in any order, in groups of rows and columns, and points that mark corners."""
    rng = random.Random(1)
    tags = list(range(5, 5 + (nx + 1) * (ny + 1)))
    rng.shuffle(tags)
    at = {(i, j): tags[i * (ny + 1) + j] for i in range(nx + 1) for j in range(ny + 1)}
    lines = [(1, at[i, j], at[i + 1, j]) for i in range(nx) for j in range(ny + 1)]
    lines += [(2, at[i, j], at[i, j + 1]) for i in range(nx + 1) for j in range(ny)]
    rng.shuffle(lines)
    points = [(3, at[0, 0]), (3, at[0, ny]), (4, at[nx, ny // 2])]
    with open(path, "w") as file:
        file.write("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n"
                   '1 1 "rows"\n1 2 "columns"\n0 3 "feet"\n0 4 "tip"\n$EndPhysicalNames\n')
        file.write(f"$Entities\n{len(points)} 2 0 0\n")
        file.writelines(f"{k + 1} 0 0 0 1 {group}\n" for k, (group, _) in enumerate(points))
        file.write("1 0 0 0 1 1 0 1 1 0\n2 0 0 0 1 1 0 1 2 0\n$EndEntities\n")
        file.write(f"$Nodes\n1 {len(at)} 5 {4 + len(at)}\n2 1 0 {len(at)}\n")
        file.writelines(f"{tag}\n" for tag in at.values())
        file.writelines(f"{0.1 * i:.17g} {0.1 * j:.17g} 0\n" for i, j in at)
        file.write(f"$EndNodes\n$Elements\n{len(points) + len(lines)} {len(points) + len(lines)} 1 {9 + len(lines)}\n")
        file.writelines(f"0 {k + 1} 15 1\n{k + 1} {a}\n" for k, (_, a) in enumerate(points))
        file.writelines(f"1 {group} 1 1\n{k + 9} {a} {b}\n" for k, (group, a, b) in enumerate(lines))
        file.write("$EndElements\n")


class Agreement(Ranks):
    # The contact lies on the border of the two ranks: one bar each; with four ranks the bars are cut, too.
    def test_two_bars(self):
        self.same_results(4, *TWO_BARS, "--set", "scheme={type: alpha_ggl, rho_inf: 0.8}")

    # Chaotic, but momentum is kept to the last digit as long as both ranks push with the same impulse.
    def test_copies_keep_their_bits(self):
        self.run_into("out", 2, *TWO_BARS, "--set", "scheme={type: alpha_index3, rho_inf: 0.8}", options=())

    # Each cell is in one piece. Forces at points follow those at the ends of cells, of other ranks as well.
    def test_lattice(self):
        loads = """loads:
  weight: { type: gravity, g: [3, -10, 0] }
  line: { type: line, cells: grid.x, value: [0, 2.0e+4, 0], amplitude: { ramp: { rise: 4.0e-4 } } }
"""
        case = self.case("loaded", LATTICE.replace("contacts:", loads + "contacts:"))
        self.same_results(3, case, "--set", "solver.type=schur", options=TIGHT)

    # Sets of all kinds, of which no rank has all items: chosen by place, with reactions, line loads across borders,
    # values from the first to the last node, and one item.
    def test_sets_over_run(self):
        self.same_results(5, self.case("sets", SETS))

    # An exact beam on a joint.
    def test_pendulum(self):
        self.same_results(2, *PENDULUM, "--set", "time.step=5.0e-3", "--set", "solver.type=schur")

    # Finite rotations and friction in space; every node may touch the floor, so that every rank has copies of all.
    def test_beam_in_space(self):
        self.same_results(3, self.case("spinning", SPINNING))

    # Force laws: every rank evaluates all points, one of them counts their energy.
    def test_force_laws(self):
        self.same_results(2, self.case("soft", SOFT), "--set", "scheme.type=half_explicit")

    # Their friction remembers where points stuck, and how; so does the checkpoint.
    def test_force_laws_with_friction(self):
        self.same_results(2, self.case("spinning", SPINNING), "--set", SOFT_FLOOR, "--set",
                          "time={step: 5.0e-5, end: 1.5e-3}", "--set", "output.checkpoint.every=11", resumed=3)
        self.assertGreater(self.summary("np2")["energy"]["friction_loss"], 0.0)

    # What materials went through stands in the checkpoint as in one process.
    def test_materials_with_internal_variables(self):
        self.same_results(2, self.case("yielding", YIELDING), "--set", "output.checkpoint.every=30", resumed=3)
        self.assertGreater(self.summary("np2")["energy"]["material_loss"], 1.0)
        self.same_results(2, self.case("yielding", YIELDING), "--set", "scheme={type: half_explicit}", "--set",
                          "time.end=2.0e-4")

    def test_sections_that_vary(self):
        self.same_results(2, self.case("tapered", TAPERED), "--set", "time.end=4.0e-4")

    # What hangs at beams, or is drawn on them, is drawn by the rank that has it.
    def test_what_cells_carry(self):
        self.same_results(3, self.case("mixed", MIXED), options=REPEATABLE)
        for name, (mesh, elements) in FEATURES.items():
            with self.subTest(name):
                text = BEAMS % (mesh, elements)
                if name == "small":
                    text = text.replace("beam_exact_3d", "beam_timo_3d")
                self.same_results(2, self.case(name, text), options=TIGHT if name == "small" else REPEATABLE)

    # Discs and bearings that nodes of several ranks carry.
    def test_what_nodes_carry(self):
        self.same_results(3, "cases/rotor", "--set", "time.end=2.0e-4", "--set", "output.frames.every=20")

    def test_riders(self):
        self.same_results(3, self.case("riders", RIDERS))

    # Some of them have nothing to do, and empty pieces.
    def test_more_ranks_than_nodes(self):
        self.same_results(4, "cases/bar_impact", "--set", "mesh.bar.elements=2", "--set", "time={step: 0.01, end: 0.6}",
                          "--set", "output.frames.every=20")

    def test_frame(self):
        self.same_results(3, self.case("frame", FRAME))

    def test_parts_that_share_nodes(self):
        self.same_results(3, self.case("merged", MERGED))

    # Points that only mark nodes go, on ranks as on one process.
    def test_file_of_gmsh(self):
        write_net(self.path("net.msh"), 9, 4)
        self.same_results(3, self.case("net", GMSH % 0.9 + REST % ("net.rows", "net.columns")))

    # Ranks get the same parts, and sums the same order.
    def test_runs_repeat(self):
        write_net(self.path("net.msh"), 30, 30)
        case = self.case("net", (GMSH % 3.0 + REST % ("net.rows", "net.columns")).replace("end: 2.0e-4", "end: 4.0e-5"))
        for k in range(2):
            self.run_into(f"out{k}", 3, case)
        self.same_bytes(self.path("out0"), self.path("out1"))

    # A system in closed form is computed by every rank, and written by one.
    def test_closed_form(self):
        for count in (0, 2):
            self.run_into(f"np{count}", count, "cases/ball", options=())
        self.agree(self.path("np0"), self.path("np2"))

    def test_petsc_in_one_process(self):
        short = ["cases/bar_impact", "--set", "time.end=0.2"]
        self.run_into("serial", 0, *short)
        result = serial(*short, "-q", "--set", "solver.linear=petsc", "-o", self.path("petsc"), *TIGHT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.agree(self.path("serial"), self.path("petsc"))
        with open(self.path("petsc/summary.json")) as file:
            self.assertIn("petsc", file.read())


class Writing(Ranks):
    # More cells than a rank sends at once, along a bar.
    def test_waves(self):
        case = ["cases/bar_impact", "--set", "mesh.bar.elements=4000", "--set", "time={step: 1.0e-3, end: 1.0e-2}",
                "--set", "initial=[{set: bar, velocity: ['-1 - x*x', 0, 0], displacement: ['0.001*x*x', 0, 0]}]",
                "--set", "output.waves={body: bar, of: [axial_force, vx]}"]
        rows = []
        for count in 0, 3:
            self.run_into(f"np{count}", count, *case)
            with open(self.path(f"np{count}/bar_impact.waves.csv")) as file:
                rows.append([list(map(float, line.split(","))) for line in file if line[0] != "#"])
        self.agree(self.path("np0"), self.path("np3"))
        self.assertGreater(len(set(rows[0][1])), 4000)
        for x, y in zip(*rows):
            size = max(map(abs, x))
            self.assertLessEqual(max(abs(a - b) for a, b in zip(x, y)), 1e-8 * size)

    # A checkpoint is that of the whole model: the same number of ranks goes on to the same bytes, others to round-off.
    def resume(self, counts, *case):
        self.run_into("whole", 2, *case)
        for count in counts:
            shutil.copytree(self.path("whole"), self.path("out"))
            os.remove(self.path("out/checkpoint.bin"))
            self.run_into("out", count, *case, "--resume")
            if count == 2:
                self.same_bytes(self.path("whole"), self.path("out"))
            else:
                self.agree(self.path("whole"), self.path("out"))
                self.same_frames("whole", "out", "cantilever_stop", 1e-7)
            shutil.rmtree(self.path("out"))

    # More equations than are exchanged at once.
    def test_resuming_a_large_model(self):
        self.resume((2,), "cases/bar_impact", "--set", "mesh.bar.elements=150000", "--set",
                    "time={step: 1.0e-6, end: 4.0e-6}", "--set",
                    "output={frames: {every: 0}, checkpoint: {every: 2}}")

    def test_resuming(self):
        case = ["cases/cantilever_stop", "--set", "time.end=0.01", "--set", "supports.clamp.reactions=true",
                "--set", "output.checkpoint.every=20", "--set", "output.frames.every=7"]
        self.resume((2, 3, 0), *case)
        self.run_into("serial", 0, *case)
        self.agree(self.path("serial"), self.path("whole"))

    def test_results_are_written_once(self):
        result = run(2, *TWO_BARS, "-o", self.path("out"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("Results in"), 1)
        self.assertEqual(result.stdout.count("82 dofs"), 1, result.stdout)
        self.assertEqual([name for name in os.listdir(self.path("out")) if name.endswith(".part")], [])
        self.assertEqual(self.summary("out")["model"]["dofs"], 82)


# Bytes that a rank takes by itself, as Percuss counts them: those of the rank that has least, as the first one shows
# the model. They are taken per dof, from two lengths of models that are cut across: what every process takes falls out,
# and so do copies at the cuts. A quarter of the model is 0.253 (line) and 0.261 (lattice) of what one rank takes; with
# the whole mesh on every rank it was 0.3.
class Memory(Ranks):
    def falls(self, most, *models):
        growth = []
        for count in 1, 4:
            taken = []
            for model in models:
                self.run_into("out", count, *model(), "--set", "output.frames.every=0", options=())
                ranks = self.summary("out")["ranks"]
                self.assertEqual(ranks["count"], count)
                self.assertLessEqual(ranks["memory_bytes_least"], ranks["memory_bytes_most"])
                taken.append(ranks["memory_bytes_least"])
            growth.append(taken[1] - taken[0])
        self.assertGreater(growth[1], 0)
        self.assertLess(growth[1], most * growth[0])

    def test_of_a_lattice(self):
        self.falls(0.27, *(lambda n=n: ("cases/frame_lattice", "--set", f"mesh.net.cells=[{n}, 8]", "--set",
                                        "time.end=1.1e-5", "--set", "scheme={type: moreau_jean, theta: 0.5}")
                           for n in (150, 300)))

    # Probes of sets copy them to all ranks.
    def test_of_a_frame(self):
        text = (FRAME.replace("set: top, of", "set: portal.b, of").replace("set: portal.m2, item: 5", "set: portal.c")
                .replace("end: 2.0e-4", "end: 2.0e-5"))
        self.falls(0.3, *(lambda n=n: (self.case("model", text.replace("elements: 9", f"elements: {n}")),)
                          for n in (800, 2000)))

    def test_of_a_file(self):
        def net(n):
            write_net(self.path("net.msh"), n, 12)
            text = GMSH % (0.1 * n) + REST.replace("item: 5, ", "") % ("net.rows", "net.columns")
            return (self.case("model", text.replace("end: 2.0e-4", "end: 2.0e-5")),)

        self.falls(0.3, lambda: net(80), lambda: net(200))

    def test_of_sections_that_vary_and_discs(self):
        case = self.case("memory", (BEAMS % (POINTS, TAPERED_BEAM + DISC)).replace("beam_exact_3d", "beam_timo_3d"))
        self.falls(0.28, *(lambda n=n: (case, "--set", f"mesh.beam.elements={n}", "--set",
                                        "time={step: 1.0e-7, end: 1.0e-7}", "--set",
                                        "scheme={type: moreau_jean, theta: 0.5}") for n in (1000, 3000)))


class Ending(Ranks):
    def ends(self, status, part, *arguments, count=2):
        result = run(count, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        told = errors_of(result)
        self.assertEqual(len(told), 1, result.stderr)
        self.assertIn(part, told[0])

    def test_bad_input(self):
        self.ends(2, "one process", *TWO_BARS, "-q", "-o", self.path("out"), "--set", "scheme={type: event_driven}")
        self.ends(2, "over processes: use 'substructures' or 'petsc'", *TWO_BARS, "-q", "-o", self.path("out"), "--set",
                  "solver.linear=cholmod")
        self.ends(2, "singular at node 82", *TWO_BARS, "-q", "-o", self.path("out"), "--set", "elements.free="
                  "{type: mount, mesh: free, stiffness: [1, 1, 1]}", "--set", "mesh.free={type: point, at: [90, 0, 0]}")

    def test_bad_options_of_petsc(self):
        out = ["-q", "-o", self.path("out")]
        self.ends(2, "requested KSP type gc", *TWO_BARS, *out, "--", "-ksp_type", "gc")
        self.ends(2, "-kps_type", *TWO_BARS, *out, "--", "-kps_type", "cg")
        self.ends(2, "'cg'", *TWO_BARS, *out, "--", "cg")
        self.ends(2, "-ksp_rtol", *TWO_BARS, *out, "--set", "solver.linear=substructures", "--", "-ksp_rtol", "1e-9")
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
