// The judgement of a step, and what it remembers, reports and stores in checkpoints. Before the first step the model is
// compared with the case: coefficients of contacts with its text, travel times of waves with mass and stiffness.

#include "sim/certify.h"

#include "core/comm.h"
#include "core/dense.h"
#include "core/rotation.h"
#include "core/rounding.h"
#include "core/text.h"
#include "step/projection.h"
#include "step/sums.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

// Memory from step to step, without its arrays. Members from measure to contradictions are 8-byte numbers,
// which checkpoints store as one block.
typedef struct certify_memory {
    pcs_check checks[CERTIFY_COUNT]; // those that apply, in order
    pcs_certificate certificate;     // points into the checks that are in use
    int bad_row, bad_equation;       // of the first violation, -1 if none; the row by its index in one process
    pcs_measure measure;             // energies and momentum of the last state
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

// Maxima, then sums over the rows of all processes in a step; the first three are true or false.
typedef struct certify_survey {
    double is_hit, acts;         // a contact closes, a contact got an impulse
    double is_ambiguous;         // a contact is ambiguous
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
    double *gap, *bias;             // [nrow] at the end; (dG/dt) v, m/s^2
    double *start_gap, *start_rate; // [nrow] g_n and G_n v_n, or g(q_M) and G_M v_n
    double *z, *z_t;                // [nrow], [ntangent] multipliers
    double *moved, *jump;           // [nrow] effect of multipliers on gaps and velocities
    double *gap_error;              // [nrow] error of the gaps, m
    double *drive[4];               // [nrow] displacements and speeds of driven rows at both ends
    bool *is_spare;                 // [nrow] belongs to no pair of bodies, in a step that is examined
    double *rebound;                // [ntangent] velocity that e_t multiplies, m/s, NULL if there is none
    pcs_passage_row *ends;          // [nrow] rows at both ends
    // Work over the equations:
    double *origin;                                            // [nq] zero
    double *f0, *f, *increment;                                // [nv] smooth forces at both ends; the increment of q
    double *e, *r, *b, *tolerance;                             // [nv] a residual r = M e - b
    double *stage_v[PCS_MAX_STAGES], *stage_a[PCS_MAX_STAGES]; // [nv] stages of PCS_RULE_RUNGE_KUTTA
    pcs_rows *G, *T;                                           // directions at the position asked for
    pcs_matrix *M;                                             // mass there
    double *dense;                                             // [nv * nv] work, if the mass varies
};

// Adds the latest term to a sum over recent steps, in which older ones decay.
static void certify_fade(double *sum, double latest)
{
    enum { REMEMBERED = 64 }; // number of steps over which filters carry residuals on
    *sum = latest + (1.0 - 1.0 / REMEMBERED) * *sum;
    if (*sum < DBL_MIN) *sum = 0.0; // denormal numbers are slow
}

static bool certify_is_on(const pcs_certifier *self, int check)
{
    return self->check[check] != NULL;
}

// Which checks apply, and the worst ratio of each.
//
// If rows are distributed over processes, each judges its own, and the worst of every check is joined: if several
// have the same, the first of them has it, and the violation that counts is that of the first row, as in one process.

static bool check_only_reports(const pcs_rule *rule, int check)
{
    switch (check) {
    case CERTIFY_PENETRATION:
    case CERTIFY_GAP_ERROR: return rule->level == PCS_LEVEL_ACCELERATION;
    // Allows forward Euler, which gains in every step, more. A run that has gained half of all energy fails even so.
    case CERTIFY_GROWTH: return rule->gains_energy && rule->kind != PCS_RULE_EULER;
    case CERTIFY_RISE: return rule->gains_energy;
    default: return check == CERTIFY_CONTRADICTION || check == CERTIFY_NUMERICAL || check == CERTIFY_CORRECTION;
    }
}

static void check_add(pcs_certifier *self, int check, bool applies, const char *unit, const char *name)
{
    bool is_marked = check == CERTIFY_NUMERICAL || check == CERTIFY_CORRECTION;
    if (!applies) return;
    self->check[check] = &self->now.checks[self->now.certificate.ncheck++];
    *self->check[check] = (pcs_check){ .name = name,
                                       .unit = unit,
                                       .is_reported_only = check_only_reports(self->rule, check),
                                       .mark = check == CERTIFY_GAP_ERROR ? 0.01 : is_marked };
}

static void certify_choose(pcs_certifier *self)
{
    const pcs_scheme_ops *ops = self->scheme->ops;
    const pcs_system *system = self->system;
    const pcs_rule *rule = self->rule;
    const pcs_row_set *set = &system->row_set;
    bool is_mesh = pcs_system_is_mesh(system);
    bool rows = pcs_system_nrow(system) > 0, presses = pcs_system_ncompliant(system) > 0;
    bool limits = rows && pcs_rule_limits_gaps(rule), has_impacts = rows && rule->position != PCS_POSITION_FORCE;
    bool corrects = limits && has_impacts, separates = rows && pcs_rule_separates_impacts(rule);
    bool gates = has_impacts && ((limits && system->is_linear) || rule->gate != PCS_GATE_NONE);
    bool bends = rows && pcs_system_has_bias(system);
    bool has_friction = pcs_system_ntangent(system) > 0 && rule->position != PCS_POSITION_FORCE;
    bool rotates = set->ndriven > 0 && !system->is_linear && rule->impact != PCS_IMPACT_LOCATED;
    bool passes = set->may_pass && (set->may_change || rule->impact != PCS_IMPACT_LOCATED);
    bool spins = system->rotations.are_somewhere && !(presses && pcs_system_is_damped(system));
    bool powers = system->soft_friction == NULL && (is_mesh || system->is_linear);
    bool closes = pcs_rule_has_closed_loss(rule) && system->is_linear;
    bool travels = rule->kind == PCS_RULE_WAVE && isfinite(ops->ask_waves(system, self->scheme->params).mismatch);
#define CERTIFY_ADD(check, applies, unit, name) check_add(self, CERTIFY_##check, applies, unit, name);
    CERTIFY_CHECKS(CERTIFY_ADD)
    self->now.certificate.checks = self->now.checks;
    self->now.bad_row = self->now.bad_equation = -1;
}

// Records value/tolerance in a check, by a division if it is worse than the worst so far.
static void check_record(pcs_certifier *self, int check, double value, double tolerance, int row)
{
    pcs_check *c = self->check[check];
    certify_memory *now = &self->now;
    if (value <= 0.0 && c->tolerance > 0.0) return;
    // Allows nothing where unbounded motion gives inf - inf, so that no message says nan.
    if (isnan(tolerance)) tolerance = DBL_MIN;
    if (isnan(value)) value = INFINITY;
    double ratio = value <= 0.0 ? 0.0 : value / tolerance;
    if (isnan(ratio)) ratio = INFINITY;
    if (ratio > c->worst_ratio || c->tolerance == 0.0) {
        c->worst_ratio = ratio;
        c->worst_value = value <= 0.0 ? 0.0 : value;
        c->tolerance = tolerance;
        c->worst_time = self->x == NULL ? 0.0 : self->x->t;
    }
    if (!(ratio > 1.0) || c->is_reported_only || now->certificate.broken != NULL) return;
    now->certificate.broken = c;
    now->bad_row = pcs_row_number(self->system, row);
    now->bad_equation = self->equation;
}

// Compares value/tolerance with the worst of a check that applies; it fails if the ratio is above 1 or NaN. The row may
// be -1. In any rounding mode a value up to the product here has a ratio up to the worst so far.
static inline void certify_note(pcs_certifier *self, int check, double value, double tolerance, int row)
{
    const pcs_check *c = self->check[check];
    bool is_known =
        c == NULL || (c->tolerance > 0.0 && value <= c->worst_ratio * (1.0 - 4.0 * DBL_EPSILON) * tolerance);
    if (!is_known) check_record(self, check, value, tolerance, row);
}

// Gets the worst ratio of each check of rows, equal in all processes between steps. -1 if none was recorded or the
// check is not about rows.
static void certify_part(const pcs_certifier *self, double *ratio)
{
    for (int i = 0; i < CERTIFY_COUNT; i++) {
        const pcs_check *c = self->check[i];
        bool is_known = c != NULL && (i <= CERTIFY_ROTATION || i >= CERTIFY_PENETRATION);
        is_known = is_known && !(c->tolerance == 0.0 && c->worst_ratio == 0.0);
        ratio[i] = is_known ? c->worst_ratio : -1.0;
    }
}

// Sends the record of the first process with the worst ratio of a check to all.
static void join_check(pcs_certifier *self, int check, bool is_worst)
{
    const pcs_system *system = self->system;
    pcs_check *c = self->check[check];
    int number = pcs_process_number(system->ctx);
    double reported[CHECK_WORDS] = { 0.0 };
    double first = pcs_rows_max(system, is_worst ? -number : -pcs_process_count(system->ctx));
    if (first == -number) memcpy(reported, &c->worst_ratio, sizeof reported);
    pcs_rows_sum(system, CHECK_WORDS, reported);
    memcpy(&c->worst_ratio, reported, sizeof reported);
}

// Makes the worst ratios since those `before`, and the first violation of the rows, known to all processes. Exchanges
// more only if a ratio has grown or a check failed.
static void certify_join(pcs_certifier *self, const double *before, bool was_broken)
{
    certify_memory *now = &self->now;
    double here[CERTIFY_COUNT + 1], worst[CERTIFY_COUNT + 1], *broken = &worst[CERTIFY_COUNT];
    certify_part(self, here);
    bool breaks = now->certificate.broken != NULL && !was_broken;
    // The first row, and in it the first check: no other process has that row.
    here[CERTIFY_COUNT] =
        breaks ? -(now->bad_row * (double)CERTIFY_COUNT + (double)(now->certificate.broken - now->checks)) : -INFINITY;
    memcpy(worst, here, sizeof worst);
    pcs_rows_max_each(self->system, CERTIFY_COUNT + 1, worst);
    for (int i = 0; i < CERTIFY_COUNT; i++)
        if (worst[i] != before[i]) join_check(self, i, here[i] == worst[i]);
    if (*broken == -INFINITY) return;
    long which = (long)-*broken;
    now->certificate.broken = &now->checks[which % CERTIFY_COUNT];
    now->bad_row = (int)(which / CERTIFY_COUNT);
}

// Evaluates rows at q: their gaps, their directions into self->G and T, and G v. Arguments that are not needed are
// NULL. Matrices of the system stay.
static void certify_evaluate(pcs_certifier *self, double t, const double *q, double *gap, const double *v, double *rate)
{
    pcs_row_values out = { .gap = gap };
    if (self->system->row_set.vary) {
        out.G = self->G;
        out.T = self->T;
    }
    if (gap != NULL || out.G != NULL) {
        self->system->ops->evaluate_rows(self->system, pcs_at(t, q, NULL), &out);
        self->has_moved = true;
    }
    for (int j = 0; j < (rate == NULL ? 0 : self->system->nrow); j++) rate[j] = pcs_rows_dot(self->G, j, v);
}

// The laws of contacts and joints, on gaps and rates evaluated anew from the state:
//
//   positions (schemes that state it)        g >= 0,  nu >= 0,  one of them 0;  gate agrees with g(q - X nu)
//   velocities, on gated rows                xi = G v + target >= 0,  La >= 0,  one of them 0;  La = 0 elsewhere
//   forces, of all contacts                  smooth force, impact and sum over the step >= 0
//   bilateral rows                           g = 0 (position level), xi = 0; multipliers of any sign
//   target                                   e of the case times the rate that the scheme says, and the speed of
//                                            driven rows
//   gate                                     imposed where the scheme says: g_n + (h/2) G_n v_n <= 0, or g(q_M) < tol
//                                            wave.c: g_n + share h G Vf <= 0, or held since the step before
//   friction                                 below
//   held contacts (schemes that state it)    G (q - q_n) = (h/2) G (v_n + v), nu = 0 on others
//   impulse law                              G v - G v_before = G M^-1 G^T La
//   impact loss                              -La . G (v_before + v)/2 over all contacts
//   penetration                              at most 2 max|gap rate| h for schemes that penetrate by design, and h^2
//                                            |(dG/dt) v| more with every step of a lasting contact on a curved path
//
// Lengths to 1e-13 of the model, of the gap and of the positions along it, velocities to 1e-11 V and to what directions
// turn by when positions round off, impulses to m_eff 1e-11 V; V = sqrt(2 E / m) with the largest energy so far, or the
// velocities of the row if larger. Besides, what impulses of the row, or of its joint, do to it rounds off. A gap rate
// is at most sqrt(2 E_n / m_eff) with the energy E_n that there was before the step: a state that has no business to be
// fast buys no penetration.

// Returns the size of the model, m; 1 for a single point without size.
static double certify_length(const pcs_certifier *self)
{
    double length = self->system->length;
    return length > 0.0 ? length : 1.0;
}

// Draws the direction d, of this size in m; the same over any number of processes.
static void certify_draw(const pcs_certifier *self, double size, double *d)
{
    const pcs_system *system = self->system;
    for (int i = 0; i < system->nv; i++) {
        double arm = system->arms == NULL ? 1.0 : system->arms[i];
        bool has_serial = system->layout != NULL && i < system->layout->n;
        int number = has_serial ? system->layout->serial[i] : i;
        unsigned long long x = (unsigned long long)number + 1 + 1024ULL * (unsigned long long)self->now.count;
        d[i] = size / arm * pcs_draw(pcs_mix(x * PCS_MIX_STEP));
    }
}

static const double of_direction = 1e-3, of_bend = 1e-2; // fractions of their terms

// A row at the end of the step, for all checks.
typedef struct row_now {
    int row;
    const pcs_row_report *row_report;
    const pcs_row *law;
    double mass;      // kg, effective mass
    double gap, rate; // m and m/s
    double length;    // m, round-off of the gap
    double target;    // m/s, the velocity law is rate + target >= 0
} row_now;

// Fills z and z_t with the multipliers of the last impulses.
static void rows_fill_last(pcs_certifier *self)
{
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row *law = &self->system->rows[j];
        self->z[j] = self->report->rows[j].multiplier;
        for (int t = 0; t < law->ntangent; t++)
            self->z_t[law->first_tangent + t] = self->report->rows[j].last_tangent[t];
    }
}

// Returns true if restitution of PCS_RATE_BEFORE applies in this step.
static bool rows_may_rebound(const pcs_certifier *self)
{
    return self->rule->impact != PCS_IMPACT_WHEN_CLOSING || self->survey.is_hit > 0.0;
}

// Coulomb's law of the contacts, on tangential velocities evaluated anew from the state. Friction Lt that came with the
// impulse La, and the velocity that the law of the scheme is about,
//
//   |Lt| <= mu La,    xt = T v + e_t u,    xt = 0 inside the disc and against Lt on its edge
//   u   T_n v_n: restitution of the start (rule.h);  T v_n along the directions of the law: of the middle, and where
//       the rule has none;  T v before the impulses: of impacts, else 0
//
// are one equation: Lt = P(Lt - m xt), P the nearest point of the disc, for any mass m. What it is off by, over m, is a
// velocity: |xt| where friction is inside the disc, and the smaller of |xt| and mu La/m times the angle between Lt and
// -xt on its edge. Of schemes with several stages this is the last one; impulses summed over a step stay in the sum of
// the discs.

// Evaluates the velocities for the tangential restitution.
static void friction_find_rebound(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_state *from = self->from;
    pcs_rate_kind kind = self->rule->rate;
    self->has_rebound = kind == PCS_RATE_BEFORE || from != NULL;
    if (self->rebound == NULL || !self->has_rebound) return;
    if (kind == PCS_RATE_START) certify_evaluate(self, from->t, from->q, NULL, NULL, NULL);
    if (kind != PCS_RATE_BEFORE) {
        pcs_rows_multiply(kind == PCS_RATE_START ? self->T : system->T, from->v, self->rebound);
    } else if (rows_may_rebound(self)) { // T v before the last impulses
        rows_fill_last(self);
        memcpy(self->b, self->x->v, (size_t)system->nv * sizeof *self->b);
        pcs_projection_push(self->scheme->solver, -1.0, self->z, self->z_t, self->b);
        pcs_rows_multiply(system->T, self->b, self->rebound);
    } else {
        memset(self->rebound, 0, (size_t)system->ntangent * sizeof *self->rebound);
    }
}

// Checks |Lt - P(Lt - m xt)|/m, m/s.
static void friction_check_slip(pcs_certifier *self, int row, double mass, double tolerance)
{
    const pcs_row *law = &self->system->rows[row];
    const pcs_row_report *r = &self->report->rows[row];
    double y[2] = { r->last_tangent[0], r->last_tangent[1] }, impulse = hypot(y[0], y[1]);
    if (!(r->multiplier > 0.0) && impulse == 0.0) return;
    if (law->tangent_restitution != 0.0 && !self->has_rebound) return;
    for (int t = 0; t < law->ntangent; t++) {
        int k = law->first_tangent + t;
        double slip = pcs_rows_dot(self->system->T, k, self->x->v);
        if (self->rebound != NULL) slip += law->tangent_restitution * self->rebound[k];
        y[t] -= mass * slip;
    }
    double limit = law->friction * pcs_max(r->multiplier, 0.0), length = hypot(y[0], y[1]);
    double share = length > limit ? limit / length : 1.0;
    double off = hypot(r->last_tangent[0] - share * y[0], r->last_tangent[1] - share * y[1]) / mass;
    certify_note(self, CERTIFY_SLIP, off, tolerance + PCS_ROUND_SUM * impulse / mass, row);
}

// Checks Coulomb's law of a row, with its effective mass and a velocity tolerance.
static void friction_check(pcs_certifier *self, int row, double mass, double tolerance)
{
    const pcs_row_report *r = &self->report->rows[row];
    double friction = self->system->rows[row].friction;
    double last = friction * fabs(r->multiplier), all = friction * fabs(r->step_impulse);
    double beyond =
        pcs_max(hypot(r->last_tangent[0], r->last_tangent[1]) - last, hypot(r->tangent[0], r->tangent[1]) - all);
    certify_note(self, CERTIFY_CONE, beyond, mass * tolerance + PCS_ROUND_SUM * (last + all), row);
    if (certify_is_on(self, CERTIFY_SLIP)) friction_check_slip(self, row, mass, tolerance);
}

// Checks that friction of force laws lies within its cone at the end of the step.
static void friction_check_soft(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) {
        const pcs_row_report *r = &self->report->rows[j];
        double limit = system->rows[j].friction * r->multiplier, beyond = hypot(r->last_tangent[0], r->last_tangent[1]);
        certify_note(self, CERTIFY_CONE, beyond - limit, PCS_ROUND_SUM * limit, j);
    }
}

// Compares gaps of joints, and of closed contacts, with the deformation: a joint that opens, or a contact that
// sinks, by as much as the model deforms gives displacements and forces of another model, however small the gap is
// relative to the size of the model.
//
//   joints      error = |g|, angles times the size of the model
//   contacts    error = -g - s - d,   s = penetration that impacts explain: that before, and 2 h times the speed of
//               approach when an impulse begins; d = drift of curved paths. Held contacts do not move.
//
//   driven      error = |g| - d,   d = displacement that the mean of the speeds at both ends of a step misses, of which
//               the law of such rows removes a quarter in each of the next steps
//
// The deformation is the largest difference, so far, of displacements along an axis, or of rotations, up to a radian,
// times the size of the model, between nodes, supports included. For one rigid body and for driven rows it is the
// motion itself. Schemes that hold gaps by a law of their own are judged by that law, to round-off, instead.

enum { AXES = 7 };           // displacements, rotations, and coordinates of a closed form
enum { STEPS_BETWEEN = 16 }; // between updates of the deformation, which cost a pass

// Returns the largest relative displacement of the state, m; *motion gets the largest displacement.
static double gap_error_deformation(const pcs_certifier *self, double *motion)
{
    const pcs_system *system = self->system;
    double end[2 * AXES], span = 0.0; // largest, and negated smallest
    for (int a = 0; a < AXES; a++) end[a] = end[AXES + a] = system->scale.holds[a] ? 0.0 : -INFINITY;
    for (int i = 0; i < pcs_system_nown(system); i++) {
        int a = system->scale.axis[i];
        double x = self->x->q[i] * (system->arms == NULL ? 1.0 : system->arms[i]);
        if (a >= 3 && a < 6) x = pcs_min(pcs_max(x, -system->length), system->length); // the rest is rigid motion
        end[a] = pcs_max(end[a], x);
        end[AXES + a] = pcs_max(end[AXES + a], -x);
    }
    if (system->layout != NULL) system->layout->comm->max(system->layout->comm, 2 * AXES, end);
    *motion = 0.0;
    for (int a = 0; a < AXES; a++) {
        if (end[a] == -INFINITY) continue;
        *motion = pcs_max(*motion, pcs_max(end[a], end[AXES + a]));
        span = pcs_max(span, end[a] + end[AXES + a]);
    }
    return span > PCS_ROUND_LENGTH * *motion ? span : *motion;
}

// Returns the error of a contact in this step, m. Records the penetration that its impact explains in `sunk`.
static double gap_error_of_contact(pcs_certifier *self, int row)
{
    certify_row *kept = &self->rows[row];
    double depth = -self->gap[row], before = pcs_max(0.0, -kept->gap), h = self->h;
    double approach = pcs_max(0.0, -kept->rate);
    if (depth <= 0.0) kept->sunk = 0.0;
    if (!(self->report->rows[row].step_impulse > 0.0) || depth <= 0.0) return 0.0;
    if (!(kept->impulse > 0.0) || h == 0.0) {
        double explained = h == 0.0 ? depth : before + 2.0 * h * approach;
        kept->sunk = pcs_max(kept->sunk, pcs_min(depth, explained));
    }
    return depth - kept->sunk - kept->drift;
}

// Computes the error of a row beyond round-off, while its record is still that of the step before.
static void gap_error_find(pcs_certifier *self, int row)
{
    const pcs_row *law = &self->system->rows[row];
    double size = fabs(self->gap[row]) * (law->is_angle ? self->system->length : 1.0);
    double gap_error = law->is_bilateral ? size - self->rows[row].overlap : gap_error_of_contact(self, row);
    if (law->is_bilateral && self->h == 0.0) self->rows[row].overlap = size;
    self->gap_error[row] = gap_error - 1e3 * pcs_gap_tie(self->system, row, self->x->q);
}

// Checks that driven rotations are below a radian per step of the case. Longer steps cut a circle into chords, and
// smaller ones in their place only follow the error. Leaves in `drive` the motions at the ends of this step.
static void gap_error_check_drives(pcs_certifier *self)
{
    pcs_system *system = self->system;
    double t = self->x->t, h = self->h, step = self->is_controlled ? h : self->scheme->step;
    double start = pcs_min(t - h, pcs_max(t - step, 0.0)); // start of the step of the case that ends here
    if (system->row_set.ndriven == 0 || !(h > 0.0)) return;
    pcs_system_drives(system, start, self->drive[0], self->drive[1]);
    pcs_system_drives(system, t, self->drive[2], self->drive[3]);
    for (int j = 0; j < system->nrow && !self->report->is_joined; j++)
        if (system->rows[j].is_driven && system->rows[j].is_angle)
            certify_note(self, CERTIFY_ROTATION, fabs(self->drive[2][j] - self->drive[0][j]), 0.9, j);
    pcs_system_drives(system, t - h, self->drive[0], self->drive[1]);
}

// Subtracts from the errors of driven rows the displacement that their speeds at the ends of steps do not give.
static void gap_error_explain_drives(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double h = self->h, after = isfinite(self->rule->move) ? self->rule->move : 0.5;
    double left = 1.0 - 0.25 * h / pcs_max(h, self->scheme->step);
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_driven) continue;
        double mean = (1.0 - after) * self->drive[1][j] + after * self->drive[3][j];
        double missed = fabs(self->drive[2][j] - self->drive[0][j] - h * mean);
        double size = system->rows[j].is_angle ? system->length : 1.0;
        self->rows[j].drift = left * self->rows[j].drift + 2.0 * size * missed;
        self->gap_error[j] -= self->rows[j].drift;
    }
}

// Compares the errors of all rows with the deformation.
static void gap_error_check(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    certify_memory *now = &self->now;
    double worst = 0.0, motion = 0.0;
    gap_error_check_drives(self);
    if (!certify_is_on(self, CERTIFY_GAP_ERROR)) return;
    if (system->row_set.ndriven > 0 && self->h > 0.0) gap_error_explain_drives(self);
    for (int j = 0; j < system->nrow; j++) worst = pcs_max(worst, self->gap_error[j]);
    worst = pcs_rows_max(system, worst);
    if (!(worst > 0.0) && self->x->step % STEPS_BETWEEN != 0) return;
    now->deformation = pcs_max(now->deformation, gap_error_deformation(self, &motion));
    if (self->h == 0.0) return; // an error at the start comes from the case
    for (int j = 0; j < system->nrow; j++) {
        double scale = system->rows[j].is_driven ? pcs_max(motion, now->deformation) : now->deformation;
        certify_note(self, CERTIFY_GAP_ERROR, self->gap_error[j], 0.1 * scale, j);
    }
}

// Adds the momentum of an impulse along a row of G or T, as it was imposed last; raises *size by its absolute parts.
static void rows_add_momentum(const pcs_system *system, const pcs_rows *rows, int row, double impulse, double sum[3],
                              double *size)
{
    double along[3];
    if (impulse == 0.0) return;
    pcs_row_resultant(system, rows, row, along);
    for (int k = 0; k < 3; k++) {
        sum[k] += impulse * along[k];
        if (size != NULL) *size += fabs(impulse * along[k]);
    }
}

static void rows_survey_one(const pcs_certifier *self, int row, certify_survey *sum)
{
    const pcs_system *system = self->system;
    const pcs_row *law = &system->rows[row];
    const pcs_row_report *r = &self->report->rows[row];
    double impulse = pcs_max(fabs(r->multiplier), fabs(r->step_impulse));
    if (r->is_impact) sum->is_hit = 1.0;
    if (r->gate_is_contradictory) sum->is_ambiguous = 1.0;
    if (r->step_impulse != 0.0 && !law->is_bilateral) sum->acts = 1.0;
    rows_add_momentum(system, system->G, row, r->step_impulse, sum->momentum, &sum->size);
    for (int t = 0; t < law->ntangent; t++)
        rows_add_momentum(system, system->T, law->first_tangent + t, r->tangent[t], sum->momentum, NULL);
    if (law->is_bilateral) impulse += fabs(r->force) * self->h;
    if (impulse == 0.0) return;
    double held = 0.5 * impulse * impulse / self->scheme->solver->effective_mass[row];
    if (!law->is_bilateral) sum->held = pcs_max(sum->held, held);
    sum->held_by_joints = pcs_max(sum->held_by_joints, held);
}

static void certify_survey_rows(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    certify_survey *sum = &self->survey;
    *sum = (certify_survey){ 0 };
    rows_fill_last(self);
    for (int j = 0; j < system->nrow; j++) rows_survey_one(self, j, sum);
    pcs_rows_max_each(system, 5, &sum->is_hit);
    pcs_rows_sum(system, 4, sum->momentum);
}

// Computes gap changes by multipliers of the last stage, G X (nu + k h La) + G XT k_t h Lt, m, for the check of gates.
static void rows_find_moves(pcs_certifier *self)
{
    const pcs_row_report *rows = self->report->rows;
    double k = self->h * self->rule->impulse_weight, k_t = self->h * self->rule->tangent_impulse_weight;
    if (!pcs_rule_limits_gaps(self->rule) || !certify_is_on(self, CERTIFY_GATE)) return;
    for (int j = 0; j < self->system->nrow; j++) {
        self->z[j] = rows[j].nu + k * rows[j].multiplier;
        for (int t = 0; t < self->system->rows[j].ntangent; t++)
            self->z_t[self->system->rows[j].first_tangent + t] = k_t * rows[j].last_tangent[t];
    }
    pcs_projection_rates(self->scheme->solver, self->z, self->z_t, self->moved);
}

// Returns the round-off of a gap, m, from the positions at the start of the step: these may be larger than the model,
// as angles are after many rotations, and cancel in the gap.
static double rows_length(const pcs_certifier *self, int row)
{
    const double *q = self->from != NULL ? self->from->q : self->x->q;
    return pcs_gap_tie(self->system, row, q) + PCS_ROUND_LENGTH * self->rows[row].largest_gap;
}

static void rows_check_position(pcs_certifier *self, const row_now *now)
{
    const pcs_row_report *r = now->row_report;
    double mass = now->mass, gap = now->gap;
    if (!pcs_rule_limits_gaps(self->rule)) return;
    // Adds the round-off of the displacement nu/m_eff and of the violation that it removes, as they cancel.
    double length = now->length + PCS_ROUND_SUM * fabs(r->nu) / mass;
    if (now->law->is_bilateral) {
        certify_note(self, CERTIFY_GAP, fabs(gap), length, now->row);
        return;
    }
    certify_note(self, CERTIFY_GAP, fabs(pcs_larger(-gap, -r->nu / mass)), length, now->row);
    if (r->gate_is_contradictory || (r->is_gated && r->nu > 0.0)) return; // a choice, or the gap law decides alone
    double smooth = gap - self->moved[now->row]; // gap that the smooth motion alone would have left
    double off = r->is_gated ? smooth : pcs_max(-smooth, r->nu / mass);
    certify_note(self, CERTIFY_GATE, off, length, now->row);
}

// Returns the round-off of a gap rate, m/s, from the rotation of its direction: a large angle gives the direction only
// to the round-off of the angle. An entry of the direction that vanishes here may change fastest, so the largest entry
// is used for all. For angles of a mesh the lever arm is the size of the model.
static double rows_rotate(const pcs_certifier *self, int row)
{
    const pcs_system *system = self->system;
    const pcs_rows *G = system->G;
    double arm = 0.0, place = 0.0, speed = 0.0;
    if (!system->row_set.vary) return 0.0;
    for (int k = G->start[row]; k < G->start[row + 1]; k++) {
        int i = G->column[k];
        arm = pcs_max(arm, fabs(G->value[k]));
        place = pcs_max(place, pcs_system_size(system, i, self->x->q[i]));
        speed = pcs_max(speed, pcs_system_size(system, i, self->x->v[i]));
    }
    if (system->arms != NULL) arm = 1.0;
    return PCS_ROUND_SUM * (arm * place / system->length) * (arm * speed);
}

// Bounds the velocity, m/s, that impulses of a joint's rows give to one of them: sum |W_ij| |P_j|, W = G M^-1 G^T. In
// light parts the terms are far larger than their sum, which keeps their round-off.
static double rows_exchange(const pcs_certifier *self, const row_now *now)
{
    const double *mass = self->scheme->solver->effective_mass;
    double sum = 0.0, h = self->h;
    const pcs_contact_info *joint = &self->system->contacts[now->law->contact];
    for (int j = joint->first_row; j < joint->first_row + joint->nrow; j++)
        sum += (fabs(self->report->rows[j].multiplier) + h * fabs(self->report->rows[j].force)) / sqrt(mass[j]);
    return sum / sqrt(now->mass);
}

// Returns true if a weight of the tableau is negative: then the mean of pushing forces may pull.
static bool rows_mean_may_pull(const pcs_tableau *tableau)
{
    bool may = false;
    int count = tableau == NULL ? 0 : tableau->s;
    for (int k = 0; k < count; k++) may = may || tableau->b[k] < 0.0;
    return may;
}

// Returns the largest pull of a contact, N s: by the multiplier of its law, by the smooth part, the impact or the sum
// of its impulses, for any law that the scheme solves.
static double rows_pull(const pcs_certifier *self, const pcs_row_report *r)
{
    double force = self->h * r->force;
    if (rows_mean_may_pull(self->rule->tableau)) return -pcs_min(r->multiplier, r->impulse);
    if (self->rule->position == PCS_POSITION_FORCE) return -force; // the sum over the step is filtered, and may pull
    return -pcs_min(pcs_min(r->multiplier, force), pcs_min(r->impulse, r->step_impulse));
}

// Returns by how much a row with xi = G v + target violates its law, m/s.
static double rows_off_law(const pcs_certifier *self, const row_now *now, double xi)
{
    const pcs_row_report *r = now->row_report;
    double jump = r->multiplier / now->mass;
    if (now->law->is_bilateral) return r->is_gated ? fabs(xi) : fabs(jump);
    double pull = rows_pull(self, r) / now->mass;
    if (self->rule->position == PCS_POSITION_FORCE) return pull;
    return pcs_larger(fabs(r->is_gated ? pcs_larger(-xi, -jump) : jump), pull);
}

static void rows_check_velocity(pcs_certifier *self, const row_now *now)
{
    const pcs_row_report *r = now->row_report;
    double mass = now->mass, xi = now->rate + now->target;
    double arm = now->law->is_angle ? self->system->length : 1.0; // the speed of an angle is of points this far, m
    double fastest = pcs_max(fabs(r->rate_before), fabs(now->target));
    if (self->speed / arm > fastest) fastest = self->speed / arm;
    double tolerance = PCS_ROUND_VELOCITY * fastest;
    // A joint that acts in the smooth motion obeys its law without its impulse, too.
    if (pcs_rule_has_smooth_joints(self->rule) && now->law->is_bilateral)
        xi = pcs_larger(fabs(xi), fabs(r->rate_before + now->target));
    double jump = now->rate - r->rate_before - self->jump[now->row];
    tolerance += PCS_ROUND_SUM * (fabs(r->multiplier) + self->h * fabs(r->force)) / mass; // for a light node
    tolerance += rows_rotate(self, now->row) / arm;
    if (self->rule->kind == PCS_RULE_CENTRAL) tolerance += now->length / self->h; // the law is one of gaps
    bool is_off = now->law->is_bilateral && pcs_max(fabs(xi), fabs(jump)) > tolerance;
    if (is_off) tolerance += PCS_ROUND_SUM * rows_exchange(self, now); // all rows of a joint, only if needed
    certify_note(self, CERTIFY_LAW, rows_off_law(self, now, xi), tolerance, now->row);
    certify_note(self, CERTIFY_IMPULSE_LAW, fabs(jump), tolerance, now->row);
    if (now->law->ntangent > 0) friction_check(self, now->row, mass, tolerance);
}

// Finds the gaps of gates and the rates of restitution: at the start of the step, along the present directions of rows,
// or in its middle, as the rule says. Returns false if unknown.
static bool rows_find_start(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    bool is_middle[] = { self->rule->gate == PCS_GATE_MIDDLE, self->rule->rate == PCS_RATE_MIDDLE };
    if (self->report->is_joined || !(self->h > 0.0)) return false;
    if (!self->system->row_set.vary && !is_middle[0] && !is_middle[1]) {
        for (int j = 0; j < self->system->nrow; j++) {
            self->start_gap[j] = self->rows[j].gap;
            self->start_rate[j] = self->rows[j].rate;
        }
        return self->now.count > 0;
    }
    if (from == NULL) return false;
    for (int k = 0; k < 2; k++) {
        double *gap = is_middle[0] == k ? self->start_gap : NULL, *rate = is_middle[1] == k ? self->start_rate : NULL;
        if (gap == NULL && rate == NULL) continue;
        for (int i = 0; i < self->system->nv; i++) self->b[i] = from->q[i] + 0.5 * k * self->h * from->v[i];
        certify_evaluate(self, from->t, self->b, gap, from->v, rate);
    }
    return true;
}

// Returns true for a contact between masses that waves do not carry, which has an impact (schemes/wave.c): the rest of
// a row of M is below 0.6 of its diagonal, and half of h^2 K is below that.
static bool rows_is_heavy(const pcs_certifier *self, int row)
{
    const pcs_system *system = self->system;
    const pcs_matrix *M = system->M;
    double h = self->h;
    for (int k = system->G->start[row]; k < system->G->start[row + 1]; k++) {
        int i = system->G->column[k];
        double mass = pcs_matrix_diagonal(M, i), rest = -mass, stiffness = pcs_matrix_diagonal(system->K, i);
        if (system->G->value[k] == 0.0) continue;
        for (int p = M->pattern->start[i]; p < M->pattern->start[i + 1]; p++) rest += fabs(M->value[p]);
        if (rest >= 0.6 * mass || 0.5 * h * h * stiffness >= mass) return false;
    }
    return system->G->start[row + 1] > system->G->start[row];
}

// Returns -(1 - e) G u_n/2 with u_n = 2 V - u; e is that of the case in the step that closes, and 0 later.
static double rows_reflected(const pcs_certifier *self, int row)
{
    const pcs_system *system = self->system;
    double before = 2.0 * pcs_system_rate(system, row, self->x->v) - pcs_system_rate(system, row, self->x->history[0]);
    double e = self->rows[row].impulse > 0.0 ? 0.0 : pcs_restitution(&system->rows[row], before);
    return rows_is_heavy(self, row) ? -0.5 * (1.0 - e) * before : 0.0;
}

// Returns the target, m/s, that the velocity law of a gated contact must have by the rule of the scheme, or the
// reported one if it cannot be computed.
static double rows_target(const pcs_certifier *self, int row, bool has_start)
{
    const pcs_row *law = &self->system->rows[row];
    const pcs_row_report *r = &self->report->rows[row];
    pcs_rate_kind kind = self->rule->rate;
    bool needs_start = kind != PCS_RATE_BEFORE && kind != PCS_RATE_REFLECTED;
    if (!r->is_gated || law->is_bilateral || (needs_start && !has_start)) return r->target;
    if (self->report->is_joined)
        return r->target; // the report does not say whether the last of several steps had an impact
    double start = self->start_rate[row];
    switch (kind) {
    case PCS_RATE_START:
    case PCS_RATE_MIDDLE: return pcs_restitution(law, start) * start;
    case PCS_RATE_BEFORE: return rows_may_rebound(self) ? pcs_restitution(law, r->rate_before) * r->rate_before : 0.0;
    case PCS_RATE_REFLECTED: return rows_reflected(self, row);
    case PCS_RATE_NONE: break;
    }
    return r->target;
}

// Returns the gap at the end of the step without the impulse of its only contact, which has moved positions by half a
// step of its jump; a position law beyond that has raised the gap to 0. Returns -INFINITY if several contacts act.
static double rows_gap_ahead(const pcs_certifier *self, int row)
{
    double gap = self->gap[row];
    if (!self->report->rows[row].is_gated) return gap;
    for (int j = 0; j < self->system->nrow; j++)
        if (j != row && self->report->rows[j].multiplier != 0.0) return -INFINITY;
    if (self->system->row_set.vary) return -INFINITY;
    return gap - 0.5 * self->h * self->jump[row];
}

// Checks the gate of a contact against the gap that the rule of the scheme predicts, for most rules at mid-step.
static void rows_check_forecast(pcs_certifier *self, const row_now *now)
{
    const pcs_row_report *r = now->row_report;
    if (now->law->is_bilateral || self->rule->gate == PCS_GATE_NONE) return;
    const pcs_rows *G = self->system->G;
    const double *v = self->from != NULL ? self->from->v : self->x->v;
    int first = G->start[now->row], count = G->start[now->row + 1] - first;
    double half = 0.5 * self->h * self->start_rate[now->row];
    // Allows the round-off of half a step of the velocity, of which only a part may be along the gap.
    double size = pcs_rounding_of_sum(count, G->value + first, G->column + first, v) / DBL_EPSILON;
    double length = now->length + PCS_ROUND_LENGTH * 0.5 * self->h * size;
    length += PCS_ROUND_LENGTH * self->h * fabs(self->rows[now->row].impulse) / now->mass;
    double foreseen = self->start_gap[now->row] + (self->rule->gate == PCS_GATE_MIDDLE ? 0.0 : half);
    if (self->rule->gate_looks_ahead) foreseen = pcs_min(foreseen, rows_gap_ahead(self, now->row));
    if (self->rule->gate == PCS_GATE_HELD) {
        double ahead = self->rule->gate_share * self->h * r->rate_before;
        foreseen = self->start_gap[now->row] + ahead;
        if (self->rows[now->row].impulse > 0.0) foreseen = -self->system->length;
        length += PCS_ROUND_SUM * fabs(ahead) + self->rule->gate_slack * self->h * fabs(r->rate_before);
    }
    // A tie within round-off may count as closed or open.
    if (r->gate_is_contradictory) return;
    certify_note(self, CERTIFY_GATE, r->is_gated ? foreseen : -foreseen, 2.0 * length, now->row);
}

// Checks the loss of impacts that are separate from the motion: the work of their impulses.
static void rows_check_impact(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double sum[3] = { 0.0 }; // loss and its magnitude, J, and impulse, N s
    if (!(self->survey.is_hit > 0.0) || self->report->is_joined || !certify_is_on(self, CERTIFY_IMPACT_LOSS)) return;
    for (int j = 0; j < system->nrow; j++) {
        double la = system->rows[j].is_bilateral ? 0.0 : self->report->rows[j].multiplier;
        double before = self->report->rows[j].rate_before, after = self->rows[j].rate;
        sum[0] -= 0.5 * la * (before + after);
        sum[1] += 0.5 * fabs(la) * (fabs(before) + fabs(after));
        sum[2] += fabs(la);
    }
    pcs_rows_sum(system, 3, sum);
    // Allows round-off of all velocities, however slowly this contact closes.
    double tolerance = 10.0 * PCS_ROUND_ENERGY * sum[1] + PCS_ROUND_VELOCITY * self->speed * sum[2];
    certify_note(self, CERTIFY_IMPACT_LOSS, fabs(self->report->impact_loss - sum[0]), tolerance, -1);
}

// Checks penetration: beyond the displacement of a step only round-off, the initial overlap, and the drift of a
// constrained velocity on a curved path are allowed. A joint may drift.
static void rows_check_penetration(pcs_certifier *self, const row_now *now)
{
    int row = now->row;
    certify_row *kept = &self->rows[row];
    if (!certify_is_on(self, CERTIFY_PENETRATION)) return;
    double gap = now->gap, h = self->h, fastest = sqrt(2.0 * self->available / now->mass);
    double rate = pcs_min(pcs_max(fabs(now->rate), fabs(now->row_report->rate_before)), fastest);
    const pcs_system *system = self->system; // points may move from row to row of a contact
    int at = system->row_set.may_change ? system->contacts[now->law->contact].first_row : row;
    double *largest = &self->rows[at].largest_rate;
    if (rate > *largest) *largest = rate;
    if (now->law->is_bilateral) return;
    kept->drift = gap > 0.0 ? 0.0 : kept->drift + h * h * fabs(self->bias[row]);
    if (h == 0.0) kept->overlap = pcs_max(0.0, -gap);
    double allowed = 2.0 * *largest * self->now.largest_h + kept->overlap + kept->drift;
    certify_note(self, CERTIFY_PENETRATION, -gap, allowed + self->rule->event_depth + now->length, row);
}

// Returns G (q - q_n) - (h/2) G (v_n + v), m, the part of Newmark's formulas and position multipliers; its *rounding.
static double rows_excess(const pcs_certifier *self, const row_now *now, double *rounding)
{
    const pcs_rows *G = self->system->G;
    double h = self->h, sum = 0.0, size = 0.0, bend = 0.0;
    bool has_impact =
        pcs_rule_separates_impacts(self->rule) && self->survey.is_hit > 0.0; // displacement before the impact
    for (int k = G->start[now->row]; k < G->start[now->row + 1]; k++) {
        int i = G->column[k];
        double increment = self->increment[i] - 0.5 * h * self->from->v[i];
        sum += G->value[k] * increment;
        size += fabs(G->value[k]) * (fabs(self->increment[i]) + h * fabs(self->from->v[i]) + h * fabs(self->x->v[i]));
        bend += fabs(G->value[k]) * (fabs(self->from->history[0][i]) + fabs(self->x->history[0][i]));
    }
    *rounding = PCS_ROUND_LENGTH * size + PCS_ROUND_VELOCITY * h * h * bend;
    return sum - 0.5 * h * (has_impact ? now->row_report->rate_before : now->rate);
}

// Checks that a lasting contact keeps its gap. Only Newmark's formulas move others.
static void rows_check_held(pcs_certifier *self, const row_now *now)
{
    double rounding, h = self->h;
    if (!certify_is_on(self, CERTIFY_HELD) || self->from == NULL || now->law->is_bilateral) return;
    double excess = rows_excess(self, now, &rounding), length = now->length + rounding;
    length += PCS_ROUND_SUM * (fabs(now->row_report->nu) + h * fabs(now->row_report->multiplier)) / now->mass;
    if (!(self->rows[now->row].recent > 0.0)) excess = now->row_report->nu / now->mass;
    certify_note(self, CERTIFY_HELD, fabs(excess), length, now->row);
}

// Checks contacts between the ends of the step, where no law is evaluated, with nodes on straight lines.
static void rows_check_passages(pcs_certifier *self)
{
    const pcs_state *from = self->before;
    pcs_passage worst = { 0 };
    if (from == NULL) return;
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *r = &self->report->rows[j];
        self->ends[j] = (pcs_passage_row){ .gap = { self->rows[j].gap, self->gap[j] },
                                           .is_loaded = r->step_impulse != 0.0 || r->nu != 0.0 };
    }
    self->system->ops->passages(self->system, from->q, self->x->q, self->ends, &worst);
    if (worst.allowed > 0.0) certify_note(self, CERTIFY_PASSAGE, worst.depth, worst.allowed, worst.row);
}

// Checks the directions of the rows at the end of the step against differences of the gaps.
static void rows_check_directions(pcs_certifier *self)
{
    pcs_system *system = self->system;
    double *d = self->tolerance, *ahead = self->moved, *behind = self->jump;
    certify_draw(self, 1e-7 * certify_length(self), d);
    pcs_retract(&system->rotations, self->x->q, d, self->b);
    pcs_system_gaps(system, pcs_at(self->x->t, self->b, NULL), ahead);
    for (int i = 0; i < system->nv; i++) self->e[i] = -d[i];
    pcs_retract(&system->rotations, self->x->q, self->e, self->b);
    pcs_system_gaps(system, pcs_at(self->x->t, self->b, NULL), behind);
    certify_evaluate(self, self->x->t, self->x->q, self->gap, NULL, NULL);
    for (int j = 0; j < system->nrow; j++) {
        double gap = self->gap[j];
        self->is_spare[j] = gap > 0.0 && ahead[j] == gap && behind[j] == gap;
        if (self->is_spare[j]) continue;
        double size = 0.0, bend = fabs(ahead[j] - 2.0 * gap + behind[j]);
        for (int k = self->G->start[j]; k < self->G->start[j + 1]; k++)
            size += fabs(self->G->value[k] * d[self->G->column[k]]);
        double off = fabs(0.5 * (ahead[j] - behind[j]) - pcs_rows_dot(self->G, j, d));
        double allowed = of_direction * size + bend + 4.0 * pcs_gap_tie(system, j, self->x->q);
        certify_note(self, CERTIFY_DIRECTION, off, allowed, j);
    }
}

// Evaluates the gap rates along v at the end of the step, with q moved by v over a time.
static void rows_find_rates(pcs_certifier *self, double time, double *rate)
{
    for (int i = 0; i < self->system->nv; i++) self->e[i] = time * self->x->v[i];
    pcs_retract(&self->system->rotations, self->x->q, self->e, self->b);
    certify_evaluate(self, self->x->t, self->b, NULL, self->x->v, rate);
}

// Checks (dG/dt) v against the change of the rates, over a displacement of 1e-5 of the model.
static void rows_check_bends(pcs_certifier *self)
{
    pcs_system *system = self->system;
    double fastest = pcs_system_largest(system, self->x->v), time = 1e-5 * certify_length(self) / fastest;
    double *ahead = self->moved, *behind = self->jump, *nearer = self->start_rate;
    // Velocities at rest are round-off, down to numbers whose reciprocal overflows.
    bool is_at_rest = !(fastest > PCS_ROUND_VELOCITY * self->speed);
    if (!self->is_examined || !certify_is_on(self, CERTIFY_BEND) || is_at_rest) return;
    rows_find_rates(self, 0.5 * time, ahead);
    rows_find_rates(self, -0.5 * time, behind);
    for (int j = 0; j < system->nrow; j++) nearer[j] = (ahead[j] - behind[j]) / time;
    rows_find_rates(self, time, ahead);
    rows_find_rates(self, -time, behind);
    rows_find_rates(self, 0.0, self->bias); // at the end, which moves the directions back
    // A rate that bends leaves a second difference. One that jumps where it is 0, at the middle of a bore, leaves none:
    // over half the displacement it changes twice as fast.
    for (int j = 0; j < system->nrow; j++)
        nearer[j] = 2.0 * fabs(nearer[j] - (ahead[j] - behind[j]) / (2.0 * time)) +
                    fabs(ahead[j] - 2.0 * self->bias[j] + behind[j]) / time;
    pcs_system_rate_bias(system, pcs_at(self->x->t, self->x->q, self->x->v), self->bias);
    for (int j = 0; j < system->nrow; j++) {
        if (self->is_spare[j] || system->rows[j].is_driven) continue;
        double change = (ahead[j] - behind[j]) / (2.0 * time);
        double allowed = of_bend * (fabs(change) + fabs(self->bias[j])) + nearer[j];
        double noise = 1e-9 * fastest * fastest / certify_length(self);
        allowed += system->rows[j].is_angle ? noise / certify_length(self) : noise;
        certify_note(self, CERTIFY_BEND, fabs(change - self->bias[j]), allowed, j);
    }
}

static row_now rows_look_at(pcs_certifier *self, int row, bool has_start)
{
    double gap = self->gap[row], *largest = &self->rows[row].largest_gap;
    if (fabs(gap) > *largest) *largest = fabs(gap);
    return (row_now){ .row = row,
                      .row_report = &self->report->rows[row],
                      .law = &self->system->rows[row],
                      .mass = self->scheme->solver->effective_mass[row],
                      .gap = gap,
                      .rate = pcs_system_rate(self->system, row, self->x->v),
                      .length = rows_length(self, row),
                      .target = rows_target(self, row, has_start) };
}

static void certify_rows(pcs_certifier *self)
{
    pcs_system *system = self->system;
    const pcs_state *x = self->x;
    pcs_system_gaps(system, pcs_at(x->t, x->q, NULL), self->gap);
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, pcs_at(x->t, x->q, x->v), self->bias);
    if (certify_is_on(self, CERTIFY_IMPULSE_LAW))
        pcs_projection_rates(self->scheme->solver, self->z, self->z_t, self->jump);
    rows_find_moves(self);
    bool has_start = rows_find_start(self);
    if (pcs_system_ntangent(system) > 0) friction_find_rebound(self);
    for (int j = 0; j < system->nrow; j++) {
        row_now now = rows_look_at(self, j, has_start);
        rows_check_position(self, &now);
        rows_check_velocity(self, &now);
        if (has_start) rows_check_forecast(self, &now);
        rows_check_penetration(self, &now);
        gap_error_find(self, j);
        rows_check_held(self, &now);
        self->rows[j].rate = now.rate; // rate of the last state from here on, as gaps are still needed
    }
    friction_check_soft(self);
    if (self->is_examined && pcs_system_nrow(system) > 0) rows_check_directions(self);
    rows_check_bends(self);
    gap_error_check(self);
    if (certify_is_on(self, CERTIFY_PASSAGE)) rows_check_passages(self);
}

// Equations of motion over a step, each of them, from forces, masses and directions evaluated anew.
//
// A rule (schemes/rule.h) states a step as  M e = b,  e a difference of velocities that known accelerations have been
// taken from and b the impulses of smooth forces and rows; where M varies, b at several places,  e = sum M(q_k)^-1 b_k.
// The residual r = M e - b has to vanish in every equation, up to
//
//   tol_i = sum_j (|M_ij| + h |C_ij| + h^2 |K_ij|) (1e-10 V_j) + 64 eps (sum_j |M_ij| (|v_n,j| + |v_j|)
//           + h |f_n,i| + h |f_i| + sum of the impulses) + 256 eps h sum_j |K_ij| Q_j
//   V_j = sqrt(2 E / M_jj),   Q_j = |q_n,j| + |q_j| + L sqrt(m / M_jj)
//
// The first part is what an iteration that ends at 1e-10 of the velocities leaves over, the second round-off of sums,
// the third round-off of positions in stiff forces. C and K are left out for explicit schemes, which evaluate the same
// forces to the last bit; where the velocity of a stage is an increment over h, its round-off Q_j eps/h comes in.
// E is the largest energy so far, L and m are size and mass of the model: V and Q have the units of their equation.
// Positions are held against the rule likewise, M e = b with lengths in place of velocities; numbers that add up are
// exact to |q_n| + |q|, rotations in space to Q.
//
// Momentum in sum: 1e-11 of the momenta that enter, 1e-12 of the forces inside over the step, which cancel in it, and
// what the equations, each within its own tolerance, have left over in this step and, through filters, in the last
// ones. The sum of forces inside is at most sqrt(2 S k n), S the strain energy, k the largest stiffness, n the number
// of equations.
//
// Steps are left out whose state and report do not show what is needed (docs/validation.md, What is not checked).

// Evaluates the mass at q into self->M. The system stays.
static void motion_weigh(pcs_certifier *self, const double *q)
{
    pcs_system *system = self->system;
    pcs_matrix *own = system->M;
    if (!system->mass_varies) return;
    system->M = self->M;
    system->ops->update(system, pcs_at(self->x->t, q, NULL), PCS_MASS, NULL);
    system->M = own;
}

// Computes x := M^-1 x with the mass evaluated last. False if it is singular.
static bool motion_solve(pcs_certifier *self, double *x)
{
    size_t n = (size_t)self->system->nv;
    if (self->dense == NULL) {
        pcs_linsolve_solve(self->scheme->solver->mass, x);
        return true;
    }
    memcpy(self->dense, self->M->value, n * n * sizeof *self->dense);
    return pcs_dense_solve(self->system->nv, self->dense, x);
}

// Adds round-off of the impulses of rows, which may largely cancel.
static void motion_allow_rows(pcs_certifier *self)
{
    const pcs_halo *halo = self->G->halo;
    pcs_halo_open(halo);
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        double size = fabs(row->step_impulse) + self->h * fabs(row->force);
        if (size != 0.0)
            for (int k = self->G->start[j]; k < self->G->start[j + 1]; k++)
                *pcs_halo_at(halo, self->G->column[k], self->tolerance) +=
                    PCS_ROUND_SUM * size * fabs(self->G->value[k]);
    }
    pcs_halo_close(halo, self->tolerance);
}

// Adds column j of |A| times `size` to `sum`.
static inline void motion_add_column(const pcs_matrix *A, int j, double size, double *sum)
{
    const pcs_entries *few = A->entries;
    const int *row = A->pattern->row, *start = few == NULL ? A->pattern->start : few->start;
    for (int k = start[j]; k < start[j + 1]; k++) {
        int place = few == NULL ? k : few->place[k];
        sum[row[place]] += fabs(A->value[place]) * size;
    }
}

// Sets tol_i for equations of motion (`length` 0), or for positions (`length` h).
static void motion_allow(pcs_certifier *self, double length)
{
    const pcs_system *system = self->system;
    const pcs_state *from = self->from;
    bool is_implicit = !pcs_rule_is_explicit(self->rule), is_length = length > 0.0;
    bool rounds = self->rule->kind == PCS_RULE_HEUN; // the velocity of the stage comes from the displacement
    const pcs_matrix *M = self->M, *K = is_implicit && !is_length ? system->K : NULL;
    const pcs_matrix *C = (is_implicit || rounds) && !is_length ? system->C : NULL;
    double h = self->h, energy = self->now.largest_energy;
    memset(self->tolerance, 0, (size_t)system->nv * sizeof *self->tolerance);
    for (int j = 0; j < system->nv; j++) {
        double mass = pcs_matrix_diagonal(M, j);
        if (!(mass > 0.0)) continue; // a copy that a force law presses on has its mass in another process
        double speed = PCS_ROUND_MOTION * sqrt(2.0 * energy / mass);
        double stored = fabs(from->q[j]) + fabs(self->x->q[j]), model = system->length * sqrt(system->mass / mass);
        double size = stored + (is_length && !system->rotations.are_somewhere ? 0.0 : model);
        double sum = PCS_ROUND_SUM * (fabs(from->v[j]) + fabs(self->x->v[j]));
        double increment = rounds ? PCS_ROUND_SUM * size / h : 0.0,
               stiff = h * h * speed + 4.0 * PCS_ROUND_SUM * h * size;
        if (is_length) sum = PCS_ROUND_SUM * size / length;
        motion_add_column(M, j, speed + sum + increment, self->tolerance);
        if (K != NULL) motion_add_column(K, j, stiff, self->tolerance);
        if (C != NULL) motion_add_column(C, j, h * (speed + increment), self->tolerance);
    }
    for (int i = 0; i < system->nv; i++)
        if (is_length) self->tolerance[i] *= length;
        else self->tolerance[i] += PCS_ROUND_SUM * h * (fabs(self->f0[i]) + fabs(self->f[i]));
    if (!is_length) motion_allow_rows(self);
}

// Adds M e to r, checks it, and begins the next one: e is a velocity, or a displacement for CERTIFY_KINEMATICS.
static void motion_close(pcs_certifier *self, int check)
{
    const pcs_state *from = self->from;
    int n = pcs_system_nown(self->system), worst = -1;
    double ratio = 0.0, mass = 1.0, allowed = 1.0, sum[2] = { 0.0 };
    pcs_matrix_add_multiply(self->M, 1.0, self->e, self->r);
    if (self->allowed != check) motion_allow(self, check == CERTIFY_KINEMATICS ? self->h : 0.0);
    self->allowed = check;
    for (int i = 0; i < n; i++) {
        double off = self->r[i] == 0.0 ? 0.0 : fabs(self->r[i]) / self->tolerance[i];
        sum[0] += fabs(self->r[i]);
        double mean = 0.5 * (fabs(from->v[i]) + fabs(self->x->v[i]));
        sum[1] += fabs(self->r[i]) * pcs_max(mean, fabs(self->x->q[i] - from->q[i]) / self->h);
        if (off <= ratio && worst >= 0) continue;
        ratio = isnan(off) ? INFINITY : off;
        worst = i;
    }
    if (worst >= 0 && check == CERTIFY_KINEMATICS) mass = pcs_matrix_diagonal(self->M, worst);
    if (worst >= 0) allowed = self->tolerance[worst] / mass;
    pcs_system_sum(self->system, 2, sum);
    if (check == CERTIFY_MOTION) {
        self->residual += sum[0];
        self->leftover += sum[1];
    }
    // all processes judge alike
    self->equation = worst;
    certify_note(self, check, pcs_system_max(self->system, ratio) * allowed, allowed, -1);
    self->equation = -1;
    memset(self->r, 0, (size_t)self->system->nv * sizeof *self->r);
}

// Parts of the impulses of rows: all of the step, forces of the smooth motion at the end, those that move positions
// without impacts, and those of the stages of Heun's rule, the first of which counts half in the velocity.
typedef enum motion_part { WHOLE, FORCES, INCREMENTS, FIRST, LAST } motion_part;

// Returns the share of a part in an impulse of a row: `whole` over the step, impact included, `last` of the last law;
// `more` moves positions besides.
static double motion_share(motion_part part, double whole, double impact, double last, double increment, double more)
{
    switch (part) {
    case INCREMENTS: return increment * (whole - impact) + more;
    case FIRST: return whole - last;
    case LAST: return last;
    default: return whole;
    }
}

// Adds `scale` times the momentum that a part of the impulses of rows gives to the equations to b.
static void motion_push(pcs_certifier *self, motion_part part, double scale)
{
    const pcs_system *system = self->system;
    const pcs_rule *rule = self->rule;
    bool separates = pcs_rule_separates_impacts(rule) && self->survey.is_hit > 0.0;
    bool has_forces = rule->level == PCS_LEVEL_ACCELERATION && !(self->survey.is_hit > 0.0);
    double increment = self->h * rule->impulse_weight, tangent_impulse_weight = self->h * rule->tangent_impulse_weight;
    double is_smooth = pcs_rule_has_smooth_joints(rule), is_impulse = rule->position != PCS_POSITION_FORCE;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *r = &self->report->rows[j];
        double last = has_forces ? 0.5 * self->h * r->force : r->multiplier;
        double z = motion_share(part, is_impulse * r->step_impulse, separates ? r->impulse : 0.0, last, increment,
                                is_smooth * r->nu);
        if (part == FIRST) z = pcs_system_transport(system, j, self->x->q, self->from->q, z);
        if (part == FORCES) z = is_impulse > 0.0 ? is_smooth * r->lam : r->force;
        self->z[j] = z;
        for (int t = 0; t < system->rows[j].ntangent; t++) {
            last = r->last_tangent[t];
            z = motion_share(part, r->tangent[t], separates ? last : 0.0, last, tangent_impulse_weight,
                             is_smooth * r->nu_t[t]);
            self->z_t[system->rows[j].first_tangent + t] = part == FORCES ? 0.0 : z;
        }
    }
    pcs_rows_add_all(self->G, scale, self->z, self->b);
    if (pcs_system_ntangent(system) > 0) pcs_rows_add_all(self->T, scale, self->z_t, self->b);
}

// Subtracts `duration` f and `scale` times a part of the impulses of rows, along the directions evaluated last. What is
// not of the mass that the residual ends with turns into a velocity by the mass evaluated last.
static void motion_take(pcs_certifier *self, double duration, const double *f, motion_part part, double scale)
{
    int n = self->system->nv;
    bool turns = self->dense != NULL && part != FORCES && self->rule->kind != PCS_RULE_IMPLICIT;
    for (int i = 0; i < n; i++) self->b[i] = duration * f[i];
    if (scale != 0.0) motion_push(self, part, scale);
    if (turns && !motion_solve(self, self->b)) self->b[0] = NAN;
    double *residual = turns ? self->e : self->r;
    for (int i = 0; i < n; i++) residual[i] -= self->b[i];
}

// Checks that an acceleration of the state satisfies M_1 a = f_1 + smooth forces of rows.
static void motion_check_acceleration(pcs_certifier *self, const double *a)
{
    for (int i = 0; i < self->system->nv; i++) self->e[i] = self->h * a[i];
    motion_take(self, self->h, self->f, FORCES, self->h);
    motion_close(self, CERTIFY_MOTION);
}

// Checks positions that follow a mean of both velocities.
static void motion_check_mean_increment(pcs_certifier *self)
{
    double h = self->h, move = self->rule->move;
    if (isnan(move)) return;
    for (int i = 0; i < self->system->nv; i++)
        self->e[i] = self->increment[i] - h * ((1.0 - move) * self->from->v[i] + move * self->x->v[i]);
    motion_close(self, CERTIFY_KINEMATICS);
}

// Evaluates directions and mass at the end of the step.
static void motion_evaluate_end(pcs_certifier *self)
{
    certify_evaluate(self, self->from->t + self->h, self->x->q, NULL, NULL, NULL);
    motion_weigh(self, self->x->q);
}

// Checks an implicit rule. vd belongs to the end. Velocities follow from the filtered acceleration of these formulas,
// and positions from that of the scheme, so that the two are compared.
static void motion_implicit(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    const pcs_weights *w = &self->rule->w;
    int last = self->scheme->ops->nhistory - 1; // a = vd if there is only one history
    const double *v0 = from->v, *a0 = from->history[0], *vd0 = from->history[last];
    const double *a = self->x->history[0], *vd = self->x->history[last];
    double h = self->h;
    bool has_impact = pcs_rule_separates_impacts(self->rule) && self->survey.is_hit > 0.0;
    if (has_impact && (!self->system->is_linear || pcs_system_is_damped(self->system))) return;
    motion_evaluate_end(self);
    motion_check_acceleration(self, vd);
    // Rotates the directions back, as impulses that move positions do (step/projection.h).
    int count = self->system->row_set.vary ? 1 + (self->system->ntangent > 0) : 0;
    for (int k = 0; k < count; k++)
        pcs_rotate_rows(&self->system->rotations, self->increment, self->rule->tangent_impulse_weight,
                        k == 0 ? self->G : self->T);
    for (int i = 0; i < self->system->nv; i++) {
        double filtered = ((1.0 - w->af) * vd[i] + w->af * vd0[i] - w->am * a0[i]) / (1.0 - w->am);
        self->e[i] = self->x->v[i] - v0[i] - h * ((1.0 - w->ga) * a0[i] + w->ga * filtered);
    }
    motion_take(self, 0.0, self->origin, WHOLE, 1.0);
    motion_close(self, CERTIFY_MOTION);
    if (last == 0) { // positions follow a mean of velocities, without terms in a that cancel
        motion_check_mean_increment(self);
        return;
    }
    for (int i = 0; i < self->system->nv; i++)
        self->e[i] = self->increment[i] - h * v0[i] - h * h * ((self->rule->move - w->be) * a0[i] + w->be * a[i]);
    motion_take(self, 0.0, self->origin, INCREMENTS, 1.0);
    motion_close(self, CERTIFY_KINEMATICS);
}

// Checks a rule with one evaluation of forces, M(Q) (v - v_n) = duration f(t_Q, Q, V) + G(Q)^T La: at the start or at
// qM. PCS_RULE_EULER has mass and rows of La at the end, PCS_RULE_MEAN the mass at qM, and so has PCS_RULE_WAVE, of the
// velocities u with u + u_n = 2 V.
static void motion_stage(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    pcs_rule_kind kind = self->rule->kind;
    bool is_wave = kind == PCS_RULE_WAVE;
    const double *v0 = is_wave ? from->history[0] : from->v, *v1 = is_wave ? self->x->history[0] : self->x->v;
    bool is_of_start = kind == PCS_RULE_EULER || kind == PCS_RULE_CENTRAL;
    double h = self->h, duration = kind == PCS_RULE_CENTRAL ? 0.5 * (self->now.h + h) : h;
    double last = kind == PCS_RULE_MEAN || is_wave ? 0.5 : 0.0; // weight of the end in Q and V
    double ahead = is_of_start ? 0.0 : 0.5 * h, t = from->t + ahead;
    motion_evaluate_end(self);
    motion_check_mean_increment(self);
    for (int i = 0; i < self->system->nv; i++) {
        self->increment[i] = from->q[i] + ahead * from->v[i];
        self->e[i] = v1[i] + v0[i] - 2.0 * self->x->v[i];
    }
    if (is_wave) motion_close(self, CERTIFY_MOTION);
    motion_weigh(self, self->increment);
    for (int i = 0; i < self->system->nv; i++) {
        if (last > 0.0) self->increment[i] = (1.0 - last) * from->q[i] + last * self->x->q[i];
        self->tolerance[i] = (1.0 - last) * v0[i] + last * v1[i];
    }
    self->allowed = -1;
    if (!is_of_start) self->system->ops->force(self->system, pcs_at(t, self->increment, self->tolerance), self->f);
    for (int i = 0; i < self->system->nv; i++) self->e[i] = v1[i] - v0[i];
    if (kind == PCS_RULE_EULER) {
        motion_take(self, h, self->f0, WHOLE, 0.0);
        motion_evaluate_end(self);
        motion_take(self, 0.0, self->f0, WHOLE, 1.0);
    } else {
        certify_evaluate(self, t, self->increment, NULL, NULL, NULL);
        motion_take(self, duration, is_of_start ? self->f0 : self->f, WHOLE, 1.0);
    }
    motion_close(self, CERTIFY_MOTION);
}

// Returns true if a row was closed at the start, so that the first stage may have pushed it.
static bool motion_was_closed(const pcs_certifier *self)
{
    const pcs_system *system = self->system;
    bool was_closed = false;
    for (int j = 0; j < system->nrow; j++)
        was_closed =
            was_closed || system->rows[j].is_bilateral || self->start_gap[j] <= PCS_ROUND_LENGTH * system->length;
    return pcs_rows_any(system, was_closed);
}

// Checks q = q_n + h v_n + (h^2/2) a_n + (h/2) M_n^-1 G_n^T P0. In an impact P0 is not reported.
static void motion_check_heun_increment(pcs_certifier *self)
{
    double h = self->h;
    if (self->survey.is_hit > 0.0 && motion_was_closed(self)) return;
    for (int i = 0; i < self->system->nv; i++) self->e[i] = self->increment[i] - h * self->from->v[i];
    motion_take(self, 0.5 * h * h, self->f0, FIRST, h);
    motion_close(self, CERTIFY_KINEMATICS);
}

// Checks v = v_n + M_n^-1 ((h/2) f_n + G_n^T P0/2) + M_1^-1 ((h/2) f(q, v1) + G_1^T P1), v1 = 2 (q - q_n)/h - v_n.
static void motion_heun(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    double h = self->h;
    motion_evaluate_end(self);
    if (self->rule->level == PCS_LEVEL_VELOCITY) motion_check_acceleration(self, self->x->history[0]);
    certify_evaluate(self, from->t, from->q, NULL, NULL, NULL);
    motion_weigh(self, from->q);
    motion_check_heun_increment(self);
    for (int i = 0; i < self->system->nv; i++) self->e[i] = self->x->v[i] - from->v[i];
    motion_take(self, 0.5 * h, self->f0, FIRST, 1.0);
    motion_evaluate_end(self);
    for (int i = 0; i < self->system->nv; i++) self->increment[i] = 2.0 * self->increment[i] / h - from->v[i];
    self->system->ops->force(self->system, pcs_at(from->t + h, self->x->q, self->increment), self->f);
    self->allowed = -1;
    motion_take(self, 0.5 * h, self->f, LAST, 1.0);
    motion_close(self, CERTIFY_MOTION);
}

// Computes out = h times the sum of `count` weighted vectors.
static void motion_sum(int n, double h, int count, const double *weight, double *const *vectors, double *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < count; k++)
        if (weight[k] != 0.0)
            for (int i = 0; i < n; i++) out[i] += h * weight[k] * vectors[k][i];
}

// Checks a Runge-Kutta rule by computing all stages again.
static void motion_runge_kutta(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    const pcs_tableau *table = self->rule->tableau;
    double h = self->h;
    int n = self->system->nv;
    if (self->survey.acts > 0.0 || pcs_system_has_joints(self->system)) return;
    for (int k = 0; k < table->s; k++) {
        double *q = self->b, *v = self->stage_v[k];
        motion_sum(n, h, k, table->a[k], self->stage_v, q);
        motion_sum(n, h, k, table->a[k], self->stage_a, v);
        for (int i = 0; i < n; i++) {
            q[i] += from->q[i];
            v[i] += from->v[i];
        }
        self->system->ops->force(self->system, pcs_at(from->t + table->c[k] * h, q, v), self->stage_a[k]);
        motion_weigh(self, q);
        if (!motion_solve(self, self->stage_a[k])) return;
    }
    motion_evaluate_end(self);
    motion_sum(n, h, table->s, table->b, self->stage_a, self->e);
    for (int i = 0; i < n; i++) self->e[i] = self->x->v[i] - from->v[i] - self->e[i];
    motion_close(self, CERTIFY_MOTION);
    motion_sum(n, h, table->s, table->b, self->stage_v, self->e);
    for (int i = 0; i < n; i++) self->e[i] = self->increment[i] - self->e[i];
    motion_close(self, CERTIFY_KINEMATICS);
}

static void certify_motion(pcs_certifier *self)
{
    pcs_rule_kind kind = self->rule->kind;
    memset(self->r, 0, (size_t)self->system->nv * sizeof *self->r);
    if (kind == PCS_RULE_IMPLICIT) motion_implicit(self);
    else if (kind == PCS_RULE_HEUN) motion_heun(self);
    else if (kind == PCS_RULE_RUNGE_KUTTA) motion_runge_kutta(self);
    else motion_stage(self);
}

// Bounds the energy that a step may gain: the rise of E = T + S + V beyond the work of loads, the energy that negative
// damping supplies, and the work of position corrections of the midpoint rules, which is taken from the report.
//
// A false root of the discrete equations satisfies them, and its gain is the error of the scheme's own quadrature. So
// the state before bounds it:   rise <= (A + |W| + |dV|)/2 + 4 H + N,   A = T_n + S_n + V_n - V_lowest
//     A is what the model has to spend, V_lowest the lowest potential so far; W and dV, work of loads and change of the
//     potential in the step, are where energy comes from when nothing moves yet: they count half, so that a jump of the
//     potential cannot pay for itself. H = La^2/(2 m_eff) of the last step: a contact that rests is thrown by about
//     that much where a scheme hops on it. Where all that fails a load may set in: four times what f(t, q_n, v_n)
//     - f_n gives, h^2 f . D^-1 f/2, D = diag(M); f_n stays in it for explicit schemes, where it moves what rests; for
//     linear systems the change of loads over eight steps. Steps not looked at closely may rise four times as much.
//     N is what schemes of the alpha family hold besides E. For linear systems without loads, with 1/2 - af >= 0,
//     al = af - am >= 0, ga = 1/2 + al, 2 be >= ga, and x the filtered increment (1 - am) x + am x_n = dq, there is
//       d(E + N) = La . G (v_n + v)/2 - al (h^2/2) (2 be - ga) |da|^2_M - (1/2 - af) al (1/2 - am) |dx|^2_K
//       N = (h^2/4) (2 be - ga) |a|^2_M + (1/2) (1/2 - af) al |x|^2_K
//     so that E alone may rise by N_n, which is many times E where h is many periods and forces are not smooth.
//     |x|^2_K <= 8 S/(1 - am - |am|)^2, S the largest strain energy of late. Newmark has al = ga - 1/2, and no x.
//     None of it exceeds B/10 + |W| + |dV|, B as below, but for what rows book as their gain and what a load adds.
//     Where a_n is not kept, the system is linear and has no false roots: such a step is left to the ledger and to E_0.
//
// Over the whole run,   E - E_0 - sum W <= B/10 + X + O,   B the most of E_0 + sum W - V_lowest so far, X the most of
// |W| + |dV| of a step, O a tenth of what loads that set in give; with forward Euler and central differences, whose
// velocities lag, B/2 + 4 X + O. Schemes that gain by their nature are reported, not judged; forward Euler in single
// steps alone. A step of an iteration that takes over a quarter of what is left is greedy: a smaller one may do
// without.
//
// If the scheme has its loss in closed form and the system is linear, the ledger must also close, up to round-off and
// the work of the residuals of the equations of motion, each within its own tolerance: a step far longer than the
// fastest periods computes small velocities as differences of large ones, and keeps the round-off of those.

static const double harmless = 1e-6; // of all energy: a gain that half a million steps may repeat
static const double greedy = 0.25;   // of the energy that the run may still gain: share of one step
static const double most = 0.1;      // of all energy: largest gain without a cause

// Returns the round-off of the work of loads and gravity, J: forces times differences of positions, which round off.
static double energy_work_noise(const pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_state *x = self->x;
    double size = fabs(system->ops->load_work(system, x->t, self->origin, x->q)), weight = 0.0;
    int n = system->gravity == NULL ? 0 : pcs_system_nown(system);
    for (int i = 0; i < n; i++) weight += fabs(system->gravity[i] * x->q[i]);
    if (system->gravity != NULL) pcs_system_sum(system, 1, &weight);
    return PCS_ROUND_SUM * (size + weight);
}

// Returns the kinetic energy, J, of a model at rest whose velocity is the round-off of its positions over the step.
static double energy_of_rest(const pcs_certifier *self)
{
    double speed = 4.0 * DBL_EPSILON * pcs_max(self->system->length, self->system->place) / self->h;
    return self->h > 0.0 ? 0.5 * self->system->mass * speed * speed : 0.0;
}

// Returns 2 h^2 f . D^-1 f, J: f all forces of explicit schemes, else their change with time alone; of
// linear systems the change of loads over some steps, since filters carry on a load that has set in.
static double energy_onset(pcs_certifier *self)
{
    enum { BACK = 8 }; // steps
    const pcs_system *system = self->system;
    const pcs_state *from = self->from;
    bool is_explicit = pcs_rule_is_explicit(self->rule) && self->rule->kind != PCS_RULE_MEAN;
    bool is_linear = system->is_linear && !is_explicit;
    const double *q = is_linear ? self->origin : from->q, *v = is_linear ? self->origin : from->v, *before = self->f0;
    double h = self->h, sum = 0.0;
    system->ops->force(system, pcs_at(from->t + h, q, v), self->b);
    if (is_linear) system->ops->force(system, pcs_at(from->t - BACK * h, q, v), self->r);
    if (is_linear) before = self->r;
    if (is_explicit || (is_linear && self->now.count <= BACK)) before = self->origin; // there were no loads before
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double change = isfinite(before[i]) ? self->b[i] - before[i] : self->b[i]; // undefined before the run
        sum += change * change / pcs_matrix_diagonal(system->M, i);
    }
    pcs_system_sum(system, 1, &sum);
    return 2.0 * h * h * sum;
}

// Returns N of the state before, J; INFINITY if a_n is not kept.
static double energy_stored(pcs_certifier *self)
{
    const pcs_rule *rule = self->rule;
    const pcs_weights *w = &rule->w;
    double lag = w->af - w->am, filter = 1.0 - w->am - fabs(w->am), weight = pcs_max(0.0, 2.0 * w->be - w->ga);
    double h = self->h, stored = 0.0, sum = 0.0;
    // Positions may follow h ((1 - m) v_n + m v), with the forces of both ends alone.
    bool moves_by_mean =
        w->am == 0.0 && w->af == 0.0 && pcs_rule_acceleration_gap(rule) == 0.0 && rule->position == PCS_POSITION_FREE;
    if (rule->kind != PCS_RULE_IMPLICIT || moves_by_mean) return 0.0;
    if (weight > 0.0 && h > 0.0) {
        if (self->before == NULL) return INFINITY;
        const double *a = self->before->history[0];
        pcs_matrix_multiply(self->system->M, a, self->r);
        for (int i = 0; i < pcs_system_nown(self->system); i++) sum += a[i] * self->r[i];
        pcs_system_sum(self->system, 1, &sum);
        stored = 0.25 * h * h * weight * sum;
    }
    if (lag > 0.0) stored += 4.0 * (0.5 - w->af) * lag / (filter * filter) * self->now.strain;
    return stored;
}

// Returns true if velocities lag half a step behind positions, with energies of order 1.
static bool energy_lags(const pcs_certifier *self)
{
    return self->rule->kind == PCS_RULE_EULER || self->rule->kind == PCS_RULE_CENTRAL;
}

// Checks the energy gain of the complete run, and whether this step gains too much of it.
static void energy_check_growth(pcs_certifier *self, double rise, double floor)
{
    certify_memory *now = &self->now;
    double grown = pcs_measure_energy(&self->report->measure) - now->initial - now->worked;
    double share = energy_lags(self) ? 0.5 : most, steps = energy_lags(self) ? 4.0 : 1.0;
    double lasting = share * now->supply + steps * now->exchanged + now->onset, left = lasting - (grown - rise);
    self->is_greedy = self->iterates && !self->rule->gains_energy && rise > pcs_max(floor, greedy * left);
    certify_note(self, CERTIFY_GROWTH, grown, lasting + floor + energy_of_rest(self), -1);
}

// Returns the energy that negative dampers supply, J: the negative damping loss, up to twice their power at the end of
// the step times h. With no such power there, a position correction has made the loss negative, not a damper.
static double energy_fed_by_damping(const pcs_certifier *self)
{
    const pcs_state *x = self->x;
    double fed = -self->report->damping_loss;
    if (!(fed > 0.0)) return 0.0;
    return pcs_min(fed, pcs_max(0.0, -2.0 * self->h *
                                         pcs_system_damping_power(self->system, pcs_at(self->x->t, x->q, x->v), x->v)));
}

// Records the largest gain of the run over all energy so far, since there is little to compare with at the start.
static void energy_report(pcs_certifier *self, int check, double value, double allowed)
{
    pcs_check *c = self->check[check];
    if (c == NULL) return;
    if (value > c->worst_value) {
        c->worst_value = value;
        c->worst_time = self->x->t;
    }
    c->tolerance = allowed;
    c->worst_ratio = c->worst_value / allowed;
}

// Checks that damping takes no more energy than there has been. Work of loads is F . dq, damping loss goes by
// velocities: if a sudden load meets dampers far faster than a step, the first displacement is off by h^2 F/m, but the
// velocity is not: D <= ga h F . v. Reports the change that loads, dampers and rows do not explain: a loss is
// dissipation of the scheme, a gain is an error, and so are corrections that exceed the energy and cancel.
static void energy_check_losses(pcs_certifier *self, double floor)
{
    certify_memory *now = &self->now;
    const pcs_step_report *r = self->report;
    const pcs_state *x = self->x;
    now->damped += r->damping_loss;
    now->booked += r->external_work - r->damping_loss - r->material_loss - r->impact_loss - r->friction_loss;
    now->corrected += fabs(r->correction_work);
    double all = now->supply + now->exchanged + floor, change = pcs_measure_energy(&r->measure) - now->initial;
    if (now->damped > all)
        now->exchanged =
            pcs_max(now->exchanged, fabs(r->h * pcs_system_load_power(self->system, pcs_at(x->t, x->q, x->v))));
    certify_note(self, CERTIFY_DAMPING, now->damped, now->supply + 2.0 * now->exchanged + floor, -1);
    energy_report(self, CERTIFY_NUMERICAL, change - now->booked, 0.1 * all);
    energy_report(self, CERTIFY_CORRECTION, now->corrected, all);
}

// Checks the energy gain of the step. False if it is not explained.
static bool energy_check_rise(pcs_certifier *self)
{
    certify_memory *now = &self->now;
    const pcs_step_report *report = self->report;
    double scale = pcs_max(now->largest_energy, fabs(report->measure.potential));
    double floor = harmless * pcs_max(scale, now->supply);
    bool corrects = self->rule->kind == PCS_RULE_MIDPOINT || self->rule->kind == PCS_RULE_MEAN;
    double fed = report->external_work + energy_fed_by_damping(self);
    bool is_driven = self->system->row_set.ndriven > 0; // by speeds that may jump within a step
    if (corrects || is_driven) fed += pcs_max(0.0, report->correction_work);
    double rise = pcs_measure_energy(&report->measure) - pcs_measure_energy(&now->measure) - fed;
    double exchanged = fabs(report->external_work) + fabs(report->measure.potential - now->measure.potential);
    double spent = pcs_measure_energy(&now->measure) - now->lowest + exchanged;
    self->available = spent + 4.0 * now->held + floor;
    double allowed = (self->from == NULL ? 4.0 : 1.0) * (0.5 * spent + 4.0 * now->held); // unknown start of the step
    if (rise > floor + allowed || report->h > now->h) {
        double stored = energy_stored(self);
        self->available += stored;
        allowed += stored;
    }
    // Adds the work of rows: Newton's law with friction may gain energy, and a law on positions takes two steps.
    if (!energy_lags(self))
        allowed = pcs_min(allowed,
                          most * now->supply + exchanged - pcs_min(0.0, report->impact_loss + report->friction_loss));
    if (rise > floor + allowed) floor += energy_work_noise(self) + energy_of_rest(self);
    if (rise > floor + allowed && self->from != NULL) {
        double onset = energy_onset(self), granted = (energy_lags(self) ? 1.0 : most) * onset;
        self->available += onset;
        now->onset += granted;
        allowed += granted;
    }
    certify_note(self, CERTIFY_RISE, rise, allowed + floor, -1);
    now->worked += fed;
    bool is_explained = rise <= allowed + floor;
    if (is_explained) {
        now->exchanged = pcs_max(now->exchanged, exchanged);
        now->lowest = pcs_min(now->lowest, report->measure.potential);
        now->supply = pcs_max(now->supply, now->initial + now->worked - now->lowest);
    }
    energy_check_growth(self, rise, floor);
    energy_check_losses(self, floor);
    return is_explained;
}

// Checks energies first, as a step with unexplained energy must not widen any tolerance.
static void certify_energy(pcs_certifier *self)
{
    certify_memory *now = &self->now;
    const pcs_measure *m = &self->report->measure;
    bool is_explained = energy_check_rise(self);
    now->held = self->survey.held;
    now->strain = pcs_max(m->strain, 0.5 * now->strain);
    if (is_explained)
        now->largest_energy =
            pcs_max(now->largest_energy, pcs_max(m->kinetic + m->strain, self->survey.held_by_joints));
}

// Returns the round-off of x . A x from the sizes of its terms, which cancel in the damping of a rigid motion and in
// the kinetic energy of a sawtooth in u that one-point masses do not see.
static double energy_of_terms(const pcs_certifier *self, const pcs_matrix *A, const double *x)
{
    const pcs_pattern *pattern = A->pattern;
    double sum = 0.0;
    for (int j = 0; j < pattern->n; j++)
        for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
            if (pattern->row[k] < pcs_system_nown(self->system)) sum += fabs(x[pattern->row[k]] * A->value[k] * x[j]);
    pcs_system_sum(self->system, 1, &sum);
    return PCS_ROUND_SUM * sum;
}

// Checks the energy ledger where it has to close. Called after the equations of motion, whose residuals do work.
static void certify_ledger(pcs_certifier *self)
{
    certify_memory *now = &self->now;
    const pcs_step_report *r = self->report;
    double change = pcs_measure_energy(&r->measure) - pcs_measure_energy(&now->measure);
    double off = fabs(change - (pcs_report_change(r) - r->numerical_loss));
    double terms =
        fabs(r->external_work) + fabs(r->damping_loss) + fabs(r->numerical_loss) + fabs(r->measure.potential);
    if (self->from != NULL) certify_fade(&now->leftover, self->leftover); // in steps that are examined
    double scale =
        PCS_ROUND_ENERGY * pcs_max(now->largest_energy, terms) + energy_work_noise(self) + 4.0 * now->leftover;
    bool is_off = off > scale;
    if (is_off && self->system->C != NULL) scale += r->h * energy_of_terms(self, self->system->C, self->x->v);
    if (is_off && self->rule->kind == PCS_RULE_WAVE)
        scale += 0.5 * energy_of_terms(self, self->system->M, self->x->history[0]);
    certify_note(self, CERTIFY_ENERGY, off, scale, -1);
}

// Forces and directions against the energies and gaps that they follow from, at a few accepted states of a run.
//
// Equations of motion are checked with the forces of the system, and so cannot see a force that is wrong itself. Along
// a direction d that is drawn at random, but the same in every run, with positions q(s) = q moved by s d:
//
//   forces      E(q(1)) - E(q(0)) = -int (f(t, q(s), 0) - loads) . d ds,   E = S + V;  by Simpson's rule on two halves
//   work        the same along the displacement in the step, as time advances, with the energies of its ends and the
//               losses of materials and friction of force laws; and h D against the booked damping loss
//   damping     v . (f(t, q, v) - f(t, q, 0)) = -D,                        D the power of damping
//   gyroscopic  (f(t, q, v) + f(t, q, -v))/2 - f(t, q, 0) = p . [v, d] along d,   p = M v
//   directions  (g(q(1)) - g(q(-1)))/2 = G d, and (dG/dt) v = d(G v)/dt with q moved by v, of every row
//
// [v, d] is the difference between moving by v, then d, and by d, then v: v x d for finite rotations, 0 for coordinates
// that add up. The even part in v is free of damping.
//
// States: the steps 1, 16, 256, ...; of nonlinear models also where the strain energy has grown by a factor of 8 since,
// as when a contact with a force law closes, and every 64th step for the work: if every equation of motion holds and
// forces do the booked work, a loss that is not booked belongs to the scheme. |d| is a tenth of the displacement in the
// step, between 1e-9 and 1e-6 of the model, so that the path stays in the regime of the run. Simpson's rule on the
// complete path gives the error of that on its halves, and a second difference of a gap its curvature: the tolerance is
// large where a law has a kink. Materials with internal variables and friction of force laws have such energies along
// the displacement of the step only, and nonlinear systems in closed form do not give the power of their damping.

static const double of_force = 1e-6, of_power = 1e-6, of_gyro = 1e-5, of_increment = 1e-2; // fractions of their terms

// Returns the round-off, W, of internal forces that cancel in f, in their power at velocities of this size.
static double forces_noise(const pcs_certifier *self, double size)
{
    double strain = fabs(self->report->measure.strain);
    return PCS_ROUND_FORCE * size * sqrt(2.0 * strain * self->stiffness);
}

// Moves q by `part` of d and returns the power of forces along d, without loads. Raises sizes[0] to sum |f_i d_i| and
// sizes[1] to the effect of round-off of positions.
static double forces_power(pcs_certifier *self, const double *d, double part, double sizes[2])
{
    const pcs_system *system = self->system;
    double *q = self->increment, *f = self->b, sum[3] = { 0.0 };
    double t = self->x->t + pcs_min(part, 0.0) * self->h; // time passes along the path of the step only
    for (int i = 0; i < system->nv; i++) self->e[i] = part * d[i];
    pcs_retract(&system->rotations, self->x->q, self->e, q);
    system->ops->force(system, pcs_at(t, q, self->origin), f);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double arm = system->arms == NULL ? 1.0 : system->arms[i];
        sum[0] += f[i] * d[i];
        sum[1] += fabs(f[i] * d[i]);
        sum[2] += PCS_ROUND_SUM * fabs(f[i]) * (fabs(q[i]) + certify_length(self) / arm);
    }
    pcs_system_sum(system, 3, sum);
    sizes[0] = pcs_max(sizes[0], sum[1]);
    sizes[1] = pcs_max(sizes[1], sum[2]);
    return sum[0] - pcs_system_load_power(system, pcs_at(t, q, d));
}

// Returns the energy that materials, and friction of force laws, have dissipated in the step, J.
static double forces_loss(const pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double sum = 0.0;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) sum += self->report->rows[j].friction_loss;
    pcs_rows_sum(system, 1, &sum);
    return self->report->material_loss + sum;
}

// Compares work with energies along the path from `first` parts of d, in self->tolerance, to one more.
static void forces_check_path(pcs_certifier *self, double first, const pcs_measure *begin, const pcs_measure *end)
{
    enum { POINTS = 5 };
    double *d = self->tolerance, power[POINTS], sizes[2] = { 0.0 };
    for (int k = 0; k < POINTS; k++) power[k] = forces_power(self, d, first + 0.25 * k, sizes);
    double halves = (power[0] + 4.0 * power[1] + 2.0 * power[2] + 4.0 * power[3] + power[4]) / 12.0;
    double whole = (power[0] + 4.0 * power[2] + power[4]) / 6.0, ends = 0.5 * (power[0] + power[4]);
    double change = (end->strain - begin->strain) + (end->potential - begin->potential);
    double size = fabs(end->strain) + fabs(begin->strain) + fabs(end->potential) + fabs(begin->potential);
    double length = pcs_system_largest(self->system, d);
    double allowed = of_force * sizes[0] + sizes[1] + PCS_ROUND_SUM * size + forces_noise(self, length);
    allowed += 8.0 * fabs(halves - whole);
    if (first != 0.0) {
        const pcs_system *system = self->system;
        change += forces_loss(self);
        allowed += (system->soft_friction == NULL ? of_increment : 1.0) * fabs(halves - ends);
        // Adds the round-off of forces K q that cancel in a rigid motion.
        allowed += 4.0 * DBL_EPSILON * self->stiffness * pcs_system_largest(system, self->x->q) * length;
    }
    certify_note(self, first == 0.0 ? CERTIFY_GRADIENT : CERTIFY_WORK, fabs(change + halves), allowed, -1);
}

static void forces_check_gradient(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    pcs_measure begin, end;
    double length = certify_length(self), increment = 0.1 * self->h * pcs_system_largest(system, self->x->v);
    certify_draw(self, pcs_min(pcs_max(increment, 1e-9 * length), 1e-6 * length), self->tolerance);
    pcs_retract(&system->rotations, self->x->q, self->tolerance, self->increment);
    system->ops->measure(system, pcs_at(self->x->t, self->x->q, self->origin), PCS_ENERGY, &begin);
    system->ops->measure(system, pcs_at(self->x->t, self->increment, self->origin), PCS_ENERGY, &end);
    forces_check_path(self, 0.0, &begin, &end);
}

// Returns p . [v, d] of nodes with finite rotations; *size gets that of its terms.
static double forces_gyroscopic(pcs_certifier *self, const double *d, double *size)
{
    const pcs_system *system = self->system;
    const pcs_rotations *rotations = &system->rotations;
    const double *v = self->x->v;
    double *p = self->e, sum[2] = { 0.0 }, bracket[3];
    int n = pcs_system_nown(system);
    pcs_matrix_multiply(system->M, v, p);
    for (int i = 0; i < n; i++) sum[1] += fabs(p[i] * v[i]);
    for (int k = 0; k < rotations->count && rotations->equation[k] < n; k++) {
        int first = rotations->equation[k];
        pcs_cross(v + first, d + first, bracket);
        sum[0] += pcs_dot3(p + first, bracket);
    }
    pcs_system_sum(system, 2, sum);
    *size = sum[1] * pcs_system_largest(system, v) / certify_length(self);
    return sum[0];
}

// Checks how velocities change the forces: the odd part has the power of damping, the even one is gyroscopic.
static void forces_check_velocities(pcs_certifier *self)
{
    enum { ODD, ODD_SIZE, NOISE, EVEN, EVEN_SIZE, SUMS };
    const pcs_system *system = self->system;
    const double *q = self->x->q, *v = self->x->v;
    double *d = self->tolerance, *ahead = self->b, *rest = self->e, *back = self->r, sum[SUMS] = { 0.0 }, size;
    double t = self->x->t, speed = pcs_system_largest(system, v), noise = forces_noise(self, speed);
    certify_draw(self, speed, d);
    for (int i = 0; i < system->nv; i++) self->increment[i] = -v[i];
    system->ops->force(system, pcs_at(t, q, v), ahead);
    system->ops->force(system, pcs_at(t, q, self->origin), rest);
    system->ops->force(system, pcs_at(t, q, self->increment), back);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double part = v[i] * (ahead[i] - rest[i]);
        sum[ODD] += part;
        sum[ODD_SIZE] += fabs(part);
        sum[NOISE] += fabs(v[i]) * (fabs(ahead[i]) + fabs(rest[i]));
        sum[EVEN] += (0.5 * (ahead[i] + back[i]) - rest[i]) * d[i];
        sum[EVEN_SIZE] += (fabs(ahead[i]) + fabs(back[i]) + fabs(rest[i])) * fabs(d[i]);
    }
    pcs_system_sum(system, SUMS, sum);
    if (certify_is_on(self, CERTIFY_DAMPING_POWER)) {
        double lost = pcs_system_is_damped(system) ? pcs_system_damping_power(system, pcs_at(t, q, v), v) : 0.0;
        double gyration = speed / certify_length(self) * self->report->measure.kinetic;
        double allowed = of_power * (sum[ODD_SIZE] + fabs(lost)) + PCS_ROUND_SUM * (sum[NOISE] + gyration) + noise;
        certify_note(self, CERTIFY_DAMPING_POWER, fabs(sum[ODD] + lost), allowed, -1);
    }
    if (!certify_is_on(self, CERTIFY_GYROSCOPIC) || !(speed > 0.0)) return;
    double expected = forces_gyroscopic(self, d, &size);
    double allowed = of_gyro * (fabs(expected) + size) + PCS_ROUND_SUM * sum[EVEN_SIZE] + noise;
    certify_note(self, CERTIFY_GYROSCOPIC, fabs(sum[EVEN] - expected), allowed, -1);
}

static bool certify_examines(const pcs_certifier *self)
{
    const certify_memory *now = &self->now;
    long count = now->count;
    if (count == 0 || !(self->h > 0.0)) return false;
    while (count % 16 == 0) count /= 16;
    bool has_grown = self->report->measure.strain > 8.0 * pcs_max(now->examined, 1e-6 * now->largest_energy);
    return count == 1 || (!self->system->is_linear && has_grown);
}

// Compares booked damping with powers at both ends of the step and in between, along v and along the displacement.
// Rules with weights up to 3/2 evaluate it beyond an end: four times the difference of these is allowed.
static void forces_check_booked(pcs_certifier *self, const double *increment)
{
    enum { POINTS = 4 };
    const pcs_system *system = self->system;
    const pcs_state *from = self->from;
    double *q = self->increment, *v = self->e, *along = self->b, h = self->h, power[POINTS];
    for (int i = 0; i < system->nv; i++) v[i] = 0.5 * increment[i];
    pcs_retract(&system->rotations, from->q, v, q);
    for (int i = 0; i < system->nv; i++) {
        v[i] = 0.5 * (from->v[i] + self->x->v[i]);
        along[i] = increment[i] / h;
    }
    power[0] = pcs_system_damping_power(system, pcs_at(self->x->t, from->q, from->v), from->v);
    power[1] = pcs_system_damping_power(system, pcs_at(self->x->t, self->x->q, self->x->v), self->x->v);
    power[2] = pcs_system_damping_power(system, pcs_at(self->x->t, q, v), v);
    power[3] = pcs_system_damping_power(system, pcs_at(self->x->t, q, v), along);
    double least = power[0], largest = power[0], floor = 1e-9 * self->now.largest_energy;
    for (int k = 1; k < POINTS; k++) {
        least = pcs_min(least, power[k]);
        largest = pcs_max(largest, power[k]);
    }
    double off = fabs(self->report->damping_loss - h * power[2]);
    certify_note(self, CERTIFY_WORK, off, 4.0 * h * (largest - least) + of_power * h * largest + floor, -1);
}

// Compares the energies at the ends of the step with the work of forces along its path.
static void forces_check_work(pcs_certifier *self)
{
    double *d = self->tolerance;
    pcs_difference(&self->system->rotations, self->from->q, self->x->q, d);
    // Leaves out damped force laws, whose normal and friction forces are larger where bodies approach than at rest.
    if (self->system->soft_friction == NULL || self->report->damping_loss == 0.0)
        forces_check_path(self, -1.0, &self->now.measure, &self->report->measure);
    if (pcs_system_is_damped(self->system)) forces_check_booked(self, d);
}

// Returns true if the step is examined: forces against energies, directions of rows against gaps.
static void certify_forces(pcs_certifier *self)
{
    enum { EVERY = 64 }; // number of steps between two examinations
    bool is_asked = self->is_examined || self->now.count % EVERY == 0;
    if (self->is_examined) {
        self->now.examined = pcs_max(self->now.examined, self->report->measure.strain);
        if (certify_is_on(self, CERTIFY_GRADIENT)) forces_check_gradient(self);
        forces_check_velocities(self);
    }
    if (self->from != NULL && is_asked) forces_check_work(self);
}

// Steps in which equations of motion are checked: the first ones, every 256th, or every 8th if steps iterate, and those
// in which a contact may close, acts, or an iteration took longer than in the last step checked.
enum { BEGINNING = 8, SELDOM = 256, OFTEN = 8 }; // the last two are powers of two

// Allocates the work over rows and equations; directions and mass of its own if those of the system vary.
static pcs_status certify_take(pcs_context *ctx, pcs_certifier *self)
{
    const pcs_system *system = self->system;
    bool has_rebound = false;
    int nstage = self->rule->kind == PCS_RULE_RUNGE_KUTTA ? self->rule->tableau->s : 0;
    for (int j = 0; j < system->nrow; j++)
        has_rebound = has_rebound || (system->rows[j].ntangent > 0 && system->rows[j].tangent_restitution != 0.0);
    PCS_TAKE_EACH(ctx, system->nrow, "the certificate", certify_row, &self->rows, &self->kept_rows);
    PCS_TAKE_EACH(ctx, system->nrow, "the certificate", double, &self->gap, &self->bias, &self->start_gap,
                  &self->start_rate, &self->z, &self->moved, &self->jump, &self->gap_error, &self->drive[0],
                  &self->drive[1], &self->drive[2], &self->drive[3]);
    PCS_TAKE(ctx, self->is_spare, system->nrow, "the certificate");
    PCS_TAKE(ctx, self->ends, system->nrow, "the certificate");
    PCS_TAKE(ctx, self->z_t, system->ntangent, "the certificate");
    if (pcs_rows_any(system, has_rebound)) PCS_TAKE(ctx, self->rebound, system->ntangent, "the certificate");
    PCS_TAKE_EACH(ctx, system->nv, "the certificate", double, &self->f0, &self->f, &self->increment, &self->e, &self->r,
                  &self->b, &self->tolerance);
    PCS_TAKE(ctx, self->origin, system->nq, "the certificate");
    for (int k = 0; k < nstage; k++)
        PCS_TAKE_EACH(ctx, system->nv, "the certificate", double, &self->stage_v[k], &self->stage_a[k]);
    self->G = system->G;
    self->T = system->T;
    self->M = system->M;
    if (system->row_set.vary) PCS_TRY(pcs_rows_copy(ctx, system->G, &self->G));
    if (system->row_set.vary) PCS_TRY(pcs_rows_copy(ctx, system->T, &self->T));
    if (!system->mass_varies) return PCS_OK;
    PCS_TRY(pcs_matrix_create(ctx, system->M->pattern, &self->M));
    PCS_TAKE(ctx, self->dense, (size_t)system->nv * (size_t)system->nv, "the certificate");
    return PCS_OK;
}

// Returns the difference between a coefficient and the number under this key of a contact, or of a closed-form system;
// 0 if the case has none.
static double case_difference(pcs_case *input, const char *contact, const char *key, double value)
{
    char path[PCS_PATH_BYTES];
    snprintf(path, sizeof path, "contacts.%s.%s", contact, key);
    const pcs_yaml *own = pcs_case_find(input, path);
    snprintf(path, sizeof path, "system.%s", key);
    if (own->kind != PCS_YAML_SCALAR) own = pcs_case_find(input, path);
    if (own->kind != PCS_YAML_SCALAR) return 0.0;
    const char *end;
    return fabs(value - pcs_text_number(own->text, &end));
}

static void case_compare(pcs_certifier *self, pcs_case *input)
{
    const pcs_system *system = self->system;
    double worst = 0.0;
    int culprit = -1;
    for (int j = 0; j < pcs_system_npoint(system); j++) {
        const pcs_row *row = &system->rows[j];
        if (row->is_bilateral) continue;
        const char *name = system->contacts[row->contact].name;
        double off = case_difference(input, name, "friction", row->friction);
        off = pcs_max(off, case_difference(input, name, "tangent_restitution", row->tangent_restitution));
        if (j < system->nrow)
            off = pcs_max(off, case_difference(input, name, "restitution", pcs_restitution(row, 0.0)));
        if (row->law.ops == &pcs_law_newton)
            off = pcs_max(off, case_difference(input, name, "law.restitution", pcs_restitution(row, 0.0)));
        if (!(off > worst)) continue;
        worst = off;
        culprit = j;
    }
    certify_note(self, CERTIFY_COEFFICIENTS, pcs_system_max(system, worst), PCS_ROUND_SUM, culprit);
}

// Checks the travel times 2 sqrt((m/4)/k) of waves, with mass m/4 and stiffness -k off the diagonal for a cell between
// two nodes. With wave-exact masses every cell is checked; with springs beside cells, only the best of all.
static void case_check_travel(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_pattern *pattern = system->M->pattern;
    const pcs_travel *axial = &system->travel[PCS_WAVE_AXIAL], *across = &system->travel[PCS_WAVE_TRANSVERSE];
    bool has_beams = axial->shortest != across->shortest || axial->longest != across->longest;
    double best = INFINITY;
    if (!certify_is_on(self, CERTIFY_TRAVEL) || has_beams) return;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            double mass = system->M->value[p], stiffness = -system->K->value[p];
            if (pattern->row[p] == j || !(mass > 0.0) || !(stiffness > 0.0)) continue;
            double time = 2.0 * sqrt(mass / stiffness);
            best = pcs_min(best, pcs_max(axial->shortest - time, time - axial->longest) / axial->mean);
        }
    if (isfinite(best)) certify_note(self, CERTIFY_TRAVEL, best, 1e-9, -1);
}

static double certify_stiffness(const pcs_system *system)
{
    double largest = 0.0;
    if (system->K != NULL)
        for (int k = 0; k < system->K->pattern->nnz; k++) largest = pcs_max(largest, fabs(system->K->value[k]));
    return pcs_system_max(system, largest) * pcs_system_ndof(system);
}

pcs_status pcs_certifier_create(pcs_context *ctx, const pcs_scheme *scheme, pcs_case *input, bool is_controlled,
                                pcs_certifier **out)
{
    pcs_certifier *self;
    pcs_system *system = scheme->system;
    const pcs_rule *rule = &scheme->rule;
    PCS_TAKE(ctx, self, 1, "the certificate");
    self->scheme = scheme;
    self->system = system;
    self->rule = rule;
    self->is_controlled = is_controlled;
    self->equation = -1;
    certify_choose(self);
    PCS_TRY(certify_take(ctx, self));
    self->iterates = !system->is_linear && (!pcs_rule_is_explicit(rule) || rule->kind == PCS_RULE_MEAN);
    self->stiffness = certify_stiffness(system);
    case_check_travel(self);
    if (input != NULL) case_compare(self, input);
    *out = self;
    return PCS_OK;
}

const pcs_certificate *pcs_certifier_certificate(const pcs_certifier *self)
{
    return &self->now.certificate;
}

void pcs_certifier_start(pcs_certifier *self, const pcs_measure *before)
{
    certify_memory *now = &self->now;
    now->measure = *before;
    now->initial = pcs_measure_energy(before);
    now->lowest = before->potential;
    now->supply = before->kinetic + before->strain;
    // Ignores a spring with a force at rest, whose energy may fall below that of the reference state.
    now->largest_energy = before->kinetic + fabs(before->strain);
    now->strain = before->strain;
    now->damped = now->booked = now->corrected = now->deformation = now->examined = 0.0;
    now->worked = now->exchanged = now->onset = now->held = now->residual = now->last_residual = now->leftover = 0.0;
}

void pcs_certifier_mark(pcs_certifier *self)
{
    self->kept = self->now;
    memcpy(self->kept_rows, self->rows, (size_t)self->system->nrow * sizeof *self->rows);
}

void pcs_certifier_rewind(pcs_certifier *self)
{
    self->now = self->kept;
    memcpy(self->rows, self->kept_rows, (size_t)self->system->nrow * sizeof *self->rows);
}

// Returns true if a contact, closed by its last impulse, got none in this step and has not separated either.
static bool certify_is_held(const pcs_certifier *self, int row)
{
    const pcs_row_report *r = &self->report->rows[row];
    if (self->rule->gate != PCS_GATE_HELD || !(self->rows[row].impulse > 0.0) || r->step_impulse > 0.0) return false;
    return r->rate + r->target <= self->rule->gate_rest * self->x->largest_rate;
}

// Records the rows that the next step starts from. Returns true if an open contact may close in it, by a wide margin.
static bool certify_remember_rows(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double tie = PCS_ROUND_LENGTH * system->length, ahead = 2.0 * self->h;
    bool may_close = false, goes_on = self->rule->gate == PCS_GATE_HELD && !(self->h > 0.0);
    for (int j = 0; j < system->nrow; j++) {
        double gap = self->rows[j].gap = self->gap[j];
        if (!certify_is_held(self, j)) self->rows[j].impulse = self->report->rows[j].step_impulse;
        if (self->report->rows[j].step_impulse > 0.0) self->rows[j].recent = PCS_RECENT;
        else if (!(self->report->h > 0.0)) self->rows[j].recent = self->x->recent[j]; // as the start has set it
        else self->rows[j].recent = pcs_max(self->rows[j].recent - 1.0, 0.0);
        if (goes_on && self->x->was_loaded[j]) self->rows[j].impulse = 1.0; // the impulse of an earlier run is unknown
        if (system->rows[j].is_bilateral) continue;
        if (gap > tie && gap + ahead * self->rows[j].rate < 0.0) may_close = true;
    }
    return pcs_rows_any(system, may_close);
}

// Records the state that the next step starts from, and whether that step is examined closely: so are steps with hardly
// any motion, as a load may set in.
static void certify_remember(pcs_certifier *self)
{
    certify_memory *now = &self->now;
    bool may_close = certify_remember_rows(self);
    now->measure = self->report->measure;
    now->h = self->report->h;
    now->count++;
    double spent = pcs_measure_energy(&now->measure) - now->lowest;
    long rest = now->count & ((self->iterates ? OFTEN : SELDOM) - 1); // remainder of a division by a power of two
    now->is_awaited = may_close || now->count <= BEGINNING || rest == 0 || spent <= 1e-6 * now->largest_energy;
}

bool pcs_certifier_wants_start(const pcs_certifier *self)
{
    return self->iterates || self->now.is_awaited || self->system->row_set.may_pass;
}

// Finds the start of the step, forces at both ends and the displacement. Skips a report of several steps, which does
// not give the start of the last one.
static void certify_prepare(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_state *x = self->x, *from = self->before;
    if (from == NULL || self->report->is_joined) return;
    self->from = from;
    system->ops->force(system, pcs_at(from->t, from->q, from->v), self->f0);
    system->ops->force(system, pcs_at(from->t + self->h, x->q, x->v), self->f);
    pcs_difference(&system->rotations, from->q, x->q, self->increment);
}

// Checks that impulses change the momentum, and nothing else does.
static void certify_momentum(pcs_certifier *self)
{
    const pcs_step_report *report = self->report;
    double defect = 0.0;
    // Takes the magnitude, as the energy of preloaded springs may be below that of the reference state.
    double strain = pcs_max(fabs(self->now.measure.strain), fabs(report->measure.strain));
    double size = self->survey.size + self->system->mass * self->speed;
    for (int k = 0; k < 3; k++) {
        double expected = self->now.measure.free_momentum[k] + report->smooth_impulse[k] + self->survey.momentum[k];
        double off = fabs(report->measure.free_momentum[k] - expected);
        defect = pcs_larger(defect, off);
        size += fabs(report->smooth_impulse[k]);
    }
    if (isnan(defect)) defect = INFINITY;
    if (self->from != NULL) self->now.last_residual = self->residual;
    certify_fade(&self->now.residual, self->now.last_residual);
    double noise = PCS_ROUND_VELOCITY * size, left = 4.0 * self->now.residual;
    double inside = report->h * sqrt(2.0 * strain * self->stiffness);
    certify_note(self, CERTIFY_MOMENTUM, defect, noise + PCS_ROUND_FORCE * inside + left, -1);
}

bool pcs_certify(pcs_certifier *self, const pcs_state *before, const pcs_state *x, const pcs_step_report *report)
{
    certify_memory *now = &self->now;
    double known[CERTIFY_COUNT];
    self->before = pcs_certifier_wants_start(self) ? before : NULL;
    self->x = x;
    self->report = report;
    self->h = report->h;
    self->from = NULL;
    self->residual = self->leftover = 0.0;
    self->allowed = -1;
    self->has_moved = false;
    now->largest_h = pcs_max(now->largest_h, report->h);
    self->is_examined = certify_examines(self);
    certify_survey_rows(self);
    bool must_watch = self->survey.is_hit > 0.0 || self->survey.acts > 0.0 || report->iterations > now->iterations;
    if (must_watch || now->is_awaited) {
        certify_prepare(self);
        now->iterations = report->iterations;
    }
    certify_energy(self);
    self->speed = sqrt(2.0 * now->largest_energy / self->system->mass);
    bool was_broken = now->certificate.broken != NULL, is_distributed = pcs_rows_are_distributed(self->system);
    if (is_distributed) certify_part(self, known);
    certify_rows(self);
    if (is_distributed) certify_join(self, known, was_broken);
    rows_check_impact(self);
    now->contradictions += self->survey.is_ambiguous;
    certify_note(self, CERTIFY_CONTRADICTION, now->contradictions, 1.0, -1);
    if (self->from != NULL && certify_is_on(self, CERTIFY_MOTION)) certify_motion(self);
    if (certify_is_on(self, CERTIFY_ENERGY)) certify_ledger(self);
    certify_momentum(self);
    certify_forces(self);
    // Resets what the system caches for its rows to the end of the step.
    if (self->has_moved) pcs_system_gaps(self->system, pcs_at(x->t, x->q, NULL), self->gap);
    certify_remember(self);
    return now->certificate.broken == NULL;
}

bool pcs_certifier_is_greedy(const pcs_certifier *self)
{
    return self->is_greedy;
}

// Returns true if the broken check is one of energy gain.
static bool certify_is_of_energy(const pcs_certifier *self)
{
    const pcs_check *broken = self->now.certificate.broken;
    return broken != NULL && (broken == self->check[CERTIFY_RISE] || broken == self->check[CERTIFY_GROWTH]);
}

double pcs_certifier_shorter(const pcs_certifier *self, double share)
{
    const pcs_check *broken = self->now.certificate.broken;
    if (!certify_is_of_energy(self) || !(broken->tolerance > 0.0)) return 0.5;
    double allowed = broken->tolerance / broken->worst_value;
    return pcs_min(0.5, broken == self->check[CERTIFY_GROWTH] ? share * allowed : allowed);
}

// Returns advice on energy that no load explains, or "" if another check failed.
static const char *certify_advice(const pcs_certifier *self)
{
    if (!certify_is_of_energy(self)) return "";
    return "; try a smaller step, numerical damping that keeps the order (hht, or rho_inf < 1) or alpha_ggl";
}

// Returns the contact of a row by its index in one process.
static const pcs_contact_info *certify_contact(const pcs_system *system, int number)
{
    if (!pcs_rows_are_distributed(system)) return &system->contacts[system->rows[number].contact];
    const pcs_contact_info *info = system->contacts;
    while (number < info->first_all || number >= info->first_all + info->nall) info++;
    return info;
}

void pcs_certifier_describe(const pcs_certifier *self, size_t size, char *text)
{
    const certify_memory *now = &self->now;
    const pcs_check *c = now->certificate.broken;
    char where[128] = "", name[96];
    if (c == NULL) {
        snprintf(text, size, "certificate holds");
        return;
    }
    if (now->bad_row >= 0) snprintf(where, sizeof where, " at '%s'", certify_contact(self->system, now->bad_row)->name);
    if (now->bad_equation >= 0) {
        self->system->ops->describe(self->system, now->bad_equation, NULL, NULL, sizeof name, name);
        snprintf(where, sizeof where, " at %s", name);
    }
    snprintf(text, size, "certificate violated: %s%s: defect %.6g %s, allowed %.6g %s%s", c->name, where,
             c->worst_value, c->unit, c->tolerance, c->unit, certify_advice(self));
}

void pcs_certifier_serialize(pcs_certifier *self, pcs_archive *c)
{
    certify_memory *now = &self->now;
    pcs_certificate *certificate = &now->certificate;
    const pcs_system *system = self->system;
    pcs_archive_table rows = { self->rows, (size_t)system->nrow, sizeof *self->rows, sizeof *self->rows, false };
    size_t nnumber = (offsetof(certify_memory, is_awaited) - offsetof(certify_memory, measure)) / sizeof(double);
    pcs_archive_part(c, "certificate");
    for (int i = 0; i < certificate->ncheck; i++)
        pcs_archive_words(c, now->checks[i].name, &now->checks[i].worst_ratio, CHECK_WORDS);
    int broken = certificate->broken == NULL ? -1 : (int)(certificate->broken - certificate->checks);
    pcs_archive_index(c, "broken", &broken, -1, certificate->ncheck - 1);
    if (pcs_archive_reads(c)) certificate->broken = broken < 0 ? NULL : &now->checks[broken];
    pcs_archive_index(c, "bad_row", &now->bad_row, -1, pcs_system_nrow(system) + pcs_system_ncompliant(system) - 1);
    pcs_archive_int(c, "bad_equation", &now->bad_equation);
    if (pcs_archive_reads(c) && now->bad_equation >= system->nv) now->bad_equation = -1; // equation of another process
    pcs_archive_words(c, "numbers", &now->measure, nnumber);
    pcs_archive_flags(c, "is_awaited", &now->is_awaited, 1);
    pcs_archive_int(c, "iterations", &now->iterations);
    pcs_archive_rows(c, "rows", &rows);
}
