// Half-explicit trapezoidal scheme with contact on acceleration level (the forecasting trapezoidal rule).
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level based on
// time-discontinuous Galerkin methods, CMAME 290 (2015), sec. 3.
//
//   a(t, q, v | I) = M^-1 (f + G^T la),   0 <= G a + (dG/dt) v _|_ la >= 0 where I is closed and G v <= 0
//   v1 = v + h a(t, q, v | I0),   q' = q + (h/2) (v + v1),   I = { g <= tol }
//   no contact has closed:   v' = v + (h/2) (a(t, q, v | I0) + a(t + h, q', v1 | I1))
//   else an impact on all of I1, the contact forces dropped:
//     v- = v + (h/2) (M^-1 f + M^-1 f'),   v' = v- + M^-1 G^T La,   0 <= G v' + e G v- _|_ La >= 0
//
// The gap velocity of a lasting contact is not constrained, so it drifts. No friction.

#include "core/loop.h"
#include "schemes/explicit.h"

#include "step/projection.h"

#include <string.h>

typedef struct accel_params {
    double gap_tolerance;
} accel_params;

static const pcs_option accel_options[] = {
    PCS_REAL("gap_tolerance", accel_params, gap_tolerance, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "a gap up to this counts as closed, m"),
    { 0 },
};

typedef struct accel {
    pcs_explicit base;
    double *free0, *free1, *a0, *a1; // [nv] accelerations at the start and the end, without and with contact forces
    double *v1;                      // [nv] velocity after stage 1
    double *la0, *la1;               // [nrow] contact forces, N
    unsigned char *is_closed;        // [nrow] at the end
} accel;

static pcs_status accel_setup(pcs_scheme *self)
{
    accel *s = self->data;
    double **vectors[] = { &s->free0, &s->free1, &s->a0, &s->a1, &s->v1 };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(self->ctx, *vectors[i], self->system->nv, "the stages");
    PCS_TAKE(self->ctx, s->la0, self->system->nrow, "the stage forces");
    PCS_TAKE(self->ctx, s->la1, self->system->nrow, "the stage forces");
    PCS_TAKE(self->ctx, s->is_closed, self->system->nrow, "the stage contacts");
    PCS_TRY(pcs_explicit_setup(self, &s->base));
    s->base.has_forces = true;
    s->base.gap_tolerance = ((const accel_params *)self->params)->gap_tolerance;
    return PCS_OK;
}

// v1 and q'
static void accel_first_stage(accel *s, const pcs_state *x, int n, double h)
{
    const double *q = x->q, *v = x->v, *a0 = s->a0;
    double *v1 = s->v1, *q_new = s->base.next.q;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) {
        v1[i] = v[i] + h * a0[i];
        q_new[i] = q[i] + 0.5 * h * (v[i] + v1[i]);
    }
}

static pcs_outcome accel_second_stage(pcs_scheme *self, const pcs_state *x, double h, bool *is_impact,
                                      pcs_step_report *report)
{
    accel *s = self->data;
    pcs_next *next = &s->base.next;
    int nrow = self->system->nrow;
    (void)pcs_explicit_find_closed(self, &s->base, next->q, s->is_closed);
    *is_impact = pcs_explicit_has_closed(self, &s->base, s->is_closed);
    if (!pcs_projection_move(self->solver, next->q)) return PCS_SINGULAR;
    memcpy(next->gate, s->is_closed, (size_t)nrow);
    pcs_free_acceleration(self, x->t + h, next->q, s->v1, s->free1);
    pcs_explicit_release(self, &s->base, x, s->v1, s->free1, h);
    pcs_outcome outcome =
        pcs_explicit_acceleration(self, &s->base, (pcs_stage){ next->q, s->v1, s->free1, s->a1, s->la1 }, report);
    if (outcome != PCS_CONVERGED) return outcome;
    const double *v = x->v, *a0 = *is_impact ? s->free0 : s->a0, *a1 = *is_impact ? s->free1 : s->a1;
    double *v_new = next->v;
    PCS_INDEPENDENT
    for (int i = 0; i < self->system->nv; i++) v_new[i] = v[i] + 0.5 * h * (a0[i] + a1[i]);
    pcs_explicit_clear(self, &s->base);
    for (int j = 0; j < nrow; j++) {
        next->gate[j] = *is_impact && s->is_closed[j];
        s->base.stage[j] = 0.5 * h * (s->la0[j] + s->la1[j]);
    }
    if (*is_impact) return pcs_explicit_impact(self, &s->base, report);
    if (s->base.kick != NULL)
        for (int i = 0; i < self->system->nv; i++)
            s->base.kick[i] = 0.5 * h * (s->a0[i] - s->free0[i] + s->a1[i] - s->free1[i]);
    pcs_explicit_leave(self, &s->base);
    return PCS_CONVERGED;
}

static void accel_report(pcs_scheme *self, pcs_state *x, bool is_impact, pcs_step_report *report)
{
    accel *s = self->data;
    double start[3], end[3];
    pcs_explicit_report_rows(self, &s->base, x, report->h, is_impact, report);
    for (int j = 0; j < self->system->nrow; j++) {
        report->rows[j].is_closed = s->is_closed[j] != 0;
        if (!is_impact) report->rows[j].force = s->la1[j];
    }
    pcs_resultant(self->system, x->t, x->q, x->v, start);
    pcs_resultant(self->system, x->t + report->h, s->base.next.q, s->v1, end);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = 0.5 * report->h * (start[k] + end[k]);
    pcs_explicit_add_turned_momentum(self, &s->base, report->smooth_impulse);
    pcs_explicit_report_work(self, &s->base, x, report);
}

static pcs_status accel_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    accel *s = self->data;
    bool is_impact = false;
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_explicit_return(self, x));
    (void)pcs_explicit_find_closed(self, &s->base, x->q, s->base.was_closed);
    memcpy(s->base.next.gate, s->base.was_closed, (size_t)self->system->nrow);
    pcs_free_acceleration(self, x->t, x->q, x->v, s->free0);
    pcs_explicit_release(self, &s->base, x, x->v, s->free0, h);
    report->outcome =
        pcs_explicit_acceleration(self, &s->base, (pcs_stage){ x->q, x->v, s->free0, s->a0, s->la0 }, report);
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    accel_first_stage(s, x, self->system->nv, h);
    report->outcome = accel_second_stage(self, x, h, &is_impact, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, &s->base.next, report)) return PCS_OK;
    accel_report(self, x, is_impact, report);
    pcs_next_accept(self, &s->base.next, x, report);
    return PCS_OK;
}

static void accel_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    (void)self;
    *rule = pcs_rule_of(PCS_RULE_HEUN_FORCES);
    rule->rate = PCS_RATE_BEFORE_IMPACT;
}

const pcs_scheme_ops pcs_scheme_half_explicit_acceleration = {
    .name = "half_explicit_acceleration",
    .summary = "explicit trapezoidal rule, contact on acceleration level; lasting contacts drift; no friction",
    .options = accel_options,
    .params_size = sizeof(accel_params),
    .data_size = sizeof(accel),
    .memory_size = sizeof(pcs_explicit_memory),
    .is_explicit = true,
    .separates_impacts = true,
    .lets_contacts_sink = true,
    .refuses = pcs_refuse_friction,
    .state_rule = accel_state_rule,
    .refuses_drives =
        "its joints know the acceleration of a prescribed motion alone: where the velocity jumps it would lose it for "
        "good; half_explicit and half_explicit_rk follow such motions",
    .takes_internal = true,
    .takes_dealt_rows = true,
    .setup = accel_setup,
    .start = pcs_explicit_start,
    .step = accel_step,
};
