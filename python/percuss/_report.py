"""percuss report: one page of HTML about results, with all that it shows in it. Its words are in templates/report.html;
here are the numbers, tables and figures, those of percuss plot."""

import base64
import io
import math
import os
import re
import shlex
import zlib
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from . import units
from ._library import lib
from ._plot import make
from ._study import shown_value
from .command import DONE, Parser
from .errors import InputError, PercussError
from .figure import Options, colour_limit
from .frames import Frame, Frames
from .pictures import LEDGER, measures_of
from .results import Results, open as open_results
from .text import Path, errors_of, read_bytes, read_text, write_file
from .view import COLOURS, camera_axes, enlargement, mode_text, peak_time, si

Array = npt.NDArray[Any]
Block = dict[str, Any]
MOST_ROWS, MOST_DRAWN = 1000, 12  # of a table; figures of a section
MOST_PICTURES, MOST_PICTURE_BYTES = 24, 64 << 20
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_FRAMES, LEAST_FRAMES = 240, 12
MOST_BYTES = 1_000_000  # of all frames, before base 64
MOST_ARROWS = 400  # of one frame, the largest
MOST_FIELDS = 3
MIME = {".png": "image/png", ".mp4": "video/mp4", ".webm": "video/webm"}
# Section and title of every kind of figure, by the beginning of its name.
FIGURES = {"contact_": ("contacts", "Contact {}"), "energies": ("energy", "Energies and what changed them"),
           "momentum": ("energy", "Momentum"), "probe_": ("probes", "{}"), "coordinates": ("probes", "Coordinates"),
           "phase_": ("probes", "{} and its rate"), "path_": ("probes", "Path of {}"), "steps": ("steps", "Steps"),
           "waves_": ("waves", "{} over position and time"), "load_path_": ("paths", "Load path: {}"),
           "frequencies": ("modes", "Frequencies"), "mode_shapes": ("modes", "Mode shapes"),
           "study_": ("charts", "{} over the points"), "refine_": ("charts", "{} over the levels")}


# ---- Numbers as people read them, listings, figures ----

def readable(text: str) -> str:
    """A number with its error bar as a page shows it: 1.2×10⁻⁷ ± 10⁻⁹."""
    power = re.sub(r"(?<=\d)e([-+]\d+)", lambda m: "×10" + str(int(m[1])).translate(RAISED), text)
    return power.replace(" +- ", "\u00a0±\u00a0")


def number(x: Any, digits: int = 6) -> str:
    """A number as "0.0123" or "1.2×10⁻⁷"; a dash if it is none or not finite."""
    is_number = isinstance(x, (int, float, np.number)) and not isinstance(x, bool) and math.isfinite(x)
    if not is_number:
        return "–"
    return f"{x:.0f}" if 10.0 ** (digits - 1) <= abs(x) < 1e6 else readable(f"{x + 0.0:.{digits}g}")


def quantity(x: Any, unit: str, digits: int = 6) -> str:
    """A number with its unit."""
    return number(x, digits) + ("\u00a0" + unit if unit else "")


def scaled(x: float, unit: str) -> str:
    """A number with the prefix of its unit by which it reads well."""
    factor, name = si(unit, abs(x))
    return quantity(factor * x, name, 4)


def shown(x: Any, key: str = "", digits: int = 6) -> Any:
    """What a cell of a table shows: a text, a number, or a time that moves the picture when it is clicked."""
    if isinstance(x, str):
        return x
    text = number(x, digits)
    if not key.endswith("_time") or text == "–":
        return text
    return Markup('<button type="button" class="t" data-t="{}">{}</button>').format(repr(float(x)), text)


def breakable(name: str) -> Markup:
    """A name such as wall.peak_force, which may be broken into lines after points and dashes."""
    return Markup("<wbr>").join(re.findall(r"[^._]*[._]|[^._]+$", name) or [name])


def drawing(title: str, figure: Any) -> Block:
    """A figure as SVG in the page, whose identifiers get a prefix of their own; `axes` has, of each axis of time, the
    edges of its axes in parts of the figure, its limits, and whether it lies across."""
    import matplotlib
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "percuss", "path.simplify_threshold": 0.3}):
        figure.savefig(stream, format="svg", dpi=110, metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg"):], flags=re.S)
    prefix = f"f{zlib.crc32(title.encode(errors='replace'))}_"
    svg = re.sub(r'\b(id="|href="#|url\(#)', lambda m: m[1] + prefix, svg)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    axes = []
    for ax in [ax for ax in figure.axes if hasattr(ax, "clock")]:
        box, is_across = ax.get_position(), ax.clock == "x"
        axes.append([box.x0, box.x1, box.y0, box.y1, *(ax.get_xlim() if is_across else ax.get_ylim()), is_across])
    return {"title": title, "svg": Markup(svg), "axes": axes}


def pictures(folder: str) -> tuple[list[Block], int]:
    """Pictures and movies of a folder, and how many more there are."""
    names = sorted(name for name in os.listdir(folder) if os.path.splitext(name)[1] in MIME)
    found = []
    for name in names[:MOST_PICTURES]:
        if os.path.getsize(path := os.path.join(folder, name)) > MOST_PICTURE_BYTES:
            raise InputError(f"{path}: the picture is larger than {MOST_PICTURE_BYTES >> 20} MB")
        data = base64.b64encode(read_bytes(path)).decode()
        found.append({"name": name, "source": f"data:{MIME[os.path.splitext(name)[1]]};base64,{data}"})
    return found, len(names) - len(found)


def draw(results: Results) -> tuple[dict[str, list[Block]], list[str]]:
    """The figures of percuss plot by section, and notes on what was left out."""
    if results.kind == "run" and not results.has("history.csv"):
        return {}, []
    found, notes = make([results], [], Options(width=12.0), may_be_empty=True)
    sections: dict[str, list[Block]] = {}
    for name, one in found.items():
        head = next(head for head in FIGURES if name.startswith(head))
        section, title = FIGURES[head]
        if len(sections.setdefault(section, [])) < MOST_DRAWN:
            sections[section].append(drawing(title.format(name[len(head):]), one()))
        else:
            notes.append(f"Not drawn is {name}, which percuss plot shows")
    return sections, notes


# ---- Pages of each kind ----

def of_table(results: Results) -> Block:
    """The page of an equilibrium or of modes, with load steps or frequencies."""
    table, known = results.table, results.table.attrs["units"]
    steps = [name for name in table if "." not in name]
    names = ["mode", "f", "w", "damping", "kind", "name", "residual"] if results.kind == "modes" else steps
    there = table[[name for name in names if name in table]].head(MOST_ROWS)
    return {"table": {"heads": [units.join(name, known.get(name, "")) for name in there],
                      "rows": [["" if x != x else shown(x) for x in row] for row in there.itertuples(index=False)],
                      "right": [i for i, name in enumerate(there) if table[name].dtype != object]},
            "said": read_text(results.path("summary.txt")) if results.has("summary.txt") else ""}


def of_study(results: Results) -> Block:
    """The page of a study."""
    about = results.summary if results.has("study.json") else {}
    table, known = results.table, results.table.attrs["units"]
    names = list(map(str, table))
    measures, keys = measures_of(names), names[:names.index("run")]
    heads = [breakable(units.join(name, known.get(name, ""))) for name in [*keys, *measures]]
    run = next((name for name in table["run"] if results.has(f"runs/{name}/case.resolved.yaml")), None)
    point = table[table["run"] == run].iloc[0] if run is not None else {}
    rows = []
    for _, row in table.head(MOST_ROWS).iterrows():
        head = [x if isinstance(x, str) else f"{x:.12g}" if np.isfinite(x) else "" for x in row[keys]]
        reason = row.get("reason")
        rows.append([*head, *(readable(shown_value(row, name)) for name in measures)] if row["status"] == "done" else
                    [*head, f"{row['status']}: {reason if isinstance(reason, str) else ''}"])
    case = str(about.get("case", results.folder)).removesuffix("/case.yaml").rstrip("/")
    return {"title": f"Study of {os.path.basename(case)}", "version": about.get("version"),
            "case": f"runs/{run}/case.resolved.yaml", "about": about,
            "states": [point["status"] for point in about.get("points", [])] or list(table["status"]),
            "varied": [key for key in keys if key not in ("level", "mesh_factor", "step_factor")],
            "table": {"heads": heads, "rows": rows, "right": range(len(keys), len(heads))},
            "more": len(table) - MOST_ROWS,
            "point": ", ".join(f"{key} = {shown(point[key])}" for key in keys) if run is not None else "",
            "command": about.get("command") or ["percuss", "study", "CASE", "-o", results.folder]}


# ---- The moving picture: frames thinned, quantised and packed for player.js ----

def pack(values: Any, dtype: str) -> str:
    """Numbers as base 64 of their bytes, low byte first."""
    return base64.b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()


def quantise(values: Array, low: Any, high: Any, dtype: str) -> str:
    """Values from `low` to `high` packed as whole numbers, from 0 to the largest of their type."""
    span = np.where(np.asarray(high) > low, np.asarray(high) - low, 1.0)
    return pack(np.rint((values - low) / span * np.iinfo(dtype).max), dtype)


def vectors(values: Array) -> Optional[dict[str, Any]]:
    """Vectors [frames, points, 3] in 16 bits, along those axes only along which they vary; None if they are 0."""
    low, high = values.min((0, 1)), values.max((0, 1))
    size = max(np.abs(low).max(), np.abs(high).max())
    axes = [k for k in range(3) if max(abs(low[k]), abs(high[k])) > 1e-9 * size]
    if not axes:
        return None
    return {"axes": axes, "low": low[axes].tolist(), "high": high[axes].tolist(),
            "data": quantise(values[:, :, axes], low[axes], high[axes], "<u2")}


def _field(name: str, values: list[Array], is_of_points: bool, unit: str) -> Optional[dict[str, Any]]:
    """A field in 8 bits; None if it is zero or not finite. Values beyond `high` have its colour; `largest` tells."""
    all_values = np.array(values)
    sizes = np.abs(all_values)
    largest = float(sizes.max(initial=0.0))
    if not np.isfinite(largest) or largest == 0.0:
        return None
    high = colour_limit(sizes)
    low = -high if all_values.min() < 0.0 else 0.0
    return {"name": name.replace("_", " "), "unit": unit, "low": low, "high": high, "points": is_of_points,
            "largest": largest if largest > high else 0.0,
            "data": quantise(np.clip(all_values, low, high), low, high, "u1")}


def _fields(frames: list[Frame]) -> list[dict[str, Any]]:
    """What colours may show: the first of COLOURS that are there, at the points if possible, and the speed."""
    points, cells = frames[0].point_data, frames[0].cell_data
    names = [name for name in COLOURS if name in {**points, **cells}]
    if "axial_force" in names and "stress" in points:  # which looks the same
        names.remove("axial_force")
    found = [_field(name, [(frame.point_data if name in points else frame.cell_data)[name] for frame in frames],
                    name in points, units.unit(name)) for name in names[:MOST_FIELDS - 1]]
    if "velocity" in points:
        speeds = [np.linalg.norm(frame.point_data["velocity"], axis=1) for frame in frames]
        found.append(_field("speed", speeds, True, "m/s"))
    return [field for field in found if field]


def _solids(frame: Frame) -> list[int]:
    """Polygons as one list: number of corners, corners, ..."""
    return [int(x) for polygon in frame.polygons for x in (len(polygon), *polygon)]


def _arrows(frames: Frames, numbers: list[int]) -> dict[str, Any]:
    """Arrows at the contacts: forces, or impulses if there is no force at all. [x, y, z, fx, fy, fz] of each."""
    contacts = frames.contacts
    if not len(contacts):
        return {"largest": 0.0, "at": []}
    is_each = len(contacts) == len(frames)
    shown = [contacts[i] if is_each else contacts.at(float(frames.times[i])) for i in numbers]
    forces, unit = [frame.point_data["force_vector"] for frame in shown], "N"
    if not any(np.any(force) for force in forces):
        forces = [frame.point_data["normal"] * frame.point_data["step_impulse"][:, None] for frame in shown]
        unit = "N s"
    largest = max(float(np.linalg.norm(force, axis=1).max(initial=0.0)) for force in forces)
    rows = []
    for frame, force in zip(shown, forces):
        size = np.linalg.norm(force, axis=1)
        order = np.argsort(-size)[:MOST_ARROWS]
        order = order[size[order] > 1e-4 * largest]
        both = np.hstack([frame.points[order], force[order]])
        rows.append([[float(f"{x:.5g}") for x in row] for row in both])
    return {"largest": largest, "unit": unit, "at": rows}


def _choose(frames: Frames, first: Frame, carried: Frames) -> list[int]:
    """Numbers of the frames that are shown: all if there is room, else evenly thinned with the first and the last."""
    each = max(len(first.points) * (6 + MOST_FIELDS) + 6 * (len(carried[0].points) if len(carried) else 0), 1)
    count = min(len(frames), MOST_FRAMES, MOST_BYTES // each)
    if count < min(len(frames), LEAST_FRAMES) or not len(first.points) or "displacement" not in first.point_data:
        return []
    return sorted({round(i) for i in np.linspace(0, len(frames) - 1, count)})


def scene(results: Results) -> Optional[dict[str, Any]]:
    """What player.js shows of the frames in the folder; None if there are none, or too large ones."""
    import matplotlib
    frames = Frames(results.folder)
    if not len(frames):
        return None
    first, carried = frames[0], frames.carried
    numbers = _choose(frames, first, carried)
    if not numbers:
        return None
    shown = [frames[i] for i in numbers]
    times = frames.times[numbers]
    when = peak_time(results.summary, "") if results.kind == "run" and results.has("summary.json") else None
    start = int(np.searchsorted(times, when * (1.0 - 1e-9))) if when is not None else 0  # as percuss view
    displacement = np.array([frame.point_data["displacement"] for frame in shown])
    reference = shown[0].points - displacement[0]
    is_modes = results.kind == "modes"
    radius = first.point_data.get("radius")
    margin = 0.0 if radius is None else float(radius.max(initial=0.0))
    places = reference[None] if is_modes else reference + displacement
    low, high = places.min((0, 1)), places.max((0, 1))
    seen = np.array([low, high + (np.ptp(displacement, (0, 1)) if is_modes else 0.0)])
    right, up, _ = (axis.tolist() for axis in camera_axes(seen, np.zeros(3)))
    is_flat = bool(np.ptp(seen, axis=0).min() <= 1e-9 * np.ptp(seen, axis=0).max())
    is_alone = results.kind != "run" or not results.summary.get("contacts")
    largest = float(np.abs(displacement).max(initial=0.0)) if is_alone else 0.0
    scale = enlargement(largest, float(np.linalg.norm(high - low)), results.kind)
    low, high = low - margin, high + margin
    fixed = frames.obstacles
    if fixed is not None and len(fixed.points):
        low, high = np.minimum(low, fixed.points.min(0)), np.maximum(high, fixed.points.max(0))
    found: dict[str, Any] = {
        "kind": results.kind, "times": times.tolist(), "all": len(frames), "rows": numbers,
        "low": low.tolist(), "high": high.tolist(), "right": right, "up": up, "flat": is_flat,
        "scale": scale, "names": [], "reference": pack(reference, "<f4"), "cells": pack(first.cells, "<u4"),
        "radius": None if radius is None else pack(radius, "<f4"),
        "u": vectors(displacement), "fields": _fields(shown), "arrows": _arrows(frames, numbers),
        "start": len(times) - 1 if results.kind == "statics" else min(start, len(times) - 1),
    }
    for kind, name in (("signed", "coolwarm"), ("positive", "viridis")):  # 256 colours, a byte for each of three parts
        found[kind] = pack(matplotlib.colormaps[name](np.arange(256), bytes=True)[:, :3], "u1")
    found["straight"] = _straight(found, reference) if results.kind == "run" else 0
    found["thin"] = 9.0 if found["straight"] else 1.5 if len(first.cells) > 500 else 3.5
    if is_modes:
        table = results.table
        names = table.get("name", table["kind"]).fillna(table["kind"])
        found["names"] = [mode_text(name, f) for name, f in zip(names, table["f"])]
    if is_modes and "velocity" in first.point_data:  # the imaginary part of the shape
        found["w"] = vectors(np.array([frame.point_data["velocity"] for frame in shown]))
        found["fields"] = []
    if fixed is not None and len(fixed.polygons):
        found["solid"] = {"points": pack(fixed.points, "<f4"), "faces": _solids(fixed)}
    if len(carried):
        moved = [carried.at(float(time)) for time in times]
        points = np.array([frame.points for frame in moved])
        found["carried"] = {"faces": _solids(moved[0]), "points": vectors(points)}
    return found


def _straight(found: dict[str, Any], reference: Array) -> int:
    """1, 2 or 3 if the model lies and moves along x, y or z and has a field to colour it; else 0."""
    extent = np.ptp(reference, 0)
    axis = int(np.argmax(extent))
    is_line = extent[axis] > 0.0 and np.delete(extent, axis).max() <= 1e-9 * extent[axis]
    is_along = found["u"] is not None and found["u"]["axes"] == [axis]
    return axis + 1 if is_line and is_along and found["fields"] and len(found["times"]) > 2 else 0


# ---- The page ----

def build(results: Results) -> str:
    """The page of results of any kind; damaged files raise InputError."""
    import jinja2
    import yaml
    makers = {"study": of_study, "statics": of_table, "modes": of_table}
    summary = results.summary if results.kind == "run" else {}
    here = os.path.dirname(os.path.abspath(__file__))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader([os.path.join(here, "templates"), here]),
                                     autoescape=True, trim_blocks=True, undefined=jinja2.ChainableUndefined)
    environment.filters.update(number=number, quantity=quantity, scaled=scaled, breakable=breakable, shown=shown)
    with errors_of(results.folder):
        page: Block = {"case": "case.resolved.yaml", "title": summary.get("title"), "version": summary.get("version")}
        page |= makers[results.kind](results) if results.kind in makers else {}
        case = read_text(results.path(page["case"])) if results.has(page["case"]) else ""
        page["title"] = page["title"] or (yaml.safe_load(case) or {}).get("title") or results.name
        page["scene"] = scene(results) if results.kind != "study" else None
        page["sections"], page["notes"] = draw(results)
        page["pictures"], page["more_pictures"] = pictures(results.folder)
        html = environment.get_template("report.html").render(
            page=page, kind=results.kind, results=results, quoted=shlex.join, present=lib.percuss_version().decode(),
            summary=summary, terms=LEDGER, listing=case)
    return re.sub("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "\ufffd", html)  # what no page may hold


def report(results: Union[Path, Results], output: Optional[Path] = None) -> str:
    """Writes one page of HTML about results, or those in a folder: report.html there unless `output` names another file
    or folder. Gives its path."""
    found = results if isinstance(results, Results) else open_results(results)
    if found.kind == "table":
        raise InputError(f"{found.folder}: a report is of the results of a run, a study, statics or modes")
    path = os.fspath(output) if output is not None else found.folder
    if os.path.isdir(path):
        path = os.path.join(path, "report.html")
    html = build(found)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_file(path, html)
    except OSError as error:
        raise PercussError(f"cannot write {path}: {error.strerror}") from None
    return path


def main(argv: list[str]) -> int:
    """`percuss report RESULTS|STUDY [-o report.html] [--quiet]`."""
    parser = Parser("report", "One page of HTML about the results of a run, a study, statics or modes.")
    parser.add_argument("results", metavar="RESULTS", help="their folder")
    parser.add_argument("-o", "--output", help="file, or folder for report.html [RESULTS]")
    arguments = parser.parse_args(argv)
    path = report(arguments.results, arguments.output)
    if not arguments.quiet:
        print(f"Report in {path}")
    return DONE
