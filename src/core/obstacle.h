// Rigid things that pictures show beside the bodies of the mesh: obstacles that stand still, and bearings, discs and
// joints that a node carries.

#ifndef PCS_CORE_OBSTACLE_H
#define PCS_CORE_OBSTACLE_H

#include <stdbool.h>

typedef enum pcs_obstacle_kind {
    PCS_OBSTACLE_NONE,     // nothing to draw: the bodies that touch are drawn anyway
    PCS_OBSTACLE_PLANE,    // through `point`, `axis` points towards the body
    PCS_OBSTACLE_CYLINDER, // round the axis through `point`, the body is outside
    PCS_OBSTACLE_BORE,     // likewise, the body is inside
    PCS_OBSTACLE_BALL,     // about `point`, moves with a node
    PCS_OBSTACLE_ROD       // from `point` to `end`, moves with a node
} pcs_obstacle_kind;

typedef struct pcs_obstacle {
    pcs_obstacle_kind kind;
    int contact;              // index into the contacts of the system, -1 if none
    double point[3], axis[3]; // m; unit vector, not used for a ball or rod
    double radius;            // m; 0: drawn with the size of a mark, if it moves with a node
    // Nodes that may touch a fixed obstacle, which has no length of its own: it is drawn as far as they reach.
    int nnode;
    const int *nodes;   // [nnode] borrowed
    double node_radius; // m, radius of the body at these nodes
    bool is_long;       // drawn as far as they reach at any time, not only near it
    // An obstacle at a node rotates with it. `point`, relative to the node, and `axis` refer to the reference state.
    bool is_hosted;
    int host;      // node; -1 for a rod with `point` in space
    double length; // m, along the axis with `point` in its middle; 0: drawn with the size of a mark
    int end_node;  // node at the end of a rod
    double end[3]; // m, end of the rod relative to that node
} pcs_obstacle;

#endif
