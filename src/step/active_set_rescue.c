// The ways out when the sets of the semi-smooth Newton method cycle or contradict each other, in the order of their
// cost: all cases where they are few, the method of many contacts, projected Gauss-Seidel sweeps.

#include "core/rounding.h"
#include "step/active_set.h"

#include <math.h>
#include <string.h>

enum { OUT = PCS_MODE_OUT, HELD = PCS_MODE_HELD };
enum { SWEEP_LIMIT = 2000, MOST_CASES = 4096 };
static const double accepted = 1e-9; // of the largest velocity: laws are broken by more

static bool rescue_rubs(const pcs_row *r)
{
    return r->ntangent > 0 && r->friction > 0.0;
}

// The sets of case `code`: every gated row is open, sticks or slides either way.
static void rescue_take_case(pcs_active_set *s, long code)
{
    static const unsigned char tangent_mode[] = { OUT, HELD, PCS_MODE_SLIDING_UP, PCS_MODE_SLIDING_DOWN };
    memset(s->mode, OUT, (size_t)s->n);
    for (int j = 0; j < s->m; j++) {
        int choices = rescue_rubs(&s->rows[j]) ? 4 : 2;
        if (!s->gate[j]) continue;
        int choice = (int)(code % choices);
        code /= choices;
        if (choice == 0) continue;
        s->mode[s->m + j] = HELD;
        if (choices == 4) s->mode[pcs_active_set_tangent(s, j, 0)] = tangent_mode[choice];
    }
}

// Does z satisfy the law of row j in its case?
static bool rescue_is_admissible(const pcs_active_set *s, int j)
{
    const pcs_row *r = &s->rows[j];
    int la = s->m + j;
    double allowed = pcs_active_set_allowance(s, la, accepted);
    if (s->mode[la] == HELD ? s->z[la] < -allowed * s->r[la] : s->gate[j] && s->value[la] < -allowed) return false;
    if (r->ntangent == 0) return true;
    int k = pcs_active_set_tangent(s, j, 0);
    allowed = pcs_active_set_allowance(s, k, accepted);
    switch (s->mode[k]) {
    case HELD: return fabs(s->z[k]) <= r->friction * s->z[la] + allowed * s->r[k];
    case PCS_MODE_SLIDING_UP: return s->value[k] <= allowed;
    case PCS_MODE_SLIDING_DOWN: return s->value[k] >= -allowed;
    default: return true;
    }
}

static bool rescue_case_holds(const pcs_active_set *s)
{
    if (!pcs_active_set_is_solved(s, accepted)) return false;
    for (int j = 0; j < s->m; j++)
        if (!rescue_is_admissible(s, j)) return false;
    return true;
}

// All cases one after another, where they are few: in the plane a solution is one of them.
static bool rescue_by_cases(pcs_active_set *s)
{
    long count = 1;
    if (s->has_position || s->gate_is_live) return false;
    for (int j = 0; j < s->m; j++) {
        if (s->rows[j].ntangent > 1) return false;
        if (s->gate[j]) count *= rescue_rubs(&s->rows[j]) ? 4 : 2;
        if (count > MOST_CASES) return false;
    }
    for (long code = 0; code < count; code++, s->iterations++) {
        double change;
        memset(s->z, 0, (size_t)s->n * sizeof *s->z);
        rescue_take_case(s, code);
        if (pcs_active_set_newton(s, &change) && rescue_case_holds(s)) return true;
    }
    return false;
}

// Parts `out` of P z for the method of many contacts.
static void rescue_product(void *owner, int in, int out, const double *z, double *value, double *gate_gap)
{
    const pcs_active_set *s = owner;
    int first = in & PCS_CROWD_GAP ? 0 : s->m, last = in & PCS_CROWD_RATE ? s->n : s->m;
    for (int k = out & PCS_CROWD_GAP ? 0 : s->m; k < (out & PCS_CROWD_RATE ? s->n : s->m); k++) {
        value[k] = 0.0;
        for (int l = first; l < last; l++) value[k] += s->P[k * s->n + l] * z[l];
    }
    for (int j = 0; j < s->m && gate_gap != NULL; j++) {
        gate_gap[j] = 0.0;
        for (int l = first; l < last; l++) gate_gap[j] += s->P_gate[j * s->n + l] * z[l];
    }
}

static bool rescue_by_products(pcs_active_set *s)
{
    pcs_crowd *c = s->crowd;
    c->m = s->m;
    c->nt = s->nt;
    pcs_crowd_set_smooth(c, 0);
    c->rows = s->rows;
    c->product = rescue_product;
    c->owner = s;
    c->h = s->h;
    c->has_position = s->has_position;
    c->gate_is_live = s->gate_is_live;
    c->gate_tolerance = s->gate_tolerance;
    memcpy(c->b, s->b, (size_t)s->n * sizeof *s->b);
    memcpy(c->r, s->r, (size_t)s->n * sizeof *s->r);
    memcpy(c->b_gate, s->b_gate, (size_t)s->m * sizeof *s->b_gate);
    memcpy(c->gate, s->gate, (size_t)s->m);
    memset(c->z, 0, (size_t)s->n * sizeof *c->z);
    c->reach = 0.0; // that of earlier problems is no part of this one
    pcs_crowd_reset(c);
    bool is_settled = pcs_crowd_solve(c);
    s->iterations += c->rounds;
    memcpy(s->z, c->z, (size_t)s->n * sizeof *s->z);
    memcpy(s->gate, c->gate, (size_t)s->m);
    return is_settled && pcs_active_set_holds(s, accepted);
}

// Value of unknown k at the present z.
static double rescue_value(const pcs_active_set *s, int k)
{
    double value = s->b[k];
    for (int l = s->has_position ? 0 : s->m; l < s->n; l++) value += s->P[k * s->n + l] * s->z[l];
    return value;
}

// Projects normal unknown k of row j onto what its law allows; gives the change over what counts as none.
static double rescue_project(pcs_active_set *s, int k, int j)
{
    double old = s->z[k];
    s->z[k] = fmax(old - s->r[k] * rescue_value(s, k), 0.0);
    if (k >= s->m && !s->gate[j]) s->z[k] = 0.0;
    return pcs_active_set_ratio(s, k, s->z[k] - old);
}

// The same for the friction of row j.
static double rescue_project_friction(pcs_active_set *s, int j)
{
    int k = pcs_active_set_tangent(s, j, 0);
    double y[2], old[2], change = 0.0, limit = s->rows[j].friction * s->z[s->m + j];
    for (int t = 0; t < s->rows[j].ntangent; t++) {
        old[t] = s->z[k + t];
        s->value[k + t] = rescue_value(s, k + t);
    }
    double length = pcs_active_set_trial(s, j, y), share = length > limit ? limit / length : 1.0;
    for (int t = 0; t < s->rows[j].ntangent; t++) s->z[k + t] = share * y[t];
    for (int t = 0; t < s->rows[j].ntangent; t++)
        change = pcs_larger(change, pcs_active_set_ratio(s, k + t, s->z[k + t] - old[t]));
    return change;
}

// One sweep over all unknowns; gives the largest change over what counts as none.
static double rescue_sweep(pcs_active_set *s)
{
    double change = 0.0;
    for (int j = 0; j < s->m; j++) {
        if (s->has_position) change = pcs_larger(change, rescue_project(s, j, j));
        if (s->gate_is_live) {
            double gap = s->b_gate[j];
            for (int l = 0; l < s->n; l++) gap += s->P_gate[j * s->n + l] * s->z[l];
            s->gate[j] = gap <= s->gate_tolerance;
        }
        change = pcs_larger(change, rescue_project(s, s->m + j, j));
        if (s->rows[j].ntangent > 0) change = pcs_larger(change, rescue_project_friction(s, j));
    }
    return change;
}

// Slow, but it does not cycle. It needs a matrix that is not indefinite: where it grows it is given up.
static bool rescue_by_sweeps(pcs_active_set *s)
{
    double first = 0.0;
    memset(s->z, 0, (size_t)s->n * sizeof *s->z);
    for (int sweep = 0; sweep < SWEEP_LIMIT; sweep++, s->iterations++) {
        double change = rescue_sweep(s);
        if (change <= 1.0) return pcs_active_set_holds(s, accepted);
        if (sweep == 0) first = change;
        if (!(change <= 1e3 * first)) return false;
    }
    return false;
}

bool pcs_active_set_rescue(pcs_active_set *s)
{
    return rescue_by_cases(s) || rescue_by_products(s) || rescue_by_sweeps(s);
}
