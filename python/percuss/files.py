"""Files of results: read with one line for what is damaged, written whole or not at all."""

import contextlib
import csv
import json
import os
import stat
from typing import Any, Iterator, Optional, Union

from .errors import InputError

Path = Union[str, "os.PathLike[str]"]


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
