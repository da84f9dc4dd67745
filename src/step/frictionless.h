// The contact problem after condensation: m rows, two multipliers each. All quantities are affine in
// z = (nu, La):
//
//   gap      = gap0  + [P11 P12] z      at q            0 <= gap _|_ nu >= 0          (has_position)
//            = 0 on held rows, with a nu of any sign, and nu = 0 elsewhere     (`held`, in place of that)
//   gate gap = gap0  + [Q1  Q2 ] z      at qt
//   xi       = xi0   + [P21 P22] z      rate + target   0 <= xi  _|_ La >= 0 where gated
//
// Active sets of the semi-smooth Newton method (Bruls, Acary, Cardona 2014, eq. 38), ties are active:
//   A_j = nu_j - r_j gap_j >= 0,     B_j = gate_j and La_j - r_j xi_j >= 0,     r_j = effective mass

#ifndef PCS_STEP_FRICTIONLESS_H
#define PCS_STEP_FRICTIONLESS_H

#include "core/context.h"
#include "core/dense.h"

typedef struct pcs_frictionless {
    int m;
    double h; // step length, s; scales gaps and their multipliers to velocities and impulses
    bool has_position, gate_is_live;
    double gate_tolerance;                   // m, a gate gap up to this is closed
    double *P11, *P12, *P21, *P22, *Q1, *Q2; // [m * m] row-major
    double *gap0, *xi0;                      // [m]
    double *gap, *gate_gap, *xi;             // [m] at z
    double *nu;                              // [m] borrowed from the step problem, like the next two
    unsigned char *gate;                     // [m]
    double *la;                              // [m]
    const unsigned char *held;               // [m] likewise; NULL if no rows are held
    const double *r;                         // [m] effective masses, kg
    pcs_dense_pair both;                     // of a single contact: its gap and velocity laws, both active
    // work
    unsigned char *in_A, *in_B; // [m]
    int *row;                   // [2 m] active rows, position rows first
    double *J, *b, *x;          // [4 m m], [2 m], [2 m]
} pcs_frictionless;

pcs_status pcs_frictionless_create(pcs_context *ctx, int m, pcs_frictionless **out);

// Updates the scaled matrices; call it after the matrices or h have changed.
void pcs_frictionless_prepare(pcs_frictionless *s);

// Solves the problem. Returns false if it does not converge. *iterations counts solves.
bool pcs_frictionless_active_set(pcs_frictionless *s, int *iterations);

#endif
