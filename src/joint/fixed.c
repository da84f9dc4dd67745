// Two points coincide. The ends of a ball joint rotate freely, those of a fixed joint do not rotate relative to each
// other.
//
//   g = e_i . (p_b - p_a);   rotations that add up: g = n . (turn_b - turn_a), else u_{i+2} . w_{i+1} of the axes of
//   space carried along by a and b, which turns about e_i

#include "joint/ends.h"

typedef struct fixed_params {
    pcs_ends_params ends;
} fixed_params;

static const pcs_option fixed_options[] = {
    PCS_ENDS_OPTIONS(fixed_params),
    { 0 },
};

static const char *fixed_check(const void *params, const char **option)
{
    return pcs_ends_check(&((const fixed_params *)params)->ends, option);
}

static pcs_status fixed_create_ends(pcs_context *ctx, const void *params, const pcs_dofmap *map, pcs_joint_ends **out)
{
    PCS_TAKE(ctx, *out, 1, "a joint");
    return pcs_ends_create(ctx, &((const fixed_params *)params)->ends, map, *out);
}

static pcs_status fixed_create_ball(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                    pcs_joint_shape *shape)
{
    pcs_joint_ends *ends;
    PCS_TRY(fixed_create_ends(ctx, params, map, &ends));
    ends->nrotation = 0;
    *instance = ends;
    *shape = (pcs_joint_shape){ .is_constant = true };
    pcs_ends_hold_shape(ends, shape);
    return pcs_ends_meet(ctx, &((const fixed_params *)params)->ends, map);
}

static pcs_status fixed_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_joint_shape *shape)
{
    pcs_joint_ends *ends;
    PCS_TRY(fixed_create_ends(ctx, params, map, &ends));
    if (ends->nrotation == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d does not turn, so its rotation cannot be held; 'ball' holds its place",
                        ends->b.turning == PCS_TURNS_NOT ? ends->b.node : ends->a.node);
    *instance = ends;
    *shape = (pcs_joint_shape){ .is_constant = true };
    pcs_ends_hold_shape(ends, shape);
    return pcs_ends_meet(ctx, &((const fixed_params *)params)->ends, map);
}

static void fixed_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const pcs_joint_ends *ends = instance;
    pcs_end_now a, b;
    pcs_end_find(&ends->a, places, &a);
    pcs_end_find(&ends->b, places, &b);
    (void)pcs_ends_hold(ends, &a, &b, rows);
}

static bool fixed_show(const void *instance, int part, pcs_obstacle *out)
{
    const pcs_joint_ends *ends = instance;
    if (part > 0) return pcs_ends_show_arms(&ends->a, &ends->b, part - 1, out);
    pcs_end_show(&ends->b, PCS_OBSTACLE_BALL, NULL, out);
    return true;
}

#define FIXED_COMMON                                                                                                   \
    .options = fixed_options, .params_size = sizeof(fixed_params), .set_options = pcs_ends_sets, .check = fixed_check, \
    .evaluate = fixed_evaluate, .show = fixed_show

const pcs_joint_ops pcs_joint_ball = {
    .name = "ball",
    .summary = "two points stay together, the ends turn freely",
    .create = fixed_create_ball,
    FIXED_COMMON,
};

const pcs_joint_ops pcs_joint_fixed = {
    .name = "fixed",
    .summary = "a weld: two points stay together and the ends do not turn against each other",
    .create = fixed_create,
    FIXED_COMMON,
};
