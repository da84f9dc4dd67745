"""Pages about statics, modes and studies, and what all pages have in common."""

from __future__ import annotations

import math
import os
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from . import page as p
from . import units
from ._library import lib
from ._player import scene
from .errors import InputError
from .figure import Options, si
from .files import read_text
from .page import Block
from .results import Results

Array = npt.NDArray[Any]

MOST_ROWS, MOST_GROUPS = 1000, 24
HINT = ("Space plays and pauses, arrow keys step, Home and End jump; click a moment in a chart and the picture goes "
        "there. The mouse wheel zooms, dragging {}; a double click resets the view.")


class Page:
    """What the template shows."""

    def __init__(self, results: Results, title: str):
        self.results, self.title = results, title or results.name
        self.head: list[dict[str, Any]] = []
        self.motion, self.facts, self.slider = "What moved", "", "time"
        self.charts: list[dict[str, Any]] = []
        self.parts: list[dict[str, Any]] = []
        self.scene = scene(results) if results.kind != "study" else None
        is_flat = self.scene is not None and self.scene["flat"]
        self.hint = HINT.format("shifts" if is_flat else "turns, with shift it shifts")
        if self.scene and self.scene["all"] > len(self.scene["times"]):
            self.hint += f" Shown are {len(self.scene['times'])} of {self.scene['all']} frames."

    def say(self, line: Any, kind: str = "soft") -> None:
        """A line under the title."""
        self.head.append({"text": line, "class": kind})

    def add(self, name: str, title: str, blocks: Sequence[Optional[Block]]) -> None:
        """A section; without blocks there is none."""
        there = [block for block in blocks if block]
        if there:
            self.parts.append({"id": name, "title": title, "blocks": there})

    def show(self, charts: Sequence[Optional[Block]]) -> Optional[Block]:
        """A block of those charts that have something to show."""
        there = [chart for chart in charts if chart]
        for chart in there:
            if "series" in chart:
                chart["number"] = len(self.charts)
                self.charts.append(chart)
        return {"kind": "charts", "list": there} if there else None

    def end(self, again: Sequence[str], version: str, note: Any = None) -> None:
        """Pictures of the folder, the commands that make it again, how to cite."""
        self.add("again", "Make it again", [
            {"kind": "code", "class": "command",
             "text": "\n".join([*again, p.command("percuss", "report", self.results.folder)])},
            p.words(note, "soft") if note else None])
        present = lib.percuss_version().decode()
        line = (f"Percuss, version {version or present}: elastic bodies that hit, stick and rebound. Results of "
                f"‘{self.title}’.")
        if version != present:
            line += f" This page was written by version {present}."
        if not version:
            line += " The results do not say which version wrote them."
        entry = (f"@software{{percuss,\n  title   = {{Percuss: elastic bodies that hit, stick and rebound}},\n"
                 f"  version = {{{version or present}}},\n  note    = {{{self.title}}}\n}}")
        self.add("cite", "How to cite", [p.words(line), {"kind": "code", "class": "", "text": entry}])

    def case(self, name: str, before: Any = None) -> None:
        """The case as it was solved."""
        if self.results.has(name):
            shown = {"kind": "listing", "text": p.listing(read_text(self.results.path(name)))}
            self.add("case", "What was run", [p.words(before) if before else None, shown])


def is_zero(values: Array) -> bool:
    """Whether a column says nothing."""
    return not np.any(np.abs(np.nan_to_num(values)) > 0.0)


def case_title(results: Results) -> str:
    """The title in case.resolved.yaml, else the name of the case."""
    import yaml
    if not results.has("case.resolved.yaml"):
        return ""
    try:
        found = yaml.safe_load(results.case)
    except (yaml.YAMLError, RecursionError):
        raise InputError(f"{results.path('case.resolved.yaml')}: damaged: it is no YAML") from None
    said = found.get("title") if isinstance(found, dict) else None
    return said if isinstance(said, str) else ""


TITLES = {"study": "{} over the points", "refine": "{} over the levels", "waves": "{} over place and time",
          "frequencies": "Frequencies", "mode": "Mode shapes"}


def drawings(results: Results, *prefixes: str) -> Optional[Block]:
    """Figures of percuss plot whose names begin so."""
    from ._plot import make
    found: list[Block] = []
    for name, script in make([results], [], Options(width=12.0))[0]:
        if name.startswith(prefixes) and len(found) < MOST_GROUPS:
            kind, _, rest = name.partition("_")
            one = p.drawing(TITLES[kind].format(rest), script.figure())
            if kind == "waves":
                scale = si("s", float(results.waves[0].times[-1]))[0]
                one["axes"] = [*one["box"], *(t / scale for t in one["ylim"]), False]
            found.append(one)
    return {"kind": "drawings", "list": found} if found else None


def table_of(table: Any, names: Sequence[str]) -> Block:
    """Columns of a table with their units; texts stay what they are."""
    there = [name for name in names if name in table.columns]
    rows = [[cell(table[name].iloc[i]) for name in there] for i in range(min(len(table), MOST_ROWS))]
    known = table.attrs["units"]
    right = [i for i, name in enumerate(there) if table[name].dtype != object]
    return p.table([units.join(name, known.get(name, "")) for name in there], rows, right)


def cell(x: Any) -> str:
    """What a cell of a table shows."""
    if isinstance(x, str):
        return x
    return str(int(x)) if isinstance(x, (int, np.integer)) else p.number(float(x)) if np.isfinite(x) else ""


def report_statics(results: Results) -> Page:
    """The page of an equilibrium: load path, energies, contacts, load steps."""
    page, table = Page(results, case_title(results)), results.table
    page.motion, page.slider = "What moved", "load step"
    names = [str(name) for name in table.columns]
    last, step = table.iloc[-1], np.asarray(table["step"], float)
    page.say(f"{results.name}: static equilibrium, load factor {p.number(last['factor'])} after {len(table) - 1} load "
             "steps.")
    cursor = "row" if len(table) <= p.MOST_POINTS else ""
    known = table.attrs["units"]
    contacts = [name[:-4] for name in names if name.endswith(".gap") and f"{name[:-4]}.force" in names]
    first = max(names.index(name) for name in ("friction_work", "arc", "slope", "determinant", "factor")
                if name in names) + 1
    paths, others = [], []
    for name in names[first:]:
        what, values = units.quantity(name), np.asarray(table[name], float)
        if name.rpartition(".")[0] in contacts:
            others.append(p.chart(f"{name} over the load steps", ("load step", ""),
                                  (what.name if what else name, known.get(name, "")), [(name, step, values)], cursor))
        elif not is_zero(values):
            paths.append(p.chart(f"Load path: {name}", (what.name if what else name, known.get(name, "")),
                                 ("load factor", ""), [("load factor", values, np.asarray(table["factor"], float))],
                                 cursor))
    page.add("paths", "Load paths", [page.show(paths[:MOST_GROUPS])])
    page.add("contacts", "Contacts", [page.show(others[:MOST_GROUPS])])
    work = [(name.replace("_", " "), step, np.asarray(table[name], float)) for name in names
            if known.get(name) == "J" and not is_zero(table[name])]
    page.add("energy", "Energy and work", [page.show([p.chart("Energies and work", ("load step", ""), ("energy", "J"),
                                                              work, cursor)])])
    page.add("pictures", "Pictures", p.pictures(results.folder))
    page.add("steps", "Load steps", [table_of(table, names[:first])])
    if results.has("summary.txt"):
        page.add("summary", "Summary", [{"kind": "code", "class": "",
                                         "text": read_text(results.path("summary.txt"))}])
    page.case("case.resolved.yaml")
    page.end([p.command("percuss", "statics", results.path("case.resolved.yaml"), "-o", results.folder)], "",
             "With the options --steps and --time that were given then.")
    return page


def report_modes(results: Results) -> Page:
    """The page of modes: shapes, frequencies."""
    page, table = Page(results, case_title(results)), results.table
    page.motion, page.slider = "Mode shapes", "mode"
    page.hint = page.hint.replace("arrow keys step", "arrow keys choose a mode").replace(
        "; click a moment in a chart and the picture goes there", "")
    page.say(f"{results.name}: {len(table)} modes about the state that the case describes, lowest frequency first.")
    page.add("modes", "Frequencies", [table_of(table, ["mode", "f", "w", "damping", "kind", "name", "residual"]),
                                      drawings(results, "frequencies", "mode_shapes")])
    page.add("pictures", "Pictures", p.pictures(results.folder))
    page.case("case.resolved.yaml")
    page.end([p.command("percuss", "modes", results.path("case.resolved.yaml"), "-o", results.folder)], "",
             "With the options --count, --about, --whirl, --steps and --time that were given then.")
    return page


DETAILS = ("limit", "bound", "order", "convergence")


def study_measures(names: Sequence[str]) -> list[str]:
    """Columns of study.csv that are measures, without limits, bounds and orders."""
    after = names[names.index("status") + 1:]
    known = set(after)
    return [name for name in after if name != "reason" and not any(
        name.endswith(f".{d}") and name[:-len(d) - 1].removesuffix(".mesh").removesuffix(".step") in known
        and f"{name[:-len(d) - 1].removesuffix('.mesh').removesuffix('.step')}.convergence" in known for d in DETAILS)]


def study_value(row: Any, name: str) -> Any:
    """"196.215 ± 0.001, converges, order 2.3", or why there is no bound."""
    found = Markup.escape(p.number(float(row[name]) if not isinstance(row[name], str) else math.nan))
    if isinstance(row.get(f"{name}.convergence"), str):
        parts = [part for part in (f"{name}.mesh", f"{name}.step") if isinstance(row.get(f"{part}.convergence"), str)]
        if np.isfinite(row[f"{name}.bound"]):
            found += f"\u00a0±\u00a0{p.number(row[f'{name}.bound'], 2)}"
        for part in parts or [name]:
            kind, order = row[f"{part}.convergence"], row.get(f"{part}.order", math.nan)
            line = kind + (f", order {p.number(order, 2)}" if kind == "converges" else "")
            if parts:
                bound = row[f"{part}.bound"]
                line = (f"±\u00a0{p.number(bound, 2)}, " if np.isfinite(bound) else "") + line
                line = f"{part.rsplit('.', 1)[1]}: {line}"
            found += Markup('<br><span class="soft">{}</span>').format(line)
    return found


def study_table(table: Any, names: Sequence[str], measures: Sequence[str]) -> Block:
    """Rows of study.csv: keys and measures, or the reason why there are none."""
    keys = names[:names.index("run")]
    known = table.attrs["units"]
    rows = []
    for i in range(min(len(table), MOST_ROWS)):
        row = table.iloc[i]
        head = [x if isinstance(x, str) else f"{x:.12g}" if np.isfinite(x) else "" for x in (row[key] for key in keys)]
        if row["status"] == "done":
            rows.append([*head, *(study_value(row, name) for name in measures)])
        else:
            reason = row.get("reason")
            rows.append([*head, f"{row['status']}: {reason if isinstance(reason, str) else ''}"])
    heads = [p.breakable(key) for key in keys]
    heads += [p.breakable(name) + (f" [{known[name]}]" if known.get(name) else "") for name in measures]
    return p.table(heads, rows, range(len(keys), len(heads)))


def study_bounds(about: dict[str, Any]) -> Optional[Block]:
    """Of which errors the bounds are."""
    refine = p.value(about, "refine")
    if not isinstance(refine, dict):
        return None
    missing = p.text(refine, "not_refined")
    found = "step" if missing == "mesh" else "mesh"
    line = ("Every level has a row. What follows ± at the finest one is a bound of the error by "
            f"{found if missing else 'mesh and step'}, from runs on coarser levels (Roache’s grid convergence index); "
            "where a measure oscillates or diverges it has a wide one or none.")
    return p.words(line + (f" The error of the {missing} is not in it." if missing else ""))


def study_statistics(about: dict[str, Any]) -> list[Block]:
    """Mean, deviation and percentiles of the measures, of random studies."""
    found = p.value(about, "statistics")
    if not isinstance(found, dict) or not found:
        return []
    columns = [str(key) for key in next(iter(found.values()))]
    rows = [[p.breakable(name), *(p.number(p.real(one, key)) for key in columns)] for name, one in found.items()]
    return [p.table(["measure", *columns], rows, range(1, len(columns) + 1))]


def report_study(results: Results) -> Page:
    """The page of a study."""
    about = results.summary if results.has("study.json") else {}
    source = p.text(about, "case") or results.folder
    page = Page(results, "Study of " + os.path.basename(source.removesuffix("/case.yaml").rstrip("/")))
    table = results.table
    names = [str(name) for name in table.columns]
    measures, keys = study_measures(names), names[:names.index("run")]
    states = [p.text(point, "status") for point in p.items(about, "points")] or list(table["status"])
    done = sum(state == "done" for state in states)
    line = Markup("<strong>{} of {} points are done.</strong> {}").format(
        done, len(states), "" if done == len(states) else "Why the others are not is in their rows. ")
    refined = [kind for kind in ("mesh", "step") if kind in (p.value(about, "refine") or {})]
    varied = [key for key in keys if not refined or key not in ("level", "mesh_factor", "step_factor")]
    if varied or not refined:
        line += Markup("Varied: {}. ").format(
            Markup(", ").join(Markup("<code>{}</code>").format(key) for key in varied) or "nothing")
    if refined:
        line += f"Refined: {' and '.join(refined)}."
    page.say(line, "verdict" + ("" if done == len(states) else " broken"))
    more = len(table) - MOST_ROWS
    page.add("table", "Results", [study_bounds(about), study_table(table, names, measures),
                                  p.words(f"{more} more rows are in study.csv.", "soft") if more > 0 else None])
    page.add("statistics", "Distribution of the measures", study_statistics(about))
    if done and measures:
        page.add("charts", "Measures", [drawings(results, "study_", "refine_")])
    page.add("pictures", "Pictures", p.pictures(results.folder))
    run = next((name for name in table["run"] if results.has(f"runs/{name}/case.resolved.yaml")), None)
    if run is not None:
        row = table[table["run"] == run].iloc[0]
        point = ", ".join(f"{key} = {cell(row[key])}" for key in keys)
        page.case(f"runs/{run}/case.resolved.yaml",
                  Markup("The case of the point <code>{}</code>, with all defaults:").format(point)
                  if keys else "The case of one run, with all defaults:")
    command = about.get("command")
    again = p.command(*map(str, command)) if isinstance(command, list) else p.command(
        "percuss", "study", "CASE", "-o", results.folder)
    page.end([again], p.text(about, "version"), Markup(
        "Each run by itself: <code>percuss run {}/runs/NAME/case.resolved.yaml</code>, NAME from the column "
        "<code>run</code> of study.csv.").format(results.folder))
    return page
