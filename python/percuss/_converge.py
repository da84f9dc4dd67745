"""`percuss converge`: refines mesh and step until a measure is known to what was asked for.

Level k divides mesh size and step by 2^k. Beside the finest level (L, L), those of the mesh alone, (L - 1, L) and
(L - 2, L), and of the step alone tell their errors apart; measure.bound has the bound of each. The bound of the whole
is that of mesh and step together, or the root of the squares of both parts if that is larger, up to 1.6 times, with the
error of output that is sampled. If both together change nothing (a constant Courant number) the parts count in full,
and a part that diverges leaves no bound. docs/validation.md says how often it holds.
"""

import math
import os
import sys
import time
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
import pandas

from . import measure as measures
from . import units
from .command import COULD_NOT_GO_ON, DONE, Parser
from .errors import InputError, SimulationError
from .measure import MOST_SAFETY, Bound, bound
from .pool import MOST_JOBS, Ended, Pool, Runs
from .text import Path, assignments, folder_of, real, whole, write_file

COSTS = {"cells": "model.cells", "steps": "steps.done", "seconds": "wall_time.total"}
FACTOR, MOST_LEVEL, MOST_PARTS = 2, 10, 1.6
Place = tuple[int, int]  # levels of mesh and step


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

    def __init__(self, case: Path, wanted: Mapping[str, str], set_lines: Sequence[str], folder: str, jobs: int = 0):
        self.jobs, self.folder, self.levels = jobs, folder, dict[Place, Ended]()
        self.wanted = {**COSTS, **wanted}
        needs_history = any(map(measures.uses_history, wanted.values()))
        self.runs = Runs(case, folder, set_lines, history=needs_history, beside=0)
        self.kinds = {"mesh", "step"}  # what can be refined

    def _make(self, place: Place) -> Ended:
        """Makes a run and measures it, in a worker."""
        factors = {what: FACTOR**level for what, level in zip(("mesh", "step"), place) if what in self.kinds}
        return self.runs.measured((), factors, self.wanted, has_usual=True)

    def make(self, places: Sequence[Place]) -> None:
        """Makes the levels that are not there, side by side."""
        missing = [place for place in dict.fromkeys(places) if place not in self.levels]
        for k, run in Pool(len(missing), lambda k: self._make(missing[k]), self.jobs).results() if missing else ():
            if not run.is_good:
                raise SimulationError(f"mesh {FACTOR**missing[k][0]}, step {FACTOR**missing[k][1]}: {run.reason}")
            self.levels[missing[k]] = run

    def find_kinds(self) -> None:
        """Makes the first level, the case as it is, and learns what can be refined."""
        self.kinds = set()
        run = self.levels[0, 0] = self._make((0, 0))
        if not run.is_good:
            raise InputError(run.reason)
        self.kinds = {kind for kind, has in (("mesh", run.has_cells), ("step", run.has_steps)) if has} or {"step"}

    def places(self, level: int) -> dict[str, list[Place]]:
        """The levels that are compared, coarse to fine."""
        found = {"both": [(k, k) for k in range(max(level - 3, 0), level + 1)]}
        if len(self.kinds) > 1:
            found["mesh"] = [(k, level) for k in range(level - 2, level + 1)]
            found["step"] = [(level, k) for k in range(level - 2, level + 1)]
        return found

    def judge(self, name: str, level: int) -> Answer:
        """What a level tells of a measure."""
        (value, grain), found = self.levels[level, level].values[name], dict[str, Bound]()
        for what, places in self.places(level).items():
            levels = [self.levels[place] for place in places]
            values = [one.values.get(name, (math.nan, 0.0))[0] for one in levels]
            orders = [found["both"].order] if what != "both" and found["both"].kind == "converges" else []
            found[what] = bound(values, FACTOR, [one.contacts for one in levels], orders=orders)
            if what != "both" and found[what].kind == "diverges":  # it may be a small part of the whole
                found[what] = Bound(MOST_SAFETY * float(np.ptp(values[-3:])), kind="diverges")
        return Answer(value, self.total(found, grain), found, grain, False, "")

    @staticmethod
    def total(found: Mapping[str, Bound], grain: float) -> float:
        """The bound of all errors."""
        both, parts = found["both"], math.hypot(*(one.error for what, one in found.items() if what != "both"))
        if both.kind != "exact":
            return max(both.error, min(parts, MOST_PARTS * both.error)) + grain
        return math.inf if any(one.kind == "diverges" for one in found.values()) else max(both.error, parts) + grain

    def table(self) -> pandas.DataFrame:
        """A row for every level: factors, costs and measures; without cells where nothing has any."""
        found = pandas.DataFrame([{"mesh_factor": FACTOR**m, "step_factor": FACTOR**s,
                                   **{name: one.value for name, one in run.values.items()}, "run": run.name}
                                  for (m, s), run in sorted(self.levels.items())]).astype({"cells": int, "steps": int})
        found["cells"] = found["cells"] if "mesh" in self.kinds else math.nan
        return found.rename(columns=lambda name: units.join(name, measures.unit_of(name)))

    def write(self, name: str) -> None:
        """Writes converge.csv and converge.png."""
        from ._plot import save
        from .figure import Curve, Options, Panel, Picture, drawn
        from .pictures import one_legend
        write_file(os.path.join(self.folder, "converge.csv"), self.table().to_csv(index=False))
        unit = measures.unit_of(name)
        finest = max(m for m, s in self.levels if m == s)
        above, below = Panel("level", name, "", unit), Panel("level", "change", "", unit, log="y")
        for k, (what, places) in enumerate(self.places(finest).items()):
            level = [min(place) for place in places]
            values = np.array([self.levels[place].values[name].value for place in places])
            above.curves.append(Curve(level, values, what, k, style="points"))
            if (change := np.abs(np.diff(values))).any():
                below.curves.append(Curve(level[1:], np.where(change > 0.0, change, np.nan), what, k, style="points"))
        answer = self.judge(name, finest)
        if math.isfinite(answer.bound):
            above.curves.insert(0, Curve([finest], [answer.value], "", "black", bound=[answer.bound]))
        picture = Picture("converge", one_legend([above, below] if below.curves else [above]))
        save(drawn(picture, Options()), os.path.join(self.folder, "converge.png"))


def converge(case: Path, measure: str, to: Union[str, float], *, set: Optional[Mapping[str, Any]] = None,
             seconds: float = 300.0, runs: int = 60, jobs: int = 0, output: Optional[Path] = None) -> Answer:
    """Refines until the bound of a measure is below `to`, "1%" or a size, or the budget is spent; files go to `output`.

    >>> percuss.converge("cases/bar_impact", "wall.total_impulse", "1%").bound
    """
    begin, wish = time.monotonic(), str(to).strip()
    size = real("--to", wish.removesuffix("%"), 1e-12, math.inf, "a size or a percentage > 0")
    with folder_of(output) as folder:
        found = Convergence(case, {measure: measures.locate(measure, ".")}, assignments(set), folder, jobs)
        found.find_kinds()
        level, before = 2, 0.0
        while True:
            found.make([place for places in found.places(level).values() for place in places])
            answer = found.judge(measure, level)
            limit = 0.01 * size * abs(answer.value) if wish.endswith("%") else size
            spent = time.monotonic() - begin
            is_short = spent + 4.0 * (spent - before) > seconds or len(found.levels) + 5 > runs or level == MOST_LEVEL
            if answer.bound <= limit or is_short:
                break
            level, before = level + 1, spent
        found.write(measure)
    answer = answer._replace(is_reached=answer.bound <= limit)
    return answer._replace(text=describe(found, measure, level, answer, limit))


def describe(found: Convergence, name: str, level: int, answer: Answer, limit: float) -> str:
    """The levels, the value with its bound, and which measures converge."""
    unit = measures.unit_of(name)
    shown = found.table()[["mesh_factor", "step_factor", *COSTS, units.join(name, unit)]].round({"seconds": 4})
    lines = [shown.to_string(index=False, na_rep="-", float_format="{:.9g}".format)]
    lines += ["", f"{name} = {answer.value:.9g} +- {answer.bound:.2g}{' ' * bool(unit)}{unit}" + (
        f" ({100 * answer.bound / abs(answer.value):.2g} %)" if answer.value and math.isfinite(answer.bound) else "")]
    for what, one in answer.parts.items():
        order = f", order {one.order:.2f}" if one.kind == "converges" else ""
        is_chance = what == "both" and one.kind == "exact" and len(answer.parts) > 1  # at one Courant number
        lines.append(f"  {'mesh and step together' if what == 'both' else what + ' alone'}: "
                     + ("the same on all levels" if is_chance else f"{one.kind}{order}, error up to {one.error:.2g}"))
    lines += [f"  sampling of the history: {answer.sampling:.2g}"] if answer.sampling else []
    if any(answer.bound < one.error < math.inf for one in answer.parts.values()):
        lines.append(f"The bound is at most {MOST_PARTS} times that of mesh and step together, in which a larger part "
                     "cancels.")
    good = [(one.values["seconds"].value, place) for place, one in found.levels.items()
            if abs(one.values[name].value - answer.value) + answer.bound <= limit]
    if good:
        seconds, (m, s) = min(good)
        lines.append(f"The cheapest level that would have done: mesh {FACTOR**m}, step {FACTOR**s} ({seconds:.3g} s)")
    if not answer.is_reached:
        lines.append(f"Not known to {limit:.2g} after {len(found.levels)} runs. Of the usual measures")
        for other in [key for key in found.levels[level, level].values if key not in COSTS]:
            known = found.judge(other, level)
            lines.append(f"  {other} " + ("does not converge" if known.bound == math.inf else
                                          f"{known.parts['both'].kind}: {known.value:.6g} +- {known.bound:.2g}"))
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
    p.add_usual("converge.csv and converge.png")
    a = p.parse_args(argv)
    answer = converge(a.case, a.measure, a.to, set=dict(line.partition("=")[::2] for line in a.set),
                      seconds=real("--seconds", a.seconds, 0.0, math.inf, "a number of seconds"),
                      runs=whole("--runs", a.runs, 9, 10000), jobs=whole("--jobs", a.jobs or "0", 0, MOST_JOBS),
                      output=p.output(a))
    sys.stdout.write("" if a.quiet else answer.text + "\n")
    return DONE if answer.is_reached else COULD_NOT_GO_ON
