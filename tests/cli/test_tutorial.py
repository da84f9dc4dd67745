"""Tutorial, manual and how-to pages as a reader would follow them: every command runs, so do the Python lines of
docs/howto.md and the notebook, and cases give what the text says. Argument: the path of the program."""

import os
import re
import shlex
import subprocess
import tempfile
import unittest

from program import HANG, PROGRAM, TOOLS, has_tools, read_json


def all_blocks(path):
    """Language and text of every block."""
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^```(\w*)\n(.*?)^```", file.read(), re.M | re.S)


def blocks(path, language):
    return [text for kind, text in all_blocks(path) if kind == language]


class Tutorial(unittest.TestCase):
    def test_every_command_runs(self):
        if not has_tools():
            self.skipTest("Python cannot load this library")
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "build"))
            os.symlink(PROGRAM, os.path.join(folder, "build", "percuss"))
            texts = blocks("docs/tutorial.md", "sh")
            self.assertGreater(len(texts), 5)
            for text in texts:
                run = subprocess.run(["sh", "-e", "-c", text], cwd=folder, capture_output=True, text=True, timeout=HANG)
                self.assertEqual(run.returncode, 0, text + run.stdout + run.stderr)
            wall = read_json(os.path.join(folder, "tutorial", "bar", "results", "summary.json"))["contacts"][0]
            self.assertAlmostEqual(wall["total_impulse"], 2.355, delta=0.02)  # 2 m v
            self.assertAlmostEqual(wall["intervals"][0]["duration"], 0.1933e-3, delta=0.004e-3)
            horizon = read_json(os.path.join(folder, "tutorial", "horizon", "summary.json"))["horizon"]
            self.assertAlmostEqual(horizon["time"], 0.349, delta=0.004)
            impulse = read_json(os.path.join(folder, "tutorial", "starts", "study.json"))["statistics"]["impulse"]
            for part, value in (("p5", 2.877), ("p50", 2.889), ("p95", 2.905)):
                self.assertAlmostEqual(impulse[part], value, delta=0.02)
            measures = read_json(os.path.join(folder, "tutorial", "refined", "study.json"))["points"][0]["measures"]
            # "the second order of the scheme, and the bound holds the exact value"
            energy = measures["E"]
            self.assertEqual(energy["convergence"], "converges")
            self.assertAlmostEqual(energy["order"], 2.0, delta=0.05)
            self.assertLess(abs(energy["value"]), energy["bound"])
            self.assertLess(energy["bound"], 1e-6)

    def test_the_hopkinson_bar_has_its_pulse(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.yaml")
            with open(path, "w") as file:
                file.write(blocks("docs/howto.md", "yaml")[0])
            run = subprocess.run([PROGRAM, "run", path, "-q", "-o", folder], capture_output=True, text=True,
                                 timeout=HANG)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(os.path.join(folder, "history.csv")) as file:
                rows = [line.split(",") for line in file if not line.startswith("#")]
        column = rows[0].index("gauge_in.stress")
        stress = [(float(row[0]), float(row[column])) for row in rows[1:]]
        inside = [x for t, x in stress if 200e-6 < t < 250e-6]  # the pulse passes the gauge from 155 to 271 us
        self.assertAlmostEqual(sum(inside) / len(inside) / -203e6, 1.0, delta=0.01)
        self.assertLess(abs(stress[600][1]), 1e6)  # 120 us: nothing yet


class Documents(unittest.TestCase):
    """Every command of the manual and the how-to page, in a folder with the results that they speak of."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = temporary.name
        os.symlink(os.path.abspath("cases"), os.path.join(cls.folder, "cases"))
        build = os.path.dirname(PROGRAM)
        cls.environment = {**os.environ, "PATH": build + ":" + os.environ["PATH"], "MPLBACKEND": "Agg",
                           "PYTHONPATH": os.path.abspath("python"), "PERCUSS_PROGRAM": PROGRAM,
                           "PERCUSS_LIBRARY": os.path.join(build, "libpercuss.so.0")}

    def call(self, *command):
        run = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                             timeout=HANG)
        self.assertEqual(run.returncode, 0, " ".join(command) + run.stdout + run.stderr)
        return run.stdout

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_how_to(self):
        with open(os.path.join(self.folder, "roof.yaml"), "w") as file:
            file.write(next(block for block in blocks("docs/howto.md", "yaml") if "roof:" in block))
        found = [(kind, block) for kind, block in all_blocks("docs/howto.md")
                 if kind in ("python", "sh") or block.startswith("percuss ")]
        self.assertEqual([kind for kind, _ in found].count("python"), 2)
        self.assertGreaterEqual(len(found), 5)
        for kind, block in found:
            self.call(*(("/usr/bin/python3", "-c", block) if kind == "python" else ("sh", "-e", "-c", block)))
        fit = read_json(os.path.join(self.folder, "results", "fit", "fit.json"))
        speed = fit["parameters"]["initial.0.velocity.0"]
        self.assertTrue(speed["low"] < -10.0 < speed["high"], speed)

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_the_notebook(self):
        cells = read_json("docs/examples/impact.ipynb")["cells"]
        lines = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        said = self.call("/usr/bin/python3", "-c", lines + "\nprint(run.summary['contacts'][0]['time_in_contact'])")
        self.assertAlmostEqual(float(said), 2.0 / 3.0, delta=0.02)  # 2 L/c
        self.assertTrue(os.path.exists(os.path.join(self.folder, "results", "notebook", "report.html")))

    @unittest.skipIf(not has_tools(), "the library cannot be loaded by Python")
    def test_the_manual(self):
        small = ["--set", "mesh.bar.elements=20"]
        for name in ("bar_impact", "a", "b"):
            self.call("percuss", "run", "cases/bar_impact", "-q", "-o", f"results/{name}", *small)
        self.call("percuss", "study", "cases/bar_impact", "-q", "--vary", "mesh.bar.elements=10,20", "-o",
                  "results/bar_impact_study")
        self.call("percuss", "modes", "cases/cantilever_stop", "-q", "--count", "2")
        os.symlink("results/a/history.csv", os.path.join(self.folder, "exact.csv"))
        with open(os.path.join(self.folder, "study.yaml"), "w") as file:
            file.write("case: cases/bar_impact\nvary: { mesh.bar.elements: [10, 20] }\n")
        found = [block.replace("\\\n", " ") for kind, block in all_blocks("docs/manual.md") if kind in ("", "sh")]
        lines = [line for block in found for line in block.splitlines() if line.startswith("percuss ")]
        self.assertGreater(len(lines), 15)
        for line in lines:
            if line.startswith(("percuss view", "percuss fit")) or " [" in line:
                continue  # ParaView has tests of its own, fits are above; a line of usage is no command
            line = line.replace("CASE", "cases/bar_impact").replace("DIR", "out").replace("RESULTS", "results/a")
            self.run_line(line)

    def run_line(self, line):
        """In this process where the command is one in Python and no shell is needed: it has loaded matplotlib once."""
        words = shlex.split(line, comments=True)
        if words[1] not in TOOLS or set(line) & set("|&;<>$*"):
            self.call("sh", "-e", "-c", line)
            return
        from tools import call
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        done = call(*words[1:])
        self.assertEqual(done.returncode, 0, line + done.stdout + done.stderr)


unittest.main()
