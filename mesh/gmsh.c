// A mesh from a file of Gmsh: lines become cells, points of physical groups become one-node cells.
//
// Makes the sets `name` (all nodes; all line cells, or the points of a file without lines) and `name.<group>` for every
// physical group, by its name or, without one, its number: its cells and their nodes. When a group of points and one of
// lines would be called the same, that of the points is `name.<group>.points`. Nodes that no cell needs are left out,
// the others are numbered along the lines.

#include "mesh/mesh.h"
#include "mesh/msh.h"
#include "mesh/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gmsh_params {
    const char *file;
    double scale;
} gmsh_params;

static const pcs_option gmsh_options[] = {
    PCS_FILE("file", gmsh_params, file, PCS_REQUIRED,
             "mesh file of Gmsh, version 2.2 or 4.1, text; relative to the folder of the case"),
    PCS_REAL("scale", gmsh_params, scale, PCS_DEFAULT("1.0"), PCS_POSITIVE, "metres per unit of length of the file"),
    { 0 },
};

// A file on its way into a mesh; the arrays are one scratch buffer, which begins with `place`.
typedef struct gmsh_work {
    const pcs_msh *msh;
    pcs_mesh *mesh;
    int *place;     // [msh nnode] number in the mesh, -1: left out
    int *cell;      // [msh nelement] number in the mesh
    int *list;      // [nnode or nelement] items of a set
    int *is_listed; // [nnode] is the node in the list already?
    int nnode, nline, first_node, first_cell;
} gmsh_work;

static pcs_status gmsh_allocate(pcs_context *ctx, gmsh_work *w)
{
    size_t nnode = (size_t)w->msh->nnode, nelement = (size_t)w->msh->nelement;
    w->place = pcs_scratch(NULL, 3 * nnode + 2 * nelement, sizeof *w->place);
    if (w->place == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a mesh of %zu nodes", nnode);
    w->cell = w->place + nnode;
    w->is_listed = w->cell + nelement;
    w->list = w->is_listed + nnode;
    return PCS_OK;
}

// Numbers the nodes in use along the lines; those of the file come first where there is a choice.
static pcs_status gmsh_number(pcs_context *ctx, gmsh_work *w)
{
    const pcs_msh *msh = w->msh;
    int(*cell)[2] = pcs_scratch(NULL, (size_t)msh->nelement, sizeof *cell), count = 0;
    if (cell == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d elements", msh->nelement);
    for (int i = 0; i < msh->nnode; i++) w->place[i] = -1;
    for (int i = 0; i < msh->nelement; i++)
        for (int k = 0; k < 2; k++) w->place[msh->element[i].node[k]] = 0;
    for (int i = 0; i < msh->nnode; i++)
        if (w->place[i] == 0) w->place[i] = count++;
    for (int i = 0; i < msh->nelement; i++)
        for (int k = 0; k < 2; k++) cell[i][k] = w->place[msh->element[i].node[k]];
    pcs_status status = pcs_mesh_order(ctx, count, msh->nelement, (const int(*)[2])cell, w->list);
    pcs_scratch_free(cell);
    if (status != PCS_OK) return status;
    for (int i = 0; i < msh->nnode; i++)
        if (w->place[i] >= 0) w->place[i] = w->list[w->place[i]];
    w->nnode = count;
    return PCS_OK;
}

static pcs_status gmsh_add_items(const gmsh_params *p, gmsh_work *w)
{
    const pcs_msh *msh = w->msh;
    PCS_TRY(pcs_mesh_add_nodes(w->mesh, w->nnode, &w->first_node));
    PCS_TRY(pcs_mesh_add_cells(w->mesh, msh->nelement, &w->first_cell));
    for (int i = 0; i < msh->nnode; i++) {
        if (w->place[i] < 0) continue;
        w->place[i] += w->first_node;
        for (int k = 0; k < 3; k++) {
            double x = w->mesh->x[w->place[i]][k] = p->scale * msh->x[i][k];
            if (!isfinite(x))
                return pcs_fail(w->mesh->ctx, PCS_BAD_INPUT,
                                "node %ld of '%s' is too far away to be measured: %g x %g m", msh->tag[i], p->file,
                                p->scale, msh->x[i][k]);
        }
    }
    int count = 0;
    for (int dimension = PCS_MSH_LINE; dimension >= PCS_MSH_POINT; dimension--) {
        for (int i = 0; i < msh->nelement; i++) {
            if (msh->element[i].dimension != dimension) continue;
            w->cell[i] = w->first_cell + count++;
            for (int k = 0; k < 2; k++) w->mesh->cell[w->cell[i]][k] = w->place[msh->element[i].node[k]];
        }
        if (dimension == PCS_MSH_LINE) w->nline = count;
    }
    return PCS_OK;
}

static int gmsh_compare(const void *a, const void *b)
{
    return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

// The cells of a group and their nodes, both in rising order.
static pcs_status gmsh_add_group(gmsh_work *w, const char *name, const pcs_msh_member *member, int count)
{
    int nnode = 0;
    for (int i = 0; i < count; i++) w->list[i] = w->cell[member[i].element];
    qsort(w->list, (size_t)count, sizeof *w->list, gmsh_compare);
    PCS_TRY(pcs_mesh_add_cell_list(w->mesh, name, count, w->list));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) w->is_listed[w->mesh->cell[w->cell[member[i].element]][k] - w->first_node] = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 2; k++) {
            int node = w->mesh->cell[w->cell[member[i].element]][k];
            if (w->is_listed[node - w->first_node]) continue;
            w->is_listed[node - w->first_node] = 1;
            w->list[nnode++] = node;
        }
    }
    qsort(w->list, (size_t)nnode, sizeof *w->list, gmsh_compare);
    return pcs_mesh_add_node_list(w->mesh, name, nnode, w->list);
}

// "bridge.deck", "bridge.7", or with ".points" when a group of lines is called so.
static void gmsh_name_group(const pcs_msh *msh, int group, const char *mesh_name, size_t size, char *name)
{
    const pcs_msh_group *g = &msh->group[group];
    char own[160], other[160];
    snprintf(own, sizeof own, "%ld", g->tag);
    if (g->name != NULL) snprintf(own, sizeof own, "%s", g->name);
    bool is_taken = false;
    for (int i = 0; i < msh->ngroup; i++) {
        if (g->dimension != PCS_MSH_POINT) break;
        snprintf(other, sizeof other, "%ld", msh->group[i].tag);
        const char *text = msh->group[i].name == NULL ? other : msh->group[i].name;
        is_taken = is_taken || (msh->group[i].dimension == PCS_MSH_LINE && strcmp(text, own) == 0);
    }
    snprintf(name, size, "%s.%s%s", mesh_name, own, is_taken ? ".points" : "");
}

static int gmsh_compare_members(const void *a, const void *b)
{
    const pcs_msh_member *p = a, *q = b;
    if (p->group != q->group) return p->group < q->group ? -1 : 1;
    return p->element < q->element ? -1 : p->element > q->element;
}

static pcs_status gmsh_add_sets(gmsh_work *w, const char *name)
{
    const pcs_msh *msh = w->msh;
    char text[512];
    PCS_TRY(pcs_mesh_add_node_range(w->mesh, name, w->first_node, w->nnode));
    PCS_TRY(pcs_mesh_add_cell_range(w->mesh, name, w->first_cell, w->nline > 0 ? w->nline : msh->nelement));
    if (msh->nmember > 0) qsort(msh->member, (size_t)msh->nmember, sizeof *msh->member, gmsh_compare_members);
    for (int i = 0, end; i < msh->nmember; i = end) {
        int group = msh->member[i].group;
        for (end = i; end < msh->nmember && msh->member[end].group == group;) end++;
        gmsh_name_group(msh, group, name, sizeof text, text);
        PCS_TRY(gmsh_add_group(w, text, msh->member + i, end - i));
    }
    return PCS_OK;
}

static pcs_status gmsh_convert(const gmsh_params *p, const char *name, pcs_mesh *mesh, const pcs_msh *msh)
{
    gmsh_work w = { .msh = msh, .mesh = mesh };
    pcs_status status = gmsh_allocate(mesh->ctx, &w);
    if (status == PCS_OK) status = gmsh_number(mesh->ctx, &w);
    if (status == PCS_OK) status = gmsh_add_items(p, &w);
    if (status == PCS_OK) status = gmsh_add_sets(&w, name);
    pcs_scratch_free(w.place);
    return status;
}

static pcs_status gmsh_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const gmsh_params *p = params;
    pcs_msh msh = { 0 };
    pcs_status status = pcs_msh_read(mesh->ctx, p->file, &msh);
    if (status == PCS_OK) status = gmsh_convert(p, name, mesh, &msh);
    pcs_msh_free(&msh);
    return status;
}

const pcs_mesh_source_ops pcs_mesh_gmsh = {
    .name = "gmsh",
    .summary = "lines and points of a mesh file of Gmsh; sets NAME and, for each physical group, NAME.GROUP",
    .options = gmsh_options,
    .params_size = sizeof(gmsh_params),
    .build = gmsh_build,
};
