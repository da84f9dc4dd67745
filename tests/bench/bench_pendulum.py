"""Instructions of a certified step of the exact pendulum on a hinge, without contact; microseconds without valgrind."""
import re
import shutil
import subprocess
import sys
import time

COUNT = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] if shutil.which("valgrind") else []
RUN = [*COUNT, sys.argv[1], "run", "beam_pendulum", "-o", "build/bench_pendulum", "-q", "--overwrite",
       "--set", "contacts={}", "--set", "output={ frames: { every: 100000 } }"]


def cost(elements, steps):
    begin = time.perf_counter()
    sets = ["--set", f"mesh.beam.elements={elements}", "--set", f"time.end={5e-4 * steps}"]
    run = subprocess.run(RUN + sets, stderr=subprocess.PIPE, text=True, check=True)
    return int(re.findall(r"Collected : (\d+)", run.stderr)[0]) if COUNT else 1e6 * (time.perf_counter() - begin)


first, last, unit = (100, 200, "instructions") if COUNT else (500, 10500, "us")
for n, goal in (4, 60000), (16, 140000), (64, 420000):
    step = (cost(n, last) - cost(n, first)) / (last - first)
    print(f"pendulum on a hinge, {n} exact elements: {step:.0f} {unit} a step; goal {goal} instructions")
