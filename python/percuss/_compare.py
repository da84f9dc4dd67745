"""Two results beside each other, column by column.

Same times (to round-off): row by row. Otherwise at the times of the one with fewer rows in the span that both cover,
the other one interpolated linearly. A difference of a column is judged relative to the column's size, the largest value
either has there. What is below 1e-12 of the largest value of all columns of the same unit is round-off, and no
difference: a momentum of 1e-17 beside one of 100.

Studies: points with the same values of their keys, in any order; a text that is another one, or a number that only one
has, is a difference. Modes: those of one number; residuals and names are told and not judged.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .command import COULD_NOT_GO_ON, DONE, Parser, real
from .errors import InputError
from .files import Path
from .formula import Signal
from .results import Results
from .results import open as open_results

if TYPE_CHECKING:
    import pandas

ROUND_OFF = 1e-12  # of a result after many steps, and of a time that was added up
Array = np.ndarray[Any, Any]


def compare(a: Union[Path, Results], b: Union[Path, Results], tolerance: float = 1e-9) -> pandas.DataFrame:
    """Where two results differ: a row per column that both have, with the `largest` difference, that `relative` to the
    size of the column, `at` which time or point it is, the `first` place beyond the tolerance and what both have there.
    `beyond` columns differ; those not `judged` are matters of the steps. `attrs` has `alike` and `text`, which says it
    in words."""
    both = [one if isinstance(one, Results) else open_results(one) for one in (a, b)]
    tables = [one.table for one in both]
    for k in range(2):
        if tables[k].empty:
            raise InputError(f"{tables[k].attrs['path']}: no rows")
    kinds = [kind_of(table) for table in tables]
    if kinds[0] != kinds[1]:
        k = 0 if kinds[0] else 1
        raise InputError(f"{tables[k].attrs['path']} is {kinds[k]} and {tables[1 - k].attrs['path']} is not")
    pair, axis, head, places = _align_keys(tables, kinds[0]) if kinds[0] else _align_times(tables)
    return _judge(tables, pair, axis, head, places, kinds[0], tolerance)


def kind_of(table: pandas.DataFrame) -> str:
    """"of a study", "of modes", or "" of what is over time."""
    if {"run", "status"} <= set(table.columns):
        return "of a study"
    return "of modes" if list(table.columns[:3]) == ["mode", "w", "f"] else ""


def _align_times(tables: list[Any]) -> tuple[list[Any], list[str], str, list[str]]:
    """Both at the same times; the columns of the axis, lines for the screen, and the times as texts."""
    import pandas
    axes = ["t" if "t" in table else table.columns[0] for table in tables]
    paths = [table.attrs["path"] for table in tables]
    times = [table[axis].to_numpy() for table, axis in zip(tables, axes)]
    for path, axis, t in zip(paths, axes, times):
        falls = ~(np.diff(t, prepend=-np.inf) >= 0.0)
        if t.dtype == object or falls.any():
            raise InputError(f"{path}: column '{axis}' does not rise at row {int(falls.argmax()) + 1}")
    if axes[0] != axes[1]:
        raise InputError(f"no common axis: '{axes[0]}' of {paths[0]} and '{axes[1]}' of {paths[1]}")
    head = "".join(f"{n}: {path}, {len(t)} rows, {axes[0]} = {t[0]:g} .. {t[-1]:g}\n"
                   for n, path, t in zip("AB", paths, times))
    size = max(abs(x) for t in times for x in (t[0], t[-1]))
    if len(times[0]) == len(times[1]) and np.all(np.abs(times[0] - times[1]) <= ROUND_OFF * size):
        return tables, [axes[0]], f"{head}Row by row, {len(times[0])} rows.\n", [f"{t:.9g}" for t in times[0]]
    first, last = max(t[0] for t in times), min(t[-1] for t in times)
    slack = ROUND_OFF * max(abs(first), abs(last))
    rows = [np.flatnonzero((t >= first - slack) & (t <= last + slack)) for t in times]
    if not len(rows[0]) or not len(rows[1]):
        raise InputError("no common times: " + " and ".join(f"{t[0]:g} .. {t[-1]:g}" for t in times))
    lead = int(len(rows[1]) < len(rows[0]))
    t, s, other = times[lead][rows[lead]], times[1 - lead], tables[1 - lead]
    row = Signal(s, s).row(t)
    columns = {name: Signal(s, other[name].to_numpy()).between(row, t) for name in other.columns}
    pair = [tables[lead].iloc[rows[lead]].reset_index(drop=True), pandas.DataFrame(columns)]
    head += (f"At {len(t)} times of {'AB'[lead]} from {first:g} to {last:g}; {'AB'[1 - lead]} is interpolated between "
             "its rows.\n")
    return pair if lead == 0 else pair[::-1], [axes[0], ""], head, [f"{x:.9g}" for x in t]


def _align_keys(tables: list[Any], kind: str) -> tuple[list[Any], list[str], str, list[str]]:
    """Rows of both that have the same keys, in the order of the first."""
    is_modes = kind == "of modes"
    noun = "mode" if is_modes else "point"
    paths = [table.attrs["path"] for table in tables]
    keys = [["mode"] if is_modes else [str(name) for name in table.columns[:list(table.columns).index("run")]]
            for table in tables]
    for k in range(2):
        for key in keys[k]:
            if key not in keys[1 - k]:
                raise InputError(f"{paths[k]} varies '{key}', {paths[1 - k]} does not")
    marks = [table[keys[0]].apply(lambda column: column.map(_plain)) for table in tables]
    for mark in marks:  # where a point is there twice the first belongs to the first
        mark["number"] = mark.groupby(keys[0]).cumcount() if keys[0] else range(len(mark))
        mark["row"] = range(len(mark))
    common = marks[0].merge(marks[1], on=[*keys[0], "number"])
    if common.empty:
        raise InputError(f"{paths[0]} and {paths[1]} have no {noun} in common")
    pair = [table.iloc[common[f"row_{end}"]].reset_index(drop=True) for table, end in zip(tables, "xy")]
    head = "".join(f"{n}: {paths[k]}, {len(tables[k])} {noun}s, {len(tables[k]) - len(common)} of them not in "
                   f"{'BA'[k]}\n" for k, n in enumerate("AB")) + f"{len(common)} {noun}s that both have.\n"
    places = [" ".join(f"{key}={value}" for key, value in zip(keys[0], row))
              for row in pair[0][keys[0]].itertuples(index=False)]
    return pair, [*keys[0], "run", "reason"], head, places


def _plain(value: Any) -> Any:
    """A number, or the text that it is none."""
    try:
        return float(value) if value == value else ""
    except ValueError:
        return str(value)


def _judge(tables: list[Any], pair: list[Any], axis: list[str], head: str, places: list[str], kind: str,
           tolerance: float) -> pandas.DataFrame:
    import pandas
    is_same = not kind and "" not in axis
    names = [name for name in tables[0].columns if name in tables[1] and name not in axis]
    if not names:
        raise InputError(f"{tables[0].attrs['path']} and {tables[1].attrs['path']} have no column in common")
    known = tables[0].attrs["units"]

    def both(name: str) -> tuple[Array, Array]:
        found = [one[name].to_numpy() for one in pair]
        return found[0], found[1]

    def size_of(name: str) -> float:
        found = [np.abs(x[np.isfinite(x)]) for x in both(name) if x.dtype != object]
        return max((float(x.max()) for x in found if len(x)), default=0.0)

    sizes = {name: size_of(name) for name in names}
    rows = []
    for name in names:
        x, y = both(name)
        if x.dtype == object or y.dtype == object:
            x, y = (np.array([str(value) for value in z], dtype=object) for z in (x, y))
            gap = np.where(x == y, 0.0, math.inf)
        else:
            is_lone = np.isnan(x) != np.isnan(y)
            gap = np.where(is_lone, math.inf if is_same or kind else 0.0, np.nan_to_num(np.abs(x - y), posinf=math.inf))
        same_unit = [size for other, size in sizes.items() if known.get(other) == known.get(name)]
        nothing = ROUND_OFF * max(same_unit) if known.get(name) and not kind else 0.0
        beyond = (gap > nothing) & (gap > tolerance * sizes[name])
        largest, at, first = float(gap.max()), int(gap.argmax()), int(beyond.argmax())
        part = name.rsplit(".", 1)[-1]
        is_work = name in (("residual", "name") if kind else ("step", "iterations")) or (
            not kind and not is_same and part in ("impulse", "step_impulse"))
        rows.append({"column": name, "largest": largest, "relative": largest / sizes[name] if sizes[name] else largest,
                     "at": places[at] if largest else "", "first": places[first] if beyond.any() else "",
                     "a": x[first] if beyond.any() else None, "b": y[first] if beyond.any() else None,
                     "beyond": bool(beyond.any()), "judged": not is_work, "row": first})
    found = pandas.DataFrame(rows).set_index("column")
    only = [[name for name in tables[k].columns if name not in tables[1 - k]] for k in range(2)]
    found.attrs["alike"] = not (found["beyond"] & found["judged"]).any()
    found.attrs["text"] = _text(found, head, only, kind, axis[0], tolerance)
    return found.drop(columns="row")


def _text(found: pandas.DataFrame, head: str, only: list[list[str]], kind: str, axis: str, tolerance: float) -> str:
    width = min(60, max(6, *(len(name) for name in found.index)))
    last = "where it first goes beyond, or is largest" if kind else "first beyond"
    out = f"{head}\n  {'column':<{width}} {'largest':>12} {'relative':>12} " + (f" {last}\n" if kind else
                                                                                 f"{'at':>12} {last:>12}\n")
    for name, row in found.iterrows():
        is_text = not math.isfinite(row.largest)
        sizes = f"{'another one':>12}{'':13}" if is_text else f"{row.largest:12.4g} {row.relative:12.3g}"
        note = "" if row.judged or not row.beyond else ", not judged" if kind else "  a matter of the steps: not judged"
        if not row.largest:
            out += f"  {name:<{width}} {'the same':>12}\n"
        elif kind:
            out += f"  {name:<{width}} {sizes}  {row['first'] or row['at']}{note}\n"
        else:
            out += f"  {name:<{width}} {sizes} {row['at']:>12} {row['first']:>12}{note}\n"
    for k, names in enumerate(only):
        out += f"\nOnly in {'AB'[k]}: {', '.join(names)}\n" if names else ""
    judged = found[found["beyond"] & found["judged"]]
    if judged.empty:
        return out + f"\nAlike: no column differs by more than {tolerance:g} of its size.\n"
    first = judged.sort_values("row", kind="stable").iloc[0]
    where = f"{first['first']} in {first.name}" if kind else (
        f"{axis} = {first['first']} in {first.name} (A {first.a:.9g}, B {first.b:.9g})")
    return out + (f"\nThey differ: {len(judged)} of {len(found)} columns by more than {tolerance:g} of their size, "
                  f"first at {where}.\n")


def main(argv: list[str]) -> int:
    """`percuss compare`: 0 alike, 1 they differ, 2 bad input or usage."""
    p = Parser("compare", "Says where two results or studies first differ, column by column.\n\n"
               "Exit status: 0 alike, 1 they differ, 2 bad input or usage.")
    p.add_argument("a", metavar="A", help="a folder of results, or a CSV file")
    p.add_argument("b", metavar="B", help="another one")
    p.add_argument("--tolerance", metavar="T", default="1e-9", help="largest difference over the size of the column "
                   "[1e-9]")
    p.add_argument("-q", "--quiet", action="store_true", help="nothing on the screen")
    a = p.parse_args(argv)
    found = compare(a.a, a.b, real("--tolerance", a.tolerance, 0.0, math.inf, "a number from 0 on"))
    if not a.quiet:
        print(found.attrs["text"], end="")
    return DONE if found.attrs["alike"] else COULD_NOT_GO_ON
