// Largest stable step of explicit schemes on a linear closed-form system: 2 / omega, with omega^2 the largest
// eigenvalue of M^-1 K, found by Jacobi rotations on L^-1 K L^-T, M = L L^T.

#include "closed_form/closed_form.h"

#include <math.h>

enum { N = PCS_MAX_COORDINATES, SWEEPS = 30 };

// A = L^-1 K L^-T
static void stable_reduce(const pcs_system *self, double A[N][N])
{
    double L[N][N];
    int n = self->nv;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = self->M->value[i * n + j];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i][j] = self->K->value[j * n + i];
    for (int side = 0; side < 2; side++)
        for (int c = 0; c < n; c++)
            for (int i = 0; i < n; i++) {
                double *x = side == 0 ? &A[i][c] : &A[c][i];
                for (int k = 0; k < i; k++) *x -= L[i][k] * (side == 0 ? A[k][c] : A[c][k]);
                *x /= L[i][i];
            }
}

// Turns the plane of p and q so that A[p][q] vanishes.
static void stable_rotate(double A[N][N], int n, int p, int q)
{
    double angle = 0.5 * atan2(2.0 * A[p][q], A[q][q] - A[p][p]), c = cos(angle), s = sin(angle);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < n; k++) {
            double *x = side == 0 ? &A[k][p] : &A[p][k], *y = side == 0 ? &A[k][q] : &A[q][k], keep = *x;
            *x = c * keep - s * *y;
            *y = s * keep + c * *y;
        }
}

double pcs_closed_form_stable_step(const pcs_system *self)
{
    double A[N][N], largest = 0.0;
    stable_reduce(self, A);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < self->nv; p++)
            for (int q = p + 1; q < self->nv; q++) stable_rotate(A, self->nv, p, q);
    for (int i = 0; i < self->nv; i++) largest = fmax(largest, A[i][i]);
    return largest > 0.0 ? 2.0 / sqrt(largest) : INFINITY;
}
