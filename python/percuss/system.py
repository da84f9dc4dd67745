"""Systems of your own in Python, by the definition of percuss_system.h, for teaching and trying."""

from __future__ import annotations

import math
from ctypes import CFUNCTYPE, POINTER, Structure, addressof, c_char_p, c_double, c_int, c_void_p, cast
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

Array = np.ndarray[Any, Any]

ABI = 1
D, A = c_double, c_void_p  # a number, an array of numbers by its address


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


class _Parameter(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("preset", D), ("low", D), ("high", D)]


class _Row(Structure):
    _fields_ = [("contact", c_char_p), ("restitution", D), ("tangent_restitution", D), ("friction", D),
                ("is_bilateral", c_int), ("ntangent", c_int)]


_CHECK = CFUNCTYPE(c_void_p, A, POINTER(c_char_p))
_COUNT = CFUNCTYPE(c_int, A)
_ROWS = CFUNCTYPE(None, A, POINTER(_Row))
_LENGTH = CFUNCTYPE(D, A)
_A3 = CFUNCTYPE(None, A, A, A)
_A4 = CFUNCTYPE(None, A, A, A, A)
_ENERGY = CFUNCTYPE(None, A, A, A, A, A)
_FORCE = CFUNCTYPE(None, A, D, A, A, A)
_WORK = CFUNCTYPE(D, A, D, A, A)


class _Definition(Structure):
    _fields_ = [("abi", c_int), ("name", c_char_p), ("summary", c_char_p), ("parameters", POINTER(_Parameter)),
                ("ncoordinate", c_int), ("coordinates", POINTER(c_char_p)), ("is_linear", c_int),
                ("has_constant_mass", c_int), ("has_constant_directions", c_int), ("check", _CHECK),
                ("row_count", _COUNT), ("rows", _ROWS), ("start", _A3), ("length", _LENGTH), ("mass", _A3),
                ("force", _FORCE), ("gaps", _A3), ("directions", _A4), ("rate_bias", _A4), ("energy", _ENERGY),
                ("load_work", _WORK), ("npoint", c_int), ("ncell", c_int), ("cells", POINTER(c_int)),
                ("points", _A3), ("contact_points", _A4)]


def _array(address: int, *shape: int) -> Array:
    """Numbers at an address, for the time of a call."""
    count = math.prod(shape)
    if count == 0:
        return np.zeros(shape)
    numbers: Any = (D * count).from_address(address)
    found: Array = np.frombuffer(numbers).reshape(shape)
    return found


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

    def __init__(self) -> None:
        self._error: Optional[BaseException] = None
        self._keep: list[Any] = []
        self._definition: Optional[_Definition] = None

    def _take_error(self) -> Optional[BaseException]:
        error, self._error = self._error, None
        return error

    def _text(self, text: str) -> bytes:
        data = str(text).encode()
        self._keep.append(data)
        return data

    def _address(self) -> int:
        if getattr(self, "_definition", None) is None:
            if not hasattr(self, "_keep"):
                System.__init__(self)
            self._define()
        assert self._definition is not None
        return addressof(self._definition)

    def _define(self) -> None:
        names = list(self.parameters)
        table = (_Parameter * (len(names) + 1))()
        for entry, name in zip(table, names):
            given = self.parameters[name]
            given = given if isinstance(given, Parameter) else Parameter(float(given))
            entry.name, entry.help = self._text(name), self._text(given.help)
            entry.preset = math.nan if given.preset is None else given.preset
            entry.low, entry.high = given.low, given.high
        coordinates = (c_char_p * max(1, len(self.coordinates)))(*[self._text(name) for name in self.coordinates])
        cells = (c_int * max(1, 2 * len(self.cells)))(*[int(node) for cell in self.cells for node in cell])
        definition = _Definition(
            abi=ABI, name=self._text(self.name), summary=self._text(self.summary), parameters=table,
            ncoordinate=len(self.coordinates), coordinates=coordinates, is_linear=bool(self.is_linear),
            has_constant_mass=bool(self.has_constant_mass), has_constant_directions=bool(self.has_constant_directions),
            npoint=int(self.point_count), ncell=len(self.cells), cells=cast(cells, POINTER(c_int)))
        # The rows are taken once: the library reads them several times and relies on their number.
        self._row_list = [row if isinstance(row, Row) else Row(*row) for row in self.rows]
        self._row_names = [self._text(row.contact) for row in self._row_list]
        self._names = names
        for member, function in self._functions().items():
            setattr(definition, member, function)
            self._keep.append(function)
        self._keep += [table, coordinates, cells]
        self._definition = definition

    def _of(self, address: int) -> Any:
        """The parameters by name."""
        values = _array(address, len(self._names)).tolist()
        cached = getattr(self, "_cached", None)
        if cached is None or cached[0] != values:
            cached = self._cached = (values, _Values(zip(self._names, values)))
        return cached[1]

    def _put(self, out: Array, value: Any, what: str) -> None:
        """Writes what a method gave, if it has the right shape."""
        given = np.asarray(value, dtype=float)
        if given.shape != out.shape:
            raise ValueError(f"{what} of system '{self.name}' must have the shape {out.shape}, has {given.shape}")
        out[...] = given

    def _guard(self, kind: Any, work: Any, *outputs: Any) -> Any:
        """A function for the library: what it raises is kept, and what it should have filled is not a number. `outputs`
        are places and sizes of the arrays among the arguments that it fills."""
        def call(*arguments: Any) -> Any:
            try:
                if self._error is None:
                    return work(*arguments)
            except BaseException as error:  # noqa: B902 - raised again by who has called the library
                self._error = error
            for place, size in outputs:
                _array(arguments[place], size)[...] = math.nan
            return 0 if kind in (_COUNT, _ROWS) else math.nan
        return kind(call)

    def _functions(self) -> dict[str, Any]:
        n, m = len(self.coordinates), len(self._row_list)
        nt = sum(row.tangents for row in self._row_list)

        def start(p: Any, q: Any, v: Any) -> None:
            given = self.start(self._of(p))
            self._put(_array(q, n), given[0], "the first of start")
            self._put(_array(v, n), given[1], "the second of start")

        def directions(p: Any, q: Any, G: Any, T: Any) -> None:
            given = self.directions(self._of(p), _array(q, n))
            G_given, T_given = given if isinstance(given, tuple) else (given, None)
            self._put(_array(G, m, n), G_given, "G")
            if nt > 0:
                self._put(_array(T, nt, n), T_given, "T")

        def rows(_p: Any, out: Any) -> None:
            for i, row in enumerate(self._row_list):
                out[i] = _Row(self._row_names[i], row.restitution, row.tangent_restitution, row.friction,
                              int(row.bilateral), int(row.tangents))

        def energy(p: Any, q: Any, v: Any, kinetic: Any, potential: Any) -> None:
            one, other = self.energy(self._of(p), _array(q, n), _array(v, n))
            _array(kinetic, 1)[0], _array(potential, 1)[0] = one, other

        def put(method: Any, what: Any, *shape: Any) -> Any:
            return lambda p, q, out: self._put(_array(out, *shape), method(self._of(p), _array(q, n)), what)

        functions = {
            "row_count": self._guard(_COUNT, lambda p: m),
            "rows": self._guard(_ROWS, rows),
            "start": self._guard(_A3, start, (1, n), (2, n)),
            "length": self._guard(_LENGTH, lambda p: float(self.length(self._of(p)))),
            "mass": self._guard(_A3, put(self.mass, "mass", n, n), (2, n * n)),
            "force": self._guard(_FORCE, lambda p, t, q, v, f: self._put(
                _array(f, n), self.force(self._of(p), t, _array(q, n), _array(v, n)), "force"), (4, n)),
            "gaps": self._guard(_A3, put(self.gaps, "gaps", m), (2, m)),
            "directions": self._guard(_A4, directions, (2, m * n), (3, nt * n)),
            "energy": self._guard(_ENERGY, energy, (3, 1), (4, 1)),
            "load_work": self._guard(_WORK, lambda p, t, a, b: float(
                self.load_work(self._of(p), t, _array(a, n), _array(b, n)))),
            "check": self._checker(),
        }
        if not (self.is_linear or self.has_constant_directions):
            functions["rate_bias"] = self._guard(_A4, lambda p, q, v, out: self._put(
                _array(out, m), self.rate_bias(self._of(p), _array(q, n), _array(v, n)), "rate_bias"), (3, m))
        if self.point_count > 0:
            functions["points"] = self._guard(_A3, put(self.points, "points", self.point_count, 3),
                                              (2, 3 * self.point_count))
        return functions

    def _checker(self) -> Any:
        def call(p: Any, _culprit: Any) -> Any:
            try:
                fault = self.check(self._of(p))
            except BaseException as error:  # noqa: B902 - raised again by who has called the library
                self._error, fault = error, "its check has failed"
            if fault is None:
                return None
            self._fault = c_char_p(str(fault).encode())
            return cast(self._fault, c_void_p).value
        return _CHECK(call)


class _Values(dict[str, float]):
    """Parameters as attributes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> float:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the system has no parameter '{name}'; it has {', '.join(self)}") from None
