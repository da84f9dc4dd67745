// The table of observers, from observer_list.def, and making one by its name.

#include "output/observer.h"

#include <string.h>

#define PCS_OBSERVER(name) extern const pcs_observer_ops pcs_observer_##name;
#include "output/observer_list.def"
#undef PCS_OBSERVER

#define PCS_OBSERVER(name) &pcs_observer_##name,
const pcs_observer_ops *const pcs_observers[] = {
#include "output/observer_list.def"
    NULL
};
#undef PCS_OBSERVER

pcs_status pcs_observer_create(pcs_context *ctx, const char *name, const pcs_view *view, const void *params,
                               pcs_observer *out)
{
    int i = 0;
    while (strcmp(pcs_observers[i]->name, name) != 0) i++;
    const pcs_observer_ops *ops = pcs_observers[i];
    *out = (pcs_observer){ .ops = ops, .ctx = ctx, .view = view, .params = params };
    out->data = pcs_take(ctx, ops->data_size, 1, name);
    return out->data == NULL ? PCS_NO_MEMORY : PCS_OK;
}
