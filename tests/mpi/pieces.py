"""Frames in pieces: VTK's XML files read without VTK, put together, and compared with a frame of one file.

A cell is known by the places of its ends in the reference state, position - displacement; values at points are compared
at the ends of cells, so that points may repeat."""

import os
import re
import struct
import xml.etree.ElementTree
import zlib

FORMATS = {"Float64": "d", "Float32": "f", "Int32": "i", "UInt8": "B"}


def unpack(data, offset, kind):
    """An appended array: [blocks] [bytes of one] [of the last] [of each, compressed] and the blocks."""
    count, size, last = struct.unpack_from("<3Q", data, offset)
    sizes = struct.unpack_from(f"<{count}Q", data, offset + 24)
    at, raw = offset + 24 + 8 * count, b""
    for packed in sizes:
        raw += zlib.decompress(data[at:at + packed])
        at += packed
    assert len(raw) == (count * size if last == 0 else (count - 1) * size + last), (count, size, last, len(raw))
    return struct.unpack(f"<{len(raw) // struct.calcsize(FORMATS[kind])}{FORMATS[kind]}", raw)


def read_grid(path):
    """{(place, name): (components, values)} of one file; places are PointData, CellData, Points and Cells."""
    with open(path, "rb") as file:
        text = file.read()
    head, data = text.split(b'<AppendedData encoding="raw">\n_', 1)
    assert data.endswith(b"\n  </AppendedData>\n</VTKFile>\n"), path
    root = xml.etree.ElementTree.fromstring(head + b"</VTKFile>")
    piece = root.find("UnstructuredGrid").find("Piece")
    grid = {"npoint": int(piece.get("NumberOfPoints")), "ncell": int(piece.get("NumberOfCells"))}
    for place in piece:
        for array in place:
            width = int(array.get("NumberOfComponents"))
            values = unpack(data, int(array.get("offset")), array.get("type"))
            grid[place.tag, array.get("Name")] = (width, values)
    for field in root.find("UnstructuredGrid").find("FieldData"):
        grid[field.get("Name")] = float(field.text)
    return grid


def read_index(path):
    """Names of the pieces, and what arrays are promised."""
    root = xml.etree.ElementTree.parse(path).getroot().find("PUnstructuredGrid")
    arrays = {(place.tag[1:], a.get("Name")): int(a.get("NumberOfComponents")) for place in root if place.tag != "Piece"
              for a in place}
    return [p.get("Source") for p in root.findall("Piece")], arrays


def read_frame(path):
    """The grids of a frame, one or more."""
    if not path.endswith(".pvtu"):
        return [read_grid(path)]
    names, arrays = read_index(path)
    grids = [read_grid(os.path.join(os.path.dirname(path), name)) for name in names]
    for grid in grids:
        assert {key: value[0] for key, value in grid.items() if key[0] in ("PointData", "CellData", "Points")} == arrays
    return grids


def read_list(path):
    sets = xml.etree.ElementTree.parse(path).getroot().find("Collection").findall("DataSet")
    return [(float(s.get("timestep")), os.path.join(os.path.dirname(path), s.get("file"))) for s in sets]


def row(array, i):
    width, values = array
    return values[width * i:width * (i + 1)]


def place(grid, point):
    x, u = row(grid["Points", "Points"], point), row(grid["PointData", "displacement"], point)
    return tuple(round(a - b, 7) + 0.0 for a, b in zip(x, u))


def put_together(grids):
    """{ends: [{array: values}]} of the cells with these ends, nearly always one, and of points that no cell has."""
    cells, alone = {}, {}
    for grid in grids:
        corners, ends = grid["Cells", "connectivity"][1], (0,) + grid["Cells", "offsets"][1]
        point_arrays = [name for name in grid if name[0] in ("PointData", "Points")]
        used = set()
        for c in range(grid["ncell"]):
            points = corners[ends[c]:ends[c + 1]]
            used.update(points)
            values = {name: row(array, c) for name, array in grid.items() if name[0] == "CellData"}
            values.update({name: [x for p in points for x in row(grid[name], p)] for name in point_arrays})
            cells.setdefault(tuple(place(grid, p) for p in points), []).append(values)
        for p in set(range(grid["npoint"])) - used:
            alone.setdefault(place(grid, p), []).append({name: row(grid[name], p) for name in point_arrays})
    return cells, alone


def largest(frames):
    """{array: its largest value} of frames; in one of them an array may be nothing but round-off."""
    sizes = {}
    for grid in (grid for frame in frames for grid in frame):
        for name in (name for name in grid if name[0] in ("PointData", "CellData", "Points")):
            sizes[name] = max(sizes.get(name, 0.0), max(map(abs, grid[name][1]), default=0.0))
    return sizes


def compare_lists(one, other, tolerance):
    """Frames as `read_list` gives them, each with the other; the least number of arrays that they have."""
    pairs = [(read_frame(x), read_frame(y)) for (_, x), (_, y) in zip(one, other)]
    sizes = largest([x for x, _ in pairs])
    return min(len(compare(x, y, tolerance, sizes)) for x, y in pairs)


def compare(one, other, tolerance, sizes):
    """The frames have the same cells, each as often, and points without cells, and the same values there, relative to
    the sizes of their arrays. Gives the names of the arrays."""
    names = set()
    for a, b in zip(put_together(one), put_together(other)):
        assert {k: len(x) for k, x in a.items()} == {k: len(x) for k, x in b.items()}, sorted(a.keys() ^ b.keys())[:4]
        found = {name for cells in a.values() for values in cells for name in values}
        names |= found
        for name in found:
            size = sizes[name]
            for key in a:
                for x, y in zip(*(sorted(tuple(values[name]) for values in cells) for cells in (a[key], b[key]))):
                    worst = max(map(lambda p, q: abs(p - q), x, y))
                    assert len(x) == len(y) and worst <= tolerance * size, (name, key, x, y, size)
    for grid in one + other:
        assert (grid["TIME"], grid["STEP"]) == (one[0]["TIME"], one[0]["STEP"])
    return names


def read_polygons(path):
    """Coordinates of the points, and what follows them as it is, of a legacy file of polygons."""
    with open(path, "rb") as file:
        text = file.read()
    body = re.split(rb"POINTS \d+ double\n", text, maxsplit=1)[1]
    count = 3 * int(re.search(rb"POINTS (\d+)", text).group(1))
    return struct.unpack_from(f">{count}d", body), body[8 * count:]


def files_of(folder, stem):
    """Frames, pieces and what is left of them in a folder."""
    return sorted(n for n in os.listdir(folder) if re.match(re.escape(stem) + r"(_held)?_\d+(_\d+)?\.p?vt[ku]", n))
