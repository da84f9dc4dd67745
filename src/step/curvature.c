#include "step/curvature.h"

#include "step/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Displacement for central differences over the size of the model, near eps^(1/3): their relative error is eps^(2/3).
static const double small_increment = 1e-5;
// Entry of a coordinate over the largest one of the rows, below which its displacement is not enlarged further.
static const double small_entry = 1e-3;
// Largest change of the rows by a displacement, over their largest entry, and the factor that shortens larger ones.
static const double most_bend = 1e-2, shortening = 1e-2;
enum { SHORTENINGS = 4 };

static const pcs_rows *curvature_rows(const pcs_curvature *c, int part)
{
    return part == 0 ? c->system->G : c->system->T;
}

static int curvature_count(const pcs_curvature *c, int part)
{
    return part == 0 ? c->system->nrow : c->system->ntangent;
}

// Returns the end of the entries of a row, without the trailing zeros that pad it.
static int curvature_last(const pcs_rows *rows, int row)
{
    int last = rows->start[row + 1];
    while (last > rows->start[row] && rows->value[last - 1] == 0.0 && rows->column[last - 1] == 0) last--;
    return last;
}

// Allocates H, with the pattern of the slopes or of G.
static pcs_status curvature_take_rates(pcs_context *ctx, pcs_curvature *c)
{
    const pcs_slopes *s = c->has_slopes ? c->system->slopes : NULL;
    int m = c->system->nrow, nnz = 0;
    const pcs_rows *G = c->system->G;
    for (int i = 0; s != NULL && i < s->count; i++) nnz += pcs_slopes_size(s, i);
    for (int j = 0; j < m; j++) nnz += s == NULL ? c->last[0][j] - G->start[j] : 0;
    PCS_TRY(pcs_rows_create(ctx, m, c->system->nv, nnz, &c->H));
    int *start = c->H->start;
    for (int i = 0; s != NULL && i < s->count; i++) start[s->row[i] + 1] = pcs_slopes_size(s, i);
    if (s == NULL)
        for (int j = 0; j < m; j++) start[j + 1] = c->last[0][j] - G->start[j];
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

static pcs_status curvature_find_rows(pcs_context *ctx, pcs_curvature *c, int part)
{
    const pcs_rows *rows = curvature_rows(c, part);
    int count = curvature_count(c, part);
    if (count == 0) return PCS_OK;
    PCS_TAKE(ctx, c->last[part], count, "the curvature of rows");
    PCS_TAKE(ctx, c->column[part], rows->start[count], "the curvature of rows");
    PCS_TAKE(ctx, c->ahead[part], rows->start[count], "the curvature of rows");
    for (int j = 0; j < count; j++) c->last[part][j] = curvature_last(rows, j);
    memcpy(c->column[part], rows->column, (size_t)rows->start[count] * sizeof *rows->column);
    return PCS_OK;
}

// Builds the pattern of K: that of the system, and all pairs of coordinates of a row.
static pcs_status curvature_find_pattern(pcs_context *ctx, pcs_curvature *c)
{
    const pcs_pattern *own = c->system->M->pattern;
    pcs_pattern_builder *builder;
    pcs_pattern *pattern;
    PCS_TRY(pcs_pattern_begin(ctx, own->n, &builder));
    for (int j = 0; j < own->n; j++)
        for (int e = own->start[j]; e < own->start[j + 1]; e++)
            if (own->row[e] >= j) PCS_TRY(pcs_pattern_add_cells(builder, 1, 2, (int[]){ j, own->row[e] }));
    int nrow[2] = { c->has_slopes ? 0 : curvature_count(c, 0), c->has_slopes ? 0 : curvature_count(c, 1) };
    for (int part = 0; part < 2; part++)
        for (int j = 0; j < nrow[part]; j++) {
            int first = curvature_rows(c, part)->start[j];
            PCS_TRY(pcs_pattern_add_cells(builder, 1, c->last[part][j] - first, c->column[part] + first));
        }
    const pcs_slopes *s = c->system->slopes;
    int nslope = c->has_slopes ? s->count : 0;
    for (int i = 0; i < nslope; i++)
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
    return c->has_slopes && pcs_linsolve_takes("chain", c->system->M->pattern, PCS_GENERAL) &&
           !pcs_linsolve_takes("chain", c->K->pattern, PCS_GENERAL);
}

// Returns true if a neighbour of coordinate i has this colour. Coordinates of a row are neighbours in the pattern.
static bool curvature_is_taken(const pcs_curvature *c, int i, int colour)
{
    const pcs_pattern *pattern = c->K->pattern;
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++)
        if (pattern->row[e] != i && c->colour[pattern->row[e]] == colour) return true;
    return false;
}

static pcs_status curvature_find_colours(pcs_context *ctx, pcs_curvature *c)
{
    PCS_TAKE(ctx, c->colour, c->system->nv, "the curvature of rows");
    for (int i = 0; i < c->system->nv; i++) c->colour[i] = -1;
    for (int part = 0; part < 2; part++)
        for (int j = 0; j < curvature_count(c, part); j++)
            for (int e = curvature_rows(c, part)->start[j]; e < c->last[part][j]; e++) {
                int i = c->column[part][e], colour = 0;
                if (c->colour[i] >= 0) continue;
                while (curvature_is_taken(c, i, colour)) colour++;
                c->colour[i] = colour;
                if (colour >= c->ncolour) c->ncolour = colour + 1;
            }
    return PCS_OK;
}

pcs_status pcs_curvature_create(pcs_step_solver *solver, pcs_curvature **out)
{
    pcs_curvature *c;
    pcs_system *system = solver->system;
    pcs_context *ctx = solver->ctx;
    bool has_joints = false;
    *out = NULL;
    for (int j = 0; j < system->nrow; j++) has_joints = has_joints || system->rows[j].is_bilateral;
    if (!has_joints || !system->row_set.vary) return PCS_OK;
    // Derivatives of forces in space without those of velocities would make steps fail.
    if (system->rotations.are_somewhere &&
        (system->slopes == NULL || system->slopes->count == 0 || system->row_set.are_redundant))
        return PCS_OK;
    if (system->layout != NULL) return PCS_OK;
    PCS_TAKE(ctx, c, 1, "the curvature of rows");
    c->system = system;
    c->has_slopes = system->rotations.are_somewhere;
    c->has_rates = !system->row_set.are_redundant;
    PCS_TAKE(ctx, c->lam, system->nrow, "the curvature of rows");
    PCS_TAKE(ctx, c->lam_t, system->ntangent, "the curvature of rows");
    if (!c->has_slopes) PCS_TRY(curvature_find_rows(ctx, c, 0));
    if (!c->has_slopes) PCS_TRY(curvature_find_rows(ctx, c, 1));
    PCS_TRY(curvature_find_pattern(ctx, c));
    if (curvature_breaks_chain(c)) return PCS_OK;
    *out = c;
    PCS_TRY(curvature_take_rates(ctx, c));
    if (c->has_slopes) return curvature_find_places(ctx, c);
    PCS_TRY(curvature_find_colours(ctx, c));
    PCS_TAKE(ctx, c->q, system->nv, "the curvature of rows");
    PCS_TAKE(ctx, c->increment, system->nv, "the curvature of rows");
    return PCS_OK;
}

// Sets the displacement of each coordinate: it changes gaps by small_increment of the model's size, in any unit.
static void curvature_find_sides(pcs_curvature *c)
{
    const pcs_rows *G = c->system->G;
    c->largest = DBL_MIN;
    memset(c->increment, 0, (size_t)c->system->nv * sizeof *c->increment);
    for (int e = 0; e < G->start[G->nrow]; e++) {
        double *entry = &c->increment[G->column[e]];
        *entry = fmax(*entry, fabs(G->value[e]));
        c->largest = fmax(c->largest, *entry);
    }
    for (int i = 0; i < c->system->nv; i++)
        c->increment[i] = small_increment * c->system->length / fmax(c->increment[i], small_entry * c->largest);
}

// Evaluates the rows with the coordinates of one colour moved by `sign` times their `increment`.
static void curvature_look(pcs_curvature *c, pcs_instant at, int colour, double sign)
{
    for (int i = 0; i < c->system->nv; i++) c->q[i] = at.q[i] + (c->colour[i] == colour ? sign * c->increment[i] : 0.0);
    pcs_system_aim(c->system, pcs_at(at.t, c->q, NULL));
}

// Returns the largest difference between the rows ahead and behind, over the largest entry.
static double curvature_bend(const pcs_curvature *c)
{
    const pcs_rows *G = c->system->G;
    double bend = 0.0;
    for (int e = 0; e < G->start[G->nrow]; e++) bend = fmax(bend, fabs(c->ahead[0][e] - G->value[e]));
    return bend / c->largest;
}

// Evaluates the rows on both sides of q: `ahead`, and behind in place. Shortens increments too long for a joint.
static void curvature_look_both_sides(pcs_curvature *c, pcs_instant at, int colour)
{
    for (int round = 0; round < SHORTENINGS; round++) {
        curvature_look(c, at, colour, 1.0);
        for (int part = 0; part < 2; part++) {
            const pcs_rows *rows = curvature_rows(c, part);
            int count = curvature_count(c, part);
            if (count > 0) memcpy(c->ahead[part], rows->value, (size_t)rows->start[count] * sizeof *rows->value);
        }
        curvature_look(c, at, colour, -1.0);
        if (curvature_bend(c) <= most_bend) return;
        for (int i = 0; i < c->system->nv; i++)
            if (c->colour[i] == colour) c->increment[i] *= shortening;
    }
}

// Subtracts lam dG/dx of a row from K by central differences, for its one coordinate of this colour, if any. Skips a
// contact that touches other nodes by now.
static void curvature_take(pcs_curvature *c, int part, int row, int colour, double lam)
{
    const pcs_rows *rows = curvature_rows(c, part);
    const int *column = c->column[part];
    int first = rows->start[row], last = c->last[part][row], at = first;
    while (at < last && c->colour[column[at]] != colour) at++;
    if (at == last || memcmp(column + first, rows->column + first, (size_t)(last - first) * sizeof *column) != 0)
        return;
    for (int e = first; e < last; e++) {
        double slope = (c->ahead[part][e] - rows->value[e]) / (2.0 * c->increment[column[at]]);
        if (slope != 0.0) c->K->value[pcs_pattern_place(c->K->pattern, column[e], column[at])] -= lam * slope;
    }
}

// Sets the entry of H = d(G v)/dx of a row for its one coordinate of this colour, by central differences.
static void curvature_take_rate(pcs_curvature *c, int row, int colour, const double *v)
{
    const pcs_rows *G = c->system->G;
    const int *column = c->column[0];
    int first = G->start[row], last = c->last[0][row], at = first;
    double sum = 0.0;
    while (at < last && c->colour[column[at]] != colour) at++;
    if (at == last) return;
    for (int e = first; e < last; e++) sum += (c->ahead[0][e] - G->value[e]) * v[column[e]];
    c->H->value[c->H->start[row] + at - first] = sum / (2.0 * c->increment[column[at]]);
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
    double friction_weight = form->kw + (form->has_position ? 0.5 * form->h : 0.0);
    for (int j = 0; j < m; j++) c->lam[j] = share * ((moves ? z[j] : 0.0) + form->kw * z[m + j]);
    for (int t = 0; t < c->system->ntangent; t++) c->lam_t[t] = share * friction_weight * z[2 * m + t];
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

// Fills K and H from the slopes of joints. Smooth multipliers act along the rows, impulses along the rows rotated back.
static void curvature_fill_slopes(pcs_curvature *c, const pcs_step_form *form, const pcs_step_problem *p,
                                  const double *x)
{
    const pcs_slopes *s = c->system->slopes;
    c->system->ops->update(c->system, pcs_at(p->t, p->q, NULL), PCS_SLOPES, x);
    int nrate = c->has_rates ? s->count : 0;
    for (int i = 0; i < nrate; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++)
            c->H->value[c->H->start[s->row[i]] + s->entry[s->start[i] + f]] =
                pcs_rows_dot(s->by, s->start[i] + f, p->v);
    if (form->has_smooth_multipliers) curvature_add_slopes(c, p->lam);
    if (!curvature_is_loaded(c)) return;
    if (x != NULL)
        pcs_rotate_slopes_of_rows(&c->system->rotations, x, pcs_projection_lag(form), c->system->G, c->system->slopes);
    curvature_add_slopes(c, c->lam);
}

// Fills K and H by central differences of the rows.
static void curvature_fill_rows(pcs_curvature *c, const pcs_step_form *form, const pcs_step_problem *p)
{
    if (form->has_smooth_multipliers)
        for (int j = 0; j < c->system->nrow; j++) c->lam[j] += p->lam[j];
    if (!curvature_is_loaded(c) || !(c->system->length > 0.0)) return;
    curvature_find_sides(c);
    for (int colour = 0; colour < c->ncolour; colour++) {
        curvature_look_both_sides(c, pcs_at(p->t, p->q, NULL), colour);
        for (int j = 0; j < c->system->nrow; j++) {
            if (c->lam[j] != 0.0) curvature_take(c, 0, j, colour, c->lam[j]);
            if (c->has_rates && c->system->rows[j].is_bilateral) curvature_take_rate(c, j, colour, p->v);
        }
        for (int t = 0; t < c->system->ntangent; t++)
            if (c->lam_t[t] != 0.0) curvature_take(c, 1, t, colour, c->lam_t[t]);
    }
    pcs_system_aim(c->system, pcs_at(p->t, p->q, NULL));
}

// Fills the derivatives at p->q, at which the rows are evaluated, for the multipliers z of a step and p->lam, which
// acts as f does, and at p->v. With M U = G^T nu, M W = G^T La the first are c/(h kb) (nu + kw La) in units of f.
void pcs_curvature_fill(pcs_curvature *c, const pcs_step_form *form, const pcs_step_problem *p, const double *x,
                        const double *z)
{
    pcs_matrix_zero(c->K);
    memset(c->H->value, 0, (size_t)c->H->start[c->H->nrow] * sizeof *c->H->value);
    curvature_weigh(c, form, z);
    if (c->has_slopes) curvature_fill_slopes(c, form, p, x);
    else curvature_fill_rows(c, form, p);
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

void pcs_step_add_tangent(const pcs_step_solver *solver, const pcs_curvature *curvature, double h, const double *a,
                          const double *b, double *y)
{
    const pcs_system *system = solver->system;
    if (a != NULL) pcs_matrix_add_multiply(system->K, h, a, y);
    if (a != NULL && curvature != NULL) pcs_matrix_add_multiply(curvature->K, h, a, y);
    if (b != NULL && system->C != NULL) pcs_matrix_add_multiply(system->C, h, b, y);
}
