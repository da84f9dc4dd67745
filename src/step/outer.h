// Newton's iteration on the motion of a step, shared by the solvers that linearise it: `newton` and `schur`. Where it
// starts, when it ends, when a prediction is given up.
//
// It starts from the prediction where the motion is smooth, and from the start of the step, a state in balance, where a
// contact is about to change or the prediction leads nowhere. An iteration is judged by the largest change of
// velocities, or of positions over h, that it makes, angles times the size of the model:
//
//   converged  the change, or what its rate says is left after it, is below 1e-14 of the velocities; or what a second
//              change of a mesh leaves is below 8 eps of the positions over h and 1e-12 of the velocities; or it has
//              stopped shrinking at the size of round-off: eps of the positions over h, and of the velocities
//   growing    it no longer halves from one iteration to the next, far above round-off
//
// The matrix of an iteration serves the next one as well where its rate is known and good.
//
// Error left by Newton's iteration. With F the equations, S their slope, d1 and d2 the first changes and t what the
// matrix of the first iteration would make of the second change, one solve, the second iteration has the slope half-way
// along t: the mean slope of that path but for third derivatives, which makes the rate cubic (Frontini, Sormani: Some
// variant of Newton's method with third-order convergence, Appl. Math. Comput. 140, 2003). With w = d2 - t
//
//   w ~ S^-1 F''[d1, d2]      d3 ~ S^-1 (F''[w, d2]/2 + F'''[d2, d2, d2]/24)
//
// so that |d3| ~ |w|^2/|d2| th/2 + |d2|^3/|d1|^2/24, th = |d2|/|d1| the rate of what counts in F'', and |w| is what the
// second change would leave over if it kept the matrix of the first. A prediction is wrong in soft directions, what an
// iteration leaves is in stiff ones, so th is the larger one of two rates: of the largest change, and, where S is the
// slope of smooth forces, of sizes in energy, |d|^2 = d . S d, in which stiff directions count for what they are
// (Deuflhard: Newton Methods for Nonlinear Problems, 2004, sec. 3.2). Ten times that is allowed for: of 24 000 third
// changes of beams above round-off, 1e-12 to 1e-8 of the velocities, many schemes, meshes and steps, 99.9 % were less
// than 7 times as large, and the largest was 11. For |w| ten times is allowed as well. Where sizes are not known, the
// rate of the largest change counts, ten times, too, if the matrix is the slope of all that acts. It says nothing
// where directions of acting rows turn, which the matrix leaves out: a hinge in space left 10^5 times as much.
//
// A third change is 3 to 7 eps of the positions over h by their round-off alone, however good the second one was.
//
// |d2|/|d1| and |w|/|d2| are the size of d1 times numbers that hardly change from step to step: they are known
// beforehand, and so whether the matrix of the first iteration will do for the second.
//
// From the third iteration on a matrix is kept where the last rate was r <= 1e-2: the rate with it is 2 r^2 then, which
// gains all digits in four iterations, the price of a factorization (tests/bench/README.md).
//
// A converged motion also has to keep the law of every row that acts along the directions at the end of the step. They
// rotate fast where a distance is short, as in a bearing with little backlash, and were taken from the iterate before.

#ifndef PCS_STEP_OUTER_H
#define PCS_STEP_OUTER_H

#include "step/contact_problem.h"
#include "step/curvature.h"
#include "step/step.h"

// Iteration: its number from 0, whether it keeps the matrix of the one before, and whether sizes are needed.
typedef struct pcs_pass {
    int count;
    bool keeps_factor, is_measured;
} pcs_pass;

// Rates |d2|/|d1| and |w|/|d2| over the size of d1 in the last step whose second iteration had a matrix of its own,
// `h`, the length of that step, s, and `age`, the steps since then. Zeros if there was none.
typedef struct pcs_bend {
    double h, rate, kept_rate, age;
} pcs_bend;

// The motion in a step that is being solved: qt = q0 + kb d, q = qt + U + kw W, v = v0 + d + W. A solver that knows
// the sum of U and kw W alone has it in U, and no kw.
typedef struct pcs_motion {
    double *q0, *v0, *qt;        // [nv] positions and velocities as given for the step; qt
    double kw, *U, *W;           // [nv]
    double *y0;                  // [nv] change of d by the last iteration
    double *q_last, *v_last;     // [nv] work
    double *sum, *sum_t;         // [nv] sums of increments that give q and qt; these themselves if positions add up
    double *own_sum, *own_sum_t; // [nv] memory for them, used if positions do not add up, as are the next two
    double *x, *rotated;         // [nv] increment from the start of the step; work
    bool has_jump;               // U or W is not zero
    bool is_at_start;            // linearised at the start of the step, which is no point of the iteration
    bool is_guessed;             // the iteration began at the extrapolation of the steps before
    bool rows_are_here;          // mass and directions are evaluated at the present q
} pcs_motion;

pcs_status pcs_motion_create(pcs_step_solver *self, pcs_motion *m);
// Stores q and v of the problem as the start of the iteration.
void pcs_motion_take(const pcs_step_solver *self, const pcs_step_problem *p, pcs_motion *m);
// Goes to d = 0 without impulses.
void pcs_motion_rest(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m);
// Computes q and qt from the sums of positions; the second function also v and these sums, from d, U and W.
void pcs_motion_retract(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m);
void pcs_motion_go(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m);
// Follows impulses U and W that have rotated with their rows: q stays, as the linearisation has included the rotation,
// and d takes the difference over kb.
void pcs_motion_stay(const pcs_step_solver *self, pcs_step_problem *p, pcs_motion *m);
// Moves mass and directions to the present q, and then the columns with them. Returns false if the mass is singular.
bool pcs_motion_lead(pcs_step_solver *self, const pcs_step_problem *p, pcs_motion *m);
bool pcs_motion_move(pcs_step_solver *self, const pcs_step_problem *p, pcs_motion *m);
// Evaluates the gaps at q and, if the gate is live, at qt, each at most once.
void pcs_motion_find_gaps(pcs_step_solver *self, const pcs_step_problem *p, const pcs_motion *m, double *smooth_gap,
                          double *gap);
// Evaluates the rows at d + y0 without multipliers, from the present q: b and b_gate; gaps as they are into `value`.
void pcs_motion_fill_base(pcs_step_solver *self, const pcs_step_problem *p, const pcs_motion *m,
                          const pcs_curvature *curvature, bool sees_gaps, pcs_contact_problem *c);
// Evaluates G (kh d + drift) and T (kh d + drift), m, of held rows without multipliers, in place of gaps.
void pcs_motion_fill_held(pcs_step_solver *self, const pcs_step_problem *p, const pcs_motion *m,
                          pcs_contact_problem *c);
// Writes multipliers, gates and velocities without impulses to the problem.
void pcs_motion_report(pcs_step_solver *self, pcs_step_problem *p, const pcs_motion *m, const pcs_contact_problem *c);

typedef struct pcs_outer {
    // Resets the multipliers, and improves the guess of d; p->q and p->v follow after it.
    void (*begin)(pcs_step_solver *self, pcs_step_problem *p, bool is_at_start);
    // Adds the forces of joints to a guess, which q(d), v(d) follow already.
    void (*guess)(pcs_step_solver *self, pcs_step_problem *p);
    bool knows_joints; // their forces in the step before are known
    // Linearises and solves the contact problem. Returns the change of the motion, m/s. NAN if that fails, with the
    // reason in *outcome, which is PCS_NOT_CONVERGED before.
    double (*iterate)(pcs_step_solver *self, pcs_step_problem *p, pcs_pass pass, int *iterations, pcs_outcome *outcome);
    // Returns true if the rows allow the matrix of the last iteration to serve the next one.
    bool (*may_keep)(const pcs_step_solver *self);
    const double *size;  // energy norm of the last change; NULL if it does not bound the changes that follow
    const double *drift; // |w| of a second iteration with a matrix of its own; INFINITY if not known. With `size`
    pcs_bend *bend;      // with `size`
    // Returns the size of d, m/s, if its largest entry says little about the motion; NULL: its largest entry.
    double (*scale)(pcs_step_solver *self, const pcs_step_problem *p);
    // Returns true if a motion that has converged still lacks something, such as a row. May be NULL.
    bool (*is_provisional)(pcs_step_solver *self, const pcs_step_problem *p);
    // Moves mass and directions to the present q. Returns false if the mass is singular.
    bool (*move)(pcs_step_solver *self, const pcs_step_problem *p);
    pcs_motion *at;
    pcs_contact_problem *contacts;
    double *z_last;     // [2 nrow] nu, La of the iterate before, as far as they are kept; NULL if not kept
    bool has_rotations; // derivatives of rotating joints are in the matrix
} pcs_outer;

// Solves a step with dynamics. On failure the solver stores the change left and where.
pcs_outcome pcs_outer_solve(pcs_step_solver *self, pcs_step_problem *p, const pcs_outer *outer, int *iterations);

#endif
