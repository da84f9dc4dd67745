// Moreau midpoint rule with an explicit forecast.
// Schoeder, Ulbrich, Schindler: Discussion of the Gear-Gupta-Leimkuhler method for impacting mechanical systems,
// Multibody System Dynamics 31 (2014), eqs. 8-13.
//
//   qM = q_n + (h/2) v_n,  I = { g(qM) < tol }
//   v  = v_n + M(qM)^-1 (h f(t_n + h/2, qM, v_n) + G(qM)^T La),   q = q_n + (h/2) (v_n + v)
//   0 <= G(qM) v + e d _|_ La >= 0 on I,  tangential rows likewise with friction
//
// `rate: middle` takes d = G(qM) v_n. `rate: start` reads eq. 42 of the paper instead: the gap velocity starts from
// d = G(q_n) v_n and changes by G(qM) (v - v_n). Either way a lasting contact drifts by O(h) where gaps are curved.

#include "schemes/explicit.h"

#include "step/projection.h"

typedef struct midpoint_params {
    int rate;
    double gap_tolerance;
} midpoint_params;

enum { RATE_MIDDLE, RATE_START };
static const char *const midpoint_rates[] = { "middle", "start", NULL };

static const pcs_option midpoint_options[] = {
    PCS_CHOICE("rate", midpoint_params, rate, PCS_DEFAULT("middle"), midpoint_rates,
               "where the gap velocity before an impact is taken: middle or start of the step"),
    PCS_REAL("gap_tolerance", midpoint_params, gap_tolerance, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "a gap below this counts as closed, m"),
    { 0 },
};

typedef struct midpoint {
    pcs_explicit base;
    double *start_rate; // [nrow] G(q_n) v_n, m/s
} midpoint;

static pcs_status midpoint_setup(pcs_scheme *self)
{
    midpoint *s = self->data;
    PCS_TAKE(self->ctx, s->start_rate, self->system->nrow, "gap velocities");
    const midpoint_params *p = self->params;
    self->rule.gate_tolerance = p->gap_tolerance;
    self->rule.rate = p->rate == RATE_START ? PCS_RATE_TURNED : PCS_RATE_MIDDLE;
    return pcs_explicit_setup(self);
}

// Sets the targets so that G v + target = (1 + e) d + G (v - v_n), with the rate d of the start.
static void midpoint_retarget(pcs_scheme *self, const pcs_state *x)
{
    midpoint *s = self->data;
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        double e = pcs_restitution(&system->rows[j], s->start_rate[j]);
        if (system->rows[j].is_driven) continue;
        s->base.next.target[j] = (1.0 + e) * s->start_rate[j] - pcs_system_rate(system, j, x->v);
    }
}

static pcs_status midpoint_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    midpoint *s = self->data;
    pcs_next *next = &s->base.next;
    bool is_from_start = ((const midpoint_params *)self->params)->rate == RATE_START;
    pcs_begin_step(self, x, h, report);
    if (is_from_start) {
        pcs_projection_turn(self->solver, x->q);
        pcs_rows_multiply(self->system->G, x->v, s->start_rate);
    }
    report->outcome = PCS_SINGULAR;
    self->solver->t = x->t;
    if (self->system->row_set.ndriven > 0)
        pcs_system_gaps(self->system, pcs_at(self->solver->t, x->q, NULL), next->gap);
    pcs_next_follow_drives(self, next, x, h, 0.5);
    if (!pcs_midpoint_predict(self, x, h)) return PCS_OK;
    if (is_from_start) midpoint_retarget(self, x);
    pcs_next_drive(self, next);
    report->outcome = pcs_midpoint_velocity(self, x, h, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, next, report)) return PCS_OK;
    pcs_explicit_report_stage(self, x, pcs_at(x->t + 0.5 * h, s->base.middle, x->v), h, report);
    pcs_next_accept(self, next, x, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_moreau_midpoint = {
    .name = "moreau_midpoint",
    .summary = "explicit midpoint forecast, contact implicit at velocity level; drifts in lasting contact",
    .options = midpoint_options,
    .params_size = sizeof(midpoint_params),
    .data_size = sizeof(midpoint),
    .rule = { .kind = PCS_RULE_MIDPOINT, .move = 0.5, .gate = PCS_GATE_MIDDLE, .rows_at = PCS_ROWS_WITHIN },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DEALT_ROWS,
    .setup = midpoint_setup,
    .start = pcs_explicit_start_plainly,
    .step = midpoint_step,
};
