"""Calibration: parameters of a case that reproduce measured data best, by least squares.

With r the differences of model and data, J their derivatives by the n parameters, N values and s^2 = r r/(N - n), the
covariance of the parameters is s^2 (J^T J)^-1. An interval is the estimate +- t deviation, with Student's t for N - n
degrees of freedom. That holds for errors of the data that are independent, normal and of one size in each column;
columns are weighed by their sizes.
"""

import functools
import json
import math
import os
import sys
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
import pandas

from . import units
from .command import COULD_NOT_GO_ON, DONE, Parser
from .errors import InputError, SimulationError
from .formula import read_signal, times_of
from .pool import MOST_JOBS, Ended, Pool, Runs
from .results import open as open_results, read_table
from .text import Path, assignments, folder_of, real, suggest, whole, write_file

Array = np.ndarray[Any, Any]
STEP = 1e-3  # of central differences, over the range of a parameter: steps of time make finer ones rough
# Smallest singular value of J with columns of length 1 that still tells all parameters apart: differences of second
# order leave 1e-6 where two parameters act alike.
LEAST_SINGULAR = 1e-4


class Parameter(NamedTuple):
    """A key of the case with its bounds and first guess."""

    key: str
    low: float
    high: float
    start: float

    @classmethod
    def of(cls, key: str, *numbers: float) -> "Parameter":
        """Bounds, or bounds and the first guess."""
        low, high, start = [*numbers, 0.5 * sum(numbers)][:3] if len(numbers) in (2, 3) else (0.0, 0.0, 0.0)
        if not low <= start <= high or not -math.inf < low < high < math.inf:
            raise InputError(f"parameter {key}: expected low:high or low:high:guess, with bounds that rise and hold "
                             "the guess")
        return cls(key, low, high, start)


class Fit(NamedTuple):
    """Result of a fit."""

    #: value, deviation, low and high of the confidence interval, unit, and why it is not to be trusted, by parameter
    estimates: pandas.DataFrame
    correlation: Array  #: [n, n] of the parameters
    table: pandas.DataFrame  #: t, and data, model and residual of every column
    rms: dict[str, float]  #: root of the mean square residual of every column
    confidence: float
    runs: int  #: that were made
    folder: str  #: of the run at the estimate

    @property
    def is_identified(self) -> bool:
        """Whether the data determine every parameter."""
        return not self.estimates["note"].any()

    def __repr__(self) -> str:
        heads = {"value": "estimate", "low": f"{100 * self.confidence:g} % from", "high": "to"}
        shown = self.estimates.drop(columns="note").rename(columns=heads)
        lines = [shown.to_string(float_format="{:.8g}".format)]
        lines += [f"{key} cannot be identified: {note}" for key, note in self.estimates["note"].items() if note]
        lines += [f"{name}: rms residual {value:.4g} {units.unit(name)}".rstrip() for name, value in self.rms.items()]
        return "\n".join(lines)


class _Problem:
    """Residuals and their derivatives; u in [0, 1] stands for the range of a parameter."""

    def __init__(self, runs: Runs, parameters: list[Parameter], data: pandas.DataFrame, jobs: int):
        self.runs, self.parameters, self.data, self.jobs, self.count = runs, parameters, data, jobs, 0
        self.low = np.array([p.low for p in parameters])
        self.span = np.array([p.high for p in parameters]) - self.low

    def lines(self, u: Array) -> list[str]:
        """Values of the parameters, "key=value" each."""
        return [f"{p.key}={x!r}" for p, x in zip(self.parameters, (self.low + self.span * u).tolist())]

    def model(self, u: Array) -> tuple[Ended, Any]:
        """A run and its columns at the times of the data."""
        run, times = self.runs.make(self.lines(u)), self.data.index.to_numpy()
        if not run.is_good:
            return run, None
        history, found = open_results(os.path.join(self.runs.path(run.name), "history.csv")).table, {}
        for name in self.data:
            signal = read_signal(history, name)
            if not len(signal.t) or signal.t[-1] < times[-1] * (1.0 - 1e-9):
                end = f"{signal.t[-1]:g}" if len(signal.t) else "its start"
                raise InputError(f"the data go on to {times[-1]:g} s, '{name}' of the run ends at {end} s")
            found[name] = signal.between(times)
        return run, pandas.DataFrame(found, index=self.data.index)

    def residual(self, model: pandas.DataFrame) -> Array:
        """Differences where there are data, over the size of each column."""
        size = np.sqrt((self.data**2).mean()).replace(0.0, 1.0)
        found: Array = ((model - self.data) / size).to_numpy()[self.data.notna()]
        return found

    def many(self, points: Sequence[Array]) -> list[Array]:
        """Residuals at several points, side by side."""
        self.count += len(points)
        models = dict(Pool(len(points), lambda k: self.model(points[k]), self.jobs).results())
        for k, point in enumerate(points):  # in their order: which one is named does not hang on who ended first
            run = models[k] if isinstance(models[k], Ended) else models[k][0]
            if not run.is_good:
                kind = InputError if run.end == "refused" else SimulationError
                raise kind(f"{', '.join(self.lines(point))}: {run.end}: {run.reason}")
        return [self.residual(models[k][1]) for k in range(len(points))]

    def both(self, *place: float) -> tuple[Array, Array]:
        """Residuals and derivatives, by central differences within the bounds."""
        u, steps = np.array(place), STEP * np.eye(len(place))
        low, high = np.clip(u - steps, 0.0, 1.0), np.clip(u + steps, 0.0, 1.0)  # [n, n] a point in each row
        found = self.many([u, *low, *high])
        columns = [(b - a) / span for a, b, span in zip(found[1:], found[1 + len(u):], np.diag(high - low))]
        return found[0], np.stack(columns, axis=1)


def _notes(parameters: list[Parameter], u: Array, jacobian: Array, covariance: Array) -> list[str]:
    """Why parameters cannot be identified, "" of those that can."""
    notes, deviation = [""] * len(parameters), np.sqrt(np.diag(covariance))
    lengths = np.linalg.norm(jacobian, axis=0)
    for i in np.flatnonzero(lengths <= 1e-9 * max(lengths.max(), 1e-300)):
        notes[i] = "the data do not depend on it"
    there = [i for i in range(len(parameters)) if not notes[i]]
    if there:
        _, singular, vectors = np.linalg.svd(jacobian[:, there] / lengths[there], full_matrices=False)
        for value, vector in zip(singular, vectors):
            group = [there[k] for k in np.flatnonzero(np.abs(vector) > 0.1)]
            if value < LEAST_SINGULAR:
                for i in group:
                    others = " and ".join(parameters[k].key for k in group if k != i)
                    notes[i] = f"changes of it and of {others} act alike on the data"
    for i, p in enumerate(parameters):
        if not notes[i] and deviation[i] > 1.0:
            notes[i] = f"its deviation is larger than its range, {p.low:g} .. {p.high:g}"
            alike = np.abs(covariance[i] / (deviation * deviation[i] + 1e-300))
            notes[i] += "".join(f", and {q.key} acts alike on the data (correlation {alike[k]:.6f})"
                                for k, q in enumerate(parameters) if k != i and alike[k] > 0.99)
        elif not notes[i] and (u[i] < 1e-6 or u[i] > 1.0 - 1e-6):
            notes[i] = f"it lies at a bound of its range, {p.low:g} .. {p.high:g}"
    return notes


def fit(case: Path, parameters: Mapping[str, Sequence[float]], data: Any, columns: Union[str, Sequence[str]], *,
        set: Optional[Mapping[str, Any]] = None, confidence: float = 0.95, jobs: int = 0,
        output: Optional[Path] = None) -> Fit:
    """Finds the parameters of a case, within their bounds, that reproduce columns of the data best.

    `parameters` has (low, high) or (low, high, guess) for each key. `data` is a CSV file or a DataFrame with times in
    the column `t`, or in its first one. `columns` are names of history.csv, or formulas of these, "gauge.stress=name"
    where the data call it `name`. With `output`, fit.json, fit.csv and a plot of the residuals are written there.

    >>> percuss.fit("cases/bar", {"elements.bar.E": (1.8e11, 2.4e11)}, "measured.csv", "gauge.stress")
    """
    from scipy.optimize import least_squares
    from scipy.stats import t as student
    wanted = [Parameter.of(key, *map(float, values)) for key, values in parameters.items()]
    if not wanted or not columns or not 0.0 < confidence < 1.0:
        raise InputError("a fit needs a parameter, a column, and a confidence between 0 and 1")
    measured = _read_data(data, [columns] if isinstance(columns, str) else list(columns))
    freedom = int(measured.count().sum()) - len(wanted)
    if freedom < 1:
        raise InputError(f"{freedom + len(wanted)} values of the data are too few for {len(wanted)} parameters")
    with folder_of(output) as folder:
        runs = Runs(case, folder, assignments(set), history=True, beside=len(os.sched_getaffinity(0)) - 1)
        problem = _Problem(runs, wanted, measured, jobs)
        start = (np.array([p.start for p in wanted]) - problem.low) / problem.span
        both = functools.lru_cache(maxsize=1)(problem.both)  # it is asked for one part after the other
        u = least_squares(lambda u: both(*u)[0], start, jac=lambda u: both(*u)[1], bounds=(0.0, 1.0), x_scale=1.0,
                          xtol=1e-8, ftol=1e-10, gtol=1e-10, max_nfev=100).x
        residual, jacobian = both(*u)
        best, model = problem.model(u)
        covariance = float(residual @ residual) / freedom * np.linalg.pinv(jacobian.T @ jacobian)
        deviation = np.sqrt(np.diag(covariance))
        notes = _notes(wanted, u, jacobian, covariance)
        is_open = ["act" in note or "depend" in note for note in notes]
        value, spread = problem.low + problem.span * u, np.where(is_open, math.inf, deviation * problem.span)
        width = float(student.ppf(0.5 + 0.5 * confidence, freedom))
        estimates = pandas.DataFrame({"value": value, "deviation": spread, "low": value - width * spread,
                                      "high": value + width * spread, "unit": [units.of_key(p.key) for p in wanted],
                                      "note": notes}, index=[p.key for p in wanted])
        with np.errstate(all="ignore"):
            correlation = np.nan_to_num(covariance / np.outer(deviation, deviation))
        parts = {"data": measured, "model": model, "residual": model - measured}
        table = pandas.DataFrame({f"{name}.{what}": part[name] for name in measured for what, part in parts.items()})
        table = table.rename_axis("t").reset_index()
        table.attrs["units"] = {column: units.unit(column.rsplit(".", 1)[0]) for column in table.columns}
        rms = np.sqrt((parts["residual"]**2).mean()).to_dict()
        result = Fit(estimates, correlation, table, rms, confidence, problem.count, runs.path(best.name))
        if output is not None:
            _write(result, folder)
    return result


def _read_data(data: Any, names: list[str]) -> pandas.DataFrame:
    """The measured values of every column over the time."""
    table = data if hasattr(data, "columns") else read_table(data)
    table.attrs.setdefault("path", "the data")
    _, times = times_of(table)
    if not len(times) or times[0] < 0.0:
        raise InputError(f"{table.attrs['path']}: times must rise from 0 or later on")
    wanted = {}
    for name in names:
        column, _, said = name.partition("=")
        if (said or column) not in table:
            raise InputError(f"{table.attrs['path']} has no column '{said or column}'"
                             f"{suggest(said or column, map(str, table.columns))}")
        wanted[column] = table[said or column].to_numpy(dtype=float)
    return pandas.DataFrame(wanted, index=times).replace([math.inf, -math.inf], math.nan)


def _write(result: Fit, folder: str) -> None:
    """fit.json, fit.csv and residuals.png."""
    parameters = json.loads(result.estimates.to_json(orient="index", double_precision=15))
    write_file(os.path.join(folder, "fit.json"), json.dumps(
        {"parameters": parameters, "correlation": result.correlation.tolist(), "rms": result.rms,
         "confidence": result.confidence, "runs": result.runs, "run": os.path.basename(result.folder),
         "is_identified": result.is_identified}, indent=2) + "\n")
    heads = [units.join(name, result.table.attrs["units"].get(name, "")) for name in result.table.columns]
    write_file(os.path.join(folder, "fit.csv"), result.table.to_csv(index=False, header=heads))
    from ._plot import plot
    names = [f"{name}.{what}" for name in result.rms for what in ("data", "model", "residual")]
    plot(result.table, *names, width=18.0).savefig(os.path.join(folder, "residuals.png"), dpi=150)


def main(argv: list[str]) -> int:
    """`percuss fit`: 0 done, 1 a parameter cannot be identified or a run failed, 2 bad input or usage."""
    p = Parser("fit", "Finds parameters of a case that reproduce measured data best, by least squares over parallel "
               "runs.\n\nExit status: 0 done, 1 a parameter cannot be identified, 2 bad input or usage.")
    p.add_argument("case", metavar="CASE", help="a case")
    p.add_argument("--parameter", metavar="path.to.key=LOW:HIGH[:GUESS]", action="append", default=[],
                   help="a key to find within its bounds; may be given several times")
    p.add_argument("--data", metavar="FILE.csv", required=True, help="measured values over the column t")
    p.add_argument("--column", metavar="NAME[=DATA]", action="append", default=[],
                   help="a column of history.csv, or a formula of these; DATA: what the file calls it")
    p.add_argument("--confidence", metavar="P", default="0.95", help="of the intervals [0.95]")
    p.add_usual("fit.json, fit.csv and residuals.png")
    a = p.parse_args(argv)
    parameters: dict[str, list[float]] = {}
    for key, _, numbers in (text.partition("=") for text in a.parameter):
        if key in parameters:
            raise InputError(f"parameter {key} is there twice")
        try:
            parameters[key] = list(map(float, numbers.split(":")))
        except ValueError:
            raise InputError(f"--parameter {key}={numbers}: expected path.to.key=low:high or low:high:guess") from None
    result = fit(a.case, parameters, a.data, a.column, set=dict(line.partition("=")[::2] for line in a.set),
                 confidence=real("--confidence", a.confidence, 0.0, 1.0, "a number between 0 and 1"),
                 jobs=whole("--jobs", a.jobs or "0", 0, MOST_JOBS), output=p.output(a))
    if not a.quiet:
        print(f"{result}\n\n{result.runs} runs; results in {p.output(a)}/fit.json, fit.csv and residuals.png")
    for key, note in result.estimates["note"].items():
        if note:
            print(f"note: {key} cannot be identified: {note}", file=sys.stderr)
    return DONE if result.is_identified else COULD_NOT_GO_ON
