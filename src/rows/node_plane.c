// Nodes, or points fixed to them, against a rigid plane: g = n . (x - p) - r, one row each, multiplier pushes along +n.
//
// r is the radius of the body at the point. Friction acts on its surface, at the arm -r n from the point, so that it
// turns the body, too.

#include "rows/ends.h"
#include "rows/gap.h"

#include <math.h>
#include <string.h>

typedef struct plane_params {
    const char *nodes;
    pcs_list offsets;
    double point[3], normal[3], node_radius;
} plane_params;

static const pcs_option plane_options[] = {
    PCS_TEXT("nodes", plane_params, nodes, PCS_REQUIRED, "node set that may touch the plane"),
    PCS_OFFSETS_OPTION(plane_params),
    PCS_VECTOR("point", plane_params, point, PCS_REQUIRED, PCS_ANY_NUMBER, "a point of the plane, m"),
    PCS_VECTOR("normal", plane_params, normal, PCS_REQUIRED, PCS_ANY_NUMBER,
               "from the plane towards the body; any length"),
    PCS_REAL("node_radius", plane_params, node_radius, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "of the body at the node or offset, m"),
    { 0 },
};

static const pcs_source_set plane_sets[] = { { .option = "nodes" }, { 0 } };

static const char *plane_check(const void *params, const char **option)
{
    const plane_params *p = params;
    double unit[3];
    *option = "normal";
    if (!pcs_normalize3(p->normal, unit)) return "the normal has no direction";
    *option = "offsets";
    return pcs_offsets_check(&p->offsets);
}

typedef struct plane_contact {
    pcs_points_of points;
    double point[3], normal[3], tangent[2][3], node_radius;
    int ntangent;
} plane_contact;

// Checks that each node can move along the normal and, with friction, has as many tangents as the nodes before it.
// Clears is_constant if the moment of a row has variable components, as on a node with finite rotations in space.
static pcs_status plane_look_at_nodes(pcs_context *ctx, const plane_params *p, const pcs_dofmap *map,
                                      plane_contact *self, pcs_source_shape *shape)
{
    const pcs_set *nodes = self->points.nodes;
    for (int i = 0; i < nodes->count; i++) {
        int node = nodes->items[i];
        bool is_free = p->offsets.count > 0; // points at offsets may move by rotation alone
        PCS_TRY(pcs_gap_look_along(ctx, map, node, self->normal, &is_free));
        if (!is_free) return pcs_gap_refuse_held(ctx, node);
        if (!shape->has_friction) continue;
        int count = pcs_gap_tangents(map, node, self->normal, self->tangent);
        PCS_TRY(pcs_gap_demand_tangents(ctx, node, count, i == 0 ? count : self->ntangent));
        self->ntangent = count;
        shape->is_constant =
            shape->is_constant && (p->node_radius == 0.0 || pcs_node_rotates(map, node) != PCS_ROTATES_FINITELY);
    }
    return PCS_OK;
}

static int plane_count(const void *params, const pcs_mesh *mesh)
{
    return pcs_offsets_per_node(&((const plane_params *)params)->offsets);
}

static pcs_status plane_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_source_shape *shape)
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
    shape->is_constant = !self->points.rotates_finitely;
    PCS_TRY(plane_look_at_nodes(ctx, p, map, self, shape));
    shape->nrow = self->points.count;
    shape->ntangent = self->ntangent;
    // Takes the size of the mesh if rows rotate no node.
    if (shape->has_friction || p->offsets.count > 0) shape->size = fmax(self->points.reach, p->node_radius);
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

// Fills `*out` with part 0, the plane, or with the arms. Returns false if there is no such part.
static bool plane_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const plane_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    if (part > 0) return pcs_offsets_show(&p->offsets, nodes, part - 1, out);
    out->kind = PCS_OBSTACLE_PLANE;
    pcs_normalize3(p->normal, out->axis);
    memcpy(out->point, p->point, sizeof out->point);
    out->node_radius = p->node_radius + pcs_offsets_reach(&p->offsets);
    out->nnode = nodes->count;
    out->nodes = nodes->items;
    return true;
}

const pcs_source_ops pcs_gap_node_plane = {
    .name = "node_plane",
    .summary = "nodes, or points fixed to them, against a rigid plane, gap = n . (x - point) - node_radius",
    .options = plane_options,
    .params_size = sizeof(plane_params),
    .sets = plane_sets,
    .check = plane_check,
    .count = plane_count,
    .create = plane_create,
    .evaluate = plane_evaluate,
    .show = plane_show,
};
