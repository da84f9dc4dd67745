// Declares types and functions that the files of the certificate share; private to them.
//
// certify.c           the judgement of a step: what applies, what is remembered, what is told; the case, read anew
// certify_rows.c      the laws of contacts and joints, Coulomb's law, and gaps against the deformation
// certify_join.c      the worst of every check, also where ranks judge their own rows
// certify_energy.c    what a step may gain
// certify_motion.c    equations of motion by the rule of the scheme, their tolerances, momentum
// certify_forces.c    forces and directions against the energies and gaps that they follow from

#ifndef PCS_SIM_CERTIFY_DATA_H
#define PCS_SIM_CERTIFY_DATA_H

#include "core/rounding.h"
#include "sim/certify.h"

enum {
    CERTIFY_GAP,
    CERTIFY_DIRECTION,
    CERTIFY_BEND,
    CERTIFY_POSITION_MULTIPLIER,
    CERTIFY_POSITION_COMPLEMENT,
    CERTIFY_GATE,
    CERTIFY_CONTRADICTION,
    CERTIFY_RATE,
    CERTIFY_IMPULSE,
    CERTIFY_VELOCITY_COMPLEMENT,
    CERTIFY_OPEN_IMPULSE,
    CERTIFY_IMPULSE_LAW,
    CERTIFY_RESTITUTION,
    CERTIFY_COEFFICIENTS,
    CERTIFY_CONE,
    CERTIFY_SLIP,
    CERTIFY_HELD,
    CERTIFY_TURN,
    CERTIFY_STAY,
    CERTIFY_IMPACT_LOSS,
    CERTIFY_MOTION,
    CERTIFY_KINEMATICS,
    CERTIFY_TRAVEL,
    CERTIFY_MOMENTUM,
    CERTIFY_GRADIENT,
    CERTIFY_DAMPING_POWER,
    CERTIFY_WORK,
    CERTIFY_GYROSCOPIC,
    CERTIFY_ENERGY,
    CERTIFY_RISE,
    CERTIFY_GROWTH,
    CERTIFY_DAMPING,
    CERTIFY_NUMERICAL,
    CERTIFY_CORRECTION,
    CERTIFY_PENETRATION,
    CERTIFY_MISFIT,
    CERTIFY_PASSAGE,
    CERTIFY_OFFSET,
    CERTIFY_COUNT
};

// A saved state from which steps start.
typedef struct certify_past {
    double t;
    double *q, *v, *f, *history[PCS_MAX_HISTORY]; // [nv], f: smooth forces, N
    bool is_known, has_force;
} certify_past;

// Memory from step to step, without its arrays. Members from momentum to contradictions consist of 8-byte numbers,
// which checkpoints store as one block.
typedef struct certify_memory {
    pcs_check checks[CERTIFY_COUNT]; // those that apply, in order
    double known[CERTIFY_COUNT];     // ratio up to which a condition has been met; see pcs_certify_note
    pcs_certificate certificate;     // points into the checks that are in use
    int bad_row, bad_equation;       // of the first violation, -1 if none; the row by its index in one process
    double momentum[3];              // kg m/s, momentum of the free equations
    pcs_measure measure;             // energies of the last state
    double initial, worked;          // J, energy at t = 0 and work of loads since
    double damped, booked;           // J, damping loss, and work of loads minus losses of dampers and rows
    double corrected;                // J, sum of the absolute works of position corrections
    double deformation;              // m, largest relative displacement so far, taken if a row has an error
    double lowest;                   // J, lowest potential so far
    double supply;                   // J, most that loads and potential have left for kinetic and strain energy so far
    double largest_energy;           // J, kinetic and strain, of states whose energy is explained
    double exchanged;                // J, most that loads and potential have given or taken in one step so far
    double onset;                    // J, energy allowed so far for loads that set in
    double strain;                   // J, largest strain energy of recent steps
    double examined;                 // J, largest strain energy of states whose forces were examined
    double held;                     // J, what contact impulses of the last step would give to their masses
    double residual;                 // N s, sum of the residuals of equations of motion over recent steps
    double last_residual;            // N s, in the last step that was examined
    double leftover;                 // J, work of the residuals of equations of motion
    double h, largest_h;             // s, of the last step, and the largest so far
    long count;                      // number of steps
    double contradictions;           // number of steps in which the contact status was ambiguous
    int past;                        // index of the last state in `past`
    bool is_awaited;                 // the next step is examined closely
    int iterations;                  // of the last step that was examined
} certify_memory;

// Remembers a row; if ranks check their own rows, all but gap and impulse are known for these alone.
typedef struct certify_row {
    double largest_gap;  // so far, m
    double largest_rate; // so far, m/s
    double overlap;      // overlap at the start of the run, m
    double drift;        // that the present contact may have gathered where gaps are curved, m; of a driven row, what
                         // the speeds at the ends of steps miss of its way
    double gap, rate;    // of the last state, m and m/s
    double impulse;      // of the last step, N s
    double recent;       // PCS_RECENT after a step with an impulse, one less after each other one
    double strayed;      // displacement beyond its velocities since it has had an impulse in every step, m
    double reach;        // largest rate so far, including that before the impulses of a step, m/s
    double bend;         // largest change so far of an open contact's rate by the impulses of others, m/s
    double sunk;         // penetration that impacts explain since the gap was positive last, m
} certify_row;

// Sums and maxima over all rows in a step.
typedef struct certify_survey {
    bool is_hit, acts;     // a contact closes; a contact got an impulse
    double held;           // J, most that the impulse of a contact would give to the mass it acts on
    double held_by_joints; // J, the same over contacts and joints
    double momentum[3];    // kg m/s, given by all impulses, friction included
    double size;           // kg m/s, sum of the absolute parts of normal impulses
} certify_survey;

struct pcs_certifier {
    pcs_context *ctx;
    const pcs_scheme *scheme;
    const pcs_rule *rule;
    pcs_check *check[CERTIFY_COUNT]; // each condition among the checks of `now`, NULL if it does not apply
    certify_memory now, kept;        // current, and saved at the mark
    certify_row *rows, *kept_rows;   // [nrow] likewise
    certify_past past[2];            // last state, and the one at the mark
    int marked;                      // index of the latter, -1 if none
    bool iterates;                   // steps are iterations on a nonlinear model
    bool is_controlled;              // step-size control chooses the steps
    bool needs_middle;               // a law is evaluated at q_M
    const pcs_comm *comm;            // ranks that check the rows that each has, NULL if all rows are checked here
    double stiffness;                // N/m, largest entry of K at the start, times the number of equations
    // Current step:
    double ratio_before[CERTIFY_COUNT]; // worst ratio of each check before its rows were checked, -1 if none
    bool was_broken;                    // a check was broken before
    const pcs_state *x;
    const pcs_step_report *report;
    const certify_past *from;                                  // start of the step, NULL if unknown
    bool is_examined;                                          // forces are checked against the energies
    bool is_greedy;                                            // the step gains more than its share of the energy left
    certify_survey survey;                                     // sums over its rows
    double residual;                                           // N s, sum of the residuals of its equations
    double leftover;                                           // J, work of these residuals
    pcs_passage_row *ends;                                     // [nrow] rows at both ends
    double *gap, *bias;                                        // [nrow] at its end; (dG/dt) v, m/s^2
    double available;                                          // J, energy available in the step
    double speed;                                              // m/s, sqrt(2 E / m), E the largest energy so far
    double *start_gap, *start_rate, *middle_gap, *middle_rate; // [nrow] g_n, G_n v_n, g(q_M) and G_M v_n
    double *z, *z_t;                                           // [nrow], [ntangent] multipliers
    double *moved, *jump;                                      // [nrow] effect of multipliers on gaps and velocities
    double *misfit;                                            // [nrow] error of the gaps, m
    double *drive[4];                 // [nrow] displacements and speeds of driven rows at both ends
    double (*point)[3], (*normal)[3]; // [nrow + ncompliant] positions of points, m, if there are joints; else NULL
    bool *is_spare;                   // [nrow] belongs to no pair of bodies, in a step that is examined
    double (*resultant)[3];           // [nrow] momentum of a unit impulse
    double *rebound;                  // [ntangent] velocity that e_t multiplies, m/s, NULL if there is none
    bool has_rebound;                 // `rebound` is known
    double *origin;                   // [nq] zero
    double *f, *way;                  // [nv] smooth forces at the end; the increment of q
    bool has_force;                   // f is evaluated
    int allowed;                      // check to which `tolerance` belongs, -1 if none
    double *e, *r, *b, *tolerance;    // [nv] work of the residuals
    double *stage_v[PCS_MAX_STAGES], *stage_a[PCS_MAX_STAGES]; // [nv] stages of PCS_RULE_RUNGE_KUTTA
    pcs_rows *G, *T;                                           // directions at the position asked for
    pcs_matrix *M;                                             // mass there
    double *dense;                                             // [nv * nv] work, if the mass varies
};

// Returns the larger of the largest size so far and a new one, which may be NaN and is ignored then.
static inline double pcs_certify_grown(double largest, double size)
{
    return size > largest ? size : largest;
}

// Adds the latest term to a sum over recent steps, in which older ones decay.
static inline void pcs_certify_fade(double *sum, double latest)
{
    enum { REMEMBERED = 64 }; // steps over which filters carry residuals on
    *sum = latest + (1.0 - 1.0 / REMEMBERED) * *sum;
    if (*sum < DBL_MIN) *sum = 0.0; // numbers below are slow
}

// Sets known[check] just below the worst ratio: in any rounding mode value <= known tolerance implies value/tolerance
// <= worst ratio. -INFINITY before anything was noted, INFINITY if the condition does not apply.
void pcs_certify_know(pcs_certifier *self, int check);

// Records value/tolerance in a check that applies, by a division.
void pcs_certify_weigh_up(pcs_certifier *self, int check, double value, double tolerance, int row, int equation);

// Returns true if value/tolerance is worse than the worst so far; if not, it changes nothing.
static inline bool pcs_certify_is_news(const pcs_certifier *self, int check, double value, double tolerance)
{
    return !(value <= self->now.known[check] * tolerance);
}

// Records value/tolerance in a check; a ratio above 1, or NaN, breaks it. row and equation may be -1.
static inline void pcs_certify_note(pcs_certifier *self, int check, double value, double tolerance, int row,
                                    int equation)
{
    if (pcs_certify_is_news(self, check, value, tolerance))
        pcs_certify_weigh_up(self, check, value, tolerance, row, equation);
}

// Saves the ratios before this rank checks its rows; pcs_certify_join then makes the worst of all ranks known to all.
void pcs_certify_part(pcs_certifier *self);
void pcs_certify_join(pcs_certifier *self, double *contradictions);

// Returns true if positions of loaded rows follow velocities by a rule: not for laws on positions, which are checked
// against gaps, and not if a scheme lets contacts or joints give way by its nature.
bool pcs_certify_leads(const pcs_rule *rule);

// Surveys the reports of the rows, once; multipliers go to z and z_t.
void pcs_certify_survey(pcs_certifier *self);
// Checks the laws of the rows; z and z_t hold the multipliers of the last stage.
void pcs_certify_rows(pcs_certifier *self);

// Allocates the work of friction.
pcs_status pcs_certify_take_friction(pcs_context *ctx, pcs_certifier *self);

// Checks energies, before all else: a step with unexplained energy must not widen any tolerance.
void pcs_certify_energy(pcs_certifier *self);

// Checks the ledger, if it has to close, after the equations of motion, whose residuals do work.
void pcs_certify_ledger(pcs_certifier *self, double energy_defect);

// Finds the start of the step, forces at both ends and the displacement; nothing for a report of several steps.
void pcs_certify_prepare(pcs_certifier *self);
void pcs_certify_momentum(pcs_certifier *self);
// Returns true if the step is examined: forces against energies, directions of rows against gaps.
bool pcs_certify_examines(const pcs_certifier *self);
void pcs_certify_forces(pcs_certifier *self);
void pcs_certify_directions(pcs_certifier *self);
void pcs_certify_bends(pcs_certifier *self);
// Checks the equations of motion; self->from must not be NULL.
void pcs_certify_motion(pcs_certifier *self);
// Evaluates the directions of rows at q into self->G and T. The system stays.
void pcs_certify_aim(pcs_certifier *self, double t, const double *q);

static inline bool pcs_certify_is_on(const pcs_certifier *self, int check)
{
    return self->check[check] != NULL;
}

#endif
