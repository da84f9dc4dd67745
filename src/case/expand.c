// The tree as it was written becomes plain YAML.

#include "case/expand.h"

pcs_status pcs_case_expand(pcs_case *c)
{
    pcs_expansion x = { .c = c };
    if (c->is_expanded) return PCS_OK;
    c->is_expanded = true;
    pcs_case_get(c, c->root, "parameters");
    const pcs_yaml *include = pcs_case_get(c, c->root, "include"); // those of files are gone
    if (include != NULL) pcs_case_error(c, include, "'include' works in files, not in an assignment");
    if (pcs_parameters_open(&x, c->root)) {
        pcs_expand_node(&x, c->root);
        pcs_parameters_close(&x);
    }
    return c->is_out_of_memory ? pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: reading %s", c->file) : PCS_OK;
}
