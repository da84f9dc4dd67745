"""Compressed frames: VTK reads from them, bit by bit, what legacy frames of the same run have, and the same times.
Argument: the program."""

import json
import pathlib
import tempfile
import xml.etree.ElementTree

import vtk_readback
from program import percuss

BLOCK = 65536
# A case, settings, whether some array is longer than a block, and at most how many bytes of a hundred are left.
CASES = (("bar_impact", ["output.frames.every=10", "output.frames.window=[0.3, 0.6]"], False, 80),
         ("frame_lattice", ["time.end=5.5e-4", "output.frames.every=25"], True, 60),
         ("frame_lattice", ["time.end=5.5e-4", "output.frames.every=25", "output.frames.precision=float",
                            "output.frames.fields=[stress, velocity]"], False, 60),
         ("rotor", ["time.end=2.0e-4", "output.frames.every=20"], False, 500),  # vertices, and few points
         ("ball", ["output.frames.every=100"], False, 1000))


def run(case, folder, *settings):
    done = percuss("run", case, "-o", folder, "--quiet", *[word for s in settings for word in ("--set", s)])
    assert done.returncode == 0, done.stderr


def read_list(path):
    """Times and names; the attributes of a collection are unescaped by the parser."""
    if path.suffix == ".pvd":
        sets = xml.etree.ElementTree.parse(path).getroot().find("Collection").findall("DataSet")
        return [(float(s.get("timestep")), path.parent / s.get("file")) for s in sets]
    return [(f["time"], path.parent / f["name"]) for f in json.loads(path.read_text())["files"]]


def compare(legacy, packed):
    """Sizes of both, and of the longest array."""
    sizes, longest = [0, 0], 0
    assert [time for time, _ in legacy] == [time for time, _ in packed] and len(legacy) > 1, packed
    for (_, old), (_, new) in zip(legacy, packed):
        a, b = vtk_readback.read_frame(old), vtk_readback.read_frame(new)
        assert (a["time"], a["step"], a["kinds"]) == (b["time"], b["step"], b["kinds"]), new
        assert list(map(list, a["cells"])) == list(map(list, b["cells"])), new
        assert a["arrays"].keys() == b["arrays"].keys(), (a["arrays"].keys(), b["arrays"].keys())
        for key in a["arrays"]:
            assert vtk_readback.differ(b["arrays"][key], a["arrays"][key]) is None, (new, key)
            longest = max(longest, a["arrays"][key].nbytes)
        assert vtk_readback.differ(b["points"], a["points"]) is None, new
        sizes = [sizes[0] + old.stat().st_size, sizes[1] + new.stat().st_size]
    return sizes, longest


def check_case(folder, case, settings, has_blocks, share):
    run(f"cases/{case}", folder / "old", *settings)
    run(f"cases/{case}", folder / "new", *settings, "output.frames.format=vtu")
    legacy, packed = read_list(folder / "old" / f"{case}.vtk.series"), read_list(folder / "new" / f"{case}.pvd")
    sizes, longest = compare(legacy, packed)
    assert (longest > BLOCK) == has_blocks, longest
    assert sizes[1] < share / 100 * sizes[0], sizes
    assert not list((folder / "new").glob(f"{case}*.vtk*")) and not list((folder / "new").glob("*held*"))
    # The other format takes its place.
    run(f"cases/{case}", folder / "new", *settings)
    assert not list((folder / "new").glob("*.vtu")) and not (folder / "new" / f"{case}.pvd").exists()


def check_name(folder):
    """A name that means something in XML."""
    case = folder / 'a&b "<c>.yaml'
    case.write_text(pathlib.Path("cases/bar_impact/case.yaml").read_text())
    run(case, folder / "odd", "output.frames.every=250", "output.frames.format=vtu")
    files = read_list(folder / "odd" / 'a&b "<c>.pvd')
    assert [path.name for _, path in files] == [f'a&b "<c>_{i:06d}.vtu' for i in range(4)], files
    assert all(path.exists() for _, path in files)


def main():
    for case in CASES:
        with tempfile.TemporaryDirectory() as name:
            check_case(pathlib.Path(name), *case)
    with tempfile.TemporaryDirectory() as name:
        check_name(pathlib.Path(name))


if __name__ == "__main__":
    main()
