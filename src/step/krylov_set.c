#include "step/krylov_set.h"

#include "core/rounding.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

enum { SIDES = 24 }; // directions whose sides are kept: with more of them a product for the solution costs little

static const double regular = 0.05; // smallest pivot of a triangle that is trusted, of the largest

static int krylov_room(const pcs_krylov *k)
{
    return k->restart < SIDES ? k->restart : SIDES;
}

pcs_status pcs_krylov_create(pcs_context *ctx, int n, int restart, int nside, const double *side, pcs_krylov **out)
{
    pcs_krylov *k;
    PCS_TAKE(ctx, k, 1, "the Krylov method");
    k->n = n;
    k->restart = restart;
    k->nside = nside;
    k->side = side;
    PCS_TAKE(ctx, k->side_sum, nside, "the Krylov method");
    PCS_TAKE(ctx, k->sides, krylov_room(k), "the Krylov basis");
    for (int i = 0; i < krylov_room(k); i++) PCS_TAKE(ctx, k->sides[i], nside, "the Krylov basis");
    PCS_TAKE(ctx, k->basis, restart + 1, "the Krylov basis");
    for (int i = 0; i <= restart; i++) PCS_TAKE(ctx, k->basis[i], n, "the Krylov basis");
    PCS_TAKE(ctx, k->H, (size_t)(restart + 1) * (size_t)restart, "the Krylov method");
    PCS_TAKE_EACH(ctx, restart + 1, "the Krylov method", double, &k->cosine, &k->sine, &k->g, &k->dots);
    PCS_TAKE_EACH(ctx, n, "the Krylov method", double, &k->direction, &k->image, &k->rest, &k->treated);
    *out = k;
    return PCS_OK;
}

static void krylov_multiply(pcs_krylov *k, const double *x, double *y)
{
    k->product(k->owner, x, y);
    k->count++;
}

// Adds `scale` times `side` to the side results of the solution.
static void krylov_add_side(pcs_krylov *k, double scale, const double *side)
{
    for (int i = 0; i < k->nside; i++) k->side_sum[i] += scale * side[i];
}

static void krylov_begin(pcs_krylov *k, double *x)
{
    memset(x, 0, (size_t)k->n * sizeof *x);
    memset(k->side_sum, 0, (size_t)k->nside * sizeof *k->side_sum);
    k->has_side = true;
}

double pcs_krylov_conjugate(pcs_krylov *k, const double *b, double *x, double tolerance, int limit)
{
    int n = k->n;
    double *p = k->direction, *Ap = k->image, *r = k->rest;
    krylov_begin(k, x);
    memcpy(r, b, (size_t)n * sizeof *r);
    k->treat(k->owner, r, p);
    double *const pair[2] = { p, r }, *const next[2] = { k->treated, r };
    double dots[2];
    pcs_all_dots(k->comm, n, 2, pair, r, dots);
    double rz = dots[0], size = sqrt(dots[1]);
    for (int step = 0; step < limit && size > tolerance; step++) {
        krylov_multiply(k, p, Ap);
        double curvature = pcs_all_dot(k->comm, n, p, Ap);
        if (!(curvature > 0.0)) break; // in the null space, or not finite
        double alpha = rz / curvature, last = rz;
        krylov_add_side(k, alpha, k->side);
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * Ap[i];
        }
        k->treat(k->owner, r, k->treated);
        pcs_all_dots(k->comm, n, 2, next, r, dots);
        rz = dots[0];
        size = sqrt(dots[1]);
        for (int i = 0; i < n; i++) p[i] = k->treated[i] + rz / last * p[i];
    }
    return size;
}

// Orthogonalises basis[j + 1] against the others twice (once is not enough near convergence) and fills column j of H.
static void krylov_orthogonalise(pcs_krylov *k, int j)
{
    int n = k->n;
    double *w = k->basis[j + 1], *h = &k->H[(size_t)j * (size_t)(k->restart + 1)];
    memset(h, 0, (size_t)(j + 2) * sizeof *h);
    for (int pass = 0; pass < 2; pass++) {
        pcs_all_dots(k->comm, n, j + 1, k->basis, w, k->dots);
        for (int i = 0; i <= j; i++) {
            h[i] += k->dots[i];
            for (int l = 0; l < n; l++) w[l] -= k->dots[i] * k->basis[i][l];
        }
    }
    h[j + 1] = sqrt(pcs_all_dot(k->comm, n, w, w));
    if (h[j + 1] > 0.0)
        for (int l = 0; l < n; l++) w[l] /= h[j + 1];
}

// Rotates column j of H to upper triangular form. Returns the residual of the least-squares problem so far, NAN if a
// product was not finite.
static double krylov_rotate(pcs_krylov *k, int j)
{
    double *h = &k->H[(size_t)j * (size_t)(k->restart + 1)];
    for (int i = 0; i < j; i++) {
        double a = h[i], b = h[i + 1];
        h[i] = k->cosine[i] * a + k->sine[i] * b;
        h[i + 1] = k->cosine[i] * b - k->sine[i] * a;
    }
    double length = hypot(h[j], h[j + 1]);
    if (!isfinite(length)) return NAN;
    k->cosine[j] = length > 0.0 ? h[j] / length : 1.0;
    k->sine[j] = length > 0.0 ? h[j + 1] / length : 0.0;
    h[j] = length;
    k->g[j + 1] = -k->sine[j] * k->g[j];
    k->g[j] *= k->cosine[j];
    return fabs(k->g[j + 1]);
}

// Adds D V y to x, where y solves the triangular system H y = g of `count` columns.
static void krylov_combine(pcs_krylov *k, int count, double *x)
{
    int n = k->n;
    for (int i = count - 1; i >= 0; i--) {
        const double *H = k->H;
        size_t lead = (size_t)(k->restart + 1);
        double sum = k->g[i];
        for (int j = i + 1; j < count; j++) sum -= H[(size_t)j * lead + (size_t)i] * k->dots[j];
        double pivot = H[(size_t)i * lead + (size_t)i];
        k->dots[i] = pivot != 0.0 ? sum / pivot : 0.0;
    }
    memset(k->treated, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < count; j++)
        for (int l = 0; l < n; l++) k->treated[l] += k->dots[j] * k->basis[j][l];
    k->treat(k->owner, k->treated, k->direction);
    for (int l = 0; l < n; l++) x[l] += k->direction[l];
    k->has_side = k->has_side && count <= krylov_room(k);
    for (int j = 0; j < count && k->has_side; j++) krylov_add_side(k, k->dots[j], k->sides[j]);
}

// Returns true if the pivots of all columns are of similar size: the rotations then give the residual, and a product is
// saved. Redundant contacts violate this.
static bool krylov_is_regular(const pcs_krylov *k, int count)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < count; i++) {
        double pivot = fabs(k->H[(size_t)i * (size_t)(k->restart + 2)]);
        least = fmin(least, pivot);
        most = fmax(most, pivot);
    }
    return least > regular * most;
}

double pcs_krylov_minimal(pcs_krylov *k, const double *b, double *x, double tolerance, int limit)
{
    int n = k->n, used = 0;
    krylov_begin(k, x);
    memcpy(k->rest, b, (size_t)n * sizeof *b);
    double size = sqrt(pcs_all_dot(k->comm, n, b, b)), last = INFINITY;
    while (size > tolerance && used < limit && size < 0.9 * last) {
        last = size;
        for (int l = 0; l < n; l++) k->basis[0][l] = k->rest[l] / size;
        k->g[0] = size;
        int j = 0;
        for (double rest = size; j < k->restart && used < limit && rest > tolerance; j++, used++) {
            k->treat(k->owner, k->basis[j], k->direction);
            krylov_multiply(k, k->direction, k->basis[j + 1]);
            if (j < krylov_room(k)) memcpy(k->sides[j], k->side, (size_t)k->nside * sizeof *k->side);
            krylov_orthogonalise(k, j);
            bool is_whole = k->H[(size_t)j * (size_t)(k->restart + 1) + (size_t)(j + 1)] <= 1e-16 * fabs(k->H[0]);
            rest = krylov_rotate(k, j);
            if (!isfinite(rest)) return NAN;
            if (is_whole) rest = 0.0; // the space is exhausted
        }
        krylov_combine(k, j, x);
        if (fabs(k->g[j]) <= tolerance && krylov_is_regular(k, j)) return fabs(k->g[j]);
        krylov_multiply(k, x, k->image);
        used++;
        for (int l = 0; l < n; l++) k->rest[l] = b[l] - k->image[l];
        size = sqrt(pcs_all_dot(k->comm, n, k->rest, k->rest));
    }
    return size;
}

enum {
    FREEZE_GATE_AFTER = 8,
    ROUNDS = 200,
    HASTY_ROUNDS = 20,
    IDLE_ROUNDS = 20,
    REFINEMENTS = 2, // of multipliers that redundant joints share: what is left then they contradict each other by
    MANY_ROWS = 16,
    KRYLOV_RESTART = 120,
    KRYLOV_LIMIT = 3000,
    SWEEPS = 20000
};

// Relative tolerances of velocities and gaps: tight: required, slack: zero, acceptable * tight: enough after a stall.
static const double tight_rate = 1e-14, slack_rate = 1e-13, tight_gap = 1e-15, slack_gap = 4e-15, acceptable = 50.0;
// Linear systems, of the residual: while the sets of many rows get better, and else; few rows have cheap products and
// would take a round more. A live gate may have more than one consistent answer, and which one is found must not depend
// on what is left: firm; while friction alone changes, looser as far as no more is left than of the first round.
static const double loose = 1e-2, firm = 1e-3;
static const double spread = 20.0;  // root of the number of unknowns that the last residual is one of, at least
static const double at_edge = 1e-9; // of the radius of a disc: impulses this near to its edge are those of slip

// Returns the first unknown of the stage, and the end of its range.
static int set_first(const pcs_krylov_set *c)
{
    return c->stage & PCS_STAGE_GAP ? 0 : c->p.m;
}
static int set_last(const pcs_krylov_set *c)
{
    return c->stage & PCS_STAGE_RATE ? c->p.n : c->p.m;
}

// Computes image = P x of the stage.
static void set_multiply(pcs_krylov_set *c, const double *x)
{
    c->product(c->owner, c->stage, c->stage, x, c->image, NULL);
    c->products++;
}

// Applies the preconditioners to a residual: gaps, velocities, and slip across its direction. Passes the present sets
// on to them before.

// Compliance along the direction of slip in units of 1 / r, and the rotation factor below which slip is left free.
static const double stiff = 1e3, slow_turn = 1e-2;

// Finds the factored preconditioners of this stage, for gaps and for velocities; NULL if absent.
static void treat_find_ready(const pcs_krylov_set *c, pcs_preconditioner *pair[2])
{
    bool is_meant[2] = { c->stage & PCS_STAGE_GAP && c->p.held == NULL, // held rows feel hardly more than M
                         c->stage & PCS_STAGE_RATE };
    for (int law = 0; law < 2; law++) {
        pcs_preconditioner *pre = c->preconditioner[law];
        pair[law] = is_meant[law] && pcs_preconditioner_is_ready(pre) ? pre : NULL;
    }
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

// Returns true if a row slides in space and the preconditioners include it.
static bool treat_turns(const pcs_krylov_set *c, int row)
{
    int k = pcs_contact_tangent(&c->p, row, 0);
    return c->p.rows[row].ntangent == 2 && c->mode[k] == PCS_MODE_SLIDING && c->is_in[k];
}

// Raises the diagonals of bilateral rows in the preconditioner as in the system.
static void treat_raise(const pcs_krylov_set *c, pcs_preconditioner *pre, int first)
{
    if (c->shared == 0.0) return;
    for (int j = 0; j < c->p.m; j++)
        if (c->p.rows[j].is_bilateral && c->is_in[first + j])
            pcs_preconditioner_add(pre, j, j, c->shared / c->p.r[first + j]);
}

// Prepares the preconditioner of gaps (0) or of velocities (1) for the present sets and directions of slip.
static void treat_choose(pcs_krylov_set *c, int law)
{
    pcs_preconditioner *pre = c->preconditioner[law];
    bool is_same = true, turns = false;
    for (int j = 0; j < c->p.m; j++)
        for (int t = -1; t < (law == 0 ? 0 : c->p.rows[j].ntangent); t++) {
            int k = t < 0 ? law * c->p.m + j : pcs_contact_tangent(&c->p, j, t);
            bool is_in = treat_is_near(c, j, k);
            is_same = is_same && c->is_in[k] == is_in;
            turns = turns || (is_in && c->mode[k] == PCS_MODE_SLIDING);
            c->is_in[k] = is_in;
        }
    // A factor that knows directions of slip is not that of the same sets without.
    if (is_same && !turns && !(law == 1 && c->has_turns) && pcs_preconditioner_is_ready(pre)) return;
    if (law == 1) c->has_turns = turns;
    pcs_preconditioner_choose(pre, c->is_in + law * c->p.m);
    treat_raise(c, pre, law * c->p.m);
    for (int j = 0; j < (turns ? c->p.m : 0); j++)
        if (treat_turns(c, j)) treat_hold_across(c, pre, j);
    pcs_preconditioner_factor(pre);
}

// Prepares the preconditioners for the present sets.
static void treat_prepare(pcs_krylov_set *c)
{
    if (c->stage & PCS_STAGE_GAP && c->preconditioner[0] != NULL && c->p.held == NULL) treat_choose(c, 0);
    if (c->stage & PCS_STAGE_RATE && c->preconditioner[1] != NULL) treat_choose(c, 1);
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
static void treat_apply(void *owner, const double *r, double *x)
{
    pcs_krylov_set *c = owner;
    bool has_rates = c->stage & PCS_STAGE_RATE;
    pcs_preconditioner *pair[2];
    treat_find_ready(c, pair);
    const pcs_preconditioner *gaps = pair[0], *rates = pair[1];
    int m = c->p.m, known = 2 * m + c->p.nt;
    for (int k = 0; k < c->p.n; k++) x[k] = c->aim[k] = 0.0;
    for (int k = set_first(c); k < set_last(c); k++) {
        bool is_near = k < known && c->is_in[k] && (k < m ? gaps : rates) != NULL;
        if (c->mode[k] != PCS_MODE_HELD) continue;
        if (is_near) c->aim[k] = r[k];
        else x[k] = c->p.r[k] * r[k];
    }
    for (int j = 0; j < (rates != NULL ? m : 0); j++)
        if (treat_turns(c, j)) treat_aim_slip(c, j, r, &c->aim[pcs_contact_tangent(&c->p, j, 0)]);
    for (int law = 0; law < 2; law++)
        if (pair[law] != NULL) pcs_preconditioner_solve(pair[law], c->aim + law * m);
    for (int k = set_first(c); k < set_last(c) && k < known; k++)
        if (c->mode[k] == PCS_MODE_HELD && c->is_in[k] && (k < m ? gaps : rates) != NULL) x[k] = c->aim[k];
    if (has_rates)
        for (int j = 0; j < m; j++) {
            int k = pcs_contact_tangent(&c->p, j, 0);
            if (c->p.rows[j].ntangent > 0 && c->mode[k] >= PCS_MODE_SLIDING)
                treat_slip(c, j, r, rates == NULL ? NULL : &c->aim[k], x);
        }
}

// Accelerated projections for contact problems of many rows, the way out when the sets of Newton's method fail.
//
// z solves the laws exactly where z = Proj(z - s r (value + correction)) with the correction friction |xt| on the
// normal velocity of a row that rubs (de Saxce, Feng 1998); Proj goes onto z >= 0 or the cone |Lt| <= friction La.
// Nesterov's extrapolation with a restart whenever it points uphill (O'Donoghue, Candes 2015); s = 1 / largest
// eigenvalue of r P.

enum { POWER_STEPS = 12, PATIENCE = 100 };

static const double still = 1.0001; // largest defect of so many sweeps over the smallest: they lead nowhere

// Returns one mass for all directions of a row, kg, so that its cone stays circular.
static double gradient_mass(const pcs_krylov_set *c, int row)
{
    double mass = c->p.r[c->p.m + row];
    for (int t = 0; t < c->p.rows[row].ntangent; t++) mass = fmin(mass, c->p.r[pcs_contact_tangent(&c->p, row, t)]);
    return mass;
}

// Returns true if the velocity law of a row applies: its gate is closed, or it is bilateral.
static bool gradient_is_on(const pcs_krylov_set *c, int row)
{
    return c->p.gate[row] || c->p.rows[row].is_bilateral;
}

// Computes z = Proj(aim - s r (aim_value + correction)) for La and Lt of one row.
static void gradient_cone(pcs_krylov_set *c, int row, double s)
{
    const pcs_row *r = &c->p.rows[row];
    int la = c->p.m + row;
    double mass = s * gradient_mass(c, row), slip2 = 0.0, y2 = 0.0;
    for (int t = 0; t < r->ntangent; t++) {
        int k = pcs_contact_tangent(&c->p, row, t);
        slip2 += c->aim_value[k] * c->aim_value[k];
        c->p.z[k] = gradient_is_on(c, row) && r->friction > 0.0 ? c->aim[k] - mass * c->aim_value[k] : 0.0;
        y2 += c->p.z[k] * c->p.z[k];
    }
    double normal = c->aim[la] - mass * (c->aim_value[la] + r->friction * sqrt(slip2)), y = sqrt(y2);
    if (!gradient_is_on(c, row)) normal = 0.0;
    double scale = 1.0;
    if (!r->is_bilateral && y > r->friction * normal) {
        double on_edge = fmax(0.0, (normal + r->friction * y) / (1.0 + r->friction * r->friction));
        scale = y > 0.0 ? r->friction * on_edge / y : 0.0;
        normal = on_edge;
    }
    c->p.z[la] = r->is_bilateral ? normal : fmax(normal, 0.0);
    for (int t = 0; t < r->ntangent; t++) c->p.z[pcs_contact_tangent(&c->p, row, t)] *= scale;
}

static void gradient_all(pcs_krylov_set *c, double s)
{
    for (int j = 0; j < c->p.m; j++) {
        if (c->stage & PCS_STAGE_GAP) {
            double nu = c->aim[j] - s * c->p.r[j] * c->aim_value[j];
            c->p.z[j] = c->p.rows[j].is_bilateral ? nu : fmax(nu, 0.0);
            if (c->p.held != NULL) c->p.z[j] = pcs_contact_holds(&c->p, j) ? nu : 0.0;
        }
        if (c->stage & PCS_STAGE_RATE) gradient_cone(c, j, s);
    }
    for (int k = 2 * c->p.m + c->p.nt; k < set_last(c); k++)
        if (c->mode[k] == PCS_MODE_HELD) c->p.z[k] = c->aim[k] - s * c->p.r[k] * c->aim_value[k];
}

// Returns the largest eigenvalue of r P on the rows that take part, by the power method.
static double gradient_lipschitz(pcs_krylov_set *c)
{
    double size = 1.0;
    int first = set_first(c), last = set_last(c);
    if (c->lipschitz[c->stage] > 0.0) return c->lipschitz[c->stage];
    for (int k = first; k < last; k++) c->x[k] = c->p.r[k] * (1.0 + 0.5 * sin(1.7 * k));
    for (int step = 0; step < POWER_STEPS; step++) {
        set_multiply(c, c->x);
        size = pcs_all_largest(c->comm, last - first, c->image + first);
        if (size > 0.0)
            for (int k = first; k < last; k++) c->x[k] = c->p.r[k] * c->image[k] / size;
    }
    // The largest entry has been brought to 1 before every product, so `size` tends to the eigenvalue.
    c->lipschitz[c->stage] = 1.2 * pcs_larger(1e-300, size);
    return c->lipschitz[c->stage];
}

// Returns the fixed-point residual, the largest |z - aim| over all processes as a velocity, m/s: zero at a solution.
static double gradient_defect(const pcs_krylov_set *c, double s)
{
    double worst = 0.0;
    for (int k = set_first(c); k < set_last(c); k++) {
        double defect = fabs(c->p.z[k] - c->aim[k]) / (s * c->p.r[k] * pcs_contact_unit(&c->p, k));
        worst = pcs_larger(worst, defect);
    }
    return pcs_all_max(c->comm, worst);
}

// Returns true if the last move was against the direction of descent.
static bool gradient_is_uphill(const pcs_krylov_set *c)
{
    double sum = 0.0;
    for (int k = set_first(c); k < set_last(c); k++)
        sum += (c->aim[k] - c->p.z[k]) * (c->p.z[k] - c->z_last[k]) / c->p.r[k];
    return pcs_all_total(c->comm, sum) > 0.0;
}

// Extrapolates from z and value: aim = z + weight (z - z_last), its values alike.
static void gradient_extrapolate(pcs_krylov_set *c, double weight)
{
    for (int k = set_first(c); k < set_last(c); k++) {
        double step = weight * (c->p.z[k] - c->z_last[k]);
        c->aim[k] = c->p.z[k] + step;
        c->F[k] = weight * (c->p.value[k] - c->F[k]); // F: values at z_last
        c->aim_value[k] = c->p.value[k] + c->F[k];
        c->z_last[k] = c->p.z[k];
        c->F[k] = c->p.value[k];
    }
}

// Repeats the step from the same point with the values found at its end: an extragradient step (Korpelevich 1976), for
// monotone maps that are not symmetric, on which the plain step may cycle.
static void gradient_correct(pcs_krylov_set *c, double s)
{
    for (int k = set_first(c); k < set_last(c); k++) {
        c->x[k] = c->p.z[k];
        c->aim_value[k] = c->p.value[k];
    }
    gradient_all(c, s);
    for (int k = set_first(c); k < set_last(c); k++) c->x[k] = c->p.z[k] - c->x[k];
    set_multiply(c, c->x);
    for (int k = set_first(c); k < set_last(c); k++) c->p.value[k] += c->image[k];
}

// Projects z repeatedly until the laws are violated by no more than `target` m/s. The gate stays as it is, and the
// values are not updated.
static void gradient_solve(pcs_krylov_set *c, double target, int limit)
{
    int first = set_first(c), last = set_last(c);
    double s = 1.0 / gradient_lipschitz(c), momentum = 1.0, best = INFINITY, low = INFINITY, high = 0.0;
    bool is_accelerated = c->is_symmetric && c->stage != PCS_STAGE_BOTH;
    for (int k = first; k < last; k++) {
        c->z_last[k] = c->aim[k] = c->p.z[k];
        c->F[k] = c->aim_value[k] = c->p.value[k];
    }
    for (int sweep = 0; sweep < limit; sweep++, c->projections++) {
        gradient_all(c, s);
        double defect = gradient_defect(c, s);
        if (defect <= target || !isfinite(defect)) break;
        if (defect > 100.0 * best) s *= 0.5; // the step was too long
        best = fmin(best, defect);
        if (sweep % PATIENCE == 0) {
            if (high <= still * low && sweep > 0) break;
            low = high = defect;
        }
        low = fmin(low, defect);
        high = fmax(high, defect);
        // The values at z are those at `aim` and what the way from there adds.
        for (int k = first; k < last; k++) c->x[k] = c->p.z[k] - c->aim[k];
        set_multiply(c, c->x);
        for (int k = first; k < last; k++) c->p.value[k] = c->aim_value[k] + c->image[k];
        if (!is_accelerated) gradient_correct(c, s);
        bool restarts = !is_accelerated || gradient_is_uphill(c) || defect > 100.0 * best;
        double next = restarts ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * momentum * momentum));
        gradient_extrapolate(c, restarts ? 0.0 : (momentum - 1.0) / next);
        momentum = next;
    }
}

// Live gates: the law of a velocity is imposed where the gate is closed, and the gate follows the z that this leads to.
// One that opens when its law is imposed and closes when it is not would do so for ever; it counts as closed, as in the
// dense solvers, and the law of the gap settles about that.
enum { GATE_OPENED = 1, GATE_CONTRADICTED };

static bool gate_is_closed(const pcs_krylov_set *c, int row)
{
    return c->gate_story[row] == GATE_CONTRADICTED || pcs_contact_is_gated(&c->p, row);
}

static void gate_follow(pcs_krylov_set *c, int row)
{
    bool is_closed = gate_is_closed(c, row);
    if (c->p.gate[row] && !is_closed) c->gate_story[row] = GATE_OPENED;
    c->p.gate[row] = is_closed;
}

static void gate_close(pcs_krylov_set *c)
{
    for (int j = 0; j < c->p.m; j++)
        if (c->gate_story[j] == GATE_OPENED && !c->p.gate[j] && gate_is_closed(c, j))
            c->gate_story[j] = GATE_CONTRADICTED;
}

// Returns true if changes of z update gate gaps, too. The values are updated by the sums of products that the Krylov
// method has made, as all is linear: while sets still change, this saves the product with the solution. The values of a
// solution to be accepted come from products with z itself.
static bool move_wants_gate(const pcs_krylov_set *c)
{
    return c->p.gate_is_live && c->stage == PCS_STAGE_BOTH;
}

static void move_add(pcs_krylov_set *c, const double *image, const double *gate_image)
{
    for (int k = set_first(c); k < set_last(c); k++) c->p.value[k] += image[k];
    if (move_wants_gate(c))
        for (int j = 0; j < c->p.m; j++) c->p.gate_gap[j] += gate_image[j];
}

static void set_move(pcs_krylov_set *c, const double *dz)
{
    c->product(c->owner, c->stage, c->stage, dz, c->image, move_wants_gate(c) ? c->gate_image : NULL);
    c->products++;
    move_add(c, c->image, c->gate_image);
}

static bool set_move_along(pcs_krylov_set *c)
{
    const double *sum = c->krylov->side_sum;
    if (!c->krylov->has_side || (move_wants_gate(c) && !c->gate_is_free)) return false;
    move_add(c, sum, sum + (c->gate_image - c->image));
    c->is_summed = true;
    return true;
}

static void set_evaluate(pcs_krylov_set *c)
{
    int in = c->stage == PCS_STAGE_RATE && c->p.has_position ? PCS_STAGE_BOTH : c->stage;
    int first = in & PCS_STAGE_GAP ? 0 : c->p.m, last = set_last(c);
    bool wants_gate = c->p.gate_is_live && c->stage & PCS_STAGE_RATE;
    long count = 0;
    for (int k = first; k < last; k++) count += c->p.z[k] != 0.0;
    bool is_moved = pcs_all_count(c->comm, count) > 0;
    if (is_moved) c->product(c->owner, in, c->stage, c->p.z, c->image, wants_gate ? c->gate_image : NULL);
    c->products += is_moved;
    c->is_summed = false;
    for (int k = set_first(c); k < last; k++) c->p.value[k] = c->p.b[k] + (is_moved ? c->image[k] : 0.0);
    if (wants_gate)
        for (int j = 0; j < c->p.m; j++) c->p.gate_gap[j] = c->p.b_gate[j] + (is_moved ? c->gate_image[j] : 0.0);
}

// Returns true if the residuals are within the round-off of velocities, and of gaps over h. A light node on a heavy
// body, or redundant rows, prevent any method from going further.
static bool set_is_rounded_off(const pcs_krylov_set *c)
{
    double rate = PCS_ROUND_VELOCITY * c->size, gap = PCS_ROUND_LENGTH * (c->length + c->reach) / c->p.h + rate,
           worst = 0.0;
    for (int k = set_first(c); k < set_last(c); k++) worst = fmax(worst, fabs(c->F[k]) / (k < c->p.m ? gap : rate));
    return pcs_all_max(c->comm, worst) <= 1.0;
}

void pcs_krylov_set_take(pcs_krylov_set *c, int nsmooth, const unsigned char *held)
{
    c->nb = nsmooth;
    c->p.held = held;
    c->p.nheld_t = held == NULL ? 0 : c->p.nt;
    c->p.n = c->krylov->n = 2 * c->p.m + c->p.nt + nsmooth + c->p.nheld_t;
    for (int k = c->p.n - c->p.nheld_t; k < c->p.n; k++) c->p.z[k] = 0.0; // no part of what steps start from
}

pcs_status pcs_krylov_set_create(pcs_context *ctx, const pcs_system *system, const pcs_comm *comm, int nsmooth,
                                 pcs_krylov_set **out)
{
    pcs_krylov_set *c;
    int m = system->nrow, nt = system->ntangent;
    int n = 2 * (m + nt) + nsmooth, nall = 2 * (pcs_system_nrow(system) + pcs_system_ntangent(system)) + nsmooth;
    PCS_TAKE(ctx, c, 1, "the contact problem");
    PCS_TRY(pcs_contact_problem_create(ctx, system->rows, m, nt, n, &c->p));
    c->comm = comm;
    c->nb = nsmooth;
    c->length = system->length;
    PCS_TAKE_EACH(ctx, n, "the contact problem", double, &c->F, &c->x, &c->z_last, &c->aim, &c->aim_value);
    PCS_TAKE_EACH(ctx, n, "the contact problem", unsigned char, &c->mode, &c->is_in);
    PCS_TAKE(ctx, c->image, n + m, "the contact problem");
    c->gate_image = c->image + n;
    PCS_TAKE(ctx, c->slip, 2 * m, "the contact problem");
    PCS_TAKE(ctx, c->turn, m, "the contact problem");
    PCS_TAKE(ctx, c->gate_story, m, "the contact problem");
    *out = c;
    int restart = nall < KRYLOV_RESTART ? nall + 1 : KRYLOV_RESTART;
    PCS_TRY(pcs_krylov_create(ctx, n, restart, n + m, c->image, &c->krylov));
    c->krylov->comm = c->comm;
    pcs_krylov_set_take(c, nsmooth, NULL);
    return PCS_OK;
}

void pcs_krylov_set_reset(pcs_krylov_set *c)
{
    memset(c->lipschitz, 0, sizeof c->lipschitz);
}

static int set_set(pcs_krylov_set *c, int k, unsigned char mode)
{
    int changed = c->mode[k] != mode;
    c->mode[k] = mode;
    return changed;
}

// Returns PCS_MODE_HELD if the gap of a row is an equation, else PCS_MODE_OUT.
static unsigned char set_gap_mode(const pcs_krylov_set *c, int row)
{
    if (c->p.held != NULL) return pcs_contact_holds(&c->p, row) ? PCS_MODE_HELD : PCS_MODE_OUT;
    return c->p.rows[row].is_bilateral ? PCS_MODE_HELD : pcs_contact_side(&c->p, c->mode, row, c->slack[0] * c->p.h);
}

// Sets the modes of smooth multipliers and of the tangents of held rows. Returns the number of changes.
static long set_find_more(pcs_krylov_set *c)
{
    long changed = 0;
    int more = c->p.n - c->p.nheld_t;
    for (int k = 2 * c->p.m + c->p.nt; k < more; k++) changed += set_set(c, k, PCS_MODE_HELD);
    for (int j = 0; j < (c->p.nheld_t > 0 ? c->p.m : 0); j++)
        for (int t = 0; t < c->p.rows[j].ntangent; t++)
            changed += set_set(c, more + c->p.rows[j].first_tangent + t,
                               pcs_contact_holds_tangents(&c->p, j) ? PCS_MODE_HELD : PCS_MODE_OUT);
    return changed;
}

// Updates modes and live gates of the stage from the present z; returns the number of changes on all ranks.
static long set_find_modes(pcs_krylov_set *c, bool gate_is_frozen)
{
    long changed = 0, slips = 0;
    bool has_live_gate = c->p.gate_is_live && c->stage == PCS_STAGE_BOTH && !gate_is_frozen;
    for (int j = 0; j < c->p.m; j++) {
        bool is_bilateral = c->p.rows[j].is_bilateral;
        if (c->stage & PCS_STAGE_GAP) changed += set_set(c, j, set_gap_mode(c, j));
        if (!(c->stage & PCS_STAGE_RATE)) continue;
        if (has_live_gate) gate_follow(c, j);
        int la = c->p.m + j;
        unsigned char side = PCS_MODE_OUT;
        if (c->p.gate[j]) side = pcs_contact_side(&c->p, c->mode, la, c->slack[1]);
        if (is_bilateral) side = PCS_MODE_HELD;
        int turned = set_set(c, la, side);
        int slip = pcs_contact_set_tangents(&c->p, c->mode, j, side == PCS_MODE_HELD, c->slack[1]);
        changed += turned + slip;
        slips += turned ? 0 : slip;
    }
    if (c->stage & PCS_STAGE_RATE) changed += set_find_more(c);
    c->closures = c->p.gate_is_live ? pcs_all_count(c->comm, changed - slips) : 0;
    return pcs_all_count(c->comm, changed);
}

// Keeps contacts sliding whose impulses are on the edge of the disc. Returns true if there are any. Before the first
// solve trials are as wrong as the values, and too many contacts seem to stick.
static bool set_keep_slips(pcs_krylov_set *c)
{
    long count = 0;
    for (int j = 0; j < c->p.m; j++) {
        int k = pcs_contact_tangent(&c->p, j, 0);
        double limit = (1.0 - at_edge) * c->p.rows[j].friction * c->p.z[c->p.m + j];
        if (c->p.rows[j].ntangent != 2 || c->mode[k] != PCS_MODE_HELD || hypot(c->p.z[k], c->p.z[k + 1]) <= limit)
            continue;
        c->mode[k] = c->mode[k + 1] = PCS_MODE_SLIDING;
        count++;
    }
    return pcs_all_count(c->comm, count) > 0;
}

// Sets multipliers that are out to zero and updates the values. Returns false if all of them were zero.
static bool set_clear_out(pcs_krylov_set *c)
{
    long count = 0;
    for (int k = set_first(c); k < set_last(c); k++) {
        bool is_left = c->mode[k] == PCS_MODE_OUT && c->p.z[k] != 0.0;
        c->x[k] = is_left ? -c->p.z[k] : 0.0;
        if (is_left) c->p.z[k] = 0.0;
        count += is_left;
    }
    if (pcs_all_count(c->comm, count) == 0) return false;
    set_move(c, c->x);
    return true;
}

// Fills F with minus the residuals of the active equations, m/s. Returns their norm.
static double set_residual(pcs_krylov_set *c)
{
    double worst = 0.0;
    for (int k = set_first(c); k < set_last(c); k++)
        c->F[k] = c->mode[k] == PCS_MODE_HELD ? -c->p.value[k] / pcs_contact_unit(&c->p, k) : 0.0;
    for (int j = 0; j < c->p.m && c->stage & PCS_STAGE_RATE; j++) {
        if (c->p.rows[j].ntangent == 0 || c->mode[pcs_contact_tangent(&c->p, j, 0)] < PCS_MODE_SLIDING) continue;
        c->turn[j] = pcs_contact_slip(&c->p, c->mode, j, &c->slip[2 * j]);
        for (int t = 0; t < c->p.rows[j].ntangent; t++) {
            int k = pcs_contact_tangent(&c->p, j, t);
            c->F[k] = (c->p.rows[j].friction * c->p.z[c->p.m + j] * c->slip[2 * j + t] - c->p.z[k]) / c->p.r[k];
        }
    }
    for (int k = set_first(c); k < set_last(c); k++) {
        double ratio = fabs(c->F[k]) / c->tight[k < c->p.m ? 0 : 1];
        if (c->F[k] != 0.0) worst = pcs_larger(worst, ratio);
    }
    c->ratio = pcs_all_max(c->comm, worst);
    int first = set_first(c), count = set_last(c) - first;
    return sqrt(pcs_all_dot(c->comm, count, c->F + first, c->F + first));
}

static bool set_slides(const pcs_krylov_set *c, bool in_space_only)
{
    long count = 0;
    if (c->stage & PCS_STAGE_RATE)
        for (int k = 2 * c->p.m; k < 2 * c->p.m + c->p.nt; k++)
            count += in_space_only ? c->mode[k] == PCS_MODE_SLIDING : c->mode[k] >= PCS_MODE_SLIDING;
    return pcs_all_count(c->comm, count) > 0;
}

// Returns true if unknown k belongs to a bilateral row.
static bool set_is_joint(const pcs_krylov_set *c, int k)
{
    if (k < 2 * c->p.m) return c->p.rows[k % c->p.m].is_bilateral;
    return k >= 2 * c->p.m + c->p.nt && k < c->p.n - c->p.nheld_t;
}

// Computes y = J x of the active equations, x in units of impulses. Raises the diagonals of redundant joints: each
// round then takes the least multipliers, and contradictions between rows do not become forces.
static void set_linearised(void *owner, const double *x, double *y)
{
    pcs_krylov_set *c = owner;
    int first = set_first(c), last = set_last(c);
    for (int k = first; k < last; k++) c->aim[k] = c->mode[k] == PCS_MODE_OUT ? 0.0 : x[k] * pcs_contact_unit(&c->p, k);
    bool has_gate = c->gate_is_free && c->p.gate_is_live && c->stage == PCS_STAGE_BOTH;
    c->product(c->owner, c->stage, c->stage, c->aim, c->image, has_gate ? c->gate_image : NULL);
    c->products++;
    for (int k = 0; k < c->p.n; k++) y[k] = 0.0;
    for (int k = first; k < last; k++)
        if (c->mode[k] == PCS_MODE_HELD) y[k] = c->image[k] / pcs_contact_unit(&c->p, k);
    for (int k = c->shared > 0.0 ? first : last; k < last; k++)
        if (set_is_joint(c, k)) y[k] += c->shared * x[k] / c->p.r[k];
    for (int j = 0; j < c->p.m && c->stage & PCS_STAGE_RATE; j++) {
        double turned[2] = { 0 }, along = 0.0;
        if (c->p.rows[j].ntangent == 0 || c->mode[pcs_contact_tangent(&c->p, j, 0)] < PCS_MODE_SLIDING) continue;
        const double *n = &c->slip[2 * j];
        double turn = c->turn[j], la = c->p.rows[j].friction * c->aim[c->p.m + j];
        for (int t = 0; t < c->p.rows[j].ntangent; t++) {
            int k = pcs_contact_tangent(&c->p, j, t);
            turned[t] = turn * (c->aim[k] - c->p.r[k] * c->image[k]);
            along += turned[t] * n[t];
        }
        for (int t = 0; t < c->p.rows[j].ntangent; t++) {
            int k = pcs_contact_tangent(&c->p, j, t);
            double part = turn > 0.0 ? turned[t] - along * n[t] : 0.0;
            y[k] = (c->aim[k] - la * n[t] - part) / c->p.r[k];
        }
    }
}

// Makes one Newton step to `tolerance`, perhaps the last one. Returns false if the linear system cannot be solved.
static bool set_newton(pcs_krylov_set *c, double norm, double tolerance, bool is_last)
{
    pcs_krylov *k = c->krylov;
    k->product = set_linearised;
    k->owner = c;
    k->treat = treat_apply;
    treat_prepare(c);
    for (int i = 0; i < c->p.n; i++)
        if (i < set_first(c) || i >= set_last(c)) c->F[i] = 0.0;
    bool is_symmetric = c->is_symmetric && c->stage != PCS_STAGE_BOTH && !set_slides(c, false);
    double rest = is_symmetric ? pcs_krylov_conjugate(k, c->F, c->x, tolerance, KRYLOV_LIMIT)
                               : pcs_krylov_minimal(k, c->F, c->x, tolerance, KRYLOV_LIMIT);
    c->rounds++;
    if (!(rest <= fmax(0.5 * norm, tolerance))) return false;
    for (int i = set_first(c); i < set_last(c); i++) {
        c->x[i] *= pcs_contact_unit(&c->p, i);
        c->p.z[i] += c->x[i];
    }
    if (is_last && c->is_summed) set_evaluate(c);
    else if (is_last || !set_move_along(c)) set_move(c, c->x);
    return true;
}

// Returns true if these sets have been solved for before; otherwise stores their hash.
static bool set_is_seen(pcs_krylov_set *c)
{
    unsigned long long sum = 0, rank = c->comm == NULL ? 0 : (unsigned long long)c->comm->rank << 40;
    for (int k = set_first(c); k < set_last(c); k++) {
        unsigned long long x = rank + (unsigned long long)k * 8 + c->mode[k] + 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        sum += x ^ (x >> 31);
    }
    sum = pcs_all_marks(c->comm, sum);
    for (int i = 0; i < c->nseen && i < PCS_SEEN_SETS; i++)
        if (c->seen[i] == sum) return true;
    c->seen[c->nseen++ % PCS_SEEN_SETS] = sum;
    return false;
}

// Sets `tight` and `slack` from the sizes of the terms of the values. Velocities of rows that open by themselves do not
// count: with a law on positions they are gaps / h, and grow with the distance.
static void set_find_scales(pcs_krylov_set *c)
{
    double size = 0.0;
    for (int k = c->p.has_position ? 0 : c->p.m; k < c->p.n; k++) {
        bool opens = k < 2 * c->p.m && !c->p.rows[k % c->p.m].is_bilateral && c->p.b[k] > 0.0 && c->p.z[k] == 0.0;
        bool is_smooth = k >= 2 * c->p.m + c->p.nt; // acts on d, which is stiff: its size tells nothing of velocities
        double speed = is_smooth ? 0.0 : fabs(c->p.z[k]) / (c->p.r[k] * pcs_contact_unit(&c->p, k));
        if (k >= c->p.m && !opens) speed = fmax(speed, fabs(c->p.b[k]));
        if (speed > size) size = speed;
    }
    size = pcs_all_max(c->comm, size);
    if (c->size == 0.0) c->least_size = size;
    size = fmax(size, c->least_size);
    // Multipliers that were far larger on the way here have left their round-off in the values; they excuse nothing.
    bool has_shrunk = size < 0.1 * c->size;
    if (has_shrunk) set_evaluate(c);
    c->size = has_shrunk ? size : fmax(c->size, size);
    c->tight[1] = tight_rate * c->size;
    c->slack[1] = slack_rate * c->size;
    // A gap is a difference of positions, which have been as far apart as it was large.
    if (c->stage & PCS_STAGE_GAP && c->p.held == NULL)
        c->reach = fmax(c->reach, pcs_all_largest(c->comm, c->p.m, c->p.b));
    c->tight[0] = tight_gap * (c->length + c->reach) / c->p.h + c->tight[1];
    c->slack[0] = slack_gap * (c->length + c->reach) / c->p.h + c->slack[1];
}

// State of the iteration on one stage.
typedef struct settling {
    long changed, fewest, unknowns; // of all ranks
    int idle, repeats, rescues;
    int thawed;                // rounds since the gate was set free
    double norm, last, before; // residuals: present, last with these sets, of the round before
    double first;              // and of the first round; 0: none yet
    bool has_many;             // rows
    bool is_rounded_off;       // nothing but round-off is left of the equations
} settling;

// Replaces Newton's method, which has failed, by projections from coarse to fine. Returns false after enough attempts.
static bool set_rescue(pcs_krylov_set *c, settling *s)
{
    if (c->p.is_hasty || s->rescues++ == 6) return false;
    gradient_solve(c, c->size * pow(10.0, -2.0 * s->rescues), SWEEPS);
    set_evaluate(c);
    c->nseen = 0;
    s->idle = s->repeats = 0;
    s->fewest = s->unknowns;
    s->last = INFINITY;
    return true;
}

// Checks whether the iteration has stalled at round-off, which ends it; otherwise calls the projections.
static bool set_recover(pcs_krylov_set *c, settling *s)
{
    s->is_rounded_off = s->changed == 0 && set_is_rounded_off(c);
    return s->is_rounded_off || set_rescue(c, s);
}

// Returns the residual norm that ends the iteration, m/s; it grows with the number of unknowns that share the residual.
static double set_floor(const pcs_krylov_set *c, const settling *s)
{
    double floor = 0.5 * fmin(c->tight[1], c->stage & PCS_STAGE_GAP ? c->tight[0] : INFINITY);
    double wide = floor * fmax(1.0, sqrt((double)s->unknowns) / spread);
    return s->norm > 10.0 * wide ? wide : floor;
}

// Returns the relative tolerance of the next linear system.
static double set_share(const pcs_krylov_set *c, settling *s)
{
    bool may_be_loose = s->idle == 0 && s->has_many;
    if (!c->p.gate_is_live) return may_be_loose ? loose : firm;
    if (s->first == 0.0) s->first = s->norm;
    return may_be_loose && c->closures == 0 ? fmax(firm, fmin(loose, firm * s->first / s->norm)) : firm;
}

// Makes one round: a Newton step, or projections if Newton's method cycles or stalls.
static bool set_round(pcs_krylov_set *c, settling *s)
{
    bool is_seen = s->changed > 0 && set_is_seen(c);
    s->idle = s->changed < s->fewest ? 0 : s->idle + 1;
    s->fewest = s->changed < s->fewest ? s->changed : s->fewest;
    c->revisits += is_seen;
    s->repeats += is_seen;
    bool is_stuck = s->changed == 0 && s->norm > 0.5 * s->last;
    if (s->repeats > 1 || s->idle > IDLE_ROUNDS || is_stuck) return set_recover(c, s);
    double floor = set_floor(c, s), share = set_share(c, s);
    bool is_settled = s->changed == 0 && !set_slides(c, true);
    if (s->changed == 0 && s->norm < s->before) share = fmin(share, pow(s->norm / s->before, 2));
    s->before = s->norm;
    double tolerance = s->repeats > 0 || is_settled ? floor : fmax(floor, share * s->norm);
    s->last = s->changed == 0 ? s->norm : INFINITY;
    return set_newton(c, s->norm, tolerance, tolerance == floor) || set_recover(c, s);
}

static bool set_iterate(pcs_krylov_set *c, int stage)
{
    settling s = { .last = INFINITY, .unknowns = pcs_all_count(c->comm, c->p.n) };
    s.has_many = pcs_all_count(c->comm, c->p.m) >= MANY_ROWS;
    s.fewest = s.unknowns;
    c->stage = stage;
    c->nseen = 0;
    // Ties are active: in a pile at rest only the lowest contacts know of the ground at first.
    memset(c->mode + set_first(c), PCS_MODE_HELD, (size_t)(set_last(c) - set_first(c)));
    set_evaluate(c);
    if (stage == PCS_STAGE_RATE && c->p.gate_is_live)
        for (int j = 0; j < c->p.m; j++) c->p.gate[j] = gate_is_closed(c, j);
    set_find_scales(c);
    s.changed = set_find_modes(c, false);
    bool has_kept = stage & PCS_STAGE_RATE && set_keep_slips(c);
    if (stage == PCS_STAGE_BOTH) memset(c->gate_story, 0, (size_t)c->p.m); // the gates were those of another problem
    for (int round = 0; round < (c->p.is_hasty ? HASTY_ROUNDS : ROUNDS); round++, s.thawed++) {
        bool is_moved = set_clear_out(c);
        s.norm = set_residual(c);
        if (!isfinite(s.norm)) return false;
        bool is_stalled = s.changed == 0 && s.norm > 0.5 * s.last, is_frozen = s.thawed > FREEZE_GATE_AFTER;
        // Round-off is reached only if the active sets belong to the present z.
        s.is_rounded_off = s.is_rounded_off && s.changed == 0 && !is_moved;
        bool is_contradicted = c->shared > 0.0 && is_stalled && !is_moved && round >= REFINEMENTS;
        bool is_enough = (is_stalled && c->ratio <= acceptable) || s.is_rounded_off || is_contradicted;
        if ((!is_moved && c->ratio <= 1.0) || is_enough) {
            if (c->is_summed || (has_kept && round == 0)) {
                set_evaluate(c);
                s.changed = set_find_modes(c, is_frozen);
                continue;
            }
            if (!is_frozen) return true;
            // Settled for the gate as it was; now the gate may follow.
            s.thawed = 0;
            gate_close(c);
            s.changed = set_find_modes(c, false);
            if (s.changed == 0) return true;
            s.last = INFINITY;
            continue;
        }
        if (!set_round(c, &s)) return false;
        set_find_scales(c);
        s.changed = set_find_modes(c, is_frozen);
    }
    return false;
}

// Clears negative position multipliers, which are round-off. Returns true if there was one. The round-off of a gap is
// large for a velocity: the velocity law has to be solved after this.
static bool set_clear_gaps(pcs_krylov_set *c)
{
    long count = 0;
    for (int j = 0; j < c->p.m; j++) {
        if (c->p.rows[j].is_bilateral || c->p.z[j] >= 0.0) continue;
        c->p.z[j] = 0.0;
        count++;
    }
    return pcs_all_count(c->comm, count) > 0;
}

// Clears negative normal impulses and projects friction onto its discs.
static void set_clear_rates(pcs_krylov_set *c)
{
    for (int j = 0; j < c->p.m; j++)
        if (!c->p.rows[j].is_bilateral) c->p.z[c->p.m + j] = fmax(c->p.z[c->p.m + j], 0.0);
    pcs_contact_put_on_discs(&c->p);
}

bool pcs_krylov_set_solve(pcs_krylov_set *c)
{
    pcs_contact_even_out(&c->p);
    memset(c->gate_story, 0, (size_t)c->p.m);
    c->rounds = c->products = c->revisits = c->projections = 0;
    c->size = 0.0;
    if (c->p.held != NULL) {
        if (!set_iterate(c, PCS_STAGE_BOTH)) return false;
    } else if (!c->p.has_position) {
        memset(c->p.z, 0, (size_t)c->p.m * sizeof *c->p.z);
        if (!set_iterate(c, PCS_STAGE_RATE)) return false;
    } else {
        if (!set_iterate(c, c->is_one_way ? PCS_STAGE_GAP : PCS_STAGE_BOTH)) return false;
        bool is_cleared = set_clear_gaps(c);
        if ((c->is_one_way || is_cleared) && !set_iterate(c, PCS_STAGE_RATE)) return false;
    }
    set_clear_rates(c);
    return true;
}
