// Finds the nodes with finite rotations in space, and the relative rotation of the ends of cells.

#include "fe/data.h"

#include <stdio.h>
#include <string.h>

static int rotations_count(const fe_data *fe, int node, int equation[3])
{
    int count = 0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation || !d->is_finite) continue;
        if (count < 3) equation[count] = d->equation;
        count++;
    }
    return count;
}

// Lists a rotation in space, unless supports fix two of its components: the third is then an angle, which adds up.
static void rotations_note(fe_data *fe, int node)
{
    int equation[3];
    if (rotations_count(fe, node, equation) != 3) return;
    int nfixed = (equation[0] < 0) + (equation[1] < 0) + (equation[2] < 0);
    if (nfixed == 2) return;
    fe->spin_of_node[node] = fe->nspin;
    memcpy(fe->spins[fe->nspin++], equation, sizeof equation);
}

// Returns the order of a node: 0 if own, 1 for copies for cells, 2 for copies for distant contacts.
static int rotations_stage(const fe_data *fe, int node)
{
    if (pcs_fe_owns(fe, node)) return 0;
    const pcs_layout *layout = &fe->share->layout;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++)
        if (fe->map.dof[i].equation >= layout->n - layout->nfar) return 2;
    return 1;
}

// Lists the equations of the rotations that are not fixed.
static pcs_status rotations_list(pcs_system *self, const fe_data *fe)
{
    int *equation;
    bool *begins;
    PCS_TAKE(self->ctx, equation, fe->nspin, "rotations");
    PCS_TAKE(self->ctx, begins, self->nv, "rotations");
    for (int s = 0; s < fe->nspin; s++) {
        if (fe->spins[s][0] < 0) continue;
        equation[self->rotations.count++] = fe->spins[s][0];
        begins[fe->spins[s][0]] = true;
    }
    self->rotations.equation = equation;
    self->rotations.begins = begins;
    return PCS_OK;
}

pcs_status pcs_fe_find_rotations(pcs_system *self, fe_data *fe)
{
    int nnode = fe->model.mesh->nnode, equation[3], count = 0;
    for (int node = 0; node < nnode; node++) count += rotations_count(fe, node, equation) == 3;
    if (count == 0) return PCS_OK;
    PCS_TAKE(self->ctx, fe->spins, count, "rotations");
    PCS_TAKE(self->ctx, fe->spin_of_node, nnode, "rotations");
    for (int node = 0; node < nnode; node++) fe->spin_of_node[node] = -1;
    for (int stage = 0; stage < 3; stage++)
        for (int node = 0; node < nnode; node++)
            if (rotations_stage(fe, node) == stage) rotations_note(fe, node);
    return rotations_list(self, fe);
}

// Returns the angle, rad, between the nodes of a cell; 0 unless both have finite rotations in space.
static double rotations_between(const fe_data *fe, const double *q, const int node[2])
{
    double p[2][3] = { { 0.0 } }, turn[3];
    for (int i = 0; i < 2; i++) {
        int spin = fe->spin_of_node[node[i]];
        if (spin < 0) return 0.0;
        for (int k = 0; k < 3; k++)
            if (fe->spins[spin][k] >= 0) p[i][k] = (i == 0 ? -1.0 : 1.0) * q[fe->spins[spin][k]];
    }
    pcs_rotation_compose(p[0], p[1], turn);
    return pcs_norm3(turn);
}

// Reports the cell with the largest relative rotation above 2.8 rad: at half a turn bending moments jump.
void pcs_fe_name_bent(const pcs_system *self, const double *q, size_t size, char *text)
{
    static const double near_half = 2.8; // rad
    const fe_data *fe = self->data;
    double most = near_half;
    text[0] = '\0';
    for (int g = 0; g < fe->model.ngroup && fe->nspin > 0; g++) {
        const pcs_batch *batch = &fe->batches[g];
        if (batch->ops->nnode == 1 || !batch->ops->is_nonlinear) continue;
        for (int c = 0; c < batch->ncell; c++) {
            const int *node = batch->nodes[batch->cells[c]];
            double turn = rotations_between(fe, q, node);
            if (turn <= most) continue;
            most = turn;
            snprintf(text, size,
                     "; the ends of the cell from node %d to node %d of '%s' have turned by %.3g rad against each "
                     "other, where half a turn is the most: more cells are needed",
                     pcs_mesh_node_number(fe->model.mesh, node[0]), pcs_mesh_node_number(fe->model.mesh, node[1]),
                     fe->model.groups[g].name, turn);
        }
    }
}
