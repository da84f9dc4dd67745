"""percuss report: one page of HTML about results, with all that it shows in it. Its words are in templates/report.html;
here are the numbers, charts and tables."""

from __future__ import annotations

import base64
import io
import math
import os
import re
import shlex
import zlib
from functools import partial
from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from . import units
from ._library import lib
from ._player import pack, quantise, scene
from .command import DONE, Parser
from .errors import InputError, PercussError
from .figure import Options, si
from .files import Path, errors_of, read_bytes, read_text, write_file
from .results import Results, open as open_results
from .pictures import measures_of

Array = npt.NDArray[Any]
Block = dict[str, Any]

MOST_ROWS, MOST_GROUPS, MOST_DRAWN = 1000, 24, 8
MOST_POINTS, BUCKETS = 1500, 375  # of a curve; of each bucket the first, the lowest, the highest and the last point
MOST_PICTURES, MOST_PICTURE_BYTES = 24, 64 << 20
NO_POINT, MOST_LEVEL = 65535, 65534
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
KINDS = {".png": "image/png", ".mp4": "video/mp4", ".webm": "video/webm"}
CONTACT_COLUMNS = [  # key, title, whether it is shown if it is 0 for all contacts
    ("interval_count", "closed, times", True), ("impacts", "impacts", True),
    ("time_in_contact", "in contact [s]", True), ("mean_force", "mean force [N]", True),
    ("peak_force", "peak force [N]", True), ("peak_force_time", "at t [s]", True),
    ("filtered_peak_force", "peak force, filtered [N]", False), ("total_impulse", "impulse [N s]", True),
    ("impact_loss", "impact loss [J]", False), ("friction_loss", "friction loss [J]", False),
    ("sliding_distance", "sliding distance [m]", False), ("min_gap", "smallest gap [m]", True)]
LEDGER = [("external_work", "external work", 1.0), ("damping_loss", "damping", -1.0),
          ("material_loss", "materials", -1.0), ("impact_loss", "impacts", -1.0), ("friction_loss", "friction", -1.0),
          ("numerical_loss", "numerical loss", -1.0)]  # with the corrections, which cancel it for the most part
LOSSES = ("damping_loss", "impact_loss", "friction_loss", "correction_work", "numerical_loss", "material_loss")
TITLES = {"study": "{} over the points", "refine": "{} over the levels", "waves": "{} over position and time",
          "frequencies": "Frequencies", "mode": "Mode shapes"}


# ---- Pieces of a page: numbers as people read them, listings, charts for player.js, embedded figures ----

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


def limits(values: Array, padding: float, least: float = 0.0) -> tuple[float, float]:
    """The ends of an axis; values that differ by round-off only, or by less than `least`, are drawn as a level line."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, least) or high == low:
        half = max(0.1 * size, least) or 1.0
        return low - half, high + half
    return low - padding * (high - low), high + padding * (high - low)


def chart(title: str, x: tuple[str, str], y: tuple[str, str], series: Sequence[tuple[str, Array, Array]],
          cursor: str = "time", least: float = 0.0) -> Optional[Block]:
    """A chart for player.js: names and units of the axes, (name, x, y) of each line; None if there is no number.
    `cursor`: "time" of the horizontal axis, "row" of the table, or "". `least`: what is round-off of y."""
    lines = []
    for name, xs, ys in series:
        xs, ys = thin(np.asarray(xs, float), np.asarray(ys, float))
        good = np.isfinite(xs) & np.isfinite(ys)
        if good.any():
            lines.append((name, xs, ys, good))
    if not lines:
        return None
    x_low, x_high = limits(np.concatenate([xs[good] for _, xs, _, good in lines]), 0.0 if cursor == "time" else 0.05)
    y_low, y_high = limits(np.concatenate([ys[good] for _, _, ys, good in lines]), 0.05, least)
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
        data = base64.b64encode(read_bytes(path)).decode()
        kind = KINDS[os.path.splitext(name)[1]]
        shown.append({"name": name, "source": f"data:{kind};base64,{data}", "is_movie": kind.startswith("video")})
    return shown, len(names) - len(shown)


def printable(line: str) -> str:
    """A text without what no page may hold: control characters and lone surrogates."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "\ufffd", line)


# ---- Parts of all pages ----

class Page:
    """What the template shows."""

    def __init__(self, results: Results, title: str, version: str = ""):
        self.results, self.title, self.version = results, title or results.name, version
        self.present: str = lib.percuss_version().decode()
        self.charts: list[Block] = []  #: of all sections, for player.js
        self.sections: dict[str, list[Block]] = {}  #: charts and drawings by section
        self.scene = scene(results) if results.kind != "study" else None
        self.pictures, self.more_pictures = pictures(results.folder)
        self.case = "case.resolved.yaml"  #: path of the case in the folder

    def put(self, **values: Any) -> None:
        """Gives the template more to show."""
        vars(self).update(values)

    def show(self, section: str, charts: Sequence[Optional[Block]]) -> None:
        """Adds those charts that have something to show."""
        there = self.sections[section] = [chart for chart in charts if chart]
        for chart in there:
            if "series" in chart:
                chart["number"] = len(self.charts)
                self.charts.append(chart)

    def draw(self, section: str, *prefixes: str) -> None:
        """Adds the figures of percuss plot whose names begin so."""
        from ._plot import make
        found = self.sections[section] = []
        for name, script in make([self.results], [], Options(width=12.0))[0]:
            if name.startswith(prefixes) and len(found) < MOST_GROUPS:
                kind, _, rest = name.partition("_")
                one = drawing(TITLES[kind].format(rest), script.figure())
                if kind == "waves":
                    scale = si("s", float(self.results.waves[0].times[-1]))[0]
                    one["axes"] = [*one["box"], *(t / scale for t in one["ylim"]), False]
                found.append(one)

    def listing(self) -> Any:
        """The case as it was solved, None if it is not there."""
        return listing(read_text(self.results.path(self.case))) if self.results.has(self.case) else None


def is_zero(values: Array) -> bool:
    """Whether a column says nothing."""
    return not np.any(np.abs(np.nan_to_num(values)) > 0.0)


def case_title(results: Results) -> str:
    """The title in case.resolved.yaml, else the name of the case."""
    import yaml
    if not results.has("case.resolved.yaml"):
        return ""
    with errors_of(results.path("case.resolved.yaml")):
        found = yaml.safe_load(results.case)
    said = found.get("title") if isinstance(found, dict) else None
    return said if isinstance(said, str) else ""


def columns_of(table: Any, names: Sequence[str]) -> Block:
    """Heads and rows of a table with units; texts stay what they are."""
    there = [name for name in names if name in table.columns]
    return {"heads": [units.join(name, table.attrs["units"].get(name, "")) for name in there],
            "rows": [[cell(table[name].iloc[i]) for name in there] for i in range(min(len(table), MOST_ROWS))],
            "right": [i for i, name in enumerate(there) if table[name].dtype != object]}


def cell(x: Any) -> str:
    """What a cell of a table shows."""
    if isinstance(x, str):
        return x
    return str(int(x)) if isinstance(x, (int, np.integer)) else number(float(x)) if np.isfinite(x) else ""


# ---- Runs ----

def add_history(page: Page, table: Any) -> None:
    """Charts of history.csv: energies, contacts with the largest impulse of a step first, and all other columns, those
    of one place and unit together."""
    names, known = [str(name) for name in table.columns], table.attrs["units"]
    column = {name: np.asarray(table[name], float) for name in names}
    corners = [value(page.results.summary, f"frames.{end}") for end in ("low", "high")]
    round_off = 1e-12 * math.dist(*corners) if all(corners) else 0.0  # beside the size of what moved

    def over_time(title: str, what: str, unit: str, lines: dict[str, Array]) -> Optional[Block]:
        return chart(title, ("time", "s"), (what, unit), [(key, column["t"], x) for key, x in lines.items()],
                     least=round_off if unit == "m" else 0.0)

    def pick(*wanted: str) -> dict[str, Array]:
        there = [name for name in wanted if name in column and not is_zero(column[name])]
        return {name.replace("_", " "): column[name] for name in there}

    energies = pick("kinetic", "strain", "potential")
    total = sum(energies.values(), np.zeros(len(table)))
    contacts = [name[:-4] for name in names if name.endswith(".gap") and f"{name[:-4]}.force" in column]
    contacts.sort(key=lambda c: -float(np.nanmax(column.get(f"{c}.step_impulse", np.zeros(1)), initial=0.0)))
    charts: list[Optional[Block]] = []
    for name in contacts[:MOST_DRAWN]:
        force, impulse, friction = (f"{name}.{part}" for part in ("force", "step_impulse", "friction"))
        charts.append(over_time(f"Contact {name}: gap", "gap", "m", {"gap": column[f"{name}.gap"]}))
        what, unit, lines = "force", "N", {"force": column[force]}
        if pick(friction):
            lines["friction"] = column[friction]
        if is_zero(column[force]) and pick(impulse):  # bodies that do not give way have no forces
            what, unit, lines = "impulse", "N s", {"impulse": column[impulse]}
        charts.append(over_time(f"Contact {name}: {what}{' of each step' * (what == 'impulse')}", what, unit, lines))
    page.show("contacts", charts if items(page.results.summary, "contacts") else [])
    page.show("energy", [ledger(page.results.summary),
                         over_time("Energies over time", "energy", "J", {**energies, "total": total}),
                         over_time("Losses and corrections since the start", "energy", "J", pick(*LOSSES)),
                         over_time("Work of the loads since the start", "energy", "J", pick("external_work"))])
    first = names.index("iterations") + 1 if "iterations" in names else 0
    left = [name for name in names[first:] if not name.endswith(".gap") and name != "t"
            and name.rpartition(".")[0] not in contacts]
    groups: dict[tuple[str, str], list[str]] = {}
    for name in left:
        unit = known.get(name, "")
        groups.setdefault((name.rpartition(".")[0], unit) if unit else (name, ""), []).append(name)
    charts = []
    for (place, unit), own in list(groups.items())[:MOST_GROUPS]:
        known_as = units.quantity(own[0])
        what = known_as.name if known_as else own[0]
        title = own[0] if len(own) == 1 or not known_as else f"{place}: {what}" if place else what
        charts.append(over_time(title, what, unit, {name: column[name] for name in own[:8]}))
    page.show("probes", charts)
    shown = sum(len(own[:8]) for own in list(groups.values())[:MOST_GROUPS])
    page.put(ncontact=len(contacts), most=MOST_DRAWN, nrow=len(table) - 1, more_columns=len(left) - shown)


def ledger(summary: dict[str, Any]) -> Optional[Block]:
    """What changed the energy, as bars."""
    energy = value(summary, "energy")
    lines = [(name, sign * real(energy, key) + 0.0) for key, name, sign in LEDGER]
    lines[-1] = ("numerical loss", lines[-1][1] + real(energy, "correction_work"))
    return bars("Ledger: what changed the energy", "J", [line for line in lines if math.isfinite(line[1])])


def run_facts(summary: dict[str, Any]) -> str:
    """What moved how far, how fast, and how strongly it was loaded."""
    seen, lines = value(summary, "frames"), []

    def said(x: float, unit: str) -> str:
        factor, name = si(unit, abs(x))
        return quantity(factor * x, name, 4)

    moved, speed = (real(seen, f"vectors.{name}.magnitude.max") for name in ("displacement", "velocity"))
    if math.isfinite(moved):
        lines.append(f"The largest displacement is {said(moved, 'm')}")
    if math.isfinite(speed):
        lines.append(f"the largest speed {said(speed, 'm/s')}")
    for name in ("bending_stress", "stress", "axial_force"):
        kind = "point_fields" if value(seen, f"point_fields.{name}") else "fields"
        low, high = (real(seen, f"{kind}.{name}.{end}") for end in ("min", "max"))
        if math.isfinite(low) and max(-low, high) > 0.0:
            largest = high if high >= -low else low
            lines.append(f"the largest {name.replace('_', ' ')} {said(largest, units.unit(name))} at t = "
                         f"{said(real(seen, f'{kind}.{name}.largest_time'), 's')}")
            break
    return ", ".join(lines) + (", in the frames that were drawn." if lines else "")


def report_run(results: Results) -> Page:
    """The page of a run."""
    summary = results.summary
    page = Page(results, text(summary, "title"), text(summary, "version"))
    contacts, checks = items(summary, "contacts"), items(summary, "certificate.checks")
    counted = [check for check in checks if text(check, "verdict") != "reported"]
    page.put(
        facts=run_facts(summary), contacts=contacts, checks=checks, counted=counted,
        contact_columns=[(key, title) for key, title, is_usual in CONTACT_COLUMNS
                         if is_usual or any(abs(real(contact, key)) > 0.0 for contact in contacts)],
        held=[(kind, items(summary, kind)) for kind in ("joints", "supports") if items(summary, kind)],
        worst=max(counted, key=lambda check: real(check, "worst_ratio"), default=None))
    if results.has("history.csv"):
        add_history(page, results.history)
        if results.waves:
            page.draw("waves", "waves_")
    else:
        page.show("energy", [ledger(summary)])
    return page


# ---- Statics and modes ----

def report_statics(results: Results) -> Page:
    """The page of an equilibrium: load path, energies, contacts, load steps."""
    page, table = Page(results, case_title(results)), results.table
    names, known = [str(name) for name in table.columns], table.attrs["units"]
    step, factor = (np.asarray(table[name], float) for name in ("step", "factor"))
    cursor = "row" if len(table) <= MOST_POINTS else ""
    contacts = [name[:-4] for name in names if name.endswith(".gap") and f"{name[:-4]}.force" in names]
    first = max(names.index(name) for name in ("friction_work", "arc", "slope", "determinant", "factor")
                if name in names) + 1
    paths, others = [], []
    for name in names[first:]:
        what, values = units.quantity(name), np.asarray(table[name], float)
        axis = (what.name if what else name, known.get(name, ""))
        if name.rpartition(".")[0] in contacts:
            others.append(chart(f"{name} over the load steps", ("load step", ""), axis, [(name, step, values)],
                                  cursor))
        elif not is_zero(values):
            paths.append(chart(f"Load path: {name}", axis, ("load factor", ""), [("load factor", values, factor)],
                                 cursor))
    page.show("paths", paths[:MOST_GROUPS])
    page.show("contacts", others[:MOST_GROUPS])
    work = [(name.replace("_", " "), step, np.asarray(table[name], float)) for name in names
            if known.get(name) == "J" and not is_zero(table[name])]
    page.show("energy", [chart("Energies and work", ("load step", ""), ("energy", "J"), work, cursor)])
    page.put(factor=factor[-1], nstep=len(table) - 1, table=columns_of(table, names[:first]),
             said=read_text(results.path("summary.txt")) if results.has("summary.txt") else "")
    return page


def report_modes(results: Results) -> Page:
    """The page of modes: shapes, frequencies."""
    page = Page(results, case_title(results))
    columns = ["mode", "f", "w", "damping", "kind", "name", "residual"]
    page.put(table=columns_of(results.table, columns), nmode=len(results.table))
    page.draw("modes", "frequencies", "mode_shapes")
    return page


# ---- Studies ----

def study_value(row: Any, name: str) -> Any:
    """"196.215 ± 0.001, converges, order 2.3", or why there is no bound."""
    found = Markup.escape(number(float(row[name]) if not isinstance(row[name], str) else math.nan))
    if isinstance(row.get(f"{name}.convergence"), str):
        parts = [part for part in (f"{name}.mesh", f"{name}.step") if isinstance(row.get(f"{part}.convergence"), str)]
        if np.isfinite(row[f"{name}.bound"]):
            found += f"\u00a0±\u00a0{number(row[f'{name}.bound'], 2)}"
        for part in parts or [name]:
            kind, order = row[f"{part}.convergence"], row.get(f"{part}.order", math.nan)
            line = kind + (f", order {number(order, 2)}" if kind == "converges" else "")
            if parts:
                bound = row[f"{part}.bound"]
                line = (f"±\u00a0{number(bound, 2)}, " if np.isfinite(bound) else "") + line
                line = f"{part.rsplit('.', 1)[1]}: {line}"
            found += Markup('<br><span class="soft">{}</span>').format(line)
    return found


def study_rows(table: Any, keys: Sequence[str], measures: Sequence[str]) -> list[list[Any]]:
    """Rows of study.csv: keys and measures, or the reason why there are none."""
    rows = []
    for _, row in table.head(MOST_ROWS).iterrows():
        head = [x if isinstance(x, str) else f"{x:.12g}" if np.isfinite(x) else "" for x in (row[key] for key in keys)]
        if row["status"] == "done":
            rows.append([*head, *(study_value(row, name) for name in measures)])
        else:
            reason = row.get("reason")
            rows.append([*head, f"{row['status']}: {reason if isinstance(reason, str) else ''}"])
    return rows


def report_study(results: Results) -> Page:
    """The page of a study."""
    about = results.summary if results.has("study.json") else {}
    source = text(about, "case") or results.folder
    page = Page(results, "Study of " + os.path.basename(source.removesuffix("/case.yaml").rstrip("/")),
                text(about, "version"))
    table, known = results.table, results.table.attrs["units"]
    names = [str(name) for name in table.columns]
    measures, keys = measures_of(names), names[:names.index("run")]
    states = [text(point, "status") for point in items(about, "points")] or list(table["status"])
    refined = [kind for kind in ("mesh", "step") if kind in (value(about, "refine") or {})]
    heads = [breakable(key) for key in keys]
    heads += [breakable(name) + (f" [{known[name]}]" if known.get(name) else "") for name in measures]
    statistics, command = value(about, "statistics") or {}, about.get("command")
    columns = [str(key) for key in next(iter(statistics.values()), ())]
    run = next((name for name in table["run"] if results.has(f"runs/{name}/case.resolved.yaml")), None)
    point = table[table["run"] == run].iloc[0] if run is not None else {}
    page.case = f"runs/{run}/case.resolved.yaml"
    page.put(
        about=about, done=states.count("done"), npoint=len(states), refined=refined, keys=keys,
        more=len(table) - MOST_ROWS,
        varied=[key for key in keys if not refined or key not in ("level", "mesh_factor", "step_factor")],
        table={"heads": heads, "rows": study_rows(table, keys, measures), "right": range(len(keys), len(heads))},
        statistics=[[breakable(name), *map(number, map(partial(real, one), columns))]
                    for name, one in statistics.items()], statistics_columns=columns,
        point=", ".join(f"{key} = {cell(point[key])}" for key in keys) if run is not None else "",
        command=list(map(str, command)) if isinstance(command, list) else [
            "percuss", "study", "CASE", "-o", results.folder])
    if "done" in states and measures:
        page.draw("charts", "study_", "refine_")
    return page


# ---- The page ----

def cells(rows: Sequence[dict[str, Any]], keys: Sequence[str], digits: int = 6) -> list[list[Any]]:
    """Texts, numbers, and times that move the picture, of objects of summary.json."""
    return [[text(row, key) if isinstance(value(row, key), str) or key == "name" else
             moment(real(row, key)) if key.endswith("_time") else number(real(row, key), digits)
             for key in keys] for row in rows]


def facts(tree: Any, listed: Sequence[tuple[str, str, str]]) -> list[list[str]]:
    """Names and what stands at their places, of those that have a text or number."""
    said = [(name, text(tree, place), real(tree, place), unit) for name, place, unit in listed]
    return [[name, text or quantity(x, unit)] for name, text, x, unit in said if text or math.isfinite(x)]


def render(page: Page) -> str:
    """The page as HTML."""
    import jinja2
    here = os.path.dirname(os.path.abspath(__file__))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader([os.path.join(here, "templates"), here]),
                                     autoescape=True, trim_blocks=True, undefined=jinja2.ChainableUndefined)
    environment.filters.update(number=number, quantity=quantity, breakable=breakable)
    environment.globals.update(real=real, text=text, cells=cells, facts=facts, command=command)
    return printable(environment.get_template("report.html").render(
        page=page, kind=page.results.kind, results=page.results,
        summary=page.results.summary if page.results.kind == "run" else {}))


def build(results: Results) -> str:
    """The page of results of any kind; damaged files raise InputError."""
    makers = {"run": report_run, "study": report_study, "statics": report_statics, "modes": report_modes}
    if results.kind not in makers:
        raise InputError(f"{results.folder}: there is no report of a {results.kind}")
    with errors_of(results.folder):
        return render(makers[results.kind](results))


def report(results: Union[Path, Results], output: Optional[Path] = None) -> str:
    """Writes one page of HTML about results, or those in a folder: report.html there unless `output` names another file
    or folder. Gives its path."""
    where = results.folder if isinstance(results, Results) else os.fspath(results)
    where = where.rstrip("/") or "/" if where else where
    if not os.path.isdir(where):
        raise InputError(f"there is no folder '{where}'")
    kinds = ("summary.json", "study.csv", "statics.csv", "modes.csv")
    if not any(os.path.isfile(os.path.join(where, name)) for name in kinds):
        raise InputError(f"'{where}' holds neither {', '.join(kinds[:-1])} nor {kinds[-1]}: a report is of the results "
                         "of a run, a study, statics or modes")
    path = os.fspath(output) if output is not None else where
    if os.path.isdir(path):
        path = os.path.join(path, "report.html")
    html = build(open_results(where))
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
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")
    arguments = parser.parse_args(argv)
    path = report(arguments.results, arguments.output)
    if not arguments.quiet:
        print(f"Report in {path}")
    return DONE
