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
    int equation; // -1 if fixed; -2 if only other ranks have it
    bool is_rotation;
    bool is_finite; // finite rotation: an angle, or one of three components of a rotation vector
} pcs_dof;

typedef struct pcs_dofmap {
    const pcs_mesh *mesh;
    int ndof, nequation;
    const int *first;                // [nnode + 1] the dofs of node i are first[i] .. first[i+1]-1
    pcs_dof *dof;                    // [ndof]
    const struct pcs_comm *row_comm; // ranks over which rows of contacts are distributed; NULL if this rank has all
} pcs_dofmap;

enum { PCS_MAX_NODE_DOFS = 6, PCS_EQUATION_ELSEWHERE = -2 };

// Returns the dof of `node` that rotates about `direction`, or -1.
int pcs_dofmap_find_rotation(const pcs_dofmap *map, int node, const double direction[3]);

// Computes sum_i x_i d_i over the translations of a node, or over its rotations.
void pcs_dofmap_vector(const pcs_dofmap *map, bool of_rotations, int node, const double *x, double out[3]);

// Resolves the displacement of `node` along `direction` as sum_i coefficient_i u_i over its translational dofs (fixed
// ones included). Returns the number of terms, or -1 if the node cannot move along it.
int pcs_dofmap_resolve(const pcs_dofmap *map, int node, const double direction[3], int dof[PCS_MAX_NODE_DOFS],
                       double coefficient[PCS_MAX_NODE_DOFS]);

#endif
