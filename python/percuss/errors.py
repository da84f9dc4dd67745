"""Exceptions, with the messages of the library and their places."""

from ctypes import byref
from typing import NamedTuple, Optional

from . import _library as c
from ._library import lib


class Message(NamedTuple):
    """One line of a message; of what has no place, `file` is "" and the numbers are 0."""

    file: str
    line: int
    column: int
    text: str


class PercussError(Exception):
    """Anything that the library refuses or cannot do. `messages` are its lines, with their places."""

    def __init__(self, text: str, messages: Optional[list[Message]] = None):
        super().__init__(text)
        self.messages: list[Message] = messages or []


class InputError(PercussError, ValueError):
    """The case, or an argument, is wrong."""


class SimulationError(PercussError, RuntimeError):
    """The simulation cannot go on; its state is the last good one."""


class ClosedError(PercussError, RuntimeError):
    """The object was closed."""


class BusyError(PercussError, RuntimeError):
    """The object is at work, in another thread or in the call that has called back."""


def error_of(answer: int, pointer: Optional[int]) -> PercussError:
    """The exception for an answer of the library."""
    text = lib.percuss_message(pointer).decode(errors="replace")
    messages, place, i = [], c.Place(), 0
    while pointer and lib.percuss_message_at(pointer, i, byref(place)):
        line = place.text[:place.text_length].decode(errors="replace")
        messages.append(Message(place.file.decode(errors="replace"), place.line, place.column, line))
        i += 1
    kind = SimulationError if answer == 1 else InputError
    return kind(text or "the call is not possible now", messages)
