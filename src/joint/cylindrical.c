// Cylindrical: b slides along and turns about an axis fixed to a. Screw: its pitch P couples both.
//
//   g = u_i . (p_b - p_a),  u_i . w   with u_1, u_2 across the axis on a and w the axis on b
//   screw, too:  g = s - (P / 2 pi) phi,  s = d . (p_b - p_a), d the axis on a, phi the angle of b against a
//
// The angle in space is known up to whole turns only; a screw takes the turn of the thread that s is in:
//   g = -(P / 2 pi) r,  r = phi - 2 pi s / P less the nearest whole turns

#include "joint/angle.h"

#include <math.h>
#include <string.h>

typedef struct cylindrical_params {
    pcs_ends_params ends;
    double axis[3], pitch;
} cylindrical_params;

typedef struct cylindrical {
    pcs_joint_ends ends;
    pcs_joint_angle angle;
    bool rides;   // the axis turns with a
    double pitch; // m per turn; 0: b slides freely
} cylindrical;

#define CYLINDRICAL_AXIS                                                       \
    PCS_VECTOR("axis", cylindrical_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER, \
               "along which b slides and about which it turns, in the reference state; any length")

static const pcs_option cylindrical_options[] = {
    PCS_ENDS_OPTIONS(cylindrical_params),
    CYLINDRICAL_AXIS,
    { 0 },
};

static const pcs_option screw_options[] = {
    PCS_ENDS_OPTIONS(cylindrical_params),
    CYLINDRICAL_AXIS,
    PCS_REAL("pitch", cylindrical_params, pitch, PCS_REQUIRED, PCS_ANY_NUMBER,
             "way of b along the axis per turn about it, m; negative: a left-handed thread"),
    { 0 },
};

static const char *cylindrical_check(const void *params, const char **option)
{
    const cylindrical_params *p = params;
    double unit[3];
    const char *fault = pcs_ends_check(&p->ends, option);
    if (fault != NULL) return fault;
    *option = "axis";
    return pcs_normalize3(p->axis, unit) ? NULL : "the axis has no direction";
}

static const char *screw_check(const void *params, const char **option)
{
    const char *fault = cylindrical_check(params, option);
    if (fault != NULL) return fault;
    *option = "pitch";
    return ((const cylindrical_params *)params)->pitch == 0.0 ? "a screw without pitch is a 'hinge'" : NULL;
}

static pcs_status cylindrical_make(pcs_context *ctx, const void *params, const pcs_dofmap *map, cylindrical **out,
                                   pcs_joint_shape *shape)
{
    const cylindrical_params *p = params;
    double axis[3];
    PCS_TAKE(ctx, *out, 1, "a joint");
    cylindrical *c = *out;
    PCS_TRY(pcs_ends_create(ctx, &p->ends, map, &c->ends));
    PCS_TRY(pcs_ends_demand_space(ctx, &c->ends));
    (void)pcs_normalize3(p->axis, axis);
    pcs_angle_create(&c->ends.a, &c->ends.b, axis, &c->angle);
    c->rides = c->ends.a.node >= 0 && c->ends.a.turning == PCS_TURNS_FREE;
    *shape = (pcs_joint_shape){ .nrow = 4, .has_lines = c->rides };
    shape->is_constant = c->angle.adds_up && pcs_end_is_straight(&c->ends.a) && pcs_end_is_straight(&c->ends.b);
    if (!c->angle.adds_up && c->ends.a.node >= 0) // the axis rides
        for (int k = 0; k < 3; k++) shape->has_moment[k] = shape->has_force[k] = true;
    for (int i = 0; i < 2; i++) {
        const double *across = i == 0 ? c->angle.first : c->angle.second;
        pcs_joint_mark(across, shape->has_force);
        pcs_joint_mark(across, shape->has_moment);
    }
    return PCS_OK;
}

static pcs_status cylindrical_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                     pcs_joint_shape *shape)
{
    cylindrical *c;
    PCS_TRY(cylindrical_make(ctx, params, map, &c, shape));
    *instance = c;
    return PCS_OK;
}

static pcs_status screw_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_joint_shape *shape)
{
    cylindrical *c;
    PCS_TRY(cylindrical_make(ctx, params, map, &c, shape));
    *instance = c;
    c->pitch = ((const cylindrical_params *)params)->pitch;
    shape->nrow++;
    pcs_joint_mark(c->angle.axis, shape->has_force);
    pcs_joint_mark(c->angle.axis, shape->has_moment);
    return PCS_OK;
}

static pcs_rider cylindrical_rider(const cylindrical *c, const pcs_end_now *a, const double direction[3])
{
    return c->rides ? pcs_rider_on(a, direction) : pcs_rider_fixed(direction);
}

static void cylindrical_thread(const cylindrical *c, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *row)
{
    pcs_rider d = cylindrical_rider(c, a, c->angle.axis);
    pcs_row_state turn = { 0 };
    double lead = c->pitch / pcs_whole_turn;
    pcs_row_translation(a, b, &d, row);
    pcs_row_turn(a, b, &c->angle, &turn);
    double way = row->gap;
    pcs_row_add(row, -lead, &turn);
    if (!c->angle.adds_up) row->gap = -lead * remainder(turn.gap - way / lead, pcs_whole_turn);
}

static void cylindrical_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const cylindrical *c = instance;
    const double *across[2] = { c->angle.first, c->angle.second };
    pcs_end_now a, b;
    pcs_end_find(&c->ends.a, places, &a);
    pcs_end_find(&c->ends.b, places, &b);
    for (int i = 0; i < 2; i++) {
        pcs_rider d = cylindrical_rider(c, &a, across[i]);
        pcs_row_translation(&a, &b, &d, rows++);
        pcs_row_square(&a, &b, across[i], c->angle.axis, c->angle.adds_up, rows++);
    }
    if (c->pitch != 0.0) cylindrical_thread(c, &a, &b, rows);
}

static bool cylindrical_show(const void *instance, int part, pcs_obstacle *out)
{
    const cylindrical *c = instance;
    if (part > 0) return pcs_ends_show_arms(&c->ends.a, &c->ends.b, part - 1, out);
    pcs_end_show(&c->ends.b, PCS_OBSTACLE_BORE, c->angle.axis, out);
    return true;
}

#define CYLINDRICAL_COMMON                                                                                     \
    .params_size = sizeof(cylindrical_params), .set_options = pcs_ends_sets, .evaluate = cylindrical_evaluate, \
    .show = cylindrical_show

const pcs_joint_ops pcs_joint_cylindrical = {
    .name = "cylindrical",
    .summary = "b slides along and turns about one axis, in space",
    .options = cylindrical_options,
    .check = cylindrical_check,
    .create = cylindrical_create,
    CYLINDRICAL_COMMON,
};

const pcs_joint_ops pcs_joint_screw = {
    .name = "screw",
    .summary = "b slides along an axis as it turns about it, by a pitch, in space",
    .options = screw_options,
    .check = screw_check,
    .create = screw_create,
    CYLINDRICAL_COMMON,
};
