// A rigid obstacle that stands still, as pictures show it.

#ifndef PCS_CORE_OBSTACLE_H
#define PCS_CORE_OBSTACLE_H

typedef enum pcs_obstacle_kind {
    PCS_OBSTACLE_NONE,     // nothing stands still: the bodies that touch are drawn anyway
    PCS_OBSTACLE_PLANE,    // through `point`, `axis` points towards the body
    PCS_OBSTACLE_CYLINDER, // round the axis through `point`, the body is outside
    PCS_OBSTACLE_BORE      // likewise, the body is inside
} pcs_obstacle_kind;

typedef struct pcs_obstacle {
    pcs_obstacle_kind kind;
    int contact;              // index into the contacts of the system
    double point[3], axis[3]; // m; unit vector
    double radius;            // m, of a cylinder or bore
    int nnode;                // the obstacle has no end: it is drawn as far as these nodes come
    const int *nodes;         // [nnode] borrowed
    double node_radius;       // m, of the body at these nodes
} pcs_obstacle;

#endif
