// Newton's method for one load step.
//
//   [ K    G_h^T ] [  dq  ]   [ f + G^T lam ]
//   [ G_h    0   ] [ -dlam ] = [ -(g - g_s)  ]      h: joints, and contacts with lam_j - c_j g_j > 0
//
// Judged is the correction, by the root of its energy, r . dq, against the strain energy: forces of slender beams round
// off in their axial part, far above the loads that bend them, and yet move nothing. Where there is no strain energy
// the residual is judged, sqrt(sum r_i^2 / K_ii), against the same measure of loads and internal forces. Where only
// contacts can stop a rigid motion, K + mu M gives the direction of that motion, and the step goes as far as the first
// contact, which is then held.

#include "sim/statics_newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-10; // of the correction or the residual, relative
static const double COARSE = 1e-7;     // above it a correction that no longer shrinks is not round-off
static const double FAR = 1e6;         // displacement in units of the model's size that is no answer
static const double DRIFT = 1e-9;      // mu beside the largest K_ii / M_ii
static const double STRIDE = 0.1;      // of a drift, in units of the model's size, where directions vary

enum { MOST_ITERATIONS = 30, ROW_ITERATIONS = 2 };

static double newton_diagonal(const pcs_matrix *A, int i)
{
    int p = A->pattern->start[i];
    while (A->pattern->row[p] != i) p++;
    return A->value[p];
}

static void newton_tangent(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    if (s->ops->update_tangents != NULL) s->ops->update_tangents(s, e->time, q, e->zero);
    pcs_stiffness_update_K(&e->stiff, q, e->lam);
    memcpy(e->A.value, e->stiff.K.value, (size_t)e->A.pattern->nnz * sizeof *e->A.value);
}

// A zero on the diagonal gets the smallest of the others: it has to count, and is compared with nothing.
static void newton_make_scales(pcs_equilibrium *e)
{
    const pcs_system *s = e->system;
    double smallest = INFINITY;
    for (int i = 0; i < s->nv; i++) {
        double k = fabs(newton_diagonal(s->K, i));
        if (k > 0.0) smallest = fmin(smallest, k);
    }
    if (!isfinite(smallest)) smallest = 1.0;
    for (int i = 0; i < s->nv; i++) {
        double k = fabs(newton_diagonal(s->K, i));
        e->scale[i] = 1.0 / sqrt(k > 0.0 ? k : smallest);
    }
}

pcs_status pcs_equilibrium_create(pcs_sim *sim, double time, const double *q, pcs_equilibrium *e)
{
    pcs_system *s = sim->system;
    pcs_context *ctx = sim->ctx;
    *e = (pcs_equilibrium){ .sim = sim, .system = s, .time = time };
    double **vectors[] = { &e->zero, &e->f, &e->idle, &e->dq, &e->scale };
    double **rows[] = { &e->lam, &e->dlam, &e->gap, &e->gap0, &e->target };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], s->nv, "equilibrium");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) PCS_TAKE(ctx, *rows[i], s->nrow, "equilibrium");
    PCS_TAKE(ctx, e->held, s->nrow, "equilibrium");
    PCS_TAKE(ctx, e->kept, s->nrow, "equilibrium");
    e->correction = INFINITY;
    s->time = time;
    s->load_factor = 0.0; // no loads yet, nor the stiffness of those that turn
    if (s->ops->update_mass != NULL) s->ops->update_mass(s, q);
    if (s->ops->update_directions != NULL) s->ops->update_directions(s, q);
    PCS_TRY(pcs_stiffness_create(s, &e->stiff));
    pcs_stiffness_update_M(&e->stiff);
    e->A.pattern = e->stiff.K.pattern;
    PCS_TAKE(ctx, e->A.value, e->A.pattern->nnz, "equilibrium");
    newton_tangent(e, q);
    newton_make_scales(e);
    s->ops->gaps(s, q, e->gap);
    for (int j = 0; j < s->nrow; j++) e->gap0[j] = s->rows[j].is_bilateral ? e->gap[j] : 0.0;
    pcs_linsolve_kind kind = s->is_linear && !s->has_skew_damping ? PCS_SPD : PCS_GENERAL;
    const char *linear = sim->linear == NULL ? "auto" : sim->linear;
    return pcs_bordered_create(ctx, linear, &e->A, kind, s->nrow > 0 ? s->G : NULL, &e->solver);
}

static double newton_norm(const pcs_equilibrium *e, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        double x = e->scale[i] * (b == NULL ? a[i] : a[i] - b[i]);
        sum += x * x;
    }
    return sqrt(sum);
}

// f becomes the residual f + G^T lam, and e->residual its relative size.
static void newton_residual(pcs_equilibrium *e, double load, const double *q)
{
    pcs_system *s = e->system;
    s->load_factor = 0.0;
    s->ops->force(s, e->time, q, e->zero, e->idle);
    s->load_factor = load;
    s->ops->force(s, e->time, q, e->zero, e->f);
    double size = fmax(newton_norm(e, e->f, e->idle), newton_norm(e, e->idle, NULL));
    memcpy(e->idle, e->f, (size_t)s->nv * sizeof *e->f);
    for (int j = 0; j < s->nrow; j++)
        if (e->lam[j] != 0.0) pcs_rows_add_transposed(s->G, j, e->lam[j], e->f);
    size = fmax(size, newton_norm(e, e->f, e->idle));
    double left = newton_norm(e, e->f, NULL);
    e->residual = left == 0.0 ? 0.0 : left / size;
}

// The rows that hold by the sign of lam - c g, c the stiffness that the row meets; *has_changed when they are others.
static void newton_choose_rows(pcs_equilibrium *e, bool *has_changed)
{
    const pcs_system *s = e->system;
    *has_changed = false;
    for (int j = 0; j < s->nrow; j++) {
        double c = 0.0;
        for (int p = s->G->start[j]; p < s->G->start[j + 1]; p++) {
            double root = s->G->value[p] * s->G->value[p] * e->scale[s->G->column[p]] * e->scale[s->G->column[p]];
            c += root;
        }
        bool holds = s->rows[j].is_bilateral || e->kept[j] || (c > 0.0 && c * e->lam[j] - e->gap[j] > 0.0);
        *has_changed = *has_changed || holds != (e->held[j] != 0);
        e->held[j] = holds;
        if (!holds) e->lam[j] = 0.0;
    }
}

// Largest error of the rows that hold, in units of the model's size.
static double newton_row_error(const pcs_equilibrium *e, double load)
{
    double worst = 0.0;
    for (int j = 0; j < e->system->nrow; j++)
        if (e->held[j]) worst = fmax(worst, fabs(e->gap[j] - (1.0 - load) * e->gap0[j]));
    return e->system->length > 0.0 ? worst / e->system->length : worst;
}

static void newton_move(const pcs_equilibrium *e, double part, double *q)
{
    const pcs_system *s = e->system;
    if (part != 1.0)
        for (int i = 0; i < s->nv; i++) e->dq[i] *= part;
    if (s->ops->retract != NULL) {
        s->ops->retract(s, q, e->dq, q);
        return;
    }
    for (int i = 0; i < s->nv; i++) q[i] += e->dq[i];
}

// Solves for dq and dlam with what is factored.
static void newton_solve(pcs_equilibrium *e, double load)
{
    const pcs_system *s = e->system;
    memcpy(e->dq, e->f, (size_t)s->nv * sizeof *e->f);
    for (int j = 0; j < s->nrow; j++) {
        e->target[j] = (1.0 - load) * e->gap0[j];
        e->dlam[j] = e->held[j] ? e->target[j] - e->gap[j] : 0.0;
    }
    pcs_bordered_solve(e->solver, e->dq, e->dlam);
    for (int j = 0; j < s->nrow; j++) e->dlam[j] = -e->dlam[j];
}

static double newton_largest(const pcs_equilibrium *e)
{
    double largest = 0.0;
    for (int i = 0; i < e->system->nv; i++) largest = fmax(largest, fabs(e->dq[i]));
    return largest;
}

// K is singular, and contacts may be what holds the model: drifts as far as the first of them.
static pcs_status newton_drift(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    const pcs_system *s = e->system;
    bool is_singular = false;
    double top = 0.0, part = INFINITY;
    int first = -1;
    for (int i = 0; i < s->nv; i++) {
        double m = newton_diagonal(s->M, i);
        if (m > 0.0) top = fmax(top, fabs(newton_diagonal(s->K, i)) / m);
    }
    pcs_matrix_combine(&e->A, top > 0.0 ? DRIFT * top : 1.0, &e->stiff.M, 0.0, NULL, 1.0, &e->stiff.K);
    PCS_TRY(pcs_bordered_factor(e->solver, e->held, &is_singular));
    *outcome = PCS_STATICS_LOOSE;
    if (is_singular) return PCS_OK;
    newton_solve(e, load);
    for (int j = 0; j < s->nrow; j++) {
        double rate = pcs_rows_dot(s->G, j, e->dq);
        if (s->rows[j].is_bilateral || e->held[j] || !(rate < 0.0)) continue;
        double reach = fmax(e->gap[j], 0.0) / -rate;
        if (reach < part) first = j;
        part = fmin(part, reach);
    }
    if (first < 0) return PCS_OK;
    double stride = s->is_linear ? INFINITY : STRIDE * s->length / newton_largest(e);
    if (part <= stride) e->kept[first] = 1;
    newton_move(e, fmin(part, stride), q);
    *outcome = PCS_STATICS_DONE;
    return PCS_OK;
}

static bool newton_is_wild(const pcs_equilibrium *e, const double *q)
{
    // A linear system answers loads of any size in proportion.
    double far = e->system->is_linear ? INFINITY : FAR * fmax(e->system->length, 1.0);
    for (int i = 0; i < e->system->nv; i++)
        if (!isfinite(q[i]) || fabs(q[i]) > far) return true;
    return !isfinite(e->residual);
}

// Contacts that a free motion ran into are let go once they press.
static void newton_release(pcs_equilibrium *e)
{
    for (int j = 0; j < e->system->nrow; j++)
        if (e->held[j]) e->kept[j] = 0;
}

// Root of the energy of a correction against that of all strains.
static void newton_judge(pcs_equilibrium *e, const double *q)
{
    const pcs_system *s = e->system;
    pcs_measure measure;
    double energy = 0.0;
    s->ops->measure(s, q, e->zero, &measure);
    for (int i = 0; i < s->nv; i++) energy += e->f[i] * e->dq[i];
    for (int j = 0; j < s->nrow; j++)
        if (e->held[j]) energy = fmax(fabs(energy), fabs(e->dlam[j] * (e->gap[j] - e->target[j])));
    e->correction = measure.strain > 0.0 ? sqrt(fabs(energy) / (2.0 * measure.strain)) : INFINITY;
}

// One correction; *is_done when the outcome is other than going on.
static pcs_status newton_correct(pcs_equilibrium *e, double load, double *q, bool rows_changed,
                                 pcs_statics_outcome *outcome, bool *is_done)
{
    const pcs_system *s = e->system;
    bool is_singular = false, can_drift = false, is_solved = false;
    if (!e->is_factored || rows_changed || !s->is_linear) {
        newton_tangent(e, q);
        PCS_TRY(pcs_bordered_factor(e->solver, e->held, &is_singular));
        e->is_factored = !is_singular;
    }
    if (is_singular) e->bad_equation = pcs_bordered_bad_equation(e->solver);
    for (int j = 0; j < s->nrow; j++) can_drift = can_drift || (!s->rows[j].is_bilateral && !e->held[j]);
    if (!is_singular) {
        newton_solve(e, load);
        is_solved = true;
        // Round-off hides that K is singular; the answer does not.
        is_singular = can_drift && newton_largest(e) > (s->is_linear ? 1e8 : 2.0) * s->length;
    }
    if (is_singular && can_drift) {
        e->is_factored = false;
        PCS_TRY(newton_drift(e, load, q, outcome));
        *is_done = *outcome != PCS_STATICS_DONE;
        // It was soft, not loose: a smaller load may do.
        if (*is_done && is_solved && !s->is_linear) *outcome = PCS_STATICS_WILD;
        return PCS_OK;
    }
    *outcome = PCS_STATICS_SINGULAR;
    *is_done = !is_solved;
    if (!is_solved) return PCS_OK;
    newton_judge(e, q);
    newton_move(e, 1.0, q);
    for (int j = 0; j < s->nrow; j++) e->lam[j] += e->dlam[j];
    newton_release(e);
    return PCS_OK;
}

static void newton_evaluate(pcs_equilibrium *e, double load, const double *q, bool *rows_changed)
{
    pcs_system *s = e->system;
    if (s->ops->update_directions != NULL) s->ops->update_directions(s, q);
    s->ops->gaps(s, q, e->gap);
    newton_choose_rows(e, rows_changed);
    newton_residual(e, load, q);
}

// Small, or no longer falling because it is round-off.
static bool newton_is_close(const pcs_equilibrium *e, double last, double last_residual)
{
    if (e->residual <= 1e-14) return true;
    // Where nothing is strained but for round-off only the forces tell.
    if (e->residual <= TOLERANCE && (e->residual >= 0.1 * last_residual || isinf(e->correction))) return true;
    if (e->system->is_linear || isinf(e->correction)) return false;
    return e->correction <= TOLERANCE || (e->correction >= 0.5 * last && e->correction <= COARSE);
}

pcs_status pcs_equilibrium_find(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    double last = 0.0, last_residual = 0.0;
    bool is_done = false, rows_changed;
    // Every contact may open or close once on the way.
    int most = MOST_ITERATIONS + ROW_ITERATIONS * e->system->nrow;
    e->bad_equation = -1;
    e->correction = INFINITY;
    for (e->iterations = 0;; e->iterations++, e->total++) {
        newton_evaluate(e, load, q, &rows_changed);
        *outcome = PCS_STATICS_WILD;
        if (newton_is_wild(e, q)) return PCS_OK;
        *outcome = PCS_STATICS_DONE;
        if (!rows_changed && newton_row_error(e, load) <= 1e-12 && newton_is_close(e, last, last_residual))
            return PCS_OK;
        *outcome = PCS_STATICS_SLOW;
        if (e->iterations == most) return PCS_OK;
        last = e->correction;
        last_residual = e->residual;
        PCS_TRY(newton_correct(e, load, q, rows_changed, outcome, &is_done));
        if (is_done) return PCS_OK;
    }
}
