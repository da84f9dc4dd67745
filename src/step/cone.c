#include "step/cone.h"

#include "core/dense.h"
#include "step/columns.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Multiplier zero; equation imposed; on the edge of the friction disc, in space or either way in the plane.
enum { OUT, HELD, SLIDING, SLIDING_UP, SLIDING_DOWN };
enum { FREEZE_GATE_AFTER = 8, PIVOT_AFTER = 30, NEWTON_LIMIT = 80, SWEEP_LIMIT = 2000, MOST_CASES = 4096 };

static const double tight = 1e-14;               // of the largest velocity: asked for
static const double rounding = 64 * DBL_EPSILON; // of the terms that a value is summed from
static const double accepted = 1e-9;             // of the largest velocity: laws are broken by more

pcs_status pcs_cone_create(pcs_context *ctx, const pcs_system *system, pcs_cone **out)
{
    pcs_cone *c;
    size_t m = (size_t)system->nrow, n = 2 * m + (size_t)system->ntangent;
    PCS_TAKE(ctx, c, 1, "the friction problem");
    c->m = system->nrow;
    c->nt = system->ntangent;
    c->n = (int)n;
    c->rows = system->rows;
    PCS_TAKE(ctx, c->P, n * n, "the friction problem");
    PCS_TAKE(ctx, c->J, n * n, "the friction problem");
    PCS_TAKE(ctx, c->P_gate, m * n, "the friction problem");
    double **vectors[] = { &c->b, &c->z, &c->value, &c->r, &c->x, &c->F };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], n, "the friction problem");
    PCS_TAKE(ctx, c->b_gate, m, "the friction problem");
    PCS_TAKE(ctx, c->gate_gap, m, "the friction problem");
    PCS_TAKE(ctx, c->gate, m, "the friction problem");
    PCS_TAKE(ctx, c->last_gate, m, "the friction problem");
    PCS_TAKE(ctx, c->is_out, n, "the friction problem");
    PCS_TAKE(ctx, c->mode, n, "the friction problem");
    PCS_TAKE(ctx, c->last_mode, n, "the friction problem");
    PCS_TAKE(ctx, c->active, n, "the friction problem");
    *out = c;
    return pcs_cone_products_create(ctx, system, &c->products);
}

static void cone_evaluate(pcs_cone *c)
{
    int first = c->has_position ? 0 : c->m; // otherwise nu stays out
    for (int i = first; i < c->n; i++) {
        c->value[i] = c->b[i];
        for (int j = first; j < c->n; j++) c->value[i] += c->P[i * c->n + j] * c->z[j];
    }
    for (int i = 0; i < c->m && c->gate_is_live; i++) {
        c->gate_gap[i] = c->b_gate[i];
        for (int j = 0; j < c->n; j++) c->gate_gap[i] += c->P_gate[i * c->n + j] * c->z[j];
    }
}

// What round-off leaves undecided of the value of unknown k at the present z.
static double cone_noise(const pcs_cone *c, int k)
{
    double size = fabs(c->b[k]);
    for (int j = 0; j < c->n; j++) size += fabs(c->P[k * c->n + j] * c->z[j]);
    return rounding * size;
}

// A change dz of unknown k, by what it does to its value, over what counts as none. Gaps are taken by h.
static double cone_ratio(const pcs_cone *c, int k, double dz, double scale)
{
    double allowed = tight * scale * (k < c->m ? c->h : 1.0) + cone_noise(c, k);
    double moved = fabs(dz * c->P[k * c->n + k]);
    return moved <= allowed ? moved / fmax(allowed, DBL_MIN) : moved / allowed;
}

// Place of tangent t of row j among the unknowns.
static int cone_tangent(const pcs_cone *c, int row, int t)
{
    return 2 * c->m + c->rows[row].first_tangent + t;
}

// y = Lt - r xt of a row; gives its length.
static double cone_trial(const pcs_cone *c, int row, double y[2])
{
    double length2 = 0.0;
    for (int t = 0; t < c->rows[row].ntangent; t++) {
        int k = cone_tangent(c, row, t);
        y[t] = c->z[k] - c->r[k] * c->value[k];
        length2 += y[t] * y[t];
    }
    return sqrt(length2);
}

static void cone_tangent_mode(pcs_cone *c, int row, bool is_closed)
{
    const pcs_row *r = &c->rows[row];
    double y[2], limit = r->friction * fmax(c->z[c->m + row], 0.0), length = cone_trial(c, row, y);
    unsigned char mode = !is_closed || r->friction == 0.0 ? OUT : length <= limit && limit > 0.0 ? HELD : SLIDING;
    // In the plane there are two ways to slide, and turning round is a change of mode.
    if (mode == SLIDING && r->ntangent == 1) mode = y[0] > 0.0 ? SLIDING_UP : SLIDING_DOWN;
    for (int t = 0; t < r->ntangent; t++) c->mode[cone_tangent(c, row, t)] = mode;
}

// What the present z asks of every unknown.
static void cone_find_modes(pcs_cone *c, bool gate_is_frozen)
{
    for (int j = 0; j < c->m; j++) {
        bool is_bilateral = c->rows[j].is_bilateral;
        if (c->gate_is_live && !gate_is_frozen) c->gate[j] = c->gate_gap[j] <= c->gate_tolerance;
        bool in_A = c->has_position && (is_bilateral || c->z[j] - c->r[j] * c->value[j] >= 0.0);
        int la = c->m + j;
        bool in_B = is_bilateral || (c->gate[j] && c->z[la] - c->r[la] * c->value[la] >= 0.0);
        c->mode[j] = in_A && !c->is_out[j] ? HELD : OUT;
        c->mode[la] = in_B && !c->is_out[la] ? HELD : OUT;
        cone_tangent_mode(c, j, c->mode[la] == HELD);
    }
}

// The equation of an active unknown as a row of J over all unknowns, scaled by h for positions; F its value.
static double cone_equation(const pcs_cone *c, int k, double *row)
{
    double scale = k < c->m ? 1.0 / c->h : 1.0;
    for (int j = 0; j < c->n; j++) row[j] = scale * c->P[k * c->n + j];
    return scale * c->value[k];
}

// Lt - mu La y/|y| and its derivative, for tangent t of a row that slides.
static double cone_slip_equation(const pcs_cone *c, int owner, int t, double *row)
{
    const pcs_row *r = &c->rows[owner];
    int k = cone_tangent(c, owner, t), la = c->m + owner;
    double y[2] = { 0 }, length = cone_trial(c, owner, y), direction[2] = { -1.0, 0.0 }, limit = r->friction * c->z[la];
    for (int i = 0; i < r->ntangent && length > 0.0; i++) direction[i] = y[i] / length;
    if (c->mode[k] > SLIDING) direction[0] = c->mode[k] == SLIDING_UP ? 1.0 : -1.0;
    memset(row, 0, (size_t)c->n * sizeof *row);
    row[k] = 1.0;
    row[la] -= r->friction * direction[t];
    for (int i = 0; i < r->ntangent && r->ntangent > 1 && length > 0.0; i++) {
        int ki = cone_tangent(c, owner, i);
        double turn = limit * ((i == t ? 1.0 : 0.0) - direction[t] * direction[i]) / length;
        row[ki] -= turn;
        for (int j = 0; j < c->n; j++) row[j] += turn * c->r[ki] * c->P[ki * c->n + j];
    }
    return c->z[k] - limit * direction[t];
}

// Row owner of a tangential unknown.
static int cone_owner(const pcs_cone *c, int k)
{
    int tangent = k - 2 * c->m, j = 0;
    while (tangent < c->rows[j].first_tangent || tangent >= c->rows[j].first_tangent + c->rows[j].ntangent) j++;
    return j;
}

// One Newton step on the active equations, with a proximal weight on the diagonal (0: none).
static bool cone_newton_step(pcs_cone *c, double proximal, double scale, double *change)
{
    int count = 0;
    for (int k = 0; k < c->n; k++) {
        if (c->mode[k] == OUT) c->z[k] = 0.0;
        else c->active[count++] = k;
    }
    cone_evaluate(c);
    for (int a = 0; a < count; a++) {
        int k = c->active[a], owner = k >= 2 * c->m ? cone_owner(c, k) : 0;
        c->F[a] = c->mode[k] >= SLIDING
                      ? cone_slip_equation(c, owner, k - 2 * c->m - c->rows[owner].first_tangent, c->x)
                      : cone_equation(c, k, c->x);
        for (int j = 0; j < count; j++) {
            int column = c->active[j];
            c->J[a * count + j] = c->x[column] * (column < c->m ? c->h : 1.0) * (a == j ? 1.0 + proximal : 1.0);
        }
    }
    if (!pcs_dense_solve(count, c->J, c->F)) return false;
    for (int a = 0; a < count; a++) {
        int k = c->active[a];
        c->F[a] *= k < c->m ? c->h : 1.0;
        c->z[k] -= c->F[a];
    }
    *change = 0.0;
    for (int a = 0; a < count; a++) *change = fmax(*change, cone_ratio(c, c->active[a], c->F[a], scale));
    cone_evaluate(c);
    return true;
}

// Redundant rows make J singular; the proximal weight picks one admissible set of multipliers, and repeating the
// step with the sets held drives its effect to round-off.
static bool cone_newton(pcs_cone *c, double scale, double *change)
{
    if (cone_newton_step(c, 0.0, scale, change)) return true;
    double first = -1.0;
    for (int round = 0; round < 12; round++) {
        if (!cone_newton_step(c, 1e-6, scale, change)) return false;
        if (first < 0.0) first = *change;
        if (*change <= 1e-15 * first) break;
    }
    *change = first;
    return true;
}

static bool cone_same_modes(const pcs_cone *c)
{
    return memcmp(c->mode, c->last_mode, (size_t)c->n) == 0;
}

// Keeps only the first change of mode.
static void cone_change_one(pcs_cone *c)
{
    int k = 0;
    while (k < c->n && c->mode[k] == c->last_mode[k]) k++;
    for (k++; k < c->n; k++) c->mode[k] = c->last_mode[k];
}

static bool cone_has_turning_slip(const pcs_cone *c)
{
    for (int j = 0; j < c->m; j++)
        if (c->rows[j].ntangent == 2 && c->mode[cone_tangent(c, j, 0)] == SLIDING) return true;
    return false;
}

// Projects unknown k of row j onto what its law allows, by its own value; gives its new multiplier.
static double cone_project(pcs_cone *c, int k, int j)
{
    bool is_bilateral = c->rows[j].is_bilateral, is_on = k < c->m ? c->has_position : is_bilateral || c->gate[j];
    double next = c->z[k] - c->r[k] * c->value[k];
    if (c->is_out[k] || !is_on) return 0.0;
    if (k < 2 * c->m) return is_bilateral ? next : fmax(next, 0.0);
    double y[2], length = cone_trial(c, j, y), limit = c->rows[j].friction * fmax(c->z[c->m + j], 0.0);
    return length > limit ? next * (limit / length) : next;
}

// One sweep over all unknowns; gives the largest change over what counts as none.
static double cone_sweep_once(pcs_cone *c, double scale)
{
    double change = 0.0;
    for (int k = c->has_position ? 0 : c->m; k < c->n; k++) {
        cone_evaluate(c);
        int j = k < c->m ? k : k < 2 * c->m ? k - c->m : cone_owner(c, k);
        if (c->gate_is_live) c->gate[j] = c->gate_gap[j] <= c->gate_tolerance;
        double old = c->z[k];
        c->z[k] = cone_project(c, k, j);
        change = fmax(change, cone_ratio(c, k, c->z[k] - old, scale));
    }
    cone_evaluate(c);
    return change;
}

// Projected Gauss-Seidel: slow, but it does not cycle; the way out when Newton's sets do. It needs a matrix that is not
// indefinite: where it grows it is given up.
static bool cone_sweep(pcs_cone *c, double scale, int *iterations)
{
    double first = 0.0;
    memset(c->z, 0, (size_t)c->n * sizeof *c->z);
    for (int sweep = 0; sweep < SWEEP_LIMIT; sweep++, ++*iterations) {
        double change = cone_sweep_once(c, scale);
        if (change <= 1.0) return true;
        if (sweep == 0) first = change;
        if (!(change <= 1e3 * first)) return false;
    }
    return false;
}

// Up to where the value of unknown k counts as zero. Multipliers that have grown without bound are no excuse.
static double cone_allowance(const pcs_cone *c, int k, double scale)
{
    double unit = scale * (k < c->m ? c->h : 1.0);
    return accepted * unit + fmin(cone_noise(c, k), 1e3 * accepted * unit);
}

// Do the equations imposed hold? Sets that contradict each other (two corners of a wedge, both sticking) have no
// solution; the proximal weight then settles for the nearest, which is none.
static bool cone_is_solved(const pcs_cone *c, double scale)
{
    for (int k = c->has_position ? 0 : c->m; k < c->n; k++)
        if (c->mode[k] == HELD && fabs(c->value[k]) > cone_allowance(c, k, scale)) return false;
    return true;
}

// The sets of case `code`: every gated row is open, sticks or slides either way.
static void cone_take_case(pcs_cone *c, long code)
{
    memset(c->mode, OUT, (size_t)c->n);
    for (int j = 0; j < c->m; j++) {
        const pcs_row *r = &c->rows[j];
        bool rubs = r->ntangent > 0 && r->friction > 0.0;
        if (!c->gate[j] && !r->is_bilateral) continue;
        int choice = r->is_bilateral ? 1 : (int)(code % (rubs ? 4 : 2));
        if (!r->is_bilateral) code /= rubs ? 4 : 2;
        if (choice == 0) continue;
        c->mode[c->m + j] = HELD;
        static const unsigned char tangent_mode[] = { OUT, HELD, SLIDING_UP, SLIDING_DOWN };
        if (rubs) c->mode[cone_tangent(c, j, 0)] = tangent_mode[choice];
    }
}

// Does z satisfy every law of its case?
static bool cone_is_admissible(const pcs_cone *c, double scale)
{
    double tolerance = 1e-9 * scale;
    if (!cone_is_solved(c, scale)) return false;
    for (int j = 0; j < c->m; j++) {
        const pcs_row *r = &c->rows[j];
        int la = c->m + j, k = r->ntangent > 0 ? cone_tangent(c, j, 0) : -1;
        if (r->is_bilateral) continue;
        if (c->mode[la] == HELD ? c->z[la] < -tolerance * c->r[la] : c->gate[j] && c->value[la] < -tolerance)
            return false;
        if (k < 0 || c->mode[k] == OUT) continue;
        if (c->mode[k] == HELD && fabs(c->z[k]) > r->friction * c->z[la] + tolerance * c->r[k]) return false;
        if (c->mode[k] == SLIDING_UP && c->value[k] > tolerance) return false;
        if (c->mode[k] == SLIDING_DOWN && c->value[k] < -tolerance) return false;
    }
    return true;
}

// Is the friction of row j on its disc, and against the slip where it is on the edge?
static bool cone_rubs_lawfully(const pcs_cone *c, int j, double scale)
{
    double impulse2 = 0.0, slip2 = 0.0, power = 0.0, allowed = 0.0, room = 0.0;
    for (int t = 0; t < c->rows[j].ntangent; t++) {
        int k = cone_tangent(c, j, t);
        impulse2 += c->z[k] * c->z[k];
        slip2 += c->value[k] * c->value[k];
        power += c->z[k] * c->value[k];
        allowed = fmax(allowed, cone_allowance(c, k, scale));
        room = fmax(room, allowed * c->r[k]);
    }
    double limit = c->rows[j].friction * fmax(c->z[c->m + j], 0.0), slip = sqrt(slip2);
    if (sqrt(impulse2) > limit + room) return false;
    return slip <= allowed || power + slip * limit <= allowed * limit + room * slip;
}

// Does z satisfy the law of unknown k, normal or bilateral, whatever set it belongs to?
static bool cone_is_lawful(const pcs_cone *c, int k, bool is_on, double scale)
{
    double allowed = cone_allowance(c, k, scale);
    if (c->is_out[k] || !is_on) return c->z[k] == 0.0;
    if (c->rows[k % c->m].is_bilateral) return fabs(c->value[k]) <= allowed;
    if (c->value[k] < -allowed || c->z[k] < -allowed * c->r[k]) return false;
    return fmin(c->value[k], c->z[k] / c->r[k]) <= allowed;
}

// The answer of a method that may have run away is looked at once more.
static bool cone_holds(pcs_cone *c, double scale)
{
    cone_evaluate(c);
    for (int j = 0; j < c->m; j++) {
        bool is_gated = c->gate[j] || c->rows[j].is_bilateral;
        if (c->has_position && !cone_is_lawful(c, j, true, scale)) return false;
        if (!cone_is_lawful(c, c->m + j, is_gated, scale) || !cone_rubs_lawfully(c, j, scale)) return false;
    }
    return true;
}

// All cases one after another, where they are few: in the plane a solution is one of them.
static bool cone_enumerate(pcs_cone *c, double scale, int *iterations)
{
    long count = 1;
    if (c->has_position || c->gate_is_live) return false;
    for (int j = 0; j < c->m; j++) {
        const pcs_row *r = &c->rows[j];
        if (r->ntangent > 1) return false;
        if (c->gate[j] && !r->is_bilateral) count *= r->ntangent > 0 && r->friction > 0.0 ? 4 : 2;
        if (count > MOST_CASES) return false;
    }
    for (long code = 0; code < count; code++, ++*iterations) {
        double change;
        memset(c->z, 0, (size_t)c->n * sizeof *c->z);
        cone_take_case(c, code);
        if (cone_newton(c, scale, &change) && cone_is_admissible(c, scale)) return true;
    }
    return false;
}

// The disc of friction is round: with different masses for its two directions slip would not be against the impulse.
static void cone_even_out(pcs_cone *c)
{
    for (int j = 0; j < c->m; j++) {
        int k = cone_tangent(c, j, 0);
        if (c->rows[j].ntangent == 2) c->r[k] = c->r[k + 1] = fmin(c->r[k], c->r[k + 1]);
    }
}

// Size of the velocities in the problem, gaps over h included.
static double cone_scale(const pcs_cone *c)
{
    double scale = pcs_step_largest(c->n - c->m, c->b + c->m);
    return c->has_position ? fmax(scale, pcs_step_largest(c->m, c->b) / c->h) : scale;
}

// A gate that has just changed once more is contradictory, and closed.
static void cone_close_gates(pcs_cone *c)
{
    for (int j = 0; j < c->m; j++) c->gate[j] = c->gate[j] || c->last_gate[j];
}

static bool cone_settle(pcs_cone *c, double scale, int *iterations)
{
    double change = 0.0;
    memset(c->z, 0, (size_t)c->n * sizeof *c->z);
    memset(c->last_mode, OUT, (size_t)c->n);
    cone_evaluate(c);
    cone_find_modes(c, false);
    for (*iterations = 1; *iterations <= NEWTON_LIMIT; ++*iterations) {
        if (cone_same_modes(c) && (!cone_has_turning_slip(c) || change <= 1.0)) return cone_is_solved(c, scale);
        memcpy(c->last_mode, c->mode, (size_t)c->n);
        memcpy(c->last_gate, c->gate, (size_t)c->m);
        if (!cone_newton(c, scale, &change)) return false;
        cone_find_modes(c, *iterations > FREEZE_GATE_AFTER);
        if (*iterations == FREEZE_GATE_AFTER && c->gate_is_live) cone_close_gates(c);
        if (*iterations > PIVOT_AFTER && !cone_same_modes(c)) cone_change_one(c);
    }
    return false;
}

bool pcs_cone_solve(pcs_cone *c, int *iterations)
{
    cone_even_out(c);
    double scale = cone_scale(c);
    if (cone_settle(c, scale, iterations) || cone_enumerate(c, scale, iterations)) return true;
    if (pcs_cone_products_solve(c, iterations) && cone_holds(c, scale)) return true;
    return cone_sweep(c, scale, iterations) && cone_holds(c, scale);
}

bool pcs_cone_update(pcs_cone *c, bool *is_settled)
{
    double change;
    cone_even_out(c);
    cone_find_modes(c, false);
    memcpy(c->last_mode, c->mode, (size_t)c->n);
    if (!cone_newton(c, cone_scale(c), &change)) return false;
    cone_find_modes(c, true);
    *is_settled = cone_same_modes(c);
    return true;
}
