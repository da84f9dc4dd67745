// Columns of the history: components of nodes and fields of cells, as the mean over a set, and centres of bodies.

#include "core/rotation.h"
#include "fe/data.h"

#include <stdio.h>
#include <string.h>

static double probe_cell(const pcs_system *self, int cell, int field, pcs_instant at)
{
    const fe_data *fe = self->data;
    int group = fe->batch_of_cell[cell], place = fe->place_of_cell[cell];
    double value[PCS_MAX_CELL_FIELDS], force[PCS_MAX_CELL_DOFS];
    if (place < 0) return 0.0; // another rank's
    const pcs_batch *batch = &fe->batches[group];
    const double *line_load = pcs_fe_spread_force(self, at, group, place, force);
    batch->ops->read_fields(batch, place, &(pcs_cell_state){ .q = at.q, .v = at.v, .line_load = line_load }, value);
    return value[field];
}

// Computes the rotation vector of a node, rad, or its angular velocity in space, rad/s.
static void probe_turn(const fe_data *fe, int node, bool is_spin, const double *q, const double *v, double out[3])
{
    double sum[3];
    int spin = fe->spin_of_node == NULL ? -1 : fe->spin_of_node[node];
    pcs_dofmap_vector(&fe->map, true, node, is_spin ? v : q, out);
    if (!is_spin || spin < 0 || fe->spins[spin][0] < 0) return;
    double R[9];
    pcs_rotation_exp(q + fe->spins[spin][0], R); // v is material there
    pcs_rotation_apply(R, out, sum);
    memcpy(out, sum, sizeof sum);
}

// Evaluates a linear form of positions or velocities (fe/centre.c).
static double probe_centre(const pcs_system *self, const pcs_probe *probe, const double *q, const double *v)
{
    const double *x = probe->quantity == PCS_PROBE_VELOCITY ? v : q;
    double sum = 0.0;
    for (int i = 0; i < probe->count; i++) sum += probe->weights[i] * x[probe->items[i]];
    pcs_system_sum(self, 1, &sum);
    return probe->offset + sum;
}

double pcs_fe_probe(const pcs_system *self, const pcs_probe *probe, pcs_instant at)
{
    const fe_data *fe = self->data;
    double sum = 0.0, vector[3];
    if (probe->weights != NULL) return probe_centre(self, probe, at.q, at.v);
    for (int i = 0; i < probe->count; i++) {
        int item = probe->items[i];
        if (probe->quantity == PCS_PROBE_FIELD) {
            sum += probe_cell(self, item, probe->axis, at);
            continue;
        }
        if (!pcs_fe_owns(fe, item)) continue;
        if (probe->quantity == PCS_PROBE_ROTATION || probe->quantity == PCS_PROBE_SPIN)
            probe_turn(fe, item, probe->quantity == PCS_PROBE_SPIN, at.q, at.v, vector);
        else pcs_dofmap_vector(&fe->map, false, item, probe->quantity == PCS_PROBE_VELOCITY ? at.v : at.q, vector);
        sum += vector[probe->axis];
        if (probe->quantity == PCS_PROBE_POSITION) sum += fe->model.mesh->x[item][probe->axis];
    }
    pcs_system_sum(self, 1, &sum);
    return sum / (probe->count + probe->nmore);
}

static pcs_status probe_demand_turn(const pcs_system *self, const pcs_set *nodes, int quantity, const char *component)
{
    const fe_data *fe = self->data;
    if (quantity < PCS_PROBE_ROTATION) return PCS_OK;
    for (int i = 0; i < nodes->count; i++) {
        bool turns = false;
        for (int d = fe->map.first[nodes->items[i]]; d < fe->map.first[nodes->items[i] + 1]; d++)
            turns = turns || fe->map.dof[d].is_rotation;
        if (!turns)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d of set '%s' has no rotations, so no '%s'",
                            nodes->items[i], nodes->name, component);
    }
    return PCS_OK;
}

bool pcs_fe_component(const char *component, int *quantity, int *axis)
{
    static const char *const prefixes[] = { "", "u", "v", "r", "w" };
    for (int i = 0; i < 15; i++) {
        char name[4];
        *quantity = PCS_PROBE_POSITION + i / 3;
        *axis = i % 3;
        snprintf(name, sizeof name, "%s%c", prefixes[i / 3], "xyz"[i % 3]);
        if (strcmp(component, name) == 0) return true;
    }
    return false;
}

pcs_status pcs_fe_node_probe(const pcs_system *self, const pcs_set *nodes, const char *component, pcs_probe *out)
{
    int quantity, axis;
    if (!pcs_fe_component(component, &quantity, &axis))
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "a node has no component '%s'; it has x, y, z, ux, uy, uz, vx, vy, vz, "
                        "and where it turns rx, ry, rz, wx, wy, wz",
                        component);
    PCS_TRY(probe_demand_turn(self, nodes, quantity, component));
    *out = (pcs_probe){ .quantity = quantity, .axis = axis, .count = nodes->count, .items = nodes->items };
    out->nmore = nodes->nmore;
    return PCS_OK;
}

// Returns the group of the cells, also on ranks that have none of them.
static int probe_group(const pcs_system *self, const pcs_set *cells)
{
    const fe_data *fe = self->data;
    int group = cells->count > 0 ? fe->batch_of_cell[cells->items[0]] : -1;
    return (int)pcs_system_max(self, group);
}

// Returns the index of an element's field, or -1; fields of cells precede those at ends. Lists all names in `known`.
static int probe_find_field(const pcs_element_ops *ops, const char *field, size_t size, char *known)
{
    const char *const *const lists[] = { ops->fields, pcs_end_fields(ops) };
    int count = 0, number = -1;
    for (int i = 0; i < 2; i++)
        for (int k = 0; lists[i][k] != NULL; k++, count++) {
            size_t used = strlen(known);
            if (strcmp(lists[i][k], field) == 0) number = count;
            snprintf(known + used, size - used, "%s%s", used == 0 ? "" : ", ", lists[i][k]);
        }
    return number;
}

pcs_status pcs_fe_cell_probe(const pcs_system *self, const pcs_set *cells, const char *field, pcs_probe *out)
{
    const fe_data *fe = self->data;
    int group = probe_group(self, cells);
    for (int i = 0; i < cells->count; i++)
        if (fe->batch_of_cell[cells->items[i]] != group || group < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "the cells of set '%s' are not of one element group",
                            cells->name);
    char known[512] = "";
    int number = group < 0 ? -1 : probe_find_field(fe->model.groups[group].ops, field, sizeof known, known);
    if (number < 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "the elements of set '%s' have no field '%s'; they have %s",
                        cells->name, field, known);
    *out = (pcs_probe){ .quantity = PCS_PROBE_FIELD, .axis = number, .count = cells->count, .items = cells->items };
    out->nmore = cells->nmore;
    return PCS_OK;
}
