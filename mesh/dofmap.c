#include "mesh/dofmap.h"

#include "core/rotation.h"

#include <math.h>

int pcs_dofmap_resolve(const pcs_dofmap *map, int node, const double direction[3], int dof[PCS_MAX_NODE_DOFS],
                       double coefficient[PCS_MAX_NODE_DOFS])
{
    // Squares are those of a unit vector: neither a force of 1e-200 N nor one of 1e200 N is none.
    double unit[3], seen2 = 0.0;
    int count = 0;
    if (!pcs_normalize3(direction, unit))
        return direction[0] == 0.0 && direction[1] == 0.0 && direction[2] == 0.0 ? 0 : -1;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        if (map->dof[i].is_rotation) continue;
        const double *d = map->dof[i].direction;
        double part = pcs_dot3(unit, d);
        // A direction off by round-off must not count as a component of its own.
        if (part * part <= 1e-24) continue;
        dof[count] = i;
        coefficient[count++] = pcs_dot3(direction, d);
        seen2 += part * part;
    }
    return fabs(seen2 - 1.0) <= 1e-9 ? count : -1;
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

void pcs_dofmap_vector(const pcs_dofmap *map, bool of_rotations, int node, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        const pcs_dof *d = &map->dof[i];
        if (d->is_rotation != of_rotations || d->equation < 0) continue;
        for (int k = 0; k < 3; k++) out[k] += x[d->equation] * d->direction[k];
    }
}
