// Nonsmooth generalized-alpha scheme with constraints at position and velocity level (GGL).
// Bruls, Acary, Cardona: Simultaneous enforcement of constraints at position and velocity levels in the
// nonsmooth generalized-alpha scheme, CMAME 281 (2014), eqs. 29-31.
//
//   M vd = f(q, v, t)                                          smooth motion, free of contact forces
//   M U = G^T nu,   0 <= g(q) _|_ nu >= 0                      position correction
//   M W = G^T La,   0 <= G v + e G v_n _|_ La >= 0 if g(qt) <= 0 or nu > 0   velocity jump
//   qt = q_n + h v_n + h^2 (1/2 - be) a_n + h^2 be a           q = qt + U
//   vt = v_n + h (1 - ga) a_n + h ga a                         v = vt + W
//   (1 - am) a + am a_n = (1 - af) vd + af vd_n
//
//   am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), ga = 1/2 + af - am, be = (ga + 1/2)^2/4
//
// Prediction and correction: implicit.h.
//
// `modified_lcp` states the position law for the multiplier that the velocity jump leaves over (eqs. 25 and 27 there):
//   0 <= g(q) _|_ nu - h La >= 0,   that is   U = U' + h W,  M U' = G^T nu',  0 <= g(q) _|_ nu' >= 0
// It chatters, as the paper says: a contact in which La > h nu holds flies off. Only to show that.
//
// Energy: there is no closed dissipation formula; what the ledger does not explain otherwise is the remainder.

#include "schemes/implicit.h"

enum { VARIANT_GGL, VARIANT_MODIFIED_LCP };
static const char *const ggl_variants[] = { "ggl", "modified_lcp", NULL };

typedef struct ggl_params {
    double rho_inf;
    int variant;
} ggl_params;

static const pcs_option ggl_options[] = {
    PCS_REAL("rho_inf", ggl_params, rho_inf, PCS_DEFAULT("0.8"), PCS_ZERO_TO_ONE,
             "spectral radius at high frequency: 1 without numerical damping, 0 with most"),
    PCS_CHOICE("variant", ggl_params, variant, PCS_DEFAULT("ggl"), ggl_variants,
               "modified_lcp: published variant whose contacts chatter, for comparison"),
    { 0 },
};

static const char *ggl_refuses(const pcs_system *system, const void *params)
{
    if (((const ggl_params *)params)->variant != VARIANT_MODIFIED_LCP) return NULL;
    bool has_friction = false;
    for (int j = 0; j < system->nrow; j++) has_friction = has_friction || system->rows[j].friction != 0.0;
    return pcs_rows_any(system, has_friction) ? "'variant: modified_lcp' does not take friction; use 'variant: ggl'"
                                              : NULL;
}

static pcs_status ggl_setup(pcs_scheme *self)
{
    const ggl_params *p = self->params;
    bool is_modified = p->variant == VARIANT_MODIFIED_LCP;
    self->rule.w = pcs_weights_of_radius(p->rho_inf);
    self->rule.impulse_weight = is_modified ? 1.0 : 0.0;
    self->rule.gains_energy = is_modified;
    return pcs_implicit_setup(self);
}

const pcs_scheme_ops pcs_scheme_alpha_ggl = {
    .name = "alpha_ggl",
    .summary = "nonsmooth generalized-alpha, gap and gap velocity both enforced; no penetration",
    .options = ggl_options,
    .params_size = sizeof(ggl_params),
    .data_size = sizeof(pcs_implicit),
    PCS_IMPLICIT_KEEPS,
    .rule = { .kind = PCS_RULE_IMPLICIT,
              .move = 0.5,
              .tangent_impulse_weight = 0.5,
              .position = PCS_POSITION_CORRECTED,
              .rate = PCS_RATE_START },
    .takes = PCS_TAKES_ROTATIONS | PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .refuses = ggl_refuses,
    .setup = ggl_setup,
    .start = pcs_implicit_start,
    .step = pcs_implicit_step,
};
