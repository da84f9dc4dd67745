// One cell within its batch: values of its dofs out of and into the vectors of the system, and the loops over all cells
// that elements share. Fixed dofs rest at zero.

#ifndef PCS_ELEMENTS_CELL_H
#define PCS_ELEMENTS_CELL_H

#include "core/rotation.h"
#include "elements/element.h"

// Describes the dofs of a cell, node by node: first displacements along the global axes, then rotations.
typedef struct pcs_cell_shape {
    int ndof, node_dofs, translations; // of the cell; of a node; displacements among the latter
    bool is_grounded;                  // rigid-body motion causes forces, too
    const double (*axis)[3];           // [ncell] direction of the one dof of a node; NULL if they are along x, y, z
} pcs_cell_shape;

// Computes internal and damping force of a cell on its dofs, as forces on the body.
typedef void pcs_cell_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *force);

static inline void pcs_cell_gather(const int *equation, int ndof, const double *x, double *local)
{
    for (int i = 0; i < ndof; i++) local[i] = equation[i] < 0 ? 0.0 : x[equation[i]];
}

// Gathers positions and velocities of the dofs of a cell.
static inline void pcs_cell_look(const pcs_batch *batch, int cell, int ndof, const pcs_cell_state *at, double *q,
                                 double *v)
{
    const int *equation = batch->equation + (size_t)cell * (size_t)ndof;
    pcs_cell_gather(equation, ndof, at->q, q);
    pcs_cell_gather(equation, ndof, at->v, v);
}

// Gathers the same, zeros for what the state does not give, as in the reference state.
static inline void pcs_cell_look_or_rest(const pcs_batch *batch, int cell, int ndof, const pcs_cell_state *at,
                                         double *q, double *v)
{
    const int *equation = batch->equation + (size_t)cell * (size_t)ndof;
    bool has_q = at != NULL && at->q != NULL, has_v = has_q && at->v != NULL;
    for (int i = 0; i < ndof; i++) {
        q[i] = has_q && equation[i] >= 0 ? at->q[equation[i]] : 0.0;
        v[i] = has_v && equation[i] >= 0 ? at->v[equation[i]] : 0.0;
    }
}

static inline void pcs_cell_scatter(const int *equation, int ndof, const double *local, double *x)
{
    for (int i = 0; i < ndof; i++)
        if (equation[i] >= 0) x[equation[i]] += local[i];
}

static inline bool pcs_cell_is_free(const int *equation, int ndof)
{
    for (int i = 0; i < ndof; i++)
        if (equation[i] < 0) return false;
    return true;
}

// Computes the vector from the first node to the second, m. Returns its length.
static inline double pcs_cell_span(const pcs_batch *batch, int cell, double span[3])
{
    const int *node = batch->nodes[batch->cells[cell]];
    for (int k = 0; k < 3; k++) span[k] = batch->x[node[1]][k] - batch->x[node[0]][k];
    return pcs_norm3(span);
}

// Declares three displacements and three rotations along the global axes.
static inline void pcs_cell_space_dofs(pcs_node_dofs *out)
{
    *out = (pcs_node_dofs){ .count = 6, .is_rotation = { false, false, false, true, true, true } };
    for (int k = 0; k < 3; k++) out->direction[k][k] = out->direction[3 + k][k] = 1.0;
}

static inline void pcs_cell_add_force(const pcs_batch *batch, int ndof, pcs_cell_force *cell_force,
                                      const pcs_cell_state *at, double *f)
{
    for (int c = 0; c < batch->ncell; c++) {
        double force[PCS_MAX_CELL_DOFS];
        cell_force(batch, c, at, force);
        pcs_cell_scatter(batch->equation + (size_t)c * (size_t)ndof, ndof, force, f);
    }
}

// Adds dof k of a node, x, to a vector in space.
static inline void pcs_cell_add_along(const pcs_cell_shape *shape, int cell, int k, double x, double sum[3])
{
    if (shape->axis == NULL) {
        sum[k] += x;
        return;
    }
    for (int m = 0; m < 3; m++) sum[m] += x * shape->axis[cell][m];
}

// Adds the resultant of the cells, N: without drag the forces of a cell without supports cancel, so it is skipped.
static inline void pcs_cell_add_resultant(const pcs_batch *batch, const pcs_cell_shape *shape,
                                          pcs_cell_force *cell_force, const pcs_cell_state *at, pcs_cell_sums *sum)
{
    bool has_drag = shape->is_grounded || batch->damping_mass != 0.0;
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)shape->ndof;
        double force[PCS_MAX_CELL_DOFS];
        if (!has_drag && pcs_cell_is_free(equation, shape->ndof)) continue;
        cell_force(batch, c, at, force);
        for (int i = 0; i < shape->ndof; i++) {
            int k = i % shape->node_dofs;
            if (k < shape->translations && equation[i] >= 0) pcs_cell_add_along(shape, c, k, force[i], sum->resultant);
        }
    }
}

// Adds the momenta p of a cell's dofs to the sums.
static inline void pcs_cell_add_momentum(const pcs_batch *batch, const pcs_cell_shape *shape, int cell, const double *p,
                                         pcs_cell_sums *sum)
{
    const int *equation = batch->equation + (size_t)cell * (size_t)shape->ndof;
    for (int i = 0; i < shape->ndof; i++) {
        int k = i % shape->node_dofs;
        if (k >= shape->translations) continue;
        pcs_cell_add_along(shape, cell, k, p[i], sum->momentum);
        if (equation[i] < 0) pcs_cell_add_along(shape, cell, k, p[i], sum->fixed_momentum);
    }
}

#endif
