// Joints of two ends that hold some of their relative motions.
//
//   points     g = d . (p_b - p_a),  d fixed in space, or to a
//   rotations  g = n . (rot_b - rot_a) where they add up, else u . w, u fixed to a and w to b: no turn about u x w
//   thread     g = s - (P / 2 pi) phi,  s = d . (p_b - p_a), d the axis on a, P the pitch, phi the angle of b against a
//
//   ball         all points                     fixed  all points and rotations: a weld
//   hinge        all points and, in space, the two rotations across the axis; in the plane a pin about its normal
//   slider       the points across the axis, all rotations. Ends that turn little leave the line where it is, which
//                keeps the rows linear; nodes that do not turn at all are guided by the points alone
//   cylindrical  points and rotations across the axis
//   screw        the same and the thread. The angle in space is known up to whole turns only; a screw takes the turn of
//                the thread that s is in:  g = -(P / 2 pi) r,  r = phi - 2 pi s / P less the nearest whole turns
//   universal    all points, and the axes of a cross on a and on b stay perpendicular: a shaft that turns by alpha
//                drives another, bent by beta, to tan(gamma) = cos(beta) tan(alpha) or the inverse
//   rigid_link   as fixed, of every node of a set to one node, as if by a massless rigid body

#include "rows/ends.h"

#include <math.h>
#include <string.h>

static const double skew_allowed = 1e-9; // rad, tolerance of the axes of a cross

typedef struct pair_params {
    pcs_ends_params ends;
    double axis[3], axis_b[3], pitch; // the first one is also axis_a
} pair_params;

typedef enum pair_kind { PAIR_POINTS, PAIR_ROTATIONS, PAIR_THREAD } pair_kind;

typedef struct pair_row {
    pair_kind kind;
    double along[3];         // d, or n
    double on_a[3], on_b[3]; // u and w
} pair_row;

typedef struct pair {
    pcs_joint_ends ends;
    bool adds_up; // rotations add up
    bool rides;   // directions of points rotate with a
    int nrow;
    pair_row rows[6];
    double pitch; // m per turn
    pcs_joint_angle angle;
    pcs_obstacle_kind symbol; // symbol at b, and with `symbol_a` at a
    double axis_a[3], axis_b[3];
    bool symbol_a;
} pair;

#define PAIR_AXIS(name, member, status, help) PCS_VECTOR(name, pair_params, member, status, PCS_ANY_NUMBER, help)
#define PAIR_SLIDING_AXIS                 \
    PAIR_AXIS("axis", axis, PCS_REQUIRED, \
              "along which b slides and about which it rotates, in the reference state; any length")

static const pcs_option point_options[] = { PCS_ENDS_OPTIONS(pair_params), { 0 } };

static const pcs_option hinge_options[] = {
    PCS_ENDS_OPTIONS(pair_params),
    PAIR_AXIS("axis", axis, PCS_OPTIONAL, "about which it rotates, any length; needed in space"),
    { 0 },
};

static const pcs_option slider_options[] = {
    PCS_ENDS_OPTIONS(pair_params),
    PAIR_AXIS("axis", axis, PCS_REQUIRED, "along which b slides, in the reference state; any length"),
    { 0 },
};

static const pcs_option cylindrical_options[] = { PCS_ENDS_OPTIONS(pair_params), PAIR_SLIDING_AXIS, { 0 } };

static const pcs_option screw_options[] = {
    PCS_ENDS_OPTIONS(pair_params),
    PAIR_SLIDING_AXIS,
    PCS_REAL("pitch", pair_params, pitch, PCS_REQUIRED, PCS_ANY_NUMBER,
             "displacement of b along the axis per revolution, m; negative: left-handed thread"),
    { 0 },
};

static const pcs_option universal_options[] = {
    PCS_ENDS_OPTIONS(pair_params),
    PAIR_AXIS("axis_a", axis, PCS_REQUIRED,
              "arm of the cross that rotates in a, or in the ground; any length, across the shaft"),
    PAIR_AXIS("axis_b", axis_b, PCS_REQUIRED, "arm of the cross that rotates in b, perpendicular to axis_a"),
    { 0 },
};

// Resolves the ends and the directions along and about which they move. Fails unless both ends have the same.
static pcs_status ends_create(pcs_context *ctx, const pcs_ends_params *params, const pcs_dofmap *map,
                              pcs_joint_ends *out)
{
    int a = -1, b = -1;
    PCS_TRY(pcs_ends_single(ctx, map, params->node != NULL ? params->node : params->b, &b));
    if (params->node == NULL) PCS_TRY(pcs_ends_single(ctx, map, params->a, &a));
    return pcs_ends_resolve(ctx, map, a, b, isnan(params->at[0]) ? map->mesh->x[b] : params->at, out);
}

// Fails unless both ends move along and rotate about all three directions; the message names the node.
static pcs_status ends_demand_space(pcs_context *ctx, const pcs_joint_ends *ends)
{
    if (ends->ntranslation == 3 && ends->nrotation == 3) return PCS_OK;
    bool is_plane = ends->b.rotates == PCS_ROTATES_IN_PLANE || ends->ntranslation < 3;
    int node = ends->b.node;
    if (!is_plane && ends->b.rotates != PCS_ROTATES_NOT) node = ends->a.node;
    return pcs_fail(ctx, PCS_BAD_INPUT, "node %d %s; this joint needs nodes that move and rotate in space", node,
                    is_plane ? "moves in a plane or along a line" : "has no rotation");
}

// Fills `*out` with arm 0 or 1 from a node to the point of the joint, counting those of nonzero length; false if none.
static bool ends_show_arms(const pcs_joint_end *a, const pcs_joint_end *b, int part, pcs_obstacle *out)
{
    const pcs_joint_end *ends[] = { a, b };
    for (int i = 0; i < 2; i++) {
        if (ends[i]->node < 0 || pcs_norm3(ends[i]->arm) == 0.0 || part-- > 0) continue;
        out->kind = PCS_OBSTACLE_ROD;
        out->host = out->end_node = ends[i]->node;
        memcpy(out->end, ends[i]->arm, sizeof out->end);
        return true;
    }
    return false;
}

static const char *point_check(const void *params, const char **option)
{
    return pcs_ends_check(&((const pair_params *)params)->ends, option);
}

// Checks the axis, too, unless it is not given.
static const char *axis_check(const void *params, const char **option)
{
    const pair_params *p = params;
    double unit[3];
    const char *fault = point_check(params, option);
    if (fault != NULL || isnan(p->axis[0])) return fault;
    *option = "axis";
    return pcs_normalize3(p->axis, unit) ? NULL : "the axis has no direction";
}

static const char *screw_check(const void *params, const char **option)
{
    const char *fault = axis_check(params, option);
    if (fault != NULL) return fault;
    *option = "pitch";
    return ((const pair_params *)params)->pitch == 0.0 ? "a screw without pitch is a 'hinge'" : NULL;
}

static const char *universal_check(const void *params, const char **option)
{
    const pair_params *p = params;
    double a[3], b[3];
    const char *fault = point_check(params, option);
    if (fault != NULL) return fault;
    *option = "axis_a";
    if (!pcs_normalize3(p->axis, a)) return "the axis has no direction";
    *option = "axis_b";
    if (!pcs_normalize3(p->axis_b, b)) return "the axis has no direction";
    return fabs(pcs_dot3(a, b)) > skew_allowed ? "the axes of a cross are perpendicular: 'axis_a', 'axis_b'" : NULL;
}

static void pair_add(pair *x, pair_kind kind, const double along[3], const double on_a[3], const double on_b[3])
{
    pair_row *row = &x->rows[x->nrow++];
    row->kind = kind;
    memcpy(row->along, along, sizeof row->along);
    memcpy(row->on_a, on_a, sizeof row->on_a);
    memcpy(row->on_b, on_b, sizeof row->on_b);
}

// Begins a pair of known ends, with rows for all points if they are held.
static void pair_begin(pair *x, bool holds_points)
{
    const pcs_joint_ends *ends = &x->ends;
    x->adds_up = ends->a.rotates != PCS_ROTATES_FINITELY && ends->b.rotates != PCS_ROTATES_FINITELY;
    for (int i = 0; i < (holds_points ? ends->ntranslation : 0); i++) {
        const double *d = ends->translation[i];
        pair_add(x, PAIR_POINTS, d, d, d);
    }
}

// Makes a pair that is drawn by a symbol along `axis`, with rows for all points if they are held.
static pcs_status pair_make(pcs_context *ctx, const pair_params *p, const pcs_dofmap *map, bool holds_points,
                            pair **out)
{
    PCS_TAKE(ctx, *out, 1, "a joint");
    PCS_TRY(ends_create(ctx, &p->ends, map, &(*out)->ends));
    pair_begin(*out, holds_points);
    return PCS_OK;
}

// Adds the rows that prevent relative rotations about all directions.
static void pair_lock(pair *x)
{
    for (int i = 0; i < x->ends.nrotation; i++) {
        double(*d)[3] = x->ends.rotation;
        pair_add(x, PAIR_ROTATIONS, d[i], d[(i + 2) % 3], d[(i + 1) % 3]);
    }
}

// States the shape of a pair from its rows.
static void pair_shape(const pair *x, pcs_source_shape *shape)
{
    *shape = (pcs_source_shape){ .nrow = x->nrow, .has_lines = x->rides };
    shape->is_constant = !x->rides && pcs_end_is_straight(&x->ends.a) && pcs_end_is_straight(&x->ends.b);
    for (int i = 0; i < x->nrow; i++) {
        const pair_row *row = &x->rows[i];
        if (row->kind != PAIR_ROTATIONS) pcs_joint_mark(row->along, shape->has_force);
        if (row->kind != PAIR_POINTS) pcs_joint_mark(row->along, shape->has_moment);
        if (row->kind != PAIR_POINTS && !x->adds_up) shape->is_constant = false;
    }
}

static void pair_finish(pair *x, void **instance, pcs_source_shape *shape)
{
    *instance = x;
    pair_shape(x, shape);
}

// Returns the node that does not rotate, of the two.
static int pair_still_node(const pair *x)
{
    return x->ends.b.rotates == PCS_ROTATES_NOT ? x->ends.b.node : x->ends.a.node;
}

static const double same_place = 1e-9; // relative to the size of the model

// Fails unless the two nodes of a joint have the same reference position, or `at` gives the point where rigid arms from
// both nodes meet.
static pcs_status ends_meet(pcs_context *ctx, const pcs_ends_params *params, const pcs_dofmap *map)
{
    const pcs_mesh *mesh = map->mesh;
    int a = -1, b = -1;
    if (params->node != NULL || !isnan(params->at[0])) return PCS_OK;
    PCS_TRY(pcs_ends_single(ctx, map, params->a, &a));
    PCS_TRY(pcs_ends_single(ctx, map, params->b, &b));
    const double *xa = mesh->x[a], *xb = mesh->x[b];
    double apart[3], low[3], high[3], size = 0.0;
    pcs_mesh_box(mesh, low, high);
    for (int k = 0; k < 3; k++) {
        apart[k] = xb[k] - xa[k];
        size = fmax(size, fmax(high[k] - low[k], fmax(fabs(low[k]), fabs(high[k]))));
    }
    if (pcs_norm3(apart) <= same_place * size) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "its ends are %g m apart: node %d at [%g, %g, %g] and node %d at [%g, %g, %g]; where rigid arms "
                    "reach from them to one point, give that point as 'at'",
                    pcs_norm3(apart), a, xa[0], xa[1], xa[2], b, xb[0], xb[1], xb[2]);
}

static pcs_status ball_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                              pcs_source_shape *shape)
{
    const pair_params *p = params;
    pair *x;
    PCS_TRY(pair_make(ctx, p, map, true, &x));
    x->symbol = PCS_OBSTACLE_BALL;
    pair_finish(x, instance, shape);
    return ends_meet(ctx, &p->ends, map);
}

static pcs_status fixed_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_source_shape *shape)
{
    const pair_params *p = params;
    pair *x;
    PCS_TRY(pair_make(ctx, p, map, true, &x));
    if (x->ends.nrotation == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d has no rotation that could be held; to hold its position use 'ball'",
                        pair_still_node(x));
    x->symbol = PCS_OBSTACLE_BALL;
    pair_lock(x);
    pair_finish(x, instance, shape);
    return ends_meet(ctx, &p->ends, map);
}

// Fails if the ends cannot rotate about the hinge, or if in the plane an axis is given that is not its normal, which
// becomes the axis.
static pcs_status hinge_check_flat(pcs_context *ctx, const pair_params *p, pair *x)
{
    double normal[3] = { 0.0, 0.0, 1.0 };
    double(*d)[3] = x->ends.translation;
    if (x->ends.ntranslation == 3)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d moves in space, but has no rotation, so a hinge has no axis there: use 'ball'",
                        pair_still_node(x));
    if (x->ends.ntranslation == 2) pcs_cross(d[0], d[1], normal);
    bool is_across = x->ends.ntranslation == 2 && fabs(pcs_dot3(normal, x->axis_b)) < 1.0 - 1e-9;
    memcpy(x->axis_b, normal, sizeof normal);
    if (isnan(p->axis[0]) || !is_across) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "node %d moves in a plane: a hinge rotates only about its normal [%g, %g, %g]",
                    x->ends.b.node, normal[0], normal[1], normal[2]);
}

static pcs_status hinge_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_source_shape *shape)
{
    const pair_params *p = params;
    pair *x;
    PCS_TRY(pair_make(ctx, p, map, true, &x));
    bool is_space = x->ends.nrotation == 3;
    x->symbol = PCS_OBSTACLE_CYLINDER;
    if (!isnan(p->axis[0])) (void)pcs_normalize3(p->axis, x->axis_b);
    if (!is_space) PCS_TRY(hinge_check_flat(ctx, p, x));
    if (is_space && isnan(p->axis[0]))
        return pcs_fail(ctx, PCS_BAD_INPUT, "missing key 'axis': node %d rotates in space", x->ends.b.node);
    double across[2][3];
    pcs_joint_frame(x->axis_b, across[0], across[1]);
    for (int i = 0; i < (is_space ? 2 : 0); i++) pair_add(x, PAIR_ROTATIONS, across[i], across[i], x->axis_b);
    pair_finish(x, instance, shape);
    for (int k = 0; k < 3; k++) // the axis rotates with a
        shape->has_moment[k] = shape->has_moment[k] || (is_space && !x->adds_up && x->ends.a.node >= 0);
    return ends_meet(ctx, &p->ends, map);
}

static pcs_status slider_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                pcs_source_shape *shape)
{
    pair *x;
    PCS_TRY(pair_make(ctx, params, map, false, &x));
    const pcs_joint_ends *ends = &x->ends;
    double inside = 0.0, normal[3], across[2][3], *axis = x->axis_b;
    (void)pcs_normalize3(((const pair_params *)params)->axis, axis);
    for (int i = 0; i < ends->ntranslation; i++) {
        double part = pcs_dot3(ends->translation[i], axis);
        inside += part * part;
    }
    if (fabs(inside - 1.0) > 1e-9)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d cannot move along the axis [%g, %g, %g]", ends->b.node, axis[0],
                        axis[1], axis[2]);
    if (ends->ntranslation == 3) pcs_joint_frame(axis, across[0], across[1]);
    if (ends->ntranslation == 2) {
        pcs_cross(ends->translation[0], ends->translation[1], normal);
        pcs_cross(normal, axis, across[0]);
    }
    x->symbol = PCS_OBSTACLE_BORE;
    x->rides = ends->a.node >= 0 && ends->a.rotates >= PCS_ROTATES_IN_PLANE;
    for (int i = 0; i < ends->ntranslation - 1; i++) pair_add(x, PAIR_POINTS, across[i], across[i], across[i]);
    pair_lock(x);
    pair_finish(x, instance, shape);
    for (int i = 0; i < (x->rides ? ends->ntranslation : 0); i++)
        pcs_joint_mark(ends->translation[i], shape->has_force);
    return shape->nrow > 0 ? PCS_OK
                           : pcs_fail(ctx, PCS_BAD_INPUT, "node %d only moves along the axis: there is nothing to hold",
                                      ends->b.node);
}

static pcs_status cylindrical_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                     pcs_source_shape *shape)
{
    pair *x;
    PCS_TRY(pair_make(ctx, params, map, false, &x));
    const pcs_joint_ends *ends = &x->ends;
    PCS_TRY(ends_demand_space(ctx, ends));
    (void)pcs_normalize3(((const pair_params *)params)->axis, x->axis_b);
    pcs_angle_create(&ends->a, &ends->b, x->axis_b, &x->angle);
    x->symbol = PCS_OBSTACLE_BORE;
    x->rides = ends->a.node >= 0 && ends->a.rotates == PCS_ROTATES_FINITELY;
    for (int i = 0; i < 2; i++) {
        const double *across = i == 0 ? x->angle.first : x->angle.second;
        pair_add(x, PAIR_POINTS, across, across, across);
        pair_add(x, PAIR_ROTATIONS, across, across, x->axis_b);
    }
    pair_finish(x, instance, shape);
    for (int k = 0; k < 3; k++) // the axis rotates with a
        if (!x->adds_up && ends->a.node >= 0) shape->has_moment[k] = shape->has_force[k] = true;
    return PCS_OK;
}

static pcs_status screw_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_source_shape *shape)
{
    PCS_TRY(cylindrical_create(ctx, params, map, instance, shape));
    pair *x = *instance;
    x->pitch = ((const pair_params *)params)->pitch;
    pair_add(x, PAIR_THREAD, x->axis_b, x->axis_b, x->axis_b);
    shape->nrow++;
    pcs_joint_mark(x->axis_b, shape->has_force);
    pcs_joint_mark(x->axis_b, shape->has_moment);
    return PCS_OK;
}

static pcs_status universal_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                   pcs_source_shape *shape)
{
    const pair_params *p = params;
    double normal[3];
    pair *x;
    PCS_TRY(pair_make(ctx, p, map, true, &x));
    PCS_TRY(ends_demand_space(ctx, &x->ends));
    (void)pcs_normalize3(p->axis, x->axis_a);
    (void)pcs_normalize3(p->axis_b, x->axis_b);
    pcs_cross(x->axis_b, x->axis_a, normal);
    x->symbol = PCS_OBSTACLE_CYLINDER;
    x->symbol_a = x->ends.a.node >= 0;
    pair_add(x, PAIR_ROTATIONS, normal, x->axis_a, x->axis_b);
    pair_finish(x, instance, shape);
    for (int k = 0; k < 3; k++) shape->has_moment[k] = shape->has_moment[k] || !x->adds_up; // the axis tilts
    return ends_meet(ctx, &p->ends, map);
}

static void pair_thread(const pair *x, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *row)
{
    pcs_row_state rotation = { 0 };
    double lead = x->pitch / pcs_whole_turn, increment = row->gap;
    pcs_row_rotation(a, b, &x->angle, &rotation);
    pcs_row_add(row, -lead, &rotation);
    if (!x->adds_up) row->gap = -lead * remainder(rotation.gap - increment / lead, pcs_whole_turn);
}

// Evaluates the rows of a pair, and its end a.
static void pair_put(const pair *x, const pcs_places *places, pcs_end_now *a, pcs_row_state *rows)
{
    pcs_end_now b;
    pcs_end_find(&x->ends.a, places, a);
    pcs_end_find(&x->ends.b, places, &b);
    for (int i = 0; i < x->nrow; i++) {
        const pair_row *row = &x->rows[i];
        if (row->kind == PAIR_ROTATIONS && x->adds_up) {
            pcs_row_angle(a, &b, row->along, &rows[i]);
        } else if (row->kind == PAIR_ROTATIONS) {
            pcs_rider u = pcs_rider_on(a, row->on_a), w = pcs_rider_on(&b, row->on_b);
            pcs_row_cross(a, &b, &u, &w, &rows[i]);
        } else {
            pcs_rider d = x->rides ? pcs_rider_on(a, row->along) : pcs_rider_fixed(row->along);
            pcs_row_translation(a, &b, &d, &rows[i]);
            if (row->kind == PAIR_THREAD) pair_thread(x, a, &b, &rows[i]);
        }
    }
}

static void pair_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    pcs_end_now a;
    pair_put(instance, places, &a, rows);
}

static bool pair_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const pair *x = instance;
    int nsymbol = x->symbol_a ? 2 : 1;
    if (part >= nsymbol) return ends_show_arms(&x->ends.a, &x->ends.b, part - nsymbol, out);
    if (part == 0) pcs_end_show(&x->ends.b, x->symbol, x->axis_b, out);
    else pcs_end_show(&x->ends.a, x->symbol, x->axis_a, out);
    return true;
}

#define PAIR(type, options_of, check_of, text)                                    \
    const pcs_source_ops pcs_joint_##type = { .name = #type,                      \
                                              .summary = text,                    \
                                              .options = options_of##_options,    \
                                              .params_size = sizeof(pair_params), \
                                              .sets = pcs_ends_sets,              \
                                              .check = check_of##_check,          \
                                              .create = type##_create,            \
                                              .evaluate = pair_evaluate,          \
                                              .show = pair_show }

PAIR(ball, point, point, "two points stay together, the ends rotate freely");
PAIR(cylindrical, cylindrical, axis, "b slides along and rotates about one axis, in space");
PAIR(fixed, point, point, "a weld: two points stay together and the ends do not rotate against each other");
PAIR(hinge, hinge, axis, "two points stay together, the ends rotate about one axis; in the plane a pin");
PAIR(screw, screw, screw, "b slides along an axis as it rotates about it, by a pitch, in space");
PAIR(slider, slider, axis, "a point slides along a straight line, the ends do not rotate against each other");
PAIR(universal, universal, universal,
     "two points stay together, the ends rotate about the two axes of a cross, in space");

typedef struct link_params {
    const char *a, *nodes;
} link_params;

typedef struct link_joint {
    int count;
    pcs_joint_end hub; // node a, the reference point of moments
    pair *pairs;       // [count]
} link_joint;

static const pcs_option link_options[] = {
    PCS_TEXT("a", link_params, a, PCS_REQUIRED, "node to which the others are fixed"),
    PCS_TEXT("nodes", link_params, nodes, PCS_REQUIRED,
             "set of the nodes that ride on it; reactions are those on them, moments about node a"),
    { 0 },
};

static const pcs_source_set link_sets[] = { { .option = "a", .is_single = true }, { .option = "nodes" }, { 0 } };

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
    PCS_TAKE(ctx, link->pairs, set->count, "a joint");
    PCS_TRY(pcs_end_resolve(ctx, map, a, map->mesh->x[a], &link->hub));
    link->count = set->count;
    *instance = link;
    *shape = (pcs_source_shape){ .is_constant = true };
    for (int i = 0; i < link->count; i++) {
        pcs_joint_ends *ends = &link->pairs[i].ends;
        pcs_source_shape own;
        int b = set->items[i];
        PCS_TRY(pcs_ends_resolve(ctx, map, a, b, map->mesh->x[b], ends));
        if (ends->b.rotates != PCS_ROTATES_NOT && ends->nrotation == 0)
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d has rotations, but node %d, to which it is linked, has none",
                            b, a);
        pair_begin(&link->pairs[i], true);
        pair_lock(&link->pairs[i]);
        pair_shape(&link->pairs[i], &own);
        shape->nrow += own.nrow;
        shape->is_constant = shape->is_constant && own.is_constant;
        for (int k = 0; k < 3; k++) {
            shape->has_force[k] = shape->has_force[k] || own.has_force[k];
            shape->has_moment[k] = shape->has_moment[k] || own.has_moment[k];
        }
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
static void link_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const link_joint *link = instance;
    for (int i = 0; i < link->count; i++) {
        pcs_end_now a;
        pair_put(&link->pairs[i], places, &a, rows);
        for (int k = 0; k < link->pairs[i].nrow; k++, rows++) {
            double moment[3];
            pcs_cross(a.arm, rows->normal, moment);
            for (int m = 0; m < 3; m++) rows->couple[m] += moment[m];
        }
    }
}

static bool link_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const link_joint *link = instance;
    if (part < link->count) pcs_ends_show_rod(&link->hub, &link->pairs[part].ends.b, out);
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
