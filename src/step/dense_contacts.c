#include "step/dense_contacts.h"

#include "core/dense.h"
#include "core/rounding.h"
#include "step/projection.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

// The dense contact problem (contact_problem.h) without joints, which are eliminated, and without idle rows:
// contacts that may open, stick and slide.
//
// Semi-smooth Newton on the projection equations (Alart, Curnier 1991; Bruls, Acary, Cardona 2014, eq. 38); in the
// plane (one tangent) slip is linear and the method ends when the sets repeat, in space the direction of slip is
// iterated to round-off. When the sets cycle, a random half of the modes stay; when that fails, too, all
// cases are tried where they are few, then sweeps of projected Gauss-Seidel.
//
// Round-off: a value is b_k plus terms P_kj z_j that may cancel, each of them known to some eps of what it was summed
// from, so the value is known to 8 eps (b_size_k + P_size_kj |z_j|).

struct pcs_active_set {
    pcs_contact_problem p;   // reduced problem: m, nt, n and rows of the contacts that are left
    pcs_row *rows;           // [m] rows that are left, their tangents numbered among themselves
    double *P;               // [n * n] rows: gap, xi, xt
    double *P_size, *b_size; // [n * n], [n] sums of the magnitudes of the terms of each entry
    double *P_gate;          // [m * n]
    bool is_warm;            // z holds the initial guess; otherwise it starts from zero
    double accepted;         // largest violation of a law, relative to the largest velocity
    int iterations;          // number of solves and cases of the last solution
    bool is_current;         // values and round-off are those at z
    // work:
    double weight;                   // proximal weight on the diagonal
    double excused;                  // cap on the round-off allowance, relative to the largest velocity
    double scale;                    // largest velocity, m/s
    double noise[2];                 // round-off of gaps, m, and of velocities, m/s, at z
    unsigned coin;                   // state of the random numbers of this solution
    double smallest_pivot;           // smallest pivot of J relative to its row; below it rows are redundant
    unsigned char *last_gate;        // [m] gate of the round before
    unsigned char *mode, *last_mode; // [n] state of each unknown
    int *active;                     // [n] indices of the unknowns in the equations
    double *J, *x, *F;               // [n * n], [n], [n]
};

enum { OUT = PCS_MODE_OUT, HELD = PCS_MODE_HELD, SLIDING = PCS_MODE_SLIDING, UNKNOWN = 255 };
enum {
    CHECK_LAWS_AFTER = 4,
    FREEZE_GATE_AFTER = 8,
    HALVE_AFTER = 30,
    NEWTON_LIMIT = 80,
    HASTY_LIMIT = 20,
    PROXIMAL_ROUNDS = 12
};

static const double velocity_tol = 1e-14;          // relative to the largest velocity
static const double undecided = 8.0 * DBL_EPSILON; // relative to the terms of a value
static const double most_noise = 1e-6;             // relative to the largest velocity
// Proximal weight on the diagonal for redundant rows, and its lower limit where they contradict each other.
static const double proximal_weight = 1e-6, least_weight = 1e-10;

static pcs_status active_create(pcs_context *ctx, const pcs_system *system, pcs_active_set **out)
{
    pcs_active_set *s;
    size_t m = (size_t)system->nrow, n = 2 * m + (size_t)system->ntangent;
    PCS_TAKE(ctx, s, 1, "the contact problem");
    PCS_TRY(pcs_contact_problem_create(ctx, system->rows, (int)m, system->ntangent, (int)n, &s->p));
    PCS_TAKE(ctx, s->rows, m, "the contact problem");
    s->p.rows = s->rows;
    PCS_TAKE_EACH(ctx, n * n, "the contact problem", double, &s->P, &s->P_size, &s->J);
    PCS_TAKE_EACH(ctx, n, "the contact problem", double, &s->b_size, &s->x, &s->F);
    PCS_TAKE_EACH(ctx, n, "the contact problem", unsigned char, &s->last_gate, &s->mode, &s->last_mode);
    PCS_TAKE(ctx, s->P_gate, m * n, "the contact problem");
    PCS_TAKE(ctx, s->active, n, "the contact problem");
    *out = s;
    return PCS_OK;
}

// Computes y += P z for `rows` rows of P, four at a time, so that the processor adds their sums in parallel.
static void contacts_add_product(int rows, int n, const double *P, const double *z, double *y)
{
    int i = 0, first = 0;
    while (first < n && z[first] == 0.0) first++;
    if (first == n) return;
    for (; i + 4 <= rows; i += 4, P += 4 * n) {
        double a = y[i], b = y[i + 1], c = y[i + 2], d = y[i + 3];
        for (int j = first; j < n; j++) {
            a += P[j] * z[j];
            b += P[n + j] * z[j];
            c += P[2 * n + j] * z[j];
            d += P[3 * n + j] * z[j];
        }
        y[i] = a, y[i + 1] = b, y[i + 2] = c, y[i + 3] = d;
    }
    for (; i < rows; i++, P += n)
        for (int j = first; j < n; j++) y[i] += P[j] * z[j];
}

// Sets noise[0] (gaps, m) and noise[1] (velocities, m/s) to the largest round-off of any value at the present z. All
// rows share that maximum: with stiff bodies the round-off of a row depends on that of the others.
static void active_find_noise(pcs_active_set *s)
{
    int first = s->p.has_position ? 0 : s->p.m, count = s->p.n - first;
    double *size = s->F, *z = s->x;
    s->noise[0] = s->noise[1] = 0.0;
    for (int k = 0; k < s->p.n; k++) {
        size[k] = s->b_size[k];
        z[k] = k < first ? 0.0 : fabs(s->p.z[k]);
    }
    contacts_add_product(count, s->p.n, s->P_size + (size_t)first * (size_t)s->p.n, z, size + first);
    for (int k = first; k < s->p.n; k++) {
        double *noise = &s->noise[k < s->p.m ? 0 : 1];
        *noise = fmax(*noise, undecided * size[k]);
    }
}

static double active_noise(const pcs_active_set *s, int k)
{
    return s->noise[k < s->p.m ? 0 : 1];
}

// Returns b + P z of one row.
static double contacts_sum(int n, double b, const double *P, const double *z)
{
    for (int j = 0; j < n; j++) b += P[j] * z[j];
    return b;
}

// Evaluates value = b + P z, and gate_gap = b_gate + P_gate z if the gate is live, for unknowns from `first` on.
static void contacts_evaluate(const pcs_contact_problem *p, const double *P, const double *P_gate, int first)
{
    memcpy(p->value + first, p->b + first, (size_t)(p->n - first) * sizeof *p->value);
    contacts_add_product(p->n - first, p->n, P + (size_t)first * (size_t)p->n, p->z, p->value + first);
    if (!p->gate_is_live) return;
    memcpy(p->gate_gap, p->b_gate, (size_t)p->m * sizeof *p->gate_gap);
    contacts_add_product(p->m, p->n, P_gate, p->z, p->gate_gap);
}

// Evaluates all values at z, with their round-off, unless this is done.
static void active_evaluate(pcs_active_set *s)
{
    if (s->is_current) return;
    s->is_current = true;
    contacts_evaluate(&s->p, s->P, s->P_gate, s->p.has_position ? 0 : s->p.m); // without positions nu stays zero
    active_find_noise(s);
}

// Returns the scale of the value of unknown k: m/s, or m (velocity times h) for gaps.
static double active_unit(const pcs_active_set *s, int k)
{
    return s->scale * pcs_contact_unit(&s->p, k);
}

// Returns the round-off of the value of unknown k: a row changes its set only if its law is violated by more.
static double active_slack(const pcs_active_set *s, int k)
{
    return velocity_tol * active_unit(s, k) + active_noise(s, k);
}

// Returns the effect of a change dz of unknown k on its value, over that which counts as none.
static double active_ratio(const pcs_active_set *s, int k, double dz)
{
    return fabs(dz * s->P[k * s->p.n + k]) / fmax(active_slack(s, k), DBL_MIN);
}

// Returns the magnitude up to which the value of unknown k counts as zero: round-off, capped so that diverging
// multipliers cannot widen it, plus `tolerance` times the scale.
static double active_allowance(const pcs_active_set *s, int k, double tolerance)
{
    double unit = active_unit(s, k);
    return tolerance * unit + fmin(active_noise(s, k), s->excused * unit);
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

// Fills row a of J with the equation of a held unknown (of a gap: over h) and returns its value.
static double active_equation(const pcs_active_set *s, int a, int count)
{
    int k = s->active[a];
    const double *P = s->P + (size_t)k * (size_t)s->p.n;
    double scale = 1.0 / pcs_contact_unit(&s->p, k), *row = s->J + (size_t)a * (size_t)count;
    for (int j = 0; j < count; j++) row[j] = scale * P[s->active[j]];
    if (P[k] != 0.0) return scale * s->p.value[k];
    row[a] = 1.0; // no impulse moves it: no friction
    return s->p.z[k];
}

// Returns the contact row to which a tangential unknown belongs.
static int active_owner(const pcs_active_set *s, int k)
{
    int tangent = k - 2 * s->p.m, j = 0;
    while (tangent < s->p.rows[j].first_tangent || tangent >= s->p.rows[j].first_tangent + s->p.rows[j].ntangent) j++;
    return j;
}

// Fills row a of J with the derivative of Lt - mu La y/|y|, for a tangent of a sliding row, and returns its value.
static double active_slip_equation(const pcs_active_set *s, int a, int count)
{
    int k = s->active[a], owner = active_owner(s, k), la = s->p.m + owner, t = k - pcs_contact_tangent(&s->p, owner, 0);
    const pcs_row *r = &s->p.rows[owner];
    double direction[2], *row = s->x, rotation = pcs_contact_slip(&s->p, s->mode, owner, direction);
    memset(row, 0, (size_t)s->p.n * sizeof *row);
    row[k] = 1.0;
    row[la] -= r->friction * direction[t];
    if (rotation > 0.0)
        for (int i = 0; i < r->ntangent; i++) {
            int ki = pcs_contact_tangent(&s->p, owner, i);
            double part = rotation * ((i == t ? 1.0 : 0.0) - direction[t] * direction[i]);
            row[ki] -= part;
            for (int j = 0; j < s->p.n; j++) row[j] += part * s->p.r[ki] * s->P[ki * s->p.n + j];
        }
    for (int j = 0; j < count; j++) s->J[a * count + j] = row[s->active[j]];
    return s->p.z[k] - r->friction * s->p.z[la] * direction[t];
}

// Returns true if F, the residuals of the active equations, is within round-off.
static bool active_is_at_noise(const pcs_active_set *s, int count)
{
    for (int a = 0; a < count; a++) {
        int k = s->active[a];
        double allowed = active_allowance(s, k, velocity_tol) * (s->mode[k] >= SLIDING ? s->p.r[k] : 1.0);
        if (!(fabs(s->F[a]) <= allowed / pcs_contact_unit(&s->p, k))) return false;
    }
    return true;
}

// Lists the unknowns in the equations, and zeroes the others. Returns their number.
static int active_list(pcs_active_set *s)
{
    int count = 0;
    for (int k = 0; k < s->p.n; k++) {
        if (s->mode[k] != OUT) {
            s->active[count++] = k;
        } else if (s->p.z[k] != 0.0) {
            s->p.z[k] = 0.0;
            s->is_current = false;
        }
    }
    return count;
}

// Makes one Newton step on the active equations, with a proximal weight (0 for none). Returns false if singular.
static bool active_newton_step(pcs_active_set *s, double proximal, double *change)
{
    int count = active_list(s);
    active_evaluate(s);
    for (int a = 0; a < count; a++) {
        bool slides = s->mode[s->active[a]] >= SLIDING;
        double *row = s->J + (size_t)a * (size_t)count;
        s->F[a] = slides ? active_slip_equation(s, a, count) : active_equation(s, a, count);
        for (int j = 0; j < count && s->active[j] < s->p.m; j++) row[j] *= s->p.h;
        row[a] *= 1.0 + proximal;
    }
    *change = 0.0;
    // Stops at round-off, beyond which redundant multipliers would drift, and with friction also the motion.
    if (proximal > 0.0 && active_is_at_noise(s, count)) return true;
    if (!pcs_dense_solve_to(count, s->J, s->F, proximal > 0.0 ? 1e-13 : s->smallest_pivot)) return false;
    for (int a = 0; a < count; a++) {
        int k = s->active[a];
        s->F[a] *= pcs_contact_unit(&s->p, k);
        s->p.z[k] -= s->F[a];
        *change = pcs_larger(*change, active_ratio(s, k, s->F[a]));
    }
    s->is_current = count == 0;
    active_evaluate(s);
    return true;
}

// Adds the proximal weight if redundant rows make J singular. It picks one admissible set of multipliers, and repeating
// the step with the same sets reduces its effect to round-off.
static bool active_newton(pcs_active_set *s, double *change)
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

// Restores the modes of `count` unknowns from k on with probability 1/2, unless they are the first that have changed.
static void active_toss(pcs_active_set *s, int k, int count, bool *has_changed)
{
    bool stays = *has_changed && s->coin >> 31 != 0;
    s->coin = s->coin * 1664525u + 1013904223u;
    *has_changed = *has_changed || memcmp(s->mode + k, s->last_mode + k, (size_t)count) != 0;
    if (stays) memcpy(s->mode + k, s->last_mode + k, (size_t)count);
}

// Restores a random half of the modes of gaps, impulses and friction separately, as a single contact can cycle.
static void active_change_half(pcs_active_set *s)
{
    bool has_changed = false;
    for (int k = 0; k < 2 * s->p.m; k++) active_toss(s, k, 1, &has_changed);
    for (int j = 0; j < s->p.m; j++)
        if (s->p.rows[j].ntangent > 0)
            active_toss(s, pcs_contact_tangent(&s->p, j, 0), s->p.rows[j].ntangent, &has_changed);
}

// Returns true if impulses of contacts that slide in space oppose their slip. Compares impulses, not their changes:
// where several contacts stick, friction may drift among them without any effect.
static bool active_slips_hold(const pcs_active_set *s)
{
    for (int j = 0; j < s->p.m; j++) {
        int k = pcs_contact_tangent(&s->p, j, 0);
        if (s->p.rows[j].ntangent < 2 || s->mode[k] != SLIDING) continue;
        double y[2], length = pcs_contact_trial(&s->p, j, y), limit = s->p.rows[j].friction * s->p.z[s->p.m + j];
        for (int t = 0; t < 2; t++)
            if (active_ratio(s, k + t, s->p.z[k + t] - limit * y[t] / length) > 1.0) return false;
    }
    return true;
}

// Returns false for sets that contradict each other (two corners of a wedge that both stick): they have no solution,
// and the proximal weight gives the nearest point, which violates them.
static bool active_is_solved(const pcs_active_set *s, double tolerance)
{
    for (int k = s->p.has_position ? 0 : s->p.m; k < s->p.n; k++)
        if (s->mode[k] == HELD && !(fabs(s->p.value[k]) <= active_allowance(s, k, tolerance))) return false;
    return true;
}

// Returns true if the friction of row j is within its disc, and opposes the slip if on the edge of the disc.
static bool active_slides_lawfully(const pcs_active_set *s, int j, double tolerance)
{
    double impulse2 = 0.0, slip2 = 0.0, power = 0.0, allowed = 0.0, room = 0.0;
    for (int t = 0; t < s->p.rows[j].ntangent; t++) {
        int k = pcs_contact_tangent(&s->p, j, t);
        impulse2 += s->p.z[k] * s->p.z[k];
        slip2 += s->p.value[k] * s->p.value[k];
        power += s->p.z[k] * s->p.value[k];
        allowed = fmax(allowed, active_allowance(s, k, tolerance));
        room = fmax(room, allowed * s->p.r[k]);
    }
    double limit = s->p.rows[j].friction * fmax(s->p.z[s->p.m + j], 0.0), slip = sqrt(slip2);
    if (sqrt(impulse2) > limit + room) return false;
    return slip <= allowed || power + slip * limit <= allowed * limit + room * slip;
}

// Returns true if normal unknown k satisfies its complementarity law in any mode; z_k = 0 if the law is off.
static bool active_is_lawful(const pcs_active_set *s, int k, bool is_on, double tolerance)
{
    double allowed = active_allowance(s, k, tolerance);
    if (!is_on) return s->p.z[k] == 0.0;
    if (!(s->p.value[k] >= -allowed) || !(s->p.z[k] >= -allowed * s->p.r[k])) return false;
    return fmin(s->p.value[k], s->p.z[k] / s->p.r[k]) <= allowed;
}

// Returns true if all laws hold at z, whatever the sets are.
static bool active_holds(pcs_active_set *s, double tolerance)
{
    active_evaluate(s); // after sweeps
    for (int j = 0; j < s->p.m; j++) {
        if (s->p.has_position && !active_is_lawful(s, j, true, tolerance)) return false;
        if (!active_is_lawful(s, s->p.m + j, s->p.gate[j], tolerance)) return false;
        if (!active_slides_lawfully(s, j, tolerance)) return false;
    }
    return true;
}

// Sets `scale` to the largest velocity of the problem, m/s, gaps over h included, and the smallest pivot of J.
static void active_find_scale(pcs_active_set *s)
{
    s->scale = pcs_sum_largest(s->p.n - s->p.m, s->p.b + s->p.m);
    if (s->p.has_position) s->scale = fmax(s->scale, pcs_sum_largest(s->p.m, s->p.b) / s->p.h);
    // Judges pivots by the terms of their entries, as a singular matrix looks regular where entries have lost digits.
    double lost = 1.0;
    for (int k = s->p.has_position ? 0 : s->p.m; k < s->p.n; k++)
        lost = fmax(lost, s->P_size[k * s->p.n + k] / fabs(s->P[k * s->p.n + k]));
    s->smallest_pivot = fmin(1e-7, fmax(1e-13, PCS_ROUND_SUM * lost));
}

// Closes the gates that differ from those of the round before: both states contradict themselves there.
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

// Computes the masses of redundant rows and the scales; call it first.
static void active_begin(pcs_active_set *s)
{
    s->weight = proximal_weight;
    s->excused = most_noise;
    s->coin = 1;
    pcs_contact_even_out(&s->p);
    active_find_scale(s);
}

static bool active_try(pcs_active_set *s)
{
    double change = 0.0;
    int limit = s->p.is_hasty ? HASTY_LIMIT : NEWTON_LIMIT;
    bool is_refined = false;
    if (!s->is_warm) memset(s->p.z, 0, (size_t)s->p.n * sizeof *s->p.z);
    s->is_current = false;
    memset(s->last_mode, UNKNOWN, (size_t)s->p.n);
    memset(s->mode, HELD, (size_t)s->p.n); // ties count as active
    active_evaluate(s);
    active_find_modes(s, false);
    if (active_is_idle(s)) return true;
    for (int round = 1; round <= limit; round++, s->iterations++) {
        if (active_same_modes(s) && active_slips_hold(s)) {
            bool is_solved = active_is_solved(s, s->accepted);
            // Starts again from here if multipliers were far larger before, and so have left their round-off.
            if (is_solved && (is_refined || active_is_solved(s, velocity_tol))) return true;
            is_refined = is_solved;
            // Ignores large multipliers of contradictory rows, which grow until one row yields, in the tolerance.
            if (!is_solved) {
                s->weight = fmax(least_weight, 0.1 * s->weight);
                s->excused = 0.0;
            }
        }
        memcpy(s->last_mode, s->mode, (size_t)s->p.n);
        memcpy(s->last_gate, s->p.gate, (size_t)s->p.m);
        if (!active_newton(s, &change)) return false;
        // Ends as soon as all laws hold, because the sets may change for ever where friction is not unique.
        if (round > CHECK_LAWS_AFTER && !s->p.gate_is_live && active_holds(s, velocity_tol)) return true;
        active_find_modes(s, round > FREEZE_GATE_AFTER);
        if (round == FREEZE_GATE_AFTER && s->p.gate_is_live) active_close_gates(s);
        if (active_same_modes(s)) continue;
        if (round > HALVE_AFTER) active_change_half(s);
    }
    return false;
}

// Iterates semi-smooth Newton steps from z, or from zero, until the sets repeat.
static bool active_iterate(pcs_active_set *s)
{
    bool is_solved = active_try(s);
    s->weight = proximal_weight;
    s->excused = most_noise;
    return is_solved;
}

// Makes one Newton step from the given z, value and gate_gap; *is_converged: the sets are the same after it.
static bool active_update(pcs_active_set *s, bool *is_converged)
{
    double change;
    active_begin(s);
    active_find_noise(s);
    memset(s->mode, HELD, (size_t)s->p.n); // ties count as active
    active_find_modes(s, false);
    s->is_current = false; // the given values come from the nonlinear laws
    memcpy(s->last_mode, s->mode, (size_t)s->p.n);
    if (!active_newton(s, &change)) return false;
    active_find_modes(s, true);
    *is_converged = active_same_modes(s);
    if (*is_converged) pcs_contact_put_on_discs(&s->p);
    return true;
}

// Fallbacks for sets that cycle or contradict each other: all cases if there are few, and sweeps.

enum { SWEEP_LIMIT = 2000, MOST_CASES = 4096, MOST_LOADED = 12, FEW = 64 };
// Tolerances of the laws relative to the largest velocity: of the first attempt, and of the second. The larger one
// would accept the average that the proximal weight gives two nearly redundant contacts that cannot both stick.
static const double independent_rtol = 0.5 * PCS_ROUND_VELOCITY, redundant_rtol = 1e-9;

// Returns the number of modes of row j if it is loaded: 3 with friction (sticks, slides in either direction), else 1.
static int solve_choices(const pcs_active_set *s, int j)
{
    return s->p.rows[j].ntangent > 0 && s->p.rows[j].friction > 0.0 ? 3 : 1;
}

// Returns the i-th of the gated rows.
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
        int j = solve_gated(s, loaded[i]), choices = solve_choices(s, j);
        s->mode[s->p.m + j] = HELD;
        if (choices > 1) s->mode[pcs_contact_tangent(&s->p, j, 0)] = tangent_mode[code % choices];
        code /= choices;
    }
    return code == 0;
}

// Returns the largest number of loaded rows with at most MOST_CASES cases in all; *count gets the number of gated rows.
static int solve_most_loaded(const pcs_active_set *s, int *count)
{
    double cases[MOST_LOADED + 1] = { 1.0 }, sum = 0.0; // numbers of cases with 0, 1, ... loaded rows
    int size = 0;
    *count = 0;
    for (int j = 0; j < s->p.m; j++) {
        if (!s->p.gate[j]) continue;
        for (int k = MOST_LOADED; k > 0; k--) cases[k] += solve_choices(s, j) * cases[k - 1];
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

// Tries all cases if there are few. In the plane a solution is one of them, and with rigid bodies it needs no more
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
                s->is_current = false;
                if (active_newton(s, &change) && active_is_solved(s, s->accepted) && active_holds(s, s->accepted))
                    return true;
            }
        } while (solve_choose(size, count, loaded));
    }
    return false;
}

// Projects normal unknown k of row j onto its admissible values. Returns its change over the one that counts as zero.
static double solve_project(pcs_active_set *s, int k, int j)
{
    double old = s->p.z[k];
    s->p.z[k] = fmax(old - s->p.r[k] * contacts_sum(s->p.n, s->p.b[k], s->P + k * s->p.n, s->p.z), 0.0);
    if (k >= s->p.m && !s->p.gate[j]) s->p.z[k] = 0.0;
    return active_ratio(s, k, s->p.z[k] - old);
}

// Projects the friction impulse of row j onto its disc. Returns the largest change over the one that counts as zero.
static double solve_project_friction(pcs_active_set *s, int j)
{
    int k = pcs_contact_tangent(&s->p, j, 0);
    double y[2], old[2], change = 0.0, limit = s->p.rows[j].friction * s->p.z[s->p.m + j];
    for (int t = 0; t < s->p.rows[j].ntangent; t++) {
        old[t] = s->p.z[k + t];
        s->p.value[k + t] = contacts_sum(s->p.n, s->p.b[k + t], s->P + (k + t) * s->p.n, s->p.z);
    }
    double length = pcs_contact_trial(&s->p, j, y), share = length > limit ? limit / length : 1.0;
    for (int t = 0; t < s->p.rows[j].ntangent; t++) s->p.z[k + t] = share * y[t];
    for (int t = 0; t < s->p.rows[j].ntangent; t++)
        change = pcs_larger(change, active_ratio(s, k + t, s->p.z[k + t] - old[t]));
    return change;
}

// Makes one sweep over all unknowns. Returns the largest change over the one that counts as zero.
static double solve_sweep(pcs_active_set *s)
{
    double change = 0.0;
    for (int j = 0; j < s->p.m; j++) {
        if (s->p.has_position) change = pcs_larger(change, solve_project(s, j, j));
        if (s->p.gate_is_live) {
            s->p.gate_gap[j] = contacts_sum(s->p.n, s->p.b_gate[j], s->P_gate + j * s->p.n, s->p.z);
            s->p.gate[j] = pcs_contact_is_gated(&s->p, j);
        }
        change = pcs_larger(change, solve_project(s, s->p.m + j, j));
        if (s->p.rows[j].ntangent > 0) change = pcs_larger(change, solve_project_friction(s, j));
    }
    return change;
}

// Solves by projected Gauss-Seidel sweeps: slow, but free of cycles. Gives up if changes grow (indefinite matrix).
static bool solve_by_sweeps(pcs_active_set *s)
{
    double first = 0.0;
    memset(s->p.z, 0, (size_t)s->p.n * sizeof *s->p.z);
    for (int sweep = 0; sweep < SWEEP_LIMIT; sweep++, s->iterations++) {
        active_find_noise(s);
        double change = solve_sweep(s);
        s->is_current = false;
        if (change <= 1.0) return active_holds(s, s->accepted);
        if (sweep == 0) first = change;
        if (!(change <= 1e3 * first)) return false;
    }
    return false;
}

// Tries all methods in turn, to the tolerance s->accepted. Returns true if one has converged.
static bool solve_any_combination(pcs_active_set *s, bool has_time)
{
    bool is_warm = s->is_warm;
    if (active_iterate(s)) return true;
    if (s->p.is_hasty) return false;
    s->is_warm = false;
    bool is_solved = (is_warm && active_iterate(s)) || solve_by_cases(s) || (has_time && solve_by_sweeps(s));
    s->is_warm = is_warm;
    return is_solved;
}

static bool active_solve(pcs_active_set *s)
{
    s->iterations = 1;
    active_begin(s);
    s->accepted = independent_rtol;
    bool is_solved = solve_any_combination(s, s->p.n <= FEW);
    s->accepted = redundant_rtol;
    if (!is_solved && (s->p.is_hasty || !solve_any_combination(s, true))) return false;
    for (int k = 0; k < 2 * s->p.m; k++) s->p.z[k] = fmax(s->p.z[k], 0.0); // negative ones are round-off
    pcs_contact_put_on_discs(&s->p);
    return true;
}

// Elimination of the bilateral unknowns.

enum { REFINEMENTS = 3 };
static const double most_mass = 1e8; // largest mass that joints may bind to a contact, in units of its own

pcs_status pcs_dense_contacts_create(pcs_context *ctx, const pcs_system *system, bool may_hold,
                                     pcs_dense_contacts **out)
{
    pcs_dense_contacts *c;
    size_t m = (size_t)system->nrow, n = 2 * m + (may_hold ? 2 : 1) * (size_t)system->ntangent;
    PCS_TAKE(ctx, c, 1, "the contact problem");
    c->system = system;
    PCS_TRY(pcs_contact_problem_create(ctx, system->rows, system->nrow, system->ntangent, (int)n, &c->p));
    c->p.nheld_t = may_hold ? system->ntangent : 0;
    PCS_TAKE_EACH(ctx, n * (n + 1), "the contact problem", double, &c->P, &c->H, &c->B, &c->Y, &c->rest);
    PCS_TAKE(ctx, c->P_gate, m * n, "the contact problem");
    PCS_TAKE(ctx, c->work, 2 * (n + 1), "the contact problem");
    PCS_TAKE(ctx, c->is_out, m, "the contact problem");
    PCS_TAKE_EACH(ctx, n, "the contact problem", int, &c->held, &c->place, &c->pivot);
    PCS_TAKE(ctx, c->row, m, "the contact problem");
    *out = c;
    return active_create(ctx, system, &c->set);
}

// Returns true if contact row j may transmit an impulse.
static bool dense_takes_part(const pcs_dense_contacts *c, int j)
{
    if (c->p.rows[j].is_bilateral || c->is_out[j]) return false;
    return c->p.has_position || c->p.gate_is_live || c->p.gate[j];
}

// Adds unknown k to those whose equation is imposed, unless nothing moves along it.
static void dense_hold(pcs_dense_contacts *c, int k)
{
    if (c->P[(size_t)k * (size_t)c->p.n + (size_t)k] != 0.0) c->held[c->nheld++] = k;
}

// Adds the position multipliers of a held row, normal and tangential, to the imposed unknowns.
static void dense_hold_gap(pcs_dense_contacts *c, int row)
{
    if (pcs_contact_holds(&c->p, row)) dense_hold(c, row);
    for (int t = 0; t < (pcs_contact_holds_tangents(&c->p, row) ? c->p.rows[row].ntangent : 0); t++)
        dense_hold(c, c->p.n - c->p.nheld_t + c->p.rows[row].first_tangent + t);
}

// Splits the unknowns into those whose equations are imposed and those left to the active set.
static void dense_number(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    s->p.m = s->p.nt = c->nheld = 0;
    for (int j = 0; j < c->p.m; j++) {
        dense_hold_gap(c, j);
        if (c->p.rows[j].is_bilateral) {
            if (c->p.has_position) c->held[c->nheld++] = j;
            c->held[c->nheld++] = c->p.m + j;
            continue;
        }
        if (!dense_takes_part(c, j)) continue;
        s->rows[s->p.m] = c->p.rows[j];
        s->rows[s->p.m].first_tangent = s->p.nt;
        s->p.nt += c->p.rows[j].ntangent;
        c->row[s->p.m++] = j;
    }
    s->p.n = 2 * s->p.m + s->p.nt;
    for (int j = 0; j < s->p.m; j++) {
        const pcs_row *row = &c->p.rows[c->row[j]];
        c->place[j] = c->row[j];
        c->place[s->p.m + j] = c->p.m + c->row[j];
        for (int t = 0; t < row->ntangent; t++)
            c->place[2 * s->p.m + s->p.rows[j].first_tangent + t] = 2 * c->p.m + row->first_tangent + t;
    }
}

// Returns entry (i, j) of P_hh in units of velocities and impulses.
static double dense_held_entry(const pcs_dense_contacts *c, int i, int j)
{
    int k = c->held[i], l = c->held[j];
    return c->P[k * c->p.n + l] * pcs_contact_unit(&c->p, l) / pcs_contact_unit(&c->p, k);
}

// Factors P_hh. Redundant joints make it singular, and a proximal weight then picks one set of multipliers. Joints
// known to be redundant always get it: away from positions where they agree P_hh is only nearly singular, and their
// contradictions must not become forces.
static double dense_factor_held(pcs_dense_contacts *c)
{
    int n = c->nheld;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c->H[i * n + j] = dense_held_entry(c, i, j);
    for (double weight = c->system->row_set.are_redundant ? PCS_SHARED_WEIGHT : 0.0;; weight = proximal_weight) {
        for (int i = 0; i < n * n; i++) c->B[i] = c->H[i] * (i % (n + 1) == 0 ? 1.0 + weight : 1.0);
        if (pcs_dense_factor(n, c->B, c->pivot) || weight > 0.0) return weight;
    }
}

// Computes x -= factor y for vectors of length `width`.
static void dense_subtract(int width, double factor, const double *y, double *x)
{
    for (int l = 0; l < width; l++) x[l] -= factor * y[l];
}

// Solves X = B^-1 X with the factors, for all columns at once; rows of X have length `width`.
static void dense_back(const pcs_dense_contacts *c, int width, double *X)
{
    int n = c->nheld;
    for (int k = 0; k < n; k++) {
        double *a = X + (size_t)k * (size_t)width, *b = X + (size_t)c->pivot[k] * (size_t)width;
        if (a != b)
            for (int l = 0; l < width; l++) {
                double keep = a[l];
                a[l] = b[l];
                b[l] = keep;
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            dense_subtract(width, c->B[i * n + j], X + (size_t)j * (size_t)width, X + (size_t)i * (size_t)width);
    pcs_dense_back(n, c->B, width, X);
}

// Refines Y += B^-1 (right-hand sides - P_hh Y), which removes the error of the proximal weight and of round-off.
static void dense_refine(pcs_dense_contacts *c, int width)
{
    for (int i = 0; i < c->nheld; i++) {
        int k = c->held[i];
        const double *P = c->P + (size_t)k * (size_t)c->p.n;
        double *x = c->rest + (size_t)i * (size_t)width, unit = pcs_contact_unit(&c->p, k);
        for (int l = 0; l < width - 1; l++) x[l] = P[c->place[l]] / unit;
        x[width - 1] = c->p.b[k] / unit;
        for (int j = 0; j < c->nheld; j++)
            dense_subtract(width, c->H[i * c->nheld + j], c->Y + (size_t)j * (size_t)width, x);
    }
    dense_back(c, width, c->rest);
    for (size_t l = 0; l < (size_t)c->nheld * (size_t)width; l++) c->Y[l] += c->rest[l];
}

// Solves Y = P_hh^-1 (P_hu, b_h).
static void dense_eliminate(pcs_dense_contacts *c)
{
    int width = c->set->p.n + 1;
    if (c->nheld == 0) return;
    memset(c->Y, 0, (size_t)c->nheld * (size_t)width * sizeof *c->Y);
    bool is_found = dense_factor_held(c) > 0.0 && !c->system->row_set.are_redundant;
    for (int round = 0; round <= (is_found ? PROXIMAL_ROUNDS : REFINEMENTS); round++) dense_refine(c, width);
}

// Substitutes the held unknowns into row P: `entry` becomes its coefficients of the other unknowns and, last, its
// constant; `size` gets the sums of the absolute values of their terms.
static void dense_reduce_row(const pcs_dense_contacts *c, const double *P, double *entry, double *size)
{
    int width = c->set->p.n + 1;
    for (int l = 0; l < width; l++) size[l] = fabs(entry[l]);
    for (int i = 0; i < c->nheld; i++) {
        const double *y = c->Y + (size_t)i * (size_t)width;
        double factor = P[c->held[i]] * pcs_contact_unit(&c->p, c->held[i]);
        if (factor != 0.0)
            for (int l = 0; l < width; l++) {
                double part = factor * y[l];
                entry[l] -= part;
                size[l] += fabs(part);
            }
    }
}

// Fills the coefficients of the reduced problem, P_uu - P_uh P_hh^-1 P_hu, and its constant terms.
static void dense_reduce_all(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    double *entry = c->work, *size = c->work + s->p.n + 1;
    size_t bytes = (size_t)s->p.n * sizeof *entry;
    for (int k = 0; k < s->p.n; k++) {
        const double *P = c->P + (size_t)c->place[k] * (size_t)c->p.n;
        for (int l = 0; l < s->p.n; l++) entry[l] = P[c->place[l]];
        entry[s->p.n] = c->p.b[c->place[k]];
        dense_reduce_row(c, P, entry, size);
        memcpy(s->P + (size_t)k * (size_t)s->p.n, entry, bytes);
        memcpy(s->P_size + (size_t)k * (size_t)s->p.n, size, bytes);
        s->p.b[k] = entry[s->p.n];
        s->b_size[k] = size[s->p.n];
        // Updates masses, as joints bind more mass to the contact.
        double more = P[c->place[k]] / s->P[k * s->p.n + k];
        s->p.r[k] = c->p.r[c->place[k]] * (more >= 1.0 && more < most_mass ? more : 1.0);
    }
    if (c->p.gate_is_live)
        for (int j = 0; j < s->p.m; j++) {
            const double *P = c->P_gate + (size_t)c->row[j] * (size_t)c->p.n;
            for (int l = 0; l < s->p.n; l++) entry[l] = P[c->place[l]];
            entry[s->p.n] = c->p.b_gate[c->row[j]];
            dense_reduce_row(c, P, entry, size);
            memcpy(s->P_gate + (size_t)j * (size_t)s->p.n, entry, bytes);
            s->p.b_gate[j] = entry[s->p.n];
        }
}

// Fills the reduced problem.
static void dense_reduce(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    dense_reduce_all(c);
    for (int j = 0; j < s->p.m; j++) s->p.gate[j] = c->p.gate[c->row[j]];
    s->p.h = c->p.h;
    s->p.has_position = c->p.has_position;
    s->p.gate_is_live = c->p.gate_is_live;
    s->p.gate_tolerance = c->p.gate_tolerance;
}

// Computes all multipliers and values from those of the reduced problem.
static void dense_expand(pcs_dense_contacts *c)
{
    const pcs_active_set *s = c->set;
    memset(c->p.z, 0, (size_t)c->p.n * sizeof *c->p.z);
    for (int k = 0; k < s->p.n; k++) c->p.z[c->place[k]] = s->p.z[k];
    for (int i = 0; i < c->nheld; i++) {
        const double *y = c->Y + (size_t)i * (size_t)(s->p.n + 1);
        double x = y[s->p.n];
        for (int l = 0; l < s->p.n; l++) x += y[l] * s->p.z[l];
        c->p.z[c->held[i]] = -x * pcs_contact_unit(&c->p, c->held[i]);
    }
    contacts_evaluate(&c->p, c->P, c->P_gate, c->p.has_position || c->p.held != NULL ? 0 : c->p.m);
    if (c->p.gate_is_live)
        for (int j = 0; j < c->p.m; j++) c->p.gate[j] = pcs_contact_is_gated(&c->p, j);
    for (int j = 0; j < s->p.m; j++) c->p.gate[c->row[j]] = s->p.gate[j];
}

// States the reduced problem, with the multipliers and values at hand.
static void dense_state(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    dense_number(c);
    for (int k = 0; k < s->p.n; k++) {
        s->p.z[k] = c->p.z[c->place[k]];
        s->p.value[k] = c->p.value[c->place[k]];
    }
    for (int j = 0; j < s->p.m; j++) s->p.gate_gap[j] = c->p.gate_gap[c->row[j]];
    dense_eliminate(c);
    dense_reduce(c);
}

bool pcs_dense_contacts_solve(pcs_dense_contacts *c, int *iterations)
{
    pcs_active_set *s = c->set;
    dense_state(c);
    s->is_warm = c->is_warm;
    s->p.is_hasty = c->p.is_hasty;
    bool is_converged = active_solve(s);
    *iterations = s->iterations;
    dense_expand(c);
    return is_converged;
}

bool pcs_dense_contacts_update(pcs_dense_contacts *c, bool *is_converged)
{
    dense_state(c);
    if (!active_update(c->set, is_converged)) return false;
    dense_expand(c);
    return true;
}

// Impacts.

// Returns the velocity along the row, or the tangent, of impulse k.
static double impact_rate(const pcs_system *system, int k, const double *v)
{
    int t = k - 2 * system->nrow;
    return t < 0 ? pcs_rows_dot(system->G, k - system->nrow, v) : pcs_rows_dot(system->T, t, v);
}

// Lists the impulses of the rows that are gated or bilateral. Returns their number.
static int impact_list(pcs_dense_contacts *c, const pcs_step_problem *p, int *list)
{
    int count = 0;
    for (int j = 0; j < c->p.m; j++) {
        const pcs_row *row = &c->p.rows[j];
        c->p.gate[j] = p->gate[j] = p->gate[j] || row->is_bilateral;
        if (p->gate[j]) list[count++] = c->p.m + j;
        for (int t = 0; t < (p->gate[j] ? row->ntangent : 0); t++) list[count++] = pcs_contact_tangent(&c->p, j, t);
    }
    return count;
}

// Fills the affine map of the impulses. Returns false if a velocity is not finite.
static bool impact_fill(pcs_dense_contacts *c, const pcs_step_solver *solver, const pcs_step_problem *p)
{
    const pcs_projection *projection = solver->projection;
    int m = c->p.m, *list = c->place, count = impact_list(c, p, list);
    bool is_finite = true;
    for (int i = 0; i < count; i++) {
        int k = list[i];
        double *P = c->P + (size_t)k * (size_t)c->p.n;
        for (int l = 0; l < count; l++) {
            int t = list[l] - 2 * m;
            const double *column = t < 0 ? projection->X->value[list[l] - m] : projection->XT->value[t];
            P[list[l]] = impact_rate(solver->system, k, column);
        }
        c->p.r[k] = 1.0 / P[k];
        c->p.b[k] = impact_rate(solver->system, k, p->v) + (k < 2 * m ? p->target[k - m] : p->target_t[k - 2 * m]);
        is_finite = is_finite && isfinite(c->p.b[k]);
    }
    return is_finite;
}

void pcs_dense_contacts_impact(pcs_dense_contacts *c, const pcs_step_solver *solver, pcs_step_problem *p,
                               pcs_step_result *result)
{
    int m = c->p.m;
    c->p.has_position = c->p.gate_is_live = c->p.is_hasty = c->is_warm = false;
    c->p.held = NULL;
    c->p.h = 1.0;
    memset(c->is_out, 0, (size_t)m);
    *result = (pcs_step_result){ 0 };
    for (int j = 0; j < m; j++) p->rate_before[j] = impact_rate(solver->system, m + j, p->v);
    if (!impact_fill(c, solver, p)) result->outcome = PCS_NOT_FINITE;
    else if (!pcs_dense_contacts_solve(c, &result->iterations)) result->outcome = PCS_NOT_CONVERGED;
    if (result->outcome != PCS_CONVERGED) return;
    memset(p->nu, 0, (size_t)m * sizeof *p->nu);
    memcpy(p->la, c->p.z + m, (size_t)m * sizeof *p->la);
    if (c->p.nt > 0) memcpy(p->la_t, c->p.z + 2 * m, (size_t)c->p.nt * sizeof *p->la_t);
    if (!p->leaves_motion) pcs_projection_push(solver, 1.0, p->la, p->la_t, p->v);
}
