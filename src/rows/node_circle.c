// Nodes, or points fixed to them, against a rigid circle in the plane or cylinder in space, from inside (a bearing with
// backlash) or outside; and round journals of a shaft in a bearing that a node carries, its housing.
//
//   p = point of the body, c = centre, fixed in space or the node of the housing, a = axis, which turns with it
//   d = p - c less its part along a,  u = d/|d|      inside  g = R - r - |d|,  n = -u on the body, +u on the housing
//                                                    outside g = |d| - R - r,  n = +u
//
// r is the radius of the body at the point. Friction acts where the surfaces touch, at the arm -r n from p: it turns
// both. Where rotations are small the axis keeps its direction; else a' = w x a and, with s = a . (p - c), at constant
// velocities
//   |d|'' = u . (p'' - c'') - 2 s' u . a' - s u . a'' + |d| (u . a')^2 + (t . d')^2/|d|,   t = a x u the way round

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
    int housing;                          // node that carries the circle; -1: it is fixed in space
    double centre[3], axis[3], across[3]; // across: unit vector perpendicular to the axis along which nodes can move
    double radius, node_radius, sign;     // m, m; sign: n = sign u
    int ntangent;
} circle_contact;

// Checks that a node moves across the axis in two directions, the first of which is returned.
static pcs_status circle_look_across(pcs_context *ctx, const circle_contact *self, const pcs_dofmap *map, int node,
                                     double across[3])
{
    double tangent[2][3];
    int count = pcs_gap_tangents(map, node, self->axis, tangent);
    memcpy(across, tangent[0], sizeof tangent[0]);
    if (count == 2) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "node %d cannot move across the axis [%g, %g, %g] in two directions: a %s is round", node,
                    self->axis[0], self->axis[1], self->axis[2], self->housing < 0 ? "circle" : "bearing");
}

// Checks that all nodes do, and that either all or none of them move along the axis.
static pcs_status circle_look_at_nodes(pcs_context *ctx, circle_contact *self, const pcs_dofmap *map)
{
    const pcs_set *nodes = self->points.nodes;
    if (self->housing >= 0) PCS_TRY(circle_look_across(ctx, self, map, self->housing, self->across));
    for (int i = 0; i < nodes->count; i++) {
        int node = nodes->items[i];
        double across[3], tangent[2][3];
        PCS_TRY(circle_look_across(ctx, self, map, node, across));
        if (self->housing < 0 && self->points.reach == 0.0)
            PCS_TRY(pcs_gap_demand_free(ctx, map, node)); // others may just rotate
        int ntangent = pcs_gap_tangents(map, node, across, tangent);
        PCS_TRY(pcs_gap_demand_tangents(ctx, node, ntangent, i == 0 ? ntangent : self->ntangent));
        self->ntangent = ntangent;
        if (i == 0 && self->housing < 0) memcpy(self->across, across, sizeof across);
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
    memcpy(self->centre, p->centre, sizeof self->centre);
    self->housing = -1;
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

// Finds the place of the circle: that of its housing, or at rest.
static void circle_house(const circle_contact *self, const pcs_places *places, pcs_place *house)
{
    *house = (pcs_place){ .is_small = true };
    memcpy(house->x, self->centre, sizeof house->x);
    if (self->housing >= 0) places->find(places, self->housing, house);
}

// Holds the current position of a point in its circle, m.
typedef struct circle_view {
    double axis[3], u[3], distance, along; // along: coordinate of the point on the axis, from the centre
} circle_view;

static void circle_find(const circle_contact *self, const pcs_place *house, const double x[3], circle_view *s)
{
    double d[3];
    if (house->is_small) memcpy(s->axis, self->axis, sizeof s->axis);
    else pcs_rotation_apply(house->R, self->axis, s->axis);
    for (int k = 0; k < 3; k++) d[k] = x[k] - house->x[k];
    s->along = pcs_dot3(s->axis, d);
    for (int k = 0; k < 3; k++) s->u[k] = d[k] - s->along * s->axis[k];
    s->distance = pcs_norm3(s->u);
    for (int k = 0; k < 3; k++) s->u[k] = s->distance > 0.0 ? s->u[k] / s->distance : self->across[k];
}

// Returns |d|'' at constant velocities and angular velocities, m/s^2.
static double circle_bias(const circle_view *s, const pcs_point_now *point, const pcs_place *house)
{
    double v[3], round[3], rate[3] = { 0 }, bend[3] = { 0 }; // rate, bend: a' and a''
    if (!house->is_small) {
        pcs_cross(house->w, s->axis, rate);
        pcs_cross(house->w, rate, bend);
    }
    for (int k = 0; k < 3; k++) v[k] = point->v[k] - house->v[k];
    pcs_cross(s->axis, s->u, round);
    double tilt = pcs_dot3(s->u, rate), slide = pcs_dot3(s->axis, v) + s->distance * tilt; // a' is across a
    double speed = pcs_dot3(v, round) - s->along * pcs_dot3(rate, round);
    double bias = pcs_dot3(s->u, point->bend) - 2.0 * slide * tilt - s->along * pcs_dot3(s->u, bend);
    bias += s->distance * tilt * tilt;
    return s->distance > 0.0 ? bias + speed * speed / s->distance : bias;
}

// Adds a force along +direction on the point, at an arm from it, and along -direction on the housing.
static void circle_push(const circle_contact *self, const pcs_point_now *point, const double arm[3],
                        const double on_house[3], const double direction[3], pcs_row_direction *out)
{
    const double back[3] = { -direction[0], -direction[1], -direction[2] };
    pcs_point_push(out, point, arm, direction);
    if (self->housing >= 0) pcs_row_push(out, self->housing, on_house, back);
}

static void circle_evaluate_row(const circle_contact *self, const pcs_point_now *point, const pcs_place *house,
                                pcs_row_state *row)
{
    double arm[3], on_house[3], tangent[2][3];
    const double at_point[3] = { 0.0 };
    circle_view s;
    circle_find(self, house, point->x, &s);
    row->gap = self->sign * (s.distance - self->radius) - self->node_radius;
    for (int k = 0; k < 3; k++) {
        row->normal[k] = self->sign * s.u[k];
        arm[k] = -self->node_radius * row->normal[k];
        on_house[k] = self->radius * s.u[k] + (house->is_small ? 0.0 : s.along * s.axis[k]);
        row->point[k] = point->x[k] + arm[k];
        tangent[1][k] = s.axis[k];
    }
    circle_push(self, point, at_point, on_house, row->normal, &row->direction);
    // The first tangent is along the circumference, the second along the axis.
    pcs_cross(s.axis, s.u, tangent[0]);
    for (int t = 0; t < self->ntangent; t++) circle_push(self, point, arm, on_house, tangent[t], &row->tangent[t]);
    memcpy(row->across, tangent, sizeof tangent);
    row->bias = self->sign * circle_bias(&s, point, house);
}

static void circle_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const circle_contact *self = instance;
    pcs_place house;
    circle_house(self, places, &house);
    for (int i = 0; i < self->points.count; i++) {
        pcs_point_now point;
        pcs_point_find(&self->points, i, places, &point);
        circle_evaluate_row(self, &point, &house, &rows[i]);
    }
}

// Finds the position of point i across the axis, relative to the centre, as a segment of zero length.
static void circle_spot(const circle_contact *self, const pcs_places *places, int i, pcs_segment *out)
{
    pcs_point_now point;
    pcs_place house;
    circle_view s;
    double x[3];
    pcs_point_find(&self->points, i, places, &point);
    circle_house(self, places, &house);
    circle_find(self, &house, point.x, &s);
    for (int k = 0; k < 3; k++) x[k] = s.distance * s.u[k];
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

typedef struct journal_params {
    const char *nodes, *housing;
    double axis[3], offset[3];
    double radius, node_radius;
} journal_params;

static const pcs_option journal_options[] = {
    PCS_TEXT("nodes", journal_params, nodes, PCS_REQUIRED, "node set of the shaft"),
    PCS_TEXT("housing", journal_params, housing, PCS_REQUIRED, "node set of one node, the centre of the bearing"),
    PCS_VECTOR("axis", journal_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER, "of the bearing; any length"),
    PCS_REAL("radius", journal_params, radius, PCS_REQUIRED, PCS_POSITIVE, "of the bearing, m"),
    PCS_REAL("node_radius", journal_params, node_radius, PCS_REQUIRED, PCS_POSITIVE, "of the journal, m"),
    PCS_VECTOR("offset", journal_params, offset, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
               "from the node of the shaft to the middle of its journal, m; a rigid arm"),
    { 0 },
};

static const pcs_source_set journal_sets[] = { { .option = "nodes" },
                                               { .option = "housing", .is_common = true },
                                               { 0 } };

static const char *journal_check(const void *params, const char **option)
{
    const journal_params *p = params;
    double unit[3];
    *option = "axis";
    if (!pcs_normalize3(p->axis, unit)) return "the axis has no direction";
    *option = "node_radius";
    return p->node_radius >= p->radius ? "the journal does not fit into the bearing" : NULL;
}

static int journal_count(const void *params, const pcs_mesh *mesh)
{
    return 1;
}

static pcs_status journal_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                 pcs_source_shape *shape)
{
    const journal_params *p = params;
    const pcs_set *housing = pcs_mesh_node_set(map->mesh, p->housing);
    const pcs_set *nodes = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->nodes), p->nodes);
    circle_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    if (housing->count != 1)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the housing '%s' has %d nodes, must be one", p->housing, housing->count);
    self->housing = housing->items[0];
    self->points = (pcs_points_of){ .nodes = nodes, .count = nodes->count, .noffset = 1, .offset = p->offset };
    self->points.reach = pcs_norm3(p->offset);
    self->radius = p->radius;
    self->node_radius = p->node_radius;
    self->sign = -1.0;
    pcs_normalize3(p->axis, self->axis);
    for (int i = 0; i < nodes->count; i++)
        if (nodes->items[i] == self->housing)
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d is both journal and housing", self->housing);
    PCS_TRY(circle_look_at_nodes(ctx, self, map));
    *shape = (pcs_source_shape){ .nrow = nodes->count, .ntangent = self->ntangent };
    *instance = self;
    return PCS_OK;
}

// Fills `*out` with the bearing, fixed in space if supports fix its node completely.
static bool journal_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    if (part > 0) return false;
    const journal_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    int housing = pcs_mesh_node_set(map->mesh, p->housing)->items[0];
    for (int i = map->first[housing]; i < map->first[housing + 1]; i++)
        out->is_hosted = out->is_hosted || map->dof[i].equation != -1;
    out->kind = PCS_OBSTACLE_BORE;
    pcs_normalize3(p->axis, out->axis);
    out->host = housing;
    out->length = 2.0 * p->radius;
    if (!out->is_hosted) memcpy(out->point, map->mesh->x[housing], sizeof out->point);
    out->radius = p->radius;
    out->node_radius = p->node_radius;
    out->nnode = nodes->count;
    out->nodes = nodes->items;
    return true;
}

const pcs_source_ops pcs_gap_journal = {
    .name = "journal",
    .summary = "round journals of a shaft in a bearing on another node, with clearance",
    .options = journal_options,
    .params_size = sizeof(journal_params),
    .sets = journal_sets,
    .check = journal_check,
    .create = journal_create,
    .evaluate = circle_evaluate,
    .count = journal_count,
    .show = journal_show,
};
