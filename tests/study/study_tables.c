// Tables 2 and 3 of Schindler, Rezaei, Kursawe, Acary (2015): explicit Moreau-Jean against the half-explicit scheme on
// velocity level, the published numbers beside ours.
//
// Error: largest singular value (the 2-norm of Matlab) of the differences of all angles at all steps up to 0.1 s.
// Table 3 (clearance 1 mm, friction 0.01): against the half-explicit scheme with a step of 1e-7 s.
// Table 2 ("bilateral"): the unilateral model with clearance and friction 0, against the motion of the joint. Which
// corners are active is decided by rounding, so that only ranges can be expected; the true joint is shown, too.

#include "support/rigid.h"

#include <stdio.h>

enum { STEPS = 3, SCHEMES = 2 };

static const char *const schemes[SCHEMES] = { "moreau_jean_explicit", "half_explicit" };
static const double steps[STEPS] = { 1e-3, 1e-4, 1e-5 };

typedef struct table {
    const char *name, *system, *options;
    double published[SCHEMES][STEPS];
} table;

static rigid_trace run(const char *system, const char *options, const char *scheme, double step, double grid)
{
    char text[512];
    snprintf(text, sizeof text, "scheme={type: %s};time={step: %.17g, end: 0.1}%s", scheme, step, options);
    return rigid_run_all(system, text, (long)(grid / step + 0.5));
}

static void row(const table *t, int scheme, const rigid_trace *reference)
{
    printf("  %-22s", schemes[scheme]);
    for (int k = 0; k < STEPS; k++) {
        rigid_trace trace = run(t->system, t->options, schemes[scheme], steps[k], steps[k]);
        printf("   %.1e / %.2e", t->published[scheme][k], rigid_spectral_distance(&trace, reference, 2));
        rigid_free(&trace);
    }
    printf("\n");
}

static void print(const table *t, const rigid_trace *reference)
{
    printf("%s\n  %-22s   %-18s  %-18s  %-18s\n", t->name, "published / ours", "h = 1e-3", "h = 1e-4", "h = 1e-5");
    for (int scheme = 0; scheme < SCHEMES; scheme++) row(t, scheme, reference);
    printf("\n");
}

int main(void)
{
    static const table three = { "Table 3: clearance 1 mm, friction 0.01, restitution 0.4",
                                 "slider_crank",
                                 "",
                                 { { 7.1e-1, 1.5e-1, 4.5e-2 }, { 4.7e-1, 1.8e-2, 3.3e-3 } } },
                       two = { "Table 2: clearance 0, friction 0, restitution 0.4, against the joint",
                               "slider_crank",
                               ";system.clearance=0.0;system.friction=0.0",
                               { { 6.9e-1, 2.1e-1, 6.6e-2 }, { 4.2e-1, 2.4e-2, 8.4e-4 } } },
                       joint = { "Table 2 with the joint itself",
                                 "slider_crank_bilateral",
                                 "",
                                 { { 6.9e-1, 2.1e-1, 6.6e-2 }, { 4.2e-1, 2.4e-2, 8.4e-4 } } };
    rigid_trace fine = run("slider_crank", "", "half_explicit", 1e-7, 1e-5);
    print(&three, &fine);
    rigid_free(&fine);
    rigid_trace exact = run("slider_crank_bilateral", "", "half_explicit_rk, method: hem4", 2e-6, 1e-5);
    print(&two, &exact);
    print(&joint, &exact);
    rigid_free(&exact);
    return 0;
}
