// Which rows of a system this rank solves for.
//
// Where rows are many and each touches equations of one rank only, each is solved for by that rank: a product with its
// direction needs nobody, and sums over rows are joined (sums.h). Few rows are solved for by all ranks alike, which
// takes no exchange at all.
//
// A system may have dealt its rows out (pcs_system.row_comm): then nobody else knows of them. Otherwise every rank
// knows all rows: what they are, and, between two solves of a contact problem, their gaps, velocities and multipliers,
// which are told to all when the problem is solved.

#ifndef PCS_STEP_OWN_ROWS_H
#define PCS_STEP_OWN_ROWS_H

#include "system/system.h"

// Rows from which on it pays to spread them: an iteration costs 20 ns per row, an exchange between ranks a few us.
enum { PCS_MANY_ROWS = 256 };

typedef struct pcs_own_rows {
    const pcs_system *system;
    const pcs_comm *comm; // NULL: all rows are solved for here
    bool is_part;         // rows are picked from those of the system; else `rows` are these
    int m, nt;            // rows and tangents of this rank
    const pcs_row *rows;  // [m] with tangents numbered among the own ones
    // Where they are a part:
    pcs_row *copy;      // [m] rows
    int *row, *tangent; // [m], [nt] their numbers in the system
    pcs_spread plan;
    int *told;         // [nrow] rows in the order of the ranks that solve for them
    double *own, *all; // buffers
} pcs_own_rows;

// Are so many rows of a system of this size dealt out? From where on nobody could be handed a step over, and effective
// masses are estimates, which need no solve each.
bool pcs_rows_are_dealt(double nrow, double ndof);
// Does every row have a rank to itself, and are there enough of them?
bool pcs_rows_are_spread(const pcs_system *system);
pcs_status pcs_own_rows_create(pcs_context *ctx, const pcs_system *system, pcs_own_rows **out);
// Coefficients of friction and restitution as they stand.
void pcs_own_rows_renew(pcs_own_rows *self);
// Values of all rows to the own ones.
void pcs_own_rows_take(const pcs_own_rows *self, const double *all, double *own);
// Multipliers (nu, La, Lt) of all rows to those of the own ones; nothing where these are all.
void pcs_own_rows_take_z(const pcs_own_rows *self, const double *z_all, double *z);
// And back, with the gates, on all ranks.
void pcs_own_rows_tell(const pcs_own_rows *self, const double *z, const unsigned char *gate, double *z_all,
                       unsigned char *gate_all);
// A number of every own tangent to those of all rows, on all ranks.
void pcs_own_rows_tell_tangents(const pcs_own_rows *self, const double *own, double *all);
// A copy of `count` rows of R, those that `which` numbers (NULL: the first); without entries that are zero where
// `is_packed`. And the entries of a copy that has them all anew.
pcs_status pcs_rows_pick(pcs_context *ctx, const pcs_rows *R, int count, const int *which, bool is_packed,
                         pcs_rows **out);
void pcs_rows_repeat(const pcs_rows *R, const int *which, pcs_rows *copy);

// Number of own row j, or own tangent t, in the system.
static inline int pcs_own_row(const pcs_own_rows *self, int j)
{
    return self->row == NULL ? j : self->row[j];
}
static inline int pcs_own_tangent(const pcs_own_rows *self, int t)
{
    return self->tangent == NULL ? t : self->tangent[t];
}

#endif
