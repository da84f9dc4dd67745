// Nodes against the cells of a body that moves: one row per node, about the nearest cell that it is not part of.
//
//   round       g = |x - y(t)| - r - R,   n = (x - y)/|x - y|,   y(t) closest point of the cell
//   left, right g = n . (x - y) - r - R in the plane, n across the cell, on that side of its direction; about an end
//               n points from it, on the same side. A thin wall then needs no thickness.
//
//   g' = n . (v - (1 - t) v_0 - t v_1): the closest point slides, which changes nothing
//
// x is a node, or a point fixed to it at an offset. Friction acts on the surfaces, at the arms -r n from x and R n from
// the axis of the cell. As the node passes
// from one cell to the next its gap does not jump.

#include "rows/box_tree.h"
#include "rows/gap.h"
#include "rows/segment.h"

#include <math.h>
#include <string.h>

typedef struct target_params {
    const char *nodes, *segments;
    pcs_list offsets;
    double radius, node_radius;
    int side;
} target_params;

enum { SIDE_ROUND, SIDE_LEFT, SIDE_RIGHT };
static const char *const target_sides[] = { "round", "left", "right", NULL };

static const pcs_option target_options[] = {
    PCS_TEXT("nodes", target_params, nodes, PCS_REQUIRED, "node set that may touch the segments"),
    PCS_OFFSETS_OPTION(target_params),
    PCS_TEXT("segments", target_params, segments, PCS_REQUIRED, "cell set that they may touch"),
    PCS_REAL("radius", target_params, radius, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "of the segments' sections, m"),
    PCS_REAL("node_radius", target_params, node_radius, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "of the body at the node, m"),
    PCS_CHOICE(
        "side", target_params, side, PCS_DEFAULT("round"), target_sides,
        "where the nodes are: anywhere round the segments, or left or right of their direction in the x-y plane"),
    { 0 },
};

static const pcs_source_set target_sets[] = { { .option = "nodes" },
                                              { .option = "segments", .is_cells = true, .is_common = true },
                                              { 0 } };

static const char *target_check(const void *params, const char **option)
{
    const target_params *p = params;
    *option = "side";
    if (p->side == SIDE_ROUND && p->radius + p->node_radius == 0.0)
        return "round bodies need a radius or node_radius above 0: without one they have no outside";
    *option = "offsets";
    return pcs_offsets_check(&p->offsets);
}

typedef struct target_contact {
    const pcs_mesh *mesh;
    pcs_points_of points;
    const pcs_set *segments;
    double radius, node_radius, sign; // m, m; sign: +1 left, -1 right, 0 both sides
    int ntangent;
    double plane[3];
    int *moving; // [mesh nnode] index of the node in node_of, -1 if absent
    int nplace;
    int *node_of;                     // [nplace] nodes of both bodies
    pcs_place *place;                 // [nplace] current positions
    double (*before)[3], (*after)[3]; // [nplace] positions at the ends of a step, m
    double (*from)[3], (*to)[3];      // [points.count] positions of the points at the ends of a step, m
    int *first, *at;                  // [nplace + 1] start of each node's cells in `at`, [2 segments]
    pcs_box *box;                     // [segments] bounding boxes of the cells, or of their paths in a step
    pcs_box_tree *tree;
} target_contact;

// Appends a node to node_of. Fails unless it moves in space, or in the plane, like the nodes before it.
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

// Returns true if supports leave the node, or a point fixed to it, free to move.
static bool target_is_free(const target_contact *self, const pcs_dofmap *map, int node)
{
    for (int d = map->first[node]; d < map->first[node + 1]; d++)
        if ((self->points.reach > 0.0 || !map->dof[d].is_rotation) && map->dof[d].equation != -1) return true;
    return false;
}

// Collects the nodes of both bodies. Fails if supports fix all of them. `nodes`: contact nodes of all processes.
static pcs_status target_look_at_all(pcs_context *ctx, target_contact *self, const pcs_dofmap *map,
                                     const pcs_set *nodes)
{
    bool is_free = false;
    for (int i = 0; i < self->mesh->nnode; i++) self->moving[i] = -1;
    for (int i = 0; i < nodes->count; i++) is_free = is_free || target_is_free(self, map, nodes->items[i]);
    for (int i = 0; i < self->points.nodes->count + 2 * self->segments->count; i++) {
        int k = i - self->points.nodes->count;
        int node = k < 0 ? self->points.nodes->items[i] : self->mesh->cell[self->segments->items[k / 2]][k % 2];
        if (self->moving[node] < 0) PCS_TRY(target_look_at(ctx, self, map, node));
        is_free = is_free || target_is_free(self, map, node);
    }
    if (!is_free) return pcs_gap_demand_free(ctx, map, nodes->items[0]);
    for (int i = 0; i < self->points.nodes->count; i++) {
        bool is_found = false;
        for (int k = 0; k < self->segments->count && !is_found; k++)
            is_found = !target_has(self, self->segments->items[k], self->points.nodes->items[i]);
        if (!is_found)
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d is part of all cells of '%s', which it cannot touch",
                            self->points.nodes->items[i], self->segments->name);
    }
    return PCS_OK;
}

// Lists the cells that end at each node, in the order of the set.
static pcs_status target_list_cells(pcs_context *ctx, target_contact *self)
{
    int nend = 2 * self->segments->count;
    PCS_TAKE(ctx, self->first, self->nplace + 1, "a contact");
    PCS_TAKE(ctx, self->at, nend, "a contact");
    for (int i = 0; i < nend; i++) {
        int node = self->mesh->cell[self->segments->items[i / 2]][i % 2];
        self->first[self->moving[node] + 1]++;
    }
    for (int i = 0; i < self->nplace; i++) self->first[i + 1] += self->first[i];
    for (int i = nend - 1; i >= 0; i--) {
        int cell = self->segments->items[i / 2], place = self->moving[self->mesh->cell[cell][i % 2]];
        self->at[--self->first[place + 1]] = cell;
    }
    // Filling from the end has moved each start to that of the previous node.
    for (int i = 0; i < self->nplace; i++) self->first[i] = self->first[i + 1];
    self->first[self->nplace] = nend;
    return PCS_OK;
}

static int target_count(const void *params, const pcs_mesh *mesh)
{
    const target_params *p = params;
    return pcs_offsets_per_node(&p->offsets);
}

static pcs_status target_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                pcs_source_shape *shape)
{
    const target_params *p = params;
    target_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    self->mesh = map->mesh;
    PCS_TRY(pcs_points_create(ctx, &p->offsets, pcs_set_touching(nodes, p->nodes), map, &self->points));
    self->segments = pcs_mesh_cell_set(map->mesh, p->segments);
    self->radius = p->radius;
    self->node_radius = p->node_radius;
    if (p->side == SIDE_LEFT) self->sign = 1.0;
    if (p->side == SIDE_RIGHT) self->sign = -1.0;
    PCS_TAKE(ctx, self->moving, map->mesh->nnode, "a contact");
    PCS_TAKE(ctx, self->node_of, map->mesh->nnode, "a contact");
    PCS_TRY(target_look_at_all(ctx, self, map, nodes));
    PCS_TAKE(ctx, self->place, self->nplace, "a contact");
    PCS_TAKE(ctx, self->before, self->nplace, "a contact");
    PCS_TAKE(ctx, self->after, self->nplace, "a contact");
    PCS_TAKE(ctx, self->from, self->points.count, "a contact");
    PCS_TAKE(ctx, self->to, self->points.count, "a contact");
    PCS_TAKE(ctx, self->box, self->segments->count, "a contact");
    PCS_TRY(target_list_cells(ctx, self));
    PCS_TRY(pcs_box_tree_create(ctx, self->segments->count, &self->tree));
    *shape = (pcs_source_shape){ .nrow = self->points.count, .ntangent = self->ntangent, .size = self->points.reach };
    shape->reach = self->points.reach;
    *instance = self;
    return PCS_OK;
}

// Holds the position of a point relative to its nearest cell.
typedef struct target_view {
    pcs_point_now now;
    int cell;
    pcs_segment point, axis;
    pcs_closest closest; // from the node, a, to the cell, b
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

static void target_enclose(const double x[3], pcs_box *box)
{
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], x[k]);
        box->high[k] = fmax(box->high[k], x[k]);
    }
}

static void target_begin_box(const double x[3], pcs_box *box)
{
    memcpy(box->low, x, sizeof box->low);
    memcpy(box->high, x, sizeof box->high);
}

typedef struct target_nearest {
    const target_contact *self;
    target_view *view;
    int item; // index in the set of cells
} target_nearest;

// Keeps the cell if it is nearer than those before; of equally near cells the first of the set, in any order of visits.
static double target_look_at_cell(void *owner, int item)
{
    target_nearest *nearest = owner;
    target_view *view = nearest->view;
    int cell = nearest->self->segments->items[item];
    pcs_segment axis;
    pcs_closest closest;
    if (target_has(nearest->self, cell, view->now.node)) return view->closest.distance;
    target_axis(nearest->self, cell, &axis);
    pcs_segment_closest(&view->point, &axis, &closest);
    bool is_nearer = closest.distance < view->closest.distance ||
                     (closest.distance == view->closest.distance && item < nearest->item);
    if (is_nearer) {
        nearest->item = item;
        view->cell = cell;
        view->axis = axis;
        view->closest = closest;
    }
    return view->closest.distance;
}

static void target_find(const target_contact *self, int row, target_view *out)
{
    pcs_box from;
    target_nearest nearest = { self, out, 0 };
    *out = (target_view){ .closest.distance = INFINITY };
    pcs_point_at(&self->points, row, target_place(self, pcs_points_node(&self->points, row)), &out->now);
    const double *x = out->now.x;
    pcs_segment_between(x, x, &out->point);
    target_begin_box(x, &from);
    pcs_box_tree_look(self->tree, &from, INFINITY, target_look_at_cell, &nearest);
}

// Computes the unit normal of a cell on the side chosen in the case.
static void target_across(const target_contact *self, const pcs_segment *axis, double n[3])
{
    const double across[3] = { -self->sign * axis->e[1], self->sign * axis->e[0], 0.0 };
    if (!pcs_normalize3(across, n)) memcpy(n, (const double[3]){ 1.0, 0.0, 0.0 }, 3 * sizeof *n);
}

// Returns 1 if the point lies on the chosen side of an end that two cells share, by the mean of their normals, else -1;
// 1 at an end of the body.
static double target_side_of_end(const target_contact *self, const target_view *view)
{
    double sum[3], n[3];
    bool goes_on = false;
    int end = self->moving[self->mesh->cell[view->cell][view->closest.t > 0.5]];
    target_across(self, &view->axis, sum);
    for (int i = self->first[end]; i < self->first[end + 1]; i++) {
        int cell = self->at[i];
        pcs_segment axis;
        if (cell == view->cell) continue;
        goes_on = true;
        target_axis(self, cell, &axis);
        target_across(self, &axis, n);
        for (int k = 0; k < 3; k++) sum[k] += n[k];
    }
    return goes_on && -pcs_dot3(view->closest.d, sum) < 0.0 ? -1.0 : 1.0;
}

// Computes the unit normal n from the cell to the node, or to the chosen side. Returns the distance along n, m.
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
    if (!pcs_normalize3(away, n)) { // on the axis: any direction across it serves
        static const double axes[2][3] = { { 1, 0, 0 }, { 0, 1, 0 } };
        double across[3];
        pcs_cross(view->axis.e, self->ntangent == 1 ? self->plane : axes[fabs(view->axis.e[0]) > fabs(view->axis.e[1])],
                  across);
        if (!pcs_normalize3(across, n)) memcpy(n, axes[0], sizeof axes[0]);
    }
    for (int k = 0; k < 3; k++) n[k] *= side;
    return side * view->closest.distance;
}

// Adds a force along +direction on the point and along -direction on the cell, each at an arm.
static void target_push(const target_contact *self, const target_view *view, const double at_point[3],
                        const double at_axis[3], const double direction[3], pcs_row_direction *out)
{
    const double back[3] = { -direction[0], -direction[1], -direction[2] };
    pcs_point_push(out, &view->now, at_point, direction);
    pcs_gap_push_cell(out, self->mesh->cell[view->cell], view->closest.t, at_axis, back);
}

// Returns the second derivative of the gap at constant velocities, m/s^2; between the ends of a cell n rotates with it.
static double target_bias(const target_contact *self, const target_view *view, const double n[3])
{
    const int *node = self->mesh->cell[view->cell];
    const pcs_place *a = target_place(self, node[0]);
    const double *v = view->now.v;
    double pull = pcs_dot3(n, view->now.bend);
    pcs_segment point, axis;
    pcs_segment_between(v, v, &point);
    pcs_segment_between(a->v, target_place(self, node[1])->v, &axis);
    if (self->sign == 0.0 || !view->closest.t_slides) {
        const double towards[3] = { -n[0], -n[1], -n[2] };
        return pull + pcs_segment_bias(&view->point, &view->axis, &view->closest, towards, &point, &axis);
    }
    double speed[3], w[3], length2 = pcs_dot3(view->axis.e, view->axis.e), slope = pcs_dot3(n, axis.e);
    pcs_segment_at(&axis, view->closest.t, speed);
    for (int k = 0; k < 3; k++) w[k] = v[k] - speed[k];
    double slide = (pcs_dot3(w, view->axis.e) - pcs_dot3(view->closest.d, axis.e)) / length2;
    return pull - slope * pcs_dot3(view->axis.e, w) / length2 - slide * slope;
}

static void target_evaluate_row(const target_contact *self, int i, bool has_velocities, pcs_row_state *row)
{
    target_view view;
    const double none[3] = { 0.0 };
    double at_point[3], at_axis[3], tangent[2][3];
    target_find(self, i, &view);
    row->gap = target_normal(self, &view, row->normal) - self->radius - self->node_radius;
    target_push(self, &view, none, none, row->normal, &row->direction);
    for (int k = 0; k < 3; k++) {
        at_point[k] = -self->node_radius * row->normal[k];
        at_axis[k] = self->radius * row->normal[k];
        row->point[k] = view.point.x[k] + at_point[k];
    }
    pcs_gap_tangents_along(self->ntangent, self->plane, (const double *const[]){ view.axis.e, view.axis.e },
                           row->normal, tangent);
    for (int t = 0; t < self->ntangent; t++) target_push(self, &view, at_point, at_axis, tangent[t], &row->tangent[t]);
    memcpy(row->across, tangent, (size_t)self->ntangent * sizeof *tangent);
    if (has_velocities) row->bias = target_bias(self, &view, row->normal);
}

static void target_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    target_contact *self = instance;
    for (int i = 0; i < self->nplace; i++) places->find(places, self->node_of[i], &self->place[i]);
    for (int i = 0; i < self->segments->count; i++) {
        const int *node = self->mesh->cell[self->segments->items[i]];
        target_begin_box(target_place(self, node[0])->x, &self->box[i]);
        target_enclose(target_place(self, node[1])->x, &self->box[i]);
    }
    pcs_box_tree_fit(self->tree, self->box);
    for (int i = 0; i < self->points.count; i++) target_evaluate_row(self, i, places->has_velocities, &rows[i]);
}

// Fills `*out` with a point, whose path is taken as straight, and a cell at both ends of a step.
static void target_sweep(const target_contact *self, int row, int cell, pcs_swept *out)
{
    const int *n = self->mesh->cell[cell];
    double(*const ends[2])[3] = { self->before, self->after }, (*const points[2])[3] = { self->from, self->to };
    *out = (pcs_swept){ .thickness = self->radius + self->node_radius };
    for (int i = 0; i < 2; i++) {
        const double *x = points[i][row];
        pcs_segment_between(x, x, &out->b[i]);
        pcs_segment_between(ends[i][self->moving[n[0]]], ends[i][self->moving[n[1]]], &out->a[i]);
    }
}

// Computes the polynomial c[0] + c[1] s + c[2] s^2: the distance of the node from the line of the cell at the fraction
// s of the step, positive on the chosen side, times the length of the cell.
static void target_side(const target_contact *self, const pcs_swept *pair, double c[3])
{
    double e[2][3], p[2][3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = pair->a[0].e[k];
        e[1][k] = pair->a[1].e[k] - pair->a[0].e[k];
        p[0][k] = pair->b[0].x[k] - pair->a[0].x[k];
        p[1][k] = pair->b[1].x[k] - pair->a[1].x[k] - p[0][k];
    }
    c[0] = self->sign * (e[0][0] * p[0][1] - e[0][1] * p[0][0]);
    c[1] = self->sign * (e[0][0] * p[1][1] - e[0][1] * p[1][0] + e[1][0] * p[0][1] - e[1][1] * p[0][0]);
    c[2] = self->sign * (e[1][0] * p[1][1] - e[1][1] * p[1][0]);
}

// Returns true if the node lies between the ends of the cell, measured along it, at the fraction s of the step.
static bool target_meets(const pcs_swept *pair, double s)
{
    double along = 0.0, length2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double e = pair->a[0].e[k] + s * (pair->a[1].e[k] - pair->a[0].e[k]);
        double p0 = pair->b[0].x[k] - pair->a[0].x[k], p1 = pair->b[1].x[k] - pair->a[1].x[k];
        along += e * (p0 + s * (p1 - p0));
        length2 += e * e;
    }
    return along >= 0.0 && along <= length2;
}

// Records a passage if the node has crossed a wall without thickness and ends so far beyond that its row belongs to
// another cell or to the end of the body.
static void target_cross(const target_contact *self, const pcs_swept *pair, int row, pcs_passage *worst)
{
    double c[3], length = pcs_norm3(pair->a[1].e), depth;
    target_side(self, pair, c);
    depth = -(c[0] + c[1] + c[2]) / length;
    if (!(c[0] >= 0.0) || !(depth > 0.0)) return;
    double root = sqrt(fmax(c[1] * c[1] - 4.0 * c[0] * c[2], 0.0)), s = 2.0 * c[0] / (root - c[1]);
    if (root - c[1] > 0.0 && target_meets(pair, s)) pcs_passage_note(worst, depth, pcs_swept_allowed(length), row);
}

typedef struct target_direction_of {
    const target_contact *self;
    const pcs_passage_row *known;
    int row;
    double reach;
    pcs_passage *worst;
} target_direction_of;

static double target_look_along(void *owner, int item)
{
    const target_direction_of *direction = owner;
    const target_contact *self = direction->self;
    int node = pcs_points_node(&self->points, direction->row), cell = self->segments->items[item];
    bool is_loaded = direction->known->is_loaded;
    pcs_swept pair;
    if (target_has(self, cell, node)) return direction->reach;
    target_sweep(self, direction->row, cell, &pair);
    if (pair.thickness > 0.0)
        pcs_swept_look(&pair, is_loaded ? PCS_SWEPT_LOADED : PCS_SWEPT_OPEN, direction->row, direction->worst);
    // The law can see a node that is in the wall at the end of the step.
    bool may_cross = self->sign != 0.0 && !is_loaded && direction->known->gap[1] >= 0.0;
    if (may_cross) target_cross(self, &pair, direction->row, direction->worst);
    return direction->reach;
}

// Fits the tree to bounding boxes of the paths of the cells in the step.
static void target_fit_directions(target_contact *self)
{
    for (int i = 0; i < self->segments->count; i++) {
        const int *node = self->mesh->cell[self->segments->items[i]];
        int a = self->moving[node[0]], b = self->moving[node[1]];
        target_begin_box(self->before[a], &self->box[i]);
        target_enclose(self->before[b], &self->box[i]);
        target_enclose(self->after[a], &self->box[i]);
        target_enclose(self->after[b], &self->box[i]);
    }
    pcs_box_tree_fit(self->tree, self->box);
}

static void target_passage_of(const target_contact *self, int row, const pcs_passage_row *known, pcs_passage *worst)
{
    pcs_box from;
    target_direction_of direction = { self, known, row, self->radius + self->node_radius, worst };
    target_begin_box(self->from[row], &from);
    target_enclose(self->to[row], &from);
    pcs_box_tree_look(self->tree, &from, direction.reach, target_look_along, &direction);
}

// Returns the length, m, of the displacement from `before` to `after` relative to that of the node `other`.
static double target_direction(const target_contact *self, const double before[3], const double after[3], int other)
{
    int j = self->moving[other];
    double direction[3];
    for (int k = 0; k < 3; k++) direction[k] = after[k] - before[k] - (self->after[j][k] - self->before[j][k]);
    return pcs_norm3(direction);
}

// Stores the positions of nodes and points at one end of a step.
static void target_look_at_end(const target_contact *self, const pcs_places *places, double (*node)[3],
                               double (*point)[3])
{
    for (int i = 0; i < self->nplace; i++) {
        places->find(places, self->node_of[i], &self->place[i]);
        memcpy(node[i], self->place[i].x, sizeof node[i]);
    }
    for (int i = 0; i < self->points.count; i++) {
        pcs_point_now now;
        pcs_point_at(&self->points, i, target_place(self, pcs_points_node(&self->points, i)), &now);
        memcpy(point[i], now.x, sizeof point[i]);
    }
}

// Checks the points whose gaps at the ends of the step sum to less than their displacement; no others can have touched.
static void target_passage(void *instance, const pcs_places *from, const pcs_places *to, const pcs_passage_row *rows,
                           pcs_passage *worst)
{
    target_contact *self = instance;
    int first = self->mesh->cell[self->segments->items[0]][0];
    double cells = 0.0; // longest displacement of their nodes relative to the first, m
    target_look_at_end(self, from, self->before, self->from);
    target_look_at_end(self, to, self->after, self->to);
    for (int i = 0; i < 2 * self->segments->count; i++) {
        int end = self->moving[self->mesh->cell[self->segments->items[i / 2]][i % 2]];
        cells = fmax(cells, target_direction(self, self->before[end], self->after[end], first));
    }
    bool is_fitted = false;
    for (int i = 0; i < self->points.count; i++) {
        if (rows[i].gap[0] + rows[i].gap[1] >= cells + target_direction(self, self->from[i], self->to[i], first))
            continue;
        if (!is_fitted) target_fit_directions(self);
        is_fitted = true;
        target_passage_of(self, i, &rows[i], worst);
    }
}

static bool target_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    const target_params *p = params;
    return pcs_offsets_show(&p->offsets, pcs_mesh_node_set(map->mesh, p->nodes), part, out);
}

const pcs_source_ops pcs_gap_node_segment = {
    .name = "node_segment",
    .summary =
        "nodes, or points fixed to them, against the cells of a moving body, gap = distance from the nearest - radii",
    .options = target_options,
    .params_size = sizeof(target_params),
    .sets = target_sets,
    .check = target_check,
    .create = target_create,
    .evaluate = target_evaluate,
    .count = target_count,
    .passage = target_passage,
    .show = target_show,
};
