#include "system/defaults.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pcs_default_update_mass(pcs_system *self, const double *q)
{
    (void)self, (void)q;
}

void pcs_default_update_tangents(pcs_system *self, double t, const double *q, const double *v)
{
    (void)self, (void)t, (void)q, (void)v;
}

void pcs_default_add_inertia_stiffness(pcs_system *self, const double *q, const double *a)
{
    (void)self, (void)q, (void)a;
}

void pcs_default_update_directions(pcs_system *self, const double *q)
{
    (void)self, (void)q;
}

void pcs_default_update_slopes(pcs_system *self, const double *q, const double *x)
{
    (void)self, (void)q, (void)x;
}

void pcs_default_add_joint_stiffness(pcs_system *self, const double *q, const double *lam)
{
    (void)self, (void)q, (void)lam;
}

void pcs_default_row_drives(const pcs_system *self, double t, double *way, double *speed)
{
    (void)t;
    memset(way, 0, (size_t)self->nrow * sizeof *way);
    memset(speed, 0, (size_t)self->nrow * sizeof *speed);
}

pcs_status pcs_default_search(pcs_system *self, const double *q, bool *has_changed)
{
    (void)self, (void)q;
    *has_changed = false;
    return PCS_OK;
}

void pcs_default_passages(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                          pcs_passage *worst)
{
    (void)self, (void)q0, (void)q1, (void)rows, (void)worst;
}

void pcs_default_rate_bias(pcs_system *self, const double *q, const double *v, double *bias)
{
    (void)q, (void)v;
    memset(bias, 0, (size_t)self->nrow * sizeof *bias);
}

void pcs_default_resultant(const pcs_system *self, double t, const double *q, const double *v, double sum[3])
{
    (void)self, (void)t, (void)q, (void)v;
    sum[0] = sum[1] = sum[2] = 0.0;
}

// |x1 - x0|^2 in the norm of a matrix.
static double defaults_norm2(const pcs_matrix *A, const double *x0, const double *x1)
{
    const pcs_pattern *p = A->pattern;
    double sum = 0.0;
    for (int j = 0; j < p->n; j++)
        for (int k = p->start[j]; k < p->start[j + 1]; k++)
            sum += (x1[p->row[k]] - x0[p->row[k]]) * A->value[k] * (x1[j] - x0[j]);
    return sum;
}

pcs_change pcs_default_change(const pcs_system *self, const double *q0, const double *q1, const double *v0,
                              const double *v1)
{
    return (pcs_change){ defaults_norm2(self->K, q0, q1), defaults_norm2(self->M, v0, v1) };
}

double pcs_default_damping_power(const pcs_system *self, const double *q, const double *v, const double *u)
{
    (void)q;
    double power = 0.0;
    if (self->C == NULL) return 0.0;
    for (int j = 0; j < self->nv; j++)
        for (int k = self->C->pattern->start[j]; k < self->C->pattern->start[j + 1]; k++)
            power += u[self->C->pattern->row[k]] * self->C->value[k] * v[j];
    return power;
}

double pcs_default_internal_loss(const pcs_system *self, double t, const double *q)
{
    (void)self, (void)t, (void)q;
    return 0.0;
}

void pcs_default_commit(pcs_system *self, double t, const double *q, const double *v)
{
    (void)self, (void)t, (void)q, (void)v;
}

double pcs_default_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    (void)self, (void)t, (void)q0, (void)q1;
    return 0.0;
}

double pcs_default_load_power(const pcs_system *self, double t, const double *q, const double *v)
{
    (void)self, (void)t, (void)q, (void)v;
    return 0.0;
}

void pcs_default_row_resultant(const pcs_system *self, int row, double out[3])
{
    (void)self, (void)row;
    out[0] = out[1] = out[2] = 0.0;
}

void pcs_default_reactions(pcs_system *self, double h, const double *q, const double *v, const pcs_row_report *rows,
                           pcs_reaction *out)
{
    (void)h, (void)q, (void)v, (void)rows;
    memset(out, 0, (size_t)self->nreaction * sizeof *out);
}

double pcs_default_stable_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit)
{
    (void)v;
    if (q != NULL) return INFINITY;
    double step = limit->modes(limit->params, 2.0 / self->stable_step, 0.0);
    return step > 0.0 ? step : INFINITY;
}

void pcs_default_draw(pcs_system *self, const double *q, const double *v, pcs_picture *picture)
{
    (void)self, (void)q, (void)v, (void)picture;
}

void pcs_default_contact_points(pcs_system *self, const double *q, double (*position)[3], double (*normal)[3])
{
    (void)q;
    memset(position, 0, (size_t)self->nrow * sizeof *position);
    memset(normal, 0, (size_t)self->nrow * sizeof *normal);
}

void pcs_default_press(pcs_system *self, const double *q, const double *v, pcs_row_report *rows)
{
    (void)self, (void)q, (void)v, (void)rows;
}

void pcs_default_tangents(const pcs_system *self, double (*across)[3])
{
    memset(across, 0, (size_t)self->ntangent * sizeof *across);
}

double pcs_default_probe(const pcs_system *self, const pcs_probe *probe, const double *q, const double *v)
{
    (void)self;
    double sum = 0.0;
    for (int i = 0; i < probe->count; i++) sum += probe->quantity == 0 ? q[probe->items[i]] : v[probe->items[i]];
    return sum / probe->count;
}

pcs_status pcs_default_find_sizes(const pcs_system *self, pcs_scale *out)
{
    (void)self, (void)out;
    return PCS_OK;
}

pcs_status pcs_default_find_rigid(const pcs_system *self, const double *q, pcs_rigid *out)
{
    (void)q;
    (void)self, (void)out;
    return PCS_OK;
}
