"""The points of a study: the product of axes, each of which gives values to one key or to several at once."""

from __future__ import annotations

import math
import os
import re
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from . import measure
from ._library import lib
from .errors import InputError
from .files import read_text
from .text import split_outside, suggest, text_of

MOST_POINTS, MOST_JOBS, MOST_LEVELS = 1_000_000, 4096, 8
SAMPLINGS = ("latin", "sobol")
KEYS = ("title", "case", "set", "vary", "zip", "points", "measure", "refine", "random", "jobs", "keep")
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

    def assignments(self, point: int) -> list[str]:
        """Of a run at that point."""
        return self.set + [f"{k}={v}" for k, v in zip(self.keys, self.point(point)) if v is not None]

    def add_axis(self, keys: Sequence[str], values: Sequence[tuple[Optional[str], ...]]) -> None:
        for i, key in enumerate(keys):
            if key in self.keys or key in keys[:i]:
                raise InputError(f"'{key}' is varied twice")
        count = self.npoint * len(values)
        if count > MOST_POINTS:
            raise InputError(f"a study has at most {MOST_POINTS} points, this has {count}")
        self.axes.append(Axis(list(keys), values))

    def vary(self, key: str, values: Any) -> None:
        """Adds an axis: values in a sequence, or a text as of --vary."""
        if not isinstance(values, str):
            if isinstance(values, Mapping) or not hasattr(values, "__iter__"):
                raise InputError(f"{key}: values must be a list or a text, are {type(values).__name__}")
            self.add_axis([key], [(text_of(value),) for value in values])
        elif RANDOM.fullmatch(values.strip()):
            if key in self.keys or key in self.distributions:
                raise InputError(f"'{key}' is varied twice")
            self.distributions[key] = values.strip()
        else:
            self.add_axis([key], [(value,) for value in values_of(key, values)])

    # Levels

    def refine(self, what: str, factor: int, levels: int) -> None:
        if what not in ("mesh", "step"):
            raise InputError(f"refine: must be of mesh or step, is '{what}'")
        if not 2 <= factor <= 10 or not 3 <= levels <= MOST_LEVELS:
            raise InputError(f"refine: {what}: a factor from 2 to 10 and 3 to {MOST_LEVELS} levels are wanted, these "
                             f"are {factor} and {levels}")
        self.refined[what] = (factor, levels)

    def refine_text(self, text: str) -> None:
        """"mesh=2,3 step=2,3", with " separately" for one by one."""
        for word in text.split():
            match = re.fullmatch(r"([a-z]+)=(\d+),(\d+)", word)
            if word == "separately":
                self.is_separate = True
            elif match is None:
                raise InputError(f"--refine {text}: wanted is mesh=FACTOR,LEVELS or step=... or both")
            else:
                self.refine(match[1], int(match[2]), int(match[3]))

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
        if self.npoint * self.nlevel > MOST_POINTS:
            raise InputError(f"a study has at most {MOST_POINTS} runs, this has {self.npoint * self.nlevel}: "
                             f"{self.npoint} points at {self.nlevel} levels")
        if not self.axes and not self.refined:
            raise InputError(f"{what}: nothing is varied or refined: give --vary or --refine")
        for name, formula in self.measures.items():
            point = next((p for p in measure.points_of(formula) if p >= self.npoint), None)
            if point is not None:
                raise InputError(f"measure '{name}': there is no point {point}: the study has points 0 to "
                                 f"{self.npoint - 1}")

    def measure(self, name: str, formula: str, folder: str = ".") -> None:
        """Adds a measure; tables in it stand from that folder on."""
        if name in self.measures:
            raise InputError(f"measure '{name}' is there twice")
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
                raise InputError(f"{key}: '{text}': wanted is normal(mean, deviation > 0) or uniform(from, to > from)")
            drawn = a + b * ndtri(u) if kind_name == "normal" else a + (b - a) * u
            columns.append([f"{x:.12g}" for x in drawn])  # the same on all machines
        return list(self.distributions), list(zip(*columns))


def values_of(key: str, text: str) -> list[str]:
    """"0.5:1:0.1" as numbers from the first up to the second, else the values between commas outside brackets."""
    try:
        first, last, by = map(float, text.split(":"))
    except ValueError:
        values = [value.strip() for value in split_outside(text)[0]]
        if not all(values):
            raise InputError(f"{key}: a value is empty") from None
        return values
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

class Reader:
    """A study file:

        case: ../cases/bar_impact            # relative to this file
        set: { time.end: 1.0 }               # of all runs
        vary:                                # the product of all entries
          mesh.bar.elements: [25, 50, 100]
          scheme.rho_inf: 0.5:1:0.1          # from : to : by
          elements.bar.E: normal(900, 9)     # drawn, see random
        random: { points: 100, seed: 1, sampling: latin }
        zip: { a.b: [1, 2], a.c: [3, 4] }    # lists that go together
        points: [{ a.d: 1, a.e: 2 }, ...]    # places one by one
        measure: { peak: wall.peak_force }   # or a list of places
        refine: { mesh: [2, 3], step: [2, 3], separately: false } # factor, levels; together, or one by one
        jobs: 4
        keep: true

    Errors are collected with file, line and column."""

    def __init__(self, path: str, text: str):
        self.path, self.errors = path, list[str]()
        import yaml
        self.yaml = yaml
        try:
            self.root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
            raise InputError(f"{path}{place}: {getattr(error, 'problem', None) or error}") from None

    def reject(self, node: Any, what: str) -> None:
        self.errors.append(f"{self.path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}: {what}")

    def map(self, node: Any, where: str) -> dict[str, Any]:
        if not isinstance(node, self.yaml.MappingNode):
            self.reject(node, f"{where} must be a map of keys")
            return {}
        for key, _ in node.value:
            if sum(other.value == key.value for other, _ in node.value) > 1:
                self.reject(key, f"the key '{key.value}' is there twice")
        return {key.value: value for key, value in node.value}

    def items(self, node: Any, where: str) -> list[Any]:
        if not isinstance(node, self.yaml.SequenceNode):
            self.reject(node, f"{where} must be a list")
            return []
        return list(node.value)

    def flow(self, node: Any, is_inner: bool = False) -> str:
        """A node as YAML on one line."""
        if isinstance(node, self.yaml.SequenceNode):
            return "[" + ", ".join(self.flow(item, True) for item in node.value) + "]"
        if isinstance(node, self.yaml.MappingNode):
            return "{" + ", ".join(f"{self.flow(k, True)}: {self.flow(v, True)}" for k, v in node.value) + "}"
        text: str = node.value
        is_odd = text.strip() != text or not text or re.search(r"[,:\[\]{}#&*!|>'\"%@`\n]", text)
        return "'" + text.replace("'", "''") + "'" if is_odd and "${" not in text else text

    def values(self, node: Any, key: str) -> list[str]:
        if isinstance(node, self.yaml.ScalarNode):
            return values_of(key, node.value)
        values = [self.flow(item) for item in self.items(node, key)]
        if not values:
            self.reject(node, f"{key} must have values, is empty")
        return values

    def whole(self, node: Any, where: str, low: int, high: int, word: str = "") -> int:
        """A whole number, also with a word behind it: `3 levels`."""
        text = node.value if isinstance(node, self.yaml.ScalarNode) else ""
        match = re.fullmatch(rf"(\d+)( {word})?" if word else r"(\d+)", text)
        if not match or not low <= int(match[1]) <= high:
            self.reject(node, f"{where} must be a whole number from {low} to {high}, is '{text}'")
            return low
        return int(match[1])

    def flag(self, node: Any, where: str) -> bool:
        if getattr(node, "value", None) not in ("true", "false"):
            self.reject(node, f"{where} must be true or false")
        return bool(node.value == "true")

    def read(self, plan: Plan) -> None:
        """Fills the plan."""
        root = self.map(self.root, "a study")
        for key, _ in self.root.value:
            if key.value not in KEYS:
                self.reject(key, f"unknown key '{key.value}'{suggest(key.value, KEYS)}; allowed are {', '.join(KEYS)}")
        folder = os.path.dirname(self.path) or "."
        for name in KEYS:
            if name in root:
                reader = getattr(self, f"_read_{name}", None)
                if reader is not None:
                    reader(plan, root[name])
        plan.case = os.path.join(folder, root["case"].value)
        if not os.path.exists(plan.case):
            self.reject(root["case"], f"case must be a case, is '{root['case'].value}'")
        if self.errors:
            raise InputError("\n".join(self.errors))

    def _read_set(self, plan: Plan, node: Any) -> None:
        plan.set += [f"{key}={self.flow(value)}" for key, value in self.map(node, "set").items()]

    def _read_vary(self, plan: Plan, node: Any) -> None:
        for key, value in self.map(node, "vary").items():
            if isinstance(value, self.yaml.ScalarNode):
                plan.vary(key, value.value)
            else:
                plan.add_axis([key], [(text,) for text in self.values(value, key)] or [(None,)])

    def _read_zip(self, plan: Plan, node: Any) -> None:
        lists = {key: self.values(value, key) for key, value in self.map(node, "zip").items()}
        count = len(next(iter(lists.values()), []))
        for (key, values), (_, value) in zip(lists.items(), node.value):
            if len(values) != count:
                self.reject(value, f"zip.{key} must have {count} values as the first list, has {len(values)}")
        if lists and not self.errors:
            plan.add_axis(list(lists), list(zip(*lists.values())))

    def _read_points(self, plan: Plan, node: Any) -> None:
        points = [self.map(item, "a point") for item in self.items(node, "points")]
        keys = list(dict.fromkeys(key for point in points for key in point))
        if keys:
            plan.add_axis(keys, [tuple(self.flow(p[k]) if k in p else None for k in keys) for p in points])

    def _read_measure(self, plan: Plan, node: Any) -> None:
        is_list = isinstance(node, self.yaml.SequenceNode)
        items = [(item.value, item) for item in node.value] if is_list else self.map(node, "measure").items()
        for name, value in items:
            if not isinstance(value, self.yaml.ScalarNode):
                self.reject(value, "measure must be a place or formula")
            else:
                plan.measure(str(name), value.value, os.path.dirname(self.path) or ".")

    def _read_refine(self, plan: Plan, node: Any) -> None:
        for what, value in self.map(node, "refine").items():
            if what == "separately":
                plan.is_separate = self.flag(value, "refine.separately")
            elif not isinstance(value, self.yaml.SequenceNode) or len(value.value) != 2:
                self.reject(value, f"refine.{what} must be [factor, levels]")
            else:
                factor = self.whole(value.value[0], f"refine.{what}[0]", 1, 100)
                levels = self.whole(value.value[1], f"refine.{what}[1]", 1, 100, "levels")
                if not self.errors:
                    plan.refine(what, factor, levels)

    def _read_random(self, plan: Plan, node: Any) -> None:
        entries = self.map(node, "random")
        for name, value in entries.items():
            if name == "points":
                plan.random = self.whole(value, "random.points", 1, MOST_POINTS)
            elif name == "seed":
                plan.seed = self.whole(value, "random.seed", 0, 2**31 - 1)
            elif name == "sampling" and value.value in SAMPLINGS:
                plan.sampling = value.value
            else:
                self.reject(value, "random takes points, seed and sampling: latin or sobol")

    def _read_jobs(self, plan: Plan, node: Any) -> None:
        plan.jobs = self.whole(node, "jobs", 0, MOST_JOBS)

    def _read_keep(self, plan: Plan, node: Any) -> None:
        plan.keep = self.flag(node, "keep")


def read_plan(path: str) -> Plan:
    """The plan of a study file, or one that varies nothing yet of a case."""
    path = find_case(path)
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file or folder")
    if os.path.isfile(path):
        text = read_text(path)
        if re.search(r"^(\{\s*)?[\"']?case[\"']?\s*:", text, re.MULTILINE):
            reader = Reader(path, text)
            if any(getattr(key, "value", None) == "case" for key, _ in getattr(reader.root, "value", [])):
                plan = Plan(path)
                reader.read(plan)
                return plan
    return Plan(path)
