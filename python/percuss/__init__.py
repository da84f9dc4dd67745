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
from .errors import BusyError, ClosedError, InputError, Message, PercussError, SimulationError

if TYPE_CHECKING:
    from ._hopkinson import Bar, Specimen, hopkinson
    from ._compare import compare
    from ._converge import converge
    from ._fit import fit
    from ._plot import plot
    from ._report import report
    from ._study import study
    from .model import Check, Contact, Dof, Energy, Frame, Model, Reaction
    from .results import Results, open, run
    from .simulation import Equilibrium, Modes, Simulation, State, load, modes, statics
    from .system import Parameter, Row, System
    from .units import Option, options

__version__: str = _lib.percuss_version().decode()

# Names by the module that has them, which is imported when one of them is asked for: commands start fast, and what
# needs pandas, matplotlib or SciPy is needed by those who use it. A module with a function of its name begins with _.
_MODULE_OF = {name: module for module, names in {
    "_compare": "compare", "_converge": "converge", "_fit": "fit", "_hopkinson": "Bar Specimen hopkinson",
    "_plot": "plot", "_report": "report", "_study": "study",
    "model": "Check Contact Dof Energy Frame Model Reaction", "results": "Results open run",
    "simulation": "Equilibrium Modes Simulation State load modes statics", "system": "Parameter Row System",
    "units": "Option options"}.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'percuss' has no attribute '{name}'")
    found = globals()[name] = getattr(importlib.import_module(f"percuss.{_MODULE_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})


__all__ = [
    "load", "run", "study", "modes", "statics", "options", "plot", "report", "compare", "converge", "fit", "hopkinson",
    "Bar", "Specimen",
    "Simulation", "State", "Model", "Equilibrium", "Modes", "Results", "System", "Parameter", "Row",
    "Contact", "Check", "Dof", "Energy", "Frame", "Option", "Reaction",
    "PercussError", "InputError", "SimulationError", "ClosedError", "BusyError", "Message", "__version__",
]
