// Degrees of freedom of a finite-element model: a node gets the union of what its elements give it.

#include "core/rotation.h"
#include "fe/data.h"

#include <math.h>
#include <stdio.h>

// Holds a dof while dofs are collected, in one list per node.
typedef struct found_dof {
    double direction[3];
    bool is_rotation, is_finite;
    int next;
} found_dof;

typedef struct finder {
    pcs_context *ctx;
    int *head; // [nnode] first dof found, -1 if none
    found_dof *found;
    int count, room;
} finder;

static pcs_status dofs_append(finder *f, int node, const pcs_node_dofs *given, int which)
{
    if (f->count == f->room) {
        int room = f->room < 1024 ? 1024 : 2 * f->room;
        found_dof *bigger = pcs_scratch(f->found, (size_t)room, sizeof *bigger);
        if (bigger == NULL) return pcs_fail(f->ctx, PCS_NO_MEMORY, "out of memory: %d degrees of freedom", room);
        f->found = bigger;
        f->room = room;
    }
    found_dof *d = &f->found[f->count];
    *d = (found_dof){ .is_rotation = given->is_rotation[which], .next = f->head[node] };
    d->is_finite = d->is_rotation && given->is_finite;
    for (int k = 0; k < 3; k++) d->direction[k] = given->direction[which][k];
    f->head[node] = f->count++;
    return PCS_OK;
}

// Adds a dof unless it is known. Fails unless it is perpendicular to the known ones.
static pcs_status dofs_merge(finder *f, int node, const pcs_node_dofs *given, int which)
{
    const double *direction = given->direction[which];
    bool is_rotation = given->is_rotation[which];
    if (pcs_dot3(direction, direction) == 0.0) return PCS_OK; // left out by the element
    for (int i = f->head[node]; i >= 0; i = f->found[i].next) {
        if (f->found[i].is_rotation != is_rotation) continue;
        if (is_rotation && f->found[i].is_finite != given->is_finite)
            return pcs_fail(f->ctx, PCS_BAD_INPUT,
                            "node %d: one of its elements turns by finite angles, another by small ones; such elements "
                            "cannot share a node",
                            node);
        double cosine = pcs_dot3(f->found[i].direction, direction);
        if (cosine > 1.0 - 1e-9) return PCS_OK;
        if (fabs(cosine) > 1e-9)
            return pcs_fail(
                f->ctx, PCS_BAD_INPUT,
                "node %d: its elements move it along [%g, %g, %g] and along [%g, %g, %g]; directions at one node must "
                "be equal or perpendicular",
                node, f->found[i].direction[0], f->found[i].direction[1], f->found[i].direction[2], direction[0],
                direction[1], direction[2]);
    }
    return dofs_append(f, node, given, which);
}

static pcs_status dofs_find_in_batch(finder *f, const pcs_element_ops *ops, const pcs_batch *batch)
{
    for (int c = 0; c < batch->ncell; c++)
        for (int i = 0; i < ops->nnode; i++) {
            pcs_node_dofs given;
            PCS_TRY(ops->node_dofs(f->ctx, batch, c, i, &given));
            int node = batch->nodes[batch->cells[c]][i];
            for (int j = 0; j < given.count; j++) PCS_TRY(dofs_merge(f, node, &given, j));
        }
    return PCS_OK;
}

static pcs_status dofs_find(finder *f, fe_data *fe, const char **culprit)
{
    for (int g = 0; g < fe->model.ngroup; g++) {
        pcs_status status = dofs_find_in_batch(f, fe->model.groups[g].ops, &fe->batches[g]);
        if (status == PCS_OK) continue;
        *culprit = pcs_culprit(f->ctx, "elements", fe->model.groups[g].name);
        return status;
    }
    return PCS_OK;
}

// Copies the lists to one array in the order of the nodes, each node's dofs in the order they were found.
static pcs_status dofs_flatten(finder *f, fe_data *fe)
{
    int nnode = fe->model.mesh->nnode, *first;
    PCS_TAKE(f->ctx, first, (size_t)nnode + 1, "degrees of freedom");
    PCS_TAKE(f->ctx, fe->map.dof, f->count, "degrees of freedom");
    for (int node = 0; node < nnode; node++) {
        int count = 0;
        for (int i = f->head[node]; i >= 0; i = f->found[i].next) count++;
        first[node + 1] = first[node] + count;
        int place = first[node + 1];
        for (int i = f->head[node]; i >= 0; i = f->found[i].next) {
            pcs_dof *d = &fe->map.dof[--place];
            *d = (pcs_dof){ .node = node, .is_rotation = f->found[i].is_rotation, .is_finite = f->found[i].is_finite };
            for (int k = 0; k < 3; k++) d->direction[k] = f->found[i].direction[k];
        }
    }
    fe->map.mesh = fe->model.mesh;
    fe->map.first = first;
    fe->map.ndof = f->count;
    return PCS_OK;
}

static pcs_status dofs_collect(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    int nnode = fe->model.mesh->nnode;
    finder f = { .ctx = ctx, .head = pcs_scratch(NULL, (size_t)nnode, sizeof(int)) };
    if (f.head == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: dofs of %d nodes", nnode);
    for (int i = 0; i < nnode; i++) f.head[i] = -1;
    pcs_status status = dofs_find(&f, fe, culprit);
    if (status == PCS_OK) status = dofs_flatten(&f, fe);
    pcs_scratch_free(f.found);
    pcs_scratch_free(f.head);
    return status;
}

static pcs_status dofs_fix_node(pcs_context *ctx, fe_data *fe, int node, int axis)
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS], direction[3] = { 0 };
    direction[axis % 3] = 1.0;
    bool is_there;
    if (axis < 3) {
        is_there = pcs_dofmap_resolve(&fe->map, node, direction, dof, coefficient) == 1;
    } else {
        dof[0] = pcs_dofmap_find_rotation(&fe->map, node, direction);
        is_there = dof[0] >= 0;
    }
    if (!is_there)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d cannot be fixed %s %c: its elements give it no such direction",
                        node, axis < 3 ? "along" : "against turning about", "xyz"[axis % 3]);
    fe->map.dof[dof[0]].equation = -1;
    return PCS_OK;
}

static pcs_status dofs_apply_supports(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    for (int s = 0; s < fe->model.nsupport; s++) {
        const pcs_fe_support *support = &fe->model.supports[s];
        for (int i = 0; i < support->nodes->count; i++)
            for (int axis = 0; axis < 6; axis++) {
                if (!support->fixes[axis]) continue;
                pcs_status status = dofs_fix_node(ctx, fe, support->nodes->items[i], axis);
                if (status == PCS_OK) continue;
                *culprit = pcs_culprit(ctx, "supports", support->name);
                return status;
            }
    }
    return PCS_OK;
}

// Returns the dof of the only one of three rotations in space that supports fix, or -1. A joint fixes it instead: else
// the two that are left would not form a rotation vector.
static int dofs_lone_rotation(const pcs_dofmap *map, int node)
{
    int count = 0, nheld = 0, lone = -1;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        if (!map->dof[i].is_finite) continue;
        count++;
        if (map->dof[i].equation == 0) continue;
        nheld++;
        lone = i;
    }
    return count == 3 && nheld == 1 ? lone : -1;
}

static pcs_status dofs_add_held(pcs_context *ctx, fe_data *fe, const pcs_fe_support *support, int axis,
                                pcs_row_source *joint)
{
    pcs_held_params *params;
    PCS_TAKE(ctx, params, 1, "a support");
    *params = (pcs_held_params){ .nodes = support->nodes->name, .axis = axis };
    *joint = (pcs_row_source){ .name = support->name, .ops = pcs_held_joint(), .params = params };
    fe->nheld++;
    return PCS_OK;
}

// Adds a joint for every support that fixes only one of three rotations in space at some of its nodes.
static pcs_status dofs_find_held(pcs_context *ctx, fe_data *fe)
{
    pcs_row_source *joints;
    PCS_TAKE(ctx, joints, fe->model.njoint + fe->model.nsupport, "supports");
    for (int j = 0; j < fe->model.njoint; j++) joints[j] = fe->model.joints[j];
    for (int s = 0; s < fe->model.nsupport; s++) {
        const pcs_fe_support *support = &fe->model.supports[s];
        int axis = -1;
        for (int n = 0; n < support->nodes->count; n++) {
            int lone = dofs_lone_rotation(&fe->map, support->nodes->items[n]);
            if (lone < 0) continue;
            for (int k = 0; k < 3; k++)
                if (support->fixes[3 + k] && fe->map.dof[lone].direction[k] > 0.5) axis = k;
        }
        if (axis >= 0) PCS_TRY(dofs_add_held(ctx, fe, support, axis, &joints[fe->model.njoint + fe->nheld]));
    }
    if (fe->nheld == 0) return PCS_OK;
    fe->model.joints = joints;
    fe->model.njoint += fe->nheld;
    for (int node = 0; node < fe->model.mesh->nnode; node++) {
        int lone = dofs_lone_rotation(&fe->map, node);
        if (lone >= 0) fe->map.dof[lone].equation = 0;
    }
    return PCS_OK;
}

// Returns the equation of the dof of `node` along `direction`, which the element itself has declared.
static int dofs_equation(const pcs_dofmap *map, int node, const double direction[3], bool is_rotation)
{
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        if (map->dof[i].is_rotation == is_rotation && pcs_dot3(map->dof[i].direction, direction) > 1.0 - 1e-9)
            return map->dof[i].equation;
    return -1;
}

// Fails if an element's angle in the plane meets a rotation vector in space, unless supports fix its other components.
static pcs_status dofs_demand_plane(pcs_context *ctx, const fe_data *fe, const pcs_batch *batch, int node,
                                    const pcs_node_dofs *given)
{
    int ngiven = 0, nfree = 0, nturn = 0;
    if (!given->is_finite) return PCS_OK;
    for (int j = 0; j < given->count; j++)
        ngiven += given->is_rotation[j] && pcs_dot3(given->direction[j], given->direction[j]) > 0.0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        nturn += fe->map.dof[i].is_rotation;
        nfree += fe->map.dof[i].is_rotation && fe->map.dof[i].equation != -1;
    }
    if (ngiven == 0 || ngiven == nturn || nfree <= 1) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s' turns node %d by an angle in the plane, others turn it in space; such elements "
                    "cannot share a node (of springs, bushings and mounts see 'in')",
                    batch->name, node);
}

static pcs_status dofs_number_batch(pcs_context *ctx, const fe_data *fe, const pcs_element_ops *ops, pcs_batch *batch)
{
    int *equation;
    PCS_TAKE(ctx, equation, (size_t)batch->ncell * (size_t)ops->ndof, "equation numbers");
    batch->equation = equation;
    for (int c = 0; c < batch->ncell; c++)
        for (int i = 0; i < ops->nnode; i++) {
            pcs_node_dofs given = { 0 };
            PCS_TRY(ops->node_dofs(ctx, batch, c, i, &given));
            int node = batch->nodes[batch->cells[c]][i];
            PCS_TRY(dofs_demand_plane(ctx, fe, batch, node, &given));
            for (int j = 0; j < given.count; j++)
                *equation++ = dofs_equation(&fe->map, node, given.direction[j], given.is_rotation[j]);
        }
    return PCS_OK;
}

static pcs_status dofs_find_all(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    PCS_TRY(dofs_collect(ctx, fe, culprit));
    PCS_TRY(dofs_apply_supports(ctx, fe, culprit));
    PCS_TRY(dofs_find_held(ctx, fe));
    for (int i = 0; i < fe->map.ndof; i++)
        if (fe->map.dof[i].equation == 0) fe->map.dof[i].equation = fe->map.nequation++;
    return PCS_OK;
}

static pcs_status dofs_number_all(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    for (int b = 0; b < fe->nbatch; b++) {
        pcs_status status = dofs_number_batch(ctx, fe, pcs_fe_ops(fe, b), &fe->batches[b]);
        if (status != PCS_OK) *culprit = pcs_culprit(ctx, "elements", fe->batches[b].name);
        PCS_TRY(status);
    }
    return PCS_OK;
}

pcs_status pcs_fe_number_dofs(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    PCS_TRY(pcs_fe_agree(ctx, fe, dofs_find_all(ctx, fe, culprit)));
    PCS_TRY(pcs_fe_share(ctx, fe));
    if ((fe->share == NULL ? fe->map.nequation : fe->share->layout.nglobal) == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the model cannot move: supports hold every degree of freedom");
    PCS_TRY(pcs_fe_agree(ctx, fe, dofs_number_all(ctx, fe, culprit)));
    PCS_TAKE(ctx, fe->dof_of_equation, fe->map.nequation, "equation numbers");
    for (int i = 0; i < fe->map.ndof; i++)
        if (fe->map.dof[i].equation >= 0) fe->dof_of_equation[fe->map.dof[i].equation] = i;
    return PCS_OK;
}
