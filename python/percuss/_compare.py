"""Two results beside each other, column by column.

Same times (to round-off): row by row. Otherwise at the times of the one with fewer rows in the span that both cover,
the other one interpolated linearly. A difference of a column is judged relative to the column's size, the largest value
either has there. What is below 1e-12 of the largest value of all columns of the same unit is round-off, and no
difference: a momentum of 1e-17 beside one of 100.

Studies: points with the same values of their keys, in any order; a text that is another one, or a number that only one
has, is a difference. Modes: those of one number; residuals and names are told and not judged.
"""

import math
from typing import Any, Union

import numpy as np
import pandas

from .command import COULD_NOT_GO_ON, DONE, Parser
from .errors import InputError
from .formula import times_of
from .results import Results, kind_of, open as open_results
from .text import Path, real

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
        what = {"study": "a study"}.get(kinds[k], kinds[k])
        raise InputError(f"{tables[k].attrs['path']} is of {what} and {tables[1 - k].attrs['path']} is not")
    pair, axis, head, places = _align_keys(tables, kinds[0]) if kinds[0] else _align_times(tables)
    found = _judge(tables, pair, axis, places, kinds[0], tolerance)
    found.attrs["alike"] = not (found["beyond"] & found["judged"]).any()
    found.attrs["text"] = head + _text(found, tables, "" if kinds[0] else f"{axis[0]} = ", tolerance)
    return found.drop(columns="row")


def _align_times(tables: list[Any]) -> tuple[list[Any], list[str], str, list[str]]:
    """Both at the same times; the columns of the axis, lines for the screen, and the times as texts."""
    paths = [table.attrs["path"] for table in tables]
    axes, times = zip(*map(times_of, tables))
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
    between = pandas.DataFrame({name: np.interp(t, s, other[name]) for name in other.columns})
    pair = [tables[lead].iloc[rows[lead]].reset_index(drop=True), between]
    head += (f"At {len(t)} times of {'AB'[lead]} from {first:g} to {last:g}; {'AB'[1 - lead]} is interpolated between "
             "its rows.\n")
    return pair if lead == 0 else pair[::-1], [axes[0], ""], head, [f"{x:.9g}" for x in t]


def _align_keys(tables: list[Any], kind: str) -> tuple[list[Any], list[str], str, list[str]]:
    """Rows of both that have the same keys, in the order of the first."""
    noun = "mode" if kind == "modes" else "point"
    paths = [table.attrs["path"] for table in tables]
    keys = [["mode"] if noun == "mode" else list(table.columns[:list(table.columns).index("run")]) for table in tables]
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
    places = [" ".join(f"{key}={row[key]}" for key in keys[0]) for _, row in pair[0].iterrows()]
    return pair, [*keys[0], "run", "reason"], head, places


def _plain(value: Any) -> Any:
    """A number, or the text that it is none."""
    try:
        return float(value) if value == value else ""
    except ValueError:
        return str(value)


def _judge(tables: list[Any], pair: list[Any], axis: list[str], places: list[str], kind: str,
           tolerance: float) -> pandas.DataFrame:
    """A row for each column that both have."""
    is_same = not kind and "" not in axis
    names = [name for name in tables[0].columns if name in tables[1] and name not in axis]
    if not names:
        raise InputError(f"{tables[0].attrs['path']} and {tables[1].attrs['path']} have no column in common")
    known = tables[0].attrs["units"]
    values = pandas.concat([one[names].select_dtypes("number").abs() for one in pair])
    sizes = values.replace(math.inf, math.nan).max().reindex(names).fillna(0.0)
    rows = []
    for name in names:
        x, y = (one[name].to_numpy() for one in pair)
        if object in (x.dtype, y.dtype):  # texts
            gap = np.where(x.astype(str) == y.astype(str), 0.0, math.inf)
        else:
            lone = math.inf if is_same or kind else 0.0  # where only one has a number
            gap = np.where(np.isnan(x) != np.isnan(y), lone, np.nan_to_num(np.abs(x - y), posinf=math.inf))
        unit = known.get(name)
        nothing = ROUND_OFF * max(sizes[n] for n in names if known.get(n) == unit) if unit and not kind else 0.0
        beyond = (gap > nothing) & (gap > tolerance * sizes[name])
        largest, at, first = float(gap.max()), int(gap.argmax()), int(beyond.argmax())
        is_work = name in (("residual", "name") if kind else ("step", "iterations")) or (
            not kind and not is_same and name.rsplit(".", 1)[-1] in ("impulse", "step_impulse"))
        rows.append({"column": name, "largest": largest, "relative": largest / (sizes[name] or 1.0),
                     "at": places[at] if largest else "", "first": places[first] if beyond.any() else "",
                     "a": x[first] if beyond.any() else None, "b": y[first] if beyond.any() else None,
                     "beyond": bool(beyond.any()), "judged": not is_work, "row": first})
    return pandas.DataFrame(rows).set_index("column")


def _text(found: pandas.DataFrame, tables: list[Any], axis: str, tolerance: float) -> str:
    """What was found, in words."""
    size = ["the same" if not x else "another one" if x == math.inf else f"{x:.4g}" for x in found["largest"]]
    relative = [f"{x:.3g}" if 0.0 < x < math.inf else "" for x in found["relative"]]
    note = np.where(found["beyond"] & ~found["judged"], "not judged", "")
    shown = pandas.DataFrame({"largest": size, "relative": relative, "at": found["at"].to_numpy(),
                              "first beyond": found["first"].to_numpy(), "": note}, index=list(found.index))
    out = "\n" + "".join(f"{line.rstrip()}\n" for line in shown.to_string().splitlines())
    for k in range(2):
        only = [name for name in tables[k].columns if name not in tables[1 - k]]
        out += f"\nOnly in {'AB'[k]}: {', '.join(only)}\n" if only else ""
    judged = found[found["beyond"] & found["judged"]]
    if judged.empty:
        return out + f"\nAlike: no column differs by more than {tolerance:g} of its size.\n"
    first = judged.sort_values("row", kind="stable").iloc[0]
    a, b = (x if isinstance(x, str) else f"{x:.9g}" for x in (first.a, first.b))
    return out + (f"\nThey differ: {len(judged)} of {len(found)} columns by more than {tolerance:g} of their size, "
                  f"first at {axis}{first['first']} in {first.name} (A {a}, B {b}).\n")


def main(argv: list[str]) -> int:
    """`percuss compare`: 0 alike, 1 they differ, 2 bad input or usage."""
    p = Parser("compare", "Says where two results or studies first differ, column by column.\n\n"
               "Exit status: 0 alike, 1 they differ, 2 bad input or usage.")
    p.add_argument("a", metavar="A", help="a folder of results, or a CSV file")
    p.add_argument("b", metavar="B", help="another one")
    p.add_argument("--tolerance", metavar="T", default="1e-9", help="largest difference over the size of the column "
                   "[1e-9]")
    a = p.parse_args(argv)
    found = compare(a.a, a.b, real("--tolerance", a.tolerance, 0.0, math.inf, "a number from 0 on"))
    if not a.quiet:
        print(found.attrs["text"], end="")
    return DONE if found.attrs["alike"] else COULD_NOT_GO_ON
