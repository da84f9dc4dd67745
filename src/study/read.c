// The study file:
//
//   case: ../cases/bar_impact            # relative to this file
//   set: { time.end: 1.0 }               # of all runs
//   vary:                                # the product of all entries
//     mesh.bar.elements: [25, 50, 100]
//     scheme.rho_inf: 0.5:1:0.1          # from : to : by
//   zip: { a.b: [1, 2], a.c: [3, 4] }    # lists that go together
//   points: [{ a.d: 1, a.e: 2 }, ...]    # places one by one
//   measure: { peak: wall.peak_force }   # or a list of places
//   refine: { mesh: [2, 3], step: [2, 3], separately: false } # factor, levels; together, or one by one
//   jobs: 4
//   keep: true

#include "study/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_ROOM = 1 << 16, PATH_ROOM = 4096 };

typedef struct refine_file {
    bool separately;
} refine_file;

static const pcs_option refine_options[] = {
    PCS_FLAG("separately", refine_file, separately, PCS_DEFAULT("false"),
             "mesh and step one by one, each with the other on its finest level"),
    { .name = NULL },
};

typedef struct study_file {
    int jobs;
    bool keep;
    const char *title;
} study_file;

static const pcs_option read_options[] = {
    PCS_COUNT("jobs", study_file, jobs, PCS_DEFAULT("0"), PCS_WITHIN(0, PCS_STUDY_JOBS),
              "runs at a time; 0: the processors"),
    PCS_FLAG("keep", study_file, keep, PCS_DEFAULT("false"), "histories and frames of all runs"),
    PCS_TEXT("title", study_file, title, PCS_OPTIONAL, "for the reader"),
    { .name = NULL },
};

const pcs_study_key pcs_study_keys[] = {
    { "study", "keys of a study file beside those below", read_options },
    { "case", "required: the case, from the folder of this file", NULL },
    { "set", "keys of the case and values for all runs: { time.end: 1.0 }", NULL },
    { "vary", "keys and lists of values, or from:to:by; all lists are combined", NULL },
    { "zip", "keys and lists of one length, whose values go together", NULL },
    { "points", "list of { key: value, ... }, a run each", NULL },
    { "measure", "names and places in summary.json, or formulas of them; or a list of these", NULL },
    { "refine", "`mesh` and `step`: [factor, levels]; measures get order, limit and bound", refine_options },
    { NULL, NULL, NULL },
};

// A text that is taken for something else than a plain scalar where it stands in a list; formulas are none.
static bool read_needs_quotes(const char *text)
{
    size_t length = strlen(text);
    bool has_blanks = length == 0 || text[0] == ' ' || text[length - 1] == ' ';
    return strstr(text, "${") == NULL && (has_blanks || strpbrk(text, ",:[]{}#&*!|>'\"%@`\n") != NULL);
}

static bool read_put(const char *text, size_t room, char *out, size_t *used)
{
    size_t length = strlen(text);
    if (*used + length >= room) return false;
    memcpy(out + *used, text, length + 1);
    *used += length;
    return true;
}

static bool read_scalar(const char *text, size_t room, char *out, size_t *used)
{
    if (!read_needs_quotes(text)) return read_put(text, room, out, used);
    bool fits = read_put("'", room, out, used);
    for (; fits && *text != '\0'; text++)
        fits = read_put((const char[]){ *text, '\0' }, room, out, used) &&
               (*text != '\'' || read_put("'", room, out, used));
    return fits && read_put("'", room, out, used);
}

// A node as YAML on one line; false when there is no room.
static bool read_flow(pcs_case *c, pcs_yaml *node, size_t room, char *out, size_t *used)
{
    pcs_yaml_kind kind = pcs_yaml_get_kind(node);
    bool is_map = kind == PCS_YAML_MAP, fits = true;
    if (kind == PCS_YAML_SCALAR) return read_scalar(pcs_yaml_text(node), room, out, used);
    fits = read_put(is_map ? "{" : "[", room, out, used);
    for (int i = 0; fits && i < pcs_yaml_count(node); i++) {
        if (i > 0) fits = read_put(", ", room, out, used);
        pcs_yaml *item = is_map ? pcs_case_get(c, node, pcs_yaml_key(node, i)) : pcs_yaml_item(node, i);
        if (fits && is_map)
            fits = read_scalar(pcs_yaml_key(node, i), room, out, used) && read_put(": ", room, out, used);
        fits = fits && read_flow(c, item, room, out, used);
    }
    return fits && read_put(is_map ? "}" : "]", room, out, used);
}

static const char *read_text(pcs_plan *plan, pcs_case *c, pcs_yaml *node)
{
    char text[TEXT_ROOM] = "";
    size_t used = 0;
    if (!read_flow(c, node, sizeof text, text, &used)) pcs_case_reject(c, node, "must be shorter than %d", TEXT_ROOM);
    return pcs_take_text(plan->ctx, text);
}

// The values of a key: a list, or "from:to:by".
static pcs_status read_values(pcs_plan *plan, pcs_case *c, const char *key, pcs_yaml *node, int *count,
                              const char ***out)
{
    *count = 0;
    if (pcs_yaml_get_kind(node) == PCS_YAML_SCALAR)
        return pcs_plan_values(plan->ctx, key, pcs_yaml_text(node), count, out);
    if (!pcs_case_is(c, node, PCS_YAML_LIST)) return PCS_OK;
    *count = pcs_yaml_count(node);
    if (*count == 0) pcs_case_reject(c, node, "must have values, is empty");
    PCS_TAKE(plan->ctx, *out, *count + 1, "a study");
    for (int i = 0; i < *count; i++) {
        (*out)[i] = read_text(plan, c, pcs_yaml_item(node, i));
        if ((*out)[i] == NULL) return PCS_NO_MEMORY;
    }
    return PCS_OK;
}

static pcs_status read_vary(pcs_plan *plan, pcs_case *c, pcs_yaml *map)
{
    for (int i = 0; i < pcs_yaml_count(map); i++) {
        const char **keys, **values = NULL;
        int count;
        PCS_TAKE(plan->ctx, keys, 1, "a study");
        keys[0] = pcs_yaml_key(map, i);
        pcs_yaml *node = pcs_case_get(c, map, keys[0]);
        PCS_TRY(read_values(plan, c, keys[0], node, &count, &values));
        if (count > 0) PCS_TRY(pcs_plan_add_axis(plan, 1, keys, count, values));
    }
    return PCS_OK;
}

static pcs_status read_zip(pcs_plan *plan, pcs_case *c, pcs_yaml *map)
{
    int nkey = pcs_yaml_count(map), count = 0;
    const char **keys, **all = NULL;
    PCS_TAKE(plan->ctx, keys, nkey + 1, "a study");
    for (int k = 0; k < nkey; k++) {
        const char **values = NULL;
        int n;
        keys[k] = pcs_yaml_key(map, k);
        pcs_yaml *node = pcs_case_get(c, map, keys[k]);
        PCS_TRY(read_values(plan, c, keys[k], node, &n, &values));
        if (k == 0) {
            count = n;
            PCS_TAKE(plan->ctx, all, nkey * count + 1, "a study");
        }
        if (n != count) pcs_case_reject(c, node, "must have %d values as the first list, has %d", count, n);
        if (n != count) return PCS_OK;
        for (int i = 0; i < count; i++) all[i * nkey + k] = values[i];
    }
    return count > 0 ? pcs_plan_add_axis(plan, nkey, keys, count, all) : PCS_OK;
}

// Every key that some point names; points without it leave it as the case has it.
static pcs_status read_point_keys(pcs_plan *plan, pcs_case *c, pcs_yaml *list, int *nkey, const char ***out)
{
    *nkey = 0;
    PCS_TAKE(plan->ctx, *out, PCS_STUDY_KEYS, "a study");
    for (int i = 0; i < pcs_yaml_count(list); i++) {
        pcs_yaml *point = pcs_yaml_item(list, i);
        if (!pcs_case_is(c, point, PCS_YAML_MAP)) return PCS_OK;
        for (int j = 0; j < pcs_yaml_count(point); j++) {
            int k = 0;
            while (k < *nkey && strcmp((*out)[k], pcs_yaml_key(point, j)) != 0) k++;
            if (k == PCS_STUDY_KEYS) return pcs_fail(plan->ctx, PCS_BAD_INPUT, "more than %d keys", PCS_STUDY_KEYS);
            (*out)[k] = pcs_yaml_key(point, j);
            if (k == *nkey) ++*nkey;
        }
    }
    return PCS_OK;
}

static pcs_status read_points(pcs_plan *plan, pcs_case *c, pcs_yaml *list)
{
    const char **keys, **all;
    int nkey, count = pcs_yaml_count(list);
    PCS_TRY(read_point_keys(plan, c, list, &nkey, &keys));
    PCS_TAKE(plan->ctx, all, nkey * count + 1, "a study");
    for (int i = 0; i < count; i++)
        for (int k = 0; k < nkey; k++) {
            if (pcs_yaml_get_kind(pcs_yaml_item(list, i)) != PCS_YAML_MAP) return PCS_OK;
            pcs_yaml *node = pcs_case_get(c, pcs_yaml_item(list, i), keys[k]);
            if (node == NULL) continue;
            all[i * nkey + k] = read_text(plan, c, node);
            if (all[i * nkey + k] == NULL) return PCS_NO_MEMORY;
        }
    return count > 0 && nkey > 0 ? pcs_plan_add_axis(plan, nkey, keys, count, all) : PCS_OK;
}

static pcs_status read_measures(pcs_plan *plan, pcs_case *c, pcs_yaml *node)
{
    bool is_map = pcs_yaml_get_kind(node) == PCS_YAML_MAP;
    if (!is_map && !pcs_case_is(c, node, PCS_YAML_LIST)) return PCS_OK;
    for (int i = 0; i < pcs_yaml_count(node); i++) {
        const char *key = is_map ? pcs_yaml_key(node, i) : NULL;
        const char *place = pcs_case_text(c, is_map ? pcs_case_get(c, node, key) : pcs_yaml_item(node, i));
        const char *name = key == NULL ? place : key;
        if (place != NULL) PCS_TRY(pcs_plan_measure(plan, name, place, pcs_case_folder(c)));
    }
    return PCS_OK;
}

// A whole number, also with a word behind it: `3 levels`.
static bool read_count(pcs_case *c, const pcs_yaml *node, const char *word, int *out)
{
    const char *text = pcs_yaml_get_kind(node) == PCS_YAML_SCALAR ? pcs_yaml_text(node) : "";
    char *end;
    long value = strtol(text, &end, 10);
    bool is_whole = end != text && (*end == '\0' || (*end == ' ' && strcmp(end + 1, word) == 0));
    *out = (int)value;
    if (!is_whole || value < 1 || value > 100) pcs_case_reject(c, node, "must be a whole number from 1 to 100");
    return is_whole && value >= 1 && value <= 100;
}

static pcs_status read_refine(pcs_plan *plan, pcs_case *c, pcs_yaml *map)
{
    static const char *const names[] = { "mesh", "step" };
    refine_file file;
    if (pcs_case_read(c, map, refine_options, &file)) plan->is_separate = file.separately;
    for (int i = 0; i < 2; i++) {
        pcs_yaml *list = pcs_case_get(c, map, names[i]);
        if (list == NULL) continue;
        if (!pcs_case_is(c, list, PCS_YAML_LIST) || pcs_yaml_count(list) != 2) {
            pcs_case_reject(c, list, "must be [factor, levels]");
            continue;
        }
        int factor, levels;
        bool is_fine = read_count(c, pcs_yaml_item(list, 0), "", &factor);
        is_fine = read_count(c, pcs_yaml_item(list, 1), "levels", &levels) && is_fine;
        if (is_fine) PCS_TRY(pcs_plan_refine(plan, names[i], factor, levels));
    }
    return PCS_OK;
}

static pcs_status read_set(pcs_plan *plan, pcs_case *c, pcs_yaml *map)
{
    PCS_TAKE(plan->ctx, plan->set, pcs_yaml_count(map) + 1, "a study");
    for (int i = 0; i < pcs_yaml_count(map); i++) {
        const char *key = pcs_yaml_key(map, i), *value = read_text(plan, c, pcs_case_get(c, map, key));
        if (value == NULL) return PCS_NO_MEMORY;
        plan->set[plan->nset] = pcs_plan_assignment(plan->ctx, key, value);
        if (plan->set[plan->nset++] == NULL) return PCS_NO_MEMORY;
    }
    return PCS_OK;
}

// Relative to the study file.
static pcs_status read_case_path(pcs_plan *plan, pcs_case *c, pcs_yaml *root)
{
    const char *path = pcs_case_text(c, pcs_case_get(c, root, "case"));
    char whole[PATH_ROOM];
    struct stat entry;
    if (path == NULL) return PCS_OK;
    snprintf(whole, sizeof whole, "%s%s%s", path[0] == '/' ? "" : pcs_case_folder(c), path[0] == '/' ? "" : "/", path);
    plan->case_path = pcs_take_text(plan->ctx, whole);
    if (plan->case_path == NULL) return PCS_NO_MEMORY;
    if (stat(whole, &entry) != 0) pcs_case_reject(c, pcs_case_get(c, root, "case"), "must be a case, is '%s'", path);
    return PCS_OK;
}

pcs_status pcs_study_read(pcs_plan *plan, const char *path, bool *is_study)
{
    static const struct {
        const char *key;
        pcs_yaml_kind kind;
        pcs_status (*read)(pcs_plan *plan, pcs_case *c, pcs_yaml *node);
    } sections[] = { { "set", PCS_YAML_MAP, read_set },
                     { "vary", PCS_YAML_MAP, read_vary },
                     { "zip", PCS_YAML_MAP, read_zip },
                     { "points", PCS_YAML_LIST, read_points },
                     { "refine", PCS_YAML_MAP, read_refine } };
    pcs_case *c = NULL;
    study_file file;
    PCS_TRY(pcs_case_load(plan->ctx, path, &c));
    pcs_yaml *root = pcs_case_root(c);
    if (root == NULL) return pcs_case_finish(c);
    *is_study = pcs_case_get(c, root, "case") != NULL;
    if (!*is_study) return PCS_OK;
    PCS_TRY(read_case_path(plan, c, root));
    if (pcs_case_read(c, root, read_options, &file)) {
        plan->jobs = file.jobs;
        plan->keeps_output = plan->keeps_output || file.keep;
    }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        pcs_yaml *node = pcs_case_get(c, root, sections[i].key);
        if (node != NULL && pcs_case_is(c, node, sections[i].kind)) PCS_TRY(sections[i].read(plan, c, node));
    }
    pcs_yaml *measures = pcs_case_get(c, root, "measure");
    if (measures != NULL) PCS_TRY(read_measures(plan, c, measures));
    return pcs_case_finish(c);
}
