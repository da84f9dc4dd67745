// A study from its plan to its table.

#include "study/study.h"
#include "study/measure.h"
#include "study/table.h"

#include <math.h>
#include <stdio.h>

enum { PATH_ROOM = 4096 };

static bool study_is_done(const pcs_run *run)
{
    return run->end == PCS_RUN_DONE || run->end == PCS_RUN_KEPT;
}

static void study_count(const pcs_plan *plan, const pcs_run *runs, pcs_study_result *out)
{
    *out = (pcs_study_result){ .nrun = plan->npoint * plan->nlevel };
    for (int r = 0; r < out->nrun; r++) {
        out->ndone += study_is_done(&runs[r]);
        out->nkept += runs[r].end == PCS_RUN_KEPT;
        out->nrefused += runs[r].end == PCS_RUN_REFUSED;
        out->nfailed += runs[r].end == PCS_RUN_FAILED || runs[r].end == PCS_RUN_BROKE;
    }
}

// A summary lives in a context of its own, which ends when it is read.
static pcs_status study_read_run(const pcs_plan *plan, const char *folder, double *values)
{
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return pcs_fail(plan->ctx, PCS_NO_MEMORY, "out of memory: a summary");
    pcs_status status = pcs_measure_read(ctx, folder, plan->nmeasure, plan->measures, values);
    if (status != PCS_OK) pcs_fail(plan->ctx, status, "%s", pcs_message(ctx));
    pcs_context_destroy(&ctx);
    return status;
}

static pcs_status study_measure(pcs_plan *plan, const pcs_run *runs, const char *directory, double **out)
{
    char folder[PATH_ROOM];
    int nrun = plan->npoint * plan->nlevel, first = 0;
    while (first < nrun && !study_is_done(&runs[first])) first++;
    snprintf(folder, sizeof folder, "%s/runs/%s", directory, first < nrun ? runs[first].name : "");
    if (plan->nmeasure == 0 && first < nrun) PCS_TRY(pcs_measure_usual(plan, folder));
    PCS_TAKE(plan->ctx, *out, (size_t)nrun * (size_t)plan->nmeasure + 1, "a study");
    for (int r = 0; r < nrun; r++) {
        double *values = *out + (size_t)r * (size_t)plan->nmeasure;
        for (int m = 0; m < plan->nmeasure; m++) values[m] = NAN;
        snprintf(folder, sizeof folder, "%s/runs/%s", directory, runs[r].name);
        if (study_is_done(&runs[r])) PCS_TRY(study_read_run(plan, folder, values));
    }
    return PCS_OK;
}

static pcs_status study_converge(const pcs_plan *plan, const double *values, pcs_convergence **out)
{
    double level[16], factor = plan->mesh.levels > 0 ? plan->mesh.factor : plan->step.factor;
    *out = NULL;
    if (plan->nlevel == 1) return PCS_OK;
    PCS_TAKE(plan->ctx, *out, plan->npoint * plan->nmeasure + 1, "a study");
    for (int p = 0; p < plan->npoint; p++)
        for (int m = 0; m < plan->nmeasure; m++) {
            for (int k = 0; k < plan->nlevel; k++)
                level[k] = values[(size_t)(p * plan->nlevel + k) * (size_t)plan->nmeasure + (size_t)m];
            (*out)[p * plan->nmeasure + m] = pcs_converge(plan->nlevel, level, factor);
        }
    return PCS_OK;
}

pcs_status pcs_study_run(pcs_context *ctx, const pcs_study_options *options, pcs_study_result *out)
{
    pcs_plan *plan;
    pcs_run *runs = NULL;
    double *values;
    pcs_convergence *convergence;
    *out = (pcs_study_result){ 0 };
    PCS_TAKE(ctx, plan, 1, "a study");
    PCS_TRY(pcs_plan_make(ctx, options, plan));
    PCS_TRY(pcs_study_work(plan, options, &runs));
    study_count(plan, runs, out);
    PCS_TRY(study_measure(plan, runs, options->directory, &values));
    PCS_TRY(study_converge(plan, values, &convergence));
    pcs_table table = { plan, runs, values, convergence };
    PCS_TRY(pcs_table_write(&table, options->directory));
    pcs_table_show(&table, options);
    return PCS_OK;
}
