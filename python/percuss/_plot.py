"""Figures of results: percuss.plot, and the command `percuss plot`."""

import argparse
import io
import os
import re
import warnings
from dataclasses import fields
from functools import partial
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np
import pandas

from . import pictures
from .command import Parser
from .errors import InputError
from .figure import LEGENDS, STYLE, Options, Picture, Run, drawn
from .results import Results, open as open_results
from .text import Path, suggest, write_file

FORMATS = (".svg", ".png", ".pdf")
MOST_KEYS = 3  # that may name what differs between runs


def _differences(runs: Sequence[Optional[Results]]) -> Optional[list[str]]:
    """What differs between the cases, a label each; None if that is nothing, too much, or does not tell them apart."""
    import yaml
    try:
        cases = [yaml.load(run.case, yaml.CSafeLoader) if run is not None else {} for run in runs]
        known = pandas.json_normalize([{key: case[key] for key in case if key not in ("output", "title")}
                                       for case in cases]).astype(str)
    except (InputError, ValueError, TypeError, AttributeError, RecursionError, yaml.YAMLError):
        return None
    keys = [str(key) for key in known if known[key].nunique() > 1 and "nan" not in set(known[key])]
    if not 0 < len(keys) <= MOST_KEYS:
        return None
    last = [key.rpartition(".")[2] for key in keys]
    short = [name if last.count(name) == 1 else key for name, key in zip(last, keys)]
    for key in keys:
        known[key] = [f"{float(value):.6g}" if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", value) else value[:40]
                      for value in known[key]]
    labels = [", ".join(value if name.endswith("type") else f"{name} = {value}"
                        for name, value in zip(short, row)) for row in known[keys].itertuples(index=False)]
    return labels if len(set(labels)) == len(labels) else None


def _open_runs(given: Sequence[Any], options: Options) -> list[Run]:
    """Folders, CSV files, results or tables, with a label each."""
    runs = []
    for k, one in enumerate(given):
        if isinstance(one, (pandas.DataFrame, Mapping)):
            runs.append(Run(one if isinstance(one, pandas.DataFrame) else pandas.DataFrame(one), f"{k + 1}", None))
            continue
        if not isinstance(one, (str, os.PathLike, Results)):
            raise InputError(f"cannot draw {type(one).__name__}: needs a folder, results, or a table")
        results = one if isinstance(one, Results) else open_results(one)
        runs.append(Run(results.table, os.path.basename(os.path.normpath(results.folder)) or "/", results))
    if len(runs) > 1:
        labels = _differences([run.results for run in runs]) or [run.label for run in runs]
        labels[:len(options.label)] = options.label
        runs = [run._replace(label=label) for run, label in zip(runs, labels)]
    return runs


def _check_columns(album: pictures.Album, columns: Sequence[str]) -> None:
    names = {str(name) for run in album.runs for name in run.table.columns}
    for name in columns:
        if name not in names:
            where = album.first.attrs.get("path", "the table")
            raise InputError(f"'{name}' is neither a folder nor a column of {where}{suggest(name, names)}")


def _named(album: pictures.Album, columns: Sequence[str]) -> list[Picture]:
    """The usual picture of that name, or one of the columns."""
    if len(columns) == 1 and not any(columns[0] in run.table for run in album.runs):
        if found := [picture for picture in album.usual() if picture.name == columns[0]]:
            return found
    _check_columns(album, columns)
    name = "_".join(columns)
    if album.is_study:
        return pictures.Study(album).pictures(columns, name)[:1]
    if len(album.runs) == 1:
        album.labels = dict(zip(columns, album.options.label))
    span, values = album.options.range, album.all(album.axis)
    if span and not album.options.spectrum and (not values.size or span[0] > values.max() or span[1] < values.min()):
        raise InputError(f"--range (--xlim) must meet {album.axis} from {values.min(initial=np.inf):g} to "
                         f"{values.max(initial=-np.inf):g}, is {span[0]:g}:{span[1]:g}")
    album.add(name, album.group(columns))
    return album.pictures


def make(given: Sequence[Any], columns: Sequence[str], options: Options,
         may_be_empty: bool = False) -> tuple[dict[str, Callable[[], Any]], list[str]]:
    """What draws each picture, by its name, and notes on what was left out. Columns give one picture; so does the name
    of a usual one."""
    runs = _open_runs(given, options)
    if options.exact is not None:
        options.exact = _open_runs([options.exact], options)[0].table
    album = pictures.Album(runs, options)
    is_study = album.is_study
    if is_study and len(runs) > 1:
        raise InputError("a study is drawn alone, not with other results")
    if options.x:
        _check_columns(album, [options.x])
    if (options.range or options.spectrum) and (not columns or is_study):
        what = "--spectrum" if options.spectrum else "--range (--xlim)"
        raise InputError(f"{what} needs columns of a history, which are drawn in one picture")
    most = len(runs) if len(runs) > 1 else 0 if is_study else sum(name in album.names for name in columns)
    if len(options.label) > most:
        raise InputError(f"--label: {len(options.label)} given, but {most} results or columns to name")
    found = _named(album, columns) if columns else album.usual()
    if not found and not may_be_empty:
        raise InputError(f"{album.first.attrs.get('path', 'the table')}: nothing to draw")
    if options.exact is not None and not any(curve.label == "exact" for picture in found for panel in picture.panels
                                             for curve in panel.curves):
        raise InputError(f"{options.exact.attrs.get('path', 'the exact solution')}: needs '{album.axis}' and a column "
                         "that is drawn, by the same names")
    return {picture.name: partial(drawn, picture, options, album.runs) for picture in found}, album.notes


def plot(results: Any, *columns: str, **options: Any) -> Any:
    """A matplotlib figure of columns of results, or of one of the usual pictures by its name ("energies",
    "contact_wall", "waves_stress"); without columns of the first of them. `results` is a folder, Results, a table, or a
    list of these. `options` are those of percuss plot: x, exact, range, ylim, width, label, title, log, equal, legend
    and spectrum, as range=(0.0, 0.5), in the units of the table, spectrum="hann"."""
    given = list(results) if isinstance(results, (list, tuple)) else [results]
    return next(iter(make(given, columns, Options(**options))[0].values()))()


def _place(output: Optional[str], folder: str) -> tuple[str, str, str]:
    """Folder, ending and name of the one picture, "" if each has its own."""
    stem, ending = os.path.splitext(output or folder)
    if ending in FORMATS and output:
        return os.path.dirname(output) or ".", ending, os.path.basename(stem)
    if ending[1:].isalpha() and output and not os.path.isdir(output):
        raise InputError(f"pictures are .svg, .png or .pdf, not '{output}'")
    return output or folder, ".svg", ""


def save(figure: Any, path: Path, dots: int = 300) -> None:
    """Writes a figure, images in it with so many dots per inch; an old file stays until the new one is whole."""
    import matplotlib.pyplot as plt
    ending, buffer = os.path.splitext(path)[1], io.BytesIO()
    with warnings.catch_warnings(), plt.style.context(STYLE):
        warnings.simplefilter("ignore")  # letters that the font does not have
        when = {"Date": None} if ending == ".svg" else {"CreationDate": None} if ending == ".pdf" else {}
        figure.savefig(buffer, format=ending[1:], metadata=when, dpi=dots)
    write_file(path, buffer.getvalue())


def main(argv: list[str]) -> int:
    """`percuss plot`."""
    parser = Parser("plot", "Pictures of results, by matplotlib: one of the columns that are named, or the usual ones.")
    parser.add_argument("words", nargs="*", metavar="RESULTS... [COLUMN...]", help="folders and CSV files are results; "
                        "any other word is a column, or the name of a usual picture")
    parser.add_argument("-o", "--output", metavar="PICTURE|DIR", help="picture (.svg, .png, .pdf) or folder [that of "
                        "the results]")
    for one in fields(Options):
        parser.add_argument(f"--{one.name}", *["--xlim"] * (one.name == "range"), **one.metadata)
    parser.add_argument("--script", action="store_true", help="keep beside a picture the lines of matplotlib that made "
                        "it")
    a: argparse.Namespace = parser.parse_intermixed_args(argv)
    if not a.words:
        parser.error("results must follow")
    given: list[str] = []
    columns: list[str] = []
    for word in a.words:
        is_result = os.path.isdir(word) or (os.path.isfile(word) and (not given or word.endswith(".csv")))
        if not is_result and not given:
            raise InputError(f"'{word}': no such folder of results, nor a CSV file")
        (given if is_result else columns).append(word)
    options = Options(**{one.name: getattr(a, one.name) for one in fields(Options)})
    home = given[0] if os.path.isdir(given[0]) else os.path.dirname(given[0]) or "."
    folder, ending, stem = _place(a.output, home)
    found, notes = make(given, columns, options)
    os.makedirs(folder, exist_ok=True)
    for name, draw in found.items():
        safe = re.sub(r"[\s/\\'\"`<>|&;$*?()\[\]{}\x00-\x1f]", "_", f"{stem}_{name}" if stem else name)[:100]
        file = stem if stem and len(found) == 1 else safe
        path, figure = os.path.join(folder, file + ending), draw()
        save(figure, path)
        if a.script:
            figure.script.write(os.path.join(folder, file), file + ending)
        if not a.quiet:
            print(path)
    for note in notes if not a.quiet else ():
        print(note)
    return 0
