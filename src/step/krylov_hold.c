// What contacts hold of the bodies, for the preconditioners of krylov_set.h: gaps, velocities, and slip across its
// direction.

#include "step/krylov_set.h"

void pcs_krylov_set_find_ready(const pcs_krylov_set *c, pcs_preconditioner *pair[2])
{
    static const int stages[2] = { PCS_STAGE_GAP, PCS_STAGE_RATE };
    for (int law = 0; law < 2; law++) {
        pcs_preconditioner *pre = c->preconditioner[law];
        pair[law] = c->stage & stages[law] && pre != NULL && pre->is_factored ? pre : NULL;
    }
}

// A contact that slides in space gives way across its direction, and hardly holds along it.
static void hold_slip(const pcs_krylov_set *c, pcs_preconditioner *rates, int row, double stiff)
{
    const double *n = &c->slip[2 * row], turn = c->turn[row];
    int k = pcs_contact_tangent(&c->p, row, 0);
    pcs_preconditioner_hold(rates, k - c->p.m, (double[]){ -n[1], n[0] }, (1.0 - turn) / (turn * c->p.r[k]));
    pcs_preconditioner_hold(rates, k - c->p.m, n, stiff / c->p.r[k]);
}

static void hold_tangents(const pcs_krylov_set *c, pcs_preconditioner *rates, int row, double stiff)
{
    for (int t = 0; t < c->p.rows[row].ntangent; t++) {
        int k = pcs_contact_tangent(&c->p, row, t);
        if (!c->is_in[k]) continue;
        if (!pcs_preconditioner_slides(rates, k - c->p.m)) pcs_preconditioner_hold(rates, k - c->p.m, NULL, 0.0);
        else if (t == 0) hold_slip(c, rates, row, stiff);
    }
}

void pcs_krylov_set_hold(pcs_krylov_set *c, double stiff)
{
    pcs_preconditioner *pair[2];
    pcs_krylov_set_find_ready(c, pair);
    pcs_preconditioner *any = pair[0] != NULL ? pair[0] : pair[1];
    if (any == NULL || !any->coupling->follows) return;
    if (any->coupling->is_factored && c->held == c->stage) return;
    c->held = c->stage;
    pcs_coupling_release(any->coupling);
    for (int j = 0; j < c->p.m; j++) {
        bool has_gap = pair[0] != NULL && c->is_in[j], has_rate = pair[1] != NULL && c->is_in[c->p.m + j];
        if (has_gap || has_rate) pcs_preconditioner_hold(any, j, NULL, 0.0);
        if (pair[1] != NULL) hold_tangents(c, pair[1], j, stiff);
    }
    pcs_coupling_factor(any->coupling);
}
