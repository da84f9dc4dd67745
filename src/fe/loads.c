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

typedef struct follower_node {
    double R[9], rotation[3];
    double force[3], moment[3]; // N; N m, material
} follower_node;

// Finds what a load does at its node at time t and positions q.
static void follower_look(const pcs_system *self, const fe_follower *load, double t, const double *q,
                          follower_node *out)
{
    const fe_data *fe = self->data;
    const pcs_fe_load *l = &fe->model.loads[load->load];
    double factor = pcs_fe_load_size(self, load->load, t), scaled[3];
    *out = (follower_node){ 0 };
    pcs_dofmap_vector(&fe->map, true, load->node, q, out->rotation);
    pcs_rotation_exp(out->rotation, out->R);
    for (int k = 0; k < 3; k++) scaled[k] = factor * l->value[k];
    if (l->kind == PCS_LOAD_FORCE) pcs_rotation_apply(out->R, scaled, out->force);
    else if (l->follows) memcpy(out->moment, scaled, sizeof scaled);
    else pcs_rotation_apply_transposed(out->R, scaled, out->moment);
}

// Adds -d(load)/d(spin) to K(row dof, spin dof).
static void follower_add_entry(pcs_system *self, int row, int column, double value)
{
    const fe_data *fe = self->data;
    int i = fe->map.dof[row].equation, j = fe->map.dof[column].equation;
    if (i >= pcs_system_nown(self)) return; // a copy may lack the cells that couple its dofs
    if (i >= 0 && j >= 0 && value != 0.0) self->K->value[pcs_pattern_place(self->K->pattern, i, j)] += value;
}

void pcs_fe_follower_tangent(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->nfollower; i++) {
        const fe_follower *load = &fe->followers[i];
        const pcs_fe_load *l = &fe->model.loads[load->load];
        int first = fe->map.first[load->node], end = fe->map.first[load->node + 1];
        double factor = at.load_factor * pcs_fe_load_size(self, load->load, at.t);
        follower_node node;
        follower_look(self, load, at.t, at.q, &node);
        for (int s = first; s < end; s++) {
            const double *axis = fe->map.dof[s].direction;
            double change[3], of_force[3], of_moment[3];
            if (!fe->map.dof[s].is_rotation) continue;
            pcs_cross(axis, l->value, change); // change of R F by a spin about the axis: R (axis x F)
            pcs_rotation_apply(node.R, change, of_force);
            pcs_cross(node.moment, axis, of_moment); // change of R^T m: -(axis x R^T m)
            for (int r = first; r < end; r++) {
                const pcs_dof *row = &fe->map.dof[r];
                if (!row->is_rotation && l->kind == PCS_LOAD_FORCE)
                    follower_add_entry(self, r, s, -factor * pcs_dot3(of_force, row->direction));
                if (row->is_rotation && l->kind != PCS_LOAD_FORCE && !l->follows)
                    follower_add_entry(self, r, s, -at.load_factor * pcs_dot3(of_moment, row->direction));
            }
        }
    }
}

double pcs_fe_follower_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const fe_data *fe = self->data;
    double work = 0.0;
    for (int i = 0; i < fe->nfollower; i++) {
        const fe_follower *load = &fe->followers[i];
        follower_node start, end;
        double u0[3], u1[3], back[3], increment[3];
        if (!pcs_fe_owns(fe, load->node)) continue;
        follower_look(self, load, t, q0, &start);
        follower_look(self, load, t, q1, &end);
        pcs_dofmap_vector(&fe->map, false, load->node, q0, u0);
        pcs_dofmap_vector(&fe->map, false, load->node, q1, u1);
        for (int k = 0; k < 3; k++) back[k] = -start.rotation[k];
        pcs_rotation_compose(back, end.rotation, increment); // rotation from q0 to q1, material
        for (int k = 0; k < 3; k++)
            work += 0.5 * (start.force[k] + end.force[k]) * (u1[k] - u0[k]) +
                    0.5 * (start.moment[k] + end.moment[k]) * increment[k];
    }
    return work;
}

double pcs_fe_follower_add(const pcs_system *self, double t, const double *q, const double *v, double *f, double *sum)
{
    const fe_data *fe = self->data;
    double power = 0.0;
    for (int i = 0; i < fe->nfollower; i++) {
        const fe_follower *load = &fe->followers[i];
        bool is_own = pcs_fe_owns(fe, load->node);
        follower_node node;
        follower_look(self, load, t, q, &node);
        for (int d = fe->map.first[load->node]; d < fe->map.first[load->node + 1]; d++) {
            const pcs_dof *dof = &fe->map.dof[d];
            double force = pcs_dot3(dof->is_rotation ? node.moment : node.force, dof->direction);
            if (dof->equation < 0) continue;
            if (f != NULL) f[dof->equation] += force;
            if (!is_own) continue;
            if (v != NULL) power += force * v[dof->equation];
            if (sum == NULL || dof->is_rotation) continue;
            for (int k = 0; k < 3; k++) sum[k] += force * dof->direction[k];
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

bool pcs_fe_has_cell_loads(const fe_data *fe)
{
    for (int i = 0; i < fe->model.nload; i++)
        if (fe->model.loads[i].is_gravity || fe->model.loads[i].kind == PCS_LOAD_LINE) return true;
    return false;
}

pcs_status pcs_fe_find_cell(pcs_context *ctx, const fe_data *fe, const pcs_batch *batch, int cell, fe_cell *out)
{
    const pcs_element_ops *ops = batch->ops;
    const int *node = batch->nodes[batch->cells[cell]];
    double span[3];
    int i = 0;
    pcs_cell_span(batch, cell, span);
    const pcs_cell_outline outline = pcs_element_outline(ops, batch->params, span);
    for (int end = 0; end < ops->nnode; end++) {
        pcs_node_dofs given;
        PCS_TRY(ops->node_dofs(ctx, batch, cell, end, &given));
        for (int k = 0; k < 3; k++) out->x[end][k] = batch->x[node[end]][k] + outline.arm[end][k];
        for (int j = 0; j < given.count; j++, i++) {
            out->dof[i] = pcs_dofmap_find(&fe->map, given.is_rotation[j], node[end], given.direction[j]);
            for (int k = 0; k < 3; k++) out->d[i][k] = given.is_rotation[j] ? 0.0 : given.direction[j][k];
            out->along[i] = pcs_dot3(out->d[i], out->x[end]);
        }
    }
    return PCS_OK;
}

// Fails unless the nodes of a cell can move along gravity or a line load.
static pcs_status loads_check_cell(const pcs_system *self, const pcs_fe_load *load, const pcs_batch *batch, int cell)
{
    const fe_data *fe = self->data;
    const double *g = load->value;
    for (int i = 0; i < batch->ops->nnode; i++) {
        int node = batch->nodes[batch->cells[cell]][i], dof[PCS_MAX_NODE_DOFS];
        double coefficient[PCS_MAX_NODE_DOFS];
        if (pcs_dofmap_resolve(&fe->map, false, node, g, dof, coefficient) < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d of '%s' cannot move along %s [%g, %g, %g]", node,
                            batch->name, load->is_gravity ? "g =" : "the line load", g[0], g[1], g[2]);
    }
    return PCS_OK;
}

// Computes the force of gravity, M g, or of a line load p, M p (|p|^2 L)/(p . M p), whose sum is p L, on the dofs of a
// cell of a batch at amplitude 1.
static pcs_status loads_on_cell(const pcs_system *self, const pcs_fe_load *load, int b, int number, fe_cell *cell,
                                double force[PCS_MAX_CELL_DOFS])
{
    const fe_data *fe = self->data;
    const pcs_batch *batch = &fe->batches[b];
    int n = fe->batches[b].ops->ndof;
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], mass = 0.0, span[3];
    PCS_TRY(loads_check_cell(self, load, batch, number));
    PCS_TRY(pcs_fe_find_cell(self->ctx, fe, batch, number, cell));
    fe->batches[b].ops->matrices(batch, number, NULL, M, NULL, NULL);
    for (int i = 0; i < n; i++) {
        force[i] = 0.0;
        for (int j = 0; j < n; j++) force[i] += M[i * n + j] * pcs_dot3(load->value, cell->d[j]);
        mass += pcs_dot3(load->value, cell->d[i]) * force[i];
    }
    if (load->is_gravity) return PCS_OK;
    double size2 = pcs_dot3(load->value, load->value);
    if (size2 > 0.0 && !(mass > 0.0))
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "cell %d of '%s' has no mass to spread a line load over: load its nodes by forces",
                        batch->cells[number], batch->name);
    pcs_cell_span(batch, number, span);
    for (int i = 0; i < n; i++) force[i] *= size2 > 0.0 ? size2 * pcs_norm3(span) / mass : 0.0;
    return PCS_OK;
}

// Returns true if gravity or a line load acts on a cell of the mesh.
static bool loads_act_on(const fe_data *fe, int load, int cell)
{
    return fe->model.loads[load].is_gravity || (fe->is_loaded[load] != NULL && fe->is_loaded[load][cell]);
}

const double *pcs_fe_cell_load_force(const pcs_system *self, pcs_instant at, int group, int cell,
                                     double f[PCS_MAX_CELL_DOFS])
{
    const fe_data *fe = self->data;
    bool is_loaded = false;
    if (!at.is_equilibrium || !fe->model.stays_still || fe->batches[group].ops->end_fields == NULL) return NULL;
    memset(f, 0, PCS_MAX_CELL_DOFS * sizeof *f);
    for (int l = 0; l < fe->model.nload; l++) {
        const pcs_fe_load *load = &fe->model.loads[l];
        double force[PCS_MAX_CELL_DOFS] = { 0 };
        fe_cell dofs;
        if (!loads_act_on(fe, l, fe->batches[group].cells[cell])) continue;
        double factor = at.load_factor * (load->is_gravity ? 1.0 : pcs_fe_load_size(self, l, at.t));
        (void)loads_on_cell(self, load, group, cell, &dofs, force); // set-up has tried it
        for (int i = 0; i < PCS_MAX_CELL_DOFS; i++) f[i] += factor * force[i];
        is_loaded = true;
    }
    return is_loaded ? f : NULL;
}

// Allocates *f, N or N m at amplitude 1 on every dof: gravity, or a line load, on all cells here, also those of other
// processes that act on own equations; freed by the caller. Subtracts what gravity does over the height above its datum
// from *potential, J.
static pcs_status loads_on_dofs(const pcs_system *self, int l, double **f, double *potential)
{
    const fe_data *fe = self->data;
    const pcs_fe_load *load = &fe->model.loads[l];
    *f = pcs_scratch(NULL, (size_t)fe->map.ndof, sizeof **f);
    if (*f == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the loads of %d dofs", fe->map.ndof);
    memset(*f, 0, (size_t)fe->map.ndof * sizeof **f);
    for (int b = 0; b < fe->nbatch; b++)
        for (int c = 0; c < fe->batches[b].ncell; c++) {
            fe_cell cell;
            double force[PCS_MAX_CELL_DOFS];
            if (!loads_act_on(fe, l, fe->batches[b].cells[c])) continue;
            PCS_TRY(loads_on_cell(self, load, b, c, &cell, force));
            for (int i = 0; i < fe->batches[b].ops->ndof; i++) {
                if (cell.dof[i] >= 0) (*f)[cell.dof[i]] += force[i];
                if (load->is_gravity && b < fe->model.ngroup)
                    *potential -= force[i] * (cell.along[i] - pcs_dot3(load->datum, cell.d[i]));
            }
        }
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

// Fails unless the node has finite rotations, which a load that rotates with it needs.
static pcs_status fe_demand_finite_rotations(const pcs_system *self, int node)
{
    if (pcs_fe_rotates_finitely(self->data, node)) return PCS_OK;
    return pcs_fail(self->ctx, PCS_BAD_INPUT,
                    "node %d has no finite rotation, so a follower load cannot act there: use exact beams or rigid "
                    "bodies, or a load with a fixed direction",
                    node);
}

// Fails if a support holds one of the dofs on which a load acts; one that rotates may act on any of
// them.
static pcs_status loads_demand_free(const pcs_system *self, const pcs_fe_load *load, int node, bool rotates)
{
    const fe_data *fe = self->data;
    const double *x = load->value;
    bool is_moment = load->kind == PCS_LOAD_MOMENT;
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS];
    int count = pcs_dofmap_resolve(&fe->map, is_moment, node, x, dof, coefficient);
    if (count < 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d cannot %s [%g, %g, %g]: its elements give it no such %s",
                        node, is_moment ? "rotate about the moment" : "move along the force", x[0], x[1], x[2],
                        is_moment ? "rotation" : "direction");
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        bool acts = rotates && d->is_rotation == is_moment;
        for (int j = 0; j < count; j++) acts = acts || dof[j] == i;
        if (acts && d->equation == -1)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d is held by a support %s [%g, %g, %g]%s", node,
                            is_moment ? "against the moment" : "along the force", x[0], x[1], x[2],
                            rotates ? " in some state, as the load depends on its rotation" : "");
    }
    return PCS_OK;
}

// Adds forces, or moments.
static pcs_status loads_add_nodal(pcs_system *self, fe_data *fe, int index)
{
    const pcs_fe_load *load = &fe->model.loads[index];
    bool is_moment = load->kind == PCS_LOAD_MOMENT;
    for (int i = 0; i < load->nodes->count; i++) {
        int node = load->nodes->items[i], dof[PCS_MAX_NODE_DOFS];
        double coefficient[PCS_MAX_NODE_DOFS];
        // In the plane a moment does not depend on the rotation of its node.
        bool rotates = is_moment ? pcs_table_rotation(self, &fe->map, node) >= 0 : load->follows;
        if (load->follows) PCS_TRY(fe_demand_finite_rotations(self, node));
        PCS_TRY(loads_demand_free(self, load, node, rotates));
        fe->has_pushes = true;
        if (rotates) fe->followers[fe->nfollower++] = (fe_follower){ .node = node, .load = index };
        int count = rotates ? 0 : pcs_dofmap_resolve(&fe->map, is_moment, node, load->value, dof, coefficient);
        for (int j = 0; j < count; j++) loads_push(self, fe, &fe->map.dof[dof[j]], coefficient[j]);
    }
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

// Adds gravity, or a line load.
static pcs_status loads_add_spread(pcs_system *self, fe_data *fe, int l, double **gravity)
{
    const pcs_fe_load *load = &fe->model.loads[l];
    double *f = NULL;
    if (load->is_gravity) {
        if (*gravity == NULL) PCS_TAKE(self->ctx, *gravity, self->nv, "gravity");
    } else {
        PCS_TRY(loads_check_line(self, load));
        PCS_TAKE(self->ctx, fe->is_loaded[l], fe->model.mesh->ncell, "line loads");
        for (int i = 0; i < load->cells->count; i++) fe->is_loaded[l][load->cells->items[i]] = true;
    }
    pcs_status status = loads_on_dofs(self, l, &f, &fe->rest_potential);
    for (int i = 0; i < (status == PCS_OK ? fe->map.ndof : 0); i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!load->is_gravity) loads_push(self, fe, d, f[i]);
        else if (d->equation >= 0) (*gravity)[d->equation] += f[i];
    }
    pcs_scratch_free(f);
    return status;
}

static pcs_status loads_take_memory(pcs_system *self, fe_data *fe)
{
    size_t room = 0, followers = 0;
    for (int i = 0; i < fe->model.nload; i++) {
        const pcs_fe_load *load = &fe->model.loads[i];
        if (load->is_gravity) continue;
        if (load->kind == PCS_LOAD_LINE) room += PCS_MAX_CELL_DOFS * (size_t)load->cells->count;
        else room += 3 * (size_t)load->nodes->count;
        if (load->kind != PCS_LOAD_LINE) followers += (size_t)load->nodes->count;
    }
    PCS_TAKE(self->ctx, fe->pushes, room, "nodal forces");
    PCS_TAKE(self->ctx, fe->followers, followers, "nodal forces");
    PCS_TAKE(self->ctx, fe->first_push, (size_t)fe->model.nload + 1, "nodal forces");
    PCS_TAKE(self->ctx, fe->is_loaded, fe->model.nload, "nodal forces");
    fe_work *work = self->work;
    PCS_TAKE(self->ctx, work->load_factors, fe->model.nload, "nodal forces");
    for (int i = 0; i < fe->model.nload; i++) work->load_factors[i] = 1.0;
    return PCS_OK;
}

pcs_status pcs_fe_apply_loads(pcs_system *self, fe_data *fe, const char **culprit)
{
    double *gravity = NULL;
    PCS_TRY(loads_take_memory(self, fe));
    for (int i = 0; i < fe->model.nload; i++) {
        const pcs_fe_load *load = &fe->model.loads[i];
        pcs_status status = PCS_OK;
        if (load->is_gravity || load->kind == PCS_LOAD_LINE) status = loads_add_spread(self, fe, i, &gravity);
        else status = loads_add_nodal(self, fe, i);
        if (status != PCS_OK) *culprit = pcs_culprit(self->ctx, "loads", load->name);
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

double *pcs_fe_load_factors(pcs_system *self)
{
    fe_work *work = self->work;
    return work->load_factors;
}

// Computes the forces and moments that joints and supports exert on a finite-element model.
//
// A joint: the sum of its rows' forces, each along its normal and with its couple. A support, per fixed dof s, in the
// mean over a step of length h:
//
//   R_s = (p_s(t) - p_s(t - h)) / h - (f_s(t) + f_s(t - h)) / 2 - rows,   p_s = sum_f M_sf v_f
//
// f_s is what gravity, line loads and elements do to the fixed dof, rows what contacts and joints do to it directly.
// Schemes that weigh the ends of a step differently give other means of f_s. Moments are taken about the
// middle of the set in the reference state.
//
// Fixed dofs get equation numbers from nv on in copies of the batches, so that the elements fill them in.

typedef struct mass_entry {
    int fixed, equation; // row among the fixed dofs, and column
    double value;
} mass_entry;

struct fe_reactions {
    int nfixed;         // number of fixed dofs at nodes of supports whose reactions are reported
    int nown;           // number of these on this process
    int *dof;           // [nfixed]
    int *serial;        // [nfixed] their order in one process
    int *number;        // [map.ndof] index among the fixed ones, -1 if free
    int *owner;         // [map.ndof] first support that fixes it
    pcs_batch *batches; // [nbatch]
    int nentry;
    mass_entry *entries; // [nentry] M_sf
    double *line;        // [nload * nfixed] gravity and line loads at amplitude 1, N; NULL if absent
    double (*middle)[3]; // [nsupport] reference point of the moments, m
};

static bool reactions_are_asked(const fe_data *fe)
{
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) return true;
    return false;
}

// Adds the dofs that were found, those of this process or of the others, with their indices in one process.
static void reactions_add_fixed(const fe_data *fe, bool is_own, fe_reactions *r)
{
    for (int i = 0, place = 0; i < fe->map.ndof; i++) {
        if (r->number[i] == -1) continue;
        place++;
        if (pcs_fe_owns(fe, fe->map.dof[i].node) != is_own) continue;
        r->dof[r->nfixed] = i;
        r->serial[r->nfixed] = place - 1;
        r->number[i] = r->nfixed++;
    }
}

// Assigns numbers to the fixed dofs at nodes of supports whose reactions are reported, which all processes have, own
// ones first, and finds the support that owns each.
static pcs_status reactions_number(pcs_system *self, fe_reactions *r)
{
    const fe_data *fe = self->data;
    PCS_TAKE_EACH(self->ctx, fe->map.ndof, "reactions", int, &r->number, &r->dof, &r->serial, &r->owner);
    PCS_TAKE(self->ctx, r->middle, fe->model.nsupport, "reactions");
    for (int i = 0; i < fe->map.ndof; i++) r->number[i] = r->owner[i] = -1;
    for (int s = 0; s < fe->model.nsupport; s++) {
        const pcs_fe_support *support = &fe->model.supports[s];
        const pcs_set *nodes = support->nodes;
        for (int n = 0; n < nodes->count; n++) {
            int node = nodes->items[n];
            for (int k = 0; k < 3; k++) r->middle[s][k] += fe->model.mesh->x[node][k] / nodes->count;
            for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
                const pcs_dof *d = &fe->map.dof[i];
                if (d->equation == -1 && support->has_reactions) r->number[i] = 0;
                for (int k = 0; k < 3; k++)
                    if (r->owner[i] < 0 && support->fixes[k + 3 * d->is_rotation] && d->direction[k] > 1.0 - 1e-9)
                        r->owner[i] = s;
            }
        }
    }
    reactions_add_fixed(fe, true, r);
    r->nown = r->nfixed;
    reactions_add_fixed(fe, false, r);
    return PCS_OK;
}

// Copies a batch with equations for its fixed dofs, and collects the columns of equations of their rows of M.
static pcs_status reactions_extend(pcs_system *self, fe_reactions *r, int b)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = fe->batches[b].ops;
    pcs_batch *batch = &r->batches[b];
    int n = ops->ndof, *equation;
    fe_cell cell;
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    PCS_TAKE(self->ctx, equation, (size_t)batch->ncell * (size_t)n, "reactions");
    batch->equation = equation;
    for (int c = 0; c < batch->ncell; c++) {
        const int *own = fe->batches[b].equation + (size_t)c * (size_t)n;
        PCS_TRY(pcs_fe_find_cell(self->ctx, fe, &fe->batches[b], c, &cell));
        ops->matrices(&fe->batches[b], c, NULL, M, NULL, NULL);
        for (int i = 0; i < n; i++) {
            int row = cell.dof[i] < 0 ? -1 : r->number[cell.dof[i]];
            *equation++ = row < 0 ? own[i] : self->nv + row;
            for (int j = 0; j < (row < 0 ? 0 : n); j++) {
                if (own[j] < 0 || M[i * n + j] == 0.0) continue;
                r->entries[r->nentry++] = (mass_entry){ row, own[j], M[i * n + j] };
            }
        }
    }
    return ops->setup(self->ctx, batch);
}

static pcs_status reactions_take_lines(pcs_system *self, fe_reactions *r)
{
    const fe_data *fe = self->data;
    for (int l = 0; l < fe->model.nload; l++) {
        const pcs_fe_load *load = &fe->model.loads[l];
        double *f = NULL, unused = 0.0;
        if (!load->is_gravity && load->kind != PCS_LOAD_LINE) continue;
        if (r->line == NULL) PCS_TAKE(self->ctx, r->line, (size_t)fe->model.nload * (size_t)r->nfixed, "reactions");
        pcs_status status = loads_on_dofs(self, l, &f, &unused);
        for (int i = 0; i < (status == PCS_OK ? r->nfixed : 0); i++) r->line[l * r->nfixed + i] = f[r->dof[i]];
        pcs_scratch_free(f);
        PCS_TRY(status);
    }
    return PCS_OK;
}

// Returns the load on fixed dof s, N or N m.
static double reactions_load(const pcs_system *self, const fe_reactions *r, pcs_instant at, int s)
{
    const fe_data *fe = self->data;
    double f = 0.0;
    for (int l = 0; l < (r->line == NULL ? 0 : fe->model.nload); l++) {
        double factor = fe->model.loads[l].is_gravity ? 1.0 : pcs_fe_load_size(self, l, at.t);
        f += r->line[l * r->nfixed + s] * factor;
    }
    return at.load_factor * f;
}

static pcs_status reactions_make_supports(pcs_system *self, fe_data *fe)
{
    fe_work *work = self->work;
    fe_reactions *r;
    PCS_TAKE(self->ctx, r, 1, "reactions");
    PCS_TRY(reactions_number(self, r));
    PCS_TAKE(self->ctx, r->batches, fe->nbatch, "reactions");
    memcpy(r->batches, fe->batches, (size_t)fe->nbatch * sizeof *r->batches);
    size_t room = 0; // each fixed dof of a cell has a row there
    for (int b = 0; b < fe->nbatch; b++)
        for (int i = 0, n = fe->batches[b].ops->ndof; i < fe->batches[b].ncell * n; i++)
            room += fe->batches[b].equation[i] < 0 ? (size_t)n : 0;
    PCS_TAKE(self->ctx, r->entries, room, "reactions");
    for (int b = 0; b < fe->nbatch; b++) PCS_TRY(reactions_extend(self, r, b));
    PCS_TAKE_EACH(self->ctx, self->nv + r->nfixed, "reactions", double, &work->q, &work->v, &work->f);
    PCS_TAKE_EACH(self->ctx, r->nfixed, "reactions", double, &work->p, &work->R, &work->last_p, &work->last_f);
    pcs_memory last = { .size = (size_t)r->nfixed * sizeof *work->last_p, .serial = r->serial };
    last.nown = r->nown; // only their own process has all forces on them
    last.nall = r->nfixed;
    for (int i = 0; i < 2; i++) {
        last.bytes = i == 0 ? work->last_p : work->last_f;
        self->memory[self->nmemory++] = last;
    }
    fe->reactions = r;
    return reactions_take_lines(self, r);
}

// Returns the joint that represents a support, or -1.
static int reactions_held(const fe_data *fe, int support)
{
    for (int j = fe->model.njoint - fe->nheld; j < fe->model.njoint; j++)
        if (strcmp(fe->model.joints[j].name, fe->model.supports[support].name) == 0) return j;
    return -1;
}

static pcs_reaction_info reactions_of_support(const fe_data *fe, int s)
{
    const pcs_fe_support *support = &fe->model.supports[s];
    pcs_reaction_info info = { .name = support->name, .contact = -1 };
    const double(*middle)[3] = (const double(*)[3])fe->reactions->middle;
    bool has_arms[3] = { false };
    for (int n = 0; n < support->nodes->count; n++)
        for (int k = 0; k < 3; k++) {
            double arm = fe->model.mesh->x[support->nodes->items[n]][k] - middle[s][k];
            has_arms[k] = has_arms[k] || arm != 0.0;
        }
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        info.has_force[k] = support->fixes[k];
        info.has_moment[k] = reactions_held(fe, s) >= 0 || support->fixes[3 + k] ||
                             (has_arms[l] && support->fixes[m]) || (has_arms[m] && support->fixes[l]);
    }
    return info;
}

pcs_status pcs_fe_make_reactions(pcs_system *self, fe_data *fe)
{
    pcs_reaction_info *info;
    int count = 0;
    PCS_TAKE(self->ctx, info, fe->model.njoint + fe->model.nsupport, "reactions");
    self->reactions = info;
    for (int j = 0; j < fe->model.njoint - fe->nheld; j++) {
        const pcs_source_shape *shape = &self->row_set.table->sources[fe->model.ncontact + j].shape;
        info[count] = (pcs_reaction_info){ .name = fe->model.joints[j].name, .contact = fe->model.ncontact + j };
        memcpy(info[count].has_force, shape->has_force, sizeof shape->has_force);
        memcpy(info[count].has_moment, shape->has_moment, sizeof shape->has_moment);
        info[count++].has_teeth = shape->has_teeth;
    }
    self->nreaction = count;
    if (!reactions_are_asked(fe)) return PCS_OK;
    PCS_TRY(reactions_make_supports(self, fe));
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) info[count++] = reactions_of_support(fe, s);
    self->nreaction = count;
    return PCS_OK;
}

// Finds the rotation of a node with support about some axes only, whose moments are in its own axes. Takes it half a
// step back, as reactions are means over a step. Such a node rotates about one axis.
static void reactions_rotate(const fe_data *fe, int node, double h, const fe_work *work, double rotated[9])
{
    double rotation[3] = { 0.0 }, spin[3] = { 0.0 };
    if (pcs_fe_rotates_finitely(fe, node)) {
        pcs_dofmap_vector(&fe->map, true, node, work->q, rotation);
        pcs_dofmap_vector(&fe->map, true, node, work->v, spin);
    }
    for (int k = 0; k < 3; k++) rotation[k] -= 0.5 * h * spin[k];
    pcs_rotation_exp(rotation, rotated);
}

// Subtracts the force along a direction from R, at the fixed dofs of its nodes.
static void reactions_take_direction(const fe_data *fe, const pcs_row_direction *direction, double force, double h,
                                     const fe_work *work)
{
    const fe_reactions *r = fe->reactions;
    double *R = work->R;
    for (int i = 0; i < direction->nterm; i++) {
        const pcs_row_term *term = &direction->term[i];
        double rotated[9], moment[3];
        reactions_rotate(fe, term->node, h, work, rotated);
        pcs_rotation_apply_transposed(rotated, term->moment, moment);
        for (int d = fe->map.first[term->node]; d < fe->map.first[term->node + 1]; d++) {
            const pcs_dof *dof = &fe->map.dof[d];
            if (r->number[d] < 0) continue;
            R[r->number[d]] -= force * pcs_dot3(dof->is_rotation ? moment : term->force, dof->direction);
        }
    }
}

// Subtracts from the reactions R the forces that contacts and joints exert on fixed dofs directly.
static void reactions_take_rows(pcs_system *self, double h, const pcs_row_report *rows)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    const pcs_row_state *states = self->row_set.table->states;
    for (int j = 0; j < pcs_system_npoint(self); j++) {
        const pcs_row *row = &self->rows[j];
        double force = row->is_bilateral ? rows[j].force : rows[j].step_impulse / h;
        reactions_take_direction(fe, &states[j].direction, force, h, work);
        for (int t = 0; t < row->ntangent; t++)
            reactions_take_direction(fe, &states[j].tangent[t], rows[j].tangent[t] / h, h, work);
    }
}

// Computes p and f of the fixed dofs at (q, v), and R of the step since the last call. Only the owner of a dof has all
// its cells; on other processes R holds distributed rows, which no other process has.
static void reactions_of_supports(pcs_system *self, double h, pcs_instant at, const pcs_row_report *rows)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    const fe_reactions *r = fe->reactions;
    int n = self->nv;
    memcpy(work->q, at.q, (size_t)n * sizeof *at.q);
    memcpy(work->v, at.v, (size_t)n * sizeof *at.v);
    memset(work->f, 0, (size_t)(n + r->nfixed) * sizeof *work->f);
    memset(work->p, 0, (size_t)r->nfixed * sizeof *work->p);
    const pcs_cell_state state = { .q = work->q, .v = work->v };
    for (int b = 0; b < fe->nbatch; b++) fe->batches[b].ops->force(&r->batches[b], &state, work->f);
    for (int e = 0; e < r->nentry; e++)
        work->p[r->entries[e].fixed] += r->entries[e].value * at.v[r->entries[e].equation];
    for (int s = 0; s < r->nfixed; s++) {
        double f = work->f[n + s] + reactions_load(self, r, at, s);
        work->R[s] = h > 0.0 ? (work->p[s] - work->last_p[s]) / h - 0.5 * (f + work->last_f[s]) : 0.0;
        work->last_p[s] = work->p[s];
        work->last_f[s] = f;
    }
    for (int s = r->nown; s < r->nfixed; s++) work->R[s] = 0.0;
    if (h > 0.0) reactions_take_rows(self, h, rows);
}

// Holds the end of a step, with its forces, and the positions where its rows acted.
typedef struct fe_acting {
    pcs_instant end;
    const double *q; // [nq]
    const pcs_row_report *rows;
} fe_acting;

// Adds the moment of the joint of a support that holds one rotation.
static void reactions_add_held(const pcs_system *self, int support, const fe_acting *at, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    const pcs_row_table *table = self->row_set.table;
    int joint = reactions_held(fe, support);
    if (joint < 0) return;
    const pcs_table_source *source = &table->sources[fe->model.ncontact + joint];
    for (int row = source->first_row; row < source->first_row + source->nrow; row++) {
        double force = pcs_system_transport(self, row, at->end.q, at->q, at->rows[row].force);
        for (int k = 0; k < 3 && isfinite(force); k++) out->moment[k] += force * table->states[row].couple[k];
    }
}

static void reactions_sum_support(const pcs_system *self, int support, double h, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    const fe_reactions *r = fe->reactions;
    int count = pcs_rows_are_distributed(self) ? r->nfixed : r->nown;
    for (int s = 0; s < count; s++) {
        const pcs_dof *d = &fe->map.dof[r->dof[s]];
        double part[3], arm[3], moment[3], rotated[9], along[3];
        if (r->owner[r->dof[s]] != support) continue;
        reactions_rotate(fe, d->node, h, work, rotated);
        pcs_rotation_apply(rotated, d->direction, along);
        for (int k = 0; k < 3; k++) {
            part[k] = work->R[s] * (d->is_rotation ? along[k] : d->direction[k]);
            arm[k] = fe->model.mesh->x[d->node][k] - r->middle[support][k];
        }
        pcs_cross(arm, part, moment);
        for (int k = 0; k < 3; k++) {
            if (!d->is_rotation) out->force[k] += part[k];
            out->moment[k] += d->is_rotation ? part[k] : moment[k];
        }
    }
}

static void reactions_add_all_held(const pcs_system *self, const fe_acting *at, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) reactions_add_held(self, s, at, out++);
}

static void reactions_join(const pcs_system *self, pcs_reaction *reaction)
{
    pcs_system_sum(self, 3, reaction->force);
    pcs_system_sum(self, 3, reaction->moment);
    if (pcs_rows_are_distributed(self)) pcs_system_sum(self, 2, reaction->teeth);
}

// Adds the force of the rows of a joint to its reaction.
static void reactions_add_row(const pcs_system *self, int source, const pcs_row_report *rows, pcs_reaction *out)
{
    const pcs_row_table *table = self->row_set.table;
    const pcs_table_source *own = &table->sources[source];
    for (int j = own->first_row; j < own->first_row + own->nrow; j++) {
        double force = isfinite(rows[j].force) ? rows[j].force : 0.0; // at t = 0 there may be none
        for (int k = 0; k < 3; k++) {
            out->force[k] += force * table->states[j].normal[k];
            out->moment[k] += force * table->states[j].couple[k];
        }
        for (int k = 0; k < 2; k++) out->teeth[k] += force * own->shape.teeth[k];
    }
}

static void reactions_find(pcs_system *self, double h, const fe_acting *at, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    const pcs_row_report *rows = at->rows;
    memset(out, 0, (size_t)self->nreaction * sizeof *out);
    int njoint = fe->model.njoint - fe->nheld;
    bool is_distributed = pcs_rows_are_distributed(self); // rows then belong to one process each
    for (int i = 0; i < njoint; i++) {
        reactions_add_row(self, fe->model.ncontact + i, rows, &out[i]);
        if (is_distributed) reactions_join(self, &out[i]);
    }
    if (fe->reactions == NULL) return;
    reactions_of_supports(self, h, at->end, rows);
    int place = njoint;
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) reactions_sum_support(self, s, h, &out[place++]);
    if (is_distributed) reactions_add_all_held(self, at, out + njoint);
    if (self->layout != NULL)
        for (int i = njoint; i < place; i++) reactions_join(self, &out[i]);
    if (!is_distributed) reactions_add_all_held(self, at, out + njoint);
}

void pcs_fe_reactions(pcs_system *self, pcs_instant at, double h, const double *acting, const pcs_row_report *rows,
                      pcs_reaction *out)
{
    pcs_table_look(self, pcs_at(at.t, acting, NULL), false);
    reactions_find(self, h, &(fe_acting){ at, acting, rows }, out);
    if (acting != at.q) pcs_table_look(self, at, false); // other rows are evaluated at the end of the step
}
