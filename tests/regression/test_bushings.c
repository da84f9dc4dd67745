// Mounts and bushings at points of bodies that turn by any angle: the energy and the power of their forces are those of
// deformations by their definition.

#include "support/check.h"
#include "support/model.h"
#include "support/text_case.h"

#include "core/rotation.h"
#include "fe/fe.h"

#include <math.h>
#include <string.h>

enum { MODES = 6, BOTH = 12 };

static const double whole_turn = 6.283185307179586476925;
static const double offset[3] = { -0.3, 0.2, 0.15 }, place[2][3] = { { 0.1, -0.2, 0.3 }, { 0.6, 0.1, -0.1 } };
static const double k[MODES] = { 30.0, 50.0, 40.0, 2.0, 3.0, 1.5 }, c[MODES] = { 0.6, 0.4, 0.5, 0.05, 0.03, 0.04 };

// Two bodies and a bushing, or one and a mount: then the first stands still.
static text_case open_pair(bool is_mount, bool is_flat, double unit)
{
    const char *inertia = is_flat ? "0.3" : "[0.2, 0.25, 0.3]", *body = is_flat ? "rigid_body_2d" : "rigid_body_3d";
    double z = is_flat ? 0.0 : 1.0, u = unit;
    return text_case_print(
        "mesh:\n  a: { type: point, at: [%.17g, %.17g, %.17g] }\n  b: { type: point, at: [%.17g, %.17g, %.17g] }\n"
        "  s: { type: %s }\n"
        "elements:\n  a: { type: %s, mesh: a, mass: 1, inertia: %s }\n  b: { type: %s, mesh: b, mass: 1.5, inertia: "
        "%s }\n"
        "  s: { type: %s, mesh: s, angles: finite, %s: [%.17g, %.17g, %.17g],\n"
        "       stiffness: [%.17g, %.17g, %.17g], torsional_stiffness: [%.17g, %.17g, %.17g],\n"
        "       damper: [%.17g, %.17g, %.17g], torsional_damper: [%.17g, %.17g, %.17g] }\n"
        "scheme: { type: newmark }\ntime: { step: 1.0e-3, end: 1.0 }\n",
        place[0][0], place[0][1], z * place[0][2], place[1][0], place[1][1], z * place[1][2],
        is_mount ? "point, nodes: b" : "link, a: a, b: b", body, inertia, body, inertia, is_mount ? "mount" : "bushing",
        is_mount ? "offset" : "offset_b", offset[0], offset[1], z * offset[2], u * k[0], u * k[1], z * u * k[2],
        z * u * k[3], z * u * k[4], u * k[5], u * c[0], u * c[1], z * u * c[2], z * u * c[3], z * u * c[4], u * c[5]);
}

// Deformations from places and rotations of both bodies. In the plane angles add up.
static void deform(const double *q, bool is_mount, bool is_flat, double e[MODES])
{
    double x[2][3], R[2][9], back[9], Q[9], at[3], seen[3], arm[3], twist[3], angles[2], z = is_flat ? 0.0 : 1.0;
    for (int b = 0; b < 2; b++) {
        bool is_still = is_mount && b == 0;
        const double *own = q + (is_flat ? 3 : 6) * b;
        double psi[3] = { 0.0, 0.0, own[2] };
        for (int i = 0; i < 3; i++) x[b][i] = (i == 2 ? z : 1.0) * (place[b][i] + (is_still ? 0.0 : own[i]));
        if (!is_flat) memcpy(psi, own + 3, sizeof psi);
        if (is_still) memset(psi, 0, sizeof psi);
        angles[b] = psi[2];
        pcs_rotation_exp(psi, R[b]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) back[3 * i + j] = R[0][3 * j + i];
    pcs_rotation_multiply(back, R[1], Q);
    pcs_rotation_apply(R[1], (double[3]){ offset[0], offset[1], z * offset[2] }, arm);
    for (int i = 0; i < 3; i++) at[i] = x[1][i] + arm[i] - x[0][i];
    pcs_rotation_apply(back, at, seen);
    for (int i = 0; i < 3; i++) e[i] = seen[i] - (i == 2 ? z : 1.0) * (place[1][i] + offset[i] - place[0][i]);
    twist[0] = 0.5 * (Q[7] - Q[5]);
    twist[1] = 0.5 * (Q[2] - Q[6]);
    twist[2] = 0.5 * (Q[3] - Q[1]);
    double sine = pcs_norm3(twist), angle = atan2(sine, 0.5 * (Q[0] + Q[4] + Q[8] - 1.0));
    for (int i = 0; i < 3; i++) e[3 + i] = sine > 0.0 ? angle / sine * twist[i] : 0.0;
    if (is_flat) e[5] += whole_turn * round((angles[1] - angles[0] - e[5]) / whole_turn);
}

TEST(energy_and_power_are_those_of_the_deformations)
{
    static const double weight[5] = { 1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0 }, step = 1e-3;
    for (int n = 0; n < 80; n++) {
        bool is_mount = n % 2 == 1, is_flat = n / 2 % 2 == 1;
        double unit = n % 3 == 0 ? 1e-6 : 1.0, q[BOTH], v[BOTH], f[BOTH] = { 0 }, e[MODES], rate[MODES] = { 0 };
        unsigned long long seed = (unsigned long long)n + 1;
        text_case run = open_pair(is_mount, is_flat, unit);
        pcs_system *system = run.sim->system;
        pcs_measure measure;
        model_randomize(&seed, system->nv, q);
        model_randomize(&seed, system->nv, v);
        for (int i = 0; i < system->nv; i++) q[i] *= 3.0;
        deform(q, is_mount, is_flat, e);
        if (!is_flat && pcs_norm3(e + 3) > 2.8) { // nearly half a turn, where it jumps
            text_case_close(&run);
            continue;
        }
        for (int s = 0; s < 5; s++) {
            double increment[BOTH], x[BOTH], there[MODES];
            for (int i = 0; i < system->nv; i++) increment[i] = (s - 2) * step * v[i];
            pcs_retract(&system->rotations, q, increment, x);
            deform(x, is_mount, is_flat, there);
            for (int m = 0; m < MODES; m++) rate[m] += weight[s] * there[m] / step;
        }
        double energy = 0.0, power = 0.0, given = 0.0;
        for (int m = 0; m < MODES; m++) {
            bool is_there = !is_flat || m < 2 || m == 5;
            energy += is_there ? 0.5 * unit * k[m] * e[m] * e[m] : 0.0;
            power -= is_there ? unit * (k[m] * e[m] + c[m] * rate[m]) * rate[m] : 0.0;
        }
        system->ops->measure(system, pcs_at(0.0, q, v), PCS_ENERGY, &measure);
        const pcs_batch *batch = pcs_fe_batch(system, 2);
        batch->ops->force(batch, &(pcs_cell_state){ .q = q, .v = v }, f);
        for (int i = 0; i < system->nv; i++) given += f[i] * v[i];
        CHECK_RELATIVE(measure.strain, energy, 1e-12);
        CHECK_NEAR(given, power, 1e-8 * energy);
        text_case_close(&run);
    }
}
