"""What a step costs in Python beyond C: the same small model stepped by the library alone and by a loop in Python.
Argument: the path of the program, beside which the library lies."""

import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
os.environ["PERCUSS_LIBRARY"] = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "libpercuss.so.0")

import percuss  # noqa: E402

STEPS = 50000
VALUES = {"mesh.bar.elements": 2, "time.end": 2.0e-3 * STEPS}


def seconds(work):
    best = float("inf")
    for _ in range(5):
        sim = percuss.load("cases/bar_impact", set=VALUES)
        begin = time.thread_time()  # others may be at work on the machine
        work(sim)
        best = min(best, time.thread_time() - begin)
        assert sim.is_done
    return best / STEPS * 1e6


def loop(sim):
    step = sim.step
    for _ in range(STEPS):
        step()


def iterate(sim):
    for _ in sim:
        pass


def control(sim):
    applied, v = sim.applied, sim.v
    for _ in sim:
        applied[2] = -0.1 * v[2]


def main():
    plain = seconds(lambda sim: sim.run())
    for name, work in (("step()", loop), ("for step in sim", iterate), ("with a controller", control)):
        took = seconds(work)
        print(f"{name:20} {took:6.2f} us a step, {took - plain:5.2f} us beyond the {plain:.2f} us of C")


if __name__ == "__main__":
    main()
