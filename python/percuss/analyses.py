"""Equilibrium under loads and modes of small vibrations."""

from __future__ import annotations

import os
from ctypes import byref
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _library as c
from ._handle import open_with, view
from .model import Model

Array = np.ndarray[Any, Any]

lib = c.lib


class Equilibrium(Model):
    """A model in equilibrium under its loads; read as a simulation, it makes no steps."""


class Modes(Model):
    """A model with its modes, the lowest first."""

    def __init__(self, handle: Any) -> None:
        super().__init__(handle)
        found = [lib.percuss_mode_at(handle.pointer, i) for i in range(lib.percuss_mode_count(handle.pointer))]
        #: rad/s; of modes that do not vibrate (decay, divergence) the rate, 1/s
        self.frequencies: Array = np.array([m.frequency for m in found])
        self.damping: Array = np.array([m.damping for m in found])  #: ratios
        self.kinds: list[Any] = [m.kind.decode() for m in found]  #: "vibration", "rigid", ..
        self.names: list[Any] = [m.name.decode() for m in found]  #: of rigid modes, places of mechanisms, rates
        self.shapes: Array = np.array([self._shape(handle, m) for m in found])  #: [modes, dofs]

    def _shape(self, handle: Any, mode: Any) -> Array:
        re = view(handle, mode.re, self._q.shape)
        return np.asarray(re + 1j * view(handle, mode.im, self._q.shape) if mode.im else re.copy())

    def __len__(self) -> int:
        return len(self.frequencies)


def statics(case: Union[str, os.PathLike[str], None] = None, set: Optional[Mapping[str, Any]] = None, *,
            text: Optional[str] = None, system: Any = None, steps: int = 0, time: float = 0.0) -> Equilibrium:
    """The equilibrium of a case under the loads at `time`, by at least `steps` load steps."""
    options = c.StillOptions(_whole(steps, "steps"), float(time), 0, 0, 0)
    return Equilibrium(open_with(lib.percuss_statics, case, text, set, system, byref(options)))


def modes(case: Union[str, os.PathLike[str], None] = None, set: Optional[Mapping[str, Any]] = None, *,
          text: Optional[str] = None, system: Any = None, count: int = 10, about: Optional[str] = None,
          whirl: bool = False, steps: int = 0, time: float = 0.0) -> Modes:
    """The lowest modes of a case about its reference state, or with about="statics" about its equilibrium."""
    if about not in (None, "statics"):
        raise ValueError(f"about must be None or 'statics', is {about!r}")
    options = c.StillOptions(_whole(steps, "steps"), float(time), _whole(count, "count"), about == "statics",
                             bool(whirl))
    return Modes(open_with(lib.percuss_modes, case, text, set, system, byref(options)))


def _whole(value: int, what: str) -> int:
    if not isinstance(value, (int, np.integer)) or not 0 <= value < 2**31:
        raise ValueError(f"{what} must be a whole number >= 0, is {value!r}")
    return int(value)
