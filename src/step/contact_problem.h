// The contact problem of a linearised step, stated once for all that solve it. Unknowns z = (nu, La, Lt), and
// everything affine in z:
//
//   gap      = b_gap + P_gap z      0 <= gap _|_ nu >= 0                    (has_position; bilateral: gap = 0)
//   xi       = b_xi  + P_xi  z      0 <= xi  _|_ La >= 0 where gated        (bilateral: xi = 0)
//   xt       = b_xt  + P_xt  z      -xt in the normal cone of the disc |Lt| <= mu La at Lt
//   gap      = b_gap + P_gap z = 0  on held rows, nu = 0 on the others     (`held`, in place of the first)
//   gap_t    = b_t   + P_t   z = 0  on their tangents, with nu_t, the last nheld_t unknowns
//   gate gap = b_gate + P_gate z    gated where <= gate_tolerance, or where the law of the gap acts, when the gate is
//                                   live
//
// Every unknown has a mode: out (its multiplier is zero), held (its equation is imposed), or, of a tangent, sliding (Lt
// is on the edge of the disc, against xt). The modes follow from the trial z - r value, r a mass of the row: a positive
// one is held, one within the disc of the normal trial sticks (Alart, Curnier 1991; Bruls, Acary, Cardona 2014,
// eq. 38). An answer is admissible when all laws hold with the modes it was made with. A tie is a trial within
// round-off of zero: it stays in its mode, so that round-off moves nothing. A gate that opens when its law is imposed
// and closes when it is not has no consistent answer: it counts as closed.
//
// Solved by
//   frictionless.h     dense, without friction and bilateral rows: for linear models
//   dense_contacts.h   dense: bilateral unknowns are eliminated, the others go to active_set.h
//   active_set.h       dense semi-smooth Newton on the sets of modes
//   krylov_set.h       the same by products only, with preconditioner.h; projected_gradient.c where sets cycle
//   impact.h           which of the rows take part in an impact of an explicit scheme; the rest as dense_contacts.h

#ifndef PCS_STEP_CONTACT_PROBLEM_H
#define PCS_STEP_CONTACT_PROBLEM_H

#include "system/system.h"

#include <math.h>

typedef struct pcs_contact_problem {
    int m, nt, n;        // rows, tangents, n = 2 m + nt unknowns, or more where a solver adds its own
    const pcs_row *rows; // [m] borrowed
    double h;            // s, brings gaps to the size of velocities
    bool has_position, gate_is_live;
    const unsigned char *held; // [m] rows whose gap vanishes, as those of joints do, by a nu of any sign; NULL: no law
    int nheld_t;               // 0, or nt: tangents of held rows have a nu, too
    double gate_tolerance;     // m, a gate gap up to this is closed
    bool is_hasty;             // gives up where the sets do not settle: the ways out are dear
    double *b, *b_gate;        // [n], [m]
    double *z;                 // [n] nu, La, Lt
    double *value;             // [n] gap, xi, xt at z
    double *gate_gap;          // [m]
    unsigned char *gate;       // [m]
    double *r;                 // [n] masses of the trials
} pcs_contact_problem;

// Place of tangent t of a row among the unknowns.
static inline int pcs_contact_tangent(const pcs_contact_problem *p, int row, int t)
{
    return 2 * p->m + p->rows[row].first_tangent + t;
}

// Is a live gate closed? The gate gap is free of all contacts. In a pile those below bring a gap to zero that is open
// in it: what the law of the gap holds must not approach either, so nu counts, by the way that it moves its row.
static inline bool pcs_gate_is_closed(double gate_gap, double nu, double mass, double tolerance)
{
    return gate_gap <= tolerance || nu > mass * fabs(tolerance);
}

static inline bool pcs_contact_is_gated(const pcs_contact_problem *p, int row)
{
    double nu = p->has_position ? p->z[row] : 0.0;
    return pcs_gate_is_closed(p->gate_gap[row], nu, p->r[row], p->gate_tolerance);
}

// Gaps and nu are taken by h, which brings them to the size of velocities and impulses.
static inline double pcs_contact_unit(const pcs_contact_problem *p, int k)
{
    return k < p->m || k >= p->n - p->nheld_t ? p->h : 1.0;
}

// Is the gap of a row, or that of its tangents, an equation? Without friction tangents move freely.
static inline bool pcs_contact_holds(const pcs_contact_problem *p, int row)
{
    return p->held != NULL && (p->rows[row].is_bilateral || p->held[row]);
}
static inline bool pcs_contact_holds_tangents(const pcs_contact_problem *p, int row)
{
    return p->held != NULL && p->nheld_t > 0 && p->held[row] && p->rows[row].friction > 0.0;
}

// y = Lt - r xt of a row; gives its length.
static inline double pcs_contact_trial(const pcs_contact_problem *p, int row, double y[2])
{
    double length2 = 0.0;
    for (int t = 0; t < p->rows[row].ntangent; t++) {
        int k = pcs_contact_tangent(p, row, t);
        y[t] = p->z[k] - p->r[k] * p->value[k];
        length2 += y[t] * y[t];
    }
    return sqrt(length2);
}

// Makes the masses r of tangents fit for use: one mass for both directions of a disc, since with two of them slip would
// not be against the impulse; and that of the normal where supports hold the node along the tangents: 1/W is infinite
// there, of either sign, and any mass will do.
void pcs_contact_even_out(pcs_contact_problem *p);

// Puts the friction of all rows onto their discs, and on the edge against the slip: sets are settled when what is left
// moves no body, but a contact may bear so little that it is much of its friction.
void pcs_contact_put_on_discs(pcs_contact_problem *p);

// Takes the arrays for m rows with nt tangents and n unknowns.
pcs_status pcs_contact_problem_create(pcs_context *ctx, const pcs_row *rows, int m, int nt, int n,
                                      pcs_contact_problem *out);

#endif
