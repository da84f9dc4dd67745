#include "step/near.h"

#include "linsolve/pivot.h"

#include <math.h>
#include <string.h>

static const double proximal = 1e-4; // of the diagonal
static const double sparse = 40.0;   // entries of a row, on average

// The rows of both parts as one list of entries.
static pcs_status near_list(pcs_context *ctx, pcs_near *near)
{
    int count[2] = { near->part[0]->nrow, near->part[1] == NULL ? 0 : near->part[1]->nrow };
    near->n = count[0] + count[1];
    for (int k = 0; k < 2; k++)
        if (count[k] > 0) near->nterm += near->part[k]->start[count[k]];
    PCS_TAKE(ctx, near->first, near->n + 1, "the preconditioner");
    PCS_TAKE(ctx, near->place, near->n, "the preconditioner");
    PCS_TAKE(ctx, near->column, near->nterm, "the preconditioner");
    PCS_TAKE(ctx, near->row, near->nterm, "the preconditioner");
    PCS_TAKE(ctx, near->touching, near->nterm, "the preconditioner");
    double **vectors[] = { &near->value, &near->mass, &near->stiff };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(ctx, *vectors[i], near->nterm, "the preconditioner");
    int row = 0, term = 0;
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < count[k]; j++, row++) {
            near->first[row] = term;
            for (int p = near->part[k]->start[j]; p < near->part[k]->start[j + 1]; p++, term++) {
                near->column[term] = near->part[k]->column[p];
                near->row[term] = row;
            }
        }
    near->first[near->n] = term;
    return PCS_OK;
}

// Counting sort of the entries by equation; gives the number of pairs of rows that meet.
static double near_sort(pcs_near *near, int nv)
{
    double pairs = 0.0;
    for (int e = 0; e < near->nterm; e++) near->start[near->column[e] + 2]++;
    for (int k = 0; k < nv; k++) {
        pairs += (double)near->start[k + 2] * near->start[k + 2];
        near->start[k + 2] += near->start[k + 1];
    }
    // Filling moves every start one place on, to where it belongs.
    for (int e = 0; e < near->nterm; e++) near->touching[near->start[near->column[e] + 1]++] = e;
    return pairs;
}

static pcs_status near_make_matrix(pcs_step_solver *solver, pcs_near *near)
{
    pcs_pattern_builder *builder;
    pcs_pattern *pattern;
    int most = 1;
    for (int k = 0; k < solver->system->nv; k++)
        most = near->start[k + 1] - near->start[k] > most ? near->start[k + 1] - near->start[k] : most;
    int *rows = pcs_scratch(NULL, (size_t)most, sizeof *rows);
    if (rows == NULL) return pcs_fail(solver->ctx, PCS_NO_MEMORY, "out of memory: the preconditioner");
    pcs_status status = pcs_pattern_begin(solver->ctx, near->n, &builder);
    for (int j = 0; j < near->n && status == PCS_OK; j++) status = pcs_pattern_add_cells(builder, 1, 1, &j);
    // The two tangents of a contact are coupled by the direction of its slip.
    for (int j = 0; j < near->part[0]->nrow && near->part[1] != NULL && status == PCS_OK; j++) {
        const pcs_row *row = &solver->system->rows[j];
        int first = near->part[0]->nrow + row->first_tangent, pair[2] = { first, first + 1 };
        if (row->ntangent == 2) status = pcs_pattern_add_cells(builder, 1, 2, pair);
    }
    for (int k = 0; k < solver->system->nv && status == PCS_OK; k++) {
        int count = near->start[k + 1] - near->start[k];
        for (int i = 0; i < count; i++) rows[i] = near->row[near->touching[near->start[k] + i]];
        if (count > 1) status = pcs_pattern_add_cells(builder, 1, count, rows);
    }
    pcs_scratch_free(rows);
    if (status == PCS_OK) status = pcs_pattern_finish(builder, &pattern);
    if (status != PCS_OK) return status;
    PCS_TRY(pcs_matrix_create(solver->ctx, pattern, &near->whole));
    PCS_TRY(pcs_matrix_create(solver->ctx, pattern, &near->B));
    return pcs_linsolve_create(solver->ctx, "auto", near->B, PCS_SPD, &near->factor);
}

pcs_status pcs_near_create(pcs_step_solver *solver, const pcs_rows *first, const pcs_rows *second, pcs_near **out)
{
    pcs_near *near;
    *out = NULL;
    if (first->nrow == 0 || solver->system->ops->update_directions != NULL) return PCS_OK;
    PCS_TAKE(solver->ctx, near, 1, "the preconditioner");
    near->solver = solver;
    near->part[0] = first;
    near->part[1] = second;
    PCS_TRY(near_list(solver->ctx, near));
    PCS_TAKE(solver->ctx, near->start, solver->system->nv + 2, "the preconditioner");
    if (near_sort(near, solver->system->nv) > sparse * near->n) return PCS_OK;
    PCS_TRY(near_make_matrix(solver, near));
    *out = near;
    return PCS_OK;
}

// Diagonal entries of A at the equations of all entries; a rank knows those of its own equations.
static void near_read_diagonal(const pcs_near *near, const pcs_matrix *A, double *out)
{
    const pcs_system *system = near->solver->system;
    int own = pcs_system_nown(system);
    for (int e = 0; e < near->nterm; e++) out[e] = near->column[e] < own ? pcs_diagonal_of(A, near->column[e]) : 0.0;
    pcs_system_sum(system, near->nterm, out);
}

void pcs_near_fill(pcs_near *near, const pcs_matrix *S, const double share[2])
{
    double c = near->solver->form.c;
    near_read_diagonal(near, near->solver->system->M, near->mass);
    if (S != NULL) near_read_diagonal(near, S, near->stiff);
    for (int i = 0; i < near->n; i++) {
        int k = i < near->part[0]->nrow ? 0 : 1;
        const pcs_rows *rows = near->part[k];
        int offset = rows->start[k == 0 ? i : i - near->part[0]->nrow] - near->first[i];
        for (int e = near->first[i]; e < near->first[i + 1]; e++) {
            double a = S == NULL ? 0.0 : share[k];
            double w = (1.0 - a) / near->mass[e] + (S == NULL ? 0.0 : a * c / near->stiff[e]);
            near->value[e] = rows->value[e + offset] * sqrt(w);
        }
    }
    const pcs_pattern *pattern = near->whole->pattern;
    pcs_matrix_zero(near->whole);
    // Sums go along the entries of a row, in the same order on every rank.
    for (int i = 0; i < near->n; i++) {
        for (int p = pattern->start[i]; p < pattern->start[i + 1]; p++) near->place[pattern->row[p]] = p;
        for (int e = near->first[i]; e < near->first[i + 1]; e++)
            for (int t = near->start[near->column[e]]; t < near->start[near->column[e] + 1]; t++) {
                int other = near->touching[t];
                near->whole->value[near->place[near->row[other]]] += near->value[e] * near->value[other];
            }
        near->whole->value[near->place[i]] *= 1.0 + proximal;
    }
    near->is_factored = false;
}

void pcs_near_choose(pcs_near *near, const unsigned char *is_in)
{
    const pcs_pattern *pattern = near->whole->pattern;
    for (int i = 0; i < near->n; i++)
        for (int p = pattern->start[i]; p < pattern->start[i + 1]; p++) {
            int j = pattern->row[p];
            near->B->value[p] = i == j || (is_in[i] && is_in[j]) ? near->whole->value[p] : 0.0;
        }
}

void pcs_near_add(pcs_near *near, int i, int j, double value)
{
    const pcs_pattern *pattern = near->B->pattern;
    int p = pattern->start[i];
    while (pattern->row[p] != j) p++;
    near->B->value[p] += value;
}

void pcs_near_factor(pcs_near *near)
{
    bool is_singular = false;
    near->is_factored = pcs_linsolve_factor(near->factor, &is_singular) == PCS_OK && !is_singular;
}

void pcs_near_solve(pcs_near *near, double *x)
{
    pcs_linsolve_solve(near->factor, x);
}
