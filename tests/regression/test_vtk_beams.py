"""Frames of bodies that turn, as VTK reads them: rotations, radii for tubes, section axes, vertices for one-node cells.
Argument: the program."""

import json
import math
import pathlib
import tempfile

import numpy

import vtk_readback
from program import percuss

RATE = 2.0  # rad/s
CASE = """
mesh:
  beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 }
  body: { type: point, at: [3, 0, 0] }
elements:
  beam:
    type: beam_exact_3d
    mesh: beam
    E: 2.1e+11
    nu: 0.3
    rho: 7800.0
    orientation: [0, 1, 0]
    section: { type: circle, diameter: 0.04 }
  body: { type: rigid_body_3d, mesh: body, mass: 2.0, inertia: [0.1, 0.2, 0.3] }
initial:
  - { set: beam, spin: [2.0, 0, 0] }
  - { set: body, velocity: [0, 1.0, 0] }
scheme: { type: alpha_ggl }
time: { step: 1.0e-3, end: 0.1 }
output:
  frames: { every: 50 }
"""


def rotated_y(angle):
    return numpy.array([0.0, math.cos(angle), math.sin(angle)])


def check_frames(folder):
    series = json.loads((folder / "beams.vtk.series").read_text())["files"]
    assert len(series) == 3, series
    for entry in series:
        frame = vtk_readback.read_frame(folder / entry["name"])
        arrays, angle = frame["arrays"], RATE * entry["time"]
        assert [len(cell) for cell in frame["cells"]] == [2, 2, 2, 2, 1], frame["cells"]
        # The beam spins about its own axis; nothing bends.
        assert abs(arrays["point", "rotation"][:5] - [angle, 0.0, 0.0]).max() < 1e-9, arrays["point", "rotation"]
        assert abs(arrays["cell", "section_y"][:4] - rotated_y(angle)).max() < 1e-9, arrays["cell", "section_y"]
        assert abs(arrays["point", "radius"][:5] - 0.02).max() < 1e-15, arrays["point", "radius"]
        assert arrays["point", "radius"][5] == 0.0
        assert abs(frame["points"][5] - [3.0, entry["time"], 0.0]).max() < 1e-12, frame["points"][5]
        for name in ("axial_force", "moment_y", "moment_z", "torque"):
            assert ("cell", name) in arrays, sorted(arrays)


# A rib of two lines that meet, held beside its nodes: its axis is drawn, and turns with them.
RIB = """
mesh:
  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 3 }
  b: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 2 }
merge: { ab: { sets: [a.end, b.start] } }
sets: { rib: { cells: [a, b] } }
elements:
  rib: { type: beam_timo_3d, mesh: rib, E: 2.1e+11, nu: 0.3, rho: 7800.0, orientation: [0, 1, 0],
         section: { type: circle, diameter: 0.04 }, offset: [0, 0.1, 0.2] }
supports: { root: { set: a.start, fix: [x, y, z, rx, ry, rz] } }
loads: { tip: { type: moment, node: b.end, value: [500.0, 0, 900.0] } }
"""


def check_offsets(folder):
    (folder / "rib.yaml").write_text(RIB)
    run = percuss("statics", folder / "rib.yaml", "--output", folder / "rib")
    assert run.returncode == 0, run.stderr
    entry = json.loads((folder / "rib" / "rib_statics.vtk.series").read_text())["files"][-1]
    frame = vtk_readback.read_frame(folder / "rib" / entry["name"])
    nnode = 6
    x, turn, cells = frame["points"], frame["arrays"]["point", "rotation"], frame["cells"]
    # One line: a cell begins where that before ends, and beyond the nodes there are its points alone.
    assert len(x) == 2 * nnode and (numpy.array(cells)[1:, 0] == numpy.array(cells)[:-1, 1]).all(), cells
    assert min(min(cell) for cell in cells) == nnode
    order = [cells[0][0]] + [cell[1] for cell in cells]
    assert abs(turn[nnode - 1]).max() > 1e-3
    for node, point in enumerate(order):
        arm = numpy.array([0, 0.1, 0.2])
        assert (turn[point] == turn[node]).all()
        assert abs(x[point] - x[node] - arm - numpy.cross(turn[node], arm)).max() < 1e-12
    assert abs(frame["arrays"]["point", "radius"][nnode:] - 0.02).max() < 1e-15
    assert not (folder / "rib" / "obstacles.vtk.series").exists()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "beams.yaml").write_text(CASE)
        run = percuss("run", folder / "beams.yaml", "--output", folder / "results")
        assert run.returncode == 0, run.stderr
        check_frames(folder / "results")
        check_offsets(folder)


if __name__ == "__main__":
    main()
