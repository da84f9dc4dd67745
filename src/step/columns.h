// Columns of condensed contact problems, private to this folder, e.g. X = M^-1 G^T, each kept on the window where it is
// not negligible.
//
// Inverses of banded positive matrices decay exponentially away from the contact, so a column of a long bar
// is short: what lies below 1e-30 of its largest entry is dropped, far under the round-off of any sum.

#ifndef PCS_STEP_COLUMNS_H
#define PCS_STEP_COLUMNS_H

#include "step/projection.h"

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
// Returns column . x over the first n entries.
double pcs_columns_dot(const pcs_columns *columns, int column, int n, const double *x);

// The projection of contact impulses onto velocities, shared by all step solvers. A solver that works by products keeps
// no columns: what follows then takes a solve with M where it would add columns up.
typedef struct pcs_projection {
    bool has_columns;  // true if columns are kept; otherwise X, KX, XT and GX are NULL
    pcs_columns *X;    // M^-1 G^T
    pcs_columns *KX;   // K M^-1 G^T
    double *GX;        // [nrow * nrow] G M^-1 G^T, row-major
    double *XKX;       // [nrow * nrow] X^T K X of linear systems; the part of this rank
    pcs_columns *XT;   // M^-1 T^T; no columns without friction
    pcs_rows *Gx, *Tx; // directions of X and XT; those of the system if constant
    const double *way; // [n] increment of the present step; NULL if none, or if no rotations in space
    double *at;        // [n] q at which the projection is evaluated
    double *work;      // [n]
    bool is_at;        // all of it is evaluated at `at`; false before the first move and after a rotation
    bool is_behind;    // mass and directions are evaluated at `at`, the columns not yet
} pcs_projection;

pcs_status pcs_projection_create(pcs_step_solver *solver, pcs_projection **out);

// Moves the projection as pcs_projection_move_along does, in two parts: mass and directions, then the columns. A step
// whose contacts all stay open needs the first alone.
bool pcs_projection_lead(pcs_step_solver *solver, const double *q);
void pcs_projection_follow(pcs_step_solver *solver, const double *x);

// Returns true if S* is the same in all iterations of a form. Directions of contacts may rotate: they are not in it.
bool pcs_step_is_constant(const pcs_system *system);
// Allocates S*, in the pattern of the mass (NULL) or in `curved` if it has the curvature of rows, and its solver.
pcs_status pcs_step_create_iteration(pcs_step_solver *solver, const pcs_pattern *curved, pcs_matrix **S,
                                     pcs_linsolve **iteration);
// Sums S* = c M + h C + h kb K for the solver's form and factors it; both objects are made at the first call,
// since explicit schemes never need them.
pcs_status pcs_step_factor_iteration(pcs_step_solver *solver, pcs_matrix **S, pcs_linsolve **iteration,
                                     pcs_outcome *outcome);

// Returns true if gaps decide anything in this form. If not, q is not read: an explicit scheme may not have it yet.
static inline bool pcs_form_sees_gaps(const pcs_step_form *form)
{
    return form->has_position || form->gate_is_live;
}

#endif
