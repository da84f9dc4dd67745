#include "schemes/midpoint.h"

#include "core/loop.h"
#include "step/projection.h"

pcs_status pcs_midpoint_setup(pcs_scheme *self, pcs_midpoint *s)
{
    self->misses_end = true;
    PCS_TAKE(self->ctx, s->middle, self->system->nv, "the middle of the step");
    return pcs_explicit_setup(self, &s->base);
}

bool pcs_midpoint_predict(pcs_scheme *self, pcs_midpoint *s, const pcs_state *x, double h)
{
    pcs_next *next = &s->base.next;
    pcs_system *system = self->system;
    const double *q = x->q, *v = x->v;
    double *middle = s->middle;
    PCS_INDEPENDENT
    for (int i = 0; i < system->nv; i++) middle[i] = q[i] + 0.5 * h * v[i];
    pcs_explicit_clear(self, &s->base);
    pcs_system_gaps(system, pcs_at(self->solver->t, middle, NULL), next->gap);
    if (!pcs_projection_move(self->solver, middle)) return false;
    for (int j = 0; j < system->nrow; j++) {
        double closed = s->base.gap_tolerance + pcs_gap_tie(system, j, middle);
        next->gate[j] = system->rows[j].is_bilateral || next->gap[j] <= closed;
    }
    pcs_next_targets(self, next, x->v);
    return true;
}

pcs_outcome pcs_midpoint_velocity(pcs_scheme *self, pcs_midpoint *s, const pcs_state *x, double h,
                                  pcs_step_report *report)
{
    pcs_next *next = &s->base.next;
    int n = self->system->nv;
    const double *q = x->q, *v = x->v, *a = next->a;
    double *q_new = next->q, *v_new = next->v;
    pcs_free_acceleration(self, x->t + 0.5 * h, s->middle, x->v, next->a);
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) v_new[i] = v[i] + h * a[i];
    pcs_outcome outcome = pcs_explicit_impose(self, &s->base, report);
    if (outcome != PCS_CONVERGED) return outcome;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) q_new[i] = q[i] + 0.5 * h * (v[i] + v_new[i]);
    return PCS_CONVERGED;
}

void pcs_midpoint_report(pcs_scheme *self, pcs_midpoint *s, pcs_state *x, pcs_step_report *report)
{
    double resultant[3];
    pcs_next_report_rows(self, x, &s->base.next, 0.5, report);
    pcs_system_resultant(self->system, pcs_at(x->t + 0.5 * report->h, s->middle, x->v), resultant);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = report->h * resultant[k];
    pcs_explicit_report_work(self, &s->base, x, report);
}
