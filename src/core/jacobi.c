// Jacobi's rotations: slow and accurate.

#include "core/dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MAX_SWEEPS = 60 };

// Rotates rows and columns p < q so that A_pq vanishes.
static void jacobi_rotate(int n, double *A, double *V, int p, int q)
{
    double apq = A[p * n + q], theta = (A[q * n + q] - A[p * n + p]) / (2.0 * apq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1.0 / hypot(t, 1.0), s = t * c;
    for (int k = 0; k < n; k++) {
        double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
    }
    A[p * n + q] = A[q * n + p] = 0.0; // but for round-off, which beside a zero on the diagonal would never end
    for (int k = 0; k < n; k++) {
        double a = V[k * n + p], b = V[k * n + q];
        V[k * n + p] = c * a - s * b;
        V[k * n + q] = s * a + c * b;
    }
}

static void jacobi_sort(int n, double *w, double *V)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && w[k] < w[k - 1]; k--) {
            double keep = w[k];
            w[k] = w[k - 1];
            w[k - 1] = keep;
            for (int r = 0; r < n; r++) {
                keep = V[r * n + k];
                V[r * n + k] = V[r * n + k - 1];
                V[r * n + k - 1] = keep;
            }
        }
}

void pcs_jacobi(int n, double *A, double *w, double *V)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) V[i * n + j] = i == j ? 1.0 : 0.0;
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        bool is_diagonal = true;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (fabs(A[p * n + q]) <= DBL_EPSILON * sqrt(fabs(A[p * n + p] * A[q * n + q])) ||
                    fabs(A[p * n + q]) < DBL_MIN)
                    continue;
                is_diagonal = false;
                jacobi_rotate(n, A, V, p, q);
            }
        if (is_diagonal) break;
    }
    for (int i = 0; i < n; i++) w[i] = A[i * n + i];
    jacobi_sort(n, w, V);
}
