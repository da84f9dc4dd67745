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

// Holds a 9 x 9 matrix over (u, s, r) as blocks of 3 x 3.
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

// Computes C = A^T B.
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

// Returns e'(a)/a; by a series for small a, as the closed form cancels.
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
    tangent_hat(state->g, o->G);
    tangent_hat(state->psi, o->X);
    for (int i = 0; i < 9; i++) {
        o->T[i] = 0.5 * state->t * o->X[i];
        o->P[i] = state->e * state->psi[i / 3] * state->psi[i % 3]; // psi^psi^ = psi psi^T - a^2 I
    }
    for (int i = 0; i < 9; i += 4) o->P[i] += 1.0 - state->e * state->a2;
}

// Expands the blocks of du = u2 - u1, s = (th1 + th2)/2, r = th2 - th1 to rows and columns of the nodes.
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

// Computes Z of the head of this file; XDm = psi^ Dm/L.
static inline void tangent_find_Z(const pcs_exact_state *state, const double m[3], const double y[3],
                                  const double XDm[9], double Z[9])
{
    const double *psi = state->psi, e = state->e, half = 0.5 * state->t;
    double a[3], b[3], c[3], XXDm[9];
    pcs_cross(psi, m, a);
    pcs_cross(psi, a, b);
    pcs_cross(y, psi, c);
    double e1 = tangent_slope_of_e(state), t1 = 0.5 * tangent_slope_of_t(state), along = e * pcs_dot3(psi, m);
    // psi^ m^ = m psi^T - psi . m I
    for (int k = 0; k < 3; k++) c[k] = e1 * b[k] + t1 * c[k] - e * m[k];
    for (int k = 0; k < 3; k++) a[k] = half * y[k] - e * a[k];
    tangent_hat(a, Z);
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

// Computes B = A psi^ and, with P = I + e psi^psi^, C = A P.
static inline void tangent_turn(const pcs_exact_state *state, const double A[9], double B[9], double C[9])
{
    double twice[9];
    tangent_times_hat(A, state->psi, B);
    tangent_times_hat(B, state->psi, twice);
    for (int k = 0; k < 9; k++) C[k] = A[k] + state->e * twice[k];
}

void pcs_exact_tangent(const pcs_exact_state *state, const pcs_exact_forces *forces, double beta,
                       const pcs_exact_rates *rates, double K[PCS_EXACT_NDOF * PCS_EXACT_NDOF])
{
    const pcs_exact_cell *cell = state->cell;
    const double *n = forces->n, *m = forces->m, *psi = state->psi, half = 0.5 * state->t;
    blocks b;
    double Q[9], H[9], HT[9], W[9], Z[9], A[9], B[9], y[3];
    tangent_times_hat(cell->Dn, state->g, Q);
    tangent_hat(n, A);
    tangent_add(-1.0, A, Q);
    tangent_hat_times(psi, cell->Dm, A);
    tangent_hat(m, W);
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
    tangent_transpose(b.at[U][S], b.at[S][U]);
    tangent_transpose(b.at[U][R], b.at[R][U]);

    tangent_transpose(Q, A);
    tangent_times_hat(A, state->g, H);
    for (int k = 0; k < 9; k++) H[k] *= cell->length;
    tangent_times_hat(H, psi, HT);
    for (int k = 0; k < 9; k++) HT[k] *= half;
    tangent_hat_times(psi, H, A);
    tangent_hat_times(psi, HT, B);
    tangent_turn(state, W, b.at[S][S], b.at[S][R]);
    tangent_turn(state, Z, b.at[R][S], b.at[R][R]);
    for (int k = 0; k < 9; k++) {
        b.at[S][S][k] += H[k];
        b.at[S][R][k] += HT[k];
        b.at[R][S][k] -= half * A[k];
        b.at[R][R][k] -= half * B[k];
    }
    if (rates != NULL) tangent_add_rate_change(state, beta, rates, &b);
    tangent_spread(&b, K);
    if (state->arc != NULL) tangent_leave_arc(state->arc, K);
}

void pcs_exact_viscosity(const pcs_exact_state *state, double beta, double C[PCS_EXACT_NDOF * PCS_EXACT_NDOF])
{
    const pcs_exact_cell *cell = state->cell;
    operators o;
    blocks b;
    double Bg[3][9], Bp[3][9] = { { 0 } };
    tangent_find_operators(state, &o);
    tangent_transpose(state->Rm, Bg[U]);
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
    tangent_spread(&b, C);
    if (state->arc != NULL) tangent_leave_arc(state->arc, C);
}
