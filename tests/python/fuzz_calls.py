"""Random sequences of calls of the Python package, wrong ones included: whatever comes, an exception is raised or a
value given, and the process goes on. Arguments: number of calls, first seed."""

import faulthandler
import gc
import os
import random
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "python"))
faulthandler.enable()
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import percuss  # noqa: E402

CASES = tuple(os.path.join(ROOT, "cases", name) for name in (
    "bar_impact", "ball", "cantilever_stop", "slider_crank", "pendulum", "stick_slip", "beam_pendulum", "beams_crossed",
    "shaft_whirl", "oscillator"))
ODD = (None, True, 0, -1, 1, 3, 2**31, -2**63, 10**40, 0.5, float("nan"), float("inf"), "", "x", "bar.end", "wall",
       "tip.x", "a\0b", b"bytes", [], [1.0, 0.0, 0.0], [np.nan] * 3, (1, 2), {}, {"time.end": 0.01}, {"a": {"b": 1}},
       object(), np.zeros(3), np.zeros((2, 2)), CASES[1], "rx", "y")


class Wild(percuss.System):
    """A system that gives nonsense now and then."""

    name = "wild"
    coordinates = ("x", "y")
    rows = (percuss.Row("floor", 0.5, 0.3, 1),)
    parameters = {"size": 1.0}
    chance = random.Random(3)
    calm = 1.0

    def odd(self, value):
        return value if self.chance.random() < self.calm else self.chance.choice(ODD)


SOUND = {"start": lambda p: ([0.0, 1.0], [1.0, 0.0]), "length": lambda p: 1.0, "mass": lambda p, q: np.eye(2),
         "force": lambda p, t, q, v: [0.0, -9.81], "gaps": lambda p, q: [q[1]],
         "directions": lambda p, q: ([[0.0, 1.0]], [[1.0, 0.0]]), "rate_bias": lambda p, q, v: [0.0],
         "energy": lambda p, q, v: (0.5 * float(v @ v), 9.81 * q[1])}
for name, sound in SOUND.items():
    setattr(Wild, name, lambda self, *given, sound=sound: self.odd(sound(*given)))
WILD = "system: { type: wild }\nscheme: { type: moreau_jean, theta: 0.5 }\ntime: { step: 1.0e-2, end: 1.0 }\n"


class Fuzz:
    def __init__(self, seed, folder):
        self.random, self.folder, self.objects, self.raised, self.calls = random.Random(seed), folder, [], 0, 0

    def odd(self):
        return self.random.choice(ODD)

    def pick(self, kind=object):
        found = [one for one in self.objects if isinstance(one, kind)]
        return self.random.choice(found) if found else None

    def make(self):
        kind = self.random.randrange(8)
        values = {"time.end": 0.02} if self.random.random() < 0.3 else None
        case = self.random.choice(CASES) if self.random.random() < 0.9 else self.odd()
        if kind < 4:
            return percuss.load(case, set=values if self.random.random() < 0.9 else self.odd())
        if kind == 4:
            system = Wild()
            system.calm = self.random.choice((1.0, 0.999, 0.99, 0.9))
            return percuss.load(text=WILD, system=system)
        if kind == 5:
            return percuss.modes(case, count=self.random.choice((1, 3, 5)))
        if kind == 6:
            return percuss.statics(case)
        return percuss.load(text=self.random.choice(("", "mesh: 1", WILD, "a: [", "system: { type: ball }")))

    def any_call(self, one):
        """Some attribute of an object, read, written or called with anything; what NumPy allows is its own affair."""
        if isinstance(one, np.ndarray):
            return one[: self.random.randrange(5)] if one.ndim else one
        hidden = ("__iter__", "__repr__", "__len__")
        names = [name for name in dir(type(one)) if not name.startswith("_") or name in hidden]
        name = self.random.choice(names)
        if self.random.random() < 0.05:
            setattr(one, name, self.odd())
        value = getattr(one, name)
        if callable(value) and name not in ("run", "save"):  # they write files
            value = value(*[self.odd() for _ in range(self.random.choice((0, 0, 1, 2)))])
        return value

    def run(self, sim):
        kind = self.random.randrange(5)
        if kind == 0:
            sim.run(os.path.join(self.folder, str(self.random.randrange(3))),
                    watch=lambda s: self.random.random() < 0.2)
        elif kind == 1:
            sim.run(until=sim.time + 5 * sim.step_size)
        elif kind == 2:
            sim.run(watch=lambda s: self.act() or self.random.random() < 0.3)  # calls within calls
        else:
            sim.run(watch=lambda s: s.steps % 7 == 0, interval=self.random.choice((0.0, 1e-6, -1.0)))

    def drive(self, sim):
        applied = sim.applied
        if len(applied):
            applied[self.random.randrange(len(applied))] = self.random.choice((0.0, 1.0, -1e3, 1e300, float("nan")))
        for name in sim.loads[:1]:
            sim.set_load_factor(name, self.random.choice((0.0, 1.0, 2.0, float("inf"))))
        for contact in list(sim.contacts.values())[:1]:
            contact.friction = self.random.choice((0.0, 0.1, 5.0, -1.0))

    def act(self):
        self.calls += 1
        try:
            kind = self.random.random()
            sim, one = self.pick(percuss.Simulation), self.pick()
            if one is None or kind < 0.06:
                self.objects.append(self.make())
            elif kind < 0.35 and sim is not None:
                for _ in range(self.random.choice((1, 1, 5, 30))):
                    sim.step()
            elif kind < 0.40 and sim is not None:
                self.run(sim)
            elif kind < 0.46 and sim is not None:
                self.drive(sim)
            elif kind < 0.50 and sim is not None:
                self.objects.append(sim.keep())
            elif kind < 0.56 and sim is not None:
                sim.restore(self.pick(percuss.State))
            elif kind < 0.57 and sim is not None:
                sim.save(os.path.join(self.folder, self.random.choice(("state", "no/folder", "x" * 300))))
            elif kind < 0.59 and sim is not None:
                sim.restore(os.path.join(self.folder, self.random.choice(("state", "state", "0", "none"))))
            elif kind < 0.60 and sim is not None:
                sim.close()
            elif kind < 0.64:
                self.objects = [other for other in self.objects if other is not one]
            else:
                value = self.any_call(one)
                if isinstance(value, (np.ndarray, percuss.Contact)) or hasattr(value, "keys"):
                    self.objects.append(value)
                if isinstance(value, np.ndarray):
                    float(value.sum())
                elif hasattr(value, "values"):
                    list(value.values())
        except Exception:
            self.raised += 1
        if len(self.objects) > 40:
            del self.objects[:20]
            gc.collect()


def main():
    calls, seed = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # odd arguments may name files to write
        fuzz = Fuzz(seed, folder)
        while fuzz.calls < calls:
            fuzz.act()
        os.chdir(ROOT)
    print(f"{fuzz.calls} calls, {fuzz.raised} exceptions")


if __name__ == "__main__":
    main()
