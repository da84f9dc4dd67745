"""Runs what gallery.yaml lists and builds index.html beside it: docs/gallery/make.py PERCUSS WORK_FOLDER [--keep-views]

Every entry gets a plot (percuss.plot), a picture (`percuss view`, where ParaView's Python and ffmpeg are there) and
its key figures beside exact or published ones. A figure outside its tolerance is told and makes the exit status 1; the
page is written all the same. With --keep-views pictures by `percuss view` stay as they are.
"""
import concurrent.futures
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading

import jinja2
import yaml
from results import Run, evaluate, slope

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))
import percuss  # noqa: E402
from percuss._plot import save  # noqa: E402

DRAWING = threading.Lock()  # matplotlib draws one picture at a time
CASES = os.path.join(ROOT, "cases")
MOST_BYTES = 3 * 1024 * 1024
WIDTH, DOTS = 14.0, 110  # cm, of plots; dots per inch of x-t diagrams in them
# Views in fewer bytes, by ffmpeg: as wide as the page, with a palette of their own.
SMALL = "scale=960:-1:flags=area,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none"


def load():
    """The list as it is written."""
    with open(os.path.join(HERE, "gallery.yaml")) as file:
        return yaml.safe_load(file)


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
        for name in self.runs:
            self.demand_word(name)

    def demand_word(self, name):
        """Fails the gallery if a run is unresolved and the README of its case does not say so."""
        case = self.specs[name]["case"]
        with open(os.path.join(ROOT, "cases", case, "README.md"), encoding="utf-8") as file:
            is_said = "unresolved" in file.read()
        if self.runs[name].verdict() == "unresolved" and not is_said:
            self.failed.append(f"{name}: the run is unresolved, and cases/{case}/README.md does not say so")

    def settled(self, what, job):
        if job.exception() is not None:
            self.failed.append(f"{what}: {job.exception()!r}")
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
        self.table(entry, "h [s]", rows)
        return {"order": lambda scheme, what: slopes[scheme, what]}

    def work_point(self, name, spec, times):
        setting = {"scheme": spec["scheme"], "output.frames.every": 0, **times}
        run = self.run(name, {"case": spec["case"], "set": setting})
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

        def exponent(label):
            errors = [found["error"] for _, other, found in rows if other == label]
            return slope(list(zip(spec["tolerances"], errors, strict=True)))
        return {"exponent": exponent}

    def plot(self, entry, number, spec):
        """One picture; gives its name."""
        name = f"{entry['id']}{'' if number == 0 else f'_{number + 1}'}.svg"
        target = os.path.join(self.work, "plots", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        runs = spec.get("of", entry.get("runs", []))
        folders = [self.runs[run].folder for run in runs] or [os.path.join(self.work, "tables", entry["id"])]
        columns = [f"waves_{spec['waves']}"] if "waves" in spec else spec["columns"]
        limits = tuple(map(float, spec["range"].split(":"))) if "range" in spec else None
        exact = self.exact(entry["id"], spec["exact"]) if "exact" in spec else None
        with DRAWING:
            save(percuss.plot(folders, *columns, x=spec.get("x"), range=limits, exact=exact, width=WIDTH), target, DOTS)
        return self.publish(target)

    def publish(self, target):
        name = os.path.basename(target)
        with open(target) as source, open(os.path.join(HERE, name), "w") as copy:
            copy.write(shorten(source.read()))
        return name

    def exact(self, name, spec):
        """A solution as a CSV file, by its corners or by formulas of t at equal distances."""
        path, columns = os.path.join(self.work, "plots", f"{name}_exact.csv"), dict(spec)
        if "every" in spec:
            every, end = columns.pop("every"), columns.pop("end")
            times = [min(k * every, end) for k in range(math.ceil(end / every) + 1)]
            columns = {head: [evaluate(text, {"t": t}) for t in times] for head, text in columns.items()}
            columns = {"t": times, **columns}
        with open(path, "w") as file:
            file.write(",".join(columns) + "\n")
            for row in zip(*columns.values(), strict=True):
                file.write(",".join(f"{float(evaluate(x, {})):.12g}" for x in row) + "\n")
        return path

    def view(self, run, words):
        """A picture by ParaView; what was drawn before stays where there is none."""
        name = f"view_{run}.png"
        if self.has_views:
            drawn = os.path.join(self.work, name)
            self.call("view", self.runs[run].folder, *map(str, words), "-o", drawn)
            shrink(drawn, os.path.join(HERE, name))
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
                "view": self.view(entry["view"], entry.get("words", [])) if "view" in entry else None,
                "commands": [f"percuss {shlex.join(words_of(self.specs[run]))}" for run in entry.get("runs", [])]}

    def build(self):
        self.run_all()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [(entry["id"], pool.submit(self.entry, entry)) for entry in self.list["entries"]]
        done = [job.result() for name, job in jobs if self.settled(name, job)]
        with open(os.path.join(HERE, "index.html"), "w") as file:
            file.write(write_page(self.list, done))
        used = {name for entry in done for name in (*entry["pictures"], entry["view"])}
        for name in pictures():
            if not self.failed and name not in used:
                os.remove(os.path.join(HERE, name))
        if size() > MOST_BYTES:
            self.failed.append(f"docs/gallery has {size()} bytes, may have {MOST_BYTES}")
        return done


def shorten(svg):
    """The same picture in fewer bytes: tenths of a point, no notes, no names that nothing refers to."""
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(re.findall(r"#([\w.-]+)", svg))
    svg = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", svg)
    head, mark, image = svg.partition("base64,")  # of an x-t diagram, which is no number
    end = image.find('"')
    parts = [re.sub(r"(?:^|<)[^<>]*(?:>|$)", cut, part) for part in (head, image[end:] if mark else "")]
    return re.sub(r"\s*\n\s*", "\n", parts[0] + mark + (image[:end] if mark else "") + parts[1])


def cut(tag):
    """A tag with tenths of a point; texts between tags keep their digits."""
    return re.sub(r"(\d\.\d)\d+", r"\1", tag[0])


def write_page(listing, done):
    """The page: one HTML file with relative links to the pictures beside it."""
    where = {key: {label: [entry for entry in listing["entries"] if label in entry.get("shows", {}).get(key, [])]
                   for label in paper["figures"]} for key, paper in listing["papers"].items()}
    with open(os.path.join(HERE, "template.html"), encoding="utf-8") as file:
        template = jinja2.Environment(autoescape=True).from_string(file.read())
    return template.render(**listing, done=[{"shows": {}, **entry} for entry in done], where=where)


def shrink(source, target):
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-i", source, "-filter_complex", SMALL, target], check=True)


def pictures():
    return [name for name in os.listdir(HERE) if name.endswith((".svg", ".png"))]


def size():
    return sum(os.path.getsize(os.path.join(HERE, name)) for name in (*pictures(), "index.html"))


def main():
    words = [word for word in sys.argv[1:] if word != "--keep-views"]
    if len(words) != 2:
        sys.exit(__doc__)
    has_paraview = all(shutil.which(program) for program in ("pvpython", "ffmpeg"))
    gallery = Gallery(*words, has_paraview and len(words) == len(sys.argv) - 1)
    done = gallery.build()
    for line in gallery.failed:
        print(f"error: {line}", file=sys.stderr)
    if not has_paraview:
        print("ParaView's Python (python3-paraview) or ffmpeg is not there: pictures by percuss view stay as they are.")
    count = sum(len(entry["rows"]) for entry in done)
    print(f"{len(gallery.runs)} runs, {len(done)} entries, {count} figures, {len(gallery.failed)} of them wrong, "
          f"{size() / 1024:.0f} kB: docs/gallery/index.html")
    sys.exit(1 if gallery.failed else 0)


if __name__ == "__main__":
    main()
