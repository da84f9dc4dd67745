"""Inputs made up by libFuzzer, guided by what they reach, under sanitizers: case files, --set, meshes of Gmsh, tables,
histories, summaries and checkpoints. Seeds are the shipped cases and meshes, tests/fuzz/corpus, and checkpoints of the
case that the fuzzed program restores them into. What is found to reach something new is kept in build/fuzz/corpus, and
the next campaign goes on from there."""

import glob
import os
import re
import shutil
import subprocess
import sys
import time

import faults

READERS = ("case", "set", "gmsh", "table", "checkpoint")
# As in tests/fuzz/engine_readers.c.
BASE = """mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 } }
elements: { bar: { type: rod, mesh: bar, E: 1, rho: 1, area: 1 } }
scheme: { type: moreau_jean, theta: 0.5 }
time: { step: 0.1, end: 1 }
"""


def build(program, source):
    """Both fuzzers over one instrumented library; the folder that they are in."""
    folder = os.path.join(os.path.dirname(os.path.abspath(program)), "fuzz")
    jobs = str(os.cpu_count() or 2)
    configure = ["cmake", "-S", source, "-B", folder, "-DCMAKE_C_COMPILER=clang", "-DPERCUSS_TESTS=ON",
                 "-DPERCUSS_FUZZ=ON", "-DPERCUSS_SANITIZE=address", "-DPERCUSS_PETSC=OFF", "-DCMAKE_BUILD_TYPE=None",
                 "-DCMAKE_C_FLAGS=-O1 -gline-tables-only -DPERCUSS_FUZZ -fsanitize=fuzzer-no-link "
                 "-Wno-pass-failed"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
    subprocess.run(configure, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["cmake", "--build", folder, "--parallel", jobs, "--target", "engine_case", "engine_readers", "--",
                    "-s", "--no-print-directory"], stdout=subprocess.DEVNULL, check=True)
    return os.path.join(folder, "tests")


def seeds(c, reader):
    """A folder of small inputs to start from."""
    folder = c.path("seeds_" + reader)
    os.makedirs(folder)
    if reader == "checkpoint":
        c.run("run", c.write("base.yaml", BASE), "-o", c.path("base"), "-q", "--set", "output.checkpoint.every=4")
        for name in ("checkpoint.bin", "checkpoint.old.bin"):
            shutil.copy(c.path("base", name), folder)
    patterns = {"case": "cases/*/case.yaml", "gmsh": "tests/regression/gmsh/*.msh"}
    pattern = patterns.get(reader, f"tests/fuzz/corpus/{reader}/*")
    for number, path in enumerate(sorted(glob.glob(os.path.join(c.source, pattern)))):
        shutil.copy(path, os.path.join(folder, f"{number}"))
    return folder


def campaign(c):
    if shutil.which("clang") is None:
        print("  no clang: nothing was made up", flush=True)
        return
    programs = build(c.program, c.source)
    c.begin = time.monotonic()  # the time is for inputs
    for reader in READERS:
        program = os.path.join(programs, "engine_case" if reader == "case" else "engine_readers")
        length = f"-runs={c.most}" if c.most is not None else f"-max_total_time={max(int(c.seconds / len(READERS)), 1)}"
        environment = os.environ | {"FUZZ_READER": reader, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
        kept = os.path.join(os.path.dirname(programs), "corpus", reader)
        os.makedirs(kept, exist_ok=True)
        words = [program, length, "-seed=1", "-timeout=30", "-rss_limit_mb=2048", "-max_len=16384", kept,
                 seeds(c, reader)]
        result = subprocess.run(words, capture_output=True, text=True, errors="replace", env=environment, cwd=c.folder,
                                check=False)
        done = re.search(r"Done (\d+) runs", result.stderr)
        count = int(done.group(1)) if done else 0
        c.tries += count
        print(f"  {reader}: {count} inputs", flush=True)
        if result.returncode != 0:
            c.fail(f"{reader}: {result.stderr[-2000:]}")


if __name__ == "__main__":
    if sys.argv[2:] == ["build"]:
        build(sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    else:
        faults.main(campaign, "60")
