"""Simulations: load, step, run, go back, drive; equilibria and modes."""

import os
from ctypes import byref
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library as c
from .errors import InputError, error_of
from .model import Check, Evaluated, Handle, Model, Reaction, _number, deferred, open_with, vector, view
from .text import Path, encode, whole

Array = np.ndarray[Any, Any]

lib = c.lib
_step = lib.percuss_step
_is_done = lib.percuss_is_done
WATCH_INTERVAL = 0.05  # s of wall time between two looks at the keyboard


class State(Handle):
    """All that later steps depend on, kept by Simulation.keep."""


class Simulation(Model):
    """A case that moves.

    >>> sim = percuss.load("cases/bar_impact", set={"mesh.bar.elements": 400})
    >>> for step in sim:
    ...     print(sim.time, sim.q[0], sim.contacts["wall"].force)
    """

    def step(self) -> None:
        """One step; nothing after the end. Raises SimulationError when it cannot be made."""
        self._call(_step)

    def __iter__(self) -> Iterator[int]:
        """Steps to the end and gives the number of every step that was made."""
        number = self.steps
        step = self.step
        while not _is_done(self._alive().pointer):
            step()
            number += 1
            yield number

    def run(self, directory: Optional[Path] = None, until: Optional[float] = None,
            watch: Optional[Callable[["Simulation"], Any]] = None, interval: float = 0.0) -> None:
        """Makes all steps that are left, or those up to `until`; steps are not cut to meet it. With a directory results
        are written there, as the program does. `watch` is called after every step, or every `interval` seconds of wall
        time, and ends the run by answering True. An interrupt from the keyboard ends it after the present step; results
        are complete then."""
        handle = self._alive()
        if directory is not None and until is not None:
            raise InputError("results are written of runs to the end of the case: `until` goes without a directory")
        raised: list[BaseException] = []
        stops: list[Any] = []
        with self._entered(), deferred(handle.owner, True) as interrupts:
            def look(_user: Any, _pointer: Any) -> int:
                try:
                    stops.extend([True] if watch is not None and watch(self) else [])
                except BaseException as error:  # noqa: B902 - raised again below
                    raised.append(error)
                return 1 if raised or interrupts or stops else 0

            options = c.RunOptions(None if directory is None else encode(directory, "directory"),
                                   np.inf if until is None else float(until), c.Watch(look), None,
                                   WATCH_INTERVAL if watch is None else float(interval))
            answer = lib.percuss_run_with(handle.pointer, byref(options))
            if raised:
                raise raised[0]
        if answer and not stops:
            raise error_of(answer, handle.pointer)

    is_done = Evaluated[bool](lambda s: bool(_is_done(s._alive().pointer)), "Is nothing left to do, or possible?")
    steps = Evaluated[int](lambda s: lib.percuss_steps(s._alive().pointer), "Steps made so far.")
    step_size = Evaluated[float](lambda s: lib.percuss_step_size(s._alive().pointer), "s")
    end_time = Evaluated[float](lambda s: lib.percuss_end_time(s._alive().pointer), "s")

    notes = Evaluated[str](lambda s: lib.percuss_notes(s._alive().pointer).decode(errors="replace"),
                           "What was changed in the case without being an error.")

    # Going back

    def keep(self) -> State:
        """A copy of all that later steps depend on."""
        with self._entered() as handle:
            pointer = lib.percuss_keep(handle.pointer)
        if not pointer:
            raise InputError("the state cannot be kept now, or memory is out")
        return State(pointer, handle, lib.percuss_forget)

    def restore(self, state: Union[State, str, os.PathLike[str]]) -> None:
        """Goes back to a state kept of this simulation; also after a step that failed. Or goes on from a file of
        `save`, or from the checkpoint of a run in a file or folder; the case must be the same. Raises InputError, which
        tells what differs, and leaves all as it is where it does not fit."""
        if isinstance(state, (str, os.PathLike)):
            self._call(lib.percuss_load_state, encode(state, "path"))
            return
        if not isinstance(state, State) or state.pointer is None:
            raise TypeError("a state from Simulation.keep is wanted, or the path of a file")
        self._call(lib.percuss_restore, state.pointer)

    def save(self, path: Path) -> None:
        """Writes all that later steps depend on into a file, for `restore` of this or another process."""
        self._call(lib.percuss_save, encode(path, "path"))

    # Driving

    @property
    def applied(self) -> Array:
        """Forces that act in the next step, [dofs], N: write to it. Every step sets it to zero again; no copy."""
        handle = self._alive()
        address = lib.percuss_applied_force(handle.pointer)
        if not address:
            raise InputError("forces cannot be applied now, or memory is out")
        return view(handle, address, self._q.shape, is_writable=True)

    def apply(self, node: Union[int, str], force: Sequence[float]) -> None:
        """Adds a force [x, y, z] at a node for the next step."""
        self._call(lib.percuss_apply, _number(self.node(node)), vector(force, 3, "force"))

    loads = Evaluated[list[Any]](
        lambda s: [name.decode() for name in s._each(lib.percuss_loads, lib.percuss_load_name)], "Names of the loads.")

    def set_load_factor(self, name: str, factor: float) -> None:
        """Lets a load act with this factor on top of its amplitude from now on."""
        self._call(lib.percuss_set_load_factor, encode(name, "name"), float(factor))

    # More to read

    certificate = Evaluated[list[Any]](
        lambda s: [Check(k.name.decode(), k.unit.decode(), k.worst_ratio, k.worst_value, k.tolerance, k.worst_time,
                         bool(k.is_reported_only)) for k in s._each(lib.percuss_checks, lib.percuss_check_at)],
        "The conditions that every step is held against, a Check each.")

    @property
    def reactions(self) -> dict[str, Any]:
        """Reactions of joints, and of supports that were asked for them, by name."""
        found = self._each(lib.percuss_reactions, lib.percuss_reaction_at)
        return {r.name.decode(): Reaction(np.array(r.force), np.array(r.moment), bool(r.is_support),
                                          *((r.tangential, r.separating) if r.has_teeth else ())) for r in found}

    @property
    def effort(self) -> dict[str, Any]:
        """Counts of steps and iterations, seconds, bytes."""
        effort = lib.percuss_efforts(self._alive().pointer)
        return {name: getattr(effort, name) for name, _ in c.Effort._fields_}


def load(case: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None, *,
         text: Optional[str] = None, system: Any = None) -> Simulation:
    """A simulation of a case: the path of a file or folder, or `text`, the case itself, whose files are looked for in
    the folder of the path, or else in the current one. `set` gives values to keys, as
    --set of the program does; `system` is a percuss.System that the case names by `system: { type: NAME }`. Raises
    InputError with all messages and their places when the case is wrong."""
    return Simulation(open_with(lib.percuss_open, case, text, set, system))


# ---- Equilibrium under loads and modes of small vibrations ----

class Equilibrium(Model):
    """A model in equilibrium under its loads; read as a simulation, it makes no steps."""


class Modes(Model):
    """A model with its modes, the lowest first."""

    def __init__(self, handle: Any) -> None:
        super().__init__(handle)
        found = self._each(lib.percuss_mode_count, lib.percuss_mode_at)
        #: rad/s; of modes that do not vibrate (decay, divergence) the rate, 1/s
        self.frequencies: Array = np.array([m.frequency for m in found])
        self.damping: Array = np.array([m.damping for m in found])  #: ratios
        self.kinds: list[Any] = [m.kind.decode() for m in found]  #: "vibration", "rigid", ..
        self.names: list[Any] = [m.name.decode() for m in found]  #: of rigid modes, places of mechanisms, rates
        parts = [[view(handle, part, self._q.shape) for part in (m.re, m.im) if part] for m in found]
        #: [modes, dofs]
        self.shapes: Array = np.array([re + 1j * im[0] if im else re for re, *im in parts])

    def __len__(self) -> int:
        return len(self.frequencies)


def statics(case: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None, *,
            text: Optional[str] = None, system: Any = None, steps: int = 0, time: float = 0.0) -> Equilibrium:
    """The equilibrium of a case under the loads at `time`, by at least `steps` load steps."""
    options = c.StillOptions(whole("steps", steps, 0), float(time), 0, 0, 0)
    return Equilibrium(open_with(lib.percuss_statics, case, text, set, system, byref(options)))


def modes(case: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None, *,
          text: Optional[str] = None, system: Any = None, count: int = 10, about: Optional[str] = None,
          whirl: bool = False, steps: int = 0, time: float = 0.0) -> Modes:
    """The lowest modes of a case about its reference state, or with about="statics" about its equilibrium."""
    if about not in (None, "statics"):
        raise ValueError(f"about must be None or 'statics', is {about!r}")
    options = c.StillOptions(whole("steps", steps, 0), float(time), whole("count", count, 0), about == "statics",
                             bool(whirl))
    return Modes(open_with(lib.percuss_modes, case, text, set, system, byref(options)))
