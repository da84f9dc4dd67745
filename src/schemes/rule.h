// States the equations of a step: how the scheme integrates smooth forces, how rows change velocities and positions,
// and at which positions gates and restitution are evaluated. A scheme states them once: pcs_scheme_ops has what all
// runs share, `setup` adds what depends on parameters. The scheme advances by this statement, and the certificate
// evaluates the residual of the same one, with masses, forces and directions of its own.

#ifndef PCS_SCHEMES_RULE_H
#define PCS_SCHEMES_RULE_H

#include "schemes/tableau.h"

#include <stdbool.h>

// f_x, M_x, G_x at x = n: the start, 1: the end, M: q_n + (h/2) v_n; P, La: impulses of the rows.
typedef enum pcs_rule_kind {
    PCS_RULE_NONE = 0,    // explicit stages that state and report do not contain
    PCS_RULE_HEUN,        // v = v_n + (h/2) (a_n + M_1^-1 f(q, v1)) + P, q = q_n + (h/2) (v_n + v1); history a, or none
                          // where contact forces are in a_n and a_1, level ACCELERATION
    PCS_RULE_EULER,       // v = v_n + h M_n^-1 f_n + M_1^-1 G_1^T La, q = q_n + h v_n
    PCS_RULE_MIDPOINT,    // M_M (v - v_n) = h f(q_M, v_n) + G_M^T La
    PCS_RULE_MEAN,        // M_M (v - v_n) = h f(q_m, v_m) + G_m^T La, m: means of both ends
    PCS_RULE_CENTRAL,     // v = v_n + ((h_n + h)/2) M_n^-1 f_n + M_n^-1 G_n^T La, q = q_n + h v
    PCS_RULE_RUNGE_KUTTA, // an explicit tableau, where no row acts
    // Rules from here on need no stable step.
    PCS_RULE_IMPLICIT, // pcs_weights below; histories a and vd, or vd alone where a = vd
    PCS_RULE_WAVE,     // M (u - u_n) = h f(t + h/2, (q_n + q)/2, V) + G^T P, u + u_n = 2 V, q = q_n + h V; v is V,
                       // history u; impulses act against a matrix of the scheme in place of M (pcs_scheme_weigh)
} pcs_rule_kind;

// Weights of implicit rules, generalized-alpha and the theta method (am = af = 0, ga = theta, be = m theta) alike:
//   (1 - am) a + am a_n = (1 - af) vd + af vd_n,   M_1 vd = f_1 [+ forces of rows, by `position`]
//   v = v_n + h (1 - ga) a_n + h ga a + W,   M_1 W = G_1^T La
//   q = q_n + h v_n + h^2 (m - be) a_n + h^2 be a + h k W + U,   m: `move`, k: `impulse_weight` and
// Moments of impulses act as step/projection.h says.
typedef struct pcs_weights {
    double am, af, ga, be;
} pcs_weights;

// Law of the positions of rows.
typedef enum pcs_position {
    PCS_POSITION_FREE = 0,  // none: positions follow velocities
    PCS_POSITION_HELD,      // contacts loaded in one of the last PCS_RECENT steps move by (h/2) G (v_n + v), through U
    PCS_POSITION_CORRECTED, // 0 <= g(q) _|_ nu >= 0, M U = G^T nu
    PCS_POSITION_FORCE      // 0 <= g(q) _|_ lam >= 0: rows act in vd, with their force, and in nothing else; no impacts
} pcs_position;

// Gap rate that the coefficient of restitution e multiplies.
typedef enum pcs_rate_kind {
    PCS_RATE_NONE = 0,
    PCS_RATE_START,    // G_n v_n
    PCS_RATE_MIDDLE,   // G_M v_n
    PCS_RATE_BEFORE,   // the rate before the impulses of the step; if `impact` is WHEN_CLOSING there is no restitution
                       // in steps in which no contact closes
    PCS_RATE_REFLECTED // the target is -(1 - e) G u_n/2, e only where a contact closes, of heavy ones, else 0 (wave.c)
} pcs_rate_kind;

// Time of impacts.
typedef enum pcs_impact_kind {
    PCS_IMPACT_IN_STEP = 0,  // by the law of the step
    PCS_IMPACT_WHEN_CLOSING, // apart from forces at the end of a step in which a contact closes: its loss is
                             // m_eff v^2 (1 - e^2) / 2 to round-off
    PCS_IMPACT_ALWAYS,       // apart from forces at the end of every step
    PCS_IMPACT_LOCATED // at closures, which are located between the ends, too: no contact that has a row is missed
} pcs_impact_kind;

// Condition under which the velocity law of a contact is imposed.
typedef enum pcs_gate_kind {
    PCS_GATE_NONE = 0,
    PCS_GATE_FORESEEN, // g_n + (h/2) G_n v_n <= 0
    PCS_GATE_HELD,     // g_n + share h G V' <= 0, V' before the impulses of the step, or loaded in the step before
    PCS_GATE_MIDDLE    // g(q_M) <= 0
} pcs_gate_kind;

typedef enum pcs_level { PCS_LEVEL_VELOCITY = 0, PCS_LEVEL_ACCELERATION } pcs_level; // law of lasting contacts
typedef enum pcs_rows_at { PCS_ROWS_AT_END = 0, PCS_ROWS_WITHIN } pcs_rows_at; // WITHIN: in the mean of the middle

typedef struct pcs_rule {
    pcs_rule_kind kind;
    pcs_weights w;         // of PCS_RULE_IMPLICIT
    double move;           // weight of v in the velocity that moves positions, if it is a mean of v_n and v; else NAN
    double impulse_weight; // positions move by this many steps of the velocity due to normal impulses
    double tangent_impulse_weight; // likewise for tangential impulses
    pcs_position position;
    pcs_rate_kind rate;
    pcs_impact_kind impact;
    pcs_level level;
    pcs_rows_at rows_at;
    bool gains_energy; // may gain energy by design: a gain is reported, not judged
    pcs_gate_kind gate;
    bool gate_looks_ahead; // of PCS_GATE_MIDDLE: also closed if the step would end in g <= 0 without the law
    double event_depth;    // penetration allowed between events besides round-off, m
    double gate_share;     // share of the step, of PCS_GATE_HELD
    double gate_slack;     // share of the displacement of a step within which its gates are ties
    double gate_rest;      // share of the largest gap rate below which a closed contact has not separated
    const pcs_tableau *tableau;
} pcs_rule;

// Returns true if the scheme needs a stable step.
static inline bool pcs_rule_is_explicit(const pcs_rule *rule)
{
    return rule->kind < PCS_RULE_IMPLICIT;
}
// Returns true if gaps obey a law; otherwise contacts may penetrate by O(h).
static inline bool pcs_rule_limits_gaps(const pcs_rule *rule)
{
    return rule->position >= PCS_POSITION_CORRECTED;
}
// Returns true if bilateral rows act in vd, with the force `lam` of their reports, besides their impulses.
static inline bool pcs_rule_has_smooth_joints(const pcs_rule *rule)
{
    return rule->position == PCS_POSITION_HELD || rule->position == PCS_POSITION_CORRECTED;
}
// Returns be - m ga of an implicit rule: positions follow velocities but for h^2 times this of a - a_n. Exactly zero
// for theta schemes, also where a product and a sum are rounded as one.
static inline double pcs_rule_acceleration_gap(const pcs_rule *rule)
{
    return rule->w.be == rule->move * rule->w.ga ? 0.0 : rule->w.be - rule->move * rule->w.ga;
}
static inline bool pcs_rule_separates_impacts(const pcs_rule *rule)
{
    return rule->impact == PCS_IMPACT_WHEN_CLOSING || rule->impact == PCS_IMPACT_ALWAYS;
}
// Returns true if the numerical loss of linear systems is a formula, so that the energy ledger must close.
static inline bool pcs_rule_has_closed_loss(const pcs_rule *rule)
{
    return !pcs_rule_is_explicit(rule) && !pcs_rule_limits_gaps(rule);
}

#endif
