"""Friction of contacts with force laws against closed forms and independent integration. Argument: the program.

A spring k_t in a row with a slider mu N. Oblique impact of a sphere: Maw, Barber, Fawcett, Wear 38, 1976; Johnson, Int.
J. Impact Eng. 1, 1983: the same with springs, which is integrated here by a rule of its own.
"""

import itertools
import json
import math
import unittest
from concurrent.futures import ThreadPoolExecutor

import program

IMPLICIT = ("newmark", "hht", "alpha_ggl", "alpha_velocity", "moreau_jean, theta: 0.5", "alpha_index3",
            "jump_newmark, rho_inf: 0.8", "ggl_midpoint", "event_driven")
EXPLICIT = ("half_explicit", "moreau_midpoint", "schatzman_paoli", "half_explicit_acceleration", "half_explicit_rk",
            "splitting", "tdg_minus", "tdg_plus", "mannshardt")
MINDLIN = 2.0 * (1.0 - 0.3) / (2.0 - 0.3)
MASS, GRAVITY, RADIUS = 2.0, 10.0, 0.1


def output(of):
    probes = f"probes: {{ b: {{ node: b, of: [{of}] }} }}"
    return f"output: {{ frames: false, contact_frames: false, checkpoint: false, {probes} }}\n"


def block(contact, scheme, step, end, angle=0.0, speed=(0.0, 0.0), turn=0.0, unit=1.0, depth=0.0):
    """A mass on a slope about z; `turn` rotates the downhill direction about the vertical."""
    n = (math.sin(angle) * math.cos(turn), math.sin(angle) * math.sin(turn), math.cos(angle))
    down = (math.cos(angle) * math.cos(turn), math.cos(angle) * math.sin(turn), -math.sin(angle))
    across = (-math.sin(turn), math.cos(turn), 0.0)
    v = [unit * (speed[0] * a + speed[1] * b) for a, b in zip(down, across)]
    at = [-unit * depth * x for x in n]
    return f"""mesh: {{ b: {{ type: point, at: {at} }} }}
elements: {{ b: {{ type: point_mass, mesh: b, mass: {MASS} }} }}
initial: [ {{ set: b, velocity: {v} }} ]
loads: {{ weight: {{ type: gravity, g: [0, 0, {-GRAVITY * unit!r}] }} }}
contacts: {{ floor: {{ type: node_plane, nodes: b, point: [0, 0, 0], normal: {list(n)}, {contact} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
""" + output("x, y, z, vx, vy, vz"), down, across


def sphere(contact, scheme, step, end, speed):
    inertia = 0.4 * MASS * RADIUS**2
    floor = f"type: node_plane, nodes: b, point: [0, 0, 0], normal: [0, 1, 0], node_radius: {RADIUS}"
    return f"""mesh: {{ b: {{ type: point, at: [0, {RADIUS + 3.3 * step!r}, 0] }} }}
elements: {{ b: {{ type: rigid_body_2d, mesh: b, mass: {MASS}, inertia: {inertia!r} }} }}
initial: [ {{ set: b, velocity: [{speed!r}, -1, 0] }} ]
contacts: {{ floor: {{ {floor}, {contact} }} }}
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
""" + output("vx, vy, wz")


def rebound_of_springs(stiffness, exponent, mu, speed, ratio, steps=100000):
    """Tangential velocity at the contact after an impact with the normal speed 1; leapfrog steps of the depth."""
    energy = 0.5 * MASS
    deepest = ((exponent + 1.0) * energy / stiffness) ** (1.0 / (exponent + 1.0))
    h = 8.0 * deepest / steps
    mobility = (1.0 + 1.0 / 0.4) / MASS
    d, rate, f, k0 = 0.0, 1.0, 0.0, 0.0
    while True:
        rate -= 0.5 * h * stiffness * d**exponent / MASS
        d += h * rate
        if d <= 0.0:
            return speed
        rate -= 0.5 * h * stiffness * d**exponent / MASS
        limit, k = mu * stiffness * d**exponent, ratio * exponent * stiffness * d ** (exponent - 1.0)
        start = f * min(1.0, k / k0) if k0 > 0.0 else 0.0
        # f at the end of the step from the mean velocity over it
        trial = (start - k * h * (speed + 0.25 * h * mobility * f)) / (1.0 + 0.25 * h * h * k * mobility)
        after = max(-limit, min(limit, trial))
        speed += 0.5 * h * mobility * (f + after)
        f, k0 = after, k


class Friction(program.Cases):
    def check_ledger(self, rows, size, tolerance):
        def books(row):
            return (row["kinetic"] + row["strain"] + row["potential"] + row["damping_loss"] + row["friction_loss"] +
                    row["numerical_loss"])
        for row in rows:
            self.assertLess(abs(books(row) - books(rows[0])), 1e-11 * size)
            self.assertLess(abs(row["numerical_loss"]), tolerance * size)
            self.assertGreaterEqual(row["friction_loss"], 0.0)

    def test_block_sticks_on_a_slope(self):
        """It swings by m g sin a/k_t about its place of rest, and does not creep: hundreds of periods later, too."""
        angle, stiffness, tangent = 0.3, 1.0e5, 4.0e4
        law = f"friction: 0.7, law: {{ type: linear, stiffness: {stiffness}, tangent_stiffness: {tangent} }}"
        rest, rate = MASS * GRAVITY * math.sin(angle) / tangent, math.sqrt(tangent / MASS)
        depth = MASS * GRAVITY * math.cos(angle) / stiffness
        schemes = ("newmark", "ggl_midpoint", "half_explicit_rk", "event_driven")
        for scheme, turn in itertools.product(schemes, (0.0, 0.8)):
            text, down, _ = block(law, scheme, 2.0e-4, 0.1, angle, turn=turn, depth=depth)
            rows = self.history(text)
            for row in rows:
                way = sum(row[f"b.{x}"] * d for x, d in zip("xyz", down))
                self.assertAlmostEqual(way / rest, 1.0 - math.cos(rate * row["t"]), delta=2e-3)
                self.assertEqual(row["floor.state"], 1.0)
            self.assertEqual(rows[-1]["friction_loss"], 0.0)
            self.assertAlmostEqual(rows[-1]["numerical_loss"], 0.0, delta=1e-6 * rest * MASS * GRAVITY)
        text, down, _ = block(law, "newmark", 1.0e-3, 8.0, angle, depth=depth)
        ways = [sum(row[f"b.{x}"] * d for x, d in zip("xyz", down)) / rest for row in self.history(text)]
        for part in (ways[:2000], ways[-2000:]):
            self.assertAlmostEqual(max(part), 2.0, delta=2e-3)
            self.assertAlmostEqual(min(part), 0.0, delta=2e-3)

    def test_block_slides(self):
        """mu g along the velocity, whatever the direction; mu m g v is lost; what is summed up is the exact way."""
        mu, stiffness = 0.3, 1.0e5
        law = f"friction: {mu}, law: {{ type: linear, stiffness: {stiffness} }}"
        schemes = ("newmark", "alpha_ggl", "half_explicit", "moreau_jean, theta: 0.5")
        depth = MASS * GRAVITY / stiffness
        for scheme, turn in itertools.product(schemes, (0.0, 2.0)):
            text, down, across = block(law, scheme, 1.0e-3, 0.4, speed=(3.0, 4.0), turn=turn, depth=depth)
            rows = self.history(text)
            first, last = rows[100], rows[-1]
            speed = [math.hypot(row["b.vx"], row["b.vy"]) for row in (first, last)]
            self.assertAlmostEqual(speed[0] - speed[1], mu * GRAVITY * (last["t"] - first["t"]), delta=1e-8)
            along = [sum(last[f"b.v{x}"] * d for x, d in zip("xyz", axis)) for axis in (down, across)]
            self.assertAlmostEqual(along[0] / along[1], 0.75, delta=1e-9)
            lost = last["friction_loss"] - first["friction_loss"]
            self.assertAlmostEqual(lost, 0.5 * MASS * (speed[0] ** 2 - speed[1] ** 2), delta=1e-5)
            self.assertEqual(last["floor.state"], 2.0)
            summary = json.loads((self.folder / "case" / "summary.json").read_text())
            slid = summary["contacts"][0]["sliding_distance"]
            self.assertAlmostEqual(slid, 0.5 * (5.0 + speed[1]) * 0.4, delta=5e-3)

    def test_oblique_impact(self):
        mu, stiffness = 0.3, 1.0e6
        duration = math.pi * math.sqrt(MASS / stiffness)
        law = f"friction: {mu}, law: {{ type: linear, stiffness: {stiffness} }}"
        for speed in (0.1, 0.5, 1.0, 5.0):
            expected = rebound_of_springs(stiffness, 1.0, mu, speed, MINDLIN)
            if speed == 5.0:  # gross sliding: (1 + 5/2) mu (1 + e) v_n
                self.assertAlmostEqual(expected, speed - 7.0 * mu, delta=1e-6)
            for scheme in IMPLICIT + EXPLICIT if speed == 0.5 else ("newmark", "alpha_ggl", "half_explicit"):
                rows = self.history(sphere(law, scheme, duration / 200, 1.1 * duration, speed))
                after = rows[-1]["b.vx"] + RADIUS * rows[-1]["b.wz"]
                self.assertAlmostEqual(after, expected, delta=2e-4, msg=f"{scheme}, {speed}")
                self.assertAlmostEqual(rows[-1]["b.vy"], 1.0, delta=2e-5)
                taken = 0.5 * (speed**2 - after**2) * MASS / 3.5
                self.assertAlmostEqual(rows[-1]["friction_loss"], taken, delta=2e-4 * (0.5 + taken))
                # Velocities of schatzman_paoli are half a step late.
                self.check_ledger(rows, rows[0]["kinetic"], 2e-2 if scheme == "schatzman_paoli" else 1e-3)

    def test_spheres_that_stick(self):
        """Hertz and Mindlin, a stiffness that grows and falls with the depth; gross sliding takes mu (1 + e) v_n."""
        stiffness = 4.0 / 3.0 * 2.0e7 / (1.0 - 0.25**2) * math.sqrt(0.1)
        law = "friction: 0.4, law: { type: hertz, E: 2.0e+7, nu: 0.25, radius: 0.1 }"
        ratio = 2.0 * (1.0 - 0.25) / (2.0 - 0.25)
        duration = 2.943 * (1.25 * MASS / stiffness) ** 0.4
        for speed, scheme in itertools.product((0.2, 1.0, 6.0), ("newmark", "alpha_ggl", "half_explicit")):
            expected = rebound_of_springs(stiffness, 1.5, 0.4, speed, ratio)
            rows = self.history(sphere(law, scheme, duration / 400, 1.1 * duration, speed))
            self.assertAlmostEqual(rows[-1]["b.vx"] + RADIUS * rows[-1]["b.wz"], expected, delta=2e-4)
            self.check_ledger(rows, rows[0]["kinetic"], 1e-4)
        damped = "friction: 0.2, law: { type: hunt_crossley, stiffness: 1.0e+7, damping: 0.4 }"
        rows = self.history(sphere(damped, "newmark", duration / 800, 2.0 * duration, 9.0))
        self.assertAlmostEqual(9.0 - rows[-1]["b.vx"], 0.2 * (1.0 + rows[-1]["b.vy"]), delta=1e-5)

    def test_tends_to_the_rigid_law(self):
        """A block that comes to rest on a slope: the place is that of the rigid law, up to a way like 1/k_t."""
        angle, mu, speed = 0.2, 0.5, 1.0
        slope = GRAVITY * (mu * math.cos(angle) - math.sin(angle))
        exact, errors = speed**2 / (2.0 * slope), []
        for stiffness in (1.0e4, 1.0e5, 1.0e6):
            damping = 2.0 * math.sqrt(stiffness * MASS)
            law = f"friction: {mu}, law: {{ type: kelvin_voigt, stiffness: {stiffness}, damping: {damping} }}"
            depth = MASS * GRAVITY * math.cos(angle) / stiffness
            text, down, _ = block(law, "alpha_ggl, rho_inf: 0.2", 2.0e-4, 0.8, angle, (speed, 0.0), depth=depth)
            rows = self.history(text)
            errors.append(abs(sum(rows[-1][f"b.{x}"] * d for x, d in zip("xyz", down)) - exact))
            self.check_ledger(rows, rows[0]["kinetic"], 2e-2)
        for error, stiffness in zip(errors, (1.0e4, 1.0e5, 1.0e6)):
            self.assertLess(error, mu * MASS * GRAVITY / stiffness + 2.0e-4 * speed, errors)  # and that of the step

    def test_every_scheme_and_law_goes_through(self):
        """Steps from a few per contact on, stiffness over decades, friction from slight to more than 1."""
        def one(job):
            number, (scheme, law, stiffness, mu, steps, speed) = job
            duration = math.pi * math.sqrt(MASS / stiffness) if law in ("linear", "kelvin_voigt") else 2.943 * (
                1.25 * MASS / (30.0 * stiffness)) ** 0.4
            size = stiffness if law in ("linear", "kelvin_voigt") else 30.0 * stiffness
            damping = {"kelvin_voigt": f", damping: {0.2 * math.sqrt(stiffness)}", "hunt_crossley": ", damping: 0.2"}
            contact = f"friction: {mu}, law: {{ type: {law}, stiffness: {size}{damping.get(law, '')} }}"
            step = duration / (120 if scheme in EXPLICIT else steps)
            result = self.try_case(sphere(contact, scheme, step, 2.0 * duration, speed), f"case{number}")
            return None if result.returncode == 0 else (job, result.stderr)
        jobs = [job for i, job in enumerate(itertools.product(
            IMPLICIT + EXPLICIT, ("linear", "hertz", "hunt_crossley", "kelvin_voigt"), (1.0e4, 1.0e8), (0.05, 1.5),
            (4, 25), (0.0, 5.0))) if i % 32 == 7 * (i // 32) % 32]
        with ThreadPoolExecutor(2) as pool:
            faults = [fault for fault in pool.map(one, enumerate(jobs)) if fault is not None]
        self.assertEqual(faults, [])

    def test_stable_step_knows_the_tangential_stiffness(self):
        """A sphere that sticks turns, too: k_t (1/m + r^2/J)."""
        tangent = 3.0e6
        limit = 2.0 / math.sqrt(tangent * 3.5 / MASS)
        law = f"friction: 0.5, law: {{ type: linear, stiffness: 1.0e+5, tangent_stiffness: {tangent} }}"
        result = self.try_case(sphere(law, "half_explicit", 1.05 * limit, 0.1, 1.0), "stable")
        self.assertIn("above the stable step", result.stderr)


if __name__ == "__main__":
    unittest.main()
