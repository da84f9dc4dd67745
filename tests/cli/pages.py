"""Reports for tests: results of every kind, their pages as trees, and what a page gives to its script."""

import html.parser
import json
import math
import os
import re
import sys
import tempfile
import unittest

from program import has_tools, percuss, read_json, read_rows
from tools import call

if not has_tools():
    print("the library cannot be loaded by Python: reports are not tested")
    sys.exit(77)

VOID = {"meta", "link", "img", "br", "wbr", "input"}
ROOF = """
title: Roof that snaps through
mesh:
  roof: { type: line, from: [-1, 0, 0], to: [0, 0.3, 0], elements: 1 }
  other: { type: line, from: [0, 0.3, 0], to: [1, 0, 0], elements: 1 }
merge: { ridge: { sets: [roof.end, other.start] } }
elements:
  roof: { type: rod_large_2d, mesh: roof, E: 2.1e11, rho: 7800, area: 1.0e-4 }
  other: { type: rod_large_2d, mesh: other, E: 2.1e11, rho: 7800, area: 1.0e-4 }
supports: { a: { set: roof.start, fix: [x, y] }, b: { set: other.end, fix: [x, y] } }
loads: { push: { type: force, node: roof.end, value: [0, -6.0e5, 0] } }
statics: { path: arc }
output: { probes: { ridge: { node: roof.end, of: [uy] } } }
"""
TITLE = '<script>alert(1)</script> & "ü" </title>'


class Page(html.parser.HTMLParser):
    """Elements as a tree of [tag, attributes, children]; texts are children, too. Tags that do not match are errors."""

    def __init__(self, source):
        super().__init__()
        self.root = ["", {}, []]
        self.open = [self.root]
        self.source = source
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


def elements(element):
    """Every element below."""
    for child in element[2]:
        if not isinstance(child, str):
            yield child
            yield from elements(child)


def find(element, tag, **attributes):
    """Every element of that tag below."""
    return (child for child in elements(element) if child[0] == tag
            and all(child[1].get(name.rstrip("_")) == value for name, value in attributes.items()))


def text(element):
    return "".join(child if isinstance(child, str) else text(child) for child in element[2])


def number(words):
    """The number at the start of a text as the page writes it."""
    match = re.match(r"([-+]?[0-9.]+)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", words)
    power = (match.group(2) or "⁰").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(match.group(1)) * 10.0 ** int(power)


class Pages(unittest.TestCase):
    """Results of a run with a bad title, of a study, statics and modes."""

    @classmethod
    def setUpClass(cls):
        if not hasattr(Pages, "folder"):
            Pages.make()

    @classmethod
    def make(cls):
        cls.folder = tempfile.TemporaryDirectory()  # until the process ends
        cls.run_folder = os.path.join(cls.folder.name, "a run's")
        cls.study_folder = os.path.join(cls.folder.name, "study")
        cls.statics_folder = os.path.join(cls.folder.name, "statics")
        cls.modes_folder = os.path.join(cls.folder.name, "modes")
        cls.kept = {cls.run_folder, cls.study_folder, cls.statics_folder, cls.modes_folder}
        case = "cases/bar_impact"
        cls.percuss("run", case, "-q", "-o", cls.run_folder, "--set", "mesh.bar.elements=50", "--set",
                    "title=" + TITLE)
        with open(os.path.join(cls.folder.name, "roof.yaml"), "w") as file:
            file.write(ROOF)
        cls.percuss("statics", file.name, "-q", "-o", cls.statics_folder)
        cls.percuss("modes", "cases/shaft_whirl", "-q", "--count", "4", "-o", cls.modes_folder)
        file = os.path.join(cls.folder.name, "it's a study.yaml")
        with open(file, "w") as stream:
            stream.write("case: %s\nset: { time.end: 0.8 }\nzip: { mesh.bar.elements: [10, 20], scheme.rho_inf: "
                         "[0.6, 0.8] }\npoints: [{}, { contacts.wall.restitution: 2 }]\nrefine: { step: [2, 3] }\n"
                         "measure: { 'a name': 'at(tip.x, 0.25) + 1' }\n" % os.path.abspath(case))
        cls.percuss("study", file, "-q", "-o", cls.study_folder, "--set", "elements.bar.rho=1.1", "--vary",
                    "initial.0.velocity=[-10.0, 0, 0],[-9, 0, 0]", "--measure", "wall.peak_force", "-j", "2")

    @classmethod
    def percuss(cls, *arguments, status=0):
        return (call if arguments[0] in ("report", "study") else percuss)(*arguments, status=status)

    def table(self, folder):
        """Rows of study.csv without the units of its columns."""
        rows = read_rows(os.path.join(folder, "study.csv"))
        return [{name.split(" [")[0]: value for name, value in row.items()} for row in rows]

    def report(self, folder):
        path = os.path.join(folder, "report.html")
        is_kept = folder in self.kept and os.path.exists(path)  # those that no test changes
        if not is_kept:
            self.percuss("report", folder, "-q")
        with open(path, encoding="utf-8") as file:
            return Page(file.read())

    def data(self, page, name):
        """What the page gives to its script."""
        return json.loads(text(next(find(page.root, "script", id=name))))

    def figure(self, page, title):
        found = [f for f in find(page.root, "figure") if text(next(find(f, "figcaption"))) == title]
        self.assertEqual(len(found), 1, title)
        return found[0]

    def history(self, folder):
        rows = read_rows(os.path.join(folder, "history.csv"))
        return {name: [float(r[name]) if r[name] else math.nan for r in rows] for name in rows[0]}

    def summary(self, folder):
        return read_json(os.path.join(folder, "summary.json"))
