// A support that holds one of the three rotations of nodes that turn freely in space: the component psi_i of their
// rotation vector stays zero, as when it holds two or three.
//
//   g = (e_k . R e_j - e_j . R e_k)/2 = sin(|psi|) psi_i/|psi|,   i, j, k in cyclic order
//
// What is left is any rotation about an axis across e_i, by less than half a turn: there every axis is as good.

#include "joint/angle.h"

#include <string.h>

typedef struct held {
    int count;
    pcs_joint_end *ends; // [count]
    double axes[3][3];   // e_i, e_j, e_k
} held;

static const pcs_option held_options[] = {
    PCS_TEXT("nodes", pcs_held_params, nodes, PCS_REQUIRED, "nodes that are held"),
    PCS_COUNT("axis", pcs_held_params, axis, PCS_REQUIRED, PCS_WITHIN(0, 2), "about which they do not turn"),
    { 0 },
};

static const char *const held_sets[] = { "nodes", NULL };

// Nodes whose rotations are free in space; supports hold two or three of others, or those add up.
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
                              pcs_joint_shape *shape)
{
    const pcs_held_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    held *h;
    PCS_TAKE(ctx, h, 1, "a support");
    PCS_TAKE(ctx, h->ends, nodes->count, "a support");
    for (int n = 0; n < nodes->count; n++) {
        if (!held_is_free(map, nodes->items[n])) continue;
        PCS_TRY(pcs_end_resolve(ctx, map, nodes->items[n], map->mesh->x[nodes->items[n]], &h->ends[h->count++]));
    }
    for (int k = 0; k < 3; k++) h->axes[k][(p->axis + k) % 3] = 1.0;
    *instance = h;
    *shape = (pcs_joint_shape){ .nrow = h->count };
    for (int k = 0; k < 3; k++) shape->has_moment[k] = true; // its axis turns with half of the rotation
    return PCS_OK;
}

static void held_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const held *h = instance;
    const pcs_joint_end ground = { .node = -1 };
    pcs_end_now origin, now;
    pcs_end_find(&ground, places, &origin);
    for (int n = 0; n < h->count; n++) {
        pcs_end_find(&h->ends[n], places, &now);
        for (int k = 1; k < 3; k++) {
            pcs_rider u = pcs_rider_fixed(h->axes[3 - k]), w = pcs_rider_on(&now, h->axes[k]);
            pcs_row_state part = { 0 };
            pcs_row_cross(&origin, &now, &u, &w, &part);
            pcs_row_add(&rows[n], k == 1 ? 0.5 : -0.5, &part);
        }
        memcpy(rows[n].point, now.point, sizeof now.point);
    }
}

static const pcs_joint_ops held_ops = {
    .name = "held",
    .summary = "what a support of one rotation is made of",
    .options = held_options,
    .params_size = sizeof(pcs_held_params),
    .set_options = held_sets,
    .create = held_create,
    .evaluate = held_evaluate,
};

const pcs_joint_ops *pcs_held_joint(void)
{
    return &held_ops;
}
