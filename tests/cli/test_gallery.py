"""The gallery as it is committed: the list names what there is, the page shows all of it, and what decides about a key
figure works. `make gallery` computes the figures themselves. Argument: the path of the program."""

import os
import re
import sys
import tempfile
import unittest

from pages import Page, elements, find, text
from program import PROGRAM, percuss, read_bytes, read_file

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "docs", "gallery")
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

try:
    import jinja2  # noqa: F401
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
except ImportError as error:
    print(f"{error.name} is not installed: the gallery is not tested")
    sys.exit(77)
import make  # noqa: E402
import results  # noqa: E402

LIST = make.load()
CASES = sorted(os.listdir(os.path.join(ROOT, "cases")))


PAGE = Page(read_file(os.path.join(HERE, "index.html")))
PICTURES = [image[1]["src"] for image in find(PAGE.root, "img")]
PLACES = [element[1]["id"] for element in elements(PAGE.root) if "id" in element[1]]


class TheList(unittest.TestCase):
    def test_runs_and_entries_name_what_there_is(self):
        for name, spec in LIST["runs"].items():
            self.assertIn(spec["case"], CASES, name)
            self.assertTrue(name.isidentifier() and name not in CASES, name)
        known = {*CASES, *LIST["runs"]}
        for entry in LIST["entries"]:
            self.assertIn(entry["section"], LIST["sections"])
            named = [*entry.get("runs", []), *(run for plot in entry["plots"] for run in plot.get("of", []))]
            self.assertLessEqual({*named, entry.get("view", "ball")}, known, entry["id"])
            for spec in (entry[kind] for kind in ("orders", "work") if kind in entry):
                self.assertIn(spec["case"], CASES)
            self.assertTrue(entry["plots"] and entry["figures"], entry["id"])
        self.assertEqual(len({entry["id"] for entry in LIST["entries"]}), len(LIST["entries"]))

    def test_every_case_is_shown(self):
        shown = {run for entry in LIST["entries"] for run in entry.get("runs", [])}
        cases = {LIST["runs"].get(run, {"case": run})["case"] for run in shown}
        self.assertEqual(sorted(cases), CASES)

    def test_every_figure_of_the_papers_is_computed_or_has_a_reason(self):
        for key, paper in LIST["papers"].items():
            shown = {label for entry in LIST["entries"] for label in entry.get("shows", {}).get(key, [])}
            reasons = paper["not_computed"]
            self.assertEqual(shown | set(reasons), set(paper["figures"]), key)
            self.assertEqual(shown & set(reasons), set(), key)
            self.assertTrue(all(reasons.values()), key)

    def test_the_program_takes_every_variant(self):
        for name, spec in LIST["runs"].items():
            words = make.words_of({"case": spec["case"], "set": spec.get("set"), "command": "check"})
            percuss(*words, cwd=ROOT, status=0)


class ThePage(unittest.TestCase):
    def test_pictures_links_and_size(self):
        for image in find(PAGE.root, "img"):
            self.assertTrue(image[1]["alt"] and os.path.isfile(os.path.join(HERE, image[1]["src"])), image[1])
        files = {name for name in os.listdir(HERE) if name.endswith((".svg", ".png"))}
        self.assertEqual(files, set(PICTURES))
        for link in find(PAGE.root, "a"):
            self.assertIn(link[1]["href"].removeprefix("#"), PLACES)
        self.assertLessEqual(make.size(), make.MOST_BYTES)
        viewport, = find(PAGE.root, "meta", name="viewport")
        self.assertEqual(viewport[1]["content"], "width=device-width, initial-scale=1")
        self.assertIsNone(re.search(r"https?:|@import|url\(|<script", PAGE.source))

    def test_it_is_that_of_the_list(self):
        words = text(PAGE.root)
        for entry in LIST["entries"]:
            self.assertIn(entry["id"], PLACES)
            for figure in entry["figures"]:
                self.assertTrue(figure["what"] in words, figure["what"])
            for number in range(len(entry["plots"])):
                self.assertIn(f"{entry['id']}{'' if number == 0 else f'_{number + 1}'}.svg", PICTURES)
        for paper in LIST["papers"].values():
            self.assertTrue(paper["cite"] in words, paper["cite"])

    def test_pictures_are_whole(self):
        for name in PICTURES:
            data = read_bytes(os.path.join(HERE, name))
            self.assertTrue(data.startswith(b"\x89PNG") or data.rstrip().endswith(b"</svg>"), name)


class TheVerdict(unittest.TestCase):
    def gallery(self, folder, figures):
        gallery = make.Gallery(PROGRAM, folder, False)
        gallery.runs = {"ball": gallery.run("ball", {"case": "ball", "set": {"time.end": 0.5}})}
        rows = gallery.figures({"id": "ball", "figures": figures}, {})
        return gallery, rows

    def test_a_figure_outside_its_tolerance_is_told(self):
        figure = {"what": "first impulse", "is": "exact", "value": "ball.highest('floor.step_impulse')",
                  "reference": 7.22}
        cases = (({"tolerance": 1e-9}, 0), ({"tolerance": "0.1 %"}, 0),
                 ({"tolerance": 1e-9, "reference": "7.22 + 2e-9"}, 1), ({"tolerance": "0.1 %", "reference": 7.23}, 1),
                 ({"tolerance": 1.0, "value": "nan"}, 1))
        with tempfile.TemporaryDirectory() as folder:
            for changes, wrong in cases:
                gallery, rows = self.gallery(folder, [figure | changes])
                self.assertEqual((len(gallery.failed), len(rows)), (wrong, 1), changes)
            self.assertIn("first impulse is nan, must be 7.22 within 1", gallery.failed[0])

    def test_a_run_that_fails_or_is_unresolved_without_a_word_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            gallery = make.Gallery(PROGRAM, folder, False)
            gallery.specs = {"wrong": {"case": "ball", "set": {"system.mass": -1.0}},
                             "said": {"case": "cantilever_stop"},
                             "silent": {"case": "bar_impact", "set": {"time.step": 0.2}}, "fine": {"case": "bar_fast"}}
            gallery.run_all()
            self.assertEqual((list(gallery.runs), len(gallery.failed)), (["said", "silent", "fine"], 2))
            self.assertIn("system.mass must be > 0", gallery.failed[0])
            self.assertIn("silent: the run is unresolved", gallery.failed[1])

    def test_numbers_from_results(self):
        with tempfile.TemporaryDirectory() as folder:
            gallery, _ = self.gallery(folder, [])
            ball = gallery.runs["ball"]
            self.assertAlmostEqual(ball.at("height", 0.101), 1.001 - 5.0 * 0.101**2, delta=1e-5)
            self.assertAlmostEqual(ball.error("floor_gap - ball(t)"), 0.0, delta=2e-3)
            self.assertAlmostEqual(ball.column("energy")[0], ball.summary("energy.initial"), delta=1e-12)
            self.assertEqual(ball.distance(["height"], ball), 0.0)
            self.assertAlmostEqual(ball.by_alias("sum_floor_step_impulse")[-1], ball.summary("floor.total_impulse"))
        self.assertAlmostEqual(results.slope([(h, 3.0 * h**2) for h in (1.0, 0.5, 0.25)]), 2.0)
        self.assertAlmostEqual(results.largest_eigenvalue([[2.0, 1.0], [1.0, 2.0]]), 3.0)

    def test_pictures_in_fewer_bytes(self):
        svg = ('<svg><metadata>\n x</metadata><!-- note -->\n  <g id="a"><use href="#b" x="1.2345"/>0.0008</g>\n'
               '<image href="data:image/png;base64,iVBOR1.23456" width="7.98765"/><path id="b"/></svg>')
        self.assertEqual(make.shorten(svg), '<svg>\n<g><use href="#b" x="1.2"/>0.0008</g>\n<image '
                         'href="data:image/png;base64,iVBOR1.23456" width="7.9"/><path id="b"/></svg>')

    def test_names_do_no_harm_to_the_page(self):
        entry = {"id": "x", "section": "bars", "title": "<script>alert('1')</script>", "text": "a `<b>` & \"c\"",
                 "shows": {"S15": [4]}, "pictures": [], "view": None, "rows": [], "commands": ["percuss run '<i>'"]}
        page = make.write_page(LIST, [entry])
        self.assertNotIn("<script>", page)
        self.assertIn("a <code>&lt;b&gt;</code> &amp; &#34;c&#34;", page)
        self.assertIn("Fig. 4", page)


unittest.main(argv=sys.argv[:1])
