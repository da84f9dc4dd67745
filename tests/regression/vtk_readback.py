"""Reads every frame of a results folder with VTK's own reader and compares it number by number with a text of what
must be there: python3 vtk_readback.py FOLDER STEM EXPECTED

EXPECTED holds, per frame,
    frame NAME TIME STEP
    points COUNT / COUNT lines of three numbers
    cells COUNT NODES / COUNT lines of node numbers
    point|cell NAME COMPONENTS COUNT TYPE / COUNT lines
Numbers are compared by their bits; an array, frame or entry of the list too few or too many is a difference."""

import json
import pathlib
import sys

try:
    import numpy
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as error:
    print(f"skipped: {error} (python3-numpy, python3-vtk9 or python3-paraview)")
    sys.exit(77)  # what CTest takes for a skipped test

NUMPY_TYPES = {"double": numpy.float64, "int": numpy.int32}


def read_expected(path):
    """A list of frames: dicts with name, time, step, points, cells and arrays {(place, name): values}."""
    lines = iter(pathlib.Path(path).read_text().split("\n"))
    frames = []

    def rows(count, kind):
        return numpy.array([next(lines).split() for _ in range(count)], dtype=kind)

    for line in lines:
        words = line.split()
        if not words:
            continue
        if words[0] == "frame":
            frames.append({"name": words[1], "time": float(words[2]), "step": int(words[3]), "arrays": {}})
        elif words[0] == "points":
            frames[-1]["points"] = rows(int(words[1]), numpy.float64)
        elif words[0] == "cells":
            frames[-1]["cells"] = rows(int(words[1]), numpy.int64)
        else:
            place, name, components, count, kind = words
            frames[-1]["arrays"][place, name] = rows(int(count), NUMPY_TYPES[kind]).reshape(int(count), int(components))
    return frames


def read_frame(path):
    """What VTK makes of a file, in the same form."""
    errors = []
    is_xml = str(path).endswith(".vtu")
    reader = vtk.vtkXMLUnstructuredGridReader() if is_xml else vtk.vtkDataSetReader()
    reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
    reader.SetFileName(str(path))
    if not is_xml:
        reader.ReadAllScalarsOn()
        reader.ReadAllVectorsOn()
        reader.ReadAllFieldsOn()
    reader.Update()
    grid = reader.GetOutput()
    if errors or grid is None:
        raise ValueError(f"{path}: VTK's reader reports an error")
    arrays = {}
    for place, data in ("point", grid.GetPointData()), ("cell", grid.GetCellData()):
        for i in range(data.GetNumberOfArrays()):
            values = vtk_to_numpy(data.GetArray(i))
            arrays[place, data.GetArrayName(i)] = values.reshape(len(values), -1)
    cells = [[grid.GetCell(c).GetPointId(k) for k in range(grid.GetCell(c).GetNumberOfPoints())]
             for c in range(grid.GetNumberOfCells())]
    field = grid.GetFieldData()
    kinds = {grid.GetCellType(c) for c in range(grid.GetNumberOfCells())}
    if len({len(cell) for cell in cells}) == 1:
        cells = numpy.array(cells)
    return {"time": field.GetArray("TIME").GetValue(0), "step": int(field.GetArray("STEP").GetValue(0)),
            "points": vtk_to_numpy(grid.GetPoints().GetData()), "cells": cells, "arrays": arrays, "kinds": kinds}


def differ(actual, expected):
    """None, or what differs; types, shapes and every bit count."""
    if actual.dtype != expected.dtype:
        return f"type {actual.dtype}, expected {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    same = (actual == expected) | ((actual != actual) & (expected != expected))
    if same.all():
        return None
    where = tuple(int(i) for i in numpy.argwhere(~same)[0])
    return f"entry {where} is {actual[where]!r}, expected {expected[where]!r}"


def compare_frame(actual, expected):
    """Yields differences."""
    for key in "time", "step":
        if actual[key] != expected[key]:
            yield f"{key} is {actual[key]!r}, expected {expected[key]!r}"
    lines = {vtk.VTK_LINE} if expected["cells"].shape[1] == 2 else {vtk.VTK_VERTEX}
    if actual["kinds"] != lines:
        yield f"cell types {actual['kinds']}, expected {lines}"
    for key in "points", "cells":
        what = differ(actual[key], expected[key])
        if what:
            yield f"{key}: {what}"
    for key in sorted(actual["arrays"].keys() ^ expected["arrays"].keys()):
        yield f"array {key} is on one side only"
    for key in sorted(actual["arrays"].keys() & expected["arrays"].keys()):
        what = differ(actual["arrays"][key], expected["arrays"][key])
        if what:
            yield f"{key[0]} data {key[1]}: {what}"


def compare(folder, stem, frames):
    """Yields differences between a folder's series and the frames that must be there."""
    folder = pathlib.Path(folder)
    series = json.loads((folder / f"{stem}.vtk.series").read_text())
    if series.get("file-series-version") != "1.0":
        yield f"version of the list is {series.get('file-series-version')!r}"
    listed = [(entry["name"], entry["time"]) for entry in series["files"]]
    wanted = [(frame["name"], frame["time"]) for frame in frames]
    if listed != wanted:
        yield f"the list has {listed}, expected {wanted}"
    present = {path.name for path in folder.glob(f"{stem}_*")}
    if present != {frame["name"] for frame in frames}:
        yield f"files {sorted(present)}, expected {[frame['name'] for frame in frames]}"
    for frame in frames:
        for what in compare_frame(read_frame(folder / frame["name"]), frame):
            yield f"{frame['name']}: {what}"


def main():
    folder, stem, expected = sys.argv[1:]
    frames = read_expected(expected)
    if not frames:
        sys.exit("nothing to compare")
    differences = list(compare(folder, stem, frames))
    for difference in differences[:20]:
        print(difference)
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
