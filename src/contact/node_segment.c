// Nodes against the cells of a body that moves: one row per node, about the nearest cell that it is not part of.
//
//   round       g = |x - y(t)| - r - R,   n = (x - y)/|x - y|,   y(t) closest point of the cell
//   left, right g = n . (x - y) - r - R in the plane, n across the cell, on that side of its direction; about an end
//               n points from it, on the same side. A thin wall then needs no thickness.
//
//   g' = n . (v - (1 - t) v_0 - t v_1): the closest point slides, which changes nothing
//
// Friction acts on the surfaces, at the arms -r n from the node and R n from the axis of the cell. As the node passes
// from one cell to the next its gap does not jump.

#include "contact/gap.h"
#include "contact/segment.h"

#include <math.h>
#include <string.h>

typedef struct target_params {
    const char *nodes, *segments;
    double radius, node_radius;
    int side;
    pcs_contact_law law;
} target_params;

enum { SIDE_ROUND, SIDE_LEFT, SIDE_RIGHT };
static const char *const target_sides[] = { "round", "left", "right", NULL };

static const pcs_option target_options[] = {
    PCS_TEXT("nodes", target_params, nodes, PCS_REQUIRED, "node set that may touch the segments"),
    PCS_TEXT("segments", target_params, segments, PCS_REQUIRED, "cell set that they may touch"),
    PCS_REAL("radius", target_params, radius, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "of the segments' sections, m"),
    PCS_REAL("node_radius", target_params, node_radius, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "of the body at the node, m"),
    PCS_CHOICE(
        "side", target_params, side, PCS_DEFAULT("round"), target_sides,
        "where the nodes are: anywhere round the segments, or left or right of their direction in the x-y plane"),
    PCS_CONTACT_LAW_OPTIONS(target_params),
    { 0 },
};

static const char *const target_sets[] = { "nodes", "segments", NULL };
static const char *const target_cells[] = { "segments", NULL };

static const char *target_check(const void *params, const char **option)
{
    const target_params *p = params;
    *option = "side";
    return p->side == SIDE_ROUND && p->radius + p->node_radius == 0.0
               ? "round bodies need a radius or node_radius above 0: without one they have no outside"
               : NULL;
}

typedef struct target_contact {
    const pcs_mesh *mesh;
    const pcs_set *nodes, *segments;
    double radius, node_radius, sign; // sign: +1 left, -1 right, 0 round
    int ntangent;
    double plane[3];
    int *moving; // [mesh nnode] place of the nodes below, -1: none
    int nplace;
    int *node_of;     // [nplace] nodes of both bodies
    pcs_place *place; // [nplace]
} target_contact;

// All nodes move freely in space, or all in one plane.
static pcs_status target_look_at(pcs_context *ctx, target_contact *self, const pcs_dofmap *map, int node)
{
    PCS_TRY(pcs_gap_look_round(ctx, map, node, self->nplace == 0, &self->ntangent, self->plane));
    if (self->sign != 0.0 && (self->ntangent != 1 || fabs(self->plane[2]) < 1.0 - 1e-9))
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d does not move in the x-y plane, where sides are left or right",
                        node);
    self->moving[node] = self->nplace;
    self->node_of[self->nplace++] = node;
    return PCS_OK;
}

static bool target_has(const target_contact *self, int cell, int node)
{
    return self->mesh->cell[cell][0] == node || self->mesh->cell[cell][1] == node;
}

static pcs_status target_look_at_all(pcs_context *ctx, target_contact *self, const pcs_dofmap *map)
{
    bool is_free = false;
    for (int i = 0; i < self->mesh->nnode; i++) self->moving[i] = -1;
    for (int i = 0; i < self->nodes->count + 2 * self->segments->count; i++) {
        int k = i - self->nodes->count;
        int node = k < 0 ? self->nodes->items[i] : self->mesh->cell[self->segments->items[k / 2]][k % 2];
        if (self->moving[node] < 0) PCS_TRY(target_look_at(ctx, self, map, node));
        for (int d = map->first[node]; d < map->first[node + 1]; d++)
            is_free = is_free || (!map->dof[d].is_rotation && map->dof[d].equation != -1);
    }
    if (!is_free) return pcs_gap_demand_free(ctx, map, self->nodes->items[0]);
    for (int i = 0; i < self->nodes->count; i++) {
        bool is_found = false;
        for (int k = 0; k < self->segments->count && !is_found; k++)
            is_found = !target_has(self, self->segments->items[k], self->nodes->items[i]);
        if (!is_found)
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d is part of all cells of '%s', which it cannot touch",
                            self->nodes->items[i], self->segments->name);
    }
    return PCS_OK;
}

static pcs_status target_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                pcs_contact_shape *shape)
{
    const target_params *p = params;
    target_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    self->mesh = map->mesh;
    self->nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    self->segments = pcs_mesh_cell_set(map->mesh, p->segments);
    self->radius = p->radius;
    self->node_radius = p->node_radius;
    if (p->side == SIDE_LEFT) self->sign = 1.0;
    if (p->side == SIDE_RIGHT) self->sign = -1.0;
    PCS_TAKE(ctx, self->moving, map->mesh->nnode, "a contact");
    PCS_TAKE(ctx, self->node_of, map->mesh->nnode, "a contact");
    PCS_TRY(target_look_at_all(ctx, self, map));
    PCS_TAKE(ctx, self->place, self->nplace, "a contact");
    *shape = (pcs_contact_shape){ .nrow = self->nodes->count, .ntangent = self->ntangent };
    *instance = self;
    return PCS_OK;
}

// How a node lies to its nearest cell.
typedef struct target_view {
    int node, cell;
    pcs_segment point, axis;
    pcs_closest closest; // from the cell, b, to the node, a: d is turned round
} target_view;

static const pcs_place *target_place(const target_contact *self, int node)
{
    return &self->place[self->moving[node]];
}

static void target_axis(const target_contact *self, int cell, pcs_segment *axis)
{
    const int *node = self->mesh->cell[cell];
    pcs_segment_between(target_place(self, node[0])->x, target_place(self, node[1])->x, axis);
}

// Squared distance of a box round the cell from the node, to leave most cells out early.
static double target_box_distance2(const double x[3], const double p[3], const double q[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = fmin(p[k], q[k]), high = fmax(p[k], q[k]);
        double off = fmax(0.0, fmax(low - x[k], x[k] - high));
        sum += off * off;
    }
    return sum;
}

static void target_find(const target_contact *self, int node, target_view *out)
{
    double least = INFINITY;
    const double *x = target_place(self, node)->x;
    *out = (target_view){ .node = node };
    pcs_segment_between(x, x, &out->point);
    for (int i = 0; i < self->segments->count; i++) {
        int cell = self->segments->items[i];
        const int *n = self->mesh->cell[cell];
        pcs_segment axis;
        pcs_closest closest;
        if (target_has(self, cell, node)) continue;
        if (target_box_distance2(x, target_place(self, n[0])->x, target_place(self, n[1])->x) > least * least) continue;
        target_axis(self, cell, &axis);
        pcs_segment_closest(&out->point, &axis, &closest);
        if (closest.distance >= least) continue;
        least = closest.distance;
        out->cell = cell;
        out->axis = axis;
        out->closest = closest;
    }
}

// Across a cell, on the side that was asked for.
static void target_across(const target_contact *self, const pcs_segment *axis, double n[3])
{
    const double across[3] = { -self->sign * axis->e[1], self->sign * axis->e[0], 0.0 };
    if (!pcs_normalize3(across, n)) memcpy(n, (const double[3]){ 1.0, 0.0, 0.0 }, 3 * sizeof *n);
}

// At an end which two cells share: are we on the side asked for of what they have on the average? Beyond an end where
// the body ends there are no sides.
static double target_side_of_end(const target_contact *self, const target_view *view)
{
    double sum[3], n[3];
    bool goes_on = false;
    int end = self->mesh->cell[view->cell][view->closest.t > 0.5];
    target_across(self, &view->axis, sum);
    for (int i = 0; i < self->segments->count; i++) {
        int cell = self->segments->items[i];
        pcs_segment axis;
        if (cell == view->cell || !target_has(self, cell, end)) continue;
        goes_on = true;
        target_axis(self, cell, &axis);
        target_across(self, &axis, n);
        for (int k = 0; k < 3; k++) sum[k] += n[k];
    }
    return goes_on && -pcs_dot3(view->closest.d, sum) < 0.0 ? -1.0 : 1.0;
}

// Gives the distance along n; n points from the cell to the node, or to its side.
static double target_normal(const target_contact *self, const target_view *view, double n[3])
{
    const double *d = view->closest.d;
    const double away[3] = { -d[0], -d[1], -d[2] };
    bool is_flat = self->sign != 0.0 && (view->closest.t_slides || view->closest.distance == 0.0);
    if (is_flat) {
        target_across(self, &view->axis, n);
        return pcs_dot3(n, away);
    }
    double side = self->sign != 0.0 ? target_side_of_end(self, view) : 1.0;
    if (!pcs_normalize3(away, n)) { // on the axis: any way across it
        static const double axes[2][3] = { { 1, 0, 0 }, { 0, 1, 0 } };
        double across[3];
        pcs_cross(view->axis.e, self->ntangent == 1 ? self->plane : axes[fabs(view->axis.e[0]) > fabs(view->axis.e[1])],
                  across);
        if (!pcs_normalize3(across, n)) memcpy(n, axes[0], sizeof axes[0]);
    }
    for (int k = 0; k < 3; k++) n[k] *= side;
    return side * view->closest.distance;
}

// Pushes the node along +way and the cell along -way, each at an arm.
static void target_push(const target_contact *self, const target_view *view, const double at_node[3],
                        const double at_axis[3], const double way[3], pcs_row_direction *out)
{
    const double back[3] = { -way[0], -way[1], -way[2] };
    pcs_row_push(out, view->node, at_node, way);
    pcs_gap_push_cell(out, self->mesh->cell[view->cell], view->closest.t, at_axis, back);
}

// Second derivative at constant velocities; flat: n' follows the cell, else the distance has its own.
static double target_bias(const target_contact *self, const target_view *view, const double n[3])
{
    const int *node = self->mesh->cell[view->cell];
    const pcs_place *p = target_place(self, view->node), *a = target_place(self, node[0]);
    pcs_segment point, axis;
    pcs_segment_between(p->v, p->v, &point);
    pcs_segment_between(a->v, target_place(self, node[1])->v, &axis);
    if (self->sign == 0.0 || !view->closest.t_slides) {
        const double towards[3] = { -n[0], -n[1], -n[2] };
        return pcs_segment_bias(&view->point, &view->axis, &view->closest, towards, &point, &axis);
    }
    double speed[3], w[3], length2 = pcs_dot3(view->axis.e, view->axis.e), turn = pcs_dot3(n, axis.e);
    pcs_segment_at(&axis, view->closest.t, speed);
    for (int k = 0; k < 3; k++) w[k] = p->v[k] - speed[k];
    double slide = (pcs_dot3(w, view->axis.e) - pcs_dot3(view->closest.d, axis.e)) / length2;
    return -turn * pcs_dot3(view->axis.e, w) / length2 - slide * turn;
}

static void target_tangents(const target_contact *self, const target_view *view, const double n[3],
                            double tangent[2][3])
{
    static const double axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    if (self->ntangent == 1) {
        pcs_cross(self->plane, n, tangent[0]);
        return;
    }
    const double *ways[] = { view->axis.e, axes[0], axes[1], axes[2] };
    for (int i = 0; i < 4; i++) {
        double along = pcs_dot3(ways[i], n), rest[3];
        for (int k = 0; k < 3; k++) rest[k] = ways[i][k] - along * n[k];
        if (pcs_dot3(rest, rest) > 1e-8 * pcs_dot3(ways[i], ways[i]) && pcs_normalize3(rest, tangent[0])) break;
    }
    pcs_cross(n, tangent[0], tangent[1]);
}

static void target_evaluate_row(const target_contact *self, int node, bool has_velocities, pcs_row_state *row)
{
    target_view view;
    const double none[3] = { 0.0 };
    double at_node[3], at_axis[3], tangent[2][3];
    target_find(self, node, &view);
    row->gap = target_normal(self, &view, row->normal) - self->radius - self->node_radius;
    target_push(self, &view, none, none, row->normal, &row->direction);
    for (int k = 0; k < 3; k++) {
        at_node[k] = -self->node_radius * row->normal[k];
        at_axis[k] = self->radius * row->normal[k];
        row->point[k] = view.point.x[k] + at_node[k];
    }
    target_tangents(self, &view, row->normal, tangent);
    for (int t = 0; t < self->ntangent; t++) target_push(self, &view, at_node, at_axis, tangent[t], &row->tangent[t]);
    memcpy(row->across, tangent, (size_t)self->ntangent * sizeof *tangent);
    if (has_velocities) row->bias = target_bias(self, &view, row->normal);
}

static void target_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    target_contact *self = instance;
    for (int i = 0; i < self->nplace; i++) places->find(places, self->node_of[i], &self->place[i]);
    for (int i = 0; i < self->nodes->count; i++)
        target_evaluate_row(self, self->nodes->items[i], places->has_velocities, &rows[i]);
}

const pcs_gap_ops pcs_gap_node_segment = {
    .name = "node_segment",
    .summary = "nodes against the cells of a moving body, gap = distance from the nearest - radii",
    .options = target_options,
    .params_size = sizeof(target_params),
    .set_options = target_sets,
    .cell_options = target_cells,
    .law_offset = offsetof(target_params, law),
    .check = target_check,
    .create = target_create,
    .evaluate = target_evaluate,
};
