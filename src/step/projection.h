// The projection of contact impulses onto velocities, X = M^-1 G^T and XT = M^-1 T^T, that a step solver keeps for the
// schemes: where it stands, and what impulses do.

#ifndef PCS_STEP_PROJECTION_H
#define PCS_STEP_PROJECTION_H

#include "step/step.h"

// Largest rows times equations for which exact effective masses are worth their solves once.
#define PCS_LIGHT_ROWS 4e6
// Number of rows from which on they are distributed: an iteration costs 20 ns per row, an exchange a few us.
enum { PCS_MANY_ROWS = 256 };

// Returns true if so many rows of a system of this size are distributed over ranks: no other solver could take over a
// step, and effective masses are estimates, which need no solve each.
bool pcs_rows_are_dealt(double nrow, double ndof);

// Returns the share of the step that is left after its impulses.
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
// Moves the projection to q even if it is evaluated there: the rows may have other partners now.
bool pcs_projection_renew(pcs_step_solver *solver, const double *q);
// Factors the mass matrix anew after its values have changed; X, GX and the effective masses follow. Returns false if
// it cannot be factored.
bool pcs_projection_weigh(pcs_step_solver *solver);
// Returns true if evaluated at q: a move there does nothing. The second invalidates this: the next move is made.
bool pcs_projection_is_at(const pcs_step_solver *solver, const double *q);
void pcs_projection_leave(pcs_step_solver *solver);
// Moves the directions and X to q; the mass stays where it was factored: X = M^-1 G(q)^T.
void pcs_projection_aim(pcs_step_solver *solver, const double *q);
// Moves the constraint directions alone to q; X stays: GX = G(q) X.
void pcs_projection_turn(pcs_step_solver *solver, const double *q);

// Creates the columns that the solver has left out, for schemes that need them. At set-up only.
pcs_status pcs_projection_need_columns(pcs_step_solver *solver);
// Adds scale (X z + XT z_t) to x; z_t is NULL without friction.
void pcs_projection_push(const pcs_step_solver *solver, double scale, const double *z, const double *z_t, double *x);
// Computes rate = G (X z + XT z_t), [nrow], m/s.
void pcs_projection_rates(const pcs_step_solver *solver, const double *z, const double *z_t, double *rate);
// Returns column j of X, valid until the next call.
const double *pcs_projection_column(const pcs_step_solver *solver, int row);
// Returns column t of XT, and G_i M^-1 G_j^T, if there are columns.
const double *pcs_projection_tangent_column(const pcs_step_solver *solver, int tangent);
double pcs_projection_entry(const pcs_step_solver *solver, int i, int j);
// Returns 1 / (G_j M^-1 G_j^T), kg, to round-off.
double pcs_projection_mass(const pcs_step_solver *solver, int row); // row -1 stands for a row of another rank, result 0

// Adds scale times column `row` of X, or column `tangent` of XT, to x, if there are columns.
void pcs_projection_add(const pcs_step_solver *solver, int row, double scale, double *x);
void pcs_projection_add_tangent(const pcs_step_solver *solver, int tangent, double scale, double *x);
// Adds column `row` of X on low <= i < high alone, and finds the window outside of which it is zero.
void pcs_projection_add_within(const pcs_step_solver *solver, int row, double scale, int low, int high, double *x);
void pcs_projection_window(const pcs_step_solver *solver, int row, int *low, int *high);
bool pcs_projection_has_columns(const pcs_step_solver *solver);

// Returns the change of strain and gravity energy, J, by a displacement w = X z to q: w . K (q - w/2) - f_gravity . w.
double pcs_displacement_work(const pcs_step_solver *solver, const double *z, const double *q);

#endif
