"""Frames that a run writes for ParaView, read into numpy arrays: legacy VTK, VTU, and their series in time.

>>> frames = Frames("results/bar_impact")           # the model
>>> frames.times, frames[0].points, frames[-1].cell_data["stress"]
>>> frames.contacts.at(0.5).point_data["force"]     # contact points of the last frame that is no later than 0.5 s
"""

import io
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from .text import Path, errors_of, read_bytes

Array = npt.NDArray[Any]

_LEGACY = {"float": ">f4", "double": ">f8", "int": ">i4"}
_XML = {"Float32": "f4", "Float64": "f8", "Int32": "i4", "UInt8": "u1"}
_ENDINGS = (".vtk.series", ".pvd")


@dataclass
class Frame:
    """Points and cells of one moment, with the arrays that the program writes for them."""

    time: float  #: s; of statics the load factor, of modes the number of the mode
    points: Array  #: [n, 3] m, as displaced
    cells: Array  #: [m, 2] nodes of lines; of a vertex the same node twice
    polygons: list[Array] = field(default_factory=list)  #: nodes of the faces of obstacles
    point_data: dict[str, Array] = field(default_factory=dict)  #: [n] or [n, 3] each
    cell_data: dict[str, Array] = field(default_factory=dict)  #: [m or number of polygons] or [..., 3] each

    @property
    def displacement(self) -> Array:
        """Displacements of the points, [n, 3] m."""
        return self.point_data["displacement"]

    def check(self) -> "Frame":
        """Raises ValueError where arrays do not fit together."""
        groups = [self.cells.ravel(), *self.polygons]
        nodes = np.concatenate(groups) if groups else np.zeros(0, int)
        if nodes.size and (nodes.min() < 0 or nodes.max() >= len(self.points)):
            raise ValueError("a cell has a node that is not there")
        if any(len(values) != len(self.points) for values in self.point_data.values()):
            raise ValueError("an array does not fit to the points")
        if any(len(values) != (len(self.polygons) or len(self.cells)) for values in self.cell_data.values()):
            raise ValueError("an array does not fit to the cells")
        return self


def _read_legacy(data: bytes, time: float) -> Frame:
    stream = io.BytesIO(data)
    version, _, kind = (stream.readline() for _ in range(3))
    if not version.startswith(b"# vtk DataFile") or kind != b"BINARY\n":
        raise ValueError("it does not begin with '# vtk DataFile' and BINARY")

    def line() -> list[str]:
        """Words of the next line that is not empty; none at the end."""
        return next((words for raw in iter(stream.readline, b"") if (words := raw.decode().split())), [])

    def array(kind: str, count: int) -> Array:
        dtype = np.dtype(_LEGACY[kind])
        raw = stream.read(count * dtype.itemsize) if count >= 0 else b""
        if len(raw) != count * dtype.itemsize:
            raise ValueError("it ends too early")
        return np.frombuffer(raw, dtype, count).astype(dtype.newbyteorder("="))

    def cells(words: list[str]) -> Any:
        """Nodes of each cell, whose number stands before them."""
        flat, at, found = array("int", int(words[2])), 0, []
        if len(flat) == 3 * int(words[1]) and np.all(flat[::3] == 2):  # lines alone, as most models have
            return flat.reshape(-1, 3)[:, 1:]
        for _ in range(int(words[1])):
            found.append(flat[at + 1:at + 1 + flat[at]])
            at += 1 + int(flat[at])
        return found

    frame = Frame(time, np.zeros((0, 3)), np.zeros((0, 2), int))
    place: dict[str, Array] = {}
    while words := line():
        if words[0] == "POINTS":
            frame.points = array(words[2], 3 * int(words[1])).reshape(-1, 3)
        elif words[0] in ("CELLS", "VERTICES", "LINES"):
            found = cells(words)
            ends = found if isinstance(found, np.ndarray) else np.array([(one[0], one[-1]) for one in found], int)
            frame.cells = ends.reshape(-1, 2)
        elif words[0] == "POLYGONS":
            frame.polygons = list(cells(words))
        elif words[0] == "CELL_TYPES":
            array("int", int(words[1]))
        elif words[0] in ("POINT_DATA", "CELL_DATA"):
            place = frame.point_data if words[0] == "POINT_DATA" else frame.cell_data
        elif words[0] == "FIELD":
            for name, ncomponent, ntuple, kind_of in (line() for _ in range(int(words[2]))):
                values = array(kind_of, int(ncomponent) * int(ntuple))
                place[name] = values if ncomponent == "1" else values.reshape(-1, int(ncomponent))
        elif words[0] != "DATASET":
            raise ValueError(f"it has a line {' '.join(words)[:40]!r}")
    if not place:
        raise ValueError("it ends too early")
    return frame.check()


def _read_vtu(data: bytes, time: float) -> Frame:
    head, mark, appended = data.partition(b'<AppendedData encoding="raw">')
    root = ElementTree.fromstring(head + (b"</VTKFile>" if mark else b""))
    order = "<" if root.attrib["byte_order"] == "LittleEndian" else ">"
    start = appended.index(b"_") + 1
    if not data.rstrip().endswith(b"</VTKFile>"):
        raise ValueError("it ends too early")

    def array(node: Any) -> Array:
        at = start + int(node.attrib["offset"])
        count = int(np.frombuffer(appended, order + "u8", 1, at)[0])
        sizes = np.frombuffer(appended, order + "u8", count, at + 24)
        ends = at + 24 + 8 * count + np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        raw = b"".join(zlib.decompress(appended[a:b]) for a, b in zip(ends[:-1], ends[1:]))
        values = np.frombuffer(raw, order + _XML[node.attrib["type"]])
        values = values.astype(values.dtype.newbyteorder("="))
        components = int(node.attrib.get("NumberOfComponents", 1))
        return values if components == 1 else values.reshape(-1, components)

    def arrays(place: str) -> dict[str, Array]:
        return {node.attrib["Name"]: array(node) for node in root.iterfind(f".//{place}/DataArray")}

    cells, points = arrays("Cells"), arrays("Points")["Points"]
    ends = cells["offsets"].astype(int)
    starts = np.concatenate([[0], ends[:-1]]).astype(int)
    nodes = cells["connectivity"].astype(int)
    pairs = np.column_stack([nodes[starts], nodes[ends - 1]]) if len(ends) else np.zeros((0, 2), int)
    return Frame(time, points, pairs, [], arrays("PointData"), arrays("CellData")).check()


def join(pieces: list[Frame], time: float) -> Frame:
    """One frame of the pieces that ranks have written."""
    shifts = np.cumsum([0] + [len(piece.points) for piece in pieces[:-1]])

    def joined(place: str) -> dict[str, Array]:
        parts = [getattr(piece, place) for piece in pieces]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    cells = np.concatenate([piece.cells + shift for piece, shift in zip(pieces, shifts)])
    points = np.concatenate([piece.points for piece in pieces])
    return Frame(time, points, cells, [], joined("point_data"), joined("cell_data"))


def read_frame(path: Path, time: float = np.nan) -> Frame:
    """Reads one .vtk, .vtu or .pvtu file. A file that is missing or damaged raises InputError with one line."""
    path = os.fspath(path)
    with errors_of(path):
        data = read_bytes(path)
        if path.endswith(".pvtu"):
            names = [node.attrib["Source"] for node in ElementTree.fromstring(data).iterfind(".//Piece")]
            return join([read_frame(_beside(path, name), time) for name in names], time)
        return _read_vtu(data, time) if path.endswith(".vtu") else _read_legacy(data, time)


def _beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), os.path.basename(name))


def _read_list(path: str) -> list[tuple[float, str]]:
    """Times and files of a .vtk.series or .pvd file."""
    with errors_of(path):
        data = read_bytes(path)
        if path.endswith(".pvd"):
            entries: Any = (node.attrib for node in ElementTree.fromstring(data).iterfind(".//DataSet"))
            time, name = "timestep", "file"
        else:
            entries, time, name = json.loads(data)["files"], "time", "name"
        listed = [(float(entry[time]), _beside(path, entry[name])) for entry in entries]
        if not np.all(np.isfinite([time for time, _ in listed])):
            raise ValueError("a time is no number")
        return listed


class Frames(Sequence[Frame]):
    """Frames of a results folder, read from their files one by one as they are asked for; empty if it has none."""

    def __init__(self, folder: Path, stem: str = ""):
        """`stem` names the files, `<stem>.vtk.series` or `<stem>.pvd`; without it they are those of the model."""
        self.folder = os.fspath(folder)
        with errors_of(self.folder):
            lists = [name for name in sorted(os.listdir(self.folder)) if name.endswith(_ENDINGS)]
        lists = [name for name in lists if (name in [stem + ending for ending in _ENDINGS] if stem else
                                            not name.startswith(("contacts.", "obstacles.")))]
        path = max((os.path.join(self.folder, name) for name in lists), key=os.path.getmtime, default="")  # the newest
        entries = _read_list(path) if path else []
        self.times: Array = np.array([time for time, _ in entries], float)
        self.paths: list[str] = [name for _, name in entries]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return read_frame(self.paths[index], float(self.times[index]))

    def at(self, time: float) -> Frame:
        """The last frame that is no later than `time`, as a viewer shows it; times must ascend, as those of a run."""
        last = int(np.searchsorted(self.times, time * (1 + 1e-12), side="right")) - 1
        frame: Frame = self[max(last, 0)]
        return frame

    @property
    def contacts(self) -> "Frames":
        """Contact points: gap, force, force_vector, normal, state, ...; written only while something touches."""
        return Frames(self.folder, "contacts")

    @property
    def carried(self) -> "Frames":
        """Bearings, discs and joints that move with their nodes, as polygons."""
        return Frames(self.folder, "obstacles")

    @property
    def obstacles(self) -> Optional[Frame]:
        """Walls, floors and stops that stand still, as polygons; None if there are none."""
        return read_frame(path, 0.0) if os.path.exists(path := os.path.join(self.folder, "obstacles.vtk")) else None
