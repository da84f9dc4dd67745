// Reads summary.json, which is YAML, too.

#include "study/measure.h"
#include "case/json.h"
#include "core/expression.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

static pcs_status measure_load(pcs_context *ctx, const char *folder, const pcs_yaml **root)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/summary.json", folder);
    return pcs_json_load(ctx, path, root);
}

// Does a place begin with this name? Gives its length, or 0.
static size_t measure_begins(const char *place, const char *name)
{
    size_t length = strlen(name);
    bool is_whole = strncmp(place, name, length) == 0 && (place[length] == '\0' || place[length] == '.');
    return is_whole ? length : 0;
}

// The child of a map by its key, or of a list by its name or number.
static pcs_yaml *measure_child(const pcs_yaml *node, const char *step, size_t length)
{
    bool is_map = pcs_yaml_get_kind(node) == PCS_YAML_MAP;
    for (int i = 0; i < pcs_yaml_count(node); i++) {
        pcs_yaml *item = pcs_yaml_item(node, i);
        const char *name = is_map ? pcs_yaml_key(node, i) : NULL;
        char number[16];
        if (!is_map && pcs_yaml_get_kind(item) == PCS_YAML_MAP) {
            const pcs_yaml *title = measure_child(item, "name", 4);
            if (title != NULL && pcs_yaml_get_kind(title) == PCS_YAML_SCALAR) name = pcs_yaml_text(title);
        }
        if (name != NULL && strlen(name) == length && strncmp(name, step, length) == 0) return item;
        snprintf(number, sizeof number, "%d", i);
        if (!is_map && strlen(number) == length && strncmp(number, step, length) == 0) return item;
    }
    return NULL;
}

// Length of the first name of a place: those of items may have points in them, as tip.x has.
static size_t measure_name(const pcs_yaml *node, const char *place)
{
    size_t longest = strcspn(place, ".");
    if (pcs_yaml_get_kind(node) != PCS_YAML_LIST) return longest;
    for (int i = 0; i < pcs_yaml_count(node); i++) {
        const pcs_yaml *item = pcs_yaml_item(node, i), *title = NULL;
        if (pcs_yaml_get_kind(item) == PCS_YAML_MAP) title = measure_child(item, "name", 4);
        if (title == NULL || pcs_yaml_get_kind(title) != PCS_YAML_SCALAR) continue;
        size_t length = measure_begins(place, pcs_yaml_text(title));
        if (length > longest) longest = length;
    }
    return longest;
}

static const pcs_yaml *measure_walk(const pcs_yaml *at, const char *place)
{
    while (at != NULL && pcs_yaml_get_kind(at) != PCS_YAML_SCALAR) {
        size_t length = measure_name(at, place);
        at = measure_child(at, place, length);
        if (place[length] == '\0') return at;
        place += length + 1;
    }
    return NULL;
}

// The first of the lists whose items need no name of their list before them.
static const pcs_yaml *measure_find(const pcs_yaml *root, const char *place)
{
    static const char *const lists[] = { "contacts", "joints", "reactions", "probes", NULL };
    const pcs_yaml *found = measure_walk(root, place);
    for (int i = 0; lists[i] != NULL && found == NULL; i++) {
        const pcs_yaml *list = measure_child(root, lists[i], strlen(lists[i]));
        if (list != NULL && pcs_yaml_get_kind(list) != PCS_YAML_SCALAR) found = measure_walk(list, place);
    }
    return found;
}

static double measure_value(const pcs_yaml *node)
{
    const char *end, *text = pcs_yaml_get_kind(node) == PCS_YAML_SCALAR ? pcs_yaml_text(node) : "";
    if (strcmp(text, "true") == 0) return 1.0;
    if (strcmp(text, "false") == 0) return 0.0;
    double value = pcs_text_number(text, &end);
    return end != text && *end == '\0' ? value : NAN;
}

bool pcs_summary_is_finished(pcs_context *ctx, const char *folder)
{
    char path[PATH_ROOM];
    const pcs_yaml *root = NULL;
    snprintf(path, sizeof path, "%s/summary.json", folder);
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    fclose(file);
    if (measure_load(ctx, folder, &root) != PCS_OK || root == NULL) return false;
    const pcs_yaml *ending = measure_child(root, "ending", strlen("ending"));
    return ending != NULL && pcs_yaml_get_kind(ending) == PCS_YAML_SCALAR &&
           strcmp(pcs_yaml_text(ending), "finished") == 0;
}

static pcs_status measure_fail(pcs_context *ctx, const pcs_measure_request *request, const char *folder,
                               const char *what)
{
    return pcs_fail(ctx, PCS_BAD_INPUT, "measure '%s': %s/summary.json has no '%s'", request->name, folder, what);
}

// A formula of places: each of them becomes a variable v0, v1, ...
static pcs_status measure_formula(pcs_context *ctx, const pcs_yaml *root, const char *folder,
                                  const pcs_measure_request *request, double *out)
{
    static const char *const variables[] = { "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", NULL };
    char text[512] = "", place[256];
    double values[8];
    int count = 0;
    pcs_expression formula;
    pcs_expression_fault fault;
    for (const char *p = request->place; *p != '\0';) {
        size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
        bool is_name = length > 0 && length < sizeof place && (isalpha((unsigned char)*p) || *p == '_');
        if (length == 0) length = 1;
        snprintf(place, sizeof place, "%.*s", (int)length, p);
        const pcs_yaml *node = is_name && p[length] != '(' ? measure_find(root, place) : NULL;
        if (is_name && node == NULL && strchr(place, '.') != NULL) return measure_fail(ctx, request, folder, place);
        if (node != NULL && count == 8) return pcs_fail(ctx, PCS_BAD_INPUT, "measure '%s': too long", request->name);
        if (node != NULL) values[count] = measure_value(node);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s", node != NULL ? variables[count++] : place);
        p += length;
    }
    if (!pcs_expression_compile(text, strlen(text), variables, &formula, &fault))
        return count == 0 ? measure_fail(ctx, request, folder, request->place)
                          : pcs_fail(ctx, PCS_BAD_INPUT, "measure '%s': %s", request->name, fault.what);
    *out = pcs_expression_value(&formula, values);
    return PCS_OK;
}

pcs_status pcs_measure_read(pcs_context *ctx, const char *folder, int count, const pcs_measure_request *requests,
                            double *values)
{
    const pcs_yaml *root = NULL;
    PCS_TRY(measure_load(ctx, folder, &root));
    for (int i = 0; i < count; i++) {
        const pcs_yaml *node = measure_find(root, requests[i].place);
        if (node != NULL) values[i] = measure_value(node);
        else PCS_TRY(measure_formula(ctx, root, folder, &requests[i], &values[i]));
    }
    return PCS_OK;
}

static pcs_status measure_add(pcs_plan *plan, const char *contact, const char *what)
{
    char place[PATH_ROOM];
    snprintf(place, sizeof place, "%s%s%s", contact, contact[0] == '\0' ? "" : ".", what);
    const char *kept = pcs_take_text(plan->ctx, place);
    return kept == NULL ? PCS_NO_MEMORY : pcs_plan_measure(plan, kept, kept);
}

pcs_status pcs_measure_usual(pcs_plan *plan, const char *folder)
{
    static const char *const of_contact[] = { "time_in_contact", "peak_force", "total_impulse" };
    static const char *const of_run[] = { "energy.final", "energy.impact_loss", "energy.numerical_loss" };
    const pcs_yaml *root = NULL;
    PCS_TRY(measure_load(plan->ctx, folder, &root));
    const pcs_yaml *contacts = measure_child(root, "contacts", strlen("contacts"));
    for (int i = 0; contacts != NULL && i < pcs_yaml_count(contacts); i++) {
        const pcs_yaml *name = measure_child(pcs_yaml_item(contacts, i), "name", 4);
        for (int k = 0; k < 3; k++) PCS_TRY(measure_add(plan, pcs_yaml_text(name), of_contact[k]));
    }
    for (int k = 0; k < 3; k++) PCS_TRY(measure_add(plan, "", of_run[k]));
    return PCS_OK;
}
