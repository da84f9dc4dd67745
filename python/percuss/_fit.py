"""Calibration: parameters of a case that reproduce measured data best, by least squares.

With r the differences of model and data, J their derivatives by the n parameters, N values and s^2 = r r/(N - n), the
covariance of the parameters is s^2 (J^T J)^-1. An interval is the estimate +- t deviation, with Student's t for N - n
degrees of freedom. That holds for errors of the data that are independent, normal and of one size in each column;
columns are weighed by their sizes.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import units
from .command import COULD_NOT_GO_ON, DONE, Parser, real, whole
from .errors import InputError, SimulationError
from .files import Path, write_file
from .formula import read_signal
from .plan import MOST_JOBS, find_case
from .pool import Broke, Pool, Runs
from .results import open as open_results
from .results import read_table
from .text import assignments, encode, suggest

if TYPE_CHECKING:
    import pandas

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


class Estimate(NamedTuple):
    """What a fit found of a parameter; `note` says why it is not to be trusted, else ""."""

    value: float
    deviation: float
    low: float  #: of the confidence interval
    high: float
    unit: str
    note: str


class Fit(NamedTuple):
    """Result of a fit."""

    estimates: dict[str, Estimate]
    correlation: Array  #: [n, n] of the parameters
    table: pandas.DataFrame  #: t, and data, model and residual of every column
    rms: dict[str, float]  #: root of the mean square residual of every column
    confidence: float
    runs: int  #: that were made
    folder: str  #: of the run at the estimate

    @property
    def is_identified(self) -> bool:
        """Whether the data determine every parameter."""
        return not any(one.note for one in self.estimates.values())

    def __str__(self) -> str:
        width = max(map(len, self.estimates))
        head = f"{100 * self.confidence:g} % interval"
        lines = [f"{'parameter':<{width}} {'estimate':>14} {'deviation':>12}  {head}"]
        for key, one in self.estimates.items():
            interval = f"{one.low:.6g} .. {one.high:.6g} {one.unit}" if math.isfinite(one.deviation) else "none"
            lines.append(f"{key:<{width}} {one.value:14.8g} {one.deviation:12.4g}  {interval}")
        lines += [f"{key} cannot be identified: {one.note}" for key, one in self.estimates.items() if one.note]
        lines += [f"{name}: rms residual {value:.4g} {units.unit(name)}".rstrip() for name, value in self.rms.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html
        return f"<pre>{html.escape(str(self))}</pre>"


class _Problem:
    """Residuals and their derivatives; u in [0, 1] stands for the range of a parameter."""

    def __init__(self, runs: Runs, parameters: list[Parameter], columns: dict[str, Array], times: Array,
                 set_lines: list[bytes], jobs: int):
        self.runs, self.parameters, self.columns, self.times = runs, parameters, columns, times
        self.set_lines, self.jobs, self.count = set_lines, jobs, 0
        self.scales = {name: float(np.sqrt(np.nanmean(x**2))) or 1.0 for name, x in columns.items()}
        self.last: tuple[Optional[bytes], Any] = (None, None)

    def lines(self, u: Array) -> list[bytes]:
        values = [p.low + (p.high - p.low) * x for p, x in zip(self.parameters, u)]
        return self.set_lines + [f"{p.key}={v!r}".encode() for p, v in zip(self.parameters, values)]

    def model(self, u: Array) -> Union[dict[str, Array], str]:
        """The columns at the times of the data, or why there are none."""
        run = self.runs.make(self.lines(u))
        if not run.is_good:
            return f"{run.end}: {run.reason}"
        history = open_results(os.path.join(self.runs.path(run.name), "history.csv")).table
        found = {}
        for name in self.columns:
            signal = read_signal(history, name)
            if not len(signal.t) or signal.t[-1] < self.times[-1] * (1.0 - 1e-9):
                end = f"{signal.t[-1]:g}" if len(signal.t) else "its start"
                raise InputError(f"the data go on to {self.times[-1]:g} s, '{name}' of the run ends at {end} s")
            found[name] = signal.between(signal.row(self.times), self.times)
        return found

    def residual(self, model: Mapping[str, Array]) -> Array:
        parts = [(model[name] - data) / self.scales[name] for name, data in self.columns.items()]
        return np.concatenate([part[np.isfinite(data)] for part, data in zip(parts, self.columns.values())])

    def many(self, points: Sequence[Array]) -> list[Array]:
        """Residuals at several points, side by side."""
        self.count += len(points)
        models = dict(Pool(len(points), lambda k: self.model(points[k]), self.jobs).results())
        for k, point in enumerate(points):  # in their order: which one is named does not hang on who ended first
            if isinstance(model := models[k], (str, Broke)):
                values = ", ".join(line.decode() for line in self.lines(point)[len(self.set_lines):])
                raise SimulationError(f"{values}: {model.reason if isinstance(model, Broke) else model}")
        return [self.residual(models[k]) for k in range(len(points))]

    def both(self, u: Array) -> tuple[Array, Array]:
        """Residuals and derivatives, by central differences within the bounds."""
        if self.last[0] != u.tobytes():
            steps = STEP * np.eye(len(u))
            low, high = np.clip(u - steps, 0.0, 1.0), np.clip(u + steps, 0.0, 1.0)  # [n, n] a point in each row
            found = self.many([u, *low, *high])
            columns = [(b - a) / span for a, b, span in zip(found[1:], found[1 + len(u):], np.diag(high - low))]
            self.last = (u.tobytes(), (found[0], np.stack(columns, axis=1)))
        residual, jacobian = self.last[1]
        return residual, jacobian


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


def parse_parameter(text: str) -> Parameter:
    """"elements.bar.E=1.8e11:2.4e11", or with the first guess behind another colon."""
    key, sign, values = text.partition("=")
    try:
        numbers = [float(x) for x in values.split(":")]
    except ValueError:
        numbers = []
    if not key or not sign or len(numbers) not in (2, 3) or not all(map(math.isfinite, numbers)):
        raise InputError(f"--parameter {text}: expected path.to.key=low:high or low:high:guess")
    low, high = numbers[:2]
    start = numbers[2] if len(numbers) == 3 else 0.5 * (low + high)
    if not low < high or not low <= start <= high:
        raise InputError(f"--parameter {text}: the bounds must rise and hold the guess")
    return Parameter(key, low, high, start)


def fit(case: Path, parameters: Mapping[str, Sequence[float]], data: Any, columns: Union[str, Sequence[str]], *,
        set: Optional[Mapping[str, Any]] = None, confidence: float = 0.95, jobs: int = 0,
        output: Optional[Path] = None) -> Fit:
    """Finds the parameters of a case, within their bounds, that reproduce columns of the data best.

    `parameters` has (low, high) or (low, high, guess) for each key. `data` is a CSV file or a DataFrame with times in
    the column `t`, or in its first one. `columns` are names of history.csv, or formulas of these, "gauge.stress=name"
    where the data call it `name`. With `output`, fit.json, fit.csv and a plot of the residuals are written there.

    >>> percuss.fit("cases/bar", {"elements.bar.E": (1.8e11, 2.4e11)}, "measured.csv", "gauge.stress")
    """
    import tempfile
    given = [f"{key}=" + ":".join(map(repr, map(float, values))) for key, values in parameters.items()]
    names = [columns] if isinstance(columns, str) else list(columns)
    with tempfile.TemporaryDirectory(prefix="percuss-") as folder:
        result = _fit(find_case(os.fspath(case)), given, data, names, assignments(set), confidence, jobs,
                      folder if output is None else os.fspath(output))
    if output is not None:
        _write(result, os.fspath(output))
    return result


def _fit(case: str, given: Sequence[str], data: Any, names: list[str], lines: Sequence[str], confidence: float,
         jobs: int, folder: str) -> Fit:
    import pandas
    from scipy.optimize import least_squares
    from scipy.stats import t as student
    parameters = [parse_parameter(text) for text in given]
    if not parameters or not names or not 0.0 < confidence < 1.0:
        raise InputError("a fit needs a parameter, a column, and a confidence between 0 and 1")
    if len({p.key for p in parameters}) < len(parameters):
        raise InputError("a parameter is there twice")
    times, wanted = _read_data(data, names)
    runs = Runs(case, folder, keep=False, history=True, beside=len(os.sched_getaffinity(0)) - 1)
    problem = _Problem(runs, parameters, wanted, times, [encode(line, "set") for line in lines], jobs)
    start = np.array([(p.start - p.low) / (p.high - p.low) for p in parameters])
    found = least_squares(lambda u: problem.both(u)[0], start, jac=lambda u: problem.both(u)[1], bounds=(0.0, 1.0),
                          x_scale=1.0, xtol=1e-8, ftol=1e-10, gtol=1e-10, max_nfev=100)
    residual, jacobian = problem.both(found.x)
    freedom = len(residual) - len(parameters)
    if freedom < 1:
        raise InputError(f"{len(residual)} values of the data are too few for {len(parameters)} parameters")
    covariance = float(residual @ residual) / freedom * np.linalg.pinv(jacobian.T @ jacobian)
    deviation = np.sqrt(np.diag(covariance))
    notes = _notes(parameters, found.x, jacobian, covariance)
    width = float(student.ppf(0.5 + 0.5 * confidence, freedom))
    estimates = {}
    for p, u, d, note in zip(parameters, found.x, deviation, notes):
        value, spread = p.low + (p.high - p.low) * u, (math.inf if "act" in note or "depend" in note else
                                                       float(d) * (p.high - p.low))
        estimates[p.key] = Estimate(float(value), spread, float(value) - width * spread, float(value) + width * spread,
                                    units.of_key(p.key), note)
    with np.errstate(all="ignore"):
        correlation = np.nan_to_num(covariance / np.outer(deviation, deviation))
    model = problem.model(found.x)
    assert isinstance(model, dict)
    best = runs.make(problem.lines(found.x))
    table = pandas.DataFrame({"t": times, **{f"{name}.{what}": values for name in wanted for what, values in (
        ("data", wanted[name]), ("model", model[name]), ("residual", model[name] - wanted[name]))}})
    table.attrs["units"] = {column: units.unit(column.rsplit(".", 1)[0]) for column in table.columns}
    rms = {name: float(np.sqrt(np.nanmean(table[f"{name}.residual"]**2))) for name in wanted}
    return Fit(estimates, correlation, table, rms, confidence, problem.count, runs.path(best.name))


def _read_data(data: Any, names: list[str]) -> tuple[Array, dict[str, Array]]:
    """Times, and the measured values of every column."""
    table = data if hasattr(data, "columns") else read_table(data)
    table.attrs.setdefault("path", "the data")
    axis = "t" if "t" in table else table.columns[0]
    wanted = {}
    for name in names:
        column, _, said = name.partition("=")
        if (said or column) not in table:
            raise InputError(f"{table.attrs['path']} has no column '{said or column}'"
                             f"{suggest(said or column, map(str, table.columns))}")
        wanted[column] = table[said or column].to_numpy(dtype=float)
    times = table[axis].to_numpy(dtype=float)
    if not len(times) or not np.all(np.diff(times) >= 0.0) or times[0] < 0.0:
        raise InputError(f"{table.attrs['path']}: column '{axis}' must hold times that rise from 0 or later on")
    return times, wanted


def _write(result: Fit, folder: str) -> None:
    """fit.json, fit.csv and residuals.png."""
    parameters = {key: {name: None if isinstance(x, float) and not math.isfinite(x) else x
                        for name, x in one._asdict().items()} for key, one in result.estimates.items()}
    write_file(os.path.join(folder, "fit.json"), json.dumps(
        {"parameters": parameters, "correlation": result.correlation.tolist(), "rms": result.rms,
         "confidence": result.confidence, "runs": result.runs, "run": os.path.basename(result.folder),
         "is_identified": result.is_identified}, indent=2) + "\n")
    heads = [units.join(name, result.table.attrs["units"].get(name, "")) for name in result.table.columns]
    write_file(os.path.join(folder, "fit.csv"), result.table.to_csv(index=False, header=heads))
    plot_residuals(result).savefig(os.path.join(folder, "residuals.png"), dpi=150)


def plot_residuals(result: Fit) -> Any:
    """Data with the model, and the residuals below, for every column: a matplotlib figure."""
    from ._plot import plot
    names = [f"{name}.{what}" for name in result.rms for what in ("data", "model", "residual")]
    return plot(result.table, *names, width=18.0)


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
    p.add_argument("-j", "--jobs", metavar="N", default="0", help="runs at a time, 0: the number of processors [0]")
    p.add_argument("-o", "--output", metavar="DIR", help="where fit.json, fit.csv and residuals.png go "
                   "[results/<case>_fit]")
    p.add_argument("--set", metavar="path.to.key=value", action="append", default=[], help="a value of all runs")
    p.add_argument("-q", "--quiet", action="store_true", help="nothing on the screen")
    a = p.parse_args(argv)
    confidence = real("--confidence", a.confidence, 0.0, 1.0, "a number between 0 and 1")
    case = find_case(a.case)
    folder = a.output or os.path.join("results", os.path.splitext(os.path.basename(os.path.normpath(case)))[0] + "_fit")
    result = _fit(case, a.parameter, a.data, a.column, a.set, confidence, whole("--jobs", a.jobs, 0, MOST_JOBS), folder)
    _write(result, folder)
    if not a.quiet:
        print(f"{result}\n\n{result.runs} runs; results in {folder}/fit.json, fit.csv and residuals.png")
    for key, one in result.estimates.items():
        if one.note:
            print(f"note: {key} cannot be identified: {one.note}", file=sys.stderr)
    return DONE if result.is_identified else COULD_NOT_GO_ON
