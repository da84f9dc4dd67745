// The section `parameters`: numbers by name, which may be formulas of one another in any order.

#include "case/expand.h"

#include <ctype.h>
#include <string.h>

static bool parameters_is_name(const char *text)
{
    if (!isalpha((unsigned char)text[0]) && text[0] != '_') return false;
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && *text != '_') return false;
    return true;
}

static bool parameters_is_taken(const char *name)
{
    const char *const *others = pcs_expression_names();
    for (int i = 0; others[i] != NULL; i++)
        if (strcmp(others[i], name) == 0) return true;
    return strcmp(name, pcs_copy_name) == 0;
}

static void parameters_check_name(pcs_case *c, const pcs_key *key)
{
    pcs_yaml name = { .text = key->name };
    char quote[PCS_QUOTE_BYTES];
    pcs_tree_quote(&name, sizeof quote, quote);
    if (!parameters_is_name(key->name)) {
        pcs_tree_error(c, key->location,
                       "the name of a parameter must start with a letter and have letters, digits and '_' only, is %s",
                       quote);
    } else if (parameters_is_taken(key->name)) {
        pcs_tree_error(c, key->location, "%s has a meaning of its own in formulas; choose another name", quote);
    }
}

bool pcs_parameters_open(pcs_expansion *x, pcs_yaml *root)
{
    pcs_case *c = x->c;
    int at = pcs_tree_index(root, "parameters");
    pcs_yaml *map = at < 0 ? NULL : root->items[at];
    if (map != NULL && !pcs_case_is(c, map, PCS_YAML_MAP)) map = NULL;
    if (at >= 0) {
        pcs_yaml *apart = pcs_tree_node(c, PCS_YAML_MAP, root->location); // paths of messages stay
        if (apart == NULL || !pcs_tree_add_key(c, apart, &root->keys[at], root->items[at])) return false;
        pcs_tree_remove_key(root, at);
    }
    x->nparameter = map == NULL ? 0 : map->count;
    size_t room = (size_t)x->nparameter + 2;
    x->names = pcs_tree_take(c, room * sizeof *x->names);
    x->nodes = pcs_tree_take(c, room * sizeof(pcs_yaml *));
    x->values = pcs_tree_take(c, room * sizeof *x->values);
    x->states = pcs_tree_take(c, room * sizeof *x->states);
    x->is_used = pcs_tree_take(c, room * sizeof *x->is_used);
    if (c->is_out_of_memory) return false;
    for (int k = 0; k < x->nparameter; k++) {
        x->names[k] = map->keys[k].name;
        x->nodes[k] = map->items[k];
        parameters_check_name(c, &map->keys[k]);
    }
    return true;
}

void pcs_parameters_close(pcs_expansion *x)
{
    char hint[PCS_SPELLING_BYTES];
    for (int k = 0; k < x->nparameter; k++) {
        bool is_used = x->is_used[k];
        pcs_parameters_need(x, x->nodes[k], k);
        if (is_used || x->nodes[k]->location.origin == NULL) continue;
        // A wrong name on the command line would change nothing and say nothing.
        const char *name = x->names[k];
        x->names[k] = ""; // not to be offered in its own place
        pcs_spelling_hint(name, x->names, sizeof hint, hint);
        x->names[k] = name;
        pcs_case_error(x->c, x->nodes[k], "no formula uses the parameter '%.60s'%s", name, hint);
    }
}
