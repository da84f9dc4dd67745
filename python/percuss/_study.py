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
from .files import Path, read_text, write_file
from .measure import Convergence
from .plan import OWN_PERTURBATION, SAMPLINGS, Plan, read_plan, refine_words
from .pool import Broke, Ended, Pool, Runs
from .text import encode

if TYPE_CHECKING:
    import pandas

SHOWN_ROWS = 100
BAR_WIDTH = 24
PERCENTILES = (5, 25, 50, 75, 95)
NOTHING = (math.nan, 0.0)


class Study:
    """A plan with its runs and their table."""

    def __init__(self, plan: Plan, folder: str, command: Sequence[str] = ()):
        self.plan, self.folder, self.command = plan, folder, list(command)
        self.nlevel, self.keys = plan.nlevel, plan.keys
        self.runs = [Ended()] * (plan.npoint * plan.nlevel)
        self._set = [encode(line, "set") for line in plan.set]
        factors = [plan.factors(level) for level in range(plan.nlevel)]
        self._factors = [(float(f.get("mesh", 0)), float(f.get("step", 0))) for f in factors]
        self.begin = self.shown = 0.0
        self.ndone = self.nkept = 0  # so far

    # ---- Runs ----

    def _make(self, runs: Runs, index: int) -> Ended:
        """Makes a run and measures it, in a worker."""
        point, level = divmod(index, self.nlevel)
        lines = self._set + [f"{key}={value}".encode()
                             for key, value in zip(self.keys, self.plan.point(point)) if value is not None]
        run = runs.make(lines, *self._factors[level])
        return run._replace(values=self._measure(run.name)) if run.is_good else run

    def _measure(self, name: str, level: Optional[int] = None) -> dict[str, tuple[float, float]]:
        """The measures of a run; with a level those of other points at it are known."""
        def other(point: int) -> Optional[str]:
            run = self.runs[point * self.nlevel + (level or 0)]
            return f"{self.folder}/runs/{run.name}" if run.is_good else None

        run = measures.Run(f"{self.folder}/runs/{name}", None if level is None else other, self.nlevel > 1)
        found: dict[str, tuple[float, float]] = {}
        for what, formula in (self.plan.measures or measures.usual(run.summary)).items():
            try:
                value, grain = run.measure(formula)
                found[what] = value, grain
            except InputError as error:
                raise InputError(f"measure '{what}': {error}") from None
        return found

    def make(self, show: Optional[Callable[[str], None]] = None) -> None:
        """Makes all runs; `show` takes the progress."""
        plan = self.plan
        needs_history = any(map(measures.uses_history, plan.measures.values()))
        if needs_history:
            import pandas  # noqa: F401 - once, before workers are forked
        pool = Pool(len(self.runs), lambda index: tuple(self._make(runs, index)), plan.jobs)
        runs = Runs(plan.case, self.folder, keep=plan.keep, history=needs_history, beside=pool.jobs - 1,
                    is_stopped=lambda: pool.is_stopped)
        self.begin = time.monotonic()
        if plan.perturb:
            self._perturb(runs)
        with pool.stopping():
            for index, run in pool.results(lambda: self._progress(show)):
                self.runs[index] = Ended("broke", "", run.reason) if isinstance(run, Broke) else Ended(*run)
                self.ndone += 1
                self.nkept += self.runs[index].end == "kept"
        self._progress(show, True)
        if any(measures.points_of(formula) for formula in plan.measures.values()):
            done = [i for i, run in enumerate(self.runs) if run.is_good]
            again = Pool(len(done), lambda k: self._measure(self.runs[done[k]].name, done[k] % self.nlevel), plan.jobs)
            for k, values in again.results():
                if isinstance(values, Broke):
                    raise SimulationError(values.reason)
                self.runs[done[k]] = self.runs[done[k]]._replace(values=values)
        first = next((run for run in self.runs if run.is_good), None)
        self.names = list(plan.measures or (first.values if first else []))

    def _perturb(self, runs: Runs) -> None:
        """Gives every run the kinetic energy of its perturbation: size^2 of the largest one of the case as it is."""
        (_, made), = Pool(1, lambda _: tuple(runs.make(self._set))).results()
        base = Ended("broke", "", made.reason) if isinstance(made, Broke) else Ended(*made)
        if not base.is_good:
            raise SimulationError(f"the case without perturbation: {base.reason}")
        if re.search(r"^perturbation:", read_text(f"{runs.path(base.name)}/case.resolved.yaml"), re.MULTILINE):
            raise InputError(f"{self.plan.case}: {OWN_PERTURBATION}")
        energy = measures.Run(runs.path(base.name)).measure("energy.largest_kinetic")[0]
        self._set.append(f"perturbation.energy={self.plan.size**2 * energy!r}".encode())

    def _progress(self, show: Optional[Callable[[str], None]], is_last: bool = False) -> None:
        """"[=====>      ]  18 of 40 runs, 12 s, about 15 s left"; runs that were there took no time."""
        now = time.monotonic()
        if show is None or (not is_last and now - self.shown < 0.2):
            return
        self.shown, count, spent = now, len(self.runs), now - self.begin
        bar = f"{'=' * (BAR_WIDTH * self.ndone // count)}>".ljust(BAR_WIDTH)[:BAR_WIDTH]
        made = self.ndone - self.nkept
        left = f", about {spent / made * (count - self.ndone):.0f} s left" if made and not is_last else ""
        show(f"\r[{bar}]  {self.ndone} of {count} runs, {spent:.0f} s{left:<20}" + ("\n" if is_last else ""))

    # ---- The table ----

    def of_point(self, point: int) -> list[Ended]:
        """Runs of a point, a level each."""
        return self.runs[point * self.nlevel:(point + 1) * self.nlevel]

    def converge(self, point: int, name: str) -> dict[str, dict[str, Any]]:
        """How a measure converges: "" of what is refined together, or of both with "mesh." and "step."."""
        plan, runs = self.plan, self.of_point(point)
        if not plan.refined:
            return {}
        both = [self._converge_by(what, runs, name) for what in plan.refined]
        alone = dict(zip((f"{what}." for what in plan.refined), both)) if plan.is_separate else {}
        whole = measures.converge_both(both[0][0], both[1][0]) if plan.is_separate else both[0][0]
        return {head: {"limit": known(one.limit), "bound": known(one.bound), "order": known(one.order),
                       "convergence": one.kind, **({"levels": list(map(known, levels))} if levels else {})}
                for head, (one, levels) in {"": (whole, [] if alone else both[0][1]), **alone}.items()}

    def _converge_by(self, what: str, runs: list[Ended], name: str) -> tuple[Convergence, list[float]]:
        levels = [runs[k].values.get(name, NOTHING) for k in self.plan.sequence(what)]
        values = [value for value, _ in levels]
        return measures.converge(values, self.plan.refined[what][0], levels[-1][1]), values

    @property
    def not_refined(self) -> Optional[str]:
        """"mesh" or "step", whose error no limit or bound knows."""
        if len(self.plan.refined) != 1:
            return None
        has_step = "step" in self.plan.refined
        run = next((run for run in self.runs if run.is_good), Ended())
        is_missing = run.has_cells if has_step else run.has_steps
        return ("mesh" if has_step else "step") if is_missing else None

    def units(self) -> dict[str, str]:
        """Units of keys and measures that are known."""
        found = {key: units.of_key(key) for key in self.plan.keys}
        found |= {name: measures.unit_of(self.plan.measures.get(name, name)) for name in self.names}
        return {name: unit for name, unit in found.items() if unit}

    def statistics(self) -> dict[str, dict[str, float]]:
        """Of random points or perturbed starts: mean, deviation and percentiles of every measure over those that are
        done."""
        if not (self.plan.random or self.plan.perturb) or not self.names:
            return {}
        import pandas
        values = pandas.DataFrame([{name: run.values.get(name, NOTHING)[0] for name in self.names}
                                   for run in self.runs[self.nlevel - 1::self.nlevel]])
        found = values.replace([math.inf, -math.inf], math.nan).describe([p / 100 for p in PERCENTILES]).rename(
            index={"std": "deviation", **{f"{p}%": f"p{p}" for p in PERCENTILES}})
        return {name: one.to_dict() for name, one in found.items() if one["count"]}

    @functools.cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row per run; order, limit and bound stand in that of the finest level."""
        plan, found = self.plan, []
        for point in range(plan.npoint):
            runs = self.of_point(point)
            is_good = all(run.is_good for run in runs)
            parameters = dict(zip(plan.keys, plan.point(point)))
            orders = {name: self.converge(point, name) for name in self.names}
            for level, run in enumerate(runs):
                row: dict[str, Any] = dict(parameters)
                if plan.refined:
                    row |= {"level": level, **{f"{k}_factor": x for k, x in plan.factors(level).items()}}
                row |= {"run": run.name, "status": "done" if run.end == "kept" else run.end}
                is_finest = level == self.nlevel - 1 and is_good
                for name in self.names:
                    row[name] = known(run.values.get(name, NOTHING)[0])
                    row |= {f"{name}.{head}{part}": x if is_finest else None for head, one in orders[name].items()
                            for part, x in one.items() if part != "levels"}
                found.append(row | {"reason": run.reason})
        return found

    def write(self) -> None:
        """Writes study.csv and study.json."""
        known, rows, buffer = self.units(), self.rows, io.StringIO()
        out = csv.writer(buffer, lineterminator="\n")
        out.writerow([units.join(name, known.get(name.removesuffix(".limit").removesuffix(".bound"), ""))
                      for name in rows[0]])
        out.writerows([row.values() for row in rows])
        write_file(os.path.join(self.folder, "study.csv"), buffer.getvalue())
        write_file(os.path.join(self.folder, "study.json"), self._json(known))

    def _json(self, unit_of: Mapping[str, str]) -> str:
        plan = self.plan
        head: dict[str, Any] = {"version": c.lib.percuss_version().decode(), "case": plan.case,
                                "command": self.command, "set": plan.set,
                                "measure": {name: plan.measures.get(name, name) for name in self.names},
                                "units": unit_of}
        if plan.refined:
            head["refine"] = {**plan.refined, "separately": plan.is_separate}
            if self.not_refined:
                head["refine"]["not_refined"] = self.not_refined
        if plan.random:
            head["random"] = {"points": plan.random, "seed": plan.seed, "sampling": plan.sampling,
                              **plan.distributions}
        if plan.perturb:
            head["perturb"] = {"starts": plan.perturb, "size": plan.size}
        if plan.random or plan.perturb:
            head["statistics"] = {name: {key: known(value) for key, value in one.items()}
                                  for name, one in self.statistics().items()}
        head |= {"jobs": plan.jobs, "keep": plan.keep}
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        points = ",\n".join("    " + json.dumps(self._point(p)) for p in range(plan.npoint))
        return "{\n" + ",\n".join(lines) + f',\n  "points": [\n{points}\n  ]\n}}\n'

    def _point(self, point: int) -> dict[str, Any]:
        plan, runs = self.plan, self.of_point(point)
        worst = next((run for run in reversed(runs) if not run.is_good), runs[-1])
        found: dict[str, Any] = {"parameters": dict(zip(plan.keys, plan.point(point))), "run": worst.name,
                                 "status": "done" if worst.is_good else worst.end, "reason": worst.reason}
        if plan.refined:
            found["runs"] = [run.name for run in runs]
        found["measures"] = {}
        for name in self.names:
            orders = self.converge(point, name)
            found["measures"][name] = dict[str, Any](value=known(runs[-1].values.get(name, NOTHING)[0]),
                                                     **orders.pop("", {}),
                                                     **{head[:-1]: one for head, one in orders.items()})
        return found

    # ---- The screen ----

    def text(self) -> str:
        """The table for the screen: keys and measures with error bars, or the reason why there is none."""
        plan, rows = self.plan, self.rows
        keys = [*plan.keys, *(f"{k}_factor" for k in plan.refined)]
        lines = [[*keys, *self.names]]
        for row in rows[:SHOWN_ROWS]:
            shown = [shown_value(row, name) for name in self.names]
            reason = [f"{row['status']}: {row['reason']}"]
            lines.append(["-" if row[key] is None else str(row[key]) for key in keys]
                         + (shown if row["status"] == "done" else reason))
        widths = [max(map(len, column)) for column in zip(*(line for line in lines if len(line) == len(lines[0])))]
        out = "".join("  ".join([*map(str.ljust, line[:-1], widths), line[-1]]) + "\n" for line in lines)
        if len(rows) > SHOWN_ROWS:
            out += f"... and {len(rows) - SHOWN_ROWS} more in study.csv\n"
        if self.not_refined:
            (other, (factor, levels)), = plan.refined.items()
            out += (f"Limits, bounds and orders are those of the {other} alone: the error of the {self.not_refined} is "
                    f'not in them; --refine "mesh={factor},{levels} step={factor},{levels}" has both.\n')
        return out + self._text_statistics() + self._text_counts()

    def _text_statistics(self) -> str:
        found = self.statistics()
        if not found:
            return ""
        import pandas
        heads = ["mean", "deviation", "min", *(f"p{p}" for p in PERCENTILES), "max"]
        return f"\n{pandas.DataFrame(found).T[heads].to_string(float_format='{:.5g}'.format)}\n"

    def counts(self) -> Counter[str]:
        """Runs by their end."""
        return Counter(run.end for run in self.runs)

    def _text_counts(self) -> str:
        n, made = self.counts(), {run.name for run in self.runs if run.end == "done"}
        nsame = sum(run.end == "kept" and run.name in made for run in self.runs)
        same = f", {nsame} {'is' if nsame == 1 else 'are'} the same as another" if nsame else ""
        return (f"\n{n['done'] + n['kept']} of {len(self.runs)} runs done ({n['kept'] - nsame} were there{same}), "
                f"{n['refused']} refused, {n['failed'] + n['broke']} failed\n"
                f"Results in {self.folder}/study.csv and study.json\n")

    @property
    def is_whole(self) -> bool:
        """Whether every run came to an end that the case explains, and some are done."""
        ends = {run.end for run in self.runs}
        return not ends.isdisjoint({"done", "kept"}) and ends <= {"done", "kept", "refused"}


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
    kinds = []
    heads = [h for h in (f"{name}.mesh.", f"{name}.step.") if is_there(h + "convergence")] or [f"{name}."]
    for head in heads:
        kind = row[head + "convergence"]
        kind = f"order {row[head + 'order']:.1f}" if kind == "converges" else kind
        kinds.append(kind if len(heads) == 1 else f"{head.split('.')[-2]}: {kind}")
    bar = f" +- {row[f'{name}.bound']:.2g}" if is_there(f"{name}.bound") else ""
    return f"{row[name]:.6g}{bar} ({', '.join(kinds)})"


def study(case: Path, vary: Optional[Mapping[str, Any]] = None, *, set: Optional[Mapping[str, Any]] = None,
          zip: Optional[Mapping[str, Sequence[Any]]] = None, points: Sequence[Mapping[str, Any]] = (),
          refine: Union[str, Mapping[str, Any], None] = None, measure: Optional[Mapping[str, str]] = None,
          random: int = 0, seed: int = 0, sampling: Optional[str] = None, perturb: int = 0,
          size: Optional[float] = None, jobs: Optional[int] = None, keep: bool = False,
          output: Optional[Path] = None) -> pandas.DataFrame:
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
    if output is None:
        import tempfile
        with tempfile.TemporaryDirectory(prefix="percuss-") as folder:
            return study(case, vary, set=set, zip=zip, points=points, refine=refine, measure=measure, random=random,
                         seed=seed, sampling=sampling, perturb=perturb, size=size, jobs=jobs, keep=keep,
                         output=os.path.join(folder, "study"))
    plan = read_plan(os.fsdecode(encode(case, "case")))
    plan.fill({"set": set, "vary": vary, "zip": zip, "points": points, "measure": measure, "random": random or None,
               "refine": refine_words(refine) if isinstance(refine, str) else refine, "seed": seed or None,
               "sampling": sampling, "perturb": perturb or None, "size": size, "jobs": jobs, "keep": keep})
    plan.settle(os.fspath(case))
    made = Study(plan, os.fspath(output))
    made.make()
    if not any(run.is_good for run in made.runs):
        raise InputError(made.runs[0].reason or "no run was made")
    made.write()
    from .results import Results
    found = Results(output, "study")
    found.table.attrs["study"] = found.summary
    return found.table


# ---- The command ----

def parser() -> Parser:
    """Options of `percuss study`."""
    p = Parser("study", "Runs a case over values of its keys, side by side. study.csv, study.json and the runs go to "
               "DIR;\nfinished runs are not repeated.",
               epilog=f"{inspect.getdoc(read_plan)}\n\n{inspect.getdoc(measures)}")
    p.add_argument("case", metavar="CASE|STUDY", help="a case, or a study file")
    p.add_argument("--vary", metavar="path.to.key=V", action="append", default=[], help="values between commas, "
                   "from:to:by, normal(mean, deviation) or uniform(from, to); several make a product")
    p.add_argument("--random", metavar="N", help="draw N points of the keys with a distribution")
    p.add_argument("--seed", metavar="S", help="of the random points [0]")
    p.add_argument("--sampling", metavar="|".join(SAMPLINGS), choices=SAMPLINGS, help="Latin hypercube or Sobol's "
                   "sequence [latin]")
    p.add_argument("--perturb", metavar="N", help="N runs with small random velocities added to the start; "
                   "statistics of the measures")
    p.add_argument("--size", metavar="SIZE", help="these velocities relative to those of the motion [1e-9]; "
                   "from 1e-15 to 1e-3")
    p.add_argument("--refine", metavar='"mesh=2,3 step=2,3"', help="factor, levels; order, limit and bound of "
                   "measures; also separately")
    p.add_argument("--measure", metavar="NAME=MEASURE", action="append", default=[], help="a number of summary.json, "
                   "peak=wall.peak_force, or a formula")
    p.add_argument("-j", "--jobs", metavar="N", help="runs at a time, 0: the number of processors [0]")
    p.add_argument("--keep", action="store_true", help="histories and frames of all runs, too")
    p.add_argument("-o", "--output", metavar="DIR", help="where results go [results/<case>_study]")
    p.add_argument("--set", metavar="path.to.key=value", action="append", default=[], help="a value of all runs")
    p.add_argument("-q", "--quiet", action="store_true", help="no progress, no table on the screen")
    return p


def main(argv: list[str]) -> int:
    """`percuss study`."""
    a = parser().parse_args(argv)
    plan = read_plan(a.case)
    vary, measure = ([text.partition("=") for text in texts] for texts in (a.vary, a.measure))
    if not all(key and sign for key, sign, _ in vary):
        raise InputError("--vary: expected path.to.key=value,value or =from:to:by")
    plan.set += a.set
    plan.fill({"vary": [(key, values) for key, _, values in vary], "refine": refine_words(a.refine or ""),
               "measure": [(name, formula if sign else name) for name, sign, formula in measure],
               **{name: getattr(a, name) for name in ("seed", "sampling", "perturb", "size", "jobs", "random",
                                                      "keep")}}, dash="--")
    plan.settle(a.case)
    stem = os.path.basename(os.path.normpath(a.case))
    folder = a.output or os.path.join("results", (os.path.splitext(stem)[0] or stem) + "_study")
    command = ["percuss", "study", a.case]
    for option in ("set", "vary", "measure"):
        command += [word for text in getattr(a, option) for word in (f"--{option}", text)]
    for option in ("refine", "random", "seed", "sampling", "perturb", "size", "jobs"):
        command += [f"--{option}", getattr(a, option)] if getattr(a, option) is not None else []
    made = Study(plan, folder, command + ["--keep"] * a.keep + ["-o", folder])
    is_shown = not a.quiet and sys.stdout.isatty()
    made.make((lambda text: print(text, end="", flush=True)) if is_shown else None)
    made.write()
    if not a.quiet:
        print(made.text(), end="")
    return DONE if made.is_whole else COULD_NOT_GO_ON

