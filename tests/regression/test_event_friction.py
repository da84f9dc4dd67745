"""Friction of event_driven and mannshardt against exact motions. Argument: the program."""

import itertools
import math
import unittest
from concurrent.futures import ThreadPoolExecutor

import program

QUIET = "frames: false, contact_frames: false, checkpoint: false, summary: false"


def system(parameters, step, end, scheme="type: event_driven"):
    return f"""system: {{ {parameters} }}
scheme: {{ {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
output: {{ {QUIET} }}
"""


def body(offsets, mu, start, scheme="type: event_driven", step=1.0e-3, end=0.05, e=0.0, unit=1.0):
    """A plane rigid body of mass 1 with points that touch the floor; start: height, velocity and spin, inertia."""
    height, velocity, spin, inertia = start
    points = [[unit * x, unit * y, 0.0] for x, y in offsets]
    return f"""mesh: {{ b: {{ type: point, at: [0, {unit * height!r}, 0] }} }}
elements: {{ b: {{ type: rigid_body_2d, mesh: b, mass: 1, inertia: {unit**2 * inertia!r} }} }}
initial: [ {{ set: b, velocity: {[unit * v for v in velocity]}, spin: [0, 0, {spin!r}] }} ]
loads: {{ weight: {{ type: gravity, g: [0, {-9.81 * unit!r}, 0] }} }}
contacts:
  floor: {{ type: node_plane, nodes: b, offsets: {points}, point: [0, 0, 0], normal: [0, 1, 0], friction: {mu!r},
           restitution: {e!r} }}
scheme: {{ {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
output: {{ {QUIET}, probes: {{ b: {{ node: b, of: [x, y, rz, vx, vy, wz] }} }} }}
"""


def disc_on_point(r, mu, mass, inertia, push, scheme, step, end, unit):
    """A disc on the floor by a point at r below it, pushed by forces that grow by `push` in a second."""
    inertia = [unit**2 * j for j in (*inertia, 1.0)]
    return f"""mesh: {{ b: {{ type: point, at: [0, 0, {unit * r!r}] }} }}
elements: {{ b: {{ type: disc, mesh: b, mass: {mass!r}, inertia: {inertia} }} }}
loads:
  weight: {{ type: gravity, g: [0, 0, {-10.0 * unit!r}] }}
  push: {{ type: force, node: b, value: {[unit * f for f in push] + [0]}, amplitude: {{ table: [[0, 0], [99, 99]] }} }}
contacts:
  floor: {{ type: node_plane, nodes: b, offsets: [[0, 0, {-unit * r!r}]], point: [0, 0, 0], normal: [0, 0, 1],
           friction: {mu!r}, restitution: 0 }}
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: {end!r} }}
output: {{ {QUIET}, probes: {{ b: {{ node: b, of: [x, y, vx, vy] }} }} }}
"""


def slide_on_slope(mu, angle, speed, t):
    """Exact way and speed downhill."""
    drive, brake = 9.81 * math.sin(angle), 9.81 * mu * math.cos(angle)
    if speed != 0.0:
        a = drive - math.copysign(brake, speed)
        stop = -speed / a if a != 0.0 else math.inf
        if not 0.0 <= stop <= t:
            return speed * t + 0.5 * a * t * t, speed + a * t
        way, rest = slide_on_slope(mu, angle, 0.0, t - stop)
        return 0.5 * speed * stop + way, rest
    a = max(0.0, drive - brake)
    return 0.5 * a * t * t, a * t


def stick_and_slip(t, mu=0.3, amplitude=5.0, g=10.0):
    """Exact x of cases/stick_slip: m = 1, push A sin(2 pi t), by bisection of the times where it stops and goes on."""
    w = 2.0 * math.pi
    x, now = 0.0, 0.0
    while True:
        sign, begin = 0.0, None
        for i in range(200001):  # where the push exceeds mu g next
            s = now + i * 1.0e-5
            if abs(amplitude * math.sin(w * s)) > mu * g:
                begin, sign = s, math.copysign(1.0, math.sin(w * s))
                break
        if begin > now:
            low, high = begin - 1.0e-5, begin
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if abs(amplitude * math.sin(w * middle)) > mu * g else (middle, high)
            begin = high
        if begin >= t:
            return x

        def speed(s):
            return amplitude / w * (math.cos(w * begin) - math.cos(w * s)) - sign * mu * g * (s - begin)

        def way(s):
            swing = amplitude / w * (math.cos(w * begin) * (s - begin) - (math.sin(w * s) - math.sin(w * begin)) / w)
            return swing - 0.5 * sign * mu * g * (s - begin) ** 2
        stop = begin + 1.0e-3
        while sign * speed(stop) > 0.0:
            stop += 1.0e-3
        low, high = stop - 1.0e-3, stop
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if sign * speed(middle) > 0.0 else (low, middle)
        if high >= t:
            return x + way(t)
        x, now = x + way(high), high


class Friction(program.Cases):
    def check_incline(self, scheme, *cases):
        """Sliding, stopping and starting on a slope, with what friction takes; gives the last rows."""
        ends = []
        for mu, degrees, speed, step in cases:
            rows = self.history(system(f"type: incline, friction: {mu}, slope_degrees: {degrees}, velocity: {speed}",
                                       step, 1.0, f"type: {scheme}"))
            for row in rows:
                way, rate = slide_on_slope(mu, math.radians(degrees), speed, row["t"])
                self.assertAlmostEqual(row["s"], way, delta=1e-9)
                self.assertAlmostEqual(row["v_s"], rate, delta=1e-9)
            lost = 0.5 * speed**2 - 0.5 * rate**2 + 9.81 * math.sin(math.radians(degrees)) * way
            self.assertAlmostEqual(rows[-1]["friction_loss"], lost, delta=1e-9)
            self.assertEqual(rows[-1]["slope.state"], 2.0 if rate != 0.0 else 1.0)
            ends.append(rows[-1])
        return ends

    def test_incline(self):
        ends = self.check_incline("event_driven", (0.5, 20.0, 2.0, 0.05), (0.2, 20.0, 2.0, 0.01),
                                  (0.9, 30.0, -1.0, 0.05), (0.3, 30.0, -2.0, 0.1), (0.5, 20.0, 0.0, 0.05),
                                  (0.3, 20.0, 0.0, 0.05))
        for row in ends:
            self.assertAlmostEqual(row["numerical_loss"], 0.0, delta=1e-10)

    def test_stick_slip(self):
        rows = self.history(system("type: stick_slip", 0.02, 2.0))
        for row in rows[::10]:
            self.assertAlmostEqual(row["x"], stick_and_slip(row["t"]), delta=1e-10)
        states = [row["floor.state"] for row in rows]
        self.assertIn(1.0, states[50:])
        self.assertIn(2.0, states[50:])

    def test_tolerance_is_kept_whatever_the_step(self):
        """The slider-crank with clearance: results at two steps agree as closely as is asked."""
        crank = "type: slider_crank, clearance: 1.0e-3, restitution: 0.4, friction: 0.01"
        for rtol, close in ((1.0e-10, 1e-7), (1.0e-7, 1e-4)):
            ends = [self.history(system(crank, step, 0.03, f"type: event_driven, accumulation: rest, rtol: {rtol}"))[-1]
                    for step in (1.0e-4, 1.0e-3)]
            for name in ("theta1", "theta2"):
                self.assertAlmostEqual(ends[0][name], ends[1][name], delta=close)
            self.assertAlmostEqual(ends[0]["numerical_loss"], 0.0, delta=1e-2 * close)
        fine = self.history(system(crank, 1.0e-6, 0.03, "type: half_explicit"))[-1]
        self.assertAlmostEqual(ends[0]["theta1"], fine["theta1"], delta=1e-4)

    def test_oblique_impact(self):
        """A ball: sliding takes mu (1 + e) v_n, and 5/2 of it turns it; sticking leaves no slip."""
        for mu, e in itertools.product((0.1, 2.0), (0.0, 0.5)):
            rows = self.history(body([(0.0, -0.1)], mu, (0.11, (2.0, -1.0, 0.0), 0.0, 0.004), e=e, end=0.02))
            before, after = rows[0], next(row for row in rows if row["floor.impulse"] > 0.0)
            slip = after["b.vx"] + 0.1 * after["b.wz"]
            fall = math.sqrt(1.0 + 2.0 * 9.81 * 0.01)
            if mu == 2.0:
                self.assertAlmostEqual(slip, 0.0, delta=1e-9)
            elif e == 0.5:
                self.assertAlmostEqual(before["b.vx"] - after["b.vx"], mu * (1.0 + e) * fall, delta=1e-9)

    def test_slip_begins_across_unlike_mobilities(self):
        """A disc on a point: forces along x tilt it easily, along y hardly. Pushed ever more at an angle, it begins to
        slip where m^-1 W^-1 F leaves the cone, and then slips along neither the push nor that force."""
        r, mu, mass, rate = 0.1, 0.3, 2.0, 50.0
        for angle, jy, unit in itertools.product((0.3, 1.2), (0.01, 0.5), (1.0, 1.0e-3)):
            push = [rate * math.cos(angle), rate * math.sin(angle)]
            stuck = [push[0] / (1.0 + mass * r * r / jy), push[1] / (1.0 + mass * r * r / 1.0)]
            begin = mu * mass * 10.0 / math.hypot(*stuck)

            def ends(scheme, step, end):
                return self.history(disc_on_point(r, mu, mass, (1.0, jy), push, scheme, step, end, unit))[-1]
            self.assertEqual(ends("event_driven", 0.01, 0.9999 * begin)["floor.state"], 1.0)
            last, near = (ends(scheme, step, 1.5 * begin)
                          for scheme, step in (("event_driven", 0.01), ("half_explicit", 1.0e-3)))
            self.assertEqual(last["floor.state"], 2.0)
            size = 0.5 * rate * begin**2 / mass
            for name in ("b.vx", "b.vy"):
                self.assertAlmostEqual(last[name] / unit / size, near[name] / unit / size, delta=5e-4)
            self.assertAlmostEqual(last["numerical_loss"] / unit**2 / (0.5 * mass * size**2), 0.0, delta=1e-7)

    def test_block_that_is_pulled_about(self):
        """Slip begins under a pull that turns: results follow the tolerance whatever the step."""
        text = """mesh: { b: { type: point, at: [0, 0, 0] } }
elements: { b: { type: point_mass, mesh: b, mass: 2, in: space } }
loads:
  weight: { type: gravity, g: [0, 0, -10] }
  pull: { type: force, node: b, value: [20, 20, 0], amplitude: { table: [[0, 0], [99, 99]] } }
  more: { type: force, node: b, value: [3, 5, 0], amplitude: { sine: { frequency: 1 } } }
contacts: { floor: { type: node_plane, nodes: b, point: [0, 0, 0], normal: [0, 0, 1], friction: 0.3, restitution: 0 } }
scheme: { type: %s }
time: { step: %r, end: 1 }
output: { %s, probes: { b: { node: b, of: [vx, vy] } } }
"""
        first, second, near = (self.history(text % (scheme, step, QUIET))[-1] for scheme, step in (
            ("event_driven", 0.01), ("event_driven, rtol: 1.0e-12", 0.003), ("half_explicit", 1.0e-4)))
        for name in ("b.vx", "b.vy"):
            self.assertAlmostEqual(first[name], second[name], delta=1e-10)
            self.assertAlmostEqual(first[name], near[name], delta=2e-5)
        self.assertAlmostEqual(first["numerical_loss"], 0.0, delta=1e-10)

    def test_rod_of_painleve(self):
        """tan a = 2: forces are unique up to mu = 4/3. Below, half_explicit comes to the same; beyond, the run ends."""
        angle = math.atan(2.0)
        rod, start = [(-math.cos(angle), -math.sin(angle))], (math.sin(angle), (-3.0, 0.0, 0.0), 0.0, 1.0 / 3.0)
        for mu, unit in ((0.5, 1.0), (1.2, 1.0), (1.3, 1.0), (1.3, 1.0e3)):
            exact = self.history(body(rod, mu, start, unit=unit))[-1]
            near = self.history(body(rod, mu, start, "type: half_explicit", 1.0e-4, unit=unit))[-1]
            self.assertAlmostEqual(exact["b.x"] / unit, near["b.x"] / unit, delta=1e-5)
            self.assertAlmostEqual(exact["b.rz"], near["b.rz"], delta=1e-5)
        for mu in (1.34, 2.0):
            result = self.try_case(body(rod, mu, start))
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("Painleve", result.stderr)

    def test_mannshardt_keeps_its_order(self):
        """Errors at halved steps: of exact stick and slip, and of a clearance with impacts and friction."""
        for method, order in (("herk2", 2), ("kutta3", 3), ("rk4", 4), ("fehlberg5", 5)):
            worst, losses = [], []
            for n in (50, 100):
                rows = self.history(system("type: stick_slip", 1.0 / n, 2.0, f"type: mannshardt, method: {method}"))
                worst.append(max(abs(row["x"] - stick_and_slip(row["t"])) for row in rows[::n // 5]))
                losses.append(abs(rows[-1]["numerical_loss"]))
            self.assertGreater(math.log2(worst[0] / worst[1]), order - 0.2, method)
            self.assertGreater(math.log2(losses[0] / losses[1]), order - 0.2, method)
        crank = "type: slider_crank, clearance: 1.0e-3, restitution: 0.4, friction: 0.01"
        exact = self.history(system(crank, 1.0e-3, 0.03, "type: event_driven, accumulation: rest, rtol: 1.0e-11"))[-1]
        off = [abs(self.history(system(crank, step, 0.03, "type: mannshardt"))[-1]["theta1"] - exact["theta1"])
               for step in (1.0e-4, 5.0e-5)]
        self.assertGreater(math.log2(off[0] / off[1]), 3.8)

    def test_mannshardt_slides_and_stops(self):
        self.check_incline("mannshardt", (0.5, 20.0, 2.0, 0.05), (0.9, 30.0, -1.0, 0.4), (0.3, 30.0, -2.0, 0.1),
                           (0.5, 20.0, 0.0, 0.05), (0.3, 20.0, 0.0, 0.05))

    def test_mannshardt_ends_at_the_paradox(self):
        angle = math.atan(2.0)
        rod, start = [(-math.cos(angle), -math.sin(angle))], (math.sin(angle), (-3.0, 0.0, 0.0), 0.0, 1.0 / 3.0)
        for mu, unit in ((1.2, 1.0), (1.3, 1.0e3)):
            exact, near = (self.history(body(rod, mu, start, f"type: {scheme}", unit=unit))[-1]
                           for scheme in ("event_driven", "mannshardt"))
            self.assertAlmostEqual(exact["b.x"] / unit, near["b.x"] / unit, delta=1e-8)
            self.assertAlmostEqual(exact["b.rz"], near["b.rz"], delta=1e-8)
        result = self.try_case(body(rod, 1.34, start, "type: mannshardt"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("Painleve", result.stderr)

    def test_mannshardt_slides_into_the_paradox(self):
        """With mu = 1.4 the rod has it between slopes of 1.457 and 2.743; from 1.4 it turns there as it slides."""
        angle, spin = math.atan(1.4), 2.0
        rod = [(-math.cos(angle), -math.sin(angle))]
        start = (math.sin(angle), (-30.0, spin * math.cos(angle), 0.0), spin, 1.0 / 3.0)
        for unit in (1.0, 1.0e3):
            result = self.try_case(body(rod, 1.4, start, "type: mannshardt", end=0.3, unit=unit))
            self.assertIn("Painleve", result.stderr)
            last = program.read_table(self.folder / "case" / "history.csv")[-1]
            slope = math.tan(angle + last["b.rz"])
            self.assertTrue(1.41 < slope < 1.457, slope)

    def test_boxes_go_through(self):
        """They fall on their corners, slide, stick and come to rest: no run ends early, none gains energy."""
        corners = [(0.1, 0.1), (-0.1, 0.1), (0.1, -0.1), (-0.1, -0.1)]

        def one(job):
            number, (mu, speed, spin, e, rtol, step, unit) = job
            scheme = f"type: event_driven, accumulation: rest, rtol: {rtol}"
            if rtol is None:
                scheme, step, rtol = "type: mannshardt", 0.1 * step, 1.0e-9
            start = (0.25, (speed, -0.5, 0.0), spin, 0.0133)
            text = body(corners, mu, start, scheme, step, 1.0, e, unit)
            result = self.try_case(text, f"case{number}")
            if result.returncode != 0:
                return job, result.stderr
            last = program.read_rows(self.folder / f"case{number}" / "history.csv")[-1]
            size = unit**2 * (0.5 * speed**2 + 9.81 * 0.25)
            return None if abs(float(last["numerical_loss"])) < 1e3 * rtol * size else (job, last["numerical_loss"])
        jobs = [job for i, job in enumerate(itertools.product(
            (0.05, 0.3, 1.0), (0.0, 3.0), (-4.0, 1.0), (0.0, 0.4), (1.0e-7, 1.0e-11, None), (1.0e-3, 0.1),
            (1.0, 1.0e3)))
                if i % 5 == 0]
        with ThreadPoolExecutor(2) as pool:
            faults = [fault for fault in pool.map(one, enumerate(jobs)) if fault is not None]
        self.assertEqual(faults, [])


if __name__ == "__main__":
    unittest.main()
