// Columns of the history: components of nodes and fields of cells, as the mean over a set, and centres of bodies.

#include "core/rotation.h"
#include "core/text.h"
#include "fe/data.h"

#include <stdio.h>
#include <string.h>

static double probe_cell(const pcs_system *self, int cell, int field, pcs_instant at)
{
    const fe_data *fe = self->data;
    int group = fe->batch_of_cell[cell], place = fe->place_of_cell[cell];
    double value[PCS_MAX_CELL_FIELDS], force[PCS_MAX_CELL_DOFS];
    if (place < 0) return 0.0; // the cell belongs to another process
    const pcs_batch *batch = &fe->batches[group];
    const double *line_load = pcs_fe_cell_load_force(self, at, group, place, force);
    batch->ops->read_fields(batch, place, &(pcs_cell_state){ .q = at.q, .v = at.v, .line_load = line_load }, value);
    return value[field];
}

// Computes the rotation vector of a node, rad, or its angular velocity in space, rad/s.
static void probe_rotation(const pcs_system *self, int node, bool is_spin, pcs_instant at, double out[3])
{
    const fe_data *fe = self->data;
    double sum[3], R[9];
    int first = pcs_table_rotation(self, &fe->map, node);
    pcs_dofmap_vector(&fe->map, true, node, is_spin ? at.v : at.q, out);
    if (!is_spin || first < 0) return;
    pcs_rotation_exp(at.q + first, R); // v is a material angular velocity there
    pcs_rotation_apply(R, out, sum);
    memcpy(out, sum, sizeof sum);
}

// Evaluates a linear form of positions or velocities.
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
            probe_rotation(self, item, probe->quantity == PCS_PROBE_SPIN, at, vector);
        else pcs_dofmap_vector(&fe->map, false, item, probe->quantity == PCS_PROBE_VELOCITY ? at.v : at.q, vector);
        sum += vector[probe->axis];
        if (probe->quantity == PCS_PROBE_POSITION) sum += fe->model.mesh->x[item][probe->axis];
    }
    pcs_system_sum(self, 1, &sum);
    return sum / (probe->count + probe->nmore);
}

static pcs_status probe_demand_rotation(const pcs_system *self, const pcs_set *nodes, int quantity,
                                        const char *component)
{
    const fe_data *fe = self->data;
    if (quantity < PCS_PROBE_ROTATION) return PCS_OK;
    for (int i = 0; i < nodes->count; i++) {
        bool rotates = false;
        for (int d = fe->map.first[nodes->items[i]]; d < fe->map.first[nodes->items[i] + 1]; d++)
            rotates = rotates || fe->map.dof[d].is_rotation;
        if (!rotates)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d of set '%s' has no rotations, so no '%s'",
                            nodes->items[i], nodes->name, component);
    }
    return PCS_OK;
}

// Parses a component such as "uy" into a quantity of nodes and an axis. Returns false if there is no such component.
static bool fe_component(const char *component, int *quantity, int *axis)
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
    if (!fe_component(component, &quantity, &axis))
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "a node has no component '%s'; it has x, y, z, ux, uy, uz, vx, vy, vz, "
                        "and with rotations rx, ry, rz, wx, wy, wz",
                        component);
    PCS_TRY(probe_demand_rotation(self, nodes, quantity, component));
    *out = (pcs_probe){ .quantity = quantity, .axis = axis, .count = nodes->count, .items = nodes->items };
    out->nmore = nodes->nmore;
    return PCS_OK;
}

// Returns the group of the cells, also on processes that have none of them.
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
            if (strcmp(lists[i][k], field) == 0) number = count;
            pcs_text_add(known, size, "%s%s", known[0] == '\0' ? "" : ", ", lists[i][k]);
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
    int number = group < 0 ? -1 : probe_find_field(fe->batches[group].ops, field, sizeof known, known);
    if (number < 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "the elements of set '%s' have no field '%s'; they have %s",
                        cells->name, field, known);
    *out = (pcs_probe){ .quantity = PCS_PROBE_FIELD, .axis = number, .count = cells->count, .items = cells->items };
    out->nmore = cells->nmore;
    return PCS_OK;
}

// Centre of mass of a body, which is a set of cells, as a linear form of positions or velocities.
//
// With d_a the directions of the translations of a cell and e_k an axis its momentum is
//   p_k = sum_b w_kb v_b,   w_kb = sum_a (e_k . d_a) M_ab
// over all b: rotations take part where a mass matrix couples them. Its mass is that of a unit velocity in all n
// directions that its nodes have, m = 1/n sum_ab (d_a . d_b) M_ab, and the share of a node that of its rows. X is
// where the mass ends: at the node, or at an arm from it. Along the directions it goes in as velocities do, for those
// across a beam may be shared out otherwise than those along it; X' is what they leave out of X, as of a bar off its
// axis. So
//   v_k = p_k(v)/m,   u_k = p_k(q)/m,   x_k = u_k + 1/m sum_b (w_kb (d_b . X) + share_b X'_k)

typedef struct body {
    const fe_data *fe;
    int axis;
    double mass, moment; // sums over cells: m, and m x_k at rest
    int count;           // number of terms
    int *equation;       // [count]
    double *weight;      // [count] weights of p_k
} body;

// Finds off, m, the part of the end of a cell's mass along the axis that the directions of its node do not contain.
// Returns the largest number of directions of a node.
static int centre_directions(const fe_cell *cell, int nnode, int count, int axis, double off[2])
{
    int most = 1;
    for (int end = 0; end < nnode; end++) {
        int given = 0;
        off[end] = cell->x[end][axis];
        for (int i = end * count; i < (end + 1) * count; i++) {
            off[end] -= cell->d[i][axis] * cell->along[i];
            given += pcs_dot3(cell->d[i], cell->d[i]) > 0.0;
        }
        if (given > most) most = given;
    }
    return most;
}

static pcs_status centre_add_cell(pcs_context *ctx, body *b, int cell)
{
    const pcs_batch *batch = &b->fe->batches[b->fe->batch_of_cell[cell]];
    int place = b->fe->place_of_cell[cell], n = batch->ops->ndof;
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], off[2];
    fe_cell t;
    PCS_TRY(pcs_fe_find_cell(ctx, b->fe, batch, place, &t));
    int count = n / batch->ops->nnode, most = centre_directions(&t, batch->ops->nnode, count, b->axis, off);
    batch->ops->matrices(batch, place, NULL, M, NULL, NULL);
    for (int i = 0; i < n; i++) {
        double share = 0.0, weight = 0.0;
        int equation = batch->equation[(size_t)place * (size_t)n + (size_t)i];
        for (int a = 0; a < n; a++) {
            share += M[a * n + i] * pcs_dot3(t.d[a], t.d[i]) / most;
            weight += M[a * n + i] * t.d[a][b->axis];
        }
        b->mass += share;
        b->moment += weight * t.along[i] + share * off[i / count];
        if (equation < 0 || weight == 0.0) continue;
        b->equation[b->count] = equation;
        b->weight[b->count++] = weight;
    }
    return PCS_OK;
}

static pcs_status centre_sum(const pcs_system *self, const pcs_set *cells, body *b)
{
    size_t room = (size_t)cells->count * PCS_MAX_CELL_DOFS;
    PCS_TAKE(self->ctx, b->equation, room, "the centre of a body");
    PCS_TAKE(self->ctx, b->weight, room, "the centre of a body");
    for (int i = 0; i < cells->count; i++) {
        int cell = cells->items[i];
        if (b->fe->batch_of_cell[cell] < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "cell %d of set '%s' has no element and so no mass", cell,
                            cells->name);
        if (b->fe->place_of_cell[cell] >= 0) PCS_TRY(centre_add_cell(self->ctx, b, cell));
    }
    double sums[2] = { b->mass, b->moment };
    pcs_system_sum(self, 2, sums);
    b->mass = sums[0];
    b->moment = sums[1];
    if (b->mass > 0.0) return PCS_OK;
    return pcs_fail(self->ctx, PCS_BAD_INPUT, "set '%s' has no mass and so no centre", cells->name);
}

pcs_status pcs_fe_body_probe(const pcs_system *self, const pcs_set *cells, const char *component, pcs_probe *out)
{
    int quantity, axis;
    if (!fe_component(component, &quantity, &axis) || quantity > PCS_PROBE_VELOCITY)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "the centre of a body has no component '%s'; it has x, y, z, ux, uy, uz, vx, vy, vz",
                        component);
    body b = { .fe = self->data, .axis = axis };
    PCS_TRY(centre_sum(self, cells, &b));
    for (int i = 0; i < b.count; i++) b.weight[i] /= b.mass;
    *out =
        (pcs_probe){ .quantity = quantity, .axis = axis, .count = b.count, .items = b.equation, .weights = b.weight };
    if (quantity == PCS_PROBE_POSITION) out->offset = b.moment / b.mass;
    return PCS_OK;
}
