// The table of gap types, from gap_list.def.

#include "contact/contact.h"

#include <string.h>

#define PCS_GAP_TYPE(name) extern const pcs_gap_ops pcs_gap_##name;
#include "contact/gap_list.def"
#undef PCS_GAP_TYPE

const pcs_gap_ops *const pcs_gap_types[] = {
#define PCS_GAP_TYPE(name) &pcs_gap_##name,
#include "contact/gap_list.def"
#undef PCS_GAP_TYPE
    NULL,
};

const char *pcs_gap_set_name(const pcs_gap_ops *ops, const void *params, int i)
{
    const char *name;
    const pcs_option *option = ops->options;
    if (ops->set_options[i] == NULL) return NULL;
    while (strcmp(option->name, ops->set_options[i]) != 0) option++;
    memcpy(&name, (const char *)params + option->offset, sizeof name);
    return name;
}

bool pcs_gap_has_cells(const pcs_gap_ops *ops, const char *option)
{
    if (ops->cell_options == NULL) return false;
    for (int i = 0; ops->cell_options[i] != NULL; i++)
        if (strcmp(ops->cell_options[i], option) == 0) return true;
    return false;
}
