"""Figures as short scripts of matplotlib.

A script is run to draw its figure, and `percuss plot --script` writes it beside the picture: what a reader edits is
what was drawn. Texts of users stand in it as Python literals.
"""

from __future__ import annotations

import inspect
import os
import warnings
from dataclasses import dataclass, field
from typing import Any, Iterable, NamedTuple, Optional, Sequence

import numpy as np

from . import units
from .results import Results

NCOLOUR = 7  # in percuss.mplstyle
DASHES = ("-", "--", ":", "-.")
STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "percuss.mplstyle")
PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
PREFIXED = {"m", "s", "N", "Pa", "J", "Hz", "W", "m/s", "N m", "N s", "rad"}
NO_LARGE = {"s", "rad", "m", "m/s"}  # ks, km and the like are not used


def si(unit: str, largest: float) -> tuple[float, str]:
    """Factor and unit by which values up to `largest` read well: (1e-3, "kN") for 62832 N."""
    if unit not in PREFIXED or not 0.0 < largest < np.inf:
        return 1.0, unit
    power = 3 * int(np.floor(np.log10(largest) / 3 + 1e-12))
    if power < 0 and largest >= 99.999 * 10.0**power:
        power += 3  # 0.5 m rather than 500 mm
    power = min(max(power, -12), 0 if unit in NO_LARGE else 12)
    return float(f"1e{-power}"), PREFIXES[power] + unit


def spectrum(t: Any, y: Any, window: str = "hann") -> tuple[Any, Any]:
    """Frequencies, and the amplitudes of y's vibrations about its mean."""
    import numpy as np
    from scipy.signal import get_window
    t, y = (np.asarray(a, float)[np.isfinite(np.asarray(y, float))] for a in (t, y))
    even = np.linspace(t[0], t[-1], len(t))
    y = np.interp(even, t, y)
    weights = get_window(window, len(y))
    amplitude = 2 * np.abs(np.fft.rfft((y - y.mean()) * weights)) / weights.sum()
    return np.fft.rfftfreq(len(y), even[1] - even[0])[1:], amplitude[1:]


def plain(text: str) -> str:
    """A text as matplotlib shows it letter by letter: no formulas, no line ends, no label that it would hide."""
    text = "".join(c if c.isprintable() else " " for c in text).replace("$", r"\$")
    return " " + text if text.startswith("_") else text


@dataclass
class Curve:
    """A line: expressions of the tables of a script."""

    x: str
    y: str
    label: str = ""
    colour: int = 0  #: -1: black
    dash: int = 0
    style: str = "line"  #: or "bars" from zero, "points" joined by a line, "marks" alone
    bound: str = ""  #: half of an error bar


@dataclass
class Panel:
    """Axes with their curves; units are those of the tables, without prefix."""

    x: str
    y: str
    x_unit: str = ""
    y_unit: str = ""
    curves: list[Curve] = field(default_factory=list)
    log: str = ""  #: "x", "y", "xy"
    xlim: Optional[tuple[float, float]] = None
    ylim: Optional[tuple[Optional[float], Optional[float]]] = None
    equal: bool = False
    title: str = ""
    ticks: list[float] = field(default_factory=list)  #: of the horizontal axis, where they are named
    names: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)  #: further lines of the script; {x} and {y} are factors of the axes


@dataclass
class Picture:
    """A figure before it is drawn."""

    name: str
    panels: list[Panel] = field(default_factory=list)
    ncolumn: int = 1
    shares_x: bool = True
    waves: Optional[tuple["Run", int, str]] = None  #: an x-t diagram in place of panels: file and field


class Run(NamedTuple):
    """Results that are drawn: their table, by its name in the script."""

    name: str
    table: Any
    label: str
    results: Optional[Results]


@dataclass
class Options:
    """What may be chosen about a figure."""

    x: Optional[str] = None
    exact: Any = None  #: a table
    xlim: Optional[tuple[float, float]] = None
    ylim: Optional[tuple[float, float]] = None
    width: float = 16.0  #: cm
    labels: Sequence[str] = ()
    title: str = ""
    log: str = ""
    equal: bool = False
    legend: str = ""  #: a place of matplotlib's, "right", "above" or "none"
    spectrum: str = ""  #: the window


class Source(NamedTuple):
    """A table of a script."""

    table: Any
    path: str
    read: str  #: the line that reads it; {name} is its name and {path} its file


class Script:
    """The lines of matplotlib that make a figure, and the tables that they read."""

    def __init__(self, options: Options):
        self.options = options
        self.sources: dict[str, Source] = {}
        self.lines: list[str] = []
        self.legends: list[tuple[int, str]] = []  # axes, expression that adds the legend

    def names(self) -> dict[str, Any]:
        """What lines may use."""
        return {"np": np, "spectrum": spectrum, **{name: source.table for name, source in self.sources.items()}}

    def values(self, expression: str) -> Any:
        """Numbers of an expression of the tables."""
        return np.asarray(eval(expression, self.names()), float)  # made here, of quoted names

    def largest(self, expressions: Iterable[str], limits: Optional[Sequence[Optional[float]]] = None) -> float:
        """The largest absolute value that is drawn."""
        given = [abs(x) for x in limits or () if x is not None]
        sizes = [float(np.nanmax(np.abs(v), initial=0.0)) for v in map(self.values, expressions) if v.size]
        if len(given) == 2:
            return max(given)
        return max(sizes, default=0.0)

    def figure(self) -> Any:
        """Draws the figure. A legend that covers a curve is moved beside the axes."""
        import matplotlib
        matplotlib.use("Agg", force=False)
        import matplotlib.pyplot as plt
        places = ["best" if self.options.legend in ("", "best") else self.options.legend] * len(self.legends)
        for _ in range(2):
            names = {**self.names(), "plt": plt}
            lines = [*self.lines, *(legend_line(*legend, place) for legend, place in zip(self.legends, places))]
            with warnings.catch_warnings(), plt.style.context(STYLE):
                warnings.simplefilter("ignore")  # letters that the font does not have
                exec("\n".join(lines), names)  # the lines of this module, with texts as literals
                fig = names["fig"]
                if self.legends:
                    fig.draw_without_rendering()
            plt.close(fig)
            hidden = [covers(fig, fig.axes[axes]) for axes, _ in self.legends]
            if self.options.legend or not any(hidden):
                break
            places = ["right" if is_hidden else place for is_hidden, place in zip(hidden, places)]
        self.drawn = lines
        return fig

    def text(self, folder: str, picture: str) -> str:
        """The script as a program in `folder` that writes the picture beside itself."""
        read = [source.read.format(name=name, path=repr(os.path.relpath(source.path, folder)))
                for name, source in self.sources.items()]
        used = "\n".join(self.drawn)
        lines = ["import os", "", "import matplotlib.pyplot as plt", "import numpy as np"]
        lines += [f"import {full}" for name, full in (("json", "json"), ("pd", "pandas as pd"), ("percuss", "percuss"))
                  if any(f"{name}." in line for line in read)]
        lines += ["", "os.chdir(os.path.dirname(os.path.abspath(__file__)))", 'plt.style.use("./percuss.mplstyle")']
        if "spectrum(" in used:
            source = inspect.getsource(spectrum).replace(": Any", "").replace(" -> tuple[Any, Any]", "")
            lines += ["", "", source.replace(': str = "hann"', '="hann"').rstrip(), "", ""]
        return "\n".join([*lines, *read, used, f"fig.savefig({picture!r})", ""])


def legend_line(axes: int, ncolumn: str, place: str) -> str:
    """The call that adds a legend at a place."""
    where = {"right": "loc='upper left', bbox_to_anchor=(1.0, 1.0)",
             "above": f"loc='lower left', bbox_to_anchor=(0.0, 1.0), ncols={ncolumn}"}
    return "" if place == "none" else f"fig.axes[{axes}].legend({where.get(place, f'loc={place!r}')})"


def covers(fig: Any, axes: Any) -> bool:
    """Whether the legend of the axes lies over one of its lines."""
    legend = axes.get_legend()
    if legend is None:
        return False
    box = legend.get_window_extent(fig.canvas.get_renderer()).padded(2.0)
    for line in axes.lines:
        points = line.get_transform().transform(np.column_stack(line.get_data(orig=False)))
        points = points[np.all(np.isfinite(points), axis=1)]
        if line.get_linestyle() != "None" and len(points) > 1:  # points between those of long pieces
            parts = np.linspace(0.0, 1.0, max(2, 2000 // len(points)))[:, None, None]
            points = ((1 - parts) * points[None, :-1] + parts * points[None, 1:]).reshape(-1, 2)
        inside = (points > box.min) & (points < box.max)
        if np.any(inside[:, 0] & inside[:, 1]):
            return True
    return False


def scaled(factor: float, expression: str) -> str:
    """An expression in the unit of its axis."""
    if factor == 1.0:
        return expression
    return f"{factor:g} * {expression}" if "+" not in expression and " - " not in expression else \
        f"{factor:g} * ({expression})"


def column(run: Run, name: str) -> str:
    """The expression of a column."""
    return f"{run.name}[{name!r}]"


def write_panels(script: Script, picture: Picture) -> None:
    """Lines for all panels of a picture."""
    lines, panels, options = script.lines, picture.panels, script.options
    for panel in panels:
        panel.log = options.log or panel.log
        panel.ylim = options.ylim or panel.ylim
        panel.xlim = options.xlim or panel.xlim
        panel.equal = panel.equal or options.equal
        if panel.xlim and not panel.log and (panel.ylim is None or None in panel.ylim):
            panel.ylim = visible(script, panel)
    ncolumn = min(picture.ncolumn, len(panels))
    nrow, width = -(-len(panels) // ncolumn), options.width / 2.54
    height = width * (0.5 if nrow == 1 else 0.28 * nrow + 0.08)
    if any(panel.equal for panel in panels):
        height = width / ncolumn * sum(min(max(aspect(script, panel), 0.35), 1.0) for panel in panels[::ncolumn])
    shares = f", sharex={picture.shares_x}" if len(panels) > 1 else ""
    lines.append(f"fig, axes = plt.subplots({nrow}, {ncolumn}, figsize=({width:.4g}, {height:.4g}){shares}, "
                 "squeeze=False)")
    for k, panel in enumerate(panels):
        others = panels if picture.shares_x else [panel]
        largest = script.largest((c.x for p in others for c in p.curves), panel.xlim)
        is_bare = bool(panel.names) or "x" in panel.log
        lines.append(f"ax = axes[{k // ncolumn}, {k % ncolumn}]")
        write_panel(script, k, panel, (1.0, panel.x_unit) if is_bare else si(panel.x_unit, largest),
                    not picture.shares_x or k + ncolumn >= len(panels))
    lines += [f"axes[{k // ncolumn}, {k % ncolumn}].set_axis_off()" for k in range(len(panels), nrow * ncolumn)]
    if options.title:
        lines.append(f"fig.suptitle({plain(options.title)!r})")
    if len(panels) > 1 and ncolumn == 1:
        lines.append("fig.align_ylabels()")


def aspect(script: Script, panel: Panel) -> float:
    """Height of a panel with equal scales beside its width."""
    spans = []
    for axis in "xy":
        values = [v[np.isfinite(v)] for v in (script.values(getattr(c, axis)) for c in panel.curves)]
        spans.append(max((float(np.ptp(v)) for v in values if v.size), default=1.0))
    return spans[1] / spans[0] if spans[0] > 0.0 else 1.0


def visible(script: Script, panel: Panel) -> Optional[tuple[Optional[float], Optional[float]]]:
    """Limits of the vertical axis about what lies within those of the horizontal one; given ones stay."""
    assert panel.xlim is not None
    parts = []
    for curve in panel.curves:
        x, y = script.values(curve.x), script.values(curve.y)
        good = (x >= panel.xlim[0]) & (x <= panel.xlim[1]) & np.isfinite(y)
        parts += [y[good], [0.0] if curve.style == "bars" else []]
    values = np.concatenate(parts) if parts else np.zeros(0)
    if not values.size or np.ptp(values) == 0.0:
        return panel.ylim
    low, high = values.min() - 0.05 * np.ptp(values), values.max() + 0.05 * np.ptp(values)
    given = panel.ylim or (None, None)
    return low if given[0] is None else given[0], high if given[1] is None else given[1]


def write_panel(script: Script, k: int, panel: Panel, x_scale: tuple[float, str], is_lowest: bool) -> None:
    """Lines for one panel."""
    lines, x_factor = script.lines, x_scale[0]
    largest = script.largest((c.y for c in panel.curves), panel.ylim)
    y_factor, y_unit = (1.0, panel.y_unit) if "y" in panel.log else si(panel.y_unit, largest)
    if panel.equal and panel.x_unit == panel.y_unit:
        y_factor, y_unit = x_factor, x_scale[1]
    lines += [curve_line(curve, x_factor, y_factor) for curve in panel.curves]
    lines += [line.format(x=x_factor, y=y_factor) for line in panel.after]
    if is_lowest:
        lines.append(f"ax.set_xlabel({plain(units.join(panel.x, x_scale[1]))!r})")
    lines.append(f"ax.set_ylabel({plain(units.join(panel.y, y_unit))!r})")
    if panel.title:
        lines.append(f"ax.set_title({plain(panel.title)!r})")
    for axis in panel.log:
        lines += [f"ax.set_{axis}scale('log')",
                  f"ax.{axis}axis.get_minor_formatter().minor_thresholds = 1.5, 0.6  # decades: few, all labels"]
    lines += axis_lines(panel, x_factor, y_factor)
    labels = [c.label for c in panel.curves if c.label]
    if labels:
        script.legends.append((k, str(min(len(labels), 3))))


def axis_lines(panel: Panel, x_factor: float, y_factor: float) -> list[str]:
    """Lines for ticks, limits and aspect."""
    lines = []
    if panel.ticks:
        names = panel.names or [f"{tick:.3g}" for tick in panel.ticks]
        lines.append(f"ax.set_xticks({panel.ticks!r}, {[plain(name[:30]) for name in names]!r})")
        if "x" in panel.log:
            lines.append("ax.xaxis.set_minor_locator(plt.NullLocator())")
    if panel.xlim is not None:
        lines.append(f"ax.set_xlim({x_factor * panel.xlim[0]:.9g}, {x_factor * panel.xlim[1]:.9g})")
    elif panel.x == "t" and panel.curves:
        lines.append("ax.margins(x=0)")
    if panel.y == "iterations":
        lines.append("ax.yaxis.set_major_locator(plt.MaxNLocator(integer=True))")
    if panel.ylim is not None:
        low, high = (None if v is None else float(f"{y_factor * v:.9g}") for v in panel.ylim)
        lines.append(f"ax.set_ylim({low}, {high})")
    if panel.equal:
        lines.append("ax.set_aspect('equal')")
    return lines


def curve_line(c: Curve, x_factor: float, y_factor: float) -> str:
    """The call that draws a curve. Colours come again with another dash."""
    x, y = scaled(x_factor, c.x), scaled(y_factor, c.y)
    colour = "black" if c.colour < 0 else f"C{c.colour % NCOLOUR}"
    dash = DASHES[(c.dash + max(c.colour, 0) // NCOLOUR) % len(DASHES)]
    style = "" if dash == "-" else f", ls={dash!r}"
    label = f", label={plain(c.label)!r}" if c.label else ""
    if c.style == "bars":
        return f"ax.vlines({x}, 0, {y}, color={colour!r}{label})"
    if c.bound:
        style += f", yerr={scaled(y_factor, c.bound)}"
    if c.style == "marks":
        return f"ax.{'errorbar' if c.bound else 'plot'}({x}, {y}, marker='o', color={colour!r}, " + \
            f"ls=''{style.replace(', ls=' + repr(dash), '')}{label})"
    marker = ", marker='o'" if c.style == "points" else ""
    return f"ax.{'errorbar' if c.bound else 'plot'}({x}, {y}, color={colour!r}{marker}{style}{label})"
