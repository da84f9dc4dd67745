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
//
// Finds the softest motion of a state with its stiffness, K phi = k D phi with G_h phi = 0 and the smallest k, by
// inverse iteration with K + mu D. mu falls from above all that a load can destabilise: so a negative k is met before
// mu passes it.

#include "analysis/statics_equilibrium.h"
#include "core/dense.h"

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
static const double DRIVEN = 1e-6;    // of the loads on a free motion, or of what work they could do, that counts
static const double KICK = 0.02;      // stride away from an unstable equilibrium

static const double ERRORS = 50.0;  // rounding errors, of which a stiffness may be made
static const double SHRINK = 0.3;   // of mu
static const double NOTHING = 1e-9; // of a motion that rows take all of

enum { MOST_STEPS = 1000, MOST_CORRECTIONS = 16, MOST_KICKS = 8, MOST_AIMS = 3, ROUNDS = 3, LAST_ROUNDS = 20 };

// Fills x with a vector without symmetry, so that no motion is missed.
static void free_start_vector(const pcs_equilibrium *e, double *x)
{
    for (int i = 0; i < e->system->nv; i++) x[i] = (1.0 + 0.5 * sin(1.0 + 2.3 * i)) * e->system->scale.model[i];
}

// Returns the Rayleigh quotient of dq, 1/s^2, and in *zero its round-off; scales dq to a largest entry of one size.
static double free_quotient(pcs_equilibrium *e, double *zero)
{
    const pcs_matrix *K = &e->stiff.K;
    double top = 0.0, sizes = 0.0, largest = pcs_stride(e->system, e->dq);
    if (largest > 0.0)
        for (int i = 0; i < e->system->nv; i++) e->dq[i] /= largest;
    for (int j = 0; j < e->system->nv; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++) {
            double term = K->value[p] * e->dq[K->pattern->row[p]] * e->dq[j];
            top += term;
            sizes += fabs(term);
        }
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    double mass = pcs_dense_dot(e->system->nv, e->dq, e->work);
    double blur = fmax(DBL_EPSILON * pcs_equilibrium_top(e), pcs_stiffness_blur(&e->stiff, &e->D, e->lam));
    *zero = mass > 0.0 ? fmax(ERRORS * DBL_EPSILON * sizes / mass, blur) : INFINITY;
    return mass > 0.0 ? top / mass : 0.0;
}

// Sets *is_held if the rows leave no motion, as in a machine with driven bodies; a motion left by round-off is none.
static pcs_status free_is_held(pcs_equilibrium *e, bool *is_held)
{
    int n = e->system->nv, count = 0;
    bool is_singular = false;
    *is_held = false;
    for (int j = 0; j < e->nall; j++) count += e->held[j];
    if (count < n) return PCS_OK;
    pcs_matrix_combine(&e->A, (const double[3]){ 1.0, 0.0, 0.0 }, &e->D, NULL, &e->stiff.K);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    if (is_singular) return PCS_OK;
    free_start_vector(e, e->dq);
    double before = pcs_stride(e->system, e->dq);
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    memcpy(e->dq, e->work, (size_t)n * sizeof *e->dq);
    pcs_bordered_solve(e->solver, e->dq, NULL);
    *is_held = pcs_stride(e->system, e->dq) <= NOTHING * before;
    return PCS_OK;
}

pcs_status pcs_equilibrium_softest(pcs_equilibrium *e, const double *q, double *stiffness, pcs_stability *stability)
{
    double zero = 0.0, quotient = INFINITY;
    bool is_singular = false, is_held = false;
    e->is_factored = false;
    e->mu = e->shift = 0.0;
    pcs_equilibrium_update_tangent(e, q);
    PCS_TRY(free_is_held(e, &is_held));
    *stiffness = INFINITY;
    *stability = PCS_STABLE;
    if (is_held) return PCS_OK;
    double least = pcs_equilibrium_least_mu(e);
    if (!(least > 0.0)) least = 1.0; // there is no K beside which it could be large
    free_start_vector(e, e->dq);
    for (double mu = e->load > 0.0 ? fmax(pcs_equilibrium_top(e), least) : least;; mu = fmax(SHRINK * mu, least)) {
        e->mu = mu;
        pcs_equilibrium_update_tangent(e, q);
        PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
        if (!is_singular)
            for (int k = 0; k < (mu > least ? ROUNDS : LAST_ROUNDS); k++) {
                pcs_matrix_multiply(&e->D, e->dq, e->work);
                memcpy(e->dq, e->work, (size_t)e->system->nv * sizeof *e->dq);
                pcs_bordered_solve(e->solver, e->dq, NULL);
                quotient = free_quotient(e, &zero);
            }
        if (quotient < -zero || mu <= least) break;
    }
    e->mu = 0.0;
    *stiffness = quotient;
    *stability = PCS_NEUTRAL;
    if (quotient > zero) *stability = PCS_STABLE;
    if (quotient < -zero) *stability = PCS_UNSTABLE;
    if (isinf(quotient)) *stability = PCS_STABILITY_UNKNOWN;
    return PCS_OK;
}

typedef struct relaxation {
    pcs_equilibrium *e;
    double *q;
    double stride;
    double energy, scale; // energy of the last state, J, and sum of its absolute terms
    bool is_feasible;     // the last state satisfies the rows, so that energies can be compared
    double moved;         // strides of the last step
    double last;          // residual before the last step
    double close;         // residual from which Newton's method is tried
    double round_off;     // of the residual at the start
    int nkick;
} relaxation;

static void relax_undo(relaxation *r)
{
    pcs_equilibrium_go_back(r->e, &r->e->safe, r->q);
    pcs_equilibrium_forget_rows(r->e);
}

// Returns the potential energy, J, and in *scale the sum of its absolute terms; loads do work from the last state on.
static double relax_energy(const relaxation *r, double *scale)
{
    const pcs_equilibrium *e = r->e;
    pcs_system *s = e->system;
    pcs_measure m;
    s->ops->measure(s, pcs_at(e->time, r->q, e->zero), PCS_ENERGY, &m);
    double load = pcs_system_is_mesh(s) ? e->load : 1.0;
    double work = s->ops->load_work(s, e->time, e->safe.q, r->q);
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

// Returns the largest change allowed for coordinate i in one step, m or rad.
static double relax_bound(const relaxation *r, int i)
{
    double part = r->e->system->scale.is_angle[i] ? fmin(r->stride, TURN) : r->stride;
    return part * r->e->system->scale.model[i];
}

// Returns mu, 1/s^2, for which the residual against D alone moves no coordinate by more than a stride.
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

// Returns true if |K dq| is less than a tenth of |mu D dq|.
static bool relax_is_soft(const relaxation *r)
{
    pcs_equilibrium *e = r->e;
    pcs_matrix_multiply(&e->stiff.K, e->dq, e->work);
    double stiff = pcs_equilibrium_norm(e, e->work);
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    return stiff < 0.1 * e->mu * pcs_equilibrium_norm(e, e->work);
}

// Factors K + mu D and solves for dq; *is_good is false if the matrix is singular or dq is not finite.
static pcs_status relax_direction(relaxation *r, bool *is_good)
{
    pcs_equilibrium *e = r->e;
    bool is_singular = false;
    pcs_equilibrium_update_tangent(e, r->q);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    *is_good = !is_singular;
    if (is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    *is_good = isfinite(pcs_stride(e->system, e->dq));
    return PCS_OK;
}

// Returns true if K + mu D is positive along dq up to round-off; otherwise the step goes uphill.
static bool relax_goes_down(const relaxation *r)
{
    pcs_equilibrium *e = r->e;
    double work = 0.0, blur = fmax(UPHILL * e->left, MANY * e->round_off);
    pcs_matrix_multiply(&e->A, e->dq, e->work);
    for (int i = 0; i < e->system->nv; i++) work += e->work[i] * e->dq[i];
    return work >= -blur * blur || !r->is_feasible;
}

// Finds dq with a mu that keeps it within its bounds: coordinates coupled by rows may move more than D predicts.
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

// Corrects the state until it satisfies the step of backward Euler.
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

// Returns the largest change since the last state, relative to its bound.
static double relax_moved(const relaxation *r)
{
    const pcs_equilibrium *e = r->e;
    const pcs_system *s = e->system;
    double most = 0.0;
    pcs_difference(&s->rotations, e->safe.q, r->q, e->work);
    // In two loops: gcc 12 for aarch64 fails on a maximum beside flags of another size.
    for (int i = 0; i < s->nv; i++) e->work[i] = fabs(e->work[i]) / relax_bound(r, i);
    for (int i = 0; i < s->nv; i++) most = fmax(most, e->work[i]);
    return most;
}

// Makes one step from the evaluated state; *is_taken if it led downhill.
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

// Tries Newton's method from a state that is close; undoes it unless the energy of its result is close, too.
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

pcs_status pcs_equilibrium_is_driven(pcs_equilibrium *e, const double *q, bool *is_driven)
{
    bool is_singular = false;
    pcs_equilibrium_begin(e, 1.0);
    pcs_equilibrium_evaluate(e, q);
    e->mu = pcs_equilibrium_least_mu(e);
    *is_driven = true;
    if (!(e->mu > 0.0)) return PCS_OK;
    pcs_equilibrium_update_tangent(e, q);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    if (is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    *is_driven = e->mu * pcs_equilibrium_norm(e, e->work) > DRIVEN * e->weight;
    return PCS_OK;
}

bool pcs_equilibrium_loads_push(const pcs_equilibrium *e, const double *x)
{
    double work = 0.0, most = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        work += e->loads[i] * x[i];
        most += fabs(e->loads[i]) * e->system->scale.model[i];
    }
    return fabs(work) > DRIVEN * most * pcs_stride(e->system, x);
}

// Checks the stability of an equilibrium. Leaves an unstable one by a displacement along its softest motion.
static pcs_status relax_check(relaxation *r, bool *is_at_rest)
{
    pcs_equilibrium *e = r->e;
    double stiffness;
    pcs_stability stability;
    PCS_TRY(pcs_equilibrium_softest(e, r->q, &stiffness, &stability));
    *is_at_rest = stability == PCS_NEUTRAL ? !pcs_equilibrium_loads_push(e, e->dq)
                                           : stability != PCS_UNSTABLE || r->nkick == MOST_KICKS;
    if (*is_at_rest || stability == PCS_NEUTRAL) return PCS_OK;
    for (int i = 0; i < e->system->nv; i++) e->dq[i] *= KICK;
    pcs_retract(&e->system->rotations, r->q, e->dq, r->q);
    r->nkick++;
    r->stride = FIRST;
    r->close = CLOSE;
    return PCS_OK;
}

// Evaluates the state without the tie to the last one.
static void relax_evaluate(relaxation *r)
{
    pcs_equilibrium *e = r->e;
    e->mu = e->shift = 0.0;
    pcs_equilibrium_evaluate(e, r->q);
    pcs_equilibrium_keep(e, r->q, &e->safe);
    r->is_feasible = pcs_equilibrium_rows_fit(e);
    r->energy = relax_energy(r, &r->scale);
}

// Tries to end the descent at this state.
static pcs_status relax_look(relaxation *r, bool *is_done)
{
    bool is_round_off = pcs_equilibrium_is_round_off(r->e);
    r->close *= 0.01;
    PCS_TRY(relax_finish(r, is_done));
    if (!*is_done && is_round_off) relax_evaluate(r); // the finish was undone
    // A motion without any force may be left, which K alone does not know how to handle.
    if (*is_done || is_round_off) PCS_TRY(relax_check(r, is_done));
    return PCS_OK;
}

// Makes a step and doubles the stride after a long one, or undoes it and takes a quarter of the stride.
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

pcs_status pcs_equilibrium_relax(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
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
