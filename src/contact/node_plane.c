// Nodes against a rigid plane: g = n . (x - p), one row per node, multiplier pushes the node along +n.

#include "contact/gap.h"

typedef struct plane_params {
    const char *nodes;
    double point[3], normal[3];
    double restitution;
} plane_params;

static const pcs_option plane_options[] = {
    { .name = "nodes",
      .kind = PCS_OPTION_TEXT,
      .help = "node set that may touch the plane",
      .offset = offsetof(plane_params, nodes),
      .is_required = true },
    { .name = "point",
      .kind = PCS_OPTION_VECTOR,
      .help = "a point of the plane, m",
      .offset = offsetof(plane_params, point),
      .is_required = true,
      .range = PCS_ANY_NUMBER },
    { .name = "normal",
      .kind = PCS_OPTION_VECTOR,
      .help = "from the plane towards the body; any length",
      .offset = offsetof(plane_params, normal),
      .is_required = true,
      .range = PCS_ANY_NUMBER },
    { .name = "restitution",
      .kind = PCS_OPTION_REAL,
      .help = "Newton's coefficient e",
      .offset = offsetof(plane_params, restitution),
      .is_required = true,
      .range = PCS_ZERO_TO_ONE },
    { 0 },
};

static const char *const plane_sets[] = { "nodes", NULL };

static const char *plane_check(const void *params, const char **option)
{
    double unit[3];
    *option = "normal";
    return pcs_gap_normalize(((const plane_params *)params)->normal, unit) ? NULL : "the normal has no direction";
}

static int plane_count(const void *params, const pcs_mesh *mesh)
{
    return pcs_mesh_node_set(mesh, ((const plane_params *)params)->nodes)->count;
}

static pcs_status plane_fill(pcs_context *ctx, const void *params, const pcs_dofmap *map, int i,
                             pcs_contact_point *point)
{
    const plane_params *p = params;
    int node = pcs_mesh_node_set(map->mesh, p->nodes)->items[i];
    const double *x = map->mesh->x[node];
    *point = (pcs_contact_point){ .node = node, .other = -1 };
    pcs_gap_normalize(p->normal, point->normal);
    for (int k = 0; k < 3; k++) point->gap += point->normal[k] * (x[k] - p->point[k]);
    PCS_TRY(pcs_gap_add_node(ctx, map, node, 1.0, point));
    return pcs_gap_demand_motion(ctx, point);
}

const pcs_gap_ops pcs_gap_node_plane = {
    .name = "node_plane",
    .summary = "nodes against a rigid plane, gap = n . (x - point)",
    .options = plane_options,
    .params_size = sizeof(plane_params),
    .set_options = plane_sets,
    .restitution_offset = offsetof(plane_params, restitution),
    .check = plane_check,
    .count = plane_count,
    .fill = plane_fill,
};
