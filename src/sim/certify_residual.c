// Helpers of all checks: comparing a value with its tolerance, evaluating row directions and mass at given positions,
// and the residual of a set of equations with the round-off allowed in each.

#include "sim/certify_data.h"

#include "core/dense.h"
#include "core/rounding.h"
#include "step/projection.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

void pcs_certify_know(pcs_certifier *self, int check)
{
    const pcs_check *c = self->check[check];
    double known = INFINITY;
    if (c != NULL) known = c->tolerance > 0.0 ? c->worst_ratio * (1.0 - 4.0 * DBL_EPSILON) : -INFINITY;
    self->now.known[check] = known;
}

void pcs_certify_weigh_up(pcs_certifier *self, int check, double value, double tolerance, int row, int equation)
{
    pcs_check *c = self->check[check];
    if (c == NULL) return;
    if (value <= 0.0 && c->tolerance > 0.0) return;
    double ratio = value <= 0.0 ? 0.0 : value / tolerance;
    if (isnan(ratio)) ratio = INFINITY;
    if (ratio > c->worst_ratio || c->tolerance == 0.0) {
        c->worst_ratio = ratio;
        c->worst_value = value <= 0.0 ? 0.0 : value;
        c->tolerance = tolerance;
        c->worst_time = self->x == NULL ? 0.0 : self->x->t;
        pcs_certify_know(self, check);
    }
    if (!(ratio > 1.0) || c->is_reported_only || self->now.certificate.broken != NULL) return;
    self->now.certificate.broken = c;
    self->now.bad_row = pcs_row_number(self->scheme->system, row);
    self->now.bad_equation = equation;
}

void pcs_certify_aim(pcs_certifier *self, double t, const double *q)
{
    pcs_system *system = self->scheme->system;
    if (!system->row_set.vary) return; // those of the system serve
    system->ops->evaluate_rows(system, pcs_at(t, q, NULL), &(pcs_row_values){ .G = self->G, .T = self->T });
}

void pcs_certify_weigh(pcs_certifier *self, const double *q)
{
    pcs_system *system = self->scheme->system;
    size_t bytes = (size_t)system->M->pattern->nnz * sizeof(double);
    if (!system->mass_varies) return;
    memcpy(self->kept_M->value, system->M->value, bytes);
    system->ops->update(system, pcs_at(self->x->t, q, NULL), PCS_MASS, NULL);
    memcpy(self->M->value, system->M->value, bytes);
    memcpy(system->M->value, self->kept_M->value, bytes);
}

void pcs_certify_push(const pcs_certifier *self, double scale, const double *z, const double *z_t, double *y)
{
    pcs_rows_add_all(self->G, scale, z, y);
    if (pcs_system_ntangent(self->scheme->system) > 0) pcs_rows_add_all(self->T, scale, z_t, y);
}

void pcs_certify_open(pcs_certifier *self)
{
    memset(self->r, 0, (size_t)self->scheme->system->nv * sizeof *self->r);
    memset(self->b, 0, (size_t)self->scheme->system->nv * sizeof *self->b);
}

void pcs_certify_take(pcs_certifier *self)
{
    int n = self->scheme->system->nv;
    bool varies = self->dense != NULL;
    if (varies) {
        memcpy(self->dense, self->M->value, (size_t)n * (size_t)n * sizeof *self->dense);
        if (!pcs_dense_solve(n, self->dense, self->b)) self->b[0] = NAN;
    }
    for (int i = 0; i < n; i++) {
        if (varies) self->e[i] -= self->b[i];
        else self->r[i] -= self->b[i];
        self->b[i] = 0.0;
    }
}

static bool residual_rounds_ways(const pcs_certifier *self)
{
    pcs_rule_kind kind = self->rule.kind;
    return kind == PCS_RULE_HEUN || kind == PCS_RULE_HEUN_FORCES;
}

// Adds round-off of the impulses of rows, which may be large against one another.
static void residual_allow_rows(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const pcs_halo *halo = self->G->halo;
    pcs_halo_open(halo);
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        double size = fabs(row->step_impulse) + self->report->h * fabs(row->force);
        if (size != 0.0)
            for (int k = self->G->start[j]; k < self->G->start[j + 1]; k++)
                *pcs_halo_at(halo, self->G->column[k], self->tolerance) +=
                    PCS_ROUND_SUM * size * fabs(self->G->value[k]);
    }
    pcs_halo_close(halo, self->tolerance);
}

// tol_i for equations of motion, `length` 0; or for positions: `length` is h.
static void residual_allow(pcs_certifier *self, double length)
{
    const pcs_system *system = self->scheme->system;
    const pcs_matrix *M = self->M, *C = system->C, *K = system->K;
    const certify_past *from = self->from;
    bool is_implicit = !self->scheme->ops->is_explicit, is_way = length > 0.0, rounds = residual_rounds_ways(self);
    double h = self->report->h, energy = self->now.largest_energy;
    memset(self->tolerance, 0, (size_t)system->nv * sizeof *self->tolerance);
    for (int j = 0; j < system->nv; j++) {
        double mass = pcs_matrix_diagonal(M, j);
        if (!(mass > 0.0)) continue; // a copy that a force law presses on: its mass is that of another rank
        double speed = PCS_ROUND_MOTION * sqrt(2.0 * energy / mass);
        double stored = fabs(from->q[j]) + fabs(self->x->q[j]), model = system->length * sqrt(system->mass / mass);
        double size = stored + (is_way && !system->rotations.are_somewhere ? 0.0 : model);
        double sum = PCS_ROUND_SUM * (fabs(from->v[j]) + fabs(self->x->v[j]));
        double way = rounds ? PCS_ROUND_SUM * size / h : 0.0, stiff = h * h * speed + 4.0 * PCS_ROUND_SUM * h * size;
        if (is_way) sum = PCS_ROUND_SUM * size / length;
        for (int k = M->pattern->start[j]; k < M->pattern->start[j + 1]; k++) {
            double *tolerance = &self->tolerance[M->pattern->row[k]];
            *tolerance += fabs(M->value[k]) * (speed + sum + way);
            if (is_way) continue;
            if (is_implicit && K != NULL) *tolerance += fabs(K->value[k]) * stiff;
            if ((is_implicit || rounds) && C != NULL) *tolerance += h * fabs(C->value[k]) * (speed + way);
        }
    }
    if (!is_way)
        for (int i = 0; i < system->nv; i++)
            self->tolerance[i] += PCS_ROUND_SUM * h * (fabs(from->f[i]) + fabs(self->f[i]));
    if (!is_way) residual_allow_rows(self);
    if (is_way)
        for (int i = 0; i < system->nv; i++) self->tolerance[i] *= length;
}

void pcs_certify_close(pcs_certifier *self, int check)
{
    const pcs_system *system = self->scheme->system;
    int n = pcs_system_nown(system), worst = -1;
    double ratio = 0.0, mass = 1.0, allowed = 1.0, sum[2] = { 0.0 };
    pcs_matrix_add_multiply(self->M, 1.0, self->e, self->r);
    if (self->allowed != check) residual_allow(self, check == CERTIFY_KINEMATICS ? self->report->h : 0.0);
    self->allowed = check;
    for (int i = 0; i < n; i++) {
        double off = self->r[i] == 0.0 ? 0.0 : fabs(self->r[i]) / self->tolerance[i];
        sum[0] += fabs(self->r[i]);
        sum[1] += fabs(self->r[i]) * 0.5 * (fabs(self->from->v[i]) + fabs(self->x->v[i]));
        if (off <= ratio && worst >= 0) continue;
        ratio = isnan(off) ? INFINITY : off;
        worst = i;
    }
    if (worst >= 0 && check == CERTIFY_KINEMATICS) mass = pcs_matrix_diagonal(self->M, worst);
    if (worst >= 0) allowed = self->tolerance[worst] / mass;
    pcs_system_sum(system, 2, sum);
    if (check == CERTIFY_MOTION) {
        self->residual += sum[0];
        self->leftover += sum[1];
    }
    // All ranks judge alike.
    pcs_certify_note(self, check, pcs_system_max(system, ratio) * allowed, allowed, -1, worst);
}
