// The force of cases/bar_impact (Bruls, Acary, Cardona 2014, sec. 10.3): 300 N over 2/3 s, no penetration. The other
// figures are in its README and checked there.

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
    CHECK_NEAR((double)contact.count * h, 2.0 / 3.0, 2.0 * h);
    CHECK_NEAR(run.records[contact.first].t, 0.5005, h);
    impact_force(&run, 0.55, 1.1, 300.0, &mean, &rms);
    CHECK_NEAR(mean, 300.0, 0.01);
    CHECK(rms < 1e-3 * 300.0);
    CHECK(case_smallest_gap(&run) >= -1e-12);
    case_close(&run);
}
