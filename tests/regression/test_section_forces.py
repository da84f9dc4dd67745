"""Section forces at the nodes as frames have them, against statics by hand: a cantilever with a load at its end, in the
plane and in space, and a hanging bar with weight; cells of two lengths. Argument: the program."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import vtk_readback  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
LENGTH, WIDTH, HEIGHT, AREA = 2.0, 0.1, 0.05, 0.005
CASE = """
mesh:
  beam:
    type: frame
    points: {{ start: [0, 0, 0], middle: [0.5, 0, 0], end: [2, 0, 0] }}
    members: [[start, middle], [middle, end]]
    elements: 3
elements:
  beam: {{ type: {kind}, mesh: beam, E: 1.0e+15, nu: 0.3, rho: 1000,
          section: {{ type: rectangle, width: 0.1, height: 0.05 }}{more} }}
supports:
  wall: {{ set: beam.start, fix: [{fix}] }}
loads:
  {load}
scheme: {{ type: moreau_jean, theta: 1.0 }}
time: {{ step: 1.0e-3, end: 1.0 }}
"""
SPACE = ", orientation: [0, 1, 0]"
PLANE = "x, y, rz"
ALL = "x, y, z, rx, ry, rz"


def solve(folder, kind, load, fix, more=""):
    """The last frame of statics."""
    case = folder / f"{kind}.yaml"
    case.write_text(CASE.format(kind=kind, load=load, fix=fix, more=more))
    done = subprocess.run([PROGRAM, "statics", case, "-o", folder / kind, "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = json.loads((folder / kind / f"{kind}_statics.vtk.series").read_text())["files"]
    return vtk_readback.read_frame(folder / kind / files[-1]["name"])


def near(frame, name, wanted, scale):
    """At all nodes, along the beam; `wanted` is a function of x."""
    x, found = frame["points"][:, 0], frame["arrays"]["point", name][:, 0]
    wanted = wanted(x) + 0.0 * x
    assert abs(found - wanted).max() < 1e-6 * scale, (name, found, wanted)


def check_cantilever(folder):
    """A load (Fx, Fy, Fz) at the end: Mz = Fy (L - x), My = -Fz (L - x) about the axes of the section."""
    z_stress, y_stress = 6.0 / (WIDTH * HEIGHT ** 2), 6.0 / (HEIGHT * WIDTH ** 2)  # of a moment of one
    for kind in "beam_timo_2d", "beam_exact_2d":
        frame = solve(folder, kind, "tip: { type: force, set: beam.end, value: [7, -3, 0] }", PLANE)
        near(frame, "bending_moment", lambda x: -3.0 * (LENGTH - x), 6.0)
        near(frame, "shear_force", lambda x: -3.0, 3.0)
        near(frame, "axial_force", lambda x: 7.0, 7.0)
        near(frame, "bending_stress", lambda x: 3.0 * z_stress * (LENGTH - x), 6.0 * z_stress)
    for kind in "beam_timo_3d", "beam_exact_3d":
        frame = solve(folder, kind, "tip: { type: force, set: beam.end, value: [7, -3, 2] }", ALL, SPACE)
        near(frame, "moment_z", lambda x: -3.0 * (LENGTH - x), 6.0)
        near(frame, "moment_y", lambda x: -2.0 * (LENGTH - x), 4.0)
        near(frame, "shear_y", lambda x: -3.0, 3.0)
        near(frame, "shear_z", lambda x: 2.0, 2.0)
        near(frame, "bending_moment", lambda x: numpy.hypot(3.0, 2.0) * (LENGTH - x), 7.0)
        near(frame, "bending_stress", lambda x: (3.0 * z_stress + 2.0 * y_stress) * (LENGTH - x), 6.0 * z_stress)
        assert ("point", "shear_force") not in frame["arrays"]  # a size has no sign to go on with


def check_weight(folder):
    """N = rho A g (L - x): linear, and nothing at the free end."""
    frame = solve(folder, "beam_timo_2d", "weight: { type: gravity, g: [10, 0, 0] }", PLANE)
    weight = 1000.0 * AREA * 10.0
    near(frame, "axial_force", lambda x: weight * (LENGTH - x), weight * LENGTH)
    near(frame, "stress", lambda x: weight / AREA * (LENGTH - x), weight / AREA * LENGTH)


def check_branches(folder):
    """Where members branch there is no one value at a node."""
    done = subprocess.run([PROGRAM, "run", "cases/frame_lattice", "-o", folder / "lattice", "--quiet", "--set",
                           "time.end=1.1e-5", "--set", "output.frames.every=1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = sorted((folder / "lattice").glob("frame_lattice_0*.vtk"))
    frame = vtk_readback.read_frame(files[0])
    assert ("cell", "axial_force") in frame["arrays"] and ("point", "axial_force") not in frame["arrays"]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_cantilever(folder)
        check_weight(folder)
        check_branches(folder)


if __name__ == "__main__":
    main()
