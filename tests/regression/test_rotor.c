// cases/rotor: run-up, rubbing in a bearing with backlash, forward whirl; two schemes side by side.

#include "support/check.h"
#include "support/every_scheme.h"
#include "support/run_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double mu = 0.01, radius = 0.01, backlash = 1e-4; // of friction; of the journal, and beyond it, m

// What a run leaves.
typedef struct rotor_end {
    double wheel[2];                   // y and z at the end, m
    double spin;                       // rad/s
    double turned;                     // rad, the wheel round the mean of its orbit from 0.04 s on
    double rubbed;                     // J, sum of mu N r w: what sliding friction takes
    double stopped;                    // J, sum of -N (v_n + v)/2, v the speed of the gap: what impacts take
    double impact_loss, friction_loss; // J
    double smallest_gap;               // m
    long nimpact, nstep;
} rotor_end;

enum { WHEEL_Y, WHEEL_Z, WHEEL_SPIN, JOURNAL_SPIN };
static const char probes[] = "output={probes: {wheel: {node: axle.wheel, of: [uy, uz, wx]}, "
                             "journal: {node: axle.journal, of: [wx]}}}";

static void wheel_place(const case_run *run, double out[2])
{
    out[0] = case_probe(run, WHEEL_Y);
    out[1] = case_probe(run, WHEEL_Z);
}

enum { ROOM = 12001 };

// Angle swept about the mean of the places.
static double swept(int count, double (*x)[2])
{
    double mean[2] = { 0 }, angle = 0.0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) mean[k] += x[i][k] / count;
    for (int i = 1; i < count; i++) {
        double a[2] = { x[i - 1][0] - mean[0], x[i - 1][1] - mean[1] }, b[2] = { x[i][0] - mean[0], x[i][1] - mean[1] };
        angle += atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
    }
    return angle;
}

static rotor_end rotor_run(const char *scheme)
{
    static double orbit[ROOM][2];
    const char *set[] = { scheme, probes, NULL };
    case_run run = case_open("cases/rotor", set);
    rotor_end end = { 0 };
    int count = 0;
    while (run.sim->state.t < 0.1 - 1e-9) {
        double rate = case_last(&run)->rate;
        case_step(&run);
        const case_record *last = case_last(&run);
        end.rubbed += mu * last->step_impulse * radius * case_probe(&run, JOURNAL_SPIN);
        end.stopped -= last->step_impulse * 0.5 * (rate + last->rate);
        if (last->t > 0.04 && count < ROOM) wheel_place(&run, orbit[count++]);
    }
    wheel_place(&run, end.wheel);
    end.spin = case_probe(&run, WHEEL_SPIN);
    end.turned = swept(count, orbit);
    end.impact_loss = case_last(&run)->ledger.impact_loss;
    end.friction_loss = case_last(&run)->ledger.friction_loss;
    end.smallest_gap = case_smallest_gap(&run);
    end.nimpact = case_impacts(&run);
    end.nstep = run.count - 1;
    case_close(&run);
    return end;
}

TEST(rotor_runs_up_rubs_and_whirls_forward)
{
    rotor_end half = rotor_run("scheme.type=half_explicit"), moreau = rotor_run("scheme={ type: moreau_midpoint }");
    CHECK(half.nstep == 20000 && moreau.nstep == 20000);
    // 100 N m for 0.05 s on J = 0.01 + rho Ip L, less the friction of about 0.008 N m
    CHECK_NEAR(half.spin, 5.0 / 0.0101776158, 1.0);
    CHECK_NEAR(moreau.spin, half.spin, 0.05);
    // from 0.04 to 0.1 s the failure torque turns 4.6 times; the wheel follows it, as far as the bounces let it
    CHECK(half.turned > 2.0 * 6.283 && half.turned < 5.0 * 6.283);
    CHECK_NEAR(moreau.turned, half.turned, 0.5);
    // few impulsive steps, and little penetration
    CHECK(half.nimpact >= 20 && half.nimpact < 260);
    CHECK(half.smallest_gap > -1e-6 && moreau.smallest_gap > -1e-6);
    // the same motion, to a hundredth of the orbit
    CHECK_ALL_NEAR(2, moreau.wheel, half.wheel, 2e-6);
    // The journal slides at r w, and at most at backlash w more or less: it goes round in the bearing no faster than it
    // spins.
    CHECK_NEAR(moreau.friction_loss, moreau.rubbed, backlash / radius * moreau.rubbed);
    CHECK_NEAR(half.friction_loss, half.rubbed, backlash / radius * half.rubbed);
    // The normal turns within a step, and the rate before it is taken along the normal after it.
    CHECK_NEAR(moreau.impact_loss, moreau.stopped, 0.15 * moreau.stopped);
}

// Directions turn fast in a backlash of 0.1 mm: the implicit schemes keep the law of contact where the step ends, or
// their certificate ends the run in the first bounces.
TEST(implicit_schemes_keep_the_law)
{
    static const char *const schemes[] = { "scheme={ type: moreau_jean, theta: 0.5 }",
                                           "scheme={ type: alpha_ggl, rho_inf: 0.8 }" };
    for (int i = 0; i < 2; i++) {
        const char *set[] = { schemes[i], "time.end=0.006", NULL };
        case_run run = case_run_all("cases/rotor", set);
        CHECK(run.count == 1201);
        CHECK(case_impacts(&run) >= 5);
        CHECK(case_smallest_gap(&run) > (i == 0 ? -1e-6 : -1e-15));
        case_close(&run);
    }
}

// Gyroscopic forces do no work, and C has no symmetry: the ledger closes to round-off with every loss in closed form.
TEST(gyroscopic_forces_take_nothing)
{
    int count = 0;
    for (int i = 0; every_scheme[i] != NULL; i++) {
        char scheme[160];
        pcs_context *ctx;
        snprintf(scheme, sizeof scheme, "scheme={%s}", every_scheme[i]);
        scheme_job job = { .path = "cases/shaft_whirl", .set = { scheme, "time.step=auto" }, .nset = 1 };
        pcs_sim *sim = scheme_job_open(&job, &ctx);
        job.nset = 2; // for schemes that need a smaller step
        if (sim == NULL) sim = scheme_job_open(&job, &ctx);
        if (sim == NULL) continue;
        for (int k = 0; k < 50; k++)
            if (pcs_sim_step(sim) != PCS_OK) fail_msg("%s: %s", every_scheme[i], pcs_message(ctx));
        count += !sim->ledger.numerical_is_remainder;
        pcs_context_destroy(&ctx);
    }
    CHECK(count >= 4);
}
