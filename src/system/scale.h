// Natural sizes of the coordinates of a system: what a change or a rounding error of a coordinate is compared with.
//
//             a displacement                              an angle     any other coordinate
//   model     size of the model                           1            size of the system
//   cell      longest cell at the node                    1            size of the system
//   place     distance from the origin, or model          1            size of the system
//
// A strain is a difference of displacements over the length of a cell: displacements below DBL_EPSILON `cell` are lost
// in it. A gap is a difference of places: displacements below DBL_EPSILON `place` are lost in that.

#ifndef PCS_SYSTEM_SCALE_H
#define PCS_SYSTEM_SCALE_H

#include "system/system.h"

struct pcs_scale {
    double *model, *cell, *place; // [nv]
    unsigned char *axis;          // [nv] displacement (0, 1, 2: mostly along x, y, z), turn (3, 4, 5) or other (6)
    bool *is_angle;               // [nv] it is an angle, or a component of a rotation vector
    bool holds[7];                // a support holds one of this axis; of others always
};

// Takes memory from the system's context.
pcs_status pcs_scale_create(const pcs_system *system, pcs_scale *out);

#endif
