"""All campaigns, as many at a time as there are cores, and a table of them. The fuzzers are built meanwhile.

    /usr/bin/python3 tests/faults/run.py build/percuss [seconds of each that has no end of its own]
"""

import concurrent.futures
import os
import shutil
import subprocess
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Seconds of each on one core where none are given, those that take longest first; the fuzzers have to be built before.
# With more cores there is time for more: all of it takes about eight minutes.
SECONDS = {"kill": 60, "disk": 55, "alloc": 55, "passing": 40, "abuse": 40, "soak": 50, "plugins": 20, "streams": 10,
           "limits": 15, "parallel": 40, "inputs": 10,
           "fuzz": 100}
MOST_CORES = 4


def run(program, name, seconds):
    """Exit status and what was told."""
    path = os.path.join(FOLDER, name + ".py")
    words = [sys.executable, path, program, str(seconds)]
    process = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    print(process.stdout, end="", flush=True)
    return process.returncode, process.stdout


def begin_build(program):
    """Builds the fuzzers aside, so that the last campaign finds them."""
    if shutil.which("clang") is None:
        return None
    return subprocess.Popen(["nice", sys.executable, os.path.join(FOLDER, "fuzz.py"), program, "build"])


def main():
    program, begin = os.path.abspath(sys.argv[1]), time.monotonic()
    cores = max(1, min(os.cpu_count() or 1, MOST_CORES))
    given = float(sys.argv[2]) if len(sys.argv) > 2 else None
    lines, status, building = [], 0, begin_build(program)
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        jobs = {}
        for name, seconds in SECONDS.items():
            if name != "fuzz":
                jobs[name] = pool.submit(run, program, name, given or seconds * cores * 0.8)
        concurrent.futures.wait(jobs.values())
    if building is not None:
        building.wait()
    results = {name: job.result() for name, job in jobs.items()}
    results["fuzz"] = run(program, "fuzz", given or SECONDS["fuzz"])
    for name, (code, text) in results.items():
        last = text.splitlines()[-1] if text else ""
        lines.append(last if "tries" in last else f"{name:12} did not end well: exit {code}")
        status = status or int(code != 0)
    print("\ncampaign\n" + "\n".join(lines) + f"\n{time.monotonic() - begin:.0f} s in all", flush=True)
    sys.exit(status)


main()
