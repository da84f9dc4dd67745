// Nodes, or points fixed to them, against a rigid plane: g = n . (x - p) - r, one row each, multiplier pushes along +n.
//
// r is the radius of the body at the point. Friction acts on its surface, at the arm -r n from the point, so that it
// turns the body, too.

#include "contact/gap.h"
#include "contact/points.h"

#include <math.h>
#include <string.h>

typedef struct plane_params {
    const char *nodes;
    pcs_list offsets;
    double point[3], normal[3], node_radius;
    pcs_contact_law law;
} plane_params;

static const pcs_option plane_options[] = {
    PCS_TEXT("nodes", plane_params, nodes, PCS_REQUIRED, "node set that may touch the plane"),
    PCS_OFFSETS_OPTION(plane_params),
    PCS_VECTOR("point", plane_params, point, PCS_REQUIRED, PCS_ANY_NUMBER, "a point of the plane, m"),
    PCS_VECTOR("normal", plane_params, normal, PCS_REQUIRED, PCS_ANY_NUMBER,
               "from the plane towards the body; any length"),
    PCS_REAL("node_radius", plane_params, node_radius, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "of the body at the node or offset, m"),
    PCS_CONTACT_LAW_OPTIONS(plane_params),
    { 0 },
};

static const char *const plane_sets[] = { "nodes", NULL };

static const char *plane_check(const void *params, const char **option)
{
    const plane_params *p = params;
    double unit[3];
    *option = "normal";
    if (!pcs_normalize3(p->normal, unit)) return "the normal has no direction";
    *option = "offsets";
    return pcs_offsets_check(&p->offsets);
}

static int plane_count(const void *params, const pcs_mesh *mesh)
{
    const plane_params *p = params;
    return p->offsets.count > 0 ? -1 : pcs_set_touching(pcs_mesh_node_set(mesh, p->nodes), p->nodes)->count;
}

// The node has the direction of the normal; supports may hold it.
static pcs_status plane_place(pcs_context *ctx, const plane_params *p, const pcs_dofmap *map, int i,
                              pcs_contact_point *point)
{
    int node = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->nodes), p->nodes)->items[i];
    const double *x = map->mesh->x[node];
    *point = (pcs_contact_point){ .node = node, .other = -1 };
    pcs_normalize3(p->normal, point->normal);
    for (int k = 0; k < 3; k++) point->gap += point->normal[k] * (x[k] - p->point[k]);
    point->gap -= p->node_radius;
    return pcs_gap_add_node(ctx, map, node, 1.0, point);
}

static pcs_status plane_fill(pcs_context *ctx, const void *params, const pcs_dofmap *map, int i,
                             pcs_contact_point *point)
{
    PCS_TRY(plane_place(ctx, params, map, i, point));
    return pcs_gap_demand_motion(ctx, point);
}

typedef struct plane_contact {
    pcs_points_of points;
    double point[3], normal[3], tangent[2][3], node_radius;
    int ntangent;
} plane_contact;

// A moment that stands in space means other components to a node that turns in space by any angle.
static bool plane_turns_freely(const pcs_dofmap *map, int node)
{
    int count = 0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        count += map->dof[i].is_rotation && map->dof[i].is_finite;
    return count > 1;
}

// Tangents of the nodes, alike; is_constant: rows whose moments stand in space keep their directions.
static pcs_status plane_look_at_nodes(pcs_context *ctx, const plane_params *p, const pcs_dofmap *map,
                                      plane_contact *self, bool *is_constant)
{
    const pcs_set *nodes = self->points.nodes;
    for (int i = 0; i < nodes->count; i++) {
        int node = nodes->items[i];
        pcs_contact_point point;
        PCS_TRY(plane_place(ctx, p, map, i, &point));
        if (p->offsets.count == 0) PCS_TRY(pcs_gap_demand_motion(ctx, &point)); // others may just turn
        int count = pcs_gap_tangents(map, node, self->normal, self->tangent);
        PCS_TRY(pcs_gap_demand_tangents(ctx, node, count, i == 0 ? count : self->ntangent));
        self->ntangent = count;
        *is_constant = *is_constant && (p->node_radius == 0.0 || !plane_turns_freely(map, node));
    }
    return PCS_OK;
}

static int plane_rows_per_node(const void *params)
{
    return pcs_offsets_per_node(&((const plane_params *)params)->offsets);
}

static pcs_status plane_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_contact_shape *shape)
{
    const plane_params *p = params;
    plane_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    const pcs_set *nodes = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->nodes), p->nodes);
    PCS_TRY(pcs_points_create(ctx, &p->offsets, nodes, map, &self->points));
    PCS_TRY(pcs_points_demand_free(ctx, &self->points));
    pcs_normalize3(p->normal, self->normal);
    for (int k = 0; k < 3; k++) self->point[k] = p->point[k];
    self->node_radius = p->node_radius;
    bool is_constant = !self->points.turns_finitely;
    PCS_TRY(plane_look_at_nodes(ctx, p, map, self, &is_constant));
    *shape = (pcs_contact_shape){ .nrow = self->points.count,
                                  .ntangent = self->ntangent,
                                  .is_constant = is_constant,
                                  .size = fmax(self->points.reach, p->node_radius) };
    shape->reach = self->points.reach;
    *instance = self;
    return PCS_OK;
}

static void plane_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const plane_contact *self = instance;
    const double at_point[3] = { 0.0 }, r = self->node_radius;
    const double arm[3] = { -r * self->normal[0], -r * self->normal[1], -r * self->normal[2] };
    for (int i = 0; i < self->points.count; i++) {
        pcs_point_now point;
        pcs_point_find(&self->points, i, places, &point);
        for (int k = 0; k < 3; k++) {
            rows[i].gap += self->normal[k] * (point.x[k] - self->point[k]);
            rows[i].normal[k] = self->normal[k];
            rows[i].point[k] = point.x[k] + arm[k];
        }
        rows[i].gap -= r;
        rows[i].bias = pcs_dot3(self->normal, point.bend);
        pcs_point_push(&rows[i].direction, &point, at_point, self->normal);
        for (int t = 0; t < self->ntangent; t++) pcs_point_push(&rows[i].tangent[t], &point, arm, self->tangent[t]);
        memcpy(rows[i].across, self->tangent, sizeof rows[i].across);
    }
}

static void plane_show(const void *params, const pcs_dofmap *map, pcs_obstacle *out)
{
    const plane_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    out->kind = PCS_OBSTACLE_PLANE;
    pcs_normalize3(p->normal, out->axis);
    memcpy(out->point, p->point, sizeof out->point);
    out->node_radius = p->node_radius + pcs_offsets_reach(&p->offsets);
    out->nnode = nodes->count;
    out->nodes = nodes->items;
}

static bool plane_show_arms(const void *params, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const plane_params *p = params;
    return pcs_offsets_show(&p->offsets, pcs_mesh_node_set(map->mesh, p->nodes), part, out);
}

const pcs_gap_ops pcs_gap_node_plane = {
    .name = "node_plane",
    .summary = "nodes, or points fixed to them, against a rigid plane, gap = n . (x - point) - node_radius",
    .options = plane_options,
    .params_size = sizeof(plane_params),
    .set_options = plane_sets,
    .law_offset = offsetof(plane_params, law),
    .check = plane_check,
    .count = plane_count,
    .fill = plane_fill,
    .create = plane_create,
    .evaluate = plane_evaluate,
    .rows_per_node = plane_rows_per_node,
    .show = plane_show,
    .show_carried = plane_show_arms,
};
