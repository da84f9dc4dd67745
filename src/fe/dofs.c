// Degrees of freedom of a finite-element model: a node gets the union of what its elements give it.

#include "core/rotation.h"
#include "fe/data.h"
#include "mesh/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The share of a rank in a finite-element model.
//
// Nodes are distributed over the ranks (build/mesh.c); a rank keeps the cells that touch one of its nodes, so that
// the rows of its own equations are complete. Copies are kept of the other nodes of these cells, and, on every rank, of
// all nodes of contacts and joints: gaps, directions and their velocities are then the same everywhere, bit for bit,
// without communication. Where contacts are many and each belongs to a node (distributes_rows), a rank has those of its
// nodes, and there are no such copies but of the cells that may be touched anywhere; where a contact always acts on a
// certain node of another rank, too, that is copied here as ends of cells are. Joints are those of the rank that has
// all their nodes then; that these are everywhere lets every rank show them.
//
// Equations have three numbers: here (own ones first), among all ranks (those of rank 0 first), and in one process
// (`serial`), by the numbers of their nodes, and the ranks exchange how many equations each of these has.

// Vectors are padded to a multiple of this with equations that stay zero, as a compiler may round the last entries of a
// loop differently, and copies must have the same bits as their originals.
enum { ALIGNED = 32 };

// Flags why a node is here: contacts or joints need it on all ranks, it touches a cell or a contact of an own node, or
// it has a contact on some rank.
enum { SHARE_NEEDS = 1, SHARE_TOUCHES = 2 };

static int share_equations(const fe_data *fe, int node)
{
    int count = 0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) count += fe->map.dof[i].equation >= 0;
    return count;
}

static void share_mark_set(const pcs_mesh *mesh, const char *name, int reason, unsigned char *why)
{
    const pcs_set *nodes = pcs_mesh_node_set(mesh, name), *cells = pcs_mesh_cell_set(mesh, name);
    if (nodes != NULL)
        for (int i = 0; i < nodes->count; i++) why[nodes->items[i]] |= (unsigned char)reason;
    if (cells != NULL)
        for (int i = 0; i < cells->count; i++)
            for (int k = 0; k < 2; k++) why[mesh->cell[cells->items[i]][k]] |= (unsigned char)reason;
}

// Marks the nodes of all sets that a contact or joint names.
static void share_mark_options(const pcs_mesh *mesh, const pcs_option *options, const void *params, unsigned char *why)
{
    for (const pcs_option *o = options; o != NULL && o->name != NULL; o++) {
        const char *place = (const char *)params + o->offset;
        if (o->kind == PCS_OPTION_TEXT) {
            const char *name;
            memcpy(&name, place, sizeof name);
            if (name != NULL) share_mark_set(mesh, name, SHARE_NEEDS, why);
        } else if (o->kind == PCS_OPTION_NAMES) {
            pcs_names names;
            memcpy(&names, place, sizeof names);
            for (int i = 0; i < names.count; i++) share_mark_set(mesh, names.text[i], SHARE_NEEDS, why);
        }
    }
}

static void share_mark_nodes(const fe_data *fe, unsigned char *why)
{
    const pcs_mesh *mesh = fe->model.mesh;
    memset(why, 0, (size_t)mesh->nnode);
    for (int i = 0; i < fe->model.ncontact; i++) {
        const pcs_row_source *c = &fe->model.contacts[i];
        const char *name;
        if (!fe->share->distributes_rows || fe->model.needs_copies)
            share_mark_options(mesh, c->ops->options, c->params, why);
        else
            for (int k = 0; (name = pcs_source_set_name(c->ops, c->params, k)) != NULL; k++) {
                bool is_common = c->ops->sets[k].is_common;
                share_mark_set(mesh, name, is_common ? SHARE_NEEDS : SHARE_TOUCHES, why);
                if (is_common) continue;
                // The contact has rows on this rank at these nodes.
                const pcs_set *here =
                    pcs_set_touching(pcs_mesh_node_set(mesh, name), pcs_source_set_name(c->ops, c->params, 0));
                for (int j = 0; j < here->count; j++) why[here->items[j]] |= SHARE_NEEDS;
            }
    }
    for (int i = 0; i < fe->model.njoint; i++)
        share_mark_options(mesh, fe->model.joints[i].ops->options, fe->model.joints[i].params, why);
    for (int c = 0; c < mesh->ncell; c++) {
        const int *node = mesh->cell[c];
        if (!pcs_fe_owns(fe, node[0]) && !pcs_fe_owns(fe, node[1])) continue;
        for (int k = 0; k < 2; k++) why[node[k]] |= SHARE_NEEDS;
    }
}

// Holds the nodes that this rank keeps, in the order of their numbers.
typedef struct share_post {
    pcs_context *ctx;
    const fe_data *fe;
    const pcs_comm *comm;
    int count;                   // number of nodes kept
    int *node;                   // [count] local numbers
    int *first;                  // [map nnode] global number of an own node's first equation, -1 if not own
    int (*begin)[2];             // [count] first equation of each node in one process, and among those of all ranks
    unsigned char *why;          // [map nnode] flags
    int ngiven, ntaken, nserial; // nodes sent and received so far, and equations of all nodes up to there
} share_post;

// Sends the equations of own nodes, and the first of them, to all ranks.
static void share_give(void *owner, int low, int high, double *block)
{
    share_post *p = owner;
    for (; p->ngiven < p->count; p->ngiven++) {
        int node = p->node[p->ngiven], number = pcs_mesh_node_number(p->fe->model.mesh, node);
        if (number >= high) return;
        if (p->first[node] < 0) continue;
        block[2 * (number - low)] = share_equations(p->fe, node);
        block[2 * (number - low) + 1] = p->first[node];
    }
}

static void share_take(void *owner, int low, int high, const double *block)
{
    share_post *p = owner;
    for (int number = low; number < high; number++, block += 2) {
        if (p->ntaken < p->count && pcs_mesh_node_number(p->fe->model.mesh, p->node[p->ntaken]) == number) {
            p->begin[p->ntaken][0] = p->nserial;
            p->begin[p->ntaken++][1] = (int)block[1];
        }
        if (block[0] > 0.0) p->nserial += (int)block[0];
    }
}

// Assigns numbers to the equations of one node, own or copied.
static void share_number_node(fe_data *fe, int node, int *next, const int begin[2], int *global, int *serial)
{
    int count = 0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        pcs_dof *d = &fe->map.dof[i];
        if (d->equation < 0) continue;
        d->equation = (*next)++;
        serial[d->equation] = begin[0] + count;
        global[d->equation] = begin[1] + count++;
    }
}

// Returns true if the node has equations here. One that only contacts of another rank touch has none.
static bool share_keeps(const share_post *p, int node)
{
    const pcs_mesh_share *share = p->fe->model.mesh->share;
    bool is_kept = share == NULL || share->is_kept[node];
    return is_kept && (p->why[node] != SHARE_TOUCHES || pcs_fe_owns(p->fe, node));
}

// Assigns numbers to own equations first. Nodes that are not kept get none.
static pcs_status share_number_all(fe_data *fe, const share_post *p, pcs_layout *layout)
{
    int *global, *serial, own = 0, copy = layout->nown;
    PCS_TAKE(p->ctx, global, layout->n, "the numbers of equations");
    PCS_TAKE(p->ctx, serial, layout->n, "the numbers of equations");
    for (int i = 0; i < p->count; i++)
        share_number_node(fe, p->node[i], p->first[p->node[i]] >= 0 ? &own : &copy, p->begin[i], global, serial);
    for (int node = 0; node < fe->model.mesh->nnode; node++)
        for (int i = fe->map.first[node]; i < fe->map.first[node + 1] && !share_keeps(p, node); i++)
            if (fe->map.dof[i].equation >= 0) fe->map.dof[i].equation = PCS_EQUATION_ELSEWHERE;
    layout->global = global;
    layout->serial = serial;
    return PCS_OK;
}

// Counts equations, and where own nodes begin among those of all ranks.
static pcs_status share_count(share_post *p, pcs_layout *layout)
{
    int begin = 0, nnode = p->fe->model.mesh->nnode;
    for (int node = 0; node < nnode; node++) {
        int count = share_equations(p->fe, node);
        p->first[node] = -1;
        if (!share_keeps(p, node)) continue;
        p->node[p->count++] = node;
        layout->n += count;
        if (!pcs_fe_owns(p->fe, node)) continue;
        p->first[node] = layout->nown;
        layout->nown += count;
    }
    PCS_TRY(pcs_process_begin(p->ctx, layout->nown, &begin, &layout->nglobal));
    for (int node = 0; node < nnode; node++)
        if (p->first[node] >= 0) p->first[node] += begin;
    return PCS_OK;
}

static pcs_status share_number(pcs_context *ctx, fe_data *fe, const pcs_comm *comm)
{
    const pcs_mesh *mesh = fe->model.mesh;
    pcs_layout *layout = &fe->share->layout;
    size_t n = (size_t)mesh->nnode;
    share_post p = { .ctx = ctx, .fe = fe, .comm = comm };
    p.node = pcs_scratch(NULL, 4 * n + 1, sizeof *p.node);
    p.why = pcs_scratch(NULL, n + 1, sizeof *p.why);
    pcs_status status = PCS_OK;
    if (p.node == NULL || p.why == NULL)
        status = pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the shares of %d nodes", mesh->nnode);
    status = pcs_agree(ctx, status);
    *layout = (pcs_layout){ .comm = comm };
    p.first = p.node + n;
    p.begin = (int(*)[2])(p.first + n);
    if (status == PCS_OK) share_mark_nodes(fe, p.why);
    if (status == PCS_OK) status = share_count(&p, layout);
    const pcs_records records = { share_give, share_take, &p };
    if (status == PCS_OK)
        status = pcs_publish(ctx, true, mesh->share == NULL ? mesh->nnode : mesh->share->nnode, 2, &records);
    if (status == PCS_OK) status = share_number_all(fe, &p, layout);
    pcs_scratch_free(p.node);
    pcs_scratch_free(p.why);
    fe->map.nequation = (layout->n + ALIGNED - 1) / ALIGNED * ALIGNED;
    return status;
}

// Splits a batch into cells whose first node this rank owns, and cells of which it owns only the second.
static pcs_status share_split_batch(pcs_context *ctx, fe_data *fe, int group)
{
    pcs_batch *own = &fe->batches[group], *border = &fe->batches[fe->model.ngroup + group];
    int *own_cells, *border_cells, count = own->ncell, nown = 0, nborder = 0;
    for (int i = 0; i < count; i++) {
        const int *node = own->nodes[own->cells[i]];
        bool is_own = pcs_fe_owns(fe, node[0]);
        nown += is_own;
        nborder += !is_own && pcs_fe_owns(fe, node[1]);
    }
    PCS_TAKE(ctx, own_cells, nown, "the cells of a rank");
    PCS_TAKE(ctx, border_cells, nborder, "the cells of a rank");
    nown = nborder = 0;
    for (int i = 0; i < count; i++) {
        int cell = own->cells[i];
        const int *node = own->nodes[cell];
        fe->place_of_cell[cell] = -1;
        fe->share->index_of_cell[cell] = pcs_set_place(fe->model.groups[group].cells, i);
        if (pcs_fe_owns(fe, node[0])) {
            fe->place_of_cell[cell] = nown;
            own_cells[nown++] = cell;
        } else if (pcs_fe_owns(fe, node[1])) {
            border_cells[nborder++] = cell;
        }
    }
    *border = *own;
    own->cells = own_cells;
    own->ncell = nown;
    border->cells = border_cells;
    border->ncell = nborder;
    return PCS_OK;
}

// Returns true if each row of a contact belongs to a node. Sets `reaches` if a row may act on nodes of several ranks,
// which points with force laws must not.
static bool share_is_dealable(const fe_data *fe, const pcs_row_source *c)
{
    const char *name;
    bool is_rigid = !pcs_law_is_force(&c->law);
    if (c->ops->count == NULL) return false;
    const pcs_set *set = pcs_mesh_node_set(fe->model.mesh, pcs_source_set_name(c->ops, c->params, 0));
    for (int k = 1; (name = pcs_source_set_name(c->ops, c->params, k)) != NULL; k++) {
        if (c->ops->sets[k].is_common) {
            if (!is_rigid) return false;
            fe->share->reaches = true;
            continue;
        }
        const pcs_set *other = pcs_mesh_node_set(fe->model.mesh, name);
        if (other->count != set->count || set->nmore != 0 || other->nmore != 0) return false;
        for (int i = 0; i < set->count; i++) {
            if (pcs_fe_owner(fe, set->items[i]) == pcs_fe_owner(fe, other->items[i])) continue;
            if (!is_rigid) return false;
            fe->share->reaches = true;
        }
    }
    return true;
}

// Returns the rank that owns all nodes of a joint. -1 if there are several, or if the joint is driven.
static int share_find_owner(const fe_data *fe, const pcs_row_source *joint)
{
    int rank = -1;
    if (joint->ops->drive != NULL) return -1;
    for (int k = 0; joint->ops->sets[k].option != NULL; k++) {
        const char *name = pcs_option_text(joint->ops->options, joint->params, joint->ops->sets[k].option);
        const pcs_set *set = name == NULL ? NULL : pcs_mesh_node_set(fe->model.mesh, name);
        int count = set == NULL ? 0 : set->count;
        for (int i = 0; i < count; i++) {
            int owner = pcs_fe_owner(fe, set->items[i]);
            if (rank >= 0 && owner != rank) return -1;
            rank = owner;
        }
    }
    return rank;
}

// Finds the rank of each joint. Returns false if one is driven or its nodes belong to several ranks.
static bool share_distributes_joints(const fe_data *fe)
{
    bool are_all = true;
    for (int j = 0; j < fe->model.njoint && are_all; j++) {
        int owner = share_find_owner(fe, &fe->model.joints[j]);
        fe->share->joint_is_here[j] = owner == fe->share->layout.comm->rank;
        are_all = owner >= 0;
    }
    return are_all;
}

// Returns the number of contact rows if all can be distributed, without rows that of points with force laws; else 0.
static double share_count_rows(const fe_data *fe)
{
    const pcs_fe_definition *model = &fe->model;
    double count = 0.0, npoint = 0.0;
    bool are_all = model->distributes_rows != NULL && model->mesh->share != NULL && share_distributes_joints(fe);
    for (int i = 0; i < model->ncontact && are_all; i++) {
        const pcs_row_source *c = &model->contacts[i];
        are_all = share_is_dealable(fe, c);
        if (!are_all) break;
        *(pcs_law_is_force(&c->law) ? &npoint : &count) += pcs_source_rows(c->ops, c->params, model->mesh);
    }
    if (!are_all) return 0.0;
    return count > 0.0 ? count : npoint;
}

// Distributes contact rows to the ranks that own their nodes, if the number of rows makes that worthwhile.
static pcs_status share_distribute_rows(fe_data *fe, const pcs_comm *comm)
{
    const pcs_fe_definition *model = &fe->model;
    double nrow = share_count_rows(fe), ndof = 0.0;
    const char *name;
    if (nrow == 0.0 || comm->size == 1) return PCS_OK;
    for (int node = 0; node < model->mesh->nnode; node++)
        if (model->mesh->share->owner[node] == comm->rank) ndof += share_equations(fe, node);
    comm->sum(comm, 1, &ndof);
    fe->share->distributes_rows = model->distributes_rows(nrow, ndof);
    if (!fe->share->distributes_rows) return PCS_OK;
    for (int i = 0; i < model->ncontact; i++) {
        const pcs_row_source *c = &model->contacts[i];
        for (int k = 0; (name = pcs_source_set_name(c->ops, c->params, k)) != NULL; k++)
            if (!c->ops->sets[k].is_common)
                PCS_TRY(
                    pcs_mesh_distribute_set(model->mesh, name, pcs_source_set_name(c->ops, c->params, 0), comm->rank));
    }
    return PCS_OK;
}

// Distributes nodes, equations and cells over the ranks. Numbers the equations, but not yet those of batches.
static pcs_status dofs_share(pcs_context *ctx, fe_data *fe)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    fe->nbatch = fe->model.ngroup;
    if (comm == NULL) return PCS_OK;
    fe->nbatch = 2 * fe->model.ngroup;
    PCS_TAKE(ctx, fe->share, 1, "the share of a rank");
    fe->share->layout.comm = comm;
    PCS_TAKE(ctx, fe->share->index_of_cell, fe->model.mesh->ncell, "the share of a rank");
    PCS_TAKE(ctx, fe->share->joint_is_here, fe->model.njoint, "the share of a rank");
    PCS_TRY(pcs_agree(ctx, share_distribute_rows(fe, comm)));
    PCS_TRY(share_number(ctx, fe, comm));
    pcs_layout *layout = &fe->share->layout;
    if (fe->share->distributes_rows && fe->share->reaches) PCS_TRY(pcs_halo_create(ctx, layout, &layout->halo));
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(share_split_batch(ctx, fe, g));
    return PCS_OK;
}

// Collects dofs node by node; each node has room for all that its cells give it.
typedef struct finder {
    pcs_context *ctx;
    int *start, *count; // [nnode + 1], [nnode] rooms of the nodes in `found`, and dofs found there
    pcs_dof *found;
} finder;

// Adds a dof unless it is known. Fails unless it is perpendicular to the known ones.
static pcs_status dofs_merge(finder *f, int node, const pcs_node_dofs *given, int which)
{
    const double *direction = given->direction[which];
    bool is_rotation = given->is_rotation[which];
    if (pcs_dot3(direction, direction) == 0.0) return PCS_OK; // the element leaves this dof out
    pcs_dof *own = f->found + f->start[node];
    for (int i = f->count[node] - 1; i >= 0; i--) {
        if (own[i].is_rotation != is_rotation) continue;
        if (is_rotation && own[i].is_finite != given->is_finite)
            return pcs_fail(f->ctx, PCS_BAD_INPUT,
                            "node %d: one of its elements has finite rotations, another small ones; such elements "
                            "cannot share a node",
                            node);
        double cosine = pcs_dot3(own[i].direction, direction);
        if (cosine > 1.0 - 1e-9) return PCS_OK;
        if (fabs(cosine) > 1e-9)
            return pcs_fail(
                f->ctx, PCS_BAD_INPUT,
                "node %d: its elements move it along [%g, %g, %g] and along [%g, %g, %g]; directions at one node must "
                "be equal or perpendicular",
                node, own[i].direction[0], own[i].direction[1], own[i].direction[2], direction[0], direction[1],
                direction[2]);
    }
    pcs_dof *d = &own[f->count[node]++];
    *d = (pcs_dof){ .node = node, .is_rotation = is_rotation, .is_finite = is_rotation && given->is_finite };
    memcpy(d->direction, direction, sizeof d->direction);
    return PCS_OK;
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
        pcs_status status = dofs_find_in_batch(f, fe->batches[g].ops, &fe->batches[g]);
        if (status == PCS_OK) continue;
        *culprit = pcs_culprit(f->ctx, "elements", fe->model.groups[g].name);
        return status;
    }
    return PCS_OK;
}

// Copies the dofs that were found to an array without gaps.
static pcs_status dofs_flatten(const finder *f, fe_data *fe)
{
    int nnode = fe->model.mesh->nnode, *first;
    PCS_TAKE(f->ctx, first, (size_t)nnode + 1, "degrees of freedom");
    for (int node = 0; node < nnode; node++) first[node + 1] = first[node] + f->count[node];
    PCS_TAKE(f->ctx, fe->map.dof, first[nnode], "degrees of freedom");
    for (int node = 0; node < nnode; node++)
        memcpy(fe->map.dof + first[node], f->found + f->start[node], (size_t)f->count[node] * sizeof *f->found);
    fe->map.mesh = fe->model.mesh;
    fe->map.first = first;
    fe->map.ndof = first[nnode];
    return PCS_OK;
}

// Finds the rooms of the nodes.
static void dofs_make_room(const fe_data *fe, finder *f)
{
    int nnode = fe->model.mesh->nnode;
    memset(f->start, 0, (2 * (size_t)nnode + 1) * sizeof *f->start);
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        const pcs_element_ops *ops = fe->batches[g].ops;
        for (int i = 0; i < batch->ncell * ops->nnode; i++)
            f->start[batch->nodes[batch->cells[i / ops->nnode]][i % ops->nnode] + 1] += ops->ndof / ops->nnode;
    }
    for (int i = 1; i <= nnode; i++)
        f->start[i] = f->start[i - 1] + (f->start[i] < PCS_MAX_NODE_DOFS ? f->start[i] : PCS_MAX_NODE_DOFS);
}

static pcs_status dofs_collect(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    size_t nnode = (size_t)fe->model.mesh->nnode;
    finder f = { .ctx = ctx, .start = pcs_scratch(NULL, 2 * nnode + 1, sizeof(int)) };
    if (f.start != NULL) {
        f.count = f.start + nnode + 1;
        dofs_make_room(fe, &f);
        f.found = pcs_scratch(NULL, (size_t)f.start[nnode], sizeof *f.found);
    }
    pcs_status status = PCS_OK;
    if (f.found == NULL) status = pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: dofs of %zu nodes", nnode);
    if (status == PCS_OK) status = dofs_find(&f, fe, culprit);
    if (status == PCS_OK) status = dofs_flatten(&f, fe);
    pcs_scratch_free(f.found);
    pcs_scratch_free(f.start);
    return status;
}

static pcs_status dofs_fix_node(pcs_context *ctx, fe_data *fe, int node, int axis)
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS], direction[3] = { 0 };
    direction[axis % 3] = 1.0;
    if (pcs_dofmap_resolve(&fe->map, axis >= 3, node, direction, dof, coefficient) != 1)
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

// Returns the only dof of three rotations in space that supports fix, or -1. A joint fixes it instead, since the other
// two would not form a rotation vector.
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
                    "element group '%s' rotates node %d by an angle in the plane, others in space; such elements "
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
            for (int j = 0; j < given.count; j++) {
                int dof = pcs_dofmap_find(&fe->map, given.is_rotation[j], node, given.direction[j]);
                *equation++ = dof < 0 ? -1 : fe->map.dof[dof].equation;
            }
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
        pcs_status status = dofs_number_batch(ctx, fe, fe->batches[b].ops, &fe->batches[b]);
        if (status != PCS_OK) *culprit = pcs_culprit(ctx, "elements", fe->batches[b].name);
        PCS_TRY(status);
    }
    return PCS_OK;
}

pcs_status pcs_fe_number_dofs(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    PCS_TRY(pcs_fe_agree(ctx, fe, dofs_find_all(ctx, fe, culprit)));
    PCS_TRY(dofs_share(ctx, fe));
    if ((fe->share == NULL ? fe->map.nequation : fe->share->layout.nglobal) == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the model cannot move: supports hold every degree of freedom");
    return pcs_fe_agree(ctx, fe, dofs_number_all(ctx, fe, culprit));
}
