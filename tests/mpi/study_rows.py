"""Contacts that ranks have of their own against one process: study_rows.py PROGRAM [RANKS [NAME ...]]

Every scheme that a mesh takes, against planes, circles and nodes, in the plane and in space, with friction and without,
on two and three ranks (or on RANKS, "2,4"): every file of a run is compared with that of one process (outputs.py). NAME
is that of a scheme, of `plane`, `circle`, `pair`, `chain`, `segment`, of `soft_plane`, `soft_circle`, `soft_pair`,
with a force law, or of `2d`, `3d`, which alone are looked at then. Prints a line per case and how many differ; its
status is 1 where one does.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import outputs  # noqa: E402

CASE = """
mesh:
  grid: { type: lattice, cells: [1, 899], size: [0.1, 0.1], origin: [0.0005, 0, 0], diagonals: one }
elements:
  grid: { type: beam_timo_2d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0,
          section: { type: rectangle, width: 0.02, height: 0.02 } }
initial:
  - { set: grid, velocity: [-5.0, 2.0, 0] }
scheme: { type: alpha_ggl }
time: { step: 5.0e-5, end: 4.0e-4 }
output:
  frames: { every: 0 }
  contact_frames: { every: 4 }
  checkpoint: { every: 1000000 }
  probes:
    free: { set: grid.xmax, of: [x, vx, y] }
"""
SPACE = ["mesh.grid={type: lattice, cells: [1, 27, 27], size: [0.1], origin: [0.0005, 0, 0], diagonals: one}",
         "elements.grid={type: beam_timo_3d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0, "
         "orientation: [0.3, 0.5, 0.8], section: {type: rectangle, width: 0.02, height: 0.02}}"]
SHORT = ["time.end=2.0e-4"]  # of models that take long: matrices in every step, or many products
SMALL = ["time.step=4.0e-6", "time.end=1.6e-4", "output.contact_frames.every=20"]
FEWER = ["mesh.grid.cells=[1, 299]"]  # of a scheme that keeps columns of all contacts, which are not dealt out
DAMPED = ["elements.grid.damping={mass: 2.0e4}"]
ENDS = {"plane": [], "circle": SHORT, "pair": SHORT, "chain": ["time.end=1.5e-4"], "segment": SHORT,
        "soft_plane": [], "soft_circle": SHORT, "soft_pair": SHORT}
SCHEMES = {
    "alpha_ggl": [], "alpha_velocity": [], "newmark": [], "hht": [], "alpha_index3": [],
    "moreau_jean, theta: 0.6": [], "moreau_jean, theta: 0.6, positions: midpoint": [],
    "jump_newmark, rho_inf: 0.8": [], "ggl_midpoint, metric: mass": FEWER,
    "half_explicit": SMALL, "half_explicit, impulsive_step: 1.0e-6": SMALL, "half_explicit_rk": SMALL,
    "half_explicit_acceleration": SMALL + ["time.end=1.3e-4"], "moreau_midpoint": SMALL, "schatzman_paoli": SMALL,
    "tdg_minus": SMALL + ["time.end=1.3e-4"], "tdg_plus": SMALL + ["time.end=1.3e-4"],
    "moreau_jean_explicit": SMALL + DAMPED, "splitting, contact_forces: true": SMALL,
}


def segments(is_space, law):
    """A beam that the nodes meet between its own ones, the lower ones first, and on which side of it they are."""
    top = 2.74 if is_space else 89.94
    section = "section: {type: rectangle, width: 0.02, height: 0.02}"
    element = "3d, orientation: [0.3, 0.5, 0.8]" if is_space else "2d"
    side = "radius: 0.01" if is_space else "side: left"
    thick = 0.01 if is_space else 0.0
    ends = f"from: [{-0.00041 - thick}, {top}, 0], to: [{0.00023 - thick}, -0.04, 0]"
    return [f"mesh.wall={{type: line, {ends}, elements: {28 if is_space else 900}}}",
            f"elements.wall={{type: beam_timo_{element}, mesh: wall, E: 1.0e9, nu: 0.3, rho: 1000.0, {section}}}",
            f"contacts.floor={{type: node_segment, nodes: grid.xmin, segments: wall, {side}, {law}}}"]


def contact(shape, is_space, friction):
    """Settings of a wall, a roll, a second lattice whose nodes meet those of the first, or a wall and neighbours."""
    law = "restitution: 0.2" if not shape.startswith("soft_") else "law: {type: linear, stiffness: 1.0e+6}"
    shape, law = shape.removeprefix("soft_"), f"{law}, friction: {friction}"
    middle = 1.35 if is_space else 44.95
    wall = f"contacts.floor={{type: node_plane, nodes: grid.xmin, point: [0, 0, 0], normal: [1, 7.0e-6, 0], {law}}}"
    if shape == "plane":
        return [wall]
    if shape == "chain":  # half of the nodes meet the wall, and each keeps the next one from moving ahead of it
        along, end, middle = ("0, 3.0e-4", 2.65, 1.375) if is_space else ("3.0e-4, 0", 89.85, 44.95)
        box = "[[-1, -1, {low}], [1, 9, {high}]]" if is_space else "[[-1, {low}, -1], [1, {high}, 1]]"
        cut = "sets.{0}={{{{nodes: grid.xmin, box: {1}}}}}"
        wall = wall.replace("grid.xmin", "foot").replace("7.0e-6", "-7.0e-6")
        return [wall, cut.format("foot", box).format(low=-1, high=middle),
                cut.format("up", box).format(low=0.05, high=900), cut.format("down", box).format(low=-1, high=end),
                f"contacts.chain={{type: node_node, a: down, b: up, normal: [1, {along}], {law}}}"]
    if shape == "circle":
        return [f"contacts.floor={{type: node_circle, nodes: grid.xmin, centre: [-4000, {middle}, 0], radius: 4000, "
                f"side: outside, {law}}}"]
    if shape == "segment":  # a beam from the other end, so that most nodes meet cells of another rank
        return segments(is_space, law)
    cells, size = ("[1, 27, 27]", "[0.1, 0.0999, 0.1]") if is_space else ("[1, 899]", "[0.1, 0.09993]")
    element = "3d, orientation: [0.3, 0.5, 0.8]" if is_space else "2d"
    return [f"mesh.wall={{type: lattice, cells: {cells}, size: {size}, origin: [-0.1, 0, 0], diagonals: one}}",
            f"elements.wall={{type: beam_timo_{element}, mesh: wall, E: 1.0e9, nu: 0.3, rho: 1000.0, "
            "section: {type: rectangle, width: 0.02, height: 0.02}}",
            f"contacts.floor={{type: node_node, a: wall.xmax, b: grid.xmin, normal: [1, 0.1, 0], {law}}}"]


def run(program, count, case, settings, folder):
    """Status, or None where the case is refused, and what was said."""
    launcher = ["mpiexec", "-n", str(count)] if count > 0 else []
    tight = ["--", "-ksp_rtol", "1e-13"] if count > 0 else []
    sets = [word for setting in settings for word in ("--set", setting)]
    result = subprocess.run([*launcher, program, "run", case, *sets, "-q", "-o", folder, *tight], capture_output=True,
                            text=True, timeout=1800)
    return result.returncode, result.stderr


def compare(program, counts, case, settings, folder):
    """Texts of what differs; None: one process refuses the case."""
    one = os.path.join(folder, "one")
    status, text = run(program, 0, case, settings, one)
    if status != 0:
        return None if status == 2 else [f"one process: {text}"]
    found = []
    for count in counts:
        other = os.path.join(folder, f"np{count}")
        status, text = run(program, count, case, settings, other)
        texts = [text] if status != 0 else outputs.differences(one, other)
        found += [f"{count} ranks: {text}" for text in texts]
        shutil.rmtree(other, ignore_errors=True)
    return found


def chosen(names):
    """Those that the command names, or all."""
    return [name for name in names if name.split(",")[0] in sys.argv[3:]] or list(names)


def main():
    program = os.path.abspath(sys.argv[1])
    counts = list(map(int, sys.argv[2].split(","))) if len(sys.argv) > 2 else [2, 3]
    schemes, shapes, spaces = chosen(SCHEMES), chosen(ENDS), chosen(("2d", "3d"))
    ran = differ = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        case = os.path.join(folder, "case.yaml")
        with open(case, "w") as file:
            file.write(CASE)
        for space, shape, scheme, friction in itertools.product(spaces, shapes, schemes, (0, 0.3)):
            is_space = space == "3d"
            settings = (SPACE if is_space else []) + ENDS[shape] + SCHEMES[scheme]
            if FEWER[0] in settings and (is_space or shape not in ("plane", "circle")):
                continue
            settings = [*settings, f"scheme={{type: {scheme}}}", *contact(shape, is_space, friction)]
            found = compare(program, counts, case, settings, folder)
            refused += found is None
            ran += 0 if found is None else len(counts)
            differ += bool(found)
            verdict = "refused" if found is None else "; ".join(found[:3]) or "same"
            print(f"{scheme:45} {shape:11} {space} mu {friction}: {verdict}", flush=True)
    print(f"{ran} runs compared, {refused} cases refused, {differ} cases differ")
    return 1 if differ > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
