"""Results in a folder, and runs that leave them.

>>> results = percuss.open("results/bar_impact")
>>> results.history["wall.force"].max(), results.history.attrs["units"]["wall.force"]
"""

from __future__ import annotations

import csv
import functools
import html
import io
import os
import re
import shutil
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from . import units
from .errors import InputError
from .simulation import Simulation, load
from .text import Path, errors_of, folder_of, read_json, read_text, whole

if TYPE_CHECKING:
    import pandas

COLUMNS = {"run": ("t",), "study": ("run", "status"), "statics": ("step", "factor", "residual"),
           "modes": ("mode", "f", "kind")}  # that a table has
TABLES = {"history.csv": "run", "study.csv": "study", "statics.csv": "statics", "modes.csv": "modes"}


def read_table(path: Path, texts: Sequence[str] = ()) -> pandas.DataFrame:
    """A CSV file with a line of names as a DataFrame; lines that begin with # are left out. `attrs["units"]` has the
    units of the columns, from their names: `force [N]` becomes the column `force` with the unit N. Columns are
    numbers, but for `texts`; `["*"]` allows texts in all. Files that Percuss wrote end with a line end."""
    import pandas

    where = os.fspath(path)
    text = read_text(path)
    if os.path.basename(where) in TABLES and not text.endswith("\n"):
        raise InputError(f"{where}: damaged: the last line is cut")
    if text.startswith("#") or "\n#" in text:
        text = "".join("\n" if line.startswith("#") else line for line in text.splitlines(keepends=True))
    if not text.strip():
        raise InputError(f"{where}: empty, needs a line of names")
    names = _names_of(where, text)
    with errors_of(where):
        found = pandas.read_csv(io.StringIO(text), float_precision="round_trip", keep_default_na=False,
                                na_values=[""], index_col=False)
    known = dict(units.split(name) for name in names)
    found.columns = pandas.Index(list(known) if len(known) == len(names) else names)
    for name in found.columns:
        if found[name].dtype == object and len(found) and name not in texts and "*" not in texts:
            numbers = pandas.to_numeric(found[name], errors="coerce")
            row = int((numbers.isna() & found[name].notna()).to_numpy().argmax())
            raise InputError(f"{where}: row {row + 1} of column '{name}': {str(found[name].iloc[row])[:40]!r} is no "
                             "number")
    found.attrs["units"] = {name: units.unit(name) if said is None else said for name, said in known.items()}
    found.attrs["path"] = where
    return found


def _names_of(where: str, text: str) -> list[str]:
    """The names of the columns, after every row was seen to have as many fields."""
    rows, names, nline = csv.reader(io.StringIO(text), strict=True), list[str](), 0
    is_good = '"' not in text and len({line.count(",") for line in text.split("\n") if line}) == 1
    try:
        for row in filter(None, rows):
            names, nline = names or row, rows.line_num
            if len(row) != len(names):
                raise InputError(f"{where}:{rows.line_num}: {len(row)} field{'s' * (len(row) != 1)} where the head "
                                 f"names {len(names)} columns")
            if is_good:
                break
    except csv.Error as error:
        what = str(error) if '"' not in text else 'a quote (") is not closed, or stands within a field'
        raise InputError(f"{where}:{nline + 1}: damaged: {what}") from None
    if len(set(names)) < len(names):
        raise InputError(f"{where}: two columns are called '{max(names, key=names.count)[:80]}'")
    return names


def kind_of(table: pandas.DataFrame) -> str:
    """"study", "modes", or "" of what is over time or load."""
    if {"run", "status"} <= set(table.columns):
        return "study"
    return "modes" if list(table.columns[:3]) == ["mode", "w", "f"] else ""


class Waves(NamedTuple):
    """Fields of a body, or of bodies along a line, over position and time."""

    body: str
    places: np.ndarray[Any, Any]  #: [places] distance along the body, m
    times: np.ndarray[Any, Any]  #: [times] s
    fields: dict[str, np.ndarray[Any, Any]]  #: [times, places] each
    path: str = ""

    @property
    def bodies(self) -> list[tuple[str, float, float]]:
        """Name, start and end of each body, m; several are named with their numbers of places: `a (60), b (400)`."""
        found = re.findall(r"(.+?) \((\d+)\)(?:, |$)", self.body)
        counts = [int(count) for _, count in found]
        if sum(counts) != len(self.places):
            found, counts = [(self.body, "")], [len(self.places)]
        ends = np.cumsum(counts)
        parts = [self.places[end - count:end] for count, end in zip(counts, ends)]
        halves = [(0.5 * (p[1] - p[0]), 0.5 * (p[-1] - p[-2])) if len(p) > 1 else (0.0, 0.0) for p in parts]
        return [(name, float(p[0] - a), float(p[-1] + b)) for (name, _), p, (a, b) in zip(found, parts, halves)]


def read_waves(path: Path) -> Waves:
    """A file <case>.waves.csv."""
    where, text = os.fspath(path), read_text(path)
    head, _, rows = text.partition("\n")
    with errors_of(where):
        words = head.removeprefix("# percuss waves: body ").rsplit(", ", 2)
        body, count, names = words[0], int(words[1].split()[0]), words[2].split()[1:]
        numbers = np.array([[float(x) for x in row.split(",")] for row in rows.splitlines()], dtype=float)
        if numbers.shape[1] != 1 + count * len(names) or not names or not text.endswith("\n"):
            raise ValueError("it is no matrix of waves")
    fields = {name: numbers[1:, 1 + i * count:1 + (i + 1) * count] for i, name in enumerate(names)}
    return Waves(body, numbers[0, 1:1 + count], numbers[1:, 0], fields, where)


class Results:
    """Results of a run, a study, an equilibrium or modes. Files are read when they are asked for; one that is missing
    or damaged raises InputError with its name."""

    def __init__(self, folder: Path, kind: str, simulation: Optional[Simulation] = None,
                 frames: Optional[Sequence[Any]] = None):
        self.folder = os.fspath(folder)  #: path of the folder; it is gone if `run` had no `output`
        self.kind = kind  #: "run", "study", "statics", "modes", or "table" for a CSV file of other origin
        self.simulation = simulation  #: at its end, of `run`; else None
        self._frames = frames

    def path(self, name: str) -> str:
        """Path of a file of the folder."""
        return os.path.join(self.folder, name)

    def has(self, name: str) -> bool:
        """Whether the folder has a file."""
        return os.path.isfile(self.path(name))

    @functools.cached_property
    def table(self) -> pandas.DataFrame:
        """The table of the kind: history.csv, study.csv, statics.csv or modes.csv; units are in `attrs["units"]`."""
        if self.kind == "table":
            return read_table(self.folder, texts=["*"])
        name = next(name for name, kind in TABLES.items() if kind == self.kind)
        texts = {"study": ["*"], "modes": ["kind", "name"]}.get(self.kind, ())
        found = read_table(self.path(name), texts)
        missing = [column for column in COLUMNS[self.kind] if column not in found]
        if missing or (found.empty and self.kind in ("statics", "modes")):
            what = f"no column '{missing[0]}'" if missing else "no rows"
            raise InputError(f"{self.path(name)}: damaged: not the table of a {self.kind}: {what}")
        return found

    @property
    def history(self) -> pandas.DataFrame:
        """history.csv: a row per step; cells that are empty are NaN."""
        if self.kind != "run":
            raise InputError(f"{self.folder}: {self.kind} results have no history.csv")
        return self.table

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """summary.json of a run or study.json of a study; {} if the kind has none."""
        name = {"run": "summary.json", "study": "study.json"}.get(self.kind)
        return read_json(self.path(name)) if name else {}

    @functools.cached_property
    def frames(self) -> Sequence[Any]:
        """Frames: those that `run(frames=..)` took (percuss.Frame), else those of the folder (percuss.frames)."""
        if self._frames is not None:
            return self._frames
        from .frames import Frames
        found: Sequence[Any] = Frames(self.folder)
        return found

    @functools.cached_property
    def waves(self) -> list[Waves]:
        """Fields of bodies over position and time, of the observer `waves`."""
        with errors_of(self.folder):
            names = sorted(name for name in os.listdir(self.folder) if name.endswith(".waves.csv"))
        return [read_waves(self.path(name)) for name in names]

    @functools.cached_property
    def case(self) -> str:
        """The case as it was solved, case.resolved.yaml."""
        return read_text(self.path("case.resolved.yaml"))

    @property
    def name(self) -> str:
        """Name of the case."""
        is_there = "summary" in vars(self) or self.has("summary.json")  # read before its folder went, or to be read
        said = self.summary.get("case") if self.kind == "run" and is_there else None
        if isinstance(said, str):
            return said
        name = self.summary.get("case", self.folder) if self.kind == "study" else self.folder
        return os.path.basename(os.path.normpath(str(name))) or "case"

    @property
    def times(self) -> np.ndarray[Any, Any]:
        """Times of the frames, s."""
        times = getattr(self.frames, "times", None)
        return np.array([frame.time for frame in self.frames] if times is None else times)

    @property
    def displacements(self) -> np.ndarray[Any, Any]:
        """Displacements of the frames that `run(frames=..)` took, [frames, points, 3], m."""
        return np.array([frame.displacement for frame in self.frames])

    def __repr__(self) -> str:
        return f"<Results of a {self.kind} in {self.folder}: {len(self.table)} rows>"

    def _repr_html_(self) -> str:
        table = self.table
        heads = [units.join(name, table.attrs["units"].get(name, "")) for name in table.columns]
        shown = table.set_axis(heads, axis="columns").to_html(max_rows=10, max_cols=12, border=0)
        return f"<p><b>{html.escape(self.name)}</b>: {self.kind} in {html.escape(self.folder)}</p>{shown}"


def open(folder: Path) -> Results:
    """Results in a folder, or a table in a CSV file."""
    path = os.fspath(folder)
    if os.path.isdir(path):
        kinds = TABLES | {"summary.json": "run", "study.json": "study"}
        kind = next((kind for name, kind in kinds.items() if os.path.isfile(os.path.join(path, name))), None)
        if kind is None:
            raise InputError(f"{path}: no history.csv, study.csv, statics.csv or modes.csv there")
        return Results(path, kind)
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file or folder")
    name = os.path.basename(path)
    return Results(os.path.dirname(path) or ".", TABLES[name]) if name in TABLES else Results(path, "table")


def run(case: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None, *, text: Optional[str] = None,
        system: Any = None, output: Optional[Path] = None, frames: int = 0) -> Results:
    """Runs a case to its end. Files go to `output`; without it they are read and not kept. `frames` > 0 takes a frame
    at the start and after every so many steps."""
    frames = whole("frames", frames, 0)
    simulation = load(case, set, text=text, system=system)
    taken = [simulation.frame()] if frames else []

    def watch(sim: Simulation) -> None:
        if sim.steps % frames == 0:
            taken.append(sim.frame())

    with folder_of(output) as folder:
        simulation.run(folder, watch=watch if frames else None)
        results = Results(folder, "run", simulation, taken if frames or output is None else None)
        if output is not None and results.has("view.json"):
            shutil.copyfile(os.path.join(os.path.dirname(__file__), "view.py"), results.path("view.py"))
        for name, attribute in (("history.csv", "table"), ("summary.json", "summary"), (".", "waves")):
            if output is None and (name == "." or results.has(name)):
                getattr(results, attribute)  # read before the folder goes
    return results
