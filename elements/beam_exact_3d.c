// Geometrically exact Timoshenko beam in space: two nodes with a position and a finite rotation, any size of motion.
//
// One integration point, kinematics below: the strains vanish in the reference state and under any
// rigid motion, and the path to a state does not matter. q holds the rotation vector of a node's turn from the
// reference state, v its material angular velocity, both in axes that are the global ones in the reference state; nodes
// are shared by beams of any orientation. Section axes: x along the chord, y in the plane of x and `orientation`.
//   f = L (n . dGam) + m . dpsi,   n = diag(E A, G A ky, G A kz) Gam,   m = diag(G J, E Iy, E Iz) (psi - psi0)/L
// A curved beam is a polygon of chords whose corners carry no strain. With `curvature` the sections at the ends of a
// cell stand square to the arc through its nodes, which bends about k by psi0, 2 sin(psi0/2) = |k| L; either is of
// second order in L, and the arc has the smaller error. psi stays below pi in an element.
//
// Mass: consistent or lumped in the displacements; rotary inertia rho L/2 diag(Iy + Iz, Iy, Iz) at each node, with the
// gyroscopic force -Om x J Om. Stiffness damping acts on the strain rates: a rigid motion feels none. Where the section
// varies along a cell, stiffnesses are means over it, and masses integrals with linear velocities; those of rotary
// inertia are lumped by the sums of their rows.

#include "core/dense.h"
#include "core/rotation.h"
#include "elements/beam.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Kinematics of the geometrically exact beam in space, shared by its force and its tangents.
//
// Two nodes with rotations R1, R2 from the reference state, whose axes are the global ones; one point half way. With
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

enum { PCS_EXACT_NDOF = 12 };

typedef struct pcs_exact_cell {
    double length, inverse; // L, m, and 1/L
    double E[9];            // columns: axes of the section; the first is d0
    double Dn[9], Dm[9];    // E diag(E A, G A ky, G A kz) E^T, E diag(G J, E Iy, E Iz) E^T / L
    double J[2][9];         // rotary inertia of the nodes, kg m^2
    double mass;            // rho A L, kg
    pcs_shares shares;      // of the nodes: 1/3, 1/6, 1/3, or 1/2, 0, 1/2 for a constant section
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
    out->e = pcs_rotation_curve(out->a2, 0.5 * factor * w); // a/2 cot(a/2) = (a / sin(a/2)) cos(a/2) / 2
    out->t = 1.0 / (factor * (1.0 + w));                    // tan(a/4) = sin(a/2)/(1 + cos(a/2))
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
    pcs_rotation_quaternion(q + 3, Q1);
    pcs_rotation_quaternion(q + 9, Q2);
    if (arc != NULL) {
        pcs_exact_quaternion_multiply(Q1, arc->Q, -1.0);
        pcs_exact_quaternion_multiply(Q2, arc->Q, 1.0);
    }
    pcs_exact_relative(Q1, Q2, &sign, out);
    // Midpoint on the shorter arc: the normalized sum.
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

// Tangents of the geometrically exact beam in space, in the notation above; x^ y = x x y.
//
// Forces conjugate to (du2 - du1, s, r), with n = Dn Gam, m = Dm kap and y = L n x g:
//   N = Rm n,   Fs = y + m x psi,   Fr = m + e psi x (psi x m) + t/2 y x psi
// Their changes, with Q = Dn g^ - n^, T = t/2 psi^, P = I + e psi^psi^:
//   dN = Rm Dn Rm^T du / L + Rm Q th,   dy = Q^T Rm^T du + L Q^T g^ th,   th = s + T r,   p = psi^ s + P r
//   dFs = dy + W p,       W = m^ - psi^ Dm/L
//   dFr = T^T dy + Z p,   Z = P Dm/L - e ((psi x m)^ + psi^ m^) + (e1 psi x (psi x m) + t1/2 y x psi) psi^T + t/2 y^
// where e1 = e'(a)/a, t1 = t'(a)/a. Off equilibrium this is not symmetric: spins do not commute.

// Holds a 9 x 9 matrix over (u, s, r) as blocks of 3 x 3.
typedef struct blocks {
    double at[3][3][9];
} blocks;

enum { U, S, R };

// Computes C = A^T B.
static inline void tangent_multiply_transposed(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

// Computes C = A x^.
static inline void tangent_times_hat(const double A[9], const double x[3], double C[9])
{
    for (int i = 0; i < 9; i += 3) {
        C[i] = A[i + 1] * x[2] - A[i + 2] * x[1];
        C[i + 1] = A[i + 2] * x[0] - A[i] * x[2];
        C[i + 2] = A[i] * x[1] - A[i + 1] * x[0];
    }
}

// Computes C = x^ A.
static inline void tangent_hat_times(const double x[3], const double A[9], double C[9])
{
    for (int j = 0; j < 3; j++) {
        C[j] = x[1] * A[6 + j] - x[2] * A[3 + j];
        C[3 + j] = x[2] * A[j] - x[0] * A[6 + j];
        C[6 + j] = x[0] * A[3 + j] - x[1] * A[j];
    }
}

static inline void tangent_add(double factor, const double A[9], double B[9])
{
    for (int i = 0; i < 9; i++) B[i] += factor * A[i];
}

// Adds factor a b^T to B.
static inline void tangent_add_dyad(double factor, const double a[3], const double b[3], double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] += factor * a[i] * b[j];
}

// Returns t'(a)/a, by a series for small a.
static double tangent_slope_of_t(const pcs_exact_state *state)
{
    double x = state->a2, z = x / 16.0;
    if (x > 0.25) return (0.5 / (1.0 + state->cosine) - state->t) / x;
    return (2.0 / 3.0 +
            z * (8.0 / 15.0 +
                 z * (34.0 / 105.0 +
                      z * (496.0 / 2835.0 + z * (2764.0 / 31185.0 + z * (87376.0 / 2027025.0 + z * 0.020381681)))))) /
           64.0;
}

// Holds the constant matrices of a state, for damping.
typedef struct operators {
    double G[9], X[9], T[9], P[9];
} operators;

static void tangent_find_operators(const pcs_exact_state *state, operators *o)
{
    pcs_rotation_hat(state->g, o->G);
    pcs_rotation_hat(state->psi, o->X);
    for (int i = 0; i < 9; i++) {
        o->T[i] = 0.5 * state->t * o->X[i];
        o->P[i] = state->e * state->psi[i / 3] * state->psi[i % 3]; // psi^psi^ = psi psi^T - a^2 I
    }
    for (int i = 0; i < 9; i += 4) o->P[i] += 1.0 - state->e * state->a2;
}

// Expands the blocks of du = u2 - u1, s = (th1 + th2)/2, r = th2 - th1 to rows and columns of the nodes.
static inline void tangent_scatter(const blocks *b, double *A)
{
    enum { N = PCS_EXACT_NDOF };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 * i + j;
            double uu = b->at[U][U][k], us = 0.5 * b->at[U][S][k], ur = b->at[U][R][k];
            double su = 0.5 * b->at[S][U][k], ru = b->at[R][U][k];
            double even = 0.25 * b->at[S][S][k] + b->at[R][R][k], odd = 0.25 * b->at[S][S][k] - b->at[R][R][k];
            double sum = 0.5 * (b->at[S][R][k] + b->at[R][S][k]), gap = 0.5 * (b->at[S][R][k] - b->at[R][S][k]);
            double *at = A + i * N + j;
            at[0] = at[6 * N + 6] = uu;
            at[6] = at[6 * N] = -uu;
            at[3] = ur - us;
            at[9] = -us - ur;
            at[6 * N + 3] = us - ur;
            at[6 * N + 9] = us + ur;
            at[3 * N] = ru - su;
            at[9 * N] = -su - ru;
            at[3 * N + 6] = su - ru;
            at[9 * N + 6] = su + ru;
            at[3 * N + 3] = even - sum;
            at[9 * N + 9] = even + sum;
            at[3 * N + 9] = odd + gap;
            at[9 * N + 3] = odd - gap;
        }
}

// Computes Z of the head of this file; XDm = psi^ Dm/L.
static inline void tangent_find_Z(const pcs_exact_state *state, const double m[3], const double y[3],
                                  const double XDm[9], double Z[9])
{
    const double *psi = state->psi, e = state->e, half = 0.5 * state->t;
    double a[3], b[3], c[3], XXDm[9];
    pcs_cross(psi, m, a);
    pcs_cross(psi, a, b);
    pcs_cross(y, psi, c);
    double e1 = pcs_rotation_curve_slope(state->a2, state->e, 1.0 - state->cosine * state->cosine),
           t1 = 0.5 * tangent_slope_of_t(state), along = e * pcs_dot3(psi, m);
    // psi^ m^ = m psi^T - psi . m I
    for (int k = 0; k < 3; k++) c[k] = e1 * b[k] + t1 * c[k] - e * m[k];
    for (int k = 0; k < 3; k++) a[k] = half * y[k] - e * a[k];
    pcs_rotation_hat(a, Z);
    for (int i = 0; i < 9; i += 4) Z[i] += along;
    tangent_hat_times(psi, XDm, XXDm);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 * i + j;
            Z[k] += state->cell->Dm[k] + e * XXDm[k] + c[i] * psi[j];
        }
}

// Adds the change of the section forces due to changing strain rates to b,
//   d(Gam') = slide^ th - th'^ gam + g^ V p,  d(psi') = Y p,
//   V = -t/2 r'^ + t1/2 (psi x r') psi^T,  Y = e1 psi x (psi x r') psi^T - e ((psi x r')^ + psi^ r'^) - s'^
static void tangent_add_rate_change(const pcs_exact_state *state, double beta, const pcs_exact_rates *rates, blocks *b)
{
    const pcs_exact_cell *cell = state->cell;
    operators found;
    const operators *o = &found;
    tangent_find_operators(state, &found);
    double a[3], c[3], A[9], B[9], V[9], Y[9], Ath[9], dn[3][9], dm[3][9] = { { 0 } };
    pcs_cross(state->psi, rates->r, a);
    pcs_cross(state->psi, a, c);
    pcs_rotation_hat(rates->r, A);
    for (int k = 0; k < 9; k++) V[k] = -0.5 * state->t * A[k];
    tangent_add_dyad(0.5 * tangent_slope_of_t(state), a, state->psi, V);
    pcs_rotation_multiply(o->X, A, Y);
    pcs_rotation_hat(a, A);
    tangent_add(1.0, A, Y);
    pcs_rotation_hat(rates->s, A);
    for (int k = 0; k < 9; k++) Y[k] = -state->e * Y[k] - A[k];
    tangent_add_dyad(pcs_rotation_curve_slope(state->a2, state->e, 1.0 - state->cosine * state->cosine), c, state->psi,
                     Y);
    // columns over (u, s, r) of the changes of the rates
    pcs_rotation_hat(rates->th, A);
    for (int k = 0; k < 9; k++) B[k] = -cell->inverse * state->Rm[3 * (k % 3) + k / 3];
    pcs_rotation_multiply(A, B, dn[U]);
    pcs_rotation_multiply(A, o->G, B);
    pcs_rotation_hat(rates->slide, Ath);
    tangent_add(-1.0, B, Ath);
    pcs_rotation_multiply(o->G, V, A);
    pcs_rotation_multiply(A, o->X, dn[S]);
    tangent_add(1.0, Ath, dn[S]);
    pcs_rotation_multiply(A, o->P, dn[R]);
    pcs_rotation_multiply(Ath, o->T, B);
    tangent_add(1.0, B, dn[R]);
    pcs_rotation_multiply(Y, o->X, dm[S]);
    pcs_rotation_multiply(Y, o->P, dm[R]);
    for (int j = U; j <= R; j++) {
        double n[9], m[9], y[9];
        pcs_rotation_multiply(cell->Dn, dn[j], n);
        pcs_rotation_multiply(cell->Dm, dm[j], m);
        pcs_rotation_multiply(state->Rm, n, A);
        tangent_add(beta, A, b->at[U][j]);
        pcs_rotation_multiply(o->G, n, y);
        tangent_add(-beta * cell->length, y, b->at[S][j]);
        pcs_rotation_multiply(o->X, m, A);
        tangent_add(-beta, A, b->at[S][j]);
        pcs_rotation_multiply(o->T, y, A);
        tangent_add(beta * cell->length, A, b->at[R][j]);
        pcs_rotation_multiply(o->P, m, A);
        tangent_add(beta, A, b->at[R][j]);
    }
}

// Replaces A by S^T A S with S = diag(I, B, I, B^T): from spins of the arc's ends to those of the nodes.
static void tangent_leave_arc(const pcs_exact_arc *arc, double *A)
{
    enum { N = PCS_EXACT_NDOF };
    double Bt[9];
    pcs_rotation_transpose(arc->B, Bt);
    for (int node = 0; node < 2; node++) {
        const double *B = node == 0 ? arc->B : Bt;
        for (int i = 0; i < N; i++) {
            double *row = A + i * N + 3 + 6 * node, old[3] = { row[0], row[1], row[2] };
            pcs_rotation_apply_transposed(B, old, row);
        }
        for (int j = 0; j < N; j++) {
            double *top = A + (3 + 6 * node) * N + j, old[3] = { top[0], top[N], top[2 * N] }, rotated[3];
            pcs_rotation_apply_transposed(B, old, rotated);
            for (int k = 0; k < 3; k++) top[k * N] = rotated[k];
        }
    }
}

// Computes B = A psi^ and, with P = I + e psi^psi^, C = A P.
static inline void tangent_rotate(const pcs_exact_state *state, const double A[9], double B[9], double C[9])
{
    double twice[9];
    tangent_times_hat(A, state->psi, B);
    tangent_times_hat(B, state->psi, twice);
    for (int k = 0; k < 9; k++) C[k] = A[k] + state->e * twice[k];
}

// Computes the 12 x 12 stiffness of a cell under section forces (including damping forces); `rates` is NULL if beta is
// zero, else the change of damping forces with q is included.
static void exact_tangent(const pcs_exact_state *state, const pcs_exact_forces *forces, double beta,
                          const pcs_exact_rates *rates, double K[PCS_EXACT_NDOF * PCS_EXACT_NDOF])
{
    const pcs_exact_cell *cell = state->cell;
    const double *n = forces->n, *m = forces->m, *psi = state->psi, half = 0.5 * state->t;
    blocks b;
    double Q[9], H[9], HT[9], W[9], Z[9], A[9], B[9], y[3];
    tangent_times_hat(cell->Dn, state->g, Q);
    pcs_rotation_hat(n, A);
    tangent_add(-1.0, A, Q);
    tangent_hat_times(psi, cell->Dm, A);
    pcs_rotation_hat(m, W);
    tangent_add(-1.0, A, W);
    pcs_cross(n, state->g, y);
    for (int k = 0; k < 3; k++) y[k] *= cell->length;
    tangent_find_Z(state, m, y, A, Z);

    pcs_rotation_multiply(state->Rm, cell->Dn, A);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            b.at[U][U][3 * i + j] = b.at[U][U][3 * j + i] = cell->inverse * pcs_dot3(A + 3 * i, state->Rm + 3 * j);
    pcs_rotation_multiply(state->Rm, Q, b.at[U][S]);
    tangent_times_hat(b.at[U][S], psi, b.at[U][R]);
    for (int k = 0; k < 9; k++) b.at[U][R][k] *= half;
    pcs_rotation_transpose(b.at[U][S], b.at[S][U]);
    pcs_rotation_transpose(b.at[U][R], b.at[R][U]);

    pcs_rotation_transpose(Q, A);
    tangent_times_hat(A, state->g, H);
    for (int k = 0; k < 9; k++) H[k] *= cell->length;
    tangent_times_hat(H, psi, HT);
    for (int k = 0; k < 9; k++) HT[k] *= half;
    tangent_hat_times(psi, H, A);
    tangent_hat_times(psi, HT, B);
    tangent_rotate(state, W, b.at[S][S], b.at[S][R]);
    tangent_rotate(state, Z, b.at[R][S], b.at[R][R]);
    for (int k = 0; k < 9; k++) {
        b.at[S][S][k] += H[k];
        b.at[S][R][k] += HT[k];
        b.at[R][S][k] -= half * A[k];
        b.at[R][R][k] -= half * B[k];
    }
    if (rates != NULL) tangent_add_rate_change(state, beta, rates, &b);
    tangent_scatter(&b, K);
    if (state->arc != NULL) tangent_leave_arc(state->arc, K);
}

// Computes C = beta (L Bg^T Dn Bg + Bp^T Dm Bp), Bg and Bp the gradients of Gam and psi; Dm contains 1/L.
static void exact_viscosity(const pcs_exact_state *state, double beta, double C[PCS_EXACT_NDOF * PCS_EXACT_NDOF])
{
    const pcs_exact_cell *cell = state->cell;
    operators o;
    blocks b;
    double Bg[3][9], Bp[3][9] = { { 0 } };
    tangent_find_operators(state, &o);
    pcs_rotation_transpose(state->Rm, Bg[U]);
    for (int k = 0; k < 9; k++) Bg[U][k] *= cell->inverse;
    memcpy(Bg[S], o.G, sizeof o.G);
    pcs_rotation_multiply(o.G, o.T, Bg[R]);
    memcpy(Bp[S], o.X, sizeof o.X);
    memcpy(Bp[R], o.P, sizeof o.P);
    for (int j = U; j <= R; j++) {
        double n[9], m[9], A[9], B[9];
        pcs_rotation_multiply(cell->Dn, Bg[j], n);
        pcs_rotation_multiply(cell->Dm, Bp[j], m);
        for (int i = U; i <= R; i++) {
            tangent_multiply_transposed(Bg[i], n, A);
            tangent_multiply_transposed(Bp[i], m, B);
            for (int k = 0; k < 9; k++) b.at[i][j][k] = beta * (cell->length * A[k] + B[k]);
        }
    }
    tangent_scatter(&b, C);
    if (state->arc != NULL) tangent_leave_arc(state->arc, C);
}

enum { NDOF = PCS_EXACT_NDOF };

static const pcs_cell_shape exact_shape = { .ndof = NDOF, .node_dofs = 6, .translations = 3 };

typedef struct exact_data {
    const pcs_exact_cell *cells; // [ncell]
    const pcs_exact_arc *arcs;   // [ncell]; NULL if all cells are straight
} exact_data;

static const pcs_option exact_options[] = {
    PCS_BEAM_SPACE_OPTIONS,
    PCS_VECTOR(
        "curvature", pcs_beam_params, curvature, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
        "of an arc before any load, 1/m: vector normal to its plane, right-handed from the first to the second node"),
    { .name = NULL },
};

static const char *const exact_fields[] = { "axial_force", "shear_force", "torque",         "moment_start",
                                            "moment_end",  "stress",      "bending_stress", "strain_energy",
                                            "shear_y",     "shear_z",     "moment_y",       "moment_z",
                                            NULL };

static const char *const exact_end_fields[] = { "moment_y_start", "moment_y_end", "moment_z_start", "moment_z_end",
                                                NULL };

static double exact_frame(const pcs_batch *batch, int cell, double axes[3][3])
{
    double sine;
    return pcs_beam_space_frame(batch, cell, ((const pcs_beam_params *)batch->params)->orientation, axes, &sine);
}

static pcs_status exact_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    const pcs_beam_params *p = batch->params;
    const double *k = p->curvature;
    double axes[3][3];
    PCS_TRY(pcs_beam_space_dofs(ctx, batch, cell, p->orientation, out));
    out->is_finite = true;
    double chord = exact_frame(batch, cell, axes);
    if (fabs(pcs_dot3(k, axes[0])) > 1e-6 * pcs_norm3(k))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': the curvature [%g, %g, %g] is not square to cell %d",
                        batch->name, k[0], k[1], k[2], batch->cells[cell]);
    if (pcs_norm3(k) * chord < 2.0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': cell %d of length %g cannot be an arc of curvature %g, must be below %g",
                    batch->name, batch->cells[cell], chord, pcs_norm3(k), 2.0 / chord);
}

// Computes rho (Iy + Iz), rho Iy, rho Iz, times twice the share of a node.
static void exact_line_inertia(const pcs_batch *batch, int cell, double out[2][3])
{
    static const pcs_beam_quantity quantities[3] = { PCS_BEAM_POLAR, PCS_BEAM_IY, PCS_BEAM_IZ };
    const pcs_section *s = pcs_taper_section(batch, cell);
    double rho = ((const pcs_beam_params *)batch->params)->rho;
    const double inertia[3] = { rho * (s->Iy + s->Iz), rho * s->Iy, rho * s->Iz };
    for (int k = 0; k < 3; k++) {
        pcs_shares shares = pcs_beam_find_shares(batch, cell, quantities[k]);
        double skew = (shares.first + shares.cross) - (shares.last + shares.cross); // zero for a uniform cell
        out[0][k] = inertia[k] * (1.0 + skew);
        out[1][k] = inertia[k] * (1.0 - skew);
    }
}

static pcs_exact_cell exact_cell(const pcs_batch *batch, int cell)
{
    const pcs_beam_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    double axes[3][3], line_inertia[2][3], G = 0.5 * p->E / (1.0 + p->nu);
    const double force[3] = { p->E * s->area, G * s->area * s->ky, G * s->area * s->kz };
    const double moment[3] = { G * s->torsion, p->E * s->Iy, p->E * s->Iz };
    pcs_exact_cell out;
    out.length = exact_frame(batch, cell, axes);
    out.inverse = 1.0 / out.length;
    out.mass = p->rho * s->area * out.length;
    out.shares = pcs_beam_find_shares(batch, cell, PCS_BEAM_AREA);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) out.E[3 * k + i] = axes[i][k];
    exact_line_inertia(batch, cell, line_inertia);
    pcs_exact_material(out.E, force, 1.0, out.Dn);
    pcs_exact_material(out.E, moment, out.inverse, out.Dm);
    for (int node = 0; node < 2; node++) pcs_exact_material(out.E, line_inertia[node], 0.5 * out.length, out.J[node]);
    return out;
}

// Computes the arc with psi0 by the kernel itself, so that the reference state has exactly zero strain.
static pcs_exact_arc exact_arc(const pcs_exact_cell *cell, const double curvature[3])
{
    const double rest[NDOF] = { 0 };
    double half[3], size = pcs_norm3(curvature);
    pcs_exact_arc out = { 0 };
    pcs_exact_state state;
    for (int k = 0; k < 3; k++) half[k] = asin(0.5 * size * cell->length) * curvature[k] / size;
    pcs_rotation_quaternion(half, out.Q);
    pcs_exact_matrix(out.Q, out.B);
    pcs_exact_deform(cell, &out, rest, &state);
    memcpy(out.psi0, state.psi, sizeof out.psi0);
    return out;
}

static pcs_status exact_setup(pcs_context *ctx, pcs_batch *batch)
{
    const pcs_beam_params *p = batch->params;
    bool is_curved = pcs_norm3(p->curvature) > 0.0;
    exact_data *data;
    pcs_exact_cell *cells;
    pcs_exact_arc *arcs = NULL;
    PCS_TAKE(ctx, data, 1, "beam cells");
    PCS_TAKE(ctx, cells, batch->ncell, "beam cells");
    if (is_curved) PCS_TAKE(ctx, arcs, batch->ncell, "curved beam cells");
    for (int i = 0; i < batch->ncell; i++) {
        cells[i] = exact_cell(batch, i);
        if (is_curved) arcs[i] = exact_arc(&cells[i], p->curvature);
    }
    *data = (exact_data){ .cells = cells, .arcs = arcs };
    batch->data = data;
    batch->is_gyroscopic = batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0;
    return PCS_OK;
}

static inline const pcs_exact_arc *exact_arc_of(const exact_data *data, int cell)
{
    return data->arcs == NULL ? NULL : &data->arcs[cell];
}

// Evaluates a cell of the batch, and gathers the velocities of its dofs.
static inline void exact_look(const pcs_batch *batch, int index, const pcs_cell_state *at, double w[NDOF],
                              pcs_exact_state *state)
{
    const exact_data *data = batch->data;
    double x[NDOF];
    pcs_cell_look(batch, index, NDOF, at, x, w);
    pcs_exact_deform(&data->cells[index], exact_arc_of(data, index), x, state);
}

// Computes p = M w; its rotational part is the angular momentum in material axes.
static inline void exact_momentum(const exact_data *data, int index, const double w[NDOF], double p[NDOF])
{
    const pcs_exact_cell *cell = &data->cells[index];
    const pcs_shares *shares = &cell->shares;
    double mass = cell->mass;
    for (int k = 0; k < 3; k++) {
        p[k] = mass * (shares->first * w[k] + shares->cross * w[6 + k]);
        p[6 + k] = mass * (shares->cross * w[k] + shares->last * w[6 + k]);
    }
    pcs_rotation_apply(cell->J[0], w + 3, p + 3);
    pcs_rotation_apply(cell->J[1], w + 9, p + 9);
}

// Computes section forces in material axes; rates are NULL without stiffness damping.
static inline void exact_section(const pcs_batch *batch, const pcs_exact_state *state, const pcs_exact_rates *rates,
                                 pcs_exact_forces *out)
{
    double Gam[3], psi[3];
    for (int k = 0; k < 3; k++) {
        Gam[k] = state->Gam[k] + (rates == NULL ? 0.0 : batch->damping_stiffness * rates->Gam[k]);
        psi[k] = state->bend[k] + (rates == NULL ? 0.0 : batch->damping_stiffness * rates->psi[k]);
    }
    pcs_rotation_apply(state->cell->Dn, Gam, out->n);
    pcs_rotation_apply(state->cell->Dm, psi, out->m);
}

// Computes f, the external forces and moments on the nodes that balance the section forces.
static inline void exact_hold(const pcs_exact_state *state, const pcs_exact_forces *forces, double f[NDOF])
{
    const double *n = forces->n, *m = forces->m;
    double N[3], y[3], a[3], b[3], c[3], d[3];
    pcs_rotation_apply(state->Rm, n, N);
    pcs_cross(n, state->g, y);
    for (int k = 0; k < 3; k++) y[k] *= state->cell->length;
    pcs_cross(m, state->psi, a);
    pcs_cross(a, state->psi, b); // psi x (psi x m)
    pcs_cross(y, state->psi, c);
    for (int k = 0; k < 3; k++) {
        a[k] = 0.5 * (y[k] + a[k]);
        d[k] = m[k] + state->e * b[k] + 0.5 * state->t * c[k];
        f[k] = -N[k];
        f[6 + k] = N[k];
        f[3 + k] = a[k] - d[k];
        f[9 + k] = a[k] + d[k];
    }
}

// Transforms moments from the ends of the arc to the nodes.
static inline void exact_leave_arc(const pcs_exact_arc *arc, double f[NDOF])
{
    double a[3], b[3];
    pcs_rotation_apply_transposed(arc->B, f + 3, a);
    pcs_rotation_apply(arc->B, f + 9, b);
    for (int k = 0; k < 3; k++) {
        f[3 + k] = a[k];
        f[9 + k] = b[k];
    }
}

// Computes internal, damping and gyroscopic force of a cell, as forces on the body.
static inline __attribute__((always_inline)) void exact_force(const pcs_batch *batch, int index,
                                                              const pcs_cell_state *at, double f[NDOF])
{
    const exact_data *data = batch->data;
    bool is_damped = batch->damping_stiffness != 0.0;
    double w[NDOF], p[NDOF], gyro[3];
    pcs_exact_state state;
    pcs_exact_rates rates;
    pcs_exact_forces forces;
    exact_look(batch, index, at, w, &state);
    if (is_damped) pcs_exact_rate(&state, w, &rates);
    exact_section(batch, &state, is_damped ? &rates : NULL, &forces);
    exact_hold(&state, &forces, f);
    if (state.arc != NULL) exact_leave_arc(state.arc, f);
    exact_momentum(data, index, w, p);
    for (int i = 0; i < NDOF; i++) f[i] = -f[i] - batch->damping_mass * p[i];
    for (int i = 3; i < NDOF; i += 6) {
        pcs_cross(w + i, p + i, gyro);
        for (int k = 0; k < 3; k++) f[i + k] -= gyro[k];
    }
}

static void exact_add_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, NDOF, exact_force, at, f);
}

// Adds factor M to A.
static void exact_mass(const exact_data *data, int index, double factor, double A[NDOF * NDOF])
{
    const pcs_exact_cell *cell = &data->cells[index];
    double mass = factor * cell->mass;
    for (int k = 0; k < 3; k++) {
        A[k * NDOF + k] += mass * cell->shares.first;
        A[(6 + k) * NDOF + 6 + k] += mass * cell->shares.last;
        A[k * NDOF + 6 + k] += mass * cell->shares.cross;
        A[(6 + k) * NDOF + k] += mass * cell->shares.cross;
        for (int j = 0; j < 3; j++) {
            A[(3 + k) * NDOF + 3 + j] += factor * cell->J[0][3 * k + j];
            A[(9 + k) * NDOF + 9 + j] += factor * cell->J[1][3 * k + j];
        }
    }
}

// Adds Om^ J - (J Om)^ of both nodes to C: the derivative of Om x J Om.
static inline void exact_gyroscopic(const pcs_exact_cell *cell, const double w[NDOF], double C[NDOF * NDOF])
{
    for (int i = 3; i < NDOF; i += 6) {
        const double *J = cell->J[i / 6], *Om = w + i;
        double p[3], *at = C + i * NDOF + i;
        pcs_rotation_apply(J, Om, p);
        for (int j = 0; j < 3; j++) {
            at[j] += Om[1] * J[6 + j] - Om[2] * J[3 + j];
            at[NDOF + j] += Om[2] * J[j] - Om[0] * J[6 + j];
            at[2 * NDOF + j] += Om[0] * J[3 + j] - Om[1] * J[j];
        }
        at[1] += p[2];
        at[2] -= p[1];
        at[NDOF] -= p[2];
        at[NDOF + 2] += p[0];
        at[2 * NDOF] += p[1];
        at[2 * NDOF + 1] -= p[0];
    }
}

static void exact_matrices(const pcs_batch *batch, int index, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const exact_data *data = batch->data;
    double beta = batch->damping_stiffness, x[NDOF], w[NDOF];
    pcs_exact_state state;
    pcs_exact_rates rates, *damping = beta != 0.0 ? &rates : NULL;
    pcs_exact_forces forces;
    if (M != NULL) {
        memset(M, 0, NDOF * NDOF * sizeof *M);
        exact_mass(data, index, 1.0, M);
    }
    if (K == NULL) return;
    pcs_cell_look_or_rest(batch, index, NDOF, at, x, w);
    pcs_exact_deform(&data->cells[index], exact_arc_of(data, index), x, &state);
    if (damping != NULL) pcs_exact_rate(&state, w, &rates);
    exact_section(batch, &state, damping, &forces);
    exact_tangent(&state, &forces, beta, damping, K);
    if (at == NULL) // removes the round-off of products
        for (int i = 1; i < NDOF; i++)
            for (int j = 0; j < i; j++) K[i * NDOF + j] = K[j * NDOF + i];
    if (C == NULL) return;
    if (damping == NULL) memset(C, 0, NDOF * NDOF * sizeof *C);
    else exact_viscosity(&state, beta, C);
    if (batch->damping_mass != 0.0) exact_mass(data, index, batch->damping_mass, C);
    exact_gyroscopic(&data->cells[index], w, C);
}

// Returns L x . Dn Gam + y . Dm psi; Dm contains 1/L.
static double exact_form(const exact_data *data, int index, const double Gam[3], const double psi[3], const double x[3],
                         const double y[3])
{
    const pcs_exact_cell *cell = &data->cells[index];
    double n[3], m[3];
    pcs_rotation_apply(cell->Dn, Gam, n);
    pcs_rotation_apply(cell->Dm, psi, m);
    return cell->length * pcs_dot3(x, n) + pcs_dot3(y, m);
}

// Adds the dissipated power, W; gyroscopic forces do no work.
static void exact_add_power(const pcs_batch *batch, int index, const pcs_cell_state *at, const double w[NDOF],
                            const pcs_exact_state *state, pcs_cell_sums *sum)
{
    double along[NDOF], p[NDOF];
    pcs_exact_rates rates, x;
    pcs_cell_gather(batch->equation + (size_t)index * NDOF, NDOF, at->along, along);
    pcs_exact_rate(state, w, &rates);
    pcs_exact_rate(state, along, &x);
    exact_momentum(batch->data, index, w, p);
    sum->power += batch->damping_mass * pcs_dense_dot(NDOF, along, p);
    sum->power += batch->damping_stiffness * exact_form(batch->data, index, rates.Gam, rates.psi, x.Gam, x.psi);
}

static void exact_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const exact_data *data = batch->data;
    if (batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0) what &= ~(unsigned)PCS_CELL_POWER;
    if (what & PCS_CELL_RESULTANT) pcs_cell_add_resultant(batch, &exact_shape, exact_force, at, sum);
    for (int i = 0; i < batch->ncell && (what & (PCS_CELL_ENERGY | PCS_CELL_POWER)); i++) {
        double w[NDOF], p[NDOF];
        pcs_exact_state state;
        exact_look(batch, i, at, w, &state);
        if (what & PCS_CELL_POWER) exact_add_power(batch, i, at, w, &state, sum);
        if (!(what & PCS_CELL_ENERGY)) continue;
        exact_momentum(data, i, w, p);
        sum->strain += 0.5 * exact_form(data, i, state.Gam, state.bend, state.Gam, state.bend);
        sum->kinetic += 0.5 * pcs_dense_dot(NDOF, w, p);
        pcs_cell_add_momentum(batch, &exact_shape, i, p, sum);
    }
}

// Evaluates elastic section forces in the axes of the rotated section; end moments are those on the nodes.
static void exact_read_fields(const pcs_batch *batch, int index, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    const exact_data *data = batch->data;
    const pcs_exact_cell *cell = &data->cells[index];
    double w[NDOF], f[NDOF], force[3], moment[3], start[3], end[3];
    pcs_exact_state state;
    pcs_exact_forces forces;
    exact_look(batch, index, at, w, &state);
    exact_section(batch, &state, NULL, &forces);
    exact_hold(&state, &forces, f);
    pcs_rotation_apply_transposed(cell->E, forces.n, force);
    pcs_rotation_apply_transposed(cell->E, forces.m, moment);
    pcs_rotation_apply_transposed(cell->E, f + 3, start);
    pcs_rotation_apply_transposed(cell->E, f + 9, end);
    field[0] = force[0];
    field[1] = hypot(force[1], force[2]);
    field[2] = moment[0];
    field[3] = hypot(start[1], start[2]);
    field[4] = hypot(end[1], end[2]);
    field[5] = force[0] / pcs_taper_section(batch, index)->area;
    field[6] = pcs_taper_stress(batch, batch->cells[index], (const double[2]){ start[2], end[2] },
                                (const double[2]){ start[1], end[1] });
    field[7] = 0.5 * exact_form(data, index, state.Gam, state.bend, state.Gam, state.bend);
    field[8] = force[1];
    field[9] = force[2];
    field[10] = moment[1];
    field[11] = moment[2];
    for (int k = 0; k < 2; k++) {
        field[12 + 2 * k] = -start[1 + k]; // like the middle
        field[13 + 2 * k] = end[1 + k];
    }
}

const pcs_element_ops pcs_element_beam_exact_3d = {
    .name = "beam_exact_3d",
    .summary = "geometrically exact Timoshenko beam in space; three displacements and a finite rotation at each node",
    .options = exact_options,
    PCS_BEAM_SPACE_SECTION,
    .nnode = 2,
    .ndof = NDOF,
    .is_nonlinear = true,
    .sees_velocity = true,
    .fields = exact_fields,
    .end_fields = exact_end_fields,
    .node_dofs = exact_node_dofs,
    .setup = exact_setup,
    .matrices = exact_matrices,
    .force = exact_add_force,
    .measure = exact_measure,
    .read_fields = exact_read_fields,
};
