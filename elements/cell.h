// One cell within its batch: values of its dofs out of and into the vectors of the system, and the loops over all cells
// that elements share. Fixed dofs rest at zero.

#ifndef PCS_ELEMENTS_CELL_H
#define PCS_ELEMENTS_CELL_H

#include "elements/element.h"

// The dofs of a cell, node by node: first displacements along the global axes, then rotations.
typedef struct pcs_cell_shape {
    int ndof, node_dofs, translations; // of the cell, of a node, and those of them that are displacements
    bool is_grounded;                  // a rigid motion feels forces, too
} pcs_cell_shape;

// Internal and damping force of a cell on its dofs, as forces on the body.
typedef void pcs_cell_force(const pcs_batch *batch, int cell, const double *q, const double *v, double *force);

static inline void pcs_cell_gather(const int *equation, int ndof, const double *x, double *local)
{
    for (int i = 0; i < ndof; i++) local[i] = equation[i] < 0 ? 0.0 : x[equation[i]];
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

// Vector from the first node to the second.
static inline void pcs_cell_span(const pcs_batch *batch, int cell, double span[3])
{
    const int *node = batch->nodes[batch->cells[cell]];
    for (int k = 0; k < 3; k++) span[k] = batch->x[node[1]][k] - batch->x[node[0]][k];
}

// Three displacements and three rotations along the global axes.
static inline void pcs_cell_space_dofs(pcs_node_dofs *out)
{
    *out = (pcs_node_dofs){ .count = 6, .is_rotation = { false, false, false, true, true, true } };
    for (int k = 0; k < 3; k++) out->direction[k][k] = out->direction[3 + k][k] = 1.0;
}

static inline void pcs_cell_add_force(const pcs_batch *batch, int ndof, pcs_cell_force *cell_force, const double *q,
                                      const double *v, double *f)
{
    for (int c = 0; c < batch->ncell; c++) {
        double force[PCS_MAX_CELL_DOFS];
        cell_force(batch, c, q, v, force);
        pcs_cell_scatter(batch->equation + (size_t)c * (size_t)ndof, ndof, force, f);
    }
}

// The forces of a cell that moves freely add up to drag alone; those at supports do not.
static inline void pcs_cell_add_resultant(const pcs_batch *batch, const pcs_cell_shape *shape,
                                          pcs_cell_force *cell_force, const double *q, const double *v, double sum[3])
{
    bool has_drag = shape->is_grounded || batch->damping_mass != 0.0;
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)shape->ndof;
        double force[PCS_MAX_CELL_DOFS];
        if (!has_drag && pcs_cell_is_free(equation, shape->ndof)) continue;
        cell_force(batch, c, q, v, force);
        for (int i = 0; i < shape->ndof; i++) {
            int k = i % shape->node_dofs;
            if (k < shape->translations && equation[i] >= 0) sum[k] += force[i];
        }
    }
}

// From the momenta p of a cell's dofs.
static inline void pcs_cell_add_momentum(const pcs_cell_shape *shape, const int *equation, const double *p,
                                         pcs_energy *sum)
{
    for (int i = 0; i < shape->ndof; i++) {
        int k = i % shape->node_dofs;
        if (k >= shape->translations) continue;
        sum->momentum[k] += p[i];
        if (equation[i] < 0) sum->fixed_momentum[k] += p[i];
    }
}

#endif
