// Stiffness that the forces of joints give to nodes with arms: a force lam d at the arm a = R r has the moment a x lam
// d, which changes as the node turns.
//
//   plane   -d(moment)/d(angle) = lam a . d
//   space   material moment lam r x D, D = R^T d;  -d(moment)/d(material spin) = lam ((r . D) I - D r^T)
//
// These are the entries of -d(G^T lam)/dq within a node. What couples the two ends of a joint (lines and axes that
// turn, distances) is left out: it costs iterations of a step, never its solution. Without these entries the iteration
// diverges where h^2 lam |a| exceeds the node's inertia.

#include "fe/data.h"

#include <string.h>

static void stiffness_add(pcs_system *self, int row, int column, double value)
{
    if (row >= pcs_system_nown(self)) return; // a copy need not have the cells that couple its dofs
    self->K->value[pcs_pattern_place(self->K->pattern, row, column)] += value;
}

static void stiffness_of_term(pcs_system *self, const pcs_row_term *term, const double *q, double lam)
{
    const fe_data *fe = self->data;
    int spin = fe->spin_of_node == NULL ? -1 : fe->spin_of_node[term->node];
    if (spin >= 0) {
        const int *e = fe->spins[spin];
        double psi[3], R[9], r[3], D[3];
        if (e[0] < 0) return;
        for (int k = 0; k < 3; k++) psi[k] = q[e[k]];
        pcs_rotation_exp(psi, R);
        pcs_rotation_apply_transposed(R, term->arm, r);
        pcs_rotation_apply_transposed(R, term->force, D);
        double along = pcs_dot3(r, D);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) stiffness_add(self, e[i], e[j], lam * ((i == j ? along : 0.0) - D[i] * r[j]));
        return;
    }
    for (int i = fe->map.first[term->node]; i < fe->map.first[term->node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_finite || d->equation < 0) continue;
        stiffness_add(self, d->equation, d->equation, lam * pcs_dot3(term->arm, term->force));
    }
}

pcs_status pcs_fe_prepare_joint_stiffness(pcs_system *self, fe_data *fe)
{
    size_t nnz = (size_t)self->K->pattern->nnz;
    if (fe->is_nonlinear) return PCS_OK; // then K is made anew before
    PCS_TAKE(self->ctx, fe->still_K, nnz, "the stiffness of joints");
    memcpy(fe->still_K, self->K->value, nnz * sizeof(double));
    return PCS_OK;
}

void pcs_fe_add_joint_stiffness(pcs_system *self, const double *q, const double *lam)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    if (fe->still_K != NULL) memcpy(self->K->value, fe->still_K, (size_t)self->K->pattern->nnz * sizeof(double));
    pcs_fe_evaluate_rows(self, q);
    for (int j = 0; j < self->nrow; j++) {
        const pcs_row_direction *direction = &work->states[j].direction;
        if (!self->rows[j].is_bilateral || lam[j] == 0.0) continue;
        for (int i = 0; i < direction->nterm; i++) stiffness_of_term(self, &direction->term[i], q, lam[j]);
    }
}
