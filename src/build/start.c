// Where a run starts: at the initial displacements, or in equilibrium under the loads at t = 0.

#include "analysis/statics.h"
#include "build/sections.h"

#include <string.h>

pcs_status pcs_build_start(pcs_build *b)
{
    static const char *const choices[] = { "initial", "statics", NULL };
    pcs_yaml *root = pcs_case_root(b->c);
    b->starts_in_equilibrium = pcs_case_choice(b->c, root, "start", choices, "initial") == 1;
    if (!b->starts_in_equilibrium) return PCS_OK;
    for (int i = 0; i < b->model.ninitial; i++) {
        const pcs_fe_initial *given = &b->model.initials[i];
        if (given->has_displacement || given->has_rotation)
            pcs_case_error_at(b->c, pcs_yaml_item(pcs_case_get(b->c, root, "initial"), i),
                              given->has_displacement ? "displacement" : "rotation",
                              "a start in equilibrium finds the displacements itself: only velocities may be given");
    }
    return PCS_OK;
}

pcs_status pcs_build_still(pcs_build *b, pcs_analysis *out)
{
    const pcs_sim *sim = b->sim;
    const char *name = pcs_case_name(b->c);
    double *start;
    PCS_TAKE(b->ctx, start, sim->system->nq, "the start");
    if (b->has_system) memcpy(start, sim->state.q, (size_t)sim->system->nq * sizeof *start);
    *out = (pcs_analysis){ .ctx = b->ctx, .system = sim->system, .start = start, .linear = b->linear };
    if (out->linear == NULL) out->linear = "auto";
    out->input = b->c;
    out->case_name = name;
    out->title = sim->view.title == NULL ? name : sim->view.title;
    out->nprobe = sim->nprobe;
    out->probes = sim->probes;
    return PCS_OK;
}

// Displacements are zero, or those that a system in closed form starts from. Velocities stay as given: spins, which are
// those in space, and what moves about a point are seen from the equilibrium.
pcs_status pcs_build_equilibrium(pcs_build *b)
{
    pcs_analysis analysis;
    pcs_statics statics;
    pcs_statics_options options = { 0 };
    if (!b->starts_in_equilibrium) return PCS_OK;
    if (b->sim->system->layout != NULL) {
        pcs_case_error_at(b->c, pcs_case_find(b->c, "start"), NULL, "an equilibrium is found in one process only");
        return pcs_case_finish(b->c);
    }
    PCS_TRY(pcs_build_still(b, &analysis));
    pcs_status status = pcs_statics_solve(&analysis, &options, b->sim->state.q, NULL, NULL, &statics);
    const char *culprit;
    if (status == PCS_OK && b->model.ninitial > 0)
        status = pcs_fe_initial_state(b->sim->system, b->sim->state.q, b->sim->state.v, &culprit);
    if (status == PCS_OK) return PCS_OK;
    pcs_wrap(b->ctx, status, "the equilibrium to start from");
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "start"), status));
    return pcs_case_finish(b->c);
}
