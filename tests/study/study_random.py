"""Random lawful cases of every type, run and judged: /usr/bin/python3 tests/study/study_random.py build/percuss FROM:TO

Of every seed the case is drawn (random_cases.py), checked and run. It is refused with a place and a reason, stops with
a reason, or is judged: values are finite, contact forces do not pull, friction stays in its cone; the resolved case,
and the run resumed from a checkpoint, give the same bytes; the same case in units that differ by powers of four gives
the same results in them, unless a change of masses by 1e-14 to 1e-11 changes them as much: there round-off decides;
`compare`, `report` and now and then `plot` read what it wrote. More is asked of some (random_uses.py). `--keep DIR`
leaves what stops or is wrong there.
"""

import argparse
import collections
import copy
import csv
import json
import math
import os
import random
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import random_cases
import random_uses

BOUND = 60.0  # s, no command may take longer
UNITS = {"t": "s", "min_gap": "m", "gap": "m", "gap_rate": "m/s", "force": "N", "impulse": "N s", "step_impulse": "N s",
         "friction": "N", "tangential": "N", "separating": "N"}
UNITS |= {key: "J" for key in ("kinetic strain potential external_work damping_loss material_loss impact_loss "
                               "friction_loss correction_work numerical_loss").split()}
UNITS |= {"momentum_" + w: "N s" for w in "xyz"} | {"f" + w: "N" for w in "xyz"} | {"m" + w: "N m" for w in "xyz"}
PROBES = {w: "m" for w in "xyz"} | {"v" + w: "m/s" for w in "xyz"}
SAME = 1e-7  # of the largest value of a unit: what round-off may grow to between two systems of units
ROUND = 1e-13  # of places in the size of the mesh
SMALL = 1e-6  # of sizes that follow from others, such as force times time: what is less is round-off of them


def table(path):
    with open(path) as file:
        rows = list(csv.reader(file))
    return {name: [float(row[i]) if row[i] else 0.0 for row in rows[1:]] for i, name in enumerate(rows[0])}


def coordinate(name):
    """Unit of a column of a system in closed form."""
    if "." in name or name in ("step", "active", "iterations"):
        return None
    return ("1" if "theta" in name else "m") + ("/s" if name.startswith("v_") else "")


def summary(folder):
    with open(os.path.join(folder, "summary.json")) as file:
        found = json.load(file)
    return {key: value for key, value in found.items() if key not in ("wall_time", "case", "memory_bytes")}


def largest_place(tree):
    """Largest coordinate of the mesh, m."""
    if isinstance(tree, random_cases.Number):
        return abs(tree.value)
    values = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return max(map(largest_place, values), default=0.0)


class Judge:
    same, bound = SAME, BOUND

    def __init__(self, program, seed, folder):
        self.program, self.seed, self.folder = os.path.abspath(program), seed, folder
        self.verdict, self.faults, self.notes = "fine", [], []

    def call(self, *arguments, may=(0,), before=(), env=None):
        """Status and messages of a command; a fault unless it ends with one of the statuses."""
        try:
            done = subprocess.run([*before, self.program, *arguments], capture_output=True, text=True, timeout=BOUND,
                                  cwd=self.folder, env=os.environ | (env or {}))
        except subprocess.TimeoutExpired:
            if before:  # ranks that share cores wait for each other
                self.notes.append(f"{' '.join(before)}: no end of seed {self.seed} after {BOUND} s")
            else:
                self.faults.append(f"{arguments[0]}: no end after {BOUND} s")
            return None, ""
        told = re.search(r"error: .*|Sanitizer.*|runtime error.*", done.stderr)
        message = told.group(0) if told else done.stderr.strip()
        if done.returncode not in may or "anitizer" in done.stderr or "runtime error" in done.stderr:
            self.faults.append(f"{' '.join(arguments)}: status {done.returncode}: {message}")
        if done.returncode == 2 and arguments[0] == "check" and not re.match(r"error: \w+.yaml:\d+:\d+: ", message):
            self.faults.append(f"{arguments[0]} refuses without a place: {message}")
        return done.returncode, message

    def path(self, name):
        return os.path.join(self.folder, name)

    def table(self, name):
        return table(self.path(name))

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def run(self, drawn):
        case, scale = drawn.draw(), tuple(10.0 ** drawn.rng.randint(-3, 3) for _ in range(3))
        self.end = case["time"]["end"].scaled(scale)
        self.length = random_cases.Number(largest_place(case.get("mesh", {})) or 1.0, "m").scaled(scale)
        self.write("case.yaml", random_cases.text(case, scale))
        status, message = self.call("check", "case.yaml", may=(0, 2))
        if status == 2:
            self.verdict, self.message = "refused", message
        if status != 0:
            return
        status, message = self.call("run", "case.yaml", "-o", "a", "-q", may=(0, 1))
        if status == 1:
            self.verdict, self.message = "stopped", message
        if status == 0:
            self.values(case, table(self.path("a/history.csv")))
            self.again()
            self.resumed("a", "case.yaml")
            random_uses.Uses(self, case, scale).all()
        if status is not None:
            self.other_units(case, scale, status)
        self.read(status)

    def values(self, case, history):
        for name, column in history.items():
            if not all(math.isfinite(x) for x in column):
                self.faults.append(f"values of {name} are not finite")
        for name, contact in case.get("contacts", {}).items():
            press, rub = history[name + ".step_impulse"], history.get(name + ".friction")
            momentum = max(abs(x) for w in "xyz" for x in history["momentum_" + w])
            if self.is_still(case, history[name + ".gap_rate"]):
                continue
            if case["scheme"]["type"] != "alpha_index3" and min(press) < -1e-9 * max(press) - 1e-15 * momentum:
                self.faults.append(f"contact {name} pulls: {min(press)} of {max(press)}")
            force = history[name + ".force"]
            cone = [contact.get("friction", 0.0) * f - abs(r) for f, r in zip(force, rub or press)]
            least = 1e-9 * max(map(abs, rub or force)) + 1e-12 * max(press + [momentum]) / self.end
            if rub and "restitution" in contact and min(cone) < -least:
                self.faults.append(f"friction of {name} leaves its cone by {min(cone)} of {max(force)}")

    def is_still(self, case, rates):
        """Does nothing act, and all that a gap moves in the run is round-off of places? So are its forces, then."""
        return not case.get("loads") and max(map(abs, rates)) * self.end <= ROUND * self.length

    def alike(self, other, what, than="a", has_summary=True):
        """The same bytes of the history, the same summary."""
        with open(self.path(than + "/history.csv")) as a, open(self.path(other + "/history.csv")) as b:
            if a.read() != b.read():
                self.faults.append(f"{what}: another history")
        if has_summary and summary(self.path(than)) != summary(self.path(other)):
            self.faults.append(f"{what}: another summary")

    def again(self):
        shutil.copy(self.path("a/case.resolved.yaml"), self.path("resolved.yaml"))
        if self.call("run", "resolved.yaml", "-o", "b", "-q")[0] == 0:
            self.alike("b", "resolved case")
            self.call("compare", "a", "b")

    def resumed(self, folder, *run):
        """The run of that folder from its last checkpoint but one."""
        again = folder + "_resumed"
        if not os.path.exists(self.path(folder + "/checkpoint.old.bin")):
            return
        shutil.copytree(self.path(folder), self.path(again))
        os.replace(self.path(again + "/checkpoint.old.bin"), self.path(again + "/checkpoint.bin"))
        if self.call("run", *run, "-o", again, "-q", "--resume")[0] == 0:
            self.alike(again, f"resumed run of {folder}", than=folder)

    def other_units(self, case, scale, status):
        rng = random.Random(self.seed)
        factor = tuple(4.0 ** rng.randint(-8, 8) for _ in range(3))
        self.write("units.yaml", random_cases.text(case, tuple(s * f for s, f in zip(scale, factor))))
        other, message = self.call("run", "units.yaml", "-o", "u", "-q", may=(0, 1, 2))
        if other != status:
            if not self.is_decided_by_roundoff(case, scale, math.inf):
                self.faults.append(f"status {status}, in units of {factor} {other}: {message}")
        elif status == 0:
            off, where = self.difference(self.table("a/history.csv"), self.table("u/history.csv"), factor)
            within = next((w for w in (0.0, 1e-12, SAME) if off <= w), 1.0)
            self.notes.append(f"other units: within {within} of the largest value")
            if not off <= SAME and not self.is_decided_by_roundoff(case, scale, off):
                self.faults.append(f"in units of {factor} {where} differs by {off:.1e}")

    def compare_runs(self, a, b):
        return self.difference(self.table(a + "/history.csv"), self.table(b + "/history.csv"), (1.0, 1.0, 1.0))[0]

    def is_decided_by_roundoff(self, case, scale, off):
        """Does a change of masses by 1e-14 to 1e-11 change the results as much, or whether the run goes on?"""
        for number in range(1, 8):
            changed = copy.deepcopy(case)
            for group in [*changed.get("elements", {}).values(), changed.get("system", {})]:
                for key in ("rho", "mass", "m"):
                    if isinstance(group.get(key), random_cases.Number):
                        group[key].value *= 1.0 + 1e-15 * (-4.0) ** number
            self.write("near.yaml", random_cases.text(changed, scale))
            shutil.rmtree(self.path("near"), ignore_errors=True)
            status, _ = self.call("run", "near.yaml", "-o", "near", "-q", may=(0, 1, 2))
            has_run = os.path.exists(self.path("a/summary.json")) and self.verdict != "stopped"
            moved = math.inf if (status == 0) != has_run else 0.0
            if status == 0 and has_run:
                moved = self.compare_runs("a", "near")
            if moved >= 0.1 * off:
                self.notes.append("round-off decides")
                return True
        return False

    def difference(self, a, b, factor):
        """Largest difference in the largest value of its unit, and where."""
        worst, largest, pairs = (0.0, ""), collections.Counter(), []
        for name in a:
            last = name.split(".")[-1]
            unit = PROBES.get(last) if name.startswith("p.") else UNITS.get(last) or coordinate(name)
            if unit is None or name not in b or last == "gap" and name[0] in "jcw" and name[:-4] + ".force" not in a:
                continue
            size = random_cases.Number(1.0, unit).scaled(factor)
            pairs.append((name, unit, a[name], [x / size for x in b[name]]))
            largest[unit] = max(largest[unit], *map(abs, a[name]))
        # Of a node that is held, of what stands still, or of a bar without moments, only round-off is left.
        largest["m/s"] = max(largest["m/s"], largest["J"] / (largest["N s"] or math.inf))
        largest["N m"] = max(largest["N m"], largest["J"], largest["N"] * largest["m"])
        largest["m"] = max(largest["m"], SMALL * self.length)
        impulse = max(largest["N"], largest["N m"] / self.length) * self.end
        largest["N s"] = max(largest["N s"], SMALL * impulse)
        for name, unit, x, y in pairs:
            if x != y:
                off = max(abs(p - q) for p, q in zip(x, y)) / (largest[unit] or 1e-300)
                worst = max(worst, (off if len(x) == len(y) else math.inf, name))
        return worst

    def read(self, status):
        if status == 0 or status == 1 and os.path.exists(self.path("a/summary.json")):
            self.call("report", "a", "-o", "report.html")
            if self.seed % 10 == 0:
                self.call("plot", "a")


def judged(program, schema, seed, keep):
    folder = os.path.join(keep, str(seed)) if keep else tempfile.mkdtemp(prefix="percuss_random_")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    judge, drawn = Judge(program, seed, folder), random_cases.Draw(schema, seed)
    judge.run(drawn)
    judge.uses = drawn.uses
    if not (keep and (judge.faults or judge.verdict == "stopped")):
        shutil.rmtree(folder, ignore_errors=True)
    return judge


def plain(message):
    """A message without its names and numbers."""
    message = re.sub(r"error: (\S+:\d+:\d+: )?", "", message)
    return re.sub(r"'[^']*'|\b[a-z]*b\d\w*|[-+]?\d[\d.e+-]*", "..", message)[:160]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("seeds", nargs="?", default="0:200")
    parser.add_argument("--keep", help="folder for what went wrong")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    first, last = map(int, given.seeds.split(":"))
    schema = random_cases.Schema(given.program)
    verdicts, messages, notes, uses = (collections.Counter() for _ in range(4))
    wrong = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for judge in pool.map(lambda seed: judged(given.program, schema, seed, given.keep), range(first, last)):
            verdicts[judge.verdict] += 1
            uses.update(judge.uses if judge.verdict != "refused" else [])
            notes.update(judge.notes)
            wrong += bool(judge.faults)
            if judge.verdict != "fine":
                messages[judge.verdict + ": " + plain(judge.message)] += 1
            if judge.verdict == "stopped":
                print(f"seed {judge.seed}: stopped: {judge.message}", flush=True)
            for fault in judge.faults:
                print(f"seed {judge.seed}: WRONG: {fault}", flush=True)
    for count in (messages, notes):
        for message, times in count.most_common():
            print(f"{times:6d} {message}")
    kinds = (("mesh part", "mesh"), ("element group", "elements"), ("joint", "joints"), ("contact", "contacts"),
             ("law", "force law"), ("scheme", "scheme"), ("system", "system"))
    absent = [f"{kind} {name}" for kind, key in kinds for name in schema.kinds[kind] if (key, name) not in uses]
    print("never drawn lawfully:", ", ".join(absent) or "none")
    print(f"{last - first} cases: {verdicts['refused']} refused, {verdicts['stopped']} stopped, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())
