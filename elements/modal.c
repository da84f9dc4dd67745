#include "elements/modal.h"
#include "core/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MODAL_BLOCK = 1024 }; // number of cells whose energies form a partial sum

// Copies the upper triangle to the lower one.
static void modal_symmetrize(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) A[i * n + j] = A[j * n + i];
}

// Returns true if the arrays are equal up to `noise` times the largest entry.
static bool modal_is_same(int n, const double *a, const double *b, double noise)
{
    double size = 0.0, difference = 0.0;
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(a[i]));
        difference = fmax(difference, fabs(a[i] - b[i]));
    }
    return difference <= noise * size;
}

// Returns the round-off of the node positions relative to the cell's length, by which equal cells of a line differ.
static double modal_noise(const pcs_batch *batch, int cell)
{
    const int *node = batch->nodes[batch->cells[cell]];
    double largest = 0.0, length2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double a = batch->x[node[0]][k], b = batch->x[node[1]][k];
        largest = fmax(largest, fmax(fabs(a), fabs(b)));
        length2 += (b - a) * (b - a);
    }
    // Ignores the positions if both nodes coincide, as no matrix depends on them then.
    return 64.0 * DBL_EPSILON * (length2 > 0.0 ? 1.0 + largest / sqrt(length2) : 1.0);
}

static bool modal_is_same_kind(const pcs_modal_kind *a, const pcs_modal_kind *b, double noise)
{
    return modal_is_same(PCS_MAX_MODES * PCS_MAX_CELL_DOFS, a->B, b->B, noise) &&
           modal_is_same(PCS_MAX_MODES * PCS_MAX_MODES, a->D, b->D, noise) &&
           modal_is_same(PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS, a->M, b->M, noise) &&
           (a->own == NULL || (modal_is_same(PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS, a->own->C, b->own->C, noise) &&
                               modal_is_same(PCS_MAX_CELL_DOFS, a->own->spin, b->own->spin, noise)));
}

// Limits the number of stored kinds. Cells of a line are all equal, those of a lattice alternate among a few kinds.
enum { MODAL_RECENT = 16 };

typedef struct modal_recent {
    int count, oldest, last; // number of kinds, the next one to replace, the last one that matched
    int number[MODAL_RECENT];
    pcs_modal_kind kind[MODAL_RECENT];
    pcs_modal_own own[MODAL_RECENT];
} modal_recent;

// Returns the index of an equal kind, or -1. Starts with the kind of the previous cell.
static int modal_find(modal_recent *recent, const pcs_modal_kind *kind, double noise)
{
    for (int i = 0; i < recent->count; i++) {
        int k = (recent->last + i) % recent->count;
        if (!modal_is_same_kind(kind, &recent->kind[k], noise)) continue;
        recent->last = k;
        return recent->number[k];
    }
    return -1;
}

static void modal_remember(modal_recent *recent, const pcs_modal_kind *kind, int number)
{
    int k = recent->count < MODAL_RECENT ? recent->count++ : recent->oldest++ % MODAL_RECENT;
    recent->number[k] = number;
    recent->kind[k] = *kind;
    if (kind->own != NULL) {
        recent->own[k] = *kind->own;
        recent->kind[k].own = &recent->own[k];
    }
    recent->last = k;
}

// Visits the cells: counts the kinds, and stores them if memory is allocated. `own` is NULL or has an entry per kind.
static void modal_sort(const pcs_batch *batch, pcs_modal_make *make, pcs_modal *modal, pcs_modal_own *own)
{
    pcs_modal_kind next;
    pcs_modal_own own_next;
    modal_recent recent;
    modal->nkind = 0;
    recent.count = recent.oldest = recent.last = 0;
    for (int c = 0; c < batch->ncell; c++) {
        memset(&next, 0, sizeof next);
        memset(&own_next, 0, sizeof own_next);
        if (batch->ops->sees_velocity) next.own = &own_next;
        make(batch, c, &next);
        modal_symmetrize(modal->shape.ndof, next.M); // removes the round-off of products of rotations
        modal->kind[c] = modal_find(&recent, &next, modal_noise(batch, c));
        if (modal->kind[c] >= 0) continue;
        modal_remember(&recent, &next, modal->nkind);
        if (modal->kinds != NULL) modal->kinds[modal->nkind] = next;
        if (own != NULL) {
            own[modal->nkind] = own_next;
            modal->kinds[modal->nkind].own = &own[modal->nkind];
        }
        modal->kind[c] = modal->nkind++;
    }
}

pcs_status pcs_modal_setup(pcs_context *ctx, pcs_batch *batch)
{
    const pcs_element_ops *ops = batch->ops;
    const pcs_modal_form *form = ops->modal;
    int node_dofs = ops->ndof / ops->nnode;
    pcs_modal *modal;
    pcs_modal_own *own = NULL;
    PCS_TAKE(ctx, modal, 1, "cells");
    PCS_TAKE(ctx, modal->kind, batch->ncell, "cells");
    modal->shape = (pcs_cell_shape){ .ndof = ops->ndof,
                                     .node_dofs = node_dofs,
                                     .translations = form->translations > 0 ? form->translations : node_dofs,
                                     .is_grounded = ops->nnode == 1 && form->nmode > 0 };
    modal->nmode = form->nmode;
    modal->is_driven = ops->sees_velocity && ops->is_nonlinear;
    modal_sort(batch, form->make, modal, NULL);
    PCS_TAKE(ctx, modal->kinds, modal->nkind, "cells");
    if (ops->sees_velocity) PCS_TAKE(ctx, own, modal->nkind, "cells");
    modal_sort(batch, form->make, modal, own);
    batch->data = modal;
    return PCS_OK;
}

static const int *modal_equation(const pcs_batch *batch, int cell)
{
    return batch->equation + (size_t)cell * (size_t)((const pcs_modal *)batch->data)->shape.ndof;
}

static void modal_gather(const pcs_batch *batch, int cell, const double *x, double *local)
{
    pcs_cell_gather(modal_equation(batch, cell), ((const pcs_modal *)batch->data)->shape.ndof, x, local);
}

static const pcs_modal_kind *modal_kind(const pcs_batch *batch, int cell)
{
    const pcs_modal *modal = batch->data;
    return &modal->kinds[modal->kind[cell]];
}

static void modal_multiply(int nrow, int ncolumn, const double *A, const double *x, double *y)
{
    for (int i = 0; i < nrow; i++) {
        y[i] = 0.0;
        for (int j = 0; j < ncolumn; j++) y[i] += A[i * ncolumn + j] * x[j];
    }
}

void pcs_modal_deform(const pcs_batch *batch, int cell, const double *q, double e[PCS_MAX_MODES])
{
    const pcs_modal *modal = batch->data;
    double local[PCS_MAX_CELL_DOFS];
    modal_gather(batch, cell, q, local);
    modal_multiply(modal->nmode, modal->shape.ndof, modal_kind(batch, cell)->B, local, e);
}

static void modal_stiffness(const pcs_modal *modal, const pcs_modal_kind *kind, double *K)
{
    int n = modal->shape.ndof, m = modal->nmode;
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++) {
            double d = kind->D[a * m + b];
            if (d == 0.0) continue; // few deformations are coupled
            for (int i = 0; i < n; i++) {
                double force = kind->B[a * n + i] * d;
                for (int j = 0; j < n; j++) K[i * n + j] += force * kind->B[b * n + j];
            }
        }
    modal_symmetrize(n, K);
}

// Returns the matrix that Rayleigh's alpha scales.
static const double *modal_drag(const pcs_modal *modal, const pcs_modal_kind *kind)
{
    return modal->is_driven ? kind->own->drag : kind->M;
}

// Returns the factor of the kind's own C: the speed of the cell if driven, else 1, 0 if the kind has no C.
static double modal_speed(const pcs_modal *modal, const pcs_modal_kind *kind, const double *w)
{
    if (kind->own == NULL) return 0.0;
    return modal->is_driven ? pcs_dense_dot(modal->shape.ndof, kind->own->spin, w) : 1.0;
}

// Computes internal and damping force of a cell on its dofs, as forces on the body.
static void modal_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *force)
{
    const pcs_modal *modal = batch->data;
    const pcs_modal_kind *kind = modal_kind(batch, cell);
    int n = modal->shape.ndof, m = modal->nmode;
    double e[PCS_MAX_MODES], rate[PCS_MAX_MODES], s[PCS_MAX_MODES], w[PCS_MAX_CELL_DOFS],
        drag[PCS_MAX_CELL_DOFS] = { 0 };
    pcs_modal_deform(batch, cell, at->q, e);
    modal_gather(batch, cell, at->v, w);
    if (batch->damping_stiffness != 0.0) {
        modal_multiply(m, n, kind->B, w, rate);
        for (int a = 0; a < m; a++) e[a] += batch->damping_stiffness * rate[a];
    }
    if (batch->damping_mass != 0.0) modal_multiply(n, n, modal_drag(modal, kind), w, drag);
    modal_multiply(m, m, kind->D, e, s);
    for (int i = 0; i < n; i++) {
        force[i] = -batch->damping_mass * drag[i];
        for (int a = 0; a < m; a++) force[i] -= kind->B[a * n + i] * s[a];
    }
    double speed = modal_speed(modal, kind, w);
    if (speed == 0.0) return;
    modal_multiply(n, n, kind->own->C, w, drag);
    for (int i = 0; i < n; i++) force[i] -= speed * drag[i];
}

void pcs_modal_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, ((const pcs_modal *)batch->data)->shape.ndof, modal_force, at, f);
}

// Adds the energies of local displacements and velocities; with their momenta unless it is a change.
static void modal_add_energy(const pcs_batch *batch, int cell, const double *q, const double *v, bool is_change,
                             pcs_cell_sums *sum)
{
    const pcs_modal *modal = batch->data;
    const pcs_modal_kind *kind = modal_kind(batch, cell);
    int n = modal->shape.ndof, m = modal->nmode;
    double e[PCS_MAX_MODES], s[PCS_MAX_MODES], p[PCS_MAX_CELL_DOFS];
    modal_multiply(m, n, kind->B, q, e);
    modal_multiply(m, m, kind->D, e, s);
    modal_multiply(n, n, kind->M, v, p);
    *(is_change ? &sum->change_in_strain : &sum->strain) += 0.5 * pcs_dense_dot(m, e, s);
    *(is_change ? &sum->change_in_kinetic : &sum->kinetic) += 0.5 * pcs_dense_dot(n, v, p);
    if (!is_change) pcs_cell_add_momentum(batch, &modal->shape, cell, p, sum);
}

static void modal_add_power(const pcs_batch *batch, int cell, const pcs_cell_state *at, pcs_cell_sums *sum)
{
    const pcs_modal *modal = batch->data;
    const pcs_modal_kind *kind = modal_kind(batch, cell);
    int n = modal->shape.ndof, m = modal->nmode;
    double w[PCS_MAX_CELL_DOFS], along[PCS_MAX_CELL_DOFS], drag[PCS_MAX_CELL_DOFS];
    double rate[PCS_MAX_MODES], s[PCS_MAX_MODES];
    modal_gather(batch, cell, at->v, w);
    modal_gather(batch, cell, at->along, along);
    modal_multiply(n, n, modal_drag(modal, kind), w, drag);
    sum->power += batch->damping_mass * pcs_dense_dot(n, along, drag);
    modal_multiply(m, n, kind->B, w, rate);
    modal_multiply(m, m, kind->D, rate, s);
    modal_multiply(m, n, kind->B, along, rate);
    sum->power += batch->damping_stiffness * pcs_dense_dot(m, rate, s);
    if (kind->own == NULL) return;
    modal_multiply(n, n, kind->own->C, w, drag);
    sum->power += modal_speed(modal, kind, w) * pcs_dense_dot(n, along, drag);
}

static void modal_measure_cell(const pcs_batch *batch, int cell, const pcs_cell_state *at, unsigned what,
                               pcs_cell_sums *sum)
{
    double x[PCS_MAX_CELL_DOFS], w[PCS_MAX_CELL_DOFS], x0[PCS_MAX_CELL_DOFS], w0[PCS_MAX_CELL_DOFS];
    int n = ((const pcs_modal *)batch->data)->shape.ndof;
    pcs_cell_look(batch, cell, n, at, x, w);
    if (what & PCS_CELL_ENERGY) modal_add_energy(batch, cell, x, w, false, sum);
    if (what & PCS_CELL_POWER) modal_add_power(batch, cell, at, sum);
    if (!(what & PCS_CELL_CHANGE)) return;
    modal_gather(batch, cell, at->q0, x0);
    modal_gather(batch, cell, at->v0, w0);
    for (int i = 0; i < n; i++) {
        x[i] -= x0[i];
        w[i] -= w0[i];
    }
    modal_add_energy(batch, cell, x, w, true, sum);
}

// Sums blocks, so that the round-off grows with about the square root of the number of terms.
void pcs_modal_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    if (what & PCS_CELL_RESULTANT)
        pcs_cell_add_resultant(batch, &((const pcs_modal *)batch->data)->shape, modal_force, at, sum);
    for (int first = 0; first < batch->ncell; first += MODAL_BLOCK) {
        pcs_cell_sums part = { 0 };
        for (int c = first; c < batch->ncell && c < first + MODAL_BLOCK; c++)
            modal_measure_cell(batch, c, at, what, &part);
        pcs_cell_add_sums(sum, &part);
    }
}

// Adds the cell's own part of C. Reads v only if the cell is driven.
static void modal_add_own(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *C)
{
    const pcs_modal *modal = batch->data;
    const pcs_modal_kind *kind = modal_kind(batch, cell);
    const pcs_modal_own *own = kind->own;
    int n = modal->shape.ndof;
    double w[PCS_MAX_CELL_DOFS] = { 0 }, drag[PCS_MAX_CELL_DOFS];
    if (own == NULL) return;
    if (modal->is_driven && at != NULL) modal_gather(batch, cell, at->v, w);
    double speed = modal_speed(modal, kind, w);
    modal_multiply(n, n, own->C, w, drag);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) C[i * n + j] += speed * own->C[i * n + j] + drag[i] * own->spin[j];
}

void pcs_modal_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const pcs_modal *modal = batch->data;
    const pcs_modal_kind *kind = modal_kind(batch, cell);
    int n = modal->shape.ndof;
    double own_K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    if (M != NULL) memcpy(M, kind->M, (size_t)(n * n) * sizeof *M);
    if (K == NULL && C == NULL) return;
    if (K == NULL) K = own_K;
    modal_stiffness(modal, kind, K);
    if (C == NULL) return;
    const double *drag = modal_drag(modal, kind);
    for (int i = 0; i < n * n; i++) C[i] = batch->damping_mass * drag[i] + batch->damping_stiffness * K[i];
    modal_add_own(batch, cell, at, C);
}

pcs_status pcs_one_node_check(pcs_context *ctx, const pcs_batch *batch, int cell)
{
    for (int i = 0; i < 2; i++) {
        const double *x = batch->x[batch->nodes[batch->cells[cell]][i]];
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d is at (%g, %g, %g)", batch->name,
                            batch->cells[cell], x[0], x[1], x[2]);
    }
    return PCS_OK;
}
