#include "step/condense.h"

#include "core/loop.h"
#include "core/pool.h"

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

// G_j d for d = h y.
static double condense_rate(const pcs_rows *G, int j, double h, const double *y)
{
    double rate = 0.0;
    for (int k = G->start[j]; k < G->start[j + 1]; k++) rate += G->value[k] * (h * y[G->column[k]]);
    return rate;
}

// y = y0/h into p->d, and what the rows see of the step without multipliers. The gap is that of qt0 + kb y0.
static void condense_free_motion(pcs_step_solver *self, pcs_condense *c, pcs_step_problem *p)
{
    pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    pcs_frictionless *s = c->contacts;
    if (pcs_form_sees_gaps(form)) system->ops->gaps(system, p->q, s->gap0);
    else memset(s->gap0, 0, (size_t)s->m * sizeof *s->gap0);
    for (int j = 0; j < s->m; j++) s->xi0[j] = pcs_rows_dot(system->G, j, p->v) + p->target[j];
    if (!form->has_dynamics) return;
    system->ops->force(system, p->t, p->q, p->v, p->d);
    pcs_linsolve_solve(c->iteration, p->d);
    for (int j = 0; j < s->m; j++) {
        double rate = condense_rate(system->G, j, form->h, p->d);
        s->gap0[j] += form->kb * rate;
        s->xi0[j] += rate;
    }
}

// What one pass adds to the motion on low <= i < high: the free motion d = h y, a multiple of a column Y through d, and
// multiples of a column X in q and v alone.
typedef struct condense_part {
    int low, high;
    double h, kb;
    const double *Y, *X; // [n]
    double smooth;       // of Y
    double shift, jump;  // of X, in q and in v
} condense_part;

static inline __attribute__((always_inline)) void condense_pass(const condense_part *a, bool is_free, bool has_columns,
                                                                const pcs_step_problem *p)
{
    const double *Y = a->Y, *X = a->X;
    double h = a->h, kb = a->kb, smooth = a->smooth, moved = a->smooth * a->kb, shift = a->shift, jump = a->jump;
    double *d = p->d, *q = p->q, *v = p->v;
    PCS_INDEPENDENT
    for (int i = a->low; i < a->high; i++) {
        double increment = d[i], position = q[i], velocity = v[i];
        if (is_free) {
            increment *= h;
            velocity += increment;
            position += kb * increment;
        }
        if (has_columns) {
            increment += smooth * Y[i];
            velocity += smooth * Y[i];
            position += moved * Y[i];
            position += shift * X[i];
            velocity += jump * X[i];
        }
        d[i] = increment;
        q[i] = position;
        v[i] = velocity;
    }
}

typedef struct condense_job {
    condense_part a;
    const pcs_step_problem *p;
} condense_job;

static int condense_clip(int i, int low, int high)
{
    if (i < low) return low;
    return i < high ? i : high;
}

// The free motion, and the part within its window.
PCS_WIDE static void condense_add_range(void *data, int range, int low, int high)
{
    const condense_job *job = data;
    condense_part before = job->a, within = job->a, after = job->a;
    (void)range;
    before.low = low;
    before.high = within.low = condense_clip(job->a.low, low, high);
    within.high = after.low = condense_clip(job->a.high, low, high);
    after.high = high;
    condense_pass(&before, true, false, job->p);
    condense_pass(&within, true, true, job->p);
    condense_pass(&after, true, false, job->p);
}

PCS_WIDE static void condense_add_window(const condense_part *a, const pcs_step_problem *p)
{
    condense_pass(a, false, true, p);
}

// The free motion alone, or with a part.
static void condense_add_free(const pcs_step_solver *self, condense_part a, const pcs_step_problem *p)
{
    condense_job job = { .a = a, .p = p };
    job.a.h = self->form.h;
    job.a.kb = self->form.kb;
    pcs_pool_cover(pcs_context_pool(self->ctx), self->system->nv, condense_add_range, &job);
}

// Column j of Y times `smooth`, with what `a` says of X; and the free motion, which is everywhere, where that is still
// to come. Columns are zero outside of their windows.
static void condense_add_columns(const pcs_step_solver *self, const pcs_columns *Y, int j, condense_part a,
                                 const pcs_step_problem *p, bool *is_free)
{
    const pcs_columns *X = self->projection->X;
    a.low = Y->low[j] < X->low[j] ? Y->low[j] : X->low[j];
    a.high = Y->high[j] > X->high[j] ? Y->high[j] : X->high[j];
    a.kb = self->form.kb;
    a.Y = Y->value[j];
    a.X = X->value[j];
    if (*is_free) condense_add_free(self, a, p);
    else condense_add_window(&a, p);
    *is_free = false;
}

// Adds the free motion and what the multipliers do to it.
static void condense_move(pcs_step_solver *self, const pcs_condense *c, pcs_step_problem *p)
{
    const pcs_step_form *form = &self->form;
    const pcs_columns *X = self->projection->X;
    bool is_free = form->has_dynamics; // still to come
    for (int j = 0; j < c->contacts->m; j++) {
        double nu = p->nu[j], la = p->la[j], shift = nu + form->kw * la;
        bool has_K = c->has_YK && nu != 0.0, has_W = c->has_YW && la != 0.0;
        condense_part last = { .smooth = has_W ? -la : -nu, .shift = shift, .jump = la };
        if (has_K && has_W) condense_add_columns(self, c->YK, j, (condense_part){ .smooth = -nu }, p, &is_free);
        if (has_K || has_W) {
            condense_add_columns(self, has_W ? c->YW : c->YK, j, last, p, &is_free);
            continue;
        }
        if (is_free && (shift != 0.0 || la != 0.0)) {
            condense_add_free(self, (condense_part){ 0 }, p);
            is_free = false;
        }
        if (shift != 0.0) pcs_columns_add(X, j, shift, p->q);
        if (la != 0.0) pcs_columns_add(X, j, la, p->v);
    }
    if (is_free) condense_add_free(self, (condense_part){ 0 }, p);
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
    condense_move(self, c, p);
    for (int j = 0; j < m; j++) {
        p->rate_before[j] = s->xi[j] - p->target[j];
        for (int i = 0; i < m; i++) p->rate_before[j] -= self->projection->GX[j * m + i] * p->la[i];
    }
}
