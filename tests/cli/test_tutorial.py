"""Tutorial, manual and how-to pages as a reader would follow them: every command runs, so do the Python lines of
docs/howto.md and the notebook, and cases give what the text says. Argument: the path of the program."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import unittest

import program
from program import HANG, PROGRAM, TOOLS, has_tools, read_file, read_json, read_rows, write_file
from tools import call


def all_blocks(path):
    """Language and text of every block."""
    return re.findall(r"^```(\w*)\n(.*?)^```", read_file(path), re.M | re.S)


def blocks(path, language):
    return [text for kind, text in all_blocks(path) if kind == language]


def lines_of(path, head="percuss "):
    """Every command of a document."""
    found = [block.replace("\\\n", " ") for kind, block in all_blocks(path) if kind in ("", "sh")]
    return [line for block in found for line in block.splitlines() if line.startswith(head)]


class Documents(program.Cases):
    """Every command of the tutorial, the manual and the how-to page, in a folder with the results that they speak of.
    Commands in Python run in this process, which loads pandas and matplotlib once."""

    def setUp(self):
        super().setUp()
        build = os.path.dirname(PROGRAM)
        for name, place in (("cases", "cases"), ("build", build)):
            os.symlink(os.path.abspath(place), self.path(name))
        self.environment = {**os.environ, "PATH": build + ":" + os.environ["PATH"]}

    def inside(self):
        """From now on the folder is the current one."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def call(self, line):
        """Runs a line of a document."""
        words = shlex.split(line, comments=True)
        if words[1] in TOOLS and not set(line) & set("|&;<>$*"):
            run = call(*words[1:])
        else:
            run = subprocess.run(["sh", "-e", "-c", line], env=self.environment, capture_output=True, text=True,
                                 timeout=HANG)
        self.assertEqual(run.returncode, 0, line + run.stdout + run.stderr)

    def execute(self, source):
        """Runs lines of Python and returns their names."""
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "lines", "exec"), names)
        return names

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_the_tutorial(self):
        found = lines_of("docs/tutorial.md", "build/percuss ")
        self.assertGreater(len(found), 8)
        self.inside()
        for line in found:
            self.call(line)
        wall = read_json("tutorial/bar/results/summary.json")["contacts"][0]
        self.assertAlmostEqual(wall["total_impulse"], 2.355, delta=0.02)  # 2 m v
        self.assertAlmostEqual(wall["intervals"][0]["duration"], 0.1933e-3, delta=0.004e-3)
        horizon = read_json("tutorial/horizon/summary.json")["horizon"]
        self.assertAlmostEqual(horizon["time"], 0.349, delta=0.004)
        impulse = read_json("tutorial/starts/study.json")["statistics"]["impulse"]
        for part, value in (("p5", 2.877), ("p50", 2.889), ("p95", 2.905)):
            self.assertAlmostEqual(impulse[part], value, delta=0.02)
        energy = read_json("tutorial/refined/study.json")["points"][0]["measures"]["E"]
        # "the second order of the scheme, and the bound holds the exact value"
        self.assertEqual(energy["convergence"], "converges")
        self.assertAlmostEqual(energy["order"], 2.0, delta=0.05)
        self.assertLess(abs(energy["value"]), energy["bound"])
        self.assertLess(energy["bound"], 1e-6)

    def test_the_hopkinson_bar_has_its_pulse(self):
        path = self.write("case.yaml", blocks("docs/howto.md", "yaml")[0])
        self.call(f"percuss run {path} -q -o {self.folder}/run")
        rows = read_rows(os.path.join(self.folder, "run", "history.csv"))
        stress = [(float(row["t"]), float(row["gauge_in.stress"])) for row in rows]
        inside = [x for t, x in stress if 200e-6 < t < 250e-6]  # the pulse passes the gauge from 155 to 271 us
        self.assertAlmostEqual(sum(inside) / len(inside) / -203e6, 1.0, delta=0.01)
        self.assertLess(abs(stress[600][1]), 1e6)  # 120 us: nothing yet

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_how_to(self):
        roof = next(block for block in blocks("docs/howto.md", "yaml") if "roof:" in block)
        lines, sources = lines_of("docs/howto.md"), blocks("docs/howto.md", "python")
        self.assertEqual((len(sources), len(lines) >= 3), (2, True))
        self.inside()
        write_file("roof.yaml", roof)
        for source in sources:
            self.execute(source)
        for line in lines:
            self.call(line)
        speed = read_json("results/fit/fit.json")["parameters"]["initial.0.velocity.0"]
        self.assertTrue(speed["low"] < -10.0 < speed["high"], speed)

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_the_notebook(self):
        cells = read_json("docs/examples/impact.ipynb")["cells"]
        self.inside()
        run = self.execute("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"))["run"]
        self.assertAlmostEqual(run.summary["contacts"][0]["time_in_contact"], 2.0 / 3.0, delta=0.02)  # 2 L/c
        self.assertTrue(os.path.exists("results/notebook/report.html"))

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_the_manual(self):
        lines = lines_of("docs/manual.md")
        self.assertGreater(len(lines), 15)
        self.inside()
        for name in ("bar_impact", "a", "b"):
            self.call(f"percuss run cases/bar_impact -q -o results/{name} --set mesh.bar.elements=20")
        self.call("percuss study cases/bar_impact -q --vary mesh.bar.elements=10,20 -o results/bar_impact_study")
        self.call("percuss modes cases/cantilever_stop -q --count 2")
        os.symlink("results/a/history.csv", "exact.csv")
        write_file("study.yaml", "case: cases/bar_impact\nvary: { mesh.bar.elements: [10, 20] }\n")
        for line in lines:
            # Views, reports and percuss converge have tests of their own, fits are above; usage is no command.
            if not re.match("percuss (view|report|fit|converge) ", line) and " [" not in line:
                line = line.replace("CASE", "cases/bar_impact").replace("DIR", "out")
                self.call(line.replace("RESULTS", "results/a"))


unittest.main()
