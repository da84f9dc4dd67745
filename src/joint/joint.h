// Joints: bilateral rows g = 0 between nodes, or a node and the ground.

#ifndef PCS_JOINT_JOINT_H
#define PCS_JOINT_JOINT_H

#include "contact/row.h"
#include "core/amplitude.h"
#include "core/obstacle.h"
#include "core/option.h"
#include "mesh/dofmap.h"

// Describes the rows of a joint and the loads it can carry, once its nodes are known.
typedef struct pcs_joint_shape {
    int nrow;
    bool is_constant;                 // its directions never change
    bool has_lines;                   // directions turn as points move, not as nodes turn alone
    bool is_driven;                   // `drives` is there
    bool is_turn;                     // gaps are angles known up to whole turns: those nearest to 0
    bool has_force[3], has_moment[3]; // what it may carry, along and about x, y, z
    bool has_teeth;                   // of a gear: `teeth` is there
    double teeth[2];                  // parts of a unit multiplier along the way of the teeth and across it
} pcs_joint_shape;

// A map of the case like the amplitude of a load, kept as pcs_amplitude in the parameters.
typedef struct pcs_joint_signal {
    const char *name, *help;
    size_t offset;
    bool is_rate; // it is integrated over time
} pcs_joint_signal;

typedef struct pcs_joint_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    const char *const *set_options;  // options that name node sets, ends with NULL
    const pcs_joint_signal *signals; // ends with a name of NULL; NULL: none
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    // Resolves nodes and reference geometry; a node that lacks a direction the joint holds is PCS_BAD_INPUT.
    pcs_status (*create)(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                         pcs_joint_shape *shape);
    pcs_row_evaluate *evaluate;
    // g, from any place on, and dg/dt at fixed q of every row of a driven joint.
    void (*drives)(const void *instance, double t, double *way, double *speed);
    // Fills `*out` (zeroed by the caller) with part 0, 1, ... to draw, all carried; returns false if there is none.
    bool (*show)(const void *instance, int part, pcs_obstacle *out);
} pcs_joint_ops;

extern const pcs_joint_ops *const pcs_joints[]; // ends with NULL

// Holds the parameters of supports that fix one of the three rotations in space; not available in cases.
typedef struct pcs_held_params {
    const char *nodes; // name of a set
    int axis;          // 0, 1, 2
} pcs_held_params;

const pcs_joint_ops *pcs_held_joint(void);

#endif
