"""percuss report: pages of runs, studies, statics and modes against the results that they show, and in a browser.
Argument: the path of the program."""

import base64
import csv
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

from pages import TITLE, Pages, elements, find, number, text
from program import HANG, read_file, read_rows, write_file
from percuss._plot import make  # noqa: I100 - pages says where it is
from percuss.figure import Options
from percuss.frames import Frames

BROWSER = shutil.which("chromium")
WATCH = "window.problems = []; addEventListener('error', (e) => problems.push(e.message));"
# Steps of a script that uses the page as a reader does; what it sees goes to the console.
USE = """(() => {
  const $ = (id) => document.getElementById(id), seen = {}, canvas = $("body");
  const hash = () => { let h = 7;
    const d = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < d.length; i++) h = (31 * h + d[i]) >>> 0; return h; };
  const step = (name, more) => { const line = document.querySelector("#xt .cursor");
    seen[name] = { frame: Number($("slider").value), picture: hash(), xt: line && line.getAttribute("y1"),
      errors: problems,
      ...more }; };
  const slide = (value) => { $("slider").value = value; $("slider").dispatchEvent(new Event("input")); };
  const key = (name) => $("player").dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const mouse = (target, kind, x, y, more) => { const box = target.getBoundingClientRect();
    target.dispatchEvent(new PointerEvent(kind, { clientX: box.left + x * box.width, clientY: box.top + y * box.height,
      bubbles: true, pointerId: 1, ...more })); };
  const wait = (time, next) => setTimeout(next, time);
  const done = () => { seen.errors = problems; console.log("RESULT " + JSON.stringify(seen)); };
  canvas.setPointerCapture = () => {};
  STEPS
})();"""
RUN_STEPS = """
  slide(0); step("first"); slide($("slider").max); step("end"); key("ArrowLeft"); step("back"); key("Home");
  step("home"); key("End"); step("key_end"); slide(0);
  canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, clientX: 300, clientY: 200, cancelable: true }));
  step("wheel");
  mouse(canvas, "pointermove", 0.5, 0.5, { buttons: 1, movementX: 30, movementY: 10 }); step("drag");
  $("reset").click(); step("reset");
  $("field").value = -1; $("field").dispatchEvent(new Event("change"));
  slide(2); step("plain"); slide(6); step("moved");  // before the impact: no colours, no arrows
  $("field").selectedIndex = 1; $("field").dispatchEvent(new Event("change")); slide(0); step("field");
  const frame = document.querySelector("#contacts [data-axes]"), axes = JSON.parse(frame.dataset.axes)[0];
  mouse(frame, "pointerdown", axes[0] + 0.6 * (axes[1] - axes[0]), 1 - (axes[2] + axes[3]) / 2, { buttons: 1 });
  const line = frame.querySelector(".line");
  step("clicked", { at: axes[4] + 0.6 * (axes[5] - axes[4]), x: 100 * (axes[0] + 0.6 * (axes[1] - axes[0])),
    cursor: parseFloat(line.style.left) });
  document.querySelector("#contacts [data-t]").click(); step("table");
  slide(0); $("play").click();
  const played = (left) => { if (Number($("slider").value) <= 3 && left > 0) return wait(100, () => played(left - 1));
    step("played"); key(" "); wait(400, () => { step("paused"); done(); }); };
  played(200);  // 20 s on a busy machine
"""


class Report(Pages):
    def test_pages_hold_all_they_show(self):
        folders = (self.run_folder, self.study_folder, self.statics_folder, self.modes_folder)
        for folder in folders:
            page = self.report(folder)
            self.assertLess(len(page.source), 3e6)
            kinds = [s[1].get("type", "") for s in find(page.root, "script")]
            self.assertEqual(kinds.count(""), 1)  # player.js, and data that is not run
            self.assertLessEqual(set(kinds), {"", "application/json"})
            outside = re.sub(r"<script>.*?</script>", "", page.source, flags=re.S)  # which names the space of SVG
            self.assertIsNone(re.search(r"https?:|@import|url\((?!#)", outside))
            self.assertNotRegex(page.source, r"\b(fetch|XMLHttpRequest|WebSocket|importScripts|eval)\b\(?")
            for tag in ("img", "video", "link", "a", "iframe", "source", "image", "use"):
                for element in find(page.root, tag):
                    for name in ("src", "href"):
                        self.assertRegex(element[1].get(name, "data:"), "^(data:|#)")
            self.assertEqual([m[1]["content"] for m in find(page.root, "meta", name="viewport")],
                             ["width=device-width, initial-scale=1"])
            for rule in ("@media print", "@page{size:A4", "prefers-color-scheme:dark", "default-src 'none'"):
                self.assertIn(rule, page.source)
            identities = [s[1]["id"] for s in elements(page.root) if "id" in s[1]]
            self.assertEqual(len(set(identities)), len(identities))
            self.assertLessEqual({"case", "again", "cite"}, {s[1]["id"] for s in find(page.root, "section")})
            for figure in find(page.root, "div", class_="drawn drawing"):
                self.assertTrue(figure[1]["aria-label"])
                self.assertTrue(all(math.isfinite(x) for axes in json.loads(figure[1]["data-axes"]) for x in axes))

    def without_curves(self, name):
        """A folder with the results of the run but for its history: drawing curves takes seconds."""
        folder = os.path.join(self.folder.name, name)
        shutil.copytree(self.run_folder, folder, ignore=shutil.ignore_patterns("history.csv"))
        return folder

    def test_words_and_numbers_of_a_run(self):
        page, summary = self.report(self.run_folder), self.summary(self.run_folder)
        sections = {s[1]["id"]: s for s in find(page.root, "section")}
        self.assertLessEqual({"motion", "certificate", "model", "contacts", "energy", "probes"}, set(sections))
        order = list(sections)
        self.assertLess(order.index("motion"), order.index("contacts"))
        self.assertLess(order.index("probes"), order.index("certificate"))  # physics first
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
                "impulse [N s]": "total_impulse", "peak force, filtered [N]": "filtered_peak_force",
                "at t [s]": "peak_force_time"}
        expected = [wall[keys.get(title, title.split(" [")[0].replace(" ", "_"))] for title in rows[0][1:]]
        self.assertEqual(len(expected), 10)
        self.assertEqual(rows[1][0], "wall")
        self.assertIn("×10⁻", rows[1][-1])
        for cell, value in zip(rows[1][1:], expected, strict=True):
            self.assertAlmostEqual(number(cell), value, delta=1e-5 * abs(value))
        for key in ("initial", "final", "kinetic", "strain"):
            found = [number(w) for w in re.findall(r"[-0-9.]\S*\sJ", text(next(find(sections["energy"], "p"))))]
            self.assertTrue(any(abs(x - summary["energy"][key]) <= 1e-5 * abs(x) for x in found), key)
        for tree, name in (("vectors.displacement.magnitude.max", "displacement"), ("vectors.velocity.magnitude.max",
                                                                                   "speed")):
            largest = summary["frames"]
            for key in tree.split("."):
                largest = largest[key]
            said = re.search(rf"largest {name} (?:is )?(\S+)\s(m|m/s)\b", text(next(find(sections["motion"], "p"))))
            self.assertAlmostEqual(number(said.group(1)), largest, delta=1e-3 * largest)
        ledger = {text(r[2][0]): number(text(r[2][1])) for r in find(next(find(
            sections["energy"], "div", class_="scroll ledger")), "tr") if r[2][0][0] == "th" and r[2][0][1]}
        energy = summary["energy"]
        self.assertEqual(set(ledger), {"impacts", "position correction", "numerical loss"})
        for name, key, sign in (("impacts", "impact_loss", -1), ("numerical loss", "numerical_loss", -1)):
            self.assertAlmostEqual(ledger[name], sign * energy[key], delta=1e-4 * abs(energy[key]))
        listing = text(next(find(sections["case"], "pre")))
        self.assertEqual(listing, read_file(os.path.join(self.run_folder, "case.resolved.yaml")))

    def test_curves_are_those_of_the_history(self):
        """Curves stand in the axes to which clicks and cursors are bound."""
        history, page = self.history(self.run_folder), self.report(self.run_folder)
        titles = [text(next(find(f, "figcaption"))) for f in find(page.root, "figure") if list(find(f, "svg"))]
        self.assertEqual(titles, ["Contact wall", "Energies and what changed them", "Momentum", "tip",
                                  "tip.x and its rate", "Steps"])
        frame = next(find(self.figure(page, "Contact wall"), "div"))
        svg = next(find(frame, "svg"))
        left, right, bottom, top, low, high, is_across = json.loads(frame[1]["data-axes"])[1]  # below the gap
        self.assertTrue(is_across)
        wide, tall = (float(x) for x in svg[1]["viewbox"].split()[2:])
        group, = find(svg, "g", id=next(g[1]["id"] for g in find(svg, "g") if g[1].get("id", "").endswith("axes_2")))
        curve = max((p[1]["d"] for p in find(group, "path") if "clip-path" in p[1]), key=len)
        places = [tuple(map(float, pair)) for pair in re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", curve)]
        times = [low + (x / wide - left) / (right - left) * (high - low) for x, _ in places]
        self.assertEqual(times, sorted(times))
        heights = [(tall - y) / tall for _, y in places]
        loaded = [t for t, f in zip(history["t"], history["wall.force"]) if f > 0.0]
        highest = times[max(range(len(heights)), key=heights.__getitem__)]
        peak = history["t"][max(range(1, len(history["t"])), key=lambda i: history["wall.force"][i])]
        self.assertAlmostEqual(highest, peak, delta=0.01)
        self.assertTrue(low < loaded[0] < loaded[-1] < high)
        self.assertTrue(all(bottom - 1e-3 <= y <= top + 1e-3 for y in heights))

    def test_texts_are_escaped(self):
        page = self.report(self.run_folder)
        self.assertEqual(text(next(find(page.root, "h1"))), TITLE)
        self.assertEqual(len([s for s in find(page.root, "script") if "type" not in s[1]]), 1)
        history = os.path.join(self.folder.name, "words")
        names = ["t", "step", "iterations", "</script><b>x.gap", "a b.vx", "it's \"so\".uy", "new\nline.x",
                 "</script>.y"]
        summary = self.summary(self.run_folder)
        summary["contacts"][0]["name"] = "<img src=x onerror=alert(1)>\u0000"
        write_file(os.path.join(history, "summary.json"), json.dumps(summary))
        with open(os.path.join(history, "history.csv"), "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([names, *([k, k, 0, *range(5)] for k in range(3))])
        page = self.report(history)
        self.assertEqual(list(find(page.root, "b")) + list(find(page.root, "img")), [])
        self.assertEqual(len([s for s in find(page.root, "script") if "type" not in s[1]]), 1)
        titles = {f[1]["aria-label"] for f in find(page.root, "div", class_="drawn drawing")}
        self.assertLessEqual({"a b", "it's \"so\"", "new\nline", "</script>"}, titles)
        self.assertIn("<img src=x onerror=alert(1)>\ufffd", text(page.root))

    def test_a_run_that_failed(self):
        folder = os.path.join(self.folder.name, "failed")
        summary = self.summary(self.run_folder)
        summary.update(ending="stopped", reason="step <3> & the rest", contacts=[])
        summary["certificate"].update(verdict="broken", broken="gap >= 0")
        summary["certificate"]["checks"][0].update(verdict="broken", worst_ratio=2.5)
        write_file(os.path.join(folder, "summary.json"), json.dumps(summary))
        page = self.report(folder)
        words = text(page.root)
        for part in ("The run ended early: step <3> & the rest", "The certificate is broken.",
                     "The first that did not hold is ‘gap >= 0’.", "came to 250 % of its tolerance",
                     "Without history.csv there are no curves"):
            self.assertIn(part, words)
        self.assertNotIn("Every check held", words)
        self.assertNotIn("contacts", [s[1]["id"] for s in find(page.root, "section")])

    def test_pictures_are_embedded(self):
        folder = self.without_curves("pictures")
        pictures = {f"{n}.png": bytes(range(256))[:200 + n] for n in range(3)}
        for name, content in pictures.items():
            write_file(os.path.join(folder, name), content)
        page = self.report(folder)
        self.assertNotIn("more pictures", page.source)
        movie = os.path.join(folder, "movie.mp4")
        for k in range(30):
            shutil.copy(os.path.join(folder, "0.png"), os.path.join(folder, f"z{k:02}.png"))
        write_file(movie, b"a movie")
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

    def test_a_study(self):
        page = self.report(self.study_folder)
        rows = self.table(self.study_folder)
        names = [n[:-len(".limit")] for n in rows[0] if n.endswith(".limit")]
        done = [r for r in rows if r["status"] == "done"]
        self.assertEqual(({r["level"] for r in done}, len(done)), ({"0", "1", "2"}, 3 * 4))
        self.assertIn("4 of 8 points are done. Why the others are not is in their rows. Varied: mesh.bar.elements, "
                      "scheme.rho_inf, contacts.wall.restitution, initial.0.velocity. Refined: step.", text(page.root))
        self.assertIn("a bound of the error by step,", text(page.root))
        self.assertIn("The error of the mesh is not in it.", text(page.root))
        cells = [[text(c) for c in r[2] if c != "\n"] for r in find(next(find(page.root, "tbody")), "tr")]
        nkey = list(rows[0]).index("run")
        for row, found in zip(rows, cells, strict=True):
            self.assertEqual(found[:nkey], list(row.values())[:nkey])
            if row["status"] != "done":
                self.assertEqual(found[nkey:], [f"{row['status']}: {row['reason']}"])
                continue
            for name, cell in zip(names, found[nkey:], strict=True):
                self.assertAlmostEqual(number(cell), float(row[name]), delta=1e-5 * abs(float(row[name])))
                self.assertIn({"converges": "order"}.get(row[f"{name}.convergence"], row[f"{name}.convergence"]), cell)
                if row[f"{name}.bound"]:
                    bound = float(row[f"{name}.bound"])
                    self.assertAlmostEqual(number(cell.split("±\xa0")[1]), bound, delta=0.051 * bound)
        for name in names:
            drawing = next(find(self.figure(page, f"{name} over the points"), "svg"))
            self.assertGreater(len(list(find(drawing, "path"))), 4)
        # The parts of the bounds stand in the cells; they are no measures of their own.
        self.assertEqual(len(list(find(next(find(page.root, "thead")), "th"))), nkey + len(names))
        before = pathlib.Path(self.study_folder, "study.csv").read_bytes()
        for name in ("study.csv", "study.json"):
            os.remove(os.path.join(self.study_folder, name))
        shutil.rmtree(os.path.join(self.study_folder, "runs"))
        self.make_again(page)
        self.assertEqual(pathlib.Path(self.study_folder, "study.csv").read_bytes(), before)

    def test_a_study_without_results(self):
        folder = os.path.join(self.folder.name, "nothing")
        write_file(f"{folder}/study.csv", "a,run,status,m,reason\n1,x,failed,,it broke\n2,y,failed,,it broke\n")
        self.assertIn("0 of 2 points are done.", text(self.report(folder).root))

    def test_statics(self):
        page = self.report(self.statics_folder)
        self.assertEqual(text(next(find(page.root, "h1"))), "Roof that snaps through")
        rows = read_rows(os.path.join(self.statics_folder, "statics.csv"))
        frame = next(find(self.figure(page, "Load path: ridge"), "div"))
        axes, = json.loads(frame[1]["data-axes"])
        self.assertFalse(axes[6])  # the load factor is the clock, upwards
        self.assertTrue(axes[4] < min(float(row["factor"]) for row in rows))
        scene = self.data(page, "scene-data")
        self.assertEqual((scene["rows"], scene["start"]), (list(range(len(rows))), len(rows) - 1))
        table = next(find(next(find(page.root, "section", id="steps")), "tbody"))
        cells = [[text(c) for c in r[2] if c != "\n"] for r in find(table, "tr")]
        for cell, row in zip(cells, rows, strict=True):
            self.assertAlmostEqual(number(cell[1]), float(row["factor"]), delta=1e-5)
        self.assertIn("limit points", text(next(find(page.root, "section", id="summary"))))

    def test_modes(self):
        page = self.report(self.modes_folder)
        rows = read_rows(os.path.join(self.modes_folder, "modes.csv"))
        table = next(find(next(find(page.root, "section", id="modes")), "tbody"))
        for tr, row in zip(find(table, "tr"), rows, strict=True):
            cells = [text(c) for c in tr[2] if c != "\n"]
            self.assertEqual((cells[0], cells[4]), (row["mode"], row["kind"]))
            self.assertAlmostEqual(number(cells[1]) / float(row["f"]), 1.0, delta=1e-5)
        for title in ("Frequencies", "Mode shapes"):
            self.figure(page, title)
        scene = self.data(page, "scene-data")
        self.assertIn(f"{float(rows[0]['f']):.4g} Hz", scene["names"][0])
        # A whirling shape has both parts: the real one as displacement, the imaginary one beside it.
        self.assertTrue(scene["u"] and scene["w"])

    def test_the_picture_is_that_of_the_frames(self):
        scene = self.data(self.report(self.run_folder), "scene-data")
        frames = Frames(self.run_folder)
        self.assertEqual(scene["times"], frames.times.tolist())
        frame = len(frames) // 2
        points, stress = frames[frame].points, frames[frame].point_data["stress"]
        npoint = len(points)
        reference = struct.unpack(f"<{3 * npoint}f", base64.b64decode(scene["reference"]))
        moved = struct.unpack(f"<{len(frames) * npoint}H", base64.b64decode(scene["u"]["data"]))
        self.assertEqual(scene["u"]["axes"], [0])
        low, high = scene["u"]["low"][0], scene["u"]["high"][0]
        for i in range(npoint):
            x = reference[3 * i] + low + moved[frame * npoint + i] / 65535 * (high - low)
            self.assertAlmostEqual(x, points[i, 0], delta=(high - low) / 65535 + 1e-6)
        field = scene["fields"][0]
        self.assertEqual((field["name"], field["unit"], field["points"]), ("stress", "Pa", True))
        levels = base64.b64decode(field["data"])
        for i in range(npoint):
            value = field["low"] + levels[frame * npoint + i] / 255 * (field["high"] - field["low"])
            self.assertAlmostEqual(value, max(min(stress[i], field["high"]), field["low"]),
                                   delta=0.51 * (field["high"] - field["low"]) / 255)
        wall, = (row for row in scene["arrows"]["at"][frame])
        self.assertGreater(wall[3], 0.0)
        self.assertEqual(scene["straight"], 1)

    def test_friction(self):
        folder = os.path.join(self.folder.name, "friction")
        self.percuss("run", "cases/stick_slip", "-q", "-o", folder)
        figures = make([folder], [], Options())[0]
        self.assertLessEqual({"floor.force [N]", "floor.friction [N]"},
                             {axes.get_ylabel() for axes in figures["contact_floor"]().axes})
        # Columns of a contact are not probes.
        self.assertEqual([name for name in figures if name.startswith(("probe", "coordinates", "phase"))],
                         ["coordinates", "phase_x"])

    def commands(self, page):
        section = next(find(page.root, "section", id="again"))
        return [shlex.split(line) for line in text(next(find(section, "pre"))).splitlines()]

    def make_again(self, page):
        """Follows the commands of a page but for the last, which makes the page."""
        *commands, last = self.commands(page)
        self.assertEqual(last[:2], ["percuss", "report"])
        for command in commands:
            self.assertEqual(command[0], "percuss")
            self.percuss(*command[1:], "-q")
        return last[2:]

    def test_commands_make_it_again(self):
        path = os.path.join(self.run_folder, "history.csv")
        page = self.report(self.run_folder)
        before = pathlib.Path(path).read_bytes()
        os.remove(path)
        self.assertEqual(self.make_again(page), [self.run_folder])
        self.assertEqual(pathlib.Path(path).read_bytes(), before)

    def test_the_version_is_that_of_the_results(self):
        folder = self.without_curves("old")
        path = os.path.join(folder, "summary.json")
        present = self.percuss("--version").stdout.split()[1]
        summary = read_file(path)
        self.assertEqual(json.loads(summary)["version"], present)
        for version, words in (('"version": "0.0.7-<x>",', "Percuss, version 0.0.7-<x>: "),
                               ("", "The results do not say which version wrote them")):
            write_file(path, summary.replace(f'"version": "{present}",', version))
            page = self.report(folder)
            cite = text(next(find(page.root, "section", id="cite")))
            self.assertIn(words, cite)
            self.assertIn("This page was written by version " + present, cite)
        source = self.report(self.run_folder).source
        self.assertNotIn("This page was written", source)
        title = re.search('^title: "(.*)"$', pathlib.Path("CITATION.cff").read_text(), re.M)[1]
        self.assertIn("{" + title + "}", source)
        self.assertIn("{" + present + "}", source)

    def test_what_cannot_be_written_ends_with_1(self):
        folder = self.without_curves("full")
        before, most = sorted(os.listdir(folder)), resource.getrlimit(resource.RLIMIT_FSIZE)
        run = self.percuss("report", folder, "-o", os.path.join(folder, "summary.txt", "page.html"), status=1)
        self.assertIn("summary.txt", run.stderr)
        self.assertEqual(sorted(os.listdir(folder)), before)
        self.addCleanup(signal.signal, signal.SIGXFSZ, signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, most)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, most[1]))
        self.assertIn("error: cannot write", self.percuss("report", folder, status=1).stderr)
        self.assertEqual(sorted(os.listdir(folder)), before)

    def test_places_and_refusals(self):
        empty, new = os.path.join(self.folder.name, "empty"), os.path.join(self.folder.name, "new", "deep")
        os.mkdir(empty)
        folder = self.without_curves("a folder")
        run = self.percuss("report", folder, "-o", os.path.join(new, "page.html"))
        self.assertEqual(run.stdout, f"Report in {new}/page.html\n")
        self.percuss("report", folder, "-o", new)
        self.assertEqual(sorted(os.listdir(new)), ["page.html", "report.html"])
        for arguments, words in (((), "required: RESULTS"), ((empty,), "no history.csv, study.csv"),
                                 ((os.path.join(empty, "none"),), "no such file or folder"),
                                 ((self.run_folder, "--set", "a=1"), "unknown option '--set'")):
            self.assertIn(words, self.percuss("report", *arguments, status=2).stderr)
        self.assertEqual(os.listdir(empty), [])
        write_file(os.path.join(empty, "study.csv"), "a,b\n1,2\n")
        self.assertIn("not the table of a study", self.percuss("report", empty, status=2).stderr)
        self.assertEqual(os.listdir(empty), ["study.csv"])


@unittest.skipIf(BROWSER is None, "chromium is not installed: reports are not opened in a browser")
class Player(Pages):
    """Pages in a browser: charts stand where their axes say, the picture moves by slider, keys, mouse and clicks."""

    def test_in_a_browser(self):
        """Pages open without a word on the console; on a phone nothing but tables and listings is wider than it."""
        folders = (self.run_folder, self.study_folder, self.statics_folder, self.modes_folder)
        said = "console.log('seen', document.querySelectorAll('section').length, innerWidth, " \
               "document.documentElement.scrollWidth);"
        pages = [self.report(folder) for folder in folders]
        seen = self.open([(page, said) for page in pages], widths=(1200, 360))
        for page, (wide, narrow) in zip(pages, seen, strict=True):
            for width, lines in ((1200, wide), (360, narrow)):
                self.assertEqual(len(lines), 1, lines)
                nsection, inner, used = map(int, re.search(r"seen (\d+) (\d+) (\d+)", lines[0]).groups())
                self.assertEqual(nsection, page.source.count("<section"))
                self.assertLessEqual(used, inner)
                self.assertLessEqual(inner, width)

    def test_the_player(self):
        """Slider, keys, mouse, play and clicks in charts move the picture, the cursors and the clock."""
        page = self.report(self.run_folder)
        found, = self.use((page, RUN_STEPS))
        times = self.data(page, "scene-data")["times"]
        last = len(times) - 1
        self.assertEqual([found[k]["frame"] for k in ("first", "end", "back", "home", "key_end")],
                         [0, last, last - 1, 0, last])
        self.assertEqual(len({found[k]["picture"] for k in ("first", "end", "back", "wheel", "drag", "field")}), 6)
        self.assertEqual(found["home"]["picture"], found["first"]["picture"])
        self.assertNotEqual(found["plain"]["picture"], found["moved"]["picture"])
        self.assertEqual(found["reset"]["picture"], found["first"]["picture"])
        self.assertGreater(found["played"]["frame"], 3)
        self.assertEqual(found["paused"]["frame"], found["played"]["frame"])
        nearest = min(range(last + 1), key=lambda i: abs(times[i] - found["clicked"]["at"]))
        self.assertLessEqual(abs(found["clicked"]["frame"] - nearest), 1)
        self.assertAlmostEqual(found["clicked"]["cursor"], found["clicked"]["x"], delta=2)
        peak = self.summary(self.run_folder)["contacts"][0]["peak_force_time"]
        self.assertEqual(found["table"]["frame"], min(range(last + 1), key=lambda i: abs(times[i] - peak)))
        self.assertNotEqual(found["first"]["xt"], found["end"]["xt"])
        self.assertEqual(found["errors"], [])

    def test_the_player_of_modes_and_statics(self):
        modes, statics = self.use(
            (self.report(self.modes_folder), "step('one'); key(' '); wait(600, () => { step('later'); key(' '); "
             "slide(2); step('next'); done(); });"),
            (self.report(self.statics_folder), "slide(3); step('three'); slide(9); step('nine'); done();"))
        self.assertEqual([modes[k]["frame"] for k in ("one", "later", "next")], [0, 0, 2])
        self.assertEqual(len({modes[k]["picture"] for k in ("one", "later", "next")}), 3)
        self.assertNotEqual(statics["three"]["picture"], statics["nine"]["picture"])
        self.assertEqual((statics["three"]["errors"], statics["nine"]["frame"]), ([], 9))

    def use(self, *pages):
        """What scripts that use the pages have seen."""
        watched = [(page, USE.replace("STEPS", steps)) for page, steps in pages]
        for (lines,) in self.open(watched, widths=(1200,)):
            line = next((line for line in lines if "RESULT" in line), None)
            self.assertIsNotNone(line, lines)
            yield json.loads(re.search(r'RESULT (.*)", source', line).group(1).replace('\\"', '"'))

    def open(self, pages, widths):
        """Lines of the console by page and width: all pages, each with a script, are frames of one document."""
        path, frames = os.path.join(self.folder.name, "frames.html"), []
        for k, (page, script) in enumerate(pages):
            for width in widths:
                with open(os.path.join(self.folder.name, f"page{k}_{width}.html"), "w", encoding="utf-8") as file:
                    file.write(page.source.replace("<head>", f"<head><script>{WATCH}</script>") +
                               f"<script>{script}</script>")
                frames.append(f"<iframe src='page{k}_{width}.html' width='{width}' height='700'></iframe>")
        write_file(path, "".join(frames))
        console = self.browse(path)
        return [[[line for line in console if f"page{k}_{width}.html" in line] for width in widths]
                for k in range(len(pages))]

    def browse(self, path):
        """The lines of the console of the browser."""
        with tempfile.TemporaryDirectory() as profile:
            run = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                 "--enable-logging=stderr", "--virtual-time-budget=25000", "--dump-dom", "file://" + path],
                capture_output=True, text=True, timeout=HANG)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [line for line in run.stderr.splitlines() if "CONSOLE" in line]


unittest.main()
