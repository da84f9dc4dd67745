"""A long run: memory stays flat, time is n h to the last digit, and the motion is that of the exact solution.

A ball bounces elastically; ten million steps, fewer where less time is given.
"""

import math
import subprocess
import time

import faults

STEP = 1.0 / 1024.0  # an exact binary number
CASE = """
system: {{ type: ball, mass: 1.0, radius: 0.2, gravity: 10.0, height: 1.0, restitution: 1.0 }}
scheme: {{ type: moreau_jean, theta: 0.5 }}
time: {{ step: {step!r}, end: {end!r} }}
output: {{ frames: false, history: {{ every: {every} }} }}
"""


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    return None


def soak(c, steps):
    every = max(steps // 1000, 1)
    case = c.write("case.yaml", CASE.format(step=STEP, end=steps * STEP, every=every))
    process = subprocess.Popen([c.program, "run", case, "--quiet", "-o", c.path("out")], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    sizes = []
    while process.poll() is None:
        time.sleep(0.2)
        try:
            size = memory(process)
        except OSError:
            size = None
        if size:
            sizes.append(size)
    c.check(process.returncode == 0, f"exit {process.returncode} {process.stderr.read().decode()[-300:]}")
    return sizes


def campaign(c):
    begin = time.monotonic()
    soak(c, 100000)
    rate = 100000 / (time.monotonic() - begin)
    limit = c.seconds if c.seconds is not None else 3.0
    steps = int(min(1e7, max(1e5, 0.8 * limit * rate)))
    sizes = soak(c, steps)
    rows = c.history(c.path("out"))
    print(f"  {steps} steps, {rate:.0f} a second", flush=True)
    if len(sizes) > 10:
        settled = sizes[len(sizes) // 4:]
        c.check(max(settled) - min(settled) <= 512, f"memory goes from {min(settled)} to {max(settled)} kB")
    for row in rows:
        c.check(row["t"] == row["step"] * STEP, f"step {row['step']}: t = {row['t']!r}, n h = {row['step'] * STEP!r}")
    energies = [row["kinetic"] + row["potential"] for row in rows]
    # Per bounce the scheme may be off by what the ball moves in a step: the energy stays within a few of these.
    size = 10.0 * 0.8
    c.check(all(math.isfinite(e) and abs(e - energies[0]) < 0.2 * size for e in energies), "the energy drifts")


faults.main(campaign, "60")
