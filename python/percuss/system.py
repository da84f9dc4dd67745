"""Systems of your own in Python, by the definition of percuss_system.h, for teaching and trying."""

import functools
import math
from ctypes import addressof, c_char_p, c_int, c_void_p, cast, memmove, sizeof
from types import SimpleNamespace
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from . import _library as c
from .model import view

ABI = 2
KINDS = dict(c.SystemDefinition._fields_)  # types of its members


class Parameter(NamedTuple):
    """A parameter of a system: its preset (None: the case must give it), its help with the unit, and its range."""

    preset: Optional[float] = None
    help: str = ""
    low: float = -math.inf
    high: float = math.inf


class Row(NamedTuple):
    """A contact condition g >= 0, or g = 0 when bilateral; `tangents` directions of friction, 0, 1 or 2."""

    contact: str
    restitution: float = 0.0
    friction: float = 0.0
    tangents: int = 0
    tangent_restitution: float = 0.0
    bilateral: bool = False


class System:
    """M(q) v' = f(t, q, v) + G(q)^T lambda_N + T(q)^T lambda_T, g(q) >= 0 (or = 0), q' = v.

    Derive from it, set the attributes and write the methods; `p` has the parameters by name. A case then says
    `system: { type: NAME, ... }`, and `percuss.load(case, system=MySystem())` runs it. What can be compared (G with the
    gaps, rate_bias with G, the symmetry of M) is compared when it is loaded. What a method raises ends the step and is
    raised by the call that asked for it.
    """

    name = "own"
    summary = "a system in Python"
    parameters: dict[str, Any] = {}
    coordinates: Sequence[str] = ()
    rows: Sequence[Row] = ()
    is_linear = False  # M, G, T constant, f affine in q and v, potential quadratic in q
    has_constant_mass = False
    has_constant_directions = False
    point_count = 0  # points to draw, and lines between them
    cells: Sequence[Sequence[int]] = ()

    # To be written

    def start(self, p: Any) -> tuple[Any, ...]:
        """Initial q and v."""
        raise NotImplementedError("start")

    def length(self, p: Any) -> float:
        """Size of the system, m."""
        raise NotImplementedError("length")

    def mass(self, p: Any, q: Any) -> Any:
        """M, [n, n], symmetric."""
        raise NotImplementedError("mass")

    def force(self, p: Any, t: Any, q: Any, v: Any) -> Any:
        """f, [n]."""
        raise NotImplementedError("force")

    def gaps(self, p: Any, q: Any) -> Any:
        """g, [rows]."""
        return np.zeros(0)

    def directions(self, p: Any, q: Any) -> Any:
        """G = dg/dq, [rows, n], or (G, T) where rows have tangents, T [tangents of all rows, n]."""
        return np.zeros((0, len(self.coordinates)))

    def rate_bias(self, p: Any, q: Any, v: Any) -> Any:
        """(dG/dt) v, [rows]; not asked for where directions are constant."""
        raise NotImplementedError("rate_bias")

    def energy(self, p: Any, q: Any, v: Any) -> tuple[Any, ...]:
        """Kinetic and potential energy, J."""
        raise NotImplementedError("energy")

    # May be written

    def check(self, p: Any) -> Optional[str]:
        """None when the parameters are sound, else what is wrong."""
        return None

    def load_work(self, p: Any, t: Any, q0: Any, q1: Any) -> float:
        """Work of applied forces, held as they are at time t, from q0 to q1, J."""
        return 0.0

    def points(self, p: Any, q: Any) -> Any:
        """Where the points to draw are, [point_count, 3], m."""
        raise NotImplementedError("points")

    # The definition in C

    _error: Optional[BaseException] = None

    @functools.cached_property
    def _definition(self) -> Any:
        """In C."""
        self._names = list(self.parameters)
        table = (c.Parameter * (len(self._names) + 1))()
        for entry, name in zip(table, self._names):
            given = self.parameters[name]
            given = given if isinstance(given, Parameter) else Parameter(float(given))
            entry.name, entry.help, entry.low, entry.high = name.encode(), given.help.encode(), given.low, given.high
            entry.preset = math.nan if given.preset is None else given.preset
        cells = (c_int * max(1, 2 * len(self.cells)))(*[int(node) for cell in self.cells for node in cell])
        names = (c_char_p * max(1, len(self.coordinates)))(*[name.encode() for name in self.coordinates])
        # The rows are taken once: the library reads them several times and relies on their number.
        self._row_list = [row if isinstance(row, Row) else Row(*row) for row in self.rows]
        self._tables = table, cells
        return c.SystemDefinition(
            abi=ABI, name=self.name.encode(), summary=self.summary.encode(), parameters=addressof(table),
            ncoordinate=len(self.coordinates), coordinates=names, is_linear=bool(self.is_linear),
            has_constant_mass=bool(self.has_constant_mass), has_constant_directions=bool(self.has_constant_directions),
            npoint=int(self.point_count), ncell=len(self.cells), cells=addressof(cells), **self._functions())

    def _of(self, address: int) -> Any:
        """The parameters by name."""
        return SimpleNamespace(**dict(zip(self._names, view(None, address, (len(self._names),)).tolist())))

    def _function(self, name: str, inputs: str, *outputs: tuple[int, ...]) -> Any:
        """A method for the library: `inputs` are "t" or "q" for an array over the coordinates, `outputs` the shapes of
        what it fills; without any it gives a number. What it raises is kept, and what it should have filled is NaN."""
        kind, method = KINDS[name], getattr(self, name)

        def work(p: Any, *arguments: Any) -> Any:
            count = len(self.coordinates)
            given = [x if what == "t" else view(None, x, (count,)) for what, x in zip(inputs, arguments)]
            found = method(self._of(p), *given)
            if not outputs:
                return float(found)
            parts = tuple(found) if name in ("start", "energy") else found if isinstance(found, tuple) else (found,)
            for k, (address, shape) in enumerate(zip(arguments[len(inputs):], outputs)):
                part = np.asarray(parts[k] if k < len(parts) else None, dtype=float)
                if part.shape != shape:
                    what = {"directions": "GT"[k]}.get(name, name)
                    raise ValueError(f"{what} of system '{self.name}' must have the shape {shape}, has {part.shape}")
                view(None, address, shape, is_writable=True)[...] = part
            return None

        def call(*arguments: Any) -> Any:
            try:
                if self._error is None:
                    return work(*arguments)
            except BaseException as error:  # noqa: B902 - raised again by who has called the library
                self._error = error
            for address, shape in zip(arguments[1 + len(inputs):], outputs):
                view(None, address, shape, is_writable=True)[...] = math.nan
            return math.nan
        return kind(call)

    def _functions(self) -> dict[str, Any]:
        n, m = len(self.coordinates), len(self._row_list)
        nt = sum(row.tangents for row in self._row_list)
        rows = (c.Row * m)(*[c.Row(row.contact.encode(), row.restitution, row.tangent_restitution, row.friction,
                                   int(row.bilateral), int(row.tangents)) for row in self._row_list])

        def check(p: Any, _culprit: Any) -> Any:
            try:
                fault = self.check(self._of(p))
            except BaseException as error:  # noqa: B902 - raised again by who has called the library
                self._error, fault = error, "its check has failed"
            self._fault = c_char_p(None if fault is None else str(fault).encode())
            return cast(self._fault, c_void_p).value

        shapes: dict[str, tuple[Any, ...]] = {
            "start": ("", (n,), (n,)), "length": ("",), "mass": ("q", (n, n)), "force": ("tqq", (n,)),
            "gaps": ("q", (m,)), "directions": ("q", (m, n), *[(nt, n)] * (nt > 0)), "energy": ("qq", (), ()),
            "load_work": ("tqq",)}
        if not (self.is_linear or self.has_constant_directions):
            shapes["rate_bias"] = ("qq", (m,))
        if self.point_count > 0:
            shapes["points"] = ("q", (self.point_count, 3))
        return {"row_count": KINDS["row_count"](lambda _p: m), "check": KINDS["check"](check),
                "rows": KINDS["rows"](lambda _p, out: memmove(out, rows, sizeof(rows)) and None),
                **{name: self._function(name, *shape) for name, shape in shapes.items()}}
