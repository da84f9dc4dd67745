#include "step/near.h"

#include "linsolve/pivot.h"

#include <math.h>
#include <string.h>

enum { MOST_PER_ROW = 40 };          // entries of a row of B, on average
static const double proximal = 1e-4; // of the diagonal

static pcs_status near_take(pcs_context *ctx, pcs_near *near, int nv)
{
    struct {
        int **array;
        int count;
    } integers[] = { { &near->mate, near->n },     { &near->first, near->n + 1 }, { &near->column, near->room },
                     { &near->row, near->room },   { &near->start, nv + 2 },      { &near->touching, near->room },
                     { &near->head, near->n + 1 }, { &near->next, near->most },   { &near->place, near->n },
                     { &near->order, near->n },    { &near->rank, near->n },      { &near->below, near->n + 1 },
                     { &near->left, near->most },  { &near->source, near->most }, { &near->from, near->room } };
    struct {
        double **array;
        int count;
    } numbers[] = { { &near->value, near->room }, { &near->mass, near->room }, { &near->stiff, near->room },
                    { &near->whole, near->most }, { &near->B, near->most },    { &near->L, near->most },
                    { &near->D, near->n },        { &near->x, near->n } };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        PCS_TAKE(ctx, *integers[i].array, integers[i].count, "the preconditioner");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        PCS_TAKE(ctx, *numbers[i].array, numbers[i].count, "the preconditioner");
    return PCS_OK;
}

pcs_status pcs_near_create(pcs_step_solver *solver, const pcs_rows *first, const pcs_rows *second, pcs_near **out)
{
    pcs_near *near;
    const pcs_system *system = solver->system;
    PCS_TAKE(solver->ctx, near, 1, "the preconditioner");
    near->solver = solver;
    near->part[0] = first;
    near->part[1] = second;
    for (int k = 0; k < 2 && near->part[k] != NULL; k++) {
        near->n += near->part[k]->nrow;
        near->room += near->part[k]->start[near->part[k]->nrow];
    }
    near->most = near->n < MOST_PER_ROW ? near->n * near->n : MOST_PER_ROW * near->n;
    PCS_TRY(near_take(solver->ctx, near, system->nv));
    for (int i = 0; i < near->n; i++) near->mate[i] = i;
    for (int j = 0; j < system->nrow && second != NULL; j++) {
        int t = first->nrow + system->rows[j].first_tangent;
        if (system->rows[j].ntangent != 2) continue;
        near->mate[t] = t + 1;
        near->mate[t + 1] = t;
    }
    near->nterm = -1; // no rows yet
    *out = near;
    return PCS_OK;
}

// The rows of both parts as one list of entries; do they touch other equations than before?
static bool near_read_rows(pcs_near *near)
{
    bool is_same = near->nterm >= 0;
    int row = 0, term = 0;
    for (int k = 0; k < 2 && near->part[k] != NULL; k++)
        for (int j = 0; j < near->part[k]->nrow; j++, row++) {
            is_same = is_same && near->first[row] == term;
            near->first[row] = term;
            for (int p = near->part[k]->start[j]; p < near->part[k]->start[j + 1]; p++) {
                if (near->part[k]->value[p] == 0.0 || term == near->room) continue;
                is_same = is_same && near->column[term] == near->part[k]->column[p];
                near->column[term] = near->part[k]->column[p];
                near->row[term] = row;
                near->from[term++] = p;
            }
        }
    near->first[near->n] = near->nterm = term;
    return !is_same;
}

// Counting sort of the entries by equation.
static void near_sort(pcs_near *near, int nv)
{
    memset(near->start, 0, (size_t)(nv + 2) * sizeof *near->start);
    for (int e = 0; e < near->nterm; e++) near->start[near->column[e] + 2]++;
    for (int k = 0; k < nv; k++) near->start[k + 2] += near->start[k + 1];
    // Filling moves every start one place on, to where it belongs.
    for (int e = 0; e < near->nterm; e++) near->touching[near->start[near->column[e] + 1]++] = e;
}

// Enters column j into the present row of B unless it is there.
static bool near_enter(pcs_near *near, int i, int j, int *count)
{
    if (near->place[j] == i) return true;
    if (*count == near->most) return false;
    near->place[j] = i;
    near->next[(*count)++] = j;
    return true;
}

// Columns of B. A tangent comes with the other one of its contact: the direction of slip couples them, and what
// elimination adds to a chain then has its place. False when there are too many.
static bool near_find_neighbours(pcs_near *near)
{
    int count = 0;
    for (int i = 0; i < near->n; i++) near->place[i] = -1;
    for (int i = 0; i < near->n; i++) {
        near->head[i] = count;
        if (!near_enter(near, i, i, &count) || !near_enter(near, i, near->mate[i], &count)) return false;
        for (int side = 0; side < (near->mate[i] == i ? 1 : 2); side++) {
            int from = side == 0 ? i : near->mate[i];
            for (int e = near->first[from]; e < near->first[from + 1]; e++)
                for (int t = near->start[near->column[e]]; t < near->start[near->column[e] + 1]; t++) {
                    int j = near->row[near->touching[t]];
                    if (!near_enter(near, i, j, &count) || !near_enter(near, i, near->mate[j], &count)) return false;
                }
        }
    }
    near->head[near->n] = count;
    return true;
}

// Row by row through the neighbours, chain after chain, from their ends where they have some.
static void near_order(pcs_near *near)
{
    int count = 0, head = 0;
    for (int i = 0; i < near->n; i++) near->rank[i] = -1;
    for (int least = 1; count < near->n; least = least < 6 ? least + 1 : near->n)
        for (int i = 0; i < near->n; i++) {
            if (near->rank[i] >= 0 || near->head[i + 1] - near->head[i] > least) continue;
            near->rank[i] = count;
            near->order[count++] = i;
            for (; head < count; head++) {
                int at = near->order[head];
                for (int p = near->head[at]; p < near->head[at + 1]; p++) {
                    if (near->rank[near->next[p]] >= 0) continue;
                    near->rank[near->next[p]] = count;
                    near->order[count++] = near->next[p];
                }
            }
        }
}

// Pattern of L: what stands before a row in the order, ascending.
static void near_find_factor(pcs_near *near)
{
    int count = 0;
    near_order(near);
    for (int i = 0; i < near->n; i++) {
        near->below[i] = count;
        int row = near->order[i];
        for (int p = near->head[row]; p < near->head[row + 1]; p++) {
            int place = near->rank[near->next[p]], at = count;
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
    near->below[near->n] = count;
}

// Diagonal entries of A at the equations of all entries; a rank knows those of its own equations.
static void near_read_diagonal(const pcs_near *near, const pcs_matrix *A, double *out)
{
    const pcs_system *system = near->solver->system;
    int own = pcs_system_nown(system);
    for (int e = 0; e < near->nterm; e++) out[e] = near->column[e] < own ? pcs_diagonal_of(A, near->column[e]) : 0.0;
    pcs_system_sum(system, near->nterm, out);
}

// The entries with the square roots of their weights.
static void near_weigh(pcs_near *near, const pcs_matrix *S, const double share[2])
{
    double c = near->solver->form.c;
    near_read_diagonal(near, near->solver->system->M, near->mass);
    if (S != NULL) near_read_diagonal(near, S, near->stiff);
    for (int e = 0; e < near->nterm; e++) {
        int k = near->row[e] < near->part[0]->nrow ? 0 : 1;
        double a = S == NULL ? 0.0 : share[k];
        double w = (1.0 - a) / near->mass[e] + (S == NULL ? 0.0 : a * c / near->stiff[e]);
        near->value[e] = near->part[k]->value[near->from[e]] * sqrt(w);
    }
}

void pcs_near_fill(pcs_near *near, const pcs_matrix *S, const double share[2])
{
    near->is_factored = false;
    if (near_read_rows(near)) {
        near_sort(near, near->solver->system->nv);
        near->is_sparse = near_find_neighbours(near);
        if (near->is_sparse) near_find_factor(near);
    }
    if (!near->is_sparse) return;
    near_weigh(near, S, share);
    memset(near->whole, 0, (size_t)near->head[near->n] * sizeof *near->whole);
    // Sums go along the entries of a row, in the same order on every rank.
    for (int i = 0; i < near->n; i++) {
        for (int p = near->head[i]; p < near->head[i + 1]; p++) near->place[near->next[p]] = p;
        for (int e = near->first[i]; e < near->first[i + 1]; e++)
            for (int t = near->start[near->column[e]]; t < near->start[near->column[e] + 1]; t++) {
                int other = near->touching[t];
                near->whole[near->place[near->row[other]]] += near->value[e] * near->value[other];
            }
        near->whole[near->place[i]] *= 1.0 + proximal;
    }
}

void pcs_near_choose(pcs_near *near, const unsigned char *is_in)
{
    for (int i = 0; i < near->n && near->is_sparse; i++)
        for (int p = near->head[i]; p < near->head[i + 1]; p++) {
            int j = near->next[p];
            near->B[p] = i == j || (is_in[i] && is_in[j]) ? near->whole[p] : 0.0;
        }
}

void pcs_near_add(pcs_near *near, int i, int j, double value)
{
    if (!near->is_sparse) return;
    int p = near->head[i];
    while (near->next[p] != j) p++;
    near->B[p] += value;
}

// A pivot lost to what was left out is taken from the diagonal.
void pcs_near_factor(pcs_near *near)
{
    if (!near->is_sparse) return;
    memset(near->x, 0, (size_t)near->n * sizeof *near->x); // row i of L D
    for (int i = 0; i < near->n; i++) {
        double diagonal = near->B[near->head[near->order[i]]], pivot = diagonal; // comes first in its row
        for (int e = near->below[i]; e < near->below[i + 1]; e++) {
            int j = near->left[e];
            double sum = near->B[near->source[e]];
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
