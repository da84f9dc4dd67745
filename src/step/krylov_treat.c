// Applies the preconditioners of a contact problem of many rows (krylov_set.h) to a residual: gaps, velocities, and
// slip across its direction. Passes the present sets on to them before.

#include "step/krylov_set.h"

// Compliance along the direction of slip in units of 1 / r, and the rotation factor below which slip is left free.
static const double stiff = 1e3, slow_turn = 1e-2;

// Finds the factored preconditioners of this stage, for gaps and for velocities; NULL if absent.
static void treat_find_ready(const pcs_krylov_set *c, pcs_preconditioner *pair[2])
{
    static const int stages[2] = { PCS_STAGE_GAP, PCS_STAGE_RATE };
    for (int law = 0; law < 2; law++) {
        pcs_preconditioner *pre = c->preconditioner[law];
        bool is_meant = c->stage & stages[law] && !(law == 0 && c->p.held != NULL); // those feel hardly more than M
        pair[law] = is_meant && pre != NULL && pre->is_factored ? pre : NULL;
    }
}

// Adds a contact that slides in space: compliant across its direction of slip, nearly free along it.
static void treat_hold_slip(const pcs_krylov_set *c, pcs_preconditioner *rates, int row)
{
    const double *n = &c->slip[2 * row], turn = c->turn[row];
    int k = pcs_contact_tangent(&c->p, row, 0);
    pcs_preconditioner_hold(rates, k - c->p.m, (double[]){ -n[1], n[0] }, (1.0 - turn) / (turn * c->p.r[k]));
    pcs_preconditioner_hold(rates, k - c->p.m, n, stiff / c->p.r[k]);
}

static void treat_hold_tangents(const pcs_krylov_set *c, pcs_preconditioner *rates, int row)
{
    for (int t = 0; t < c->p.rows[row].ntangent; t++) {
        int k = pcs_contact_tangent(&c->p, row, t);
        if (!c->is_in[k]) continue;
        if (!pcs_preconditioner_slides(rates, k - c->p.m)) pcs_preconditioner_hold(rates, k - c->p.m, NULL, 0.0);
        else if (t == 0) treat_hold_slip(c, rates, row);
    }
}

// Adds the rows of the present sets to H and factors the coupling, unless that is done for this stage.
static void treat_hold(pcs_krylov_set *c)
{
    pcs_preconditioner *pair[2];
    treat_find_ready(c, pair);
    pcs_preconditioner *any = pair[0] != NULL ? pair[0] : pair[1];
    if (any == NULL || !any->coupling->follows) return;
    if (any->coupling->is_factored && c->held == c->stage) return;
    c->held = c->stage;
    pcs_coupling_release(any->coupling);
    for (int j = 0; j < c->p.m; j++) {
        bool has_gap = pair[0] != NULL && c->is_in[j], has_rate = pair[1] != NULL && c->is_in[c->p.m + j];
        if (has_gap || has_rate) pcs_preconditioner_hold(any, j, NULL, 0.0);
        if (pair[1] != NULL) treat_hold_tangents(c, pair[1], j);
    }
    pcs_coupling_factor(any->coupling);
}

// Adds the compliance of a contact that slides in space, by the equation of slip, (1 - turn)/(turn r) Lt + xt across
// its direction: the slower the stiffer. Along it the normal impulse determines friction.
static void treat_hold_across(pcs_krylov_set *c, pcs_preconditioner *pre, int row)
{
    const double *n = &c->slip[2 * row], turn = c->turn[row];
    int k = pcs_contact_tangent(&c->p, row, 0), i = k - c->p.m;
    double across = (1.0 - turn) / (turn * c->p.r[k]), along = stiff / c->p.r[k];
    pcs_preconditioner_add(pre, i, i, across * n[1] * n[1] + along * n[0] * n[0]);
    pcs_preconditioner_add(pre, i + 1, i + 1, across * n[0] * n[0] + along * n[1] * n[1]);
    pcs_preconditioner_add(pre, i, i + 1, (along - across) * n[0] * n[1]);
    pcs_preconditioner_add(pre, i + 1, i, (along - across) * n[0] * n[1]);
}

// Returns true if the preconditioners include unknown k.
static bool treat_is_near(const pcs_krylov_set *c, int row, int k)
{
    return c->mode[k] == PCS_MODE_HELD || (c->mode[k] == PCS_MODE_SLIDING && c->turn[row] > slow_turn);
}

// Raises the diagonals of bilateral rows in the preconditioner as in the system.
static void treat_raise(const pcs_krylov_set *c, pcs_preconditioner *pre, int first)
{
    if (c->shared == 0.0) return;
    for (int j = 0; j < c->p.m; j++)
        if (c->p.rows[j].is_bilateral && c->is_in[first + j])
            pcs_preconditioner_add(pre, j, j, c->shared / c->p.r[first + j]);
}

// Prepares the preconditioner of the velocities for the present sets and directions of slip.
static void treat_choose_rates(pcs_krylov_set *c, pcs_preconditioner *pre)
{
    bool is_same = true, turns = false;
    for (int j = 0; j < c->p.m; j++)
        for (int t = -1; t < c->p.rows[j].ntangent; t++) {
            int k = t < 0 ? c->p.m + j : pcs_contact_tangent(&c->p, j, t);
            bool is_in = treat_is_near(c, j, k);
            is_same = is_same && c->is_in[k] == is_in;
            turns = turns || (is_in && c->mode[k] == PCS_MODE_SLIDING);
            c->is_in[k] = is_in;
        }
    // A factor that knows directions of slip is not that of the same sets without.
    if (is_same && !turns && !c->has_turns && pre->is_factored) return;
    c->has_turns = turns;
    pcs_preconditioner_choose(pre, c->is_in + c->p.m);
    treat_raise(c, pre, c->p.m);
    if (turns)
        for (int j = 0; j < c->p.m; j++) {
            int k = pcs_contact_tangent(&c->p, j, 0);
            if (c->p.rows[j].ntangent == 2 && c->mode[k] == PCS_MODE_SLIDING && c->is_in[k])
                treat_hold_across(c, pre, j);
        }
    pcs_preconditioner_factor(pre);
}

static void treat_choose_gaps(pcs_krylov_set *c, pcs_preconditioner *pre)
{
    bool is_same = true;
    for (int j = 0; j < c->p.m; j++) {
        is_same = is_same && c->is_in[j] == (c->mode[j] == PCS_MODE_HELD);
        c->is_in[j] = c->mode[j] == PCS_MODE_HELD;
    }
    if (is_same && pre->is_factored) return;
    pcs_preconditioner_choose(pre, c->is_in);
    treat_raise(c, pre, 0);
    pcs_preconditioner_factor(pre);
}

void pcs_krylov_set_prepare(pcs_krylov_set *c)
{
    if (c->stage & PCS_STAGE_GAP && c->preconditioner[0] != NULL && c->p.held == NULL)
        treat_choose_gaps(c, c->preconditioner[0]);
    if (c->stage & PCS_STAGE_RATE && c->preconditioner[1] != NULL) treat_choose_rates(c, c->preconditioner[1]);
    treat_hold(c);
}

// Sets x for a sliding row: the solution y of the preconditioner across the direction of slip, masses along it.
static void treat_slip(const pcs_krylov_set *c, int row, const double *r, const double *y, double *x)
{
    const double *n = &c->slip[2 * row];
    double part[2] = { 0 }, along = 0.0;
    int count = c->p.rows[row].ntangent, k = pcs_contact_tangent(&c->p, row, 0);
    for (int t = 0; t < count; t++) along += r[k + t] * n[t];
    if (y != NULL && c->is_in[k])
        for (int t = 0; t < count; t++) part[t] = y[t];
    double across = part[0] * -n[1] + part[1] * n[0];
    for (int t = 0; t < count; t++) {
        double rest = c->p.r[k] * (r[k + t] - along * n[t]);
        if (c->is_in[k] && y != NULL) rest = across * (t == 0 ? -n[1] : n[0]);
        x[k + t] = rest + n[t] * (c->p.r[k] * along + c->p.rows[row].friction * x[c->p.m + row]);
    }
}

// Fills the right-hand side of a sliding row: its equation across the direction of slip, divided by `turn`.
static void treat_aim_slip(const pcs_krylov_set *c, int row, const double *r, double *y)
{
    const double *n = &c->slip[2 * row];
    int k = pcs_contact_tangent(&c->p, row, 0);
    double across = (r[k + 1] * n[0] - r[k] * n[1]) / c->turn[row];
    y[0] = -n[1] * across;
    y[1] = n[0] * across;
}

// Applies x = D r: the preconditioners on held rows, masses elsewhere; friction of sliding rows follows the normal.
void pcs_krylov_set_treat(void *owner, const double *r, double *x)
{
    pcs_krylov_set *c = owner;
    bool has_rates = c->stage & PCS_STAGE_RATE;
    pcs_preconditioner *pair[2];
    treat_find_ready(c, pair);
    const pcs_preconditioner *gaps = pair[0], *rates = pair[1];
    int m = c->p.m, known = 2 * m + c->p.nt;
    for (int k = 0; k < c->p.n; k++) x[k] = c->aim[k] = 0.0;
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) {
        bool is_near = k < known && c->is_in[k] && (k < m ? gaps : rates) != NULL;
        if (c->mode[k] != PCS_MODE_HELD) continue;
        if (is_near) c->aim[k] = r[k];
        else x[k] = c->p.r[k] * r[k];
    }
    if (rates != NULL)
        for (int j = 0; j < m; j++) {
            int k = pcs_contact_tangent(&c->p, j, 0);
            if (c->p.rows[j].ntangent == 2 && c->mode[k] == PCS_MODE_SLIDING && c->is_in[k])
                treat_aim_slip(c, j, r, &c->aim[k]);
        }
    pcs_preconditioner_solve(pair, (double *[2]){ c->aim, c->aim + m });
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c) && k < known; k++)
        if (c->mode[k] == PCS_MODE_HELD && c->is_in[k] && (k < m ? gaps : rates) != NULL) x[k] = c->aim[k];
    if (has_rates)
        for (int j = 0; j < m; j++) {
            int k = pcs_contact_tangent(&c->p, j, 0);
            if (c->p.rows[j].ntangent > 0 && c->mode[k] >= PCS_MODE_SLIDING)
                treat_slip(c, j, r, rates == NULL ? NULL : &c->aim[k], x);
        }
}
