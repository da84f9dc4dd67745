// Formulas in texts of a case: a fault is reported at its own column, with similar names and all that is allowed.

#include "case/tree.h"

#include <stdio.h>

enum { NAMES = 128, LIST_BYTES = 512 };

pcs_location pcs_formula_location(const pcs_yaml *node, size_t byte)
{
    pcs_location location = node->location;
    if (node->text_column == 0) return location;
    location.column = node->text_column;
    for (size_t i = 0; i < byte && node->text[i] != '\0'; i++)
        location.column += ((unsigned char)node->text[i] & 0xc0) != 0x80;
    return location;
}

// ", did you mean 'x'? known are: ..."
static void formula_hint(const char *name, const char *const *variables, size_t size, char *out)
{
    const char *all[NAMES + 1], *const *functions = pcs_expression_names();
    char hint[PCS_SPELLING_BYTES], list[LIST_BYTES];
    int count = 0;
    for (int i = 0; variables[i] != NULL && count < NAMES; i++) all[count++] = variables[i];
    for (int i = 0; functions[i] != NULL && count < NAMES; i++) all[count++] = functions[i];
    all[count] = NULL;
    pcs_spelling_hint(name, all, sizeof hint, hint);
    snprintf(out, size, "%s known are: %s", hint[0] == '\0' ? "," : hint, pcs_join_names(all, ", ", sizeof list, list));
}

bool pcs_formula_compile(pcs_case *c, pcs_yaml *node, size_t from, size_t length, const char *const *variables,
                         pcs_expression *out)
{
    pcs_expression_fault fault;
    const char *text = node->text + from;
    if (pcs_expression_compile(text, length, variables, out, &fault)) return true;
    char hint[LIST_BYTES + PCS_SPELLING_BYTES + 16] = "", name[48], path[PCS_PATH_BYTES];
    if (fault.is_name) {
        snprintf(name, sizeof name, "%.*s", fault.length < 40 ? (int)fault.length : 40, text + fault.at);
        formula_hint(name, variables, sizeof hint, hint);
    }
    pcs_tree_path(node, sizeof path, path);
    pcs_tree_error(c, pcs_formula_location(node, from + fault.at), "%s: in '%.*s': %s%s", path,
                   length < 80 ? (int)length : 80, text, fault.what, hint);
    node->location.is_faulty = true;
    return false;
}
