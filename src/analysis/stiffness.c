#include "analysis/stiffness.h"
#include "core/rounding.h"

#include <math.h>
#include <string.h>

static const double STEP = 1e-6;        // of the differences, relative to the sizes of coordinates
static const double DIFFERENCES = 5e-8; // relative error of the differences, times 50

// Creates the pattern of K joined with all pairs of equations that share a row.
static pcs_status stiffness_make_pattern(const pcs_system *s, bool has_friction, pcs_pattern **out)
{
    pcs_pattern_builder *builder;
    PCS_TRY(pcs_pattern_begin(s->ctx, s->nv, &builder));
    pcs_status status = pcs_pattern_add_pattern(builder, s->K->pattern);
    for (int j = 0; j < s->nrow && status == PCS_OK; j++)
        status = pcs_pattern_add_cells(builder, 1, s->G->start[j + 1] - s->G->start[j], s->G->column + s->G->start[j]);
    // Tangents of a row are consecutive.
    int nrubbing = has_friction ? s->nrow : 0;
    for (int j = 0; j < nrubbing && status == PCS_OK; j++) {
        int first = s->T->start[s->rows[j].first_tangent];
        int last = s->T->start[s->rows[j].first_tangent + s->rows[j].ntangent];
        status = pcs_pattern_add_cells(builder, 1, last - first, s->T->column + first);
    }
    pcs_status finish = pcs_pattern_finish(builder, out);
    return status == PCS_OK ? finish : status;
}

// Adds the equations of one row that are not yet among the columns. Returns the new count.
static int stiffness_add_columns(pcs_stiffness *self, const pcs_rows *rows, int row, int count)
{
    for (int p = rows->start[row]; p < rows->start[row + 1]; p++) {
        int i = rows->column[p];
        if (self->step[i] == 0.0) self->column[count++] = i;
        self->step[i] = 1.0;
    }
    return count;
}

// Finds the equations in rows with a force, each once. Returns their number.
static int stiffness_find_columns(pcs_stiffness *self, const double *lam)
{
    const pcs_system *s = self->system;
    int count = 0;
    for (int j = 0; j < s->nrow; j++)
        if (lam[j] != 0.0) count = stiffness_add_columns(self, s->G, j, count);
    for (int t = 0; t < self->ntangent; t++)
        if (lam[s->nrow + t] != 0.0) count = stiffness_add_columns(self, s->T, t, count);
    for (int k = 0; k < count; k++) self->step[self->column[k]] = 0.0;
    return count;
}

pcs_status pcs_stiffness_create(pcs_system *s, bool has_friction, pcs_stiffness *self)
{
    const pcs_pattern *own = s->K->pattern;
    pcs_pattern *wider = NULL;
    *self = (pcs_stiffness){ .system = s,
                             .varies = s->row_set.vary && s->nrow > 0,
                             .ntangent = has_friction ? s->ntangent : 0 };
    bool is_wider = self->varies || has_friction;
    PCS_TAKE_EACH(s->ctx, s->nv, "the stiffness of rows", double, &self->q, &self->step, &self->g);
    PCS_TAKE(s->ctx, self->place, own->nnz, "the stiffness of rows");
    PCS_TAKE(s->ctx, self->column, s->nv, "the stiffness of rows");
    if (is_wider) PCS_TRY(stiffness_make_pattern(s, has_friction, &wider));
    const pcs_pattern *pattern = is_wider ? wider : own;
    self->K.pattern = self->M.pattern = self->C.pattern = pattern;
    PCS_TAKE(s->ctx, self->K.value, pattern->nnz, "the stiffness of rows");
    PCS_TAKE(s->ctx, self->M.value, pattern->nnz, "the stiffness of rows");
    if (s->C != NULL) PCS_TAKE(s->ctx, self->C.value, pattern->nnz, "the stiffness of rows");
    for (int j = 0; j < s->nv; j++)
        for (int p = own->start[j]; p < own->start[j + 1]; p++)
            self->place[p] = is_wider ? pcs_pattern_place(pattern, own->row[p], j) : p;
    return PCS_OK;
}

static void stiffness_copy(const pcs_stiffness *self, const pcs_matrix *from, pcs_matrix *to)
{
    memset(to->value, 0, (size_t)to->pattern->nnz * sizeof *to->value);
    for (int p = 0; p < from->pattern->nnz; p++) to->value[self->place[p]] = from->value[p];
}

// Adds scale G^T lam, evaluated at q moved by `by` along one coordinate, to g.
static void stiffness_beside(pcs_stiffness *self, pcs_instant at, const double *lam, int column, double by,
                             double scale)
{
    pcs_system *s = self->system;
    self->step[column] = by;
    pcs_retract(&s->rotations, at.q, self->step, self->q);
    self->step[column] = 0.0;
    pcs_system_aim(s, pcs_at(at.t, self->q, NULL));
    for (int j = 0; j < s->nrow; j++)
        if (lam[j] != 0.0) pcs_rows_add_transposed(s->G, j, scale * lam[j], self->g);
    for (int t = 0; t < self->ntangent; t++)
        if (lam[s->nrow + t] != 0.0) pcs_rows_add_transposed(s->T, t, scale * lam[s->nrow + t], self->g);
}

void pcs_stiffness_update_K(pcs_stiffness *self, pcs_instant at, const double *lam)
{
    pcs_system *s = self->system;
    stiffness_copy(self, s->K, &self->K);
    if (!self->varies || lam == NULL) return;
    int count = stiffness_find_columns(self, lam);
    for (int k = 0; k < count; k++) {
        int column = self->column[k];
        double by = STEP * self->system->scale.model[column];
        memset(self->g, 0, (size_t)s->nv * sizeof *self->g);
        stiffness_beside(self, at, lam, column, by, -0.5 / by);
        stiffness_beside(self, at, lam, column, -by, 0.5 / by);
        for (int i = 0; i < s->nv; i++) {
            int place = self->g[i] == 0.0 ? -1 : pcs_pattern_find(self->K.pattern, i, column);
            if (place >= 0) self->K.value[place] += self->g[i];
        }
    }
    if (count > 0) pcs_system_aim(s, at);
}

void pcs_stiffness_update_M(pcs_stiffness *self)
{
    stiffness_copy(self, self->system->M, &self->M);
    if (self->C.value != NULL) stiffness_copy(self, self->system->C, &self->C);
}

double pcs_stiffness_blur(const pcs_stiffness *self, const pcs_matrix *M, const double *lam)
{
    const pcs_system *s = self->system;
    double most = 0.0;
    if (!self->varies || lam == NULL) return 0.0;
    for (int j = 0; j < s->nrow; j++)
        for (int p = s->G->start[j]; p < s->G->start[j + 1]; p++) {
            int i = s->G->column[p];
            double mass = pcs_matrix_diagonal(M, i) * s->scale.model[i];
            if (mass > 0.0) most = fmax(most, fabs(lam[j] * s->G->value[p]) / mass);
        }
    return DIFFERENCES * most;
}

double pcs_stride(const pcs_system *system, const double *x)
{
    double largest = 0.0;
    for (int i = 0; i < system->nv; i++) largest = pcs_larger(largest, fabs(x[i]) / system->scale.model[i]);
    return largest;
}

double pcs_row_rate(const pcs_system *system, const pcs_rows *G, int j, const double *x, double fastest)
{
    double sum = 0.0, most = 0.0;
    for (int p = G->start[j]; p < G->start[j + 1]; p++) {
        sum += G->value[p] * x[G->column[p]];
        most += fabs(G->value[p]) * system->scale.model[G->column[p]] * fastest;
    }
    return most > 0.0 ? sum / most : 0.0;
}

static const double ASYMMETRIC = 1e-9; // relative to the largest entry: larger asymmetry is not round-off

bool pcs_stiffness_is_symmetric(const pcs_matrix *A)
{
    double largest = 0.0, skew = 0.0;
    if (A == NULL) return true;
    for (int p = 0; p < A->pattern->nnz; p++) largest = fmax(largest, fabs(A->value[p]));
    for (int j = 0; j < A->pattern->n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            skew = fmax(skew, fabs(A->value[p] - A->value[pcs_pattern_place(A->pattern, j, A->pattern->row[p])]));
    return skew <= ASYMMETRIC * largest;
}
