// Ball joint: two points coincide, g = e_i . (p_b - p_a); the ends turn as they like.

#include "joint/pair.h"

typedef struct ball_params {
    pcs_pair_params pair;
} ball_params;

static const pcs_option ball_options[] = {
    PCS_PAIR_OPTIONS(ball_params),
    { 0 },
};

static const char *ball_check(const void *params, const char **option)
{
    return pcs_pair_check(&((const ball_params *)params)->pair, option);
}

static pcs_status ball_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_joint_shape *shape)
{
    pcs_joint_pair *pair;
    PCS_TAKE(ctx, pair, 1, "a joint");
    PCS_TRY(pcs_pair_create(ctx, &((const ball_params *)params)->pair, map, pair));
    *instance = pair;
    *shape = (pcs_joint_shape){ .nrow = pair->ntranslation };
    shape->is_constant = pcs_end_is_straight(&pair->a) && pcs_end_is_straight(&pair->b);
    pcs_pair_shape(pair, shape);
    return PCS_OK;
}

static void ball_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const pcs_joint_pair *pair = instance;
    pcs_end_now a, b;
    pcs_end_find(&pair->a, places, &a);
    pcs_end_find(&pair->b, places, &b);
    for (int i = 0; i < pair->ntranslation; i++) {
        pcs_rider d = pcs_rider_fixed(pair->translation[i]);
        pcs_row_translation(&a, &b, &d, &rows[i]);
    }
}

const pcs_joint_ops pcs_joint_ball = {
    .name = "ball",
    .summary = "two points stay together, the ends turn freely",
    .options = ball_options,
    .params_size = sizeof(ball_params),
    .set_options = pcs_pair_sets,
    .check = ball_check,
    .create = ball_create,
    .evaluate = ball_evaluate,
};
