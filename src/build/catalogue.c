// The sections of a case and the registries, with their option tables.

#include "build/catalogue.h"

#include "build/maps.h"
#include "build/sections.h"
#include "closed_form/closed_form.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct catalogue_writer {
    const pcs_catalogue *catalogue;
    const char *heading; // the last that was written; NULL: none
    int count;           // of entries
} catalogue_writer;

void pcs_catalogue_print(const pcs_catalogue *self, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->put(self->user, text);
}

bool pcs_catalogue_wants(const pcs_catalogue *self, const char *name)
{
    return self->name == NULL || strcmp(self->name, name) == 0;
}

// The text, broken at the width of the screen with `indent` blanks before every further line.
static void catalogue_put(const pcs_catalogue *self, int column, int indent, const char *text)
{
    int gap = 0; // blanks before the next word, none at the end of a line
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        bool is_full = self->width > 0 && column > indent && column + gap + length > self->width;
        if (is_full) pcs_catalogue_print(self, "\n%*s%.*s", indent, "", length, text);
        else pcs_catalogue_print(self, "%*s%.*s", gap, "", length, text);
        column = (is_full ? indent : column + gap) + length;
        text += length;
        gap = (int)strspn(text, " ");
        text += gap;
    }
    self->put(self->user, "\n");
}

// Is a part wanted, by its own name or by that of its section? `schemes` is as good as `scheme`.
static bool catalogue_wants(const pcs_catalogue *self, const pcs_catalogue_entry *entry)
{
    const char *section = entry->section == NULL ? entry->name : entry->section;
    if (pcs_catalogue_wants(self, entry->name)) return true;
    size_t length = strcspn(section, ".");
    if (strncmp(self->name, section, length) != 0) return false;
    return self->name[length] == '\0' || strcmp(self->name + length, "s") == 0;
}

static void catalogue_kind(const pcs_option *o, size_t size, char *text)
{
    static const char *const kinds[] = { "number",
                                         "whole number",
                                         "true or false",
                                         "",
                                         "[x, y, z]",
                                         "text",
                                         "[numbers]",
                                         "path",
                                         "[names]",
                                         "{ NAME: [x, y, z], ... }",
                                         "formula of t",
                                         "number or profile",
                                         "" };
    char range[64];
    if (o->kind == PCS_OPTION_CHOICE) {
        pcs_join_names(o->choices, " or ", size, text);
        return;
    }
    if (o->kind == PCS_OPTION_NODE) {
        snprintf(text, size, "%s", o->form->shown == NULL ? "map" : o->form->shown);
        return;
    }
    bool has_range = o->range.low != 0.0 || o->range.high != 0.0;
    if (has_range) pcs_range_text(o->range, sizeof range, range);
    bool is_shown = has_range && range[0] != '\0';
    snprintf(text, size, "%s%s%s", kinds[o->kind], is_shown ? " " : "", is_shown ? range : "");
}

// In columns, or on a narrow screen below one another.
static void catalogue_put_option(const pcs_catalogue *self, const pcs_option *o, const char *kind, const char *preset)
{
    char head[256];
    int column = snprintf(head, sizeof head, "      %-16s %-32s %-18s ", o->name, kind, preset);
    bool is_narrow = self->width > 0 && self->width < column + 24;
    if (!is_narrow) {
        self->put(self->user, head);
        catalogue_put(self, column, column, o->help);
        return;
    }
    column = snprintf(head, sizeof head, "      %-16s ", o->name);
    self->put(self->user, head);
    snprintf(head, sizeof head, "%s %s", kind, preset);
    catalogue_put(self, column, column, head);
    pcs_catalogue_print(self, "%*s", 12, "");
    catalogue_put(self, 12, 12, o->help);
}

static void catalogue_option(const pcs_catalogue *self, const pcs_option *o)
{
    char kind[160], preset[80];
    const char *value = o->preset == NULL ? "none" : o->preset;
    catalogue_kind(o, sizeof kind, kind);
    if (o->is_required) {
        snprintf(preset, sizeof preset, "required");
    } else if (self->is_markdown) {
        snprintf(preset, sizeof preset, "%s", o->preset == NULL ? "" : value);
    } else {
        snprintf(preset, sizeof preset, "[%s]", value);
    }
    if (self->is_markdown) {
        pcs_catalogue_print(self, "| `%s` | %s | %s | %s |\n", o->name, kind, preset, o->help);
        return;
    }
    catalogue_put_option(self, o, kind, preset);
}

// A heading comes with the first of its entries that is wanted.
static void catalogue_write_entry(void *user, const pcs_catalogue_entry *entry)
{
    catalogue_writer *w = user;
    const pcs_catalogue *self = w->catalogue;
    bool has_options = entry->options != NULL && entry->options->name != NULL;
    if (!catalogue_wants(self, entry)) return;
    if (w->heading == NULL || strcmp(w->heading, entry->heading) != 0)
        pcs_catalogue_print(self, self->is_markdown ? "\n## %s\n" : "\n%s\n", entry->heading);
    w->heading = entry->heading;
    w->count++;
    pcs_catalogue_print(self, self->is_markdown ? "\n### `%s`\n\n" : "  %-20s ", entry->name);
    catalogue_put(self, self->is_markdown ? 0 : 23, self->is_markdown ? 0 : 23, entry->summary);
    if (has_options && self->is_markdown)
        self->put(self->user, "\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for (const pcs_option *o = entry->options; o != NULL && o->name != NULL; o++) catalogue_option(self, o);
    for (const pcs_option *o = entry->more; o != NULL && o->name != NULL; o++) catalogue_option(self, o);
}

int pcs_catalogue_write(const pcs_catalogue *self)
{
    catalogue_writer w = { .catalogue = self };
    (void)pcs_catalogue_walk(catalogue_write_entry, &w); // out of memory: what there was is shown
    return w.count;
}

static const char *const key_heading = "Keys of a case";

typedef struct catalogue_walker {
    pcs_catalogue_visit *visit;
    void *user;
} catalogue_walker;

// A map with keys of its own, under its path; the names and lists around it say nothing more.
static void catalogue_visit_map(void *user, const char *path, const char *help, const pcs_map *map)
{
    const catalogue_walker *w = user;
    const pcs_catalogue_entry entry = { key_heading, NULL, path, help, map->options, NULL };
    if (path[0] != '\0' && map->entry == NULL) w->visit(w->user, &entry);
}

static void catalogue_walk_keys(pcs_context *ctx, catalogue_walker *w)
{
    const pcs_catalogue_entry common[] = {
        { key_heading, NULL, "include",
          "a file, or a list of files, whose keys are merged into this map; keys given here win", NULL, NULL },
        { key_heading, NULL, "repeat",
          "in an entry of a list or map: it stands for numbered copies, of all of it or of `each`; ${i}: number",
          pcs_repeat_options, NULL },
    };
    for (const pcs_option *o = pcs_case_map.options; o->name != NULL; o++) {
        char text[512];
        snprintf(text, sizeof text, "%s: %s", o->form->shown, o->help);
        if (o->form->map == NULL)
            w->visit(w->user, &(pcs_catalogue_entry){ key_heading, NULL, o->name, text, NULL, NULL });
    }
    for (int i = 0; i < 2; i++) w->visit(w->user, &common[i]);
    pcs_maps_walk(ctx, catalogue_visit_map, w);
}

pcs_status pcs_catalogue_walk(pcs_catalogue_visit *visit, void *user)
{
    pcs_context *ctx = NULL;
    PCS_TRY(pcs_context_create(&ctx)); // options of systems take memory, which is given back at once
    catalogue_walk_keys(ctx, &(catalogue_walker){ visit, user });
    for (const pcs_registry *r = pcs_registries; r->title != NULL; r++) {
        pcs_map_part p;
        for (int i = 0; r->parts(ctx, i, &p); i++)
            visit(user, &(pcs_catalogue_entry){ r->title, r->section, p.name, p.summary, p.options, p.more });
    }
    pcs_status status = pcs_message(ctx)[0] == '\0' ? PCS_OK : PCS_NO_MEMORY;
    pcs_context_destroy(&ctx);
    return status;
}

pcs_status pcs_catalogue_write_plugin(pcs_context *ctx, const pcs_catalogue *self, const char *path)
{
    catalogue_writer w = { .catalogue = self };
    const percuss_system_definition *definition = NULL;
    pcs_option *options = NULL;
    PCS_TRY(pcs_system_open(ctx, path, &definition));
    PCS_TRY(pcs_closed_form_options(ctx, definition, &options));
    catalogue_write_entry(&w, &(pcs_catalogue_entry){ "A system of your own (system.plugin)", "system",
                                                      definition->name, definition->summary, options, NULL });
    return PCS_OK;
}

void pcs_catalogue_names(void (*take)(void *user, const char *name, const char *summary), void *user)
{
    static const char *const others[] = { "include", "repeat", "section" };
    for (const pcs_option *o = pcs_case_map.options; o->name != NULL; o++) take(user, o->name, "a section of the case");
    for (int i = 0; i < 3; i++) take(user, others[i], i < 2 ? "of any map" : "cross sections of beams");
    for (const pcs_registry *r = pcs_registries; r->title != NULL; r++) {
        pcs_map_part part;
        for (int i = 0; r->parts(NULL, i, &part); i++) take(user, part.name, part.summary);
    }
}

enum { CATALOGUE_MOST = 256 };

typedef struct catalogue_list {
    int count;
    const char *names[CATALOGUE_MOST + 1];
} catalogue_list;

static void catalogue_collect(void *user, const char *name, const char *summary)
{
    catalogue_list *list = user;
    (void)summary;
    if (list->count < CATALOGUE_MOST) list->names[list->count++] = name;
}

const char *pcs_catalogue_hint(const char *name, size_t size, char *buffer)
{
    catalogue_list list = { 0 };
    pcs_catalogue_names(catalogue_collect, &list);
    return pcs_spelling_hint(name, list.names, size, buffer);
}
