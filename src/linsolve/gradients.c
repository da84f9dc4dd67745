// Conjugate gradients with an incomplete factor, for matrices whose factors would fill memory: lattices in space.
//
// A x = b is iterated until r . P r <= tolerance^2 b . P b, P = (L L')^-1 the preconditioner of linsolve/incomplete.h:
// an energy, because forces and moments have no common length. S* = c M + h C + h kb K is near M while steps are as
// long as a wave takes through an element, so that some ten iterations do whatever the number of equations. Every
// solve starts from zero: nothing outlasts it.
//
// J. K. Reid, On the method of conjugate gradients for the solution of large sparse systems of linear equations, in
// Large Sparse Sets of Linear Equations, Academic Press (1971) 231-254.

#include "linsolve/incomplete.h"
#include "linsolve/linsolve.h"

#include <math.h>
#include <string.h>

typedef struct gradients_data {
    pcs_blocks blocks;
    double *r, *p, *z, *Ap; // [n]
} gradients_data;

static const double tolerance = 1e-14;
enum { MOST_ITERATIONS = 5000 };

static const char *gradients_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    if (kind != PCS_SPD) return "it is for symmetric positive definite matrices";
    if (pattern->n == 0) return "there are no equations";
    return pattern->chain_block > 0 ? "it is a chain, whose factors do not fill" : NULL;
}

static pcs_status gradients_analyze(pcs_linsolve *self)
{
    gradients_data *d = self->data;
    size_t n = (size_t)self->A->pattern->n;
    self->title = "gradients to 1e-14";
    PCS_TRY(pcs_blocks_create(self->ctx, self->A->pattern, &d->blocks));
    PCS_TAKE(self->ctx, d->r, n, "conjugate gradients");
    PCS_TAKE(self->ctx, d->p, n, "conjugate gradients");
    PCS_TAKE(self->ctx, d->z, n, "conjugate gradients");
    PCS_TAKE(self->ctx, d->Ap, n, "conjugate gradients");
    return PCS_OK;
}

static pcs_status gradients_factor(pcs_linsolve *self, bool *is_singular)
{
    gradients_data *d = self->data;
    self->bad_equation = pcs_blocks_read(&d->blocks, self->A);
    *is_singular = self->bad_equation >= 0 || !pcs_blocks_factor(&d->blocks);
    return PCS_OK;
}

static double gradients_dot(int n, const double *x, const double *y)
{
    double sum[8] = { 0 }, whole = 0.0; // eight at a time
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++) whole += x[i] * y[i];
    for (int k = 0; k < 8; k++) whole += sum[k];
    return whole;
}

// z = P r, and r . z.
static double gradients_precondition(gradients_data *d)
{
    memcpy(d->z, d->r, (size_t)d->blocks.n * sizeof *d->z);
    pcs_blocks_precondition(&d->blocks, d->z);
    return gradients_dot(d->blocks.n, d->r, d->z);
}

// A power of two that brings the largest entry of scale x near 1; 0: all are zero, NAN: some are no numbers.
static double gradients_size(const gradients_data *d, const double *x)
{
    double size = 0.0;
    int exponent = 0;
    for (int i = 0; i < d->blocks.n; i++) {
        double entry = fabs(d->blocks.scale[i] * x[i]);
        if (!isfinite(entry)) return NAN;
        if (entry > size) size = entry;
    }
    if (size == 0.0) return 0.0;
    frexp(size, &exponent);
    return ldexp(1.0, exponent);
}

// x from r = b, both scaled; the number of iterations, or -1.
static int gradients_iterate(gradients_data *d, double *x)
{
    int n = d->blocks.n;
    double energy = gradients_precondition(d), enough = tolerance * tolerance * energy;
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(d->p, d->z, (size_t)n * sizeof *d->p);
    for (int k = 1; k <= MOST_ITERATIONS; k++) {
        pcs_blocks_multiply(&d->blocks, d->p, d->Ap);
        double curvature = gradients_dot(n, d->p, d->Ap);
        if (!(curvature > 0.0)) return -1;
        double length = energy / curvature, before = energy;
        for (int i = 0; i < n; i++) {
            x[i] += length * d->p[i];
            d->r[i] -= length * d->Ap[i];
        }
        energy = gradients_precondition(d);
        if (energy <= enough) return k;
        double ratio = energy / before;
        for (int i = 0; i < n; i++) d->p[i] = d->z[i] + ratio * d->p[i];
    }
    return -1;
}

// A solve that fails leaves a vector that is no number, and a note why; whoever uses it will notice.
static void gradients_solve(pcs_linsolve *self, double *x)
{
    gradients_data *d = self->data;
    int n = d->blocks.n;
    double size = gradients_size(d, x);
    if (size == 0.0) return;
    for (int i = 0; i < n; i++) d->r[i] = d->blocks.scale[i] * x[i] / size;
    if (isfinite(size) && gradients_iterate(d, x) > 0) {
        for (int i = 0; i < n; i++) x[i] *= d->blocks.scale[i] * size;
        return;
    }
    pcs_note(self->ctx, "conjugate gradients for the %s matrix gave up: `solver: { linear: cholmod }` takes factors",
             self->label[0] == '\0' ? "step" : self->label);
    for (int i = 0; i < n; i++) x[i] = NAN;
}

const pcs_linsolve_ops pcs_linsolve_gradients = {
    .name = "gradients",
    .summary =
        "conjugate gradients with an incomplete factor, for symmetric positive definite matrices whose factors fill",
    .data_size = sizeof(gradients_data),
    .refuses = gradients_refuses,
    .analyze = gradients_analyze,
    .factor = gradients_factor,
    .solve = gradients_solve,
};
