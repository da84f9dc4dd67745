"""Pictures by gnuplot in fewer bytes."""
import math
import re

SMALLEST_BEND = 0.2  # px: points of a curve that lie closer to a straight line are left out


def thin(points, room):
    """Douglas and Peucker: the points that a curve needs to stay within `room` of what it was."""
    keep, stack = {0, len(points) - 1}, [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        (x, y), (u, v) = points[first], points[last]
        length, worst, where = math.hypot(u - x, v - y), room, None
        for k in range(first + 1, last):
            a, b = points[k]
            far = abs((u - x) * (b - y) - (v - y) * (a - x)) / length if length > 0.0 else math.hypot(a - x, b - y)
            if far > worst:
                worst, where = far, k
        if where is not None:
            keep.add(where)
            stack += [(first, where), (where, last)]
    return [points[k] for k in sorted(keep)]


def longest_bars(pieces):
    """Of upright bars in the same half of a pixel only the longest is seen; other lines, as those of legends, stay."""
    longest, others = {}, [piece for piece in pieces if abs(piece[1][0] - piece[0][0]) > 0.5]
    for (x, y), (u, v) in (piece for piece in pieces if piece not in others):
        place = (round(2.0 * x), round(2.0 * u))
        if abs(v - y) >= longest.get(place, (0.05,))[0]:
            longest[place] = (abs(v - y), [(x, y), (u, v)])
    return others + [bar for _, bar in longest.values()]


def write(piece):
    """A polygon in tenths of a pixel: its start, and steps from one rounded point to the next, short numbers."""
    tenths = [(round(10.0 * x), round(10.0 * y)) for x, y in piece]
    steps = [f"{(u - x) / 10:g},{(v - y) / 10:g}" for (x, y), (u, v) in zip(tenths, tenths[1:])]
    return f"M{tenths[0][0] / 10:g},{tenths[0][1] / 10:g}l" + " ".join(steps)


def shorten(d):
    """A path of gnuplot, pieces of M and L, without the points and bars that nobody sees."""
    pieces = [[tuple(float(x) for x in pair) for pair in re.findall(r"(-?[\d.]+),(-?[\d.]+)", piece)]
              for piece in re.findall(r"M[^M]*", d)]
    pieces = [piece for piece in pieces if len(piece) > 1]
    if len(pieces) > 8 and all(len(piece) == 2 for piece in pieces):
        pieces = longest_bars(pieces)
    return "".join(write(thin(piece, SMALLEST_BEND) if len(piece) > 2 else piece) for piece in pieces)


def used(definitions, body):
    """The definitions of points that the picture draws, a line each, and those that these are made of."""
    lines = {name: line for line in definitions.split("\n") for name in re.findall(r" id='(gp\w+)'", line)}
    wanted, found = set(re.findall(r"'#(gp\w+)'", body)), set()
    while wanted - found:
        found |= wanted
        wanted |= {name for known in found for name in re.findall(r"'#(gp\w+)'", lines[known])}
    return "\n".join(line.strip() for name, line in lines.items() if name in found)


def simplify(svg):
    """The same picture in fewer bytes: thin curves, no empty groups, no definitions and defaults that say nothing."""
    svg = re.sub(r"(<path [^>]*d=')(M[^'Zz]*)(')", lambda m: m[1] + shorten(m[2]) + m[3], svg)
    svg = re.sub(r"<path [^>]*d=''/>", "", svg)
    svg = svg.replace(' stroke-linecap="butt" stroke-linejoin="miter"', "")
    for _ in range(3):
        svg = re.sub(r"<g [^>]*>\s*</g>", "", svg)
    head, _, rest = svg.partition("<defs>")
    definitions, _, body = rest.partition("</defs>")
    svg = f"{head}<defs>{used(definitions, body)}</defs>{body}"
    svg = svg.replace("""stroke='rgb(221, 221, 221)' class="gridline"  d""", "stroke='#ddd' d")
    return re.sub(r"\s*\n\s*", "\n", svg)
