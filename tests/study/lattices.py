"""Large models on one core: lattices of beams against a wall and piles of beams with friction, as they grow.

    /usr/bin/python3 tests/study/lattices.py build/percuss [LARGEST [WHAT]]          [all, up to 1e6 equations]

WHAT: plane, space, pile. The wall of the lattices is tilted a little, so that contacts close a few more in every step
and sets keep changing. Rounds are changes of contact sets in a step, in the mean and at most; the balance of momentum
is the worst of all steps over mass times speed. Piles run until they rest: E_kin at the end over the largest."""

import json
import os
import subprocess
import sys
import tempfile

import make_pile

LARGEST = float(sys.argv[2]) if len(sys.argv) > 2 else 1e6
WHAT = sys.argv[3] if len(sys.argv) > 3 else ""
SPACE = ("elements.struts={type: beam_timo_3d, mesh: net, E: 2.1e+11, nu: 0.3, rho: 7800.0, "
         "orientation: [0.36, 0.48, 0.8], section: {type: rectangle, width: 0.01, height: 0.01, "
         "shear_factor: 0.8333333333333333}}")
# Equations, boxes, and how far the lattice reaches along y, m.
PLANE = [(1e4, [33, 100], 10.0), (1e5, [33, 1000], 100.0), (1e6, [33, 10000], 1000.0)]
BOXES = [(1e4, [8, 14, 14], 1.4), (1e5, [16, 31, 31], 3.1), (3e5, [23, 46, 46], 4.6), (1e6, [33, 70, 70], 7.0)]
PILES = [(6e2, 5, 4), (1e4, 12, 7), (6e4, 32, 10)]  # equations, beams in a layer, layers
TWENTY = 20.0 * 1.1e-4  # m, way of the lattice in twenty steps


def lattices(boxes, more):
    for dofs, cells, wide in boxes:
        yield dofs, "cases/frame_lattice", [
            f"mesh.net.cells={cells}", f"contacts.wall.normal=[1, {TWENTY / wide!r}, 0]", "solver.type=schur", *more,
            "contacts.wall.point=[0.0009, 0, 0]", "time={step: 1.1e-5, end: 2.75e-4}"]


def piles(folder, scheme, end):
    for dofs, width, layers in PILES:
        path = os.path.join(folder, "pile.yaml")
        with open(path, "w") as file:
            file.write(make_pile.pile(width, layers, 1e-4))
        yield dofs, path, [f"scheme={{type: {scheme}}}", f"time.end={end}"]


def show(title, models, folder):
    print(f"\n{title}\nequations contacts  steps    B/eq set-up s  us/step/eq  rounds  most   balance    E_kin")
    for dofs, path, sets in models:
        if dofs > LARGEST:
            continue
        words = [word for text in (*sets, "output={frames: false, view: false}") for word in ("--set", text)]
        subprocess.run([sys.argv[1], "run", path, "-q", "-o", folder, "--overwrite", *words], check=True)
        with open(os.path.join(folder, "summary.json")) as file:
            found = json.load(file)
        size, steps, spent, energy = found["model"], found["steps"], found["wall_time"], found["energy"]
        momentum = next(c for c in found["certificate"]["checks"] if c["name"] == "momentum balance")
        n = size["dofs"]
        print(f"{n:9} {size['contact_points']:8} {steps['done']:6} {found['memory_bytes'] / n:7.0f} "
              f"{spent['setup']:8.2f} {1e6 * spent['step'] / steps['done'] / n:11.2f} {steps['iterations_mean']:7.1f} "
              f"{steps['iterations_max']:5} {momentum['worst_value'] / momentum['tolerance'] * 1e-11:9.1e} "
              f"{energy['kinetic'] / energy['largest_kinetic']:8.1e}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if WHAT in ("", "plane"):
            show("Plane lattices, 33 boxes deep", lattices(PLANE, []), folder)
        if WHAT in ("", "space"):
            show("Lattices in space", lattices(BOXES, [SPACE]), folder)
        if WHAT in ("", "pile"):
            show("Piles with friction until they rest", piles(folder, "moreau_jean, theta: 0.5", 0.25), folder)
            show("The same during the impact", piles(folder, "alpha_ggl, rho_inf: 0.8", 0.025), folder)


if __name__ == "__main__":
    main()
