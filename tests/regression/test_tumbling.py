"""Bodies that tumble fast under explicit automatic steps. Argument: the program.

Energy is kept to the swing that steps of a fifth of the stable one have, and motions are those of fine implicit steps.
Springs spin bodies up from rest: steps follow, also those of the resolved case.
"""

import json
import unittest

import program

BODY = "{ type: rigid_body_3d, mesh: %s, mass: %g, inertia: [%g, %g, %g] }"
LIGHT = (0.35, 0.080, 0.057, 0.063)
FLAT = (1.2, 0.09, 0.05, 0.13)


def case(spring, start, bodies=(LIGHT,), end=1.0, scheme="half_explicit", step="auto", fixed=False, load=""):
    two = fixed or len(bodies) == 2
    link = "link, a: a, b: b" if two else "point, nodes: a"
    lines = ["mesh:", "  a: { type: point, at: [0, 0, 0] }"]
    if two:
        lines.append("  b: { type: point, at: [1.3, 0.2, -0.1] }")
    if spring:
        lines.append(f"  s: {{ type: {link} }}")
    lines.append("elements:")
    for name, body in zip("ab", bodies):
        lines.append(f"  {name}: {BODY % (name, *body)}")
    if fixed:
        lines += ["  b: { type: point_mass, mesh: b, mass: 1 }", "supports: { b: { set: b, fix: [x, y, z] } }"]
    if spring:
        lines.insert(lines.index("elements:") + 1, f"  s: {{ mesh: s, {spring} }}")
    if load:
        lines.append(f"loads: {{ push: {{ type: moment, node: a, value: {load} }} }}")
    return "\n".join(lines + [f"initial: [ {start} ]", f"scheme: {{ type: {scheme} }}",
                              f"time: {{ step: {step}, end: {end} }}",
                              "output:", "  frames: false", "  checkpoint: false",
                              "  probes: { a: { node: a, of: [ux, uy, uz] } }", ""])


SPIN = "{ set: a, velocity: [0.3, -0.2, 0.8], spin: [%g, %g, %g] }"
MOUNT = "type: mount, angles: finite, in: space, offset: [0.1, -0.9, 0.2], stiffness: "
CASES = {
    "free": dict(spring="", start=SPIN % (30, -40, 20), bodies=(FLAT,), end=1.0),
    "mount": dict(spring=MOUNT + "[200, 1800, 1700]",
                  start=SPIN % (12, 5, -9)),
    "stiff": dict(spring=MOUNT + "[2.5e+4, 3000, 3.0e+4]", start=SPIN % (3, 1, -2)),
    "bushing": dict(spring="type: bushing, angles: finite, in: space, offset_b: [-0.4, 0.3, 0.1], stiffness: "
                           "[300, 900, 500], torsional_stiffness: [20, 5, 9]",
                    start=SPIN % (25, -10, 8), bodies=(LIGHT, FLAT)),
    "spring": dict(spring="type: spring_damper, stiffness: 14300, rest: 1.2377, offset_a: [0, -0.888, -0.187]",
                   start=SPIN % (-1.2, -3.5, 0.76), fixed=True),
    "preload": dict(spring="type: spring_damper, stiffness: 40, force: 90, rest: 0.4, offset_a: [0.2, -0.5, 0.1], "
                           "offset_b: [-0.1, 0.2, 0.3]", start=SPIN % (0, 0, 0), bodies=(LIGHT, FLAT), end=2.0),
}


def energies(rows):
    return [r["kinetic"] + r["strain"] for r in rows]


class Tumbling(program.Cases):
    def test_energy_is_kept(self):
        for name, values in CASES.items():
            rows = self.history(case(**values))
            total, most = energies(rows), max(r["kinetic"] for r in rows)
            drift = max(abs(e - total[0]) for e in total)
            self.assertLess(drift, 0.01 * most, name)

    def test_motion_is_that_of_fine_implicit_steps(self):
        # A moment spins a body up within what would be one step of its soft mount.
        soft = dict(spring=MOUNT + "[5, 5, 5]", start=SPIN % (0, 0, 0), load="[40, -30, 35]")
        for name, values in dict(CASES, moment=soft).items():
            short = dict(values, end=0.06)
            rows = self.history(case(**short))
            fine = self.history(case(**dict(short, scheme="moreau_jean, theta: 0.5", step=2e-5)))
            way = max(abs(fine[-1][f"a.u{k}"]) for k in "xyz")
            self.assertAlmostEqual(rows[-1]["kinetic"] / fine[-1]["kinetic"], 1.0, delta=0.05, msg=name)
            for k in "xyz":
                self.assertAlmostEqual(rows[-1][f"a.u{k}"], fine[-1][f"a.u{k}"], delta=0.02 * way, msg=name)

    def test_motion_that_grows_by_itself_is_no_result(self):
        """Forces at the velocity of the start let gyroscopic motions grow: refused, or told where it was gained."""
        disc = "type: disc, mass: 1, inertia: [3, 2, 2], speed: 10"
        body = "type: rigid_body_3d, mass: 1, inertia: [1, 2, 3]"
        for scheme, element, step, cause in (("moreau_jean_explicit", body, 0.01, "try a smaller step"),
                                             ("moreau_jean_explicit", disc, 0.01, "the whirl of what spins"),
                                             ("moreau_midpoint", disc, 0.002, "the whirl of what spins"),
                                             ("schatzman_paoli", disc, 0.01, "the whirl of what spins"),
                                             ("half_explicit", disc, 0.01, "is above the stable step 0.00133"),
                                             ("moreau_jean_explicit", body, 2.0e-4, None),
                                             ("half_explicit", disc, 0.001, None)):
            text = f"""mesh: {{ b: {{ type: point, at: [0, 0, 0] }} }}
elements: {{ b: {{ mesh: b, {element} }} }}
initial: [ {{ set: b, spin: [10, 1, 0.5], about: [0, 0, 0] }} ]
scheme: {{ type: {scheme} }}
time: {{ step: {step!r}, end: 20 }}
output: {{ frames: false, checkpoint: false }}
"""
            if cause is None:
                rows = self.history(text)
                self.assertAlmostEqual(rows[-1]["kinetic"] / rows[0]["kinetic"], 1.0, delta=0.1)
                continue
            done = self.try_case(text)
            self.assertEqual(done.returncode, 1 if element == body else 2, scheme)
            self.assertIn("energy gained since the start" if element == body else cause, done.stderr)
            self.assertIn(cause, done.stderr)

    def test_steps_follow_a_spin_that_grows(self):
        rows = self.history(case(**dict(CASES["spring"], step="1.0e-3, follow_turning: true", end=0.3)), "whole")
        summary = json.loads((self.folder / "whole" / "summary.json").read_text())
        self.assertGreater(summary["steps"]["finest_cut"], 2)
        resolved = (self.folder / "whole" / "case.resolved.yaml").read_text()
        self.assertIn("follow_turning: true", resolved)
        self.assertEqual(self.history(resolved, "again"), rows)

    def test_what_steps_cannot_follow_is_told(self):
        for scheme, more, words in (("moreau_jean, theta: 0.5", "", "follow_turning is for explicit schemes"),
                                    ("half_explicit", ", control: { type: adaptive, tolerance: 1.0e-4 }",
                                     "does not go with step control")):
            text = case(**dict(CASES["free"], scheme=scheme, step=f"1.0e-4, follow_turning: true{more}"))
            done = self.try_case(text)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
