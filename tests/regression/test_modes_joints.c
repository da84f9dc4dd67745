// Modes of models with joints and closed contacts: every mode that exists comes, and no other one, however many are
// asked for.

#include "support/check.h"
#include "support/still.h"

#include "analysis/stiffness.h"
#include "build/build.h"
#include "core/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

// No row that holds moves, beside what the fastest coordinate could do to it.
static void check_rows(const still *s, const pcs_mode *m, const unsigned char *held)
{
    const pcs_rows *G = s->on.system->G;
    double fastest = 0.0;
    for (int i = 0; i < s->on.system->nv; i++) fastest = fmax(fastest, fabs(m->re[i]));
    for (int j = 0; j < s->on.system->nrow; j++) {
        if (!s->on.system->rows[j].is_bilateral && (held == NULL || !held[j])) continue;
        double size = 0.0;
        for (int p = G->start[j]; p < G->start[j + 1]; p++) size += fabs(G->value[p]) * fastest;
        CHECK_NEAR(pcs_rows_dot(G, j, m->re), 0.0, 1e-12 * size);
    }
}

// As many modes as the rows leave, independent of one another and held by the rows, span all motions: lambda of each is
// exact where y . K x = lambda y . M x holds with every other one.
static void check_modes(const still *s, const pcs_modes_options *options, int count)
{
    static double gram[MOST * MOST], vectors[MOST * MOST];
    pcs_modes modes;
    pcs_stiffness stiff;
    double Kx[MOST], Mx[MOST], values[MOST], top = 0.0; // of the problem without rows
    int n = s->on.system->nv;
    CHECK_OK(s->ctx, pcs_modes_find(&s->on, options, &modes));
    CHECK(modes.count == count && n <= MOST);
    CHECK_OK(s->ctx, pcs_stiffness_create(s->on.system, false, &stiff));
    pcs_stiffness_update_K(&stiff, modes.at, options->force);
    pcs_stiffness_update_M(&stiff);
    for (int j = 0; j < n; j++) {
        int K = pcs_pattern_find(stiff.K.pattern, j, j), M = pcs_pattern_find(stiff.M.pattern, j, j);
        if (K >= 0 && M >= 0) top = fmax(top, fabs(stiff.K.value[K]) / stiff.M.value[M]);
    }
    for (int k = 0; k < count; k++) {
        const pcs_mode *m = &modes.modes[k];
        double lambda = m->kind == PCS_MODE_DIVERGENCE ? -m->w * m->w : m->w * m->w;
        check_rows(s, m, options->held);
        pcs_matrix_multiply(&stiff.K, m->re, Kx);
        pcs_matrix_multiply(&stiff.M, m->re, Mx);
        double own = pcs_dense_dot(n, m->re, Mx);
        CHECK_NEAR(pcs_dense_dot(n, m->re, Kx) / own, lambda, 1e-9 * fabs(lambda) + 1e-13 * top);
        for (int l = 0; l < count; l++) {
            const pcs_mode *other = &modes.modes[l];
            double mass = pcs_dense_dot(n, other->re, Mx), work = pcs_dense_dot(n, other->re, Kx);
            gram[k * count + l] = mass;
            CHECK_NEAR(work - lambda * mass, 0.0, (1e-8 * fmax(lambda, other->w * other->w) + 1e-13 * top) * own);
        }
    }
    for (int k = 0; k < count; k++) values[k] = sqrt(gram[k * count + k]);
    for (int k = 0; k < count * count; k++) gram[k] /= values[k / count] * values[k % count];
    pcs_jacobi(count, gram, values, vectors);
    CHECK(values[0] > 1e-9);
}

// More are asked for than there are, of both problems.
static void check_reference(const char *text, const char *assignments, int count)
{
    for (int whirl = 0; whirl < 2; whirl++) {
        still s = still_open(text, assignments);
        check_modes(&s, &(pcs_modes_options){ .count = count + 7, .is_whirl = whirl == 1 }, count);
        still_close(&s);
    }
}

static void check_equilibrium(const char *text, const char *assignments, int count)
{
    for (int whirl = 0; whirl < 2; whirl++) {
        still s = still_open(text, assignments);
        double *q;
        q = pcs_take(s.ctx, (size_t)s.on.system->nq, sizeof *q, "a state");
        CHECK(q != NULL);
        pcs_statics statics = still_statics(&s, 0, q);
        pcs_modes_options options = { .count = count + 7, .is_whirl = whirl == 1, .q = q, .load_factor = 1.0 };
        options.held = statics.held;
        options.force = statics.force;
        check_modes(&s, &options, count);
        still_close(&s);
    }
}

static const char beam[] = "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 3 } }\n"
                           "elements: { beam: { type: beam_timo_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7850.0,\n"
                           "  section: { type: rectangle, width: 0.02, height: 0.01 } } }\n";

TEST(a_joint_leaves_the_modes_of_a_support)
{
    check_reference(beam, "joints.root={type: fixed, node: beam.start}", 9);
    check_reference(beam, "supports.root={set: beam.start, fix: [x, y, rz]}", 9);
}

// Rows that say the same twice count once.
TEST(redundant_joints_count_once)
{
    check_reference(beam,
                    "joints.root={type: fixed, node: beam.start}; joints.again={type: fixed, node: beam.start}; "
                    "joints.pin={type: hinge, node: beam.start}",
                    9);
    const char *door = "mesh: { b: { type: point, at: [1, 0, 0] } }\n"
                       "elements: { b: { type: rigid_body_3d, mesh: b, mass: 2.0, inertia: [0.5, 0.5, 0.5] } }\n"
                       "joints: { low: { type: hinge, node: b, at: [0, 0, 0], axis: [0, 1, 0] },\n"
                       "          high: { type: hinge, node: b, at: [0, 1, 0], axis: [0, 1, 0] } }\n"
                       "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n";
    check_reference(door, NULL, 1);
    check_equilibrium(door, NULL, 1);
}

TEST(bodies_on_joints_have_few_modes)
{
    const char *arm = "mesh: { b: { type: point, at: [1, 0, 0] } }\n"
                      "elements: { b: { type: rigid_body_2d, mesh: b, mass: 2.0, inertia: 0.5 } }\n"
                      "joints: { pin: { type: hinge, node: b, at: [0, 0, 0] } }\n"
                      "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n";
    check_reference(arm, NULL, 1);
    check_equilibrium(arm, NULL, 1);
    check_reference("mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] } }\n"
                    "elements: { a: { type: point_mass, mesh: a, mass: 2.0 },\n"
                    "            b: { type: point_mass, mesh: b, mass: 3.0 } }\n"
                    "joints: { rod: { type: distance, a: a, b: b } }\n",
                    NULL, 5);
    check_equilibrium("system: { type: pendulum, wall: -5.0 }\n", NULL, 1);
}

TEST(a_model_that_joints_hold_has_no_modes)
{
    still s = still_open("mesh: { b: { type: point, at: [1, 0, 0] } }\n"
                         "elements: { b: { type: rigid_body_2d, mesh: b, mass: 2.0, inertia: 0.5 } }\n"
                         "joints: { weld: { type: fixed, node: b } }\n",
                         NULL);
    pcs_modes modes;
    for (int whirl = 0; whirl < 2; whirl++) {
        pcs_modes_options options = { .count = 3, .is_whirl = whirl == 1 };
        CHECK(pcs_modes_find(&s.on, &options, &modes) == PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(s.ctx), "nothing that has mass can move: joints and closed contacts hold it");
    }
    still_close(&s);
}

// Two bodies that hang from balls turn freely about the vertical: what differences leave of that is no motion that
// grows or vibrates. The lower one has the same inertia about all axes, lest frequencies depend on where they come to
// rest.
TEST(hanging_bodies_turn_freely)
{
    const char *text = "mesh: { b: { type: point, at: [1, 0.3, 0.2] }, c: { type: point, at: [1.3, -0.5, 0.1] } }\n"
                       "elements: { b: { type: rigid_body_3d, mesh: b, mass: 2.0, inertia: [0.5, 0.4, 0.3] },\n"
                       "            c: { type: rigid_body_3d, mesh: c, mass: 2.0, inertia: [0.4, 0.4, 0.4] } }\n"
                       "joints: { h: { type: ball, node: b, at: [0, 0, 0] },\n"
                       "          k: { type: ball, a: b, b: c, at: [1.1, 0, 0.15] } }\n"
                       "loads: { g: { type: gravity, g: [0, -9.81, 0] } }\n";
    for (int whirl = 0; whirl < 2; whirl++) {
        still s = still_open(text, NULL);
        double q[64] = { 0 };
        CHECK(s.on.system->nq <= 64);
        memcpy(q, s.on.start, (size_t)s.on.system->nq * sizeof *q);
        pcs_statics statics = still_statics(&s, 0, q);
        pcs_modes modes;
        pcs_modes_options options = { .count = 10, .is_whirl = whirl == 1, .q = q, .load_factor = 1.0 };
        options.held = statics.held;
        options.force = statics.force;
        CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
        CHECK(modes.count == 6);
        for (int k = 0; k < 6; k++) CHECK(modes.modes[k].kind == (k < 2 ? PCS_MODE_RIGID : PCS_MODE_VIBRATION));
        // The unsymmetric problem of whirl leaves residuals up to 6e-8, whatever the rounding.
        CHECK_RELATIVE(modes.modes[2].w, 2.471073839, whirl == 1 ? 1e-7 : 1e-9);
        still_close(&s);
    }
}

// Closed contacts hold as joints do.
TEST(closed_contacts_take_their_modes)
{
    check_equilibrium("system: { type: oscillator }\n", NULL, 1);
    check_equilibrium(beam,
                      "supports.root={set: beam.start, fix: [x, y, rz]}; "
                      "loads.weight={type: gravity, g: [0.0, -9.81, 0.0]}; "
                      "contacts.stop={type: node_plane, nodes: beam.end, point: [0, -1.0e-5, 0], "
                      "normal: [0, 1, 0], restitution: 0.0}",
                      8);
}

// As many beams on hinges as no search for rigid motions looks at: each turns freely, the rest vibrates as the dense
// solution says, and iteration and dense solution agree.
TEST(hinges_let_every_beam_turn)
{
    enum { BEAMS = 60, FEW = 24 };
    static char text[32768];
    size_t used = 0;
    double x = 0.0, y = 0.0;
    text[0] = '\0';
    for (int i = 0; i < BEAMS; i++) {
        double to_x = x + cos(0.3 * i), to_y = y + sin(0.3 * i);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%smesh.b%d={type: line, from: [%.17g, %.17g, 0], to: [%.17g, %.17g, 0], elements: 2};"
                                 "elements.b%d={type: beam_timo_2d, mesh: b%d, E: 2.1e11, nu: 0.3, rho: 7850.0, "
                                 "section: {type: rectangle, width: 0.02, height: 0.01}};",
                                 i == 0 ? "" : " ", i, x, y, to_x, to_y, i, i);
        if (i == 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "joints.j0={type: hinge, node: b0.start};");
        else
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "joints.j%d={type: hinge, a: b%d.end, b: b%d.start};", i, i - 1, i);
        x = to_x;
        y = to_y;
    }
    still s = still_open("mesh: {}\nelements: {}\n", text);
    pcs_modes some = still_modes(&s, BEAMS + 4, PCS_EIGEN_ARPACK), all = still_modes(&s, 9 * BEAMS, PCS_EIGEN_DENSE);
    CHECK(some.count == BEAMS + 4 && all.count == 7 * BEAMS);
    for (int k = 0; k < BEAMS + 4; k++) {
        CHECK(all.modes[k].kind == (k < BEAMS ? PCS_MODE_MECHANISM : PCS_MODE_VIBRATION));
        CHECK(some.modes[k].kind == all.modes[k].kind);
        CHECK_NEAR(some.modes[k].w, all.modes[k].w, 1e-11 * all.modes[k].w);
    }
    pcs_modes few = still_modes(&s, FEW, PCS_EIGEN_ARPACK);
    CHECK(few.count == FEW);
    for (int k = 0; k < FEW; k++) CHECK(few.modes[k].kind == PCS_MODE_MECHANISM);
    still_close(&s);
}

// The crank is at a dead centre: the spring does not feel the only motion.
TEST(mechanisms_have_one_mode)
{
    still s = { 0 };
    CHECK_OK(NULL, pcs_context_create(&s.ctx));
    CHECK_OK(s.ctx, pcs_build_analysis_from(s.ctx, "cases/andrews", 0, NULL, &s.on));
    check_modes(&s, &(pcs_modes_options){ .count = 3 }, 1);
    still_close(&s);
}

// A rod stood on its end: the one mode falls.
TEST(unstable_modes_on_joints_are_found)
{
    still s = still_open("mesh: { b: { type: point, at: [0, 1, 0] } }\n"
                         "elements: { b: { type: rigid_body_2d, mesh: b, mass: 2.0, inertia: 0.5 } }\n"
                         "joints: { pin: { type: hinge, node: b, at: [0, 0, 0] } }\n",
                         NULL);
    double force[2] = { 0 };
    const pcs_rows *G = s.on.system->G;
    for (int j = 0; j < 2; j++)
        for (int p = G->start[j]; p < G->start[j + 1]; p++)
            if (G->column[p] == 1 && G->value[p] != 0.0) force[j] = 2.0 * 9.81 / G->value[p];
    pcs_modes_options options = { .count = 3, .q = s.on.start, .load_factor = 1.0, .force = force };
    check_modes(&s, &options, 1);
    pcs_modes modes;
    CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
    CHECK(modes.modes[0].kind == PCS_MODE_DIVERGENCE);
    CHECK_RELATIVE(modes.modes[0].w, sqrt(2.0 * 9.81 / 2.5), 1e-8);
    still_close(&s);
}

// Two clamped beams overlap by d L and are pinned at both ends of the overlap, a closed loop. A mode without moment at
// the middle knows nothing of the cut, whatever the unit of length.
TEST(joints_close_together_hold_in_every_unit)
{
    static const char text[] =
        "parameters: { L: 1.0, d: 1.0e-6, section: 0.02 }\n"
        "mesh: { a: { type: line, from: [0, 0, 0], to: ['${L*(1-d)}', 0, 0], elements: 6 },\n"
        "  tip: { type: line, from: ['${L*(1-d)}', 0, 0], to: ['${L}', 0, 0], elements: 1 },\n"
        "  end: { type: line, from: ['${L*(1-d)}', 0, 0], to: ['${L}', 0, 0], elements: 1 },\n"
        "  b: { type: line, from: ['${L}', 0, 0], to: ['${2*L}', 0, 0], elements: 6 } }\n"
        "merge: { left: { sets: [a.end, tip.start] }, right: { sets: [end.end, b.start] } }\n"
        "elements: { all: { type: beam_timo_2d, mesh: [a, tip, end, b], E: 2.1e11, nu: 0.3, rho: 7800,\n"
        "  section: { type: rectangle, height: '${L*section}', width: '${L*section}' } } }\n"
        "supports: { l: { set: a.start, fix: [x, y, rz] }, r: { set: b.end, fix: [x, y, rz] } }\n"
        "joints: { p: { type: hinge, a: tip.start, b: end.start }, q: { type: hinge, a: tip.end, b: end.end } }\n";
    for (int i = 0; i < 3; i++) {
        double size = pow(100.0, i - 1);
        still s = still_print(text, "parameters.L=%.17g", size);
        pcs_modes modes = still_modes(&s, 4, PCS_EIGEN_ARPACK);
        CHECK(modes.count == 4);
        CHECK_RELATIVE(modes.modes[1].w * size, 2.0 * acos(-1.0) * 73.40498899, 1e-6);
        still_close(&s);
    }
}
