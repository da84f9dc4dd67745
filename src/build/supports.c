// Section `supports`.

#include "build/sections.h"

#include <string.h>

static const char *const supports_axes[] = { "x", "y", "z", "rx", "ry", "rz", NULL };

static void supports_read_fix(pcs_build *b, pcs_yaml *list, bool fixes[6])
{
    if (pcs_yaml_count(list) == 0) pcs_case_reject(b->c, list, "is empty, needs some of x, y, z, rx, ry, rz");
    for (int i = 0; i < pcs_yaml_count(list); i++) {
        pcs_yaml *item = pcs_yaml_item(list, i);
        if (!pcs_case_is(b->c, item, PCS_YAML_SCALAR)) continue;
        int axis = 0;
        while (supports_axes[axis] != NULL && strcmp(supports_axes[axis], pcs_yaml_text(item)) != 0) axis++;
        if (axis == 6) {
            pcs_case_reject(b->c, item, "must be one of x, y, z, rx, ry, rz, is '%.80s'", pcs_yaml_text(item));
        } else if (fixes[axis]) {
            pcs_case_reject(b->c, item, "gives '%s' twice", supports_axes[axis]);
        } else {
            fixes[axis] = true;
        }
    }
}

const pcs_option pcs_support_options[] = {
    PCS_FLAG("reactions", pcs_fe_support, has_reactions, PCS_DEFAULT("false"),
             "history columns of its force and moment on the model, means over each step"),
    { .name = NULL },
};

pcs_status pcs_build_supports(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "supports", false, "supports by name", &count);
    pcs_fe_support *supports = NULL;
    PCS_TAKE(b->ctx, supports, count, "supports");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        if (node == NULL) continue;
        supports[i].name = pcs_yaml_key(section, i);
        pcs_yaml *set = pcs_case_need(b->c, node, "set", PCS_YAML_SCALAR, "the set of nodes that is held");
        pcs_yaml *fix = pcs_case_need(b->c, node, "fix", PCS_YAML_LIST,
                                      "the directions that are held: some of x, y, z, rx, ry, rz");
        if (set != NULL) supports[i].nodes = pcs_build_set(b, set, false, false);
        if (fix != NULL) supports_read_fix(b, fix, supports[i].fixes);
        pcs_case_read(b->c, node, pcs_support_options, &supports[i]);
    }
    b->model.nsupport = count;
    b->model.supports = supports;
    return PCS_OK;
}
