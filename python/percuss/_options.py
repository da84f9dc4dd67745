"""What a case can be made of."""

from __future__ import annotations

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

    def text(data: Any) -> Any:
        return None if data is None else data.decode()

    def visit(_user: Any, pointer: Any) -> None:
        o = pointer.contents
        choices: list[str] = []
        while o.choices and o.choices[len(choices)] is not None:
            choices.append(o.choices[len(choices)].decode())
        found.append(Option(text(o.section), text(o.part), text(o.summary), text(o.key), text(o.help), text(o.kind),
                            text(o.preset), bool(o.is_required), o.low, o.high, tuple(choices) if choices else None))

    if lib.percuss_list_options(CFUNCTYPE(None, c_void_p, POINTER(c.Option))(visit), None) != 0:
        raise MemoryError("out of memory: the options")
    return found
