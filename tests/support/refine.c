// Assignments that refine a bar case: elements, step, scheme and mass together.

#include "refine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Courant numbers: the trapezoidal rule with consistent mass and central differences with lumped mass have their
// smallest dispersion at 1/sqrt 2 and 1; central differences with consistent mass are stable below 1/sqrt 3.
const refine_method refine_methods[REFINE_METHODS] = {
    { "alpha_ggl rho_inf 0.8", "scheme={type: alpha_ggl, rho_inf: 0.8}", "consistent", 0.688, false },
    { "alpha_ggl rho_inf 1", "scheme={type: alpha_ggl, rho_inf: 1.0}", "consistent", 0.7071, false },
    { "moreau_jean rho_inf 0.8", "scheme={type: moreau_jean, rho_inf: 0.8}", "consistent", 0.7071, false },
    { "moreau_jean theta 1/2", "scheme={type: moreau_jean, theta: 0.5}", "consistent", 0.7071, false },
    { "half_explicit consistent", "scheme={type: half_explicit}", "consistent", 0.517, true },
    { "half_explicit lumped", "scheme={type: half_explicit}", "lumped", 0.947, true },
};

const refine_problem refine_problems[REFINE_PROBLEMS] = {
    { "cases/bar_bouncing", exact_bar_bouncing, { 1, 5.0 }, 16.0 / 3.0, { "bar", NULL } },
    { "cases/bar_clamped", exact_bar_clamped, { 0, 0.0 }, 3.0, { "bar", NULL } },
    { "cases/bars_two", exact_bars_two, { 0, 0.0 }, 30.0, { "left", "right" } },
    { "cases/bar_fast", exact_bar_fast, { 0, 2e-3 }, 1.5e-4, { "bar", NULL } },
};

void refine_assign(const refine_problem *problem, const refine_method *method, int n, double end, refine_sets *out)
{
    exact_bar bar = problem->exact();
    char step[24];
    int count = 0;
    snprintf(step, sizeof step, "%.6e", method->courant * bar.length / n / bar.speed);
    double h = strtod(step, NULL);
    for (int i = 0; i < 2 && problem->groups[i] != NULL; i++) {
        const char *group = problem->groups[i];
        snprintf(out->text[count++], REFINE_TEXT, "mesh.%s.elements=%d", group, n);
        snprintf(out->text[count++], REFINE_TEXT, "elements.%s.mass=%s", group, method->mass);
    }
    snprintf(out->text[count++], REFINE_TEXT, "%s", method->scheme);
    snprintf(out->text[count++], REFINE_TEXT, "time.step=%s", step);
    snprintf(out->text[count++], REFINE_TEXT, "time.end=%.17g", ceil(end / h - 1e-9) * h);
    for (int i = 0; i < count; i++) out->set[i] = out->text[i];
    out->set[count] = NULL;
}

case_errors refine_measure(const refine_problem *problem, const refine_method *method, int n, long samples)
{
    exact_bar bar = problem->exact();
    refine_sets sets;
    refine_assign(problem, method, n, problem->end, &sets);
    return case_measure(problem->path, sets.set, &bar, problem->place, samples);
}
