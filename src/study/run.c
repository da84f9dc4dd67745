// One run of a study: the case with the values of its point, refined to its level.

#define _POSIX_C_SOURCE 200809L // getpid

#include "build/build.h"
#include "core/text.h"
#include "percuss.h"
#include "study/measure.h"
#include "study/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, ASSIGNMENT_ROOM = 2048, CASE_BYTES = 1 << 26 };

static void run_end(pcs_run *run, pcs_run_end end, const char *reason)
{
    snprintf(run->reason, sizeof run->reason, "%.*s", (int)strcspn(reason, "\n"), reason);
    run->end = end;
}

// Multiplies the numbers of elements of all mesh parts.
static pcs_status run_refine_mesh(pcs_context *ctx, pcs_case *c, double factor)
{
    pcs_yaml *mesh = pcs_case_get(c, pcs_case_root(c), "mesh");
    int count = mesh != NULL && pcs_yaml_get_kind(mesh) == PCS_YAML_MAP ? pcs_yaml_count(mesh) : 0, nfound = 0;
    for (int i = 0; i < count; i++) {
        pcs_yaml *part = pcs_yaml_item(mesh, i);
        char text[PCS_NUMBER_BYTES];
        const char *end;
        if (pcs_yaml_get_kind(part) != PCS_YAML_MAP) continue;
        pcs_yaml *elements = pcs_case_get(c, part, "elements");
        if (elements == NULL || pcs_yaml_get_kind(elements) != PCS_YAML_SCALAR) continue;
        double value = pcs_text_number(pcs_yaml_text(elements), &end);
        if (*end != '\0' || !(value >= 1.0)) continue; // the reader will say so
        snprintf(text, sizeof text, "%.0f", value * factor);
        PCS_TRY(pcs_case_resolve(c, part, "elements", text));
        nfound++;
    }
    if (nfound > 0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "no part of the mesh has a number of elements that could be refined");
}

static pcs_status run_refine_step(pcs_context *ctx, pcs_case *c, double factor)
{
    pcs_yaml *time = pcs_case_get_map(c, pcs_case_root(c), "time");
    pcs_yaml *step = time == NULL ? NULL : pcs_case_get(c, time, "step");
    char text[PCS_NUMBER_BYTES];
    const char *end = "auto";
    double value = NAN;
    if (step != NULL && pcs_yaml_get_kind(step) == PCS_YAML_SCALAR) value = pcs_text_number(pcs_yaml_text(step), &end);
    if (*end != '\0' || !(value > 0.0)) return pcs_fail(ctx, PCS_BAD_INPUT, "time.step must be a number to be refined");
    return pcs_case_resolve(c, time, "step", pcs_case_number_text(value / factor, text));
}

static pcs_status run_load(pcs_context *ctx, const pcs_plan *plan, int index, pcs_case **out)
{
    int point = index / plan->nlevel, level = index % plan->nlevel;
    PCS_TRY(pcs_case_load(ctx, plan->case_path, out));
    for (int i = 0; i < plan->nset; i++) PCS_TRY(pcs_case_set(*out, plan->set[i]));
    for (int k = 0; k < plan->nkey; k++) {
        char text[ASSIGNMENT_ROOM];
        const char *value = pcs_plan_value(plan, point, k);
        if (value == NULL) continue;
        snprintf(text, sizeof text, "%s=%s", plan->keys[k], value);
        PCS_TRY(pcs_case_set(*out, text));
    }
    if (!plan->keeps_output) {
        PCS_TRY(pcs_case_set(*out, "output.frames=false"));
        PCS_TRY(pcs_case_set(*out, "output.contact_frames=false"));
        PCS_TRY(pcs_case_set(*out, "output.history=false"));
        PCS_TRY(pcs_case_set(*out, "output.script=false"));
    }
    if (plan->mesh.levels > 0) PCS_TRY(run_refine_mesh(ctx, *out, pow(plan->mesh.factor, level)));
    if (plan->step.levels > 0) PCS_TRY(run_refine_step(ctx, *out, pow(plan->step.factor, level)));
    return PCS_OK;
}

// The hash of the resolved case and of the version (FNV-1a), by way of a file of this process.
static pcs_status run_name(pcs_context *ctx, pcs_case *c, const char *directory, char name[PCS_RUN_NAME])
{
    char path[PATH_ROOM], *text = NULL;
    size_t size = 0;
    uint64_t hash = 14695981039346656037ULL;
    snprintf(path, sizeof path, "%s/runs/%ld.yaml", directory, (long)getpid());
    PCS_TRY(pcs_case_write(c, path));
    PCS_TRY(pcs_text_file(ctx, path, "the resolved case", CASE_BYTES, &text, &size));
    remove(path);
    for (const char *p = percuss_version(); *p != '\0'; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211ULL;
    pcs_scratch_free(text);
    snprintf(name, PCS_RUN_NAME, "%016" PRIx64, hash);
    return PCS_OK;
}

void pcs_run_make(const pcs_plan *plan, const char *directory, int index, pcs_run *run)
{
    pcs_context *ctx = NULL;
    pcs_case *c = NULL;
    pcs_sim *sim = NULL;
    char folder[PATH_ROOM];
    if (pcs_context_create(&ctx) != PCS_OK) {
        run_end(run, PCS_RUN_FAILED, "out of memory");
        return;
    }
    pcs_status status = run_load(ctx, plan, index, &c);
    if (status == PCS_OK) status = pcs_build_sim(ctx, c, &sim);
    bool is_built = status == PCS_OK;
    if (is_built) status = run_name(ctx, c, directory, run->name);
    snprintf(folder, sizeof folder, "%s/runs/%s", directory, run->name);
    bool is_there = is_built && status == PCS_OK && pcs_summary_is_finished(ctx, folder);
    if (is_built) sim->stop_request = plan->stop_request;
    if (is_built) sim->resumes = true; // what a study that was cut has left of it
    if (is_built && status == PCS_OK && !is_there) status = pcs_sim_run(sim, folder, false);
    bool is_stopped = plan->stop_request != NULL && *plan->stop_request != 0;
    if (status == PCS_OK) run_end(run, is_there ? PCS_RUN_KEPT : PCS_RUN_DONE, pcs_case_notes(c));
    else if (is_stopped) run_end(run, PCS_RUN_WAITS, "stopped on request");
    else run_end(run, is_built ? PCS_RUN_FAILED : PCS_RUN_REFUSED, pcs_message(ctx));
    pcs_context_destroy(&ctx);
}
