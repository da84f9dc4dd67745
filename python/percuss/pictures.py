"""Which pictures there are: energies, contacts, probes, x-t diagrams and modes; of studies measures and levels."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any, Iterable, Optional, Sequence

import numpy as np

from . import units
from .errors import InputError
from .figure import Curve, Options, Panel, Picture, Run, Script, Source, column

MOST_PICTURES = 8  # of contacts, of probes
MOST_MODES = 8
MOST_LINES = 32  # of combinations
LOG_SPAN = 8.0  # an axis is logarithmic from this ratio of its values on
DETAILS = ("limit", "bound", "order", "convergence")  # of a measure, or of its "mesh" and "step"
ROUND_OFF = 1e-12  # of the largest value of the same unit
LEDGER_ROUND_OFF = 1e-9  # of the largest energy
ENERGIES = ("kinetic", "strain", "potential")
LEDGER = {"external_work": ("external work", ""), "damping_loss": ("damping", "-"), "material_loss": ("materials", "-"),
          "impact_loss": ("impacts", "-"), "friction_loss": ("friction", "-"),
          "correction_work": ("position correction", ""), "numerical_loss": ("numerical loss", "-"),
          "load_work": ("loads", ""), "joint_work": ("joints", ""), "contact_work": ("contacts", ""),
          "friction_work": ("friction", "")}
MOMENTA = ("momentum_x", "momentum_y", "momentum_z")
FIXED = {"t", "step", "min_gap", "factor", "residual", "correction", "active", "iterations", *ENERGIES, *LEDGER,
         *MOMENTA}
REACTIONS = {"fx", "fy", "fz", "mx", "my", "mz", "tangential", "separating", "gap"}
RATES = {"x": "vx", "y": "vy", "z": "vz", "ux": "vx", "uy": "vy", "uz": "vz", "rx": "wx", "ry": "wy", "rz": "wz"}


def owner(name: str) -> str:
    """`tip` of `tip.x`; "" of a column without owner."""
    return name.rpartition(".")[0]


def energy_of(run: Run) -> str:
    """The expression of the sum of energies."""
    there = [name for name in ENERGIES if name in run.table]
    return f"{run.name}[{there!r}].sum(axis=1)"


class Album:
    """The pictures of one or more runs over a common axis."""

    def __init__(self, script: Script, runs: Sequence[Run], options: Options):
        self.script, self.runs, self.options = script, runs, options
        self.first = runs[0].table
        preferred = [name for name in ("t", "factor", "mode") if name in self.first]
        self.axis: str = options.x or (preferred[0] if preferred else str(self.first.columns[0]))
        self.pictures: list[Picture] = []
        self.notes: list[str] = []

    def unit(self, name: str) -> str:
        """The unit of a column, from its table."""
        tables = [run.table for run in self.runs if name in run.table]
        return str(tables[0].attrs.get("units", {}).get(name, units.unit(name))) if tables else units.unit(name)

    def size(self, name: str) -> float:
        """The largest absolute value of a column among the runs; -1 if no run has it."""
        found = [np.abs(self.numbers(run, name)) for run in self.runs if name in run.table]
        return max((float(np.nanmax(values, initial=0.0)) for values in found), default=-1.0)

    @staticmethod
    def numbers(run: Run, name: str) -> Any:
        """A column as numbers; texts are NaN."""
        values = run.table[name]
        if values.dtype == object:
            import pandas
            values = pandas.to_numeric(values, errors="coerce")
        return values.to_numpy(float)

    def flatten(self, name: str, panel: Panel) -> None:
        """Draws a column that is constant but for round-off, or nothing beside others of its unit, as a flat line. An
        axis ends at zero where only round-off lies beyond: a gap of -1e-16 m is no penetration."""
        values = np.concatenate([self.numbers(run, name) for run in self.runs if name in run.table])
        values = values[np.isfinite(values)]
        if not values.size or not np.any(values):
            return
        low, high = float(values.min()), float(values.max())
        size, unit = max(abs(low), abs(high)), self.unit(name)
        alike = [self.size(str(other)) for other in self.first.columns if unit and self.unit(str(other)) == unit]
        whole = max([*alike, size, self.extent() if unit == "m" else 0.0])
        if size <= ROUND_OFF * whole:
            panel.ylim = (-0.01 * whole, 0.01 * whole)
        elif high - low <= ROUND_OFF * size:
            panel.ylim = (0.5 * (low + high) - 0.1 * size, 0.5 * (low + high) + 0.1 * size)
        elif low < 0.0 and -low <= ROUND_OFF * high:
            panel.ylim = (low, None)
        elif high > 0.0 and high <= -ROUND_OFF * low:
            panel.ylim = (None, high)

    def extent(self) -> float:
        """The size of what moved, m, beside which a length is round-off; 0 if the frames do not say it."""
        results = self.runs[0].results
        summary = results.summary if results and results.kind == "run" and results.has("summary.json") else {}
        seen = summary.get("frames") or {}
        return float(np.linalg.norm(np.subtract(seen["high"], seen["low"]))) if "low" in seen else 0.0

    def curve(self, run: Run, name: str, x: str) -> Optional[Curve]:
        """A column of a run over another; None if the run does not have both, with numbers."""
        if name == "energy" and name not in run.table and all(e in run.table for e in ENERGIES) and x in run.table:
            return Curve(column(run, x), energy_of(run), name)
        if name not in run.table or x not in run.table or not np.isfinite(self.numbers(run, name)).any():
            return None
        found = units.quantity(name)
        if found and found.name == "impulse":
            rows = f"{run.name}[{column(run, name)}.fillna(0) != 0]"
            return Curve(f"{rows}[{x!r}]", f"{rows}[{name!r}]", name, style="bars")
        if self.options.spectrum:
            pair = f"spectrum({column(run, x)}, {column(run, name)}, {self.options.spectrum!r})"
            return Curve(f"{pair}[0]", f"{pair}[1]", name)
        return Curve(column(run, x), column(run, name), name)

    def panel(self, names: Sequence[str], x: str) -> Panel:
        """Columns of one run, or one column of several runs, over x; no curves if none has any."""
        found = units.quantity(names[0])
        y = names[0] if len(names) == 1 or found is None else found.name
        unit = "J" if names[0] == "energy" else self.unit(names[0])
        panel = Panel("load factor" if x == "factor" else x, y, self.unit(x), unit)
        for run, name in itertools.product(self.runs, names):
            curve = self.curve(run, name, x)
            if curve is None:
                continue
            number = len(panel.curves) if len(self.runs) == 1 else self.runs.index(run)
            label = run.label if len(self.runs) > 1 else name if len(names) > 1 else ""
            if len(self.runs) == 1 and self.options.labels:
                label = dict(zip(self.wanted, self.options.labels)).get(name, label)
            panel.curves.append(replace(curve, label=label, colour=number))
        if len(names) == 1 and self.options.exact is None and names[0] in self.first:
            self.flatten(names[0], panel)
        if x == "t" and any(curve.style == "bars" for curve in panel.curves):  # of all of the run, not of its impulses
            times = np.concatenate([self.numbers(run, x) for run in self.runs if x in run.table])
            panel.xlim = (float(np.nanmin(times)), float(np.nanmax(times)))
        self.add_exact(names, x, panel)
        if self.options.spectrum:
            panel = replace(panel, x="frequency", x_unit="Hz", y=f"amplitude of {panel.y}", log="y", ylim=None)
        elif x != self.axis or self.options.x:
            panel.equal = self.is_path(names, x)
        return panel

    wanted: Sequence[str] = ()

    def is_path(self, names: Sequence[str], x: str) -> bool:
        """Whether x and the column are two coordinates of the same point."""
        pair = [units.quantity(name) for name in (x, names[0])]
        return len(names) == 1 and owner(x) == owner(names[0]) and all(
            q is not None and q.name in ("position", "displacement") for q in pair) and pair[0] == pair[1]

    def add_exact(self, names: Sequence[str], x: str, panel: Panel) -> None:
        """The exact solution of columns that it has, in black."""
        exact = self.options.exact
        if exact is None or not panel.curves:
            return
        for name in names:
            if name in exact and x in exact:
                if len(panel.curves) == 1 and not panel.curves[0].label:
                    panel.curves[0].label = name
                is_first = not any(c.label == "exact" for c in panel.curves)
                panel.curves.append(Curve(f"exact[{x!r}]", f"exact[{name!r}]", "exact" if is_first else "", -1, 1))

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
            return self.add("energies", [*([name] for name in there), *([name] for name in changes)])
        run, x = self.runs[0], column(self.runs[0], self.axis)
        above = self.panel(there, self.axis)
        above.y, total = "energy", energy_of(run)
        if len(there) > 1:
            above.curves.append(Curve(x, total, "total", -1))
        below = replace(above, y="change of energy", curves=[])
        for i, name in enumerate(changes):
            label, sign = LEDGER[name]
            below.curves.append(Curve(x, sign + column(run, name), label, i))
        if changes:
            below.curves.append(Curve(x, f"{total}.pipe(lambda e: e - e[0])", "total", -1, 1))
        self.pictures.append(Picture("energies", [above, below] if changes else [above]))

    def contacts(self) -> list[str]:
        """Names of contacts, not of their single points: those with a gap and a force."""
        return [owner(n) for n in map(str, self.first.columns)
                if n.endswith(".gap") and "[" not in n and self.size(f"{owner(n)}.force") >= 0.0]

    def add_contacts(self) -> None:
        """Gap, force, friction and impulses of each contact, from shortly before its first touch to its last."""
        found = self.contacts()
        for name in found[:MOST_PICTURES]:
            parts = [f"{name}.{part}" for part in ("force", "friction", "impulse")]
            self.add(f"contact_{name}", [[f"{name}.gap"], *([p] for p in parts if self.size(p) > 0.0)])
            if self.pictures and self.axis == "t":
                span = self.touch(parts)
                for panel in self.pictures[-1].panels if span else ():
                    panel.xlim = span
        if len(found) > MOST_PICTURES:
            self.notes.append(f"Drawn are the first {MOST_PICTURES} of {len(found)} contacts; others by name: NAME.gap "
                              "NAME.force")

    def touch(self, parts: Sequence[str]) -> Optional[tuple[float, float]]:
        """The time of contact with some time about it; None if that is most of the run."""
        times, ends = [], []
        for run in self.runs:
            if "t" in run.table and len(run.table):
                t = self.numbers(run, "t")
                loaded = [np.nan_to_num(self.numbers(run, p)) != 0.0 for p in parts if p in run.table]
                times += list(t[np.any(loaded, axis=0)]) if loaded else []
                ends += [t[0], t[-1]]
        if not times or max(times) - min(times) > 0.5 * (max(ends) - min(ends)):
            return None
        about = 0.2 * max(max(times) - min(times), 0.02 * (max(ends) - min(ends)))
        return max(min(times) - about, min(ends)), min(max(times) + about, max(ends))

    def add_probes(self) -> None:
        """One picture of what each probe recorded, its phases and its path; of statics its load path."""
        gaps = {owner(n) for n in map(str, self.first.columns) if n.endswith(".gap")}
        names = [n for n in map(str, self.first.columns) if n not in FIXED and n.rsplit(".")[-1] not in REACTIONS
                 and (owner(n) not in gaps or not owner(n)) and np.isfinite(self.numbers(self.runs[0], n)).any()]
        owners = list(dict.fromkeys(map(owner, names)))
        for who in owners[:MOST_PICTURES]:
            own = [n for n in names if owner(n) == who]
            if self.axis == "factor":
                self.add_load_path(who, own)
                continue
            self.add(f"probe_{who}" if who else "coordinates", self.group(own))
            for name in own:
                rate = f"v_{name}" if not who else f"{who}.{RATES.get(name.rsplit('.')[-1], '')}"
                if self.size(rate) > 0.0 and not self.options.spectrum:
                    self.add(f"phase_{name}", [[rate]], name)
            self.add_path(who, own)
        if len(owners) > MOST_PICTURES:
            self.notes.append(f"Drawn are the first {MOST_PICTURES} of {len(owners)} probes; others by name: NAME.x "
                              "NAME.vx")

    def add_path(self, who: str, own: Sequence[str]) -> None:
        """The trajectory of a point in the plane in which it moves most, with equal scales."""
        spans = {}
        for name in own:
            if re.fullmatch(r"u?[xyz]", name.rsplit(".")[-1]):
                values = np.concatenate([self.numbers(run, name) for run in self.runs if name in run.table])
                spans[name] = float(np.nanmax(values) - np.nanmin(values))
        moving = [n for n in spans if spans[n] > 1e-3 * max(spans.values())]
        moving = sorted(sorted(moving, key=lambda n: -spans[n])[:2])
        if len(moving) == 2 and who and not self.options.spectrum:
            self.add(f"path_{who}", [[moving[1]]], moving[0])

    def add_load_path(self, who: str, own: Sequence[str]) -> None:
        """The load factor over what each probe shows."""
        own = [n for n in own if self.size(n) > 0.0]
        panels = [self.panel(["factor"], name) for name in own]
        for panel in panels:
            panel.y, panel.equal, panel.ylim = "load factor", False, None
            panel.curves = [replace(curve, style="points") for curve in panel.curves]
        if panels:
            picture = Picture(f"load_path_{who or 'coordinates'}", panels, 2, shares_x=False)
            self.pictures.append(picture)

    def add_steps(self) -> None:
        """Iterations, and step sizes if they vary."""
        counts = [self.numbers(run, "iterations")[1:] for run in self.runs if "iterations" in run.table]
        if any(len(c) and np.ptp(c) > 0 for c in counts):
            self.add("steps", [["iterations"]])
        panel = Panel("t", "step size", "s", "s", log="y")
        is_new = not self.pictures or self.pictures[-1].name != "steps"
        for i, run in enumerate(self.runs):
            if self.axis != "t" or "t" not in run.table:
                return
            label = run.label if len(self.runs) > 1 and is_new else ""
            rows = f"{run.name}[{column(run, 't')}.diff() > 0]"
            panel.curves.append(Curve(f"{rows}['t']", f"{column(run, 't')}.diff()[{column(run, 't')}.diff() > 0]",
                                      label, i))
        steps = [np.diff(self.numbers(run, "t"))[:-1] for run in self.runs]  # the last step may be cut
        if any(len(h) and np.ptp(h) > LEDGER_ROUND_OFF * h.sum() for h in steps):
            if is_new:
                self.pictures.append(Picture("steps"))
            self.pictures[-1].panels.append(panel)


def one_legend(panels: list[Panel]) -> list[Panel]:
    """Labels of the first panel alone: the others have the same colours."""
    seen: set[str] = set()
    for panel in panels:
        panel.curves = [replace(c, label="" if c.label in seen else c.label) for c in panel.curves]
        seen |= {c.label for c in panel.curves}
    return panels


def of_waves(album: Album) -> list[Picture]:
    """An x-t diagram of every field of every *.waves.csv."""
    found = []
    for number, run in enumerate(album.runs):
        for i, waves in enumerate(run.results.waves if run.results and run.results.kind == "run" else ()):
            end = f"_{number + 1}" if len(album.runs) > 1 else ""
            found += [Picture(f"waves_{name}{end}{f'_{i + 1}' if i else ''}", waves=(run, i, name))
                      for name in waves.fields]
    return found


def write_waves(script: Script, picture: Picture) -> None:
    """Lines of an x-t diagram, with the contact forces beside it."""
    from .figure import plain, scaled, si
    assert picture.waves is not None
    run, which, name = picture.waves
    assert run.results is not None
    waves, lines, options = run.results.waves[which], script.lines, script.options
    start = 1 + list(waves.fields).index(name) * len(waves.places)
    largest = float(np.nanmax(np.abs(waves.fields[name]), initial=0.0)) or 1.0
    usual = float(np.nanquantile(np.abs(waves.fields[name]), 0.995))  # a few large values do not bleach the others
    is_cut = 0.0 < usual < largest / 1.2
    largest = usual if is_cut else largest
    factor, unit = si(units.unit(name), largest)
    t_factor, t_unit = si("s", float(waves.times[-1]))
    bodies = waves.bodies
    along = "bodies" if len(bodies) > 1 else "body"
    place, p_unit = si("m", float(np.abs(waves.places).max()))
    forces = [str(n) for n in run.table.columns if str(n).endswith(".force") and "[" not in str(n)
              and np.nanmax(np.abs(Album.numbers(run, str(n))), initial=0.0) > 0.0][:3] if "t" in run.table else []
    table = np.vstack([np.r_[0.0, np.tile(waves.places, len(waves.fields))],
                       np.column_stack([waves.times, *waves.fields.values()])])
    script.sources["waves"] = Source(table, waves.path, "{name} = np.loadtxt({path}, delimiter=',')")
    width = options.width / 2.54
    lines += [f"fig, axes = plt.subplots(1, {2 if forces else 1}, figsize=({width:.4g}, {0.62 * width:.4g}), "
              f"sharey=True, squeeze=False" + (", gridspec_kw={'width_ratios': [3, 1]})" if forces else ")"),
              "ax = axes[0, 0]", f"field = waves[1:, {start}:{start + len(waves.places)}]",
              f"image = ax.pcolormesh({scaled(place, f'waves[0, {start}:{start + len(waves.places)}]')}, "
              f"{scaled(t_factor, 'waves[1:, 0]')}, {scaled(factor, 'field')}, shading='nearest', rasterized=True, "
              f"vmin={-factor * largest:.6g}, vmax={factor * largest:.6g})",
              "ax.grid(False)", f"ax.set_ylabel({f't [{t_unit}]'!r})",
              f"ax.set_xlabel({f'place along the {along} [{p_unit}]'!r})"]
    what = f"{name} of {bodies[0][0]}" if len(bodies) == 1 else name
    lines.append(f"fig.colorbar(image, ax=ax, location='top', aspect=40, "
                 + "extend='both', " * is_cut + f"label={plain(units.join(what, unit))!r})")
    if len(bodies) > 1:
        lines += body_marks(bodies, place)
    for i, force in enumerate(forces):
        f_factor, f_unit = si("N", max(script.largest([column(run, f)]) for f in forces))
        lines.append(f"axes[0, 1].plot({scaled(f_factor, column(run, force))}, {scaled(t_factor, column(run, 't'))}, "
                     f"color='C{i}', label={plain(owner(force))!r})")
    if forces:
        lines += [f"axes[0, 1].set_xlabel({f'contact force [{f_unit}]'!r})", "axes[0, 1].margins(y=0)"]
        script.legends.append((1, "1"))
    if options.title:
        lines.append(f"fig.suptitle({plain(options.title)!r})")


def body_marks(bodies: Sequence[tuple[str, float, float]], factor: float) -> list[str]:
    """Lines between bodies, and their names above; those of short bodies stand upright."""
    from .figure import plain
    lines, whole = [], bodies[-1][2] - bodies[0][1]
    for k, (name, start, end) in enumerate(bodies):
        if k:
            lines.append(f"ax.axvline({factor * start:.6g}, color='black', lw=0.6)")
        turn = ", rotation=90" if (end - start) < 0.018 * len(name) * whole else ""
        is_thin = end - start < 0.04 * whole  # its name stands beside it
        place = factor * (end + 0.005 * whole if is_thin else 0.5 * (start + end))
        lines.append(f"ax.text({place:.6g}, 0.98, {plain(name)!r}, ha={'left' if is_thin else 'center'!r}, va='top', "
                     f"fontsize='small', transform=ax.get_xaxis_transform(){turn})")
    return lines


def of_modes(album: Album) -> list[Picture]:
    """Frequencies of modes, and the shapes of the first ones."""
    run = album.runs[0]
    x, f = column(run, "mode"), column(run, "f")
    frequencies = Panel("mode", "frequency", "", "Hz", [Curve(x, f, style="marks")],
                        after=[f"ax.vlines({x}, 0, {{y}} * {f}, color='C0')",
                               "ax.xaxis.set_major_locator(plt.MaxNLocator(integer=True))"])
    found = [Picture("frequencies", [frequencies])]
    frames = run.results.frames if run.results else []
    if len(frames):
        album.script.sources["frames"] = Source(frames, run.results.folder if run.results else "",
                                                "{name} = percuss.open({path}).frames")
        shown = [k for k in range(len(frames)) if k < len(run.table)]
        shown = [k for k in shown if run.table["kind"].iloc[k] != "rigid"][:MOST_MODES] or shown[:MOST_MODES]
        found.append(Picture("mode_shapes", [shape_panel(run, frames, k) for k in shown], 2, shares_x=False))
    return found


def shape_panel(run: Run, frames: Any, k: int) -> Panel:
    """Components of the displacement over place of a straight body, else the deformed over the undeformed body."""
    frame = frames[k]
    moved = frame.point_data["displacement"]
    points = frame.points - moved
    spread = points - points.mean(axis=0)
    axis = int(np.argmax(np.ptp(points, axis=0)))
    row = run.table.iloc[k]
    said = [row["kind"], f"{row['f']:.4g} Hz"][int(row["kind"] == "vibration"):1 + int(row["f"] > 0.0)]
    title = f"mode {int(row['mode'])}: {', '.join(said)}"
    is_straight = np.linalg.svd(spread, compute_uv=False)[1:].max(initial=0.0) <= 1e-6 * np.abs(spread).max()
    if is_straight and len(points) > 2:
        panel = Panel("xyz"[axis], "u / largest", "m", "", title=title)
        order = np.argsort(points[:, axis], kind="stable")
        largest = np.abs(moved).max() or 1.0
        for i in range(3):
            if np.abs(moved[:, i]).max() > 1e-6 * largest:
                place = f"(frames[{k}].points - frames[{k}].point_data['displacement'])[{order.tolist()}, {axis}]"
                panel.curves.append(Curve(place, f"frames[{k}].point_data['displacement'][{order.tolist()}, {i}]"
                                          f" / {largest:.9g}", f"u{'xyz'[i]}", i, style="points"))
        if len(panel.curves) == 1:
            panel.y, panel.curves[0].label = f"{panel.curves[0].label} / largest", ""
        return panel
    return body_panel(frames, k, points, moved, title)


def body_panel(frames: Any, k: int, points: Any, moved: Any, title: str) -> Panel:
    """The deformed over the undeformed body in the plane of its two widest directions."""
    extent = np.ptp(points, axis=0) + np.abs(moved).max(axis=0) / (np.abs(moved).max() or 1.0) * 1e-3
    a, b = sorted(np.argsort(-extent, kind="stable")[:2].tolist())
    scale = 0.15 * float(np.linalg.norm(np.ptp(points, axis=0))) / (np.abs(moved).max() or 1.0)
    panel = Panel("xyz"[a], "xyz"[b], "m", "m", title=title, equal=True)
    for factor, look in ((-1.0, "color='0.7'"), (scale - 1.0, "color='C0'")):
        shape = f"frames[{k}].points + {factor:.9g} * frames[{k}].point_data['displacement']"
        panel.after.append(f"shape = ({shape})[frames[{k}].cells]")
        panel.after.append(f"ax.plot({{x}} * shape[:, :, {a}].T, {{y}} * shape[:, :, {b}].T, {look})")
    return panel


# ---- Studies ----

class Study:
    """Pictures of a table of a study: measures over the first key that varies, a line for each combination of the
    others. Where both axes are logarithmic the slope, fitted by least squares, stands in the legend."""

    def __init__(self, album: Album):
        self.album, self.run, table = album, album.runs[0], album.runs[0].table
        names = [str(name) for name in table.columns]
        self.keys = [key for key in names[:names.index("run")] if key not in ("mesh_factor", "step_factor")]
        self.measures = [n for n in measures_of(names) if np.isfinite(album.numbers(self.run, n)).any()]
        varying = [key for key in self.keys if table[key].nunique(dropna=False) > 1]
        self.axis = next((key for key in [*varying, *self.keys] if key != "level"), "")  # which has pictures of its own
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
        if not self.others:
            return [()]
        counts = self.run.table.groupby(self.others, sort=False, dropna=False).size()
        left = counts.iloc[MOST_LINES:].sum()
        note = f"Drawn are the first {MOST_LINES} combinations of the other keys; {left} rows are left out"
        if left and note not in self.album.notes:
            self.album.notes.append(note)
        return list(counts.iloc[:MOST_LINES].reset_index()[self.others].astype(object).itertuples(False, None))

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
            panel.after += self.triangle(panel.curves[0], slope)
        return panel

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
                    below.after += self.triangle(below.curves[0], float(order))
        return [above, below] if below.curves else [above]

    def triangle(self, curve: Curve, slope: float) -> list[str]:
        """The triangle of a slope below the curve, with its sides 1 and the order."""
        if not 0.05 < abs(slope) < 20.0:
            return []
        x, y = (self.album.script.values(expression) for expression in (curve.x, curve.y))
        good = np.argsort(x)[np.isfinite(y[np.argsort(x)])]
        a, b = (float(x.min() * (x.max() / x.min()) ** part) for part in (0.55, 0.85))
        low = 0.35 * float(np.exp(np.interp(np.log(a), np.log(x[good]), np.log(y[good]))))
        high = low * (b / a) ** slope
        corner = (b, low) if slope > 0 else (a, high)
        look = "fontsize='small', color='0.3')"
        return [f"ax.plot([{a:.6g}, {b:.6g}, {corner[0]:.6g}, {a:.6g}], [{{y}} * {low:.6g}, {{y}} * {high:.6g}, "
                f"{{y}} * {corner[1]:.6g}, {{y}} * {low:.6g}], color='0.3', lw=0.8)",
                f"ax.text({(a * b) ** 0.5:.6g}, {{y}} * {min(low, high):.6g}, '1', ha='center', va='top', {look}",
                f"ax.text({corner[0]:.6g}, {{y}} * {(low * high) ** 0.5:.6g}, ' {slope:.2f}', va='center', {look}"]


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
    known = set(after)
    return [name for name in after if name != "reason" and not any(
        name.endswith(f".{d}") and name[:-len(d) - 1].removesuffix(".mesh").removesuffix(".step") in known
        and f"{name[:-len(d) - 1].removesuffix('.mesh').removesuffix('.step')}.convergence" in known for d in DETAILS)]
