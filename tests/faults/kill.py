"""Kills runs at random moments and resumes them: they must end as if nothing had happened, byte by byte.

Every case has a random interval of checkpoints. A run is killed (SIGKILL, now and then SIGTERM) after a random part of
the time that it takes, resumed, often killed again, and run to its end. Then all files, the state, the ledger and the
certificate of the last checkpoint are compared with those of a run that was left alone. Lists of frames name only what
is there after every kill. A try is a kill; a case that runs too fast to be killed counts as one, too.
"""

import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import faults

# Name, case and settings: every kind of system, gap, joint, step control, history, frame and scheme is in one of them.
CASES = [
    ("bar", "bar_impact", ["time.step=1e-4", "output.waves={body: bar, of: [stress, vx], every: 7}"]),
    ("frames", "bar_bouncing", ["output.frames={every: 3}", "output.history={every: 5}",
                                "time.end=8"]),
    ("control", "ball", ["time.control={type: adaptive, tolerance: 1e-7}"]),
    ("events", "ball_in_box", ["scheme={type: event_driven}"]),
    ("crossed", "beams_crossed", ["output.frames={every: 2, format: vtu}"]),
    ("pile", "beam_pile", []),
    ("pendulum", "double_pendulum_stop", ["output.frames={precision: float}", "time.end=0.3"]),
    ("crank", "slider_crank", []),
    ("rotor", "rotor", ["output.frames={every: 20}", "time.end=0.02"]),
    ("cantilever", "cantilever_stop", []),
    ("wave", "bar_wave", ["time.end=10", "output.frames={every: 90, format: vtu}"]),
    ("wall", "beam_pendulum", ["output.frames={every: 4, format: vtu}",
                               "output.contact_frames={}"]),
    ("pulse", "hopkinson", []),
    ("plastic", "bar_plastic", ["time.end=2.0e-4"]),
    ("polymer", "bar_viscoelastic", ["time.end=6.0e-4"]),
    ("block", "rocking_block", ["output.frames={every: 5}"]),
    ("slip", "stick_slip", []),
    ("ranks", "cantilever_stop", ["supports.clamp.reactions=true", "time.end=4e-3"]),
    ("pieces", "bar_impact", ["output.frames={every: 3, pieces: always}"]),
]
RANKS = {"ranks": 2, "pieces": 3}  # processes of a case, where not one
# Ranks may be more than cores, and those of root.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_mpi_yield_when_idle": "1", "OPENBLAS_NUM_THREADS": "1"}
# Different without a difference: what the clock says, and how often checkpoints were written.
OWN_FILES = ("checkpoint.bin", "checkpoint.old.bin")
OWN_PIECES = ("run.wall_time", "effort.checkpoints")
OWN_LINES = ("Wall time", "Checkpoints")
PARALLEL = "libpercuss_petsc.so"
MOST_FAULTS = 12  # told of one run
MOST_AGAIN = 4  # kills of one run


def pieces(path):
    """Name -> bytes of a checkpoint; see src/sim/checkpoint.h."""
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
    return found + ["piece " + name for name in x.keys() | y.keys() if x.get(name) != y.get(name)]


def listed(path):
    """The frames that a list names; it must be whole."""
    with open(path) as file:
        text = file.read()
    if path.endswith(".pvd"):
        assert text.endswith("</VTKFile>\n"), "cut off"
        return re.findall(r'file="([^"]*)"', text)
    return [entry["name"] for entry in json.loads(text)["files"]]


def check_lists(folder):
    found = []
    for path in glob.glob(os.path.join(folder, "*.vtk.series")) + glob.glob(os.path.join(folder, "*.pvd")):
        try:
            names = listed(path)
        except (ValueError, AssertionError) as error:
            found.append(f"{path} is broken: {error}")
            continue
        found += [f"{path} names {name}, which is not there" for name in names
                  if not os.path.exists(os.path.join(folder, name))]
        for index in [name for name in names if name.endswith(".pvtu")]:
            with open(os.path.join(folder, index)) as file:
                pieces_of_it = re.findall(r'Source="([^"]*)"', file.read())
            found += [f"{index} names {name}, which is not there" for name in pieces_of_it
                      if not os.path.exists(os.path.join(folder, name))]
    return found


def command(c, name, case, settings, every):
    launcher = ["mpiexec", "-n", str(RANKS[name])] if name in RANKS else []
    words = [*launcher, c.program, "run", os.path.join(c.source, "cases", case), "-o", "out", "-q"]
    for text in settings + [f"output.checkpoint.every={every}"]:
        words += ["--set", text]
    return words


def finish(folder, words):
    """Runs to the end; seconds, and what went wrong."""
    started = time.monotonic()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=os.environ | MPI)
    return time.monotonic() - started, [] if done.returncode == 0 else [f"exit {done.returncode}: {done.stderr}"]


def hit(c, process, number, is_launcher):
    """The signal goes to the process, or to one of those that it has launched; without that one the others end."""
    if not is_launcher:
        process.send_signal(number)
        return
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            os.kill(int(c.random.choice(file.read().split())), number)
    except (OSError, IndexError):  # they have not begun, or have ended
        pass


def kill(c, folder, words, lasts):
    """One process that is killed; false when it came to its end before that."""
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=os.environ | MPI)
    is_launcher = words[0] == "mpiexec"
    number = signal.SIGTERM if c.random.random() < 0.2 else signal.SIGKILL
    time.sleep(c.random.uniform(0.0, lasts))
    hit(c, process, number, is_launcher)
    error = process.communicate()[1]
    if process.returncode == 0:
        return False, []
    if is_launcher:  # tells in its own way
        return True, []
    is_right = process.returncode in (-number, 1) and (process.returncode < 0 or "stopped on request" in error)
    return True, [] if is_right else [f"exit {process.returncode}: {error}"]


def kill_and_resume(c, place, words, lasts):
    """Kills, and resumes to the end; number of kills, those after a checkpoint, and what went wrong."""
    out, kills, late, again, found = os.path.join(place, "out"), 0, 0, True, []
    while again and not found:
        is_killed, found = kill(c, place, words, lasts)
        kills += is_killed
        late += is_killed and os.path.exists(os.path.join(out, "checkpoint.bin"))
        if not found and os.path.isdir(out):
            found = check_lists(out)
        again = is_killed and kills < MOST_AGAIN and c.random.random() < 0.5
        words = words if words[-1] == "--resume" else words + ["--resume"]
    if not found:
        found = finish(place, words)[1] or differences(os.path.join(place, "alone"), out)
    return kills, late, found


def attempt(c, name, case, settings, steps):
    """One run left alone, and one that is killed and resumed; kills and those after a checkpoint."""
    place = c.path(name)
    shutil.rmtree(place, ignore_errors=True)
    os.mkdir(place)
    every = c.random.randint(max(1, steps // 12), max(2, steps // 3))
    words = command(c, name, case, settings, every)
    lasts, found = finish(place, words)
    kills, late = 0, 0
    if not found:
        os.rename(os.path.join(place, "out"), os.path.join(place, "alone"))
        kills, late, found = kill_and_resume(c, place, words, lasts)
    c.tries += max(kills, 1)
    for fault in found[:MOST_FAULTS]:
        c.fail(f"{name}, every {every}: {fault}")
    return kills, late


def count_steps(c, name, case, settings):
    """Steps of a case, by a run of it."""
    place = c.path("steps")
    shutil.rmtree(place, ignore_errors=True)
    os.mkdir(place)
    _, found = finish(place, command(c, name, case, settings, 1000000))
    if found:
        c.fail(f"{case}: {found[0]}")
        return 1
    with open(os.path.join(place, "out", "summary.json")) as file:
        return json.load(file)["steps"]["done"]


def campaign(c, cases=tuple(CASES)):
    steps, total = {}, [0, 0]
    has_ranks = shutil.which("mpiexec") and os.path.exists(os.path.join(os.path.dirname(c.program), PARALLEL))
    cases = [case for case in cases if has_ranks or case[0] not in RANKS]
    while c.goes_on():
        for name, case, settings in cases:
            if not c.goes_on():
                break
            if name not in steps:
                steps[name] = count_steps(c, name, case, settings)
            total = [a + b for a, b in zip(total, attempt(c, name, case, settings, steps[name]))]
    print(f"  {total[0]} kills, {total[1]} of them after a checkpoint, over {len(steps)} cases", flush=True)


if __name__ == "__main__":
    faults.main(campaign, "100n")
