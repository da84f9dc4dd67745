// Applied loads at a state: their entries where nodes have turned, slopes against differences.

#include "core/rotation.h"
#include "support/check.h"
#include "support/model.h"
#include "support/slopes.h"
#include "support/text_case.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };

#define RUN "scheme: { type: alpha_ggl, rho_inf: 0.9 }\ntime: { step: 1.0e-3, end: 1.0 }\n"
#define RISING ", amplitude: { table: [[1, 0], [3, 4]] }"

// Two exact beams in space and a rigid body, free, under loads of every kind; node i has the equations 6 i ... .
static const char space[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [2, 1, 0.5], elements: 2 }, body: { type: point, at: [5, 0, 0] } "
    "}\n"
    "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 200, nu: 0.25, rho: 3, orientation: [0, 0, 1],\n"
    "                    section: { type: rectangle, width: 0.3, height: 0.2 } },\n"
    "            body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [1, 2, 2.5] } }\n"
    "loads: { stands: { type: force, node: beam.start, value: [1, -2, 3] },\n"
    "         follows: { type: force, node: beam.end, value: [3, 1, -2], follower: true" RISING " },\n"
    "         turns: { type: moment, node: beam.start, value: [0.5, 2, -1]" RISING " },\n"
    "         carried: { type: moment, node: beam.end, value: [1, 3, 2], follower: true },\n"
    "         drive: { type: torque, node: body, value: -6, axis: [0, 3, 4] },\n"
    "         motor: { type: torque, node: body, value: 7, axis: [2, 0, 0], follower: true" RISING " },\n"
    "         push: { type: force, node: body, value: [0, 2, 1], follower: true },\n"
    "         line: { type: line, cells: beam, value: [0.3, -1, 2]" RISING " } }\n" RUN;

static const char plane[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0.5, 0], elements: 2 }, body: { type: point, at: [5, 0, 0] } "
    "}\n"
    "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 200, nu: 0.25, rho: 3,\n"
    "                    section: { type: rectangle, width: 0.3, height: 0.2 } },\n"
    "            body: { type: rigid_body_2d, mesh: body, mass: 2, inertia: 3 } }\n"
    "loads: { follows: { type: force, node: beam.end, value: [3, 1, 0], follower: true" RISING " },\n"
    "         turns: { type: moment, node: beam.start, value: [0, 0, -1] },\n"
    "         carried: { type: moment, node: beam.end, value: [0, 0, 2], follower: true },\n"
    "         drive: { type: torque, node: body, value: -6, axis: [0, 0, -2] },\n"
    "         push: { type: force, node: body, value: [0, 2, 0], follower: true },\n"
    "         line: { type: line, cells: beam, value: [0.3, -1, 0] } }\n" RUN;

static const double noon = 1.8; // the rising amplitude is 1.6 there

// Everything displaced, and turned by up to about 3 radians.
static void wander(const pcs_system *s, double *q)
{
    double zero[MOST] = { 0 }, x[MOST];
    unsigned long long seed = 17;
    CHECK(s->nv <= MOST);
    model_randomize(&seed, s->nv, x);
    for (int i = 0; i < s->nv; i++) x[i] *= 1.8;
    if (s->rotations.are_somewhere) pcs_retract(&s->rotations, zero, x, q);
    else memcpy(q, x, (size_t)s->nv * sizeof *q);
}

// What the loads alone give, at a factor.
static void load_force(pcs_system *s, double factor, double t, const double *q, double *f)
{
    double rest[MOST], zero[MOST] = { 0 };
    s->ops->force(s, pcs_at_rest(t, q, zero, 0.0), rest);
    s->ops->force(s, pcs_at_rest(t, q, zero, factor), f);
    for (int i = 0; i < s->nv; i++) f[i] -= rest[i];
}

// The loads that turn included, at a part of them.
TEST(stiffness_is_the_slope_of_forces)
{
    const char *const texts[] = { space, plane };
    for (int i = 0; i < 2; i++) {
        text_case c = text_case_open(texts[i], NULL);
        double q[MOST], zero[MOST] = { 0 };
        wander(c.sim->system, q);
        slopes_check(c.sim->system, pcs_at_rest(noon, q, zero, 0.7), 1e-3, 1e-9);
        text_case_close(&c);
    }
}

// Every kind at a state with known rotations, entry by entry.
TEST(entries_turn_as_they_should)
{
    text_case c = text_case_open(space, NULL);
    pcs_system *s = c.sim->system;
    double q[MOST], f[MOST], R[9], expected[3], part[3];
    wander(s, q);
    load_force(s, 1.0, noon, q, f);
    double third = sqrt(5.25) * 1.6 / 4.0; // a quarter of the line's length at its amplitude, on either end
    // The start: a force and a line load that stand, a moment seen from axes that have turned.
    CHECK_NEAR(f[0], 1.0 + 0.3 * third, 1e-12);
    CHECK_NEAR(f[1], -2.0 - third, 1e-12);
    CHECK_NEAR(f[2], 3.0 + 2.0 * third, 1e-12);
    pcs_rotation_exp(q + 3, R);
    pcs_rotation_apply_transposed(R, (const double[3]){ 0.8, 3.2, -1.6 }, expected);
    CHECK_ALL_NEAR(3, f + 3, expected, 1e-12);
    // The end: a force that has turned, a moment that is carried along.
    pcs_rotation_exp(q + 15, R);
    pcs_rotation_apply(R, (const double[3]){ 4.8, 1.6, -3.2 }, expected);
    for (int k = 0; k < 3; k++) expected[k] += third * (const double[3]){ 0.3, -1.0, 2.0 }[k];
    CHECK_ALL_NEAR(3, f + 12, expected, 1e-12);
    CHECK_ALL_NEAR(3, f + 15, ((const double[3]){ 1, 3, 2 }), 1e-12);
    // The body: a torque that stands and one that is carried along.
    pcs_rotation_exp(q + 21, R);
    pcs_rotation_apply(R, (const double[3]){ 0, 2, 1 }, expected);
    CHECK_ALL_NEAR(3, f + 18, expected, 1e-12);
    pcs_rotation_apply_transposed(R, (const double[3]){ 0, -3.6, -4.8 }, part);
    part[0] += 11.2;
    CHECK_ALL_NEAR(3, f + 21, part, 1e-12);
    text_case_close(&c);
}
