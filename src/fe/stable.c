// Largest stable step of explicit schemes, from the cells: no mode of the model is faster than its fastest cell.
//
//   w^2 = largest eigenvalue of K_e x = w^2 M_e x,   xi = (alpha / w + beta w) / 2
//   h < (2 / w) (sqrt(1 + xi^2) - xi)
//
// The state is that at rest.
//
// Springs without mass add to w^2 and alpha of every cell.
// A cell with mass has M_e >= m_e D_e, D_e the diagonal of M_e and m_e the smallest eigenvalue of D_e^-1/2 M_e
// D_e^-1/2; so M >= D = sum m_e D_e, and for every x
//
//   x^T K x / x^T M x  <=  fastest cell with mass + largest eigenvalue of K_s x = r D x over the cells without mass,
//
// where a node that several such cells share gives each of them its part of D. Dampers count in the same way, and so do
// points of contacts with force laws.
//
// Largest step that the present state of bodies that turn by finite angles allows an explicit scheme.
//
// A body that tumbles in space has gyroscopic moments, whose motion an explicit rule lets grow by a power of its turn
// in a step, h |w| + h^2 |w'|/2: the scheme says how large that may be. Springs, bushings and mounts at points of
// bodies change their stiffness with the place of the point and with their force, so that of the present counts:
//
//   w^2 <= |D^-1/2 K(q, v) D^-1/2|,   2 xi w <= |D^-1/2 C(q, v) D^-1/2|    in the norm of Frobenius,
//
// D being the mass that a cell has to itself. Central differences keep v^2 + w^2 q^2 (1 - (w h)^2/4), so
// that the energy of an oscillation swings by a factor 1/(1 - (w h)^2/4): a share of the stable step bounds it.

#include "core/rotation.h"
#include "fe/data.h"

#include <math.h>
#include <string.h>

// Finds (LAPACK) the eigenvalues of A x = w B x, ascending, A symmetric and B positive definite; both are overwritten.
void dsygv_(const int *type, const char *job, const char *triangle, const int *n, double *A, const int *lda, double *B,
            const int *ldb, double *w, double *work, const int *lwork, int *info, size_t job_length,
            size_t triangle_length);

enum { ENTRIES = PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS };

static bool stable_is_massless(int n, const double *M)
{
    for (int i = 0; i < n * n; i++)
        if (M[i] != 0.0) return false;
    return true;
}

// Finds the eigenvalues of A x = w B x, ascending, A symmetric and B positive definite. Returns false on failure.
static bool stable_eigenvalues(int n, const double *A, const double *B, double w[PCS_MAX_CELL_DOFS])
{
    double a[ENTRIES], b[ENTRIES], work[8 * PCS_MAX_CELL_DOFS];
    size_t bytes = (size_t)(n * n) * sizeof(double);
    memcpy(a, A, bytes);
    memcpy(b, B, bytes);
    int type = 1, room = 8 * PCS_MAX_CELL_DOFS, info = 0;
    dsygv_(&type, "N", "U", &n, a, &n, b, &n, w, work, &room, &info, 1, 1);
    return info == 0;
}

// Returns the largest w^2 of one cell, 1/s^2; INFINITY if its mass matrix is singular.
static double stable_fastest(int n, const double *M, const double *K)
{
    double w[PCS_MAX_CELL_DOFS];
    return stable_eigenvalues(n, K, M, w) ? w[n - 1] : INFINITY;
}

// Returns the stable step of central differences, s; sqrt(1 + xi^2) - xi without cancellation.
static double stable_differences(const void *params, double w, double xi)
{
    (void)params;
    return 2.0 / w / (sqrt(1.0 + xi * xi) + xi);
}

// Returns the stable step, s, of one mode with frequency w and damping 2 xi w = alpha + beta w^2.
static double stable_mode_step(double w2, double alpha, double beta, const pcs_step_limit *limit)
{
    if (isinf(w2)) return 0.0;
    if (w2 <= 0.0 && alpha <= 0.0) return INFINITY;
    // Replaces w = 0 by a small w if only the mass is damped, so that xi stays finite.
    double w = w2 > 0.0 ? sqrt(w2) : 1e-6 * alpha, xi = 0.5 * (alpha / w + beta * w);
    return (limit->modes == NULL ? stable_differences : limit->modes)(limit->params, w, xi);
}

// Finds the smallest and largest eigenvalue of A x = w diag(d) x. Returns false on failure.
static bool springs_range(int n, const double *A, const double *d, double *low, double *high)
{
    double b[ENTRIES] = { 0 }, w[PCS_MAX_CELL_DOFS];
    for (int i = 0; i < n; i++) b[i * n + i] = d[i];
    bool is_found = stable_eigenvalues(n, A, b, w);
    *low = w[0];
    *high = w[n - 1];
    return is_found;
}

// Adds the cell's part of D, or counts it at the equations it shares with other cells without mass.
static void springs_add_cell(int n, const int *equation, const double *M, double *mass, int *share)
{
    double d[PCS_MAX_CELL_DOFS] = { 0 }, low, high; // compilers do not see that n > 0
    bool is_massless = stable_is_massless(n, M);
    for (int i = 0; i < n; i++) d[i] = M[i * n + i];
    bool is_sound = !is_massless && springs_range(n, M, d, &low, &high) && low > 0.0;
    for (int i = 0; i < n; i++) {
        if (equation[i] < 0) continue;
        if (is_massless) share[equation[i]]++;
        else if (is_sound) mass[equation[i]] += low * d[i];
    }
}

// Returns the largest eigenvalue of A over the free equations on which it acts.
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

// Visits all cells: the first pass sums the mass at every equation, the second bounds the springs.
static void springs_go_round(fe_data *fe, bool is_first, double *mass, int *share)
{
    double M[ENTRIES], K[ENTRIES], C[ENTRIES];
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        const pcs_element_ops *ops = pcs_fe_ops(fe, b);
        for (int c = 0; c < batch->ncell; c++) {
            const int *equation = batch->equation + (size_t)c * (size_t)ops->ndof;
            ops->matrices(batch, c, NULL, M, NULL, NULL);
            if (is_first) springs_add_cell(ops->ndof, equation, M, mass, share);
            if (is_first || !stable_is_massless(ops->ndof, M)) continue;
            ops->matrices(batch, c, pcs_stiffest, NULL, K, NULL);
            fe->spring_rate2 = fmax(fe->spring_rate2, springs_rate(ops->ndof, equation, K, mass, share));
            if (!ops->is_nonlinear && !ops->sees_velocity) continue;
            ops->matrices(batch, c, NULL, NULL, K, C);
            fe->spring_damping = fmax(fe->spring_damping, springs_rate(ops->ndof, equation, C, mass, share));
        }
    }
}

static bool springs_are_there(const fe_data *fe)
{
    double M[ENTRIES];
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_element_ops *ops = pcs_fe_ops(fe, b);
        if (fe->batches[b].ncell == 0) continue;
        ops->matrices(&fe->batches[b], 0, NULL, M, NULL, NULL);
        if (stable_is_massless(ops->ndof, M)) return true;
    }
    return false;
}

// Stores the share of mass that each massless cell has at an equation, for bodies that turn.
static pcs_status springs_keep(const pcs_system *self, fe_data *fe, const double *mass, const int *share)
{
    PCS_TAKE(self->ctx, fe->own_mass, self->nv, "bodies that turn");
    for (int i = 0; i < self->nv; i++) fe->own_mass[i] = mass[i] / (share[i] > 0 ? share[i] : 1);
    return PCS_OK;
}

static pcs_status springs_find(pcs_system *self, fe_data *fe)
{
    if (!fe->has_laws && !springs_are_there(self->data)) return PCS_OK;
    size_t n = (size_t)self->nv;
    double *mass = pcs_scratch(NULL, 3 * n, sizeof *mass);
    int *share = pcs_scratch(NULL, n, sizeof *share);
    bool is_out = mass == NULL || share == NULL;
    pcs_status status = PCS_OK;
    if (!is_out) {
        memset(mass, 0, 3 * n * sizeof *mass);
        memset(share, 0, n * sizeof *share);
        springs_go_round(fe, true, mass, share);
        pcs_fe_share_laws(self, mass + n, share);
        springs_go_round(fe, false, mass, share);
        pcs_fe_find_law_rates(self, fe, mass, share, mass + n);
        if (fe->has_tumbling) status = springs_keep(self, fe, mass, share);
    }
    pcs_scratch_free(mass);
    pcs_scratch_free(share);
    return is_out ? pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: springs of %d equations", self->nv) : status;
}

static const double share_of_stable = 0.2; // energies swing by 0.2^2

// Returns true if the cells act at points that rotate with their nodes.
static bool tumbling_has_points(const pcs_batch *batch, const pcs_element_ops *ops)
{
    const double none[3] = { 0 };
    double arm[2][3];
    return ops->is_nonlinear && ops->arms != NULL && ops->arms(batch->params, none, arm);
}

static void tumbling_find(fe_data *fe)
{
    for (int b = 0; b < fe->nbatch; b++)
        if (fe->batches[b].tumbles || tumbling_has_points(&fe->batches[b], pcs_fe_ops(fe, b))) fe->has_tumbling = true;
}

static double tumbling_size(const int *equation, const double *x)
{
    double w[3];
    for (int k = 0; k < 3; k++) w[k] = equation[k] < 0 ? 0.0 : x[equation[k]];
    return pcs_norm3(w);
}

// Returns the root h, s, of h |w| + h^2 |w'|/2 = turn, without cancellation.
static double tumbling_turn(const int *equation, const double *v, const pcs_step_limit *limit)
{
    double speed = tumbling_size(equation, v), gain = limit->a == NULL ? 0.0 : tumbling_size(equation, limit->a);
    return 2.0 * limit->turn / (speed + sqrt(speed * speed + 2.0 * gain * limit->turn));
}

static double tumbling_bodies(const pcs_batch *batch, int ndof, const double *v, const pcs_step_limit *limit)
{
    double step = INFINITY;
    for (int c = 0; c < batch->ncell && isfinite(limit->turn); c++)
        step = fmin(step, tumbling_turn(batch->equation + (ptrdiff_t)ndof * (c + 1) - 3, v, limit));
    return step;
}

// Returns |D^-1/2 A D^-1/2| over the free equations.
static double tumbling_norm(const fe_data *fe, int n, const int *equation, const double *A)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        if (equation[i] < 0) continue;
        for (int j = 0; j < n; j++) {
            if (equation[j] < 0 || A[i * n + j] == 0.0) continue;
            sum += A[i * n + j] * A[i * n + j] / (fe->own_mass[equation[i]] * fe->own_mass[equation[j]]);
        }
    }
    return sqrt(sum);
}

static double tumbling_cell(const fe_data *fe, int b, int c, const double *q, const double *v,
                            const pcs_step_limit *limit)
{
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    const int *equation = fe->batches[b].equation + (size_t)c * (size_t)ops->ndof;
    double K[ENTRIES], C[ENTRIES];
    ops->matrices(&fe->batches[b], c, &(pcs_cell_state){ .q = q, .v = v }, NULL, K, C);
    return share_of_stable * stable_mode_step(tumbling_norm(fe, ops->ndof, equation, K),
                                              tumbling_norm(fe, ops->ndof, equation, C), 0.0, limit);
}

static double tumbling_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit)
{
    const fe_data *fe = self->data;
    double step = INFINITY;
    if (!fe->has_tumbling) return step;
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        const pcs_element_ops *ops = pcs_fe_ops(fe, b);
        if (batch->tumbles) step = fmin(step, tumbling_bodies(batch, ops->ndof, v, limit));
        if (!tumbling_has_points(batch, ops)) continue;
        for (int c = 0; c < batch->ncell; c++) step = fmin(step, tumbling_cell(fe, b, c, q, v, limit));
    }
    return self->layout == NULL ? step : -pcs_system_max(self, -step);
}

bool pcs_fe_tumbles(const pcs_system *self)
{
    return ((const fe_data *)self->data)->has_tumbling;
}

// Limits the cells whose eigenproblem is remembered: in a line all cells are equal, in a lattice a few in turn.
enum { STABLE_RECENT = 16 };

typedef struct stable_recent {
    int count, oldest, last;
    double M[STABLE_RECENT][ENTRIES], K[STABLE_RECENT][ENTRIES];
} stable_recent;

// Returns true if an equal cell has been seen. Else remembers this one.
static bool stable_is_known(stable_recent *recent, size_t bytes, const double *M, const double *K)
{
    for (int i = 0; i < recent->count; i++) {
        int k = (recent->last + i) % recent->count;
        if (memcmp(M, recent->M[k], bytes) != 0 || memcmp(K, recent->K[k], bytes) != 0) continue;
        recent->last = k;
        return true;
    }
    int k = recent->count < STABLE_RECENT ? recent->count++ : recent->oldest++ % STABLE_RECENT;
    memcpy(recent->M[k], M, bytes);
    memcpy(recent->K[k], K, bytes);
    recent->last = k;
    return false;
}

static double stable_step(const pcs_system *self, const pcs_step_limit *limit)
{
    const fe_data *fe = self->data;
    double step = INFINITY, M[ENTRIES], K[ENTRIES];
    stable_recent recent;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        size_t bytes = (size_t)(ops->ndof * ops->ndof) * sizeof(double);
        recent.count = recent.oldest = recent.last = 0;
        for (int c = 0; c < batch->ncell; c++) {
            ops->matrices(batch, c, NULL, M, K, NULL);
            if (stable_is_known(&recent, bytes, M, K) || stable_is_massless(ops->ndof, M)) continue;
            double w2 = stable_fastest(ops->ndof, M, K) + fe->spring_rate2;
            double alpha = batch->damping_mass + fe->spring_damping;
            step = fmin(step, stable_mode_step(w2, alpha, batch->damping_stiffness, limit));
        }
    }
    return self->layout == NULL ? step : -pcs_system_max(self, -step);
}

double pcs_fe_stable_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit)
{
    return q == NULL ? stable_step(self, limit) : tumbling_step(self, q, v, limit);
}

static void stable_add_travel(pcs_travel *travel, double time)
{
    travel->shortest = travel->count == 0 ? time : fmin(travel->shortest, time);
    travel->longest = fmax(travel->longest, time);
    travel->mean += (time - travel->mean) / ++travel->count;
}

static void stable_find_travel(pcs_system *self)
{
    const fe_data *fe = self->data;
    for (int kind = 0; kind < PCS_WAVE_KINDS; kind++)
        for (int g = 0; g < fe->model.ngroup; g++) {
            const pcs_element_ops *ops = fe->model.groups[g].ops;
            if (ops->travel_time == NULL) continue;
            for (int c = 0; c < fe->batches[g].ncell; c++)
                stable_add_travel(&self->travel[kind],
                                  ops->travel_time(&fe->batches[g], c, kind == PCS_WAVE_TRANSVERSE));
        }
}

pcs_status pcs_fe_find_stable_step(pcs_system *self, fe_data *fe)
{
    tumbling_find(fe);
    PCS_TRY(springs_find(self, fe));
    fe->spring_rate2 = pcs_system_max(self, fe->spring_rate2);
    fe->spring_damping = pcs_system_max(self, fe->spring_damping);
    self->stable_step = stable_step(self, &(pcs_step_limit){ 0 });
    stable_find_travel(self);
    return PCS_OK;
}
