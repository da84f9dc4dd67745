// Universal joint: two points coincide, and a cross turns about one axis of a and one of b, perpendicular to each
// other.
//
//   g = e_i . (p_b - p_a),  u . w,  u the axis of the cross on a, w that on b
//   small rotations: n . (turn_b - turn_a),  n = w x u
//
// A shaft that turns by alpha drives another, bent by beta, to tan(gamma) = cos(beta) tan(alpha) or the inverse.

#include "joint/ends.h"

#include <math.h>

static const double skew_allowed = 1e-9; // of the cross, rad

typedef struct universal_params {
    pcs_ends_params ends;
    double axis_a[3], axis_b[3];
} universal_params;

typedef struct universal {
    pcs_joint_ends ends;
    double axis_a[3], axis_b[3], normal[3];
} universal;

static const pcs_option universal_options[] = {
    PCS_ENDS_OPTIONS(universal_params),
    PCS_VECTOR("axis_a", universal_params, axis_a, PCS_REQUIRED, PCS_ANY_NUMBER,
               "arm of the cross that turns in a, or in the ground; any length, across the shaft"),
    PCS_VECTOR("axis_b", universal_params, axis_b, PCS_REQUIRED, PCS_ANY_NUMBER,
               "arm of the cross that turns in b, perpendicular to axis_a"),
    { 0 },
};

static const char *universal_check(const void *params, const char **option)
{
    const universal_params *p = params;
    double a[3], b[3];
    const char *fault = pcs_ends_check(&p->ends, option);
    if (fault != NULL) return fault;
    *option = "axis_a";
    if (!pcs_normalize3(p->axis_a, a)) return "the axis has no direction";
    *option = "axis_b";
    if (!pcs_normalize3(p->axis_b, b)) return "the axis has no direction";
    return fabs(pcs_dot3(a, b)) > skew_allowed ? "the axes of a cross are perpendicular: 'axis_a', 'axis_b'" : NULL;
}

static pcs_status universal_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                   pcs_joint_shape *shape)
{
    const universal_params *p = params;
    universal *u;
    PCS_TAKE(ctx, u, 1, "a joint");
    PCS_TRY(pcs_ends_create(ctx, &p->ends, map, &u->ends));
    PCS_TRY(pcs_ends_demand_space(ctx, &u->ends));
    PCS_TRY(pcs_ends_meet(ctx, &p->ends, map));
    const pcs_joint_ends *ends = &u->ends;
    (void)pcs_normalize3(p->axis_a, u->axis_a);
    (void)pcs_normalize3(p->axis_b, u->axis_b);
    pcs_cross(u->axis_b, u->axis_a, u->normal);
    bool is_free = ends->a.turning == PCS_TURNS_FREE || ends->b.turning == PCS_TURNS_FREE;
    *instance = u;
    *shape = (pcs_joint_shape){ .nrow = ends->ntranslation + 1 };
    shape->is_constant = !is_free && pcs_end_is_straight(&ends->a) && pcs_end_is_straight(&ends->b);
    pcs_ends_shape(ends, shape);
    if (is_free) // the cross tilts
        for (int k = 0; k < 3; k++) shape->has_moment[k] = true;
    pcs_joint_mark(u->normal, shape->has_moment);
    return PCS_OK;
}

static void universal_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const universal *u = instance;
    pcs_end_now a, b;
    pcs_end_find(&u->ends.a, places, &a);
    pcs_end_find(&u->ends.b, places, &b);
    rows += pcs_ends_join(&u->ends, &a, &b, rows);
    if (u->ends.a.turning != PCS_TURNS_FREE && u->ends.b.turning != PCS_TURNS_FREE) {
        pcs_row_angle(&a, &b, u->normal, rows);
        return;
    }
    pcs_rider on_a = pcs_rider_on(&a, u->axis_a), on_b = pcs_rider_on(&b, u->axis_b);
    pcs_row_cross(&a, &b, &on_a, &on_b, rows);
}

// Both arms of the cross, that of a where a is no ground.
static bool universal_show(const void *instance, int part, pcs_obstacle *out)
{
    const universal *u = instance;
    bool has_a = u->ends.a.node >= 0;
    int crosses = has_a ? 2 : 1;
    if (part >= crosses) return pcs_ends_show_arms(&u->ends.a, &u->ends.b, part - crosses, out);
    if (part == 1 && has_a) pcs_end_show(&u->ends.a, PCS_OBSTACLE_CYLINDER, u->axis_a, out);
    else pcs_end_show(&u->ends.b, PCS_OBSTACLE_CYLINDER, u->axis_b, out);
    return true;
}

const pcs_joint_ops pcs_joint_universal = {
    .name = "universal",
    .summary = "two points stay together, the ends turn about the two axes of a cross, in space",
    .options = universal_options,
    .params_size = sizeof(universal_params),
    .set_options = pcs_ends_sets,
    .check = universal_check,
    .create = universal_create,
    .evaluate = universal_evaluate,
    .show = universal_show,
};
