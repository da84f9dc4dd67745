"""Frames of bodies that turn, as VTK reads them: rotations, radii for tubes, section axes, vertices for one-node cells,
and the ParaView script beside them. Argument: the program."""

import ast
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import vtk_readback  # noqa: E402

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


def check_script(folder):
    tree = ast.parse((folder / "view.py").read_text())
    values = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    body = values["BODY"].value + ".vtk.series"
    assert (folder / body).exists(), body
    colours = [element.value for element in values["COLOURS"].elts]
    frame = vtk_readback.read_frame(folder / "beams_000000.vtk")
    assert any(("cell", name) in frame["arrays"] for name in colours), colours


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "beams.yaml").write_text(CASE)
        command = [program, "run", str(folder / "beams.yaml"), "--output", str(folder / "results")]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert "view.py" in run.stdout
        check_frames(folder / "results")
        check_script(folder / "results")


if __name__ == "__main__":
    main()
