"""Folders of results in which a file is cut, garbled or missing: every command says so in one line, or does not need
the file; none of them shows a traceback. Argument: the path of the program."""

import contextlib
import io
import os
import random
import shutil
import unittest

from studies import Studies  # before percuss: it says where that is

import percuss
from percuss import command

SMALL = {"time.end": 0.6, "time.step": 0.01, "mesh.bar.elements": 8, "output.frames": "{every: 30}",
         "output.waves": "{body: bar, of: [stress]}"}


def damages(path, chance):
    """Ways to damage a file, each a function that gives its new bytes; None: the file goes."""
    with open(path, "rb") as file:
        good = file.read()
    middle = good[:len(good) // 2]
    garbled = bytearray(good)
    for _ in range(max(1, len(good) // 50)):
        garbled[chance.randrange(len(good))] = chance.randrange(256)
    return {"deleted": None, "empty": b"", "cut": middle, "cut at the end": good[:-3], "garbled": bytes(garbled),
            "binary": bytes(range(256)) * 4, "another kind": b"[]\n", "doubled": good + good[:40]}


class Damage(Studies):
    def call(self, name, *words):
        """Exit status and what a command says of errors."""
        errors, shown = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(shown):
            status = command.run(name, [str(word) for word in words])
        return status, errors.getvalue()

    def sweep(self, folder, commands, skip=()):
        chance, counted = random.Random(7), 0
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not os.path.isfile(path) or name.startswith(skip):
                continue
            with open(path, "rb") as file:
                good = file.read()
            for how, data in damages(path, chance).items():
                os.remove(path)
                if data is not None:
                    with open(path, "wb") as file:
                        file.write(data)
                for words in commands:
                    status, said = self.call(*words)
                    with self.subTest(file=name, how=how, command=words[0]):
                        self.assertIn(status, (0, 1, 2))
                        self.assertLessEqual(said.count("\n"), 1, said)
                        self.assertNotIn("could not go on", said)
                        counted += 1
                with open(path, "wb") as file:
                    file.write(good)
        self.assertGreater(counted, 20)

    def test_a_run(self):
        one, other = self.path("one"), self.path("other")
        percuss.run("cases/bar_impact", SMALL, output=one)
        shutil.copytree(one, other)
        with contextlib.suppress(OSError):
            os.remove(os.path.join(one, "checkpoint.bin"))
        self.sweep(one, [("compare", one, other)], skip=("bar_impact_0000", "contacts_0000"))
        for name in ("history.csv", "summary.json", "bar_impact.waves.csv"):
            with open(os.path.join(one, name), "wb") as file:
                file.write(b"{garbage")
        results = percuss.Results(one, "run")
        for attribute, name in (("table", "history.csv"), ("summary", "summary.json"), ("waves", "waves.csv")):
            with self.assertRaisesRegex(percuss.InputError, name):
                getattr(results, attribute)
        with self.assertRaisesRegex(percuss.InputError, "no history.csv"):
            percuss.open(str(self.folder))

    def test_a_study(self):
        words = ["cases/bar_impact", "--set", "time.end=0.1", "--set", "mesh.bar.elements=4", "--vary",
                 "scheme.rho_inf=0.5,0.9", "--measure", "x=at(tip.x, 0.05)", "--measure", "E=energy.final", "-q", "-j1"]
        self.study(*words)
        shutil.copytree(self.out, self.path("other"))
        self.sweep(self.out, [("compare", self.out, self.path("other"))] * 2)
        good = self.rows()
        run = os.path.join(self.out, "runs", good[0]["run"])
        chance = random.Random(8)
        # A run whose files are damaged is made again, or its measures name the file.
        for name in sorted(os.listdir(run)):
            for how, data in damages(os.path.join(run, name), chance).items():
                shutil.rmtree(run)
                shutil.copytree(self.path("other", "runs", good[0]["run"]), run)
                os.remove(os.path.join(run, name))
                if data is not None:
                    with open(os.path.join(run, name), "wb") as file:
                        file.write(data)
                status, said = self.call("study", *words, "-o", self.out)
                with self.subTest(file=name, how=how):
                    self.assertIn(status, (0, 2), said)
                    self.assertLessEqual(said.count("\n"), 1, said)
                    if status == 2:
                        self.assertIn(name, said)


unittest.main()
