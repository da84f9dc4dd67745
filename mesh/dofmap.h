// Which degrees of freedom a node has, along which directions, and their equation numbers.
//
// A node's position is X + sum_i u_i d_i over its translational dofs with unit directions d_i; the
// directions of one node are orthonormal. Fixed dofs have no equation.

#ifndef PCS_MESH_DOFMAP_H
#define PCS_MESH_DOFMAP_H

#include "mesh/mesh.h"

typedef struct pcs_dof {
    double direction[3];
    int node;
    int equation; // -1: fixed; -2: kept by other ranks only
    bool is_rotation;
    bool is_finite; // rotation that does not stay small: an angle, or one of three components of a rotation vector
} pcs_dof;

typedef struct pcs_dofmap {
    const pcs_mesh *mesh;
    int ndof, nequation;
    const int *first;                // [nnode + 1] the dofs of node i are first[i] .. first[i+1]-1
    pcs_dof *dof;                    // [ndof]
    const struct pcs_comm *row_comm; // of the ranks among which rows of contacts are dealt out; NULL: all are here
} pcs_dofmap;

enum { PCS_MAX_NODE_DOFS = 6, PCS_EQUATION_ELSEWHERE = -2 };

// The dof of `node` that turns about `direction`, or -1.
int pcs_dofmap_find_rotation(const pcs_dofmap *map, int node, const double direction[3]);

// The displacement of `node` along `direction` as sum_i coefficient_i u_i over its translational dofs
// (fixed ones included). Gives the number of terms, or -1 when the node cannot move along it.
int pcs_dofmap_resolve(const pcs_dofmap *map, int node, const double direction[3], int dof[PCS_MAX_NODE_DOFS],
                       double coefficient[PCS_MAX_NODE_DOFS]);

#endif
