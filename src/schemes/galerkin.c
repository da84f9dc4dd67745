// Time-discontinuous Galerkin schemes D- (tdg_minus) and D+ (tdg_plus) of degree M on Clenshaw-Curtis points,
// contact on acceleration level.
// Schindler, Acary: Timestepping schemes for nonsmooth dynamics based on discontinuous Galerkin methods: definition and
// outlook, Mathematics and Computers in Simulation 95 (2014).
//
// Points tau_l = (1 - cos(l pi/M))/2, l = 0..M; l_k the Lagrange polynomials on all of them, b_kl = int_0^tau_l l_k and
// b_k = b_kM. With the accelerations A_k of the points and the velocity dp = M^-1 G^T p of an impulse,
//   V_l = v + h sum_k w_lk A_k + p_l dp
//   Q_l = q + h sum_k b_kl V_k
//   A_k = M(Q_k)^-1 (f(t + tau_k h, Q_k, V_k) + G^T la_k)
//   q' = Q_M,   v' = v + h sum_k b_k A_k + dp
// D- takes the acceleration as a polynomial on the points 0..M-1 with integrals b-_k:
//   w_lk = b-_k(tau_l) (w_lM = 0),   p_l = 0
// With M = 1 it is the forecasting trapezoidal rule, half_explicit_acceleration (Schindler, Rezaei, Kursawe, Acary:
// Half-explicit timestepping schemes on velocity level based on time-discontinuous Galerkin methods, CMAME 290 (2015),
// sec. 3):
//   V_1 = v + h A_0,   q' = q + (h/2) (v + V_1),   v' = v + (h/2) (A_0 + A_1) + dp
// D+ on the points 1..M with polynomials l+_k and integrals b+_k:
//   w_lk = b_0 ([k = 0] - l+_k(0)) + b+_k(tau_l),   p_l = (b+_M(tau_l) - l+_M(0) b_0)/b_M
// The velocity of the state is the one before an impulse of the next interval. With M = 1 it is the contemplating
// trapezoidal rule:
//   V_0 = v + (h/2) (A_0 - A_1) - dp,   V_1 = v' = v + (h/2) (A_0 + A_1) + dp,   q' = q + h v + (h^2/2) A_0
//
// Forces la_k act on contacts closed at the start of the step that are closed and not separating at the point, or that
// have a force at the start: the rate of a point is off by the error of a step where G turns. If a contact has closed
// over the step there is an impact on all closed contacts, the forces dropped from v':
//   v- = v + h sum_k b_k M^-1 f_k,   v' = v- + dp,   0 <= G v' + e G v- _|_ p >= 0
// The gap velocity of a lasting contact is not constrained, so it drifts. No friction.

#include "core/rounding.h"
#include "schemes/explicit.h"
#include "step/projection.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_POINTS = PCS_MAX_STAGES, MOST_DEGREE = MOST_POINTS - 1 };

typedef struct galerkin_weights {
    int M;
    bool is_plus;
    pcs_tableau t;               // w_lk, b_k, tau_l; places b_kl
    double impulse[MOST_POINTS]; // [l] p_l
} galerkin_weights;

// Activities that change for longer than this go back and forth; the set of the start is held then.
enum { FREEZE_AFTER = 10, ITERATIONS = 200, IMPACT_ROUNDS = 60 };

typedef struct galerkin_params {
    int degree;
    double gap_tolerance;
} galerkin_params;

typedef struct galerkin {
    pcs_explicit base;
    galerkin_weights w;
    double *la[MOST_POINTS];   // [nrow] contact forces of the points, N
    double *jump, *last;       // [nv] dp, and dp of the iteration before
    double *place;             // [nv] position at which the impact is solved
    unsigned char *is_lasting; // [nrow] closed and not separating at the start
} galerkin;

static const pcs_option galerkin_options[] = {
    PCS_COUNT("degree", galerkin_params, degree, PCS_DEFAULT("1"), PCS_WITHIN(1.0, MOST_DEGREE),
              "of the velocity polynomial; 1 is explicit"),
    PCS_REAL("gap_tolerance", galerkin_params, gap_tolerance, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "a gap up to this is closed, m: above the error of a step, lasting contacts on curved paths stay so"),
    { 0 },
};

extern const pcs_scheme_ops pcs_scheme_tdg_plus;

// Computes the coefficients of the Lagrange polynomial of point k among points first..last, ascending powers.
static void galerkin_lagrange(const double *tau, int first, int last, int k, double *c)
{
    int degree = 0;
    c[0] = 1.0;
    for (int j = first; j <= last; j++) {
        if (j == k) continue;
        double scale = 1.0 / (tau[k] - tau[j]);
        c[degree + 1] = 0.0;
        for (int i = ++degree; i >= 0; i--) c[i] = scale * ((i > 0 ? c[i - 1] : 0.0) - tau[j] * c[i]);
    }
}

// Returns the integral from 0 to x of the polynomial of the given degree.
static double galerkin_integral(const double *c, int degree, double x)
{
    double sum = 0.0;
    for (int i = degree; i >= 0; i--) sum = (sum + c[i] / (i + 1)) * x;
    return sum;
}

// Computes the weights of a degree.
static void galerkin_fill(int degree, bool is_plus, galerkin_weights *out)
{
    const double pi = 3.14159265358979323846;
    double c[MOST_POINTS + 1], *tau = out->t.c; // c[0]: coefficient of degree 0
    *out = (galerkin_weights){ .M = degree, .is_plus = is_plus, .t = { .s = degree + 1, .has_places = true } };
    for (int l = 0; l <= degree; l++) tau[l] = 0.5 * (1.0 - cos(l * pi / degree));
    for (int k = 0; k <= degree; k++) {
        galerkin_lagrange(tau, 0, degree, k, c);
        for (int l = 0; l <= degree; l++) out->t.p[l][k] = galerkin_integral(c, degree, tau[l]);
    }
    memcpy(out->t.b, out->t.p[degree], sizeof out->t.b);
    int first = is_plus ? 1 : 0;
    double shift = is_plus ? out->t.b[0] : 0.0;
    for (int l = 0; l <= degree; l++) out->t.a[l][0] = shift;
    for (int k = first; k < first + degree; k++) {
        galerkin_lagrange(tau, first, first + degree - 1, k, c);
        for (int l = 0; l <= degree; l++) out->t.a[l][k] = galerkin_integral(c, degree - 1, tau[l]) - shift * c[0];
    }
    for (int l = 0; l <= degree; l++) out->impulse[l] = is_plus ? out->t.a[l][degree] / out->t.b[degree] : 0.0;
}

static pcs_status galerkin_setup(pcs_scheme *self)
{
    galerkin *s = self->data;
    const galerkin_params *params = self->params;
    int n = self->system->nv, nrow = self->system->nrow;
    int degree = params->degree > 0 ? params->degree : 1; // half_explicit_acceleration has no option `degree`
    bool is_plus = self->ops == &pcs_scheme_tdg_plus;
    PCS_TRY(pcs_explicit_setup(self));
    s->base.has_forces = true;
    s->base.next.gap_tolerance = params->gap_tolerance; // not an option of half_explicit_acceleration
    galerkin_fill(degree, is_plus, &s->w);
    if (degree == 1 && !is_plus) self->rule.kind = PCS_RULE_HEUN;
    PCS_TRY(pcs_explicit_take_stages(self, &s->w.t));
    for (int k = 0; k <= degree; k++) PCS_TAKE(self->ctx, s->la[k], nrow, "the stage forces");
    PCS_TAKE_EACH(self->ctx, n, "the stages", double, &s->jump, &s->last, &s->place);
    PCS_TAKE(self->ctx, s->is_lasting, nrow, "the stage contacts");
    return PCS_OK;
}

// Computes V_l and Q_l of all points; with D- the first are v and q.
static void galerkin_place(galerkin *s, const pcs_state *x, int n, double h)
{
    int M = s->w.M, first = s->w.is_plus ? 0 : 1;
    for (int l = first; l <= M; l++) {
        pcs_stages_add((pcs_stages){ n, M + 1, s->w.t.a[l], s->base.full }, h, x->v, s->base.v[l]);
        if (s->w.impulse[l] != 0.0)
            for (int i = 0; i < n; i++) s->base.v[l][i] += s->w.impulse[l] * s->jump[i];
    }
    for (int l = first; l <= M; l++)
        pcs_stages_add((pcs_stages){ n, M + 1, s->w.t.p[l], s->base.v }, h, x->q, s->base.q[l]);
}

// Computes A_k at (Q_k, V_k), with the contacts active there, or those of the start if the activity is frozen.
static pcs_outcome galerkin_accelerate(pcs_scheme *self, const pcs_state *x, double h, int k, bool is_frozen,
                                       pcs_step_report *report)
{
    galerkin *s = self->data;
    pcs_next *next = &s->base.next;
    int nrow = self->system->nrow;
    if (!pcs_explicit_free(self, &s->base, x->t + s->w.t.c[k] * h, k)) return PCS_SINGULAR;
    if (is_frozen) {
        memcpy(next->gate, s->is_lasting, (size_t)nrow);
    } else {
        (void)pcs_next_find_closed(self, &s->base.next, NULL, 0.0, s->base.q[k], next->gate);
        for (int j = 0; j < nrow; j++)
            next->gate[j] = (next->gate[j] || s->base.is_pressed[j]) && s->base.was_closed[j];
        pcs_explicit_release(self, &s->base, x, s->base.v[k], s->base.free[k], h);
    }
    return pcs_explicit_accelerate(self, &s->base, k, s->la[k], report);
}

// Updates the largest change of h A_k against `last`, and the largest velocity, m/s.
static void galerkin_compare(const galerkin *s, int n, int k, double h, double *change, double *size)
{
    for (int i = 0; i < n; i++) {
        double off = h * fabs(s->base.full[k][i] - s->last[i]);
        *change = pcs_larger(*change, off);
        *size = fmax(*size, fmax(fabs(s->base.v[k][i]), h * fabs(s->base.full[k][i])));
    }
}

// Sets the initial guess of all accelerations to that of the start; with D- it is final at the first point.
static pcs_outcome galerkin_begin(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    galerkin *s = self->data;
    size_t bytes = (size_t)self->system->nv * sizeof(double);
    memcpy(s->base.q[0], x->q, bytes);
    memcpy(s->base.v[0], x->v, bytes);
    (void)pcs_next_find_closed(self, &s->base.next, NULL, 0.0, x->q, s->base.was_closed);
    memcpy(s->base.is_pressed, x->was_loaded, (size_t)self->system->nrow);
    pcs_outcome outcome = galerkin_accelerate(self, x, h, 0, false, report);
    memcpy(s->is_lasting, s->base.next.gate, (size_t)self->system->nrow);
    for (int j = 0; j < self->system->nrow; j++) s->base.is_pressed[j] = s->la[0][j] > 0.0;
    for (int k = 1; k <= s->w.M; k++) memcpy(s->base.full[k], s->base.full[0], bytes);
    return outcome;
}

// Iterates on the accelerations (fixed point). With D- the first is known and the last acts on no other: for M = 1
// there is nothing to iterate.
static pcs_outcome galerkin_iterate(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    galerkin *s = self->data;
    int n = self->system->nv, M = s->w.M, first = s->w.is_plus ? 0 : 1;
    double smallest = INFINITY;
    int stalled = 0;
    for (int round = 0; round < ITERATIONS; round++) {
        double change = 0.0, size = 0.0;
        galerkin_place(s, x, n, h);
        for (int k = first; k <= M; k++) {
            memcpy(s->last, s->base.full[k], (size_t)n * sizeof(double));
            pcs_outcome outcome = galerkin_accelerate(self, x, h, k, round > FREEZE_AFTER, report);
            if (outcome != PCS_CONVERGED) return outcome;
            if (k < M || s->w.is_plus) galerkin_compare(s, n, k, h, &change, &size);
        }
        change = pcs_system_max(self->system, change);
        size = pcs_system_max(self->system, size);
        if (!isfinite(change)) return PCS_CONVERGED; // the measure of the next state reports it
        // Round-off of stiff forces stays in every iteration: a small change that no longer falls also ends it.
        stalled = change < 0.9 * smallest ? 0 : stalled + 1;
        smallest = fmin(smallest, change);
        if (change <= 1e-14 * size || (change <= 1e-9 * size && stalled >= 3)) return PCS_CONVERGED;
    }
    return PCS_NOT_CONVERGED;
}

// Iterates motion and impulse of D+ in turn until neither changes: an impulse changes the velocities of the points.
static pcs_outcome galerkin_settle(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    galerkin *s = self->data;
    pcs_next *next = &s->base.next;
    int n = self->system->nv;
    size_t bytes = (size_t)n * sizeof(double);
    memcpy(s->place, next->q, bytes);
    for (int round = 0; round < IMPACT_ROUNDS; round++) {
        double change = 0.0, size = 0.0;
        memcpy(s->last, s->jump, bytes);
        memset(s->jump, 0, bytes);
        pcs_projection_push(self->solver, 1.0, next->la, next->la_t, s->jump);
        for (int i = 0; i < n; i++) {
            change = fmax(change, fabs(s->jump[i] - s->last[i]));
            size = fmax(size, fabs(s->jump[i]));
        }
        if (pcs_system_max(self->system, change) <= 1e-11 * pcs_system_max(self->system, size)) return PCS_CONVERGED;
        pcs_outcome outcome = galerkin_iterate(self, x, h, report);
        memcpy(next->q, s->base.q[s->w.M], bytes);
        if (outcome == PCS_CONVERGED) outcome = pcs_explicit_hit(self, x, h, s->place, report);
        if (outcome != PCS_CONVERGED) return outcome;
    }
    return PCS_NOT_CONVERGED;
}

// Ends the step by its sums over the points, and by the impact, if there is one.
static pcs_outcome galerkin_end(pcs_scheme *self, const pcs_state *x, double h, bool *is_impact,
                                pcs_step_report *report)
{
    galerkin *s = self->data;
    pcs_next *next = &s->base.next;
    int n = self->system->nv, M = s->w.M;
    pcs_explicit_clear(self, &s->base);
    for (int k = 0; k <= M; k++) pcs_explicit_add_stage(self, &s->base, k, h * s->w.t.b[k], s->la[k]);
    pcs_stages_add((pcs_stages){ n, M + 1, s->w.t.b, s->base.full }, h, x->v, next->v);
    memcpy(next->q, s->base.q[M], (size_t)n * sizeof(double));
    pcs_outcome outcome = pcs_explicit_end(self, x, h, is_impact, report);
    if (*is_impact && s->w.is_plus && outcome == PCS_CONVERGED) outcome = galerkin_settle(self, x, h, report);
    pcs_system_gaps(self->system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    return outcome;
}

static pcs_status galerkin_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    galerkin *s = self->data;
    int M = s->w.M;
    bool is_impact = false;
    PCS_TRY(pcs_explicit_begin(self, x, h, report));
    memset(s->jump, 0, (size_t)self->system->nv * sizeof(double));
    report->outcome = galerkin_begin(self, x, h, report);
    if (report->outcome == PCS_CONVERGED) report->outcome = galerkin_iterate(self, x, h, report);
    if (report->outcome == PCS_CONVERGED) report->outcome = galerkin_end(self, x, h, &is_impact, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &s->base.next, report)) return PCS_OK;
    pcs_explicit_report_rows(self, &s->base, x, h, is_impact, report);
    for (int j = 0; j < (is_impact ? 0 : self->system->nrow); j++) report->rows[j].force = s->la[M][j];
    // For degree 1 the weights of the points are the trapezoidal rule.
    pcs_explicit_weigh(self, x, M > 1, report);
    pcs_next_accept(self, &s->base.next, x, report);
    for (int j = 0; j < self->system->nrow; j++)
        x->was_loaded[j] = !is_impact && s->base.is_pressed[j] && s->la[M][j] > 0.0;
    return PCS_OK;
}

static double galerkin_stable_minus(const void *params, double w, double xi, double spin)
{
    galerkin_weights weights;
    galerkin_fill(((const galerkin_params *)params)->degree, false, &weights);
    return pcs_tableau_stable_step(&weights.t, w, xi, spin);
}

static double galerkin_stable_plus(const void *params, double w, double xi, double spin)
{
    galerkin_weights weights;
    galerkin_fill(((const galerkin_params *)params)->degree, true, &weights);
    return pcs_tableau_stable_step(&weights.t, w, xi, spin);
}

#define GALERKIN_COMMON                                                    \
    .params_size = sizeof(galerkin_params), .data_size = sizeof(galerkin), \
    .rule = { .move = NAN,                                                 \
              .rate = PCS_RATE_BEFORE,                                     \
              .impact = PCS_IMPACT_WHEN_CLOSING,                           \
              .level = PCS_LEVEL_ACCELERATION },                           \
    .refuses = pcs_refuse_accelerations, .setup = galerkin_setup, .start = pcs_explicit_start, .step = galerkin_step

const pcs_scheme_ops pcs_scheme_tdg_minus = {
    .name = "tdg_minus",
    .summary = "time-discontinuous Galerkin D- of any degree, contact on acceleration level; no friction",
    .options = galerkin_options,
    .stable_step = galerkin_stable_minus,
    .takes = PCS_TAKES_DISTRIBUTED_ROWS,
    GALERKIN_COMMON,
};

const pcs_scheme_ops pcs_scheme_tdg_plus = {
    .name = "tdg_plus",
    .summary = "time-discontinuous Galerkin D+ of any degree, contact on acceleration level; no friction",
    .options = galerkin_options,
    .stable_step = galerkin_stable_plus,
    .takes = PCS_TAKES_DISTRIBUTED_ROWS,
    GALERKIN_COMMON,
};

const pcs_scheme_ops pcs_scheme_half_explicit_acceleration = {
    .name = "half_explicit_acceleration",
    .summary = "explicit trapezoidal rule, contact on acceleration level; lasting contacts drift; no friction",
    .options = pcs_no_options,
    .stable_step = pcs_stable_trapezoidal,
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    GALERKIN_COMMON,
};
