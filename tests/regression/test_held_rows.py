"""Joints, drives and lasting contacts hold, however stiff what they hold is and however long the step: against digits
of separate programs, and in a sweep against the same model with merged nodes, with supports, or at rest. Argument: the
program.
"""

import itertools
import math
import pathlib
import subprocess
import sys
import unittest

import program

AREA, INERTIA, DENSITY = 4e-4, 0.02**4 / 12.0, 7850.0
STEEL_EI = 2.1e11 * INERTIA  # N m^2

# M = diag(1, 2), K = 1e6 [1 -1; -1 1]
TWO_MASSES = """mesh:
  bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 }
  tip: { type: point, at: [1, 0, 0] }
merge: { m: { sets: [bar.end, tip] } }
elements:
  bar: { type: rod, mesh: bar, E: 1.0e6, rho: 2.0, area: 1.0, mass: lumped }
  tip: { type: point_mass, mesh: tip, mass: 1.0, in: line }
output: { frames: false, probes: { a: { node: bar.start, of: [ux, vx] }, b: { node: tip, of: [ux, vx] } } }
"""
# M = I, springs of 1e5 N/m between the first two and the last two of four masses, a joint between the two pairs
FOUR_MASSES = """mesh:
  l: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 }
  r: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 1 }
elements:
  l: { type: rod, mesh: l, E: 1.0e5, rho: 2.0, area: 1.0, mass: lumped }
  r: { type: rod, mesh: r, E: 1.0e5, rho: 2.0, area: 1.0, mass: lumped }
initial: [{ set: l, velocity: [-1, 0, 0] }, { set: r, velocity: [-1, 0, 0] }]
joints: { j: { type: ball, a: l.end, b: r.start } }
contacts: { wall: { type: node_plane, nodes: l.start, point: [-0.015, 0, 0], normal: [1, 0, 0], restitution: 0.5 } }
output:
  frames: false
  probes: { a: { node: l.start, of: [ux, vx] }, b: { node: l.end, of: [ux, vx] }, c: { node: r.start, of: [ux, vx] },
    d: { node: r.end, of: [ux, vx] } }
"""


def driven_arm(way, rise, t):
    """Deflection of the end and energy, m and J, of a clamped steel beam of 1 m after its root has turned by `way`,
    rad, by 10 s^3 - 15 s^4 + 6 s^5: each mode is an oscillator under the root's acceleration, by Simpson's rule."""
    tip, energy, count = way, 0.0, 2000
    for i, root in enumerate((1.8751040687, 4.6940911330, 7.8547574382, 3.5 * math.pi, 4.5 * math.pi)):
        w = root**2 * math.sqrt(STEEL_EI / (DENSITY * AREA))
        sine = cosine = 0.0
        for k in range(count + 1):
            s, weight = k / count, (1 if k in (0, count) else 4 if k % 2 else 2) * rise / (3 * count)
            push = weight * way / rise**2 * (60 * s - 180 * s**2 + 120 * s**3) * 2.0 / root**2
            sine += push * math.sin(w * (t - rise * s))
            cosine += push * math.cos(w * (t - rise * s))
        tip -= 2.0 * (-1)**i * sine / w
        energy += 0.5 * DENSITY * AREA * (sine**2 + cosine**2)
    return tip, energy


class Digits(program.Cases):
    def check(self, rows, expected, columns):
        for step, values in expected.items():
            for column, value in zip(columns, values):
                self.assertAlmostEqual(rows[step][column], value, delta=2e-11 * max(1e-4, abs(value)), msg=column)

    def test_joint(self):
        rows = self.history(TWO_MASSES + """loads: { F: { type: force, set: tip, value: [100, 0, 0] } }
joints: { hold: { type: prescribed, nodes: bar.start, along: x, displacement: { expression: "0" } } }
scheme: { type: hht, alpha: 0.1 }
time: { step: 0.01, end: 0.5 }
""")
        self.check(rows, {1: (1.71086398631e-4, 3.80667236955e-2, -92.3866552609),
                          5: (4.39274699497e-5, 5.20292811073e-3, -92.8692108659),
                          50: (9.99609236131e-5, 2.21681128206e-5, -99.9884399283)}, ("b.ux", "b.vx", "hold.fx"))
        self.assertLess(max(abs(row["a.ux"]) for row in rows), 1e-17)

    def test_contact(self):
        for solver in ("condensed", "newton", "schur"):
            rows = self.history(TWO_MASSES + f"""loads:
  F: {{ type: force, set: tip, value: [1, 0, 0], amplitude: {{ table: [[0, -100], [0.051, -100], [0.052, 20]] }} }}
contacts: {{ wall: {{ type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 }} }}
scheme: {{ type: alpha_velocity, rho_inf: 0.8 }}
solver: {{ type: {solver} }}
time: {{ step: 0.01, end: 0.2 }}
""")
            self.check(rows, {1: (0, -1.80374109264e-4, 0, -4.07140736342e-2, 0.918571852732),
                              6: (0, -5.83121815528e-5, 0, -4.30374304537e-3, 0.39471217996),
                              7: (1.94129716978e-4, 2.54366234921e-4, 3.88259433956e-2, 6.79499519235e-2, 0),
                              20: (6.43818542776e-2, 6.43733385651e-2, 0.911977224009, 0.934152428479, 0)},
                       ("a.ux", "b.ux", "a.vx", "b.vx", "wall.step_impulse"))

    def test_impact_with_joint(self):
        for solver in ("newton", "schur"):
            rows = self.history(FOUR_MASSES + f"""scheme: {{ type: newmark, gamma: 0.6, beta: 0.3025 }}
solver: {{ type: {solver} }}
time: {{ step: 0.01, end: 0.2 }}
""")
            self.check(rows, {2: (-0.0125882610775, -0.016118704176, -0.016118704176, -0.0170830012751, 0.5,
                                  -0.230156200191, -0.421421740516, 3.6182658591, 134.842205929),
                              10: (-0.01545140626, -0.0149529083119, -0.0149529083119, -0.0138827254061),
                              20: (-0.0112161641668, -0.0110568683503, -0.0110568683503, -0.0110574364369,
                                   0.101399728489, 0.0314274621588, -0.0159202280754, 0)},
                       ("a.ux", "b.ux", "c.ux", "d.ux", "a.vx", "b.vx", "d.vx", "wall.step_impulse", "j.fx"))
            self.assertAlmostEqual(rows[10]["wall.step_impulse"], 0.0191046592229, delta=1e-12)
            self.assertAlmostEqual(rows[10]["j.fx"], -27.4199318139, delta=1e-9)
            self.assertAlmostEqual(rows[10]["kinetic"] + rows[10]["strain"], 0.0794629985006, delta=1e-12)

    def test_chain_that_slides_over_a_drum(self):
        """Contacts hold the beads at both ends of links, in both directions: joints must not contradict them. The way
        of the ends after 0.1 s is that of a light rope (Euler, Eytelwein), but for the polygon."""
        maker = pathlib.Path(__file__).parents[1] / "study" / "make_chain.py"
        text = subprocess.run([sys.executable, maker, "6"], capture_output=True, text=True, check=True).stdout
        gain = math.exp(0.1 * math.pi)
        way = 0.5 * 9.81 * (0.3 - 0.1 * gain) / (0.3 + 0.1 * gain) * 0.1**2
        for scheme, solver in (("alpha_velocity, rho_inf: 0.8", "newton"), ("jump_newmark, rho_inf: 0.8", "schur")):
            result = self.percuss("run", self.write("chain.yaml", text), "-q", "--overwrite", "-o", self.path("chain"),
                                  "--set", f"scheme={{type: {scheme}}}", "--set", f"solver.type={solver}",
                                  "--set", "contacts.drum.friction=0.1", "--set", "time.step=1.0e-3")
            self.assertEqual(result.returncode, 0, result.stderr)
            summary = program.read_json(self.path("chain", "summary.json"))
            steps, ends = summary["steps"], {probe["name"]: probe for probe in summary["probes"]}
            self.assertEqual((steps["cut"], steps["handovers"]), (0, 0), (scheme, solver))
            self.assertLess(steps["iterations_mean"], 10.0, (scheme, solver))
            drop = [ends[name]["start"] - ends[name]["end"] for name in list(ends)[0:3:2]]
            self.assertAlmostEqual(0.5 * (drop[0] - drop[1]), way, delta=0.05 * way)

    def test_weight_on_a_slider(self):
        """At rest: the joint carries m g = 20 N under every scheme that reports its force."""
        text = """mesh: { c: { type: point, at: [0.5, 0, 0] } }
elements: { c: { type: rigid_body_2d, mesh: c, mass: 2.0, inertia: 0.02 } }
joints: { a: { type: slider, node: c, axis: [1, 0, 0] } }
loads: { w: { type: gravity, g: [0, -10, 0] } }
time: { step: 1.0e-3, end: 0.01 }
"""
        for scheme in ("jump_newmark, gamma: 0.9", "jump_newmark, rho_inf: 0.8", "newmark, gamma: 0.9", "hht",
                       "alpha_velocity", "alpha_ggl", "moreau_jean, theta: 0.5", "half_explicit"):
            for row in self.history(text + f"scheme: {{ type: {scheme} }}\n")[1:]:
                self.assertAlmostEqual(row["a.fy"], 20.0, delta=1e-9, msg=scheme)

    def test_rod_on_a_wall(self):
        """It shortens by F L/EA = 1.19048e-4 m; by the published rule by 2.9e-3 m."""
        text = """mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 100 } }
elements: { bar: { type: rod, mesh: bar, E: 2.1e11, rho: 7850, area: 4.0e-4 } }
loads: { F: { type: force, set: bar.end, value: [-1.0e4, 0, 0] } }
contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 } }
time: { step: 1.0e-3, end: 0.2 }
output: { frames: false, probes: { b: { node: bar.end, of: [ux] } } }
"""
        for scheme in ("hht", "alpha_velocity, rho_inf: 0.5", "newmark, gamma: 0.7", "jump_newmark, rho_inf: 0.5"):
            rows = self.history(text + f"scheme: {{ type: {scheme} }}\n")
            self.assertAlmostEqual(rows[-1]["b.ux"], -1e4 / (2.1e11 * 4e-4), delta=1e-12, msg=scheme)
        # Between events it may sink by the tolerance of gaps: no run ends for that.
        soft = text.replace("2.1e11", "1.0e6").replace("-1.0e4", "-0.04").replace("elements: 100", "elements: 20")
        rows = self.history(soft.replace("end: 0.2", "end: 0.06") + "scheme: { type: event_driven }\n")
        self.assertLess(max(abs(row["wall.gap"]) for row in rows), 1e-6)
        published = text + "scheme: { type: hht, variant: published }\n"
        self.assertIn("errors of joints and held contacts", self.try_case(published).stderr)
        rows = self.history(published + "certify: warn\n")
        self.assertAlmostEqual(rows[-1]["b.ux"], -2.877e-3, delta=1e-6)

    def test_frame(self):
        """A steel column of 1 m with a beam of 1 m on it, 20 mm square, 100 N on its end, at rest after a second:
        bending of both, shear of the beam and shortening of the column. By the published rule the weld opens by
        0.054 rad."""
        sag = 4.0 * 100.0 / (3.0 * STEEL_EI) + 100.0 / (5.0 / 6.0 * 2.1e11 / 2.6 * AREA) + 100.0 / (2.1e11 * AREA)
        parts = [beam("beam_timo_2d", 2.1e11, "a", [0, 0, 0], [0, 1, 0], 8),
                 beam("beam_timo_2d", 2.1e11, "b", [0, 1, 0], [1, 1, 0], 8)]
        text = model(parts) + """supports: { c: { set: a.start, fix: [x, y, rz] } }
loads: { F: { type: force, set: b.end, value: [0, -100, 0] } }
damping: { mass: 40 }
time: { step: 1.0e-3, end: 1.0 }
output: { frames: false,
  probes: { tip: { node: b.end, of: [uy] }, below: { node: a.end, of: [rz] }, above: { node: b.start, of: [rz] } } }
"""
        joints = ("type: fixed, a: a.end, b: b.start", "type: rigid_link, a: a.end, nodes: b.start")
        schemes = ("hht", "alpha_velocity", "newmark, gamma: 0.7", "jump_newmark, rho_inf: 0.5", "newmark")
        for joint, scheme in itertools.product(joints, schemes):
            frame = text + f"joints: {{ w: {{ {joint} }} }}\nscheme: {{ type: {scheme} }}\n"
            last = self.history(frame)[-1]
            self.assertAlmostEqual(last["tip.uy"], -sag, delta=1e-5 * sag, msg=scheme)
            self.assertAlmostEqual(last["above.rz"], last["below.rz"], delta=1e-12, msg=scheme)
        frame = text + f"joints: {{ w: {{ {joints[0]} }} }}\nscheme: {{ type: hht, variant: published }}\n"
        self.assertIn("errors of joints and held contacts", self.try_case(frame).stderr)
        last = self.history(frame + "certify: warn\n")[-1]
        self.assertAlmostEqual(last["below.rz"] - last["above.rz"], 0.054, delta=1e-3)

    def test_driven_arm(self):
        """A steel beam of 1 m, turned by 2 mrad in 50 ms, against the modes of a clamped Euler beam: its end, and the
        energy of the vibration that is left. By the published rule it gains any energy."""
        tip, energy = driven_arm(2e-3, 0.05, 0.2)
        text = model([beam("beam_timo_2d", 2.1e11, "a", [0, 0, 0], [1, 0, 0], 20)]) + """
supports: { c: { set: a.start, fix: [x, y] } }
joints: { d: { type: prescribed, node: a.start, along: rz, distance: 2.0e-3, rise: 0.05 } }
output: { frames: false, probes: { tip: { node: a.end, of: [uy] } } }
"""
        for scheme, step in itertools.product(("hht", "hht, alpha: 0.3", "alpha_velocity", "newmark",
                                               "moreau_jean, theta: 0.5"), (2e-4, 1e-3)):
            arm = text + f"scheme: {{ type: {scheme} }}\ntime: {{ step: {step}, end: 0.2 }}\n"
            last = self.history(arm)[-1]
            self.assertAlmostEqual(last["tip.uy"], tip, delta=0.012 * 2e-3, msg=f"{scheme}, {step}")
            self.assertAlmostEqual(last["kinetic"] + last["strain"], energy, delta=0.005 * energy, msg=scheme)
        published = text + "scheme: { type: hht, variant: published }\ntime: { step: 1.0e-3, end: 0.2 }\n"
        self.assertIn("errors of joints and held contacts", self.try_case(published).stderr)
        last = self.history(published + "certify: warn\n")[-1]
        self.assertGreater(last["kinetic"] + last["strain"], 1.0)

    def test_long_turns(self):
        """A crank that is driven by 1 to 3 rad per step, with a rod on it: velocities alone place no pivot there. Runs
        say so, and end before one is off by more than a tenth of the largest displacement in a direction."""
        for scheme, speed in itertools.product(("newmark", "hht", "alpha_velocity", "moreau_jean, theta: 0.5"),
                                               (100, 130, 150, 200, 300)):
            done = self.try_case(f"""mesh:
  b: {{ type: point, at: [1, 0, 0] }}
  c: {{ type: point, at: [3, 0, 0] }}
elements:
  b: {{ type: rigid_body_2d, mesh: b, mass: 2, inertia: 0.4 }}
  c: {{ type: rigid_body_2d, mesh: c, mass: 2, inertia: 0.4 }}
joints:
  pin: {{ type: hinge, node: b, at: [0, 0, 0] }}
  d: {{ type: prescribed, node: b, along: rz, speed: {speed}, rise: 0.1 }}
  rod: {{ type: hinge, a: b, b: c, at: [2, 0, 0] }}
scheme: {{ type: {scheme} }}
time: {{ step: 0.01, end: 1 }}
output: {{ frames: false, probes: {{ b: {{ node: b, of: [ux, uy, rz] }}, c: {{ node: c, of: [ux, uy, rz] }} }} }}
""")
            rows = program.read_table(self.folder / "case" / "history.csv")
            moved = max(abs(row[p]) for row in rows for p in ("b.ux", "b.uy", "c.ux", "c.uy"))
            pins = [(math.hypot(1 + r["b.ux"] - math.cos(r["b.rz"]), r["b.uy"] - math.sin(r["b.rz"])),
                     math.hypot(2 + r["c.ux"] - math.cos(r["c.rz"]) - r["b.ux"] - math.cos(r["b.rz"]),
                                r["c.uy"] - math.sin(r["c.rz"]) - r["b.uy"] - math.sin(r["b.rz"]))) for r in rows]
            self.assertLess(max(map(max, pins)), 0.15 * moved, f"{scheme}, {speed}")
            if done.returncode == 0:
                summary = program.read_json(self.folder / "case" / "summary.json")
                self.assertEqual(summary["certificate"]["verdict"], "marked", f"{scheme}, {speed}")
            else:
                self.assertRegex(done.stderr, "errors of joints|energy gained|prescribed rotat", f"{scheme}, {speed}")

    def test_beam_in_space_on_a_cylindrical_joint(self):
        """Steps end when the joint is met with the rows that the kept matrix was made of, in as many iterations."""
        self.history("""mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0.2, 0.1], elements: 3 } }
elements:
  beam: { type: beam_exact_3d, mesh: beam, E: 1.0e7, nu: 0.3, rho: 1000, orientation: [0, 0, 1],
    section: { type: rectangle, width: 0.03, height: 0.02 } }
joints: { j: { type: cylindrical, node: beam.start, axis: [0, 0, 1] } }
perturbation: { energy: 1.0e-3, seed: 3 }
scheme: { type: alpha_ggl }
solver: { type: newton }
time: { step: 1.0e-3, end: 0.3, retry: 0 }
output: { frames: false }
""")

    def test_round_off_opens_nothing(self):
        """h times the fastest frequency is above 1e6."""
        for scheme in ("newmark", "hht", "alpha_velocity", "moreau_jean, theta: 0.5", "jump_newmark, gamma: 0.5"):
            rows = self.history(f"""mesh: {{ bar: {{ type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 100 }} }}
elements: {{ bar: {{ type: rod, mesh: bar, E: 1.0e12, rho: 7850, area: 4.0e-4 }} }}
loads: {{ F: {{ type: force, set: bar.end, value: [-1.0e4, 0, 0] }} }}
contacts: {{ wall: {{ type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 }} }}
scheme: {{ type: {scheme} }}
time: {{ step: 1.0e-2, end: 2.0 }}
output: {{ frames: false }}
""")
            self.assertLess(max(abs(row["wall.gap"]) for row in rows), 1e-9, scheme)


def frequency(factor, young):
    """Of a beam of 1 m, rad/s."""
    return factor * math.sqrt(young * INERTIA / (DENSITY * AREA))


def axes(kind):
    return ["x", "y", "z", "rx", "ry", "rz"] if kind.endswith("3d") else ["x", "y", "rz"]


def beam(kind, young, name, start, end, cells):
    turned = ", orientation: [0, 0, 1]" if kind.endswith("3d") else ""
    return (f"  {name}: {{ type: line, from: {start}, to: {end}, elements: {cells} }}\n",
            f"  {name}: {{ type: {kind}, mesh: {name}, E: {young}, nu: 0.3, rho: {DENSITY}{turned}, "
            "section: { type: rectangle, width: 0.02, height: 0.02 } }\n")


def model(parts):
    return "mesh:\n" + "".join(mesh for mesh, _ in parts) + "elements:\n" + "".join(group for _, group in parts)


def held(kind, young, rest):
    """A stiff beam whose start is held by `rest`, pushed across, that comes to rest within 200 steps of 1 ms."""
    return model([beam(kind, young, "a", [0, 0, 0], [1, 0, 0], 4)]) + rest + f"""
damping: {{ mass: {2.0 * frequency(3.516, young)} }}
time: {{ step: 1.0e-3, end: 0.2 }}
output: {{ frames: false, contact_frames: false, checkpoint: false, history: {{ every: 200 }},
  probes: {{ p: {{ node: a.end, of: [ux, uy] }} }} }}
"""


class Stiff(program.Cases):
    """Steps of many periods of the fastest vibrations: joints, drives and lasting contacts leave what supports do, in
    every element."""

    def end(self, text, scheme):
        row = self.history(text + f"scheme: {{ type: {scheme} }}\n")[-1]
        return row["p.ux"], row["p.uy"]

    def test_like_supports(self):
        young = 1e12
        push = -3.0 * young * INERTIA * 0.01
        for kind, scheme in itertools.product(("beam_timo_2d", "beam_exact_2d", "beam_timo_3d", "beam_exact_3d"),
                                              ("newmark, gamma: 0.7", "hht", "alpha_velocity, rho_inf: 0")):
            load = f"loads: {{ F: {{ type: force, set: a.end, value: [0, {push}, 0] }} }}\n"
            clamp = f"supports: {{ c: {{ set: a.start, fix: [{', '.join(axes(kind))}] }} }}\n"
            weld = "joints: { c: { type: fixed, node: a.start } }\n"
            drop = "joints: { c: { type: prescribed, node: a.start, along: y, displacement: { ramp: { rise: 0.05, " \
                   "to: 2.0e-3, shape: smooth } } } }\n"
            rest = f"supports: {{ c: {{ set: a.start, fix: [{', '.join(k for k in axes(kind) if k != 'y')}] }} }}\n"
            expected = self.end(held(kind, young, load + clamp), scheme)
            self.assertAlmostEqual(expected[1] / -0.01, 1.0, delta=0.02, msg=f"{kind}, {scheme}")
            for other, shift in ((weld, 0.0), (rest + drop, 2e-3)):
                found = self.end(held(kind, young, load + other), scheme)
                self.assertAlmostEqual(found[1] - shift, expected[1], delta=1e-4, msg=f"{kind}, {scheme}, {other}")
            # A floor under the start, which sticks on it; schemes may sink by h v as they land.
            floor = "contacts: { c: { type: node_plane, nodes: a.start, point: [0, 0, 0], normal: [0, 1, 0], " \
                    "restitution: 0, friction: 5.0 } }\n"
            kept = ", ".join(k for k in axes(kind) if k not in "xy")
            rest = f"supports: {{ c: {{ set: a.start, fix: [{kept}] }} }}\n"
            down = f" }}, down: {{ type: force, set: a.start, value: [0, {4 * push}, 0] }} }}\n"
            found = self.end(held(kind, young, load.replace(" } }\n", down) + floor + rest), scheme)
            self.assertAlmostEqual(found[1], expected[1], delta=1e-4, msg=f"{kind}, {scheme}, friction")
            self.assertAlmostEqual(found[0], expected[0], delta=1e-4, msg=f"{kind}, {scheme}, friction")


if __name__ == "__main__":
    unittest.main()
