// Ten periods of cases/bar_bouncing for every scheme: (E - E_rest) / 500 J and gap / 5 m, both 1 in the exact motion,
// get nearer to 1 as mesh and step are refined, and nothing is gained.

#include "support/check.h"
#include "support/refine.h"

#include <float.h>
#include <math.h>

static const double PERIOD = 16.0 / 3.0;

typedef struct periods_ratio {
    double energy, gap;
} periods_ratio;

enum { NMARK = 4 };
static const int MARKS[NMARK] = { 1, 2, 5, 10 };

// After each of the marked periods.
static void periods_run(const refine_method *method, int n, periods_ratio out[NMARK])
{
    refine_sets sets;
    refine_assign(&refine_problems[0], method, n, MARKS[NMARK - 1] * PERIOD, &sets);
    case_run run = case_open(refine_problems[0].path, sets.set);
    double h = run.sim->step_size, highest = run.records[0].energy;
    for (int i = 0; i < NMARK; i++) {
        long target = lround(MARKS[i] * PERIOD / h);
        while (run.count <= target && run.count <= run.sim->nstep) {
            case_step(&run);
            highest = fmax(highest, case_last(&run)->energy);
        }
        out[i] = (periods_ratio){ (case_last(&run)->energy - 500.0) / 500.0, case_last(&run)->gap / 5.0 };
    }
    CHECK(highest <= 1000.0 * (1.0 + (double)run.count * DBL_EPSILON)); // nothing but a rounding in each step
    case_close(&run);
}

// A scheme of order p smears fronts over h^(p/(p + 1)), loses that much of the energy in ripples, and comes late to the
// next impact. So of what is missing, a fourth of mesh and step leave (1/4)^(1/2) or less, p >= 1, but for the next
// term, which is smaller by a factor of what is missing.
static void check_missing(const char *name, int periods, double coarse, double fine)
{
    double lost = 1.0 - coarse, left = 1.0 - fine;
    if (!(fabs(left) <= 0.5 * lost * (1.0 + lost)))
        fail_msg("%s, %d periods: %.4f is missing, then %.4f", name, periods, lost, left);
}

TEST(periods_tend_to_one)
{
    for (int m = 0; m < REFINE_METHODS; m++) {
        const char *name = refine_methods[m].name;
        periods_ratio coarse[NMARK], fine[NMARK];
        periods_run(&refine_methods[m], 100, coarse);
        periods_run(&refine_methods[m], 400, fine);
        for (int i = 0; i < NMARK; i++) check_missing(name, MARKS[i], coarse[i].energy, fine[i].energy);
        // Later the bar does not meet the floor twice per period on these meshes.
        for (int i = 0; i < 2; i++) check_missing(name, MARKS[i], coarse[i].gap, fine[i].gap);
    }
}
