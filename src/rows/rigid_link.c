// Rigid link: every node of a set is fixed to one node, as if by a massless rigid body.
//
//   g = e_i . (x_b - x_a - R_a (X_b - X_a)),   and b turns with a where it turns at all

#include "rows/ends.h"

typedef struct link_params {
    const char *a, *nodes;
} link_params;

typedef struct link_joint {
    int count;
    pcs_joint_end hub;    // node a, the reference point of moments
    pcs_joint_ends *ends; // [count]
} link_joint;

static const pcs_option link_options[] = {
    PCS_TEXT("a", link_params, a, PCS_REQUIRED, "node to which the others are fixed"),
    PCS_TEXT("nodes", link_params, nodes, PCS_REQUIRED,
             "set of the nodes that ride on it; reactions are those on them, moments about node a"),
    { 0 },
};

static const pcs_source_set link_sets[] = { { .option = "a", .is_single = true }, { .option = "nodes" }, { 0 } };

// Evaluates the rows that hold the ends together as one rigid body, and returns their number.
static int ends_hold(const pcs_joint_ends *ends, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *rows)
{
    bool adds_up = ends->a.rotates != PCS_ROTATES_FINITELY && ends->b.rotates != PCS_ROTATES_FINITELY;
    for (int i = 0; i < ends->ntranslation; i++) {
        pcs_rider d = pcs_rider_fixed(ends->translation[i]);
        pcs_row_translation(a, b, &d, rows++);
    }
    for (int i = 0; i < ends->nrotation; i++, rows++) {
        const double *on_a = ends->rotation[(i + 2) % 3], *on_b = ends->rotation[(i + 1) % 3];
        pcs_rider u = pcs_rider_on(a, on_a), w = pcs_rider_on(b, on_b);
        if (adds_up) pcs_row_angle(a, b, ends->rotation[i], rows);
        else pcs_row_cross(a, b, &u, &w, rows);
    }
    return ends->ntranslation + ends->nrotation;
}

// Adds the rows of ends_hold to a shape that may have others.
static void ends_hold_shape(const pcs_joint_ends *ends, pcs_source_shape *shape)
{
    bool is_free = ends->a.rotates == PCS_ROTATES_FINITELY || ends->b.rotates == PCS_ROTATES_FINITELY;
    bool is_constant = pcs_end_is_straight(&ends->a) && pcs_end_is_straight(&ends->b);
    if (!is_constant || (is_free && ends->nrotation > 0)) shape->is_constant = false;
    shape->nrow += ends->ntranslation + ends->nrotation;
    pcs_ends_shape(ends, shape);
    for (int i = 0; i < ends->nrotation; i++) pcs_joint_mark(ends->rotation[i], shape->has_moment);
}

static pcs_status link_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_source_shape *shape)
{
    const link_params *p = params;
    link_joint *link;
    int a = -1;
    PCS_TAKE(ctx, link, 1, "a joint");
    PCS_TRY(pcs_ends_single(ctx, map, p->a, &a));
    const pcs_set *set = pcs_mesh_node_set(map->mesh, p->nodes);
    if (set == NULL || set->count == 0) return pcs_fail(ctx, PCS_BAD_INPUT, "set '%s' has no nodes", p->nodes);
    PCS_TAKE(ctx, link->ends, set->count, "a joint");
    PCS_TRY(pcs_end_resolve(ctx, map, a, map->mesh->x[a], &link->hub));
    link->count = set->count;
    *instance = link;
    *shape = (pcs_source_shape){ .is_constant = true };
    for (int i = 0; i < link->count; i++) {
        pcs_joint_ends *ends = &link->ends[i];
        int b = set->items[i];
        PCS_TRY(pcs_ends_resolve(ctx, map, a, b, map->mesh->x[b], ends));
        if (ends->b.rotates != PCS_ROTATES_NOT && ends->nrotation == 0)
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d has rotations, but node %d, to which it is linked, has none",
                            b, a);
        ends_hold_shape(ends, shape);
    }
    bool has_arms = link->hub.rotates != PCS_ROTATES_NOT;
    for (int k = 0; k < 3; k++) {
        bool is_plane = !(shape->has_force[0] && shape->has_force[1] && shape->has_force[2]);
        if (has_arms && !is_plane) shape->has_moment[k] = true;
        if (has_arms && is_plane && !shape->has_force[k]) shape->has_moment[k] = true;
    }
    return PCS_OK;
}

// Adds the moments about node a to `couple`: the force of each row at the arm by which it acts on node a. With small
// rotations that is the reference arm, whatever the displacements.
static void link_take_moments(const double arm[3], int count, pcs_row_state *rows)
{
    for (int i = 0; i < count; i++) {
        double moment[3];
        pcs_cross(arm, rows[i].normal, moment);
        for (int k = 0; k < 3; k++) rows[i].couple[k] += moment[k];
    }
}

static void link_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const link_joint *link = instance;
    pcs_end_now a, b;
    for (int i = 0; i < link->count; i++) {
        pcs_end_find(&link->ends[i].a, places, &a);
        pcs_end_find(&link->ends[i].b, places, &b);
        int count = ends_hold(&link->ends[i], &a, &b, rows);
        link_take_moments(a.arm, count, rows);
        rows += count;
    }
}

static bool link_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const link_joint *link = instance;
    if (part < link->count) pcs_ends_show_rod(&link->hub, &link->ends[part].b, out);
    return part < link->count;
}

const pcs_source_ops pcs_joint_rigid_link = {
    .name = "rigid_link",
    .summary = "nodes ride on one node as on a rigid body",
    .options = link_options,
    .params_size = sizeof(link_params),
    .sets = link_sets,
    .create = link_create,
    .evaluate = link_evaluate,
    .show = link_show,
};
