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

void pcs_one_node_space(pcs_node_dofs *out)
{
    *out = (pcs_node_dofs){ .count = 6, .is_rotation = { false, false, false, true, true, true } };
    for (int k = 0; k < 3; k++) out->direction[k][k] = out->direction[3 + k][k] = 1.0;
}
