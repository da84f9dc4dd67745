// cases/bar_impact against the published figures (Bruls, Acary, Cardona 2014, sec. 10.3), the exact solution and digits
// of a separate implementation: contact of 2/3 s without a gap, 300 N, no penetration, 497.54 of 500 J kept.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>

static const char BAR[] = "cases/bar_impact";

// Mean and root mean square deviation from `target` of the step force over [begin, end].
static void impact_force(const case_run *run, double begin, double end, double target, double *mean, double *rms)
{
    double sum = 0.0, square = 0.0;
    long count = 0;
    for (long i = 1; i < run->count; i++) {
        const case_record *r = &run->records[i];
        if (r->t < begin || r->t > end) continue;
        double force = r->step_impulse / (r->t - run->records[i - 1].t);
        sum += force;
        square += (force - target) * (force - target);
        count++;
    }
    CHECK(count > 0);
    *mean = sum / (double)count;
    *rms = sqrt(square / (double)count);
}

TEST(impact_ggl_meets_the_published_figures)
{
    case_run run = case_run_all(BAR, NULL);
    case_contact contact = case_find_contact(&run);
    double h = run.sim->step_size, mean, rms;
    CHECK(run.count == 751);
    CHECK(contact.count == contact.last - contact.first + 1); // no gap in the contact
    CHECK_NEAR((double)contact.count * h, 2.0 / 3.0, 2.0 * h);
    CHECK_NEAR(run.records[contact.first].t, 0.5005, h);
    CHECK(case_impacts(&run) == 1);
    impact_force(&run, 0.55, 1.1, 300.0, &mean, &rms);
    CHECK_NEAR(mean, 300.0, 0.01);
    CHECK(rms < 1e-3 * 300.0);
    CHECK(case_smallest_gap(&run) >= -1e-12);
    CHECK_NEAR(case_last(&run)->energy, 497.54, 0.005);
    // The bar flies back: what the wall gave, and the digits of the separate implementation.
    double impulse = 0.0;
    for (long i = 0; i < run.count; i++) impulse += run.records[i].step_impulse;
    CHECK_RELATIVE(run.sim->ledger.now.momentum[0], impulse - 100.0, 1e-9);
    CHECK_RELATIVE(run.sim->ledger.now.momentum[0], 98.94482425660374, 1e-9);
    case_close(&run);
}

TEST(impact_ggl_gives_the_digits)
{
    case_run run = case_run_all(BAR, NULL);
    CHECK_NEAR(run.records[251].t, 0.502, 1e-12);
    CHECK_RELATIVE(run.records[251].step_impulse, 0.430125950546, 1e-9);
    CHECK_RELATIVE(run.records[251].energy, 498.529880642, 1e-9);
    double sum = 0.0;
    for (long i = 0; i <= 500; i++) sum += run.records[i].step_impulse;
    CHECK_NEAR(run.records[500].t, 1.0, 1e-12);
    CHECK_RELATIVE(sum, 149.849999946, 1e-9);
    case_close(&run);
}

// The plastic impact takes the work of its impulse on the mean of 10 m/s before and 0 after it; the position correction
// beyond the half step that the jump of the velocity accounts for strains the bar.
TEST(impact_ggl_books_what_the_impact_takes)
{
    case_run run = case_run_all(BAR, NULL);
    const case_record *closing = &run.records[251];
    CHECK_RELATIVE(run.sim->solver->effective_mass[0], 0.05 / (2.0 * sqrt(3.0)), 1e-12);
    CHECK(case_find_contact(&run).first == 251);
    CHECK_RELATIVE(closing->ledger.impact_loss, 0.430125950546 * 10.0 / 2.0, 1e-9);
    CHECK_RELATIVE(closing->ledger.correction_work, 1.0375677159202, 1e-8);
    CHECK_RELATIVE(closing->ledger.now.strain, 1.50317266490613, 1e-9); // digits of the separate implementation
    CHECK_RELATIVE(closing->ledger.now.kinetic, 497.026707972612, 1e-9);
    case_close(&run);
}

TEST(impact_moreau_jean_penetrates_and_loses)
{
    const char *set[] = { "scheme={type: moreau_jean, rho_inf: 0.8}", NULL };
    case_run run = case_run_all(BAR, set);
    CHECK_NEAR(case_smallest_gap(&run), -3.9e-3, 0.05e-3);
    CHECK_NEAR(case_last(&run)->energy, 476.92, 0.005);
    CHECK_RELATIVE(case_smallest_gap(&run), -0.0038888888889499, 1e-8); // digits of the separate implementation
    CHECK_RELATIVE(case_last(&run)->energy, 476.9236925826414, 1e-9);
    case_close(&run);
    const char *theta[] = { "scheme={type: moreau_jean, theta: 0.55555555555555556}", NULL };
    run = case_run_all(BAR, theta);
    CHECK_RELATIVE(case_last(&run)->energy, 476.9236925826414, 1e-9);
    case_close(&run);
}
