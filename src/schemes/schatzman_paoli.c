// Schatzman-Paoli scheme: central differences with the contact law on a mean of two positions.
// Paoli, Schatzman: A numerical scheme for impact problems, SIAM J. Numer. Anal. 40 (2002); as in Acary's lecture
// slides on numerical methods for nonsmooth mechanical systems, eqs. 42-43.
//
//   M (q_{n+1} - 2 q_n + q_{n-1}) = h^2 f(t_n, q_n, v_n) + h G^T La,     v_n = (q_n - q_{n-1})/h
//   0 <= g(z) _|_ La >= 0,   z = (q_{n+1} + e q_{n-1})/(1 + e)
//
// In velocities of the steps, with the contact law made linear about z without contact, M and G at q_n:
//   v_{n+1} = v_n + h a + X La,   q_{n+1} = q_n + h v_{n+1}
//   0 <= G (v_{n+1} - v_free) + (1 + e) g(z_free)/h _|_ La >= 0
// so that every row may have an e of its own (the papers have one for all). The first step starts from the velocity
// v_0 - (h/2) a; where the step changes, from v_n + ((h_n - h)/2) a. The velocity of the state is that of the last
// step: it belongs to its middle. Steps of varying size, as step control takes them, are not for this law.

#include "schemes/explicit.h"

static const char *paoli_refuses(const pcs_system *system, const void *params)
{
    bool varies = false;
    (void)params;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_law_ops *law = system->rows[j].law.ops;
        varies = varies || (law != NULL && law->restitution != NULL && law != &pcs_law_newton);
    }
    return pcs_rows_any(system, varies)
               ? "an impact takes two or three of its steps, over which a restitution that depends on the speed changes"
               : NULL;
}

const pcs_scheme_ops pcs_scheme_schatzman_paoli = {
    .name = "schatzman_paoli",
    .summary = "central differences, contact law on a mean of two positions; velocities belong to the middle of steps",
    .options = pcs_no_options,
    .stable_step = pcs_stable_lagging,
    .data_size = sizeof(pcs_explicit),
    .rule = { .kind = PCS_RULE_CENTRAL, .move = 1.0 },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .memory_size = sizeof(double),
    .needs_equal_steps = "a shorter step would push out at too high a velocity what a longer one has penetrated",
    .refuses = paoli_refuses,
    .setup = pcs_explicit_setup,
    .start = pcs_explicit_start_plainly,
    .step = pcs_explicit_step_once,
};
