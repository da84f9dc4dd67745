// The edge of a thin or thick disc against a rigid plane: a coin that rolls, a disc that spins down.
//
//   e axis of the disc, which turns with its node, u = n . e, s = sqrt(1 - u^2), m = (n - u e)/s, upwards in its plane
//   g = n . (x + b e - p) - a s,  lowest point x + b e - a m,  b = 0 or +-width/2
//   g' = n . v + w . (r x n),  r = b e - a m
//   at constant v and w  g'' = b u'' - a s'',  s'' = -(u'^2 + u u'')/s - u^2 u'^2/s^3,  u' = n . (w x e)
//
// Friction acts at the lowest point. A disc that lies flat touches everywhere: any m will do. Where rotations are small
// r stays, and the gap is linear.

#include "contact/gap.h"

#include <math.h>
#include <string.h>

static const double flat = 1e-9; // s of a disc that lies flat
static const double thin = 0.02; // thickness of a disc without width in pictures, in radii

typedef struct disc_params {
    const char *nodes;
    double axis[3], radius, width, point[3], normal[3];
    pcs_contact_law law;
} disc_params;

static const pcs_option disc_options[] = {
    PCS_TEXT("nodes", disc_params, nodes, PCS_REQUIRED, "nodes in the middles of the discs"),
    PCS_VECTOR("axis", disc_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER,
               "of the discs in the reference state; any length, turns with the node"),
    PCS_REAL("radius", disc_params, radius, PCS_REQUIRED, PCS_POSITIVE, "of the edge, m"),
    PCS_REAL("width", disc_params, width, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "of the disc along its axis, m; above 0 it has two edges"),
    PCS_VECTOR("point", disc_params, point, PCS_REQUIRED, PCS_ANY_NUMBER, "a point of the plane, m"),
    PCS_VECTOR("normal", disc_params, normal, PCS_REQUIRED, PCS_ANY_NUMBER,
               "from the plane towards the discs; any length"),
    PCS_CONTACT_LAW_OPTIONS(disc_params),
    { 0 },
};

static const char *const disc_sets[] = { "nodes", NULL };

static const char *disc_check(const void *params, const char **option)
{
    const disc_params *p = params;
    double unit[3];
    *option = "normal";
    if (!pcs_normalize3(p->normal, unit)) return "the normal has no direction";
    *option = "axis";
    return pcs_normalize3(p->axis, unit) ? NULL : "the axis has no direction";
}

typedef struct disc_contact {
    const pcs_set *nodes;
    double axis[3], radius, width, point[3], normal[3], tangent[2][3];
    int ntangent, nedge;
} disc_contact;

static pcs_status disc_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_contact_shape *shape)
{
    const disc_params *p = params;
    disc_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    self->nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    (void)pcs_normalize3(p->axis, self->axis);
    (void)pcs_normalize3(p->normal, self->normal);
    memcpy(self->point, p->point, sizeof self->point);
    self->radius = p->radius;
    self->width = p->width;
    self->nedge = p->width > 0.0 ? 2 : 1;
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
    *shape = (pcs_contact_shape){ .nrow = self->nedge * self->nodes->count,
                                  .ntangent = self->ntangent,
                                  .size = p->radius + p->width };
    shape->reach = p->radius + p->width;
    *instance = self;
    return PCS_OK;
}

// Direction up the disc, across its axis e; gives s. Of a disc that lies flat the first tangent.
static double disc_slope(const disc_contact *self, const double e[3], double m[3])
{
    double u = pcs_dot3(self->normal, e), up[3];
    for (int k = 0; k < 3; k++) up[k] = self->normal[k] - u * e[k];
    double s = pcs_norm3(up);
    for (int k = 0; k < 3; k++) m[k] = s > flat ? up[k] / s : self->tangent[0][k];
    return s;
}

static double disc_bias(const disc_contact *self, const pcs_place *place, const double e[3], double b, double s)
{
    double turned[3], bend[3], u = pcs_dot3(self->normal, e);
    if (place->is_small || s <= flat) return 0.0;
    pcs_cross(place->w, e, turned);
    pcs_cross(place->w, turned, bend);
    double u1 = pcs_dot3(self->normal, turned), u2 = pcs_dot3(self->normal, bend);
    return b * u2 + self->radius * ((u1 * u1 + u * u2) / s + u * u * u1 * u1 / (s * s * s));
}

static void disc_evaluate_edge(const disc_contact *self, const pcs_place *place, int node, double b, pcs_row_state *row)
{
    double e[3], m[3], arm[3], moment[3];
    if (place->is_small) memcpy(e, self->axis, sizeof e);
    else pcs_rotation_apply(place->R, self->axis, e);
    double s = disc_slope(self, e, m);
    for (int k = 0; k < 3; k++) {
        arm[k] = b * e[k] - self->radius * m[k];
        row->gap += self->normal[k] * (place->x[k] + b * e[k] - self->point[k]);
        row->normal[k] = self->normal[k];
        row->point[k] = place->x[k] + arm[k];
    }
    row->gap -= self->radius * s;
    pcs_cross(arm, self->normal, moment);
    if (place->is_small) row->gap += pcs_dot3(moment, place->turn);
    row->bias = disc_bias(self, place, e, b, s);
    pcs_row_push(&row->direction, node, arm, self->normal);
    for (int t = 0; t < self->ntangent; t++) pcs_row_push(&row->tangent[t], node, arm, self->tangent[t]);
    memcpy(row->across, self->tangent, sizeof row->across);
}

static void disc_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const disc_contact *self = instance;
    for (int i = 0; i < self->nodes->count; i++) {
        pcs_place place;
        int node = self->nodes->items[i];
        places->find(places, node, &place);
        for (int edge = 0; edge < self->nedge; edge++)
            disc_evaluate_edge(self, &place, node, (edge == 0 ? -0.5 : 0.5) * self->width, rows++);
    }
}

static void disc_show(const void *params, const pcs_dofmap *map, pcs_obstacle *out)
{
    const disc_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    out->kind = PCS_OBSTACLE_PLANE;
    pcs_normalize3(p->normal, out->axis);
    memcpy(out->point, p->point, sizeof out->point);
    out->node_radius = p->radius + p->width;
    out->nnode = nodes->count;
    out->nodes = nodes->items;
}

static bool disc_show_disc(const void *params, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const disc_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    if (part >= nodes->count) return false;
    *out = (pcs_obstacle){ .kind = PCS_OBSTACLE_CYLINDER, .contact = out->contact, .is_carried = true };
    out->carrier = nodes->items[part];
    pcs_normalize3(p->axis, out->axis);
    out->radius = p->radius;
    out->length = p->width > 0.0 ? p->width : thin * p->radius;
    return true;
}

const pcs_gap_ops pcs_gap_disc_plane = {
    .name = "disc_plane",
    .summary = "edges of discs that turn with their nodes against a rigid plane",
    .options = disc_options,
    .params_size = sizeof(disc_params),
    .set_options = disc_sets,
    .law_offset = offsetof(disc_params, law),
    .check = disc_check,
    .create = disc_create,
    .evaluate = disc_evaluate,
    .show = disc_show,
    .show_carried = disc_show_disc,
};
