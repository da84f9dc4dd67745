// The linearised step of `newton`: its matrix, what multipliers do to it, and the contact problem that follows.

#include "core/dense.h"
#include "step/newton.h"
#include "step/outer.h"

#include <math.h>
#include <string.h>

// Column of unknown k of z: X or XT.
const double *pcs_newton_column(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    const pcs_projection *p = self->projection;
    if (k >= 2 * s->m) return p->XT->value[(k - 2 * s->m) % s->nt];
    return p->X->value[k < s->m ? k : k - s->m];
}

// Is unknown k a multiplier of positions, nu or nu_t?
static bool newton_is_of_gap(const newton *s, int k)
{
    return k < s->m || k >= 2 * s->m + s->nt;
}

// Returns the factor by which the column of unknown k enters U, and the next function that for v.
double pcs_newton_into_U(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    if (newton_is_of_gap(s, k)) return 1.0;
    return k >= 2 * s->m && self->form.has_position ? 0.5 * self->form.h : 0.0;
}

double pcs_newton_into_v(const pcs_step_solver *self, int k)
{
    return newton_is_of_gap(self->data, k) ? 0.0 : 1.0;
}

// And to q directly.
static double newton_into_q(const pcs_step_solver *self, int k)
{
    return pcs_newton_into_U(self, k) + self->form.kw * pcs_newton_into_v(self, k);
}

// Multipliers of rows that stay open all through the step are zero and need no columns.
static bool newton_is_used(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    const pcs_contact_problem *p = &s->contacts->p;
    if (k < s->m) return self->form.has_position ? s->is_used[k] : pcs_contact_holds(p, k);
    if (k >= 2 * s->m + s->nt) return pcs_contact_holds_tangents(p, s->row_of_tangent[k - 2 * s->m - s->nt]);
    return s->is_used[k < 2 * s->m ? k - s->m : s->row_of_tangent[k - 2 * s->m]];
}

// Returns the change of the velocity of a row as its direction rotates with an increment dx.
static double newton_turn_rate(const newton *s, int row, const double *dx)
{
    return s->curvature == NULL ? 0.0 : pcs_rows_dot(s->curvature->H, row, dx);
}

// A, from the rows that stand.
static void newton_fill_rates(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_rows *G = self->system->G;
    for (int i = 0; i < s->nb; i++) {
        int row = s->bilateral[i], first = s->A->start[i], count = s->A->start[i + 1] - first;
        memcpy(s->A->column + first, G->column + G->start[row], (size_t)count * sizeof *G->column);
        memcpy(s->A->value + first, G->value + G->start[row], (size_t)count * sizeof *G->value);
        if (s->curvature == NULL) continue;
        const pcs_rows *H = s->curvature->H; // in the order of G
        for (int k = H->start[row]; k < H->start[row + 1]; k++)
            s->A->value[first + k - H->start[row]] += self->form.kb * H->value[k];
    }
}

// x = S*^-1 x with the bilateral rows of the smooth motion, (Gb + kb Hb) x + Hb way + Gb vt + target = 0; mu gets their
// multipliers. vt may be NULL: then the last two are left out.
static void newton_bordered_solve(pcs_step_solver *self, double *x, const double *way, const double *vt,
                                  const double *target, double *mu)
{
    newton *s = self->data;
    pcs_linsolve_solve(s->iteration, x);
    if (!self->form.has_smooth_multipliers) return;
    for (int i = 0; i < s->nb; i++) {
        mu[i] = pcs_rows_dot(s->A, i, x) + newton_turn_rate(s, s->bilateral[i], way);
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

// W turns with the rows at constant x: d changes by -kw/kb of that, and v by the rest.
static void newton_bend_rates(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_step_form *form = &self->form;
    const pcs_matrix *K = s->curvature->K;
    pcs_rows *H = s->curvature->H;
    double share = form->kw > 0.0 ? form->h * (form->kb - form->kw) / (form->c * form->kw) : 0.0;
    if (form->has_smooth_multipliers || !s->has_jump || share == 0.0) return;
    for (int i = 0; i < s->nb; i++) {
        const double *X = pcs_newton_column(self, s->bilateral[i]);
        for (int k = H->start[s->bilateral[i]]; k < H->start[s->bilateral[i] + 1]; k++) {
            int first = K->pattern->start[H->column[k]], last = K->pattern->start[H->column[k] + 1];
            for (int e = first; e < last; e++) H->value[k] -= share * X[K->pattern->row[e]] * K->value[e];
        }
    }
}

// S* with the stiffness that the forces of rows have because they turn; at p and its increment x.
static void newton_bend(pcs_step_solver *self, const pcs_step_problem *p, const double *x)
{
    newton *s = self->data;
    const pcs_step_form *form = &self->form;
    pcs_curvature_fill(s->curvature, form, p, p->base == NULL ? NULL : x, s->contacts->p.z);
    newton_bend_rates(self);
    pcs_curvature_combine(s->curvature, form->c, form->h, form->h * form->kb, s->S);
}

// The state half-way along the change that the matrix before would make: where S* is the mean slope of that way, but
// for third derivatives. Forces of joints go along, and their directions, where they vary.
static void newton_go_half_way(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    double half = 0.5 * self->form.kb;
    const double *from = p->base == NULL ? p->q : s->x;
    double *to = p->base == NULL ? s->q_last : s->turned;
    for (int i = 0; i < s->n; i++) {
        to[i] = from[i] + half * s->trial[i];
        s->v_last[i] = p->v[i] + 0.5 * s->trial[i];
    }
    if (p->base != NULL) pcs_retract(&self->system->rotations, p->base, s->turned, s->q_last);
    p->q = s->q_last;
    p->v = s->v_last;
    if (s->curvature == NULL) return;
    for (int i = 0; i < s->nb; i++) s->lam[s->bilateral[i]] = p->lam[s->bilateral[i]] - 0.5 * s->mu0[i] / self->form.h;
    p->lam = s->lam;
    pcs_system_aim(self->system, pcs_at(self->t, p->q, NULL));
}

// S* at p, whose increment is x.
static bool newton_factor_iteration(pcs_step_solver *self, const pcs_step_problem *p, const double *x)
{
    newton *s = self->data;
    pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    bool is_singular = false;
    bool has_joints = form->has_smooth_multipliers && system->slopes != NULL && s->curvature == NULL;
    if (s->stands) return true;
    if (system->tangents_vary) system->ops->update(system, pcs_at(p->t, p->q, p->v), PCS_TANGENTS, NULL);
    if (has_joints) system->ops->update(system, pcs_at(self->t, p->q, NULL), PCS_JOINTS, p->lam);
    if (system->mass_varies) {
        for (int i = 0; i < s->n; i++) s->y0[i] = form->c / form->h * p->d[i];
        system->ops->update(system, pcs_at(self->t, p->q, NULL), PCS_INERTIA, s->y0);
    }
    if (p->base != NULL && (has_joints || system->tangents_vary)) pcs_rotate_columns(&system->rotations, x, system->K);
    if (s->curvature != NULL) newton_bend(self, p, x);
    else
        pcs_matrix_combine(s->S, (const double[3]){ form->c, form->h, form->h * form->kb }, system->M, system->C,
                           system->K);
    if (pcs_linsolve_factor(s->iteration, &is_singular) != PCS_OK || is_singular) return false;
    self->nfactor++;
    s->stands = pcs_step_is_constant(system) && s->curvature == NULL;
    s->is_factored = system->is_linear;
    return true;
}

void pcs_newton_factor_constant(pcs_step_solver *self)
{
    const newton *s = self->data;
    if (!pcs_step_is_constant(self->system) || s->curvature != NULL) return;
    (void)newton_factor_iteration(self, &(pcs_step_problem){ .t = 0.0 }, NULL);
}

// The smooth multipliers of bilateral rows as unknowns, along the rows that stand.
static bool newton_fill_border(pcs_step_solver *self)
{
    newton *s = self->data;
    newton_fill_rates(self);
    for (int i = 0; i < s->nb; i++) {
        memset(s->border[i], 0, (size_t)s->n * sizeof(double));
        pcs_rows_add_transposed(self->system->G, s->bilateral[i], 1.0, s->border[i]);
        pcs_linsolve_solve(s->iteration, s->border[i]);
    }
    for (int i = 0; i < s->nb; i++)
        for (int j = 0; j < s->nb; j++) s->schur[i * s->nb + j] = pcs_rows_dot(s->A, i, s->border[j]);
    // Regularises redundant rows, which so share the least multipliers; the iteration makes these exact.
    if (self->system->row_set.are_redundant)
        for (int i = 0; i < s->nb; i++) s->schur[i * s->nb + i] *= 1.0 + PCS_SHARED_WEIGHT;
    return pcs_dense_invert(s->nb, s->schur, s->invert);
}

bool pcs_newton_factor(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_step_problem at = *p;
    if (s->is_factored) return true;
    if (s->has_trial && !s->keeps_factor) newton_go_half_way(self, &at);
    if (!s->keeps_factor && !newton_factor_iteration(self, &at, at.q == p->q ? s->x : s->turned)) return false;
    bool is_fit = !self->form.has_smooth_multipliers || newton_fill_border(self);
    if (at.q != p->q && s->curvature != NULL) pcs_system_aim(self->system, pcs_at(self->t, p->q, NULL));
    return is_fit;
}

// y += h K a + h C b; either may be NULL.
static void newton_add_tangent(pcs_step_solver *self, const double *a, const double *b, double *y)
{
    double h = self->form.h;
    const pcs_curvature *curvature = ((const newton *)self->data)->curvature;
    if (a != NULL) pcs_matrix_add_multiply(self->system->K, h, a, y);
    if (a != NULL && curvature != NULL) pcs_matrix_add_multiply(curvature->K, h, a, y);
    if (b != NULL && self->system->C != NULL) pcs_matrix_add_multiply(self->system->C, h, b, y);
}

// y0 = h f - c M d + h Gb^T lam
static void newton_fill_right(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_system *system = self->system;
    double h = self->form.h;
    system->ops->force(system, pcs_at(p->t, p->q, p->v), s->f);
    for (int i = 0; i < s->n; i++) s->y0[i] = h * s->f[i];
    pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->y0);
    if (self->form.has_smooth_multipliers)
        for (int i = 0; i < s->nb; i++)
            pcs_rows_add_transposed(system->G, s->bilateral[i], h * p->lam[s->bilateral[i]], s->y0);
}

// y0 gets what jumps do to it, and is solved for.
static void newton_solve_right(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    for (int i = 0; i < s->n; i++) {
        s->q_last[i] = s->U[i] + self->form.kw * s->W[i];
        s->v_last[i] = s->v0[i] + p->d[i]; // vt
    }
    if (s->has_jump) newton_add_tangent(self, s->q_last, s->W, s->y0);
    if (s->right != NULL) memcpy(s->right, s->y0, (size_t)s->n * sizeof *s->right);
    for (int i = 0; i < s->n; i++) s->q_last[i] = -s->q_last[i];
    newton_bordered_solve(self, s->y0, s->q_last, s->v_last, p->target, s->mu0);
}

void pcs_newton_try_kept(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    size_t bytes = (size_t)s->n * sizeof *s->y0;
    newton_fill_right(self, p);
    memcpy(s->base, s->y0, bytes);
    newton_solve_right(self, p);
    memcpy(s->trial, s->y0, bytes);
}

// d without multipliers, up to the present d: solves for y0.
void pcs_newton_free_increment(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    if (s->has_trial) memcpy(s->y0, s->base, (size_t)s->n * sizeof *s->y0);
    else newton_fill_right(self, p);
    newton_solve_right(self, p);
}

// Fills Y, the change of d per unit multiplier. La moves q by kw times what nu does: one product with K serves both.
static void newton_fill_columns(pcs_step_solver *self)
{
    newton *s = self->data;
    for (int k = 0; k < s->nz; k++) {
        if (!newton_is_used(self, k) || s->has_column[k]) continue;
        bool is_begun = self->form.has_position && self->form.has_dynamics && k >= s->m && k < 2 * s->m;
        if (!is_begun) memset(s->Y[k], 0, (size_t)s->n * sizeof(double));
        s->has_column[k] = self->system->is_linear;
        if (!self->form.has_dynamics) continue;
        const double *column = pcs_newton_column(self, k);
        double into_q = newton_into_q(self, k), into_v = pcs_newton_into_v(self, k);
        for (int i = 0; i < s->n; i++) {
            s->q_last[i] = -into_q * column[i];
            s->v_last[i] = -into_v * column[i];
        }
        newton_add_tangent(self, is_begun ? NULL : s->q_last, into_v == 0.0 ? NULL : s->v_last, s->Y[k]);
        if (k < s->m && self->form.has_position)
            for (int i = 0; i < s->n; i++) s->Y[s->m + k][i] = self->form.kw * s->Y[k][i];
        for (int i = 0; i < s->n; i++) s->q_last[i] = -s->q_last[i];
        newton_bordered_solve(self, s->Y[k], s->q_last, NULL, NULL, s->mu_of[k]);
    }
}

// Converts, in place, a change dx of the increment to the material rotations that rows multiply: dx := T(x) dx.
static void newton_turn(const pcs_step_solver *self, const pcs_step_problem *p, double *dx)
{
    const newton *s = self->data;
    if (p->base != NULL) pcs_rotate_vector(&self->system->rotations, s->x, dx);
}

// G dq_l of all rows, and kb G Y_l where gates follow smooth gaps: what a unit of multiplier l does to gaps, from dq_l
// in q_last.
static void newton_fill_gaps(pcs_step_solver *self, const pcs_step_problem *p, int l)
{
    newton *s = self->data;
    pcs_dense_contacts *c = s->contacts;
    const pcs_rows *G = self->system->G;
    newton_turn(self, p, s->q_last);
    for (int j = 0; j < s->m; j++) c->P[j * s->nz + l] = pcs_rows_dot(G, j, s->q_last);
    if (!self->form.gate_is_live) return;
    const double *Y = s->Y[l];
    if (p->base != NULL) {
        memcpy(s->turned, Y, (size_t)s->n * sizeof *Y);
        newton_turn(self, p, s->turned);
        Y = s->turned;
    }
    for (int j = 0; j < s->m; j++) c->P_gate[j * s->nz + l] = self->form.kb * pcs_rows_dot(G, j, Y);
}

// Fills column l of P for held rows and their tangents: the change of G (U + kh d) per unit of multiplier l.
static void newton_fill_held(pcs_step_solver *self, int l)
{
    newton *s = self->data;
    const pcs_contact_problem *p = &s->contacts->p;
    const double *X = pcs_newton_column(self, l), *Y = s->Y[l];
    double *P = s->contacts->P + l, into_U = pcs_newton_into_U(self, l), kh = self->form.kh;
    for (int j = 0; j < s->m; j++)
        if (pcs_contact_holds(p, j))
            P[j * s->nz] = into_U * pcs_rows_dot(self->system->G, j, X) +
                           (p->rows[j].is_bilateral ? 0.0 : kh * pcs_rows_dot(self->system->G, j, Y));
    for (int t = 0; t < s->nt; t++)
        if (pcs_contact_holds_tangents(p, s->row_of_tangent[t]))
            P[(2 * s->m + s->nt + t) * s->nz] =
                into_U * pcs_rows_dot(self->system->T, t, X) + kh * pcs_rows_dot(self->system->T, t, Y);
}

// The affine maps of the contact problem about the present state.
static void newton_fill_contacts(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_dense_contacts *c = s->contacts;
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    memset(c->P, 0, (size_t)s->nz * (size_t)s->nz * sizeof(double));
    memset(c->P_gate, 0, (size_t)s->m * (size_t)s->nz * sizeof(double));
    for (int l = 0; l < s->nz; l++) {
        c->is_out[l] = !newton_is_used(self, l);
        if (c->is_out[l]) continue;
        // Computes the changes of q and v per unit multiplier, including those through d.
        const double *column = pcs_newton_column(self, l);
        double into_q = newton_into_q(self, l), into_v = pcs_newton_into_v(self, l);
        for (int i = 0; i < s->n; i++) {
            s->q_last[i] = into_q * column[i] + form->kb * s->Y[l][i];
            s->v_last[i] = into_v * column[i] + s->Y[l][i];
        }
        bool turns = s->curvature != NULL && !form->law_is_gap;
        for (int j = 0; j < s->m; j++) {
            double turn = turns ? newton_turn_rate(s, j, s->q_last) : 0.0;
            c->P[(s->m + j) * s->nz + l] = pcs_rows_dot(system->G, j, s->v_last) + turn;
        }
        if (form->has_position) newton_fill_gaps(self, p, l);
        if (p->held != NULL) newton_fill_held(self, l);
        for (int t = 0; t < s->nt; t++) c->P[(2 * s->m + t) * s->nz + l] = pcs_rows_dot(system->T, t, s->v_last);
    }
    for (int j = 0; j < s->m; j++) c->p.r[j] = c->p.r[s->m + j] = self->effective_mass[j];
    for (int t = 0; t < s->nt; t++)
        c->p.r[2 * s->m + t] = 1.0 / pcs_rows_dot(system->T, t, self->projection->XT->value[t]);
    memcpy(c->p.gate, p->gate, (size_t)s->m);
    c->p.h = self->form.h;
    c->p.has_position = self->form.has_position;
    c->p.gate_is_live = self->form.gate_is_live;
    c->p.gate_tolerance = s->gate_sign * p->gate_tolerance;
}

// True if row j may close in this iteration; it then takes part until the end of the step.
static bool newton_may_close(const pcs_step_form *form, const pcs_step_problem *p, const pcs_dense_contacts *c, int j)
{
    if (form->has_position && c->p.b[j] <= 0.0) return true;
    return form->gate_is_live ? c->p.b_gate[j] <= p->gate_tolerance : p->gate[j] != 0;
}

void pcs_newton_find_gaps(pcs_step_solver *self, const pcs_step_problem *p, double *smooth_gap, double *gap)
{
    const newton *s = self->data;
    pcs_system *system = self->system;
    bool is_elsewhere = (s->has_jump || s->is_at_start) && self->form.gate_is_live;
    if (is_elsewhere) pcs_system_gaps(system, pcs_at(self->t, s->qt, NULL), smooth_gap);
    if (s->rows_are_here) pcs_system_gaps_here(system, pcs_at(self->t, p->q, NULL), gap);
    else pcs_system_gaps(system, pcs_at(self->t, p->q, NULL), gap);
    if (!is_elsewhere) memcpy(smooth_gap, gap, (size_t)s->m * sizeof *gap);
}

// Has a row closed that was left out of the last iteration?
bool pcs_newton_misses_row(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_dense_contacts *c = s->contacts;
    bool has_open = false, misses = false;
    for (int j = 0; j < s->m; j++) has_open = has_open || !s->is_used[j];
    if (!has_open || !pcs_form_sees_gaps(&self->form)) return false;
    pcs_newton_find_gaps(self, p, c->p.b_gate, c->p.b);
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
    pcs_dense_contacts *c = s->contacts;
    pcs_system *system = self->system;
    double kb = self->form.kb;
    if (s->m == 0) return;
    pcs_newton_find_gaps(self, p, c->p.b_gate, c->p.b);
    const double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t, *way = s->y0;
    for (int i = 0; i < s->n; i++) {
        s->q_last[i] = sum_t[i] + kb * s->y0[i] - sum[i];
        s->v_last[i] = s->v0[i] + p->d[i] + s->y0[i];
    }
    for (int j = 0; j < s->m; j++)
        c->p.b[s->m + j] = pcs_rows_dot(system->G, j, s->v_last) + newton_turn_rate(s, j, s->q_last) +
                           pcs_row_target(system->G, j, p->target, p->target_velocity);
    if (p->base != NULL) {
        memcpy(s->turned, s->y0, (size_t)s->n * sizeof *way);
        newton_turn(self, p, s->turned);
        newton_turn(self, p, s->q_last);
        way = s->turned;
    }
    for (int j = 0; j < s->m; j++) {
        if (c->p.b[j] <= 0.0) s->is_used[j] = 1;
        c->p.b[j] += pcs_rows_dot(system->G, j, s->q_last);
        c->p.b_gate[j] = s->is_at_start ? c->p.b[j] : c->p.b_gate[j] + kb * pcs_rows_dot(system->G, j, way);
        if (self->form.law_is_gap) c->p.b[s->m + j] = c->p.b[j] / kb; // d and W move gap and kb times velocity alike
        if (newton_may_close(&self->form, p, c, j)) s->is_used[j] = 1;
    }
    for (int t = 0; t < s->nt; t++)
        c->p.b[2 * s->m + t] =
            pcs_rows_dot(system->T, t, s->v_last) + pcs_row_target(system->T, t, p->target_t, p->target_velocity);
}

// G (kh d + drift) of the held rows without multipliers.
static void newton_fill_held_base(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_contact_problem *c = &s->contacts->p;
    for (int i = 0; i < s->n; i++) s->q_last[i] = p->drift[i] + self->form.kh * (p->d[i] + s->y0[i]);
    for (int j = 0; j < s->m; j++)
        c->b[j] = c->rows[j].is_bilateral || !p->held[j] ? 0.0 : pcs_rows_dot(self->system->G, j, s->q_last);
    for (int t = 0; t < s->nt; t++) c->b[2 * s->m + s->nt + t] = pcs_rows_dot(self->system->T, t, s->q_last);
}

// Rows that were left out and are broken by the multipliers of the others get a say, too.
static bool newton_widens(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_dense_contacts *c = s->contacts;
    bool widens = false;
    for (int j = 0; j < s->m; j++) {
        bool is_closed = self->form.has_position && c->p.value[j] < 0.0;
        if (self->form.gate_is_live) is_closed = is_closed || c->p.gate_gap[j] <= fabs(c->p.gate_tolerance);
        if (s->is_used[j] || !is_closed) continue;
        s->is_used[j] = 1;
        widens = true;
    }
    return widens;
}

// Updates the sets once from the present iterate if the linearised problem has no solution, as K may be indefinite
// there; the iteration then continues.
static bool newton_update_sets(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_dense_contacts *c = s->contacts;
    pcs_system *system = self->system;
    memcpy(c->p.z, s->z_last, (size_t)s->nz * sizeof *c->p.z);
    pcs_newton_find_gaps(self, p, c->p.gate_gap, c->p.value);
    for (int j = 0; j < s->m; j++)
        c->p.value[s->m + j] =
            pcs_rows_dot(system->G, j, p->v) + pcs_row_target(system->G, j, p->target, p->target_velocity);
    for (int t = 0; t < s->nt; t++)
        c->p.value[2 * s->m + t] =
            pcs_rows_dot(system->T, t, p->v) + pcs_row_target(system->T, t, p->target_t, p->target_velocity);
    s->is_provisional = true;
    bool is_settled = false;
    if (!pcs_dense_contacts_update(c, &is_settled)) return false;
    s->is_provisional = !is_settled;
    return true;
}

// All contacts stay open as far as the motion without multipliers says.
static bool newton_is_free(const newton *s)
{
    for (int j = 0; j < s->m; j++)
        if (s->is_used[j]) return false;
    return true;
}

bool pcs_newton_solve_contacts(pcs_step_solver *self, pcs_step_problem *p, int *rounds)
{
    newton *s = self->data;
    s->is_provisional = false;
    memcpy(s->z_last, s->contacts->p.z, (size_t)s->nz * sizeof(double));
    newton_fill_base(self, p);
    if (p->held != NULL) newton_fill_held_base(self, p);
    if (newton_is_free(s)) {
        memset(s->contacts->p.z, 0, (size_t)s->nz * sizeof(double));
        memset(s->contacts->p.gate, 0, (size_t)s->m * sizeof *s->contacts->p.gate);
        *rounds = 1;
        return true;
    }
    if (self->form.has_dynamics) pcs_projection_follow(self, p->base == NULL ? NULL : s->x);
    // Starts from the present multipliers, to stay with one solution where there are several.
    s->contacts->is_warm = self->form.has_dynamics && s->has_jump && !s->is_at_start;
    do {
        newton_fill_columns(self);
        newton_fill_contacts(self, p);
        if (pcs_dense_contacts_solve(s->contacts, rounds)) continue;
        return self->form.has_dynamics && !s->contacts->p.is_hasty && newton_update_sets(self, p);
    } while (newton_widens(self));
    return true;
}
