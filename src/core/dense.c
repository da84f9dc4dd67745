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

static void dense_exchange_rows(int n, double *A, int i, int k)
{
    for (int j = 0; j < n; j++) {
        double keep = A[i * n + j];
        A[i * n + j] = A[k * n + j];
        A[k * n + j] = keep;
    }
}

// Solves two equations by the same operations as many, for the same bits.
static bool dense_solve_two(const double A[4], double b[2], double smallest)
{
    int first = fabs(A[2]) > fabs(A[0]) ? 1 : 0;
    const double *p = A + 2 * first, *r = A + 2 * (1 - first);
    double factor = r[0] / p[0], pivot = factor == 0.0 ? r[1] : r[1] - factor * p[1], top = b[first];
    if (!(fabs(p[0]) > smallest * fmax(fabs(p[1]), fabs(p[0])))) return false;
    if (!(fabs(pivot) > smallest * fmax(fabs(r[0]), fabs(pivot)))) return false;
    b[1] = (b[1 - first] - factor * top) / pivot;
    b[0] = (top - p[1] * b[1]) / p[0];
    return true;
}

bool pcs_dense_solve(int n, double *A, double *b)
{
    return pcs_dense_solve_to(n, A, b, 1e-13);
}

bool pcs_dense_solve_to(int n, double *A, double *b, double smallest)
{
    if (n == 2) return dense_solve_two(A, b, smallest);
    for (int k = 0; k < n; k++) {
        int pivot = k;
        double size = 0.0;
        for (int i = k; i < n; i++)
            if (fabs(A[i * n + k]) > size) {
                size = fabs(A[i * n + k]);
                pivot = i;
            }
        double scale = 0.0;
        for (int j = 0; j < n; j++)
            if (fabs(A[pivot * n + j]) > scale) scale = fabs(A[pivot * n + j]);
        if (!(size > smallest * scale)) return false;
        if (pivot != k) dense_exchange_rows(n, A, k, pivot);
        double keep = b[k];
        b[k] = b[pivot];
        b[pivot] = keep;
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            b[i] -= factor * b[k];
            if (factor == 0.0) continue;
            for (int j = k + 1; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }
    return true;
}

bool pcs_dense_factor(int n, double *A, int *pivot)
{
    bool is_regular = true;
    for (int k = 0; k < n; k++) {
        double size = 0.0, scale = 0.0;
        pivot[k] = k;
        for (int i = k; i < n; i++) {
            if (fabs(A[i * n + k]) <= size) continue;
            size = fabs(A[i * n + k]);
            pivot[k] = i;
        }
        // Left of the diagonal are the multipliers of earlier rows, which eliminated larger or equal entries.
        for (int j = k; j < n; j++) scale = fmax(scale, fabs(A[pivot[k] * n + j]));
        for (int i = 0; i < k; i++) scale = fmax(scale, fabs(A[pivot[k] * n + i] * A[i * n + k]));
        if (!(size > 1e-13 * scale)) is_regular = false;
        if (pivot[k] != k) dense_exchange_rows(n, A, k, pivot[k]);
        for (int i = k + 1; i < n; i++) {
            double factor = size > 0.0 ? A[i * n + k] / A[k * n + k] : 0.0;
            A[i * n + k] = factor;
            if (factor == 0.0) continue;
            for (int j = k + 1; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
        }
    }
    return is_regular;
}

bool pcs_dense_invert(int n, double *A, double *work)
{
    double *B = work;
    for (int i = 0; i < n * n; i++) B[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[pivot * n + k])) pivot = i;
        if (!(fabs(A[pivot * n + k]) > 0.0)) return false;
        dense_exchange_rows(n, A, k, pivot);
        dense_exchange_rows(n, B, k, pivot);
        double scale = 1.0 / A[k * n + k];
        for (int j = 0; j < n; j++) {
            A[k * n + j] *= scale;
            B[k * n + j] *= scale;
        }
        for (int i = 0; i < n; i++) {
            double factor = A[i * n + k];
            if (i == k) continue;
            for (int j = 0; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
                B[i * n + j] -= factor * B[k * n + j];
            }
        }
    }
    memcpy(A, B, (size_t)n * (size_t)n * sizeof *A);
    return true;
}
