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

static int near_degree(const pcs_pattern *pattern, int i)
{
    return pattern->start[i + 1] - pattern->start[i];
}

// Row by row through the neighbours, chain after chain, from their ends where they have some.
static void near_order(pcs_near *near)
{
    const pcs_pattern *pattern = near->B->pattern;
    int count = 0, head = 0;
    for (int i = 0; i < near->n; i++) near->rank[i] = -1;
    for (int least = 1; count < near->n; least = least < 3 ? least + 1 : near->n)
        for (int i = 0; i < near->n; i++) {
            if (near->rank[i] >= 0 || near_degree(pattern, i) > least) continue;
            near->rank[i] = count;
            near->order[count++] = i;
            for (; head < count; head++) {
                int at = near->order[head];
                for (int p = pattern->start[at]; p < pattern->start[at + 1]; p++) {
                    int next = pattern->row[p];
                    if (near->rank[next] >= 0) continue;
                    near->rank[next] = count;
                    near->order[count++] = next;
                }
            }
        }
}

// Pattern of L: what stands before a row in the order, ascending.
static pcs_status near_take_factor(pcs_context *ctx, pcs_near *near)
{
    const pcs_pattern *pattern = near->B->pattern;
    int n = near->n, count = 0;
    PCS_TAKE(ctx, near->order, n, "the preconditioner");
    PCS_TAKE(ctx, near->rank, n, "the preconditioner");
    PCS_TAKE(ctx, near->below, n + 1, "the preconditioner");
    PCS_TAKE(ctx, near->left, (pattern->nnz - n) / 2, "the preconditioner");
    PCS_TAKE(ctx, near->source, (pattern->nnz - n) / 2, "the preconditioner");
    PCS_TAKE(ctx, near->L, (pattern->nnz - n) / 2, "the preconditioner");
    PCS_TAKE(ctx, near->D, n, "the preconditioner");
    PCS_TAKE(ctx, near->x, n, "the preconditioner");
    near_order(near);
    for (int i = 0; i < n; i++) {
        near->below[i] = count;
        int row = near->order[i];
        for (int p = pattern->start[row]; p < pattern->start[row + 1]; p++) {
            int place = near->rank[pattern->row[p]], at = count;
            if (place >= i) continue;
            for (; at > near->below[i] && near->left[at - 1] > place; at--) {
                near->left[at] = near->left[at - 1];
                near->source[at] = near->source[at - 1];
            }
            near->left[at] = place;
            near->source[at] = p;
            count++;
        }
    }
    near->below[n] = count;
    return PCS_OK;
}

// Rows that touch equation k, a tangent together with the other one of its contact: the direction of slip couples them,
// and what elimination adds to a chain then has its place. Gives their number.
static int near_rows_of(const pcs_near *near, const int *mate, int k, int *rows)
{
    int count = 0;
    for (int t = near->start[k]; t < near->start[k + 1]; t++) {
        int row = near->row[near->touching[t]];
        rows[count++] = row;
        if (mate[row] != row) rows[count++] = mate[row];
    }
    return count;
}

static pcs_status near_find_pattern(pcs_step_solver *solver, const pcs_near *near, int *mate, int *rows,
                                    pcs_pattern **out)
{
    pcs_pattern_builder *builder;
    int m = near->part[0]->nrow;
    for (int i = 0; i < near->n; i++) mate[i] = i;
    for (int j = 0; j < solver->system->nrow && near->part[1] != NULL; j++) {
        const pcs_row *row = &solver->system->rows[j];
        if (row->ntangent != 2) continue;
        mate[m + row->first_tangent] = m + row->first_tangent + 1;
        mate[m + row->first_tangent + 1] = m + row->first_tangent;
    }
    PCS_TRY(pcs_pattern_begin(solver->ctx, near->n, &builder));
    for (int i = 0; i < near->n; i++) {
        int pair[2] = { i, mate[i] };
        PCS_TRY(pcs_pattern_add_cells(builder, 1, 2, pair));
    }
    for (int k = 0; k < solver->system->nv; k++) {
        int count = near_rows_of(near, mate, k, rows);
        if (count > 1) PCS_TRY(pcs_pattern_add_cells(builder, 1, count, rows));
    }
    return pcs_pattern_finish(builder, out);
}

static pcs_status near_make_matrix(pcs_step_solver *solver, pcs_near *near)
{
    pcs_pattern *pattern;
    int *mate = pcs_scratch(NULL, (size_t)near->n, sizeof *mate);
    int *rows = pcs_scratch(NULL, 2 * (size_t)near->nterm, sizeof *rows);
    pcs_status status = mate == NULL || rows == NULL
                            ? pcs_fail(solver->ctx, PCS_NO_MEMORY, "out of memory: the preconditioner")
                            : near_find_pattern(solver, near, mate, rows, &pattern);
    pcs_scratch_free(mate);
    pcs_scratch_free(rows);
    if (status != PCS_OK) return status;
    PCS_TRY(pcs_matrix_create(solver->ctx, pattern, &near->whole));
    PCS_TRY(pcs_matrix_create(solver->ctx, pattern, &near->B));
    return near_take_factor(solver->ctx, near);
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

// A pivot lost to what was left out is taken from the diagonal.
void pcs_near_factor(pcs_near *near)
{
    const pcs_pattern *pattern = near->B->pattern;
    memset(near->x, 0, (size_t)near->n * sizeof *near->x); // row i of L D
    for (int i = 0; i < near->n; i++) {
        double diagonal = 0.0;
        int row = near->order[i];
        for (int p = pattern->start[row]; p < pattern->start[row + 1]; p++)
            if (pattern->row[p] == row) diagonal = near->B->value[p];
        double pivot = diagonal;
        for (int e = near->below[i]; e < near->below[i + 1]; e++) {
            int j = near->left[e];
            double sum = near->B->value[near->source[e]];
            for (int f = near->below[j]; f < near->below[j + 1]; f++) sum -= near->L[f] * near->x[near->left[f]];
            near->x[j] = sum;
            near->L[e] = sum / near->D[j];
            pivot -= sum * near->L[e];
        }
        for (int e = near->below[i]; e < near->below[i + 1]; e++) near->x[near->left[e]] = 0.0;
        near->D[i] = pivot > proximal * diagonal ? pivot : diagonal;
    }
    near->is_factored = true;
}

void pcs_near_solve(const pcs_near *near, double *x)
{
    double *y = near->x;
    for (int i = 0; i < near->n; i++) {
        y[i] = x[near->order[i]];
        for (int e = near->below[i]; e < near->below[i + 1]; e++) y[i] -= near->L[e] * y[near->left[e]];
    }
    for (int i = 0; i < near->n; i++) y[i] /= near->D[i];
    for (int i = near->n - 1; i >= 0; i--) {
        for (int e = near->below[i]; e < near->below[i + 1]; e++) y[near->left[e]] -= near->L[e] * y[i];
        x[near->order[i]] = y[i];
    }
}
