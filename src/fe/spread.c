// Loads along cells as forces at their nodes, cell by cell: in equilibrium section forces at the ends of cells balance
// them. In motion inertia acts along cells as well, and is not known there: a body that falls would seem to carry its
// weight.
//
//   f = s (f_gravity + sum of a_l(t) f_l over line loads),   s the load factor, a_l the factor of a load

#include "fe/data.h"

// Holds gravity and line loads of one group on this rank, as a linked list of entries for each cell.
struct fe_spread {
    int count, *first; // [ncell] the latest entry of a cell, -1: none
    int *next, *load;  // [room] the entry before; the number of the load, GRAVITY: the sum of all gravity
    double *force;     // [room][ndof] at amplitude 1
};

enum { GRAVITY = -1 };

bool pcs_fe_has_spread(const fe_data *fe)
{
    for (int i = 0; i < fe->model.nload; i++)
        if (fe->model.loads[i].is_gravity || fe->model.loads[i].kind == PCS_LOAD_LINE) return true;
    return false;
}

// Entries that a group may need.
static size_t spread_room(const fe_data *fe, int group)
{
    size_t room = 0;
    bool has_gravity = false;
    for (int i = 0; i < fe->model.nload; i++) {
        const pcs_fe_load *load = &fe->model.loads[i];
        has_gravity = has_gravity || load->is_gravity;
        if (load->is_gravity || load->kind != PCS_LOAD_LINE) continue;
        for (int k = 0; k < load->cells->count; k++) room += fe->batch_of_cell[load->cells->items[k]] == group;
    }
    return room + (has_gravity ? (size_t)fe->batches[group].ncell : 0);
}

pcs_status pcs_fe_take_spread(pcs_system *self, fe_data *fe)
{
    if (!fe->model.stays_still || !pcs_fe_has_spread(fe)) return PCS_OK;
    PCS_TAKE(self->ctx, fe->spreads, fe->model.ngroup, "loads along cells");
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = pcs_fe_ops(fe, g);
        size_t room = ops->end_fields == NULL ? 0 : spread_room(fe, g);
        fe_spread *spread = &fe->spreads[g];
        if (room == 0) continue;
        PCS_TAKE(self->ctx, spread->first, fe->batches[g].ncell, "loads along cells");
        PCS_TAKE(self->ctx, spread->next, room, "loads along cells");
        PCS_TAKE(self->ctx, spread->load, room, "loads along cells");
        PCS_TAKE(self->ctx, spread->force, room * (size_t)ops->ndof, "loads along cells");
        for (int c = 0; c < fe->batches[g].ncell; c++) spread->first[c] = -1;
    }
    return PCS_OK;
}

void pcs_fe_note_spread(fe_data *fe, int batch, int cell, const pcs_fe_load *load, const double *force)
{
    if (fe->spreads == NULL) return;
    if (batch >= fe->model.ngroup || fe->spreads[batch].first == NULL) return; // another rank's
    fe_spread *spread = &fe->spreads[batch];
    int n = pcs_fe_ops(fe, batch)->ndof, number = load->is_gravity ? GRAVITY : (int)(load - fe->model.loads);
    int entry = spread->first[cell];
    while (entry >= 0 && spread->load[entry] != number) entry = spread->next[entry];
    if (entry < 0) {
        entry = spread->count++;
        spread->next[entry] = spread->first[cell];
        spread->load[entry] = number;
        spread->first[cell] = entry;
    }
    for (int i = 0; i < n; i++) spread->force[(size_t)entry * (size_t)n + (size_t)i] += force[i];
}

const double *pcs_fe_spread_force(const pcs_system *self, pcs_instant at, int group, int cell,
                                  double f[PCS_MAX_CELL_DOFS])
{
    const fe_data *fe = self->data;
    const fe_spread *spread = fe->spreads == NULL ? NULL : &fe->spreads[group];
    if (!at.is_equilibrium || spread == NULL || spread->first == NULL || spread->first[cell] < 0) return NULL;
    size_t n = (size_t)pcs_fe_ops(fe, group)->ndof;
    for (size_t i = 0; i < n; i++) f[i] = 0.0;
    for (int entry = spread->first[cell]; entry >= 0; entry = spread->next[entry]) {
        int load = spread->load[entry];
        double factor = at.load_factor * (load == GRAVITY ? 1.0 : pcs_fe_load_size(self, load, at.t));
        for (size_t i = 0; i < n; i++) f[i] += factor * spread->force[(size_t)entry * n + i];
    }
    return f;
}
