"""`percuss converge`: refines mesh and step until a measure is known to what was asked for.

Level k divides mesh size and step by 2^k. Beside the finest level (L, L), those of the mesh alone, (L - 1, L) and
(L - 2, L), and of the step alone tell their errors apart. With the changes d1, d2 from level to level and the order
p = log2(d1/d2), cut to [1/2, 2], the error that is left is at most

    safety d2/(2^p - 1),   safety = 1.25 + half the scatter of the orders, at most 3

With p above 3, which is chance, it is d1/2; of values that oscillate max(d1/2, d2). With impacts, which steps place,
it is at least 1.4 times the largest change, halved from level to level. Where contact intervals differ in number it is
three times the spread. The bound of the whole is that of mesh and step together, or the root of the squares of both
parts if that is larger, up to 1.6 times, with that of sampling. If both together change nothing (a constant Courant
number) the parts count in full, and a part that diverges leaves no bound. docs/validation.md says how often it holds.
"""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import measure as measures
from .command import COULD_NOT_GO_ON, DONE, Parser, real, whole
from .errors import InputError, SimulationError
from .files import Path, write_file
from .plan import MOST_JOBS, find_case
from .pool import Broke, Ended, Pool, Runs
from .text import assignments, encode

FACTOR, MOST_LEVEL, ROUND_OFF = 2, 10, 1e-11
MOST_SAFETY, MOST_ORDER, MOST_PARTS, IMPACT_SAFETY = 3.0, 3.0, 1.6, 1.4
Place = tuple[int, int]  # levels of mesh and step


class Bound(NamedTuple):
    """How far the last of several levels may be from the truth."""

    error: float
    order: float = math.nan
    kind: str = "unknown"  #: "converges", "exact", "oscillates", "diverges", "jumps", "unknown"


def bound(values: Sequence[float], jumps: bool = False, orders: Sequence[float] = (), impacts: bool = False) -> Bound:
    """The bound of the last of at least three values; `orders`: of other sequences, whose scatter counts, too."""
    if len(values) < 3 or not np.isfinite(values).all():
        return Bound(math.inf)
    spread = float(np.ptp(values[-3:]))
    if spread <= ROUND_OFF * float(np.abs(values).max()):
        return Bound(spread, kind="exact")
    if jumps:
        return Bound(3.0 * spread, kind="jumps")
    coarse, fine = abs(d := np.diff(values))[-2:]
    least = IMPACT_SAFETY * float((np.abs(d) * 0.5 ** np.arange(len(d))[::-1]).max()) if impacts else 0.0
    if fine >= coarse:
        return Bound(math.inf, kind="diverges")
    if d[-1] * d[-2] < 0.0:
        return Bound(max(0.5 * float(coarse), float(fine), least), kind="oscillates")
    order = math.log2(coarse / fine) if fine > 0.0 else math.inf
    if order > MOST_ORDER:  # by chance: a time that comes in steps, or errors that cancel
        return Bound(max(0.5 * float(coarse), least), order, "converges")
    seen = [order, *orders, *(math.log2(abs(a / b)) if a * b > 0.0 else 0.0 for a, b in zip(d[-3:-2], d[-2:-1]))]
    safety = min(1.25 + 0.5 * float(np.ptp(np.clip(seen, 0.0, MOST_ORDER))), MOST_SAFETY)
    return Bound(max(safety * float(fine) / (2.0**min(max(order, 0.5), 2.0) - 1.0), least), order, "converges")


class Level(NamedTuple):
    """A run at levels of mesh and step."""

    run: Ended
    seconds: float
    cells: int
    steps: int
    contacts: tuple[Any, ...]  #: numbers of intervals and impacts of each


class Answer(NamedTuple):
    """What is known of a measure; `text` says all of it."""

    value: float
    bound: float
    parts: dict[str, Bound]  #: of "both", and of "mesh" and "step" alone
    sampling: float  #: error of output that is sampled, part of the bound
    is_reached: bool
    text: str


class Convergence:
    """Levels of a case, made as they are needed."""

    def __init__(self, case: str, wanted: Mapping[str, str], set_lines: Sequence[str], folder: str, jobs: int = 0):
        self.jobs, self.folder, self.wanted, self.levels = jobs, folder, dict(wanted), dict[Place, Level]()
        self.lines = [encode(line, "set") for line in set_lines]
        needs_history = any(map(measures.uses_history, wanted.values()))
        self.runs = Runs(case, folder, keep=False, history=needs_history, beside=0)
        self.kinds = {"mesh", "step"}  # what can be refined

    def _make(self, place: Place) -> Level:
        """Makes a run and measures it, in a worker."""
        factors = [float(FACTOR**level) if what in self.kinds else 0.0 for what, level in zip(("mesh", "step"), place)]
        run = self.runs.make(self.lines, *factors)
        if not run.is_good:
            return Level(run, 0.0, 0, 0, ())
        found = measures.Run(self.runs.path(run.name))
        formulas = {**self.wanted, **measures.usual(found.summary)}
        run = run._replace(values={name: found.measure(formula) for name, formula in formulas.items()})
        seconds, cells, steps = (found.measure(name).value for name in ("wall_time.total", "model.cells", "steps.done"))
        contacts = tuple((c.get("interval_count"), c.get("impacts")) for c in found.summary.get("contacts") or [])
        return Level(run, seconds, int(cells), int(steps), contacts)

    def make(self, places: Sequence[Place]) -> None:
        """Makes the levels that are not there, side by side."""
        missing = [place for place in dict.fromkeys(places) if place not in self.levels]
        for k, level in Pool(len(missing), lambda k: self._make(missing[k]), self.jobs).results() if missing else ():
            if isinstance(level, Broke) or not level.run.is_good:
                why = (level if isinstance(level, Broke) else level.run).reason
                raise SimulationError(f"mesh {FACTOR**missing[k][0]}, step {FACTOR**missing[k][1]}: {why}")
            self.levels[missing[k]] = level

    def find_kinds(self) -> None:
        """Makes the first level and learns what can be refined."""
        reasons = []
        for what in ("step", "mesh"):  # one of them may not be there
            self.kinds = {what}
            level = self._make((0, 0))
            if level.run.is_good:
                is_there = {"mesh": level.run.has_cells, "step": level.run.has_steps, what: True}
                self.kinds, self.levels[0, 0] = {name for name, has in is_there.items() if has}, level
                return
            reasons.append(level.run.reason)
        raise InputError(reasons[0])

    def places(self, level: int) -> dict[str, list[Place]]:
        """The levels that are compared, coarse to fine."""
        found = {"both": [(k, k) for k in range(max(level - 3, 0), level + 1)]}
        if len(self.kinds) > 1:
            found["mesh"] = [(k, level) for k in range(level - 2, level + 1)]
            found["step"] = [(level, k) for k in range(level - 2, level + 1)]
        return found

    def judge(self, name: str, level: int) -> tuple[float, dict[str, Bound], float]:
        """Value on a level, bounds of what is refined, and the error of sampling."""
        (value, grain), found = self.levels[level, level].run.values[name], dict[str, Bound]()
        for what, places in self.places(level).items():
            levels = [self.levels[place] for place in places]
            values = [one.run.values.get(name, (math.nan, 0.0))[0] for one in levels]
            orders = [found["both"].order] if what != "both" and found["both"].kind == "converges" else []
            impacts = any(count for one in levels for _, count in one.contacts)
            found[what] = bound(values, len({one.contacts for one in levels[-3:]}) > 1, orders, impacts)
            if what != "both" and found[what].kind == "diverges":  # it may be a small part of the whole
                found[what] = Bound(MOST_SAFETY * float(np.ptp(values[-3:])), kind="diverges")
        return value, found, grain

    @staticmethod
    def total(found: Mapping[str, Bound], grain: float) -> float:
        """The bound of all errors."""
        both, parts = found["both"], math.hypot(*(one.error for what, one in found.items() if what != "both"))
        if both.kind != "exact":
            return max(both.error, min(parts, MOST_PARTS * both.error)) + grain
        return math.inf if any(one.kind == "diverges" for one in found.values()) else max(both.error, parts) + grain

    def write(self, name: str) -> None:
        """Writes converge.csv and converge.png."""
        import pandas
        from ._plot import save
        from .figure import Curve, Options, Panel, Picture, drawn
        rows = [{"mesh_factor": FACTOR**m, "step_factor": FACTOR**s, "cells": one.cells, "steps": one.steps,
                 "seconds": one.seconds, **{key: v[0] for key, v in one.run.values.items()}, "run": one.run.name}
                for (m, s), one in sorted(self.levels.items())]
        write_file(os.path.join(self.folder, "converge.csv"), pandas.DataFrame(rows).to_csv(index=False))
        finest = max(m for m, s in self.levels if m == s)
        above, below = Panel("level", name), Panel("level", f"change of {name}", log="y")
        for k, (what, places) in enumerate(self.places(finest).items()):
            level = [min(place) for place in places]
            values = np.array([self.levels[place].run.values[name][0] for place in places])
            above.curves.append(Curve(level, values, what, k, style="points"))
            if (change := np.abs(np.diff(values))).any():
                below.curves.append(Curve(level[1:], np.where(change > 0.0, change, np.nan), what, k, style="points"))
        value, found, grain = self.judge(name, finest)
        if math.isfinite(total := self.total(found, grain)):
            above.curves.insert(0, Curve([finest], [value], "", "black", bound=[total]))
        picture = Picture("converge", [above, below] if below.curves else [above])
        save(drawn(picture, Options()), os.path.join(self.folder, "converge.png"))


def converge(case: Path, measure: str, to: Union[str, float], *, set: Optional[Mapping[str, Any]] = None,
             seconds: float = 300.0, runs: int = 60, jobs: int = 0, output: Optional[Path] = None) -> Answer:
    """Refines until the bound of a measure is below `to`, "1%" or a size, or the budget is spent; files go to `output`.

    >>> percuss.converge("cases/bar_impact", "wall.total_impulse", "1%").bound
    """
    if output is None:
        import tempfile
        with tempfile.TemporaryDirectory(prefix="percuss-") as folder:
            return converge(case, measure, to, set=set, seconds=seconds, runs=runs, jobs=jobs, output=folder)
    begin, wish = time.monotonic(), str(to).strip()
    size = real("--to", wish.removesuffix("%"), 1e-12, math.inf, "a size or a percentage > 0")
    found = Convergence(find_case(os.fspath(case)), {measure: measures.locate(measure, ".")}, assignments(set),
                        os.fspath(output), jobs)
    found.find_kinds()
    level, before = 2, 0.0
    while True:
        found.make([place for places in found.places(level).values() for place in places])
        value, bounds, grain = found.judge(measure, level)
        total = found.total(bounds, grain)
        limit = 0.01 * size * abs(value) if wish.endswith("%") else size
        spent = time.monotonic() - begin
        is_short = spent + 4.0 * (spent - before) > seconds or len(found.levels) + 5 > runs or level == MOST_LEVEL
        if total <= limit or is_short:
            break
        level, before = level + 1, spent
    found.write(measure)
    answer = Answer(value, total, bounds, grain, total <= limit, "")
    return answer._replace(text=describe(found, measure, level, answer, limit))


def describe(found: Convergence, name: str, level: int, answer: Answer, limit: float) -> str:
    """The levels, the value with its bound, and which measures converge."""
    lines = [f"{'mesh':>6} {'step':>6} {'cells':>8} {'steps':>9} {'seconds':>9}  {name}"]
    lines += [f"{FACTOR**m:6} {FACTOR**s:6} {one.cells:8} {one.steps:9} {one.seconds:9.3g}  "
              f"{one.run.values[name][0]:.9g}" for (m, s), one in sorted(found.levels.items())]
    lines += ["", f"{name} = {answer.value:.9g} +- {answer.bound:.2g}" + (
        f" ({100 * answer.bound / abs(answer.value):.2g} %)" if answer.value and math.isfinite(answer.bound) else "")]
    for what, one in answer.parts.items():
        order = f", order {one.order:.2f}" if one.kind == "converges" else ""
        lines.append(f"  {'mesh and step together' if what == 'both' else what + ' alone'}: {one.kind}{order}, "
                     f"error up to {one.error:.2g}")
    lines += [f"  sampling of the history: {answer.sampling:.2g}"] if answer.sampling else []
    good = [(one.seconds, place) for place, one in found.levels.items()
            if abs(one.run.values[name][0] - answer.value) + answer.bound <= limit]
    if good:
        seconds, (m, s) = min(good)
        lines.append(f"The cheapest level that would have done: mesh {FACTOR**m}, step {FACTOR**s} ({seconds:.3g} s)")
    if not answer.is_reached:
        lines.append(f"Not known to {limit:.2g} after {len(found.levels)} runs. Of the usual measures")
        for other in found.levels[level, level].run.values:
            value, bounds, grain = found.judge(other, level)
            total = found.total(bounds, grain)
            lines.append(f"  {other} " + (f"{bounds['both'].kind}: {value:.6g} +- {total:.2g}" if math.isfinite(total)
                                          else "does not converge"))
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """`percuss converge`: 0 the accuracy is reached, 1 it is not, 2 bad input or usage."""
    p = Parser("converge", "Refines mesh and step until a measure is known to what was asked for.\n\n"
               "Exit status: 0 reached, 1 not reached, 2 bad input or usage.")
    p.add_argument("case", metavar="CASE", help="a case")
    p.add_argument("--measure", metavar="MEASURE", required=True, help="a number of summary.json, or a formula, as "
                   "peak(wall.force)")
    p.add_argument("--to", metavar="SIZE|P%", required=True, help="the bound that is wanted, as 1%%")
    p.add_argument("--seconds", metavar="S", default="300", help="most time to spend [300]")
    p.add_argument("--runs", metavar="N", default="60", help="most runs [60]")
    p.add_argument("-j", "--jobs", metavar="N", default="0", help="runs at a time, 0: the number of processors [0]")
    p.add_argument("-o", "--output", metavar="DIR", help="where converge.csv and converge.png go "
                   "[results/<case>_converge]")
    p.add_argument("--set", metavar="path.to.key=value", action="append", default=[], help="a value of all runs")
    p.add_argument("-q", "--quiet", action="store_true", help="nothing on the screen")
    a = p.parse_args(argv)
    stem = os.path.splitext(os.path.basename(os.path.normpath(a.case)))[0]
    answer = converge(a.case, a.measure, a.to, set=dict(line.partition("=")[::2] for line in a.set),
                      seconds=real("--seconds", a.seconds, 0.0, math.inf, "a number of seconds"),
                      runs=whole("--runs", a.runs, 9, 10000), jobs=whole("--jobs", a.jobs, 0, MOST_JOBS),
                      output=a.output or os.path.join("results", stem + "_converge"))
    sys.stdout.write("" if a.quiet else answer.text + "\n")
    return DONE if answer.is_reached else COULD_NOT_GO_ON
