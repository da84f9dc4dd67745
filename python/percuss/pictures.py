"""Which pictures there are: energies, contacts, probes, x-t diagrams and modes; of studies measures and levels."""

import functools
import re
from dataclasses import replace
from typing import Any, Iterable, Optional, Sequence

import numpy as np
import pandas

from . import units
from .errors import InputError
from .figure import SHADE, Curve, Options, Panel, Pen, Picture, Run, Script, colour_limit, name_axis, plain
from .measure import DETAILS
from .results import Results, kind_of
from .view import mode_text

MOST = 8  # contacts, probes, modes
MOST_LINES = 32  # combinations
LOG_SPAN = 8.0  # an axis is logarithmic from this ratio of its values on
ROUND_OFF = 1e-9  # of the largest energy
ENERGIES = ["kinetic", "strain", "potential"]
LEDGER = {"external_work": ("external work", 1), "damping_loss": ("damping", -1), "material_loss": ("materials", -1),
          "impact_loss": ("impacts", -1), "friction_loss": ("friction", -1),
          "correction_work": ("position correction", 1), "numerical_loss": ("numerical loss", -1),
          "load_work": ("loads", 1), "joint_work": ("joints", 1), "friction_work": ("friction", 1)}
MOMENTA = ("momentum_x", "momentum_y", "momentum_z")
FIXED = {"t", "step", "min_gap", "factor", "residual", "correction", "active", "iterations", "energy", "step_size",
         *ENERGIES, *LEDGER, *MOMENTA}
REACTIONS = {"fx", "fy", "fz", "mx", "my", "mz", "tangential", "separating", "gap"}
RATES = {"x": "vx", "y": "vy", "z": "vz", "ux": "vx", "uy": "vy", "uz": "vz", "rx": "wx", "ry": "wy", "rz": "wz"}


def owner(name: str) -> str:
    """`tip` of `tip.x`; "" of a column without owner."""
    return name.rpartition(".")[0]


def last(name: str) -> str:
    """`x` of `tip.x`."""
    return name.rpartition(".")[2]


def numbers(table: Any, name: str) -> Any:
    """A column as numbers; texts and infinite ones are NaN."""
    return pandas.to_numeric(table[name], errors="coerce").replace([np.inf, -np.inf], np.nan)


def prepared(run: Run) -> Run:
    """A history of numbers alone, with the energy and the size of steps."""
    table = run.table.copy()
    for name in table.columns[table.dtypes == object]:
        table[name] = numbers(table, name)
    there = [name for name in ENERGIES if name in table]
    if there and "energy" not in table:
        table["energy"] = table[there].sum(axis=1)
    if "t" in table and "step_size" not in table:
        table["step_size"] = table["t"].diff().where(lambda steps: steps > 0.0)
    return run._replace(table=table)


def spectrum(t: Any, y: Any, window: str) -> tuple[Any, Any]:
    """Frequencies, and the amplitudes of y's vibrations about its mean."""
    from scipy.signal import periodogram
    t, y = (np.asarray(a, float)[np.isfinite(np.asarray(y, float))] for a in (t, y))
    even, step = np.linspace(t[0], t[-1], len(t), retstep=True)
    try:
        f, power = periodogram(np.interp(even, t, y), 1.0 / step, window, scaling="spectrum")
    except ValueError:
        raise InputError("--spectrum must be a window of scipy.signal that needs no parameter (hann, hamming, "
                         f"blackman, flattop, boxcar, ..), is '{window}'") from None
    return f[1:], np.sqrt(2.0 * power[1:])


class Album:
    """The pictures of one or more runs over a common axis."""

    def __init__(self, runs: Sequence[Run], options: Options):
        self.options = options
        self.is_study = kind_of(runs[0].table) == "study"
        self.runs = list(runs) if self.is_study else [prepared(run) for run in runs]
        self.first = self.runs[0].table
        self.names = [str(name) for name in self.first.columns]
        usual = [n for n in ("t", "factor", "mode") if n in self.names]
        self.axis: str = options.x or [*usual, self.names[0]][0]
        self.sizes = {} if self.is_study else {
            name: float(np.abs(self.all(name)).max(initial=0.0)) for name in self.names}
        self.pictures: list[Picture] = []
        self.notes: list[str] = []
        self.labels: dict[str, str] = {}  #: of columns

    def unit(self, name: str) -> str:
        """The unit of a column, from its table."""
        table = next((run.table for run in self.runs if name in run.table), self.first)
        return str(table.attrs.get("units", {}).get(name, units.unit(name)))

    def all(self, name: str) -> Any:
        """The numbers of a column, of all runs."""
        return np.concatenate([np.zeros(0), *(run.table[name].dropna() for run in self.runs if name in run.table)])

    def size(self, name: str) -> float:
        """The largest absolute value of a column among the runs; 0 if the first one does not have it."""
        return self.sizes.get(name, 0.0)

    def few(self, found: Sequence[str], what: str) -> Sequence[str]:
        """The first of them, with a note if there are more."""
        if len(found) > MOST:
            self.notes.append(f"Drawn are {MOST} of {len(found)} {what}; others by the names of their columns")
        return found[:MOST]

    def curve(self, run: Run, name: str, x: str) -> Optional[Curve]:
        """A column of a run over another; None if the run does not have both, with numbers."""
        table = run.table
        if name not in table or x not in table or table[name].isna().all():
            return None
        found = units.quantity(name)
        if found and found.name == "impulse":
            table = table[table[name].fillna(0.0) != 0.0]
            return Curve(table[x], table[name], style="bars")
        if self.options.spectrum:
            return Curve(*spectrum(table[x], table[name], self.options.spectrum))
        return Curve(table[x], table[name], style="points" if name == self.axis == "factor" else "line")

    def panel(self, names: Sequence[str], x: str = "") -> Panel:
        """Columns of one run, or one column of several runs, over x; no curves if none has any."""
        x, found, unit = x or self.axis, units.quantity(names[0]), self.unit(names[0])
        titles = {"factor": "load factor", "step_size": "step size"}
        y = names[0] if len(names) == 1 or found is None else found.name
        panel = Panel(titles.get(x, x), titles.get(y, y), self.unit(x), unit, log="y" if y == "step_size" else "")
        for k, (run, name) in enumerate((run, name) for run in self.runs for name in names):
            curve = self.curve(run, name, x)
            if curve is not None:
                curve.colour = k
                curve.label = run.label if len(self.runs) > 1 else self.labels.get(name, name if len(names) > 1 else "")
                panel.curves.append(curve)
        panel.whole = max((self.size(other) for other in self.names if unit and self.unit(other) == unit), default=0.0)
        if x == "t" and any(curve.style == "bars" for curve in panel.curves):  # of all of the run, not of its impulses
            panel.xlim = (float(self.all(x).min()), float(self.all(x).max()))
        self.add_exact(names, x, panel)
        if self.options.spectrum:
            return replace(panel, x="frequency", x_unit="Hz", y=f"amplitude of {panel.y}", log="y", whole=0.0)
        panel.horizon = self.horizon(names) if x == "t" else None
        pair = [units.quantity(name) for name in (x, *names)]  # two coordinates of a point have equal scales
        panel.equal = len(pair) == 2 and owner(x) == owner(names[0]) and pair[0] == pair[1] and all(
            q is not None and q.name in ("position", "displacement") for q in pair)
        return panel

    def add_exact(self, names: Sequence[str], x: str, panel: Panel) -> None:
        """The exact solution of columns that it has, in black."""
        exact = self.options.exact
        for name in names if exact is not None and panel.curves and x in exact else ():
            if name in exact:
                if len(panel.curves) == 1:
                    panel.curves[0].label = panel.curves[0].label or name
                is_first = not any(c.label == "exact" for c in panel.curves)
                panel.curves.append(Curve(exact[x], exact[name], "exact" if is_first else "", "black", 1))

    def horizon(self, names: Sequence[str]) -> Optional[tuple[float, float]]:
        """From the horizon of the one run, the first one of these probes, of other columns that of the run, to its
        end."""
        results = self.runs[0].results
        if len(self.runs) > 1 or results is None or results.kind != "run" or not results.has("summary.json"):
            return None
        found = results.summary.get("horizon") or {}
        own = [probe["time"] for probe in found.get("probes", []) if probe["name"] in names] or [found.get("time")]
        times = [float(time) for time in own if time is not None]
        return (min(times), float(self.all("t").max())) if times else None

    def add(self, name: str, panels: Iterable[Panel], ncolumn: int = 1, shares_x: bool = True) -> None:
        """A picture of those panels that have curves; nothing if none has."""
        panels = [panel for panel in panels if panel.curves]
        if panels:
            self.pictures.append(Picture(name, one_legend(panels) if len(self.runs) > 1 else panels, ncolumn, shares_x))

    def group(self, names: Iterable[str]) -> list[Panel]:
        """A panel for columns of the same quantity and unit, in the order in which they come; of several runs for each
        column."""
        groups: dict[Any, list[str]] = {}
        for name in names:
            found = units.quantity(name)
            key = (found.name, self.unit(name)) if found and len(self.runs) == 1 else name
            groups.setdefault(key, []).append(name)
        return [self.panel(group) for group in groups.values()]

    def usual(self) -> list[Picture]:
        """The pictures where no column is named."""
        results = self.runs[0].results
        if results is not None and results.kind == "modes":
            return of_modes(self, results)
        if self.is_study:
            study = Study(self)
            return study.pictures(study.measures)
        self.add_energies()
        sizes = {name: self.size(name) for name in MOMENTA}
        self.add("momentum", self.group(n for n in MOMENTA if sizes[n] > ROUND_OFF * max(sizes.values())))
        self.add_contacts()
        self.add_probes()
        steps = self.all("step_size")  # iterations, and step sizes if they vary; the last may be cut
        counts = [run.table["iterations"][1:].nunique() for run in self.runs if "iterations" in run.table]
        names = ["iterations"] if max(counts, default=0) > 1 else []
        names += ["step_size"] if len(steps) > 2 and np.ptp(steps[:-1]) > ROUND_OFF * steps.sum() else []
        self.add("steps", [self.panel([name]) for name in names])
        return self.pictures + of_waves(self)

    def add_energies(self) -> None:
        """Energies above, what changed them below; the sum of the changes is the change of the total."""
        least = ROUND_OFF * self.size("energy")
        there, changes = ([name for name in names if self.size(name) > least] for names in (ENERGIES, LEDGER))
        if not there:
            return
        if len(self.runs) > 1:
            return self.add("energies", [self.panel([name]) for name in there + changes])
        x, total = self.first[self.axis], self.first["energy"]
        above = replace(self.panel(there), y="energy")
        below = replace(above, y="change of energy", curves=[
            Curve(x, LEDGER[name][1] * self.first[name], LEDGER[name][0], i) for i, name in enumerate(changes)])
        below.curves.append(Curve(x, total - total.iloc[0], "total", "black", 1))
        above.curves += [Curve(x, total, "total", "black")] if len(there) > 1 else []
        self.add("energies", [above, below] if changes else [above])

    def add_contacts(self) -> None:
        """Gap, force, friction and impulses of each contact, not of its single points, from shortly before its first
        touch to its last."""
        found = [owner(n) for n in self.names
                 if n.endswith(".gap") and "[" not in n and f"{owner(n)}.force" in self.names]
        found.sort(key=lambda name: -self.size(f"{name}.step_impulse"))
        for name in self.few(found, "contacts, those with the largest impulses"):
            parts = [f"{name}.{part}" for part in ("force", "friction", "impulse")]
            panels = [self.panel([part]) for part in [f"{name}.gap", *(p for p in parts if self.size(p) > 0.0)]]
            for panel in panels:
                panel.xlim = self.touch(parts) or panel.xlim
            self.add(f"contact_{name}", panels)

    def touch(self, parts: Sequence[str]) -> Optional[tuple[float, float]]:
        """The time of contact with some time about it; None if that is most of the run."""
        times = [run.table["t"][(run.table[[p for p in parts if p in run.table]].fillna(0) != 0).any(axis=1)]
                 for run in self.runs if self.axis == "t"]
        touched, whole = np.concatenate([np.zeros(0), *times]), self.all(self.axis)
        if not touched.size or np.ptp(touched) > 0.5 * np.ptp(whole):
            return None
        about = 0.2 * max(np.ptp(touched), 0.02 * np.ptp(whole))
        return max(touched.min() - about, whole.min()), min(touched.max() + about, whole.max())

    def add_probes(self) -> None:
        """One picture of what each probe recorded, its phases and its path; of statics its load path."""
        gaps = {owner(n) for n in self.names if n.endswith(".gap")} - {""}
        names = [n for n in self.names if n not in FIXED and last(n) not in REACTIONS and owner(n) not in gaps
                 and self.all(n).size]
        for who in self.few(list(dict.fromkeys(map(owner, names))), "probes"):
            own = [n for n in names if owner(n) == who]
            if self.axis == "factor":
                panels = [self.panel(["factor"], n) for n in own if self.size(n) > 0.0]
                self.add(f"load_path_{who or 'coordinates'}", panels, 2, shares_x=False)
                continue
            self.add(f"probe_{who}" if who else "coordinates", self.group(own))
            for name in own if not self.options.spectrum else ():
                rate = f"v_{name}" if not who else f"{who}.{RATES.get(last(name), '')}"
                if self.size(rate) > 0.0:
                    self.add(f"phase_{name}", [self.panel([rate], name)])
            # The trajectory in the plane in which the point moves most.
            spans = {n: float(np.ptp(self.all(n))) for n in own if re.fullmatch("u?[xyz]", last(n)) and who}
            moving = [n for n in spans if spans[n] > 1e-3 * max(spans.values())]
            moving = sorted(sorted(moving, key=lambda n: -spans[n])[:2])
            if len(moving) == 2 and not self.options.spectrum:
                self.add(f"path_{who}", [self.panel([moving[1]], moving[0])])


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
            found += [Picture(f"waves_{name}{end}", draw=functools.partial(draw_waves, album, run, waves, name))
                      for name in waves.fields]
    return found


def draw_waves(album: Album, run: Run, waves: Any, name: str, script: Script,
               options: Options) -> tuple[Pen, list[Pen]]:
    """An x-t diagram, with the contact forces beside it. At the horizon is a line: shades would change its colours."""
    values, bodies, table = waves.fields[name], waves.bodies, run.table
    forces = [n for n in table if n.endswith(".force") and "[" not in n and table[n].abs().max() > 0.0][:3]
    width, count = options.width / 2.54, 2 if forces else 1
    figure, axes = script.subplots(1, count, figsize=(width, 0.62 * width), sharey=True, width_ratios=[3, 1][:count])
    ax, axes[0].target.clock = axes[0], "y"
    largest = colour_limit(np.abs(values)) or 1.0
    image = ax.named("image", "pcolormesh", waves.places, waves.times, values, shading="nearest", rasterized=True,
                     vmin=-largest, vmax=largest)
    ax.grid(False)
    ax.set_ylim(waves.times[0], waves.times[-1])
    bar = figure.named("bar", "colorbar", image, ax=ax, location="top", aspect=40,
                       extend="both" if np.nanmax(np.abs(values)) > largest else "neither")
    name_axis(bar.ax.xaxis, name if len(bodies) > 1 else f"{name} of {bodies[0][0]}", units.unit(name))
    name_axis(ax.xaxis, f"position along the {'bodies' if len(bodies) > 1 else 'body'}", "m")
    name_axis(ax.yaxis, "t", "s")
    whole = bodies[-1][2] - bodies[0][1]
    for k, (body, start, end) in enumerate(bodies if len(bodies) > 1 else ()):
        if k > 0:
            ax.axvline(start, color="black", lw=0.6)
        # The name of a short body stands upright, that of a thin one beside it.
        is_thin, is_short = end - start < 0.04 * whole, end - start < 0.018 * len(body) * whole
        ax.annotate(plain(body), (end + 0.005 * whole if is_thin else 0.5 * (start + end), 0.98),
                    xycoords=("data", "axes fraction"), ha="left" if is_thin else "center", va="top", fontsize="small",
                    rotation=90 if is_short else 0)
    for force in forces:
        axes[1].plot(table[force], table["t"], label=plain(owner(force)))
    if (horizon := album.horizon(())) is not None:
        ax.axhline(horizon[0], color="black", ls=":")
        for beside in axes[1:]:
            beside.axhspan(*horizon, **SHADE, label="after the horizon")
    if forces:
        axes[1].margins(y=0)
        name_axis(axes[1].xaxis, "contact force", "N")
    return figure, axes


# ---- Modes ----

def of_modes(album: Album, results: Results) -> list[Picture]:
    """Frequencies of modes, and the shapes of the first ones."""
    table, frames = results.table, results.frames
    frequencies = [Curve(table["mode"], table["f"], style=style) for style in ("bars", "marks")]
    album.add("frequencies", [Panel("mode", "frequency", "", "Hz", frequencies)])
    shown = range(min(len(frames), len(table)))
    chosen = [k for k in shown if table["kind"].iloc[k] != "rigid"] or shown
    album.add("mode_shapes", [shape_panel(table.iloc[k], frames[k]) for k in chosen[:MOST]], 2, False)
    return album.pictures


def shape_panel(row: Any, frame: Any) -> Panel:
    """Components of the displacement over place of a straight body, else the deformed over the undeformed body."""
    moved = frame.point_data["displacement"]
    points, largest = frame.points - moved, np.abs(moved).max() or 1.0
    spread, extent = points - points.mean(axis=0), np.ptp(points, axis=0)
    title = f"mode {int(row['mode'])}: {mode_text(row['kind'], row['f'])}"
    is_straight = np.linalg.svd(spread, compute_uv=False)[1:].max(initial=0.0) <= 1e-6 * np.abs(spread).max()
    if is_straight and len(points) > 2:
        axis = int(np.argmax(extent))
        order = np.argsort(points[:, axis], kind="stable")
        curves = [Curve(points[order, axis], moved[order, i] / largest, f"u{'xyz'[i]}", i, style="points")
                  for i in range(3) if np.abs(moved[:, i]).max() > 1e-6 * largest]
        y = "u"
        if len(curves) == 1:
            y, curves[0].label = curves[0].label, ""
        return Panel("xyz"[axis], f"{y} / largest", "m", "", curves, title=title)
    a, b = sorted(np.argsort(-extent - 1e-3 * np.abs(moved).max(axis=0) / largest, kind="stable")[:2].tolist())
    scale = 0.15 * float(np.linalg.norm(extent)) / largest
    lines = [((points + factor * moved)[frame.cells], colour) for factor, colour in ((0.0, "0.7"), (scale, "C0"))]
    curves = [Curve(line[:, :, a].T, line[:, :, b].T, colour=colour) for line, colour in lines]
    return Panel("xyz"[a], "xyz"[b], "m", "m", curves, title=title, equal=True)


# ---- Studies ----

class Study:
    """Pictures of a table of a study: measures over the first key that varies, a line for each combination of the
    others. Where both axes are logarithmic the slope, fitted by least squares, stands in the legend."""

    def __init__(self, album: Album):
        self.album, self.table = album, album.first
        names = album.names
        self.keys = [key for key in names[:names.index("run")] if key not in ("mesh_factor", "step_factor")]
        self.measures = [n for n in measures_of(names) if numbers(self.table, n).notna().any()]
        varying = [key for key in self.keys if self.table[key].nunique(dropna=False) > 1]
        self.axis = next((key for key in [*varying, *self.keys] if key != "level"), "")  # which has pictures of its own
        self.others = [key for key in varying if key != self.axis]
        # Random points, and perturbed starts: every combination of the others stands once, and no line joins them.
        self.is_scattered = self.axis == "perturbation.seed" or (
            len(self.table) > 3 and bool(self.others) and not self.table.duplicated(self.others).any())
        self.others = [] if self.is_scattered else self.others
        self.is_numeric = bool(self.axis) and bool(numbers(self.table, self.axis).notna().all())

    def pictures(self, measures: Sequence[str], name: str = "") -> list[Picture]:
        """The measures in one picture, or without a name a picture of each; of a refinement every level, too."""
        panels = {f"study_{measure}": self.panel(measure) for measure in measures if self.axis}
        found = [Picture(name, one_legend(list(panels.values())), shares_x=False)] if name and panels else [
            Picture(key, [panel]) for key, panel in panels.items()]
        levels = [(m, self.levels(m)) for m in measures]
        return found + [Picture(f"refine_{m}", panels) for m, panels in levels if panels]

    def spans(self, name: str, measure: str) -> bool:
        """Whether the values that belong to a measure are positive and span so much that their logarithm is drawn."""
        values = numbers(self.table, name)[numbers(self.table, measure).notna()]
        return bool(values.min() > 0.0 and values.max() >= LOG_SPAN * values.min())

    def panel(self, measure: str) -> Panel:
        """One measure."""
        log = ("x" if self.is_numeric and not self.is_scattered and self.spans(self.axis, measure) else "")
        log += "y" if self.spans(measure, measure) else ""
        x_unit = self.album.unit(self.axis) or ("s" if self.axis == "time.step" else "")
        panel = Panel(self.axis, measure, x_unit, self.album.unit(measure), log=log)
        texts = self.table[self.axis].fillna("").astype(str)
        names = list(texts.unique())
        table = self.table.assign(x=self.table[self.axis] if self.is_numeric else texts.map(names.index))
        table["label"] = [", ".join(self.label(key, row[key]) for key in self.others) for _, row in table.iterrows()]
        for i, (label, rows) in enumerate(table.groupby("label", sort=False)):
            rows = rows.sort_values("x", kind="stable")
            slope = fitted_slope(rows["x"], rows[measure]) if log == "xy" else ""
            bound = rows.get(f"{measure}.bound")
            panel.curves.append(Curve(rows["x"], rows[measure], ", ".join(filter(None, (label, slope))), i,
                                      style="points" if self.is_numeric and not self.is_scattered else "marks",
                                      bound=bound if bound is not None and bound.notna().any() else None))
        if len(panel.curves) > MOST_LINES:
            self.album.notes = [f"Drawn are {MOST_LINES} of {len(panel.curves)} combinations of the other keys"]
        panel.curves = panel.curves[:MOST_LINES]
        if not self.is_numeric:
            panel.ticks, panel.names = [float(k) for k in range(len(names))], [n or "-" for n in names]
            panel.xlim = (-0.5, len(names) - 0.5)
        elif "x" in log and len(names) <= 8:
            panel.ticks = sorted(map(float, self.table[self.axis].unique()))
        return panel

    def label(self, key: str, value: Any) -> str:
        """`rho_inf = 0.5`; the type of a part says what it is."""
        shown = "-" if value != value else f"{value:.9g}" if isinstance(value, (int, float)) else str(value)
        is_alone = sum(last(other) == last(key) for other in self.others) == 1
        return shown if last(key) == "type" else f"{last(key) if is_alone else key} = {shown}"

    def levels(self, measure: str) -> list[Panel]:
        """Every level of a refinement: values with the limit, and changes from level to level with their order."""
        factors = [name for name in ("mesh_factor", "step_factor") if name in self.table]
        x_name, unit = " and ".join(name.removesuffix("_factor") for name in factors), self.album.unit(measure)
        above = Panel(f"{x_name}, part of the coarsest", measure, "", unit, log="x")
        below = replace(above, y=f"change of {measure}", log="xy", curves=[])
        points = (self.table["level"] == 0).cumsum() if factors and "level" in self.table else []
        for k, (_, rows) in enumerate(self.table.groupby(points) if len(points) else ()):
            finest, x, y = rows.iloc[-1], 1.0 / rows[factors[0]].to_numpy(float), numbers(rows, measure).to_numpy()
            order, limit, text = (finest.get(f"{measure}.{part}", np.nan) for part in ("order", "limit", "convergence"))
            if len(y) < 2 or np.isnan(y).all() or k >= MOST_LINES:
                continue
            label = ", ".join(self.label(key, finest[key]) for key in self.keys
                              if key != "level" and key in (self.axis, *self.others))
            above.curves.append(Curve(x, y, label, k, style="points"))
            above.ticks = below.ticks = max(above.ticks, x.tolist(), key=len)
            if limit == limit:
                of = ", ".join(filter(None, (label, "limit")))
                above.curves.append(Curve(x[[0, -1]], np.full(2, limit), of, k, 2))
            if np.all(np.abs(np.diff(y)) > 0.0):
                text = f"observed order {order:.2f}" if order == order else text if text == text else ""
                below.curves.append(Curve(x[1:], np.abs(np.diff(y)), ", ".join(filter(None, (label, text))), k,
                                          style="points"))
                below.curves += [triangle(below.curves[0], order)] if k == 0 and order == order else []
        return [panel for panel in (above, below) if panel.curves]


def triangle(curve: Curve, order: float) -> Curve:
    """The triangle of an order below a curve whose points come from right to left; the legend has the number."""
    x, y = np.log(curve.x[::-1]), np.log(curve.y[::-1])
    a, b = x[0] + np.array((0.55, 0.85)) * (x[-1] - x[0])
    low = np.interp(a, x, y) - 1.0
    return Curve(np.exp([a, b, b, a]), np.exp([low, low + order * (b - a), low, low]), colour="0.3")


def fitted_slope(x: Any, y: Any) -> str:
    """`slope 2.00` of log y over log x by least squares; "" for fewer than three points."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    good = np.isfinite(x) & np.isfinite(y) & (x > 0.0) & (y > 0.0)
    if good.sum() < 3 or np.ptp(x[good]) == 0.0:
        return ""
    return f"slope {np.polyfit(np.log(x[good]), np.log(y[good]), 1)[0]:.2f}"


def measures_of(names: Sequence[str]) -> list[str]:
    """Columns of study.csv that are measures, without limits, bounds and orders."""
    after = names[names.index("status") + 1:]
    judged = {name.removesuffix(".convergence") for name in after if name.endswith(".convergence")}
    details = {f"{name}.{detail}" for name in judged for detail in DETAILS}
    return [name for name in after if name != "reason" and name not in details]
