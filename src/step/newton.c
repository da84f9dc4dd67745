// Step solver `newton`: for systems whose M, G or f vary, with friction and bilateral rows; dense, for few unknowns.
//
// Every iteration linearises about the present (q, v) and solves the contact problem of the linearised step whole:
//
//   S* dd + Gb^T mu = -r1 - h K (dU + kw dW) - h C dW,   Gb dd = -Gb vt      S* = c M + h C + h kb K,  mu = -h dlam
//   U = X nu + (h/2) XT Lt (position level only),  W = X La + XT Lt           X = M^-1 G^T, XT = M^-1 T^T at q
//   r1 = c M d - h (f + Gb^T lam)
//
// Positions that do not add up: x = x0 + kb d + U + kw W is the increment from the start of the step, `sum` its numbers
// added to it, and K, G of positions are derivatives by x.
//
// Derivatives of M, G and of the constraint forces are left out of the linearisation (they cost an iteration or
// two, never the solution). Friction inside the position correction keeps a sticking contact from creeping.
// Contact problems without dynamics use the projection as the scheme has set it and take one pass.

#include "core/dense.h"
#include "step/columns.h"
#include "step/cone.h"
#include "step/gated.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 60, POLISHES = 3, SETTLE_TIES_AFTER = 8, STALLED_AFTER = 16 };

typedef struct newton {
    int n, m, nt, nz, nb; // unknowns, rows, tangents, 2 m + nt, bilateral rows
    pcs_cone *cone;
    pcs_gated *gated;
    pcs_matrix *S;
    pcs_linsolve *iteration;
    int *bilateral;         // [nb] their rows
    unsigned char *is_used; // [m] rows that may transmit something in this step
    int *row_of_tangent;    // [nt]
    bool has_jump;          // U or W is not zero
    int gate_sign;          // 1: a gap at the tolerance counts as closed; -1: as open, where closing it would open it
    bool is_factored;       // S* of a system whose tangents never change
    unsigned char *has_column;                               // [nz] its columns Y that are filled
    double **Y;                                              // [nz][n] what a unit multiplier does to d
    double **mu_of;                                          // [nz][nb] and to mu
    double **border;                                         // [nb][n] S*^-1 Gb^T
    double *schur, *mu, *mu0;                                // [nb * nb], [nb], [nb]
    double *q0, *v0, *qt, *U, *W, *f, *y0, *q_last, *v_last; // [n]
    double *sum, *sum_t;                                     // [n] sums that q and qt come from; q and qt themselves
    double *x, *turned;                                      // [n] where positions do not add up
    double *invert, *keep;                                   // [nb * nb], [nb]
} newton;

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
    return PCS_OK;
}

static pcs_status newton_setup(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_system *system = self->system;
    s->n = system->nv;
    s->m = system->nrow;
    s->nt = system->ntangent;
    s->nz = 2 * s->m + s->nt;
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
    if (system->ops->retract != NULL) {
        double **more[] = { &s->sum, &s->sum_t, &s->x, &s->turned };
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            PCS_TAKE(self->ctx, *more[i], s->n, "the Newton solver");
    }
    PCS_TRY(newton_take_lists(self, s));
    PCS_TRY(pcs_gated_create(self, &s->gated));
    return pcs_cone_create(self->ctx, system, &s->cone);
}

static pcs_status newton_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    newton *s = self->data;
    (void)outcome; // iterations factor
    s->is_factored = false;
    if (s->nz > 0) memset(s->has_column, 0, (size_t)s->nz);
    if (!self->form.has_dynamics || s->S != NULL) return PCS_OK;
    PCS_TRY(pcs_matrix_create(self->ctx, self->system->M->pattern, &s->S));
    // S* is not symmetric in general; a back end for positive matrices then serves the mass alone.
    bool is_general = pcs_linsolve_takes(self->linear, s->S->pattern, PCS_GENERAL);
    PCS_TRY(pcs_linsolve_create_labelled(self->ctx, is_general ? self->linear : "auto", "iteration", s->S, PCS_GENERAL,
                                         &s->iteration));
    self->iteration_backend = s->iteration->title;
    return PCS_OK;
}

// Column of unknown k of z: X or XT.
static const double *newton_column(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    const pcs_projection *p = self->projection;
    return k < s->m ? p->X->value[k] : k < 2 * s->m ? p->X->value[k - s->m] : p->XT->value[k - 2 * s->m];
}

// How much of its column unknown k adds to q and to v directly.
static double newton_into_q(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    if (k < s->m) return 1.0;
    return self->form.kw + (k >= 2 * s->m && self->form.has_position ? 0.5 * self->form.h : 0.0);
}

static double newton_into_v(const pcs_step_solver *self, int k)
{
    return k < ((const newton *)self->data)->m ? 0.0 : 1.0;
}

// Multipliers of rows that stay open all through the step are zero and need no columns.
static bool newton_is_used(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    if (k < s->m) return self->form.has_position && s->is_used[k];
    return s->is_used[k < 2 * s->m ? k - s->m : s->row_of_tangent[k - 2 * s->m]];
}

// x = S*^-1 x with the bilateral rows of the smooth motion, Gb (x + vt) + target = 0; mu gets their multipliers. vt may
// be NULL: then Gb x = 0.
static void newton_bordered_solve(pcs_step_solver *self, double *x, double *mu, const double *vt, const double *target)
{
    newton *s = self->data;
    pcs_linsolve_solve(s->iteration, x);
    if (!self->form.has_smooth_multipliers) return;
    for (int i = 0; i < s->nb; i++) {
        mu[i] = pcs_rows_dot(self->system->G, s->bilateral[i], x);
        if (vt != NULL) mu[i] += pcs_rows_dot(self->system->G, s->bilateral[i], vt) + target[s->bilateral[i]];
    }
    // The Schur complement was inverted into `schur`.
    double *keep = s->keep;
    for (int i = 0; i < s->nb; i++) {
        keep[i] = 0.0;
        for (int j = 0; j < s->nb; j++) keep[i] += s->schur[i * s->nb + j] * mu[j];
    }
    for (int i = 0; i < s->nb; i++) {
        mu[i] = keep[i];
        for (int k = 0; k < s->n; k++) x[k] -= s->border[i][k] * mu[i];
    }
}

// S* at the present state, and the border of the bilateral rows.
static bool newton_factor(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    bool is_singular = false;
    if (s->is_factored) return true;
    bool has_joints = form->has_smooth_multipliers && system->ops->add_joint_stiffness != NULL;
    if (system->ops->update_tangents != NULL) system->ops->update_tangents(system, p->t, p->q, p->v);
    if (has_joints) system->ops->add_joint_stiffness(system, p->q, p->lam);
    if (p->base != NULL && (has_joints || system->ops->update_tangents != NULL))
        system->ops->turn_columns(system, s->x, system->K);
    pcs_matrix_combine(s->S, form->c, system->M, form->h, system->C, form->h * form->kb, system->K);
    if (pcs_linsolve_factor(s->iteration, &is_singular) != PCS_OK || is_singular) return false;
    self->nfactor++;
    s->is_factored = system->is_linear;
    if (!form->has_smooth_multipliers) return true;
    for (int i = 0; i < s->nb; i++) {
        memset(s->border[i], 0, (size_t)s->n * sizeof(double));
        pcs_rows_add_transposed(system->G, s->bilateral[i], 1.0, s->border[i]);
        pcs_linsolve_solve(s->iteration, s->border[i]);
    }
    for (int i = 0; i < s->nb; i++)
        for (int j = 0; j < s->nb; j++)
            s->schur[i * s->nb + j] = pcs_rows_dot(system->G, s->bilateral[i], s->border[j]);
    return pcs_dense_invert(s->nb, s->schur, s->invert);
}

// y += h K a + h C b
static void newton_add_tangent(pcs_step_solver *self, const double *a, const double *b, double *y)
{
    double h = self->form.h;
    pcs_matrix_add_multiply(self->system->K, h, a, y);
    if (self->system->C != NULL) pcs_matrix_add_multiply(self->system->C, h, b, y);
}

// d without multipliers, up to the present d: solves for y0.
static void newton_free_increment(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_system *system = self->system;
    double h = self->form.h;
    system->ops->force(system, p->t, p->q, p->v, s->f);
    for (int i = 0; i < s->n; i++) {
        s->y0[i] = h * s->f[i];
        s->q_last[i] = s->U[i] + self->form.kw * s->W[i];
        s->v_last[i] = s->v0[i] + p->d[i]; // vt
    }
    pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->y0);
    if (self->form.has_smooth_multipliers)
        for (int i = 0; i < s->nb; i++)
            pcs_rows_add_transposed(system->G, s->bilateral[i], h * p->lam[s->bilateral[i]], s->y0);
    if (s->has_jump) newton_add_tangent(self, s->q_last, s->W, s->y0);
    newton_bordered_solve(self, s->y0, s->mu0, s->v_last, p->target);
}

// What a unit of each multiplier does to d.
static void newton_fill_columns(pcs_step_solver *self)
{
    newton *s = self->data;
    for (int k = 0; k < s->nz; k++) {
        if (!newton_is_used(self, k) || s->has_column[k]) continue;
        memset(s->Y[k], 0, (size_t)s->n * sizeof(double));
        s->has_column[k] = self->system->is_linear;
        if (!self->form.has_dynamics) continue;
        const double *column = newton_column(self, k);
        double into_q = newton_into_q(self, k), into_v = newton_into_v(self, k);
        for (int i = 0; i < s->n; i++) {
            s->q_last[i] = -into_q * column[i];
            s->v_last[i] = -into_v * column[i];
        }
        newton_add_tangent(self, s->q_last, s->v_last, s->Y[k]);
        newton_bordered_solve(self, s->Y[k], s->mu_of[k], NULL, NULL);
    }
}

// What a change dx of the increment is for the rows; in place.
static void newton_turn(const pcs_step_solver *self, const pcs_step_problem *p, double *dx)
{
    const newton *s = self->data;
    if (p->base != NULL) self->system->ops->turn(self->system, s->x, dx);
}

// kb G Y_l of all rows: what a unit of multiplier l does to the smooth gaps.
static void newton_fill_gate(pcs_step_solver *self, const pcs_step_problem *p, int l)
{
    newton *s = self->data;
    const double *Y = s->Y[l];
    if (p->base != NULL) {
        memcpy(s->turned, Y, (size_t)s->n * sizeof *Y);
        newton_turn(self, p, s->turned);
        Y = s->turned;
    }
    for (int j = 0; j < s->m; j++) s->cone->P_gate[j * s->nz + l] = self->form.kb * pcs_rows_dot(self->system->G, j, Y);
}

// The affine maps of the contact problem about the present state.
static void newton_fill_cone(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_cone *c = s->cone;
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    memset(c->P, 0, (size_t)s->nz * (size_t)s->nz * sizeof(double));
    memset(c->P_gate, 0, (size_t)s->m * (size_t)s->nz * sizeof(double));
    for (int l = form->has_position ? 0 : s->m; l < s->nz; l++) {
        if (!newton_is_used(self, l)) {
            c->P[l * s->nz + l] = 1.0;
            continue;
        }
        // What a unit of the multiplier does to q and to v, its effect on d included.
        const double *column = newton_column(self, l);
        double into_q = newton_into_q(self, l), into_v = newton_into_v(self, l);
        for (int i = 0; i < s->n; i++) {
            s->q_last[i] = into_q * column[i] + form->kb * s->Y[l][i];
            s->v_last[i] = into_v * column[i] + s->Y[l][i];
        }
        newton_turn(self, p, s->q_last);
        if (form->gate_is_live) newton_fill_gate(self, p, l);
        for (int j = 0; j < s->m; j++) {
            if (form->has_position) c->P[j * s->nz + l] = pcs_rows_dot(system->G, j, s->q_last);
            c->P[(s->m + j) * s->nz + l] = pcs_rows_dot(system->G, j, s->v_last);
        }
        for (int t = 0; t < s->nt; t++) c->P[(2 * s->m + t) * s->nz + l] = pcs_rows_dot(system->T, t, s->v_last);
    }
    for (int j = 0; j < s->m; j++) c->r[j] = c->r[s->m + j] = self->effective_mass[j];
    for (int t = 0; t < s->nt; t++)
        c->r[2 * s->m + t] = 1.0 / pcs_rows_dot(system->T, t, self->projection->XT->value[t]);
    memcpy(c->gate, p->gate, (size_t)s->m);
    c->h = self->form.h;
    c->has_position = self->form.has_position;
    c->gate_is_live = self->form.gate_is_live;
    c->gate_tolerance = s->gate_sign * self->form.gate_tolerance;
}

// What the law of row j adds to its velocity; the tangential ones likewise.
static double newton_target(const pcs_rows *rows, int j, const double *target, const double *velocity)
{
    return velocity == NULL ? target[j] : target[j] * pcs_rows_dot(rows, j, velocity);
}

// Does a row have a say in this iteration? Once it has, it keeps it to the end of the step.
static bool newton_may_close(const pcs_step_form *form, const pcs_step_problem *p, const pcs_cone *c, int j)
{
    if (form->has_position && c->b[j] <= 0.0) return true;
    return form->gate_is_live ? c->b_gate[j] <= form->gate_tolerance : p->gate[j] != 0;
}

// Has a row closed that was left out of the last iteration?
static bool newton_misses_row(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_cone *c = s->cone;
    const pcs_system *system = self->system;
    bool has_open = false, misses = false;
    for (int j = 0; j < s->m; j++) has_open = has_open || !s->is_used[j];
    if (!has_open || !pcs_form_sees_gaps(&self->form)) return false;
    system->ops->gaps(system, s->qt, c->b_gate);
    system->ops->gaps(system, p->q, c->b);
    for (int j = 0; j < s->m; j++) {
        if (s->is_used[j] || !newton_may_close(&self->form, p, c, j)) continue;
        s->is_used[j] = 1;
        misses = true;
    }
    return misses;
}

// Values of the rows at d + y0 without multipliers, from the present q.
static void newton_fill_base(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_cone *c = s->cone;
    const pcs_system *system = self->system;
    double kb = self->form.kb;
    if (s->m == 0) return;
    system->ops->gaps(system, s->qt, c->b_gate);
    system->ops->gaps(system, p->q, c->b);
    const double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t, *way = s->y0;
    for (int i = 0; i < s->n; i++) {
        s->q_last[i] = sum_t[i] + kb * s->y0[i] - sum[i];
        s->v_last[i] = s->v0[i] + p->d[i] + s->y0[i];
    }
    if (p->base != NULL) {
        memcpy(s->turned, s->y0, (size_t)s->n * sizeof *way);
        newton_turn(self, p, s->turned);
        newton_turn(self, p, s->q_last);
        way = s->turned;
    }
    for (int j = 0; j < s->m; j++) {
        if (c->b[j] <= 0.0) s->is_used[j] = 1;
        c->b[j] += pcs_rows_dot(system->G, j, s->q_last);
        c->b_gate[j] += kb * pcs_rows_dot(system->G, j, way);
        c->b[s->m + j] =
            pcs_rows_dot(system->G, j, s->v_last) + newton_target(system->G, j, p->target, p->target_velocity);
        if (self->form.law_is_gap) c->b[s->m + j] = c->b[j] / kb; // d and W move gap and kb times velocity alike
        if (newton_may_close(&self->form, p, c, j)) s->is_used[j] = 1;
    }
    for (int t = 0; t < s->nt; t++)
        c->b[2 * s->m + t] =
            pcs_rows_dot(system->T, t, s->v_last) + newton_target(system->T, t, p->target_t, p->target_velocity);
}

// Takes the multipliers over: U, W, then q and v.
static void newton_apply(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const double *z = s->cone->z;
    memset(s->U, 0, (size_t)s->n * sizeof(double));
    memset(s->W, 0, (size_t)s->n * sizeof(double));
    s->has_jump = false;
    for (int k = 0; k < s->nz; k++) {
        if (z[k] == 0.0) continue;
        s->has_jump = true;
        const double *column = newton_column(self, k);
        double into_U = newton_into_q(self, k) - (k < s->m ? 0.0 : self->form.kw), into_v = newton_into_v(self, k);
        for (int i = 0; i < s->n; i++) {
            s->U[i] += into_U * z[k] * column[i];
            s->W[i] += into_v * z[k] * column[i];
        }
    }
    double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t;
    for (int i = 0; i < s->n; i++) {
        sum_t[i] = s->q0[i] + self->form.kb * p->d[i];
        sum[i] = sum_t[i] + s->U[i] + self->form.kw * s->W[i];
        p->v[i] = s->v0[i] + p->d[i] + s->W[i];
    }
    if (p->base == NULL) return;
    for (int i = 0; i < s->n; i++) s->x[i] = sum_t[i] - p->base[i];
    self->system->ops->retract(self->system, p->base, s->x, s->qt);
    if (!s->has_jump) {
        memcpy(p->q, s->qt, (size_t)s->n * sizeof *p->q);
        return;
    }
    for (int i = 0; i < s->n; i++) s->x[i] = sum[i] - p->base[i];
    self->system->ops->retract(self->system, p->base, s->x, p->q);
}

// d and lam for the multipliers found; gives the largest change of d, NAN when it is not finite.
static double newton_update_motion(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const double *z = s->cone->z;
    double largest = 0.0;
    for (int k = 0; k < s->nz; k++) {
        if (z[k] == 0.0) continue;
        for (int i = 0; i < s->n; i++) s->y0[i] += z[k] * s->Y[k][i];
        for (int i = 0; i < s->nb && self->form.has_smooth_multipliers; i++) s->mu0[i] += z[k] * s->mu_of[k][i];
    }
    for (int i = 0; i < s->n; i++) {
        p->d[i] += s->y0[i];
        if (!(fabs(s->y0[i]) <= largest)) largest = fabs(s->y0[i]); // a NaN stays
    }
    largest = pcs_system_max(self->system, largest);
    if (!isfinite(largest)) return NAN;
    for (int i = 0; i < s->nb && self->form.has_smooth_multipliers; i++)
        p->lam[s->bilateral[i]] -= s->mu0[i] / self->form.h;
    return largest;
}

// One linearisation; gives the change of the motion, or NAN when it cannot be solved.
static double newton_iterate(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    newton *s = self->data;
    if (!pcs_projection_move(self, p->q) || !newton_factor(self, p)) return NAN;
    if (s->has_jump) newton_apply(self, p); // the columns of the multipliers have moved
    newton_free_increment(self, p);
    newton_fill_base(self, p);
    newton_fill_columns(self);
    newton_fill_cone(self, p);
    int rounds;
    if (!pcs_cone_solve(s->cone, &rounds)) return NAN;
    ++*iterations;
    double change = newton_update_motion(self, p);
    if (isnan(change)) return NAN;
    const double *sum = p->base == NULL ? p->q : s->sum;
    memcpy(s->q_last, sum, (size_t)s->n * sizeof(double));
    newton_apply(self, p);
    for (int i = 0; i < s->n; i++) change = fmax(change, fabs(sum[i] - s->q_last[i]) / self->form.h);
    return pcs_system_max(self->system, change);
}

// Do rows with an impulse keep their velocity along the directions where the step ends, too? They turn fast where a
// distance is short, as in a bearing with little backlash, and were taken from the iterate before.
static bool newton_law_holds(pcs_step_solver *self, const pcs_step_problem *p)
{
    const newton *s = self->data;
    const pcs_rows *G = self->system->G;
    if (self->system->ops->update_directions == NULL || self->form.law_is_gap) return true;
    double speed = pcs_system_largest(self->system, p->v); // along a row nothing may move at all
    for (int j = 0; j < s->m; j++) {
        if (s->cone->z[s->m + j] == 0.0) continue;
        double defect = pcs_rows_dot(G, j, p->v) + newton_target(G, j, p->target, p->target_velocity), size = 0.0;
        for (int k = G->start[j]; k < G->start[j + 1]; k++) size += fabs(G->value[k] * p->v[G->column[k]]);
        if (fabs(defect) > 1e-12 * fmax(size, fabs(p->target[j])) + 1e-13 * speed) return false;
    }
    return true;
}

static pcs_outcome newton_dynamics(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    newton *s = self->data;
    double last = INFINITY, scale = pcs_system_largest(self->system, s->v0);
    int npolish = 0;
    for (int j = 0; j < s->m; j++) s->is_used[j] = self->system->rows[j].is_bilateral;
    memset(p->d, 0, (size_t)s->n * sizeof(double));
    memset(s->cone->z, 0, (size_t)s->nz * sizeof(double));
    for (int j = 0; j < s->m && self->form.has_smooth_multipliers; j++) p->lam[j] = 0.0;
    newton_apply(self, p);
    while (*iterations < ITERATIONS) {
        s->gate_sign = *iterations < SETTLE_TIES_AFTER ? 1 : -1;
        double change = newton_iterate(self, p, iterations);
        if (isnan(change)) return PCS_NOT_CONVERGED;
        // A body at rest has no velocity, but what its weight would give it in a step is rounded off all the same.
        scale = fmax(scale, fmax(pcs_system_largest(self->system, p->v), pcs_system_largest(self->system, p->d)));
        // What is left after this change, when the next ones shrink as it did; or round-off, which does not shrink.
        double rate = *iterations > 1 ? change / last : 1.0;
        bool is_small = change <= 1e-14 * scale || (rate < 0.1 && rate * change <= 1e-14 * scale);
        is_small = is_small || self->system->is_linear; // one linearisation is the whole problem
        // Positions are rounded off however little moves: in equilibrium, or where joints hold all there is.
        double rounding = fmax(1e-10 * scale, 1e-13 * self->system->length / self->form.h);
        if (*iterations > STALLED_AFTER) rounding *= 10.0;
        if ((is_small || (change <= rounding && rate > 0.5)) && !newton_misses_row(self, p)) {
            if (!pcs_projection_move(self, p->q)) return PCS_SINGULAR;
            if (newton_law_holds(self, p) || npolish++ == POLISHES) return PCS_CONVERGED;
        }
        last = change;
    }
    return PCS_NOT_CONVERGED;
}

// Contact problem without dynamics on the projection the scheme has set.
static pcs_outcome newton_contact(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    newton *s = self->data;
    memset(p->d, 0, (size_t)s->n * sizeof(double));
    memset(s->is_used, 1, (size_t)s->m);
    s->gate_sign = 1;
    memset(s->y0, 0, (size_t)s->n * sizeof(double));
    memcpy(s->qt, p->q, (size_t)s->n * sizeof(double));
    newton_fill_columns(self);
    newton_fill_cone(self, p);
    newton_fill_base(self, p);
    if (!pcs_cone_solve(s->cone, iterations)) return PCS_NOT_CONVERGED;
    newton_apply(self, p);
    return PCS_CONVERGED;
}

static void newton_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    newton *s = self->data;
    const double *z = s->cone->z;
    if (pcs_gated_takes(self, p)) {
        pcs_gated_solve(s->gated, p, result);
        return;
    }
    *result = (pcs_step_result){ 0 };
    if (self->form.has_dynamics) self->system->time = p->t;
    memcpy(s->q0, p->q, (size_t)s->n * sizeof(double));
    memcpy(s->v0, p->v, (size_t)s->n * sizeof(double));
    result->outcome = self->form.has_dynamics ? newton_dynamics(self, p, &result->iterations)
                                              : newton_contact(self, p, &result->iterations);
    for (int j = 0; j < s->m; j++) {
        p->nu[j] = z[j];
        p->la[j] = z[s->m + j];
        p->gate[j] = s->cone->gate[j] || self->system->rows[j].is_bilateral;
        p->rate_before[j] = pcs_rows_dot(self->system->G, j, p->v) - pcs_rows_dot(self->system->G, j, s->W);
    }
    for (int t = 0; t < s->nt; t++) p->la_t[t] = z[2 * s->m + t];
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
