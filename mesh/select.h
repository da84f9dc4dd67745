// Choosing nodes by where they are.

#ifndef PCS_MESH_SELECT_H
#define PCS_MESH_SELECT_H

#include "mesh/mesh.h"

typedef struct pcs_selection {
    pcs_list at;      // positions, rows of 3; empty: everywhere
    pcs_list box;     // two opposite corners; empty: everywhere
    pcs_list plane;   // a point and the normal; empty: everywhere
    double tolerance; // m; a node that is off by as much still counts
} pcs_selection;

// Corners of the box round all nodes; infinite when there are none.
void pcs_mesh_box(const pcs_mesh *mesh, double low[3], double high[3]);
// 1e-6 of its diagonal.
double pcs_mesh_tolerance(const pcs_mesh *mesh);

// NULL when the selection is sound, else a sentence that says what is wrong; *key names the culprit.
const char *pcs_selection_check(const pcs_selection *s, const char **key);

// Keeps those of the `*count` nodes that the selection takes, in their order. None at one of the positions, or none at
// all, is a fault that says how far away the nearest one is.
pcs_status pcs_mesh_select(const pcs_mesh *mesh, const pcs_selection *s, int *count, int *nodes);
// Is the node in the box and on the plane?
bool pcs_selection_holds(const pcs_selection *s, const double x[3]);

#endif
