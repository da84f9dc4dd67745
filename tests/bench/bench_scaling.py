"""What do two ranks gain? Wall time of a step on two ranks over that in one process, each with what `auto` takes.

    python3 tests/bench/bench_scaling.py build/percuss [CELLS such as 100x100 ...]

Times mean something only while nothing else runs. A step is that of a run over three times as many, less the run.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_solvers  # noqa: E402

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OPENBLAS_NUM_THREADS="1")
STEP = 1e-5


def run(program, cells, ranks, steps):
    """Wall time of all steps of a run, s, and its summary."""
    in_plane = len(cells) == 2
    text = bench_solvers.CASE.format(
        cells=cells, friction=0, scheme="alpha_ggl", end=steps * STEP, diagonals="none" if in_plane else "one",
        element="beam_timo_2d" if in_plane else "beam_timo_3d",
        more="" if in_plane else "orientation: [0.3, 0.5, 0.8],")
    with tempfile.TemporaryDirectory() as folder:
        case = os.path.join(folder, "lattice.yaml")
        with open(case, "w") as file:
            file.write(text)
        start = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
        subprocess.run([*start, program, "run", case, "-q", "-o", folder + "/out"], check=True, env=ENVIRONMENT)
        with open(folder + "/out/summary.json") as file:
            summary = json.load(file)
    return summary["wall_time"]["step"] + summary["wall_time"]["certify"], summary


def main():
    program = os.path.abspath(sys.argv[1])
    for text in sys.argv[2:] or ("60x60", "100x100", "200x200", "12x12x12"):
        cells = [int(n) for n in text.split("x")]
        steps, wall = 20 if len(cells) == 2 and cells[0] > 150 else 100, {}
        for ranks in 1, 2:
            short, summary = run(program, cells, ranks, steps)
            wall[ranks] = (run(program, cells, ranks, 3 * steps)[0] - short) / (2 * steps)
            print(f"{text:10} {summary['model']['dofs']:>7} equations, {ranks} rank{'s' if ranks > 1 else ' '}: "
                  f"{1e3 * wall[ranks]:8.2f} ms a step, {summary['solver']}", flush=True)
        print(f"{text:10} two ranks over one process: {wall[2] / wall[1]:.2f}; goal 1.0 from 1e5 equations on")


if __name__ == "__main__":
    main()
