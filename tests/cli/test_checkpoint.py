"""Checkpoints on the command line: runs that were killed and resumed, what is refused, starts from another run.
Argument: the program."""

import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

import program
from program import PROGRAM, read_file, read_json

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "faults"))
import faults  # noqa: E402
import kill  # noqa: E402

BAR = os.path.join(ROOT, "cases", "bar_impact")
HEAD, VERSION = 128, 64  # bytes of the head, and where the version of the program stands in it


def checksum(data):
    """As pcs_hash in src/core/carry.c."""
    mask = (1 << 64) - 1
    total = 14695981039346656037
    whole = len(data) // 8 * 8
    for word in struct.unpack("=%dQ" % (whole // 8), data[:whole]):
        total = (total ^ word) * 1099511628211 & mask
        total ^= total >> 29
    for byte in data[whole:]:
        total = (total ^ byte) * 1099511628211 & mask
    return total


class Checkpoint(program.Cases):
    def done(self, *more, case=BAR, every=200, out="out", status=0):
        words = ["--set", f"output.checkpoint.every={every}"] if every else []
        return program.percuss("run", case, "-q", "-o", out, *words, *more, cwd=self.folder, status=status)

    def begun(self, *words, **keywords):
        """A run that has begun to write."""
        process = subprocess.Popen([PROGRAM, "run", BAR, "-q", "-o", "out", *words], cwd=self.folder,
                                   stderr=subprocess.PIPE, text=True, **keywords)
        while process.poll() is None and not os.path.exists(self.path("out", "history.csv.part")):
            time.sleep(0.005)
        return process

    def refused(self, *more, **options):
        return self.done(*more, **options, status=2).stderr

    def history(self, out):
        return program.read_rows(self.path(out, "history.csv"))

    def read(self, name):
        return (self.folder / "out" / name).read_bytes()

    # Writes a checkpoint whose checksum is right.
    def seal(self, data):
        (self.folder / "out" / "checkpoint.bin").write_bytes(data + struct.pack("=Q", checksum(data)))

    def change(self, name, place, value):
        with open(self.path("out", name), "r+b") as file:
            file.seek(place, os.SEEK_END if place < 0 else os.SEEK_SET)
            file.write(value)

    # Killed, resumed, killed again.
    def test_a_killed_run_ends_as_if_nothing_had_happened(self):
        ends = {"frames": "time.end=2", "control": "time.end=2", "wave": "time.end=3"}
        campaign = faults.Campaign("kill", PROGRAM, "6n")
        self.addCleanup(shutil.rmtree, campaign.folder)
        kill.campaign(campaign, [(name, case, [*sets, ends[name]]) for name, case, sets in kill.CASES if name in ends])
        self.assertEqual(campaign.failures, [])

    def test_two_generations_are_kept_and_either_goes_on(self):
        self.done()
        shutil.copytree(self.path("out"), self.path("whole"))
        for lost in (["checkpoint.bin"], ["checkpoint.bin", "checkpoint.old.bin"]):
            for name in lost:
                os.remove(self.path("out", name))
            result = self.done("--resume")
            self.assertEqual("starting from the beginning" in result.stderr, len(lost) == 2)
            self.assertEqual(kill.differences(self.path("whole"), self.path("out")), [])

    def test_a_run_that_is_done_stays_as_it_is(self):
        self.done()
        shutil.copytree(self.path("out"), self.path("whole"))
        self.done("--resume")
        self.assertEqual(kill.differences(self.path("whole"), self.path("out")), [])

    def test_a_signal_leaves_a_checkpoint(self):
        sets = ["--set", "time.step=1e-4", "--set", "output.frames.every=1000"]
        self.done(*sets, every=0)
        os.rename(self.path("out"), self.path("whole"))
        process = self.begun(*sets)
        time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        error = process.communicate()[1]
        if process.returncode != 0:
            self.assertIn("stopped on request", error)
            self.assertTrue(os.path.exists(self.path("out", "checkpoint.bin")))
        self.done(*sets, "--resume", every=0)
        self.assertEqual(kill.differences(self.path("whole"), self.path("out")), [])

    def test_a_damaged_one_gives_way_to_the_one_before_it(self):
        self.done()
        shutil.copytree(self.path("out"), self.path("whole"))
        size = len(self.read("checkpoint.bin"))
        for place in (HEAD + 10, size // 2, size - 1):
            self.change("checkpoint.bin", place, bytes([self.read("checkpoint.bin")[place] ^ 4]))
            result = self.done("--resume")
            self.assertIn("its checksum is wrong", result.stderr)
            self.assertIn("the one before it", result.stderr)
            self.assertEqual(kill.differences(self.path("whole"), self.path("out")), [])
        for length in (0, 100, size - 9):
            os.truncate(self.path("out", "checkpoint.bin"), length)
            self.assertIn("it is cut off", self.done("--resume").stderr)
        self.change("checkpoint.bin", 0, bytes(size))
        self.assertIn("it begins with zeros", self.done("--resume").stderr)
        self.assertEqual(kill.differences(self.path("whole"), self.path("out")), [])
        for name in ("checkpoint.bin", "checkpoint.old.bin"):
            os.truncate(self.path("out", name), size - 3)
        self.assertIn("it is cut off", self.refused("--resume"))
        os.remove(self.path("out", "checkpoint.old.bin"))
        self.assertIn("damaged, and there is none before it", self.refused("--resume"))

    def test_what_differs_is_told(self):
        self.done()
        self.assertIn("was 'end: 1.5', is 'end: 0.5'", self.refused("--resume", "--set", "time.end=0.5"))
        self.assertIn("was 'every: 200', is 'every: 100'", self.refused("--resume", every=100))
        data = self.read("checkpoint.bin")
        self.seal(data[:VERSION] + b"0.0.0\0".ljust(16, b"\0") + data[VERSION + 16:-8])
        self.assertIn("was written by version 0.0.0 of Percuss", self.refused("--resume"))
        self.seal(data[:16] + struct.pack("=Q", 99) + data[24:-8])
        self.assertIn("another version of the program", self.refused("--resume"))
        self.change("checkpoint.bin", 0, b"GIF89a")
        self.assertIn("no checkpoint of Percuss", self.refused("--resume"))

    def test_a_refused_run_shows_no_results_of_another(self):
        self.done()
        words = ("--resume", "--set", "output.checkpoint.every=100")
        result = program.percuss("run", BAR, "-o", "out", *words, cwd=self.folder, status=2, stdout="")
        self.assertIn("is of another case", result.stderr)

    def test_a_file_of_the_case_has_changed(self):
        table = self.write("push.csv", "0 0\n10 1\n")
        push = f"loads.push={{type: force, node: bar.end, value: [5, 0, 0], amplitude: {{csv: {table}}}}}"
        self.done("--set", push)
        self.done("--resume", "--set", push)
        self.write("push.csv", "0 0\n10 2\n")
        self.assertIn("a file that it names has changed", self.refused("--resume", "--set", push))

    def test_numbers_that_are_none_are_refused(self):
        self.done()
        data = self.read("checkpoint.bin")
        for name, value in ((b"state.t", struct.pack("=d", math.nan)), (b"state.step", struct.pack("=q", -1)),
                            (b"state.loaded", b"\2")):
            place = data.index(name + b"\0") + len(name) + 9
            self.seal(data[:place] + value + data[place + len(value):-8])
            self.assertIn(f"'{name.decode()}' is n", self.refused("--resume"))

    def test_results_that_are_gone_are_told(self):
        self.done()
        os.truncate(self.path("out", "history.csv"), 100)
        self.assertIn("it has 100 bytes, at the checkpoint it had", self.done("--resume", status=1).stderr)
        self.done()
        os.remove(self.path("out", "bar_impact_000003.vtk"))
        self.assertIn("bar_impact_000003.vtk is gone", self.done("--resume", status=1).stderr)

    # A frame that cannot be written ends the run: a folder is where it would go.
    def test_it_knows_what_is_on_the_disk(self):
        frames = ("--set", "output.frames.every=1", "--set", "time.end=0.08")
        self.done(*frames, every=7, out="all")
        os.makedirs(self.path("out", "bar_impact_000025.vtk.part"))
        self.done(*frames, every=7, status=1)
        self.assertIn("bar_impact_000025.vtk", read_json(self.path("out", "summary.json"))["reason"])
        os.rmdir(self.path("out", "bar_impact_000025.vtk.part"))
        self.done(*frames, "--resume", every=7)
        self.assertEqual(kill.differences(self.path("all"), self.path("out")), [])

    # A digit, a byte of a frame, a time of the list: before the place where the run goes on, sizes unchanged.
    def test_results_that_were_changed_are_told(self):
        self.done()
        for name in ("history.csv", "bar_impact_000003.vtk", "bar_impact.vtk.series"):
            before = self.read(name)
            place = len(before) // 3
            self.change(name, place, bytes([before[place] ^ 1]))
            os.remove(self.path("out", "checkpoint.bin"))  # the older one counts fewer bytes
            shutil.copy(self.path("out", "checkpoint.old.bin"), self.path("out", "checkpoint.bin"))
            self.assertRegex(self.done("--resume", status=1).stderr, "changed since the checkpoint")
            self.assertEqual([name for name in os.listdir(self.path("out")) if name.endswith(".part")], [])
            self.change(name, place, bytes([before[place]]))

    # Of a run that was stopped: refused, with both ways on; the other run keeps its checkpoint until it is replaced.
    def test_an_interrupted_run_is_spared(self):
        def stopped(kind):
            process = self.begun("--set", "time.step=1e-5", "--set", "output.frames=false", "--overwrite")
            process.send_signal(kind)
            self.assertIn("stopped on request", process.communicate()[1], kind)
            self.assertEqual(process.returncode, 1)
            names = os.listdir(self.path("out"))
            self.assertTrue({"history.csv", "summary.json"} <= set(names), kind)
            self.assertEqual([name for name in names if name.endswith(".part")], [])

        def kept():
            return {name: self.read(name) for name in os.listdir(self.path("out"))}

        for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU, signal.SIGALRM):
            stopped(kind)
            before = kept()
            error = self.refused()
            self.assertIn("--resume", error)
            self.assertIn("--overwrite", error)
            self.assertEqual(kept(), before)
        # A run that ends before a checkpoint of its own is whole leaves what was there.
        os.mkdir(self.path("out", "history.csv.part"))  # cannot be opened as a file
        self.done("--overwrite", status=1)
        self.assertEqual(self.read("checkpoint.bin"), before["checkpoint.bin"])
        os.rmdir(self.path("out", "history.csv.part"))
        self.done("--overwrite")
        self.done()  # a finished run may be made again
        self.assertIn("both given", self.refused("--resume", "--overwrite"))

    def test_what_nohup_ignores_stays_ignored(self):
        process = self.begun("--set", "time.step=1e-3",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        self.assertEqual((process.communicate()[1], process.returncode), ("", 0))

    def test_a_new_run_leaves_no_old_checkpoint(self):
        self.done()
        self.done("--set", "output.checkpoint=false", every=0)
        self.assertEqual([name for name in os.listdir(self.path("out")) if "checkpoint" in name], [])

    def test_the_cost_is_told(self):
        self.done()
        spent = read_json(self.path("out", "summary.json"))["wall_time"]
        self.assertEqual(spent["checkpoints"], 4)
        self.assertGreater(spent["checkpoint"], 0.0)
        self.assertIn(b"\nCheckpoints  4, ", self.read("summary.txt"))

    # Another case starts from the state.
    def later(self, *sets, case=BAR):
        lines = read_file(os.path.join(case, "case.yaml")).splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("initial:"))
        end = next(i for i in range(begin + 1, len(lines)) if lines[i] and lines[i][0] not in " #-")
        self.write("later.yaml", "\n".join(lines[:begin] + lines[end:] + ["start: { from: out }"]) + "\n")
        return sum((["--set", text] for text in sets), [])

    def test_another_case_goes_on_from_the_state(self):
        self.done("--set", "time.end=0.6", every=0)
        self.done(every=0, out="whole")
        self.done(*self.later(), case=self.path("later.yaml"), every=0, out="later")
        whole, later = self.history("whole"), self.history("later")
        self.assertEqual(float(later[0]["t"]), 0.6)
        self.assertEqual(int(later[0]["step"]), 0)
        offset = len(whole) - len(later)
        for row, other in zip(whole[offset:], later):
            for name in ("t", "kinetic", "strain", "momentum_x", "min_gap"):
                a, b = float(row[name]), float(other[name])
                self.assertAlmostEqual(a, b, delta=1e-7 * max(1.0, abs(a)))
        for scheme in ("{type: moreau_jean, theta: 0.5}", "{type: newmark}"):
            sets = self.later("scheme=" + scheme, "time.step=5e-4")
            self.done(*sets, case=self.path("later.yaml"), every=0, out="other")
            self.assertAlmostEqual(float(self.history("other")[0]["kinetic"]), float(later[0]["kinetic"]), places=6)
            self.assertAlmostEqual(float(self.history("other")[-1]["t"]), 1.5)

    def test_materials_go_on_with_what_they_remember(self):
        plastic = os.path.join(ROOT, "cases", "bar_plastic")
        small = ["--set", "mesh.bar.elements=50", "--set", "time.step=1e-6"]
        self.done(*small, "--set", "time.end=1e-4", case=plastic, every=0)
        self.done(*small, "--set", "time.end=2e-4", case=plastic, every=0, out="whole")
        self.later(case=plastic)
        later = dict(case=self.path("later.yaml"), every=0, out="later")
        self.done(*small, "--set", "time.end=2e-4", **later)
        ends = [self.history(out)[-1] for out in ("whole", "later")]
        for name in ("t", "kinetic", "strain", "tip.x", "bar.plastic_strain"):
            a, b = (float(end[name]) for end in ends)
            self.assertAlmostEqual(a, b, delta=1e-12 * abs(a), msg=name)
        losses = [float(self.history(out)[-1]["material_loss"]) for out in ("out", "later", "whole")]
        self.assertAlmostEqual(losses[0] + losses[1], losses[2], delta=1e-11)
        self.assertGreater(losses[0], 1.0)
        error = self.refused(*small, "--set", "elements.bar.yield_stress=3e8", **later)
        self.assertIn("is of another model: what its materials went through", error)

    def test_a_start_that_cannot_be_is_told_with_its_place(self):
        self.done("--set", "time.end=0.6", every=0)
        later = dict(case=self.path("later.yaml"), every=0, out="later")
        self.assertIn("end must be > 0.6", self.refused(*self.later("time.end=0.2"), **later))
        error = self.refused(*self.later("mesh.bar.elements=7"), **later)
        self.assertIn("coordinates in q, this one has", error)
        self.assertIn("later.yaml:", error)
        self.assertIn("there is no checkpoint in", self.refused(*self.later("start.from=nowhere"), **later))
        self.assertIn("the other run gives all of them",
                      self.refused("--set", "start={from: %s}" % self.path("out"), every=0, out="later"))
        self.assertIn("start.at", self.refused(*self.later("start.at=first"), **later))


unittest.main()
