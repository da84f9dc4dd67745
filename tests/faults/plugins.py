"""Plug-ins that lack symbols, are of another version, return what is no number or of the wrong size, or crash."""

import itertools
import os
import signal
import subprocess
import time

import faults

CHANGES = {
    "no symbol": [("percuss_system = {", "other_name = {")],
    "another version": [(".abi = PERCUSS_SYSTEM_ABI", ".abi = 7")],
    "version 0": [(".abi = PERCUSS_SYSTEM_ABI", ".abi = 0")],
    "no name": [('.name = "two_walls"', ".name = NULL")],
    "no force": [("    .force = walls_force,\n", "")],
    "no mass": [("    .mass = walls_mass,\n", "")],
    "no gaps": [("    .gaps = walls_gaps,\n", "")],
    "force NaN": [("f[0] = -p[DAMPING] * v[0]", "f[0] = NAN")],
    "force NaN later": [("f[0] = -p[DAMPING] * v[0]", "f[0] = t > 0.5 ? NAN : 0.0")],
    "force infinite later": [("f[0] = -p[DAMPING] * v[0]", "f[0] = t > 0.5 ? 1e308 * 10.0 * v[0] : 0.0")],
    "mass NaN": [("M[0] = p[MASS]", "M[0] = NAN")],
    "mass zero": [("M[0] = p[MASS]", "M[0] = 0.0")],
    "mass negative": [("M[0] = p[MASS]", "M[0] = -1.0")],
    "gap NaN": [("g[0] = q[0]", "g[0] = NAN")],
    "gap infinite": [("g[0] = q[0]", "g[0] = INFINITY")],
    "gap NaN later": [("g[0] = q[0]", "g[0] = q[0] > 0.7 ? NAN : q[0]")],
    "direction NaN": [("G[1] = -1.0", "G[1] = NAN")],
    "direction wrong": [("G[1] = -1.0", "G[1] = 1.0")],
    "start NaN": [("v[0] = p[VELOCITY]", "v[0] = NAN")],
    "start infinite": [("q[0] = p[POSITION]", "q[0] = INFINITY")],
    "length NaN": [("    return p[LENGTH];", "    return p[LENGTH] * NAN;")],
    "length zero": [("    return p[LENGTH];", "    return 0.0 * p[LENGTH];")],
    "rows -1": [("    return 2;", "    return -1;")],
    "rows too many": [("    return 2;", "    return 2147483647;")],
    "coordinates 0": [(".ncoordinate = 1", ".ncoordinate = 0")],
    "coordinates -5": [(".ncoordinate = 1", ".ncoordinate = -5")],
    "coordinates 1000000": [(".ncoordinate = 1", ".ncoordinate = 1000000")],
    "contact without a name": [('.contact = "left"', ".contact = NULL")],
    "restitution NaN": [(".restitution = p[LEFT]", ".restitution = NAN")],
    "crash in force": [("f[0] = -p[DAMPING] * v[0]", "f[0] = *(volatile double *)8")],
    "crash in force later": [("f[0] = -p[DAMPING] * v[0]", "f[0] = t > 0.5 ? *(volatile double *)8 : 0.0")],
    "crash in gaps": [("g[0] = q[0]", "g[0] = *(volatile double *)8")],
    "crash in check": [('*parameter = "position";', "*(volatile int *)8 = 1;")],
    "abort in rows": [("    return 2;", "    __builtin_trap();")],
    "endless recursion": [("    return 2;",
                           "    volatile char room[4096] = { 0 }; return walls_row_count(p) + room[p != 0];")],
    "crash when it is loaded": [("static int walls_row_count",
                                 "__attribute__((constructor)) static void walls_bad(void)\n"
                                 "{ *(volatile int *)8 = 1; }\n"
                                 "static int walls_row_count")],
    "as it is": [],
}


def build(c, source, name, changes):
    text = source
    for old, new in changes:
        if not c.check(old in text, f"'{old}' is not in the example"):
            return None
        text = text.replace(old, new)
    path = c.path(name.replace(" ", "_") + ".so")
    subprocess.run(["cc", "-std=gnu17", "-O0", "-w", "-shared", "-fPIC", "-I", os.path.join(c.source, "src"), "-x", "c",
                    "-", "-o", path], input=text.encode(), check=True)
    return path


# One that never returns: in a step, and before the run.
ENDLESS = {"force": [("f[0] = -p[DAMPING] * v[0]", "for (volatile int i = 0; t > 0.5; ) i = 0; f[0] = 0.0")],
           "rows": [("    return 2;", "    for (volatile int i = 0;;) i = 0;")]}


def endless(c, source, case):
    """The first signal asks for the end of the step, which does not come; the second one ends the program at once."""
    for name, changes in ENDLESS.items():
        text = case.replace("./two_walls.so", build(c, source, "endless " + name, changes))
        words = [c.program, "run", c.write("case.yaml", text), "--quiet", "-o", c.path("out")]
        for numbers in itertools.product((signal.SIGINT, signal.SIGTERM), repeat=2):
            # Who starts campaigns in the background may have SIGINT ignored.
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            time.sleep(0.3)
            c.check(process.poll() is None, f"endless {name}: it does return")
            begin = time.monotonic()
            for number in numbers:
                process.send_signal(number)
                time.sleep(0.1)
            try:
                status = process.wait(timeout=faults.BOUND)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            c.check(-status in numbers and time.monotonic() - begin < 5.0, f"endless {name} {numbers}: exit {status}")
    text = case.replace("./two_walls.so", c.path("as_it_is.so"))
    result = c.run("run", c.write("case.yaml", text), "--quiet", "-o", c.path("out"))
    c.check(result.status == 0, f"the folder after that: exit {result.status} {result.err}")


def campaign(c):
    folder = os.path.join(c.source, "tests", "plugin")
    source = open(os.path.join(folder, "two_walls.c")).read()
    case = open(os.path.join(folder, "two_walls.yaml")).read()
    for name, changes in CHANGES.items():
        path = build(c, source, name, changes)
        if path is None:
            continue
        text = case.replace("./two_walls.so", path)
        c.check(path in text, "the case does not name its plug-in so")
        for command in ("check", "run", "list"):
            what = [path] if command == "list" else [c.write("case.yaml", text)]
            extra = ["-o", c.path("out"), "--quiet"] if command == "run" else []
            result = c.run(command, *what, *extra)
            is_own = name.startswith(("crash", "abort", "endless"))
            c.ends_well(f"{name}: {command}", result, may_finish=command != "run" or not changes, may_crash=is_own)
    for kind, content in {"empty": "", "text": "hello", "cut": None}.items():
        path = c.path(kind + ".so")
        whole = open(c.path("as_it_is.so"), "rb").read()
        open(path, "wb").write(whole[:len(whole) // 2] if content is None else content.encode())
        text = case.replace("./two_walls.so", path)
        result = c.run("run", c.write("case.yaml", text), "-o", c.path("out"), "--quiet")
        # The loader itself reads beyond the end of a file that is cut off.
        c.ends_well(f"a {kind} file for a plug-in", result, may_finish=False, may_crash=kind == "cut")
    endless(c, source, case)


faults.main(campaign)
