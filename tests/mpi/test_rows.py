"""Many contact rows over several ranks, each of which solves for its own. Argument: the program."""

import os
import shutil
import sys
import unittest

import outputs
import ranks

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "study"))
import make_pile  # noqa: E402

# So many contacts that each rank solves for its own; the wall is tilted, so that their sets keep changing.
ROWS = """
mesh:
  grid: { type: lattice, cells: [1, 299], size: [0.1, 0.1], origin: [0.0005, 0, 0], diagonals: one }
elements:
  grid: { type: beam_timo_2d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: 0.02 } }
initial:
  - { set: grid, velocity: [-5.0, 2.0, 0] }
contacts:
  floor: { type: node_plane, nodes: grid.xmin, point: [0, 0, 0], normal: [1, 2.0e-5, 0], restitution: 0.2 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 5.0e-5, end: 4.0e-4 }
output:
  frames: { every: 0 }
  contact_frames: { every: 0 }
  probes:
    free: { set: grid.xmax, of: [x, vx, y] }
"""
FRICTION = ["--set", "contacts.floor.friction=0.3"]
SPACE = ["--set", "mesh.grid={type: lattice, cells: [1, 15, 15], size: [0.1], origin: [0.0005, 0, 0], diagonals: one}",
         "--set", "elements.grid={type: beam_timo_3d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0, "
                  "orientation: [0.3, 0.5, 0.8], section: {type: rectangle, width: 0.02, height: 0.02}}"]
MOREAU = ["--set", "scheme={type: moreau_jean, theta: 0.6}"]


CIRCLE = ["--set", "contacts.floor={type: node_circle, nodes: grid.xmin, centre: [-400, 42.5, 0], radius: 400, "
                   "side: outside, restitution: 0.1, friction: 0.2}"]
# A lattice that touches nothing, so that a rank may have no contact at all.
APART = ["--set", "mesh.apart={type: lattice, cells: [29, 59], size: [0.1, 0.1], origin: [9, 0, 0]}",
         "--set", "elements.apart={type: beam_timo_2d, mesh: apart, E: 1.0e9, nu: 0.3, rho: 1000.0, "
                  "section: {type: rectangle, width: 0.02, height: 0.02}}"]


# So many that nobody but the rank of its node knows of a contact.
DEALT = ["--set", "mesh.grid.cells=[1, 849]", "--set", "contacts.floor.normal=[1, 7.0e-6, 0]",
         "--set", "output.contact_frames.every=4", "--set", "output.checkpoint.every=1000"]
SHORT = ["--set", "time.end=1.5e-4"]
# Of explicit schemes: all contacts close within 12 us.
SMALL = ["--set", "time.step=4.0e-6", "--set", "time.end=2.4e-5", "--set", "output.contact_frames.every=4",
         "--set", "contacts.floor.point=[4.9e-4, 0, 0]", "--set", "contacts.floor.normal=[1, 6.0e-7, 0]"]


class DealtRuns(ranks.Ranks):
    def same_runs(self, counts, *arguments):
        self.run_into("serial", 0, *arguments)
        for count in counts:
            self.run_into(f"np{count}", count, *arguments)
            self.assertEqual(outputs.differences(self.path("serial"), self.path(f"np{count}")), [])

    def same_outputs(self, counts, *arguments):
        self.same_runs(counts, self.case("rows", ROWS), *DEALT, *arguments)

    # One fault, of the contacts or supports, told alike.
    def same_fault(self, count, *arguments):
        texts = [ranks.errors_of(result) for result in (
            ranks.serial(*arguments, "-q", "-o", self.path("serial")),
            ranks.run(count, *arguments, "-q", "-o", self.path(f"np{count}")))]
        self.assertEqual(len(texts[0]), 1)
        self.assertNotIn("must be a map", texts[0][0])
        self.assertEqual(texts[1], texts[0])

    # What two ranks begin and three end is the run of one process; by two again it has the same bytes, if factors
    # repeat.
    def same_when_resumed(self, *arguments, repeats=False, options=ranks.TIGHT):
        self.run_into("serial", 0, *arguments)
        self.run_into("whole", 2, *arguments, options=options)
        for count in (2, 3) if repeats else (3,):
            shutil.copytree(self.path("whole"), self.path(f"np{count}"))
            os.remove(self.path(f"np{count}/checkpoint.bin"))  # the one before is there, too
            self.run_into(f"np{count}", count, *arguments, "--resume", options=options)
        if repeats:
            self.same_bytes(self.path("whole"), self.path("np2"))
        self.assertEqual(outputs.differences(self.path("serial"), self.path("np3")), [])


# So few rows that all ranks have all of them; each solves for its own. Forces that need copies within a product.
class Rows(DealtRuns):
    def test_outputs(self):
        self.same_runs((2,), self.case("rows", ROWS), *SPACE, *FRICTION, "--set", "time.end=2.0e-4", "--set",
                       "output={contact_frames: {every: 4}, frames: {every: 0}, checkpoint: {every: 1000}}", "--set",
                       "scheme={type: alpha_velocity}", "--set",
                       "elements.grid.damping={mass: 10.0, stiffness: 1.0e-5}")


class Dealt(DealtRuns):
    # Every file; a contact, and friction, that some ranks have nothing of, and a rank that has none.
    def test_outputs(self):
        corner = ["--set", "sets.foot={nodes: grid.ymin}", "--set",
                  "contacts.foot={type: node_plane, nodes: foot, point: [0, -1.0e-4, 0], normal: [0, 1, 0], "
                  "restitution: 0.1, friction: 0.2}", "--set", "initial=[{set: grid, velocity: [-5.0, -2.0, 0]}]"]
        self.same_outputs((3,), *APART, *MOREAU, *SHORT, *corner)

    # Rows that turn, losses of damping, which all ranks add up, and weight.
    def test_damping(self):
        gravity = ["--set", "loads={g: {type: gravity, g: [-9.81, -3, 0]}}"]
        self.same_outputs((2,), *CIRCLE, *gravity, "--set", "scheme={type: newmark}", "--set",
                          "elements.grid.damping={mass: 10.0, stiffness: 1.0e-5}", *SHORT)

    # Impacts apart, stages, sets that are asked for within a step.
    def test_explicit(self):
        for scheme in ("half_explicit, impulsive_step: 2.0e-6", "half_explicit_rk"):
            self.same_outputs((2,), *SMALL, *FRICTION, "--set", f"scheme={{type: {scheme}}}")

    # Implicit motion and impacts apart, of which one rank may have none.
    def test_impacts_apart(self):
        self.same_outputs((2,), *FRICTION, *SHORT, "--set", "scheme={type: jump_newmark, gamma: 0.6}",
                          "--set", "mesh.grid.origin=[2.0e-5, 0, 0]")

    # Step control.
    def test_control(self):
        self.same_outputs((2,), *MOREAU, *FRICTION, "--set", "time.control={type: adaptive, tolerance: 1.0e-3}",
                          "--set", "time.end=1.0e-4")

    # The checkpoint has the rows of all ranks in the order of one process.
    def test_resuming(self):
        self.same_when_resumed(self.case("rows", ROWS), *DEALT, *FRICTION, "--set", "output.checkpoint.every=2",
                               "--set", "time.end=2.0e-4", repeats=True)

    # What is wrong with a contact of the last rank is told as one process tells it.
    def test_faults(self):
        case = self.case("rows", ROWS)
        tilted = ["--set", "contacts.floor.point=[0.0075, 0, 0]", "--set", "contacts.floor.normal=[1, -8.0e-5, 0]"]
        for fault in (tilted,
                      ["--set", "sets.last={nodes: grid.xmin, box: [[0, 84.8, 0], [1, 91, 0]]}", "--set",
                       "supports={last: {set: last, fix: [x, y]}}"]):
            self.same_fault(2, case, *DEALT, *fault)

    # Worst of the certificate on the last rank; columns of single points, and frames where contacts change.
    def test_certificate(self):
        wall = ["--set", "contacts.floor.normal=[1, -2.0e-5, 0]", "--set", "contacts.floor.point=[-1.4e-3, 0, 0]"]
        self.same_outputs((2,), *MOREAU, *FRICTION, *wall, "--set", "time.end=1.0e-4", "--set",
                          "contacts.floor.points=all", "--set", "output.contact_frames={}", "--set",
                          "output.frames={every: 1, window: [0, 3.0e-5]}")
        self.same_certificate()

    # Bytes per row on a rank that does not write: those of a quarter of the rows, and of mesh and sets at all of them.
    def test_memory(self):
        case, taken = self.case("rows", ROWS), {}
        for count in (1, 4):
            for length in (899, 1799):
                self.run_into("out", count, case, *FRICTION, "--set", f"mesh.grid.cells=[1, {length}]", "--set",
                              "time.end=5.0e-5", options=())
                taken[count, length] = self.memory("out")
        growth = {count: taken[count, 1799] - taken[count, 899] for count in (1, 4)}
        self.assertLess(growth[4], 0.30 * growth[1])


# Contacts between nodes, all of which come to one rank each: two lattices that meet, and columns of a pile.
PAIRS = ["--set", "mesh.wall={type: lattice, cells: [1, 849], size: [0.1, 0.09993], origin: [-0.1, 0, 0], "
                  "diagonals: one}",
         "--set", "elements.wall={type: beam_timo_2d, mesh: wall, E: 1.0e9, nu: 0.3, rho: 1000.0, "
                  "section: {type: rectangle, width: 0.02, height: 0.02}}",
         "--set", "contacts.floor={type: node_node, a: wall.xmax, b: grid.xmin, normal: [1, 0.1, 0], restitution: 0.2, "
                  "friction: 0.3}"]


# Half of the nodes meet the wall, and each keeps the next one from moving ahead of it, and from staying far behind.
CHAIN = ["--set", "mesh.grid.cells=[1, 699]",
         "--set", "sets.foot={nodes: grid.xmin, box: [[-1, -1, -1], [1, 34.95, 1]]}",
         "--set", "contacts.floor.nodes=foot", "--set", "contacts.floor.normal=[1, -7.0e-6, 0]",
         "--set", "sets.up={nodes: grid.xmin, box: [[-1, 0.05, -1], [1, 700, 1]]}",
         "--set", "sets.down={nodes: grid.xmin, box: [[-1, -0.05, -1], [1, 69.85, 1]]}",
         "--set", "contacts.chain={type: node_node, a: down, b: up, normal: [1, 3.0e-4, 0], restitution: 0.1, "
                  "friction: 0.2}",
         "--set", "contacts.back={type: node_node, a: up, b: down, normal: [-1, -2.0e-3, 0], restitution: 0.0}"]
TURNING = ["--set", "elements.grid.type=beam_exact_2d", "--set", "contacts.chain.offsets_b=[[0, -0.1, 0]]"]


class Pairs(DealtRuns):
    def test_outputs(self):
        self.same_outputs((2,), *PAIRS, *MOREAU, "--set", "time.end=1.0e-4", "--set", "contacts.floor.points=all",
                          "--set", "contacts.floor.offsets_b=[[0, 0, 0], [-1.0e-4, 0.03, 0]]")

    # From mesh to floor, and through layers that lie on different ranks.
    def test_pile(self):
        case = self.case("pile", make_pile.pile(12, 7, 0.0001))
        settings = ["--set", "time.end=2.0e-3", "--set", "output.frames.every=0", "--set",
                    "output.contact_frames.every=2", "--set", "output.checkpoint.every=1000"]
        self.same_runs((3,), case, *settings)

    # Through the whole model: rows act on nodes of two ranks, of the same sets in both orders; on nodes that all ranks
    # have, as a probe names one of them. Reactions count what contacts of all ranks push into supports, at nodes of
    # their own and of other ranks.
    def test_chain(self):
        held = ["--set", "supports.rail={set: grid.xmin, fix: [y], reactions: true}", "--set",
                "initial=[{set: grid, velocity: [-5.0, 0, 0]}]", "--set", "contacts.chain.normal=[1, 1.0e-3, 0]",
                "--set", "time.end=2.0e-4", "--set", "output.probes.first={set: grid.xmin, item: 0, of: [x]}"]
        self.same_outputs((4,), *CHAIN, *MOREAU, *held)
        self.assertLess(self.memory("np4"), 0.4 * self.memory("serial"))

    # Directions that turn.
    def test_turning_chain(self):
        self.same_when_resumed(self.case("rows", ROWS), *DEALT, *CHAIN, *MOREAU, *TURNING, "--set",
                               "output.checkpoint.every=2", "--set", "time.end=1.5e-4")

    # Forces and impulses by turns: impulses to their own round-off, not to that of forces.
    def test_chain_of_forces(self):
        self.same_outputs((2,), *CHAIN[:-2], "--set", "contacts.chain.friction=0", "--set",
                          "contacts.chain.restitution=0.2", *SMALL, "--set", "scheme={type: tdg_minus}")


# Nodes against the cells of a beam that lies the other way round, so that most of them are of another rank.
SEGMENTS = ["--set", "mesh.wall={type: line, from: [-0.00041, 84.94, 0], to: [0.00023, -0.04, 0], elements: 850}",
            "--set", "elements.wall={type: beam_timo_2d, mesh: wall, E: 1.0e9, nu: 0.3, rho: 1000.0, "
                     "section: {type: rectangle, width: 0.02, height: 0.02}}",
            "--set", "contacts.floor={type: node_segment, nodes: grid.xmin, segments: wall, side: left, "
                     "restitution: 0.2, friction: 0.3}"]


class Segments(DealtRuns):
    # Points at arms, which turn; and nodes that are part of cells that others may touch.
    def test_outputs(self):
        both = ["--set", "contacts.self={type: node_segment, nodes: grid.xmin, segments: grid, node_radius: 0.001, "
                         "restitution: 0}"]
        arms = ["--set", "contacts.floor.offsets=[[0, 0, 0], [0.0001, 0.03, 0]]", "--set",
                "elements.grid.type=beam_exact_2d"]
        self.same_outputs((3,), *SEGMENTS, *MOREAU, *arms, "--set", "time.end=1.0e-4")
        self.same_outputs((2,), *SEGMENTS, *both, *MOREAU, "--set", "time.end=1.0e-4")

    # What is wrong with a node of the last rank is told as one process tells it.
    def test_faults(self):
        case = self.case("rows", ROWS)
        inside = ["--set", "mesh.wall.from=[0.0006, 84.94, 0]"]
        self.same_fault(2, case, *DEALT, *SEGMENTS, *inside)


# Points with force laws, which are no rows: at a wall that all nodes meet; at that, with rigid contacts across; at the
# foot, of which most ranks have none; and between nodes.
SOFT = "friction: 0.3, law: {type: hunt_crossley, stiffness: 1.0e+7, damping: 0.05}"
WALL = "type: node_plane, nodes: grid.xmin, point: [0, 0, 0], normal: [1, 7.0e-6, 0]"
LAW = ["--set", f"contacts.floor={{{WALL}, {SOFT}}}"]
BOTH = ["--set", "contacts={soft: {type: node_plane, nodes: grid.xmax, point: [0.10049, 0, 0], "
                 f"normal: [-1, 7.0e-6, 0], {SOFT}}}, floor: {{{WALL}, restitution: 0.2, friction: 0.3}}}}",
        "--set", "initial=[{set: grid.xmin, velocity: [-5, 2, 0]}, {set: grid.xmax, velocity: [5, 1, 0]}]"]
FOOT = ["--set", "contacts.foot={type: node_plane, nodes: grid.ymin, point: [0, 1.0e-6, 0], normal: [0, 1, 0], "
                 f"{SOFT}}}", "--set", "initial=[{set: grid, velocity: [-5.0, -2.0, 0]}]"]
SOFT_PAIRS = [*PAIRS, "--set", "contacts.floor={type: node_node, a: wall.xmax, b: grid.xmin, normal: [1, 0.1, 0], "
                              f"{SOFT}}}"]


class Laws(DealtRuns):
    def test_pairs(self):
        self.same_outputs((2,), *SOFT_PAIRS, *MOREAU, *SHORT)

    # Beside rigid contacts, whose rows have the first numbers though their contact is the second.
    def test_beside_rows(self):
        self.same_outputs((2,), *BOTH, *MOREAU, *SHORT, "--set", "contacts.soft.points=all", "--set",
                          "output.frames={every: 1, window: [0, 3.0e-5]}")

    # Friction that one rank has to itself, beside soft contacts without and beside rigid ones. What sticks, and where,
    # is in the checkpoint in the order of one process.
    def test_foot(self):
        self.same_when_resumed(self.case("rows", ROWS), *DEALT, *LAW, "--set", "output.checkpoint.every=2", *SHORT,
                               repeats=True, options=ranks.REPEATABLE)
        self.same_outputs((2,), *LAW, "--set", "contacts.floor.friction=0", *FOOT, *MOREAU, *SHORT)
        self.same_outputs((2,), *FOOT, *MOREAU, *SHORT)

    # Directions that turn, at points with arms, and the largest stable step.
    def test_turning(self):
        arms = ["--set", "elements.grid.type=beam_exact_2d", "--set",
                "contacts.floor.offsets=[[0, 0, 0], [-1.0e-4, 0.03, 0]]"]
        self.same_outputs((2,), *LAW, *arms, "--set", "time.end=1.0e-4", "--set",
                          "contacts.floor.point=[4.5e-4, 0, 0]")
        round_wall = ["--set", "contacts.floor={type: node_circle, nodes: grid.xmin, centre: [-400, 42.5, 0], "
                               f"radius: 400, side: outside, {SOFT}}}"]
        self.same_outputs((2,), *round_wall, "--set", "scheme={type: half_explicit}", "--set",
                          "time={step: auto, end: 2.0e-5}", "--set", "mesh.grid.origin=[1.0e-4, 0, 0]", "--set",
                          "initial=[{set: grid, velocity: [-9, 2, 0]}]")

    # Pairs of nodes of two ranks keep the points on all ranks.
    def test_chain(self):
        self.same_outputs((2,), *CHAIN[:-4], *LAW, *MOREAU, "--set", "contacts.floor.nodes=foot", "--set",
                          f"contacts.chain={{type: node_node, a: down, b: up, normal: [1, 3.0e-4, 0], {SOFT}}}", *SHORT)


# Beams in two layers that meet where they cross, and one that touches nothing; coins that touch the floor one by one.
NET = """
mesh:
  apart: {{ type: line, from: [0, 5, 0], to: [1, 5, 0], elements: 20 }}
  warp: {{ repeat: {{ count: 14, shift: [0, 0, 0.1] }}, type: line, from: [-0.05, 0, 0], to: [1.35, 1.0e-4, 0],
          elements: 12 }}
  weft: {{ repeat: {{ count: 14, shift: [0.1, 0, 0] }}, type: line, from: [0.003, 0.0206, -0.05],
          to: [0.003, 0.0207, 1.35], elements: 13 }}
sets: {{ warp: {{ cells: [{warp}] }}, weft: {{ cells: [{weft}] }}, all: {{ cells: [apart, {warp}, {weft}] }} }}
elements:
  beams: {{ type: beam_timo_3d, mesh: all, E: 1.0e9, nu: 0.3, rho: 1000.0, orientation: [0.3, 0.5, 0.8],
           section: {{ type: circle, diameter: 0.02 }} }}
initial:
  - {{ set: weft, velocity: [0.3, -5.0, 0.2] }}
contacts:
  cross: {{ type: beam_beam, a: warp, b: weft, radius: 0.01, restitution: 0.2, friction: 0.3, most: 300 }}
scheme: {{ type: moreau_jean, theta: 0.6 }}
time: {{ step: 5.0e-5, end: 2.0e-4 }}
output: {{ frames: {{ every: 0 }}, contact_frames: {{ every: 4 }}, checkpoint: {{ every: 2 }} }}
"""
COINS = """
mesh:
  coin: {{ repeat: {{ count: 300, shift: [0.3, 0, 1.0e-5] }}, type: point, at: [0, 0, 0.052] }}
sets: {{ coins: {{ cells: [{coin}] }} }}
elements:
  coins: {{ type: rigid_body_3d, mesh: coins, mass: 0.1, inertia: [1.0e-4, 1.0e-4, 1.8e-4] }}
initial:
  - {{ set: coins, velocity: [0.2, 0.1, -1.0], spin: [3.0, 1.0, 20.0], rotation: [0.9, 0.2, 0.1] }}
contacts:
  floor: {{ type: disc_plane, nodes: coins, axis: [0, 0, 1], radius: 0.05, width: 0.01, point: [0, 0, 0],
           normal: [2.0e-5, 0, 1], restitution: 0.2, friction: 0.3 }}
scheme: {{ type: moreau_jean, theta: 0.6 }}
time: {{ step: 2.0e-3, end: 1.2e-2 }}
output: {{ frames: {{ every: 0 }}, contact_frames: {{ every: 6 }}, checkpoint: {{ every: 3 }} }}
"""


def numbered(name, count):
    return ", ".join(f"{name}{i + 1}" for i in range(count))


# Rows that go to what a search finds, and those of a search that keeps something.
class Searched(DealtRuns):
    def test_beams(self):
        self.same_when_resumed(self.case("net", NET.format(warp=numbered("warp", 14), weft=numbered("weft", 14))))

    def test_discs(self):
        self.same_when_resumed(self.case("coins", COINS.format(coin=numbered("coin", 300))))
        self.assertLess(self.memory("np3"), 0.6 * self.memory("serial"))


# Arms on hinges, each of which comes to one rank with both its nodes. Equal answers of all ranks need a step with one
# answer, which friction does not always leave to `alpha_ggl`.
JOINTS = [*DEALT,
          "--set", "mesh.arm={type: line, from: [0.1005, 1, 0], to: [0.3005, 1, 0], elements: 2, "
                   "repeat: {count: 8, shift: [0, 10, 0]}}",
          "--set", "elements.arm={type: beam_timo_2d, mesh: arm, E: 1.0e9, nu: 0.3, rho: 1000.0, "
                   "section: {type: rectangle, width: 0.02, height: 0.02}}",
          "--set", "sets.pin={nodes: grid.xmax, box: [[0.09, \"${10*i - 9.01}\", -1], [0.11, \"${10*i - 8.99}\", 1]], "
                   "repeat: {count: 8}}",
          "--set", "joints.pin={type: hinge, a: \"pin${i}\", b: \"arm${i}.start\", repeat: {count: 8}}",
          "--set", "initial=[{set: grid, velocity: [-5.0, 0, 0]}, {set: arm, velocity: [-5.0, 0, 0]}]"]
EXACT = ["--set", "elements.grid.type=beam_exact_2d", "--set", "elements.arm.type=beam_exact_2d"]
# A joint with the ground, whose force is no part of that between bodies.
POST = ["--set", "mesh.post={type: line, from: [2, 80, 0], to: [2.2, 80, 0], elements: 2}",
        "--set", "elements.post={type: beam_timo_2d, mesh: post, E: 1.0e9, nu: 0.3, rho: 1000.0, "
                 "section: {type: rectangle, width: 0.02, height: 0.02}}",
        "--set", "joints.ground={type: hinge, node: post.start}",
        "--set", "loads={push: {type: force, node: post.end, value: [300, 200, 0]}}"]


class Joints(DealtRuns):
    # Every file: reactions, misfits and works of joints are on one rank each, and memory falls.
    def test_outputs(self):
        case = self.case("rows", ROWS)
        self.same_runs((4,), case, *JOINTS, "--set", "time.end=1.0e-4")
        self.assertLess(self.memory("np4"), 0.4 * self.memory("serial"))
        self.same_runs((2,), case, *JOINTS, *POST, *SMALL, "--set", "scheme={type: half_explicit}")

    # Directions that turn, whose stiffness is in the matrix of the rank that has them.
    def test_turning(self):
        self.same_runs((2,), self.case("rows", ROWS), *JOINTS, *EXACT, "--set", "time.end=1.0e-4", "--set",
                       "contacts.floor.point=[4.5e-4, 0, 0]")

    # Points with force laws come after the rows of joints.
    def test_beside_laws(self):
        foot = ["--set", "sets.foot={nodes: grid.ymin}", "--set",
                "contacts.foot={type: node_plane, nodes: foot, point: [0, 1.0e-6, 0], normal: [0, 1, 0], "
                "law: {type: linear, stiffness: 1.0e5}}"]
        self.same_runs((2,), self.case("rows", ROWS), *JOINTS, *foot, *MOREAU, *FRICTION, *SHORT, "--set",
                       "contacts.floor.points=all")

    # Joints that repeat others, which ranks know of together, and faults of the last one.
    def test_special(self):
        case = self.case("rows", ROWS)
        twice = ["--set", "joints.again={type: hinge, a: pin8, b: arm8.start}"]
        self.same_runs((2,), case, *JOINTS, *twice, "--set", "time.end=1.0e-4", "--set",
                       "scheme={type: jump_newmark, gamma: 0.6}")
        apart = ["--set", "initial=[{set: grid, velocity: [-5.0, 0, 0]}, {set: arm, velocity: [-5.0, 0, 0]}, "
                          "{set: arm8.start, velocity: [-4.0, 0, 0]}]"]
        self.same_fault(2, case, *JOINTS, *apart)


# A step that `schur` does not settle goes to `newton`, on all ranks.
class HandOver(ranks.Ranks):
    HARD = ["--set", "contacts.floor.friction=20", "--set", "scheme={type: moreau_jean, theta: 1.0}",
            "--set", "solver.type=schur"]

    def same(self, *settings):
        for count in 0, 2:
            self.run_into(f"np{count}", count, self.case("rows", ROWS), *self.HARD, *settings)
        self.agree(self.path("np0"), self.path("np2"))
        handovers = [self.summary(f"np{count}")["steps"]["handovers"] for count in (0, 2)]
        self.assertGreater(handovers[0], 0)
        self.assertEqual(handovers[1], handovers[0])

    def test_few_rows(self):
        self.same("--set", "mesh.grid.cells=[2, 8]", "--set", "contacts.floor.normal=[1, 2.0e-4, 0]", "--set",
                  "time={step: 2.0e-4, end: 8.0e-4}")

    # So many rows that each rank solves for its own in `schur`, and all for all of them in `newton`.
    def test_many_rows(self):
        feet = ", ".join(f"grid{i + 1}.xmin" for i in range(43))
        mesh = ("{repeat: {count: 43, shift: [0, 2.5, 0]}, type: lattice, cells: [2, 5], size: [0.1, 0.1], "
                "origin: [0.0005, 0, 0], diagonals: one}")
        self.same("--set", f"mesh.grid={mesh}", "--set", f"sets={{all: {{cells: grid}}, foot: {{nodes: [{feet}]}}}}",
                  "--set", "elements.grid.mesh=all", "--set", "initial=[{set: all, velocity: [-5.0, 2.0, 0]}]", "--set",
                  "contacts.floor.nodes=foot", "--set", "contacts.floor.normal=[1, 2.0e-6, 0]", "--set",
                  "time={step: 2.0e-4, end: 8.0e-4}", "--set", "output.probes={}")


if __name__ == "__main__":
    unittest.main()
