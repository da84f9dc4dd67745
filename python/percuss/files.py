"""Files of results: read with one line for what is damaged, written whole or not at all."""

from __future__ import annotations

import json
import os
from typing import Any, Union

from .errors import InputError

Path = Union[str, "os.PathLike[str]"]


def read_text(path: Path) -> str:
    """The text of a file; InputError names it if it cannot be read."""
    try:
        with open(path, "rb", 0) as file:
            found = file.readall()
        if b"\0" in found:
            raise InputError(f"{os.fspath(path)}: damaged: byte {found.index(0)} is no text")
        return found.decode()
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{os.fspath(path)}: damaged: byte {error.start} is no text") from None


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; InputError names the file and the line if it is damaged."""
    try:
        found = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        place = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        what = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise InputError(f"{os.fspath(path)}{place}: damaged: {what}") from None
    if not isinstance(found, dict):
        raise InputError(f"{os.fspath(path)}: damaged: it holds no object")
    return found


def make_folder(path: str) -> None:
    """Makes a folder and those above it; InputError if it cannot be."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


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
