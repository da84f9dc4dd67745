"""Models at a state: what simulations and equilibria have in common to be read, and the handles that they own."""

import contextlib
import signal
import threading
from ctypes import addressof, byref, c_char_p, c_double, c_size_t, c_void_p
from types import SimpleNamespace
from typing import Any, Generic, Iterator, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union

import numpy as np

from . import _library as c
from .errors import BusyError, ClosedError, InputError, error_of
from .text import assignments, encode

Array = np.ndarray[Any, Any]

lib = c.lib
DOUBLE = np.dtype(float).str
INT = np.dtype(np.intc).str
AXES = {"x": 0, "y": 1, "z": 2, "rx": 3, "ry": 4, "rz": 5}
GAP, GAP_RATE, FORCE, IMPULSE, STEP_IMPULSE, TANGENT, _, SLIP = range(8)


# ---- Handles: who owns them, arrays that keep them alive, signals while they run ----

class Handle:
    """Owns a handle of the library and ends it when nothing refers to it any more, arrays included. `owner` lives as
    long: a system of the user's own, or the handle that this one belongs to."""

    __slots__ = ("pointer", "owner", "_end", "__weakref__")

    def __init__(self, pointer: int, owner: Any = None, end: Any = lib.percuss_destroy) -> None:
        self.pointer: Optional[int] = pointer
        self.owner, self._end = owner, end

    def __del__(self) -> None:
        pointer = c_void_p(self.pointer)
        self.pointer = None
        self._end(byref(pointer))


def view(owner: Any, address: Optional[int], shape: tuple[Any, ...], kind: str = DOUBLE,
         strides: Optional[tuple[Any, ...]] = None, is_writable: bool = False) -> Array:
    """An array over memory of the library, without a copy, that keeps its owner alive."""
    if not address or 0 in shape:
        return np.zeros(shape, dtype=kind)
    memory = SimpleNamespace(owner=owner, __array_interface__={
        "version": 3, "shape": shape, "typestr": kind, "strides": strides, "data": (address, not is_writable)})
    return np.asarray(memory)


def open_with(function: Any, case: Any, text: Optional[str], values: Optional[Mapping[str, Any]], system: Any,
              *more: Any) -> Handle:
    """Calls percuss_open, percuss_statics or percuss_modes; what goes wrong is raised."""
    if case is None and text is None:
        raise TypeError("neither a case nor a text is given")
    lines = [encode(line, "set") for line in assignments(values)]
    source = c.Source(None if case is None else encode(case, "case"), None if text is None else encode(text, "text"),
                      len(lines), (c_char_p * max(1, len(lines)))(*lines),
                      None if system is None else addressof(system._definition))
    pointer = c_void_p()
    with deferred(system):
        answer = function(byref(source), *more, byref(pointer))
        if not pointer.value:
            raise MemoryError("out of memory: the simulation")
        handle = Handle(pointer.value, system)
    if answer != 0:
        raise error_of(answer, handle.pointer)
    return handle


@contextlib.contextmanager
def deferred(system: Any, is_wanted: bool = False) -> Iterator[list[Any]]:
    """Within it an interrupt from the keyboard is kept, in the list that it gives: an exception in a function that the
    library calls back would be lost. At the end that is raised, or what functions of a system of the user's own have
    raised. Other threads than the main one see no signals."""
    kept: list[Any] = []
    old = signal.getsignal(signal.SIGINT)
    is_on = (is_wanted or system is not None) and callable(old) and (
        threading.current_thread() is threading.main_thread())
    if is_on:
        signal.signal(signal.SIGINT, lambda *arguments: kept.append(arguments))
    try:
        yield kept
    finally:
        if is_on:
            signal.signal(signal.SIGINT, old)
    if system is not None and system._error is not None:
        raised, system._error = system._error, None
        raise raised
    if kept and callable(old):
        old(*kept[0])


# ---- What a model gives ----

class Energy(NamedTuple):
    """Energies now and what became of them since the start, J; kinetic + strain + potential - initial = external_work -
    damping_loss - impact_loss - friction_loss + correction_work - numerical_loss - material_loss."""

    kinetic: float
    strain: float
    potential: float
    external_work: float
    damping_loss: float
    impact_loss: float
    correction_work: float
    numerical_loss: float
    friction_loss: float
    initial: float
    material_loss: float

    @property
    def total(self) -> float:
        return self.kinetic + self.strain + self.potential


class Check(NamedTuple):
    """A condition that every step is held against; `worst_ratio` > 1 breaks it."""

    name: str
    unit: str
    worst_ratio: float
    worst_value: float
    tolerance: float
    worst_time: float
    is_reported_only: bool


class Reaction(NamedTuple):
    """Force and moment of a joint or support on the model, in the axes of space, mean over the last step; of a gear
    with a point where its teeth touch also their force along the way of the teeth and across it, positive: apart."""

    force: Array
    moment: Array
    is_support: bool
    tangential: Optional[float] = None
    separating: Optional[float] = None


class Dof(NamedTuple):
    """A way that a node can move; equation -1: a support holds it."""

    equation: int
    is_rotation: bool
    direction: tuple[Any, ...]


class Frame(NamedTuple):
    """The model at one time: copies, [points, 3] and [cells]."""

    time: float
    points: Array
    displacement: Array
    velocity: Array
    fields: dict[str, Any]


T = TypeVar("T")


class Evaluated(Generic[T]):
    """An attribute that is evaluated when it is read."""

    def __init__(self, get: Any, doc: str):
        self.get, self.__doc__ = get, doc

    def __get__(self, owner: Any, kind: Any = None) -> T:
        found: T = self if owner is None else self.get(owner)
        return found


class Contact:
    """A contact or joint by its name. Arrays have an entry for every point, show the present state and are not copied;
    numbers are those of the history: sums over the points, and the smallest gap."""

    def __init__(self, model: "Model", group: Any) -> None:
        self._model = model
        self.name: str = group.name.decode()
        self.count: int = group.count
        self.is_joint: bool = bool(group.is_joint)
        self._span = slice(group.first, group.first + group.count)

    def _rows(self, quantity: int) -> Array:
        return self._model._row_views(quantity)[self._span]

    gaps = Evaluated[Array](lambda k: k._rows(GAP), "Gap of every point, m.")
    gap_rates = Evaluated[Array](lambda k: k._rows(GAP_RATE), "Gap velocity of every point, m/s.")
    forces = Evaluated[Array](lambda k: k._rows(FORCE), "Smooth force of every point over the last step, N.")
    impulses = Evaluated[Array](lambda k: k._rows(IMPULSE), "Impact impulse of every point in the last step, N s.")
    step_impulses = Evaluated[Array](lambda k: k._rows(STEP_IMPULSE), "All of the impulse of every point, N s.")
    tangents = Evaluated[Array](lambda k: np.stack([k._rows(TANGENT), k._rows(TANGENT + 1)], axis=1),
                                "Friction impulses in the last step, [points, 2], N s; a copy.")
    slips = Evaluated[Array](lambda k: np.stack([k._rows(SLIP), k._rows(SLIP + 1)], axis=1),
                             "Tangential velocities, [points, 2], m/s; a copy.")
    gap = Evaluated[float](lambda k: float(k.gaps.min()) if k.count else np.inf, "The smallest gap, m.")
    force = Evaluated[float](lambda k: float(k.forces.sum()), "Sum of the smooth forces, N.")
    impulse = Evaluated[float](lambda k: float(k.impulses.sum()), "Sum of the impact impulses, N s.")
    step_impulse = Evaluated[float](lambda k: float(k.step_impulses.sum()), "Sum of all impulses of the step, N s.")
    is_closed = Evaluated[bool](lambda k: any(p.is_closed for p in k._points()), "Whether a point touches.")
    is_impact = Evaluated[bool](lambda k: any(p.is_impact for p in k._points()), "Has it closed in the last step?")
    restitution = Evaluated[float](lambda k: next((p.restitution for p in k._points()), 0.0), "Newton's coefficient.")
    positions = Evaluated[Array](lambda k: k._model._contact_points()[0][k._span],
                                 "Where the points are, [points, 3], m; a copy.")
    normals = Evaluated[Array](lambda k: k._model._contact_points()[1][k._span],
                               "Unit vectors along which the gaps open, [points, 3]; a copy.")

    def _points(self) -> Iterator[Any]:
        handle = self._model._alive()
        return (lib.percuss_contact_at(handle.pointer, i) for i in range(self._span.start, self._span.stop))

    @property
    def friction(self) -> float:
        """Coulomb's coefficient; may be set where the case has friction."""
        return next((point.friction for point in self._points()), 0.0)

    @friction.setter
    def friction(self, value: float) -> None:
        self._model._call(lib.percuss_set_friction, self.name.encode(), float(value))

    def __repr__(self) -> str:
        return f"<{'joint' if self.is_joint else 'contact'} {self.name}, {self.count} points>"


class _Names(Mapping[str, Any]):
    """Things by name that look themselves up now."""

    def __init__(self, names: Mapping[str, Any], what: str, get: Any) -> None:
        self._names, self._what, self._get = names, what, get

    def __getitem__(self, name: Any) -> Any:
        if name not in self._names:
            raise KeyError(f"there is no {self._what} {name!r}; there are: {', '.join(self._names) or 'none'}")
        return self._get(self._names[name])

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> Any:
        return len(self._names)


class Model:
    """What is built of a case, at a state. Arrays without a copy show the present state, cannot be written, and stay
    good as long as they are kept, also when the model is closed."""

    def __init__(self, handle: Handle) -> None:
        self._handle: Optional[Handle] = handle
        self._lock = threading.RLock()
        self._q: Any = view(handle, lib.percuss_displacement(handle.pointer), (lib.percuss_dofs(handle.pointer),))
        self._v: Any = view(handle, lib.percuss_velocity(handle.pointer), (lib.percuss_dofs(handle.pointer),))
        self._rows: dict[int, Array] = {}
        self._contacts: Optional[_Names] = None
        self._probes: Optional[_Names] = None

    # Life

    def _alive(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ClosedError("the model was closed")
        return handle

    def close(self) -> None:
        """Lets the model go; further use raises ClosedError. It ends by itself when nothing refers to it."""
        self._handle = None
        self._contacts = self._probes = None
        self._rows = {}
        self._q = self._v = None

    def __enter__(self) -> Any:
        self._alive()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @contextlib.contextmanager
    def _entered(self) -> Iterator[Handle]:
        """Within it the model belongs to this thread; fails at once if it is at work in another one."""
        handle = self._alive()
        if not self._lock.acquire(False):
            raise BusyError("the model is at work in another thread")
        try:
            yield handle
        finally:
            self._lock.release()

    def _call(self, function: Any, *arguments: Any) -> None:
        """A call that may fail, alone at the model; what functions of a system of the user's own raise is raised."""
        handle = self._handle or self._alive()  # once per step: neither a call nor a context too much
        if not self._lock.acquire(False):
            raise BusyError("the model is at work in another thread")
        try:
            if handle.owner is None:
                answer = function(handle.pointer, *arguments)
            else:
                with deferred(handle.owner):
                    answer = function(handle.pointer, *arguments)
        finally:
            self._lock.release()
        if answer:
            raise error_of(answer, handle.pointer)

    def _evaluate(self, function: Any, lack: Any = "there is no memory for this vector") -> Array:
        """A vector that is evaluated now, as a copy; `lack` says why there may be none."""
        with self._entered() as handle:
            address = function(handle.pointer)
            if not address:
                raise InputError(lack)
            return view(handle, address, self._q.shape).copy()

    def _each(self, count: Any, at: Any) -> list[Any]:
        """What the library counts by one function and gives by another one."""
        pointer = self._alive().pointer
        return [at(pointer, i) for i in range(count(pointer))]

    # State

    time = Evaluated[float](lambda m: lib.percuss_time(m._alive().pointer), "The present time, s.")
    q = Evaluated[Array](lambda m: m._alive() and m._q, "Positions, [dofs], m or rad; no copy.")
    v = Evaluated[Array](lambda m: m._alive() and m._v, "Velocities, [dofs], m/s or rad/s; no copy.")
    dofs = Evaluated[int](lambda m: lib.percuss_dofs(m._alive().pointer), "Number of equations.")
    length = Evaluated[float](lambda m: lib.percuss_length(m._alive().pointer), "Size of the model, m.")
    a = Evaluated[Array](lambda m: m._evaluate(lib.percuss_acceleration, "scheme wave has no accelerations"),
                         "Accelerations M a = smooth forces + contact forces, [dofs]; not with scheme `wave`.")
    force = Evaluated[Array](lambda m: m._evaluate(lib.percuss_force), "All smooth forces, [dofs], N.")
    internal_force = Evaluated[Array](
        lambda m: m._evaluate(lib.percuss_internal_force, "a system in closed form has no internal forces"),
        "Internal and damping forces, [dofs], N; not of systems in closed form.")
    contact_force = Evaluated[Array](lambda m: m._evaluate(lib.percuss_contact_force),
                                     "Forces of contacts and joints in the mean over the last step, [dofs], N.")

    # Mesh

    nodes = Evaluated[Array](
        lambda m: view(m._alive(), lib.percuss_coordinates(m._handle.pointer),
                       (lib.percuss_nodes(m._handle.pointer), 3)),
        "Reference positions of the nodes, [nodes, 3], m; no copy. None in a system in closed form.")
    cells = Evaluated[Array](
        lambda m: view(m._alive(), lib.percuss_cell_nodes(m._handle.pointer), (lib.percuss_cells(m._handle.pointer), 2),
                       INT), "Nodes of the cells, [cells, 2]; no copy.")

    def _sets(self, is_cells: bool) -> dict[str, Any]:
        return {s.name.decode(errors="replace"): view(self._alive(), s.items, (s.count,), INT)
                for s in self._each(lib.percuss_sets, lib.percuss_set_at) if bool(s.is_cells) == is_cells}

    node_sets = Evaluated[dict[str, Any]](lambda m: m._sets(False), "Numbers of nodes by the name of their set.")
    cell_sets = Evaluated[dict[str, Any]](lambda m: m._sets(True), "Numbers of cells by the name of their set.")

    def node_dofs(self, node: int) -> list[Any]:
        """The ways that a node can move, a Dof each."""
        dofs = (c.Dof * 6)()
        count = lib.percuss_node_dofs(self._alive().pointer, _number(node), dofs)
        return [Dof(d.equation, bool(d.is_rotation), tuple(d.direction)) for d in dofs[:count]]

    def equation(self, node: Union[int, str], axis: str) -> int:
        """The equation of a node, by its number or by a set that holds it alone, along x, y, z or about rx, ry, rz; -1:
        a support holds it."""
        handle = self._alive()
        if axis not in AXES:
            raise InputError(f"axis must be one of {', '.join(AXES)}, is {axis!r}")
        equation = lib.percuss_equation(handle.pointer, self.node(node), AXES[axis])
        if equation == -2:
            raise InputError(f"node {node!r} has no motion along just the axis {axis}")
        return int(equation)

    def node(self, name: Union[int, str]) -> int:
        """Number of the node that a set holds alone."""
        if not isinstance(name, str):
            return _number(name)
        items = self.node_sets.get(name)
        if items is None or len(items) != 1:
            raise InputError(f"there is no set {name!r} of one node")
        return int(items[0])

    coordinates = Evaluated[list[Any]](
        lambda m: [name.decode() for name in m._each(lib.percuss_dofs, lib.percuss_coordinate_name) if name],
        "Names of the coordinates of a system in closed form.")

    def frame(self) -> Frame:
        """The model as it is drawn now."""
        with self._entered() as handle:
            p = lib.percuss_draw(handle.pointer)
            points = [view(handle, x, (p.npoint, 3)).copy() for x in (p.reference, p.displacement, p.velocity)]
            fields = {p.field_names[i].decode(): view(handle, p.fields[i], (p.ncell,)).copy() for i in range(p.nfield)}
            return Frame(lib.percuss_time(handle.pointer), points[0], points[1], points[2], fields)

    # Matrices

    def _matrix(self, kind: int) -> Any:
        from scipy.sparse import csc_matrix
        m = c.Matrix()
        with self._entered() as handle:
            self._call(lib.percuss_matrix_of, kind, byref(m))
            parts = (view(handle, m.value, (m.nnz,)), view(handle, m.row, (m.nnz,), INT),
                     view(handle, m.start, (m.ncol + 1,), INT))
            return csc_matrix(parts, shape=(m.nrow, m.ncol), copy=True)

    M = Evaluated[Any](lambda m: m._matrix(0), "Mass matrix at the present state, a scipy.sparse.csc_matrix.")
    K = Evaluated[Any](lambda m: m._matrix(1), "Stiffness matrix: minus the slopes of the smooth forces by positions.")
    C = Evaluated[Any](lambda m: m._matrix(2), "Damping matrix: minus the slopes of the smooth forces by velocities.")
    G = Evaluated[Any](lambda m: m._matrix(3), "Directions of contacts and joints, a row each: gap velocities are G v.")

    # Contacts, probes, energies

    def _row_views(self, quantity: int) -> Array:
        handle = self._alive()
        rows = self._rows.get(quantity)
        if rows is None:
            stride = c_size_t()
            address = lib.percuss_rows(handle.pointer, quantity, byref(stride))
            rows = view(handle, address, (lib.percuss_contacts(handle.pointer),), strides=(stride.value,))
            self._rows[quantity] = rows
        return rows

    def _contact_points(self) -> tuple[Any, ...]:
        position, normal = c_void_p(), c_void_p()
        with self._entered() as handle:
            self._call(lib.percuss_contact_points, byref(position), byref(normal))
            shape = (lib.percuss_contacts(handle.pointer), 3)
            return view(handle, position.value, shape).copy(), view(handle, normal.value, shape).copy()

    @property
    def contacts(self) -> Mapping[str, Contact]:
        """Contacts and joints by name; a joint that has the name of a contact as joints.NAME."""
        self._alive()
        if self._contacts is None:
            found: dict[str, Contact] = {}
            for group in self._each(lib.percuss_groups, lib.percuss_group_at):
                one = Contact(self, group)
                found[f"joints.{one.name}" if one.name in found else one.name] = one
            self._contacts = _Names(found, "contact", lambda one: one)
        return self._contacts

    @property
    def probes(self) -> Mapping[str, float]:
        """Values of the probes at the present state, by the names of their columns in the history."""
        self._alive()
        if self._probes is None:
            names = self._each(lib.percuss_probes, lib.percuss_probe_name)
            self._probes = _Names({name.decode(): i for i, name in enumerate(names)}, "probe",
                                  lambda i: lib.percuss_probe_at(self._alive().pointer, i))
        return self._probes

    @property
    def energy(self) -> Energy:
        e = lib.percuss_energies(self._alive().pointer)
        return Energy(*(getattr(e, name) for name in Energy._fields))

    def __repr__(self) -> str:
        if self._handle is None:
            return f"<{type(self).__name__}, closed>"
        return f"<{type(self).__name__}, {self.dofs} dofs, {len(self.contacts)} contacts, t = {self.time:g} s>"


def _number(value: Any) -> int:
    """An int that the library can take; what is beyond is no node and no equation."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"a number is wanted, not {type(value).__name__}")
    return int(value) if -2**31 <= value < 2**31 else -1


def vector(value: Sequence[float], length: int, what: str) -> Any:
    """Numbers as an array of doubles of this length for the library."""
    array = np.asarray(value, dtype=float)
    if array.shape != (length,):
        raise InputError(f"{what} must have the shape ({length},), has {array.shape}")
    return (c_double * length)(*array)
