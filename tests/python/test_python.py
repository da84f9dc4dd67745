"""The Python package against the C library: the same bits, arrays without copies, errors, interrupts, systems.
Argument: the path of the program, beside which the library lies."""

import contextlib
import doctest
import gc
import io
import math
import os
import re
import runpy
import signal
import threading
import time
import unittest
import weakref

import studies  # noqa: F401 - before percuss: it says where that is
import program  # noqa: I100
from program import read_file, write_file  # noqa: I100 - studies says where it is
import numpy as np  # noqa: I100

import percuss

BAR = "cases/bar_impact"
SMALL = {"mesh.bar.elements": 20, "time.end": 0.6}


class Ball(percuss.System):
    """m x'' = -m g over a floor at x = r."""

    name = "ball_py"
    parameters = {"mass": percuss.Parameter(1.0, "kg", 0.0), "height": 1.5, "speed": 0.0}
    coordinates = ["x"]
    rows = [percuss.Row("floor", restitution=0.8)]
    is_linear = True

    def start(self, p):
        return [p.height], [p.speed]

    def length(self, p):
        return 1.0

    def mass(self, p, q):
        return [[p.mass]]

    def force(self, p, t, q, v):
        return [-9.81 * p.mass]

    def gaps(self, p, q):
        return [q[0]]

    def directions(self, p, q):
        return [[1.0]]

    def energy(self, p, q, v):
        return 0.5 * p.mass * v[0]**2, 9.81 * p.mass * q[0]


BALL = "system: { type: ball_py }\nscheme: { type: moreau_jean, theta: 0.5 }\ntime: { step: 1.0e-3, end: 1.0 }\n"


class SameBits(program.Cases):
    def check(self, case, **values):
        """Runs a case by the program and in Python and returns the results of both."""
        words = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
        self.percuss("run", case, "-q", "-o", self.path("out"), "--overwrite", *words, status=0)
        there, here = percuss.open(self.path("out")), percuss.run(case, values, frames=100)
        self.assertEqual(list(there.history), list(here.history))
        for name in there.history:
            np.testing.assert_array_equal(there.history[name], here.history[name])
        # What the simulation says at its end stands in the last row.
        sim, row = here.simulation, here.history.iloc[-1]
        self.assertEqual((sim.time, sim.steps), (row["t"], row["step"]))
        for name, contact in sim.contacts.items():
            self.assertEqual(contact.count, len(contact.gaps))
            for part, column in (("gap", "gap"), ("force", "force"), ("impulse", "impulse"),
                                 ("step_impulse", "step_impulse")) if not contact.is_joint else (("gap", "gap"),):
                if f"{name}.{column}" in row:
                    self.assertEqual(getattr(contact, part), row[f"{name}.{column}"], (case, name, part))
        for part in ("kinetic", "strain", "potential", "impact_loss", "friction_loss", "numerical_loss"):
            self.assertEqual(getattr(sim.energy, part), row[part])
        for name, value in sim.probes.items():
            self.assertEqual(value, row[name], (case, name))
        return there, here

    def test_cases(self):
        for case, end in (("cases/beam_pendulum", 0.02), ("cases/slider_crank", 0.02), ("cases/beams_crossed", 0.02)):
            self.check(case, **{"time.end": end})

    def test_history_is_that_of_the_program(self):
        opened, results = self.check(BAR, **{"time.end": 0.6})
        self.assertEqual(opened.displacements.shape[1:], (201, 3))
        self.assertFalse(os.path.exists(results.folder))
        self.assertEqual((results.name, len(results.frames)), ("bar_impact", 4))  # though the folder is gone
        self.assertEqual(results.displacements.shape, (4, 201, 3))
        self.assertEqual(results.times[-1], 0.6)
        self.assertIn("stress", results.frames[0].fields)
        self.assertGreater(results.history["wall.force"].iloc[-1], 100.0)
        self.assertTrue(results.summary)
        np.testing.assert_array_equal(results.displacements[-1][:, 0], results.simulation.q)


class Reading(unittest.TestCase):
    def test_arrays_are_not_copied(self):
        sim = percuss.load(BAR, set=SMALL)
        q, v, gaps = sim.q, sim.v, sim.contacts["wall"].gaps
        self.assertIs(q, sim.q)
        before = q.copy()
        sim.step()
        self.assertFalse(np.array_equal(q, before))
        self.assertEqual(gaps[0], sim.contacts["wall"].gap)
        self.assertEqual(sim.contacts["wall"].gap, 5.005 + q[0])
        for array in (q, v, gaps, sim.nodes, sim.cells):
            self.assertFalse(array.flags.owndata)
            with self.assertRaises(ValueError):
                array[0] = 1.0

    def test_arrays_outlive_the_simulation(self):
        sim = percuss.load(BAR, set=SMALL)
        sim.step()
        q, copy, handle = sim.q, sim.q.copy(), weakref.ref(sim._handle)
        sim.close()
        del sim
        gc.collect()
        self.assertIsNotNone(handle())
        np.testing.assert_array_equal(q, copy)
        del q
        gc.collect()
        self.assertIsNone(handle())

    def test_objects_end_by_themselves(self):
        sim = percuss.load(BAR, set=SMALL)
        handle = weakref.ref(sim._handle)
        state, contacts, probes = sim.keep(), sim.contacts, sim.probes
        self.assertEqual(probes["tip.x"], 15.005)
        del sim, contacts, probes, state
        gc.collect()
        self.assertIsNone(handle())

    def test_matrices(self):
        sim = percuss.load(BAR, set=SMALL)
        M, K, G, C = sim.M, sim.K, sim.G, sim.C
        self.assertEqual((M.shape, K.shape, G.shape, C.shape), ((21, 21), (21, 21), (1, 21), (21, 21)))
        self.assertAlmostEqual(M.toarray().sum(), 10.0, 12)  # rho A L
        self.assertAlmostEqual(K.toarray()[0, 0], 900.0 / 0.5, 9)
        self.assertEqual(G.toarray()[0, 0], 1.0)
        self.assertEqual(abs(C.toarray()).sum(), 0.0)
        for _ in range(280):
            sim.step()
        np.testing.assert_allclose(M.toarray() @ sim.a, sim.force + sim.contact_force, atol=1e-9)
        np.testing.assert_allclose(K.toarray() @ sim.q, sim.internal_force, atol=1e-9)
        np.testing.assert_allclose(G.toarray() @ sim.v, sim.contacts["wall"].gap_rates, atol=1e-12)

    def test_model(self):
        sim = percuss.load("cases/cantilever_stop")
        self.assertIn("beam", " ".join(sim.node_sets))
        self.assertEqual(sim.nodes.shape[1], 3)
        self.assertEqual(sim.equation(0, "x"), -1)
        dofs = sim.node_dofs(1)
        self.assertTrue(any(dof.is_rotation for dof in dofs))
        self.assertTrue(all(check.worst_ratio <= 1.0 or check.is_reported_only for check in sim.certificate))
        self.assertEqual(len(percuss.load("cases/ball").coordinates), 1)
        self.assertGreater(sim.effort["memory"], 0)
        self.assertEqual(percuss.load(BAR).frame().points.shape, (201, 3))

    def test_a_joint_named_as_a_contact_hides_neither(self):
        contacts = percuss.load("tests/study/settling/woodpecker_bodies.yaml").contacts
        self.assertEqual([contacts[name].is_joint for name in ("beak", "joints.beak", "pin")], [False, True, True])
        self.assertEqual(contacts["beak"].count, 1)

    def test_statics_modes_options(self):
        text = ("mesh: { bar: { type: line, from: [0, 0, 0], to: [2, 0, 0], elements: 10 } }\n"
                "elements: { bar: { type: rod, mesh: bar, E: 300.0, rho: 3.0, area: 0.5, mass: lumped } }\n"
                "supports: { wall: { set: bar.start, fix: [x] } }\n"
                "loads: { pull: { type: force, node: bar.end, value: [15, 0, 0] } }\n")
        still = percuss.statics(text=text)
        self.assertAlmostEqual(still.q[-1], 0.2, 12)
        self.assertFalse(hasattr(still, "step"))
        modes = percuss.modes(text=text, count=3)
        exact = 200.0 / 2.0 * 2.0 * np.sin((2 * np.arange(3) + 1) * np.pi / 40.0) / 2.0
        np.testing.assert_allclose(modes.frequencies, exact, rtol=1e-9)
        self.assertEqual(modes.shapes.shape, (3, 10))
        self.assertEqual(modes.kinds, ["vibration"] * 3)
        names = {(o.section, o.part, o.key) for o in percuss.options()}
        self.assertIn(("scheme", "alpha_ggl", "rho_inf"), names)
        self.assertIn((None, "time", "end"), names)

    def test_what_a_model_lacks_is_said(self):
        with self.assertRaisesRegex(percuss.InputError, "wave has no accelerations"):
            percuss.load("cases/bar_wave").a
        with self.assertRaisesRegex(percuss.InputError, "closed form has no internal forces"):
            percuss.load("cases/ball").internal_force


class Driving(program.Cases):
    def test_forces(self):
        sim = percuss.load(BAR, set=SMALL)
        end = sim.equation("bar.end", "x")
        applied = sim.applied
        applied[end] = 2.0
        sim.apply("bar.end", [1.0, 0, 0])
        self.assertEqual(applied[end], 3.0)
        sim.step()
        self.assertEqual(applied[end], 0.0)
        self.assertAlmostEqual(sim.M.toarray().sum(axis=0) @ sim.v, -100.0 + 3.0 * sim.step_size, 10)
        with self.assertRaises(percuss.InputError):
            sim.apply(0, [1.0, 2.0])
        with self.assertRaisesRegex(percuss.InputError, "cannot move along"):
            sim.apply(0, [0, 1, 0])
        with self.assertRaises(percuss.InputError):
            sim.set_load_factor("pull", 2.0)
        with self.assertRaises(percuss.InputError):
            sim.contacts["wall"].friction = 0.3

    def test_save_and_restore(self):
        path = self.path("bar.state")
        sim = percuss.load(BAR, set=SMALL)
        sim.run(until=0.5)
        sim.applied[0] = 0.1
        sim.step()
        sim.save(path)
        other = percuss.load(BAR, set=SMALL)
        q = other.q
        other.restore(path)
        self.assertEqual((other.time, other.steps, other.energy), (sim.time, sim.steps, sim.energy))
        np.testing.assert_array_equal(q, sim.q)  # the view that was there before shows it
        self.assertEqual(other.contacts["wall"].force, sim.contacts["wall"].force)
        self.assertEqual([c.worst_ratio for c in sim.certificate], [c.worst_ratio for c in other.certificate])
        with self.assertRaisesRegex(percuss.InputError, "another case.*end: .*is 'end: 0.7'"):
            percuss.load(BAR, set={**SMALL, "time.end": 0.7}).restore(path)
        with self.assertRaises(percuss.InputError):
            sim.restore(self.path("none"))
        with self.assertRaises(percuss.InputError):
            sim.save(self.path("no", "folder"))
        with self.assertRaises(TypeError):
            sim.save(None)

    def test_text_has_a_folder(self):
        self.write("time.yaml", "time: { step: 0.01, end: 0.05 }\n")
        text = "include: time.yaml\nsystem: { type: oscillator }\nscheme: { type: moreau_jean, theta: 0.5 }\n"
        self.assertEqual(percuss.load(self.path("case.yaml"), text=text).end_time, 0.05)
        with self.assertRaises(percuss.InputError):
            percuss.load(text=text)

    def test_a_failed_step_can_be_taken_back(self):
        sim = percuss.load(BAR, set=SMALL)
        kept = sim.keep()
        sim.applied[0] = np.nan
        with self.assertRaises(percuss.SimulationError) as caught:
            sim.step()
        self.assertIn("not finite", str(caught.exception))
        with self.assertRaises(percuss.SimulationError):
            sim.step()
        with self.assertRaises(percuss.InputError):
            percuss.load(BAR).restore(kept)
        with self.assertRaises(TypeError):
            sim.restore(None)
        sim.restore(kept)
        self.assertEqual(sum(1 for _ in sim), 300)

    def test_watch(self):
        sim = percuss.load(BAR, set=SMALL)
        seen = []
        sim.run(watch=lambda s: seen.append(s.time) or s.steps == 10)
        self.assertEqual((len(seen), sim.steps), (10, 10))
        with self.assertRaises(ZeroDivisionError):
            sim.run(watch=lambda s: 1 / 0)
        with self.assertRaises(percuss.InputError):
            sim.run(watch=lambda s: s.step())
        sim.run(watch=lambda s: s.a is None)
        self.assertTrue(sim.is_done)
        percuss.load(BAR, set=SMALL).run(self.path("out"), watch=lambda s: s.steps == 20)
        self.assertEqual(len(percuss.open(self.path("out")).history), 21)


ODD = (None, True, 0, -1, 3, 2**31, -2**63, 10**40, 0.5, float("nan"), "", "x", "bar.end", "wall", "a\0b", b"bytes",
       [1.0, 0.0, 0.0], [np.nan] * 3, {}, {"a": {"b": 1}}, object(), np.zeros((2, 2)))


class Errors(unittest.TestCase):
    def call(self, function, *arguments):
        """Calls a function with all odd arguments; whatever comes, the process goes on."""
        for k, first in enumerate(ODD):
            for odd in ((first,), (first, ODD[7 * k % 22]), (first, ODD[5 * k % 22], ODD[3 * k % 22])):
                with contextlib.suppress(Exception):
                    function(*arguments, *odd)

    def test_odd_arguments_end_no_process(self):
        sim, still = percuss.load(BAR, set=SMALL), percuss.statics("cases/cantilever_stop")
        ball, crossed = percuss.load(text=BALL, system=Ball()), percuss.load("cases/beams_crossed")
        for one in (sim, still, percuss.modes(BAR), ball, crossed, sim.contacts["wall"], sim.contacts, sim.probes):
            for name in [name for name in dir(type(one)) if not name.startswith("_")]:
                if name not in ("run", "save", "close"):  # which write files, and end all others
                    self.call(lambda *odd, one=one, name=name: getattr(one, name)(*odd))
                if isinstance(getattr(type(one), name), property):
                    self.call(lambda odd, one=one, name=name: setattr(one, name, odd))
        for make in (percuss.load, percuss.modes, percuss.statics):
            self.call(make)
            self.call(make, BAR)
            self.call(lambda text, make=make: make(text=text))
        for one in (sim, ball, crossed):
            one.restore(one.keep())
            one.step()
            one.close()

    def test_messages_have_places(self):
        with self.assertRaises(percuss.InputError) as caught:
            percuss.load(text="mesh:\n  bar: { type: line, elements: 0 }\nspeed: 1\n")
        self.assertIsInstance(caught.exception, ValueError)
        places = {(m.line, m.column) for m in caught.exception.messages}
        self.assertIn((3, 1), places)
        with self.assertRaisesRegex(percuss.InputError, "rho_inf must be in"):
            percuss.load(BAR, set={"scheme.rho_inf": 7})
        with self.assertRaisesRegex(percuss.InputError, "no/such"):
            percuss.load("no/such")

    def test_dead_objects_raise(self):
        sim = percuss.load(BAR, set=SMALL)
        wall, probes = sim.contacts["wall"], sim.probes
        sim.close()
        sim.close()
        for use in (lambda: sim.q, lambda: sim.step(), lambda: sim.M, lambda: wall.force, lambda: probes["tip.x"],
                    lambda: list(sim), lambda: sim.keep(), lambda: sim.applied, lambda: wall.is_closed,
                    lambda: sim.energy, lambda: sim.run(), lambda: sim.frame(), lambda: sim.nodes):
            with self.assertRaises(percuss.ClosedError):
                use()
        self.assertIn("closed", repr(sim))

    def test_wrong_arguments_raise(self):
        sim = percuss.load(BAR, set=SMALL)
        for error, use in ((TypeError, lambda: percuss.load()), (TypeError, lambda: percuss.load(3)),
                           (TypeError, lambda: percuss.load(BAR, set=[1])), (KeyError, lambda: sim.contacts["x"]),
                           (KeyError, lambda: sim.probes["x"]), (ValueError, lambda: percuss.load("a\0b")),
                           (TypeError, lambda: sim.node_dofs("x")), (ValueError, lambda: sim.equation(0, "q")),
                           (ValueError, lambda: sim.equation(10**30, "x")),
                           (TypeError, lambda: sim.apply(0.5, [0] * 3)), (ValueError, lambda: sim.run("x", until=1)),
                           (ValueError, lambda: percuss.modes(BAR, count=-1)),
                           (ValueError, lambda: percuss.modes(BAR, about="x")), (TypeError, lambda: sim.run(7))):
            with self.assertRaises(error):
                use()

    def setUp(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored

    def test_an_interrupt_ends_a_run(self):
        sim = percuss.load(BAR, set={"time.end": 1.0e6})
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            sim.run()
        self.assertGreater(sim.steps, 0)
        steps = sim.steps
        sim.step()
        self.assertEqual(sim.steps, steps + 1)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_an_interrupt_ends_a_run_of_callbacks(self):
        sim = percuss.load(text=BALL, system=Ball(), set={"time.end": 1.0e6})
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in sim:
                pass
        sim.step()


class Systems(unittest.TestCase):
    def test_the_same_as_in_c(self):
        own = percuss.load(text=BALL, system=Ball(), set={"time.end": 2.0})
        ball = "ball, gravity: 9.81, height: 1.5, radius: 0, restitution: 0.8, mass: 1"
        there = percuss.load(text=BALL.replace("ball_py", ball), set={"time.end": 2.0})
        for _ in own:
            there.step()
            self.assertAlmostEqual(own.contacts["floor"].gap, next(iter(there.contacts.values())).gap, 9)

    def test_what_methods_raise_is_raised(self):
        class Broken(Ball):
            fails_at = 0.5

            def force(self, p, t, q, v):
                if t > self.fails_at:
                    raise LookupError("no force here")
                return super().force(p, t, q, v)

        sim = percuss.load(text=BALL, system=Broken())
        with self.assertRaisesRegex(LookupError, "no force here"):
            for _ in sim:
                pass
        self.assertAlmostEqual(sim.time, 0.5, 2)

        class Early(Ball):
            def start(self, p):
                return p.nothing, 0

        with self.assertRaisesRegex(AttributeError, "nothing"):
            percuss.load(text=BALL, system=Early())

    def test_wrong_definitions_are_told(self):
        class Shape(Ball):
            def mass(self, p, q):
                return [1.0]

        with self.assertRaisesRegex(ValueError, "shape"):
            percuss.load(text=BALL, system=Shape())

        class Sign(Ball):
            def directions(self, p, q):
                return [[-1.0]]

        with self.assertRaisesRegex(percuss.InputError, "G"):
            percuss.load(text=BALL, system=Sign())

        class Checked(Ball):
            def check(self, p):
                return "the mass is odd" if p.mass == 3.0 else None

        percuss.load(text=BALL, system=Checked())
        with self.assertRaisesRegex(percuss.InputError, "the mass is odd"):
            percuss.load(text=BALL, system=Checked(), set={"system.mass": 3.0})
        with self.assertRaisesRegex(percuss.InputError, "height"):
            percuss.load(text=BALL, system=Ball(), set={"system.hight": 3.0})

    def test_a_callback_cannot_use_its_simulation(self):
        class Nosy(Ball):
            sim, answers = None, []

            def force(self, p, t, q, v):
                if self.sim is not None and not self.answers:
                    for use in (self.sim.step, self.sim.run, lambda: self.sim.a, self.sim.keep, lambda: self.sim.M):
                        try:
                            use()
                        except percuss.PercussError as error:
                            self.answers.append(type(error))
                    self.sim.close()
                return super().force(p, t, q, v)

        system = Nosy()
        sim = system.sim = percuss.load(text=BALL, system=system)
        sim.step()
        self.assertEqual(len(system.answers), 5)
        system.sim = None


class Threads(unittest.TestCase):
    def test_two_at_once(self):
        alone = percuss.load(BAR)
        alone.run()
        sims = [percuss.load(BAR) for _ in range(4)]
        threads = [threading.Thread(target=sim.run) for sim in sims]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for sim in sims:
            np.testing.assert_array_equal(sim.q, alone.q)

    def test_one_in_two_threads_is_refused(self):
        sim = percuss.load(BAR, set={"time.end": 1.0e6})
        ends = threading.Event()
        thread = threading.Thread(target=lambda: sim.run(watch=lambda s: ends.is_set()))
        thread.start()
        while sim.steps == 0:
            time.sleep(0.001)
        with self.assertRaises(percuss.BusyError):
            sim.step()
        with self.assertRaises(percuss.BusyError):
            sim.M
        sim.close()
        ends.set()
        thread.join()


class Scripts(unittest.TestCase):
    def test_examples_run(self):
        for name in ("bar_study", "control", "pendulum"):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                runpy.run_path(f"docs/examples/{name}.py", run_name="__main__")
            self.assertTrue(said.getvalue(), name)

    def test_the_first_example_runs(self):
        result = doctest.testmod(percuss)
        self.assertGreater(result.attempted, 3)
        self.assertEqual(result.failed, 0)

    def test_the_manual_runs(self):
        blocks = re.findall("```python\n(.*?)```", read_file("docs/python.md"), re.S)
        scope = {"np": np, "print": lambda *words: None}
        for block in blocks[:5]:
            exec(block, scope)
        self.assertAlmostEqual(scope["sim"].time, 1.5, 12)
        self.assertEqual(scope["table"].shape[0], 9)

    def test_the_damper_of_the_manual_takes_all_energy_on_any_mesh(self):
        with open("docs/python.md") as file:
            block = next(b for b in re.findall("```python\n(.*?)```", file.read(), re.S) if "applied[end]" in b)
        for elements in (50, 200, 800):
            scope = {"percuss": percuss}
            exec(block.replace("set={", 'set={"mesh.bar.elements": %d, ' % elements), scope)
            energy = scope["sim"].energy
            self.assertEqual(len(scope["sim"].v), elements + 1)
            self.assertLess(energy.kinetic + energy.strain, 1e-4 * 500.0)

GEARS = """mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] } }
elements: { a: { type: rigid_body_2d, mesh: a, mass: 2, inertia: 0.3 },
            b: { type: rigid_body_2d, mesh: b, mass: 1, inertia: 0.2 } }
joints: { left: { type: hinge, node: a }, right: { type: hinge, node: b },
          teeth: { type: gear, a: a, b: b, teeth_a: 30, teeth_b: 20, at: [0.6, 0, 0], pressure_angle: 20 } }
loads: { drive: { type: torque, node: a, axis: [0, 0, 1] }, load: { type: torque, node: b, axis: [0, 0, 1] } }
scheme: { type: alpha_ggl }
time: { step: 1.0e-2, end: 0.1 }
"""


class Teeth(unittest.TestCase):
    def test_force_of_gears_at_rest(self):
        # N = T / (r cos(angle)) along the line of action: the flank that carries pushes the wheels apart either way.
        for torque, flank in ((0.9, "backward"), (-0.9, "forward")):
            sim = percuss.load(text=GEARS, set={"loads.drive.value": torque, "loads.load.value": torque / 1.5,
                                                "joints.teeth.flank": flank})
            sim.step()
            teeth, hinge = sim.reactions["teeth"], sim.reactions["left"]
            separating = abs(torque) / 0.6 * math.tan(math.radians(20))
            self.assertAlmostEqual(teeth.tangential, -torque / 0.6, delta=1e-12)
            for force in (teeth.separating, teeth.force[0], hinge.force[0]):
                self.assertAlmostEqual(force, separating, delta=1e-12)
            self.assertEqual((hinge.tangential, hinge.separating), (None, None))


unittest.main(verbosity=1)
