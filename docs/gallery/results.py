"""Results of runs: numbers of summary.json by their place, columns of history.csv, and formulas of them."""
import csv
import itertools
import json
import math
import os
import re

import exact

FORMULA = {name: getattr(math, name) for name in ("pi", "sqrt", "sin", "cos", "exp", "log", "floor", "asin", "nan")}
FORMULA |= {"abs": abs, "min": min, "max": max, "sum": sum, "pairs": itertools.pairwise, "__builtins__": {}}
FORMULA |= {name: value for name, value in vars(exact).items() if callable(value)}


def evaluate(formula, names):
    return formula if isinstance(formula, (int, float)) else eval(formula, {**FORMULA, **names})


class Run:
    """Results of one run: numbers of summary.json by their place and columns of history.csv."""

    def __init__(self, folder):
        self.folder = folder
        self._columns = None
        self._summary = None

    def column(self, name):
        if self._columns is None:
            with open(os.path.join(self.folder, "history.csv"), newline="") as file:
                rows = list(csv.reader(file))
            self._columns = {head: [float(x) if x else math.nan for x in values]
                             for head, values in zip(rows[0], zip(*rows[1:]))}
        if name == "energy" and name not in self._columns:
            return [sum(x) for x in zip(*(self._columns[part] for part in ("kinetic", "strain", "potential")))]
        return self._columns[name]

    def by_alias(self, alias):
        """floor_gap is the column floor.gap, sum_floor_impulse the running sum of floor.impulse."""
        self.column("t")
        names = {name.replace(".", "_"): name for name in self._columns}
        if alias in names:
            return self.column(names[alias])
        if alias.startswith("sum_") and alias[4:] in names:
            return list(itertools.accumulate(0.0 if math.isnan(x) else x for x in self.column(names[alias[4:]])))
        return None

    def error(self, formula):
        """Integral of |formula| over time, by the values at the ends of steps."""
        found = {alias: self.by_alias(alias) for alias in set(re.findall(r"[A-Za-z_]\w*", formula))}
        found = {alias: values for alias, values in found.items() if values is not None}
        code, times = compile(formula, "error", "eval"), self.column("t")
        terms = [(times[k] - times[k - 1]) * abs(eval(code, FORMULA, {alias: x[k] for alias, x in found.items()}))
                 for k in range(1, len(times))]
        return math.fsum(terms)

    def mode(self, number):
        """Circular frequency from modes.csv."""
        with open(os.path.join(self.folder, "modes.csv"), newline="") as file:
            return float(list(csv.DictReader(file))[number - 1]["w"])

    def verdict(self):
        """On resolution; None of what is no run."""
        is_run = os.path.exists(os.path.join(self.folder, "summary.json"))
        return self.summary("resolution")["verdict"] if is_run else None

    def summary(self, place):
        """contacts, joints and probes need no list before their name, as for measures of a study."""
        if self._summary is None:
            with open(os.path.join(self.folder, "summary.json")) as file:
                self._summary = json.load(file)
        node, words = self._summary, place.split(".")
        if words[0] not in node:
            lists = [node.get(part) for part in ("contacts", "joints", "supports", "probes")]
            named = [part for part in lists if isinstance(part, dict) and words[0] in part]
            named += [{item["name"]: item} for part in lists if isinstance(part, list)
                      for item in part if item.get("name") == words[0]]
            node = named[0]
        for word in words:
            node = node[int(word)] if isinstance(node, list) else node[word]
        return node

    def during(self, name, start=-math.inf, end=math.inf):
        return [x for t, x in zip(self.column("t"), self.column(name)) if start <= t <= end and not math.isnan(x)]

    def mean(self, name, start=-math.inf, end=math.inf):
        values = self.during(name, start, end)
        return math.fsum(values) / len(values)

    def deviation(self, name, start=-math.inf, end=math.inf):
        values, middle = self.during(name, start, end), self.mean(name, start, end)
        return math.sqrt(math.fsum((x - middle)**2 for x in values) / len(values))

    def lowest(self, name, start=-math.inf, end=math.inf):
        return min(self.during(name, start, end))

    def highest(self, name, start=-math.inf, end=math.inf):
        return max(self.during(name, start, end))

    def size(self, name, start=-math.inf, end=math.inf):
        return max(map(abs, self.during(name, start, end)))

    def total(self, name, start=-math.inf, end=math.inf):
        return math.fsum(self.during(name, start, end))

    def at(self, name, time):
        """Between rows along a straight line."""
        t, x = self.column("t"), self.column(name)
        k = next((k for k in range(1, len(t)) if t[k] >= time), len(t) - 1)
        part = min(1.0, (time - t[k - 1]) / (t[k] - t[k - 1]))
        return x[k] if part > 1.0 - 1e-9 else (1.0 - part) * x[k - 1] + part * x[k]

    def last(self, name):
        return self.column(name)[-1]

    def last_time(self, name, above=0.0):
        """The last time at which a column exceeds a value."""
        return max(t for t, x in zip(self.column("t"), self.column(name)) if x > above)

    def last_zero(self, name):
        return max(t for t, x in zip(self.column("t"), self.column(name)) if x == 0.0)

    def first_time(self, name, above=0.0):
        return min(t for t, x in zip(self.column("t"), self.column(name)) if x > above)

    def rise(self, name):
        """The largest step upwards."""
        values = self.column(name)
        return max(b - a for a, b in itertools.pairwise(values))

    def distance(self, names, other):
        """Largest singular value of the differences at all times of this run, which the other one has, too."""
        places = {round(t, 9): k for k, t in enumerate(other.column("t"))}
        rows = [places[round(t, 9)] for t in self.column("t")]
        differences = [[x - other.column(name)[k] for x, k in zip(self.column(name), rows)] for name in names]
        gram = [[math.fsum(map(float.__mul__, a, b)) for b in differences] for a in differences]
        return math.sqrt(largest_eigenvalue(gram))


def largest_eigenvalue(matrix):
    """Of a symmetric matrix without negative ones, by powers."""
    vector, value = [1.0] * len(matrix), 0.0
    for _ in range(200):
        vector = [math.fsum(a * x for a, x in zip(row, vector)) for row in matrix]
        value = math.sqrt(math.fsum(x * x for x in vector))
        if value == 0.0:
            return 0.0
        vector = [x / value for x in vector]
    return value


def slope(points):
    """Of log y over log x, by least squares."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    n, sx, sy = len(logs), sum(x for x, _ in logs), sum(y for _, y in logs)
    return (n * sum(x * y for x, y in logs) - sx * sy) / (n * sum(x * x for x, _ in logs) - sx * sx)
