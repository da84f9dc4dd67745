// One load step of a static analysis; private to this folder.

#ifndef PCS_ANALYSIS_STATICS_NEWTON_H
#define PCS_ANALYSIS_STATICS_NEWTON_H

#include "analysis/statics.h"
#include "analysis/stiffness.h"
#include "fe/rigid.h"
#include "linsolve/bordered.h"

#include <stdint.h>

typedef enum pcs_statics_outcome {
    PCS_STATICS_DONE,
    PCS_STATICS_SLOW,     // too many iterations
    PCS_STATICS_SINGULAR, // the tangent, at `bad_equation`
    PCS_STATICS_LOOSE,    // and nothing stops the motion
    PCS_STATICS_DIVERGED  // not finite or far away
} pcs_statics_outcome;

enum { PCS_STATICS_SETS = 256 };

// Norms of forces are roots of energies, |r| = sqrt(sum (scale_i r_i)^2).
typedef struct pcs_equilibrium {
    pcs_context *ctx;
    pcs_system *system;
    double time;
    double load;         // s
    double factor;       // of loads, at which forces and tangents are evaluated
    double over;         // by how much loads, not joints, are larger than s says; 1 but on the way of a relaxation
    pcs_stiffness stiff; // K with what multipliers add, and M
    pcs_matrix D;        // M, with stiffness in the place of masses that are not there
    pcs_matrix A;        // K + (mu + shift) D
    pcs_bordered *solver;
    bool is_factored;              // the values of a linear system, for the rows in `held`
    double mu;                     // 1/s^2 of a step of relaxation, else 0
    bool is_soft;                  // motions without stiffness are there
    double shift;                  // 1/s^2, of K in Newton's method on account of them
    double *zero;                  // [nv] velocity
    double *f, *idle;              // [nv] force that is left over, and force without loads
    double *loads;                 // [nv]
    double *size;                  // [nv] sum of the sizes of the terms of f
    double *dq;                    // [nv]
    double *away;                  // [nv] way from where a step of relaxation is tied to
    double *work;                  // [nv]
    double *scale, *stiffness;     // [nv] 1 / sqrt(K_ii) of the reference state, and K_ii
    bool has_friction;             // rows are followed by those of T (statics_friction.c)
    bool slides_in_planes;         // some contact has two tangents: its friction is not linear
    bool is_frozen;                // contacts stay as they are
    bool holds_touching;           // contacts that touch at the start hold
    int nall;                      // rows, and tangents where friction counts
    pcs_rows *R, *H;               // [nall x nv] what rows measure, and along what they push
    const double *origin;          // [nq] where sliding counts from: the last equilibrium
    const double *origin_lam;      // [nall] there
    int ntried;                    // steps against inertia in this load step
    double first_weight;           // of forces, at the start of the load step
    double *along;                 // [ntangent] unit vector along which friction pushes where it slides
    unsigned char *has_way;        // [nrow] it has slid far enough for its direction to count
    int *nback;                    // [nrow] corrections, one after the other, that would turn it back
    double *lam, *dlam;            // [nall]
    double *gap, *gap0;            // [nall] at q, sliding of tangents; and at the start on joints
    double *target;                // [nall] gap that a row shall have
    double *blur;                  // [nall] rounding error of the gap
    double *gap_noise, *lam_noise; // [nall] what rounding errors make of gaps and forces
    bool has_factors;              // of some matrix of this load step
    bool is_refined;               // the rows are the same as before the last correction
    bool is_judged;                // the rows are those that the state asks for
    unsigned char *held;           // [nall] rows of the present active set
    unsigned char *kept;           // [nall] contacts that a free motion ran into: they hold until they have a force
    int nset, nreturn; // sets of contacts in this load step, and those among them that had been there before
    uint64_t sets[PCS_STATICS_SETS]; // the last ones
    double *safe_q, *safe_lam;       // [nv], [nall] of the last step of relaxation
    unsigned char *safe_held;        // [nall]
    double left, weight;             // |f|, and that of the loads, internal forces or row forces, whichever is largest
    double round_off;                // DBL_EPSILON |size|: |f| that round-off explains
    double correction;               // the last one, relative; infinite where there is nothing to compare it with
    int iterations, total;
    int bad_equation;
    pcs_rigid rigid; // motions that nothing but contacts and prestress resist
} pcs_equilibrium;

// `e` says whether friction counts, where sliding counts from, and whether contacts hold that touch at the start.
pcs_status pcs_equilibrium_create(const pcs_analysis *on, double time, const double *q, pcs_equilibrium *e);

// Moves q and lam to the equilibrium at load factor s.
pcs_status pcs_equilibrium_find(pcs_equilibrium *e, double s, double *q, pcs_statics_outcome *outcome);

// The same by steps along the way of steepest descent, for models without stiffness of their own (statics_relax.c);
// first for loads that are larger by the factor `over`, then back to theirs.
pcs_status pcs_equilibrium_relax(pcs_equilibrium *e, double s, double over, double *q, pcs_statics_outcome *outcome);
// A factor that makes the strains of a model with tension under its loads large beside their round-off, and still
// small; 1 where they are so by themselves. For the state and load factor evaluated last.
double pcs_equilibrium_overload(const pcs_equilibrium *e);

// Pieces of the iteration.
//
// Forgets what the last load step was about.
void pcs_equilibrium_begin(pcs_equilibrium *e, double s);
// Directions of rows and gaps at q.
void pcs_equilibrium_place(pcs_equilibrium *e, const double *q);
// Gaps, the rows that hold, and the residual at q; whether other rows hold than before.
bool pcs_equilibrium_evaluate(pcs_equilibrium *e, const double *q);
// The residual alone, with the rows that hold.
void pcs_equilibrium_look(pcs_equilibrium *e, const double *q);
void pcs_equilibrium_update_tangent(pcs_equilibrium *e, const double *q);
pcs_status pcs_equilibrium_factor(pcs_equilibrium *e, bool *is_singular);
// dq and dlam with what is factored, and the correction by them.
void pcs_equilibrium_solve(pcs_equilibrium *e);
void pcs_equilibrium_correct(pcs_equilibrium *e, double *q);
// Sets `correction` to sqrt(energy of the correction / 2 strain energy), with an energy of at least `more`, J.
void pcs_equilibrium_judge(pcs_equilibrium *e, const double *q, double more);
// True if the iteration has converged; `before` is the residual before the last correction.
bool pcs_equilibrium_is_close(const pcs_equilibrium *e, double before);
void pcs_equilibrium_move(const pcs_equilibrium *e, const double *dq, double *q);
bool pcs_equilibrium_has_diverged(const pcs_equilibrium *e, const double *q);
double pcs_equilibrium_norm(const pcs_equilibrium *e, const double *x);
// Largest entry of a change of coordinates, in units of their sizes.
double pcs_equilibrium_stride(const pcs_equilibrium *e, const double *dq);
// The largest K_ii / M_ii, 1/s^2.
double pcs_equilibrium_top(const pcs_equilibrium *e);
// The contacts that hold, from gaps and forces (statics_rows.c): whether they are others than before.
bool pcs_equilibrium_choose_rows(pcs_equilibrium *e);
void pcs_equilibrium_forget_rows(pcs_equilibrium *e);
void pcs_equilibrium_find_noise(pcs_equilibrium *e);
bool pcs_equilibrium_row_is_wrong(const pcs_equilibrium *e, int row);
// Norm of the force of a unit multiplier.
double pcs_equilibrium_row_size(const pcs_equilibrium *e, int row);
// Rounding errors of forces and gaps (statics_round_off.c): are the residual and the errors of rows no more than that?
void pcs_equilibrium_find_sizes(pcs_equilibrium *e, const double *q);
void pcs_equilibrium_find_blur(pcs_equilibrium *e, const double *q);
bool pcs_equilibrium_is_round_off(const pcs_equilibrium *e);
bool pcs_equilibrium_rows_fit(const pcs_equilibrium *e);

#endif
