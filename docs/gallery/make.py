"""Runs what gallery.yaml lists and builds index.html beside it: docs/gallery/make.py PERCUSS WORK_FOLDER [--keep-views]

Every entry gets a plot (`percuss plot`), a picture (`percuss view`, where ParaView's Python is there) and its key figures
beside exact or published ones. A figure outside its tolerance is told and makes the exit status 1; the page is written all
the same. With --keep-views pictures by `percuss view` stay as they are.
"""
import concurrent.futures
import csv
import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys

import exact
import page
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CASES = os.path.join(ROOT, "cases")
MOST_BYTES = 2 * 1024 * 1024
SMALLEST_BEND = 0.2  # px: points of a curve that lie closer to a straight line are left out
WIDTH = "14"  # cm, of plots


def load():
    """The list as it is written."""
    with open(os.path.join(HERE, "gallery.yaml")) as file:
        return yaml.safe_load(file)


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


def flow(value):
    """A value as YAML in one line, as --set takes it."""
    return yaml.safe_dump(value, default_flow_style=True, width=math.inf).strip().removesuffix("\n...").strip()


def words_of(spec):
    """What percuss is told: the command, the case and what is set."""
    words = [spec.get("command", "run"), f"cases/{spec['case']}", *map(str, spec.get("words", []))]
    for key, value in (spec.get("set") or {}).items():
        words += ["--set", f"{key}={flow(value)}"]
    return words


class Gallery:
    """All runs, plots and figures of the list."""

    def __init__(self, percuss, work, has_views):
        self.has_views = has_views
        self.percuss, self.work = os.path.abspath(percuss), os.path.abspath(work)
        self.list = load()
        self.specs = {case: {"case": case} for case in sorted(os.listdir(CASES))}
        self.specs.update(self.list["runs"])
        self.runs, self.failed = {}, []
        os.makedirs(self.work, exist_ok=True)

    def call(self, *words):
        answer = subprocess.run([self.percuss, *words], cwd=ROOT, capture_output=True, text=True)
        if answer.returncode != 0:
            raise RuntimeError(f"percuss {shlex.join(words)}\n{answer.stderr}")
        return answer.stdout

    def run(self, name, spec):
        folder = os.path.join(self.work, "runs", name)
        shutil.rmtree(folder, ignore_errors=True)
        self.call(*words_of(spec), "--quiet", "-o", folder)
        return Run(folder)

    def run_all(self):
        """Shipped cases and the variants that entries name, two or more at a time."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {name: pool.submit(self.run, name, spec) for name, spec in self.specs.items()}
            jobs = {name: job for name, job in jobs.items() if self.settled(name, job)}
        self.runs = {name: job.result() for name, job in jobs.items()}

    def settled(self, what, job):
        if job.exception() is not None:
            self.failed.append(f"{what}: {job.exception()}")
        return job.exception() is None

    # Errors over step size, each a mean over neighbouring numbers of steps: one of them alone is a matter of where
    # within a step the impacts fall.
    def order_point(self, name, spec, scheme, count):
        errors = {}
        for more in range(spec.get("neighbours", 1)):
            point = {"case": spec["case"],
                     "set": {**spec.get("set", {}), "scheme": scheme, "time.end": spec["end"],
                             "time.step": spec["end"] / (count + more), "output.frames.every": 0}}
            run = self.run(f"{name}_{count}_{more}", point)
            for what, formula in spec["errors"].items():
                errors.setdefault(what, []).append(run.error(formula))
        return {what: sum(values) / len(values) for what, values in errors.items()}

    def table(self, entry, axis, rows):
        """study.csv as `percuss plot` reads it; what is no error but round-off is left out."""
        folder = os.path.join(self.work, "tables", entry["id"])
        os.makedirs(folder, exist_ok=True)
        names = list(rows[0][2])
        with open(os.path.join(folder, "study.csv"), "w") as file:
            file.write(",".join([axis, "type", "run", "status", *names]) + "\n")
            for x, label, errors in rows:
                values = [f"{errors[what]:.9g}" if errors[what] > 1e-13 else "" for what in names]
                file.write(",".join([f"{x:.9g}", label, "x", "done", *values]) + "\n")

    def orders(self, entry):
        """Errors over steps; gives their order by scheme and error."""
        spec, rows, slopes = entry["orders"], [], {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {(label, count): pool.submit(self.order_point, f"{entry['id']}_{label}", spec, scheme, count)
                    for label, scheme in spec["schemes"].items() for count in spec["counts"]}
        for (label, count), job in jobs.items():
            rows.append((spec["end"] / count, label, job.result()))
        for label in spec["schemes"]:
            for what in spec["errors"]:
                points = [(h, e[what]) for h, other, e in rows if other == label and e[what] > 1e-13]
                slopes[label, what] = slope(points) if len(points) > 2 else math.nan
        self.table(entry, "h", rows)
        return {"order": lambda scheme, what: slopes[scheme, what]}

    def work_point(self, name, spec, times):
        run = self.run(name, {"case": spec["case"], "set": {"scheme": spec["scheme"], "output.frames.every": 0, **times}})
        return run.summary("steps.attempts"), run.error(spec["error"])

    def work_over(self, entry):
        """Errors over the number of steps that were tried, for constant and controlled steps."""
        spec, points = entry["work"], {}
        for count in spec["counts"]:
            points["constant", count] = {"time.end": spec["end"], "time.step": spec["end"] / count}
        for label, control in spec["controls"].items():
            for tolerance in spec["tolerances"]:
                points[label, tolerance] = {"time.end": spec["end"], "time.step": spec["end"] / 100,
                                            "time.control": {"type": "adaptive", **control, "tolerance": tolerance}}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [(label, pool.submit(self.work_point, f"{entry['id']}_{label.replace(' ', '')}_{x}", spec, times))
                    for (label, x), times in points.items()]
        rows = [(job.result()[0], label, {"error": job.result()[1]}) for label, job in jobs]
        self.table(entry, "steps", rows)
        constant = [(x, errors["error"]) for x, label, errors in rows if label == "constant"]

        def gain(label):
            steps, error = [(x, errors["error"]) for x, other, errors in rows if other == label][-1]
            return error / (constant[-1][1] * (steps / constant[-1][0])**slope(constant))
        return {"gain": gain}

    def plot(self, entry, number, spec):
        """One picture; gives its name."""
        name = f"{entry['id']}{'' if number == 0 else f'_{number + 1}'}.svg"
        target = os.path.join(self.work, "plots", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if "waves" in spec:
            self.call("plot", self.runs[entry["runs"][0]].folder, "--width", WIDTH, "--quiet", "-o", os.path.dirname(target))
            shutil.move(os.path.join(os.path.dirname(target), f"waves_{spec['waves']}.svg"), target)
            return self.publish(target)
        if "runs" not in entry:
            folders = [os.path.join(self.work, "tables", entry["id"])]
        else:
            folders = [self.runs[run].folder for run in spec.get("of", entry["runs"])]
        words = [*folders, *spec["columns"], "--width", WIDTH, "--quiet", "-o", target]
        for option in ("x", "range"):
            if option in spec:
                words += [f"--{option}", str(spec[option])]
        if "exact" in spec:
            words += ["--exact", self.exact(entry["id"], spec["exact"])]
        self.call("plot", *words)
        return self.publish(target)

    def publish(self, target):
        name = os.path.basename(target)
        with open(target) as source, open(os.path.join(HERE, name), "w") as copy:
            copy.write(simplify(source.read()))
        return name

    def exact(self, name, spec):
        """A solution as a CSV file, by its corners or by formulas of t at equal distances."""
        path, columns = os.path.join(self.work, "plots", f"{name}_exact.csv"), dict(spec)
        if "every" in spec:
            every, end = columns.pop("every"), columns.pop("end")
            times = [min(k * every, end) for k in range(math.ceil(end / every) + 1)]
            columns = {"t": times, **{head: [evaluate(text, {"t": t}) for t in times] for head, text in columns.items()}}
        with open(path, "w") as file:
            file.write(",".join(columns) + "\n")
            for row in zip(*columns.values(), strict=True):
                file.write(",".join(f"{float(evaluate(x, {})):.12g}" for x in row) + "\n")
        return path

    def view(self, run):
        """A picture by ParaView; what was drawn before stays where there is none."""
        name = f"view_{run}.png"
        if self.has_views:
            self.call("view", self.runs[run].folder, "-o", os.path.join(HERE, name))
        return name if os.path.exists(os.path.join(HERE, name)) else None

    def figures(self, entry, tools):
        """Key figures with what they are compared with; those outside their tolerance are remembered."""
        rows = []
        names = {**self.runs, **tools}
        for figure in entry.get("figures", []):
            value, reference = evaluate(figure["value"], names), float(evaluate(figure["reference"], names))
            tolerance = figure["tolerance"]
            is_part = isinstance(tolerance, str) and tolerance.endswith("%")
            room = abs(reference) * float(tolerance[:-1]) / 100.0 if is_part else float(tolerance)
            if not abs(value - reference) <= room:
                self.failed.append(f"{entry['id']}: {figure['what']} is {value:.9g}, must be {reference:.9g} "
                                   f"within {room:.3g}")
            rows.append({**figure, "value": value, "reference": reference, "room": room})
        return rows

    def entry(self, entry):
        tools = {}
        if "orders" in entry:
            tools = self.orders(entry)
        elif "work" in entry:
            tools = self.work_over(entry)
        missing = [run for run in entry.get("runs", []) if run not in self.runs]
        if missing:
            return {**entry, "pictures": [], "view": None, "rows": []}
        pictures = [self.plot(entry, k, spec) for k, spec in enumerate(entry.get("plots", []))]
        return {**entry, "pictures": pictures, "rows": self.figures(entry, tools),
                "view": self.view(entry["view"]) if "view" in entry else None,
                "commands": [f"percuss {shlex.join(words_of(self.specs[run]))}" for run in entry.get("runs", [])]}

    def build(self):
        self.run_all()
        done = []
        for entry in self.list["entries"]:
            try:
                done.append(self.entry(entry))
            except (RuntimeError, KeyError, IndexError, ValueError) as error:
                self.failed.append(f"{entry['id']}: {type(error).__name__}: {error}")
        with open(os.path.join(HERE, "index.html"), "w") as file:
            file.write(page.write(self.list, done))
        if size() > MOST_BYTES:
            self.failed.append(f"docs/gallery has {size()} bytes, may have {MOST_BYTES}")
        return done


FORMULA = {name: getattr(math, name) for name in ("pi", "sqrt", "sin", "cos", "exp", "log", "floor", "asin", "nan")}
FORMULA |= {"abs": abs, "min": min, "max": max, "sum": sum, "pairs": itertools.pairwise, "__builtins__": {}}
FORMULA |= {name: value for name, value in vars(exact).items() if callable(value)}


def evaluate(formula, names):
    return formula if isinstance(formula, (int, float)) else eval(formula, {**FORMULA, **names})


def size():
    return sum(os.path.getsize(os.path.join(HERE, name)) for name in os.listdir(HERE)
               if name.endswith((".svg", ".png", ".html")))


def thin(points, room):
    """Douglas and Peucker: the points that a curve needs to stay within `room` of what it was."""
    keep, stack = {0, len(points) - 1}, [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        (x, y), (u, v) = points[first], points[last]
        length, worst, where = math.hypot(u - x, v - y), room, None
        for k in range(first + 1, last):
            a, b = points[k]
            far = abs((u - x) * (b - y) - (v - y) * (a - x)) / length if length > 0.0 else math.hypot(a - x, b - y)
            if far > worst:
                worst, where = far, k
        if where is not None:
            keep.add(where)
            stack += [(first, where), (where, last)]
    return [points[k] for k in sorted(keep)]


def longest_bars(pieces):
    """Of upright bars in the same half of a pixel only the longest is seen."""
    longest = {}
    for (x, y), (u, v) in pieces:
        place = (round(2.0 * x), round(2.0 * u))
        if abs(v - y) >= longest.get(place, (0.05,))[0]:
            longest[place] = (abs(v - y), [(x, y), (u, v)])
    return [bar for _, bar in longest.values()]


def shorten(d):
    """A path of gnuplot, pieces of M and L, without the points and bars that nobody sees."""
    pieces = [[tuple(float(x) for x in pair) for pair in re.findall(r"(-?[\d.]+),(-?[\d.]+)", piece)]
              for piece in re.findall(r"M[^M]*", d)]
    pieces = [piece for piece in pieces if len(piece) > 1]
    if len(pieces) > 8 and all(len(piece) == 2 for piece in pieces):
        pieces = longest_bars(pieces)
    pieces = [thin(piece, SMALLEST_BEND) if len(piece) > 2 else piece for piece in pieces]
    return "".join("M" + " ".join(f"{round(x, 1):g},{round(y, 1):g}" for x, y in piece) for piece in pieces)


def simplify(svg):
    """The same picture in fewer bytes: thin curves, no empty groups, no definitions and defaults that say nothing."""
    svg = re.sub(r"(<path [^>]*d=')(M[^'Zz]*)(')", lambda m: m[1] + shorten(m[2]) + m[3], svg)
    svg = re.sub(r"<path [^>]*d=''/>", "", svg)
    svg = svg.replace(' stroke-linecap="butt" stroke-linejoin="miter"', "")
    for _ in range(3):
        svg = re.sub(r"<g [^>]*>\s*</g>", "", svg)
    if "xlink:href='#" not in svg:
        svg = re.sub(r"<defs>.*?</defs>", "", svg, flags=re.S)
    return re.sub(r"\s*\n\s*", "\n", svg)


def main():
    words = [word for word in sys.argv[1:] if word != "--keep-views"]
    if len(words) != 2:
        sys.exit(__doc__)
    has_paraview = shutil.which("pvpython") is not None
    gallery = Gallery(*words, has_paraview and len(words) == len(sys.argv) - 1)
    done = gallery.build()
    for line in gallery.failed:
        print(f"error: {line}", file=sys.stderr)
    if not has_paraview:
        print("ParaView's Python (python3-paraview) is not there: pictures by percuss view stay as they are.")
    count = sum(len(entry["rows"]) for entry in done)
    print(f"{len(gallery.runs)} runs, {len(done)} entries, {count} figures, {len(gallery.failed)} of them wrong, "
          f"{size() / 1024:.0f} kB: docs/gallery/index.html")
    sys.exit(1 if gallery.failed else 0)


if __name__ == "__main__":
    main()
