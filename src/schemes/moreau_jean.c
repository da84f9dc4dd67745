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

#include "schemes/implicit.h"

#include <math.h>

enum { POSITIONS_THETA, POSITIONS_MIDPOINT };
static const char *const moreau_positions[] = { "theta", "midpoint", NULL };

typedef struct moreau_params {
    double theta, rho_inf;
    int positions;
} moreau_params;

static const pcs_option moreau_options[] = {
    PCS_REAL("theta", moreau_params, theta, PCS_OPTIONAL, PCS_WITHIN(0.5, 1.0),
             "weight of the end of the step, 1: implicit Euler; give this or rho_inf"),
    PCS_REAL("rho_inf", moreau_params, rho_inf, PCS_OPTIONAL, PCS_ZERO_TO_ONE, "theta = 1/(1 + rho_inf)"),
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

static pcs_status moreau_setup(pcs_scheme *self)
{
    const moreau_params *p = self->params;
    pcs_rule *rule = &self->rule;
    double theta = isnan(p->theta) ? 1.0 / (1.0 + p->rho_inf) : p->theta;
    rule->move = rule->impulse_weight = rule->tangent_impulse_weight = p->positions == POSITIONS_MIDPOINT ? 0.5 : theta;
    rule->w = (pcs_weights){ .ga = theta, .be = rule->move * theta };
    return pcs_implicit_setup(self);
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
    .takes = PCS_TAKES_ROTATIONS | PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .check = moreau_check,
    .setup = moreau_setup,
    .start = pcs_implicit_start,
    .step = pcs_implicit_step,
};
