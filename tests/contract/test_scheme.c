// What every scheme promises, looped over the table: free flight, its order in smooth motion, momentum and the law of
// restitution over impacts, a closed ledger where it claims one, a rejected step that leaves no trace, the same bits
// every time, and steps without allocation.

#include "support/alloc_fault.h"
#include "support/check.h"
#include "support/model.h"

#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 6, N = CELLS + 1 };

typedef struct variant {
    const char *scheme, *values;
    double order;       // in smooth motion
    bool is_exact_fall; // keeps a parabola
} variant;

static const variant variants[] = {
    { "alpha_ggl", "rho_inf=0.8", 2, true },         { "alpha_ggl", "rho_inf=1", 2, true },
    { "alpha_ggl", "rho_inf=0", 2, true },           { "moreau_jean", "theta=0.5", 2, true },
    { "moreau_jean", "theta=0.7", 1, false },        { "moreau_jean", "rho_inf=0.8", 1, false },
    { "half_explicit", "gap_tolerance=0", 2, true }, { "newmark", "gamma=0.5", 2, true },
    { "newmark", "gamma=1 beta=0.5625", 1, true }, { "hht", "alpha=0.1", 2, true },
    { "alpha_velocity", "rho_inf=0.8", 2, true }, { "alpha_velocity", "rho_inf=0", 2, true },
};
enum { NVARIANT = sizeof variants / sizeof *variants };

static void every_scheme_is_tested_here(void **state)
{
    (void)state;
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        bool is_there = false;
        for (int k = 0; k < NVARIANT; k++) is_there = is_there || strcmp(variants[k].scheme, pcs_schemes[i]->name) == 0;
        if (!is_there) fail_msg("the table of variants lacks scheme '%s'", pcs_schemes[i]->name);
    }
}

// A bar of 6 cells of 0.5 m, c = 10 m/s: the slowest cell wave takes 0.029 s.
static model *bar(bool is_damped)
{
    model *m = model_create();
    model_line(m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 3, 0, 0 }, CELLS);
    pcs_fe_group *group = model_group(m, "rod", "bar", "E=100 rho=1 area=2");
    if (is_damped) {
        group->damping_mass = 0.5;
        group->damping_stiffness = 0.003;
    }
    return m;
}

static void throw_bar(model *m, double displacement, double velocity)
{
    pcs_fe_initial *start = model_initial(m, "bar");
    start->has_displacement = start->has_velocity = true;
    for (int e = 0; e < 2; e++) {
        start->displacement[e][0] = displacement;
        start->velocity[e][0] = velocity;
    }
}

static void free_flight_is_exact(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++)
        for (int falls = 0; falls < 2; falls++) {
            if (falls && !variants[k].is_exact_fall) continue;
            model *m = bar(false);
            throw_bar(m, 0.25, -3.0);
            if (falls) model_gravity(m, -10, 0, 0);
            model_build(m);
            model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
            model_start(&run);
            for (int step = 0; step < 200; step++) model_step(&run, step % 3 == 0 ? 0.01 : 0.013); // steps may differ
            double t = run.x.t, g = falls ? -10.0 : 0.0;
            CHECK(run.x.step == 200);
            CHECK_NEAR(t, 67 * 0.01 + 133 * 0.013, 1e-13);
            for (int i = 0; i < N; i++) {
                CHECK_NEAR(run.x.q[i], 0.25 - 3.0 * t + 0.5 * g * t * t, 2e-13 * (1.0 + fabs(run.x.q[i])));
                CHECK_NEAR(run.x.v[i], -3.0 + g * t, 1e-13 * (1.0 + fabs(run.x.v[i])));
            }
            CHECK(run.report.measure.strain <= 1e-20);
            model_destroy(&m);
        }
}

// exp(A t) y for y' = A y, in place, by short Taylor steps.
static void exact_motion(int n, const double *A, double t, double *y)
{
    enum { STEPS = 400, TERMS = 18, MOST = 2 * N + 2 };
    for (int step = 0; step < STEPS; step++) {
        double term[MOST], next[MOST], h = t / STEPS;
        memcpy(term, y, (size_t)n * sizeof *y);
        for (int k = 1; k <= TERMS; k++) {
            for (int i = 0; i < n; i++) {
                next[i] = 0.0;
                for (int j = 0; j < n; j++) next[i] += A[i * n + j] * term[j] * h / k;
            }
            memcpy(term, next, (size_t)n * sizeof *y);
            for (int i = 0; i < n; i++) y[i] += term[i];
        }
    }
}

// The clamped, damped bar under a force that grows with time: y = (q, v, 1, t), y' = A y.
static void motion_matrix(const model *m, double force, double growth, double *A)
{
    int n = m->system->nv, size = 2 * n + 2;
    double M[N * N], K[N * N], C[N * N], column[N];
    model_dense(m->system->K, n, K);
    model_dense(m->system->C, n, C);
    memset(A, 0, (size_t)(size * size) * sizeof *A);
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < n; i++) {
            bool is_tip = i == n - 1;
            column[i] = j < n       ? -K[i * n + j]
                        : j < 2 * n ? -C[i * n + j - n]
                        : is_tip    ? (j == 2 * n ? force : growth)
                                    : 0.0;
        }
        model_dense(m->system->M, n, M);
        model_solve(n, M, column);
        for (int i = 0; i < n; i++) A[(n + i) * size + j] = column[i];
        if (j >= n && j < 2 * n) A[(j - n) * size + j] = 1.0;
    }
    A[(2 * n + 1) * size + 2 * n] = 1.0; // t' = 1
}

static const double end_time = 0.5;

static double smooth_error(const variant *c, bool is_damped, int nstep)
{
    static const double time[] = { 0.0, 1.0 }, factor[] = { 0.5, 3.5 };
    model *m = bar(is_damped);
    model_support(m, "bar.start", "x");
    pcs_fe_initial *start = model_initial(m, "bar");
    start->has_displacement = true;
    start->displacement[1][0] = 0.1;
    model_force(m, "bar.end", 4, 0, 0)->amplitude = (pcs_amplitude){ 2, time, factor };
    model_build(m);
    model_run run = model_prepare(m, c->scheme, c->values, NULL, NULL);
    int n = m->system->nv, size = 2 * n + 2;
    double A[(2 * N + 2) * (2 * N + 2)], y[2 * N + 2] = { 0 }, error = 0.0;
    memcpy(y, run.x.q, (size_t)n * sizeof *y);
    y[2 * n] = 1.0;
    motion_matrix(m, 2.0, 12.0, A);
    exact_motion(size, A, end_time, y);
    model_start(&run);
    for (int step = 0; step < nstep; step++) model_step(&run, end_time / nstep);
    for (int i = 0; i < n; i++) error = fmax(error, fmax(10.0 * fabs(run.x.q[i] - y[i]), fabs(run.x.v[i] - y[n + i])));
    model_destroy(&m);
    return error;
}

static void smooth_motion_has_its_order(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++)
        for (int damped = 0; damped < 2; damped++) {
            double error[3], order[2];
            for (int i = 0; i < 3; i++) error[i] = smooth_error(&variants[k], damped, 800 << (2 * i));
            for (int i = 0; i < 2; i++) order[i] = 0.5 * log2(error[i] / error[i + 1]);
            print_message("%s %s%s: errors %.3g %.3g %.3g, orders %.3f %.3f\n", variants[k].scheme, variants[k].values,
                          damped ? " damped" : "", error[0], error[1], error[2], order[0], order[1]);
            CHECK_NEAR(order[0], variants[k].order, 0.1);
            CHECK_NEAR(order[1], variants[k].order, 0.03);
            CHECK(error[2] < (variants[k].order > 1.5 ? 2e-5 : 5e-3));
        }
}

// A bar under load and damping against a wall, thrown from 5 cm; the second contact holds it back on the other side.
static model *bouncing_bar(bool is_damped)
{
    static const double time[] = { 0.0, 0.1, 0.4 }, factor[] = { 0.0, 1.0, -1.0 };
    model *m = bar(is_damped);
    throw_bar(m, 0.0, 2.0);
    model_gravity(m, 4, 0, 0);
    model_force(m, "bar.start", 3, 0, 0)->amplitude = (pcs_amplitude){ 3, time, factor };
    model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.05,0,0 normal=-1,0,0 restitution=0.5");
    model_contact(m, "back", "node_plane", "nodes=bar.start point=-0.01,0,0 normal=1,0,0 restitution=0.25");
    model_build(m);
    return m;
}

static const double step_size = 0.004;

typedef struct story {
    int nimpact, nloaded;
    double impulse; // N s, of all contacts
} story;

static void watch(const model_run *run, story *s)
{
    for (int j = 0; j < run->m->system->nrow; j++) {
        s->nimpact += run->report.rows[j].is_impact;
        s->nloaded += run->report.rows[j].step_impulse > 0.0;
        s->impulse += run->report.rows[j].step_impulse;
    }
}

static void momentum_is_balanced(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++)
        for (int damped = 0; damped < 2; damped++) {
            model *m = bouncing_bar(damped);
            model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
            model_start(&run);
            story s = { 0 };
            pcs_measure now, before;
            m->system->ops->measure(m->system, run.x.q, run.x.v, &before);
            for (int step = 0; step < 300; step++) {
                model_step(&run, step_size);
                watch(&run, &s);
                m->system->ops->measure(m->system, run.x.q, run.x.v, &now);
                double gained =
                    run.report.smooth_impulse[0] - run.report.rows[0].step_impulse + run.report.rows[1].step_impulse;
                CHECK_NEAR(now.momentum[0] - before.momentum[0], gained, 1e-12 * 6.0 * 10.0);
                CHECK(memcmp(&now, &run.report.measure, sizeof now) == 0);
                before = now;
            }
            CHECK(s.nimpact >= 2 && s.nloaded >= 20 && s.impulse > 10.0);
            model_destroy(&m);
        }
}

// Two free bars: what one loses the other gains.
static void collisions_keep_momentum(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++) {
        model *m = bar(false);
        model_line(m, "second", (double[]){ 3.02, 0, 0 }, (double[]){ 4.02, 0, 0 }, 3);
        model_group(m, "rod", "second", "E=50 rho=2 area=3 mass=lumped");
        throw_bar(m, 0.0, 1.5);
        model_contact(m, "touch", "node_node", "a=bar.end b=second.start normal=1,0,0 restitution=0.3");
        model_build(m);
        model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
        model_start(&run);
        story s = { 0 };
        for (int step = 0; step < 250; step++) {
            model_step(&run, step_size);
            watch(&run, &s);
            CHECK_NEAR(run.report.measure.momentum[0], 6.0 * 1.5, 1e-12 * 9.0);
        }
        CHECK(s.nimpact >= 1 && s.impulse > 3.0);
        CHECK(run.report.measure.kinetic + run.report.measure.strain < 0.5 * 6.0 * 1.5 * 1.5);
        model_destroy(&m);
    }
}

// The first impact out of free flight: the node that hits leaves with half its velocity, the law to the letter.
static void impact_obeys_restitution(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++) {
        model *m = bar(false);
        throw_bar(m, 0.0, 2.0);
        model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.05,0,0 normal=-1,0,0 restitution=0.5");
        model_build(m);
        model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
        model_start(&run);
        int step = 0;
        for (; step < 20 && !run.report.rows[0].is_impact; step++) model_step(&run, step_size);
        const pcs_row_report *row = &run.report.rows[0];
        CHECK(row->is_impact && row->is_closed && row->is_gated);
        CHECK_NEAR(row->rate, 0.5 * 2.0, 1e-13);
        CHECK_NEAR(row->target, -0.5 * 2.0, 1e-13);
        CHECK_NEAR(row->impulse, row->step_impulse, 0.0);
        CHECK(row->gap >= (run.scheme->ops->is_position_level ? -1e-15 : -2.0 * step_size));
        // Position and velocity levels agree on when: 0.05 m at 2 m/s, within a step (or half, foreseen).
        CHECK_NEAR(run.x.t, 0.025, 1.5 * step_size);
        model_destroy(&m);
    }
}

// The report tells gaps, rates and times of the state itself.
static void reports_show_the_state(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++) {
        model *m = bouncing_bar(true);
        model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
        model_start(&run);
        for (int step = 0; step < 300; step++) {
            double gap[2], t = run.x.t;
            model_step(&run, step_size);
            CHECK(run.report.h == step_size && run.report.iterations >= 0 && run.x.step == step + 1);
            CHECK_NEAR(run.x.t, t + step_size, 1e-15);
            m->system->ops->gaps(m->system, run.x.q, gap);
            for (int j = 0; j < 2; j++) {
                const pcs_row_report *row = &run.report.rows[j];
                CHECK(row->gap == gap[j] && row->rate == pcs_system_rate(m->system, j, run.x.v));
                CHECK(row->step_impulse >= 0.0 && row->multiplier >= 0.0 && row->impulse >= 0.0);
                if (row->step_impulse > 0.0) CHECK(row->is_closed);
                if (row->is_impact) CHECK(row->impulse > 0.0 || row->multiplier == 0.0);
                if (run.scheme->ops->is_position_level) CHECK(row->gap >= -1e-14);
            }
        }
        model_destroy(&m);
    }
}

// Where a scheme has its dissipation as a formula, the terms explain the energy to round-off.
static void closed_ledgers_close(void **state)
{
    (void)state;
    int nclosed = 0;
    for (int k = 0; k < NVARIANT; k++)
        for (int damped = 0; damped < 2; damped++) {
            model *m = bouncing_bar(damped);
            model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
            if (run.scheme->ops->has_closed_loss) {
                model_start(&run);
                nclosed++;
                for (int step = 0; step < 300; step++) {
                    const pcs_step_report *r = &run.report;
                    double before = r->measure.kinetic + r->measure.strain + r->measure.potential;
                    model_step(&run, step_size);
                    double change = r->measure.kinetic + r->measure.strain + r->measure.potential - before;
                    double told =
                        r->external_work - r->damping_loss - r->impact_loss + r->correction_work - r->numerical_loss;
                    CHECK_NEAR(change, told, 1e-12 * 100.0);
                    CHECK(r->damping_loss >= 0.0);
                    // Schemes with accelerations store energy in them for a while.
                    if (strcmp(variants[k].scheme, "moreau_jean") == 0) CHECK(r->numerical_loss >= 0.0);
                }
            }
            model_destroy(&m);
        }
    CHECK(nclosed >= 2);
}

// Under its weight, strongly damped, the bar comes to rest on the wall, which then carries all of it.
static void rest_carries_the_weight(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++) {
        model *m = bar(false);
        m->definition.damping_mass = 12.0;
        m->definition.damping_stiffness = 0.01;
        throw_bar(m, 0.0, 0.3);
        model_gravity(m, 10, 0, 0);
        model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.01,0,0 normal=-1,0,0 restitution=0.5");
        model_build(m);
        model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
        model_start(&run);
        for (int step = 0; step < 3000; step++) model_step(&run, step_size);
        CHECK_NEAR(run.report.rows[0].step_impulse / step_size, 6.0 * 10.0, 1e-6);
        CHECK_NEAR(run.report.rows[0].force, 6.0 * 10.0, 1e-6);
        CHECK(!run.report.rows[0].is_impact && run.report.rows[0].impulse == 0.0);
        CHECK(run.report.measure.kinetic < 1e-14);
        // Hanging column: end stress 60 N over k = 400 N/m per cell.
        CHECK_NEAR(run.x.q[N - 1] - run.x.q[N - 2], -(60.0 - 5.0) / 400.0, 1e-8);
        model_destroy(&m);
    }
}

static bool is_same_state(const pcs_state *a, const pcs_state *b, int n)
{
    size_t bytes = (size_t)n * sizeof(double);
    bool is_same = a->t == b->t && a->step == b->step && a->nhistory == b->nhistory && memcmp(a->q, b->q, bytes) == 0 &&
                   memcmp(a->v, b->v, bytes) == 0;
    for (int i = 0; i < a->nhistory; i++) is_same = is_same && memcmp(a->history[i], b->history[i], bytes) == 0;
    return is_same;
}

// A state of its own with the same numbers.
typedef struct frozen {
    pcs_state x;
    double q[N], v[N], history[PCS_MAX_HISTORY][N];
} frozen;

static void freeze(const pcs_state *x, int n, frozen *out)
{
    size_t bytes = (size_t)n * sizeof(double);
    out->x = *x;
    out->x.q = memcpy(out->q, x->q, bytes);
    out->x.v = memcpy(out->v, x->v, bytes);
    for (int i = 0; i < x->nhistory; i++) out->x.history[i] = memcpy(out->history[i], x->history[i], bytes);
}

// Spoils what it was given, as a solver that gives up may.
static void give_up(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    for (int i = 0; i < self->system->nv; i++) p->q[i] = p->v[i] = p->d[i] = NAN;
    for (int j = 0; j < self->system->nrow; j++) p->nu[j] = p->la[j] = p->rate_before[j] = NAN;
    *result = (pcs_step_result){ .outcome = PCS_NOT_CONVERGED, .iterations = 7 };
}

static pcs_status refuse(pcs_step_solver *self, pcs_outcome *outcome)
{
    (void)self;
    *outcome = PCS_SINGULAR;
    return PCS_OK;
}

typedef enum rejection { GIVES_UP, SINGULAR, OVERFLOWS, NREJECTION } rejection;

// Tries a step that cannot work; false when this scheme had nothing to be rejected in it.
static bool try_bad_step(model_run *run, rejection how)
{
    const pcs_step_solver_ops *good = run->solver->ops;
    pcs_step_solver_ops bad = *good;
    if (how == GIVES_UP) bad.solve = give_up;
    if (how == SINGULAR) bad.prepare = refuse;
    run->solver->ops = &bad;
    // Another step size: something must be prepared anew. A step into the far future meets an endless force.
    double h = how == OVERFLOWS ? 1e3 : how == SINGULAR ? 0.5 * step_size : step_size;
    CHECK_OK(run->m->ctx, run->scheme->ops->step(run->scheme, &run->x, h, &run->report));
    run->solver->ops = good;
    if (run->report.outcome == PCS_CONVERGED) return false;
    assert_int_equal(run->report.outcome, how == GIVES_UP   ? PCS_NOT_CONVERGED
                                          : how == SINGULAR ? PCS_SINGULAR
                                                            : PCS_NOT_FINITE);
    return true;
}

// A bar against a wall, pushed by a force that is steady for 10 s and then grows beyond all numbers.
static model *doomed_bar(void)
{
    static const double time[] = { 0.0, 10.0, 20.0 }, factor[] = { 1.0, 1.0, 1e308 };
    model *m = bar(true);
    throw_bar(m, 0.0, 2.0);
    model_gravity(m, 4, 0, 0);
    model_force(m, "bar.start", 3, 0, 0)->amplitude = (pcs_amplitude){ 3, time, factor };
    model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.05,0,0 normal=-1,0,0 restitution=0.5");
    model_build(m);
    return m;
}

// After the rejection the state has the same bits, and the run goes on as if nothing had been.
static void rejected_step_leaves_no_trace(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++)
        for (int how = 0; how < NREJECTION; how++) {
            model *calm = doomed_bar(), *shaken = doomed_bar();
            model_run a = model_prepare(calm, variants[k].scheme, variants[k].values, NULL, NULL);
            model_run b = model_prepare(shaken, variants[k].scheme, variants[k].values, NULL, NULL);
            model_start(&a);
            model_start(&b);
            int nrejected = 0;
            for (int step = 0; step < 60; step++) {
                frozen before;
                freeze(&b.x, calm->system->nv, &before);
                if (step % 4 == 3 && try_bad_step(&b, (rejection)how)) nrejected++;
                else if (step % 4 == 3) break; // this scheme steps without what was spoiled
                CHECK(is_same_state(&b.x, &before.x, calm->system->nv));
                model_step(&a, step_size);
                model_step(&b, step_size);
                CHECK(is_same_state(&a.x, &b.x, calm->system->nv));
                CHECK(memcmp(a.report.rows, b.report.rows, sizeof *a.report.rows) == 0);
                CHECK(memcmp(&a.report.measure, &b.report.measure, sizeof a.report.measure) == 0);
                CHECK(a.report.impact_loss == b.report.impact_loss && a.report.damping_loss == b.report.damping_loss);
                CHECK(a.report.smooth_impulse[0] == b.report.smooth_impulse[0]);
            }
            if (!a.scheme->ops->is_explicit || how == OVERFLOWS) CHECK(nrejected == 15);
            model_destroy(&calm);
            model_destroy(&shaken);
        }
}

// An explicit scheme asks the solver only while a contact is closed: give up there.
static void rejected_contact_leaves_no_trace(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++) {
        model *m = bouncing_bar(true);
        model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
        model_start(&run);
        int nrejected = 0;
        for (int step = 0; step < 100; step++) {
            model_step(&run, step_size);
            if (run.report.rows[0].step_impulse <= 0.0) continue;
            frozen before;
            freeze(&run.x, m->system->nv, &before);
            CHECK(try_bad_step(&run, GIVES_UP));
            CHECK(is_same_state(&run.x, &before.x, m->system->nv));
            nrejected++;
        }
        CHECK(nrejected > 5);
        model_destroy(&m);
    }
}

// A state that is not finite in the middle of the body is found and named, though no contact sees it.
static void state_that_is_not_finite_is_named(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++) {
        model *m = bar(false);
        throw_bar(m, 0.0, 2.0);
        model_build(m);
        model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
        model_start(&run);
        run.x.v[4] = NAN;
        CHECK_OK(m->ctx, run.scheme->ops->step(run.scheme, &run.x, step_size, &run.report));
        assert_int_equal(run.report.outcome, PCS_NOT_FINITE);
        CHECK(run.report.bad_equation >= 0 && run.report.bad_equation <= 4);
        CHECK(run.x.step == 0 && run.x.t == 0.0);
        model_destroy(&m);
    }
}

static void same_run_gives_the_same_bits(void **state)
{
    (void)state;
    for (int k = 0; k < NVARIANT; k++) {
        model *m[2];
        model_run run[2];
        for (int i = 0; i < 2; i++) {
            m[i] = bouncing_bar(true);
            run[i] = model_prepare(m[i], variants[k].scheme, variants[k].values, NULL, NULL);
            model_start(&run[i]);
            for (int step = 0; step < 200; step++) model_step(&run[i], step_size);
        }
        CHECK(is_same_state(&run[0].x, &run[1].x, N));
        for (int i = 0; i < 2; i++) model_destroy(&m[i]);
    }
}

static void steps_do_not_allocate(void **state)
{
    (void)state;
    if (!alloc_fault_is_active()) skip();
    for (int k = 0; k < NVARIANT; k++) {
        model *m = bouncing_bar(true);
        model_run run = model_prepare(m, variants[k].scheme, variants[k].values, NULL, NULL);
        model_start(&run);
        model_step(&run, step_size);
        story s = { 0 };
        alloc_fault_arm(0, false);
        for (int step = 0; step < 200; step++) {
            run.scheme->ops->step(run.scheme, &run.x, step_size, &run.report);
            watch(&run, &s);
        }
        long requests = alloc_fault_requests();
        if (requests != 0) fail_msg("%s: %ld allocations in 200 steps", variants[k].scheme, requests);
        CHECK(s.nimpact >= 2 && run.x.step == 201);
        model_destroy(&m);
    }
}

// Steps of the driver: multiples of the step, and a last one that ends at the end.
static void last_step_is_shortened(void **state)
{
    (void)state;
    const char *const schemes[] = { "scheme={type: alpha_ggl}", "scheme={type: moreau_jean, theta: 0.5}",
                                    "scheme={type: half_explicit}" };
    for (int k = 0; k < 3; k++) {
        const char *set[] = { "mesh.bar.elements=6", "time.step=0.004", "time.end=0.0137", schemes[k] };
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        assert_int_equal(pcs_context_create(&ctx), PCS_OK);
        CHECK_OK(ctx, pcs_sim_create(ctx, "cases/bar_impact", 4, set, &sim));
        CHECK_OK(ctx, pcs_sim_start(sim));
        double start = sim->state.q[0], rate = sim->state.v[0];
        CHECK(sim->nstep == 4);
        for (int step = 1; step <= 4; step++) {
            CHECK_OK(ctx, pcs_sim_step(sim));
            CHECK(sim->state.t == (step < 4 ? step * 0.004 : 0.0137));
            CHECK_NEAR(sim->report.h, step < 4 ? 0.004 : 0.0017, 1e-15);
            CHECK_NEAR(sim->state.q[0], start + rate * sim->state.t, 1e-13); // free flight
        }
        pcs_context_destroy(&ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_is_tested_here),      cmocka_unit_test(free_flight_is_exact),
        cmocka_unit_test(smooth_motion_has_its_order),      cmocka_unit_test(momentum_is_balanced),
        cmocka_unit_test(collisions_keep_momentum),         cmocka_unit_test(impact_obeys_restitution),
        cmocka_unit_test(reports_show_the_state),           cmocka_unit_test(closed_ledgers_close),
        cmocka_unit_test(rest_carries_the_weight),          cmocka_unit_test(rejected_step_leaves_no_trace),
        cmocka_unit_test(rejected_contact_leaves_no_trace), cmocka_unit_test(state_that_is_not_finite_is_named),
        cmocka_unit_test(same_run_gives_the_same_bits),     cmocka_unit_test(steps_do_not_allocate),
        cmocka_unit_test(last_step_is_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
