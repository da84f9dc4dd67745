// Fixed joint: two points coincide and the ends do not turn against each other.
//
//   g = e_i . (p_b - p_a);   rotations that add up: g = n . (turn_b - turn_a), else u_{i+2} . w_{i+1} of the axes of
//   space carried along by a and b, which turns about e_i

#include "joint/weld.h"

typedef struct fixed_params {
    pcs_pair_params pair;
} fixed_params;

static const pcs_option fixed_options[] = {
    PCS_PAIR_OPTIONS(fixed_params),
    { 0 },
};

bool pcs_weld_is_constant(const pcs_joint_pair *pair)
{
    bool is_free = pair->a.turning == PCS_TURNS_FREE || pair->b.turning == PCS_TURNS_FREE;
    return pcs_end_is_straight(&pair->a) && pcs_end_is_straight(&pair->b) && !(is_free && pair->nrotation > 0);
}

int pcs_weld_rows(const pcs_joint_pair *pair)
{
    return pair->ntranslation + pair->nrotation;
}

void pcs_weld_shape(const pcs_joint_pair *pair, pcs_joint_shape *shape)
{
    pcs_pair_shape(pair, shape);
    for (int i = 0; i < pair->nrotation; i++) pcs_joint_mark(pair->rotation[i], shape->has_moment);
}

int pcs_weld_evaluate(const pcs_joint_pair *pair, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *rows)
{
    for (int i = 0; i < pair->ntranslation; i++) {
        pcs_rider d = pcs_rider_fixed(pair->translation[i]);
        pcs_row_translation(a, b, &d, &rows[i]);
    }
    if (pair->nrotation == 0) return pair->ntranslation;
    return pair->ntranslation + pcs_pair_lock(pair, a, b, rows + pair->ntranslation);
}

static const char *fixed_check(const void *params, const char **option)
{
    return pcs_pair_check(&((const fixed_params *)params)->pair, option);
}

static pcs_status fixed_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_joint_shape *shape)
{
    pcs_joint_pair *pair;
    PCS_TAKE(ctx, pair, 1, "a joint");
    PCS_TRY(pcs_pair_create(ctx, &((const fixed_params *)params)->pair, map, pair));
    if (pair->nrotation == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d does not turn, so its rotation cannot be held; 'ball' holds its place",
                        pair->b.turning == PCS_TURNS_NOT ? pair->b.node : pair->a.node);
    *instance = pair;
    *shape = (pcs_joint_shape){ .nrow = pcs_weld_rows(pair), .is_constant = pcs_weld_is_constant(pair) };
    pcs_weld_shape(pair, shape);
    return PCS_OK;
}

static void fixed_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const pcs_joint_pair *pair = instance;
    pcs_end_now a, b;
    pcs_end_find(&pair->a, places, &a);
    pcs_end_find(&pair->b, places, &b);
    (void)pcs_weld_evaluate(pair, &a, &b, rows);
}

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
