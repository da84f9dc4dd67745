// Step solver `schur`: for many contacts, with friction and joints. The condensed contact problem of `newton` and
// `condensed`, but neither it nor the columns M^-1 G^T are ever formed: a product with its matrix is a solve with the
// factored M and S* (see schur_map.h), and crowd.h solves the problem by products, starting from the multipliers of the
// last step.
//
// For a linear system one linearisation is the step. Otherwise every iteration linearises about the present (q, v):
//
//   S* dd = h f(q, v) - c M d + h K D' + h C W' + (S* d of the multipliers),   D' = U' + kw W' at the present iterate
//
// Derivatives of M, G and of the constraint forces are left out of the linearisation (they cost an iteration or two,
// never the solution).

#include "core/rounding.h"
#include "step/columns.h"
#include "step/convergence.h"
#include "step/schur_map.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 60, POLISHES = 3 };

typedef struct schur {
    int n, m, nt;
    pcs_crowd *crowd;
    pcs_schur_map *map;
    double *q0, *v0, *qt, *D, *W, *y0, *q_last, *v_last; // [n]
    double *sum, *sum_t;                                 // [n] sums that q and qt come from; q and qt themselves
    double *x, *turned;                                  // [n] where positions do not add up
    bool is_stale;                                       // the products have changed since the last solve
    bool is_at_start; // linearised at the start of the step, which is no point of the iteration
} schur;

static pcs_status schur_setup(pcs_step_solver *self)
{
    schur *s = self->data;
    const pcs_system *system = self->system;
    s->n = system->nv;
    s->m = system->nrow;
    s->nt = system->ntangent;
    double **vectors[] = { &s->q0, &s->v0, &s->qt, &s->D, &s->W, &s->y0, &s->q_last, &s->v_last };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(self->ctx, *vectors[i], s->n, "the Schur solver");
    if (system->ops->retract != NULL) {
        double **more[] = { &s->sum, &s->sum_t, &s->x, &s->turned };
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) PCS_TAKE(self->ctx, *more[i], s->n, "the Schur solver");
    }
    PCS_TRY(pcs_schur_map_create(self, &s->map));
    PCS_TRY(pcs_crowd_create(self->ctx, system, s->map->nb, &s->crowd));
    PCS_TRY(pcs_near_create(self, system->G, NULL, &s->crowd->near[0]));
    PCS_TRY(pcs_near_create(self, system->G, system->T, &s->crowd->near[1]));
    s->crowd->product = pcs_schur_map_product;
    s->crowd->owner = s->map;
    self->memory[0] = (pcs_memory){ s->crowd->z, (size_t)s->crowd->n * sizeof *s->crowd->z };
    self->memory[1] = (pcs_memory){ &s->crowd->reach, sizeof s->crowd->reach };
    return PCS_OK;
}

// S* of a linear system is factored here, that of others in every iteration.
static pcs_status schur_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    schur *s = self->data;
    pcs_schur_map *map = s->map;
    const pcs_step_form *form = &self->form;
    pcs_schur_map_choose(map);
    s->is_stale = true;
    pcs_crowd *c = s->crowd;
    c->h = form->h;
    c->has_position = form->has_position;
    c->gate_is_live = form->gate_is_live;
    pcs_crowd_set_smooth(c, form->has_smooth_multipliers ? map->nb : 0);
    bool is_damped = map->kind == PCS_MAP_GENERAL;
    c->is_one_way = form->kw == 0.0 && s->nt == 0 && !is_damped && !form->has_smooth_multipliers;
    bool is_plain = map->kind == PCS_MAP_STILL || (form->kw <= form->kb && !form->has_smooth_multipliers && !is_damped);
    c->is_symmetric = self->system->is_linear && is_plain;
    if (!form->has_dynamics) return PCS_OK;
    if (self->system->is_linear) return pcs_step_factor_iteration(self, &map->S, &map->iteration, outcome);
    if (map->S != NULL) return PCS_OK;
    PCS_TRY(pcs_matrix_create(self->ctx, self->system->M->pattern, &map->S));
    // S* is not symmetric in general; a back end for positive matrices then serves the mass alone.
    bool is_general = pcs_linsolve_takes(self->linear, map->S->pattern, PCS_GENERAL);
    PCS_TRY(pcs_linsolve_create_labelled(self->ctx, is_general ? self->linear : "auto", "iteration", map->S,
                                         PCS_GENERAL, &map->iteration));
    self->iteration_backend = map->iteration->title;
    return PCS_OK;
}

// The smooth multipliers of joints.
static void schur_tell_smooth(const pcs_step_solver *self, const pcs_step_problem *p)
{
    const schur *s = self->data;
    if (!self->form.has_smooth_multipliers) return;
    for (int j = 0; j < s->m; j++) p->lam[j] = 0.0;
    for (int i = 0; i < s->map->nb; i++)
        p->lam[s->map->bilateral[i]] = s->crowd->z[2 * s->m + s->nt + i] / self->form.h;
}

// K at the present state, the stiffness of joints under load included.
static void schur_update_tangents(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    pcs_system *system = self->system;
    bool has_joints = self->form.has_smooth_multipliers && system->ops->add_joint_stiffness != NULL;
    if (system->ops->update_tangents != NULL) system->ops->update_tangents(system, p->t, p->q, p->v);
    if (has_joints) {
        schur_tell_smooth(self, p);
        system->ops->add_joint_stiffness(system, p->q, p->lam);
    }
    if (p->base != NULL && (has_joints || system->ops->update_tangents != NULL))
        system->ops->turn_columns(system, s->x, system->K);
}

// S* at the present state.
static bool schur_factor(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    bool is_singular = false;
    schur_update_tangents(self, p);
    pcs_matrix_combine(s->map->S, form->c, system->M, form->h, system->C, form->h * form->kb, system->K);
    if (pcs_linsolve_factor(s->map->iteration, &is_singular) != PCS_OK || is_singular) return false;
    self->nfactor++;
    s->is_stale = true;
    return true;
}

// The change of d without multipliers, up to the present d.
static void schur_free_increment(pcs_step_solver *self, pcs_step_problem *p, bool is_first)
{
    schur *s = self->data;
    pcs_system *system = self->system;
    double h = self->form.h;
    system->ops->force(system, p->t, p->q, p->v, s->y0);
    for (int i = 0; i < s->n; i++) s->y0[i] *= h;
    if (!is_first) {
        pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->y0);
        pcs_matrix_add_multiply(system->K, h, s->D, s->y0);
        if (system->C != NULL) pcs_matrix_add_multiply(system->C, h, s->W, s->y0);
    }
    pcs_linsolve_solve(s->map->iteration, s->y0);
}

// What is learnt about the products, after they have changed. Gaps feel S*, velocities as far as W moves positions.
static void schur_refresh(pcs_step_solver *self)
{
    schur *s = self->data;
    const pcs_step_form *form = &self->form;
    const pcs_matrix *S = form->has_dynamics ? s->map->S : NULL;
    double way = form->kb > 0.0 ? 1.0 / form->kb : 0.0, rub = form->has_position ? 0.5 * form->h : 0.0;
    double gaps[2] = { 1.0, 1.0 }, rates[2] = { fmin(1.0, form->kw * way), fmin(1.0, (form->kw + rub) * way) };
    pcs_crowd_reset(s->crowd);
    if (s->crowd->near[0] != NULL && form->has_position) pcs_near_fill(s->crowd->near[0], S, gaps);
    if (s->crowd->near[1] != NULL) pcs_near_fill(s->crowd->near[1], S, rates);
}

// Masses of the projection equations, and what the form says of gates.
static void schur_fill_crowd(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    pcs_crowd *c = s->crowd;
    for (int j = 0; j < s->m; j++) c->r[j] = c->r[s->m + j] = self->effective_mass[j];
    for (int t = 0; t < s->nt; t++) c->r[2 * s->m + t] = self->tangent_mass[t];
    for (int i = 0; i < c->nb; i++) c->r[2 * s->m + s->nt + i] = self->effective_mass[s->map->bilateral[i]];
    c->gate_tolerance = self->form.gate_tolerance;
    if (!c->gate_is_live) memcpy(c->gate, p->gate, (size_t)s->m);
    // What cannot act starts from zero; so does all after a failure.
    for (int j = 0; j < s->m && !c->gate_is_live; j++) {
        if (c->gate[j] || c->rows[j].is_bilateral) continue;
        c->z[s->m + j] = 0.0;
        for (int t = 0; t < c->rows[j].ntangent; t++) c->z[2 * s->m + c->rows[j].first_tangent + t] = 0.0;
    }
    if (s->is_stale) schur_refresh(self);
    s->is_stale = false;
}

// Adds the targets, or factors of the velocity given; `row` is for products.
static void schur_add_targets(const pcs_rows *rows, const double *target, const double *velocity, double *row,
                              double *b)
{
    if (velocity != NULL) pcs_rows_multiply(rows, velocity, row);
    for (int j = 0; j < rows->nrow; j++) b[j] += velocity == NULL ? target[j] : target[j] * row[j];
}

// Values of the rows at d + y0 without multipliers, from the present q.
static void schur_fill_base(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    pcs_crowd *c = s->crowd;
    const pcs_system *system = self->system;
    double kb = self->form.kb;
    int m = s->m;
    for (int i = 0; i < s->n; i++) s->v_last[i] = s->v0[i] + p->d[i] + s->y0[i];
    pcs_rows_multiply(s->map->G, s->v_last, c->b + m);
    schur_add_targets(s->map->G, p->target, p->target_velocity, s->map->row, c->b + m);
    if (s->nt > 0) {
        pcs_rows_multiply(s->map->T, s->v_last, c->b + 2 * m);
        schur_add_targets(s->map->T, p->target_t, p->target_velocity, s->map->row, c->b + 2 * m);
    }
    pcs_rows_multiply(s->map->G, s->v_last, s->map->row);
    for (int i = 0; i < c->nb; i++)
        c->b[2 * m + s->nt + i] = s->map->row[s->map->bilateral[i]] + p->target[s->map->bilateral[i]];
    memset(c->b, 0, (size_t)m * sizeof *c->b);
    if (!pcs_form_sees_gaps(&self->form) && !self->form.law_is_gap) return;
    const double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t, *way = s->y0;
    for (int i = 0; i < s->n; i++) s->q_last[i] = sum_t[i] + kb * s->y0[i] - sum[i];
    if (p->base != NULL) {
        memcpy(s->turned, s->y0, (size_t)s->n * sizeof *way);
        system->ops->turn(system, s->x, s->turned);
        system->ops->turn(system, s->x, s->q_last);
        way = s->turned;
    }
    system->ops->gaps(system, s->qt, c->b_gate);
    system->ops->gaps(system, p->q, c->b);
    pcs_rows_multiply(s->map->G, way, s->map->row);
    for (int j = 0; j < m; j++) c->b_gate[j] += kb * s->map->row[j];
    pcs_rows_multiply(s->map->G, s->q_last, s->map->row);
    for (int j = 0; j < m; j++) c->b[j] += s->map->row[j];
    if (s->is_at_start) memcpy(c->b_gate, c->b, (size_t)m * sizeof *c->b);
    // d and W move the gap and kb times the velocity alike.
    for (int j = 0; j < m && self->form.law_is_gap; j++) c->b[m + j] = c->b[j] / kb;
}

// q and qt for the sums of increments, where they do not add up.
static void schur_retract(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    if (p->base == NULL) return;
    for (int i = 0; i < s->n; i++) s->x[i] = s->sum_t[i] - p->base[i];
    self->system->ops->retract(self->system, p->base, s->x, s->qt);
    for (int i = 0; i < s->n; i++) s->x[i] = s->sum[i] - p->base[i];
    self->system->ops->retract(self->system, p->base, s->x, p->q);
    s->map->at = s->x;
}

// Settles the contact problem about the present state; gives the largest change of the motion, NAN when it fails.
static double schur_iterate(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    schur *s = self->data;
    const pcs_schur_map *map = s->map;
    double kb = self->form.kb, change = 0.0;
    double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t;
    schur_fill_crowd(self, p);
    schur_fill_base(self, p);
    if (!isfinite(pcs_sum_largest(s->crowd->n, s->crowd->b))) return NAN;
    bool is_settled = pcs_crowd_solve(s->crowd);
    *iterations += s->crowd->rounds;
    self->products += s->crowd->products;
    self->revisits += s->crowd->revisits;
    self->projections += s->crowd->projections;
    if (!is_settled) return NAN;
    pcs_schur_map_motion(s->map, self->form.has_position ? PCS_CROWD_BOTH : PCS_CROWD_RATE, s->crowd->z);
    bool is_finite = true, sees_positions = self->form.has_dynamics || pcs_form_sees_gaps(&self->form);
    for (int i = 0; i < s->n; i++) {
        double dd = s->y0[i] + map->d[i], q = sum_t[i] + kb * s->y0[i] + map->dq[i];
        is_finite = is_finite && isfinite(dd);
        change = pcs_larger(change, fabs(dd));
        if (sees_positions) change = pcs_larger(change, fabs(q - sum[i]) / self->form.h);
        sum_t[i] += kb * dd;
        sum[i] = q;
        s->D[i] = q - sum_t[i];
        p->d[i] += dd;
        s->W[i] = map->W[i];
        p->v[i] = s->v0[i] + p->d[i] + s->W[i];
    }
    s->is_at_start = false;
    schur_retract(self, p);
    change = pcs_system_max(self->system, is_finite ? change : INFINITY);
    return isfinite(change) ? change : NAN;
}

// No increment, no multipliers in the motion.
static void schur_begin(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    size_t bytes = (size_t)s->n * sizeof(double);
    s->map->at = NULL;
    s->is_at_start = false;
    memcpy(p->q, s->q0, bytes);
    memcpy(p->v, s->v0, bytes);
    memcpy(s->qt, s->q0, bytes);
    memset(p->d, 0, bytes);
    memset(s->y0, 0, bytes);
    if (p->base == NULL) return;
    memcpy(s->sum, s->q0, bytes);
    memcpy(s->sum_t, s->q0, bytes);
    schur_retract(self, p);
}

// The first linearisation is about the start of the step, a state in balance, which is no point q(d), v(d) of the
// iteration: what it differs by stands in D and W.
static void schur_begin_at_start(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    double *sum = p->base == NULL ? p->q : s->sum;
    schur_begin(self, p);
    s->is_at_start = true;
    for (int i = 0; i < s->n; i++) {
        s->D[i] = p->q_start[i] - s->q0[i];
        s->W[i] = p->v_start[i] - s->v0[i];
        sum[i] = p->q[i] = p->q_start[i];
        p->v[i] = p->v_start[i];
        if (p->base != NULL) s->x[i] = 0.0;
    }
}

// Do rows with an impulse keep their velocity along the directions where the step ends, too? They were taken from the
// iterate before.
static bool schur_law_holds(pcs_step_solver *self, const pcs_step_problem *p)
{
    const schur *s = self->data;
    const pcs_rows *G = self->system->G;
    double *rate = s->crowd->x;
    if (self->system->ops->update_directions == NULL || self->form.law_is_gap) return true;
    pcs_rows_multiply(G, p->v, rate);
    schur_add_targets(G, p->target, p->target_velocity, s->map->row, rate);
    for (int j = 0; j < s->m; j++) {
        double size = fabs(p->target[j]);
        if (s->crowd->z[s->m + j] == 0.0) continue;
        for (int k = G->start[j]; k < G->start[j + 1]; k++) size += fabs(G->value[k] * p->v[G->column[k]]);
        if (fabs(rate[j]) > 1e-12 * size) return false;
    }
    return true;
}

// Has a contact begun or ceased to transmit an impulse, against the step before?
static bool schur_changes_sets(const pcs_step_solver *self, const pcs_step_problem *p)
{
    const schur *s = self->data;
    const double *z = s->crowd->z;
    for (int j = 0; j < s->m; j++) {
        bool acts = z[s->m + j] > 0.0 || z[j] > 0.0;
        if (!self->system->rows[j].is_bilateral && acts != (p->was_loaded[j] != 0)) return true;
    }
    return false;
}

// Iterates from the prediction, or from the start of the step. The prediction is nearer where the motion is smooth, and
// is given up as soon as it is not.
static pcs_outcome schur_settle(pcs_step_solver *self, pcs_step_problem *p, bool is_predicted, int *iterations)
{
    schur *s = self->data;
    const pcs_system *system = self->system;
    pcs_convergence convergence = pcs_convergence_begin(self, s->v0);
    bool may_restart = is_predicted && !system->is_linear && p->q_start != NULL;
    int npolish = 0;
    if (is_predicted) schur_begin(self, p);
    else schur_begin_at_start(self, p);
    while (convergence.count < ITERATIONS) {
        if (!system->is_linear &&
            (!pcs_projection_move_along(self, p->q, p->base == NULL ? NULL : s->x) || !schur_factor(self, p)))
            return PCS_SINGULAR;
        schur_free_increment(self, p, convergence.count == 0 && is_predicted);
        double change = schur_iterate(self, p, iterations);
        if (isnan(change)) return isfinite(pcs_system_largest(system, s->y0)) ? PCS_NOT_CONVERGED : PCS_NOT_FINITE;
        pcs_verdict verdict = pcs_convergence_judge(&convergence, p, change);
        if (system->is_linear) return PCS_CONVERGED;
        if (may_restart && (verdict == PCS_GROWING || schur_changes_sets(self, p))) return PCS_NOT_CONVERGED;
        if (verdict != PCS_SETTLED) continue;
        if (!pcs_projection_move_along(self, p->q, p->base == NULL ? NULL : s->x)) return PCS_SINGULAR;
        if (schur_law_holds(self, p) || npolish++ == POLISHES) return PCS_CONVERGED;
    }
    return PCS_NOT_CONVERGED;
}

static pcs_outcome schur_dynamics(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    schur *s = self->data;
    bool has_start = !self->system->is_linear && p->q_start != NULL;
    if (has_start && p->base == NULL && pcs_convergence_foresees(self, p, s->crowd->b_gate))
        return schur_settle(self, p, false, iterations);
    pcs_outcome outcome = schur_settle(self, p, true, iterations);
    if (outcome == PCS_CONVERGED || !has_start) return outcome;
    memset(s->crowd->z, 0, (size_t)s->crowd->n * sizeof(double));
    return schur_settle(self, p, false, iterations);
}

static void schur_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    schur *s = self->data;
    const pcs_crowd *c = s->crowd;
    *result = (pcs_step_result){ 0 };
    if (self->form.has_dynamics) self->system->time = p->t;
    else if (!self->system->is_linear) s->is_stale = true; // mass and directions stand where the scheme has put them
    self->products = self->revisits = self->projections = 0;
    memcpy(s->q0, p->q, (size_t)s->n * sizeof(double));
    memcpy(s->v0, p->v, (size_t)s->n * sizeof(double));
    schur_begin(self, p);
    if (self->form.has_dynamics) {
        result->outcome = schur_dynamics(self, p, &result->iterations);
    } else if (isnan(schur_iterate(self, p, &result->iterations))) {
        result->outcome = PCS_NOT_CONVERGED;
    }
    if (result->iterations == 0) result->iterations = 1;
    if (result->outcome != PCS_CONVERGED) {
        memset(s->crowd->z, 0, (size_t)c->n * sizeof(double));
        return;
    }
    for (int i = 0; i < s->n; i++) s->v_last[i] = p->v[i] - s->W[i];
    pcs_rows_multiply(self->system->G, s->v_last, p->rate_before);
    for (int j = 0; j < s->m; j++) {
        p->nu[j] = c->z[j];
        p->la[j] = c->z[s->m + j];
        p->gate[j] = c->gate[j] || self->system->rows[j].is_bilateral;
    }
    for (int t = 0; t < s->nt; t++) p->la_t[t] = c->z[2 * s->m + t];
    schur_tell_smooth(self, p);
    if (p->smooth_gap != NULL) self->system->ops->gaps(self->system, s->qt, p->smooth_gap);
}

const pcs_step_solver_ops pcs_step_schur = {
    .name = "schur",
    .summary = "semi-smooth Newton and Krylov on contact rows that are never condensed, for many contacts",
    .data_size = sizeof(schur),
    .takes_all = true,
    .needs_no_columns = true,
    .setup = schur_setup,
    .prepare = schur_prepare,
    .solve = schur_solve,
};
