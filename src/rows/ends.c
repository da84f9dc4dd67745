
#include "rows/ends.h"

#include <math.h>
#include <string.h>

const pcs_source_set pcs_ends_sets[] = { { .option = "node", .is_single = true },
                                         { .option = "a", .is_single = true },
                                         { .option = "b", .is_single = true },
                                         { 0 } };

const char *pcs_ends_check(const pcs_ends_params *p, const char **option)
{
    *option = NULL;
    if (p->node == NULL && p->a == NULL && p->b == NULL) return "missing key 'node', or 'a' and 'b'";
    *option = "node";
    if (p->node != NULL && (p->a != NULL || p->b != NULL))
        return "'node' is joined to the ground; it cannot be given with 'a' and 'b'";
    *option = p->b == NULL ? "a" : "b";
    return p->node == NULL && (p->a == NULL || p->b == NULL)
               ? "joins two nodes, 'a' and 'b', or one, 'node', to the ground"
               : NULL;
}

// Starts from the coordinate axis that is farthest from `axis`.
void pcs_joint_frame(const double axis[3], double first[3], double second[3])
{
    int least = 0;
    double e[3] = { 0 }, raw[3];
    for (int k = 1; k < 3; k++)
        if (fabs(axis[k]) < fabs(axis[least])) least = k;
    e[least] = 1.0;
    pcs_cross(axis, e, raw);
    (void)pcs_normalize3(raw, first);
    pcs_cross(axis, first, second);
}

pcs_status pcs_ends_single(pcs_context *ctx, const pcs_dofmap *map, const char *name, int *node)
{
    const pcs_set *set = pcs_mesh_node_set(map->mesh, name);
    if (set == NULL) return pcs_fail(ctx, PCS_BAD_INPUT, "there is no node set '%s'", name);
    if (set->count != 1)
        return pcs_fail(ctx, PCS_BAD_INPUT, "set '%s' has %d nodes, a joint takes one at each end", name, set->count);
    *node = set->items[0];
    return PCS_OK;
}

pcs_rotates pcs_node_rotates(const pcs_dofmap *map, int node)
{
    int count = 0;
    bool is_finite = false;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        count += map->dof[i].is_rotation;
        is_finite = is_finite || map->dof[i].is_finite;
    }
    if (count == 0) return PCS_ROTATES_NOT;
    if (!is_finite) return PCS_ROTATES_LITTLE;
    return count == 1 ? PCS_ROTATES_IN_PLANE : PCS_ROTATES_FINITELY;
}

pcs_status pcs_end_resolve(pcs_context *ctx, const pcs_dofmap *map, int node, const double at[3], pcs_joint_end *out)
{
    *out = (pcs_joint_end){ .node = node };
    memcpy(out->arm, at, sizeof out->arm);
    if (node < 0) return PCS_OK;
    const double *x = map->mesh->x[node];
    out->rotates = pcs_node_rotates(map, node);
    for (int k = 0; k < 3; k++) out->arm[k] = at[k] - x[k];
    if (pcs_norm3(out->arm) <= 1e-12 * (pcs_norm3(at) + pcs_norm3(x))) memset(out->arm, 0, sizeof out->arm);
    if (out->rotates == PCS_ROTATES_NOT && pcs_norm3(out->arm) > 0.0)
        return pcs_fail(
            ctx, PCS_BAD_INPUT,
            "node %d at [%g, %g, %g] has no rotation, so it cannot carry the point [%g, %g, %g] of the joint", node,
            x[0], x[1], x[2], at[0], at[1], at[2]);
    return PCS_OK;
}

// Finds the directions along which a node moves (or about which it rotates); three of them are set to x, y, z.
static int ends_directions(const pcs_dofmap *map, int node, bool of_rotations, double d[3][3])
{
    int count = 0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        if (map->dof[i].is_rotation == of_rotations && count < 3)
            memcpy(d[count++], map->dof[i].direction, sizeof d[0]);
    if (count == 3)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) d[i][k] = i == k ? 1.0 : 0.0;
    return count;
}

static bool ends_spans(int count, double d[3][3], const double x[3])
{
    double seen = 0.0;
    for (int i = 0; i < count; i++) {
        double part = pcs_dot3(d[i], x);
        seen += part * part;
    }
    return fabs(seen - 1.0) <= 1e-9;
}

// Fails unless both ends move along the same directions, as a direction that one end lacks would fix the other.
static pcs_status ends_agree(pcs_context *ctx, const pcs_dofmap *map, const pcs_joint_ends *ends, bool of_rotations)
{
    int node[2] = { ends->a.node, ends->b.node }, count[2];
    double d[2][3][3];
    if (node[0] < 0) return PCS_OK;
    for (int e = 0; e < 2; e++) count[e] = ends_directions(map, node[e], of_rotations, d[e]);
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < count[e]; i++)
            if (!ends_spans(count[1 - e], d[1 - e], d[e][i]))
                return pcs_fail(ctx, PCS_BAD_INPUT, "node %d %s [%g, %g, %g], node %d has no such %s", node[e],
                                of_rotations ? "turns about" : "moves along", d[e][i][0], d[e][i][1], d[e][i][2],
                                node[1 - e], of_rotations ? "rotation" : "direction");
    return PCS_OK;
}

pcs_status pcs_ends_resolve(pcs_context *ctx, const pcs_dofmap *map, int a, int b, const double at[3],
                            pcs_joint_ends *out)
{
    *out = (pcs_joint_ends){ 0 };
    if (a == b) return pcs_fail(ctx, PCS_BAD_INPUT, "node %d would be joined to itself", b);
    PCS_TRY(pcs_end_resolve(ctx, map, a, at, &out->a));
    PCS_TRY(pcs_end_resolve(ctx, map, b, at, &out->b));
    out->ntranslation = ends_directions(map, b, false, out->translation);
    out->nrotation = ends_directions(map, b, true, out->rotation);
    PCS_TRY(ends_agree(ctx, map, out, false));
    // A node without rotations does not restrict those of the other. Joints that lock them need both.
    bool rotates = out->b.rotates != PCS_ROTATES_NOT && (a < 0 || out->a.rotates != PCS_ROTATES_NOT);
    if (!rotates) out->nrotation = 0;
    return rotates ? ends_agree(ctx, map, out, true) : PCS_OK;
}

void pcs_joint_mark(const double d[3], bool has[3])
{
    for (int k = 0; k < 3; k++) has[k] = has[k] || fabs(d[k]) > 1e-12;
}

bool pcs_end_is_straight(const pcs_joint_end *end)
{
    return end->rotates < PCS_ROTATES_IN_PLANE || end->node < 0 || pcs_norm3(end->arm) == 0.0;
}

void pcs_end_find(const pcs_joint_end *end, const pcs_places *places, pcs_end_now *now)
{
    *now = (pcs_end_now){ .node = end->node, .has_velocities = places->has_velocities };
    now->place = (pcs_place){ .R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, .is_small = true };
    if (end->node < 0) {
        memcpy(now->point, end->arm, sizeof now->point);
        return;
    }
    pcs_place *place = &now->place;
    places->find(places, end->node, place);
    pcs_place_point(place, end->arm, now->point, now->arm);
    if (!places->has_velocities) return;
    double rotated[3];
    pcs_cross(place->w, now->arm, rotated);
    for (int k = 0; k < 3; k++) now->velocity[k] = place->v[k] + rotated[k];
    if (place->is_small) return;
    memcpy(now->swing, rotated, sizeof rotated);
    pcs_cross(place->w, rotated, now->bend);
}

pcs_rider pcs_rider_fixed(const double direction[3])
{
    pcs_rider rider = { 0 };
    memcpy(rider.now, direction, sizeof rider.now);
    return rider;
}

pcs_rider pcs_rider_on(const pcs_end_now *end, const double reference[3])
{
    pcs_rider rider = { 0 };
    if (end->node < 0) return pcs_rider_fixed(reference);
    pcs_rotation_apply(end->place.R, reference, rider.now);
    memcpy(rider.lever, end->place.is_small ? reference : rider.now, sizeof rider.lever);
    pcs_cross(end->place.w, rider.lever, rider.rate);
    if (end->place.is_small) return rider;
    memcpy(rider.swing, rider.rate, sizeof rider.swing);
    pcs_cross(end->place.w, rider.rate, rider.bend);
    return rider;
}

// Adds a force and a moment on an end, and their rates. Does nothing for the ground.
static void ends_push(pcs_row_state *row, const pcs_end_now *end, double sign, const pcs_row_rate *push,
                      const pcs_row_rate *rate)
{
    if (end->node < 0) return;
    pcs_row_rate *change = &row->rate[row->direction.nterm];
    pcs_row_term *term = &row->direction.term[row->direction.nterm++];
    term->node = end->node;
    for (int k = 0; k < 3; k++) {
        term->force[k] = sign * push->force[k];
        term->moment[k] = sign * push->moment[k];
        change->force[k] = sign * rate->force[k];
        change->moment[k] = sign * rate->moment[k];
    }
}

// Adds sign (a x b) to `out`.
static void ends_add_cross(double sign, const double a[3], const double b[3], double out[3])
{
    double product[3];
    pcs_cross(a, b, product);
    for (int k = 0; k < 3; k++) out[k] += sign * product[k];
}

// Computes the rates of the two terms of a translation row, that of b first.
static void ends_swing(const pcs_end_now *a, const pcs_end_now *b, const pcs_rider *d, const double apart[3],
                       pcs_row_rate rate[2])
{
    double parting[3];
    for (int k = 0; k < 3; k++) {
        rate[0].force[k] = rate[1].force[k] = d->rate[k];
        parting[k] = b->velocity[k] - a->velocity[k];
    }
    ends_add_cross(1.0, b->swing, d->now, rate[0].moment);
    ends_add_cross(1.0, b->arm, d->rate, rate[0].moment);
    ends_add_cross(1.0, a->swing, d->now, rate[1].moment);
    ends_add_cross(1.0, a->arm, d->rate, rate[1].moment);
    ends_add_cross(-1.0, d->swing, apart, rate[1].moment);
    ends_add_cross(-1.0, d->lever, parting, rate[1].moment);
}

void pcs_row_translation(const pcs_end_now *a, const pcs_end_now *b, const pcs_rider *d, pcs_row_state *row)
{
    double apart[3], parting[3], bend[3];
    pcs_row_rate on_a = { 0 }, on_b = { 0 }, rate[2] = { 0 };
    for (int k = 0; k < 3; k++) {
        apart[k] = b->point[k] - a->point[k];
        parting[k] = b->velocity[k] - a->velocity[k];
        bend[k] = b->bend[k] - a->bend[k];
    }
    row->gap = pcs_dot3(d->now, apart);
    row->bias = pcs_dot3(d->now, bend) + 2.0 * pcs_dot3(d->rate, parting) + pcs_dot3(d->bend, apart);
    memcpy(on_a.force, d->now, sizeof on_a.force);
    memcpy(on_b.force, d->now, sizeof on_b.force);
    pcs_cross(a->arm, d->now, on_a.moment);
    pcs_cross(b->arm, d->now, on_b.moment);
    ends_add_cross(-1.0, d->lever, apart, on_a.moment);
    if (b->has_velocities) ends_swing(a, b, d, apart, rate);
    ends_push(row, b, 1.0, &on_b, &rate[0]);
    ends_push(row, a, -1.0, &on_a, &rate[1]);
    memcpy(row->point, b->point, sizeof row->point);
    memcpy(row->normal, d->now, sizeof row->normal);
}

void pcs_row_angle(const pcs_end_now *a, const pcs_end_now *b, const double n[3], pcs_row_state *row)
{
    const pcs_row_rate none = { 0 }, push = { .moment = { n[0], n[1], n[2] } };
    row->gap = pcs_dot3(n, b->place.rotation) - pcs_dot3(n, a->place.rotation);
    ends_push(row, b, 1.0, &push, &none);
    ends_push(row, a, -1.0, &push, &none);
    memcpy(row->point, b->point, sizeof row->point);
    memcpy(row->couple, n, sizeof row->couple);
}

void pcs_row_cross(const pcs_end_now *a, const pcs_end_now *b, const pcs_rider *u, const pcs_rider *w,
                   pcs_row_state *row)
{
    pcs_row_rate on_a = { 0 }, on_b = { 0 }, rate_a = { 0 }, rate_b = { 0 };
    row->gap = pcs_dot3(u->now, w->now);
    row->bias = pcs_dot3(u->bend, w->now) + 2.0 * pcs_dot3(u->rate, w->rate) + pcs_dot3(u->now, w->bend);
    pcs_cross(w->lever, u->now, on_b.moment);
    pcs_cross(u->lever, w->now, on_a.moment);
    if (b->has_velocities) {
        ends_add_cross(1.0, w->swing, u->now, rate_b.moment);
        ends_add_cross(1.0, w->lever, u->rate, rate_b.moment);
        ends_add_cross(1.0, u->swing, w->now, rate_a.moment);
        ends_add_cross(1.0, u->lever, w->rate, rate_a.moment);
    }
    ends_push(row, b, 1.0, &on_b, &rate_b);
    ends_push(row, a, 1.0, &on_a, &rate_a);
    memcpy(row->point, b->point, sizeof row->point);
    memcpy(row->couple, on_b.moment, sizeof row->couple);
}

void pcs_end_show(const pcs_joint_end *end, pcs_obstacle_kind kind, const double *axis, pcs_obstacle *out)
{
    out->kind = kind;
    out->host = end->node;
    memcpy(out->point, end->arm, sizeof out->point);
    if (axis != NULL) memcpy(out->axis, axis, sizeof out->axis);
}

void pcs_ends_show_rod(const pcs_joint_end *a, const pcs_joint_end *b, pcs_obstacle *out)
{
    pcs_end_show(a, PCS_OBSTACLE_ROD, NULL, out);
    out->end_node = b->node;
    memcpy(out->end, b->arm, sizeof out->end);
}

const double pcs_whole_turn = 6.283185307179586476925;

void pcs_angle_create(const pcs_joint_end *a, const pcs_joint_end *b, const double axis[3], pcs_joint_angle *out)
{
    out->adds_up = a->rotates != PCS_ROTATES_FINITELY && b->rotates != PCS_ROTATES_FINITELY;
    memcpy(out->axis, axis, sizeof out->axis);
    pcs_joint_frame(axis, out->first, out->second);
}

// Returns the index of the row's term for the node. Appends a zero term if the row has none yet.
static int angle_term(pcs_row_state *row, int node)
{
    pcs_row_direction *direction = &row->direction;
    for (int i = 0; i < direction->nterm; i++)
        if (direction->term[i].node == node) return i;
    direction->term[direction->nterm] = (pcs_row_term){ .node = node };
    row->rate[direction->nterm] = (pcs_row_rate){ 0 };
    return direction->nterm++;
}

// Adds `rate` times the direction of another row to the rates of a row, whose factor of it changes at this rate.
static void angle_add_rate(pcs_row_state *row, double rate, const pcs_row_state *other)
{
    for (int i = 0; i < other->direction.nterm; i++) {
        const pcs_row_term *from = &other->direction.term[i];
        pcs_row_rate *to = &row->rate[angle_term(row, from->node)];
        for (int k = 0; k < 3; k++) {
            to->force[k] += rate * from->force[k];
            to->moment[k] += rate * from->moment[k];
        }
    }
}

void pcs_row_add(pcs_row_state *row, double factor, const pcs_row_state *other)
{
    row->gap += factor * other->gap;
    row->bias += factor * other->bias;
    for (int i = 0; i < other->direction.nterm; i++) {
        const pcs_row_term *from = &other->direction.term[i];
        int place = angle_term(row, from->node);
        pcs_row_term *term = &row->direction.term[place];
        for (int k = 0; k < 3; k++) {
            term->force[k] += factor * from->force[k];
            term->moment[k] += factor * from->moment[k];
            row->rate[place].force[k] += factor * other->rate[i].force[k];
            row->rate[place].moment[k] += factor * other->rate[i].moment[k];
        }
    }
    for (int k = 0; k < 3; k++) row->couple[k] += factor * other->couple[k];
}

void pcs_row_rotation(const pcs_end_now *a, const pcs_end_now *b, const pcs_joint_angle *angle, pcs_row_state *row)
{
    if (angle->adds_up) {
        pcs_row_angle(a, b, angle->axis, row);
        return;
    }
    pcs_rider u1 = pcs_rider_on(a, angle->first), u2 = pcs_rider_on(a, angle->second);
    pcs_rider w = pcs_rider_on(b, angle->first);
    pcs_row_state sine = { 0 }, cosine = { 0 };
    pcs_row_cross(a, b, &u2, &w, &sine);
    pcs_row_cross(a, b, &u1, &w, &cosine);
    double S = sine.gap, C = cosine.gap, size = C * C + S * S;
    double S1 = pcs_dot3(u2.rate, w.now) + pcs_dot3(u2.now, w.rate);
    double C1 = pcs_dot3(u1.rate, w.now) + pcs_dot3(u1.now, w.rate), rate = (C * S1 - S * C1) / size;
    pcs_row_add(row, C / size, &sine);
    pcs_row_add(row, -S / size, &cosine);
    row->gap = atan2(S, C);
    double growth = 2.0 * (C * C1 + S * S1) / size; // relative change of C^2 + S^2
    row->bias -= rate * growth;
    if (b->has_velocities) {
        angle_add_rate(row, (C1 - C * growth) / size, &sine);
        angle_add_rate(row, (S * growth - S1) / size, &cosine);
    }
    memcpy(row->point, b->point, sizeof row->point);
}
