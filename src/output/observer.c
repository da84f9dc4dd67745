// The table of observers from observer_list.def, making one by its name, parts of reactions.

#include "output/observer.h"

#include "output/frames.h"

#include <string.h>

#define PCS_OBSERVER(name, file) extern const pcs_observer_ops pcs_observer_##name;
#include "output/observer_list.def"
#undef PCS_OBSERVER

#define PCS_OBSERVER(name, file) &pcs_observer_##name,
const pcs_observer_ops *const pcs_observers[] = {
#include "output/observer_list.def"
    NULL
};
#undef PCS_OBSERVER

const char *const pcs_reaction_names[PCS_REACTION_COMPONENTS] = { "fx", "fy", "fz",         "mx",
                                                                  "my", "mz", "tangential", "separating" };

bool pcs_reaction_has(const pcs_reaction_info *info, int k)
{
    if (k >= 6) return info->has_teeth;
    return k < 3 ? info->has_force[k] : info->has_moment[k - 3];
}

double pcs_reaction_component(const pcs_reaction *reaction, int k)
{
    if (k >= 6) return reaction->teeth[k - 6];
    return k < 3 ? reaction->force[k] : reaction->moment[k - 3];
}

pcs_status pcs_observer_create(pcs_context *ctx, const char *name, const pcs_view *view, const void *params,
                               pcs_observer *out)
{
    int i = 0;
    while (pcs_observers[i] != NULL && strcmp(pcs_observers[i]->name, name) != 0) i++;
    const pcs_observer_ops *ops = pcs_observers[i];
    if (ops == NULL) return pcs_fail(ctx, PCS_UNSUPPORTED, "this program has no observer '%s'", name);
    *out = (pcs_observer){ .ops = ops, .ctx = ctx, .view = view, .params = params };
    out->data = pcs_take(ctx, ops->data_size, 1, name);
    return out->data == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// Names of frames, and their record, for other observers.

const char *const pcs_frame_vectors[PCS_FRAME_VECTORS] = { "displacement", "velocity", "rotation" };

const char *pcs_frames_stem(const char *case_name)
{
    bool is_taken = strcmp(case_name, "contacts") == 0 || strcmp(case_name, "obstacles") == 0;
    return is_taken ? "model" : case_name;
}
