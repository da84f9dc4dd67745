"""`percuss view`: a picture or movie of results by ParaView's Python, which runs this package's view.py."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from typing import Optional

from .command import COULD_NOT_GO_ON, DONE, Parser, show_errors
from .errors import InputError
from .files import Path, read_json
from .frames import Frames

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "view.py")
MOVIES = (".mp4", ".webm", ".gif")
SCREEN = ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset"]  # without a screen one is made up
PROGRAMS = {"pvpython": ("draws the picture", "python3-paraview"), "ffmpeg": ("makes the movie", "ffmpeg")}


def view(results: Path, output: Path, time: Optional[str] = None, field: Optional[str] = None) -> int:
    """Writes a picture (.png) of the results in a folder, at a time, a mode or "peak", or a movie (.mp4, .webm, .gif).
    The script in that folder is not used: it may be anybody's. Gives the exit status."""
    folder, output = os.path.abspath(results), os.path.abspath(output)
    ending = os.path.splitext(output)[1]
    if not os.path.isfile(os.path.join(folder, "view.json")):
        raise InputError(f"'{os.fspath(results)}' holds no results: there is no view.json")
    for name in ("view.json", *["summary.json"] * os.path.exists(os.path.join(folder, "summary.json"))):
        read_json(os.path.join(folder, name))
    frames = Frames(folder)
    for _ in itertools.chain(frames, frames.contacts, frames.carried, [frames.obstacles]):
        pass  # each is read: what is damaged is told by name before ParaView says it in its own way
    for name in ["pvpython", *["ffmpeg"] * (ending in MOVIES)]:
        if shutil.which(name) is None:
            what, package = PROGRAMS[name]
            show_errors(f"{name}, which {what}, is missing: install the package {package}")
            return COULD_NOT_GO_ON
    words = ["all" if ending in MOVIES else time or "peak", *([field] if field else [])]  # pvpython takes no empty word
    has_screen = "DISPLAY" in os.environ or shutil.which(SCREEN[0]) is None
    with tempfile.TemporaryDirectory(prefix=".view-", dir=os.path.dirname(output)) as beside:
        drawn = os.path.join(beside, "drawn" + ending)
        done = subprocess.run([*([] if has_screen else SCREEN), "pvpython", SCRIPT, drawn, *words], check=False,
                              env=dict(os.environ, PERCUSS_RESULTS=folder))
        if done.returncode != 0 or not os.path.isfile(drawn):
            show_errors(f"pvpython has made no '{output}'")
            return COULD_NOT_GO_ON
        os.replace(drawn, output)  # a picture of that name stays until the new one is whole
    return DONE


def main(argv: list[str]) -> int:
    """`percuss view`."""
    parser = Parser("view", "Writes a picture or movie of results, by ParaView's Python.")
    parser.add_argument("results", metavar="RESULTS", help="folder of a run, of statics or modes")
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE.png|MOVIE.mp4", help="also .webm, .gif")
    parser.add_argument("--time", metavar="T|peak", help="of a picture: time, s, or peak, that of the largest contact "
                        "force [peak]; of modes the number of a mode [1], of statics the load factor [the last]")
    parser.add_argument("--field", metavar="NAME", help="what the colours show, as stress or velocity.x")
    parser.add_argument("-q", "--quiet", action="store_true", help="accepted for the sake of the other commands")
    a = parser.parse_args(argv)
    ending = os.path.splitext(a.output)[1]
    if ending not in (".png", *MOVIES):
        parser.error(f"view needs -o PICTURE.png or -o MOVIE.mp4, .webm or .gif, has '{a.output}'")
    if ending in MOVIES and a.time is not None:
        parser.error(f"--time is of pictures, a movie shows all frames: '{a.output}'")
    if a.time not in (None, "peak"):
        try:
            a.time = f"{float(a.time):.17g}"
        except ValueError:
            parser.error(f"--time must be a number or peak, is '{a.time}'")
    return view(a.results, a.output, a.time, a.field)
