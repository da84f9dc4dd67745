// Supports, initial values, loads and contacts of a case.

#include "build/build.h"

#include <string.h>

static const char *const model_axes[] = { "x", "y", "z", "rx", "ry", "rz", NULL };

static void model_read_fix(pcs_build *b, pcs_node *list, bool fixes[6])
{
    if (pcs_node_count(list) == 0) pcs_case_reject(b->c, list, "is empty, needs some of x, y, z, rx, ry, rz");
    for (int i = 0; i < pcs_node_count(list); i++) {
        pcs_node *item = pcs_node_item(list, i);
        if (!pcs_case_is(b->c, item, PCS_NODE_SCALAR)) continue;
        int axis = 0;
        while (model_axes[axis] != NULL && strcmp(model_axes[axis], pcs_node_text(item)) != 0) axis++;
        if (axis == 6) {
            pcs_case_reject(b->c, item, "must be one of x, y, z, rx, ry, rz, is '%.80s'", pcs_node_text(item));
        } else if (fixes[axis]) {
            pcs_case_reject(b->c, item, "gives '%s' twice", model_axes[axis]);
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
    pcs_node *section = pcs_build_section(b, "supports", false, "supports by name", &count);
    pcs_fe_support *supports = NULL;
    PCS_TAKE(b->ctx, supports, count, "supports");
    for (int i = 0; i < count; i++) {
        pcs_node *node = pcs_case_entry(b->c, section, i, PCS_NODE_MAP);
        if (node == NULL) continue;
        supports[i].name = pcs_node_key(section, i);
        pcs_node *set = pcs_case_need(b->c, node, "set", PCS_NODE_SCALAR, "the set of nodes that is held");
        pcs_node *fix = pcs_case_need(b->c, node, "fix", PCS_NODE_LIST,
                                      "the directions that are held: some of x, y, z, rx, ry, rz");
        if (set != NULL) supports[i].nodes = pcs_build_set(b, set, false, false);
        if (fix != NULL) model_read_fix(b, fix, supports[i].fixes);
        pcs_case_read(b->c, node, pcs_support_options, &supports[i]);
    }
    b->model.nsupport = count;
    b->model.supports = supports;
    return PCS_OK;
}

// One vector for the whole set, or {from, to} for its first and last node.
static bool model_read_profile(pcs_build *b, pcs_node *map, const char *key, double value[2][3])
{
    const pcs_range any = PCS_ANY_NUMBER;
    pcs_node *node = pcs_case_get(b->c, map, key);
    if (node == NULL) return false;
    if (pcs_node_get_kind(node) == PCS_NODE_MAP) {
        pcs_node *from = pcs_case_need(b->c, node, "from", PCS_NODE_LIST, "the value at the first node of the set");
        pcs_node *to = pcs_case_need(b->c, node, "to", PCS_NODE_LIST, "the value at the last node of the set");
        if (from != NULL) pcs_case_vector(b->c, from, any, value[0]);
        if (to != NULL) pcs_case_vector(b->c, to, any, value[1]);
    } else if (pcs_case_vector(b->c, node, any, value[0])) {
        memcpy(value[1], value[0], sizeof value[0]);
    }
    return true;
}

pcs_status pcs_build_initials(pcs_build *b)
{
    pcs_node *section = pcs_case_get(b->c, pcs_case_root(b->c), "initial");
    if (section != NULL && !pcs_case_is(b->c, section, PCS_NODE_LIST)) section = NULL;
    int count = section == NULL ? 0 : pcs_node_count(section);
    const pcs_range any = PCS_ANY_NUMBER;
    pcs_fe_initial *initials = NULL;
    PCS_TAKE(b->ctx, initials, count, "initial values");
    for (int i = 0; i < count; i++) {
        pcs_node *node = pcs_node_item(section, i);
        if (!pcs_case_is(b->c, node, PCS_NODE_MAP)) continue;
        pcs_node *set = pcs_case_need(b->c, node, "set", PCS_NODE_SCALAR, "the set of nodes that starts so");
        if (set != NULL) initials[i].nodes = pcs_build_set(b, set, false, false);
        initials[i].has_displacement = model_read_profile(b, node, "displacement", initials[i].displacement);
        initials[i].has_velocity = model_read_profile(b, node, "velocity", initials[i].velocity);
        initials[i].has_rotation = model_read_profile(b, node, "rotation", initials[i].rotation);
        initials[i].has_spin = model_read_profile(b, node, "spin", initials[i].spin);
        pcs_node *about = pcs_case_get(b->c, node, "about");
        initials[i].has_about = about != NULL && pcs_case_vector(b->c, about, any, initials[i].about);
        if (about != NULL && !initials[i].has_spin)
            pcs_case_reject(b->c, about, "is the centre of a spin, and no spin is given");
        if (!initials[i].has_displacement && !initials[i].has_velocity && !initials[i].has_rotation &&
            !initials[i].has_spin) {
            pcs_case_error_at(b->c, node, NULL, "missing key 'displacement', 'velocity', 'rotation' or 'spin'");
        }
    }
    b->model.ninitial = count;
    b->model.initials = initials;
    return PCS_OK;
}

static bool model_is_cell_option(const pcs_gap_ops *ops, const char *option)
{
    bool is_found = false;
    for (int i = 0; ops->cell_options != NULL && ops->cell_options[i] != NULL; i++)
        is_found = is_found || strcmp(ops->cell_options[i], option) == 0;
    return is_found;
}

static pcs_status model_contact(pcs_build *b, pcs_node *node, pcs_fe_contact *contact)
{
    static const char *const points[] = { "sum", "all", NULL };
    const char *names[PCS_BUILD_NAMES];
    PCS_BUILD_NAMES_OF(pcs_gap_types, names);
    int type = pcs_case_type(b->c, node, names);
    contact->writes_points = pcs_case_choice(b->c, node, "points", points, "sum") == 1;
    if (type < 0) return PCS_OK;
    const pcs_gap_ops *ops = contact->ops = pcs_gap_types[type];
    void *params = NULL;
    PCS_TRY(pcs_build_params(b, ops->params_size, &params));
    contact->params = params;
    bool is_read = pcs_case_read(b->c, node, ops->options, params);
    for (int i = 0; ops->set_options != NULL && ops->set_options[i] != NULL; i++) {
        pcs_node *set = pcs_case_get(b->c, node, ops->set_options[i]);
        if (set != NULL && pcs_node_get_kind(set) == PCS_NODE_SCALAR && pcs_node_text(set)[0] != '\0') {
            pcs_build_set(b, set, model_is_cell_option(ops, ops->set_options[i]), false);
        }
    }
    if (is_read) pcs_build_check(b, node, ops->check, params);
    return PCS_OK;
}

pcs_status pcs_build_contacts(pcs_build *b)
{
    int count;
    pcs_node *section = pcs_build_section(b, "contacts", false, "contacts by name", &count);
    pcs_fe_contact *contacts = NULL;
    PCS_TAKE(b->ctx, contacts, count, "contacts");
    for (int i = 0; i < count; i++) {
        pcs_node *node = pcs_case_entry(b->c, section, i, PCS_NODE_MAP);
        contacts[i].name = pcs_node_key(section, i);
        if (node != NULL) PCS_TRY(model_contact(b, node, &contacts[i]));
    }
    b->model.ncontact = count;
    b->model.contacts = contacts;
    return PCS_OK;
}
