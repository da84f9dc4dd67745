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

#include "schemes/implicit.h"

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
             "weight of the end of the step, 1: implicit Euler; give this or rho_inf"),
    PCS_REAL("rho_inf", moreau_params, rho_inf, PCS_OPTIONAL, PCS_ZERO_TO_ONE, "theta = 1/(1 + rho_inf)"),
    PCS_CHOICE(
        "forces", moreau_params, forces, PCS_DEFAULT("end"), moreau_forces,
        "where nonlinear systems are evaluated: at both ends of the step, weighted, or at one state between them"),
    PCS_CHOICE("positions", moreau_params, positions, PCS_DEFAULT("theta"), moreau_positions,
               "velocity that moves the positions: v_theta, or the mean, whose impacts dissipate at any theta"),
    { 0 },
};

static const char *moreau_check(const void *params, const char **option)
{
    const moreau_params *p = params;
    *option = "theta";
    if (isnan(p->theta) && isnan(p->rho_inf)) return "give theta or rho_inf";
    return isnan(p->theta) || isnan(p->rho_inf) ? NULL : "theta and rho_inf set the same parameter: give one of them";
}

static const char *moreau_refuses(const pcs_system *system, const void *params)
{
    if (((const moreau_params *)params)->forces != FORCES_MIDPOINT || system->is_linear) return NULL;
    if (system->row_set.ndriven > 0) return "'forces: midpoint' cannot be used with prescribed motions";
    if (!system->rotations.are_somewhere) return NULL;
    return "'forces: midpoint' cannot be used with finite rotations in space";
}

static pcs_status moreau_setup(pcs_scheme *self)
{
    const moreau_params *p = self->params;
    pcs_rule *rule = &self->rule;
    double theta = isnan(p->theta) ? 1.0 / (1.0 + p->rho_inf) : p->theta;
    rule->move = rule->way = rule->tangent_way = p->positions == POSITIONS_MIDPOINT ? 0.5 : theta;
    rule->w = (pcs_weights){ .ga = theta, .be = rule->move * theta };
    if (p->forces == FORCES_MIDPOINT && !self->system->is_linear) {
        rule->kind = PCS_RULE_BETWEEN;
        rule->rate = PCS_RATE_NONE;
    }
    return pcs_implicit_setup(self);
}

// Predicts Q and V; targets become factors of G(Q) v_n.
static void moreau_predict_between(pcs_scheme *self, const pcs_state *x, double h)
{
    const pcs_next *next = &((const pcs_implicit *)self->data)->next;
    const pcs_system *system = self->system;
    double theta = self->rule.w.ga;
    for (int i = 0; i < system->nv; i++) {
        next->v[i] = x->v[i];
        next->q[i] = x->q[i] + theta * h * x->v[i];
    }
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double e = pcs_restitution(row, pcs_system_rate(system, j, x->v));
        next->target[j] = theta * e - (1.0 - theta);
        for (int t = row->first_tangent; t < row->first_tangent + row->ntangent; t++)
            next->target_t[t] = theta * row->tangent_restitution - (1.0 - theta);
    }
}

// Extrapolates from Q and V to the end of the step; directions are evaluated at Q.
static void moreau_extrapolate(pcs_scheme *self, const pcs_state *x)
{
    pcs_next *next = &((pcs_implicit *)self->data)->next;
    const pcs_system *system = self->system;
    double theta = self->rule.w.ga, old = 1.0 - theta;
    for (int i = 0; i < system->nv; i++) {
        next->v[i] = (next->v[i] - old * x->v[i]) / theta;
        next->q[i] = (next->q[i] - old * x->q[i]) / theta;
    }
    for (int j = 0; j < system->nrow; j++) {
        next->la[j] /= theta;
        next->rate_before[j] = (next->rate_before[j] - old * pcs_system_rate(system, j, x->v)) / theta;
    }
    for (int t = 0; t < system->ntangent; t++) next->la_t[t] /= theta;
    pcs_next_targets(self, next, x->v);
}

static pcs_status moreau_step_between(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_next *next = &((pcs_implicit *)self->data)->next;
    const pcs_system *system = self->system;
    double theta = self->rule.w.ga, move = self->rule.move, t = x->t + theta * h, resultant[3];
    pcs_step_form form = { .h = theta * h, .c = 1.0, .kb = move * h, .kw = move * h, .has_dynamics = true };
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_step_solver_prepare(self->solver, &form, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_next_foresee(self, next, x, h, move);
    moreau_predict_between(self, x, h);
    pcs_step_problem problem = pcs_next_problem(self, next, x, t);
    pcs_step_result result;
    problem.target_velocity = x->v;
    pcs_step_solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations = result.iterations;
    if (result.outcome != PCS_CONVERGED) return PCS_OK;
    // Resultant and damping of the forces that acted, which nonlinear ones at the ends do not tell.
    pcs_system_resultant(system, pcs_at(t, next->q, next->v), resultant);
    double power = pcs_system_damping_power(system, pcs_at(t, next->q, next->v), NULL);
    moreau_extrapolate(self, x);
    if (!pcs_next_measure(self, x, next, report)) return PCS_OK;
    pcs_next_report_rows(self, x, next, move, report);
    pcs_implicit_book(self, x, next->v, report);
    report->damping_loss = h * power;
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = h * resultant[k];
    pcs_next_accept(self, next, x, report);
    return PCS_OK;
}

static pcs_status moreau_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    bool is_between = self->rule.kind == PCS_RULE_BETWEEN;
    return is_between ? moreau_step_between(self, x, h, report) : pcs_implicit_step(self, x, h, report);
}

const pcs_scheme_ops pcs_scheme_moreau_jean = {
    .name = "moreau_jean",
    .summary = "Moreau-Jean theta scheme, contact at velocity level; robust, penetrates by O(h)",
    .options = moreau_options,
    .params_size = sizeof(moreau_params),
    .data_size = sizeof(pcs_implicit),
    .nhistory = 1,
    .nresultant = 2,
    .memory_size = sizeof(pcs_implicit_memory),
    .rule = { .kind = PCS_RULE_IMPLICIT, .rate = PCS_RATE_START, .gate = PCS_GATE_FORESEEN },
    .takes = PCS_TAKES_ROTATIONS | PCS_TAKES_MATERIALS | PCS_TAKES_DEALT_ROWS,
    .check = moreau_check,
    .refuses = moreau_refuses,
    .setup = moreau_setup,
    .start = pcs_implicit_start,
    .step = moreau_step,
};
