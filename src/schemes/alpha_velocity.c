// Nonsmooth schemes of the generalized-alpha family with all constraints at velocity level: Newmark, HHT (Hilber,
// Hughes, Taylor 1977) and generalized-alpha.
// Chen, Acary, Virlez, Bruls: A nonsmooth generalized-alpha scheme for flexible multibody systems with unilateral
// constraints, Int. J. Numer. Meth. Engng 96 (2013).
// Acary: lecture slides on numerical methods for nonsmooth mechanical systems.
//
//   M vd = f(q, v, t) + Gb^T lam,   Gb vt = 0            smooth motion with the forces of joints
//   M W = G^T La,   0 <= G v + e G v_n _|_ La >= 0  if  g(q_n) + (h/2) G v_n <= 0,  else La = 0;  G v = 0 on joints
//   M U = G^T nu,   G U = -(h^2/2) (2 be - ga) G (a - a_n) on contacts that were loaded in one of the last 8 steps,
//                   with their tangents, and on joints if there are any such contacts; nu = 0 elsewhere
//   q = qt + (h/2) W + U,   v = vt + W                   qt, vt: rule.h, energy: implicit.c
//
// `variant: published` has no lam and no U. Then q - q_n = (h/2) (v_n + v) + (h^2/2) (2 be - ga) (a - a_n), and since a
// knows no forces of rows, a row that holds the force F gives way like a spring, by (h^2/2) (2 be - ga) F/m_eff.

#include "schemes/implicit.h"

enum { VARIANT_HELD, VARIANT_PUBLISHED };
static const char *const velocity_variants[] = { "held", "published", NULL };

typedef struct velocity_params {
    double gamma, beta, alpha, rho_inf; // of the scheme that has them
    int variant;
} velocity_params;

#define VELOCITY_VARIANT                                                                    \
    PCS_CHOICE("variant", velocity_params, variant, PCS_DEFAULT("held"), velocity_variants, \
               "published: as in the papers, joints and lasting contacts yield by (h^2/2) (2 beta - gamma) F/m")

static pcs_status velocity_setup(pcs_scheme *self, pcs_weights w)
{
    self->rule.w = w;
    if (((const velocity_params *)self->params)->variant == VARIANT_PUBLISHED) self->rule.position = PCS_POSITION_FREE;
    return pcs_implicit_setup(self);
}

#define VELOCITY_COMMON                                                                                           \
    .params_size = sizeof(velocity_params), .data_size = sizeof(pcs_implicit), PCS_IMPLICIT_KEEPS,                \
    .rule = { .kind = PCS_RULE_IMPLICIT,                                                                          \
              .move = 0.5,                                                                                        \
              .impulse_weight = 0.5,                                                                              \
              .tangent_impulse_weight = 0.5,                                                                      \
              .position = PCS_POSITION_HELD,                                                                      \
              .rate = PCS_RATE_START,                                                                             \
              .gate = PCS_GATE_FORESEEN },                                                                        \
    .takes = PCS_TAKES_ROTATIONS | PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS, .start = pcs_implicit_start, \
    .step = pcs_implicit_step

// Newmark: am = af = 0, so that a = vd.
// Its dissipation in terms of a stored energy, without loads (slides, eq. 95, with h^2/2 where they print h/2):
//   S = E + (h^2/4) (2 be - ga) a . M a
//   dS = La . G (v_n + v)/2 - (ga - 1/2) (|dq|^2_K + (h^2/2) (2 be - ga) |da|^2_M)
static const pcs_option newmark_options[] = {
    PCS_REAL("gamma", velocity_params, gamma, PCS_DEFAULT("0.5"), PCS_WITHIN(0.5, 1.0),
             "weight of the new acceleration in the velocity: 0.5 for order 2, more dissipates"),
    PCS_REAL("beta", velocity_params, beta, PCS_OPTIONAL, PCS_WITHIN(0.25, 1.0),
             "weight of the new acceleration in the position, at least gamma/2; by default (gamma + 1/2)^2/4"),
    VELOCITY_VARIANT,
    { 0 },
};

static const char *newmark_check(const void *params, const char **option)
{
    const velocity_params *p = params;
    *option = "beta";
    return p->beta < 0.5 * p->gamma ? "beta must be >= gamma/2: the scheme is stable at any step only there" : NULL;
}

static pcs_status newmark_setup(pcs_scheme *self)
{
    const velocity_params *p = self->params;
    return velocity_setup(self, pcs_weights_of_newmark(p->gamma, p->beta));
}

const pcs_scheme_ops pcs_scheme_newmark = {
    .name = "newmark",
    .summary = "nonsmooth Newmark, contact at velocity level; penetrates by O(h)",
    .options = newmark_options,
    .check = newmark_check,
    .setup = newmark_setup,
    VELOCITY_COMMON,
};

// HHT: M a = (1 - al) f(q, v, t) + al f_n,   ga = 1/2 + al,   be = (1 + al)^2/4
// Its dissipation in terms of a stored energy, with w = (q - q_n)/2 and without loads (slides, eqs. 103 and 104; q_n-1
// enters through w_n):
//   H = E + (h^2/4) (2 be - ga) a . M a + 2 al (1 - ga) w . K w
//   dH = La . G (v_n + v)/2 - (h^2/2) al (2 be - ga) |da|^2_M - al (1 - 2 al) |dw|^2_K
static const pcs_option hht_options[] = {
    PCS_REAL("alpha", velocity_params, alpha, PCS_DEFAULT("0.1"), PCS_WITHIN(0.0, 1.0 / 3.0),
             "weight of the old forces: 0 dissipates nothing, 1/3 most"),
    VELOCITY_VARIANT,
    { 0 },
};

static pcs_status hht_setup(pcs_scheme *self)
{
    const velocity_params *p = self->params;
    double al = p->alpha;
    pcs_weights w = { .af = al, .ga = 0.5 + al, .be = 0.25 * (1.0 + al) * (1.0 + al) };
    return velocity_setup(self, w);
}

const pcs_scheme_ops pcs_scheme_hht = {
    .name = "hht",
    .summary = "nonsmooth HHT, contact at velocity level; order 2 with dissipation, penetrates by O(h)",
    .options = hht_options,
    .setup = hht_setup,
    VELOCITY_COMMON,
};

// Generalized-alpha: the parameters of a spectral radius at high frequency.
static const pcs_option alpha_options[] = {
    PCS_REAL("rho_inf", velocity_params, rho_inf, PCS_DEFAULT("0.8"), PCS_ZERO_TO_ONE,
             "spectral radius at high frequency: 1 without numerical damping, 0 with most"),
    VELOCITY_VARIANT,
    { 0 },
};

static pcs_status alpha_setup(pcs_scheme *self)
{
    const velocity_params *p = self->params;
    return velocity_setup(self, pcs_weights_of_radius(p->rho_inf));
}

const pcs_scheme_ops pcs_scheme_alpha_velocity = {
    .name = "alpha_velocity",
    .summary = "nonsmooth generalized-alpha, contact at velocity level; keeps energy well, penetrates by O(h)",
    .options = alpha_options,
    .setup = alpha_setup,
    VELOCITY_COMMON,
};
