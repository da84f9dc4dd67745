// What schemes and observers ask of a finite-element system.
//
//   f(t, q, v) = s (f_gravity + f_loads(t)) - K q - C v,   g(q) = g_0 + G q,   s the load factor

#include "system/fe_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double fe_amplitude(const pcs_amplitude *a, double t)
{
    if (a->count == 0) return 1.0;
    if (t <= a->time[0]) return a->factor[0];
    for (int i = 1; i < a->count; i++)
        if (t <= a->time[i]) {
            double s = (t - a->time[i - 1]) / (a->time[i] - a->time[i - 1]);
            return (1.0 - s) * a->factor[i - 1] + s * a->factor[i];
        }
    return a->factor[a->count - 1];
}

static void fe_force(const pcs_system *self, double t, const double *q, const double *v, double *f)
{
    const fe_data *fe = self->data;
    size_t bytes = (size_t)self->nv * sizeof *f;
    if (self->gravity != NULL) memcpy(f, self->gravity, bytes);
    else memset(f, 0, bytes);
    for (int i = 0; i < fe->npush; i++) {
        const fe_push *push = &fe->pushes[i];
        f[push->equation] += push->value * fe_amplitude(&fe->model.loads[push->load].amplitude, t);
    }
    for (int i = 0; i < self->nv && self->load_factor != 1.0; i++) f[i] *= self->load_factor;
    for (int g = 0; g < fe->model.ngroup; g++) fe->model.groups[g].ops->add_force(&fe->batches[g], q, v, f);
}

static void fe_gaps(const pcs_system *self, const double *q, double *gap)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < self->nrow; i++) gap[i] = fe->points[i].gap + pcs_rows_dot(self->G, i, q);
}

// f_gravity . q; eight partial sums that do not wait for one another.
static double fe_gravity_work(const pcs_system *self, const double *q)
{
    enum { LANES = 8 };
    double part[LANES] = { 0 }, sum = 0.0;
    const double *g = self->gravity;
    int i = 0;
    if (g == NULL) return 0.0;
    for (; i + LANES <= self->nv; i += LANES)
        for (int j = 0; j < LANES; j++) part[j] += g[i + j] * q[i + j];
    for (; i < self->nv; i++) sum += g[i] * q[i];
    for (int j = 0; j < LANES; j++) sum += part[j];
    return sum;
}

static void fe_measure(const pcs_system *self, const double *q, const double *v, pcs_measure *out)
{
    const fe_data *fe = self->data;
    pcs_energy sum = { 0 };
    for (int g = 0; g < fe->model.ngroup; g++) fe->model.groups[g].ops->add_energy(&fe->batches[g], q, v, &sum);
    *out = (pcs_measure){ .kinetic = sum.kinetic, .strain = sum.strain };
    out->potential = fe->rest_potential - fe_gravity_work(self, q);
    for (int k = 0; k < 3; k++) {
        out->momentum[k] = sum.momentum[k];
        out->free_momentum[k] = sum.momentum[k] - sum.fixed_momentum[k];
    }
}

static void fe_resultant(const pcs_system *self, double t, const double *q, const double *v, double sum[3])
{
    const fe_data *fe = self->data;
    for (int k = 0; k < 3; k++) sum[k] = fe->free_weight[k];
    for (int i = 0; i < fe->npush; i++) {
        const fe_push *push = &fe->pushes[i];
        double factor = push->value * fe_amplitude(&fe->model.loads[push->load].amplitude, t);
        for (int k = 0; k < 3; k++) sum[k] += factor * push->direction[k];
    }
    for (int g = 0; g < fe->model.ngroup; g++) fe->model.groups[g].ops->add_resultant(&fe->batches[g], q, v, sum);
}

static void fe_change(const pcs_system *self, const double *q0, const double *q1, const double *v0, const double *v1,
                      double *stiffness_norm2, double *mass_norm2)
{
    const fe_data *fe = self->data;
    pcs_energy sum = { 0 };
    for (int g = 0; g < fe->model.ngroup; g++)
        fe->model.groups[g].ops->add_change(&fe->batches[g], q0, q1, v0, v1, &sum);
    *stiffness_norm2 = 2.0 * sum.strain;
    *mass_norm2 = 2.0 * sum.kinetic;
}

static double fe_damping_power(const pcs_system *self, const double *v)
{
    const fe_data *fe = self->data;
    double power = 0.0;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        if (batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0) continue;
        pcs_energy sum = { 0 };
        fe->model.groups[g].ops->add_energy(batch, v, v, &sum);
        power += 2.0 * (batch->damping_mass * sum.kinetic + batch->damping_stiffness * sum.strain);
    }
    return power;
}

static double fe_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const fe_data *fe = self->data;
    double work = 0.0;
    for (int i = 0; i < fe->npush; i++) {
        const fe_push *push = &fe->pushes[i];
        double force = push->value * fe_amplitude(&fe->model.loads[push->load].amplitude, t);
        work += force * (q1[push->equation] - q0[push->equation]);
    }
    return work;
}

// Nodal vector sum_i x_i d_i.
static void fe_node_vector(const fe_data *fe, int node, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->is_rotation || d->equation < 0) continue;
        for (int k = 0; k < 3; k++) out[k] += x[d->equation] * d->direction[k];
    }
}

static void fe_draw(const pcs_system *self, const double *q, const double *v, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    for (int node = 0; node < picture->npoint; node++) {
        fe_node_vector(fe, node, q, picture->displacement[node]);
        fe_node_vector(fe, node, v, picture->velocity[node]);
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
}

static void fe_contact_points(const pcs_system *self, const double *q, double (*position)[3], double (*normal)[3])
{
    const fe_data *fe = self->data;
    for (int i = 0; i < self->nrow; i++) {
        const pcs_contact_point *point = &fe->points[i];
        fe_node_vector(fe, point->node, q, position[i]);
        for (int k = 0; k < 3; k++) {
            position[i][k] += fe->model.mesh->x[point->node][k];
            normal[i][k] = point->normal[k];
        }
    }
}

static void fe_row_resultant(const pcs_system *self, int row, double out[3])
{
    const fe_data *fe = self->data;
    for (int k = 0; k < 3; k++) out[k] = fe->points[row].resultant[k];
}

static double fe_probe_cell(const fe_data *fe, int cell, int field, const double *q, const double *v)
{
    int group = fe->batch_of_cell[cell];
    double value[PCS_MAX_CELL_FIELDS];
    fe->model.groups[group].ops->read_fields(&fe->batches[group], fe->place_of_cell[cell], q, v, value);
    return value[field];
}

static double fe_probe(const pcs_system *self, const pcs_probe *probe, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    double sum = 0.0, vector[3];
    for (int i = 0; i < probe->count; i++) {
        int item = probe->items[i];
        if (probe->quantity == PCS_PROBE_FIELD) {
            sum += fe_probe_cell(fe, item, probe->axis, q, v);
            continue;
        }
        fe_node_vector(fe, item, probe->quantity == PCS_PROBE_VELOCITY ? v : q, vector);
        sum += vector[probe->axis];
        if (probe->quantity == PCS_PROBE_POSITION) sum += fe->model.mesh->x[item][probe->axis];
    }
    return sum / probe->count;
}

pcs_status pcs_fe_node_probe(const pcs_system *self, const pcs_set *nodes, const char *component, pcs_probe *out)
{
    static const char *const prefixes[] = { "", "u", "v" };
    for (int quantity = 0; quantity < 3; quantity++)
        for (int axis = 0; axis < 3; axis++) {
            char name[4];
            snprintf(name, sizeof name, "%s%c", prefixes[quantity], "xyz"[axis]);
            if (strcmp(component, name) != 0) continue;
            *out = (pcs_probe){
                .quantity = PCS_PROBE_POSITION + quantity, .axis = axis, .count = nodes->count, .items = nodes->items
            };
            return PCS_OK;
        }
    return pcs_fail(self->ctx, PCS_BAD_INPUT, "a node has no component '%s'; it has x, y, z, ux, uy, uz, vx, vy, vz",
                    component);
}

pcs_status pcs_fe_cell_probe(const pcs_system *self, const pcs_set *cells, const char *field, pcs_probe *out)
{
    const fe_data *fe = self->data;
    int group = cells->count > 0 ? fe->batch_of_cell[cells->items[0]] : -1;
    for (int i = 0; i < cells->count; i++)
        if (fe->batch_of_cell[cells->items[i]] != group || group < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "the cells of set '%s' are not of one element group",
                            cells->name);
    const char *const *names = group < 0 ? NULL : fe->model.groups[group].ops->fields;
    char known[256] = "";
    for (int k = 0; names != NULL && names[k] != NULL; k++) {
        if (strcmp(names[k], field) == 0) {
            *out = (pcs_probe){ .quantity = PCS_PROBE_FIELD, .axis = k, .count = cells->count, .items = cells->items };
            return PCS_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k == 0 ? "" : ", ", names[k]);
    }
    return pcs_fail(self->ctx, PCS_BAD_INPUT, "the elements of set '%s' have no field '%s'; they have %s", cells->name,
                    field, known);
}

static void fe_name_equation(const pcs_system *self, int equation, size_t size, char *text)
{
    const fe_data *fe = self->data;
    snprintf(text, size, "equation %d", equation);
    for (int i = 0; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation != equation) continue;
        const double *x = fe->model.mesh->x[d->node];
        snprintf(text, size, "node %d at (%g, %g, %g), %s [%g, %g, %g]", d->node, x[0], x[1], x[2],
                 d->is_rotation ? "rotation about" : "direction", d->direction[0], d->direction[1], d->direction[2]);
        return;
    }
}

const pcs_system_ops pcs_system_fe = {
    .name = "fe",
    .summary = "assembled from mesh, elements, supports, loads and contacts; small displacements",
    .force = fe_force,
    .gaps = fe_gaps,
    .measure = fe_measure,
    .resultant = fe_resultant,
    .change = fe_change,
    .damping_power = fe_damping_power,
    .load_work = fe_load_work,
    .row_resultant = fe_row_resultant,
    .stable_step = pcs_fe_limited_step,
    .draw = fe_draw,
    .contact_points = fe_contact_points,
    .probe = fe_probe,
    .name_equation = fe_name_equation,
};
