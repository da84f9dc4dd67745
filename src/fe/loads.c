// Gravity and line loads as consistent load vectors, nodal forces and moments.
//
//   f_g = M (g . d),   V(u) = -f_g . u - sum_cells g . M (X - datum),   X where the mass of a cell ends
//   line load p per length:   f_p = (L/m) M (p . d), m the mass of the cell: the same shape functions, no density
//
// Loads along cells as forces at their nodes, cell by cell: in equilibrium section forces at the ends of cells balance
// them. In motion inertia acts along cells as well, and is not known there: a body that falls would seem to carry its
// weight.
//
//   f = s (f_gravity + sum of a_l(t) f_l over line loads),   s the load factor, a_l the factor of a load

#include "core/rotation.h"
#include "elements/cell.h"
#include "fe/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Loads on nodes with finite rotations R whose entries depend on them.
//
//   force F that follows    f_x = R F,          -df_x/dspin = R F^
//   moment m that stands    f_spin = R^T m,     -df_spin/dspin = -(R^T m)^      (in the plane it does not depend on R)
//   moment m that follows   f_spin = m
//
// Work along a step: mean force times displacement, and moment times the rotation vector from q0 to q1.

typedef struct turning_node {
    int translation[3], spin[3]; // dofs; -1 if absent
    int ntranslation, nspin;
    double R[9], turn[3];
    double force[3], moment[3]; // N; N m, material
} turning_node;

// Fails unless the node has finite rotations, which a load that rotates with it needs.
static pcs_status fe_demand_finite_turns(const pcs_system *self, int node)
{
    if (pcs_fe_turns_finitely(self->data, node)) return PCS_OK;
    return pcs_fail(self->ctx, PCS_BAD_INPUT,
                    "node %d has no finite rotation, so a follower load cannot act there: use exact beams or rigid "
                    "bodies, or a load with a fixed direction",
                    node);
}

static pcs_status fe_add_turning_load(pcs_system *self, fe_data *fe, int load, int node)
{
    const pcs_fe_load *l = &fe->model.loads[load];
    const double *x = l->value;
    bool is_moment = l->kind == PCS_LOAD_MOMENT;
    int dof[PCS_MAX_NODE_DOFS];
    double part[PCS_MAX_NODE_DOFS];
    PCS_TRY(fe_demand_finite_turns(self, node));
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->is_rotation == is_moment && d->equation == -1)
            return pcs_fail(self->ctx, PCS_BAD_INPUT,
                            "node %d is held by a support; the %s [%g, %g, %g] needs a node that is free to %s", node,
                            is_moment ? "moment" : "follower force", x[0], x[1], x[2], is_moment ? "turn" : "move");
    }
    if (pcs_dofmap_resolve(&fe->map, is_moment, node, x, dof, part) < 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "node %d cannot move along the force [%g, %g, %g]: its elements give it no such direction",
                        node, x[0], x[1], x[2]);
    fe->has_pushes = true;
    fe_turning_load *out = &fe->turning[fe->nturning++];
    *out = (fe_turning_load){ .node = node, .load = load };
    memcpy(out->value, l->value, sizeof out->value);
    return PCS_OK;
}

// Finds the dofs of a load's node and what the load does there at time t and positions q.
static void turning_look(const pcs_system *self, const fe_turning_load *load, double t, const double *q,
                         turning_node *out)
{
    const fe_data *fe = self->data;
    const pcs_fe_load *l = &fe->model.loads[load->load];
    double factor = pcs_fe_load_size(self, load->load, t), scaled[3];
    *out = (turning_node){ 0 };
    for (int i = fe->map.first[load->node]; i < fe->map.first[load->node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation && out->ntranslation < 3) out->translation[out->ntranslation++] = i;
        if (!d->is_rotation || out->nspin == 3) continue;
        out->spin[out->nspin++] = i;
        if (d->equation >= 0)
            for (int k = 0; k < 3; k++) out->turn[k] += q[d->equation] * d->direction[k];
    }
    pcs_rotation_exp(out->turn, out->R);
    for (int k = 0; k < 3; k++) scaled[k] = factor * load->value[k];
    if (l->kind == PCS_LOAD_FORCE) pcs_rotation_apply(out->R, scaled, out->force);
    else if (l->follows) memcpy(out->moment, scaled, sizeof scaled);
    else pcs_rotation_apply_transposed(out->R, scaled, out->moment);
}

void pcs_fe_turning_force(const pcs_system *self, double t, const double *q, double *f)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->nturning; i++) {
        turning_node node;
        turning_look(self, &fe->turning[i], t, q, &node);
        for (int d = fe->map.first[fe->turning[i].node]; d < fe->map.first[fe->turning[i].node + 1]; d++) {
            const pcs_dof *dof = &fe->map.dof[d];
            if (dof->equation >= 0)
                f[dof->equation] += pcs_dot3(dof->is_rotation ? node.moment : node.force, dof->direction);
        }
    }
}

// Adds -d(load)/d(spin) to K(row dof, spin dof).
static void turning_add_entry(pcs_system *self, int row, int column, double value)
{
    const fe_data *fe = self->data;
    int i = fe->map.dof[row].equation, j = fe->map.dof[column].equation;
    if (i >= pcs_system_nown(self)) return; // a copy may lack the cells that couple its dofs
    if (i >= 0 && j >= 0 && value != 0.0) self->K->value[pcs_pattern_place(self->K->pattern, i, j)] += value;
}

void pcs_fe_turning_tangent(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->nturning; i++) {
        const fe_turning_load *load = &fe->turning[i];
        const pcs_fe_load *l = &fe->model.loads[load->load];
        turning_node node;
        double factor = at.load_factor * pcs_fe_load_size(self, load->load, at.t);
        turning_look(self, load, at.t, at.q, &node);
        for (int s = 0; s < node.nspin; s++) {
            const double *axis = fe->map.dof[node.spin[s]].direction;
            double change[3], turned[3];
            pcs_cross(axis, load->value, change); // change of R F by a spin about the axis: R (axis x F)
            pcs_rotation_apply(node.R, change, turned);
            if (l->kind == PCS_LOAD_FORCE)
                for (int r = 0; r < node.ntranslation; r++)
                    turning_add_entry(self, node.translation[r], node.spin[s],
                                      -factor * pcs_dot3(turned, fe->map.dof[node.translation[r]].direction));
            if (l->kind == PCS_LOAD_FORCE || l->follows) continue;
            pcs_cross(node.moment, axis, change); // change of R^T m: -(axis x R^T m)
            for (int r = 0; r < node.nspin; r++)
                turning_add_entry(self, node.spin[r], node.spin[s],
                                  -at.load_factor * pcs_dot3(change, fe->map.dof[node.spin[r]].direction));
        }
    }
}

void pcs_fe_turning_resultant(const pcs_system *self, double t, const double *q, double sum[3])
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->nturning; i++) {
        turning_node node;
        turning_look(self, &fe->turning[i], t, q, &node);
        for (int r = 0; r < node.ntranslation; r++) {
            const pcs_dof *d = &fe->map.dof[node.translation[r]];
            if (d->equation < 0 || d->equation >= pcs_system_nown(self)) continue;
            for (int k = 0; k < 3; k++) sum[k] += pcs_dot3(node.force, d->direction) * d->direction[k];
        }
    }
}

double pcs_fe_turning_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const fe_data *fe = self->data;
    double work = 0.0;
    for (int i = 0; i < fe->nturning; i++) {
        const fe_turning_load *load = &fe->turning[i];
        turning_node start, end;
        double u0[3], u1[3], back[3], way[3];
        if (!pcs_fe_owns(fe, load->node)) continue;
        turning_look(self, load, t, q0, &start);
        turning_look(self, load, t, q1, &end);
        pcs_dofmap_vector(&fe->map, false, load->node, q0, u0);
        pcs_dofmap_vector(&fe->map, false, load->node, q1, u1);
        for (int k = 0; k < 3; k++) back[k] = -start.turn[k];
        pcs_rotation_compose(back, end.turn, way); // rotation from q0 to q1, material
        for (int k = 0; k < 3; k++)
            work += 0.5 * (start.force[k] + end.force[k]) * (u1[k] - u0[k]) +
                    0.5 * (start.moment[k] + end.moment[k]) * way[k];
    }
    return work;
}

double pcs_fe_turning_power(const pcs_system *self, double t, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    double power = 0.0;
    for (int i = 0; i < fe->nturning; i++) {
        const fe_turning_load *load = &fe->turning[i];
        turning_node node;
        if (!pcs_fe_owns(fe, load->node)) continue;
        turning_look(self, load, t, q, &node);
        for (int d = fe->map.first[load->node]; d < fe->map.first[load->node + 1]; d++) {
            const pcs_dof *dof = &fe->map.dof[d];
            if (dof->equation < 0) continue;
            power += pcs_dot3(dof->is_rotation ? node.moment : node.force, dof->direction) * v[dof->equation];
        }
    }
    return power;
}

enum { TIMES_OF_A_STEP = 64 };

bool pcs_fe_name_load(const pcs_system *self, const double span[2], size_t size, char *text)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->model.nload; i++) {
        const pcs_fe_load *load = &fe->model.loads[i];
        for (int k = 0; k <= TIMES_OF_A_STEP; k++) {
            double t = span[0] + k * (span[1] - span[0]) / TIMES_OF_A_STEP, factor = pcs_fe_load_size(self, i, t);
            if (load->is_gravity || isfinite(factor)) continue;
            snprintf(text, size, "; the load '%.80s' is no number: its factor '%.160s' is %g at t = %.9g s", load->name,
                     load->amplitude.formula == NULL ? "?" : load->amplitude.formula, factor, t);
            return true;
        }
    }
    return false;
}

// Holds gravity and line loads of one group on this process, as a linked list of entries for each cell.
struct fe_spread {
    int count, *first; // [ncell] latest entry of a cell, -1 if none
    int *next, *load;  // [room] previous entry; number of the load, or GRAVITY for the sum of all gravity
    double *force;     // [room][ndof] N or N m at amplitude 1
};

enum { GRAVITY = -1 };

bool pcs_fe_has_spread(const fe_data *fe)
{
    for (int i = 0; i < fe->model.nload; i++)
        if (fe->model.loads[i].is_gravity || fe->model.loads[i].kind == PCS_LOAD_LINE) return true;
    return false;
}

// Returns the largest number of entries that a group may need.
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

static pcs_status spread_take(pcs_system *self, fe_data *fe)
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

static void spread_note(fe_data *fe, int batch, int cell, const pcs_fe_load *load, const double *force)
{
    if (fe->spreads == NULL) return;
    if (batch >= fe->model.ngroup || fe->spreads[batch].first == NULL) return; // a cell of another process
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

void pcs_fe_mass_end(const pcs_batch *batch, int cell, int end, double x[3])
{
    const double *node = batch->x[batch->nodes[batch->cells[cell]][end]];
    double span[3];
    pcs_cell_span(batch, cell, span);
    const pcs_cell_outline outline = pcs_element_outline(batch->ops, batch->params, span);
    for (int k = 0; k < 3; k++) x[k] = node[k] + outline.arm[end][k];
}

// Resolves g (or a line load) and the height above the datum along each local dof of a cell.
static pcs_status loads_pull(pcs_system *self, const pcs_fe_load *load, int group, int cell,
                             double pull[PCS_MAX_CELL_DOFS], double height[PCS_MAX_CELL_DOFS])
{
    const fe_data *fe = self->data;
    const pcs_batch *batch = &fe->batches[group];
    const double *g = load->value;
    int place = 0;
    for (int i = 0; i < pcs_fe_ops(fe, group)->nnode; i++) {
        int node = batch->nodes[batch->cells[cell]][i], dof[PCS_MAX_NODE_DOFS];
        double coefficient[PCS_MAX_NODE_DOFS];
        if (pcs_dofmap_resolve(&fe->map, false, node, g, dof, coefficient) < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d of '%s' cannot move along %s [%g, %g, %g]", node,
                            batch->name, load->is_gravity ? "g =" : "the line load", g[0], g[1], g[2]);
        pcs_node_dofs given;
        double x[3];
        PCS_TRY(pcs_fe_ops(fe, group)->node_dofs(self->ctx, batch, cell, i, &given));
        pcs_fe_mass_end(batch, cell, i, x);
        for (int j = 0; j < given.count; j++, place++) {
            pull[place] = height[place] = 0.0;
            if (!given.is_rotation[j])
                for (int k = 0; k < 3; k++) {
                    pull[place] += g[k] * given.direction[j][k];
                    height[place] += (x[k] - load->datum[k]) * given.direction[j][k];
                }
        }
    }
    return PCS_OK;
}

static pcs_status loads_add_weight(pcs_system *self, fe_data *fe, const pcs_fe_load *load, int group, double *gravity)
{
    const pcs_element_ops *ops = pcs_fe_ops(fe, group);
    const pcs_batch *batch = &fe->batches[group];
    int n = ops->ndof;
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    double pull[PCS_MAX_CELL_DOFS] = { 0 }, height[PCS_MAX_CELL_DOFS] = { 0 }, force[PCS_MAX_CELL_DOFS];
    for (int c = 0; c < batch->ncell; c++) {
        PCS_TRY(loads_pull(self, load, group, c, pull, height));
        ops->matrices(batch, c, NULL, M, NULL, NULL);
        for (int i = 0; i < n; i++) {
            force[i] = 0.0;
            for (int j = 0; j < n; j++) force[i] += M[i * n + j] * pull[j];
            int equation = batch->equation[(size_t)c * (size_t)n + (size_t)i];
            if (equation >= 0) gravity[equation] += force[i];
            if (group < fe->model.ngroup) fe->rest_potential -= force[i] * height[i];
        }
        spread_note(fe, group, c, load, force);
    }
    return PCS_OK;
}

static pcs_status loads_add_gravity(pcs_system *self, fe_data *fe, const pcs_fe_load *load, double **gravity)
{
    if (*gravity == NULL) PCS_TAKE(self->ctx, *gravity, self->nv, "gravity");
    for (int b = 0; b < fe->nbatch; b++) PCS_TRY(loads_add_weight(self, fe, load, b, *gravity));
    return PCS_OK;
}

static void loads_push(pcs_system *self, fe_data *fe, const pcs_dof *d, double value)
{
    fe->has_pushes = true;
    if (d->equation < 0 || d->equation >= pcs_system_nown(self) || value == 0.0) return;
    fe_push *push = &fe->pushes[fe->npush++];
    *push = (fe_push){ .equation = d->equation, .value = value };
    if (!d->is_rotation)
        for (int k = 0; k < 3; k++) push->direction[k] = d->direction[k];
}

static pcs_status loads_held(pcs_system *self, int node, const pcs_fe_load *load)
{
    const double *x = load->value;
    return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d is held by a support %s [%g, %g, %g]", node,
                    load->kind == PCS_LOAD_MOMENT ? "against the moment" : "along the force", x[0], x[1], x[2]);
}

// Adds a force, or a moment.
static pcs_status loads_add_force(pcs_system *self, fe_data *fe, const pcs_fe_load *load, int node)
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS];
    bool is_moment = load->kind == PCS_LOAD_MOMENT;
    int count = pcs_dofmap_resolve(&fe->map, is_moment, node, load->value, dof, coefficient);
    if (count < 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d cannot %s [%g, %g, %g]: its elements give it no such %s",
                        node, is_moment ? "rotate about the moment" : "move along the force", load->value[0],
                        load->value[1], load->value[2], is_moment ? "rotation" : "direction");
    for (int j = 0; j < count; j++) {
        const pcs_dof *d = &fe->map.dof[dof[j]];
        if (d->equation == -1) return loads_held(self, node, load);
        loads_push(self, fe, d, coefficient[j]);
    }
    return PCS_OK;
}

static bool loads_turns_in_space(const fe_data *fe, int node)
{
    return fe->spin_of_node != NULL && fe->spin_of_node[node] >= 0;
}

static pcs_status loads_add_nodal(pcs_system *self, fe_data *fe, int index)
{
    const pcs_fe_load *load = &fe->model.loads[index];
    for (int i = 0; i < load->nodes->count; i++) {
        int node = load->nodes->items[i];
        bool is_moment = load->kind == PCS_LOAD_MOMENT;
        // In the plane a moment does not depend on the rotation of its node.
        bool turns = is_moment ? loads_turns_in_space(fe, node) : load->follows;
        if (load->follows && !turns) PCS_TRY(fe_demand_finite_turns(self, node));
        if (turns) PCS_TRY(fe_add_turning_load(self, fe, index, node));
        else PCS_TRY(loads_add_force(self, fe, load, node));
    }
    return PCS_OK;
}

pcs_status pcs_fe_line_force(pcs_system *self, const pcs_fe_load *load, int b, int cell,
                             double image[PCS_MAX_CELL_DOFS])
{
    const fe_data *fe = self->data;
    const pcs_batch *batch = &fe->batches[b];
    int n = pcs_fe_ops(fe, b)->ndof;
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    double pull[PCS_MAX_CELL_DOFS] = { 0 }, height[PCS_MAX_CELL_DOFS] = { 0 }, mass = 0.0, span[3];
    PCS_TRY(loads_pull(self, load, b, cell, pull, height));
    pcs_fe_ops(fe, b)->matrices(batch, cell, NULL, M, NULL, NULL);
    for (int i = 0; i < n; i++) {
        image[i] = 0.0;
        for (int j = 0; j < n; j++) image[i] += M[i * n + j] * pull[j];
        mass += pull[i] * image[i];
    }
    double size2 = pcs_dot3(load->value, load->value);
    if (size2 > 0.0 && !(mass > 0.0))
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "cell %d of '%s' has no mass to spread a line load over: load its nodes by forces",
                        batch->cells[cell], batch->name);
    pcs_cell_span(batch, cell, span);
    for (int i = 0; i < n; i++) image[i] *= size2 > 0.0 ? size2 * pcs_norm3(span) / mass : 0.0;
    return PCS_OK;
}

static pcs_status loads_add_line_cell(pcs_system *self, fe_data *fe, const pcs_fe_load *load, int b, int cell)
{
    double image[PCS_MAX_CELL_DOFS];
    int n = pcs_fe_ops(fe, b)->ndof;
    PCS_TRY(pcs_fe_line_force(self, load, b, cell, image));
    for (int i = 0; i < n; i++) {
        int equation = fe->batches[b].equation[(size_t)cell * (size_t)n + (size_t)i];
        if (equation >= 0) loads_push(self, fe, &fe->map.dof[fe->dof_of_equation[equation]], image[i]);
    }
    spread_note(fe, b, cell, load, image);
    return PCS_OK;
}

// Checks that every cell of the set has a length, and an element to carry the load.
static pcs_status loads_check_line(const pcs_system *self, const pcs_fe_load *load)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < load->cells->count; i++) {
        int cell = load->cells->items[i];
        const int *node = fe->model.mesh->cell[cell];
        if (fe->batch_of_cell[cell] < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "cell %d of set '%s' has no element that could carry the load",
                            cell, load->cells->name);
        if (node[0] == node[1])
            return pcs_fail(self->ctx, PCS_BAD_INPUT,
                            "cell %d of set '%s' is a single node and has no length: use a force", cell,
                            load->cells->name);
    }
    return PCS_OK;
}

pcs_status pcs_fe_mark_loaded(const pcs_system *self, const pcs_fe_load *load, unsigned char **out)
{
    const fe_data *fe = self->data;
    unsigned char *is_loaded = pcs_scratch(NULL, (size_t)fe->model.mesh->ncell, 1);
    if (is_loaded == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: load '%s'", load->name);
    for (int i = 0; i < fe->model.mesh->ncell; i++) is_loaded[i] = 0;
    for (int i = 0; i < load->cells->count; i++) is_loaded[load->cells->items[i]] = 1;
    *out = is_loaded;
    return PCS_OK;
}

// Adds a line load on all cells here, also those of other processes that act on own equations.
static pcs_status loads_add_line(pcs_system *self, fe_data *fe, int index)
{
    const pcs_fe_load *load = &fe->model.loads[index];
    PCS_TRY(loads_check_line(self, load));
    unsigned char *is_loaded = NULL;
    pcs_status status = pcs_fe_mark_loaded(self, load, &is_loaded);
    for (int b = 0; b < fe->nbatch; b++)
        for (int c = 0; c < fe->batches[b].ncell && status == PCS_OK; c++)
            if (is_loaded[fe->batches[b].cells[c]]) status = loads_add_line_cell(self, fe, load, b, c);
    pcs_scratch_free(is_loaded);
    return status;
}

static pcs_status loads_take_memory(pcs_system *self, fe_data *fe)
{
    size_t room = 0, turning = 0;
    for (int i = 0; i < fe->model.nload; i++) {
        const pcs_fe_load *load = &fe->model.loads[i];
        if (load->is_gravity) continue;
        if (load->kind == PCS_LOAD_LINE) room += PCS_MAX_CELL_DOFS * (size_t)load->cells->count;
        else room += 3 * (size_t)load->nodes->count;
        if (load->kind != PCS_LOAD_LINE) turning += (size_t)load->nodes->count;
    }
    PCS_TAKE(self->ctx, fe->pushes, room, "nodal forces");
    PCS_TAKE(self->ctx, fe->turning, turning, "nodal forces");
    PCS_TAKE(self->ctx, fe->first_push, (size_t)fe->model.nload + 1, "nodal forces");
    fe_work *work = self->work;
    PCS_TAKE(self->ctx, work->load_factors, fe->model.nload, "nodal forces");
    for (int i = 0; i < fe->model.nload; i++) work->load_factors[i] = 1.0;
    return PCS_OK;
}

static pcs_status loads_add(pcs_system *self, fe_data *fe, int index, double **gravity)
{
    const pcs_fe_load *load = &((const fe_data *)self->data)->model.loads[index];
    if (load->is_gravity) return loads_add_gravity(self, fe, load, gravity);
    return load->kind == PCS_LOAD_LINE ? loads_add_line(self, fe, index) : loads_add_nodal(self, fe, index);
}

pcs_status pcs_fe_apply_loads(pcs_system *self, fe_data *fe, const char **culprit)
{
    double *gravity = NULL;
    PCS_TRY(loads_take_memory(self, fe));
    PCS_TRY(spread_take(self, fe));
    for (int i = 0; i < fe->model.nload; i++) {
        pcs_status status = loads_add(self, fe, i, &gravity);
        if (status != PCS_OK) *culprit = pcs_culprit(self->ctx, "loads", fe->model.loads[i].name);
        PCS_TRY(status);
        fe->first_push[i + 1] = fe->npush;
    }
    self->gravity = gravity;
    if (gravity != NULL)
        for (int i = 0; i < fe->map.ndof; i++) {
            const pcs_dof *d = &fe->map.dof[i];
            if (d->equation >= pcs_system_nown(self)) continue;
            if (d->equation < 0 || d->is_rotation) continue;
            for (int k = 0; k < 3; k++) fe->free_weight[k] += gravity[d->equation] * d->direction[k];
        }
    return PCS_OK;
}

int pcs_fe_loads(const pcs_system *self, const pcs_fe_load **out)
{
    const fe_data *fe = self->data;
    *out = fe->model.loads;
    return fe->model.nload;
}

double *pcs_fe_load_factors(pcs_system *self)
{
    fe_work *work = self->work;
    return work->load_factors;
}
