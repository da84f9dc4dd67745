// Declares types and functions that the files of the certificate share; private to them.
//
// certify.c           the judgement of a step: what applies, what is remembered, what is told
// certify_rows.c      the laws of contacts and joints
// certify_friction.c  Coulomb's law
// certify_join.c      the same where ranks judge their own rows
// certify_misfit.c    gaps of joints and held contacts against the deformation
// certify_energy.c    what a step may gain
// certify_motion.c    equations of motion: residuals, their tolerances, momentum
// certify_case.c      what the model was built from, read anew
// certify_forces.c    forces and directions against the energies and gaps that they follow from
// certify_rules.c     what the schemes state, rule by rule

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
    CERTIFY_STAY,
    CERTIFY_IMPACT_LOSS,
    CERTIFY_MOTION,
    CERTIFY_KINEMATICS,
    CERTIFY_ORDER,
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

// A state that steps start from.
typedef struct certify_past {
    double t;
    double *q, *v, *f, *history[PCS_MAX_HISTORY]; // [nv], f: the smooth forces
    bool is_known, has_force;
} certify_past;

// Memory from step to step, without its arrays. Members from momentum to contradictions consist of 8-byte numbers,
// which checkpoints store as one block.
typedef struct certify_memory {
    pcs_check checks[CERTIFY_COUNT]; // only those that apply, in order
    double known[CERTIFY_COUNT];     // ratio up to which a condition has been met; see pcs_certify_note
    pcs_certificate certificate;     // points into the checks that are in use
    int bad_row, bad_equation;       // of the first violation, or -1; the row by its number in one process
    double momentum[3];              // kg m/s, of the moving equations
    pcs_measure measure;             // of the last state
    double initial, worked;          // J, energy at t = 0 and work of loads since
    double damped, booked;           // J, what damping has taken, and all that loads, dampers and rows have given
    double corrected;                // J, sum of the sizes of what position corrections did
    double deformation;              // m, largest relative displacement so far, where a row had a misfit
    double lowest;                   // J, lowest potential so far
    double supply;                   // J, most that loads and potential have left for kinetic and strain energy so far
    double largest_energy;           // J, kinetic and strain, of states whose energy is explained
    double exchanged;                // J, most that loads and potential have given or taken in one step so far
    double onset;                    // J, what loads that set in were granted so far
    double strain;                   // J, largest strain energy of late
    double examined;                 // J, largest strain energy of states whose forces were examined
    double held;                     // J, what contact impulses of the last step would give to the masses they act on
    double residual;                 // N s, what equations of motion have left over of late, in sum
    double last_residual;            // N s, in the last step that was looked at
    double leftover;                 // J, the work of what equations of motion have left over
    double h, largest_h;             // s, of the last step, and the largest so far
    long count;                      // steps
    double contradictions;           // steps with a gate that has no consistent answer
    int past;                        // which of the pasts is the last state
    bool is_awaited;                 // the next step is looked at closely
    int iterations;                  // of the last step that was looked at
} certify_memory;

// [nrow] each; where ranks judge their own rows, all but gap and impulse are known of these alone
typedef struct certify_rows {
    double *largest_gap;  // so far, m
    double *largest_rate; // so far, m/s
    double *overlap;      // that the model starts with, m
    double *drift;        // that the present contact may have gathered where gaps are curved, m; of a driven row, what
                          // the speeds at the ends of steps miss of its way
    double *gap, *rate;   // of the last state, m and m/s
    double *impulse;      // of the last step, N s
    double *recent;       // PCS_RECENT after a step with an impulse, one less after each other one
    double *strayed;      // what it has moved by beyond its velocities since it got an impulse in every step, m
    double *reach;        // largest rate so far, with that before the impulses of a step, m/s
    double *bend;         // largest change so far of an open contact's rate by the impulses of others, m/s
    double *sunk;         // penetration that impacts explain since the gap was positive last, m
} certify_rows;

// Sums and maxima over all rows in a step.
typedef struct certify_survey {
    bool is_hit, acts;     // a contact closes; a contact got an impulse
    double held;           // J, most that the impulse of a contact would give to the mass it acts on
    double held_by_joints; // J, likewise of contacts and joints
    double momentum[3];    // kg m/s, that they gave, friction included
    double size;           // kg m/s, sum of the sizes of what normal impulses gave
} certify_survey;

struct pcs_certifier {
    pcs_context *ctx;
    const pcs_scheme *scheme;
    pcs_rule rule;
    pcs_check *check[CERTIFY_COUNT]; // each condition among the checks of `now`; NULL: does not apply
    certify_memory now, kept;        // kept: at the mark
    certify_rows rows, kept_rows;
    certify_past past[2]; // the last state, and the one at the mark
    int marked;           // which one that is; -1: none
    bool iterates;        // a step is an iteration on a nonlinear model
    bool needs_middle;    // a law looks at q_M
    const pcs_comm *comm; // over whose ranks rows are judged, each by the one that has it; NULL: all of them here
    double stiffness;     // N/m, largest entry of K in the beginning, times the number of equations
    // Present step:
    double ratio_before[CERTIFY_COUNT]; // before its rows were judged: the worst of each check, -1: none
    bool was_broken;                    // and whether one was broken
    const pcs_state *x;
    const pcs_step_report *report;
    const certify_past *from;                                  // NULL: not known
    bool is_examined;                                          // its forces are held against the energies
    bool is_greedy;                                            // it gains more than its share of what is left
    certify_survey survey;                                     // what its rows did
    double residual;                                           // N s, sum of what its equations leave over
    double leftover;                                           // J, the work of that
    pcs_passage_row *ends;                                     // [nrow] its rows at its ends
    double *gap, *bias;                                        // [nrow] at its end; (dG/dt) v, m/s^2
    double available;                                          // J, what the model has to spend in the step
    double speed, energy_of_speed;                             // m/s, sqrt(2 E / m), E the largest energy so far
    double *start_gap, *start_rate, *middle_gap, *middle_rate; // [nrow] g_n, G_n v_n, g(q_M) and G_M v_n
    double *own_gap, *own_rate;                                // [nrow] rooms of the first two, unless remembered
    double *z, *z_t;                                           // [nrow], [ntangent] multipliers
    double *moved, *jump;                                      // [nrow] what they do to gaps and velocities
    double *misfit;                                            // [nrow] by how much gaps are off, m
    double *drive[4];                 // [nrow] ways and speeds of driven rows at both ends; where there are some
    double (*point)[3], (*normal)[3]; // [nrow + ncompliant] where points are, when there are joints; else NULL
    bool *is_spare;                   // [nrow] stands for no pair of bodies, in a step that is examined
    double (*resultant)[3];           // [nrow] momentum of a unit impulse
    double *rebound;                  // [ntangent] what e_t multiplies, m/s; NULL: there is none
    bool has_rebound;                 // it is known
    double *origin;                   // [nq] zero
    double *f, *way;                  // [nv] smooth forces at the end; the increment of q
    bool has_force;                   // f is that
    int allowed;                      // the check that `tolerance` stands for; -1: none
    double *e, *r, *b, *tolerance;    // [nv] work of the residuals
    double *stage_v[PCS_MAX_STAGES], *stage_a[PCS_MAX_STAGES]; // [nv] of PCS_RULE_RUNGE_KUTTA
    pcs_rows *G, *T;                                           // directions at a place asked for
    pcs_matrix *M, *kept_M;                                    // likewise the mass
    double *dense;                                             // [nv * nv] work, where the mass varies
};

// A number that has grown so far, and a size that may be none.
static inline double pcs_certify_grown(double largest, double size)
{
    return size > largest ? size : largest;
}

// Adds the latest of a sum over the last steps, which forgets the older ones.
static inline void pcs_certify_fade(double *sum, double latest)
{
    enum { REMEMBERED = 64 }; // steps over which filters carry residuals on
    *sum = latest + (1.0 - 1.0 / REMEMBERED) * *sum;
    if (*sum < DBL_MIN) *sum = 0.0; // numbers below are slow
}

// Sets known[check] just below the worst ratio: in any rounding mode value <= known tolerance implies value/tolerance
// <= worst ratio. -INFINITY before anything was noted, INFINITY if the condition does not apply.
void pcs_certify_know(pcs_certifier *self, int check);

// Puts value/tolerance into a check that applies, by a division.
void pcs_certify_weigh_up(pcs_certifier *self, int check, double value, double tolerance, int row, int equation);

// Is value/tolerance worse than the worst so far? If not, it says nothing new, and neither does a larger tolerance.
static inline bool pcs_certify_is_news(const pcs_certifier *self, int check, double value, double tolerance)
{
    return !(value <= self->now.known[check] * tolerance);
}

// Puts value/tolerance into a check; a ratio above 1, and what is not a number, breaks it. row and equation may be -1.
static inline void pcs_certify_note(pcs_certifier *self, int check, double value, double tolerance, int row,
                                    int equation)
{
    if (pcs_certify_is_news(self, check, value, tolerance))
        pcs_certify_weigh_up(self, check, value, tolerance, row, equation);
}

// Before and after this rank has judged its rows: afterwards all know the worst of all.
void pcs_certify_part(pcs_certifier *self);
void pcs_certify_join(pcs_certifier *self, double *contradictions);

// Do positions of loaded rows follow velocities by a rule: not those of laws on positions, which are held against gaps,
// and not where a scheme lets contacts or joints give way by its nature.
bool pcs_certify_leads(const pcs_scheme *scheme, const pcs_rule *rule);

// Reports of the rows, looked through once; multipliers go to z and z_t.
void pcs_certify_survey(pcs_certifier *self);
// The laws of the rows; z and z_t hold the multipliers of the last stage.
void pcs_certify_rows(pcs_certifier *self);

// By how much a row is off beyond round-off, while what is remembered of it is of the step before; then all of them
// against the deformation.
void pcs_certify_find_misfit(pcs_certifier *self, int row);
void pcs_certify_misfits(pcs_certifier *self);

// Coulomb's law of a row that has tangents, with its effective mass and what a velocity may be off by; before, what the
// tangential restitution of all of them acts on.
pcs_status pcs_certify_take_friction(pcs_context *ctx, pcs_certifier *self);
void pcs_certify_find_rebound(pcs_certifier *self);
void pcs_certify_friction(pcs_certifier *self, int row, double mass, double tolerance);

// Energies, first of all: a step whose energy is not explained lends no size to any tolerance.
void pcs_certify_energy(pcs_certifier *self);

// The ledger, where it has to close, after the equations of motion, whose residuals do work.
void pcs_certify_ledger(pcs_certifier *self, double energy_defect);

// Finds the start of the step, forces at both ends and the displacement; nothing for a report of several steps.
void pcs_certify_prepare(pcs_certifier *self);
void pcs_certify_momentum(pcs_certifier *self);
// Forces against energies, directions of rows against gaps, at steps that are examined.
bool pcs_certify_examines(const pcs_certifier *self);
void pcs_certify_forces(pcs_certifier *self);
void pcs_certify_directions(pcs_certifier *self);
void pcs_certify_bends(pcs_certifier *self);
// Travel times of waves by mass and stiffness, once.
void pcs_certify_travel(pcs_certifier *self);
// Checks the equations of motion; self->from must not be NULL.
void pcs_certify_motion(pcs_certifier *self);
// Directions of the rows at q into self->G and T, mass into self->M; the system stays as it is.
void pcs_certify_aim(pcs_certifier *self, double t, const double *q);
void pcs_certify_weigh(pcs_certifier *self, const double *q);
// y += scale (G^T z + T^T z_t)
void pcs_certify_push(const pcs_certifier *self, double scale, const double *z, const double *z_t, double *y);
// Begins a residual with the velocity e: r = 0.
void pcs_certify_open(pcs_certifier *self);
// Takes the impulse b out of it, at the mass as it was weighed last.
void pcs_certify_take(pcs_certifier *self);
// r += M e, judged: e is a velocity, or a way for CERTIFY_KINEMATICS.
void pcs_certify_close(pcs_certifier *self, int check);

// The equations of motion of the rule.
void pcs_certify_rule(pcs_certifier *self);
// am, af, ga, be of PCS_RULE_ALPHA.
void pcs_certify_alpha(const pcs_rule *rule, double number[4]);
// Largest defect of the order conditions of the rule's tableau.
double pcs_certify_order(const pcs_rule *rule);

static inline bool pcs_certify_is_on(const pcs_certifier *self, int check)
{
    return self->check[check] != NULL;
}

#endif
