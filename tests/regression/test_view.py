"""view.py and percuss view: which frames a movie shows and what makes it, what is missing by name, what colours show,
sections, masses, modes and equilibria, names of folders. A module stands in for ParaView's. Argument: the program."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

import program
import vtk_readback
from program import percuss

if not program.has_tools():
    print("the library cannot be loaded by Python: views are not tested")
    sys.exit(77)

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
RECORDER = '#!/bin/sh\nfor word in "$@"; do echo "$word"; last=$word; done > "$WORDS"\necho movie > "$last"\n'
PVPYTHON = f'#!/bin/sh\nPYTHONPATH={SUPPORT} exec {sys.executable} "$@"\n'


def run(case, folder, *settings):
    done = percuss("run", case, "-o", folder, "--quiet", *[word for s in settings for word in ("--set", s)])
    assert done.returncode == 0, done.stderr
    return folder


def add_program(tools, name, text):
    tools.mkdir(exist_ok=True)
    (tools / name).write_text(text)
    (tools / name).chmod(0o755)


def draw(folder, results, picture, *words):
    """What the stand-in drew, the words for ffmpeg, and how it ended."""
    for name in "drawn", "words":
        (folder / name).unlink(missing_ok=True)
    env = {"PATH": f"{folder / 'tools'}:/bin:/usr/bin", "DISPLAY": ":0", "DRAWN": str(folder / "drawn"),
           "WORDS": str(folder / "words")}
    done = percuss("view", results, "-o", picture, *words, env=env)
    drawn = (folder / "drawn").read_text().splitlines() if (folder / "drawn").exists() else []
    asked = (folder / "words").read_text().split() if (folder / "words").exists() else []
    return [json.loads(line) for line in drawn], asked, done


def times(results, stem):
    return [f["time"] for f in json.loads((results / f"{stem}.vtk.series").read_text())["files"]]


def check_movie(folder, results):
    for ending, codec in ("webm", "libvpx-vp9"), ("gif", "palettegen"):
        movie = folder / f"movie.{ending}"
        drawn, words, done = draw(folder, results, movie)
        assert done.returncode == 0 and movie.read_text() == "movie\n", done.stderr
        assert [d["time"] for d in drawn] == times(results, "bar_impact"), [d["time"] for d in drawn]
        assert [d["picture"] for d in drawn] == [f"{i:06d}.png" for i in range(len(drawn))]
        assert any(codec in word for word in words) and words[-1].endswith(f"drawn.{ending}"), words
        assert words[words.index("-framerate") + 1] == "10", words


def check_colours(folder, results):
    """Smooth fields first; -a .. a in two colours where there are both signs; the bounds are those of the whole run."""
    files = json.loads((results / "bar_impact.vtk.series").read_text())["files"]
    frames = [vtk_readback.read_frame(results / f["name"]) for f in files]
    for field, place, preset in ((None, "POINTS", "Cool to Warm"), ("strain_energy", "CELLS", "Viridis (matplotlib)")):
        drawn, _, done = draw(folder, results, folder / "out.png", *(("--field", field) if field else ()))
        assert done.returncode == 0 and len(drawn) == 1, done.stderr
        name, colours = field or "stress", drawn[0]["colours"]
        key = "point" if place == "POINTS" else "cell", name
        largest = max(abs(frame["arrays"][key]).max() for frame in frames)
        kind, function, factor = drawn[0]["field"]
        assert (kind, function) == ("Point Data" if place == "POINTS" else "Cell Data", name), drawn[0]["field"]
        shown = largest * float(factor)
        wanted = {"place": place, "name": "shown", "preset": preset, "high": shown,
                  "low": -shown if preset == "Cool to Warm" else 0.0}
        assert colours == wanted and 0.1 <= shown < 1000.0, (colours, wanted)
        assert drawn[0]["background"] == [1.0, 1.0, 1.0] and drawn[0]["title"].endswith(("Pa", "J")), drawn[0]["title"]
    for field, function, index in (("velocity", "mag(velocity)", None), ("displacement.y", "displacement_Y", 1)):
        drawn, _, done = draw(folder, results, folder / "out.png", "--field", field)
        name, colours = field.partition(".")[0], drawn[0]["colours"]
        vectors = numpy.concatenate([frame["arrays"]["point", name] for frame in frames])
        seen = numpy.linalg.norm(vectors, axis=1) if index is None else vectors[:, index]
        assert done.returncode == 0 and drawn[0]["field"][1] == function, drawn[0]["field"]
        largest = (abs(seen).max() or 1.0) * float(drawn[0]["field"][2])
        assert abs(colours["high"] - largest) < 1e-14 * largest, (colours, largest)
        assert colours["low"] == (-colours["high"] if seen.min() < 0.0 else 0.0), colours
        unit = "m/s" if name == "velocity" else "m"
        assert drawn[0]["title"] == field.replace(".", " ") + ", " + unit, drawn[0]["title"]
    _, _, done = draw(folder, results, folder / "out.png", "--field", "velocity.q")
    assert done.returncode == 1 and "velocity, velocity.x, velocity.y" in done.stderr, done.stderr
    _, _, done = draw(folder, results, folder / "out.png", "--field", "strss")
    assert done.returncode == 1 and "have no field 'strss'; they have: axial_force, displacement" in done.stderr


def check_camera(folder):
    """Body, obstacles and the largest arrow fill the picture between text and scale; arrows are in front and their
    size is told."""
    results = run("cases/beam_pendulum", folder / "pendulum")
    drawn, _, done = draw(folder, results, folder / "out.png")
    assert done.returncode == 0 and drawn[0]["shown"][0] == "obstacles" and "arrows in front" in drawn[0]["shown"]
    view, summary = drawn[0], json.loads((results / "summary.json").read_text())
    up, towards = numpy.array(view["up"]), numpy.subtract(view["position"], view["focus"])
    right = numpy.cross(up, towards / numpy.linalg.norm(towards))
    assert abs(up - [0.0, 1.0, 0.0]).max() < 1e-12 and abs(right - [1.0, 0.0, 0.0]).max() < 1e-12, (up, right)
    files = json.loads((results / "beam_pendulum.vtk.series").read_text())["files"]
    body = vtk_readback.read_frame(results / next(f["name"] for f in files if f["time"] >= view["time"] - 1e-12))
    thick = body["arrays"]["point", "radius"].max()
    low, high = body["points"].min(axis=0) - thick, body["points"].max(axis=0) + thick
    size = numpy.linalg.norm(high - low)
    contact = [0.5 ** 0.5, -(0.5 ** 0.5), 0.0]  # of the tip at the stop
    points = [*body["points"], numpy.subtract(contact, [0.2 * size, 0.0, 0.0])]
    stop = vtk_readback.vtkPolyDataReader()
    stop.SetFileName(str(results / "obstacles.vtk"))
    stop.Update()
    points += [stop.GetOutput().GetPoint(i) for i in range(stop.GetOutput().GetNumberOfPoints())]
    width, height = view["size"]
    pixels = 0.5 * height / view["scale"]
    x, y = (numpy.subtract(points, view["focus"]) @ axis * pixels for axis in (right, up))
    assert abs(x).max() < 0.5 * width and -0.5 * height + 110 <= y.min() and y.max() <= 0.5 * height - 50, (x, y)
    filled = max(numpy.ptp(x) / width, numpy.ptp(y) / (height - 160))
    assert 0.85 < filled <= 1.0, filled
    assert numpy.dot(view["shift"], towards) > size * numpy.linalg.norm(towards)  # and straight towards the camera
    assert numpy.linalg.norm(numpy.cross(view["shift"], towards)) < 1e-9 * size * numpy.linalg.norm(towards)
    peak = summary["contacts"][0]["peak_force_time"]
    files = json.loads((results / "contacts.vtk.series").read_text())["files"]
    frame = vtk_readback.read_frame(results / next(f["name"] for f in files if f["time"] >= peak - 1e-9))
    force = numpy.linalg.norm(frame["arrays"]["point", "force_vector"], axis=1).max()
    assert abs(view["arrow"] * force - 0.2 * size) < 1e-9 * size, view["arrow"]
    assert view["text"].endswith(f", contact forces: longest arrow {force:.3g} N"), view["text"]
    # Before it touches, and after it has left, there is no arrow to name.
    first, second = summary["contacts"][0]["intervals"][:2]
    for when in (0.5 * first["start"], 0.5 * (first["end"] + second["start"])):
        drawn, _, done = draw(folder, results, folder / "out.png", "--time", f"{when:g}")
        assert done.returncode == 0 and "arrow" not in drawn[0]["text"] + str(drawn[0]["shown"]), (when, drawn[0])


MASSES = """
mesh:
  flat: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 }
  round: { type: line, from: [0, 1, 0], to: [1, 1, 0], elements: 3 }
  weight: { type: point, at: [2, 0, 0] }
elements:
  flat: { type: beam_timo_3d, mesh: flat, E: 2.1e+11, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],
          section: { type: rectangle, width: 0.05, height: 0.02 } }
  round: { type: beam_timo_3d, mesh: round, E: 2.1e+11, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],
           section: { type: circle, diameter: 0.04 } }
  weight: { type: point_mass, mesh: weight, mass: 2.0 }
supports:
  root: { set: flat.start, fix: [x, y, z, rx, ry, rz] }
  other: { set: round.start, fix: [x, y, z, rx, ry, rz] }
  weight: { set: weight, fix: [x, y, z] }
loads: { tip: { type: force, node: flat.end, value: [0, 50.0, 0] } }
scheme: { type: alpha_ggl }
time: { step: 1.0e-4, end: 1.0e-3 }
"""


def check_shapes(folder):
    """Rectangles are boxes of their own size and direction, masses are spheres, the rest are tubes."""
    (folder / "shapes.yaml").write_text(MASSES)
    results = run(folder / "shapes.yaml", folder / "shapes")
    about = json.loads((results / "view.json").read_text())
    assert about == {"kind": "run", "frames": "shapes", "sections": [[0, 4, 0.02, 0.05]]}, about
    drawn, _, done = draw(folder, results, folder / "out.png")
    assert done.returncode == 0, done.stderr
    assert drawn[0]["shown"][:3] == ["rectangular sections", "tubes", "point masses"], drawn[0]["shown"]
    assert drawn[0]["picked"] == {"CELL": [4, 5, 6], "POINT": [9]}, drawn[0]["picked"]
    assert drawn[0]["boxes"].startswith("SECTIONS, TIMES = [[0, 4, 0.02, 0.05]], 1.0\n"), drawn[0]["boxes"][:80]
    corners = sweep(drawn[0]["boxes"], results / "shapes_000000.vtk")
    # From 0 to 1 m along x; z is up, along which the orientation lays the height of 20 mm.
    assert numpy.allclose(corners.min(axis=0), [0.0, -0.025, -0.01]), corners.min(axis=0)
    assert numpy.allclose(corners.max(axis=0), [1.0, 0.025, 0.01]), corners.max(axis=0)


def sweep(script, frame):
    """The corners that the filter makes of a frame, by VTK alone."""
    from vtkmodules.numpy_interface import dataset_adapter as dsa
    reader = vtk_readback.vtkDataSetReader()
    reader.SetFileName(str(frame))
    reader.ReadAllFieldsOn()
    reader.Update()
    output = dsa.WrapDataObject(vtk_readback.vtkPolyData())
    exec(script, {"inputs": [dsa.WrapDataObject(reader.GetOutput())], "output": output})
    assert output.GetNumberOfCells() == 6 * 4 and len(output.PointData["displacement"]) == 8 * 4
    return numpy.asarray(output.Points)


def check_still(folder):
    """Deformed over undeformed, in sizes that can be seen; modes have their frequency."""
    for command, words in ("statics", []), ("modes", ["--time", "2"]):
        results = folder / command
        done = percuss(command, folder / "shapes.yaml", "-q", "-o", results)
        assert done.returncode == 0, done.stderr
        drawn, _, done = draw(folder, results, folder / "out.png", *words)
        assert done.returncode == 0, done.stderr
        assert drawn[0]["warps"]["undeformed"] == -1.0, drawn[0]["warps"]
        assert command == "modes" or drawn[0]["warps"]["enlarged"] > 1.0, drawn[0]["warps"]
        assert (results / "view.py").read_bytes() == pathlib.Path("python/percuss/view.py").read_bytes()
    with open(folder / "modes" / "modes.csv") as file:
        frequency = float(file.read().splitlines()[2].split(",")[2])
    assert drawn[0]["text"] == f"mode 2: {frequency:.4g} Hz", drawn[0]["text"]
    assert drawn[0]["time"] == 2.0 and drawn[0]["title"] == "displacement, part of the largest", drawn[0]["title"]


def check_names(folder, results):
    """A script in the folder is not run, and no name of a folder breaks anything. Damaged files get one line."""
    wild = folder / "it's a \"<script>\"\n$(x) folder"
    shutil.copytree(results, wild)
    (wild / "view.py").write_text("raise SystemExit('foreign')\n")
    (folder / "keep.png").write_text("old")
    drawn, _, done = draw(folder, wild, folder / "keep.png")
    assert done.returncode == 0 and len(drawn) == 1, done.stderr
    assert (folder / "keep.png").read_bytes()[:4] == b"\x89PNG"
    (folder / "keep.png").write_text("old")
    for name, text in ("summary.json", "{"), ("view.json", "{\"frames\": \"no\"}"):
        kept = (wild / name).read_text()
        (wild / name).write_text(text)
        _, _, done = draw(folder, wild, folder / "keep.png")
        assert done.returncode in (1, 2) and "Traceback" not in done.stderr, done.stderr
        assert (folder / "keep.png").read_text() == "old"
        (wild / name).write_text(kept)
    (wild / "view.json").unlink()
    _, _, done = draw(folder, wild, folder / "keep.png")
    assert done.returncode == 2 and "there is no view.json" in done.stderr, done.stderr
    assert not [name for name in os.listdir(folder) if name.startswith(".view")]


def check_missing(folder, results):
    alone = {"PATH": str(folder / "none"), "DISPLAY": ":0"}
    add_program(folder / "none", "pvpython", "#!/bin/sh\nexit 0\n")
    (folder / "none" / "pvpython").unlink()
    done = percuss("view", results, "-o", folder / "movie.mp4", env=alone)
    assert done.returncode == 1 and "python3-paraview" in done.stderr, done.stderr
    # The script says so, too, when it is called by hand.
    done = subprocess.run([sys.executable, results / "view.py", folder / "movie.mp4"], capture_output=True, text=True,
                          env={"PATH": str(folder / "none"), "PYTHONPATH": str(SUPPORT), "DRAWN": "/dev/null"})
    assert done.returncode == 1 and "package ffmpeg" in done.stderr, done.stderr
    done = subprocess.run([sys.executable, results / "view.py", folder / "late.png", "99"], capture_output=True,
                          text=True, env={"PYTHONPATH": str(SUPPORT), "DRAWN": "/dev/null"})
    assert done.returncode == 1 and "no frame from t = 99 s on, the last one is at 1.5 s" in done.stderr, done.stderr
    done = percuss("view", results, "-o", folder / "movie.mp4", "--time", "peak")
    assert done.returncode == 2 and "--time is of pictures" in done.stderr, done.stderr


def check_packed(folder, results):
    """Compressed frames give the same picture."""
    packed = run("cases/bar_impact", folder / "packed", "output.frames.every=125", "output.frames.format=vtu")
    wanted, _, _ = draw(folder, results, folder / "out.png")
    drawn, _, done = draw(folder, packed, folder / "out.png")
    assert done.returncode == 0 and drawn == wanted and len(drawn) == 1, (done.stderr, drawn, wanted)


def check_real_movie(folder, results):
    """ffmpeg itself takes the pictures and the words."""
    if shutil.which("ffmpeg") is None:
        return
    (folder / "tools" / "ffmpeg").unlink()
    drawn, _, done = draw(folder, results, folder / "real.mp4")
    assert done.returncode == 0 and (folder / "real.mp4").read_bytes()[4:8] == b"ftyp", done.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        add_program(folder / "tools", "pvpython", PVPYTHON)
        add_program(folder / "tools", "ffmpeg", RECORDER)
        results = run("cases/bar_impact", folder / "bar", "output.frames.every=125")
        check_movie(folder, results)
        check_colours(folder, results)
        check_packed(folder, results)
        check_camera(folder)
        check_shapes(folder)
        check_still(folder)
        check_names(folder, results)
        check_missing(folder, results)
        check_real_movie(folder, results)


if __name__ == "__main__":
    main()
