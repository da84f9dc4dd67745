// Sparse rows: products with the constraint directions G.
//
// Rows of a rank may touch equations of others, which it has copies of. A product G x reads these copies; what G^T z
// puts on them is sent to the owners.

#include "sparse/matrix.h"

#include <string.h>

pcs_status pcs_rows_create(pcs_context *ctx, int nrow, int ncol, int nnz, pcs_rows **out)
{
    *out = NULL;
    pcs_rows *G;
    PCS_TAKE(ctx, G, 1, "sparse rows");
    PCS_TAKE(ctx, G->start, nrow + 1, "the starts of sparse rows");
    PCS_TAKE(ctx, G->column, nnz, "the columns of sparse rows");
    PCS_TAKE(ctx, G->value, nnz, "the values of sparse rows");
    G->nrow = nrow;
    G->ncol = ncol;
    *out = G;
    return PCS_OK;
}

void pcs_rows_multiply(const pcs_rows *G, const double *x, double *y)
{
    for (int row = 0; row < G->nrow; row++) y[row] = pcs_rows_dot(G, row, x);
}

void pcs_rows_add_transposed(const pcs_rows *G, int row, double scale, double *y)
{
    for (int p = G->start[row]; p < G->start[row + 1]; p++) y[G->column[p]] += scale * G->value[p];
}

void pcs_rows_add_all(const pcs_rows *G, double scale, const double *z, double *y)
{
    pcs_halo_open(G->halo);
    for (int row = 0; row < G->nrow; row++) {
        if (z[row] == 0.0) continue;
        if (G->halo == NULL) pcs_rows_add_transposed(G, row, scale * z[row], y);
        else
            for (int p = G->start[row]; p < G->start[row + 1]; p++)
                *pcs_halo_at(G->halo, G->column[p], y) += scale * z[row] * G->value[p];
    }
    pcs_halo_close(G->halo, y);
}

pcs_status pcs_halo_create(pcs_context *ctx, const pcs_layout *layout, const pcs_halo **out)
{
    pcs_halo *halo;
    PCS_TAKE(ctx, halo, 1, "copies of contacts");
    *halo = (pcs_halo){ .comm = layout->comm, .nown = layout->nown, .ncopy = layout->n - layout->nown };
    PCS_TAKE(ctx, halo->own, halo->nown, "copies of contacts");
    PCS_TAKE(ctx, halo->copy, halo->ncopy, "copies of contacts");
    *out = halo;
    return halo->comm->plan_copies(halo->comm, ctx, halo->nown, halo->ncopy, layout->global + halo->nown, &halo->plan);
}

void pcs_halo_open(const pcs_halo *halo)
{
    if (halo != NULL) memset(halo->copy, 0, (size_t)halo->ncopy * sizeof *halo->copy);
}

void pcs_halo_close(const pcs_halo *halo, double *y)
{
    if (halo != NULL) halo->comm->return_copies(halo->comm, halo->plan, halo->copy, y);
}

void pcs_halo_diagonal(const pcs_halo *halo, const pcs_matrix *A, double *copy)
{
    for (int i = 0; i < halo->nown; i++) halo->own[i] = pcs_matrix_diagonal(A, i);
    halo->comm->take_copies(halo->comm, halo->plan, halo->own, copy);
}
