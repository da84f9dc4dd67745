// Handles: a case becomes a simulation, with the status and the messages of a failure; and the options of a case.

#include "api/handle.h"
#include "build/catalogue.h"
#include "core/option.h"
#include "percuss.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Messages, line by line with their places: "file:line:column: text".

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

bool pcs_api_may_evaluate(const percuss *p)
{
    return p != NULL && p->system != NULL && !p->is_stepping;
}

const char *percuss_version(void)
{
    return PERCUSS_VERSION;
}

percuss *pcs_api_create(void)
{
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return NULL;
    percuss *p = pcs_take(ctx, 1, sizeof *p, "the simulation");
    if (p == NULL) pcs_context_destroy(&ctx);
    else p->ctx = ctx;
    return p;
}

pcs_source pcs_api_source(const percuss_source *source)
{
    return (pcs_source){
        .path = source->path, .text = source->text, .nset = source->nset, .set = source->set, .own = source->system
    };
}

void pcs_api_take_model(percuss *p, pcs_system *system, int nprobe, const pcs_probe *probes)
{
    p->system = system;
    p->map = pcs_system_is_mesh(system) ? pcs_fe_dofmap(system) : NULL;
    p->nprobe = nprobe;
    p->probes = probes;
}

pcs_status pcs_api_take_sim(percuss *p)
{
    pcs_api_take_model(p, p->sim->system, p->sim->nprobe, p->sim->probes);
    p->rows = p->sim->report.rows;
    PCS_TAKE(p->ctx, p->mirror, 1, "the state");
    PCS_TAKE(p->ctx, p->mirror->q, p->system->nq, "the state");
    PCS_TAKE(p->ctx, p->mirror->v, p->system->nv, "the state");
    return PCS_OK;
}

int percuss_open(const percuss_source *source, percuss **out)
{
    percuss *p = *out = pcs_api_create();
    if (p == NULL) return 1;
    if (source == NULL || (source->path == NULL && source->text == NULL))
        return pcs_api_refuse(p, "neither a path nor a text of a case is given");
    pcs_source from = pcs_api_source(source);
    pcs_status status = pcs_build_sim_of(p->ctx, &from, &p->sim);
    if (status == PCS_OK) status = pcs_api_take_sim(p);
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
