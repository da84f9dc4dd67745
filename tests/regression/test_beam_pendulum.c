// cases/beam_pendulum: digits of a separate implementation before the impact, schemes side by side, energies after it.
// Chen, Acary, Virlez, Bruls 2013, sec. 5.4.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>

static const char PENDULUM[] = "cases/beam_pendulum";
enum { STEPS_TO_03 = 600, STEPS_TO_IMPACT = 658 };

static case_run run_steps(const char *const *set, long count)
{
    case_run run = case_open(PENDULUM, set);
    for (long i = 0; i < count; i++) case_step(&run);
    return run;
}

TEST(tip_has_the_digits)
{
    case_run run = run_steps(NULL, STEPS_TO_03);
    CHECK_NEAR(run.sim->state.t, 0.3, 1e-12);
    CHECK_NEAR(case_probe(&run, 0), 0.794439307754, 1e-12);
    CHECK_NEAR(case_probe(&run, 1), -0.607344091505, 1e-12);
    case_close(&run);
}

static void check_scheme_at(const char *scheme, const char *step, int per_step)
{
    const char *const set[] = { scheme, step, NULL }, *const base[] = { step, NULL };
    case_run ggl = run_steps(base, (long)per_step * STEPS_TO_IMPACT),
             run = run_steps(set, (long)per_step * STEPS_TO_IMPACT);
    CHECK(case_find_contact(&ggl).count == 0);
    CHECK_NEAR(run.sim->state.t, 0.329, 1e-12);
    for (int axis = 0; axis < 2; axis++) CHECK_NEAR(case_probe(&run, axis), case_probe(&ggl, axis), 1e-5);
    case_close(&run);
    case_close(&ggl);
}

// Schemes of second order at the step of the case, Moreau-Jean, which is of first order, at a tenth of it.
TEST(schemes_agree_before_the_impact)
{
    check_scheme_at("scheme={type: alpha_velocity, rho_inf: 0.65}", "time.step=5.0e-4", 1);
    check_scheme_at("scheme={type: newmark}", "time.step=5.0e-4", 1);
    check_scheme_at("scheme={type: moreau_jean, rho_inf: 0.65}", "time.step=5.0e-5", 10);
}

static double energy_at_the_end(const char *scheme, double smallest_gap)
{
    const char *const set[] = { scheme, NULL };
    case_run run = case_run_all(PENDULUM, set);
    CHECK_NEAR(run.sim->state.t, 0.45, 1e-12);
    CHECK(case_smallest_gap(&run) >= smallest_gap);
    double energy = case_last(&run)->energy;
    case_close(&run);
    return energy;
}

TEST(energies_are_ordered_as_published)
{
    CHECK_RELATIVE(energy_at_the_end("scheme={type: alpha_ggl, rho_inf: 0.65}", -1e-13), -0.929, 1e-3);
    CHECK_RELATIVE(energy_at_the_end("scheme={type: moreau_jean, rho_inf: 0.65}", -1e-3), -1.566, 1e-3);
    CHECK_RELATIVE(energy_at_the_end("scheme={type: moreau_jean, theta: 1.0}", -1e-3), -2.023, 1e-3);
}

// The gap of a joint is its misfit; both levels hold all the time.
TEST(hinge_does_not_drift)
{
    case_run run = case_run_all(PENDULUM, NULL);
    pcs_system *system = run.sim->system;
    double gap[3];
    CHECK(system->nrow == 3 && system->rows[1].is_bilateral && system->rows[2].is_bilateral);
    pcs_system_gaps(system, pcs_at(run.sim->state.t, run.sim->state.q, NULL), gap);
    for (int j = 1; j < 3; j++) {
        CHECK(fabs(gap[j]) < 1e-16);
        CHECK(fabs(pcs_system_rate(system, j, run.sim->state.v)) < 1e-12);
    }
    case_close(&run);
}

// Without numerical damping the burst of impacts feeds the fastest modes, and the discrete equations have roots of some
// 1e4 J beside the right one. The motion started with no energy and has none to gain.
TEST(undamped_schemes_stay_on_the_right_root)
{
    const char *const schemes[] = { "scheme={type: moreau_jean, theta: 0.5}", "scheme={type: newmark}",
                                    "scheme={type: alpha_velocity, rho_inf: 1.0}" };
    const char *const held[] = { "joints={}", "supports={ pivot: { set: beam.start, fix: [x, y] } }" };
    for (int k = 0; k < 6; k++) {
        const char *const set[] = { schemes[k % 3], k < 3 ? NULL : held[0], held[1], NULL };
        case_run run = case_run_all(PENDULUM, set);
        for (long i = 0; i < run.count; i++) CHECK(run.records[i].energy < 0.1);
        case_close(&run);
    }
}
