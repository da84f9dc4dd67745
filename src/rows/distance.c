// Distance: two points stay as far apart as they are in the reference state, as if by a massless rod.
//
//   g = |c| - L,  c = p_b - p_a,  g' = n . c',  g'' = n . c'' + (|c'|^2 - (n . c')^2) / |c|,  n = c / |c|

#include "rows/ends.h"

#include <math.h>

typedef struct distance_params {
    const char *node, *a, *b;
    double anchor[3], at_a[3], at_b[3];
} distance_params;

typedef struct distance {
    pcs_joint_end a, b;
    double length;
} distance;

static const pcs_option distance_options[] = {
    PCS_TEXT("node", distance_params, node, PCS_OPTIONAL, "node that keeps its distance from the anchor; or a and b"),
    PCS_VECTOR("anchor", distance_params, anchor, PCS_OPTIONAL, PCS_ANY_NUMBER, "point of the ground, m; with node"),
    PCS_TEXT("a", distance_params, a, PCS_OPTIONAL, "first of two nodes"),
    PCS_TEXT("b", distance_params, b, PCS_OPTIONAL, "second node; reactions are those on it"),
    PCS_VECTOR("at_a", distance_params, at_a, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "point that rides on a, in the reference state, m; by default the node"),
    PCS_VECTOR("at_b", distance_params, at_b, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "point that rides on b, or on node, in the reference state, m; by default the node"),
    { 0 },
};

static const char *distance_check(const void *params, const char **option)
{
    const distance_params *p = params;
    const char *fault = pcs_ends_check(&(pcs_ends_params){ .node = p->node, .a = p->a, .b = p->b }, option);
    if (fault != NULL) return fault;
    *option = p->node != NULL ? NULL : "anchor";
    if (p->node != NULL && isnan(p->anchor[0])) return "missing key 'anchor': the point of the ground";
    if (p->node == NULL && !isnan(p->anchor[0]))
        return "'anchor' belongs to 'node'; it cannot be given with 'a' and 'b'";
    *option = "at_a";
    return p->node != NULL && !isnan(p->at_a[0]) ? "'at_a' belongs to 'a'; a distance from the ground has 'anchor'"
                                                 : NULL;
}

// Fails unless the elements let the node move along n, the direction of the rod.
static pcs_status distance_demand_motion(pcs_context *ctx, const pcs_dofmap *map, int node, const double n[3])
{
    int dof[PCS_MAX_NODE_DOFS];
    double part[PCS_MAX_NODE_DOFS];
    if (pcs_dofmap_resolve(map, false, node, n, dof, part) > 0) return PCS_OK;
    return pcs_fail(
        ctx, PCS_BAD_INPUT,
        "node %d cannot move along [%g, %g, %g], towards the other end: its elements give it no such direction", node,
        n[0], n[1], n[2]);
}

static pcs_status distance_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                  pcs_source_shape *shape)
{
    const distance_params *p = params;
    distance *d;
    int a = -1, b = -1;
    PCS_TAKE(ctx, d, 1, "a joint");
    PCS_TRY(pcs_ends_single(ctx, map, p->node != NULL ? p->node : p->b, &b));
    if (p->node == NULL) PCS_TRY(pcs_ends_single(ctx, map, p->a, &a));
    const double *from = p->anchor;
    if (a >= 0) from = isnan(p->at_a[0]) ? map->mesh->x[a] : p->at_a;
    const double *to = isnan(p->at_b[0]) ? map->mesh->x[b] : p->at_b;
    double apart[3], n[3];
    PCS_TRY(pcs_end_resolve(ctx, map, a, from, &d->a));
    PCS_TRY(pcs_end_resolve(ctx, map, b, to, &d->b));
    for (int k = 0; k < 3; k++) apart[k] = to[k] - from[k];
    d->length = pcs_norm3(apart);
    if (!(d->length > 0.0))
        return pcs_fail(ctx, PCS_BAD_INPUT, "both ends lie at [%g, %g, %g]: a distance of zero has no direction", to[0],
                        to[1], to[2]);
    (void)pcs_normalize3(apart, n);
    PCS_TRY(distance_demand_motion(ctx, map, b, n));
    if (a >= 0) PCS_TRY(distance_demand_motion(ctx, map, a, n));
    *instance = d;
    *shape = (pcs_source_shape){ .nrow = 1, .has_lines = true };
    for (int i = map->first[b]; i < map->first[b + 1]; i++)
        if (!map->dof[i].is_rotation) pcs_joint_mark(map->dof[i].direction, shape->has_force);
    return PCS_OK;
}

static void distance_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const distance *d = instance;
    pcs_end_now a, b;
    double apart[3], n[3];
    pcs_end_find(&d->a, places, &a);
    pcs_end_find(&d->b, places, &b);
    for (int k = 0; k < 3; k++) apart[k] = b.point[k] - a.point[k];
    double length = pcs_norm3(apart), along = 0.0;
    for (int k = 0; k < 3; k++) n[k] = apart[k] / length;
    pcs_rider direction = pcs_rider_fixed(n);
    for (int k = 0; k < 3; k++) along += n[k] * (b.velocity[k] - a.velocity[k]);
    for (int k = 0; k < 3; k++) direction.rate[k] = (b.velocity[k] - a.velocity[k] - along * n[k]) / length;
    pcs_row_translation(&a, &b, &direction, rows);
    rows->gap = length - d->length;
    rows->bias -= length * pcs_dot3(direction.rate, direction.rate); // the direction n of n . (p_b - p_a) rotates
}

static bool distance_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const distance *d = instance;
    pcs_ends_show_rod(&d->a, &d->b, out);
    return part == 0;
}

const pcs_source_ops pcs_joint_distance = {
    .name = "distance",
    .summary = "two points keep their distance, as if by a massless rod",
    .options = distance_options,
    .params_size = sizeof(distance_params),
    .sets = pcs_ends_sets,
    .check = distance_check,
    .create = distance_create,
    .evaluate = distance_evaluate,
    .show = distance_show,
};
