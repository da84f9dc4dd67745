#include "step/impact.h"

#include "step/dense_contacts.h"
#include "step/projection.h"

#include <string.h>

struct pcs_impact {
    pcs_step_solver *solver;
    pcs_dense_contacts *contacts;
    pcs_row *rows;        // [nrow] rows that take part, with their tangents renumbered
    int *row, *tangent;   // [nrow], [ntangent] their indices in the system
    const double **force; // [nrow + ntangent] columns of X and XT
};

pcs_status pcs_impact_create(pcs_step_solver *solver, pcs_impact **out)
{
    pcs_impact *self;
    const pcs_system *system = solver->system;
    PCS_TAKE(solver->ctx, self, 1, "the contact problem");
    self->solver = solver;
    PCS_TAKE(solver->ctx, self->rows, system->nrow, "the contact problem");
    PCS_TAKE(solver->ctx, self->row, system->nrow, "the contact problem");
    PCS_TAKE(solver->ctx, self->tangent, system->ntangent, "the contact problem");
    PCS_TAKE(solver->ctx, self->force, system->nrow + system->ntangent, "the contact problem");
    PCS_TRY(pcs_dense_contacts_create(solver->ctx, system, false, &self->contacts));
    self->contacts->p.rows = self->rows;
    self->contacts->p.has_position = self->contacts->p.gate_is_live = false;
    self->contacts->p.h = 1.0;
    *out = self;
    return PCS_OK;
}

// Lists the rows that take part and sets the velocities of all rows without impulses.
static void impact_collect(pcs_impact *self, pcs_step_problem *p)
{
    const pcs_system *system = self->solver->system;
    const pcs_projection *projection = self->solver->projection;
    pcs_dense_contacts *c = self->contacts;
    c->p.m = c->p.nt = 0;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        p->nu[j] = p->la[j] = 0.0;
        p->rate_before[j] = pcs_rows_dot(system->G, j, p->v);
        for (int t = row->first_tangent; t < row->first_tangent + row->ntangent; t++) p->la_t[t] = 0.0;
        if (!p->gate[j] && !row->is_bilateral) continue;
        p->gate[j] = 1;
        self->rows[c->p.m] = *row;
        self->rows[c->p.m].first_tangent = c->p.nt;
        c->p.gate[c->p.m] = 1;
        self->row[c->p.m++] = j;
        for (int t = 0; t < row->ntangent; t++) self->tangent[c->p.nt++] = row->first_tangent + t;
    }
    c->p.n = 2 * c->p.m + c->p.nt;
    for (int j = 0; j < c->p.m; j++) self->force[j] = projection->X->value[self->row[j]];
    for (int t = 0; t < c->p.nt; t++) self->force[c->p.m + t] = projection->XT->value[self->tangent[t]];
}

// Fills the affine map of the impulses; the first m unknowns, position corrections, stay zero.
static void impact_fill(pcs_impact *self, const pcs_step_problem *p)
{
    const pcs_system *system = self->solver->system;
    pcs_dense_contacts *c = self->contacts;
    int m = c->p.m, count = m + c->p.nt;
    for (int k = 0; k < count; k++) {
        const pcs_rows *rows = k < m ? system->G : system->T;
        int place = k < m ? self->row[k] : self->tangent[k - m];
        double *P = &c->P[(m + k) * c->p.n + m];
        for (int l = 0; l < count; l++) P[l] = pcs_rows_dot(rows, place, self->force[l]);
        c->p.r[m + k] = 1.0 / P[k];
        c->p.b[m + k] =
            k < m ? p->rate_before[place] + p->target[place] : pcs_rows_dot(rows, place, p->v) + p->target_t[place];
    }
}

void pcs_impact_solve(pcs_impact *self, pcs_step_problem *p, pcs_step_result *result)
{
    const pcs_system *system = self->solver->system;
    pcs_dense_contacts *c = self->contacts;
    *result = (pcs_step_result){ 0 };
    memset(p->d, 0, (size_t)system->nv * sizeof *p->d);
    impact_collect(self, p);
    impact_fill(self, p);
    if (!pcs_dense_contacts_solve(c, &result->iterations)) {
        result->outcome = PCS_NOT_CONVERGED;
        return;
    }
    for (int k = 0; k < c->p.m + c->p.nt; k++) {
        double z = c->p.z[c->p.m + k];
        if (k < c->p.m) p->la[self->row[k]] = z;
        else p->la_t[self->tangent[k - c->p.m]] = z;
        if (z != 0.0)
            for (int i = 0; i < system->nv; i++) p->v[i] += z * self->force[k][i];
    }
}
