// Reads summary.json, which is YAML, too.

#include "study/measure.h"
#include "case/json.h"
#include "core/expression.h"
#include "core/text.h"
#include "plot/source.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096, TEXT_ROOM = 1024, MOST_VARIABLES = 16, DEEPEST = 8 };

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
        const char *name = is_map ? pcs_yaml_key(node, i) : pcs_json_string(item, "name");
        if (name[0] != '\0' && strlen(name) == length && strncmp(name, step, length) == 0) return item;
    }
    char *end = NULL;
    long number = is_map || !isdigit((unsigned char)*step) ? -1 : strtol(step, &end, 10);
    bool is_item = number >= 0 && end == step + length && number < pcs_yaml_count(node);
    return is_item ? pcs_yaml_item(node, (int)number) : NULL;
}

// Length of the first name of a place: those of items may have points in them, as tip.x has.
static size_t measure_name(const pcs_yaml *node, const char *place)
{
    size_t longest = strcspn(place, ".");
    if (pcs_yaml_get_kind(node) != PCS_YAML_LIST) return longest;
    for (int i = 0; i < pcs_yaml_count(node); i++) {
        size_t length = measure_begins(place, pcs_json_string(pcs_yaml_item(node, i), "name"));
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
    static const char *const lists[] = { "contacts", "joints", "supports", "probes", NULL };
    const pcs_yaml *found = measure_walk(root, place);
    for (int i = 0; lists[i] != NULL && found == NULL; i++) {
        const pcs_yaml *list = pcs_json_at(root, lists[i]);
        if (list != NULL && pcs_yaml_get_kind(list) != PCS_YAML_SCALAR) found = measure_walk(list, place);
    }
    return found;
}

// NAN for null.
static pcs_status measure_value(const pcs_measure_source *s, const char *place, const pcs_yaml *node, double *out)
{
    const char *end, *text = pcs_yaml_get_kind(node) == PCS_YAML_SCALAR ? pcs_yaml_text(node) : "";
    *out = NAN;
    if (strcmp(text, "null") == 0) return PCS_OK;
    *out = strcmp(text, "true") == 0 ? 1.0 : 0.0;
    if (*out == 1.0 || strcmp(text, "false") == 0) return PCS_OK;
    *out = pcs_text_number(text, &end);
    if (end != text && *end == '\0') return PCS_OK;
    return pcs_fail(s->ctx, PCS_BAD_INPUT, "'%s' of %s/summary.json is no number", place, s->folder);
}

// Times among the numbers of a summary, which are those of steps: how many of them make up the one of this name.
static double measure_count_times(const pcs_measure_source *s, const char *place)
{
    char count[TEXT_ROOM];
    const char *dot = strrchr(place, '.'), *name = dot == NULL ? place : dot + 1;
    size_t length = strlen(name);
    bool is_of_interval = strstr(place, "intervals.") != NULL;
    if (is_of_interval && strcmp(name, "duration") == 0) return 2.0;
    if (is_of_interval && (strcmp(name, "start") == 0 || strcmp(name, "end") == 0)) return 1.0;
    if (strcmp(name, "time_in_contact") != 0) {
        bool is_time = length > 5 && strcmp(name + length - 5, "_time") == 0;
        return is_time && strcmp(place, "open_time") != 0 ? 1.0 : 0.0;
    }
    snprintf(count, sizeof count, "%.*sinterval_count", (int)(name - place), place);
    const pcs_yaml *node = measure_find(s->summary, count);
    const char *end;
    return node == NULL ? 2.0 : 2.0 * pcs_text_number(pcs_yaml_text(node), &end);
}

// What a place holds.
static pcs_status measure_read(const pcs_measure_source *s, const char *place, const pcs_yaml *node, pcs_measured *out)
{
    const pcs_yaml *time = pcs_json_at(s->summary, "time");
    double step = time == NULL ? NAN : pcs_json_number(time, "step");
    out->grain = isfinite(step) ? step * measure_count_times(s, place) : 0.0;
    return measure_value(s, place, node, &out->value);
}

bool pcs_summary_is_finished(pcs_context *ctx, const char *folder)
{
    char path[PATH_ROOM];
    const pcs_yaml *root = NULL;
    snprintf(path, sizeof path, "%s/summary.json", folder);
    if (!pcs_source_is_file(path) || pcs_json_load(ctx, path, &root) != PCS_OK) return false;
    return strcmp(pcs_json_string(root, "ending"), "finished") == 0;
}

static pcs_status measure_fail(const pcs_measure_source *s, const char *place)
{
    return pcs_fail(s->ctx, PCS_BAD_INPUT, "%s/summary.json has no '%s'", s->folder, place);
}

// A formula in which variables stand for places and calls.
typedef struct plain {
    char text[TEXT_ROOM];
    size_t used;
    int count;
    double values[MOST_VARIABLES]; // [count]
    double grains[MOST_VARIABLES]; // [count]
} plain;

static pcs_status measure_put(const pcs_measure_source *s, plain *out, const char *text, size_t length)
{
    if (out->used + length >= sizeof out->text)
        return pcs_fail(s->ctx, PCS_BAD_INPUT, "it is longer than %d characters", TEXT_ROOM);
    memcpy(out->text + out->used, text, length);
    out->used += length;
    out->text[out->used] = '\0';
    return PCS_OK;
}

static pcs_status measure_put_value(const pcs_measure_source *s, plain *out, pcs_measured value)
{
    char name[8];
    if (out->count == MOST_VARIABLES)
        return pcs_fail(s->ctx, PCS_BAD_INPUT, "it has more than %d places", MOST_VARIABLES);
    int length = snprintf(name, sizeof name, "v%d", out->count);
    out->grains[out->count] = value.grain;
    out->values[out->count++] = value.value;
    return measure_put(s, out, name, (size_t)length);
}

static pcs_status measure_formula(pcs_measure_source *s, const char *text, int depth, pcs_measured *out);

// The call at the start of the text; *length is 0 where there is none.
static pcs_status measure_call(pcs_measure_source *s, const char *text, int depth, size_t *length, pcs_measured *out)
{
    pcs_function_call call;
    pcs_measured number;
    *out = (pcs_measured){ .value = NAN };
    PCS_TRY(pcs_function_parse(s->ctx, text, &call, length));
    if (*length == 0) return PCS_OK;
    if (depth == DEEPEST) return pcs_fail(s->ctx, PCS_BAD_INPUT, "it is nested too deeply");
    for (int i = 0; i < call.count; i++)
        if (pcs_function_takes_number(&call, i)) {
            PCS_TRY(measure_formula(s, call.texts[i], depth + 1, &number));
            call.numbers[i] = number.value;
        }
    return pcs_function_value(s, &call, &out->value);
}

// A place, number, function or sign at the start of the text.
static pcs_status measure_token(const pcs_measure_source *s, const char *text, plain *out, size_t *length)
{
    char place[TEXT_ROOM];
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
    bool is_name = n > 0 && n < sizeof place && (isalpha((unsigned char)*text) || *text == '_');
    *length = n == 0 ? 1 : n;
    if (!is_name || text[n + strspn(text + n, " ")] == '(') return measure_put(s, out, text, *length);
    snprintf(place, sizeof place, "%.*s", (int)n, text);
    const pcs_yaml *node = measure_find(s->summary, place);
    if (node == NULL && strchr(place, '.') != NULL) return measure_fail(s, place);
    if (node == NULL) return measure_put(s, out, text, n); // a constant, or what the compiler will name
    pcs_measured value;
    PCS_TRY(measure_read(s, place, node, &value));
    return measure_put_value(s, out, value);
}

// A formula, and by how much it changes when every number in it does by its grain.
static pcs_measured measure_evaluate(const pcs_expression *program, const plain *formula)
{
    double shifted[MOST_VARIABLES];
    pcs_measured out = { .value = pcs_expression_value(program, formula->values) };
    memcpy(shifted, formula->values, sizeof shifted);
    for (int i = 0; i < formula->count; i++) {
        if (formula->grains[i] == 0.0) continue;
        shifted[i] = formula->values[i] + formula->grains[i];
        double change = fabs(pcs_expression_value(program, shifted) - out.value);
        out.grain += isfinite(change) ? change : 0.0;
        shifted[i] = formula->values[i];
    }
    return out;
}

static pcs_status measure_formula(pcs_measure_source *s, const char *text, int depth, pcs_measured *out)
{
    static const char *const variables[MOST_VARIABLES + 1] = { "v0", "v1", "v2",  "v3",  "v4",  "v5",  "v6",  "v7",
                                                               "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15" };
    plain formula = { .used = 0 };
    pcs_expression program;
    pcs_expression_fault fault;
    bool is_number = isdigit((unsigned char)*text); // and not an item of some list
    const pcs_yaml *node = is_number ? NULL : measure_find(s->summary, text);
    if (node != NULL) return measure_read(s, text, node, out); // names of contacts may have signs in them
    for (const char *p = text; *p != '\0';) {
        size_t length;
        pcs_measured value;
        PCS_TRY(measure_call(s, p, depth, &length, &value));
        if (length > 0) PCS_TRY(measure_put_value(s, &formula, value));
        else PCS_TRY(measure_token(s, p, &formula, &length));
        p += length;
    }
    if (!pcs_expression_compile(formula.text, formula.used, variables, &program, &fault))
        return fault.is_name ? measure_fail(s, text) : pcs_fail(s->ctx, PCS_BAD_INPUT, "%s", fault.what);
    *out = measure_evaluate(&program, &formula);
    return PCS_OK;
}

pcs_status pcs_measure_read(pcs_measure_source *s, pcs_measured *values)
{
    PCS_TRY(measure_load(s->ctx, s->folder, &s->summary));
    for (int i = 0; i < s->plan->nmeasure; i++) {
        const pcs_measure_request *request = &s->plan->measures[i];
        pcs_status status = measure_formula(s, request->place, 0, &values[i]);
        if (status != PCS_OK) return pcs_wrap(s->ctx, status, "measure '%s'", request->name);
    }
    return PCS_OK;
}

static pcs_status measure_add(pcs_plan *plan, const char *contact, const char *what)
{
    char place[PATH_ROOM];
    snprintf(place, sizeof place, "%s%s%s", contact, contact[0] == '\0' ? "" : ".", what);
    const char *kept = pcs_take_text(plan->ctx, place);
    return kept == NULL ? PCS_NO_MEMORY : pcs_plan_measure(plan, kept, kept, NULL);
}

pcs_status pcs_measure_usual(pcs_plan *plan, const char *folder)
{
    static const char *const of_contact[] = { "time_in_contact", "peak_force", "total_impulse" };
    static const char *const of_run[] = { "energy.final", "energy.impact_loss", "energy.numerical_loss" };
    const pcs_yaml *root = NULL;
    PCS_TRY(measure_load(plan->ctx, folder, &root));
    for (int i = 0; i < pcs_json_count(root, "contacts"); i++) {
        const char *name = pcs_json_string(pcs_yaml_item(pcs_json_at(root, "contacts"), i), "name");
        for (int k = 0; k < 3; k++) PCS_TRY(measure_add(plan, name, of_contact[k]));
    }
    for (int k = 0; k < 3; k++) PCS_TRY(measure_add(plan, "", of_run[k]));
    return PCS_OK;
}
