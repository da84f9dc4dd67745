// The parts of the explicit schemes: tableaus, weights and stable steps; and steps that are made of smaller ones.

#include "build/build.h"
#include "support/bars.h"
#include "support/check.h"
#include "support/rigid.h"

#include "schemes/tableau.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Spectral radius of a step y of the explicit trapezoidal rule on q'' + 2 xi q' + q = 0.
static double trapezoidal_radius(double y, double xi)
{
    double a = 1.0 - 0.5 * y * y, b = y - xi * y * y; // q' = a q + b v
    double c = -y + 0.25 * y * y * y + xi * y * y;    // v' = c q + d v
    double d = 1.0 - 2.0 * xi * y - 0.5 * y * y + 0.5 * xi * y * y * y + 2.0 * xi * xi * y * y;
    double half = 0.5 * (a + d), det = a * d - b * c, root = half * half - det;
    return root < 0.0 ? sqrt(det) : fabs(half) + sqrt(root);
}

static const pcs_scheme_ops *find_scheme(const char *name)
{
    int i = 0;
    while (strcmp(pcs_schemes[i]->name, name) != 0) i++;
    return pcs_schemes[i];
}

// Known limits on the imaginary axis; growth of e in 10^6 radians is allowed, so weakly growing methods get a small
// one.
TEST(stable_steps)
{
    CHECK_NEAR(pcs_tableau_stable_step(&pcs_tableau_rk4, 1.0, 0.0, 0.0), 2.0 * sqrt(2.0), 1e-4);
    CHECK_NEAR(pcs_tableau_stable_step(&pcs_tableau_kutta3, 1.0, 0.0, 0.0), sqrt(3.0), 1e-4);
    CHECK_NEAR(pcs_tableau_stable_step(&pcs_tableau_hem3, 2.0, 0.0, 0.0), 0.5 * sqrt(3.0), 1e-4);
    CHECK_NEAR(pcs_tableau_stable_step(&pcs_tableau_herk2, 1.0, 0.0, 0.0), 0.02, 1e-4);       // y^3/8 = 1e-6
    CHECK_NEAR(pcs_tableau_stable_step(&pcs_tableau_fehlberg5, 1.0, 0.0, 0.0), 0.2563, 2e-3); // 0.000908 y^5 = 1e-6
    const pcs_scheme_ops *tdg = find_scheme("tdg_minus"), *euler = find_scheme("moreau_jean_explicit");
    const int first = 1; // the parameters of tdg_minus: its degree
    CHECK_NEAR(tdg->stable_step(&first, 1.0, 0.0, 0.0), 2.0, 1e-4);
    double damped = tdg->stable_step(&first, 1.0, 0.3, 0.0);
    CHECK(trapezoidal_radius(0.999 * damped, 0.3) < 1.0 && trapezoidal_radius(1.001 * damped, 0.3) > 1.0);
    // Far beyond critical damping z = -2 xi w and the limit of the real axis counts.
    CHECK_NEAR(pcs_tableau_stable_step(&pcs_tableau_rk4, 1.0, 1e5, 0.0) * 2e5, 2.7853, 1e-3);
    CHECK(euler->stable_step(NULL, 3.0, 0.0, 0.0) == 0.0);
    CHECK_NEAR(euler->stable_step(NULL, 3.0, 0.3, 0.0), 0.2, 1e-15); // |1 + h z|^2 = 1 - 2 xi w h + (w h)^2
    CHECK_NEAR(euler->stable_step(NULL, 1.0, 1e6, 0.0), 1e-6, 1e-15);
}

// A whirl grows by spin w^3 h^4/16 in a step of the trapezoidal rule, by (spin h)^4/8 without stiffness. A tableau sees
// its faster frequency. Forces that lag make it grow at any step.
TEST(stable_steps_of_what_spins)
{
    static const char *const lagging[] = { "moreau_jean_explicit", "moreau_midpoint", "schatzman_paoli" };
    for (double unit = 1e-3; unit < 1e7; unit *= 1e3) {
        double half = find_scheme("half_explicit")->stable_step(NULL, unit, 0.0, 1e-3 * unit);
        const int first = 1;
        CHECK_NEAR(unit * half, cbrt(16e-3), 1e-2);
        CHECK_NEAR(unit * find_scheme("tdg_minus")->stable_step(&first, unit, 0.0, 1e-3 * unit), unit * half, 1e-6);
        CHECK_NEAR(unit * find_scheme("half_explicit")->stable_step(NULL, 1e-6 * unit, 0.0, unit), 0.02, 1e-4);
        double fast = unit * (1.0 + sqrt(2.0)); // w for a spin of 2 w
        CHECK_NEAR(fast * pcs_tableau_stable_step(&pcs_tableau_rk4, unit, 0.0, 2.0 * unit), sqrt(8.0), 1e-4);
        for (int i = 0; i < 3; i++) CHECK(find_scheme(lagging[i])->stable_step(NULL, unit, 0.0, 1e-9 * unit) == 0.0);
    }
}

// Runs just below the limit stay finite, just above they do not.
TEST(bars_obey_the_stable_step)
{
    static const char *const variants[][2] = { { "half_explicit_rk", "method=hem3" },
                                               { "half_explicit_rk", "method=hem4" },
                                               { "half_explicit_rk", "method=hem5" },
                                               { "moreau_jean_explicit", "" },
                                               { "moreau_midpoint", "" },
                                               { "schatzman_paoli", "" },
                                               { "tdg_minus", "degree=1" } };
    for (size_t c = 0; c < sizeof variants / sizeof *variants; c++)
        for (int above = 0; above < 2; above++) {
            model *m = bar_create(true);
            pcs_fe_initial *start = model_initial(m, "bar.start"); // one node alone moves: all modes do
            start->velocity.is_given = true;
            start->velocity.ends[0][0] = start->velocity.ends[1][0] = 1.0;
            model_build(m);
            model_run run = model_prepare(m, variants[c][0], variants[c][1], NULL, NULL);
            double h = m->system->ops->stable_step(
                m->system, NULL, NULL,
                &(pcs_step_limit){ .modes = run.scheme->ops->stable_step, .params = run.scheme->params });
            CHECK(h > 0.0 && isfinite(h));
            h *= above ? 1.3 : 0.97;
            model_start(&run);
            double energy = run.report.measure.kinetic + run.report.measure.strain, end = energy;
            for (int step = 0; step < 2000 && end < 1e3 * energy; step++) {
                model_step(&run, h);
                end = run.report.measure.kinetic + run.report.measure.strain;
            }
            CHECK(above ? end >= 1e3 * energy : end < 2.0 * energy);
            model_destroy(&m);
        }
}

static int calls_left;

static void solve_for_a_while(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    for (int i = 0; pcs_step_solvers[i] != NULL; i++)
        if (strcmp(pcs_step_solvers[i]->name, "condensed") == 0) pcs_step_solvers[i]->solve(self, p, result);
    if (calls_left-- <= 0) result->outcome = PCS_NOT_CONVERGED;
}

// A smaller step that fails takes back those before it.
TEST(failed_impulsive_step_leaves_no_trace)
{
    model *m = bar_bouncing(true), *calm = bar_bouncing(true);
    model_run run = model_prepare(m, "half_explicit", "impulsive_step=0.0004", "condensed", NULL);
    model_run other = model_prepare(calm, "half_explicit", "impulsive_step=0.0004", "condensed", NULL);
    model_start(&run);
    model_start(&other);
    const pcs_step_solver_ops *good = run.solver->ops;
    pcs_step_solver_ops bad = *good;
    bad.solve = solve_for_a_while;
    int nfailed = 0;
    for (int step = 0; step < 200; step++) {
        unsigned long long before = pcs_state_hash(&run.x);
        model_step(&other, bar_step);
        if (other.report.is_joined) {
            // The whole step asks once, then the part with the impact does.
            run.solver->ops = &bad;
            calls_left = 1;
            CHECK_OK(m->ctx, run.scheme->ops->step(run.scheme, &run.x, bar_step, &run.report));
            run.solver->ops = good;
            CHECK(run.report.outcome == PCS_NOT_CONVERGED && pcs_state_hash(&run.x) == before);
            nfailed++;
        }
        model_step(&run, bar_step);
        CHECK(pcs_state_hash(&run.x) == pcs_state_hash(&other.x));
        CHECK(run.report.damping_loss == other.report.damping_loss);
        CHECK(run.report.smooth_impulse[0] == other.report.smooth_impulse[0]);
    }
    CHECK(nfailed >= 3);
    model_destroy(&m);
    model_destroy(&calm);
}

// Schatzman and Paoli's scheme as its three-term recursion, for one ball.
TEST(paoli_is_its_recursion)
{
    const double h = 1.7e-3, e = 0.7, g = 10.0, floor = 0.2;
    rigid_trace trace =
        rigid_run_all("ball", "scheme={type: schatzman_paoli};system.restitution=0.7;time={step: 1.7e-3, end: 1.7}", 1);
    double before = 1.001 - 0.5 * h * h * g, now = 1.001; // from rest
    long nclosed = 0;
    for (long k = 1; k < trace.count; k++) {
        double next = 2.0 * now - before - h * h * g, z = (next + e * before) / (1.0 + e);
        if (z < floor) next += (1.0 + e) * (floor - z);
        nclosed += z < floor;
        before = now;
        now = next;
        CHECK_NEAR(trace.q[k], now, 1e-11);
        CHECK_NEAR(trace.v[k], (now - before) / h, 1e-9);
    }
    CHECK(nclosed >= 2 && nclosed < 10);
    rigid_free(&trace);
}
