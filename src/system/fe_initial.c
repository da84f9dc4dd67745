// Initial displacements and velocities of a finite-element model: linear over each set.

#include "system/fe_data.h"

#include <math.h>

enum { HAS_DISPLACEMENT = 1, HAS_VELOCITY = 2 };

// Components of a nodal vector along the node's dofs, into the equations.
static pcs_status initial_set_node(const pcs_system *self, int node, const double value[3], const char *what,
                                   double *out)
{
    const fe_data *fe = self->data;
    int dof[PCS_MAX_NODE_DOFS];
    double part[PCS_MAX_NODE_DOFS];
    int count = pcs_dofmap_resolve(&fe->map, node, value, dof, part);
    if (count < 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "node %d cannot have the %s [%g, %g, %g]: its elements give it no such direction", node, what,
                        value[0], value[1], value[2]);
    for (int i = 0; i < count; i++) {
        int equation = fe->map.dof[dof[i]].equation;
        if (equation == PCS_EQUATION_ELSEWHERE) continue;
        if (equation < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT,
                            "node %d is held by a support and cannot have the %s [%g, %g, %g]", node, what, value[0],
                            value[1], value[2]);
        out[equation] = part[i];
    }
    return PCS_OK;
}

static pcs_status initial_claim(const pcs_system *self, unsigned char *given, int node, int flag, const char *what)
{
    if ((given[node] & flag) != 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "the %s of node %d is given twice", what, node);
    given[node] |= (unsigned char)flag;
    return PCS_OK;
}

static pcs_status initial_apply(const pcs_system *self, const pcs_fe_initial *entry, unsigned char *given, double *q,
                                double *v)
{
    int count = entry->nodes->count;
    for (int i = 0; i < count; i++) {
        double s = count > 1 ? (double)i / (count - 1) : 0.0, u[3], w[3];
        for (int k = 0; k < 3; k++) {
            u[k] = (1.0 - s) * entry->displacement[0][k] + s * entry->displacement[1][k];
            w[k] = (1.0 - s) * entry->velocity[0][k] + s * entry->velocity[1][k];
        }
        int node = entry->nodes->items[i];
        if (entry->has_displacement) {
            PCS_TRY(initial_claim(self, given, node, HAS_DISPLACEMENT, "initial displacement"));
            PCS_TRY(initial_set_node(self, node, u, "initial displacement", q));
        }
        if (entry->has_velocity) {
            PCS_TRY(initial_claim(self, given, node, HAS_VELOCITY, "initial velocity"));
            PCS_TRY(initial_set_node(self, node, w, "initial velocity", v));
        }
    }
    return PCS_OK;
}

pcs_status pcs_fe_initial_state(const pcs_system *self, double *q, double *v, const char **culprit)
{
    const fe_data *fe = self->data;
    int nnode = fe->model.mesh->nnode;
    *culprit = NULL;
    unsigned char *given = pcs_scratch(NULL, (size_t)nnode, 1);
    if (given == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: initial state of %d nodes", nnode);
    for (int i = 0; i < nnode; i++) given[i] = 0;
    pcs_status status = PCS_OK;
    for (int i = 0; i < fe->model.ninitial && status == PCS_OK; i++) {
        status = initial_apply(self, &fe->model.initials[i], given, q, v);
        if (status != PCS_OK) *culprit = pcs_fe_culprit(self->ctx, "initial", fe->model.initials[i].nodes->name);
    }
    pcs_scratch_free(given);
    return status;
}
