// The projection of contact impulses onto velocities, X = M^-1 G^T and XT = M^-1 T^T, that a step solver keeps for the
// schemes: the position at which it is evaluated, and products with it.

#ifndef PCS_STEP_PROJECTION_H
#define PCS_STEP_PROJECTION_H

#include "step/step.h"

// Columns of condensed contact problems, e.g. X = M^-1 G^T, each kept on the window where it is not negligible.
// Inverses of banded positive matrices decay exponentially away from the contact, so a column of a long bar is short:
// what lies below 1e-30 of its largest entry is dropped, far under the round-off of any sum.
typedef struct pcs_columns {
    int n, count;
    int *low, *high; // [count] window of each column: entries low <= i < high
    double **value;  // [count][n] zero outside the window
} pcs_columns;

pcs_status pcs_columns_create(pcs_context *ctx, int n, int count, pcs_columns **out);
// Finds the window of a column that was just filled and clears the rest.
void pcs_columns_trim(pcs_columns *columns, int column);
// Adds scale * column to x.
void pcs_columns_add(const pcs_columns *columns, int column, double scale, double *x);
// Adds scale * column to x on low <= i < high alone.
void pcs_columns_add_within(const pcs_columns *columns, int column, double scale, int low, int high, double *x);

// The projection of contact impulses onto velocities, shared by all step solvers. A solver that works by products keeps
// no columns, and the functions below then solve with M.
typedef struct pcs_projection {
    bool has_columns;        // true if columns are kept; otherwise X, XT and GX are NULL
    pcs_columns *X;          // M^-1 G^T
    double *GX;              // [nrow * nrow] G M^-1 G^T, row-major
    pcs_columns *XT;         // M^-1 T^T; no columns without friction
    pcs_rows *Gx, *Tx;       // directions of X and XT; those of the system if constant
    const double *increment; // [n] increment of the present step; NULL if none, or if no rotations in space
    double *at;              // [n] q at which the projection is evaluated
    double *work;            // [n]
    bool is_at;              // all of it is evaluated at `at`. False before the first move and after a rotation
    bool is_behind;          // mass and directions are evaluated at `at`, but not the columns
} pcs_projection;

// Largest rows times equations for which exact effective masses are worth their solves once.
#define PCS_LIGHT_ROWS 4e6
// Number of rows from which on they are distributed: an iteration costs 20 ns per row, an exchange a few us.
enum { PCS_MANY_ROWS = 256 };

// Returns true if a system of this size distributes so many rows over processes. No other solver could take over a step
// then, and effective masses are estimates, as exact ones need a solve each.
bool pcs_rows_pay_distributed(double nrow, double ndof);

// Returns the fraction of the step that is left after its impulses.
static inline double pcs_projection_lag(const pcs_step_form *form)
{
    return form->has_position ? 0.5 : form->kw / form->h;
}

// Moves the projection of a system with varying M or G to q: factors M(q), X = M(q)^-1 G(q)^T, GX and the effective
// masses follow. Nothing is done where all of them are constant. False when M(q) cannot be factored.
bool pcs_projection_move(pcs_step_solver *solver, const double *q);
// Moves it to an iterate of a step whose increment from its start is x (NULL: positions add up). W rotates a body by kw
// W, or by h/2 W at position level, but not the momentum that it has in its own axes: with M W = G^T La at the end of
// the step its angular momentum in space would change by kw W x J w beyond the moment of La, of first order in h. For a
// ball, where x is parallel to w_n + k W, R J (w_n + W) = R_n J w_n + m asks for J W = (k exp(-x) + 1 - k)^-1 R^T m, k
// = kw/h. So act the moments of all impulses: G^T becomes that in X, and stays as it is in velocities. For k = 1/2 the
// change is skew and leaves the effective masses alone.
bool pcs_projection_move_along(pcs_step_solver *solver, const double *q, const double *x);
// Moves the projection to q even if it is evaluated there, as the rows may touch other nodes now.
bool pcs_projection_renew(pcs_step_solver *solver, const double *q);
// Factors the mass matrix anew after its values have changed; X, GX and the effective masses follow. Returns false if
// it cannot be factored.
bool pcs_projection_weigh(pcs_step_solver *solver);
// Returns true if evaluated at q, so that a move there does nothing. The second function invalidates the projection.
bool pcs_projection_is_at(const pcs_step_solver *solver, const double *q);
void pcs_projection_leave(pcs_step_solver *solver);
// Moves the directions and X to q; the mass stays where it was factored: X = M^-1 G(q)^T.
void pcs_projection_aim(pcs_step_solver *solver, const double *q);
// Moves the constraint directions alone to q; X stays: GX = G(q) X.
void pcs_projection_rotate(pcs_step_solver *solver, const double *q);

// Creates columns that the solver has not made, for schemes that need them. At set-up only.
pcs_status pcs_projection_need_columns(pcs_step_solver *solver);
// Adds scale (X z + XT z_t) to x; z_t is NULL without friction.
void pcs_projection_push(const pcs_step_solver *solver, double scale, const double *z, const double *z_t, double *x);
// Computes rate = G (X z + XT z_t), [nrow], m/s.
void pcs_projection_rates(const pcs_step_solver *solver, const double *z, const double *z_t, double *rate);
// Returns column j of X, valid until the next call.
const double *pcs_projection_column(const pcs_step_solver *solver, int row);

// Returns the change of strain and gravity energy, J, by a displacement w = X z to q: w . K (q - w/2) - f_gravity . w.
double pcs_displacement_work(const pcs_step_solver *solver, const double *z, const double *q);

pcs_status pcs_projection_create(pcs_step_solver *solver, pcs_projection **out);

// Moves the projection as pcs_projection_move_along does, in two parts: mass and directions, then the columns. A step
// whose contacts all stay open needs the first part only.
bool pcs_projection_lead(pcs_step_solver *solver, const double *q);
void pcs_projection_follow(pcs_step_solver *solver, const double *x);

// Returns true if S* is the same in all iterations of a form. Rotating directions of contacts are not part of it.
bool pcs_step_is_constant(const pcs_system *system);
// Allocates S*, in the pattern of the mass (NULL) or in `curved` if it has the curvature of rows, and its solver.
pcs_status pcs_step_create_iteration(pcs_step_solver *solver, const pcs_pattern *curved, pcs_matrix **S,
                                     pcs_linsolve **iteration);
// Sums S* = c M + h C + h kb K for the solver's form and factors it; both objects are made at the first call,
// since explicit schemes never need them.
pcs_status pcs_step_factor_iteration(pcs_step_solver *solver, pcs_matrix **S, pcs_linsolve **iteration,
                                     pcs_outcome *outcome);

// Returns true if gaps affect this form. If not, q is not read, as an explicit scheme may not have it yet.
static inline bool pcs_form_sees_gaps(const pcs_step_form *form)
{
    return form->has_position || form->gate_is_live;
}

#endif
