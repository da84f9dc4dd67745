// The Moreau-Jean scheme where the mass varies: it weighs accelerations, each with the mass of its own position, and
// not forces. One and the same thing for a constant mass, it decides on the order of theta = 1/2 for others.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, ROWS = 4 };

// M(q) x = y for the slider-crank, whose third equation stands alone.
static void solve_mass(pcs_system *system, const double *q, const double *y, double *x)
{
    double M[N][N] = { { 0 } };
    system->ops->update(system, pcs_at(0.0, q, NULL), PCS_MASS, NULL);
    const pcs_pattern *pattern = system->M->pattern;
    for (int j = 0; j < N; j++)
        for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++) M[pattern->row[k]][j] = system->M->value[k];
    double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    x[0] = (M[1][1] * y[0] - M[0][1] * y[1]) / det;
    x[1] = (M[0][0] * y[1] - M[1][0] * y[0]) / det;
    x[2] = y[2] / M[2][2];
}

typedef struct place {
    double t, q[N], v[N];
} place;

static void remember(const pcs_state *x, place *out)
{
    out->t = x->t;
    memcpy(out->q, x->q, sizeof out->q);
    memcpy(out->v, x->v, sizeof out->v);
}

// Largest of v - v_n - h (...) - M^-1 (G^T La + T^T Lt), with accelerations or forces weighed.
static double residual(const pcs_sim *sim, const place *a, const place *b, double theta, bool weighs_forces)
{
    pcs_system *system = sim->system;
    double h = b->t - a->t, f0[N], f1[N], push[N] = { 0 }, weighed[N], jump[N], part[N], worst = 0.0;
    system->ops->force(system, pcs_at(a->t, a->q, a->v), f0);
    system->ops->force(system, pcs_at(0.0, b->q, b->v), f1);
    pcs_system_aim(system, pcs_at(0.0, b->q, NULL));
    for (int j = 0; j < ROWS; j++) {
        pcs_rows_add_transposed(system->G, j, sim->report.rows[j].multiplier, push);
        pcs_rows_add_transposed(system->T, j, sim->report.rows[j].last_tangent[0], push);
    }
    solve_mass(system, weighs_forces ? b->q : a->q, f0, part);
    solve_mass(system, b->q, f1, weighed);
    solve_mass(system, b->q, push, jump);
    for (int i = 0; i < N; i++) {
        double step = h * ((1.0 - theta) * part[i] + theta * weighed[i]) + jump[i];
        worst = fmax(worst, fabs(b->v[i] - a->v[i] - step));
    }
    return worst;
}

TEST(accelerations_are_weighed)
{
    static const double thetas[] = { 0.5, 0.7, 1.0 };
    for (int k = 0; k < 3; k++) {
        char text[300];
        double defect = 0.0, otherwise = 0.0;
        int nimpact = 0;
        snprintf(text, sizeof text,
                 "system: { type: slider_crank }\nscheme: { type: moreau_jean, theta: %g }\n"
                 "time: { step: 1.0e-4, end: 0.01 }\n",
                 thetas[k]);
        text_case c = text_case_open(text, NULL);
        CHECK_OK(c.ctx, pcs_sim_start(c.sim));
        while (!pcs_sim_is_done(c.sim)) {
            place a, b;
            remember(&c.sim->state, &a);
            text_case_step(&c);
            remember(&c.sim->state, &b);
            nimpact += c.sim->report.rows[2].is_impact || c.sim->report.rows[0].is_impact;
            defect = fmax(defect, residual(c.sim, &a, &b, thetas[k], false));
            otherwise = fmax(otherwise, residual(c.sim, &a, &b, thetas[k], true));
        }
        CHECK(nimpact > 0);
        CHECK_NEAR(defect, 0.0, 1e-10); // velocities of 150 rad/s, and two solves
        if (thetas[k] < 1.0) CHECK(otherwise > 1e-3);
        text_case_close(&c);
    }
}
