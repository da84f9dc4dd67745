// Shared by the gap types; private to this folder.

#ifndef PCS_ROWS_GAP_H
#define PCS_ROWS_GAP_H

#include "core/rotation.h"
#include "rows/source.h"

// Fails unless the elements of the node let it move along the unit vector n. Sets *is_free if supports also let it.
pcs_status pcs_gap_look_along(pcs_context *ctx, const pcs_dofmap *map, int node, const double n[3], bool *is_free);
// Fails with the message that a support fixes the node along the normal.
pcs_status pcs_gap_refuse_held(pcs_context *ctx, int node);

// Finds the unit vectors across `normal` along which the node can move: one in the plane, two in space. Returns their
// number, or -1 if there is none and thus no friction.
int pcs_gap_tangents(const pcs_dofmap *map, int node, const double normal[3], double tangent[2][3]);

// Fails unless the node has tangents, as many as the nodes before it.
pcs_status pcs_gap_demand_tangents(pcs_context *ctx, int node, int count, int wanted);

// Fails if supports fix all displacements of the node, so that its gap cannot change.
pcs_status pcs_gap_demand_free(pcs_context *ctx, const pcs_dofmap *map, int node);

// Finds the number of tangents of a node, 1 in the plane and 2 in space, and in the plane its unit normal. Fails if the
// node moves along one line only, or has another number than the nodes before it.
pcs_status pcs_gap_look_round(pcs_context *ctx, const pcs_dofmap *map, int node, bool is_first, int *ntangent,
                              double plane[3]);

// Adds a force at s (0 to 1 along a cell) and at an arm from its axis, split as (1 - s) : s between the cell's nodes.
void pcs_gap_push_cell(pcs_row_direction *out, const int node[2], double s, const double arm[3], const double force[3]);

// Finds the unit tangents across n: along the first of two directions minus its normal component, or along an axis if
// both are normal, and across that. With one tangent, that in the plane with the given unit normal.
static inline void pcs_gap_tangents_along(int ntangent, const double plane[3], const double *const way[2],
                                          const double n[3], double tangent[2][3])
{
    static const double axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const double *const ways[] = { way[0], way[1], axes[0], axes[1], axes[2] };
    if (ntangent == 1) {
        pcs_cross(plane, n, tangent[0]);
        return;
    }
    for (int i = 0; i < 5; i++) {
        double along = pcs_dot3(ways[i], n), rest[3];
        for (int k = 0; k < 3; k++) rest[k] = ways[i][k] - along * n[k];
        if (pcs_dot3(rest, rest) > 1e-8 * pcs_dot3(ways[i], ways[i]) && pcs_normalize3(rest, tangent[0])) break;
    }
    pcs_cross(n, tangent[0], tangent[1]);
}

#endif
