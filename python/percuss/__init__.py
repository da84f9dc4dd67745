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

from ._library import lib as _lib
from .analyses import Equilibrium, Modes, Option, modes, options, statics
from .errors import BusyError, ClosedError, InputError, Message, PercussError, SimulationError
from .model import Check, Contact, Dof, Energy, Frame, Model, Reaction, Sparse
from .results import Results, Table, plot, run, study
from .simulation import Simulation, State, load
from .system import Parameter, Row, System

__version__: str = _lib.percuss_version().decode()

__all__ = [
    "load", "run", "study", "modes", "statics", "options", "plot",
    "Simulation", "State", "Model", "Equilibrium", "Modes", "Results", "Table", "System", "Parameter", "Row",
    "Contact", "Check", "Dof", "Energy", "Frame", "Option", "Reaction", "Sparse",
    "PercussError", "InputError", "SimulationError", "ClosedError", "BusyError", "Message", "__version__",
]
