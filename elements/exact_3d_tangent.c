// Tangents of the geometrically exact beam in space, in the notation of exact_3d.h; x^ y = x x y.
//
// Forces conjugate to (du2 - du1, s, r), with n = Dn Gam, m = Dm kap and y = L n x g:
//   N = Rm n,   Fs = y + m x psi,   Fr = m + e psi x (psi x m) + t/2 y x psi
// Their changes, with Q = Dn g^ - n^, T = t/2 psi^, P = I + e psi^psi^:
//   dN = Rm Dn Rm^T du / L + Rm Q th,   dy = Q^T Rm^T du + L Q^T g^ th,   th = s + T r,   p = psi^ s + P r
//   dFs = dy + W p,       W = m^ - psi^ Dm/L
//   dFr = T^T dy + Z p,   Z = P Dm/L - e ((psi x m)^ + psi^ m^) + (e1 psi x (psi x m) + t1/2 y x psi) psi^T + t/2 y^
// where e1 = e'(a)/a, t1 = t'(a)/a. Off equilibrium this is not symmetric: spins do not commute.

#include "elements/exact_3d.h"

#include <string.h>

// A 9 x 9 matrix over (u, s, r) as blocks of 3 x 3.
typedef struct blocks {
    double at[3][3][9];
} blocks;

enum { U, S, R };

static inline void tangent_hat(const double a[3], double A[9])
{
    A[0] = A[4] = A[8] = 0.0;
    A[1] = -a[2];
    A[2] = a[1];
    A[3] = a[2];
    A[5] = -a[0];
    A[6] = -a[1];
    A[7] = a[0];
}

// C = A^T B
static inline void tangent_multiply_transposed(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

static inline void tangent_transpose(const double A[9], double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] = A[3 * j + i];
}

static inline void tangent_add(double factor, const double A[9], double B[9])
{
    for (int i = 0; i < 9; i++) B[i] += factor * A[i];
}

// B += a b^T
static inline void tangent_add_dyad(double factor, const double a[3], const double b[3], double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] += factor * a[i] * b[j];
}

// A = factor E diag(D) E^T
static inline void tangent_turn_diagonal(const double E[9], const double D[3], double factor, double A[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            A[3 * i + j] = A[3 * j + i] = factor * (E[3 * i] * D[0] * E[3 * j] + E[3 * i + 1] * D[1] * E[3 * j + 1] +
                                                    E[3 * i + 2] * D[2] * E[3 * j + 2]);
}

// e'(a)/a; the closed form cancels for small a.
static double tangent_slope_of_e(const pcs_exact_state *state)
{
    double x = state->a2;
    if (x > 0.25) return (0.25 / (1.0 - state->cosine * state->cosine) - (1.0 + state->e * x) / x) / x;
    return 1.0 / 360.0 +
           x * (1.0 / 7560.0 +
                x * (1.0 / 201600.0 +
                     x * (1.0 / 5987520.0 +
                          x * (691.0 / 130767436800.0 + x * (1.0 / 6227020800.0 + x * (3617.0 / 762187345920000.0))))));
}

// t'(a)/a; likewise.
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

// The constant matrices of a state.
typedef struct operators {
    double Dn[9], Dm[9]; // the second over L
    double G[9], X[9], T[9], P[9];
} operators;

static inline void tangent_find_operators(const pcs_exact_stiffness *D, const pcs_exact_state *state, operators *o)
{
    tangent_turn_diagonal(state->cell->E, D->force, 1.0, o->Dn);
    tangent_turn_diagonal(state->cell->E, D->moment, state->cell->inverse, o->Dm);
    tangent_hat(state->g, o->G);
    tangent_hat(state->psi, o->X);
    for (int i = 0; i < 9; i++) {
        o->T[i] = 0.5 * state->t * o->X[i];
        o->P[i] = state->e * state->psi[i / 3] * state->psi[i % 3]; // psi^psi^ = psi psi^T - a^2 I
    }
    for (int i = 0; i < 9; i += 4) o->P[i] += 1.0 - state->e * state->a2;
}

// Rows and columns of the nodes from those of du = u2 - u1, s = (th1 + th2)/2, r = th2 - th1.
static inline void tangent_spread(const blocks *b, double *A)
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

// Z of the head of this file.
static inline void tangent_find_Z(const operators *o, const pcs_exact_state *state, const double m[3],
                                  const double y[3], double Z[9])
{
    double a[3], b[3], c[3], A[9], B[9];
    pcs_cross(state->psi, m, a);
    pcs_cross(state->psi, a, b);
    pcs_cross(y, state->psi, c);
    double e1 = tangent_slope_of_e(state), t1 = 0.5 * tangent_slope_of_t(state);
    for (int k = 0; k < 3; k++) c[k] = e1 * b[k] + t1 * c[k];
    pcs_rotation_multiply(o->P, o->Dm, Z);
    tangent_hat(a, A);
    tangent_add(-state->e, A, Z);
    tangent_hat(m, A);
    pcs_rotation_multiply(o->X, A, B);
    tangent_add(-state->e, B, Z);
    tangent_hat(y, A);
    tangent_add(0.5 * state->t, A, Z);
    tangent_add_dyad(1.0, c, state->psi, Z);
}

// b += the change of the section forces that comes with changing strain rates,
//   d(Gam') = slide^ th - th'^ gam + g^ V p,  d(psi') = Y p,
//   V = -t/2 r'^ + t1/2 (psi x r') psi^T,  Y = e1 psi x (psi x r') psi^T - e ((psi x r')^ + psi^ r'^) - s'^
static void tangent_add_rate_change(const operators *o, const pcs_exact_state *state, double beta,
                                    const pcs_exact_rates *rates, blocks *b)
{
    const pcs_exact_cell *cell = state->cell;
    double a[3], c[3], A[9], B[9], V[9], Y[9], Ath[9], dn[3][9], dm[3][9] = { { 0 } };
    pcs_cross(state->psi, rates->r, a);
    pcs_cross(state->psi, a, c);
    tangent_hat(rates->r, A);
    for (int k = 0; k < 9; k++) V[k] = -0.5 * state->t * A[k];
    tangent_add_dyad(0.5 * tangent_slope_of_t(state), a, state->psi, V);
    pcs_rotation_multiply(o->X, A, Y);
    tangent_hat(a, A);
    tangent_add(1.0, A, Y);
    tangent_hat(rates->s, A);
    for (int k = 0; k < 9; k++) Y[k] = -state->e * Y[k] - A[k];
    tangent_add_dyad(tangent_slope_of_e(state), c, state->psi, Y);
    // columns over (u, s, r) of the changes of the rates
    tangent_hat(rates->th, A);
    for (int k = 0; k < 9; k++) B[k] = -cell->inverse * state->Rm[3 * (k % 3) + k / 3];
    pcs_rotation_multiply(A, B, dn[U]);
    pcs_rotation_multiply(A, o->G, B);
    tangent_hat(rates->slide, Ath);
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
        pcs_rotation_multiply(o->Dn, dn[j], n);
        pcs_rotation_multiply(o->Dm, dm[j], m);
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

// A := S^T A S with S = diag(I, B, I, B^T): from the spins of the arc's ends to those of the nodes.
static void tangent_leave_arc(const pcs_exact_arc *arc, double *A)
{
    enum { N = PCS_EXACT_NDOF };
    double Bt[9];
    tangent_transpose(arc->B, Bt);
    for (int node = 0; node < 2; node++) {
        const double *B = node == 0 ? arc->B : Bt;
        for (int i = 0; i < N; i++) {
            double *row = A + i * N + 3 + 6 * node, old[3] = { row[0], row[1], row[2] };
            pcs_rotation_apply_transposed(B, old, row);
        }
        for (int j = 0; j < N; j++) {
            double *top = A + (3 + 6 * node) * N + j, old[3] = { top[0], top[N], top[2 * N] }, turned[3];
            pcs_rotation_apply_transposed(B, old, turned);
            for (int k = 0; k < 3; k++) top[k * N] = turned[k];
        }
    }
}

void pcs_exact_tangent(const pcs_exact_stiffness *D, const pcs_exact_state *state, const pcs_exact_forces *forces,
                       double beta, const pcs_exact_rates *rates, double K[PCS_EXACT_NDOF * PCS_EXACT_NDOF])
{
    const pcs_exact_cell *cell = state->cell;
    const double *n = forces->n, *m = forces->m;
    operators o;
    blocks b;
    double Q[9], H[9], HT[9], W[9], Z[9], A[9], y[3];
    tangent_find_operators(D, state, &o);
    pcs_rotation_multiply(o.Dn, o.G, Q);
    tangent_hat(n, A);
    tangent_add(-1.0, A, Q);
    pcs_rotation_multiply(o.X, o.Dm, A);
    tangent_hat(m, W);
    tangent_add(-1.0, A, W);
    pcs_cross(n, state->g, y);
    for (int k = 0; k < 3; k++) y[k] *= cell->length;
    tangent_find_Z(&o, state, m, y, Z);

    pcs_rotation_multiply(state->Rm, o.Dn, A);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            b.at[U][U][3 * i + j] = b.at[U][U][3 * j + i] = cell->inverse * pcs_dot3(A + 3 * i, state->Rm + 3 * j);
    pcs_rotation_multiply(state->Rm, Q, b.at[U][S]);
    pcs_rotation_multiply(b.at[U][S], o.T, b.at[U][R]);
    tangent_transpose(b.at[U][S], b.at[S][U]);
    tangent_transpose(b.at[U][R], b.at[R][U]);

    tangent_multiply_transposed(Q, o.G, H);
    for (int k = 0; k < 9; k++) H[k] *= cell->length;
    pcs_rotation_multiply(H, o.T, HT);
    pcs_rotation_multiply(W, o.X, b.at[S][S]);
    tangent_add(1.0, H, b.at[S][S]);
    pcs_rotation_multiply(W, o.P, b.at[S][R]);
    tangent_add(1.0, HT, b.at[S][R]);
    pcs_rotation_multiply(Z, o.X, b.at[R][S]);
    pcs_rotation_multiply(o.T, H, A);
    tangent_add(-1.0, A, b.at[R][S]);
    pcs_rotation_multiply(Z, o.P, b.at[R][R]);
    pcs_rotation_multiply(o.T, HT, A);
    tangent_add(-1.0, A, b.at[R][R]);
    if (rates != NULL) tangent_add_rate_change(&o, state, beta, rates, &b);
    tangent_spread(&b, K);
    if (state->arc != NULL) tangent_leave_arc(state->arc, K);
}

void pcs_exact_viscosity(const pcs_exact_stiffness *D, const pcs_exact_state *state, double beta,
                         double C[PCS_EXACT_NDOF * PCS_EXACT_NDOF])
{
    const pcs_exact_cell *cell = state->cell;
    operators o;
    blocks b;
    double Bg[3][9], Bp[3][9] = { { 0 } };
    tangent_find_operators(D, state, &o);
    tangent_transpose(state->Rm, Bg[U]);
    for (int k = 0; k < 9; k++) Bg[U][k] *= cell->inverse;
    memcpy(Bg[S], o.G, sizeof o.G);
    pcs_rotation_multiply(o.G, o.T, Bg[R]);
    memcpy(Bp[S], o.X, sizeof o.X);
    memcpy(Bp[R], o.P, sizeof o.P);
    for (int j = U; j <= R; j++) {
        double n[9], m[9], A[9], B[9];
        pcs_rotation_multiply(o.Dn, Bg[j], n);
        pcs_rotation_multiply(o.Dm, Bp[j], m);
        for (int i = U; i <= R; i++) {
            tangent_multiply_transposed(Bg[i], n, A);
            tangent_multiply_transposed(Bp[i], m, B);
            for (int k = 0; k < 9; k++) b.at[i][j][k] = beta * (cell->length * A[k] + B[k]);
        }
    }
    tangent_spread(&b, C);
    if (state->arc != NULL) tangent_leave_arc(state->arc, C);
}
