"""percuss report: one page of HTML about results, with all that it shows in it. Its words are in templates/report.html;
here are the numbers, charts and tables."""

from __future__ import annotations

import math
import os
from functools import partial
from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from . import page as p
from . import units
from ._library import lib
from ._player import scene
from .command import DONE, Parser
from .errors import InputError, PercussError
from .figure import Options, si
from .files import Path, errors_of, read_text, write_file
from .page import Block
from .results import Results, open as open_results
from .study_pictures import measures_of

Array = npt.NDArray[Any]

MOST_ROWS, MOST_GROUPS, MOST_DRAWN = 1000, 24, 8
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
TITLES = {"study": "{} over the points", "refine": "{} over the levels", "waves": "{} over place and time",
          "frequencies": "Frequencies", "mode": "Mode shapes"}


class Page:
    """What the template shows."""

    def __init__(self, results: Results, title: str, version: str = ""):
        self.results, self.title, self.version = results, title or results.name, version
        self.present: str = lib.percuss_version().decode()
        self.charts: list[Block] = []  #: of all sections, for player.js
        self.sections: dict[str, list[Block]] = {}  #: charts and drawings by section
        self.scene = scene(results) if results.kind != "study" else None
        self.pictures, self.more_pictures = p.pictures(results.folder)
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
                one = p.drawing(TITLES[kind].format(rest), script.figure())
                if kind == "waves":
                    scale = si("s", float(self.results.waves[0].times[-1]))[0]
                    one["axes"] = [*one["box"], *(t / scale for t in one["ylim"]), False]
                found.append(one)

    def listing(self) -> Any:
        """The case as it was solved, None if it is not there."""
        return p.listing(read_text(self.results.path(self.case))) if self.results.has(self.case) else None


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
    return str(int(x)) if isinstance(x, (int, np.integer)) else p.number(float(x)) if np.isfinite(x) else ""


# ---- Runs ----

def add_history(page: Page, table: Any) -> None:
    """Charts of history.csv: energies, contacts with the largest impulse of a step first, and all other columns, those
    of one place and unit together."""
    names, known = [str(name) for name in table.columns], table.attrs["units"]
    column = {name: np.asarray(table[name], float) for name in names}

    def chart(title: str, quantity: str, unit: str, lines: dict[str, Array]) -> Optional[Block]:
        return p.chart(title, ("time", "s"), (quantity, unit), [(key, column["t"], x) for key, x in lines.items()])

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
        charts.append(chart(f"Contact {name}: gap", "gap", "m", {"gap": column[f"{name}.gap"]}))
        what, unit, lines = "force", "N", {"force": column[force]}
        if pick(friction):
            lines["friction"] = column[friction]
        if is_zero(column[force]) and pick(impulse):  # bodies that do not give way have no forces
            what, unit, lines = "impulse", "N s", {"impulse": column[impulse]}
        charts.append(chart(f"Contact {name}: {what}{' of each step' * (what == 'impulse')}", what, unit, lines))
    page.show("contacts", charts if p.items(page.results.summary, "contacts") else [])
    page.show("energy", [ledger(page.results.summary),
                         chart("Energies over time", "energy", "J", {**energies, "total": total}),
                         chart("Losses and corrections since the start", "energy", "J", pick(*LOSSES)),
                         chart("Work of the loads since the start", "energy", "J", pick("external_work"))])
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
        charts.append(chart(title, what, unit, {name: column[name] for name in own[:8]}))
    page.show("probes", charts)
    shown = sum(len(own[:8]) for own in list(groups.values())[:MOST_GROUPS])
    page.put(ncontact=len(contacts), most=MOST_DRAWN, nrow=len(table) - 1, more_columns=len(left) - shown)


def ledger(summary: dict[str, Any]) -> Optional[Block]:
    """What changed the energy, as bars."""
    energy = p.value(summary, "energy")
    lines = [(name, sign * p.real(energy, key) + 0.0) for key, name, sign in LEDGER]
    lines[-1] = ("numerical loss", lines[-1][1] + p.real(energy, "correction_work"))
    return p.bars("Ledger: what changed the energy", "J", [line for line in lines if math.isfinite(line[1])])


def run_facts(summary: dict[str, Any]) -> str:
    """What moved how far, how fast, and how strongly it was loaded."""
    seen, lines = p.value(summary, "frames"), []

    def said(x: float, unit: str) -> str:
        factor, name = si(unit, abs(x))
        return p.quantity(factor * x, name, 4)

    moved, speed = (p.real(seen, f"vectors.{name}.magnitude.max") for name in ("displacement", "velocity"))
    if math.isfinite(moved):
        lines.append(f"The largest displacement is {said(moved, 'm')}")
    if math.isfinite(speed):
        lines.append(f"the largest speed {said(speed, 'm/s')}")
    for name in ("bending_stress", "stress", "axial_force"):
        kind = "point_fields" if p.value(seen, f"point_fields.{name}") else "fields"
        low, high = (p.real(seen, f"{kind}.{name}.{end}") for end in ("min", "max"))
        if math.isfinite(low) and max(-low, high) > 0.0:
            largest = high if high >= -low else low
            lines.append(f"the largest {name.replace('_', ' ')} {said(largest, units.unit(name))} at t = "
                         f"{said(p.real(seen, f'{kind}.{name}.largest_time'), 's')}")
            break
    return ", ".join(lines) + (", in the frames that were drawn." if lines else "")


def report_run(results: Results) -> Page:
    """The page of a run."""
    summary = results.summary
    page = Page(results, p.text(summary, "title"), p.text(summary, "version"))
    contacts, checks = p.items(summary, "contacts"), p.items(summary, "certificate.checks")
    counted = [check for check in checks if p.text(check, "verdict") != "reported"]
    page.put(
        facts=run_facts(summary), contacts=contacts, checks=checks, counted=counted,
        contact_columns=[(key, title) for key, title, is_usual in CONTACT_COLUMNS
                         if is_usual or any(abs(p.real(contact, key)) > 0.0 for contact in contacts)],
        held=[(kind, p.items(summary, kind)) for kind in ("joints", "supports") if p.items(summary, kind)],
        worst=max(counted, key=lambda check: p.real(check, "worst_ratio"), default=None))
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
    cursor = "row" if len(table) <= p.MOST_POINTS else ""
    contacts = [name[:-4] for name in names if name.endswith(".gap") and f"{name[:-4]}.force" in names]
    first = max(names.index(name) for name in ("friction_work", "arc", "slope", "determinant", "factor")
                if name in names) + 1
    paths, others = [], []
    for name in names[first:]:
        what, values = units.quantity(name), np.asarray(table[name], float)
        axis = (what.name if what else name, known.get(name, ""))
        if name.rpartition(".")[0] in contacts:
            others.append(p.chart(f"{name} over the load steps", ("load step", ""), axis, [(name, step, values)],
                                  cursor))
        elif not is_zero(values):
            paths.append(p.chart(f"Load path: {name}", axis, ("load factor", ""), [("load factor", values, factor)],
                                 cursor))
    page.show("paths", paths[:MOST_GROUPS])
    page.show("contacts", others[:MOST_GROUPS])
    work = [(name.replace("_", " "), step, np.asarray(table[name], float)) for name in names
            if known.get(name) == "J" and not is_zero(table[name])]
    page.show("energy", [p.chart("Energies and work", ("load step", ""), ("energy", "J"), work, cursor)])
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
    source = p.text(about, "case") or results.folder
    page = Page(results, "Study of " + os.path.basename(source.removesuffix("/case.yaml").rstrip("/")),
                p.text(about, "version"))
    table, known = results.table, results.table.attrs["units"]
    names = [str(name) for name in table.columns]
    measures, keys = measures_of(names), names[:names.index("run")]
    states = [p.text(point, "status") for point in p.items(about, "points")] or list(table["status"])
    refined = [kind for kind in ("mesh", "step") if kind in (p.value(about, "refine") or {})]
    heads = [p.breakable(key) for key in keys]
    heads += [p.breakable(name) + (f" [{known[name]}]" if known.get(name) else "") for name in measures]
    statistics, command = p.value(about, "statistics") or {}, about.get("command")
    columns = [str(key) for key in next(iter(statistics.values()), ())]
    run = next((name for name in table["run"] if results.has(f"runs/{name}/case.resolved.yaml")), None)
    point = table[table["run"] == run].iloc[0] if run is not None else {}
    page.case = f"runs/{run}/case.resolved.yaml"
    page.put(
        about=about, done=states.count("done"), npoint=len(states), refined=refined, keys=keys,
        more=len(table) - MOST_ROWS,
        varied=[key for key in keys if not refined or key not in ("level", "mesh_factor", "step_factor")],
        table={"heads": heads, "rows": study_rows(table, keys, measures), "right": range(len(keys), len(heads))},
        statistics=[[p.breakable(name), *map(p.number, map(partial(p.real, one), columns))]
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
    return [[p.text(row, key) if isinstance(p.value(row, key), str) or key == "name" else
             p.moment(p.real(row, key)) if key.endswith("_time") else p.number(p.real(row, key), digits)
             for key in keys] for row in rows]


def facts(tree: Any, listed: Sequence[tuple[str, str, str]]) -> list[list[str]]:
    """Names and what stands at their places, of those that have a text or number."""
    said = [(name, p.text(tree, place), p.real(tree, place), unit) for name, place, unit in listed]
    return [[name, text or p.quantity(x, unit)] for name, text, x, unit in said if text or math.isfinite(x)]


def render(page: Page) -> str:
    """The page as HTML."""
    import jinja2
    here = os.path.dirname(os.path.abspath(__file__))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader([os.path.join(here, "templates"), here]),
                                     autoescape=True, trim_blocks=True, undefined=jinja2.ChainableUndefined)
    environment.filters.update(number=p.number, quantity=p.quantity, breakable=p.breakable)
    environment.globals.update(real=p.real, text=p.text, cells=cells, facts=facts, command=p.command)
    return p.printable(environment.get_template("report.html").render(
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
    text = build(open_results(where))
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_file(path, text)
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
