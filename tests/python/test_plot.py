"""Figures by percuss.plot and `percuss plot`: what is drawn has the values of the columns, units with prefixes, limits,
labels, orders, spectra, x-t diagrams, modes, load paths; scripts that run again; names that try to do harm; damaged
folders. Argument: the path of the program."""

import csv
import itertools
import json
import os
import re
import runpy
import shutil
import subprocess
import tempfile
import unittest

from studies import PROGRAM, call  # before percuss: it says where that is
import program  # noqa: I100
from program import read_bytes, read_file, read_json
import matplotlib
import numpy as np
import pandas

import percuss
from percuss._plot import make
from percuss.figure import Options, plain, si

os.environ["MPLCONFIGDIR"] = tempfile.gettempdir()

CASE = os.path.abspath("cases/bar_impact")
BLUE = "#0072b2"


def texts(svg):
    """All texts of an SVG file, without those that are set as formulas."""
    return re.findall(r"<text [^>]*>([^<]*)</text>", read_file(svg))


def line(figure, panel=0, number=0):
    return np.array(figure.axes[panel].lines[number].get_data(), float)


def labels(figure, panel=0):
    legend = figure.axes[panel].get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


class Plot(program.Cases):
    @classmethod
    def setUpClass(cls):
        cls.runs = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.runs.cleanup)
        for name, rho in (("a", "0.8"), ("b", "0.5")):
            subprocess.run([PROGRAM, "run", CASE, "-q", "-o", os.path.join(cls.runs.name, name), "--set",
                            f"scheme.rho_inf={rho}", "--set", "output.frames=false", "--set",
                            "output.contact_frames=false"], check=True)

    def setUp(self):
        super().setUp()
        for name in ("a", "b"):
            shutil.copytree(os.path.join(self.runs.name, name), self.path(name))

    def done(self, *arguments):
        return call(*arguments, status=0, stderr="").stdout

    def refused(self, words, *arguments):
        said = call(*arguments, status=2).stderr
        self.assertIn(words, said)
        return said

    def run_script(self, path):
        """Runs a script from another folder."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir("/")
        with matplotlib.rc_context():
            runpy.run_path(path, run_name="__main__")

    def test_prefixes(self):
        for unit, largest, wanted in (("N", 62832.0, (1e-3, "kN")), ("s", 7e-4, (1e3, "ms")), ("m", 0.5, (1.0, "m")),
                                      ("m", 0.05, (1e3, "mm")), ("Pa", 2e8, (1e-6, "MPa")), ("m", 4e3, (1.0, "m")),
                                      ("N", 999.0, (1.0, "N")), ("N", 1000.0, (1e-3, "kN")), ("J", 0.0, (1.0, "J")),
                                      ("s", 5e-5, (1e6, "µs")), ("kg m/s", 1e5, (1.0, "kg m/s")),
                                      ("rad", 2e-3, (1e3, "mrad")), ("", 1e6, (1.0, "")), ("Hz", 4e4, (1e-3, "kHz"))):
            self.assertEqual(si(unit, largest), wanted, (unit, largest))

    def test_a_curve_has_the_values_of_its_column(self):
        with open(self.path("a", "history.csv"), newline="") as file:
            rows = [(float(r["t"]), float(r["wall.force"] or "nan")) for r in csv.DictReader(file)]
        figure = percuss.plot(self.path("a"), "wall.force")
        np.testing.assert_array_equal(line(figure), np.array(rows).T)
        axes = figure.axes[0]
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("t [s]", "wall.force [N]"))
        # Its axes say kN and ms; the numbers stay those of the file.
        table = pandas.DataFrame({"t": [0.0, 1e-3, 2e-3], "wall.force": [0.0, 2e4, 1e4]})
        figure = percuss.plot(table, "wall.force")
        np.testing.assert_array_equal(line(figure), table.to_numpy().T)
        axes = figure.axes[0]
        self.assertEqual((axes.xaxis.get_major_formatter()(2e-3), axes.yaxis.get_major_formatter()(-5e3)), ("2", "−5"))
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("t [ms]", "wall.force [kN]"))
        table.attrs["units"] = {"wall.force": "Pa"}  # what a table says of itself counts
        self.assertEqual(percuss.plot(table, "wall.force").axes[0].get_ylabel(), "wall.force [kPa]")
        results = percuss.open(self.path("a"))
        np.testing.assert_array_equal(line(percuss.plot(results, "wall.force")), np.array(rows).T)

    def test_a_script_labels_ticks_with_prefixes(self):
        self.write("small.csv", "t,wall.force\n0,0\n1e-3,2e4\n2e-3,1e4\n")
        self.done("plot", self.path("small.csv"), "wall.force", "--script", "-o", self.path("small.svg"))
        before = texts(self.path("small.svg"))
        os.remove(self.path("small.svg"))
        self.run_script(self.path("small.py"))
        self.assertEqual(texts(self.path("small.svg")), before)
        self.assertIn("wall.force [kN]", before)
        self.assertIn("2", before)

    def test_a_script_runs_again_elsewhere(self):
        self.done("plot", self.path("a"), "wall.force", "energy", "--script", "--title", "It's \"5 $\"\nand more")
        first = self.path("a", "wall.force_energy.svg")
        before = read_bytes(first)
        os.remove(first)
        os.rename(self.path("a"), self.path("moved"))
        self.run_script(self.path("moved", "wall.force_energy.py"))
        again = read_bytes(self.path("moved", "wall.force_energy.svg"))
        date = re.compile(rb"<dc:date>.*?</dc:date>|<metadata>.*?</metadata>", re.DOTALL)
        self.assertEqual(date.sub(b"", again), date.sub(b"", before))
        self.assertIn("It's \"5 $\" and more", [t.replace("&quot;", '"') for t in
                                                texts(self.path("moved", "wall.force_energy.svg"))])

    def test_usual_pictures(self):
        said = self.done("plot", self.path("a")).split()
        names = [os.path.basename(name) for name in said]
        self.assertEqual(names, ["energies.svg", "momentum.svg", "contact_wall.svg", "probe_tip.svg", "phase_tip.x.svg",
                                 "steps.svg"])
        for name in said:
            self.assertIn(BLUE, read_file(name), name)
        energies = percuss.plot(self.path("a"), "energies")
        self.assertEqual(labels(energies), ["kinetic", "strain", "total"])
        self.assertEqual(labels(energies, 1), ["impacts", "position correction", "numerical loss", "total"])
        history = percuss.open(self.path("a")).history
        total = history[["kinetic", "strain", "potential"]].sum(axis=1).to_numpy()
        np.testing.assert_allclose(line(energies, 1, 3)[1], total - total[0], atol=1e-12)
        np.testing.assert_array_equal(line(energies, 1, 0)[1], -history["impact_loss"])
        self.assertEqual(percuss.plot(self.path("a"), "phase_tip.x").axes[0].get_xlabel(), "tip.x [m]")

    def test_contacts_are_shown_while_they_last(self):
        figure = percuss.plot(self.path("a"), "contact_wall")
        history = percuss.open(self.path("a")).history
        loaded = history["t"][history["wall.force"] > 0.0]
        low, high = figure.axes[0].get_xlim()
        self.assertTrue(0.0 < low < loaded.min() and loaded.max() < high < 1.5, (low, high))
        self.assertLess(high - low, 1.5 * (loaded.max() - loaded.min()))
        gap = history["wall.gap"][(history["t"] >= low) & (history["t"] <= high)].max()
        self.assertLess(figure.axes[0].get_ylim()[1], 1.2 * gap)  # not the 5 m of the start
        self.assertGreaterEqual(figure.axes[0].get_ylim()[0], -1e-6)  # gaps are >= 0 but for round-off

    def test_panels_over_time_are_shaded_after_the_horizon(self):
        summary = read_json(self.path("a", "summary.json"))
        self.write("a/summary.json", json.dumps({**summary, "horizon": {"time": 0.8}}))
        for name in ("energies", "momentum", "contact_wall", "probe_tip", "steps"):
            for axes in percuss.plot(self.path("a"), name).axes:
                shade, = axes.patches
                self.assertEqual((*shade.get_xy()[:3:2, 0],), (0.8, 1.5))
        probes = [{"name": "tip.x", "time": None}, {"name": "tip.vx", "time": 0.9}]  # the first panel has no shade
        self.write("a/summary.json", json.dumps({**summary, "horizon": {"time": 0.9, "probes": probes}}))
        figure = percuss.plot(self.path("a"), "probe_tip")
        self.assertEqual([[p.get_label() for p in axes.patches] for axes in figure.axes], [[], ["after the horizon"]])

    def test_impulses_are_shown_over_the_run(self):
        table = pandas.DataFrame({"t": [0.0, 1.0, 2.0, 3.0], "floor.impulse": [np.nan, 4.0, 0.0, 2.0]})
        axes = percuss.plot(table, "floor.impulse").axes[0]
        self.assertEqual(axes.get_xlim(), (0.0, 3.0))
        bars = [segment.tolist() for segment in axes.collections[0].get_segments()]
        self.assertEqual(bars, [[[1.0, 0.0], [1.0, 4.0]], [[3.0, 0.0], [3.0, 2.0]]])

    def test_round_off_is_flat(self):
        t = np.linspace(0.0, 1.0, 50)
        table = pandas.DataFrame({"t": t, "a.ux": np.sin(t), "b.ux": 1e-17 * np.cos(9 * t), "c.vx": 3.0 + 1e-15 * t})
        low, high = percuss.plot(table, "b.ux").axes[0].get_ylim()
        self.assertGreater(high - low, 1e-3)
        low, high = percuss.plot(table, "c.vx").axes[0].get_ylim()
        self.assertGreater(high - low, 0.1)

    def test_runs_are_labelled_by_what_differs(self):
        figure = percuss.plot([self.path("a"), self.path("b")], "wall.force", "tip.x")
        self.assertEqual((labels(figure), labels(figure, 1)), (["rho_inf = 0.8", "rho_inf = 0.5"], []))
        self.assertEqual([len(axes.lines) for axes in figure.axes], [2, 2])
        shutil.copytree(self.path("a"), self.path("_twin $x$"))
        figure = percuss.plot([self.path("a"), self.path("_twin $x$")], "tip.x")
        self.assertEqual(labels(figure), ["a", plain("_twin $x$")])
        figure = percuss.plot([self.path("a"), self.path("b")], "tip.x", label=["ours", "theirs"])
        self.assertEqual(labels(figure), ["ours", "theirs"])
        self.assertEqual(labels(percuss.plot(self.path("a"), "tip.x", "wall.gap", label=["tip"])), ["tip"])

    def test_exact_solution_other_axis_and_formats(self):
        self.write("exact.csv", "t,wall.force\n0,0\n0.5,0\n0.5005,300\n1.167,300\n1.168,0\n1.5,0\n")
        self.done("plot", self.path("a"), "wall.force", "--exact", self.path("exact.csv"), "-o", self.path("e.svg"))
        self.assertIn("exact", texts(self.path("e.svg")))
        both = pandas.DataFrame({"t": [0.0, 1.5], "wall.force": [0.0, 0.0], "wall.gap": [5.0, 3.0]})
        figure = percuss.plot([self.path("a"), self.path("b")], "tip.x", "wall.force", "wall.gap", exact=both)
        self.assertEqual(sum(labels(figure, k).count("exact") for k in range(3)), 1)
        np.testing.assert_array_equal(line(figure, 2, 2), [[0.0, 1.5], [5.0, 3.0]])
        self.refused("needs 't' and a column", "plot", self.path("a"), "tip.x", "--exact", self.path("exact.csv"))
        figure = percuss.plot(self.path("a"), "wall.force", x="wall.gap")
        self.assertEqual(figure.axes[0].get_xlabel(), "wall.gap [m]")
        for ending, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
            self.done("plot", self.path("a"), "tip.x", "--width", "8.5", "-o", self.path("new", "p." + ending))
            with open(self.path("new", "p." + ending), "rb") as file:
                self.assertEqual(file.read(4), begin)

    def test_limits_scales_titles_and_legends(self):
        figure = percuss.plot(self.path("a"), "tip.x", "wall.gap", range=(0.25, 0.5), ylim=(1.0, 20.0), log="y",
                              title="Bar", legend="none", width=10.0)
        axes = figure.axes[0]
        self.assertEqual((axes.get_xlim(), axes.get_ylim(), axes.get_yscale()), ((0.25, 0.5), (1.0, 20.0), "log"))
        self.assertEqual((figure._suptitle.get_text(), axes.get_legend()), ("Bar", None))
        self.assertAlmostEqual(figure.get_size_inches()[0], 10.0 / 2.54, places=3)
        self.assertEqual(percuss.plot(self.path("a"), "tip.x", equal=True).axes[0].get_aspect(), 1.0)
        self.refused("--range (--xlim) needs columns", "plot", self.path("a"), "--range", "0:1")
        for option, wrong in itertools.product(("--range", "--xlim", "--ylim"), ("1", "1:", ":1", "1:0", "1:1", "0:1:2",
                                                                               "0:inf", "nan:1", "a:b")):
            self.refused(f"lim must be two rising numbers A:B, is '{wrong}'", "plot", self.path("a"), "tip.x",
                         option + "=" + wrong)

    def test_a_legend_covers_no_curve(self):
        t = np.linspace(0.0, 1.0, 200)
        box = {"t": t, "a.x": np.ones(200), "b.x": -np.ones(200)}
        figure = percuss.plot(pandas.DataFrame(box), "a.x", "b.x")  # there is room between
        legend = figure.axes[0].get_legend().get_window_extent()
        self.assertLess(legend.x1, figure.axes[0].get_window_extent().x1 + 1.0)
        full = {"t": t, **{f"p{k}.x": np.sin(300.0 * t + k) for k in range(3)}}
        figure = percuss.plot(pandas.DataFrame(full), "p0.x", "p1.x", "p2.x")
        figure.draw_without_rendering()
        legend = figure.axes[0].get_legend().get_window_extent()
        self.assertGreaterEqual(legend.x0, figure.axes[0].get_window_extent().x1)
        self.assertLess(legend.x1, figure.bbox.x1 + 1.0)
        figure = percuss.plot(pandas.DataFrame(full), "p0.x", "p1.x", "p2.x", label=["a name that is long " * 2] * 3)
        figure.draw_without_rendering()  # a wide one stands above
        legend, axes = figure.axes[0].get_legend().get_window_extent(), figure.axes[0].get_window_extent()
        self.assertGreaterEqual(legend.y0, axes.y1)
        self.assertGreater(axes.width, 0.7 * figure.bbox.width)

    def test_spectrum(self):
        t = np.arange(4096) * 1e-4
        table = pandas.DataFrame({"t": t, "p.ux": 5.0 + 0.25 * np.sin(2 * np.pi * 500.0 * t)
                                  + 0.01 * np.cos(2 * np.pi * 2000.0 * t)})
        figure = percuss.plot(table, "p.ux", spectrum="hann")
        axes, (f, amplitude) = figure.axes[0], line(figure)
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("frequency [kHz]", "amplitude of p.ux [m]"))
        self.assertAlmostEqual(f[np.argmax(amplitude)], 500.0, delta=3.0)
        self.assertAlmostEqual(amplitude.max(), 0.25, delta=0.25 * 0.16)  # a tone between two bins loses up to 15 %
        near = amplitude[np.abs(f - 2000.0) < 10.0].max()
        self.assertAlmostEqual(near, 0.01, delta=0.0016)
        self.assertLess(amplitude[np.abs(f - 1200.0) < 100.0].max(), 1e-4)  # the window keeps what leaks down
        self.refused("--spectrum needs columns", "plot", self.path("a"), "--spectrum")

    def test_trajectories_have_equal_scales(self):
        t = np.linspace(0.0, 6.0, 100)
        table = pandas.DataFrame({"t": t, "tip.x": np.cos(t), "tip.y": 0.5 * np.sin(t)})
        self.assertEqual(percuss.plot(table, "path_tip").axes[0].get_aspect(), 1.0)
        self.assertEqual(percuss.plot(table, "tip.y", x="tip.x").axes[0].get_aspect(), 1.0)
        self.assertEqual(percuss.plot(table, "tip.y").axes[0].get_aspect(), "auto")

    def study(self, name, rows):
        self.write(f"{name}/study.csv", "\n".join(rows) + "\n")
        self.write(f"{name}/study.json", '{"points": []}')

    def test_a_study_with_slopes_and_bars(self):
        rows = ["h,model,run,status,error,error.limit,error.bound,error.order,error.convergence,reason"]
        for model, factor in (("fine", 3.0), ("coarse", 5.0)):
            rows += [f"{h},{model},x,done,{factor * h**2},0,{0.1 * factor * h**2},2,converges,"
                     for h in (0.1, 0.2, 0.4, 0.80003)]
        self.study("study", rows)
        self.assertEqual(self.done("plot", self.path("study")), self.path("study", "study_error.svg") + "\n")
        figure = percuss.plot(self.path("study"), "error")
        axes = figure.axes[0]
        self.assertEqual(labels(figure), ["model = fine, slope 2.00", "model = coarse, slope 2.00"])
        self.assertEqual((axes.get_xscale(), axes.get_yscale(), len(axes.containers)), ("log", "log", 2))
        self.assertEqual([t.get_text() for t in axes.get_xticklabels()], ["0.1", "0.2", "0.4", "0.8"])
        rows = ["h,system.type,scheme.type,run,status,error [N],reason"]
        rows += [f"{h},{s},{scheme},x,done,{h},\"a, b\"" for s in ("ball", "puck") for scheme in ("hht", "newmark")
                 for h in (0.1, 0.2, 0.4)]
        self.study("types", rows)
        figure = percuss.plot(self.path("types"), "error")
        self.assertIn("ball, hht", labels(figure))
        self.assertEqual(figure.axes[0].get_ylabel(), "error [N]")
        rows = ["kind,run,status,m"] + [f"{k},x,done,{v}" for k, v in (("'a\"", 1), ("<script>", 2), ("$c$", 3))]
        self.study("named", rows)
        figure = percuss.plot(self.path("named"))
        self.assertEqual([t.get_text() for t in figure.axes[0].get_xticklabels()], ["'a\"", "<script>", r"\$c\$"])
        np.testing.assert_array_equal(line(figure), [[0, 1, 2], [1, 2, 3]])

    def test_refinements_show_every_level(self):
        levels = [1.0 + 0.3 * 0.25**k for k in range(4)]
        other = [3.0, 2.0, 1.75, 1.7]
        rows = [f"{k},{2**k},x,done,{e}" + (",,,," if k < 3 else ",1,0.01,2,converges") + f",{other[k]},\n"
                for k, e in enumerate(levels)]
        self.write("refined/study.csv", "level,step_factor,run,status,e,e.limit,e.bound,e.order,e.convergence,o'f,"
                   "reason\n" + "0,1,x,failed,,,,,,,it broke\n" * 4 + "".join(rows))
        pictures = make([self.path("refined")], [], Options())[0]
        self.assertEqual(list(pictures), ["refine_e", "refine_o'f"])
        np.testing.assert_allclose(line(pictures["refine_o'f"]())[1], other)
        figure = pictures["refine_e"]()
        np.testing.assert_allclose(line(figure), [[1.0, 0.5, 0.25, 0.125], levels])
        x, y = line(figure, 1)
        np.testing.assert_allclose(np.polyfit(np.log(x), np.log(y), 1)[0], 2.0, rtol=1e-9)
        self.assertEqual(labels(figure, 1), ["observed order 2.00"])

    def test_waves(self):
        rows = ["# percuss waves: body bar, 3 cells, fields stress vx", "6,1,2,3,1,2,3"]
        rows += [f"{0.1 * k:.3g},0,{k},{-2e6 * k},1,2,-4" for k in range(16)]
        self.write("a/bar.waves.csv", "\n".join(rows) + "\n")
        self.assertIn("waves_stress", make([self.path("a")], [], Options())[0])
        self.done("plot", self.path("a"), "waves_vx", "-o", self.path("a", "waves_vx.svg"))
        self.assertIn("<image", read_file(self.path("a", "waves_vx.svg")))
        self.assertLessEqual({"vx of bar [m/s]", "contact force [N]", "position along the body [m]", "wall"},
                             set(texts(self.path("a", "waves_vx.svg"))))
        figure = percuss.plot(self.path("a"), "waves_stress")
        image = figure.axes[0].collections[0]
        np.testing.assert_allclose(np.reshape(image.get_array(), (16, 3))[:, 2], -2e6 * np.arange(16))
        self.assertEqual(image.get_clim()[0], -image.get_clim()[1])
        grid = figure.axes[0].get_xgridlines() + figure.axes[0].get_ygridlines()
        self.assertFalse(any(mark.get_visible() for mark in grid))
        self.write("a/bar.waves.csv", "\n".join(rows)[:-3] + "\n")
        self.refused("bar.waves.csv: damaged", "plot", self.path("a"))

    def test_several_bodies_in_one_diagram(self):
        bodies = "[striker, incident, specimen, transmitted]"
        subprocess.run([PROGRAM, "run", "cases/hopkinson", "-q", "-o", self.path("bars"), "--set",
                        f"output.waves={{ body: {bodies}, of: [stress] }}", "--set", "output.frames=false", "--set",
                        "time.end=1e-4"], check=True)
        waves, = percuss.open(self.path("bars")).waves
        spans = [(name, round(a, 9), round(b, 9)) for name, a, b in waves.bodies]
        self.assertEqual(spans, [("striker", 0.0, 0.3), ("incident", 0.3, 2.3), ("specimen", 2.3, 2.31),
                                 ("transmitted", 2.31, 3.81)])
        # A wave of -rho c v / 2 = -200 MPa runs into both bars from where they touch, 5 mm in every us.
        for t, front in zip(waves.times[1:50], 0.3 + 5000.0 * waves.times[1:50]):
            row = waves.fields["stress"][np.searchsorted(waves.times, t)]
            inside = (waves.places > 0.61 - front) & (waves.places < front - 0.01) & (np.abs(waves.places - 0.3) > 0.01)
            np.testing.assert_allclose(row[inside], -2e8, rtol=1e-9)
            np.testing.assert_allclose(row[waves.places > front + 0.01], 0.0, atol=1.0)
        figure = percuss.plot(self.path("bars"), "waves_stress")
        self.assertEqual([t.get_text() for t in figure.axes[0].texts], ["striker", "incident", "specimen",
                                                                       "transmitted"])
        self.assertEqual(figure.axes[0].get_xlabel(), "position along the bodies [m]")
        self.assertEqual([round(float(mark.get_xdata()[0]), 5) for mark in figure.axes[0].lines], [0.3, 2.3, 2.31])

    def test_modes_and_load_paths(self):
        subprocess.run([PROGRAM, "modes", "cases/cantilever_stop", "-q", "-o", self.path("modes")], check=True)
        figure = percuss.plot(self.path("modes"), "mode_shapes")
        table = percuss.open(self.path("modes")).table
        axes = figure.axes[0]
        self.assertEqual(axes.get_title(), f"mode 1: {table['f'][0]:.4g} Hz")
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("x [m]", "uy / largest"))
        # The first mode of a cantilever (Euler-Bernoulli: k L = 1.8751), normed at its end.
        x, y = line(figure)
        k = 1.8751040687 / x[-1]
        s = (np.cosh(1.8751040687) + np.cos(1.8751040687)) / (np.sinh(1.8751040687) + np.sin(1.8751040687))
        exact = np.cosh(k * x) - np.cos(k * x) - s * (np.sinh(k * x) - np.sin(k * x))
        np.testing.assert_allclose(np.abs(y), np.abs(exact / exact[-1]), atol=2e-3)
        figure = percuss.plot(self.path("modes"))
        self.assertEqual(figure.axes[0].get_ylabel(), "frequency [kHz]")
        np.testing.assert_allclose(line(figure)[1], table["f"])
        subprocess.run([PROGRAM, "statics", "cases/cantilever_stop", "-q", "-o", self.path("statics"), "--steps", "4",
                        "--set", "loads.push={ type: force, set: beam.end, value: [0, 30.0, 0] }"], check=True)
        figure = percuss.plot(self.path("statics"), "load_path_tip")
        axes = figure.axes[0]
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("tip.y [mm]", "load factor"))
        table = percuss.open(self.path("statics")).table
        np.testing.assert_allclose(line(figure), [table["tip.y"], table["factor"]])

    def test_names_do_no_harm(self):
        wild = "it's \"a\" <script>alert(1)</script>\nwith ${x}; import os"
        shutil.copytree(self.path("a"), self.path(wild))
        self.write("wild.csv", 't,"<script>x</script>, ""y""","a\'); raise SystemExit(3) #"\n0,1,2\n1,3,1\n')
        self.done("plot", self.path(wild), "tip.x", "--script", "-o", self.path("w.svg"))
        self.done("plot", self.path(wild), self.path("a"), "tip.x", "--script", "--title", wild, "--label", wild, "-o",
                  self.path("v.svg"))
        for name in ("w", "v"):
            os.remove(self.path(name + ".svg"))
            self.run_script(self.path(name + ".py"))
            self.assertNotIn("<script>alert", read_file(self.path(name + ".svg")))
        self.assertTrue(os.path.exists(self.path("v.svg")))
        said = self.done("plot", self.path("wild.csv"), '<script>x</script>, "y"', "a'); raise SystemExit(3) #",
                         "--script").split("\n")
        self.assertTrue(os.path.exists(said[0]), said)
        self.run_script(said[0][:-3] + "py")

    def test_damaged_folders_get_one_line(self):
        self.write("b/history.csv", "t,tip.x\n")
        self.assertEqual(self.refused("nothing to draw", "plot", self.path("b"), "tip.x").count("\n"), 1)
        # The case serves labels alone: without one the folders' names do.
        for text in ("\x00", "a: [", "&a [*a]"):
            self.write("a/case.resolved.yaml", text)
            self.assertEqual(labels(percuss.plot([self.path("a")] * 2, "tip.x")), ["a", "a"])

    def test_what_is_not_drawn_is_told(self):
        folder = self.path("many")
        names = [f"c{k}.{part}" for k in range(10) for part in ("gap", "force")] + [f"p{k}.x" for k in range(9)]
        rows = [",".join(["t", *names])] + [",".join([str(t)] + [str(t + k) for k in range(len(names))])
                                            for t in range(3)]
        self.write("many/history.csv", "\n".join(rows) + "\n")
        pictures, notes = make([folder], [], Options())
        self.assertEqual([n.split(";")[0] for n in notes], [
            "Drawn are 8 of 10 contacts, those with the largest impulses", "Drawn are 8 of 9 probes"])
        self.assertEqual(sum(name.startswith("contact_c") for name in pictures), 8)
        self.assertEqual(make([folder], ["c9.gap"], Options())[1], [])
        rows = ["a,b,run,status,m,reason"] + [f"{k % 2},{k // 2},r{k},done,{k}," for k in range(80)]
        self.write("many.csv", "\n".join(rows) + "\n")
        text = self.done("plot", self.path("many.csv"), "-o", self.path("table"))
        self.assertIn("Drawn are 32 of 40 combinations of the other keys", text)

    def test_what_is_wrong_is_told(self):
        self.refused("did you mean 'wall.force'?", "plot", self.path("a"), "wall.forse")
        self.refused("no such folder of results", "plot", self.path("nowhere"))
        self.refused("no history.csv", "plot", self.folder)
        self.refused("results must follow", "plot")
        self.refused("pictures are .svg, .png or .pdf, not", "plot", self.path("a"), "-o", self.path("x.jpg"))
        self.refused("--range (--xlim) must meet t from 0 to 1.5, is 5:9", "plot", self.path("a"), "tip.x", "--xlim",
                     "5:9")
        self.refused("needs no parameter (hann, ", "plot", self.path("a"), "tip.x", "--spectrum", "nowin")
        self.refused("--label: 2 given, but 1", "plot", self.path("a"), "tip.x", "--label", "a", "--label", "b")
        for wrong in ({"legend": "nowhere"}, {"log": "z"}):
            with self.assertRaisesRegex(ValueError, "must be"):
                percuss.plot(self.path("a"), "tip.x", **wrong)
        self.write("quote.csv", 't,x\n0,1\n"1,2\n2,3\n')
        self.refused('quote.csv:3: damaged: a quote (") is not closed', "plot", self.path("quote.csv"), "x")
        self.refused("--width must be a number from 5 on", "plot", self.path("a"), "--width", "x")
        self.refused("unknown option '--tolerance'", "plot", self.path("a"), "--tolerance", "1")
        self.write("s/study.csv", "a,run,status,m\n1,x,done,2\n")
        self.refused("a study is drawn alone", "plot", self.path("s"), self.path("a"))


if __name__ == "__main__":
    matplotlib.use("Agg")
    unittest.main()
