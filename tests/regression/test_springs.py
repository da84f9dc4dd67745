"""Springs by polynomials and tables, with clearance and stop, and dampers with exponents. Argument: the program.

A mass on one spring: periods by quadrature of the energy integral, decay under d v^p in closed form.
"""

import itertools
import math
import unittest

import program

MASS = 2.0


def case(spring, scheme, speed, step, end, unit=1.0):
    return f"""mesh:
  spring: {{ type: line, from: [0, 0, 0], to: [{unit!r}, 0, 0], elements: 1 }}
  body: {{ type: point, nodes: spring.end }}
elements:
  spring: {{ type: spring_damper, mesh: spring, in: line, {spring} }}
  body: {{ type: point_mass, mesh: body, mass: {MASS}, in: line }}
supports:
  ground: {{ set: spring.start, fix: [x] }}
initial:
  - {{ set: body, velocity: [{speed!r}, 0, 0] }}
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
output:
  frames: false
  checkpoint: false
  probes:
    body: {{ node: body, of: [ux, vx] }}
    spring: {{ element: spring, of: [axial_force, elongation, strain_energy] }}
"""


def quarter(force, energy, total):
    """Time from rest length to the turning point of a symmetric spring, and that stretch: by sin substitution."""
    high = 1e-9
    while energy(high) < total:
        high *= 2.0
    low = 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if energy(middle) < total else (low, middle)
    n, sum_ = 20000, 0.0
    for i in range(n):
        angle = (i + 0.5) * math.pi / (2 * n)
        s = high * math.sin(angle)
        sum_ += high * math.cos(angle) / math.sqrt(2.0 / MASS * (energy(high) - energy(s)))
    return sum_ * math.pi / (2 * n), high


class Springs(program.Cases):
    def check_period(self, spring, force, energy, speed, tolerance=2e-4):
        total = 0.5 * MASS * speed * speed
        time, most = quarter(force, energy, total)
        rows = self.history(case(spring, "newmark", speed, time / 500, 4.2 * time))
        self.assertAlmostEqual(max(r["body.ux"] for r in rows) / most, 1.0, delta=1e-4)
        back = next((a, b) for a, b in zip(rows[1:], rows[2:]) if a["body.ux"] < 0.0 <= b["body.ux"])
        share = -back[0]["body.ux"] / (back[1]["body.ux"] - back[0]["body.ux"])
        period = back[0]["t"] + share * (back[1]["t"] - back[0]["t"])
        self.assertAlmostEqual(period / (4.0 * time), 1.0, delta=tolerance)
        for r in rows:
            self.assertAlmostEqual(r["spring.axial_force"], force(r["body.ux"]), delta=1e-9 * abs(force(most)))
            self.assertAlmostEqual(r["strain"], energy(r["body.ux"]), delta=1e-10 * total)
            self.assertLess(abs(r["numerical_loss"]), 1e-4 * total)

    def test_polynomial(self):
        for k1, k3, speed in ((800.0, 0.0, 1.0), (800.0, 5.0e5, 1.0), (0.0, 3.0e4, 2.0)):
            self.check_period(f"polynomial: [{k1}, 0, {k3}]", lambda s: k1 * s + k3 * s**3,
                              lambda s: 0.5 * k1 * s * s + 0.25 * k3 * s**4, speed)

    def test_clearance(self):
        k, c = 2.0e4, 0.05

        def over(s):
            return math.copysign(max(abs(s) - c, 0.0), s)
        self.check_period(f"stiffness: {k}, clearance: {c}", lambda s: k * over(s), lambda s: 0.5 * k * over(s) ** 2,
                          3.0)
        # The time in the play and that in the spring add up.
        time, _ = quarter(None, lambda s: 0.5 * k * over(s) ** 2, 0.5 * MASS * 9.0)
        self.assertAlmostEqual(4.0 * time, 4.0 * c / 3.0 + 2.0 * math.pi * math.sqrt(MASS / k), delta=2e-5)

    def test_stop(self):
        k, stop, wall = 500.0, 0.02, 4.0e5
        self.check_period(f"stiffness: {k}, stop: {stop}, stop_stiffness: {wall}",
                          lambda s: k * s + wall * math.copysign(max(abs(s) - stop, 0.0), s),
                          lambda s: 0.5 * k * s * s + 0.5 * wall * max(abs(s) - stop, 0.0) ** 2, 1.5)

    def test_table_is_what_it_says(self):
        same = ("table: [[-1.05, -2.0e+4], [-0.05, 0], [0.05, 0], [1.05, 2.0e+4]]",
                "stiffness: 2.0e+4, clearance: 0.05")
        runs = [self.history(case(spring, "newmark", 3.0, 1e-3, 0.5)) for spring in same]
        for a, b in zip(*runs):
            for column in ("body.ux", "body.vx", "strain"):
                self.assertAlmostEqual(a[column], b[column], delta=1e-9)
        # A spring that is not the same in both directions, from a table that does not begin at rest.
        rows = self.history(case("table: [[-2, -900], [-1, -100], [1, 300]]", "newmark", 14.0, 1e-3, 1.5, unit=10.0))

        def force(s):
            return -100.0 + 200.0 * (s + 1.0) if s >= -1.0 else -100.0 + 800.0 * (s + 1.0)

        def energy(s):
            return 100.0 * s + 100.0 * s * s if s >= -1.0 else -100.0 * (s + 1.0) + 400.0 * (s + 1.0) ** 2
        self.assertLess(min(r["body.ux"] for r in rows), -1.2)
        for r in rows:
            self.assertAlmostEqual(r["spring.axial_force"], force(r["body.ux"]), delta=1e-9)
            self.assertAlmostEqual(r["strain"], energy(r["body.ux"]), delta=1e-9)

    def test_a_run_may_begin_below_the_energy_at_rest(self):
        text = """
mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [0.7, 0, 0] }, s: { type: link, a: a, b: b } }
elements:
  a: { type: point_mass, mesh: a, mass: 0.3 }
  b: { type: point_mass, mesh: b, mass: 1.7 }
  s: { type: spring_damper, mesh: s, table: [[-2, -900], [-1, -100], [1, 300]] }
initial: [ { set: b, displacement: [-0.4, 0, 0] } ]
scheme: { type: SCHEME }
time: { step: 1.0e-3, end: 0.5 }
"""
        for scheme in ("newmark", "alpha_ggl, rho_inf: 0.8", "half_explicit", "moreau_jean, theta: 0.5"):
            rows = self.history(text.replace("SCHEME", scheme))
            self.assertAlmostEqual(rows[0]["strain"], -24.0, delta=1e-9)
            self.assertTrue(all(abs(r["momentum_x"]) < 1e-9 and r["kinetic"] < 1.05 for r in rows))
            self.assertGreater(max(r["kinetic"] for r in rows), 0.9)

    def test_dampers_with_exponents(self):
        speed, d = 3.0, 4.0
        exact = {
            "damper_exponent: 2": lambda t: speed / (1.0 + d * speed * t / MASS),
            "damper_exponent: 1.5": lambda t: (speed**-0.5 + 0.5 * d * t / MASS) ** -2.0,
            "damper_exponent: 0.5, damper_speed: 1.0e-5": lambda t: (speed**0.5 - 0.5 * d * t / MASS) ** 2.0,
        }
        for damper, v in exact.items():
            for scheme in ("newmark", "moreau_jean, theta: 0.5", "half_explicit", "event_driven"):
                rows = self.history(case(f"damper: {d}, {damper}", scheme, speed, 1e-3, 1.2))
                for r in rows:
                    self.assertAlmostEqual(r["body.vx"], v(r["t"]), delta=2e-5 * speed)
                last = rows[-1]
                start = 0.5 * MASS * speed * speed
                self.assertAlmostEqual(last["kinetic"] + last["damping_loss"], start, delta=1e-4 * start)

    def test_every_scheme_takes_every_spring(self):
        springs = ("polynomial: [1.0e+4, 0, 1.0e+8]", "table: [[-1, -1.0e+4], [0, 0], [1, 4.0e+4]]",
                   "stiffness: 1.0e+4, clearance: 0.01, damper: 3, damper_exponent: 2",
                   "stiffness: 1.0e+4, stop: 0.01, stop_stiffness: 1.0e+6, damper: 3, damper_exponent: 0.5, "
                   "damper_speed: 0.01")
        schemes = ("alpha_ggl", "moreau_jean, theta: 0.5", "half_explicit", "newmark", "hht", "alpha_velocity",
                   "moreau_midpoint", "schatzman_paoli", "half_explicit_acceleration", "alpha_index3", "event_driven",
                   "jump_newmark, gamma: 0.5", "half_explicit_rk", "splitting", "tdg_minus", "tdg_plus",
                   "ggl_midpoint", "mannshardt")
        for i, (spring, scheme) in enumerate(itertools.product(springs, schemes)):
            if (i + i // len(schemes)) % 4:
                continue
            rows = self.history(case(spring, scheme, 2.0, 2e-5, 0.04))
            start = rows[0]["kinetic"]
            self.assertLess(max(abs(r["numerical_loss"]) for r in rows), 0.01 * start, f"{scheme}, {spring}")

    def test_stable_step_knows_the_stiffest_part(self):
        for spring, stiffness in (("stiffness: 100, stop: 0.1, stop_stiffness: 1.0e+6", 1.0001e6),
                                  ("table: [[-1, -1], [0, 0], [1, 1.0e+6]]", 1.0e6),
                                  ("stiffness: 1.0e+6, clearance: 0.2", 1.0e6)):
            limit = 2.0 / math.sqrt(stiffness / MASS)
            result = self.try_case(case(spring, "half_explicit", 1.0, 1.02 * limit, 0.1))
            self.assertIn("above the stable step", result.stderr)
            result = self.try_case(case(spring, "half_explicit", 1.0, 0.98 * limit, 0.1))
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_anchors_and_forgotten_masses(self):
        mesh = ("mesh: { wall: { type: point, at: [0, 0, 0] }, body: { type: point, at: [1, 0, 0] }, spring: "
                "{ type: link, a: wall, b: body } }\n")
        rest = ("supports: { wall: { set: wall, fix: [x, y, z] } }\nscheme: { type: newmark }\n"
                "time: { step: 1.0e-3, end: 1.0 }\n")
        spring = "s: { type: spring_damper, mesh: spring, stiffness: 200 }"
        for elements, expected in (
            (spring, "the mass matrix is singular at node 1 at (1, 0, 0), direction [1, 0, 0]: give it a mass"),
            (spring + ", m: { type: point_mass, mesh: body, mass: 1 }, f: { type: mount, mesh: body, stiffness: "
             "[1, 1, 1] }", "a part of their own, { type: point, nodes: body }"),
        ):
            result = self.try_case(mesh + "elements: { " + elements + " }\n" + rest)
            self.assertEqual(result.returncode, 2)
            self.assertIn(expected, result.stderr)
        result = self.try_case("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 } }\n"
                               "elements: { bar: { type: rod_plastic, mesh: bar, E: 1, rho: 1e-200, area: 1e-200, "
                               "yield_stress: 1, tangent_modulus: 0 } }\n" + rest.partition("\n")[2])
        self.assertIn("the mass matrix is singular at node 0", result.stderr)

    def test_what_is_refused(self):
        for spring, expected in (
            ("table: [[0, 0], [1, 2]], polynomial: [1]", "two springs"),
            ("table: [[0, 0], [1, 2]], stiffness: 3", "leave 'stiffness' out"),
            ("table: [[0, 0]]", "two or more rows"),
            ("table: [[0, 0, 1], [1, 2, 3]]", "two or more rows"),
            ("table: [[0, 0], [0, 2]]", "must rise"),
            ("polynomial: [1, x]", "polynomial"),
            ("table: [[0, 0], [1, 2]], clearance: 0.1", "play into the table"),
            ("stiffness: 1, clearance: -0.1", "must be >= 0"),
            ("stiffness: 1, stop: 0.1", "both or not at all"),
            ("damper: 1, damper_exponent: 0.5", "needs the speed"),
            ("damper: 1, damper_exponent: 0", "damper_exponent"),
        ):
            result = self.try_case(case(spring, "newmark", 1.0, 1e-3, 1e-2))
            self.assertNotEqual(result.returncode, 0, spring)
            self.assertIn(expected, result.stderr)
            self.assertRegex(result.stderr, r"case.yaml:\d+:\d+: ")


if __name__ == "__main__":
    unittest.main()
