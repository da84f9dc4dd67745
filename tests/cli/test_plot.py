"""percuss plot and percuss compare from the command line: curves that are in the pictures, scripts that run again,
words and exit status. Argument: the path of the program. Without gnuplot only what needs none is tested."""

import csv
import itertools
import math
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from program import HANG, percuss

CASE = os.path.abspath("cases/bar_impact")
NEEDS_GNUPLOT = unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not there: install gnuplot-nox")
BLUE, VERMILLION = "rgb(  0, 114, 178)", "rgb(213,  94,   0)"


def read(path):
    with open(path) as file:
        return file.read()


def texts(svg):
    return re.findall(r"<text>(.*?)</text>", svg)


def curves(svg, colour):
    """The points of all lines of a colour, in pixels, without short ones, which are samples of the legend."""
    paths = re.findall(rf"<path stroke='{re.escape(colour)}'\s+d='([^']*)'", svg)
    lines = [[tuple(map(float, point)) for point in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)] for path in paths]
    return [line for line in lines if len(line) > 2]


def value_of(svg):
    """From a height in pixels to the number at the vertical axis, by the first and the last mark of the last panel."""
    marks = re.findall(r"d='M[\d.]+,([\d.]+) L[\d.]+,\1\s*'/>\s*<g [^>]*>\s*<text>([-\d.e]+)</text>", svg)
    (y0, v0), (y1, v1) = [(float(y), float(v)) for y, v in (marks[0], marks[-1])]
    return lambda y: v0 + (y - y0) * (v1 - v0) / (y1 - y0)


class Plot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = tempfile.TemporaryDirectory()
        for name, rho in (("a", "0.8"), ("b", "0.5")):
            done = percuss("run", CASE, "-q", "-o", os.path.join(cls.runs.name, name), "--set", f"scheme.rho_inf={rho}",
                           "--set", "output.frames=false", "--set", "output.contact_frames=false")
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.runs.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("a", "b"):
            shutil.copytree(os.path.join(self.runs.name, name), self.path(name))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def done(self, *arguments):
        answer = percuss(*arguments)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return answer.stdout

    def refused(self, status, words, *arguments, **keywords):
        answer = percuss(*arguments, **keywords)
        self.assertEqual(answer.returncode, status, answer.stderr)
        self.assertIn(words, answer.stderr)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(text)

    @NEEDS_GNUPLOT
    def test_a_curve_has_the_values_of_its_column(self):
        self.done("plot", self.path("a"), "wall.force", "-o", self.path("force.svg"))
        svg = read(self.path("force.svg"))
        self.assertIn("wall.force [N]", texts(svg))
        self.assertIn("t [s]", texts(svg))
        with open(self.path("a", "history.csv"), newline="") as file:
            force = [float(row["wall.force"]) for row in csv.DictReader(file) if row["wall.force"]]
        line, = curves(svg, BLUE)
        value = value_of(svg)
        drawn = [value(y) for _, y in line]
        self.assertAlmostEqual(max(drawn), max(force), delta=0.01 * max(force))
        self.assertAlmostEqual(min(drawn), min(force), delta=0.01 * max(force))
        plateau = [x for x, y in line if abs(value(y) - 300.0) < 5.0]
        share = (max(plateau) - min(plateau)) / (line[-1][0] - line[0][0])
        self.assertAlmostEqual(share, 2 * 10.0 / 30.0 / 1.5, delta=0.05)  # contact lasts 2 L / c

    @NEEDS_GNUPLOT
    def test_a_script_runs_again_elsewhere(self):
        self.done("plot", self.path("a"), "wall.force")
        first = read(self.path("a", "wall.force.svg"))
        os.remove(self.path("a", "wall.force.svg"))
        os.rename(self.path("a"), self.path("moved"))
        subprocess.run(["gnuplot", "wall.force.gp"], cwd=self.path("moved"), check=True, timeout=HANG)
        self.assertEqual(read(self.path("moved", "wall.force.svg")), first)

    @NEEDS_GNUPLOT
    def test_usual_pictures(self):
        said = self.done("plot", self.path("a")).split()
        names = [os.path.basename(name) for name in said]
        self.assertEqual(names, ["energies.svg", "momentum.svg", "contact_wall.svg", "probe_tip.svg", "phase_tip.x.svg",
                                 "steps.svg"])
        for name in said:
            self.assertTrue(curves(read(name), BLUE), name)
            self.assertTrue(os.path.exists(name[:-3] + "gp"))
        energies = texts(read(said[0]))
        for word in ("kinetic", "strain", "total", "impacts", "numerical loss", "energy [J]"):
            self.assertIn(word, energies)
        self.assertIn("momentum_x [kg m/s]", texts(read(said[1])))
        contact = texts(read(said[2]))
        self.assertIn("wall.gap [m]", contact)
        self.assertFalse([text for text in contact if text.strip().startswith("-")])  # gaps are >= 0 but for round-off
        self.assertEqual(texts(read(said[4]))[-2:], ["tip.vx [m/s]", "tip.x [m]"])

    @NEEDS_GNUPLOT
    def test_runs_are_labelled_by_what_differs(self):
        self.done("plot", self.path("a"), self.path("b"), "wall.force", "tip.x", "-o", self.path("both.svg"))
        svg = read(self.path("both.svg"))
        for word in ("rho_inf = 0.8", "rho_inf = 0.5", "wall.force [N]", "tip.x [m]"):
            self.assertEqual(texts(svg).count(word), 1, word)
        self.assertEqual((len(curves(svg, BLUE)), len(curves(svg, VERMILLION))), (2, 2))
        shutil.copytree(self.path("a"), self.path("twin"))
        self.done("plot", self.path("a"), self.path("twin"), "tip.x", "-o", self.path("twins.svg"))
        self.assertTrue({"a", "twin"} < set(texts(read(self.path("twins.svg")))))

    @NEEDS_GNUPLOT
    def test_exact_solution_other_axis_and_formats(self):
        self.write("exact.csv", "t,wall.force\n0,0\n0.5,0\n0.5005,300\n1.167,300\n1.168,0\n1.5,0\n")
        self.done("plot", self.path("a"), "wall.force", "--exact", self.path("exact.csv"), "-o", self.path("e.svg"))
        self.assertIn("exact", texts(read(self.path("e.svg"))))
        self.write("both.csv", "t,wall.force,wall.gap\n0,0,5\n1.5,0,3\n")
        self.done("plot", self.path("a"), self.path("b"), "tip.x", "wall.force", "wall.gap", "--exact",
                  self.path("both.csv"), "-o", self.path("both_exact.svg"))
        self.assertEqual(texts(read(self.path("both_exact.svg"))).count("exact"), 1)
        self.refused(2, "needs 't' and a column", "plot", self.path("a"), "tip.x", "--exact", self.path("exact.csv"))
        self.done("plot", self.path("a"), "wall.force", "--x", "wall.gap", "-o", self.path("x.svg"))
        self.assertIn("wall.gap [m]", texts(read(self.path("x.svg"))))
        for ending, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
            self.done("plot", self.path("a"), "tip.x", "--width", "8.5", "-o", self.path("new", "p." + ending))
            with open(self.path("new", "p." + ending), "rb") as file:
                self.assertEqual(file.read(4), begin)

    @NEEDS_GNUPLOT
    def test_part_of_the_axis_and_sum_of_energies(self):
        self.done("plot", self.path("a"), self.path("b"), "wall.gap", "energy", "--range", "0.25:0.5", "-o",
                  self.path("r.svg"))
        script = read(self.path("r.gp"))
        self.assertIn("set xrange [0.25:0.5]\n", script)
        self.assertIn("(column('kinetic') + column('strain') + column('potential'))", script)
        self.assertIn("energy [J]", texts(read(self.path("r.svg"))))
        # What is drawn: numbers at the axis that only its part has.
        self.done("plot", self.path("a"), "wall.gap", "-o", self.path("whole.svg"))
        for number in "0.25", "0.35", "0.45":
            self.assertIn(number, texts(read(self.path("r.svg"))))
            self.assertNotIn(number, texts(read(self.path("whole.svg"))))
        self.assertNotIn("set xrange [0.25:0.5]\n", read(self.path("whole.gp")))
        self.refused(2, "--range needs columns", "plot", self.path("a"), "--range", "0:1")
        for wrong in ("1", "1:", ":1", "1:0", "1:1", "0:1:2", "0:inf", "nan:1", "a:b"):
            self.refused(2, f"--range must be two rising numbers A:B, is '{wrong}'", "plot", self.path("a"), "tip.x",
                         "--range", wrong)
        self.refused(2, "--range is an option of plot", "check", CASE, "--range", "0:1")

    @NEEDS_GNUPLOT
    def test_long_numbers_below_a_panel_do_not_meet(self):
        parts = [(0.0, end) for end in (3e-5, 8e-5, 1e-4, 1.5e-4, 6e-4, 1.35e-3, 2.2e-3, 5e-3, 9.9e-3)]
        parts += [(0.49, 0.53), (0.95, 1.0), (0.041, 0.0511), (0.4501, 0.4599), (0.35, 0.36)]
        for width, (start, end) in itertools.product((8, 14, 16), parts):
            self.done("plot", self.path("a"), "wall.gap", "--range", f"{start}:{end}", "--width", str(width), "-o",
                      self.path("short.svg"))
            script = read(self.path("short.gp"))
            step, left, right, pixels, font = (float(re.search(pattern + r"([\d.e-]+)", script)[1]) for pattern in (
                r"set xtics (?!offset)", "lmargin at screen ", "rmargin at screen ", "size ", "font 'Helvetica,"))
            first, last = math.ceil(start / step * (1.0 - 1e-9)), math.floor(end / step * (1.0 + 1e-9))
            numbers = [f"{k * step:g}" for k in range(first, last + 1)]
            self.assertGreaterEqual(len(numbers), 2, (width, start, end))
            self.assertLess(0.64 * font * max(map(len, numbers)), step / (end - start) * (right - left) * pixels,
                            (width, start, end, numbers))

    @NEEDS_GNUPLOT
    def test_legends_have_room_for_their_longest_text(self):
        for letters in (4, 12, 20, 60):
            names = ["x" * letters, "yyyy"]
            for name in names:
                self.write(f"{name}/history.csv", "step,t,energy\n0,0,1\n1,1,2\n2,2,1\n")
            self.done("plot", *map(self.path, names), "energy", "--width", "16", "-o", self.path("legend.svg"))
            script = read(self.path("legend.gp"))
            right, pixels, font = (float(re.search(pattern + r"([\d.e-]+)", script)[1]) for pattern in (
                "rmargin at screen ", "size ", "font 'Helvetica,"))
            is_beside = "set key at graph 1.02" in script
            self.assertEqual(is_beside, letters < 60, letters)
            room = (1.0 - right) * pixels if is_beside else right * pixels
            self.assertGreater(room, 0.5 * font * letters, letters)
            if is_beside:  # and not much more
                self.assertLess(room, font * (letters + 6), letters)

    @NEEDS_GNUPLOT
    def test_a_study_with_slopes_and_bars(self):
        rows = ["h,model,run,status,error,error.limit,error.bound,error.order,error.convergence,reason"]
        for model, factor in (("fine", 3.0), ("coarse", 5.0)):
            rows += [f"{h},{model},x,done,{factor * h**2},0,{0.1 * factor * h**2},2,converges,"
                     for h in (0.1, 0.2, 0.4, 0.80003)]
        self.write("study/study.csv", "\n".join(rows) + "\n")
        self.assertEqual(self.done("plot", self.path("study")), self.path("study", "study_error.svg") + "\n")
        svg = read(self.path("study", "study_error.svg"))
        for word in ("model = fine, slope 2.00", "model = coarse, slope 2.00"):
            self.assertIn(word, texts(svg))
        script = read(self.path("study", "study_error.gp"))
        self.assertIn("set xtics (0.1, 0.2, 0.4, 0.80003)", script)
        self.assertIn("set format x '%.3g'", script)
        self.assertIn("\nset logscale x\nset logscale y\n", script)
        self.assertEqual(script.count("with yerrorbars"), 2)

    @NEEDS_GNUPLOT
    def test_waves(self):
        rows = ["# percuss waves: body bar, 3 places, fields stress vx", "6,1,2,3,1,2,3"]
        rows += [f"{0.1 * k:.3g},0,{k},{-2 * k},1,2,-4" for k in range(16)]
        self.write("a/bar.waves.csv", "\n".join(rows) + "\n")
        said = self.done("plot", self.path("a"))
        self.assertIn("waves_stress.svg", said)
        svg = read(self.path("a", "waves_vx.svg"))
        self.assertIn("<image", svg)
        for word in ("vx of bar [m/s]", "wall.force", "place along the body [m]"):
            self.assertIn(word, texts(svg))
        script = read(self.path("a", "waves_stress.gp"))
        self.assertIn("set cbrange [-30:30]", script)
        self.assertIn("set xrange [*<0:0<*]", script.split("\nplot waves")[1])  # forces begin at zero
        for words in ("every 1:1:3:0:5:15 ", "set cbrange [-4:4]"):
            self.assertIn(words, read(self.path("a", "waves_vx.gp")))
        self.write("a/bar.waves.csv", "\n".join(rows)[:-3] + "\n")
        self.refused(2, "bar.waves.csv: not a whole file", "plot", self.path("a"))

    @NEEDS_GNUPLOT
    def test_waves_of_few_rows_stay_in_their_frame(self):
        for times in ([0, 1], [0, 1, 2], [0.5, 1.5, 2.5, 2.75], [k / 7 for k in range(60)]):
            rows = ["# percuss waves: body bar, 3 places, fields stress", "3,1,2,3"] + [f"{t},0,1,2" for t in times]
            self.write("few/bar.waves.csv", "\n".join(rows) + "\n")
            self.write("few/history.csv", "t,kinetic\n0,1\n1,2\n")
            self.done("plot", self.path("few"))
            script, svg = (read(self.path("few", f"waves_stress.{kind}")) for kind in ("gp", "svg"))
            height = float(re.search(r"size \d+,(\d+)", script)[1])
            frame = [height * (1.0 - float(re.search(f"{side}margin at screen ([\\d.]+)", script)[1])) for side in "tb"]
            y, size = (float(re.search(f"<image[^>]* {key}='([\\d.]+)'", svg)[1]) for key in ("y", "height"))
            self.assertGreater(y, frame[0] - 1.0, times)
            self.assertLess(y + size, frame[1] + 1.0, times)
            self.assertGreater(size, 0.8 * (frame[1] - frame[0]), times)

    @NEEDS_GNUPLOT
    def test_short_names_where_room_is_short(self):
        rows = ["# percuss waves: body bar, 3 places, fields stress", "3,1,2,3"] + [f"{k},0,{k},1" for k in range(4)]
        self.write("two/bar.waves.csv", "\n".join(rows) + "\n")
        self.write("two/history.csv", "t,front.force,back.force\n" + "".join(f"{k},{9 * k},{k}\n" for k in range(4)))
        self.done("plot", self.path("two"))
        words = [word.strip() for word in texts(read(self.path("two", "waves_stress.svg")))]
        self.assertLessEqual({"contacts", "front", "back"}, set(words))
        self.assertNotIn("front.force", words)
        # The axis of the forces ends with the largest, 27, and not with a further number.
        self.assertEqual(("20" in words, "40" in words), (True, False))
        rows = [f"{h},ball,{scheme},x,done,{h}" for scheme in ("hht", "newmark") for h in (0.1, 0.2, 0.4)]
        rows += [f"{h},puck,{scheme},x,done,{2 * h}" for scheme in ("hht", "newmark") for h in (0.1, 0.2, 0.4)]
        self.write("types/study.csv", "h,system.type,scheme.type,run,status,error\n" + "\n".join(rows) + "\n")
        self.done("plot", self.path("types"))
        self.assertIn("ball, hht", texts(read(self.path("types", "study_error.svg"))))

    def test_what_is_not_drawn_is_told(self):
        folder = self.path("many")
        os.makedirs(folder)
        names = [f"c{k}.{part}" for k in range(10) for part in ("gap", "force")] + [f"p{k}.x" for k in range(9)]
        with open(os.path.join(folder, "history.csv"), "w") as file:
            file.write(",".join(["t", *names]) + "\n")
            for t in range(3):
                file.write(",".join([str(t)] + [str(t + k) for k in range(len(names))]) + "\n")
        text = self.done("plot", folder)
        self.assertIn("Drawn are the first 8 of 10 contacts", text)
        self.assertIn("Drawn are the first 8 of 9 probes", text)
        self.assertEqual(text.count("contact_c"), 8)
        self.assertNotIn("Drawn", self.done("plot", folder, "c9.gap"))
        table = self.path("many.csv")
        with open(table, "w") as file:
            file.write("a,b,run,status,m,reason\n")
            for k in range(80):
                file.write(f"{k % 2},{k // 2},r{k},done,{k},\n")
        text = self.done("plot", table, "-o", self.path("table"))
        self.assertIn("Drawn are the first 32 combinations of the other keys; 16 rows are left out", text)

    def test_what_is_wrong_is_told(self):
        self.refused(2, "did you mean 'wall.force'?", "plot", self.path("a"), "wall.forse")
        self.refused(2, "no such folder of results", "plot", self.path("nowhere"))
        self.refused(2, "no history.csv", "plot", self.folder)
        self.refused(2, "results must follow", "plot")
        self.refused(2, "pictures are .svg, .png or .pdf, not", "plot", self.path("a"), "-o", self.path("x.jpg"))
        self.refused(2, "--range must meet t from 0 to 1.5, is 5:9", "plot", self.path("a"), "tip.x", "--range", "5:9")
        self.refused(2, "--width must be a number from 5 on", "plot", self.path("a"), "--width", "x")
        self.refused(2, "is an option of compare", "plot", self.path("a"), "--tolerance", "1")
        self.refused(2, "--width is an option of plot", "compare", self.path("a"), self.path("b"), "--width", "9")
        self.refused(2, "one argument too many", "check", CASE, "more")

    def test_a_missing_gnuplot_is_named_with_its_package(self):
        empty = {"PATH": self.path("no_programs")}
        self.refused(1, "install the package gnuplot-nox", "plot", self.path("a"), "tip.x", env=empty)
        self.assertTrue(os.path.exists(self.path("a", "tip.x.gp")))

    def test_compare(self):
        same = self.done("compare", self.path("a"), self.path("a", "history.csv"))
        self.assertIn("Alike", same)
        answer = percuss("compare", self.path("a"), self.path("b"))
        self.assertEqual((answer.returncode, answer.stderr), (1, ""))
        self.assertIn("first at t = 0.502 in kinetic", answer.stdout)
        self.assertIn("wall.force", answer.stdout)
        self.assertIn("Alike", self.done("compare", self.path("a"), self.path("b"), "--tolerance", "1"))
        self.assertEqual(self.done("compare", self.path("a"), self.path("a"), "-q"), "")
        self.refused(2, "cannot open", "compare", self.path("a"), self.path("c.csv"))
        self.refused(2, "two results must follow", "compare", self.path("a"))
        self.refused(2, "--tolerance must be a number from 0 on", "compare", self.path("a"), self.path("b"),
                     "--tolerance", "-1")

    def test_compare_studies(self):
        self.write("one/study.csv", "n,s,run,status,m,m.order,reason\n10,a,r1,done,2,1,\n10,b,r2,done,-4,,\n"
                   "20,a,r3,done,8,,\n20,b,r4,failed,,,it broke\n")
        # The keys and points in another order, numbers in another form, names and reasons of their own, a point more.
        self.write("two/study.csv", "s,n,run,status,m,m.order,reason\nb,20,q4,failed,,,broken\nc,1,q9,done,5,,\n"
                   "a,2e1,q3,done,8.0,,\nb,10.0,q2,done,-4,,\na,10,q1,done,2,1,\n")
        same = self.done("compare", self.path("one"), self.path("two", "study.csv"))
        for words in ("4 points, 0 of them not in B", "5 points, 1 of them not in A", "4 points that both", "Alike"):
            self.assertIn(words, same)
        two = read(self.path("two", "study.csv"))
        for old, new, words in (("8.0,,", "8.1,,", "1 of 3 columns by more than 1e-09 of their size, first at n=20 "),
                                ("failed", "done", "first at n=20 s=b in status."),
                                ("a,10,q1,done,2,1,", "a,10,q1,done,2,,", "first at n=10 s=a in m.order."),
                                ("b,10.0,q2,done,-4", "b,10.0,q2,done,4", "first at n=10 s=b in m.")):
            self.write("two/study.csv", two.replace(old, new))
            answer = percuss("compare", self.path("one"), self.path("two"))
            self.assertEqual((answer.returncode, answer.stderr), (1, ""))
            self.assertIn(words, answer.stdout)
        self.write("two/study.csv", two.replace("8.0,,", "8.1,,"))
        self.assertIn("Alike", self.done("compare", self.path("one"), self.path("two"), "--tolerance", "0.02"))
        self.refused(2, "is of a study and", "compare", self.path("a"), self.path("one"))
        self.write("three/study.csv", "n,run,status,m,reason\n11,r,done,2,\n")
        self.refused(2, "study.csv varies 's', ", "compare", self.path("one"), self.path("three"))
        self.write("three/study.csv", "n,s,run,status,m,reason\n11,a,r,done,2,\n")
        self.refused(2, "have no point in common", "compare", self.path("one"), self.path("three"))


if __name__ == "__main__":
    unittest.main()
