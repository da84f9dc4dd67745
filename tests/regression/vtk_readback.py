"""Frames as VTK's own readers have them."""

import sys

try:
    import numpy
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkPolyData  # noqa: F401, all of VTK takes a third of a second
    from vtkmodules.vtkFiltersCore import vtkFeatureEdges  # noqa: F401
    from vtkmodules.vtkIOLegacy import vtkDataSetReader, vtkPolyDataReader  # noqa: F401
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError as error:
    print(f"skipped: {error} (python3-numpy, python3-vtk9 or python3-paraview)")
    sys.exit(77)  # what CTest takes for a skipped test


def read_frame(path):
    """Time, step, points, cells, arrays {(place, name): values} and cell types of a file."""
    errors = []
    is_xml = str(path).endswith(".vtu")
    reader = vtkXMLUnstructuredGridReader() if is_xml else vtkDataSetReader()
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
