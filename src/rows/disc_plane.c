// The edge of a thin or thick disc against a rigid plane: a coin that rolls, a disc that spins down, and lies flat.
//
//   e axis of the disc, which turns with its node, u = n . e, s = sqrt(1 - u^2), m = (n - u e)/s, upwards in its plane
//   g = n . (x + b e - p) - a s,  lowest point x + b e - a m,  b = 0 or +-width/2
//   g' = n . v + w . (r x n),  r = b e - a m
//   at constant v and w  g'' = b u'' - a s'',  s'' = -(u'^2 + u u'')/s - u^2 u'^2/s^3,  u' = n . (w x e)
//
// Friction acts at the lowest point. A disc that lies flat touches everywhere, and m has no direction: g has the kink
// of a cone there, whose normals no single row can state. So an edge has four rows, about points a right angle apart:
// the lowest, and three that are material during a step. Those are above it by a s or more, and touch where the disc
// lies flat. Where s is less than the last change of s m the step does not follow the lowest point either, and its row
// is about the material point that is lowest at the start. Where rotations are small r stays, and the gap is linear.

#include "rows/gap.h"

#include <string.h>

enum { corners = 4 }; // number of points of an edge with rows

static const double flat = 1e-9; // s of a disc that lies flat
static const double thin = 0.02; // thickness in pictures of a disc without width, in radii

typedef struct disc_params {
    const char *nodes;
    double axis[3], radius, width, point[3], normal[3];
} disc_params;

static const pcs_option disc_options[] = {
    PCS_TEXT("nodes", disc_params, nodes, PCS_REQUIRED, "nodes in the middles of the discs"),
    PCS_VECTOR("axis", disc_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER,
               "of the discs in the reference state, any length; rotates with the node"),
    PCS_REAL("radius", disc_params, radius, PCS_REQUIRED, PCS_POSITIVE, "of the edge, m"),
    PCS_REAL("width", disc_params, width, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "of the disc along its axis, m; above 0 it has two edges"),
    PCS_VECTOR("point", disc_params, point, PCS_REQUIRED, PCS_ANY_NUMBER, "a point of the plane, m"),
    PCS_VECTOR("normal", disc_params, normal, PCS_REQUIRED, PCS_ANY_NUMBER,
               "from the plane towards the discs; any length"),
    { 0 },
};

static const pcs_source_set disc_sets[] = { { .option = "nodes" }, { 0 } };

static const char *disc_check(const void *params, const char **option)
{
    const disc_params *p = params;
    double unit[3];
    *option = "normal";
    if (!pcs_normalize3(p->normal, unit)) return "the normal has no direction";
    *option = "axis";
    return pcs_normalize3(p->axis, unit) ? NULL : "the axis has no direction";
}

// Holds the orientation of a disc from one search to the next.
typedef struct disc_state {
    double base[3];   // unit vector m of the last search, in the reference state
    double slope[3];  // s m of the last search
    double is_frozen; // 1 if the first row is a material point in this step, 0 if it follows the lowest point
} disc_state;

typedef struct disc_contact {
    const pcs_set *nodes;
    disc_state *states;
    double axis[3], radius, width, point[3], normal[3], tangent[2][3];
    int ntangent, nedge;
} disc_contact;

static int disc_count(const void *params, const pcs_mesh *mesh)
{
    return corners * (((const disc_params *)params)->width > 0.0 ? 2 : 1);
}

// Describes the state to serialize; if discs are distributed, with its places among those of all.
static pcs_status disc_remember(pcs_context *ctx, const disc_contact *self, int nall, bool is_distributed,
                                pcs_memory *out)
{
    enum { words = sizeof(disc_state) / sizeof(double) };
    int *serial, count = self->nodes->count;
    *out = (pcs_memory){ .bytes = self->states, .size = (size_t)count * sizeof *self->states };
    if (!is_distributed) return PCS_OK;
    PCS_TAKE(ctx, serial, words * count, "a contact");
    for (int i = 0; i < words * count; i++) serial[i] = words * self->nodes->place[i / words] + i % words;
    out->serial = serial;
    out->nown = words * count;
    out->nall = words * nall;
    return PCS_OK;
}

static pcs_status disc_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_source_shape *shape)
{
    const disc_params *p = params;
    disc_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    self->nodes = pcs_set_touching(nodes, p->nodes);
    (void)pcs_normalize3(p->axis, self->axis);
    (void)pcs_normalize3(p->normal, self->normal);
    memcpy(self->point, p->point, sizeof self->point);
    self->radius = p->radius;
    self->width = p->width;
    self->nedge = disc_count(p, map->mesh) / corners;
    PCS_TAKE(ctx, self->states, self->nodes->count, "a contact");
    for (int i = 0; i < self->nodes->count; i++) {
        int node = self->nodes->items[i], count = pcs_gap_tangents(map, node, self->normal, self->tangent);
        if (count != 2)
            return pcs_fail(ctx, PCS_BAD_INPUT,
                            "node %d does not move in space: in the plane a disc is a node_plane "
                            "with node_radius",
                            node);
        self->ntangent = count;
        PCS_TRY(pcs_gap_demand_free(ctx, map, node));
    }
    *shape = (pcs_source_shape){ .nrow = corners * self->nedge * self->nodes->count,
                                 .ntangent = self->ntangent,
                                 .size = p->radius + p->width,
                                 .reach = p->radius + p->width };
    *instance = self;
    return disc_remember(ctx, self, pcs_set_size(nodes), self->nodes != nodes, &shape->memory);
}

// Computes s m of a disc with axis e. Returns s.
static double disc_slope(const disc_contact *self, const double e[3], double slope[3])
{
    double u = pcs_dot3(self->normal, e);
    for (int k = 0; k < 3; k++) slope[k] = self->normal[k] - u * e[k];
    return pcs_norm3(slope);
}

// Updates m and s m for the coming step. A disc that lies flat keeps its m, which initially is the first tangent.
static void disc_set_upright(const disc_contact *self, const pcs_place *place, disc_state *states)
{
    double e[3], slope[3], change[3], across[3], along;
    pcs_rotation_apply(place->R, self->axis, e);
    double s = disc_slope(self, place->is_small ? self->axis : e, slope);
    bool is_first = pcs_norm3(states->base) == 0.0;
    for (int k = 0; k < 3; k++) change[k] = is_first ? 0.0 : slope[k] - states->slope[k];
    states->is_frozen = place->is_small || s <= flat || pcs_norm3(change) > s;
    memcpy(states->slope, slope, sizeof slope);
    if (s <= flat && !is_first) return;
    if (place->is_small) memcpy(across, s > flat ? slope : self->tangent[0], sizeof across);
    else pcs_rotation_apply_transposed(place->R, s > flat ? slope : self->tangent[0], across);
    along = pcs_dot3(across, self->axis);
    for (int k = 0; k < 3; k++) across[k] -= along * self->axis[k];
    (void)pcs_normalize3(across, states->base);
}

// Updates the orientation of every disc. Reports a change only if a disc has rotated since the last search.
static pcs_status disc_search(pcs_context *ctx, void *instance, const pcs_places *places, bool *has_changed)
{
    const disc_contact *self = instance;
    for (int i = 0; i < self->nodes->count; i++) {
        pcs_place place;
        disc_state now = self->states[i];
        places->find(places, self->nodes->items[i], &place);
        disc_set_upright(self, &place, &now);
        if (memcmp(now.slope, self->states[i].slope, sizeof now.slope) == 0 && pcs_norm3(self->states[i].base) > 0.0)
            continue;
        self->states[i] = now;
        *has_changed = true;
    }
    return PCS_OK;
}

static double disc_bias(const disc_contact *self, const pcs_place *place, const double e[3], double b, double s)
{
    double rotated[3], bend[3], u = pcs_dot3(self->normal, e);
    if (s <= flat) return 0.0;
    pcs_cross(place->w, e, rotated);
    pcs_cross(place->w, rotated, bend);
    double u1 = pcs_dot3(self->normal, rotated), u2 = pcs_dot3(self->normal, bend);
    return b * u2 + self->radius * ((u1 * u1 + u * u2) / s + u * u * u1 * u1 / (s * s * s));
}

// Evaluates gap, bias and arm at the lowest point of an edge.
static void disc_evaluate_lowest(const disc_contact *self, const pcs_place *place, const disc_state *states, double b,
                                 pcs_row_state *row, double arm[3])
{
    double e[3], base[3], slope[3];
    pcs_rotation_apply(place->R, self->axis, e);
    pcs_rotation_apply(place->R, states->base, base);
    double s = disc_slope(self, e, slope);
    for (int k = 0; k < 3; k++) {
        arm[k] = b * e[k] - self->radius * (s > flat ? slope[k] / s : base[k]);
        row->point[k] = place->x[k] + arm[k];
        row->gap += self->normal[k] * (place->x[k] + b * e[k] - self->point[k]);
    }
    row->gap -= self->radius * s;
    row->bias = disc_bias(self, place, e, b, s);
}

// Computes the vector from the node to the point of an edge `corner` right angles from m, in the reference state, m.
static void disc_find_offset(const disc_contact *self, const disc_state *states, double b, int corner, double offset[3])
{
    static const double along[corners] = { 1, 0, -1, 0 }, across[corners] = { 0, 1, 0, -1 };
    double side[3];
    pcs_cross(self->axis, states->base, side);
    for (int k = 0; k < 3; k++)
        offset[k] = b * self->axis[k] - self->radius * (along[corner] * states->base[k] + across[corner] * side[k]);
}

static void disc_evaluate_point(const disc_contact *self, const pcs_place *place, const double offset[3],
                                pcs_row_state *row, double arm[3])
{
    double rotated[3], bend[3];
    pcs_place_point(place, offset, row->point, arm);
    for (int k = 0; k < 3; k++) row->gap += self->normal[k] * (row->point[k] - self->point[k]);
    if (place->is_small) return;
    pcs_cross(place->w, arm, rotated);
    pcs_cross(place->w, rotated, bend);
    row->bias = pcs_dot3(self->normal, bend);
}

static void disc_evaluate_edge(const disc_contact *self, const pcs_place *place, int i, double b, pcs_row_state *rows)
{
    int node = self->nodes->items[i];
    const disc_state *states = &self->states[i];
    for (int corner = 0; corner < corners; corner++) {
        pcs_row_state *row = &rows[corner];
        double offset[3], arm[3];
        disc_find_offset(self, states, b, corner, offset);
        if (corner == 0 && states->is_frozen == 0.0) disc_evaluate_lowest(self, place, states, b, row, arm);
        else disc_evaluate_point(self, place, offset, row, arm);
        memcpy(row->normal, self->normal, sizeof row->normal);
        pcs_row_push(&row->direction, node, arm, self->normal);
        for (int t = 0; t < self->ntangent; t++) pcs_row_push(&row->tangent[t], node, arm, self->tangent[t]);
        memcpy(row->across, self->tangent, sizeof row->across);
    }
}

static void disc_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const disc_contact *self = instance;
    for (int i = 0; i < self->nodes->count; i++) {
        pcs_place place;
        places->find(places, self->nodes->items[i], &place);
        for (int edge = 0; edge < self->nedge; edge++, rows += corners)
            disc_evaluate_edge(self, &place, i, (edge == 0 ? -0.5 : 0.5) * self->width, rows);
    }
}

// Fills `*out` with part 0, the plane, or with part i, the disc of node i - 1. Returns false if there is no such part.
static bool disc_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const disc_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    if (part > nodes->count) return false;
    if (part == 0) {
        out->kind = PCS_OBSTACLE_PLANE;
        pcs_normalize3(p->normal, out->axis);
        memcpy(out->point, p->point, sizeof out->point);
        out->node_radius = p->radius + p->width;
        out->nnode = nodes->count;
        out->nodes = nodes->items;
        return true;
    }
    out->kind = PCS_OBSTACLE_CYLINDER;
    out->is_hosted = true;
    out->host = nodes->items[part - 1];
    pcs_normalize3(p->axis, out->axis);
    out->radius = p->radius;
    out->length = p->width > 0.0 ? p->width : thin * p->radius;
    return true;
}

const pcs_source_ops pcs_gap_disc_plane = {
    .name = "disc_plane",
    .summary =
        "edges of discs that rotate with their nodes, against a rigid plane; four points of each, the lowest first",
    .options = disc_options,
    .params_size = sizeof(disc_params),
    .sets = disc_sets,
    .check = disc_check,
    .create = disc_create,
    .evaluate = disc_evaluate,
    .count = disc_count,
    .search = disc_search,
    .show = disc_show,
};
