// Ten periods of cases/bar_bouncing for every scheme, as a table under refinement of mesh and step:
// (E - E_rest) / 500 J with E_rest = 500 J, the energy of the unstrained bar standing on the floor, and gap / 5 m,
// after 1, 2, 5 and 10 periods. Both are 1 in the exact motion.
//
//   study_periods [first N] [levels] [method]    (default 800, 3 levels, all; run from the project's folder)

#include "support/refine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int MARKS[] = { 1, 2, 5, 10 };
enum { NMARK = sizeof MARKS / sizeof MARKS[0] };

static void study_periods(const refine_method *method, int n)
{
    const double period = 16.0 / 3.0;
    refine_sets sets;
    refine_assign(&refine_problems[0], method, n, 10.0 * period, &sets);
    case_run run = case_run_all(refine_problems[0].path, sets.set);
    printf("%-26s N %5d h %.3e ", method->name, n, run.sim->step_size);
    for (int i = 0; i < NMARK; i++) {
        long at = lround(MARKS[i] * period / run.sim->step_size);
        if (at >= run.count) at = run.count - 1;
        const case_record *r = &run.records[at];
        printf(" | %2dT %.4f %.4f", MARKS[i], (r->energy - 500.0) / 500.0, r->gap / 5.0);
    }
    printf(" | min gap %.1e impacts %ld\n", case_smallest_gap(&run), case_impacts(&run));
    fflush(stdout);
    case_close(&run);
}

int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 800, levels = argc > 2 ? atoi(argv[2]) : 3;
    int only = argc > 3 ? atoi(argv[3]) : -1;
    for (int method = 0; method < REFINE_METHODS; method++)
        for (int level = 0; level < levels && (only < 0 || only == method); level++)
            study_periods(&refine_methods[method], first << level);
    return 0;
}
