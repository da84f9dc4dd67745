"""Contacts with force laws against closed forms and independent integration. Argument: the program.

Hertz: Johnson, Contact Mechanics, 1985, section 11.4. Hunt-Crossley: the first integral of m x'' = -k x^p (1 + a x').
Kelvin-Voigt that never pulls: Schwager, Poeschel, Granular Matter 9, 2007. A sphere on a long rod: cases/hertz_bar.
"""

import itertools
import json
import math
import unittest
from concurrent.futures import ThreadPoolExecutor

import program

QUIET = "output: { frames: false, contact_frames: false, checkpoint: false }\n"
MASS, SPEED = 2.0, 3.0


def ball(law, scheme, step, end, gap=1.0e-4, unit=1.0):
    """A mass against a rigid wall; `unit` scales lengths."""
    return f"""mesh:
  ball: {{ type: point, at: [{gap * unit!r}, 0, 0] }}
elements:
  ball: {{ type: point_mass, mesh: ball, mass: {MASS}, in: line }}
initial:
  - {{ set: ball, velocity: [{-SPEED * unit!r}, 0, 0] }}
contacts:
  wall: {{ type: node_plane, nodes: ball, point: [0, 0, 0], normal: [1, 0, 0], law: {{ {law} }} }}
scheme: {{ {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
{QUIET}"""


def hertz_depth(stiffness, speed):
    return (1.25 * MASS * speed * speed / stiffness) ** 0.4


def hertz_duration(stiffness, speed):
    half = math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9)  # integral of dx / sqrt(1 - x^2.5)
    return 2.0 * half * hertz_depth(stiffness, speed) / speed


def bisect(function, low, high):
    for _ in range(200):
        middle = 0.5 * (low + high)
        if (function(middle) > 0.0) == (function(high) > 0.0):
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def hunt_crossley_restitution(a):
    """Of a = damping x speed: a (1 + e) = ln((1 + a) / (1 - a e))."""
    return bisect(lambda e: a * (1.0 + e) - math.log((1.0 + a) / (1.0 - a * e)), 1e-9, min(1.0, 1.0 / a) - 1e-9)


def kelvin_voigt_restitution(ratio):
    """Of a damping ratio below 1/sqrt(2)."""
    root = math.sqrt(1.0 - ratio * ratio)
    return math.exp(-ratio / root * (math.pi - math.atan2(2.0 * ratio * root, root * root - ratio * ratio)))


class Laws(program.Cases):
    def check_ledger(self, rows, tolerance):
        """Nothing but the numerical loss is missing, and that is small."""
        first = rows[0]["kinetic"] + rows[0]["strain"]
        for row in rows:
            books = row["kinetic"] + row["strain"] + row["damping_loss"] + row["numerical_loss"]
            self.assertLess(abs(books - first), 1e-12 * first)
            self.assertLess(abs(row["numerical_loss"]), tolerance * first)

    def rebound(self, law, scheme, steps, unit=1.0, duration=None):
        end = 1.0e-4 / SPEED + 1.7 * duration
        rows = self.history(ball(law, scheme, duration / steps, end, unit=unit))
        return math.sqrt(rows[-1]["kinetic"] / rows[0]["kinetic"]), rows

    def test_hertz_against_a_wall(self):
        for stiffness, unit in ((1.0e9, 1.0), (1.0e9, 1000.0), (3.0e4, 1.0)):
            speed = SPEED * unit
            depth, duration = hertz_depth(stiffness, speed), hertz_duration(stiffness, speed)
            e, rows = self.rebound(f"type: hertz, stiffness: {stiffness!r}", "type: newmark", 400, unit, duration)
            self.assertAlmostEqual(e, 1.0, delta=2e-6)
            self.assertAlmostEqual(-min(r["wall.gap"] for r in rows) / depth, 1.0, delta=1e-4)
            peak = max(r["wall.force"] for r in rows[1:])
            self.assertAlmostEqual(peak / (stiffness * depth**1.5), 1.0, delta=1e-4)
            closed = [r["t"] for r in rows if r["wall.gap"] < 0.0]
            self.assertAlmostEqual((closed[-1] - closed[0]) / duration, 1.0, delta=1.2 / 400)
            impulse = sum(r["wall.step_impulse"] for r in rows[1:])
            self.assertAlmostEqual(impulse / (2.0 * MASS * speed), 1.0, delta=1e-5)
            self.check_ledger(rows, 2e-5)

    def test_spheres_have_the_stiffness_of_hertz(self):
        give = (1.0 - 0.3**2) / 2.1e11 + (1.0 - 0.33**2) / 7.0e10
        stiffness = 4.0 / 3.0 / give * math.sqrt(1.0 / (1.0 / 0.02 + 1.0 / 0.05))
        duration = hertz_duration(stiffness, SPEED)
        spheres = "E: 2.1e+11, nu: 0.3, radius: 0.02, other_E: 7.0e+10, other_nu: 0.33, other_radius: 0.05"
        runs = [self.history(ball(f"type: hertz, {law}", "type: newmark", duration / 50, duration))
                for law in (spheres, f"stiffness: {stiffness!r}")]
        for a, b in zip(*runs):
            self.assertAlmostEqual(a["kinetic"], b["kinetic"], delta=1e-12 * runs[0][0]["kinetic"])

    def test_hunt_crossley_restitution(self):
        stiffness = 1.0e8
        duration = hertz_duration(stiffness, SPEED)
        for a in (0.05, 0.3, 1.0, 4.0):
            law = f"type: hunt_crossley, stiffness: {stiffness!r}, damping: {a / SPEED!r}"
            # Strong damping lets go slowly.
            e, rows = self.rebound(law, "type: alpha_ggl, rho_inf: 1.0", 800, duration=duration * (1.0 + 2.0 * a))
            self.assertAlmostEqual(e, hunt_crossley_restitution(a), delta=3e-5 * (1.0 + a) ** 2)
            self.check_ledger(rows, 3e-5 * (1.0 + a) ** 2)
            self.assertTrue(all(r["wall.force"] >= 0.0 for r in rows[1:]))

    def test_kelvin_voigt_never_pulls(self):
        stiffness = 1.0e6
        duration = math.pi * math.sqrt(MASS / stiffness)
        for ratio in (0.02, 0.1, 0.5):
            damping = 2.0 * ratio * math.sqrt(stiffness * MASS)
            law = f"type: kelvin_voigt, stiffness: {stiffness!r}, damping: {damping!r}"
            e, rows = self.rebound(law, "type: event_driven", 50, duration=duration * (1.0 + ratio))
            self.assertAlmostEqual(e, kelvin_voigt_restitution(ratio), delta=1e-6)
            self.check_ledger(rows, 1e-6)
            e, rows = self.rebound(law, "type: half_explicit", 2000, duration=duration * (1.0 + ratio))
            self.assertAlmostEqual(e, kelvin_voigt_restitution(ratio), delta=2e-3)
            self.assertTrue(all(r["wall.force"] >= 0.0 for r in rows[1:]))

    def rebound_error(self, law, scheme, exact, step, end, parts):
        """Of the restitution, in the mean over touches at parts of a step."""
        total = 0.0
        for part in parts:
            rows = self.history(ball(law, scheme, step, end, gap=(2.0 + part) * step * SPEED))
            total += (rows[-1]["momentum_x"] / MASS / SPEED - exact) ** 2 / len(parts)
        return math.sqrt(total)

    # The damper would part the bodies again within the step that brings them together: it waits for the next one.
    def test_touch_at_the_end_of_a_step(self):
        stiffness, ratio = 2.0e6, 0.1
        damping = 2.0 * ratio * math.sqrt(stiffness * MASS)
        law, e = f"type: kelvin_voigt, stiffness: {stiffness!r}, damping: {damping!r}", kelvin_voigt_restitution(ratio)
        for scheme, step in itertools.product(("newmark", "hht", "alpha_ggl, rho_inf: 0.8", "alpha_velocity",
                                               "moreau_jean, theta: 0.5", "jump_newmark, rho_inf: 0.9"),
                                              (2.0e-5, 1.0e-5, 2.0e-6)):
            with self.subTest(scheme=scheme, step=step):
                rows = self.history(ball(law, f"type: {scheme}", step, 5.0e-3, gap=100.0 * 1.0e-6 * SPEED))
                found = math.sqrt(rows[-1]["kinetic"] / rows[0]["kinetic"])
                self.assertLess(abs(found - e), damping * step / MASS)  # what the damper does in a step
                self.assertTrue(any(abs(row["wall.gap"]) < 1e-15 for row in rows[1:]), "no step ends at the touch")

    def test_orders_where_contacts_touch(self):
        """The damper of kelvin_voigt sets in with a jump: order 1. hunt_crossley sets in smoothly: order 2."""
        damping, parts = 0.2 * math.sqrt(1.0e6 * MASS), (0.0, 0.25, 0.5, 0.75)
        voigt = (f"type: kelvin_voigt, stiffness: 1.0e+6, damping: {damping!r}", kelvin_voigt_restitution(0.1),
                 1.1 * math.pi * math.sqrt(MASS / 1.0e6))
        smooth = ("type: hunt_crossley, stiffness: 1.0e+8, damping: 0.1", hunt_crossley_restitution(0.1 * SPEED),
                  1.1 * hertz_duration(1.0e8, SPEED))
        for (law, exact, duration), low, high in ((voigt, 0.8, 1.3), (smooth, 1.8, 2.3)):
            for scheme in ("type: newmark", "type: half_explicit"):
                coarse, fine = (self.rebound_error(law, scheme, exact, duration / n, 1.6 * duration, parts)
                                for n in (40, 160))
                order = 0.5 * math.log2(coarse / fine)
                self.assertTrue(low < order < high, f"{scheme}, {law}: {coarse} {fine}, order {order}")
            # Touches are located to rtol times the length there, also one at the very end of a step.
            located = "type: event_driven, rtol: 1.0e-12"
            error = self.rebound_error(law, located, exact, duration / 40, 1.6 * duration, parts)
            self.assertLess(error, 2e-10, law)

    def rod(self, contact, speed, step, end, n):
        """A steel rod of 2 m flies towards a wall."""
        return f"""mesh:
  rod: {{ type: line, from: [0, 0, 0], to: [2.0, 0, 0], elements: {n} }}
elements:
  rod: {{ type: rod, mesh: rod, E: 2.0e+11, rho: 8000.0, area: 1.0e-4 }}
initial:
  - {{ set: rod, velocity: [{-speed!r}, 0, 0] }}
contacts:
  touch: {{ {contact} }}
scheme: {{ type: newmark }}
time: {{ step: {step!r}, end: {end!r} }}
{QUIET}"""

    def test_stiff_laws_tend_to_the_rigid_one(self):
        """A rod that meets a wall: F = Z v (1 - exp(-k t / Z)), and Z v under the rigid law."""
        impedance, wave, speed, n = 1.0e-4 * math.sqrt(2.0e11 * 8000.0), 5000.0, 2.0, 400
        end, step = 0.98 * 2.0 * 2.0 / wave, 0.5 * 2.0 / n / wave
        distance = []
        for stiffness in (2.0e7, 4.0e7, 8.0e7, 1.6e8):
            contact = ("type: node_plane, nodes: rod.start, point: [0, 0, 0], normal: [1, 0, 0], "
                       f"law: {{ type: linear, stiffness: {stiffness!r} }}")
            rows = self.history(self.rod(contact, speed, step, end, n))[1:]
            exact = [impedance * speed * (1.0 - math.exp(-stiffness * r["t"] / impedance)) for r in rows]
            mean = sum(abs(r["touch.force"] - f) for r, f in zip(rows, exact)) / len(rows)
            self.assertLess(mean, 0.01 * impedance * speed)
            impulse = sum(r["touch.step_impulse"] for r in rows)
            distance.append(1.0 - impulse / (impedance * speed * rows[-1]["t"]))
        for near, far in zip(distance[1:], distance):
            self.assertAlmostEqual(far / near, 2.0, delta=0.05)

    def test_every_scheme_takes_every_law(self):
        """Soft in metres and stiff in millimetres, few and many steps: no run fails, no ledger gapes."""
        schemes = ["alpha_ggl", "moreau_jean, theta: 0.5", "half_explicit", "newmark", "hht", "alpha_velocity",
                   "moreau_midpoint", "schatzman_paoli", "half_explicit_acceleration", "alpha_index3", "event_driven",
                   "jump_newmark, gamma: 0.5", "half_explicit_rk", "splitting", "tdg_minus", "tdg_plus",
                   "ggl_midpoint", "mannshardt"]

        def one(job):
            number, (scheme, kind, (stiffness, unit), steps) = job
            duration = math.pi * math.sqrt(MASS / stiffness)
            hertz = stiffness**1.25 / math.sqrt(unit) / (MASS * SPEED * SPEED) ** 0.25
            law, e = {
                "linear": (f"type: linear, stiffness: {stiffness!r}", 1.0),
                "hertz": (f"type: hertz, stiffness: {hertz!r}", 1.0),
                "hunt": (f"type: hunt_crossley, stiffness: {hertz!r}, damping: {0.3 / SPEED / unit!r}",
                         hunt_crossley_restitution(0.3)),
                "kelvin": (f"type: kelvin_voigt, stiffness: {stiffness!r}, "
                           f"damping: {0.2 * math.sqrt(stiffness * MASS)!r}", kelvin_voigt_restitution(0.1)),
            }[kind]
            text = ball(law, f"type: {scheme}", duration / steps, 1.0e-4 / SPEED + 2.0 * duration, unit=unit)
            result = self.try_case(text, f"sweep{number}")
            if result.returncode != 0:
                return f"{job}: {result.stderr}"
            summary = json.loads((self.folder / f"sweep{number}" / "summary.json").read_text())
            energy = summary["energy"]
            told = math.sqrt(energy["kinetic"] / energy["initial"])
            slack = (0.1 if kind == "kelvin" else 0.04) if steps < 50 else 0.005
            if abs(told - e) > slack or abs(energy["numerical_loss"]) > 3.0 * slack * energy["initial"]:
                return f"{job}: restitution {told}, expected {e}, numerical loss {energy['numerical_loss']}"
            return None

        bodies = (((1.0e4, 1.0), 16), ((1.0e10, 1000.0), 120)), (((1.0e4, 1.0), 120), ((1.0e10, 1000.0), 16))
        pairs = itertools.product(schemes, ("linear", "hertz", "hunt", "kelvin"))
        jobs = [(*pair, *bodies[(i + i // 4) % 2][(i // 4 + i // 8) % 2]) for i, pair in enumerate(pairs)]
        with ThreadPoolExecutor(2) as pool:
            faults = [fault for fault in pool.map(one, enumerate(jobs)) if fault is not None]
        self.assertEqual(faults, [])

    def test_what_is_refused(self):
        wall = "type: node_plane, nodes: ball, point: [0, 0, 0], normal: [1, 0, 0]"
        linear = "law: { type: linear, stiffness: 1.0 }"
        for contact, scheme, expected in (
            (wall, "newmark", "missing key 'restitution'"),
            (f"{wall}, restitution: 0.5, {linear}", "newmark", "'restitution' and 'law' are both given"),
            (f"{wall}, friction: 0.5, {linear}", "newmark", "cannot move across the normal"),
            (f"{wall}, law: {{ type: linear, stiffness: 1, tangent_stiffness: 1 }}", "newmark", "is about friction"),
            (f"{wall}, law: {{ type: hertz, stiffness: 1, tangent_ratio: 1 }}", "newmark", "is about friction"),
            (f"{wall}, friction: 1, law: {{ type: linear, stiffness: 1, tangent_ratio: 1, tangent_stiffness: 1 }}",
             "newmark", "give tangent_stiffness or tangent_ratio"),
            (f"{wall}, tangent_restitution: 0.5, {linear}", "newmark", "it goes with impact laws only"),
            (f"{wall}, law: {{ type: linear }}", "newmark", "missing key 'stiffness'"),
            (f"{wall}, law: {{ type: newton, restitution: 2 }}", "newmark", "must be in [0, 1]"),
            (f"{wall}, law: {{ type: linear, stiffness: 0 }}", "newmark", "must be > 0"),
            (f"{wall}, law: {{ type: herz, stiffness: 1 }}", "newmark", "'hertz'"),
            (f"{wall}, law: {{ type: hertz }}", "newmark", "give stiffness, or E, nu and radius"),
            (f"{wall}, law: {{ type: hertz, E: 1, nu: 0.3 }}", "newmark", "a sphere needs E, nu and radius"),
            (f"{wall}, law: {{ type: hertz, stiffness: 1, radius: 1 }}", "newmark", "give one or the other"),
            (f"{wall}, law: {{ type: hertz, E: 1, nu: 0.3, radius: 1, exponent: 2 }}", "newmark", "exponent 1.5"),
            (f"{wall}, law: {{ type: hertz, E: 1, nu: 0.3, radius: 1, other_E: 2 }}", "newmark", "other_nu"),
            (f"{wall}, law: {{ type: hertz, stiffness: 1, exponent: 0.5 }}", "newmark", "in [1, 10]"),
            (f"{wall}, law: 3", "newmark", "contacts.wall.law"),
            (f"{wall}, {linear}", "wave", "linear models"),
        ):
            text = ball("type: linear, stiffness: 1.0", f"type: {scheme}", 1.0, 1.0)
            begin = text.index("  wall:")
            text = text[:begin] + f"  wall: {{ {contact} }}\n" + text[text.index("scheme:"):]
            result = self.try_case(text, "refused")
            self.assertNotEqual(result.returncode, 0, contact)
            self.assertIn(expected, result.stderr)
            self.assertRegex(result.stderr, r"refused.yaml:\d+:\d+: ")

    def test_stable_step_knows_the_stiffness(self):
        for law, limit in (("type: linear, stiffness: 2.0e+6", 2.0 / math.sqrt(2.0e6 / MASS)),
                           ("type: hertz, stiffness: 1.0e+9",
                            2.0 / math.sqrt(1.5 * 1.0e9 * math.sqrt(hertz_depth(1.0e9, SPEED)) / MASS))):
            text = ball(law, "type: half_explicit", 1.05 * limit, 1.0)
            result = self.try_case(text, "stable")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("above the stable step", result.stderr)
            result = self.try_case(text.replace(repr(1.05 * limit), repr(0.95 * limit)), "stable")
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_stable_step_knows_the_fall(self):
        """Bodies that fall a hundred times their size, or have none, onto a floor across the axes."""
        height, normal = 1.3, (0.36, 0.48, 0.8)
        speed, law = math.sqrt(2.0 * 9.81 * height), "type: hertz, stiffness: 1.0e+9"
        limit = 2.0 / math.sqrt(1.5 * 1.0e9 * math.sqrt(hertz_depth(1.0e9, speed)) / MASS)
        for body in ("type: point_mass", "type: rigid_body_3d, inertia: [2.0e-4, 2.0e-4, 2.0e-4]"):
            text = f"""mesh: {{ ball: {{ type: point, at: {[height * n for n in normal]} }} }}
elements: {{ ball: {{ mesh: ball, mass: {MASS}, {body} }} }}
contacts: {{ floor: {{ type: node_plane, nodes: ball, point: [0, 0, 0], normal: {list(normal)}, law: {{ {law} }} }} }}
loads: {{ weight: {{ type: gravity, g: {[-9.81 * n for n in normal]} }} }}
scheme: {{ type: half_explicit }}
time: {{ step: auto, end: 0.02 }}
{QUIET}"""
            result = self.try_case(text, "stable")
            self.assertEqual(result.returncode, 0, result.stderr)
            step = program.read_json(self.folder / "stable" / "summary.json")["time"]["step"]
            stable = step * 200.0 / math.pi  # auto takes 200 steps in the period 2 pi/w, and 2/w is stable
            self.assertLess(stable, limit, body)
            self.assertGreater(stable, 0.89 * limit, body)


if __name__ == "__main__":
    unittest.main()
