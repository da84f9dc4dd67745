"""Percuss: bars, beams and rigid bodies that hit, stick, slide and rebound.

>>> import percuss
>>> sim = percuss.load("cases/bar_impact", set={"mesh.bar.elements": 400})
>>> for step in sim:
...     force = sim.contacts["wall"].force
>>> results = percuss.run("cases/bar_impact")
>>> bool(results.history["wall.gap"].min() > -1e-9)
True

Everything is described in docs/python.md.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._library import lib as _lib
from .analyses import Equilibrium, Modes, Option, modes, options, statics
from .command import COMMANDS
from .errors import BusyError, ClosedError, InputError, Message, PercussError, SimulationError
from .model import Check, Contact, Dof, Energy, Frame, Model, Reaction, Sparse
from .results import Results, open, run
from .simulation import Simulation, State, load
from .system import Parameter, Row, System

if TYPE_CHECKING:
    from ._plot import plot
    from ._study import study

__version__: str = _lib.percuss_version().decode()

#: Functions of modules that need more than NumPy: imported when they are asked for. Their modules are called _NAME.
_LAZY = ("study", "plot")


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'percuss' has no attribute '{name}'")
    return getattr(importlib.import_module(f"percuss._{name}"), name)


__all__ = [
    "load", "run", "study", "modes", "statics", "options", "plot", "COMMANDS",
    "Simulation", "State", "Model", "Equilibrium", "Modes", "Results", "System", "Parameter", "Row",
    "Contact", "Check", "Dof", "Energy", "Frame", "Option", "Reaction", "Sparse",
    "PercussError", "InputError", "SimulationError", "ClosedError", "BusyError", "Message", "__version__",
]
