// An equilibrium as it is looked for: its equations at a state, their residual, tangent and factorization.

#include "analysis/statics_friction.h"
#include "core/rounding.h"

#include <math.h>
#include <string.h>

static const double TOUCHES = 16.0; // rounding errors of a gap
static const double WHOLE_TURN = 6.283185307179586476925;

static double equilibrium_diagonal(const pcs_matrix *A, int i)
{
    int p = A->pattern->start[i];
    while (A->pattern->row[p] != i) p++;
    return A->value[p];
}

void pcs_equilibrium_update_tangent(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    if (s->tangents_vary) s->ops->update(s, pcs_at_rest(e->time, q, e->zero, e->factor), PCS_TANGENTS, NULL);
    pcs_stiffness_update_K(&e->stiff, pcs_at(e->time, q, NULL), e->lam);
    pcs_matrix_combine(&e->A, (const double[3]){ e->mu + e->shift, 0.0, 1.0 }, &e->D, NULL, &e->stiff.K);
    pcs_friction_stiffen(e);
}

pcs_status pcs_equilibrium_factor(pcs_equilibrium *e, bool *is_singular)
{
    *is_singular = false;
    e->has_factors = false;
    PCS_TRY(pcs_bordered_factor(e->solver, e->held, is_singular));
    e->has_factors = !*is_singular;
    return PCS_OK;
}

double pcs_equilibrium_top(const pcs_equilibrium *e)
{
    double top = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        double m = equilibrium_diagonal(&e->stiff.M, i);
        if (m > 0.0) top = fmax(top, fabs(equilibrium_diagonal(&e->stiff.K, i)) / m);
    }
    return top;
}

// D, and the scale of forces. A zero among the K_ii counts as stiff as its mass makes it at the highest frequency.
static void equilibrium_make_scales(pcs_equilibrium *e)
{
    double top = pcs_equilibrium_top(e), one = top > 0.0 ? top : 1.0;
    memcpy(e->D.value, e->stiff.M.value, (size_t)e->D.pattern->nnz * sizeof *e->D.value);
    for (int i = 0; i < e->system->nv; i++) {
        double k = fabs(equilibrium_diagonal(&e->stiff.K, i)), m = equilibrium_diagonal(&e->stiff.M, i);
        if (!(m > 0.0)) {
            m = k > 0.0 ? k / one : 1.0;
            int p = e->D.pattern->start[i];
            while (e->D.pattern->row[p] != i) p++;
            e->D.value[p] = m;
        }
        e->stiffness[i] = k > 0.0 ? k : m * one;
        e->scale[i] = 1.0 / sqrt(e->stiffness[i]);
    }
}

static pcs_status equilibrium_take(pcs_equilibrium *e)
{
    pcs_system *s = e->system;
    pcs_context *ctx = e->ctx;
    double **vectors[] = { &e->zero, &e->f,    &e->idle,  &e->loads,  &e->size,     &e->dq,
                           &e->away, &e->work, &e->scale, &e->safe_q, &e->stiffness };
    double **rows[] = { &e->lam,  &e->dlam,     &e->gap,       &e->gap0,     &e->target,
                        &e->blur, &e->safe_lam, &e->gap_noise, &e->lam_noise };
    unsigned char **marks[] = { &e->held, &e->kept, &e->safe_held };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], s->nv, "equilibrium");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) PCS_TAKE(ctx, *rows[i], e->nall, "equilibrium");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) PCS_TAKE(ctx, *marks[i], e->nall, "equilibrium");
    PCS_TRY(pcs_stiffness_create(s, e->has_friction, &e->stiff));
    e->A.pattern = e->D.pattern = e->stiff.K.pattern;
    PCS_TAKE(ctx, e->A.value, e->A.pattern->nnz, "equilibrium");
    PCS_TAKE(ctx, e->D.value, e->A.pattern->nnz, "equilibrium");
    return PCS_OK;
}

pcs_status pcs_equilibrium_create(const pcs_analysis *on, double time, const double *q, pcs_equilibrium *e)
{
    pcs_system *s = on->system;
    e->ctx = on->ctx;
    e->system = s;
    e->time = time;
    e->over = 1.0;
    e->correction = INFINITY;
    e->factor = 0.0; // no loads yet, nor the stiffness of those that turn
    if (s->mass_varies) s->ops->update(s, pcs_at(e->time, q, NULL), PCS_MASS, NULL);
    if (s->row_set.vary) pcs_system_aim(s, pcs_at(e->time, q, NULL));
    PCS_TRY(pcs_friction_create(e));
    PCS_TRY(equilibrium_take(e));
    pcs_stiffness_update_M(&e->stiff);
    pcs_equilibrium_update_tangent(e, q);
    equilibrium_make_scales(e);
    if (s->row_set.ndriven > 0)
        pcs_system_drives(s, time, e->target, e->blur); // turns go the whole way that they are told
    pcs_equilibrium_place(e, q);
    pcs_equilibrium_find_blur(e, q);
    for (int j = 0; j < s->nrow; j++) {
        e->held[j] = s->rows[j].is_bilateral;
        e->gap0[j] = e->held[j] ? e->gap[j] : 0.0;
        if (!e->held[j] && e->holds_touching && e->gap[j] <= TOUCHES * e->blur[j]) {
            e->held[j] = 1;
            pcs_friction_flip(e, j);
        }
    }
    pcs_linsolve_kind kind = s->is_linear && !pcs_system_is_gyroscopic(s) ? PCS_SPD : PCS_GENERAL;
    PCS_TRY(pcs_bordered_create(on->ctx, on->linear, &e->A, kind, s->nrow > 0 ? e->R : NULL, &e->solver));
    if (s->nrow > 0) pcs_bordered_set_columns(e->solver, e->H);
    pcs_bordered_set_sizes(e->solver, e->stiffness);
    return PCS_OK;
}

double pcs_equilibrium_stride(const pcs_equilibrium *e, const double *dq)
{
    double largest = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        largest = pcs_larger(largest, fabs(dq[i]) / e->system->scale.model[i]);
    }
    return largest;
}

// f becomes the residual f + G^T lam - mu D away; its norm and what to compare it with.
static void equilibrium_residual(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    e->factor = e->load * e->over;
    s->ops->force(s, pcs_at_rest(e->time, q, e->zero, 0.0), e->idle);
    s->ops->force(s, pcs_at_rest(e->time, q, e->zero, e->factor), e->f);
    for (int i = 0; i < s->nv; i++) e->loads[i] = e->f[i] - e->idle[i];
    e->weight = fmax(pcs_equilibrium_norm(e, e->loads), pcs_equilibrium_norm(e, e->idle));
    pcs_equilibrium_find_sizes(e, q);
    memset(e->work, 0, (size_t)s->nv * sizeof *e->work);
    for (int j = 0; j < e->nall; j++)
        if (e->lam[j] != 0.0) pcs_rows_add_transposed(e->R, j, e->lam[j], e->work);
    e->weight = fmax(e->weight, pcs_equilibrium_norm(e, e->work));
    for (int i = 0; i < s->nv; i++) e->f[i] += e->work[i];
    if (e->mu > 0.0) pcs_matrix_add_multiply(&e->D, -e->mu, e->away, e->f);
    e->left = pcs_equilibrium_norm(e, e->f);
}

void pcs_equilibrium_place(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    if (s->row_set.vary) pcs_system_aim(s, pcs_at(e->time, q, NULL));
    pcs_system_gaps(s, pcs_at(e->time, q, NULL), e->gap);
    for (int j = 0; j < s->nrow; j++)
        if (s->rows[j].is_turn) e->gap[j] = e->target[j] + remainder(e->gap[j] - e->target[j], WHOLE_TURN);
    pcs_friction_place(e, q);
}

void pcs_equilibrium_look(pcs_equilibrium *e, const double *q)
{
    pcs_equilibrium_place(e, q);
    pcs_friction_turn(e);
    equilibrium_residual(e, q);
}

bool pcs_equilibrium_evaluate(pcs_equilibrium *e, const double *q)
{
    const pcs_system *s = e->system;
    for (int j = 0; j < s->nrow; j++) e->target[j] = (1.0 - e->load) * e->gap0[j];
    pcs_equilibrium_place(e, q);
    pcs_equilibrium_find_blur(e, q);
    equilibrium_residual(e, q);
    // Judges contacts of a linear model only after a second correction, which removes the round-off that the first one
    // leaves in their forces.
    e->is_judged = !s->is_linear || e->slides_in_planes || !e->has_factors || e->is_refined;
    e->is_refined = true;
    if (e->is_frozen) {
        e->is_judged = true;
        return false;
    }
    if (!e->is_judged || !pcs_equilibrium_choose_rows(e)) return false;
    e->is_refined = false;
    equilibrium_residual(e, q);
    return true;
}

void pcs_equilibrium_move(const pcs_equilibrium *e, const double *dq, double *q)
{
    pcs_retract(&e->system->rotations, q, dq, q);
}

void pcs_equilibrium_solve(pcs_equilibrium *e)
{
    memcpy(e->dq, e->f, (size_t)e->system->nv * sizeof *e->f);
    for (int j = 0; j < e->nall; j++) {
        double error = e->held[j] ? e->target[j] - e->gap[j] : 0.0;
        // Redundant rows would make forces of rounding errors that contradict each other.
        e->dlam[j] = fabs(error) <= e->blur[j] ? 0.0 : error;
    }
    pcs_bordered_solve(e->solver, e->dq, e->dlam);
    for (int j = 0; j < e->nall; j++) e->dlam[j] = -e->dlam[j];
}

void pcs_equilibrium_begin(pcs_equilibrium *e, double load)
{
    e->load = load;
    e->mu = e->shift = 0.0;
    e->is_factored = false;
    e->bad_equation = -1;
    e->correction = INFINITY;
    pcs_equilibrium_forget_rows(e);
}
