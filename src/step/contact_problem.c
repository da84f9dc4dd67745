#include "step/contact_problem.h"

pcs_status pcs_contact_problem_create(pcs_context *ctx, const pcs_row *rows, int m, int nt, int n,
                                      pcs_contact_problem *out)
{
    *out = (pcs_contact_problem){ .m = m, .nt = nt, .n = n, .rows = rows };
    double **vectors[] = { &out->b, &out->z, &out->value, &out->r };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], n, "the contact problem");
    PCS_TAKE(ctx, out->b_gate, m, "the contact problem");
    PCS_TAKE(ctx, out->gate_gap, m, "the contact problem");
    PCS_TAKE(ctx, out->gate, m, "the contact problem");
    return PCS_OK;
}
