// Bounds the highest frequency of a model with massless springs and dampers, for its stable step.
//
// A cell with mass has M_e >= m_e D_e, D_e the diagonal of M_e and m_e the smallest eigenvalue of D_e^-1/2 M_e
// D_e^-1/2; so M >= D = sum m_e D_e, and for every x
//
//   x^T K x / x^T M x  <=  fastest cell with mass + largest eigenvalue of K_s x = r D x over the cells without mass,
//
// where a node that several such cells share gives each of them its part of D. Dampers count in the same way, and so do
// points of contacts with force laws.

#include "fe/data.h"

#include <math.h>
#include <string.h>

// LAPACK: eigenvalues of A x = w B x, ascending, A symmetric and B positive definite; both are overwritten.
void dsygv_(const int *type, const char *job, const char *triangle, const int *n, double *A, const int *lda, double *B,
            const int *ldb, double *w, double *work, const int *lwork, int *info, size_t job_length,
            size_t triangle_length);

enum { ENTRIES = PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS };

bool pcs_fe_is_massless(int n, const double *M)
{
    for (int i = 0; i < n * n; i++)
        if (M[i] != 0.0) return false;
    return true;
}

bool pcs_fe_cell_eigenvalues(int n, const double *A, const double *B, double w[PCS_MAX_CELL_DOFS])
{
    double a[ENTRIES], b[ENTRIES], work[8 * PCS_MAX_CELL_DOFS];
    size_t bytes = (size_t)(n * n) * sizeof(double);
    memcpy(a, A, bytes);
    memcpy(b, B, bytes);
    int type = 1, room = 8 * PCS_MAX_CELL_DOFS, info = 0;
    dsygv_(&type, "N", "U", &n, a, &n, b, &n, w, work, &room, &info, 1, 1);
    return info == 0;
}

// Smallest and largest eigenvalue of A x = w diag(d) x; false when they cannot be found.
static bool springs_range(int n, const double *A, const double *d, double *low, double *high)
{
    double b[ENTRIES] = { 0 }, w[PCS_MAX_CELL_DOFS];
    for (int i = 0; i < n; i++) b[i * n + i] = d[i];
    bool is_found = pcs_fe_cell_eigenvalues(n, A, b, w);
    *low = w[0];
    *high = w[n - 1];
    return is_found;
}

// Adds the cell's part of D, or counts it at the equations it shares with other cells without mass.
static void springs_add_cell(int n, const int *equation, const double *M, double *mass, int *share)
{
    double d[PCS_MAX_CELL_DOFS] = { 0 }, low, high; // compilers do not see that n > 0
    bool is_massless = pcs_fe_is_massless(n, M);
    for (int i = 0; i < n; i++) d[i] = M[i * n + i];
    bool is_sound = !is_massless && springs_range(n, M, d, &low, &high) && low > 0.0;
    for (int i = 0; i < n; i++) {
        if (equation[i] < 0) continue;
        if (is_massless) share[equation[i]]++;
        else if (is_sound) mass[equation[i]] += low * d[i];
    }
}

// Largest eigenvalue of A over the equations that are free and that it acts on.
static double springs_rate(int n, const int *equation, const double *A, const double *mass, const int *share)
{
    int place[PCS_MAX_CELL_DOFS], count = 0;
    double a[ENTRIES], d[PCS_MAX_CELL_DOFS], low, high;
    for (int i = 0; i < n; i++)
        if (equation[i] >= 0 && A[i * n + i] != 0.0) place[count++] = i;
    if (count == 0) return 0.0;
    for (int i = 0; i < count; i++) {
        int e = equation[place[i]];
        d[i] = mass[e] / share[e];
        for (int j = 0; j < count; j++) a[i * count + j] = A[place[i] * n + place[j]];
    }
    return springs_range(count, a, d, &low, &high) ? fmax(high, 0.0) : INFINITY;
}

// One round over all cells: first the mass at every equation, then the springs. `zero` is a state at rest.
static void springs_go_round(fe_data *fe, bool is_first, double *mass, int *share, const double *zero)
{
    double M[ENTRIES], K[ENTRIES], C[ENTRIES];
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        const pcs_element_ops *ops = pcs_fe_ops(fe, b);
        for (int c = 0; c < batch->ncell; c++) {
            const int *equation = batch->equation + (size_t)c * (size_t)ops->ndof;
            ops->matrices(batch, c, M, K);
            if (is_first) springs_add_cell(ops->ndof, equation, M, mass, share);
            if (is_first || !pcs_fe_is_massless(ops->ndof, M)) continue;
            if (ops->stiffest != NULL) ops->stiffest(batch, c, K);
            fe->spring_rate2 = fmax(fe->spring_rate2, springs_rate(ops->ndof, equation, K, mass, share));
            if (!ops->is_nonlinear && !ops->sees_velocity) continue;
            ops->tangents(batch, c, zero, zero, K, C);
            fe->spring_damping = fmax(fe->spring_damping, springs_rate(ops->ndof, equation, C, mass, share));
        }
    }
}

static bool springs_are_there(const fe_data *fe)
{
    double M[ENTRIES], K[ENTRIES];
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_element_ops *ops = pcs_fe_ops(fe, b);
        if (fe->batches[b].ncell == 0) continue;
        ops->matrices(&fe->batches[b], 0, M, K);
        if (pcs_fe_is_massless(ops->ndof, M)) return true;
    }
    return false;
}

// For bodies that turn (fe/tumbling.c).
static pcs_status springs_keep(const pcs_system *self, fe_data *fe, const double *mass, const int *share)
{
    PCS_TAKE(self->ctx, fe->own_mass, self->nv, "bodies that turn");
    for (int i = 0; i < self->nv; i++) fe->own_mass[i] = mass[i] / (share[i] > 0 ? share[i] : 1);
    return PCS_OK;
}

static pcs_status springs_find(pcs_system *self, fe_data *fe)
{
    if (fe->laws == NULL && !springs_are_there(self->data)) return PCS_OK;
    size_t n = (size_t)self->nv;
    double *mass = pcs_scratch(NULL, 3 * n, sizeof *mass);
    int *share = pcs_scratch(NULL, n, sizeof *share);
    bool is_out = mass == NULL || share == NULL;
    pcs_status status = PCS_OK;
    if (!is_out) {
        memset(mass, 0, 3 * n * sizeof *mass);
        memset(share, 0, n * sizeof *share);
        springs_go_round(fe, true, mass, share, mass + n);
        pcs_fe_share_laws(self, mass + n, share);
        springs_go_round(fe, false, mass, share, mass + n);
        pcs_fe_find_law_rates(self, fe, mass, share, mass + n);
        if (fe->has_tumbling) status = springs_keep(self, fe, mass, share);
    }
    pcs_scratch_free(mass);
    pcs_scratch_free(share);
    return is_out ? pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: springs of %d equations", self->nv) : status;
}

pcs_status pcs_fe_find_springs(pcs_system *self, fe_data *fe)
{
    PCS_TRY(springs_find(self, fe));
    fe->spring_rate2 = pcs_system_max(self, fe->spring_rate2);
    fe->spring_damping = pcs_system_max(self, fe->spring_damping);
    return PCS_OK;
}
