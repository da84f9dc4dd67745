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
    return ops->set_options[i] == NULL ? NULL : pcs_option_text(ops->options, params, ops->set_options[i]);
}

static bool gap_lists(const char *const *options, const char *option)
{
    if (options == NULL) return false;
    for (int i = 0; options[i] != NULL; i++)
        if (strcmp(options[i], option) == 0) return true;
    return false;
}

bool pcs_gap_has_cells(const pcs_gap_ops *ops, const char *option)
{
    return gap_lists(ops->cell_options, option);
}

bool pcs_gap_is_common(const pcs_gap_ops *ops, const char *option)
{
    return pcs_gap_has_cells(ops, option) || gap_lists(ops->common_options, option);
}

int pcs_gap_rows(const pcs_gap_ops *ops, const void *params, const pcs_mesh *mesh)
{
    if (ops->places != NULL) return ops->places(params, mesh);
    return ops->rows_per_node(params) * pcs_set_size(pcs_mesh_node_set(mesh, pcs_gap_set_name(ops, params, 0)));
}
