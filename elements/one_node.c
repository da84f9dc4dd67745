#include "elements/one_node.h"

#include <math.h>

pcs_status pcs_one_node_check(pcs_context *ctx, const pcs_batch *batch, int cell)
{
    for (int i = 0; i < 2; i++) {
        const double *x = batch->x[batch->nodes[batch->cells[cell]][i]];
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d is at (%g, %g, %g)", batch->name,
                            batch->cells[cell], x[0], x[1], x[2]);
    }
    return PCS_OK;
}

void pcs_inertia_tensor(const double inertia[3], const double products[3], double J[9])
{
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3;
        J[3 * k + k] = inertia[k];
        J[3 * k + next] = J[3 * next + k] = products[k];
    }
}

// Leading minors; one that is small against its diagonal entries is round-off.
pcs_status pcs_inertia_check(pcs_context *ctx, const pcs_batch *batch, int cell, const double J[9])
{
    double two = J[0] * J[4] - J[1] * J[3];
    double three =
        J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
    if (J[0] > 0.0 && two > 1e-12 * fabs(J[0] * J[4]) && three > 1e-12 * fabs(J[0] * J[4] * J[8])) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': cell %d: the inertia tensor with the diagonal [%g, %g, %g] and the products "
                    "[%g, %g, %g] is not positive definite",
                    batch->name, batch->cells[cell], J[0], J[4], J[8], J[1], J[5], J[2]);
}
