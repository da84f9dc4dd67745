// Columns of condensed contact problems, e.g. X = M^-1 G^T, each kept on the window where it is not negligible.
//
// Inverses of banded positive matrices decay exponentially away from the contact, so a column of a long bar
// is short: what lies below 1e-30 of its largest entry is dropped, far under the round-off of any sum.

#ifndef PCS_STEP_COLUMNS_H
#define PCS_STEP_COLUMNS_H

#include "step/step.h"

typedef struct pcs_columns {
    int n, count;
    int *low, *high; // [count] entries low <= i < high are kept
    double **value;  // [count][n] zero outside the window
} pcs_columns;

pcs_status pcs_columns_create(pcs_context *ctx, int n, int count, pcs_columns **out);
// Finds the window of a column that was just filled and clears the rest.
void pcs_columns_trim(pcs_columns *columns, int column);
// x += scale * column
void pcs_columns_add(const pcs_columns *columns, int column, double scale, double *x);
// column . x over the first n entries
double pcs_columns_dot(const pcs_columns *columns, int column, int n, const double *x);

// The projection of contact impulses onto velocities, shared by all step solvers. A solver that works by products keeps
// no columns: what follows then takes a solve with M where it would add columns up.
typedef struct pcs_projection {
    bool has_columns;  // otherwise X, KX, XT and GX are NULL
    pcs_columns *X;    // M^-1 G^T
    pcs_columns *KX;   // K M^-1 G^T
    double *GX;        // [nrow * nrow] G M^-1 G^T, row-major
    pcs_columns *XT;   // M^-1 T^T; no columns without friction
    pcs_rows *Gx, *Tx; // the directions that X and XT were made for: those of the system where they are constant
    const double *way; // [n] increment of the step that is being solved; NULL: none, or nothing turns in space
    double *at;        // [n] where it stands
    double *work;      // [n]
    bool is_at;        // all of it does; false before the first move and after a turn
} pcs_projection;

pcs_status pcs_projection_create(pcs_step_solver *solver, pcs_projection **out);

// Moves the projection of a system with varying M or G to q: factors M(q), X = M(q)^-1 G(q)^T, GX and the effective
// masses follow. Nothing is done where all of them are constant. False when M(q) cannot be factored.
bool pcs_projection_move(pcs_step_solver *solver, const double *q);
// The same at an iterate of a step whose increment from its start is x (NULL: positions add up). W turns a body by kw
// W, or by h/2 W at position level, but not the momentum that it has in its own axes: with M W = G^T La at the end of
// the step its angular momentum in space would change by kw W x J w beyond the moment of La, of first order in h. For a
// ball, where x is parallel to w_n + k W, R J (w_n + W) = R_n J w_n + m asks for J W = (k exp(-x) + 1 - k)^-1 R^T m, k
// = kw/h. So act the moments of all impulses: G^T becomes that in X, and stays as it is in velocities. For k = 1/2 the
// change is skew and leaves the effective masses alone.
bool pcs_projection_move_along(pcs_step_solver *solver, const double *q, const double *x);
// As pcs_projection_move, also where it stands at q already: rows may be about something else now.
bool pcs_projection_renew(pcs_step_solver *solver, const double *q);
// The directions move to q and X with them, the mass stays where it was factored: X = M^-1 G(q)^T.
void pcs_projection_aim(pcs_step_solver *solver, const double *q);
// The constraint directions alone move to q, X stays: GX = G(q) X.
void pcs_projection_turn(pcs_step_solver *solver, const double *q);

// For schemes that cannot do without: makes the columns that the solver has left out. At set-up only.
pcs_status pcs_projection_need_columns(pcs_step_solver *solver);
// x += scale (X z + XT z_t); z_t is NULL without friction.
void pcs_projection_push(const pcs_step_solver *solver, double scale, const double *z, const double *z_t, double *x);
// rate = G (X z + XT z_t), [nrow]
void pcs_projection_rates(const pcs_step_solver *solver, const double *z, const double *z_t, double *rate);
// Column j of X, good until the next call.
const double *pcs_projection_column(const pcs_step_solver *solver, int row);
// 1 / (G_j M^-1 G_j^T) to round-off.
double pcs_projection_mass(const pcs_step_solver *solver, int row);

// Sums S* = c M + h C + h kb K for the solver's form and factors it; both objects are made at the first call,
// since explicit schemes never need them.
pcs_status pcs_step_factor_iteration(pcs_step_solver *solver, pcs_matrix **S, pcs_linsolve **iteration,
                                     pcs_outcome *outcome);

// Do gaps decide anything in this form? If not, q is not looked at: an explicit scheme may not have it yet.
static inline bool pcs_form_sees_gaps(const pcs_step_form *form)
{
    return form->has_position || form->gate_is_live;
}

// Largest entry of a vector, by size.
double pcs_step_largest(int n, const double *v);

// Change of strain and gravity energy by a displacement w = X z that led to q: w . K (q - w/2) - f_gravity . w.
double pcs_displacement_work(const pcs_step_solver *solver, const double *z, const double *q);

#endif
