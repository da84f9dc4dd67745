#include "schemes/event_friction.h"

#include "core/dense.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

enum { IMPACT_ROUNDS = 50, MODE_ROUNDS = 200, SHRINKING_INTERVALS = 3, PROJECTION_ROUNDS = 3 };
static const double proximal = 1e-10;  // of a row's diagonal: keeps repeated rows solvable, undone by the next round
static const double undecided = 1e-11; // of what accelerations are summed from: smaller ones are none
static const double mode_undecided = 1e-10; // the same of modes of friction

const char *pcs_event_refuses(const pcs_system *system)
{
    if (system->rotations.are_somewhere) return "its positions do not add up";
    if (system->nrow > PCS_MAX_ROWS) return "it has more than 64 contact points";
    return NULL;
}

pcs_status pcs_event_create(pcs_scheme *self, pcs_events **out)
{
    pcs_events *e;
    pcs_step_form form = { .h = 1.0 }; // contact problems see M alone
    pcs_outcome outcome;
    PCS_TAKE(self->ctx, e, 1, "the events");
    PCS_TAKE(self->ctx, e->q, self->system->nv, "the events");
    PCS_TAKE(self->ctx, e->d, self->system->nv, "the events");
    PCS_TAKE(self->ctx, e->a, self->system->nv, "the events");
    *out = e;
    PCS_TRY(pcs_event_make_rub(self, e));
    PCS_TRY(pcs_projection_need_columns(self->solver));
    return pcs_step_solver_prepare(self->solver, &form, &outcome);
}

void pcs_event_forget(pcs_event_memory *memory)
{
    *memory = (pcs_event_memory){ .energy = 0.0 };
    for (int j = 0; j < PCS_MAX_ROWS; j++) memory->last_time[j] = -INFINITY;
}

void pcs_event_begin(const pcs_scheme *self, pcs_events *e, const pcs_event_memory *memory)
{
    e->now = *memory;
    e->reach = memory->energy;
    pcs_event_begin_rub(self->system, e);
    memset(e->smooth, 0, sizeof e->smooth);
    memset(e->impulse, 0, sizeof e->impulse);
    memset(e->is_impact, 0, sizeof e->is_impact);
    memset(e->released, 0, sizeof e->released);
    memset(e->closed, 0, sizeof e->closed);
    memset(e->pushed, 0, sizeof e->pushed);
    memset(e->loss, 0, sizeof e->loss);
    e->impact_loss = 0.0;
    e->iterations = e->count = 0;
    e->bad_equation = -1;
    e->is_accumulating = false;
}

// Solves x += M^-1 G^T la with 0 <= G x + target _|_ la >= 0 on the gated rows.
static pcs_outcome event_solve(pcs_scheme *self, pcs_events *e, const double *q, double *x)
{
    pcs_step_problem problem = { .q = e->q,
                                 .v = x,
                                 .d = e->d,
                                 .target = e->target,
                                 .gate = e->gate,
                                 .nu = e->nu,
                                 .la = e->la,
                                 .target_t = e->rub == NULL ? NULL : e->rub->target,
                                 .la_t = e->rub == NULL ? NULL : e->rub->la,
                                 .lam = e->lam,
                                 .rate_before = e->rate_before };
    pcs_step_result result;
    memcpy(e->q, q, (size_t)self->system->nv * sizeof *q);
    memset(e->la, 0, sizeof e->la);
    memset(e->nu, 0, sizeof e->nu);
    self->solver->ops->solve(self->solver, &problem, &result);
    e->iterations += result.iterations;
    return result.outcome;
}

pcs_outcome pcs_event_check(pcs_events *e, int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (isfinite(x[i])) continue;
        e->bad_equation = i;
        return PCS_NOT_FINITE;
    }
    return PCS_CONVERGED;
}

pcs_outcome pcs_event_accelerate(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v, double *a)
{
    pcs_system *system = self->system;
    pcs_outcome outcome = PCS_CONVERGED;
    bool has_held = false;
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    pcs_free_acceleration(self, t, q, v, a);
    memset(e->target, 0, sizeof e->target);
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, pcs_at(self->solver->t, q, v), e->target);
    for (int j = 0; j < system->nrow; j++) {
        e->gate[j] = e->now.held[j];
        has_held = has_held || e->gate[j];
        e->drive[j] = fabs(pcs_system_rate(system, j, a)) + fabs(e->target[j]);
    }
    memset(e->la, 0, sizeof e->la);
    if (e->rub != NULL) {
        outcome = pcs_event_accelerate_modes(self, e, q, v, a);
        return outcome == PCS_CONVERGED ? pcs_event_check(e, system->nv, a) : outcome;
    }
    if (has_held) outcome = event_solve(self, e, q, a);
    if (outcome == PCS_CONVERGED) outcome = pcs_event_check(e, system->nv, a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) {
        e->force[j] = e->la[j];
        e->acceleration[j] = pcs_system_rate(system, j, a) + e->target[j];
    }
    return PCS_CONVERGED;
}

double pcs_event_press(const pcs_scheme *self, const pcs_events *e, int row)
{
    // With modes it is the force alone that changes sign: the acceleration is zero.
    if (e->rub != NULL) return e->force[row] / self->solver->effective_mass[row];
    return e->force[row] / self->solver->effective_mass[row] - e->acceleration[row];
}

// Returns the largest velocity of a rebound, m/s, that counts as rest.
static double event_rest(const pcs_scheme *self, const pcs_events *e, const double *q, int row)
{
    // A rebound is rest if its flight is too short in time, or does not rise above the round-off of the gap.
    double pull = fmax(0.0, -e->acceleration[row]), lowest = pcs_gap_tie(self->system, row, q);
    // An impact that is only known to within `shortest` may add twice the velocity that is gained in it, so that
    // flights would settle at 4 e/(1 - e) of it.
    double shortest = 8.0 * e->shortest / fmax(1e-3, 1.0 - pcs_restitution(&self->system->rows[row], 0.0));
    double flight = fmax(0.5 * shortest * pull, sqrt(2.0 * pull * lowest));
    return fmax(e->stick * pcs_event_speed(self, e, row), flight);
}

static bool event_is_closed(const pcs_events *e, int row)
{
    return e->now.held[row] || e->closed[row] || e->gap[row] <= e->gap_tolerance;
}

// Records an impact of a row and whether the intervals between its impacts shrink.
static void event_remember(pcs_events *e, int row, double t)
{
    pcs_event_memory *now = &e->now;
    double interval = t - now->last_time[row], last = now->last_interval[row];
    bool has_two = isfinite(interval) && last > 0.0;
    now->shrinking[row] = has_two && interval < 0.9999 * last ? now->shrinking[row] + 1 : 0;
    if (now->shrinking[row] > 0) {
        double ratio = interval / last;
        e->accumulation = t + interval * ratio / (1.0 - ratio);
    }
    now->last_interval[row] = isfinite(interval) ? interval : 0.0;
    now->last_time[row] = t;
}

// Sets the gates of closed rows and their targets in the impact law, m/s; false if no contact approaches.
static bool event_aim(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v, bool is_first)
{
    const pcs_system *system = self->system;
    bool approaches = false;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double rate = pcs_system_rate(system, j, v), rebound = -pcs_restitution(row, rate) * rate;
        e->gate[j] = row->is_bilateral || event_is_closed(e, j);
        int ntangent = e->rub != NULL ? row->ntangent : 0;
        for (int i = row->first_tangent; i < row->first_tangent + ntangent; i++)
            e->rub->target[i] = row->tangent_restitution * pcs_rows_dot(system->T, i, v);
        e->target[j] = row->is_bilateral || e->now.held[j] ? 0.0 : -rebound;
        bool is_hit = !row->is_bilateral && e->gate[j] && rate < -1e-14 * pcs_event_speed(self, e, j);
        if (!is_hit) continue;
        approaches = true;
        if (e->now.held[j]) continue;
        bool is_rest = rebound <= event_rest(self, e, q, j);
        if (is_first) event_remember(e, j, t);
        if (is_first && is_rest && rebound > 0.0 && e->now.shrinking[j] >= SHRINKING_INTERVALS)
            e->is_accumulating = true;
        if (is_rest) e->target[j] = 0.0;
        e->is_impact[j] = true;
    }
    return approaches;
}

// Solves one impact on all closed contacts; v jumps, impulses and losses are added to those of the step.
static pcs_outcome event_strike(pcs_scheme *self, pcs_events *e, const double *q, double *v)
{
    const pcs_system *system = self->system;
    double before[PCS_MAX_ROWS];
    for (int j = 0; j < system->nrow; j++) before[j] = pcs_system_rate(system, j, v);
    memcpy(e->a, v, (size_t)system->nv * sizeof *v);
    pcs_outcome outcome = event_solve(self, e, q, v);
    if (outcome != PCS_CONVERGED) return outcome;
    if (e->rub != NULL) pcs_event_book_rub(self, e, e->a, v);
    for (int j = 0; j < system->nrow; j++) {
        e->impulse[j] += e->la[j];
        double loss = -0.5 * e->la[j] * (before[j] + pcs_system_rate(system, j, v));
        e->loss[j] += loss;
        e->impact_loss += loss;
    }
    pcs_event_push(self, 1.0, e->la, e->rub == NULL ? NULL : e->rub->la, e->pushed);
    return PCS_CONVERGED;
}

// Changes of a contact mode. event_violation returns how inconsistent the mode is, m/s^2, and which change mends it.
enum { KEEP, RELEASE, HOLD, SLIDE, STICK };

static double event_violation(const pcs_scheme *self, const pcs_events *e, int row, const unsigned char *may_hold,
                              int *change)
{
    const pcs_system *system = self->system;
    const pcs_row *r = &system->rows[row];
    double mass = self->solver->effective_mass[row];
    *change = KEEP;
    if (r->is_bilateral) return 0.0;
    if (!e->now.held[row]) {
        *change = HOLD;
        return may_hold[row] ? -e->acceleration[row] : 0.0;
    }
    *change = RELEASE;
    if (e->force[row] < 0.0 || !pcs_event_rubs(system, e, row)) return -e->force[row] / mass;
    *change = SLIDE;
    if (!e->now.slides[row]) return -e->rub->margin[row];
    if (e->now.is_moving[row]) return 0.0;
    double along = 0.0;
    for (int t = 0; t < r->ntangent; t++) along += e->rub->slide[r->first_tangent + t] * e->rub->aim[row][t];
    *change = STICK;
    return -along;
}

static void event_change(const pcs_system *system, pcs_events *e, int row, int change)
{
    const pcs_row *r = &system->rows[row];
    const double *from = change == SLIDE ? e->rub->force : e->rub->slide;
    double sign = change == SLIDE ? -1.0 : 1.0, size = 0.0;
    if (change == RELEASE || change == HOLD) e->now.held[row] = change == HOLD;
    if (change == STICK) e->now.slides[row] = 0;
    if (change == RELEASE || change == STICK || e->now.is_moving[row]) return;
    // A row that is held again goes on as it was about to slide.
    for (int t = 0; t < r->ntangent; t++) size = hypot(size, from[r->first_tangent + t]);
    e->now.slides[row] = size > 0.0;
    if (size == 0.0) return;
    for (int t = 0; t < r->ntangent; t++) e->now.slip[row][t] = sign * from[r->first_tangent + t] / size;
}

// Sets the modes of friction: rows that move slide along their velocity, others stick at first.
static void event_start_modes(const pcs_scheme *self, pcs_events *e, const double *v)
{
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        double u[2];
        pcs_event_slip(system, j, v, u);
        double size = hypot(u[0], u[1]);
        bool moves = pcs_event_rubs(system, e, j) && size > 2.0 * pcs_event_slow(self, e, j);
        bool creeps = e->now.slides[j] && !e->now.is_moving[j] && size <= pcs_event_creep(self, e, j);
        e->now.slides[j] = moves;
        e->now.is_moving[j] = moves && !creeps;
        for (int t = 0; t < 2; t++) e->now.slip[j][t] = moves ? u[t] / size : 0.0;
    }
}

// Finds modes of friction that are consistent at (t, q, v); rows are held, or released if they would pull. Returns
// PCS_PARADOX if there are none, or if forces are not unique.
static pcs_outcome event_find_modes(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v)
{
    const pcs_system *system = self->system;
    unsigned char may_hold[PCS_MAX_ROWS];
    memcpy(may_hold, e->now.held, sizeof may_hold);
    event_start_modes(self, e, v);
    for (int round = 0; round < MODE_ROUNDS; round++) {
        int worst = -1, change = KEEP, what;
        double most = 0.0, largest = 0.0;
        pcs_outcome outcome = pcs_event_accelerate(self, e, t, q, v, e->a);
        if (outcome != PCS_CONVERGED) return outcome;
        for (int j = 0; j < system->nrow; j++) largest = fmax(largest, e->drive[j]);
        for (int j = 0; j < system->nrow; j++) {
            double off = event_violation(self, e, j, may_hold, &what);
            // Later rounds take the first one, so that none is looked at for ever.
            if (!(off > mode_undecided * largest) || !(off > most) || (round > MODE_ROUNDS / 4 && worst >= 0)) continue;
            worst = j;
            most = off;
            change = what;
        }
        if (worst < 0) {
            for (int j = 0; j < system->nrow; j++)
                if (!e->now.is_moving[j]) memcpy(e->now.slip[j], e->rub->aim[j], sizeof e->now.slip[j]);
            return pcs_event_is_unique(self, e) ? PCS_CONVERGED : PCS_PARADOX;
        }
        event_change(system, e, worst, change);
    }
    return PCS_PARADOX;
}

// Holds closed rows at rest that press, or whose force and acceleration both vanish.
static pcs_outcome event_hold(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v)
{
    const pcs_system *system = self->system;
    double largest = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        bool is_closed = event_is_closed(e, j);
        bool is_slow = fabs(pcs_system_rate(system, j, v)) <= event_rest(self, e, q, j);
        // A contact that opens from rest has a gap of round-off for a while.
        e->now.floor[j] = is_closed ? fmin(0.0, e->gap[j]) : 0.0;
        if (is_closed && is_slow) e->now.floor[j] -= e->gap_tolerance;
        e->now.held[j] = system->rows[j].is_bilateral || (is_closed && is_slow && !e->released[j]);
    }
    pcs_outcome outcome =
        e->rub != NULL ? event_find_modes(self, e, t, q, v) : pcs_event_accelerate(self, e, t, q, v, e->a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) largest = fmax(largest, e->drive[j]);
    for (int j = 0; j < system->nrow; j++)
        if (e->rub == NULL && !system->rows[j].is_bilateral && e->force[j] == 0.0 &&
            e->acceleration[j] > undecided * largest)
            e->now.held[j] = 0;
    pcs_event_project_velocity(self, e, v);
    memset(e->released, 0, sizeof e->released);
    memset(e->closed, 0, sizeof e->closed);
    return PCS_CONVERGED;
}

pcs_outcome pcs_event_resolve(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v)
{
    pcs_system *system = self->system;
    pcs_measure measure;
    system->ops->measure(system, pcs_at(self->solver->t, q, v), PCS_ENERGY, &measure);
    e->now.energy = fmax(e->now.energy, measure.kinetic);
    pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), e->gap);
    // Accelerations of open contacts give the flight time of a rebound, by which event_aim tells it from rest.
    pcs_outcome outcome = pcs_event_accelerate(self, e, t, q, v, e->a);
    for (int round = 0; outcome == PCS_CONVERGED && event_aim(self, e, t, q, v, round == 0); round++) {
        if (e->is_accumulating && e->stops) return PCS_ACCUMULATES;
        if (round == IMPACT_ROUNDS) return PCS_NOT_CONVERGED;
        outcome = event_strike(self, e, q, v);
    }
    e->is_accumulating = false;
    e->count++;
    return outcome == PCS_CONVERGED ? event_hold(self, e, t, q, v) : outcome;
}

pcs_outcome pcs_event_renew(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v)
{
    const pcs_system *system = self->system;
    bool is_stale = false;
    if (e->rub == NULL) return PCS_CONVERGED;
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    for (int j = 0; j < system->nrow; j++) {
        double u[2];
        pcs_event_slip(system, j, v, u);
        bool moves = hypot(u[0], u[1]) > 2.0 * pcs_event_slow(self, e, j);
        is_stale = is_stale || (moves && pcs_event_rubs(system, e, j) && !e->now.slides[j]);
    }
    if (is_stale) return pcs_event_resolve(self, e, t, q, v);
    return pcs_event_is_unique(self, e) ? PCS_CONVERGED : PCS_PARADOX;
}

void pcs_event_clear_floors(pcs_scheme *self, pcs_events *e, const double *q)
{
    pcs_system_gaps(self->system, pcs_at(self->solver->t, q, NULL), e->gap);
    for (int j = 0; j < self->system->nrow; j++)
        if (e->gap[j] > e->gap_tolerance) e->now.floor[j] = 0.0;
}

// Adds M^-1 G^T z to x, with G M^-1 G^T z = -residual on the held rows. Returns false if none is held.
static bool event_project(pcs_scheme *self, pcs_events *e, const double *residual, double *x)
{
    int row[PCS_MAX_ROWS], n = 0, m = self->system->nrow;
    for (int j = 0; j < m; j++)
        if (e->now.held[j]) row[n++] = j;
    for (int i = 0; i < n; i++) {
        e->z[i] = -residual[row[i]];
        for (int j = 0; j < n; j++)
            e->A[i * n + j] = pcs_projection_entry(self->solver, row[i], row[j]) * (i == j ? 1.0 + proximal : 1.0);
    }
    if (n == 0 || !pcs_dense_solve(n, e->A, e->z)) return false;
    for (int i = 0; i < n; i++) {
        pcs_projection_add(self->solver, row[i], e->z[i], x);
        e->la[row[i]] = e->z[i];
    }
    return true;
}

void pcs_event_project_position(pcs_scheme *self, pcs_events *e, double *q)
{
    for (int round = 0; round < PROJECTION_ROUNDS; round++) {
        pcs_system_gaps(self->system, pcs_at(self->solver->t, q, NULL), e->gap);
        if (!event_project(self, e, e->gap, q)) return;
    }
}

void pcs_event_project_velocity(pcs_scheme *self, pcs_events *e, double *v)
{
    const pcs_system *system = self->system;
    double rate[PCS_MAX_ROWS];
    if (e->rub != NULL) {
        pcs_event_project_modes(self, e, v);
        return;
    }
    for (int round = 0; round < PROJECTION_ROUNDS; round++) {
        for (int j = 0; j < system->nrow; j++) rate[j] = pcs_system_rate(system, j, v);
        if (!event_project(self, e, rate, v)) return;
        for (int j = 0; j < system->nrow; j++)
            if (e->now.held[j]) e->smooth[j] += e->la[j];
        for (int j = 0; j < system->nrow; j++)
            if (!e->now.held[j]) e->la[j] = 0.0;
        pcs_event_push(self, 1.0, e->la, NULL, e->pushed);
    }
}

// Reports the friction of a row over the step, and its slip and mode at the end.
static void event_report_rub(const pcs_scheme *self, const pcs_events *e, int row, const double *v, pcs_row_report *to)
{
    const pcs_row *r = &self->system->rows[row];
    for (int t = 0; t < r->ntangent; t++) {
        int k = r->first_tangent + t;
        to->tangent[t] = e->rub->smooth[k] + e->rub->impulse[k];
        to->slip[t] = pcs_rows_dot(self->system->T, k, v);
    }
    to->slides = e->now.held[row] && e->now.slides[row];
    to->friction_loss = e->rub->loss[row];
}

void pcs_event_report(const pcs_scheme *self, pcs_events *e, const double *q, const double *v, pcs_step_report *report)
{
    pcs_system *system = self->system;
    pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), e->gap);
    for (int j = 0; j < system->nrow; j++) {
        double rate = pcs_system_rate(system, j, v);
        report->rows[j] = (pcs_row_report){
            .gap = e->gap[j],
            .rate = rate,
            .rate_before = rate,
            .step_impulse = e->smooth[j] + e->impulse[j],
            .force = report->h > 0.0 ? e->smooth[j] / report->h : 0.0,
            .impulse = e->impulse[j],
            .normal_loss = e->loss[j],
            .is_gated = e->now.held[j] != 0,
            .is_closed = e->now.held[j] || e->smooth[j] + e->impulse[j] > 0.0,
            .is_impact = e->is_impact[j],
        };
        if (e->rub != NULL) event_report_rub(self, e, j, v, &report->rows[j]);
        report->friction_loss += report->rows[j].friction_loss;
    }
    // Told along the directions of the end.
    pcs_event_push(self, -1.0, e->smooth, e->rub == NULL ? NULL : e->rub->smooth, e->pushed);
    pcs_event_push(self, -1.0, e->impulse, e->rub == NULL ? NULL : e->rub->impulse, e->pushed);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] += e->pushed[k];
    report->impact_loss = e->impact_loss;
    report->iterations = e->iterations;
    report->is_joined = true;
}

pcs_status pcs_event_start(pcs_scheme *self, pcs_events *e, pcs_state *x, pcs_next *next, pcs_step_report *report)
{
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, next, report);
    report->outcome = pcs_event_resolve(self, e, x->t, x->q, x->v);
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_memory_copy(self->solver->nmemory, self->solver->memory, x->carried);
    self->system->ops->measure(self->system, pcs_at(x->t, x->q, x->v), PCS_ENERGY, &report->measure);
    pcs_event_report(self, e, x->q, x->v, report);
    return PCS_OK;
}
