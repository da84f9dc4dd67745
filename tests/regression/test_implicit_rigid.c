// The implicit schemes on the rigid cases against digits of a separate implementation: energies of the two-mass
// oscillator, penetration, accumulation and rest of the ball, chatter of the modified position law, energy gained by
// smooth index 3, drift of the pendulum's joint, and a block that sticks.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>
#include <string.h>

#define GGL "scheme={type: alpha_ggl, rho_inf: 0.8}"
#define VELOCITY "scheme={type: alpha_velocity, rho_inf: 0.8}"
#define MOREAU "scheme={type: moreau_jean, rho_inf: 0.8}"
#define NEWMARK "scheme={type: newmark, gamma: 0.5}"
#define HHT "scheme={type: hht, alpha: 0.1}"
#define JUMP "scheme={type: jump_newmark, gamma: 0.5}"

static case_run rigid_run(const char *path, const char *scheme, const char *more)
{
    const char *set[] = { scheme, more, NULL };
    return case_run_all(path, set);
}

// The exact energy of two masses on a spring after 0.9 s is 14.361 J; impacts apart it is met far better than by theta.
TEST(oscillator_keeps_energy_with_impacts_apart)
{
    const char *const jumps[] = { JUMP, "scheme={type: jump_newmark, rho_inf: 0.8}" };
    for (int i = 0; i < 2; i++) {
        case_run run = rigid_run("cases/oscillator", jumps[i], "time.end=0.9");
        CHECK_NEAR(case_last(&run)->energy, 14.361, 0.15);
        case_close(&run);
    }
}

static void oscillator_rises(const char *scheme, const char *end, double *largest, int *count)
{
    case_run run = rigid_run("cases/oscillator", scheme, end);
    *largest = -INFINITY;
    *count = 0;
    for (long i = 1; i < run.count; i++) {
        double rise = run.records[i].energy - run.records[i - 1].energy;
        *largest = fmax(*largest, rise);
        if (rise > 1e-12) ++*count;
    }
    case_close(&run);
}

// The theta scheme dissipates for theta <= 1/(1 + e); above, it gains at times. Positions moved by the mean velocity do
// not care as long as contacts close from approach (1.5 s; later ones meet a contact that is leaving).
TEST(theta_dissipates_up_to_its_limit)
{
    double largest;
    int count;
    oscillator_rises("scheme={type: moreau_jean, theta: 0.5555555555555555}", "time.end=3.0", &largest, &count);
    CHECK(largest < 0.0);
    oscillator_rises("scheme={type: moreau_jean, theta: 1.0}", "time.end=3.0", &largest, &count);
    CHECK_NEAR(largest, 9.4e-4, 0.1e-4);
    CHECK(count == 10);
    oscillator_rises("scheme={type: moreau_jean, theta: 1.0, positions: midpoint}", "time.end=1.5", &largest, &count);
    CHECK(largest <= 1e-13 && count == 0);
}

// Last time at which the contact was open.
static double ball_closing_time(const case_run *run)
{
    long i = run->count - 1;
    while (i > 0 && run->records[i].step_impulse > 0.0) i--;
    return run->records[i + 1].t;
}

// Impacts accumulate at 3.602 s; afterwards the ball rests on m g = 10 N, velocity zero.
TEST(ball_comes_to_rest)
{
    const struct {
        const char *scheme;
        double closing, depth; // s, m
    } known[] = {
        { GGL, 3.444, 0.0 },     { VELOCITY, 3.582, -2.2e-3 }, { NEWMARK, 3.582, -2.2e-3 },
        { HHT, 3.582, -2.2e-3 }, { MOREAU, 3.602, -2e-3 },     { JUMP, 3.54, -7.0e-3 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        case_run run = rigid_run("cases/ball", known[i].scheme, NULL);
        CHECK_NEAR(ball_closing_time(&run), known[i].closing, 1e-9);
        CHECK_NEAR(case_smallest_gap(&run), known[i].depth, 0.6e-4);
        CHECK_NEAR(case_last(&run)->force, 10.0, 1e-10);
        CHECK_NEAR(case_last(&run)->rate, 0.0, 1e-14);
        case_close(&run);
    }
}

// With its position law modified, the scheme lets the ball chatter after the accumulation.
TEST(modified_law_chatters)
{
    case_run run = rigid_run("cases/ball", "scheme={type: alpha_ggl, variant: modified_lcp}", NULL);
    int changes = 0;
    double gap = 0.0, rate = 0.0, force = 0.0;
    for (long i = 1; i < run.count; i++) {
        const case_record *r = &run.records[i];
        if (r->t < 3.7 - 1e-9) continue;
        changes += r->t > 3.7 + 1e-9 && (r->step_impulse > 0.0) != (run.records[i - 1].step_impulse > 0.0);
        gap = fmax(gap, r->gap);
        rate = fmax(rate, fabs(r->rate));
        force = fmax(force, r->force);
    }
    CHECK(changes == 18);
    CHECK_NEAR(gap, 3.1e-3, 0.5e-4);
    CHECK_NEAR(rate, 0.23, 0.005);
    CHECK_NEAR(force, 217.0, 0.5);
    CHECK(case_smallest_gap(&run) >= 0.0);
    case_close(&run);
}

// 8.01 J become 125.8 J: without an impact law the velocity after an impact is what the constraint makes of it.
TEST(index3_gains_energy)
{
    case_run run = rigid_run("cases/ball", "scheme={type: alpha_index3, rho_inf: 0.8}", NULL);
    double largest = 0.0;
    for (long i = 0; i < run.count; i++) largest = fmax(largest, run.records[i].energy);
    CHECK_NEAR(run.records[0].energy, 8.01, 1e-12);
    CHECK_NEAR(largest, 125.8, 0.05);
    CHECK(case_smallest_gap(&run) >= 0.0);
    CHECK(case_last(&run)->ledger.numerical_loss < -100.0);
    case_close(&run);
}

typedef struct drift {
    double joint, depth; // m
} drift;

static drift pendulum_drift(const char *scheme)
{
    const char *set[] = { scheme, "time.end=3.0", NULL };
    case_run run = case_open("cases/pendulum", set);
    drift d = { 0 };
    for (long i = 0; i < run.sim->nstep; i++) {
        double gap[3];
        case_step(&run);
        pcs_system_gaps(run.sim->system, pcs_at(run.sim->state.t, run.sim->state.q, NULL), gap);
        d.joint = fmax(d.joint, fmax(fabs(gap[0]), fabs(gap[1])));
        d.depth = fmax(d.depth, -gap[2]);
    }
    case_close(&run);
    return d;
}

// Joints at velocity level drift; at position level they do not. Penetration of the wall likewise.
TEST(pendulum_drifts)
{
    drift ggl = pendulum_drift(GGL), velocity = pendulum_drift(VELOCITY), moreau = pendulum_drift(MOREAU);
    drift jump = pendulum_drift(JUMP);
    CHECK(ggl.joint < 1e-15 && ggl.depth < 1e-15);
    drift published = pendulum_drift("scheme={type: alpha_velocity, rho_inf: 0.8, variant: published}");
    CHECK_NEAR(published.joint, 1.7e-6, 0.05e-6);
    CHECK_NEAR(published.depth, 6.5e-4, 0.1e-4);
    CHECK(velocity.joint < 2e-6 && velocity.depth < 1e-3);
    CHECK_NEAR(moreau.joint, 4.4e-4, 0.05e-4);
    CHECK_NEAR(moreau.depth, 1.1e-3, 0.5e-4);
    CHECK(jump.joint < 5e-6);
    CHECK(jump.depth < 3e-3);
}

// Before the pendulum's first impact: where the forces of joints act smoothly the order is 2, as impulses alone 1.
TEST(joints_move_at_their_order)
{
    const struct {
        const char *scheme;
        double order;
    } known[] = { { GGL, 2.0 },
                  { JUMP, 2.0 },
                  { "scheme={type: jump_newmark, rho_inf: 0.8}", 2.0 },
                  { VELOCITY, 2.0 },
                  { "scheme={type: alpha_index3, rho_inf: 0.8}", 2.0 },
                  { HHT, 2.0 },
                  { "scheme={type: moreau_jean, theta: 0.5, forces: midpoint}", 1.0 },
                  { NEWMARK, 2.0 },
                  { "scheme={type: hht, alpha: 0.1, variant: published}", 1.0 } };
    const char *const steps[] = { "time={step: 4.0e-3, end: 0.4}", "time={step: 2.0e-3, end: 0.4}",
                                  "time={step: 1.0e-3, end: 0.4}", "time={step: 0.5e-3, end: 0.4}" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double theta[4], rate[4];
        for (int k = 0; k < 4; k++) {
            case_run run = rigid_run("cases/pendulum", known[i].scheme, steps[k]);
            theta[k] = run.sim->state.q[2];
            rate[k] = run.sim->state.v[2];
            case_close(&run);
        }
        for (int k = 0; k < 2; k++) {
            CHECK_NEAR(log2((theta[k] - theta[k + 1]) / (theta[k + 1] - theta[k + 2])), known[i].order, 0.05);
            CHECK_NEAR(log2((rate[k] - rate[k + 1]) / (rate[k + 1] - rate[k + 2])), known[i].order, 0.05);
        }
    }
}
