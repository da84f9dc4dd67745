// Higher order through localisation: an explicit Runge-Kutta method of order p in smooth motion, a Moreau step in a
// small interval round each event. Mannshardt (1978) for discontinuous equations; Acary, lecture slides, for impacts.
//
//   smooth     Q_i = q + h sum_j a_ij V_j,  V_i = v + h sum_j a_ij A_j,  M A_i = f + G^T la_i at (t + c_i h, Q_i, V_i)
//              0 <= G A_i + (dG/dt) V_i _|_ la_i >= 0 on the held contacts, which do not change
//   event      an open contact sinks in or a held one pulls within the step: found to lie in [ta, tb],
//              tb - ta <= C h (V h/L)^p, V the largest gap rate so far
//   friction   held contacts stick or slide; the end of a mode is found to the last digits        (event_friction.h)
//   [ta, tb]   v = va + (tb - ta) a + M^-1 G^T P,  0 <= G v + e G v- _|_ P >= 0 on closed contacts
//              q = qa + (tb - ta) v
//
// and so on with the rest of the step. A rebound that would fly for no more than a few such intervals is rest, so that
// accumulations end.

#include "schemes/event_friction.h"
#include "schemes/tableau.h"

#include "step/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_EVENTS = 100000, LOCATING_ROUNDS = 200 };

enum { HERK2, KUTTA3, RK4, FEHLBERG5 };
static const char *const mann_methods[] = { "herk2", "kutta3", "rk4", "fehlberg5", NULL };
static const pcs_tableau *const mann_tableaus[] = { [HERK2] = &pcs_tableau_herk2,
                                                    [KUTTA3] = &pcs_tableau_kutta3,
                                                    [RK4] = &pcs_tableau_rk4,
                                                    [FEHLBERG5] = &pcs_tableau_fehlberg5 };
static const int mann_orders[] = { [HERK2] = 2, [KUTTA3] = 3, [RK4] = 4, [FEHLBERG5] = 5 };

typedef struct mann_params {
    int method;
    double width;
} mann_params;

static const pcs_option mann_options[] = {
    PCS_CHOICE("method", mann_params, method, PCS_DEFAULT("rk4"), mann_methods,
               "Runge-Kutta method of the smooth parts, of order 2, 3, 4, 5"),
    PCS_REAL("width", mann_params, width, PCS_DEFAULT("0.01"), PCS_POSITIVE,
             "C of the interval C h (V h/L)^p round an event"),
    { .name = NULL },
};

// State at the end of a piece of smooth motion, with impulses and energies over it.
typedef struct leap {
    double *q, *v;
    double smooth[PCS_MAX_ROWS];   // N s
    double work, damping;          // J
    double resultant[3];           // N s
    double *friction;              // [ntangent] N s
    double rub_loss[PCS_MAX_ROWS]; // J
    bool has_left;                 // the mode of a row with friction, at a stage
} leap;

typedef struct mann_memory {
    pcs_event_memory events;
    double fastest; // m/s, largest gap rate at an event so far
} mann_memory;

typedef struct mann {
    pcs_next next; // q and v are the present place within the step
    double speed;  // m/s, largest gap rate at an event so far, those within the step included
    pcs_events *events;
    leap end;                                          // of the last leap
    double *V[PCS_MAX_STAGES], *A[PCS_MAX_STAGES], *Q; // [nv]
} mann;

static const char *mann_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    return pcs_event_refuses(system);
}

static double mann_stable_step(const void *params, double w, double xi)
{
    return pcs_tableau_stable_step(mann_tableaus[((const mann_params *)params)->method], w, xi);
}

static pcs_status mann_setup(pcs_scheme *self)
{
    mann *s = self->data;
    int n = self->system->nv;
    self->rule.tableau = mann_tableaus[((const mann_params *)self->params)->method];
    PCS_TRY(pcs_next_create(self, &s->next));
    PCS_TRY(pcs_event_create(self, &s->events));
    s->events->stick = 1e-7; // slower ones would not rise above the round-off of the gap
    PCS_TAKE(self->ctx, s->end.q, n, "the stages");
    PCS_TAKE(self->ctx, s->end.v, n, "the stages");
    PCS_TAKE(self->ctx, s->Q, n, "the stages");
    PCS_TAKE(self->ctx, s->end.friction, self->system->ntangent + 1, "the stages");
    for (int i = 0; i < self->rule.tableau->s; i++) {
        PCS_TAKE(self->ctx, s->V[i], n, "the stages");
        PCS_TAKE(self->ctx, s->A[i], n, "the stages");
    }
    return PCS_OK;
}

// Sets the gap tolerance to a few thousand times the round-off of gaps at q, and moves the directions there.
static void mann_tolerate(pcs_scheme *self, const double *q)
{
    const mann *s = self->data;
    double largest = 0.0;
    pcs_projection_turn(self->solver, q);
    for (int j = 0; j < self->system->nrow; j++) largest = fmax(largest, pcs_gap_rounding(self->system, j, q));
    s->events->gap_tolerance = 4096.0 * largest;
}

static pcs_status mann_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    mann *s = self->data;
    mann_memory *memory = x->memory;
    pcs_event_forget(&memory->events);
    pcs_event_begin(self, s->events, &memory->events);
    mann_tolerate(self, x->q);
    PCS_TRY(pcs_event_start(self, s->events, x, &s->next, report));
    if (report->outcome == PCS_CONVERGED) memory->events = s->events->now;
    return PCS_OK;
}

static void mann_clear(const pcs_scheme *self, leap *end)
{
    *end = (leap){ .q = end->q, .v = end->v, .friction = end->friction };
    memset(end->friction, 0, (size_t)self->system->ntangent * sizeof *end->friction);
}

// Returns the largest magnitude of the terms of gap and slip accelerations, m/s^2, after an acceleration.
static double mann_drive(const pcs_scheme *self)
{
    double largest = 0.0;
    for (int j = 0; j < self->system->nrow; j++) largest = fmax(largest, ((const mann *)self->data)->events->drive[j]);
    return largest;
}

// Returns true if a held row has left its mode of friction.
static bool mann_has_left(const pcs_scheme *self, int row)
{
    const pcs_events *e = ((const mann *)self->data)->events;
    if (e->rub == NULL || !pcs_event_rubs(self->system, e, row)) return false;
    return e->rub->margin[row] < (e->now.slides[row] ? 0.0 : -1e-9 * mann_drive(self));
}

// Adds `weight` seconds of friction, and checks whether its modes still hold.
static void mann_weigh_rub(const pcs_scheme *self, const double *v, double weight, leap *out)
{
    const pcs_events *e = ((const mann *)self->data)->events;
    for (int t = 0; t < self->system->ntangent; t++) out->friction[t] += weight * e->rub->force[t];
    for (int j = 0; j < self->system->nrow; j++) {
        out->rub_loss[j] += weight * pcs_event_rub_power(self, e, j, v);
        out->has_left = out->has_left || mann_has_left(self, j);
    }
}

// Adds `weight` seconds of the forces at (t, q, v), where the acceleration was just solved for.
static void mann_weigh(pcs_scheme *self, double t, const double *q, const double *v, double weight, leap *out)
{
    mann *s = self->data;
    const pcs_system *system = self->system;
    double resultant[3];
    for (int j = 0; j < system->nrow; j++) out->smooth[j] += weight * s->events->force[j];
    out->work += weight * pcs_system_load_power(system, pcs_at(t, q, v));
    out->damping += weight * pcs_system_damping_power(system, pcs_at(t, q, v), NULL);
    pcs_system_resultant(system, pcs_at(t, q, v), resultant);
    pcs_event_push(self, 1.0, s->events->force, s->events->rub == NULL ? NULL : s->events->rub->force, resultant);
    for (int k = 0; k < 3; k++) out->resultant[k] += weight * resultant[k];
    if (s->events->rub != NULL) mann_weigh_rub(self, v, weight, out);
}

// Integrates the smooth motion of length h from the present state into `end`.
static pcs_outcome mann_leap(pcs_scheme *self, double t, double h)
{
    mann *s = self->data;
    const pcs_tableau *rk = self->rule.tableau;
    int n = self->system->nv;
    leap *end = &s->end;
    mann_clear(self, end);
    for (int i = 0; i < rk->s; i++) {
        pcs_stages_add((pcs_stages){ n, i, rk->a[i], s->V }, h, s->next.q, s->Q);
        pcs_stages_add((pcs_stages){ n, i, rk->a[i], s->A }, h, s->next.v, s->V[i]);
        pcs_outcome outcome = pcs_event_accelerate(self, s->events, t + rk->c[i] * h, s->Q, s->V[i], s->A[i]);
        if (outcome != PCS_CONVERGED) return outcome;
        mann_weigh(self, t + rk->c[i] * h, s->Q, s->V[i], rk->b[i] * h, end);
    }
    pcs_stages_add((pcs_stages){ n, rk->s, rk->b, s->V }, h, s->next.q, end->q);
    pcs_stages_add((pcs_stages){ n, rk->s, rk->b, s->A }, h, s->next.v, end->v);
    pcs_outcome outcome = pcs_event_check(s->events, n, end->q);
    return outcome == PCS_CONVERGED ? pcs_event_check(s->events, n, end->v) : outcome;
}

// Moves the present state to the end of the leap.
static void mann_land(pcs_scheme *self, double h, double *t, pcs_step_report *report)
{
    mann *s = self->data;
    size_t bytes = (size_t)self->system->nv * sizeof(double);
    memcpy(s->next.q, s->end.q, bytes);
    memcpy(s->next.v, s->end.v, bytes);
    for (int j = 0; j < self->system->nrow; j++) s->events->smooth[j] += s->end.smooth[j];
    for (int j = 0; s->events->rub != NULL && j < self->system->nrow; j++)
        s->events->rub->loss[j] += s->end.rub_loss[j];
    for (int k = 0; s->events->rub != NULL && k < self->system->ntangent; k++)
        s->events->rub->smooth[k] += s->end.friction[k];
    pcs_event_clear_floors(self, s->events, s->next.q);
    report->external_work += s->end.work;
    report->damping_loss += s->end.damping;
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] += s->end.resultant[k];
    *t += h;
}

enum { HIT, RELEASE, MODE }; // an open row closes, a held one opens, or sticks or slides no more

typedef struct finding {
    int row; // -1: none
    int kind;
} finding;

// Returns true if a held row pulls, after an acceleration.
static bool mann_pulls(const pcs_scheme *self, int row)
{
    const pcs_events *e = ((const mann *)self->data)->events;
    if (e->rub != NULL) return pcs_event_press(self, e, row) < -1e-9 * mann_drive(self);
    return e->force[row] == 0.0 && e->acceleration[row] > 1e-9 * e->drive[row];
}

// Finds an event of this row (-1: of any) at the end of a leap that leads to time t.
static pcs_outcome mann_look(pcs_scheme *self, double t, int row, finding *found)
{
    mann *s = self->data;
    pcs_events *e = s->events;
    pcs_system *system = self->system;
    bool has_held = false;
    *found = (finding){ .row = -1 };
    pcs_system_gaps(system, pcs_at(self->solver->t, s->end.q, NULL), e->gap);
    for (int j = 0; j < system->nrow; j++) {
        if (system->rows[j].is_bilateral || (row >= 0 && j != row)) continue;
        has_held = has_held || e->now.held[j];
        if (!e->now.held[j] && e->gap[j] < e->now.floor[j]) found->row = j;
    }
    if (found->row >= 0 || !has_held) return PCS_CONVERGED;
    pcs_outcome outcome = pcs_event_accelerate(self, e, t, s->end.q, s->end.v, e->a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) {
        if (system->rows[j].is_bilateral || (row >= 0 && j != row)) continue;
        if (e->now.held[j] && mann_pulls(self, j)) *found = (finding){ .row = j, .kind = RELEASE };
        else if (mann_has_left(self, j)) *found = (finding){ .row = j, .kind = MODE };
    }
    return PCS_CONVERGED;
}

// Returns true if an open contact may have closed and opened within the leap, by the cubic through gaps and rates; or
// if a stage has left its mode of friction.
static bool mann_may_dip(pcs_scheme *self, double h)
{
    mann *s = self->data;
    pcs_system *system = self->system;
    double gap[2][PCS_MAX_ROWS] = { { 0 } }, rate[2][PCS_MAX_ROWS] = { { 0 } };
    if (s->end.has_left) return true;
    for (int side = 0; side < 2; side++) {
        const double *q = side == 0 ? s->next.q : s->end.q, *v = side == 0 ? s->next.v : s->end.v;
        pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), gap[side]);
        pcs_projection_turn(self->solver, q);
        for (int j = 0; j < system->nrow; j++) rate[side][j] = pcs_system_rate(system, j, v);
    }
    for (int j = 0; j < system->nrow; j++) {
        double middle = 0.5 * (gap[0][j] + gap[1][j]) + 0.125 * h * (rate[0][j] - rate[1][j]);
        if (!s->events->now.held[j] && gap[0][j] > s->events->gap_tolerance && middle < 0.0) return true;
    }
    return false;
}

// Returns the time from now, s, at which the gap would vanish on a parabola, INFINITY if it would not.
static double mann_guess(pcs_scheme *self, double t, int row)
{
    mann *s = self->data;
    pcs_events *e = s->events;
    if (pcs_event_accelerate(self, e, t, s->next.q, s->next.v, e->a) != PCS_CONVERGED) return INFINITY;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, s->next.q, NULL), e->gap);
    double gap = fmax(e->gap[row], 0.0), rate = pcs_system_rate(self->system, row, s->next.v);
    double pull = -e->acceleration[row], square = rate * rate + 2.0 * pull * gap;
    if (square < 0.0) return INFINITY;
    return rate > 0.0 ? (rate + sqrt(square)) / pull : 2.0 * gap / (sqrt(square) - rate);
}

// Returns the next guess after x, an end of [lo, hi]: that of Newton, shifted so as to fall on the other side.
static double mann_next_guess(pcs_scheme *self, const finding *event, double x, double lo, double hi, double width)
{
    mann *s = self->data;
    double middle = 0.5 * (lo + hi);
    if (event->kind != HIT) return middle;
    pcs_projection_turn(self->solver, s->end.q);
    double rate = pcs_system_rate(self->system, event->row, s->end.v), gap = s->events->gap[event->row];
    double guess = x - gap / rate + (x == lo ? 0.4 : -0.4) * width;
    return rate < 0.0 && guess > lo && guess < hi ? guess : middle;
}

// Narrows [*lo, *hi] to the width, or for changes of friction to a few last digits, which slip that comes to rest
// needs, not the order; the event has not happened at *lo and has at *hi, where it is of this kind.
static pcs_outcome mann_locate(pcs_scheme *self, double t, finding *event, double width, double *lo, double *hi)
{
    const mann *s = self->data;
    double least = 16.0 * DBL_EPSILON * fmax(fabs(t), *hi);
    if (s->events->rub != NULL && event->kind != HIT) width = fmin(width, least);
    double x = event->kind != HIT ? 0.5 * *hi : mann_guess(self, t, event->row), last = *hi - *lo;
    for (int round = 1; round <= LOCATING_ROUNDS && *hi - *lo > width; round++) {
        finding found;
        if (!(x > *lo && x < *hi)) x = 0.5 * (*lo + *hi);
        if (x <= *lo || x >= *hi) break; // neighbouring numbers
        pcs_outcome outcome = mann_leap(self, t, x);
        if (outcome == PCS_CONVERGED) outcome = mann_look(self, t + x, event->row, &found);
        if (outcome != PCS_CONVERGED) return outcome;
        *(found.row >= 0 ? hi : lo) = x;
        if (found.row >= 0) *event = found;
        if (s->events->rub != NULL && event->kind != HIT) width = fmin(width, least);
        x = mann_next_guess(self, event, x, *lo, *hi, width);
        // Three guesses in vain: halve.
        if (round % 3 != 0) continue;
        if (*hi - *lo > 0.5 * last) x = 0.5 * (*lo + *hi);
        last = *hi - *lo;
    }
    return PCS_CONVERGED;
}

// Finds the first event in the rest of the step; row -1 if none, and the leap then ends at the end of the step.
static pcs_outcome mann_find(pcs_scheme *self, double t, double rest, finding *event, double *hi)
{
    pcs_outcome outcome = mann_leap(self, t, rest);
    *hi = rest;
    if (outcome == PCS_CONVERGED) outcome = mann_look(self, t + rest, -1, event);
    if (outcome != PCS_CONVERGED || event->row >= 0 || !mann_may_dip(self, rest)) return outcome;
    *hi = 0.5 * rest;
    outcome = mann_leap(self, t, *hi);
    if (outcome == PCS_CONVERGED) outcome = mann_look(self, t + *hi, -1, event);
    if (outcome != PCS_CONVERGED || event->row >= 0) return outcome;
    *hi = rest;
    return mann_leap(self, t, rest);
}

// Makes a leap of length h with one impact on all contacts that are open before and closed after it.
static pcs_outcome mann_moreau(pcs_scheme *self, double h, double *t, pcs_step_report *report)
{
    mann *s = self->data;
    pcs_events *e = s->events;
    int n = self->system->nv;
    pcs_outcome outcome = mann_leap(self, *t, h);
    if (outcome != PCS_CONVERGED) return outcome;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, s->end.q, NULL), e->gap);
    for (int j = 0; j < self->system->nrow; j++)
        e->closed[j] = e->closed[j] || (!e->now.held[j] && e->gap[j] < e->now.floor[j]);
    outcome = pcs_event_accelerate(self, e, *t, s->next.q, s->next.v, s->A[0]);
    if (outcome != PCS_CONVERGED) return outcome;
    mann_clear(self, &s->end);
    mann_weigh(self, *t, s->next.q, s->next.v, h, &s->end);
    pcs_stages_add((pcs_stages){ n, 1, (double[]){ 1.0 }, s->A }, h, s->next.v, s->end.v);
    // With friction events are many: what integration has left of the rates of held rows is no rebound.
    if (e->rub != NULL) pcs_event_project_velocity(self, e, s->end.v);
    outcome = pcs_event_resolve(self, e, *t + h, s->next.q, s->end.v);
    if (outcome != PCS_CONVERGED) return outcome;
    pcs_stages_add((pcs_stages){ n, 1, (double[]){ 1.0 }, &s->end.v }, h, s->next.q, s->end.q);
    mann_land(self, h, t, report);
    return PCS_CONVERGED;
}

static double mann_width(const pcs_scheme *self, double t, double h, double speed)
{
    double width = ((const mann_params *)self->params)->width * h;
    double part = speed * h / self->system->length;
    for (int k = 0; k < mann_orders[((const mann_params *)self->params)->method]; k++) width *= part;
    return fmax(16.0 * DBL_EPSILON * fabs(t), fmin(width, 0.125 * h));
}

// Records the kinetic energy of a middle stage, so that motion which starts and stops within a step has a scale.
static void mann_note_energy(pcs_scheme *self)
{
    mann *s = self->data;
    pcs_measure measure;
    if (s->events->rub == NULL) return;
    self->system->ops->measure(self->system, pcs_at(self->solver->t, s->end.q, s->V[self->rule.tableau->s / 2]),
                               PCS_ENERGY, &measure);
    s->events->now.energy = fmax(s->events->now.energy, measure.kinetic);
}

// Integrates up to the event and solves it; `hi` lies beyond it.
static pcs_outcome mann_pass(pcs_scheme *self, finding event, double hi, double h, double *t, pcs_step_report *report)
{
    mann *s = self->data;
    double lo = 0.0;
    finding other = { .row = 0 };
    pcs_outcome outcome = PCS_CONVERGED;
    pcs_projection_turn(self->solver, s->end.q);
    s->speed = fmax(s->speed, fabs(pcs_system_rate(self->system, event.row, s->end.v)));
    double width = s->events->shortest = mann_width(self, *t + hi, h, s->speed);
    for (int round = 0; round <= self->system->nrow && other.row >= 0; round++) {
        outcome = mann_locate(self, *t, &event, width, &lo, &hi);
        if (outcome == PCS_CONVERGED) outcome = mann_leap(self, *t, lo);
        if (outcome == PCS_CONVERGED) outcome = mann_look(self, *t + lo, -1, &other);
        if (outcome != PCS_CONVERGED) return outcome;
        if (other.row < 0 || lo == 0.0) break;
        // Another contact has been there earlier.
        event = other;
        hi = lo;
        lo = 0.0;
    }
    mann_note_energy(self);
    mann_land(self, lo, t, report);
    s->events->closed[event.row] = event.kind == HIT;
    s->events->released[event.row] = event.kind == RELEASE;
    return mann_moreau(self, hi - lo, t, report);
}

// Updates directions of sliding after smooth motion. Returns PCS_PARADOX if forces of sliding contacts are not unique.
static pcs_outcome mann_follow(pcs_scheme *self)
{
    mann *s = self->data;
    if (s->events->rub == NULL) return PCS_CONVERGED;
    if (!pcs_projection_move(self->solver, s->next.q)) return PCS_SINGULAR;
    pcs_event_follow_slip(self, s->events, s->next.v);
    return pcs_event_is_unique(self, s->events) ? PCS_CONVERGED : PCS_PARADOX;
}

static pcs_outcome mann_run(pcs_scheme *self, double t, double h, pcs_step_report *report)
{
    mann *s = self->data;
    double end = t + h, hi;
    while (end - t > 4.0 * DBL_EPSILON * fabs(end)) {
        finding event;
        pcs_outcome outcome = mann_find(self, t, end - t, &event, &hi);
        if (outcome != PCS_CONVERGED) return outcome;
        if (event.row < 0) {
            mann_land(self, end - t, &t, report);
            return mann_follow(self);
        }
        outcome = mann_pass(self, event, hi, h, &t, report);
        if (outcome == PCS_CONVERGED) outcome = mann_follow(self);
        if (outcome != PCS_CONVERGED) return outcome;
        if (s->events->count <= MOST_EVENTS) continue;
        report->event_time = t;
        return PCS_ACCUMULATES;
    }
    return PCS_CONVERGED;
}

static pcs_outcome mann_finish(pcs_scheme *self, pcs_step_report *report)
{
    mann *s = self->data;
    pcs_events *e = s->events;
    if (!pcs_projection_move(self->solver, s->next.q)) return PCS_SINGULAR;
    pcs_event_project_position(self, e, s->next.q);
    if (!pcs_projection_move(self->solver, s->next.q)) return PCS_SINGULAR;
    pcs_event_project_velocity(self, e, s->next.v);
    pcs_event_report(self, e, s->next.q, s->next.v, report);
    return PCS_CONVERGED;
}

static pcs_status mann_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    mann *s = self->data;
    mann_memory *memory = x->memory;
    size_t bytes = (size_t)self->system->nv * sizeof(double);
    pcs_begin_step(self, x, h, report);
    pcs_event_begin(self, s->events, &memory->events);
    s->speed = memory->fastest;
    mann_tolerate(self, x->q);
    memcpy(s->next.q, x->q, bytes);
    memcpy(s->next.v, x->v, bytes);
    report->outcome = pcs_event_renew(self, s->events, x->t, s->next.q, s->next.v);
    if (report->outcome == PCS_CONVERGED) report->outcome = mann_run(self, x->t, h, report);
    if (report->outcome == PCS_CONVERGED) report->outcome = mann_finish(self, report);
    report->bad_equation = s->events->bad_equation;
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &s->next, report)) return PCS_OK;
    memory->events = s->events->now;
    memory->events.energy = fmax(memory->events.energy, report->measure.kinetic);
    memory->fastest = s->speed;
    pcs_next_accept(self, &s->next, x, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_mannshardt = {
    .name = "mannshardt",
    .summary = "explicit Runge-Kutta of order 2 to 5, Moreau in small intervals round the events; keeps its order "
               "through impacts; friction with sticking and sliding in between",
    .options = mann_options,
    .params_size = sizeof(mann_params),
    .data_size = sizeof(mann),
    .rule = { .move = NAN, .rows_at = PCS_ROWS_WITHIN },
    .memory_size = sizeof(mann_memory),
    .refuses = mann_refuses,
    .stable_step = mann_stable_step,
    .refuses_drives =
        "it locates events of gaps, and where a prescribed motion jumps or bends is none of them; half_explicit_rk and "
        "alpha_ggl follow such motions",
    .setup = mann_setup,
    .start = mann_start,
    .step = mann_step,
};
