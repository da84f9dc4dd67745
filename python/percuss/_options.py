"""What a case can be made of."""

from __future__ import annotations

import itertools
from ctypes import CFUNCTYPE, POINTER, c_void_p
from typing import Any, NamedTuple, Optional

from . import _library as c

lib = c.lib


class Option(NamedTuple):
    """A key of a case, or an option of one of its parts; `key` is None for the part itself."""

    section: Optional[str]
    part: str
    summary: str
    key: Optional[str]
    help: Optional[str]
    kind: Optional[str]
    preset: Optional[str]
    is_required: bool
    low: float
    high: float
    choices: Optional[tuple[Any, ...]]


def options() -> list[Any]:
    """Everything that a case can be made of, an Option each."""
    found: list[Any] = []

    def visit(_user: Any, pointer: Any) -> None:
        o = pointer.contents
        choices = [text.decode() for text in itertools.takewhile(bool, o.choices or ())]
        plain = [x.decode() if isinstance(x, bytes) else x for x in (getattr(o, name) for name in Option._fields[:-1])]
        found.append(Option._make([*plain, tuple(choices) or None])._replace(is_required=bool(o.is_required)))

    if lib.percuss_list_options(CFUNCTYPE(None, c_void_p, POINTER(c.Option))(visit), None) != 0:
        raise MemoryError("out of memory: the options")
    return found
