// Moreau midpoint rule with an explicit forecast.
// Schoeder, Ulbrich, Schindler: Discussion of the Gear-Gupta-Leimkuhler method for impacting mechanical systems,
// Multibody System Dynamics 31 (2014), eqs. 8-13.
//
//   qM = q_n + (h/2) v_n,  I = { g(qM) <= 0 }
//   v  = v_n + M(qM)^-1 (h f(t_n + h/2, qM, v_n) + G(qM)^T La),   q = q_n + (h/2) (v_n + v)
//   0 <= G(qM) v + e G(qM) v_n _|_ La >= 0 on I,  tangential rows likewise with friction
//
// A lasting contact drifts by O(h) where gaps are curved.

#include "schemes/explicit.h"

const pcs_scheme_ops pcs_scheme_moreau_midpoint = {
    .name = "moreau_midpoint",
    .summary = "explicit midpoint forecast, contact implicit at velocity level; drifts in lasting contact",
    .options = pcs_no_options,
    .stable_step = pcs_stable_lagging,
    .data_size = sizeof(pcs_explicit),
    .rule = { .kind = PCS_RULE_MIDPOINT,
              .move = 0.5,
              .rate = PCS_RATE_MIDDLE,
              .gate = PCS_GATE_MIDDLE,
              .rows_at = PCS_ROWS_WITHIN },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .setup = pcs_explicit_setup,
    .start = pcs_explicit_start_plainly,
    .step = pcs_explicit_step_once,
};
