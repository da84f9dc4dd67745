// The contact problem of a linearised step, with friction and bilateral rows. With z = (nu, La, Lt), all affine in z:
//
//   gap      = b_gap + P_gap z      0 <= gap _|_ nu >= 0                    (has_position; bilateral: gap = 0)
//   xi       = b_xi  + P_xi  z      0 <= xi  _|_ La >= 0 where gated        (bilateral: xi = 0)
//   xt       = b_xt  + P_xt  z      -xt in the normal cone of the disc |Lt| <= mu La at Lt
//   gate gap = b_gate + P_gate z    gated where <= 0, when the gate is live
//
// Bilateral unknowns h have equations of their own and are eliminated, z_h = -P_hh^-1 (b_h + P_hu z_u); what is left
// for the others, P_uu - P_uh P_hh^-1 P_hu, knows the masses that joints bind to a contact. active_set.h solves it.

#ifndef PCS_STEP_DENSE_CONTACTS_H
#define PCS_STEP_DENSE_CONTACTS_H

#include "step/active_set.h"

typedef struct pcs_dense_contacts {
    int m, nt, n;        // rows, tangents, n = 2 m + nt unknowns
    const pcs_row *rows; // [m] borrowed
    double h;            // s, brings gaps to the size of velocities
    bool has_position, gate_is_live;
    double gate_tolerance;   // m, a gate gap up to this is closed
    double *P, *b;           // [n * n], [n] rows: gap, xi, xt
    double *P_gate, *b_gate; // [m * n], [m]
    bool is_warm;            // z holds where to start; otherwise from zero
    bool is_hasty;           // gives up where the sets do not settle: the ways out are dear
    double *z;               // [n] nu, La, Lt
    double *value;           // [n] gap, xi, xt at z
    double *gate_gap;        // [m]
    unsigned char *gate;     // [m]
    double *r;               // [n] masses of the projection equations
    unsigned char *is_out;   // [n] unknowns that stay zero
    // work
    pcs_active_set *set; // what is left
    int nheld;           // bilateral unknowns
    int *held, *place;   // [n] bilateral unknowns, and those of `set`
    int *row;            // [m] rows of `set`
    int *pivot;          // [n]
    double *H, *B;       // [n * n] P_hh, and its factors
    double *Y, *rest;    // [n * (n + 1)] P_hh^-1 (P_hu, b_h), row by row, and what is left of its equations
    double *work;        // [2 (n + 1)]
} pcs_dense_contacts;

pcs_status pcs_dense_contacts_create(pcs_context *ctx, const pcs_system *system, pcs_dense_contacts **out);
// False when it does not settle; *iterations counts solves.
bool pcs_dense_contacts_solve(pcs_dense_contacts *c, int *iterations);
// One Newton step from the z, value and gate_gap given, on the sets that these ask for. False when it is singular;
// *is_settled says whether the sets are still the same after it.
bool pcs_dense_contacts_update(pcs_dense_contacts *c, bool *is_settled);

#endif
