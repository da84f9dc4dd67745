// Describes the equations of a step: how the scheme integrates smooth forces, how rows change velocities and positions,
// and at which positions gates and restitution are evaluated. The certificate checks accepted steps against them, with
// formulas of its own. Parameters are those of the case, not values that the scheme has derived from them.

#ifndef PCS_SCHEMES_RULE_H
#define PCS_SCHEMES_RULE_H

#include "schemes/tableau.h"

#include <stdbool.h>

// f_x, M_x, G_x at x = n: the start, 1: the end, M: q_n + (h/2) v_n; P, La: impulses of the rows.
typedef enum pcs_rule_kind {
    PCS_RULE_NONE = 0,    // stages that state and report do not show
    PCS_RULE_ALPHA,       // generalized-alpha (alpha_family.h), M_1 (v - vt) = G_1^T La; histories a, vd; moments of
                          // impulses here and in PCS_RULE_THETA as step/projection.h says
    PCS_RULE_THETA,       // v = v_n + h ((1 - th) vd_n + th vd) + M_1^-1 G_1^T La, M_1 vd = f_1; history vd
    PCS_RULE_BETWEEN,     // M_th (v - v_n) = h f(t_th, q_th, v_th) + G_th^T La
    PCS_RULE_HEUN,        // v = v_n + (h/2) (a_n + M_1^-1 f(q, v1)) + P, q = q_n + (h/2) (v_n + v1); history a
    PCS_RULE_HEUN_FORCES, // the same with contact forces in a_n and a_1, and no history
    PCS_RULE_EULER,       // v = v_n + h M_n^-1 f_n + M_1^-1 G_1^T La, q = q_n + h v_n
    PCS_RULE_MIDPOINT,    // M_M (v - v_n) = h f(q_M, v_n) + G_M^T La
    PCS_RULE_MEAN,        // M_M (v - v_n) = h f(q_m, v_m) + G_m^T La, m: means of both ends
    PCS_RULE_CENTRAL,     // v = v_n + ((h_n + h)/2) M_n^-1 f_n + M_n^-1 G_n^T La, q = q_n + h v
    PCS_RULE_WAVE,        // M (u - u_n) = h f(t + h/2, (q_n + q)/2, V) + G^T P, u + u_n = 2 V, q = q_n + h V; v is V,
                          // history u
    PCS_RULE_RUNGE_KUTTA, // an explicit tableau, where no row acts
} pcs_rule_kind;

// Gap rate that the coefficient of restitution e multiplies.
typedef enum pcs_rate_kind {
    PCS_RATE_NONE = 0,
    PCS_RATE_START,     // G_n v_n
    PCS_RATE_MIDDLE,    // G_M v_n
    PCS_RATE_TURNED,    // the target is (1 + e) G_n v_n - G_M v_n
    PCS_RATE_BEFORE,    // the rate before the impulses of the step
    PCS_RATE_REFLECTED, // the target is -(1 - e) G u_n/2, e only where a contact closes, of heavy ones, else 0 (wave.c)
    PCS_RATE_BEFORE_IMPACT // the same, in a step in which a contact closes; else there is no restitution
} pcs_rate_kind;

// Condition under which the velocity law of a contact is imposed.
typedef enum pcs_gate_kind {
    PCS_GATE_NONE = 0,
    PCS_GATE_FORESEEN, // g_n + (h/2) G_n v_n <= 0
    PCS_GATE_HELD,     // g_n + share h G V' <= 0, V' before the impulses of the step, or loaded in the step before
    PCS_GATE_MIDDLE    // g(q_M) <= tolerance
} pcs_gate_kind;

typedef struct pcs_rule {
    pcs_rule_kind kind;
    // PCS_RULE_ALPHA: spectral radius, or gamma and beta of Newmark (NAN: the preset), or alpha of HHT; else NAN
    double radius, gamma, beta, lag;
    double theta;        // of the forces
    double move;         // weight of v in what moves positions, where it is a mean of v_n and v; NAN: otherwise
    double normal_way;   // positions move by this many steps of the velocity that normal impulses give at once
    double tangent_way;  // likewise of tangential ones
    bool has_correction; // and by M^-1 (G^T (nu + shift) + T^T nu_t)
    bool holds; // of PCS_RULE_ALPHA: contacts loaded in one of the last PCS_RECENT steps move by (h/2) G (v_n + v)
    bool has_smooth_joints; // bilateral rows act in vd, with force - step_impulse/h, besides their impulses
    bool has_smooth_rows;   // all rows act in vd, with their force, and in nothing else
    bool gains_energy;      // by its nature: what it gains is told, not judged
    pcs_rate_kind rate;
    pcs_gate_kind gate;
    double gate_tolerance; // m, of PCS_GATE_MIDDLE
    bool gate_looks_ahead; // of PCS_GATE_MIDDLE: also where the step would end in g <= 0 without the law
    double event_depth;    // m, by which a contact may sink between events, besides rounding
    double gate_share;     // of the step, of PCS_GATE_HELD
    double gate_slack;     // of the way of a step, within which its gates are ties
    double gate_rest;      // of the largest gap rate, below which a closed contact has not parted
    const pcs_tableau *tableau;
    int order; // of the tableau; 0: the user's own
} pcs_rule;

#endif
