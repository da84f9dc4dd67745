// The same bar, the same three schemes, written the plain way: CSR products, CHOLMOD's simplicial factor, one loop
// per vector operation, one contact solved in closed form. Yardstick and check of the engine's numbers in one.
//
//   X = M^-1 G^T,   Y = S^-1 h K X,   G = first unit vector, gap = gap0 + q[0]

#ifndef TESTS_BENCH_REFERENCE_H
#define TESTS_BENCH_REFERENCE_H

#include "bench_bar.h"

#include <suitesparse/cholmod.h>

typedef struct bench_csr {
    int n;
    int *start, *column; // [n + 1], [nnz]
    double *value;       // [nnz]
} bench_csr;

typedef struct bench_reference {
    bench_form form;
    int n;
    double gap; // at zero displacement, m
    bench_csr K;
    cholmod_common common;
    cholmod_factor *factor;             // of S, or of M for the half-explicit scheme
    cholmod_dense *rhs, *sol, *w1, *w2; // kept by cholmod_solve2
    double *q, *v, *a, *vd;             // [n] state
    double *a0, *q1;                    // [n] stage of the half-explicit scheme
    double *X, *Y;                      // [n]
    double *saved[4];                   // [n] state to return to
} bench_reference;

// A gap up to this closes the gate of implicit schemes: round-off does not decide a tie, m.
#define reference_tie (1e-13 * bench_length)

// Row-compressed copy of a tridiagonal matrix.
static inline bench_csr reference_csr(const bench_tri *A)
{
    int n = A->n;
    bench_csr B = { n, calloc((size_t)n + 1, sizeof(int)), calloc((size_t)n * 3, sizeof(int)), bench_vector(3 * n) };
    if (B.start == NULL || B.column == NULL) exit(1);
    int k = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; ++j) {
            B.column[k] = j;
            B.value[k++] = i == j ? A->diagonal[i] : A->off[i < j ? i : j];
        }
        B.start[i + 1] = k;
    }
    return B;
}

// LDL^T in the order of the nodes: a chain has no fill.
static inline cholmod_factor *reference_factor(const bench_tri *A, cholmod_common *common)
{
    int n = A->n;
    cholmod_sparse *S =
        cholmod_allocate_sparse((size_t)n, (size_t)n, 2 * (size_t)n - 1, 1, 1, -1, CHOLMOD_REAL, common);
    if (S == NULL) exit(1);
    int *start = S->p, *row = S->i, k = 0;
    double *value = S->x;
    for (int j = 0; j < n; ++j) {
        start[j] = k;
        row[k] = j;
        value[k++] = A->diagonal[j];
        if (j + 1 < n) {
            row[k] = j + 1;
            value[k++] = A->off[j];
        }
    }
    start[n] = k;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_NATURAL;
    common->postorder = 0;
    cholmod_factor *factor = cholmod_analyze(S, common);
    if (factor == NULL || !cholmod_factorize(S, factor, common)) exit(1);
    cholmod_free_sparse(&S, common);
    return factor;
}

// y = scale A x.
static inline void reference_multiply(const bench_csr *A, double scale, const double *x, double *y)
{
    for (int i = 0; i < A->n; ++i) {
        double sum = 0.0;
        for (int k = A->start[i]; k < A->start[i + 1]; ++k) sum += A->value[k] * x[A->column[k]];
        y[i] = scale * sum;
    }
}

// Solution for the right-hand side in r->rhs; nothing is allocated after the first call.
static inline const double *reference_solve(bench_reference *r, cholmod_factor *factor)
{
    cholmod_solve2(CHOLMOD_A, factor, r->rhs, NULL, &r->sol, NULL, &r->w1, &r->w2, &r->common);
    return r->sol->x;
}

static inline double *reference_rhs(bench_reference *r)
{
    return r->rhs->x;
}

static inline void reference_responses(bench_reference *r, const bench_tri *M)
{
    size_t bytes = (size_t)r->n * sizeof(double);
    cholmod_factor *mass = reference_factor(M, &r->common);
    memset(reference_rhs(r), 0, bytes);
    reference_rhs(r)[0] = 1.0;
    memcpy(r->X, reference_solve(r, mass), bytes);
    cholmod_free_factor(&mass, &r->common);
    reference_multiply(&r->K, r->form.h, r->X, reference_rhs(r));
    memcpy(r->Y, reference_solve(r, r->factor), bytes);
}

// A bar that flies towards the wall, its first node `gap` away. Destroy with bench_reference_destroy.
static inline bench_reference *bench_reference_create(int scheme, int elements, double h, double gap)
{
    bench_reference *r = calloc(1, sizeof *r);
    if (r == NULL) exit(1);
    int n = r->n = elements + 1;
    r->form = bench_form_of(scheme, h);
    r->gap = gap;
    cholmod_start(&r->common);
    bench_tri M = bench_tri_create(n, 1.0, 0.0), K = bench_tri_create(n, 0.0, 1.0), S = bench_tri_of(&r->form, n);
    r->K = reference_csr(&K);
    r->factor = reference_factor(&S, &r->common);
    r->rhs = cholmod_zeros((size_t)n, 1, CHOLMOD_REAL, &r->common);
    double **vectors[] = { &r->q, &r->v, &r->a,        &r->vd,       &r->a0,       &r->q1,
                           &r->X, &r->Y, &r->saved[0], &r->saved[1], &r->saved[2], &r->saved[3] };
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) *vectors[k] = bench_vector(n);
    for (int i = 0; i < n; ++i) r->v[i] = -bench_speed;
    reference_responses(r, &M);
    bench_tri_free(&M);
    bench_tri_free(&K);
    bench_tri_free(&S);
    return r;
}

static inline void bench_reference_destroy(bench_reference **self)
{
    bench_reference *r = *self;
    double *vectors[] = { r->q, r->v, r->a, r->vd, r->a0, r->q1, r->X, r->Y, r->K.value };
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) free(vectors[k]);
    for (int k = 0; k < 4; ++k) free(r->saved[k]);
    free(r->K.start);
    free(r->K.column);
    cholmod_free_dense(&r->rhs, &r->common);
    cholmod_free_dense(&r->sol, &r->common);
    cholmod_free_dense(&r->w1, &r->common);
    cholmod_free_dense(&r->w2, &r->common);
    cholmod_free_factor(&r->factor, &r->common);
    cholmod_finish(&r->common);
    free(r);
    *self = NULL;
}

// q = qt0 + kb d + nu X + kw la X,  v = vt0 + d + la X, where d is y less its coupling with the multipliers.
static inline void reference_finish(bench_reference *r, const double *y, double nu, double la)
{
    const bench_form *f = &r->form;
    double rate = f->c / f->h;
    for (int i = 0; i < r->n; ++i) r->vd[i] = rate * y[i];
    for (int i = 0; i < r->n; ++i) r->q[i] += f->kb * y[i];
    for (int i = 0; i < r->n; ++i) r->v[i] += y[i];
    double couple = nu + f->kw * la;
    if (couple != 0.0) {
        for (int i = 0; i < r->n; ++i) r->vd[i] -= rate * couple * r->Y[i];
        for (int i = 0; i < r->n; ++i) r->q[i] += couple * (r->X[i] - f->kb * r->Y[i]);
    }
    if (la != 0.0 || couple != 0.0) {
        for (int i = 0; i < r->n; ++i) r->v[i] += la * r->X[i] - couple * r->Y[i];
    }
}

static inline void reference_ggl(bench_reference *r)
{
    const bench_form *f = &r->form;
    double h = f->h, target = bench_restitution * r->v[0];
    for (int i = 0; i < r->n; ++i) {
        double a = r->a[i], next = (f->af * r->vd[i] - f->am * a) / (1.0 - f->am);
        r->q[i] += h * r->v[i] + h * h * ((0.5 - f->be) * a + f->be * next);
        r->v[i] += h * ((1.0 - f->ga) * a + f->ga * next);
        r->a[i] = next;
    }
    reference_multiply(&r->K, -h, r->q, reference_rhs(r));
    const double *y = reference_solve(r, r->factor);
    double smooth = r->gap + r->q[0] + f->kb * y[0], nu = 0.0, la = 0.0;
    if (smooth <= 0.0) nu = -smooth / (r->X[0] - f->kb * r->Y[0]);
    double rate = r->v[0] + y[0] - nu * r->Y[0];
    if (smooth - f->kb * nu * r->Y[0] <= reference_tie) la = fmax(0.0, -(rate + target) / r->X[0]);
    reference_finish(r, y, nu, la);
    double back = (1.0 - f->af) / (1.0 - f->am);
    for (int i = 0; i < r->n; ++i) r->a[i] += back * r->vd[i];
}

static inline void reference_moreau(bench_reference *r)
{
    const bench_form *f = &r->form;
    double h = f->h, old = h * (1.0 - f->theta), target = bench_restitution * r->v[0];
    bool gate = r->gap + r->q[0] + 0.5 * h * r->v[0] <= reference_tie;
    for (int i = 0; i < r->n; ++i) {
        double v = r->v[i] + old * r->vd[i];
        r->q[i] += old * r->v[i] + f->kb * v;
        r->v[i] = v;
    }
    reference_multiply(&r->K, -h, r->q, reference_rhs(r));
    const double *y = reference_solve(r, r->factor);
    double la = 0.0;
    if (gate) la = fmax(0.0, -(r->v[0] + y[0] + target) / (r->X[0] - f->kw * r->Y[0]));
    reference_finish(r, y, 0.0, la);
}

static inline void reference_half_explicit(bench_reference *r)
{
    double h = r->form.h, X0 = r->X[0];
    bool was_closed = r->gap + r->q[0] <= 0.0;
    reference_multiply(&r->K, -1.0, r->q, reference_rhs(r));
    memcpy(r->a0, reference_solve(r, r->factor), (size_t)r->n * sizeof *r->a0);
    double first = was_closed ? fmax(0.0, -(r->v[0] + h * r->a0[0]) / X0) : 0.0;
    for (int i = 0; i < r->n; ++i) r->q1[i] = r->q[i] + h * r->v[i] + 0.5 * h * (h * r->a0[i] + first * r->X[i]);
    bool is_closed = r->gap + r->q1[0] <= 0.0, is_impact = is_closed && !was_closed;
    reference_multiply(&r->K, -1.0, r->q1, reference_rhs(r));
    const double *a1 = reference_solve(r, r->factor);
    if (is_impact) first = 0.0;
    for (int i = 0; i < r->n; ++i) r->v[i] += 0.5 * h * (r->a0[i] + a1[i]) + 0.5 * first * r->X[i];
    double factor = is_impact ? 1.0 + bench_restitution : 1.0;
    double second = is_closed ? fmax(0.0, -factor * r->v[0] / X0) : 0.0;
    if (second != 0.0) {
        for (int i = 0; i < r->n; ++i) r->v[i] += second * r->X[i];
    }
    memcpy(r->q, r->q1, (size_t)r->n * sizeof *r->q);
}

static inline void bench_reference_save(bench_reference *r)
{
    double *vectors[] = { r->q, r->v, r->a, r->vd };
    for (int k = 0; k < 4; ++k) memcpy(r->saved[k], vectors[k], (size_t)r->n * sizeof(double));
}

static inline void bench_reference_restore(void *self)
{
    bench_reference *r = self;
    double *vectors[] = { r->q, r->v, r->a, r->vd };
    for (int k = 0; k < 4; ++k) memcpy(vectors[k], r->saved[k], (size_t)r->n * sizeof(double));
}

static inline void bench_reference_steps(void *self, int steps)
{
    bench_reference *r = self;
    static void (*const step[BENCH_NSCHEME])(bench_reference *) = { reference_ggl, reference_moreau,
                                                                    reference_half_explicit };
    for (int k = 0; k < steps; ++k) step[r->form.scheme](r);
}

#endif
