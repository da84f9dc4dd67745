// Nonsmooth schemes of the generalized-alpha family with all constraints at velocity level: Newmark, HHT (Hilber,
// Hughes, Taylor 1977) and generalized-alpha.
// Chen, Acary, Virlez, Bruls: A nonsmooth generalized-alpha scheme for flexible multibody systems with unilateral
// constraints, Int. J. Numer. Meth. Engng 96 (2013).
// Acary: lecture slides on numerical methods for nonsmooth mechanical systems.
//
//   M vd = f(q, v, t) + Gb^T lam,   Gb vt = 0            smooth motion with the forces of joints
//   M W = G^T La,   0 <= G v + e G v_n _|_ La >= 0  if  g(q_n) + (h/2) G v_n <= 0,  else La = 0;  G v = 0 on joints
//   M U = G^T nu,   G U = -(h^2/2) (2 be - ga) G (a - a_n) on contacts that were loaded in one of the last 8 steps,
//                   with their tangents, Gb U = 0, nu = 0 elsewhere
//   q = qt + (h/2) W + U,   v = vt + W                   qt, vt: alpha_family.h, energy: alpha_family.c
//
// `variant: published` has no lam and no U. Then q - q_n = (h/2) (v_n + v) + (h^2/2) (2 be - ga) (a - a_n), and since a
// knows no forces of rows, a row that holds the force F gives way like a spring, by (h^2/2) (2 be - ga) F/m_eff.

#include "schemes/alpha_family.h"
#include "step/projection.h"

enum { VARIANT_HELD, VARIANT_PUBLISHED };
static const char *const velocity_variants[] = { "held", "published", NULL };

#define VELOCITY_VARIANT(type)                                                   \
    PCS_CHOICE("variant", type, variant, PCS_DEFAULT("held"), velocity_variants, \
               "published: joints and lasting contacts give way by (h^2/2) (2 beta - gamma) F/m, as in the papers")

static pcs_rule velocity_rule(int variant)
{
    pcs_rule rule = pcs_rule_of(PCS_RULE_ALPHA);
    rule.normal_way = rule.tangent_way = 0.5;
    rule.has_smooth_joints = rule.has_correction = rule.holds = variant == VARIANT_HELD;
    rule.rate = PCS_RATE_START;
    rule.gate = PCS_GATE_FORESEEN;
    return rule;
}

// Takes the memory of a scheme whose parameters are set.
static pcs_status velocity_setup(pcs_scheme *self, int variant)
{
    pcs_alpha *s = self->data;
    s->holds = variant == VARIANT_HELD && 2.0 * s->be > s->ga;
    PCS_TRY(pcs_alpha_setup(self, s));
    if (variant == VARIANT_HELD && pcs_system_has_joints(self->system)) s->lam = s->next.lam;
    return PCS_OK;
}

static pcs_status velocity_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_alpha *s = self->data;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    if (s->lam == NULL) pcs_free_acceleration(self, x->t, x->q, x->v, x->history[PCS_ALPHA_VD]);
    else pcs_joint_acceleration(self, &s->next, x->t, x->q, x->v, x->history[PCS_ALPHA_VD]);
    pcs_alpha_start(self, s, x);
    pcs_start_report(self, x, &s->next, report);
    pcs_alpha_start_contacts(self, report, x);
    return PCS_OK;
}

static pcs_status velocity_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_alpha *s = self->data;
    pcs_step_form form = pcs_alpha_form(s, h);
    form.kw = 0.5 * h;
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_step_solver_prepare(self->solver, &form, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    pcs_next_foresee(self, &s->next, x, h, 0.5);
    pcs_alpha_hold(self, s, x, h);
    pcs_step_problem problem = pcs_next_problem(self, &s->next, x, x->t + h);
    pcs_alpha_set_passes(self, s, x, h, &problem);
    if (s->goes_on) problem.acceleration = x->history[PCS_ALPHA_VD];
    pcs_step_result result;
    pcs_step_solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations = result.iterations;
    if (result.outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &s->next, report)) return PCS_OK;

    pcs_next_report_rows(self, x, &s->next, 0.5, report);
    pcs_alpha_book(self, s, x, s->next.v, report);
    report->numerical_loss -= pcs_alpha_book_joints(self, s, x, report);
    pcs_alpha_memory now;
    pcs_alpha_balance(self, s, x, h, &now, report->smooth_impulse);
    pcs_alpha_accept(s, x, &now);
    pcs_next_accept(self, &s->next, x, report);
    return PCS_OK;
}

#define VELOCITY_COMMON                                                                                         \
    .data_size = sizeof(pcs_alpha), .nhistory = PCS_ALPHA_NHISTORY, .nrow_history = PCS_ALPHA_NROW_HISTORY,     \
    .nresultant = 2, .memory_size = sizeof(pcs_alpha_memory), .has_closed_loss = true, .takes_rotations = true, \
    .takes_internal = true, .takes_dealt_rows = true, .start = velocity_start, .step = velocity_step

// Newmark: am = af = 0, so that a = vd.
// Its dissipation in terms of a stored energy, without loads (slides, eq. 95, with h^2/2 where they print h/2):
//   S = E + (h^2/4) (2 be - ga) a . M a
//   dS = La . G (v_n + v)/2 - (ga - 1/2) (|dq|^2_K + (h^2/2) (2 be - ga) |da|^2_M)
typedef struct newmark_params {
    double gamma, beta;
    int variant;
} newmark_params;

static const pcs_option newmark_options[] = {
    PCS_REAL("gamma", newmark_params, gamma, PCS_DEFAULT("0.5"), PCS_WITHIN(0.5, 1.0),
             "weight of the new acceleration in the velocity: 0.5 for order 2, more dissipates"),
    PCS_REAL("beta", newmark_params, beta, PCS_OPTIONAL, PCS_WITHIN(0.25, 1.0),
             "weight of the new acceleration in the position, at least gamma/2; by default (gamma + 1/2)^2/4"),
    VELOCITY_VARIANT(newmark_params),
    { 0 },
};

static const char *newmark_check(const void *params, const char **option)
{
    const newmark_params *p = params;
    *option = "beta";
    return p->beta < 0.5 * p->gamma ? "beta must be >= gamma/2: the scheme is stable at any step only there" : NULL;
}

static pcs_status newmark_setup(pcs_scheme *self)
{
    const newmark_params *p = self->params;
    pcs_alpha_of_newmark(self->data, p->gamma, p->beta);
    return velocity_setup(self, p->variant);
}

static void newmark_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const newmark_params *p = self->params;
    *rule = velocity_rule(p->variant);
    rule->gamma = p->gamma;
    rule->beta = p->beta;
}

const pcs_scheme_ops pcs_scheme_newmark = {
    .name = "newmark",
    .summary = "nonsmooth Newmark, contact at velocity level; penetrates by O(h)",
    .options = newmark_options,
    .params_size = sizeof(newmark_params),
    .check = newmark_check,
    .state_rule = newmark_state_rule,
    .setup = newmark_setup,
    VELOCITY_COMMON,
};

// HHT: M a = (1 - al) f(q, v, t) + al f_n,   ga = 1/2 + al,   be = (1 + al)^2/4
// Its dissipation in terms of a stored energy, with w = (q - q_n)/2 and without loads (slides, eqs. 103 and 104; q_n-1
// enters through w_n):
//   H = E + (h^2/4) (2 be - ga) a . M a + 2 al (1 - ga) w . K w
//   dH = La . G (v_n + v)/2 - (h^2/2) al (2 be - ga) |da|^2_M - al (1 - 2 al) |dw|^2_K
typedef struct hht_params {
    double alpha;
    int variant;
} hht_params;

static const pcs_option hht_options[] = {
    PCS_REAL("alpha", hht_params, alpha, PCS_DEFAULT("0.1"), PCS_WITHIN(0.0, 1.0 / 3.0),
             "weight of the old forces: 0 dissipates nothing, 1/3 most"),
    VELOCITY_VARIANT(hht_params),
    { 0 },
};

static pcs_status hht_setup(pcs_scheme *self)
{
    pcs_alpha *s = self->data;
    const hht_params *p = self->params;
    double alpha = p->alpha;
    s->am = 0.0;
    s->af = alpha;
    s->ga = 0.5 + alpha;
    s->be = 0.25 * (1.0 + alpha) * (1.0 + alpha);
    return velocity_setup(self, p->variant);
}

static void hht_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const hht_params *p = self->params;
    *rule = velocity_rule(p->variant);
    rule->lag = p->alpha;
}

const pcs_scheme_ops pcs_scheme_hht = {
    .name = "hht",
    .summary = "nonsmooth HHT, contact at velocity level; order 2 with dissipation, penetrates by O(h)",
    .options = hht_options,
    .params_size = sizeof(hht_params),
    .state_rule = hht_state_rule,
    .setup = hht_setup,
    VELOCITY_COMMON,
};

// Generalized-alpha: the parameters of a spectral radius at high frequency.
typedef struct alpha_params {
    double rho_inf;
    int variant;
} alpha_params;

static const pcs_option alpha_options[] = {
    PCS_REAL("rho_inf", alpha_params, rho_inf, PCS_DEFAULT("0.8"), PCS_ZERO_TO_ONE,
             "spectral radius at high frequency: 1 keeps, 0 kills"),
    VELOCITY_VARIANT(alpha_params),
    { 0 },
};

static pcs_status alpha_setup(pcs_scheme *self)
{
    const alpha_params *p = self->params;
    pcs_alpha_of_radius(self->data, p->rho_inf);
    return velocity_setup(self, p->variant);
}

static void alpha_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const alpha_params *p = self->params;
    *rule = velocity_rule(p->variant);
    rule->radius = p->rho_inf;
}

const pcs_scheme_ops pcs_scheme_alpha_velocity = {
    .name = "alpha_velocity",
    .summary = "nonsmooth generalized-alpha, contact at velocity level; keeps energy well, penetrates by O(h)",
    .options = alpha_options,
    .params_size = sizeof(alpha_params),
    .state_rule = alpha_state_rule,
    .setup = alpha_setup,
    VELOCITY_COMMON,
};
