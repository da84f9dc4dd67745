"""The tutorial and the how-to pages as a reader would follow them: every command of docs/tutorial.md runs, and the
cases of docs/howto.md give what the text says. Argument: the path of the program."""

import os
import re
import subprocess
import tempfile
import unittest

from program import HANG, PROGRAM, has_tools, read_json


def blocks(path, language):
    with open(path, encoding="utf-8") as file:
        return re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.M | re.S)


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
            self.assertAlmostEqual(wall["total_impulse"], 2.36, delta=0.03)
            self.assertAlmostEqual(wall["intervals"][0]["duration"], 0.19e-3, delta=0.01e-3)
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


unittest.main()
