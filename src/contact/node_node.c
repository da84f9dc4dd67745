// Node a against node b along a fixed normal: g = n . (x_b - x_a); the multiplier pushes b along +n, a along -n. The
// points may lie at offsets from the nodes, offset by offset; where only one side has offsets, each meets the node.

#include "contact/gap.h"
#include "contact/points.h"

#include <string.h>

typedef struct pair_params {
    const char *a, *b;
    pcs_list offsets_a, offsets_b;
    double normal[3];
    pcs_contact_law law;
} pair_params;

static const pcs_option pair_options[] = {
    PCS_TEXT("a", pair_params, a, PCS_REQUIRED, "node set of the first body"),
    PCS_TEXT("b", pair_params, b, PCS_REQUIRED, "node set of the second body, as many nodes as a"),
    PCS_LIST("offsets_a", pair_params, offsets_a, PCS_OPTIONAL, PCS_ANY_NUMBER, PCS_OFFSETS_HELP),
    PCS_LIST("offsets_b", pair_params, offsets_b, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "likewise of b, as many as of a, or either alone"),
    PCS_VECTOR("normal", pair_params, normal, PCS_REQUIRED, PCS_ANY_NUMBER, "from a towards b; any length"),
    PCS_CONTACT_LAW_OPTIONS(pair_params),
    { 0 },
};

static const char *const pair_sets[] = { "a", "b", NULL };

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

static bool pair_has_offsets(const pair_params *p)
{
    return p->offsets_a.count > 0 || p->offsets_b.count > 0;
}

// Pairs belong to the rank of their node of a.
static const pcs_set *pair_nodes(const pcs_mesh *mesh, const pair_params *p, const char *name)
{
    return pcs_set_touching(pcs_mesh_node_set(mesh, name), p->a);
}

static int pair_count(const void *params, const pcs_mesh *mesh)
{
    const pair_params *p = params;
    return pair_has_offsets(p) ? -1 : pair_nodes(mesh, p, p->a)->count;
}

static int pair_rows_per_node(const void *params)
{
    const pair_params *p = params;
    int of_a = pcs_offsets_per_node(&p->offsets_a), of_b = pcs_offsets_per_node(&p->offsets_b);
    return of_a > of_b ? of_a : of_b;
}

// The nodes pair up and have the direction of the normal; supports may hold it.
static pcs_status pair_place(pcs_context *ctx, const pair_params *p, const pcs_dofmap *map, int i,
                             pcs_contact_point *point)
{
    const pcs_set *a = pair_nodes(map->mesh, p, p->a), *b = pair_nodes(map->mesh, p, p->b);
    if (a->count != b->count)
        return pcs_fail(ctx, PCS_BAD_INPUT, "set '%s' has %d nodes and set '%s' has %d; they must pair up", p->a,
                        a->count, p->b, b->count);
    if (a->items[i] == b->items[i])
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d would touch itself: sets '%s' and '%s' overlap", a->items[i], p->a,
                        p->b);
    *point = (pcs_contact_point){ .node = b->items[i], .other = a->items[i] };
    pcs_normalize3(p->normal, point->normal);
    const double *xa = map->mesh->x[point->other], *xb = map->mesh->x[point->node];
    for (int k = 0; k < 3; k++) point->gap += point->normal[k] * (xb[k] - xa[k]);
    PCS_TRY(pcs_gap_add_node(ctx, map, point->node, 1.0, point));
    return pcs_gap_add_node(ctx, map, point->other, -1.0, point);
}

static pcs_status pair_fill(pcs_context *ctx, const void *params, const pcs_dofmap *map, int i,
                            pcs_contact_point *point)
{
    PCS_TRY(pair_place(ctx, params, map, i, point));
    return pcs_gap_demand_motion(ctx, point);
}

typedef struct pair_contact {
    pcs_points_of a, b;
    int nrow, npair; // npair: rows of a pair of nodes
    double normal[3], tangent[2][3];
    int ntangent;
} pair_contact;

// Tangents of all nodes, alike.
static pcs_status pair_look_at_nodes(pcs_context *ctx, const pair_params *p, const pcs_dofmap *map, pair_contact *self)
{
    for (int i = 0; i < 2 * self->a.nodes->count; i++) {
        pcs_contact_point point;
        PCS_TRY(pair_place(ctx, p, map, i / 2, &point));
        if (!pair_has_offsets(p)) PCS_TRY(pcs_gap_demand_motion(ctx, &point)); // others may just turn
        int node = i % 2 == 0 ? point.other : point.node;
        int count = pcs_gap_tangents(map, node, self->normal, self->tangent);
        PCS_TRY(pcs_gap_demand_tangents(ctx, node, count, i == 0 ? count : self->ntangent));
        self->ntangent = count;
    }
    return PCS_OK;
}

static pcs_status pair_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_contact_shape *shape)
{
    const pair_params *p = params;
    pair_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    PCS_TRY(pcs_points_create(ctx, &p->offsets_a, pair_nodes(map->mesh, p, p->a), map, &self->a));
    PCS_TRY(pcs_points_create(ctx, &p->offsets_b, pair_nodes(map->mesh, p, p->b), map, &self->b));
    pcs_normalize3(p->normal, self->normal);
    PCS_TRY(pair_look_at_nodes(ctx, p, map, self));
    if (self->a.held >= 0 && self->b.held >= 0) PCS_TRY(pcs_points_demand_free(ctx, &self->a));
    self->npair = pair_rows_per_node(p);
    self->nrow = self->a.nodes->count * self->npair;
    *shape = (pcs_contact_shape){ .nrow = self->nrow, .ntangent = self->ntangent };
    shape->is_constant = !self->a.turns_finitely && !self->b.turns_finitely;
    shape->size = shape->reach = self->a.reach > self->b.reach ? self->a.reach : self->b.reach;
    *instance = self;
    return PCS_OK;
}

static void pair_find(const pair_contact *self, const pcs_points_of *points, int row, const pcs_places *places,
                      pcs_point_now *out)
{
    int offset = points->noffset == 1 ? 0 : row % self->npair;
    pcs_point_find(points, row / self->npair * points->noffset + offset, places, out);
}

// Pushes b along +d and a along -d.
static void pair_push(pcs_row_direction *out, const pcs_point_now *a, const pcs_point_now *b, const double d[3])
{
    const double at_point[3] = { 0.0 }, back[3] = { -d[0], -d[1], -d[2] };
    pcs_point_push(out, b, at_point, d);
    pcs_point_push(out, a, at_point, back);
}

static void pair_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const pair_contact *self = instance;
    for (int i = 0; i < self->nrow; i++) {
        pcs_point_now a, b;
        pair_find(self, &self->a, i, places, &a);
        pair_find(self, &self->b, i, places, &b);
        for (int k = 0; k < 3; k++) {
            rows[i].gap += self->normal[k] * (b.x[k] - a.x[k]);
            rows[i].bias += self->normal[k] * (b.bend[k] - a.bend[k]);
            rows[i].normal[k] = self->normal[k];
            rows[i].point[k] = b.x[k];
        }
        pair_push(&rows[i].direction, &a, &b, self->normal);
        for (int t = 0; t < self->ntangent; t++) pair_push(&rows[i].tangent[t], &a, &b, self->tangent[t]);
        memcpy(rows[i].across, self->tangent, sizeof rows[i].across);
    }
}

static bool pair_show_arms(const void *params, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const pair_params *p = params;
    const pcs_set *a = pcs_mesh_node_set(map->mesh, p->a), *b = pcs_mesh_node_set(map->mesh, p->b);
    int of_a = a->count * p->offsets_a.nrow;
    return part < of_a ? pcs_offsets_show(&p->offsets_a, a, part, out)
                       : pcs_offsets_show(&p->offsets_b, b, part - of_a, out);
}

const pcs_gap_ops pcs_gap_node_node = {
    .name = "node_node",
    .summary = "node b, or a point fixed to it, against a along a fixed normal, gap = n . (x_b - x_a)",
    .options = pair_options,
    .params_size = sizeof(pair_params),
    .set_options = pair_sets,
    .law_offset = offsetof(pair_params, law),
    .check = pair_check,
    .count = pair_count,
    .fill = pair_fill,
    .create = pair_create,
    .evaluate = pair_evaluate,
    .rows_per_node = pair_rows_per_node,
    .show_carried = pair_show_arms,
};
