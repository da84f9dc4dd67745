#include "step/krylov_set.h"

#include "core/rounding.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

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
// on what is left: firm, and firmer where bodies are so stiff that they follow; while friction alone changes, looser
// as far as no more is left than of the first round.
static const double loose = 1e-2, firm = 1e-3, firmer = 1e-4;
static const double spread = 20.0;  // root of the number of unknowns that the last residual is one of, at least
static const double at_edge = 1e-9; // of the radius of a disc: impulses this near to its edge are those of slip

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
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) c->p.value[k] += image[k];
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
    int first = in & PCS_STAGE_GAP ? 0 : c->p.m, last = pcs_krylov_set_last(c);
    bool wants_gate = c->p.gate_is_live && c->stage & PCS_STAGE_RATE;
    long count = 0;
    for (int k = first; k < last; k++) count += c->p.z[k] != 0.0;
    bool is_moved = pcs_all_count(c->comm, count) > 0;
    if (is_moved) c->product(c->owner, in, c->stage, c->p.z, c->image, wants_gate ? c->gate_image : NULL);
    c->products += is_moved;
    c->is_summed = false;
    for (int k = pcs_krylov_set_first(c); k < last; k++) c->p.value[k] = c->p.b[k] + (is_moved ? c->image[k] : 0.0);
    if (wants_gate)
        for (int j = 0; j < c->p.m; j++) c->p.gate_gap[j] = c->p.b_gate[j] + (is_moved ? c->gate_image[j] : 0.0);
}

// Returns true if the residuals are within the round-off of velocities, and of gaps over h. A light node on a heavy
// body, or redundant rows, prevent any method from going further.
static bool set_is_rounded_off(const pcs_krylov_set *c)
{
    double rate = PCS_ROUND_VELOCITY * c->size, gap = PCS_ROUND_LENGTH * (c->length + c->reach) / c->p.h + rate,
           worst = 0.0;
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++)
        worst = fmax(worst, fabs(c->F[k]) / (k < c->p.m ? gap : rate));
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
    double **vectors[] = { &c->F, &c->x, &c->z_last, &c->aim, &c->aim_value };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], n, "the contact problem");
    PCS_TAKE(ctx, c->image, n + m, "the contact problem");
    c->gate_image = c->image + n;
    PCS_TAKE(ctx, c->slip, 2 * m, "the contact problem");
    PCS_TAKE(ctx, c->turn, m, "the contact problem");
    PCS_TAKE(ctx, c->gate_story, m, "the contact problem");
    PCS_TAKE(ctx, c->mode, n, "the contact problem");
    PCS_TAKE(ctx, c->is_in, n, "the contact problem");
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
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) {
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
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++)
        c->F[k] = c->mode[k] == PCS_MODE_HELD ? -c->p.value[k] / pcs_contact_unit(&c->p, k) : 0.0;
    for (int j = 0; j < c->p.m && c->stage & PCS_STAGE_RATE; j++) {
        if (c->p.rows[j].ntangent == 0 || c->mode[pcs_contact_tangent(&c->p, j, 0)] < PCS_MODE_SLIDING) continue;
        c->turn[j] = pcs_contact_slip(&c->p, c->mode, j, &c->slip[2 * j]);
        for (int t = 0; t < c->p.rows[j].ntangent; t++) {
            int k = pcs_contact_tangent(&c->p, j, t);
            c->F[k] = (c->p.rows[j].friction * c->p.z[c->p.m + j] * c->slip[2 * j + t] - c->p.z[k]) / c->p.r[k];
        }
    }
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) {
        double ratio = fabs(c->F[k]) / c->tight[k < c->p.m ? 0 : 1];
        if (c->F[k] != 0.0) worst = pcs_larger(worst, ratio);
    }
    c->ratio = pcs_all_max(c->comm, worst);
    int first = pcs_krylov_set_first(c), count = pcs_krylov_set_last(c) - first;
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
    int first = pcs_krylov_set_first(c), last = pcs_krylov_set_last(c);
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
    k->treat = pcs_krylov_set_treat;
    pcs_krylov_set_prepare(c);
    for (int i = 0; i < c->p.n; i++)
        if (i < pcs_krylov_set_first(c) || i >= pcs_krylov_set_last(c)) c->F[i] = 0.0;
    bool is_symmetric = c->is_symmetric && c->stage != PCS_STAGE_BOTH && !set_slides(c, false);
    double rest = is_symmetric ? pcs_krylov_conjugate(k, c->F, c->x, tolerance, KRYLOV_LIMIT)
                               : pcs_krylov_minimal(k, c->F, c->x, tolerance, KRYLOV_LIMIT);
    c->rounds++;
    if (!(rest <= fmax(0.5 * norm, tolerance))) return false;
    for (int i = pcs_krylov_set_first(c); i < pcs_krylov_set_last(c); i++) {
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
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) {
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
    bool has_followers;        // live gates, on bodies that follow (coupling.h)
    bool is_rounded_off;       // nothing but round-off is left of the equations
} settling;

// Replaces Newton's method, which has failed, by projections from coarse to fine. Returns false after enough attempts.
static bool set_rescue(pcs_krylov_set *c, settling *s)
{
    if (c->p.is_hasty || s->rescues++ == 6) return false;
    pcs_projected_gradient(c, c->size * pow(10.0, -2.0 * s->rescues), SWEEPS);
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
    double share = s->has_followers ? firmer : firm;
    if (s->first == 0.0) s->first = s->norm;
    return may_be_loose && c->closures == 0 ? fmax(share, fmin(loose, share * s->first / s->norm)) : share;
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
    const pcs_preconditioner *rates = c->preconditioner[1];
    bool has_followers = c->p.gate_is_live && rates != NULL && rates->coupling->follows;
    s.has_many = pcs_all_count(c->comm, c->p.m) >= MANY_ROWS;
    s.has_followers = pcs_all_count(c->comm, has_followers) > 0;
    s.fewest = s.unknowns;
    c->stage = stage;
    c->nseen = 0;
    // Ties are active: in a pile at rest only the lowest contacts know of the ground at first.
    memset(c->mode + pcs_krylov_set_first(c), PCS_MODE_HELD,
           (size_t)(pcs_krylov_set_last(c) - pcs_krylov_set_first(c)));
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
        // The sets are those of this very z, whether they have just changed or not.
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
