"""percuss study from the command line: points, measures, error bars, runs that are there already, refusals. Argument:
the path of the program."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from studies import STUDY_PROGRAM, Studies
import program
from program import read_file, read_json, read_rows, write_file  # noqa: I100 - studies says where it is

STUDY = """\
case: {case}
set: {{ time.end: 0.7 }}
vary: {{ scheme.rho_inf: 0.5:1:0.25 }}
zip:
  mesh.bar.elements: [20, 40]
  time.step: [1.0e-2, 5.0e-3]
points:
  - {{ contacts.wall.restitution: 0.0 }}
  - {{ contacts.wall.restitution: 0.5, "initial.0.velocity": [-11.0, 0, 0] }}
measure: {{ first: wall.intervals.0.start, impulse: wall.total_impulse, done: steps.done }}
jobs: 2
"""


class Study(Studies):
    def test_every_combination_is_a_row(self):
        self.study("cases/bar_impact", "--vary", "mesh.bar.elements=10,20", "--vary", "scheme.rho_inf=0.6:1:0.2",
                   "--set", "time.end=0.6", "--set", "time.step=1.0e-2")
        rows = self.rows()
        self.assertEqual([(r["mesh.bar.elements"], r["scheme.rho_inf"]) for r in rows],
                         [(n, rho) for n in ("10", "20") for rho in ("0.6", "0.8", "1")])
        self.assertTrue(all(r["status"] == "done" for r in rows))
        self.assertEqual(sorted(os.listdir(os.path.join(self.out, "runs", rows[0]["run"]))),
                         ["case.resolved.yaml", "summary.json"])
        # A row says what a run of its own says, to the last digit.
        alone = os.path.join(self.folder, "alone")
        self.percuss("run", "cases/bar_impact", "-q", "-o", alone, "--set", "mesh.bar.elements=20", "--set",
                     "scheme.rho_inf=0.6", "--set", "time.end=0.6", "--set", "time.step=1.0e-2", status=0)
        summary = read_json(os.path.join(alone, "summary.json"))
        self.assertEqual(float(rows[3]["wall.total_impulse"]), summary["contacts"][0]["total_impulse"])
        self.assertEqual(float(rows[3]["energy.final"]), summary["energy"]["final"])

    def test_a_file_says_all(self):
        path = self.write("study.yaml", STUDY.format(case=os.path.abspath("cases/bar_impact")))
        self.study(path)
        rows = self.rows()
        self.assertEqual(len(rows), 3 * 2 * 2)
        self.assertEqual({(r["mesh.bar.elements"], r["time.step"]) for r in rows},
                         {("20", "1.0e-2"), ("40", "5.0e-3")})
        self.assertEqual({r["done"] for r in rows}, {"70", "140"})
        faster = [r for r in rows if r["contacts.wall.restitution"] == "0.5"]
        # The bar is 5.005 m away; an interval begins with the step of the impact.
        for row in rows:
            speed = 11.0 if row in faster else 10.0
            self.assertAlmostEqual(float(row["first"]), 5.005 / speed, delta=2 * float(row["time.step"]))
        points = read_json(os.path.join(self.out, "study.json"))["points"]
        self.assertEqual([p["measures"]["impulse"]["value"] for p in points], [float(r["impulse"]) for r in rows])

    def test_histories_are_measures(self):
        # Until the impact at 0.5005 s the tip is at 15.005 - 10 t; the experiment is off by 0.3 from 0.1 to 0.3 s.
        self.write("an experiment, of mine.csv",
                   "# measured\nt,place,other\n0.1,14.305,1\n0.17,13.605,1\n0.3,12.305,1\n9,,1\n")
        text = ("case: %s\nvary: { scheme.rho_inf: [0.5, 0.9] }\n"
                "measure:\n  x: at(tip.x, 0.2501)\n  sum: 2*at(tip.x - 3*tip.vx, 0.1*3) + 1\n"
                "  late: at(tip.x, 99)\n  off: rms(tip.x, 'an experiment, of mine.csv', place)\n"
                "  e: restitution(wall)\n  e1: restitution(wall, momentum_x)\n"
                "  peak: filtered_peak(wall, 0.1)\n  raw: wall.peak_force\n"
                "  width: at(t, wall.intervals.0.end) - at(t, wall.intervals.0.start) - wall.time_in_contact\n"
                "set: { mesh.bar.elements: 50, output.history: false }\n" % os.path.abspath("cases/bar_impact"))
        self.study(self.write("study.yaml", text))
        rows = self.rows()
        history = read_rows(os.path.join(self.out, "runs", rows[1]["run"], "history.csv"))
        impulses = [float(row["wall.step_impulse"] or 0.0) for row in history]
        for row in rows:
            self.assertAlmostEqual(float(row["x"]), 15.005 - 2.501, delta=1e-9)
            self.assertAlmostEqual(float(row["sum"]), 2 * (15.005 - 3.0 + 30.0) + 1, delta=1e-9)
            self.assertEqual(row["late"], "")
            self.assertAlmostEqual(float(row["off"]), 0.3, delta=1e-9)
            # As a body of 10 kg at 10 m/s, by its impulse.
            self.assertAlmostEqual(float(row["e"]), float(row["e1"]), delta=1e-12)
            self.assertAlmostEqual(float(row["width"]), 0.0, delta=1e-9)
            self.assertGreater(float(row["peak"]), 299.0)
            self.assertGreater(float(row["raw"]), float(row["peak"]))
        self.assertAlmostEqual(float(rows[1]["e"]), sum(impulses) / 100 - 1, delta=1e-9)
        # The largest sum of impulses over 0.1 s, which are 50 steps.
        largest = max(sum(impulses[i:i + 50]) for i in range(len(impulses)))
        self.assertAlmostEqual(float(rows[1]["peak"]), largest / 0.1, delta=1e-9 * largest / 0.1)

    def test_rows_that_leave_out_steps_of_a_contact_are_no_measure_of_it(self):
        words = ["cases/bar_impact", "--set", "time.end=1.5", "--vary", "mesh.bar.elements=20", "--set"]
        for measure in ("restitution(wall)", "filtered_peak(wall, 0.05)"):
            said = self.study(*words, "output.history.every=20", "--measure", f"m={measure}", status=2).stderr
            self.assertRegex(said, "measure 'm': history.csv leaves out steps of 'wall' before t = 0.5[0-9]* s: let "
                             "output.history.every be 1")

    def test_measures_that_cannot_be_are_told_before_all_runs_are_made(self):
        for formula, message in (
                ("at(tip.x)", "measure 'm': expected at(column, time), this is 'at(tip.x)'"),
                ("at(tip.x, 1", "'at(tip.x, 1': it is no formula"),
                ("at(tip.q, 1)", "has no column 'tip.q', did you mean 'tip.x'?"),
                ("at(tip.x +, 1)", "'at(tip.x +, 1)': it is no formula"),
                ("rms(tip.x, nowhere.csv)", "measure 'm': there is no table or folder 'nowhere.csv'"),
                ("filtered_peak(wall, 0)", "the window of filtered_peak must be > 0, is 0"),
                ("filtered_peak(floor, 1)", "has no column 'floor.step_impulse'"),
                ("restitution(floor)", "there is no contact 'floor'"),
                ("title", "'title' of "),
                ("wall.intervals", "'wall.intervals' of ")):
            run = self.study("cases/bar_impact", "--set", "time.end=0.6", "-j", "1", "--vary",
                             "scheme.rho_inf=0.3:0.9:0.1", "--measure", "m=" + formula, status=2)
            self.assertIn(message, run.stderr)
        # One run of those without a history, one of those with it.
        self.assertEqual(len(os.listdir(os.path.join(self.out, "runs"))), 2)
        run = self.study("cases/bar_impact", "--vary", "scheme.rho_inf=0.3", "--measure", "energy.final", "--measure",
                         "energy.final", status=2)
        self.assertIn("measure 'energy.final' is there twice", run.stderr)

    def test_values_of_any_kind(self):
        mesh = "{ type: line, from: [5.005, 0, 0], to: [15.005, 0, 0], elements: %s }"
        titles = ["a: b", "x, y", "[1", "it's {2}", "plain", "# no", 'q"uote', " blank "]
        counts = [10, 11, '"${2*6}"', 13, 14, 15, 16, 17]
        text = ("case: %s\nset: { time.end: 0.1, output.probes: { far: { node: bar.end, of: [x, vx] } } }\n"
                "zip:\n  title: %s\n  mesh.bar: [%s]\nmeasure: [model.cells, far.x.start]\n")
        self.study(self.write("study.yaml", text % (os.path.abspath("cases/bar_impact"), json.dumps(titles),
                                                    ", ".join(mesh % count for count in counts))))
        rows = self.rows()
        self.assertEqual([row["model.cells"] for row in rows], [str(n) for n in range(10, 18)])
        self.assertEqual({row["far.x.start"] for row in rows}, {"15.005"})
        for row, title in zip(rows, titles, strict=True):
            self.assertEqual(read_json(os.path.join(self.out, "runs", row["run"], "summary.json"))["title"], title)
        # A value of many digits and brackets on the command line.
        table = "[" + ", ".join(f"[{0.001 * k}, {k % 3}]" for k in range(400)) + "]"
        load = "{type: force, node: bar.end, value: [1, 0, 0], amplitude: {table: %s}}" % table
        self.study("cases/bar_impact", "--set", "time.end=0.1", "--vary", f"loads.push={load}", "--measure",
                   "energy.external_work")
        self.assertEqual(self.rows()[0]["loads.push"], load)
        self.assertNotEqual(float(self.rows()[0]["energy.external_work"]), 0.0)

    def test_error_bars_hold(self):
        # Without an impact the energy is that of the start; alpha_ggl is of second order.
        self.study("cases/pendulum", "--refine", "step=2,4", "--set", "time.end=0.3", "--vary",
                   "scheme.rho_inf=0.5,0.8", "--measure", "E=energy.final", "--measure", "E0=energy.initial")
        for row in self.rows(levels=4):
            self.assertEqual(row["E.convergence"], "converges")
            self.assertAlmostEqual(float(row["E.order"]), 2.0, delta=0.05)
            off = abs(float(row["E"]) - float(row["E0"]))
            self.assertLess(off, float(row["E.bound"]))
            self.assertGreater(off, 0.3 * float(row["E.bound"]))
            self.assertLess(abs(float(row["E.limit"]) - float(row["E0"])), 0.05 * off)
            self.assertEqual(row["E0.convergence"], "exact")

    def test_what_no_level_changes_through_impacts_has_no_error_bar(self):
        """Mesh and step at one Courant number: the overshoot of the force, 347 N for 300 N, is the same on all."""
        for refine in ("mesh=2,4 step=2,4", "mesh=2,5 step=2,5"):
            self.study("cases/bar_impact", "--refine", refine, "--measure", "F=wall.peak_force")
            row = self.rows()[-1]
            self.assertAlmostEqual(float(row["F"]), 347.15, delta=0.01)
            self.assertEqual((row["F.convergence"], row["F.bound"], row["F.limit"]), ("unchanged", "", ""))

    def test_impacts_widen_error_bars(self):
        self.study("cases/ball", "--refine", "step=2,4", "--set", "time.end=2", "--measure", "E=energy.final")
        values = [float(row["E"]) for row in self.rows()]
        least = max(abs(values[k] - values[k - 1]) / 2**(3 - k) for k in (1, 2, 3))
        self.assertAlmostEqual(float(self.rows(levels=4)[0]["E.bound"]), 1.4 * least, delta=1e-9)

    # An error bar says of what it is.
    def test_what_is_not_refined_is_told(self):
        bar = ["cases/bar_impact", "--set", "mesh.bar.elements=5", "--set", "time.end=0.1", "--measure",
               "E=energy.final"]
        auto = ["--set", "scheme={type: half_explicit}", "--set", "time.step=auto"]
        for words, missing in ((bar + ["--refine", "mesh=2,3"], "step"), (bar + ["--refine", "step=3,4"], "mesh"),
                               (bar + ["--refine", "mesh=2,3 step=2,3"], None),
                               (bar + auto + ["--refine", "mesh=2,3"], None),
                               (["cases/pendulum", "--refine", "step=2,3", "--set", "time.end=0.01"], None)):
            with self.subTest(words=words):
                shown = self.study(*words).stdout
                refine = read_json(os.path.join(self.folder, "out", "study.json"))["refine"]
                self.assertEqual(refine.get("not_refined"), missing)
                if missing is None:
                    self.assertNotIn("is not in them", shown)
                    continue
                other, numbers = ("mesh", "2,3") if missing == "step" else ("step", "3,4")
                self.assertIn(f"those of the {other} alone: the error of the {missing} is not in them; "
                              f'--refine "mesh={numbers} step={numbers}" has both', shown)

    def test_times_of_steps_are_known_to_a_step(self):
        self.study("cases/bar_impact", "--refine", "mesh=2,3", "--set", "mesh.bar.elements=20", "--set", "time.end=1.5",
                   "--measure", "d=wall.time_in_contact", "--measure", "start=wall.intervals.0.start", "--measure",
                   "f=2*wall.intervals.0.start^2 + model.dofs*0", "--measure", "i=wall.total_impulse")
        row, step = self.rows(levels=3)[0], 2e-3
        self.assertEqual(row["start.convergence"], "steps")
        self.assertAlmostEqual(float(row["start.bound"]), step, delta=1e-12)
        self.assertGreaterEqual(float(row["d.bound"]), 2 * step - 1e-12)
        self.assertAlmostEqual(float(row["f.bound"]), 4 * float(row["start"]) * step, delta=3 * step**2)
        self.assertNotEqual(row["i.convergence"], "steps")

    def test_a_file_refines(self):
        path = self.write("study.yaml", "case: %s\nset: { mesh.bar.elements: 5, time.step: 8.0e-3, time.end: 0.48 }\n"
                          "refine: { mesh: [3, 3], step: [3, 3] }\nmeasure: { one: 1 + 1/model.cells }\n"
                          % os.path.abspath("cases/bar_impact"))
        self.assertIn("(order 1.0)", self.study(path).stdout)
        one = read_json(os.path.join(self.out, "study.json"))["points"][0]["measures"]["one"]
        self.assertAlmostEqual(one["limit"], 1.0, delta=1e-9)
        self.assertAlmostEqual(one["bound"], 1.25 / 45, delta=1e-8)
        self.assertEqual(float(self.rows(levels=3)[0]["one.limit"]), one["limit"])
        self.assertIn("go together", self.study("cases/bar_impact", "--refine", "mesh=2,3 step=2,4", status=2).stderr)
        for wrong, place in (("step: [3, 3] }\nset: { a: 1 }", "study.yaml:4:1: the key 'set' is there twice"),
                             ("step: [2.5, 3] }", "study.yaml:3:9: refine.step[0] must be a whole number")):
            text = read_file(path).replace("step: [3, 3] }", wrong)
            self.assertIn(place, self.study(self.write("wrong/study.yaml", text), status=2).stderr)

    def test_cells_cut_by_travel_time_are_refined(self):
        self.study("cases/hopkinson", "--refine", "mesh=2,3", "--set", "time.end=2.0e-4", "--measure",
                   "peak=strike.peak_force", "--measure", "steps=steps.done", "--measure", "cells=model.cells")
        point = read_json(os.path.join(self.out, "study.json"))["points"][0]
        self.assertEqual(point["measures"]["cells"]["levels"], [764 * 2**k for k in range(3)])
        self.assertEqual(point["measures"]["steps"]["levels"], [200 * 2**k for k in range(3)])
        self.assertEqual(point["measures"]["peak"]["convergence"], "exact")

    def test_formulas_are_refined(self):
        case = read_file("cases/bar_impact/case.yaml").replace("elements: 200", "elements: \"${2*n}\"")
        case = case.replace("step: 2.0e-3", "step: \"${0.04/n}\"") + "parameters: { n: 4 }\n"
        path = self.write("case.yaml", case)
        self.study(path, "--refine", "mesh=3,3 step=3,3", "--set", "time.end=0.9", "--vary", "parameters.n=4,5",
                   "--measure", "cells=model.cells", "--measure", "steps.done", "--measure",
                   "first=wall.first_time - wall.intervals.0.start", "--measure", "wall.last_time")
        points = [p["measures"] for p in read_json(os.path.join(self.out, "study.json"))["points"]]
        self.assertEqual([p["cells"]["levels"] for p in points], [[8, 24, 72], [10, 30, 90]])
        self.assertEqual(points[0]["steps.done"]["levels"], [90, 270, 810])
        self.assertEqual(points[0]["first"]["value"], 0)
        self.assertAlmostEqual(points[0]["wall.last_time"]["value"], 0.9, delta=1e-9)  # it still touches
        text = self.study("cases/frame_lattice", "--refine", "mesh=2,3", "--set", "time.end=1.0e-9", "--set",
                          "time.step=1.0e-9", "--set", "mesh={link: {type: point, at: [0, 0, 0]}}", status=1).stdout
        self.assertIn("no part of the mesh has a number of elements", text)

    def test_what_is_there_is_not_run_again(self):
        arguments = ("cases/bar_impact", "--set", "time.end=0.1", "--vary")
        self.study(*arguments, "scheme.rho_inf=0.5,0.6")
        text = self.study(*arguments, "scheme.rho_inf=0.5,0.6,0.7").stdout
        self.assertIn("3 of 3 runs done (2 were there)", text)
        before = self.rows()
        # A run that did not come to its end is made again.
        summary = os.path.join(self.out, "runs", before[0]["run"], "summary.json")
        good = read_file(summary)
        write_file(summary, good.replace('"finished"', '"stopped"'))
        self.assertIn("(2 were there)", self.study(*arguments, "scheme.rho_inf=0.5,0.6,0.7").stdout)
        self.assertEqual(self.rows(), before)

    def test_a_run_is_known_by_the_files_it_reads(self):
        folder = os.path.join(self.folder, "case")

        def write(name, text):
            write_file(os.path.join(folder, name), text)

        write("push.csv", "0,0\n1,10\n")
        write("rest.yaml", "time: { step: 1.0e-2, end: 0.2 }\n")
        write("case.yaml", "include: rest.yaml\n"
              "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 } }\n"
              "elements: { bar: { type: rod, mesh: bar, E: 100, rho: 1, area: 1 } }\n"
              "loads: { push: { type: force, node: bar.end, value: [1, 0, 0], amplitude: { csv: push.csv } } }\n"
              "scheme: { type: moreau_jean, theta: 0.5 }\noutput: { probes: { tip: { node: bar.end, of: [x] } } }\n")
        arguments = (folder, "--vary", "elements.bar.rho=1,2", "--measure", "x=tip.x.end")
        kept = []
        values = []
        for name, text in (("", ""), ("", ""), ("push.csv", "0,0\n1,20\n"), ("push.csv", "0,0\n1,10\n"),
                           ("rest.yaml", "time: { step: 1.0e-2, end: 0.3 }\n"),
                           ("rest.yaml", "# the same\ntime: { end: 0.3, step: 1.0e-2 }\n")):
            if name:
                write(name, text)
            kept.append(self.study(*arguments).stdout.split("runs done (")[1].split(" ")[0])
            values.append([row["x"] for row in self.rows()])
        self.assertEqual(kept, ["0", "2", "0", "2", "0", "0"])  # the order of keys is that of the resolved case
        self.assertEqual(values[0], values[1])
        self.assertEqual(values[0], values[3])
        self.assertEqual(values[4], values[5])
        self.assertEqual(len({tuple(v) for v in values}), 3)

    def test_points_with_the_same_case_do_not_disturb_each_other(self):
        text = self.study("cases/bar_impact", "--set", "time.end=6", "-j", "8", "--vary",
                          "scheme.rho_inf=" + ",".join(["0.5"] * 16)).stdout
        self.assertIn("16 of 16 runs done (0 were there, 15 are the same as another)", text)
        rows = self.rows()
        self.assertEqual(len({row["run"] for row in rows}), 1)
        self.assertEqual(sorted(os.listdir(os.path.join(self.out, "runs", rows[0]["run"]))),
                         ["case.resolved.yaml", "summary.json"])
        self.assertEqual(os.listdir(os.path.join(self.out, "runs")), [rows[0]["run"]])

    def test_a_study_that_is_killed_goes_on(self):
        chance = random.Random(5)
        arguments = ["cases/bar_impact", "--set", "mesh.bar.elements=20", "--vary", "scheme.rho_inf=0.6:1:0.05",
                     "--vary", "contacts.wall.restitution=0,0.5", "--refine", "step=2,3", "-j", "3", "--measure",
                     "x=at(tip.x, 1.1)", "--measure", "wall.total_impulse"]
        begin = time.monotonic()
        self.study(*arguments)
        span = time.monotonic() - begin
        whole = self.rows()
        self.assertEqual(len(whole), 54)
        shutil.rmtree(self.out)
        for _ in range(3):
            process = subprocess.Popen([STUDY_PROGRAM, *arguments, "-o", self.out], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(span * chance.uniform(0.02, 0.3))
            os.killpg(process.pid, signal.SIGKILL)  # its workers, too
            process.wait()
        self.study(*arguments)
        self.assertEqual(self.rows(), whole)
        text = self.study(*arguments).stdout
        self.assertIn("54 of 54 runs done (54 were there)", text)
        self.assertEqual(self.rows(), whole)

    def test_a_refused_combination_is_a_row_with_its_reason(self):
        text = self.study("cases/bar_impact", "--set", "time.end=0.1", "--vary", "scheme.rho_inf=0.5,2").stdout
        self.assertIn("refused: --set scheme.rho_inf=2: scheme.rho_inf must be in [0, 1], is 2", text)
        self.assertEqual([r["status"] for r in self.rows()], ["done", "refused"])
        self.study("cases/bar_impact", "--set", "time.end=0.1", "--set", "time.step=5.0e-4", "--vary",
                   "scheme.type=alpha_ggl,half_explicit")
        self.assertIn("scheme.rho_inf of the file is left out", self.rows()[1]["reason"])

    def test_progress_on_a_terminal(self):
        shown = program.on_terminal("study", "cases/bar_impact", "--set", "time.end=0.1", "--vary",
                                    "scheme.rho_inf=0.5,0.6", "-o", self.out)
        self.assertRegex(shown, r"\r\[={24}\]  2 of 2 runs, \d+ s")

    def test_errors_name_what_is_wrong(self):
        for arguments, message in (
                (("cases/bar_impact",), "nothing is varied or refined"),
                (("cases/bar_impact", "--vary", "scheme.rho_inf"), "expected path.to.key=value"),
                (("cases/bar_impact", "--vary", "scheme.rho_inf=1:0:0.1"), "1000000, from 1 to 0 by 0.1"),
                (("cases/bar_impact", "--vary", "scheme.rho_inf=0:1:1e-7"), "more than 1000000, from 0 to 1 by 1e-07"),
                (("cases/bar_impact", "--vary", "scheme.rho_inf=0:1:2e-6", "--refine", "step=2,3"),
                 "a study has at most 1000000 runs, this has 1500003: 500001 points at 3 levels"),
                (("cases/bar_impact", "--vary", "scheme.rho_inf=0.5,,1"), "a value is empty"),
                (("cases/bar_impact", "--refine", "mesh=2"), "expected mesh=FACTOR,LEVELS"),
                (("cases/bar_impact", "--refine", "time=2,3"),
                 "or step=FACTOR,LEVELS or both, as \"mesh=2,3 step=2,3\", this is 'time=2,3'"),
                (("cases/bar_impact", "--vary", "a=1", "--vary", "a=2"), "'a' is varied twice"),
                (("cases/nothing", "--vary", "a=1"), "cases/nothing"),
                (("cases/bar_impact", "--set", "time.end=0.1", "--vary", "scheme.rho_inf=0.5", "--measure", "wall.x"),
                 "has no 'wall.x'")):
            self.assertIn(message, self.study(*arguments, status=2).stderr)
        self.percuss("run", "cases/bar_impact", "--vary", "a=1", status=2)
        path = self.write("study.yaml", "case: nowhere\nvarry: { a: [1] }\nzip: { a: [1, 2], b: [1] }\n")
        run = self.study(path, status=2)
        for part in ("study.yaml:1:7: 'nowhere' is no file", "unknown key 'varry', did you mean 'vary'?", "has 1"):
            self.assertIn(part, run.stderr)


unittest.main()
