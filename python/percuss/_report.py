"""percuss report: one page of HTML about results, with all that it shows in it. Its words are in templates/report.html;
here are the numbers, tables and figures, those of percuss plot."""

from __future__ import annotations

import base64
import io
import math
import os
import re
import shlex
import zlib
from typing import Any, Optional, Union

import numpy as np
from markupsafe import Markup

from . import units
from ._library import lib
from ._player import scene
from ._plot import make
from ._study import shown_value
from .command import DONE, Parser
from .errors import InputError, PercussError
from .figure import Options, si
from .files import Path, errors_of, read_bytes, read_text, write_file
from .pictures import LEDGER, measures_of
from .results import Results, open as open_results

Block = dict[str, Any]
MOST_ROWS, MOST_DRAWN = 1000, 12  # of a table; figures of a section
MOST_PICTURES, MOST_PICTURE_BYTES = 24, 64 << 20
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
KINDS = {".png": "image/png", ".mp4": "video/mp4", ".webm": "video/webm"}
CONTACT_COLUMNS = [  # key, title, whether it is shown if it is 0 for all contacts
    ("interval_count", "closed, times", True), ("impacts", "impacts", True),
    ("time_in_contact", "in contact [s]", True), ("mean_force", "mean force [N]", True),
    ("peak_force", "peak force [N]", True), ("peak_force_time", "at t [s]", True),
    ("filtered_peak_force", "peak force, filtered [N]", False), ("total_impulse", "impulse [N s]", True),
    ("impact_loss", "impact loss [J]", False), ("friction_loss", "friction loss [J]", False),
    ("sliding_distance", "sliding distance [m]", False), ("min_gap", "smallest gap [m]", True)]
# Section and title of every kind of figure, by the beginning of its name.
FIGURES = {"contact_": ("contacts", "Contact {}"), "energies": ("energy", "Energies and what changed them"),
           "momentum": ("energy", "Momentum"), "probe_": ("probes", "{}"), "coordinates": ("probes", "Coordinates"),
           "phase_": ("probes", "{} and its rate"), "path_": ("probes", "Path of {}"), "steps": ("steps", "Steps"),
           "waves_": ("waves", "{} over position and time"), "load_path_": ("paths", "Load path: {}"),
           "frequencies": ("modes", "Frequencies"), "mode_shapes": ("modes", "Mode shapes"),
           "study_": ("charts", "{} over the points"), "refine_": ("charts", "{} over the levels")}


# ---- Numbers as people read them, listings, figures ----

def number(x: Any, digits: int = 6) -> str:
    """A number as "0.0123" or "1.2×10⁻⁷"; a dash if it is none or not finite."""
    if isinstance(x, bool) or not isinstance(x, (int, float, np.number)) or not math.isfinite(x):
        return "–"
    mantissa, exponent = f"{x + 0.0:.{digits - 1}e}".split("e")
    power = int(exponent)
    if x == 0.0 or -4 <= power < 6:
        plain = f"{x + 0.0:.{max(digits - 1 - power, 0)}f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}×10{str(power).translate(RAISED)}"


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
    names = sorted(name for name in os.listdir(folder) if os.path.splitext(name)[1] in KINDS)
    found = []
    for name in names[:MOST_PICTURES]:
        path = os.path.join(folder, name)
        if os.path.getsize(path) > MOST_PICTURE_BYTES:
            raise InputError(f"{path}: the picture is larger than {MOST_PICTURE_BYTES >> 20} MB")
        data = base64.b64encode(read_bytes(path)).decode()
        kind = KINDS[os.path.splitext(name)[1]]
        found.append({"name": name, "source": f"data:{kind};base64,{data}", "is_movie": kind.startswith("video")})
    return found, len(names) - len(found)


def draw(results: Results) -> tuple[dict[str, list[Block]], list[str]]:
    """The figures of percuss plot by section, and notes on what was left out."""
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

def case_title(results: Results) -> str:
    """The title in case.resolved.yaml, "" if there is none."""
    import yaml
    if not results.has("case.resolved.yaml"):
        return ""
    with errors_of(results.path("case.resolved.yaml")):
        found = yaml.safe_load(results.case)
    return str(found.get("title") or "") if isinstance(found, dict) else ""


def columns_of(table: Any, names: list[str]) -> Block:
    """Heads and rows of a table with units; texts stay what they are."""
    there = table[[name for name in names if name in table]].head(MOST_ROWS)
    return {"heads": [units.join(name, table.attrs["units"].get(name, "")) for name in there],
            "rows": [["" if x != x else shown(x) for x in row] for row in there.itertuples(index=False)],
            "right": [i for i, name in enumerate(there) if table[name].dtype != object]}


def run_facts(seen: Any) -> str:
    """What moved how far, how fast, and how strongly it was loaded, of `frames` in summary.json."""
    vectors, lines = seen.get("vectors", {}), []
    for words, name, unit in (("The largest displacement is", "displacement", "m"),
                              ("the largest speed", "velocity", "m/s")):
        if name in vectors:
            lines.append(f"{words} {scaled(vectors[name]['magnitude']['max'], unit)}")
    fields = {**seen.get("fields", {}), **seen.get("point_fields", {})}
    loaded = [name for name in ("bending_stress", "stress", "axial_force") if name in fields
              and max(-fields[name]["min"], fields[name]["max"]) > 0.0]
    for name in loaded[:1]:
        field = fields[name]
        largest = field["max"] if field["max"] >= -field["min"] else field["min"]
        lines.append(f"the largest {name.replace('_', ' ')} {scaled(largest, units.unit(name))} at t = "
                     f"{scaled(field['largest_time'], 's')}")
    return ", ".join(lines) + (", in the frames that were drawn." if lines else "")


def of_run(results: Results) -> Block:
    """The page of a run."""
    summary = results.summary
    contacts, checks = summary.get("contacts", []), summary.get("certificate", {}).get("checks", [])
    counted = [check for check in checks if check["verdict"] != "reported"]
    energy = summary.get("energy", {})
    return {"title": summary.get("title"), "version": summary.get("version"), "facts": run_facts(
        summary.get("frames") or {}), "contacts": contacts, "checks": checks, "counted": counted,
        "contact_columns": [(key, title) for key, title, is_usual in CONTACT_COLUMNS
                            if is_usual or any(contact.get(key) for contact in contacts)],
        "held": [(kind, summary[kind]) for kind in ("joints", "supports") if summary.get(kind)],
        "worst": max(counted, key=lambda check: float(check["worst_ratio"] or 0.0), default=None),
        "ledger": [(name, number(sign * energy[key], 5)) for key, (name, sign) in LEDGER.items() if energy.get(key)],
        "has_figures": results.has("history.csv") and not results.history.empty}


def of_statics(results: Results) -> Block:
    """The page of an equilibrium: load path, energies, contacts, load steps."""
    table = results.table
    first = max(list(table).index(name) for name in ("friction_work", "arc", "slope", "determinant", "factor")
                if name in table) + 1
    return {"title": case_title(results), "factor": table["factor"].iloc[-1], "nstep": len(table) - 1,
            "table": columns_of(table, list(table)[:first]),
            "said": read_text(results.path("summary.txt")) if results.has("summary.txt") else ""}


def of_modes(results: Results) -> Block:
    """The page of modes: shapes, frequencies."""
    columns = ["mode", "f", "w", "damping", "kind", "name", "residual"]
    return {"title": case_title(results), "table": columns_of(results.table, columns), "nmode": len(results.table)}


def readable(text: str) -> str:
    """A measure with its error bar as a page shows it: 1.2×10⁻⁷ ± 10⁻⁹."""
    power = re.sub(r"(?<=\d)e([-+]\d+)", lambda m: "×10" + str(int(m[1])).translate(RAISED), text)
    return power.replace(" +- ", "\u00a0±\u00a0")


def study_row(row: Any, keys: list[str], measures: list[str]) -> list[Any]:
    """Keys and measures of a row of study.csv, or the reason why there are none."""
    head = [x if isinstance(x, str) else f"{x:.12g}" if np.isfinite(x) else "" for x in (row[key] for key in keys)]
    if row["status"] == "done":
        return [*head, *(readable(shown_value(row, name)) for name in measures)]
    reason = row.get("reason")
    return [*head, f"{row['status']}: {reason if isinstance(reason, str) else ''}"]


def of_study(results: Results) -> Block:
    """The page of a study."""
    about = results.summary if results.has("study.json") else {}
    table, known = results.table, results.table.attrs["units"]
    names = list(map(str, table))
    measures, keys = measures_of(names), names[:names.index("run")]
    states = [point["status"] for point in about.get("points", [])] or list(table["status"])
    refined = [kind for kind in ("mesh", "step") if kind in about.get("refine", {})]
    heads = [breakable(key) for key in keys]
    heads += [breakable(name) + (f" [{known[name]}]" if known.get(name) else "") for name in measures]
    statistics = about.get("statistics", {})
    columns = list(next(iter(statistics.values()), ()))
    run = next((name for name in table["run"] if results.has(f"runs/{name}/case.resolved.yaml")), None)
    point = table[table["run"] == run].iloc[0] if run is not None else {}
    return {"title": "Study of " + os.path.basename(str(about.get("case", results.folder)).removesuffix("/case.yaml")
                                                    .rstrip("/")), "version": about.get("version"),
            "case": f"runs/{run}/case.resolved.yaml", "about": about, "done": states.count("done"),
            "npoint": len(states), "refined": refined, "keys": keys, "more": len(table) - MOST_ROWS,
            "varied": [key for key in keys if not refined or key not in ("level", "mesh_factor", "step_factor")],
            "table": {"heads": heads, "rows": [study_row(row, keys, measures) for _, row in table.head(
                MOST_ROWS).iterrows()], "right": range(len(keys), len(heads))},
            "statistics": [[breakable(name), *(number(one.get(c)) for c in columns)]
                           for name, one in statistics.items()], "statistics_columns": columns,
            "point": ", ".join(f"{key} = {shown(point[key])}" for key in keys) if run is not None else "",
            "command": about.get("command") or ["percuss", "study", "CASE", "-o", results.folder],
            "has_figures": "done" in states and measures}


# ---- The page ----

def build(results: Results) -> str:
    """The page of results of any kind; damaged files raise InputError."""
    makers = {"run": of_run, "study": of_study, "statics": of_statics, "modes": of_modes}
    if results.kind not in makers:
        raise InputError(f"{results.folder}: there is no report of a {results.kind}")
    import jinja2
    here = os.path.dirname(os.path.abspath(__file__))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader([os.path.join(here, "templates"), here]),
                                     autoescape=True, trim_blocks=True, undefined=jinja2.ChainableUndefined)
    environment.filters.update(number=number, quantity=quantity, breakable=breakable, shown=shown)
    with errors_of(results.folder):
        page: Block = {"case": "case.resolved.yaml", "has_figures": True, **makers[results.kind](results)}
        page["title"] = page["title"] or results.name
        page["scene"] = scene(results) if results.kind != "study" else None
        page["sections"], page["notes"] = draw(results) if page["has_figures"] else ({}, [])
        page["pictures"], page["more_pictures"] = pictures(results.folder)
        has_case = results.has(page["case"])
        html = environment.get_template("report.html").render(
            page=page, kind=results.kind, results=results, command=command, present=lib.percuss_version().decode(),
            summary=results.summary if results.kind == "run" else {},
            listing=listing(read_text(results.path(page["case"]))) if has_case else None)
    return re.sub("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "\ufffd", html)  # what no page may hold


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
