#include "core/dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// Jacobi's rotations are slow and accurate.

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
    A[p * n + q] = A[q * n + p] = 0.0; // round-off, which beside a zero on the diagonal would never vanish
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

static void dense_exchange_rows(int width, double *A, int i, int k)
{
    for (int j = 0; j < (i == k ? 0 : width); j++) {
        double keep = A[i * width + j];
        A[i * width + j] = A[k * width + j];
        A[k * width + j] = keep;
    }
}

// Computes x -= factor y for vectors of length `width`.
static void dense_subtract(int width, double factor, const double *y, double *x)
{
    for (int l = 0; l < width; l++) x[l] -= factor * y[l];
}

// Factors A = L U with row pivoting, in place, and solves L Y = X for all columns of X, whose rows have length `width`.
// `pivot` (unless NULL) gets the row exchanges. Returns false if a pivot is below `smallest` of its row.
static bool dense_eliminate(int n, double *A, int *pivot, double smallest, int width, double *X)
{
    bool is_regular = true;
    for (int k = 0; k < n; k++) {
        double *row = A + k * n, scale = 0.0;
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        dense_exchange_rows(n, A, k, best);
        dense_exchange_rows(width, X, k, best);
        // Left of the diagonal are the multipliers of earlier rows, which eliminated larger or equal entries.
        for (int j = k; j < n; j++) scale = fmax(scale, fabs(row[j]));
        for (int i = 0; i < k; i++) scale = fmax(scale, fabs(row[i] * A[i * n + i]));
        if (!(fabs(row[k]) > smallest * scale)) is_regular = false;
        if (pivot != NULL) pivot[k] = best;
        for (int i = k + 1; i < n; i++) {
            double factor = row[k] == 0.0 ? 0.0 : A[i * n + k] / row[k];
            A[i * n + k] = factor;
            if (factor == 0.0) continue;
            dense_subtract(n - k - 1, factor, row + k + 1, A + i * n + k + 1);
            dense_subtract(width, factor, X + k * width, X + i * width);
        }
    }
    return is_regular;
}

void pcs_dense_back(int n, const double *U, int width, double *X)
{
    for (int i = n - 1; i >= 0; i--) {
        double *x = X + i * width;
        for (int j = i + 1; j < n; j++) dense_subtract(width, U[i * n + j], X + j * width, x);
        for (int l = 0; l < width; l++) x[l] /= U[i * n + i];
    }
}

bool pcs_dense_solve(int n, double *A, double *b)
{
    return pcs_dense_solve_to(n, A, b, 1e-13);
}

bool pcs_dense_solve_to(int n, double *A, double *b, double smallest)
{
    if (!dense_eliminate(n, A, NULL, smallest, 1, b)) return false;
    pcs_dense_back(n, A, 1, b);
    return true;
}

bool pcs_dense_factor(int n, double *A, int *pivot)
{
    return dense_eliminate(n, A, pivot, 1e-13, 0, NULL);
}

bool pcs_dense_invert(int n, double *A, double *work)
{
    for (int i = 0; i < n * n; i++) work[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    if (!dense_eliminate(n, A, NULL, 0.0, n, work)) return false;
    pcs_dense_back(n, A, n, work);
    memcpy(A, work, (size_t)n * (size_t)n * sizeof *A);
    return true;
}
