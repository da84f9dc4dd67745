// Loads on nodes with finite rotations R whose entries depend on them.
//
//   force F that follows    f_x = R F,          -df_x/dspin = R F^
//   moment m that stands    f_spin = R^T m,     -df_spin/dspin = -(R^T m)^      (in the plane it does not depend on R)
//   moment m that follows   f_spin = m
//
// Work along a step: mean force times displacement, and moment times the rotation vector from q0 to q1.

#include "core/rotation.h"
#include "fe/data.h"

#include <math.h>
#include <string.h>

typedef struct turning_node {
    int translation[3], spin[3]; // dofs; -1 if absent
    int ntranslation, nspin;
    double R[9], turn[3];
} turning_node;

static void turning_look(const fe_data *fe, int node, const double *q, turning_node *out)
{
    *out = (turning_node){ 0 };
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation && out->ntranslation < 3) out->translation[out->ntranslation++] = i;
        if (!d->is_rotation || out->nspin == 3) continue;
        out->spin[out->nspin++] = i;
        if (d->equation >= 0)
            for (int k = 0; k < 3; k++) out->turn[k] += q[d->equation] * d->direction[k];
    }
    pcs_rotation_exp(out->turn, out->R);
}

pcs_status pcs_fe_demand_finite_turns(const pcs_system *self, int node)
{
    if (pcs_fe_turns_finitely(self->data, node)) return PCS_OK;
    return pcs_fail(self->ctx, PCS_BAD_INPUT,
                    "node %d does not turn by finite angles, so no load can turn with it: use exact beams or rigid "
                    "bodies, or a load that stands",
                    node);
}

pcs_status pcs_fe_add_turning_load(pcs_system *self, fe_data *fe, int load, int node)
{
    const pcs_fe_load *l = &fe->model.loads[load];
    const double *x = l->value;
    bool is_moment = l->kind == PCS_LOAD_MOMENT;
    double length2 = pcs_dot3(x, x), seen2 = 0.0;
    PCS_TRY(pcs_fe_demand_finite_turns(self, node));
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->is_rotation != is_moment) continue;
        seen2 += pcs_dot3(x, d->direction) * pcs_dot3(x, d->direction);
        if (d->equation == -1)
            return pcs_fail(self->ctx, PCS_BAD_INPUT,
                            "node %d is held by a support; the %s [%g, %g, %g] needs a node that is free to %s", node,
                            is_moment ? "moment" : "follower force", x[0], x[1], x[2], is_moment ? "turn" : "move");
    }
    if (fabs(seen2 - length2) > 1e-9 * length2)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "node %d cannot move along the force [%g, %g, %g]: its elements give it no such direction",
                        node, x[0], x[1], x[2]);
    fe->has_pushes = true;
    fe_turning_load *out = &fe->turning[fe->nturning++];
    *out = (fe_turning_load){ .node = node, .load = load };
    memcpy(out->value, l->value, sizeof out->value);
    return PCS_OK;
}

// Computes force, N, and material moment, N m, of a load at the node's current rotation.
static void turning_act(const pcs_system *self, const fe_turning_load *load, double t, const turning_node *node,
                        double force[3], double moment[3])
{
    const fe_data *fe = self->data;
    const pcs_fe_load *l = &fe->model.loads[load->load];
    double factor = pcs_fe_load_size(self, load->load, t), scaled[3];
    for (int k = 0; k < 3; k++) scaled[k] = factor * load->value[k];
    for (int k = 0; k < 3; k++) force[k] = moment[k] = 0.0;
    if (l->kind == PCS_LOAD_FORCE) pcs_rotation_apply(node->R, scaled, force);
    else if (l->follows) memcpy(moment, scaled, sizeof scaled);
    else pcs_rotation_apply_transposed(node->R, scaled, moment);
}

void pcs_fe_turning_force(const pcs_system *self, double t, const double *q, double *f)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->nturning; i++) {
        turning_node node;
        double force[3], moment[3];
        turning_look(fe, fe->turning[i].node, q, &node);
        turning_act(self, &fe->turning[i], t, &node, force, moment);
        for (int d = fe->map.first[fe->turning[i].node]; d < fe->map.first[fe->turning[i].node + 1]; d++) {
            const pcs_dof *dof = &fe->map.dof[d];
            if (dof->equation >= 0) f[dof->equation] += pcs_dot3(dof->is_rotation ? moment : force, dof->direction);
        }
    }
}

// Adds -d(load)/d(spin) to K(row dof, spin dof).
static void turning_add_entry(pcs_system *self, int row, int column, double value)
{
    const fe_data *fe = self->data;
    int i = fe->map.dof[row].equation, j = fe->map.dof[column].equation;
    if (i >= pcs_system_nown(self)) return; // a copy need not have the cells that couple its dofs
    if (i >= 0 && j >= 0 && value != 0.0) self->K->value[pcs_pattern_place(self->K->pattern, i, j)] += value;
}

void pcs_fe_turning_tangent(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->nturning; i++) {
        const fe_turning_load *load = &fe->turning[i];
        const pcs_fe_load *l = &fe->model.loads[load->load];
        turning_node node;
        double force[3], moment[3], factor = at.load_factor * pcs_fe_load_size(self, load->load, at.t);
        turning_look(fe, load->node, at.q, &node);
        turning_act(self, load, at.t, &node, force, moment);
        for (int s = 0; s < node.nspin; s++) {
            const double *axis = fe->map.dof[node.spin[s]].direction;
            double change[3], turned[3];
            pcs_cross(axis, load->value, change); // change of R F by a spin about the axis: R (axis x F)
            pcs_rotation_apply(node.R, change, turned);
            if (l->kind == PCS_LOAD_FORCE)
                for (int r = 0; r < node.ntranslation; r++)
                    turning_add_entry(self, node.translation[r], node.spin[s],
                                      -factor * pcs_dot3(turned, fe->map.dof[node.translation[r]].direction));
            if (l->kind == PCS_LOAD_FORCE || l->follows) continue;
            pcs_cross(moment, axis, change); // change of R^T m: -(axis x R^T m)
            for (int r = 0; r < node.nspin; r++)
                turning_add_entry(self, node.spin[r], node.spin[s],
                                  -at.load_factor * pcs_dot3(change, fe->map.dof[node.spin[r]].direction));
        }
    }
}

void pcs_fe_turning_resultant(const pcs_system *self, double t, const double *q, double sum[3])
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->nturning; i++) {
        turning_node node;
        double force[3], moment[3];
        turning_look(fe, fe->turning[i].node, q, &node);
        turning_act(self, &fe->turning[i], t, &node, force, moment);
        for (int r = 0; r < node.ntranslation; r++) {
            const pcs_dof *d = &fe->map.dof[node.translation[r]];
            if (d->equation < 0 || d->equation >= pcs_system_nown(self)) continue;
            for (int k = 0; k < 3; k++) sum[k] += pcs_dot3(force, d->direction) * d->direction[k];
        }
    }
}

double pcs_fe_turning_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const fe_data *fe = self->data;
    double work = 0.0;
    for (int i = 0; i < fe->nturning; i++) {
        const fe_turning_load *load = &fe->turning[i];
        turning_node start, end;
        double force[2][3], moment[2][3], u0[3], u1[3], back[3], way[3];
        if (!pcs_fe_owns(fe, load->node)) continue;
        turning_look(fe, load->node, q0, &start);
        turning_look(fe, load->node, q1, &end);
        turning_act(self, load, t, &start, force[0], moment[0]);
        turning_act(self, load, t, &end, force[1], moment[1]);
        pcs_dofmap_vector(&fe->map, false, load->node, q0, u0);
        pcs_dofmap_vector(&fe->map, false, load->node, q1, u1);
        for (int k = 0; k < 3; k++) back[k] = -start.turn[k];
        pcs_rotation_compose(back, end.turn, way); // material, from q0 to q1
        for (int k = 0; k < 3; k++)
            work += 0.5 * (force[0][k] + force[1][k]) * (u1[k] - u0[k]) + 0.5 * (moment[0][k] + moment[1][k]) * way[k];
    }
    return work;
}

double pcs_fe_turning_power(const pcs_system *self, double t, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    double power = 0.0;
    for (int i = 0; i < fe->nturning; i++) {
        const fe_turning_load *load = &fe->turning[i];
        turning_node node;
        double force[3], moment[3];
        if (!pcs_fe_owns(fe, load->node)) continue;
        turning_look(fe, load->node, q, &node);
        turning_act(self, load, t, &node, force, moment);
        for (int d = fe->map.first[load->node]; d < fe->map.first[load->node + 1]; d++) {
            const pcs_dof *dof = &fe->map.dof[d];
            if (dof->equation < 0) continue;
            power += pcs_dot3(dof->is_rotation ? moment : force, dof->direction) * v[dof->equation];
        }
    }
    return power;
}
