// Event-driven integration: smooth motion by an adaptive Runge-Kutta method that watches gaps and contact forces,
// contact laws at the events. Acary, lecture slides on numerical methods for nonsmooth mechanical systems.
//
//   between events   q' = v,  M v' = f + G^T la,  0 <= G v' + (dG/dt) v _|_ la >= 0 on held contacts     (ode.h)
//   events           a gap of an open contact falls through 0, or la/m_eff - ga of a held one does
//   at an event      impacts, then the held contacts anew                                                (event.h)
//
// Impulses, the work of loads, what damping takes and the sum of forces are integrated along with the motion. An event
// is watched for by interpolation and then located by integrating up to it again, so that it is as accurate as the
// motion. Steps of the run are only where results are asked for.

#include "schemes/event.h"
#include "schemes/ode.h"

#include "step/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_UNKNOWNS = 100, LOCATING_ROUNDS = 8, ROUNDS = 30 }; // ROUNDS: of the ODE solver, for every event
enum { STOP, REST };
static const char *const driven_accumulations[] = { "stop", "rest", NULL };

typedef struct driven_params {
    double rtol, atol, stick;
    int accumulation, events;
} driven_params;

static const pcs_option driven_options[] = {
    PCS_REAL("rtol", driven_params, rtol, PCS_DEFAULT("1e-10"), PCS_WITHIN(1e-14, 0.1),
             "relative tolerance of the motion between events"),
    PCS_REAL("atol", driven_params, atol, PCS_DEFAULT("1e-12"), PCS_WITHIN(1e-16, 0.1),
             "absolute tolerance, relative to the largest value of each coordinate and velocity so far"),
    PCS_REAL("v_stick", driven_params, stick, PCS_DEFAULT("1e-6"), PCS_WITHIN(1e-8, 0.1),
             "rebounds slower than this end in rest, in units of sqrt(2 E / m_eff), E the largest kinetic energy"),
    PCS_CHOICE("accumulation", driven_params, accumulation, PCS_DEFAULT("stop"), driven_accumulations,
               "where impacts accumulate: stop the run, or let the contact come to rest"),
    PCS_COUNT("events", driven_params, events, PCS_DEFAULT("10000"), PCS_WITHIN(1, 1e9), "most events within one step"),
    { .name = NULL },
};

typedef struct driven {
    pcs_events base; // its pace: the step that the ODE solver used last, s
    pcs_ode *ode;
    double *y0, *atol; // [size]
    int *direction;    // [3 nrow]
    bool is_watching;  // the roots are what they are; otherwise none
    long rounds;       // steps of the ODE solver that are left within the step
} driven;

static const char *driven_refuses(const pcs_system *system, const void *params)
{
    if (system->layout != NULL) return "the motion between events is followed in one process";
    if (system->nv > MOST_UNKNOWNS)
        return "it has more than 100 unknowns, for which locating every event is too slow; use a time-stepping scheme";
    return pcs_event_refuses(system, params);
}

// Returns INFINITY: the scheme chooses its own steps between events.
static double driven_stable_step(const void *params, double w, double xi)
{
    (void)params;
    (void)w;
    (void)xi;
    return INFINITY;
}

static bool driven_slope(void *user, double t, const double *y, double *dy)
{
    pcs_scheme *self = user;
    return pcs_event_slope(self, self->data, t, y, dy) == PCS_CONVERGED;
}

// Evaluates the root functions: gaps of open contacts (falling), their rates (rising: the gap is smallest), and the
// pressure of held contacts (falling).
static bool driven_roots(void *user, double t, const double *y, double *root)
{
    pcs_scheme *self = user;
    driven *s = self->data;
    pcs_events *e = &s->base;
    pcs_system *system = self->system;
    int m = system->nrow, iterations = e->iterations;
    bool has_held = false;
    for (int j = 0; j < 3 * m; j++) root[j] = 1.0;
    if (!s->is_watching) return true;
    for (int j = 0; j < m; j++) has_held = has_held || (e->now.held[j] && !system->rows[j].is_bilateral);
    if (has_held && pcs_event_accelerate(self, e, t, y, y + system->nv, e->next.a) != PCS_CONVERGED) return false;
    // Discards iterations spent here: how often the ODE solver evaluates roots depends on those that it found before.
    e->iterations = iterations;
    if (!has_held) pcs_projection_turn(self->solver, y);
    pcs_system_gaps(system, pcs_at(self->solver->t, y, NULL), e->next.gap);
    for (int j = 0; j < m; j++) {
        if (system->rows[j].is_bilateral) continue;
        if (e->now.held[j]) {
            root[2 * m + j] = pcs_event_press(self, e, j);
        } else {
            root[j] = e->next.gap[j] - e->now.floor[j];
            root[m + j] = pcs_system_rate(system, j, y + system->nv);
        }
    }
    return true;
}

static pcs_status driven_setup(pcs_scheme *self)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    const driven_params *p = self->params;
    int m = self->system->nrow;
    PCS_TRY(pcs_event_setup(self));
    e->gap_tolerance = fmin(p->rtol, 1e-9) * self->system->length;
    self->rule.event_depth = 2.0 * e->gap_tolerance;
    e->stick = p->stick;
    e->stops = p->accumulation == STOP;
    PCS_TAKE_EACH(self->ctx, e->size, "the smooth motion", double, &s->y0, &s->atol);
    PCS_TAKE(self->ctx, s->direction, 3 * m, "the smooth motion");
    for (int j = 0; j < 3 * m; j++) s->direction[j] = j >= m && j < 2 * m ? 1 : -1;
    pcs_ode_problem problem = { .user = self,
                                .n = e->size,
                                .nroot = 3 * m,
                                .slope = driven_slope,
                                .roots = driven_roots,
                                .direction = s->direction };
    return pcs_ode_create(self->ctx, &problem, &s->ode);
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

// Returns the reason for which the ODE solver has failed.
static pcs_outcome driven_failure(const driven *s)
{
    return s->base.bad_equation >= 0 ? PCS_NOT_FINITE : PCS_NOT_ACCURATE;
}

// Makes one step of the ODE solver; fails after a limited number of them.
static pcs_ode_end driven_follow(driven *s, double stop, double *t)
{
    return s->rounds-- > 0 ? pcs_ode_advance(s->ode, stop, t, s->base.y) : PCS_ODE_FAILED;
}

static pcs_outcome driven_restart(driven *s, double t, double first_step)
{
    return pcs_ode_restart(s->ode, t, s->base.y, first_step) ? PCS_CONVERGED : driven_failure(s);
}

// Restores the start of the last step of the ODE solver.
static pcs_outcome driven_go_back(driven *s, double t0, double first_step)
{
    memcpy(s->base.y, s->y0, (size_t)s->base.size * sizeof *s->base.y);
    return driven_restart(s, t0, first_step);
}

// Moves from (t0, y0) to t1 without watching.
static pcs_outcome driven_move(driven *s, double t0, double t1)
{
    double t = t0;
    s->is_watching = false;
    pcs_outcome outcome = driven_go_back(s, t0, t1 - t0);
    while (outcome == PCS_CONVERGED && t1 - t > 4.0 * DBL_EPSILON * fabs(t1))
        if (driven_follow(s, t1, &t) == PCS_ODE_FAILED) outcome = driven_failure(s);
    s->is_watching = true;
    return outcome;
}

// Integrates y to the event near *t within [t0, last] at which the gap of a row vanishes (row < 0: to *t itself).
static pcs_outcome driven_locate(pcs_scheme *self, int row, double t0, double last, double *t)
{
    driven *s = self->data;
    pcs_system *system = self->system;
    for (int round = 0; round < LOCATING_ROUNDS; round++) {
        pcs_outcome outcome = driven_move(s, t0, *t);
        if (outcome != PCS_CONVERGED || row < 0) return outcome;
        pcs_system_gaps(system, pcs_at(self->solver->t, s->base.y, NULL), s->base.next.gap);
        pcs_projection_turn(self->solver, s->base.y);
        double rate = pcs_system_rate(system, row, s->base.y + system->nv);
        double gap = s->base.next.gap[row] - s->base.now.floor[row];
        double better = fmin(last, fmax(t0, *t - gap / rate));
        // Ends if the contact does not approach (it grazes), or if the time is exact to the last digit.
        if (!(rate < 0.0) || fabs(better - *t) <= 2.0 * DBL_EPSILON * fabs(*t)) return PCS_CONVERGED;
        *t = better;
    }
    return PCS_CONVERGED;
}

// Returns true if, after a step of the ODE solver, an open contact has penetrated or a held one pulls unnoticed.
static bool driven_has_missed(pcs_scheme *self, double t)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    pcs_system *system = self->system;
    bool has_missed = false, has_held = false;
    pcs_system_gaps(system, pcs_at(self->solver->t, s->base.y, NULL), e->next.gap);
    for (int j = 0; j < system->nrow; j++) {
        if (system->rows[j].is_bilateral) continue;
        has_held = has_held || e->now.held[j];
        has_missed = has_missed || (!e->now.held[j] && e->next.gap[j] < e->now.floor[j] - 2.0 * e->gap_tolerance);
    }
    if (!has_held || pcs_event_accelerate(self, e, t, s->base.y, s->base.y + system->nv, e->next.a) != PCS_CONVERGED)
        return has_missed;
    for (int j = 0; j < system->nrow; j++) {
        bool is_held = !system->rows[j].is_bilateral && e->now.held[j];
        bool opens = e->force[j] == 0.0 && e->acceleration[j] > 1e-9 * e->drive[j];
        e->released[j] = is_held && opens;
        has_missed = has_missed || e->released[j];
    }
    return has_missed;
}

enum { ADVANCED, EVENT };

// Handles roots of the ODE solver: locates an event, or goes back to t0 if the smallest gap shows a missed impact.
static pcs_outcome driven_look(pcs_scheme *self, double t0, double last, double *t, int *what, double *stop)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    const int *found = pcs_ode_found(s->ode);
    int m = self->system->nrow, hit = -1;
    bool is_event = false, has_sunk = false;
    for (int j = 0; j < m; j++) {
        if (found[j] && hit < 0) hit = j;
        e->released[j] = found[2 * m + j] != 0;
        is_event = is_event || found[j] || e->released[j];
    }
    *what = is_event ? EVENT : ADVANCED;
    if (hit >= 0) e->closed[hit] = 1; // though round-off leave a gap, and a single point have no size to tell it by
    if (is_event) return driven_locate(self, hit, t0, last, t);
    pcs_system_gaps(self->system, pcs_at(self->solver->t, s->base.y, NULL), e->next.gap);
    for (int j = 0; j < m; j++)
        has_sunk = has_sunk || (found[m + j] && e->next.gap[j] < e->now.floor[j] - e->gap_tolerance);
    if (!has_sunk) return PCS_CONVERGED;
    // Up to here the gap has changed its sign once.
    *stop = *t;
    *t = t0;
    return driven_go_back(s, t0, *stop - t0);
}

// Makes one step of the ODE solver, or integrates up to the next event.
static pcs_outcome driven_advance(pcs_scheme *self, double end, double *t, int *what)
{
    driven *s = self->data;
    double t0 = *t, stop = end, last = end;
    pcs_outcome outcome = PCS_CONVERGED;
    memcpy(s->y0, s->base.y, (size_t)s->base.size * sizeof *s->base.y);
    *what = ADVANCED;
    while (outcome == PCS_CONVERGED) {
        pcs_ode_end ended = driven_follow(s, stop, t);
        if (ended == PCS_ODE_FAILED) return driven_failure(s);
        if (ended == PCS_ODE_ROOT) {
            outcome = driven_look(self, t0, last, t, what, &stop);
            if (*what == EVENT) return outcome;
            continue;
        }
        if (!driven_has_missed(self, *t)) break;
        last = *t;
        stop = t0 + 0.5 * (*t - t0);
        *t = t0;
        outcome = driven_go_back(s, t0, stop - t0);
        if (stop - t0 > 16.0 * DBL_EPSILON * fmax(fabs(t0), end - t0)) continue;
        *what = EVENT;
        return outcome;
    }
    pcs_event_clear_floors(self, &s->base, s->base.y);
    s->base.now.pace = pcs_ode_next_step(s->ode);
    return PCS_CONVERGED;
}

// Returns the first step after an event, s, short enough to resolve a short flight.
static double driven_first_step(const pcs_scheme *self, double end, double t)
{
    const driven *s = self->data;
    const pcs_events *e = &s->base;
    double step = fmin(e->now.pace > 0.0 ? e->now.pace : end - t, end - t);
    for (int j = 0; j < self->system->nrow; j++) {
        double rate = pcs_system_rate(self->system, j, s->base.y + self->system->nv);
        if (e->now.held[j] || e->next.gap[j] > e->gap_tolerance || !(rate > 0.0) || !(e->acceleration[j] < 0.0))
            continue;
        step = fmin(step, -0.9 * rate / e->acceleration[j]);
    }
    return step;
}

// Sets the tolerances of a step by the energies that it may reach.
static pcs_outcome driven_begin(pcs_scheme *self, const pcs_state *x, double h)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    double energy = e->now.energy;
    s->rounds = (long)ROUNDS * ((const driven_params *)self->params)->events;
    s->is_watching = true;
    pcs_outcome outcome = pcs_event_check(e, self->system->nv, x->q);
    if (outcome == PCS_CONVERGED) outcome = pcs_event_check(e, self->system->nv, x->v);
    if (outcome == PCS_CONVERGED) outcome = driven_gain(self, x, x->t + h, h, &energy);
    if (outcome == PCS_CONVERGED) outcome = driven_gain(self, x, x->t, h, &energy);
    if (outcome != PCS_CONVERGED) return outcome;
    driven_weigh(self, x, h, energy > 0.0 ? energy : 1.0); // where nothing moves any scale will do
    return pcs_ode_set_tolerances(s->ode, ((const driven_params *)self->params)->rtol, s->atol) ? PCS_CONVERGED
                                                                                                : PCS_NOT_ACCURATE;
}

// Integrates y from x over h through all events.
static pcs_outcome driven_run(pcs_scheme *self, const pcs_state *x, double h)
{
    driven *s = self->data;
    pcs_events *e = &s->base;
    int what;
    double t = x->t, end = t + h, *v = e->y + self->system->nv;
    pcs_outcome outcome = driven_begin(self, x, h);
    if (outcome == PCS_CONVERGED) outcome = driven_restart(s, t, fmin(e->now.pace, h));
    while (outcome == PCS_CONVERGED && end - t > 4.0 * DBL_EPSILON * fabs(end)) {
        outcome = driven_advance(self, end, &t, &what);
        if (outcome != PCS_CONVERGED || what != EVENT) continue;
        outcome = pcs_event_resolve(self, e, t, e->y, v);
        if (outcome == PCS_CONVERGED && e->count > ((const driven_params *)self->params)->events) {
            e->accumulation = t;
            return PCS_ACCUMULATES;
        }
        if (outcome == PCS_CONVERGED) outcome = driven_restart(s, t, driven_first_step(self, end, t));
    }
    return outcome;
}

static pcs_status driven_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    return pcs_event_step(self, x, h, driven_run, report);
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
    .stable_step = driven_stable_step,
    .refuses_drives = "it locates events of gaps, but no jumps or kinks of a prescribed motion; half_explicit_rk and "
                      "alpha_ggl follow such motions",
    .setup = driven_setup,
    .start = pcs_event_start,
    .step = driven_step,
};
