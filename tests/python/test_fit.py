"""percuss fit: parameters are found within their intervals, and those that data cannot determine are told. Argument:
the path of the program."""

import os
import sys
import unittest

from studies import call  # before percuss: it says where that is
import program  # noqa: I100
from program import read_json

import numpy as np
import pandas

import percuss

sys.path.insert(0, "tests/study")
import study_fit  # noqa: E402


class Fit(program.Cases):
    def test_intervals_hold_the_true_value(self):
        fits = list(study_fit.draws(str(self.folder), 8))
        inside, spread = study_fit.held(fits)
        self.assertGreaterEqual(inside, 7)
        self.assertTrue(0.5 < spread < 1.6, spread)
        for fit in fits:
            self.assertTrue(fit.is_identified)
            self.assertAlmostEqual(fit.rms["transmitted.stress"], study_fit.NOISE, delta=0.3 * study_fit.NOISE)

    def test_what_the_data_do_not_determine_is_told(self):
        case = self.write("hopkinson.yaml", study_fit.CASE)
        exact = percuss.run(case).history
        noise = np.random.default_rng(2).standard_normal(len(exact))
        data = self.write("data.csv", pandas.DataFrame(
            {"t": exact["t"], "transmitted.stress": exact["transmitted.stress"] + 2e6 * noise}).to_csv(index=False))
        # Force and deformation of the specimen know the product of modulus and area only; the transmitted bar ends
        # behind the time of the data; and the density of the specimen next to nothing.
        for E, more, notes in (("6e9:1.2e10:8e9", "elements.specimen.area=6e-5:9e-5", ["acts alike", "acts alike"]),
                               ("6e9:7.5e9", "contacts.back.restitution=0:0.5", ["bound", "do not depend on it"])):
            call("fit", case, "--parameter", f"elements.specimen.E={E}", "--parameter", more, "--data", data,
                 "--column", "transmitted.stress", "-o", self.path("out"), status=1)
            found = read_json(self.path("out", "fit.json"))
            self.assertFalse(found["is_identified"])
            for one, note in zip(found["parameters"].values(), notes):
                self.assertEqual(note in one["note"] and bool(note) == bool(one["note"]), True, one)

    def test_files_and_screen(self):
        case = self.write("hopkinson.yaml", study_fit.CASE)
        exact = percuss.run(case).history
        data = self.write("data.csv", pandas.DataFrame(
            {"time": exact["t"][20:], "a": exact["transmitted.stress"][20:], "b": exact["incident.stress"][20:]})
            .to_csv(index=False))
        words = [case, "--parameter", "elements.specimen.E=6e9:1.2e10", "--parameter", "elements.striker.rho=7e3:9e3",
                 "--data", data, "--column", "transmitted.stress=a", "--column", "incident.stress=b", "-o"]
        run = call("fit", *words, self.path("out"), status=0, stderr="")
        self.assertRegex(run.stdout, r"elements\.specimen\.E +8(\.0*)?e\+09 ")
        found = read_json(self.path("out", "fit.json"))
        for key, true in (("elements.specimen.E", 8e9), ("elements.striker.rho", 8e3)):
            one = found["parameters"][key]
            self.assertAlmostEqual(one["value"] / true, 1.0, delta=1e-6)
            self.assertLess(one["high"] - one["low"], 1e-5 * true)
        table = pandas.read_csv(self.path("out", "fit.csv"))
        self.assertEqual(list(table.columns)[:2], ["t [s]", "transmitted.stress.data [Pa]"])
        np.testing.assert_allclose(table["transmitted.stress.data [Pa]"], exact["transmitted.stress"][20:], rtol=1e-11)
        self.assertGreater(os.path.getsize(self.path("out", "residuals.png")), 10000)
        self.assertTrue(os.path.exists(self.path("out", "runs", found["run"], "history.csv")))

    def test_errors_name_what_is_wrong(self):
        case = self.write("hopkinson.yaml", study_fit.CASE)
        data = self.write("data.csv", "t,transmitted.stress\n0,0\n1e-4,0\n2e-4,0\n")
        late = self.write("late.csv", "t,transmitted.stress\n0,0\n1,0\n2,0\n")
        E = ["--parameter", "elements.specimen.E=6e9:1.2e10"]
        for words, message in (
                ([case, *E, "--data", data, "--column", "stress"], "has no column 'stress'"),
                ([case, *E, "--data", self.path("no.csv"), "--column", "x"], "no.csv: No such file"),
                ([case, *E, "--data", late, "--column", "transmitted.stress"], "the data go on to 2 s"),
                ([case, *E, "--data", data, "--column", "nothing=transmitted.stress"], "has no column 'nothing'"),
                ([case, "--parameter", "a.b=2:1", "--data", data, "--column", "x"], "bounds that rise"),
                ([case, "--parameter", "a.b", "--data", data, "--column", "x"], "expected path.to.key=low:high"),
                ([case, "--data", data, "--column", "x"], "a fit needs a parameter"),
                ([case, *E], "required: --data"),
                ([case, *E, *E, "--data", data, "--column", "transmitted.stress"], "there twice")):
            run = call("fit", *words, "-o", self.path("out"), status=2)
            self.assertIn(message, run.stderr)
            self.assertNotIn("Traceback", run.stderr)
        run = call("fit", case, "--parameter", "elements.specimen.rho=-2:-1", "--data", data, "--column",
                   "transmitted.stress", "-o", self.path("out"), status=2)
        self.assertIn("elements.specimen.rho=-1.5: refused: ", run.stderr)


unittest.main()
