// Bounds of round-off in the residuals of an equilibrium.
//
//   |f_i| <= DBL_EPSILON S_i,   S_i = |load_i| + |internal_i| + sum_j |K_ij| (|q_j| + c_j) + sum_j |G_ji lam_j|
//   |g_j| <= DBL_EPSILON sum_i |G_ji| (|q_i| + x_i) + DBL_EPSILON |g_j0|
//
// each up to a small factor, that of the operations in a sum. q is stored with a relative error of DBL_EPSILON, and K
// makes a force of it. In a nonlinear element strains are differences of lengths, so that a displacement below
// DBL_EPSILON times the length c of the cell is lost as well; a gap is a difference of places x.

#include "analysis/statics_newton.h"

#include <float.h>
#include <math.h>

static const double FACTOR = 16.0; // terms and operations of a sum, as rounding errors add up

void pcs_equilibrium_find_sizes(pcs_equilibrium *e, const double *q)
{
    const pcs_system *s = e->system;
    const pcs_matrix *K = &e->stiff.K;
    for (int i = 0; i < s->nv; i++) e->size[i] = fabs(e->loads[i]) + fabs(e->idle[i]);
    for (int j = 0; j < s->nv; j++) {
        double lost = fabs(q[j]) + (s->is_linear ? 0.0 : e->system->scale.cell[j]);
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            e->size[K->pattern->row[p]] += fabs(K->value[p]) * lost;
    }
    for (int j = 0; j < e->nall; j++)
        if (e->lam[j] != 0.0)
            for (int p = e->R->start[j]; p < e->R->start[j + 1]; p++)
                e->size[e->R->column[p]] += fabs(e->R->value[p] * e->lam[j]);
    e->round_off = DBL_EPSILON * pcs_equilibrium_norm(e, e->size);
}

void pcs_equilibrium_find_blur(pcs_equilibrium *e, const double *q)
{
    for (int j = 0; j < e->nall; j++) {
        double sum = fabs(e->gap0[j]);
        for (int p = e->R->start[j]; p < e->R->start[j + 1]; p++) {
            int i = e->R->column[p];
            sum += fabs(e->R->value[p]) * (fabs(q[i]) + e->system->scale.place[i]);
        }
        e->blur[j] = DBL_EPSILON * sum;
    }
}

bool pcs_equilibrium_is_round_off(const pcs_equilibrium *e)
{
    return e->left <= FACTOR * e->round_off;
}

bool pcs_equilibrium_rows_fit(const pcs_equilibrium *e)
{
    for (int j = 0; j < e->nall; j++)
        if (e->held[j] && !(fabs(e->gap[j] - e->target[j]) <= FACTOR * e->blur[j])) return false;
    return true;
}

double pcs_equilibrium_norm(const pcs_equilibrium *e, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < e->system->nv; i++) sum += e->scale[i] * x[i] * e->scale[i] * x[i];
    return sqrt(sum);
}

double pcs_equilibrium_row_size(const pcs_equilibrium *e, int row)
{
    const pcs_rows *R = e->R;
    double sum = 0.0;
    for (int p = R->start[row]; p < R->start[row + 1]; p++) {
        double entry = e->scale[R->column[p]] * R->value[p];
        sum += entry * entry;
    }
    return sqrt(sum);
}
