// Smooth generalized-alpha scheme with constraints at position level (index 3), for comparison: impacts are not
// foreseen. Arnold, Bruls: Convergence of the generalized-alpha scheme for constrained mechanical systems, Multibody
// Syst. Dyn. 18 (2007); with contact as in Bruls, Acary, Cardona (2014), eqs. 51 and 52.
//
//   M vd = f(q, v, t) + G^T lam,   g_b(q) = 0,   0 <= g_u(q) _|_ lam_u >= 0
//   q = q_n + h v_n + h^2 (1/2 - be) a_n + h^2 be a,     v = v_n + h (1 - ga) a_n + h ga a
//   (1 - am) a + am a_n = (1 - af) vd + af vd_n
//
// With La = (h/c) lam the forces act like velocity jumps that share the kinematics of d: c M d = h f, M W = G^T La,
// v = vt0 + d + W, q = qt0 + kb (d + W), and vd = (c/h) (d + W). The law of La is 0 <= g(q)/kb, which for linear
// systems is G v + target with target = g(qt0)/kb - G vt0.
//
// There is no impact law and no restitution: where a contact closes, the velocity of the gap is left to itself and the
// scheme gains energy. The filter also spreads a contact force over later steps: step_impulse is h times what the
// velocity formula makes of the filtered force, which may last, weakly and of either sign, after the contact has
// opened.

#include "schemes/implicit.h"

typedef struct index3_params {
    double rho_inf;
} index3_params;

static const pcs_option index3_options[] = {
    PCS_REAL("rho_inf", index3_params, rho_inf, PCS_DEFAULT("0.8"), PCS_ZERO_TO_ONE,
             "spectral radius at high frequency: 1 without numerical damping, 0 with most"),
    { 0 },
};

static const char *index3_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    bool has_friction = false;
    for (int j = 0; j < system->nrow; j++) has_friction = has_friction || system->rows[j].friction != 0.0;
    return pcs_rows_any(system, has_friction) ? "it has no law at velocity level, which friction needs" : NULL;
}

static pcs_status index3_setup(pcs_scheme *self)
{
    self->rule.w = pcs_weights_of_radius(((const index3_params *)self->params)->rho_inf);
    return pcs_implicit_setup(self);
}

const pcs_scheme_ops pcs_scheme_alpha_index3 = {
    .name = "alpha_index3",
    .summary = "smooth generalized-alpha, gap enforced alone: gains energy at impacts; for comparison",
    .options = index3_options,
    .params_size = sizeof(index3_params),
    .data_size = sizeof(pcs_implicit),
    PCS_IMPLICIT_KEEPS,
    .rule = { .kind = PCS_RULE_IMPLICIT, .move = 0.5, .position = PCS_POSITION_FORCE, .gains_energy = true },
    .takes = PCS_TAKES_DISTRIBUTED_ROWS,
    .refuses = index3_refuses,
    .needs_equal_steps =
        "at index 3 a change of the step disturbs the contact forces by an error of positions over h^2",
    .setup = index3_setup,
    .start = pcs_implicit_start,
    .step = pcs_implicit_step,
};
