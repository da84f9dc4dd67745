"""Every allocation fails in turn, alone and with all after it, from the case to closed files.

Cases are random ones that have every kind of part between them, and those that are shipped. Third-party libraries are
part of it. One run of each case tries them all, by children that it forks before each allocation and that leave the
disk alone (interpose.c). Where there is not time for all, every so many are taken, from a random one on; where there is
time left, runs of their own, which write their files, go on with single ones.
"""

import os
import re
import shutil
import sys

import faults

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "study"))
import random_cases  # noqa: E402

SHARE = 0.75  # of the time, for children
PACE = 0.005  # s, guess of what a child takes until it is known
SEEDS = 600, 12  # of random cases, in which each type is drawn, and of those of a short campaign


def drawn(c):
    """Name and file of random cases that run to their end, each with a type that none before it has."""
    schema, seen = random_cases.Schema(c.program), set()
    for seed in range(SEEDS[c.most is not None]):
        draw = random_cases.Draw(schema, seed)
        case = c.write(f"random_{seed}.yaml", random_cases.text(draw.draw()))
        new = set(draw.uses) - seen
        if new and c.run("run", case, "-o", c.path("out"), "--quiet").status == 0:
            seen |= new
            yield f"random {seed}", case


def commands(c):
    """Name and command line of each; results go to `out`."""
    out = ["-o", c.path("out"), "--quiet"]
    for name, case in drawn(c):
        yield name, ["run", case, *out]
    bar = os.path.join(c.source, "cases", "bar_impact")
    solvers = {"type": ("condensed", "newton", "schur"), "linear": ("dense", "chain", "cholmod", "umfpack")}
    for key, values in solvers.items():
        for value in values:
            yield value, ["run", bar, "--set", "time.end=0.01", "--set", f"solver.{key}={value}", *out]
    yield "observers", ["run", bar, "--set", "time.end=0.01", "--set", "output.contact_frames={}", "--set",
                        "output.waves={body: bar, of: [vx]}", *out]
    for folder in sorted(os.listdir(os.path.join(c.source, "cases"))):
        case = os.path.join(c.source, "cases", folder)
        step = re.search(r"step: ([-+.e\d]+)", open(os.path.join(case, "case.yaml")).read())
        end = ["--set", f"time.end={3.0 * float(step.group(1))!r}"] if step else []
        yield f"case {folder}", ["run", case, *end, *out]
    yield "statics", ["statics", os.path.join(c.source, "cases", "beam_pendulum"), "-o", c.path("out")]
    yield "modes", ["modes", os.path.join(c.source, "cases", "rotor"), "-o", c.path("out")]


def count(c, commands):
    """Name, command and number of allocations of those that end well."""
    for name, command in commands:
        shutil.rmtree(c.path("out"), ignore_errors=True)
        result, number = c.faulty("alloc", 0, *command)
        if c.check(result.status == 0, f"{name}: exit {result.status} {result.err.strip()[-300:]}"):
            yield name, command, number


def forked(c, name, command, stride, seconds):
    """One run with a child for each of the chosen allocations; how many children there were."""
    told = c.path("forks")
    shutil.rmtree(c.path("out"), ignore_errors=True)
    result, _ = c.faulty("alloc", c.random.randint(1, stride), *command, bound=None, environment={
        "FAULT_FORK": told, "FAULT_STRIDE": str(stride), "FAULT_SECONDS": str(seconds)})
    lines = open(told).read().splitlines() if os.path.exists(told) else []
    c.check(result.status == 0 and lines and "tries" in lines[-1],
            f"{name}: what forks must end well: exit {result.status} {result.err.strip()[-300:]}")
    for line in lines[:-1]:
        c.fail(f"{name}: {line}")
    tries = int(lines[-1].split()[0]) if lines else 0
    c.tries += tries
    return tries


def all_forked(c, plan):
    total = 2 * sum(number for _, _, number in plan)
    done, pace, end = 0, PACE, c.seconds * SHARE if c.seconds is not None else None
    for index, (name, command, number) in enumerate(plan):
        left = 2 * sum(number for _, _, number in plan[index:])
        time_left = max(end - c.elapsed(), 1.0) if end is not None else None
        stride = max(1, int(left * pace / time_left) + 1) if end is not None else max(1, 2 * number // 30)
        begin = c.elapsed()
        tries = forked(c, name, command, stride, time_left if end is not None else 1e9)
        done += tries
        if tries > 20:
            pace = 0.5 * pace + 0.5 * (c.elapsed() - begin) / tries
    print(f"  {done} of {total} failures of {total // 2} allocations, by children", flush=True)


def one_by_one(c, plan):
    singles = [(name, command, nth, number) for name, command, number in plan for nth in range(1, number + 1)]
    c.random.shuffle(singles)
    for name, command, nth, number in singles:
        if not c.goes_on():
            break
        lasts = c.random.random() < 0.5
        shutil.rmtree(c.path("out"), ignore_errors=True)
        result, _ = c.faulty("alloc", nth, *command, lasts=lasts)
        c.ends_well(f"{name}: allocation {nth} of {number} fails{' with all after it' if lasts else ''}", result)


def campaign(c):
    chosen = list(commands(c))
    if c.most is not None:
        chosen = c.random.sample(chosen, 4)
    plan = list(count(c, chosen))
    all_forked(c, plan)
    one_by_one(c, plan)


faults.main(campaign, "120")
