"""obstacles.vtk as VTK reads it: planes, cylinders, bores and held bearings lie where the contacts are, closed, as
large as the nodes come near; frames by window, near contacts, by fields and in single precision; what the summary tells
of them; and the command for pictures. Argument: the program."""

import json
import os
import pathlib
import sys
import tempfile

import numpy

import program
import vtk_readback
from program import percuss
from vtk_readback import vtkFeatureEdges, vtkPolyData, vtkPolyDataReader, vtk_to_numpy

if not program.has_tools():
    print("the library cannot be loaded by Python: frames are not viewed")
    sys.exit(77)

NORMAL = numpy.array([0.6, 0.8, 0.0])  # of the tilted plane
POINT = numpy.array([0.0, -0.2, 0.0])
CASE = """
mesh:
  ball: { type: point, at: [0, 0, 0] }
  pin: { type: point, at: [5, 0, 0] }
  drum: { type: point, at: [0, 7, 0] }
  shaft: { type: point, at: [9, 9, 0] }
  house: { type: point, at: [9, 9.01, 0.5] }
  free_shaft: { type: point, at: [12, 9, 0] }
  free_house: { type: point, at: [12, 9, 0] }
elements:
  ball: { type: point_mass, mesh: ball, mass: 1.0 }
  pin: { type: point_mass, mesh: pin, mass: 1.0 }
  drum: { type: point_mass, mesh: drum, mass: 1.0 }
  shaft: { type: point_mass, mesh: shaft, mass: 1.0 }
  house: { type: point_mass, mesh: house, mass: 1.0 }
  free_shaft: { type: point_mass, mesh: free_shaft, mass: 1.0 }
  free_house: { type: point_mass, mesh: free_house, mass: 1.0 }
initial:
  - { set: ball, velocity: [-0.6, -0.8, 0.3] }
  - { set: pin, velocity: [0, 1, 0] }
  - { set: free_house, velocity: [1, 2, 3] }
  - { set: free_shaft, velocity: [1, 2, 3] }
supports:
  house: { set: house, fix: [x, y, z] }
contacts:
  slope: { type: node_plane, nodes: ball, point: [0, -0.2, 0], normal: [3, 4, 0], restitution: 1.0 }
  bore: { type: node_circle, nodes: pin, centre: [5, 0, 0.1], axis: [0, 0, 2], radius: 0.3, node_radius: 0.1,
          side: inside, restitution: 1.0 }
  post: { type: node_circle, nodes: drum, centre: [0, 8, 0], axis: [1, 0, 0], radius: 0.4, side: outside,
          restitution: 1.0 }
  bearing: { type: journal, nodes: shaft, housing: house, axis: [0, 0, 1], radius: 0.2, node_radius: 0.1,
             restitution: 0.0 }
  moving: { type: journal, nodes: free_shaft, housing: free_house, axis: [0, 0, 1], radius: 0.2, node_radius: 0.1,
            restitution: 0.0 }
scheme: { type: moreau_jean, theta: 0.5 }
time: { step: 1.0e-3, end: 0.5 }
output:
  frames: { every: 10 }
"""


def run(case, folder, *settings):
    done = percuss("run", case, "-o", folder, "--quiet", *[word for s in settings for word in ("--set", s)])
    assert done.returncode == 0, done.stderr
    return folder


PARTS = """
mesh:
  body: { type: point, at: [1, 0, 0] }
  carriage: { type: point, at: [0, 3, 0] }
  one: { type: point, at: [0, 5, 0] }
  two: { type: point, at: [0.5, 5, 0] }
  three: { type: point, at: [0, 7, 0] }
  four: { type: point, at: [0, 7, 1] }
  five: { type: point, at: [0, 9, 0] }
  wheel: { type: point, at: [0, 11, 0] }
elements:
  body: { type: rigid_body_3d, mesh: body, mass: 1.0, inertia: [0.1, 0.2, 0.3] }
  carriage: { type: rigid_body_3d, mesh: carriage, mass: 1.0, inertia: [0.1, 0.2, 0.3] }
  one: { type: point_mass, mesh: one, mass: 1.0 }
  two: { type: point_mass, mesh: two, mass: 1.0 }
  three: { type: rigid_body_3d, mesh: three, mass: 1.0, inertia: [0.1, 0.2, 0.3] }
  four: { type: point_mass, mesh: four, mass: 1.0 }
  five: { type: rigid_body_3d, mesh: five, mass: 1.0, inertia: [0.1, 0.2, 0.3] }
  wheel: { type: disc, mesh: wheel, mass: 3.0, inertia: [0.24, 0.13, 0.13], axis: [1, 0, 0], speed: 0.0 }
joints:
  socket: { type: ball, node: body, at: [0, 0, 0] }
  guide: { type: slider, node: carriage, axis: [1, 0, 0] }
  rod: { type: distance, a: one, b: two }
  link: { type: rigid_link, a: three, nodes: four }
  pin: { type: hinge, node: five, at: [0, 9, 0.5], axis: [0, 1, 0] }
  push: { type: prescribed, node: carriage, along: x, speed: 1.0 }
initial:
  - { set: body, velocity: [0, 2, 0], spin: [0, 0, 2] }
  - { set: carriage, velocity: [1, 0, 0] }
  - { set: two, velocity: [0, 1, 0] }
  - { set: three, spin: [1, 0, 0] }
  - { set: four, velocity: [0, -1, 0] }
  - { set: five, velocity: [-0.5, 0, 0], spin: [0, 1, 0] }
  - { set: wheel, velocity: [0, 0, 1] }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-3, end: 0.5 }
output:
  frames: { every: 100 }
"""


POINTS = """
mesh:
  bar: { type: point, at: [0, 0, 1] }
  coin: { type: point, at: [3, 0, 0.2] }
  post: { type: point, at: [0, 2, 1] }
  a: { type: point, at: [6, 0, 0] }
  b: { type: point, at: [7, 0, 0] }
  spring: { type: link, a: post, b: bar }
  d: { type: point, at: [9, 0, 0] }
  foot: { type: point, nodes: d }
  beam: { type: line, from: [12, 0, 0], to: [13, 0, 0], elements: 2 }
  tie: { type: link, a: beam.end, b: beam.start }
elements:
  bar: { type: rigid_body_3d, mesh: bar, mass: 1.0, inertia: [0.1, 0.1, 0.1] }
  coin: { type: rigid_body_3d, mesh: coin, mass: 1.0, inertia: [0.1, 0.1, 0.1] }
  post: { type: point_mass, mesh: post, mass: 1.0 }
  a: { type: rigid_body_3d, mesh: a, mass: 1.0, inertia: [0.1, 0.1, 0.1] }
  b: { type: rigid_body_3d, mesh: b, mass: 1.0, inertia: [0.1, 0.1, 0.1] }
  spring: { type: spring_damper, mesh: spring, damper: 0.0, offset_b: [0, 0.2, 0] }
  d: { type: rigid_body_3d, mesh: d, mass: 1.0, inertia: [0.1, 0.2, 0.1] }
  foot: { type: mount, mesh: foot, stiffness: [1, 2, 3], angles: finite, offset: [0.1, 0.2, 0.3] }
  beam: { type: beam_timo_2d, mesh: beam, E: 1.0e+9, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: 0.02 } }
  tie: { type: spring_damper, mesh: tie, stiffness: 10.0, in: plane, angles: small, offset_a: [0, 0.1, 0] }
supports: { post: { set: post, fix: [x, y, z] } }
joints:
  left: { type: hinge, node: a, axis: [0, 0, 1] }
  right: { type: hinge, node: b, axis: [0, 0, 1] }
  teeth: { type: gear, a: a, b: b, teeth_a: 30, teeth_b: 20, axis_a: [0, 0, 1], at: [6.6, 0, 0] }
initial:
  - { set: bar, spin: [0, 0, 2] }
  - { set: coin, spin: [0, 0, 3] }
  - { set: d, spin: [3, -1, 2] }
  - { set: beam.end, velocity: [0, 1, 0] }
contacts:
  floor: { type: node_plane, nodes: bar, offsets: [[0.3, 0.1, 0], [-0.3, 0.1, 0]], point: [0, 0, 0],
           normal: [0, 0, 1], restitution: 0 }
  edge: { type: disc_plane, nodes: coin, axis: [0, 1, 0], radius: 0.2, point: [0, 0, -1], normal: [0, 0, 1],
          restitution: 0 }
scheme: { type: alpha_ggl, rho_inf: 0.8 }
time: { step: 1.0e-2, end: 0.5 }
output: { frames: { every: 10 } }
"""


def read_obstacles(folder, name="obstacles.vtk"):
    """A dict of contact number to (points, polygons as a surface)."""
    reader = vtkPolyDataReader()
    reader.SetFileName(str(folder / name))
    reader.Update()
    whole, found = reader.GetOutput(), {}
    numbers = vtk_to_numpy(whole.GetCellData().GetArray("contact"))
    for contact in sorted(set(numbers)):
        part, ids = vtkPolyData(), set()
        part.SetPoints(whole.GetPoints())
        part.Allocate()
        for cell in numpy.flatnonzero(numbers == contact):
            corners = whole.GetCell(int(cell)).GetPointIds()
            part.InsertNextCell(whole.GetCellType(int(cell)), corners)
            ids |= {corners.GetId(i) for i in range(corners.GetNumberOfIds())}
        found[int(contact)] = vtk_to_numpy(whole.GetPoints().GetData())[sorted(ids)], part
    return found


def open_edges(surface):
    edges = vtkFeatureEdges()
    edges.SetInputData(surface)
    edges.BoundaryEdgesOn()
    edges.NonManifoldEdgesOn()
    edges.FeatureEdgesOff()
    edges.ManifoldEdgesOff()
    edges.Update()
    return edges.GetOutput().GetNumberOfCells()


def positions(folder, point):
    files = json.loads((folder / "shapes.vtk.series").read_text())["files"]
    return numpy.array([vtk_readback.read_frame(folder / f["name"])["points"][point] for f in files])


def check_plane(points, path):
    """The front lies in the plane, the back behind it, and the ball is over it all the way near it."""
    height = (points - POINT) @ NORMAL
    front = abs(height) < 1e-12
    assert front.sum() == 4 and (height[~front] < -1e-3).all(), height
    across = numpy.array([-NORMAL[1], NORMAL[0], 0.0])
    for axis in (across, numpy.array([0.0, 0.0, 1.0])):
        assert (points[front] @ axis).min() < (path @ axis).min() and (points[front] @ axis).max() > (path @ axis).max()


def check_round(points, centre, axis, radius, path):
    arm = points - centre
    along = arm @ axis
    distance = numpy.linalg.norm(arm - numpy.outer(along, axis), axis=1)
    surface = abs(distance - radius) < 1e-12
    assert surface.any() and (distance[~surface] > radius + 1e-3).all(), distance
    assert along.min() < ((path - centre) @ axis).min() and along.max() > ((path - centre) @ axis).max()
    return surface


def check_shapes(folder):
    case = folder / "shapes.yaml"
    case.write_text(CASE)
    results = run(case, folder / "shapes")
    found = read_obstacles(results)
    assert sorted(found) == [0, 1, 2, 3], sorted(found)  # the bearing that moves is none
    assert all(open_edges(surface) == 0 for _, surface in found.values())
    x, z = numpy.array([1.0, 0, 0]), numpy.array([0, 0, 1.0])
    check_plane(found[0][0], positions(results, 0))
    assert not check_round(found[1][0], [5, 0, 0.1], z, 0.3, positions(results, 1)).all()  # a wall round the bore
    assert check_round(found[2][0], [0, 8, 0], x, 0.4, positions(results, 2)).all()
    check_round(found[3][0], [9, 9.01, 0.5], z, 0.2, positions(results, 3))
    # The bearing that moves is beside every frame, where its node is then.
    files = json.loads((results / "obstacles.vtk.series").read_text())["files"]
    assert [f["time"] for f in files] == [f["time"] for f in json.loads(
        (results / "shapes.vtk.series").read_text())["files"]] and len(files) > 10
    for f, house in zip(files, positions(results, 6)):
        carried = read_obstacles(results, f["name"])
        assert sorted(carried) == [4] and open_edges(carried[4][1]) == 0
        assert abs(house - [12, 9, 0] - f["time"] * numpy.array([1, 2, 3])).max() < 1e-9, house
        check_round(carried[4][0], house, z, 0.2, house[None, :])
    run(case, results, "output.frames.every=0")
    assert not (results / "obstacles.vtk").exists() and not list(results.glob("obstacles_*"))


def middle(points):
    return 0.5 * (points.min(axis=0) + points.max(axis=0))


def check_rod(points, a, b):
    """One ring about a and one about b."""
    along = (points - a) @ (b - a) / numpy.sum((b - a) ** 2)
    assert abs(numpy.sort(along) - numpy.repeat([0.0, 1.0], len(along) // 2)).max() < 1e-6, along


def check_riders(read, turn):
    """The spring, the mount and the spring of the beam end at points of their own, which ride on the nodes."""
    x, cells = read["points"], read["cells"]
    velocity, rotation = (read["arrays"]["point", name] for name in ("velocity", "rotation"))
    assert cells[5][0] == 2 and cells[6] == [5] and len(cells) == 11 and len(x) == 9 + 3, cells
    spring, foot, tie = cells[5][1], cells[7][0], cells[10][0]
    assert sorted((spring, foot, tie)) == [9, 10, 11] and cells[7] == [foot] and cells[10][1] == cells[8][0]
    arm = turn @ [0, 0.2, 0]
    assert abs(x[spring] - x[0] - arm).max() < 1e-12 and (rotation[spring] == rotation[0]).all()
    assert abs(velocity[spring] - velocity[0] - numpy.cross([0, 0, 2.0], arm)).max() < 1e-9
    angle = numpy.linalg.norm(rotation[5])
    axis = rotation[5] / angle if angle > 0 else numpy.array([1.0, 0, 0])
    arm, along = numpy.array([0.1, 0.2, 0.3]), axis @ [0.1, 0.2, 0.3] * axis
    arm = along + (arm - along) * numpy.cos(angle) + numpy.cross(axis, arm) * numpy.sin(angle)
    assert abs(x[foot] - x[5] - arm).max() < 1e-12 and abs((velocity[foot] - velocity[5]) @ arm).max() < 1e-12
    assert numpy.linalg.norm(velocity[foot] - velocity[5]) > 0.1
    beam = cells[9][1]  # turns little: its arm of 0.1 m stays as long across as it is
    assert abs(x[tie] - x[beam] - [-0.1 * rotation[beam][2], 0.1, 0]).max() < 1e-12


def check_points(folder):
    """Discs that roll, wheels of gears, arms of points that touch, springs between points: in their places, turned."""
    case = folder / "points.yaml"
    case.write_text(POINTS)
    results = run(case, folder / "points")
    files = json.loads((results / "obstacles.vtk.series").read_text())["files"]
    frames = json.loads((results / "points.vtk.series").read_text())["files"]
    for f, frame in zip(files, frames):
        found, read = read_obstacles(results, f["name"]), vtk_readback.read_frame(results / frame["name"])
        x, turns = read["points"], read["arrays"]["point", "rotation"]
        points = {number: p for number, (p, _) in found.items()}
        angle = turns[0][2]
        cosine, sine = numpy.cos(angle), numpy.sin(angle)
        turn = numpy.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
        assert abs(angle - 2.0 * f["time"]) < 1e-9
        ring = len(points[0]) // 4
        for i, offset in enumerate(([0.3, 0.1, 0], [-0.3, 0.1, 0])):
            check_rod(points[0][2 * ring * i:2 * ring * (i + 1)], x[0], x[0] + turn @ offset)
        arm = points[1] - x[1]  # the coin: radius 0.2, its axis along y turns with it about z
        axis = numpy.array([-numpy.sin(turns[1][2]), numpy.cos(turns[1][2]), 0])
        assert abs(turns[1][2] - 3.0 * f["time"]) < 1e-9 and abs(abs(arm @ axis) - 0.002).max() < 1e-9
        assert abs(numpy.sum(arm ** 2, axis=1) - 0.2 ** 2 - 0.002 ** 2).max() < 1e-9
        check_rod(points[-1][:2 * ring], x[0], x[0] + turn @ [0, 0.2, 0])  # the arm of the spring
        check_riders(read, turn)
        wheels = points[4].reshape(2, -1, 3)
        for centre, radius, wheel in zip(x[3:5], (0.6, 0.4), wheels):
            assert abs(numpy.hypot(*(wheel - centre)[:, :2].T) - radius).max() < 1e-9


def check_parts(folder):
    """Joints and discs move and turn with their nodes: numbers 0 to 5 are the joints, -1 the disc."""
    case = folder / "parts.yaml"
    case.write_text(PARTS)
    results = run(case, folder / "parts")
    assert not (results / "obstacles.vtk").exists()
    files = json.loads((results / "obstacles.vtk.series").read_text())["files"]
    frames = json.loads((results / "parts.vtk.series").read_text())["files"]
    assert len(files) == len(frames) == 6
    for f, frame in zip(files, frames):
        found, x = read_obstacles(results, f["name"]), vtk_readback.read_frame(results / frame["name"])["points"]
        assert sorted(found) == [-1, 0, 1, 2, 3, 4, 5] and all(open_edges(s) == 0 for _, s in found.values())
        points = {number: p for number, (p, _) in found.items()}
        ring = len(points[4]) // 4  # a pin and its arm have two rings each
        for number, node, at in (0, 0, [0, 0, 0]), (4, 6, [0, 9, 0.5]):
            points[number], arm = points[number][:-2 * ring], points[number][-2 * ring:]
            check_rod(arm, x[node], numpy.array(at))
        assert abs(middle(points[0])).max() < 1e-6, middle(points[0])  # the point turns with its body
        assert abs(middle(points[1]) - x[1]).max() < 1e-9 and abs(x[1][0] - f["time"]) < 1e-6
        for number, a, b in (2, 2, 3), (3, 4, 5):
            check_rod(points[number], x[a], x[b])
        assert abs(middle(points[4]) - [0, 9, 0.5]).max() < 1e-6 and numpy.ptp(points[4], axis=0).argmax() == 1
        assert abs(middle(points[5]) - x[1]).max() < 1e-9
        check_disc(points[-1], x[7])


def check_disc(points, centre):
    """Of mass 3 and inertia 0.24 and 0.13: r^2 = 0.16, h^2 = 12 (0.13 - 0.12)/3."""
    arm = points - centre
    assert abs(numpy.hypot(arm[:, 1], arm[:, 2]) - 0.4).max() < 1e-9
    assert abs(abs(arm[:, 0]) - 0.1).max() < 1e-9, arm[:, 0]


def check_stop(folder):
    """A stop is drawn where the pendulum comes near it, not along its whole way; the summary tells the scale."""
    results = run("cases/beam_pendulum", folder / "pendulum")
    points = read_obstacles(results)[0][0]
    # Its pivot stays where it is, and takes one file.
    assert [path.name for path in results.glob("obstacles_*")] == ["obstacles_000000.vtk"]
    assert abs(middle(read_obstacles(results, "obstacles_000000.vtk")[1][0])).max() < 1e-9
    files = json.loads((results / "beam_pendulum.vtk.series").read_text())["files"]
    frames = [vtk_readback.read_frame(results / f["name"]) for f in files]
    tip = numpy.array([frame["points"][-1] for frame in frames])
    near = tip[tip[:, 0] - 0.7071067811865476 < 0.1]
    assert points[:, 1].min() < near[:, 1].min() and near[:, 1].max() < points[:, 1].max() < -0.3, points
    seen = json.loads((results / "summary.json").read_text())["frames"]
    stress = numpy.array([frame["arrays"]["cell", "stress"] for frame in frames])
    low, high = seen["fields"]["stress"]["min"], seen["fields"]["stress"]["max"]
    assert (low, high, seen["drawn"]) == (stress.min(), stress.max(), len(frames)), seen
    assert files[abs(stress).max(axis=(1, 2)).argmax()]["time"] == seen["fields"]["stress"]["largest_time"]
    radius = frames[0]["arrays"]["point", "radius"]
    low = numpy.min([(frame["points"] - radius).min(axis=0) for frame in frames], axis=0)
    assert abs(low - seen["low"]).max() < 1e-15, seen["low"]


def check_thick_body(folder):
    """The obstacle of a bar that is thicker than its motion is wide shows round it."""
    points = read_obstacles(run("cases/bar_clamped", folder / "clamped", "time.end=0.1"))[0][0]
    radius = (1.0 / numpy.pi) ** 0.5
    assert (points[:, 1:].max(axis=0) > radius).all() and (points[:, 1:].min(axis=0) < -radius).all(), points


def times(results, stem):
    """Without their last digits, which are those of sums of steps and depend on the rounding mode."""
    return [round(f["time"], 12) for f in json.loads((results / f"{stem}.vtk.series").read_text())["files"]]


def check_choice(folder):
    """bar_impact closes in the step to 0.502 and opens in that to 1.172, in steps of 2 ms."""
    results = run("cases/bar_impact", folder / "choice", "output.frames.every=1",
                  "output.frames.window=[[0.498, 0.504], [1.168, 1.174]]", "output.frames.fields=[stress]",
                  "output.frames.precision=float")
    wanted = [0.498, 0.5, 0.502, 0.504, 1.168, 1.17, 1.172, 1.174]
    assert times(results, "bar_impact") == wanted, times(results, "bar_impact")
    # Of the contacts the first frame, those with a load, and the one that shows them open again.
    loaded = [0.498, 0.502, 0.504, 1.168, 1.17, 1.172]
    assert times(results, "contacts") == loaded, times(results, "contacts")
    assert len(list(results.glob("bar_impact_*.vtk"))) == len(wanted)
    whole = run("cases/bar_impact", folder / "whole", "output.frames.every=1")
    for number, time in enumerate(wanted):
        frame = vtk_readback.read_frame(results / f"bar_impact_{number:06d}.vtk")
        twin = vtk_readback.read_frame(whole / f"bar_impact_{round(time / 2e-3):06d}.vtk")
        arrays = {("point", "radius"), ("point", "stress"), ("cell", "stress")}
        assert set(frame["arrays"]) == arrays, frame["arrays"].keys()
        assert frame["time"] == twin["time"] and abs(twin["time"] - time) < 1e-12 and frame["step"] == twin["step"]
        assert frame["points"].dtype == frame["arrays"]["cell", "stress"].dtype == numpy.float32
        # Rounded to single precision, in whatever direction.
        for single, double in ((frame["points"], twin["points"]),
                               (frame["arrays"]["cell", "stress"], twin["arrays"]["cell", "stress"])):
            assert (abs(single.astype(float) - double) <= 2.0 ** -23 * abs(double) + 1e-45).all()
    window = run("cases/bar_impact", folder / "whole", "output.frames.every=10",
                 "output.frames.window=[[0.1, 0.14], [0.995, 1.04]]")
    assert times(window, "bar_impact") == [0.1, 0.12, 0.14, 1, 1.02, 1.04], times(window, "bar_impact")
    assert times(window, "contacts") == [0.1, 1, 1.02, 1.04], times(window, "contacts")
    # Asked for by themselves they are all there.
    whole = run("cases/bar_impact", folder / "whole", "output.contact_frames.every=30")
    assert times(whole, "contacts") == [round(0.06 * i, 12) for i in range(26)], times(whole, "contacts")


def check_refusals(folder):
    for setting, text in (("window=[0.1]", "must be [from, to]"), ("window=[[0.2, 0.1]]", "ends before it begins"),
                          ("fields=[strss]", "no 'strss'; it has displacement, velocity, axial_force, stress"),
                          ("precision=half", "precision")):
        done = percuss("run", "cases/bar_impact", "-o", folder / "bad", "--set", f"output.frames.{setting}")
        assert done.returncode == 2 and text in done.stderr, (setting, done.returncode, done.stderr)


def check_pictures(folder):
    """pvpython gets the script, the picture, the time and the field; without it the package is named."""
    results, tools, picture = folder / "pendulum", folder / "tools", folder / "out.png"
    tools.mkdir()
    alone = {"PATH": str(tools), "DISPLAY": ":0"}
    (tools / "pvpython").write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done > "$2"; echo end >> "$2"\n')
    (tools / "pvpython").chmod(0o755)
    for words, passed in ((), ["peak"]), (("--time", "0.25", "--field", "stress"), ["0.25", "stress"]):
        done = percuss("view", results, "-o", picture, *words, env=alone)
        assert done.returncode == 0, done.stderr
        # The script of the package, not the one that lies beside the results; pvpython breaks down at an empty word.
        script, drawn, *rest = picture.read_text().split("\n")
        assert os.path.samefile(script, "python/percuss/view.py") and rest == [*passed, "end", ""], (script, rest)
        assert drawn.endswith(".png") and not os.path.exists(os.path.dirname(drawn)), drawn
    # Without a screen one is made up.
    (tools / "xvfb-run").write_text('#!/bin/sh\nshift 3\necho made up\nexec "$@"\n')
    (tools / "xvfb-run").chmod(0o755)
    done = percuss("view", results, "-o", picture, env={"PATH": str(tools)})
    assert done.returncode == 0 and "made up" in done.stdout, (done.stdout, done.stderr)
    (tools / "pvpython").write_text("#!/bin/sh\nexit 0\n")
    picture.write_text("old")
    assert percuss("view", results, "-o", picture, env=alone).returncode == 1
    assert picture.read_text() == "old"  # until there is a new one
    assert percuss("view", results, "-o", folder / "out.bmp").returncode == 2


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_shapes(folder)
        check_parts(folder)
        check_points(folder)
        check_stop(folder)
        check_thick_body(folder)
        check_choice(folder)
        check_refusals(folder)
        check_pictures(folder)


if __name__ == "__main__":
    main()
