#include "support/slopes.h"

#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

// -df/dq of equation j, or -df/dv; rotations do not add up.
static void slope_of(const pcs_system *system, pcs_instant at, int j, bool by_velocity, double step, double *out)
{
    static const double weight[5] = { 1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0 };
    double x[MODEL_MAX_SIZE] = { 0 }, moved[MODEL_MAX_SIZE], f[MODEL_MAX_SIZE];
    memset(out, 0, (size_t)system->nv * sizeof *out);
    for (int k = -2; k <= 2; k++) {
        pcs_instant there = at;
        x[j] = k * step;
        for (int i = 0; i < system->nv; i++) moved[i] = (by_velocity ? at.v : at.q)[i] + x[i];
        if (!by_velocity && system->rotations.are_somewhere) pcs_retract(&system->rotations, at.q, x, moved);
        *(by_velocity ? &there.v : &there.q) = moved;
        system->ops->force(system, there, f);
        for (int i = 0; i < system->nv; i++) out[i] -= weight[k + 2] * f[i] / step;
    }
}

void slopes_check(pcs_system *system, pcs_instant at, double step, double part)
{
    static double A[MODEL_MAX_SIZE * MODEL_MAX_SIZE];
    int n = system->nv;
    double slope[MODEL_MAX_SIZE], f[MODEL_MAX_SIZE];
    CHECK(n <= MODEL_MAX_SIZE);
    system->ops->update(system, at, PCS_TANGENTS, NULL);
    system->ops->force(system, at, f);
    for (int which = 0; which < 2; which++) {
        model_dense(which == 0 ? system->K : system->C, n, A);
        double allowed = part * check_largest(n * n, A) + 1e-14 * check_largest(n, f) / step;
        for (int j = 0; j < n; j++) {
            slope_of(system, at, j, which == 1, step, slope);
            for (int i = 0; i < n; i++) CHECK_NEAR(A[i * n + j], slope[i], allowed);
        }
    }
}

void slopes_check_gaps(pcs_system *system, pcs_instant at, double step, double allowed, double part)
{
    double x[MODEL_MAX_SIZE], moved[MODEL_MAX_SIZE], gap[5][MODEL_MAX_SIZE], bias[MODEL_MAX_SIZE] = { 0 };
    double choice[MODEL_MAX_SIZE], speed[MODEL_MAX_SIZE] = { 0 };
    CHECK(system->nrow <= MODEL_MAX_SIZE && system->nv <= MODEL_MAX_SIZE);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < system->nv; i++) {
            x[i] = (k - 2) * step * at.v[i];
            moved[i] = at.q[i] + x[i];
        }
        if (system->rotations.are_somewhere) pcs_retract(&system->rotations, at.q, x, moved);
        pcs_system_gaps(system, pcs_at(at.t + (k - 2) * step, moved, NULL), gap[k]);
    }
    if (system->row_set.vary) pcs_system_aim(system, pcs_at(at.t, at.q, NULL));
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, at, bias);
    if (system->row_set.ndriven > 0) pcs_system_drives(system, at.t, choice, speed);
    for (int j = 0; j < system->nrow; j++) {
        double rate = (8.0 * (gap[3][j] - gap[1][j]) - (gap[4][j] - gap[0][j])) / (12.0 * step);
        double bend =
            (16.0 * (gap[1][j] + gap[3][j]) - gap[0][j] - gap[4][j] - 30.0 * gap[2][j]) / (12.0 * step * step);
        CHECK_NEAR(pcs_system_rate(system, j, at.v) + speed[j], rate, allowed);
        CHECK_NEAR(bias[j], bend, part * (1.0 + fabs(bend)));
    }
}
