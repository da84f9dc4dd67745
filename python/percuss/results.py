"""Runs with results, studies, and plots of them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._handle import assignments, encode, text_of
from ._library import program
from .errors import InputError, Message, SimulationError
from .simulation import Simulation, load

Path = Union[str, os.PathLike]


class Table(Mapping):
    """Columns by name: arrays of numbers, or of texts."""

    def __init__(self, columns: Mapping[str, np.ndarray]):
        self._columns = dict(columns)

    @classmethod
    def read(cls, path: Path) -> "Table":
        """From a CSV file with a line of names; lines that begin with # are left out."""
        with open(path, newline="", encoding="utf-8") as file:
            lines = [line for line in csv.reader(row for row in file if not row.startswith("#"))]
        names, rows = lines[0], lines[1:]
        return cls({name: _column([row[i] if i < len(row) else "" for row in rows]) for i, name in enumerate(names)})

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._columns:
            raise KeyError(f"there is no column {name!r}; there are: {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    def to_pandas(self):
        """The same as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(self._columns)

    def __repr__(self):
        rows = len(next(iter(self._columns.values()), ()))
        return f"<Table, {rows} rows: {', '.join(self._columns)}>"


def _column(texts: Sequence[str]) -> np.ndarray:
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts)


class Results:
    """What a run has left: `history` and `summary` as the program writes them, `frames` as arrays."""

    def __init__(self, simulation: Simulation, directory: str, frames: list):
        self.simulation = simulation  #: at its end
        self.directory: Optional[str] = directory  #: where the files are; None: they were not kept
        self.frames: list = frames  #: a percuss.Frame each
        self.cells: np.ndarray = simulation.cells
        path = os.path.join(directory, "history.csv")
        self.history = Table.read(path) if os.path.exists(path) else Table({})
        self.summary: dict = {}
        path = os.path.join(directory, "summary.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.summary = json.load(file)

    @property
    def times(self) -> np.ndarray:
        """Times of the frames, s."""
        return np.array([frame.time for frame in self.frames])

    @property
    def displacements(self) -> np.ndarray:
        """Displacements of the frames, [frames, points, 3], m."""
        return np.array([frame.displacement for frame in self.frames])

    def __repr__(self) -> str:
        rows = len(next(iter(self.history.values()), ()))
        return f"<Results, t = {self.simulation.time:g} s, {rows} rows of history, {len(self.frames)} frames>"


def run(case: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None, *, text: Optional[str] = None,
        system: Any = None, output: Optional[Path] = None, frames: int = 0) -> Results:
    """Runs a case to its end. Files go to `output`; without it they are read and not kept. `frames` > 0 takes a frame
    at the start and after every so many steps."""
    if not isinstance(frames, (int, np.integer)) or frames < 0:
        raise InputError(f"frames must be a whole number >= 0, is {frames!r}")
    simulation = load(case, set, text=text, system=system)
    taken = [simulation.frame()] if frames else []

    def watch(sim: Simulation) -> None:
        if sim.steps % frames == 0:
            taken.append(sim.frame())

    def finish(directory: str) -> Results:
        simulation.run(directory, watch=watch if frames else None)
        return Results(simulation, directory, taken)

    if output is not None:
        return finish(os.fspath(output))
    with tempfile.TemporaryDirectory(prefix="percuss-") as directory:
        results = finish(os.path.join(directory, "results"))
    results.directory = None
    return results


def study(case: Path, vary: Optional[Mapping[str, Any]] = None, *, set: Optional[Mapping[str, Any]] = None,
          refine: Optional[str] = None, measure: Sequence[str] = (), output: Optional[Path] = None,
          jobs: Optional[int] = None) -> Table:
    """A case over values of its keys, by `percuss study`: its table. Values are a sequence, or a text as the program
    takes it ("0.5:1:0.1"). Without `output` nothing is kept."""
    if output is None:
        with tempfile.TemporaryDirectory(prefix="percuss-") as directory:
            return study(case, vary, set=set, refine=refine, measure=measure, jobs=jobs,
                         output=os.path.join(directory, "study"))
    command = [program(), "study", os.fsdecode(encode(case, "case")), "-o", os.fspath(output), "--quiet"]
    for key, values in (vary or {}).items():
        listed = values if isinstance(values, str) else ",".join(text_of(value) for value in values)
        command += ["--vary", f"{key}={listed}"]
    for line in assignments(set):
        command += ["--set", line]
    for line in measure:
        command += ["--measure", line]
    command += ["--refine", refine] if refine is not None else []
    command += ["--jobs", str(int(jobs))] if jobs is not None else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError("the program percuss is not found; name it in PERCUSS_PROGRAM") from None
    path = os.path.join(output, "study.csv")
    if done.returncode == 2 or not os.path.exists(path):
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line]
        kind = InputError if done.returncode == 2 else SimulationError
        raise kind("\n".join(lines), [Message("", 0, 0, line) for line in lines])
    return Table.read(path)


def plot(results: Union[Results, Mapping[str, np.ndarray]], *columns: str, x: Optional[str] = None, axes: Any = None):
    """Columns of a history or table over `x`, its first column unless told, by matplotlib. Gives the axes."""
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("percuss.plot needs matplotlib; the program makes pictures by gnuplot") from None
    table = results.history if isinstance(results, Results) else results
    x = x or next(iter(table))
    axes = axes if axes is not None else pyplot.subplots()[1]
    for name in columns:
        axes.plot(table[x], table[name], label=name)
    axes.set_xlabel(x)
    axes.legend()
    return axes
