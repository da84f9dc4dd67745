"""What a run with exact waves tells of bars that meet: their centres, when extremes are reached, how they part.
Argument: the program.

A bar of impedance 5/2 in two parts, 20 steps long, strikes one of impedance 1, 30 steps long. By characteristics the
force is 10 v/14 for 40 steps and 3/7 of that for 20 more, when the wave is back in the second one.
"""

import unittest

import program

STEP, SPEED, PEAK = 1.0e-6, 10.0, 50.0 / 7.0
MASSES = 2.5 * 20 * STEP, 30 * STEP
IMPULSE = (40 + 20 * 3 / 7) * PEAK * STEP

CASE = f"""mesh:
  tail: {{ type: line, from: [-0.08, 0, 0], to: [-0.03, 0, 0], elements: 10 }}
  head: {{ type: line, from: [-0.03, 0, 0], to: [0, 0, 0], elements: 10 }}
  other: {{ type: line, from: [1.0e-5, 0, 0], to: [0.12001, 0, 0], elements: 30 }}
merge: {{ joint: {{ sets: [tail.end, head.start] }} }}
sets: {{ striker: {{ cells: [tail, head] }} }}
elements:
  tail: {{ type: rod, mesh: tail, E: 25.0e6, rho: 1.0, area: 5.0e-4 }}
  head: {{ type: rod, mesh: head, E: 9.0e6, rho: 1.0, area: {2.5 / 3000!r} }}
  other: {{ type: rod, mesh: other, E: 16.0e6, rho: 1.0, area: 2.5e-4 }}
initial:
  - {{ set: tail, velocity: [{SPEED}, 0, 0] }}
  - {{ set: head, velocity: [{SPEED}, 0, 0] }}
contacts:
  hit: {{ type: node_node, a: head.end, b: other.start, normal: [1, 0, 0], restitution: 0.0 }}
scheme: {{ type: wave }}
time: {{ step: auto, end: 1.0e-4 }}
output:
  frames: false
  probes:
    a: {{ body: striker, of: [vx] }}
    b: {{ body: other, of: [vx] }}
    gauge: {{ element: other, item: 15, of: [axial_force] }}
"""


class Rebound(program.Cases):
    def test_velocities_of_centres_are_those_of_the_momentum(self):
        given = 0.0
        for row in self.history(CASE):
            given += row["hit.step_impulse"] if row["step"] > 0 else 0.0
            self.assertAlmostEqual(row["a.vx"], SPEED - given / MASSES[0], delta=1e-11)
            self.assertAlmostEqual(row["b.vx"], given / MASSES[1], delta=1e-11)
            self.assertAlmostEqual(MASSES[0] * row["a.vx"] + MASSES[1] * row["b.vx"], row["momentum_x"], delta=1e-16)
        self.assertAlmostEqual(given / IMPULSE, 1.0, delta=1e-12)

    def test_extremes_have_the_time_at_which_they_are_reached(self):
        rows = self.history(CASE)
        probes = {p["name"]: p for p in program.read_json(self.folder / "case" / "summary.json")["probes"]}
        gauge = [row["gauge.axial_force"] for row in rows]
        self.assertEqual(probes["gauge.axial_force"]["min"], min(gauge))
        self.assertAlmostEqual(probes["gauge.axial_force"]["min"] / PEAK, -1.0, delta=1e-11)
        # The gap is closed in the step from 1 us on, and 16 cells later the front has passed the gauge.
        self.assertAlmostEqual(probes["gauge.axial_force"]["min_time"] / STEP, 17.0, delta=1e-6)
        self.assertAlmostEqual(probes["b.vx"]["max_time"] / STEP, 61.0, delta=1e-6)
        self.assertEqual(probes["a.vx"]["max_time"], 0.0)

    def test_restitution_of_two_bodies_is_exact_and_that_of_the_model_is_refused(self):
        if not program.has_tools():
            self.skipTest("Python cannot load this library")
        case, out = self.write("bars.yaml", CASE), self.folder / "study"
        done = self.percuss("study", case, "-o", out, "--vary", "time.end=1.0e-4", "--measure",
                            "e=restitution(hit, a.vx - b.vx)")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = (IMPULSE / MASSES[1] + IMPULSE / MASSES[0]) / SPEED - 1.0
        self.assertAlmostEqual(float(program.read_rows(out / "study.csv")[0]["e"]), expected, delta=1e-12)
        refused = self.percuss("study", case, "-o", out, "--set", "scheme.type=alpha_ggl", "--set",
                               f"time.step={STEP / 2}", "--vary", "time.end=1.0e-4", "--measure", "e=restitution(hit)")
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("'hit' leaves the momentum of the model as it is", refused.stderr)

    def test_bars_without_clean_waves_are_refused(self):
        # With their masses the largest force would be 1.4 times the exact one and more, whatever the step.
        for element in ("rod_2d", "rod_3d", "rod_love, nu: 0.3"):
            text = CASE.replace("type: rod,", f"type: {element},")
            for step in ("auto", STEP):
                refused = self.try_case(text.replace("step: auto", f"step: {step}"))
                self.assertEqual(refused.returncode, 2)
                self.assertIn("elements.tail: scheme 'wave' has no clean waves in 'rod_", refused.stderr)
            allowed = text.replace("type: wave", "type: wave, allow_mismatch: true").replace("auto", str(STEP))
            self.assertGreater(max(row["hit.force"] for row in self.history(allowed)[1:]), 1.4 * PEAK)

    def test_another_run_goes_on_within_the_contact(self):
        # The same model takes all of the state over; with another load, of nothing, the scheme makes its own start.
        whole = self.history(CASE)
        self.history(CASE.replace("end: 1.0e-4", "end: 3.0e-5"), "first")
        begin, end = CASE.index("initial:"), CASE.index("contacts:")
        later = CASE[:begin] + f"start: {{ from: {self.folder / 'first'} }}\n" + CASE[end:]
        for load in ("", "loads: { push: { type: force, node: tail.start, value: [1.0e-20, 0, 0] } }\n"):
            rows = self.history(later + load, "later")
            self.assertEqual(len(rows), 71)
            for row, other in zip(rows, whole[30:]):
                for name, size in (("kinetic", 2.5e-3), ("strain", 2.5e-3), ("momentum_x", 5e-4), ("b.vx", SPEED)):
                    self.assertAlmostEqual(row[name] / size, other[name] / size, delta=1e-11, msg=name)
                if row["step"] > 0:
                    self.assertAlmostEqual(row["hit.force"], other["hit.force"], delta=1e-10)

    def test_schemes_of_equal_steps_have_no_shorter_last_one(self):
        # Just after a front has come in: in a step of a thousandth of the others forces would be many times as large.
        for scheme, step, most in (("wave", "auto", 1.0), ("schatzman_paoli", STEP / 2, 1.5)):
            text = CASE.replace("type: wave", f"type: {scheme}").replace("auto", str(step))
            rows = self.history(text.replace("end: 1.0e-4", "end: 3.0001e-5"), scheme)
            whole = STEP if step == "auto" else step
            self.assertAlmostEqual(rows[-1]["t"], 3.0e-5 + whole, delta=1e-15)
            self.assertLess(max(row["hit.force"] for row in rows[1:]), most * PEAK * (1 + 1e-9))
            self.assertAlmostEqual(rows[-1]["hit.force"] / PEAK, 1.0, delta=0.2)
            end = program.read_json(self.folder / scheme / "summary.json")["time"]["end"]
            self.assertEqual(end, rows[-1]["t"])

    def test_a_contact_without_force_stays_closed_until_it_parts(self):
        # A short bar strikes one of its kind, three times as thick further on, and stays there at rest, without force,
        # until half of the wave comes back. The impact falls between two steps: found anew, the contact would be late.
        text = """mesh:
  a: { type: line, from: [-1.0, 0, 0], to: [0, 0, 0], elements: 10 }
  b: { type: line, from: [GAP, 0, 0], to: [END, 0, 0], elements: 40 }
  c: { type: line, from: [END, 0, 0], to: [FAR, 0, 0], elements: 160 }
merge: { step: { sets: [b.end, c.start] } }
elements:
  c: { type: rod, mesh: c, E: 1.0, rho: 1.0, area: 3.0 }
  a: { type: rod, mesh: a, E: 1.0, rho: 1.0, area: 1.0 }
  b: { type: rod, mesh: b, E: 1.0, rho: 1.0, area: 1.0 }
BEGIN
contacts: { hit: { type: node_node, a: a.end, b: b.start, normal: [1, 0, 0], restitution: 0.0 } }
scheme: { type: wave }
time: { step: auto, end: LAST }
output: { frames: false }
"""
        for speed in (0.01, 0.013, 0.017):
            gap = 0.14 * speed  # 1.4 steps of 0.1 s
            case = text.replace("GAP", repr(gap)).replace("END", repr(4.0 + gap)).replace("FAR", repr(20.0 + gap))
            flight = f"initial: [{{ set: a, velocity: [{speed}, 0, 0] }}]"
            rows = self.history(case.replace("BEGIN", flight).replace("LAST", "12.0"))
            for k, row in enumerate(rows[1:]):
                force = 0.5 * (1 <= k < 21) + 0.25 * (81 <= k < 101)
                self.assertAlmostEqual(row["hit.force"] / speed, force, delta=1e-10, msg=k)
            self.history(case.replace("BEGIN", flight).replace("LAST", "5.0"), "first")
            start = f"start: {{ from: {self.folder / 'first'} }}"
            later = self.history(case.replace("BEGIN", start).replace("LAST", "12.0"), "later")
            for row, other in zip(later[1:], rows[51:]):
                self.assertAlmostEqual(row["hit.force"], other["hit.force"], delta=1e-12)

    def test_parts_that_share_a_node_must_agree_on_its_velocity(self):
        refused = self.try_case(CASE.replace(f"head, velocity: [{SPEED}", "head, velocity: [9.0"), command="run")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the initial velocity of node 10 is given twice, as 10 and 9", refused.stderr)


if __name__ == "__main__":
    unittest.main()
