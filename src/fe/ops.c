// Implements the operations of a finite-element system that schemes and observers call.
//
//   f(t, q, v) = s (f_gravity + f_loads(t)) - K q - C v,   g(q) = g_0 + G q,   s the load factor

#include "core/loop.h"
#include "fe/data.h"

#include <stdio.h>
#include <string.h>

// Computes f = s (f_gravity + f_loads(t)).
static void fe_apply_loads(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    size_t bytes = (size_t)self->nv * sizeof *f;
    if (self->gravity != NULL) memcpy(f, self->gravity, bytes);
    else memset(f, 0, bytes);
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, at.t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++)
            f[fe->pushes[i].equation] += fe->pushes[i].value * factor;
    }
    if (fe->nturning > 0) pcs_fe_turning_force(self, at.t, at.q, f);
    if (at.load_factor != 1.0)
        for (int i = 0; i < self->nv; i++) f[i] *= at.load_factor;
}

// Computes the sum of loads, element forces and forces of laws.
PCS_APART static void fe_add_forces(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    bool is_filled = !fe->has_ranges || fe->model.nload > 0 || at.load_factor != 1.0;
    if (is_filled) fe_apply_loads(self, at, f);
    const pcs_cell_state state = pcs_fe_state(self, at);
    if (fe->has_ranges) pcs_fe_range_force(self, &state, is_filled, f);
    for (int b = 0; b < fe->nbatch && !fe->has_ranges; b++) pcs_fe_ops(fe, b)->force(&fe->batches[b], &state, f);
    if (fe->has_laws) pcs_forces_add(self, at, f);
}

static void fe_force(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    if (fe->base == NULL || at.load_factor != 1.0) {
        fe_add_forces(self, at, f);
        return;
    }
    const pcs_cell_state state = { .q = at.q, .v = at.v, .from = fe->base };
    fe->batches[0].ops->force(&fe->batches[0], &state, f);
}

static void fe_energy(const pcs_system *self, pcs_instant at, pcs_measure *out)
{
    const fe_data *fe = self->data;
    pcs_cell_sums sum = { 0 };
    double loss;
    const pcs_cell_state state = pcs_fe_state(self, at);
    if (fe->has_ranges) pcs_fe_range_energy(self, &state, &sum);
    for (int g = 0; g < fe->model.ngroup && !fe->has_ranges; g++)
        fe->batches[g].ops->measure(&fe->batches[g], &state, PCS_CELL_ENERGY, &sum);
    if (fe->has_laws) sum.strain += pcs_forces_energy(self, at, &loss);
    pcs_fe_tell(self, &sum, pcs_fe_weight_work(self, 0, pcs_system_nown(self), at.q), out);
}

static void fe_resultant(const pcs_system *self, pcs_instant at, double sum[3])
{
    const fe_data *fe = self->data;
    memcpy(sum, fe->free_weight, 3 * sizeof *sum);
    if (fe->is_balanced) {
        pcs_system_sum(self, 3, sum);
        return;
    }
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, at.t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++)
            for (int k = 0; k < 3; k++) sum[k] += fe->pushes[i].value * factor * fe->pushes[i].direction[k];
    }
    if (fe->nturning > 0) pcs_fe_turning_resultant(self, at.t, at.q, sum);
    const pcs_cell_state state = pcs_fe_state(self, at);
    pcs_cell_sums cells = { .resultant = { sum[0], sum[1], sum[2] } };
    for (int g = 0; g < fe->model.ngroup; g++)
        fe->batches[g].ops->measure(&fe->batches[g], &state, PCS_CELL_RESULTANT, &cells);
    memcpy(sum, cells.resultant, 3 * sizeof *sum);
    if (fe->has_laws) pcs_forces_add_resultant(self, at, sum);
    pcs_system_sum(self, 3, sum);
}

static double fe_damping_power(const pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    const double *u = at.along == NULL ? at.v : at.along;
    double power = 0.0;
    if (fe->has_laws) (void)pcs_forces_energy(self, at, &power);
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        const pcs_element_ops *ops = batch->ops;
        pcs_cell_sums sum = { 0 };
        if (ops->is_nonlinear || ops->sees_velocity) {
            ops->measure(batch, &(pcs_cell_state){ .q = at.q, .v = at.v, .along = u }, PCS_CELL_POWER, &sum);
            power += sum.power;
            continue;
        }
        if (batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0) continue;
        // u . A v = (u . A u + v . A v - (u - v) . A (u - v))/2
        ops->measure(batch, &(pcs_cell_state){ .q = at.v, .v = at.v }, PCS_CELL_ENERGY, &sum);
        ops->measure(batch, &(pcs_cell_state){ .q = u, .v = u, .q0 = at.v, .v0 = at.v },
                     PCS_CELL_ENERGY | PCS_CELL_CHANGE, &sum);
        power += batch->damping_mass * (sum.kinetic - sum.change_in_kinetic);
        power += batch->damping_stiffness * (sum.strain - sum.change_in_strain);
    }
    pcs_system_sum(self, 1, &power);
    return power;
}

static double fe_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const fe_data *fe = self->data;
    double work = 0.0;
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++) {
            int equation = fe->pushes[i].equation;
            work += fe->pushes[i].value * factor * (q1[equation] - q0[equation]);
        }
    }
    if (fe->nturning > 0) work += pcs_fe_turning_work(self, t, q0, q1);
    if (fe->has_pushes) pcs_system_sum(self, 1, &work);
    return work;
}

static double fe_load_power(const pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    double power = 0.0;
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, at.t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++)
            power += fe->pushes[i].value * factor * at.v[fe->pushes[i].equation];
    }
    if (fe->nturning > 0) power += pcs_fe_turning_power(self, at.t, at.q, at.v);
    if (fe->has_pushes) pcs_system_sum(self, 1, &power);
    return power;
}

static void fe_describe(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                        char *text)
{
    const fe_data *fe = self->data;
    if (equation < 0) {
        if (!pcs_fe_name_load(self, span, size, text)) pcs_fe_name_bent(self, q, size, text);
        return;
    }
    snprintf(text, size, "equation %d", equation);
    for (int i = 0; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation != equation) continue;
        const double *x = fe->model.mesh->x[d->node];
        int node = pcs_mesh_node_number(fe->model.mesh, d->node);
        snprintf(text, size, "node %d at (%g, %g, %g), %s [%g, %g, %g]", node, x[0], x[1], x[2],
                 d->is_rotation ? "rotation about" : "direction", d->direction[0], d->direction[1], d->direction[2]);
        return;
    }
}

static void fe_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    *out = (pcs_measure){ 0 };
    if (what & PCS_ENERGY) fe_energy(self, at, out);
    if (what & PCS_RESULTANT) fe_resultant(self, at, out->resultant);
    if (what & PCS_DAMPING_POWER) out->damping_power = fe_damping_power(self, at);
    if (what & PCS_LOAD_POWER) out->load_power = fe_load_power(self, at);
    if (what & PCS_MATERIAL_LOSS) out->material_loss = pcs_fe_internal_loss(self, at);
}

static void fe_update(pcs_system *self, pcs_instant at, pcs_update what, const double *x)
{
    if (what == PCS_TANGENTS) pcs_fe_update_tangents(self, at);
    if (what == PCS_JOINTS) pcs_derivative_add_stiffness(self, at, x);
    if (what == PCS_SLOPES) pcs_derivative_update(self, at, x);
    if (what == PCS_DAMPERS) pcs_forces_delay_dampers(self, at);
}

const pcs_system_ops pcs_system_fe = {
    .force = fe_force,
    .update = fe_update,
    .evaluate_rows = pcs_table_evaluate,
    .search = pcs_table_search,
    .passages = pcs_table_passages,
    .measure = fe_measure,
    .commit = pcs_fe_commit,
    .load_work = fe_load_work,
    .reactions = pcs_fe_reactions,
    .stable_step = pcs_fe_stable_step,
    .draw = pcs_fe_draw,
    .probe = pcs_fe_probe,
    .describe = fe_describe,
};
