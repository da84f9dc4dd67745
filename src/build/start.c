// The start of a run: at the initial displacements, in equilibrium under the loads at t = 0, or where another run was.

#include "analysis/statics.h"
#include "build/builder.h"
#include "sim/checkpoint.h"

#include <string.h>

typedef struct start_params {
    const char *from;
    int at;
} start_params;

static const char *const start_generations[] = { "last", "previous", NULL };

static const pcs_option start_options[] = {
    PCS_FILE("from", start_params, from, PCS_REQUIRED, "folder of results, or a checkpoint in it, of another run"),
    PCS_CHOICE("at", start_params, at, PCS_DEFAULT("last"), start_generations, "which checkpoint of the folder"),
    { .name = NULL },
};
const pcs_map pcs_start_map = { .name = "start", .options = start_options };

static void start_forget(void *object)
{
    pcs_checkpoint_free(object);
}

static pcs_status start_find(pcs_build *b, const start_params *p, pcs_checkpoint_data **out)
{
    char note[512];
    bool is_there;
    PCS_TAKE(b->ctx, *out, 1, "the start");
    PCS_TRY(pcs_checkpoint_find(b->ctx, p->from, p->at == 1, *out, &is_there, note));
    PCS_TRY(pcs_defer(b->ctx, start_forget, *out));
    if (note[0] != '\0') return pcs_fail(b->ctx, PCS_BAD_INPUT, "%s: say at: previous", note);
    if (!is_there) return pcs_fail(b->ctx, PCS_BAD_INPUT, "there is no checkpoint in '%s'", p->from);
    return pcs_checkpoint_time(b->ctx, *out, &b->start);
}

// The state of another run: q, v and t. Values of this case for them would be without effect.
static pcs_status start_read_from(pcs_build *b, pcs_yaml *node)
{
    start_params params = { .from = NULL };
    pcs_checkpoint_data *data = NULL;
    if (!pcs_case_read(b->c, node, start_options, &params) || params.from == NULL) return PCS_OK;
    if (b->model.ninitial > 0)
        pcs_case_error_at(b->c, pcs_case_find(b->c, "initial"), NULL, "a run that starts from another one has none");
    pcs_status status = start_find(b, &params, &data);
    if (status != PCS_OK) return pcs_build_blame(b, node, status);
    b->sim->from = data;
    if (!(b->end > b->start))
        pcs_case_error_at(b->c, pcs_case_find(b->c, "time"), "end", "end must be > %.9g, where '%s' stands, is %.9g",
                          b->start, params.from, b->end);
    return PCS_OK;
}

pcs_status pcs_build_statics(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c), *node = pcs_case_get(b->c, root, "statics");
    b->statics = (pcs_statics_options){ .has_friction = true };
    // A run that does not ask for it does not get the section.
    if (node == NULL && !b->is_model_only && !b->starts_in_equilibrium) return PCS_OK;
    node = pcs_case_get_map(b->c, root, "statics");
    if (node != NULL) pcs_case_read(b->c, node, pcs_statics_keys, &b->statics);
    return PCS_OK;
}

pcs_status pcs_build_start(pcs_build *b)
{
    static const char *const choices[] = { "initial", "statics", NULL };
    pcs_yaml *root = pcs_case_root(b->c), *given = pcs_case_get(b->c, root, "start");
    if (given != NULL && pcs_yaml_get_kind(given) == PCS_YAML_MAP) return start_read_from(b, given);
    b->starts_in_equilibrium = pcs_case_choice(b->c, root, "start", choices, "initial") == 1;
    if (!b->starts_in_equilibrium) return PCS_OK;
    for (int i = 0; i < b->model.ninitial; i++) {
        const pcs_fe_initial *values = &b->model.initials[i];
        if (values->displacement.is_given || values->rotation.is_given)
            pcs_case_error_at(b->c, pcs_yaml_item(pcs_case_get(b->c, root, "initial"), i),
                              values->displacement.is_given ? "displacement" : "rotation",
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
    out->statics = b->statics;
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
    pcs_statics_options options = b->statics;
    options.path = PCS_PATH_LOAD;
    options.time = 0.0;
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
    PCS_TRY(pcs_case_finish(b->c)); // what is told with its place
    pcs_wrap(b->ctx, status, "the equilibrium to start from");
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "start"), status));
    return pcs_case_finish(b->c);
}
