"""Stands in for ParaView's module in tests of view.py: reads files by VTK, draws nothing, and writes what it is told to
the file that the variable DRAWN names, one line of JSON for each picture."""

import json
import os
import pathlib
import struct
import types
import zlib

from vtkmodules.vtkIOLegacy import vtkDataSetReader
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
from vtkmodules.vtkIOXMLParser import vtkXMLDataParser

SCENE = {"sources": [], "shown": [], "colours": None}


class Thing(types.SimpleNamespace):
    """Takes any attribute; a method that it does not have does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


class Arrays:
    def __init__(self, source, place):
        self.source, self.place = source, place

    def _data(self):
        grid = self.source.grid()
        return grid.GetPointData() if self.place == "POINTS" else grid.GetCellData()

    def GetArray(self, name):
        return self._data().GetArray(name)

    def keys(self):
        return [self._data().GetArrayName(i) for i in range(self._data().GetNumberOfArrays())]


class Source:
    def __init__(self, path):
        self.path, self.time, self.title = pathlib.Path(path), None, None
        self.files = [(0.0, self.path)]
        if self.path.suffix == ".series":
            entries = json.loads(self.path.read_text())["files"]
            self.files = [(e["time"], self.path.parent / e["name"]) for e in entries]
        elif self.path.suffix == ".pvd":
            parser = vtkXMLDataParser()
            parser.SetFileName(str(path))
            parser.Parse()
            sets = parser.GetRootElement().GetNestedElement(0)
            entries = [sets.GetNestedElement(i) for i in range(sets.GetNumberOfNestedElements())]
            self.files = [(float(e.GetAttribute("timestep")), self.path.parent / e.GetAttribute("file"))
                          for e in entries]
        self.TimestepValues = [time for time, _ in self.files]
        self.CellData, self.PointData = Arrays(self, "CELLS"), Arrays(self, "POINTS")

    def grid(self):
        """Of the last file that is no later, as ParaView does."""
        passed = [path for time, path in self.files if self.time is None or time <= self.time]
        path = passed[-1] if passed and self.time is not None else self.files[0][1]
        reader = vtkXMLUnstructuredGridReader() if path.suffix == ".vtu" else vtkDataSetReader()
        reader.SetFileName(str(path))
        if path.suffix != ".vtu":
            reader.ReadAllFieldsOn()
        reader.Update()
        return reader.GetOutput()

    def UpdatePipeline(self, time=None):
        self.time = time

    def GetDataInformation(self):
        return Thing(GetBounds=lambda: self.grid().GetBounds())


def OpenDataFile(path):
    SCENE["sources"].append(Source(path))
    return SCENE["sources"][-1]


def RenameSource(title, source):
    source.title = title


class Filter(Thing):
    """Has the data of what it is put on."""

    def __getattr__(self, name):
        if name in ("PointData", "CellData", "GetDataInformation", "UpdatePipeline", "grid"):
            return getattr(self.Input, name)
        return super().__getattr__(name)


def ExtractSurface(**words):
    return Filter(**words)


Tube = ExtractSelection = ExtractSurface


def IDSelectionSource(FieldType, IDs):
    SCENE.setdefault("picked", {})[FieldType] = IDs[1::2]
    return Thing()


def Calculator(**words):
    if words["ResultArrayName"] == "shown":
        SCENE["field"] = [words["AttributeType"], *words["Function"].rsplit("*", 1)]
    return Filter(**words)


def WarpByVector(**words):
    SCENE.setdefault("warps", {})[words["registrationName"]] = words["ScaleFactor"]
    return Filter(**words)


def ProgrammableFilter(**words):
    SCENE["boxes"] = Filter(**words)
    return SCENE["boxes"]


def AnnotateTimeFilter(**words):
    SCENE["text"] = words["Format"]
    return Filter(**words)


def Glyph(**words):
    made = Thing(GlyphTransform=Thing(), **{**words, "GlyphType": Thing()})
    SCENE["arrows" if words["GlyphType"] == "Arrow" else "masses"] = made
    return made


def Transform(**words):
    SCENE["moved"] = Thing(Transform=Thing(), **words)
    return SCENE["moved"]


def Show(source, view):
    SCENE["shown"].append(vars(source).get("title") or vars(source).get("registrationName"))
    return Thing()


def ColorBy(display, array):
    SCENE["colours"] = {"place": array[0], "name": array[1], **({"component": array[2]} if len(array) > 2 else {})}


def GetColorTransferFunction(name):
    return Thing(ApplyPreset=lambda preset, _: SCENE["colours"].update(preset=preset),
                 RescaleTransferFunction=lambda low, high: SCENE["colours"].update(low=low, high=high))


def GetScalarBar(table, view):
    SCENE["bar"] = Thing()
    return SCENE["bar"]


VIEW, ANIMATION = Thing(ViewTime=None), Thing(AnimationTime=None)


def GetActiveViewOrCreate(kind):
    return VIEW


def GetAnimationScene():
    return ANIMATION


def Render(view):
    """The first one resets the camera."""
    if not SCENE.get("is_rendered"):
        view.CameraParallelScale, view.CameraFocalPoint = 1e9, [0.0, 0.0, 0.0]
    SCENE["is_rendered"] = True


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def SaveScreenshot(path, view, ImageResolution):
    """A white picture of two by two, and what it would show."""
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)) +
                                   chunk(b"IDAT", zlib.compress((b"\0" + b"\xff" * 6) * 2)) + chunk(b"IEND", b""))
    line = {"picture": os.path.basename(path), "time": VIEW.ViewTime, "shown": SCENE["shown"],
            "colours": SCENE["colours"], "title": SCENE["bar"].Title if "bar" in SCENE else None,
            "background": VIEW.Background, "scale": VIEW.CameraParallelScale, "focus": list(VIEW.CameraFocalPoint),
            "up": list(VIEW.CameraViewUp), "position": list(VIEW.CameraPosition),
            "arrow": SCENE["arrows"].ScaleFactor if "arrows" in SCENE else None,
            "shift": SCENE["moved"].Transform.Translate if "moved" in SCENE else None, "size": list(ImageResolution),
            "field": SCENE.get("field"), "text": SCENE.get("text"), "warps": SCENE.get("warps"),
            "picked": SCENE.get("picked"), "boxes": SCENE["boxes"].Script if "boxes" in SCENE else None}
    with open(os.environ["DRAWN"], "a") as f:
        f.write(json.dumps(line) + "\n")
