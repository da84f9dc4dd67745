// Sparse rows: products with the constraint directions G.

#include "sparse/matrix.h"

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
