#include "step/active_set.h"

#include "core/dense.h"
#include "core/rounding.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

enum { OUT = PCS_MODE_OUT, HELD = PCS_MODE_HELD, SLIDING = PCS_MODE_SLIDING, UNKNOWN = 255 };
enum {
    CHECK_LAWS_AFTER = 4,
    FREEZE_GATE_AFTER = 8,
    PIVOT_AFTER = 30,
    NEWTON_LIMIT = 80,
    HASTY_LIMIT = 20,
    PROXIMAL_ROUNDS = 12
};

static const double tight = 1e-14;                 // of the largest velocity: asked for
static const double undecided = 8.0 * DBL_EPSILON; // of the terms that a value is summed from
static const double most_noise = 1e-6;             // and round-off is no larger
// On the diagonal, where rows say the same twice; and how small it may become where they contradict each other.
static const double proximal_weight = 1e-6, least_weight = 1e-10;

pcs_status pcs_active_set_create(pcs_context *ctx, const pcs_system *system, pcs_active_set **out)
{
    pcs_active_set *s;
    size_t m = (size_t)system->nrow, n = 2 * m + (size_t)system->ntangent;
    PCS_TAKE(ctx, s, 1, "the contact problem");
    PCS_TRY(pcs_contact_problem_create(ctx, system->rows, (int)m, system->ntangent, (int)n, &s->p));
    PCS_TAKE(ctx, s->rows, m, "the contact problem");
    s->p.rows = s->rows;
    double **squares[] = { &s->P, &s->P_size, &s->J };
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        PCS_TAKE(ctx, *squares[i], n * n, "the contact problem");
    PCS_TAKE(ctx, s->P_gate, m * n, "the contact problem");
    double **vectors[] = { &s->b_size, &s->x, &s->F };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], n, "the contact problem");
    PCS_TAKE(ctx, s->last_gate, m, "the contact problem");
    PCS_TAKE(ctx, s->mode, n, "the contact problem");
    PCS_TAKE(ctx, s->last_mode, n, "the contact problem");
    PCS_TAKE(ctx, s->active, n, "the contact problem");
    *out = s;
    return pcs_krylov_set_create(ctx, system, NULL, 0, &s->contacts);
}

// Sets noise[0] (gaps, m) and noise[1] (velocities, m/s) to the largest round-off of any value at the present z. All
// rows share that maximum: with stiff bodies the round-off of a row depends on that of the others.
static void active_find_noise(pcs_active_set *s)
{
    int first = s->p.has_position ? 0 : s->p.m;
    s->noise[0] = s->noise[1] = 0.0;
    for (int k = first; k < s->p.n; k++) {
        double size = s->b_size[k], *noise = &s->noise[k < s->p.m ? 0 : 1];
        for (int j = first; j < s->p.n; j++) size += s->P_size[k * s->p.n + j] * fabs(s->p.z[j]);
        *noise = fmax(*noise, undecided * size);
    }
}

static double active_noise(const pcs_active_set *s, int k)
{
    return s->noise[k < s->p.m ? 0 : 1];
}

// Evaluates value = b + P z, and gate_gap = b_gate + P_gate z if the gate is live, with their round-off.
static void active_evaluate(pcs_active_set *s)
{
    int first = s->p.has_position ? 0 : s->p.m; // otherwise nu stays out
    for (int i = first; i < s->p.n; i++) {
        s->p.value[i] = s->p.b[i];
        for (int j = first; j < s->p.n; j++) s->p.value[i] += s->P[i * s->p.n + j] * s->p.z[j];
    }
    if (s->p.gate_is_live)
        for (int i = 0; i < s->p.m; i++) {
            s->p.gate_gap[i] = s->p.b_gate[i];
            for (int j = 0; j < s->p.n; j++) s->p.gate_gap[i] += s->P_gate[i * s->p.n + j] * s->p.z[j];
        }
    active_find_noise(s);
}

// Returns the scale of the value of unknown k: m/s, or m (velocity times h) for gaps.
static double active_unit(const pcs_active_set *s, int k)
{
    return s->scale * pcs_contact_unit(&s->p, k);
}

double pcs_active_set_ratio(const pcs_active_set *s, int k, double dz)
{
    double allowed = tight * active_unit(s, k) + active_noise(s, k), moved = fabs(dz * s->P[k * s->p.n + k]);
    return moved / fmax(allowed, DBL_MIN);
}

// Caps the round-off allowance, so that diverging multipliers cannot widen it.
double pcs_active_set_allowance(const pcs_active_set *s, int k, double tolerance)
{
    double unit = active_unit(s, k);
    return tolerance * unit + fmin(active_noise(s, k), s->excused * unit);
}

// Returns the round-off of the value of unknown k: a row changes its set only if its law is violated by more.
static double active_slack(const pcs_active_set *s, int k)
{
    return tight * active_unit(s, k) + active_noise(s, k);
}

static unsigned char active_side(const pcs_active_set *s, int k)
{
    return pcs_contact_side(&s->p, s->mode, k, active_slack(s, k));
}

// Updates the modes of all unknowns, and live gates unless they are frozen, from the present z and its values.
static void active_find_modes(pcs_active_set *s, bool gate_is_frozen)
{
    for (int j = 0; j < s->p.m; j++) {
        if (s->p.gate_is_live && !gate_is_frozen) s->p.gate[j] = pcs_contact_is_gated(&s->p, j);
        s->mode[j] = s->p.has_position ? active_side(s, j) : OUT;
        s->mode[s->p.m + j] = s->p.gate[j] ? active_side(s, s->p.m + j) : OUT;
        if (s->p.rows[j].ntangent > 0)
            (void)pcs_contact_set_tangents(&s->p, s->mode, j, s->mode[s->p.m + j] == HELD,
                                           active_slack(s, pcs_contact_tangent(&s->p, j, 0)));
    }
}

// Fills `row` of J, over all unknowns, with the equation of an active unknown (of a gap: over h) and returns its value.
static double active_equation(const pcs_active_set *s, int k, double *row)
{
    double scale = k < s->p.m ? 1.0 / s->p.h : 1.0;
    for (int j = 0; j < s->p.n; j++) row[j] = scale * s->P[k * s->p.n + j];
    if (s->P[k * s->p.n + k] != 0.0) return scale * s->p.value[k];
    row[k] = 1.0; // nothing moves along it: no friction
    return s->p.z[k];
}

// Fills `row` with the derivative of Lt - mu La y/|y|, for tangent t of a sliding row, and returns its value.
static double active_slip_equation(const pcs_active_set *s, int owner, int t, double *row)
{
    const pcs_row *r = &s->p.rows[owner];
    int k = pcs_contact_tangent(&s->p, owner, t), la = s->p.m + owner;
    double direction[2], rotation = pcs_contact_slip(&s->p, s->mode, owner, direction);
    memset(row, 0, (size_t)s->p.n * sizeof *row);
    row[k] = 1.0;
    row[la] -= r->friction * direction[t];
    if (rotation > 0.0)
        for (int i = 0; i < r->ntangent; i++) {
            int ki = pcs_contact_tangent(&s->p, owner, i);
            double turn = rotation * ((i == t ? 1.0 : 0.0) - direction[t] * direction[i]);
            row[ki] -= turn;
            for (int j = 0; j < s->p.n; j++) row[j] += turn * s->p.r[ki] * s->P[ki * s->p.n + j];
        }
    return s->p.z[k] - r->friction * s->p.z[la] * direction[t];
}

// Returns the contact row to which a tangential unknown belongs.
static int active_owner(const pcs_active_set *s, int k)
{
    int tangent = k - 2 * s->p.m, j = 0;
    while (tangent < s->p.rows[j].first_tangent || tangent >= s->p.rows[j].first_tangent + s->p.rows[j].ntangent) j++;
    return j;
}

// Returns true if F, the residuals of the active equations, is within round-off.
static bool active_is_at_noise(const pcs_active_set *s, int count)
{
    for (int a = 0; a < count; a++) {
        int k = s->active[a];
        double allowed = pcs_active_set_allowance(s, k, tight) * (s->mode[k] >= SLIDING ? s->p.r[k] : 1.0);
        if (!(fabs(s->F[a]) <= allowed / pcs_contact_unit(&s->p, k))) return false;
    }
    return true;
}

// Makes one Newton step on the active equations, with a proximal weight (0 for none). Returns false if singular.
static bool active_newton_step(pcs_active_set *s, double proximal, double *change)
{
    int count = 0;
    for (int k = 0; k < s->p.n; k++) {
        if (s->mode[k] == OUT) s->p.z[k] = 0.0;
        else s->active[count++] = k;
    }
    active_evaluate(s);
    for (int a = 0; a < count; a++) {
        int k = s->active[a], owner = k >= 2 * s->p.m ? active_owner(s, k) : 0;
        int tangent = k - 2 * s->p.m - s->p.rows[owner].first_tangent;
        bool slides = s->mode[k] >= SLIDING;
        s->F[a] = slides ? active_slip_equation(s, owner, tangent, s->x) : active_equation(s, k, s->x);
        for (int j = 0; j < count; j++) {
            int column = s->active[j];
            s->J[a * count + j] = s->x[column] * (column < s->p.m ? s->p.h : 1.0) * (a == j ? 1.0 + proximal : 1.0);
        }
    }
    // Stops at round-off: redundant multipliers would drift further, and with friction the motion with them.
    if (proximal > 0.0 && active_is_at_noise(s, count)) {
        *change = 0.0;
        return true;
    }
    if (!pcs_dense_solve_to(count, s->J, s->F, proximal > 0.0 ? 1e-13 : s->smallest_pivot)) return false;
    for (int a = 0; a < count; a++) {
        s->F[a] *= s->active[a] < s->p.m ? s->p.h : 1.0;
        s->p.z[s->active[a]] -= s->F[a];
    }
    *change = 0.0;
    for (int a = 0; a < count; a++) *change = pcs_larger(*change, pcs_active_set_ratio(s, s->active[a], s->F[a]));
    active_evaluate(s);
    return true;
}

// Adds the proximal weight if redundant rows make J singular: it picks one admissible set of multipliers, and repeating
// the step with the same sets drives its effect to round-off.
bool pcs_active_set_newton(pcs_active_set *s, double *change)
{
    if (active_newton_step(s, 0.0, change)) return true;
    double first = -1.0;
    for (int round = 0; round < PROXIMAL_ROUNDS; round++) {
        if (!active_newton_step(s, s->weight, change)) return false;
        if (first < 0.0) first = *change;
        if (*change <= 1e-15 * first) break;
    }
    *change = first;
    return true;
}

static bool active_same_modes(const pcs_active_set *s)
{
    return memcmp(s->mode, s->last_mode, (size_t)s->p.n) == 0;
}

// Returns true if the modes of row j differ from those of the round before.
static bool active_row_changes(const pcs_active_set *s, int j)
{
    int k = pcs_contact_tangent(&s->p, j, 0);
    return s->mode[j] != s->last_mode[j] || s->mode[s->p.m + j] != s->last_mode[s->p.m + j] ||
           (s->p.rows[j].ntangent > 0 && s->mode[k] != s->last_mode[k]);
}

// Restores the modes that row j had in the round before.
static void active_keep_row(pcs_active_set *s, int j)
{
    s->mode[j] = s->last_mode[j];
    s->mode[s->p.m + j] = s->last_mode[s->p.m + j];
    for (int t = 0; t < s->p.rows[j].ntangent; t++) {
        int k = pcs_contact_tangent(&s->p, j, t);
        s->mode[k] = s->last_mode[k];
    }
}

// Restores all modes except the first that has changed.
static void active_change_one(pcs_active_set *s)
{
    int k = 0;
    while (k < s->p.n && s->mode[k] == s->last_mode[k]) k++;
    for (k++; k < s->p.n; k++) s->mode[k] = s->last_mode[k];
}

// Restores the previous sets of a random half of the rows that change, but never of all of them: this breaks cycles of
// the sets. The random sequence is fixed, so that every run is the same.
static void active_change_some(pcs_active_set *s)
{
    int count = 0, kept = 0;
    for (int j = 0; j < s->p.m; j++) count += active_row_changes(s, j);
    for (int j = 0; j < s->p.m; j++) {
        if (!active_row_changes(s, j)) continue;
        s->draw = 1664525u * s->draw + 1013904223u;
        if (s->draw >> 31 == 0 || kept == count - 1) continue;
        active_keep_row(s, j);
        kept++;
    }
}

// Returns true if the impulses of contacts that slide in space are along their slip. Compares impulses, not their
// changes: where several contacts stick, friction may drift among them without any effect.
static bool active_slips_hold(const pcs_active_set *s)
{
    for (int j = 0; j < s->p.m; j++) {
        int k = pcs_contact_tangent(&s->p, j, 0);
        if (s->p.rows[j].ntangent < 2 || s->mode[k] != SLIDING) continue;
        double y[2], length = pcs_contact_trial(&s->p, j, y), limit = s->p.rows[j].friction * s->p.z[s->p.m + j];
        for (int t = 0; t < 2; t++)
            if (pcs_active_set_ratio(s, k + t, s->p.z[k + t] - limit * y[t] / length) > 1.0) return false;
    }
    return true;
}

// Returns false for sets that contradict each other (two corners of a wedge, both sticking): they have no solution, and
// the proximal weight gives the nearest point, which violates them.
bool pcs_active_set_is_solved(const pcs_active_set *s, double tolerance)
{
    for (int k = s->p.has_position ? 0 : s->p.m; k < s->p.n; k++)
        if (s->mode[k] == HELD && !(fabs(s->p.value[k]) <= pcs_active_set_allowance(s, k, tolerance))) return false;
    return true;
}

// Returns true if the friction of row j is within its disc, and opposes the slip if on the edge of the disc.
static bool active_rubs_lawfully(const pcs_active_set *s, int j, double tolerance)
{
    double impulse2 = 0.0, slip2 = 0.0, power = 0.0, allowed = 0.0, room = 0.0;
    for (int t = 0; t < s->p.rows[j].ntangent; t++) {
        int k = pcs_contact_tangent(&s->p, j, t);
        impulse2 += s->p.z[k] * s->p.z[k];
        slip2 += s->p.value[k] * s->p.value[k];
        power += s->p.z[k] * s->p.value[k];
        allowed = fmax(allowed, pcs_active_set_allowance(s, k, tolerance));
        room = fmax(room, allowed * s->p.r[k]);
    }
    double limit = s->p.rows[j].friction * fmax(s->p.z[s->p.m + j], 0.0), slip = sqrt(slip2);
    if (sqrt(impulse2) > limit + room) return false;
    return slip <= allowed || power + slip * limit <= allowed * limit + room * slip;
}

// Returns true if normal unknown k satisfies its complementarity law in any mode; z_k = 0 if the law is off.
static bool active_is_lawful(const pcs_active_set *s, int k, bool is_on, double tolerance)
{
    double allowed = pcs_active_set_allowance(s, k, tolerance);
    if (!is_on) return s->p.z[k] == 0.0;
    if (!(s->p.value[k] >= -allowed) || !(s->p.z[k] >= -allowed * s->p.r[k])) return false;
    return fmin(s->p.value[k], s->p.z[k] / s->p.r[k]) <= allowed;
}

bool pcs_active_set_holds(pcs_active_set *s, double tolerance)
{
    active_evaluate(s);
    for (int j = 0; j < s->p.m; j++) {
        if (s->p.has_position && !active_is_lawful(s, j, true, tolerance)) return false;
        if (!active_is_lawful(s, s->p.m + j, s->p.gate[j], tolerance)) return false;
        if (!active_rubs_lawfully(s, j, tolerance)) return false;
    }
    return true;
}

// Sets `scale` to the largest velocity of the problem, m/s, gaps over h included, and the smallest pivot of J.
static void active_find_scale(pcs_active_set *s)
{
    s->scale = pcs_sum_largest(s->p.n - s->p.m, s->p.b + s->p.m);
    if (s->p.has_position) s->scale = fmax(s->scale, pcs_sum_largest(s->p.m, s->p.b) / s->p.h);
    // Entries that have lost digits make a singular matrix look regular.
    double lost = 1.0;
    for (int k = s->p.has_position ? 0 : s->p.m; k < s->p.n; k++)
        lost = fmax(lost, s->P_size[k * s->p.n + k] / fabs(s->P[k * s->p.n + k]));
    s->smallest_pivot = fmin(1e-7, fmax(1e-13, PCS_ROUND_SUM * lost));
}

// Closes the gates that differ from those of the round before: these are contradictory, and count as closed.
static void active_close_gates(pcs_active_set *s)
{
    for (int j = 0; j < s->p.m; j++) s->p.gate[j] = s->p.gate[j] || s->last_gate[j];
}

// Returns true if all unknowns are out and all multipliers are zero.
static bool active_is_idle(const pcs_active_set *s)
{
    for (int k = 0; k < s->p.n; k++)
        if (s->mode[k] != OUT || s->p.z[k] != 0.0) return false;
    return true;
}

void pcs_active_set_begin(pcs_active_set *s)
{
    s->weight = proximal_weight;
    s->excused = most_noise;
    pcs_contact_even_out(&s->p);
    active_find_scale(s);
}

static bool active_iterate(pcs_active_set *s, bool by_chance)
{
    double change = 0.0;
    int limit = s->p.is_hasty ? HASTY_LIMIT : NEWTON_LIMIT;
    bool is_refined = false;
    s->draw = 1;
    if (!s->is_warm) memset(s->p.z, 0, (size_t)s->p.n * sizeof *s->p.z);
    memset(s->last_mode, UNKNOWN, (size_t)s->p.n);
    memset(s->mode, HELD, (size_t)s->p.n); // ties are active
    active_evaluate(s);
    active_find_modes(s, false);
    if (active_is_idle(s)) return true;
    for (int round = 1; round <= limit; round++, s->iterations++) {
        if (active_same_modes(s) && active_slips_hold(s)) {
            bool is_solved = pcs_active_set_is_solved(s, s->accepted);
            // Multipliers that were far larger before have left their round-off: once more from here.
            if (is_solved && (is_refined || pcs_active_set_is_solved(s, tight))) return true;
            is_refined = is_solved;
            // The multipliers of rows that contradict each other grow, until one of them gives way: no excuse either.
            if (!is_solved) {
                s->weight = fmax(least_weight, 0.1 * s->weight);
                s->excused = 0.0;
            }
        }
        memcpy(s->last_mode, s->mode, (size_t)s->p.n);
        memcpy(s->last_gate, s->p.gate, (size_t)s->p.m);
        if (!pcs_active_set_newton(s, &change)) return false;
        // Ends as soon as all laws hold: where friction is not unique, the sets may go on changing.
        if (round > CHECK_LAWS_AFTER && !s->p.gate_is_live && pcs_active_set_holds(s, tight)) return true;
        active_find_modes(s, round > FREEZE_GATE_AFTER);
        if (round == FREEZE_GATE_AFTER && s->p.gate_is_live) active_close_gates(s);
        if (active_same_modes(s)) continue;
        if (by_chance) active_change_some(s);
        else if (round > PIVOT_AFTER) active_change_one(s);
    }
    return false;
}

bool pcs_active_set_iterate(pcs_active_set *s, bool by_chance)
{
    bool is_solved = active_iterate(s, by_chance);
    s->weight = proximal_weight;
    s->excused = most_noise;
    return is_solved;
}

bool pcs_active_set_update(pcs_active_set *s, bool *is_settled)
{
    double change;
    pcs_active_set_begin(s);
    memset(s->mode, HELD, (size_t)s->p.n); // ties are active
    active_find_modes(s, false);
    memcpy(s->last_mode, s->mode, (size_t)s->p.n);
    if (!pcs_active_set_newton(s, &change)) return false;
    active_find_modes(s, true);
    *is_settled = active_same_modes(s);
    if (*is_settled) pcs_contact_put_on_discs(&s->p);
    return true;
}
