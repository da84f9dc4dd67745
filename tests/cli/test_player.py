"""Reports in a browser: charts stand where their axes say, the picture moves by slider, keys, mouse and clicks. Without
chromium all of it is skipped with a word. Argument: the path of the program."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from pages import Pages
from program import HANG

BROWSER = shutil.which("chromium")
if BROWSER is None:
    print("chromium is not installed: reports are not opened in a browser")
    sys.exit(77)

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


class Player(Pages):
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
        with open(path, "w") as file:
            file.write("".join(frames))
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


if __name__ == "__main__":
    unittest.main()
