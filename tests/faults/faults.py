"""What the campaigns share: runs of the program that must end right, or with a message and exit status 1 or 2.

A campaign is a file of this folder that calls `main(campaign)` with a function of a `Campaign`. It is run as
    /usr/bin/python3 tests/faults/<name>.py build/percuss [30 | 100n]
prints its tries and failures, and ends with status 1 when there is a failure. It goes on for so many seconds, or tries,
where there is no end to what can be tried; what it draws is the same in every run.
"""

import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

BOUND = 300.0  # s, no try may take longer, with sanitizers on a busy machine
CRASH = "error: the program crashed"  # as in src/main.c


class Result:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def told(self):
        return "error:" in self.err


class Campaign:
    def __init__(self, name, program, limit):
        self.name, self.program = name, os.path.abspath(program)
        self.most = int(limit[:-1]) if limit.endswith("n") else None
        self.seconds = float(limit) if self.most is None else None
        self.tries, self.failures, self.begin = 0, [], time.monotonic()
        self.folder = tempfile.mkdtemp(prefix="percuss_faults_")
        self.random = random.Random(name)
        self.source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

    def elapsed(self):
        return time.monotonic() - self.begin

    def goes_on(self):
        if self.most is not None:
            return self.tries < self.most
        return self.elapsed() < self.seconds

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        path = self.path(name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def fail(self, what):
        self.failures.append(what)
        print(f"  {self.name}: {what}", flush=True)

    def check(self, holds, what):
        """A try that is no run."""
        self.tries += 1
        if not holds:
            self.fail(what)
        return holds

    def run(self, *arguments, bound=BOUND, **options):
        """Runs the program; the end is not judged."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        begin = time.monotonic()
        process = subprocess.Popen([self.program, *arguments], **options)
        try:
            out, err = process.communicate(timeout=bound)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Result(None, "", "", bound)
        text = [(part or b"").decode(errors="replace") for part in (out, err)]
        return Result(process.returncode, *text, time.monotonic() - begin)

    def ends_well(self, what, result, may_finish=True, hears=True, may_crash=False):
        """Ended with 0, or with 1 or 2 and a message, within the bound. hears: there is a stream to read it from. A
        crash tells itself and ends with 1, which is right only for one in a plug-in."""
        self.tries += 1
        line = result.err.strip().splitlines()[-1] if result.err.strip() else ""
        if result.status is None:
            self.fail(f"{what}: no end within {result.seconds:g} s")
        elif result.status == 0 and not may_finish:
            self.fail(f"{what}: exit 0 where it must fail")
        elif result.status not in (0, 1, 2):
            self.fail(f"{what}: exit {result.status} {line}")
        elif CRASH in result.err and not may_crash:
            self.fail(f"{what}: it crashed")
        elif result.status != 0 and hears and not result.told():
            self.fail(f"{what}: exit {result.status} without a message")
        else:
            return True
        return False

    def interposer(self):
        """The library that makes calls fail, compiled."""
        path = self.path("interpose.so")
        if not os.path.exists(path):
            source = os.path.join(self.source, "tests", "faults", "interpose.c")
            subprocess.run(["cc", "-std=gnu17", "-O1", "-shared", "-fPIC", source, "-o", path, "-ldl"], check=True)
        return path

    def faulty(self, kind, nth, *arguments, lasts=False, environment=None, **options):
        """A run in which the nth call of a kind fails; the number of such calls as well."""
        count = self.path("count")
        environment = os.environ | {"LD_PRELOAD": self.interposer(), "FAULT_KIND": kind, "FAULT_NTH": str(nth),
                                    "FAULT_COUNT": count, "OPENBLAS_NUM_THREADS": "1"} | (environment or {})
        if lasts:
            environment["FAULT_LASTS"] = "1"
        if os.path.exists(count):
            os.remove(count)
        result = self.run(*arguments, env=environment, **options)
        return result, int(open(count).read()) if os.path.exists(count) else 0

    def history(self, folder):
        with open(os.path.join(folder, "history.csv")) as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        return [{key: float(value) if value not in ("", None) else None for key, value in row.items()} for row in rows]


def results(folder):
    """Bytes of the results that do not tell times of the clock, as summaries and checkpoints do."""
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            if not name.startswith(("summary", "checkpoint")):
                with open(os.path.join(base, name), "rb") as file:
                    found[os.path.relpath(os.path.join(base, name), folder)] = file.read()
    return found


def main(campaign, limit="20"):
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    program = sys.argv[1] if len(sys.argv) > 1 else "build/percuss"
    c = Campaign(name, program, sys.argv[2] if len(sys.argv) > 2 else limit)
    try:
        campaign(c)
    except KeyboardInterrupt:
        print("  interrupted", flush=True)
    finally:
        shutil.rmtree(c.folder, ignore_errors=True)
    print(f"{c.name:12} {c.tries:7} tries {len(c.failures):5} failures {c.elapsed():8.0f} s", flush=True)
    sys.exit(1 if c.failures else 0)
