// Explicit Moreau-Jean scheme: forward Euler with contact implicit at velocity level.
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level based on
// time-discontinuous Galerkin methods, CMAME 290 (2015), eqs. 29-33.
//
//   I  = { g(q_n) + (h/2) G(q_n) v_n <= 0 },   q = q_n + h v_n
//   v  = v_n + h M(q_n)^-1 f(t_n, q_n, v_n) + M(q)^-1 G(q)^T La
//   0 <= G(q) v + e G(q_n) v_n _|_ La >= 0 on I,  tangential rows likewise with friction
//
// Restitution acts on the gap velocity at t_n along the directions of t_n.

#include "schemes/explicit.h"

#include <math.h>

// Refuses undamped meshes: undamped modes lie on the imaginary axis, where forward Euler grows at every step size. In a
// mesh the fastest dominates at once; a single slow oscillator is only inaccurate.
static const char *euler_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    if (!pcs_system_is_mesh(system) || pcs_system_is_damped(system) || !isfinite(system->stable_step)) return NULL;
    return "forward Euler is unstable at any step on an undamped elastic model; use half_explicit or moreau_jean";
}

// Returns the largest h with |1 + h z| <= 1 for z = w (-xi +- sqrt(xi^2 - 1)), s; 0 with spin, as undamped whirls grow.
static double euler_stable_step(const void *params, double w, double xi, double spin)
{
    (void)params;
    if (spin > 0.0 || xi < 1e-5) return 0.0; // a step of no use
    return (xi < 1.0 ? 2.0 * xi : 2.0 / (xi + sqrt(xi * xi - 1.0))) / w;
}

const pcs_scheme_ops pcs_scheme_moreau_jean_explicit = {
    .name = "moreau_jean_explicit",
    .summary = "forward Euler, contact implicit at velocity level; order 1; not for undamped elastic models",
    .options = pcs_no_options,
    .data_size = sizeof(pcs_explicit),
    .rule = { .kind = PCS_RULE_EULER, .rate = PCS_RATE_START, .gate = PCS_GATE_FORESEEN, .gains_energy = true },
    .takes = PCS_TAKES_ROTATIONS | PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .refuses = euler_refuses,
    .stable_step = euler_stable_step,
    .setup = pcs_explicit_setup,
    .start = pcs_explicit_start_plainly,
    .step = pcs_explicit_step_once,
};
