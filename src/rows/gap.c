// Implements what gap types share: builds rows of nodal displacements along a normal, and finds their tangents.

#include "rows/gap.h"

pcs_status pcs_gap_look_along(pcs_context *ctx, const pcs_dofmap *map, int node, const double n[3], bool *is_free)
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS];
    int count = pcs_dofmap_resolve(map, false, node, n, dof, coefficient);
    if (count < 0)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "node %d cannot move along the normal [%g, %g, %g]: its elements give it no such direction",
                        node, n[0], n[1], n[2]);
    for (int i = 0; i < count; i++) *is_free = *is_free || map->dof[dof[i]].equation >= 0;
    return PCS_OK;
}

pcs_status pcs_gap_refuse_held(pcs_context *ctx, int node)
{
    return pcs_fail(ctx, PCS_BAD_INPUT, "node %d is held by a support along the normal, so its gap cannot change",
                    node);
}

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
