// What every scheme promises of its motion, looped over the table: free flight, its order in smooth motion, momentum
// and the law of restitution over impacts, rest.

#include "support/bars.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

TEST(every_scheme_is_tested_here)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        bool is_there = false;
        for (int k = 0; k < bar_nvariant; k++)
            is_there = is_there || strcmp(bar_variants[k].scheme, pcs_schemes[i]->name) == 0;
        if (!is_there) fail_msg("the table of variants lacks scheme '%s'", pcs_schemes[i]->name);
    }
}

TEST(free_flight_is_exact)
{
    for (int k = 0; k < bar_nvariant; k++)
        for (int falls = 0; falls < 2; falls++) {
            if (falls && !bar_variants[k].is_exact_fall) continue;
            model *m = bar_create(false);
            bar_throw(m, 0.25, -3.0);
            if (falls) model_gravity(m, -10, 0, 0);
            model_build(m);
            model_run run;
            if (!bar_prepare(&bar_variants[k], &m, &run)) continue;
            model_start(&run);
            for (int step = 0; step < 200; step++) model_step(&run, step % 3 == 0 ? 0.01 : 0.013); // steps may differ
            double t = run.x.t, g = falls ? -10.0 : 0.0;
            CHECK(run.x.step == 200);
            CHECK_NEAR(t, 67 * 0.01 + 133 * 0.013, 1e-13);
            for (int i = 0; i < BAR_NODES; i++) {
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
    enum { STEPS = 400, TERMS = 18, MOST = 2 * BAR_NODES + 2 };
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
    double M[BAR_NODES * BAR_NODES], K[BAR_NODES * BAR_NODES], C[BAR_NODES * BAR_NODES], column[BAR_NODES];
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

static double smooth_error(const bar_variant *c, bool is_damped, int nstep)
{
    static const double time[] = { 0.0, 1.0 }, factor[] = { 0.5, 3.5 };
    model *m = bar_create(is_damped);
    model_support(m, "bar.start", "x");
    pcs_fe_initial *start = model_initial(m, "bar");
    start->displacement.is_given = true;
    start->displacement.ends[1][0] = 0.1;
    model_force(m, "bar.end", 4, 0, 0)->amplitude = (pcs_amplitude){ .count = 2, .time = time, .factor = factor };
    model_build(m);
    model_run run;
    if (!bar_prepare(c, &m, &run)) return NAN;
    int n = m->system->nv, size = 2 * n + 2;
    double A[(2 * BAR_NODES + 2) * (2 * BAR_NODES + 2)], y[2 * BAR_NODES + 2] = { 0 }, error = 0.0;
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

TEST(smooth_motion_has_its_order)
{
    for (int k = 0; k < bar_nvariant; k++)
        for (int damped = 0; damped < 2; damped++) {
            double error[3], order[2], wanted = bar_variants[k].order;
            if (damped && bar_variants[k].damped_order > 0.0) wanted = bar_variants[k].damped_order;
            for (int i = 0; i < 3; i++) error[i] = smooth_error(&bar_variants[k], damped, 800 << (2 * i));
            if (isnan(error[0])) continue; // the scheme does not take an undamped mesh
            for (int i = 0; i < 2; i++) order[i] = 0.5 * log2(error[i] / error[i + 1]);
            print_message("%s %s%s: errors %.3g %.3g %.3g, orders %.3f %.3f\n", bar_variants[k].scheme,
                          bar_variants[k].values, damped ? " damped" : "", error[0], error[1], error[2], order[0],
                          order[1]);
            for (int i = 0; i < 3 && isinf(wanted); i++) CHECK(error[i] < 1e-7);
            if (isinf(wanted)) continue;
            CHECK_NEAR(order[0], wanted, 0.1);
            CHECK_NEAR(order[1], wanted, 0.03);
            CHECK(error[2] < (wanted > 1.5 ? 2e-5 : 5e-3));
        }
}

// A step of 1e4 cell waves: every mode is as good as infinitely fast, and each step keeps rho_inf of it. (The
// generalized-alpha scheme has a double root there: an amplitude of n rho^n.)
TEST(fast_modes_keep_rho)
{
    const struct {
        const char *scheme, *values;
        double rho, growth;
    } known[] = { { "alpha_ggl", "rho_inf=0.8", 0.8, 2.0 },
                  { "alpha_ggl", "rho_inf=0.5", 0.5, 2.0 },
                  { "moreau_jean", "rho_inf=0.8", 0.8, 1.0 },
                  { "moreau_jean", "theta=0.625", 0.6, 1.0 } };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        model *m = bar_create(false);
        model_support(m, "bar.start", "x");
        pcs_fe_initial *start = model_initial(m, "bar");
        start->displacement.is_given = true;
        start->displacement.ends[1][0] = 0.1;
        model_build(m);
        model_run run = model_prepare(m, known[k].scheme, known[k].values, NULL, NULL);
        model_start(&run);
        double energy[2];
        for (int half = 0; half < 2; half++) {
            for (int step = 0; step < 100; step++) model_step(&run, 500.0);
            energy[half] = run.report.measure.kinetic + run.report.measure.strain;
        }
        double kept = sqrt(energy[1] / energy[0]) / known[k].growth;
        CHECK_NEAR(pow(kept, 0.01), known[k].rho, 1e-3);
        model_destroy(&m);
    }
}

// To round-off: what a step adds up in passing a compiler may contract otherwise.
static void same_measure(const pcs_measure *a, const pcs_measure *b)
{
    double energy = b->kinetic + b->strain + fabs(b->potential);
    CHECK_NEAR(a->kinetic, b->kinetic, 1e-14 * energy);
    CHECK_NEAR(a->strain, b->strain, 1e-14 * energy);
    CHECK_NEAR(a->potential, b->potential, 1e-14 * energy);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(a->momentum[k], b->momentum[k], 1e-14 * 6.0 * 10.0);
        CHECK_NEAR(a->free_momentum[k], b->free_momentum[k], 1e-14 * 6.0 * 10.0);
    }
}

TEST(momentum_is_balanced)
{
    for (int k = 0; k < bar_nvariant; k++)
        for (int damped = 0; damped < 2; damped++) {
            model *m = bar_bouncing(damped);
            model_run run;
            if (!bar_prepare(&bar_variants[k], &m, &run)) continue;
            model_start(&run);
            bar_history s = { 0 };
            pcs_measure now, before;
            m->system->ops->measure(m->system, pcs_at(run.x.t, run.x.q, run.x.v), PCS_ENERGY, &before);
            for (int step = 0; step < 300; step++) {
                model_step(&run, bar_step);
                bar_watch(&run, &s);
                m->system->ops->measure(m->system, pcs_at(run.x.t, run.x.q, pcs_scheme_velocity(run.scheme, &run.x)),
                                        PCS_ENERGY, &now);
                double gained =
                    run.report.smooth_impulse[0] - run.report.rows[0].step_impulse + run.report.rows[1].step_impulse;
                CHECK_NEAR(now.momentum[0] - before.momentum[0], gained, 1e-12 * 6.0 * 10.0);
                same_measure(&run.report.measure, &now);
                before = now;
            }
            CHECK(s.nimpact >= 2 && s.nloaded >= 20 && s.impulse > 10.0);
            model_destroy(&m);
        }
}

// The first impact out of free flight: the node that hits leaves with half its velocity, the law to the letter.
TEST(impact_obeys_restitution)
{
    for (int k = 0; k < bar_nvariant; k++) {
        if (bar_variants[k].has_no_impact) continue;
        model *m = bar_create(false);
        bar_throw(m, 0.0, 2.0);
        model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.05,0,0 normal=-1,0,0 restitution=0.5");
        model_build(m);
        model_run run;
        if (!bar_prepare(&bar_variants[k], &m, &run)) continue;
        model_start(&run);
        int step = 0;
        for (; step < 20 && !run.report.rows[0].is_impact; step++) model_step(&run, bar_step);
        const pcs_row_report *row = &run.report.rows[0];
        CHECK(row->is_impact && row->is_closed && row->is_gated);
        CHECK_NEAR(row->rate, 0.5 * 2.0, 1e-13);
        CHECK_NEAR(row->target, -0.5 * 2.0, 1e-13);
        CHECK_NEAR(row->impulse, row->step_impulse, 0.0);
        CHECK(row->gap >= (pcs_rule_limits_gaps(&run.scheme->rule) ? -1e-15 : -2.0 * bar_step));
        // Position and velocity levels agree on when: 0.05 m at 2 m/s, within a step (or half, foreseen).
        CHECK_NEAR(run.x.t, 0.025, 1.5 * bar_step);
        model_destroy(&m);
    }
}

// The report tells gaps, rates and times of the state itself.
TEST(reports_show_the_state)
{
    for (int k = 0; k < bar_nvariant; k++) {
        model *m = bar_bouncing(true);
        model_run run;
        if (!bar_prepare(&bar_variants[k], &m, &run)) continue;
        model_start(&run);
        for (int step = 0; step < 300; step++) {
            double gap[2], t = run.x.t;
            model_step(&run, bar_step);
            CHECK_NEAR(run.report.h, bar_step, 1e-15);
            CHECK(run.report.iterations >= 0 && run.x.step == step + 1);
            CHECK_NEAR(run.x.t, t + bar_step, 1e-15);
            pcs_system_gaps(m->system, pcs_at(run.x.t, run.x.q, NULL), gap);
            for (int j = 0; j < 2; j++) {
                const pcs_row_report *row = &run.report.rows[j];
                CHECK(row->gap == gap[j] && row->rate == pcs_system_rate(m->system, j, run.x.v));
                CHECK(row->multiplier >= 0.0 && row->impulse >= 0.0);
                if (run.scheme->rule.position == PCS_POSITION_FORCE) continue; // filtered forces outlast their contacts
                CHECK(row->step_impulse >= 0.0);
                bool has_parts = strstr(bar_variants[k].values, "impulsive_step") != NULL; // closed in one of them
                if (row->step_impulse > 0.0 && !has_parts) CHECK(row->is_closed);
                if (row->is_impact) CHECK(row->impulse > 0.0 || row->multiplier == 0.0);
                if (pcs_rule_limits_gaps(&run.scheme->rule)) CHECK(row->gap >= -1e-14);
            }
        }
        model_destroy(&m);
    }
}

// Under its weight, strongly damped, the bar comes to rest on the wall, which then carries all of it. Whether a scheme
// that gains energy at impacts ever does is decided by the last digits of where it starts.
TEST(rest_carries_the_weight)
{
    for (int k = 0; k < bar_nvariant; k++) {
        if (bar_variants[k].gains_energy) continue;
        model *m = bar_create(false);
        m->definition.damping_mass = 12.0;
        m->definition.damping_stiffness = 0.01;
        bar_throw(m, 0.0, 0.3);
        model_gravity(m, 10, 0, 0);
        model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.01,0,0 normal=-1,0,0 restitution=0.5");
        model_build(m);
        model_run run;
        if (!bar_prepare(&bar_variants[k], &m, &run)) continue;
        model_start(&run);
        double impulse = 0.0;
        for (int step = 0; step < 5000; step++) {
            model_step(&run, bar_step);
            if (step >= 4000) impulse += run.report.rows[0].step_impulse;
        }
        if (bar_variants[k].chatters) {
            // The drag of falling in between carries the rest.
            CHECK_NEAR(impulse / (1000.0 * bar_step), 6.0 * 10.0, 1.0);
            model_destroy(&m);
            continue;
        }
        CHECK(!run.report.rows[0].is_impact && run.report.rows[0].impulse == 0.0);
        double tolerance = fmax(6.0 * 12.0 * bar_variants[k].drift, 1e-6); // the drag of the drift carries the rest
        CHECK_NEAR(run.report.rows[0].step_impulse / bar_step, 6.0 * 10.0, tolerance);
        CHECK_NEAR(run.report.rows[0].force, 6.0 * 10.0, tolerance);
        if (bar_variants[k].drift > 0.0) {
            model_destroy(&m);
            continue;
        }
        CHECK(run.report.measure.kinetic < 1e-14);
        // Hanging column: end stress 60 BAR_NODES over k = 400 BAR_NODES/m per cell.
        CHECK_NEAR(run.x.q[BAR_NODES - 1] - run.x.q[BAR_NODES - 2], -(60.0 - 5.0) / 400.0, 1e-8);
        model_destroy(&m);
    }
}
