"""Memory and instructions of contacts over ranks: bench_rows.py PROGRAM [ROWS [FRICTION]]

A lattice of one row of boxes with ROWS contact nodes (1000) flies towards a wall, `moreau_jean`. Prints what Percuss
has taken on the rank with least and most, and instructions of a step in Percuss itself on every rank (callgrind, from
the difference of 4 and 12 steps), for 1, 2 and 4 ranks; and what of both does not fall with the ranks.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

CASE = """
mesh:
  grid: {{ type: lattice, cells: [1, {last}], size: [0.1, 0.1], origin: [0.0005, 0, 0], diagonals: one }}
elements:
  grid: {{ type: beam_timo_2d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0,
          section: {{ type: rectangle, width: 0.02, height: 0.02 }} }}
initial:
  - {{ set: grid, velocity: [-5.0, 2.0, 0] }}
contacts:
  floor: {{ type: node_plane, nodes: grid.xmin, point: [-0.1, 0, 0], normal: [1, 0, 0], restitution: 0.2,
           friction: {friction} }}
scheme: {{ type: moreau_jean, theta: 0.6 }}
time: {{ step: 5.0e-6, end: {end}e-6 }}
output: {{ frames: {{ every: 0 }}, contact_frames: {{ every: 0 }} }}
"""
# Several ranks share the cores; mpiexec wants to be told that root and more ranks than cores are meant.
MEANT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OPENBLAS_NUM_THREADS": "1",
         "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def own_instructions(path):
    """Of functions of the program, without libraries."""
    text = subprocess.run(["callgrind_annotate", "--threshold=100", path], capture_output=True, text=True).stdout
    total = 0
    for count, where in re.findall(r"^\s*([\d,]+) \(.*?\)\s+(\S.*)$", text, re.M):
        name, _, file = where.partition("[")
        if "percuss" in file and "petsc" not in file and re.search(r":[a-z]+_\w+", name):
            total += int(count.replace(",", ""))
    return total


def run(program, ranks, case, folder):
    """Memory of the ranks, and instructions of each, smallest first."""
    for old in glob.glob(os.path.join(folder, "counts.*")):
        os.remove(old)
    counts = os.path.join(folder, "counts.%p")
    command = ["mpiexec", "-n", str(ranks), "valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", program]
    out = os.path.join(folder, "out")
    environment = {**os.environ, **MEANT}
    subprocess.run([*command, "run", case, "-q", "-o", out], check=True, capture_output=True, env=environment)
    with open(os.path.join(out, "summary.json")) as file:
        memory = json.load(file)["ranks"]
    files = glob.glob(os.path.join(folder, "counts.*"))
    return (memory["memory_bytes_least"], memory["memory_bytes_most"]), sorted(map(own_instructions, files))


def main():
    program = os.path.abspath(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    friction = float(sys.argv[3]) if len(sys.argv) > 3 else 0.3
    least, most = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for ranks in (1, 2, 4):
            counts = []
            for steps in (4, 12):
                case = os.path.join(folder, "case.yaml")
                with open(case, "w") as file:
                    file.write(CASE.format(last=rows - 1, friction=friction, end=5 * steps))
                memory, count = run(program, ranks, case, folder)
                counts.append(count)
            step = [round((b - a) / 8) for a, b in zip(*counts)]
            least[ranks], most[ranks] = memory[0], step[-1]
            text = f"{memory[0] / 1e6:.1f} to {memory[1] / 1e6:.1f} MB, instructions of a step {step}"
            print(f"{ranks} ranks: {text}", flush=True)
    print(f"on every rank: {(2 * least[4] - least[2]) / rows:.0f} bytes per row, "
          f"{(4 * most[4] - most[1]) / 3 / rows:.0f} instructions per row and step")


if __name__ == "__main__":
    main()
