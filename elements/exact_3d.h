// Kinematics of the geometrically exact beam in space, shared by its force and its tangents.
//
// Two nodes with turns R1, R2 from the reference state, whose axes are the global ones; one point half way. With
//   psi = log(R1^T R2),  a = |psi|,  Rm = R1 exp(psi/2),  d = d0 + (u2 - u1)/L,  d0 = direction of the chord
//   Gam = Rm^T d - d0,   kap = (psi - psi0)/L
// and material spins th1, th2 of the nodes (R <- R exp(th)), s = (th1 + th2)/2 and r = th2 - th1:
//   spin of Rm      th  = s + t/2 psi x r,                      t = tan(a/4)/a
//   change of psi   p   = r + e psi x (psi x r) + psi x s,      e = (1 - (a/2) cot(a/2))/a^2
//   change of Gam   gam = Rm^T (du2 - du1)/L + g x th,          g = Rm^T d
// The spin of Rm is the general one, A1 th1 + A2 th2 with A1 = exp(-psi/2) - Tr(psi/2) Tr^-T(psi)/2 and
// A2 = Tr(psi/2) Tr^-1(psi)/2: as functions of the skew matrix psi^ they are (I -+ tanh(psi^/4))/2.
// All vectors but u are material, in the turned global axes; E holds the axes of the section in them.
// A cell that is an arc in the reference state turns by psi0 from end to end: R1 B^T and R2 B stand for R1 and R2
// above, B = exp(psi0/2), and B th1 and B^T th2 for the spins. Its length L stays that of the chord.

#ifndef PCS_ELEMENTS_EXACT_3D_H
#define PCS_ELEMENTS_EXACT_3D_H

#include "core/rotation.h"
#include "elements/beam.h"

#include <math.h>
#include <stddef.h>

enum { PCS_EXACT_NDOF = 12 };

typedef struct pcs_exact_cell {
    double length, inverse; // L, m, and 1/L
    double E[9];            // columns: axes of the section; the first is d0
    double Dn[9], Dm[9];    // E diag(E A, G A ky, G A kz) E^T, E diag(G J, E Iy, E Iz) E^T / L
    double J[2][9];         // rotary inertia of the nodes, kg m^2
    double mass;            // rho A L, kg
    pcs_beam_shares shares; // of the nodes: 1/3, 1/6, 1/3, or 1/2, 0, 1/2 for a constant section
} pcs_exact_cell;

// Holds the initial rotation of a curved cell.
typedef struct pcs_exact_arc {
    double Q[4], B[9]; // exp(psi0/2) as quaternion and matrix
    double psi0[3];
} pcs_exact_arc;

typedef struct pcs_exact_state {
    const pcs_exact_cell *cell;
    const pcs_exact_arc *arc; // NULL for a straight cell
    double Rm[9], psi[3], g[3], Gam[3];
    double bend[3];  // psi - psi0
    double a2, e, t; // a^2 and the functions of a above
    double cosine;   // of a/2
} pcs_exact_state;

// Holds section forces, N and N m, in material axes.
typedef struct pcs_exact_forces {
    double n[3], m[3];
} pcs_exact_forces;

// Holds the velocities of a cell as its strains depend on them.
typedef struct pcs_exact_rates {
    double s[3], r[3], th[3];
    double slide[3]; // Rm^T (v2 - v1)/L
    double Gam[3], psi[3];
} pcs_exact_rates;

// Computes the unit quaternion (w, u) of exp(p).
static inline void pcs_exact_quaternion(const double p[3], double Q[4])
{
    double a2 = pcs_dot3(p, p), half = 0.5 * sqrt(a2), x = 0.25 * a2;
    double sinc = x < 1e-3 ? 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0))) : sin(half) / half;
    Q[0] = cos(half);
    for (int k = 0; k < 3; k++) Q[1 + k] = 0.5 * sinc * p[k];
}

static inline void pcs_exact_matrix(const double Q[4], double R[9])
{
    double w = Q[0], x = Q[1], y = Q[2], z = Q[3];
    R[0] = 1.0 - 2.0 * (y * y + z * z);
    R[1] = 2.0 * (x * y - w * z);
    R[2] = 2.0 * (x * z + w * y);
    R[3] = 2.0 * (x * y + w * z);
    R[4] = 1.0 - 2.0 * (x * x + z * z);
    R[5] = 2.0 * (y * z - w * x);
    R[6] = 2.0 * (x * z - w * y);
    R[7] = 2.0 * (y * z + w * x);
    R[8] = 1.0 - 2.0 * (x * x + y * y);
}

// Returns (1 - (a/2) cot(a/2))/a^2, for small a by a series of Bernoulli numbers, as the closed form would cancel.
static inline double pcs_exact_e(double a2, double half_cotangent)
{
    if (a2 > 0.25) return (1.0 - half_cotangent) / a2;
    double x = a2;
    return 1.0 / 12.0 +
           x * (1.0 / 720.0 +
                x * (1.0 / 30240.0 + x * (1.0 / 1209600.0 +
                                          x * (1.0 / 47900160.0 + x * (691.0 / 1307674368000.0 + x / 74724249600.0)))));
}

// Computes psi, e and t from the quaternion of R1^T R2, on the shorter arc: it holds sin(a/2) u/|u| and cos(a/2).
static inline void pcs_exact_relative(const double Q1[4], const double Q2[4], double *sign, pcs_exact_state *out)
{
    double w = Q1[0] * Q2[0] + Q1[1] * Q2[1] + Q1[2] * Q2[2] + Q1[3] * Q2[3], u[3], factor;
    *sign = w < 0.0 ? -1.0 : 1.0;
    pcs_cross(Q2 + 1, Q1 + 1, u);
    for (int k = 0; k < 3; k++) u[k] = *sign * (u[k] + Q1[0] * Q2[1 + k] - Q2[0] * Q1[1 + k]);
    w *= *sign;
    double s2 = pcs_dot3(u, u);
    if (s2 < 1e-3) // 2 asin(s)/s
        factor = 2.0 + s2 * (1.0 / 3.0 + s2 * (3.0 / 20.0 + s2 * (5.0 / 56.0 + s2 * (35.0 / 576.0))));
    else factor = 2.0 * atan2(sqrt(s2), w) / sqrt(s2);
    for (int k = 0; k < 3; k++) out->psi[k] = factor * u[k];
    out->cosine = w;
    out->a2 = factor * factor * s2;
    out->e = pcs_exact_e(out->a2, 0.5 * factor * w); // a/2 cot(a/2) = (a / sin(a/2)) cos(a/2) / 2
    out->t = 1.0 / (factor * (1.0 + w));             // tan(a/4) = sin(a/2)/(1 + cos(a/2))
}

// Replaces Q by Q B, or by Q B^T for a negative sign.
static inline void pcs_exact_quaternion_multiply(double Q[4], const double B[4], double sign)
{
    const double w = Q[0], u[3] = { Q[1], Q[2], Q[3] }, b[3] = { sign * B[1], sign * B[2], sign * B[3] };
    double c[3];
    pcs_cross(u, b, c);
    Q[0] = w * B[0] - pcs_dot3(u, b);
    for (int k = 0; k < 3; k++) Q[1 + k] = c[k] + w * b[k] + B[0] * u[k];
}

// Computes rotations and strains of a cell. `arc` is NULL for a straight cell; both must outlive the state.
static inline void pcs_exact_deform(const pcs_exact_cell *cell, const pcs_exact_arc *arc,
                                    const double q[PCS_EXACT_NDOF], pcs_exact_state *out)
{
    out->cell = cell;
    out->arc = arc;
    double Q1[4], Q2[4], Q[4], sign, d[3], norm = 0.0;
    pcs_exact_quaternion(q + 3, Q1);
    pcs_exact_quaternion(q + 9, Q2);
    if (arc != NULL) {
        pcs_exact_quaternion_multiply(Q1, arc->Q, -1.0);
        pcs_exact_quaternion_multiply(Q2, arc->Q, 1.0);
    }
    pcs_exact_relative(Q1, Q2, &sign, out);
    // Midpoint on the shorter arc: the sum, normalized.
    for (int k = 0; k < 4; k++) {
        Q[k] = Q1[k] + sign * Q2[k];
        norm += Q[k] * Q[k];
    }
    norm = 1.0 / sqrt(norm);
    for (int k = 0; k < 4; k++) Q[k] *= norm;
    pcs_exact_matrix(Q, out->Rm);
    for (int k = 0; k < 3; k++) d[k] = cell->E[3 * k] + (q[6 + k] - q[k]) * cell->inverse;
    pcs_rotation_apply_transposed(out->Rm, d, out->g);
    for (int k = 0; k < 3; k++) {
        out->Gam[k] = out->g[k] - cell->E[3 * k];
        out->bend[k] = out->psi[k] - (arc == NULL ? 0.0 : arc->psi0[k]);
    }
}

static inline void pcs_exact_rate(const pcs_exact_state *state, const double v[PCS_EXACT_NDOF], pcs_exact_rates *out)
{
    const pcs_exact_arc *arc = state->arc;
    double slide[3], a[3] = { v[3], v[4], v[5] }, b[3] = { v[9], v[10], v[11] }, c[3];
    if (arc != NULL) {
        pcs_rotation_apply(arc->B, v + 3, a);
        pcs_rotation_apply_transposed(arc->B, v + 9, b);
    }
    for (int k = 0; k < 3; k++) {
        slide[k] = (v[6 + k] - v[k]) * state->cell->inverse;
        out->s[k] = 0.5 * (a[k] + b[k]);
        out->r[k] = b[k] - a[k];
    }
    pcs_rotation_apply_transposed(state->Rm, slide, out->slide);
    pcs_cross(state->psi, out->r, a);
    pcs_cross(state->psi, a, b);
    pcs_cross(state->psi, out->s, c);
    for (int k = 0; k < 3; k++) {
        out->th[k] = out->s[k] + 0.5 * state->t * a[k];
        out->psi[k] = out->r[k] + state->e * b[k] + c[k];
    }
    pcs_cross(state->g, out->th, a);
    for (int k = 0; k < 3; k++) out->Gam[k] = out->slide[k] + a[k];
}

// Computes A = factor E diag(D) E^T.
static inline void pcs_exact_material(const double E[9], const double D[3], double factor, double A[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            A[3 * i + j] = A[3 * j + i] = factor * (E[3 * i] * D[0] * E[3 * j] + E[3 * i + 1] * D[1] * E[3 * j + 1] +
                                                    E[3 * i + 2] * D[2] * E[3 * j + 2]);
}

// Computes the 12 x 12 stiffness of a cell under section forces (including damping forces); `rates` is NULL if beta is
// zero, else the change of damping forces with q is included.
void pcs_exact_tangent(const pcs_exact_state *state, const pcs_exact_forces *forces, double beta,
                       const pcs_exact_rates *rates, double K[PCS_EXACT_NDOF * PCS_EXACT_NDOF]);

// Computes C = beta (L Bg^T Dn Bg + Bp^T Dm Bp), Bg and Bp the gradients of Gam and psi; Dm contains 1/L.
void pcs_exact_viscosity(const pcs_exact_state *state, double beta, double C[PCS_EXACT_NDOF * PCS_EXACT_NDOF]);

#endif
