// Mounts and bushings at points of bodies that turn by any angle: their forces add up to nothing, bodies on them move
// as an integration says that knows their deformations alone, and energy is lost to dampers only.

#include "support/check.h"
#include "support/model.h"
#include "support/text_case.h"

#include "core/rotation.h"
#include "fe/fe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODES = 6, BODY = 6, BOTH = 12, STATE = 26 };

// Two bodies and a bushing, or one and a mount: then the first stands still.
typedef struct pair {
    bool is_mount, is_flat;
    double unit; // of masses and forces
    double place[2][3], mass[2], J[2][3], spin[2][3], speed[2][3];
    double offset[3]; // from the second body
    double k[MODES], c[MODES];
} pair;

static const double whole_turn = 6.283185307179586476925;

static pair make_pair(bool is_mount, bool is_flat, bool is_damped, double unit)
{
    pair g = { .is_mount = is_mount, .is_flat = is_flat, .unit = unit };
    const double place[2][3] = { { 0.1, -0.2, 0.3 }, { 0.6, 0.1, -0.1 } }, offset[3] = { -0.3, 0.2, 0.15 };
    const double spin[2][3] = { { 1.5, -2.0, 3.0 }, { -1.0, 2.5, -2.0 } };
    const double speed[2][3] = { { 0.2, -0.1, 0.4 }, { -0.3, 0.2, 0.1 } };
    const double k[MODES] = { 30.0, 50.0, 40.0, 2.0, 3.0, 1.5 }, c[MODES] = { 0.6, 0.4, 0.5, 0.05, 0.03, 0.04 };
    for (int b = 0; b < 2; b++) {
        g.mass[b] = (1.0 + 0.5 * b) * unit;
        for (int i = 0; i < 3; i++) {
            bool is_out = is_flat && i == 2, is_tilt = is_flat && i < 2;
            g.J[b][i] = (0.2 + 0.05 * i + 0.1 * b) * unit;
            g.place[b][i] = is_out ? 0.0 : place[b][i];
            g.spin[b][i] = is_tilt || (is_mount && b == 0) ? 0.0 : spin[b][i];
            g.speed[b][i] = is_out || (is_mount && b == 0) ? 0.0 : speed[b][i];
            g.offset[i] = is_out ? 0.0 : offset[i];
        }
    }
    for (int m = 0; m < MODES; m++) {
        bool is_there = !is_flat || m < 2 || m == 5;
        g.k[m] = is_there ? k[m] * unit : 0.0;
        g.c[m] = is_there && is_damped ? c[m] * unit : 0.0;
    }
    return g;
}

static void write_case(const pair *g, const char *scheme, double step, double end, size_t room, char *text)
{
    const char *body = g->is_flat ? "rigid_body_2d" : "rigid_body_3d";
    int used = snprintf(text, room, "mesh:\n  a: { type: point, at: [%.17g, %.17g, %.17g] }\n", g->place[0][0],
                        g->place[0][1], g->place[0][2]);
    used += snprintf(text + used, room - (size_t)used,
                     "  b: { type: point, at: [%.17g, %.17g, %.17g] }\n  s: { type: %s }\nelements:\n", g->place[1][0],
                     g->place[1][1], g->place[1][2], g->is_mount ? "point, nodes: b" : "link, a: a, b: b");
    for (int b = 0; b < 2; b++) {
        char inertia[96];
        if (g->is_flat) snprintf(inertia, sizeof inertia, "%.17g", g->J[b][2]);
        else snprintf(inertia, sizeof inertia, "[%.17g, %.17g, %.17g]", g->J[b][0], g->J[b][1], g->J[b][2]);
        used += snprintf(text + used, room - (size_t)used, "  %c: { type: %s, mesh: %c, mass: %.17g, inertia: %s }\n",
                         'a' + b, body, 'a' + b, g->mass[b], inertia);
    }
    used += snprintf(text + used, room - (size_t)used,
                     "  s: { type: %s, mesh: s, angles: finite, %s: [%.17g, %.17g, %.17g], stiffness: [%.17g, %.17g, "
                     "%.17g], torsional_stiffness: [%.17g, %.17g, %.17g], damper: [%.17g, %.17g, %.17g], "
                     "torsional_damper: [%.17g, %.17g, %.17g] }\n",
                     g->is_mount ? "mount" : "bushing", g->is_mount ? "offset" : "offset_b", g->offset[0], g->offset[1],
                     g->offset[2], g->k[0], g->k[1], g->k[2], g->k[3], g->k[4], g->k[5], g->c[0], g->c[1], g->c[2],
                     g->c[3], g->c[4], g->c[5]);
    used += snprintf(text + used, room - (size_t)used, "initial:\n");
    for (int b = 0; b < 2; b++)
        used += snprintf(text + used, room - (size_t)used,
                         "  - { set: %c, velocity: [%.17g, %.17g, %.17g], spin: [%.17g, %.17g, %.17g] }\n", 'a' + b,
                         g->speed[b][0], g->speed[b][1], g->speed[b][2], g->spin[b][0], g->spin[b][1], g->spin[b][2]);
    snprintf(text + used, room - (size_t)used, "scheme: { type: %s }\ntime: { step: %.17g, end: %.17g }\n", scheme,
             step, end);
}

// Deformations of the bushing from places and rotations, by their definition. In the plane angles add up: a difference
// within half a turn of `near`.
static void deform(const pair *g, double x[2][3], double R[2][9], double near, double e[MODES])
{
    double Q[9], back[9], at[3], seen[3], rotated[3], twist[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) back[3 * i + j] = R[0][3 * j + i];
    pcs_rotation_multiply(back, R[1], Q);
    pcs_rotation_apply(R[1], g->offset, rotated);
    for (int k = 0; k < 3; k++) at[k] = x[1][k] + rotated[k] - x[0][k];
    pcs_rotation_apply(back, at, seen);
    for (int k = 0; k < 3; k++) e[k] = seen[k] - (g->place[1][k] + g->offset[k] - g->place[0][k]);
    twist[0] = 0.5 * (Q[7] - Q[5]);
    twist[1] = 0.5 * (Q[2] - Q[6]);
    twist[2] = 0.5 * (Q[3] - Q[1]);
    double sine = pcs_norm3(twist), angle = atan2(sine, 0.5 * (Q[0] + Q[4] + Q[8] - 1.0));
    for (int k = 0; k < 3; k++) e[3 + k] = sine > 0.0 ? angle / sine * twist[k] : 0.0;
    if (g->is_flat) e[5] += whole_turn * round((near - e[5]) / (whole_turn));
}

// A state: x, v, unit quaternion and material angular velocity of each body, 13 numbers.
static void rotation_of(const double p[4], double R[9])
{
    double sine = pcs_norm3(p + 1), angle = 2.0 * atan2(sine, p[0]), psi[3];
    for (int k = 0; k < 3; k++) psi[k] = sine > 0.0 ? angle / sine * p[1 + k] : 0.0;
    pcs_rotation_exp(psi, R);
}

// Where the bodies are after a small motion along dof j.
static void deform_at(const pair *g, const double *state, int dof, double step, double near, double e[MODES])
{
    double x[2][3], R[2][9];
    for (int b = 0; b < 2; b++) {
        double rotation[3] = { 0 }, R0[9], small[9];
        memcpy(x[b], state + 13 * b, sizeof x[b]);
        if (dof / BODY == b && dof % BODY < 3) x[b][dof % BODY] += step;
        if (dof / BODY == b && dof % BODY >= 3) rotation[dof % BODY - 3] = step;
        rotation_of(state + 13 * b + 6, R0);
        pcs_rotation_exp(rotation, small);
        pcs_rotation_multiply(R0, small, R[b]);
    }
    deform(g, x, R, near, e);
}

// Forces from differences of the deformations.
static void pair_forces(const pair *g, const double *state, double near, double f[BOTH])
{
    const double step = 1e-3, weight[5] = { 1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0 };
    double e[MODES], B[MODES][BOTH] = { { 0 } }, rate[MODES] = { 0 };
    deform_at(g, state, 0, 0.0, near, e);
    for (int j = g->is_mount ? BODY : 0; j < BOTH; j++) {
        bool is_spin = j % BODY >= 3;
        double w = state[13 * (j / BODY) + (is_spin ? 10 + j % BODY - 3 : 3 + j % BODY)];
        for (int s = 0; s < 5; s++) {
            double there[MODES];
            deform_at(g, state, j, (s - 2) * step, near, there);
            for (int m = 0; m < MODES; m++) B[m][j] += weight[s] * there[m] / step;
        }
        for (int m = 0; m < MODES; m++) rate[m] += B[m][j] * w;
    }
    for (int j = 0; j < BOTH; j++) {
        f[j] = 0.0;
        for (int m = 0; m < MODES; m++) f[j] -= B[m][j] * (g->k[m] * e[m] + g->c[m] * rate[m]);
    }
}

static void pair_rate(const pair *g, const double *state, double near, double out[STATE])
{
    double f[BOTH];
    pair_forces(g, state, near, f);
    for (int b = 0; b < 2; b++) {
        const double *s = state + 13 * b, *p = s + 6, *W = s + 10;
        double *o = out + 13 * b, spin[3], gyro[3];
        bool has_factors = g->is_mount && b == 0;
        for (int k = 0; k < 3; k++) spin[k] = g->J[b][k] * W[k];
        pcs_cross(W, spin, gyro);
        pcs_cross(p + 1, W, o + 7);
        o[6] = -0.5 * pcs_dot3(p + 1, W);
        for (int k = 0; k < 3; k++) {
            o[k] = s[3 + k];
            o[3 + k] = has_factors ? 0.0 : f[BODY * b + k] / g->mass[b];
            o[7 + k] = 0.5 * (p[0] * W[k] + o[7 + k]);
            o[10 + k] = has_factors ? 0.0 : (f[BODY * b + 3 + k] - gyro[k]) / g->J[b][k];
        }
    }
}

// Classical Runge-Kutta; gives the places and quaternions of both bodies.
static void pair_solve(const pair *g, double end, double state[STATE])
{
    enum { STEPS = 1500 };
    static const double part[4] = { 0.0, 0.5, 0.5, 1.0 }, weight[4] = { 1.0, 2.0, 2.0, 1.0 };
    double h = end / STEPS, near = 0.0, e[MODES];
    memset(state, 0, STATE * sizeof *state);
    for (int b = 0; b < 2; b++) {
        memcpy(state + 13 * b, g->place[b], 3 * sizeof *state);
        memcpy(state + 13 * b + 3, g->speed[b], 3 * sizeof *state);
        memcpy(state + 13 * b + 10, g->spin[b], 3 * sizeof *state);
        state[13 * b + 6] = 1.0;
    }
    for (int n = 0; n < STEPS; n++) {
        double y[STATE], rate[STATE] = { 0 }, sum[STATE] = { 0 };
        for (int s = 0; s < 4; s++) {
            for (int k = 0; k < STATE; k++) y[k] = state[k] + h * part[s] * rate[k];
            pair_rate(g, y, near, rate);
            for (int k = 0; k < STATE; k++) sum[k] += h / 6.0 * weight[s] * rate[k];
        }
        for (int k = 0; k < STATE; k++) state[k] += sum[k];
        deform_at(g, state, 0, 0.0, near, e);
        near = e[5];
    }
}

// Place and rotation vector of a body in the run.
static void body_at(const pair *g, const double *q, int body, double u[3], double psi[3])
{
    int n = g->is_flat ? 3 : 6;
    for (int k = 0; k < 3; k++) u[k] = psi[k] = 0.0;
    for (int k = 0; k < n / 3 + 1 && k < 3; k++) u[k] = q[n * body + k];
    if (g->is_flat) psi[2] = q[n * body + 2];
    else memcpy(psi, q + n * body + 3, 3 * sizeof *psi);
    if (g->is_flat) u[2] = 0.0;
}

// Distance of the end of a run from the solution, of places and rotation matrices.
static double run_error(const pair *g, const char *scheme, int steps, double end, const double *exact, double *drift)
{
    char text[4096];
    double error = 0.0, u[3], psi[3], R[9], wanted[9];
    write_case(g, scheme, end / steps, end, sizeof text, text);
    text_case c = text_case_open(text, NULL);
    pcs_measure before, after;
    pcs_system *system = c.sim->system;
    system->ops->measure(system, pcs_at(c.sim->state.t, c.sim->state.q, c.sim->state.v), PCS_ENERGY, &before);
    text_case_run(&c);
    system->ops->measure(system, pcs_at(c.sim->state.t, c.sim->state.q, c.sim->state.v), PCS_ENERGY, &after);
    for (int b = g->is_mount; b < 2; b++) {
        body_at(g, c.sim->state.q, b, u, psi);
        for (int k = 0; k < 3; k++) error = fmax(error, fabs(g->place[b][k] + u[k] - exact[13 * b + k]));
        pcs_rotation_exp(psi, R);
        rotation_of(exact + 13 * b + 6, wanted);
        for (int k = 0; k < 9; k++) error = fmax(error, fabs(R[k] - wanted[k]));
    }
    *drift = fabs(pcs_measure_energy(&after) / pcs_measure_energy(&before) - 1.0);
    text_case_close(&c);
    return error;
}

TEST(bodies_move_as_their_deformations_say)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.9", "half_explicit", "newmark", "moreau_jean, theta: 0.5" };
    for (int n = 0; n < 8; n++) {
        pair g = make_pair(n & 1, n & 2, n & 4, n % 3 == 0 ? 1e-6 : 1.0);
        double exact[STATE], drift, end = 2.0;
        pair_solve(&g, end, exact);
        for (int s = 0; s < 4; s++) {
            double coarse = run_error(&g, schemes[s], 500, end, exact, &drift);
            double fine = run_error(&g, schemes[s], 1000, end, exact, &drift), order = log2(coarse / fine);
            bool is_damped = n & 4;
            if (order < 1.95 || order > 2.05 || fine > 1e-4 || drift > (is_damped ? 0.5 : 2e-5))
                fail_msg("pair %d, scheme %d: off by %g and %g, order %.2f, energy %g", n, s, coarse, fine, order,
                         drift);
        }
    }
}

// What a bushing does to two bodies that lie and move in any way, with its dampers: no force and no moment in all.
TEST(forces_and_moments_add_up_to_nothing)
{
    for (int n = 0; n < 200; n++) {
        pair g = make_pair(false, n % 2, true, n % 3 == 0 ? 1e-6 : 1.0);
        char text[4096];
        double q[BOTH], v[BOTH], f[BOTH] = { 0 }, force[3] = { 0 }, moment[3] = { 0 }, size = 0.0;
        unsigned long long seed = (unsigned long long)n + 1;
        write_case(&g, "newmark", 1e-3, 1.0, sizeof text, text);
        text_case c = text_case_open(text, NULL);
        int dofs = c.sim->system->nv;
        model_randomize(&seed, dofs, q);
        model_randomize(&seed, dofs, v);
        for (int i = 0; i < dofs; i++) q[i] *= 3.0;
        const pcs_batch *batch = pcs_fe_batch(c.sim->system, 2);
        batch->ops->force(batch, &(pcs_cell_state){ .q = q, .v = v }, f);
        for (int b = 0; b < 2; b++) {
            double u[3], psi[3], R[9], own[3], ignored[3], m[3], rotated[3], lever[3];
            body_at(&g, q, b, u, psi);
            body_at(&g, f, b, own, ignored);
            memcpy(m, ignored, sizeof m);
            pcs_rotation_exp(psi, R);
            pcs_rotation_apply(R, m, rotated);
            for (int k = 0; k < 3; k++) u[k] += g.place[b][k];
            pcs_cross(u, own, lever);
            for (int k = 0; k < 3; k++) {
                force[k] += own[k];
                moment[k] += lever[k] + rotated[k];
                size = fmax(size, fabs(lever[k]) + fabs(rotated[k]) + fabs(own[k]));
            }
        }
        CHECK(size > g.unit);
        for (int k = 0; k < 3; k++) CHECK(fabs(force[k]) <= 1e-14 * size && fabs(moment[k]) <= 1e-14 * size);
        text_case_close(&c);
    }
}
