#include "analysis/modes.h"

#include "analysis/stiffness.h"
#include "core/dense.h"
#include "fe/rigid.h"
#include "output/file.h"
#include "output/frames.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Modes on disk: modes.csv, and one frame per mode, whose time is the number of the mode.

static const double AMPLITUDE = 0.1; // largest displacement of a frame, relative to the model's size

static pcs_status modes_write_table(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    pcs_file *f;
    PCS_TRY(pcs_file_create(on->ctx, directory, sizeof "modes.csv", 1 << 16, &f));
    PCS_TRY(pcs_file_open(f, "modes.csv"));
    pcs_file_text(f, "mode,w,f,damping,residual,kind,name\n");
    for (int k = 0; k < modes->count; k++) {
        const pcs_mode *m = &modes->modes[k];
        const double columns[] = { m->w, pcs_mode_hertz(m), m->damping, m->residual };
        pcs_file_print(f, "%d,", k + 1);
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
            pcs_file_number(f, columns[i]);
            pcs_file_text(f, ",");
        }
        pcs_file_text(f, pcs_mode_kind_text(m->kind));
        pcs_file_column(f, m->name, -1, NULL);
        pcs_file_text(f, "\n");
    }
    return pcs_file_commit(f);
}

// Returns the factor that makes the largest displacement of a shape visible; a pure rotation gets that many radians.
static double modes_factor(const pcs_analysis *on, const pcs_modes *modes, const pcs_mode *m)
{
    pcs_system *system = on->system;
    pcs_picture *picture = system->picture;
    double square = 0.0, entry = 0.0, size = system->length > 0.0 ? system->length : 1.0;
    for (int i = 0; i < system->nv; i++) entry = fmax(entry, fabs(m->re[i]));
    pcs_instant at = modes->at;
    at.v = m->re;
    system->ops->draw(system, at, picture);
    for (int i = 0; i < picture->npoint; i++) {
        const double *u = picture->velocity[i];
        square = fmax(square, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    if (sqrt(square) > 1e-9 * entry * size) return AMPLITUDE * size / sqrt(square);
    return entry > 0.0 ? AMPLITUDE / entry : 0.0;
}

// Sets the state of a frame: the mode's real part as displacement, its imaginary part as velocity.
static void modes_pose(const pcs_analysis *on, const pcs_modes *modes, int k, pcs_state *x)
{
    const pcs_system *system = on->system;
    const pcs_mode *m = &modes->modes[k];
    double factor = modes_factor(on, modes, m);
    for (int i = 0; i < system->nv; i++) x->v[i] = factor * m->re[i];
    pcs_retract(&system->rotations, modes->at.q, x->v, x->q);
    for (int i = 0; i < system->nv; i++) x->v[i] = m->im == NULL ? 0.0 : factor * m->im[i];
    x->t = k + 1;
    x->step = k;
}

static pcs_status modes_write_frames(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    pcs_view view = {
        .title = on->title, .system = on->system, .directory = directory, .nstep = modes->count, .kind = "modes"
    };
    pcs_state x = { 0 };
    pcs_frames_params params = { .every = 1 };
    pcs_observer frames, shown;
    char stem[1024];
    if (on->system->picture == NULL || on->system->picture->npoint == 0 || modes->count == 0) return PCS_OK;
    PCS_TAKE(on->ctx, x.q, on->system->nq, "mode shapes");
    PCS_TAKE(on->ctx, x.v, on->system->nv, "mode shapes");
    PCS_TRY(pcs_observer_create(on->ctx, "frames", &view, &params, &frames));
    PCS_TRY(pcs_observer_create(on->ctx, "view", &view, NULL, &shown));
    snprintf(stem, sizeof stem, "%s_modes", on->case_name);
    view.case_name = pcs_take_text(on->ctx, stem);
    if (view.case_name == NULL) return PCS_NO_MEMORY;
    view.state = &x;
    view.observers = &frames;
    view.nobserver = 1;
    PCS_TRY(shown.ops->open(&shown));
    pcs_status status = PCS_OK;
    view.still = &modes->at;
    for (int k = 0; k < modes->count && status == PCS_OK; k++) {
        modes_pose(on, modes, k, &x);
        status = k == 0 ? frames.ops->open(&frames) : frames.ops->step(&frames);
    }
    pcs_status closing = frames.ops->close(&frames);
    return status == PCS_OK ? closing : status;
}

static pcs_status modes_write_all(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    char *text;
    PCS_TRY(pcs_case_dump(on->input, false, &text));
    PCS_TRY(pcs_file_write(on->ctx, directory, "case.resolved.yaml", text));
    PCS_TRY(modes_write_table(on, modes, directory));
    return modes_write_frames(on, modes, directory);
}

pcs_status pcs_modes_write(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    int lock = -1;
    PCS_TRY(pcs_file_make_folder(on->ctx, directory));
    PCS_TRY(pcs_file_lock_folder(on->ctx, directory, &lock));
    pcs_status status = modes_write_all(on, modes, directory);
    pcs_file_unlock_folder(lock);
    return status;
}

pcs_status pcs_modes_about(const pcs_analysis *on, pcs_statics_options options, double *q, pcs_statics *statics,
                           pcs_modes_options *out)
{
    options.path = PCS_PATH_LOAD;
    options.has_friction = false;
    options.may_be_unstable = true;
    PCS_TRY(pcs_statics_solve(on, &options, q, NULL, NULL, statics));
    out->q = q;
    out->held = statics->held;
    out->force = statics->force;
    out->load_factor = statics->factor;
    return PCS_OK;
}

static const double ROUND_OFF = 1000.0; // in units of DBL_EPSILON: force of a rigid motion over its terms
static const double SAME = 1e-4;        // part of a motion outside of others that counts as round-off

typedef struct search {
    const pcs_analysis *on;
    pcs_system *system;
    const pcs_modes_options *options;
    pcs_stiffness stiff;
    const pcs_matrix *K, *M, *C; // matrices of the system; C is NULL without damping
    pcs_rigid rigid;             // rigid motions, M-orthonormal
    double *shape;               // [rigid.count x nv] rigid motions as they are named, of modal mass 1
    pcs_eigen_problem problem;
    pcs_modes *out;
} search;

const char *pcs_mode_kind_text(pcs_mode_kind kind)
{
    static const char *const texts[] = { "rigid",     "mechanism", "unstable", "unstable",
                                         "vibration", "forward",   "backward", "decay" };
    return texts[kind];
}

double pcs_mode_hertz(const pcs_mode *mode)
{
    bool vibrates = mode->kind != PCS_MODE_DIVERGENCE && mode->kind != PCS_MODE_DECAY;
    return vibrates ? mode->w / 6.28318530717958647693 : 0.0;
}

static double modes_mass(const search *s, const double *x, double *image)
{
    pcs_matrix_multiply(s->M, x, image);
    return pcs_dense_dot(s->system->nv, x, image);
}

// Makes the rigid motions M-orthonormal. Keeps them as they are named, of modal mass 1, in `shape` for output: an
// orthogonal one also moves parts that its name does not mention.
static pcs_status modes_orthonormalise(search *s)
{
    int n = s->system->nv;
    double *image;
    PCS_TAKE(s->on->ctx, image, n, "rigid modes");
    PCS_TAKE(s->on->ctx, s->shape, (size_t)s->rigid.count * (size_t)n, "rigid modes");
    for (int k = 0; k < s->rigid.count; k++) {
        double *x = s->rigid.vector + (size_t)k * (size_t)n, *shape = s->shape + (size_t)k * (size_t)n;
        double size = sqrt(modes_mass(s, x, image));
        if (!(size > 0.0)) return pcs_fail(s->on->ctx, PCS_FAILED, "the model has no mass in its %s", s->rigid.name[k]);
        for (int i = 0; i < n; i++) shape[i] = x[i] / size;
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

static void modes_add_rigid(search *s)
{
    int n = s->system->nv;
    for (int k = 0; k < s->rigid.count && s->out->count < s->options->count; k++)
        s->out->modes[s->out->count++] =
            (pcs_mode){ .kind = PCS_MODE_RIGID, .name = s->rigid.name[k], .re = s->shape + (size_t)k * (size_t)n };
}

// Returns the text "most at" with the name of the equation whose entry of x is largest, NULL if out of memory.
static const char *modes_place(search *s, const double *x)
{
    char text[256];
    int best = 0;
    for (int i = 1; i < s->system->nv; i++)
        if (fabs(x[i]) > fabs(x[best])) best = i;
    memcpy(text, "most at ", 9);
    s->system->ops->describe(s->system, best, NULL, NULL, sizeof text - 8, text + 8);
    return pcs_take_text(s->on->ctx, text);
}

// Labels a mode by its rate of growth or decay, "flutter at 3.82 1/s".
static pcs_status modes_name_rate(search *s, pcs_mode *m, double rate)
{
    static const char *const what[] = {
        [PCS_MODE_DIVERGENCE] = "divergence ", [PCS_MODE_FLUTTER] = "flutter ", [PCS_MODE_DECAY] = ""
    };
    char text[64];
    snprintf(text, sizeof text, "%sat %.9g 1/s", what[m->kind], rate);
    m->name = pcs_take_text(s->on->ctx, text);
    return m->name == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// Sets the modal damping ratio. A vibration with a ratio that is negative beyond round-off becomes flutter.
static pcs_status modes_add_damping(search *s, pcs_mode *m, double *image)
{
    int n = s->system->nv;
    double size = 0.0;
    pcs_matrix_multiply(s->C, m->re, image);
    double product = pcs_dense_dot(n, m->re, image);
    for (int i = 0; i < n; i++) size += fabs(m->re[i]);
    m->damping = product / (2.0 * m->w);
    double round_off = ROUND_OFF * DBL_EPSILON * size * pcs_matrix_abs_bound(s->C, m->re);
    if (m->kind != PCS_MODE_VIBRATION || !(product < -round_off)) return PCS_OK;
    m->kind = PCS_MODE_FLUTTER;
    return modes_name_rate(s, m, -0.5 * product);
}

static pcs_status modes_find_symmetric(search *s)
{
    pcs_eigen_result r;
    int n = s->system->nv;
    double *image;
    PCS_TAKE(s->on->ctx, image, n, "modes");
    modes_add_rigid(s);
    s->problem.nknown = s->rigid.count;
    s->problem.known = s->rigid.vector;
    s->problem.count = s->options->count - s->out->count;
    PCS_TRY(pcs_eigen_symmetric(s->on->ctx, &s->problem, &r));
    for (int k = 0; k < r.count; k++) {
        const double *phi = r.vector + (size_t)k * (size_t)n;
        pcs_mode *m = &s->out->modes[s->out->count++];
        *m = (pcs_mode){ .w = sqrt(fabs(r.lambda[k])), .residual = r.residual[k], .name = "", .re = phi };
        m->kind = r.lambda[k] < 0.0 ? PCS_MODE_DIVERGENCE : PCS_MODE_VIBRATION;
        if (m->kind == PCS_MODE_DIVERGENCE) PCS_TRY(modes_name_rate(s, m, m->w));
        if (fabs(r.lambda[k]) <= r.zero[k]) {
            m->kind = PCS_MODE_MECHANISM;
            m->w = 0.0;
            m->name = modes_place(s, phi);
            if (m->name == NULL) return PCS_NO_MEMORY;
        }
        if (s->C != NULL && m->w > 0.0) PCS_TRY(modes_add_damping(s, m, image));
    }
    return PCS_OK;
}

// Returns phi^H (i C) phi: with w^2 m = k + w g, gyroscopic forces raise w where g > 0.
static double modes_gyration(search *s, const double *re, const double *im, double *image)
{
    int n = s->system->nv;
    if (s->C == NULL) return 0.0;
    pcs_matrix_multiply(s->C, im, image);
    double sum = -pcs_dense_dot(n, re, image);
    pcs_matrix_multiply(s->C, re, image);
    return sum + pcs_dense_dot(n, im, image);
}

// Adds a motion without force as a mechanism unless it depends on those before. A double root s = 0 comes as two roots
// that round-off has moved apart, or as a pair, with the same vector; `mass` is that of the complete vector.
static pcs_status modes_add_mechanism(search *s, const double *x, double mass, double residual)
{
    enum { PASSES = 2 };
    int n = s->system->nv;
    double *phi, *image, square = 0.0;
    PCS_TAKE(s->on->ctx, phi, n, "modes");
    PCS_TAKE(s->on->ctx, image, n, "modes");
    memcpy(phi, x, (size_t)n * sizeof *phi);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int k = 0; k < s->out->count; k++) {
            const double *other = k < s->rigid.count ? s->rigid.vector + (size_t)k * (size_t)n : s->out->modes[k].re;
            pcs_matrix_multiply(s->M, phi, image);
            double along = pcs_dense_dot(n, other, image);
            for (int i = 0; i < n; i++) phi[i] -= along * other[i];
        }
        square = modes_mass(s, phi, image);
    }
    if (!(square > SAME * SAME * mass) || s->out->count == s->options->count) return PCS_OK;
    for (int i = 0; i < n; i++) phi[i] /= sqrt(square);
    const char *name = modes_place(s, phi);
    if (name == NULL) return PCS_NO_MEMORY;
    s->out->modes[s->out->count++] =
        (pcs_mode){ .kind = PCS_MODE_MECHANISM, .name = name, .re = phi, .residual = residual };
    return PCS_OK;
}

// Bounds the error of s^2, 1/s^2, by the relative residual of the mode; INFINITY for a mode without mass.
static double modes_square_error(search *s, const pcs_mode *m, double *image)
{
    double sum = 0.0, mass = modes_mass(s, m->re, image) + modes_mass(s, m->im, image);
    for (int i = 0; i < s->system->nv; i++) sum += hypot(m->re[i], m->im[i]);
    double force = pcs_matrix_abs_bound(s->K, m->re) + pcs_matrix_abs_bound(s->K, m->im);
    return mass > 0.0 ? m->residual * force * sum / mass : INFINITY;
}

static pcs_status modes_add_whirl(search *s, const pcs_eigen_complex *r, int k, double *image)
{
    int n = s->system->nv;
    const double *re = r->re + (size_t)k * (size_t)n, *im = r->im + (size_t)k * (size_t)n;
    double size = hypot(r->w[k], r->decay[k]);
    pcs_mode *m = &s->out->modes[s->out->count++];
    *m = (pcs_mode){ .w = r->w[k], .residual = r->residual[k], .name = "", .re = re, .im = im };
    m->damping = fabs(r->decay[k]) > 1e-10 * size ? r->decay[k] / size : 0.0;
    m->kind = PCS_MODE_VIBRATION;
    if (r->w[k] == 0.0) {
        m->kind = r->decay[k] < 0.0 ? PCS_MODE_DIVERGENCE : PCS_MODE_DECAY;
        m->w = fabs(r->decay[k]);
        return modes_name_rate(s, m, m->w);
    }
    if (m->damping < 0.0 && -2.0 * r->decay[k] * size > r->zero[k] + modes_square_error(s, m, image)) {
        m->kind = PCS_MODE_FLUTTER;
        return modes_name_rate(s, m, -r->decay[k]);
    }
    double spin = modes_gyration(s, re, im, image);
    if (fabs(spin) > 1e-9 * pcs_matrix_abs_bound(s->M, re) * m->w)
        m->kind = spin > 0.0 ? PCS_MODE_FORWARD : PCS_MODE_BACKWARD;
    return PCS_OK;
}

static bool modes_is_zero(const pcs_eigen_complex *r, int k)
{
    return r->w[k] * r->w[k] + r->decay[k] * r->decay[k] <= r->zero[k];
}

// Adds motions without restoring force by K phi = lambda M phi if K is symmetric. In the quadratic problem they are
// double roots s = 0, whose vectors need not span all of them, and an iteration for some of many may not converge.
static pcs_status modes_add_mechanisms(search *s)
{
    pcs_eigen_problem problem = s->problem;
    pcs_eigen_result found = { 0 };
    int left = s->options->count - s->out->count;
    if (left == 0 || !pcs_stiffness_is_symmetric(s->K)) return PCS_OK;
    problem.known = s->rigid.vector;
    for (problem.count = 1;; problem.count = left) { // one motion shows whether there are any
        pcs_status status = pcs_eigen_symmetric(s->on->ctx, &problem, &found);
        if (status == PCS_FAILED) return PCS_OK; // an optional part of the quadratic problem
        PCS_TRY(status);
        if (found.count == 0 || found.lambda[0] > found.zero[0]) return PCS_OK;
        if (problem.count == left) break;
    }
    for (int k = 0; k < found.count; k++)
        if (fabs(found.lambda[k]) <= found.zero[k])
            PCS_TRY(modes_add_mechanism(s, found.vector + (size_t)k * (size_t)s->system->nv, 1.0, found.residual[k]));
    return PCS_OK;
}

static pcs_status modes_find_whirl(search *s)
{
    pcs_eigen_complex r;
    size_t n = (size_t)s->system->nv;
    double *image;
    PCS_TAKE(s->on->ctx, image, n, "modes");
    modes_add_rigid(s);
    s->out->is_whirl = true;
    s->problem.nknown = s->rigid.count;
    PCS_TRY(modes_add_mechanisms(s));
    if (s->out->count == s->options->count) return PCS_OK;
    s->problem.C = s->C;
    s->problem.count = s->options->count; // motions without force come twice and are reported once
    PCS_TRY(pcs_eigen_quadratic(s->on->ctx, &s->problem, &r));
    for (int k = 0; k < r.count; k++) {
        const double *re = r.re + (size_t)k * n, *im = r.im + (size_t)k * n;
        if (!modes_is_zero(&r, k)) continue;
        double mass = modes_mass(s, re, image) + modes_mass(s, im, image);
        PCS_TRY(modes_add_mechanism(s, re, mass, r.residual[k]));
        PCS_TRY(modes_add_mechanism(s, im, mass, r.residual[k]));
    }
    for (int k = 0; k < r.count && s->out->count < s->options->count; k++)
        if (!modes_is_zero(&r, k)) PCS_TRY(modes_add_whirl(s, &r, k, image));
    return PCS_OK;
}

// Evaluates the matrices at the state and finds the rows that hold.
static pcs_status modes_prepare(search *s)
{
    pcs_system *system = s->system;
    pcs_context *ctx = s->on->ctx;
    double *zero;
    unsigned char *holds;
    PCS_TAKE(ctx, zero, system->nv, "the reference state");
    PCS_TAKE(ctx, holds, system->nrow, "modes");
    bool is_loaded = s->options->q != NULL;
    s->out->at = pcs_at_rest(s->options->time, is_loaded ? s->options->q : s->on->start, zero, s->options->load_factor);
    s->out->at.is_equilibrium = is_loaded;
    if (system->mass_varies) system->ops->update(system, s->out->at, PCS_MASS, NULL);
    if (pcs_system_remembers(system))
        system->ops->commit(system, pcs_at(s->options->time, zero, zero)); // materials that have not aged
    if (system->tangents_vary) system->ops->update(system, s->out->at, PCS_TANGENTS, NULL);
    if (system->row_set.vary) pcs_system_aim(system, s->out->at);
    for (int j = 0; j < system->nrow; j++)
        holds[j] = system->rows[j].is_bilateral || (s->options->held != NULL && s->options->held[j]);
    PCS_TRY(pcs_stiffness_create(system, false, &s->stiff));
    pcs_stiffness_update_K(&s->stiff, s->out->at, s->options->force);
    pcs_stiffness_update_M(&s->stiff);
    s->K = &s->stiff.K;
    s->M = &s->stiff.M;
    s->C = pcs_system_is_damped(system) && system->C != NULL ? &s->stiff.C : NULL;
    s->problem = (pcs_eigen_problem){ .K = s->K,
                                      .M = s->M,
                                      .G = system->nrow > 0 ? system->G : NULL,
                                      .holds = holds,
                                      .size = s->system->scale.model,
                                      .blur = pcs_stiffness_blur(&s->stiff, s->M, s->options->force),
                                      .linear = s->on->linear,
                                      .method = s->options->method };
    return PCS_OK;
}

// Returns true if the rows of closed contacts and joints allow the motion x.
static bool modes_is_let_pass(const search *s, const double *x)
{
    double fastest = pcs_stride(s->system, x);
    for (int j = 0; j < s->system->nrow; j++)
        if (s->problem.holds[j] && fabs(pcs_row_rate(s->system, s->system->G, j, x, fastest)) > PCS_NO_RATE)
            return false;
    return true;
}

// Sets *is_free if joint forces, which rotate with the model, do not resist the motion x either, up to their error.
static pcs_status modes_is_free(const search *s, const double *x, bool *is_free)
{
    const pcs_matrix *K = s->K;
    int n = s->system->nv;
    double *force, *size, most = 0.0;
    *is_free = true;
    if (!s->stiff.varies) return PCS_OK;
    PCS_TAKE(s->on->ctx, force, n, "rigid modes");
    PCS_TAKE(s->on->ctx, size, n, "rigid modes");
    pcs_matrix_multiply(K, x, force);
    for (int j = 0; j < n; j++) {
        most = fmax(most, fabs(pcs_matrix_diagonal(s->M, j) * x[j]));
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            size[K->pattern->row[p]] += fabs(K->value[p] * x[j]);
    }
    for (int i = 0; i < n; i++)
        if (fabs(force[i]) > ROUND_OFF * DBL_EPSILON * size[i] + s->problem.blur * most) *is_free = false;
    return PCS_OK;
}

// Keeps the rigid motions that held rows and joint forces allow. Those of a linear model are the same at any state.
static pcs_status modes_find_rigid(search *s)
{
    const pcs_system *system = s->system;
    size_t n = (size_t)system->nv;
    int count = 0;
    PCS_TRY(pcs_rigid_find(system, system->is_linear ? NULL : s->options->q, &s->rigid));
    for (int k = 0; k < s->rigid.count; k++) {
        const double *x = s->rigid.vector + (size_t)k * n;
        bool is_free;
        if (!modes_is_let_pass(s, x)) continue;
        PCS_TRY(modes_is_free(s, x, &is_free));
        if (!is_free) continue;
        memmove(s->rigid.vector + (size_t)count * n, x, n * sizeof *x);
        memmove(s->rigid.name[count++], s->rigid.name[k], sizeof s->rigid.name[k]);
    }
    s->rigid.count = count;
    return PCS_OK;
}

pcs_status pcs_modes_find(const pcs_analysis *on, const pcs_modes_options *options, pcs_modes *out)
{
    search s = { .on = on, .system = on->system, .options = options, .out = out };
    *out = (pcs_modes){ 0 };
    if (on->system->nv == 0) return pcs_fail(on->ctx, PCS_BAD_INPUT, "nothing can move: every equation is fixed");
    PCS_TRY(modes_prepare(&s));
    PCS_TAKE(on->ctx, out->modes, options->count, "modes");
    PCS_TRY(modes_find_rigid(&s));
    PCS_TRY(modes_orthonormalise(&s));
    bool is_symmetric = pcs_stiffness_is_symmetric(s.K) && pcs_stiffness_is_symmetric(s.C);
    PCS_TRY((is_symmetric && !options->is_whirl ? modes_find_symmetric : modes_find_whirl)(&s));
    if (out->count > 0) return PCS_OK;
    return pcs_fail(on->ctx, PCS_BAD_INPUT, "nothing that has mass can move: joints and closed contacts hold it");
}
