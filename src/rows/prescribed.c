// Prescribed motion: nodes follow s(t) along, or about, an axis of space.
//
//   g = e . (x - X) - s(t);   about an axis: g = phi - s(t), in space up to whole turns, of which the nearest counts
//
// In space phi is that of rows/ends.h, for axes that a hinge holds: its rate is the angular velocity however far the
// node is from s, so that a node which is off, or a step that turns by more than a quarter, keeps its speed.

#include "core/text.h"
#include "rows/ends.h"
#include "rows/motion.h"

#include <math.h>
#include <string.h>

enum { NWAY = 8 };

const char *pcs_motion_check(const pcs_motion_params *p, const char **option)
{
    static const char *const names[NWAY] = { "table",      "amplitude", "distance",     "speed",
                                             "expression", "csv",       "displacement", "velocity" };
    const bool given[NWAY] = { p->table.count > 0,
                               !isnan(p->amplitude),
                               !isnan(p->distance),
                               !isnan(p->speed),
                               p->expression != NULL,
                               p->csv != NULL,
                               pcs_amplitude_is_given(&p->displacement),
                               pcs_amplitude_is_given(&p->velocity) };
    const char *wrong = NULL;
    int count = 0;
    *option = NULL;
    for (int i = 0; i < NWAY; i++) {
        count += given[i];
        if (given[i] && count == 2) *option = names[i];
    }
    if (count == 0)
        return "no motion is given: needs 'table', 'amplitude' and 'frequency', 'distance' and 'rise', 'speed', "
               "'expression', 'csv', 'displacement' or 'velocity'";
    if (count > 1)
        return "only one motion is allowed: 'table', 'amplitude', 'distance', 'speed', 'expression', 'csv', "
               "'displacement' or 'velocity'";
    for (int i = 6; i < NWAY && wrong == NULL; i++) {
        *option = names[i];
        if (given[i]) wrong = pcs_amplitude_refuses(i == 7 ? &p->velocity : &p->displacement, i == 7);
    }
    if (wrong != NULL) return wrong;
    *option = "amplitude";
    if (given[1] && isnan(p->frequency)) return "'amplitude' needs 'frequency', too";
    *option = "frequency";
    if (!given[1] && !isnan(p->frequency)) return "'frequency' belongs to 'amplitude'";
    *option = "distance";
    if (given[2] && !(p->rise > 0.0)) return "'distance' needs 'rise', the time it takes, too";
    *option = "rise";
    if (given[4] && p->rise > 0.0)
        return "'rise' cannot be given with an expression, which states how the motion begins";
    if ((given[6] || given[7]) && p->rise > 0.0)
        return "'rise' cannot be given with an amplitude, which states how the motion begins";
    if ((given[0] || given[5]) && p->rise > 0.0)
        return "'rise' cannot be given with a table, which states how the motion begins";
    *option = "table";
    if (given[0] && (p->table.count != 2 * p->table.nrow || p->table.nrow < 2))
        return "'table' must be two or more rows [time, position]";
    if (given[0])
        for (int i = 1; i < p->table.nrow; i++)
            if (!(p->table.value[2 * i] > p->table.value[2 * i - 2]))
                return "the times of 'table' must rise from row to row";
    return NULL;
}

// Reads the table from its file if one is named.
static pcs_status motion_load(pcs_context *ctx, pcs_motion_params *p)
{
    if (p->csv == NULL) return PCS_OK;
    pcs_status status = pcs_table_read(ctx, p->csv, &p->table);
    if (status == PCS_IO_ERROR) return PCS_BAD_INPUT; // a wrong path is an error of the case
    if (status == PCS_OK && p->table.nrow < 2)
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s: must have two or more rows 't, position'", p->csv);
    return status;
}

// Returns the slope of the cubics at entry i: that of the parabola through it and its neighbours, 0 at both ends.
static double motion_slope(const pcs_list *table, int i)
{
    const double *x = table->value;
    if (i == 0 || i == table->nrow - 1) return 0.0;
    double h0 = x[2 * i] - x[2 * i - 2], h1 = x[2 * i + 2] - x[2 * i];
    double d0 = (x[2 * i + 1] - x[2 * i - 1]) / h0, d1 = (x[2 * i + 3] - x[2 * i + 1]) / h1;
    return (h1 * d0 + h0 * d1) / (h0 + h1);
}

static void motion_table(const pcs_motion_params *p, double t, double s[3])
{
    const double *x = p->table.value;
    int n = p->table.nrow, i = 1;
    s[1] = s[2] = 0.0;
    s[0] = t <= x[0] ? x[1] : x[2 * n - 1];
    if (t <= x[0] || t > x[2 * n - 2]) return;
    while (i < n - 1 && t > x[2 * i]) i++;
    double h = x[2 * i] - x[2 * i - 2], u = (t - x[2 * i - 2]) / h, from = x[2 * i - 1],
           increment = x[2 * i + 1] - from;
    if (p->interpolation == PCS_MOTION_LINEAR) {
        s[0] = from + u * increment;
        s[1] = increment / h;
        return;
    }
    double m0 = h * motion_slope(&p->table, i - 1), m1 = h * motion_slope(&p->table, i);
    double c2 = 3.0 * increment - 2.0 * m0 - m1, c3 = m0 + m1 - 2.0 * increment;
    s[0] = from + u * (m0 + u * (c2 + u * c3));
    s[1] = (m0 + u * (2.0 * c2 + u * 3.0 * c3)) / h;
    s[2] = (2.0 * c2 + 6.0 * u * c3) / (h * h);
}

void pcs_motion_at(const pcs_motion_params *p, double t, double s[3])
{
    bool is_velocity = !isnan(p->speed) || pcs_amplitude_is_given(&p->velocity);
    pcs_amplitude rise = { .kind = PCS_AMPLITUDE_RAMP, .is_smooth = true, .duration = p->rise, .to = 1.0 }, of = rise;
    double x[3], r[3];
    if (p->expression != NULL) {
        pcs_expression_rates(p->expression, t, s);
        return;
    }
    if (p->table.count > 0) {
        motion_table(p, t, s);
        return;
    }
    if (pcs_amplitude_is_given(&p->displacement)) of = p->displacement;
    else if (pcs_amplitude_is_given(&p->velocity)) of = p->velocity;
    else if (!isnan(p->distance)) of.to = p->distance;
    else if (p->rise > 0.0 && !isnan(p->speed)) of.to = p->speed;
    else of = (pcs_amplitude){ .kind = PCS_AMPLITUDE_SINE, .mean = p->speed };
    if (!isnan(p->amplitude)) {
        of.size = p->amplitude;
        of.mean = -p->amplitude * sin(p->phase);
        of.frequency = p->frequency;
        of.phase = p->phase;
    }
    pcs_amplitude_motion(&of, is_velocity, t, s);
    if (isnan(p->amplitude) || p->rise == 0.0) return;
    memcpy(x, s, sizeof x);
    pcs_amplitude_motion(&rise, false, t, r);
    s[0] = r[0] * x[0];
    s[1] = r[0] * x[1] + r[1] * x[0];
    s[2] = r[0] * x[2] + 2.0 * r[1] * x[1] + r[2] * x[0];
}

typedef struct prescribed_params {
    const char *node, *nodes;
    int along;
    pcs_motion_params motion;
} prescribed_params;

typedef struct prescribed {
    pcs_motion_params motion;
    const pcs_set *nodes;
    double axis[3];
    bool is_rotation;
    pcs_joint_angle *angles; // [nodes->count] rotations against the ground
} prescribed;

static const char *const prescribed_axes[] = { "x", "y", "z", "rx", "ry", "rz", NULL };
static const char *const prescribed_kinds[] = { "linear", "smooth", NULL };

static const pcs_option prescribed_options[] = {
    PCS_TEXT("node", prescribed_params, node, PCS_OPTIONAL, "node that is moved; or nodes"),
    PCS_TEXT("nodes", prescribed_params, nodes, PCS_OPTIONAL, "set of nodes that all move alike"),
    PCS_CHOICE("along", prescribed_params, along, PCS_REQUIRED, prescribed_axes,
               "coordinate that follows the motion; rx, ry, rz are angles, in space of a node that a hinge holds"),
    PCS_LIST("table", prescribed_params, motion.table, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "rows [time, displacement], s and m or rad; constant outside"),
    PCS_FILE("csv", prescribed_params, motion.csv, PCS_OPTIONAL, "file with the rows of the table, `t, displacement`"),
    PCS_FORMULA("expression", prescribed_params, motion.expression, PCS_OPTIONAL,
                "displacement as a formula of t, m or rad; velocity and acceleration are its derivatives"),
    PCS_CHOICE("interpolation", prescribed_params, motion.interpolation, PCS_DEFAULT("linear"), prescribed_kinds,
               "of the table: linear, the velocity jumps at the entries, or smooth, by cubics that rest at both ends"),
    PCS_REAL("amplitude", prescribed_params, motion.amplitude, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "A of A (sin(2 pi f t + phase) - sin(phase)), m or rad"),
    PCS_REAL("frequency", prescribed_params, motion.frequency, PCS_OPTIONAL, PCS_NOT_NEGATIVE, "f, Hz"),
    PCS_REAL("phase", prescribed_params, motion.phase, PCS_DEFAULT("0.0"), PCS_ANY_NUMBER, "rad; pi/2 begins at rest"),
    PCS_REAL("distance", prescribed_params, motion.distance, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "displacement of a single smooth move that lasts `rise`, m or rad"),
    PCS_REAL("speed", prescribed_params, motion.speed, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "constant velocity, m/s or rad/s, reached after `rise`"),
    PCS_REAL("rise", prescribed_params, motion.rise, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "duration of the smooth start of the motion, s"),
    { 0 },
};

static const pcs_source_set prescribed_sets[] = { { .option = "node", .is_single = true },
                                                  { .option = "nodes" },
                                                  { 0 } };
static const pcs_source_signal prescribed_signals[] = {
    { "displacement", "as the amplitude of a load, m or rad", offsetof(prescribed_params, motion.displacement), false },
    { "velocity", "likewise, m/s or rad/s; the displacement is its integral from t = 0 on",
      offsetof(prescribed_params, motion.velocity), true },
    { 0 },
};

static const char *prescribed_check(const void *params, const char **option)
{
    const prescribed_params *p = params;
    *option = NULL;
    if (p->node == NULL && p->nodes == NULL) return "missing key 'node' or 'nodes'";
    *option = "nodes";
    if (p->node != NULL && p->nodes != NULL) return "'nodes' and 'node' are both given, only one is allowed";
    return pcs_motion_check(&p->motion, option);
}

static pcs_status prescribed_demand_motion(pcs_context *ctx, const pcs_dofmap *map, const prescribed *s, int node)
{
    int dof[PCS_MAX_NODE_DOFS];
    double part[PCS_MAX_NODE_DOFS];
    bool is_there = s->is_rotation ? pcs_dofmap_find(map, true, node, s->axis) >= 0
                                   : pcs_dofmap_resolve(map, false, node, s->axis, dof, part) > 0;
    if (is_there) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "node %d cannot %s [%g, %g, %g]: its elements give it no such direction", node,
                    s->is_rotation ? "rotate about" : "move along", s->axis[0], s->axis[1], s->axis[2]);
}

static pcs_status prescribed_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                    pcs_source_shape *shape)
{
    const prescribed_params *p = params;
    const char *name = p->node != NULL ? p->node : p->nodes;
    prescribed *s;
    PCS_TAKE(ctx, s, 1, "a joint");
    s->motion = p->motion;
    PCS_TRY(motion_load(ctx, &s->motion));
    s->nodes = pcs_mesh_node_set(map->mesh, name);
    if (s->nodes == NULL || s->nodes->count == 0) return pcs_fail(ctx, PCS_BAD_INPUT, "set '%s' has no nodes", name);
    if (p->node != NULL && s->nodes->count != 1)
        return pcs_fail(ctx, PCS_BAD_INPUT, "set '%s' has %d nodes; 'nodes' moves several", name, s->nodes->count);
    s->is_rotation = p->along >= 3;
    s->axis[p->along % 3] = 1.0;
    *instance = s;
    *shape = (pcs_source_shape){ .nrow = s->nodes->count, .is_constant = true };
    pcs_joint_mark(s->axis, s->is_rotation ? shape->has_moment : shape->has_force);
    PCS_TAKE(ctx, s->angles, s->nodes->count, "a joint");
    for (int i = 0; i < s->nodes->count; i++) {
        int node = s->nodes->items[i];
        PCS_TRY(prescribed_demand_motion(ctx, map, s, node));
        if (!s->is_rotation) continue;
        pcs_joint_end ground = { .node = -1 }, end = { .node = node, .rotates = pcs_node_rotates(map, node) };
        pcs_angle_create(&ground, &end, s->axis, &s->angles[i]);
        shape->is_constant = shape->is_constant && s->angles[i].adds_up;
        shape->is_revolute_gap = shape->is_revolute_gap || !s->angles[i].adds_up;
    }
    return PCS_OK;
}

static void prescribed_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const prescribed *p = instance;
    double s[3];
    pcs_motion_at(&p->motion, places->t, s);
    for (int i = 0; i < p->nodes->count; i++) {
        int node = p->nodes->items[i];
        pcs_joint_end end = { .node = node }, ground = { .node = -1 };
        pcs_end_now now, origin;
        memcpy(ground.arm, places->mesh->x[node], sizeof ground.arm);
        pcs_end_find(&end, places, &now);
        pcs_end_find(&ground, places, &origin);
        pcs_row_state *row = &rows[i];
        if (p->is_rotation) {
            pcs_row_rotation(&origin, &now, &p->angles[i], row);
        } else {
            pcs_rider d = pcs_rider_fixed(p->axis);
            pcs_row_translation(&origin, &now, &d, row);
        }
        bool is_revolute_gap = p->is_rotation && !p->angles[i].adds_up;
        row->gap -= is_revolute_gap ? atan2(sin(s[0]), cos(s[0])) : s[0]; // keeps all digits after many rotations
        if (is_revolute_gap) row->gap = remainder(row->gap, pcs_whole_turn);
        row->bias -= s[2];
    }
}

static void prescribed_drives(const void *instance, double t, double *increment, double *speed)
{
    const prescribed *p = instance;
    double s[3];
    pcs_motion_at(&p->motion, t, s);
    for (int i = 0; i < p->nodes->count; i++) {
        increment[i] = -s[0];
        speed[i] = -s[1];
    }
}

static bool prescribed_show(const void *params, const void *instance, const pcs_dofmap *map, int part,
                            pcs_obstacle *out)
{
    const prescribed *p = instance;
    if (part >= p->nodes->count) return false;
    out->kind = PCS_OBSTACLE_BALL;
    out->host = p->nodes->items[part];
    return true;
}

const pcs_source_ops pcs_joint_prescribed = {
    .name = "prescribed",
    .summary = "a coordinate of nodes follows a motion given over time",
    .options = prescribed_options,
    .params_size = sizeof(prescribed_params),
    .sets = prescribed_sets,
    .signals = prescribed_signals,
    .check = prescribed_check,
    .create = prescribed_create,
    .evaluate = prescribed_evaluate,
    .show = prescribed_show,
    .drive = prescribed_drives,
};
