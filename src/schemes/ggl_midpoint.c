// Gear-Gupta-Leimkuhler midpoint schemes: contact at velocity and position level.
// Schoeder, Ulbrich, Schindler: Discussion of the Gear-Gupta-Leimkuhler method for impacting mechanical systems,
// Multibody System Dynamics 31 (2014), eqs. 29-52.
//
// The prediction qM = q_n + (h/2) v_n gives mass M(qM) and contacts I = { g(qM) <= tol }, up to round-off.
// contacts_at: middle   these alone, as in the paper. A body that should rest hops where e > 0: its flights are rounded
//                       up to whole steps, so that they return what restitution takes.
//              end      those, too, that end the step with g <= 0 without their law: the step is taken again with them.
//
// coupling: decoupled   the velocity step of the Moreau midpoint rule, then positions for all contacts:
//   q = q_n + (h/2) (v_n + v) + G(qM)^T Psi,   0 <= g(q) _|_ Psi >= 0
// coupling: unified     with qm, vm = means of both ends, on I:
//   q = q_n + (h/2) (v_n + v) + G(qm)^T Psi,   v = v_n + M(qM)^-1 (h f(t_n + h/2, qm, vm) + G(qm)^T La)
//   0 <= g(q) _|_ Psi >= 0,   0 <= G(q) v + e G(q_n) v_n _|_ La >= 0,  tangential rows likewise, with friction
// The paper linearises both laws about the start (eqs. 41, 42): then Psi has to undo a velocity that La imposes, and
// lasting contacts gain energy.
//
// Positions are corrected in the Euclidean metric, as the paper does, or with `metric: mass` by M^-1 G^T Psi: on a mesh
// the former would push single nodes.

#include "schemes/explicit.h"
#include "step/dense_contacts.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

typedef struct pcs_ggl_memory {
    double factored_h; // length of the last step; factors made again after a resume are not counted
} pcs_ggl_memory;

typedef struct pcs_ggl {
    pcs_explicit base;
    pcs_dense_contacts *contacts;
    bool is_mass_metric;  // metric of the position correction is M
    double **E;           // [nrow][nv] directions of the position correction: G^T, or M^-1 G^T
    double *psi;          // [nrow] their multipliers, m
    double *start_rate;   // [nrow] G(q_n) v_n, m/s
    double *start_rate_t; // [ntangent] T(q_n) v_n, m/s
    double *uncorrected;  // [nv] q without its correction
    // for the unified scheme:
    pcs_matrix *S;           // M + (h/2) C + (h^2/4) K
    pcs_linsolve *iteration; // solver of S
    double factored_h;       // step length for which S and Y of a linear system were computed, s
    double **Y;              // [2 nrow + ntangent][nv] change of v by units of Psi, La and Lt
    double *mid_q, *mid_v;   // [nv] middle of the step
    double *r, *dv;          // [nv] position residual, velocity change
    double rotated[3];       // momentum of impulses minus that along the directions of their report, N s
} pcs_ggl;

// Newton's method on the unified step, each linearisation a contact problem in (Psi, La, Lt). About q', v' with the
// middle qm, vm = (q_n + q')/2, (v_n + v')/2, mass at the prediction, G = G(qm), E = G^T or M^-1 G^T:
//
//   S dv = -M (v' - v_n) + h f(qm, vm) - (h/2) K r + G^T La - (h/2) K E Psi,   S = M + (h/2) C + (h^2/4) K
//   dq   = r + (h/2) dv + E Psi,   r = q_n + (h/2) (v_n + v') - q'
//
// Derivatives of G are left out; they cost an iteration or two, never the solution.

enum { ITERATIONS = 60 };

static pcs_status ggl_take_unified(pcs_scheme *self, pcs_ggl *s)
{
    const pcs_system *system = self->system;
    int count = 2 * system->nrow + system->ntangent;
    PCS_TAKE_EACH(self->ctx, system->nv, "the unified step", double, &s->mid_q, &s->mid_v, &s->r, &s->dv);
    PCS_TAKE(self->ctx, s->Y, count, "the unified step");
    for (int k = 0; k < count; k++) PCS_TAKE(self->ctx, s->Y[k], system->nv, "the unified step");
    PCS_TRY(pcs_matrix_create(self->ctx, system->M->pattern, &s->S));
    bool is_spd = system->is_linear && !pcs_system_is_gyroscopic(system);
    return pcs_linsolve_create(self->ctx, self->solver->linear, s->S, is_spd ? PCS_SPD : PCS_GENERAL, &s->iteration);
}

// Computes E for the present directions.
static void ggl_copy_directions(const pcs_scheme *self, pcs_ggl *s)
{
    for (int j = 0; j < self->system->nrow; j++) {
        memset(s->E[j], 0, (size_t)self->system->nv * sizeof(double));
        if (s->is_mass_metric) pcs_columns_add(self->solver->projection->X, j, 1.0, s->E[j]);
        else pcs_rows_add_transposed(self->system->G, j, 1.0, s->E[j]);
    }
}

// Solves the contact problem for gaps and rates with the gates given.
static bool ggl_solve(pcs_dense_contacts *c, double h)
{
    int rounds;
    c->p.h = h;
    c->p.has_position = true;
    c->p.gate_is_live = false;
    return pcs_dense_contacts_solve(c, &rounds);
}

static pcs_outcome unified_factor(pcs_scheme *self, pcs_ggl *s, double t, double h)
{
    pcs_system *system = self->system;
    bool is_singular = false;
    if (system->tangents_vary) system->ops->update(system, pcs_at(t, s->mid_q, s->mid_v), PCS_TANGENTS, NULL);
    pcs_matrix_combine(s->S, (const double[3]){ 1.0, 0.5 * h, 0.25 * h * h }, system->M, system->C, system->K);
    if (!pcs_matrix_is_finite(s->S)) return PCS_NOT_FINITE;
    if (pcs_linsolve_factor(s->iteration, &is_singular) != PCS_OK || is_singular) return PCS_SINGULAR;
    return PCS_CONVERGED;
}

// Computes the columns Y for the present E and T.
static void unified_fill_columns(pcs_scheme *self, pcs_ggl *s, double h)
{
    const pcs_system *system = self->system;
    int m = system->nrow;
    size_t bytes = (size_t)system->nv * sizeof(double);
    for (int k = 0; k < 2 * m + system->ntangent; k++) {
        memset(s->Y[k], 0, bytes);
        if (k < m) pcs_matrix_add_multiply(system->K, -0.5 * h, s->E[k], s->Y[k]);
        else if (k < 2 * m) pcs_rows_add_transposed(system->G, k - m, 1.0, s->Y[k]);
        else pcs_rows_add_transposed(system->T, k - 2 * m, 1.0, s->Y[k]);
        pcs_linsolve_solve(s->iteration, s->Y[k]);
    }
}

// Moves directions to the middle of the step.
static void unified_aim(pcs_scheme *self, pcs_ggl *s, const pcs_state *x)
{
    const pcs_next *next = &s->base.next;
    for (int i = 0; i < self->system->nv; i++) {
        s->mid_q[i] = 0.5 * (x->q[i] + next->q[i]);
        s->mid_v[i] = 0.5 * (x->v[i] + next->v[i]);
    }
    pcs_projection_aim(self->solver, s->mid_q);
}

// Updates directions, columns and factors at the middle of the step. A linear system keeps them while h is the same.
static pcs_outcome unified_linearise(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h)
{
    unified_aim(self, s, x);
    if (self->system->is_linear && h == s->factored_h) return PCS_CONVERGED;
    ggl_copy_directions(self, s);
    pcs_outcome outcome = unified_factor(self, s, x->t + 0.5 * h, h);
    if (outcome != PCS_CONVERGED) return outcome;
    unified_fill_columns(self, s, h);
    s->factored_h = h;
    bool is_repeated = self->system->is_linear && h == ((const pcs_ggl_memory *)x->memory)->factored_h;
    self->solver->nfactor += is_repeated ? 0 : 1;
    return PCS_CONVERGED;
}

// Computes r and the velocity change without multipliers.
static void unified_free_change(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h)
{
    const pcs_next *next = &s->base.next;
    int n = self->system->nv;
    self->system->ops->force(self->system, pcs_at(x->t + 0.5 * h, s->mid_q, s->mid_v), s->dv);
    double *change = next->d;
    for (int i = 0; i < n; i++) {
        s->r[i] = x->q[i] + 0.5 * h * (x->v[i] + next->v[i]) - next->q[i];
        s->dv[i] *= h;
        change[i] = next->v[i] - x->v[i];
    }
    pcs_matrix_add_multiply(self->system->M, -1.0, change, s->dv);
    pcs_matrix_add_multiply(self->system->K, -0.5 * h, s->r, s->dv);
    pcs_linsolve_solve(s->iteration, s->dv);
}

// Fills row k of the problem: change of the gap (is_gap) or velocity of row j of `rows` by each unit multiplier.
static void unified_fill_row(const pcs_ggl *s, const pcs_rows *rows, int j, int k, bool is_gap, double h)
{
    pcs_dense_contacts *c = s->contacts;
    for (int l = 0; l < c->p.n; l++) {
        double entry = (is_gap ? 0.5 * h : 1.0) * pcs_rows_dot(rows, j, s->Y[l]);
        if (is_gap && l < c->p.m) entry += pcs_rows_dot(rows, j, s->E[l]);
        c->P[k * c->p.n + l] = entry;
    }
}

// Fills the gap rows at the present directions. Leaves out rows with open gates: their distances over h would count as
// velocities in the tolerances of the solver.
static void unified_fill_gaps(pcs_scheme *self, pcs_ggl *s, double h)
{
    pcs_system *system = self->system;
    pcs_dense_contacts *c = s->contacts;
    pcs_next *next = &s->base.next;
    double *increment = next->d; // increment after which the gap is known
    pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int i = 0; i < system->nv; i++) increment[i] = s->r[i] + 0.5 * h * s->dv[i];
    for (int j = 0; j < c->p.m; j++) {
        unified_fill_row(s, system->G, j, j, true, h);
        c->p.b[j] = next->gap[j] + pcs_rows_dot(system->G, j, increment);
        c->p.r[j] = 1.0 / fmax(c->P[j * c->p.n + j], 1e-300);
        c->is_out[j] = !next->gate[j];
    }
}

// Fills a velocity row of the problem, that of row j of `rows`, with its target, m/s.
static void unified_fill_rate(const pcs_ggl *s, const pcs_rows *rows, int j, int k, double target)
{
    pcs_dense_contacts *c = s->contacts;
    unified_fill_row(s, rows, j, k, false, 1.0);
    c->p.b[k] = pcs_rows_dot(rows, j, s->base.next.d) + target;
    c->p.r[k] = 1.0 / c->P[k * c->p.n + k];
}

// Fills the velocity rows at the present directions.
static void unified_fill_rates(const pcs_scheme *self, const pcs_ggl *s)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->base.next;
    int m = s->contacts->p.m;
    for (int i = 0; i < system->nv; i++) next->d[i] = next->v[i] + s->dv[i];
    for (int j = 0; j < m; j++) {
        const pcs_row *row = &system->rows[j];
        next->target[j] = pcs_restitution(row, s->start_rate[j]) * s->start_rate[j];
        unified_fill_rate(s, system->G, j, m + j, next->target[j]);
        for (int t = row->first_tangent; t < row->first_tangent + row->ntangent; t++) {
            next->target_t[t] = row->tangent_restitution * s->start_rate_t[t];
            unified_fill_rate(s, system->T, t, 2 * m + t, next->target_t[t]);
        }
    }
}

// Updates q' and v' by the multipliers. Returns the largest change of v' and of (q' - before)/h, m/s.
static double unified_apply(pcs_scheme *self, pcs_ggl *s, double h)
{
    pcs_next *next = &s->base.next;
    const double *z = s->contacts->p.z;
    int n = self->system->nv, m = self->system->nrow;
    double largest = 0.0;
    for (int k = 0; k < s->contacts->p.n; k++)
        if (z[k] != 0.0)
            for (int i = 0; i < n; i++) s->dv[i] += z[k] * s->Y[k][i];
    for (int i = 0; i < n; i++) s->r[i] += 0.5 * h * s->dv[i];
    for (int j = 0; j < m; j++)
        if (z[j] != 0.0)
            for (int i = 0; i < n; i++) s->r[i] += z[j] * s->E[j][i];
    for (int i = 0; i < n; i++) {
        next->v[i] += s->dv[i];
        next->q[i] += s->r[i];
        largest = fmax(largest, pcs_system_size(self->system, i, fmax(fabs(s->dv[i]), fabs(s->r[i]) / h)));
    }
    return pcs_system_max(self->system, largest);
}

// Checks that the change is finite; if not, puts it into next->v, so that the measure can name the equation.
static bool unified_is_finite(const pcs_system *system, const pcs_ggl *s, pcs_next *next)
{
    bool is_finite = true;
    int n = system->nv;
    for (int i = 0; i < n; i++) is_finite = is_finite && isfinite(s->dv[i]) && isfinite(s->r[i]);
    is_finite = pcs_system_max(system, !is_finite) == 0.0;
    if (!is_finite)
        for (int i = 0; i < n; i++) next->v[i] = s->dv[i] + s->r[i];
    return is_finite;
}

static pcs_outcome unified_iterate(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h, double *change)
{
    pcs_next *next = &s->base.next;
    pcs_dense_contacts *c = s->contacts;
    pcs_outcome outcome = unified_linearise(self, s, x, h);
    if (outcome != PCS_CONVERGED) return outcome;
    unified_free_change(self, s, x, h);
    if (!unified_is_finite(self->system, s, next)) return PCS_NOT_FINITE;
    pcs_projection_rotate(self->solver, next->q);
    unified_fill_gaps(self, s, h);
    unified_fill_rates(self, s);
    memcpy(c->p.gate, next->gate, (size_t)c->p.m);
    if (!ggl_solve(c, h)) return PCS_NOT_CONVERGED;
    *change = unified_apply(self, s, h);
    return unified_is_finite(self->system, s, next) ? PCS_CONVERGED : PCS_NOT_FINITE;
}

// Moves directions to where the velocity law holds; stores the momentum that impulses along those of the middle add.
static void unified_rotation(pcs_scheme *self, pcs_ggl *s)
{
    const pcs_next *next = &s->base.next;
    bool rotates = pcs_rows_rotate(self->system);
    for (int k = 0; k < 3; k++) s->rotated[k] = 0.0;
    if (rotates) pcs_add_row_momentum(self->system, 1.0, next->la, next->la_t, s->rotated);
    pcs_projection_rotate(self->solver, next->q);
    if (rotates) pcs_add_row_momentum(self->system, -1.0, next->la, next->la_t, s->rotated);
}

// Stores the multipliers and moves the projection to where the velocity law holds: X = M^-1 G(qm)^T, directions of q'.
static void unified_finish(pcs_scheme *self, pcs_ggl *s, const pcs_state *x)
{
    pcs_next *next = &s->base.next;
    const double *z = s->contacts->p.z;
    int m = self->system->nrow, n = self->system->nv;
    unified_aim(self, s, x);
    for (int j = 0; j < m; j++) {
        s->psi[j] = z[j];
        next->la[j] = z[m + j];
    }
    for (int t = 0; t < self->system->ntangent; t++) next->la_t[t] = z[2 * m + t];
    unified_rotation(self, s);
    memcpy(next->d, next->v, (size_t)n * sizeof(double));
    pcs_projection_push(self->solver, -1.0, next->la, next->la_t, next->d);
    pcs_rows_multiply(self->system->G, next->d, next->rate_before);
}

// Returns the change of velocities, and of positions over h, m/s, that round-off alone makes: from the state before the
// step and the first linearisation. The round-off of a gap moves all positions along its correction.
static double unified_rounding(const pcs_scheme *self, const pcs_ggl *s, const pcs_state *x, double h)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->base.next;
    const pcs_dense_contacts *c = s->contacts;
    double *off = next->d, largest = 0.0;
    for (int i = 0; i < system->nv; i++) off[i] = h * pcs_rounding_of_velocity(x->q[i], x->v[i], h);
    for (int j = 0; j < system->nrow; j++) {
        if (!next->gate[j]) continue;
        double gap = pcs_gap_rounding(system, j, x->q);
        for (int i = 0; i < system->nv; i++) off[i] += gap * fabs(s->E[j][i] / c->P[j * c->p.n + j]);
    }
    for (int i = 0; i < system->nv; i++) largest = fmax(largest, pcs_system_size(system, i, off[i]));
    return pcs_system_max(system, largest) / h;
}

// Solves the unified step after the forecast, with the projection evaluated where the velocity law holds.
static pcs_outcome ggl_unified(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_next *next = &s->base.next;
    int n = self->system->nv;
    double last = INFINITY, change = INFINITY, size = pcs_system_largest(self->system, x->v), rounding = 0.0;
    for (int i = 0; i < n; i++) {
        next->v[i] = x->v[i];
        next->q[i] = x->q[i] + h * x->v[i];
    }
    for (report->iterations = 0; report->iterations < ITERATIONS;) {
        pcs_outcome outcome = unified_iterate(self, s, x, h, &change);
        report->iterations++;
        if (outcome != PCS_CONVERGED) return outcome;
        size = fmax(size, pcs_system_largest(self->system, next->v));
        if (report->iterations == 1) rounding = unified_rounding(self, s, x, h);
        bool is_done = change <= 1e-14 * size;
        if (change > 0.5 * last) is_done = change <= fmax(1e-10 * size, 16.0 * rounding);
        if (is_done || self->system->is_linear) {
            unified_finish(self, s, x);
            return PCS_CONVERGED;
        }
        last = change;
    }
    return PCS_NOT_CONVERGED;
}

typedef struct ggl_mid_params {
    int coupling, metric, contacts_at;
} ggl_mid_params;

enum { DECOUPLED, UNIFIED };
enum { EUCLIDEAN, MASS };
enum { CONTACTS_END, CONTACTS_MIDDLE };
static const char *const ggl_mid_moments[] = { "end", "middle", NULL };
static const char *const ggl_mid_metrics[] = { "euclidean", "mass", NULL };
static const char *const ggl_mid_couplings[] = { "decoupled", "unified", NULL };

static const pcs_option ggl_mid_options[] = {
    PCS_CHOICE("coupling", ggl_mid_params, coupling, PCS_DEFAULT("unified"), ggl_mid_couplings,
               "positions corrected after the velocities, or both at once (implicit)"),
    PCS_CHOICE("metric", ggl_mid_params, metric, PCS_DEFAULT("euclidean"), ggl_mid_metrics,
               "of the position correction; meshes need mass"),
    PCS_CHOICE("contacts_at", ggl_mid_params, contacts_at, PCS_DEFAULT("end"), ggl_mid_moments,
               "contacts with a velocity law: end, also those that would penetrate by the end of the step; middle, as "
               "published, those closed in its middle, where bodies at rest hop"),
    { 0 },
};

static const char *ggl_mid_refuses(const pcs_system *system, const void *params)
{
    if (system->row_set.ndriven > 0)
        return "its contacts and joints are those of the middle of the step, where nothing holds a prescribed motion "
               "at its end; moreau_midpoint and alpha_ggl follow such motions";
    if (!pcs_system_is_mesh(system) || system->nrow == 0 || ((const ggl_mid_params *)params)->metric == MASS)
        return NULL;
    return "a Euclidean correction would push single nodes of a mesh and strain it: say 'metric: mass'";
}

// Returns INFINITY for the unified step, an implicit midpoint rule.
static double ggl_mid_stable_step(const void *params, double w, double xi, double spin)
{
    bool is_unified = ((const ggl_mid_params *)params)->coupling == UNIFIED;
    return is_unified ? INFINITY : pcs_stable_lagging(params, w, xi, spin);
}

static pcs_status ggl_mid_setup(pcs_scheme *self)
{
    pcs_ggl *s = self->data;
    const ggl_mid_params *p = self->params;
    int m = self->system->nrow;
    if (p->coupling == UNIFIED) {
        self->rule.kind = PCS_RULE_MEAN;
        self->rule.rate = PCS_RATE_START;
    }
    self->rule.gate_looks_ahead = p->contacts_at == CONTACTS_END;
    PCS_TRY(pcs_explicit_setup(self));
    PCS_TRY(pcs_projection_need_columns(self->solver));
    PCS_TRY(pcs_dense_contacts_create(self->ctx, self->system, false, &s->contacts));
    PCS_TAKE(self->ctx, s->E, m, "the position correction");
    for (int j = 0; j < m; j++) PCS_TAKE(self->ctx, s->E[j], self->system->nv, "the position correction");
    PCS_TAKE_EACH(self->ctx, m, "the position correction", double, &s->psi, &s->start_rate);
    PCS_TAKE(self->ctx, s->start_rate_t, self->system->ntangent, "the position correction");
    PCS_TAKE(self->ctx, s->uncorrected, self->system->nv, "the position correction");
    s->is_mass_metric = p->metric == MASS;
    return p->coupling == UNIFIED ? ggl_take_unified(self, s) : PCS_OK;
}

// Solves the gap problem linearised about the present q', with velocity rows that are inactive.
static bool ggl_mid_correct(pcs_scheme *self, pcs_ggl *s)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->base.next;
    pcs_dense_contacts *c = s->contacts;
    memset(c->P, 0, (size_t)c->p.n * (size_t)c->p.n * sizeof(double));
    memset(c->p.gate, 0, (size_t)c->p.m);
    for (int k = c->p.m; k < c->p.n; k++) {
        c->P[k * c->p.n + k] = c->p.r[k] = 1.0;
        c->p.b[k] = 0.0;
    }
    for (int i = 0; i < system->nv; i++) next->d[i] = s->uncorrected[i] - next->q[i];
    for (int j = 0; j < c->p.m; j++) {
        for (int i = 0; i < c->p.m; i++) c->P[j * c->p.n + i] = pcs_rows_dot(system->G, j, s->E[i]);
        c->p.b[j] = next->gap[j] + pcs_rows_dot(system->G, j, next->d);
        c->p.r[j] = 1.0 / fmax(c->P[j * c->p.n + j], 1e-300);
    }
    return ggl_solve(c, 1.0);
}

// Solves g(q + E Psi) by Newton's method; directions are evaluated at the middle again afterwards.
static pcs_outcome ggl_mid_project(pcs_scheme *self, pcs_ggl *s)
{
    pcs_system *system = self->system;
    pcs_next *next = &s->base.next;
    int n = system->nv, m = system->nrow;
    double change = INFINITY, last, tie = 0.0;
    for (int j = 0; j < m; j++) tie = fmax(tie, pcs_gap_tie(system, j, next->q));
    ggl_copy_directions(self, s);
    memcpy(s->uncorrected, next->q, (size_t)n * sizeof(double));
    memset(s->psi, 0, (size_t)m * sizeof(double));
    for (int round = 0;; round++) {
        pcs_projection_rotate(self->solver, next->q);
        pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
        if (round == 50 || !ggl_mid_correct(self, s)) return PCS_NOT_CONVERGED;
        last = change;
        change = 0.0;
        for (int j = 0; j < m; j++) {
            double step = s->contacts->p.z[j] - s->psi[j];
            s->psi[j] = s->contacts->p.z[j];
            if (step != 0.0)
                for (int i = 0; i < n; i++) next->q[i] += step * s->E[j][i];
            change = fmax(change, fabs(step * s->contacts->P[j * s->contacts->p.n + j]));
        }
        if (!isfinite(change)) return PCS_NOT_CONVERGED;
        if (change <= 1e-15 * system->length || (change <= tie && change > 0.5 * last)) break;
    }
    pcs_projection_rotate(self->solver, s->base.middle);
    return PCS_CONVERGED;
}

// Books the energy that the position correction has added, J, at the velocity of the end.
static void ggl_mid_book_correction(pcs_scheme *self, pcs_ggl *s, pcs_step_report *report)
{
    const pcs_next *next = &s->base.next;
    pcs_measure before;
    bool is_corrected = false;
    memcpy(s->uncorrected, next->q, (size_t)self->system->nv * sizeof(double));
    for (int j = 0; j < self->system->nrow; j++) {
        if (s->psi[j] != 0.0)
            for (int i = 0; i < self->system->nv; i++) s->uncorrected[i] -= s->psi[j] * s->E[j][i];
        is_corrected = is_corrected || s->psi[j] != 0.0;
    }
    if (!is_corrected) return;
    self->system->ops->measure(self->system, pcs_at(self->solver->t, s->uncorrected, next->v), PCS_ENERGY, &before);
    report->correction_work = pcs_measure_energy(&report->measure) - pcs_measure_energy(&before);
}

// Closes the gates of contacts that have closed or penetrated without their law. Returns true if there are any.
static bool ggl_mid_close_sunk(pcs_scheme *self, pcs_ggl *s)
{
    pcs_system *system = self->system;
    pcs_next *next = &s->base.next;
    bool has_sunk = false;
    pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        if (next->gate[j] || next->gap[j] > pcs_gap_tie(system, j, next->q)) continue;
        next->gate[j] = 1;
        has_sunk = true;
    }
    return has_sunk;
}

static pcs_outcome ggl_mid_solve(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_ggl *s = self->data;
    pcs_system *system = self->system;
    const ggl_mid_params *p = self->params;
    bool is_unified = p->coupling == UNIFIED;
    if (is_unified) {
        pcs_projection_rotate(self->solver, x->q);
        pcs_rows_multiply(system->G, x->v, s->start_rate);
        if (system->ntangent > 0) pcs_rows_multiply(system->T, x->v, s->start_rate_t);
    }
    if (!pcs_explicit_forecast(self, x, h)) return PCS_SINGULAR;
    pcs_instant middle = pcs_at(x->t + 0.5 * h, s->base.middle, x->v);
    pcs_outcome outcome;
    do // positions of the decoupled scheme are not corrected yet
        outcome = is_unified ? ggl_unified(self, s, x, h, report) : pcs_explicit_go_once(self, x, middle, h, report);
    while (outcome == PCS_CONVERGED && p->contacts_at == CONTACTS_END && ggl_mid_close_sunk(self, s));
    if (outcome != PCS_CONVERGED || is_unified) return outcome;
    for (int i = 0; i < system->nv; i++)
        if (!isfinite(s->base.next.q[i])) return PCS_NOT_FINITE;
    return ggl_mid_project(self, s);
}

static pcs_status ggl_mid_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_ggl *s = self->data;
    pcs_next *next = &s->base.next;
    pcs_begin_step(self, x, h, report);
    report->outcome = ggl_mid_solve(self, x, h, report);
    if (report->outcome == PCS_NOT_FINITE) (void)pcs_next_measure(self, x, next, report); // reports the equation
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, next, report)) return PCS_OK;
    bool is_unified = ((const ggl_mid_params *)self->params)->coupling == UNIFIED;
    const double *q = is_unified ? s->mid_q : s->base.middle, *v = is_unified ? s->mid_v : x->v;
    pcs_explicit_report_once(self, x, pcs_at(x->t + 0.5 * h, q, v), h, report);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] += s->rotated[k];
    ggl_mid_book_correction(self, s, report);
    pcs_next_accept(self, next, x, report);
    ((pcs_ggl_memory *)x->memory)->factored_h = s->factored_h;
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_ggl_midpoint = {
    .name = "ggl_midpoint",
    .summary = "midpoint rule with gap and gap velocity enforced one after the other or at once; no drift",
    .options = ggl_mid_options,
    .params_size = sizeof(ggl_mid_params),
    .data_size = sizeof(pcs_ggl),
    .rule = { .kind = PCS_RULE_MIDPOINT,
              .move = NAN,
              .rate = PCS_RATE_MIDDLE,
              .gate = PCS_GATE_MIDDLE,
              .rows_at = PCS_ROWS_WITHIN },
    .memory_size = sizeof(pcs_ggl_memory),
    .refuses = ggl_mid_refuses,
    .stable_step = ggl_mid_stable_step,
    .setup = ggl_mid_setup,
    .start = pcs_explicit_start_plainly,
    .step = ggl_mid_step,
};
