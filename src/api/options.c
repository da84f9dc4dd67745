// Everything that a case can be made of, for front ends: the option tables, part by part.

#include "build/catalogue.h"
#include "core/option.h"
#include "percuss.h"

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
        [PCS_OPTION_NODE] = "other",
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
