// The table of joints.

#include "joint/joint.h"

#include <string.h>

#define PCS_JOINT(name, file) extern const pcs_joint_ops pcs_joint_##name;
#include "joint/joint_list.def"
#undef PCS_JOINT

const pcs_joint_ops *const pcs_joints[] = {
#define PCS_JOINT(name, file) &pcs_joint_##name,
#include "joint/joint_list.def"
#undef PCS_JOINT
    NULL,
};

const char *pcs_joint_set_name(const pcs_joint_ops *ops, const void *params, int i)
{
    const char *name;
    const pcs_option *option = ops->options;
    while (strcmp(option->name, ops->set_options[i]) != 0) option++;
    memcpy(&name, (const char *)params + option->offset, sizeof name);
    return name;
}
