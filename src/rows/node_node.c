// Node a against node b along a fixed normal: g = n . (x_b - x_a); the multiplier pushes b along +n, a along -n. The
// points may lie at offsets from the nodes, offset by offset; where only one side has offsets, each meets the node.

#include "rows/gap.h"

#include <string.h>

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

// Returns the nodes of a set whose pairs belong to this process: the process of their node of a.
static const pcs_set *pair_nodes(const pcs_mesh *mesh, const pair_params *p, const char *name)
{
    return pcs_set_touching(pcs_mesh_node_set(mesh, name), p->a);
}

static int pair_count(const void *params, const pcs_mesh *mesh)
{
    const pair_params *p = params;
    int of_a = pcs_offsets_per_node(&p->offsets_a), of_b = pcs_offsets_per_node(&p->offsets_b);
    return of_a > of_b ? of_a : of_b;
}

typedef struct pair_contact {
    pcs_points_of a, b;
    int nrow, npair; // npair: number of rows per pair of nodes
    double normal[3], tangent[2][3];
    int ntangent;
} pair_contact;

// Checks that the nodes pair up and can move along the normal; with friction, that all have as many tangents.
static pcs_status pair_look_at_nodes(pcs_context *ctx, const pair_params *p, const pcs_dofmap *map, pair_contact *self,
                                     bool has_friction)
{
    const pcs_set *a = self->a.nodes, *b = self->b.nodes;
    if (a->count != b->count)
        return pcs_fail(ctx, PCS_BAD_INPUT, "set '%s' has %d nodes and set '%s' has %d; they must pair up", p->a,
                        a->count, p->b, b->count);
    for (int i = 0; i < a->count; i++) {
        const int node[2] = { a->items[i], b->items[i] };
        bool is_free = p->offsets_a.count > 0 || p->offsets_b.count > 0; // points at offsets may move by rotation alone
        if (node[0] == node[1])
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d would touch itself: sets '%s' and '%s' overlap", node[0], p->a,
                            p->b);
        for (int k = 1; k >= 0; k--) PCS_TRY(pcs_gap_look_along(ctx, map, node[k], self->normal, &is_free));
        if (!is_free) return pcs_gap_refuse_held(ctx, node[1]);
        for (int k = 0; k < (has_friction ? 2 : 0); k++) {
            int count = pcs_gap_tangents(map, node[k], self->normal, self->tangent);
            PCS_TRY(pcs_gap_demand_tangents(ctx, node[k], count, i + k == 0 ? count : self->ntangent));
            self->ntangent = count;
        }
    }
    return PCS_OK;
}

static pcs_status pair_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_source_shape *shape)
{
    const pair_params *p = params;
    pair_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    PCS_TRY(pcs_points_create(ctx, &p->offsets_a, pair_nodes(map->mesh, p, p->a), map, &self->a));
    PCS_TRY(pcs_points_create(ctx, &p->offsets_b, pair_nodes(map->mesh, p, p->b), map, &self->b));
    pcs_normalize3(p->normal, self->normal);
    PCS_TRY(pair_look_at_nodes(ctx, p, map, self, shape->has_friction));
    if (self->a.held >= 0 && self->b.held >= 0) PCS_TRY(pcs_points_demand_free(ctx, &self->a));
    self->npair = pair_count(p, map->mesh);
    self->nrow = self->a.nodes->count * self->npair;
    shape->nrow = self->nrow;
    shape->ntangent = self->ntangent;
    shape->is_constant = !self->a.rotates_finitely && !self->b.rotates_finitely;
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

// Adds a force along +d on b and along -d on a.
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
    .evaluate = pair_evaluate,
    .show = pair_show,
};
