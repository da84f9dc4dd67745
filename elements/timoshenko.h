// The plane Timoshenko beam of two nodes, exact for end loads; shared by the plane and the space element.
//
// Dofs (w1, t1, w2, t2): deflections and section rotations; phi = 12 E I / (G A k L^2).
//   deformations  t1 - (w2 - w1)/L,  t2 - (w2 - w1)/L,    D = E I/((1 + phi) L) [4 + phi, 2 - phi; 2 - phi, 4 + phi]
// By one point, for scheme `wave`: w and t linear, strains and velocities those of the middle of the cell,
//   D = E I/L [1 -1; -1 1] + G A k L/4 [1 1; 1 1],   M = rho A L/4 [1 1; 1 1] for w, rho I L/4 [1 1; 1 1] for t
// Consistent mass with rotary inertia: the shape functions are those of the static solution (Przemieniecki).
//
// If the section varies, the flexibility is integrated, so that one cell stays exact for end loads:
//   D^-1 = L (integral of [(1-x)^2, -x (1-x); -x (1-x), x^2]/(E I) + [1 1; 1 1]/(G A k L^2) dx over 0 < x < 1)
// Its mass is the integral of rho A N^T N + rho I Nt^T Nt with the static solution N, Nt for that section: with S = D e
// and M(x) = -S1 (1-x) + S2 x, rotations are integrals of M/(E I), slopes those plus -(S1 + S2)/(L G A k).

#ifndef PCS_ELEMENTS_TIMOSHENKO_H
#define PCS_ELEMENTS_TIMOSHENKO_H

#include "elements/taper.h"

typedef struct pcs_timoshenko {
    double EI, phi, length;
    double line_mass;    // rho A, kg/m
    double line_inertia; // rho I, kg m
    bool has_one_point;
    const pcs_taper *taper;       // NULL: the section is one all along; else all above is of its means
    const pcs_section_line *line; // how it varies
    int plane;                    // 0: about z, 1: about y
} pcs_timoshenko;

// D, row-major 2 x 2.
void pcs_timoshenko_stiffness(const pcs_timoshenko *beam, double D[4]);
// M, row-major 4 x 4.
void pcs_timoshenko_mass(const pcs_timoshenko *beam, double M[16]);

#endif
