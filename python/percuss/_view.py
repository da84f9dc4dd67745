"""`percuss view`: a picture or movie of results by ParaView's Python, which runs this package's view.py."""

import itertools
import os
import shutil
import subprocess
import tempfile

from .command import COULD_NOT_GO_ON, DONE, Parser, show_errors
from .errors import InputError
from .frames import Frames
from .text import read_json

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "view.py")
MOVIES = (".mp4", ".webm", ".gif")
SCREEN = ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset"]  # without a screen one is made up
PROGRAMS = {"pvpython": ("draws the picture", "python3-paraview"), "ffmpeg": ("makes the movie", "ffmpeg")}


def check(folder: str) -> None:
    """Reads all that ParaView will read: what is damaged is told by name before it is told in ParaView's own way."""
    if not os.path.isfile(os.path.join(folder, "view.json")):
        raise InputError(f"'{folder}' holds no results: there is no view.json")
    for name in ("view.json", "summary.json"):
        if os.path.exists(path := os.path.join(folder, name)):
            read_json(path)
    frames = Frames(folder)
    for _ in itertools.chain(frames, frames.contacts, frames.carried, [frames.obstacles]):
        pass


def main(argv: list[str]) -> int:
    """`percuss view`."""
    parser = Parser("view", "Writes a picture or movie of results, by ParaView's Python.")
    parser.add_argument("results", metavar="RESULTS", help="folder of a run, of statics or modes")
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE.png|MOVIE.mp4", help="also .webm, .gif")
    parser.add_argument("--time", metavar="T|peak", help="of a picture: time, s, or peak, that of the largest contact "
                        "force [peak]; of modes the number of a mode [1], of statics the load factor [the last]")
    parser.add_argument("--field", metavar="NAME", help="what the colours show, as stress or velocity.x")
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
    check(a.results)
    for name in ["pvpython", *["ffmpeg"] * (ending in MOVIES)]:
        if shutil.which(name) is None:
            what, package = PROGRAMS[name]
            show_errors(f"{name}, which {what}, is missing: install the package {package}")
            return COULD_NOT_GO_ON
    # pvpython takes no empty word
    words = ["all" if ending in MOVIES else a.time or "peak", *([a.field] if a.field else [])]
    has_screen = "DISPLAY" in os.environ or shutil.which(SCREEN[0]) is None
    with tempfile.TemporaryDirectory(prefix=".view-", dir=os.path.dirname(os.path.abspath(a.output))) as beside:
        drawn = os.path.join(beside, "drawn" + ending)
        # The script in the folder is not used: it may be anybody's.
        done = subprocess.run([*([] if has_screen else SCREEN), "pvpython", SCRIPT, drawn, *words], check=False,
                              env=dict(os.environ, PERCUSS_RESULTS=os.path.abspath(a.results)))
        if done.returncode != 0 or not os.path.isfile(drawn):
            show_errors(f"pvpython has made no '{a.output}'")
            return COULD_NOT_GO_ON
        os.replace(drawn, a.output)  # a picture of that name stays until the new one is whole
    return DONE
