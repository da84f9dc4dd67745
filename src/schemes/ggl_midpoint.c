// Gear-Gupta-Leimkuhler midpoint schemes: contact at velocity and position level.
// Schoeder, Ulbrich, Schindler: Discussion of the Gear-Gupta-Leimkuhler method for impacting mechanical systems,
// Multibody System Dynamics 31 (2014), eqs. 29-52.
//
// The prediction qM = q_n + (h/2) v_n gives mass M(qM) and contacts I = { g(qM) <= tol }, up to round-off.
// gate: middle   these alone, as in the paper. A body that should rest hops where e > 0: its flights are rounded up to
//                whole steps, so that they return what restitution takes.
//       end      those, too, that end the step with g <= 0 without their law: the step is taken again with them.
//
// coupling: decoupled   the velocity step of the Moreau midpoint rule, then positions for all contacts:
//   q = q_n + (h/2) (v_n + v) + G(qM)^T Psi,   0 <= g(q) _|_ Psi >= 0
// coupling: unified     with qm, vm = means of both ends, on I:
//   q = q_n + (h/2) (v_n + v) + G(qm)^T Psi,   v = v_n + M(qM)^-1 (h f(t_n + h/2, qm, vm) + G(qm)^T La)
//   0 <= g' _|_ Psi >= 0,   0 <= d' + e d _|_ La >= 0,  tangential rows like those of La, with friction
// gap: exact    g' = g(q),                   d' = G(q) v,               d = G(q_n) v_n
//      paper    g' = g(q_n) + G(qm) (q - q_n),  d' = d + G(qm) (v - v_n),  d = G(q_n) v_n      (eqs. 41, 42)
//      mid      g' = g(q),                   d' = G(qm) v,              d = G(qm) v_n
//
// Positions are corrected in the Euclidean metric, as the paper does, or with `metric: mass` by M^-1 G^T Psi: on a mesh
// the former would push single nodes. Only `exact` keeps the energy of a lasting
// contact: the others impose a velocity that Psi must undo.

#include "schemes/ggl_unified.h"

#include "step/projection.h"

#include <math.h>
#include <string.h>

typedef struct ggl_mid_params {
    int coupling, gap, metric, gate;
    double gap_tolerance;
} ggl_mid_params;

enum { DECOUPLED, UNIFIED };
enum { EUCLIDEAN, MASS };
enum { GATE_END, GATE_MIDDLE };
static const char *const ggl_mid_gates[] = { "end", "middle", NULL };
static const char *const ggl_mid_metrics[] = { "euclidean", "mass", NULL };
static const char *const ggl_mid_couplings[] = { "decoupled", "unified", NULL };
static const char *const ggl_mid_gaps[] = { "exact", "paper", "mid", NULL };

static const pcs_option ggl_mid_options[] = {
    PCS_CHOICE("coupling", ggl_mid_params, coupling, PCS_DEFAULT("unified"), ggl_mid_couplings,
               "positions corrected after the velocities, or both at once (implicit)"),
    PCS_CHOICE("gap", ggl_mid_params, gap, PCS_DEFAULT("exact"), ggl_mid_gaps,
               "of unified: gap and gap velocity as they are, as the paper shortens them, or velocity in the middle"),
    PCS_CHOICE("metric", ggl_mid_params, metric, PCS_DEFAULT("euclidean"), ggl_mid_metrics,
               "of the position correction; meshes need mass"),
    PCS_REAL("gap_tolerance", ggl_mid_params, gap_tolerance, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "a gap up to this counts as closed in the middle of the step, m"),
    PCS_CHOICE(
        "gate", ggl_mid_params, gate, PCS_DEFAULT("end"), ggl_mid_gates,
        "impose the velocity law on what would sink in up to the end of the step, too, or as in the paper on what "
        "is closed in its middle: bodies at rest hop then"),
    { 0 },
};

static const char *ggl_mid_check(const void *params, const char **option)
{
    const ggl_mid_params *p = params;
    *option = "gap";
    return p->coupling == DECOUPLED && p->gap != PCS_GGL_EXACT ? "gap is for coupling unified" : NULL;
}

static const char *ggl_mid_refuses(const pcs_system *system, const void *params)
{
    if (!pcs_system_is_mesh(system) || system->nrow == 0 || ((const ggl_mid_params *)params)->metric == MASS)
        return NULL;
    return "a Euclidean correction would push single nodes of a mesh and strain it: say 'metric: mass'";
}

// The unified step is the implicit midpoint rule; the decoupled one has the limit of central differences.
static double ggl_mid_stable_step(const void *params, double w, double xi)
{
    if (((const ggl_mid_params *)params)->coupling == UNIFIED) return INFINITY;
    return 2.0 / w / (sqrt(1.0 + xi * xi) + xi);
}

static pcs_status ggl_mid_setup(pcs_scheme *self)
{
    pcs_ggl *s = self->data;
    const ggl_mid_params *p = self->params;
    int m = self->system->nrow;
    PCS_TRY(pcs_midpoint_setup(self, &s->base));
    PCS_TRY(pcs_projection_need_columns(self->solver));
    PCS_TRY(pcs_dense_contacts_create(self->ctx, self->system, false, &s->contacts));
    PCS_TAKE(self->ctx, s->E, m, "the position correction");
    for (int j = 0; j < m; j++) PCS_TAKE(self->ctx, s->E[j], self->system->nv, "the position correction");
    PCS_TAKE(self->ctx, s->psi, m, "the position correction");
    PCS_TAKE(self->ctx, s->start_rate, m, "the position correction");
    PCS_TAKE(self->ctx, s->start_gap, m, "the position correction");
    PCS_TAKE(self->ctx, s->start_rate_t, self->system->ntangent, "the position correction");
    PCS_TAKE(self->ctx, s->uncorrected, self->system->nv, "the position correction");
    s->gap = (pcs_ggl_gap)p->gap;
    s->is_mass_metric = p->metric == MASS;
    s->base.base.gap_tolerance = p->gap_tolerance;
    return p->coupling == UNIFIED ? pcs_ggl_take_unified(self, s) : PCS_OK;
}

// The gap problem about the present q', with velocity rows that ask for nothing.
static bool ggl_mid_correct(pcs_scheme *self, pcs_ggl *s)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->base.base.next;
    pcs_dense_contacts *c = s->contacts;
    memset(c->P, 0, (size_t)c->p.n * (size_t)c->p.n * sizeof(double));
    memset(c->p.gate, 0, (size_t)c->p.m);
    for (int k = c->p.m; k < c->p.n; k++) {
        c->P[k * c->p.n + k] = c->p.r[k] = 1.0;
        c->p.b[k] = 0.0;
    }
    for (int i = 0; i < system->nv; i++) next->d[i] = s->uncorrected[i] - next->q[i];
    for (int j = 0; j < c->p.m; j++) {
        for (int i = 0; i < c->p.m; i++) c->P[j * c->p.n + i] = pcs_rows_dot(system->G, j, s->E[i]);
        c->p.b[j] = next->gap[j] + pcs_rows_dot(system->G, j, next->d);
        c->p.r[j] = 1.0 / fmax(c->P[j * c->p.n + j], 1e-300);
    }
    c->p.h = 1.0;
    c->p.has_position = true;
    c->p.gate_is_live = false;
    int rounds;
    return pcs_dense_contacts_solve(c, &rounds);
}

// Newton's method on g(q + E Psi); directions go back to the middle afterwards.
static pcs_outcome ggl_mid_project(pcs_scheme *self, pcs_ggl *s)
{
    pcs_system *system = self->system;
    pcs_next *next = &s->base.base.next;
    int n = system->nv, m = system->nrow;
    double change = INFINITY, last, tie = 0.0;
    for (int j = 0; j < m; j++) tie = fmax(tie, pcs_gap_tie(system, j, next->q));
    pcs_ggl_copy_directions(self, s);
    memcpy(s->uncorrected, next->q, (size_t)n * sizeof(double));
    memset(s->psi, 0, (size_t)m * sizeof(double));
    for (int round = 0;; round++) {
        pcs_projection_turn(self->solver, next->q);
        pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
        if (round == 50 || !ggl_mid_correct(self, s)) return PCS_NOT_CONVERGED;
        last = change;
        change = 0.0;
        for (int j = 0; j < m; j++) {
            double step = s->contacts->p.z[j] - s->psi[j];
            s->psi[j] = s->contacts->p.z[j];
            if (step != 0.0)
                for (int i = 0; i < n; i++) next->q[i] += step * s->E[j][i];
            change = fmax(change, fabs(step * s->contacts->P[j * s->contacts->p.n + j]));
        }
        if (!isfinite(change)) return PCS_NOT_CONVERGED;
        if (change <= 1e-15 * system->length || (change <= tie && change > 0.5 * last)) break;
    }
    pcs_projection_turn(self->solver, s->base.middle);
    return PCS_CONVERGED;
}

// Energy that the correction has added, at the velocity of the end.
static void ggl_mid_book_correction(pcs_scheme *self, pcs_ggl *s, pcs_step_report *report)
{
    const pcs_next *next = &s->base.base.next;
    const pcs_measure *now = &report->measure;
    pcs_measure before;
    bool is_corrected = false;
    memcpy(s->uncorrected, next->q, (size_t)self->system->nv * sizeof(double));
    for (int j = 0; j < self->system->nrow; j++) {
        if (s->psi[j] != 0.0)
            for (int i = 0; i < self->system->nv; i++) s->uncorrected[i] -= s->psi[j] * s->E[j][i];
        is_corrected = is_corrected || s->psi[j] != 0.0;
    }
    if (!is_corrected) return;
    self->system->ops->measure(self->system, pcs_at(self->solver->t, s->uncorrected, next->v), PCS_ENERGY, &before);
    report->correction_work =
        now->kinetic + now->strain + now->potential - before.kinetic - before.strain - before.potential;
}

// Gates the contacts that the step has closed or sunk in without their law; is there any?
static bool ggl_mid_close_sunk(pcs_scheme *self, pcs_ggl *s)
{
    pcs_system *system = self->system;
    pcs_next *next = &s->base.base.next;
    bool has_sunk = false;
    pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        if (next->gate[j] || next->gap[j] > pcs_gap_tie(system, j, next->q)) continue;
        next->gate[j] = 1;
        has_sunk = true;
    }
    return has_sunk;
}

// One step with the gates as they are, positions of the decoupled scheme not corrected yet.
static pcs_outcome ggl_mid_move(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_ggl *s = self->data;
    const ggl_mid_params *p = self->params;
    if (p->coupling == UNIFIED) return pcs_ggl_unified(self, s, x, h, report);
    return pcs_midpoint_velocity(self, &s->base, x, h, report);
}

static pcs_outcome ggl_mid_solve(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_ggl *s = self->data;
    pcs_system *system = self->system;
    const ggl_mid_params *p = self->params;
    bool is_unified = p->coupling == UNIFIED;
    if (is_unified) {
        pcs_projection_turn(self->solver, x->q);
        pcs_system_gaps(system, pcs_at(self->solver->t, x->q, NULL), s->start_gap);
        pcs_rows_multiply(system->G, x->v, s->start_rate);
        if (system->ntangent > 0) pcs_rows_multiply(system->T, x->v, s->start_rate_t);
    }
    if (!pcs_midpoint_predict(self, &s->base, x, h)) return PCS_SINGULAR;
    pcs_outcome outcome = ggl_mid_move(self, x, h, report);
    while (outcome == PCS_CONVERGED && p->gate == GATE_END && ggl_mid_close_sunk(self, s))
        outcome = ggl_mid_move(self, x, h, report);
    if (outcome != PCS_CONVERGED || is_unified) return outcome;
    for (int i = 0; i < system->nv; i++)
        if (!isfinite(s->base.base.next.q[i])) return PCS_NOT_FINITE;
    return ggl_mid_project(self, s);
}

static pcs_status ggl_mid_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_ggl *s = self->data;
    pcs_next *next = &s->base.base.next;
    pcs_begin_step(self, x, h, report);
    report->outcome = ggl_mid_solve(self, x, h, report);
    if (report->outcome == PCS_NOT_FINITE) (void)pcs_next_measure(self, x, next, report); // names the culprit
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, next, report)) return PCS_OK;
    pcs_midpoint_report(self, &s->base, x, report);
    if (((const ggl_mid_params *)self->params)->coupling == UNIFIED) {
        double resultant[3];
        pcs_system_resultant(self->system, pcs_at(x->t + 0.5 * h, s->mid_q, s->mid_v), resultant);
        for (int k = 0; k < 3; k++) report->smooth_impulse[k] = h * resultant[k] + s->turned[k];
    }
    ggl_mid_book_correction(self, s, report);
    pcs_next_accept(self, next, x, report);
    ((pcs_ggl_memory *)x->memory)->factored_h = s->factored_h;
    return PCS_OK;
}

static void ggl_mid_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const ggl_mid_params *p = self->params;
    *rule = pcs_rule_of(p->coupling == UNIFIED ? PCS_RULE_MEAN : PCS_RULE_MIDPOINT);
    rule->rate = PCS_RATE_MIDDLE;
    if (p->coupling == UNIFIED) rule->rate = p->gap == PCS_GGL_EXACT ? PCS_RATE_START : PCS_RATE_NONE;
    rule->gate = PCS_GATE_MIDDLE;
    rule->gate_tolerance = p->gap_tolerance;
    rule->gate_looks_ahead = p->gate == GATE_END;
}

const pcs_scheme_ops pcs_scheme_ggl_midpoint = {
    .name = "ggl_midpoint",
    .summary = "midpoint rule with gap and gap velocity enforced one after the other or at once; no drift",
    .options = ggl_mid_options,
    .params_size = sizeof(ggl_mid_params),
    .data_size = sizeof(pcs_ggl),
    .memory_size = sizeof(pcs_ggl_memory),
    .is_explicit = true,
    .acts_midway = true,
    .check = ggl_mid_check,
    .refuses = ggl_mid_refuses,
    .stable_step = ggl_mid_stable_step,
    .state_rule = ggl_mid_state_rule,
    .refuses_drives = "its contacts and joints are those of the middle of the step, where nothing holds a prescribed "
                      "motion at its end; "
                      "moreau_midpoint and alpha_ggl follow such motions",
    .setup = ggl_mid_setup,
    .start = pcs_explicit_start_plainly,
    .step = ggl_mid_step,
};
