"""Models at a state: what simulations and equilibria have in common to be read."""

from __future__ import annotations

import threading
from ctypes import byref, c_double, c_size_t, c_void_p, create_string_buffer
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _library as c
from ._handle import INT, Handle, view
from .errors import BusyError, ClosedError, InputError, error_of
from .text import encode

Array = np.ndarray[Any, Any]

lib = c.lib
AXES = {"x": 0, "y": 1, "z": 2, "rx": 3, "ry": 4, "rz": 5}
GAP, GAP_RATE, FORCE, IMPULSE, STEP_IMPULSE, TANGENT, _, SLIP = range(8)


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


class Sparse(NamedTuple):
    """A matrix by columns, where SciPy is not installed."""

    data: Array
    indices: Array
    indptr: Array
    shape: tuple[Any, ...]

    def toarray(self) -> Array:
        out = np.zeros(self.shape)
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))
        np.add.at(out, (self.indices, columns), self.data)
        return out


class Contact:
    """A contact or joint by its name. Arrays have an entry for every point, show the present state and are not copied;
    numbers are those of the history: sums over the points, and the smallest gap."""

    def __init__(self, model: "Model", group: c.Group) -> None:
        self._model = model
        self.name: str = group.name.decode()
        self.count: int = group.count
        self.is_joint: bool = bool(group.is_joint)
        self._first = group.first

    def _rows(self, quantity: int) -> Array:
        return self._model._row_views(quantity)[self._first:self._first + self.count]

    @property
    def gaps(self) -> Array:
        """Gap of every point, m."""
        return self._rows(GAP)

    @property
    def gap_rates(self) -> Array:
        """Gap velocity of every point, m/s."""
        return self._rows(GAP_RATE)

    @property
    def forces(self) -> Array:
        """Smooth force of every point over the last step, N."""
        return self._rows(FORCE)

    @property
    def impulses(self) -> Array:
        """Impact impulse of every point in the last step, N s."""
        return self._rows(IMPULSE)

    @property
    def step_impulses(self) -> Array:
        """All of the impulse of every point in the last step, N s."""
        return self._rows(STEP_IMPULSE)

    @property
    def tangents(self) -> Array:
        """Friction impulses in the last step, [points, 2], N s; a copy."""
        return np.stack([self._rows(TANGENT), self._rows(TANGENT + 1)], axis=1)

    @property
    def slips(self) -> Array:
        """Tangential velocities, [points, 2], m/s; a copy."""
        return np.stack([self._rows(SLIP), self._rows(SLIP + 1)], axis=1)

    @property
    def gap(self) -> float:
        return float(self.gaps.min()) if self.count else np.inf

    @property
    def force(self) -> float:
        return float(self.forces.sum())

    @property
    def impulse(self) -> float:
        return float(self.impulses.sum())

    @property
    def step_impulse(self) -> float:
        return float(self.step_impulses.sum())

    def _points(self) -> Iterator[c.Contact]:
        handle = self._model._alive()
        return (lib.percuss_contact_at(handle.pointer, i) for i in range(self._first, self._first + self.count))

    @property
    def is_closed(self) -> bool:
        return any(point.is_closed for point in self._points())

    @property
    def is_impact(self) -> bool:
        """Has it closed in the last step?"""
        return any(point.is_impact for point in self._points())

    @property
    def restitution(self) -> float:
        return next((point.restitution for point in self._points()), 0.0)

    @property
    def friction(self) -> float:
        """Coulomb's coefficient; may be set where the case has friction."""
        return next((point.friction for point in self._points()), 0.0)

    @friction.setter
    def friction(self, value: float) -> None:
        self._model._call(lib.percuss_set_friction, self.name.encode(), float(value))

    @property
    def positions(self) -> Array:
        """Where the points are, [points, 3], m; a copy."""
        return np.asarray(self._model._contact_points()[0][self._first:self._first + self.count])

    @property
    def normals(self) -> Array:
        """Unit vectors along which the gaps open, [points, 3]; a copy."""
        return np.asarray(self._model._contact_points()[1][self._first:self._first + self.count])

    def __repr__(self) -> str:
        return f"<{'joint' if self.is_joint else 'contact'} {self.name}, {self.count} points>"


class _Names(Mapping[str, Any]):
    """Things by name that look themselves up now."""

    def __init__(self, names: Mapping[str, Any], what: str, get: Any) -> None:
        self._names, self._what, self._get = names, what, get

    def __getitem__(self, name: Any) -> Any:
        if name not in self._names:
            known = ", ".join(self._names) or "none"
            raise KeyError(f"there is no {self._what} {name!r}; there are: {known}")
        return self._get(self._names[name])

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> Any:
        return len(self._names)

    def __repr__(self) -> Any:
        return f"<{self._what}s: {', '.join(self._names)}>"


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

    def _enter(self) -> Handle:
        """Takes the lock of the model or fails at once: no thread waits for another."""
        handle = self._alive()
        if not self._lock.acquire(False):
            raise BusyError("the model is at work in another thread")
        return handle

    def _call(self, function: Any, *arguments: Any) -> None:
        """A call that may fail, alone at the model."""
        handle = self._enter()
        try:
            answer = function(handle.pointer, *arguments)
            if answer:
                raise error_of(answer, handle.pointer)
        finally:
            self._lock.release()

    def _evaluate(self, function: Any, lack: Any="there is no memory for this vector") -> Array:
        """A vector that is evaluated now, as a copy; `lack` says why there may be none."""
        handle = self._enter()
        try:
            address = function(handle.pointer)
            if not address:
                raise InputError(lack)
            return view(handle, address, self._q.shape).copy()
        finally:
            self._lock.release()

    # State

    @property
    def time(self) -> float:
        return float(lib.percuss_time(self._alive().pointer))

    @property
    def q(self) -> Array:
        """Positions, [dofs], m or rad; no copy."""
        self._alive()
        found: Array = self._q
        return found

    @property
    def v(self) -> Array:
        """Velocities, [dofs], m/s or rad/s; no copy."""
        self._alive()
        found: Array = self._v
        return found

    @property
    def dofs(self) -> int:
        """Number of equations."""
        return int(lib.percuss_dofs(self._alive().pointer))

    @property
    def length(self) -> float:
        """Size of the model, m."""
        return float(lib.percuss_length(self._alive().pointer))

    @property
    def a(self) -> Array:
        """Accelerations M a = smooth forces + contact forces, [dofs]; not with scheme `wave`."""
        return self._evaluate(lib.percuss_acceleration, "scheme wave has no accelerations")

    @property
    def force(self) -> Array:
        """All smooth forces, [dofs], N."""
        return self._evaluate(lib.percuss_force)

    @property
    def internal_force(self) -> Array:
        """Internal and damping forces, [dofs], N; not of systems in closed form."""
        return self._evaluate(lib.percuss_internal_force, "a system in closed form has no internal forces")

    @property
    def contact_force(self) -> Array:
        """Forces of contacts and joints in the mean over the last step, [dofs], N."""
        return self._evaluate(lib.percuss_contact_force)

    # Mesh

    @property
    def nodes(self) -> Array:
        """Reference positions of the nodes, [nodes, 3], m; no copy. None in a system in closed form."""
        handle = self._alive()
        return view(handle, lib.percuss_coordinates(handle.pointer), (lib.percuss_nodes(handle.pointer), 3))

    @property
    def cells(self) -> Array:
        """Nodes of the cells, [cells, 2]; no copy."""
        handle = self._alive()
        return view(handle, lib.percuss_cell_nodes(handle.pointer), (lib.percuss_cells(handle.pointer), 2), INT)

    def _sets(self, is_cells: bool) -> dict[str, Any]:
        handle = self._alive()
        found = (lib.percuss_set_at(handle.pointer, i) for i in range(lib.percuss_sets(handle.pointer)))
        return {s.name.decode(): view(handle, s.items, (s.count,), INT) for s in found if bool(s.is_cells) == is_cells}

    @property
    def node_sets(self) -> dict[str, Any]:
        """Numbers of nodes by the name of their set; no copies."""
        return self._sets(False)

    @property
    def cell_sets(self) -> dict[str, Any]:
        """Numbers of cells by the name of their set; no copies."""
        return self._sets(True)

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

    def name_equation(self, equation: int) -> str:
        """What an equation is about."""
        text = create_string_buffer(256)
        lib.percuss_name_equation(self._alive().pointer, _number(equation), len(text), text)
        return text.value.decode(errors="replace")

    @property
    def coordinates(self) -> list[Any]:
        """Names of the coordinates of a system in closed form."""
        handle = self._alive()
        names = (lib.percuss_coordinate_name(handle.pointer, i) for i in range(self.dofs))
        return [name.decode() for name in names if name is not None]

    def frame(self) -> Frame:
        """The model as it is drawn now."""
        handle = self._enter()
        try:
            p = lib.percuss_draw(handle.pointer)
            shape = (p.npoint, 3)
            fields = {p.field_names[i].decode(): view(handle, p.fields[i], (p.ncell,)).copy() for i in range(p.nfield)}
            return Frame(lib.percuss_time(handle.pointer), view(handle, p.reference, shape).copy(),
                         view(handle, p.displacement, shape).copy(), view(handle, p.velocity, shape).copy(), fields)
        finally:
            self._lock.release()

    # Matrices

    def _matrix(self, kind: int) -> Any:
        handle, m = self._enter(), c.Matrix()
        try:
            self._call(lib.percuss_matrix_of, kind, byref(m))
            parts = (view(handle, m.value, (m.nnz,)).copy(), view(handle, m.row, (m.nnz,), INT).copy(),
                     view(handle, m.start, (m.ncol + 1,), INT).copy())
        finally:
            self._lock.release()
        try:
            from scipy.sparse import csc_matrix
        except ImportError:
            return Sparse(*parts, (m.nrow, m.ncol))
        return csc_matrix(parts, shape=(m.nrow, m.ncol))

    @property
    def M(self) -> Any:
        """Mass matrix at the present state: scipy.sparse.csc_matrix, or Sparse where SciPy is missing."""
        return self._matrix(0)

    @property
    def K(self) -> Any:
        """Stiffness matrix: minus the derivative of the smooth forces by positions."""
        return self._matrix(1)

    @property
    def C(self) -> Any:
        """Damping matrix: minus the derivative of the smooth forces by velocities."""
        return self._matrix(2)

    @property
    def G(self) -> Any:
        """Directions of contacts and joints, a row each: gap velocities are G v."""
        return self._matrix(3)

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
        handle, position, normal = self._enter(), c_void_p(), c_void_p()
        try:
            self._call(lib.percuss_contact_points, byref(position), byref(normal))
            shape = (lib.percuss_contacts(handle.pointer), 3)
            return view(handle, position.value, shape).copy(), view(handle, normal.value, shape).copy()
        finally:
            self._lock.release()

    @property
    def contacts(self) -> Mapping[str, Contact]:
        """Contacts and joints by name."""
        handle = self._alive()
        if self._contacts is None:
            groups = [lib.percuss_group_at(handle.pointer, i) for i in range(lib.percuss_groups(handle.pointer))]
            self._contacts = _Names({g.name.decode(): Contact(self, g) for g in groups}, "contact", lambda one: one)
        return self._contacts

    @property
    def probes(self) -> Mapping[str, float]:
        """Values of the probes at the present state, by the names of their columns in the history."""
        handle = self._alive()
        if self._probes is None:
            count = lib.percuss_probes(handle.pointer)
            names = {lib.percuss_probe_name(handle.pointer, i).decode(): i for i in range(count)}
            self._probes = _Names(names, "probe", lambda i: lib.percuss_probe_at(self._alive().pointer, i))
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


__all__ = ["Model", "Contact", "Energy", "Check", "Reaction", "Dof", "Frame", "Sparse", "encode"]
