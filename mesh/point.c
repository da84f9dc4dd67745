// Single nodes with a one-node cell each, for masses and rigid bodies.
//
// Makes the set `name` of all of them, in the order they are given.

#include "mesh/mesh.h"

typedef struct point_params {
    pcs_list at;
} point_params;

static const pcs_option point_options[] = {
    { .name = "at",
      .kind = PCS_OPTION_LIST,
      .help = "position [x, y, z], or a list of positions, m",
      .offset = offsetof(point_params, at),
      .is_required = true,
      .range = PCS_ANY_NUMBER },
    { 0 },
};

static const char *point_check(const void *params, const char **option)
{
    const point_params *p = params;
    *option = "at";
    return p->at.count == 3 * p->at.nrow ? NULL : "a position must have 3 numbers [x, y, z]";
}

static pcs_status point_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const pcs_list *at = &((const point_params *)params)->at;
    int node, cell;
    PCS_TRY(pcs_mesh_add_nodes(mesh, at->nrow, &node));
    PCS_TRY(pcs_mesh_add_cells(mesh, at->nrow, &cell));
    for (int i = 0; i < at->nrow; i++) {
        for (int k = 0; k < 3; k++) mesh->x[node + i][k] = at->value[3 * i + k];
        mesh->cell[cell + i][0] = mesh->cell[cell + i][1] = node + i;
    }
    PCS_TRY(pcs_mesh_add_node_range(mesh, name, node, at->nrow));
    return pcs_mesh_add_cell_range(mesh, name, cell, at->nrow);
}

const pcs_mesh_source_ops pcs_mesh_point = {
    .name = "point",
    .summary = "single nodes with one-node cells, for masses and rigid bodies; set NAME",
    .options = point_options,
    .params_size = sizeof(point_params),
    .check = point_check,
    .build = point_build,
};
