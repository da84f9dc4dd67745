// Finds the rigid motions that the held rows leave free, and the softest motion with its stiffness:
//
//   free:     X c with G_h X c = 0, X the rigid motions of the model without contacts
//   softest:  K phi = k D phi with G_h phi = 0, the smallest k, by inverse iteration with K + mu D
//
// mu falls from above all that a load can destabilise: so a negative k is met before mu passes it.

#include "analysis/statics_free.h"

#include "core/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double LEAST = 1e-12;     // mu beside the largest K_ii / M_ii: round-off of K is 1e-4 of that
static const double NEGLIGIBLE = 1e-7; // velocity of a row, of that of the model, which counts as none

static const double MANY = 50.0;        // rounding errors
static const double DIFFERENCES = 1e-9; // relative rounding error of differences
static const double DRIVEN = 1e-6;      // part of the loads that K does not bear
static const double SHRINK = 0.3;
static const double NOTHING = 1e-9; // of a motion that rows take all of

enum { ROUNDS = 3, LAST_ROUNDS = 20 };

// 1/s^2 of the stiffness that forces of rows make by turning, as of a pendulum: what its differences round off is a
// part of this.
static double free_row_rate(const pcs_equilibrium *e)
{
    const pcs_rows *G = e->system->G;
    double most = 0.0;
    if (e->stiff.varies)
        for (int j = 0; j < e->system->nrow; j++)
            for (int p = G->start[j]; p < G->start[j + 1]; p++) {
                int i = G->column[p];
                double m = e->D.value[pcs_pattern_place(e->D.pattern, i, i)];
                most = fmax(most, fabs(e->lam[j] * G->value[p]) / (m * e->system->scale.model[i]));
            }
    return most;
}

double pcs_equilibrium_least_mu(const pcs_equilibrium *e)
{
    return fmax(LEAST * pcs_equilibrium_top(e), MANY * DIFFERENCES * free_row_rate(e));
}

// Velocity of row j in the motion x over the sum of its terms, were each as fast as the fastest coordinate.
static double free_rate(const pcs_equilibrium *e, int j, const double *x)
{
    const pcs_rows *G = e->R;
    double sum = 0.0, most = 0.0, fastest = pcs_equilibrium_stride(e, x);
    for (int p = G->start[j]; p < G->start[j + 1]; p++) {
        sum += G->value[p] * x[G->column[p]];
        most += fabs(G->value[p]) * e->system->scale.model[G->column[p]] * fastest;
    }
    return most > 0.0 ? sum / most : 0.0;
}

bool pcs_equilibrium_is_free(const pcs_equilibrium *e)
{
    enum { MOST = 96 };
    int m = e->rigid.count, n = e->system->nv;
    double Q[MOST * MOST] = { 0 }, w[MOST], V[MOST * MOST], rate[MOST];
    if (m == 0 || m > MOST) return false;
    for (int j = 0; j < e->nall; j++) {
        if (!e->held[j]) continue;
        for (int k = 0; k < m; k++) rate[k] = free_rate(e, j, e->rigid.vector + (size_t)k * (size_t)n);
        for (int a = 0; a < m; a++)
            for (int b = 0; b < m; b++) Q[a * m + b] += rate[a] * rate[b];
    }
    pcs_jacobi(m, Q, w, V);
    return !(w[0] > NEGLIGIBLE * NEGLIGIBLE);
}

// A vector without a pattern, so that no motion is missed by symmetry.
static void free_start_vector(const pcs_equilibrium *e, double *x)
{
    for (int i = 0; i < e->system->nv; i++) x[i] = (1.0 + 0.5 * sin(1.0 + 2.3 * i)) * e->system->scale.model[i];
}

// Rayleigh's quotient of dq, and in *zero what it may come to by round-off; dq is scaled to a largest entry of 1 size.
static double free_quotient(pcs_equilibrium *e, double *zero)
{
    const pcs_matrix *K = &e->stiff.K;
    double top = 0.0, sizes = 0.0, largest = pcs_equilibrium_stride(e, e->dq);
    if (largest > 0.0)
        for (int i = 0; i < e->system->nv; i++) e->dq[i] /= largest;
    for (int j = 0; j < e->system->nv; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++) {
            double term = K->value[p] * e->dq[K->pattern->row[p]] * e->dq[j];
            top += term;
            sizes += fabs(term);
        }
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    double mass = pcs_dense_dot(e->system->nv, e->dq, e->work);
    double blur = fmax(DBL_EPSILON * pcs_equilibrium_top(e), MANY * DIFFERENCES * free_row_rate(e));
    *zero = mass > 0.0 ? fmax(MANY * DBL_EPSILON * sizes / mass, blur) : INFINITY;
    return mass > 0.0 ? top / mass : 0.0;
}

pcs_status pcs_equilibrium_is_driven(pcs_equilibrium *e, const double *q, bool *is_driven)
{
    bool is_singular = false;
    pcs_equilibrium_begin(e, 1.0);
    pcs_equilibrium_evaluate(e, q);
    e->mu = pcs_equilibrium_least_mu(e);
    *is_driven = true;
    if (!(e->mu > 0.0)) return PCS_OK;
    pcs_equilibrium_update_tangent(e, q);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    if (is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    *is_driven = e->mu * pcs_equilibrium_norm(e, e->work) > DRIVEN * e->weight;
    return PCS_OK;
}

// Do rows hold all there is, as of bodies in a machine that drives move? What rounding leaves of a motion is none then.
static pcs_status free_is_held(pcs_equilibrium *e, bool *is_held)
{
    int n = e->system->nv, count = 0;
    bool is_singular = false;
    *is_held = false;
    for (int j = 0; j < e->nall; j++) count += e->held[j];
    if (count < n) return PCS_OK;
    pcs_matrix_combine(&e->A, (const double[3]){ 1.0, 0.0, 0.0 }, &e->D, NULL, &e->stiff.K);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    if (is_singular) return PCS_OK;
    free_start_vector(e, e->dq);
    double before = pcs_equilibrium_stride(e, e->dq);
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    memcpy(e->dq, e->work, (size_t)n * sizeof *e->dq);
    pcs_bordered_solve(e->solver, e->dq, NULL);
    *is_held = pcs_equilibrium_stride(e, e->dq) <= NOTHING * before;
    return PCS_OK;
}

pcs_status pcs_equilibrium_softest(pcs_equilibrium *e, const double *q, double *stiffness, pcs_stability *stability)
{
    double zero = 0.0, quotient = INFINITY;
    bool is_singular = false, is_held = false;
    e->is_factored = false;
    e->mu = e->shift = 0.0;
    pcs_equilibrium_update_tangent(e, q);
    PCS_TRY(free_is_held(e, &is_held));
    *stiffness = INFINITY;
    *stability = PCS_STABLE;
    if (is_held) return PCS_OK;
    double least = pcs_equilibrium_least_mu(e);
    if (!(least > 0.0)) least = 1.0; // there is no K beside which it could be large
    free_start_vector(e, e->dq);
    for (double mu = e->load > 0.0 ? fmax(pcs_equilibrium_top(e), least) : least;; mu = fmax(SHRINK * mu, least)) {
        e->mu = mu;
        pcs_equilibrium_update_tangent(e, q);
        PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
        if (!is_singular)
            for (int k = 0; k < (mu > least ? ROUNDS : LAST_ROUNDS); k++) {
                pcs_matrix_multiply(&e->D, e->dq, e->work);
                memcpy(e->dq, e->work, (size_t)e->system->nv * sizeof *e->dq);
                pcs_bordered_solve(e->solver, e->dq, NULL);
                quotient = free_quotient(e, &zero);
            }
        if (quotient < -zero || mu <= least) break;
    }
    e->mu = 0.0;
    *stiffness = quotient;
    *stability = PCS_NEUTRAL;
    if (quotient > zero) *stability = PCS_STABLE;
    if (quotient < -zero) *stability = PCS_UNSTABLE;
    if (isinf(quotient)) *stability = PCS_STABILITY_UNKNOWN;
    return PCS_OK;
}
