"""Microseconds of processor time of a certified step where one choice stands against another.

    /usr/bin/python3 tests/bench/bench_cases.py build/percuss [PATTERN]

Every choice runs from the same state again and again, in turns with the others; the best repetition of each counts.
Nothing here can fail for being slow.
"""

import os
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
os.environ["PERCUSS_LIBRARY"] = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "libpercuss.so.0")

import percuss  # noqa: E402

REPETITIONS, WARM_UP = 40, 20
BAR = {"mesh.bar": "{type: line, from: [0, 0, 0], to: [10, 0, 0], elements: 1000}", "time.step": "auto"}
THOUSAND = {"mesh.beam.elements": 1000, "solver.threads": 1}
# Name; case, steps of a repetition, settings of all, choices with their settings: the first is what others are over.
GROUPS = {
    "bar at a wall": ("cases/bar_impact", 100, BAR, {
        "half_explicit": {"scheme": "{type: half_explicit}", "elements.bar.mass": "consistent"},
        "half_explicit, lumped": {"scheme": "{type: half_explicit}", "elements.bar.mass": "lumped"},
        "wave": {"scheme": "{type: wave}"}}),
    **{f"exact beam, {space}": (f"tests/bench/exact_{space}.yaml", 20, THOUSAND, {
        "chain": {}, "umfpack": {"solver.linear": "umfpack"}}) for space in ("2d", "3d")},
}


def main():
    for name, (case, steps, settings, choices) in GROUPS.items():
        if not re.search(sys.argv[2] if len(sys.argv) > 2 else "", name):
            continue
        runs = {choice: percuss.load(case, set={**settings, **own}) for choice, own in choices.items()}
        best = dict.fromkeys(runs, float("inf"))
        for sim in runs.values():
            sim.run(until=WARM_UP * sim.step_size)
        kept = {choice: sim.keep() for choice, sim in runs.items()}
        for _ in range(REPETITIONS):
            for choice, sim in runs.items():
                sim.restore(kept[choice])
                first, begin = sim.steps, time.thread_time()
                sim.run(until=min(sim.time + steps * sim.step_size, sim.end_time))
                best[choice] = min(best[choice], (time.thread_time() - begin) / (sim.steps - first))
        for choice, seconds in best.items():
            print(f"{name:24} {choice:24} {1e6 * seconds:9.2f} us a step, "
                  f"{seconds / next(iter(best.values())):6.2f} times the first")


if __name__ == "__main__":
    main()
