"""Data of the moving picture in a report: frames thinned, quantised and packed for player.js."""

import base64
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import units
from .frames import Frame, Frames
from .results import Results
from .view import COLOURS, enlargement, mode_text, peak_time

Array = npt.NDArray[Any]

MOST_FRAMES, LEAST_FRAMES = 240, 12
MOST_BYTES = 1_000_000  # of all frames, before base 64
MOST_ARROWS = 400  # of one frame, the largest
MOST_FIELDS = 3


def pack(values: Any, dtype: str) -> str:
    """Numbers as base 64 of their bytes, low byte first."""
    return base64.b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()


def quantise(values: Array, low: Any, high: Any, most: int) -> Array:
    """Whole numbers from 0 to `most` for values from `low` to `high`."""
    span = np.where(np.asarray(high) > low, np.asarray(high) - low, 1.0)
    found: Array = np.rint((values - low) / span * most)
    return found


def vectors(values: Array) -> Optional[dict[str, Any]]:
    """Vectors [frames, points, 3] in 16 bits, along those axes only along which they vary; None if they are 0."""
    low, high = values.min((0, 1)), values.max((0, 1))
    size = max(np.abs(low).max(), np.abs(high).max())
    axes = [k for k in range(3) if max(abs(low[k]), abs(high[k])) > 1e-9 * size]
    if not axes:
        return None
    return {"axes": axes, "low": low[axes].tolist(), "high": high[axes].tolist(),
            "data": pack(quantise(values[:, :, axes], low[axes], high[axes], 65535), "<u2")}


def _field(name: str, values: list[Array], is_of_points: bool, unit: str) -> Optional[dict[str, Any]]:
    """A field in 8 bits; None if it is zero or not finite. Values beyond `high` have its colour; `largest` tells."""
    all_values = np.array(values)
    sizes = np.abs(all_values)
    largest = float(sizes.max(initial=0.0))
    if not np.isfinite(largest) or largest == 0.0:
        return None
    usual = float(np.percentile(sizes, 99.5))  # a short peak does not pale all the rest
    is_cut = 0.0 < usual < 0.6 * largest
    high = usual if is_cut else largest
    low = -high if all_values.min() < 0.0 else 0.0
    return {"name": name.replace("_", " "), "unit": unit, "low": low, "high": high, "points": is_of_points,
            "largest": largest if is_cut else 0.0,
            "data": pack(quantise(np.clip(all_values, low, high), low, high, 255), "u1")}


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


def _camera(extent: Array) -> tuple[list[float], list[float], bool]:
    """Right and up of the first view: across the plane of the motion, or from aside and above if it has none; and
    whether it has one."""
    depth = min((2, 1, 0), key=lambda k: float(extent[k]))
    is_flat = bool(extent[depth] <= 1e-9 * extent.max())
    towards = np.array([0.4, -1.0, 0.6])  # in space z is up
    if is_flat:
        towards = np.array([float(k == depth) * (-1.0 if depth == 1 else 1.0) for k in range(3)])
    right = np.cross([0.0, 1.0, 0.0] if is_flat and depth == 2 else [0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    up = np.cross(towards / np.linalg.norm(towards), right)
    return right.tolist(), up.tolist(), is_flat


def _start(results: Results, times: Array) -> int:
    """Number of the frame that is shown first: of statics the last one, of a run the one that `percuss view` shows."""
    if results.kind == "statics":
        return len(times) - 1
    when = peak_time(results.summary, "") if results.kind == "run" and results.has("summary.json") else None
    return 0 if when is None else min(int(np.searchsorted(times, when * (1.0 - 1e-9))), len(times) - 1)


def _choose(frames: Frames, first: Frame, carried: Frames) -> list[int]:
    """Numbers of the frames that are shown: all if there is room, else evenly thinned with the first and the last."""
    each = max(len(first.points) * (6 + MOST_FIELDS) + 6 * (len(carried[0].points) if len(carried) else 0), 1)
    count = min(len(frames), MOST_FRAMES, MOST_BYTES // each)
    if count < min(len(frames), LEAST_FRAMES) or not len(first.points) or "displacement" not in first.point_data:
        return []
    return sorted({round(i) for i in np.linspace(0, len(frames) - 1, count)})


def scene(results: Results) -> Optional[dict[str, Any]]:
    """What player.js shows of the frames in the folder; None if there are none, or too large ones."""
    frames = Frames(results.folder)
    if not len(frames):
        return None
    first, carried = frames[0], frames.carried
    numbers = _choose(frames, first, carried)
    if not numbers:
        return None
    shown = [frames[i] for i in numbers]
    times = frames.times[numbers]
    displacement = np.array([frame.point_data["displacement"] for frame in shown])
    reference = shown[0].points - displacement[0]
    is_modes = results.kind == "modes"
    radius = first.point_data.get("radius")
    margin = 0.0 if radius is None else float(radius.max(initial=0.0))
    places = reference[None] if is_modes else reference + displacement
    low, high = places.min((0, 1)), places.max((0, 1))
    right, up, is_flat = _camera(high - low + (np.ptp(displacement, (0, 1)) if is_modes else 0.0))
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
        "start": _start(results, times), "signed": palette("coolwarm"), "positive": palette("viridis"),
    }
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


def palette(name: str) -> str:
    """256 colours of matplotlib, red, green and blue in a byte each."""
    import matplotlib
    return pack(matplotlib.colormaps[name](np.arange(256), bytes=True)[:, :3], "u1")
