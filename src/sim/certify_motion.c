// Equations of motion over a step, each of them, from forces, masses and directions evaluated anew.
//
// A rule (certify_rules.c) states a step as  M e = b,  e a difference of velocities that known accelerations have been
// taken from and b the impulses of smooth forces and rows; where M varies, b at several places,  e = sum M(q_k)^-1 b_k.
// The residual r = M e - b has to vanish in every equation, up to
//
//   tol_i = sum_j (|M_ij| + h |C_ij| + h^2 |K_ij|) (1e-10 V_j) + 64 eps (sum_j |M_ij| (|v_n,j| + |v_j|)
//           + h |f_n,i| + h |f_i| + sum of the impulses) + 256 eps h sum_j |K_ij| Q_j
//   V_j = sqrt(2 E / M_jj),   Q_j = |q_n,j| + |q_j| + L sqrt(m / M_jj)
//
// The first part is what an iteration that ends at 1e-10 of the velocities leaves over, the second round-off of sums,
// the third round-off of positions in stiff forces. C and K are left out for explicit schemes, which evaluate the same
// forces to the last bit; where the velocity of a stage is taken from a way over h, its round-off Q_j eps/h comes in.
// E is the largest energy so far, L and m are size and mass of the model: V and Q have the units of their equation.
// Positions are held against the rule likewise, M e = b with lengths in place of velocities; numbers that add up are
// exact to |q_n| + |q|, rotations in space to Q.
//
// Momentum in sum: 1e-11 of the momenta that enter, 1e-12 of the forces inside over the step, which cancel in it, and
// what the equations, each within its own tolerance, have left over in this step and, through filters, in the last
// ones. The sum of forces inside is at most sqrt(2 S k n), S the strain energy, k the largest stiffness, n the number
// of equations.

#include "sim/certify_data.h"

#include "core/dense.h"
#include "step/columns.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

// A report of several steps says nothing about where the last one began.
bool pcs_certify_prepare(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const pcs_state *x = self->x;
    certify_past *from = &self->past[self->now.past];
    double h = self->report->h;
    self->from = NULL;
    self->residual = self->leftover = 0.0;
    self->allowed = -1;
    if (!from->is_known || !(h > 0.0) || self->report->is_joined) return false;
    if (!(fabs(x->t - from->t - h) <= 1e-6 * h)) return false;
    self->from = from;
    if (!from->has_force) system->ops->force(system, from->t, from->q, from->v, from->f);
    from->has_force = true;
    system->ops->force(system, from->t + h, x->q, x->v, self->f);
    self->has_force = true;
    if (system->ops->way != NULL) system->ops->way(system, from->q, x->q, self->way);
    else
        for (int i = 0; i < system->nv; i++) self->way[i] = x->q[i] - from->q[i];
    return true;
}

static void motion_copy_rows(const pcs_rows *from, pcs_rows *to)
{
    if (from == NULL) return;
    memcpy(to->column, from->column, (size_t)from->start[from->nrow] * sizeof *to->column);
    memcpy(to->value, from->value, (size_t)from->start[from->nrow] * sizeof *to->value);
}

void pcs_certify_aim(pcs_certifier *self, double t, const double *q)
{
    pcs_system *system = self->scheme->system;
    double time = system->time;
    if (system->ops->update_directions == NULL) return; // those of the system serve
    motion_copy_rows(system->G, self->kept_G);
    motion_copy_rows(system->T, self->kept_T);
    system->time = t;
    system->ops->update_directions(system, q);
    system->time = time;
    motion_copy_rows(system->G, self->G);
    motion_copy_rows(system->T, self->T);
    motion_copy_rows(self->kept_G, system->G);
    motion_copy_rows(self->kept_T, system->T);
}

void pcs_certify_weigh(pcs_certifier *self, const double *q)
{
    pcs_system *system = self->scheme->system;
    size_t bytes = (size_t)system->M->pattern->nnz * sizeof(double);
    if (system->ops->update_mass == NULL) return;
    memcpy(self->kept_M->value, system->M->value, bytes);
    system->ops->update_mass(system, q);
    memcpy(self->M->value, system->M->value, bytes);
    memcpy(system->M->value, self->kept_M->value, bytes);
}

void pcs_certify_push(const pcs_certifier *self, double scale, const double *z, const double *z_t, double *y)
{
    pcs_rows_add_all(self->G, scale, z, y);
    if (self->scheme->system->ntangent > 0) pcs_rows_add_all(self->T, scale, z_t, y);
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

static bool motion_rounds_ways(const pcs_certifier *self)
{
    pcs_rule_kind kind = self->rule.kind;
    return kind == PCS_RULE_HEUN || kind == PCS_RULE_HEUN_FORCES || kind == PCS_RULE_BATHE;
}

static double motion_diagonal(const pcs_matrix *M, int j)
{
    for (int k = M->pattern->start[j]; k < M->pattern->start[j + 1]; k++)
        if (M->pattern->row[k] == j) return M->value[k];
    return 0.0;
}

// Adds round-off of the impulses of rows, which may be large against one another.
static void motion_allow_rows(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        double size = fabs(row->step_impulse) + self->report->h * fabs(row->force);
        for (int k = self->G->start[j]; k < self->G->start[j + 1] && size != 0.0; k++)
            self->tolerance[self->G->column[k]] += PCS_ROUND_SUM * size * fabs(self->G->value[k]);
    }
}

// tol_i for equations of motion, `length` 0; or for positions: `length` is h.
static void motion_allow(pcs_certifier *self, double length)
{
    const pcs_system *system = self->scheme->system;
    const pcs_matrix *M = self->M, *C = system->C, *K = system->K;
    const certify_past *from = self->from;
    bool is_implicit = !self->scheme->ops->is_explicit, is_way = length > 0.0, rounds = motion_rounds_ways(self);
    double h = self->report->h, energy = self->now.largest_energy;
    memset(self->tolerance, 0, (size_t)system->nv * sizeof *self->tolerance);
    for (int j = 0; j < system->nv; j++) {
        double mass = motion_diagonal(M, j), speed = PCS_ROUND_MOTION * sqrt(2.0 * energy / mass);
        double stored = fabs(from->q[j]) + fabs(self->x->q[j]), model = system->length * sqrt(system->mass / mass);
        double size = stored + (is_way && system->ops->retract == NULL ? 0.0 : model);
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
    for (int i = 0; i < system->nv && !is_way; i++)
        self->tolerance[i] += PCS_ROUND_SUM * h * (fabs(from->f[i]) + fabs(self->f[i]));
    if (!is_way) motion_allow_rows(self);
    for (int i = 0; i < system->nv && is_way; i++) self->tolerance[i] *= length;
}

void pcs_certify_close(pcs_certifier *self, int check)
{
    const pcs_system *system = self->scheme->system;
    int n = pcs_system_nown(system), worst = -1;
    double ratio = 0.0, mass = 1.0, allowed = 1.0, sum[2] = { 0.0 };
    pcs_matrix_add_multiply(self->M, 1.0, self->e, self->r);
    if (self->allowed != check) motion_allow(self, check == CERTIFY_KINEMATICS ? self->report->h : 0.0);
    self->allowed = check;
    for (int i = 0; i < n; i++) {
        double off = self->r[i] == 0.0 ? 0.0 : fabs(self->r[i]) / self->tolerance[i];
        sum[0] += fabs(self->r[i]);
        sum[1] += fabs(self->r[i]) * 0.5 * (fabs(self->from->v[i]) + fabs(self->x->v[i]));
        if (off <= ratio && worst >= 0) continue;
        ratio = isnan(off) ? INFINITY : off;
        worst = i;
    }
    if (worst >= 0 && check == CERTIFY_KINEMATICS) mass = motion_diagonal(self->M, worst);
    if (worst >= 0) allowed = self->tolerance[worst] / mass;
    pcs_system_sum(system, 2, sum);
    if (check == CERTIFY_MOTION) {
        self->residual += sum[0];
        self->leftover += sum[1];
    }
    // All ranks judge alike.
    pcs_certify_note(self, check, pcs_system_max(system, ratio) * allowed, allowed, -1, worst);
}

void pcs_certify_motion(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    if (self->from == NULL || !pcs_certify_is_on(self, CERTIFY_MOTION)) return;
    pcs_certify_rule(self);
    // What a system keeps of its rows belongs to the end of the step again.
    if (system->ops->update_directions != NULL) system->ops->gaps(system, self->x->q, self->gap);
}

// Momentum that the rows gave in the step, friction included, and the sum of its sizes. Directions that vary stand
// where the law was imposed.
static double motion_row_momentum(pcs_certifier *self, double sum[3])
{
    const pcs_system *system = self->scheme->system;
    double size = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        if (system->ops->update_directions != NULL && system->ops->row_resultant != NULL)
            system->ops->row_resultant(system, j, self->resultant[j]);
        for (int k = 0; k < 3; k++) {
            sum[k] += row->step_impulse * self->resultant[j][k];
            size += fabs(row->step_impulse * self->resultant[j][k]);
        }
        for (int t = 0; t < system->rows[j].ntangent && system->ops->tangent_resultant != NULL; t++) {
            double across[3] = { 0.0 };
            if (row->tangent[t] == 0.0) continue;
            system->ops->tangent_resultant(system, system->rows[j].first_tangent + t, across);
            for (int k = 0; k < 3; k++) sum[k] += row->tangent[t] * across[k];
        }
    }
    return size;
}

void pcs_certify_fade(double *sum, double latest)
{
    enum { REMEMBERED = 64 }; // steps over which filters carry residuals on
    *sum = latest + (1.0 - 1.0 / REMEMBERED) * *sum;
    if (*sum < DBL_MIN) *sum = 0.0; // numbers below are slow
}

void pcs_certify_momentum(pcs_certifier *self)
{
    const pcs_step_report *report = self->report;
    double defect = 0.0, rows[3] = { 0.0 }, strain = fmax(self->now.measure.strain, report->measure.strain);
    double size = motion_row_momentum(self, rows) + self->scheme->system->mass * pcs_certify_speed(self);
    for (int k = 0; k < 3; k++) {
        double expected = self->now.momentum[k] + report->smooth_impulse[k] + rows[k];
        double off = fabs(report->measure.free_momentum[k] - expected);
        if (!(off <= defect)) defect = isnan(off) ? INFINITY : off; // fmax would lose a NaN
        size += fabs(report->smooth_impulse[k]);
        self->now.momentum[k] = report->measure.free_momentum[k];
    }
    double inside = report->h * sqrt(2.0 * strain * self->stiffness);
    pcs_certify_fade(&self->now.residual, self->residual);
    double tolerance = PCS_ROUND_VELOCITY * size + PCS_ROUND_FORCE * inside + 4.0 * self->now.residual;
    pcs_certify_note(self, CERTIFY_MOMENTUM, defect, tolerance, -1, -1);
}
