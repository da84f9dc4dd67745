// Splitting of smooth motion and impacts: a Runge-Kutta-Fehlberg step of order 5 without contact, then an impact at
// fixed positions. Acary, lecture slides on numerical methods for nonsmooth mechanical systems, eqs. 140-143.
//
//   (q', v-) = Fehlberg step of  q' = v, v' = a(t, q, v)
//   v' = v- + M(q')^-1 G(q')^T La,   0 <= G v' + e G v- _|_ La >= 0 on { g(q') <= tol }, with friction
//
// Without `contact_forces` a = M^-1 f, and a resting contact is held by one small impact per step. With them the smooth
// motion feels contacts that were closed at the start of the step and do not separate, on acceleration level:
//   a = M^-1 (f + G^T la),   0 <= G a + (dG/dt) v _|_ la >= 0
// and restitution is for contacts that close in the step: a lasting one that turns round comes to rest.

#include "schemes/explicit.h"
#include "schemes/tableau.h"

#include "step/projection.h"

#include <string.h>

typedef struct split_params {
    bool contact_forces;
    double gap_tolerance;
} split_params;

static const pcs_option split_options[] = {
    PCS_FLAG("contact_forces", split_params, contact_forces, PCS_DEFAULT("false"),
             "lasting contacts act on the smooth motion, too (without friction)"),
    PCS_GAP_TOLERANCE(split_params),
    { 0 },
};

enum { STAGES = 6 };

typedef struct split {
    pcs_explicit base;
    double *q[STAGES], *v[STAGES], *a[STAGES]; // [nv] the stages; the first borrows the state
    double *free;                              // [nv] acceleration without contact forces
    double *force;                             // [nrow] contact forces of the present stage, N
} split;

// Refuses meshes without contact forces: a contact then sinks by (h^2/2) times its free acceleration in every step. For
// the node of a mesh that is the force of the whole body on the mass of one element.
static const char *split_refuses(const pcs_system *system, const void *params)
{
    if (((const split_params *)params)->contact_forces) return pcs_refuse_friction(system, params);
    return pcs_system_is_mesh(system) && pcs_system_nrow(system) > 0
               ? "contact nodes of a mesh would sink without contact forces: say "
                 "'contact_forces: true'"
               : NULL;
}

static double split_stable_step(const void *params, double w, double xi)
{
    (void)params;
    return pcs_tableau_stable_step(&pcs_tableau_fehlberg5, w, xi);
}

static pcs_status split_setup(pcs_scheme *self)
{
    split *s = self->data;
    int n = self->system->nv;
    PCS_TRY(pcs_explicit_setup(self));
    s->base.has_forces = true;
    s->base.gap_tolerance = ((const split_params *)self->params)->gap_tolerance;
    if (!((const split_params *)self->params)->contact_forces) self->rule.rate = PCS_RATE_BEFORE;
    for (int k = 0; k < STAGES; k++) {
        if (k > 0) PCS_TAKE(self->ctx, s->q[k], n, "the stages");
        if (k > 0) PCS_TAKE(self->ctx, s->v[k], n, "the stages");
        PCS_TAKE(self->ctx, s->a[k], n, "the stages");
    }
    PCS_TAKE(self->ctx, s->free, n, "the stages");
    PCS_TAKE(self->ctx, s->force, self->system->nrow, "the stage forces");
    return PCS_OK;
}

// Computes the acceleration of stage k, and adds its share of the impulses.
static pcs_outcome split_accelerate(pcs_scheme *self, const pcs_state *x, double h, int k, pcs_step_report *report)
{
    split *s = self->data;
    double t = x->t + pcs_tableau_fehlberg5.c[k] * h, share = h * pcs_tableau_fehlberg5.b[k];
    if (!pcs_projection_move(self->solver, s->q[k])) return PCS_SINGULAR;
    pcs_free_acceleration(self, t, s->q[k], s->v[k], s->free);
    memset(s->base.next.gate, 0, (size_t)self->system->nrow);
    if (((const split_params *)self->params)->contact_forces) {
        memcpy(s->base.next.gate, s->base.was_closed, (size_t)self->system->nrow);
        pcs_explicit_release(self, &s->base, x, s->v[k], s->free, h);
    }
    pcs_outcome outcome =
        pcs_explicit_acceleration(self, &s->base, (pcs_stage){ s->q[k], s->v[k], s->free, s->a[k], s->force }, report);
    for (int j = 0; j < self->system->nrow; j++) s->base.stage[j] += share * s->force[j];
    if (s->base.kick != NULL)
        for (int i = 0; i < self->system->nv; i++) s->base.kick[i] += share * (s->a[k][i] - s->free[i]);
    return outcome;
}

static pcs_outcome split_smooth(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    split *s = self->data;
    const pcs_tableau *t = &pcs_tableau_fehlberg5;
    double resultant[3];
    int n = self->system->nv;
    s->q[0] = x->q;
    s->v[0] = x->v;
    for (int k = 0; k < STAGES; k++) {
        if (k > 0) {
            pcs_stages_add((pcs_stages){ n, k, t->a[k], s->v }, h, x->q, s->q[k]);
            pcs_stages_add((pcs_stages){ n, k, t->a[k], s->a }, h, x->v, s->v[k]);
        }
        pcs_outcome outcome = split_accelerate(self, x, h, k, report);
        if (k == 0)
            for (int j = 0; j < self->system->nrow; j++) s->base.is_pressed[j] = s->force[j] > 0.0;
        if (outcome != PCS_CONVERGED) return outcome;
        pcs_system_resultant(self->system, pcs_at(x->t + t->c[k] * h, s->q[k], s->v[k]), resultant);
        for (int i = 0; i < 3; i++) report->smooth_impulse[i] += h * t->b[k] * resultant[i];
    }
    pcs_stages_add((pcs_stages){ n, STAGES, t->b, s->v }, h, x->q, s->base.next.q);
    pcs_stages_add((pcs_stages){ n, STAGES, t->b, s->a }, h, x->v, s->base.next.v);
    return PCS_CONVERGED;
}

static void split_targets(pcs_scheme *self, pcs_next *next)
{
    const split *s = self->data;
    pcs_next_targets(self, next, next->v);
    if (!((const split_params *)self->params)->contact_forces) return;
    for (int j = 0; j < self->system->nrow; j++)
        if (s->base.was_closed[j]) next->target[j] = 0.0;
}

static pcs_status split_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    split *s = self->data;
    pcs_next *next = &s->base.next;
    pcs_begin_step(self, x, h, report);
    pcs_explicit_clear(self, &s->base);
    PCS_TRY(pcs_explicit_return(self, x));
    (void)pcs_explicit_find_closed(self, &s->base, x->q, s->base.was_closed);
    memset(s->base.is_pressed, 0, (size_t)self->system->nrow);
    report->outcome = split_smooth(self, x, h, report);
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    (void)pcs_explicit_find_closed(self, &s->base, next->q, next->gate);
    report->outcome = PCS_SINGULAR;
    if (!pcs_projection_move(self->solver, next->q)) return PCS_OK;
    bool is_impact = pcs_explicit_has_closed(self, &s->base, next->gate);
    split_targets(self, next);
    report->outcome = pcs_explicit_impose(self, &s->base, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, next, report)) return PCS_OK;
    pcs_explicit_report_rows(self, &s->base, x, h, is_impact, report);
    pcs_explicit_add_turned_momentum(self, &s->base, report->smooth_impulse);
    if (!is_impact)
        for (int j = 0; j < self->system->nrow; j++) report->rows[j].force = report->rows[j].step_impulse / h;
    pcs_explicit_report_work(self, &s->base, x, report);
    pcs_next_accept(self, next, x, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_splitting = {
    .name = "splitting",
    .summary = "Runge-Kutta-Fehlberg of order 5 for the smooth motion, then impacts at fixed positions",
    .options = split_options,
    .params_size = sizeof(split_params),
    .data_size = sizeof(split),
    .rule = { .kind = PCS_RULE_RUNGE_KUTTA,
              .move = NAN,
              .tableau = &pcs_tableau_fehlberg5,
              .impact = PCS_IMPACT_ALWAYS,
              .level = PCS_LEVEL_ACCELERATION,
              .rows_at = PCS_ROWS_WITHIN },
    .takes = PCS_TAKES_DEALT_ROWS,
    .refuses = split_refuses,
    .stable_step = split_stable_step,
    .refuses_drives =
        "its joints know the acceleration of a prescribed motion alone: where the velocity jumps it would lose it for "
        "good; half_explicit and half_explicit_rk follow such motions",
    .setup = split_setup,
    .start = pcs_explicit_start,
    .step = split_step,
};
