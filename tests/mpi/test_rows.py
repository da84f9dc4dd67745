"""Many contact rows over several ranks, each of which solves for its own. Argument: the program."""

import json
import re
import unittest

import ranks

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


def circle(middle):
    return ["--set", f"contacts.floor={{type: node_circle, nodes: grid.xmin, centre: [-400, {middle}, 0], radius: 400, "
                     "side: outside, restitution: 0.1, friction: 0.2}"]


class Rows(ranks.Ranks):
    # Every value of every contact in the last frame of contacts, of values of their size.
    def same_contacts(self, count):
        paths = [self.path(f"{folder}/contacts_000001.vtk") for folder in ("serial", f"np{count}")]
        with open(paths[0], "rb") as file:
            names = [name.decode() for name in re.findall(rb"^(\w+) (?:\d+ )+double$", file.read(), re.M)]
        self.assertIn("gap", names)
        for name in names:
            a, b = (ranks.numbers(path, name) for path in paths)
            self.assertEqual(len(a), len(b))
            least = {"gap": 1e-4, "gap_rate": 1.0}.get(name, 0.0)  # most vanish
            size = max([least, *map(abs, a)])
            for x, y in zip(a, b):
                self.assertLessEqual(abs(x - y), 1e-8 * size, name)

    # Schemes beside those below, in the plane and in space, one contact by one.
    def test_contacts(self):
        frames = ["--set", "output.contact_frames.every=4", "--set", "time.end=2.0e-4"]
        case = self.case("rows", ROWS)
        for scheme, *settings in (("newmark", *circle(15)), ("jump_newmark, rho_inf: 0.8", *FRICTION),
                                  ("alpha_ggl", *SPACE, *FRICTION), ("alpha_velocity", *SPACE, *circle(0.75))):
            self.compare(case, *settings, *frames, "--set", f"scheme={{type: {scheme}}}", counts=(2,), rows=5)
            self.same_contacts(2)

    # Every rank solves for its own rows: sums over rows are joined, and multipliers and gates told to all.
    def test_schemes_and_friction(self):
        case = self.case("rows", ROWS)
        self.compare(case, counts=(2, 3), rows=9)
        self.compare(case, *FRICTION, counts=(3,), rows=9)
        self.compare(case, *MOREAU, counts=(2,), rows=9)
        self.compare(case, *FRICTION, *MOREAU, counts=(2, 4), rows=9)

    # Forces that need copies within a product; rows whose directions turn; and a rank that has no row at all.
    def test_all_kinds(self):
        damped = ["--set", "elements.grid.damping={mass: 10.0, stiffness: 1.0e-5}"]
        explicit = ["--set", "scheme={type: half_explicit, gap_tolerance: 1.0e-12}", "--set", "time.step=4.0e-6",
                    "--set", "time.end=1.6e-4"]
        case = self.case("rows", ROWS)
        self.compare(case, *damped, *FRICTION, counts=(2,), rows=9)
        self.compare(case, *circle(15), counts=(2,), rows=9)
        self.compare(case, *explicit, *FRICTION, counts=(2,), rows=41)
        # A lattice of its own, which touches nothing, for some of the ranks.
        apart = ["--set", "mesh.apart={type: lattice, cells: [29, 29], size: [0.1, 0.1], origin: [9, 0, 0]}",
                 "--set", "elements.apart={type: beam_timo_2d, mesh: apart, E: 1.0e9, nu: 0.3, rho: 1000.0, "
                          "section: {type: rectangle, width: 0.02, height: 0.02}}"]
        self.compare(case, *apart, *FRICTION, "--set", "time.end=2.5e-4", counts=(4,), rows=6)

    # Each rank judges its own rows; the worst is on the last one, and all of them tell of it.
    def test_certificate(self):
        wall = ["--set", "contacts.floor.normal=[1, -2.0e-5, 0]", "--set", "contacts.floor.point=[-2.0e-4, 0, 0]"]
        self.compare(self.case("rows", ROWS), *MOREAU, *wall, "--set", "time.end=1.0e-4", counts=(2,), rows=3)
        worst = []
        for folder in ("serial", "np2"):
            with open(self.path(folder + "/summary.json")) as file:
                checks = {c["name"]: c for c in json.load(file)["certificate"]["checks"]}
            worst.append(checks["penetration <= 2 max|gap rate| h"])
        self.assertGreater(worst[0]["worst_value"], 1e-5)
        for key in ("worst_value", "tolerance", "worst_ratio", "worst_time"):
            self.assertAlmostEqual(worst[1][key], worst[0][key], delta=1e-9 * worst[0][key])

    # Multipliers, from which the next step starts, are in the file for all rows, whoever solves for them.
    def test_resuming(self):
        self.resume((2, 3, 1), self.case("rows", ROWS), *FRICTION, "--set", "output.checkpoint.every=3")


if __name__ == "__main__":
    unittest.main()
