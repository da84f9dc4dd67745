// Largest step that the present state of bodies that turn by finite angles allows an explicit scheme.
//
// A body that tumbles in space has gyroscopic moments, whose motion an explicit rule lets grow by a power of its turn
// in a step, h |w| + h^2 |w'|/2: the scheme says how large that may be. Springs, bushings and mounts at points of
// bodies change their stiffness with the place of the point and with their force, so that of the present counts:
//
//   w^2 <= |D^-1/2 K(q, v) D^-1/2|,   2 xi w <= |D^-1/2 C(q, v) D^-1/2|    in the norm of Frobenius,
//
// D being the mass that a cell has to itself (fe/springs.c). Central differences keep v^2 + w^2 q^2 (1 - (w h)^2/4), so
// that the energy of an oscillation swings by a factor 1/(1 - (w h)^2/4): a share of the stable step bounds it.

#include "core/rotation.h"
#include "fe/data.h"

#include <math.h>

enum { ENTRIES = PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS };

static const double share_of_stable = 0.2; // energies swing by 0.2^2

// Do the cells act at points that turn with their nodes?
static bool tumbling_has_points(const pcs_batch *batch, const pcs_element_ops *ops)
{
    const double none[3] = { 0 };
    double arm[2][3];
    return ops->stiffest != NULL && ops->arms != NULL && ops->arms(batch->params, none, arm);
}

void pcs_fe_find_tumbling(fe_data *fe)
{
    for (int b = 0; b < fe->nbatch; b++)
        if (pcs_fe_ops(fe, b)->tumbles || tumbling_has_points(&fe->batches[b], pcs_fe_ops(fe, b)))
            fe->has_tumbling = true;
}

static double tumbling_size(const int *equation, const double *x)
{
    double w[3];
    for (int k = 0; k < 3; k++) w[k] = equation[k] < 0 ? 0.0 : x[equation[k]];
    return pcs_norm3(w);
}

// The root of h |w| + h^2 |w'|/2 = turn, without cancellation.
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

// |D^-1/2 A D^-1/2| over the equations that move.
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
    ops->tangents(&fe->batches[b], c, q, v, K, C);
    return share_of_stable * pcs_fe_mode_step(tumbling_norm(fe, ops->ndof, equation, K),
                                              tumbling_norm(fe, ops->ndof, equation, C), 0.0, limit);
}

double pcs_fe_present_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit)
{
    const fe_data *fe = self->data;
    double step = INFINITY;
    if (!fe->has_tumbling) return step;
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        const pcs_element_ops *ops = pcs_fe_ops(fe, b);
        if (ops->tumbles) step = fmin(step, tumbling_bodies(batch, ops->ndof, v, limit));
        if (!tumbling_has_points(batch, ops)) continue;
        for (int c = 0; c < batch->ncell; c++) step = fmin(step, tumbling_cell(fe, b, c, q, v, limit));
    }
    return self->layout == NULL ? step : -pcs_system_max(self, -step);
}

bool pcs_fe_tumbles(const pcs_system *self)
{
    return ((const fe_data *)self->data)->has_tumbling;
}
