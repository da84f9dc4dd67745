// The table of schemes, and what they share: the arrays of the next state and the report of a step.

#include "schemes/common.h"

#include <math.h>

#define PCS_SCHEME(name) extern const pcs_scheme_ops pcs_scheme_##name;
#include "schemes/scheme_list.def"
#undef PCS_SCHEME

const pcs_scheme_ops *const pcs_schemes[] = {
#define PCS_SCHEME(name) &pcs_scheme_##name,
#include "schemes/scheme_list.def"
#undef PCS_SCHEME
    NULL,
};

pcs_status pcs_next_create(pcs_scheme *self, pcs_next *next)
{
    int n = self->system->nv, m = self->system->nrow;
    double **vectors[] = { &next->q, &next->v, &next->a, &next->d };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(self->ctx, *vectors[i], n, "the next state");
    double **rows[] = { &next->target, &next->gap, &next->nu, &next->la, &next->rate_before };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) PCS_TAKE(self->ctx, *rows[i], m, "the next contact state");
    PCS_TAKE(self->ctx, next->gate, m, "the next contact state");
    PCS_TAKE(self->ctx, next->was_loaded, m, "the next contact state");
    return PCS_OK;
}

pcs_step_problem pcs_next_problem(pcs_next *next, double t)
{
    return (pcs_step_problem){ .t = t,
                               .q = next->q,
                               .v = next->v,
                               .d = next->d,
                               .target = next->target,
                               .gate = next->gate,
                               .nu = next->nu,
                               .la = next->la,
                               .rate_before = next->rate_before };
}

static void scheme_swap(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

void pcs_next_accept(pcs_next *next, pcs_state *x, const pcs_step_report *report, int nrow)
{
    scheme_swap(&x->q, &next->q);
    scheme_swap(&x->v, &next->v);
    for (int j = 0; j < nrow; j++) next->was_loaded[j] = report->rows[j].step_impulse > 0.0;
    x->t += report->h;
    x->step++;
}

// Every entry of the state enters the energies, so a NaN anywhere shows there.
bool pcs_next_measure(const pcs_scheme *self, const pcs_next *next, pcs_step_report *report)
{
    pcs_measure *m = &report->measure;
    self->system->ops->measure(self->system, next->q, next->v, m);
    if (isfinite(m->kinetic) && isfinite(m->strain) && isfinite(m->potential)) return true;
    report->outcome = PCS_NOT_FINITE;
    for (int i = self->system->nv - 1; i >= 0; i--)
        if (!isfinite(next->q[i]) || !isfinite(next->v[i])) report->bad_equation = i;
    return false;
}

void pcs_begin_report(pcs_step_report *report, double h)
{
    *report = (pcs_step_report){ .h = h, .bad_equation = -1, .rows = report->rows };
}

void pcs_next_report_rows(const pcs_scheme *self, const pcs_state *x, const pcs_next *next, double theta,
                          pcs_step_report *report)
{
    const pcs_system *system = self->system;
    system->ops->gaps(system, next->q, next->gap);
    report->impact_loss = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        double la = next->la[j];
        *row = (pcs_row_report){
            .gap = next->gap[j],
            .rate = pcs_system_rate(system, j, next->v),
            .rate_before = next->rate_before[j],
            .target = next->target[j],
            .nu = next->nu[j],
            .step_impulse = la,
            .force = la / report->h,
            .multiplier = la,
            .is_gated = next->gate[j] != 0,
            .is_impact = la > 0.0 && !next->was_loaded[j],
        };
        row->impulse = row->is_impact ? la : 0.0;
        row->is_closed = la > 0.0 || row->gap <= 0.0;
        if (la != 0.0)
            report->impact_loss -= la * ((1.0 - theta) * pcs_system_rate(system, j, x->v) + theta * row->rate);
    }
}

double pcs_trapezoidal_load_work(const pcs_system *system, const pcs_state *x, const double *q_new, double h)
{
    return 0.5 *
           (system->ops->load_work(system, x->t, x->q, q_new) + system->ops->load_work(system, x->t + h, x->q, q_new));
}

void pcs_free_acceleration(pcs_scheme *self, double t, const double *q, const double *v, double *a)
{
    self->system->ops->force(self->system, t, q, v, a);
    pcs_linsolve_solve(self->solver->mass, a);
}

void pcs_start_report(const pcs_scheme *self, const pcs_state *x, pcs_next *next, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    pcs_row_report *rows = report->rows;
    pcs_begin_report(report, 0.0);
    system->ops->measure(system, x->q, x->v, &report->measure);
    system->ops->gaps(system, x->q, next->gap);
    for (int j = 0; j < system->nrow; j++) {
        double rate = pcs_system_rate(system, j, x->v);
        rows[j] = (pcs_row_report){
            .gap = next->gap[j], .rate = rate, .rate_before = rate, .is_closed = next->gap[j] <= 0.0
        };
    }
}
