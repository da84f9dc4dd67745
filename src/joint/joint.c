// The table of joints.

#include "joint/joint.h"

#define PCS_JOINT(name, file) extern const pcs_joint_ops pcs_joint_##name;
#include "joint/joint_list.def"
#undef PCS_JOINT

const pcs_joint_ops *const pcs_joints[] = {
#define PCS_JOINT(name, file) &pcs_joint_##name,
#include "joint/joint_list.def"
#undef PCS_JOINT
    NULL,
};
