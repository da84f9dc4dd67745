"""Handles of the library: who owns them, arrays that keep them alive, assignments, and signals while they run."""

from __future__ import annotations

import signal
import threading
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _library as c
from ._library import lib
from .errors import error_of
from .text import assignments, encode

Array = np.ndarray[Any, Any]

DOUBLE = np.dtype(float).str
INT = np.dtype(np.intc).str


class Handle:
    """Owns a handle of the library and ends it when nothing refers to it any more, arrays included."""

    __slots__ = ("pointer", "system", "__weakref__")

    def __init__(self, pointer: int, system: Any = None) -> None:
        self.pointer: Optional[int] = pointer
        self.system = system  # of the user's own: it must live as long

    def __del__(self) -> None:
        pointer = c_void_p(self.pointer)
        self.pointer = None
        lib.percuss_destroy(byref(pointer))


class _Memory:
    """Memory of a handle as NumPy sees it."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def view(owner: Any, address: Optional[int], shape: tuple[Any, ...], kind: str = DOUBLE,
         strides: Optional[tuple[Any, ...]] = None, is_writable: bool = False) -> Array:
    """An array over memory of the library, without a copy, that keeps its owner alive."""
    if not address or 0 in shape:
        return np.zeros(shape, dtype=kind)
    return np.asarray(_Memory(owner, {"version": 3, "shape": shape, "typestr": kind, "strides": strides,
                                      "data": (address, not is_writable)}))


def source_of(case: Any, text: Optional[str], values: Optional[Mapping[str, Any]], system: Any) -> tuple[Any, ...]:
    """The struct that names a case, and what must live as long as it is used."""
    if case is None and text is None:
        raise TypeError("neither a case nor a text is given")
    lines: Sequence[bytes] = [encode(line, "set") for line in assignments(values)]
    array = (c_char_p * max(1, len(lines)))(*lines)
    source = c.Source(None if case is None else encode(case, "case"), None if text is None else encode(text, "text"),
                    len(lines), array, None if system is None else system._address())
    return source, (lines, array)


def open_with(function: Any, case: Any, text: Optional[str], values: Optional[Mapping[str, Any]], system: Any,
              *more: Any) -> Handle:
    """Calls percuss_open, percuss_statics or percuss_modes; what goes wrong is raised."""
    source, keep = source_of(case, text, values, system)
    pointer = c_void_p()
    with Deferred(system is not None) as deferred:
        answer = function(byref(source), *more, byref(pointer))
    del keep
    if not pointer.value:
        raise MemoryError("out of memory: the simulation")
    handle = Handle(pointer.value, system)
    deferred.settle(system)
    if answer != 0:
        raise error_of(answer, handle.pointer)
    return handle


class Deferred:
    """Within it an interrupt from the keyboard is kept: an exception in a function that the library calls back would be
    lost. Other threads than the main one see no signals."""

    __slots__ = ("is_on", "old", "raised")

    def __init__(self, is_wanted: bool = True) -> None:
        self.is_on = is_wanted and threading.current_thread() is threading.main_thread()
        self.old: Any = None
        self.raised: Optional[BaseException] = None

    def _catch(self, number: Any, frame: Any) -> None:
        try:
            if callable(self.old):
                self.old(number, frame)
        except BaseException as error:  # noqa: B902 - raised again by settle
            self.raised = error

    def __enter__(self) -> "Deferred":
        if self.is_on:
            self.old = signal.getsignal(signal.SIGINT)
            self.is_on = callable(self.old)
        if self.is_on:
            signal.signal(signal.SIGINT, self._catch)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.is_on:
            signal.signal(signal.SIGINT, self.old)

    def settle(self, system: Any = None) -> None:
        """Raises what was kept, and what functions of a system of the user's own have raised."""
        raised = system._take_error() if system is not None else None
        raised = raised or self.raised
        self.raised = None
        if raised is not None:
            raise raised
