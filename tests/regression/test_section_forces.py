"""Section forces at the nodes as frames have them, against statics by hand: a cantilever with a load at its end, in the
plane and in space, a hanging bar with weight, and members that branch; cells of two lengths. Argument: the program."""

import itertools
import json
import pathlib
import tempfile

import numpy

import vtk_readback
from program import percuss

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


def run_statics(folder, name, text):
    """The last frame of a case."""
    case = folder / f"{name}.yaml"
    case.write_text(text)
    done = percuss("statics", case, "-o", folder / name, "--quiet")
    assert done.returncode == 0, done.stderr
    files = json.loads((folder / name / f"{name}_statics.vtk.series").read_text())["files"]
    return vtk_readback.read_frame(folder / name / files[-1]["name"])


def solve(folder, kind, load, fix, more=""):
    """The last frame of statics."""
    return run_statics(folder, kind, CASE.format(kind=kind, load=load, fix=fix, more=more))


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


FRAME = """
mesh:
  post: {{ type: line, from: [0, 0, 0], to: [0, 1, 0], elements: {count} }}
  left: {{ type: line, from: [-2, 1, 0], to: [0, 1, 0], elements: {count} }}
  right: {{ type: line, from: [3, 1, 0], to: [0, 1, 0], elements: {count} }}
merge: {{ corner: {{ sets: [post, left, right] }} }}
elements: {{ {elements} }}
supports: {{ ground: {{ set: post.start, fix: [x, y, rz] }} }}
loads:
  left: {{ type: force, set: left.start, value: [0, -3, 0] }}
  right: {{ type: force, set: right.start, value: [5, -7, 0] }}
scheme: {{ type: moreau_jean, theta: 1.0 }}
time: {{ step: 1.0e-3, end: 1.0 }}
"""


def check_branches(folder):
    """A post with two arms, of which one runs towards it: at the corner every member has forces of its own.

    The arms bring moments of 3 N times 2 m and 7 N times 3 m, the second one 5 N across the post of 1 m, too."""
    wanted = {"bending_moment": ((-20.0, -15.0), (0.0, -6.0), (0.0, 21.0)),
              "axial_force": ((-10.0, -10.0), (0.0, 0.0), (5.0, 5.0))}
    for kind, count in ("beam_timo_2d", 2), ("beam_timo_2d", 5), ("beam_exact_2d", 4):
        elements = ", ".join(f"{name}: {{ type: {kind}, mesh: {name}, E: 1.0e+15, nu: 0.3, rho: 1000, section: "
                             "{ type: rectangle, width: 0.1, height: 0.1 } }" for name in ("post", "left", "right"))
        frame = run_statics(folder, "frame", FRAME.format(count=count, elements=elements))
        cells = frame["cells"]
        assert len(frame["points"]) == 3 * (count + 1), "the corner is three points"
        for name, members in wanted.items():
            found = frame["arrays"]["point", name][:, 0]
            for member, ends in enumerate(members):
                at = cells[member * count][0], cells[(member + 1) * count - 1][1]
                assert abs(found[list(at)] - ends).max() < 2e-6, (kind, count, name, member, found[list(at)])


def check_tapered_branch(folder):
    """An arm begins at the corner, where it is 0.2 m high, and ends 0.1 m high: 21 N m act on the former section."""
    elements = ", ".join(f"{name}: {{ type: beam_timo_2d, mesh: {name}, E: 1.0e+15, nu: 0.3, rho: 1000, section: "
                         f"{{ type: rectangle, width: 0.1, height: {height} }} }}" for name, height in
                         (("post", 0.1), ("left", 0.1), ("right", "{ from: 0.2, to: 0.1 }")))
    text = FRAME.format(count=4, elements=elements).replace("from: [3, 1, 0], to: [0, 1, 0]",
                                                            "from: [0, 1, 0], to: [3, 1, 0]")
    frame = run_statics(folder, "tapered", text.replace("set: right.start", "set: right.end"))
    corner = frame["cells"][8][0]
    assert corner >= 13, "the node belongs to the post"
    moment, stress = (frame["arrays"]["point", name][corner, 0] for name in ("bending_moment", "bending_stress"))
    assert abs(moment + 21.0) < 2e-6 and abs(stress - 21.0 * 6.0 / (0.1 * 0.2 ** 2)) < 0.1, (moment, stress)


def check_round_section(folder):
    """The stress of a round section does not know in which direction it bends, nor where its axes are."""
    exact = 32.0 * 10.0 * LENGTH / (numpy.pi * 0.02 ** 3)
    for kind, angle, axis in itertools.product(("beam_timo_3d", "beam_exact_3d"), (20.0, 45.0, 80.0),
                                               ("[0, 1, 0]", "[0, 1, 1]")):
        across, up = 10.0 * numpy.cos(numpy.radians(angle)), 10.0 * numpy.sin(numpy.radians(angle))
        text = CASE.replace("type: rectangle, width: 0.1, height: 0.05", "type: circle, diameter: 0.02")
        frame = run_statics(folder, "round", text.format(kind=kind, fix=ALL, more=f", orientation: {axis}",
                            load=f"tip: {{ type: force, node: beam.end, value: [0, {across!r}, {up!r}] }}"))
        for place in ("point", "cell"):
            found = frame["arrays"][place, "bending_stress"].max()
            assert abs(found - exact) < 1e-6 * exact, (kind, angle, axis, place, found, exact)


def check_moments_at_both_ends(folder):
    """Moments about y and z that are largest at different ends of a cell act on different sections."""
    text = CASE.replace("elements: 3", "elements: 1").replace("[2, 0, 0] }", "[1, 0, 0] }")
    load = ("tip: {{ type: force, node: beam.end, value: [0, 10, 10] }}\n"
            "  turn: {{ type: moment, node: beam.end, value: [0, 10, 0] }}").replace("{{", "{").replace("}}", "}")
    frame = run_statics(folder, "ends", text.format(kind="beam_timo_3d", fix=ALL, more=SPACE, load=load))
    x = frame["points"][:, 0]
    y_stress, z_stress = 6.0 / (HEIGHT * WIDTH ** 2), 6.0 / (WIDTH * HEIGHT ** 2)
    for (first, last), found in zip(frame["cells"], frame["arrays"]["cell", "bending_stress"][:, 0]):
        ends = [z_stress * abs(10.0 * (1.0 - s)) + y_stress * abs(10.0 - 10.0 * (1.0 - s)) for s in x[[first, last]]]
        assert abs(found - max(ends)) < 1e-6 * z_stress, (found, ends)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_cantilever(folder)
        check_weight(folder)
        check_branches(folder)
        check_tapered_branch(folder)
        check_round_section(folder)
        check_moments_at_both_ends(folder)


if __name__ == "__main__":
    main()
