#!/usr/bin/python3
"""Kills runs at random moments and resumes them: they must end as if nothing had happened, byte by byte.

    kill.py PROGRAM [KILLS] [SEED]

Every case has a random interval of checkpoints. A run is killed (SIGKILL, now and then SIGTERM) after a random part of
the time that it takes, resumed, often killed again, and run to its end. Then all files, the state, the ledger and the
certificate of the last checkpoint are compared with those of a run that was left alone. Lists of frames are valid JSON
after every kill.
"""

import glob
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

# Name, case and settings: every kind of system, gap, joint, step control, history, frame and scheme is in one of them.
CASES = [
    ("bar", "bar_impact", ["time.step=1e-4", "output.waves={body: bar, of: [stress, vx], every: 7}"]),
    ("frames", "bar_bouncing", ["output.frames={every: 3, around_contacts: 4}", "output.history={every: 5}"]),
    ("control", "ball", ["time.control={type: adaptive, tolerance: 1e-7}"]),
    ("events", "ball_in_box", ["scheme={type: event_driven, accumulation: rest}"]),
    ("crossed", "beams_crossed", ["output.frames={every: 2}"]),
    ("pile", "beam_pile", []),
    ("pendulum", "double_pendulum_stop", ["output.frames={precision: float}"]),
    ("crank", "slider_crank", []),
    ("rotor", "rotor", []),
    ("cantilever", "cantilever_stop", []),
]
# Different without a difference: what the clock says, and how often checkpoints were written.
OWN_FILES = ("checkpoint.bin", "checkpoint.old.bin")
OWN_PIECES = ("run.wall_time", "effort.checkpoints")
OWN_LINES = ("Wall time", "Checkpoints")
MOST_FAULTS = 12  # told of one run


def pieces(path):
    """Name -> bytes of a checkpoint; see src/sim/checkpoint_file.h."""
    with open(path, "rb") as file:
        data = file.read()
    text, count = struct.unpack_from("=QQ", data, 48)
    place, end, found = 128 + text, 128 + text + count, {}
    while place < end:
        stop = data.index(b"\0", place)
        size, = struct.unpack_from("=Q", data, stop + 1)
        name = data[place:stop].decode()
        while name in found:
            name += "+"
        found[name] = data[stop + 9:stop + 9 + size]
        place = stop + 9 + size
    return {name: value for name, value in found.items() if name not in OWN_PIECES}


def content(path):
    """What a result file says, apart from the clock."""
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    if name == "summary.json":
        summary = json.loads(data)
        del summary["wall_time"]
        return summary
    if name == "summary.txt":
        return [line for line in data.decode().splitlines() if not line.startswith(OWN_LINES)]
    return data


def differences(a, b):
    names = [set(os.listdir(folder)) - set(OWN_FILES) for folder in (a, b)]
    found = ["only in one: " + name for name in sorted(names[0] ^ names[1])]
    for name in sorted(names[0] & names[1]):
        x, y = content(os.path.join(a, name)), content(os.path.join(b, name))
        if x != y and isinstance(x, dict):
            name += " at " + ", ".join(key for key in x if x[key] != y.get(key))
        if x != y:
            found.append(name)
    x, y = [pieces(os.path.join(folder, "checkpoint.bin")) for folder in (a, b)]
    found += ["piece " + name for name in x.keys() | y.keys() if x.get(name) != y.get(name)]
    return found


def check_lists(folder):
    for path in glob.glob(os.path.join(folder, "*.vtk.series")):
        with open(path) as file:
            for entry in json.load(file)["files"]:
                if not os.path.exists(os.path.join(folder, entry["name"])):
                    return ["%s names %s, which is not there" % (path, entry["name"])]
    return []


class Campaign:
    def __init__(self, program, seed, cases):
        self.program = os.path.abspath(program)
        self.random = random.Random(seed)
        self.kills = self.cut = self.tries = 0
        self.cases = cases
        self.faults = []
        self.steps = {}

    def command(self, case, settings, every):
        words = [self.program, "run", os.path.join(ROOT, "cases", case), "-o", "out", "-q"]
        for text in settings + (["output.checkpoint.every=%d" % every] if every else []):
            words += ["--set", text]
        return words

    def run(self, folder, words):
        started = time.monotonic()
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit("%s: exit %d\n%s" % (" ".join(words), done.returncode, done.stderr))
        return time.monotonic() - started

    def prepare(self, folder):
        for name, case, settings in self.cases:
            place = os.path.join(folder, name)
            os.mkdir(place)
            self.run(place, self.command(case, settings, 0))
            with open(os.path.join(place, "out", "summary.json")) as file:
                steps = json.load(file)["steps"]["done"]
            self.steps[name] = steps

    def kill(self, folder, words, lasts):
        """One process that is killed; false when it came to its end before that."""
        process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        number = signal.SIGTERM if self.random.random() < 0.2 else signal.SIGKILL
        time.sleep(self.random.uniform(0.0, lasts))
        process.send_signal(number)
        error = process.communicate()[1]
        if process.returncode == 0:
            return False, []
        is_right = process.returncode in (-number, 1) and (process.returncode < 0 or "stopped on request" in error)
        return True, [] if is_right else ["exit %d: %s" % (process.returncode, error)]

    def attempt(self, folder, name, case, settings):
        """One run, killed at least once if it is slow enough; gives what went wrong."""
        place = os.path.join(folder, "%s_%d" % (name, self.tries))
        os.mkdir(place)
        self.tries += 1
        steps = self.steps[name]
        every = self.random.randint(max(1, steps // 40), max(2, steps // 3))
        words = self.command(case, settings, every)
        lasts = self.run(place, words)
        reference = os.path.join(place, "alone")
        os.rename(os.path.join(place, "out"), reference)
        faults, again = [], True
        while again and not faults:
            is_killed, faults = self.kill(place, words, lasts)
            self.kills += is_killed
            self.cut += is_killed and os.path.exists(os.path.join(place, "out", "checkpoint.bin"))
            if not faults and os.path.isdir(os.path.join(place, "out")):
                faults = check_lists(os.path.join(place, "out"))
            again = is_killed and self.random.random() < 0.5
            if words[-1] != "--resume":
                words = words + ["--resume"]
        if not faults:
            self.run(place, words)
            faults = differences(reference, os.path.join(place, "out"))
        if not faults:
            shutil.rmtree(place)
        return ["%s, every %d: %s" % (name, every, fault) for fault in faults[:MOST_FAULTS]]

    def go(self, folder, count):
        self.prepare(folder)
        while self.kills < count:
            for name, case, settings in self.cases:
                if self.kills < count:
                    found = self.attempt(folder, name, case, settings)
                    self.faults += found
                    for fault in found:
                        print("fault: " + fault, flush=True)
        return self.faults


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    campaign = Campaign(program, seed, CASES)
    with tempfile.TemporaryDirectory() as folder:
        try:
            campaign.go(folder, count)
        except KeyboardInterrupt:
            print("interrupted")
    faults = campaign.faults
    print("%d kills in %d runs of %d cases, %d of them after the first checkpoint, seed %d: %d faults"
          % (campaign.kills, campaign.tries, len(CASES), campaign.cut, seed, len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
