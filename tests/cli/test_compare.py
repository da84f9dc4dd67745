"""percuss compare from the command line: words and exit status. Argument: the path of the program."""

import os
import shutil
import tempfile
import unittest

from program import percuss

CASE = os.path.abspath("cases/bar_impact")


def read(path):
    with open(path) as file:
        return file.read()


class Compare(unittest.TestCase):
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
