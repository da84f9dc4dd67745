// K phi = lambda M phi with G_h phi = 0 as a problem without rows: phi = Z y, Z^T K Z y = lambda Z^T M Z y.

#include "eigen/solvers.h"

#include <math.h>
#include <string.h>

enum { FILL = 20, LEAST_ROOM = 20000000 }; // products of entries: times the entries of K, and in any case

static bool reduced_has_rows(const pcs_eigen_problem *p)
{
    if (p->G == NULL || p->holds == NULL) return false;
    for (int j = 0; j < p->G->nrow; j++)
        if (p->holds[j]) return true;
    return false;
}

static int reduced_width(const pcs_null_space *Z, int i)
{
    return Z->start[i + 1] - Z->start[i];
}

static bool reduced_is_dense(const pcs_null_space *Z, const pcs_pattern *pattern)
{
    double products = 0.0;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            products += (double)reduced_width(Z, pattern->row[p]) * reduced_width(Z, j);
    return products > LEAST_ROOM + FILL * (double)pattern->nnz;
}

// The unknowns of two equations that meet in K meet; those of one equation meet on the diagonal.
static pcs_status reduced_add_pairs(const pcs_null_space *Z, const pcs_pattern *from, pcs_pattern_builder *builder,
                                    int *cell)
{
    for (int j = 0; j < from->n; j++)
        for (int p = from->start[j]; p < from->start[j + 1]; p++) {
            int i = from->row[p], ni = reduced_width(Z, i), nj = reduced_width(Z, j);
            if (i > j) continue;
            memcpy(cell, Z->column + Z->start[i], (size_t)ni * sizeof *cell);
            memcpy(cell + ni, Z->column + Z->start[j], (size_t)nj * sizeof *cell);
            PCS_TRY(pcs_pattern_add_cells(builder, 1, i == j ? ni : ni + nj, cell));
        }
    return PCS_OK;
}

static pcs_status reduced_make_pattern(pcs_context *ctx, const pcs_null_space *Z, const pcs_pattern *from,
                                       pcs_pattern **out)
{
    pcs_pattern_builder *builder;
    int *cell;
    PCS_TAKE(ctx, cell, 2 * (size_t)Z->nfree, "rows of joints");
    PCS_TRY(pcs_pattern_begin(ctx, Z->nfree, &builder));
    pcs_status status = reduced_add_pairs(Z, from, builder, cell);
    pcs_status finish = pcs_pattern_finish(builder, out);
    return status == PCS_OK ? finish : status;
}

// Z^T A Z; with is_size the sum of the sizes of its terms.
static pcs_status reduced_multiply(pcs_context *ctx, const pcs_null_space *Z, const pcs_matrix *A, bool is_size,
                                   const pcs_pattern *pattern, const pcs_matrix **out)
{
    pcs_matrix *R;
    PCS_TRY(pcs_matrix_create(ctx, pattern, &R));
    for (int j = 0; j < A->pattern->n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
            int i = A->pattern->row[p];
            if (A->value[p] == 0.0) continue;
            for (int a = Z->start[i]; a < Z->start[i + 1]; a++)
                for (int b = Z->start[j]; b < Z->start[j + 1]; b++) {
                    double term = Z->value[a] * A->value[p] * Z->value[b];
                    R->value[pcs_pattern_place(pattern, Z->column[a], Z->column[b])] += is_size ? fabs(term) : term;
                }
        }
    *out = R;
    return PCS_OK;
}

// y of the known vectors, which fulfil the rows.
static pcs_status reduced_take_known(pcs_context *ctx, const pcs_null_space *Z, pcs_eigen_problem *p)
{
    double *known;
    size_t n = (size_t)Z->nfree;
    if (p->known == NULL) return PCS_OK;
    PCS_TAKE(ctx, known, (size_t)p->nknown * n, "eigenvectors");
    for (size_t k = 0; k < (size_t)p->nknown; k++)
        for (size_t i = 0; i < n; i++) known[k * n + i] = p->known[k * (size_t)Z->n + (size_t)Z->kept[i]];
    p->known = known;
    return PCS_OK;
}

static pcs_status reduced_make_matrices(pcs_context *ctx, const pcs_null_space *Z, pcs_eigen_problem *p)
{
    pcs_pattern *pattern;
    const pcs_matrix *K = p->K;
    PCS_TRY(reduced_make_pattern(ctx, Z, K->pattern, &pattern));
    PCS_TRY(reduced_multiply(ctx, Z, K, false, pattern, &p->K));
    PCS_TRY(reduced_multiply(ctx, Z, K, true, pattern, &p->K_terms));
    PCS_TRY(reduced_multiply(ctx, Z, p->M, false, pattern, &p->M));
    if (p->C != NULL) PCS_TRY(reduced_multiply(ctx, Z, p->C, false, pattern, &p->C));
    p->G = NULL;
    p->holds = NULL;
    return reduced_take_known(ctx, Z, p);
}

pcs_status pcs_eigen_reduce(pcs_context *ctx, const pcs_eigen_problem *full, pcs_reduced *out)
{
    int n = full->K->pattern->n;
    *out = (pcs_reduced){ .problem = *full, .nfree = n };
    if (!reduced_has_rows(full)) return PCS_OK;
    PCS_TRY(pcs_null_space_create(ctx, n, full->G, full->holds, full->size, &out->Z));
    out->nfree = out->Z.nfree;
    out->is_less = out->nfree > 0 && !out->Z.is_full && !reduced_is_dense(&out->Z, full->K->pattern);
    return out->is_less ? reduced_make_matrices(ctx, &out->Z, &out->problem) : PCS_OK;
}

pcs_status pcs_eigen_expand(pcs_context *ctx, const pcs_reduced *reduced, int count, double **vector)
{
    double *full;
    if (!reduced->is_less) return PCS_OK;
    PCS_TAKE(ctx, full, (size_t)count * (size_t)reduced->Z.n, "eigenvectors");
    for (int k = 0; k < count; k++)
        pcs_null_space_expand(&reduced->Z, *vector + (size_t)k * (size_t)reduced->nfree,
                              full + (size_t)k * (size_t)reduced->Z.n);
    *vector = full;
    return PCS_OK;
}
