// Newton's method on the unified step, each linearisation a contact problem in (Psi, La, Lt). About q', v' with the
// middle qm, vm = (q_n + q')/2, (v_n + v')/2, mass at the prediction, G = G(qm), E = G^T or M^-1 G^T:
//
//   S dv = -M (v' - v_n) + h f(qm, vm) - (h/2) K r + G^T La - (h/2) K E Psi,   S = M + (h/2) C + (h^2/4) K
//   dq   = r + (h/2) dv + E Psi,   r = q_n + (h/2) (v_n + v') - q'
//
// Derivatives of G are left out; they cost an iteration or two, never the solution.

#include "schemes/ggl_unified.h"

#include "step/projection.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 60 };

pcs_status pcs_ggl_take_unified(pcs_scheme *self, pcs_ggl *s)
{
    const pcs_system *system = self->system;
    int count = 2 * system->nrow + system->ntangent;
    double **vectors[] = { &s->mid_q, &s->mid_v, &s->r, &s->dv };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(self->ctx, *vectors[i], system->nv, "the unified step");
    PCS_TAKE(self->ctx, s->Y, count, "the unified step");
    for (int k = 0; k < count; k++) PCS_TAKE(self->ctx, s->Y[k], system->nv, "the unified step");
    PCS_TRY(pcs_matrix_create(self->ctx, system->M->pattern, &s->S));
    bool is_spd = system->is_linear && !pcs_system_is_gyroscopic(system);
    return pcs_linsolve_create(self->ctx, self->solver->linear, s->S, is_spd ? PCS_SPD : PCS_GENERAL, &s->iteration);
}

void pcs_ggl_copy_directions(const pcs_scheme *self, pcs_ggl *s)
{
    for (int j = 0; j < self->system->nrow; j++) {
        memset(s->E[j], 0, (size_t)self->system->nv * sizeof(double));
        if (s->is_mass_metric) pcs_projection_add(self->solver, j, 1.0, s->E[j]);
        else pcs_rows_add_transposed(self->system->G, j, 1.0, s->E[j]);
    }
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

// Y for the present E and T.
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

// Directions, columns and factors for the middle of the present q', v'; those of a linear system last while h does.
static pcs_outcome unified_linearise(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h)
{
    const pcs_next *next = &s->base.base.next;
    for (int i = 0; i < self->system->nv; i++) {
        s->mid_q[i] = 0.5 * (x->q[i] + next->q[i]);
        s->mid_v[i] = 0.5 * (x->v[i] + next->v[i]);
    }
    pcs_projection_aim(self->solver, s->mid_q);
    if (self->system->is_linear && h == s->factored_h) return PCS_CONVERGED;
    pcs_ggl_copy_directions(self, s);
    pcs_outcome outcome = unified_factor(self, s, x->t + 0.5 * h, h);
    if (outcome != PCS_CONVERGED) return outcome;
    unified_fill_columns(self, s, h);
    s->factored_h = h;
    bool is_repeated = self->system->is_linear && h == ((const pcs_ggl_memory *)x->memory)->factored_h;
    self->solver->nfactor += is_repeated ? 0 : 1;
    return PCS_CONVERGED;
}

// r and the velocity change without multipliers.
static void unified_free_change(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h)
{
    const pcs_next *next = &s->base.base.next;
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

// Row k of the problem: what a unit of every multiplier does to the gap (is_gap) or velocity along `rows`, row j.
static void unified_fill_row(const pcs_ggl *s, const pcs_rows *rows, int j, int k, bool is_gap, double h)
{
    pcs_dense_contacts *c = s->contacts;
    for (int l = 0; l < c->p.n; l++) {
        double entry = (is_gap ? 0.5 * h : 1.0) * pcs_rows_dot(rows, j, s->Y[l]);
        if (is_gap && l < c->p.m) entry += pcs_rows_dot(rows, j, s->E[l]);
        c->P[k * c->p.n + l] = entry;
    }
}

// Gap rows at the present directions; rows without a gate are out of it.
static void unified_fill_gaps(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h)
{
    pcs_system *system = self->system;
    pcs_dense_contacts *c = s->contacts;
    pcs_next *next = &s->base.base.next;
    double *way = next->d; // from where the gap is known
    if (s->gap == PCS_GGL_PAPER) memcpy(next->gap, s->start_gap, (size_t)c->p.m * sizeof(double));
    else pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int i = 0; i < system->nv; i++) {
        way[i] = s->r[i] + 0.5 * h * s->dv[i];
        if (s->gap == PCS_GGL_PAPER) way[i] += next->q[i] - x->q[i];
    }
    for (int j = 0; j < c->p.m; j++) {
        unified_fill_row(s, system->G, j, j, true, h);
        c->p.b[j] = next->gap[j] + pcs_rows_dot(system->G, j, way);
        c->p.r[j] = 1.0 / fmax(c->P[j * c->p.n + j], 1e-300);
        if (next->gate[j]) continue;
        for (int l = 0; l < c->p.n; l++) c->P[j * c->p.n + l] = 0.0;
        c->p.b[j] = system->length + fabs(next->gap[j]);
        c->p.r[j] = 1.0;
    }
}

// Velocity rows at the present directions, with their targets.
static void unified_fill_rates(pcs_scheme *self, pcs_ggl *s, const pcs_state *x)
{
    const pcs_system *system = self->system;
    pcs_dense_contacts *c = s->contacts;
    pcs_next *next = &s->base.base.next;
    double *v = next->d;
    for (int i = 0; i < system->nv; i++) v[i] = next->v[i] + s->dv[i];
    if (s->gap != PCS_GGL_EXACT) pcs_next_targets(self, next, x->v);
    for (int j = 0; j < c->p.m; j++) {
        int k = c->p.m + j;
        double e = system->rows[j].is_bilateral ? 0.0 : system->rows[j].restitution;
        if (s->gap == PCS_GGL_EXACT) next->target[j] = e * s->start_rate[j];
        if (s->gap == PCS_GGL_PAPER) next->target[j] = (1.0 + e) * s->start_rate[j] - pcs_system_rate(system, j, x->v);
        unified_fill_row(s, system->G, j, k, false, 1.0);
        c->p.b[k] = pcs_rows_dot(system->G, j, v) + next->target[j];
        c->p.r[k] = 1.0 / c->P[k * c->p.n + k];
        for (int t = system->rows[j].first_tangent; t < system->rows[j].first_tangent + system->rows[j].ntangent; t++) {
            int kt = 2 * c->p.m + t;
            if (s->gap == PCS_GGL_EXACT) next->target_t[t] = system->rows[j].tangent_restitution * s->start_rate_t[t];
            unified_fill_row(s, system->T, t, kt, false, 1.0);
            c->p.b[kt] = pcs_rows_dot(system->T, t, v) + next->target_t[t];
            c->p.r[kt] = 1.0 / c->P[kt * c->p.n + kt];
        }
    }
}

// q' and v' with the multipliers; gives the largest change of v' and of (q' - before)/h.
static double unified_apply(pcs_scheme *self, pcs_ggl *s, double h)
{
    pcs_next *next = &s->base.base.next;
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
    pcs_next *next = &s->base.base.next;
    pcs_dense_contacts *c = s->contacts;
    pcs_outcome outcome = unified_linearise(self, s, x, h);
    if (outcome != PCS_CONVERGED) return outcome;
    unified_free_change(self, s, x, h);
    if (!unified_is_finite(self->system, s, next)) return PCS_NOT_FINITE;
    if (s->gap == PCS_GGL_PAPER) unified_fill_gaps(self, s, x, h);
    if (s->gap != PCS_GGL_EXACT) unified_fill_rates(self, s, x);
    if (s->gap != PCS_GGL_PAPER) {
        pcs_projection_turn(self->solver, next->q);
        unified_fill_gaps(self, s, x, h);
    }
    if (s->gap == PCS_GGL_EXACT) unified_fill_rates(self, s, x);
    memcpy(c->p.gate, next->gate, (size_t)c->p.m);
    c->p.h = h;
    c->p.has_position = true;
    c->p.gate_is_live = false;
    int rounds;
    if (!pcs_dense_contacts_solve(c, &rounds)) return PCS_NOT_CONVERGED;
    *change = unified_apply(self, s, h);
    return unified_is_finite(self->system, s, next) ? PCS_CONVERGED : PCS_NOT_FINITE;
}

// To the directions where the velocity law holds; what impulses along those of the middle gave beyond that is kept.
static void unified_turn(pcs_scheme *self, pcs_ggl *s)
{
    const pcs_next *next = &s->base.base.next;
    bool turns = pcs_rows_turn(self->system);
    for (int k = 0; k < 3; k++) s->turned[k] = 0.0;
    if (s->gap != PCS_GGL_EXACT) return;
    if (turns) pcs_add_row_momentum(self->system, 1.0, next->la, next->la_t, s->turned);
    pcs_projection_turn(self->solver, next->q);
    if (turns) pcs_add_row_momentum(self->system, -1.0, next->la, next->la_t, s->turned);
}

// Takes the multipliers over and puts the projection where the velocity law holds: X = M^-1 G(qm)^T with the directions
// of q' (exact) or of the middle.
static void unified_finish(pcs_scheme *self, pcs_ggl *s, const pcs_state *x)
{
    pcs_next *next = &s->base.base.next;
    const double *z = s->contacts->p.z;
    int m = self->system->nrow, n = self->system->nv;
    for (int i = 0; i < n; i++) {
        s->mid_q[i] = 0.5 * (x->q[i] + next->q[i]);
        s->mid_v[i] = 0.5 * (x->v[i] + next->v[i]);
    }
    pcs_projection_aim(self->solver, s->mid_q);
    for (int j = 0; j < m; j++) {
        s->psi[j] = z[j];
        next->la[j] = z[m + j];
    }
    for (int t = 0; t < self->system->ntangent; t++) next->la_t[t] = z[2 * m + t];
    unified_turn(self, s);
    memcpy(next->d, next->v, (size_t)n * sizeof(double));
    pcs_projection_push(self->solver, -1.0, next->la, next->la_t, next->d);
    pcs_rows_multiply(self->system->G, next->d, next->rate_before);
}

// Change of velocities, and of positions over h, that rounding alone makes: by the state before the step and the first
// linearisation. A gap that is off by what its positions are rounded to moves all of them along its correction.
static double unified_rounding(const pcs_scheme *self, const pcs_ggl *s, const pcs_state *x, double h)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->base.base.next;
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

pcs_outcome pcs_ggl_unified(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_next *next = &s->base.base.next;
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
