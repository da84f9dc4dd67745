"""Which pictures there are of studies: measures over keys, and levels of a refinement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Sequence

import numpy as np

from .errors import InputError
from .figure import Curve, Panel, Picture, Source, column
from .pictures import Album, one_legend

MOST_LINES = 32  # of combinations
LOG_SPAN = 8.0  # an axis is logarithmic from this ratio of its values on
DETAILS = ("limit", "bound", "order", "convergence")  # of a measure, or of its "mesh" and "step"


class Study:
    """Pictures of a table of a study: measures over the first key that varies, a line for each combination of the
    others. Where both axes are logarithmic the slope, fitted by least squares, stands in the legend."""

    def __init__(self, album: Album):
        self.album, self.run, table = album, album.runs[0], album.runs[0].table
        names = [str(name) for name in table.columns]
        self.keys = names[:names.index("run")]
        self.measures = [n for n in measures_of(names) if np.isfinite(album.numbers(self.run, n)).any()]
        varying = [key for key in self.keys if table[key].nunique(dropna=False) > 1]
        self.axis = (varying or self.keys or [""])[0]
        self.others = [key for key in varying if key != self.axis]
        self.is_numeric = bool(self.axis) and np.isfinite(album.numbers(self.run, self.axis)).all()

    def pictures(self, measures: Sequence[str], name: str = "") -> list[Picture]:
        """The measures in one picture, or without a name a picture of each; of a refinement every level, too."""
        found = []
        if self.axis:
            panels = {measure: self.panel(measure) for measure in measures}
            found = [Picture(f"study_{m}", [panel]) for m, panel in panels.items()] if not name else \
                [Picture(name, list(panels.values()), shares_x=False)]
            if name:
                one_legend(found[0].panels)
        levels = [(m, self.levels(m) or self.levels(m, "mesh") + self.levels(m, "step")) for m in measures]
        found += [Picture(f"refine_{m}", panels, 1, shares_x=False) for m, panels in levels if panels]
        if not found:
            raise InputError(f"{self.run.table.attrs.get('path', 'the study')}: no key varies and nothing was refined")
        return found

    def rows(self, values: Sequence[Any]) -> tuple[str, Any]:
        """Expression and table of the rows of one combination of the other keys."""
        table, tests = self.run.table, []
        for key, value in zip(self.others, values):
            is_none = value != value  # NaN: the key has no value there
            tests.append(f"{column(self.run, key)}.isna()" if is_none else f"({column(self.run, key)} == {value!r})")
            table = table[table[key].isna() if is_none else table[key] == value]
        return f"{self.run.name}[{' & '.join(tests)}]" if tests else self.run.name, table

    def combinations(self) -> list[tuple[Any, ...]]:
        """Values of the other keys, in the order in which they come."""
        table = self.run.table
        found: dict[str, tuple[Any, ...]] = {}
        counts: dict[str, int] = {}
        for row in (table[self.others].itertuples(index=False, name=None) if self.others else [()] * len(table)):
            key = repr([None if value != value else value for value in row])
            found.setdefault(key, tuple(v.item() if hasattr(v, "item") else v for v in row))
            counts[key] = counts.get(key, 0) + 1
        left = sum(counts[key] for key in list(found)[MOST_LINES:])
        note = f"Drawn are the first {MOST_LINES} combinations of the other keys; {left} rows are left out"
        if left and note not in self.album.notes:
            self.album.notes.append(note)
        return list(found.values())[:MOST_LINES]

    def spans(self, name: str, measure: str) -> bool:
        """Whether the values that belong to a measure are positive and span so much that their logarithm is drawn."""
        values = self.album.numbers(self.run, name)[np.isfinite(self.album.numbers(self.run, measure))]
        return bool(values.size) and values.min() > 0.0 and values.max() >= LOG_SPAN * values.min()

    def panel(self, measure: str) -> Panel:
        """One measure."""
        album, names = self.album, self.names()
        log = ("x" if self.is_numeric and self.spans(self.axis, measure) else "")
        log += "y" if self.spans(measure, measure) else ""
        x_unit = album.unit(self.axis) or ("s" if self.axis == "time.step" else "")
        panel = Panel(self.axis, measure, x_unit, album.unit(measure), log=log)
        for i, values in enumerate(self.combinations()):
            expression, rows = self.rows(values)
            if self.is_numeric:
                expression, rows = f"{expression}.sort_values({self.axis!r})", rows.sort_values(self.axis)
            x = f"{expression}[{self.axis!r}]"
            if not self.is_numeric:
                x += f".fillna('').map({names!r}.index)"
            label = ", ".join(self.label(key, value) for key, value in zip(self.others, values))
            slope = fitted_slope(rows[self.axis], rows[measure]) if log == "xy" else None
            label += f"{', ' * bool(label)}slope {slope:.2f}" if slope is not None else ""
            bound = f"{measure}.bound"
            has_bound = bound in rows and np.isfinite(rows[bound].to_numpy(float)).any()
            panel.curves.append(Curve(x, f"{expression}[{measure!r}]", label, i,
                                      style="points" if self.is_numeric else "marks",
                                      bound=f"{expression}[{bound!r}]" if has_bound else ""))
        if not self.is_numeric:
            panel.ticks, panel.names = [float(k) for k in range(len(names))], [n or "-" for n in names]
            panel.xlim = (-0.5, len(names) - 0.5)
        elif "x" in log and self.run.table[self.axis].nunique() <= 8:
            panel.ticks = sorted(float(x) for x in self.run.table[self.axis].unique())
        if len(panel.curves) == 1 and slope is not None:
            panel.after += triangle(*self.script_values(panel.curves[0]), slope)
        return panel

    def script_values(self, curve: Curve) -> tuple[Any, Any]:
        """Numbers of a curve."""
        return self.album.script.values(curve.x), self.album.script.values(curve.y)

    def names(self) -> list[str]:
        """Values of an axis that has no numbers."""
        return [] if self.is_numeric else [str(v) for v in self.run.table[self.axis].fillna("").unique()]

    def label(self, key: str, value: Any) -> str:
        """`rho_inf = 0.5`; the type of a part says what it is."""
        last = key.rsplit(".")[-1]
        shown = f"{value:.9g}" if isinstance(value, (int, float)) and value == value else str(value)[:40]
        shown = "-" if value != value else shown
        if last == "type":
            return shown
        is_alone = sum(other.rsplit(".")[-1] == last for other in self.others) == 1
        return f"{last if is_alone else key} = {shown}"

    def levels(self, measure: str, part: str = "") -> list[Panel]:
        """Every level of a refinement, of mesh and step together or of one: values with the limit, and changes from
        level to level with their order."""
        results = self.run.results
        if results is None or results.kind != "study" or not results.has("study.json"):
            return []
        points = results.summary.get("points", [])
        found = {i: p["measures"].get(measure, {}) for i, p in enumerate(points) if p.get("measures")}
        shown = {i: one.get(part, {}) if part else one for i, one in found.items()}
        shown = {i: one for i, one in shown.items() if len(one.get("levels") or []) > 1}
        refined = {key: spec for key, spec in (results.summary.get("refine") or {}).items()
                   if isinstance(spec, list) and part in ("", key)}
        if not shown or not refined:
            return []
        ratio = float(next(iter(refined.values()))[0])
        self.album.script.sources["points"] = Source(points, results.path("study.json"),
                                                     "{name} = json.load(open({path}))['points']")
        above = Panel(f"{' and '.join(refined)}, part of the coarsest", measure, "", self.album.unit(measure), log="x")
        above.ticks = [ratio ** -k for k in range(max(len(one["levels"]) for one in shown.values()))]
        below = replace(above, y=f"change of {measure}", log="xy", curves=[], after=[])
        for k, (i, one) in enumerate(list(shown.items())[:MOST_LINES]):
            label = ", ".join(self.label(key, v) for key, v in points[i].get("parameters", {}).items()
                              if key in self.others or key == self.axis)
            x = f"{ratio:g} ** -np.arange({len(one['levels'])}.0)"
            y = f"np.array(points[{i}]['measures'][{measure!r}]{f'[{part!r}]' if part else ''}['levels'], float)"
            above.curves.append(Curve(x, y, label, k, style="points"))
            if one.get("limit") is not None:
                above.after.append(f"ax.axhline({{y}} * {float(one['limit'])!r}, color='C{k % 7}', lw=0.8, ls=':')")
            if np.all(np.abs(np.diff(np.array(one["levels"], float))) > 0.0):
                order = one.get("order")
                text = one.get("convergence", "") if order is None else f"observed order {order:.2f}"
                below.curves.append(Curve(f"({x})[1:]", f"np.abs(np.diff({y}))", ", ".join(filter(None, (label, text))),
                                          k, style="points"))
                if order is not None and len(shown) == 1:
                    below.after += triangle(*self.script_values(below.curves[0]), float(order))
        return [above, below] if below.curves else [above]


def fitted_slope(x: Any, y: Any) -> Optional[float]:
    """Slope of log y over log x by least squares; None for fewer than three points."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    good = np.isfinite(x) & np.isfinite(y) & (x > 0.0) & (y > 0.0)
    if good.sum() < 3 or np.ptp(x[good]) == 0.0:
        return None
    return float(np.polyfit(np.log(x[good]), np.log(y[good]), 1)[0])


def triangle(x: Any, y: Any, slope: float) -> list[str]:
    """The triangle of a slope below the curve, with its sides 1 and the order."""
    if not 0.05 < abs(slope) < 20.0:
        return []
    left, right = float(np.min(x)), float(np.max(x))
    a, b = left * (right / left) ** 0.55, left * (right / left) ** 0.85
    good = np.isfinite(y)
    order = np.argsort(x[good])
    low = 0.35 * float(np.exp(np.interp(np.log(a), np.log(x[good])[order], np.log(y[good])[order])))
    high = low * (b / a) ** slope
    corner = (b, low) if slope > 0 else (a, high)
    return [f"ax.plot([{a:.6g}, {b:.6g}, {corner[0]:.6g}, {a:.6g}], [{{y}} * {low:.6g}, {{y}} * {high:.6g}, "
            f"{{y}} * {corner[1]:.6g}, {{y}} * {low:.6g}], color='0.3', lw=0.8)",
            f"ax.text({(a * b) ** 0.5:.6g}, {{y}} * {min(low, high):.6g}, '1', ha='center', va='top', "
            "fontsize='small', color='0.3')",
            f"ax.text({corner[0]:.6g}, {{y}} * {(low * high) ** 0.5:.6g}, ' {slope:.2f}', ha='left', va='center', "
            "fontsize='small', color='0.3')"]


def is_study(table: Any) -> bool:
    """Whether a table is that of a study: keys, run, status, measures."""
    names = list(table.columns)
    return "run" in names and names[names.index("run") + 1:][:1] == ["status"]


def measures_of(names: Sequence[str]) -> list[str]:
    """Columns of study.csv that are measures, without limits, bounds and orders."""
    after = names[names.index("status") + 1:]
    known = set(after)
    return [name for name in after if name != "reason" and not any(
        name.endswith(f".{d}") and name[:-len(d) - 1].removesuffix(".mesh").removesuffix(".step") in known
        and f"{name[:-len(d) - 1].removesuffix('.mesh').removesuffix('.step')}.convergence" in known for d in DETAILS)]
