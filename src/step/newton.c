// Step solver `newton`: for systems whose M, G or f vary, with friction and bilateral rows; dense, for few unknowns.
// Contact problems without dynamics are impacts (dense_contacts.h).
//
// Every iteration linearises about the present (q, v) and solves the contact problem of the linearised step:
//
//   S* dd + Gb^T mu = -r1 - h K (dU + kw dW) - h C dW,   Gb dd = -Gb vt      S* = c M + h C + h kb K,  mu = -h dlam
//   U = X nu + (h/2) XT Lt (position level only; with held rows X nu + XT nu_t),  W = X La + XT Lt
//                                                                             X = M^-1 G^T, XT = M^-1 T^T at q
//   r1 = c M d - h (f + Gb^T lam)
//
// A bilateral row of one equation i and constant direction is pinned: row i of S* keeps its diagonal only, so that the
// gap stays as it is, without a border, and gives the force afterwards. Only where contacts act it is a row of the
// contact problem, too.
//
//   x_i = -(G vt + target)/G_i,   mu = (y - S* x - Gb^T mu)_i / G_i        for S* x + Gb^T mu = y
//
// S* and K of an iterate stay where the one after it has changed little by comparison: what is left is corrected by the
// residual, at a rate below the one that was seen.
//
// Positions that do not add up: x = x0 + kb d + U + kw W is the increment from the start of the step, `sum` its numbers
// added to it, and K, G of positions are derivatives by x.
//
// Derivatives of M are in K, d(M a)/dq with a = c d/h; those of contact rows G are left out of the linearisation (an
// iteration or two, never the solution); those of joints, of forces and velocities, are in it (curvature.h):
// with M U = G^T nu, M W = G^T La the increment of q solves S* dq = c M dP + ..., dP what the multipliers add, so that
// a turn of the rows keeps q and changes d. Friction inside the position correction keeps a sticking contact from
// creeping.

#include "core/dense.h"
#include "core/loop.h"
#include "core/rounding.h"
#include "step/curvature.h"
#include "step/dense_contacts.h"
#include "step/outer.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

// Extrapolates the accelerations of the steps before to the next one: the polynomial through the last ones, by backward
// differences,
//
//   a_(n+1) ~ a_n + D1 + ... + Dk      D1 = a_n - a_(n-1),  D2 = D1_n - D1_(n-1),  ...
//
// The error of order k is D(k+1) of the step to come. So the differences of a step say how good each order would have
// been for it, and the best one serves the next step: a motion that is resolved in time goes on smoothly, one with fast
// modes of the mesh, whose signs alternate, stays with the last acceleration, and is left alone for a while. Forces of
// joints go along. Where a contact acts, and where the step has another length, the past begins anew.

enum { PAST_ORDERS = 3 };

typedef struct past_head {
    double h;     // length of the steps, s
    double count; // number of known differences, or minus the number of steps until the past is used again
    double order; // order of the next guess
} past_head;

typedef struct past {
    int n, nforce;
    past_head head;
    double *rise[PAST_ORDERS]; // [n] D1, D2, ... of accelerations, m/s^2
    double *force_rise;        // [PAST_ORDERS * nforce] D1, D2, ... of forces, N
} past;

typedef struct newton {
    int n, m, nt, nz, nb; // unknowns, rows, tangents, multipliers 2 m + 2 nt (nu, La, Lt, nu_t), bilateral rows
    pcs_dense_contacts *contacts;
    pcs_curvature *curvature; // curvature of rows; NULL if left out
    pcs_matrix *S;
    pcs_linsolve *iteration;
    int *bilateral;            // [nb] bilateral rows, those that may be pinned last
    int npin, nborder;         // number of these; bilateral rows that are not pinned in this form
    unsigned char *is_used;    // [m] rows that may transmit an impulse in this step
    int *row_of_tangent;       // [nt]
    bool is_provisional;       // the multipliers belong to sets that do not hold yet
    int gate_sign;             // 1: a gap at the tolerance counts as closed. -1: as open, if closing it would open it
    bool has_factors;          // S* of this form is factored and constant
    bool is_factored;          // rows are constant, too
    bool keeps_factor;         // S* and K of the iterate before are kept
    unsigned char *has_column; // [nz] 1 if column Y is filled
    double **Y;                // [nz][n] change of d by a unit multiplier
    double **mu_of;            // [nz][nb] change of mu by a unit multiplier
    pcs_rows *A;               // [nb x n] Gb + kb Hb, of the iterate of S*
    double **border;           // [nb][n] S*^-1 Gb^T; of pinned rows, their rows of S*
    double *schur, *mu0;       // [nb * nb], [nb]
    pcs_motion at;
    double *f;             // [n]
    double *force;         // [nb] forces of joints in the last step, N
    double *invert, *keep; // [nb * nb], [nb]
    double *lam;           // [m] multipliers half-way to the next iterate
    double *z_last;        // [nz] multipliers of the iterate before
    double *right;         // [n] right side of the last solve; NULL if not needed
    double *base, *trial;  // [n] buffer of newton_try_kept, y0 by the matrix before
    bool has_trial;        // `trial` is filled, and y0 holds the right side without jumps
    double size, drift;    // size of the last change and its drift: newton_measure
    pcs_bend bend;         // curvature of the motion, in the last step
    past *past;            // accelerations of earlier steps; NULL if not kept
} newton;

// The linearised step of `newton`: its matrix, what multipliers do to it, and the contact problem that follows.

// Returns the column of X or XT for unknown k of z.
static const double *newton_column(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    const pcs_projection *p = self->projection;
    if (k >= 2 * s->m) return p->XT->value[(k - 2 * s->m) % s->nt];
    return p->X->value[k < s->m ? k : k - s->m];
}

// Returns true if unknown k is a multiplier of positions, nu or nu_t.
static bool newton_is_of_gap(const newton *s, int k)
{
    return k < s->m || k >= 2 * s->m + s->nt;
}

// Returns the factor of the column of unknown k in U. The next function returns that in v.
static double newton_into_U(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    if (newton_is_of_gap(s, k)) return 1.0;
    return k >= 2 * s->m && self->form.has_position ? 0.5 * self->form.h : 0.0;
}

static double newton_into_v(const pcs_step_solver *self, int k)
{
    return newton_is_of_gap(self->data, k) ? 0.0 : 1.0;
}

// Returns the factor of the column of unknown k in q, without the part through d.
static double newton_into_q(const pcs_step_solver *self, int k)
{
    return newton_into_U(self, k) + self->form.kw * newton_into_v(self, k);
}

// Returns true if unknown k needs a column; multipliers of rows that stay open throughout the step are zero.
static bool newton_is_used(const pcs_step_solver *self, int k)
{
    const newton *s = self->data;
    const pcs_contact_problem *p = &s->contacts->p;
    if (k < s->m) return self->form.has_position ? s->is_used[k] : pcs_contact_holds(p, k);
    if (k >= 2 * s->m + s->nt) return pcs_contact_holds_tangents(p, s->row_of_tangent[k - 2 * s->m - s->nt]);
    return s->is_used[k < 2 * s->m ? k - s->m : s->row_of_tangent[k - 2 * s->m]];
}

// Returns the change of the velocity of a row as its direction rotates with an increment dx.
static double newton_rotation_rate(const newton *s, int row, const double *dx)
{
    return s->curvature == NULL ? 0.0 : pcs_rows_dot(s->curvature->H, row, dx);
}

// Fills the rows (Gb + kb Hb), which give the change of velocities of bilateral rows. They stay with S*, so that the
// change of both shows in newton_measure.
static void newton_fill_rates(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_rows *G = self->system->G;
    for (int i = 0; i < s->nborder; i++) {
        int row = s->bilateral[i], first = s->A->start[i], count = s->A->start[i + 1] - first;
        memcpy(s->A->column + first, G->column + G->start[row], (size_t)count * sizeof *G->column);
        memcpy(s->A->value + first, G->value + G->start[row], (size_t)count * sizeof *G->value);
        if (s->curvature == NULL) continue;
        const pcs_rows *H = s->curvature->H; // in the order of G
        for (int k = H->start[row]; k < H->start[row + 1]; k++)
            s->A->value[first + k - H->start[row]] += self->form.kb * H->value[k];
    }
}

// Returns true if a bilateral row has one entry; all whose directions vary have more.
static bool newton_is_single(const pcs_system *system, int row)
{
    return system->rows[row].is_bilateral && system->G->start[row + 1] == system->G->start[row] + 1;
}

static bool newton_is_pinned(const pcs_step_solver *self, int row)
{
    const newton *s = self->data;
    return s->nborder < s->nb && newton_is_single(self->system, row);
}

// Returns the equation of the k-th bilateral row, a pinned one.
static int newton_pinned(const pcs_step_solver *self, int k)
{
    return self->system->G->column[self->system->G->start[((const newton *)self->data)->bilateral[k]]];
}

// Moves what couples the pinned equations to others out of their rows of S*.
static void newton_uncouple(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_pattern *pattern = s->S->pattern;
    for (int k = s->nborder; k < s->nb; k++) {
        int i = newton_pinned(self, k);
        for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
            double *entry = &s->S->value[pcs_pattern_place(pattern, i, pattern->row[e])];
            s->border[k][pattern->row[e]] = *entry;
            if (pattern->row[e] != i) *entry = 0.0;
        }
    }
}

// Solves x = S*^-1 x subject to the bilateral rows (Gb + kb Hb) x + Hb increment + Gb vt + target = 0; mu gets their
// multipliers. If vt is NULL, the last two terms are left out.
static void newton_bordered_solve(pcs_step_solver *self, double *x, const double *increment, const double *vt,
                                  const double *target, double *mu)
{
    newton *s = self->data;
    const pcs_rows *G = self->system->G;
    double *keep = s->keep;
    for (int k = s->nborder; k < s->nb; k++) {
        int i = newton_pinned(self, k), row = s->bilateral[k];
        keep[k] = vt == NULL ? 0.0 : -(vt[i] + target[row] / G->value[G->start[row]]);
        mu[k] = x[i];
        x[i] = keep[k] * s->border[k][i];
    }
    pcs_linsolve_solve(s->iteration, x);
    if (!self->form.has_smooth_multipliers) return;
    for (int i = 0; i < s->nborder; i++) {
        keep[i] = pcs_rows_dot(s->A, i, x) + newton_rotation_rate(s, s->bilateral[i], increment);
        if (vt != NULL) keep[i] += pcs_rows_dot(G, s->bilateral[i], vt) + target[s->bilateral[i]];
    }
    // Multiplies by `schur`, the inverted Schur complement.
    for (int i = 0; i < s->nborder; i++) {
        mu[i] = 0.0;
        for (int j = 0; j < s->nborder; j++) mu[i] += s->schur[i * s->nborder + j] * keep[j];
        for (int k = 0; k < s->n; k++) x[k] -= s->border[i][k] * mu[i];
    }
    for (int k = s->nborder; k < s->nb; k++) x[newton_pinned(self, k)] = keep[k];
    for (int k = s->nborder; k < s->nb; k++) {
        const pcs_pattern *pattern = s->S->pattern;
        int column = newton_pinned(self, k);
        for (int e = pattern->start[column]; e < pattern->start[column + 1]; e++)
            mu[k] -= s->border[k][pattern->row[e]] * x[pattern->row[e]];
        for (int i = 0; i < s->nborder; i++)
            for (int e = G->start[s->bilateral[i]]; e < G->start[s->bilateral[i] + 1]; e++)
                if (G->column[e] == column) mu[k] -= G->value[e] * mu[i];
        mu[k] /= G->value[G->start[s->bilateral[k]]];
    }
}

// Moves the state half-way along the change `trial`: S* there is the mean slope of that path but for third derivatives.
// Joint forces, and their directions if they vary, move with it.
static void newton_go_half(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    double half = 0.5 * self->form.kb, *to = p->base == NULL ? s->at.q_last : s->at.rotated;
    const double *from = p->base == NULL ? p->q : s->at.x;
    for (int i = 0; i < s->n; i++) {
        to[i] = from[i] + half * s->trial[i];
        s->at.v_last[i] = p->v[i] + 0.5 * s->trial[i];
    }
    if (p->base != NULL) pcs_retract(&self->system->rotations, p->base, s->at.rotated, s->at.q_last);
    p->q = s->at.q_last;
    p->v = s->at.v_last;
    if (s->curvature == NULL) return;
    for (int i = 0; i < s->nb; i++) s->lam[s->bilateral[i]] = p->lam[s->bilateral[i]] - 0.5 * s->mu0[i] / self->form.h;
    p->lam = s->lam;
    pcs_system_aim(self->system, pcs_at(self->t, p->q, NULL));
}

// Assembles and factors S* at p, whose increment is x. Returns false if it is singular.
static bool newton_factor_iteration(pcs_step_solver *self, const pcs_step_problem *p, const double *x)
{
    newton *s = self->data;
    const pcs_system *system = self->system;
    bool is_singular = false;
    if (s->has_factors) return true;
    pcs_step_assemble(self, s->curvature, p, p->base == NULL ? NULL : x, s->contacts->p.z, s->S);
    newton_uncouple(self);
    if (pcs_linsolve_factor(s->iteration, &is_singular) != PCS_OK || is_singular) return false;
    self->nfactor++;
    s->has_factors = pcs_step_is_constant(system) && s->curvature == NULL;
    s->is_factored = system->is_linear;
    return true;
}

// Factors S* alone, if no step of this form changes it.
static void newton_factor_constant(pcs_step_solver *self)
{
    const newton *s = self->data;
    if (!pcs_step_is_constant(self->system) || s->curvature != NULL) return;
    (void)newton_factor_iteration(self, &(pcs_step_problem){ .t = 0.0 }, NULL);
}

// Fills and inverts the Schur complement of the smooth multipliers of bilateral rows along the present rows.
static bool newton_fill_border(pcs_step_solver *self)
{
    newton *s = self->data;
    newton_fill_rates(self);
    for (int i = 0; i < s->nborder; i++) {
        memset(s->border[i], 0, (size_t)s->n * sizeof(double));
        pcs_rows_add_transposed(self->system->G, s->bilateral[i], 1.0, s->border[i]);
        for (int k = s->nborder; k < s->nb; k++) s->border[i][newton_pinned(self, k)] = 0.0;
        pcs_linsolve_solve(s->iteration, s->border[i]);
    }
    for (int i = 0; i < s->nborder; i++)
        for (int j = 0; j < s->nborder; j++) s->schur[i * s->nborder + j] = pcs_rows_dot(s->A, i, s->border[j]);
    // Regularises redundant rows, so that they share the least multipliers, which the iteration makes exact.
    if (self->system->row_set.are_redundant)
        for (int i = 0; i < s->nborder; i++) s->schur[i * s->nborder + i] *= 1.0 + PCS_SHARED_WEIGHT;
    return pcs_dense_invert(s->nborder, s->schur, s->invert);
}

// Factors S* at the present state unless it is kept, and the border of the bilateral rows.
static bool newton_factor(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_step_problem at = *p;
    if (s->is_factored) return true;
    if (s->has_trial && !s->keeps_factor) newton_go_half(self, &at);
    if (!s->keeps_factor && !newton_factor_iteration(self, &at, at.q == p->q ? s->at.x : s->at.rotated)) return false;
    bool is_fit = !self->form.has_smooth_multipliers || newton_fill_border(self);
    if (at.q != p->q && s->curvature != NULL) pcs_system_aim(self->system, pcs_at(self->t, p->q, NULL));
    return is_fit;
}

// Evaluates y0 = h f - c M d + h Gb^T lam.
static void newton_fill_right(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_system *system = self->system;
    double h = self->form.h;
    system->ops->force(system, pcs_at(p->t, p->q, p->v), s->f);
    PCS_INDEPENDENT
    for (int i = 0; i < s->n; i++) s->at.y0[i] = h * s->f[i];
    pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->at.y0);
    if (self->form.has_smooth_multipliers)
        for (int i = 0; i < s->nb; i++)
            pcs_rows_add_transposed(system->G, s->bilateral[i], h * p->lam[s->bilateral[i]], s->at.y0);
}

// Adds the effect of the jumps U and W to y0 and solves for it: the change of d without contact multipliers.
static void newton_solve_right(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    const double kw = self->form.kw;
    PCS_INDEPENDENT
    for (int i = 0; i < s->n; i++) {
        s->at.q_last[i] = s->at.U[i] + kw * s->at.W[i];
        s->at.v_last[i] = s->at.v0[i] + p->d[i]; // vt is stored in v_last
    }
    if (s->at.has_jump) pcs_step_add_tangent(self, s->curvature, self->form.h, s->at.q_last, s->at.W, s->at.y0);
    if (s->right != NULL) memcpy(s->right, s->at.y0, (size_t)s->n * sizeof *s->right);
    for (int i = 0; s->at.has_jump && i < s->n; i++) s->at.q_last[i] = -s->at.q_last[i];
    newton_bordered_solve(self, s->at.y0, s->at.q_last, s->at.v_last, p->target, s->mu0);
}

// Sets `trial` to y0 as found with the matrix of the iterate before, and y0 to its right side.
static void newton_try_kept(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    newton_fill_right(self, p);
    memcpy(s->base, s->at.y0, (size_t)s->n * sizeof *s->base);
    newton_solve_right(self, p);
    double *found = s->at.y0;
    s->at.y0 = s->base;
    s->base = s->trial;
    s->trial = found;
}

// Fills Y, the change of d per unit multiplier. La moves q by kw times as much as nu: one product with K serves both.
static void newton_fill_columns(pcs_step_solver *self)
{
    newton *s = self->data;
    for (int k = 0; k < s->nz; k++) {
        if (!newton_is_used(self, k) || s->has_column[k]) continue;
        bool is_begun = self->form.has_position && k >= s->m && k < 2 * s->m;
        if (!is_begun) memset(s->Y[k], 0, (size_t)s->n * sizeof(double));
        s->has_column[k] = self->system->is_linear;
        const double *column = newton_column(self, k);
        double into_q = newton_into_q(self, k), into_v = newton_into_v(self, k);
        for (int i = 0; i < s->n; i++) {
            s->at.q_last[i] = -into_q * column[i];
            s->at.v_last[i] = -into_v * column[i];
        }
        pcs_step_add_tangent(self, s->curvature, self->form.h, is_begun ? NULL : s->at.q_last,
                             into_v == 0.0 ? NULL : s->at.v_last, s->Y[k]);
        if (k < s->m && self->form.has_position)
            for (int i = 0; i < s->n; i++) s->Y[s->m + k][i] = self->form.kw * s->Y[k][i];
        for (int i = 0; i < s->n; i++) s->at.q_last[i] = -s->at.q_last[i];
        newton_bordered_solve(self, s->Y[k], s->at.q_last, NULL, NULL, s->mu_of[k]);
    }
}

// Converts in place a change dx of the increment to the material rotations that rows multiply: dx := T(x) dx.
static void newton_rotation(const pcs_step_solver *self, const pcs_step_problem *p, double *dx)
{
    const newton *s = self->data;
    if (p->base != NULL) pcs_rotate_vector(&self->system->rotations, s->at.x, dx);
}

// Fills column l of the gaps, G dq_l with dq_l in q_last, and if the gate is live of the gate gaps, kb G Y_l: the
// effect of a unit multiplier.
static void newton_fill_gaps(pcs_step_solver *self, const pcs_step_problem *p, int l)
{
    newton *s = self->data;
    pcs_dense_contacts *c = s->contacts;
    const pcs_rows *G = self->system->G;
    newton_rotation(self, p, s->at.q_last);
    for (int j = 0; j < s->m; j++) c->P[j * s->nz + l] = pcs_rows_dot(G, j, s->at.q_last);
    if (!self->form.gate_is_live) return;
    const double *Y = s->Y[l];
    if (p->base != NULL) {
        memcpy(s->at.rotated, Y, (size_t)s->n * sizeof *Y);
        newton_rotation(self, p, s->at.rotated);
        Y = s->at.rotated;
    }
    for (int j = 0; j < s->m; j++) c->P_gate[j * s->nz + l] = self->form.kb * pcs_rows_dot(G, j, Y);
}

// Fills column l of P for held rows and their tangents: the change of G (U + kh d) per unit of multiplier l.
static void newton_fill_held(pcs_step_solver *self, int l)
{
    newton *s = self->data;
    const pcs_contact_problem *p = &s->contacts->p;
    const double *X = newton_column(self, l), *Y = s->Y[l];
    double *P = s->contacts->P + l, into_U = newton_into_U(self, l), kh = self->form.kh;
    for (int j = 0; j < s->m; j++)
        if (pcs_contact_holds(p, j))
            P[j * s->nz] = into_U * pcs_rows_dot(self->system->G, j, X) + kh * pcs_rows_dot(self->system->G, j, Y);
    for (int t = 0; t < s->nt; t++)
        if (pcs_contact_holds_tangents(p, s->row_of_tangent[t]))
            P[(2 * s->m + s->nt + t) * s->nz] =
                into_U * pcs_rows_dot(self->system->T, t, X) + kh * pcs_rows_dot(self->system->T, t, Y);
}

// Fills the affine maps of the contact problem about the present state.
static void newton_fill_contacts(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_dense_contacts *c = s->contacts;
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    memset(c->P, 0, (size_t)s->nz * (size_t)s->nz * sizeof(double));
    memset(c->P_gate, 0, (size_t)s->m * (size_t)s->nz * sizeof(double));
    for (int l = 0; l < s->nz; l++) {
        if (!newton_is_used(self, l)) continue;
        // Computes the changes of q and v per unit multiplier, including those through d.
        const double *column = newton_column(self, l);
        double into_q = newton_into_q(self, l), into_v = newton_into_v(self, l);
        for (int i = 0; i < s->n; i++) {
            s->at.q_last[i] = into_q * column[i] + form->kb * s->Y[l][i];
            s->at.v_last[i] = into_v * column[i] + s->Y[l][i];
        }
        bool rotates = s->curvature != NULL && !form->law_is_gap;
        for (int j = 0; j < s->m; j++) {
            double rotation = rotates ? newton_rotation_rate(s, j, s->at.q_last) : 0.0;
            c->P[(s->m + j) * s->nz + l] = pcs_rows_dot(system->G, j, s->at.v_last) + rotation;
        }
        if (form->has_position) newton_fill_gaps(self, p, l);
        if (p->held != NULL) newton_fill_held(self, l);
        for (int t = 0; t < s->nt; t++) c->P[(2 * s->m + t) * s->nz + l] = pcs_rows_dot(system->T, t, s->at.v_last);
    }
    for (int j = 0; j < s->m; j++) {
        c->p.r[j] = c->p.r[s->m + j] = self->effective_mass[j];
        c->is_out[j] = !s->is_used[j];
    }
    for (int t = 0; t < s->nt; t++)
        c->p.r[2 * s->m + t] = 1.0 / pcs_rows_dot(system->T, t, self->projection->XT->value[t]);
    memcpy(c->p.gate, p->gate, (size_t)s->m);
    c->p.h = self->form.h;
    c->p.has_position = self->form.has_position;
    c->p.gate_is_live = self->form.gate_is_live;
    c->p.gate_tolerance = s->gate_sign * p->gate_tolerance;
}

// Returns true if row j may close in this iteration; it then takes part until the end of the step.
static bool newton_may_close(const pcs_step_solver *self, const pcs_step_problem *p, int j)
{
    const pcs_contact_problem *c = &((const newton *)self->data)->contacts->p;
    const pcs_step_form *form = &self->form;
    if (newton_is_pinned(self, j)) return form->has_position && fabs(c->b[j]) > p->gate_tolerance;
    if (form->has_position && c->b[j] <= 0.0) return true;
    return form->gate_is_live ? c->b_gate[j] <= p->gate_tolerance : p->gate[j] != 0;
}

// Adds rows that the last iteration left out and that have closed. Returns true if there are any.
static bool newton_misses_row(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_dense_contacts *c = s->contacts;
    bool has_open = false, misses = false;
    for (int j = 0; j < s->m; j++) has_open = has_open || !s->is_used[j];
    if (!has_open || !pcs_form_sees_gaps(&self->form)) return false;
    pcs_motion_find_gaps(self, p, &s->at, c->p.b_gate, c->p.b);
    for (int j = 0; j < s->m; j++) {
        if (s->is_used[j] || !newton_may_close(self, p, j)) continue;
        s->is_used[j] = 1;
        misses = true;
    }
    return misses;
}

// Evaluates the rows without multipliers, and marks those that may act.
static void newton_fill_base(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const pcs_contact_problem *c = &s->contacts->p;
    if (s->m == 0) return;
    pcs_motion_fill_base(self, p, &s->at, s->curvature, true, &s->contacts->p);
    for (int j = 0; j < s->m; j++)
        if ((c->value[j] <= 0.0 && !newton_is_pinned(self, j)) || newton_may_close(self, p, j)) s->is_used[j] = 1;
    if (p->held != NULL) pcs_motion_fill_held(self, p, &s->at, &s->contacts->p);
}

// Adds rows that were left out and that the multipliers of the others close. Returns true if there are any.
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
    pcs_motion_find_gaps(self, p, &s->at, c->p.gate_gap, c->p.value);
    for (int j = 0; j < s->m; j++) c->p.value[s->m + j] = pcs_rows_dot(system->G, j, p->v) + p->target[j];
    for (int t = 0; t < s->nt; t++) c->p.value[2 * s->m + t] = pcs_rows_dot(system->T, t, p->v) + p->target_t[t];
    s->is_provisional = true;
    bool is_converged = false;
    if (!pcs_dense_contacts_update(c, &is_converged)) return false;
    s->is_provisional = !is_converged;
    return true;
}

// Returns true if the motion without multipliers leaves all contacts open.
static bool newton_is_free(const newton *s)
{
    for (int j = 0; j < s->m; j++)
        if (s->is_used[j]) return false;
    return true;
}

// Fills the contact problem about the present state and solves it. Returns false if no solution is found.
static bool newton_solve_contacts(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    int rounds;
    s->is_provisional = false;
    memcpy(s->z_last, s->contacts->p.z, (size_t)s->nz * sizeof(double));
    newton_fill_base(self, p);
    if (newton_is_free(s)) {
        memset(s->contacts->p.z, 0, (size_t)s->nz * sizeof(double));
        memset(s->contacts->p.gate, 0, (size_t)s->m * sizeof *s->contacts->p.gate);
        return true;
    }
    pcs_projection_follow(self, p->base == NULL ? NULL : s->at.x);
    // Starts from the present multipliers, to stay with one solution where there are several.
    s->contacts->is_warm = s->at.has_jump && !s->at.is_at_start;
    for (int k = s->nborder; k < s->nb; k++) s->is_used[s->bilateral[k]] = 1;
    do {
        newton_fill_columns(self);
        newton_fill_contacts(self, p);
        if (pcs_dense_contacts_solve(s->contacts, &rounds)) continue;
        return !s->contacts->p.is_hasty && newton_update_sets(self, p);
    } while (newton_widens(self));
    return true;
}

enum { PIECES = PAST_ORDERS + 2, PAUSE = 16 };
_Static_assert(PIECES + 2 <= PCS_DAMPER_MEMORY, "room for the pieces of the past");

// Creates the extrapolation. Declares its numbers as pieces of the memory of the solver from `first` on.
static pcs_status past_create(pcs_step_solver *solver, int nforce, int first, past **out)
{
    past *self;
    const pcs_system *system = solver->system;
    PCS_TAKE(solver->ctx, self, 1, "accelerations of earlier steps");
    self->n = system->nv;
    self->nforce = nforce;
    size_t nrise = (size_t)PAST_ORDERS * (size_t)nforce;
    PCS_TAKE(solver->ctx, self->force_rise, nrise, "accelerations of earlier steps");
    solver->memory[first] = (pcs_memory){ .bytes = &self->head, .size = sizeof self->head };
    solver->memory[first + 1] = (pcs_memory){ .bytes = self->force_rise, .size = nrise * sizeof(double) };
    for (int k = 0; k < PAST_ORDERS; k++) {
        PCS_TAKE(solver->ctx, self->rise[k], self->n, "accelerations of earlier steps");
        pcs_memory *piece = &solver->memory[first + 2 + k];
        *piece = (pcs_memory){ .bytes = self->rise[k], .size = (size_t)self->n * sizeof(double) };
        if (system->layout == NULL) continue;
        piece->size = (size_t)system->layout->n * sizeof(double);
        piece->serial = system->layout->serial;
        piece->nown = system->layout->nown;
        piece->nall = system->layout->nglobal;
    }
    *out = self;
    return PCS_OK;
}

static int past_order(const past *self, double h)
{
    return self->head.h == h ? (int)self->head.order : 0;
}

// Extrapolates acceleration and forces of the step before to the next one; `d` is `scale` times the acceleration.
static void past_guess(const past *self, double h, double scale, double *d)
{
    int order = past_order(self, h);
    for (int k = 0; k < order; k++) {
        const double *rise = self->rise[k];
        PCS_INDEPENDENT
        for (int i = 0; i < self->n; i++) d[i] += scale * rise[i];
    }
}

static void past_guess_forces(const past *self, double h, const double *last, double *force)
{
    int order = past_order(self, h);
    for (int i = 0; i < self->nforce; i++) {
        force[i] = last[i];
        for (int k = 0; k < order; k++) force[i] += self->force_rise[k * self->nforce + i];
    }
}

// Replaces the differences of the step before, of which the first `count` are known, by those of this step. `largest`
// gets the largest of each order.
static void past_renew(past *self, int count, const double *last, const double *d, double scale, double *largest)
{
    for (int k = 0; k < PAST_ORDERS; k++) largest[k] = 0.0;
    for (int i = 0; i < self->n; i++) {
        double rise = scale * d[i] - last[i];
        for (int k = 0; k < count; k++) {
            double before = self->rise[k][i];
            self->rise[k][i] = rise;
            largest[k] = fmax(largest[k], fabs(rise));
            rise -= before;
        }
        if (count == PAST_ORDERS) continue;
        self->rise[count][i] = rise;
        largest[count] = fmax(largest[count], fabs(rise));
    }
}

static void past_forget(past *self)
{
    self->head = (past_head){ 0 };
}

// Updates the differences after a smooth step of length h: d times `scale` is its acceleration, after `last`.
static void past_learn(past *self, const pcs_system *system, double h, const double *last, const double *d,
                       double scale)
{
    double largest[PAST_ORDERS];
    if (self->head.h != h) past_forget(self);
    if (self->head.count < 0.0) {
        self->head.count += 1.0;
        return;
    }
    int count = (int)self->head.count, known = count < PAST_ORDERS ? count + 1 : count, best = 0;
    past_renew(self, count, last, d, scale, largest);
    for (int k = 0; k < known; k++) largest[k] = pcs_system_max(system, largest[k]);
    for (int k = 1; k < known; k++)
        if (largest[k] < largest[best]) best = k;
    bool is_rough = count == PAST_ORDERS && best == 0;
    self->head = (past_head){ .h = h, .count = is_rough ? -PAUSE : known, .order = best };
}

static void past_learn_forces(past *self, const double *last, const double *force)
{
    for (int i = 0; i < self->nforce; i++) {
        double rise = force[i] - last[i];
        for (int k = 0; k < (int)self->head.count; k++) {
            double before = self->force_rise[k * self->nforce + i];
            self->force_rise[k * self->nforce + i] = rise;
            rise -= before;
        }
    }
}

enum { DECIDE_TIES_AFTER = 8 };

// Allocates A, with the pattern of the bilateral rows of G.
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
    PCS_TAKE_EACH(self->ctx, s->nz, "the Newton solver", double *, &s->Y, &s->mu_of);
    PCS_TAKE(self->ctx, s->border, s->nb, "the Newton solver");
    for (int k = 0; k < s->nz; k++) {
        PCS_TAKE(self->ctx, s->Y[k], s->n, "the Newton solver");
        PCS_TAKE(self->ctx, s->mu_of[k], s->nb, "the Newton solver");
    }
    for (int k = 0; k < s->nb; k++) PCS_TAKE(self->ctx, s->border[k], s->n, "the Newton solver");
    PCS_TAKE_EACH(self->ctx, (size_t)s->nb * (size_t)s->nb, "the Newton solver", double, &s->schur, &s->invert);
    PCS_TAKE_EACH(self->ctx, s->nb, "the Newton solver", double, &s->mu0, &s->keep, &s->force);
    self->memory[0] = (pcs_memory){ .bytes = s->force, .size = (size_t)s->nb * sizeof *s->force };
    PCS_TAKE(self->ctx, s->lam, s->m, "the Newton solver");
    return newton_take_rates(self, s);
}

// Returns true if S* is the complete derivative of smooth forces as long as no contact acts.
static bool newton_has_slope(const newton *s, const pcs_system *system)
{
    bool has_rotations = s->nb == 0 || !system->row_set.vary || pcs_curvature_is_whole(s->curvature);
    bool is_whole = system->tangents_vary && !system->mass_varies && has_rotations;
    return pcs_system_is_mesh(system) && is_whole && !pcs_system_remembers(system) &&
           pcs_system_ncompliant(system) == 0;
}

static pcs_status newton_setup(pcs_step_solver *self)
{
    newton *s = self->data;
    const pcs_system *system = self->system;
    bool may_pin = system->tangents_vary && pcs_system_is_mesh(system) && system->layout == NULL;
    may_pin = may_pin && !system->row_set.are_redundant;
    s->n = system->nv;
    s->m = system->nrow;
    s->nt = system->ntangent;
    s->nz = 2 * (s->m + s->nt);
    PCS_TAKE(self->ctx, s->bilateral, s->m, "the Newton solver");
    PCS_TAKE(self->ctx, s->is_used, s->m, "the Newton solver");
    PCS_TAKE(self->ctx, s->row_of_tangent, s->nt, "the Newton solver");
    for (int j = 0; j < s->m; j++) {
        const pcs_row *row = &system->rows[j];
        if (row->is_bilateral && !(may_pin && newton_is_single(system, j))) s->bilateral[s->nb++] = j;
        for (int t = 0; t < row->ntangent; t++) s->row_of_tangent[row->first_tangent + t] = j;
    }
    int last = may_pin ? s->m : 0;
    for (int j = 0; j < last; j++)
        if (newton_is_single(system, j)) s->bilateral[s->nb + s->npin++] = j;
    s->nborder = s->nb += s->npin;
    PCS_TRY(pcs_motion_create(self, &s->at));
    PCS_TAKE(self->ctx, s->f, s->n, "the Newton solver");
    PCS_TAKE(self->ctx, s->z_last, s->nz, "the Newton solver");
    PCS_TRY(pcs_curvature_create(self, &s->curvature));
    if (newton_has_slope(s, system)) {
        PCS_TAKE_EACH(self->ctx, s->n, "the Newton solver", double, &s->right, &s->base, &s->trial);
        self->memory[1] = (pcs_memory){ .bytes = &s->bend, .size = sizeof s->bend };
        PCS_TRY(past_create(self, s->nb, 2, &s->past));
    }
    PCS_TRY(newton_take_lists(self, s));
    return pcs_dense_contacts_create(self->ctx, system, true, &s->contacts);
}

// Factors matrices that never change; the others are factored in iterations, and failures here appear there again.
static pcs_status newton_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    newton *s = self->data;
    (void)outcome;
    s->has_factors = s->is_factored = false;
    if (s->nz > 0) memset(s->has_column, 0, (size_t)s->nz);
    if (!self->form.has_dynamics) return PCS_OK;
    const pcs_pattern *curved = s->curvature == NULL ? NULL : s->curvature->K->pattern;
    if (s->S == NULL) PCS_TRY(pcs_step_create_iteration(self, curved, &s->S, &s->iteration));
    s->nborder = s->nb - (self->form.has_smooth_multipliers ? s->npin : 0);
    if (self->system->is_linear) (void)newton_factor(self, &(pcs_step_problem){ .t = 0.0 });
    else newton_factor_constant(self);
    return PCS_OK;
}

// Computes U and W from the multipliers and the present columns.
static void newton_find_jumps(pcs_step_solver *self)
{
    newton *s = self->data;
    const double *z = s->contacts->p.z;
    s->at.rows_are_here = false;
    if (s->at.has_jump) memset(s->at.U, 0, (size_t)s->n * sizeof(double));
    if (s->at.has_jump) memset(s->at.W, 0, (size_t)s->n * sizeof(double));
    s->at.has_jump = false;
    for (int k = 0; k < s->nz; k++) {
        if (z[k] == 0.0) continue;
        s->at.has_jump = true;
        const double *column = newton_column(self, k);
        double into_U = newton_into_U(self, k), into_v = newton_into_v(self, k);
        for (int i = 0; i < s->n; i++) {
            s->at.U[i] += into_U * z[k] * column[i];
            s->at.W[i] += into_v * z[k] * column[i];
        }
    }
}

// Applies the multipliers: computes U and W, then q and v.
static void newton_apply(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    newton_find_jumps(self);
    pcs_motion_go(self, p, &s->at);
}

// Updates d and lam for the multipliers found. Returns the largest change of d, m/s, NAN if it is not finite.
static double newton_update_motion(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const double *z = s->contacts->p.z;
    for (int k = 0; k < s->nz; k++) {
        if (z[k] == 0.0) continue;
        for (int i = 0; i < s->n; i++) s->at.y0[i] += z[k] * s->Y[k][i];
        if (self->form.has_smooth_multipliers)
            for (int i = 0; i < s->nb; i++) s->mu0[i] += z[k] * s->mu_of[k][i];
    }
    PCS_INDEPENDENT
    for (int i = 0; i < s->n; i++) p->d[i] += s->at.y0[i];
    double largest = pcs_system_largest(self->system, s->at.y0);
    if (!isfinite(largest)) return NAN;
    if (self->form.has_smooth_multipliers)
        for (int i = 0; i < s->nb; i++) p->lam[s->bilateral[i]] -= s->mu0[i] / self->form.h;
    return largest;
}

// Returns true if the linearisation includes the rotation of joint forces: their effect on q is then kept.
static bool newton_stays(const pcs_step_solver *self)
{
    return ((const newton *)self->data)->curvature != NULL && self->form.kb > 0.0;
}

// Applies the multipliers with the columns at the present q. Returns the resulting change of the motion, m/s.
static double newton_apply_again(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    double change = 0.0;
    memcpy(s->at.q_last, s->at.sum, (size_t)s->n * sizeof(double));
    memcpy(s->at.v_last, p->v, (size_t)s->n * sizeof(double));
    newton_find_jumps(self);
    if (newton_stays(self)) pcs_motion_stay(self, p, &s->at);
    else pcs_motion_go(self, p, &s->at);
    for (int i = 0; i < s->n; i++) {
        double moved = fabs(s->at.sum[i] - s->at.q_last[i]) / self->form.h, faster = fabs(p->v[i] - s->at.v_last[i]);
        change = pcs_larger(change, pcs_system_size(self->system, i, pcs_larger(moved, faster)));
    }
    return change;
}

// Returns false if a contact acts: its part of the matrix rotates with its row, and may appear and vanish.
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
    double energy = pcs_dense_dot(pcs_system_nown(self->system), s->at.y0, s->right);
    pcs_system_sum(self->system, 1, &energy);
    for (int i = 0; i < s->nb; i++) energy -= s->mu0[i] * pcs_rows_dot(self->system->G, s->bilateral[i], s->at.y0);
    s->size = sqrt(fabs(energy)); // S* may be indefinite under pressure
    s->drift = INFINITY;
    if (!s->has_trial) return;
    PCS_INDEPENDENT
    for (int i = 0; i < s->n; i++) s->trial[i] -= s->at.y0[i];
    s->drift = pcs_system_largest(self->system, s->trial);
}

// Returns true if S* gives the energy norm of a change, because rows and columns do not move then.
static bool newton_has_size(const pcs_step_solver *self)
{
    const newton *s = self->data;
    return s->right != NULL && (s->nb == 0 || self->form.has_smooth_multipliers);
}

// Returns true if the forces of joints are impulses W. These cancel the velocity that d adds to light nodes of beams,
// so that d is large and uncertain. Then changes of velocities and positions are compared, and those of d with its own
// size if the matrix includes the rotation of the impulses.
static bool newton_jumps(const pcs_step_solver *self)
{
    const newton *s = self->data;
    return s->nb > 0 && !self->form.has_smooth_multipliers && pcs_curvature_is_whole(s->curvature);
}

// Returns the size of d, m/s, from its kinetic energy.
static double newton_scale(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    pcs_matrix_multiply(self->system->M, p->d, s->at.v_last);
    double energy = pcs_dense_dot(pcs_system_nown(self->system), s->at.v_last, p->d);
    pcs_system_sum(self->system, 1, &energy);
    return self->system->mass > 0.0 ? sqrt(fmax(energy, 0.0) / self->system->mass) : 0.0;
}

// Moves mass and directions to the end of the step. Rotated impulses keep v, and d changes by the difference, as large
// impulses of light nodes would otherwise need another iteration.
static bool newton_converge(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    if (!pcs_motion_move(self, p, &s->at)) return false;
    if (!s->at.has_jump || !newton_jumps(self)) return true;
    pcs_step_problem at = *p;
    memcpy(s->at.q_last, s->at.W, (size_t)s->n * sizeof *s->at.W);
    newton_find_jumps(self);
    for (int i = 0; i < s->n; i++) at.d[i] -= s->at.W[i] - s->at.q_last[i];
    pcs_motion_go(self, &at, &s->at);
    return true;
}

// Returns the size of the motion over that of d, at most 1.
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
    s->keeps_factor = pass.keeps_factor;
    s->gate_sign = pass.count < DECIDE_TIES_AFTER ? 1 : -1;
    if (!(s->at.has_jump ? pcs_motion_move(self, p, &s->at) : pcs_motion_lead(self, p, &s->at))) return NAN;
    s->has_trial = pass.is_measured && pass.count == 1 && !pass.keeps_factor && newton_has_size(self);
    s->has_trial = s->has_trial && newton_may_keep(self);
    bool is_moved = s->at.has_jump && !s->at.is_at_start, stays = newton_stays(self);
    double moved = is_moved && stays ? newton_apply_again(self, p) : 0.0;
    if (s->has_trial) newton_try_kept(self, p);
    if (!newton_factor(self, p)) return NAN;
    if (is_moved && !stays) moved = newton_apply_again(self, p);
    if (!s->has_trial) newton_fill_right(self, p);
    newton_solve_right(self, p);
    if (newton_has_size(self)) newton_measure(self);
    if (!newton_solve_contacts(self, p)) return NAN;
    ++*iterations;
    s->at.is_at_start = false;
    double change = newton_update_motion(self, p);
    if (isnan(change)) return NAN;
    if (newton_jumps(self)) change *= newton_weight(self, p);
    change = pcs_larger(change, moved);
    memcpy(s->at.q_last, s->at.sum, (size_t)s->n * sizeof(double));
    if (newton_jumps(self)) memcpy(s->at.v_last, p->v, (size_t)s->n * sizeof(double));
    newton_apply(self, p);
    for (int i = 0; i < s->n; i++) s->at.q_last[i] -= s->at.sum[i];
    change = pcs_larger(change, pcs_system_largest(self->system, s->at.q_last) / self->form.h);
    for (int i = 0; i < s->n && newton_jumps(self); i++)
        change = pcs_larger(change, pcs_system_size(self->system, i, p->v[i] - s->at.v_last[i]));
    return pcs_system_max(self->system, change);
}

// Solves for the impulses of joints that satisfy their law with the present d, along the present rows.
static bool newton_balance(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    const pcs_rows *G = self->system->G;
    double *A = s->schur, *b = s->keep, *z = s->contacts->p.z + s->m;
    for (int i = 0; i < s->n; i++) s->at.v_last[i] = s->at.v0[i] + p->d[i];
    for (int i = 0; i < s->nb; i++) {
        b[i] = pcs_rows_dot(G, s->bilateral[i], s->at.v_last) + p->target[s->bilateral[i]];
        for (int j = 0; j < s->nb; j++)
            A[i * s->nb + j] = self->projection->GX[s->bilateral[i] * s->m + s->bilateral[j]];
    }
    if (!pcs_dense_invert(s->nb, A, s->invert)) return false;
    for (int i = 0; i < s->nb; i++) {
        z[s->bilateral[i]] = 0.0;
        for (int j = 0; j < s->nb; j++) z[s->bilateral[i]] -= A[i * s->nb + j] * b[j];
    }
    newton_apply(self, p);
    return true;
}

// Estimates impulses of joints, twice if rows vary: along the rows of the start and along those that result. The d of a
// light node of a beam is arbitrary: the motion is right only with impulses that fit it.
static void newton_guess_impulses(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    if (self->system->row_set.vary) {
        pcs_projection_leave(self);
        if (!pcs_projection_move(self, p->q_start) || !newton_balance(self, p)) return;
    }
    if (pcs_motion_move(self, p, &s->at)) (void)newton_balance(self, p);
}

// Starts joint forces from those of the step before, extrapolated. Redundant joints start from zero, from where alone
// an iteration leads to their least-squares forces.
static void newton_guess_forces(pcs_step_solver *self, pcs_step_problem *p)
{
    newton *s = self->data;
    double *force = s->keep;
    if (s->nb == 0 || self->system->row_set.are_redundant) return;
    memcpy(force, s->force, (size_t)s->nb * sizeof *force);
    if (s->past != NULL) past_guess_forces(s->past, self->form.h, s->force, force);
    if (self->form.has_smooth_multipliers) {
        for (int i = 0; i < s->nb; i++) p->lam[s->bilateral[i]] = force[i];
        return;
    }
    if (pcs_curvature_is_whole(s->curvature) && p->q_start != NULL && !self->form.law_is_gap) {
        newton_guess_impulses(self, p);
        return;
    }
    for (int i = 0; i < s->nb; i++) s->contacts->p.z[s->m + s->bilateral[i]] = self->form.h * force[i];
    if (pcs_motion_move(self, p, &s->at)) newton_apply(self, p);
}

// Stores the motion and the joint forces of the step if it continued the one before and no contact has acted.
static void newton_remember(pcs_step_solver *self, const pcs_step_problem *p, bool is_converged)
{
    newton *s = self->data;
    double *force = s->keep;
    bool is_smooth = is_converged && s->at.is_guessed && newton_may_keep(self);
    for (int i = 0; i < s->nb; i++) {
        int row = s->bilateral[i];
        force[i] = self->form.has_smooth_multipliers ? p->lam[row] : s->contacts->p.z[s->m + row] / self->form.h;
        if (!is_converged) force[i] = 0.0;
    }
    if (s->past != NULL && is_smooth) {
        past_learn(s->past, self->system, self->form.h, p->acceleration, p->d, self->form.c / self->form.h);
        past_learn_forces(s->past, s->force, force);
    } else if (s->past != NULL) {
        past_forget(s->past);
    }
    for (int i = 0; i < s->nb; i++) s->force[i] = force[i];
}

// Starts without contact multipliers, and with the accelerations of the steps before extrapolated.
static void newton_begin(pcs_step_solver *self, pcs_step_problem *p, bool is_at_start)
{
    newton *s = self->data;
    (void)is_at_start;
    for (int j = 0; j < s->m; j++) s->is_used[j] = p->held != NULL && p->held[j];
    for (int k = 0; k < s->nborder; k++) s->is_used[s->bilateral[k]] = 1;
    if (s->at.is_guessed && s->past != NULL) past_guess(s->past, self->form.h, self->form.h / self->form.c, p->d);
    memset(s->contacts->p.z, 0, (size_t)s->nz * sizeof(double));
    if (self->form.has_smooth_multipliers)
        for (int j = 0; j < s->m; j++) p->lam[j] = 0.0;
}

// Returns true if the sets do not hold yet, or if a row has closed that was left out.
static bool newton_is_provisional(pcs_step_solver *self, const pcs_step_problem *p)
{
    newton *s = self->data;
    (void)pcs_motion_lead(self, p, &s->at); // computes the gaps, which are needed next
    return s->is_provisional || newton_misses_row(self, p);
}

static pcs_outcome newton_dynamics(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    newton *s = self->data;
    bool has_size = newton_has_size(self), pushes = false;
    for (int i = 0; i < s->nb; i++) pushes = pushes || s->force[i] != 0.0;
    const pcs_outer outer = { .begin = newton_begin,
                              .guess = newton_guess_forces,
                              .knows_joints = pushes && !self->system->row_set.are_redundant,
                              .iterate = newton_iterate,
                              .may_keep = newton_may_keep,
                              .size = has_size ? &s->size : NULL,
                              .drift = &s->drift,
                              .bend = has_size ? &s->bend : NULL,
                              .scale = newton_jumps(self) ? newton_scale : NULL,
                              .is_provisional = newton_is_provisional,
                              .move = newton_converge,
                              .at = &s->at,
                              .has_rotations = pcs_curvature_is_whole(s->curvature),
                              .contacts = &s->contacts->p,
                              .z_last = s->z_last };
    return pcs_outer_solve(self, p, &outer, iterations);
}

static void newton_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    newton *s = self->data;
    if (!self->form.has_dynamics) {
        pcs_dense_contacts_impact(s->contacts, self, p, result);
        return;
    }
    *result = (pcs_step_result){ 0 };
    pcs_motion_take(self, p, &s->at);
    s->contacts->p.held = p->held;
    result->outcome = newton_dynamics(self, p, &result->iterations);
    newton_remember(self, p, result->outcome == PCS_CONVERGED);
    if (result->outcome == PCS_CONVERGED) pcs_motion_report(self, p, &s->at, &s->contacts->p);
    else pcs_projection_leave(self);
}

const pcs_step_solver_ops pcs_step_newton = {
    .name = "newton",
    .summary = "Newton with a dense contact problem, for nonlinear systems, friction and joints; few unknowns",
    .data_size = sizeof(newton),
    .takes_all = true,
    .setup = newton_setup,
    .prepare = newton_prepare,
    .solve = newton_solve,
};
