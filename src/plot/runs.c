#include "plot/runs.h"
#include "case/case.h"
#include "core/text.h"
#include "plot/source.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 3, LEAVES = 4096, PATH_ROOM = 512, TEXT_ROOM = 64, LABEL_ROOM = 512 };

// A value of a case with the way to it: scheme.rho_inf.
typedef struct leaf {
    const char *path, *text;
} leaf;

typedef struct leaves {
    pcs_context *ctx;
    int count;
    leaf items[LEAVES]; // [count]; what has no room is left out
} leaves;

static bool leaves_is_flat(const pcs_yaml *node)
{
    for (int i = 0; i < pcs_yaml_count(node); i++)
        if (pcs_yaml_get_kind(pcs_yaml_item(node, i)) != PCS_YAML_SCALAR) return false;
    return true;
}

static pcs_status leaves_add(leaves *l, const char *path, const char *text)
{
    if (l->count == LEAVES) return PCS_OK;
    leaf item = { pcs_take_text(l->ctx, path), pcs_take_text(l->ctx, text) };
    if (item.path == NULL || item.text == NULL) return PCS_NO_MEMORY;
    l->items[l->count++] = item;
    return PCS_OK;
}

// A list of scalars is one value: [1, 0, 0].
static pcs_status leaves_add_list(leaves *l, const char *path, const pcs_yaml *list)
{
    char text[TEXT_ROOM] = "[";
    for (int i = 0; i < pcs_yaml_count(list); i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? "" : ", ", pcs_yaml_text(pcs_yaml_item(list, i)));
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "]");
    return leaves_add(l, path, text);
}

// Cases nest 64 deep at most.
static pcs_status leaves_walk(leaves *l, const char *path, const pcs_yaml *node)
{
    pcs_yaml_kind kind = pcs_yaml_get_kind(node);
    if (kind == PCS_YAML_SCALAR) return leaves_add(l, path, pcs_yaml_text(node));
    if (kind == PCS_YAML_LIST && leaves_is_flat(node)) return leaves_add_list(l, path, node);
    for (int i = 0; i < pcs_yaml_count(node); i++) {
        char below[PATH_ROOM], number[16];
        snprintf(number, sizeof number, "%d", i);
        snprintf(below, sizeof below, "%s%s%s", path, *path == '\0' ? "" : ".",
                 kind == PCS_YAML_MAP ? pcs_yaml_key(node, i) : number);
        // What is written and what the case is called make no other motion.
        if (strcmp(below, "output") == 0 || strcmp(below, "title") == 0) continue;
        PCS_TRY(leaves_walk(l, below, pcs_yaml_item(node, i)));
    }
    return PCS_OK;
}

static const char *leaves_find(const leaves *l, const char *path)
{
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->items[i].path, path) == 0) return l->items[i].text;
    return NULL;
}

// Does the value of that path differ, among cases that all have it?
static bool leaves_differ(leaves *const *all, int nrun, const char *path)
{
    const char *first = leaves_find(all[0], path);
    bool differs = false;
    for (int r = 1; r < nrun; r++) {
        const char *other = leaves_find(all[r], path);
        if (other == NULL) return false;
        differs = differs || strcmp(first, other) != 0;
    }
    return differs;
}

const char *pcs_runs_short_key(const char *const *paths, int npath, int which)
{
    const char *dot = strrchr(paths[which], '.'), *last = dot == NULL ? paths[which] : dot + 1;
    for (int i = 0; i < npath; i++) {
        const char *other = strrchr(paths[i], '.');
        other = other == NULL ? paths[i] : other + 1;
        if (i != which && strcmp(other, last) == 0) return paths[which];
    }
    return last;
}

void pcs_runs_add_value(const char *key, const char *text, size_t room, char *label)
{
    char value[TEXT_ROOM];
    const char *end;
    size_t used = strlen(label);
    double number = pcs_text_number(text, &end);
    if (*text != '\0' && *end == '\0') snprintf(value, sizeof value, "%.9g", number);
    else snprintf(value, sizeof value, "%.40s", text);
    // The type of a part says what it is.
    const char *dot = strrchr(key, '.');
    if (strcmp(dot == NULL ? key : dot + 1, "type") == 0)
        snprintf(label + used, room - used, "%s%s", used == 0 ? "" : ", ", value);
    else snprintf(label + used, room - used, "%s%s = %s", used == 0 ? "" : ", ", key, value);
}

static pcs_status runs_load(pcs_context *ctx, const pcs_plot_run *run, leaves *out)
{
    pcs_case *c;
    char *path = pcs_source_join(ctx, run->folder, "case.resolved.yaml");
    if (path == NULL) return PCS_NO_MEMORY;
    out->ctx = ctx;
    if (!pcs_source_is_file(path)) return PCS_OK;
    pcs_status status = pcs_case_load(ctx, path, &c);
    if (status == PCS_NO_MEMORY) return status;
    return status == PCS_OK ? leaves_walk(out, "", pcs_case_root(c)) : PCS_OK; // no case, no differences
}

// Labels by differences; false: there are none, or too many, or they do not tell all runs apart.
static bool runs_tell_apart(pcs_context *ctx, leaves *const *all, int nrun, pcs_plot_run *runs)
{
    const char *paths[MOST_KEYS];
    int npath = 0;
    for (int i = 0; i < all[0]->count; i++) {
        if (!leaves_differ(all, nrun, all[0]->items[i].path)) continue;
        if (npath == MOST_KEYS) return false;
        paths[npath++] = all[0]->items[i].path;
    }
    for (int r = 0; r < nrun; r++) {
        char label[LABEL_ROOM] = "";
        for (int k = 0; k < npath; k++)
            pcs_runs_add_value(pcs_runs_short_key(paths, npath, k), leaves_find(all[r], paths[k]), sizeof label, label);
        runs[r].label = pcs_take_text(ctx, label);
        for (int other = 0; other < r; other++)
            if (runs[r].label == NULL || strcmp(runs[other].label, label) == 0) return false;
    }
    return npath > 0;
}

// The folder's own name, or that of a file that was named itself.
static pcs_status runs_name(pcs_context *ctx, pcs_plot_run *run)
{
    char *name = pcs_take_text(ctx, run->path);
    if (name == NULL) return PCS_NO_MEMORY;
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/') name[--length] = '\0';
    const char *slash = strrchr(name, '/');
    run->label = slash == NULL || slash[1] == '\0' ? name : slash + 1;
    return PCS_OK;
}

pcs_status pcs_runs_label(pcs_context *ctx, int nrun, pcs_plot_run *runs)
{
    leaves **all;
    for (int r = 0; r < nrun; r++) PCS_TRY(runs_name(ctx, &runs[r]));
    if (nrun == 1) return PCS_OK;
    PCS_TAKE(ctx, all, nrun, "cases of results");
    for (int r = 0; r < nrun; r++) {
        PCS_TAKE(ctx, all[r], 1, "cases of results");
        PCS_TRY(runs_load(ctx, &runs[r], all[r]));
    }
    if (runs_tell_apart(ctx, all, nrun, runs)) return PCS_OK;
    for (int r = 0; r < nrun; r++) PCS_TRY(runs_name(ctx, &runs[r]));
    return PCS_OK;
}
