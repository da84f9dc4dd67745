// The certifier, its checks and its memory; private to this folder.
//
// certify.c         the judgement of a step, what is remembered and reported; the model against its case; which checks
//                   apply, the worst of each, also where processes judge their own rows; what a step may gain, forces
//                   against the energies that they follow from, and momentum
// certify_rows.c    the laws of contacts and joints, Coulomb's law, gaps against the deformation and the directions
// certify_motion.c  equations of motion by the rule of the scheme, and their tolerances

#ifndef PCS_SIM_CERTIFY_DATA_H
#define PCS_SIM_CERTIFY_DATA_H

#include "core/rounding.h"
#include "sim/certify.h"

// Lists the checks: name, condition under which it applies in terms of certify_choose, unit, sentence. Those up to
// TURN and from PENETRATION on judge rows.
#define CERTIFY_CHECKS(X)                                                                                       \
    X(GAP, limits, "m", "gap >= 0, position multiplier >= 0, one of them 0")                                    \
    X(DIRECTION, rows, "m", "gap rates follow the gaps")                                                        \
    X(BEND, bends, "m/s^2", "gap accelerations follow the gap rates")                                           \
    X(GATE, gates, "m", "contact law imposed exactly where the smooth gap closes")                              \
    X(CONTRADICTION, corrects, "steps", "steps in which the contact status was ambiguous")                      \
    X(LAW, rows, "m/s", "gap rate + restitution >= 0, impulse >= 0, one of them 0")                             \
    X(IMPULSE_LAW, has_impacts, "m/s", "impulse = effective mass x velocity jump")                              \
    X(COEFFICIENTS, rows || presses, "1", "restitution and friction are the numbers of the case")               \
    X(CONE, has_friction || system->soft_friction != NULL, "N s", "friction <= mu x contact impulse")           \
    X(SLIP, has_friction, "m/s", "friction against the slip, none of it below the limit")                       \
    X(HELD, rows && rule->position == PCS_POSITION_HELD, "m", "lasting contacts move with their mean velocity") \
    X(ROTATION, rotates, "rad", "prescribed rotations < 1 rad in a step")                                       \
    X(IMPACT_LOSS, separates, "J", "impact loss = work of the impulses")                                        \
    X(MOTION, rule->kind != PCS_RULE_NONE, "N s", "equations of motion, each of them")                          \
    X(KINEMATICS, rule->kind != PCS_RULE_NONE, "m", "positions follow velocities")                              \
    X(TRAVEL, travels, "1", "travel times of waves by mass and stiffness")                                      \
    X(MOMENTUM, is_mesh, "kg m/s", "momentum balance")                                                          \
    X(GRADIENT, !pcs_system_remembers(system), "J", "forces follow from the energy")                            \
    X(DAMPING_POWER, powers, "W", "power of damping = booked damping loss")                                     \
    X(WORK, true, "J", "work of forces = change of energies + booked losses")                                   \
    X(GYROSCOPIC, spins, "W", "gyroscopic moments follow from the angular momentum")                            \
    X(ENERGY, closes, "J", "energy ledger closes")                                                              \
    X(RISE, true, "J", "energy gained in a step")                                                               \
    X(GROWTH, true, "J", "energy gained since the start")                                                       \
    X(DAMPING, pcs_system_is_damped(system), "J", "damping loss <= all energy there has been")                  \
    X(NUMERICAL, true, "J", "numerical gain <= a tenth of all energy there has been")                           \
    X(CORRECTION, limits && system->is_linear, "J", "position corrections in sum <= all energy there has been") \
    X(PENETRATION, rows && !limits, "m", "penetration <= 2 max|gap rate| h")                                    \
    X(GAP_ERROR, rows && !limits, "m", "errors of joints and held contacts <= 0.1 deformation")                 \
    X(PASSAGE, passes, "m", "no contact jumped over within a step")

#define CERTIFY_NAME(name, ...) CERTIFY_##name,
enum { CERTIFY_CHECKS(CERTIFY_NAME) CERTIFY_COUNT };

// The numbers of a check from its worst ratio to the time of that ratio are contiguous.
enum { CHECK_WORDS = 4 };
_Static_assert(offsetof(pcs_check, worst_time) == offsetof(pcs_check, worst_ratio) + (CHECK_WORDS - 1) * sizeof(double),
               "the numbers of a check follow one another");

// Memory from step to step, without its arrays. Members from momentum to contradictions are 8-byte numbers,
// which checkpoints store as one block.
typedef struct certify_memory {
    pcs_check checks[CERTIFY_COUNT]; // those that apply, in order
    pcs_certificate certificate;     // points into the checks that are in use
    int bad_row, bad_equation;       // of the first violation, -1 if none; the row by its index in one process
    double momentum[3];              // kg m/s, momentum of the free equations
    pcs_measure measure;             // energies of the last state
    double initial, worked;          // J, energy at t = 0 and work of loads since
    double damped, booked;           // J, damping loss, and work of loads minus losses of dampers and rows
    double corrected;                // J, sum of the absolute works of position corrections
    double deformation;              // m, largest relative displacement so far, updated if a row has an error
    double lowest;                   // J, lowest potential so far
    double supply;         // J, largest energy so far left by loads and potential for kinetic and strain energy
    double largest_energy; // J, kinetic and strain, of states whose energy is explained
    double exchanged;      // J, largest energy that loads and potential have exchanged in one step so far
    double onset;          // J, energy allowed so far for loads that set in
    double strain;         // J, largest strain energy of recent steps
    double examined;       // J, largest strain energy of states whose forces were examined
    double held;           // J, energy that contact impulses of the last step would give to their masses
    double residual;       // N s, sum of the residuals of equations of motion over recent steps
    double last_residual;  // N s, in the last step that was examined
    double leftover;       // J, work of the residuals of equations of motion
    double h, largest_h;   // s, of the last step, and the largest so far
    long count;            // number of steps
    double contradictions; // number of steps in which the contact status was ambiguous
    bool is_awaited;       // the next step is to be examined closely
    int iterations;        // iterations of the last step that was examined
} certify_memory;

// Record of a row. If processes check their own rows, the others know only its gap and impulse.
typedef struct certify_row {
    double largest_gap;  // so far, m
    double largest_rate; // so far, m/s
    double overlap;      // overlap at the start of the run, m
    double drift;        // m, that the present contact may have gathered where gaps are curved. For a driven row, what
                         // the speeds at the ends of steps miss of its displacement
    double gap, rate;    // of the last state, m and m/s
    double impulse;      // of the last step, N s
    double recent;       // PCS_RECENT after a step with an impulse, one less after each other one
    double sunk;         // penetration that impacts explain since the gap was positive last, m
} certify_row;

// Sums and maxima over the rows of all processes in a step.
typedef struct certify_survey {
    bool is_hit, acts;           // a contact closes, a contact got an impulse
    bool is_ambiguous;           // a contact is ambiguous
    double held, held_by_joints; // J, largest energy of an impulse on the mass it acts on: contacts, all rows
    double momentum[3];          // kg m/s, given by all impulses, friction included
    double size;                 // kg m/s, sum of the absolute parts of normal impulses
} certify_survey;

struct pcs_certifier {
    const pcs_scheme *scheme;
    pcs_system *system;
    const pcs_rule *rule;
    pcs_check *check[CERTIFY_COUNT]; // each condition among the checks of `now`, NULL if it does not apply
    certify_memory now, kept;        // present, and saved at the mark
    certify_row *rows, *kept_rows;   // [nrow] present, and saved at the mark
    bool iterates;                   // steps are iterations on a nonlinear model
    bool is_controlled;              // step-size control chooses the steps
    bool needs_middle;               // a law is evaluated at q_M
    double stiffness;                // N/m, largest entry of K at the start, times the number of equations
    // Current step:
    const pcs_state *x;
    const pcs_step_report *report;
    double h;                // s, its length
    const pcs_state *before; // its start, NULL if unknown
    const pcs_state *from;   // its start if equations of motion are checked, else NULL
    bool is_examined;        // forces are checked against the energies
    bool is_greedy;          // the step gains more than its share of the energy left
    certify_survey survey;   // sums over its rows
    double residual;         // N s, sum of the residuals of its equations
    double leftover;         // J, work of these residuals
    double available;        // J, energy available in the step
    double speed;            // m/s, sqrt(2 E / m), E the largest energy so far
    bool has_rebound;        // `rebound` is evaluated
    bool has_moved;          // rows were evaluated elsewhere than at the end of the step
    int allowed;             // check to which `tolerance` belongs, -1 if none
    int equation;            // equation that is judged, -1 if none
    // Work over the rows:
    double *gap, *bias;                                        // [nrow] at the end; (dG/dt) v, m/s^2
    double *start_gap, *start_rate, *middle_gap, *middle_rate; // [nrow] g_n, G_n v_n, g(q_M) and G_M v_n
    double *z, *z_t;                                           // [nrow], [ntangent] multipliers
    double *moved, *jump;                                      // [nrow] effect of multipliers on gaps and velocities
    double *gap_error;                                         // [nrow] error of the gaps, m
    double *drive[4];                 // [nrow] displacements and speeds of driven rows at both ends
    double (*point)[3], (*normal)[3]; // [nrow + ncompliant] positions of points, m, if there are joints; else NULL
    bool *is_spare;                   // [nrow] belongs to no pair of bodies, in a step that is examined
    double *rebound;                  // [ntangent] velocity that e_t multiplies, m/s, NULL if there is none
    pcs_passage_row *ends;            // [nrow] rows at both ends
    // Work over the equations:
    double *origin;                                            // [nq] zero
    double *f0, *f, *increment;                                // [nv] smooth forces at both ends; the increment of q
    double *e, *r, *b, *tolerance;                             // [nv] a residual r = M e - b
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
    enum { REMEMBERED = 64 }; // number of steps over which filters carry residuals on
    *sum = latest + (1.0 - 1.0 / REMEMBERED) * *sum;
    if (*sum < DBL_MIN) *sum = 0.0; // denormal numbers are slow
}

static inline bool pcs_certify_is_on(const pcs_certifier *self, int check)
{
    return self->check[check] != NULL;
}

// Records value/tolerance in a check that applies, by a division.
void pcs_certify_accumulate_scale(pcs_certifier *self, int check, double value, double tolerance, int row);

// Returns true if value/tolerance is worse than the worst so far. If not, it changes nothing.
static inline bool pcs_certify_is_news(const pcs_certifier *self, int check, double value, double tolerance)
{
    const pcs_check *c = self->check[check];
    // In any rounding mode a value up to the product has a ratio up to the worst so far.
    return c != NULL && !(c->tolerance > 0.0 && value <= c->worst_ratio * (1.0 - 4.0 * DBL_EPSILON) * tolerance);
}

// Records value/tolerance in a check, which fails if the ratio is above 1 or NaN. The row may be -1.
static inline void pcs_certify_note(pcs_certifier *self, int check, double value, double tolerance, int row)
{
    if (pcs_certify_is_news(self, check, value, tolerance))
        pcs_certify_accumulate_scale(self, check, value, tolerance, row);
}

// Evaluates rows at q: their gaps, their directions into self->G and T, and G v. Arguments that are not needed are
// NULL. Matrices of the system stay.
void pcs_certify_evaluate(pcs_certifier *self, double t, const double *q, double *gap, const double *v, double *rate);

// Surveys the reports of the rows, once; multipliers go to z and z_t.
void pcs_certify_survey(pcs_certifier *self);
// Checks the laws of the rows of this process, then sums over all rows. z and z_t hold the last multipliers.
void pcs_certify_rows(pcs_certifier *self);
void pcs_certify_all_rows(pcs_certifier *self);

// Checks the equations of motion; self->from must not be NULL.
void pcs_certify_motion(pcs_certifier *self);

// Draws a pseudo-random direction of this size, m, the same in every run.
void pcs_certify_draw(const pcs_certifier *self, double size, double *d);
// Returns the size of the model, m; 1 for a single point without size.
double pcs_certify_length(const pcs_certifier *self);

#endif
