"""Shows results in ParaView: the body coloured by stress, obstacles, contact forces as arrows. Lies beside the results:

  paraview --script=view.py          or Tools > Python Shell > Run Script in an open ParaView
  pvpython view.py picture.png [TIME|peak] [FIELD]  writes a picture, at the largest contact force by default;
                                                    of modes TIME is the number of a mode
  pvpython view.py movie.mp4 all [FIELD]            writes a movie of all frames, by ffmpeg; also .webm and .gif

Reads view.json, the frames and summary.json of its folder, or of the one that the variable PERCUSS_RESULTS names.
"""

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Optional, Sequence

import numpy as np

if __name__ != "percuss.view":  # of which plots and reports take names and the moment that shows most
    import paraview.simple as pv
    from paraview import servermanager
    from vtkmodules.util.numpy_support import vtk_to_numpy

COLOURS = ["bending_stress", "stress", "axial_force", "strain_energy", "kinetic_energy"]  # the first that is there
UNITS = {"stress": "Pa", "bending_stress": "Pa", "axial_force": "N", "shear_force": "N", "shear_y": "N", "shear_z": "N",
         "force": "N", "moment": "N m", "torque": "N m", "moment_start": "N m", "moment_end": "N m", "moment_y": "N m",
         "moment_z": "N m", "strain_energy": "J", "kinetic_energy": "J", "angular_momentum": "N m s",
         "elongation": "m", "bending_moment": "N m", "displacement": "m", "velocity": "m/s", "rotation": "rad"}
PREFIXES = {-12: "p", -9: "n", -6: "\u00b5", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
PREFIXED = {"m", "s", "N", "Pa", "J", "Hz", "W", "m/s", "N m", "N s", "rad"}
NO_LARGE = {"s", "rad", "m", "m/s"}  # ks, km and the like are not used
WIDTH, MOST_HEIGHT, LEAST_HEIGHT = 1280, 900, 340  # of a picture, pixels
ABOVE, BELOW = 50, 110  # for the text and the scale, pixels
AXES = ["x", "y", "z"]
SHOWN = "shown"  # array that colours show, in the unit of the scale
CODECS = {".mp4": ["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"],
          ".webm": ["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0"],
          ".gif": ["-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse"]}
# Cells with rectangular sections as boxes; runs in ParaView's pipeline. SECTIONS and TIMES are put before it.
BOXES = """
import numpy as np
from vtkmodules.numpy_interface import dataset_adapter as dsa
from vtkmodules.util.numpy_support import numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkCellArray
grid = inputs[0]
cells, sizes = [], []
for first, count, height, width in SECTIONS:
    cells += range(first, first + count)
    sizes += [(TIMES * height, TIMES * width)] * count
cells, sizes = np.array(cells), np.array(sizes)
listed = grid.VTKObject.GetCells()
starts, ids = (vtk_to_numpy(array) for array in (listed.GetOffsetsArray(), listed.GetConnectivityArray()))
nodes = ids[starts[cells][:, None] + [0, 1]]
ends = np.asarray(grid.Points)[nodes]
axis = ends[:, 1] - ends[:, 0]
axis /= np.linalg.norm(axis, axis=1)[:, None]
up = np.asarray(grid.CellData['section_y'])[cells]
across = np.cross(axis, up)
corners = [ends[:, e] + 0.5 * (a * sizes[:, :1] * up + b * sizes[:, 1:] * across)
           for e in (0, 1) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
output.Points = dsa.numpyTovtkDataArray(np.stack(corners, axis=1).reshape(-1, 3).copy(), 'points')
faces = np.array([[0, 1, 2, 3], [7, 6, 5, 4], [0, 4, 5, 1], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 4, 0]])
quads = (8 * np.arange(len(cells))[:, None, None] + faces).reshape(-1, 4)
listed = np.column_stack([np.full(len(quads), 4), quads]).astype(np.int64).ravel()
polygons = vtkCellArray()
polygons.SetCells(len(quads), numpy_to_vtkIdTypeArray(listed, deep=1))
output.VTKObject.SetPolys(polygons)
of_corner = np.repeat(nodes, 4, axis=1).reshape(-1)
for name in grid.PointData.keys():
    output.PointData.append(np.asarray(grid.PointData[name])[of_corner], name)
for name in grid.CellData.keys():
    output.CellData.append(np.repeat(np.asarray(grid.CellData[name])[cells], 6, axis=0), name)
"""


def folder() -> str:
    """Where the results are: beside this file, whose name ParaView's own command line has, or where ParaView works."""
    if os.environ.get("PERCUSS_RESULTS"):
        return os.environ["PERCUSS_RESULTS"]
    names = [globals().get("__file__", ""), main.__code__.co_filename]
    if os.path.exists("/proc/self/cmdline"):  # an open ParaView does not pass its arguments on
        with open("/proc/self/cmdline", encoding="utf-8", errors="surrogateescape") as f:
            words = f.read().split("\0")
        names += [word.partition("=")[2] for word in words if word.startswith("--script=")]
    places = [os.path.dirname(os.path.abspath(name)) for name in names if name] + [os.getcwd()]
    return next((place for place in places if os.path.isfile(os.path.join(place, "view.json"))), places[-1])


def open_path(name: str) -> Optional[str]:
    """The path of a file of the folder, None if it is not there."""
    return path if os.path.isfile(path := os.path.join(folder(), name)) else None


def read_json(name: str) -> dict[str, Any]:
    """A file of the folder; {} if it is not there, as summary.json while the run goes on."""
    path = open_path(name)
    if path is None:
        return {}
    with open(path, encoding="utf-8") as f:
        found: dict[str, Any] = json.load(f)
    return found


def open_file(name: str, title: str) -> Any:
    """A reader, None if there is no such file."""
    path = open_path(name)
    if path is None:
        return None
    source = pv.OpenDataFile(path)
    pv.RenameSource(title, source)
    return source


def times_of(source: Any) -> list[float]:
    """Times of the frames."""
    return list(source.TimestepValues) or [0.0]


def peak_time(summary: dict[str, Any], field: str) -> Optional[float]:
    """Of the largest contact force, or impulse of an impact; if nothing touched, of what colours show. None if that is
    not known, or always the same."""
    contacts, whole = summary.get("contacts", []), summary.get("time", {}).get("reached") or 0.0
    peaks = [(c["peak_force"], c["peak_force_time"]) for c in contacts if c.get("peak_force")
             and (c["peak_force"] > 1.1 * (c.get("mean_force") or 0.0) or c["time_in_contact"] < 0.9 * whole)]
    peaks = peaks or [(i["total_impulse"], i["end"]) for c in contacts for i in c.get("intervals", [])
                      if i["peak_force"] is None]
    seen, has_touched = summary.get("frames", {}), any(c.get("intervals") for c in contacts)
    peaks = [max(peaks)] if peaks else [
        (0.0, seen[kind][name]["largest_time"]) for name in ([field] if field else COLOURS)
        for kind in ("point_fields", "fields") if name in seen.get(kind, {}) and not has_touched]
    return float(peaks[0][1]) if peaks else None


def si(unit: str, largest: float) -> tuple[float, str]:
    """Factor and unit by which values up to `largest` read well: (1e-3, "kN") for 62832 N."""
    if unit not in PREFIXED or not 0.0 < largest < np.inf:
        return 1.0, unit
    power = 3 * int(np.floor(np.log10(largest) / 3 + 1e-12))
    if power < 0 and largest >= 99.999 * 10.0**power:
        power += 3  # 0.5 m rather than 500 mm
    power = min(max(power, -12), 0 if unit in NO_LARGE else 12)
    return float(f"1e{-power}"), PREFIXES[power] + unit


def bounds_of(source: Any) -> Any:
    """Low and high corner of what a source shows, [2, 3]."""
    return np.array(source.GetDataInformation().GetBounds()).reshape(3, 2).T


def join(box: Any, other: Any) -> Any:
    """The box about two boxes."""
    return np.array([np.minimum(box[0], other[0]), np.maximum(box[1], other[1])])


def show_obstacles(view: Any, box: Any, when: float) -> Any:
    """What stands still or is carried; gives the box that also holds it."""
    for name, title in ("obstacles.vtk", "obstacles"), ("obstacles.vtk.series", "bearings, discs and joints"):
        obstacles = open_file(name, title)
        if obstacles is not None:
            paint(pv.Show(obstacles, view), [0.8, 0.8, 0.8], 0.6)
            obstacles.UpdatePipeline(when)
            box = join(box, bounds_of(obstacles))
    return box


def paint(display: Any, colour: list[float], opacity: float = 1.0) -> None:
    """One colour."""
    display.ColorArrayName = ["POINTS", ""]
    display.AmbientColor = display.DiffuseColor = colour
    display.Opacity = opacity


def find_field(body: Any, field: str, seen: dict[str, Any]) -> Optional[tuple[str, str, str, float, float]]:
    """Place, name, component and bounds of what colours show: at the points, where it is smooth, or of the cells."""
    places = [("POINTS", body.PointData, "point_fields"), ("CELLS", body.CellData, "fields")]
    for wanted in [field] if field else COLOURS:
        name, _, axis = wanted.partition(".")
        for place, data, bounds in places:
            array = data.GetArray(name)
            if array is None or (axis and (axis not in AXES or array.GetNumberOfComponents() != 3)):
                continue
            component = axis or ("magnitude" if array.GetNumberOfComponents() == 3 else "")
            limits = seen.get("vectors" if component else bounds, {}).get(name)
            limits = limits and (limits[component] if component else limits)
            # While a run goes on there is the present frame only.
            low, high = (limits["min"], limits["max"]) if limits else array.GetRange(AXES.index(axis) if axis else -1)
            return place, name, component, low, high
    if field:
        names = {n + end for data in (body.CellData, body.PointData) for n in data.keys()
                 for end in ["", *("." + a for a in AXES if data.GetArray(n).GetNumberOfComponents() == 3)]}
        sys.exit("the frames have no field %r; they have: %s" % (field, ", ".join(sorted(names))))
    return None


def with_field(body: Any, found: tuple[str, str, str, float, float], is_mode: bool) -> tuple[Any, str, float, bool]:
    """The body with the array that colours show; its title, its largest size and whether it has both signs. Of modes
    only the shape counts."""
    place, name, component, low, high = found
    largest = max(-low, high) or 1.0
    factor, unit_name = (1.0 / largest, "part of the largest") if is_mode else si(UNITS.get(name, ""), largest)
    value = "mag(%s)" % name if component == "magnitude" else name + ("_" + component.upper() if component else "")
    shown = pv.Calculator(registrationName=name, Input=body, ResultArrayName=SHOWN,
                          AttributeType="Point Data" if place == "POINTS" else "Cell Data",
                          Function="%s*%.17g" % (value, factor))
    words = name.replace("_", " ") + (" " + component if component in AXES else "")
    return shown, "%s, %s" % (words, unit_name) if unit_name else words, largest * factor, low < 0.0


def colour(view: Any, displays: list[Any], place: str, title: str, largest: float, is_signed: bool) -> None:
    """One scale for the whole run: from -a to a where the field has both signs, else from 0."""
    for display in displays:
        pv.ColorBy(display, (place, SHOWN))
    table = pv.GetColorTransferFunction(SHOWN)
    table.ApplyPreset("Cool to Warm" if is_signed else "Viridis (matplotlib)", True)
    table.RescaleTransferFunction(-largest if is_signed else 0.0, largest)
    displays[0].SetScalarBarVisibility(view, True)
    bar = pv.GetScalarBar(table, view)
    bar.Title, bar.ComponentTitle = title, ""
    bar.Orientation, bar.WindowLocation = "Horizontal", "Lower Center"
    bar.TitleFontSize = bar.LabelFontSize = 18
    bar.AutomaticLabelFormat, bar.LabelFormat, bar.RangeLabelFormat = 0, "%.3g", "%.3g"
    bar.AddRangeLabels, bar.UseCustomLabels = 0, 1  # five numbers, which never meet
    bar.CustomLabels = [largest * x for x in ((-1, -0.5, 0, 0.5, 1) if is_signed else (0, 0.25, 0.5, 0.75, 1))]
    bar.TitleColor = bar.LabelColor = [0.0, 0.0, 0.0]


def radius_of(body: Any) -> float:
    """The largest radius of a section."""
    radius = body.PointData.GetArray("radius")
    return float(radius.GetRange(0)[1]) if radius is not None else 0.0


def thickness(box: Any, radius: float) -> float:
    """How many times as thick a straight bar is drawn that would hardly be seen."""
    extent = sorted(np.ptp(box, axis=0))
    is_thin = 0.0 < radius < 0.005 * extent[2] and extent[1] < 2.5 * radius
    return float("%.0e" % (0.01 * extent[2] / radius)) if is_thin else 1.0


def pick(source: Any, kind: str, numbers: Sequence[int], title: str) -> Any:
    """Cells or points of a source by their numbers."""
    listed = [word for number in numbers for word in (-1, number)]
    selection = pv.IDSelectionSource(FieldType=kind, IDs=listed)
    return pv.ExtractSelection(registrationName=title, Input=source, Selection=selection)


def find_masses(grid: Any, on_lines: set[int]) -> list[int]:
    """Points of masses and bodies. On a line there may also be springs to the ground, which have no kinetic energy, and
    discs, which are drawn as such."""
    energy, has_discs = grid.GetCellData().GetArray("kinetic_energy"), open_path("obstacles.vtk.series") is not None
    points = {c: grid.GetCell(c).GetPointId(0) for c in range(grid.GetNumberOfCells())
              if grid.GetCell(c).GetNumberOfPoints() == 1}
    return sorted({point for c, point in points.items() if point not in on_lines
                   or (energy is not None and energy.GetTuple1(c) > 0.0 and not has_discs)})


def make_shapes(body: Any, source: Any, sections: list[list[float]], size: float, times: float) -> list[Any]:
    """Boxes, tubes and spheres for the cells of `source`, so many times as thick, or its lines."""
    grid = servermanager.Fetch(body)
    boxed = {cell for first, count, *_ in sections for cell in range(int(first), int(first) + int(count))}
    lines = [c for c in range(grid.GetNumberOfCells()) if grid.GetCell(c).GetNumberOfPoints() == 2]
    masses = find_masses(grid, {grid.GetCell(c).GetPointId(k) for c in lines for k in (0, 1)})
    thickest, shapes = radius_of(body), []
    if boxed:
        shape = pv.ProgrammableFilter(registrationName="rectangular sections", Input=source)
        shape.OutputDataSetType = "vtkPolyData"
        shape.Script = "SECTIONS, TIMES = %r, %r\n%s" % (sections, times, BOXES)
        shapes.append(shape)
    rest = [c for c in lines if c not in boxed]
    if rest and thickest > 0.0:
        some = pick(source, "CELL", rest, "round sections") if boxed or masses else source
        surface = pv.ExtractSurface(registrationName="surface of the model", Input=some)
        thick = pv.Calculator(registrationName="radius as drawn", Input=surface, ResultArrayName="drawn_radius",
                              Function="%g*radius" % times)
        shape = pv.Tube(registrationName="tubes", Input=thick, Scalars=["POINTS", "drawn_radius"])
        shape.NumberofSides, shape.Capping, shape.VaryRadius = 24, 1, "By Absolute Scalar"
        shapes.append(shape)
    elif rest:
        shapes.append(source)
    if masses:
        shape = pv.Glyph(registrationName="point masses", Input=pick(source, "POINT", masses, "masses"),
                         GlyphType="Sphere", GlyphMode="All Points")
        shape.ScaleArray, shape.OrientationArray = ["POINTS", "No scale array"], ["POINTS", "No orientation array"]
        shape.ScaleFactor = max(0.03 * size, 3.0 * times * thickest)
        shape.GlyphType.ThetaResolution = shape.GlyphType.PhiResolution = 24
        shapes.append(shape)
    return shapes


def show_body(view: Any, body: Any, found: Optional[tuple[str, str, str, float, float]], is_mode: bool,
              *how: Any) -> None:
    """In colours, if a field was found."""
    source, title, largest, is_signed = with_field(body, found, is_mode) if found else (body, "", 1.0, False)
    displays = [pv.Show(shape, view) for shape in make_shapes(body, source, *how)]
    for display in displays:
        display.LineWidth = display.PointSize = 4
        display.AmbientColor = display.DiffuseColor = [0.2, 0.3, 0.5]
    if found and displays:
        colour(view, displays, found[0], title, largest, is_signed)


def warped(body: Any, title: str, factor: float) -> Any:
    """The body with its displacements so many times added once more."""
    return pv.WarpByVector(registrationName=title, Input=body, Vectors=["POINTS", "displacement"], ScaleFactor=factor)


def enlargement(moved: float, size: float, kind: str) -> float:
    """How many times as large displacements are drawn: those of modes, and what would hardly be seen."""
    if moved == 0.0 or size == 0.0 or (kind != "modes" and moved > 0.03 * size):
        return 1.0
    return float("%.0e" % (0.1 * size / moved))


def make_arrows(contacts: Any, size: float, when: float) -> tuple[Any, Any, Any, str]:
    """Arrows that end at the contacts, the largest one's direction, its tail and what it stands for."""
    nothing = None, np.zeros(3), None, ""
    if contacts is None:
        return nothing
    stamps = times_of(contacts)  # written while something touches, and once when nothing does any more
    contacts.UpdatePipeline(max((t for t in stamps if t <= when + 1e-9 * abs(stamps[-1])), default=stamps[0]))
    frame = servermanager.Fetch(contacts)
    data, count = frame.GetPointData(), frame.GetNumberOfPoints()
    # An impact within one step has no force: its impulse since the frame before.
    for name, factor, title, unit_name in (("force_vector", "", "contact forces", "N"),
                                           ("normal", "step_impulse", "contact impulses", "N s")) if count else ():
        vectors = vtk_to_numpy(data.GetArray(name)) * (vtk_to_numpy(data.GetArray(factor))[:, None] if factor else 1.0)
        if vectors.any():
            break
    else:
        return nothing
    sizes = np.linalg.norm(vectors, axis=1)
    largest, most = int(sizes.argmax()), float(sizes.max())
    length = (0.2 if count < 8 else 0.1) * size  # less where there are many
    arrows = pv.Glyph(registrationName=title, Input=contacts, GlyphType="Arrow", GlyphMode="All Points")
    arrows.OrientationArray = ["POINTS", name]
    arrows.ScaleArray = ["POINTS", factor or name]
    arrows.ScaleFactor = length / most
    arrows.GlyphType.TipResolution = arrows.GlyphType.ShaftResolution = 24
    arrows.GlyphTransform.Translate = [-1.0, 0.0, 0.0]  # the tip, not the tail, at the contact
    scale, unit_name = si(unit_name, most)
    tail = np.array(frame.GetPoint(largest)) - length / most * vectors[largest]
    return arrows, vectors[largest], tail, "%s: longest arrow %.3g %s" % (title, most * scale, unit_name)


def camera_axes(box: Any, force: Any) -> list[Any]:
    """Right, up and towards the camera: across the two widest directions, not along the largest force."""
    extent = np.ptp(box, axis=0)
    along_force = int(np.argmax(np.abs(force))) if force.any() else -1
    depth = min((k for k in (2, 1, 0) if k != along_force), key=lambda k: float(extent[k]))
    up = 1 if depth == 2 else 2
    is_flat = extent[depth] < 0.05 * max(extent)
    towards = np.full(3, 0.0 if is_flat else 0.35)
    towards[depth] = -1.0 if depth == 1 else 1.0
    towards /= np.linalg.norm(towards)
    right = np.cross(np.eye(3)[up], towards)
    right /= np.linalg.norm(right)
    return [right, np.cross(towards, right), towards]


def aim_camera(view: Any, box: Any, axes: list[Any]) -> None:
    """At the middle of a box, which fills the picture between text and scale; low things make a low picture."""
    right, above, towards = axes
    size = float(np.linalg.norm(np.ptp(box, axis=0))) or 1.0
    across, upright = (max(float(np.abs(axis) @ np.ptp(box, axis=0)), 1e-3 * size) for axis in (right, above))
    room = MOST_HEIGHT - ABOVE - BELOW
    pixels = 0.92 * min(WIDTH / across, room / upright)  # for a metre
    height = max(LEAST_HEIGHT, 2 * round(0.5 * (ABOVE + BELOW + pixels * upright / 0.92)))
    middle = 0.5 * (box[0] + box[1]) - 0.5 * (BELOW - ABOVE) / pixels * above
    view.ViewSize = [WIDTH, height]
    view.CameraParallelProjection = 1
    view.CameraFocalPoint = middle.tolist()
    view.CameraPosition = (middle + 5.0 * size * towards).tolist()
    view.CameraViewUp = above.tolist()
    view.CameraParallelScale = 0.5 * height / pixels


def show_time(view: Any, when: float) -> None:
    """Goes to a time."""
    pv.GetAnimationScene().AnimationTime = when
    view.ViewTime = when


def save_movie(path: str, view: Any, times: Sequence[float]) -> None:
    """One picture for each frame; of 100 to 600 frames ten seconds."""
    if shutil.which("ffmpeg") is None:
        sys.exit("ffmpeg, which makes the movie, is missing: install the package ffmpeg")
    rate = min(max(len(times) // 10, 10), 60)
    with tempfile.TemporaryDirectory() as pictures:
        for i, when in enumerate(times):
            show_time(view, when)
            pv.SaveScreenshot(os.path.join(pictures, "%06d.png" % i), view, ImageResolution=list(view.ViewSize))
        made = subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-framerate", str(rate), "-i",
                               os.path.join(pictures, "%06d.png"), *CODECS[os.path.splitext(path)[1]], path])
    if made.returncode != 0:
        sys.exit("ffmpeg has made no %s" % path)


def mode_text(kind: str, frequency: float) -> str:
    """`rigid`, `52.5 Hz` or `divergence, 52.5 Hz`."""
    return ", ".join([kind] * (kind != "vibration") + ["%.4g Hz" % frequency] * int(frequency > 0.0))


def mode_name(number: float) -> str:
    """`mode 2: 52.5 Hz`, from modes.csv."""
    with open(os.path.join(folder(), "modes.csv"), newline="", encoding="utf-8") as f:
        row = next(row for row in csv.DictReader(f) if float(row["mode"]) == number)
    return "mode %g: %s" % (number, mode_text(row["kind"], float(row["f"])))


def make_view() -> Any:
    """A white page."""
    view = pv.GetActiveViewOrCreate("RenderView")
    view.UseColorPaletteForBackground = 0
    view.BackgroundColorMode = "Single Color"
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesLabelColor = [0.0, 0.0, 0.0]
    return view


def show_text(view: Any, body: Any, kind: str, when: float, notes: Sequence[str]) -> None:
    """Time, load factor or mode in the upper left corner, with what a reader must know to read the picture."""
    head = {"run": "t = {time:.6g} s", "statics": "load factor {time:.6g}"}.get(kind) or mode_name(when)
    more = ", ".join(note for note in notes if note)
    clock = pv.AnnotateTimeFilter(registrationName="time", Input=body, Format=head + (", " + more if more else ""))
    text = pv.Show(clock, view)
    text.Color, text.FontSize, text.WindowLocation = [0.0, 0.0, 0.0], 20, "Upper Left Corner"


def draw(picture: str, wanted: str, field: str) -> tuple[Any, list[float]]:
    """The view, and the times of all frames."""
    about, summary = read_json("view.json"), read_json("summary.json")
    seen, kind, stem = summary.get("frames", {}), about.get("kind", "run"), str(about.get("frames", ""))
    sections = [[int(c), int(count), float(h), float(w)] for c, count, h, w in about.get("sections", [])]
    view = make_view()
    body = open_file(stem + ".vtk.series", "model") or open_file(stem + ".pvd", "model")
    if body is None:
        sys.exit("there are no frames: %s" % os.path.join(folder(), stem + ".vtk.series"))
    stamps, is_given = times_of(body), wanted not in ("", "peak", "all")
    asked = float(wanted) if is_given else stamps[0] if kind == "modes" else peak_time(summary, field)
    # The first frame from then on has seen what happened until then.
    slack = 1e-9 * max(abs(stamps[0]), abs(stamps[-1]))
    when = next((t for t in stamps if asked is not None and t >= asked - slack), stamps[-1])
    if is_given and float(wanted) > when + slack:
        sys.exit("there is no frame from t = %s s on, the last one is at %g s" % (wanted, when))
    body.UpdatePipeline(when)
    thick = radius_of(body)
    box = bounds_of(body) + [[-thick], [thick]]
    if os.path.splitext(picture)[1] != ".png" and "low" in seen:  # what moves stays in the picture
        box = np.array([seen["low"], seen["high"]], float)
    size, times, notes = float(np.linalg.norm(np.ptp(box, axis=0))), thickness(box, thick), []
    arrows, push, tail, legend = make_arrows(open_file("contacts.vtk.series", "contacts"), size, when)
    axes = camera_axes(box, push)
    box = show_obstacles(view, box, when)
    shown = body
    if kind != "run":
        show_time(view, when)
        moved = body.PointData.GetArray("displacement")
        larger = enlargement(max(abs(x) for x in moved.GetRange(-1)) if moved is not None else 0.0, size, kind)
        shown = warped(body, "enlarged", larger - 1.0) if larger != 1.0 else body
        for shape in make_shapes(body, warped(body, "undeformed", -1.0), sections, size, times):
            display = pv.Show(shape, view)
            display.LineWidth = 2
            paint(display, [0.6, 0.6, 0.6], 0.35)
        field = field or ("displacement" if kind == "modes" else "")
        notes.append("displacements %g times" % larger if larger != 1.0 and kind == "statics" else "")
        shown.UpdatePipeline(when)
        box = join(box, bounds_of(shown))
    show_body(view, shown, find_field(shown, field, seen), kind == "modes", sections, size, times)
    notes.append("sections %g times as thick" % times if times > 1.0 else "")
    if arrows is not None:
        box = join(box, [tail, tail])
        if picture:  # towards the camera: in parallel projection they stay at their place and no body hides them
            arrows = pv.Transform(registrationName="arrows in front", Input=arrows)
            arrows.Transform.Translate = (2.0 * size * axes[2]).tolist()
        paint(pv.Show(arrows, view), [0.8, 0.1, 0.1])
    show_text(view, body, kind, when, [*notes, legend])
    pv.GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
    pv.Render(view)  # the first one sets a camera of its own
    aim_camera(view, box, axes)
    show_time(view, when)
    pv.Render(view)
    return view, times_of(body)


def main() -> None:
    """Shows, or writes what the words ask for."""
    picture, wanted, field = [*sys.argv[1:4], "", "", ""][:3]
    if picture.startswith("-"):  # an option of ParaView itself
        picture = wanted = field = ""
    view, times = draw(picture, wanted, field)
    if os.path.splitext(picture)[1] in CODECS:
        save_movie(picture, view, times)
    elif picture:
        pv.SaveScreenshot(picture, view, ImageResolution=list(view.ViewSize))


if __name__ not in ("percuss.view", "view_of_results"):
    # Filters in Python bring names of their own, as max, into the main program: this file is run as a module.
    own = [main.__code__.co_filename, os.path.join(folder(), "view.py")]  # an open ParaView knows the text alone
    spec = importlib.util.spec_from_file_location("view_of_results", own[not os.path.isfile(own[0])])
    module = importlib.util.module_from_spec(spec) if spec else None
    if spec and spec.loader and module:
        spec.loader.exec_module(module)
        module.main()
