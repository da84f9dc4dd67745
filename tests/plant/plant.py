"""Plants faults in the sources, one at a time, and asks whether the runs that should notice do.

    /usr/bin/python3 tests/plant/plant.py FOLDER [NAME ...]

FOLDER gets a copy of the tree and its build; only faults whose name holds one of the NAMEs are planted. Every run ends
well before anything is planted. With a fault in, each of its runs has to end with status 1 and the text of the check;
where no check is named they are tests, or READMEs with claims, which have to fail.
"""

import filecmp
import os
import shutil
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETTLING, OWN = "tests/study/settling/", "tests/plant/"
SOFT = "power of damping = booked damping loss"
ENERGY = "forces follow from the energy"
GYRO = "gyroscopic moments follow from the angular momentum"
LAWS = "restitution and friction are the numbers of the case"
RATES = "gap rates follow the gaps"
BENDS = "gap accelerations follow the gap rates"
BOOKS = "work of forces = change of energies + booked losses"
CONE = "friction <= mu x contact impulse"
TRAVEL = "travel times of waves by mass and stiffness"
BEAMS = ["cases/beam_pendulum", "cases/double_pendulum_stop", SETTLING + "spun_beam.yaml"]
TUMBLING = [OWN + "tumbling.yaml", OWN + "tumbling.yaml --set scheme.type=half_explicit",
            OWN + "tumbling.yaml --set scheme.type=moreau_jean --set scheme.theta=0.5", SETTLING + "coin.yaml",
            SETTLING + "box.yaml"]
PULLED = [OWN + "ring.yaml --set scheme.type=" + scheme for scheme in ("event_driven", "mannshardt")]
SOFTLY = [OWN + "hertz_ball.yaml --set contacts.floor.friction=0.2"]
# Gains of 0.1 to 0.5 of the energy, by a scheme whose equations are not checked: seen by the cap alone.
THROWN = 'cases/ball --set system.velocity=3.0 --set scheme={"type":"tdg_minus","degree":2} --set time.end='
LEAVE = "    memcpy(next->q, s->base.q[M], (size_t)n * sizeof(double));"

# name; file, old text, new text; runs and the check that notices, or tests and None
FAULTS = [
    ("restitution squared", "src/build/joints.c", "newton->restitution = keys.restitution;",
     "newton->restitution = keys.restitution * keys.restitution;",
     [folder + "ring.yaml --set contacts.ring.restitution=0.5" for folder in (OWN, SETTLING)], LAWS),
    ("restitution of closed forms squared", "src/closed_form/closed_form.c", "restitution = given[j].restitution;",
     "restitution = given[j].restitution * given[j].restitution;",
     ["cases/ball", "cases/oscillator", "cases/pendulum", "cases/rocking_block", "cases/spinning_ball"], LAWS),
    ("friction times 1.1", "src/rows/table.c", ".friction = model->friction,", ".friction = 1.1 * model->friction,",
     [SETTLING + name + ".yaml" for name in ("ring", "coin", "box", "ball")]
     + ["cases/rotor"] + SOFTLY, LAWS),
    ("gyroscopic moment of bodies dropped", "elements/rigid_body.c", "p[3 + k] - gyration[k];",
     "p[3 + k] - 0.0 * gyration[k];", TUMBLING, GYRO),
    ("gyroscopic moment of beams dropped", "elements/beam_exact_3d.c", "f[i + k] -= gyro[k];",
     "f[i + k] -= 0.0 * gyro[k];", [OWN + "beam_space.yaml"], GYRO),
    ("shear force times 1.2", "elements/beam_exact_2d.c", "n[a] = own->length * own->D[a] *",
     "n[a] = (a == 1 ? 1.2 : 1.0) * own->length * own->D[a] *", BEAMS, ENERGY),
    ("shear force in space times 1.2", "elements/beam_exact_3d.c",
     "    pcs_rotation_apply(state->cell->Dm, psi, out->m);",
     "    pcs_rotation_apply(state->cell->Dm, psi, out->m);\n    out->n[1] *= 1.2;\n    out->n[2] *= 1.2;",
     ["cases/beams_crossed", OWN + "beam_space.yaml"], ENERGY),
    ("Hertz force times 1.1", "src/rows/force_law.c", "= elastic * grip", "= 1.1 * elastic * grip",
     [OWN + "hertz_ball.yaml", OWN + "hertz_ball.yaml --set scheme.type=half_explicit"], ENERGY),
    ("Hertz force on a bar times 1.1", "src/rows/force_law.c", "= elastic * grip", "= 1.1 * elastic * grip",
     ["cases/hertz_bar"], BOOKS),
    ("wave mass 0.245", "elements/rod.c", "== ROD_ONE_POINT) return 0.25;", "== ROD_ONE_POINT) return 0.245;",
     ["cases/bar_wave", "cases/hopkinson"], TRAVEL),
    ("damping of exact beams doubled", "elements/beam_exact_2d.c", "+ batch->damping_stiffness * rate[a]",
     "+ 2.0 * batch->damping_stiffness * rate[a]", [OWN + "beam_damped.yaml"], SOFT),
    ("damping of exact beams in space doubled", "elements/beam_exact_3d.c",
     "0.0 : batch->damping_stiffness * rates->psi[k]",
     "0.0 : 2.0 * batch->damping_stiffness * rates->psi[k]", [OWN + "beam_space.yaml"], SOFT),
    ("contact arm dropped", "src/rows/source.h", "    pcs_cross(arm, force, term->moment);",
     "    pcs_cross(arm, force, term->moment);\n    for (int k = 0; k < 3; k++) term->moment[k] *= 0.0;",
     [SETTLING + "coin.yaml --set scheme.type=alpha_ggl", SETTLING + "coin.yaml"], RATES),
    ("damping of beams booked half", "src/schemes/implicit.c", "report->damping_loss = pcs",
     "report->damping_loss = 0.5 * pcs", [OWN + "beam_damped.yaml", OWN + "beam_space.yaml"], BOOKS),
    ("force of a linear rod times 0.98", "elements/rod.c", "f[0] += k * (q[1] - q[0]);",
     "f[0] += 0.98 * k * (q[1] - q[0]);", ["cases/bar_impact", "cases/bar_fast"], ENERGY),
    ("damping of linear models booked half", "src/schemes/explicit.c", "report->damping_loss = pcs",
     "report->damping_loss = 0.5 * pcs", [OWN + "bar_damped.yaml"], BOOKS),
    ("force of a closed form times 0.98", "src/closed_form/pendulum.c", "f[1] = -p[MASS]", "f[1] = -0.98 * p[MASS]",
     ["cases/pendulum", "cases/pendulum --set scheme.type=half_explicit"], ENERGY),
    ("plastic stress times 0.98", "elements/rod.c", "double stress = E *", "double stress = 0.98 * E *",
     ["cases/bar_plastic", "cases/bar_plastic --set scheme.type=alpha_ggl"], BOOKS),
    ("viscous stress times 0.98", "elements/rod.c", ".stress = relaxed *", ".stress = 0.98 * relaxed *",
     ["cases/bar_viscoelastic", "cases/bar_viscoelastic --set scheme.type=alpha_ggl"], BOOKS),
    ("soft friction times 1.1", "src/rows/table.c", "x->force[i] = friction *",
     "x->force[i] = 1.1 * friction *", SOFTLY, CONE),
    ("loss of soft friction booked half", "src/rows/table.c", "fmax(0.0, before - x.energy - work)",
     "0.5 * fmax(0.0, before - x.energy - work)", SOFTLY, BOOKS),
    ("velocity times 1.1 in a step of tdg", "src/schemes/galerkin.c", LEAVE,
     "for (int i = 0; i < n; i++) next->v[i] *= 1.1;\n" + LEAVE, [THROWN + "0.002"], "energy gained in a step"),
    ("velocity times 1.002 in steps of tdg", "src/schemes/galerkin.c", LEAVE,
     "for (int i = 0; i < n; i++) next->v[i] *= 1.002;\n" + LEAVE, [THROWN + "0.1"], "energy gained since the start"),
    ("sign of a curvature", "src/rows/node_circle.c", "bias + speed * speed /",
     "bias - speed * speed /", PULLED, BENDS),
    ("tangent of exact beams", "elements/beam_exact_2d.c", "        A[i][2] += change;",
     "        A[i][2] += 1.01 * change;", ["contract/test_element"], None),
    ("angle of arcs", "elements/beam_exact_3d.c", "half[k] = asin(", "half[k] = 0.98 * asin(",
     ["regression/test_statics_large"], None),
    ("torsion of exact beams", "elements/beam_exact_3d.c", "{ G * s->torsion,", "{ 1.02 * G * s->torsion,",
     ["regression/test_statics_large"], None),
    ("shear stiffness of exact beams", "elements/beam_exact_3d.c", "G * s->area * s->ky,",
     "1.02 * G * s->area * s->ky,", ["regression/test_statics_large", "unit/test_taper"], None),
    ("beta of Newmark's rule", "src/schemes/implicit.c", "isnan(beta) ? 0.25 *", "isnan(beta) ? 0.252 *",
     ["cases/bar_impact/README.md"], None),
    ("weights of the alpha family", "src/schemes/implicit.c", "(2.0 * rho - 1.0) /", "(2.0 * rho - 1.01) /",
     ["contract/test_scheme", "cases/bar_impact/README.md"], None),
    ("filter of hht", "src/schemes/alpha_velocity.c", "    return velocity_setup(self, w);",
     "    w.af *= 1.01;\n    return velocity_setup(self, w);",
     ["contract/test_scheme", "cases/bar_impact/README.md"], None),
    ("stiffness of a closed form", "src/closed_form/slider_crank.c", "K[1] = -c *", "K[1] = -1.01 * c *",
     ["unit/test_closed_forms"], None),
    ("curvature of bearings", "src/rows/node_circle.c", "bias += s->distance *", "bias += 1.1 * s->distance *",
     ["contract/test_gap_bodies"], None),
    ("gyroscopic moment of discs", "elements/rigid_body.c", "= speed * polar *", "= 1.01 * speed * polar *",
     ["regression/test_modes"], None),
    ("inertia of exact beams in space", "elements/beam_exact_3d.c", " rho * s->Iy, rho",
     " 1.01 * rho * s->Iy, rho", ["unit/test_taper"], None),
    ("weights of a tableau", "src/schemes/tableau.c", "(16.0 + W) / 36.0, 1.0 / 9.0 },",
     "(16.0 + W) / 36.001, 1.0 / 9.0 },", ["convergence/test_rigid_orders"], None),
    ("section of tubes", "elements/section.c", "circle_constant / 64.0 *",
     "circle_constant / 64.1 *", ["unit/test_sections"], None),
    ("bias of distances", "src/rows/distance.c", "rows->bias -= length *",
     "rows->bias -= 1.01 * length *", ["contract/test_joint"], None),
    ("pulse of a half sine", "src/core/amplitude.c", "a->size * sin(pi * x) : a->size;",
     "a->size * sin(3.14 * x) : a->size;", ["unit/test_fe"], None),
    ("acceleration of a drive", "src/rows/prescribed.c", "+ 2.0 * r[1] * x[1]",
     "+ 2.002 * r[1] * x[1]", ["unit/test_joint"], None),
    ("slope of acos", "src/core/expression.c", "    case PCS_OP_ACOS: slopes[0] = -1.0 /",
     "    case PCS_OP_ACOS: slopes[0] = -1.01 /", ["unit/test_expression"], None),
    ("consistent mass of rods", "elements/section.h", "3.0, 1.0 / 6.0,", "3.0, 1.001 / 6.0,",
     ["contract/test_element_sums"], None),
    ("potential of the ball in a box", "src/closed_form/ball_in_box.c", "*potential = p[MASS]",
     "*potential = 1.001 * p[MASS]", ["unit/test_closed_forms"], None),
    ("series of rotations", "src/core/rotation.c", "0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0",
     "0.5 - x * (1.0 / 24.0 - x * (1.0 / 744.0", ["unit/test_rotation"], None),
    ("pressure angle of gears", "src/rows/gear.c", "= sense * sin(angle);",
     "= 1.001 * sense * sin(angle);", ["regression/test_gears"], None),
    ("arms of bushings", "elements/bushing.c", "own[3 + j] = sign *",
     "own[3 + j] = 1.01 * sign *", ["contract/test_element"], None),
    ("energy of Hertz's law", "src/rows/force_law.c", "d / (exponent + 1.0);",
     "d / (exponent + 1.01);", ["contract/test_force_laws"], None),
    ("weights of tdg", "src/schemes/galerkin.c", "scale = 1.0 / (tau[k] - tau[j]);",
     "scale = 1.0001 / (tau[k] - tau[j]);", ["convergence/test_rigid_orders"], None),
    ("nodes of arcs", "mesh/arc.c", "s = sin(rest);", "s = 1.001 * sin(rest);", ["python/test_meshes"], None),
    ("potential of weight", "src/fe/loads.c", "*potential -= force[i] *",
     "*potential -= 1.001 * force[i] *", ["unit/test_fe"], None),
    ("loss of impacts", "src/sim/sim.c", "l->impact_loss += r->",
     "l->impact_loss += 0.99 * r->", ["cases/bar_impact/README.md"], None),
    ("stable step", "src/fe/stable.c", "(sqrt(1.0 + xi * xi) + xi);",
     "(sqrt(1.0 + xi * xi) + 1.01 * xi);", ["unit/test_fe"], None),
    ("gates of contacts", "src/step/dense_contacts.c", "contacts_add_product(p->m, p->n, P_gate",
     "contacts_add_product(p->m, p->m, P_gate", ["unit/test_contact_problem"], None),
    ("relaxation of viscous rods", "elements/rod.c", "exp(-x) * from[VISCOUS_SPRING]",
     "exp(-1.001 * x) * from[VISCOUS_SPRING]", ["regression/test_materials"], None),
    ("loss of separate impacts", "src/schemes/scheme.c", "normal_loss = -la * (0.5 *",
     "normal_loss = -la * (0.501 *", ["unit/test_implicit_schemes"], None),
]


def is_script(test):
    return os.path.exists(os.path.join(TREE, "tests", test + ".py"))


def build(folder, faults):
    """The program, its library, and the tests that these faults name."""
    tests = sorted({words.replace("/", "_") for fault in faults if fault[5] is None for words in fault[4]
                    if not words.endswith(".md") and not is_script(words)})
    subprocess.run(["cmake", "--build", folder + "/build", "--parallel", str(os.cpu_count() or 1), "--target",
                    "percuss_program", "percuss_shared", *tests, "--", "-s"], check=True, stdout=subprocess.DEVNULL)


def run(folder, words, check):
    """Status and messages of a run, of a test or of the claims of a README, in the copy of the tree."""
    command = [folder + "/build/percuss", "run", *words.split(), "-o", folder + "/out", "--quiet"]
    if check is None and words.endswith(".md"):
        command = [sys.executable, "tests/python/test_claims.py", folder + "/build/percuss", words]
    elif check is None and is_script(words):
        command = ["/usr/bin/python3", "tests/" + words + ".py", folder + "/build/percuss"]
    elif check is None:
        command = [folder + "/build/tests/" + words.replace("/", "_")]
    shutil.rmtree(folder + "/out", ignore_errors=True)
    done = subprocess.run(command, cwd=folder + "/tree", capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


def prepare(folder):
    os.makedirs(folder, exist_ok=True)
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True)
    for name in names.stdout.split("\n"):
        source, target = os.path.join(TREE, name), os.path.join(folder, "tree", name)
        if not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.isfile(target) or not filecmp.cmp(source, target, shallow=False):
            shutil.copy(source, target)  # with the time of now, so that what a killed run has planted is built anew
    subprocess.run(["cmake", "-S", folder + "/tree", "-B", folder + "/build", "-DPERCUSS_TESTS=ON"], check=True,
                   stdout=subprocess.DEVNULL)


def plant(folder, fault):
    """How many of the runs notice."""
    name, file, old, new, runs, check = fault
    path = os.path.join(folder, "tree", file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if text.count(old) != 1:
        print(f"{name}: '{old}' is {text.count(old)} times in {file}, must be there once")
        return 0
    try:
        with open(path, "w", encoding="utf-8") as source:
            source.write(text.replace(old, new))
        build(folder, [fault])
        seen = 0
        for words in runs:
            status, told = run(folder, words, check)
            is_seen = status != 0 if check is None else status == 1 and check in told
            seen += is_seen
            if not is_seen:
                print(f"  {words}: status {status} {told.strip()[-200:]}")
    finally:
        with open(path, "w", encoding="utf-8") as source:
            source.write(text)
    return seen


def main():
    folder, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    faults = [fault for fault in FAULTS if not wanted or any(word in fault[0] for word in wanted)]
    prepare(folder)
    build(folder, faults)
    status = 0
    for words, is_test in sorted({(words, fault[5] is None) for fault in faults for words in fault[4]}):
        code, told = run(folder, words, None if is_test else "")
        if code != 0:
            status = 1
            print(f"without a fault {words} ends with {code}: {told.strip()[-300:]}")
    for fault in faults:
        seen = plant(folder, fault)
        print(f"{fault[0]:40} seen in {seen} of {len(fault[4])} runs", flush=True)
        status = status or int(seen < len(fault[4]))
    sys.exit(status)


main()
