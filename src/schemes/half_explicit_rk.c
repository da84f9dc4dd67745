// Half-explicit Runge-Kutta schemes with contact on velocity level in every stage.
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level based on
// time-discontinuous Galerkin methods, CMAME 290 (2015), appendix B, after Brasey.
//
// Stages q_0 = q, v_0 = v; for l = 1..s, k = l - 1, with row r = a_l, or r = b for the end of the step (l = s):
//   a_k = M(q_k)^-1 f(t + c_k h, q_k, v_k),          q_l = q + h sum_{j<l} r_j v_j
//   v_l = v + h sum_{j<k} r_j A_j + h r_k a_k + M(q_k)^-1 G(q_k)^T P,   0 <= G(q_l) v_l _|_ P >= 0
//   A_k = a_k + M(q_k)^-1 G(q_k)^T P/(h r_k),        r_k > 0
// on I0 = { g(q) <= tol }, in the end on those of I0 that are still closed. If a contact has closed, all forces of
// contacts are dropped and an impact is solved on all closed contacts:
//   v- = v + h sum_j b_j a_j,   v' = v- + M^-1 G^T La,   0 <= G v' + e G v- _|_ La >= 0
//
// A driven row has G v_l = s'(t + c_l h), but in the stage before the end what brings positions where they belong:
// h sum_j b_j G v_j = s(t + h) - s(t) less the misfit of positions.
//
// Tangential rows join everywhere, with friction. HEM3 and HEM4 keep their orders 3 and 4 with joints (index 2),
// the classical Runge-Kutta method falls to about 2.

#include "schemes/explicit.h"
#include "schemes/tableau.h"

#include "step/projection.h"

#include <math.h>
#include <string.h>

typedef struct herk_params {
    int method;
    pcs_list a, b, c;
    double gap_tolerance;
} herk_params;

enum { TABLEAU = 6 };
static const char *const herk_methods[] = { "hem3", "hem4", "hem5", "herk2", "kutta3", "rk4", "tableau", NULL };
static const pcs_tableau *const herk_tableaus[] = { &pcs_tableau_hem3,  &pcs_tableau_hem4,   &pcs_tableau_hem5,
                                                    &pcs_tableau_herk2, &pcs_tableau_kutta3, &pcs_tableau_rk4 };

static const pcs_option herk_options[] = {
    PCS_CHOICE("method", herk_params, method, PCS_DEFAULT("hem4"), herk_methods,
               "hem3, hem4 and hem5 keep their order with joints; tableau: by a, b, c"),
    PCS_LIST("a", herk_params, a, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "s rows of s numbers, zero on and above the diagonal, positive just below"),
    PCS_LIST("b", herk_params, b, PCS_OPTIONAL, PCS_ANY_NUMBER, "s weights, the last positive, of sum 1"),
    PCS_LIST("c", herk_params, c, PCS_OPTIONAL, PCS_ANY_NUMBER, "s times, sums of the rows of a"),
    PCS_GAP_TOLERANCE(herk_params),
    { 0 },
};

typedef struct herk {
    pcs_explicit base;
    pcs_tableau table;
    double *q[PCS_MAX_STAGES], *v[PCS_MAX_STAGES];       // [nv] the stages; the first borrows the state
    double *free[PCS_MAX_STAGES], *full[PCS_MAX_STAGES]; // [nv] a and A
    double *force, *force_t;                             // [nrow], [ntangent] P of the present stage
    unsigned char *is_closed;                            // [nrow] at the end
    double *left;                                        // [nrow] of the mean velocity of driven rows, m/s
} herk;

static void herk_find_tableau(const herk_params *p, pcs_tableau *out)
{
    const char *option;
    if (p->method == TABLEAU) (void)pcs_tableau_read(&p->a, &p->b, &p->c, out, &option);
    else *out = *herk_tableaus[p->method];
}

static const char *herk_check(const void *params, const char **option)
{
    const herk_params *p = params;
    pcs_tableau table;
    const pcs_list *lists[] = { &p->a, &p->b, &p->c };
    static const char *const names[] = { "a", "b", "c" };
    bool is_tableau = p->method == TABLEAU;
    for (int i = 0; i < 3; i++) {
        *option = names[i];
        if (is_tableau && lists[i]->count == 0) return "method tableau needs the lists a, b and c";
        if (!is_tableau && lists[i]->count > 0) return "a, b and c are for method tableau";
    }
    return is_tableau ? pcs_tableau_read(&p->a, &p->b, &p->c, &table, option) : NULL;
}

static double herk_stable_step(const void *params, double w, double xi)
{
    pcs_tableau table;
    herk_find_tableau(params, &table);
    return pcs_tableau_stable_step(&table, w, xi);
}

static pcs_status herk_setup(pcs_scheme *self)
{
    herk *s = self->data;
    const herk_params *params = self->params;
    int n = self->system->nv;
    PCS_TRY(pcs_explicit_setup(self));
    s->base.gap_tolerance = params->gap_tolerance;
    herk_find_tableau(params, &s->table);
    self->rule.tableau = &s->table;
    self->stage_accelerations = s->free;
    for (int k = 0; k < s->table.s; k++) {
        if (k > 0) PCS_TAKE(self->ctx, s->q[k], n, "the stages");
        if (k > 0) PCS_TAKE(self->ctx, s->v[k], n, "the stages");
        PCS_TAKE(self->ctx, s->free[k], n, "the stages");
        PCS_TAKE(self->ctx, s->full[k], n, "the stages");
    }
    PCS_TAKE(self->ctx, s->force, self->system->nrow, "the stage forces");
    PCS_TAKE(self->ctx, s->force_t, self->system->ntangent, "the stage forces");
    PCS_TAKE(self->ctx, s->is_closed, self->system->nrow, "the stage contacts");
    PCS_TAKE(self->ctx, s->left, self->system->nrow, "the stage contacts");
    return PCS_OK;
}

// Solves the impact at the end of the step.
static pcs_outcome herk_impact(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    herk *s = self->data;
    pcs_stages_add((pcs_stages){ self->system->nv, s->table.s, s->table.b, s->free }, h, x->v, s->base.next.v);
    if (!pcs_projection_move(self->solver, s->base.next.q)) return PCS_SINGULAR;
    memcpy(s->base.next.gate, s->is_closed, (size_t)self->system->nrow);
    return pcs_explicit_impact(self, &s->base, report);
}

// Adds the forces of a stage, from its impulses P, to its acceleration, and their share to the step.
static void herk_take_forces(pcs_scheme *self, int k, double h_r, double share)
{
    herk *s = self->data;
    memcpy(s->full[k], s->free[k], (size_t)self->system->nv * sizeof(double));
    pcs_projection_push(self->solver, 1.0 / h_r, s->force, s->force_t, s->full[k]);
    if (s->base.kick != NULL) pcs_projection_push(self->solver, share, s->force, s->force_t, s->base.kick);
    for (int j = 0; j < self->system->nrow; j++) s->base.stage[j] += share * s->force[j];
    for (int t = 0; t < self->system->ntangent; t++) s->base.stage_t[t] += share * s->force_t[t];
}

// Sets the mean velocity left to driven rows, before the first stage; gaps and directions are at the start.
static void herk_drive(pcs_scheme *self, const pcs_state *x, double h)
{
    herk *s = self->data;
    const pcs_system *system = self->system;
    pcs_next *next = &s->base.next;
    if (system->row_set.ndriven == 0) return;
    pcs_next_find_drives(self, next, x->t, h);
    for (int j = 0; j < system->nrow; j++)
        s->left[j] =
            (next->way_before[j] - next->way[j] - next->gap[j]) / h - s->table.b[0] * pcs_system_rate(system, j, x->v);
}

// Sets the targets of driven rows in stage l.
static void herk_drive_stage(pcs_scheme *self, const pcs_state *x, double h, int l)
{
    herk *s = self->data;
    pcs_system *system = self->system;
    const pcs_tableau *t = &s->table;
    pcs_next *next = &s->base.next;
    double *speed = next->speed_before, *target = next->target;
    if (system->row_set.ndriven == 0) return;
    if (l < t->s) pcs_system_drives(system, x->t + t->c[l] * h, s->force, speed); // places serve nobody
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_driven) continue;
        target[j] = l < t->s ? speed[j] : next->speed[j];
        if (l == t->s - 1) target[j] = -s->left[j] / t->b[l];
        if (l < t->s - 1) s->left[j] += t->b[l] * speed[j];
    }
}

// Computes stage l from those before it; the last one (l = s) gives the next state.
static pcs_outcome herk_stage(pcs_scheme *self, const pcs_state *x, double h, int l, bool *is_impact,
                              pcs_step_report *report)
{
    herk *s = self->data;
    pcs_next *next = &s->base.next;
    const pcs_tableau *t = &s->table;
    int k = l - 1, n = self->system->nv, nrow = self->system->nrow;
    bool is_last = l == t->s, has_gate = false;
    const double *r = is_last ? t->b : t->a[l];
    double *q = is_last ? next->q : s->q[l], *v = is_last ? next->v : s->v[l];
    self->solver->t = x->t + t->c[k] * h;
    if (!pcs_projection_move(self->solver, s->q[k])) return PCS_SINGULAR;
    pcs_free_acceleration(self, x->t + t->c[k] * h, s->q[k], s->v[k], s->free[k]);
    self->solver->t = x->t + (is_last ? 1.0 : t->c[l]) * h;
    herk_drive_stage(self, x, h, l);
    pcs_stages_add((pcs_stages){ n, l, r, s->v }, h, x->q, q);
    double *keep = s->full[k]; // the row takes A_j of earlier stages and the free acceleration of the last
    s->full[k] = s->free[k];
    pcs_stages_add((pcs_stages){ n, l, r, s->full }, h, x->v, v);
    s->full[k] = keep;
    memcpy(next->gate, s->base.was_closed, (size_t)nrow);
    if (is_last) {
        (void)pcs_explicit_find_closed(self, &s->base, q, s->is_closed);
        *is_impact = pcs_explicit_has_closed(self, &s->base, s->is_closed);
        if (*is_impact) return herk_impact(self, x, h, report);
        for (int j = 0; j < nrow; j++) next->gate[j] = next->gate[j] && s->is_closed[j];
    }
    for (int j = 0; j < nrow; j++) has_gate = has_gate || next->gate[j];
    has_gate = pcs_rows_any(self->system, has_gate);
    if (has_gate || is_last) pcs_projection_turn(self->solver, q);
    if (is_last) return pcs_explicit_impose(self, &s->base, report);
    memset(s->force, 0, (size_t)nrow * sizeof(double));
    memset(s->force_t, 0, (size_t)self->system->ntangent * sizeof(double));
    if (has_gate) {
        pcs_outcome outcome = pcs_explicit_contact(self, &s->base, v, s->force, s->force_t, report);
        if (outcome != PCS_CONVERGED) return outcome;
    }
    herk_take_forces(self, k, h * r[k], t->b[k] / r[k]);
    return PCS_CONVERGED;
}

// Adds the momentum of the last impulses along the directions of the last stage minus that along those of the end.
static void herk_turn_last(pcs_scheme *self, double sum[3])
{
    herk *s = self->data;
    const pcs_next *next = &s->base.next;
    if (!pcs_rows_turn(self->system)) return;
    pcs_projection_push(self->solver, 1.0, next->la, next->la_t, s->base.kick);
    pcs_add_row_momentum(self->system, -1.0, next->la, next->la_t, sum);
}

// Adds impulse, work of loads and damping loss of stage k by its weight.
static void herk_weigh_stage(pcs_scheme *self, const pcs_state *x, int k, pcs_step_report *report)
{
    herk *s = self->data;
    const pcs_system *system = self->system;
    double h = report->h, weight = s->table.b[k], t = x->t + s->table.c[k] * h, resultant[3];
    if (weight == 0.0) return;
    pcs_system_resultant(system, pcs_at(t, s->q[k], s->v[k]), resultant);
    for (int i = 0; i < 3; i++) report->smooth_impulse[i] += h * weight * resultant[i];
    report->external_work += h * weight * pcs_system_load_power(system, pcs_at(t, s->q[k], s->v[k]));
    report->damping_loss += h * weight * pcs_system_damping_power(system, pcs_at(t, s->q[k], s->v[k]), NULL);
}

static void herk_report(pcs_scheme *self, const pcs_state *x, bool is_impact, pcs_step_report *report)
{
    herk *s = self->data;
    const pcs_tableau *t = &s->table;
    pcs_explicit_report_rows(self, &s->base, x, report->h * t->b[t->s - 1], is_impact, report);
    for (int j = 0; j < self->system->nrow; j++) report->rows[j].is_closed = s->is_closed[j] != 0;
    for (int k = 0; k < t->s; k++) herk_weigh_stage(self, x, k, report);
    if (!is_impact) herk_turn_last(self, report->smooth_impulse);
    pcs_explicit_add_turned_momentum(self, &s->base, report->smooth_impulse);
}

static pcs_status herk_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    herk *s = self->data;
    bool is_impact = false;
    pcs_begin_step(self, x, h, report);
    pcs_explicit_clear(self, &s->base);
    s->q[0] = x->q;
    s->v[0] = x->v;
    self->solver->t = x->t;
    PCS_TRY(pcs_explicit_return(self, x));
    (void)pcs_explicit_find_closed(self, &s->base, x->q, s->base.was_closed);
    herk_drive(self, x, h);
    for (int l = 1; l <= s->table.s && report->outcome == PCS_CONVERGED; l++)
        report->outcome = herk_stage(self, x, h, l, &is_impact, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &s->base.next, report)) return PCS_OK;
    herk_report(self, x, is_impact, report);
    pcs_next_accept(self, &s->base.next, x, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_half_explicit_rk = {
    .name = "half_explicit_rk",
    .summary =
        "half-explicit Runge-Kutta (HEM3 to HEM5 or your own), contact at velocity level; order 3 to 5 with joints",
    .options = herk_options,
    .params_size = sizeof(herk_params),
    .data_size = sizeof(herk),
    .rule = { .kind = PCS_RULE_RUNGE_KUTTA, .move = NAN, .rate = PCS_RATE_BEFORE, .impact = PCS_IMPACT_WHEN_CLOSING },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DEALT_ROWS,
    .check = herk_check,
    .stable_step = herk_stable_step,
    .setup = herk_setup,
    .start = pcs_explicit_start,
    .step = herk_step,
};
