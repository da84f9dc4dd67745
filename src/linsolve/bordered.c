#include "linsolve/bordered.h"

#include <math.h>
#include <string.h>

static const double REGULARISATION = 1e-12;
static const double NOTHING = 1e-8; // of the size of A: almost no resistance

// The whole matrix over one pattern of A and G; it lives in a context of its own, so that it can be made anew when the
// columns of G have changed.
typedef struct border {
    pcs_context *ctx;
    pcs_matrix *S;
    pcs_linsolve *solver;
    int *place_of_A;      // [nnz of A] in S
    int *row_start, *row; // copy of the columns of G that the pattern was made for
    int *across, *down;   // [nnz of G] indices of G_ji in column i and in column n + j of S
    int *corner;          // [rows] diagonal
} border;

struct pcs_bordered {
    pcs_context *ctx;
    const char *linear;
    const pcs_matrix *A;
    const pcs_rows *G, *H;
    pcs_linsolve_kind kind;
    pcs_linsolve *plain; // NULL until a factorization without rows
    border whole;        // its context is NULL until a factorization with rows
    const double *size;  // [n] or NULL
    double *scale;       // [rows] factor that brings a row to the size of A; 0 if the row does not hold
    double *work;        // [n + rows]
    bool has_rows;       // in the present factorization
    int nfactor;
};

static void bordered_release(void *object)
{
    pcs_bordered *self = object;
    pcs_context_destroy(&self->whole.ctx);
}

pcs_status pcs_bordered_create(pcs_context *ctx, const char *linear, const pcs_matrix *A, pcs_linsolve_kind kind,
                               const pcs_rows *G, pcs_bordered **out)
{
    pcs_bordered *self;
    int nrow = G == NULL ? 0 : G->nrow;
    PCS_TAKE(ctx, self, 1, "a bordered matrix");
    *self = (pcs_bordered){ .ctx = ctx, .linear = linear, .A = A, .G = G, .H = G, .kind = kind };
    PCS_TAKE(ctx, self->scale, nrow, "a bordered matrix");
    PCS_TAKE(ctx, self->work, (size_t)A->pattern->n + (size_t)nrow, "a bordered matrix");
    PCS_TRY(pcs_defer(ctx, bordered_release, self));
    *out = self;
    return PCS_OK;
}

void pcs_bordered_set_columns(pcs_bordered *self, const pcs_rows *H)
{
    self->H = H;
}

void pcs_bordered_set_sizes(pcs_bordered *self, const double *size)
{
    self->size = size;
}

static pcs_status bordered_add_rows(pcs_pattern_builder *builder, int n, const pcs_rows *G)
{
    for (int j = 0; j < G->nrow; j++)
        for (int p = G->start[j]; p < G->start[j + 1]; p++)
            PCS_TRY(pcs_pattern_add_cells(builder, 1, 2, (const int[2]){ n + j, G->column[p] }));
    return PCS_OK;
}

static pcs_status bordered_make_pattern(const pcs_bordered *self, pcs_context *ctx, pcs_pattern **out)
{
    const pcs_rows *G = self->G;
    int n = self->A->pattern->n;
    pcs_pattern_builder *builder;
    PCS_TRY(pcs_pattern_begin(ctx, n + G->nrow, &builder));
    pcs_status status = pcs_pattern_add_pattern(builder, self->A->pattern);
    if (status == PCS_OK) status = bordered_add_rows(builder, n, G);
    pcs_status finish = pcs_pattern_finish(builder, out);
    return status == PCS_OK ? finish : status;
}

static pcs_status bordered_find_places(const pcs_bordered *self, border *b)
{
    const pcs_pattern *from = self->A->pattern, *to = b->S->pattern;
    const pcs_rows *G = self->G;
    int n = from->n, nnz = G->start[G->nrow];
    PCS_TAKE(b->ctx, b->place_of_A, from->nnz, "a bordered matrix");
    PCS_TAKE(b->ctx, b->across, nnz, "a bordered matrix");
    PCS_TAKE(b->ctx, b->down, nnz, "a bordered matrix");
    PCS_TAKE(b->ctx, b->corner, G->nrow, "a bordered matrix");
    PCS_TAKE(b->ctx, b->row_start, (size_t)G->nrow + 1, "a bordered matrix");
    PCS_TAKE(b->ctx, b->row, nnz, "a bordered matrix");
    for (int j = 0; j < n; j++)
        for (int p = from->start[j]; p < from->start[j + 1]; p++)
            b->place_of_A[p] = pcs_pattern_place(to, from->row[p], j);
    for (int j = 0; j < G->nrow; j++) {
        b->corner[j] = pcs_pattern_place(to, n + j, n + j);
        for (int p = G->start[j]; p < G->start[j + 1]; p++) {
            b->across[p] = pcs_pattern_place(to, n + j, G->column[p]);
            b->down[p] = pcs_pattern_place(to, G->column[p], n + j);
        }
    }
    memcpy(b->row_start, G->start, ((size_t)G->nrow + 1) * sizeof *b->row_start);
    memcpy(b->row, G->column, (size_t)nnz * sizeof *b->row);
    return PCS_OK;
}

static pcs_status bordered_build(pcs_bordered *self, border *b)
{
    pcs_pattern *pattern;
    PCS_TRY(bordered_make_pattern(self, b->ctx, &pattern));
    PCS_TRY(pcs_matrix_create(b->ctx, pattern, &b->S));
    PCS_TRY(bordered_find_places(self, b));
    // The caller may need the sign of the determinant.
    const char *linear = strcmp(self->linear, "umfpack") == 0 ? "umfpack" : "auto";
    return pcs_linsolve_create(b->ctx, linear, b->S, PCS_GENERAL, &b->solver);
}

static bool bordered_is_current(const pcs_bordered *self)
{
    const border *b = &self->whole;
    const pcs_rows *G = self->G;
    return b->ctx != NULL && memcmp(b->row_start, G->start, ((size_t)G->nrow + 1) * sizeof *b->row_start) == 0 &&
           memcmp(b->row, G->column, (size_t)G->start[G->nrow] * sizeof *b->row) == 0;
}

static pcs_status bordered_refresh(pcs_bordered *self)
{
    if (bordered_is_current(self)) return PCS_OK;
    pcs_context_destroy(&self->whole.ctx);
    self->whole = (border){ 0 };
    if (pcs_context_create(&self->whole.ctx) != PCS_OK)
        return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: a bordered matrix");
    pcs_status status = bordered_build(self, &self->whole);
    if (status == PCS_OK) return PCS_OK;
    status = pcs_fail(self->ctx, status, "%s", pcs_message(self->whole.ctx));
    pcs_context_destroy(&self->whole.ctx);
    return status;
}

// Returns the scale of row j: the largest diagonal entry of A in its columns over its own largest entry.
static double bordered_scale(const pcs_bordered *self, int j)
{
    double stiff = 0.0, entry = 0.0;
    for (int p = self->G->start[j]; p < self->G->start[j + 1]; p++) {
        int i = self->G->column[p];
        if (self->G->value[p] == 0.0) continue;
        double diagonal = fabs(pcs_matrix_diagonal(self->A, i));
        if (self->size != NULL && diagonal < NOTHING * self->size[i]) diagonal = self->size[i];
        stiff = fmax(stiff, diagonal);
        entry = fmax(entry, fabs(self->G->value[p]));
    }
    return stiff > 0.0 && entry > 0.0 ? stiff / entry : 1.0;
}

static void bordered_fill(pcs_bordered *self, const unsigned char *holds)
{
    border *b = &self->whole;
    const pcs_rows *G = self->G;
    pcs_matrix_zero(b->S);
    for (int p = 0; p < self->A->pattern->nnz; p++) b->S->value[b->place_of_A[p]] = self->A->value[p];
    for (int j = 0; j < G->nrow; j++) {
        double scale = bordered_scale(self, j), entry = 0.0;
        self->scale[j] = holds[j] ? scale : 0.0;
        for (int p = G->start[j]; p < G->start[j + 1]; p++) {
            entry = fmax(entry, fabs(G->value[p]));
            b->S->value[b->across[p]] += self->scale[j] * G->value[p];
            b->S->value[b->down[p]] += self->scale[j] * self->H->value[p];
        }
        double size = entry > 0.0 ? scale * entry : 1.0;
        b->S->value[b->corner[j]] = holds[j] ? -REGULARISATION * size : size;
    }
}

pcs_status pcs_bordered_factor(pcs_bordered *self, const unsigned char *holds, bool *is_singular)
{
    self->has_rows = false;
    if (holds != NULL && self->G != NULL)
        for (int j = 0; j < self->G->nrow; j++) self->has_rows |= holds[j] != 0;
    self->nfactor++;
    if (!self->has_rows) {
        if (self->plain == NULL)
            PCS_TRY(pcs_linsolve_create(self->ctx, self->linear, self->A, self->kind, &self->plain));
        return pcs_linsolve_factor(self->plain, is_singular);
    }
    PCS_TRY(bordered_refresh(self));
    bordered_fill(self, holds);
    pcs_status status = pcs_linsolve_factor(self->whole.solver, is_singular);
    return status == PCS_OK ? PCS_OK : pcs_fail(self->ctx, status, "%s", pcs_message(self->whole.ctx));
}

void pcs_bordered_solve(pcs_bordered *self, double *x, double *y)
{
    size_t n = (size_t)self->A->pattern->n;
    int nrow = self->G == NULL ? 0 : self->G->nrow;
    if (!self->has_rows) {
        pcs_linsolve_solve(self->plain, x);
        if (y != NULL) memset(y, 0, (size_t)nrow * sizeof *y);
        return;
    }
    memcpy(self->work, x, n * sizeof *x);
    for (int j = 0; j < nrow; j++) self->work[n + (size_t)j] = y == NULL ? 0.0 : self->scale[j] * y[j];
    pcs_linsolve_solve(self->whole.solver, self->work);
    memcpy(x, self->work, n * sizeof *x);
    if (y == NULL) return;
    for (int j = 0; j < nrow; j++) y[j] = self->scale[j] * self->work[n + (size_t)j];
}

int pcs_bordered_sign(const pcs_bordered *self)
{
    const pcs_linsolve *solver = self->has_rows ? self->whole.solver : self->plain;
    if (solver == NULL || solver->ops->sign == NULL) return 0;
    int sign = solver->ops->sign(solver);
    // Each row that holds adds a negative eigenvalue, each other row a positive one.
    int nrow = self->has_rows ? self->G->nrow : 0;
    for (int j = 0; j < nrow; j++)
        if (self->scale[j] != 0.0) sign = -sign;
    return sign;
}

int pcs_bordered_bad_equation(const pcs_bordered *self)
{
    if (self->has_rows) return self->whole.solver->bad_equation;
    return self->plain == NULL ? -1 : self->plain->bad_equation;
}

const char *pcs_bordered_backend(const pcs_bordered *self)
{
    const pcs_linsolve *solver = self->has_rows ? self->whole.solver : self->plain;
    return solver == NULL ? "none" : solver->ops->name;
}

int pcs_bordered_factorizations(const pcs_bordered *self)
{
    return self->nfactor;
}
