#include "step/curvature.h"

#include "step/projection.h"

#include <string.h>

// Allocates H, with the pattern of the slopes.
static pcs_status curvature_take_rates(pcs_context *ctx, pcs_curvature *c)
{
    const pcs_slopes *s = c->system->slopes;
    int m = c->system->nrow, nnz = 0;
    const pcs_rows *G = c->system->G;
    for (int i = 0; i < s->count; i++) nnz += pcs_slopes_size(s, i);
    PCS_TRY(pcs_rows_create(ctx, m, c->system->nv, nnz, &c->H));
    int *start = c->H->start;
    for (int i = 0; i < s->count; i++) start[s->row[i] + 1] = pcs_slopes_size(s, i);
    for (int j = 0; j < m; j++) {
        int count = start[j + 1];
        start[j + 1] += start[j];
        if (count > 0) memcpy(c->H->column + start[j], G->column + G->start[j], (size_t)count * sizeof(int));
    }
    return PCS_OK;
}

// Finds the positions of the slopes in K, and notes them as the only entries of K that may be nonzero.
static pcs_status curvature_find_places(pcs_context *ctx, pcs_curvature *c)
{
    const pcs_slopes *s = c->system->slopes;
    unsigned char *may_differ;
    PCS_TAKE(ctx, may_differ, c->K->pattern->nnz, "the curvature of rows");
    PCS_TAKE(ctx, c->slope_place, s->by->start[s->by->nrow], "the curvature of rows");
    for (int i = 0, k = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++)
            for (int e = 0; e < pcs_slopes_size(s, i); e++, k++) {
                int row = pcs_slopes_columns(s, i)[e], column = pcs_slopes_equation(s, i, f);
                c->slope_place[k] = pcs_pattern_place(c->K->pattern, row, column);
                may_differ[c->slope_place[k]] = 1;
            }
    return pcs_matrix_note_entries(ctx, c->K, false, may_differ);
}

// Builds the pattern of K: that of the system, and all pairs of coordinates of a row with slopes.
static pcs_status curvature_find_pattern(pcs_context *ctx, pcs_curvature *c)
{
    const pcs_pattern *own = c->system->M->pattern;
    pcs_pattern_builder *builder;
    pcs_pattern *pattern;
    PCS_TRY(pcs_pattern_begin(ctx, own->n, &builder));
    for (int j = 0; j < own->n; j++)
        for (int e = own->start[j]; e < own->start[j + 1]; e++)
            if (own->row[e] >= j) PCS_TRY(pcs_pattern_add_cells(builder, 1, 2, (int[]){ j, own->row[e] }));
    const pcs_slopes *s = c->system->slopes;
    for (int i = 0; i < s->count; i++)
        PCS_TRY(pcs_pattern_add_cells(builder, 1, pcs_slopes_size(s, i), pcs_slopes_columns(s, i)));
    PCS_TRY(pcs_pattern_finish(builder, &pattern));
    PCS_TRY(pcs_matrix_create(ctx, pattern->nnz == own->nnz ? own : pattern, &c->K));
    if (pattern->nnz == own->nnz) return PCS_OK;
    PCS_TAKE(ctx, c->place, own->nnz, "the curvature of rows");
    for (int j = 0; j < own->n; j++)
        for (int e = own->start[j]; e < own->start[j + 1]; e++)
            c->place[e] = pcs_pattern_place(pattern, own->row[e], j);
    return PCS_OK;
}

// Returns true if the pattern of K turns a chain matrix into a sparse one: couplings of distant nodes then cost more
// than they save, and parts of the derivatives save no iterations.
static bool curvature_breaks_chain(const pcs_curvature *c)
{
    return c->system->rotations.are_somewhere && pcs_linsolve_takes("chain", c->system->M->pattern, PCS_GENERAL) &&
           !pcs_linsolve_takes("chain", c->K->pattern, PCS_GENERAL);
}

pcs_status pcs_curvature_create(pcs_step_solver *solver, pcs_curvature **out)
{
    pcs_curvature *c;
    pcs_system *system = solver->system;
    pcs_context *ctx = solver->ctx;
    bool has_joints = false, are_in_space = system->rotations.are_somewhere;
    *out = NULL;
    for (int j = 0; j < system->nrow; j++) has_joints = has_joints || system->rows[j].is_bilateral;
    if (!has_joints || system->slopes == NULL || system->layout != NULL) return PCS_OK;
    // Derivatives of forces in space without those of velocities would make steps fail.
    if (are_in_space && (system->slopes->count == 0 || system->row_set.are_redundant)) return PCS_OK;
    PCS_TAKE(ctx, c, 1, "the curvature of rows");
    c->system = system;
    c->has_rates = !system->row_set.are_redundant;
    PCS_TAKE(ctx, c->lam, system->nrow, "the curvature of rows");
    PCS_TRY(curvature_find_pattern(ctx, c));
    if (curvature_breaks_chain(c)) return PCS_OK;
    *out = c;
    PCS_TRY(curvature_take_rates(ctx, c));
    return curvature_find_places(ctx, c);
}

static bool curvature_is_loaded(const pcs_curvature *c)
{
    for (int j = 0; j < c->system->nrow; j++)
        if (c->lam[j] != 0.0) return true;
    return false;
}

// Computes the multipliers of impulses in units of f, N.
static void curvature_weigh(pcs_curvature *c, const pcs_step_form *form, const double *z)
{
    int m = c->system->nrow;
    double share = form->kb > 0.0 ? form->c / (form->h * form->kb) : 0.0;
    bool moves = form->has_position || form->kh > 0.0; // true if nu moves positions
    for (int j = 0; j < m; j++) c->lam[j] = share * ((moves ? z[j] : 0.0) + form->kw * z[m + j]);
}

// Subtracts lam dG/dx from K.
static void curvature_add_slopes(pcs_curvature *c, const double *lam)
{
    const pcs_slopes *s = c->system->slopes;
    const int *place = c->slope_place;
    for (int i = 0; i < s->count; i++) {
        int count = pcs_slopes_width(s, i) * pcs_slopes_size(s, i);
        const double *slope = pcs_slopes_by(s, i, 0);
        for (int k = 0; k < count; k++) c->K->value[place[k]] -= lam[s->row[i]] * slope[k];
        place += count;
    }
}

// Fills the derivatives at p->q, at which the rows are evaluated, for the multipliers z of a step and p->lam, which
// acts as f does, and at p->v. With M U = G^T nu, M W = G^T La the first are c/(h kb) (nu + kw La) in units of f.
// Smooth multipliers act along the rows, impulses along the rows rotated back.
void pcs_curvature_fill(pcs_curvature *c, const pcs_step_form *form, const pcs_step_problem *p, const double *x,
                        const double *z)
{
    const pcs_slopes *s = c->system->slopes;
    pcs_matrix_zero(c->K);
    memset(c->H->value, 0, (size_t)c->H->start[c->H->nrow] * sizeof *c->H->value);
    curvature_weigh(c, form, z);
    c->system->ops->update(c->system, pcs_at(p->t, p->q, NULL), PCS_SLOPES, x);
    int nrate = c->has_rates ? s->count : 0;
    for (int i = 0; i < nrate; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++)
            c->H->value[c->H->start[s->row[i]] + s->entry[s->start[i] + f]] =
                pcs_rows_dot(s->by, s->start[i] + f, p->v);
    if (form->has_smooth_multipliers) curvature_add_slopes(c, p->lam);
    if (!curvature_is_loaded(c)) return;
    if (x != NULL) pcs_rotate_slopes_of_rows(&c->system->rotations, x, pcs_projection_lag(form), c->system->G, s);
    curvature_add_slopes(c, c->lam);
}

// Computes S = c M + h C + h kb (K + the derivative), over its pattern.
static void curvature_combine(const pcs_curvature *c, const pcs_step_form *form, pcs_matrix *S)
{
    const pcs_system *system = c->system;
    double a = form->c, b = form->h, k = form->h * form->kb;
    if (c->place == NULL) {
        pcs_matrix_combine(S, (const double[3]){ a, b, k }, system->M, system->C, system->K);
        pcs_matrix_add(S, k, c->K);
        return;
    }
    for (int e = 0; e < c->K->pattern->nnz; e++) S->value[e] = k * c->K->value[e];
    for (int e = 0; e < system->M->pattern->nnz; e++) {
        double value = a * system->M->value[e] + k * system->K->value[e];
        S->value[c->place[e]] += system->C == NULL ? value : value + b * system->C->value[e];
    }
}

void pcs_step_assemble(pcs_step_solver *solver, pcs_curvature *c, const pcs_step_problem *p, const double *x,
                       const double *z, pcs_matrix *S)
{
    pcs_system *system = solver->system;
    const pcs_step_form *form = &solver->form;
    bool has_joints = form->has_smooth_multipliers && system->slopes != NULL && c == NULL;
    if (system->tangents_vary) system->ops->update(system, pcs_at(p->t, p->q, p->v), PCS_TANGENTS, NULL);
    if (has_joints) system->ops->update(system, pcs_at(solver->t, p->q, NULL), PCS_JOINTS, p->lam);
    if (system->mass_varies) {
        for (int i = 0; i < system->nv; i++) solver->projection->work[i] = form->c / form->h * p->d[i];
        system->ops->update(system, pcs_at(solver->t, p->q, NULL), PCS_INERTIA, solver->projection->work);
    }
    if (x != NULL && (has_joints || system->tangents_vary)) pcs_rotate_columns(&system->rotations, x, system->K);
    if (c == NULL) {
        pcs_matrix_combine(S, (const double[3]){ form->c, form->h, form->h * form->kb }, system->M, system->C,
                           system->K);
        return;
    }
    pcs_curvature_fill(c, form, p, x, z);
    curvature_combine(c, form, S);
}
