// Errors and observed orders of the bar cases under joint refinement of mesh and step, as tables.
//
//   study_orders [levels]        (default 4: N = 50, 100, 200, 400; run from the project's folder)
//
// Order = log2 of the ratio of two neighbouring errors. Steps keep c h / l fixed at values that do not divide the times
// of impact and release.

#include "support/refine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void study_row(int n, const case_errors *now, const case_errors *before)
{
    const double *e = (const double *)now, *old = (const double *)before;
    printf("%6d", n);
    for (int i = 0; i < 6; i++) {
        printf("   %9.3e", e[i]);
        if (old != NULL) printf(" %5.2f", log2(old[i] / e[i]));
        else printf("      ");
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    int levels = argc > 1 ? atoi(argv[1]) : 4;
    for (int problem = 0; problem < REFINE_PROBLEMS; problem++)
        for (int method = 0; method < REFINE_METHODS; method++) {
            case_errors before = { 0 };
            printf("\n%s, %s\n     N   u max L2  order  u L1     order  v L2     order  v L1     order  F L2     order"
                   "  F L1     order\n",
                   refine_problems[problem].path, refine_methods[method].name);
            for (int level = 0; level < levels; level++) {
                int n = 50 << level;
                case_errors now = refine_measure(&refine_problems[problem], &refine_methods[method], n, 200);
                study_row(n, &now, level > 0 ? &before : NULL);
                before = now;
            }
        }
    return 0;
}
