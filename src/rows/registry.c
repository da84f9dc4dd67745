// The tables of contacts, joints and laws, from their lists.

#include "rows/source.h"
#include "system/law.h"

#define PCS_GAP_TYPE(name, file) extern const pcs_source_ops pcs_gap_##name;
#include "rows/gap_list.def"
#undef PCS_GAP_TYPE

const pcs_source_ops *const pcs_gap_types[] = {
#define PCS_GAP_TYPE(name, file) &pcs_gap_##name,
#include "rows/gap_list.def"
#undef PCS_GAP_TYPE
    NULL,
};

#define PCS_JOINT(name, file) extern const pcs_source_ops pcs_joint_##name;
#include "rows/joint_list.def"
#undef PCS_JOINT

const pcs_source_ops *const pcs_joints[] = {
#define PCS_JOINT(name, file) &pcs_joint_##name,
#include "rows/joint_list.def"
#undef PCS_JOINT
    NULL,
};

#define PCS_LAW(name, file) extern const pcs_law_ops pcs_law_##name;
#include "rows/law_list.def"
#undef PCS_LAW

const pcs_law_ops *const pcs_laws[] = {
#define PCS_LAW(name, file) &pcs_law_##name,
#include "rows/law_list.def"
#undef PCS_LAW
    NULL,
};

const char *pcs_source_set_name(const pcs_source_ops *ops, const void *params, int i)
{
    return ops->sets[i].option == NULL ? NULL : pcs_option_text(ops->options, params, ops->sets[i].option);
}

int pcs_source_rows(const pcs_source_ops *ops, const void *params, const pcs_mesh *mesh)
{
    return ops->count(params, mesh) * pcs_set_size(pcs_mesh_node_set(mesh, pcs_source_set_name(ops, params, 0)));
}
