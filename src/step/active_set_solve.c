// The ways out when the sets of the semi-smooth Newton method cycle or contradict each other, in the order of their
// cost: all cases where they are few, changes of a part of the rows, the method of many contacts, projected
// Gauss-Seidel sweeps.

#include "core/rounding.h"
#include "step/active_set.h"

#include <math.h>
#include <string.h>

enum { OUT = PCS_MODE_OUT, HELD = PCS_MODE_HELD };
enum { SWEEP_LIMIT = 2000, MOST_CASES = 4096, MOST_LOADED = 12, FEW = 64 };
// Tolerances of the laws relative to the largest velocity: first attempt, and second if that fails. The loose one would
// accept the average that the proximal weight gives two nearly redundant contacts that cannot both stick.
static const double firm = 0.5 * PCS_ROUND_VELOCITY, loose = 1e-9;

static bool solve_rubs(const pcs_row *r)
{
    return r->ntangent > 0 && r->friction > 0.0;
}

// Returns the number of modes of row j if loaded: 3 with friction (sticks, slides in either sense), else 1.
static int solve_ways(const pcs_active_set *s, int j)
{
    return solve_rubs(&s->p.rows[j]) ? 3 : 1;
}

// Returns the row at place i among the gated rows.
static int solve_gated(const pcs_active_set *s, int i)
{
    int j = 0;
    while (!s->p.gate[j] || i-- > 0) j++;
    return j;
}

// Sets the modes of case `code`: `size` gated rows loaded, all others open. Returns false if there is no such case.
static bool solve_take_case(pcs_active_set *s, int size, const int *loaded, int code)
{
    static const unsigned char tangent_mode[] = { HELD, PCS_MODE_SLIDING_UP, PCS_MODE_SLIDING_DOWN };
    memset(s->mode, OUT, (size_t)s->p.n);
    for (int i = 0; i < size; i++) {
        int j = solve_gated(s, loaded[i]), ways = solve_ways(s, j);
        s->mode[s->p.m + j] = HELD;
        if (ways > 1) s->mode[pcs_contact_tangent(&s->p, j, 0)] = tangent_mode[code % ways];
        code /= ways;
    }
    return code == 0;
}

// Returns true if row j satisfies the law of its present mode within `accepted`.
static bool solve_is_admissible(const pcs_active_set *s, int j)
{
    const pcs_row *r = &s->p.rows[j];
    int la = s->p.m + j;
    double allowed = pcs_active_set_allowance(s, la, s->accepted);
    if (s->mode[la] == HELD ? s->p.z[la] < -allowed * s->p.r[la] : s->p.gate[j] && s->p.value[la] < -allowed)
        return false;
    if (r->ntangent == 0) return true;
    int k = pcs_contact_tangent(&s->p, j, 0);
    allowed = pcs_active_set_allowance(s, k, s->accepted);
    switch (s->mode[k]) {
    case HELD: return fabs(s->p.z[k]) <= r->friction * s->p.z[la] + allowed * s->p.r[k];
    case PCS_MODE_SLIDING_UP: return s->p.value[k] <= allowed;
    case PCS_MODE_SLIDING_DOWN: return s->p.value[k] >= -allowed;
    default: return true;
    }
}

static bool solve_case_holds(const pcs_active_set *s)
{
    if (!pcs_active_set_is_solved(s, s->accepted)) return false;
    for (int j = 0; j < s->p.m; j++)
        if (!solve_is_admissible(s, j)) return false;
    return true;
}

// Returns the largest number of loaded rows with at most MOST_CASES cases in all; *count gets the number of gated rows.
static int solve_most_loaded(const pcs_active_set *s, int *count)
{
    double cases[MOST_LOADED + 1] = { 1.0 }, sum = 0.0; // with as many loaded
    int size = 0;
    *count = 0;
    for (int j = 0; j < s->p.m; j++) {
        if (!s->p.gate[j]) continue;
        for (int k = MOST_LOADED; k > 0; k--) cases[k] += solve_ways(s, j) * cases[k - 1];
        (*count)++;
    }
    while (size <= MOST_LOADED && sum + cases[size] <= MOST_CASES) sum += cases[size++];
    return size - 1 < *count ? size - 1 : *count;
}

// Advances `chosen` to the next choice of `size` out of `count` rows, ascending. Returns false after the last.
static bool solve_choose(int size, int count, int *chosen)
{
    int i = size - 1;
    while (i >= 0 && chosen[i] == count - size + i) i--;
    if (i < 0) return false;
    for (int next = chosen[i] + 1; i < size; i++) chosen[i] = next++;
    return true;
}

// Tries all cases if they are few: in the plane a solution is one of them, and with rigid bodies it needs no more
// loaded rows than these have degrees of freedom, three each, however many touch.
static bool solve_by_cases(pcs_active_set *s)
{
    int count, loaded[MOST_LOADED];
    if (s->p.has_position || s->p.gate_is_live) return false;
    for (int j = 0; j < s->p.m; j++)
        if (s->p.rows[j].ntangent > 1) return false;
    int most = solve_most_loaded(s, &count);
    for (int size = 0; size <= most; size++) {
        for (int i = 0; i < size; i++) loaded[i] = i;
        do {
            for (int code = 0; solve_take_case(s, size, loaded, code); code++, s->iterations++) {
                double change;
                memset(s->p.z, 0, (size_t)s->p.n * sizeof *s->p.z);
                if (pcs_active_set_newton(s, &change) && solve_case_holds(s)) return true;
            }
        } while (solve_choose(size, count, loaded));
    }
    return false;
}

// Computes parts `out` of P z for the Krylov solver (krylov_set.h).
static void solve_product(void *owner, int in, int out, const double *z, double *value, double *gate_gap)
{
    const pcs_active_set *s = owner;
    int first = in & PCS_STAGE_GAP ? 0 : s->p.m, last = in & PCS_STAGE_RATE ? s->p.n : s->p.m;
    for (int k = out & PCS_STAGE_GAP ? 0 : s->p.m; k < (out & PCS_STAGE_RATE ? s->p.n : s->p.m); k++) {
        value[k] = 0.0;
        for (int l = first; l < last; l++) value[k] += s->P[k * s->p.n + l] * z[l];
    }
    if (gate_gap == NULL) return;
    for (int j = 0; j < s->p.m; j++) {
        gate_gap[j] = 0.0;
        for (int l = first; l < last; l++) gate_gap[j] += s->P_gate[j * s->p.n + l] * z[l];
    }
}

static bool solve_by_products(pcs_active_set *s)
{
    pcs_krylov_set *c = s->contacts;
    c->p.m = s->p.m;
    c->p.nt = s->p.nt;
    pcs_krylov_set_take(c, 0, NULL);
    c->p.rows = s->p.rows;
    c->product = solve_product;
    c->owner = s;
    c->p.h = s->p.h;
    c->p.has_position = s->p.has_position;
    c->p.gate_is_live = s->p.gate_is_live;
    c->p.gate_tolerance = s->p.gate_tolerance;
    memcpy(c->p.b, s->p.b, (size_t)s->p.n * sizeof *s->p.b);
    memcpy(c->p.r, s->p.r, (size_t)s->p.n * sizeof *s->p.r);
    memcpy(c->p.b_gate, s->p.b_gate, (size_t)s->p.m * sizeof *s->p.b_gate);
    memcpy(c->p.gate, s->p.gate, (size_t)s->p.m);
    memset(c->p.z, 0, (size_t)s->p.n * sizeof *c->p.z);
    c->reach = 0.0; // that of earlier problems is no part of this one
    pcs_krylov_set_reset(c);
    bool is_settled = pcs_krylov_set_solve(c);
    s->iterations += c->rounds;
    memcpy(s->p.z, c->p.z, (size_t)s->p.n * sizeof *s->p.z);
    memcpy(s->p.gate, c->p.gate, (size_t)s->p.m);
    return is_settled && pcs_active_set_holds(s, s->accepted);
}

// Returns the value of unknown k at the present z.
static double solve_value(const pcs_active_set *s, int k)
{
    double value = s->p.b[k];
    for (int l = s->p.has_position ? 0 : s->p.m; l < s->p.n; l++) value += s->P[k * s->p.n + l] * s->p.z[l];
    return value;
}

// Projects normal unknown k of row j onto its admissible values. Returns the change over that which counts as none.
static double solve_project(pcs_active_set *s, int k, int j)
{
    double old = s->p.z[k];
    s->p.z[k] = fmax(old - s->p.r[k] * solve_value(s, k), 0.0);
    if (k >= s->p.m && !s->p.gate[j]) s->p.z[k] = 0.0;
    return pcs_active_set_ratio(s, k, s->p.z[k] - old);
}

// Projects the friction impulse of row j onto its disc. Returns the largest change over the change that counts as none.
static double solve_project_friction(pcs_active_set *s, int j)
{
    int k = pcs_contact_tangent(&s->p, j, 0);
    double y[2], old[2], change = 0.0, limit = s->p.rows[j].friction * s->p.z[s->p.m + j];
    for (int t = 0; t < s->p.rows[j].ntangent; t++) {
        old[t] = s->p.z[k + t];
        s->p.value[k + t] = solve_value(s, k + t);
    }
    double length = pcs_contact_trial(&s->p, j, y), share = length > limit ? limit / length : 1.0;
    for (int t = 0; t < s->p.rows[j].ntangent; t++) s->p.z[k + t] = share * y[t];
    for (int t = 0; t < s->p.rows[j].ntangent; t++)
        change = pcs_larger(change, pcs_active_set_ratio(s, k + t, s->p.z[k + t] - old[t]));
    return change;
}

// Makes one sweep over all unknowns. Returns the largest change over the change that counts as none.
static double solve_sweep(pcs_active_set *s)
{
    double change = 0.0;
    for (int j = 0; j < s->p.m; j++) {
        if (s->p.has_position) change = pcs_larger(change, solve_project(s, j, j));
        if (s->p.gate_is_live) {
            s->p.gate_gap[j] = s->p.b_gate[j];
            for (int l = 0; l < s->p.n; l++) s->p.gate_gap[j] += s->P_gate[j * s->p.n + l] * s->p.z[l];
            s->p.gate[j] = pcs_contact_is_gated(&s->p, j);
        }
        change = pcs_larger(change, solve_project(s, s->p.m + j, j));
        if (s->p.rows[j].ntangent > 0) change = pcs_larger(change, solve_project_friction(s, j));
    }
    return change;
}

// Solves by projected Gauss-Seidel sweeps: slow, but free of cycles. Gives up where changes grow (indefinite matrix).
static bool solve_by_sweeps(pcs_active_set *s)
{
    double first = 0.0;
    memset(s->p.z, 0, (size_t)s->p.n * sizeof *s->p.z);
    for (int sweep = 0; sweep < SWEEP_LIMIT; sweep++, s->iterations++) {
        double change = solve_sweep(s);
        if (change <= 1.0) return pcs_active_set_holds(s, s->accepted);
        if (sweep == 0) first = change;
        if (!(change <= 1e3 * first)) return false;
    }
    return false;
}

// Tries all methods in turn, to the tolerance s->accepted. Returns true if one has converged.
static bool solve_any_way(pcs_active_set *s, bool has_time)
{
    bool is_warm = s->is_warm;
    if (pcs_active_set_iterate(s, false)) return true;
    if (s->p.is_hasty) return false;
    s->is_warm = false;
    bool is_solved = (is_warm && pcs_active_set_iterate(s, false)) || solve_by_cases(s) ||
                     pcs_active_set_iterate(s, true) || (has_time && (solve_by_products(s) || solve_by_sweeps(s)));
    s->is_warm = is_warm;
    return is_solved;
}

bool pcs_active_set_solve(pcs_active_set *s)
{
    s->iterations = 1;
    pcs_active_set_begin(s);
    s->accepted = firm;
    bool is_solved = solve_any_way(s, s->p.n <= FEW);
    s->accepted = loose;
    if (!is_solved && (s->p.is_hasty || !solve_any_way(s, true))) return false;
    pcs_contact_put_on_discs(&s->p);
    return true;
}
