"""Figures by matplotlib. Every call that draws goes through a Pen, which makes it and writes it down: the lines that
`percuss plot --script` keeps beside a picture are those that made it. Numbers stay in the units of their tables; the
labels of the axes have the prefixes."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence

import matplotlib
import numpy as np
import pandas

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


def plain(text: str) -> str:
    """A text as matplotlib shows it letter by letter: no formulas, no line ends, no label that it would hide."""
    text = "".join(c if c.isprintable() else " " for c in text).replace("$", r"\$")
    return " " + text if text.startswith("_") else text


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


@dataclass
class Curve:
    """A line."""

    x: Any
    y: Any
    label: str = ""
    colour: int = 0  #: -1: black
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
    ylim: Optional[tuple[Optional[float], Optional[float]]] = None
    equal: bool = False
    title: str = ""
    ticks: list[float] = field(default_factory=list)  #: of the horizontal axis
    names: list[str] = field(default_factory=list)  #: of the ticks
    more: list[Callable[["Pen"], Any]] = field(default_factory=list)  #: what else is drawn


class Ticks(NamedTuple):
    """Texts of ticks in a unit with a prefix."""

    factor: float

    def __call__(self, x: float, _place: Any = None) -> str:
        return f"{self.factor * x:.6g}".replace("-", "\u2212")

    def __repr__(self) -> str:
        return f'lambda x, _: f"{{{self.factor:g} * x:.6g}}".replace("-", "\\u2212")'


class Pen:
    """An object of matplotlib: what is called is done, and becomes a line of the script."""

    def __init__(self, script: "Script", name: str, target: Any):
        self.script, self.name, self.target = script, name, target

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            said = [self.script.say(one) for one in given]
            said += [f"{key}={self.script.say(one)}" for key, one in options.items()]
            self.script.lines.append(f"{self.name}.{method}({', '.join(said)})")
            options = {key: one.target if isinstance(one, Pen) else one for key, one in options.items()}
            return getattr(self.target, method)(*given, **options)
        return call

    def part(self, name: str) -> "Pen":
        """An attribute, as another pen."""
        return Pen(self.script, f"{self.name}.{name}", getattr(self.target, name))


class Script:
    """A figure while it is drawn: its lines, and the tables and arrays that they read."""

    def __init__(self, tables: dict[str, Any], options: Options):
        self.tables, self.options = tables, options
        self.lines: list[str] = []
        self.arrays: dict[str, Any] = {}
        self.clocks: list[tuple[int, str]] = []  #: axes with the time along "x" or "y"

    def say(self, value: Any) -> str:
        """A value as Python text: columns by their names, other arrays from the file of the script."""
        if isinstance(value, Pen):
            return value.name
        if isinstance(value, pandas.Series):
            for name, table in self.tables.items():
                if value.name in table and len(table) == len(value) and value.equals(table[value.name]):
                    return f"{name}[{value.name!r}]"
        if isinstance(value, (np.ndarray, pandas.Series)):
            values = np.asarray(value)
            name = next((k for k, known in self.arrays.items() if np.array_equal(known, values)), "")
            name = name or f"{re.sub(r'[^A-Za-z_]', '', str(getattr(value, 'name', None) or 'a'))}{len(self.arrays)}"
            self.arrays[name] = values
            return f"drawn[{name!r}]"
        return repr(value)

    def subplots(self, rows: int, columns: int, width: float, height: float, **options: Any) -> Any:
        """The figure and the pens of its axes, [rows, columns]."""
        import matplotlib.pyplot as plt
        said = "".join(f", {key}={value!r}" for key, value in options.items())
        size = (round(width, 4), round(height, 4))
        self.lines.append(f"fig, axes = plt.subplots({rows}, {columns}, figsize={size}, squeeze=False{said})")
        fig, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, **options)
        plt.close(fig)
        self.fig = Pen(self, "fig", fig)
        self.axes = [Pen(self, f"axes[{k // columns}, {k % columns}]", axes[k // columns, k % columns])
                     for k in range(rows * columns)]
        if self.options.title:
            self.fig.suptitle(plain(self.options.title))
        return self.axes

    def add_legends(self) -> None:
        """Legends inside the axes where there is room, else beside them."""
        labelled = [ax for ax in self.axes if ax.target.get_legend_handles_labels()[1]]
        if self.options.legend == "none" or not labelled:
            return
        for ax in labelled:
            ax.legend(**_place(self.options.legend or "best", ax))
        if not self.options.legend:
            self.fig.target.draw_without_rendering()
        for ax in [ax for ax in labelled if not self.options.legend and covers(ax.target)]:
            ax.legend(**_place("right", ax))

    def text(self, folder: str, stem: str, ending: str) -> str:
        """The script as a program in `folder` that writes the picture beside itself; its arrays are in STEM.npz."""
        used = "\n".join(self.lines)
        lines = ["import os", "", "import matplotlib.pyplot as plt", "import numpy as np", "import pandas as pd", "",
                 "os.chdir(os.path.dirname(os.path.abspath(__file__)))", 'plt.style.use("./percuss.mplstyle")']
        for name, table in self.tables.items():
            if f"{name}[" in used:
                path = os.path.relpath(str(table.attrs["path"]), folder)
                lines.append(f"{name} = pd.read_csv({path!r}).rename(columns=lambda name: name.partition(' [')[0])")
        lines += [f"drawn = np.load({stem + '.npz'!r})"] if self.arrays else []
        return "\n".join([*lines, used, f"fig.savefig({stem + ending!r})", ""])


def _place(place: str, ax: Pen) -> dict[str, Any]:
    """Options of a legend."""
    count = len(ax.target.get_legend_handles_labels()[1])
    special: dict[str, dict[str, Any]] = {
        "right": {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)},
        "above": {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": min(count, 3)}}
    return special.get(place, {"loc": place})


def covers(axes: Any) -> bool:
    """Whether the legend of the axes lies over one of its lines."""
    box = axes.get_legend().get_window_extent().padded(2.0)
    for line in axes.lines:
        points = line.get_transform().transform(np.column_stack(line.get_data(orig=False)))
        points = points[np.all(np.isfinite(points), axis=1)]
        if line.get_linestyle() != "None" and len(points) > 1:  # points between those of long pieces
            parts = np.linspace(0.0, 1.0, max(2, 2000 // len(points)))[:, None, None]
            points = ((1 - parts) * points[None, :-1] + parts * points[None, 1:]).reshape(-1, 2)
        if np.any(np.all((points > box.min) & (points < box.max), axis=1)):
            return True
    return False


def drawn(tables: dict[str, Any], options: Options, draw: Callable[[Script], None]) -> Script:
    """A figure, drawn in the style of this package by a function."""
    import matplotlib.pyplot as plt
    matplotlib.use("Agg", force=False)
    script = Script(tables, options)
    with warnings.catch_warnings(), plt.style.context(STYLE):
        warnings.simplefilter("ignore")  # letters that the font does not have
        draw(script)
        script.add_legends()
    return script


# ---- Panels ----

def draw_panels(script: Script, panels: list[Panel], ncolumn: int = 1, shares_x: bool = True) -> None:
    """Draws panels in columns, over a common axis if they share it."""
    options = script.options
    for panel in panels:
        panel.log, panel.equal = options.log or panel.log, panel.equal or options.equal
        panel.xlim, panel.ylim = options.xlim or panel.xlim, options.ylim or panel.ylim
        if panel.xlim and not panel.log and (panel.ylim is None or None in panel.ylim):
            panel.ylim = visible(panel)
    ncolumn = min(ncolumn, len(panels))
    nrow, width = -(-len(panels) // ncolumn), options.width / 2.54
    height = width * (0.5 if nrow == 1 else (0.28 if shares_x else 0.38) * nrow + 0.08)
    if any(panel.equal for panel in panels):
        height = width / ncolumn * sum(min(max(aspect(panel), 0.35), 1.0) for panel in panels[::ncolumn])
    axes = script.subplots(nrow, ncolumn, width, height, sharex=shares_x and len(panels) > 1)
    for k, (ax, panel) in enumerate(zip(axes, panels)):
        draw_panel(ax, panel)
        script.clocks += [(k, which) for which, name in (("x", panel.x), ("y", panel.y))
                          if name in ("t", "load factor") and not panel.log]
    for k, (ax, panel) in enumerate(zip(axes, panels)):
        is_equal = panel.equal and panel.x_unit == panel.y_unit
        name_axis(ax, "y", panel.y, panel.y_unit, [ax], is_equal)
        if not shares_x or k + ncolumn >= len(panels):
            name_axis(ax, "x", panel.x, panel.x_unit, axes[:len(panels)] if shares_x else [ax], is_equal)
    for ax in axes[len(panels):]:
        ax.set_axis_off()
    if len(panels) > 1 and ncolumn == 1:
        script.fig.align_ylabels()


def name_axis(ax: Pen, which: str, name: str, unit: str, sharing: Sequence[Pen], is_equal: bool = False) -> None:
    """Names an axis; its unit has the prefix by which the values on all axes that share it read well."""
    spans = []
    for one in sharing:
        target, axes = one.target, "xy" if is_equal else which
        for axis in axes:
            limits = getattr(target, f"get_{axis}lim")()
            data = getattr(target.dataLim, f"interval{axis}")
            spans += list(limits if not getattr(target, f"get_autoscale{axis}_on")() else data)
    is_bare = getattr(ax.target, f"get_{which}scale")() == "log"
    largest = max((abs(x) for x in spans if np.isfinite(x)), default=0.0)
    factor, shown = (1.0, unit) if is_bare else si(unit, largest)
    getattr(ax, f"set_{which}label")(plain(units.join(name, shown)))
    if factor != 1.0:
        ax.part(f"{which}axis").set_major_formatter(Ticks(factor))


def finite(panel: Panel, axis: str) -> Iterator[Any]:
    """The numbers of each curve along an axis."""
    for curve in panel.curves:
        values = np.asarray(getattr(curve, axis), float)
        yield values[np.isfinite(values)]


def aspect(panel: Panel) -> float:
    """Height of a panel with equal scales beside its width."""
    spans = [max((float(np.ptp(v)) for v in finite(panel, axis) if v.size), default=1.0) for axis in "xy"]
    return spans[1] / spans[0] if spans[0] > 0.0 else 1.0


def visible(panel: Panel) -> Optional[tuple[Optional[float], Optional[float]]]:
    """Limits of the vertical axis about what lies within those of the horizontal one; given ones stay."""
    assert panel.xlim is not None
    parts = []
    for curve in panel.curves:
        x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
        parts += [y[(x >= panel.xlim[0]) & (x <= panel.xlim[1]) & np.isfinite(y)]]
        parts += [np.zeros(1)] if curve.style == "bars" else []
    values = np.concatenate(parts) if parts else np.zeros(0)
    if not values.size or np.ptp(values) == 0.0:
        return panel.ylim
    low, high = values.min() - 0.05 * np.ptp(values), values.max() + 0.05 * np.ptp(values)
    given = panel.ylim or (None, None)
    return float(low) if given[0] is None else given[0], float(high) if given[1] is None else given[1]


def draw_panel(ax: Pen, panel: Panel) -> None:
    """Draws one panel; its axes are named later, when all that share them are drawn."""
    for curve in panel.curves:
        draw_curve(ax, curve)
    for draw in panel.more:
        draw(ax)
    if panel.title:
        ax.set_title(plain(panel.title))
    for axis in panel.log:
        getattr(ax, f"set_{axis}scale")("log")
        ax.part(f"{axis}axis").get_minor_formatter().minor_thresholds = 1.5, 0.6  # decades: few, all labels
        ax.script.lines[-1] += ".minor_thresholds = 1.5, 0.6"
    if panel.ticks:
        ax.set_xticks(panel.ticks, [plain(name[:30]) for name in panel.names or [f"{x:.3g}" for x in panel.ticks]])
        if "x" in panel.log:
            ax.part("xaxis").set_tick_params(which="minor", bottom=False, labelbottom=False)
    if panel.xlim is not None:
        ax.set_xlim(*panel.xlim)
    elif panel.x == "t" and panel.curves:
        ax.margins(x=0)
    if panel.y == "iterations":
        ax.locator_params(axis="y", integer=True)
    if panel.ylim is not None:
        ax.set_ylim(*panel.ylim)
    if panel.equal:
        ax.set_aspect("equal")


def draw_curve(ax: Pen, c: Curve) -> None:
    """Draws a curve. Colours come again with another dash."""
    look: dict[str, Any] = {"color": "black" if c.colour < 0 else f"C{c.colour % NCOLOUR}"}
    dash = DASHES[(c.dash + max(c.colour, 0) // NCOLOUR) % len(DASHES)]
    look |= {"label": plain(c.label)} if c.label else {}
    if c.style == "bars":
        ax.vlines(c.x, 0, c.y, **look)
        return
    look |= {"marker": "o"} if c.style in ("points", "marks") else {}
    look |= {"ls": ""} if c.style == "marks" else {"ls": dash} if dash != "-" else {}
    look |= {"yerr": c.bound} if c.bound is not None else {}
    (ax.errorbar if c.bound is not None else ax.plot)(c.x, c.y, **look)
