// Step solver `sequential`: Algorithm 1 of Bruls, Acary and Cardona (2014), block Gauss-Seidel.
//
//   repeat   (1) S* dd = h f(q, v) - c M d,   d += dd          q = qt0 + kb d + U + kw W,  v = vt0 + d + W
//            (2) U = X nu,  0 <= g(q) _|_ nu >= 0
//            (3) W = X La,  0 <= G v + target _|_ La >= 0 on gated rows
//
// It contracts by 1 - c (G S*^-1 G^T) / (G M^-1 G^T) per round for one contact, slowly for flexible bodies: kept
// because the paper has it and because it reaches the same solution by another way.

#include "core/rounding.h"
#include "step/columns.h"
#include "step/frictionless.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 400 };

typedef struct sequential {
    pcs_matrix *S;
    pcs_linsolve *iteration;
    pcs_frictionless *contacts;
    double *q0, *v0; // [nv] prediction
    double *r;       // [nv] residual, then the correction of d
} sequential;

static pcs_status sequential_setup(pcs_step_solver *self)
{
    sequential *s = self->data;
    int n = self->system->nv;
    PCS_TRY(pcs_frictionless_create(self->ctx, self->system->nrow, &s->contacts));
    PCS_TAKE(self->ctx, s->q0, n, "the sequential solver");
    PCS_TAKE(self->ctx, s->v0, n, "the sequential solver");
    PCS_TAKE(self->ctx, s->r, n, "the sequential solver");
    s->contacts->r = self->effective_mass;
    return PCS_OK;
}

// With d held, the rows see M alone: gap = g(qt) + GX nu + kw GX La, xi = G vt + target + GX La.
static pcs_status sequential_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    sequential *s = self->data;
    pcs_frictionless *contacts = s->contacts;
    if (self->form.has_dynamics) PCS_TRY(pcs_step_factor_iteration(self, &s->S, &s->iteration, outcome));
    for (int k = 0; k < contacts->m * contacts->m; k++) {
        contacts->P11[k] = contacts->P22[k] = self->projection->GX[k];
        contacts->P12[k] = self->form.kw * self->projection->GX[k];
    }
    contacts->h = self->form.h;
    contacts->has_position = self->form.has_position;
    contacts->gate_is_live = self->form.gate_is_live;
    pcs_frictionless_prepare(contacts);
    return PCS_OK;
}

// q and v of the present d, nu and La.
static void sequential_move(pcs_step_solver *self, pcs_step_problem *p)
{
    const sequential *s = self->data;
    const pcs_step_form *form = &self->form;
    for (int i = 0; i < self->system->nv; i++) {
        p->q[i] = s->q0[i] + form->kb * p->d[i];
        p->v[i] = s->v0[i] + p->d[i];
    }
    for (int j = 0; j < self->system->nrow; j++) {
        pcs_columns_add(self->projection->X, j, p->nu[j] + form->kw * p->la[j], p->q);
        pcs_columns_add(self->projection->X, j, p->la[j], p->v);
    }
}

// (1): gives the largest correction, NAN when one is not finite.
static double sequential_dynamics(pcs_step_solver *self, pcs_step_problem *p)
{
    sequential *s = self->data;
    const pcs_system *system = self->system;
    double largest = 0.0;
    system->ops->force(system, p->t, p->q, p->v, s->r);
    for (int i = 0; i < system->nv; i++) s->r[i] *= self->form.h;
    pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->r);
    pcs_linsolve_solve(s->iteration, s->r);
    for (int i = 0; i < system->nv; i++) {
        p->d[i] += s->r[i];
        largest = pcs_larger(largest, fabs(s->r[i]));
    }
    return pcs_system_max(system, largest);
}

// (2) and (3); false when the sets do not settle.
static bool sequential_contacts(pcs_step_solver *self, pcs_step_problem *p)
{
    sequential *s = self->data;
    pcs_frictionless *contacts = s->contacts;
    pcs_system *system = self->system;
    int unused;
    contacts->gate_tolerance = p->gate_tolerance;
    if (pcs_form_sees_gaps(&self->form)) system->ops->gaps(system, s->q0, contacts->gap0);
    else memset(contacts->gap0, 0, (size_t)contacts->m * sizeof *contacts->gap0);
    for (int j = 0; j < contacts->m; j++) {
        double rate = pcs_rows_dot(system->G, j, p->d);
        contacts->gap0[j] += self->form.kb * rate;
        p->rate_before[j] = pcs_rows_dot(system->G, j, s->v0) + rate;
        contacts->xi0[j] = p->rate_before[j] + p->target[j];
    }
    return pcs_frictionless_active_set(contacts, &unused);
}

// Rounds until the correction no longer shrinks; round-off keeps it from vanishing.
static pcs_outcome sequential_rounds(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    double last = INFINITY, scale = pcs_system_largest(self->system, p->v);
    for (*iterations = 1; *iterations <= ROUNDS; ++*iterations) {
        double correction = self->form.has_dynamics ? sequential_dynamics(self, p) : 0.0;
        if (!isfinite(correction)) return PCS_NOT_FINITE;
        if (!sequential_contacts(self, p)) return PCS_NOT_CONVERGED;
        sequential_move(self, p);
        scale = fmax(scale, correction);
        if (*iterations == 1 && self->form.has_dynamics) continue; // the motion has not yet seen the contacts
        if (correction <= 1e-16 * scale) return PCS_CONVERGED;
        if (correction <= 1e-11 * scale && correction > 0.95 * last) return PCS_CONVERGED;
        last = correction;
    }
    return PCS_NOT_CONVERGED;
}

static void sequential_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    sequential *s = self->data;
    size_t bytes = (size_t)self->system->nv * sizeof(double), rows = (size_t)self->system->nrow * sizeof(double);
    *result = (pcs_step_result){ 0 };
    memcpy(s->q0, p->q, bytes);
    memcpy(s->v0, p->v, bytes);
    memset(p->d, 0, bytes);
    memset(p->nu, 0, rows);
    memset(p->la, 0, rows);
    s->contacts->nu = p->nu;
    s->contacts->la = p->la;
    s->contacts->gate = p->gate;
    result->outcome = sequential_rounds(self, p, &result->iterations);
    if (p->smooth_gap != NULL) memcpy(p->smooth_gap, s->contacts->gate_gap, rows);
}

const pcs_step_solver_ops pcs_step_sequential = {
    .name = "sequential",
    .summary = "Algorithm 1 of Bruls, Acary, Cardona (2014), dynamics, positions and velocities in turn: a check, too",
    .data_size = sizeof(sequential),
    .setup = sequential_setup,
    .prepare = sequential_prepare,
    .solve = sequential_solve,
};
