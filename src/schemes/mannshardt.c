// Higher order through localisation: an explicit Runge-Kutta method of order p in smooth motion, a Moreau step in a
// small interval round each event. Mannshardt (1978) for discontinuous equations; Acary, lecture slides, for impacts.
//
//   smooth     Q_i = q + h sum_j a_ij V_j,  V_i = v + h sum_j a_ij A_j,  M A_i = f + G^T la_i at (t + c_i h, Q_i, V_i)
//              0 <= G A_i + (dG/dt) V_i _|_ la_i >= 0 on the held contacts, which do not change
//   event      an open contact sinks in or a held one pulls within the step: found to lie in [ta, tb],
//              tb - ta <= C h (V h/L)^p, V the largest gap rate so far
//   [ta, tb]   v = va + (tb - ta) a + M^-1 G^T P,  0 <= G v + e G v- _|_ P >= 0 on closed contacts
//              q = qa + (tb - ta) v
//
// and so on with the rest of the step. A rebound that would fly for no more than a few such intervals is rest, so that
// accumulations end.

#include "schemes/event.h"
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
             "C of the interval C h (V h/L)^p around an event: order p, largest gap rate V, size L of the system"),
    { .name = NULL },
};

typedef struct mann {
    pcs_events base;               // its pace: the largest gap rate at an event so far, m/s
    double *end;                   // [size] y at the end of the last leap
    double *Y, *K[PCS_MAX_STAGES]; // [size] y of a stage, and y' of all
} mann;

static double mann_stable_step(const void *params, double w, double xi)
{
    return pcs_tableau_stable_step(mann_tableaus[((const mann_params *)params)->method], w, xi);
}

static pcs_status mann_setup(pcs_scheme *self)
{
    mann *s = self->data;
    self->rule.tableau = mann_tableaus[((const mann_params *)self->params)->method];
    PCS_TRY(pcs_event_setup(self));
    s->base.rounds_gaps = true;
    s->base.stick = 1e-7; // slower ones would not rise above the round-off of the gap
    PCS_TAKE_EACH(self->ctx, s->base.size, "the stages", double, &s->end, &s->Y);
    for (int i = 0; i < self->rule.tableau->s; i++) PCS_TAKE(self->ctx, s->K[i], s->base.size, "the stages");
    return PCS_OK;
}

// Integrates the smooth motion of length h from y into `end`.
static pcs_outcome mann_leap(pcs_scheme *self, double t, double h)
{
    mann *s = self->data;
    pcs_events *e = &s->base;
    const pcs_tableau *rk = self->rule.tableau;
    for (int i = 0; i < rk->s; i++) {
        pcs_stages_add((pcs_stages){ e->size, i, rk->a[i], s->K }, h, e->y, s->Y);
        pcs_outcome outcome = pcs_event_slope(self, e, t + rk->c[i] * h, s->Y, s->K[i]);
        if (outcome != PCS_CONVERGED) return outcome;
    }
    pcs_stages_add((pcs_stages){ e->size, rk->s, rk->b, s->K }, h, e->y, s->end);
    pcs_outcome outcome = pcs_event_check(e, self->system->nv, s->end);
    return outcome == PCS_CONVERGED ? pcs_event_check(e, self->system->nv, s->end + self->system->nv) : outcome;
}

// Moves y to the end of the leap.
static void mann_land(pcs_scheme *self, double h, double *t)
{
    mann *s = self->data;
    memcpy(s->base.y, s->end, (size_t)s->base.size * sizeof *s->end);
    pcs_event_clear_floors(self, &s->base, s->base.y);
    *t += h;
}

enum { HIT, RELEASE }; // an open row closes, a held one opens

typedef struct finding {
    int row; // -1: none
    int kind;
} finding;

// Finds an event of this row (-1: of any) at the end of a leap that leads to time t.
static pcs_outcome mann_look(pcs_scheme *self, double t, int row, finding *found)
{
    mann *s = self->data;
    pcs_events *e = &s->base;
    pcs_system *system = self->system;
    bool has_held = false;
    *found = (finding){ .row = -1 };
    pcs_system_gaps(system, pcs_at(self->solver->t, s->end, NULL), e->next.gap);
    for (int j = 0; j < system->nrow; j++) {
        if (system->rows[j].is_bilateral || (row >= 0 && j != row)) continue;
        has_held = has_held || e->now.held[j];
        if (!e->now.held[j] && e->next.gap[j] < e->now.floor[j]) found->row = j;
    }
    if (found->row >= 0 || !has_held) return PCS_CONVERGED;
    pcs_outcome outcome = pcs_event_accelerate(self, e, t, s->end, s->end + self->system->nv, e->next.a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) {
        if (system->rows[j].is_bilateral || (row >= 0 && j != row)) continue;
        bool pulls = e->force[j] == 0.0 && e->acceleration[j] > 1e-9 * e->drive[j];
        if (e->now.held[j] && pulls) *found = (finding){ .row = j, .kind = RELEASE };
    }
    return PCS_CONVERGED;
}

// Returns true if an open contact may have closed and opened within the leap, by the cubic through gaps and rates.
static bool mann_may_dip(pcs_scheme *self, double h)
{
    mann *s = self->data;
    pcs_system *system = self->system;
    double gap[2][PCS_MAX_ROWS] = { { 0 } }, rate[2][PCS_MAX_ROWS] = { { 0 } };
    for (int side = 0; side < 2; side++) {
        const double *q = side == 0 ? s->base.y : s->end,
                     *v = side == 0 ? s->base.y + self->system->nv : s->end + self->system->nv;
        pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), gap[side]);
        pcs_projection_turn(self->solver, q);
        for (int j = 0; j < system->nrow; j++) rate[side][j] = pcs_system_rate(system, j, v);
    }
    for (int j = 0; j < system->nrow; j++) {
        double middle = 0.5 * (gap[0][j] + gap[1][j]) + 0.125 * h * (rate[0][j] - rate[1][j]);
        if (!s->base.now.held[j] && gap[0][j] > s->base.gap_tolerance && middle < 0.0) return true;
    }
    return false;
}

// Returns the time from now, s, at which the gap would vanish on a parabola, INFINITY if it would not.
static double mann_guess(pcs_scheme *self, double t, int row)
{
    mann *s = self->data;
    pcs_events *e = &s->base;
    if (pcs_event_accelerate(self, e, t, s->base.y, s->base.y + self->system->nv, e->next.a) != PCS_CONVERGED)
        return INFINITY;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, s->base.y, NULL), e->next.gap);
    double gap = fmax(e->next.gap[row], 0.0), rate = pcs_system_rate(self->system, row, s->base.y + self->system->nv);
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
    pcs_projection_turn(self->solver, s->end);
    double rate = pcs_system_rate(self->system, event->row, s->end + self->system->nv),
           gap = s->base.next.gap[event->row];
    double guess = x - gap / rate + (x == lo ? 0.4 : -0.4) * width;
    return rate < 0.0 && guess > lo && guess < hi ? guess : middle;
}

// Narrows [*lo, *hi] to the width; the event has not happened at *lo and has at *hi, where it is of this kind.
static pcs_outcome mann_locate(pcs_scheme *self, double t, finding *event, double width, double *lo, double *hi)
{
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
static pcs_outcome mann_moreau(pcs_scheme *self, double h, double *t)
{
    mann *s = self->data;
    pcs_events *e = &s->base;
    int n = self->system->nv;
    double *v = s->end + n;
    pcs_outcome outcome = mann_leap(self, *t, h);
    if (outcome != PCS_CONVERGED) return outcome;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, s->end, NULL), e->next.gap);
    for (int j = 0; j < self->system->nrow; j++)
        e->closed[j] = e->closed[j] || (!e->now.held[j] && e->next.gap[j] < e->now.floor[j]);
    outcome = pcs_event_slope(self, e, *t, e->y, s->K[0]);
    if (outcome != PCS_CONVERGED) return outcome;
    pcs_stages_add((pcs_stages){ e->size, 1, (double[]){ 1.0 }, s->K }, h, e->y, s->end);
    outcome = pcs_event_resolve(self, e, *t + h, e->y, v);
    if (outcome != PCS_CONVERGED) return outcome;
    pcs_stages_add((pcs_stages){ n, 1, (double[]){ 1.0 }, &v }, h, e->y, s->end);
    mann_land(self, h, t);
    return PCS_CONVERGED;
}

static double mann_width(const pcs_scheme *self, double t, double h, double speed)
{
    double width = ((const mann_params *)self->params)->width * h;
    double part = speed * h / self->system->length;
    for (int k = 0; k < mann_orders[((const mann_params *)self->params)->method]; k++) width *= part;
    return fmax(16.0 * DBL_EPSILON * fabs(t), fmin(width, 0.125 * h));
}

// Integrates up to the event and solves it; `hi` lies beyond it.
static pcs_outcome mann_pass(pcs_scheme *self, finding event, double hi, double h, double *t)
{
    mann *s = self->data;
    double lo = 0.0;
    finding other = { .row = 0 };
    pcs_outcome outcome = PCS_CONVERGED;
    pcs_projection_turn(self->solver, s->end);
    s->base.now.pace =
        fmax(s->base.now.pace, fabs(pcs_system_rate(self->system, event.row, s->end + self->system->nv)));
    double width = s->base.shortest = mann_width(self, *t + hi, h, s->base.now.pace);
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
    mann_land(self, lo, t);
    s->base.closed[event.row] = event.kind == HIT;
    s->base.released[event.row] = event.kind == RELEASE;
    return mann_moreau(self, hi - lo, t);
}

static pcs_outcome mann_run(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_events *e = self->data;
    double t = x->t, end = t + h, hi;
    pcs_outcome outcome = PCS_CONVERGED;
    while (outcome == PCS_CONVERGED && end - t > 4.0 * DBL_EPSILON * fabs(end)) {
        finding event;
        outcome = mann_find(self, t, end - t, &event, &hi);
        if (outcome != PCS_CONVERGED) return outcome;
        if (event.row < 0) {
            mann_land(self, end - t, &t);
            return PCS_CONVERGED;
        }
        outcome = mann_pass(self, event, hi, h, &t);
        if (outcome != PCS_CONVERGED || e->count <= MOST_EVENTS) continue;
        e->accumulation = t;
        return PCS_ACCUMULATES;
    }
    return outcome;
}

static pcs_status mann_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    return pcs_event_step(self, x, h, mann_run, report);
}

const pcs_scheme_ops pcs_scheme_mannshardt = {
    .name = "mannshardt",
    .summary = "explicit Runge-Kutta of order 2 to 5, with small Moreau steps around located impacts; keeps its order "
               "through impacts",
    .options = mann_options,
    .params_size = sizeof(mann_params),
    .data_size = sizeof(mann),
    .rule = { .move = NAN, .rows_at = PCS_ROWS_WITHIN },
    .memory_size = sizeof(pcs_event_memory),
    .refuses = pcs_event_refuses,
    .stable_step = mann_stable_step,
    .refuses_drives = "it locates events of gaps, but no jumps or kinks of a prescribed motion; half_explicit_rk and "
                      "alpha_ggl follow such motions",
    .setup = mann_setup,
    .start = pcs_event_start,
    .step = mann_step,
};
