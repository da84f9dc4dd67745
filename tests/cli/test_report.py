"""percuss report: pages of runs and studies, parsed, compared with the results they show, and opened in a browser where
there is one. Argument: the path of the program."""

import base64
import csv
import html.parser
import json
import math
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import unittest

from program import HANG, PROGRAM, read_json

VOID = {"meta", "link", "img", "br", "wbr"}
BROWSER = shutil.which("chromium")
MOST_POINTS = 1500


class Page(html.parser.HTMLParser):
    """Elements as a tree of [tag, attributes, children]; texts are children, too. Tags that do not match are errors."""

    def __init__(self, path):
        super().__init__()
        self.root = ["", {}, []]
        self.open = [self.root]
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.feed(self.source)
        self.close()
        assert len(self.open) == 1, self.open[-1][0]

    def handle_starttag(self, tag, attributes):
        element = [tag, dict(attributes), []]
        self.open[-1][2].append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.open[-1][2].append([tag, dict(attributes), []])

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, f"</{tag}> closes <{self.open[-1][0]}> at {self.getpos()}"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1][2].append(data)


def find(element, tag, **attributes):
    """Every element of that tag below."""
    for child in element[2]:
        if isinstance(child, str):
            continue
        if child[0] == tag and all(child[1].get(name.rstrip("_")) == value for name, value in attributes.items()):
            yield child
        yield from find(child, tag, **attributes)


def text(element):
    return "".join(child if isinstance(child, str) else text(child) for child in element[2])


def number(words):
    """The number at the start of a text as the page writes it."""
    match = re.match(r"([-+]?[0-9.]+)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", words)
    power = (match.group(2) or "⁰").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(match.group(1)) * 10.0 ** int(power)


def points(path):
    """Places of a line, and how often it is broken."""
    d = path[1]["d"]
    return [tuple(map(float, p.split(","))) for p in re.findall(r"[ML]([-0-9.,]+)", d)], d.count("M") - 1


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.run_folder = os.path.join(cls.folder.name, "a run's")
        cls.fine_folder = os.path.join(cls.folder.name, "fine")
        cls.study_folder = os.path.join(cls.folder.name, "study")
        case = "cases/bar_impact"
        cls.percuss("run", case, "-q", "-o", cls.run_folder, "--set", "mesh.bar.elements=50", "--set",
                    "output.frames.every=1000")
        cls.percuss("run", case, "-q", "-o", cls.fine_folder, "--set", "mesh.bar.elements=20", "--set",
                    "time.step=2.5e-4", "--set", "output.frames.every=100000", "--set", "elements.bar.E=9.0e+8",
                    "--set", "elements.bar.rho=1.0e+6", "--set",
                    "title=<script>alert(1)</script> & \"ü\"")
        cls.percuss("study", case, "-q", "-o", cls.study_folder, "--vary", "mesh.bar.elements=10,20,40,80", "--vary",
                    "scheme.rho_inf=0.6,0.8,2", "--refine", "step=2,3", "--set", "time.end=0.8")

    @classmethod
    def percuss(cls, *arguments, status=0):
        run = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=HANG)
        assert run.returncode == status, f"{arguments}: {run.returncode}\n{run.stdout}{run.stderr}"
        return run

    def report(self, folder):
        self.percuss("report", folder, "-q")
        return Page(os.path.join(folder, "report.html"))

    def figure(self, page, title):
        found = [f for f in find(page.root, "figure") if text(next(find(f, "figcaption"))) == title]
        self.assertEqual(len(found), 1, title)
        return found[0]

    def history(self, folder):
        with open(os.path.join(folder, "history.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        return {name: [float(r[name]) if r[name] else math.nan for r in rows] for name in rows[0]}

    def summary(self, folder):
        return read_json(os.path.join(folder, "summary.json"))

    def test_pages_hold_all_they_show(self):
        for folder in (self.run_folder, self.fine_folder, self.study_folder):
            page = self.report(folder)
            self.assertEqual(list(find(page.root, "script")), [])
            self.assertIsNone(re.search(r"https?:|@import|url\(", page.source))
            for tag in ("img", "video", "link", "a", "iframe", "source"):
                for element in find(page.root, tag):
                    for name in ("src", "href"):
                        self.assertRegex(element[1].get(name, "data:"), "^(data:|#)")
            self.assertEqual([m[1]["content"] for m in find(page.root, "meta", name="viewport")],
                             ["width=device-width, initial-scale=1"])
            for rule in ("@media print", "@page{size:A4", "prefers-color-scheme:dark"):
                self.assertIn(rule, page.source)
            for figure in find(page.root, "figure"):
                for svg in find(figure, "svg", role="img"):
                    self.assertTrue(text(next(find(svg, "title"))))
                    self.assertGreater(len(text(next(find(svg, "desc")))), 20)
            self.assertIsNone(re.search(r'(?<!<wbr)[ML,>"+-](nan|inf)\b', page.source))
            identities = [s[1]["id"] for s in find(page.root, "section")]
            self.assertEqual(len(set(identities)), len(identities))
            self.assertLessEqual({"case", "again", "cite"}, set(identities))

    def test_words_and_numbers_of_a_run(self):
        page, summary = self.report(self.run_folder), self.summary(self.run_folder)
        sections = {s[1]["id"]: s for s in find(page.root, "section")}
        self.assertLessEqual({"certificate", "model", "contacts", "energy", "probes"}, set(sections))
        self.assertEqual(text(next(find(page.root, "h1"))), summary["title"])
        checks = [c for c in summary["certificate"]["checks"] if c["verdict"] != "reported"]
        worst = max(checks, key=lambda c: c["worst_ratio"])
        words = text(next(find(sections["certificate"], "p")))
        for part in ("Every check held.", f"After each of the {summary['steps']['done']} steps",
                     f"{len(checks)} conditions", f"‘{worst['name']}’"):
            self.assertIn(part, words)
        self.assertAlmostEqual(number(words.split("came to ")[1]) / (100 * worst["worst_ratio"]), 1.0, delta=0.05)
        rows = [[text(cell) for cell in r[2] if cell != "\n"] for r in find(sections["contacts"], "tr")]
        wall = summary["contacts"][0]
        keys = {"closed, times": "interval_count", "in contact [s]": "time_in_contact", "smallest gap [m]": "min_gap",
                "impulse [N s]": "total_impulse", "peak force, filtered [N]": "filtered_peak_force"}
        expected = [wall[keys.get(title, title.split(" [")[0].replace(" ", "_"))] for title in rows[0][1:]]
        self.assertEqual(len(expected), 9)
        self.assertEqual(rows[1][0], "wall")
        self.assertIn("×10⁻", rows[1][-1])
        for cell, value in zip(rows[1][1:], expected, strict=True):
            self.assertAlmostEqual(number(cell), value, delta=1e-5 * abs(value))
        for key in ("initial", "final", "kinetic", "strain"):
            found = [number(w) for w in re.findall(r"[-0-9.]\S*\sJ", text(next(find(sections["energy"], "p"))))]
            self.assertTrue(any(abs(x - summary["energy"][key]) <= 1e-5 * abs(x) for x in found), key)
        bars = self.figure(page, "Ledger: what changed the energy")
        values = [number(t) for t in map(text, find(bars, "text")) if t.endswith(" J")]
        energy = summary["energy"]
        ledger = [energy["external_work"], -energy["damping_loss"], -energy["impact_loss"],
                  *([-energy["friction_loss"]] if "friction_loss" in energy else []),
                  energy["correction_work"] - energy["numerical_loss"]]
        for value, expected in zip(values, ledger, strict=True):
            self.assertAlmostEqual(value, expected, delta=1e-4 * abs(expected))
        widths = [float(r[1]["width"]) for r in find(bars, "rect")]
        for width, value in zip(widths, ledger, strict=True):
            self.assertAlmostEqual(width / max(widths), abs(value) / max(map(abs, ledger)), delta=1e-3)
        with open(os.path.join(self.run_folder, "case.resolved.yaml")) as file:
            listing = next(find(sections["case"], "pre"))
            self.assertEqual(text(listing), file.read())
        self.assertIn("contacts", [text(k) for k in find(listing, "span", class_="k")])

    def check_curve(self, page, title, column, history):
        """Every point that is drawn is one of the history, and the extremes are among them."""
        figure = self.figure(page, title)
        places, breaks = points(next(find(figure, "path")))
        known = [(t, y) for t, y in zip(history["t"], history[column]) if math.isfinite(y)]
        self.assertEqual(breaks, 0)
        self.assertLessEqual(len(places), MOST_POINTS)
        self.assertEqual(len(places), len(known) if len(history["t"]) <= MOST_POINTS else len(places))
        (x0, _), (x1, _) = places[0], places[-1]
        step = (known[-1][0] - known[0][0]) / (len(known) - 1)
        low, high = min(y for _, y in known), max(y for _, y in known)
        top, bottom = min(y for _, y in places), max(y for _, y in places)
        rows = [round((x - x0) / (x1 - x0) * (len(known) - 1)) for x, _ in places]
        self.assertEqual(rows, sorted(rows))
        self.assertGreater(bottom - top, 150)
        for row, (_, y) in zip(rows, places):
            # A pixel is more than a step where there are many.
            reach = math.ceil(0.01 / ((x1 - x0) * step / (known[-1][0] - known[0][0])))
            near = known[max(row - reach, 0):row + reach + 1]
            self.assertTrue(any(abs(bottom - (v - low) / (high - low) * (bottom - top) - y) < 0.03 for _, v in near))
        ticks = self.ticks(figure)
        self.assertGreater(len(ticks), 2)
        for value, y in ticks:
            self.assertAlmostEqual(bottom - (value - low) / (high - low) * (bottom - top), y, delta=0.15)
        return len(places)

    def ticks(self, figure):
        """Values at the vertical axis, and their places."""
        labels = list(find(figure, "text"))
        power = re.search(r"\[(10\S+) ", text(labels[-1]))
        factor = number("1×" + power.group(1)) if power else 1.0
        return [(float(text(t)) * factor, float(t[1]["y"]) - 4.5) for t in labels if t[1]["text-anchor"] == "end"]

    def test_curves_are_those_of_the_history(self):
        history = self.history(self.run_folder)
        page = self.report(self.run_folder)
        self.assertEqual(self.check_curve(page, "Contact wall: force", "wall.force", history), 750)
        self.assertEqual(self.check_curve(page, "Contact wall: gap", "wall.gap", history), 751)
        self.assertEqual(self.check_curve(page, "tip.vx", "tip.vx", history), 751)
        energies = self.figure(page, "Energies over time")
        self.assertEqual([len(points(p)[0]) for p in find(energies, "path")], [751, 751, 751])
        self.assertEqual([text(i) for i in find(energies, "li")], ["kinetic", "strain", "total"])
        (low, bottom), (high, top) = self.ticks(energies)[0], self.ticks(energies)[-1]
        curves = [history["kinetic"], history["strain"], [k + s for k, s in zip(history["kinetic"], history["strain"])]]
        for path, values in zip(find(energies, "path"), curves, strict=True):
            for (_, y), value in zip(points(path)[0], values, strict=True):
                self.assertAlmostEqual(bottom - (value - low) / (high - low) * (bottom - top), y, delta=0.2)

    def test_long_histories_are_thinned(self):
        history = self.history(self.fine_folder)
        self.assertGreater(len(history["t"]), 4 * MOST_POINTS - 1)
        page = self.report(self.fine_folder)
        for title, column in (("Contact wall: force", "wall.force"), ("tip.vx", "tip.vx")):
            self.assertGreater(self.check_curve(page, title, column, history), 700)

    def test_texts_are_escaped(self):
        page = self.report(self.fine_folder)
        self.assertEqual(text(next(find(page.root, "h1"))), '<script>alert(1)</script> & "ü"')
        self.assertEqual(list(find(page.root, "script")), [])

    def test_a_run_that_failed(self):
        folder = os.path.join(self.folder.name, "failed")
        os.mkdir(folder)
        summary = self.summary(self.run_folder)
        summary.update(ending="stopped", reason="step <3> & the rest", contacts=[])
        summary["certificate"].update(verdict="broken", broken="gap >= 0")
        summary["certificate"]["checks"][0].update(verdict="broken", worst_ratio=2.5)
        with open(os.path.join(folder, "summary.json"), "w") as file:
            json.dump(summary, file)
        page = self.report(folder)
        words = text(page.root)
        for part in ("The run ended early: step <3> & the rest", "The certificate is broken.",
                     "The first that did not hold is ‘gap >= 0’.", "came to 250 % of its tolerance",
                     "Without history.csv there are no curves"):
            self.assertIn(part, words)
        self.assertNotIn("Every check held", words)
        self.assertNotIn("contacts", [s[1]["id"] for s in find(page.root, "section")])

    def test_pictures_are_embedded(self):
        folder = os.path.join(self.folder.name, "pictures")
        shutil.copytree(self.run_folder, folder)
        pictures = {f"{n}.png": bytes(range(256))[:200 + n] for n in range(3)}
        for name, content in pictures.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        page = self.report(folder)
        self.assertNotIn("more pictures", page.source)
        movie = os.path.join(folder, "movie.mp4")
        for k in range(30):
            shutil.copy(os.path.join(folder, "0.png"), os.path.join(folder, f"z{k:02}.png"))
        with open(movie, "wb") as file:
            file.write(b"a movie")
        many = self.report(folder)
        self.assertEqual(len(list(find(many.root, "img"))), 23)
        self.assertIn("10 more pictures are in the folder", many.source)
        self.assertEqual([v[1]["src"] for v in find(many.root, "video")],
                         ["data:video/mp4;base64," + base64.b64encode(b"a movie").decode()])
        images = list(find(page.root, "img"))
        self.assertEqual([i[1]["alt"] for i in images], [f"Picture {name}" for name in pictures])
        for image, content in zip(images, pictures.values(), strict=True):
            kind, data = image[1]["src"].split(",")
            self.assertEqual(kind, "data:image/png;base64")
            self.assertEqual(base64.b64decode(data, validate=True), content)

    def check_marks(self, drawing, name, rows):
        """Marks and error bars stand where the table says."""
        paths = [(p[1]["class"].split()[0], p[1]["d"]) for p in find(drawing, "path")]
        marks = [tuple(map(float, re.match(r"M([-0-9.]+),([-0-9.]+)", d).groups())) for c, d in paths if c == "mark"]
        errors = [tuple(map(float, re.match(r"M([-0-9.]+),([-0-9.]+)V([-0-9.]+)", d).groups()))
                  for c, d in paths if c == "error"]
        values = [float(r[name]) for r in rows]
        low, high = values.index(min(values)), values.index(max(values))
        if values[high] - values[low] < 1e-9 * abs(values[high]):
            return
        scale = (marks[low][1] - marks[high][1]) / (values[high] - values[low])
        for (x, y), row, value in zip(marks, rows, values, strict=True):
            self.assertAlmostEqual(marks[low][1] - y, scale * (value - values[low]), delta=0.03)
            decades = math.log10(float(row["mesh.bar.elements"]) / 10) / math.log10(8)
            self.assertAlmostEqual((x - marks[0][0]) / (marks[3][0] - marks[0][0]), decades, delta=1e-3)
        labels = find(drawing, "text", **{"text-anchor": "middle"})
        tick = {text(t): float(t[1]["x"]) for t in labels if "x" in t[1]}
        self.assertAlmostEqual(tick["20"], marks[1][0], delta=0.1)
        self.assertTrue(all(20 < x < 480 and 0 < y < 230 for x, y in marks))
        bars = [(mark, float(r[f"{name}.bound"])) for mark, r in zip(marks, rows) if r[f"{name}.bound"]]
        for (x, bottom, top), (mark, bound) in zip(errors, bars, strict=True):
            self.assertEqual(x, mark[0])
            self.assertAlmostEqual(bottom - mark[1], scale * bound, delta=0.03 + 1e-3 * scale * bound)
            self.assertAlmostEqual(mark[1] - top, scale * bound, delta=0.03 + 1e-3 * scale * bound)

    def test_friction(self):
        folder = os.path.join(self.folder.name, "friction")
        self.percuss("run", "cases/stick_slip", "-q", "-o", folder)
        page, history = self.report(folder), self.history(folder)
        figure = self.figure(page, "Contact floor: force")
        self.assertEqual([text(i) for i in find(figure, "li")], ["force", "friction"])
        (low, bottom), (high, top) = self.ticks(figure)[0], self.ticks(figure)[-1]
        for path, column in zip(find(figure, "path"), ("floor.force", "floor.friction"), strict=True):
            values = [y for y in history[column] if math.isfinite(y)]
            for (_, y), value in zip(points(path)[0], values, strict=True):
                self.assertAlmostEqual(bottom - (value - low) / (high - low) * (bottom - top), y, delta=0.2)
        # Columns of a contact are not probes.
        probes = next(find(page.root, "section", id="probes"))
        self.assertEqual([text(c) for c in find(probes, "figcaption")], ["position", "velocity"])

    def commands(self, page):
        section = next(find(page.root, "section", id="again"))
        return [shlex.split(line) for line in text(next(find(section, "pre"))).splitlines()]

    def test_commands_make_it_again(self):
        for folder, file in ((self.run_folder, "history.csv"), (os.path.join(self.folder.name, "again"), "study.csv")):
            if file == "study.csv":
                self.percuss("study", "cases/bar_impact", "-q", "-o", folder, "--vary", "mesh.bar.elements=10,20",
                             "--vary", "scheme.rho_inf=0.6,0.8")
            page = self.report(folder)
            with open(os.path.join(folder, file)) as stream:
                before = stream.read()
            os.remove(os.path.join(folder, file))
            for command in self.commands(page):
                self.assertEqual(command[0], "percuss")
                self.percuss(*command[1:], "-q")
            with open(os.path.join(folder, file)) as stream:
                self.assertEqual(stream.read(), before)

    def test_the_version_is_that_of_the_results(self):
        folder = os.path.join(self.folder.name, "old")
        shutil.copytree(self.run_folder, folder)
        path = os.path.join(folder, "summary.json")
        present = self.percuss("--version").stdout.split()[1]
        with open(path) as file:
            summary = file.read()
        self.assertEqual(json.loads(summary)["version"], present)
        for version, words in (('"version": "0.0.7-<x>",', "Percuss, version 0.0.7-<x>: "),
                               ("", "The results do not say which version wrote them")):
            with open(path, "w") as file:
                file.write(summary.replace(f'"version": "{present}",', version))
            page = self.report(folder)
            cite = text(next(find(page.root, "section", id="cite")))
            self.assertIn(words, cite)
            self.assertIn("This page was written by version " + present, cite)
        self.assertNotIn("This page was written", self.report(self.run_folder).source)

    def test_what_cannot_be_written_ends_with_1(self):
        folder = os.path.join(self.folder.name, "full")
        shutil.copytree(self.run_folder, folder)

        def fill():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        for command in ("report", "plot"):
            before = sorted(os.listdir(folder))
            run = subprocess.run([PROGRAM, command, folder, "-o", os.path.join(folder, "summary.txt", "page.html")],
                                 capture_output=True, text=True, timeout=HANG)
            self.assertEqual((run.returncode, "summary.txt" in run.stderr), (1, True), run.stderr)
            self.assertEqual(sorted(os.listdir(folder)), before)
        run = subprocess.run([PROGRAM, "report", folder], capture_output=True, text=True, timeout=HANG, preexec_fn=fill)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("error: cannot write", run.stderr)
        self.assertEqual(sorted(os.listdir(folder)), before)

    def test_places_and_refusals(self):
        empty, new = os.path.join(self.folder.name, "empty"), os.path.join(self.folder.name, "new", "deep")
        os.mkdir(empty)
        run = self.percuss("report", self.study_folder + "//", "-o", os.path.join(new, "page.html"))
        self.assertEqual(run.stdout, f"Report in {new}/page.html\n")
        self.percuss("report", self.study_folder, "-o", new)
        self.assertEqual(sorted(os.listdir(new)), ["page.html", "report.html"])
        for arguments, words in (((), "results must follow"), ((empty,), "neither summary.json nor study.csv"),
                                 ((os.path.join(empty, "none"),), "there is no folder"),
                                 ((self.run_folder, "--set", "a=1"), "--set is an option of run")):
            self.assertIn(words, self.percuss("report", *arguments, status=2).stderr)
        self.assertEqual(os.listdir(empty), [])
        with open(os.path.join(empty, "study.csv"), "w") as file:
            file.write("a,b\n1,2\n")
        self.assertIn("not the table of a study", self.percuss("report", empty, status=2).stderr)
        self.assertEqual(os.listdir(empty), ["study.csv"])

    @unittest.skipIf(BROWSER is None, "chromium is not installed")
    def test_in_a_browser(self):
        for folder in (self.run_folder, self.study_folder):
            page = self.report(folder)
            copy = os.path.join(self.folder.name, "copy.html")
            with open(copy, "w", encoding="utf-8") as file:
                file.write(page.source + "<script>console.log('width', document.documentElement.scrollWidth, "
                                         "innerWidth, document.querySelectorAll('path').length)</script>")
            frame = os.path.join(self.folder.name, "frame.html")
            with open(frame, "w") as file:
                file.write("<iframe src='copy.html' width='360' height='700'></iframe>")
            dom, console = self.browse(os.path.join(folder, "report.html"))
            self.assertEqual(dom.count("<section"), page.source.count("<section"))
            self.assertEqual(dom.count("<figure"), page.source.count("<figure"))
            self.assertEqual(console, [])
            # On a phone nothing but tables and listings is wider than the screen.
            _, console = self.browse(frame)
            width, inner, paths = map(int, re.search(r"width (\d+) (\d+) (\d+)", " ".join(console)).groups())
            self.assertEqual(paths, page.source.count("<path"))
            self.assertLessEqual(width, inner)
            self.assertLessEqual(inner, 360)

    def browse(self, path):
        """The document as the browser has it, and the lines of its console."""
        with tempfile.TemporaryDirectory() as profile:
            run = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                 "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", "file://" + path],
                capture_output=True, text=True, timeout=HANG)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


if __name__ == "__main__":
    unittest.main()
