// Points of one body against a rigid plane, or against points of another body along a fixed normal, one row each.
//
//   node_plane   g = n . (x - p) - r,    the multiplier pushes the body along +n
//   node_node    g = n . (x_b - x_a),    it pushes b along +n and a along -n
//
// The points are nodes, or fixed to nodes at offsets; where only one of two sides has offsets, each of them meets the
// node of the other. r is the radius of the body at the point. Friction acts on its surface, at the arm -r n from the
// point, so that it turns the body, too.

#include "rows/ends.h"
#include "rows/gap.h"

#include <math.h>
#include <string.h>

typedef struct flat_contact {
    pcs_points_of a, b; // a has no nodes if it is a plane fixed in space
    int npair;          // number of rows per node of b
    double point[3], normal[3], tangent[2][3], node_radius;
    int ntangent;
} flat_contact;

// Fails unless the elements of the node let it move along the unit vector n. Sets *is_free if supports also let it.
static pcs_status flat_look_along(pcs_context *ctx, const pcs_dofmap *map, int node, const double n[3], bool *is_free)
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS];
    int count = pcs_dofmap_resolve(map, false, node, n, dof, coefficient);
    if (count < 0)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d cannot move along the normal [%g, %g, %g]: its elements give it no such direction",
                        node, n[0], n[1], n[2]);
    for (int i = 0; i < count; i++) *is_free = *is_free || map->dof[dof[i]].equation >= 0;
    return PCS_OK;
}

// Checks that the nodes of a row can move along the normal and, with friction, have as many tangents as those before.
// Clears is_constant if the moment of a row has variable components, as on a node with finite rotations in space.
static pcs_status flat_look_at_nodes(pcs_context *ctx, const pcs_dofmap *map, flat_contact *self, bool has_offsets,
                                     pcs_source_shape *shape)
{
    int first = self->a.nodes == NULL ? 1 : 0; // side
    for (int i = 0; i < self->b.nodes->count; i++) {
        const int node[2] = { first == 1 ? -1 : self->a.nodes->items[i], self->b.nodes->items[i] };
        bool is_free = has_offsets; // points at offsets may move by rotation alone
        if (node[0] == node[1])
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d would touch itself: sets '%s' and '%s' overlap", node[0],
                            self->a.nodes->name, self->b.nodes->name);
        for (int k = 1; k >= first; k--) PCS_TRY(flat_look_along(ctx, map, node[k], self->normal, &is_free));
        if (!is_free)
            return pcs_fail(ctx, PCS_BAD_INPUT,
                            "node %d is held by a support along the normal, so its gap cannot change", node[1]);
        for (int k = shape->has_friction ? first : 2; k < 2; k++) {
            int count = pcs_gap_tangents(map, node[k], self->normal, self->tangent);
            bool is_turned = self->node_radius > 0.0 && pcs_node_rotates(map, node[k]) == PCS_ROTATES_FINITELY;
            PCS_TRY(pcs_gap_demand_tangents(ctx, node[k], count, i == 0 && k == first ? count : self->ntangent));
            self->ntangent = count;
            shape->is_constant = shape->is_constant && !is_turned;
        }
    }
    return PCS_OK;
}

static void flat_find(const flat_contact *self, const pcs_points_of *points, int row, const pcs_places *places,
                      pcs_point_now *out)
{
    int offset = points->noffset == 1 ? 0 : row % self->npair;
    pcs_point_find(points, row / self->npair * points->noffset + offset, places, out);
}

// Adds a force along +d on b, at an arm from its point, and along -d on a.
static void flat_push(const flat_contact *self, const pcs_point_now *a, const pcs_point_now *b, const double arm[3],
                      const double d[3], pcs_row_direction *out)
{
    const double at_point[3] = { 0.0 }, back[3] = { -d[0], -d[1], -d[2] };
    pcs_point_push(out, b, arm, d);
    if (self->a.nodes != NULL) pcs_point_push(out, a, at_point, back);
}

static void flat_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const flat_contact *self = instance;
    const double at_point[3] = { 0.0 }, r = self->node_radius;
    const double arm[3] = { -r * self->normal[0], -r * self->normal[1], -r * self->normal[2] };
    for (int i = 0; i < self->b.nodes->count * self->npair; i++) {
        pcs_point_now a = { 0 }, b;
        memcpy(a.x, self->point, sizeof a.x);
        if (self->a.nodes != NULL) flat_find(self, &self->a, i, places, &a);
        flat_find(self, &self->b, i, places, &b);
        for (int k = 0; k < 3; k++) {
            rows[i].gap += self->normal[k] * (b.x[k] - a.x[k]);
            rows[i].bias += self->normal[k] * (b.bend[k] - a.bend[k]);
            rows[i].normal[k] = self->normal[k];
            rows[i].point[k] = b.x[k] + arm[k];
        }
        rows[i].gap -= r;
        flat_push(self, &a, &b, at_point, self->normal, &rows[i].direction);
        for (int t = 0; t < self->ntangent; t++) flat_push(self, &a, &b, arm, self->tangent[t], &rows[i].tangent[t]);
        memcpy(rows[i].across, self->tangent, sizeof rows[i].across);
    }
}

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

static int plane_count(const void *params, const pcs_mesh *mesh)
{
    return pcs_offsets_per_node(&((const plane_params *)params)->offsets);
}

static pcs_status plane_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_source_shape *shape)
{
    const plane_params *p = params;
    flat_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    const pcs_set *nodes = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->nodes), p->nodes);
    PCS_TRY(pcs_points_create(ctx, &p->offsets, nodes, map, &self->b));
    PCS_TRY(pcs_points_demand_free(ctx, &self->b));
    pcs_normalize3(p->normal, self->normal);
    memcpy(self->point, p->point, sizeof self->point);
    self->node_radius = p->node_radius;
    self->npair = self->b.noffset;
    shape->is_constant = !self->b.rotates_finitely;
    PCS_TRY(flat_look_at_nodes(ctx, map, self, p->offsets.count > 0, shape));
    shape->nrow = self->b.count;
    shape->ntangent = self->ntangent;
    // Takes the size of the mesh if rows rotate no node.
    if (shape->has_friction || p->offsets.count > 0) shape->size = fmax(self->b.reach, p->node_radius);
    shape->reach = self->b.reach;
    *instance = self;
    return PCS_OK;
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
    .evaluate = flat_evaluate,
    .show = plane_show,
};

typedef struct pair_params {
    const char *a, *b;
    pcs_list offsets_a, offsets_b;
    double normal[3];
} pair_params;

static const pcs_option pair_options[] = {
    PCS_TEXT("a", pair_params, a, PCS_REQUIRED, "node set of the first body"),
    PCS_TEXT("b", pair_params, b, PCS_REQUIRED, "node set of the second body, as many nodes as a"),
    PCS_LIST("offsets_a", pair_params, offsets_a, PCS_OPTIONAL, PCS_ANY_NUMBER, PCS_OFFSETS_HELP),
    PCS_LIST("offsets_b", pair_params, offsets_b, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "likewise of b, as many as of a, or either alone"),
    PCS_VECTOR("normal", pair_params, normal, PCS_REQUIRED, PCS_ANY_NUMBER, "from a towards b; any length"),
    { 0 },
};

static const pcs_source_set pair_sets[] = { { .option = "a" }, { .option = "b" }, { 0 } };

static const char *pair_check(const void *params, const char **option)
{
    const pair_params *p = params;
    double unit[3];
    *option = "normal";
    if (!pcs_normalize3(p->normal, unit)) return "the normal has no direction";
    *option = "offsets_a";
    if (pcs_offsets_check(&p->offsets_a) != NULL) return pcs_offsets_check(&p->offsets_a);
    *option = "offsets_b";
    if (pcs_offsets_check(&p->offsets_b) != NULL) return pcs_offsets_check(&p->offsets_b);
    bool has_both = p->offsets_a.count > 0 && p->offsets_b.count > 0;
    return has_both && p->offsets_a.count != p->offsets_b.count
               ? "as many 'offsets_b' as 'offsets_a' are needed, or one of both alone"
               : NULL;
}

static int pair_count(const void *params, const pcs_mesh *mesh)
{
    const pair_params *p = params;
    int of_a = pcs_offsets_per_node(&p->offsets_a), of_b = pcs_offsets_per_node(&p->offsets_b);
    return of_a > of_b ? of_a : of_b;
}

// A pair belongs to the process of its node of a.
static pcs_status pair_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_source_shape *shape)
{
    const pair_params *p = params;
    flat_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    const pcs_set *a = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->a), p->a);
    const pcs_set *b = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->b), p->a);
    PCS_TRY(pcs_points_create(ctx, &p->offsets_a, a, map, &self->a));
    PCS_TRY(pcs_points_create(ctx, &p->offsets_b, b, map, &self->b));
    pcs_normalize3(p->normal, self->normal);
    if (a->count != b->count)
        return pcs_fail(ctx, PCS_BAD_INPUT, "set '%s' has %d nodes and set '%s' has %d; they must pair up", p->a,
                        a->count, p->b, b->count);
    shape->is_constant = !self->a.rotates_finitely && !self->b.rotates_finitely;
    PCS_TRY(flat_look_at_nodes(ctx, map, self, p->offsets_a.count > 0 || p->offsets_b.count > 0, shape));
    if (self->a.held >= 0 && self->b.held >= 0) PCS_TRY(pcs_points_demand_free(ctx, &self->a));
    self->npair = pair_count(p, map->mesh);
    shape->nrow = a->count * self->npair;
    shape->ntangent = self->ntangent;
    shape->size = shape->reach = fmax(self->a.reach, self->b.reach);
    *instance = self;
    return PCS_OK;
}

static bool pair_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const pair_params *p = params;
    const pcs_set *a = pcs_mesh_node_set(map->mesh, p->a), *b = pcs_mesh_node_set(map->mesh, p->b);
    int of_a = a->count * p->offsets_a.nrow;
    return part < of_a ? pcs_offsets_show(&p->offsets_a, a, part, out)
                       : pcs_offsets_show(&p->offsets_b, b, part - of_a, out);
}

const pcs_source_ops pcs_gap_node_node = {
    .name = "node_node",
    .summary = "node b, or a point fixed to it, against a along a fixed normal, gap = n . (x_b - x_a)",
    .options = pair_options,
    .params_size = sizeof(pair_params),
    .sets = pair_sets,
    .check = pair_check,
    .count = pair_count,
    .create = pair_create,
    .evaluate = flat_evaluate,
    .show = pair_show,
};
