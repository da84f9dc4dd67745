"""Strong and weak scaling of the lattice over ranks, with the share of communication.

    python3 tests/bench/bench_scaling.py build/percuss [cells along an edge ...]

Wall times mean something only while nothing else runs; processor time per step and dof does not suffer.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OPENBLAS_NUM_THREADS="1")
STEPS, STEP = 20, 1.1e-5
TALK = ("VecScatterEnd", "VecTDot", "VecNorm")  # waits for others are counted in these
GRADIENTS = ["-ksp_type", "cg", "-pc_type", "bjacobi", "-ksp_norm_type", "natural", "-sub_pc_type", "icc"]


def run(program, cells, ranks, options):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.txt")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["mpiexec", "-n", str(ranks), program, "run", "cases/frame_lattice", "-q", "-o", folder,
                        "--set", f"mesh.net.cells=[{cells[0]}, {cells[1]}]", "--set", f"time.end={STEPS * STEP}",
                        "--set", "output.frames.every=0", "--set", "solver.type=schur",
                        "--", "-log_view", ":" + log, *options], check=True, env=ENVIRONMENT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.path.join(folder, "summary.json")) as file:
            summary = json.load(file)
        with open(log) as file:
            text = file.read()
    events = {name: (int(count), float(seconds)) for name, count, seconds
              in re.findall(r"^(\w+) +(\d+) [\d.]+ ([\d.e+-]+)", text, re.M)}
    user = after.ru_utime - before.ru_utime
    solves = events.get("KSPSolve", (0, 0.0))
    talk = sum(events[name][1] for name in TALK if name in events)
    return {"dofs": summary["model"]["dofs"], "user": user, "solves": solves[0],
            "iterations": events.get("MatMult", (0, 0.0))[0],
            "share": talk / solves[1] if solves[1] > 0.0 else 0.0,
            "steps": summary["wall_time"]["step"]}


def main():
    program = os.path.abspath(sys.argv[1])
    sizes = [int(x) for x in sys.argv[2:]] or [60, 120]
    print("cells      dofs  ranks  s/step (wall)  us processor/step/dof  solves/step  iterations/solve  communication")
    for size in sizes:
        rows = [((size, size), 1, []), ((size, size), 1, GRADIENTS), ((size, size), 2, []), ((2 * size, size), 2, [])]
        for cells, ranks, options in rows:
            r = run(program, cells, ranks, options)
            print(f"{cells[0]}x{cells[1]:<6} {r['dofs']:>7} {ranks:>5}  {r['steps'] / STEPS:>12.4f} "
                  f"{1e6 * r['user'] / STEPS / r['dofs']:>20.2f} {r['solves'] / STEPS:>15.1f} "
                  f"{r['iterations'] / max(r['solves'], 1):>15.1f} {100 * r['share']:>14.0f} %"
                  f"{'  factors' if ranks == 1 and not options else ''}")


if __name__ == "__main__":
    main()
