#include "step/outer.h"

#include "core/loop.h"
#include "core/rounding.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 60, MOST = 400, POLISHES = 3, STALLED_AFTER = 16, RENEWED_AFTER = 16 };

typedef enum verdict { CONVERGED, SHRINKING, GROWING } verdict;

typedef struct progress {
    const pcs_system *system;
    double h;
    double scale;     // m/s, largest velocity met so far
    double last;      // m/s, change of the iteration before
    double rate;      // of the last change to the one before it
    bool is_steady;   // the rate is that of the change before
    double size;      // energy norm of the last change
    double left;      // m/s, error left after a second change, from `size` and w; INFINITY if unknown
    int count;        // iterations
    bool is_sloped;   // the matrix of the second iteration is the slope of all that acts
    bool keeps;       // the last iteration kept the matrix of the one before
    double noise;     // m/s, allowance for round-off
    bool is_at_noise; // only this round-off is left: more iterations change nothing
} progress;

// Accuracy of velocities aimed at; round-off allowed in velocities, and in lengths and positions, each relative.
static const double converged_rtol = 1e-14, stalled_rtol = 1e-10, position_noise = 8.0 * DBL_EPSILON;
// Largest error left by a second change, relative to the velocities, that may be accepted as round-off.
static const double accepted_rtol = 1e-12;
static const double fast_rate = 0.1, slow_rate = 0.5, slow_change = 1e-2;
// Rates of two changes that differ by less than this fraction show convergence, not round-off, whose rates scatter.
static const double steady_rate = 0.1;
// Safety factor of estimates of the error left by a second change (outer.h).
static const double unsure_factor = 10.0;

// Returns true if a contact will close or open in this step according to the gates or the predicted gaps: the iteration
// must not start from the prediction then. `gap` is [nrow] work.
static bool outer_foresees(const pcs_step_solver *solver, const pcs_step_problem *p, double *gap)
{
    pcs_system *system = solver->system;
    bool is_live = solver->form.gate_is_live;
    if (is_live) pcs_system_gaps(system, pcs_at(solver->t, p->q, NULL), gap);
    bool changes = false;
    for (int j = 0; j < system->nrow && !changes; j++) {
        bool closes = is_live ? gap[j] <= p->gate_tolerance : p->gate[j] != 0;
        changes = !system->rows[j].is_bilateral && closes != (p->was_loaded[j] != 0);
    }
    return pcs_rows_any(system, changes);
}

// Returns the round-off of a change, m/s. Positions are rounded off however small the motion is: in equilibrium, or
// where joints hold everything. The round-off of an angle grows with its size over many revolutions.
static double outer_noise(const progress *c, const pcs_step_problem *p)
{
    double positions = fmax(PCS_ROUND_LENGTH * c->system->length, position_noise * pcs_system_largest(c->system, p->q));
    return fmax(stalled_rtol * c->scale, positions / c->h) * (c->count > STALLED_AFTER ? 10.0 : 1.0);
}

// Estimates the sum of the changes to come, m/s: r + r^2 + ... times the last one, or less; INFINITY if unknown.
static double outer_left(const progress *c)
{
    if (isfinite(c->left) || (c->keeps && c->count == 2)) return c->left;
    bool is_second = c->count == 2 && pcs_system_is_mesh(c->system);
    if (!(c->rate < fast_rate) || (is_second && !c->is_sloped)) return INFINITY;
    return (is_second ? unsure_factor : 1.0) * c->rate / (1.0 - c->rate) * c->last;
}

// Returns true if the error left by the last change is below the tolerance, or, after a second change, below the
// round-off of positions that a third one would have.
static bool outer_is_enough(const progress *c, const pcs_step_problem *p, double change)
{
    double left = outer_left(c);
    if (fmin(change, left) <= converged_rtol * c->scale) return true;
    if (c->count != 2 || !pcs_system_is_mesh(c->system) || left > accepted_rtol * c->scale) return false;
    return left * c->h <= position_noise * fmax(c->system->length, pcs_system_largest(c->system, p->q));
}

// Returns the verdict on an iteration that has led to p and changed the motion by `change`, m/s.
static verdict outer_judge(progress *c, const pcs_step_problem *p, double change, double increment)
{
    // Adds the velocity that weight would give a body at rest in a step, as it is rounded off all the same.
    c->scale = fmax(c->scale, fmax(pcs_system_largest(c->system, p->v), increment));
    double before = c->last, rate = c->count++ > 0 ? change / before : 1.0;
    c->is_steady = rate < 1.0 && fabs(rate - c->rate) <= steady_rate * rate;
    c->rate = rate;
    c->last = change;
    if (c->system->is_linear) return CONVERGED; // one linearisation is the whole problem
    if (outer_is_enough(c, p, change)) return CONVERGED;
    // Ends at round-off, which does not shrink.
    c->noise = outer_noise(c, p);
    c->is_at_noise = change <= c->noise && c->rate > slow_rate && !c->is_steady;
    if (c->is_at_noise) return CONVERGED;
    return c->count > 1 && c->rate > slow_rate && !c->keeps ? GROWING : SHRINKING;
}

// Returns true if the matrix is the complete derivative of smooth forces; rotations of contact rows are not in it.
static bool outer_is_sloped(const pcs_step_solver *self, const pcs_outer *o)
{
    const pcs_system *system = self->system;
    const double *z = o->contacts->z;
    int m = system->nrow, nfollower = system->row_set.vary ? m : 0;
    bool is_more = pcs_system_remembers(system) || system->ncompliant > 0 || system->mass_varies;
    for (int j = 0; j < nfollower && !is_more; j++)
        is_more = system->rows[j].is_bilateral ? !o->has_rotations : z[j] != 0.0 || z[m + j] != 0.0;
    return pcs_system_max(system, is_more) == 0.0;
}

// Measures the last change in energy. After a second one estimates the error left, m/s, and stores the rates.
static void outer_measure(pcs_step_solver *self, const pcs_outer *o, double change, progress *c)
{
    double last = c->size;
    bool is_smooth = o->size != NULL && o->may_keep(self);
    c->size = is_smooth ? *o->size : 0.0;
    c->left = INFINITY;
    if (c->count != 1 || !is_smooth || !(last > 0.0)) return;
    if (c->keeps) {
        c->left = unsure_factor * o->bend->kept_rate * last * change;
        o->bend->age += 1.0;
        return;
    }
    double drift = *o->drift, rate = change / c->last;
    if (!isfinite(drift) || !(change > 0.0)) return;
    double theta = fmax(c->size / last, rate);
    c->left = unsure_factor * (0.5 * theta * drift * drift / change + rate * rate * change / 24.0);
    *o->bend = (pcs_bend){ .h = c->h, .rate = rate / last, .kept_rate = drift / change / last };
}

// Returns true if the next iteration may keep the last matrix: at the measured rate it can remove the error left. In
// the second iteration the rates are those of earlier steps, and it keeps the matrix only if it will be the last one.
static bool outer_may_keep(const progress *c, const pcs_outer *o)
{
    if (c->count >= 2) return c->rate <= slow_change;
    if (c->count == 0 || o->bend == NULL || o->bend->h != c->h || o->bend->age >= RENEWED_AFTER) return false;
    double rate = o->bend->rate * c->size, kept_rate = o->bend->kept_rate * c->size;
    return rate < slow_change &&
           unsure_factor * kept_rate * rate * c->last <= 0.1 * converged_rtol * c->scale; // avoids a third
}

// Returns true if a contact transmits an impulse that it did not transmit in the step before, or the reverse.
static bool outer_changes_sets(const pcs_step_solver *self, const pcs_step_problem *p, const double *z)
{
    int m = self->system->nrow;
    bool changes = false;
    for (int j = 0; j < m && !changes; j++) {
        bool acts = z[m + j] > 0.0 || (self->form.has_position && z[j] > 0.0);
        changes = !self->system->rows[j].is_bilateral && acts != (p->was_loaded[j] != 0);
    }
    return pcs_rows_any(self->system, changes);
}

static bool outer_law_holds(const pcs_step_solver *self, const pcs_step_problem *p, const double *la)
{
    const pcs_rows *G = self->system->G;
    if (!self->system->row_set.vary || self->form.law_is_gap) return true;
    double speed = pcs_system_largest(self->system, p->v); // supports may fix everything along a row
    bool is_off = false;
    for (int j = 0; j < G->nrow && !is_off; j++) {
        if (la[j] == 0.0) continue;
        double defect = pcs_rows_dot(G, j, p->v) + p->target[j], size = 0.0;
        double rounded = 0.0; // d and W cancel in v
        for (int k = G->start[j]; k < G->start[j + 1]; k++) {
            size += fabs(G->value[k] * p->v[G->column[k]]);
            rounded += 4.0 * DBL_EPSILON * fabs(G->value[k] * p->d[G->column[k]]);
        }
        double least = self->system->rows[j].is_angle ? speed / self->system->length : speed;
        is_off = fabs(defect) > 1e-12 * fmax(size, fabs(p->target[j])) + 1e-13 * least + rounded;
    }
    return !pcs_rows_any(self->system, is_off);
}

// Records the last change, the one allowed, and the equation and the row that changed most, to report the failure.
static void outer_blame(pcs_step_solver *self, const pcs_outer *o, const progress *c)
{
    int m = self->system->nrow;
    double most = 0.0;
    self->bad_equation = 0;
    self->change = c->last;
    self->allowed = c->is_steady ? converged_rtol * c->scale : c->noise; // a change that shrinks is not round-off
    for (int i = 0; i < self->system->nv; i++) {
        double change = pcs_system_size(self->system, i, o->at->y0[i]);
        if (change <= most) continue;
        most = change;
        self->bad_equation = i;
    }
    most = 0.0;
    if (o->z_last == NULL) return;
    for (int j = 0; j < m; j++) {
        double change = fabs(o->contacts->z[m + j] - o->z_last[m + j]) / self->effective_mass[j];
        if (change <= most) continue;
        most = change;
        self->bad_row = j;
    }
}

// Returns true if iterations are left: the usual number, or more if the present rate leads to convergence.
static bool outer_goes_on(const progress *c)
{
    return c->count < ITERATIONS ||
           (c->rate < 1.0 && c->last * pow(c->rate, MOST - c->count) <= converged_rtol * c->scale);
}

// Returns true if the iteration begins at the acceleration of the step before. If that excludes the forces of joints,
// it is a guess only together with these, if known, and not after steps in which contacts acted on them.
static bool outer_is_guess(const pcs_step_solver *self, const pcs_step_problem *p, bool knows_joints)
{
    const pcs_row *rows = self->system->rows;
    bool is_loaded = false;
    if (p->acceleration == NULL || self->form.has_smooth_multipliers) return p->acceleration != NULL;
    if (!pcs_system_has_joints(self->system)) return true;
    for (int j = 0; j < self->system->nrow; j++)
        is_loaded = is_loaded || (!rows[j].is_bilateral && p->was_loaded[j] != 0);
    return pcs_rows_any(self->system, knows_joints) && !pcs_rows_any(self->system, is_loaded);
}

// Goes to the start of the step, a state in balance that is no point q(d), v(d) of the iteration: U and W hold the
// difference.
static void outer_go_to_start(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m)
{
    for (int i = 0; i < self->system->nv; i++) {
        m->W[i] = p->v_start[i] - m->v0[i];
        m->U[i] = p->q_start[i] - m->q0[i] - m->kw * m->W[i];
        m->sum[i] = p->q[i] = p->q_start[i];
        p->v[i] = p->v_start[i];
        if (p->base != NULL) m->x[i] = 0.0;
    }
    m->has_jump = true;
}

// Begins with the acceleration of the step before, or d = 0, and without multipliers of contacts.
static void outer_begin(pcs_step_solver *self, pcs_step_problem *p, const pcs_outer *o, bool is_at_start)
{
    pcs_motion *m = o->at;
    double scale = self->form.h / self->form.c;
    m->is_guessed = !is_at_start && outer_is_guess(self, p, o->knows_joints);
    pcs_motion_rest(self, p, m);
    for (int i = 0; i < (m->is_guessed ? self->system->nv : 0); i++) p->d[i] = scale * p->acceleration[i];
    o->begin(self, p, is_at_start);
    if (m->is_guessed) pcs_motion_go(self, p, m);
    m->is_at_start = is_at_start;
    if (m->is_guessed) o->guess(self, p);
    if (is_at_start) outer_go_to_start(self, p, m);
}

// Iterates from the prediction, which is given up as soon as it proves wrong, or from the start of the step.
static pcs_outcome outer_iterate(pcs_step_solver *self, pcs_step_problem *p, const pcs_outer *o, bool is_predicted,
                                 int *iterations)
{
    const pcs_system *system = self->system;
    progress c = { .system = system, .h = self->form.h, .last = INFINITY, .rate = 1.0, .left = INFINITY };
    bool may_restart = is_predicted && !system->is_linear && p->q_start != NULL;
    pcs_outcome outcome = PCS_NOT_CONVERGED;
    int npolish = 0;
    c.scale = pcs_system_largest(system, o->at->v0);
    o->contacts->is_hasty = may_restart;
    outer_begin(self, p, o, !is_predicted);
    while (outer_goes_on(&c)) {
        c.keeps = is_predicted && outer_may_keep(&c, o) && o->may_keep(self);
        double change = o->iterate(self, p, (pcs_pass){ c.count, c.keeps, is_predicted }, iterations, &outcome);
        if (isnan(change)) break;
        if (is_predicted) outer_measure(self, o, change, &c);
        if (c.count == 1) c.is_sloped = pcs_system_is_mesh(system) && outer_is_sloped(self, o);
        double increment = o->scale != NULL ? o->scale(self, p) : pcs_system_largest(system, p->d);
        verdict now = outer_judge(&c, p, change, increment);
        if (may_restart && (now == GROWING || outer_changes_sets(self, p, o->contacts->z))) return PCS_NOT_CONVERGED;
        if (now != CONVERGED || (o->is_provisional != NULL && o->is_provisional(self, p))) continue;
        if (!o->move(self, p)) return PCS_SINGULAR;
        if (outer_law_holds(self, p, o->contacts->z + system->nrow)) return PCS_CONVERGED;
        if (npolish++ >= (c.is_at_noise ? 1 : POLISHES)) return PCS_CONVERGED;
    }
    if (outcome == PCS_NOT_CONVERGED && c.count > 0) outer_blame(self, o, &c);
    return outcome;
}

static pcs_outcome outer_solve(pcs_step_solver *self, pcs_step_problem *p, const pcs_outer *outer, int *iterations)
{
    bool has_start = !self->system->is_linear && p->q_start != NULL;
    if (has_start && p->base == NULL && outer_foresees(self, p, outer->contacts->b_gate))
        return outer_iterate(self, p, outer, false, iterations);
    pcs_outcome outcome = outer_iterate(self, p, outer, true, iterations);
    if (outcome == PCS_CONVERGED || !has_start) return outcome;
    return outer_iterate(self, p, outer, false, iterations);
}

pcs_outcome pcs_outer_solve(pcs_step_solver *self, pcs_step_problem *p, const pcs_outer *outer, int *iterations)
{
    pcs_system *system = self->system;
    if (system->dampers.bytes != NULL) system->ops->update(system, pcs_at(self->t, NULL, NULL), PCS_DAMPERS, NULL);
    pcs_outcome outcome = outer_solve(self, p, outer, iterations);
    if (outcome == PCS_CONVERGED || system->dampers.bytes == NULL || p->q_before == NULL) return outcome;
    system->ops->update(system, pcs_at(self->t, p->q_before, NULL), PCS_DAMPERS, NULL);
    return outer_solve(self, p, outer, iterations);
}

pcs_status pcs_motion_create(pcs_step_solver *self, pcs_motion *m)
{
    int n = self->system->nv;
    PCS_TAKE_EACH(self->ctx, n, "the step solver", double, &m->q0, &m->v0, &m->qt, &m->U, &m->W, &m->y0, &m->q_last,
                  &m->v_last);
    if (!self->system->rotations.are_somewhere) return PCS_OK;
    PCS_TAKE_EACH(self->ctx, n, "the step solver", double, &m->own_sum, &m->own_sum_t, &m->x, &m->rotated);
    self->increment = m->x;
    return PCS_OK;
}

void pcs_motion_take(const pcs_step_solver *self, const pcs_step_problem *p, pcs_motion *m)
{
    memcpy(m->q0, p->q, (size_t)self->system->nv * sizeof *p->q);
    memcpy(m->v0, p->v, (size_t)self->system->nv * sizeof *p->v);
    m->kw = self->form.kw;
    m->sum = p->base == NULL ? p->q : m->own_sum;
    m->sum_t = p->base == NULL ? m->qt : m->own_sum_t;
}

void pcs_motion_retract(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m)
{
    int n = self->system->nv;
    if (p->base == NULL) return;
    if (!m->has_jump || self->form.gate_is_live) {
        for (int i = 0; i < n; i++) m->x[i] = m->sum_t[i] - p->base[i];
        pcs_retract(&self->system->rotations, p->base, m->x, m->qt);
    }
    if (!m->has_jump) {
        memcpy(p->q, m->qt, (size_t)n * sizeof *p->q);
        return;
    }
    for (int i = 0; i < n; i++) m->x[i] = m->sum[i] - p->base[i];
    pcs_retract(&self->system->rotations, p->base, m->x, p->q);
}

// Computes v and the sums of positions from d, U and W.
static void motion_add_up(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m)
{
    const double kb = self->form.kb, kw = m->kw;
    PCS_INDEPENDENT
    for (int i = 0; i < self->system->nv; i++) {
        m->sum_t[i] = m->q0[i] + kb * p->d[i];
        m->sum[i] = m->sum_t[i] + m->U[i] + kw * m->W[i];
        p->v[i] = m->v0[i] + p->d[i] + m->W[i];
    }
    m->rows_are_here = false;
}

void pcs_motion_go(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m)
{
    motion_add_up(self, p, m);
    pcs_motion_retract(self, p, m);
}

void pcs_motion_rest(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m)
{
    for (int i = 0; i < self->system->nv; i++) p->d[i] = m->U[i] = m->W[i] = m->y0[i] = 0.0;
    m->has_jump = m->is_at_start = false;
    pcs_motion_go(self, p, m);
}

void pcs_motion_stay(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m)
{
    memcpy(m->q_last, m->sum, (size_t)self->system->nv * sizeof *m->sum);
    motion_add_up(self, p, m);
    for (int i = 0; i < self->system->nv; i++) {
        double excess = (m->sum[i] - m->q_last[i]) / self->form.kb;
        p->d[i] -= excess;
        p->v[i] -= excess;
        m->sum_t[i] -= self->form.kb * excess;
        m->sum[i] = m->q_last[i];
    }
    m->rows_are_here = true;
    pcs_motion_retract(self, p, m);
}

bool pcs_motion_lead(pcs_step_solver *self, const pcs_step_problem *p, pcs_motion *m)
{
    if (m->rows_are_here) return true;
    if (p->base != NULL && self->system->row_set.vary) pcs_projection_leave(self); // x matters even at this q
    m->rows_are_here = pcs_projection_lead(self, p->q);
    return m->rows_are_here;
}

bool pcs_motion_move(pcs_step_solver *self, const pcs_step_problem *p, pcs_motion *m)
{
    if (!pcs_motion_lead(self, p, m)) return false;
    pcs_projection_follow(self, p->base == NULL ? NULL : m->x);
    return true;
}

void pcs_motion_find_gaps(pcs_step_solver *self, const pcs_step_problem *p, const pcs_motion *m, double *smooth_gap,
                          double *gap)
{
    pcs_system *system = self->system;
    bool is_elsewhere = (m->has_jump || m->is_at_start) && self->form.gate_is_live;
    if (is_elsewhere) pcs_system_gaps(system, pcs_at(self->t, m->qt, NULL), smooth_gap);
    if (m->rows_are_here) pcs_system_gaps_here(system, pcs_at(self->t, p->q, NULL), gap);
    else pcs_system_gaps(system, pcs_at(self->t, p->q, NULL), gap);
    if (!is_elsewhere) memcpy(smooth_gap, gap, (size_t)system->nrow * sizeof *gap);
}

void pcs_motion_fill_base(pcs_step_solver *self, const pcs_step_problem *p, const pcs_motion *m,
                          const pcs_curvature *curvature, bool sees_gaps, pcs_contact_problem *c)
{
    const pcs_system *system = self->system;
    const pcs_rows *G = system->G, *T = system->T;
    const double *increment = m->y0;
    double kb = self->form.kb;
    if (sees_gaps) pcs_motion_find_gaps(self, p, m, c->b_gate, c->b);
    PCS_INDEPENDENT
    for (int i = 0; i < system->nv; i++) {
        m->q_last[i] = m->sum_t[i] + kb * m->y0[i] - m->sum[i];
        m->v_last[i] = m->v0[i] + p->d[i] + m->y0[i];
    }
    for (int j = 0; j < c->m; j++) {
        double rotation = curvature == NULL ? 0.0 : pcs_rows_dot(curvature->H, j, m->q_last);
        c->b[c->m + j] = pcs_rows_dot(G, j, m->v_last) + rotation + p->target[j];
    }
    for (int t = 0; t < c->nt; t++) c->b[2 * c->m + t] = pcs_rows_dot(T, t, m->v_last) + p->target_t[t];
    if (!sees_gaps) memset(c->b, 0, (size_t)c->m * sizeof *c->b);
    if (!sees_gaps) return;
    if (p->base != NULL) {
        memcpy(m->rotated, m->y0, (size_t)system->nv * sizeof *increment);
        pcs_rotate_vector(&system->rotations, m->x, m->rotated);
        pcs_rotate_vector(&system->rotations, m->x, m->q_last);
        increment = m->rotated;
    }
    for (int j = 0; j < c->m; j++) {
        c->value[j] = c->b[j];
        c->b[j] += pcs_rows_dot(G, j, m->q_last);
        c->b_gate[j] = m->is_at_start ? c->b[j] : c->b_gate[j] + kb * pcs_rows_dot(G, j, increment);
        if (self->form.law_is_gap) c->b[c->m + j] = c->b[j] / kb; // gap = kb times velocity, for d and W
    }
}

void pcs_motion_fill_held(pcs_step_solver *self, const pcs_step_problem *p, const pcs_motion *m, pcs_contact_problem *c)
{
    const pcs_system *system = self->system;
    for (int i = 0; i < system->nv; i++) m->q_last[i] = p->drift[i] + self->form.kh * (p->d[i] + m->y0[i]);
    for (int j = 0; j < c->m; j++) c->b[j] = pcs_contact_holds(c, j) ? pcs_rows_dot(system->G, j, m->q_last) : 0.0;
    for (int t = 0; t < c->nheld_t; t++) c->b[c->n - c->nheld_t + t] = pcs_rows_dot(system->T, t, m->q_last);
}

void pcs_motion_report(pcs_step_solver *self, pcs_step_problem *p, const pcs_motion *m, const pcs_contact_problem *c)
{
    for (int j = 0; j < c->m; j++) {
        p->rate_before[j] = pcs_rows_dot(self->system->G, j, p->v) - pcs_rows_dot(self->system->G, j, m->W);
        p->nu[j] = c->z[j];
        p->la[j] = c->z[c->m + j];
        p->gate[j] = c->gate[j] || c->rows[j].is_bilateral;
    }
    for (int t = 0; t < c->nt; t++) p->la_t[t] = c->z[2 * c->m + t];
    for (int t = 0; t < (p->nu_t == NULL ? 0 : c->nt); t++)
        p->nu_t[t] = c->held == NULL ? 0.0 : c->z[c->n - c->nheld_t + t];
    if (p->smooth_gap != NULL) pcs_motion_find_gaps(self, p, m, p->smooth_gap, c->b);
}
