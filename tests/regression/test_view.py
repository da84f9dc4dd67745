"""view.py and percuss view: which frames a movie shows and what makes it, what is missing by name, what colours show.
A module stands in for ParaView's; where ParaView is there it draws a picture. Argument: the program."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import vtk_readback  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
RECORDER = '#!/bin/sh\nfor word in "$@"; do echo "$word"; last=$word; done > "$WORDS"\necho movie > "$last"\n'
PVPYTHON = f'#!/bin/sh\nPYTHONPATH={SUPPORT} exec {sys.executable} "$@"\n'


def percuss(*arguments, **more):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, **more)


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
    for ending, codec in ("mp4", "libx264"), ("webm", "libvpx-vp9"), ("gif", "palettegen"):
        movie = folder / f"movie.{ending}"
        drawn, words, done = draw(folder, results, movie)
        assert done.returncode == 0 and movie.read_text() == "movie\n", done.stderr
        assert [d["time"] for d in drawn] == times(results, "bar_impact"), [d["time"] for d in drawn]
        assert [d["picture"] for d in drawn] == [f"{i:06d}.png" for i in range(len(drawn))]
        assert any(codec in word for word in words) and words[-1] == str(movie), words
        assert words[words.index("-framerate") + 1] == "10", words


def check_colours(folder, results):
    """Smooth fields first; -a .. a in two colours where there are both signs; the bounds are those of the whole run."""
    files = json.loads((results / "bar_impact.vtk.series").read_text())["files"]
    frames = [vtk_readback.read_frame(results / f["name"]) for f in files]
    for field, place, preset in (("stress", "POINTS", "Cool to Warm"), (None, "POINTS", "Cool to Warm"),
                                 ("strain_energy", "CELLS", "Viridis (matplotlib)")):
        drawn, _, done = draw(folder, results, folder / "out.png", *(("--field", field) if field else ()))
        assert done.returncode == 0 and len(drawn) == 1, done.stderr
        name, colours = field or "stress", drawn[0]["colours"]
        key = "point" if place == "POINTS" else "cell", name
        largest = max(abs(frame["arrays"][key]).max() for frame in frames)
        wanted = {"place": place, "name": name, "preset": preset, "high": largest,
                  "low": -largest if preset == "Cool to Warm" else 0.0}
        assert colours == wanted, (colours, wanted)
        assert drawn[0]["background"] == [1.0, 1.0, 1.0] and drawn[0]["title"].endswith(("Pa", "J"))
    for field, component, index in ("velocity", "Magnitude", None), ("velocity.x", "X", 0), ("displacement.y", "Y", 1):
        drawn, _, done = draw(folder, results, folder / "out.png", "--field", field)
        name, colours = field.partition(".")[0], drawn[0]["colours"]
        vectors = numpy.concatenate([frame["arrays"]["point", name] for frame in frames])
        seen = numpy.linalg.norm(vectors, axis=1) if index is None else vectors[:, index]
        assert done.returncode == 0 and (colours["name"], colours["component"]) == (name, component), colours
        largest = abs(seen).max() or 1.0
        assert abs(colours["high"] - largest) < 1e-14 * largest, (colours, largest)
        assert colours["low"] == (-colours["high"] if seen.min() < 0.0 else 0.0), colours
        unit = "m/s" if name == "velocity" else "m"
        assert drawn[0]["title"] == field.replace(".", " ") + ", " + unit, drawn[0]["title"]
    _, _, done = draw(folder, results, folder / "out.png", "--field", "velocity.q")
    assert done.returncode == 1 and "velocity, velocity.x, velocity.y" in done.stderr, done.stderr
    _, _, done = draw(folder, results, folder / "out.png", "--field", "strss")
    assert done.returncode == 1 and "have no field 'strss'; they have: axial_force, displacement" in done.stderr


def check_camera(folder):
    """The motion, obstacles and the largest arrow are in the picture, above the scale; arrows are in front."""
    results = run("cases/beam_pendulum", folder / "pendulum")
    drawn, _, done = draw(folder, results, folder / "out.png")
    assert done.returncode == 0 and drawn[0]["shown"][0] == "obstacles" and "arrows in front" in drawn[0]["shown"]
    view, seen = drawn[0], json.loads((results / "summary.json").read_text())["frames"]
    up, towards = numpy.array(view["up"]), numpy.subtract(view["position"], view["focus"])
    right = numpy.cross(up, towards / numpy.linalg.norm(towards))
    size = numpy.linalg.norm(numpy.subtract(seen["high"], seen["low"]))
    contact = [0.5 ** 0.5, -(0.5 ** 0.5), 0.0]  # of the tip at the stop
    points = [seen["low"], seen["high"], numpy.subtract(contact, [0.2 * size, 0.0, 0.0])]
    stop = vtk_readback.vtk.vtkPolyDataReader()
    stop.SetFileName(str(results / "obstacles.vtk"))
    stop.Update()
    points += [stop.GetOutput().GetPoint(i) for i in range(stop.GetOutput().GetNumberOfPoints())]
    across, height = ((numpy.subtract(points, view["focus"])) @ axis / view["scale"] for axis in (right, up))
    assert abs(across).max() < 1280 / 800 and -0.85 < height.min() and height.max() < 1.0, (across, height)
    assert max(abs(across).max() * 800 / 1280, height.max()) > 0.5  # and not lost in it
    assert numpy.dot(view["shift"], towards) > size * numpy.linalg.norm(towards)  # and straight towards the camera
    assert numpy.linalg.norm(numpy.cross(view["shift"], towards)) < 1e-9 * size * numpy.linalg.norm(towards)
    peak = json.loads((results / "summary.json").read_text())["contacts"][0]["peak_force_time"]
    files = json.loads((results / "contacts.vtk.series").read_text())["files"]
    frame = vtk_readback.read_frame(results / next(f["name"] for f in files if f["time"] >= peak - 1e-9))
    force = numpy.linalg.norm(frame["arrays"]["point", "force_vector"], axis=1).max()
    assert abs(view["arrow"] * force - 0.2 * size) < 1e-9 * size, view["arrow"]


def check_missing(folder, results):
    alone = {"PATH": str(folder / "none"), "DISPLAY": ":0"}
    add_program(folder / "none", "pvpython", "#!/bin/sh\nexit 0\n")
    done = percuss("view", results, "-o", folder / "movie.mp4", env=alone)
    assert done.returncode == 1 and "package ffmpeg" in done.stderr, done.stderr
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
    for words in ("--time", "0.5"), ("--time", "peak"):
        done = percuss("view", results, "-o", folder / "movie.mp4", *words)
        assert done.returncode == 2 and "--time is of pictures" in done.stderr, done.stderr


def check_packed(folder, results):
    """Compressed frames give the same picture."""
    packed = run("cases/bar_impact", folder / "packed", "output.frames.every=30", "output.frames.format=vtu")
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
        results = run("cases/bar_impact", folder / "bar", "output.frames.every=30")
        check_movie(folder, results)
        check_colours(folder, results)
        check_packed(folder, results)
        check_camera(folder)
        check_missing(folder, results)
        check_real_movie(folder, results)


if __name__ == "__main__":
    main()
