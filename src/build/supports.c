// Section `supports`.

#include "build/builder.h"

#include <string.h>

static const char *const supports_axes[] = { "x", "y", "z", "rx", "ry", "rz", NULL };

static void supports_read_fix(pcs_build *b, pcs_yaml *list, bool fixes[6])
{
    if (!pcs_case_is(b->c, list, PCS_YAML_LIST)) return;
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

typedef struct support_keys {
    pcs_yaml *set, *fix;
    bool has_reactions;
} support_keys;

static const pcs_form fix_form = { .shown = "some of [x, y, z, rx, ry, rz]",
                                   .json = "'type':'array','minItems':1,'uniqueItems':true,"
                                           "'items':{'enum':['x','y','z','rx','ry','rz']}" };

static const pcs_option support_options[] = {
    PCS_SET("set", support_keys, set, PCS_REQUIRED, "the set of nodes that is held"),
    PCS_NODE("fix", support_keys, fix, PCS_REQUIRED, fix_form, "the directions that are held"),
    PCS_FLAG("reactions", support_keys, has_reactions, PCS_DEFAULT("false"),
             "history columns of its force and moment on the model, means over each step"),
    { .name = NULL },
};
const pcs_map pcs_support_map = { .name = "support", .is_entry = true, .options = support_options };

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
        support_keys keys = { 0 };
        (void)pcs_case_read(b->c, node, support_options, &keys);
        if (keys.set != NULL) supports[i].nodes = pcs_build_set(b, keys.set, false, false);
        if (keys.fix != NULL) supports_read_fix(b, keys.fix, supports[i].fixes);
        supports[i].has_reactions = keys.has_reactions;
    }
    b->model.nsupport = count;
    b->model.supports = supports;
    return PCS_OK;
}
