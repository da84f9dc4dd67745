"""percuss report: one page of HTML about results, with all that it shows in it."""

from __future__ import annotations

import math
import os
from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from . import page as p
from . import units
from .command import DONE, Parser
from .errors import InputError, PercussError
from .figure import si
from .files import Path, write_file
from .page import Block
from .reports import MOST_GROUPS, Page, drawings, is_zero, report_modes, report_statics, report_study
from .results import Results, open as open_results

Array = npt.NDArray[Any]

MOST_CONTACTS, MOST_DRAWN = 100, 8
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


class History:
    """Columns of history.csv as charts."""

    def __init__(self, page: Page, table: Any):
        self.page, self.table = page, table
        self.names = [str(name) for name in table.columns]

    def column(self, name: str) -> Array:
        """Numbers of a column."""
        return np.asarray(self.table[name], float)

    def chart(self, title: str, y: tuple[str, str], lines: Sequence[tuple[str, Array]]) -> Optional[Block]:
        """Lines over time."""
        return p.chart(title, ("time", "s"), y, [(name, self.column("t"), values) for name, values in lines])

    def pick(self, names: Sequence[str]) -> list[tuple[str, Array]]:
        """Those columns that are there and not zero, with names as people read them."""
        return [(name.replace("_", " "), self.column(name)) for name in names
                if name in self.names and not is_zero(self.column(name))]

    def energies(self) -> list[Optional[Block]]:
        """Energies, losses and work over time."""
        parts = self.pick(("kinetic", "strain", "potential"))
        total = sum((values for _, values in parts), np.zeros(len(self.table)))
        return [self.chart("Energies over time", ("energy", "J"), [*parts, ("total", total)]),
                self.chart("Losses and corrections since the start", ("energy", "J"), self.pick(LOSSES)),
                self.chart("Work of the loads since the start", ("energy", "J"), self.pick(("external_work",)))]

    def contacts(self) -> list[str]:
        """Names that have a gap and a force, the largest impulse of a step first."""
        found = [name[:-4] for name in self.names if name.endswith(".gap") and f"{name[:-4]}.force" in self.names]

        def impulse(name: str) -> float:
            place = f"{name}.step_impulse"
            return float(np.nanmax(self.column(place), initial=0.0)) if place in self.names else 0.0
        return sorted(found, key=lambda name: -impulse(name))

    def contact(self, name: str) -> list[Optional[Block]]:
        """Gap and force of a contact; impulses where bodies that do not give way have no forces."""
        force, impulse, friction = (f"{name}.{part}" for part in ("force", "step_impulse", "friction"))
        gap = self.chart(f"Contact {name}: gap", ("gap", "m"), [("gap", self.column(f"{name}.gap"))])
        if impulse in self.names and is_zero(self.column(force)) and not is_zero(self.column(impulse)):
            return [gap, self.chart(f"Contact {name}: impulse of each step", ("impulse", "N s"),
                                    [("impulse", self.column(impulse))])]
        lines = [("force", self.column(force))]
        if friction in self.names and not is_zero(self.column(friction)):
            lines.append(("friction", self.column(friction)))
        return [gap, self.chart(f"Contact {name}: force", ("force", "N"), lines)]

    def probes(self) -> list[Block]:
        """Charts of all other columns: those of one place and unit together."""
        contacts = set(self.contacts())
        first = self.names.index("iterations") + 1 if "iterations" in self.names else 0
        left = [name for name in self.names[first:] if not name.endswith(".gap") and name != "t"
                and name.rpartition(".")[0] not in contacts]
        groups: dict[tuple[str, str], list[str]] = {}
        for name in left:
            unit = self.table.attrs["units"].get(name, "")
            groups.setdefault((name.rpartition(".")[0], unit) if unit else (name, ""), []).append(name)
        charts, shown = [], 0
        for (place, unit), names in list(groups.items())[:MOST_GROUPS]:
            what = units.quantity(names[0])
            title = names[0] if len(names) == 1 or not what else f"{place}: {what.name}" if place else what.name
            charts.append(self.chart(title, (what.name if what else names[0], unit),
                                     [(name, self.column(name)) for name in names[:8]]))
            shown += len(names[:8])
        more = len(left) - shown
        block = self.page.show(charts)
        note = p.words(f"{more} further columns are in history.csv.", "soft") if more else None
        return [part for part in (block, note) if part]


def run_head(page: Page, summary: dict[str, Any]) -> None:
    """How the run ended, and whether its certificate held."""
    version = p.text(summary, "version")
    page.say(f"{p.text(summary, 'case')}: {p.text(summary, 'ending')} at t = "
             f"{p.quantity(p.real(summary, 'time.reached'), 's')} after {p.real(summary, 'steps.done'):.0f} steps" +
             (f", by Percuss {version}" if version else "") + ".")
    if p.text(summary, "question"):
        page.say("A question: " + p.text(summary, "question"), "verdict broken")
    if p.text(summary, "reason"):
        page.say("The run ended early: " + p.text(summary, "reason"), "verdict broken")
    if p.text(summary, "certificate.verdict") == "broken":
        page.say(Markup('The certificate is broken, <a href="#certificate">see below</a>.'), "verdict broken")


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


def run_contacts(page: Page, summary: dict[str, Any], history: Optional[History]) -> None:
    """Contacts, joints and supports: tables and charts."""
    contacts, blocks = p.items(summary, "contacts"), []
    if contacts:
        columns = [column for column in CONTACT_COLUMNS
                   if column[2] or any(abs(p.real(c, column[0])) > 0.0 for c in contacts)]
        rows = [[p.text(c, "name"), *(p.moment(p.real(c, key)) if key.endswith("_time") else p.number(p.real(c, key))
                                      for key, _, _ in columns)] for c in contacts[:MOST_CONTACTS]]
        blocks.append(p.table(["contact", *(title for _, title, _ in columns)], rows, range(1, len(columns) + 1)))
        window = p.real(summary, "filter_window")
        if window > 0.0:
            blocks.append(p.words(f"The filtered peak is that of the mean over {p.quantity(window, 's')}.", "soft"))
        if len(contacts) > MOST_CONTACTS:
            blocks.append(p.words(f"{len(contacts) - MOST_CONTACTS} more are in summary.json.", "soft"))
    if contacts and history:
        done, rows_there = p.real(summary, "steps.done"), len(history.table) - 1
        if rows_there < done:
            blocks.append(p.words(f"The table knows all {done:.0f} steps, the curves the {rows_there} of history.csv: "
                                  "a peak may lie between their points.", "soft"))
        names = history.contacts()
        shown = page.show([chart for name in names[:MOST_DRAWN] for chart in history.contact(name)])
        blocks += [shown] if shown else []
        if len(names) > MOST_DRAWN:
            blocks.append(p.words(f"Drawn are the {MOST_DRAWN} of {len(names)} with the largest impulses.", "soft"))
    is_held = False
    for kind in ("joints", "supports"):
        held = p.items(summary, kind)
        if held:
            is_held = True
            keys = ("peak_force", "peak_force_time", "peak_moment", "peak_moment_time")
            rows = [[p.text(item, "name"), *(p.moment(p.real(item, k)) if "time" in k else p.number(p.real(item, k))
                                             for k in keys)] for item in held[:MOST_CONTACTS]]
            heads = ["name", "peak force [N]", "at t [s]", "peak moment [N m]", "at t [s]"]
            blocks += [{"kind": "head", "text": f"Reactions of {kind}"}, p.table(heads, rows, range(1, 5))]
    page.add("contacts", "Contacts, joints and supports" if is_held else "Contacts", blocks)


def run_energy(page: Page, summary: dict[str, Any], history: Optional[History]) -> None:
    """Energies in words, the ledger as bars, charts over time."""
    energy = p.value(summary, "energy")
    if not isinstance(energy, dict):
        return
    initial, final, kinetic, strain, potential, imbalance = (
        p.quantity(p.real(energy, key), "J")
        for key in ("initial", "final", "kinetic", "strain", "potential", "imbalance"))
    line = (f"The energy was {initial} at the start and {final} at the end (kinetic {kinetic}, strain {strain}, "
            f"potential {potential}). ")
    if p.text(energy, "numerical_loss_is") == "formula":
        line += f"The numerical loss follows from the scheme’s formula; {imbalance} are not accounted for."
    else:
        line += "The numerical loss is the remainder of the balance."
    ledger = [(name, sign * p.real(energy, key) + 0.0) for key, name, sign in LEDGER
              if math.isfinite(p.real(energy, key))]
    if ledger and ledger[-1][0] == "numerical loss":
        ledger[-1] = ("numerical loss", ledger[-1][1] + p.real(energy, "correction_work"))
        ledger = [line for line in ledger if math.isfinite(line[1])]
    bars = p.bars("Ledger: what changed the energy", "J", ledger)
    page.add("energy", "Energy", [p.words(line), page.show([bars, *(history.energies() if history else ())])])


def run_certificate(page: Page, summary: dict[str, Any]) -> None:
    """The checks, in words and as a table."""
    checks = p.items(summary, "certificate.checks")
    if not checks:
        return
    counted = [c for c in checks if p.text(c, "verdict") != "reported"]
    verdict = p.text(summary, "certificate.verdict")
    is_held = verdict != "broken"
    said = "Every check held, but some are marked." if verdict == "marked" else "Every check held."
    line = Markup("<strong>{}</strong> After each of the {:.0f} steps Percuss held {} conditions against the state "
                    "that it had accepted, with formulas of their own: contact laws, equations of motion, momentum and "
                    "energy.").format(said if is_held else "The certificate is broken.",
                                      p.real(summary, "steps.done"), len(counted))
    if not is_held:
        line += f" The first that did not hold is ‘{p.text(summary, 'certificate.broken')}’."
    worst = max(counted, key=lambda c: p.real(c, "worst_ratio"), default=None)
    if worst:
        ratio = p.real(worst, "worst_ratio")
        line += (f" {'The closest call' if is_held else 'The worst'}, ‘{p.text(worst, 'name')}’, came to "
                 f"{p.number(100.0 * ratio, 2)} % of its tolerance")
        line += f", at t = {p.quantity(p.real(worst, 'worst_time'), 's')}." if ratio > 0.0 else "."
    rows = [[p.text(c, "name"), p.text(c, "unit"), *(p.number(p.real(c, k), 3) for k in ("worst_value", "tolerance",
                                                                                         "worst_ratio")),
             p.moment(p.real(c, "worst_time")), p.text(c, "verdict")] for c in checks]
    heads = ["check", "unit", "worst", "allowed", "ratio", "at t [s]", "verdict"]
    page.add("certificate", "Certificate", [p.words(line, "verdict" + ("" if is_held else " broken")),
                                            p.table(heads, rows, range(2, 6), "checks")])


def run_model(page: Page, summary: dict[str, Any]) -> None:
    """Sizes of the model, scheme, solver and steps."""
    facts = [("points", "model.points", ""), ("cells", "model.cells", ""), ("degrees of freedom", "model.dofs", ""),
             ("contact points", "model.contact_points", ""), ("conditions of joints", "model.joint_rows", ""),
             ("scheme", "scheme", ""), ("step solver", "solver", ""), ("linear algebra, mass", "mass_backend", ""),
             ("linear algebra, step", "step_backend", ""), ("step size", "time.step", "s"),
             ("end of the run", "time.end", "s"), ("iterations a step, mean", "steps.iterations_mean", ""),
             ("iterations a step, most", "steps.iterations_max", ""),
             ("steps covered by smaller ones", "steps.cut", ""), ("wall time", "wall_time.total", "s")]
    rows = []
    for name, place, unit in facts:
        said, x = p.text(summary, place), p.real(summary, place)
        if said or math.isfinite(x):
            rows.append([name, said or p.quantity(x, unit)])
    page.add("model", "Model and method", [p.table(["", ""], rows, [1])])


def report_run(results: Results) -> Page:
    """The page of a run."""
    summary = results.summary
    page = Page(results, p.text(summary, "title"))
    history = History(page, results.history) if results.has("history.csv") else None
    run_head(page, summary)
    page.facts = run_facts(summary)
    run_contacts(page, summary, history)
    run_energy(page, summary, history)
    if history:
        page.add("probes", "Probes and reactions", history.probes())
        if results.waves:
            page.add("waves", "Waves", [drawings(results, "waves_")])
    else:
        page.say("Without history.csv there are no curves over time.")
    page.add("pictures", "Pictures", p.pictures(results.folder))
    run_certificate(page, summary)
    run_model(page, summary)
    page.case("case.resolved.yaml")
    page.end([p.command("percuss", "run", results.path("case.resolved.yaml"), "-o", results.folder)],
             p.text(summary, "version"))
    return page


def render(page: Page) -> str:
    """The page as HTML."""
    import jinja2
    here = os.path.dirname(os.path.abspath(__file__))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(os.path.join(here, "templates")), autoescape=True,
                                     trim_blocks=True, undefined=jinja2.StrictUndefined)
    files = {}
    for name, path in (("style", "templates/report.css"), ("script", "player.js")):
        with open(os.path.join(here, path), encoding="utf-8") as file:
            files[name] = Markup(file.read())
    return p.printable(environment.get_template("report.html").render(page=page, **files))


def build(results: Results) -> str:
    """The page of results of any kind; damaged files raise InputError."""
    makers = {"run": report_run, "study": report_study, "statics": report_statics, "modes": report_modes}
    if results.kind not in makers:
        raise InputError(f"{results.folder}: there is no report of a {results.kind}")
    try:
        return render(makers[results.kind](results))
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        if os.environ.get("PERCUSS_TRACEBACK"):
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{results.folder}: the results are damaged: {what[:200]}") from None


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
