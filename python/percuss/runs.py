"""Runs of a case that share a folder and are named by their hash, made by worker processes through the library."""

from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_void_p
from typing import Callable, NamedTuple, Sequence

from . import _library as c
from .files import make_folder
from .text import encode

WATCH_INTERVAL = 0.05  # s of wall time between two looks at whether to stop


class Ended(NamedTuple):
    """What became of a run."""

    end: str  #: "done", "kept" (it was there), "refused", "failed", "not run"
    name: str  #: of its folder; "" if there is none
    reason: str
    has_cells: bool = False  #: where something is refined: cells that could be smaller
    has_steps: bool = False  #: likewise: a step that does not follow their size


class Runs:
    """A case whose runs go to FOLDER/runs/<hash>. Made before workers are forked."""

    def __init__(self, case: str, folder: str, *, keep: bool, history: bool, beside: int,
                 is_stopped: Callable[[], bool] = lambda: False):
        self.folder, self.is_stopped = folder, is_stopped
        make_folder(os.path.join(folder, "runs"))
        self._case = encode(case, "case")
        self._read = c_void_p()  # read once; a case that cannot be is the refusal of every run
        c.lib.percuss_read(byref(c.Source(self._case, None, 0, None, None)), byref(self._read))
        self._watch = c.Watch(lambda _user, _pointer: int(self.is_stopped()))
        self._once = c.Once(encode(os.path.join(folder, "runs"), "output"), self._read, 0.0, 0.0, keep, history, beside,
                            self._watch, None, WATCH_INTERVAL)

    def __del__(self) -> None:
        c.lib.percuss_destroy(byref(self._read))

    def path(self, name: str) -> str:
        """The folder of a run."""
        return f"{self.folder}/runs/{name}"

    def make(self, assignments: Sequence[bytes], mesh_factor: float = 0.0, step_factor: float = 0.0) -> Ended:
        """Makes a run, unless it is there."""
        count = len(assignments)
        source = c.Source(self._case, None, count, (c_char_p * (count + 1))(*assignments), None)
        once, pointer = self._once, c_void_p()
        once.mesh_factor, once.step_factor = mesh_factor, step_factor
        answer = c.lib.percuss_run_once(byref(source), byref(once), byref(pointer))
        text = c.lib.percuss_message(pointer) if answer else c.lib.percuss_notes(pointer)
        reason = text.decode(errors="replace").partition("\n")[0]
        c.lib.percuss_destroy(byref(pointer))
        name = once.name.decode()
        if answer and self.is_stopped():
            return Ended("not run", name, "stopped on request")
        if answer:
            return Ended("failed" if name else "refused", name, reason)
        return Ended("kept" if once.was_there else "done", name, reason, bool(once.has_cells), bool(once.has_steps))
