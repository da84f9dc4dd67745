"""Folders of results in which a file is cut, zeroed, garbled or missing: every command that needs the file says so in
one line and ends with a status that is not 0, the others do their work. Argument: the path of the program."""

import os
import shutil
import unittest

from studies import Studies, call  # before percuss: it says where that is
from program import read_bytes, write_file  # noqa: I100 - studies says where it is

SMALL = ["--set", "time.end=0.6", "--set", "time.step=0.01", "--set", "mesh.bar.elements=8"]
RUN = [*SMALL, "--set", "output.frames={every: 30}", "--set", "output.waves={body: bar, of: [stress]}"]
MEASURES = ["--vary", "scheme.rho_inf=0.5,0.9", "--measure", "x=at(tip.x, 0.05)", "--measure", "E=energy.final", "-j1"]
# How results are made, what is drawn of them, and who needs which file; a file in brackets may be missing.
RESULTS = {
    "run": (["run", "bar_impact", *RUN], "wall.force",
            {"history.csv": "plot compare fit", "(summary.json)": "report view", "(bar_impact.waves.csv)": "report",
             "(bar_impact.vtk.series)": "report view", "bar_impact_000001.vtk": "report view",
             "(contacts.vtk.series)": "report view", "contacts_000001.vtk": "report view",
             "(obstacles.vtk)": "report view", "view.json": "view", "summary.txt": "", "checkpoint.bin": ""}),
    "packed": (["run", "bar_impact", *RUN, "--set", "output.frames.format=vtu"], "wall.gap",
               {"(bar_impact.pvd)": "report view", "bar_impact_000001.vtu": "report view"}),
    "pieces": (["run", "bar_impact", *RUN, "--set", "output.frames.pieces=always"], "wall.gap",
               {"bar_impact_000001.pvtu": "report view", "bar_impact_000001_0.vtu": "report view"}),
    "statics": (["statics", "cantilever_stop"], "contact_stop",
                {"statics.csv": "plot report compare", "(cantilever_stop_statics.vtk.series)": "report view",
                 "cantilever_stop_statics_000001.vtk": "report view", "contacts_000001.vtk": "report view"}),
    "modes": (["modes", "cantilever_stop", "--count", "2"], "mode_shapes",
              {"modes.csv": "plot report compare", "(cantilever_stop_modes.vtk.series)": "report view plot",
               "cantilever_stop_modes_000001.vtk": "report view plot"}),
    "study": (["study", "bar_impact", *SMALL, *MEASURES], "E",
              {"study.csv": "plot report compare", "(study.json)": "report"}),
}


def damages(good):
    """Bytes of a damaged file by the way in which it is damaged; None: the file goes."""
    half = good[:len(good) // 2]
    return {"garbled": bytes(range(256)) * 4, "deleted": None, "empty": b"", "cut": half, "cut at the end": good[:-3],
            "half zeroed": half + bytes(len(good) - len(half)), "another kind": b"[]\n"}


class Damage(Studies):
    def commands(self, kind, drawn):
        folder, out = self.path(kind), self.path("out")
        return {"compare": [folder, self.path("whole")], "report": [folder, "-q", "-o", self.path("page.html")],
                "plot": [folder, drawn, "-q", "-o", out + ".svg"], "view": [folder, "-o", out + ".png"],
                "fit": ["bar_impact", "--data", f"{folder}/history.csv", "--column", "tip.x", "--parameter",
                        "elements.bar.E=800:900", "-q", *SMALL, "-o", out]}

    def test_every_file_of_every_kind(self):
        os.environ["PATH"] = self.path("tools") + ":/usr/bin:/bin"
        os.symlink("/bin/false", self.write("tools/pvpython", "")[:-8] + "ffmpeg")
        os.chmod(self.path("tools/pvpython"), 0o755)  # draws nothing: what is damaged is found before
        for kind, (words, drawn, needs) in RESULTS.items():
            folder = self.path(kind)
            self.percuss(*words, "-q", "-o", folder, status=0)
            shutil.rmtree(self.path("whole"), ignore_errors=True)
            shutil.copytree(folder, self.path("whole"))
            commands = self.commands(kind, drawn)
            for name in ("plot", "compare"):
                call(name, *commands[name], status=0, stderr="")
            for name, users in needs.items():
                path = os.path.join(folder, name.strip("()"))
                good = read_bytes(path)
                for how, data in list(damages(good).items())[:None if users else 1]:
                    write_file(path, data or b"")
                    if data is None:
                        os.remove(path)
                    if data is None and name.startswith("("):
                        continue
                    for user in users.split() or ("plot", "compare"):
                        done = call(user, *commands[user])
                        said = done.stderr
                        with self.subTest(file=name, how=how, command=user):
                            self.assertEqual(said.count("\n"), bool(users), said)
                            self.assertEqual(done.returncode != 0, bool(users), said)
                            self.assertNotIn("could not go on", said)
                            self.assertIn("" if not users else os.path.basename(path) if data else folder, said)
                write_file(path, good)

    def test_runs_of_a_study(self):
        words = ["bar_impact", *SMALL, *MEASURES, "-q"]
        self.study(*words)
        shutil.copytree(self.out, self.path("other"))
        good = self.rows()
        run = os.path.join(self.out, "runs", good[0]["run"])
        # A run whose files are damaged is made again, or its measures name the file.
        for name in sorted(os.listdir(run)):
            whole = read_bytes(os.path.join(run, name))
            for how, data in damages(whole).items():
                shutil.rmtree(run)
                shutil.copytree(self.path("other", "runs", good[0]["run"]), run)
                os.remove(os.path.join(run, name))
                if data is not None:
                    write_file(os.path.join(run, name), data)
                done = call("study", *words, "-o", self.out)
                status, said = done.returncode, done.stderr
                with self.subTest(file=name, how=how):
                    self.assertIn(status, (0, 2), said)
                    self.assertLessEqual(said.count("\n"), 1, said)
                    if status == 2:
                        self.assertIn(name, said)
                    else:
                        self.assertEqual(self.rows(), good)


unittest.main()
