// Section `initial`, and the state that it leads to.

#include "build/sections.h"

#include <math.h>
#include <string.h>

// One vector for the whole set, or {from, to} for its first and last node.
static bool initial_read_profile(pcs_build *b, pcs_yaml *map, const char *key, double value[2][3])
{
    const pcs_range any = PCS_ANY_NUMBER;
    pcs_yaml *node = pcs_case_get(b->c, map, key);
    if (node == NULL) return false;
    if (pcs_yaml_get_kind(node) == PCS_YAML_MAP) {
        pcs_yaml *from = pcs_case_need(b->c, node, "from", PCS_YAML_LIST, "the value at the first node of the set");
        pcs_yaml *to = pcs_case_need(b->c, node, "to", PCS_YAML_LIST, "the value at the last node of the set");
        if (from != NULL) pcs_case_vector(b->c, from, any, value[0]);
        if (to != NULL) pcs_case_vector(b->c, to, any, value[1]);
    } else if (pcs_case_vector(b->c, node, any, value[0])) {
        memcpy(value[1], value[0], sizeof value[0]);
    }
    return true;
}

pcs_status pcs_build_initials(pcs_build *b)
{
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "initial");
    if (section != NULL && !pcs_case_is(b->c, section, PCS_YAML_LIST)) section = NULL;
    int count = section == NULL ? 0 : pcs_yaml_count(section);
    const pcs_range any = PCS_ANY_NUMBER;
    pcs_fe_initial *initials = NULL;
    PCS_TAKE(b->ctx, initials, count, "initial values");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_yaml_item(section, i);
        if (!pcs_case_is(b->c, node, PCS_YAML_MAP)) continue;
        pcs_yaml *set = pcs_case_need(b->c, node, "set", PCS_YAML_SCALAR, "the set of nodes that starts so");
        if (set != NULL) initials[i].nodes = pcs_build_set(b, set, false, false);
        initials[i].has_displacement = initial_read_profile(b, node, "displacement", initials[i].displacement);
        initials[i].has_velocity = initial_read_profile(b, node, "velocity", initials[i].velocity);
        initials[i].has_rotation = initial_read_profile(b, node, "rotation", initials[i].rotation);
        initials[i].has_spin = initial_read_profile(b, node, "spin", initials[i].spin);
        pcs_yaml *about = pcs_case_get(b->c, node, "about");
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

pcs_status pcs_build_state(pcs_build *b)
{
    pcs_sim *sim = b->sim;
    const pcs_system *system = sim->system;
    pcs_state *x = &sim->state;
    PCS_TAKE(b->ctx, x->q, system->nq, "the state");
    PCS_TAKE(b->ctx, x->v, system->nv, "the state");
    const char *culprit = NULL;
    pcs_status status = PCS_OK;
    if (b->has_system) b->definition->start(b->system_params, x->q, x->v);
    else status = pcs_fe_initial_state(system, x->q, x->v, &culprit);
    if (status != PCS_OK) return pcs_build_blame(b, pcs_case_find(b->c, culprit), status);
    bool has_changed;
    if (system->has_search) PCS_TRY(system->ops->search(sim->system, x->q, &has_changed));
    return pcs_build_check_gaps(b);
}
