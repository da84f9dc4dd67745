// Node a against node b along a fixed normal: g = n . (x_b - x_a); the multiplier pushes b along +n, a along -n.

#include "contact/gap.h"

typedef struct pair_params {
    const char *a, *b;
    double normal[3];
    double restitution;
} pair_params;

static const pcs_option pair_options[] = {
    { .name = "a",
      .kind = PCS_OPTION_TEXT,
      .help = "node set of the first body",
      .offset = offsetof(pair_params, a),
      .is_required = true },
    { .name = "b",
      .kind = PCS_OPTION_TEXT,
      .help = "node set of the second body, as many nodes as a",
      .offset = offsetof(pair_params, b),
      .is_required = true },
    { .name = "normal",
      .kind = PCS_OPTION_VECTOR,
      .help = "from a towards b; any length",
      .offset = offsetof(pair_params, normal),
      .is_required = true,
      .range = PCS_ANY_NUMBER },
    { .name = "restitution",
      .kind = PCS_OPTION_REAL,
      .help = "Newton's coefficient e",
      .offset = offsetof(pair_params, restitution),
      .is_required = true,
      .range = PCS_ZERO_TO_ONE },
    { 0 },
};

static const char *const pair_sets[] = { "a", "b", NULL };

static const char *pair_check(const void *params, const char **option)
{
    double unit[3];
    *option = "normal";
    return pcs_gap_normalize(((const pair_params *)params)->normal, unit) ? NULL : "the normal has no direction";
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
    pcs_gap_normalize(p->normal, point->normal);
    const double *xa = map->mesh->x[point->other], *xb = map->mesh->x[point->node];
    for (int k = 0; k < 3; k++) point->gap += point->normal[k] * (xb[k] - xa[k]);
    PCS_TRY(pcs_gap_add_node(ctx, map, point->node, 1.0, point));
    PCS_TRY(pcs_gap_add_node(ctx, map, point->other, -1.0, point));
    return pcs_gap_demand_motion(ctx, point);
}

const pcs_gap_ops pcs_gap_node_node = {
    .name = "node_node",
    .summary = "node b against node a along a fixed normal, gap = n . (x_b - x_a)",
    .options = pair_options,
    .params_size = sizeof(pair_params),
    .set_options = pair_sets,
    .restitution_offset = offsetof(pair_params, restitution),
    .check = pair_check,
    .count = pair_count,
    .fill = pair_fill,
};
