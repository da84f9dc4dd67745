// Equilibrium paths by arc length: the load factor s is an unknown as well.
//
//   f(q; s) + G^T lam = 0,  g = g_s,   <t, q - q_n> + w t_s (s - s_n) = l        (t, t_s): unit tangent at (q_n, s_n)
//   K b = df/ds,  G b = dg_s/ds        t = +-b/size,  t_s = ds/dl = +-1/size,  size^2 = <b, b> + w
//
// with <x, y> the mean over all coordinates of x_i y_i / size_i^2, a displacement by the size of the model, an angle by
// 1 rad: the same in all units and on all meshes. w is one hundredth of <b, b> at the start: load alone makes an arc
// where nothing can move. The plane normal to the tangent is that of Riks and of Keller; s passes its largest and
// smallest values (limit points) and displacements turn back (snap-back) as nothing but l is prescribed. A correction
// is dq = a + ds b, by the factors of K alone; the tangent goes on as the last way went.
//
// Contacts stay as they are within an arc. Where one would pull or overlap at its end, the path is followed to where
// its force or gap is zero, which takes the place of the condition on l; there it changes, and the path goes on to the
// side on which its gap opens or its force grows. So a corner of any angle is passed, as by a pivot of Lemke's method.
//
// Limit points are located by the zero of ds/dl. Where the sign of det K changes and that of ds/dl does not, another
// path crosses this one. (Riks 1979; Keller 1977; Crisfield 1981.)

#include "analysis/statics_message.h"
#include "analysis/statics_ramp.h"

#include "core/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_CORRECTIONS = 25, USUAL_CORRECTIONS = 7, MOST_FLIPS = 4, LOCATE = 40, MOST_EVENTS = 8 };

static const double SHORTEST = 1.0 / 1048576.0; // of the longest arc
static const double FINE = 1.0 / 128.0;         // of the longest arc: bends are real
static const double STRAIGHT = 0.95;            // cosine between a chord and the tangents at its ends
static const double FLAT = 1e-7;                // ds/dl at a limit point, of the largest
static const double LOAD_SHARE = 0.01;          // of the load in a squared arc at the start
static const double ON_PLANE = 1e-9;            // of the arc

// Names the condition that ends an arc: plane at a given arc, load factor, zero gap or zero force of a row.
typedef enum arc_kind { ARC_PLANE, ARC_LOAD, ARC_GAP, ARC_FORCE } arc_kind;

typedef struct arc_goal {
    arc_kind kind;
    double value; // arc, or load factor
    int row;      // whose gap or force is zero
} arc_goal;

// Holds the unit tangent of the path at a point.
typedef struct arc_tangent {
    double *t;   // [nv]
    double rate; // ds/dl
    int sign;    // of det K
} arc_tangent;

typedef struct arc {
    pcs_ramp *r;
    pcs_equilibrium *e;
    double *weight;         // [nv] of the product
    double load_weight;     // w
    double *p, *b;          // [nv] df/ds, and what it does
    double *b_lam;          // [nrow]
    double *way;            // [nv]
    arc_tangent last, next; // at the last point, and at a new one
    double s;               // load factor of the last point
    double length, longest;
    double steepest; // largest |ds/dl| so far
    bool was_limit;  // the last point is a limit point
    int changed;     // row that has changed at the last point, or -1
    int nchange;     // points in a row at which one did
} arc;

static double arc_product(const arc *a, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < a->e->system->nv; i++) sum += a->weight[i] * x[i] * y[i];
    return sum;
}

// df/ds and what it does, for the state and factors at hand.
static void arc_respond(arc *a)
{
    pcs_equilibrium *e = a->e;
    pcs_system *s = e->system;
    s->ops->force(s, pcs_at_rest(e->time, a->r->q, e->zero, 1.0), a->p);
    e->factor = e->load;
    for (int i = 0; i < s->nv; i++) a->b[i] = a->p[i] -= e->idle[i];
    for (int j = 0; j < s->nrow; j++) a->b_lam[j] = e->held[j] ? -e->gap0[j] : 0.0;
    pcs_bordered_solve(e->solver, a->b, a->b_lam);
    for (int j = 0; j < s->nrow; j++) a->b_lam[j] = -a->b_lam[j];
}

// Returns the goal's value less the present one: of arc, load factor, gap (m) or force (N).
static double arc_miss(arc *a, arc_goal goal)
{
    const pcs_equilibrium *e = a->e;
    if (goal.kind == ARC_LOAD) return goal.value - e->load;
    if (goal.kind == ARC_GAP) return -e->gap[goal.row];
    if (goal.kind == ARC_FORCE) return -e->lam[goal.row];
    pcs_ramp_way(a->r, a->way);
    return goal.value - arc_product(a, a->last.t, a->way) - a->load_weight * a->last.rate * (e->load - a->s);
}

// Returns the change of that quantity, to first order, by a correction dq, dlam, ds.
static double arc_reach(const arc *a, arc_goal goal, const double *dq, const double *dlam, double ds)
{
    if (goal.kind == ARC_LOAD) return ds;
    if (goal.kind == ARC_GAP) return pcs_rows_dot(a->e->system->G, goal.row, dq);
    if (goal.kind == ARC_FORCE) return dlam[goal.row];
    return arc_product(a, a->last.t, dq) + a->load_weight * a->last.rate * ds;
}

static bool arc_is_there(const arc *a, arc_goal goal, double miss)
{
    const pcs_equilibrium *e = a->e;
    if (goal.kind == ARC_PLANE) return fabs(miss) <= ON_PLANE * goal.value + DBL_EPSILON;
    if (goal.kind == ARC_LOAD) return miss == 0.0;
    if (goal.kind == ARC_GAP) return fabs(miss) <= 16.0 * e->blur[goal.row];
    return fabs(miss) <= 1e-10 * e->weight / pcs_equilibrium_row_size(e, goal.row);
}

// One correction; false where the tangent is singular.
static pcs_status arc_step(arc *a, arc_goal goal, double miss, bool *is_singular)
{
    pcs_equilibrium *e = a->e;
    pcs_equilibrium_update_tangent(e, a->r->q);
    PCS_TRY(pcs_equilibrium_factor(e, is_singular));
    if (*is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    arc_respond(a);
    double per_load = arc_reach(a, goal, a->b, a->b_lam, 1.0);
    double ds = (miss - arc_reach(a, goal, e->dq, e->dlam, 0.0)) / per_load;
    for (int i = 0; i < e->system->nv; i++) e->dq[i] += ds * a->b[i];
    for (int j = 0; j < e->system->nrow; j++) e->dlam[j] += ds * a->b_lam[j];
    e->load = goal.kind == ARC_LOAD ? goal.value : e->load + ds;
    pcs_equilibrium_judge(e, a->r->q, ds * pcs_dense_dot(e->system->nv, a->p, e->dq));
    pcs_equilibrium_correct(e, a->r->q);
    *is_singular = !isfinite(e->load);
    return PCS_OK;
}

// Newton's method from q and s as they are.
static pcs_status arc_correct(arc *a, arc_goal goal, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    double before = INFINITY;
    bool is_singular = false;
    for (e->iterations = 0;; e->iterations++, e->total++) {
        pcs_equilibrium_evaluate(e, a->r->q);
        *outcome = PCS_STATICS_DIVERGED;
        if (pcs_equilibrium_has_diverged(e, a->r->q)) return PCS_OK;
        double miss = arc_miss(a, goal);
        *outcome = PCS_STATICS_DONE;
        if (arc_is_there(a, goal, miss) && pcs_equilibrium_is_close(e, before)) return PCS_OK;
        *outcome = PCS_STATICS_SLOW;
        if (e->iterations == MOST_CORRECTIONS) return PCS_OK;
        before = e->left;
        PCS_TRY(arc_step(a, goal, miss, &is_singular));
        *outcome = PCS_STATICS_SINGULAR;
        if (is_singular) {
            e->bad_equation = pcs_bordered_bad_equation(e->solver);
            return PCS_OK;
        }
    }
}

// From the last point along its tangent by `length`, and corrected to the goal.
static pcs_status arc_go(arc *a, double length, arc_goal goal, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    pcs_ramp_undo(a->r);
    pcs_equilibrium_begin(e, a->s + length * a->last.rate);
    for (int i = 0; i < e->system->nv; i++) e->dq[i] = length * a->last.t[i];
    pcs_equilibrium_move(e, e->dq, a->r->q);
    return arc_correct(a, goal, outcome);
}

// Which way the path leaves the point: as it came, or to the side that a row which changed here allows.
static double arc_side(arc *a)
{
    double side;
    if (a->changed < 0) {
        pcs_ramp_way(a->r, a->way);
        side = arc_product(a, a->b, a->way) + a->load_weight * (a->e->load - a->s);
    } else if (a->e->held[a->changed]) {
        side = a->b_lam[a->changed];
    } else {
        side = pcs_rows_dot(a->e->system->G, a->changed, a->b);
    }
    return side < 0.0 ? -1.0 : 1.0;
}

// Tangent of the path at the point found.
static pcs_status arc_find_tangent(arc *a, bool is_first, arc_tangent *out, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    bool is_singular = false;
    pcs_equilibrium_update_tangent(e, a->r->q);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    *outcome = is_singular ? PCS_STATICS_SINGULAR : PCS_STATICS_DONE;
    e->bad_equation = is_singular ? pcs_bordered_bad_equation(e->solver) : -1;
    if (is_singular) return PCS_OK;
    arc_respond(a);
    double moves = arc_product(a, a->b, a->b), side = is_first ? 1.0 : arc_side(a);
    if (is_first) a->load_weight = LOAD_SHARE * moves;
    double size = sqrt(moves + a->load_weight);
    if (!(size > 0.0) || !isfinite(size))
        return pcs_fail(e->ctx, PCS_BAD_INPUT,
                        "a path by arc length has nothing to follow: no load or driven joint that follows the load "
                        "factor moves this model");
    for (int i = 0; i < e->system->nv; i++) out->t[i] = side / size * a->b[i];
    out->rate = side / size;
    out->sign = pcs_bordered_sign(e->solver);
    return PCS_OK;
}

// Finds the first contact along the arc whose status is wrong at its end, or -1; *part of the arc leads to its change.
static int arc_first_wrong(const arc *a, double *part)
{
    const pcs_equilibrium *e = a->e;
    int first = -1;
    *part = 1.0;
    for (int j = 0; j < e->system->nrow; j++) {
        if (!pcs_equilibrium_row_is_wrong(e, j)) continue;
        double from = fmax(e->held[j] ? a->r->lam[j] : a->r->gap[j], 0.0), to = e->held[j] ? e->lam[j] : e->gap[j];
        double share = from / (from - to);
        if (first < 0 || share < *part) {
            first = j;
            *part = share;
        }
    }
    return first;
}

// Goes to where the first contact changes, and changes it; *part is where that is expected.
static pcs_status arc_go_to_change(arc *a, double length, int row, double part, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    for (int k = 0; k < MOST_FLIPS && row >= 0; k++) {
        arc_goal goal = { e->held[row] ? ARC_FORCE : ARC_GAP, 0.0, row };
        PCS_TRY(arc_go(a, part * length, goal, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
        a->changed = row;
        pcs_equilibrium_find_noise(e);
        row = arc_first_wrong(a, &part);
    }
    *outcome = row < 0 ? PCS_STATICS_DONE : PCS_STATICS_SLOW;
    if (row >= 0) return PCS_OK;
    row = a->changed;
    e->held[row] = !e->held[row];
    e->lam[row] = 0.0;
    e->has_factors = false;
    return PCS_OK;
}

// The limit point within the arc, by the zero of ds/dl (regula falsi, Illinois); the last try stands.
static pcs_status arc_locate_limit(arc *a, double length, pcs_statics_outcome *outcome)
{
    double low = 0.0, high = length, at_low = a->last.rate, at_high = a->next.rate;
    for (int k = 0; k < LOCATE; k++) {
        double at = (low * at_high - high * at_low) / (at_high - at_low);
        if (!(at > low && at < high)) at = 0.5 * (low + high);
        PCS_TRY(arc_go(a, at, (arc_goal){ ARC_PLANE, at, -1 }, outcome));
        if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
        double rate = a->next.rate;
        if (fabs(rate) <= FLAT * a->steepest || high - low <= 4.0 * DBL_EPSILON * length) return PCS_OK;
        if ((rate > 0.0) == (at_low > 0.0)) {
            low = at;
            at_low = rate;
            at_high *= 0.5;
        } else {
            high = at;
            at_high = rate;
            at_low *= 0.5;
        }
    }
    return PCS_OK;
}

static void arc_mark(pcs_statics_marks *marks, double factor)
{
    if (marks->count < PCS_STATICS_MARKS) marks->factor[marks->count] = factor;
    marks->count++;
}

// The new point becomes the last one.
static pcs_status arc_accept(arc *a)
{
    pcs_statics *out = a->r->out;
    arc_tangent swap = a->last;
    double more = a->e->load - a->s;
    pcs_ramp_way(a->r, a->way);
    out->arc += sqrt(arc_product(a, a->way, a->way) + a->load_weight * more * more);
    a->last = a->next;
    a->next = swap;
    a->s = a->e->load;
    a->steepest = fmax(a->steepest, fabs(a->last.rate));
    out->slope = a->last.rate;
    out->determinant = a->last.sign;
    return pcs_ramp_accept(a->r, a->s);
}

// Cosine between the chord and a tangent, both with as much load as displacement at the start.
static double arc_cosine(const arc *a, double chord, const arc_tangent *to)
{
    double w = a->load_weight / LOAD_SHARE, more = a->e->load - a->s;
    double size = sqrt(arc_product(a, to->t, to->t) + w * to->rate * to->rate);
    return (arc_product(a, to->t, a->way) + w * to->rate * more) / (size * chord);
}

// True if the chord is nearly parallel to the tangents at both ends, so that the arc has skipped no bend of the path.
static bool arc_is_near(const arc *a)
{
    double more = a->e->load - a->s;
    if (a->changed >= 0 || a->length <= FINE * a->longest) return true;
    pcs_ramp_way(a->r, a->way);
    double chord = sqrt(arc_product(a, a->way, a->way) + a->load_weight / LOAD_SHARE * more * more);
    return arc_cosine(a, chord, &a->last) >= STRAIGHT && arc_cosine(a, chord, &a->next) >= STRAIGHT;
}

// A smooth arc: goes on to its end, and looks for what is between.
static pcs_status arc_try(arc *a, pcs_statics_outcome *outcome)
{
    double length = a->length, part;
    int before = a->changed;
    a->changed = -1;
    PCS_TRY(arc_go(a, length, (arc_goal){ ARC_PLANE, length, -1 }, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    pcs_equilibrium_find_noise(a->e);
    int row = arc_first_wrong(a, &part);
    if (row >= 0) PCS_TRY(arc_go_to_change(a, length, row, part, outcome));
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    if (!arc_is_near(a)) *outcome = PCS_STATICS_SLOW;
    a->nchange = a->changed >= 0 && (before >= 0 || a->nchange > 0) ? a->nchange + 1 : 0;
    return PCS_OK;
}

// On one path det K and ds/dl change their signs together.
static int arc_orientation(const arc_tangent *at)
{
    return at->rate < 0.0 ? -at->sign : at->sign;
}

// A limit point between the last point and the new one, which becomes it.
static pcs_status arc_watch(arc *a, bool *is_limit, pcs_statics_outcome *outcome)
{
    *is_limit = a->last.rate * a->next.rate < 0.0 && !a->was_limit && a->changed < 0;
    if (*is_limit) PCS_TRY(arc_locate_limit(a, a->length, outcome));
    return PCS_OK;
}

static bool arc_is_beyond(const arc *a, double *end)
{
    const pcs_statics_options *o = a->r->options;
    double s = a->e->load, least = isnan(o->least) ? -o->end : o->least;
    *end = s >= o->end ? o->end : least;
    return s >= o->end || s <= least;
}

// The path ends where s does.
static pcs_status arc_finish(arc *a, double end, pcs_statics_outcome *outcome)
{
    double part = (end - a->s) / (a->e->load - a->s);
    a->changed = -1;
    PCS_TRY(arc_go(a, part * a->length, (arc_goal){ ARC_LOAD, end, -1 }, outcome));
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
    return PCS_OK;
}

static pcs_status arc_complain(arc *a, pcs_statics_outcome outcome)
{
    if (outcome == PCS_STATICS_SINGULAR && a->r->out->step == 0)
        return pcs_fail(a->e->ctx, PCS_BAD_INPUT,
                        "a path by arc length begins at a stiff model, and the stiffness matrix is singular without "
                        "loads: take 'path: load', which lets a model down to where its loads hold it");
    char residual[512];
    pcs_statics_describe(a->e, sizeof residual, residual);
    double load = a->s;
    pcs_ramp_undo(a->r);
    return pcs_fail(a->e->ctx, PCS_FAILED,
                    "the path cannot be followed beyond load factor %.9g, arc %.6g: %s on an arc of %.3g (%s)", load,
                    a->r->out->arc,
                    outcome == PCS_STATICS_DONE ? "corners follow one another without end"
                                                : pcs_statics_reason(outcome),
                    a->length, residual);
}

// The next point of the path; *is_over where it is the last one.
static pcs_status arc_advance(arc *a, bool *is_over, pcs_statics_outcome *outcome)
{
    bool is_limit = false;
    double end;
    PCS_TRY(arc_try(a, outcome));
    int iterations = a->e->iterations;
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_watch(a, &is_limit, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    *is_over = arc_is_beyond(a, &end);
    if (*is_over && a->e->load != end) PCS_TRY(arc_finish(a, end, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    bool turns = a->last.rate * a->next.rate < 0.0 && a->changed >= 0;
    if ((is_limit && !*is_over) || turns) arc_mark(&a->r->out->limits, a->e->load);
    if (a->changed < 0 && arc_orientation(&a->last) * arc_orientation(&a->next) < 0)
        arc_mark(&a->r->out->branches, 0.5 * (a->s + a->e->load));
    a->was_limit = is_limit;
    PCS_TRY(arc_accept(a));
    double growth = sqrt((double)USUAL_CORRECTIONS / (iterations > 0 ? iterations : 1));
    a->length = fmin(a->length * fmin(fmax(growth, 0.5), 1.5), a->longest);
    return PCS_OK;
}

static pcs_status arc_run(arc *a)
{
    pcs_statics_outcome outcome;
    bool is_over = false;
    while (!is_over && a->r->out->step < a->r->options->arcs) {
        int changed = a->changed, nchange = a->nchange;
        PCS_TRY(arc_advance(a, &is_over, &outcome));
        if (outcome == PCS_STATICS_DONE) {
            if (a->nchange > MOST_EVENTS * (a->e->system->nrow + 1)) return arc_complain(a, outcome);
            continue;
        }
        if (a->length <= SHORTEST * a->longest) return arc_complain(a, outcome);
        a->changed = changed;
        a->nchange = nchange;
        is_over = false;
        a->length *= 0.47; // not a half: a singular point is not met twice
        a->r->out->nhalved++;
    }
    return PCS_OK;
}

static pcs_status arc_take(arc *a)
{
    const pcs_system *s = a->e->system;
    double **vectors[] = { &a->weight, &a->p, &a->b, &a->way, &a->last.t, &a->next.t };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(a->e->ctx, *vectors[i], s->nv, "a path of equilibria");
    PCS_TAKE(a->e->ctx, a->b_lam, s->nrow, "a path of equilibria");
    for (int i = 0; i < s->nv; i++)
        a->weight[i] = 1.0 / (s->nv * a->e->system->scale.model[i] * a->e->system->scale.model[i]);
    return PCS_OK;
}

pcs_status pcs_ramp_follow(pcs_ramp *r)
{
    arc a = { .r = r, .e = &r->e, .changed = -1, .length = r->options->arc_length, .longest = r->options->arc_length };
    pcs_statics_outcome outcome;
    PCS_TRY(arc_take(&a));
    PCS_TRY(pcs_equilibrium_find(&r->e, 0.0, r->q, &outcome));
    if (outcome != PCS_STATICS_DONE) return arc_complain(&a, outcome);
    r->e.is_frozen = true;
    pcs_equilibrium_evaluate(&r->e, r->q);
    PCS_TRY(arc_find_tangent(&a, true, &a.last, &outcome));
    if (outcome != PCS_STATICS_DONE) return arc_complain(&a, outcome);
    a.steepest = fabs(a.last.rate);
    pcs_ramp_keep(r);
    return arc_run(&a);
}
