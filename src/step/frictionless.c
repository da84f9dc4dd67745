#include "step/frictionless.h"

#include "core/dense.h"
#include "core/loop.h"
#include "step/contact_problem.h"

#include <math.h>
#include <string.h>

enum { FREEZE_GATE_AFTER = 8, PIVOT_AFTER = 20, PROXIMAL_ROUNDS = 40 };

// Round-off of a gap or a velocity over the sum of the sizes of its terms; anything smaller is cancellation error.
static const double round_off = 1e-12;

pcs_status pcs_frictionless_create(pcs_context *ctx, int m, pcs_frictionless **out)
{
    pcs_frictionless *s;
    size_t mm = (size_t)m * (size_t)m, n = (size_t)m;
    PCS_TAKE(ctx, s, 1, "the contact problem");
    PCS_TAKE_EACH(ctx, mm, "the contact problem", double, &s->P11, &s->P12, &s->P21, &s->P22, &s->Q1, &s->Q2);
    PCS_TAKE_EACH(ctx, n, "the contact problem", double, &s->gap0, &s->xi0, &s->gap, &s->gate_gap, &s->xi);
    PCS_TAKE_EACH(ctx, n, "the contact problem", unsigned char, &s->in_A, &s->in_B);
    PCS_TAKE_EACH(ctx, 2 * n, "the contact problem", double, &s->b, &s->x);
    PCS_TAKE(ctx, s->row, 2 * n, "the contact problem");
    PCS_TAKE(ctx, s->J, 4 * mm, "the contact problem");
    s->m = m;
    *out = s;
    return PCS_OK;
}

void pcs_frictionless_prepare(pcs_frictionless *s)
{
    if (s->m != 1) return;
    const double J[4] = { *s->P11, *s->P12 / s->h, *s->P21 * s->h, *s->P22 };
    s->both = pcs_dense_factor_pair(J, PCS_DENSE_SMALLEST);
}

// Evaluates gap, gate_gap and xi at the present multipliers.
static void frictionless_evaluate(pcs_frictionless *s)
{
    int m = s->m;
    for (int i = 0; i < m; i++) {
        s->gap[i] = s->gate_gap[i] = s->gap0[i];
        s->xi[i] = s->xi0[i];
        for (int j = 0; j < m; j++) {
            double nu = s->nu[j], la = s->la[j];
            if (nu == 0.0 && la == 0.0) continue;
            int k = i * m + j;
            s->gap[i] += s->P11[k] * nu + s->P12[k] * la;
            s->gate_gap[i] += s->Q1[k] * nu + s->Q2[k] * la;
            s->xi[i] += s->P21[k] * nu + s->P22[k] * la;
        }
    }
}

// Returns true if a test on row j is below the round-off of its terms; a and b are the blocks that multiply nu and La.
static bool frictionless_is_noise(const pcs_frictionless *s, int j, double test, double constant, const double *a,
                                  const double *b)
{
    double size = fabs(constant);
    for (int i = 0; i < s->m; i++) {
        int k = j * s->m + i;
        size += fabs(a[k] * s->nu[i]) + fabs(b[k] * s->la[i]);
    }
    return fabs(test) <= round_off * s->r[j] * size;
}

static bool frictionless_is_gated(const pcs_frictionless *s, int j)
{
    return pcs_gate_is_closed(s->gate_gap[j], s->has_position ? s->nu[j] : 0.0, s->r[j], s->gate_tolerance);
}

// Returns true if the gap law of row j is active for this nu and gap.
static bool frictionless_wants_gap(const pcs_frictionless *s, int j, double nu, double gap)
{
    if (s->held != NULL) return s->held[j] != 0;
    return s->has_position && nu - s->r[j] * gap >= 0.0;
}

// Updates the sets for the present multipliers. Returns true if they stay the same.
// After FREEZE_GATE_AFTER iterations the gate is frozen, and a row whose gap and multiplier both vanish keeps its set:
// only round-off would move it, back and forth. Later still only the first row that differs is changed, which cannot
// cycle between two sets at once.
static bool frictionless_update_sets(pcs_frictionless *s, int iteration)
{
    bool is_same = true, is_late = iteration > FREEZE_GATE_AFTER;
    for (int j = 0; j < s->m; j++) {
        bool is_closed = frictionless_is_gated(s, j), was_closed = s->gate[j] != 0;
        // A gate that still changes when it is frozen has no consistent answer and counts as closed.
        if (s->gate_is_live && !is_late) s->gate[j] = is_closed || (iteration == FREEZE_GATE_AFTER && was_closed);
        double position = s->nu[j] - s->r[j] * s->gap[j], velocity = s->la[j] - s->r[j] * s->xi[j];
        bool in_A = frictionless_wants_gap(s, j, s->nu[j], s->gap[j]), in_B = s->gate[j] && velocity >= 0.0;
        if (is_late && s->has_position && frictionless_is_noise(s, j, position, s->gap0[j], s->P11, s->P12))
            in_A = s->in_A[j];
        if (is_late && s->gate[j] && frictionless_is_noise(s, j, velocity, s->xi0[j], s->P21, s->P22))
            in_B = s->in_B[j];
        if (in_A == s->in_A[j] && in_B == s->in_B[j]) continue;
        is_same = false;
        s->in_A[j] = in_A;
        s->in_B[j] = in_B;
        if (iteration > PIVOT_AFTER) break;
    }
    return is_same;
}

// Lists the active equations and returns their number: j < m is the gap of row j, m + j its velocity.
static int frictionless_collect(pcs_frictionless *s)
{
    int count = 0;
    for (int j = 0; j < s->m; j++)
        if (s->in_A[j]) s->row[count++] = j;
    for (int j = 0; j < s->m; j++)
        if (s->in_B[j]) s->row[count++] = s->m + j;
    return count;
}

// Returns an entry of the system in the scaled unknowns (nu / h, La) and equations (gap / h, xi).
static double frictionless_entry(const pcs_frictionless *s, int row, int column)
{
    int m = s->m, i = row < m ? row : row - m, j = column < m ? column : column - m, k = i * m + j;
    if (row < m) return column < m ? s->P11[k] : s->P12[k] / s->h;
    return column < m ? s->P21[k] * s->h : s->P22[k];
}

static void frictionless_fill(pcs_frictionless *s, int n, double proximal)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s->J[i * n + j] = frictionless_entry(s, s->row[i], s->row[j]) * (i == j ? 1.0 + proximal : 1.0);
}

// Fills b with minus the residual of the active equations at x. Returns the largest residual by magnitude.
static double frictionless_residual(pcs_frictionless *s, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        int row = s->row[i];
        double sum = row < s->m ? s->gap0[row] / s->h : s->xi0[row - s->m];
        for (int j = 0; j < n; j++) sum += frictionless_entry(s, row, s->row[j]) * s->x[j];
        s->b[i] = -sum;
        largest = pcs_max(largest, fabs(sum));
    }
    return largest;
}

// Solves with a proximal term on the diagonal if redundant contacts make the matrix singular: it picks one admissible
// set of multipliers, and repeating the solve drives its effect to round-off. Contacts that contradict each other have
// no solution: their multipliers grow apart, and the negative ones leave the set.
static bool frictionless_solve_proximal(pcs_frictionless *s, int n, bool *is_exact)
{
    memset(s->x, 0, (size_t)n * sizeof *s->x);
    double start = frictionless_residual(s, n), now = start, last = INFINITY;
    for (int round = 0; round < PROXIMAL_ROUNDS && now > 1e-15 * start && now < 0.5 * last; round++) {
        frictionless_fill(s, n, 1e-6);
        if (!pcs_dense_solve(n, s->J, s->b)) return false;
        for (int i = 0; i < n; i++) s->x[i] += s->b[i];
        last = now;
        now = frictionless_residual(s, n);
    }
    *is_exact = now <= round_off * start;
    return true;
}

// Solves for the multipliers of the present sets; inactive ones are zero. *is_exact: the active equations hold.
static bool frictionless_solve_sets(pcs_frictionless *s, bool *is_exact)
{
    int n = frictionless_collect(s);
    *is_exact = true;
    memset(s->nu, 0, (size_t)s->m * sizeof *s->nu);
    memset(s->la, 0, (size_t)s->m * sizeof *s->la);
    if (n == 0) return true;
    memset(s->x, 0, (size_t)n * sizeof *s->x);
    (void)frictionless_residual(s, n);
    frictionless_fill(s, n, 0.0);
    if (pcs_dense_solve(n, s->J, s->b)) memcpy(s->x, s->b, (size_t)n * sizeof *s->x);
    else if (!frictionless_solve_proximal(s, n, is_exact)) return false;
    for (int i = 0; i < n; i++) {
        int row = s->row[i];
        if (row < s->m) s->nu[row] = s->x[i] * s->h;
        else s->la[row - s->m] = s->x[i];
    }
    return true;
}

// Sets negative multipliers, which are round-off, to zero.
PCS_APART static void frictionless_clear_noise(pcs_frictionless *s)
{
    bool is_clear = true;
    for (int j = 0; j < s->m; j++) {
        bool is_held = s->held != NULL && s->held[j];
        if ((is_held || s->nu[j] >= 0.0) && s->la[j] >= 0.0) continue;
        if (!is_held) s->nu[j] = pcs_max(0.0, s->nu[j]);
        s->la[j] = pcs_max(0.0, s->la[j]);
        is_clear = false;
    }
    if (!is_clear) frictionless_evaluate(s);
}

// Solves for the nonzero multipliers of a single contact. Returns false if its matrix is singular.
static bool frictionless_solve_single(const pcs_frictionless *s, bool in_A, bool in_B, double *nu, double *la)
{
    if (in_A && in_B) {
        double b[2] = { -(*s->gap0 / s->h + 0.0), -(*s->xi0 + 0.0) };
        if (!s->both.is_regular) return false;
        pcs_dense_solve_pair(&s->both, b);
        *nu = b[0] * s->h;
        *la = b[1];
        return true;
    }
    double pivot = in_A ? *s->P11 : *s->P22;
    if (!(fabs(pivot) > 0.0)) return false;
    if (in_A) *nu = -(*s->gap0 / s->h + 0.0) / pivot * s->h;
    else *la = -(*s->xi0 + 0.0) / pivot;
    return true;
}

// Solves for a single contact, whose first sets are nearly always right: repeats the first two rounds of the active-set
// method, operation by operation. Returns false if more rounds are needed.
static bool frictionless_settle_single(pcs_frictionless *s, int *iterations)
{
    double r = *s->r, gap = *s->gap0, gate_gap = gap, xi = *s->xi0, nu = 0.0, la = 0.0;
    bool gate = s->gate_is_live ? pcs_gate_is_closed(gap, 0.0, r, s->gate_tolerance) : *s->gate != 0;
    bool in_A = frictionless_wants_gap(s, 0, nu, gap), in_B = gate && la - r * xi >= 0.0;
    *iterations = 1;
    if (in_A || in_B) {
        if (!frictionless_solve_single(s, in_A, in_B, &nu, &la)) return false;
        if (nu != 0.0 || la != 0.0) {
            gap += *s->P11 * nu + *s->P12 * la;
            gate_gap += *s->Q1 * nu + *s->Q2 * la;
            xi += *s->P21 * nu + *s->P22 * la;
        }
        *iterations = 2;
        if (s->gate_is_live) gate = pcs_gate_is_closed(gate_gap, nu, r, s->gate_tolerance);
        if (in_A != frictionless_wants_gap(s, 0, nu, gap) || in_B != (gate && la - r * xi >= 0.0)) return false;
    }
    *s->nu = nu;
    *s->la = la;
    *s->gap = gap;
    *s->gate_gap = gate_gap;
    *s->xi = xi;
    *s->gate = gate;
    if (!(nu >= 0.0 && la >= 0.0)) frictionless_clear_noise(s);
    return true;
}

PCS_APART static bool frictionless_settle(pcs_frictionless *s, int *iterations)
{
    int limit = 100 + 10 * s->m;
    bool is_exact = true;
    memset(s->nu, 0, (size_t)s->m * sizeof *s->nu);
    memset(s->la, 0, (size_t)s->m * sizeof *s->la);
    memset(s->in_A, 0, (size_t)s->m);
    memset(s->in_B, 0, (size_t)s->m);
    frictionless_evaluate(s);
    bool is_settled = frictionless_update_sets(s, 0);
    for (*iterations = 1; !is_settled; ++*iterations) {
        if (*iterations > limit || !frictionless_solve_sets(s, &is_exact)) return false;
        frictionless_evaluate(s);
        is_settled = frictionless_update_sets(s, *iterations);
    }
    frictionless_clear_noise(s);
    return is_exact;
}

bool pcs_frictionless_active_set(pcs_frictionless *s, int *iterations)
{
    if (s->m == 1 && frictionless_settle_single(s, iterations)) return true;
    return frictionless_settle(s, iterations);
}
