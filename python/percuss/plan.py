"""The points of a study: the product of axes, each of which gives values to one key or to several at once."""

from __future__ import annotations

import contextlib
import math
import os
import re
from functools import partial
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence

from . import measure
from ._library import lib
from .command import real, whole
from .errors import InputError
from .files import read_text
from .text import split_outside, suggest, text_of

MOST_POINTS, MOST_JOBS, MOST_LEVELS = 1_000_000, 4096, 8
SAMPLINGS = ("latin", "sobol")
KEYS = ("title", "case", "set", "vary", "zip", "points", "measure", "refine", "random", "seed", "sampling", "perturb",
        "size", "jobs", "keep")
OWN_PERTURBATION = "--perturb adds its own perturbation: leave 'perturbation' out of the case"
RANDOM = re.compile(r"(normal|uniform)\(([^,()]*),([^,()]*)\)")


class Axis(NamedTuple):
    """Keys, and a tuple of YAML texts of their values for every place; None: the case's own."""

    keys: list[str]
    values: Sequence[tuple[Optional[str], ...]]


class Plan:
    """What a study does. Runs are points times levels; run r is level r % levels of point r // levels."""

    def __init__(self, case: str):
        self.case = case
        self.set: list[str] = []
        self.axes: list[Axis] = []
        self.measures: dict[str, str] = {}
        self.refined: dict[str, tuple[int, int]] = {}  #: "mesh", "step": factor, levels
        self.is_separate = False  #: mesh and step are refined one by one, each with the other on its finest level
        self.distributions: dict[str, str] = {}  #: of keys that are drawn at random
        self.random = 0  #: points
        self.seed = 0
        self.sampling = "latin"
        self.perturb = 0  #: starts
        self.size = 0.0  #: of a perturbation, relative to the velocities of the motion; 0: not given
        self.jobs = 0
        self.keep = False

    # Points

    @property
    def keys(self) -> list[str]:
        return [key for axis in self.axes for key in axis.keys]

    @property
    def npoint(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes)

    def point(self, index: int) -> list[Optional[str]]:
        """Values of all keys at a point; the last axis runs fastest."""
        found: list[Optional[str]] = []
        for axis in reversed(self.axes):
            index, at = divmod(index, len(axis.values))
            found[:0] = axis.values[at]
        return found

    def add_axis(self, keys: Sequence[str], values: Sequence[tuple[Optional[str], ...]]) -> None:
        for i, key in enumerate(keys):
            if key in self.keys or key in keys[:i]:
                raise InputError(f"'{key}' is varied twice")
        count = self.npoint * len(values)
        if count > MOST_POINTS:
            raise InputError(f"a study has at most {MOST_POINTS} points, this has {count}")
        self.axes.append(Axis(list(keys), values))

    def vary(self, key: str, values: Any, text: Callable[[Any], str] = text_of) -> None:
        """Adds an axis: values in a sequence, or a text as of --vary."""
        if isinstance(values, str) and RANDOM.fullmatch(values.strip()):
            if key in self.keys or key in self.distributions:
                raise InputError(f"'{key}' is varied twice")
            self.distributions[key] = values.strip()
        else:
            self.add_axis([key], [(value,) for value in values_of(key, values, text)])

    # Levels

    def refine(self, what: str, factor: int, levels: int) -> None:
        if what not in ("mesh", "step"):
            raise InputError(f"refine: must be of mesh or step, is '{what}'")
        if not 2 <= factor <= 10 or not 3 <= levels <= MOST_LEVELS:
            raise InputError(f"refine: {what}: a factor from 2 to 10 and 3 to {MOST_LEVELS} levels are wanted, these "
                             f"are {factor} and {levels}")
        self.refined[what] = (factor, levels)

    @property
    def nlevel(self) -> int:
        levels = [levels for _, levels in self.refined.values()]
        return sum(levels) - 1 if self.is_separate else max(levels, default=1)

    def factors(self, level: int) -> dict[str, int]:
        """By what mesh size and step are divided on a level. One by one: first the levels of the step but its finest,
        then those of the mesh; the last is the finest of both."""
        found = {}
        for what, (factor, levels) in self.refined.items():
            power = level
            if self.is_separate and what == "step":
                power = min(level, levels - 1)
            if self.is_separate and what == "mesh":
                first = self.refined["step"][1] - 1
                power = levels - 1 if level < first else level - first
            found[what] = factor**power
        return found

    def sequence(self, what: str) -> list[int]:
        """The levels over which mesh or step is refined, coarse to fine."""
        if not self.is_separate:
            return list(range(self.nlevel))
        steps = self.refined["step"][1] - 1
        return [*range(steps), self.nlevel - 1] if what == "step" else list(range(steps, self.nlevel))

    # The whole

    def fill(self, given: Mapping[str, Any], where: Callable[..., str] = lambda *keys: "", folder: str = ".",
             text: Callable[[Any], str] = text_of, dash: str = "") -> None:
        """Takes what a study file, percuss.study or a command line says. All errors are raised together; `where` tells
        where an entry stands. Tables of measures are found from the folder on."""
        errors: list[str] = []

        @contextlib.contextmanager
        def entry(*keys: Any) -> Iterator[None]:
            try:
                yield
            except InputError as error:
                errors.append(where(*keys) + str(error))

        def each(name: str) -> list[Any]:
            value = given.get(name)
            if not isinstance(value, (Mapping, list)) and value is not None:
                errors.append(f"{where(name)}{name} must be a map of keys")
            pairs = list(value.items()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
            return [(pair, pair) if isinstance(pair, str) else pair for pair in pairs]

        for key in given:
            if key not in KEYS:
                errors.append(f"{where(key)}unknown key '{key}'{suggest(key, KEYS)}; allowed are {', '.join(KEYS)}")
        if not os.path.exists(self.case):
            errors.append(f"{where('case')}case must be a case, is '{given.get('case', self.case)}'")
        self.set += [f"{key}={text(value)}" for key, value in each("set")]
        for key, value in each("vary"):
            with entry("vary", key):
                self.vary(key, value, text)
        lists: dict[str, list[str]] = {}
        for key, value in each("zip"):
            with entry("zip", key):
                lists[key] = values_of(key, value, text)
                count = len(next(iter(lists.values())))
                if len(lists[key]) != count:
                    raise InputError(f"zip.{key} must have {count} values as the first list, has {len(lists[key])}")
        with entry("points"):
            points = given.get("points") or []
            if not isinstance(points, (list, tuple)) or not all(isinstance(point, Mapping) for point in points):
                raise InputError("points must be a list of maps of keys")
            keys = list(dict.fromkeys(key for point in points for key in point))
            if lists and not errors:
                self.add_axis(list(lists), list(zip(*lists.values())))
            if keys:
                self.add_axis(keys, [tuple(text(p[k]) if k in p else None for k in keys) for p in points])
        for name, value in each("measure"):
            with entry("measure", name):
                self.measure(str(name), value, folder)
        for what, value in each("refine"):
            with entry("refine", what):
                self._refine(what, value, partial(entry, "refine", what))
        for name, low, high in (("random", 1, MOST_POINTS), ("seed", 0, 2**31 - 1), ("perturb", 1, MOST_POINTS),
                                ("jobs", 0, MOST_JOBS)):
            if given.get(name) is not None:
                with entry(name):
                    setattr(self, name, whole(dash + name, str(given[name]), low, high))
        self.sampling = given.get("sampling") or self.sampling
        if given.get("size") is not None:
            with entry("size"):
                self.size = real(dash + "size", str(given["size"]), 1e-15, math.nextafter(1e-3, 1.0),
                                 "in [1e-15, 1e-3]")
        with entry("keep"):
            self.keep = self.keep or flag("keep", given.get("keep", False))
        if errors:
            raise InputError("\n".join(errors))

    def _refine(self, what: str, value: Any, entry: Any) -> None:
        if what == "separately":
            self.is_separate = flag("refine.separately", value)
            return
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise InputError(f"refine.{what} must be [factor, levels]")
        numbers = []
        for k in range(2):
            with entry(k):
                numbers.append(whole(f"refine.{what}[{k}]", str(value[k]).removesuffix(" levels"), 1, 100))
        if len(numbers) == 2:
            self.refine(what, *numbers)

    def settle(self, what: str) -> None:
        """Draws random points, and checks what belongs together."""
        if self.is_separate and len(self.refined) < 2:
            raise InputError("refine: mesh and step are both needed to refine them separately")
        if not self.is_separate and len(set(self.refined.values())) > 1:
            raise InputError("refine: mesh and step go together with the same factor and levels, or separately")
        if bool(self.random) != bool(self.distributions):
            raise InputError("--random N needs keys that are drawn: --vary key=normal(mean, deviation) or "
                             "uniform(from, to)" if self.random else
                             f"'{next(iter(self.distributions))}' is drawn at random: give --random N")
        if self.random:
            self.add_axis(*self._draw())
            self.random = len(self.axes[-1].values)
        if self.size and not self.perturb:
            raise InputError("--size is for --perturb")
        self.size = self.size or 1e-9
        if self.perturb:
            keys = self.keys + [text.partition("=")[0] for text in self.set]
            if any(key.strip().partition(".")[0] == "perturbation" for key in keys):
                raise InputError(OWN_PERTURBATION)
            self.add_axis(["perturbation.seed"], [(str(k + 1),) for k in range(self.perturb)])
        if self.npoint * self.nlevel > MOST_POINTS:
            raise InputError(f"a study has at most {MOST_POINTS} runs, this has {self.npoint * self.nlevel}: "
                             f"{self.npoint} points at {self.nlevel} levels")
        if not self.axes and not self.refined:
            raise InputError(f"{what}: nothing is varied or refined: give --vary, --refine or --perturb")
        for name, formula in self.measures.items():
            point = next((p for p in measure.points_of(formula) if p >= self.npoint), None)
            if point is not None:
                raise InputError(f"measure '{name}': there is no point {point}: the study has points 0 to "
                                 f"{self.npoint - 1}")

    def measure(self, name: str, formula: str, folder: str = ".") -> None:
        """Adds a measure; tables in it stand from that folder on."""
        if name in self.measures:
            raise InputError(f"measure '{name}' is there twice")
        if not isinstance(formula, str):
            raise InputError("measure must be a path or formula")
        try:
            self.measures[name] = measure.locate(formula, folder)
        except InputError as error:
            raise InputError(f"measure '{name}': {error}") from None

    def _draw(self) -> tuple[list[str], list[tuple[Optional[str], ...]]]:
        """Points of a Latin hypercube or of Sobol's sequence, through the inverse of each distribution."""
        import warnings

        import numpy as np
        from scipy.special import ndtri
        from scipy.stats import qmc
        if self.sampling not in SAMPLINGS:
            raise InputError(f"--sampling must be latin or sobol, is '{self.sampling}'")
        kind = qmc.LatinHypercube if self.sampling == "latin" else qmc.Sobol
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers of points that are no powers of two lose some of the balance
            unit = kind(len(self.distributions), seed=self.seed).random(self.random)
        columns, tiny = [], 2.0**-53
        for u, (key, text) in zip(np.clip(unit.T, tiny, 1.0 - tiny), self.distributions.items()):
            match = RANDOM.fullmatch(text)
            try:
                kind_name, a, b = (match[1], float(match[2]), float(match[3])) if match else ("", 0.0, 0.0)
            except ValueError:
                raise InputError(f"{key}: '{text}' needs two numbers") from None
            if not (math.isfinite(a) and math.isfinite(b)) or (b <= 0.0 if kind_name == "normal" else b <= a):
                raise InputError(f"{key}: '{text}': expected normal(mean, deviation > 0) or uniform(from, to > from)")
            drawn = a + b * ndtri(u) if kind_name == "normal" else a + (b - a) * u
            columns.append([f"{x:.12g}" for x in drawn])  # the same on all machines
        return list(self.distributions), list(zip(*columns))


def flag(what: str, value: Any) -> bool:
    """A value that is true or false."""
    if str(value).lower() not in ("true", "false"):
        raise InputError(f"{what} must be true or false")
    return str(value).lower() == "true"


def refine_words(text: str) -> dict[str, Any]:
    """"mesh=2,3 step=2,3", with " separately" for one by one."""
    found: dict[str, Any] = {}
    for word in text.split():
        match = re.fullmatch(r"([a-z]+)=(\d+),(\d+)", word)
        if match is None and word != "separately":
            raise InputError(f"--refine {text}: expected mesh=FACTOR,LEVELS or step=... or both")
        found[match[1] if match else word] = (match[2], match[3]) if match else True
    return found


def values_of(key: str, values: Any, text: Callable[[Any], str] = text_of) -> list[str]:
    """Texts of a sequence of values; of a text "0.5:1:0.1" numbers from the first up to the second, else the values
    between commas outside brackets."""
    if not isinstance(values, str):
        if isinstance(values, Mapping) or not hasattr(values, "__iter__"):
            raise InputError(f"{key}: values must be a list or a text, are {type(values).__name__}")
        found = [text(value) for value in values]
        if not found:
            raise InputError(f"{key} must have values, is empty")
        return found
    try:
        first, last, by = map(float, values.split(":"))
    except ValueError:
        found = [value.strip() for value in split_outside(values)[0]]
        if not all(found):
            raise InputError(f"{key}: a value is empty") from None
        return found
    steps = (last - first) / by + 1e-9 if by != 0.0 else math.nan  # the last belongs to it but for round-off
    if math.isfinite(steps) and steps >= MOST_POINTS:
        raise InputError(f"{key}: a study has at most {MOST_POINTS} points, from {first:g} to {last:g} by {by:g} are "
                         f"{math.floor(steps) + 1}")
    if not math.isfinite(steps) or steps < 0.0:
        raise InputError(f"{key}: no values from {first:g} to {last:g} by {by:g}")
    return [f"{first + i * by:.12g}" for i in range(math.floor(steps) + 1)]  # 0.3, not 0.30000000000000004


def find_case(name: str) -> str:
    """The path of a case: as it stands, or by its name among the cases of the folder, the tree or the installation."""
    if "/" in name or os.path.exists(name):
        return name
    library = os.path.dirname(os.path.realpath(str(lib.path)))
    folders = ["cases"] + [os.path.join(library, *up, below) for up, below in (
        ([".."], "cases"), ([".."], "share/percuss/cases"), (["..", ".."], "share/percuss/cases"))]
    for folder in folders:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    known = [entry for folder in folders if os.path.isdir(folder) for entry in os.listdir(folder)]
    raise InputError(f"'{name}' is no file, folder or name of a case{suggest(name, known)}")


# ---- Study files ----

def read_plan(path: str) -> Plan:
    """The plan of a study file, or one that varies nothing yet of a case. A study file:

        case: ../cases/bar_impact            # relative to this file
        set: { time.end: 1.0 }               # of all runs
        vary:                                # the product of all entries
          mesh.bar.elements: [25, 50, 100]
          scheme.rho_inf: 0.5:1:0.1          # from : to : by
          elements.bar.E: normal(900, 9)     # drawn, see random
        random: { points: 100, seed: 1, sampling: latin }
        zip: { a.b: [1, 2], a.c: [3, 4] }    # lists that go together
        points: [{ a.d: 1, a.e: 2 }, ...]    # single points
        measure: { peak: wall.peak_force }   # or a list of measures
        refine: { mesh: [2, 3], step: [2, 3], separately: false } # factor, levels; together, or one by one
        perturb: 100                         # runs with small random velocities added to the start
        size: 1.0e-9                         # these, relative to those of the motion; 1e-15 to 1e-3
        jobs: 4
        keep: true

    Errors are collected with file, line and column."""
    path = find_case(path)
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file or folder")
    plan = Plan(path)
    text = read_text(path) if os.path.isfile(path) else ""
    if not re.search(r"^(\{\s*)?[\"']?case[\"']?\s*:", text, re.MULTILINE):
        return plan
    import yaml
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
        given = yaml.load(text, yaml.BaseLoader)  # texts stay as they are: 1.0e-2
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise InputError(f"{path}{place}: {getattr(error, 'problem', None) or error}") from None
    if not isinstance(given, dict) or "case" not in given:
        return plan

    def where(*keys: Any) -> str:
        """file:line:column of an entry, or of the innermost one about it that is there."""
        node = root
        for key in keys:
            inner = node.value[key:key + 1] if isinstance(key, int) else [v for k, v in node.value if k.value == key]
            node = inner[0] if inner else node
        return f"{path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}: "

    def twice(node: Any) -> None:
        names = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        for key, _ in node.value if len(set(map(str, names))) < len(names) else ():
            if names.count(key.value) > 1:
                raise InputError(f"{path}:{key.start_mark.line + 1}:{key.start_mark.column + 1}: the key "
                                 f"'{key.value}' is there twice")
        for child in node.value if not isinstance(node, yaml.ScalarNode) else ():
            twice(child[1] if isinstance(child, tuple) else child)

    twice(root)
    if isinstance(given.get("random"), dict):
        given |= {name if name != "points" else "random": value for name, value in given.pop("random").items()}
    plan.case = os.path.join(os.path.dirname(path) or ".", str(given["case"]))
    plan.fill(given, where, os.path.dirname(path) or ".", partial(text_of, quotes=True))
    return plan
