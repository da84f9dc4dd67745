"""Processor time of a study beside that of its steps.

1000 runs of cases/bar_impact (N = 200, 750 steps, no frames) and the same runs with one step each take turns; the
difference of their times, of user and kernel, is what the steps cost. The goal is 1.3. The modules of Python are
compiled once, as they are where the package is installed.

    /usr/bin/python3 tests/bench/bench_study.py build/percuss [RUNS [ROUNDS]]
"""
import os
import subprocess
import sys
import tempfile


def study(program, folder, runs, end):
    """Processor time of user and kernel, and time on the wall, s."""
    begin = os.times()
    moduli = f"elements.bar.E=800:{800 + 0.1 * (runs - 1):.1f}:0.1"
    subprocess.run([program, "study", "cases/bar_impact", "--vary", moduli, "--set", f"time.end={end}", "-q",
                    "-o", folder], check=True)
    _, _, user, kernel, wall = (now - then for now, then in zip(os.times(), begin))
    return user, kernel, wall


def main():
    program = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    whole, short = [], []
    # In memory: ext4 is slow to use the inodes of files that were removed lately, by whomever.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) and "TMPDIR" not in os.environ else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = os.path.join(folder, "compiled")
        for k in range(rounds):
            whole.append(study(program, os.path.join(folder, f"whole{k}"), runs, "1.5"))
            short.append(study(program, os.path.join(folder, f"short{k}"), runs, "0.002"))
    best = min(whole, key=lambda t: t[0] + t[1])
    rest = min(short, key=lambda t: t[0] + t[1])
    total, other = best[0] + best[1], rest[0] + rest[1]
    cores = len(os.sched_getaffinity(0))
    print(f"study of {runs} runs of bar_impact: {1e3 * total / runs:.2f} ms of processor time a run, "
          f"{1e3 * rest[0] / runs:.2f} user and {1e3 * rest[1] / runs:.2f} kernel of it besides the steps")
    print(f"  over the steps alone: {total / (total - other):.2f} (goal 1.3); "
          f"time on the wall over processor time per core: {min(t[2] for t in whole) * cores / total:.2f}")


if __name__ == "__main__":
    main()
