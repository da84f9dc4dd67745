// Laws of springs and dampers that are not linear: force N of the stretch s and its rate r.
//
//   spring   N = k e, a polynomial k1 e + k2 e^2 + .., or a table: linear between its rows, and on beyond them
//            e = s - c above the clearance c, s + c below -c, else 0
//   stop     + k_s (|s| - s_max) sign(s) beyond it
//   damper   + d r (r^2 + r0^2)^((p - 1)/2): d |r|^p sign(r) above a speed r0 that takes the kink out where p < 1

#ifndef PCS_ELEMENTS_ROD_H
#define PCS_ELEMENTS_ROD_H

#include "core/context.h"
#include "core/option.h"

typedef struct pcs_axial_law {
    double stiffness;            // k, N/m, if there is neither polynomial nor table
    pcs_list polynomial;         // k1, k2, ..
    pcs_list table;              // rows [s, N]
    double clearance;            // c, m
    double stop, stop_stiffness; // s_max, m, INFINITY if absent; k_s, N/m
    double damper, exponent;     // d, p
    double speed;                // r0, m/s
    double *area;                // [rows] integral of the table from s = 0, J
    int rest;                    // segment of the table that contains s = 0
} pcs_axial_law;

typedef struct pcs_axial_response {
    double force, stiffness, energy; // N, dN/ds and the potential, J, zero at s = 0
    double drag, damping;            // force of the damper, N, and its derivative by r
} pcs_axial_response;

// Allocates and computes the integrals of the table.
pcs_status pcs_axial_law_prepare(pcs_context *ctx, pcs_axial_law *law);
pcs_axial_response pcs_axial_law_at(const pcs_axial_law *law, double stretch, double rate);

#endif
