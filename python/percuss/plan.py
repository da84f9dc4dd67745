"""The points of a study: the product of axes, each of which gives values to one key or to several at once."""

import math
import os
import re
from functools import partial
from typing import Any, Callable, Mapping, Optional, Sequence

from . import measure
from .errors import InputError
from .files import read_text
from .pool import find_case
from .text import real, split_outside, suggest, text_of, whole

MOST_POINTS, MOST_JOBS, MOST_LEVELS = 1_000_000, 4096, 8
NUMBERS = {"random": (1, MOST_POINTS), "seed": (0, 2**31 - 1), "perturb": (1, MOST_POINTS), "jobs": (0, MOST_JOBS)}
KEYS = ("title", "case", "set", "vary", "zip", "points", "measure", "refine", "size", "keep", *NUMBERS)
OWN_PERTURBATION = "--perturb adds its own perturbation: leave 'perturbation' out of the case"
RANDOM = re.compile(r"(normal|uniform)\(([^()]*)\)")
Values = Sequence[tuple[Optional[str], ...]]  # YAML texts of several keys for every place; None: the case's own


class Plan:
    """What a study does. Runs are points times levels; run r is level r % levels of point r // levels."""

    def __init__(self, case: str):
        self.case, self.folder, self.text = case, ".", text_of  #: tables of measures stand from the folder on
        self.set: list[str] = []
        self.axes: list[tuple[list[str], Values]] = []
        self.measures: dict[str, str] = {}
        self.refined: dict[str, tuple[int, int]] = {}  #: "mesh", "step": factor, levels, the same of both
        self.distributions: dict[str, str] = {}  #: of keys that are drawn at random
        self.random = 0  #: points
        self.seed = 0
        self.perturb = 0  #: starts
        self.size = 0.0  #: of a perturbation, relative to the velocities of the motion; 0: not given
        self.jobs = 0
        self.keep = False

    @property
    def keys(self) -> list[str]:
        return [key for keys, _ in self.axes for key in keys]

    @property
    def npoint(self) -> int:
        return math.prod(len(values) for _, values in self.axes)

    def point(self, index: int) -> list[Optional[str]]:
        """Values of all keys at a point; the last axis runs fastest."""
        found: list[Optional[str]] = []
        for _, values in reversed(self.axes):
            index, at = divmod(index, len(values))
            found[:0] = values[at]
        return found

    @property
    def nlevel(self) -> int:
        return max((levels for _, levels in self.refined.values()), default=1)

    def factors(self, level: int) -> dict[str, int]:
        """By what mesh size and step are divided on a level."""
        return {what: factor**level for what, (factor, _) in self.refined.items()}

    # What a study file, percuss.study or a command line says

    def take(self, name: str, value: Any) -> None:
        """Takes one entry."""
        if name not in KEYS:
            raise InputError(f"unknown key '{name}'{suggest(name, KEYS)}; allowed are {', '.join(KEYS)}")
        if name in NUMBERS:
            setattr(self, name, whole(name, value, *NUMBERS[name]))
        elif name == "size":
            self.size = real(name, value, 1e-15, math.nextafter(1e-3, 1.0), "in [1e-15, 1e-3]")
        elif name == "keep" and str(value).lower() in ("true", "false"):
            self.keep = str(value).lower() == "true"
        elif name == "points" and isinstance(value, (list, tuple)) and all(isinstance(one, Mapping) for one in value):
            keys = list(dict.fromkeys(key for point in value for key in point))
            if keys:
                self.add_axis(keys, [tuple(self.text(p[k]) if k in p else None for k in keys) for p in value])
        elif name == "refine":
            self.refine(value)
        elif name in ("set", "vary", "zip", "measure") and isinstance(value, (Mapping, list)):
            getattr(self, f"_take_{name}")(value.items() if isinstance(value, Mapping) else [
                (one, one) if isinstance(one, str) else one for one in value])
        elif name not in ("title", "case"):
            wanted = {"keep": "true or false", "points": "a list of maps of keys"}
            raise InputError(f"{name} must be {wanted.get(name, 'a map of keys')}, is '{value}'")

    def _take_set(self, pairs: Any) -> None:
        self.set += [f"{key}={self.text(value)}" for key, value in pairs]

    def _take_vary(self, pairs: Any) -> None:
        for key, values in pairs:
            if not isinstance(values, str) or not RANDOM.fullmatch(values.strip()):
                self.add_axis([key], [(value,) for value in values_of(key, values, self.text)])
            else:
                self.demand_new([key])
                self.distributions[key] = values.strip()

    def _take_zip(self, pairs: Any) -> None:
        lists = {key: values_of(key, values, self.text) for key, values in pairs}
        count = len(next(iter(lists.values()), ()))
        for key, values in lists.items():
            if len(values) != count:
                raise InputError(f"zip.{key} must have {count} values as the first list, has {len(values)}")
        if lists:
            self.add_axis(list(lists), list(zip(*lists.values())))

    def _take_measure(self, pairs: Any) -> None:
        for name, formula in pairs:
            if name in self.measures or not isinstance(formula, str):
                raise InputError(f"measure '{name}' " + (
                    "is there twice" if name in self.measures else "must be a path or formula"))
            try:
                self.measures[str(name)] = measure.locate(formula, self.folder)
            except InputError as error:
                raise InputError(f"measure '{name}': {error}") from None

    def add_axis(self, keys: Sequence[str], values: Values) -> None:
        self.demand_new(keys)
        self.axes.append((list(keys), values))

    def demand_new(self, keys: Sequence[str]) -> None:
        for key in keys:
            if key in self.keys or key in self.distributions:
                raise InputError(f"'{key}' is varied twice")

    def refine(self, given: Any) -> None:
        """Takes "mesh=2,3 step=2,3", or factor and levels by "mesh" and "step"."""
        entries = given
        if isinstance(given, str):
            entries = {what: numbers.split(",") for what, _, numbers in (word.partition("=") for word in given.split())}
        for what, numbers in entries.items() if isinstance(entries, Mapping) else [("", ())]:
            if what not in ("mesh", "step") or not isinstance(numbers, (list, tuple)) or len(numbers) != 2:
                raise InputError("refine: expected mesh=FACTOR,LEVELS or step=FACTOR,LEVELS or both, this is "
                                 f"'{given}'")
            self.refined[what] = (whole(f"refine.{what}[0]", numbers[0], 2, 10),
                                  whole(f"refine.{what}[1]", numbers[1], 3, MOST_LEVELS))
        if len(set(self.refined.values())) > 1:
            raise InputError("refine: mesh and step go together, with the same factor and levels; percuss converge "
                             "tells their errors apart")

    # The whole

    def settle(self) -> None:
        """Draws random points, and checks what belongs together."""
        if bool(self.random) != bool(self.distributions):
            raise InputError("--random N needs keys that are drawn: --vary key=normal(mean, deviation) or "
                             "uniform(from, to)" if self.random else
                             f"'{next(iter(self.distributions))}' is drawn at random: give --random N")
        if self.random:
            self.axes.append((list(self.distributions), self._draw()))
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
            raise InputError(f"{self.case}: nothing is varied or refined: give --vary, --refine or --perturb")

    def _draw(self) -> Values:
        """Points of a Latin hypercube, through the inverse of each distribution."""
        import numpy as np
        from scipy.special import ndtri
        from scipy.stats import qmc
        unit = qmc.LatinHypercube(len(self.distributions), seed=self.seed).random(self.random)
        columns, tiny = [], 2.0**-53
        for u, (key, text) in zip(np.clip(unit.T, tiny, 1.0 - tiny), self.distributions.items()):
            kind, numbers = re.split(r"[()]", text)[:2]
            try:
                a, b = map(float, numbers.split(","))
            except ValueError:
                a = b = math.nan
            if not math.isfinite(a) or not math.isfinite(b) or b <= (0.0 if kind == "normal" else a):
                raise InputError(f"{key}: '{text}': expected normal(mean, deviation > 0) or uniform(from, to > from)")
            drawn = a + b * ndtri(u) if kind == "normal" else a + (b - a) * u
            columns.append([f"{x:.12g}" for x in drawn])  # the same on all machines
        return list(zip(*columns))


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
        found = [value.strip() for value in split_outside(values)]
        if not all(found):
            raise InputError(f"{key}: a value is empty") from None
        return found
    steps = (last - first) / by + 1e-9 if by != 0.0 else math.nan  # the last belongs to it but for round-off
    if not 0.0 <= steps < MOST_POINTS:
        raise InputError(f"{key}: no values, or more than {MOST_POINTS}, from {first:g} to {last:g} by {by:g}")
    return [f"{first + i * by:.12g}" for i in range(math.floor(steps) + 1)]  # 0.3, not 0.30000000000000004


def read_plan(path: str) -> Plan:
    """Reads a study file, or takes a case of which nothing varies yet. A study file says

        case: ../cases/bar_impact   # relative to this file, or a name
        vary: { mesh.bar.elements: [25, 50], scheme.rho_inf: 0.5:1:0.1, elements.bar.E: normal(900, 9) }
        zip: { a.b: [1, 2], a.c: [3, 4] }   # lists that go together
        points: [{ a.d: 1, a.e: 2 }, ...]   # single points
        random: { points: 100, seed: 1 }    # of the keys with a distribution
        refine: { mesh: [2, 3], step: [2, 3] }   # factor, levels

    and set, measure, perturb, size, jobs, keep as the options do. Errors are collected with file, line and column of
    their entries."""
    path = find_case(path)
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file or folder")
    plan = Plan(path)
    text = read_text(path) if os.path.isfile(path) else ""
    if not re.search(r"^(\{\s*)?[\"']?case[\"']?\s*:", text, re.MULTILINE):
        return plan
    import yaml

    def place(mark: Any) -> str:
        return f"{path}:{mark.line + 1}:{mark.column + 1}: " if mark else f"{path}: "

    def plain(node: Any) -> Any:
        """Lists, maps and texts as they are, 1.0e-2."""
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if isinstance(node, yaml.SequenceNode):
            return [plain(one) for one in node.value]
        found: dict[str, Any] = {}
        for key, value in node.value:
            if str(key.value) in found:
                raise InputError(f"{place(key.start_mark)}the key '{key.value}' is there twice")
            found[str(key.value)] = plain(value)
        return found

    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError) as error:
        where = place(getattr(error, "problem_mark", None))
        raise InputError(f"{where}{getattr(error, 'problem', None) or error}") from None
    given, errors = plain(root), list[str]()
    if not isinstance(given, dict) or "case" not in given:
        return plan
    plan.folder, plan.text = os.path.dirname(path) or ".", partial(text_of, quotes=True)
    case = os.path.join(plan.folder, str(given["case"]))
    for key, value in root.value:
        is_group = key.value == "random" and isinstance(given["random"], dict)
        entries = given["random"] if is_group else {key.value: given[key.value]}
        try:
            if key.value == "case":
                plan.case = case if os.path.exists(case) else find_case(str(given["case"]))
            for name, one in entries.items():
                plan.take("random" if is_group and name == "points" else name, one)
        except InputError as error:
            errors.append(f"{place(value.start_mark)}{error}")
    if errors:
        raise InputError("\n".join(errors))
    plan.folder, plan.text = ".", text_of
    return plan
