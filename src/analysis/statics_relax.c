// The path of steepest descent to an equilibrium, for models that only their loads make stiff: hanging chains, cables,
// pendulums, what comes to lie on contacts.
//
//   D q' = f(q) + G^T lam,  by backward Euler:   f(q) + G^T lam = mu D (q - q_n),  g = g_s
//
// Every step is solved by Newton's method to a tenth of its residual, with K + mu D regular where K is singular or
// indefinite. mu follows from the stride, the largest change of a coordinate in units of its size: the residual alone
// would move the model by one stride. So mu falls with the residual, and the steps become those of Newton's method,
// which ends the search. A step that does not settle, climbs or does not go downhill is taken back and made with a
// quarter of the stride.
//
// A mu that would be lost in round-off beside K is raised to the smallest one that is not. The model then moves less
// than a stride; if K resists little, the increment is stretched to a whole stride. A model that is free under its load
// thus runs away in a few steps.

#include "analysis/statics_free.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double FIRST = 0.1;      // stride
static const double LARGEST = 1e6;    // stride
static const double SMALLEST = 1e-10; // stride: there is no way down
static const double LEAP = 4.0;       // strides: a step that long has lost its way
static const double TURN = 0.5;       // rad, largest change of an angle
static const double CLOSE = 1e-6;     // residual from which Newton's method has the last word
static const double SETTLED = 0.1;    // of the residual before the step
static const double CLIMB = 1e-12;    // of the energies: more of them is a way uphill
static const double UPHILL = 1e-3;    // of the residual: energy that counts as none
static const double MANY = 100.0;     // rounding errors at the start that a residual which does not fall may be
static const double DRIVEN = 1e-6;    // work of the loads on a free motion, of what they could do at most
static const double STRAIN = 1e-4;    // for which rods are stiff and yet no constraints to Newton's method
static const double BACK = 0.1;       // of an overload, step by step
static const double KICK = 0.02;      // stride away from an unstable equilibrium

enum { MOST_STEPS = 1000, MOST_CORRECTIONS = 16, MOST_KICKS = 8, MOST_AIMS = 3 };

typedef struct relaxation {
    pcs_equilibrium *e;
    double *q;
    double stride;
    double energy, scale; // of the last state, and of its parts
    bool is_feasible;     // the last state fits the rows: energies can be compared
    double moved;         // strides, in the last step
    double last;          // residual before the last step
    double close;         // residual from which Newton's method is tried
    double round_off;     // of the residual at the start
    int nkick;
} relaxation;

static void relax_keep(relaxation *r)
{
    pcs_equilibrium *e = r->e;
    memcpy(e->safe_q, r->q, (size_t)e->system->nq * sizeof *r->q);
    memcpy(e->safe_lam, e->lam, (size_t)e->nall * sizeof *e->lam);
    memcpy(e->safe_held, e->held, (size_t)e->nall);
}

static void relax_undo(relaxation *r)
{
    pcs_equilibrium *e = r->e;
    memcpy(r->q, e->safe_q, (size_t)e->system->nq * sizeof *r->q);
    memcpy(e->lam, e->safe_lam, (size_t)e->nall * sizeof *e->lam);
    memcpy(e->held, e->safe_held, (size_t)e->nall);
    pcs_equilibrium_forget_rows(e);
}

// Potential energy; the work of loads counts from the last state.
static double relax_energy(const relaxation *r, double *scale)
{
    const pcs_equilibrium *e = r->e;
    pcs_system *s = e->system;
    pcs_measure m;
    s->ops->measure(s, pcs_at(e->time, r->q, e->zero), PCS_ENERGY, &m);
    double load = pcs_system_is_mesh(s) ? e->load * e->over : 1.0;
    double work = s->ops->load_work(s, e->time, e->safe_q, r->q);
    *scale = fabs(m.strain) + load * (fabs(m.potential) + fabs(work));
    return m.strain + load * (m.potential - work);
}

// Bounds the error of the energy by round-off of coordinates, J: heights above a floor are differences of positions.
static double relax_blur(const relaxation *r)
{
    const pcs_equilibrium *e = r->e;
    double sum = 0.0;
    for (int i = 0; i < e->system->nv; i++)
        sum += (fabs(e->loads[i]) + fabs(e->idle[i])) * (fabs(r->q[i]) + e->system->scale.place[i]);
    return MANY * DBL_EPSILON * sum;
}

// Bound of a change of coordinate i in one step.
static double relax_bound(const relaxation *r, int i)
{
    double part = r->e->system->scale.is_angle[i] ? fmin(r->stride, TURN) : r->stride;
    return part * r->e->system->scale.model[i];
}

// mu for which the residual moves no coordinate by more than a stride against D alone.
static double relax_choose_mu(const relaxation *r)
{
    const pcs_equilibrium *e = r->e;
    double mu = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        double m = pcs_matrix_diagonal(&e->D, i);
        mu = fmax(mu, fabs(e->f[i]) / (m * relax_bound(r, i)));
    }
    return mu;
}

// Returns the factor on dq at which the first coordinate changes by its bound.
static double relax_room(const relaxation *r)
{
    double room = INFINITY;
    for (int i = 0; i < r->e->system->nv; i++) {
        double bound = relax_bound(r, i);
        if (r->e->dq[i] != 0.0) room = fmin(room, bound / fabs(r->e->dq[i]));
    }
    return room;
}

// True if |K dq| is less than a tenth of |mu D dq|.
static bool relax_is_soft(const relaxation *r)
{
    pcs_equilibrium *e = r->e;
    pcs_matrix_multiply(&e->stiff.K, e->dq, e->work);
    double stiff = pcs_equilibrium_norm(e, e->work);
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    return stiff < 0.1 * e->mu * pcs_equilibrium_norm(e, e->work);
}

// Factors K + mu D and solves; false when it is singular or goes uphill.
static pcs_status relax_direction(relaxation *r, bool *is_good)
{
    pcs_equilibrium *e = r->e;
    bool is_singular = false;
    pcs_equilibrium_update_tangent(e, r->q);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    *is_good = !is_singular;
    if (is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    *is_good = isfinite(pcs_equilibrium_stride(e, e->dq));
    return PCS_OK;
}

// Is K + mu D positive along dq? Otherwise the step goes uphill.
static bool relax_goes_down(const relaxation *r)
{
    pcs_equilibrium *e = r->e;
    double work = 0.0, blur = fmax(UPHILL * e->left, MANY * e->round_off);
    pcs_matrix_multiply(&e->A, e->dq, e->work);
    for (int i = 0; i < e->system->nv; i++) work += e->work[i] * e->dq[i];
    return work >= -blur * blur || !r->is_feasible;
}

// The direction for a mu that keeps it within its bounds: what rows tie together may move more than D alone tells.
static pcs_status relax_aim(relaxation *r, bool *is_good)
{
    for (int k = 0; k < MOST_AIMS; k++) {
        PCS_TRY(relax_direction(r, is_good));
        double room = *is_good ? relax_room(r) : 1.0;
        if (room >= 0.5 || !r->is_feasible) return PCS_OK;
        r->e->mu /= room;
    }
    return relax_direction(r, is_good);
}

// Corrects the state until it is a step of backward Euler.
static pcs_status relax_correct(relaxation *r, double before, bool *is_settled)
{
    pcs_equilibrium *e = r->e;
    double last = INFINITY;
    *is_settled = false;
    for (int k = 0; k < MOST_CORRECTIONS; k++, e->total++) {
        bool is_good = false, rows_changed = pcs_equilibrium_evaluate(e, r->q);
        if (pcs_equilibrium_has_diverged(e, r->q)) return PCS_OK;
        if (!rows_changed && pcs_equilibrium_rows_fit(e) &&
            (e->left <= SETTLED * before || (e->left >= 0.5 * last && pcs_equilibrium_is_round_off(e)))) {
            *is_settled = true;
            return PCS_OK;
        }
        last = e->left;
        PCS_TRY(relax_direction(r, &is_good));
        if (!is_good) return PCS_OK;
        pcs_equilibrium_correct(e, r->q);
    }
    return PCS_OK;
}

// Way from the last state, as a part of its bounds.
static double relax_moved(const relaxation *r)
{
    const pcs_equilibrium *e = r->e;
    const pcs_system *s = e->system;
    double most = 0.0;
    pcs_difference(&s->rotations, e->safe_q, r->q, e->work);
    // In two loops: gcc 12 for aarch64 fails on a maximum beside flags of another size.
    for (int i = 0; i < s->nv; i++) e->work[i] = fabs(e->work[i]) / relax_bound(r, i);
    for (int i = 0; i < s->nv; i++) most = fmax(most, e->work[i]);
    return most;
}

// One step from the evaluated state; *is_taken when it led downhill.
static pcs_status relax_step(relaxation *r, bool *is_taken)
{
    pcs_equilibrium *e = r->e;
    bool is_good = false;
    double before = e->left;
    *is_taken = false;
    double wanted = relax_choose_mu(r);
    e->mu = fmax(wanted, pcs_equilibrium_least_mu(e));
    memset(e->away, 0, (size_t)e->system->nv * sizeof *e->away);
    PCS_TRY(relax_aim(r, &is_good));
    if (!is_good || !relax_goes_down(r)) return PCS_OK;
    double room = relax_room(r), part = fmin(room, 1.0);
    bool is_stretched = room > 1.0 && e->mu > wanted && r->is_feasible && relax_is_soft(r);
    if (is_stretched) part = fmin(room, e->mu / wanted);
    for (int i = 0; i < e->system->nv; i++) e->dq[i] *= part;
    pcs_equilibrium_correct(e, r->q);
    if (is_stretched) memset(e->away, 0, (size_t)e->system->nv * sizeof *e->away);
    PCS_TRY(relax_correct(r, before, &is_good));
    if (!is_good) return PCS_OK;
    double scale, energy = relax_energy(r, &scale), force = fmax(e->left, MANY * e->round_off);
    double climb = CLIMB * fmax(scale, r->scale) + force * force + relax_blur(r);
    r->moved = relax_moved(r);
    bool is_down = energy <= r->energy + climb && r->moved < LEAP;
    *is_taken = !r->is_feasible || is_down;
    return PCS_OK;
}

// Newton's method from a state that is close; what it finds must be close, too.
static pcs_status relax_finish(relaxation *r, bool *is_done)
{
    pcs_equilibrium *e = r->e;
    pcs_statics_outcome outcome;
    PCS_TRY(pcs_equilibrium_find(e, e->load, r->q, &outcome));
    double scale, energy = relax_energy(r, &scale);
    *is_done = outcome == PCS_STATICS_DONE && energy <= r->energy + 1e-6 * fmax(scale, r->scale) + relax_blur(r);
    if (!*is_done) relax_undo(r);
    return PCS_OK;
}

// Do the loads do work along the motion dq? The residual may be lost in the round-off of a model that has come far.
static bool relax_is_driven(const pcs_equilibrium *e)
{
    double work = 0.0, most = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        work += e->loads[i] * e->dq[i];
        most += fabs(e->loads[i]) * e->system->scale.model[i];
    }
    return fabs(work) > DRIVEN * most;
}

// The state is in equilibrium: is it one to stay in? One that is unstable is left along its softest motion.
static pcs_status relax_check(relaxation *r, bool *is_at_rest)
{
    pcs_equilibrium *e = r->e;
    double stiffness;
    pcs_stability stability;
    PCS_TRY(pcs_equilibrium_softest(e, r->q, &stiffness, &stability));
    *is_at_rest = stability == PCS_NEUTRAL ? !relax_is_driven(e) : stability != PCS_UNSTABLE || r->nkick == MOST_KICKS;
    if (*is_at_rest || stability == PCS_NEUTRAL) return PCS_OK;
    for (int i = 0; i < e->system->nv; i++) e->dq[i] *= KICK;
    pcs_equilibrium_move(e, e->dq, r->q);
    r->nkick++;
    r->stride = FIRST;
    r->close = CLOSE;
    return PCS_OK;
}

// At a state where the way may end.
static pcs_status relax_look(relaxation *r, bool *is_done)
{
    bool is_round_off = pcs_equilibrium_is_round_off(r->e);
    r->close *= 0.01;
    PCS_TRY(relax_finish(r, is_done));
    // A motion without any force may be left, which K alone does not know how to handle.
    if (*is_done || is_round_off) PCS_TRY(relax_check(r, is_done));
    return PCS_OK;
}

// Evaluates the state without the tie to the last one.
static void relax_evaluate(relaxation *r)
{
    pcs_equilibrium *e = r->e;
    e->mu = e->shift = 0.0;
    pcs_equilibrium_evaluate(e, r->q);
    relax_keep(r);
    r->is_feasible = pcs_equilibrium_rows_fit(e);
    r->energy = relax_energy(r, &r->scale);
}

// A step, or a smaller stride.
static pcs_status relax_advance(relaxation *r)
{
    bool is_taken = false;
    r->last = r->e->left;
    PCS_TRY(relax_step(r, &is_taken));
    if (is_taken) {
        if (r->moved > 0.25) r->stride = fmin(2.0 * r->stride, LARGEST);
        return PCS_OK;
    }
    relax_undo(r);
    r->stride *= 0.25;
    r->last = INFINITY;
    return PCS_OK;
}

static pcs_status relax_run(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    relaxation r = { .e = e, .q = q, .stride = FIRST, .close = CLOSE, .last = INFINITY };
    bool is_done = false;
    pcs_equilibrium_begin(e, load);
    for (int k = 0; k < MOST_STEPS && r.stride > SMALLEST; k++) {
        relax_evaluate(&r);
        *outcome = PCS_STATICS_DIVERGED;
        if (pcs_equilibrium_has_diverged(e, q)) return PCS_OK;
        *outcome = PCS_STATICS_DONE;
        if (k == 0) r.round_off = e->round_off;
        bool is_stuck = e->left >= 0.5 * r.last && e->left <= MANY * r.round_off;
        if (r.is_feasible && (e->left <= r.close * e->weight || is_stuck)) {
            PCS_TRY(relax_look(&r, &is_done));
            if (is_done) return PCS_OK;
            relax_evaluate(&r);
        }
        PCS_TRY(relax_advance(&r));
    }
    *outcome = PCS_STATICS_SLOW;
    return PCS_OK;
}

double pcs_equilibrium_overload(const pcs_equilibrium *e)
{
    double force = 0.0, stiff = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        if (e->system->scale.is_angle[i]) continue;
        force += fabs(e->f[i]);
        stiff = fmax(stiff, fabs(pcs_matrix_diagonal(&e->stiff.K, i)) * e->system->scale.cell[i]);
    }
    return force > 0.0 ? fmax(1.0, STRAIN * stiff / force) : 1.0;
}

// From an equilibrium to one nearby; where a motion meets no force at all, Newton's method cannot follow.
static pcs_status relax_follow(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    relaxation r = { .e = e, .q = q };
    relax_keep(&r);
    PCS_TRY(pcs_equilibrium_find(e, load, q, outcome));
    if (*outcome == PCS_STATICS_DONE) return PCS_OK;
    relax_undo(&r);
    return relax_run(e, load, q, outcome);
}

pcs_status pcs_equilibrium_relax(pcs_equilibrium *e, double load, double over, double *q, pcs_statics_outcome *outcome)
{
    int total = e->total;
    e->over = over;
    PCS_TRY(relax_run(e, load, q, outcome));
    while (*outcome == PCS_STATICS_DONE && e->over > 1.0) {
        e->over = fmax(1.0, BACK * e->over);
        PCS_TRY(relax_follow(e, load, q, outcome));
    }
    e->over = 1.0;
    e->iterations = e->total - total;
    return PCS_OK;
}
