"""A disk that is full, folders that are read-only, missing, vanish, or belong to another run."""

import os
import resource
import shutil
import signal
import subprocess
import time

import faults

KINDS = ("write", "open", "close", "rename", "mkdir", "unlink", "sync", "stream")


def commands(c):
    cases = os.path.join(c.source, "cases")
    out = ["-o", c.path("out", "deep"), "--quiet"]
    return {"run": ["run", os.path.join(cases, "bar_impact"), "--set", "time.end=0.1", *out],
            "pendulum": ["run", os.path.join(cases, "beam_pendulum"), "--set", "time.end=0.05", *out],
            "statics": ["statics", os.path.join(cases, "beam_pendulum"), "-o", c.path("out", "deep")],
            "modes": ["modes", os.path.join(cases, "rotor"), "-o", c.path("out", "deep")],
            "new": ["new", "bar", c.path("out", "deep")]}


def clear(c):
    shutil.rmtree(c.path("out"), ignore_errors=True)


def judge(c, what, result, reference):
    """Without a failure the results are whole."""
    if c.ends_well(what, result) and result.status == 0:
        c.check(faults.results(c.path("out")) == reference, f"{what}: exit 0 with other results")


def every_call(c, lasts):
    for name, command in commands(c).items():
        clear(c)
        c.run(*command)
        reference = faults.results(c.path("out"))
        for kind in KINDS:
            clear(c)
            _, count = c.faulty(kind, 0, *command)
            for nth in range(1, count + 1):
                clear(c)
                result, _ = c.faulty(kind, nth, *command, lasts=lasts)
                judge(c, f"{name}: {kind} {nth} of {count} fails", result, reference)
                if not c.goes_on():
                    return


def limit(size):
    def apply():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return apply


def small_files(c):
    for name, command in commands(c).items():
        clear(c)
        c.run(*command)
        reference = faults.results(c.path("out"))
        for size in (0, 1, 100, 1000, 4096, 5000, 20000, 70000):
            clear(c)
            judge(c, f"{name}: files of {size} bytes at most", c.run(*command, preexec_fn=limit(size)), reference)


def nobody():
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def bad_folders(c):
    os.chmod(c.folder, 0o755)
    case = os.path.join(c.source, "cases", "bar_impact")
    os.makedirs(c.path("locked"))
    os.chmod(c.path("locked"), 0o555)
    c.write("file", "text")
    places = [c.path("locked"), c.path("locked", "in"), c.path("file"), c.path("file", "in"), "/dev/null",
              "/dev/full/in", "/proc/percuss", "", "a" * 300, "/".join(["b" * 200] * 30)]
    for place in places:
        result = c.run("run", case, "--quiet", "-o", place, preexec_fn=nobody, cwd=c.path("locked"))
        c.ends_well(f"into '{place[:40]}'", result, may_finish=False)
    c.write("bare.yaml", "time: { step: 1, end: 2 }\n")
    for place in (c.path("none", "case.yaml"), c.path("locked"), "/dev/null", "/", c.path("bare.yaml")):
        c.ends_well(f"a case at '{place}'", c.run("run", place, "--quiet", "-o", c.path("x")), may_finish=False)


def vanishing(c):
    """The folder goes while the run writes."""
    case = os.path.join(c.source, "cases", "bar_impact")
    for delay in (0.01, 0.03, 0.1, 0.2):
        for way in ("remove", "file"):
            clear(c)
            command = [c.program, "run", case, "--quiet", "-o", c.path("out"), "--set", "time.step=1e-4"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(delay)
            shutil.rmtree(c.path("out"), ignore_errors=True)
            if way == "file":
                try:
                    c.write("out", "text")
                except OSError:
                    pass
            try:
                _, err = process.communicate(timeout=faults.BOUND)
            except subprocess.TimeoutExpired:
                process.kill()
                err = process.communicate()[1]
            result = faults.Result(process.returncode, "", err.decode(errors="replace"), faults.BOUND)
            c.ends_well(f"the folder goes after {delay} s ({way})", result)
            if os.path.isfile(c.path("out")):
                os.remove(c.path("out"))


def two_runs(c):
    clear(c)
    case = os.path.join(c.source, "cases", "bar_impact")
    long = [c.program, "run", case, "--quiet", "-o", c.path("out"), "--set", "time.step=1e-6"]
    for way in ("kill", "end"):
        first = subprocess.Popen(long, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(c.path("out", "history.csv.part")) and first.poll() is None:
            time.sleep(0.01)
        second = c.run("run", case, "--quiet", "-o", c.path("out"))
        c.check(second.status == 1 and "another run" in second.err, f"a second run: exit {second.status} {second.err}")
        first.send_signal(signal.SIGKILL if way == "kill" else signal.SIGTERM)
        c.check(first.wait(timeout=faults.BOUND) == (-9 if way == "kill" else 1), "the first run does not end")
        third = c.run("run", case, "--quiet", "-o", c.path("out"), "--overwrite")
        c.check(third.status == 0, f"after {way}: exit {third.status} {third.err}")


def campaign(c):
    bad_folders(c)
    two_runs(c)
    if c.most is None:
        vanishing(c)
        small_files(c)
    every_call(c, lasts=False)
    every_call(c, lasts=True)


faults.main(campaign, "60")
