// Formulas ${...} in texts, and the parameters that they use, in any order. A text that is one formula becomes a
// number, with the shortest digits that read back to the same bits; within a longer text the digits take the place of
// the formula. $${ stands for ${ itself.

#include "case/expand.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 4096 };

// The text that is being written.
typedef struct expand_text {
    size_t used;
    char bytes[TEXT_BYTES];
} expand_text;

const char pcs_copy_name[] = "i";

bool pcs_expand_has_formula(const char *text)
{
    return strstr(text, "${") != NULL;
}

static bool expand_put(expand_text *out, const char *bytes, size_t length)
{
    if (length >= sizeof out->bytes - out->used) return false;
    memcpy(out->bytes + out->used, bytes, length);
    out->used += length;
    out->bytes[out->used] = '\0';
    return true;
}

int pcs_parameters_copy(pcs_expansion *x, int number)
{
    int before = x->names[x->nparameter] == NULL ? 0 : (int)x->values[x->nparameter];
    x->names[x->nparameter] = number == 0 ? NULL : pcs_copy_name;
    x->values[x->nparameter] = number;
    return before;
}

static void parameters_circle(pcs_expansion *x, int k)
{
    char text[512];
    size_t used = 0;
    int first = 0;
    while (x->open[first] != k) first++;
    for (int i = first; i <= x->nopen && used < sizeof text; i++) {
        const char *name = x->names[i == x->nopen ? k : x->open[i]];
        int length = snprintf(text + used, sizeof text - used, "%s%s", i == first ? "" : " -> ", name);
        used += length < 0 ? 0 : (size_t)length;
    }
    pcs_case_error(x->c, x->nodes[k], "parameters.%s depends on itself: %s", x->names[k], text);
}

static bool parameters_evaluate(pcs_expansion *x, int k)
{
    pcs_yaml *node = x->nodes[k];
    int copy = pcs_parameters_copy(x, 0);
    bool is_fine = node->kind == PCS_YAML_SCALAR && pcs_expand_scalar(x, node);
    pcs_parameters_copy(x, copy);
    if (node->kind == PCS_YAML_SCALAR && !is_fine) return false;
    bool is_number = is_fine && !node->is_quoted && pcs_scalar_number(node->text, &x->values[k]) == PCS_NUMBER_FINE;
    if (is_number) return true;
    char quote[PCS_QUOTE_BYTES];
    pcs_case_error(x->c, node, "parameters.%s must be a number or a formula ${...}, is %s", x->names[k],
                   pcs_tree_quote(node, sizeof quote, quote));
    return false;
}

bool pcs_parameters_need(pcs_expansion *x, const pcs_yaml *user, int k)
{
    if (k == x->nparameter) return true; // the number of the copy
    x->is_used[k] = true;
    if (x->states[k] == PCS_PARAMETER_OPEN) {
        parameters_circle(x, k);
        return false;
    }
    if (x->states[k] != PCS_PARAMETER_UNSEEN) return x->states[k] == PCS_PARAMETER_KNOWN;
    if (x->nopen == PCS_PARAMETER_NESTING) {
        pcs_case_error(x->c, user, "parameters hang on one another more than %d deep", PCS_PARAMETER_NESTING);
        return false;
    }
    x->open[x->nopen++] = k;
    x->states[k] = PCS_PARAMETER_OPEN;
    bool is_fine = parameters_evaluate(x, k);
    x->states[k] = is_fine ? PCS_PARAMETER_KNOWN : PCS_PARAMETER_WRONG;
    x->nopen--;
    return is_fine;
}

// The value of the formula in bytes [from, from + length) of the text.
static bool expand_evaluate(pcs_expansion *x, pcs_yaml *node, size_t from, size_t length, double *value)
{
    pcs_expression e;
    if (!pcs_formula_compile(x->c, node, from, length, x->names, &e)) return false;
    bool is_known = true;
    for (int i = 0; i < e.count; i++)
        if (e.ops[i].code == PCS_OP_VARIABLE) is_known = pcs_parameters_need(x, node, e.ops[i].variable) && is_known;
    if (!is_known) return false; // the parameter has been told
    *value = pcs_expression_value(&e, x->values);
    if (isfinite(*value)) return true;
    char path[PCS_PATH_BYTES];
    pcs_tree_error(x->c, pcs_formula_location(node, from), "%s: '%.*s' must be a finite number, is %g",
                   pcs_tree_path(node, sizeof path, path), length < 80 ? (int)length : 80, node->text + from, *value);
    return false;
}

static bool expand_is_formula_of_time(const pcs_yaml *node)
{
    const pcs_yaml *map = node->parent;
    if (map == NULL || map->kind != PCS_YAML_MAP || node->index >= map->count) return false;
    return strcmp(map->keys[node->index].name, "expression") == 0;
}

// One ${...} at *p, put into the text; *p goes on behind it.
static bool expand_formula(pcs_expansion *x, pcs_yaml *node, const char **p, expand_text *out)
{
    const char *start = *p + 2, *end = strchr(start, '}');
    double value;
    char number[PCS_NUMBER_BYTES], path[PCS_PATH_BYTES];
    if (end == NULL) {
        pcs_tree_error(x->c, pcs_formula_location(node, (size_t)(*p - node->text)),
                       "%s: no '}' closes '${'; a text with these signs is written $${",
                       pcs_tree_path(node, sizeof path, path));
        return false;
    }
    if (!expand_evaluate(x, node, (size_t)(start - node->text), (size_t)(end - start), &value)) return false;
    pcs_scalar_text(value, number);
    *p = end + 1;
    bool needs_brackets = value < 0.0 && expand_is_formula_of_time(node); // -1^2 is not (-1)^2
    if (needs_brackets && !expand_put(out, "(", 1)) return false;
    if (!expand_put(out, number, strlen(number))) return false;
    return !needs_brackets || expand_put(out, ")", 1);
}

static bool expand_text_of(pcs_expansion *x, pcs_yaml *node, expand_text *out)
{
    const char *p = node->text;
    while (*p != '\0') {
        bool is_fine = true;
        if (strncmp(p, "$${", 3) == 0) {
            is_fine = expand_put(out, "${", 2);
            p += 3;
        } else if (strncmp(p, "${", 2) == 0) {
            int before = x->c->nmessage;
            is_fine = expand_formula(x, node, &p, out);
            if (!is_fine && (x->c->nmessage > before || out->used + PCS_NUMBER_BYTES < TEXT_BYTES)) return false;
        } else {
            is_fine = expand_put(out, p++, 1);
        }
        if (is_fine) continue;
        pcs_case_reject(x->c, node, "is longer than %d characters with its formulas", TEXT_BYTES);
        return false;
    }
    return true;
}

bool pcs_expand_scalar(pcs_expansion *x, pcs_yaml *node)
{
    if (!pcs_expand_has_formula(node->text)) return true;
    expand_text out = { 0 };
    if (node->location.is_faulty || !expand_text_of(x, node, &out)) {
        node->location.is_faulty = true;
        return false;
    }
    const char *end = strchr(node->text, '}');
    bool is_number = strncmp(node->text, "${", 2) == 0 && end != NULL && end[1] == '\0';
    node->text = pcs_tree_text(x->c, out.bytes, out.used);
    node->text_column = 0;
    if (is_number) node->is_quoted = false;
    if (node->text != NULL) return true;
    node->text = "";
    return false;
}
