// Schemes that locate events, where contacts close and open, and integrate the motion between them. Without friction.
// I_c and I_s are index sets,
//
//   I_c = { g <= tolerance },  I_s = { I_c, gap rate 0 }                     (lasting contacts: "held")
//   M a = f + G^T la,   0 <= ga = G a + (dG/dt) v _|_ la >= 0 on I_s          la = 0 elsewhere
//   M (v - v-) = G^T p, 0 <= G v + e G v- _|_ p >= 0          on I_c          p = 0 elsewhere
//
//   smooth     Q_i = q + h sum_j a_ij V_j,  V_i = v + h sum_j a_ij A_j,  M A_i = f + G^T la_i at (t + c_i h, Q_i, V_i)
//              with I_s as it is
//   event      an open contact sinks in or a held one pulls within the step: found to lie in [ta, tb], tb - ta <= width
//   [ta, tb]   v = va + (tb - ta) a + M^-1 G^T P,  0 <= G v + e G v- _|_ P >= 0 on I_c,  q = qa + (tb - ta) v
//
// and so on with the rest of the step. Acary, lecture slides on numerical methods for nonsmooth mechanical systems. The
// laws are solved by the step solver.

#include "schemes/common.h"
#include "schemes/tableau.h"
#include "step/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Carried from step to step; the memory of a scheme.
typedef struct event_memory {
    unsigned char held[PCS_MAX_ROWS]; // lasting contacts
    double floor[PCS_MAX_ROWS];       // an open contact closes below this gap, m: 0, or that left by an event
    double energy;                    // largest kinetic energy so far, J
    double speed;                     // largest gap rate at an event so far, m/s
    double pace;                      // length of the next leap of a scheme that chooses it, s
} event_memory;

// Makes a leap from y at t, in the step from x on, as long as the accuracy of the scheme allows but at most *h, which
// becomes its length. Leaves the slope at its end behind those of the stages.
typedef pcs_outcome event_advance(pcs_scheme *self, const pcs_state *x, double t, double *h);

// Step so far, by impacts and corrections.
typedef struct event_sums {
    double smooth[PCS_MAX_ROWS];      // impulse of the lasting forces, N s
    double impulses[PCS_MAX_ROWS];    // impulse of impacts, N s
    double normal_loss[PCS_MAX_ROWS]; // loss of each row, J
    bool is_impact[PCS_MAX_ROWS];
    double pushed[3];            // momentum of all these impulses along the directions at their times, N s
    int iterations, count;       // of the step solver; number of events
    bool released[PCS_MAX_ROWS]; // rows that may not be held after the next event
    bool closed[PCS_MAX_ROWS];   // rows that are closed at the next event, whatever the gap
} event_sums;

// Base of the data of schemes that locate impacts.
typedef struct events {
    pcs_next next; // its vectors are work arrays until the end of the step
    // Set by the scheme
    double gap_tolerance;      // a gap up to this is closed, m
    bool rounds_gaps;          // which is a few thousand times the round-off of gaps at the start of the step
    double stick;              // rebounds slower than this are rest, in units of sqrt(2 E / m_eff)
    double shortest;           // width of the interval that contains an impact, s; short flights are rest
    const pcs_tableau *method; // of the smooth motion
    int order;                 // exponent in the width of events, width_share h (speed h/L)^order
    double width_share;        // 0 if events are located to round-off
    long most;                 // events within a step
    event_advance *advance;    // NULL if leaps end only with the step or at an event

    event_memory now;
    event_sums step;
    // The motion within the step: y = (q, v), and integrals over the step from these offsets on: impulses of rows, work
    // of loads, damping loss, impulse of the resultant.
    double *y;
    int impulse, work, damping, resultant, size;
    double *end, *stage;       // [size] y at the end of the last leap, and of a stage
    double *K[PCS_MAX_STAGES]; // [size] y' of the stages
    bool has_slope;            // K[0] is y' at the present y
    int pulled;                // held contact that pulls in a stage of the last leap, or -1
    // Last evaluation of accelerations:
    double force[PCS_MAX_ROWS];        // la, N
    double acceleration[PCS_MAX_ROWS]; // ga, m/s^2
    double drive[PCS_MAX_ROWS];        // magnitude of terms of ga
    int bad_equation;                  // equation with a number that is not finite, or -1
    pcs_held_rows rows;                // rows of held contacts
    double *change;                    // [nv] work
} events;

enum { IMPACT_ROUNDS = 50, LOCATING_ROUNDS = 200, SOLVING_ROUNDS = 3 };
static const double proximal = 1e-9;   // of a diagonal: makes redundant rows solvable; later rounds remove its effect
static const double undecided = 1e-11; // of the terms of an acceleration: smaller ones count as zero
static const double pulling = 1e-9;    // likewise: a held contact without force opens if it accelerates faster
static const double near_miss = 0.1;   // of the gaps at both ends: lower minima of the cubic in between are examined

// Returns NULL, or the reason for which such a scheme cannot advance the system.
static const char *event_refuses(const pcs_system *system, const void *params)
{
    if (system->rotations.are_somewhere) return "its positions do not add up";
    if (system->nrow > PCS_MAX_ROWS) return "it has more than 64 contact points";
    return pcs_refuse_accelerations(system, params);
}

// Allocates the memory, for `stages` slopes, and prepares the step solver for contact problems.
static pcs_status event_setup(pcs_scheme *self, int stages)
{
    events *e = self->data;
    const pcs_system *system = self->system;
    size_t n = (size_t)system->nrow;
    pcs_step_form form = { .h = 1.0 }; // contact problems need M alone
    pcs_outcome outcome;
    e->impulse = 2 * system->nv;
    e->work = e->impulse + system->nrow;
    e->damping = e->work + 1;
    e->resultant = e->damping + 1;
    e->size = e->resultant + 3;
    PCS_TAKE_EACH(self->ctx, e->size, "the smooth motion", double, &e->y, &e->end, &e->stage);
    for (int i = 0; i < stages; i++) PCS_TAKE(self->ctx, e->K[i], e->size, "the smooth motion");
    PCS_TAKE(self->ctx, e->rows.row, n, "the events");
    PCS_TAKE(self->ctx, e->rows.b, n, "the events");
    PCS_TAKE(self->ctx, e->rows.A, n * n, "the events");
    PCS_TAKE(self->ctx, e->change, system->nv, "the events");
    PCS_TRY(pcs_next_create(self, &e->next));
    PCS_TRY(pcs_projection_need_columns(self->solver));
    return pcs_step_solver_prepare(self->solver, &form, &outcome);
}

// Begins a step at x.
static void event_begin(pcs_scheme *self, events *e, const pcs_state *x)
{
    size_t nv = (size_t)self->system->nv;
    e->now = *(const event_memory *)x->memory;
    memset(e->y, 0, (size_t)e->size * sizeof *e->y);
    memcpy(e->y, x->q, nv * sizeof *e->y);
    memcpy(e->y + nv, x->v, nv * sizeof *e->y);
    e->step = (event_sums){ .count = 0 };
    e->bad_equation = -1;
    e->has_slope = false;
    if (!e->rounds_gaps) return;
    double largest = 0.0;
    pcs_projection_rotate(self->solver, x->q);
    for (int j = 0; j < self->system->nrow; j++) largest = fmax(largest, pcs_gap_rounding(self->system, j, x->q));
    e->gap_tolerance = 4096.0 * largest;
}

// Returns sqrt(2 E / m_eff) of a row, m/s: the scale of its velocities.
static double event_speed(const pcs_scheme *self, const events *e, int row)
{
    return sqrt(2.0 * e->now.energy / self->solver->effective_mass[row]);
}

// Adds the momentum of impulses z along the present directions to `pushed`, N s, unless these are constant.
static void event_push(const pcs_scheme *self, double scale, const double *z, double pushed[3])
{
    if (pcs_rows_rotate(self->system)) pcs_add_row_momentum(self->system, scale, z, NULL, pushed);
}

// Solves x += M^-1 G^T la with 0 <= G x + target _|_ la >= 0 on the gated rows.
static pcs_outcome event_solve(pcs_scheme *self, events *e, const double *q, double *x)
{
    const pcs_next *next = &e->next;
    size_t bytes = (size_t)self->system->nrow * sizeof *next->la;
    pcs_step_problem problem = pcs_next_problem(self, &e->next, NULL, 0.0);
    pcs_step_result result;
    problem.v = x;
    memcpy(next->q, q, (size_t)self->system->nv * sizeof *q);
    memset(next->la, 0, bytes);
    memset(next->nu, 0, bytes);
    self->solver->ops->solve(self->solver, &problem, &result);
    e->step.iterations += result.iterations;
    return result.outcome;
}

// Returns PCS_NOT_FINITE, and stores the equation, if an entry of x is not finite.
static pcs_outcome event_check(events *e, int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (isfinite(x[i])) continue;
        e->bad_equation = i;
        return PCS_NOT_FINITE;
    }
    return PCS_CONVERGED;
}

// Computes a with the forces of the held rows, `force` and `acceleration`; the projection moves to q.
static pcs_outcome event_accelerate(pcs_scheme *self, events *e, double t, const double *q, const double *v, double *a)
{
    pcs_system *system = self->system;
    const pcs_next *next = &e->next;
    size_t bytes = (size_t)system->nrow * sizeof *next->target;
    pcs_outcome outcome = PCS_CONVERGED;
    bool has_held = false;
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    pcs_free_acceleration(self, t, q, v, a);
    memset(next->target, 0, bytes);
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, pcs_at(self->solver->t, q, v), next->target);
    for (int j = 0; j < system->nrow; j++) {
        next->gate[j] = e->now.held[j];
        has_held = has_held || next->gate[j];
        e->drive[j] = fabs(pcs_system_rate(system, j, a)) + fabs(next->target[j]);
    }
    memset(next->la, 0, bytes);
    if (has_held) outcome = event_solve(self, e, q, a);
    if (outcome == PCS_CONVERGED) outcome = event_check(e, system->nv, a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) {
        e->force[j] = next->la[j];
        e->acceleration[j] = pcs_system_rate(system, j, a) + next->target[j];
    }
    return PCS_CONVERGED;
}

// Evaluates y' by that acceleration.
static pcs_outcome event_slope(pcs_scheme *self, events *e, double t, const double *y, double *dy)
{
    const pcs_system *system = self->system;
    int n = system->nv;
    const double *q = y, *v = y + n;
    pcs_outcome outcome = event_accelerate(self, e, t, q, v, dy + n);
    if (outcome != PCS_CONVERGED) return outcome;
    memcpy(dy, v, (size_t)n * sizeof *dy);
    memcpy(dy + e->impulse, e->force, (size_t)system->nrow * sizeof *dy);
    dy[e->work] = pcs_system_load_power(system, pcs_at(t, q, v));
    dy[e->damping] = pcs_system_damping_power(system, pcs_at(t, q, v), NULL);
    pcs_system_resultant(system, pcs_at(t, q, v), dy + e->resultant);
    event_push(self, 1.0, e->force, dy + e->resultant);
    return PCS_CONVERGED;
}

// Returns the largest velocity of a rebound, m/s, that counts as rest.
static double event_rest(const pcs_scheme *self, const events *e, const double *q, int row)
{
    // Counts a rebound as rest if its flight is too short in time, or does not rise above the round-off of the gap.
    double pull = fmax(0.0, -e->acceleration[row]), lowest = pcs_gap_tie(self->system, row, q);
    // Allows twice the velocity gained within `shortest`, the uncertainty of an impact: otherwise flights would
    // converge to 4 e/(1 - e) of it.
    double shortest = 8.0 * e->shortest / fmax(1e-3, 1.0 - pcs_restitution(&self->system->rows[row], 0.0));
    double flight = fmax(0.5 * shortest * pull, sqrt(2.0 * pull * lowest));
    return fmax(e->stick * event_speed(self, e, row), flight);
}

static bool event_is_closed(const events *e, int row)
{
    return e->now.held[row] || e->step.closed[row] || e->next.gap[row] <= e->gap_tolerance;
}

// Sets the gates of closed rows and their targets in the impact law, m/s; false if no contact approaches.
static bool event_aim(pcs_scheme *self, events *e, const double *q, const double *v)
{
    const pcs_system *system = self->system;
    bool approaches = false;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double rate = pcs_system_rate(system, j, v), rebound = -pcs_restitution(row, rate) * rate;
        double *target = &e->next.target[j];
        e->next.gate[j] = row->is_bilateral || event_is_closed(e, j);
        *target = row->is_bilateral || e->now.held[j] ? 0.0 : -rebound;
        bool is_hit = !row->is_bilateral && e->next.gate[j] && rate < -1e-14 * event_speed(self, e, j);
        approaches = approaches || is_hit;
        if (!is_hit || e->now.held[j]) continue;
        if (rebound <= event_rest(self, e, q, j)) *target = 0.0;
        e->step.is_impact[j] = true;
    }
    return approaches;
}

// Solves one impact on all closed contacts; v jumps, impulses and losses are added to those of the step.
static pcs_outcome event_impact(pcs_scheme *self, events *e, const double *q, double *v)
{
    const pcs_system *system = self->system;
    double before[PCS_MAX_ROWS];
    for (int j = 0; j < system->nrow; j++) before[j] = pcs_system_rate(system, j, v);
    pcs_outcome outcome = event_solve(self, e, q, v);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) {
        double la = e->next.la[j];
        e->step.impulses[j] += la;
        e->step.normal_loss[j] -= 0.5 * la * (before[j] + pcs_system_rate(system, j, v));
    }
    event_push(self, 1.0, e->next.la, e->step.pushed);
    return PCS_CONVERGED;
}

// Removes the drift of held rows from velocities x, or from positions: computes their multipliers a few times, each
// from the residual of the last ones. Returns false if there are none or the rows are dependent.
static bool event_project(pcs_scheme *self, events *e, bool is_position, double *x)
{
    const pcs_system *system = self->system;
    pcs_held_rows *rows = &e->rows;
    double *way = is_position ? e->change : x;
    rows->nown = 0;
    for (int j = 0; j < system->nrow; j++)
        if (e->now.held[j]) rows->row[rows->nown++] = j;
    rows->n = rows->nown;
    memset(e->next.la, 0, (size_t)system->nrow * sizeof *e->next.la);
    for (int round = 0; round < SOLVING_ROUNDS && rows->n > 0; round++) {
        if (is_position) memset(way, 0, (size_t)system->nv * sizeof *way);
        if (is_position) pcs_system_gaps(self->system, pcs_at(self->solver->t, x, NULL), e->next.gap);
        if (!pcs_hold_rows(self, rows, proximal, is_position ? e->next.gap : NULL, way, e->next.la)) return false;
        for (int i = 0; i < (is_position ? system->nv : 0); i++) x[i] += way[i];
    }
    return rows->n > 0;
}

// Removes the drift of gap rates of held rows from v, with the impulses that it takes.
static void event_project_velocity(pcs_scheme *self, events *e, double *v)
{
    if (!event_project(self, e, false, v)) return;
    for (int j = 0; j < self->system->nrow; j++) e->step.smooth[j] += e->next.la[j];
    event_push(self, 1.0, e->next.la, e->step.pushed);
}

// Holds closed rows at rest that press, or whose force and acceleration are both zero.
static pcs_outcome event_hold(pcs_scheme *self, events *e, double t, const double *q, double *v)
{
    const pcs_system *system = self->system;
    double largest = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        bool is_closed = event_is_closed(e, j);
        bool is_slow = fabs(pcs_system_rate(system, j, v)) <= event_rest(self, e, q, j);
        // A contact that opens from rest has a gap of the size of round-off for a while.
        e->now.floor[j] = is_closed ? fmin(0.0, e->next.gap[j]) : 0.0;
        if (is_closed && is_slow) e->now.floor[j] -= e->gap_tolerance;
        e->now.held[j] = system->rows[j].is_bilateral || (is_closed && is_slow && !e->step.released[j]);
    }
    pcs_outcome outcome = event_accelerate(self, e, t, q, v, e->next.a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) largest = fmax(largest, e->drive[j]);
    for (int j = 0; j < system->nrow; j++)
        if (!system->rows[j].is_bilateral && e->force[j] == 0.0 && e->acceleration[j] > undecided * largest)
            e->now.held[j] = 0;
    event_project_velocity(self, e, v);
    memset(e->step.released, 0, sizeof e->step.released);
    memset(e->step.closed, 0, sizeof e->step.closed);
    return PCS_CONVERGED;
}

// Solves impacts at (t, q) until no closed contact approaches, then finds the new held rows; v follows.
static pcs_outcome event_resolve(pcs_scheme *self, events *e, double t, const double *q, double *v)
{
    pcs_system *system = self->system;
    pcs_measure measure;
    system->ops->measure(system, pcs_at(self->solver->t, q, v), PCS_ENERGY, &measure);
    e->now.energy = fmax(e->now.energy, measure.kinetic);
    pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), e->next.gap);
    // Accelerations of open contacts give the flight time of a rebound, by which event_aim distinguishes it from rest.
    pcs_outcome outcome = event_accelerate(self, e, t, q, v, e->next.a);
    for (int round = 0; outcome == PCS_CONVERGED && event_aim(self, e, q, v); round++) {
        if (round == IMPACT_ROUNDS) return PCS_NOT_CONVERGED;
        outcome = event_impact(self, e, q, v);
    }
    e->step.count++;
    return outcome == PCS_CONVERGED ? event_hold(self, e, t, q, v) : outcome;
}

// Returns a held contact that pulls by the last accelerations, or -1.
static int event_find_pull(const pcs_scheme *self, const events *e)
{
    int row = -1;
    for (int j = 0; j < self->system->nrow; j++) {
        if (self->system->rows[j].is_bilateral || !e->now.held[j] || e->force[j] != 0.0) continue;
        if (e->acceleration[j] > pulling * e->drive[j]) row = j;
    }
    return row;
}

// Integrates the smooth motion of length h from y into `end`.
static pcs_outcome event_leap(pcs_scheme *self, double t, double h)
{
    events *e = self->data;
    const pcs_tableau *rk = e->method;
    e->pulled = -1;
    for (int i = e->has_slope ? 1 : 0; i < rk->s; i++) {
        pcs_stages_add((pcs_stages){ e->size, i, rk->a[i], e->K }, h, e->y, e->stage);
        pcs_outcome outcome = event_slope(self, e, t + rk->c[i] * h, e->stage, e->K[i]);
        if (outcome != PCS_CONVERGED) return outcome;
        if (i > 0 && e->pulled < 0) e->pulled = event_find_pull(self, e);
        e->has_slope = true;
    }
    pcs_stages_add((pcs_stages){ e->size, rk->s, rk->b, e->K }, h, e->y, e->end);
    pcs_outcome outcome = event_check(e, self->system->nv, e->end);
    return outcome == PCS_CONVERGED ? event_check(e, self->system->nv, e->end + self->system->nv) : outcome;
}

// Moves y to the end of the leap, and resets the floors of gaps that are open by now.
static void event_land(pcs_scheme *self, double h, double *t)
{
    events *e = self->data;
    memcpy(e->y, e->end, (size_t)e->size * sizeof *e->end);
    e->has_slope = false;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, e->y, NULL), e->next.gap);
    for (int j = 0; j < self->system->nrow; j++)
        if (e->next.gap[j] > e->gap_tolerance) e->now.floor[j] = 0.0;
    *t += h;
}

typedef struct event_finding {
    int row;         // -1: none
    bool is_release; // a held row opens; else an open one closes
} event_finding;

// Returns the quantity that is negative after an event of the row, at the last position examined: depth, m, or how far
// the row is from opening, m/s^2.
static double event_value(const pcs_scheme *self, const events *e, event_finding event)
{
    int j = event.row;
    if (!event.is_release) return e->next.gap[j] - e->now.floor[j];
    return e->force[j] / self->solver->effective_mass[j] - e->acceleration[j] + pulling * e->drive[j];
}

// Finds an event at the end of a leap that leads to time t.
static pcs_outcome event_look(pcs_scheme *self, double t, event_finding *found)
{
    events *e = self->data;
    pcs_system *system = self->system;
    bool has_held = false;
    *found = (event_finding){ .row = -1 };
    pcs_system_gaps(system, pcs_at(self->solver->t, e->end, NULL), e->next.gap);
    for (int j = 0; j < system->nrow; j++) {
        if (system->rows[j].is_bilateral) continue;
        has_held = has_held || e->now.held[j];
        if (!e->now.held[j] && e->next.gap[j] < e->now.floor[j]) found->row = j;
    }
    if (found->row >= 0 || !has_held) return PCS_CONVERGED;
    pcs_outcome outcome = event_accelerate(self, e, t, e->end, e->end + system->nv, e->next.a);
    if (outcome != PCS_CONVERGED) return outcome;
    // A force that falls to 0 and rises again within a leap is 0 in one of its stages only.
    int pulling_row = event_find_pull(self, e);
    if (pulling_row < 0) pulling_row = e->pulled;
    if (pulling_row >= 0) *found = (event_finding){ .row = pulling_row, .is_release = true };
    return PCS_CONVERGED;
}

// Returns where in a leap of length h an open contact may close and open again, s: at the smallest of the minima of the
// cubics through gaps and rates; 0 if there is none that comes near.
static double event_find_dip(pcs_scheme *self, double h)
{
    events *e = self->data;
    pcs_system *system = self->system;
    double gap[2][PCS_MAX_ROWS] = { { 0 } }, rate[2][PCS_MAX_ROWS] = { { 0 } }, lowest = 0.0, place = 0.0;
    for (int side = 0; side < 2; side++) {
        const double *q = side == 0 ? e->y : e->end;
        pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), gap[side]);
        pcs_projection_rotate(self->solver, q);
        for (int j = 0; j < system->nrow; j++) rate[side][j] = h * pcs_system_rate(system, j, q + system->nv);
    }
    for (int j = 0; j < system->nrow; j++) {
        double b = rate[0][j], c = 3.0 * (gap[1][j] - gap[0][j]) - 2.0 * b - rate[1][j],
               d = b + rate[1][j] - 2.0 * (gap[1][j] - gap[0][j]);
        double x = -b / (c + sqrt(c * c - 3.0 * b * d));
        if (e->now.held[j] || system->rows[j].is_bilateral || gap[0][j] <= e->gap_tolerance || !(x > 0.0 && x < 1.0))
            continue;
        double depth = near_miss * fmax(gap[0][j], gap[1][j]) - (gap[0][j] + x * (b + x * (c + x * d)));
        if (depth <= lowest) continue;
        lowest = depth;
        place = x * h;
    }
    return place;
}

// Narrows [*lo, *hi] to the width around the first event of all rows: none has happened at *lo, and this one has at
// *hi, the last position examined. By Newton's method for gaps and by secants for forces, shifted so as to end on the
// other side.
static pcs_outcome event_locate(pcs_scheme *self, double t, event_finding *event, double width, double *lo, double *hi)
{
    events *e = self->data;
    double value[2] = { NAN, event_value(self, e, *event) }, last = *hi - *lo, x = *hi;
    bool is_beyond = true;
    for (int round = 0; round<LOCATING_ROUNDS && * hi - *lo> width; round++) {
        event_finding found;
        double slope = (value[1] - value[0]) / (*hi - *lo), beside = is_beyond ? -0.4 * width : 0.4 * width;
        if (!event->is_release) {
            pcs_projection_rotate(self->solver, e->end);
            slope = pcs_system_rate(self->system, event->row, e->end + self->system->nv);
        }
        x = slope < 0.0 ? x - value[is_beyond] / slope + beside : NAN;
        bool is_slow = round % 3 == 2 && *hi - *lo > 0.5 * last; // three guesses have not halved it: bisect
        if (round % 3 == 2) last = *hi - *lo;
        if (is_slow || !(x > *lo && x < *hi)) x = 0.5 * (*lo + *hi);
        if (x <= *lo || x >= *hi) break; // no number in between
        pcs_outcome outcome = event_leap(self, t, x);
        if (outcome == PCS_CONVERGED) outcome = event_look(self, t + x, &found);
        if (outcome != PCS_CONVERGED) return outcome;
        is_beyond = found.row >= 0;
        *(is_beyond ? hi : lo) = x;
        bool is_other = is_beyond && (found.row != event->row || found.is_release != event->is_release);
        if (is_other) value[0] = NAN;
        if (is_beyond) *event = found;
        value[is_beyond] = event_value(self, e, *event);
    }
    return PCS_CONVERGED;
}

// Finds the first event in a leap of length h that has been made; if none (row -1), `end` is its end.
static pcs_outcome event_find(pcs_scheme *self, double t, double h, event_finding *event, double *hi)
{
    *hi = h;
    pcs_outcome outcome = event_look(self, t + h, event);
    if (outcome != PCS_CONVERGED || event->row >= 0) return outcome;
    double dip = event_find_dip(self, h);
    if (dip == 0.0) return PCS_CONVERGED;
    *hi = dip;
    outcome = event_leap(self, t, dip);
    if (outcome == PCS_CONVERGED) outcome = event_look(self, t + dip, event);
    if (outcome != PCS_CONVERGED || event->row >= 0) return outcome;
    *hi = h;
    return event_leap(self, t, h);
}

// Makes a leap of length h with one impact on all contacts that are open before and closed after it.
static pcs_outcome event_hit(pcs_scheme *self, double h, double *t)
{
    events *e = self->data;
    int n = self->system->nv;
    double *v = e->end + n;
    pcs_outcome outcome = event_leap(self, *t, h);
    if (outcome != PCS_CONVERGED) return outcome;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, e->end, NULL), e->next.gap);
    for (int j = 0; j < self->system->nrow; j++)
        e->step.closed[j] = e->step.closed[j] || (!e->now.held[j] && e->next.gap[j] < e->now.floor[j]);
    pcs_stages_add((pcs_stages){ e->size, 1, (double[]){ 1.0 }, e->K }, h, e->y, e->end);
    outcome = event_resolve(self, e, *t + h, e->y, v);
    if (outcome != PCS_CONVERGED) return outcome;
    pcs_stages_add((pcs_stages){ n, 1, (double[]){ 1.0 }, &v }, h, e->y, e->end);
    event_land(self, h, t);
    return PCS_CONVERGED;
}

static double event_width(const pcs_scheme *self, const events *e, double t, double h)
{
    double width = e->width_share * h;
    for (int k = 0; k < e->order; k++) width *= e->now.speed * h / self->system->length;
    return fmax(0.5 * DBL_EPSILON * fabs(t), fmin(width, 0.125 * h));
}

// Integrates up to the event and solves it; `hi` is beyond it, the last position examined.
static pcs_outcome event_pass(pcs_scheme *self, event_finding event, double hi, double h, double *t)
{
    events *e = self->data;
    double lo = 0.0;
    pcs_projection_rotate(self->solver, e->end);
    e->now.speed = fmax(e->now.speed, fabs(pcs_system_rate(self->system, event.row, e->end + self->system->nv)));
    double width = e->shortest = event_width(self, e, *t + hi, h);
    pcs_outcome outcome = event_locate(self, *t, &event, width, &lo, &hi);
    if (outcome == PCS_CONVERGED) outcome = event_leap(self, *t, lo);
    if (outcome != PCS_CONVERGED) return outcome;
    event_land(self, lo, t);
    e->step.closed[event.row] = !event.is_release;
    e->step.released[event.row] = event.is_release;
    return event_hit(self, hi - lo, t);
}

// Integrates y from x over h through all events.
static pcs_outcome event_run(pcs_scheme *self, const pcs_state *x, double h)
{
    events *e = self->data;
    double t = x->t, end = t + h;
    while (end - t > 4.0 * DBL_EPSILON * fabs(end)) {
        event_finding event;
        double leap = end - t, hi;
        pcs_outcome outcome = e->advance != NULL ? e->advance(self, x, t, &leap) : event_leap(self, t, leap);
        if (outcome == PCS_CONVERGED) outcome = event_find(self, t, leap, &event, &hi);
        if (outcome == PCS_CONVERGED && event.row < 0) event_land(self, leap, &t);
        else if (outcome == PCS_CONVERGED) outcome = event_pass(self, event, hi, h, &t);
        if (outcome != PCS_CONVERGED) return outcome;
        if (event.row < 0 && e->advance != NULL) {
            double **last = &e->K[e->method->s], *first = e->K[0];
            e->K[0] = *last;
            *last = first;
            e->has_slope = true;
        }
        if (e->step.count > e->most) return PCS_ACCUMULATES;
    }
    return PCS_CONVERGED;
}

// Reports rows and impact loss of the step that leads to (q, v), at which the projection is evaluated.
static void event_report(const pcs_scheme *self, events *e, const double *q, const double *v, pcs_step_report *report)
{
    pcs_system *system = self->system;
    pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), e->next.gap);
    report->impact_loss = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        double rate = pcs_system_rate(system, j, v), impulse = e->step.smooth[j] + e->step.impulses[j];
        report->rows[j] = (pcs_row_report){
            .gap = e->next.gap[j],
            .rate = rate,
            .rate_before = rate,
            .step_impulse = impulse,
            .force = report->h > 0.0 ? e->step.smooth[j] / report->h : 0.0,
            .impulse = e->step.impulses[j],
            .normal_loss = e->step.normal_loss[j],
            .is_gated = e->now.held[j] != 0,
            .is_closed = e->now.held[j] || impulse > 0.0,
            .is_impact = e->step.is_impact[j],
        };
        report->impact_loss += e->step.normal_loss[j];
    }
    // reported along the directions of the end
    event_push(self, -1.0, e->step.smooth, e->step.pushed);
    event_push(self, -1.0, e->step.impulses, e->step.pushed);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] += e->step.pushed[k];
    report->iterations = e->step.iterations;
    report->is_joined = true;
}

// Starts a run: an impact at t = 0 and the first held rows.
static pcs_status event_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    events *e = self->data;
    event_memory *memory = x->memory;
    *memory = (event_memory){ .energy = 0.0 };
    event_begin(self, e, x);
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, &e->next, report);
    report->outcome = event_resolve(self, e, x->t, x->q, x->v);
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_memory_copy(self->solver->nmemory, self->solver->memory, x->solver_memory);
    self->system->ops->measure(self->system, pcs_at(x->t, x->q, x->v), PCS_ENERGY, &report->measure);
    event_report(self, e, x->q, x->v, report);
    *memory = e->now;
    return PCS_OK;
}

// Moves y onto the held rows as the next state, and reports the step.
static pcs_outcome event_finish(pcs_scheme *self, events *e, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    size_t nv = (size_t)system->nv;
    double *q = e->next.q, *v = e->next.v;
    memcpy(q, e->y, nv * sizeof *q);
    memcpy(v, e->y + nv, nv * sizeof *v);
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    (void)event_project(self, e, true, q);
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    event_project_velocity(self, e, v);
    for (int j = 0; j < system->nrow; j++) e->step.smooth[j] += e->y[e->impulse + j];
    report->external_work = e->y[e->work];
    report->damping_loss = e->y[e->damping];
    memcpy(report->smooth_impulse, e->y + e->resultant, sizeof report->smooth_impulse);
    event_report(self, e, q, v, report);
    return PCS_CONVERGED;
}

// Makes a step through all events.
static pcs_status event_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    events *e = self->data;
    pcs_begin_step(self, x, h, report);
    event_begin(self, e, x);
    report->outcome = event_run(self, x, h);
    if (report->outcome == PCS_CONVERGED) report->outcome = event_finish(self, e, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &e->next, report)) {
        if (report->bad_equation < 0) report->bad_equation = e->bad_equation;
        return PCS_OK;
    }
    e->now.energy = fmax(e->now.energy, report->measure.kinetic);
    *(event_memory *)x->memory = e->now;
    pcs_next_accept(self, &e->next, x, report);
    return PCS_OK;
}

// Event-driven integration: smooth motion by the method of Dormand and Prince, order 5(4), whose leaps are as long as
// tolerances allow; contact laws at the events, which are located to round-off. Acary, lecture slides on
// numerical methods for nonsmooth mechanical systems.
//
// Impulses, the work of loads, what damping takes and the sum of forces are integrated along with the motion. Steps of
// the run are only where results are asked for.

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
    events base;
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
    return event_refuses(system, params);
}

// Raises *energy, J, to the work that forces at time t could do in a step on the motion, or on a contact that resists.
static pcs_outcome driven_gain(pcs_scheme *self, const pcs_state *x, double t, double h, double *energy)
{
    driven *s = self->data;
    const events *e = &s->base;
    double power = 0.0;
    pcs_outcome outcome = event_accelerate(self, &s->base, t, x->q, x->v, e->next.a);
    pcs_matrix_multiply(self->system->M, e->next.a, e->change);
    for (int i = 0; i < self->system->nv; i++) power += e->next.a[i] * e->change[i];
    for (int j = 0; j < self->system->nrow; j++)
        power = pcs_larger(power, self->solver->effective_mass[j] * e->drive[j] * e->drive[j]);
    *energy = pcs_larger(*energy, 0.5 * h * h * power);
    return outcome == PCS_CONVERGED ? event_check(&s->base, 1, energy) : outcome;
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
    const events *e = &s->base;
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
    events *e = &s->base;
    double energy = e->now.energy;
    s->rounds = ROUNDS * e->most;
    s->has_stepped_over = false;
    pcs_outcome outcome = event_check(e, self->system->nv, x->q);
    if (outcome == PCS_CONVERGED) outcome = event_check(e, self->system->nv, x->v);
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
    events *e = &s->base;
    double rest = *h, pace = e->now.pace > 0.0 ? e->now.pace : first_share * rest;
    double tiny = 64.0 * DBL_EPSILON * fmax(fabs(t), fabs(t + rest));
    pcs_outcome outcome = t == x->t ? driven_begin(self, x, rest) : PCS_CONVERGED;
    if (outcome != PCS_CONVERGED) return outcome;
    s->has_stepped_over = s->has_stepped_over && s->count == e->step.count;
    s->count = e->step.count;
    for (*h = fmin(rest, pace); s->rounds-- > 0;) {
        outcome = event_leap(self, t, *h);
        if (outcome == PCS_CONVERGED) outcome = event_slope(self, e, t + *h, e->end, e->K[ERROR_STAGES - 1]);
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
    events *e = &s->base;
    const driven_params *p = self->params;
    e->method = &pcs_tableau_dopri5;
    e->gap_tolerance = fmin(p->rtol, 1e-9) * self->system->length;
    self->rule.event_depth = 2.0 * e->gap_tolerance;
    e->stick = p->stick;
    e->most = p->events;
    e->advance = driven_advance;
    PCS_TRY(event_setup(self, ERROR_STAGES));
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
    .memory_size = sizeof(event_memory),
    .refuses = driven_refuses,
    .setup = driven_setup,
    .start = event_start,
    .step = event_step,
};

// Higher order through localisation: an explicit Runge-Kutta method of order p in smooth motion, a Moreau step in a
// small interval round each event. Mannshardt (1978) for discontinuous equations; Acary, lecture slides, for impacts.
//
// Steps, events and their intervals as above, with a width of C h (V h/L)^p, V the largest gap rate so far. A rebound
// that would fly for no more than a few such intervals is rest, so that accumulations end.

enum { MOST_EVENTS = 100000 };

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

static double mann_stable_step(const void *params, double w, double xi, double spin)
{
    return pcs_tableau_stable_step(mann_tableaus[((const mann_params *)params)->method], w, xi, spin);
}

static pcs_status mann_setup(pcs_scheme *self)
{
    events *e = self->data;
    const mann_params *p = self->params;
    self->rule.tableau = e->method = mann_tableaus[p->method];
    e->order = mann_orders[p->method];
    e->width_share = p->width;
    e->most = MOST_EVENTS;
    e->rounds_gaps = true;
    e->stick = 1e-7; // a slower rebound would not rise above the round-off of the gap
    return event_setup(self, e->method->s);
}

const pcs_scheme_ops pcs_scheme_mannshardt = {
    .name = "mannshardt",
    .summary = "explicit Runge-Kutta of order 2 to 5, with small Moreau steps around located impacts; keeps its order "
               "through impacts",
    .options = mann_options,
    .params_size = sizeof(mann_params),
    .data_size = sizeof(events),
    .rule = { .move = NAN, .rows_at = PCS_ROWS_WITHIN },
    .memory_size = sizeof(event_memory),
    .refuses = event_refuses,
    .stable_step = mann_stable_step,
    .setup = mann_setup,
    .start = event_start,
    .step = event_step,
};
