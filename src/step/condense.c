#include "step/condense.h"

#include "core/loop.h"

#include <math.h>
#include <string.h>

pcs_status pcs_condense_setup(pcs_step_solver *self, pcs_condense *c)
{
    int n = self->system->nv, m = self->system->nrow;
    PCS_TRY(pcs_columns_create(self->ctx, n, m, &c->YK));
    PCS_TRY(pcs_columns_create(self->ctx, n, m, &c->YW));
    PCS_TRY(pcs_frictionless_create(self->ctx, m, &c->contacts));
    c->contacts->r = self->effective_mass;
    return PCS_OK;
}

// YK_j and YW_j for the present form.
static void condense_fill_columns(pcs_step_solver *self, pcs_condense *c)
{
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    c->has_YK = form->has_dynamics && form->has_position;
    c->has_YW = form->has_dynamics && (system->C != NULL || form->kw != 0.0);
    for (int j = 0; j < system->nrow; j++) {
        double *yk = c->YK->value[j], *yw = c->YW->value[j];
        memset(yk, 0, (size_t)system->nv * sizeof *yk);
        memset(yw, 0, (size_t)system->nv * sizeof *yw);
        if (c->has_YK) {
            pcs_columns_add(self->projection->KX, j, form->h, yk);
            pcs_linsolve_solve(c->iteration, yk);
        }
        if (c->has_YW) {
            if (form->kw != 0.0) pcs_columns_add(self->projection->KX, j, form->h * form->kw, yw);
            if (system->C != NULL) pcs_matrix_add_multiply(system->C, form->h, self->projection->X->value[j], yw);
            pcs_linsolve_solve(c->iteration, yw);
        }
        pcs_columns_trim(c->YK, j);
        pcs_columns_trim(c->YW, j);
    }
}

static void condense_fill_contacts(pcs_step_solver *self, pcs_condense *c)
{
    const pcs_rows *G = self->system->G;
    const pcs_step_form *form = &self->form;
    pcs_frictionless *s = c->contacts;
    int m = s->m;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            int k = i * m + j;
            double GX = self->projection->GX[k];
            double GYK = pcs_rows_dot(G, i, c->YK->value[j]), GYW = pcs_rows_dot(G, i, c->YW->value[j]);
            s->Q1[k] = -form->kb * GYK;
            s->Q2[k] = -form->kb * GYW;
            s->P11[k] = GX + s->Q1[k];
            s->P12[k] = form->kw * GX + s->Q2[k];
            s->P21[k] = -GYK;
            s->P22[k] = GX - GYW;
        }
    s->h = form->h;
    s->has_position = form->has_position;
    s->gate_is_live = form->gate_is_live;
}

pcs_status pcs_condense_prepare(pcs_step_solver *self, pcs_condense *c, pcs_outcome *outcome)
{
    if (self->form.has_dynamics) {
        PCS_TRY(pcs_step_factor_iteration(self, &c->S, &c->iteration, outcome));
        if (*outcome != PCS_CONVERGED) return PCS_OK;
    }
    condense_fill_columns(self, c);
    condense_fill_contacts(self, c);
    return PCS_OK;
}

// d = y0, and what the rows see of the step without multipliers. The gap is that of qt0 + kb y0.
static void condense_free_motion(pcs_step_solver *self, pcs_condense *c, pcs_step_problem *p)
{
    pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    pcs_frictionless *s = c->contacts;
    int n = system->nv;
    if (pcs_form_sees_gaps(form)) system->ops->gaps(system, p->q, s->gap0);
    else memset(s->gap0, 0, (size_t)s->m * sizeof *s->gap0);
    for (int j = 0; j < s->m; j++) s->xi0[j] = pcs_rows_dot(system->G, j, p->v) + p->target[j];
    if (!form->has_dynamics) return;
    system->ops->force(system, p->t, p->q, p->v, p->d);
    // The factor h goes into the solution: S* y = h f.
    pcs_linsolve_solve(c->iteration, p->d);
    double h = form->h, kb = form->kb;
    double *d = p->d, *q = p->q, *v = p->v;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) {
        d[i] *= h;
        v[i] += d[i];
        q[i] += kb * d[i];
    }
    for (int j = 0; j < s->m; j++) {
        double rate = pcs_rows_dot(system->G, j, d);
        s->gap0[j] += kb * rate;
        s->xi0[j] += rate;
    }
}

// Adds what the multipliers of row j do to the motion.
static void condense_apply(pcs_step_solver *self, const pcs_condense *c, pcs_step_problem *p, int j)
{
    const pcs_step_form *form = &self->form;
    const pcs_columns *X = self->projection->X;
    double nu = p->nu[j], la = p->la[j];
    if (c->has_YK && nu != 0.0) {
        pcs_columns_add(c->YK, j, -nu, p->d);
        pcs_columns_add(c->YK, j, -nu, p->v);
        pcs_columns_add(c->YK, j, -nu * form->kb, p->q);
    }
    if (c->has_YW && la != 0.0) {
        pcs_columns_add(c->YW, j, -la, p->d);
        pcs_columns_add(c->YW, j, -la, p->v);
        pcs_columns_add(c->YW, j, -la * form->kb, p->q);
    }
    if (nu != 0.0 || form->kw * la != 0.0) pcs_columns_add(X, j, nu + form->kw * la, p->q);
    if (la != 0.0) pcs_columns_add(X, j, la, p->v);
}

void pcs_condense_solve(pcs_step_solver *self, pcs_condense *c, pcs_step_problem *p, pcs_frictionless_way *solve,
                        pcs_step_result *result)
{
    pcs_frictionless *s = c->contacts;
    int m = s->m;
    *result = (pcs_step_result){ .outcome = PCS_CONVERGED, .iterations = 1 };
    condense_free_motion(self, c, p);
    s->nu = p->nu;
    s->la = p->la;
    s->gate = p->gate;
    s->gate_tolerance = p->gate_tolerance;
    for (int j = 0; j < m; j++)
        if (!isfinite(s->gap0[j]) || !isfinite(s->xi0[j])) result->outcome = PCS_NOT_FINITE;
    if (result->outcome == PCS_CONVERGED && !solve(s, &result->iterations)) result->outcome = PCS_NOT_CONVERGED;
    if (result->outcome != PCS_CONVERGED) return;
    if (p->smooth_gap != NULL) memcpy(p->smooth_gap, s->gate_gap, (size_t)m * sizeof *s->gate_gap);
    for (int j = 0; j < m; j++) {
        condense_apply(self, c, p, j);
        p->rate_before[j] = s->xi[j] - p->target[j];
        for (int i = 0; i < m; i++) p->rate_before[j] -= self->projection->GX[j * m + i] * p->la[i];
    }
}
