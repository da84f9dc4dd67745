// Finds the sizes of the coordinates of a mesh.

#include "fe/data.h"

#include <math.h>

static double scale_distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

// Finds the longest cell at every node, m.
static void scale_find_cells(const pcs_mesh *mesh, double *longest)
{
    for (int i = 0; i < mesh->nnode; i++) longest[i] = 0.0;
    for (int c = 0; c < mesh->ncell; c++)
        for (int end = 0; end < 2; end++) {
            double *here = &longest[mesh->cell[c][end]];
            *here = fmax(*here, scale_distance(mesh->x[mesh->cell[c][0]], mesh->x[mesh->cell[c][1]]));
        }
}

// Returns the size of the model, m; for a single point its distance from the origin, as joints may fix it from there.
static double scale_model(const pcs_system *system, const pcs_mesh *mesh)
{
    const double origin[3] = { 0 };
    double size = system->length;
    if (!(system->length > 0.0))
        for (int i = 0; i < mesh->nnode; i++) size = fmax(size, scale_distance(mesh->x[i], origin));
    return size > 0.0 ? size : 1.0;
}

// Returns 0, 1, 2 for a displacement mostly along x, y, z; 3, 4, 5 for a rotation.
static int scale_axis(const pcs_dof *d)
{
    int along = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(d->direction[k]) > fabs(d->direction[along])) along = k;
    return d->is_rotation ? along + 3 : along;
}

pcs_status pcs_fe_find_sizes(pcs_system *system)
{
    pcs_scale *out = &system->scale;
    const fe_data *fe = system->data;
    const pcs_mesh *mesh = fe->model.mesh;
    const double origin[3] = { 0 };
    double *longest, size = scale_model(system, mesh);
    PCS_TRY(pcs_scale_create(system));
    PCS_TAKE(system->ctx, longest, mesh->nnode, "sizes of coordinates");
    out->holds[6] = false;
    scale_find_cells(mesh, longest);
    for (int i = 0; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation == -1) out->holds[scale_axis(d)] = true;
        if (d->equation < 0) continue;
        out->axis[d->equation] = (unsigned char)scale_axis(d);
        out->is_angle[d->equation] = d->is_rotation;
        out->model[d->equation] = d->is_rotation ? 1.0 : size;
        out->cell[d->equation] = d->is_rotation ? 1.0 : longest[d->node];
        out->place[d->equation] = d->is_rotation ? 1.0 : fmax(scale_distance(mesh->x[d->node], origin), size);
    }
    return PCS_OK;
}
