// Slider: a point of b stays on a straight line that a carries, and the ends do not turn against each other.
//
//   g = d_i . (p_b - p_a),  d_i perpendicular to the axis, fixed to a;   rotations as in a fixed joint
//
// Ends that turn little leave the line where it is, which keeps the rows linear. Nodes that do not turn at all are
// guided by the points alone.

#include "joint/ends.h"

#include <math.h>
#include <string.h>

typedef struct slider_params {
    pcs_ends_params ends;
    double axis[3];
} slider_params;

typedef struct slider {
    pcs_joint_ends ends;
    int nacross;
    double axis[3], across[2][3];
    bool rides; // the line turns with a
} slider;

static const pcs_option slider_options[] = {
    PCS_ENDS_OPTIONS(slider_params),
    PCS_VECTOR("axis", slider_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER,
               "along which b slides, in the reference state; any length"),
    { 0 },
};

static const char *slider_check(const void *params, const char **option)
{
    const slider_params *p = params;
    double unit[3];
    const char *fault = pcs_ends_check(&p->ends, option);
    if (fault != NULL) return fault;
    *option = "axis";
    return pcs_normalize3(p->axis, unit) ? NULL : "the axis has no direction";
}

// The directions across the axis along which the ends can move.
static pcs_status slider_find_across(pcs_context *ctx, slider *s, const double axis[3])
{
    const pcs_joint_ends *ends = &s->ends;
    double inside = 0.0, normal[3];
    for (int i = 0; i < ends->ntranslation; i++) {
        double part = pcs_dot3(ends->translation[i], axis);
        inside += part * part;
    }
    if (fabs(inside - 1.0) > 1e-9)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d cannot move along the axis [%g, %g, %g]", ends->b.node, axis[0],
                        axis[1], axis[2]);
    s->nacross = ends->ntranslation - 1;
    if (s->nacross == 2) pcs_joint_frame(axis, s->across[0], s->across[1]);
    if (s->nacross != 1) return PCS_OK;
    pcs_cross(ends->translation[0], ends->translation[1], normal);
    pcs_cross(normal, axis, s->across[0]);
    return PCS_OK;
}

static pcs_status slider_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                pcs_joint_shape *shape)
{
    const slider_params *p = params;
    slider *s;
    PCS_TAKE(ctx, s, 1, "a joint");
    PCS_TRY(pcs_ends_create(ctx, &p->ends, map, &s->ends));
    const pcs_joint_ends *ends = &s->ends;
    (void)pcs_normalize3(p->axis, s->axis);
    PCS_TRY(slider_find_across(ctx, s, s->axis));
    s->rides = ends->a.node >= 0 && ends->a.turning >= PCS_TURNS_FLAT;
    bool is_free = ends->nrotation > 0 && (ends->a.turning == PCS_TURNS_FREE || ends->b.turning == PCS_TURNS_FREE);
    *instance = s;
    *shape = (pcs_joint_shape){ .nrow = s->nacross + ends->nrotation, .has_lines = s->rides };
    shape->is_constant = !s->rides && !is_free && pcs_end_is_straight(&ends->a) && pcs_end_is_straight(&ends->b);
    if (shape->nrow == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d only moves along the axis: there is nothing to hold",
                        ends->b.node);
    if (s->rides) pcs_ends_shape(ends, shape);
    else
        for (int i = 0; i < s->nacross; i++) pcs_joint_mark(s->across[i], shape->has_force);
    for (int i = 0; i < ends->nrotation; i++) pcs_joint_mark(ends->rotation[i], shape->has_moment);
    return PCS_OK;
}

static void slider_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const slider *s = instance;
    pcs_end_now a, b;
    pcs_end_find(&s->ends.a, places, &a);
    pcs_end_find(&s->ends.b, places, &b);
    for (int i = 0; i < s->nacross; i++) {
        pcs_rider d = s->rides ? pcs_rider_on(&a, s->across[i]) : pcs_rider_fixed(s->across[i]);
        pcs_row_translation(&a, &b, &d, rows++);
    }
    if (s->ends.nrotation > 0) (void)pcs_ends_lock(&s->ends, &a, &b, rows);
}

static bool slider_show(const void *instance, int part, pcs_obstacle *out)
{
    const slider *s = instance;
    if (part > 0) return pcs_ends_show_arms(&s->ends.a, &s->ends.b, part - 1, out);
    pcs_end_show(&s->ends.b, PCS_OBSTACLE_BORE, s->axis, out);
    return true;
}

const pcs_joint_ops pcs_joint_slider = {
    .name = "slider",
    .summary = "a point slides along a straight line, the ends do not turn against each other",
    .options = slider_options,
    .params_size = sizeof(slider_params),
    .set_options = pcs_ends_sets,
    .check = slider_check,
    .create = slider_create,
    .evaluate = slider_evaluate,
    .show = slider_show,
};
