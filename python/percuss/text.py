"""Texts and files: values as cases have them, parts, numbers, suggestions; files of results are read with one line for
what is damaged, and written whole or not at all."""

import contextlib
import csv
import json
import os
import re
import stat
from typing import Any, Iterable, Iterator, Mapping, Optional, Union

from .errors import InputError

Path = Union[str, "os.PathLike[str]"]


# ---- Texts ----

def suggest(word: str, names: Iterable[str]) -> str:
    """", did you mean 'x'?" with the nearest of the names, or ""."""
    import difflib
    found = difflib.get_close_matches(word, list(names), n=1, cutoff=0.7)
    return f", did you mean '{found[0]}'?" if found else ""


def split_outside(text: str) -> list[str]:
    """Parts between commas that stand outside of brackets and quotes."""
    parts: list[str] = []
    is_open = False
    for piece in text.split(","):
        parts[-1:] = [f"{parts[-1]},{piece}"] if is_open else [*parts[-1:], piece]
        rest = re.sub(r"""^\s*('[^']*'|"[^"]*")""", "", parts[-1])
        is_open = bool(re.match(r"\s*['\"]", rest)) or sum(map(rest.count, "([{")) > sum(map(rest.count, ")]}"))
    return parts


def text_of(value: Any, quotes: bool = False) -> str:
    """A value as it would stand in a case file; texts that YAML would take for more get quotes if they are wanted."""
    if hasattr(value, "tolist"):  # of NumPy and pandas
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text_of(v, quotes) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k}: {text_of(v, quotes)}" for k, v in value.items()) + " }"
    text = repr(value) if isinstance(value, float) else str(value)
    is_odd = text.strip() != text or not text or re.search(r"[,:\[\]{}#&*!|>'\"%@`\n]", text)
    return "'" + text.replace("'", "''") + "'" if quotes and is_odd and "${" not in text else text


def assignments(values: Optional[Mapping[str, Any]]) -> list[str]:
    """{"time.end": 1} as the library wants it: ["time.end=1"]."""
    if values is None:
        return []
    if not isinstance(values, Mapping):
        raise TypeError(f"set must be a mapping of keys to values, is {type(values).__name__}")
    return [f"{key}={text_of(value)}" for key, value in values.items()]


def encode(text: Union[str, "os.PathLike[str]", bytes], what: str) -> bytes:
    """A text as the library takes it."""
    if not isinstance(text, (str, bytes, os.PathLike)):
        raise TypeError(f"{what} must be a text, is {type(text).__name__}")
    data = os.fsencode(text)
    if b"\0" in data:
        raise InputError(f"{what} has a null character")
    return data


def whole(name: str, value: Any, low: int, high: int = 2**31 - 1) -> int:
    """The value of an option that is a whole number, or the text of one."""
    if not re.fullmatch(r"[+-]?\d{1,18}", str(value)) or not low <= int(value) <= high:
        raise InputError(f"{name} must be a whole number from {low} to {high}, is '{value}'")
    return int(value)


def real(name: str, value: Any, low: float, high: float, wanted: str) -> float:
    """The value of an option that is a number, low <= value < high, or the text of one."""
    try:
        found = float(value)
    except ValueError:
        found = high
    if not low <= found < high:
        raise InputError(f"{name} must be {wanted}, is '{value}'")
    return found


# ---- Files ----

@contextlib.contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Makes what goes wrong within it one line that names the file or folder: it is not there, or it is damaged."""
    try:
        yield
    except (InputError, ImportError):
        raise
    except OSError as error:
        raise InputError(f"{error.filename or os.fspath(path)}: {error.strerror}") from None
    except Exception as error:  # whatever a reader stumbles over
        place = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        what = str(error) if isinstance(error, (ValueError, csv.Error)) else f"{type(error).__name__}: {error}"
        raise InputError(f"{os.fspath(path)}{place}: damaged: {' '.join(what.split())[:200]}") from None


def read_bytes(path: Path) -> bytes:
    """All of a regular file of bounded size; InputError names it if it cannot be read. Waits for no pipe."""
    with errors_of(path), open(path, "rb", 0, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > 16 << 30:
            raise InputError(f"{os.fspath(path)}: it is no regular file of at most 16 GB")
        return file.readall()


def read_text(path: Path) -> str:
    """The text of a file; InputError names it if it cannot be read."""
    with errors_of(path):
        found = read_bytes(path)
        if b"\0" in found:
            raise ValueError(f"byte {found.index(0)} is no text")
        return found.decode()


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; InputError names the file and the line if it is damaged."""
    with errors_of(path):
        found = json.loads(read_text(path))
        if not isinstance(found, dict):
            raise ValueError("it holds no object")
        return found


@contextlib.contextmanager
def folder_of(output: Optional[Path]) -> Iterator[str]:
    """The folder of results, or without a name one that goes at the end."""
    if output is not None:
        yield os.fspath(output)
        return
    import tempfile
    with tempfile.TemporaryDirectory(prefix="percuss-") as folder:
        yield os.path.join(folder, "results")


def write_file(path: Path, content: Union[str, bytes]) -> None:
    """Writes a file aside and renames it, so that it is whole or as it was."""
    part = os.fspath(path) + ".part"
    try:
        with open(part, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
