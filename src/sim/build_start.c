// Where a run starts: at the initial displacements, or in equilibrium under the loads at t = 0.

#include "sim/build.h"
#include "sim/statics.h"

pcs_status pcs_build_start(pcs_build *b)
{
    static const char *const choices[] = { "initial", "statics", NULL };
    pcs_node *root = pcs_case_root(b->c);
    b->starts_in_equilibrium = pcs_case_choice(b->c, root, "start", choices, "initial") == 1;
    for (int i = 0; b->starts_in_equilibrium && i < b->model.ninitial; i++) {
        const pcs_fe_initial *given = &b->model.initials[i];
        if (given->has_displacement || given->has_rotation)
            pcs_case_error_at(b->c, pcs_node_item(pcs_case_get(b->c, root, "initial"), i),
                              given->has_displacement ? "displacement" : "rotation",
                              "a start in equilibrium finds the displacements itself: only velocities may be given");
    }
    return PCS_OK;
}

// Displacements are zero, or those that a system in closed form starts from. Velocities stay as given: spins, which are
// those in space, and what moves about a point are seen from the equilibrium.
pcs_status pcs_build_equilibrium(pcs_build *b)
{
    pcs_statics statics;
    pcs_statics_options options = { 0 };
    if (!b->starts_in_equilibrium || b->is_model_only) return PCS_OK;
    if (b->sim->system->layout != NULL) {
        pcs_case_error_at(b->c, pcs_case_find(b->c, "start"), NULL, "an equilibrium is found in one process only");
        return pcs_case_finish(b->c);
    }
    pcs_status status = pcs_statics_solve(b->sim, &options, b->sim->state.q, NULL, NULL, &statics);
    const char *culprit;
    if (status == PCS_OK && b->model.ninitial > 0)
        status = pcs_fe_initial_state(b->sim->system, b->sim->state.q, b->sim->state.v, &culprit);
    if (status == PCS_OK) return PCS_OK;
    pcs_wrap(b->ctx, status, "the equilibrium to start from");
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "start"), status));
    return pcs_case_finish(b->c);
}
