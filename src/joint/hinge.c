// Hinge: two points coincide and the ends turn against each other about one axis only.
//
//   g = e_i . (p_b - p_a),   in space also u_i . w with w the axis on b and u_1, u_2 perpendicular to it on a
//
// In the plane the axis is the normal of the plane and only the points are held.

#include "joint/ends.h"

#include <math.h>
#include <string.h>

typedef struct hinge_params {
    pcs_ends_params ends;
    double axis[3];
} hinge_params;

typedef struct hinge {
    pcs_joint_ends ends;
    bool has_axis;
    double axis[3], across[2][3];
} hinge;

static const pcs_option hinge_options[] = {
    PCS_ENDS_OPTIONS(hinge_params),
    PCS_VECTOR("axis", hinge_params, axis, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "about which it turns, any length; needed in space"),
    { 0 },
};

static const char *hinge_check(const void *params, const char **option)
{
    const hinge_params *p = params;
    double unit[3];
    const char *fault = pcs_ends_check(&p->ends, option);
    if (fault != NULL || isnan(p->axis[0])) return fault;
    *option = "axis";
    return pcs_normalize3(p->axis, unit) ? NULL : "the axis has no direction";
}

// In the plane an axis may be given, but only one is possible.
static pcs_status hinge_check_flat(pcs_context *ctx, const hinge_params *p, const hinge *h)
{
    double normal[3];
    const double(*d)[3] = h->ends.translation;
    if (h->ends.ntranslation == 3)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d moves in space, but does not turn: there is no axis to hold; 'ball' joins its point",
                        h->ends.b.turning == PCS_TURNS_NOT ? h->ends.b.node : h->ends.a.node);
    if (isnan(p->axis[0]) || h->ends.ntranslation < 2) return PCS_OK;
    pcs_cross(d[0], d[1], normal);
    if (fabs(pcs_dot3(normal, h->axis)) < 1.0 - 1e-9)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d moves in a plane; a hinge can only turn about its normal [%g, %g, %g]", h->ends.b.node,
                        normal[0], normal[1], normal[2]);
    return PCS_OK;
}

static pcs_status hinge_make(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                             pcs_joint_shape *shape)
{
    const hinge_params *p = params;
    hinge *h;
    PCS_TAKE(ctx, h, 1, "a joint");
    PCS_TRY(pcs_ends_create(ctx, &p->ends, map, &h->ends));
    const pcs_joint_ends *ends = &h->ends;
    *instance = h;
    *shape = (pcs_joint_shape){ .nrow = ends->ntranslation };
    shape->is_constant = pcs_end_is_straight(&ends->a) && pcs_end_is_straight(&ends->b);
    pcs_ends_shape(ends, shape);
    if (!isnan(p->axis[0])) (void)pcs_normalize3(p->axis, h->axis);
    if (ends->nrotation < 3) return hinge_check_flat(ctx, p, h);
    if (isnan(p->axis[0]))
        return pcs_fail(ctx, PCS_BAD_INPUT, "missing key 'axis': node %d turns in space", ends->b.node);
    h->has_axis = true;
    pcs_joint_frame(h->axis, h->across[0], h->across[1]);
    shape->nrow += 2;
    bool is_free = ends->a.turning == PCS_TURNS_FREE || ends->b.turning == PCS_TURNS_FREE;
    shape->is_constant = shape->is_constant && !is_free;
    for (int i = 0; i < 2; i++) pcs_joint_mark(h->across[i], shape->has_moment);
    if (is_free && ends->a.node >= 0) // the axis rides
        for (int k = 0; k < 3; k++) shape->has_moment[k] = true;
    return PCS_OK;
}

static pcs_status hinge_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_joint_shape *shape)
{
    PCS_TRY(hinge_make(ctx, params, map, instance, shape));
    return pcs_ends_meet(ctx, &((const hinge_params *)params)->ends, map);
}

static void hinge_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const hinge *h = instance;
    pcs_end_now a, b;
    pcs_end_find(&h->ends.a, places, &a);
    pcs_end_find(&h->ends.b, places, &b);
    rows += pcs_ends_join(&h->ends, &a, &b, rows);
    if (!h->has_axis) return;
    bool adds_up = h->ends.a.turning != PCS_TURNS_FREE && h->ends.b.turning != PCS_TURNS_FREE;
    for (int i = 0; i < 2; i++) pcs_row_square(&a, &b, h->across[i], h->axis, adds_up, rows++);
}

static bool hinge_show(const void *instance, int part, pcs_obstacle *out)
{
    const hinge *h = instance;
    double normal[3] = { 0.0, 0.0, 1.0 };
    if (part > 0) return pcs_ends_show_arms(&h->ends.a, &h->ends.b, part - 1, out);
    if (h->ends.ntranslation == 2) pcs_cross(h->ends.translation[0], h->ends.translation[1], normal);
    pcs_end_show(&h->ends.b, PCS_OBSTACLE_CYLINDER, h->has_axis ? h->axis : normal, out);
    return true;
}

const pcs_joint_ops pcs_joint_hinge = {
    .name = "hinge",
    .summary = "two points stay together, the ends turn about one axis; in the plane a pin",
    .options = hinge_options,
    .params_size = sizeof(hinge_params),
    .set_options = pcs_ends_sets,
    .check = hinge_check,
    .create = hinge_create,
    .evaluate = hinge_evaluate,
    .show = hinge_show,
};
