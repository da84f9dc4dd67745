// Largest stable step of explicit schemes, from the cells: no mode of the model is faster than its fastest cell.
//
//   w^2 = largest eigenvalue of K_e x = w^2 M_e x,   xi = (alpha / w + beta w) / 2
//   h < (2 / w) (sqrt(1 + xi^2) - xi)
//
// Springs without mass add to w^2 and alpha of every cell (fe/springs.c). The state is that at rest; what bodies make
// of it that turn by finite angles is in fe/tumbling.c.

#include "fe/data.h"

#include <math.h>
#include <string.h>

enum { ENTRIES = PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS };

// w^2 of one cell; INFINITY when its mass matrix is singular.
static double stable_fastest(int n, const double *M, const double *K)
{
    double w[PCS_MAX_CELL_DOFS];
    return pcs_fe_cell_eigenvalues(n, K, M, w) ? w[n - 1] : INFINITY;
}

// Central differences; sqrt(1 + xi^2) - xi without cancellation.
static double stable_differences(const void *params, double w, double xi)
{
    (void)params;
    return 2.0 / w / (sqrt(1.0 + xi * xi) + xi);
}

double pcs_fe_mode_step(double w2, double alpha, double beta, const pcs_step_limit *limit)
{
    if (isinf(w2)) return 0.0;
    if (w2 <= 0.0 && alpha <= 0.0) return INFINITY;
    // Replaces w = 0 by a small w if only the mass is damped, so that xi stays finite.
    double w = w2 > 0.0 ? sqrt(w2) : 1e-6 * alpha, xi = 0.5 * (alpha / w + beta * w);
    return (limit->modes == NULL ? stable_differences : limit->modes)(limit->params, w, xi);
}

// Cells whose eigenproblem was solved last: equal ones are the rule, in a line all and in a lattice a few in turn.
enum { STABLE_RECENT = 16 };

typedef struct stable_recent {
    int count, oldest, last;
    double M[STABLE_RECENT][ENTRIES], K[STABLE_RECENT][ENTRIES];
} stable_recent;

// Has an equal cell been seen? If not, this one is from now on.
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

double pcs_fe_limited_step(const pcs_system *self, const pcs_step_limit *limit)
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
            ops->matrices(batch, c, M, K);
            if (stable_is_known(&recent, bytes, M, K) || pcs_fe_is_massless(ops->ndof, M)) continue;
            double w2 = stable_fastest(ops->ndof, M, K) + fe->spring_rate2;
            double alpha = batch->damping_mass + fe->spring_damping;
            step = fmin(step, pcs_fe_mode_step(w2, alpha, batch->damping_stiffness, limit));
        }
    }
    return self->layout == NULL ? step : -pcs_system_max(self, -step);
}

double pcs_fe_stable_step(const pcs_system *self)
{
    return pcs_fe_limited_step(self, &(pcs_step_limit){ 0 });
}

static void stable_add_travel(pcs_travel *travel, double time)
{
    travel->shortest = travel->count == 0 ? time : fmin(travel->shortest, time);
    travel->longest = fmax(travel->longest, time);
    travel->mean += (time - travel->mean) / ++travel->count;
}

void pcs_fe_find_travel(pcs_system *self)
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
