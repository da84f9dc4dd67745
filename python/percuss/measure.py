"""Measures of a run: numbers of its summary.json by their path, and formulas of these and of its history.

A path is keys with points between them. An item of a list is found by its `name` or by its number from 0;
contacts, joints, supports and probes also without the name of their list: wall.peak_force, tip.x.max. A formula may
hold paths, numbers, the functions of formulas in cases (sqrt, sin, min, ..), and

    at(column, time)                value of a column of history.csv, linear between rows
    rms(column, table[, other])     root of the mean square difference to a column of a CSV file, or of a folder of
                                    results
    peak(column)                    largest absolute value of a column of history.csv
    filtered_peak(contact, window)  largest mean force over any time of that length, s
    restitution(contact[, column])  of the centre of the model, or of a column, over the first interval of a contact

For a column there may stand a formula of columns: at(tip.x - root.x, 0.3).
"""

import ast
import functools
import math
import os
import re
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional, Sequence

from . import units
from .errors import InputError
from .text import read_json, suggest

if TYPE_CHECKING:
    from .formula import Signal

LISTS = ("contacts", "joints", "supports", "probes")
CONSTANTS = {"pi": math.pi, "e": math.e}
USAGE = {"at": "at(column, time)", "peak": "peak(column)", "rms": "rms(column, table[, column of the table])",
         "filtered_peak": "filtered_peak(contact, window)", "restitution": "restitution(contact[, column])"}
CALLS = re.compile(rf"(?<![A-Za-z_0-9.])({'|'.join(USAGE)})\s*\(")
TABLE = re.compile(r"""(\brms\s*\((?:[^,()]|\([^()]*\))*,\s*)(?:'([^']+)'|"([^"]+)"|([^,'")]+?))\s*(?=[,)])""")


# ---- Formulas ----

class Formula(NamedTuple):
    """The syntax tree of a formula, in which each word, a path or a column, is a name v0, v1, .."""

    tree: ast.expr
    source: str
    words: list[str]

    def text(self, node: ast.AST) -> str:
        """A part of the formula as it was written; of a quoted text what is between the quotes."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        part = ast.get_source_segment(self.source, node) or ""
        return re.sub(r"\bv(\d+)\b", lambda match: self.words[int(match[1])], part)


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Formula:
    """Reads a formula; InputError says what is wrong."""
    words: list[str] = []

    def put(match: re.Match[str]) -> str:
        if match[1] is None or match[2]:  # quoted, or the name of a function
            return match[0]
        words.append(match[1])
        return f"v{len(words) - 1}"

    plain = re.sub(r"""'[^']*'|"[^"]*"|(?<![0-9.])([A-Za-z_][\w.\[\]]*)(\s*\()?""", put, text.strip())
    plain = plain.replace("^", "**")
    try:
        return Formula(ast.parse(plain, mode="eval").body, plain, words)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        what = "it ends too early" if re.search(r"[-+*/^,(]\s*$", text) else "it is no formula"
        raise InputError(f"'{text[:60]}': {what}") from None


def uses_history(text: str) -> bool:
    """Whether a measure looks at the history."""
    return CALLS.search(text) is not None


def locate(text: str, folder: str) -> str:
    """A measure with its tables in quotes, and their paths, which stand from that folder on, made absolute."""
    def put(match: re.Match[str]) -> str:
        path = os.path.normpath(os.path.join(folder, match[2] or match[3] or match[4]))
        if not os.path.exists(path):
            raise InputError(f"there is no table or folder '{path}'")
        quote = '"' if "'" in os.path.realpath(path) else "'"
        return f"{match[1]}{quote}{os.path.realpath(path)}{quote}"

    return TABLE.sub(put, text)


def unit_of(text: str) -> str:
    """The unit of a measure that is a place or one call; "" of other formulas."""
    match = CALLS.match(text)
    if match and text.endswith(")") and text.count("(") == 1:
        column = text[match.end():-1].split(",")[0].strip()
        return {"filtered_peak": "N", "restitution": ""}.get(match[1], units.unit(column))
    return units.unit(text) if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9.]*", text) else ""


# ---- Places in a summary ----

def children(node: Any) -> dict[str, Any]:
    """What stands right below a node by its key; items of a list by their number and their name."""
    if isinstance(node, dict):
        return node
    items = node if isinstance(node, list) else []
    named = [item for item in items if isinstance(item, dict) and isinstance(item.get("name"), str)]
    return {**{item["name"]: item for item in reversed(named)}, **{str(i): item for i, item in enumerate(items)}}


def walk(node: Any, place: str) -> Optional[tuple[Any]]:
    """What stands at a place below a node, in a tuple, or None. Names may have points in them."""
    below = children(node)
    if place in below:
        return (below[place],)
    found, point = None, place.find(".")
    while found is None and point >= 0:
        if (head := place[:point]) in below:
            found = walk(below[head], place[point + 1:])
        point = place.find(".", point + 1)
    return found


def numbers(node: Any) -> list[str]:
    """Places of all numbers below a node."""
    return [place for key, child in children(node).items()
            for place in ([key] if type(child) in (int, float) else [f"{key}.{one}" for one in numbers(child)])]


def contacts_of(summary: dict[str, Any]) -> tuple[tuple[str, int, int], ...]:
    """Name, number of intervals and of impacts of every contact."""
    return tuple((one.get("name", ""), one.get("interval_count", 0), one.get("impacts", 0))
                 for one in summary.get("contacts") or [] if isinstance(one, dict))


def usual(summary: dict[str, Any]) -> dict[str, str]:
    """Measures of a study that asks for none: of every contact, and energies."""
    found = [f"{name}.{what}" for name, *_ in contacts_of(summary)
             for what in ("time_in_contact", "peak_force", "total_impulse")]
    return {name: name for name in found + ["energy.final", "energy.impact_loss", "energy.numerical_loss"]}


# ---- Measures ----

class Measured(NamedTuple):
    """A number of a run; `grain`: by how much it changes with a step more or less in each of its times."""

    value: float
    grain: float = 0.0


NOTHING = Measured(math.nan)


class Run:
    """A run that is measured; without grains where nothing is refined."""

    def __init__(self, folder: str, has_grains: bool = True):
        self.folder, self.has_grains = folder, has_grains
        self.summary = read_json(f"{folder}/summary.json")
        self.nodes = [children(node) for node in (self.summary, *map(self.summary.get, LISTS))]

    @functools.cached_property
    def history(self) -> Any:
        from .results import open as open_results
        return open_results(os.path.join(self.folder, "history.csv")).table

    # Places

    def find(self, place: str) -> Optional[Measured]:
        """The number at a place of the summary, None if there is none."""
        found = None if place[:1].isdigit() else next(filter(None, (walk(node, place) for node in self.nodes)), None)
        if found is None:
            return None
        if found[0] is not None and not isinstance(found[0], (int, float)):
            raise InputError(f"'{place}' of {self.folder}/summary.json is no number")
        return Measured(math.nan if found[0] is None else float(found[0]), self._grain(place) if self.has_grains else 0)

    def _grain(self, place: str) -> float:
        """Times among the numbers of a summary are those of steps: how many of them make up the one of this name."""
        head, _, name = place.rpartition(".")
        count = 0.0
        if name == "time_in_contact":
            intervals = walk(self.summary, f"{head}.interval_count") or walk(self.summary.get("contacts"),
                                                                            f"{head}.interval_count")
            count = 2.0 * float(intervals[0]) if intervals else 2.0
        elif "intervals." in place and name in ("duration", "start", "end"):
            count = 2.0 if name == "duration" else 1.0
        elif name.endswith("_time") and place != "open_time":
            count = 1.0
        step = walk(self.summary, "time.step") or (None,)
        return count * step[0] if isinstance(step[0], (int, float)) else 0.0

    # Formulas

    def measure(self, text: str) -> Measured:
        """The value of a place or formula."""
        if (whole := self.find(text)) is not None:  # names of contacts may have signs in them
            return whole
        from .formula import evaluate
        formula, found = parse(text), dict[str, Measured]()

        def lookup(word: str) -> float:
            if word not in found:
                value = self.find(word)
                if value is None and word not in CONSTANTS:
                    known = [name for node in self.nodes for name in numbers(node)]
                    raise InputError(f"{self.folder}/summary.json has no '{word}'{suggest(word, known)}")
                found[word] = value or Measured(CONSTANTS[word])
            return found[word].value

        def call(name: str, node: ast.Call) -> float:
            key = formula.text(node)
            if key not in found:
                found[key] = self._call(name, [formula.text(argument) for argument in node.args], key)
            return found[key].value

        value, grain = float(evaluate(formula, lookup, call)), 0.0
        for key, one in list(found.items()):
            if one.grain:
                found[key] = Measured(one.value + one.grain)
                change = abs(float(evaluate(formula, lookup, call)) - value)
                grain, found[key] = grain + (change if math.isfinite(change) else 0.0), one
        return Measured(value, grain)

    def _call(self, name: str, words: list[str], text: str) -> Measured:
        """The value of a function of the history."""
        if name not in USAGE:
            raise InputError(f"there is no '{name}'{suggest(name, USAGE)}")
        most = USAGE[name].count(",") + 1
        if not all(words) or not most - USAGE[name].count("[") <= len(words) <= most:
            raise InputError(f"expected {USAGE[name]}, this is '{text[:80]}'")
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

    def _signal(self, column: str, empty: float = math.nan) -> "Signal":
        from .formula import read_signal
        return read_signal(self.history, column, empty)

    def _rms(self, column: str, table: str, other_column: str = "") -> float:
        from .formula import read_signal
        from .results import open as open_results
        return self._signal(column).rms(read_signal(open_results(table).table, other_column or column))

    def _impulses(self, contact: str) -> "Signal":
        """Impulses of a contact; of steps that the history leaves out nothing is known."""
        import numpy as np
        found = self._signal(f"{contact}.step_impulse", 0.0)
        gaps = np.flatnonzero((np.diff(self.history["step"]) > 1) & (found.x[1:] != 0.0))
        if len(gaps):
            raise InputError(f"history.csv leaves out steps of '{contact}' before t = {found.t[gaps[0] + 1]:.6g} s: "
                             "let output.history.every be 1")
        return found

    def _filtered_peak(self, contact: str, window: str) -> float:
        length = self.measure(window).value
        if not length > 0.0:
            raise InputError(f"the window of filtered_peak must be > 0, is {length:g}")
        return self._impulses(contact).filtered_peak(length)

    def _restitution(self, contact: str, column: str = "") -> float:
        """With momenta p_0 before and p_1 after the first interval, n = p_1 - p_0: e = -(p_1 n)/(p_0 n); of a column
        minus the value after it over the one before. NaN if no interval has ended."""
        import numpy as np
        found = walk(self.summary.get("contacts"), contact)
        if found is None or not isinstance(found[0], dict):
            raise InputError(f"there is no contact '{contact}'")
        intervals = found[0].get("intervals") or []
        if not intervals or (found[0].get("interval_count") == 1 and found[0].get("is_touching_at_end")):
            return math.nan
        self._impulses(contact)
        signals = [self._signal(name) for name in ([column] if column else [f"momentum_{axis}" for axis in "xyz"])]
        before, after = (np.array([s.at(intervals[0][end]) for s in signals]) for end in ("start", "end"))
        if column:
            return float(-after[0] / before[0]) if before[0] != 0.0 else math.nan
        change = after - before
        if np.linalg.norm(change) <= 1e-9 * intervals[0]["total_impulse"] + 1e-13 * np.linalg.norm(before):
            raise InputError(f"'{contact}' leaves the momentum of the model as it is: between two bodies name a "
                             f"column, restitution({contact}, a.vx - b.vx), with probes of their centres")
        return float(-(after @ change) / (before @ change)) if before @ change != 0.0 else math.nan


# ---- Convergence over levels of refinement ----

DETAILS = ("limit", "bound", "order", "convergence")  # of a measure that is refined
ROUND_OFF, MOST_SAFETY, MOST_ORDER, IMPACT_SAFETY = 1e-11, 3.0, 3.0, 1.4


class Bound(NamedTuple):
    """How far the last of several levels may be from the truth."""

    error: float
    order: float = math.nan
    kind: str = "unknown"  #: "converges", "exact", "steps", "oscillates", "diverges", "jumps", "unknown"
    limit: float = math.nan  #: by Richardson


def has_impacts(contacts: Sequence[Any]) -> bool:
    """Whether there were impacts on some level."""
    return any(impacts for level in contacts for _, _, impacts in level)


def bound(values: Sequence[float], factor: float = 2.0, contacts: Sequence[Any] = (), grain: float = 0.0,
          orders: Sequence[float] = ()) -> Bound:
    """The bound of the last of at least three values, with `factor` from level to level, after Roache (1994). With the
    last changes d1, d2 and the order p = ln(d1/d2)/ln factor, cut to [1/2, 2],

        error <= safety d2/(factor^p - 1),   safety = 1.25 + half the scatter of the orders, at most 3

    With p above 3, which is chance, it is d1/2; of values that oscillate max(d1/2, d2). `contacts`, those of every
    level, tell of impacts, which steps place: with any it is at least 1.4 times the largest change, divided by the
    factor from level to level; where contact intervals differ in number it is three times the spread. `orders`: of
    other sequences, whose scatter counts, too. `grain`: of times that come in steps; where no more changes there is no
    order to be seen."""
    if len(values) < 3 or not all(map(math.isfinite, values)):
        return Bound(math.inf)
    d = [after - before for before, after in zip(values, values[1:])]
    spread, coarse, fine = max(values[-3:]) - min(values[-3:]), abs(d[-2]), abs(d[-1])
    if grain > 0.0 and fine <= (1.0 + 1e-9) * grain:
        return Bound(fine + grain, kind="steps")
    if spread <= ROUND_OFF * max(abs(value) for value in values):
        return Bound(spread, kind="exact", limit=values[-1])
    if len(set(contacts[-3:])) > 1:
        return Bound(3.0 * spread + grain, kind="jumps")
    if fine >= coarse:
        return Bound(math.inf, kind="diverges")
    least = 0.0
    if has_impacts(contacts):
        least = IMPACT_SAFETY * max(abs(change) / factor**k for k, change in enumerate(reversed(d)))
    if d[-1] * d[-2] < 0.0:
        return Bound(max(0.5 * coarse, fine, least) + grain, kind="oscillates")
    order = math.log(coarse / fine) / math.log(factor) if fine > 0.0 else math.inf
    limit = values[-1] + d[-1] / (factor**order - 1.0)
    if order > MOST_ORDER:  # by chance: a time that comes in steps, or errors that cancel
        return Bound(max(0.5 * coarse, least) + grain, order, "converges", limit)
    seen = [order, *orders]
    if len(d) > 2:
        seen.append(math.log(d[-3] / d[-2]) / math.log(factor) if d[-3] * d[-2] > 0.0 else 0.0)
    seen = [min(max(one, 0.0), MOST_ORDER) for one in seen]
    safety = min(1.25 + 0.5 * (max(seen) - min(seen)), MOST_SAFETY)
    error = safety * fine / (factor**min(max(order, 0.5), 2.0) - 1.0)
    return Bound(max(error, least) + grain, order, "converges", limit)
