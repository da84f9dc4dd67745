"""Section forces of beams and rods against statics by hand: under loads along their cells, where members branch, in
round and tapered sections. They are exact at the ends of cells of linear beams, however many there are. Probes, the
summary and points of frames must agree. Argument: the program."""

import itertools
import json
import pathlib
import tempfile

import numpy

import vtk_readback
from program import percuss, read_rows

LENGTH, RHO, WIDTH, HEIGHT = 2.0, 8000.0, 0.1, 0.05
AREA = WIDTH * HEIGHT
Z_STRESS, Y_STRESS = 6.0 / (WIDTH * HEIGHT ** 2), 6.0 / (HEIGHT * WIDTH ** 2)  # of a moment of one
SECTION = f"section: {{ type: rectangle, width: {WIDTH}, height: {HEIGHT} }}"
CASE = """
mesh:
  beam: {{ type: line, from: [0, 0, 0], to: {to}, elements: {count} }}
sets:
  half: {{ cells: beam, box: {half} }}
elements:
  beam: {{ type: {kind}, mesh: beam, E: 2.0e+11, rho: 8000, {more} }}
supports:
  {supports}
loads:
  {loads}
output:
  probes:
    first: {{ element: beam.start, of: [{fields}] }}
    last: {{ element: beam.end, of: [{fields}] }}
scheme: {{ type: moreau_jean, theta: 1.0 }}
time: {{ step: 1.0e-3, end: 0.3 }}
"""
ANYWHERE = "[[-9, -9, -9], [9, 9, 9]]"
PLANE = {"fix": "x, y, rz", "more": "nu: 0.3, " + SECTION, "names": ("axial", "shear", "moment")}
SPACE = {"fix": "x, y, z, rx, ry, rz", "more": "nu: 0.3, " + SECTION + ", orientation: [0.3, 1, 0.2]",
         "names": ("axial", "shear_y", "shear_z", "moment_y", "moment_z")}


def fields_of(names):
    """Those at both ends, and of beams the stress of bending."""
    ends = [f"{name}_{end}" for name in names for end in ("start", "end")]
    return ends + ["stress_start", "stress_end"] + (["bending_stress"] if len(names) > 1 else [])


def axes_of(to, orientation):
    """Unit vectors along the beam, along the height of the section, and the third."""
    x = numpy.array(to) / numpy.linalg.norm(to)
    z = numpy.cross(x, orientation)
    z /= numpy.linalg.norm(z)
    return x, numpy.cross(z, x), z


def run(folder, how, text):
    """Folder of the results of a case."""
    case = folder / "model.yaml"
    case.write_text(text)
    done = percuss(how, case, "-o", folder / how, "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / how


def last_file(results):
    return results / json.loads((results / "model_statics.vtk.series").read_text())["files"][-1]["name"]


def solve(folder, text):
    """Last row of the table of a static analysis, with the same numbers from the summary, and the last frame."""
    results = run(folder, "statics", text)
    row = {name: float(x) for name, x in read_rows(results / "statics.csv")[-1].items() if x not in ("", None)}
    for line in (results / "summary.txt").read_text().splitlines():
        words = line.split()
        if len(words) == 2 and words[0] in row:
            assert abs(float(words[1]) - row[words[0]]) <= 1e-9 * abs(row[words[0]]), (words, row[words[0]])
    return row, vtk_readback.read_frame(last_file(results))


def last_frame(folder, text):
    return vtk_readback.read_frame(last_file(run(folder, "statics", text)))


def near(found, wanted, scale, *what):
    assert numpy.abs(numpy.asarray(found) - wanted).max() < 1e-8 * scale, (*what, found, wanted)


def forces_at(name, force, turn, axes):
    """Of the resultant of all that acts beyond a place, and its moment about that."""
    x, y, z = axes
    return {"axial": force @ x, "shear": force @ y, "shear_y": force @ y, "shear_z": force @ z, "moment": turn @ z,
            "moment_y": turn @ y, "moment_z": turn @ z}[name]


def check_probes(row, count, names, value, scale):
    """At both ends of the first and the last cell."""
    cell = LENGTH / count
    for probe, at in ("first", (0.0, cell)), ("last", (LENGTH - cell, LENGTH)):
        for name in names:
            for end, s in zip(("start", "end"), at):
                near(row[f"{probe}.{name}_{end}"], value(s, name), scale, count, probe, name, end)
        for end, s in zip(("start", "end"), at):
            near(row[f"{probe}.stress_{end}"], value(s, "axial") / AREA, scale / AREA, count, probe, end)
        if len(names) == 1:
            continue
        about_z = "moment" if len(names) == 3 else "moment_z"
        worst = max(abs(value(s, about_z)) for s in at) * Z_STRESS
        if len(names) > 3:
            worst += max(abs(value(s, "moment_y")) for s in at) * Y_STRESS
        near(row[f"{probe}.bending_stress"], worst, scale * Z_STRESS, count, probe, "bending_stress")


def check_points(frame, names, value, scale):
    """At all ends of cells."""
    shown = {"axial": "axial_force", "shear": "shear_force", "moment": "bending_moment"}
    ends = numpy.unique(frame["cells"])
    rest = frame["points"] - frame["arrays"]["point", "displacement"]
    place = numpy.linalg.norm(rest[ends] - rest[frame["cells"][0][0]], axis=1)
    for name in names:
        found = frame["arrays"]["point", shown.get(name, name)][ends, 0]
        near(found, numpy.array([value(s, name) for s in place]), scale, "points", len(place), name)
    near(frame["arrays"]["point", "stress"][ends, 0], numpy.array([value(s, "axial") / AREA for s in place]),
         scale / AREA, "points", "stress")
    if len(names) == 1:
        return
    stress = [abs(value(s, "moment" if len(names) == 3 else "moment_z")) * Z_STRESS
              + (abs(value(s, "moment_y")) * Y_STRESS if len(names) > 3 else 0.0) for s in place]
    near(frame["arrays"]["point", "bending_stress"][ends, 0], numpy.array(stress), scale * Z_STRESS, "points", "stress")


def check_cantilever(folder, kind, of, to, line, gravity, tip):
    """Everything beyond a place is held there: forces of the tip, of the line load and of the weight."""
    axes, load = axes_of(to, (0.3, 1, 0.2) if len(of["names"]) > 3 else (-to[1], to[0], 0)), numpy.array(line)
    load = load + RHO * AREA * numpy.array(gravity)
    loads = (f"line: {{ type: line, cells: beam, value: {line} }}\n  weight: {{ type: gravity, g: {gravity} }}\n"
             f"  tip: {{ type: force, set: beam.end, value: {tip} }}")

    def value(s, name):
        left = LENGTH - s
        turn = numpy.cross(axes[0], 0.5 * left ** 2 * load + left * numpy.array(tip))
        return forces_at(name, left * load + tip, turn, axes)

    for count in 1, 2, 8:
        text = CASE.format(to=to, count=count, half=ANYWHERE, kind=kind, more=of["more"], loads=loads,
                           fields=", ".join(fields_of(of["names"])),
                           supports=f"wall: {{ set: beam.start, fix: [{of['fix']}], reactions: true }}")
        row, frame = solve(folder, text)
        check_probes(row, count, of["names"], value, 1e4)
        check_points(frame, of["names"], value, 1e4)
        if len(of["names"]) == 3:
            near(row["first.moment_start"], -row["wall.mz"], 1e4, "the reaction")


def check_clamped(folder):
    """Both ends held: p L^2/12 there, half as much in the middle, half the load to either side."""
    for kind, of in ("beam_timo_2d", PLANE), ("beam_timo_3d", SPACE):
        load = numpy.array([300.0, -1000.0, 0.0])
        axes = axes_of((2, 0, 0), (0, 1, 0))

        def value(s, name):
            turn = numpy.cross(axes[0], load) * (LENGTH ** 2 / 12 - 0.5 * s * (LENGTH - s))
            return forces_at(name, (0.5 * LENGTH - s) * load, turn, axes)

        for count in 2, 3, 8:
            text = CASE.format(to="[2, 0, 0]", count=count, half=ANYWHERE, kind=kind,
                               more=of["more"].replace("[0.3, 1, 0.2]", "[0, 1, 0]"),
                               loads="line: { type: line, cells: beam, value: [300, -1000, 0] }",
                               fields=", ".join(fields_of(of["names"])),
                               supports=f"a: {{ set: beam.start, fix: [{of['fix']}] }}\n"
                                        f"  b: {{ set: beam.end, fix: [{of['fix']}] }}")
            row, frame = solve(folder, text)
            check_probes(row, count, of["names"], value, 1e3)
            check_points(frame, of["names"], value, 1e3)
            if kind == "beam_timo_3d":  # in the middle of the cell, too
                found = frame["arrays"]["cell", "moment_z"][:, 0]
                middles = [value((i + 0.5) * LENGTH / count, "moment_z") for i in range(count)]
                near(found, numpy.array(middles), 1e3, "the middles of cells")


def check_exact(folder):
    """Loads act at the nodes of exact beams: moments at the ends of cells are those of equilibrium as they are."""
    for kind, of in ("beam_exact_2d", PLANE), ("beam_exact_3d", SPACE):
        names = ("moment",) if of is PLANE else ("moment_y", "moment_z")
        load, axes = numpy.array([0.0, -1000.0, 300.0 * (of is SPACE)]), axes_of((2, 0, 0), (0, 1, 0))
        for count in 1, 2, 8:
            text = CASE.format(to="[2, 0, 0]", count=count, half=ANYWHERE, kind=kind,
                               more=of["more"].replace("[0.3, 1, 0.2]", "[0, 1, 0]"),
                               loads=f"line: {{ type: line, cells: beam, value: {list(load)} }}",
                               fields=", ".join(f"{name}_{end}" for name in names for end in ("start", "end")),
                               supports=f"wall: {{ set: beam.start, fix: [{of['fix']}] }}")
            row, frame = solve(folder, text.replace("2.0e+11", "2.0e+17"))
            for name in names:
                found = frame["arrays"]["point", "bending_moment" if of is PLANE else name][:, 0]
                for i in range(count + 1):
                    left = LENGTH * (1 - i / count)
                    wanted = forces_at(name, left * load, numpy.cross(axes[0], 0.5 * left ** 2 * load), axes)
                    near(found[i], wanted, 1e4, kind, count, i)
                    if i < 2:
                        near(row[f"first.{name}_{'end' if i else 'start'}"], wanted, 1e4, kind, count, i)
        # Under a force at the tip all of them are those of equilibrium.
        tip = numpy.array([7.0, -3.0, 2.0 * (of is SPACE)])

        def value(s, name):
            return forces_at(name, tip, numpy.cross(axes[0], (LENGTH - s) * tip), axes)

        text = text.replace("line: {", f"tip: {{ type: force, set: beam.end, value: {list(tip)} }}\n  none: {{")
        text = text.replace(str(list(load)), "[0, 0, 0]").replace("2.0e+11", "2.0e+13")
        check_points(last_frame(folder, text), of["names"], value, 1e4)


def check_part(folder):
    """A load on the outer half alone, by two loads that overlap; and a mass that is lumped."""
    load = numpy.array([0.0, -1000.0, 0.0])
    axes = axes_of((2, 0, 0), (0, 1, 0))

    def value(s, name):
        left = min(LENGTH - s, 0.5 * LENGTH)
        middle = LENGTH - 0.5 * left
        turn = numpy.cross(axes[0], (middle - s) * left * load)
        return forces_at(name, left * load, turn, axes)

    for count in 2, 8:
        for mass in "consistent", "lumped":
            text = CASE.format(to="[2, 0, 0]", count=count, half="[[1, -1, -1], [2, 1, 1]]", kind="beam_timo_2d",
                               more=PLANE["more"] + f", mass: {mass}", fields=", ".join(fields_of(PLANE["names"])),
                               loads="a: { type: line, cells: half, value: [0, -400, 0] }\n"
                                     "  b: { type: line, cells: half, value: [0, -600, 0] }",
                               supports="wall: { set: beam.start, fix: [x, y, rz] }")
            row, frame = solve(folder, text)
            check_probes(row, count, PLANE["names"], value, 1e3)
            check_points(frame, PLANE["names"], value, 1e3)


def check_taper(folder):
    """The weight of a wedge, of which one cell has to know where it lies: A = A0 (1 - x/(2 L))."""
    weight, g = RHO * AREA, 10.0
    for count in 1, 2:
        text = CASE.format(to="[2, 0, 0]", count=count, half=ANYWHERE, kind="beam_timo_2d",
                           more="nu: 0.3, section: { type: rectangle, width: 0.1, height: { from: 0.05, to: 0.025 } }",
                           loads="weight: { type: gravity, g: [0, -10, 0] }", fields="moment_start, shear_start",
                           supports="wall: { set: beam.start, fix: [x, y, rz] }")
        row, _ = solve(folder, text)
        near(row["first.shear_start"], -0.75 * weight * g * LENGTH, 1e3, count, "taper")
        near(row["first.moment_start"], -weight * g * LENGTH ** 2 * (0.5 - 1.0 / 6.0), 1e3, count, "taper")


def check_flight(folder):
    """A beam in free fall carries nothing, not its weight either."""
    kinds, schemes = ("beam_timo_2d", "beam_timo_3d"), ("alpha_ggl", "half_explicit")
    for kind, count, scheme in itertools.product(kinds, (1, 4), schemes):
        of = PLANE if kind == "beam_timo_2d" else SPACE
        text = CASE.format(to="[2, 0, 0]", count=count, half=ANYWHERE, kind=kind, more=of["more"],
                           fields="moment_start, moment_end, bending_stress, axial_force",
                           loads="weight: { type: gravity, g: [3, -10, 0] }", supports="")
        text = text.replace("supports:\n", "").replace("{ type: moreau_jean, theta: 1.0 }", f"{{ type: {scheme} }}")
        text = text.replace("step: 1.0e-3, end: 0.3", "step: 1.0e-5, end: 1.0e-3")
        rows = read_rows(run(folder, "run", text) / "history.csv")
        assert len(rows) > 9
        for row, name in itertools.product(rows, ("moment_start", "moment_end", "axial_force")):
            assert abs(float(row["first." + name])) < 1e-9, (kind, count, scheme, row["t"], name, row["first." + name])


def check_rods(folder):
    """A hanging bar: its weight at the top, nothing at the bottom."""
    names = ("axial",)
    kinds = {"rod": "", "rod_love": "nu: 0.3, ", "rod_2d": "", "rod_3d": ""}
    for kind, more in kinds.items():
        for count in 1, 2, 8:
            held = {"rod_2d": ", y", "rod_3d": ", y, z"}.get(kind, "")
            guide = "" if not held else f"\n  guide: {{ set: beam, fix: [{held[2:]}] }}"
            text = CASE.format(to="[2, 0, 0]", count=count, half=ANYWHERE, kind=kind, more=more + f"area: {AREA}",
                               loads="weight: { type: gravity, g: [10, 0, 0] }", fields=", ".join(fields_of(names)),
                               supports=f"wall: {{ set: beam.start, fix: [x{held}] }}" + guide)
            row, frame = solve(folder, text)

            def value(s, name):
                return RHO * AREA * 10.0 * (LENGTH - s)

            check_probes(row, count, names, value, 1e3)
            check_points(frame, names, value, 1e3)


def check_paths(folder):
    """The summary of a path that ends at another load factor; modes of the reference state, which carries no loads."""
    weight = "weight: { type: gravity, g: [0, -10, 0] }"
    tip = "tip: { type: force, set: beam.end, value: [0, -1, 0] }"
    text = {load: CASE.format(to="[2, 0, 0]", count=2, half=ANYWHERE, kind="beam_timo_2d", more=PLANE["more"],
                              loads=load, fields="moment_start", supports="wall: { set: beam.start, fix: [x, y, rz] }")
            for load in (weight, tip)}
    row, _ = solve(folder, text[weight] + "statics: { path: arc, end: 3.0 }\n")
    near(row["first.moment_start"], -1.5 * RHO * AREA * 10.0 * LENGTH ** 2, 1e3, "a path by arc length")
    moments = []
    for load in weight, tip:
        results = run(folder, "modes", text[load])
        files = json.loads((results / "model_modes.vtk.series").read_text())["files"]
        moments.append(vtk_readback.read_frame(results / files[0]["name"])["arrays"]["cell", "moment_start"])
    near(moments[0], moments[1], abs(moments[1]).max(), "modes")


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
        frame = last_frame(folder, FRAME.format(count=count, elements=elements))
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
    frame = last_frame(folder, text.replace("set: right.start", "set: right.end"))
    corner = frame["cells"][8][0]
    assert corner >= 13, "the node belongs to the post"
    moment, stress = (frame["arrays"]["point", name][corner, 0] for name in ("bending_moment", "bending_stress"))
    assert abs(moment + 21.0) < 2e-6 and abs(stress - 21.0 * 6.0 / (0.1 * 0.2 ** 2)) < 0.1, (moment, stress)


def check_round_section(folder):
    """The stress of a round section does not know in which direction it bends, nor where its axes are."""
    exact = 32.0 * 10.0 * LENGTH / (numpy.pi * 0.02 ** 3)
    for kind, angle, axis in itertools.product(("beam_timo_3d", "beam_exact_3d"), (20.0, 80.0),
                                               ("[0, 1, 0]", "[0, 1, 1]")):
        across, up = 10.0 * numpy.cos(numpy.radians(angle)), 10.0 * numpy.sin(numpy.radians(angle))
        text = CASE.format(to="[2, 0, 0]", count=6, half=ANYWHERE, kind=kind, fields="stress",
                           more=f"nu: 0.3, section: {{ type: circle, diameter: 0.02 }}, orientation: {axis}",
                           loads=f"tip: {{ type: force, node: beam.end, value: [0, {across!r}, {up!r}] }}",
                           supports=f"wall: {{ set: beam.start, fix: [{SPACE['fix']}] }}")
        frame = last_frame(folder, text.replace("2.0e+11", "2.0e+17"))
        for place in ("point", "cell"):
            found = frame["arrays"][place, "bending_stress"].max()
            assert abs(found - exact) < 1e-6 * exact, (kind, angle, axis, place, found, exact)


def check_moments_at_both_ends(folder):
    """Moments about y and z that are largest at different ends of a cell act on different sections."""
    text = CASE.format(to="[1, 0, 0]", count=2, half=ANYWHERE, kind="beam_timo_3d", fields="stress",
                       more=SPACE["more"].replace("[0.3, 1, 0.2]", "[0, 1, 0]"),
                       loads="tip: { type: force, node: beam.end, value: [0, 10, 10] }\n"
                             "  turn: { type: moment, node: beam.end, value: [0, 10, 0] }",
                       supports=f"wall: {{ set: beam.start, fix: [{SPACE['fix']}] }}")
    frame = last_frame(folder, text.replace("2.0e+11", "2.0e+17"))
    x = frame["points"][:, 0]
    for (first, last), found in zip(frame["cells"], frame["arrays"]["cell", "bending_stress"][:, 0]):
        ends = [Z_STRESS * abs(10.0 * (1.0 - s)) + Y_STRESS * abs(10.0 - 10.0 * (1.0 - s)) for s in x[[first, last]]]
        assert abs(found - max(ends)) < 1e-6 * Z_STRESS, (found, ends)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_cantilever(folder, "beam_timo_2d", PLANE, [1.2, 1.6, 0.0], [100, -1000, 0], [3, -10, 0], [50, -500, 0])
        check_cantilever(folder, "beam_timo_3d", SPACE, [1.2, 0.96, -1.28], [90, -900, 70], [3, -10, 2], [50, -500, 9])
        arms = dict(SPACE, more=SPACE["more"] + ", offset: [0.05, -0.1, 0.2]")
        check_cantilever(folder, "beam_timo_3d", arms, [1.2, 0.96, -1.28], [90, -900, 70], [3, -10, 2], [0, 0, 0])
        check_branches(folder)
        check_tapered_branch(folder)
        check_round_section(folder)
        check_moments_at_both_ends(folder)
        check_clamped(folder)
        check_exact(folder)
        check_part(folder)
        check_taper(folder)
        check_flight(folder)
        check_rods(folder)
        check_paths(folder)


if __name__ == "__main__":
    main()
