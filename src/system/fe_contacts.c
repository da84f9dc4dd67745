// Constraint rows of a finite-element model: gaps, directions, where the contact points are.

#include "system/fe_data.h"

#include <string.h>

static pcs_status contacts_fill(pcs_system *self, int contact, pcs_contact_info *info, pcs_row *rows)
{
    fe_data *fe = self->data;
    const pcs_fe_contact *c = &fe->model.contacts[contact];
    double restitution;
    memcpy(&restitution, (const char *)c->params + c->ops->restitution_offset, sizeof restitution);
    for (int i = 0; i < info->nrow; i++) {
        int row = info->first_row + i;
        PCS_TRY(c->ops->fill(self->ctx, c->params, &fe->map, i, &fe->points[row]));
        rows[row] = (pcs_row){ .contact = contact, .restitution = restitution };
    }
    return PCS_OK;
}

static pcs_status contacts_make_directions(pcs_system *self)
{
    const fe_data *fe = self->data;
    int nnz = 0;
    for (int i = 0; i < self->nrow; i++) nnz += fe->points[i].nterm;
    PCS_TRY(pcs_rows_create(self->ctx, self->nrow, self->nv, nnz, &self->G));
    int place = 0;
    for (int i = 0; i < self->nrow; i++) {
        self->G->start[i] = place;
        for (int j = 0; j < fe->points[i].nterm; j++) {
            self->G->column[place] = fe->points[i].equation[j];
            self->G->value[place++] = fe->points[i].coefficient[j];
        }
    }
    self->G->start[self->nrow] = place;
    return PCS_OK;
}

pcs_status pcs_fe_make_contacts(pcs_system *self, const char **culprit)
{
    fe_data *fe = self->data;
    pcs_contact_info *info;
    pcs_row *rows;
    self->ncontact = fe->model.ncontact;
    PCS_TAKE(self->ctx, info, self->ncontact, "contacts");
    for (int i = 0; i < self->ncontact; i++) {
        const pcs_fe_contact *c = &fe->model.contacts[i];
        info[i] = (pcs_contact_info){ .name = c->name, .first_row = self->nrow, .writes_points = c->writes_points };
        info[i].nrow = c->ops->count(c->params, fe->model.mesh);
        self->nrow += info[i].nrow;
    }
    PCS_TAKE(self->ctx, rows, self->nrow, "contact rows");
    PCS_TAKE(self->ctx, fe->points, self->nrow, "contact rows");
    self->contacts = info;
    self->rows = rows;
    for (int i = 0; i < self->ncontact; i++) {
        pcs_status status = contacts_fill(self, i, &info[i], rows);
        if (status == PCS_OK) continue;
        *culprit = pcs_fe_culprit(self->ctx, "contacts", info[i].name);
        return status;
    }
    return contacts_make_directions(self);
}

void pcs_fe_gaps(const pcs_system *self, const double *q, double *gap)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < self->nrow; i++) gap[i] = fe->points[i].gap + pcs_rows_dot(self->G, i, q);
}

void pcs_fe_contact_points(const pcs_system *self, const double *q, double (*position)[3], double (*normal)[3])
{
    const fe_data *fe = self->data;
    for (int i = 0; i < self->nrow; i++) {
        const pcs_contact_point *point = &fe->points[i];
        pcs_fe_node_vector(fe, point->node, q, position[i]);
        for (int k = 0; k < 3; k++) {
            position[i][k] += fe->model.mesh->x[point->node][k];
            normal[i][k] = point->normal[k];
        }
    }
}

void pcs_fe_row_resultant(const pcs_system *self, int row, double out[3])
{
    const fe_data *fe = self->data;
    for (int k = 0; k < 3; k++) out[k] = fe->points[row].resultant[k];
}
