// Newton's method for one load step.
//
//   [ K    G_h^T ] [  dq  ]   [ f + G^T lam ]
//   [ G_h    0   ] [ -dlam ] = [ -(g - g_s)  ]      h: joints, and contacts that hold
//
// It ends when a correction is small by the root of its energy, r . dq, against the strain energy; or when the residual
// no longer falls and is no more than round-off explains (statics_round_off.c): forces of slender beams round off in
// their axial part, far above the loads that bend them, and yet move nothing. Where only contacts can stop a rigid
// motion of a linear model, K + mu D gives the direction of that motion, and the step goes as far as the first contact,
// which is then held.

#include "analysis/statics_newton.h"

#include "analysis/statics_free.h"
#include "analysis/statics_friction.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double TOLERANCE =
    1e-10;                           // of the correction, relative: the next one of a quadratic iteration is round-off
static const double FALLS = 0.5;     // ratio of residuals, one after the other, that still is progress
static const double FAR = 1e6;       // displacement in units of the model's size that is no answer
static const double SINGULAR = 1e14; // forces within |K dq| beside the force that made dq

static const double INERTIA = 1e-4; // of the highest frequency squared

enum { MOST_ITERATIONS = 30, MOST_TRIED = 30, ROW_ITERATIONS = 8, PLANE_ITERATIONS = 100, MOST_PARTS = 12 };

// A matrix that is singular but for round-off answers with forces that all but cancel.
static bool newton_is_hidden(pcs_equilibrium *e)
{
    const pcs_matrix *K = &e->A;
    memset(e->work, 0, (size_t)e->system->nv * sizeof *e->work);
    for (int j = 0; j < e->system->nv; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            e->work[K->pattern->row[p]] += fabs(K->value[p] * e->dq[j]);
    double within = pcs_equilibrium_norm(e, e->work);
    return !(within <= SINGULAR * fmax(e->left, e->round_off));
}

static bool newton_can_drift(const pcs_equilibrium *e)
{
    for (int j = 0; j < e->system->nrow; j++)
        if (!e->system->rows[j].is_bilateral && !e->held[j]) return e->system->is_linear;
    return false;
}

// K is singular, and contacts may be what holds the model: drifts as far as the first of them.
static pcs_status newton_drift(pcs_equilibrium *e, double *q, pcs_statics_outcome *outcome)
{
    const pcs_system *s = e->system;
    bool is_singular = false;
    double part = INFINITY;
    int first = -1;
    e->is_factored = false;
    double mu = pcs_equilibrium_least_mu(e);
    pcs_matrix_combine(&e->A, (const double[3]){ mu > 0.0 ? mu : 1.0, 0.0, 1.0 }, &e->D, NULL, &e->stiff.K);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    *outcome = PCS_STATICS_LOOSE;
    if (is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    for (int j = 0; j < s->nrow; j++) {
        double rate = pcs_rows_dot(s->G, j, e->dq);
        if (s->rows[j].is_bilateral || e->held[j] || !(rate < 0.0)) continue;
        double reach = fmax(e->gap[j], 0.0) / -rate;
        if (reach < part) first = j;
        part = fmin(part, reach);
    }
    if (first < 0) return PCS_OK;
    e->kept[first] = 1;
    for (int i = 0; i < s->nv; i++) e->dq[i] *= part;
    pcs_equilibrium_move(e, e->dq, q);
    *outcome = PCS_STATICS_DONE;
    return PCS_OK;
}

bool pcs_equilibrium_has_diverged(const pcs_equilibrium *e, const double *q)
{
    // A linear system answers loads of any size in proportion.
    double far = e->system->is_linear ? INFINITY : FAR;
    for (int i = 0; i < e->system->nv; i++)
        if (!(fabs(q[i]) <= far * e->system->scale.model[i])) return true;
    return !isfinite(e->left);
}

// Root of the energy of a correction against that of all strains.
void pcs_equilibrium_judge(pcs_equilibrium *e, const double *q, double more)
{
    const pcs_system *s = e->system;
    pcs_measure measure;
    double energy = 0.0;
    s->ops->measure(s, pcs_at(e->time, q, e->zero), PCS_ENERGY, &measure);
    for (int i = 0; i < s->nv; i++) energy += e->f[i] * e->dq[i];
    energy = fmax(fabs(energy), fabs(more));
    for (int j = 0; j < e->nall; j++)
        if (e->held[j]) energy = fmax(fabs(energy), fabs(e->dlam[j] * (e->gap[j] - e->target[j])));
    e->correction = measure.strain > 0.0 ? sqrt(fabs(energy) / (2.0 * measure.strain)) : INFINITY;
}

void pcs_equilibrium_correct(pcs_equilibrium *e, double *q)
{
    pcs_equilibrium_move(e, e->dq, q);
    for (int i = 0; i < e->system->nv; i++) e->away[i] += e->dq[i];
    for (int j = 0; j < e->nall; j++) {
        e->lam[j] += e->dlam[j];
        // Contacts that a free motion ran into are let go once they press.
        if (e->held[j]) e->kept[j] = 0;
    }
    pcs_friction_settle(e);
}

// Factors the tangent where it has changed, and solves; *is_singular also where round-off hides it.
static pcs_status newton_try(pcs_equilibrium *e, const double *q, bool rows_changed, bool *is_singular)
{
    *is_singular = false;
    if (!e->is_factored || rows_changed || !e->system->is_linear || e->slides_in_planes) {
        pcs_equilibrium_update_tangent(e, q);
        PCS_TRY(pcs_equilibrium_factor(e, is_singular));
        if (*is_singular) e->bad_equation = pcs_bordered_bad_equation(e->solver);
        bool may_move = e->system->is_linear && e->shift == 0.0;
        *is_singular = *is_singular || (may_move && pcs_equilibrium_is_free(e));
        e->is_factored = !*is_singular;
    }
    if (*is_singular) return PCS_OK;
    // Skips the test for a hidden singularity while joints are off their targets: they move a model without force.
    bool is_driven = !pcs_equilibrium_rows_fit(e);
    pcs_equilibrium_solve(e);
    *is_singular = !is_driven && newton_is_hidden(e);
    return PCS_OK;
}

// Applies the correction, halved until the residual falls, as sliding directions that rotate make it nonlinear.
static void newton_search(pcs_equilibrium *e, double *q)
{
    double before = e->left;
    memcpy(e->safe_q, q, (size_t)e->system->nq * sizeof *q);
    memcpy(e->safe_lam, e->lam, (size_t)e->nall * sizeof *e->lam);
    for (int k = 0; k < MOST_PARTS; k++) {
        pcs_equilibrium_correct(e, q);
        pcs_equilibrium_look(e, q);
        if (e->left < before || pcs_equilibrium_is_round_off(e)) return;
        memcpy(q, e->safe_q, (size_t)e->system->nq * sizeof *q);
        memcpy(e->lam, e->safe_lam, (size_t)e->nall * sizeof *e->lam);
        for (int i = 0; i < e->system->nv; i++) e->dq[i] *= 0.5;
        for (int j = 0; j < e->nall; j++) e->dlam[j] *= 0.5;
    }
    pcs_equilibrium_correct(e, q);
}

// One correction; the outcome is other than PCS_STATICS_DONE when there is none.
static pcs_status newton_correct(pcs_equilibrium *e, double *q, bool rows_changed, pcs_statics_outcome *outcome)
{
    bool is_singular = false;
    PCS_TRY(newton_try(e, q, rows_changed, &is_singular));
    if (is_singular && newton_can_drift(e)) return newton_drift(e, q, outcome);
    if (is_singular && e->is_soft && e->shift == 0.0) {
        e->shift = pcs_equilibrium_least_mu(e);
        PCS_TRY(newton_try(e, q, true, &is_singular));
    }
    // Contacts that all slide one way for the moment: a step against inertia sorts them.
    bool is_tried = is_singular && e->slides_in_planes && e->ntried < MOST_TRIED;
    if (is_tried) {
        e->ntried++;
        e->shift = INERTIA * pcs_equilibrium_top(e);
        PCS_TRY(newton_try(e, q, true, &is_singular));
        e->shift = 0.0;
        e->is_factored = false;
    }
    *outcome = is_singular ? PCS_STATICS_SINGULAR : PCS_STATICS_DONE;
    if (is_singular) return PCS_OK;
    pcs_equilibrium_judge(e, q, 0.0);
    pcs_friction_way way = pcs_friction_judge(e);
    if (way == PCS_FRICTION_BACK) e->correction = INFINITY;
    else if (way == PCS_FRICTION_CURVED) newton_search(e, q);
    else pcs_equilibrium_correct(e, q);
    return PCS_OK;
}

// Small, or no longer falling because it is round-off.
bool pcs_equilibrium_is_close(const pcs_equilibrium *e, double before)
{
    bool falls = e->left < FALLS * before, is_round_off = pcs_equilibrium_is_round_off(e);
    if (!e->is_judged || !pcs_equilibrium_rows_fit(e)) return false;
    if (e->left <= DBL_EPSILON * e->weight || (is_round_off && !falls)) return true;
    if (e->system->is_linear) return e->left <= e->round_off;
    // Ends at round-off if motions without stiffness exist: further corrections would only move the model along them.
    if (e->is_soft && e->left <= fmin(e->round_off, TOLERANCE * e->weight)) return true;
    return e->shift == 0.0 && e->correction <= TOLERANCE;
}

// A contact between touching and not touching may have been left with a force that is round-off.
static void newton_clear_round_off(pcs_equilibrium *e)
{
    for (int j = 0; j < e->system->nrow; j++)
        if (!e->system->rows[j].is_bilateral) e->lam[j] = fmax(e->lam[j], 0.0);
    pcs_friction_settle(e);
}

// Whether other rows hold than before; q may go back to where the load step began.
static bool newton_evaluate(pcs_equilibrium *e, double *q)
{
    if (e->iterations == 0) e->first_weight = INFINITY;
    bool goes_back = e->iterations > 0 && pcs_friction_yield(e);
    if (goes_back) memcpy(q, e->origin, (size_t)e->system->nq * sizeof *q);
    bool rows_changed = pcs_equilibrium_evaluate(e, q);
    if (e->iterations == 0) e->first_weight = e->weight;
    return rows_changed || goes_back;
}

pcs_status pcs_equilibrium_find(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    double before = INFINITY;
    // Every contact may open and close a few times on the way, with two corrections each.
    int most = MOST_ITERATIONS + ROW_ITERATIONS * e->nall + (e->slides_in_planes ? PLANE_ITERATIONS : 0);
    pcs_equilibrium_begin(e, load);
    e->ntried = 0;
    for (e->iterations = 0;; e->iterations++, e->total++) {
        bool rows_changed = newton_evaluate(e, q);
        *outcome = PCS_STATICS_DIVERGED;
        if (pcs_equilibrium_has_diverged(e, q)) return PCS_OK;
        *outcome = PCS_STATICS_DONE;
        if (!rows_changed && pcs_equilibrium_is_close(e, before)) {
            newton_clear_round_off(e);
            return PCS_OK;
        }
        *outcome = PCS_STATICS_SLOW;
        if (e->iterations == most) return PCS_OK;
        before = rows_changed ? INFINITY : e->left;
        PCS_TRY(newton_correct(e, q, rows_changed, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    }
}
