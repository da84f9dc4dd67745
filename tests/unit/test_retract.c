// Positions that do not add up: composition of rotations, its derivative for vectors and for columns of matrices.

#include "core/rotation.h"
#include "support/check.h"
#include "support/model.h"
#include "support/text_case.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };

// Two exact beams whose first node is held, a point mass that only moves, and a body.
static const char text[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [2, 1, 0.5], elements: 2 },\n"
    "        mass: { type: point, at: [7, 0, 0] }, body: { type: point, at: [5, 0, 0] } }\n"
    "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 200, nu: 0.25, rho: 3, orientation: [0, 0, 1],\n"
    "                    section: { type: rectangle, width: 0.3, height: 0.2 } },\n"
    "            mass: { type: point_mass, mesh: mass, mass: 2 },\n"
    "            body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [1, 2, 2.5] } }\n"
    "supports: { clamp: { set: beam.start, fix: [x, y, z, rx, ry, rz] } }\n"
    "scheme: { type: alpha_ggl, rho_inf: 0.9 }\ntime: { step: 1.0e-3, end: 1.0 }\n";

// Where rotation vectors begin: the middle and the end of the beam, then the body.
static const int spins[3] = { 3, 9, 18 };

static text_case open_state(double *q, double *x)
{
    text_case c = text_case_open(text, NULL);
    unsigned long long seed = 5;
    CHECK(c.sim->system->nv == 21);
    model_randomize(&seed, 21, q);
    model_randomize(&seed, 21, x);
    for (int i = 0; i < 21; i++) x[i] *= 1.5;
    return c;
}

TEST(rotations_multiply_and_the_rest_adds_up)
{
    double q[MOST], x[MOST], out[MOST], same[MOST];
    text_case c = open_state(q, x);
    const pcs_system *s = c.sim->system;
    pcs_retract(&s->rotations, q, x, out);
    memcpy(same, x, sizeof same);
    pcs_retract(&s->rotations, q, same, same); // q may be x
    CHECK_ALL_NEAR(21, same, out, 0.0);
    memcpy(same, q, sizeof same);
    pcs_retract(&s->rotations, same, x, same); // or q0
    CHECK_ALL_NEAR(21, same, out, 0.0);
    for (int i = 0; i < 3; i++) {
        double A[9], B[9], AB[9], R[9];
        pcs_rotation_exp(q + spins[i], A);
        pcs_rotation_exp(x + spins[i], B);
        pcs_rotation_exp(out + spins[i], R);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                AB[3 * r + k] = A[3 * r] * B[k] + A[3 * r + 1] * B[3 + k] + A[3 * r + 2] * B[6 + k];
        CHECK_ALL_NEAR(9, R, AB, 1e-14);
        for (int k = 0; k < 3; k++) out[spins[i] + k] = q[spins[i] + k] + x[spins[i] + k];
    }
    for (int i = 0; i < 21; i++) CHECK_NEAR(out[i], q[i] + x[i], 0.0);
    text_case_close(&c);
}

// The material spin by which the result turns when x changes along y.
TEST(turn_is_the_derivative)
{
    const double by = 1e-3, weight[4] = { 1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0 };
    double q[MOST], x[MOST], y[MOST], rotated[MOST], at[MOST], slope[MOST] = { 0 };
    unsigned long long seed = 9;
    text_case c = open_state(q, x);
    const pcs_system *s = c.sim->system;
    model_randomize(&seed, 21, y);
    memcpy(rotated, y, sizeof rotated);
    pcs_rotate_vector(&s->rotations, x, rotated);
    pcs_retract(&s->rotations, q, x, at);
    for (int k = 0; k < 4; k++) {
        double moved[MOST], there[MOST], step = by * (const double[4]){ -2, -1, 1, 2 }[k];
        for (int i = 0; i < 21; i++) moved[i] = x[i] + step * y[i];
        pcs_retract(&s->rotations, q, moved, there);
        for (int i = 0; i < 21; i++) there[i] -= at[i];
        for (int i = 0; i < 3; i++) {
            double back[3];
            for (int j = 0; j < 3; j++) {
                there[spins[i] + j] += at[spins[i] + j];
                back[j] = -at[spins[i] + j];
            }
            pcs_rotation_compose(back, there + spins[i], there + spins[i]);
        }
        for (int i = 0; i < 21; i++) slope[i] += weight[k] * there[i] / by;
    }
    CHECK_ALL_NEAR(21, rotated, slope, 1e-10);
    text_case_close(&c);
}

// (A T) y = A (T y).
TEST(columns_turn_alike)
{
    double q[MOST], x[MOST], y[MOST], rotated[MOST], expected[MOST], actual[MOST], zero[MOST] = { 0 };
    unsigned long long seed = 11;
    text_case c = open_state(q, x);
    pcs_system *s = c.sim->system;
    s->ops->update(s, pcs_at(0.0, q, zero), PCS_TANGENTS, NULL);
    for (int round = 0; round < 3; round++) {
        model_randomize(&seed, 21, y);
        memcpy(rotated, y, sizeof rotated);
        pcs_rotate_vector(&s->rotations, x, rotated);
        s->ops->update(s, pcs_at(0.0, q, zero), PCS_TANGENTS, NULL);
        pcs_matrix_multiply(s->K, rotated, expected);
        pcs_rotate_columns(&s->rotations, x, s->K);
        pcs_matrix_multiply(s->K, y, actual);
        CHECK_ALL_NEAR(21, actual, expected, 1e-11);
    }
    text_case_close(&c);
}

// Also where the rotation vectors at both ends lie on opposite sides of pi.
TEST(way_is_the_inverse)
{
    double q[MOST], x[MOST], out[MOST];
    text_case c = open_state(q, x);
    const pcs_system *s = c.sim->system;
    pcs_retract(&s->rotations, q, x, out);
    pcs_difference(&s->rotations, q, out, out); // x may be q1
    CHECK_ALL_NEAR(21, out, x, 1e-14);
    for (int k = 0; k < 3; k++) {
        q[spins[1] + k] = (k == 1) * 3.14;
        x[spins[1] + k] = (k == 1) * 0.01;
    }
    pcs_retract(&s->rotations, q, x, out);
    CHECK(out[spins[1] + 1] < -3.13);
    pcs_difference(&s->rotations, q, out, out);
    CHECK_ALL_NEAR(21, out, x, 1e-14);
    text_case_close(&c);
}
