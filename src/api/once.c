// Runs that share a folder: each is named by the hash of its case, so that one which is there is not made again.

#define _DEFAULT_SOURCE // flock

#include "api/handle.h"
#include "core/carry.h"
#include "core/pool.h"
#include "core/text.h"
#include "output/file.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

// Divides the number under a key of a map; sets *is_refined if there is one.
static pcs_status once_refine_divide(pcs_case *c, pcs_yaml *map, const char *key, double factor, bool *is_refined)
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

// Multiplies the number of elements of a part, or divides the travel time that sizes its cells; sets *is_refined if it
// has either. Points and links have neither.
static pcs_status once_refine_part(pcs_context *ctx, pcs_case *c, pcs_yaml *part, double factor, bool *is_refined)
{
    char text[PCS_NUMBER_BYTES];
    const char *end, *type = pcs_yaml_string(part, "type"), *elements = pcs_yaml_string(part, "elements");
    *is_refined = false;
    if (strcmp(type, "gmsh") == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "a mesh from a file cannot be refined: vary its path instead");
    pcs_yaml *cells = pcs_case_get(c, part, "cells");
    if (cells != NULL && pcs_yaml_get_kind(cells) == PCS_YAML_MAP)
        PCS_TRY(once_refine_divide(c, cells, "travel_time", factor, is_refined));
    if (elements[0] == '\0' && strcmp(type, "lattice") == 0) elements = "1";
    double value = pcs_text_number(elements, &end);
    if (end == elements || *end != '\0' || !(value >= 1.0)) return PCS_OK; // none, or the reader will say so
    *is_refined = true;
    snprintf(text, sizeof text, "%.0f", value * factor);
    return pcs_case_resolve(c, part, "elements", text);
}

static pcs_status once_refine_mesh(pcs_context *ctx, pcs_case *c, double factor)
{
    pcs_yaml *mesh = pcs_case_get(c, pcs_case_root(c), "mesh");
    int count = mesh != NULL && pcs_yaml_get_kind(mesh) == PCS_YAML_MAP ? pcs_yaml_count(mesh) : 0, nfound = 0;
    for (int i = 0; i < count; i++) {
        pcs_yaml *part = pcs_yaml_item(mesh, i);
        bool is_refined = false;
        if (pcs_yaml_get_kind(part) == PCS_YAML_MAP) PCS_TRY(once_refine_part(ctx, c, part, factor, &is_refined));
        nfound += is_refined;
    }
    if (nfound > 0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "no part of the mesh has a number of elements, or a travel time of cells, that could be refined");
}

static pcs_status once_refine_step(pcs_context *ctx, pcs_case *c, double factor)
{
    pcs_yaml *time = pcs_case_get_map(c, pcs_case_root(c), "time");
    bool is_refined = false;
    if (time != NULL) PCS_TRY(once_refine_divide(c, time, "step", factor, &is_refined));
    return is_refined ? PCS_OK : pcs_fail(ctx, PCS_BAD_INPUT, "time.step must be a number to be refined");
}

// Returns true if the case has cells that could be smaller, or a step that does not follow their size.
static bool once_could_refine(pcs_case *c, bool mesh)
{
    const pcs_yaml *parts = pcs_case_get(c, pcs_case_root(c), "mesh"), *step = pcs_case_find(c, "time.step");
    if (!mesh)
        return step == NULL || pcs_yaml_get_kind(step) != PCS_YAML_SCALAR || strcmp(pcs_yaml_text(step), "auto") != 0;
    bool has_cells = false;
    int count = parts != NULL && pcs_yaml_get_kind(parts) == PCS_YAML_MAP ? pcs_yaml_count(parts) : 0;
    for (int i = 0; i < count; i++) {
        const char *type = pcs_yaml_string(pcs_yaml_item(parts, i), "type");
        has_cells = has_cells || (strcmp(type, "point") != 0 && strcmp(type, "link") != 0);
    }
    return has_cells;
}

// Returns true if the case gives a scalar, such as false, or `every: 0` for the observer at `path`.
static bool once_is_off(pcs_case *c, const char *path)
{
    const pcs_yaml *node = pcs_case_find(c, path);
    bool is_scalar = node != NULL && pcs_yaml_get_kind(node) == PCS_YAML_SCALAR;
    bool has_every = node != NULL && pcs_yaml_get_kind(node) == PCS_YAML_MAP && node != pcs_case_root(c);
    return is_scalar || (has_every && strcmp(pcs_yaml_string(node, "every"), "0") == 0);
}

// Switches off all output that is not measured, unless it is to be kept.
static pcs_status once_set_output(pcs_case *c, const percuss_once *once)
{
    static const char *const off[] = { "output.frames=false", "output.contact_frames=false", "output.view=false",
                                       "output.summary.text=false", "output.history=false" };
    if (once_is_off(c, "output.summary")) PCS_TRY(pcs_case_set(c, "output.summary={}"));
    if (once->needs_history && once_is_off(c, "output.history")) PCS_TRY(pcs_case_set(c, "output.history={every: 1}"));
    int noff = once->needs_history ? 4 : 5;
    for (int i = 0; i < (once->keeps_output ? 0 : noff); i++) PCS_TRY(pcs_case_set(c, off[i]));
    return PCS_OK;
}

int percuss_read(const percuss_source *source, percuss **out)
{
    percuss *p = *out = pcs_api_create();
    if (p == NULL) return 1;
    pcs_source from = pcs_api_source(source);
    pcs_case *c = NULL;
    pcs_status status = pcs_build_load_case(p->ctx, &from, &c);
    if (status == PCS_OK) p->read = c;
    return pcs_api_answer(status);
}

static pcs_status once_load(percuss *p, const percuss_source *source, percuss_once *once)
{
    pcs_source from = pcs_api_source(source);
    pcs_case *c = NULL;
    if (once->like == NULL || once->like->read == NULL) PCS_TRY(pcs_build_load_case(p->ctx, &from, &c));
    else PCS_TRY(pcs_build_copy_case(p->ctx, &from, once->like->read, &c));
    PCS_TRY(once_set_output(c, once));
    if (once->mesh_factor > 0.0 || once->step_factor > 0.0) {
        PCS_TRY(pcs_case_expand(c)); // formulas are numbers from here on
        once->has_cells = once_could_refine(c, true);
        once->has_steps = once_could_refine(c, false);
    }
    if (once->mesh_factor > 0.0) PCS_TRY(once_refine_mesh(p->ctx, c, once->mesh_factor));
    if (once->step_factor > 0.0) PCS_TRY(once_refine_step(p->ctx, c, once->step_factor));
    PCS_TRY(pcs_build_sim(p->ctx, c, &p->sim));
    return pcs_api_take_sim(p);
}

// Fills `name` with the hash of the version, of the text of the resolved case and of the files it names.
static pcs_status once_name(pcs_case *c, const char *text, size_t room, char *name)
{
    unsigned long long hash = pcs_hash(PCS_HASH_START, percuss_version(), strlen(percuss_version()));
    hash = pcs_hash(hash, text, strlen(text));
    PCS_TRY(pcs_case_hash_files(c, &hash));
    snprintf(name, room, "%016llx", hash);
    return PCS_OK;
}

// Writes the text that was hashed, as the case of the run.
static pcs_status once_write_case(pcs_sim *sim, const char *folder, const char *text)
{
    static const char name[] = "case.resolved.yaml";
    pcs_file *f;
    PCS_TRY(pcs_file_create(sim->ctx, folder, sizeof name, strlen(text) + 128, &f));
    PCS_TRY(pcs_file_open(f, name));
    pcs_file_text(f, PCS_CASE_HEAD);
    pcs_file_text(f, text);
    sim->has_case_file = true;
    return pcs_file_commit(f);
}

// Returns true if the folder has the complete summary of a finished run. Quotes within its texts are escaped, so that
// the line cannot be part of one.
static bool once_is_finished(pcs_context *ctx, const char *folder)
{
    char path[PATH_ROOM + 16], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/summary.json", folder);
    if (access(path, R_OK) != 0 || pcs_text_file(ctx, path, "the summary", PCS_TEXT_MOST, &text, &size) != PCS_OK)
        return false;
    bool is_whole = size > 3 && memcmp(text, "{\n", 2) == 0 && memcmp(text + size - 3, "\n}\n", 3) == 0;
    bool is_finished = is_whole && strstr(text, "\n  \"ending\": \"finished\"") != NULL;
    pcs_scratch_free(text);
    return is_finished;
}

// Finds the folder of the resolved case and locks it before it is read: another process with the same case then finds
// the finished run. The lock ends with its process.
static pcs_status once_find(pcs_sim *sim, percuss_once *once, char folder[PATH_ROOM], int *lock)
{
    char *text;
    size_t size;
    PCS_TRY(pcs_case_dump(sim->input, false, &text, &size));
    PCS_TRY(once_name(sim->input, text, sizeof once->name, once->name));
    snprintf(folder, PATH_ROOM, "%s/%s", once->directory, once->name);
    PCS_TRY(pcs_file_make_folder(sim->ctx, folder));
    *lock = open(folder, O_RDONLY | O_CLOEXEC);
    if (*lock >= 0) (void)flock(*lock, LOCK_EX); // where there are no locks the folder is as good as before
    once->was_there = once_is_finished(sim->ctx, folder);
    sim->resumes = true; // what was cut has left some of it
    sim->ends_for_good = !once->keeps_output;
    return once->was_there ? PCS_OK : once_write_case(sim, folder, text);
}

int percuss_run_once(const percuss_source *source, percuss_once *once, percuss **out)
{
    percuss *p = *out = pcs_api_create();
    once->name[0] = '\0';
    once->was_there = 0;
    if (p == NULL) return 1;
    if (source == NULL || (source->path == NULL && source->text == NULL) || once->directory == NULL)
        return pcs_api_refuse(p, "a case and a folder must be given");
    pcs_context_set_beside(p->ctx, once->beside);
    pcs_status status = once_load(p, source, once);
    if (status != PCS_OK) return pcs_api_answer(status);
    char folder[PATH_ROOM];
    int lock = -1;
    status = once_find(p->sim, once, folder, &lock);
    int answer = status == PCS_OK ? 0 : pcs_api_run_answer(p, status);
    if (status == PCS_OK && !once->was_there)
        answer = percuss_run_with(
            p, &(percuss_run_options){
                   .directory = folder, .watch = once->watch, .user = once->user, .interval = once->interval });
    if (lock >= 0) close(lock);
    return answer;
}
