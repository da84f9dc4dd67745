// Step solver `newton`: for systems whose M, G or f vary, with friction and bilateral rows; dense, for few unknowns.
// The equations are in newton.h. Contact problems without dynamics use the projection as the scheme has set it and
// take one pass.

#include "step/newton.h"
#include "core/dense.h"
#include "core/rounding.h"

#include <math.h>
#include <string.h>

enum { SETTLE_TIES_AFTER = 8 };

// Room for A.
static pcs_status newton_take_rates(pcs_step_solver *self, newton *s)
{
    const pcs_rows *G = self->system->G;
    int nnz = 0;
    for (int i = 0; i < s->nb; i++) nnz += G->start[s->bilateral[i] + 1] - G->start[s->bilateral[i]];
    PCS_TRY(pcs_rows_create(self->ctx, s->nb, s->n, nnz, &s->A));
    for (int i = 0; i < s->nb; i++)
        s->A->start[i + 1] = s->A->start[i] + G->start[s->bilateral[i] + 1] - G->start[s->bilateral[i]];
    return PCS_OK;
}

static pcs_status newton_take_lists(pcs_step_solver *self, newton *s)
{
    PCS_TAKE(self->ctx, s->has_column, s->nz, "the Newton solver");
    PCS_TAKE(self->ctx, s->Y, s->nz, "the Newton solver");
    PCS_TAKE(self->ctx, s->mu_of, s->nz, "the Newton solver");
    PCS_TAKE(self->ctx, s->border, s->nb, "the Newton solver");
    for (int k = 0; k < s->nz; k++) {
        PCS_TAKE(self->ctx, s->Y[k], s->n, "the Newton solver");
        PCS_TAKE(self->ctx, s->mu_of[k], s->nb, "the Newton solver");
    }
    for (int k = 0; k < s->nb; k++) PCS_TAKE(self->ctx, s->border[k], s->n, "the Newton solver");
    PCS_TAKE(self->ctx, s->schur, (size_t)s->nb * (size_t)s->nb, "the Newton solver");
    PCS_TAKE(self->ctx, s->mu, s->nb, "the Newton solver");
    PCS_TAKE(self->ctx, s->mu0, s->nb, "the Newton solver");
    PCS_TAKE(self->ctx, s->keep, s->nb, "the Newton solver");
    PCS_TAKE(self->ctx, s->invert, (size_t)s->nb * (size_t)s->nb, "the Newton solver");
    PCS_TAKE(self->ctx, s->force, s->nb, "the Newton solver");
    self->memory[0] = (pcs_memory){ .bytes = s->force, .size = (size_t)s->nb * sizeof *s->force };
    PCS_TAKE(self->ctx, s->lam, s->m, "the Newton solver");
    return newton_take_rates(self, s);
}

// Is S* the slope of forces without kinks, with all that changes in it as long as no contact acts?
static bool newton_has_slope(const newton *s, const pcs_system *system)
{
    bool has_turns = s->nb == 0 || !system->row_set.vary || pcs_curvature_is_whole(s->curvature);
    bool is_whole = system->tangents_vary && !system->mass_varies && has_turns;
    return pcs_system_is_mesh(system) && is_whole && !pcs_system_remembers(system) &&
           pcs_system_ncompliant(system) == 0;
}

static pcs_status newton_setup(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_system *system = self->system;
    s->n = system->nv;
    s->m = system->nrow;
    s->nt = system->ntangent;
    s->nz = 2 * (s->m + s->nt);
    PCS_TAKE(self->ctx, s->bilateral, s->m, "the Newton solver");
    PCS_TAKE(self->ctx, s->is_used, s->m, "the Newton solver");
    PCS_TAKE(self->ctx, s->row_of_tangent, s->nt, "the Newton solver");
    for (int j = 0; j < s->m; j++) {
        const pcs_row *row = &system->rows[j];
        if (row->is_bilateral) s->bilateral[s->nb++] = j;
        for (int t = 0; t < row->ntangent; t++) s->row_of_tangent[row->first_tangent + t] = j;
    }
    double **vectors[] = { &s->q0, &s->v0, &s->qt, &s->U, &s->W, &s->f, &s->y0, &s->q_last, &s->v_last };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(self->ctx, *vectors[i], s->n, "the Newton solver");
    if (system->rotations.are_somewhere) {
        double **more[] = { &s->sum, &s->sum_t, &s->x, &s->turned };
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            PCS_TAKE(self->ctx, *more[i], s->n, "the Newton solver");
        self->way = s->x;
    }
    PCS_TAKE(self->ctx, s->z_last, s->nz, "the Newton solver");
    PCS_TRY(pcs_curvature_create(self, &s->curvature));
    if (newton_has_slope(s, system)) {
        PCS_TAKE(self->ctx, s->right, s->n, "the Newton solver");
        PCS_TAKE(self->ctx, s->base, s->n, "the Newton solver");
        PCS_TAKE(self->ctx, s->trial, s->n, "the Newton solver");
        self->memory[1] = (pcs_memory){ .bytes = &s->known, .size = sizeof s->known };
        PCS_TRY(pcs_past_create(self, s->nb, 2, &s->past));
    }
    PCS_TRY(newton_take_lists(self, s));
    PCS_TRY(pcs_impact_create(self, &s->impact));
    return pcs_dense_contacts_create(self->ctx, system, true, &s->contacts);
}

// Iterations factor, but what never changes is factored here; what fails then, fails in the iteration.
static pcs_status newton_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    newton *s = self->data;
    (void)outcome;
    s->stands = s->is_factored = false;
    if (s->nz > 0) memset(s->has_column, 0, (size_t)s->nz);
    if (!self->form.has_dynamics) return PCS_OK;
    const pcs_pattern *curved = s->curvature == NULL ? NULL : s->curvature->K->pattern;
    if (s->S == NULL) PCS_TRY(pcs_step_create_iteration(self, curved, &s->S, &s->iteration));
    if (self->system->is_linear) (void)pcs_newton_factor(self, &(pcs_step_problem){ .t = 0.0 });
    else pcs_newton_factor_constant(self);
    return PCS_OK;
}

// q for its sum, and qt where gates look at it.
static void newton_retract(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    if (!s->has_jump || self->form.gate_is_live) {
        for (int i = 0; i < s->n; i++) s->x[i] = s->sum_t[i] - p->base[i];
        pcs_retract(&self->system->rotations, p->base, s->x, s->qt);
    }
    if (!s->has_jump) {
        memcpy(p->q, s->qt, (size_t)s->n * sizeof *p->q);
        return;
    }
    for (int i = 0; i < s->n; i++) s->x[i] = s->sum[i] - p->base[i];
    pcs_retract(&self->system->rotations, p->base, s->x, p->q);
}

// U and W of the multipliers, with the columns as they stand.
static void newton_find_jumps(pcs_step_solver *self)
{
    newton *s = self->data;
    const double *z = s->contacts->p.z;
    s->rows_are_here = false;
    memset(s->U, 0, (size_t)s->n * sizeof(double));
    memset(s->W, 0, (size_t)s->n * sizeof(double));
    s->has_jump = false;
    for (int k = 0; k < s->nz; k++) {
        if (z[k] == 0.0) continue;
        s->has_jump = true;
        const double *column = pcs_newton_column(self, k);
        double into_U = pcs_newton_into_U(self, k), into_v = pcs_newton_into_v(self, k);
        for (int i = 0; i < s->n; i++) {
            s->U[i] += into_U * z[k] * column[i];
            s->W[i] += into_v * z[k] * column[i];
        }
    }
}

// v and the sums of d, U and W.
static void newton_add_up(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t;
    for (int i = 0; i < s->n; i++) {
        sum_t[i] = s->q0[i] + self->form.kb * p->d[i];
        sum[i] = sum_t[i] + s->U[i] + self->form.kw * s->W[i];
        p->v[i] = s->v0[i] + p->d[i] + s->W[i];
    }
}

// Takes the multipliers over: U, W, then q and v.
static void newton_apply(pcs_step_solver *self, pcs_step_problem *p)
{
    newton_find_jumps(self);
    newton_add_up(self, p);
    if (p->base != NULL) newton_retract(self, p);
}

// Mass and directions go to the present place; columns follow where multipliers act, or where the step ends.
static bool newton_lead(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    if (s->rows_are_here) return true;
    if (p->base != NULL && self->system->row_set.vary) pcs_projection_leave(self); // x is another one even at this q
    s->rows_are_here = pcs_projection_lead(self, p->q);
    return s->rows_are_here;
}

static bool newton_move(pcs_step_solver *self, const pcs_step_problem *p)
{
    const newton *s = self->data;
    if (!newton_lead(self, p)) return false;
    pcs_projection_follow(self, p->base == NULL ? NULL : s->x);
    return true;
}

// d and lam for the multipliers found; gives the largest change of d, NAN when it is not finite.
static double newton_update_motion(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const double *z = s->contacts->p.z;
    double largest = 0.0;
    for (int k = 0; k < s->nz; k++) {
        if (z[k] == 0.0) continue;
        for (int i = 0; i < s->n; i++) s->y0[i] += z[k] * s->Y[k][i];
        if (self->form.has_smooth_multipliers)
            for (int i = 0; i < s->nb; i++) s->mu0[i] += z[k] * s->mu_of[k][i];
    }
    for (int i = 0; i < s->n; i++) {
        p->d[i] += s->y0[i];
        largest = pcs_larger(largest, pcs_system_size(self->system, i, s->y0[i]));
    }
    largest = pcs_system_max(self->system, largest);
    if (!isfinite(largest)) return NAN;
    if (self->form.has_smooth_multipliers)
        for (int i = 0; i < s->nb; i++) p->lam[s->bilateral[i]] -= s->mu0[i] / self->form.h;
    return largest;
}

// Has the linearisation foreseen how the forces of joints turn? Then what they have done to q stays.
static bool newton_stays(const pcs_step_solver *self)
{
    return ((const newton *)self->data)->curvature != NULL && self->form.kb > 0.0;
}

// q stays, and d makes up for it.
static void newton_keep_place(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t;
    for (int i = 0; i < s->n; i++) {
        double excess = (sum[i] - s->q_last[i]) / self->form.kb;
        p->d[i] -= excess;
        p->v[i] -= excess;
        sum_t[i] -= self->form.kb * excess;
        sum[i] = s->q_last[i];
    }
    s->rows_are_here = true;
}

// Takes the multipliers over with the columns of the present place; gives the change of the motion that comes from it.
static double newton_apply_again(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const double *sum = p->base == NULL ? p->q : s->sum;
    double change = 0.0;
    memcpy(s->q_last, sum, (size_t)s->n * sizeof(double));
    memcpy(s->v_last, p->v, (size_t)s->n * sizeof(double));
    newton_find_jumps(self);
    newton_add_up(self, p);
    if (newton_stays(self)) newton_keep_place(self, p);
    if (p->base != NULL) newton_retract(self, p);
    for (int i = 0; i < s->n; i++) {
        double moved = fabs(sum[i] - s->q_last[i]) / self->form.h, faster = fabs(p->v[i] - s->v_last[i]);
        change = pcs_larger(change, pcs_system_size(self->system, i, pcs_larger(moved, faster)));
    }
    return change;
}

// False if a contact acts: its part of the matrix rotates with its row, and may appear and vanish.
static bool newton_may_keep(const pcs_step_solver *self)
{
    const newton *s = self->data;
    for (int j = 0; j < s->m; j++)
        if (s->is_used[j] && !self->system->rows[j].is_bilateral) return false;
    return true;
}

// Sets `size`, the energy norm of the change without multipliers of contacts, y0 . S* y0 = y0 . (right - Gb^T mu), and
// `drift`, the largest difference of y0 from `trial`, found with the matrix of the iteration before.
static void newton_measure(pcs_step_solver *self)
{
    newton *s = self->data;
    double energy = 0.0, largest = 0.0;
    for (int i = 0; i < pcs_system_nown(self->system); i++) energy += s->y0[i] * s->right[i];
    pcs_system_sum(self->system, 1, &energy);
    for (int i = 0; i < s->nb; i++) energy -= s->mu0[i] * pcs_rows_dot(self->system->G, s->bilateral[i], s->y0);
    s->size = sqrt(fabs(energy)); // S* may be indefinite under pressure
    s->drift = INFINITY;
    if (!s->has_trial) return;
    for (int i = 0; i < s->n; i++)
        largest = pcs_larger(largest, pcs_system_size(self->system, i, s->y0[i] - s->trial[i]));
    s->drift = pcs_system_max(self->system, largest);
}

static double newton_size(pcs_step_solver *self)
{
    return ((const newton *)self->data)->size;
}

static double newton_drift(pcs_step_solver *self)
{
    return ((const newton *)self->data)->drift;
}

// True if S* gives the energy norm of a change; rows and columns do not move then.
static bool newton_has_size(const pcs_step_solver *self)
{
    const newton *s = self->data;
    return s->right != NULL && (s->nb == 0 || self->form.has_smooth_multipliers);
}

// Are forces of joints impulses W of the step? These take away what d gives to light nodes of beams, which is large and
// uncertain by that: changes of velocities and positions count, and those of d by its own size, where the matrix knows
// how the impulses turn.
static bool newton_jumps(const pcs_step_solver *self)
{
    const newton *s = self->data;
    return s->nb > 0 && !self->form.has_smooth_multipliers && pcs_curvature_is_whole(s->curvature);
}

// m/s, of d in energy.
static double newton_scale(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    double energy = 0.0;
    pcs_matrix_multiply(self->system->M, p->d, s->v_last);
    for (int i = 0; i < pcs_system_nown(self->system); i++) energy += s->v_last[i] * p->d[i];
    pcs_system_sum(self->system, 1, &energy);
    return self->system->mass > 0.0 ? sqrt(fmax(energy, 0.0) / self->system->mass) : 0.0;
}

// Mass and directions go to where the step ends. Impulses that turn with them leave the motion as it is, and d makes up
// for it: large ones of light nodes would ask for another iteration.
static bool newton_settle(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    if (!newton_move(self, p)) return false;
    if (!s->has_jump || !newton_jumps(self)) return true;
    pcs_step_problem at = *p;
    memcpy(s->q_last, s->W, (size_t)s->n * sizeof *s->W);
    newton_find_jumps(self);
    for (int i = 0; i < s->n; i++) at.d[i] -= s->W[i] - s->q_last[i];
    newton_add_up(self, &at);
    if (p->base != NULL) newton_retract(self, &at);
    return true;
}

// Size of the motion over that of d, at most 1.
static double newton_weight(pcs_step_solver *self, const pcs_step_problem *p)
{
    double motion = fmax(pcs_system_largest(self->system, p->v), newton_scale(self, p));
    return fmin(motion / pcs_system_largest(self->system, p->d), 1.0);
}

static double newton_iterate(pcs_step_solver *self, pcs_step_problem *p, pcs_pass pass, int *iterations,
                             pcs_outcome *outcome)
{
    (void)outcome;
    newton *s = self->data;
    int rounds;
    s->keeps_factor = pass.keeps_factor;
    s->gate_sign = pass.count < SETTLE_TIES_AFTER ? 1 : -1;
    if (!(s->has_jump ? newton_move(self, p) : newton_lead(self, p))) return NAN;
    s->has_trial = pass.is_measured && pass.count == 1 && !pass.keeps_factor && newton_has_size(self);
    s->has_trial = s->has_trial && newton_may_keep(self);
    bool is_moved = s->has_jump && !s->is_at_start, stays = newton_stays(self);
    double moved = is_moved && stays ? newton_apply_again(self, p) : 0.0;
    if (s->has_trial) pcs_newton_try_kept(self, p);
    if (!pcs_newton_factor(self, p)) return NAN;
    if (is_moved && !stays) moved = newton_apply_again(self, p);
    pcs_newton_free_increment(self, p);
    if (newton_has_size(self)) newton_measure(self);
    if (!pcs_newton_solve_contacts(self, p, &rounds)) return NAN;
    ++*iterations;
    s->is_at_start = false;
    double change = newton_update_motion(self, p);
    if (isnan(change)) return NAN;
    if (newton_jumps(self)) change *= newton_weight(self, p);
    change = pcs_larger(change, moved);
    const double *sum = p->base == NULL ? p->q : s->sum;
    memcpy(s->q_last, sum, (size_t)s->n * sizeof(double));
    memcpy(s->v_last, p->v, (size_t)s->n * sizeof(double));
    newton_apply(self, p);
    for (int i = 0; i < s->n; i++)
        change = pcs_larger(change, pcs_system_size(self->system, i, sum[i] - s->q_last[i]) / self->form.h);
    for (int i = 0; i < s->n && newton_jumps(self); i++)
        change = pcs_larger(change, pcs_system_size(self->system, i, p->v[i] - s->v_last[i]));
    return pcs_system_max(self->system, change);
}

static bool newton_goes_on(const pcs_step_solver *self, const pcs_step_problem *p)
{
    const newton *s = self->data;
    bool pushes = false;
    for (int i = 0; i < s->nb; i++) pushes = pushes || s->force[i] != 0.0;
    return pcs_outer_goes_on(self, p, pushes && !self->system->row_set.are_redundant);
}

// Impulses of joints that keep their law with d as it stands, along the rows as they stand.
static bool newton_balance(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const pcs_rows *G = self->system->G;
    double *A = s->schur, *b = s->keep, *z = s->contacts->p.z + s->m;
    for (int i = 0; i < s->n; i++) s->v_last[i] = s->v0[i] + p->d[i];
    for (int i = 0; i < s->nb; i++) {
        b[i] = pcs_rows_dot(G, s->bilateral[i], s->v_last) +
               pcs_row_target(G, s->bilateral[i], p->target, p->target_velocity);
        for (int j = 0; j < s->nb; j++) A[i * s->nb + j] = pcs_projection_entry(self, s->bilateral[i], s->bilateral[j]);
    }
    if (!pcs_dense_invert(s->nb, A, s->invert)) return false;
    for (int i = 0; i < s->nb; i++) {
        z[s->bilateral[i]] = 0.0;
        for (int j = 0; j < s->nb; j++) z[s->bilateral[i]] -= A[i * s->nb + j] * b[j];
    }
    newton_apply(self, p);
    return true;
}

// Twice where rows turn: along those of the start, and along those that this leads to. A light node of a beam may have
// any d: the motion is sound only with impulses that belong to it.
static void newton_guess_impulses(pcs_step_solver *self, pcs_step_problem *p)
{
    if (self->system->row_set.vary) {
        pcs_projection_leave(self);
        if (!pcs_projection_move(self, p->q_start) || !newton_balance(self, p)) return;
    }
    if (newton_move(self, p)) (void)newton_balance(self, p);
}

// Joints go on as they pushed in the step before. Those that repeat others share their forces in the sense of least
// squares, to which an iteration leads only from no forces.
static void newton_guess_forces(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    double *force = s->keep;
    if (s->nb == 0 || self->system->row_set.are_redundant) return;
    memcpy(force, s->force, (size_t)s->nb * sizeof *force);
    if (s->past != NULL) pcs_past_guess_forces(s->past, self->form.h, s->force, force);
    if (self->form.has_smooth_multipliers) {
        for (int i = 0; i < s->nb; i++) p->lam[s->bilateral[i]] = force[i];
        return;
    }
    if (pcs_curvature_is_whole(s->curvature) && p->q_start != NULL && !self->form.law_is_gap) {
        newton_guess_impulses(self, p);
        return;
    }
    for (int i = 0; i < s->nb; i++) s->contacts->p.z[s->m + s->bilateral[i]] = self->form.h * force[i];
    if (newton_move(self, p)) newton_apply(self, p);
}

// Motion and forces of the step, where they went on from those before it, and no contact has acted.
static void newton_remember(pcs_step_solver *self, const pcs_step_problem *p, bool is_settled)
{
    newton *s = self->data;
    double *force = s->keep;
    bool is_smooth = is_settled && s->is_guessed && newton_may_keep(self);
    for (int i = 0; i < s->nb; i++) {
        int row = s->bilateral[i];
        force[i] = self->form.has_smooth_multipliers ? p->lam[row] : s->contacts->p.z[s->m + row] / self->form.h;
        if (!is_settled) force[i] = 0.0;
    }
    if (s->past != NULL && is_smooth) {
        pcs_past_learn(s->past, self->system, self->form.h, p->acceleration, p->d, self->form.c / self->form.h);
        pcs_past_learn_forces(s->past, s->force, force);
    } else if (s->past != NULL) {
        pcs_past_forget(s->past);
    }
    for (int i = 0; i < s->nb; i++) s->force[i] = force[i];
}

// The motion of the step before, if it is given, or no increment; no multipliers of contacts yet. The first
// linearisation is about the prediction, or about the start of the step, a state in balance, which is no point q(d),
// v(d) of the iteration: what it differs by stands in U and W.
static void newton_begin(pcs_step_solver *self, pcs_step_problem *p, bool is_at_start)
{
    newton *s = self->data;
    for (int j = 0; j < s->m; j++)
        s->is_used[j] = self->system->rows[j].is_bilateral || (p->held != NULL && p->held[j]);
    double scale = self->form.h / self->form.c;
    s->is_guessed = !is_at_start && newton_goes_on(self, p);
    for (int i = 0; i < s->n; i++) p->d[i] = s->is_guessed ? scale * p->acceleration[i] : 0.0;
    if (s->is_guessed && s->past != NULL) pcs_past_guess(s->past, self->form.h, scale, p->acceleration, p->d);
    memset(s->contacts->p.z, 0, (size_t)s->nz * sizeof(double));
    if (self->form.has_smooth_multipliers)
        for (int j = 0; j < s->m; j++) p->lam[j] = 0.0;
    newton_apply(self, p);
    s->is_at_start = is_at_start;
    if (s->is_guessed) newton_guess_forces(self, p);
    if (!is_at_start) return;
    double *sum = p->base == NULL ? p->q : s->sum;
    for (int i = 0; i < s->n; i++) {
        s->W[i] = p->v_start[i] - s->v0[i];
        s->U[i] = p->q_start[i] - s->q0[i] - self->form.kw * s->W[i];
        sum[i] = p->q[i] = p->q_start[i];
        p->v[i] = p->v_start[i];
        if (p->base != NULL) s->x[i] = 0.0;
    }
    s->has_jump = true;
}

// Sets that do not hold yet, or a row that has closed and was left out.
static bool newton_is_provisional(pcs_step_solver *self, const pcs_step_problem *p)
{
    const newton *s = self->data;
    (void)newton_lead(self, p); // asked for next, and tells the gaps
    return s->is_provisional || pcs_newton_misses_row(self, p);
}

static pcs_outcome newton_dynamics(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    newton *s = self->data;
    bool has_size = newton_has_size(self);
    const pcs_outer outer = { .begin = newton_begin,
                              .iterate = newton_iterate,
                              .may_keep = newton_may_keep,
                              .size = has_size ? newton_size : NULL,
                              .drift = newton_drift,
                              .bend = has_size ? &s->known.bend : NULL,
                              .tail = s->right != NULL && newton_jumps(self) ? &s->known.tail : NULL,
                              .scale = newton_jumps(self) ? newton_scale : NULL,
                              .is_provisional = newton_is_provisional,
                              .move = newton_settle,
                              .v0 = s->v0,
                              .change = s->y0,
                              .has_turns = pcs_curvature_is_whole(s->curvature),
                              .z = s->contacts->p.z,
                              .z_last = s->z_last,
                              .is_hasty = &s->contacts->p.is_hasty,
                              .work = s->contacts->p.b_gate };
    return pcs_outer_solve(self, p, &outer, iterations);
}

// Contact problem without dynamics on the projection the scheme has set.
static pcs_outcome newton_contact(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    newton *s = self->data;
    memset(p->d, 0, (size_t)s->n * sizeof(double));
    memset(s->is_used, 1, (size_t)s->m);
    s->gate_sign = 1;
    s->contacts->p.is_hasty = false;
    memset(s->y0, 0, (size_t)s->n * sizeof(double));
    memcpy(s->qt, p->q, (size_t)s->n * sizeof(double));
    s->is_at_start = s->has_jump = s->rows_are_here = false;
    if (!pcs_newton_solve_contacts(self, p, iterations)) return PCS_NOT_CONVERGED;
    newton_apply(self, p);
    return PCS_CONVERGED;
}

static void newton_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    newton *s = self->data;
    const double *z = s->contacts->p.z;
    if (pcs_impact_takes(self, p)) {
        pcs_impact_solve(s->impact, p, result);
        return;
    }
    *result = (pcs_step_result){ 0 };
    memcpy(s->q0, p->q, (size_t)s->n * sizeof(double));
    memcpy(s->v0, p->v, (size_t)s->n * sizeof(double));
    s->contacts->p.held = p->held;
    result->outcome = self->form.has_dynamics ? newton_dynamics(self, p, &result->iterations)
                                              : newton_contact(self, p, &result->iterations);
    if (result->outcome != PCS_CONVERGED) pcs_projection_leave(self);
    if (self->form.has_dynamics) newton_remember(self, p, result->outcome == PCS_CONVERGED);
    for (int j = 0; j < s->m; j++) {
        p->nu[j] = z[j];
        p->la[j] = z[s->m + j];
        p->gate[j] = s->contacts->p.gate[j] || self->system->rows[j].is_bilateral;
        p->rate_before[j] = pcs_rows_dot(self->system->G, j, p->v) - pcs_rows_dot(self->system->G, j, s->W);
    }
    for (int t = 0; t < s->nt; t++) p->la_t[t] = z[2 * s->m + t];
    if (p->nu_t != NULL)
        for (int t = 0; t < s->nt; t++) p->nu_t[t] = z[2 * s->m + s->nt + t];
    if (p->smooth_gap != NULL) pcs_newton_find_gaps(self, p, p->smooth_gap, s->contacts->p.b);
}

const pcs_step_solver_ops pcs_step_newton = {
    .name = "newton",
    .summary = "Newton with a friction problem inside, for systems that vary, rub or have joints; few unknowns",
    .data_size = sizeof(newton),
    .takes_all = true,
    .setup = newton_setup,
    .prepare = newton_prepare,
    .solve = newton_solve,
};
