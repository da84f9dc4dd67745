// Symmetric-pattern sparse matrices with a fixed pattern, and sparse constraint rows.
//
// Several matrices (M, C, K, the iteration matrix) share one pattern; assembly adds dense cell
// matrices through a scatter map whose order is fixed by the order of the cells. Where the pattern
// is block tridiagonal in the given numbering the matrix also offers itself as a chain.

#ifndef PCS_CORE_MATRIX_H
#define PCS_CORE_MATRIX_H

#include "core/comm.h"

#include <stdbool.h>

// Describes copies on which rows of this rank act: their contributions are sent to the owners, which send back values.
// Copies are the equations from nown on.
typedef struct pcs_halo {
    const pcs_comm *comm;
    int nown, ncopy;
    void *plan;
    double *own, *copy; // [nown], [ncopy] buffers
} pcs_halo;

// The part of a rank in the equations of all ranks: own ones first, then copies that its cells, contacts and joints
// need. Only the rows of its own equations are complete.
typedef struct pcs_layout {
    const pcs_comm *comm;
    int n, nown;          // equations here, and those owned by this rank; vectors may be longer
    int nglobal;          // of all ranks
    const int *global;    // [n] numbers over all ranks; those of a rank are consecutive
    const int *serial;    // [n] numbers in a run of one process
    const pcs_halo *halo; // NULL if distributed rows act on own equations only
} pcs_layout;

typedef struct pcs_pattern {
    int n; // number of rows and of columns
    int nnz;
    const int *start;         // [n + 1] column starts
    const int *row;           // [nnz] sorted rows of each column; both triangles and the diagonal are stored
    int chain_block;          // b: entries lie within the block tridiagonal band of b x b blocks; 0 if not a chain
    int nrun;                 // number of ranges of equations with a full tridiagonal pattern, if b = 1; else 0
    const int *run;           // [nrun + 1] their first equations, then n
    const pcs_layout *layout; // NULL if all equations are here
} pcs_pattern;

// Lists some entries of a matrix, column by column.
typedef struct pcs_entries {
    const int *start;    // [n + 1]
    const int *place;    // [start[n]] position among the values
    const int *row;      // [start[n]]
    const double *value; // [start[n]] copies of values that are constant; NULL if they vary
} pcs_entries;

typedef struct pcs_matrix {
    const pcs_pattern *pattern;
    double *value;              // [nnz]
    const pcs_entries *entries; // entries that may differ from zero; NULL for all
    bool is_skew;               // constant and not symmetric
    bool is_lossless;           // a damping matrix of gyroscopic moments alone
} pcs_matrix;

// Collects the pattern of cells given by their equation numbers (-1 is skipped), then fixes it.
typedef struct pcs_pattern_builder pcs_pattern_builder;
pcs_status pcs_pattern_begin(pcs_context *ctx, int n, pcs_pattern_builder **out);
pcs_status pcs_pattern_add_cells(pcs_pattern_builder *b, int ncell, int ndof, const int *equation);
pcs_status pcs_pattern_finish(pcs_pattern_builder *b, pcs_pattern **out); // frees the builder, also on failure

// Adds all entries of another pattern, which has no more equations.
pcs_status pcs_pattern_add_pattern(pcs_pattern_builder *b, const pcs_pattern *other);

// Returns the position of entry (i, j) among the values, or -1 if it is outside the pattern.
int pcs_pattern_find(const pcs_pattern *pattern, int i, int j);
// Returns the same; the entry must be in the pattern.
int pcs_pattern_place(const pcs_pattern *pattern, int i, int j);

pcs_status pcs_matrix_create(pcs_context *ctx, const pcs_pattern *pattern, pcs_matrix **out);
void pcs_matrix_zero(pcs_matrix *A);
// Records which entries may ever differ from zero, [nnz] flags, if they are few: mass matrices of beams, in the pattern
// of their stiffness. Sums over them are the same to the last bit, but for the order of three matrices. Constant values
// are copied, so that products read these alone.
pcs_status pcs_matrix_note_entries(pcs_context *ctx, pcs_matrix *A, bool is_constant, const unsigned char *may_differ);
// Adds scale * dense (ndof x ndof, row-major) to A(equation, equation); entries must be in the pattern.
void pcs_matrix_add_cell(pcs_matrix *A, int ndof, const int *equation, double scale, const double *dense);
// Computes S = a[0] M + a[1] C + a[2] K over one pattern; C or K may be NULL.
void pcs_matrix_combine(pcs_matrix *S, const double a[3], const pcs_matrix *M, const pcs_matrix *C,
                        const pcs_matrix *K);
// Adds a A to S over one pattern.
void pcs_matrix_add(pcs_matrix *S, double a, const pcs_matrix *A);
// Computes y = A x, and adds scale A x to y.
void pcs_matrix_multiply(const pcs_matrix *A, const double *x, double *y);
void pcs_matrix_add_multiply(const pcs_matrix *A, double scale, const double *x, double *y);
// Returns max_i sum_j |A_ij| |x_j|: the scale of round-off in a product.
double pcs_matrix_abs_bound(const pcs_matrix *A, const double *x);
bool pcs_matrix_is_finite(const pcs_matrix *A);
double pcs_matrix_diagonal(const pcs_matrix *A, int i); // 0 if it is not stored

// Holds sparse rows, e.g. the constraint directions G (one row per constraint).
typedef struct pcs_rows {
    int nrow, ncol;
    int *start;           // [nrow + 1]
    int *column;          // [nnz]
    double *value;        // [nnz]
    const pcs_halo *halo; // NULL if they act on own equations only, or if every rank has all of them
} pcs_rows;

pcs_status pcs_rows_create(pcs_context *ctx, int nrow, int ncol, int nnz, pcs_rows **out);
// Creates a copy of rows with their halo; *out stays as it is where they are NULL.
pcs_status pcs_rows_copy(pcs_context *ctx, const pcs_rows *rows, pcs_rows **out);
static inline double pcs_rows_dot(const pcs_rows *G, int row, const double *x)
{
    double sum = 0.0;
    for (int p = G->start[row]; p < G->start[row + 1]; p++) sum += G->value[p] * x[G->column[p]];
    return sum;
}
void pcs_rows_multiply(const pcs_rows *G, const double *x, double *y);             // y = G x
void pcs_rows_add_transposed(const pcs_rows *G, int row, double scale, double *y); // y += scale G_row^T
// Adds scale sum over rows of z[row] G_row^T to y, over rows of all ranks on own equations. All ranks must call it.
void pcs_rows_add_all(const pcs_rows *G, double scale, const double *z, double *y);

pcs_status pcs_halo_create(pcs_context *ctx, const pcs_layout *layout, const pcs_halo **out);
// Clears the copies. Until `close`, rows of this rank add to y at local equation i. `close` adds the sums at copies to
// their owners. NULL if there are no copies.
void pcs_halo_open(const pcs_halo *halo);
static inline double *pcs_halo_at(const pcs_halo *halo, int i, double *y)
{
    return halo == NULL || i < halo->nown ? &y[i] : &halo->copy[i - halo->nown];
}
void pcs_halo_close(const pcs_halo *halo, double *y);
// Collects the diagonal entries of A at the copies, [ncopy].
void pcs_halo_diagonal(const pcs_halo *halo, const pcs_matrix *A, double *copy);

#endif
