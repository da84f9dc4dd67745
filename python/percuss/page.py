"""Pieces of a report's page: numbers as people read them, listings, charts for player.js, embedded figures."""

from __future__ import annotations

import base64
import io
import math
import os
import re
import shlex
import zlib
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from ._player import pack, quantise
from .errors import InputError

Array = npt.NDArray[Any]

MOST_POINTS, BUCKETS = 1500, 375  # of a curve; of each bucket the first, the lowest, the highest and the last point
MOST_PICTURES, MOST_PICTURE_BYTES = 24, 64 << 20
NO_POINT, MOST_LEVEL = 65535, 65534
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
KINDS = {".png": "image/png", ".mp4": "video/mp4", ".webm": "video/webm"}

Block = dict[str, Any]


def value(tree: Any, place: str) -> Any:
    """What stands at "a.b" of a JSON object; None if nothing does."""
    for key in place.split("."):
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def real(tree: Any, place: str) -> float:
    """The number at "a.b", NaN if there is none."""
    found = value(tree, place)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else math.nan


def text(tree: Any, place: str) -> str:
    """The text at "a.b", "" if there is none."""
    found = value(tree, place)
    return found if isinstance(found, str) else ""


def items(tree: Any, place: str) -> list[dict[str, Any]]:
    """The objects of the list at "a.b"."""
    found = value(tree, place)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def number(x: float, digits: int = 6) -> str:
    """A number as "0.0123" or "1.2×10⁻⁷"; a dash if it is not finite."""
    if not math.isfinite(x):
        return "–"
    mantissa, exponent = f"{x + 0.0:.{digits - 1}e}".split("e")
    power = int(exponent)
    if x == 0.0 or -4 <= power < 6:
        plain = f"{x + 0.0:.{max(digits - 1 - power, 0)}f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}×10{str(power).translate(RAISED)}"


def quantity(x: float, unit: str, digits: int = 6) -> str:
    """A number with its unit."""
    return number(x, digits) + ("\u00a0" + unit if unit else "")


def moment(t: float) -> Any:
    """A time that moves the picture when it is clicked."""
    if not math.isfinite(t):
        return number(t)
    return Markup('<button type="button" class="t" data-t="{}">{}</button>').format(repr(float(t)), number(t))


def breakable(name: str) -> Markup:
    """A name such as wall.peak_force, which may be broken into lines after points and dashes."""
    return Markup("<wbr>").join(re.findall(r"[^._]*[._]|[^._]+$", name) or [name])


def command(*words: str) -> str:
    """Words of a command, in quotes if the shell needs them."""
    return " ".join(shlex.quote(word) for word in words)


def listing(yaml: str) -> Markup:
    """A YAML text line by line: keys, comments and values get a class each."""
    def span(kind: str, part: str) -> Markup:
        return Markup('<span class="{}">{}</span>').format(kind, part) if part else Markup("")

    found = []
    for line in yaml.split("\n"):
        match = re.match(r"""((?:-\ |\ )*)((?:"[^"]*"|'[^']*'|[^:#{}\[\],]+?):(?=\ |$))?"""
                         r"""((?:"[^"]*"|'[^']*'|(?<!\ )\#|[^#"'])*|.*?)(\#.*)?$""", line, re.X | re.S)
        if match is None:
            found.append(Markup.escape(line))
            continue
        key = match[2] or ""
        found.append(Markup.escape(match[1]) + span("k", key[:-1]) + key[-1:] + span("v", match[3]) +
                     span("c", match[4] or ""))
    return Markup("\n").join(found)


def thin(x: Array, y: Array) -> tuple[Array, Array]:
    """At most MOST_POINTS points with the extremes of every stretch; a gap of NaN stays one."""
    if len(x) <= MOST_POINTS:
        return x, y
    kept: list[int] = []
    for part in np.array_split(np.arange(len(x)), BUCKETS):
        good = part[np.isfinite(y[part])]
        kept += sorted({good[0], good[np.argmin(y[good])], good[np.argmax(y[good])], good[-1]}) if len(good) else [
            part[0]]
    return x[kept], y[kept]


def limits(values: Array, padding: float) -> tuple[float, float]:
    """The ends of an axis; values that differ by round-off only are drawn as a level line."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or high == low:
        half = 0.1 * size if size > 0.0 else 1.0
        return low - half, high + half
    return low - padding * (high - low), high + padding * (high - low)


def chart(title: str, x: tuple[str, str], y: tuple[str, str], series: Sequence[tuple[str, Array, Array]],
          cursor: str = "time") -> Optional[Block]:
    """A chart for player.js: names and units of the axes, (name, x, y) of each line; None if there is no number.
    `cursor`: "time" of the horizontal axis, "row" of the table, or ""."""
    lines = []
    for name, xs, ys in series:
        xs, ys = thin(np.asarray(xs, float), np.asarray(ys, float))
        good = np.isfinite(xs) & np.isfinite(ys)
        if good.any():
            lines.append((name, xs, ys, good))
    if not lines:
        return None
    x_low, x_high = limits(np.concatenate([xs[good] for _, xs, _, good in lines]), 0.0 if cursor == "time" else 0.05)
    y_low, y_high = limits(np.concatenate([ys[good] for _, _, ys, good in lines]), 0.05)
    packed, about = [], [f"Over {x[0]}."]
    for name, xs, ys, good in lines:
        both = np.column_stack([quantise(np.where(good, xs, x_low), x_low, x_high, MOST_LEVEL),
                                quantise(np.where(good, ys, y_low), y_low, y_high, MOST_LEVEL)])
        both[~good, 1] = NO_POINT
        packed.append({"name": name, "data": pack(both, "<u2")})
        shown = ys[good]
        about.append(f"{name}: from {number(shown[0], 4)} to {number(shown[-1], 4)}, between "
                     f"{number(shown.min(), 4)} and {number(shown.max(), 4)} {y[1]}.")
    return {"title": title, "about": " ".join(about), "cursor": cursor, "series": packed,
            "x": {"name": x[0], "unit": x[1], "low": x_low, "high": x_high},
            "y": {"name": y[0], "unit": y[1], "low": y_low, "high": y_high}}


def bars(title: str, unit: str, listed: Sequence[tuple[str, float]]) -> Block:
    """Bars from a common zero, with their values."""
    low = min([0.0, *(v for _, v in listed)])
    high = max([0.0, *(v for _, v in listed)])
    scale = (356.0 - 150.0) / (high - low if high > low else 1.0)
    zero = 150.0 - scale * low
    rows = [{"name": name, "value": v, "x": zero + scale * min(v, 0.0), "width": scale * abs(v),
             "text": ("+" if v > 0.0 else "") + quantity(v, unit, 5)} for name, v in listed]
    return {"title": title, "zero": zero, "bars": rows}


def drawing(title: str, figure: Any) -> Block:
    """A figure of matplotlib as SVG in the page; identifiers get a prefix of their own."""
    import matplotlib
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "percuss"}):
        figure.savefig(stream, format="svg", dpi=110, metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    prefix = f"f{zlib.crc32(title.encode(errors='replace'))}_"
    svg = re.sub(r'\b(id="|href="#|url\(#)', lambda m: m[1] + prefix, svg)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    box = figure.axes[0].get_position()
    return {"title": title, "svg": Markup(svg), "axes": None, "box": [box.x0, box.x1, box.y0, box.y1],
            "ylim": figure.axes[0].get_ylim()}


def pictures(folder: str) -> tuple[list[Block], int]:
    """Pictures and movies of a folder, and how many more there are."""
    names = sorted(name for name in os.listdir(folder) if os.path.splitext(name)[1] in KINDS)
    shown = []
    for name in names[:MOST_PICTURES]:
        path = os.path.join(folder, name)
        if os.path.getsize(path) > MOST_PICTURE_BYTES:
            raise InputError(f"{path}: the picture is larger than {MOST_PICTURE_BYTES >> 20} MB")
        with open(path, "rb") as file:
            data = base64.b64encode(file.read()).decode()
        kind = KINDS[os.path.splitext(name)[1]]
        shown.append({"name": name, "source": f"data:{kind};base64,{data}", "is_movie": kind.startswith("video")})
    return shown, len(names) - len(shown)


def printable(line: str) -> str:
    """A text without what no page may hold: control characters and lone surrogates."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "\ufffd", line)
