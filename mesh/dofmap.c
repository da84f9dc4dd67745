#include "mesh/dofmap.h"

#include "core/rotation.h"

#include <math.h>

int pcs_dofmap_resolve(const pcs_dofmap *map, int node, const double direction[3], int dof[PCS_MAX_NODE_DOFS],
                       double coefficient[PCS_MAX_NODE_DOFS])
{
    double length2 = 0.0, seen2 = 0.0;
    for (int k = 0; k < 3; k++) length2 += direction[k] * direction[k];
    int count = 0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        if (map->dof[i].is_rotation) continue;
        const double *d = map->dof[i].direction;
        double part = pcs_dot3(direction, d);
        // A direction off by round-off must not count as a component of its own.
        if (part * part <= 1e-24 * length2) continue;
        dof[count] = i;
        coefficient[count++] = part;
        seen2 += part * part;
    }
    return fabs(seen2 - length2) <= 1e-9 * length2 ? count : -1;
}

int pcs_dofmap_find_rotation(const pcs_dofmap *map, int node, const double direction[3])
{
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        const double *d = map->dof[i].direction;
        double cosine = pcs_dot3(direction, d);
        if (map->dof[i].is_rotation && cosine > 1.0 - 1e-9) return i;
    }
    return -1;
}
