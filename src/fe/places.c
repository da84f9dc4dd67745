// Finds positions and velocities of nodes for contacts and joints, and writes row directions in terms of equations.
//
// A moment m on a node with the material rotation R enters its three equations as R^T m.

#include "fe/data.h"

#include <string.h>

// Velocities of a node in space; out->R is there.
static void places_find_velocity(const fe_view *view, int node, pcs_place *out)
{
    const fe_data *fe = view->fe;
    double spin[3] = { 0.0 };
    int place = fe->spin_of_node == NULL ? -1 : fe->spin_of_node[node];
    pcs_fe_node_vector(fe, node, view->at.v, out->v);
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->is_rotation && d->equation >= 0)
            for (int k = 0; k < 3; k++) spin[k] += view->at.v[d->equation] * d->direction[k];
    }
    if (place >= 0) pcs_rotation_apply(out->R, spin, out->w); // it is material there
    else memcpy(out->w, spin, sizeof spin);
}

static void places_find(const pcs_places *self, int node, pcs_place *out)
{
    const fe_view *view = self->owner;
    const fe_data *fe = view->fe;
    double turn[3] = { 0.0 }, displacement[3];
    bool is_finite = false;
    pcs_fe_node_vector(fe, node, view->at.q, displacement);
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation) continue;
        is_finite = is_finite || d->is_finite;
        if (d->equation >= 0)
            for (int k = 0; k < 3; k++) turn[k] += view->at.q[d->equation] * d->direction[k];
    }
    *out = (pcs_place){ .is_small = !is_finite };
    memcpy(out->turn, turn, sizeof turn);
    for (int k = 0; k < 3; k++) out->x[k] = self->mesh->x[node][k] + displacement[k];
    if (is_finite) {
        pcs_rotation_exp(turn, out->R);
    } else {
        const double R[9] = { 1.0, -turn[2], turn[1], turn[2], 1.0, -turn[0], -turn[1], turn[0], 1.0 };
        memcpy(out->R, R, sizeof R);
    }
    if (self->has_velocities) places_find_velocity(view, node, out);
}

pcs_places pcs_fe_places(const pcs_system *self, const fe_view *view)
{
    const fe_data *fe = self->data;
    return (pcs_places){ .mesh = fe->model.mesh,
                         .t = view->at.t,
                         .has_velocities = view->at.v != NULL,
                         .owner = view,
                         .find = places_find };
}

void pcs_fe_evaluate_contact(const pcs_system *self, int contact, const double *q, pcs_row_state *states)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    const pcs_gap_ops *ops = fe->model.contacts[contact].ops;
    fe_view view = { fe, pcs_at(0.0, q, NULL) }; // contacts do not move by themselves
    pcs_places places = pcs_fe_places(self, &view);
    memset(states, 0, (size_t)fe->sources[contact].contact.nrow * sizeof *states);
    ops->evaluate(work->instances[contact], &places, states);
}

// One node's share of a row, along its dofs.
static int places_put_term(const fe_data *fe, const pcs_row_term *term, const double *q, int *column, double *value)
{
    double material[3];
    int count = 0, first = fe->map.first[term->node], last = fe->map.first[term->node + 1];
    memcpy(material, term->moment, sizeof material);
    int spin = fe->spin_of_node == NULL ? -1 : fe->spin_of_node[term->node];
    if (spin >= 0 && fe->spins[spin][0] >= 0) {
        double psi[3], R[9];
        for (int k = 0; k < 3; k++) psi[k] = q[fe->spins[spin][k]];
        pcs_rotation_exp(psi, R);
        pcs_rotation_apply_transposed(R, term->moment, material);
    }
    for (int i = first; i < last; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation < 0) continue;
        column[count] = d->equation;
        value[count++] = pcs_dot3(d->is_rotation ? material : term->force, d->direction);
    }
    return count;
}

void pcs_fe_put_direction(const fe_data *fe, const pcs_row_direction *direction, const double *q, pcs_rows *rows,
                          int row)
{
    int place = rows->start[row], end = rows->start[row + 1];
    for (int i = 0; i < direction->nterm; i++)
        place += places_put_term(fe, &direction->term[i], q, rows->column + place, rows->value + place);
    for (; place < end; place++) {
        rows->column[place] = 0;
        rows->value[place] = 0.0;
    }
}
