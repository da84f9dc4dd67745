// Moreau-Jean theta scheme.
// Acary, Brogliato: Numerical Methods for Nonsmooth Dynamical Systems, 2008; theta and dissipation as in
// Acary's lecture slides on nonsmooth mechanical systems.
//
//   v = v_n + h ((1 - th) vd_n + th vd) + M^-1 G^T La,   M vd = f(q, v),   q = q_n + h ((1 - th) v_n + th v)
//   0 <= G v + e G v_n _|_ La >= 0   where   g(q_n) + (h/2) G v_n <= 0,   else La = 0
//
// Accelerations are weighed, each with the mass of its own position, as in Bruls, Acary, Cardona (2014), eq. 50: forces
// weighed with the mass of the end would leave th = 1/2 with order 1 where M varies.
//
// In increments d = v~ - v~0 with v~0 = v_n + h (1 - th) vd_n: c = 1/th, kb = kw = h th.
//
// Energy over a step of a linear system, exact, with x_th = (1 - th) x_n + th x:
//   dE = h v_th . F_th - h v_th . C v_th + La . G v_th - (th - 1/2) (|v - v_n|^2_M + |q - q_n|^2_K)
//
// `positions: midpoint` takes q = q_n + h (v_n + v)/2, which dissipates for every th >= 1/2 whatever e is (slides,
// eqs. 87 and 88); then kb = kw = h/2 and
//   dE = dq . F_th - dq . C v_th + La . G (v_n + v)/2 - (th - 1/2) |dq|^2_K
//
// `forces: midpoint` evaluates M, f and G at q_th and v_th, the same thing for linear systems:
//   M(q_th) (v - v_n) = h f(t_th, q_th, v_th) + G(q_th)^T La,   0 <= G(q_th) (v + e v_n) _|_ La >= 0
// In V = v_th and Q = q_th it is an implicit Euler step of th h: M(Q) (V - v_n) = th h f(Q, V) + G(Q)^T (th La) with
// 0 <= G(Q) (V + (th e - 1 + th) v_n).

#include "core/loop.h"
#include "schemes/common.h"
#include "step/projection.h"

#include <math.h>

enum { FORCES_END, FORCES_MIDPOINT };
static const char *const moreau_forces[] = { "end", "midpoint", NULL };
enum { POSITIONS_THETA, POSITIONS_MIDPOINT };
static const char *const moreau_positions[] = { "theta", "midpoint", NULL };

typedef struct moreau_params {
    double theta, rho_inf;
    int forces, positions;
} moreau_params;

static const pcs_option moreau_options[] = {
    PCS_REAL("theta", moreau_params, theta, PCS_OPTIONAL, PCS_WITHIN(0.5, 1.0),
             "weight of the end of the step; give this or rho_inf"),
    PCS_REAL("rho_inf", moreau_params, rho_inf, PCS_OPTIONAL, PCS_ZERO_TO_ONE, "theta = 1/(1 + rho_inf)"),
    PCS_CHOICE("forces", moreau_params, forces, PCS_DEFAULT("end"), moreau_forces,
               "forces, mass and contact directions of systems that vary: both ends weighed, or between them"),
    PCS_CHOICE("positions", moreau_params, positions, PCS_DEFAULT("theta"), moreau_positions,
               "velocity that moves the positions: v_theta, or the mean, which never gains energy"),
    { 0 },
};

enum { HISTORY_VD };

typedef struct moreau_memory {
    double resultant[3]; // N, of f at the start of the step
} moreau_memory;

// One pass over the vectors of a step.
typedef struct moreau_pass {
    const pcs_scheme *scheme;
    const double *q, *v, *vd;
    double *q_new, *v_new;
    double old, q_old, q_fresh; // weights of the prediction
    double vd_of_d;
} moreau_pass;

typedef struct moreau {
    pcs_next next;
    pcs_step_form form; // of steps as long as the last one
    moreau_pass pass;   // of the step under way, weights likewise
    double theta;
    double move;  // weight of the end of the step in the velocity that moves positions: theta or 1/2
    bool goes_on; // accelerations of the step before are where the iteration of this one begins
} moreau;

static const char *moreau_check(const void *params, const char **option)
{
    const moreau_params *p = params;
    *option = "theta";
    if (isnan(p->theta) && isnan(p->rho_inf)) return "give theta or rho_inf";
    return isnan(p->theta) || isnan(p->rho_inf) ? NULL : "theta and rho_inf say the same thing: give one of them";
}

static const char *moreau_refuses(const pcs_system *system, const void *params)
{
    if (((const moreau_params *)params)->forces != FORCES_MIDPOINT || system->is_linear) return NULL;
    if (system->row_set.ndriven > 0) return "forces between the ends do not go with prescribed motions";
    if (!system->rotations.are_somewhere) return NULL;
    return "forces between the ends take positions that add up; finite rotations do not";
}

static pcs_status moreau_setup(pcs_scheme *self)
{
    moreau *s = self->data;
    const moreau_params *p = self->params;
    s->theta = isnan(p->theta) ? 1.0 / (1.0 + p->rho_inf) : p->theta;
    s->move = p->positions == POSITIONS_MIDPOINT ? 0.5 : s->theta;
    s->goes_on = pcs_goes_on(self->system, (1.0 - s->theta) / s->theta);
    return pcs_next_create(self, &s->next);
}

static pcs_status moreau_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    moreau *s = self->data;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_free_acceleration(self, x->t, x->q, x->v, x->history[HISTORY_VD]);
    pcs_system_resultant(self->system, pcs_at(x->t, x->q, x->v), ((moreau_memory *)x->memory)->resultant);
    pcs_start_report(self, x, &s->next, report);
    return PCS_OK;
}

// v~0 = v_n + h (1 - th) vd_n and q~0 = q_n + h (1 - th) v_n + h th v~0 (with 1/2 for th in the positions, if so)
PCS_WIDE static void moreau_predict_range(void *data, int range, int low, int high)
{
    const moreau_pass p = *(const moreau_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        double prediction = p.v[i] + p.old * p.vd[i];
        p.v_new[i] = prediction;
        p.q_new[i] = p.q[i] + (p.q_old * p.v[i] + p.q_fresh * prediction);
    }
}

static void moreau_finish_slice(void *data, int slice, int low, int high)
{
    const moreau_pass *p = data;
    pcs_next_sum(p->scheme, p->scheme->data, slice, low, high);
}

// The form and the weights of steps of length h.
static void moreau_weigh(moreau *s, double h)
{
    s->form =
        (pcs_step_form){ .h = h, .c = 1.0 / s->theta, .kb = h * s->move, .kw = h * s->move, .has_dynamics = true };
    s->pass = (moreau_pass){
        .old = h * (1.0 - s->theta), .q_old = h * (1.0 - s->move), .q_fresh = h * s->move, .vd_of_d = s->form.c / h
    };
}

static void moreau_set_passes(const pcs_scheme *self, const pcs_state *x, pcs_step_problem *problem)
{
    moreau *s = self->data;
    s->pass.scheme = self;
    s->pass.q = x->q;
    s->pass.v = x->v;
    s->pass.vd = x->history[HISTORY_VD];
    s->pass.q_new = s->next.q;
    s->pass.v_new = s->next.v;
    pcs_next_await_sums(self, &s->next, x, s->theta != 0.5);
    problem->predict = moreau_predict_range;
    problem->finish = s->next.takes_sums ? moreau_finish_slice : NULL;
    problem->passes = &s->pass;
    problem->vd_of_d = s->pass.vd_of_d;
}

static double moreau_numerical_loss(pcs_scheme *self, const pcs_state *x)
{
    moreau *s = self->data;
    const pcs_system *system = self->system;
    if (s->theta == 0.5 || !system->is_linear) return 0.0; // not needed, or not to be had
    pcs_change change = pcs_next_change(self, &s->next, x);
    if (s->move != s->theta) change.mass_norm2 = 0.0;
    return (s->theta - 0.5) * (change.mass_norm2 + change.stiffness_norm2);
}

static void moreau_report(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    moreau *s = self->data;
    const pcs_system *system = self->system;
    double h = report->h, resultant[3], *last = ((moreau_memory *)x->memory)->resultant;
    pcs_next_report_rows(self, x, &s->next, s->move, report);
    pcs_system_resultant(system, pcs_at(x->t + h, s->next.q, s->next.v), resultant);
    PCS_INDEPENDENT
    for (int k = 0; k < 3; k++) {
        report->smooth_impulse[k] = h * ((1.0 - s->theta) * last[k] + s->theta * resultant[k]);
        last[k] = resultant[k];
    }
    report->external_work += (1.0 - s->theta) * pcs_load_work(system, x->t, x->q, s->next.q) +
                             s->theta * pcs_load_work(system, x->t + h, x->q, s->next.q);
    const pcs_ends ends = { .q = s->next.q, .v = s->next.v, .q0 = x->q, .v0 = x->v };
    report->damping_loss = pcs_damping_work(self, &s->next, &ends, h, s->theta);
    report->numerical_loss += moreau_numerical_loss(self, x);
}

static bool moreau_solve(pcs_scheme *self, pcs_step_problem *problem, pcs_step_report *report)
{
    pcs_step_result result;
    pcs_step_solve(self->solver, problem, &result);
    report->outcome = result.outcome;
    report->iterations = result.iterations;
    return result.outcome == PCS_CONVERGED;
}

// Q and V predicted; targets become factors of G(Q) v_n.
static void moreau_predict_between(pcs_scheme *self, const pcs_state *x, double h)
{
    moreau *s = self->data;
    const pcs_system *system = self->system;
    for (int i = 0; i < system->nv; i++) {
        s->next.v[i] = x->v[i];
        s->next.q[i] = x->q[i] + s->theta * h * x->v[i];
    }
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        s->next.target[j] = s->theta * (row->is_bilateral ? 0.0 : row->restitution) - (1.0 - s->theta);
        for (int t = row->first_tangent; t < row->first_tangent + row->ntangent; t++)
            s->next.target_t[t] = s->theta * row->tangent_restitution - (1.0 - s->theta);
    }
}

// From Q and V to the end of the step; directions stand at Q.
static void moreau_extrapolate(pcs_scheme *self, const pcs_state *x)
{
    moreau *s = self->data;
    const pcs_system *system = self->system;
    double theta = s->theta, old = 1.0 - theta;
    for (int i = 0; i < system->nv; i++) {
        s->next.v[i] = (s->next.v[i] - old * x->v[i]) / theta;
        s->next.q[i] = (s->next.q[i] - old * x->q[i]) / theta;
    }
    for (int j = 0; j < system->nrow; j++) {
        s->next.la[j] /= theta;
        s->next.rate_before[j] = (s->next.rate_before[j] - old * pcs_system_rate(system, j, x->v)) / theta;
    }
    for (int t = 0; t < system->ntangent; t++) s->next.la_t[t] /= theta;
    pcs_next_targets(self, &s->next, x->v);
}

static pcs_status moreau_step_between(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    moreau *s = self->data;
    pcs_step_form form = { .h = s->theta * h, .c = 1.0, .kb = s->move * h, .kw = s->move * h, .has_dynamics = true };
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_step_solver_prepare(self->solver, &form, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_next_foresee(self, &s->next, x, h, s->move);
    moreau_predict_between(self, x, h);
    pcs_step_problem problem = pcs_next_problem(self, &s->next, x, x->t + s->theta * h);
    problem.target_velocity = x->v;
    if (!moreau_solve(self, &problem, report)) return PCS_OK;
    double resultant[3]; // of the forces that acted, which nonlinear ones at the ends do not tell
    pcs_system_resultant(self->system, pcs_at(x->t + s->theta * h, s->next.q, s->next.v), resultant);
    double power = pcs_system_damping_power(self->system, pcs_at(x->t + s->theta * h, s->next.q, s->next.v), NULL);
    moreau_extrapolate(self, x);
    if (!pcs_next_measure(self, x, &s->next, report)) return PCS_OK;
    moreau_report(self, x, report);
    report->damping_loss = h * power;
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = h * resultant[k];
    pcs_next_accept(self, &s->next, x, report);
    return PCS_OK;
}

static pcs_status moreau_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    moreau *s = self->data;
    if (((const moreau_params *)self->params)->forces == FORCES_MIDPOINT && !self->system->is_linear)
        return moreau_step_between(self, x, h, report);
    if (s->form.h != h) moreau_weigh(s, h);
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_step_solver_prepare(self->solver, &s->form, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    pcs_next_foresee(self, &s->next, x, h, s->move);
    pcs_step_problem problem = pcs_next_problem(self, &s->next, x, x->t + h);
    moreau_set_passes(self, x, &problem);
    if (s->goes_on) problem.acceleration = x->history[HISTORY_VD];
    if (!moreau_solve(self, &problem, report) || !pcs_next_measure(self, x, &s->next, report)) return PCS_OK;

    moreau_report(self, x, report);
    double *vd = s->next.d;
    s->next.d = x->history[HISTORY_VD];
    x->history[HISTORY_VD] = vd;
    pcs_next_accept(self, &s->next, x, report);
    return PCS_OK;
}

static void moreau_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const moreau_params *p = self->params;
    bool is_between = p->forces == FORCES_MIDPOINT && !self->system->is_linear;
    *rule = pcs_rule_of(is_between ? PCS_RULE_BETWEEN : PCS_RULE_THETA);
    rule->theta = isnan(p->theta) ? 1.0 / (1.0 + p->rho_inf) : p->theta;
    rule->move = p->positions == POSITIONS_MIDPOINT ? 0.5 : rule->theta;
    rule->rate = is_between ? PCS_RATE_NONE : PCS_RATE_START;
    rule->gate = PCS_GATE_FORESEEN;
}

const pcs_scheme_ops pcs_scheme_moreau_jean = {
    .name = "moreau_jean",
    .summary = "Moreau-Jean theta scheme, contact at velocity level; robust, penetrates by O(h)",
    .options = moreau_options,
    .params_size = sizeof(moreau_params),
    .data_size = sizeof(moreau),
    .nhistory = 1,
    .nresultant = 1,
    .memory_size = sizeof(moreau_memory),
    .has_closed_loss = true,
    .check = moreau_check,
    .takes_internal = true,
    .refuses = moreau_refuses,
    .takes_rotations = true,
    .state_rule = moreau_state_rule,
    .takes_dealt_rows = true,
    .setup = moreau_setup,
    .start = moreau_start,
    .step = moreau_step,
};
