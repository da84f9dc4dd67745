// Nodes, or points fixed to them, against a rigid circle in the plane or cylinder in space, from inside (a bearing with
// backlash) or outside.
//
//   d = radial part of x - centre,  u = d/|d|      inside  g = R - r - |d|,  n = -u
//                                                  outside g = |d| - R - r,  n = +u
//
// r is the radius of the body at the point. Friction acts on its surface, at the arm -r n from the point, so that it
// turns the body, too. With velocities v: |d|'' at constant v and w is u . x'' + |v_across|^2/|d|.

#include "rows/gap.h"
#include "rows/segment.h"

#include <math.h>
#include <string.h>

typedef struct circle_params {
    const char *nodes;
    pcs_list offsets;
    double centre[3], axis[3];
    double radius, node_radius;
    int side;
} circle_params;

enum { SIDE_INSIDE, SIDE_OUTSIDE };
static const char *const circle_sides[] = { "inside", "outside", NULL };

static const pcs_option circle_options[] = {
    PCS_TEXT("nodes", circle_params, nodes, PCS_REQUIRED, "node set that may touch the circle"),
    PCS_OFFSETS_OPTION(circle_params),
    PCS_VECTOR("centre", circle_params, centre, PCS_REQUIRED, PCS_ANY_NUMBER,
               "centre of the circle, or a point of the cylinder's axis, m"),
    PCS_VECTOR("axis", circle_params, axis, PCS_DEFAULT("[0.0, 0.0, 1.0]"), PCS_ANY_NUMBER,
               "direction of the cylinder; any length"),
    PCS_REAL("radius", circle_params, radius, PCS_REQUIRED, PCS_POSITIVE, "of the circle or cylinder, m"),
    PCS_REAL("node_radius", circle_params, node_radius, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "of the body at the node or offset, m"),
    PCS_CHOICE("side", circle_params, side, PCS_REQUIRED, circle_sides,
               "where the body is: inside the circle, as a shaft in its bearing, or outside"),
    { 0 },
};

static const pcs_source_set circle_sets[] = { { .option = "nodes" }, { 0 } };

static const char *circle_check(const void *params, const char **option)
{
    const circle_params *p = params;
    double unit[3];
    *option = "axis";
    if (!pcs_normalize3(p->axis, unit)) return "the axis has no direction";
    *option = "offsets";
    if (pcs_offsets_check(&p->offsets) != NULL) return pcs_offsets_check(&p->offsets);
    *option = "node_radius";
    return p->side == SIDE_INSIDE && p->node_radius >= p->radius ? "the body does not fit into the circle" : NULL;
}

typedef struct circle_contact {
    pcs_points_of points;
    double centre[3], axis[3], across[3]; // across: unit vector perpendicular to the axis along which nodes can move
    double radius, node_radius, sign;     // m, m; sign: n = sign u
    int ntangent;
} circle_contact;

// Checks that all nodes move across the axis in two directions, and that either all or none move along it.
static pcs_status circle_look_at_nodes(pcs_context *ctx, circle_contact *self, const pcs_dofmap *map)
{
    const pcs_set *nodes = self->points.nodes;
    for (int i = 0; i < nodes->count; i++) {
        int node = nodes->items[i];
        double across[2][3];
        int count = pcs_gap_tangents(map, node, self->axis, across);
        if (count < 2)
            return pcs_fail(ctx, PCS_BAD_INPUT,
                            "node %d cannot move across the axis [%g, %g, %g] in two directions: a circle is round",
                            node, self->axis[0], self->axis[1], self->axis[2]);
        if (self->points.reach == 0.0) PCS_TRY(pcs_gap_demand_free(ctx, map, node)); // others may just rotate
        double tangent[2][3];
        int ntangent = pcs_gap_tangents(map, node, across[0], tangent);
        PCS_TRY(pcs_gap_demand_tangents(ctx, node, ntangent, i == 0 ? ntangent : self->ntangent));
        self->ntangent = ntangent;
        if (i == 0)
            for (int k = 0; k < 3; k++) self->across[k] = across[0][k];
    }
    return PCS_OK;
}

static int circle_count(const void *params, const pcs_mesh *mesh)
{
    return pcs_offsets_per_node(&((const circle_params *)params)->offsets);
}

static pcs_status circle_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                pcs_source_shape *shape)
{
    const circle_params *p = params;
    circle_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    const pcs_set *nodes = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->nodes), p->nodes);
    PCS_TRY(pcs_points_create(ctx, &p->offsets, nodes, map, &self->points));
    PCS_TRY(pcs_points_demand_free(ctx, &self->points));
    pcs_normalize3(p->axis, self->axis);
    for (int k = 0; k < 3; k++) self->centre[k] = p->centre[k];
    self->radius = p->radius;
    self->node_radius = p->node_radius;
    self->sign = p->side == SIDE_INSIDE ? -1.0 : 1.0;
    PCS_TRY(circle_look_at_nodes(ctx, self, map));
    double size = fmax(p->radius, self->points.reach);
    *shape = (pcs_source_shape){ .nrow = self->points.count, .ntangent = self->ntangent, .size = size };
    shape->reach = self->points.reach;
    *instance = self;
    return PCS_OK;
}

// Computes the radial unit vector, on the axis always the same one. Returns the distance from the axis, m.
static double circle_radial(const circle_contact *self, const double x[3], double u[3])
{
    double along = 0.0;
    for (int k = 0; k < 3; k++) along += self->axis[k] * (x[k] - self->centre[k]);
    for (int k = 0; k < 3; k++) u[k] = x[k] - self->centre[k] - along * self->axis[k];
    double length = pcs_norm3(u);
    for (int k = 0; k < 3; k++) u[k] = length > 0.0 ? u[k] / length : self->across[k];
    return length;
}

static void circle_evaluate_row(const circle_contact *self, const pcs_point_now *point, pcs_row_state *row)
{
    double u[3], arm[3], tangent[2][3];
    const double at_point[3] = { 0.0 };
    double distance = circle_radial(self, point->x, u);
    row->gap = self->sign * (distance - self->radius) - self->node_radius;
    for (int k = 0; k < 3; k++) {
        row->normal[k] = self->sign * u[k];
        arm[k] = -self->node_radius * row->normal[k];
        row->point[k] = point->x[k] + arm[k];
    }
    pcs_point_push(&row->direction, point, at_point, row->normal);
    // The first tangent is along the circumference, the second along the axis.
    pcs_cross(self->axis, u, tangent[0]);
    for (int k = 0; k < 3; k++) tangent[1][k] = self->axis[k];
    for (int t = 0; t < self->ntangent; t++) pcs_point_push(&row->tangent[t], point, arm, tangent[t]);
    memcpy(row->across, tangent, sizeof tangent);
    double round = pcs_dot3(point->v, tangent[0]);
    row->bias = pcs_dot3(row->normal, point->bend);
    if (distance > 0.0) row->bias += self->sign * round * round / distance;
}

static void circle_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const circle_contact *self = instance;
    for (int i = 0; i < self->points.count; i++) {
        pcs_point_now point;
        pcs_point_find(&self->points, i, places, &point);
        circle_evaluate_row(self, &point, &rows[i]);
    }
}

// Finds the position of point i across the axis, relative to the centre, as a segment of zero length.
static void circle_spot(const circle_contact *self, const pcs_places *places, int i, pcs_segment *out)
{
    pcs_point_now point;
    double u[3], x[3];
    pcs_point_find(&self->points, i, places, &point);
    double distance = circle_radial(self, point.x, u);
    for (int k = 0; k < 3; k++) x[k] = distance * u[k];
    pcs_segment_between(x, x, out);
}

// Checks paths of outside nodes for a passage. Inside none is possible, as a chord of the circle stays in it.
static void circle_passage(void *instance, const pcs_places *from, const pcs_places *to, const pcs_passage_row *rows,
                           pcs_passage *worst)
{
    const circle_contact *self = instance;
    if (self->sign < 0.0) return;
    for (int i = 0; i < self->points.count; i++) {
        pcs_swept pair = { .thickness = self->radius + self->node_radius };
        circle_spot(self, from, i, &pair.b[0]);
        circle_spot(self, to, i, &pair.b[1]);
        pcs_swept_look(&pair, rows[i].is_loaded ? PCS_SWEPT_LOADED : PCS_SWEPT_OPEN, i, worst);
    }
}

// Fills `*out` with part 0, the circle, or with the arms. Returns false if there is no such part.
static bool circle_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const circle_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    if (part > 0) return pcs_offsets_show(&p->offsets, nodes, part - 1, out);
    out->kind = p->side == SIDE_INSIDE ? PCS_OBSTACLE_BORE : PCS_OBSTACLE_CYLINDER;
    pcs_normalize3(p->axis, out->axis);
    memcpy(out->point, p->centre, sizeof out->point);
    out->radius = p->radius;
    out->node_radius = p->node_radius + pcs_offsets_reach(&p->offsets);
    out->nnode = nodes->count;
    out->nodes = nodes->items;
    return true;
}

const pcs_source_ops pcs_gap_node_circle = {
    .name = "node_circle",
    .summary =
        "nodes, or points fixed to them, inside or outside a rigid circle or cylinder, gap = distance of the surfaces",
    .options = circle_options,
    .params_size = sizeof(circle_params),
    .sets = circle_sets,
    .check = circle_check,
    .create = circle_create,
    .evaluate = circle_evaluate,
    .count = circle_count,
    .passage = circle_passage,
    .show = circle_show,
};
