#include "step/own_rows.h"

#include "step/projection.h"

#include <string.h>

bool pcs_rows_are_dealt(double nrow, double ndof)
{
    return nrow >= PCS_MANY_ROWS && nrow * ndof > PCS_LIGHT_ROWS && 2.0 * nrow * (2.0 * nrow + ndof) > PCS_MOST_NUMBERS;
}

bool pcs_rows_are_spread(const pcs_system *system)
{
    if (system->row_comm != NULL) return true;
    if (system->row_owner == NULL || system->layout == NULL || system->layout->comm->size == 1) return false;
    if (system->nrow < PCS_MANY_ROWS) return false;
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_bilateral) return false; // joints share forces, and there are few
    return true;
}

static void own_count(const pcs_system *system, pcs_own_rows *self)
{
    for (int j = 0; j < system->nrow; j++) {
        if (system->row_owner[j] != self->comm->rank) continue;
        self->m++;
        self->nt += system->rows[j].ntangent;
    }
}

// Rank after rank, each with its rows in order.
static pcs_status own_sort(pcs_context *ctx, const pcs_system *system, pcs_own_rows *self)
{
    int *next, m = 0, nt = 0; // where each rank goes on
    PCS_TAKE(ctx, next, self->comm->size, "the rows of a rank");
    for (int j = 0; j < system->nrow; j++)
        if (system->row_owner[j] + 1 < self->comm->size) next[system->row_owner[j] + 1]++;
    for (int r = 1; r < self->comm->size; r++) next[r] += next[r - 1];
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        self->told[next[system->row_owner[j]]++] = j;
        if (system->row_owner[j] != self->comm->rank) continue;
        self->row[m++] = j;
        for (int t = 0; t < row->ntangent; t++) self->tangent[nt++] = row->first_tangent + t;
    }
    return PCS_OK;
}

pcs_status pcs_own_rows_create(pcs_context *ctx, const pcs_system *system, pcs_own_rows **out)
{
    pcs_own_rows *self;
    PCS_TAKE(ctx, self, 1, "the rows of a rank");
    *self = (pcs_own_rows){ .system = system, .m = system->nrow, .nt = system->ntangent, .rows = system->rows };
    *out = self;
    if (!pcs_rows_are_spread(system)) return PCS_OK;
    self->comm = system->layout->comm;
    self->is_part = system->row_comm == NULL;
    if (!self->is_part) return PCS_OK;
    self->m = self->nt = 0;
    own_count(system, self);
    int nall = 3 * system->nrow + system->ntangent, nown = 3 * self->m + self->nt;
    PCS_TAKE(ctx, self->copy, self->m, "the rows of a rank");
    PCS_TAKE(ctx, self->row, self->m, "the rows of a rank");
    PCS_TAKE(ctx, self->tangent, self->nt, "the rows of a rank");
    PCS_TAKE(ctx, self->told, system->nrow, "the rows of a rank");
    PCS_TAKE(ctx, self->own, nown, "the rows of a rank");
    PCS_TAKE(ctx, self->all, nall, "the rows of a rank");
    PCS_TRY(own_sort(ctx, system, self));
    self->rows = self->copy;
    pcs_own_rows_renew(self);
    return self->comm->plan_spread(self->comm, ctx, nown, &self->plan);
}

void pcs_own_rows_renew(pcs_own_rows *self)
{
    int nt = 0;
    if (!self->is_part) return;
    for (int j = 0; j < self->m; j++) {
        self->copy[j] = self->system->rows[self->row[j]];
        self->copy[j].first_tangent = nt;
        nt += self->copy[j].ntangent;
    }
}

void pcs_own_rows_take(const pcs_own_rows *self, const double *all, double *own)
{
    for (int j = 0; j < self->m; j++) own[j] = all[pcs_own_row(self, j)];
}

void pcs_own_rows_take_z(const pcs_own_rows *self, const double *z_all, double *z)
{
    int nrow = self->system->nrow;
    if (!self->is_part) return;
    pcs_own_rows_take(self, z_all, z);
    pcs_own_rows_take(self, z_all + nrow, z + self->m);
    for (int t = 0; t < self->nt; t++) z[2 * self->m + t] = z_all[2 * nrow + self->tangent[t]];
}

// Nu, La, gate and Lt, row by row.
void pcs_own_rows_tell(const pcs_own_rows *self, const double *z, const unsigned char *gate, double *z_all,
                       unsigned char *gate_all)
{
    int nrow = self->system->nrow, place = 0;
    if (!self->is_part) return;
    for (int j = 0; j < self->m; j++) {
        self->own[place++] = z[j];
        self->own[place++] = z[self->m + j];
        self->own[place++] = gate[j];
        for (int t = 0; t < self->rows[j].ntangent; t++)
            self->own[place++] = z[2 * self->m + self->rows[j].first_tangent + t];
    }
    self->comm->spread(self->comm, &self->plan, self->own, self->all);
    place = 0;
    for (int i = 0; i < nrow; i++) {
        int j = self->told[i];
        const pcs_row *row = &self->system->rows[j];
        z_all[j] = self->all[place++];
        z_all[nrow + j] = self->all[place++];
        gate_all[j] = self->all[place++] != 0.0;
        for (int t = 0; t < row->ntangent; t++) z_all[2 * nrow + row->first_tangent + t] = self->all[place++];
    }
}

// By the plan of all numbers of a row, the others being zero.
void pcs_own_rows_tell_tangents(const pcs_own_rows *self, const double *own, double *all)
{
    int place = 0;
    if (!self->is_part) {
        memcpy(all, own, (size_t)self->nt * sizeof *all);
        return;
    }
    for (int j = 0; j < self->m; j++) {
        for (int k = 0; k < 3; k++) self->own[place++] = 0.0;
        for (int t = 0; t < self->rows[j].ntangent; t++) self->own[place++] = own[self->rows[j].first_tangent + t];
    }
    self->comm->spread(self->comm, &self->plan, self->own, self->all);
    place = 0;
    for (int i = 0; i < self->system->nrow; i++) {
        const pcs_row *row = &self->system->rows[self->told[i]];
        place += 3;
        for (int t = 0; t < row->ntangent; t++) all[row->first_tangent + t] = self->all[place++];
    }
}

pcs_status pcs_rows_pick(pcs_context *ctx, const pcs_rows *R, int count, const int *which, bool is_packed,
                         pcs_rows **out)
{
    int nnz = 0;
    for (int j = 0; j < count; j++) {
        int row = which == NULL ? j : which[j];
        for (int p = R->start[row]; p < R->start[row + 1]; p++) nnz += !is_packed || R->value[p] != 0.0;
    }
    PCS_TRY(pcs_rows_create(ctx, count, R->ncol, nnz, out));
    (*out)->halo = R->halo;
    nnz = 0;
    for (int j = 0; j < count; j++) {
        int row = which == NULL ? j : which[j];
        for (int p = R->start[row]; p < R->start[row + 1]; p++) {
            if (is_packed && R->value[p] == 0.0) continue;
            (*out)->column[nnz] = R->column[p];
            (*out)->value[nnz++] = R->value[p];
        }
        (*out)->start[j + 1] = nnz;
    }
    return PCS_OK;
}

void pcs_rows_repeat(const pcs_rows *R, const int *which, pcs_rows *copy)
{
    for (int j = 0; j < copy->nrow; j++) {
        int from = R->start[which[j]], to = copy->start[j];
        size_t count = (size_t)(copy->start[j + 1] - to);
        memcpy(copy->column + to, R->column + from, count * sizeof *copy->column);
        memcpy(copy->value + to, R->value + from, count * sizeof *copy->value);
    }
}
