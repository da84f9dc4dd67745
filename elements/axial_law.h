// Springs and dampers that are not linear, along a line: force N of the stretch s and its rate r.
//
//   spring   N = k e, a polynomial k1 e + k2 e^2 + .., or a table: linear between its rows, and on beyond them
//            e = s - c above the clearance c, s + c below -c, else 0
//   stop     + k_s (|s| - s_max) sign(s) beyond it
//   damper   + d r (r^2 + r0^2)^((p - 1)/2): d |r|^p sign(r) above a speed r0 that takes the kink out where p < 1

#ifndef PCS_ELEMENTS_AXIAL_LAW_H
#define PCS_ELEMENTS_AXIAL_LAW_H

#include "core/context.h"
#include "core/option.h"

typedef struct pcs_axial_law {
    double stiffness;            // k, N/m, without polynomial and table
    pcs_list polynomial;         // k1, k2, ..
    pcs_list table;              // rows [s, N]
    double clearance;            // c, m
    double stop, stop_stiffness; // s_max, m, INFINITY: none; k_s, N/m
    double damper, exponent;     // d, p
    double speed;                // r0, m/s
    double *area;                // [rows] integral of the table from s = 0
    int rest;                    // segment of the table at s = 0
} pcs_axial_law;

typedef struct pcs_axial_response {
    double force, stiffness, energy; // N, dN/ds and the potential, which vanishes at s = 0
    double drag, damping;            // part of the damper, and its slope by r
} pcs_axial_response;

// Returns an error message, with the faulty option in *option, or NULL if the law is valid.
const char *pcs_axial_law_check(const pcs_axial_law *law, const char **option);
// Takes what the table needs.
pcs_status pcs_axial_law_prepare(pcs_context *ctx, pcs_axial_law *law);
pcs_axial_response pcs_axial_law_at(const pcs_axial_law *law, double stretch, double rate);
// The largest stiffness of table and stop; of a polynomial that at rest counts.
double pcs_axial_law_stiffest(const pcs_axial_law *law);

#endif
