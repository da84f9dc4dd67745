// Node a against node b along a fixed normal: g = n . (x_b - x_a); the multiplier pushes b along +n, a along -n.

#include "contact/gap.h"

#include <string.h>

typedef struct pair_params {
    const char *a, *b;
    double normal[3];
    pcs_contact_law law;
} pair_params;

static const pcs_option pair_options[] = {
    PCS_TEXT("a", pair_params, a, PCS_REQUIRED, "node set of the first body"),
    PCS_TEXT("b", pair_params, b, PCS_REQUIRED, "node set of the second body, as many nodes as a"),
    PCS_VECTOR("normal", pair_params, normal, PCS_REQUIRED, PCS_ANY_NUMBER, "from a towards b; any length"),
    PCS_CONTACT_LAW_OPTIONS(pair_params),
    { 0 },
};

static const char *const pair_sets[] = { "a", "b", NULL };

static const char *pair_check(const void *params, const char **option)
{
    double unit[3];
    *option = "normal";
    return pcs_normalize3(((const pair_params *)params)->normal, unit) ? NULL : "the normal has no direction";
}

static int pair_count(const void *params, const pcs_mesh *mesh)
{
    return pcs_mesh_node_set(mesh, ((const pair_params *)params)->a)->count;
}

static pcs_status pair_fill(pcs_context *ctx, const void *params, const pcs_dofmap *map, int i,
                            pcs_contact_point *point)
{
    const pair_params *p = params;
    const pcs_set *a = pcs_mesh_node_set(map->mesh, p->a), *b = pcs_mesh_node_set(map->mesh, p->b);
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
    PCS_TRY(pcs_gap_add_node(ctx, map, point->other, -1.0, point));
    return pcs_gap_demand_motion(ctx, point);
}

typedef struct pair_contact {
    const pcs_set *a, *b;
    double normal[3], tangent[2][3];
    int ntangent;
} pair_contact;

static pcs_status pair_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_contact_shape *shape)
{
    const pair_params *p = params;
    pair_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    self->a = pcs_mesh_node_set(map->mesh, p->a);
    self->b = pcs_mesh_node_set(map->mesh, p->b);
    pcs_normalize3(p->normal, self->normal);
    for (int i = 0; i < 2 * self->a->count; i++) {
        pcs_contact_point point;
        PCS_TRY(pair_fill(ctx, params, map, i / 2, &point)); // the nodes pair up and move along the normal
        int node = i % 2 == 0 ? point.other : point.node;
        int count = pcs_gap_tangents(map, node, self->normal, self->tangent);
        PCS_TRY(pcs_gap_demand_tangents(ctx, node, count, i == 0 ? count : self->ntangent));
        self->ntangent = count;
    }
    *shape = (pcs_contact_shape){ .nrow = self->a->count, .ntangent = self->ntangent, .is_constant = true };
    *instance = self;
    return PCS_OK;
}

// Pushes b along +d and a along -d.
static void pair_push(pcs_row_direction *out, int a, int b, const double d[3])
{
    const double at_node[3] = { 0.0 }, back[3] = { -d[0], -d[1], -d[2] };
    pcs_row_push(out, b, at_node, d);
    pcs_row_push(out, a, at_node, back);
}

static void pair_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const pair_contact *self = instance;
    for (int i = 0; i < self->a->count; i++) {
        pcs_place a, b;
        int node_a = self->a->items[i], node_b = self->b->items[i];
        places->find(places, node_a, &a);
        places->find(places, node_b, &b);
        for (int k = 0; k < 3; k++) {
            rows[i].gap += self->normal[k] * (b.x[k] - a.x[k]);
            rows[i].normal[k] = self->normal[k];
            rows[i].point[k] = b.x[k];
        }
        pair_push(&rows[i].direction, node_a, node_b, self->normal);
        for (int t = 0; t < self->ntangent; t++) pair_push(&rows[i].tangent[t], node_a, node_b, self->tangent[t]);
        memcpy(rows[i].across, self->tangent, sizeof rows[i].across);
    }
}

const pcs_gap_ops pcs_gap_node_node = {
    .name = "node_node",
    .summary = "node b against node a along a fixed normal, gap = n . (x_b - x_a)",
    .options = pair_options,
    .params_size = sizeof(pair_params),
    .set_options = pair_sets,
    .law_offset = offsetof(pair_params, law),
    .check = pair_check,
    .count = pair_count,
    .fill = pair_fill,
    .create = pair_create,
    .evaluate = pair_evaluate,
};
