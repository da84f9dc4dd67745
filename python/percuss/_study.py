"""Studies: a case over values of its keys, run side by side, with what each run gives in one table.

A run lives in FOLDER/runs/<hash>, named by the hash of its resolved case and of the version of the program. A finished
run is not repeated, so that a study which was interrupted or extended goes on.
"""

from __future__ import annotations

import csv
import functools
import inspect
import io
import json
import math
import os
import re
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union

from . import _library as c
from . import measure as measures
from . import units
from .command import COULD_NOT_GO_ON, DONE, Parser
from .errors import InputError, SimulationError
from .files import Path, folder_of, read_text, write_file
from .plan import OWN_PERTURBATION, Plan, read_plan
from .pool import Ended, Pool, Runs
from .text import encode

if TYPE_CHECKING:
    import pandas

SHOWN_ROWS = 100
BAR_WIDTH = 24
PERCENTILES = (5, 25, 50, 75, 95)


class Study:
    """A plan with its runs and their table; `show` takes the progress."""

    def __init__(self, plan: Plan, folder: str, command: Sequence[str] = (),
                 show: Optional[Callable[[str], None]] = None):
        plan.settle()
        self.plan, self.folder, self.command = plan, folder, list(command)
        self.runs = [Ended()] * (plan.npoint * plan.nlevel)
        self._make(show)
        self.first = next((run for run in self.runs if run.is_good), Ended())
        self.names = list(plan.measures or self.first.values)
        self.write()

    # ---- Runs ----

    def _make(self, show: Optional[Callable[[str], None]]) -> None:
        """Makes all runs."""
        plan = self.plan
        needs_history = any(map(measures.uses_history, plan.measures.values()))
        if needs_history:
            import pandas  # noqa: F401 - once, before workers are forked

        def work(index: int) -> Ended:
            """Makes a run and measures it, in a worker."""
            point, level = divmod(index, plan.nlevel)
            lines = [f"{key}={value}" for key, value in zip(plan.keys, plan.point(point)) if value is not None]
            return runs.measured(lines, plan.factors(level), plan.measures)

        pool = Pool(len(self.runs), work, plan.jobs)
        runs = Runs(plan.case, self.folder, plan.set, keep=plan.keep, history=needs_history, beside=pool.jobs - 1,
                    is_stopped=lambda: pool.is_stopped)
        progress = Progress(len(self.runs), show)
        if plan.perturb:
            self._perturb(runs)
        with pool.stopping():
            for index, run in pool.results(progress.tell):
                self.runs[index] = run
                progress.ends.append(run.end)
        progress.tell(True)

    def _perturb(self, runs: Runs) -> None:
        """Gives every run the kinetic energy of its perturbation: size^2 of the largest one of the case as it is."""
        (_, base), = Pool(1, lambda _: runs.make(())).results()
        if not base.is_good:
            raise SimulationError(f"the case without perturbation: {base.reason}")
        if re.search(r"^perturbation:", read_text(f"{runs.path(base.name)}/case.resolved.yaml"), re.MULTILINE):
            raise InputError(f"{self.plan.case}: {OWN_PERTURBATION}")
        energy = measures.Run(runs.path(base.name)).measure("energy.largest_kinetic").value
        runs.lines.append(f"perturbation.energy={self.plan.size**2 * energy!r}")

    # ---- The table ----

    def _of_point(self, point: int) -> list[Ended]:
        """Runs of a point, a level each."""
        return self.runs[point * self.plan.nlevel:(point + 1) * self.plan.nlevel]

    def _measured(self, point: int, name: str) -> dict[str, Any]:
        """A measure at the finest level of a point, and how it converges over the levels."""
        runs = self._of_point(point)
        found = [run.values.get(name, measures.NOTHING) for run in runs]
        values = [one.value for one in found]
        if not self.plan.refined:
            return {"value": known(values[-1])}
        (factor, _), *_ = self.plan.refined.values()
        contacts = [run.contacts for run in runs]
        one = measures.bound(values, factor, contacts, found[-1].grain)
        # At one Courant number waves overshoot alike on every mesh: what stays the same may be wrong on all.
        is_chance = one.kind == "exact" or (one.kind == "converges" and one.order > measures.MOST_ORDER)
        if is_chance and len(self.plan.refined) > 1 and measures.has_impacts(contacts):
            one = measures.Bound(math.inf, kind="unchanged")
        return {"value": known(values[-1]), "limit": known(one.limit), "bound": known(one.error),
                "order": known(one.order), "convergence": one.kind, "levels": list(map(known, values))}

    @functools.cached_property
    def points(self) -> list[dict[str, Any]]:
        """Keys, state, runs and measures of every point."""
        found = []
        for point in range(self.plan.npoint):
            runs = self._of_point(point)
            worst = next((run for run in reversed(runs) if not run.is_good), runs[-1])
            found.append({"parameters": dict(zip(self.plan.keys, self.plan.point(point))), "run": worst.name,
                          "status": "done" if worst.is_good else worst.end, "reason": worst.reason,
                          "runs": [run.name for run in runs],
                          "measures": {name: self._measured(point, name) for name in self.names}})
        return found

    @functools.cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row per run; order, limit and bound stand in that of the finest level."""
        found = []
        for index, run in enumerate(self.runs):
            point, level = self.points[index // self.plan.nlevel], index % self.plan.nlevel
            row: dict[str, Any] = dict(point["parameters"])
            if self.plan.refined:
                row |= {"level": level, **{f"{k}_factor": x for k, x in self.plan.factors(level).items()}}
            row |= {"run": run.name, "status": "done" if run.is_good else run.end}
            is_finest = level == self.plan.nlevel - 1 and point["status"] == "done"
            for name, one in point["measures"].items():
                row[name] = known(run.values.get(name, measures.NOTHING).value)
                row |= {f"{name}.{part}": one[part] if is_finest else None for part in measures.DETAILS if part in one}
            found.append(row | {"reason": run.reason})
        return found

    @property
    def not_refined(self) -> Optional[str]:
        """"mesh" or "step", whose error no limit or bound knows."""
        if len(self.plan.refined) != 1:
            return None
        if "step" in self.plan.refined:
            return "mesh" if self.first.has_cells else None
        return "step" if self.first.has_steps else None

    @functools.cached_property
    def statistics(self) -> dict[str, dict[str, float]]:
        """Of random points or perturbed starts: mean, deviation and percentiles of every measure over those that are
        done."""
        if not (self.plan.random or self.plan.perturb) or not self.names:
            return {}
        import pandas
        values = pandas.DataFrame([{name: one["value"] for name, one in point["measures"].items()}
                                   for point in self.points], dtype=float)
        found = values.describe([p / 100 for p in PERCENTILES]).rename(
            index={"std": "deviation", **{f"{p}%": f"p{p}" for p in PERCENTILES}})
        return {name: one.to_dict() for name, one in found.items() if one["count"]}

    def write(self) -> None:
        """Writes study.csv and study.json."""
        buffer, plan = io.StringIO(), self.plan
        unit_of = {key: units.of_key(key) for key in plan.keys}
        unit_of |= {name: measures.unit_of(plan.measures.get(name, name)) for name in self.names}
        out = csv.writer(buffer, lineterminator="\n")
        out.writerow([units.join(name, unit_of.get(re.sub(r"\.(limit|bound)$", "", name), ""))
                      for name in self.rows[0]])
        out.writerows([row.values() for row in self.rows])
        write_file(os.path.join(self.folder, "study.csv"), buffer.getvalue())
        found: dict[str, Any] = {
            "version": c.lib.percuss_version().decode(), "case": plan.case, "command": self.command, "set": plan.set,
            "measure": {name: plan.measures.get(name, name) for name in self.names},
            "units": {name: unit for name, unit in unit_of.items() if unit}}
        if plan.refined:
            found["refine"] = plan.refined | ({"not_refined": self.not_refined} if self.not_refined else {})
        if plan.random:
            found["random"] = {"points": plan.random, "seed": plan.seed, **plan.distributions}
        if plan.perturb:
            found["perturb"] = {"starts": plan.perturb, "size": plan.size}
        if plan.random or plan.perturb:
            found["statistics"] = {name: {key: known(value) for key, value in one.items()}
                                   for name, one in self.statistics.items()}
        found |= {"jobs": plan.jobs, "keep": plan.keep, "points": self.points}
        write_file(os.path.join(self.folder, "study.json"), json.dumps(found) + "\n")

    # ---- The screen ----

    def text(self) -> str:
        """The table for the screen: keys and measures with error bars, or the reason why there is none."""
        plan, rows = self.plan, self.rows
        keys = [*plan.keys, *(f"{k}_factor" for k in plan.refined)]
        lines = [[*keys, *self.names]]
        for row in rows[:SHOWN_ROWS]:
            shown = [shown_value(row, name) for name in self.names]
            lines.append(["-" if row[key] is None else str(row[key]) for key in keys]
                         + (shown if row["status"] == "done" else [f"{row['status']}: {row['reason']}"]))
        widths = [max(map(len, column)) for column in zip(*(line for line in lines if len(line) == len(lines[0])))]
        out = "".join("  ".join([*map(str.ljust, line[:-1], widths), line[-1]]) + "\n" for line in lines)
        if len(rows) > SHOWN_ROWS:
            out += f"... and {len(rows) - SHOWN_ROWS} more in study.csv\n"
        if self.not_refined:
            (other, (factor, levels)), = plan.refined.items()
            out += (f"Limits, bounds and orders are those of the {other} alone: the error of the {self.not_refined} is "
                    f'not in them; --refine "mesh={factor},{levels} step={factor},{levels}" has both.\n')
        if self.statistics:
            import pandas
            heads = ["mean", "deviation", "min", *(f"p{p}" for p in PERCENTILES), "max"]
            out += f"\n{pandas.DataFrame(self.statistics).T[heads].to_string(float_format='{:.5g}'.format)}\n"
        n, made = Counter(run.end for run in self.runs), {run.name for run in self.runs if run.end == "done"}
        nsame = sum(run.end == "kept" and run.name in made for run in self.runs)
        same = f", {nsame} {'is' if nsame == 1 else 'are'} the same as another" if nsame else ""
        return (f"{out}\n{n['done'] + n['kept']} of {len(self.runs)} runs done ({n['kept'] - nsame} were there{same}), "
                f"{n['refused']} refused, {n['failed'] + n['broke']} failed\n"
                f"Results in {self.folder}/study.csv and study.json\n")

    @property
    def is_whole(self) -> bool:
        """Whether every run came to an end that the case explains, and some are done."""
        return self.first.is_good and {run.end for run in self.runs} <= {"done", "kept", "refused"}


class Progress:
    """Says how many of some runs are made, "[=====>      ]  18 of 40 runs, 12 s, about 15 s left"."""

    def __init__(self, nrun: int, show: Optional[Callable[[str], None]]):
        self.nrun, self.show, self.begin, self.shown = nrun, show, time.monotonic(), 0.0
        self.ends: list[str] = []  #: of those that are done

    def tell(self, is_last: bool = False) -> None:
        """Shows the line, five times a second at most; runs that were there took no time."""
        now = time.monotonic()
        if self.show is None or (not is_last and now - self.shown < 0.2):
            return
        self.shown, spent, ndone = now, now - self.begin, len(self.ends)
        made = ndone - self.ends.count("kept")
        bar = f"{'=' * (BAR_WIDTH * ndone // self.nrun)}>".ljust(BAR_WIDTH)[:BAR_WIDTH]
        left = f", about {spent / made * (self.nrun - ndone):.0f} s left" if made and not is_last else ""
        self.show(f"\r[{bar}]  {ndone} of {self.nrun} runs, {spent:.0f} s{left:<20}" + "\n" * is_last)


def known(value: float) -> Optional[float]:
    """A number, a whole one without a point; None in place of what is none."""
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def shown_value(row: Mapping[str, Any], name: str) -> str:
    """A measure with its error bar, "0.123 +- 0.004 (order 2.0)"."""
    def is_there(key: str) -> bool:
        return row.get(key) is not None and row[key] == row[key]

    if not is_there(name) or not is_there(f"{name}.convergence"):
        return f"{row[name]:.6g}" if is_there(name) else "-"
    kind = row[f"{name}.convergence"]
    kind = f"order {row[f'{name}.order']:.1f}" if kind == "converges" else kind
    bar = f" +- {row[f'{name}.bound']:.2g}" if is_there(f"{name}.bound") else ""
    return f"{row[name]:.6g}{bar} ({kind})"


def study(case: Path, vary: Optional[Mapping[str, Any]] = None, *, set: Optional[Mapping[str, Any]] = None,
          zip: Optional[Mapping[str, Sequence[Any]]] = None, points: Sequence[Mapping[str, Any]] = (),
          refine: Union[str, Mapping[str, Any], None] = None, measure: Optional[Mapping[str, str]] = None,
          random: int = 0, seed: int = 0, perturb: int = 0, size: Optional[float] = None, jobs: Optional[int] = None,
          keep: bool = False, output: Optional[Path] = None) -> pandas.DataFrame:
    """A case, or a study file, over values of its keys: a row per run, units in `attrs["units"]`, study.json in
    `attrs["study"]`.

    `vary` has a sequence of values for each key, or a text as of --vary: "0.5:1:0.1", "normal(900, 9)"; all of them are
    combined. `zip` has lists that go together, `points` values one by one. `refine` is "mesh=2,3 step=2,3" or
    {"mesh": (2, 3)}. `measure` names numbers of summary.json or formulas. `random` points are drawn of the keys with a
    distribution. `perturb` runs have small random velocities added to the start, of `size` relative to those of the
    motion (1e-9, from 1e-15 to 1e-3), and `study.json` has statistics of the measures.
    Without `output` nothing is kept.

    >>> percuss.study("cases/bar_impact", {"mesh.bar.elements": [25, 50]}, measure={"F": "wall.peak_force"})
    """
    plan = read_plan(os.fsdecode(encode(case, "case")))
    for name, value in (("set", set), ("vary", vary), ("zip", zip), ("points", points), ("measure", measure),
                        ("random", random), ("refine", refine), ("seed", seed), ("perturb", perturb),
                        ("size", size), ("jobs", jobs), ("keep", keep)):
        if value:
            plan.take(name, value)
    with folder_of(output) as folder:
        made = Study(plan, folder)
        if not made.first.is_good:
            raise InputError(made.runs[0].reason or "no run was made")
        from .results import Results
        found = Results(folder, "study")
        found.table.attrs["study"] = found.summary
    return found.table


# ---- The command ----

def main(argv: list[str]) -> int:
    """`percuss study`."""
    p = Parser("study", "Runs a case over values of its keys, side by side. study.csv, study.json and the runs go to "
               "DIR;\nfinished runs are not repeated.",
               epilog=f"{inspect.getdoc(read_plan)}\n\n{inspect.getdoc(measures)}")
    p.add_argument("case", metavar="CASE|STUDY", help="a case, or a study file")
    p.add_argument("--vary", metavar="path.to.key=V", action="append", default=[], help="values between commas, "
                   "from:to:by, normal(mean, deviation) or uniform(from, to); several make a product")
    p.add_argument("--random", metavar="N", help="draw N points of the keys with a distribution")
    p.add_argument("--seed", metavar="S", help="of the random points [0]")
    p.add_argument("--perturb", metavar="N", help="N runs with small random velocities added to the start; "
                   "statistics of the measures")
    p.add_argument("--size", metavar="SIZE", help="these velocities relative to those of the motion [1e-9]; "
                   "from 1e-15 to 1e-3")
    p.add_argument("--refine", metavar='"mesh=2,3 step=2,3"', help="factor, levels; order, limit and bound of measures")
    p.add_argument("--measure", metavar="NAME=MEASURE", action="append", default=[], help="a number of summary.json, "
                   "peak=wall.peak_force, or a formula")
    p.add_argument("--keep", action="store_true", help="histories and frames of all runs, too")
    p.add_usual("results")
    a = p.parse_args(argv)
    plan = read_plan(a.case)
    vary, measure = ([text.partition("=") for text in texts] for texts in (a.vary, a.measure))
    if not all(key and sign for key, sign, _ in vary):
        raise InputError("--vary: expected path.to.key=value,value or =from:to:by")
    plan.set += a.set
    plan.take("vary", [(key, values) for key, _, values in vary])
    plan.take("measure", [(name, formula if sign else name) for name, sign, formula in measure])
    for name in ("refine", "random", "seed", "perturb", "size", "jobs", "keep"):
        if getattr(a, name):
            plan.take(name, getattr(a, name))
    show = functools.partial(print, end="", flush=True) if sys.stdout.isatty() and not a.quiet else None
    made = Study(plan, p.output(a), ["percuss", "study", *argv], show)
    if not a.quiet:
        print(made.text(), end="")
    return DONE if made.is_whole else COULD_NOT_GO_ON
