// A small contact problem with friction and bilateral rows. With z = (nu, La, Lt), all affine in z:
//
//   gap      = b_gap + P_gap z      0 <= gap _|_ nu >= 0                    (has_position; bilateral: gap = 0)
//   xi       = b_xi  + P_xi  z      0 <= xi  _|_ La >= 0 where gated        (bilateral: xi = 0)
//   xt       = b_xt  + P_xt  z      -xt in the normal cone of the disc |Lt| <= mu La at Lt
//   gate gap = b_gate + P_gate z    gated where <= 0, when the gate is live
//
// Semi-smooth Newton on the projection equations, r = 1/diag; in the plane (one tangent) slip is linear and the
// method ends when the sets repeat, in space the direction of slip is iterated to round-off. When the sets cycle or
// contradict each other all cases are tried where they are few; else the method of many contacts (crowd.h) and
// projected Gauss-Seidel sweeps have their turn.
//
// Round-off: a value is b_k plus terms P_kj z_j that may cancel, so it is known to 64 eps times the sum of their sizes.
// A gate that opens when its law is imposed and closes when it is not has no consistent answer: it counts as closed.

#ifndef PCS_STEP_CONE_H
#define PCS_STEP_CONE_H

#include "system/system.h"

typedef struct pcs_cone {
    int m, nt, n;        // rows, tangents, n = 2 m + nt unknowns
    const pcs_row *rows; // [m] borrowed
    double h;            // s, brings gaps to the size of velocities
    bool has_position, gate_is_live;
    double gate_tolerance;   // m, a gate gap up to this is closed
    double *P, *b;           // [n * n], [n] rows: gap, xi, xt
    double *P_gate, *b_gate; // [m * n], [m]
    double *z;               // [n] nu, La, Lt
    double *value;           // [n] gap, xi, xt at z
    double *gate_gap;        // [m]
    unsigned char *gate;     // [m]
    double *r;               // [n] masses of the projection equations
    unsigned char *is_out;   // [n] unknowns that stay zero
    // work
    struct pcs_cone_products *products; // the same problem for the method of many contacts
    unsigned char *last_gate;           // [m]
    unsigned char *mode, *last_mode;    // [n] state of each unknown
    int *active;                        // [n] unknowns in the equations
    double *J, *x, *F;                  // [n * n], [n], [n]
} pcs_cone;

pcs_status pcs_cone_create(pcs_context *ctx, const pcs_system *system, pcs_cone **out);
// False when it does not settle; *iterations counts solves.
bool pcs_cone_solve(pcs_cone *c, int *iterations);
// One Newton step from the z, value and gate_gap given, on the sets that these ask for. False when it is singular;
// *is_settled says whether the sets are still the same after it.
bool pcs_cone_update(pcs_cone *c, bool *is_settled);

// cone_products.c: the problem in the form for many contacts.
pcs_status pcs_cone_products_create(pcs_context *ctx, const pcs_system *system, struct pcs_cone_products **out);
bool pcs_cone_products_solve(pcs_cone *c, int *iterations);

#endif
