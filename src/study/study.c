// A study from its plan to its table.

#include "study/study.h"
#include "study/measure.h"
#include "study/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

static bool study_is_done(const pcs_run *run)
{
    return run->end == PCS_RUN_DONE || run->end == PCS_RUN_KEPT;
}

static int study_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Of the runs that were found in their folder, those that another one of this study has put there.
static pcs_status study_count_same(const pcs_plan *plan, const pcs_run *runs, pcs_study_result *out)
{
    const char **made;
    size_t nmade = 0;
    if (out->nkept == 0 || out->nkept == out->ndone) return PCS_OK;
    PCS_TAKE(plan->ctx, made, out->ndone, "a study");
    for (int r = 0; r < out->nrun; r++)
        if (runs[r].end == PCS_RUN_DONE) made[nmade++] = runs[r].name;
    qsort(made, nmade, sizeof *made, study_compare);
    for (int r = 0; r < out->nrun; r++) {
        const char *name = runs[r].name;
        bool is_kept = runs[r].end == PCS_RUN_KEPT;
        out->nsame += is_kept && bsearch(&name, made, nmade, sizeof *made, study_compare) != NULL;
    }
    out->nkept -= out->nsame;
    return PCS_OK;
}

static pcs_status study_count(const pcs_plan *plan, const pcs_run *runs, pcs_study_result *out)
{
    *out = (pcs_study_result){ .nrun = plan->npoint * plan->nlevel };
    for (int r = 0; r < out->nrun; r++) {
        out->ndone += study_is_done(&runs[r]);
        out->nkept += runs[r].end == PCS_RUN_KEPT;
        out->nrefused += runs[r].end == PCS_RUN_REFUSED;
        out->nfailed += runs[r].end == PCS_RUN_FAILED || runs[r].end == PCS_RUN_BROKE;
    }
    return study_count_same(plan, runs, out);
}

// Those that are asked for, or those of the first run that is done.
static pcs_status study_measure(pcs_plan *plan, const pcs_study_options *options, pcs_run *runs, pcs_measured **out)
{
    char folder[PATH_ROOM];
    int nrun = plan->npoint * plan->nlevel, first = 0;
    while (first < nrun && !study_is_done(&runs[first])) first++;
    snprintf(folder, sizeof folder, "%s/runs/%s", options->directory, first < nrun ? runs[first].name : "");
    if (plan->nmeasure == 0 && first < nrun) PCS_TRY(pcs_measure_usual(plan, folder));
    return pcs_study_measure(plan, options, runs, out);
}

static pcs_convergence study_sequence(const pcs_plan *plan, const pcs_measured *values, bool of_mesh)
{
    double level[PCS_STUDY_LEVELS];
    int levels[PCS_STUDY_LEVELS], count = pcs_plan_sequence(plan, of_mesh, levels);
    for (int k = 0; k < count; k++) level[k] = values[(size_t)levels[k] * (size_t)plan->nmeasure].value;
    double grain = values[(size_t)levels[count - 1] * (size_t)plan->nmeasure].grain;
    return pcs_converge(count, level, of_mesh ? plan->mesh.factor : plan->step.factor, grain);
}

static pcs_status study_converge(const pcs_plan *plan, const pcs_measured *values, pcs_convergence **out)
{
    size_t nmeasure = (size_t)plan->nmeasure, nrefined = (size_t)pcs_table_nrefined(plan);
    *out = NULL;
    if (plan->nlevel == 1) return PCS_OK;
    PCS_TAKE(plan->ctx, *out, (size_t)plan->npoint * nmeasure * nrefined + 1, "a study");
    for (size_t p = 0; p < (size_t)plan->npoint; p++)
        for (size_t m = 0; m < nmeasure; m++) {
            const pcs_measured *first = values + p * (size_t)plan->nlevel * nmeasure + m;
            pcs_convergence *c = *out + (p * nmeasure + m) * nrefined;
            if (plan->is_separate) {
                c[1] = study_sequence(plan, first, true);
                c[2] = study_sequence(plan, first, false);
                c[0] = pcs_converge_both(&c[1], &c[2]);
            } else {
                c[0] = study_sequence(plan, first, plan->mesh.levels > 0);
            }
        }
    return PCS_OK;
}

pcs_status pcs_study_run(pcs_context *ctx, const pcs_study_options *options, pcs_study_result *out)
{
    pcs_plan *plan;
    pcs_run *runs = NULL;
    pcs_measured *values;
    pcs_convergence *convergence;
    pcs_digits *digits;
    *out = (pcs_study_result){ 0 };
    PCS_TAKE(ctx, plan, 1, "a study");
    PCS_TRY(pcs_plan_make(ctx, options, plan));
    PCS_TRY(pcs_study_work(plan, options, &runs));
    PCS_TRY(study_count(plan, runs, out));
    PCS_TRY(study_measure(plan, options, runs, &values));
    PCS_TRY(study_converge(plan, values, &convergence));
    PCS_TRY(pcs_digits_create(ctx, &digits));
    pcs_table table = { plan, digits, runs, values, convergence, pcs_run_not_refined(plan) };
    PCS_TRY(pcs_table_write(&table, options));
    pcs_table_show(&table, options);
    return PCS_OK;
}
