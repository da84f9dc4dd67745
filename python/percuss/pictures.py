"""Which pictures there are: energies, contacts, probes, x-t diagrams and modes; of studies measures and levels."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Callable, Iterable, Optional, Sequence

import numpy as np
import pandas

from . import units
from .errors import InputError
from .figure import Curve, Options, Panel, Pen, Run, Script, draw_panels, name_axis, plain

MOST_PICTURES = 8  # of contacts, of probes
MOST_MODES = 8
MOST_LINES = 32  # of combinations
LOG_SPAN = 8.0  # an axis is logarithmic from this ratio of its values on
DETAILS = ("limit", "bound", "order", "convergence")  # of a measure, or of its "mesh" and "step"
ROUND_OFF = 1e-12  # of the largest value of the same unit
LEDGER_ROUND_OFF = 1e-9  # of the largest energy
ENERGIES = ["kinetic", "strain", "potential"]
LEDGER = {"external_work": ("external work", 1), "damping_loss": ("damping", -1), "material_loss": ("materials", -1),
          "impact_loss": ("impacts", -1), "friction_loss": ("friction", -1),
          "correction_work": ("position correction", 1), "numerical_loss": ("numerical loss", -1),
          "load_work": ("loads", 1), "joint_work": ("joints", 1), "contact_work": ("contacts", 1),
          "friction_work": ("friction", 1)}
MOMENTA = ("momentum_x", "momentum_y", "momentum_z")
FIXED = {"t", "step", "min_gap", "factor", "residual", "correction", "active", "iterations", *ENERGIES, *LEDGER,
         *MOMENTA}
REACTIONS = {"fx", "fy", "fz", "mx", "my", "mz", "tangential", "separating", "gap"}
RATES = {"x": "vx", "y": "vy", "z": "vz", "ux": "vx", "uy": "vy", "uz": "vz", "rx": "wx", "ry": "wy", "rz": "wz"}


@dataclass
class Picture:
    """A figure before it is drawn."""

    name: str
    panels: list[Panel] = field(default_factory=list)
    ncolumn: int = 1
    shares_x: bool = True
    draw: Optional[Callable[[Script], None]] = None  #: in place of panels

    def __call__(self, script: Script) -> None:
        if self.draw:
            self.draw(script)
        else:
            draw_panels(script, self.panels, self.ncolumn, self.shares_x)


def owner(name: str) -> str:
    """`tip` of `tip.x`; "" of a column without owner."""
    return name.rpartition(".")[0]


def last(name: str) -> str:
    """`x` of `tip.x`."""
    return name.rpartition(".")[2]


def numbers(table: Any, name: str) -> Any:
    """A column as numbers; texts are NaN."""
    return table[name] if table[name].dtype != object else pandas.to_numeric(table[name], errors="coerce")


def spectrum(t: Any, y: Any, window: str) -> tuple[Any, Any]:
    """Frequencies, and the amplitudes of y's vibrations about its mean."""
    from scipy.signal import get_window
    t, y = (np.asarray(a, float)[np.isfinite(np.asarray(y, float))] for a in (t, y))
    even = np.linspace(t[0], t[-1], len(t))
    y = np.interp(even, t, y)
    weights = get_window(window, len(y))
    amplitude = 2 * np.abs(np.fft.rfft((y - y.mean()) * weights)) / weights.sum()
    return np.fft.rfftfreq(len(y), even[1] - even[0])[1:], amplitude[1:]


class Album:
    """The pictures of one or more runs over a common axis."""

    def __init__(self, runs: Sequence[Run], options: Options):
        self.runs, self.options = runs, options
        self.first = runs[0].table
        self.names = [str(name) for name in self.first.columns]
        usual = [n for n in ("t", "factor", "mode") if n in self.names]
        self.axis: str = options.x or [*usual, self.names[0]][0]
        self.pictures: list[Picture] = []
        self.notes: list[str] = []
        self.wanted: Sequence[str] = ()  #: columns that were asked for, to which labels belong

    def unit(self, name: str) -> str:
        """The unit of a column, from its table."""
        table = next((run.table for run in self.runs if name in run.table), None)
        return units.unit(name) if table is None else str(table.attrs.get("units", {}).get(name, units.unit(name)))

    def all(self, name: str) -> Any:
        """The finite numbers of a column, of all runs."""
        found = [np.asarray(numbers(run.table, name), float) for run in self.runs if name in run.table]
        values = np.concatenate(found) if found else np.zeros(0)
        return values[np.isfinite(values)]

    def size(self, name: str) -> float:
        """The largest absolute value of a column among the runs; -1 if no run has it."""
        return float(np.abs(values).max()) if (values := self.all(name)).size else (
            0.0 if any(name in run.table for run in self.runs) else -1.0)

    def flatten(self, name: str, panel: Panel) -> None:
        """Draws a column that is constant but for round-off, or nothing beside others of its unit, as a flat line. An
        axis ends at zero where only round-off lies beyond: a gap of -1e-16 m is no penetration."""
        values, unit = self.all(name), self.unit(name)
        if not np.any(values):
            return
        low, high, size = float(values.min()), float(values.max()), float(np.abs(values).max())
        whole = max([size, *(self.size(other) for other in self.names if unit and self.unit(other) == unit)])
        if size <= ROUND_OFF * whole:
            panel.ylim = (-0.01 * whole, 0.01 * whole)
        elif high - low <= ROUND_OFF * size:
            panel.ylim = (0.5 * (low + high) - 0.1 * size, 0.5 * (low + high) + 0.1 * size)
        elif low < 0.0 and -low <= ROUND_OFF * high:
            panel.ylim = (low, None)
        elif high > 0.0 and high <= -ROUND_OFF * low:
            panel.ylim = (None, high)

    def curve(self, run: Run, name: str, x: str) -> Optional[Curve]:
        """A column of a run over another; None if the run does not have both, with numbers."""
        table = run.table
        if name == "energy" and name not in table and set(ENERGIES) <= set(table) and x in table:
            return Curve(table[x], table[ENERGIES].sum(axis=1), name)
        if name not in table or x not in table or not np.isfinite(y := numbers(table, name)).any():
            return None
        found = units.quantity(name)
        if found and found.name == "impulse":
            rows = y.fillna(0) != 0
            return Curve(numbers(table, x)[rows], y[rows], name, style="bars")
        if self.options.spectrum:
            return Curve(*spectrum(table[x], y, self.options.spectrum), label=name)
        return Curve(numbers(table, x), y, name)

    def panel(self, names: Sequence[str], x: str) -> Panel:
        """Columns of one run, or one column of several runs, over x; no curves if none has any."""
        found = units.quantity(names[0])
        y = names[0] if len(names) == 1 or found is None else found.name
        unit = "J" if names[0] == "energy" else self.unit(names[0])
        panel = Panel("load factor" if x == "factor" else x, y, self.unit(x), unit)
        said = dict(zip(self.wanted, self.options.labels)) if len(self.runs) == 1 else {}
        for run, name in itertools.product(self.runs, names):
            curve = self.curve(run, name, x)
            if curve is not None:
                curve.colour = len(panel.curves) if len(self.runs) == 1 else self.runs.index(run)
                curve.label = run.label if len(self.runs) > 1 else said.get(name, name if len(names) > 1 else "")
                panel.curves.append(curve)
        if len(names) == 1 and self.options.exact is None and names[0] in self.first:
            self.flatten(names[0], panel)
        if x == "t" and any(curve.style == "bars" for curve in panel.curves):  # of all of the run, not of its impulses
            panel.xlim = (float(self.all(x).min()), float(self.all(x).max()))
        self.add_exact(names, x, panel)
        self.add_horizon(names, x, panel)
        if self.options.spectrum:
            panel = replace(panel, x="frequency", x_unit="Hz", y=f"amplitude of {panel.y}", log="y", ylim=None)
        elif x != self.axis or self.options.x:
            panel.equal = self.is_path(names, x)
        return panel

    def is_path(self, names: Sequence[str], x: str) -> bool:
        """Whether x and the column are two coordinates of the same point."""
        pair = [units.quantity(name) for name in (x, names[0])]
        return len(names) == 1 and owner(x) == owner(names[0]) and pair[0] == pair[1] and all(
            q is not None and q.name in ("position", "displacement") for q in pair)

    def add_exact(self, names: Sequence[str], x: str, panel: Panel) -> None:
        """The exact solution of columns that it has, in black."""
        exact = self.options.exact
        for name in names if exact is not None and panel.curves and x in exact else ():
            if name in exact:
                if len(panel.curves) == 1 and not panel.curves[0].label:
                    panel.curves[0].label = name
                is_first = not any(c.label == "exact" for c in panel.curves)
                panel.curves.append(Curve(exact[x], exact[name], "exact" if is_first else "", -1, 1))

    def add_horizon(self, names: Sequence[str], x: str, panel: Panel) -> None:
        """Shades what lies behind the horizon of the first of these probes, if the run has found it."""
        results = self.runs[0].results
        is_run = len(self.runs) == 1 and results is not None and results.kind == "run" and results.has("summary.json")
        if x != "t" or not is_run or self.options.spectrum:
            return
        probes = (results.summary.get("horizon") or {}).get("probes", []) if results else []
        times = [probe["time"] for probe in probes if probe["name"] in names and probe["time"] is not None]
        if times and panel.curves:
            panel.more.append(partial(shade, min(times), float(self.all("t").max())))

    def add(self, name: str, groups: Iterable[Sequence[str]], x: str = "") -> None:
        """A picture with a panel for each group of columns; nothing if there is nothing to draw."""
        groups = list(groups) if len(self.runs) == 1 else [[n] for group in groups for n in group]
        panels = [self.panel(group, x or self.axis) for group in groups if group]
        panels = [panel for panel in panels if panel.curves]
        if panels and not (x and x != self.axis and all(self.size(g[0]) == 0.0 for g in groups)):
            self.pictures.append(Picture(name, one_legend(panels) if len(self.runs) > 1 else panels))

    def group(self, names: Iterable[str]) -> list[list[str]]:
        """Columns of the same quantity and unit together, in the order in which they come."""
        groups: dict[Any, list[str]] = {}
        for name in names:
            found = units.quantity(name)
            groups.setdefault((found.name, self.unit(name)) if found else name, []).append(name)
        return list(groups.values())

    def usual(self) -> list[Picture]:
        """The pictures where no column is named."""
        self.add_energies()
        sizes = {name: self.size(name) for name in MOMENTA}
        self.add("momentum", self.group(n for n in MOMENTA if sizes[n] > LEDGER_ROUND_OFF * max(sizes.values())))
        self.add_contacts()
        self.add_probes()
        self.add_steps()
        return self.pictures

    def add_energies(self) -> None:
        """Energies above, what changed them below; the sum of the changes is the change of the total."""
        least = LEDGER_ROUND_OFF * max(self.size(name) for name in ENERGIES)
        there = [name for name in ENERGIES if self.size(name) > least]
        if not there:
            return
        changes = [name for name in LEDGER if self.size(name) > least]
        if len(self.runs) > 1:
            return self.add("energies", [[name] for name in there + changes])
        x = self.first[self.axis]
        total = self.first[[name for name in ENERGIES if name in self.first]].sum(axis=1)
        above = self.panel(there, self.axis)
        above.y = "energy"
        below = replace(above, y="change of energy", curves=[
            Curve(x, LEDGER[name][1] * self.first[name], LEDGER[name][0], i) for i, name in enumerate(changes)])
        below.curves.append(Curve(x, total - total.iloc[0], "total", -1, 1))
        above.curves += [Curve(x, total, "total", -1)] if len(there) > 1 else []
        self.pictures.append(Picture("energies", [above, below] if changes else [above]))

    def contacts(self) -> list[str]:
        """Names of contacts, not of their single points: those with a gap and a force."""
        return [owner(n) for n in self.names
                if n.endswith(".gap") and "[" not in n and f"{owner(n)}.force" in self.names]

    def add_contacts(self) -> None:
        """Gap, force, friction and impulses of each contact, from shortly before its first touch to its last."""
        found = self.contacts()
        found.sort(key=lambda name: -self.size(f"{name}.step_impulse"))
        for name in found[:MOST_PICTURES]:
            parts = [f"{name}.{part}" for part in ("force", "friction", "impulse")]
            self.add(f"contact_{name}", [[f"{name}.gap"], *([p] for p in parts if self.size(p) > 0.0)])
            if self.pictures and self.axis == "t":
                span = self.touch(parts)
                for panel in self.pictures[-1].panels if span else ():
                    panel.xlim = span
        if len(found) > MOST_PICTURES:
            self.notes.append(f"Drawn are {MOST_PICTURES} of {len(found)} contacts, those with the largest impulses; "
                              "others by name: NAME.gap NAME.force")

    def touch(self, parts: Sequence[str]) -> Optional[tuple[float, float]]:
        """The time of contact with some time about it; None if that is most of the run."""
        times = [run.table["t"][(run.table[[p for p in parts if p in run.table]].fillna(0) != 0).any(axis=1)]
                 for run in self.runs if "t" in run.table]
        first, end = float(self.all("t").min()), float(self.all("t").max())
        low, high = min(t.min() for t in times), max(t.max() for t in times)
        if not high - low <= 0.5 * (end - first):
            return None
        about = 0.2 * max(high - low, 0.02 * (end - first))
        return max(low - about, first), min(high + about, end)

    def add_probes(self) -> None:
        """One picture of what each probe recorded, its phases and its path; of statics its load path."""
        gaps = {owner(n) for n in self.names if n.endswith(".gap")}
        names = [n for n in self.names if n not in FIXED and last(n) not in REACTIONS
                 and (owner(n) not in gaps or not owner(n)) and np.isfinite(numbers(self.first, n)).any()]
        owners = list(dict.fromkeys(map(owner, names)))
        for who in owners[:MOST_PICTURES]:
            own = [n for n in names if owner(n) == who]
            if self.axis == "factor":
                self.add_load_path(who, own)
                continue
            self.add(f"probe_{who}" if who else "coordinates", self.group(own))
            if not self.options.spectrum:
                for name in own:
                    rate = f"v_{name}" if not who else f"{who}.{RATES.get(last(name), '')}"
                    if self.size(rate) > 0.0:
                        self.add(f"phase_{name}", [[rate]], name)
                self.add_path(who, own)
        if len(owners) > MOST_PICTURES:
            self.notes.append(f"Drawn are the first {MOST_PICTURES} of {len(owners)} probes; others by name: NAME.x "
                              "NAME.vx")

    def add_path(self, who: str, own: Sequence[str]) -> None:
        """The trajectory of a point in the plane in which it moves most, with equal scales."""
        spans = {n: float(np.ptp(self.all(n))) for n in own if re.fullmatch("u?[xyz]", last(n))}
        moving = [n for n in spans if spans[n] > 1e-3 * max(spans.values())]
        moving = sorted(sorted(moving, key=lambda n: -spans[n])[:2])
        if len(moving) == 2 and who:
            self.add(f"path_{who}", [[moving[1]]], moving[0])

    def add_load_path(self, who: str, own: Sequence[str]) -> None:
        """The load factor over what each probe shows."""
        panels = [self.panel(["factor"], n) for n in own if self.size(n) > 0.0]
        for panel in panels:
            panel.y, panel.equal, panel.ylim = "load factor", False, None
            panel.curves = [replace(curve, style="points") for curve in panel.curves]
        if panels:
            self.pictures.append(Picture(f"load_path_{who or 'coordinates'}", panels, 2, shares_x=False))

    def add_steps(self) -> None:
        """Iterations, and step sizes if they vary."""
        panels: list[Panel] = []
        counts = [numbers(run.table, "iterations")[1:] for run in self.runs if "iterations" in run.table]
        if any(count.nunique() > 1 for count in counts):
            panels.append(self.panel(["iterations"], self.axis))
        panel = Panel("t", "step size", "s", "s", log="y")
        for i, run in enumerate(self.runs if self.axis == "t" else ()):
            steps = run.table["t"].diff()
            label = run.label if len(self.runs) > 1 else ""
            panel.curves.append(Curve(run.table["t"][steps > 0], steps[steps > 0], label, i))
            if len(steps) > 3 and np.ptp(steps.iloc[1:-1]) > LEDGER_ROUND_OFF * steps.sum():  # the last may be cut
                panels = [*panels[:1], panel] if panels and panels[0] is not panel else [panel]
        if panels:
            self.pictures.append(Picture("steps", one_legend(panels)))


def shade(first: float, end: float, ax: Pen) -> None:
    """Marks times at which curves no longer follow from the start."""
    ax.axvspan(first, end, color="0.88", lw=0, zorder=0, label="after the horizon")


def one_legend(panels: list[Panel]) -> list[Panel]:
    """Labels of the first panel alone: the others have the same colours."""
    seen: set[str] = set()
    for panel in panels:
        panel.curves = [replace(c, label="" if c.label in seen else c.label) for c in panel.curves]
        seen |= {c.label for c in panel.curves}
    return panels


# ---- x-t diagrams ----

def of_waves(album: Album) -> list[Picture]:
    """An x-t diagram of every field of every *.waves.csv."""
    found = []
    for number, run in enumerate(album.runs):
        for i, waves in enumerate(run.results.waves if run.results and run.results.kind == "run" else ()):
            end = (f"_{number + 1}" if len(album.runs) > 1 else "") + (f"_{i + 1}" if i else "")
            found += [Picture(f"waves_{name}{end}", draw=partial(draw_waves, run, waves, name))
                      for name in waves.fields]
    return found


def draw_waves(run: Run, waves: Any, name: str, script: Script) -> None:
    """An x-t diagram, with the contact forces beside it."""
    values, bodies, table = waves.fields[name], waves.bodies, run.table
    forces = [n for n in map(str, table.columns) if n.endswith(".force") and "[" not in n and "t" in table
              and np.nanmax(np.abs(numbers(table, n)), initial=0.0) > 0.0][:3]
    width = script.options.width / 2.54
    more = {"gridspec_kw": {"width_ratios": [3, 1]}} if forces else {}
    axes = script.subplots(1, 2 if forces else 1, width, 0.62 * width, sharey=True, **more)
    largest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    usual = float(np.nanquantile(np.abs(values), 0.995))  # a few large values do not bleach the others
    is_cut = 0.0 < usual < largest / 1.2
    largest = usual if is_cut else largest
    what = name if len(bodies) > 1 else f"{name} of {bodies[0][0]}"
    image = axes[0].pcolormesh(waves.places, waves.times, values, shading="nearest", rasterized=True, vmin=-largest,
                               vmax=largest)
    script.lines[-1] = "image = " + script.lines[-1]
    axes[0].grid(False)
    axes[0].set_ylim(float(waves.times[0]), float(waves.times[-1]))
    bar = script.fig.target.colorbar(image, ax=axes[0].target, location="top", aspect=40,
                                     extend="both" if is_cut else "neither")
    script.lines.append(f"bar = fig.colorbar(image, ax=axes[0, 0], location='top', aspect=40, extend={bar.extend!r})")
    name_axis(Pen(script, "bar.ax", bar.ax), "x", what, units.unit(name), [Pen(script, "", bar.ax)])
    along = "bodies" if len(bodies) > 1 else "body"
    name_axis(axes[0], "x", f"position along the {along}", "m", axes[:1])
    name_axis(axes[0], "y", "t", "s", axes[:1])
    for k, (body, start, end) in enumerate(bodies if len(bodies) > 1 else ()):
        mark_body(axes[0], body, start, end, bodies[-1][2] - bodies[0][1], k > 0)
    for i, force in enumerate(forces):
        axes[1].plot(numbers(table, force), table["t"], color=f"C{i}", label=plain(owner(force)))
    if forces:
        axes[1].margins(y=0)
        name_axis(axes[1], "x", "contact force", "N", axes[1:])
    script.clocks = [(0, "y")]


def mark_body(ax: Pen, name: str, start: float, end: float, whole: float, has_line: bool) -> None:
    """The line before a body, and its name above; that of a short body stands upright, of a thin one beside it."""
    if has_line:
        ax.axvline(start, color="black", lw=0.6)
    is_thin, is_short = end - start < 0.04 * whole, end - start < 0.018 * len(name) * whole
    ax.annotate(plain(name), (end + 0.005 * whole if is_thin else 0.5 * (start + end), 0.98),
                xycoords=("data", "axes fraction"), ha="left" if is_thin else "center", va="top", fontsize="small",
                rotation=90 if is_short else 0)


# ---- Modes ----

def of_modes(album: Album) -> list[Picture]:
    """Frequencies of modes, and the shapes of the first ones."""
    run, table = album.runs[0], album.first
    frequencies = Panel("mode", "frequency", "", "Hz", [Curve(table["mode"], table["f"], style="marks")], more=[
        lambda ax: ax.vlines(table["mode"], 0, table["f"], color="C0"),
        lambda ax: ax.locator_params(axis="x", integer=True)])
    found = [Picture("frequencies", [frequencies])]
    frames = run.results.frames if run.results else []
    if len(frames):
        shown = range(min(len(frames), len(table)))
        chosen = [k for k in shown if table["kind"].iloc[k] != "rigid"][:MOST_MODES] or shown[:MOST_MODES]
        found.append(Picture("mode_shapes", [shape_panel(table.iloc[k], frames[k]) for k in chosen], 2, False))
    return found


def shape_panel(row: Any, frame: Any) -> Panel:
    """Components of the displacement over place of a straight body, else the deformed over the undeformed body."""
    moved = frame.point_data["displacement"]
    points, largest = frame.points - moved, np.abs(moved).max() or 1.0
    spread, extent = points - points.mean(axis=0), np.ptp(points, axis=0)
    said = [row["kind"], f"{row['f']:.4g} Hz"][int(row["kind"] == "vibration"):1 + int(row["f"] > 0.0)]
    title = f"mode {int(row['mode'])}: {', '.join(said)}"
    is_straight = np.linalg.svd(spread, compute_uv=False)[1:].max(initial=0.0) <= 1e-6 * np.abs(spread).max()
    if is_straight and len(points) > 2:
        axis = int(np.argmax(extent))
        panel = Panel("xyz"[axis], "u / largest", "m", "", title=title)
        order = np.argsort(points[:, axis], kind="stable")
        panel.curves = [Curve(points[order, axis], moved[order, i] / largest, f"u{'xyz'[i]}", i, style="points")
                        for i in range(3) if np.abs(moved[:, i]).max() > 1e-6 * largest]
        if len(panel.curves) == 1:
            panel.y, panel.curves[0].label = f"{panel.curves[0].label} / largest", ""
        return panel
    a, b = sorted(np.argsort(-extent - 1e-3 * np.abs(moved).max(axis=0) / largest, kind="stable")[:2].tolist())
    panel = Panel("xyz"[a], "xyz"[b], "m", "m", title=title, equal=True)
    scale = 0.15 * float(np.linalg.norm(extent)) / largest
    for factor, colour in ((0.0, "0.7"), (scale, "C0")):
        lines = (points + factor * moved)[frame.cells]
        panel.more.append(line_of(lines[:, :, a].T, lines[:, :, b].T, color=colour))
    return panel


# ---- Studies ----

class Study:
    """Pictures of a table of a study: measures over the first key that varies, a line for each combination of the
    others. Where both axes are logarithmic the slope, fitted by least squares, stands in the legend."""

    def __init__(self, album: Album):
        self.album, self.run, self.table = album, album.runs[0], album.first
        names = album.names
        self.keys = [key for key in names[:names.index("run")] if key not in ("mesh_factor", "step_factor")]
        self.measures = [n for n in measures_of(names) if np.isfinite(numbers(self.table, n)).any()]
        varying = [key for key in self.keys if self.table[key].nunique(dropna=False) > 1]
        self.axis = next((key for key in [*varying, *self.keys] if key != "level"), "")  # which has pictures of its own
        self.others = [key for key in varying if key != self.axis]
        self.is_numeric = bool(self.axis) and bool(np.isfinite(numbers(self.table, self.axis)).all())

    def pictures(self, measures: Sequence[str], name: str = "") -> list[Picture]:
        """The measures in one picture, or without a name a picture of each; of a refinement every level, too."""
        found = []
        if self.axis:
            panels = [self.panel(measure) for measure in measures]
            found = [Picture(name, one_legend(panels), shares_x=False)] if name else [
                Picture(f"study_{measure}", [panel]) for measure, panel in zip(measures, panels)]
        levels = [(m, self.levels(m) or self.levels(m, "mesh") + self.levels(m, "step")) for m in measures]
        found += [Picture(f"refine_{m}", panels, 1, shares_x=False) for m, panels in levels if panels]
        if not found:
            raise InputError(f"{self.table.attrs.get('path', 'the study')}: no key varies and nothing was refined")
        return found

    def groups(self) -> list[tuple[tuple[Any, ...], Any]]:
        """Values of the other keys and their rows, in the order in which they come."""
        if not self.others:
            return [((), self.table)]
        by = self.others if len(self.others) > 1 else self.others[0]
        found = [(values if len(self.others) > 1 else (values,), rows)
                 for values, rows in self.table.groupby(by, sort=False, dropna=False)]
        if left := sum(len(rows) for _, rows in found[MOST_LINES:]):
            note = f"Drawn are the first {MOST_LINES} combinations of the other keys; {left} rows are left out"
            self.album.notes = [note]
        return found[:MOST_LINES]

    def spans(self, name: str, measure: str) -> bool:
        """Whether the values that belong to a measure are positive and span so much that their logarithm is drawn."""
        values = numbers(self.table, name)[np.isfinite(numbers(self.table, measure))]
        return bool(values.size) and bool(values.min() > 0.0 and values.max() >= LOG_SPAN * values.min())

    def panel(self, measure: str) -> Panel:
        """One measure."""
        log = ("x" if self.is_numeric and self.spans(self.axis, measure) else "")
        log += "y" if self.spans(measure, measure) else ""
        x_unit = self.album.unit(self.axis) or ("s" if self.axis == "time.step" else "")
        panel = Panel(self.axis, measure, x_unit, self.album.unit(measure), log=log)
        names = list(self.table[self.axis].fillna("").astype(str).unique())
        slope = None
        for i, (values, rows) in enumerate(self.groups()):
            rows = rows.sort_values(self.axis, kind="stable") if self.is_numeric else rows
            x = rows[self.axis] if self.is_numeric else rows[self.axis].fillna("").astype(str).map(names.index)
            label = ", ".join(self.label(key, value) for key, value in zip(self.others, values))
            slope = fitted_slope(x, rows[measure]) if log == "xy" else None
            label += f"{', ' * bool(label)}slope {slope:.2f}" if slope is not None else ""
            bound = rows.get(f"{measure}.bound")
            panel.curves.append(Curve(x, rows[measure], label, i, style="points" if self.is_numeric else "marks",
                                      bound=bound if bound is not None and np.isfinite(bound).any() else None))
        if not self.is_numeric:
            panel.ticks, panel.names = [float(k) for k in range(len(names))], [n or "-" for n in names]
            panel.xlim = (-0.5, len(names) - 0.5)
        elif "x" in log and len(names) <= 8:
            panel.ticks = sorted(map(float, self.table[self.axis].unique()))
        if len(panel.curves) == 1 and slope is not None:
            panel.more += triangle(panel.curves[0], slope)
        return panel

    def label(self, key: str, value: Any) -> str:
        """`rho_inf = 0.5`; the type of a part says what it is."""
        shown = "-" if value != value else f"{value:.9g}" if isinstance(value, (int, float)) else str(value)[:40]
        is_alone = sum(last(other) == last(key) for other in self.others) == 1
        return shown if last(key) == "type" else f"{last(key) if is_alone else key} = {shown}"

    def levels(self, measure: str, part: str = "") -> list[Panel]:
        """Every level of a refinement, of mesh and step together or of one: values with the limit, and changes from
        level to level with their order."""
        results = self.run.results
        if results is None or results.kind != "study" or not results.has("study.json"):
            return []
        above, below = Panel("", measure, "", self.album.unit(measure), log="x"), Panel("", f"change of {measure}")
        refined = {key: spec for key, spec in (results.summary.get("refine") or {}).items()
                   if isinstance(spec, list) and part in ("", key)}
        for point in results.summary.get("points", []):
            one = (point.get("measures") or {}).get(measure, {})
            one = one.get(part, {}) if part else one
            if len(one.get("levels") or []) < 2 or not refined or len(above.curves) == MOST_LINES:
                continue
            label = ", ".join(self.label(key, v) for key, v in point.get("parameters", {}).items()
                              if key in self.others or key == self.axis)
            ratio, y, k = float(next(iter(refined.values()))[0]), np.array(one["levels"], float), len(above.curves)
            x, limit, order = ratio ** -np.arange(len(y)), one.get("limit"), one.get("order")
            above.curves.append(Curve(x, y, label, k, style="points"))
            above.ticks = max(above.ticks, [float(v) for v in x], key=len)
            if limit is not None:
                above.more.append(line_of(x[[0, -1]], np.full(2, float(limit)), color=f"C{k % 7}", lw=0.8, ls=":"))
            if np.all(np.abs(np.diff(y)) > 0.0):
                text = one.get("convergence", "") if order is None else f"observed order {order:.2f}"
                below.curves.append(Curve(x[1:], np.abs(np.diff(y)), ", ".join(filter(None, (label, text))), k,
                                          style="points"))
                below.more = triangle(below.curves[0], float(order)) if k == 0 and order is not None else []
        above.x = f"{' and '.join(refined)}, part of the coarsest"
        below = replace(below, x=above.x, y_unit=above.y_unit, log="xy", ticks=above.ticks)
        return [above, below] if below.curves else [above] if above.curves else []


def line_of(x: Any, y: Any, **look: Any) -> Callable[[Pen], Any]:
    """Draws a line that has no place in the legend."""
    return lambda ax: ax.plot(x, y, **look)


def triangle(curve: Curve, slope: float) -> list[Callable[[Pen], Any]]:
    """Draws the triangle of a slope below the curve, with its sides 1 and the order."""
    x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
    good = np.argsort(x)[np.isfinite(y[np.argsort(x)])]
    if not 0.05 < abs(slope) < 20.0 or not len(good):
        return []
    a, b = (float(x.min() * (x.max() / x.min()) ** part) for part in (0.55, 0.85))
    low = 0.35 * float(np.exp(np.interp(np.log(a), np.log(x[good]), np.log(y[good]))))
    high = low * (b / a) ** slope
    corner = (b, low) if slope > 0 else (a, high)
    look = {"fontsize": "small", "color": "0.3"}
    return [line_of([a, b, corner[0], a], [low, high, corner[1], low], color="0.3", lw=0.8),
            lambda ax: ax.text((a * b) ** 0.5, min(low, high), "1", ha="center", va="top", **look),
            lambda ax: ax.text(corner[0], (low * high) ** 0.5, f" {slope:.2f}", va="center", **look)]


def fitted_slope(x: Any, y: Any) -> Optional[float]:
    """Slope of log y over log x by least squares; None for fewer than three points."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    good = np.isfinite(x) & np.isfinite(y) & (x > 0.0) & (y > 0.0)
    if good.sum() < 3 or np.ptp(x[good]) == 0.0:
        return None
    return float(np.polyfit(np.log(x[good]), np.log(y[good]), 1)[0])


def is_study(table: Any) -> bool:
    """Whether a table is that of a study: keys, run, status, measures."""
    names = list(table.columns)
    return "run" in names and names[names.index("run") + 1:][:1] == ["status"]


def measures_of(names: Sequence[str]) -> list[str]:
    """Columns of study.csv that are measures, without limits, bounds and orders."""
    after = names[names.index("status") + 1:]
    heads = {name: name.rpartition(".")[0].removesuffix(".mesh").removesuffix(".step")
             for name in after if name.endswith(tuple(f".{detail}" for detail in DETAILS))}
    return [name for name in after if name != "reason" and not (
        heads.get(name) in after and f"{heads.get(name)}.convergence" in after)]
