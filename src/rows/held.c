// A support that fixes one of the three rotations of nodes with finite rotations in space: the component psi_i of their
// rotation vector stays zero, as if it fixed two or three, through any number of turns.
//
//   g = 2 p_i,  p = (cos(|psi|/2), sin(|psi|/2) psi/|psi|) the unit quaternion,   p' = 1/2 (0, w) p
//   g' = w . (p_0 e_i + p x e_i),  which has length 1 where g = 0,   g'' = -1/4 w^2 g at constant w
//
// Both p and -p are the rotation, and after a whole turn the axis of the support, which rotates with half of the
// rotation, has the opposite direction. So no choice of the sign is lasting; it is the one with p_0 >= 0, and the row
// changes sign at half a turn. No step depends on that, as it computes its multipliers anew; sums of multipliers within
// a step must be converted (pcs_system_transport).

#include "rows/source.h"

#include <math.h>
#include <string.h>

typedef struct held {
    int count;
    int *nodes;     // [count]
    double axis[3]; // e_i
} held;

static const pcs_option held_options[] = {
    PCS_TEXT("nodes", pcs_held_params, nodes, PCS_REQUIRED, "nodes that are held"),
    PCS_COUNT("axis", pcs_held_params, axis, PCS_REQUIRED, PCS_WITHIN(0, 2), "about which they do not rotate"),
    { 0 },
};

static const pcs_source_set held_sets[] = { { .option = "nodes" }, { 0 } };

// Returns true if the node has three finite rotations and supports fix none of them directly.
static bool held_is_free(const pcs_dofmap *map, int node)
{
    int count = 0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        if (map->dof[i].is_rotation && map->dof[i].equation == -1) return false;
        count += map->dof[i].is_finite;
    }
    return count == 3;
}

static pcs_status held_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_source_shape *shape)
{
    const pcs_held_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    held *h;
    PCS_TAKE(ctx, h, 1, "a support");
    PCS_TAKE(ctx, h->nodes, nodes->count, "a support");
    for (int n = 0; n < nodes->count; n++)
        if (held_is_free(map, nodes->items[n])) h->nodes[h->count++] = nodes->items[n];
    h->axis[p->axis] = 1.0;
    *instance = h;
    *shape = (pcs_source_shape){ .nrow = h->count };
    for (int k = 0; k < 3; k++) shape->has_moment[k] = true; // the axis rotates by half of the rotation
    return PCS_OK;
}

// Computes the rate of the row's moment; unit quaternion (e, p): e' = -p . w / 2, p' = (e w + w x p) / 2.
static void held_find_rate(const held *h, const pcs_place *place, const double p[3], double e, pcs_row_rate *out)
{
    double rotated[3], rise[3];
    pcs_cross(place->w, p, rotated);
    for (int k = 0; k < 3; k++) rise[k] = 0.5 * (e * place->w[k] + rotated[k]);
    pcs_cross(rise, h->axis, out->moment);
    for (int k = 0; k < 3; k++) out->moment[k] -= 0.5 * pcs_dot3(p, place->w) * h->axis[k];
}

static void held_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const held *h = instance;
    for (int n = 0; n < h->count; n++) {
        pcs_place place;
        double p[3], across[3];
        places->find(places, h->nodes[n], &place);
        double half = 0.5 * pcs_norm3(place.rotation), scale = half > 0.0 ? 0.5 * sin(half) / half : 0.5;
        for (int k = 0; k < 3; k++) p[k] = scale * place.rotation[k];
        rows[n].gap = 2.0 * pcs_dot3(p, h->axis);
        rows[n].bias = -0.25 * pcs_dot3(place.w, place.w) * rows[n].gap;
        pcs_cross(p, h->axis, across);
        for (int k = 0; k < 3; k++) rows[n].couple[k] = cos(half) * h->axis[k] + across[k];
        pcs_row_term *term = &rows[n].direction.term[rows[n].direction.nterm++];
        *term = (pcs_row_term){ .node = h->nodes[n] };
        memcpy(term->moment, rows[n].couple, sizeof term->moment);
        held_find_rate(h, &place, p, cos(half), &rows[n].rate[0]);
        memcpy(rows[n].point, place.x, sizeof place.x);
    }
}

static const pcs_source_ops held_ops = {
    .name = "held",
    .summary = "what a support of one rotation is made of",
    .options = held_options,
    .params_size = sizeof(pcs_held_params),
    .sets = held_sets,
    .create = held_create,
    .evaluate = held_evaluate,
};

const pcs_source_ops *pcs_held_joint(void)
{
    return &held_ops;
}
