// Handles: a case becomes a simulation, an equilibrium or modes, with the status and the messages of a failure; the
// options of a case; and runs that share a folder.

#define _DEFAULT_SOURCE // flock

#include "api/handle.h"

#include "analysis/statics.h"
#include "build/catalogue.h"
#include "core/carry.h"
#include "core/option.h"
#include "core/pool.h"
#include "core/text.h"
#include "output/file.h"
#include "percuss.h"
#include "schemes/scheme.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Messages, one per line, with their positions: "file:line:column: text".

const char *percuss_message(const percuss *p)
{
    return p == NULL ? "out of memory" : pcs_message(p->ctx);
}

const char *percuss_notes(const percuss *p)
{
    return p == NULL || p->sim == NULL ? "" : pcs_case_notes(p->sim->input);
}

// Returns the positive number at `from` if ':' follows it; 0 otherwise.
static int messages_number(const char *from, const char **end)
{
    char *after;
    if (*from < '0' || *from > '9') return 0;
    long value = strtol(from, &after, 10);
    *end = after + 1;
    return *after == ':' && value > 0 && value < 1000000000 ? (int)value : 0;
}

// Splits one line into file, line, column and text; a file name may contain colons.
static void messages_split(const char *line, size_t length, percuss_place *out)
{
    *out = (percuss_place){ .text = line, .text_length = length };
    for (const char *c = memchr(line, ':', length); c != NULL;) {
        const char *rest = NULL, *end = NULL;
        size_t left = length - (size_t)(c + 1 - line), name = (size_t)(c - line);
        int row = messages_number(c + 1, &rest), column = row == 0 ? 0 : messages_number(rest, &end);
        if (column > 0 && end[0] == ' ' && name < sizeof out->file) {
            memcpy(out->file, line, name);
            *out = (percuss_place){ .line = row, .column = column, .text = end + 1 };
            memcpy(out->file, line, name);
            out->text_length = length - (size_t)(end + 1 - line);
            return;
        }
        c = memchr(c + 1, ':', left);
    }
}

int percuss_message_at(const percuss *p, int i, percuss_place *out)
{
    const char *line = percuss_message(p);
    *out = (percuss_place){ .text = "" };
    for (; i > 0 && *line != '\0'; i--) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (i != 0 || *line == '\0') return 0;
    messages_split(line, strcspn(line, "\n"), out);
    return 1;
}

// Everything that a case can be made of, for front ends: the option tables, part by part.

typedef struct options_visitor {
    void (*visit)(void *user, const percuss_option *option);
    void *user;
} options_visitor;

static const char *options_kind(pcs_option_kind kind)
{
    static const char *const kinds[] = {
        [PCS_OPTION_REAL] = "number",   [PCS_OPTION_COUNT] = "whole number", [PCS_OPTION_FLAG] = "flag",
        [PCS_OPTION_CHOICE] = "choice", [PCS_OPTION_VECTOR] = "vector",      [PCS_OPTION_TEXT] = "text",
        [PCS_OPTION_LIST] = "numbers",  [PCS_OPTION_FILE] = "path",          [PCS_OPTION_NAMES] = "names",
        [PCS_OPTION_POINTS] = "points", [PCS_OPTION_FORMULA] = "formula",    [PCS_OPTION_PROFILE] = "profile",
        [PCS_OPTION_NODE] = "other",    [PCS_OPTION_FORM] = "other",
    };
    return kinds[kind];
}

static void options_visit_table(const options_visitor *v, percuss_option *to, const pcs_option *o)
{
    for (; o != NULL && o->name != NULL; o++) {
        to->key = o->name;
        to->help = o->help;
        to->kind = options_kind(o->kind);
        to->preset = o->preset;
        to->is_required = o->is_required;
        to->low = o->range.low;
        to->high = o->range.high;
        to->low_is_open = o->range.low_is_open;
        to->high_is_open = o->range.high_is_open;
        to->choices = o->choices;
        v->visit(v->user, to);
    }
}

static void options_visit(void *user, const pcs_catalogue_entry *entry)
{
    const options_visitor *v = user;
    percuss_option option = { .section = entry->section, .part = entry->name, .summary = entry->summary };
    v->visit(v->user, &option);
    options_visit_table(v, &option, entry->options);
    options_visit_table(v, &option, entry->more);
}

int percuss_list_options(void (*visit)(void *user, const percuss_option *option), void *user)
{
    options_visitor visitor = { visit, user };
    return pcs_catalogue_walk(options_visit, &visitor) == PCS_OK ? 0 : 1;
}

int pcs_api_answer(pcs_status status)
{
    if (status == PCS_OK) return 0;
    return status == PCS_NO_MEMORY || status == PCS_FAILED ? 1 : 2;
}

int pcs_api_run_answer(percuss *p, pcs_status status)
{
    if (status == PCS_OK) return 0;
    p->is_stopped = true;
    return status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED ? 2 : 1;
}

int pcs_api_refuse(percuss *p, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pcs_api_answer(pcs_fail(p->ctx, PCS_BAD_INPUT, "%s", text));
}

const char *percuss_version(void)
{
    return PERCUSS_VERSION;
}

static percuss *open_handle(void)
{
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return NULL;
    percuss *p = pcs_take(ctx, 1, sizeof *p, "the simulation");
    if (p == NULL) pcs_context_destroy(&ctx);
    else p->ctx = ctx;
    return p;
}

static pcs_source open_source(const percuss_source *source)
{
    return (pcs_source){
        .path = source->path, .text = source->text, .nset = source->nset, .set = source->set, .own = source->system
    };
}

static void open_model(percuss *p, pcs_system *system, int nprobe, const pcs_probe *probes)
{
    p->system = system;
    p->map = pcs_system_is_mesh(system) ? pcs_fe_dofmap(system) : NULL;
    p->nprobe = nprobe;
    p->probes = probes;
}

static pcs_status open_sim(percuss *p)
{
    open_model(p, p->sim->system, p->sim->nprobe, p->sim->probes);
    p->rows = p->sim->report.rows;
    PCS_TAKE(p->ctx, p->mirror, 1, "the state");
    PCS_TAKE(p->ctx, p->mirror->q, p->system->nq, "the state");
    PCS_TAKE(p->ctx, p->mirror->v, p->system->nv, "the state");
    return PCS_OK;
}

// Creates the handle of a source that names a case. Returns the answer of the interface.
static int open_for(const percuss_source *source, percuss **out)
{
    percuss *p = *out = open_handle();
    if (p == NULL) return 1;
    if (source != NULL && (source->path != NULL || source->text != NULL)) return 0;
    return pcs_api_refuse(p, "neither a path nor a text of a case is given");
}

int percuss_open(const percuss_source *source, percuss **out)
{
    percuss *p;
    int answer = open_for(source, out);
    if (answer != 0) return answer;
    p = *out;
    pcs_source from = open_source(source);
    pcs_status status = pcs_build_sim_of(p->ctx, &from, &p->sim);
    if (status == PCS_OK) status = open_sim(p);
    if (status != PCS_OK) return pcs_api_answer(status);
    return pcs_api_run_answer(p, pcs_sim_start(p->sim));
}

int percuss_load_with(const char *path, int nset, const char *const *set, percuss **out)
{
    return percuss_open(&(percuss_source){ .path = path, .nset = nset, .set = set }, out);
}

int percuss_load(const char *path, percuss **out)
{
    return percuss_load_with(path, 0, NULL, out);
}

void percuss_destroy(percuss **p)
{
    if (p == NULL || *p == NULL || (*p)->is_running) return;
    pcs_context *ctx = (*p)->ctx;
    *p = NULL;
    pcs_context_destroy(&ctx);
}

// Equilibrium under loads, and modes of small vibrations, as handles that stand still.

// Sets the handle's state to the model at rest at q, and evaluates gaps and forces of its rows there.
static pcs_status analyses_stand(percuss *p, const pcs_analysis *on, const double *q, const pcs_statics *statics)
{
    pcs_system *system = on->system;
    double *zero, *gap;
    pcs_row_report *rows;
    PCS_TAKE(p->ctx, zero, system->nv, "a state at rest");
    PCS_TAKE(p->ctx, gap, system->nrow, "gaps");
    PCS_TAKE(p->ctx, rows, pcs_system_npoint(system), "gaps");
    p->still.q = q;
    p->still.v = zero;
    pcs_system_gaps(system, p->still, gap);
    for (int j = 0; j < system->nrow; j++) {
        rows[j].gap = gap[j];
        if (statics == NULL) continue;
        rows[j].force = rows[j].step_impulse = statics->force[j];
        rows[j].is_closed = statics->held[j] != 0;
        int ntangent = statics->tangent == NULL ? 0 : system->rows[j].ntangent;
        for (int t = 0; t < ntangent; t++) rows[j].tangent[t] = statics->tangent[system->rows[j].first_tangent + t];
    }
    pcs_system_press(system, p->still, rows);
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) rows[j].step_impulse = rows[j].force;
    p->rows = rows;
    open_model(p, system, on->nprobe, on->probes);
    return PCS_OK;
}

static pcs_status analyses_balance(percuss *p, const pcs_analysis *on, const percuss_still_options *options, double *q,
                                   pcs_statics *out)
{
    pcs_statics_options how = on->statics;
    if (options->steps > 0) how.steps = options->steps;
    if (options->time != 0.0) how.time = options->time;
    PCS_TRY(pcs_statics_solve(on, &how, q, NULL, NULL, out));
    p->still = pcs_at_rest(how.time, q, NULL, out->factor); // a path by arc length may end anywhere
    return PCS_OK;
}

static pcs_status analyses_start(percuss *p, const percuss_source *source, pcs_analysis *on, double **q)
{
    pcs_source from = open_source(source);
    PCS_TRY(pcs_build_analysis_of(p->ctx, &from, on));
    PCS_TAKE(p->ctx, *q, on->system->nq, "a state at rest");
    memcpy(*q, on->start, (size_t)on->system->nq * sizeof **q);
    return PCS_OK;
}

static pcs_status analyses_statics(percuss *p, const percuss_source *source, const percuss_still_options *options)
{
    pcs_analysis on;
    pcs_statics statics;
    double *q;
    PCS_TRY(analyses_start(p, source, &on, &q));
    PCS_TRY(analyses_balance(p, &on, options, q, &statics));
    return analyses_stand(p, &on, q, &statics);
}

static pcs_status analyses_modes(percuss *p, const percuss_source *source, const percuss_still_options *options)
{
    pcs_analysis on;
    pcs_statics statics;
    double *q;
    pcs_modes_options how = { .count = options->count > 0 ? options->count : 10,
                              .is_whirl = options->is_whirl != 0,
                              .time = options->time };
    bool is_balanced = options->is_about_statics != 0;
    PCS_TRY(analyses_start(p, source, &on, &q));
    p->still = pcs_at(0.0, q, NULL);
    if (is_balanced) {
        PCS_TRY(analyses_balance(p, &on, options, q, &statics));
        how.q = q;
        how.held = statics.held;
        how.force = statics.force;
        how.load_factor = statics.factor;
    }
    PCS_TRY(pcs_modes_find(&on, &how, &p->modes));
    return analyses_stand(p, &on, q, is_balanced ? &statics : NULL);
}

typedef pcs_status analyses_kind(percuss *p, const percuss_source *source, const percuss_still_options *options);

static int analyses_run(analyses_kind *kind, const percuss_source *source, const percuss_still_options *options,
                        percuss **out)
{
    static const percuss_still_options none = { 0 };
    int answer = open_for(source, out);
    if (answer != 0) return answer;
    return pcs_api_answer(kind(*out, source, options == NULL ? &none : options));
}

int percuss_statics(const percuss_source *source, const percuss_still_options *options, percuss **out)
{
    return analyses_run(analyses_statics, source, options, out);
}

int percuss_modes(const percuss_source *source, const percuss_still_options *options, percuss **out)
{
    return analyses_run(analyses_modes, source, options, out);
}

int percuss_mode_count(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : p->modes.count;
}

percuss_mode percuss_mode_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_mode_count(p)) return (percuss_mode){ 0 };
    const pcs_mode *m = &p->modes.modes[i];
    return (percuss_mode){ .frequency = m->w,
                           .damping = m->damping,
                           .residual = m->residual,
                           .kind = pcs_mode_kind_text(m->kind),
                           .name = m->name,
                           .re = m->re,
                           .im = m->im };
}

// Runs that share a folder. Each is named by the hash of its case, so that a run that is there already is not repeated.

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
    if (end == elements || *end != '\0' || !(value >= 1.0)) return PCS_OK; // the reader reports this error
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

// Returns true if the case has cells that could be smaller.
static bool once_has_cells(pcs_case *c)
{
    const pcs_yaml *parts = pcs_case_get(c, pcs_case_root(c), "mesh");
    bool has_cells = false;
    int count = parts != NULL && pcs_yaml_get_kind(parts) == PCS_YAML_MAP ? pcs_yaml_count(parts) : 0;
    for (int i = 0; i < count; i++) {
        const char *type = pcs_yaml_string(pcs_yaml_item(parts, i), "type");
        has_cells = has_cells || (strcmp(type, "point") != 0 && strcmp(type, "link") != 0);
    }
    return has_cells;
}

static bool once_is_auto(const pcs_yaml *map, const char *place)
{
    return strcmp(pcs_yaml_string(map, place), "auto") == 0;
}

// Replaces numbers of elements and, if it is to be refined, a step that are `auto` by those of the run without
// refinement: a refinement is a factor of them.
static pcs_status once_resolve(percuss *p, pcs_case *c, bool refines_step)
{
    pcs_yaml *root = pcs_case_root(c), *mesh = pcs_case_get(c, root, "mesh");
    bool step_is_auto = once_is_auto(root, "time.step"), is_auto = step_is_auto && refines_step;
    int count = mesh != NULL && pcs_yaml_get_kind(mesh) == PCS_YAML_MAP ? pcs_yaml_count(mesh) : 0;
    for (int i = 0; i < count; i++) is_auto = is_auto || once_is_auto(pcs_yaml_item(mesh, i), "elements");
    if (!is_auto) return PCS_OK;
    PCS_TRY(pcs_build_sim(p->ctx, c, &p->sim));
    if (!step_is_auto || refines_step) return PCS_OK;
    return pcs_case_resolve(c, pcs_case_get(c, root, "time"), "step", "auto");
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
    percuss *p = *out = open_handle();
    if (p == NULL) return 1;
    pcs_source from = open_source(source);
    pcs_case *c = NULL;
    pcs_status status = pcs_build_load_case(p->ctx, &from, &c);
    if (status == PCS_OK) p->read = c;
    return pcs_api_answer(status);
}

static pcs_status once_load(percuss *p, const percuss_source *source, percuss_once *once)
{
    pcs_source from = open_source(source);
    pcs_case *c = NULL;
    if (once->like == NULL || once->like->read == NULL) PCS_TRY(pcs_build_load_case(p->ctx, &from, &c));
    else PCS_TRY(pcs_build_copy_case(p->ctx, &from, once->like->read, &c));
    bool step_is_auto = false;
    PCS_TRY(once_set_output(c, once));
    if (once->mesh_factor > 0.0 || once->step_factor > 0.0) {
        PCS_TRY(pcs_case_expand(c)); // formulas have become numbers here
        once->has_cells = once_has_cells(c);
        step_is_auto = once_is_auto(pcs_case_root(c), "time.step");
        PCS_TRY(once_resolve(p, c, once->step_factor > 0.0));
    }
    if (once->mesh_factor > 0.0) PCS_TRY(once_refine_mesh(p->ctx, c, once->mesh_factor));
    if (once->step_factor > 0.0) PCS_TRY(once_refine_step(p->ctx, c, once->step_factor));
    PCS_TRY(pcs_build_sim(p->ctx, c, &p->sim));
    const pcs_scheme_ops *scheme = p->sim->scheme->ops;
    bool follows_cells = pcs_rule_is_explicit(&scheme->rule) || scheme->ask_waves != NULL;
    once->has_steps = !step_is_auto || !follows_cells;
    return open_sim(p);
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
    if (*lock >= 0) (void)flock(*lock, LOCK_EX); // without locks, runs of other processes are merely not waited for
    once->was_there = once_is_finished(sim->ctx, folder);
    sim->resumes = true; // continues from what an interrupted run has left
    sim->ends_for_good = !once->keeps_output;
    return once->was_there ? PCS_OK : once_write_case(sim, folder, text);
}

int percuss_run_once(const percuss_source *source, percuss_once *once, percuss **out)
{
    percuss *p = *out = open_handle();
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
