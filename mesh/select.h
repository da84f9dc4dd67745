// Choosing nodes by where they are.

#ifndef PCS_MESH_SELECT_H
#define PCS_MESH_SELECT_H

#include "mesh/mesh.h"

typedef struct pcs_selection {
    pcs_list at;      // positions, rows of 3; empty if unrestricted
    pcs_list box;     // two opposite corners; empty if unrestricted
    pcs_list plane;   // a point and the normal; empty if unrestricted
    double tolerance; // distance up to which a node still counts, m
} pcs_selection;

// Computes the corners of the bounding box of all nodes, m; infinite if there are none.
void pcs_mesh_box(const pcs_mesh *mesh, double low[3], double high[3]);
// Returns 1e-6 of the box's diagonal, m.
double pcs_mesh_tolerance(const pcs_mesh *mesh);

// Returns NULL if the selection is valid, else the fault; *key names the key.
const char *pcs_selection_check(const pcs_selection *s, const char **key);

// Keeps those of the `*count` nodes that the selection takes, in their order. Fails if there are none, or none at one
// of the positions; the message gives the distance of the nearest one.
pcs_status pcs_mesh_select(const pcs_mesh *mesh, const pcs_selection *s, int *count, int *nodes);
// Returns true if the node is in the box and on the plane.
bool pcs_selection_holds(const pcs_selection *s, const double x[3]);

#endif
