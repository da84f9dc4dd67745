// The plan of a study from the command line, and from a study file where that names one.

#include "study/plan.h"

#include <stdio.h>
#include <string.h>

// "mesh=2,3 step=2,3", with " separately" for one by one.
static pcs_status options_refine(pcs_plan *plan, const char *text)
{
    static const char word[] = "separately";
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        bool is_word = length == strlen(word) && strncmp(text, word, length) == 0;
        if (is_word) {
            plan->is_separate = true;
            text += length + strspn(text + length, " ");
            continue;
        }
        char what[16];
        int factor, levels, used = 0;
        if (sscanf(text, " %15[a-z]=%d,%d%n", what, &factor, &levels, &used) != 3 || (text[used] != ' ' && text[used]))
            return pcs_fail(plan->ctx, PCS_BAD_INPUT, "--refine %s: wanted is mesh=FACTOR,LEVELS or step=... or both",
                            text);
        PCS_TRY(pcs_plan_refine(plan, what, factor, levels));
        text += used;
        text += strspn(text, " ");
    }
    return PCS_OK;
}

static const char *options_name(pcs_plan *plan, const char *text, size_t length)
{
    char *copy = pcs_take_text(plan->ctx, text);
    if (copy != NULL) copy[length] = '\0';
    return copy;
}

static pcs_status options_measure(pcs_plan *plan, const char *text)
{
    const char *sign = strchr(text, '=');
    const char *name = sign == NULL ? text : options_name(plan, text, (size_t)(sign - text));
    if (name == NULL) return PCS_NO_MEMORY;
    return pcs_plan_measure(plan, name, sign == NULL ? text : sign + 1, NULL);
}

pcs_status pcs_plan_make(pcs_context *ctx, const pcs_study_options *options, pcs_plan *out)
{
    bool is_study = false;
    *out = (pcs_plan){ .ctx = ctx, .case_path = options->path, .npoint = 1, .nlevel = 1 };
    out->keeps_output = options->keeps_output;
    out->stop_request = options->stop_request;
    pcs_status status = pcs_study_read(out, options->path, &is_study);
    if (status == PCS_IO_ERROR) return pcs_wrap(ctx, PCS_BAD_INPUT, "%s", options->path);
    PCS_TRY(status);
    const char **set;
    PCS_TAKE(ctx, set, out->nset + options->nset, "a study");
    for (int i = 0; i < out->nset; i++) set[i] = out->set[i];
    for (int i = 0; i < options->nset; i++) set[out->nset++] = options->set[i];
    out->set = set;
    if (options->jobs >= 0) out->jobs = options->jobs;
    for (int i = 0; i < options->nvary; i++) PCS_TRY(pcs_plan_vary(out, options->vary[i]));
    for (int i = 0; i < options->nmeasure; i++) PCS_TRY(options_measure(out, options->measure[i]));
    if (options->refine != NULL) PCS_TRY(options_refine(out, options->refine));
    PCS_TRY(pcs_plan_settle(out));
    if (out->naxis == 0 && out->nlevel == 1)
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s: nothing is varied or refined: give --vary or --refine", options->path);
    // One that cannot be read is the refusal of every run.
    pcs_case *loaded = NULL;
    if (pcs_case_load(ctx, out->case_path, &loaded) == PCS_OK) out->loaded = loaded;
    return PCS_OK;
}
