#include "step/coupling.h"

#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

static const double small = 0.05; // off the diagonal, against the diagonals

pcs_status pcs_coupling_create(pcs_context *ctx, const pcs_system *system, const pcs_rows *G, const pcs_rows *T,
                               bool is_local, pcs_coupling **out)
{
    pcs_coupling *self;
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    self->system = system;
    self->G = G;
    self->T = T;
    self->is_local = is_local;
    int room = G->start[G->nrow] + (T == NULL ? 0 : T->start[T->nrow]);
    self->room = room < system->nv ? room : system->nv;
    const pcs_pattern *pattern = system->M->pattern;
    int widest = 0;
    for (int k = 0; k < pattern->n; k++) {
        int width = pattern->start[k + 1] - pattern->start[k];
        widest = width > widest ? width : widest;
    }
    long most = (long)self->room * widest;
    self->most = most < pattern->nnz ? (int)most : pattern->nnz;
    PCS_TAKE(ctx, self->place, system->nv, "the preconditioner");
    PCS_TAKE(ctx, self->equation, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->head, self->room + 1, "the preconditioner");
    PCS_TAKE(ctx, self->row, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->mass, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->more, self->most, "the preconditioner");
    for (int i = 0; i < 2; i++) {
        PCS_TAKE(ctx, self->u[i], self->room, "the preconditioner");
        PCS_TAKE(ctx, self->y[i], self->room, "the preconditioner");
    }
    for (int k = 0; k < system->nv; k++) self->place[k] = -1;
    *out = self;
    return PCS_OK;
}

// Entry (i, j) of a matrix, 0 outside of its pattern.
static double coupling_entry(const pcs_matrix *A, int i, int j)
{
    int at = pcs_pattern_find(A->pattern, i, j);
    return at < 0 ? 0.0 : A->value[at];
}

// Column `at` of the touched equations; gives its largest entry off the diagonal, against the diagonals.
static double coupling_read(pcs_coupling *self, int at, const pcs_matrix *M, const pcs_matrix *S, double c)
{
    const pcs_pattern *pattern = M->pattern;
    int j = self->equation[at], own = pcs_system_nown(self->system), count = self->head[at];
    double largest = 0.0;
    for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
        int i = pattern->row[p];
        if (i >= own || self->place[i] < 0) continue;
        double mass = M->value[p], stiff = S == NULL ? mass : coupling_entry(S, i, j) / c;
        if (mass == 0.0 && stiff == 0.0) continue;
        self->row[count] = self->place[i];
        self->mass[count] = mass;
        self->more[count++] = stiff - mass;
        if (i == j) continue;
        const pcs_matrix *A = S == NULL ? M : S;
        double size = sqrt(fabs(pcs_matrix_diagonal(A, i) * pcs_matrix_diagonal(A, j)));
        if (j < own && size > 0.0) largest = pcs_larger(largest, fabs(S == NULL ? mass : stiff * c) / size);
    }
    self->head[at + 1] = count;
    return largest;
}

// Notes the equations of the rows that have none yet.
static void coupling_touch(pcs_coupling *self, const pcs_rows *rows)
{
    for (int p = 0; p < rows->start[rows->nrow]; p++) {
        int k = rows->column[p];
        if (rows->value[p] == 0.0 || self->place[k] >= 0) continue;
        self->place[k] = self->count;
        self->equation[self->count++] = k;
    }
}

void pcs_coupling_fill(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, double c)
{
    double largest = 0.0;
    for (int at = 0; at < self->count; at++) self->place[self->equation[at]] = -1;
    self->count = 0;
    coupling_touch(self, self->G);
    if (self->T != NULL) coupling_touch(self, self->T);
    self->head[0] = 0;
    for (int at = 0; at < self->count; at++) largest = pcs_larger(largest, coupling_read(self, at, M, S, c));
    self->joins = pcs_system_max(self->system, largest) > small;
}

void pcs_coupling_multiply(const pcs_coupling *self)
{
    memset(self->y[0], 0, (size_t)self->count * sizeof(double));
    memset(self->y[1], 0, (size_t)self->count * sizeof(double));
    for (int j = 0; j < self->count; j++)
        for (int p = self->head[j]; p < self->head[j + 1]; p++) {
            self->y[0][self->row[p]] += self->mass[p] * self->u[0][j];
            self->y[1][self->row[p]] += self->more[p] * self->u[1][j];
        }
}
