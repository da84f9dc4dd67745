// Implements what gap types share: builds rows of nodal displacements along a normal, and finds their tangents.

#include "rows/gap.h"

#include <math.h>
#include <string.h>

// Orthogonalizes the node's directions in turn against the normal and the tangents found so far.
int pcs_gap_tangents(const pcs_dofmap *map, int node, const double normal[3], double tangent[2][3])
{
    int count = 0;
    for (int i = map->first[node]; i < map->first[node + 1] && count < 2; i++) {
        double t[3];
        if (map->dof[i].is_rotation) continue;
        for (int k = 0; k < 3; k++) t[k] = map->dof[i].direction[k];
        for (int other = -1; other < count; other++) {
            const double *against = other < 0 ? normal : tangent[other];
            double part = pcs_dot3(t, against);
            for (int k = 0; k < 3; k++) t[k] -= part * against[k];
        }
        double length = pcs_norm3(t);
        if (length < 1e-6) continue;
        for (int k = 0; k < 3; k++) tangent[count][k] = t[k] / length;
        count++;
    }
    return count == 0 ? -1 : count;
}

pcs_status pcs_gap_demand_tangents(pcs_context *ctx, int node, int count, int wanted)
{
    if (count < 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d cannot move across the normal, so there can be no friction", node);
    if (count == wanted) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "node %d can slide in %d directions and the nodes before it in %d; give each kind a contact of its "
                    "own",
                    node, count, wanted);
}

pcs_status pcs_gap_look_round(pcs_context *ctx, const pcs_dofmap *map, int node, bool is_first, int *ntangent,
                              double plane[3])
{
    double tangent[2][3];
    int first = map->first[node], count = -1;
    while (first < map->first[node + 1] && map->dof[first].is_rotation) first++;
    if (first < map->first[node + 1]) count = pcs_gap_tangents(map, node, map->dof[first].direction, tangent);
    if (count < 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d cannot move in a plane or in space: its elements do not let it",
                        node);
    PCS_TRY(pcs_gap_demand_tangents(ctx, node, count, is_first ? count : *ntangent));
    *ntangent = count;
    pcs_cross(map->dof[first].direction, tangent[0], plane);
    return PCS_OK;
}

pcs_status pcs_gap_demand_free(pcs_context *ctx, const pcs_dofmap *map, int node)
{
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        if (!map->dof[i].is_rotation && map->dof[i].equation != -1) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "node %d is held by supports, so its gap cannot change", node);
}

void pcs_gap_push_cell(pcs_row_direction *out, const int node[2], double s, const double arm[3], const double force[3])
{
    bool is_point = node[0] == node[1];
    const double weight[2] = { is_point ? 1.0 : 1.0 - s, s };
    int count = is_point ? 1 : 2;
    for (int i = 0; i < count; i++) {
        double part[3];
        for (int k = 0; k < 3; k++) part[k] = weight[i] * force[k];
        pcs_row_push(out, node[i], arm, part);
    }
}

static const double points_at_node[3] = { 0.0 };
enum { MOST_ARMS = 10000 }; // largest number of arms drawn: more would hide one another

const char *pcs_offsets_check(const pcs_list *offsets)
{
    return offsets->count != 3 * offsets->nrow && offsets->count > 0 ? "'offsets' must be rows [x, y, z]" : NULL;
}

bool pcs_offsets_show(const pcs_list *offsets, const pcs_set *nodes, int part, pcs_obstacle *out)
{
    int count = offsets->count / 3;
    if (part >= nodes->count * count || nodes->count * count > MOST_ARMS) return false;
    *out = (pcs_obstacle){ .kind = PCS_OBSTACLE_ROD, .contact = out->contact, .is_hosted = true };
    out->host = out->end_node = nodes->items[part / count];
    memcpy(out->end, offsets->value + 3 * (part % count), sizeof out->end);
    return true;
}

double pcs_offsets_reach(const pcs_list *offsets)
{
    double reach = 0.0;
    for (int i = 0; i + 3 <= offsets->count; i += 3) reach = fmax(reach, pcs_norm3(offsets->value + i));
    return reach;
}

// Records whether the node has finite rotations and whether supports fix it. Fails if it has no rotations.
static pcs_status points_look_at(pcs_context *ctx, const pcs_dofmap *map, int node, pcs_points_of *points)
{
    int nrotation = 0;
    bool is_free = false;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        const pcs_dof *d = &map->dof[i];
        nrotation += d->is_rotation;
        is_free = is_free || d->equation != -1;
        points->rotates_finitely = points->rotates_finitely || d->is_finite;
    }
    if (nrotation == 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "node %d has no rotation, so it cannot carry points at 'offsets'", node);
    if (!is_free) points->held = node;
    return PCS_OK;
}

pcs_status pcs_points_create(pcs_context *ctx, const pcs_list *offsets, const pcs_set *nodes, const pcs_dofmap *map,
                             pcs_points_of *out)
{
    *out = (pcs_points_of){ .nodes = nodes, .count = nodes->count, .noffset = 1, .offset = points_at_node, .held = -1 };
    if (offsets->count == 0) return PCS_OK;
    out->noffset = offsets->count / 3;
    out->count = nodes->count * out->noffset;
    out->offset = offsets->value;
    out->reach = pcs_offsets_reach(offsets);
    for (int i = 0; i < nodes->count; i++) PCS_TRY(points_look_at(ctx, map, nodes->items[i], out));
    return PCS_OK;
}

pcs_status pcs_points_demand_free(pcs_context *ctx, const pcs_points_of *points)
{
    if (points->held < 0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "node %d is held by supports, so the gaps of its points cannot change",
                    points->held);
}

void pcs_point_at(const pcs_points_of *points, int i, const pcs_place *place, pcs_point_now *out)
{
    *out = (pcs_point_now){ .node = pcs_points_node(points, i) };
    if (points->reach == 0.0) {
        memcpy(out->x, place->x, sizeof out->x);
        memcpy(out->v, place->v, sizeof out->v);
        return;
    }
    double rotated[3];
    pcs_place_point(place, points->offset + 3 * (i % points->noffset), out->x, out->arm);
    pcs_cross(place->w, out->arm, rotated);
    for (int k = 0; k < 3; k++) out->v[k] = place->v[k] + rotated[k];
    if (!place->is_small) pcs_cross(place->w, rotated, out->bend);
}

void pcs_point_find(const pcs_points_of *points, int i, const pcs_places *places, pcs_point_now *out)
{
    pcs_place place;
    places->find(places, pcs_points_node(points, i), &place);
    pcs_point_at(points, i, &place, out);
}

void pcs_point_push(pcs_row_direction *row, const pcs_point_now *point, const double beyond[3], const double force[3])
{
    double arm[3];
    for (int k = 0; k < 3; k++) arm[k] = point->arm[k] + beyond[k];
    pcs_row_push(row, point->node, arm, force);
}
