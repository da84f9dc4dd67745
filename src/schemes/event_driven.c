// Event-driven integration: smooth motion by the method of Dormand and Prince, order 5(4), whose leaps are as long as
// tolerances allow; contact laws at the events, which are located to round-off (event.h). Acary, lecture slides on
// numerical methods for nonsmooth mechanical systems.
//
// Impulses, the work of loads, what damping takes and the sum of forces are integrated along with the motion. Steps of
// the run are only where results are asked for.

#include "schemes/event.h"

#include <float.h>
#include <math.h>

enum { MOST_UNKNOWNS = 100, ROUNDS = 30 }; // ROUNDS: leaps tried, for every event

typedef struct driven_params {
    double rtol, atol, stick;
    int events;
} driven_params;

static const pcs_option driven_options[] = {
    PCS_REAL("rtol", driven_params, rtol, PCS_DEFAULT("1e-10"), PCS_WITHIN(1e-14, 0.1),
             "relative tolerance of the motion between events"),
    PCS_REAL("atol", driven_params, atol, PCS_DEFAULT("1e-12"), PCS_WITHIN(1e-16, 0.1),
             "absolute tolerance, relative to the largest value of each coordinate and velocity so far"),
    PCS_REAL("v_stick", driven_params, stick, PCS_DEFAULT("1e-6"), PCS_WITHIN(1e-8, 0.1),
             "rebounds slower than this end in rest, in units of sqrt(2 E / m_eff), E the largest kinetic energy"),
    PCS_COUNT("events", driven_params, events, PCS_DEFAULT("10000"), PCS_WITHIN(1, 1e9), "most events within one step"),
    { .name = NULL },
};

enum { ERROR_STAGES = 7 };
// Weights of the slopes in the error of a leap, that at its end last: those of order 5 minus those of order 4.
static const double driven_error_weights[ERROR_STAGES] = {
    71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0
};
static const double first_share = 1e-4;             // first leap of a run, as a fraction of its step
static const double growth = 25.0, shrinking = 0.1; // bounds of the next leap over this one
static const double safety = 0.9, bias = 1.5;       // of the next leap, and of the error estimates
static const double MOST_ROTATION = 0.5;            // rad, largest rotation in a leap of bodies that may touch

typedef struct driven {
    pcs_events base;
    double *atol;          // [size]
    long rounds;           // leaps left in the step
    bool has_stepped_over; // a force that jumps, since the last event
    int count;             // number of events at the last leap
} driven;

static const char *driven_refuses(const pcs_system *system, const void *params)
{
    if (system->layout != NULL) return "the motion between events is followed in one process";
    if (system->nv > MOST_UNKNOWNS)
        return "it has more than 100 unknowns, for which locating every event is too slow; use a time-stepping scheme";
    return pcs_event_refuses(system, params);
}

// Raises *energy, J, to the work that forces at time t could do in a step on the motion, or on a contact that resists.
static pcs_outcome driven_gain(pcs_scheme *self, const pcs_state *x, double t, double h, double *energy)
{
    driven *s = self->data;
    const pcs_events *e = &s->base;
    double power = 0.0;
    pcs_outcome outcome = pcs_event_accelerate(self, &s->base, t, x->q, x->v, e->next.a);
    pcs_matrix_multiply(self->system->M, e->next.a, e->change);
    for (int i = 0; i < self->system->nv; i++) power += e->next.a[i] * e->change[i];
    for (int j = 0; j < self->system->nrow; j++)
        power = pcs_larger(power, self->solver->effective_mass[j] * e->drive[j] * e->drive[j]);
    *energy = pcs_larger(*energy, 0.5 * h * h * power);
    return outcome == PCS_CONVERGED ? pcs_event_check(&s->base, 1, energy) : outcome;
}

// Sets atol_i: velocities scale with sqrt(2 E / M_ii), positions with their size or with such a velocity times h.
static void driven_weigh(pcs_scheme *self, const pcs_state *x, double h, double energy)
{
    driven *s = self->data;
    const driven_params *p = self->params;
    const pcs_matrix *M = self->system->M;
    int n = self->system->nv;
    for (int i = 0; i < n; i++) {
        double speed = sqrt(2.0 * energy / pcs_matrix_diagonal(M, i));
        s->atol[n + i] = p->atol * speed;
        s->atol[i] = p->atol * fmax(fabs(x->q[i]), h * speed);
    }
    for (int j = 0; j < self->system->nrow; j++)
        s->atol[s->base.impulse + j] = p->atol * sqrt(2.0 * energy * self->solver->effective_mass[j]);
    s->atol[s->base.work] = s->atol[s->base.damping] = p->atol * energy;
    for (int k = 0; k < 3; k++) s->atol[s->base.resultant + k] = p->atol * sqrt(2.0 * energy * self->system->mass);
}

// Returns the error of a leap of length h relative to the tolerances, in the mean over y; INFINITY if it is not finite.
static double driven_error(const driven *s, double rtol, double h)
{
    const pcs_events *e = &s->base;
    double sum = 0.0;
    for (int i = 0; i < e->size; i++) {
        double error = 0.0;
        for (int k = 0; k < ERROR_STAGES; k++) error += driven_error_weights[k] * e->K[k][i];
        error *= h / (rtol * fabs(e->y[i]) + s->atol[i]);
        sum += error * error;
    }
    return isfinite(sum) ? sqrt(sum / e->size) : INFINITY;
}

// Returns the largest rotation in a leap of length h, rad; 0 without contacts.
static double driven_rotation(const driven *s, const pcs_system *system, double h)
{
    const double *before = s->base.y + system->nv, *after = s->base.end + system->nv;
    double rate = 0.0;
    for (int i = 0; i < system->nv && system->ncontact > 0; i++)
        if (system->scale.is_angle[i]) rate = fmax(rate, fmax(fabs(before[i]), fabs(after[i])));
    return h * rate;
}

// Sets the tolerances of a step by the energies that it may reach.
static pcs_outcome driven_begin(pcs_scheme *self, const pcs_state *x, double h)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    double energy = e->now.energy;
    s->rounds = ROUNDS * e->most;
    s->has_stepped_over = false;
    pcs_outcome outcome = pcs_event_check(e, self->system->nv, x->q);
    if (outcome == PCS_CONVERGED) outcome = pcs_event_check(e, self->system->nv, x->v);
    if (outcome == PCS_CONVERGED) outcome = driven_gain(self, x, x->t + h, h, &energy);
    if (outcome == PCS_CONVERGED) outcome = driven_gain(self, x, x->t, h, &energy);
    if (outcome == PCS_CONVERGED)
        driven_weigh(self, x, h, energy > 0.0 ? energy : 1.0); // where nothing moves any scale is right
    return outcome;
}

// Makes a leap whose error the tolerances allow. A force that jumps within round-off of the present time fails every
// leap, however short. One leap of the size of round-off then steps over it, but only one, so that runs advance.
static pcs_outcome driven_advance(pcs_scheme *self, const pcs_state *x, double t, double *h)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    double rest = *h, pace = e->now.pace > 0.0 ? e->now.pace : first_share * rest;
    double tiny = 64.0 * DBL_EPSILON * fmax(fabs(t), fabs(t + rest));
    pcs_outcome outcome = t == x->t ? driven_begin(self, x, rest) : PCS_CONVERGED;
    if (outcome != PCS_CONVERGED) return outcome;
    s->has_stepped_over = s->has_stepped_over && s->count == e->step.count;
    s->count = e->step.count;
    for (*h = fmin(rest, pace); s->rounds-- > 0;) {
        outcome = pcs_event_leap(self, t, *h);
        if (outcome == PCS_CONVERGED) outcome = pcs_event_slope(self, e, t + *h, e->end, e->K[ERROR_STAGES - 1]);
        double error =
            outcome == PCS_CONVERGED ? driven_error(s, ((const driven_params *)self->params)->rtol, *h) : INFINITY;
        // Limits the rotation of free bodies, which has no error in any leap, as events within it would be missed.
        error = fmax(error, pow(driven_rotation(s, self->system, *h) / MOST_ROTATION, 5.0));
        double next = *h * fmin(growth, fmax(shrinking, safety * pow(bias * error, -0.2)));
        bool is_tiny = *h <= tiny, steps_over = outcome == PCS_CONVERGED && is_tiny && !s->has_stepped_over;
        if (error <= 1.0 || steps_over) {
            s->has_stepped_over = s->has_stepped_over || error > 1.0;
            e->now.pace = *h < rest ? next : fmax(next, pace);
            e->bad_equation = -1;
            return PCS_CONVERGED;
        }
        if (is_tiny) break;
        *h = fmax(next, tiny);
    }
    return e->bad_equation >= 0 ? PCS_NOT_FINITE : PCS_NOT_ACCURATE;
}

static pcs_status driven_setup(pcs_scheme *self)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    const driven_params *p = self->params;
    e->method = &pcs_tableau_dopri5;
    e->gap_tolerance = fmin(p->rtol, 1e-9) * self->system->length;
    self->rule.event_depth = 2.0 * e->gap_tolerance;
    e->stick = p->stick;
    e->most = p->events;
    e->advance = driven_advance;
    PCS_TRY(pcs_event_setup(self, ERROR_STAGES));
    PCS_TAKE(self->ctx, s->atol, e->size, "the smooth motion");
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_event_driven = {
    .name = "event_driven",
    .summary = "adaptive Runge-Kutta between impacts, which are located; contact forces in between; small systems",
    .options = driven_options,
    .params_size = sizeof(driven_params),
    .data_size = sizeof(driven),
    .rule = { .move = NAN, .impact = PCS_IMPACT_LOCATED, .rows_at = PCS_ROWS_WITHIN },
    .memory_size = sizeof(pcs_event_memory),
    .refuses = driven_refuses,
    .setup = driven_setup,
    .start = pcs_event_start,
    .step = pcs_event_step,
};
