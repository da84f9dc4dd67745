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

void pcs_contact_even_out(pcs_contact_problem *p)
{
    for (int j = 0; j < p->m; j++) {
        int count = p->rows[j].ntangent, k = pcs_contact_tangent(p, j, 0);
        double mass = INFINITY;
        for (int t = 0; t < count; t++)
            if (p->r[k + t] > 0.0) mass = fmin(mass, p->r[k + t]);
        for (int t = 0; t < count; t++) p->r[k + t] = isfinite(mass) ? mass : p->r[p->m + j];
    }
    for (int t = 0; t < p->nheld_t; t++) p->r[p->n - p->nheld_t + t] = p->r[2 * p->m + t];
}

void pcs_contact_put_on_discs(pcs_contact_problem *p)
{
    for (int j = 0; j < p->m; j++) {
        const pcs_row *row = &p->rows[j];
        if (row->ntangent == 0) continue;
        int k = pcs_contact_tangent(p, j, 0);
        double y[2] = { 0.0 }, length = pcs_contact_trial(p, j, y), limit = row->friction * fmax(p->z[p->m + j], 0.0);
        if (!(length > limit)) { // it sticks
            for (int t = 0; t < row->ntangent; t++) y[t] = p->z[k + t];
            length = hypot(y[0], y[1]);
        }
        if (length > limit)
            for (int t = 0; t < row->ntangent; t++) p->z[k + t] = limit * (y[t] / length);
    }
}
