"""Measures of a run: numbers of its summary.json by their path, and formulas of these and of its history.

A path is keys with points between them. An item of a list is found by its `name` or by its number from 0;
contacts, joints, supports and probes also without the name of their list: wall.peak_force, tip.x.max. A formula may
hold paths, numbers, the functions of formulas in cases (sqrt, sin, min, ..), and

    at(column, time)                value of a column of history.csv, linear between rows
    rms(column, table[, other])     root of the mean square difference to a column of a CSV file, of a folder of
                                    results, or of the run of `point N` of the study
    peak(column)                    largest absolute value of a column of history.csv
    filtered_peak(contact, window)  largest mean force over any time of that length, s
    restitution(contact[, column])  of the centre of the model, or of a column, over the first interval of a contact

For a column there may stand a formula of columns: at(tip.x - root.x, 0.3).
"""

from __future__ import annotations

import functools
import math
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Optional, Sequence

from . import units
from .errors import InputError
from .files import read_json
from .text import split_outside, suggest

if TYPE_CHECKING:
    from .formula import Signal

LISTS = ("contacts", "joints", "supports", "probes")
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*")
USAGE = {"at": "at(column, time)", "peak": "peak(column)", "rms": "rms(column, table[, column of the table])",
         "filtered_peak": "filtered_peak(contact, window)", "restitution": "restitution(contact[, column])"}
CALLS = re.compile(rf"(?<![A-Za-z_0-9.])({'|'.join(USAGE)})\s*\(")
ROWS_OF_A_WINDOW = 10


# ---- Places in a summary ----

def children(node: Any) -> Iterator[tuple[str, Any]]:
    """What stands below a node, by its key; items of lists by their number and their name."""
    if isinstance(node, list):
        for i, item in enumerate(node):
            yield str(i), item
            if isinstance(item, dict) and isinstance(item.get("name"), str):
                yield item["name"], item
    elif isinstance(node, dict):
        yield from node.items()


def walk(node: Any, place: str) -> Optional[tuple[Any]]:
    """What stands at a place below a node, in a tuple, or None. Names may have points in them."""
    for key, child in children(node):
        if place == key:
            return (child,)
        if place.startswith(key + ".") and (found := walk(child, place[len(key) + 1:])):
            return found
    return None


def names(node: Any, prefix: str = "") -> list[str]:
    """All places below a node."""
    return [name for key, child in children(node) for name in (prefix + key, *names(child, f"{prefix}{key}."))]


class Summary:
    """summary.json of a run."""

    def __init__(self, path: str):
        self.tree = read_json(path)

    def get(self, key: str) -> Any:
        """An entry, None if there is none."""
        return self.tree.get(key)

    def find(self, place: str) -> Optional[tuple[Any]]:
        """What stands at a place, in a tuple, or None."""
        return walk(self.tree, place) or next(filter(None, (walk(self.get(kind), place) for kind in LISTS)), None)

    def names(self) -> list[str]:
        """All places, for suggestions."""
        return [name for node in (self.tree, *map(self.get, LISTS)) for name in names(node)]


# ---- Measures ----

class Measured(NamedTuple):
    """A number of a run; `grain`: by how much it changes with a step more or less in each of its times."""

    value: float
    grain: float = 0.0


class Run:
    """A run that is measured; `other(point)` gives the folder of the run of another point, None: not known yet."""

    def __init__(self, folder: str, other: Optional[Callable[[int], Optional[str]]] = None, has_grains: bool = True):
        self.folder, self.has_grains = folder, has_grains
        self.summary = Summary(f"{folder}/summary.json")
        self.other = other

    @functools.cached_property
    def history(self) -> Any:
        from .results import open as open_results
        return open_results(os.path.join(self.folder, "history.csv")).table

    # Places

    def _grain(self, place: str) -> float:
        """Times among the numbers of a summary are those of steps: how many of them make up the one of this name."""
        head, _, name = place.rpartition(".")
        count = 0.0
        if "intervals." in place:
            count = {"duration": 2.0, "start": 1.0, "end": 1.0}.get(name, 0.0)
        if name == "time_in_contact":
            intervals = self.summary.find(f"{head}.interval_count" if head else "interval_count")
            count = 2.0 * float(intervals[0]) if intervals else 2.0
        elif not count and name.endswith("_time") and place != "open_time":
            count = 1.0
        time = self.summary.get("time")
        step = time.get("step") if isinstance(time, dict) else None
        return count * step if isinstance(step, (int, float)) else 0.0

    def place(self, place: str, node: Any) -> Measured:
        if node is None:
            return Measured(math.nan)
        if not isinstance(node, (int, float)):
            raise InputError(f"'{place}' of {self.folder}/summary.json is no number")
        return Measured(float(node), self._grain(place) if self.has_grains else 0.0)

    def _missing(self, place: str) -> InputError:
        return InputError(f"{self.folder}/summary.json has no '{place}'{suggest(place, self.summary.names())}")

    # Formulas

    def measure(self, text: str) -> Measured:
        """The value of a place or formula."""
        node = None if text[:1].isdigit() else self.summary.find(text)
        if node is not None:  # names of contacts may have signs in them
            return self.place(text, node[0])
        from .formula import CONSTANTS, compile_formula, evaluate
        found: dict[str, Measured] = {}

        def put(value: Measured) -> str:
            found[f"v{len(found)}"] = value
            return f"v{len(found) - 1}"

        def token(match: re.Match[str]) -> str:
            word = match[0]
            if re.fullmatch(r"v\d+", word) and word in found:
                return word
            if re.match(r"\s*\(", text_left[match.end():]):
                return word
            node = self.summary.find(word)
            if node is None and ("." in word or word not in CONSTANTS):
                raise self._missing(word)
            return word if node is None else put(self.place(word, node[0]))

        text_left = replace_calls(text, lambda name, words: put(self.call(name, words)))
        plain = re.sub(r"(?<![0-9.])[A-Za-z_][A-Za-z_0-9.]*", token, text_left)
        tree = compile_formula(plain)
        values = {name: one.value for name, one in found.items()}
        value, grain = float(evaluate(tree, values)), 0.0
        for name, one in found.items():
            if one.grain:
                change = abs(float(evaluate(tree, {**values, name: values[name] + one.grain})) - value)
                grain += change if math.isfinite(change) else 0.0
        return Measured(value, grain)

    def call(self, name: str, words: list[str]) -> Measured:
        """The value of a function of the history."""
        found = getattr(self, f"_{name}")(*words)
        return found if isinstance(found, Measured) else Measured(float(found))

    def _peak(self, column: str) -> Measured:
        """Between rows that leave steps out the peak may be higher, by about what it stands above its neighbours."""
        import numpy as np
        x = np.abs(self._signal(column).x)
        if not len(x):
            return Measured(math.nan)
        k = int(x.argmax())
        is_sparse = bool((np.diff(self.history["step"]) > 1).any())
        return Measured(float(x[k]), float(x[k] - min(x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)])) * is_sparse)

    def _at(self, column: str, time: str) -> float:
        return self._signal(column).at(self.measure(time).value)

    def _signal(self, column: str, empty: float = math.nan) -> Signal:
        from .formula import read_signal
        return read_signal(self.history, column, empty)

    def _rms(self, column: str, table: str, other_column: str = "") -> float:
        from .formula import read_signal
        from .results import open as open_results
        own = self._signal(column)
        point = re.fullmatch(r"point (\d+)", table)
        if point:
            folder = self.other(int(point[1])) if self.other else None
            if folder is None:
                return math.nan
            table = folder
        return own.rms(read_signal(open_results(table).table, other_column or column))

    def _filtered_peak(self, contact: str, window_text: str) -> float:
        window = self.measure(window_text).value
        if not window > 0.0:
            raise InputError(f"the window of filtered_peak must be > 0, is {window:g}")
        impulses = self._signal(f"{contact}.step_impulse", 0.0)
        import numpy as np
        steps, apart = np.diff(self.history["step"]), np.diff(self.history["t"])
        coarse = (steps > 1) & (impulses.x[1:] != 0.0) & (window < (1.0 - 1e-9) * ROWS_OF_A_WINDOW * apart)
        if coarse.any():
            k = int(coarse.argmax())
            raise InputError(f"a mean over {window:g} s needs rows of history.csv at most "
                             f"{window / ROWS_OF_A_WINDOW:.3g} s apart, they are {apart[k]:.3g} s ({steps[k]:.0f} "
                             f"steps) apart at t = {self.history['t'].iloc[k + 1]:.6g} s: let output.history.every be "
                             "1")
        return impulses.filtered_peak(window)

    def _first_interval(self, contact: str) -> tuple[float, float, float]:
        """Start and end of the first interval of a contact, and its impulse; NaN if it had none that has ended."""
        found = walk(self.summary.get("contacts"), contact)
        if found is None or not isinstance(found[0], dict):
            raise InputError(f"there is no contact '{contact}'")
        intervals = found[0].get("intervals") or []
        if not intervals or (found[0].get("interval_count") == 1 and found[0].get("is_touching_at_end")):
            return math.nan, math.nan, math.nan
        return intervals[0]["start"], intervals[0]["end"], intervals[0]["total_impulse"]

    def _demand_row(self, contact: str, time: float) -> None:
        """Between rows that leave steps out nothing is known of a momentum that a contact changes."""
        import numpy as np
        t, steps = self.history["t"].to_numpy(), np.diff(self.history["step"])
        slack = 1e-9 * abs(t[-1] - t[0]) if len(t) else 0.0
        k = int(np.searchsorted(t, time - slack))
        if 0 < k < len(t) and t[k] > time + slack and steps[k - 1] > 1:
            raise InputError(f"history.csv has no row at t = {time:.6g} s, where '{contact}' closes or opens; those "
                             f"beside it are {steps[k - 1]:.0f} steps apart: let output.history.every be 1")

    def _restitution(self, contact: str, column: str = "") -> float:
        """With momenta p_0 before and p_1 after the first interval, n = p_1 - p_0: e = -(p_1 n)/(p_0 n); of a column
        minus the value after it over the one before."""
        import numpy as np
        start, end, impulse = self._first_interval(contact)
        columns = [column] if column else [f"momentum_{axis}" for axis in "xyz"]
        signals = [self._signal(name) for name in columns]
        for time in (start, end):
            self._demand_row(contact, time)
        before, after = (np.array([s.at(time) for s in signals]) for time in (start, end))
        if column:
            return float(-after[0] / before[0]) if before[0] != 0.0 else math.nan
        change = after - before
        if np.linalg.norm(change) <= 1e-9 * impulse + 1e-13 * np.linalg.norm(before):
            raise InputError(f"'{contact}' leaves the momentum of the model as it is: between two bodies name a "
                             f"column, restitution({contact}, a.vx - b.vx), with probes of their centres")
        return float(-(after @ change) / (before @ change)) if before @ change != 0.0 else math.nan


def replace_calls(text: str, replace: Callable[[str, list[str]], str]) -> str:
    """The text with every call of a function of histories replaced."""
    out, at = "", 0
    while (match := CALLS.search(text, at)) is not None:
        words, end = split_outside(text[match.end():], closing=")")
        words = [word.strip() for word in words]
        words = [w[1:-1] if len(w) > 1 and w[0] in "'\"" and w[-1] == w[0] else w for w in words]
        name = match[1]
        wanted = {"rms": (2, 3), "restitution": (1, 2), "peak": (1, 1)}.get(name, (2, 2))
        if end < 0 or not wanted[0] <= len(words) <= wanted[1] or not all(words):
            raise InputError(f"expected {USAGE[name]}, this is '{text[match.start():][:80]}'")
        out += text[at:match.start()] + replace(name, words)
        at = match.end() + end
    return out + text[at:]


def uses_history(text: str) -> bool:
    """Whether a measure looks at the history."""
    return CALLS.search(text) is not None


def points_of(text: str) -> list[int]:
    """Numbers of the points whose runs a measure looks at."""
    return [int(number) for number in re.findall(r"\brms\s*\([^()]*,\s*point (\d+)\s*[,)]", text)]


def locate(text: str, folder: str) -> str:
    """A measure with the paths of its tables, which stand from that folder on, made absolute."""
    def replace(name: str, words: list[str]) -> str:
        if name == "rms" and not re.fullmatch(r"point (\d+)", words[1]):
            path = words[1] if folder == "." else os.path.join(folder, words[1])
            if not os.path.exists(path):
                raise InputError(f"there is no table or folder '{path}'")
            quote = '"' if "'" in path else "'"
            words[1] = f"{quote}{os.path.realpath(path)}{quote}"
        return f"{name}({', '.join(words)})"

    return replace_calls(text, replace) if uses_history(text) else text


def unit_of(text: str) -> str:
    """The unit of a measure that is a place or one call; "" of other formulas."""
    match = CALLS.match(text)
    if match and text.endswith(")") and text.count("(") == 1:
        column = text[match.end():-1].split(",")[0].strip()
        return {"filtered_peak": "N", "restitution": ""}.get(match[1], units.unit(column))
    return units.unit(text) if NAME.fullmatch(text) else ""


def usual(summary: Summary) -> dict[str, str]:
    """Measures of a study that asks for none: of every contact, and energies."""
    names = [c.get("name", "") for c in summary.get("contacts") or [] if isinstance(c, dict)]
    found = [f"{name}.{what}" for name in names for what in ("time_in_contact", "peak_force", "total_impulse")]
    return {name: name for name in found + ["energy.final", "energy.impact_loss", "energy.numerical_loss"]}


# ---- Convergence over levels of refinement ----

class Convergence(NamedTuple):
    """Order, limit and bound of a value over levels (Roache 1994): with f_1, f_2, f_3 on the three finest levels and
    the factor r between them

        order p = ln((f_2 - f_1)/(f_3 - f_2))/ln r,   limit = f_3 + (f_3 - f_2)/(r^p - 1),
        bound = 1.25 |f_3 - f_2|/(r^p - 1)

    In the bound p is taken from 1/2 to 2: a higher order is not trusted on three levels. Values that oscillate get no
    limit, and three times the last change as a bound; those that diverge get neither. A time comes in steps of time:
    its grain is part of the bound, and where it changes by no more there is no order and no limit to be seen."""

    value: float
    order: float = math.nan
    limit: float = math.nan
    bound: float = math.nan
    kind: str = "unknown"  #: "converges", "exact", "steps", "oscillates", "diverges", "unknown"


def converge(values: Sequence[float], factor: float, grain: float = 0.0) -> Convergence:
    """The convergence of values from coarse to fine; `grain`: of the finest."""
    last = values[-1]
    if len(values) < 3 or not all(math.isfinite(x) for x in values[-3:]):
        return Convergence(last)
    coarse, fine = values[-2] - values[-3], last - values[-2]
    if grain > 0.0 and abs(fine) <= (1.0 + 1e-9) * grain:  # nothing finer can be seen
        return Convergence(last, bound=abs(fine) + grain, kind="steps")
    if abs(fine) <= 1e-12 * abs(last):  # sums over many steps have no more digits
        return Convergence(last, limit=last, bound=abs(fine), kind="exact")
    if abs(fine) >= abs(coarse):
        return Convergence(last, kind="diverges")
    order = math.log(abs(coarse / fine)) / math.log(factor)
    if fine * coarse < 0.0:
        return Convergence(last, order, bound=3.0 * abs(fine) + grain, kind="oscillates")
    bound = 1.25 * abs(fine) / (factor**min(max(order, 0.5), 2.0) - 1.0) + grain
    return Convergence(last, order, last + fine / (factor**order - 1.0), bound, "converges")


def converge_both(a: Convergence, b: Convergence) -> Convergence:
    """Of two refinements that end in the same value: both distances to the limit and both bounds add up; where one of
    them does not converge neither does the whole. There is no order."""
    from_worst = ("unknown", "diverges", "oscillates", "steps", "converges", "exact")
    worst = next(kind for kind in from_worst if kind in (a.kind, b.kind))
    return Convergence(a.value, limit=a.limit + (b.limit - b.value), bound=a.bound + b.bound, kind=worst)
