"""Values of formulas over numbers and arrays, and quantities over time."""

import ast
import functools
import math
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from .errors import InputError
from .measure import CONSTANTS, Formula, parse
from .text import suggest

Array = np.ndarray[Any, Any]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp,
    "log": np.log, "log10": np.log10, "abs": np.abs, "hypot": np.hypot,
    "min": lambda *x: functools.reduce(np.fmin, x), "max": lambda *x: functools.reduce(np.fmax, x),
    "mod": lambda x, y: x - np.floor(x / y) * y, "floor": np.floor, "ceil": np.ceil,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "step": lambda x: np.where(x < 0.0, 0.0, 1.0)}
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
    ast.USub: np.negative, ast.UAdd: np.positive}
TIME_ROUND_OFF = 1e-9  # of times that were added up over many steps, relative to the whole span


def evaluate(formula: Formula, lookup: Callable[[str], Any],
             call: Optional[Callable[[str, ast.Call], Any]] = None) -> Any:
    """The value of a formula: `lookup` knows its words, `call` functions beside the usual ones."""
    def value(node: Any) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return np.float64(node.value)
        if isinstance(node, ast.Name):
            return lookup(formula.text(node))
        if isinstance(node, (ast.UnaryOp, ast.BinOp)) and type(node.op) in OPERATORS:
            parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
            return OPERATORS[type(node.op)](*map(value, parts))
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else formula.text(node)
        if isinstance(node, ast.Call) and name in FUNCTIONS:
            arguments = [value(argument) for argument in node.args]
            try:
                return FUNCTIONS[name](*arguments)
            except TypeError:
                raise InputError(f"'{name}' has a wrong number of arguments") from None
        if isinstance(node, ast.Call) and call is not None:
            return call(name, node)
        raise InputError(f"there is no '{name}'{suggest(name, [*FUNCTIONS, *CONSTANTS])}")

    with np.errstate(all="ignore"):
        return value(formula.tree)


class Signal(NamedTuple):
    """A quantity over time, linear between its rows; times never fall. A time that stands twice is a jump."""

    t: Array
    x: Array

    def between(self, times: Any) -> Any:
        """Values at times; constant before the first and after the last."""
        return np.interp(times, self.t, self.x)

    def before(self, times: Any) -> Any:
        """Likewise; at a jump the value that it comes from."""
        return np.interp(-times, -self.t[::-1], self.x[::-1])

    def at(self, time: float) -> float:
        """NaN outside of its times, but for round-off."""
        slack = TIME_ROUND_OFF * (self.t[-1] - self.t[0]) if len(self.t) else math.nan
        if not len(self.t) or not self.t[0] - slack <= time <= self.t[-1] + slack:
            return math.nan
        return float(self.between(time))

    def rms(self, other: "Signal") -> float:
        """Root of the mean square difference over the common times, exact for broken lines; NaN without any."""
        if not len(self.t) or not len(other.t):
            return math.nan
        begin, end = max(self.t[0], other.t[0]), min(self.t[-1], other.t[-1])
        if not end > begin:
            return math.nan
        grid = np.unique(np.concatenate([self.t, other.t]).clip(begin, end))
        left = self.between(grid[:-1]) - other.between(grid[:-1])
        right = self.before(grid[1:]) - other.before(grid[1:])
        return math.sqrt(float(np.sum(np.diff(grid) * (left**2 + left * right + right**2))) / 3.0 / (end - begin))

    def filtered_peak(self, window: float) -> float:
        """Of impulses of the step before each row: the largest mean force over any time of that length. It is reached
        where the window begins or ends at a row. Nothing acts before the first row."""
        if not len(self.t):
            return math.nan
        total = Signal(self.t, np.cumsum(self.x))
        begin = self.t - window
        before = np.where(begin > self.t[0], total.between(begin), 0.0)
        largest = np.max(total.x - before)
        end = self.t[self.t + window <= self.t[-1]] + window
        if len(end):
            start = total.x[:len(end)].copy()
            start[0] = 0.0
            largest = max(largest, np.max(total.between(end) - start))
        return float(largest / window)


def times_of(table: Any) -> tuple[str, Array]:
    """Name and values of the column `t`, or of the first one; InputError if the values do not rise."""
    axis = "t" if "t" in table else table.columns[0]
    times = table[axis].to_numpy()
    falls = np.ones(1, bool)  # where it holds texts
    if times.dtype != object:
        falls = ~(np.diff(times, prepend=-np.inf) >= 0.0) | ~np.isfinite(times)
    if falls.any():
        raise InputError(f"{table.attrs.get('path', 'the table')}: column '{axis}' does not rise at row "
                         f"{int(falls.argmax()) + 1}")
    return axis, times


def read_signal(table: Any, formula: str, empty: float = math.nan) -> Signal:
    """A column of a table, or a formula of columns, over the column `t` or the first one. Cells that are empty count as
    `empty`; rows without a value are left out."""
    where, (_, times) = table.attrs["path"], times_of(table)

    def column(word: str) -> Any:
        if word not in table and word in CONSTANTS:
            return CONSTANTS[word]
        if word not in table:
            raise InputError(f"{where} has no column '{word}'{suggest(word, table.columns)}")
        if table[word].dtype == object:
            raise InputError(f"{where}: column '{word}' holds texts")
        return table[word].to_numpy()

    values = column(formula) if formula in table else evaluate(parse(formula), column) + np.zeros(len(table))
    values = np.where(np.isfinite(values), values, empty)
    is_there = np.isfinite(values)
    return Signal(times[is_there], values[is_there])
