// The share of a rank in a finite-element model.
//
// Every rank knows the whole mesh. Nodes are dealt out among the ranks; a rank keeps the cells that touch one of its
// nodes, so that the rows of its own equations are complete. Copies are kept of the other nodes of these cells, and,
// on every rank, of all nodes of contacts and joints: gaps, directions and their velocities are then the same
// everywhere, bit for bit, without a word between the ranks.

#include "fe/data.h"

#include <stdlib.h>
#include <string.h>

// Copies must keep the bits of what they copy. A compiler may round the last few entries of a loop otherwise than the
// others, so there are none: vectors are filled up to a multiple of this with equations that stay zero.
enum { ALIGNED = 32 };

// Why a node is here: as an own one or for a cell; and because contacts or joints have it on all ranks.
enum { SHARE_NEAR = 1, SHARE_COMMON = 2 };

// Neighbours of every node through the cells that have elements.
typedef struct share_graph {
    int *start, *neighbour; // [nnode + 1], [start[nnode]]
} share_graph;

static pcs_status share_out_of_memory(pcs_context *ctx, const fe_data *fe)
{
    return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the shares of %d nodes", fe->model.mesh->nnode);
}

// A line of nodes in order is cut into equal pieces.
static bool share_is_line(const fe_data *fe)
{
    const pcs_mesh *mesh = fe->model.mesh;
    for (int c = 0; c < mesh->ncell; c++)
        if (fe->batch_of_cell[c] >= 0 && abs(mesh->cell[c][1] - mesh->cell[c][0]) > 1) return false;
    return true;
}

static void share_cut_line(const fe_data *fe, int size, int *part)
{
    int nnode = fe->model.mesh->nnode;
    for (int i = 0; i < nnode; i++) part[i] = (int)((long long)i * size / nnode);
}

static int share_compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// Sorted, each neighbour once, no node its own.
static void share_tidy(int nnode, share_graph *g)
{
    int place = 0, first = 0;
    for (int i = 0; i < nnode; i++) {
        int last = g->start[i + 1], begin = place;
        qsort(g->neighbour + first, (size_t)(last - first), sizeof *g->neighbour, share_compare);
        for (int p = first; p < last; p++)
            if (place == begin || g->neighbour[place - 1] != g->neighbour[p]) g->neighbour[place++] = g->neighbour[p];
        first = last;
        g->start[i + 1] = place;
    }
}

static bool share_is_edge(const fe_data *fe, int cell)
{
    const int *node = fe->model.mesh->cell[cell];
    return fe->batch_of_cell[cell] >= 0 && node[0] != node[1];
}

static pcs_status share_make_graph(pcs_context *ctx, const fe_data *fe, share_graph *g)
{
    const pcs_mesh *mesh = fe->model.mesh;
    int nnode = mesh->nnode, nedge = 0;
    for (int c = 0; c < mesh->ncell; c++) nedge += share_is_edge(fe, c);
    g->start = pcs_scratch(NULL, (size_t)nnode + 2, sizeof *g->start);
    g->neighbour = pcs_scratch(NULL, 2 * (size_t)nedge, sizeof *g->neighbour);
    if (g->start == NULL || g->neighbour == NULL) return share_out_of_memory(ctx, fe);
    memset(g->start, 0, ((size_t)nnode + 2) * sizeof *g->start);
    for (int c = 0; c < mesh->ncell; c++)
        if (share_is_edge(fe, c))
            for (int k = 0; k < 2; k++) g->start[mesh->cell[c][k] + 2]++;
    for (int i = 0; i <= nnode; i++) g->start[i + 1] += g->start[i];
    for (int c = 0; c < mesh->ncell; c++)
        if (share_is_edge(fe, c))
            for (int k = 0; k < 2; k++) g->neighbour[g->start[mesh->cell[c][k] + 1]++] = mesh->cell[c][1 - k];
    share_tidy(nnode, g);
    return PCS_OK;
}

static pcs_status share_deal(pcs_context *ctx, const fe_data *fe, const pcs_comm *comm, int *part)
{
    if (comm->size == 1 || share_is_line(fe)) {
        share_cut_line(fe, comm->size, part);
        return PCS_OK;
    }
    share_graph graph = { 0 };
    pcs_status status = share_make_graph(ctx, fe, &graph);
    if (status == PCS_OK)
        status = comm->partition(comm, ctx, fe->model.mesh->nnode, graph.start, graph.neighbour, part);
    pcs_scratch_free(graph.start);
    pcs_scratch_free(graph.neighbour);
    return status;
}

static void share_mark_set(const pcs_mesh *mesh, const char *name, unsigned char *is_here)
{
    const pcs_set *nodes = pcs_mesh_node_set(mesh, name), *cells = pcs_mesh_cell_set(mesh, name);
    if (nodes != NULL)
        for (int i = 0; i < nodes->count; i++) is_here[nodes->items[i]] |= SHARE_COMMON;
    if (cells != NULL)
        for (int i = 0; i < cells->count; i++)
            for (int k = 0; k < 2; k++) is_here[mesh->cell[cells->items[i]][k]] |= SHARE_COMMON;
}

// Whatever set a contact or joint names, its nodes are needed.
static void share_mark_options(const pcs_mesh *mesh, const pcs_option *options, const void *params,
                               unsigned char *is_here)
{
    for (const pcs_option *o = options; o != NULL && o->name != NULL; o++) {
        const char *place = (const char *)params + o->offset;
        if (o->kind == PCS_OPTION_TEXT) {
            const char *name;
            memcpy(&name, place, sizeof name);
            if (name != NULL) share_mark_set(mesh, name, is_here);
        } else if (o->kind == PCS_OPTION_NAMES) {
            pcs_names names;
            memcpy(&names, place, sizeof names);
            for (int i = 0; i < names.count; i++) share_mark_set(mesh, names.text[i], is_here);
        }
    }
}

static void share_mark_nodes(const fe_data *fe, int rank, const int *part, unsigned char *is_here)
{
    const pcs_mesh *mesh = fe->model.mesh;
    memset(is_here, 0, (size_t)mesh->nnode);
    for (int i = 0; i < mesh->nnode; i++) is_here[i] = part[i] == rank ? SHARE_NEAR : 0;
    for (int c = 0; c < mesh->ncell; c++) {
        const int *node = mesh->cell[c];
        if (fe->batch_of_cell[c] < 0 || (part[node[0]] != rank && part[node[1]] != rank)) continue;
        is_here[node[0]] = is_here[node[1]] = SHARE_NEAR;
    }
    for (int i = 0; i < fe->model.ncontact; i++)
        share_mark_options(mesh, fe->model.contacts[i].ops->options, fe->model.contacts[i].params, is_here);
    for (int i = 0; i < fe->model.njoint; i++)
        share_mark_options(mesh, fe->model.joints[i].ops->options, fe->model.joints[i].params, is_here);
}

// How many equations are here: of this rank, copies, copies that only contacts and joints need, own ones that all have.
typedef struct share_counts {
    int own, near, far, common;
} share_counts;

static share_counts share_count(const fe_data *fe, int rank, const int *part)
{
    share_counts n = { 0 };
    for (int i = 0; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation < 0) continue;
        unsigned char why = fe->share->is_here[d->node];
        bool is_own = part[d->node] == rank;
        n.own += is_own;
        n.near += !is_own && why & SHARE_NEAR;
        n.far += !is_own && why == SHARE_COMMON;
        n.common += is_own && why & SHARE_COMMON;
    }
    return n;
}

// Numbers among all: the equations of rank 0 in the order of the nodes, then those of rank 1, ...
static pcs_status share_number(pcs_context *ctx, fe_data *fe, const pcs_comm *comm, const int *part)
{
    pcs_layout *layout = &fe->share->layout;
    share_counts count = share_count(fe, comm->rank, part);
    int *next, *global, *serial, here = count.own + count.near + count.far;
    PCS_TAKE(ctx, next, comm->size + 1, "the numbers of equations");
    for (int i = 0; i < fe->map.ndof; i++)
        if (fe->map.dof[i].equation >= 0) next[part[fe->map.dof[i].node] + 1]++;
    for (int r = 0; r < comm->size; r++) next[r + 1] += next[r];
    PCS_TAKE(ctx, global, here, "the numbers of equations");
    PCS_TAKE(ctx, serial, here, "the numbers of equations");
    PCS_TAKE(ctx, layout->common.give, count.common, "the numbers of equations");
    *layout = (pcs_layout){ .comm = comm,
                            .n = here,
                            .nown = count.own,
                            .nglobal = fe->map.nequation,
                            .nfar = count.far,
                            .common = layout->common,
                            .global = global,
                            .serial = serial };
    int own = 0, near = count.own, far = count.own + count.near, ngive = 0;
    for (int i = 0; i < fe->map.ndof; i++) {
        pcs_dof *d = &fe->map.dof[i];
        if (d->equation < 0) continue;
        int owner = part[d->node], number = next[owner]++, before = d->equation;
        unsigned char why = fe->share->is_here[d->node];
        d->equation = PCS_EQUATION_ELSEWHERE;
        if (why == 0) continue;
        int *place = why & SHARE_NEAR ? &near : &far;
        if (owner == comm->rank) place = &own;
        if (owner == comm->rank && why & SHARE_COMMON) layout->common.give[ngive++] = own;
        d->equation = (*place)++;
        global[d->equation] = number;
        serial[d->equation] = before;
    }
    fe->map.nequation = (here + ALIGNED - 1) / ALIGNED * ALIGNED;
    return comm->plan_spread(comm, ctx, count.common, &layout->common.plan);
}

typedef struct share_copy {
    int number, place; // among all, and here
} share_copy;

static int share_compare_copies(const void *a, const void *b)
{
    int x = ((const share_copy *)a)->number, y = ((const share_copy *)b)->number;
    return (x > y) - (x < y);
}

// Where the equations that all ranks have stand here: found by their numbers, which the ranks tell each other.
static pcs_status share_find_common(pcs_context *ctx, fe_data *fe, const pcs_comm *comm)
{
    pcs_layout *layout = &fe->share->layout;
    pcs_common *common = &layout->common;
    int count = common->plan.first[comm->size], ngive = common->plan.count[comm->rank], nfar = layout->nfar;
    PCS_TAKE(ctx, common->take, count, "copies of contacts");
    PCS_TAKE(ctx, common->own, ngive, "copies of contacts");
    PCS_TAKE(ctx, common->all, count, "copies of contacts");
    share_copy *far = pcs_scratch(NULL, (size_t)nfar + 1, sizeof *far);
    if (far == NULL) return share_out_of_memory(ctx, fe);
    for (int i = 0; i < nfar; i++) {
        int place = layout->n - nfar + i;
        far[i] = (share_copy){ layout->global[place], place };
    }
    qsort(far, (size_t)nfar, sizeof *far, share_compare_copies);
    for (int k = 0; k < ngive; k++) common->own[k] = layout->global[common->give[k]];
    comm->spread(comm, &common->plan, common->own, common->all);
    for (int k = 0; k < count; k++) {
        share_copy key = { .number = (int)common->all[k] };
        const share_copy *found = bsearch(&key, far, (size_t)nfar, sizeof *far, share_compare_copies);
        common->take[k] = found == NULL ? -1 : found->place;
    }
    pcs_scratch_free(far);
    return PCS_OK;
}

// Cells whose first node is of this rank, then those that only touch it from outside.
static pcs_status share_split_batch(pcs_context *ctx, fe_data *fe, int group, int rank, const int *part)
{
    pcs_batch *own = &fe->batches[group], *border = &fe->batches[fe->model.ngroup + group];
    int *own_cells, *border_cells, count = own->ncell, nown = 0, nborder = 0;
    for (int i = 0; i < count; i++) {
        const int *node = own->nodes[own->cells[i]];
        nown += part[node[0]] == rank;
        nborder += part[node[0]] != rank && part[node[1]] == rank;
    }
    PCS_TAKE(ctx, own_cells, nown, "the cells of a rank");
    PCS_TAKE(ctx, border_cells, nborder, "the cells of a rank");
    nown = nborder = 0;
    for (int i = 0; i < count; i++) {
        int cell = own->cells[i];
        const int *node = own->nodes[cell];
        fe->place_of_cell[cell] = -1;
        fe->share->index_of_cell[cell] = i;
        if (part[node[0]] == rank) {
            fe->place_of_cell[cell] = nown;
            own_cells[nown++] = cell;
        } else if (part[node[1]] == rank) {
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

pcs_status pcs_fe_share(pcs_context *ctx, fe_data *fe)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    int nnode = fe->model.mesh->nnode, *part;
    fe->nbatch = fe->model.ngroup;
    if (comm == NULL) return PCS_OK;
    fe->nbatch = 2 * fe->model.ngroup;
    PCS_TAKE(ctx, fe->share, 1, "the share of a rank");
    PCS_TAKE(ctx, fe->share->is_here, nnode, "the share of a rank");
    PCS_TAKE(ctx, fe->share->index_of_cell, fe->model.mesh->ncell, "the share of a rank");
    PCS_TAKE(ctx, part, nnode, "the share of a rank");
    fe->share->part = part;
    PCS_TRY(share_deal(ctx, fe, comm, part));
    share_mark_nodes(fe, comm->rank, part, fe->share->is_here);
    PCS_TRY(share_number(ctx, fe, comm, part));
    PCS_TRY(share_find_common(ctx, fe, comm));
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(share_split_batch(ctx, fe, g, comm->rank, part));
    return PCS_OK;
}
