// Solvers of A x = b for a fixed pattern: analyze once, factor rarely, solve often.
//
// A matrix with a layout is distributed: a solve takes a right-hand side that is right on the own equations and
// gives the solution on all equations that are here, copies included.

#ifndef PCS_LINSOLVE_LINSOLVE_H
#define PCS_LINSOLVE_LINSOLVE_H

#include "core/matrix.h"
#include "core/pool.h"

#include <float.h>

typedef enum pcs_linsolve_kind {
    PCS_SPD, // symmetric positive definite
    PCS_GENERAL
} pcs_linsolve_kind;

typedef struct pcs_linsolve_ops pcs_linsolve_ops;

// Solve slice by slice, equations low <= i < high, in which a slice stays in the cache from its right-hand side to the
// use of its solution. Slices run at the same time in threads; fills that do never touch.
typedef struct pcs_slice_solve {
    double *x;                 // [n]
    pcs_pool_range_work *fill; // writes right-hand sides into x: each equation once, in parts of slices
    pcs_pool_range_work *take; // uses the solution x of a slice: every slice once
    void *data;                // data of both
} pcs_slice_solve;

typedef struct pcs_linsolve {
    const pcs_linsolve_ops *ops;
    pcs_context *ctx;
    const pcs_matrix *A; // borrowed; factor reads its values
    pcs_linsolve_kind kind;
    const char *label; // which matrix of the run this is, "mass" or "iteration"; empty if neither
    const char *title; // name for the summary, with the tolerance of iterations
    void *data;        // data_size bytes, zeroed before analyze
    double entries;    // number of entries of the factor, or of a triangle of A if the analysis does not give it
    int nfactor;       // number of factorizations so far
    int bad_equation;  // equation at which a failed factorization broke down, or -1
} pcs_linsolve;

struct pcs_linsolve_ops {
    const char *name;
    const char *summary;
    size_t data_size;
    // Returns NULL if this back end can take a matrix of that pattern and kind, else the reason.
    const char *(*refuses)(const pcs_pattern *pattern, pcs_linsolve_kind kind);
    // Analyzes the pattern and allocates all memory; third-party handles are freed through pcs_defer.
    pcs_status (*analyze)(pcs_linsolve *self);
    // Factors the present values of A; *is_singular is an outcome, not an error.
    pcs_status (*factor)(pcs_linsolve *self, bool *is_singular);
    // Solves x = A^-1 x in place; never allocates.
    void (*solve)(pcs_linsolve *self, double *x);
    // Solves on the own equations only, with zeros on copies. NULL: as `solve`.
    void (*solve_own)(pcs_linsolve *self, double *x);
    // Returns true if the last factors can be used slice by slice. Then `begin` gives the solution at some equations,
    // and `end` all of it. NULL: never.
    bool (*has_slices)(const pcs_linsolve *self);
    void (*begin)(pcs_linsolve *self, const pcs_slice_solve *job, int count, const int *wanted);
    void (*end)(pcs_linsolve *self, const pcs_slice_solve *job);
    // Returns the sign of the determinant of the last factors, 0 if unknown. NULL: always unknown.
    int (*sign)(const pcs_linsolve *self);
};

extern const pcs_linsolve_ops *const pcs_linsolvers[]; // ends with NULL

// Returns true if the back end of that name takes matrices of that pattern and kind; "auto" does.
bool pcs_linsolve_takes(const char *name, const pcs_pattern *pattern, pcs_linsolve_kind kind);

// Creates a solver; `name` is a registered back end or "auto". An unknown name or a refusal is PCS_UNSUPPORTED.
pcs_status pcs_linsolve_create(pcs_context *ctx, const char *name, const pcs_matrix *A, pcs_linsolve_kind kind,
                               pcs_linsolve **out);
// Creates it with a label, by which options of the user can name the matrix; kept as a pointer.
pcs_status pcs_linsolve_create_labelled(pcs_context *ctx, const char *name, const char *label, const pcs_matrix *A,
                                        pcs_linsolve_kind kind, pcs_linsolve **out);
pcs_status pcs_linsolve_factor(pcs_linsolve *self, bool *is_singular);
// Returns the versions of SuiteSparse, as it was built with, and of its CHOLMOD, which is linked.
void pcs_suitesparse_version(int suite[3], int cholmod[3]);
static inline void pcs_linsolve_solve(pcs_linsolve *self, double *x)
{
    self->ops->solve(self, x);
}
// Solves without updating the copies (ghost entries) of other processes' equations, for callers that do not read them.
static inline void pcs_linsolve_solve_own(pcs_linsolve *self, double *x)
{
    if (self->ops->solve_own != NULL) self->ops->solve_own(self, x);
    else self->ops->solve(self, x);
}
static inline bool pcs_linsolve_has_slices(const pcs_linsolve *self)
{
    return self->ops->has_slices != NULL && self->ops->has_slices(self);
}

// Tests whether a pivot of a factorization is no more than round-off.

// Returns true if a pivot, the diagonal entry minus a sum of squares, is positive beyond its rounding error of about
// DBL_EPSILON times the entry, below which a positive definite matrix looks singular. Returns false for NaN.
static inline bool pcs_pivot_is_positive(double pivot, double diagonal)
{
    return pivot > 2.0 * DBL_EPSILON * diagonal && pivot > 0.0;
}

#endif
