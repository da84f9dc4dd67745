"""Two results beside each other: planted differences are found, where and when they are; round-off is none. Argument:
the path of the program."""

import unittest

from studies import call  # before percuss: it says where that is
import program  # noqa: I100

import percuss

USUAL = dict(nstep=100, begin=0.0, end=1.0, bump=0.0, noise=0.0, misfit=0.0, iterations=1, further="")


class Compare(program.Cases):
    def result(self, name, **changed):
        """x = 1 + t, force = 100 t: linear, so that interpolation is exact; `bump` is added from t = 0.5 on."""
        r = {**USUAL, **changed}
        more = "," + r["further"] if r["further"] else ""
        lines = ["t,step,kinetic,momentum_x,momentum_y,iterations,tip.x,pin.gap,wall.force" + more]
        for i in range(r["nstep"] + 1):
            t = r["begin"] + (r["end"] - r["begin"]) * i / r["nstep"]
            force = repr(100.0 * t + (r["bump"] if t >= 0.5 - 1e-9 else 0.0)) if i else ""
            lines.append(f"{t!r},{i},{500.0 - t!r},-100,{r['noise'] * i!r},{r['iterations']},{1.0 + t!r},"
                         f"{r['misfit'] * (i % 3)!r},{force}" + (",1" if more else ""))
        return self.write(name, "\n".join(lines) + "\n")

    def compare(self, a, b, tolerance=1e-9):
        found = percuss.compare(self.result("a.csv", **a), self.result("b.csv", **b), tolerance)
        return found, found.attrs["text"], int((found["beyond"] & found["judged"]).sum())

    def test_a_result_is_like_itself(self):
        found, said, count = self.compare({}, {}, 0.0)
        self.assertEqual((len(found), count, found["largest"].max()), (8, 0, 0.0))
        self.assertIn("Row by row, 101 rows.", said)
        self.assertIn("Alike", said)
        self.assertTrue(found.attrs["alike"])

    def test_a_planted_difference_is_found(self):
        found, said, count = self.compare({}, {"bump": 0.25}, 1e-3)
        d = found.loc["wall.force"]
        self.assertEqual((count, d["beyond"], float(d["first"]), d["a"], d["b"]), (1, True, 0.5, 50.0, 50.25))
        self.assertAlmostEqual(d["largest"], 0.25, delta=1e-12)
        self.assertAlmostEqual(d["relative"], 0.25 / 100.25, delta=1e-12)
        self.assertIn("first at t = 0.5 in wall.force (A 50, B 50.25)", said)
        found, _, count = self.compare({}, {"bump": 0.25}, 3e-3)
        self.assertEqual((count, found.loc["wall.force", "beyond"]), (0, False))

    def test_other_times_are_interpolated(self):
        finer = {"nstep": 173, "begin": 0.05, "end": 0.9}
        found, said, count = self.compare({}, finer, 1e-13)
        self.assertEqual((count, found.loc["step", "beyond"], found.loc["step", "judged"]), (0, True, False))
        self.assertIn("At 86 times of A from 0.05 to 0.9; B is interpolated", said)
        for bump in ({**finer, "bump": -1.0}, {}), ({"bump": -1.0}, finer):
            found, said, count = self.compare(*bump, 1e-3)
            self.assertEqual(count, 1)
            self.assertAlmostEqual(float(found.loc["wall.force", "first"]), 0.5, delta=0.011)
            self.assertAlmostEqual(found.loc["wall.force", "largest"], 1.0, delta=1e-9)
            d = found.loc["wall.force"]
            self.assertLess(d["a"], d["b"])
        self.assertIn("B is interpolated", said)

    def test_round_off_is_no_difference(self):
        found, _, count = self.compare({}, {"noise": 1e-15, "misfit": 1e-17})
        self.assertEqual(count, 0)
        self.assertGreater(found.loc["momentum_y", "largest"], 0.0)
        found, _, count = self.compare({}, {"noise": 1e-9})
        self.assertEqual((count, found.loc["momentum_y", "beyond"]), (1, True))

    def test_work_is_told_and_not_judged(self):
        found, said, count = self.compare({}, {"iterations": 4, "further": "friction_loss"})
        self.assertEqual((count, found.loc["iterations", "beyond"], found.loc["iterations", "largest"]), (0, True, 3.0))
        self.assertIn("Only in B: friction_loss", said)
        self.assertIn("not judged", said)

    def test_impulses_belong_to_their_steps(self):
        # Half the step has half the impulse in each: only rows of the same steps are held against each other.
        a = self.write("a.csv", "t,x,wall.impulse\n0,1,\n1,1,4\n2,1,4\n")
        for text, is_alike in (("0,1,\n1,1,2\n2,1,2\n", False), ("0,1,\n0.5,1,2\n1,1,2\n1.5,1,2\n2,1,2\n", True)):
            found = percuss.compare(a, self.write("b.csv", "t,x,wall.impulse\n" + text), 0.0)
            self.assertEqual((found.loc["wall.impulse", "largest"], found.attrs["alike"]), (2.0, is_alike))

    def test_an_empty_field_differs_from_a_number(self):
        found = percuss.compare(self.write("a.csv", "t,x\n0,1\n1,\n2,3\n"), self.write("b.csv", "t,x\n0,1\n1,2\n2,3\n"),
                                1.0)
        self.assertEqual((found.loc["x", "largest"], found.loc["x", "first"]), (float("inf"), "1"))

    def test_what_cannot_be_compared_is_refused(self):
        for other, message in (("t,x\n2,1\n3,1\n", "no common times"), ("t,y\n0,1\n1,1\n", "no column in common"),
                               ("s,x\n0,1\n1,1\n", "no common axis"), ("t,x\n1,1\n0,1\n", "does not rise at row 2"),
                               ("t,x\n", "no rows"), ("mode,w,f\n1,2,3\n", "is of modes and"), ("", "empty"),
                               ("t,x\n0,1,2\n1\n", "3 fields where the head names 2 columns")):
            a, b = self.write("a.csv", "t,x\n0,1\n1,1\n"), self.write("b.csv", other)
            run = call("compare", a, b)
            self.assertEqual((run.returncode, run.stderr.count("\n"), run.stdout), (2, 1, ""), run.stderr)
            self.assertIn(message, run.stderr)

    def test_command(self):
        self.result("one.csv")
        self.result("two.csv", bump=0.25)
        call("compare", self.path("one.csv"), self.path("two.csv"), status=1, stderr="")
        self.assertEqual(call("compare", self.path("one.csv"), self.path("two.csv"), "--tolerance", "1").returncode, 0)
        call("compare", self.path("one.csv"), self.path("one.csv"), "-q", status=0, stdout="")
        for words, message in (([self.path("one.csv"), self.path("c.csv")], "c.csv: no such file"),
                               ([self.path("one.csv")], "required: B"),
                               ([self.path("one.csv"), self.path("one.csv"), "--tolerance", "-1"], "number from 0 on"),
                               ([self.path("one.csv"), self.path("one.csv"), "--tolerans", "1"], "'--tolerance'?")):
            self.assertIn(message, call("compare", *words, status=2).stderr)

    def test_studies(self):
        self.write("one/study.csv", "n,s,run,status,m,m.order,reason\n10,a,r1,done,2,1,\n10,b,r2,done,-4,,\n"
                   "20,a,r3,done,8,,\n20,b,r4,failed,,,it broke\n")
        # The keys and points in another order, numbers in another form, names and reasons of their own, a point more.
        two = ("s,n,run,status,m [N],m.order,reason\nb,20,q4,failed,,,broken\nc,1,q9,done,5,,\n"
               "a,2e1,q3,done,8.0,,\nb,10.0,q2,done,-4,,\na,10,q1,done,2,1,\n")
        self.write("two/study.csv", two)
        same = call("compare", self.path("one"), self.path("two", "study.csv")).stdout
        for words in ("4 points, 0 of them not in B", "5 points, 1 of them not in A", "4 points that both", "Alike"):
            self.assertIn(words, same)
        for old, new, words in (("8.0,,", "8.1,,", "1 of 3 columns by more than 1e-09 of their size, first at n=20 "),
                                ("failed", "done", "first at n=20 s=b in status (A failed, B done)."),
                                ("a,10,q1,done,2,1,", "a,10,q1,done,2,,", "first at n=10 s=a in m.order (A 1, B nan)."),
                                ("b,10.0,q2,done,-4", "b,10.0,q2,done,4", "first at n=10 s=b in m (A -4, B 4).")):
            self.write("two/study.csv", two.replace(old, new))
            self.assertIn(words, call("compare", self.path("one"), self.path("two"), status=1, stderr="").stdout)
        self.write("two/study.csv", two.replace("8.0,,", "8.1,,"))
        self.assertIn("Alike", call("compare", self.path("one"), self.path("two"), "--tolerance", "0.02").stdout)
        for text, message in (("n,run,status,m,reason\n11,r,done,2,\n", "study.csv varies 's', "),
                              ("n,s,run,status,m,reason\n11,a,r,done,2,\n", "have no point in common")):
            self.write("three/study.csv", text)
            self.assertIn(message, call("compare", self.path("one"), self.path("three")).stderr)

    def test_modes(self):
        head = "mode,w,f,damping,residual,kind,name\n"
        a = self.write("a/modes.csv", head + "1,0,0,0,1e-15,rigid,x\n2,6.0,1.0,0,1e-9,vibration,\n")
        b = self.write("b/modes.csv", head + "2,6.0,1.0,0,2e-9,vibration,\n1,0,0,0,1e-16,rigid,along x\n")
        found = percuss.compare(a, b)
        self.assertTrue(found.attrs["alike"])
        self.assertIn("not judged", found.attrs["text"])
        self.write("b/modes.csv", head + "1,0,0,0,0,mechanism,x\n")
        words = percuss.compare(a, b).attrs["text"]
        for part in ("A: .*, 2 modes, 1 of them not in B", "1 modes that both", "\nkind +another one +mode=1 +mode=1"):
            self.assertRegex(words, part)
        self.write("b/modes.csv", head + "1,0,0,0,0,rigid,x\n2,6.1,1.0,0,0,vibration,\n")
        self.assertEqual(percuss.compare(a, b)["beyond"].to_dict(), {
            "w": True, "f": False, "damping": False, "residual": True, "kind": False, "name": False})


unittest.main()
