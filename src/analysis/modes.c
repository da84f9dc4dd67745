#include "analysis/modes.h"
#include "core/dense.h"

#include "analysis/stiffness.h"
#include "system/rigid.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double ASYMMETRIC = 1e-9; // beside the largest entry: more is no round-off

typedef struct search {
    const pcs_analysis *on;
    pcs_system *system;
    const pcs_modes_options *options;
    pcs_stiffness stiff;
    const pcs_matrix *K, *M, *C; // of it; C is NULL without damping
    pcs_rigid rigid;
    pcs_eigen_problem problem;
    pcs_modes *out;
} search;

const char *pcs_mode_kind_text(pcs_mode_kind kind)
{
    static const char *const texts[] = {
        "rigid", "mechanism", "unstable", "vibration", "forward", "backward", "decay"
    };
    return texts[kind];
}

// Is the largest |A_ij - A_ji| round-off beside the largest entry?
static bool modes_is_symmetric(const pcs_matrix *A)
{
    double largest = 0.0, skew = 0.0;
    if (A == NULL) return true;
    for (int p = 0; p < A->pattern->nnz; p++) largest = fmax(largest, fabs(A->value[p]));
    for (int j = 0; j < A->pattern->n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            skew = fmax(skew, fabs(A->value[p] - A->value[pcs_pattern_place(A->pattern, j, A->pattern->row[p])]));
    return skew <= ASYMMETRIC * largest;
}

// M-orthonormal vectors in place of the free motions.
static pcs_status modes_orthonormalise(search *s)
{
    int n = s->system->nv;
    double *image;
    PCS_TAKE(s->on->ctx, image, n, "rigid modes");
    for (int k = 0; k < s->rigid.count; k++) {
        double *x = s->rigid.vector + (size_t)k * (size_t)n;
        for (int pass = 0; pass < 2; pass++)
            for (int m = 0; m < k; m++) {
                const double *y = s->rigid.vector + (size_t)m * (size_t)n;
                pcs_matrix_multiply(s->M, x, image);
                double along = pcs_dense_dot(n, y, image);
                for (int i = 0; i < n; i++) x[i] -= along * y[i];
            }
        pcs_matrix_multiply(s->M, x, image);
        double norm = sqrt(pcs_dense_dot(n, x, image));
        if (!(norm > 0.0)) return pcs_fail(s->on->ctx, PCS_FAILED, "the model has no mass in its %s", s->rigid.name[k]);
        for (int i = 0; i < n; i++) x[i] /= norm;
    }
    return PCS_OK;
}

static pcs_status modes_add_rigid(search *s)
{
    int n = s->system->nv;
    for (int k = 0; k < s->rigid.count && s->out->count < s->options->count; k++)
        s->out->modes[s->out->count++] = (pcs_mode){ .kind = PCS_MODE_RIGID,
                                                     .name = s->rigid.name[k],
                                                     .re = s->rigid.vector + (size_t)k * (size_t)n };
    return PCS_OK;
}

// Where a mechanism moves most.
static const char *modes_place(search *s, const double *x)
{
    char text[256];
    int best = 0;
    for (int i = 1; i < s->system->nv; i++)
        if (fabs(x[i]) > fabs(x[best])) best = i;
    memcpy(text, "most at ", 9);
    s->system->ops->name_equation(s->system, best, sizeof text - 8, text + 8);
    return pcs_take_text(s->on->ctx, text);
}

static pcs_status modes_find_symmetric(search *s)
{
    pcs_eigen_result r;
    int n = s->system->nv;
    double *image;
    PCS_TAKE(s->on->ctx, image, n, "modes");
    PCS_TRY(modes_add_rigid(s));
    s->problem.nknown = s->rigid.count;
    s->problem.known = s->rigid.vector;
    s->problem.count = s->options->count - s->out->count;
    PCS_TRY(pcs_eigen_symmetric(s->on->ctx, &s->problem, &r));
    for (int k = 0; k < r.count; k++) {
        const double *phi = r.vector + (size_t)k * (size_t)n;
        pcs_mode *m = &s->out->modes[s->out->count++];
        *m = (pcs_mode){ .w = sqrt(fabs(r.lambda[k])), .residual = r.residual[k], .name = "", .re = phi };
        m->kind = r.lambda[k] < 0.0 ? PCS_MODE_UNSTABLE : PCS_MODE_VIBRATION;
        if (fabs(r.lambda[k]) <= r.zero[k]) {
            m->kind = PCS_MODE_MECHANISM;
            m->w = 0.0;
            m->name = modes_place(s, phi);
            if (m->name == NULL) return PCS_NO_MEMORY;
        }
        if (s->C != NULL && m->w > 0.0) {
            pcs_matrix_multiply(s->C, phi, image);
            m->damping = pcs_dense_dot(n, phi, image) / (2.0 * m->w);
        }
    }
    s->out->shift = r.shift;
    s->out->backend = r.backend;
    s->out->eigen_name = r.eigen_name;
    s->out->nfactor = r.nfactor;
    s->out->nsolve = r.nsolve;
    return PCS_OK;
}

// phi^H (i C) phi: with w^2 m = k + w g, gyroscopic forces raise w where g > 0.
static double modes_gyration(search *s, const double *re, const double *im, double *image)
{
    int n = s->system->nv;
    if (s->C == NULL) return 0.0;
    pcs_matrix_multiply(s->C, im, image);
    double sum = -pcs_dense_dot(n, re, image);
    pcs_matrix_multiply(s->C, re, image);
    return sum + pcs_dense_dot(n, im, image);
}

// What |s|^2 of a motion without force may come to by round-off, times 50.
static double modes_zero(const search *s, const double *re, double *image)
{
    const pcs_pattern *pattern = s->K->pattern;
    double sum = 0.0;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            sum += fabs(s->K->value[p] * re[pattern->row[p]] * re[j]);
    pcs_matrix_multiply(s->M, re, image);
    double mass = pcs_dense_dot(pattern->n, re, image);
    return mass > 0.0 ? 50.0 * DBL_EPSILON * sum / mass : 0.0;
}

static pcs_status modes_find_whirl(search *s)
{
    pcs_eigen_complex r;
    int n = s->system->nv;
    double *image;
    PCS_TAKE(s->on->ctx, image, n, "modes");
    PCS_TRY(modes_add_rigid(s));
    s->problem.C = s->C;
    s->problem.nknown = s->rigid.count;
    s->problem.count = s->options->count; // rigid motions come twice, and are dropped
    PCS_TRY(pcs_eigen_quadratic(s->on->ctx, &s->problem, &r));
    for (int k = 0; k < r.count && s->out->count < s->options->count; k++) {
        const double *re = r.re + (size_t)k * (size_t)n, *im = r.im + (size_t)k * (size_t)n;
        double square = r.w[k] * r.w[k] + r.decay[k] * r.decay[k];
        if (s->rigid.count > 0 && square <= modes_zero(s, re, image)) continue;
        pcs_mode *m = &s->out->modes[s->out->count++];
        *m = (pcs_mode){ .w = r.w[k], .residual = r.residual[k], .name = "", .re = re, .im = im };
        m->damping = fabs(r.decay[k]) > 1e-10 * sqrt(square) ? r.decay[k] / sqrt(square) : 0.0;
        double spin = modes_gyration(s, re, im, image), size = pcs_matrix_abs_bound(s->M, re) * m->w;
        m->kind = PCS_MODE_VIBRATION;
        if (r.w[k] == 0.0) m->kind = r.decay[k] < 0.0 ? PCS_MODE_UNSTABLE : PCS_MODE_DECAY;
        if (m->kind == PCS_MODE_UNSTABLE) m->w = -r.decay[k];
        if (m->kind == PCS_MODE_VIBRATION && fabs(spin) > 1e-9 * size)
            m->kind = spin > 0.0 ? PCS_MODE_FORWARD : PCS_MODE_BACKWARD;
    }
    s->out->shift = r.shift;
    s->out->backend = r.backend;
    s->out->eigen_name = r.eigen_name;
    s->out->nfactor = r.nfactor;
    s->out->nsolve = r.nsolve;
    s->out->is_whirl = true;
    return PCS_OK;
}

// Matrices at the state, and which rows hold.
static pcs_status modes_prepare(search *s)
{
    pcs_system *system = s->system;
    pcs_context *ctx = s->on->ctx;
    double *zero;
    unsigned char *holds;
    PCS_TAKE(ctx, zero, system->nv, "the reference state");
    PCS_TAKE(ctx, holds, system->nrow, "modes");
    s->out->q = s->options->q != NULL ? s->options->q : s->on->start;
    s->out->is_loaded = s->options->q != NULL;
    system->time = s->options->time;
    if (system->mass_varies) system->ops->update_mass(system, s->out->q);
    // The reference state carries no loads, nor the stiffness of those that turn.
    double factor = system->load_factor;
    if (s->options->q == NULL) system->load_factor = 0.0;
    if (system->has_internal) system->ops->commit(system, s->options->time, zero, zero); // a material that has not aged
    if (system->tangents_vary) system->ops->update_tangents(system, s->options->time, s->out->q, zero);
    system->load_factor = factor;
    if (system->directions_vary) system->ops->update_directions(system, s->out->q);
    for (int j = 0; j < system->nrow; j++)
        holds[j] = system->rows[j].is_bilateral || (s->options->held != NULL && s->options->held[j]);
    PCS_TRY(pcs_stiffness_create(system, false, &s->stiff));
    pcs_stiffness_update_K(&s->stiff, s->out->q, s->options->force);
    pcs_stiffness_update_M(&s->stiff);
    s->K = &s->stiff.K;
    s->M = &s->stiff.M;
    s->C = system->has_damping && system->C != NULL ? &s->stiff.C : NULL;
    s->problem = (pcs_eigen_problem){ .K = s->K,
                                      .M = s->M,
                                      .G = system->nrow > 0 ? system->G : NULL,
                                      .holds = holds,
                                      .size = s->stiff.natural.model,
                                      .linear = s->on->linear,
                                      .method = s->options->method };
    return PCS_OK;
}

pcs_status pcs_modes_find(const pcs_analysis *on, const pcs_modes_options *options, pcs_modes *out)
{
    search s = { .on = on, .system = on->system, .options = options, .out = out };
    *out = (pcs_modes){ 0 };
    if (on->system->nv == 0) return pcs_fail(on->ctx, PCS_BAD_INPUT, "nothing can move: every equation is fixed");
    PCS_TRY(modes_prepare(&s));
    PCS_TAKE(on->ctx, out->modes, options->count, "modes");
    // Rigid motions are known about the reference state only.
    if (options->q == NULL) PCS_TRY(pcs_rigid_find(on->system, &s.rigid));
    PCS_TRY(modes_orthonormalise(&s));
    bool is_symmetric = modes_is_symmetric(s.K) && modes_is_symmetric(s.C);
    PCS_TRY((is_symmetric && !options->is_whirl ? modes_find_symmetric : modes_find_whirl)(&s));
    if (out->count > 0) return PCS_OK;
    return pcs_fail(on->ctx, PCS_BAD_INPUT, "nothing that has mass can move: joints and closed contacts hold it");
}
