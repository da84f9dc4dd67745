// The interface for programs: a case becomes a simulation, an equilibrium or modes; runs that share a folder; the
// present state and the parts of a model; steps, runs, kept states, and what a caller changes between two steps.

#define _DEFAULT_SOURCE // flock

#include "percuss.h"

#include "analysis/modes.h"
#include "analysis/statics.h"
#include "build/build.h"
#include "build/catalogue.h"
#include "core/archive.h"
#include "core/clock.h"
#include "core/open.h"
#include "core/option.h"
#include "core/pool.h"
#include "core/text.h"
#include "fe/fe.h"
#include "linsolve/linsolve.h"
#include "output/file.h"
#include "schemes/scheme.h"
#include "sim/certify.h"
#include "sim/sim.h"
#include "step/projection.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Positions and velocities at fixed addresses for readers; those of the run itself change places.
typedef struct api_mirror {
    double *q, *v; // [nq], [nv]
    bool is_read;  // someone has asked for them, so that they are kept up to date
} api_mirror;

struct percuss {
    pcs_context *ctx;           // owner of everything, this handle too
    pcs_sim *sim;               // NULL if the case is wrong, or for an analysis
    pcs_system *system;         // NULL if the case is wrong
    const pcs_dofmap *map;      // NULL for a closed-form system
    pcs_instant still;          // state of a model at rest
    api_mirror *mirror;         // state for readers
    const pcs_row_report *rows; // [nrow] report of the contacts
    const pcs_probe *probes;    // [nprobe]
    int nprobe;
    bool is_stopped;                                         // the simulation cannot continue
    bool is_running;                                         // within a call that makes steps
    bool is_stepping;                                        // within a step: the workspace of the system is in use
    double *applied;                                         // [nv] forces of the caller for the next step
    double *acting;                                          // [nv] those of the last step, part of the state
    double *jump;                                            // [nv] work
    double *acceleration, *force, *internal, *contact_force; // [nv] evaluated on request
    double (*position)[3], (*normal)[3];                     // [nrow] evaluated on request
    int *column_start, *row_of, room;                        // G by columns: [nv + 1], [room]
    double *value_of;                                        // [room]
    int *no_start;                                           // [nv + 1] zeros, for a C that is zero
    pcs_modes modes;
    struct api_watcher *watcher; // watcher of the current run
    const pcs_case *read;        // case of percuss_read, never changed; else NULL
};

// Returns the instant at which the model is evaluated.
static pcs_instant api_at(const percuss *p)
{
    return p->sim == NULL ? p->still : pcs_at(p->sim->state.t, p->sim->state.q, p->sim->state.v);
}

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
    for (const char *c = memchr(line, ':', length); c != NULL;
         c = memchr(c + 1, ':', length - (size_t)(c + 1 - line))) {
        const char *rest = NULL, *end = NULL;
        size_t name = (size_t)(c - line);
        int row = messages_number(c + 1, &rest), column = row == 0 ? 0 : messages_number(rest, &end);
        if (column == 0 || end[0] != ' ' || name >= sizeof out->file) continue;
        *out = (percuss_place){ .line = row, .column = column, .text = end + 1 };
        out->text_length = length - (size_t)(end + 1 - line);
        memcpy(out->file, line, name);
        return;
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

static void options_visit_table(const options_visitor *v, percuss_option *to, const pcs_option *o)
{
    for (; o != NULL && o->name != NULL; o++) {
        to->key = o->name;
        to->help = o->help;
        to->kind = pcs_option_kinds[o->kind].name;
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

// Returns the answer of the interface to a status.
static int api_answer(pcs_status status)
{
    if (status == PCS_OK) return 0;
    return status == PCS_NO_MEMORY || status == PCS_FAILED ? 1 : 2;
}

// Returns the answer to a status of a run: every fault but a wrong input stops it.
static int api_run_answer(percuss *p, pcs_status status)
{
    if (status == PCS_OK) return 0;
    p->is_stopped = true;
    return status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED ? 2 : 1;
}

// Returns 2, with a message.
static int api_refuse(percuss *p, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return api_answer(pcs_fail(p->ctx, PCS_BAD_INPUT, "%s", text));
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
    return api_refuse(p, "neither a path nor a text of a case is given");
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
    if (status != PCS_OK) return api_answer(status);
    return api_run_answer(p, pcs_sim_start(p->sim));
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
static pcs_status analyses_are_known(percuss *p, const pcs_analysis *on, const double *q, const pcs_statics *statics)
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

// Returns the options of the case, with those of the caller in place of them.
static pcs_statics_options analyses_options(const pcs_analysis *on, const percuss_still_options *options)
{
    pcs_statics_options how = on->statics;
    if (options->steps > 0) how.steps = options->steps;
    if (options->time != 0.0) how.time = options->time;
    return how;
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
    pcs_statics_options how = analyses_options(&on, options);
    PCS_TRY(pcs_statics_solve(&on, &how, q, NULL, NULL, &statics));
    p->still = pcs_at_rest(how.time, q, NULL, statics.factor); // a path by arc length may end anywhere
    return analyses_are_known(p, &on, q, &statics);
}

static pcs_status analyses_modes(percuss *p, const percuss_source *source, const percuss_still_options *options)
{
    pcs_analysis on;
    pcs_statics statics;
    double *q;
    pcs_modes_options how = { .count = options->count > 0 ? options->count : 10, .is_whirl = options->is_whirl != 0 };
    bool is_balanced = options->is_about_statics != 0;
    PCS_TRY(analyses_start(p, source, &on, &q));
    how.time = analyses_options(&on, options).time;
    p->still = pcs_at(0.0, q, NULL);
    if (is_balanced) {
        PCS_TRY(pcs_modes_about(&on, analyses_options(&on, options), q, &statics, &how));
        p->still = pcs_at_rest(how.time, q, NULL, statics.factor);
    }
    PCS_TRY(pcs_modes_find(&on, &how, &p->modes));
    return analyses_are_known(p, &on, q, is_balanced ? &statics : NULL);
}

typedef pcs_status analyses_kind(percuss *p, const percuss_source *source, const percuss_still_options *options);

static int analyses_run(analyses_kind *kind, const percuss_source *source, const percuss_still_options *options,
                        percuss **out)
{
    static const percuss_still_options none = { 0 };
    int answer = open_for(source, out);
    if (answer != 0) return answer;
    return api_answer(kind(*out, source, options == NULL ? &none : options));
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
    if (node != NULL && node->kind == PCS_YAML_SCALAR) value = pcs_text_number(node->text, &end);
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
    if (cells != NULL && cells->kind == PCS_YAML_MAP)
        PCS_TRY(once_refine_divide(c, cells, "travel_time", factor, is_refined));
    if (elements[0] == '\0' && strcmp(type, "lattice") == 0) elements = "1";
    double value = pcs_text_number(elements, &end);
    if (end == elements || *end != '\0' || !(value >= 1.0)) return PCS_OK; // the reader reports this error
    *is_refined = true;
    snprintf(text, sizeof text, "%.0f", value * factor);
    return pcs_case_resolve(c, part, "elements", text);
}

// Returns the parts of the mesh, *count of them.
static pcs_yaml *once_parts(pcs_case *c, int *count)
{
    pcs_yaml *mesh = pcs_case_get(c, pcs_case_root(c), "mesh");
    *count = mesh != NULL && mesh->kind == PCS_YAML_MAP ? mesh->count : 0;
    return mesh;
}

// Refines the parts by a factor, unless it is 0; *has_cells if some have cells that could be smaller.
static pcs_status once_refine_mesh(pcs_context *ctx, pcs_case *c, double factor, int *has_cells)
{
    int count, nfound = 0;
    pcs_yaml *mesh = once_parts(c, &count);
    for (int i = 0; i < count; i++) {
        pcs_yaml *part = mesh->items[i];
        const char *type = pcs_yaml_string(part, "type");
        bool is_refined = false, is_map = part->kind == PCS_YAML_MAP;
        if (strcmp(type, "point") != 0 && strcmp(type, "link") != 0) *has_cells = true;
        if (is_map && factor > 0.0) PCS_TRY(once_refine_part(ctx, c, part, factor, &is_refined));
        nfound += is_refined;
    }
    if (nfound > 0 || !(factor > 0.0)) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "no part of the mesh has a number of elements, or a travel time of cells, that could be refined");
}

static bool once_is_auto(const pcs_yaml *map, const char *place)
{
    return strcmp(pcs_yaml_string(map, place), "auto") == 0;
}

// Replaces numbers of elements and, if it is to be refined, a step that are `auto` by those of the run without
// refinement: a refinement is a factor of them.
static pcs_status once_resolve(percuss *p, pcs_case *c, bool refines_step)
{
    int count;
    pcs_yaml *root = pcs_case_root(c), *mesh = once_parts(c, &count);
    bool step_is_auto = once_is_auto(root, "time.step"), is_auto = step_is_auto && refines_step;
    for (int i = 0; i < count; i++) is_auto = is_auto || once_is_auto(mesh->items[i], "elements");
    if (!is_auto) return PCS_OK;
    PCS_TRY(pcs_build_sim_of(p->ctx, &(pcs_source){ .loaded = c }, &p->sim));
    if (!step_is_auto || refines_step) return PCS_OK;
    return pcs_case_resolve(c, pcs_case_get(c, root, "time"), "step", "auto");
}

// Returns true if the case gives a scalar, such as false, or `every: 0` for the observer at `path`.
static bool once_is_off(pcs_case *c, const char *path)
{
    const pcs_yaml *node = pcs_case_find(c, path);
    bool is_scalar = node != NULL && node->kind == PCS_YAML_SCALAR;
    bool has_every = node != NULL && node->kind == PCS_YAML_MAP && node != pcs_case_root(c);
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
    pcs_case *c = NULL;
    int answer = open_for(source, out);
    if (answer != 0) return answer;
    pcs_source from = open_source(source);
    pcs_status status = pcs_build_load_case((*out)->ctx, &from, &c);
    if (status == PCS_OK) (*out)->read = c;
    return api_answer(status);
}

static pcs_status once_load(percuss *p, const percuss_source *source, percuss_once *once)
{
    pcs_source from = open_source(source);
    pcs_case *c = NULL;
    from.like = once->like == NULL ? NULL : once->like->read;
    once->has_cells = false;
    PCS_TRY(pcs_build_load_case(p->ctx, &from, &c));
    bool step_is_auto = once_is_auto(pcs_case_root(c), "time.step");
    bool is_refined = false;
    PCS_TRY(once_set_output(c, once));
    if (once->mesh_factor > 0.0 || once->step_factor > 0.0) {
        PCS_TRY(pcs_case_expand(c)); // formulas have become numbers here
        PCS_TRY(once_resolve(p, c, once->step_factor > 0.0));
        PCS_TRY(once_refine_mesh(p->ctx, c, once->mesh_factor, &once->has_cells));
    }
    pcs_yaml *time = once->step_factor > 0.0 ? pcs_case_get_map(c, pcs_case_root(c), "time") : NULL;
    if (time != NULL) PCS_TRY(once_refine_divide(c, time, "step", once->step_factor, &is_refined));
    if (once->step_factor > 0.0 && !is_refined)
        return pcs_fail(p->ctx, PCS_BAD_INPUT, "time.step must be a number to be refined");
    PCS_TRY(pcs_build_sim_of(p->ctx, &(pcs_source){ .loaded = c }, &p->sim));
    PCS_TRY(once_refine_mesh(p->ctx, c, 0.0, &once->has_cells)); // without a factor it looks for cells
    const pcs_scheme_ops *scheme = p->sim->scheme->ops;
    bool follows_cells = pcs_rule_is_explicit(&scheme->rule) || scheme->ask_waves != NULL;
    once->has_steps = !step_is_auto || !follows_cells;
    return open_sim(p);
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

// Finds the folder of the resolved case, named by the hash of the version, of the case and of the files it names, and
// locks it before it is read: another process with the same case then finds the finished run. The lock ends with its
// process.
static pcs_status once_find(pcs_sim *sim, percuss_once *once, char folder[PATH_ROOM], int *lock)
{
    char *text;
    PCS_TRY(pcs_case_dump(sim->input, false, &text));
    unsigned long long hash = pcs_hash(PCS_HASH_START, percuss_version(), strlen(percuss_version()));
    hash = pcs_hash(hash, text, strlen(text));
    PCS_TRY(pcs_case_hash_files(sim->input, &hash));
    snprintf(once->name, sizeof once->name, "%016llx", hash);
    snprintf(folder, PATH_ROOM, "%s/%s", once->directory, once->name);
    PCS_TRY(pcs_file_make_folder(sim->ctx, folder));
    *lock = pcs_open_folder(folder);
    if (*lock >= 0) (void)flock(*lock, LOCK_EX); // without locks, runs of other processes are merely not waited for
    once->was_there = once_is_finished(sim->ctx, folder);
    sim->resumes = true; // continues from what an interrupted run has left
    sim->ends_for_good = !once->keeps_output;
    sim->has_case_file = true;
    return once->was_there ? PCS_OK : pcs_file_write(sim->ctx, folder, "case.resolved.yaml", text);
}

int percuss_run_once(const percuss_source *source, percuss_once *once, percuss **out)
{
    once->name[0] = '\0';
    once->was_there = 0;
    int answer = open_for(source, out);
    if (answer != 0) return answer;
    percuss *p = *out;
    if (once->directory == NULL) return api_refuse(p, "no folder for the results is given");
    pcs_around(p->ctx)->beside = once->beside;
    pcs_status status = once_load(p, source, once);
    if (status != PCS_OK) return api_answer(status);
    char folder[PATH_ROOM];
    int lock = -1;
    status = once_find(p->sim, once, folder, &lock);
    if (status != PCS_OK) answer = api_run_answer(p, status);
    if (status == PCS_OK && !once->was_there)
        answer = percuss_run_with(
            p, &(percuss_run_options){
                   .directory = folder, .watch = once->watch, .user = once->user, .interval = once->interval });
    if (lock >= 0) close(lock);
    return answer;
}

// The present state: vectors, probes, energies, certificate.
//
//   M a = f + r,   r = (G^T Lambda + T^T Lambda_t) / h,   Lambda: impulses of the rows over the last step of length h
//   internal forces: -f without loads and gravity

// Returns true if there is a model and its workspace is free.
static bool read_may_evaluate(const percuss *p)
{
    return p != NULL && p->system != NULL && !p->is_stepping;
}

double percuss_time(const percuss *p)
{
    if (p == NULL || p->system == NULL) return 0.0;
    return p->sim == NULL ? p->still.t : p->sim->state.t;
}

double percuss_step_size(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->step_size;
}

double percuss_end_time(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->end_time;
}

long percuss_steps(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0 : p->sim->state.step;
}

// Copies the changed state to the mirror for readers.
static void mirror_copy(const percuss *p)
{
    if (p->mirror == NULL || !p->mirror->is_read) return;
    memcpy(p->mirror->q, p->sim->state.q, (size_t)p->system->nq * sizeof(double));
    memcpy(p->mirror->v, p->sim->state.v, (size_t)p->system->nv * sizeof(double));
}

static const api_mirror *read_mirror(const percuss *p)
{
    if (!p->mirror->is_read) {
        p->mirror->is_read = true;
        mirror_copy(p);
    }
    return p->mirror;
}

const double *percuss_displacement(const percuss *p)
{
    if (p == NULL || p->system == NULL) return NULL;
    return p->sim == NULL ? p->still.q : read_mirror(p)->q;
}

const double *percuss_velocity(const percuss *p)
{
    if (p == NULL || p->system == NULL) return NULL;
    return p->sim == NULL ? p->still.v : read_mirror(p)->v;
}

// Returns an array over the equations, allocated on the first request; NULL if it cannot be evaluated.
static double *read_vector(percuss *p, double **vector)
{
    if (!read_may_evaluate(p)) return NULL;
    if (*vector == NULL) *vector = pcs_take(p->ctx, (size_t)p->system->nv, sizeof **vector, "a vector");
    return *vector;
}

const double *percuss_force(percuss *p)
{
    double *f = p == NULL ? NULL : read_vector(p, &p->force);
    if (f != NULL) p->system->ops->force(p->system, api_at(p), f);
    return f;
}

// Returns the internal forces; forces that the caller applies count as loads.
const double *percuss_internal_force(percuss *p)
{
    if (p == NULL || p->system == NULL || !pcs_system_is_mesh(p->system)) return NULL;
    double *f = read_vector(p, &p->internal);
    if (f == NULL) return NULL;
    pcs_instant at = api_at(p);
    at.load_factor = 0.0;
    p->system->ops->force(p->system, at, f);
    for (int i = 0; i < p->system->nv; i++) f[i] = (p->applied == NULL ? 0.0 : p->applied[i]) - f[i];
    return f;
}

static void read_aim(percuss *p)
{
    if (p->system->row_set.vary) pcs_system_aim(p->system, api_at(p));
}

const double *percuss_contact_force(percuss *p)
{
    double *f = p == NULL ? NULL : read_vector(p, &p->contact_force);
    if (f == NULL) return NULL;
    const pcs_system *system = p->system;
    // A model at rest has forces, a run impulses of its last step; at the start there was none.
    double h = p->sim == NULL ? 1.0 : p->sim->report.h;
    memset(f, 0, (size_t)system->nv * sizeof *f);
    if (!(h > 0.0)) return f;
    read_aim(p);
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &p->rows[j];
        if (row->step_impulse != 0.0) pcs_rows_add_transposed(system->G, j, row->step_impulse / h, f);
        for (int t = 0; t < system->rows[j].ntangent; t++)
            if (row->tangent[t] != 0.0)
                pcs_rows_add_transposed(system->T, system->rows[j].first_tangent + t, row->tangent[t] / h, f);
    }
    return f;
}

const double *percuss_acceleration(percuss *p)
{
    if (p == NULL || p->sim == NULL || p->sim->solver == NULL || p->sim->solver->mass == NULL) return NULL;
    if (p->sim->scheme->rule.kind == PCS_RULE_WAVE) return NULL; // factored is not M, which may be singular
    double *a = read_vector(p, &p->acceleration);
    const double *r = percuss_contact_force(p);
    if (a == NULL || r == NULL || !pcs_projection_move(p->sim->solver, p->sim->state.q)) return NULL;
    p->system->ops->force(p->system, api_at(p), a);
    for (int i = 0; i < p->system->nv; i++) a[i] += r[i];
    pcs_linsolve_solve(p->sim->solver->mass, a);
    return a;
}

int percuss_probes(const percuss *p)
{
    return p == NULL ? 0 : p->nprobe;
}

const char *percuss_probe_name(const percuss *p, int i)
{
    return i < 0 || i >= percuss_probes(p) ? NULL : p->probes[i].column;
}

double percuss_probe_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_probes(p)) return 0.0;
    if (p->sim != NULL) return pcs_state_probe(&p->sim->state, p->system, &p->probes[i]);
    return p->system->ops->probe(p->system, &p->probes[i], p->still);
}

int percuss_probe_named(const percuss *p, const char *name)
{
    for (int i = 0; i < percuss_probes(p); i++)
        if (name != NULL && strcmp(p->probes[i].column, name) == 0) return i;
    return -1;
}

percuss_energy percuss_energies(const percuss *p)
{
    if (p == NULL || p->system == NULL || p->is_stepping) return (percuss_energy){ 0 };
    if (p->sim == NULL) {
        pcs_measure now;
        p->system->ops->measure(p->system, api_at(p), PCS_ENERGY, &now);
        return (percuss_energy){ .kinetic = now.kinetic, .strain = now.strain, .potential = now.potential };
    }
    const pcs_ledger *l = &p->sim->ledger;
    return (percuss_energy){
        .kinetic = l->now.kinetic,
        .strain = l->now.strain,
        .potential = l->now.potential,
        .external_work = l->external_work,
        .damping_loss = l->damping_loss,
        .impact_loss = l->impact_loss,
        .correction_work = l->correction_work,
        .numerical_loss = l->numerical_loss,
        .friction_loss = l->friction_loss,
        .initial = l->initial,
        .material_loss = l->material_loss,
    };
}

static const pcs_certificate *read_certificate(const percuss *p)
{
    return p == NULL || p->sim == NULL ? NULL : p->sim->view.certificate;
}

int percuss_checks(const percuss *p)
{
    const pcs_certificate *c = read_certificate(p);
    return c == NULL ? 0 : c->ncheck;
}

percuss_check percuss_check_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_checks(p)) return (percuss_check){ 0 };
    const pcs_check *c = &read_certificate(p)->checks[i];
    return (percuss_check){ .name = c->name,
                            .unit = c->unit,
                            .worst_ratio = c->worst_ratio,
                            .worst_value = c->worst_value,
                            .tolerance = c->tolerance,
                            .worst_time = c->worst_time,
                            .is_reported_only = c->is_reported_only };
}

percuss_effort percuss_efforts(const percuss *p)
{
    if (p == NULL || p->sim == NULL) return (percuss_effort){ 0 };
    const pcs_view *view = &p->sim->view;
    const pcs_timing *timing = &p->sim->timing;
    return (percuss_effort){ .steps = p->sim->state.step,
                             .iterations = view->iterations,
                             .factorizations = view->factorizations,
                             .attempts = view->attempts,
                             .cut_steps = view->cut_steps,
                             .handovers = view->handovers,
                             .setup = timing->setup,
                             .step = timing->step,
                             .certify = timing->certify,
                             .output = timing->output,
                             .memory = view->memory };
}

// Contacts, joints and reactions.

int percuss_contacts(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : pcs_system_npoint(p->system);
}

percuss_contact percuss_contact_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_contacts(p)) return (percuss_contact){ .name = "" };
    const pcs_row *law = &p->system->rows[i];
    const pcs_row_report *row = &p->rows[i];
    return (percuss_contact){
        .name = p->system->contacts[law->contact].name,
        .gap = row->gap,
        .gap_rate = row->rate,
        .force = row->force,
        .impulse = row->impulse,
        .step_impulse = row->step_impulse,
        .tangent = { row->tangent[0], row->tangent[1] },
        .slip = { row->slip[0], row->slip[1] },
        .friction = law->friction,
        .restitution = pcs_restitution(law, 0.0),
        .group = law->contact,
        .is_joint = law->is_bilateral,
        .is_closed = row->is_closed,
        .is_impact = row->is_impact,
    };
}

int percuss_groups(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : p->system->ncontact;
}

percuss_group percuss_group_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_groups(p)) return (percuss_group){ 0 };
    const pcs_contact_info *info = &p->system->contacts[i];
    return (percuss_group){
        .name = info->name, .first = info->first_row, .count = info->nrow, .is_joint = pcs_is_joint(p->system, i)
    };
}

percuss_group percuss_group_named(const percuss *p, const char *name)
{
    for (int i = 0; i < percuss_groups(p); i++)
        if (name != NULL && strcmp(p->system->contacts[i].name, name) == 0) return percuss_group_at(p, i);
    return (percuss_group){ 0 };
}

const double *percuss_rows(const percuss *p, percuss_row_quantity quantity, size_t *stride)
{
    static const size_t offsets[] = {
        offsetof(pcs_row_report, gap),        offsetof(pcs_row_report, rate),         offsetof(pcs_row_report, force),
        offsetof(pcs_row_report, impulse),    offsetof(pcs_row_report, step_impulse), offsetof(pcs_row_report, tangent),
        offsetof(pcs_row_report, tangent[1]), offsetof(pcs_row_report, slip),         offsetof(pcs_row_report, slip[1]),
    };
    *stride = sizeof(pcs_row_report);
    if (percuss_contacts(p) == 0 || quantity < PERCUSS_GAP || quantity > PERCUSS_SLIP_2) return NULL;
    return (const double *)(const void *)((const char *)p->rows + offsets[quantity]);
}

int percuss_contact_points(percuss *p, const double **position, const double **normal)
{
    if (position != NULL) *position = NULL;
    if (normal != NULL) *normal = NULL;
    if (!read_may_evaluate(p)) return 2;
    size_t count = (size_t)pcs_system_npoint(p->system), size = sizeof *p->position;
    if (count == 0) return 0;
    if (p->position == NULL) p->position = pcs_take(p->ctx, count, size, "contact points");
    if (p->normal == NULL) p->normal = pcs_take(p->ctx, count, size, "contact points");
    if (p->position == NULL || p->normal == NULL) return 1;
    pcs_system_points(p->system, api_at(p), p->position, p->normal);
    if (position != NULL) *position = p->position[0];
    if (normal != NULL) *normal = p->normal[0];
    return 0;
}

int percuss_reactions(const percuss *p)
{
    return p == NULL || p->sim == NULL || p->sim->reactions == NULL ? 0 : p->system->nreaction;
}

percuss_reaction percuss_reaction_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_reactions(p)) return (percuss_reaction){ 0 };
    const pcs_reaction_info *info = &p->system->reactions[i];
    percuss_reaction out = { .name = info->name, .is_support = info->contact < 0 };
    memcpy(out.force, p->sim->reactions[i].force, sizeof out.force);
    memcpy(out.moment, p->sim->reactions[i].moment, sizeof out.moment);
    out.has_teeth = info->has_teeth;
    out.tangential = p->sim->reactions[i].teeth[0];
    out.separating = p->sim->reactions[i].teeth[1];
    return out;
}

static const pcs_mesh *model_mesh(const percuss *p)
{
    return p == NULL || p->map == NULL ? NULL : p->map->mesh;
}

int percuss_dofs(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : p->system->nq;
}

double percuss_length(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0.0 : p->system->length;
}

int percuss_nodes(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL ? 0 : mesh->nnode;
}

const double *percuss_coordinates(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL || mesh->nnode == 0 ? NULL : mesh->x[0];
}

int percuss_cells(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL ? 0 : mesh->ncell;
}

const int *percuss_cell_nodes(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL || mesh->ncell == 0 ? NULL : mesh->cell[0];
}

int percuss_sets(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL ? 0 : mesh->nnode_set + mesh->ncell_set;
}

static percuss_set model_set(const pcs_set *set, bool is_cells)
{
    if (set == NULL) return (percuss_set){ 0 };
    return (percuss_set){ .name = set->name, .is_cells = is_cells, .count = set->count, .items = set->items };
}

percuss_set percuss_set_at(const percuss *p, int i)
{
    const pcs_mesh *mesh = model_mesh(p);
    if (i < 0 || i >= percuss_sets(p)) return (percuss_set){ 0 };
    if (i < mesh->nnode_set) return model_set(&mesh->node_set[i], false);
    return model_set(&mesh->cell_set[i - mesh->nnode_set], true);
}

percuss_set percuss_set_named(const percuss *p, const char *name, int is_cells)
{
    const pcs_mesh *mesh = model_mesh(p);
    if (mesh == NULL || name == NULL) return (percuss_set){ 0 };
    return model_set(is_cells ? pcs_mesh_cell_set(mesh, name) : pcs_mesh_node_set(mesh, name), is_cells != 0);
}

int percuss_node_dofs(const percuss *p, int node, percuss_dof out[6])
{
    if (node < 0 || node >= percuss_nodes(p)) return 0;
    int first = p->map->first[node], count = p->map->first[node + 1] - first;
    if (count > PCS_MAX_NODE_DOFS) count = PCS_MAX_NODE_DOFS;
    for (int i = 0; i < count; i++) {
        const pcs_dof *d = &p->map->dof[first + i];
        out[i] = (percuss_dof){ .equation = d->equation < 0 ? -1 : d->equation, .is_rotation = d->is_rotation };
        memcpy(out[i].direction, d->direction, sizeof d->direction);
    }
    return count;
}

int percuss_equation(const percuss *p, int node, int axis)
{
    percuss_dof dof[6];
    int count = percuss_node_dofs(p, node, dof);
    for (int i = 0; i < count; i++) {
        bool is_kind = (dof[i].is_rotation != 0) == (axis >= 3);
        // Rounds a direction that is off an axis by round-off to that axis, as for supports and loads.
        if (axis >= 0 && axis < 6 && is_kind && dof[i].direction[axis % 3] > 1.0 - 1e-9) return dof[i].equation;
    }
    return -2;
}

void percuss_name_equation(const percuss *p, int equation, size_t size, char *text)
{
    if (size == 0) return;
    text[0] = '\0';
    if (equation >= 0 && equation < percuss_dofs(p))
        p->system->ops->describe(p->system, equation, NULL, NULL, size, text);
}

const char *percuss_coordinate_name(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_dofs(p) || p->system->coordinates == NULL) return NULL;
    return p->system->coordinates[i];
}

percuss_picture percuss_draw(percuss *p)
{
    if (!read_may_evaluate(p) || p->system->picture == NULL) return (percuss_picture){ 0 };
    pcs_picture *picture = p->system->picture;
    if (picture->npoint == 0) return (percuss_picture){ 0 };
    p->system->ops->draw(p->system, api_at(p), picture);
    return (percuss_picture){ .npoint = picture->npoint,
                              .ncell = picture->ncell,
                              .nfield = picture->nfield,
                              .reference = picture->reference[0],
                              .displacement = picture->displacement[0],
                              .velocity = picture->velocity[0],
                              .cells = picture->ncell == 0 ? NULL : picture->cells[0],
                              .field_names = picture->field_names,
                              .fields = (const double *const *)picture->fields };
}

// Fills columns with the nonzero entries of rows, each from end[j] on; entries of a row for one equation are summed.
// Without arrays they are only counted.
static void model_enter_columns(const pcs_rows *G, int *last, int *end, int *row_of, double *value_of)
{
    for (int j = 0; j < G->ncol; j++) last[j] = -1;
    for (int i = 0; i < G->nrow; i++)
        for (int k = G->start[i]; k < G->start[i + 1]; k++) {
            int j = G->column[k];
            if (G->value[k] == 0.0) continue;
            if (last[j] != i) {
                if (row_of != NULL) row_of[end[j]] = i;
                if (row_of != NULL) value_of[end[j]] = 0.0;
                end[j]++;
            }
            if (row_of != NULL) value_of[end[j] - 1] += G->value[k];
            last[j] = i;
        }
}

static void model_sort_columns(percuss *p, const pcs_rows *G, int *last)
{
    int n = p->system->nv, *start = p->column_start;
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    model_enter_columns(G, last, start + 1, NULL, NULL);
    for (int j = 0; j < n; j++) start[j + 1] += start[j];
    model_enter_columns(G, last, start, p->row_of, p->value_of);
    memmove(start + 1, start, (size_t)n * sizeof *start); // each start has moved to the next one while filling
    start[0] = 0;
}

static pcs_status model_directions(percuss *p, percuss_matrix *out)
{
    read_aim(p);
    const pcs_rows *G = p->system->G;
    int n = p->system->nv, nnz = G->start[G->nrow], *last = pcs_scratch(NULL, (size_t)n, sizeof *last);
    if (last == NULL) return pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: directions by columns");
    if (p->column_start == NULL)
        p->column_start = pcs_take(p->ctx, (size_t)n + 1, sizeof(int), "directions by columns");
    if (p->row_of == NULL || nnz > p->room) {
        p->row_of = pcs_take(p->ctx, (size_t)nnz, sizeof(int), "directions by columns");
        p->value_of = pcs_take(p->ctx, (size_t)nnz, sizeof(double), "directions by columns");
        p->room = nnz;
    }
    bool is_taken = p->column_start != NULL && p->row_of != NULL && p->value_of != NULL;
    if (is_taken) model_sort_columns(p, G, last);
    pcs_scratch_free(last);
    if (!is_taken) return PCS_NO_MEMORY;
    *out = (percuss_matrix){ .nrow = G->nrow, .ncol = n, .nnz = p->column_start[n] };
    out->start = p->column_start;
    out->row = p->row_of;
    out->value = p->value_of;
    return PCS_OK;
}

int percuss_matrix_of(percuss *p, percuss_matrix_kind kind, percuss_matrix *out)
{
    *out = (percuss_matrix){ 0 };
    if (!read_may_evaluate(p) || kind < PERCUSS_MASS || kind > PERCUSS_DIRECTIONS) return 2;
    pcs_system *system = p->system;
    if (kind == PERCUSS_DIRECTIONS) return api_answer(model_directions(p, out));
    if (kind == PERCUSS_MASS && system->mass_varies) system->ops->update(system, api_at(p), PCS_MASS, NULL);
    if (kind != PERCUSS_MASS && system->tangents_vary) system->ops->update(system, api_at(p), PCS_TANGENTS, NULL);
    const pcs_matrix *const matrices[] = { system->M, system->K, system->C };
    const pcs_matrix *A = matrices[kind];
    if (A == NULL && kind != PERCUSS_DAMPING) return 2;
    if (A == NULL && p->no_start == NULL)
        p->no_start = pcs_take(p->ctx, (size_t)system->nv + 1, sizeof *p->no_start, "damping");
    if (A == NULL && p->no_start == NULL) return 1;
    if (A == NULL) {
        *out = (percuss_matrix){ .nrow = system->nv, .ncol = system->nv, .start = p->no_start, .row = p->no_start };
        return 0;
    }
    *out = (percuss_matrix){ .nrow = A->pattern->n, .ncol = A->pattern->n, .nnz = A->pattern->nnz };
    out->start = A->pattern->start;
    out->row = A->pattern->row;
    out->value = A->value;
    return 0;
}

// Forces that a caller adds to those of the system, constant from one call of the scheme to the next: of a controller,
// of another model.
//
//   f := f + p,   work := work + p . (displacement from q0 to q1),   resultant := resultant + sum_i p_i d_i
//
// A system without such forces has no overhead: its operations are replaced when the forces are asked for.

struct pcs_push {
    const pcs_system_ops *own; // operations of the system
    pcs_system_ops ops;        // the same with the forces added
    double *p, *increment;     // [nv] forces, and increment of q
};

static void push_force(const pcs_system *self, pcs_instant at, double *f)
{
    const pcs_push *push = self->push;
    push->own->force(self, at, f);
    for (int i = 0; i < self->nv; i++) f[i] += push->p[i];
}

static double push_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const pcs_push *push = self->push;
    double work = push->own->load_work(self, t, q0, q1);
    pcs_difference(&self->rotations, q0, q1, push->increment);
    for (int i = 0; i < self->nv; i++) work += push->p[i] * push->increment[i];
    return work;
}

static void push_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    const pcs_push *push = self->push;
    push->own->measure(self, at, what, out);
    if (what & PCS_LOAD_POWER)
        for (int i = 0; i < self->nv; i++) out->load_power += push->p[i] * at.v[i];
    if ((what & PCS_RESULTANT) && self->direction != NULL)
        for (int i = 0; i < self->nv; i++)
            for (int k = 0; k < 3; k++) out->resultant[k] += push->p[i] * self->direction[i][k];
}

// Allocates forces p [nv], zeroed, and adds them to those of the system. Further calls return the same forces.
static pcs_status push_create(pcs_system *self, double **out)
{
    pcs_push *push = self->push;
    if (push == NULL) {
        PCS_TAKE(self->ctx, push, 1, "applied forces");
        PCS_TAKE(self->ctx, push->p, self->nv, "applied forces");
        PCS_TAKE(self->ctx, push->increment, self->nv, "applied forces");
        push->own = self->ops;
        push->ops = *self->ops;
        push->ops.force = push_force;
        push->ops.load_work = push_load_work;
        push->ops.measure = push_measure;
        self->push = push;
        self->ops = &push->ops;
        self->slices = NULL;
    }
    *out = push->p;
    return PCS_OK;
}

double *percuss_applied_force(percuss *p)
{
    if (p == NULL || p->sim == NULL || p->is_stepping) return NULL;
    if (p->applied != NULL) return p->applied;
    double *applied;
    if (read_vector(p, &p->jump) == NULL || push_create(p->system, &applied) != PCS_OK) return NULL;
    return p->applied = read_vector(p, &p->acting) == NULL ? NULL : applied;
}

// Applies a jump df [nv] of the smooth forces, which is overwritten, to the memory of the scheme.
static void drive_jump(percuss *p, double *df)
{
    double sum[3] = { 0.0 };
    if (p->system->direction != NULL)
        for (int i = 0; i < p->system->nv; i++)
            for (int k = 0; k < 3; k++) sum[k] += df[i] * p->system->direction[i][k];
    pcs_scheme_change_forces(p->sim->scheme, &p->sim->state, df, sum);
}

static void drive_note(percuss *p)
{
    if (p->applied == NULL) return;
    bool has_changed = false;
    for (int i = 0; i < p->system->nv; i++) {
        p->jump[i] = p->applied[i] - p->acting[i];
        p->acting[i] = p->applied[i];
        has_changed = has_changed || p->jump[i] != 0.0;
    }
    if (has_changed) drive_jump(p, p->jump);
}

static void drive_clear(percuss *p)
{
    if (p->applied != NULL) memset(p->applied, 0, (size_t)p->system->nv * sizeof *p->applied);
}

// Allocates the forces of a state that is read, and zeroes them if it has none.
static void drive_make_room(percuss *p, bool is_driven, pcs_archive *c)
{
    if (!pcs_archive_reads(c)) return;
    drive_clear(p);
    if (p->acting != NULL) memset(p->acting, 0, (size_t)p->system->nv * sizeof *p->acting);
    if (is_driven && percuss_applied_force(p) == NULL) c->status = PCS_NO_MEMORY;
}

// Serializes the drive. A checkpoint of a run has none; load factors and friction then stay unchanged.
static void drive_serialize(percuss *p, pcs_archive *c)
{
    size_t nload = (size_t)percuss_loads(p);
    bool is_driven = p->acting != NULL;
    pcs_archive_part(c, "drive");
    if (pcs_archive_reads(c) && !pcs_archive_is_next(c, "is_driven")) {
        drive_make_room(p, false, c);
        return;
    }
    pcs_archive_flags(c, "is_driven", &is_driven, 1);
    drive_make_room(p, is_driven, c);
    if (c->status == PCS_OK && is_driven) pcs_archive_vector(c, "acting", p->acting, p->system->nv);
    if (nload > 0) pcs_archive_words(c, "load_factors", pcs_fe_load_factors(p->system), nload);
    int npoint = pcs_system_npoint(p->system);
    for (int j = 0; j < npoint; j++) pcs_archive_words(c, "friction", &p->system->laws[j].friction, 1);
}

int percuss_apply(percuss *p, int node, const double force[3])
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS], *applied = percuss_applied_force(p);
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    if (applied == NULL) return 1;
    if (p->map == NULL) return api_refuse(p, "a system in closed form has no nodes: use its applied forces");
    if (node < 0 || node >= p->map->mesh->nnode)
        return api_refuse(p, "there is no node %d, nodes are 0 to %d", node, p->map->mesh->nnode - 1);
    if (!isfinite(force[0]) || !isfinite(force[1]) || !isfinite(force[2]))
        return api_refuse(p, "the force [%g, %g, %g] on node %d is not finite", force[0], force[1], force[2], node);
    int count = pcs_dofmap_resolve(p->map, false, node, force, dof, coefficient);
    for (int i = 0; i < count; i++)
        if (p->map->dof[dof[i]].equation < 0 && coefficient[i] != 0.0) count = -1;
    if (count < 0)
        return api_refuse(p, "node %d cannot move along the force [%g, %g, %g]", node, force[0], force[1], force[2]);
    for (int i = 0; i < count; i++)
        if (coefficient[i] != 0.0) applied[p->map->dof[dof[i]].equation] += coefficient[i];
    return 0;
}

int percuss_loads(const percuss *p)
{
    return p == NULL || p->map == NULL ? 0 : pcs_fe_model(p->system)->nload;
}

const char *percuss_load_name(const percuss *p, int i)
{
    return i < 0 || i >= percuss_loads(p) ? NULL : pcs_fe_model(p->system)->loads[i].name;
}

// Sets a load factor and applies the jump, the difference of the forces before and after.
static int drive_set_factor(percuss *p, int load, double factor)
{
    const pcs_state *x = &p->sim->state;
    double *before = pcs_scratch(NULL, (size_t)p->system->nv, sizeof *before);
    if (before == NULL || read_vector(p, &p->jump) == NULL) {
        pcs_scratch_free(before);
        return 1;
    }
    p->system->ops->force(p->system, pcs_at(x->t, x->q, x->v), before);
    pcs_fe_load_factors(p->system)[load] = factor;
    p->system->ops->force(p->system, pcs_at(x->t, x->q, x->v), p->jump);
    for (int i = 0; i < p->system->nv; i++) p->jump[i] -= before[i];
    pcs_scratch_free(before);
    drive_jump(p, p->jump);
    return 0;
}

int percuss_set_load_factor(percuss *p, const char *name, double factor)
{
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    if (name == NULL || !isfinite(factor)) return api_refuse(p, "the factor of a load must be finite, is %g", factor);
    for (int i = 0; i < percuss_loads(p); i++) {
        const pcs_fe_load *load = &pcs_fe_model(p->system)->loads[i];
        if (strcmp(load->name, name) != 0) continue;
        if (load->is_gravity) return api_refuse(p, "load '%s' is gravity and cannot be changed", name);
        return drive_set_factor(p, i, factor);
    }
    return api_refuse(p, "there is no load '%s'", name);
}

int percuss_set_friction(percuss *p, const char *name, double friction)
{
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    percuss_group group = percuss_group_named(p, name);
    if (group.name == NULL || group.is_joint)
        return api_refuse(p, "there is no contact '%s'", name == NULL ? "" : name);
    if (!(friction >= 0.0) || isinf(friction))
        return api_refuse(p, "friction of contact '%s' must be >= 0, is %g", name, friction);
    for (int j = group.first; j < group.first + group.count; j++)
        if (p->system->rows[j].ntangent == 0)
            return api_refuse(p, "contact '%s' has no friction in the case, which makes no room for it", name);
    for (int j = group.first; j < group.first + group.count; j++) p->system->laws[j].friction = friction;
    return 0;
}

// Steps, runs, and kept states.

struct percuss_state {
    pcs_context *ctx; // owner of it
    const pcs_sim *of;
    pcs_memory pieces; // archive, as in a checkpoint
};

// An external watcher of a run, called as an observer: between two steps the workspace is free.
typedef struct api_watcher {
    percuss *p;
    percuss_watch *watch;
    void *user;
    double interval, last; // s of wall time
    volatile int stop;
} api_watcher;

int percuss_is_done(const percuss *p)
{
    return p == NULL || p->sim == NULL || p->is_stopped || pcs_sim_is_done(p->sim);
}

// Returns 0 if steps can be made, else the answer of the interface.
static int run_refuses(percuss *p)
{
    if (p == NULL) return 2;
    if (p->is_running) return 2; // the message belongs to the call in progress
    if (p->sim == NULL) return p->system == NULL ? 2 : api_refuse(p, "a model in equilibrium makes no steps");
    return p->is_stopped ? 1 : 0;
}

static int run_step(percuss *p)
{
    drive_note(p);
    p->is_stepping = true;
    pcs_status status = pcs_sim_step(p->sim);
    p->is_stepping = false;
    if (status == PCS_OK) drive_clear(p);
    mirror_copy(p);
    return api_run_answer(p, status);
}

int percuss_step(percuss *p)
{
    int answer = run_refuses(p);
    if (answer != 0 || pcs_sim_is_done(p->sim)) return answer;
    p->is_running = true;
    answer = run_step(p);
    p->is_running = false;
    return answer;
}

// Calls the watcher if its interval has passed.
static void run_look(api_watcher *w)
{
    if (w->watch == NULL) return;
    if (w->interval > 0.0) {
        double now = pcs_clock();
        if (now - w->last < w->interval) return;
        w->last = now;
    }
    bool was_stepping = w->p->is_stepping;
    w->p->is_stepping = false;
    if (w->watch(w->user, w->p) != 0) w->stop = 1;
    w->p->is_stepping = was_stepping;
}

static int run_in_memory(percuss *p, double end, api_watcher *w)
{
    int answer = 0;
    end -= 1e-9 * p->sim->step_size; // round-off of times
    while (answer == 0 && w->stop == 0 && !pcs_sim_is_done(p->sim) && p->sim->state.t < end) {
        answer = run_step(p);
        if (answer == 0) run_look(w);
    }
    if (answer != 0 || w->stop == 0) return answer;
    (void)pcs_fail(p->ctx, PCS_FAILED, "step %ld (t = %.9g s): stopped on request", p->sim->state.step,
                   p->sim->state.t);
    return 1;
}

static pcs_status run_watch_open(pcs_observer *self)
{
    return PCS_OK;
}

// Updates the handle after a step has been made and written, as the last observer, and calls the watcher.
static pcs_status run_watch_step(pcs_observer *self)
{
    api_watcher *w = self->data;
    drive_clear(w->p);
    mirror_copy(w->p);
    run_look(w);
    drive_note(w->p);
    return PCS_OK;
}

static const pcs_observer_ops run_watch_ops = {
    .name = "watch",
    .summary = "calls a function of the program that runs the simulation",
    .open = run_watch_open,
    .step = run_watch_step,
    .close = run_watch_open,
};

// Adds the watcher behind the observers of the case, once.
static pcs_status run_add_watcher(percuss *p, api_watcher *w)
{
    pcs_sim *sim = p->sim;
    if (p->watcher == NULL) {
        pcs_observer *observers;
        PCS_TAKE(p->ctx, p->watcher, 1, "the watcher of a run");
        PCS_TAKE(p->ctx, observers, sim->nobserver + 1, "the watcher of a run");
        memcpy(observers, sim->observers, (size_t)sim->nobserver * sizeof *observers);
        observers[sim->nobserver++] =
            (pcs_observer){ .ops = &run_watch_ops, .ctx = p->ctx, .view = &sim->view, .data = p->watcher };
        sim->view.observers = sim->observers = observers;
        sim->view.nobserver = sim->nobserver;
    }
    *p->watcher = *w;
    sim->stop_request = &p->watcher->stop;
    return PCS_OK;
}

static int run_into(percuss *p, const char *directory, api_watcher *w)
{
    pcs_status status = run_add_watcher(p, w);
    if (status != PCS_OK) return api_answer(status);
    drive_note(p);
    p->is_stepping = true;
    p->sim->overwrites = true; // checkpoints of an interrupted run stay until the first one of this run
    status = pcs_sim_run(p->sim, directory, false);
    p->is_stepping = false;
    mirror_copy(p);
    int answer = api_run_answer(p, status);
    if (p->watcher->stop != 0) p->is_stopped = false; // a watcher has ended the run: steps may go on
    return answer;
}

int percuss_run_with(percuss *p, const percuss_run_options *options)
{
    int answer = run_refuses(p);
    if (answer != 0) return answer;
    api_watcher w = { .p = p, .watch = options->watch, .user = options->user, .interval = options->interval };
    w.last = pcs_clock();
    p->is_running = true;
    answer = options->directory == NULL ? run_in_memory(p, options->end, &w) : run_into(p, options->directory, &w);
    p->is_running = false;
    return answer;
}

int percuss_run_to(percuss *p, double t)
{
    return percuss_run_with(p, &(percuss_run_options){ .end = t });
}

int percuss_run(percuss *p, const char *directory)
{
    if (p != NULL && directory == NULL) return api_refuse(p, "no folder for the results is given");
    return percuss_run_with(p, &(percuss_run_options){ .directory = directory });
}

static void run_serialize(percuss *p, pcs_archive *c)
{
    pcs_checkpoint_serialize(p->sim, c);
    drive_serialize(p, c);
}

static bool run_may_keep(const percuss *p)
{
    return p != NULL && p->sim != NULL && p->sim->has_started && !p->is_stepping;
}

static pcs_status run_keep(pcs_context *ctx, const percuss *of, percuss_state **out)
{
    percuss copy = *of, *p = &copy; // archiving does not change the state
    percuss_state *state;
    pcs_archive c = pcs_checkpoint_archive(p->sim, PCS_ARCHIVE_COUNT);
    PCS_TAKE(ctx, state, 1, "a kept state");
    run_serialize(p, &c);
    *state = (percuss_state){ .ctx = ctx, .of = p->sim, .pieces.size = c.used };
    state->pieces.bytes = pcs_take(ctx, 1, c.used, "a kept state");
    if (state->pieces.bytes == NULL) return PCS_NO_MEMORY;
    c = pcs_checkpoint_archive(p->sim, PCS_ARCHIVE_WRITE);
    c.bytes = state->pieces.bytes;
    c.size = state->pieces.size;
    run_serialize(p, &c);
    *out = state;
    return c.status;
}

percuss_state *percuss_keep(const percuss *p)
{
    pcs_context *ctx = NULL;
    percuss_state *state = NULL;
    if (!run_may_keep(p) || pcs_context_create(&ctx) != PCS_OK) return NULL;
    if (run_keep(ctx, p, &state) == PCS_OK) return state;
    pcs_context_destroy(&ctx);
    return NULL;
}

// Copies a new state to the mirror; clears the message and the stop flag.
static void run_complete(percuss *p)
{
    mirror_copy(p);
    (void)pcs_fail(p->ctx, PCS_OK, "%s", "");
    pcs_note(p->ctx, "%s", "");
    p->is_stopped = false;
}

int percuss_restore(percuss *p, const percuss_state *state)
{
    if (p == NULL || p->is_running) return 2;
    if (state == NULL || p->sim == NULL || state->of != p->sim)
        return api_refuse(p, "the state was not kept of this simulation");
    pcs_archive c = pcs_checkpoint_archive(p->sim, PCS_ARCHIVE_READ);
    c.bytes = state->pieces.bytes;
    c.size = state->pieces.size;
    run_serialize(p, &c);
    if (c.status != PCS_OK) return api_run_answer(p, c.status);
    run_complete(p);
    return 0;
}

int percuss_save(percuss *p, const char *path)
{
    if (p == NULL || p->is_running) return 2;
    if (path == NULL || !run_may_keep(p)) return api_refuse(p, "there is no state to save, or no path");
    percuss_state *state = percuss_keep(p);
    pcs_status status = state == NULL ? pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: a kept state")
                                      : pcs_checkpoint_save(p->sim, &state->pieces, path);
    percuss_forget(&state);
    return api_answer(status);
}

static pcs_status run_read(percuss *p, const pcs_checkpoint_data *data)
{
    PCS_TRY(pcs_checkpoint_demand_same(p->sim, data));
    pcs_archive c = pcs_checkpoint_reader(p->sim, data);
    run_serialize(p, &c);
    return c.status;
}

// Loads the state of a checkpoint; restores the present state and keeps the message if that fails.
static pcs_status run_load(percuss *p, const pcs_checkpoint_data *data)
{
    char reason[1024];
    percuss_state *before = percuss_keep(p);
    if (before == NULL) return pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: a kept state");
    bool was_stopped = p->is_stopped;
    pcs_status status = run_read(p, data);
    if (status == PCS_OK) run_complete(p);
    else {
        snprintf(reason, sizeof reason, "%s", pcs_message(p->ctx));
        (void)percuss_restore(p, before);
        p->is_stopped = was_stopped;
        (void)pcs_fail(p->ctx, status, "%s", reason);
    }
    percuss_forget(&before);
    return status;
}

int percuss_load_state(percuss *p, const char *path)
{
    pcs_checkpoint_data data;
    bool is_there;
    char note[512];
    if (p == NULL || p->is_running) return 2;
    if (path == NULL || !run_may_keep(p)) return api_refuse(p, "a state needs a simulation and a path");
    pcs_status status = pcs_checkpoint_find(p->ctx, path, false, &data, &is_there, note);
    if (status == PCS_OK && !is_there)
        status = pcs_fail(p->ctx, PCS_BAD_INPUT, "%s: there is no state of a simulation", path);
    if (status == PCS_OK) {
        status = run_load(p, &data);
        pcs_checkpoint_free(&data);
        if (status == PCS_OK && note[0] != '\0') (void)pcs_fail(p->ctx, PCS_OK, "%s", note);
    }
    return api_answer(status);
}

void percuss_forget(percuss_state **state)
{
    if (state == NULL || *state == NULL) return;
    pcs_context *ctx = (*state)->ctx;
    *state = NULL;
    pcs_context_destroy(&ctx);
}
