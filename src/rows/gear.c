// Gear: two wheels on a carrier turn by the ratio of their teeth, which a hinge each holds on it.
//
//   g = (z_b phi_b + z_a phi_a) / max(z_a, z_b),  phi the angles against the carrier;
//   internal gears: z_b phi_b - z_a phi_a
//
// Angles in space are known up to whole turns; z_a, z_b are whole and have no common divisor, so the numerator is, too:
// the nearest of its zeros is taken. The wheels exert moments about their axes on each other, and the carrier what is
// left. Where the point P in which their pitch circles touch is given, the row is
//
//   g = r_b phi_b + (r_a z_a/|z_a|) phi_a + t . (f_b - c_b) - t . (f_a - c_a),   r the distances of P from the axes,
//
// t the direction of the teeth, f the feet of P on the axes, which are fixed to the wheels, and c the same points on
// the carrier, which hinges hold together. A unit multiplier is then a force t at P on b and -t on a, and nothing on
// the carrier.
//
// With a pressure angle the force is along the line of action, cos(angle) t +- sin(angle) n on b, n across t and the
// line along which the pitch surfaces touch, from a to b (from the centre of a ring outwards). The sign is that of the
// flank that carries: it makes the part along n push the wheels apart. The row is then
//
//   cos(angle) g +- sin(angle) (d_b - d_a),   d = n . (f - c) + turn . (r x n),
//
// turn that of a wheel against the carrier and r from f to P: how far the wheel has moved at P along n. It does not
// vanish where shafts yield.

#include "rows/ends.h"

#include <math.h>
#include <string.h>

enum { GEAR_MOST_TEETH = 1000000 };

typedef struct gear_params {
    const char *a, *b, *carrier;
    double axis_a[3], axis_b[3], at[3], pressure_angle;
    int teeth_a, teeth_b, flank;
    bool is_internal;
} gear_params;

typedef struct gear_wheel {
    pcs_joint_end end;
    pcs_joint_angle angle;
    double teeth; // number of teeth over the common divisor, with the sign of the angle in the row
} gear_wheel;

// Holds the foot of the pitch point on the axis of a wheel, as a point of the wheel and of the carrier.
typedef struct gear_foot {
    pcs_joint_end wheel, carrier;
    double rate[3];   // velocity of the pitch point at unit angular velocity of the wheel, m
    double radial[3]; // r, from the axis to the pitch point, m
    double lever;     // component of n along the axis, which tilts the wheel
} gear_foot;

typedef struct gear {
    gear_wheel a, b;
    pcs_joint_end carrier;
    double most; // larger of both numbers of teeth
    // Data of the pitch point:
    bool has_point, rides;       // the point is given; t rotates with the carrier
    double direction[3], radius; // unit vector t of the pitch line; pitch radius of b, m
    double across[3];            // n, unit vector across the pitch line
    double cosine, sine;         // of the pressure angle, with the sign of the flank
    pcs_joint_end pitch;         // pitch point on the carrier
    gear_foot foot_a, foot_b;
} gear;

static const double pitch_error = 1e-6; // relative tolerance of radii and directions
static const double wheel_width = 0.2;  // width of a wheel in pictures, in radii
static const double least_angle = 5.0;  // degrees: smaller angles of flanks were probably meant in radians
static const char *const gear_flanks[] = { "forward", "backward", NULL };

static const pcs_option gear_options[] = {
    PCS_TEXT("a", gear_params, a, PCS_REQUIRED, "node of the first wheel"),
    PCS_TEXT("b", gear_params, b, PCS_REQUIRED, "node of the second wheel; reactions are those on it"),
    PCS_TEXT("carrier", gear_params, carrier, PCS_OPTIONAL,
             "node on which hinges hold both wheels and relative to which they rotate; by default the ground"),
    PCS_VECTOR("axis_a", gear_params, axis_a, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "about which a rotates, in the reference state, any length; needed in space"),
    PCS_VECTOR("axis_b", gear_params, axis_b, PCS_OPTIONAL, PCS_ANY_NUMBER, "about which b rotates; by default axis_a"),
    PCS_COUNT("teeth_a", gear_params, teeth_a, PCS_REQUIRED, PCS_WITHIN(1, GEAR_MOST_TEETH), "teeth of a"),
    PCS_COUNT("teeth_b", gear_params, teeth_b, PCS_REQUIRED, PCS_WITHIN(1, GEAR_MOST_TEETH),
              "teeth of b, which rotates teeth_a/teeth_b times as fast as a"),
    PCS_VECTOR("at", gear_params, at, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "point where the pitch circles touch in the reference state, m: the force of the teeth acts there; "
               "without it wheels exchange moments only"),
    PCS_REAL("pressure_angle", gear_params, pressure_angle, PCS_DEFAULT("0"), PCS_WITHIN(0.0, 45.0),
             "of the teeth, degrees, usually 20: their force also pushes the shafts apart; 0: it is tangential"),
    PCS_CHOICE("flank", gear_params, flank, PCS_DEFAULT("forward"), gear_flanks,
               "loaded flank of teeth with a pressure angle: a pushes b in the sense of axis_b, or against it"),
    PCS_FLAG("internal", gear_params, is_internal, PCS_DEFAULT("false"),
             "the wheels rotate in the same sense, as in a ring gear or by a belt; else in opposite ones"),
    { 0 },
};

static const pcs_source_set gear_sets[] = { { .option = "a", .is_single = true },
                                            { .option = "b", .is_single = true },
                                            { .option = "carrier", .is_single = true },
                                            { 0 } };

static const char *gear_check(const void *params, const char **option)
{
    const gear_params *p = params;
    double unit[3];
    *option = "axis_a";
    if (pcs_axis_given(p->axis_a) && !pcs_normalize3(p->axis_a, unit)) return "the axis has no direction";
    *option = "axis_b";
    if (pcs_axis_given(p->axis_b) && !pcs_normalize3(p->axis_b, unit)) return "the axis has no direction";
    *option = "pressure_angle";
    if (p->pressure_angle > 0.0 && p->pressure_angle < least_angle) return "'pressure_angle' is in degrees, 5 at least";
    if (p->pressure_angle > 0.0 && !pcs_axis_given(p->at)) return "'pressure_angle' needs 'at', where the teeth touch";
    *option = "flank";
    return p->flank > 0 && p->pressure_angle == 0.0 ? "'flank' is of teeth with a 'pressure_angle'" : NULL;
}

static int gear_common_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Finds the axis of a wheel: the one given, or in the plane the only one possible.
static pcs_status gear_find_axis(pcs_context *ctx, const pcs_dofmap *map, const double given[3], int node,
                                 double axis[3])
{
    int count = 0;
    double along = 0.0;
    const double *only = NULL;
    if (pcs_axis_given(given)) (void)pcs_normalize3(given, axis);
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        const pcs_dof *d = &map->dof[i];
        if (!d->is_rotation) continue;
        only = d->direction;
        count++;
        if (pcs_axis_given(given)) along += pcs_dot3(axis, only) * pcs_dot3(axis, only);
    }
    if (count == 0) return pcs_fail(ctx, PCS_BAD_INPUT, "node %d has no rotation, so it cannot be a wheel", node);
    if (!pcs_axis_given(given) && count > 1)
        return pcs_fail(ctx, PCS_BAD_INPUT, "missing key 'axis_a': node %d rotates in space", node);
    if (!pcs_axis_given(given)) memcpy(axis, only, 3 * sizeof *axis);
    else if (fabs(along - 1.0) > 1e-9)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d cannot rotate about [%g, %g, %g]", node, axis[0], axis[1],
                        axis[2]);
    return PCS_OK;
}

static pcs_status gear_make_wheel(pcs_context *ctx, const pcs_dofmap *map, const double given[3], const gear *g,
                                  gear_wheel *wheel)
{
    double axis[3] = { 0 }, unused[3] = { 0 };
    PCS_TRY(gear_find_axis(ctx, map, given, wheel->end.node, axis));
    if (g->carrier.node >= 0) PCS_TRY(gear_find_axis(ctx, map, axis, g->carrier.node, unused));
    pcs_angle_create(&g->carrier, &wheel->end, axis, &wheel->angle);
    return PCS_OK;
}

static pcs_status gear_resolve(pcs_context *ctx, const gear_params *p, const pcs_dofmap *map, gear *g)
{
    const char *const names[] = { p->a, p->b, p->carrier };
    pcs_joint_end *ends[] = { &g->a.end, &g->b.end, &g->carrier };
    const double origin[3] = { 0 };
    int node[3] = { -1, -1, -1 };
    for (int i = 0; i < 3; i++) {
        if (names[i] != NULL) PCS_TRY(pcs_ends_single(ctx, map, names[i], &node[i]));
        PCS_TRY(pcs_end_resolve(ctx, map, node[i], node[i] < 0 ? origin : map->mesh->x[node[i]], ends[i]));
        for (int j = 0; j < i; j++)
            if (node[i] == node[j])
                return pcs_fail(ctx, PCS_BAD_INPUT,
                                "node %d is named twice: the two wheels and their carrier must be three nodes",
                                node[i]);
    }
    return PCS_OK;
}

// Finds the foot of the pitch point on the axis of a wheel.
static pcs_status gear_find_foot(pcs_context *ctx, const pcs_dofmap *map, const gear *g, const gear_wheel *wheel,
                                 const double at[3], gear_foot *out)
{
    const double *x = map->mesh->x[wheel->end.node];
    double arm[3], foot[3];
    for (int k = 0; k < 3; k++) arm[k] = at[k] - x[k];
    double along = pcs_dot3(arm, wheel->angle.axis);
    for (int k = 0; k < 3; k++) {
        foot[k] = x[k] + along * wheel->angle.axis[k];
        out->radial[k] = at[k] - foot[k];
    }
    pcs_cross(wheel->angle.axis, arm, out->rate);
    PCS_TRY(pcs_end_resolve(ctx, map, wheel->end.node, foot, &out->wheel));
    return pcs_end_resolve(ctx, map, g->carrier.node, foot, &out->carrier);
}

// Fails unless the pitch velocities of both wheels agree at the point, by the ratio of their numbers of teeth.
static pcs_status gear_find_pitch(pcs_context *ctx, const pcs_dofmap *map, const double at[3], gear *g)
{
    double miss[3];
    const double *rate_a = g->foot_a.rate, *rate_b = g->foot_b.rate;
    PCS_TRY(gear_find_foot(ctx, map, g, &g->a, at, &g->foot_a));
    PCS_TRY(gear_find_foot(ctx, map, g, &g->b, at, &g->foot_b));
    PCS_TRY(pcs_end_resolve(ctx, map, g->carrier.node, at, &g->pitch));
    double radius_a = pcs_norm3(rate_a), size = g->b.teeth * radius_a;
    g->radius = pcs_norm3(rate_b);
    for (int k = 0; k < 3; k++) miss[k] = g->a.teeth * rate_b[k] + g->b.teeth * rate_a[k];
    if (!(g->radius > 0.0) || pcs_norm3(miss) > pitch_error * size)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "the teeth do not mesh at [%g, %g, %g]: it is %g m from the axis of a and %g m from that of b, "
                        "which must be as %g to %g, with the teeth of both moving alike there (between the axes, "
                        "or with 'internal' beyond the axis of the smaller wheel)",
                        at[0], at[1], at[2], radius_a, g->radius, fabs(g->a.teeth), g->b.teeth);
    (void)pcs_normalize3(rate_b, g->direction);
    g->has_point = true;
    g->rides = g->carrier.node >= 0 && g->carrier.rotates >= PCS_ROTATES_IN_PLANE;
    return PCS_OK;
}

// Finds n, perpendicular to t and to the axis of relative rotation, which both pitch surfaces share; it points into a
// wheel with external teeth.
static pcs_status gear_find_line(pcs_context *ctx, const gear_params *p, gear *g)
{
    const double *a = g->a.angle.axis, *b = g->b.angle.axis, sense = p->flank == 0 ? 1.0 : -1.0;
    double line[3], raw[3], angle = p->pressure_angle * pcs_whole_turn / 360.0;
    g->cosine = cos(angle);
    g->sine = sense * sin(angle);
    for (int k = 0; k < 3; k++) line[k] = g->a.teeth * b[k] + g->b.teeth * a[k];
    pcs_cross(g->direction, line, raw);
    if (!pcs_normalize3(raw, g->across))
        return pcs_fail(ctx, PCS_BAD_INPUT, "both wheels rotate alike, so their teeth have no line of contact");
    double side_a = pcs_dot3(g->across, g->foot_a.radial), side_b = pcs_dot3(g->across, g->foot_b.radial);
    bool is_ring = side_a * side_b > 0.0 && pcs_norm3(g->foot_b.radial) > pcs_norm3(g->foot_a.radial);
    double sign = (is_ring ? side_a : -side_b) < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) g->across[k] *= sign;
    g->foot_a.lever = pcs_dot3(g->across, a);
    g->foot_b.lever = pcs_dot3(g->across, b);
    return PCS_OK;
}

// Describes the row without a pitch point: a moment about the axis of b, which may rotate with the carrier.
static void gear_shape_of_angles(const gear *g, pcs_source_shape *shape)
{
    *shape = (pcs_source_shape){ .nrow = 1, .is_constant = g->a.angle.adds_up && g->b.angle.adds_up };
    pcs_joint_mark(g->b.angle.axis, shape->has_moment);
    if (g->carrier.rotates == PCS_ROTATES_FINITELY)
        for (int k = 0; k < 3; k++) shape->has_moment[k] = true;
}

// Describes the row with a pitch point: a force, which may rotate with the carrier, and no moment about the point.
static void gear_shape_of_teeth(const pcs_dofmap *map, const gear *g, pcs_source_shape *shape)
{
    const pcs_joint_end *ends[] = { &g->foot_a.wheel, &g->foot_a.carrier, &g->foot_b.wheel, &g->foot_b.carrier };
    *shape = (pcs_source_shape){ .nrow = 1, .has_lines = g->rides };
    shape->is_constant = g->a.angle.adds_up && g->b.angle.adds_up && !g->rides;
    for (int i = 0; i < 4; i++) shape->is_constant = shape->is_constant && pcs_end_is_straight(ends[i]);
    double force[3];
    for (int k = 0; k < 3; k++) force[k] = g->cosine * g->direction[k] + g->sine * g->across[k];
    pcs_joint_mark(force, shape->has_force);
    shape->has_teeth = true;
    shape->teeth[0] = g->cosine;
    shape->teeth[1] = g->sine;
    if (!g->rides) return;
    for (int i = map->first[g->b.end.node]; i < map->first[g->b.end.node + 1]; i++)
        if (!map->dof[i].is_rotation) pcs_joint_mark(map->dof[i].direction, shape->has_force);
}

static pcs_status gear_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_source_shape *shape)
{
    const gear_params *p = params;
    gear *g;
    PCS_TAKE(ctx, g, 1, "a joint");
    PCS_TRY(gear_resolve(ctx, p, map, g));
    PCS_TRY(gear_make_wheel(ctx, map, p->axis_a, g, &g->a));
    PCS_TRY(gear_make_wheel(ctx, map, pcs_axis_given(p->axis_b) ? p->axis_b : p->axis_a, g, &g->b));
    int common = gear_common_divisor(p->teeth_a, p->teeth_b);
    g->a.teeth = p->is_internal ? -(double)(p->teeth_a / common) : (double)(p->teeth_a / common);
    g->b.teeth = p->teeth_b / common;
    g->most = fmax(fabs(g->a.teeth), g->b.teeth);
    *instance = g;
    if (pcs_axis_given(p->at)) {
        PCS_TRY(gear_find_pitch(ctx, map, p->at, g));
        PCS_TRY(gear_find_line(ctx, p, g));
    }
    if (g->has_point) gear_shape_of_teeth(map, g, shape);
    else gear_shape_of_angles(g, shape);
    return PCS_OK;
}

// Finds the displacement of a wheel relative to the carrier at the pitch point, along t without its angle, and along n.
static void gear_part(const gear *g, const gear_foot *foot, const gear_wheel *wheel, const pcs_places *places,
                      const pcs_rider line[2], pcs_row_state part[2])
{
    pcs_end_now on, off;
    pcs_end_find(&foot->carrier, places, &off);
    pcs_end_find(&foot->wheel, places, &on);
    part[0] = part[1] = (pcs_row_state){ 0 };
    pcs_row_translation(&off, &on, &line[0], &part[0]);
    if (g->sine == 0.0) return;
    pcs_row_translation(&off, &on, &line[1], &part[1]);
    if (fabs(foot->lever) <= pitch_error) return; // the axes are parallel
    pcs_row_state tilt = { 0 };
    if (wheel->angle.adds_up) {
        double about[3];
        pcs_cross(foot->radial, g->across, about);
        pcs_row_angle(&off, &on, about, &tilt);
        pcs_row_add(&part[1], 1.0, &tilt);
        return;
    }
    pcs_rider u = pcs_rider_on(&off, foot->radial), w = pcs_rider_on(&on, wheel->angle.axis);
    pcs_row_cross(&off, &on, &u, &w, &tilt);
    pcs_row_add(&part[1], -foot->lever, &tilt);
}

// Replaces the row of the angles by the row of the teeth.
static void gear_push(const gear *g, const pcs_places *places, pcs_row_state *row)
{
    pcs_row_state angles = *row, part[2];
    pcs_end_now pitch;
    pcs_end_find(&g->pitch, places, &pitch);
    const pcs_rider line[2] = { g->rides ? pcs_rider_on(&pitch, g->direction) : pcs_rider_fixed(g->direction),
                                g->rides ? pcs_rider_on(&pitch, g->across) : pcs_rider_fixed(g->across) };
    *row = (pcs_row_state){ 0 };
    pcs_row_add(row, g->cosine * g->radius * g->most / g->b.teeth, &angles);
    for (int i = 0; i < 2; i++) {
        double sign = i == 0 ? 1.0 : -1.0;
        gear_part(g, i == 0 ? &g->foot_b : &g->foot_a, i == 0 ? &g->b : &g->a, places, line, part);
        pcs_row_add(row, sign * g->cosine, &part[0]);
        if (g->sine != 0.0) pcs_row_add(row, sign * g->sine, &part[1]);
    }
    memset(row->couple, 0, sizeof row->couple);
    memcpy(row->point, pitch.point, sizeof row->point);
    for (int k = 0; k < 3; k++) row->normal[k] = g->cosine * line[0].now[k] + g->sine * line[1].now[k];
}

static void gear_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const gear *g = instance;
    pcs_end_now a, b, carrier;
    pcs_row_state rotation_a = { 0 }, rotation_b = { 0 };
    pcs_end_find(&g->a.end, places, &a);
    pcs_end_find(&g->b.end, places, &b);
    pcs_end_find(&g->carrier, places, &carrier);
    pcs_row_rotation(&carrier, &a, &g->a.angle, &rotation_a);
    pcs_row_rotation(&carrier, &b, &g->b.angle, &rotation_b);
    memset(rotation_a.couple, 0, sizeof rotation_a.couple); // reactions are those on b
    pcs_row_add(rows, g->b.teeth / g->most, &rotation_b);
    pcs_row_add(rows, g->a.teeth / g->most, &rotation_a);
    memcpy(rows->point, b.point, sizeof rows->point);
    if (!g->a.angle.adds_up || !g->b.angle.adds_up)
        rows->gap = remainder(g->b.teeth * rotation_b.gap + g->a.teeth * rotation_a.gap, pcs_whole_turn) / g->most;
    if (g->has_point) gear_push(g, places, rows);
}

static bool gear_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const gear *g = instance;
    const gear_wheel *wheel = part == 0 ? &g->a : &g->b;
    double radius = part == 0 ? g->radius * fabs(g->a.teeth) / g->b.teeth : g->radius;
    bool is_ring = g->a.teeth < 0.0 && fabs(wheel->teeth) == g->most;
    pcs_end_show(&wheel->end, is_ring ? PCS_OBSTACLE_BORE : PCS_OBSTACLE_CYLINDER, wheel->angle.axis, out);
    if (g->has_point) out->radius = radius;
    if (g->has_point) out->length = wheel_width * radius;
    return part < 2;
}

const pcs_source_ops pcs_joint_gear = {
    .name = "gear",
    .summary = "two wheels rotate by the ratio of their teeth, against the ground or a carrier",
    .options = gear_options,
    .params_size = sizeof(gear_params),
    .sets = gear_sets,
    .check = gear_check,
    .create = gear_create,
    .evaluate = gear_evaluate,
    .show = gear_show,
};
