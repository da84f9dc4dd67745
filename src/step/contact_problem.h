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
//   dense_contacts.h   dense: bilateral unknowns are eliminated, semi-smooth Newton on the sets of modes of the others
//   krylov_set.h       the same by products only, with preconditioners; projected gradients where sets cycle

#ifndef PCS_STEP_CONTACT_PROBLEM_H
#define PCS_STEP_CONTACT_PROBLEM_H

#include "system/system.h"

#include <math.h>

// Mode of an unknown: multiplier zero, equation imposed, or on the edge of the friction disc, in space or on one of the
// two sides in the plane.
enum { PCS_MODE_OUT, PCS_MODE_HELD, PCS_MODE_SLIDING, PCS_MODE_SLIDING_UP, PCS_MODE_SLIDING_DOWN };

typedef struct pcs_contact_problem {
    int m, nt, n;        // numbers of rows and tangents, n = 2 m + nt unknowns or more if a solver adds its own
    const pcs_row *rows; // [m] borrowed
    double h;            // step length, s; scales gaps to velocities
    bool has_position, gate_is_live;
    const unsigned char *held; // [m] rows whose gap vanishes like that of a joint, by a nu of any sign; NULL if none
    int nheld_t;               // 0, or nt if tangents of held rows have a nu as well
    double gate_tolerance;     // m, a gate gap up to this is closed
    bool is_hasty;             // gives up early if the sets do not converge, as the other methods are expensive
    double *b, *b_gate;        // [n], [m]
    double *z;                 // [n] nu, La, Lt
    double *value;             // [n] gap, xi, xt at z
    double *gate_gap;          // [m] gaps that decide the gates, m
    unsigned char *gate;       // [m] 1 if closed
    double *r;                 // [n] masses of the trials, kg
} pcs_contact_problem;

// Returns the index of tangent t of a row among the unknowns.
static inline int pcs_contact_tangent(const pcs_contact_problem *p, int row, int t)
{
    return 2 * p->m + p->rows[row].first_tangent + t;
}

// Returns true if a live gate is closed. The gate gap excludes contact impulses. In a pile contacts below may close a
// gap that is open in it. A row held by the gap law must not approach, so its displacement by nu is included.
static inline bool pcs_contact_is_gated(const pcs_contact_problem *p, int row)
{
    double nu = p->has_position ? p->z[row] : 0.0;
    return p->gate_gap[row] <= p->gate_tolerance || nu > p->r[row] * fabs(p->gate_tolerance);
}

// Returns the unit of unknown k: h for gaps and nu, to scale them to velocities and impulses, else 1.
static inline double pcs_contact_unit(const pcs_contact_problem *p, int k)
{
    return k < p->m || k >= p->n - p->nheld_t ? p->h : 1.0;
}

// Returns true if the gap of a row, or those of its tangents, are equations. Without friction tangents are free.
static inline bool pcs_contact_holds(const pcs_contact_problem *p, int row)
{
    return p->held != NULL && (p->rows[row].is_bilateral || p->held[row]);
}
static inline bool pcs_contact_holds_tangents(const pcs_contact_problem *p, int row)
{
    return p->held != NULL && p->nheld_t > 0 && p->held[row] && p->rows[row].friction > 0.0;
}

// Computes y = Lt - r xt of a row. Returns its length.
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

// Returns the mode of a normal unknown k, held or out. It changes only if its law is violated by more than `slack`, the
// round-off of its value, so that round-off changes no set.
static inline unsigned char pcs_contact_side(const pcs_contact_problem *p, const unsigned char *mode, int k,
                                             double slack)
{
    double trial = p->z[k] - p->r[k] * p->value[k], edge = slack * p->r[k];
    bool is_held = trial > (mode[k] == PCS_MODE_HELD ? -edge : edge);
    return is_held ? PCS_MODE_HELD : PCS_MODE_OUT;
}

// Sets the mode of the tangents of a row, out unless it is closed. Returns true if it has changed.
bool pcs_contact_set_tangents(const pcs_contact_problem *p, unsigned char *mode, int row, bool is_closed, double slack);
// Finds the unit vector along which a sliding row transmits friction. Returns the factor by which it rotates with the
// trial y: 0 in the plane, at most 1 in space, since beyond that the matrix would be indefinite.
static inline double pcs_contact_slip(const pcs_contact_problem *p, const unsigned char *mode, int row,
                                      double direction[2])
{
    const pcs_row *r = &p->rows[row];
    int k = pcs_contact_tangent(p, row, 0);
    double y[2] = { 0 }, length = pcs_contact_trial(p, row, y);
    direction[0] = length > 0.0 ? y[0] / length : -1.0;
    direction[1] = length > 0.0 ? y[1] / length : 0.0;
    if (mode[k] > PCS_MODE_SLIDING) direction[0] = mode[k] == PCS_MODE_SLIDING_UP ? 1.0 : -1.0;
    bool rotates = r->ntangent == 2 && length > 0.0;
    return rotates ? fmin(1.0, r->friction * fmax(p->z[p->m + row], 0.0) / length) : 0.0;
}

// Corrects the masses r of tangents: one mass for both directions of a disc, because with two of them slip would not
// oppose the impulse. Likewise that of the normal where supports fix the node along the tangents: 1/W is infinite
// there, of either sign, and any mass will do.
void pcs_contact_even_out(pcs_contact_problem *p);

// Projects the friction of all rows onto their discs, and onto the edge against the slip. The sets have converged if
// the remaining error moves no body, but it may be large compared with the friction of a lightly loaded contact.
void pcs_contact_put_on_discs(pcs_contact_problem *p);

// Allocates the arrays for m rows with nt tangents and n unknowns.
pcs_status pcs_contact_problem_create(pcs_context *ctx, const pcs_row *rows, int m, int nt, int n,
                                      pcs_contact_problem *out);

#endif
