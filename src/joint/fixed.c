// Two points coincide. Of a ball joint the ends turn as they like, of a fixed one they do not turn against each other.
//
//   g = e_i . (p_b - p_a);   rotations that add up: g = n . (turn_b - turn_a), else u_{i+2} . w_{i+1} of the axes of
//   space carried along by a and b, which turns about e_i

#include "joint/pair.h"

typedef struct fixed_params {
    pcs_pair_params pair;
} fixed_params;

static const pcs_option fixed_options[] = {
    PCS_PAIR_OPTIONS(fixed_params),
    { 0 },
};

static const char *fixed_check(const void *params, const char **option)
{
    return pcs_pair_check(&((const fixed_params *)params)->pair, option);
}

static pcs_status fixed_create_pair(pcs_context *ctx, const void *params, const pcs_dofmap *map, pcs_joint_pair **out)
{
    PCS_TAKE(ctx, *out, 1, "a joint");
    return pcs_pair_create(ctx, &((const fixed_params *)params)->pair, map, *out);
}

static pcs_status fixed_create_ball(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                    pcs_joint_shape *shape)
{
    pcs_joint_pair *pair;
    PCS_TRY(fixed_create_pair(ctx, params, map, &pair));
    pair->nrotation = 0;
    *instance = pair;
    *shape = (pcs_joint_shape){ .is_constant = true };
    pcs_pair_hold_shape(pair, shape);
    return PCS_OK;
}

static pcs_status fixed_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_joint_shape *shape)
{
    pcs_joint_pair *pair;
    PCS_TRY(fixed_create_pair(ctx, params, map, &pair));
    if (pair->nrotation == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d does not turn, so its rotation cannot be held; 'ball' holds its place",
                        pair->b.turning == PCS_TURNS_NOT ? pair->b.node : pair->a.node);
    *instance = pair;
    *shape = (pcs_joint_shape){ .is_constant = true };
    pcs_pair_hold_shape(pair, shape);
    return PCS_OK;
}

static void fixed_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const pcs_joint_pair *pair = instance;
    pcs_end_now a, b;
    pcs_end_find(&pair->a, places, &a);
    pcs_end_find(&pair->b, places, &b);
    (void)pcs_pair_hold(pair, &a, &b, rows);
}

const pcs_joint_ops pcs_joint_ball = {
    .name = "ball",
    .summary = "two points stay together, the ends turn freely",
    .options = fixed_options,
    .params_size = sizeof(fixed_params),
    .set_options = pcs_pair_sets,
    .check = fixed_check,
    .create = fixed_create_ball,
    .evaluate = fixed_evaluate,
};

const pcs_joint_ops pcs_joint_fixed = {
    .name = "fixed",
    .summary = "a weld: two points stay together and the ends do not turn against each other",
    .options = fixed_options,
    .params_size = sizeof(fixed_params),
    .set_options = pcs_pair_sets,
    .check = fixed_check,
    .create = fixed_create,
    .evaluate = fixed_evaluate,
};
