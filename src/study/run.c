// One run of a study: the case with the values of its point, refined to its level.

#define _DEFAULT_SOURCE // flock

#include "build/build.h"
#include "case/json.h"
#include "core/carry.h"
#include "core/pool.h"
#include "core/text.h"
#include "output/file.h"
#include "percuss.h"
#include "study/measure.h"
#include "study/work.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

// The first line of a text.
static void run_tell(const char *text, char reason[PCS_RUN_REASON])
{
    snprintf(reason, PCS_RUN_REASON, "%.*s", (int)strcspn(text, "\n"), text);
}

// Divides the number that a map has under a key; *is_refined: it has one.
static pcs_status run_divide(pcs_case *c, pcs_yaml *map, const char *key, double factor, bool *is_refined)
{
    char text[PCS_NUMBER_BYTES];
    const pcs_yaml *node = pcs_case_get(c, map, key);
    const char *end = "none";
    double value = NAN;
    if (node != NULL && pcs_yaml_get_kind(node) == PCS_YAML_SCALAR) value = pcs_text_number(pcs_yaml_text(node), &end);
    if (*end != '\0' || !(value > 0.0)) return PCS_OK;
    *is_refined = true;
    return pcs_case_resolve(c, map, key, pcs_case_number_text(value / factor, text));
}

// Multiplies the number of elements of a part, or divides the time that cells are cut by; *is_refined: it has one of
// them. Points and links have none.
static pcs_status run_refine_part(pcs_context *ctx, pcs_case *c, pcs_yaml *part, double factor, bool *is_refined)
{
    char text[PCS_NUMBER_BYTES];
    const char *end, *type = pcs_json_string(part, "type"), *elements = pcs_json_string(part, "elements");
    *is_refined = false;
    if (strcmp(type, "gmsh") == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "a mesh from a file cannot be refined: vary its path in place of that");
    pcs_yaml *cells = pcs_case_get(c, part, "cells");
    if (cells != NULL && pcs_yaml_get_kind(cells) == PCS_YAML_MAP)
        PCS_TRY(run_divide(c, cells, "travel_time", factor, is_refined));
    if (elements[0] == '\0' && strcmp(type, "lattice") == 0) elements = "1";
    double value = pcs_text_number(elements, &end);
    if (end == elements || *end != '\0' || !(value >= 1.0)) return PCS_OK; // none, or the reader will say so
    *is_refined = true;
    snprintf(text, sizeof text, "%.0f", value * factor);
    return pcs_case_resolve(c, part, "elements", text);
}

static pcs_status run_refine_mesh(pcs_context *ctx, pcs_case *c, double factor)
{
    pcs_yaml *mesh = pcs_case_get(c, pcs_case_root(c), "mesh");
    int count = mesh != NULL && pcs_yaml_get_kind(mesh) == PCS_YAML_MAP ? pcs_yaml_count(mesh) : 0, nfound = 0;
    for (int i = 0; i < count; i++) {
        pcs_yaml *part = pcs_yaml_item(mesh, i);
        bool is_refined = false;
        if (pcs_yaml_get_kind(part) == PCS_YAML_MAP) PCS_TRY(run_refine_part(ctx, c, part, factor, &is_refined));
        nfound += is_refined;
    }
    if (nfound > 0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "no part of the mesh has a number of elements, or a travel time of cells, that could be refined");
}

static pcs_status run_refine_step(pcs_context *ctx, pcs_case *c, double factor)
{
    pcs_yaml *time = pcs_case_get_map(c, pcs_case_root(c), "time");
    bool is_refined = false;
    if (time != NULL) PCS_TRY(run_divide(c, time, "step", factor, &is_refined));
    return is_refined ? PCS_OK : pcs_fail(ctx, PCS_BAD_INPUT, "time.step must be a number to be refined");
}

// Does the case switch an observer off?
static bool run_is_off(pcs_case *c, const char *path)
{
    const pcs_yaml *node = pcs_case_find(c, path);
    bool is_scalar = node != NULL && pcs_yaml_get_kind(node) == PCS_YAML_SCALAR;
    bool has_every = node != NULL && pcs_yaml_get_kind(node) == PCS_YAML_MAP && node != pcs_case_root(c);
    return is_scalar || (has_every && strcmp(pcs_json_string(node, "every"), "0") == 0);
}

// Only what is measured, unless all of the output is wanted.
static pcs_status run_set_output(pcs_case *c, const pcs_plan *plan)
{
    static const char *const off[] = { "output.frames=false", "output.contact_frames=false", "output.view=false",
                                       "output.summary.text=false", "output.history=false" };
    if (run_is_off(c, "output.summary")) PCS_TRY(pcs_case_set(c, "output.summary={}"));
    if (plan->needs_history && run_is_off(c, "output.history")) PCS_TRY(pcs_case_set(c, "output.history={every: 1}"));
    int noff = plan->needs_history ? 4 : 5;
    for (int i = 0; i < (plan->keeps_output ? 0 : noff); i++) PCS_TRY(pcs_case_set(c, off[i]));
    return PCS_OK;
}

static pcs_status run_load(pcs_context *ctx, const pcs_plan *plan, int index, pcs_case **out)
{
    int point = index / plan->nlevel, level = index % plan->nlevel;
    if (plan->loaded == NULL) PCS_TRY(pcs_case_load(ctx, plan->case_path, out));
    else PCS_TRY(pcs_case_copy(ctx, plan->loaded, out));
    for (int i = 0; i < plan->nset; i++) PCS_TRY(pcs_case_set(*out, plan->set[i]));
    for (int k = 0; k < plan->nkey; k++) {
        const char *value = pcs_plan_value(plan, point, k);
        if (value == NULL) continue;
        const char *text = pcs_plan_assignment(ctx, plan->keys[k], value);
        if (text == NULL) return PCS_NO_MEMORY;
        PCS_TRY(pcs_case_set(*out, text));
    }
    PCS_TRY(run_set_output(*out, plan));
    double finer_mesh = pow(plan->mesh.factor, pcs_plan_power(plan, true, level));
    double finer_step = pow(plan->step.factor, pcs_plan_power(plan, false, level));
    if (plan->nlevel > 1) PCS_TRY(pcs_case_expand(*out)); // formulas are numbers from here on
    if (plan->mesh.levels > 0) PCS_TRY(run_refine_mesh(ctx, *out, finer_mesh));
    if (plan->step.levels > 0) PCS_TRY(run_refine_step(ctx, *out, finer_step));
    return PCS_OK;
}

// Has the case cells that could be smaller, or a step that does not follow their size?
static bool run_could_refine(pcs_case *c, bool mesh)
{
    const pcs_yaml *parts = pcs_case_get(c, pcs_case_root(c), "mesh"), *step = pcs_case_find(c, "time.step");
    if (!mesh)
        return step == NULL || pcs_yaml_get_kind(step) != PCS_YAML_SCALAR || strcmp(pcs_yaml_text(step), "auto") != 0;
    bool has_cells = false;
    int count = parts != NULL && pcs_yaml_get_kind(parts) == PCS_YAML_MAP ? pcs_yaml_count(parts) : 0;
    for (int i = 0; i < count; i++) {
        const char *type = pcs_json_string(pcs_yaml_item(parts, i), "type");
        has_cells = has_cells || (strcmp(type, "point") != 0 && strcmp(type, "link") != 0);
    }
    return has_cells;
}

const char *pcs_run_not_refined(const pcs_plan *plan)
{
    const char *answer = NULL;
    pcs_context *ctx;
    pcs_case *c;
    bool has_mesh = plan->mesh.levels > 0, has_step = plan->step.levels > 0;
    if (has_mesh == has_step || pcs_context_create(&ctx) != PCS_OK) return NULL;
    if (run_load(ctx, plan, 0, &c) == PCS_OK && run_could_refine(c, has_step)) answer = has_step ? "mesh" : "step";
    pcs_context_destroy(&ctx);
    return answer;
}

// The hash of the version, of the resolved case and of the files it names.
static pcs_status run_name(pcs_case *c, char name[PCS_RUN_NAME])
{
    unsigned long long hash = pcs_hash(PCS_HASH_START, percuss_version(), strlen(percuss_version()));
    char *text;
    size_t size;
    PCS_TRY(pcs_case_dump(c, false, &text, &size));
    hash = pcs_hash(hash, text, size);
    PCS_TRY(pcs_case_hash_files(c, &hash));
    snprintf(name, PCS_RUN_NAME, "%016llx", hash);
    return PCS_OK;
}

// The text that was hashed, as the case of the run.
static pcs_status run_write_case(pcs_sim *sim, const char *folder)
{
    static const char name[] = "case.resolved.yaml";
    pcs_file *f;
    char *text;
    size_t size;
    PCS_TRY(pcs_case_dump(sim->input, false, &text, &size));
    PCS_TRY(pcs_file_create(sim->ctx, folder, sizeof name, size + 128, &f));
    PCS_TRY(pcs_file_open(f, name));
    pcs_file_text(f, PCS_CASE_HEAD);
    pcs_file_text(f, text);
    sim->has_case_file = true;
    return pcs_file_commit(f);
}

// Points may resolve to the same case: the folder is locked, and who comes second finds the run there. A lock ends with
// its process.
static pcs_status run_alone(pcs_sim *sim, const char *directory, pcs_run *run, bool *is_there)
{
    char folder[PATH_ROOM];
    PCS_TRY(run_name(sim->input, run->name));
    snprintf(folder, sizeof folder, "%s/runs/%s", directory, run->name);
    bool is_new = mkdir(folder, 0777) == 0;
    if (!is_new) PCS_TRY(pcs_file_make_folder(sim->ctx, folder));
    sim->resumes = !is_new; // what a study that was cut has left of it
    int lock = open(folder, O_RDONLY | O_CLOEXEC);
    if (lock >= 0) (void)flock(lock, LOCK_EX); // where there are no locks the folder is as good as before
    *is_there = pcs_summary_is_finished(sim->ctx, folder);
    pcs_status status = *is_there ? PCS_OK : run_write_case(sim, folder);
    if (status == PCS_OK && !*is_there) status = pcs_sim_run(sim, folder, false);
    if (lock >= 0) close(lock);
    return status;
}

void pcs_run_make(const pcs_plan *plan, int beside, const char *directory, int index, pcs_run *run,
                  char reason[PCS_RUN_REASON])
{
    pcs_context *ctx = NULL;
    pcs_case *c = NULL;
    pcs_sim *sim = NULL;
    bool is_there = false;
    pcs_status status = pcs_context_create(&ctx);
    if (status != PCS_OK) {
        run->end = PCS_RUN_FAILED;
        run_tell("out of memory", reason);
        return;
    }
    pcs_context_set_beside(ctx, beside);
    status = run_load(ctx, plan, index, &c);
    if (status == PCS_OK) status = pcs_build_sim(ctx, c, &sim);
    bool is_built = status == PCS_OK;
    if (is_built) sim->stop_request = plan->stop_request;
    if (is_built) sim->ends_for_good = !plan->keeps_output;
    if (is_built) status = run_alone(sim, directory, run, &is_there);
    bool is_stopped = plan->stop_request != NULL && *plan->stop_request != 0;
    if (status == PCS_OK) run->end = is_there ? PCS_RUN_KEPT : PCS_RUN_DONE;
    else if (is_stopped) run->end = PCS_RUN_WAITS;
    else run->end = is_built ? PCS_RUN_FAILED : PCS_RUN_REFUSED;
    if (status == PCS_OK) run_tell(pcs_case_notes(c), reason);
    else run_tell(is_stopped ? "stopped on request" : pcs_message(ctx), reason);
    pcs_context_destroy(&ctx);
}
