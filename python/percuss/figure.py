"""Figures by matplotlib: panels with their curves, and scripts that make them again. Numbers stay in the units of their
tables; the labels of the axes have the prefixes."""

from __future__ import annotations

import argparse
import io
import os
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.legend import Legend
from matplotlib.path import Path as MplPath

from . import units
from .errors import InputError
from .results import TABLES, Results
from .text import real, write_file
from .view import si

NCOLOUR = 7  # in percuss.mplstyle
DASHES = ("-", "--", ":", "-.")
STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "percuss.mplstyle")
PLACES: dict[str, dict[str, Any]] = {"right": {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)},
                                     "above": {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 3},
                                     "stacked": {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}}
LEGENDS = ("above", "none", *Legend.codes)
COUNTED = ("mode", "iterations", "level")  # whole numbers
CLOCKS = ("t", "load factor")
SHADE: dict[str, Any] = {"color": "0.88", "lw": 0, "zorder": 0}  # of what lies after the horizon
ROUND_OFF = 1e-12  # of the largest value of the same unit
DERIVED = ("energy", "step_size")  # columns that are not in the files
SCRIPT = """# Makes {picture!r} again: change what you like.
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas
import percuss

os.chdir(os.path.dirname(os.path.abspath(__file__)))
plt.style.use(os.path.join(os.path.dirname(percuss.__file__), "percuss.mplstyle"))
tables = [pandas.read_csv(path, float_precision="round_trip") for path in {files}]"""


def plain(text: str) -> str:
    """A text as matplotlib shows it letter by letter: no formulas, no line ends, no label that it would hide."""
    text = "".join(c if c.isprintable() else " " for c in text).replace("$", r"\$")
    return " " + text if text.startswith("_") else text


def colour_limit(sizes: Any) -> float:
    """The largest of all sizes; what 99.5 % of them stay below if a few are much larger: they would bleach the rest."""
    largest, usual = float(np.nanmax(sizes, initial=0.0)), float(np.nanquantile(sizes, 0.995))
    return usual if 0.0 < usual < largest / 1.2 else largest


class Run(NamedTuple):
    """Results that are drawn."""

    table: Any
    label: str
    results: Optional[Results]


def limits(text: str) -> tuple[float, float]:
    """Limits of an axis, for argparse."""
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = np.nan
    if not -np.inf < low < high < np.inf:
        raise argparse.ArgumentTypeError(f"must be two rising numbers A:B, is '{text}'")
    return low, high


def option(preset: Any, help_text: str, **more: Any) -> Any:
    """An option with what the command line says of it."""
    return field(default=preset, metadata={"default": preset, "help": help_text, **more})


@dataclass
class Options:
    """What may be chosen about a figure, on the command line by --NAME."""

    x: Optional[str] = option(None, "the horizontal axis [t]", metavar="COLUMN")
    exact: Any = option(None, "a solution to draw beside the results, columns with the same names", metavar="FILE.csv")
    range: Optional[tuple[float, float]] = option(None, "part of the horizontal axis", type=limits, metavar="A:B")
    ylim: Optional[tuple[float, float]] = option(None, "part of the vertical axis", type=limits, metavar="A:B")
    width: float = option(16.0, "width of a picture [16]; 8.5 fits a column of a paper", metavar="CM")
    label: Sequence[str] = option((), "name in the legend, for each result in turn; for each column if there is one "
                                  "result", metavar="TEXT", action="append", default=[])
    title: str = option("", "text above the picture", metavar="TEXT")
    log: str = option("", "logarithmic axes", choices=("x", "y", "xy"))
    equal: bool = option(False, "equal scales of both axes", action="store_true")
    legend: str = option("", "best, right, above, none, upper left, ... [in the axes where there is room, else right]",
                         choices=LEGENDS, metavar="PLACE")
    spectrum: str = option("", "amplitudes over frequency, with a window [hann]", nargs="?", const="hann",
                           metavar="WINDOW")

    def __post_init__(self) -> None:
        self.width = real("--width", self.width, 5.0, 1000.0, "a number from 5 on")
        self.label = [self.label] if isinstance(self.label, str) else list(self.label)
        if self.log not in ("", "x", "y", "xy"):
            raise InputError(f"--log must be x, y or xy, is '{self.log}'")
        if self.legend not in ("", *LEGENDS):
            raise InputError(f"--legend must be one of {', '.join(LEGENDS)}, is '{self.legend}'")


@dataclass
class Curve:
    """A line."""

    x: Any
    y: Any
    label: str = ""
    colour: Union[int, str] = 0  #: a number in the cycle of colours, or a colour by its name
    dash: int = 0
    style: str = "line"  #: or "bars" from zero, "points" joined by a line, "marks" alone
    bound: Any = None  #: half of error bars


@dataclass
class Panel:
    """Axes with their curves."""

    x: str
    y: str
    x_unit: str = ""
    y_unit: str = ""
    curves: list[Curve] = field(default_factory=list)
    log: str = ""  #: "x", "y", "xy"
    xlim: Optional[tuple[float, float]] = None
    whole: float = 0.0  #: largest value of the unit
    equal: bool = False
    title: str = ""
    ticks: list[float] = field(default_factory=list)  #: of the horizontal axis
    names: list[str] = field(default_factory=list)  #: of the ticks
    horizon: Optional[tuple[float, float]] = None  #: in which curves no longer follow from the start


@dataclass
class Picture:
    """A figure before it is drawn: panels in columns, over a common axis if they share it, or what draws them."""

    name: str
    panels: list[Panel] = field(default_factory=list)
    ncolumn: int = 1
    shares_x: bool = True
    draw: Optional[Callable[[Script, Options], tuple[Pen, list[Pen]]]] = None


@dataclass(frozen=True, repr=False)
class Prefixed:
    """Labels of ticks in a unit with a prefix; its repr is the Python that makes them."""

    factor: float

    def __call__(self, x: float, _: Any) -> str:
        return f"{self.factor * x:.6g}".replace("-", "\u2212")

    def __repr__(self) -> str:
        return f"lambda x, _: f'{{{self.factor} * x:.6g}}'.replace('-', '\\u2212')"


class Script:
    """The lines of Python that make a figure: calls of matplotlib, with columns of the files of results by their names;
    other arrays come from a file beside the script."""

    def __init__(self, runs: Sequence[Run] = ()):
        self.tables = [(run.results.path(name), run.table) for run in runs if run.results is not None
                       for name, kind in TABLES.items() if kind == run.results.kind != "study"]
        self.arrays: dict[str, Any] = {}
        self.lines: list[str] = []

    def text(self, value: Any) -> str:
        """A value as it stands in the script."""
        if isinstance(value, Pen):
            return value.name
        if isinstance(value, (list, tuple)):
            words = ", ".join(map(self.text, value))
            return f"[{words}]" if isinstance(value, list) else f"({words},)"
        if not isinstance(value, (np.ndarray, pandas.Series)):
            return repr(value.item() if isinstance(value, np.generic) else value)
        for k, (_, table) in enumerate(self.tables):
            name = getattr(value, "name", None)
            if name not in DERIVED and name in table and value.equals(table[name]):
                return f"tables[{k}][{name!r}]"
        self.arrays[f"a{len(self.arrays)}"] = np.asarray(value)
        return f"arrays['a{len(self.arrays) - 1}']"

    def call(self, function: Any, name: str, arguments: Any, named: Any, result: str = "") -> Any:
        """Calls a function of matplotlib and keeps the line, with the name of the result if it has one."""
        words = [self.text(one) for one in arguments] + [f"{key}={self.text(one)}" for key, one in named.items()]
        self.lines.append(f"{result}{' = ' if result else ''}{name}({', '.join(words)})")
        plain = [one.target if isinstance(one, Pen) else one for one in arguments]
        return function(*plain, **{key: one.target if isinstance(one, Pen) else one for key, one in named.items()})

    def subplots(self, *shape: int, **named: Any) -> tuple[Pen, list[Pen]]:
        """A figure and its axes, row by row."""
        figure, axes = self.call(plt.subplots, "plt.subplots", shape, {**named, "squeeze": False}, "figure, axes")
        figure.script = self
        return Pen(self, "figure", figure), [Pen(self, f"axes[{i}, {j}]", axes[i, j]) for i, j in np.ndindex(*shape)]

    def write(self, stem: str, picture: str) -> None:
        """Writes the script of a picture, and its arrays if it has some."""
        folder = os.path.dirname(stem) or "."
        files = [os.path.relpath(path, folder) for path, _ in self.tables]
        lines = [SCRIPT.format(picture=picture, files=files)]
        if self.arrays:
            stream = io.BytesIO()
            np.savez(stream, **self.arrays)
            write_file(stem + ".npz", stream.getvalue())
            lines.append(f"arrays = np.load({os.path.basename(stem) + '.npz'!r})")
        write_file(stem + ".py", "\n".join([*lines, *self.lines, f"figure.savefig({picture!r})\n"]))


class Pen:
    """A figure or axes of matplotlib by the name that it has in the script, which keeps calls of its methods."""

    def __init__(self, script: Script, name: str, target: Any):
        self.script, self.name, self.target = script, name, target

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.target, name)
        if isinstance(found, (Axes, Axis)):
            return Pen(self.script, f"{self.name}.{name}", found)
        if not callable(found) or name.startswith("get_"):
            return found
        return lambda *arguments, **named: self.script.call(found, f"{self.name}.{name}", arguments, named)

    def named(self, result: str, method: str, *arguments: Any, **named: Any) -> Pen:
        """The result of a method, which has a name in the script."""
        made = self.script.call(getattr(self.target, method), f"{self.name}.{method}", arguments, named, result)
        return Pen(self.script, result, made)


def drawn(picture: Picture, options: Options, runs: Sequence[Run] = ()) -> Any:
    """The figure in the style of this package, with its `script`. Axes of time have an attribute `clock`, "x" or
    "y"."""
    matplotlib.use("Agg", force=False)
    with warnings.catch_warnings(), plt.style.context(STYLE):
        warnings.simplefilter("ignore")  # letters that the font does not have
        figure, axes = (picture.draw or partial(_draw_panels, picture))(Script(runs), options)
        plt.close(figure.target)
        if options.title:
            figure.suptitle(plain(options.title))
        _add_legends(figure, axes, options.legend)
    return figure.target


def _add_legends(figure: Pen, axes: Sequence[Pen], place: str) -> None:
    """Legends inside the axes where there is room, else beside them, or above them if they are wide."""
    labelled = [ax for ax in axes if ax.get_legend_handles_labels()[1] and place != "none"]
    for ax in labelled if not place else ():
        ax.target.legend(loc="best")
    if labelled and not place:
        figure.target.draw_without_rendering()
    for ax, where in [(ax, place or _free_place(ax)) for ax in labelled]:
        ax.legend(**PLACES.get(where, {"loc": where}))


def _free_place(axes: Pen) -> str:
    """Where the legend of the axes, which is at the best place inside, covers none of its lines."""
    box = axes.get_legend().get_window_extent().padded(2.0)
    paths = [line.get_transform().transform_path(line.get_path()).vertices for line in axes.lines]
    pieces = [piece for path in paths for piece in np.split(path, np.flatnonzero(~np.isfinite(path[:, 1])))]
    if not any(MplPath(piece).intersects_bbox(box, filled=False) for piece in pieces if len(piece)):
        return "best"
    return "right" if box.width < 0.4 * axes.get_window_extent().width else "stacked"


def _draw_panels(picture: Picture, script: Script, options: Options) -> tuple[Pen, list[Pen]]:
    """The panels in their columns."""
    panels, ncolumn = picture.panels, min(picture.ncolumn, len(picture.panels))
    nrow, width = -(-len(panels) // ncolumn), options.width / 2.54
    height = width * (0.5 if nrow == 1 else (0.28 if picture.shares_x else 0.38) * nrow + 0.08)
    figure, axes = script.subplots(nrow, ncolumn, figsize=(width, height), sharex=picture.shares_x and len(panels) > 1)
    shaded = [panel for panel in panels if panel.horizon is not None]
    for ax, panel in zip(axes, panels):
        if panel.horizon is not None:
            ax.axvspan(*panel.horizon, **SHADE, **({"label": "after the horizon"} if panel is shaded[0] else {}))
        _draw_panel(ax, panel, options)
    for k, (ax, panel) in enumerate(zip(axes, panels)):  # when all that share an axis are drawn
        is_equal = (panel.equal or options.equal) and panel.x_unit == panel.y_unit
        name_axis(ax.yaxis, panel.y, panel.y_unit, is_equal)
        if not picture.shares_x or k + ncolumn >= len(panels):
            name_axis(ax.xaxis, panel.x, panel.x_unit, is_equal)
    for ax in axes[len(panels):]:
        ax.set_axis_off()
    if options.equal or any(panel.equal for panel in panels):
        parts = [ax.viewLim.height / ax.viewLim.width for ax in axes[::ncolumn]]
        figure.set_figheight(width / ncolumn * float(np.clip(parts, 0.35, 1.0).sum()))
    if len(panels) > 1 and ncolumn == 1:
        figure.align_ylabels()
    return figure, axes


def name_axis(axis: Pen, name: str, unit: str, is_equal: bool = False) -> None:
    """Names an axis; its unit has the prefix by which its values read well, or those of both if scales are equal."""
    limits = axis.axes.viewLim if is_equal else axis.get_view_interval()
    factor, shown = (1.0, unit) if axis.get_scale() == "log" else si(unit, float(np.abs(limits).max()))
    axis.set_label_text(plain(units.join(name, shown)))
    if factor != 1.0:
        axis.set_major_formatter(Prefixed(factor))


def _visible(panel: Panel, xlim: tuple[float, float]) -> Any:
    """The values within limits of the horizontal axis."""
    parts = [np.zeros(int(any(curve.style == "bars" for curve in panel.curves)))]
    for curve in panel.curves:
        x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
        parts.append(y[(x >= xlim[0]) & (x <= xlim[1]) & np.isfinite(y)])
    return np.concatenate(parts)


def _draw_panel(ax: Pen, panel: Panel, options: Options) -> None:
    """Draws one panel; its axes are named later."""
    for curve in panel.curves:
        _draw_curve(ax, curve)
    if panel.title:
        ax.set_title(plain(panel.title))
    for which, name in (("x", panel.x), ("y", panel.y)):
        if which in (options.log or panel.log):
            ax.set(**{f"{which}scale": "log"})
            few = 1.5, 0.6  # decades: all labels, or some
            getattr(ax.target, f"{which}axis").get_minor_formatter().minor_thresholds = few
            ax.script.lines.append(f"{ax.name}.{which}axis.get_minor_formatter().minor_thresholds = {few}")
        elif name in CLOCKS:
            ax.target.clock = which
        elif name in COUNTED:
            ax.locator_params(axis=which, integer=True)
    if panel.ticks:
        ax.set_xticks(panel.ticks, [plain(name[:30]) for name in panel.names or [f"{x:.3g}" for x in panel.ticks]])
        if "x" in panel.log:
            ax.xaxis.set_tick_params(which="minor", bottom=False, labelbottom=False)
    if panel.equal or options.equal:
        ax.set_aspect("equal")
    _set_limits(ax, panel, options)


def _set_limits(ax: Pen, panel: Panel, options: Options) -> None:
    """Limits about the values that are seen. What is constant but for round-off, or nothing beside others of its unit,
    is drawn flat."""
    xlim = options.range or panel.xlim
    if xlim is not None:
        ax.set_xlim(xlim)
        if (values := _visible(panel, xlim)).size:
            ax.dataLim.intervaly = values.min(), values.max()
            ax.target.autoscale_view(scalex=False)
            ax.set_ylim(ax.get_ylim())
    elif panel.x == "t":
        ax.margins(x=0)
    low, high = ax.dataLim.intervaly
    size = max(abs(low), abs(high))
    if options.ylim:
        ax.set_ylim(options.ylim)
    elif size < np.inf and high - low <= ROUND_OFF * max(size, panel.whole):
        margin = 0.1 * (size if size > ROUND_OFF * panel.whole else panel.whole)
        ax.set_ylim(low - (margin or 1.0), high + (margin or 1.0))
    elif -ROUND_OFF * high <= low < 0.0:  # a gap of -1e-16 m is no penetration
        ax.set_ylim(bottom=low)


def _draw_curve(ax: Pen, c: Curve) -> None:
    """Draws a curve. Colours come again with another dash."""
    number = c.colour if isinstance(c.colour, int) else 0
    look: dict[str, Any] = {"color": f"C{number % NCOLOUR}" if c.colour == number else c.colour}
    look |= {"label": plain(c.label)} if c.label else {}
    if c.style == "bars":
        ax.vlines(c.x, 0, c.y, **look)
        return
    look["ls"] = "" if c.style == "marks" else DASHES[(c.dash + number // NCOLOUR) % len(DASHES)]
    look |= {"marker": "o"} if c.style in ("points", "marks") else {}
    if c.bound is not None:
        ax.errorbar(c.x, c.y, yerr=c.bound, **look)
    else:
        ax.plot(c.x, c.y, **look)
