// Step solver `newton`, shared by its files. Every iteration linearises about the present (q, v) and solves the contact
// problem of the linearised step:
//
//   S* dd + Gb^T mu = -r1 - h K (dU + kw dW) - h C dW,   Gb dd = -Gb vt      S* = c M + h C + h kb K,  mu = -h dlam
//   U = X nu + (h/2) XT Lt (position level only; with held rows X nu + XT nu_t),  W = X La + XT Lt
//                                                                             X = M^-1 G^T, XT = M^-1 T^T at q
//   r1 = c M d - h (f + Gb^T lam)
//
// S* and K of an iterate stay where the one after it has changed little by comparison: what is left is corrected by the
// residual, at a rate below the one that was seen.
//
// Positions that do not add up: x = x0 + kb d + U + kw W is the increment from the start of the step, `sum` its numbers
// added to it, and K, G of positions are derivatives by x.
//
// Derivatives of M are in K, d(M a)/dq with a = c d/h; those of contact rows G are left out of the linearisation (an
// iteration or two, never the solution); those of joints, of forces and velocities, are in it (curvature.h):
// with M U = G^T nu, M W = G^T La the increment of q solves S* dq = c M dP + ..., dP what the multipliers add, so that
// a turn of the rows keeps q and changes d. Friction inside the position correction keeps a sticking contact from
// creeping.

#ifndef PCS_STEP_NEWTON_H
#define PCS_STEP_NEWTON_H

#include "step/columns.h"
#include "step/curvature.h"
#include "step/dense_contacts.h"
#include "step/impact.h"
#include "step/outer.h"
#include "step/past.h"

typedef struct newton {
    int n, m, nt, nz, nb; // unknowns, rows, tangents, 2 m + 2 nt: nu, La, Lt, nu_t; bilateral rows
    pcs_dense_contacts *contacts;
    pcs_impact *impact;
    pcs_curvature *curvature; // of rows; NULL: left out
    pcs_matrix *S;
    pcs_linsolve *iteration;
    int *bilateral;         // [nb] their rows
    unsigned char *is_used; // [m] rows that may transmit something in this step
    int *row_of_tangent;    // [nt]
    bool is_at_start;       // linearised at the start of the step, which is no point of the iteration
    bool is_provisional;    // the multipliers are those of sets that do not hold yet
    bool has_jump;          // U or W is not zero
    int gate_sign;          // 1: a gap at the tolerance counts as closed; -1: as open, where closing it would open it
    bool stands;            // S* of this form is factored, and never changes
    bool is_factored;       // and neither do rows
    bool rows_are_here;     // mass and directions stand at the present q
    bool keeps_factor;      // S* and K stay those of the iterate before
    unsigned char *has_column;                               // [nz] its columns Y that are filled
    double **Y;                                              // [nz][n] what a unit multiplier does to d
    double **mu_of;                                          // [nz][nb] and to mu
    pcs_rows *A;                                             // [nb x n] Gb + kb Hb, of smooth multipliers
    double **border;                                         // [nb][n] S*^-1 Gb^T
    double *schur, *mu, *mu0;                                // [nb * nb], [nb], [nb]
    double *q0, *v0, *qt, *U, *W, *f, *y0, *q_last, *v_last; // [n]
    double *sum, *sum_t;                                     // [n] sums that q and qt come from; q and qt themselves
    double *x, *turned;                                      // [n] where positions do not add up
    double *force;                                           // [nb] N, of joints, in the last step
    double *invert, *keep;                                   // [nb * nb], [nb]
    double *lam;                                             // [m] multipliers half-way to the next iterate
    double *z_last;                                          // [nz] multipliers of the iterate before
    double *right;                                           // [n] right side of the last solve; NULL: not asked for
    double *base, *trial;                                    // [n] it without jumps; y0 with the matrix before
    bool has_trial;                                          // these two are there
    double size, drift;                                      // of the last change: newton_measure
    struct newton_known {
        pcs_bend bend; // of the motion, in the last step
        pcs_tail tail;
    } known;
    pcs_past *past;  // accelerations of earlier steps; NULL: not kept
    bool is_guessed; // the iteration began where the steps before led
} newton;

// newton_rows.c: the linearised step and its contact problem.

// Factors S* at the present state unless it is kept, and the border of the bilateral rows.
bool pcs_newton_factor(pcs_step_solver *self, const pcs_step_problem *p);

// S* alone, where no step of this form changes it.
void pcs_newton_factor_constant(pcs_step_solver *self);
// Sets `trial` to y0 as found with the matrix of the iterate before, and `base` to its right side.
void pcs_newton_try_kept(pcs_step_solver *self, const pcs_step_problem *p);
// The change y0 of d without multipliers of contacts.
void pcs_newton_free_increment(pcs_step_solver *self, pcs_step_problem *p);
// Fills the contact problem about the present state and solves it; false when it has no solution that can be found.
bool pcs_newton_solve_contacts(pcs_step_solver *self, pcs_step_problem *p, int *rounds);
// Has a row closed that was left out of the last iteration?
bool pcs_newton_misses_row(pcs_step_solver *self, const pcs_step_problem *p);
// Gaps at qt and at q, each evaluated once at most; those at qt where gates follow them.
void pcs_newton_find_gaps(pcs_step_solver *self, const pcs_step_problem *p, double *smooth_gap, double *gap);
// Column of unknown k of z: X or XT; and how much of it the unknown adds to U and to v; to q it adds U and kw times the
// other.
const double *pcs_newton_column(const pcs_step_solver *self, int k);
double pcs_newton_into_U(const pcs_step_solver *self, int k);
double pcs_newton_into_v(const pcs_step_solver *self, int k);

#endif
