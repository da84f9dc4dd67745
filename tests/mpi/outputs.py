"""Every file of two runs of one case compared: history, summary, frames of contacts, checkpoint."""

import csv
import glob
import json
import math
import os
import re
import struct

# Ties and stops may be settled the other way by round-off, and of several smallest gaps any may be the one told of.
LOOSE = ("active", "iterations", "gap_rate", "gap_velocity")
# What depends on the machine, on the ranks and on how solvers go, not on the motion.
EFFORT = ("effort", "timing", "wall_time", "memory", "ranks", "version", "solver", "backend", "iterations",
          "checkpoints", "directory", "worst_ratio", "worst_time", "tolerance", "worst_value", "imbalance", "checks",
          "time", "min_gap_time")
HEAD = 128  # bytes of a checkpoint before the case


def history(folder):
    """Names of columns, and rows as numbers."""
    with open(os.path.join(folder, "history.csv"), newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], [[float(x) if x else math.nan for x in row] for row in rows[1:]]


def far(name, a, b, tolerance, least=0.0):
    """Lists of numbers that differ by more than a part of their size, as text."""
    if len(a) != len(b):
        return [f"{name}: {len(a)} numbers, {len(b)} numbers"]
    size = max([least, *(abs(x) for x in a if math.isfinite(x))])
    for i, (x, y) in enumerate(zip(a, b)):
        if math.isfinite(x) != math.isfinite(y) or (math.isfinite(x) and abs(x - y) > tolerance * size):
            return [f"{name}[{i}]: {x!r}, {y!r} of {size!r}"]
    return []


def histories(one, other, tolerance):
    names, a = history(one)
    others, b = history(other)
    if names != others or len(a) != len(b):
        return ["history.csv: other columns or rows"]
    found = []
    energy = max(abs(x) for row in a for x in row[2:4])
    momentum = max(abs(x) for row in a for x in row[11:14])
    for k, name in enumerate(names):
        if name.split(".")[-1] not in LOOSE:
            least = energy if k <= 10 else 1e-3
            least = momentum if name.startswith("momentum") else least
            found += far(f"history {name}", [r[k] for r in a], [r[k] for r in b], tolerance, least)
    return found


def arrays(path):
    """Of a legacy VTK file: values by name."""
    with open(path, "rb") as file:
        text = file.read()
    out = {}
    for head in re.finditer(rb"^(\w+) ((?:\d+ )+)(double|int)\n", text, re.M):
        name, counts, kind = head.group(1).decode(), list(map(int, head.group(2).split())), head.group(3)
        count = math.prod(counts) * (3 if name == "POINTS" else 1)
        out[name] = struct.unpack_from(f">{count}{'d' if kind == b'double' else 'i'}", text, head.end())
    return out


def frames(one, other, tolerance):
    found = []
    paths = sorted(os.path.basename(p) for p in glob.glob(os.path.join(one, "contacts_*.vtk")))
    if paths != sorted(os.path.basename(p) for p in glob.glob(os.path.join(other, "contacts_*.vtk"))):
        return ["other frames of contacts"]
    for path in paths:
        a, b = (arrays(os.path.join(folder, path)) for folder in (one, other))
        if a.keys() != b.keys():
            return [f"{path}: other arrays"]
        for name in a:
            least = {"gap": 1e-4, "gap_velocity": 1.0}.get(name, 0.0)  # most vanish
            if name != "state":  # a tie
                found += far(f"{path} {name}", a[name], b[name], tolerance, least)
    return found


def numbers(tree, path=""):
    """Numbers of a summary by their path, what is no motion left out."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if not any(key == word or key.endswith("_" + word) or key.startswith(word) for word in EFFORT):
                yield from numbers(value, f"{path}.{key}")
    elif isinstance(tree, list):
        for i, value in enumerate(tree):
            yield from numbers(value, f"{path}[{i}]")
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        yield path, float(tree)


def summaries(one, other, tolerance):
    trees = []
    for folder in (one, other):
        with open(os.path.join(folder, "summary.json")) as file:
            trees.append(dict(numbers(json.load(file))))
    a, b = trees
    if a.keys() != b.keys():
        return [f"summary: {sorted(a.keys() ^ b.keys())}"]
    return [text for key in a for text in far(f"summary{key}", [a[key]], [b[key]], tolerance, least(key, a))]


def least(key, tree):
    """Size below which a number of the summary is round-off of others."""
    energy = max([abs(x) for name, x in tree.items() if name.startswith(".energy")], default=1.0)
    return energy if any(word in key for word in ("energy", "work", "loss", "ledger")) else 1e-3


def pieces(folder):
    """Of a checkpoint: bytes by name, in order."""
    with open(os.path.join(folder, "checkpoint.bin"), "rb") as file:
        data = file.read()
    text_size, piece_size = struct.unpack_from("<QQ", data, 48)
    at, end, out = HEAD + text_size, HEAD + text_size + piece_size, []
    while at < end:
        stop = data.index(b"\0", at)
        size, = struct.unpack_from("<Q", data, stop + 1)
        out.append((data[at:stop].decode(), data[stop + 9:stop + 9 + size]))
        at = stop + 9 + size
    return out


# Vectors of rows and equations in it: for each number of an entry the size below which it is round-off; None: a count.
ROW = (1e-3, 1.0, *[1e-3] * 7, None)  # of a tally
KEPT = {"state.q": (1e-3,), "state.v": (1.0,), "state.rows0": (1.0,), "state.rows1": (1.0,),
        "certificate.gap": (1e-3,), "certificate.impulse": (1e-3,), "certificate.largest_gap": (1e-3,),
        "certificate.largest_rate": (1.0,), "summary.points": (1.0, 1e-3, None), "history.tally_rows": ROW,
        "contact_frames.tally_rows": ROW}


def checkpoints(one, other, tolerance):
    a, b = pieces(one), pieces(other)
    if [(name, len(x)) for name, x in a] != [(name, len(x)) for name, x in b]:
        return ["checkpoint: other pieces"]
    found = []
    for (name, x), (_, y) in zip(a, b):
        if name in KEPT and len(x) > 0:
            u, v = (struct.unpack(f"<{len(z) // 8}d", z) for z in (x, y))
            width = len(KEPT[name])
            for k, size in enumerate(KEPT[name]):
                if size is not None:
                    found += far(f"checkpoint {name} {k}", u[k::width], v[k::width], tolerance, size)
    return found


def differences(one, other, tolerance=1e-9):
    """What differs between two folders by more than round-off that has grown over some steps."""
    found = histories(one, other, tolerance) + summaries(one, other, 10 * tolerance)
    found += frames(one, other, 100 * tolerance)
    if os.path.exists(os.path.join(one, "checkpoint.bin")):
        found += checkpoints(one, other, 100 * tolerance)
    return found
