"""All campaigns one after the other, and a table of them.

    /usr/bin/python3 tests/faults/run.py build/percuss [seconds of each that has no end of its own]
"""

import glob
import os
import re
import subprocess
import sys

# Seconds of each where none are given: ten minutes in all.
SECONDS = {"passing": 50, "disk": 70, "alloc": 80, "abuse": 50, "soak": 50, "fuzz": 70, "kill": 70}


def campaigns():
    folder = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(folder, "*.py"))):
        with open(path) as file:
            if re.search(r"^faults\.main\(|^if __name__", file.read(), re.M) and not path.endswith("run.py"):
                yield path


def main():
    program, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    lines, status = [], 0
    for path in campaigns():
        name = os.path.splitext(os.path.basename(path))[0]
        limit = seconds or str(SECONDS.get(name, 30))
        process = subprocess.Popen([sys.executable, path, program, limit], stdout=subprocess.PIPE, text=True)
        last = ""
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line
        if process.wait() != 0:
            status = 1
        lines.append(last if "tries" in last else f"{name:12} did not end well: exit {process.returncode}\n")
    print("\ncampaign\n" + "".join(lines), end="")
    sys.exit(status)


main()
