// Section `initial`, and the initial state that follows from it.

#include "build/sections.h"

#include <string.h>

// One vector for the whole set, of numbers and formulas of place, or {from, to} for its first and last node.
static void initial_read_profile(pcs_build *b, pcs_yaml *map, const char *key, pcs_fe_profile *out)
{
    const pcs_range any = PCS_ANY_NUMBER;
    pcs_yaml *node = pcs_case_get(b->c, map, key);
    out->is_given = node != NULL;
    if (node == NULL) return;
    if (pcs_yaml_get_kind(node) == PCS_YAML_MAP) {
        pcs_yaml *from = pcs_case_need(b->c, node, "from", PCS_YAML_LIST, "the value at the first node of the set");
        pcs_yaml *to = pcs_case_need(b->c, node, "to", PCS_YAML_LIST, "the value at the last node of the set");
        if (from != NULL) pcs_case_vector(b->c, from, any, out->ends[0]);
        if (to != NULL) pcs_case_vector(b->c, to, any, out->ends[1]);
    } else if (pcs_case_place_vector(b->c, node, out->ends[0], out->formula)) {
        memcpy(out->ends[1], out->ends[0], sizeof out->ends[0]);
    }
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
        initial_read_profile(b, node, "displacement", &initials[i].displacement);
        initial_read_profile(b, node, "velocity", &initials[i].velocity);
        initial_read_profile(b, node, "rotation", &initials[i].rotation);
        initial_read_profile(b, node, "spin", &initials[i].spin);
        pcs_yaml *about = pcs_case_get(b->c, node, "about");
        initials[i].has_about = about != NULL && pcs_case_vector(b->c, about, any, initials[i].about);
        if (about != NULL && !initials[i].spin.is_given)
            pcs_case_reject(b->c, about, "is the centre of a spin, and no spin is given");
        if (!initials[i].displacement.is_given && !initials[i].velocity.is_given && !initials[i].rotation.is_given &&
            !initials[i].spin.is_given) {
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
    return PCS_OK;
}
