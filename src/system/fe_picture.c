// What ParaView sees of a finite-element model: points, cells, displacements, velocities and the elements' fields.

#include "system/fe_data.h"

#include <string.h>

// Index of a field name in the picture's list, added when it is new.
static int picture_field(const char **names, int *count, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0) return i;
    names[*count] = name;
    return (*count)++;
}

pcs_status pcs_fe_make_picture(pcs_system *self)
{
    fe_data *fe = self->data;
    const pcs_mesh *mesh = fe->model.mesh;
    pcs_picture *picture;
    const char **names;
    double **fields;
    size_t room = (size_t)fe->model.ngroup * PCS_MAX_CELL_FIELDS;
    PCS_TAKE(self->ctx, picture, 1, "the picture");
    PCS_TAKE(self->ctx, names, room, "the picture");
    PCS_TAKE(self->ctx, fe->field_of, room, "the picture");
    int count = 0;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const char *const *own = fe->model.groups[g].ops->fields;
        for (int k = 0; own[k] != NULL; k++)
            fe->field_of[g * PCS_MAX_CELL_FIELDS + k] = picture_field(names, &count, own[k]);
    }
    PCS_TAKE(self->ctx, fields, count, "the picture");
    for (int k = 0; k < count; k++) PCS_TAKE(self->ctx, fields[k], mesh->ncell, "the picture");
    *picture = (pcs_picture){
        .npoint = mesh->nnode, .ncell = mesh->ncell, .nfield = count, .field_names = names, .fields = fields
    };
    picture->reference = (const double(*)[3])mesh->x;
    picture->cells = (const int(*)[2])mesh->cell;
    PCS_TAKE(self->ctx, picture->displacement, mesh->nnode, "the picture");
    PCS_TAKE(self->ctx, picture->velocity, mesh->nnode, "the picture");
    self->picture = picture;
    return PCS_OK;
}

void pcs_fe_node_vector(const fe_data *fe, int node, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->is_rotation || d->equation < 0) continue;
        for (int k = 0; k < 3; k++) out[k] += x[d->equation] * d->direction[k];
    }
}

// The whole picture comes together on rank 0: everyone adds what belongs to it.
static void picture_gather(const pcs_system *self, pcs_picture *picture)
{
    const pcs_comm *comm = self->layout->comm;
    comm->gather(comm, 3 * (size_t)picture->npoint, &picture->displacement[0][0]);
    comm->gather(comm, 3 * (size_t)picture->npoint, &picture->velocity[0][0]);
    for (int k = 0; k < picture->nfield; k++) comm->gather(comm, (size_t)picture->ncell, picture->fields[k]);
}

static void picture_clear(pcs_picture *picture)
{
    memset(picture->displacement, 0, (size_t)picture->npoint * sizeof *picture->displacement);
    memset(picture->velocity, 0, (size_t)picture->npoint * sizeof *picture->velocity);
    for (int k = 0; k < picture->nfield; k++) memset(picture->fields[k], 0, (size_t)picture->ncell * sizeof(double));
}

void pcs_fe_node_turn(const fe_data *fe, int node, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation || d->equation < 0) continue;
        for (int k = 0; k < 3; k++) out[k] += x[d->equation] * d->direction[k];
    }
}

void pcs_fe_draw(const pcs_system *self, const double *q, const double *v, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    if (self->layout != NULL) picture_clear(picture);
    for (int node = 0; node < picture->npoint; node++) {
        if (!pcs_fe_owns(fe, node)) continue;
        pcs_fe_node_vector(fe, node, q, picture->displacement[node]);
        pcs_fe_node_vector(fe, node, v, picture->velocity[node]);
    }
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        for (int c = 0; c < batch->ncell; c++) {
            double value[PCS_MAX_CELL_FIELDS];
            ops->read_fields(batch, c, q, v, value);
            for (int k = 0; ops->fields[k] != NULL; k++)
                picture->fields[fe->field_of[g * PCS_MAX_CELL_FIELDS + k]][batch->cells[c]] = value[k];
        }
    }
    if (self->layout != NULL) picture_gather(self, picture);
}
