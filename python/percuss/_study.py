"""Studies: a case over values of its keys, run side by side, with what each run gives in one table.

A run lives in FOLDER/runs/<hash>, named by the hash of its resolved case and of the version of the program. A finished
run is not repeated, so that a study which was interrupted or extended goes on.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import os
import re
import sys
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union

from . import _library as c
from . import measure as measures
from . import units
from .command import COULD_NOT_GO_ON, DONE, Parser
from .errors import InputError, SimulationError
from .pool import MOST_JOBS, Ended, Pool, Runs, find_case
from .text import Path, encode, folder_of, read_text, real, split_outside, suggest, text_of, whole, write_file

if TYPE_CHECKING:
    import pandas

SHOWN_ROWS, BAR_WIDTH = 100, 24
PERCENTILES = (5, 25, 50, 75, 95)
MOST_POINTS, MOST_LEVELS = 1_000_000, 8
NUMBERS = {"random": (1, MOST_POINTS), "seed": (0, 2**31 - 1), "perturb": (1, MOST_POINTS), "jobs": (0, MOST_JOBS)}
KEYS = ("title", "case", "set", "vary", "zip", "points", "measure", "refine", "size", "keep", *NUMBERS)
OWN_PERTURBATION = "--perturb adds its own perturbation: leave 'perturbation' out of the case"
RANDOM = re.compile(r"(normal|uniform)\(([^()]*)\)")
Values = Sequence[tuple[Optional[str], ...]]  # YAML texts of several keys for every place; None: the case's own


class Plan:
    """What a study does. Runs are points times levels; of n levels run r is level r % n of point r // n."""

    random = seed = perturb = jobs = 0  #: random points and their seed, perturbed starts, runs at a time
    size = 0.0  #: of a perturbation, relative to the velocities of the motion; 0: not given
    keep = False

    def __init__(self, case: str):
        self.case, self.folder, self.text = case, ".", text_of  #: tables of measures stand from the folder on
        self.set: list[str] = []
        self.axes: list[tuple[list[str], Values]] = []
        self.measures: dict[str, str] = {}
        self.refined: dict[str, tuple[int, int]] = {}  #: "mesh", "step": factor, levels, the same of both
        self.distributions: dict[str, str] = {}  #: of keys that are drawn at random

    @property
    def keys(self) -> list[str]:
        return [key for keys, _ in self.axes for key in keys]

    @property
    def npoint(self) -> int:
        return math.prod(len(values) for _, values in self.axes)

    @functools.cached_property
    def points(self) -> list[list[Optional[str]]]:
        """Values of all keys at every point; the last axis runs fastest."""
        return [[one for values in place for one in values]
                for place in itertools.product(*(values for _, values in self.axes))]

    @functools.cached_property
    def levels(self) -> list[dict[str, int]]:
        """By what mesh size and step are divided on each level; one without a refinement."""
        count = max((levels for _, levels in self.refined.values()), default=1)
        return [{what: factor**level for what, (factor, _) in self.refined.items()} for level in range(count)]

    # What a study file, percuss.study or a command line says

    def take(self, name: str, value: Any) -> None:
        """Takes one entry."""
        if name not in KEYS:
            raise InputError(f"unknown key '{name}'{suggest(name, KEYS)}; allowed are {', '.join(KEYS)}")
        if name in NUMBERS:
            setattr(self, name, whole(name, value, *NUMBERS[name]))
        elif name == "size":
            self.size = real(name, value, 1e-15, math.nextafter(1e-3, 1.0), "in [1e-15, 1e-3]")
        elif name == "keep" and str(value).lower() in ("true", "false"):
            self.keep = str(value).lower() == "true"
        elif name == "points" and isinstance(value, (list, tuple)) and all(isinstance(one, Mapping) for one in value):
            if keys := list(dict.fromkeys(key for point in value for key in point)):
                self.add_axis(keys, [tuple(self.text(p[k]) if k in p else None for k in keys) for p in value])
        elif name == "refine":
            self.refine(value)
        elif name == "set" and isinstance(value, Mapping):
            self.set += [f"{key}={self.text(one)}" for key, one in value.items()]
        elif name in ("vary", "zip", "measure") and isinstance(value, (Mapping, list)):
            getattr(self, f"_take_{name}")(value.items() if isinstance(value, Mapping) else [
                (one, one) if isinstance(one, str) else one for one in value])
        elif name not in ("title", "case"):
            wanted = {"keep": "true or false", "points": "a list of maps of keys"}
            raise InputError(f"{name} must be {wanted.get(name, 'a map of keys')}, is '{value}'")

    def _take_vary(self, pairs: Any) -> None:
        for key, values in pairs:
            if not isinstance(values, str) or not RANDOM.fullmatch(values.strip()):
                self.add_axis([key], [(value,) for value in values_of(key, values, self.text)])
            else:
                self.demand_new([key])
                self.distributions[key] = values.strip()

    def _take_zip(self, pairs: Any) -> None:
        lists = {key: values_of(key, values, self.text) for key, values in pairs}
        count = len(next(iter(lists.values()), ()))
        for key, values in lists.items():
            if len(values) != count:
                raise InputError(f"zip.{key} must have {count} values as the first list, has {len(values)}")
        if lists:
            self.add_axis(list(lists), list(zip(*lists.values())))

    def _take_measure(self, pairs: Any) -> None:
        for name, formula in pairs:
            if name in self.measures or not isinstance(formula, str):
                raise InputError(f"measure '{name}' " + (
                    "is there twice" if name in self.measures else "must be a path or formula"))
            try:
                self.measures[str(name)] = measures.locate(formula, self.folder)
            except InputError as error:
                raise InputError(f"measure '{name}': {error}") from None

    def add_axis(self, keys: Sequence[str], values: Values) -> None:
        self.demand_new(keys)
        self.axes.append((list(keys), values))

    def demand_new(self, keys: Sequence[str]) -> None:
        for key in keys:
            if key in self.keys or key in self.distributions:
                raise InputError(f"'{key}' is varied twice")

    def refine(self, given: Any) -> None:
        """Takes "mesh=2,3 step=2,3", or factor and levels by "mesh" and "step"."""
        entries = given
        if isinstance(given, str):
            entries = {what: numbers.split(",") for what, _, numbers in (word.partition("=") for word in given.split())}
        for what, numbers in entries.items() if isinstance(entries, Mapping) else [("", ())]:
            if what not in ("mesh", "step") or not isinstance(numbers, (list, tuple)) or len(numbers) != 2:
                raise InputError("refine: expected mesh=FACTOR,LEVELS or step=FACTOR,LEVELS or both, as "
                                 f"\"mesh=2,3 step=2,3\", this is '{given}'")
            self.refined[what] = (whole(f"refine.{what}[0]", numbers[0], 2, 10),
                                  whole(f"refine.{what}[1]", numbers[1], 3, MOST_LEVELS))
        if len(set(self.refined.values())) > 1:
            raise InputError("refine: mesh and step go together, with the same factor and levels; percuss converge "
                             "tells their errors apart")

    # The whole

    def settle(self) -> None:
        """Draws random points, and checks what belongs together."""
        if bool(self.random) != bool(self.distributions):
            raise InputError("--random N needs keys that are drawn: --vary key=normal(mean, deviation) or "
                             "uniform(from, to)" if self.random else
                             f"'{next(iter(self.distributions))}' is drawn at random: give --random N")
        if self.random:
            self.axes.append((list(self.distributions), self._draw()))
        if self.size and not self.perturb:
            raise InputError("--size is for --perturb")
        self.size = self.size or 1e-9
        if self.perturb:
            keys = self.keys + [text.partition("=")[0] for text in self.set]
            if any(key.strip().partition(".")[0] == "perturbation" for key in keys):
                raise InputError(OWN_PERTURBATION)
            self.add_axis(["perturbation.seed"], [(str(k + 1),) for k in range(self.perturb)])
        if self.npoint * len(self.levels) > MOST_POINTS:
            raise InputError(f"a study has at most {MOST_POINTS} runs, this has {self.npoint * len(self.levels)}: "
                             f"{self.npoint} points at {len(self.levels)} levels")
        if not self.axes and not self.refined:
            raise InputError(f"{self.case}: nothing is varied or refined: give --vary, --refine or --perturb")

    def _draw(self) -> Values:
        """Points of a Latin hypercube, through the inverse of each distribution."""
        import numpy as np
        from scipy.special import ndtri
        from scipy.stats import qmc
        unit = qmc.LatinHypercube(len(self.distributions), seed=self.seed).random(self.random)
        columns, tiny = [], 2.0**-53
        for u, (key, text) in zip(np.clip(unit.T, tiny, 1.0 - tiny), self.distributions.items()):
            kind, numbers = re.split(r"[()]", text)[:2]
            try:
                a, b = map(float, numbers.split(","))
            except ValueError:
                a = b = math.nan
            if not math.isfinite(a) or not math.isfinite(b) or b <= (0.0 if kind == "normal" else a):
                raise InputError(f"{key}: '{text}': expected normal(mean, deviation > 0) or uniform(from, to > from)")
            drawn = a + b * ndtri(u) if kind == "normal" else a + (b - a) * u
            columns.append([f"{x:.12g}" for x in drawn])  # the same on all machines
        return list(zip(*columns))


def values_of(key: str, values: Any, text: Callable[[Any], str] = text_of) -> list[str]:
    """Texts of a sequence of values; of a text "0.5:1:0.1" numbers from the first up to the second, else the values
    between commas outside brackets."""
    if not isinstance(values, str):
        if isinstance(values, Mapping) or not hasattr(values, "__iter__"):
            raise InputError(f"{key}: values must be a list or a text, are {type(values).__name__}")
        found = [text(value) for value in values]
        if not found:
            raise InputError(f"{key} must have values, is empty")
        return found
    try:
        first, last, by = map(float, values.split(":"))
    except ValueError:
        found = [value.strip() for value in split_outside(values)]
        if not all(found):
            raise InputError(f"{key}: a value is empty") from None
        return found
    steps = (last - first) / by + 1e-9 if by != 0.0 else math.nan  # the last belongs to it but for round-off
    if not 0.0 <= steps < MOST_POINTS:
        raise InputError(f"{key}: no values, or more than {MOST_POINTS}, from {first:g} to {last:g} by {by:g}")
    return [f"{first + i * by:.12g}" for i in range(math.floor(steps) + 1)]  # 0.3, not 0.30000000000000004


def read_plan(path: str) -> Plan:
    """Reads a study file, or takes a case of which nothing varies yet. A study file says

        case: ../cases/bar_impact   # relative to this file, or a name
        vary: { mesh.bar.elements: [25, 50], scheme.rho_inf: 0.5:1:0.1, elements.bar.E: normal(900, 9) }
        zip: { a.b: [1, 2], a.c: [3, 4] }   # lists that go together
        points: [{ a.d: 1, a.e: 2 }, ...]   # single points
        random: { points: 100, seed: 1 }    # of the keys with a distribution
        refine: { mesh: [2, 3], step: [2, 3] }   # factor, levels

    and set, measure, perturb, size, jobs, keep as the options do. Errors are collected with file, line and column of
    their entries."""
    path = find_case(path)
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file or folder")
    plan = Plan(path)
    text = read_text(path) if os.path.isfile(path) else ""
    if not re.search(r"^(\{\s*)?[\"']?case[\"']?\s*:", text, re.MULTILINE):
        return plan
    import yaml

    def place(mark: Any) -> str:
        return f"{path}:{mark.line + 1}:{mark.column + 1}: " if mark else f"{path}: "

    def plain(node: Any) -> Any:
        """Lists, maps and texts as they are, 1.0e-2."""
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if isinstance(node, yaml.SequenceNode):
            return [plain(one) for one in node.value]
        found: dict[str, Any] = {}
        for key, value in node.value:
            if str(key.value) in found:
                raise InputError(f"{place(key.start_mark)}the key '{key.value}' is there twice")
            found[str(key.value)] = plain(value)
        return found

    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError) as error:
        where = place(getattr(error, "problem_mark", None))
        raise InputError(f"{where}{getattr(error, 'problem', None) or error}") from None
    given, errors = plain(root), list[str]()
    if not isinstance(given, dict) or "case" not in given:
        return plan
    plan.folder, plan.text = os.path.dirname(path) or ".", partial(text_of, quotes=True)
    case = os.path.join(plan.folder, str(given["case"]))
    for key, value in root.value:
        is_group = key.value == "random" and isinstance(given["random"], dict)
        entries = given["random"] if is_group else {key.value: given[key.value]}
        try:
            if key.value == "case":
                plan.case = case if os.path.exists(case) else find_case(str(given["case"]))
            for name, one in entries.items():
                plan.take("random" if is_group and name == "points" else name, one)
        except InputError as error:
            errors.append(f"{place(value.start_mark)}{error}")
    if errors:
        raise InputError("\n".join(errors))
    plan.folder, plan.text = ".", text_of
    return plan


class Study:
    """A plan with its runs and their table; `show` takes the progress."""

    def __init__(self, plan: Plan, folder: str, command: Sequence[str] = (),
                 show: Optional[Callable[[str], None]] = None):
        plan.settle()
        self.plan, self.folder, self.command = plan, folder, list(command)
        nlevel = len(plan.levels)
        self.runs = [Ended()] * (plan.npoint * nlevel)
        self._make(show)
        self.by_point = [self.runs[k:k + nlevel] for k in range(0, len(self.runs), nlevel)]
        self.first = next((run for run in self.runs if run.is_good), Ended())
        self.names = list(plan.measures or self.first.values)
        self.write()

    # ---- Runs ----

    def _make(self, show: Optional[Callable[[str], None]]) -> None:
        """Makes all runs."""
        plan, keys, points = self.plan, self.plan.keys, self.plan.points
        needs_history = any(map(measures.uses_history, plan.measures.values()))
        if needs_history:
            import pandas  # noqa: F401 - once, before workers are forked

        def work(index: int) -> Ended:
            """Makes a run and measures it, in a worker."""
            point, level = divmod(index, len(plan.levels))
            lines = [f"{key}={value}" for key, value in zip(keys, points[point]) if value is not None]
            return runs.measured(lines, plan.levels[level], plan.measures)

        pool = Pool(len(self.runs), work, plan.jobs)
        runs = Runs(plan.case, self.folder, plan.set, keep=plan.keep, history=needs_history, beside=pool.jobs - 1,
                    is_stopped=lambda: pool.is_stopped)
        if plan.perturb:
            self._perturb(runs)
        ends, begin, shown = list[str](), time.monotonic(), 0.0

        def tell(is_last: bool = False) -> None:
            """Shows "[=====>      ]  18 of 40 runs, 12 s, about 15 s left", five times a second at most."""
            nonlocal shown
            now, nrun, ndone = time.monotonic(), len(self.runs), len(ends)
            if show is None or (not is_last and now - shown < 0.2):
                return
            shown, made = now, ndone - ends.count("kept")  # runs that were there took no time
            bar = f"{'=' * (BAR_WIDTH * ndone // nrun)}>".ljust(BAR_WIDTH)[:BAR_WIDTH]
            left = f", about {(now - begin) / made * (nrun - ndone):.0f} s left" if made and not is_last else ""
            show(f"\r[{bar}]  {ndone} of {nrun} runs, {now - begin:.0f} s{left:<20}" + "\n" * is_last)

        with pool.stopping():
            for index, run in pool.results(tell):
                self.runs[index] = run
                ends.append(run.end)
        tell(True)

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

    def _measured(self, runs: Sequence[Ended], name: str) -> dict[str, Any]:
        """A measure at the finest level of a point, and how it converges over the levels."""
        if not self.plan.refined:
            return {"value": known(runs[-1].values.get(name, measures.NOTHING).value)}
        found = [run.values.get(name, measures.NOTHING) for run in runs]
        values = [one.value for one in found]
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
        for values, runs in zip(self.plan.points, self.by_point):
            worst = next((run for run in reversed(runs) if not run.is_good), runs[-1])
            found.append({"parameters": dict(zip(self.plan.keys, values)), "run": worst.name,
                          "status": "done" if worst.is_good else worst.end, "reason": worst.reason,
                          "runs": [run.name for run in runs],
                          "measures": {name: self._measured(runs, name) for name in self.names}})
        return found

    @functools.cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row per run; order, limit and bound stand in that of the finest level."""
        found, details = list[dict[str, Any]](), measures.DETAILS if self.plan.refined else ()
        for point, runs in zip(self.points, self.by_point):
            for level, (run, factors) in enumerate(zip(runs, self.plan.levels)):
                row: dict[str, Any] = dict(point["parameters"])
                if factors:
                    row |= {"level": level, **{f"{what}_factor": x for what, x in factors.items()}}
                row |= {"run": run.name, "status": "done" if run.is_good else run.end}
                is_finest = run is runs[-1] and point["status"] == "done"
                for name, one in point["measures"].items():
                    row[name] = known(run.values.get(name, measures.NOTHING).value)
                    for part in details:
                        row[f"{name}.{part}"] = one[part] if is_finest else None
                row["reason"] = run.reason
                found.append(row)
        return found

    @property
    def not_refined(self) -> Optional[str]:
        """"mesh" or "step", whose error no limit or bound knows."""
        there = {"mesh": self.first.has_cells, "step": self.first.has_steps}
        return next((what for what, has in there.items() if self.plan.refined and has and
                     what not in self.plan.refined), None)

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
    `attrs["study"]`. Without `output` nothing is kept. docs/python.md says what the arguments mean.

    >>> percuss.study("cases/bar_impact", {"mesh.bar.elements": [25, 50]}, measure={"F": "wall.peak_force"})
    """
    given = {name: value for name, value in locals().items() if value and name in KEYS}
    plan = read_plan(os.fsdecode(encode(case, "case")))
    for name, value in given.items():
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
               epilog=(read_plan.__doc__ or "").replace("\n    ", "\n") + f"\n\n{measures.__doc__}")
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
    show = partial(print, end="", flush=True) if sys.stdout.isatty() and not a.quiet else None
    made = Study(plan, p.output(a), ["percuss", "study", *argv], show)
    if not a.quiet:
        print(made.text(), end="")
    is_whole = made.first.is_good and {run.end for run in made.runs} <= {"done", "kept", "refused"}
    return DONE if is_whole else COULD_NOT_GO_ON
