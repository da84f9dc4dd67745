// Equations of motion over a step, each of them, from forces, masses and directions evaluated anew.
//
// A rule (schemes/rule.h) states a step as  M e = b,  e a difference of velocities that known accelerations have been
// taken from and b the impulses of smooth forces and rows; where M varies, b at several places,  e = sum M(q_k)^-1 b_k.
// The residual r = M e - b has to vanish in every equation, up to
//
//   tol_i = sum_j (|M_ij| + h |C_ij| + h^2 |K_ij|) (1e-10 V_j) + 64 eps (sum_j |M_ij| (|v_n,j| + |v_j|)
//           + h |f_n,i| + h |f_i| + sum of the impulses) + 256 eps h sum_j |K_ij| Q_j
//   V_j = sqrt(2 E / M_jj),   Q_j = |q_n,j| + |q_j| + L sqrt(m / M_jj)
//
// The first part is what an iteration that ends at 1e-10 of the velocities leaves over, the second round-off of sums,
// the third round-off of positions in stiff forces. C and K are left out for explicit schemes, which evaluate the same
// forces to the last bit; where the velocity of a stage is an increment over h, its round-off Q_j eps/h comes in.
// E is the largest energy so far, L and m are size and mass of the model: V and Q have the units of their equation.
// Positions are held against the rule likewise, M e = b with lengths in place of velocities; numbers that add up are
// exact to |q_n| + |q|, rotations in space to Q.
//
// Momentum in sum: 1e-11 of the momenta that enter, 1e-12 of the forces inside over the step, which cancel in it, and
// what the equations, each within its own tolerance, have left over in this step and, through filters, in the last
// ones. The sum of forces inside is at most sqrt(2 S k n), S the strain energy, k the largest stiffness, n the number
// of equations.
//
// Left out, because state and report do not show what is needed: reports of several steps in one; impacts of
// jump_newmark where forces see velocities (the forces before the impact are not kept); position corrections of
// ggl_midpoint; steps of Runge-Kutta schemes in which a row acts; tdg of degree > 1, mannshardt and event_driven. What
// applies to all of them are the laws of the rows, momentum in sum and energy.

#include "sim/certify_data.h"

#include "core/dense.h"
#include "core/rounding.h"
#include "step/projection.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

void pcs_certify_evaluate(pcs_certifier *self, double t, const double *q, double *gap, const double *v, double *rate)
{
    pcs_row_values out = { .gap = gap };
    if (self->system->row_set.vary) {
        out.G = self->G;
        out.T = self->T;
    }
    if (gap != NULL || out.G != NULL) {
        self->system->ops->evaluate_rows(self->system, pcs_at(t, q, NULL), &out);
        self->has_moved = true;
    }
    for (int j = 0; j < (rate == NULL ? 0 : self->system->nrow); j++) rate[j] = pcs_rows_dot(self->G, j, v);
}

// Evaluates the mass at q into self->M. The system stays.
static void motion_weigh(pcs_certifier *self, const double *q)
{
    pcs_system *system = self->system;
    pcs_matrix *own = system->M;
    if (!system->mass_varies) return;
    system->M = self->M;
    system->ops->update(system, pcs_at(self->x->t, q, NULL), PCS_MASS, NULL);
    system->M = own;
}

// Begins the residual of the velocity e: r = 0.
static void motion_open(pcs_certifier *self)
{
    memset(self->r, 0, (size_t)self->system->nv * sizeof *self->r);
    memset(self->b, 0, (size_t)self->system->nv * sizeof *self->b);
}

// Subtracts the impulse b from it, with the mass evaluated last.
static void motion_take(pcs_certifier *self)
{
    int n = self->system->nv;
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

// Adds round-off of the impulses of rows, which may largely cancel.
static void motion_allow_rows(pcs_certifier *self)
{
    const pcs_halo *halo = self->G->halo;
    pcs_halo_open(halo);
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        double size = fabs(row->step_impulse) + self->h * fabs(row->force);
        if (size != 0.0)
            for (int k = self->G->start[j]; k < self->G->start[j + 1]; k++)
                *pcs_halo_at(halo, self->G->column[k], self->tolerance) +=
                    PCS_ROUND_SUM * size * fabs(self->G->value[k]);
    }
    pcs_halo_close(halo, self->tolerance);
}

// Adds column j of |A| times `size` to `sum`.
static inline void motion_add_column(const pcs_matrix *A, int j, double size, double *sum)
{
    const pcs_entries *few = A->entries;
    const int *row = A->pattern->row, *start = few == NULL ? A->pattern->start : few->start;
    for (int k = start[j]; k < start[j + 1]; k++) {
        int place = few == NULL ? k : few->place[k];
        sum[row[place]] += fabs(A->value[place]) * size;
    }
}

// Sets tol_i for equations of motion (`length` 0), or for positions (`length` h).
static void motion_allow(pcs_certifier *self, double length)
{
    const pcs_system *system = self->system;
    const pcs_matrix *M = self->M, *C = system->C, *K = system->K;
    const pcs_state *from = self->from;
    bool is_implicit = !pcs_rule_is_explicit(self->rule), is_length = length > 0.0;
    bool rounds = self->rule->kind == PCS_RULE_HEUN; // the velocity of the stage comes from the displacement
    double h = self->h, energy = self->now.largest_energy;
    memset(self->tolerance, 0, (size_t)system->nv * sizeof *self->tolerance);
    for (int j = 0; j < system->nv; j++) {
        double mass = pcs_matrix_diagonal(M, j);
        if (!(mass > 0.0)) continue; // a copy that a force law presses on has its mass in another process
        double speed = PCS_ROUND_MOTION * sqrt(2.0 * energy / mass);
        double stored = fabs(from->q[j]) + fabs(self->x->q[j]), model = system->length * sqrt(system->mass / mass);
        double size = stored + (is_length && !system->rotations.are_somewhere ? 0.0 : model);
        double sum = PCS_ROUND_SUM * (fabs(from->v[j]) + fabs(self->x->v[j]));
        double increment = rounds ? PCS_ROUND_SUM * size / h : 0.0,
               stiff = h * h * speed + 4.0 * PCS_ROUND_SUM * h * size;
        if (is_length) sum = PCS_ROUND_SUM * size / length;
        motion_add_column(M, j, speed + sum + increment, self->tolerance);
        if (is_implicit && !is_length && K != NULL) motion_add_column(K, j, stiff, self->tolerance);
        if ((is_implicit || rounds) && !is_length && C != NULL)
            motion_add_column(C, j, h * (speed + increment), self->tolerance);
    }
    if (!is_length)
        for (int i = 0; i < system->nv; i++)
            self->tolerance[i] += PCS_ROUND_SUM * h * (fabs(self->f0[i]) + fabs(self->f[i]));
    if (!is_length) motion_allow_rows(self);
    if (is_length)
        for (int i = 0; i < system->nv; i++) self->tolerance[i] *= length;
}

// Adds M e to r and checks it: e is a velocity, or a displacement for CERTIFY_KINEMATICS.
static void motion_close(pcs_certifier *self, int check)
{
    const pcs_state *from = self->from;
    int n = pcs_system_nown(self->system), worst = -1;
    double ratio = 0.0, mass = 1.0, allowed = 1.0, sum[2] = { 0.0 };
    pcs_matrix_add_multiply(self->M, 1.0, self->e, self->r);
    if (self->allowed != check) motion_allow(self, check == CERTIFY_KINEMATICS ? self->h : 0.0);
    self->allowed = check;
    for (int i = 0; i < n; i++) {
        double off = self->r[i] == 0.0 ? 0.0 : fabs(self->r[i]) / self->tolerance[i];
        sum[0] += fabs(self->r[i]);
        double mean = 0.5 * (fabs(from->v[i]) + fabs(self->x->v[i]));
        sum[1] += fabs(self->r[i]) * pcs_max(mean, fabs(self->x->q[i] - from->q[i]) / self->h);
        if (off <= ratio && worst >= 0) continue;
        ratio = isnan(off) ? INFINITY : off;
        worst = i;
    }
    if (worst >= 0 && check == CERTIFY_KINEMATICS) mass = pcs_matrix_diagonal(self->M, worst);
    if (worst >= 0) allowed = self->tolerance[worst] / mass;
    pcs_system_sum(self->system, 2, sum);
    if (check == CERTIFY_MOTION) {
        self->residual += sum[0];
        self->leftover += sum[1];
    }
    // all processes judge alike
    self->equation = worst;
    pcs_certify_note(self, check, pcs_system_max(self->system, ratio) * allowed, allowed, -1);
    self->equation = -1;
}

// Parts of the impulses of rows: all of the step, forces of the smooth motion at the end, those that move positions
// without impacts, and those of the stages of Heun's rule, the first of which counts half in the velocity.
typedef enum motion_part { WHOLE, FORCES, INCREMENTS, FIRST, LAST } motion_part;

// Returns the share of a part in an impulse of a row: `whole` over the step, impact included, `last` of the last law;
// `more` moves positions besides.
static double motion_share(motion_part part, double whole, double impact, double last, double increment, double more)
{
    switch (part) {
    case INCREMENTS: return increment * (whole - impact) + more;
    case FIRST: return whole - last;
    case LAST: return last;
    default: return whole;
    }
}

// Returns the force of a row on the smooth motion at the end, N.
static double motion_smooth_force(const pcs_certifier *self, int row)
{
    const pcs_row_report *r = &self->report->rows[row];
    if (self->rule->position == PCS_POSITION_FORCE) return r->force;
    return pcs_rule_has_smooth_joints(self->rule) && self->system->rows[row].is_bilateral ? r->lam : 0.0;
}

// Adds `scale` times the momentum that a part of the impulses of rows gives to the equations to y.
static void motion_push(pcs_certifier *self, motion_part part, double scale, double *y)
{
    const pcs_system *system = self->system;
    const pcs_rule *rule = self->rule;
    bool separates = pcs_rule_separates_impacts(rule) && self->survey.is_hit;
    bool has_forces = rule->level == PCS_LEVEL_ACCELERATION && !self->survey.is_hit;
    double increment = self->h * rule->impulse_weight, tangent_impulse_weight = self->h * rule->tangent_impulse_weight;
    double is_smooth = pcs_rule_has_smooth_joints(rule), is_impulse = rule->position != PCS_POSITION_FORCE;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *r = &self->report->rows[j];
        double last = has_forces ? 0.5 * self->h * r->force : r->multiplier;
        double z = motion_share(part, is_impulse * r->step_impulse, separates ? r->impulse : 0.0, last, increment,
                                is_smooth * r->nu);
        if (part == FIRST) z = pcs_system_transport(system, j, self->x->q, self->from->q, z);
        self->z[j] = part == FORCES ? motion_smooth_force(self, j) : z;
        for (int t = 0; t < system->rows[j].ntangent; t++) {
            last = r->last_tangent[t];
            z = motion_share(part, r->tangent[t], separates ? last : 0.0, last, tangent_impulse_weight,
                             is_smooth * r->nu_t[t]);
            self->z_t[system->rows[j].first_tangent + t] = part == FORCES ? 0.0 : z;
        }
    }
    pcs_rows_add_all(self->G, scale, self->z, y);
    if (pcs_system_ntangent(system) > 0) pcs_rows_add_all(self->T, scale, self->z_t, y);
}

static bool motion_has_impulses(const pcs_certifier *self)
{
    bool has_some = false;
    for (int j = 0; j < self->system->nrow && !has_some; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        has_some = row->step_impulse != 0.0 || row->tangent[0] != 0.0 || row->tangent[1] != 0.0;
    }
    return pcs_rows_any(self->system, has_some);
}

// Checks that an acceleration of the state satisfies M_1 a = f_1 + smooth forces of rows.
static void motion_check_acceleration(pcs_certifier *self, const double *a)
{
    double h = self->h;
    motion_open(self);
    for (int i = 0; i < self->system->nv; i++) {
        self->e[i] = h * a[i];
        self->r[i] = -h * self->f[i];
    }
    motion_push(self, FORCES, -h, self->r);
    motion_close(self, CERTIFY_MOTION);
}

// Checks M_1 e = G_1^T P with all impulses P or those that move positions, for the velocity or the displacement e.
static void motion_check_jump(pcs_certifier *self, motion_part part)
{
    motion_open(self);
    motion_push(self, part, -1.0, self->r);
    motion_close(self, part == INCREMENTS ? CERTIFY_KINEMATICS : CERTIFY_MOTION);
}

// Checks positions that follow a mean of both velocities.
static void motion_check_mean_increment(pcs_certifier *self)
{
    double h = self->h, move = self->rule->move;
    if (isnan(move)) return;
    for (int i = 0; i < self->system->nv; i++)
        self->e[i] = self->increment[i] - h * ((1.0 - move) * self->from->v[i] + move * self->x->v[i]);
    motion_open(self);
    motion_close(self, CERTIFY_KINEMATICS);
}

// Evaluates directions and mass at a position.
static void motion_evaluate(pcs_certifier *self, double t, const double *q)
{
    pcs_certify_evaluate(self, t, q, NULL, NULL, NULL);
    motion_weigh(self, q);
}

static void motion_evaluate_at_end(pcs_certifier *self)
{
    motion_evaluate(self, self->from->t + self->h, self->x->q);
}

// Rotates the directions of rows by `part` of the increment, as impulses that move positions do (step/projection.h).
static void motion_transport_back(pcs_certifier *self, double part)
{
    const pcs_system *system = self->system;
    if (!system->row_set.vary) return;
    pcs_rotate_rows(&system->rotations, self->increment, part, self->G);
    if (system->ntangent > 0) pcs_rotate_rows(&system->rotations, self->increment, part, self->T);
}

// Checks an implicit rule. vd belongs to the end. Velocities follow from the filtered acceleration of these formulas,
// and positions from that of the scheme, so that the two are compared.
static void motion_implicit(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    const pcs_weights *w = &self->rule->w;
    int last = self->scheme->ops->nhistory - 1; // a = vd if there is only one history
    const double *v0 = from->v, *a0 = from->history[0], *vd0 = from->history[last];
    const double *a = self->x->history[0], *vd = self->x->history[last];
    double h = self->h;
    bool has_impact = pcs_rule_separates_impacts(self->rule) && self->survey.is_hit;
    if (has_impact && (!self->system->is_linear || pcs_system_is_damped(self->system))) return;
    motion_evaluate_at_end(self);
    motion_check_acceleration(self, vd);
    motion_transport_back(self, self->rule->tangent_impulse_weight);
    for (int i = 0; i < self->system->nv; i++) {
        double filtered = ((1.0 - w->af) * vd[i] + w->af * vd0[i] - w->am * a0[i]) / (1.0 - w->am);
        self->e[i] = self->x->v[i] - v0[i] - h * ((1.0 - w->ga) * a0[i] + w->ga * filtered);
    }
    motion_check_jump(self, WHOLE);
    if (last == 0) { // positions follow a mean of velocities, without terms in a that cancel
        motion_check_mean_increment(self);
        return;
    }
    for (int i = 0; i < self->system->nv; i++)
        self->e[i] = self->increment[i] - h * v0[i] - h * h * ((self->rule->move - w->be) * a0[i] + w->be * a[i]);
    motion_check_jump(self, INCREMENTS);
}

static void motion_add_forces(pcs_certifier *self, double scale, const double *f)
{
    for (int i = 0; i < self->system->nv; i++) self->b[i] += scale * f[i];
}

// Evaluates forces at q, v, t in place of those at the end.
static void motion_force(pcs_certifier *self, double t, const double *q, const double *v)
{
    self->system->ops->force(self->system, pcs_at(t, q, v), self->f);
    self->allowed = -1;
}

// Checks a rule with one evaluation of forces, M(Q) (v - v_n) = duration f(t_Q, Q, V) + G(Q)^T La: at the start or at
// qM. PCS_RULE_EULER has mass and rows of La at the end, PCS_RULE_MEAN the mass at qM, and so has PCS_RULE_WAVE, of the
// velocities u with u + u_n = 2 V.
static void motion_stage(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    pcs_rule_kind kind = self->rule->kind;
    bool is_wave = kind == PCS_RULE_WAVE;
    const double *v0 = is_wave ? from->history[0] : from->v, *v1 = is_wave ? self->x->history[0] : self->x->v;
    bool is_of_start = kind == PCS_RULE_EULER || kind == PCS_RULE_CENTRAL;
    double h = self->h, duration = kind == PCS_RULE_CENTRAL ? 0.5 * (self->now.h + h) : h;
    double last = kind == PCS_RULE_MEAN || is_wave ? 0.5 : 0.0; // weight of the end in Q and V
    double ahead = is_of_start ? 0.0 : 0.5 * h, t = from->t + ahead;
    motion_evaluate_at_end(self);
    motion_check_mean_increment(self);
    for (int i = 0; i < self->system->nv; i++) {
        self->increment[i] = from->q[i] + ahead * from->v[i];
        self->e[i] = v1[i] + v0[i] - 2.0 * self->x->v[i];
    }
    if (is_wave) {
        motion_open(self);
        motion_close(self, CERTIFY_MOTION);
    }
    motion_weigh(self, self->increment);
    for (int i = 0; i < self->system->nv; i++) {
        if (last > 0.0) self->increment[i] = (1.0 - last) * from->q[i] + last * self->x->q[i];
        self->tolerance[i] = (1.0 - last) * v0[i] + last * v1[i];
    }
    self->allowed = -1;
    if (!is_of_start) motion_force(self, t, self->increment, self->tolerance);
    motion_open(self);
    for (int i = 0; i < self->system->nv; i++) self->e[i] = v1[i] - v0[i];
    motion_add_forces(self, duration, is_of_start ? self->f0 : self->f);
    if (kind == PCS_RULE_EULER) {
        motion_take(self);
        motion_evaluate_at_end(self);
    } else {
        pcs_certify_evaluate(self, t, self->increment, NULL, NULL, NULL);
    }
    motion_push(self, WHOLE, 1.0, self->b);
    motion_take(self);
    motion_close(self, CERTIFY_MOTION);
}

// Returns true if a row was closed at the start, so that the first stage may have pushed it. An impact says nothing.
static bool motion_was_closed(const pcs_certifier *self)
{
    const pcs_system *system = self->system;
    bool was_closed = false;
    for (int j = 0; j < system->nrow; j++)
        was_closed =
            was_closed || system->rows[j].is_bilateral || self->start_gap[j] <= PCS_ROUND_LENGTH * system->length;
    return pcs_rows_any(system, was_closed) || (motion_has_impulses(self) && !self->survey.is_hit);
}

// Checks q = q_n + h v_n + (h^2/2) a_n + (h/2) M_n^-1 G_n^T P0. In an impact P0 is not reported.
static void motion_check_heun_increment(pcs_certifier *self)
{
    double h = self->h;
    if (self->survey.is_hit && motion_was_closed(self)) return;
    motion_open(self);
    for (int i = 0; i < self->system->nv; i++) self->e[i] = self->increment[i] - h * self->from->v[i];
    motion_add_forces(self, 0.5 * h * h, self->f0);
    motion_push(self, FIRST, h, self->b);
    motion_take(self);
    motion_close(self, CERTIFY_KINEMATICS);
}

// Checks v = v_n + M_n^-1 ((h/2) f_n + G_n^T P0/2) + M_1^-1 ((h/2) f(q, v1) + G_1^T P1), v1 = 2 (q - q_n)/h - v_n.
static void motion_heun(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    double h = self->h;
    motion_evaluate_at_end(self);
    if (self->rule->level == PCS_LEVEL_VELOCITY) motion_check_acceleration(self, self->x->history[0]);
    motion_evaluate(self, from->t, from->q);
    motion_check_heun_increment(self);
    motion_open(self);
    for (int i = 0; i < self->system->nv; i++) self->e[i] = self->x->v[i] - from->v[i];
    motion_add_forces(self, 0.5 * h, self->f0);
    motion_push(self, FIRST, 1.0, self->b);
    motion_take(self);
    motion_evaluate_at_end(self);
    for (int i = 0; i < self->system->nv; i++) self->increment[i] = 2.0 * self->increment[i] / h - from->v[i];
    motion_force(self, from->t + h, self->x->q, self->increment);
    motion_add_forces(self, 0.5 * h, self->f);
    motion_push(self, LAST, 1.0, self->b);
    motion_take(self);
    motion_close(self, CERTIFY_MOTION);
}

// Computes out = h times the sum of `count` weighted vectors.
static void motion_sum(int n, double h, int count, const double *weight, double *const *vectors, double *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < count; k++)
        if (weight[k] != 0.0)
            for (int i = 0; i < n; i++) out[i] += h * weight[k] * vectors[k][i];
}

// Computes a = M^-1 f at (t, q, v). False if M is singular.
static bool motion_accelerate(pcs_certifier *self, double t, const double *q, const double *v, double *a)
{
    const pcs_system *system = self->system;
    size_t n = (size_t)system->nv;
    system->ops->force(system, pcs_at(t, q, v), a);
    if (self->dense == NULL) {
        pcs_linsolve_solve(self->scheme->solver->mass, a);
        return true;
    }
    motion_weigh(self, q);
    memcpy(self->dense, self->M->value, n * n * sizeof *self->dense);
    return pcs_dense_solve(system->nv, self->dense, a);
}

// Checks a Runge-Kutta rule by computing all stages again.
static void motion_runge_kutta(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    const pcs_tableau *table = self->rule->tableau;
    double h = self->h;
    int n = self->system->nv;
    if (motion_has_impulses(self) || pcs_system_has_joints(self->system)) return;
    for (int k = 0; k < table->s; k++) {
        double *q = self->b, *v = self->stage_v[k];
        motion_sum(n, h, k, table->a[k], self->stage_v, q);
        motion_sum(n, h, k, table->a[k], self->stage_a, v);
        for (int i = 0; i < n; i++) {
            q[i] += from->q[i];
            v[i] += from->v[i];
        }
        if (!motion_accelerate(self, from->t + table->c[k] * h, q, v, self->stage_a[k])) return;
    }
    motion_evaluate_at_end(self);
    motion_open(self);
    motion_sum(n, h, table->s, table->b, self->stage_a, self->e);
    for (int i = 0; i < n; i++) self->e[i] = self->x->v[i] - from->v[i] - self->e[i];
    motion_close(self, CERTIFY_MOTION);
    motion_open(self);
    motion_sum(n, h, table->s, table->b, self->stage_v, self->e);
    for (int i = 0; i < n; i++) self->e[i] = self->increment[i] - self->e[i];
    motion_close(self, CERTIFY_KINEMATICS);
}

void pcs_certify_motion(pcs_certifier *self)
{
    if (!pcs_certify_is_on(self, CERTIFY_MOTION)) return;
    switch (self->rule->kind) {
    case PCS_RULE_IMPLICIT: motion_implicit(self); break;
    case PCS_RULE_HEUN: motion_heun(self); break;
    case PCS_RULE_EULER:
    case PCS_RULE_CENTRAL:
    case PCS_RULE_MIDPOINT:
    case PCS_RULE_MEAN:
    case PCS_RULE_WAVE: motion_stage(self); break;
    case PCS_RULE_RUNGE_KUTTA: motion_runge_kutta(self); break;
    case PCS_RULE_NONE: break;
    }
}
