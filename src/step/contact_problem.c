#include "step/contact_problem.h"

pcs_status pcs_contact_problem_create(pcs_context *ctx, const pcs_row *rows, int m, int nt, int n,
                                      pcs_contact_problem *out)
{
    *out = (pcs_contact_problem){ .m = m, .nt = nt, .n = n, .rows = rows };
    PCS_TAKE_EACH(ctx, n, "the contact problem", double, &out->b, &out->z, &out->value, &out->r);
    PCS_TAKE(ctx, out->b_gate, m, "the contact problem");
    PCS_TAKE(ctx, out->gate_gap, m, "the contact problem");
    PCS_TAKE(ctx, out->gate, m, "the contact problem");
    return PCS_OK;
}

// Takes the radius of the disc from the trial normal impulse, so that closing contacts may stick.
bool pcs_contact_set_tangents(const pcs_contact_problem *p, unsigned char *mode, int row, bool is_closed, double slack)
{
    const pcs_row *r = &p->rows[row];
    if (r->ntangent == 0) return false;
    int k = pcs_contact_tangent(p, row, 0), la = p->m + row;
    double y[2], limit = r->friction * fmax(p->z[la] - p->r[la] * p->value[la], 0.0),
                 length = pcs_contact_trial(p, row, y);
    double band = slack * p->r[k], edge = limit + (mode[k] == PCS_MODE_HELD ? band : -band);
    unsigned char now = length <= edge ? PCS_MODE_HELD : PCS_MODE_SLIDING, before = mode[k];
    if (!is_closed || r->friction == 0.0) now = PCS_MODE_OUT;
    // In the plane there are two directions of slip, and a reversal changes the mode.
    if (now == PCS_MODE_SLIDING && r->ntangent == 1) {
        bool is_undecided = fabs(y[0]) <= band && before > PCS_MODE_SLIDING;
        now = y[0] > 0.0 ? PCS_MODE_SLIDING_UP : PCS_MODE_SLIDING_DOWN;
        if (is_undecided) now = before;
    }
    for (int t = 0; t < r->ntangent; t++) mode[k + t] = now;
    return now != before;
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
        if (!(length > limit)) { // sticks
            for (int t = 0; t < row->ntangent; t++) y[t] = p->z[k + t];
            length = hypot(y[0], y[1]);
        }
        if (length > limit)
            for (int t = 0; t < row->ntangent; t++) p->z[k + t] = limit * (y[t] / length);
    }
}
