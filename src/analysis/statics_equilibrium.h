// One equilibrium, and a path of them; private to this folder.

#ifndef PCS_ANALYSIS_STATICS_EQUILIBRIUM_H
#define PCS_ANALYSIS_STATICS_EQUILIBRIUM_H

#include "analysis/statics.h"
#include "analysis/stiffness.h"
#include "fe/rigid.h"
#include "linsolve/bordered.h"

#include <stdint.h>

typedef enum pcs_statics_outcome {
    PCS_STATICS_DONE,
    PCS_STATICS_SLOW,     // too many iterations
    PCS_STATICS_SINGULAR, // singular tangent, at `bad_equation`
    PCS_STATICS_LOOSE,    // singular tangent, and nothing stops the motion
    PCS_STATICS_DIVERGED  // not finite or too far away
} pcs_statics_outcome;

enum { PCS_STATICS_SETS = 256 };

// A saved state to return to.
typedef struct pcs_kept {
    double *q, *lam;     // [nq], [nall]
    unsigned char *held; // [nall]
    double *along;       // [ntangent] directions of friction, NULL if there is none
} pcs_kept;

// Norms of forces are roots of energies, |r| = sqrt(sum (scale_i r_i)^2).
typedef struct pcs_equilibrium {
    pcs_context *ctx;
    pcs_system *system;
    double time;
    double load;         // load factor s
    double factor;       // load factor at which forces and tangents are evaluated
    pcs_stiffness stiff; // K with the terms of multipliers, and M
    pcs_matrix D;        // M, with scaled stiffness in place of zero masses
    pcs_matrix A;        // K + (mu + shift) D
    pcs_bordered *solver;
    bool is_factored;                // linear system: the factors are those for the rows in `held`
    double mu;                       // 1/s^2 in a step of relaxation, else 0
    bool is_soft;                    // the model has motions without stiffness
    double shift;                    // 1/s^2, shift of K in Newton's method because of them
    double *zero;                    // [nv] velocity, zero
    double *f, *idle;                // [nv] residual, and force without loads
    double *loads;                   // [nv]
    double *size;                    // [nv] sum of the absolute terms of f
    double *dq;                      // [nv]
    double *away;                    // [nv] displacement since the start of a step of relaxation
    double *work;                    // [nv]
    double *scale, *stiffness;       // [nv] 1 / sqrt(K_ii) of the reference state, and K_ii
    bool has_friction;               // rows are followed by those of T
    bool slides_in_planes;           // some contact has two tangents: its friction is nonlinear
    bool is_frozen;                  // contact status is fixed
    bool holds_touching;             // contacts that touch at the start are held
    int nall;                        // rows, and tangents with friction
    pcs_rows *R, *H;                 // [nall x nv] rows of the gaps, and directions of the forces
    pcs_kept last;                   // last equilibrium, from which sliding is measured
    pcs_kept safe;                   // last step of relaxation
    int ntried;                      // corrections with an inertial shift in this load step
    double first_weight;             // `weight` at the start of the load step
    double *along;                   // [ntangent] unit direction of the friction force of a sliding contact
    unsigned char *has_way;          // [nrow] term in K of the direction of sliding
    int *nback;                      // [nrow] consecutive corrections that would reverse its sliding
    double *lam, *dlam;              // [nall]
    double *gap, *gap0;              // [nall] at q, for tangents sliding, m; and at the start on joints
    double *target;                  // [nall] gap required of a held row
    double *blur;                    // [nall] round-off of the gap
    double *gap_noise, *lam_noise;   // [nall] effect of round-off on gaps and forces
    bool has_factors;                // the solver has factors of a matrix of this load step
    bool is_refined;                 // the active set is that before the last correction
    bool is_judged;                  // the active set agrees with the state
    unsigned char *held;             // [nall] rows of the current active set
    unsigned char *kept;             // [nall] contacts hit by a free motion, held until they have a force
    int nset, nreturn;               // number of active sets in this load step, and of those that had occurred before
    uint64_t sets[PCS_STATICS_SETS]; // hashes of the last active sets
    double left, weight;             // |f|, and the largest of the norms of loads, internal forces and row forces
    double round_off;                // DBL_EPSILON |size|, the part of |f| that is round-off
    double correction;               // last correction, relative; infinite if there is nothing to compare it with
    int iterations, total;
    int bad_equation;
    pcs_rigid rigid; // motions that only contacts and prestress resist
} pcs_equilibrium;

// Creates the workspace at q; the caller has set has_friction and holds_touching of `e`.
pcs_status pcs_equilibrium_create(const pcs_analysis *on, double time, const double *q, pcs_equilibrium *e);

// Moves q and lam to the equilibrium at load factor s.
pcs_status pcs_equilibrium_find(pcs_equilibrium *e, double s, double *q, pcs_statics_outcome *outcome);

// Moves them there by steps of steepest descent, for models without stiffness of their own (statics_relax.c).
pcs_status pcs_equilibrium_relax(pcs_equilibrium *e, double s, double *q, pcs_statics_outcome *outcome);

void pcs_equilibrium_keep(const pcs_equilibrium *e, const double *q, pcs_kept *to);
void pcs_equilibrium_go_back(pcs_equilibrium *e, const pcs_kept *from, double *q);

// Parts of the iteration.

// Begins the load step to load factor s; resets counters and flags of the last one.
void pcs_equilibrium_begin(pcs_equilibrium *e, double s);
// Evaluates directions of rows and gaps at q.
void pcs_equilibrium_place(pcs_equilibrium *e, const double *q);
// Evaluates gaps, active set and residual at q. Returns true if the active set has changed.
bool pcs_equilibrium_evaluate(pcs_equilibrium *e, const double *q);
void pcs_equilibrium_update_tangent(pcs_equilibrium *e, const double *q);
pcs_status pcs_equilibrium_factor(pcs_equilibrium *e, bool *is_singular);
// Solves for dq and dlam with the current factors; pcs_equilibrium_correct applies them.
void pcs_equilibrium_solve(pcs_equilibrium *e);
void pcs_equilibrium_correct(pcs_equilibrium *e, double *q);
// Sets `correction` to sqrt(energy of the correction / 2 strain energy), with an energy of at least `more`, J.
void pcs_equilibrium_judge(pcs_equilibrium *e, const double *q, double more);
// Returns true if the iteration has converged; `before` is the residual before the last correction.
bool pcs_equilibrium_is_close(const pcs_equilibrium *e, double before);
bool pcs_equilibrium_has_diverged(const pcs_equilibrium *e, const double *q);
double pcs_equilibrium_norm(const pcs_equilibrium *e, const double *x);
// Returns the largest K_ii / M_ii, 1/s^2.
double pcs_equilibrium_top(const pcs_equilibrium *e);
void pcs_equilibrium_forget_rows(pcs_equilibrium *e);
void pcs_equilibrium_find_noise(pcs_equilibrium *e);
bool pcs_equilibrium_row_is_wrong(const pcs_equilibrium *e, int row);
// Returns the smallest mu, 1/s^2, that makes a singular K regular as K + mu D in double precision; 0 if K is zero.
double pcs_equilibrium_least_mu(const pcs_equilibrium *e);
// Returns true if the residual and the errors of rows are no more than round-off of forces and gaps.
bool pcs_equilibrium_is_round_off(const pcs_equilibrium *e);
bool pcs_equilibrium_rows_fit(const pcs_equilibrium *e);

// Motions with little or no stiffness (statics_relax.c).

// Finds whether loads at q, or what joints ask for, drive free motions; there are such motions, and K bears the rest.
pcs_status pcs_equilibrium_is_driven(pcs_equilibrium *e, const double *q, bool *is_driven);
// Returns true if the loads do work along the motion x [nv]. The residual may be round-off after large displacements.
bool pcs_equilibrium_loads_push(const pcs_equilibrium *e, const double *x);

typedef enum pcs_stability {
    PCS_STABLE,
    PCS_NEUTRAL, // motion without force
    PCS_UNSTABLE,
    PCS_STABILITY_UNKNOWN
} pcs_stability;

// Finds the softest motion at q that the rows in `held` allow. Fills dq with it, scaled to a largest entry of one size
// of its coordinate, and *stiffness with its Rayleigh quotient, 1/s^2.
pcs_status pcs_equilibrium_softest(pcs_equilibrium *e, const double *q, double *stiffness, pcs_stability *stability);

// Returns the norm of the force of a unit multiplier.
double pcs_equilibrium_row_size(const pcs_equilibrium *e, int row);

// A path of equilibria in progress.
typedef struct pcs_ramp {
    pcs_equilibrium e;
    pcs_statics *out;
    const pcs_statics_options *options;
    pcs_statics_watch *watch; // NULL if none
    void *user;
    double *q;                 // [nq]
    double *gap;               // [nrow] at the last equilibrium
    double *drive, *drive_now; // [nrow] part of the gap due to driven joints, there and at q
    double *loads, *friction;  // [nv] forces on the model there
    bool is_loose;             // only loads and contacts hold the model: there is no path to follow
    double stiffness;          // smallest at the start, 1/s^2, NaN if unknown
    double rate;               // displacement over load factor in the last load step
    bool in_time;              // loads are complete and time proceeds
} pcs_ramp;

#endif
