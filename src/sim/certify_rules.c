// Evaluates the equations that schemes state for a step (schemes/rule.h), rule by rule, as M e = b of certify_motion.c:
// velocities e less known accelerations, impulses b with masses and directions at the positions that the rule uses.
//
// Left out, because state and report do not show what is needed: reports of several steps in one; impacts of
// jump_newmark where forces see velocities (the forces before the impact are not kept); position corrections of
// ggl_midpoint; steps of Runge-Kutta schemes in which a row acts; tdg of degree > 1, mannshardt and event_driven. What
// applies to all of them are the laws of the rows, momentum in sum and energy.

#include "sim/certify_data.h"

#include "core/dense.h"

#include <math.h>
#include <string.h>

enum { AM, AF, GA, BE };

void pcs_certify_alpha(const pcs_rule *rule, double number[4])
{
    double rho = rule->radius, lag = rule->lag;
    if (!isnan(rho)) {
        number[AM] = (2.0 * rho - 1.0) / (rho + 1.0);
        number[AF] = rho / (rho + 1.0);
        number[GA] = 0.5 - number[AM] + number[AF];
    } else {
        number[AM] = 0.0;
        number[AF] = isnan(lag) ? 0.0 : lag;
        number[GA] = isnan(lag) ? rule->gamma : 0.5 + lag;
    }
    number[BE] = isnan(rule->beta) ? 0.25 * (number[GA] + 0.5) * (number[GA] + 0.5) : rule->beta;
}

static int rule_size(const pcs_certifier *self)
{
    return self->scheme->system->nv;
}

static bool rule_sees_velocity(const pcs_system *system)
{
    return !system->is_linear || pcs_system_is_damped(system);
}

// Impulses of all rows over the step, or of those alone that are no impact.
static void rule_impulses(pcs_certifier *self, bool is_smooth)
{
    const pcs_system *system = self->scheme->system;
    bool separates = self->scheme->ops->separates_impacts && self->survey.is_hit;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        self->z[j] = row->step_impulse - (is_smooth && separates ? row->impulse : 0.0);
        for (int t = 0; t < system->rows[j].ntangent; t++)
            self->z_t[system->rows[j].first_tangent + t] =
                row->tangent[t] - (is_smooth && separates ? row->last_tangent[t] : 0.0);
    }
    if (self->rule.has_smooth_rows)
        for (int j = 0; j < system->nrow; j++) self->z[j] = 0.0;
}

// Force of a row within the smooth motion at the end of the step.
static double rule_smooth_force(const pcs_certifier *self, int row)
{
    const pcs_row_report *r = &self->report->rows[row];
    return self->rule.has_smooth_rows ? r->force - self->z[row] / self->report->h : r->lam;
}

// Forces of rows that act as smooth ones do at the end of the step.
static void rule_smooth_forces(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    rule_impulses(self, true);
    for (int j = 0; j < system->nrow; j++) {
        bool is_smooth = self->rule.has_smooth_rows || (self->rule.has_smooth_joints && system->rows[j].is_bilateral);
        self->z[j] = is_smooth ? rule_smooth_force(self, j) : 0.0;
    }
    for (int t = 0; t < system->ntangent; t++) self->z_t[t] = 0.0;
}

static bool rule_has_impulses(const pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    bool has_some = false;
    for (int j = 0; j < system->nrow && !has_some; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        has_some = row->step_impulse != 0.0 || row->tangent[0] != 0.0 || row->tangent[1] != 0.0;
    }
    return pcs_rows_any(system, has_some);
}

// M_1 a = f_1 and the smooth forces of rows: an acceleration of the state belongs to it.
static void rule_check_acceleration(pcs_certifier *self, const double *a)
{
    double h = self->report->h;
    pcs_certify_open(self);
    for (int i = 0; i < rule_size(self); i++) {
        self->e[i] = h * a[i];
        self->r[i] = -h * self->f[i];
    }
    rule_smooth_forces(self);
    pcs_certify_push(self, -h, self->z, self->z_t, self->r);
    pcs_certify_close(self, CERTIFY_MOTION);
}

// M_1 e = G_1^T of all impulses, for the velocity e.
static void rule_check_jump(pcs_certifier *self)
{
    pcs_certify_open(self);
    rule_impulses(self, false);
    pcs_certify_push(self, -1.0, self->z, self->z_t, self->r);
    pcs_certify_close(self, CERTIFY_MOTION);
}

// M_1 e = G_1^T of what rows move positions by, for the way e.
static void rule_check_way(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const pcs_rule *rule = &self->rule;
    double h = self->report->h;
    pcs_certify_open(self);
    rule_impulses(self, true);
    for (int j = 0; j < system->nrow; j++) {
        self->z[j] *= h * rule->normal_way;
        if (rule->has_correction) self->z[j] += self->report->rows[j].nu + self->report->rows[j].shift;
    }
    for (int t = 0; t < system->ntangent; t++) self->z_t[t] *= h * rule->tangent_way;
    for (int j = 0; j < (rule->has_correction ? system->nrow : 0); j++)
        for (int t = 0; t < system->rows[j].ntangent; t++)
            self->z_t[system->rows[j].first_tangent + t] += self->report->rows[j].nu_t[t];
    pcs_certify_push(self, -1.0, self->z, self->z_t, self->r);
    pcs_certify_close(self, CERTIFY_KINEMATICS);
}

// Positions that follow a mean of both velocities.
static void rule_check_mean_way(pcs_certifier *self)
{
    double h = self->report->h, move = self->rule.move;
    if (isnan(move)) return;
    for (int i = 0; i < rule_size(self); i++)
        self->e[i] = self->way[i] - h * ((1.0 - move) * self->from->v[i] + move * self->x->v[i]);
    pcs_certify_open(self);
    pcs_certify_close(self, CERTIFY_KINEMATICS);
}

// At the end of the step.
static void rule_stand_at_end(pcs_certifier *self)
{
    pcs_certify_aim(self, self->from->t + self->report->h, self->x->q);
    pcs_certify_weigh(self, self->x->q);
}

static void rule_stand_at_start(pcs_certifier *self)
{
    pcs_certify_aim(self, self->from->t, self->from->q);
    pcs_certify_weigh(self, self->from->q);
}

// Impulses move positions by a `part` of what they would in the whole step, and turn bodies so (step/projection.h).
static void rule_carry_back(pcs_certifier *self, double part)
{
    const pcs_system *system = self->scheme->system;
    if (!system->row_set.vary) return;
    pcs_rotate_rows(&system->rotations, self->way, part, self->G);
    if (system->ntangent > 0) pcs_rotate_rows(&system->rotations, self->way, part, self->T);
}

// vd belongs to the end; with the filtered acceleration of these formulas velocities follow, with the scheme's own
// positions: so the two agree.
static void rule_alpha(pcs_certifier *self)
{
    enum { A, VD };
    const certify_past *from = self->from;
    const double *v0 = from->v, *a0 = from->history[A], *vd0 = from->history[VD];
    const double *a = self->x->history[A], *vd = self->x->history[VD];
    double h = self->report->h, number[4];
    if (self->scheme->ops->separates_impacts && self->survey.is_hit && rule_sees_velocity(self->scheme->system)) return;
    pcs_certify_alpha(&self->rule, number);
    double am = number[AM], af = number[AF], ga = number[GA], be = number[BE];
    rule_stand_at_end(self);
    rule_check_acceleration(self, vd);
    rule_carry_back(self, self->rule.tangent_way);
    for (int i = 0; i < rule_size(self); i++) {
        double filtered = ((1.0 - af) * vd[i] + af * vd0[i] - am * a0[i]) / (1.0 - am);
        self->e[i] = self->x->v[i] - v0[i] - h * ((1.0 - ga) * a0[i] + ga * filtered);
    }
    rule_check_jump(self);
    for (int i = 0; i < rule_size(self); i++)
        self->e[i] = self->way[i] - h * v0[i] - h * h * ((0.5 - be) * a0[i] + be * a[i]);
    rule_check_way(self);
}

static void rule_theta(pcs_certifier *self)
{
    const certify_past *from = self->from;
    const double *vd0 = from->history[0], *vd = self->x->history[0];
    double h = self->report->h, theta = self->rule.theta;
    rule_stand_at_end(self);
    rule_check_acceleration(self, vd);
    rule_carry_back(self, self->rule.move);
    for (int i = 0; i < rule_size(self); i++)
        self->e[i] = self->x->v[i] - from->v[i] - h * ((1.0 - theta) * vd0[i] + theta * vd[i]);
    rule_check_jump(self);
    rule_check_mean_way(self);
}

static void rule_begin_velocity(pcs_certifier *self)
{
    pcs_certify_open(self);
    for (int i = 0; i < rule_size(self); i++) self->e[i] = self->x->v[i] - self->from->v[i];
}

static void rule_add_forces(pcs_certifier *self, double scale, const double *f)
{
    for (int i = 0; i < rule_size(self); i++) self->b[i] += scale * f[i];
}

// Adds the impulses of all rows to b.
static void rule_add_rows(pcs_certifier *self)
{
    rule_impulses(self, false);
    pcs_certify_push(self, 1.0, self->z, self->z_t, self->b);
}

// Forces at q, v, t in place of those of the end, which are not needed any more.
static void rule_force(pcs_certifier *self, double t, const double *q, const double *v)
{
    self->scheme->system->ops->force(self->scheme->system, pcs_at(t, q, v), self->f);
    self->has_force = false;
    self->allowed = -1;
}

static void rule_between(pcs_certifier *self)
{
    const certify_past *from = self->from;
    double h = self->report->h, theta = self->rule.theta, t = from->t + theta * h;
    rule_stand_at_end(self);
    rule_check_mean_way(self);
    for (int i = 0; i < rule_size(self); i++) {
        self->way[i] = (1.0 - theta) * from->q[i] + theta * self->x->q[i];
        self->tolerance[i] = (1.0 - theta) * from->v[i] + theta * self->x->v[i];
    }
    rule_force(self, t, self->way, self->tolerance);
    pcs_certify_aim(self, t, self->way);
    pcs_certify_weigh(self, self->way);
    rule_begin_velocity(self);
    rule_add_forces(self, h, self->f);
    rule_add_rows(self);
    pcs_certify_take(self);
    pcs_certify_close(self, CERTIFY_MOTION);
}

// The mass belongs to q_n + (h/2) v_n; forces and directions, too, or to the means of both ends.
static void rule_midpoint(pcs_certifier *self, bool is_mean)
{
    const certify_past *from = self->from;
    double h = self->report->h, t = from->t + 0.5 * h;
    rule_stand_at_end(self);
    rule_check_mean_way(self);
    for (int i = 0; i < rule_size(self); i++) {
        self->way[i] = from->q[i] + 0.5 * h * from->v[i];
        self->tolerance[i] = from->v[i];
    }
    pcs_certify_weigh(self, self->way);
    if (is_mean)
        for (int i = 0; i < rule_size(self); i++) {
            self->way[i] = 0.5 * (from->q[i] + self->x->q[i]);
            self->tolerance[i] = 0.5 * (from->v[i] + self->x->v[i]);
        }
    rule_force(self, t, self->way, self->tolerance);
    pcs_certify_aim(self, t, self->way);
    rule_begin_velocity(self);
    rule_add_forces(self, h, self->f);
    rule_add_rows(self);
    pcs_certify_take(self);
    pcs_certify_close(self, CERTIFY_MOTION);
}

// M (u - u_n) = h f(t + h/2, (q_n + q)/2, V) + G^T P and u + u_n = 2 V: v is V, the history u.
static void rule_wave(pcs_certifier *self)
{
    const certify_past *from = self->from;
    const double *u0 = from->history[0], *u = self->x->history[0];
    double h = self->report->h;
    rule_stand_at_end(self);
    rule_check_mean_way(self);
    pcs_certify_open(self);
    for (int i = 0; i < rule_size(self); i++) {
        self->way[i] = 0.5 * (from->q[i] + self->x->q[i]);
        self->e[i] = u[i] + u0[i] - 2.0 * self->x->v[i];
    }
    pcs_certify_close(self, CERTIFY_MOTION);
    rule_force(self, from->t + 0.5 * h, self->way, self->x->v);
    pcs_certify_open(self);
    for (int i = 0; i < rule_size(self); i++) self->e[i] = u[i] - u0[i];
    rule_add_forces(self, h, self->f);
    rule_add_rows(self);
    pcs_certify_take(self);
    pcs_certify_close(self, CERTIFY_MOTION);
}

// Forces of the start over `duration`; rows at the end or at the start.
static void rule_from_start(pcs_certifier *self, double duration, bool has_rows_at_end)
{
    rule_stand_at_start(self);
    rule_begin_velocity(self);
    rule_add_forces(self, duration, self->from->f);
    if (!has_rows_at_end) rule_add_rows(self);
    pcs_certify_take(self);
    rule_stand_at_end(self);
    if (has_rows_at_end) {
        rule_add_rows(self);
        pcs_certify_take(self);
    }
    pcs_certify_close(self, CERTIFY_MOTION);
    rule_check_mean_way(self);
}

// Parts of the impulses of rows in the two stages of Heun's rule: those of the first count half in the velocity.
static void rule_split_impulses(pcs_certifier *self, bool is_first)
{
    const pcs_system *system = self->scheme->system;
    double h = self->report->h;
    bool has_forces = self->rule.kind == PCS_RULE_HEUN_FORCES;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        double last = has_forces && !self->survey.is_hit ? 0.5 * h * row->force : row->multiplier;
        self->z[j] = is_first ? pcs_system_carry(system, j, self->x->q, self->from->q, row->step_impulse - last) : last;
        for (int t = 0; t < system->rows[j].ntangent; t++)
            self->z_t[system->rows[j].first_tangent + t] =
                is_first ? row->tangent[t] - row->last_tangent[t] : row->last_tangent[t];
    }
}

// Was a row closed when the step began, so that the first stage may have pushed it? An impact does not tell.
static bool rule_was_closed(const pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    bool was_closed = false;
    for (int j = 0; j < system->nrow; j++)
        was_closed =
            was_closed || system->rows[j].is_bilateral || self->start_gap[j] <= PCS_ROUND_LENGTH * system->length;
    return pcs_rows_any(system, was_closed) || (rule_has_impulses(self) && !self->survey.is_hit);
}

// q = q_n + h v_n + (h^2/2) a_n + (h/2) M_n^-1 G_n^T P0, and not told in an impact.
static void rule_check_heun_way(pcs_certifier *self)
{
    double h = self->report->h;
    if (self->survey.is_hit && rule_was_closed(self)) return;
    pcs_certify_open(self);
    for (int i = 0; i < rule_size(self); i++) self->e[i] = self->way[i] - h * self->from->v[i];
    rule_add_forces(self, 0.5 * h * h, self->from->f);
    rule_split_impulses(self, true);
    pcs_certify_push(self, h, self->z, self->z_t, self->b);
    pcs_certify_take(self);
    pcs_certify_close(self, CERTIFY_KINEMATICS);
}

// v = v_n + M_n^-1 ((h/2) f_n + G_n^T P0/2) + M_1^-1 ((h/2) f(q, v1) + G_1^T P1) with v1 = 2 (q - q_n)/h - v_n.
static void rule_heun(pcs_certifier *self)
{
    const certify_past *from = self->from;
    double h = self->report->h;
    rule_stand_at_end(self);
    if (self->rule.kind == PCS_RULE_HEUN) rule_check_acceleration(self, self->x->history[0]);
    rule_stand_at_start(self);
    rule_check_heun_way(self);
    rule_begin_velocity(self);
    rule_add_forces(self, 0.5 * h, from->f);
    rule_split_impulses(self, true);
    pcs_certify_push(self, 1.0, self->z, self->z_t, self->b);
    pcs_certify_take(self);
    rule_stand_at_end(self);
    for (int i = 0; i < rule_size(self); i++) self->way[i] = 2.0 * self->way[i] / h - from->v[i];
    rule_force(self, from->t + h, self->x->q, self->way);
    rule_add_forces(self, 0.5 * h, self->f);
    rule_split_impulses(self, false);
    pcs_certify_push(self, 1.0, self->z, self->z_t, self->b);
    pcs_certify_take(self);
    pcs_certify_close(self, CERTIFY_MOTION);
}

// out = h sum of `count` weighted vectors
static void rule_sum(int n, double h, int count, const double *weight, double *const *vectors, double *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < count; k++)
        if (weight[k] != 0.0)
            for (int i = 0; i < n; i++) out[i] += h * weight[k] * vectors[k][i];
}

// M^-1 f at (t, q, v); false when M is singular.
static bool rule_accelerate(pcs_certifier *self, double t, const double *q, const double *v, double *a)
{
    const pcs_system *system = self->scheme->system;
    size_t n = (size_t)system->nv;
    system->ops->force(system, pcs_at(t, q, v), a);
    if (self->dense == NULL) {
        pcs_linsolve_solve(self->scheme->solver->mass, a);
        return true;
    }
    pcs_certify_weigh(self, q);
    memcpy(self->dense, self->M->value, n * n * sizeof *self->dense);
    return pcs_dense_solve(system->nv, self->dense, a);
}

// All stages again.
static void rule_runge_kutta(pcs_certifier *self)
{
    const certify_past *from = self->from;
    const pcs_tableau *table = self->rule.tableau;
    double h = self->report->h;
    int n = rule_size(self);
    if (rule_has_impulses(self) || pcs_system_has_joints(self->scheme->system)) return;
    for (int k = 0; k < table->s; k++) {
        double *q = self->b, *v = self->stage_v[k];
        rule_sum(n, h, k, table->a[k], self->stage_v, q);
        rule_sum(n, h, k, table->a[k], self->stage_a, v);
        for (int i = 0; i < n; i++) {
            q[i] += from->q[i];
            v[i] += from->v[i];
        }
        if (!rule_accelerate(self, from->t + table->c[k] * h, q, v, self->stage_a[k])) return;
    }
    rule_stand_at_end(self);
    pcs_certify_open(self);
    rule_sum(n, h, table->s, table->b, self->stage_a, self->e);
    for (int i = 0; i < n; i++) self->e[i] = self->x->v[i] - from->v[i] - self->e[i];
    pcs_certify_close(self, CERTIFY_MOTION);
    pcs_certify_open(self);
    rule_sum(n, h, table->s, table->b, self->stage_v, self->e);
    for (int i = 0; i < n; i++) self->e[i] = self->way[i] - self->e[i];
    pcs_certify_close(self, CERTIFY_KINEMATICS);
}

void pcs_certify_rule(pcs_certifier *self)
{
    double h = self->report->h;
    switch (self->rule.kind) {
    case PCS_RULE_ALPHA: rule_alpha(self); break;
    case PCS_RULE_THETA: rule_theta(self); break;
    case PCS_RULE_BETWEEN: rule_between(self); break;
    case PCS_RULE_HEUN:
    case PCS_RULE_HEUN_FORCES: rule_heun(self); break;
    case PCS_RULE_EULER: rule_from_start(self, h, true); break;
    case PCS_RULE_CENTRAL: rule_from_start(self, 0.5 * (self->now.h + h), false); break;
    case PCS_RULE_MIDPOINT: rule_midpoint(self, false); break;
    case PCS_RULE_MEAN: rule_midpoint(self, true); break;
    case PCS_RULE_WAVE: rule_wave(self); break;
    case PCS_RULE_RUNGE_KUTTA: rule_runge_kutta(self); break;
    case PCS_RULE_NONE: break;
    }
}

// y = A x of the tableau
static void order_apply(const pcs_tableau *t, const double *x, double *y)
{
    for (int i = 0; i < t->s; i++) y[i] = pcs_dense_dot(i, t->a[i], x);
}

static void order_times(int n, const double *x, const double *y, double *out)
{
    for (int i = 0; i < n; i++) out[i] = x[i] * y[i];
}

double pcs_certify_order(const pcs_rule *rule)
{
    enum { ONE, C, C2, C3, C4, AC, CAC, C2AC, ACAC, AC2, CAC2, AC3, AAC, CAAC, A_CAC, AAC2, AAAC, NTREE };
    static const double sum[NTREE] = { 1.0,        1.0 / 2.0,  1.0 / 3.0,  1.0 / 4.0,  1.0 / 5.0,  1.0 / 6.0,
                                       1.0 / 8.0,  1.0 / 10.0, 1.0 / 20.0, 1.0 / 12.0, 1.0 / 15.0, 1.0 / 20.0,
                                       1.0 / 24.0, 1.0 / 30.0, 1.0 / 40.0, 1.0 / 60.0, 1.0 / 120.0 };
    static const int order[NTREE] = { 1, 2, 3, 4, 5, 3, 4, 5, 5, 4, 5, 5, 4, 5, 5, 5, 5 };
    const pcs_tableau *t = rule->tableau;
    double tree[NTREE][PCS_MAX_STAGES], worst = 0.0;
    int s = t->s;
    for (int i = 0; i < s; i++) tree[ONE][i] = 1.0;
    memcpy(tree[C], t->c, sizeof tree[C]);
    order_times(s, t->c, t->c, tree[C2]);
    order_times(s, t->c, tree[C2], tree[C3]);
    order_times(s, t->c, tree[C3], tree[C4]);
    order_apply(t, t->c, tree[AC]);
    order_times(s, t->c, tree[AC], tree[CAC]);
    order_times(s, t->c, tree[CAC], tree[C2AC]);
    order_times(s, tree[AC], tree[AC], tree[ACAC]);
    order_apply(t, tree[C2], tree[AC2]);
    order_times(s, t->c, tree[AC2], tree[CAC2]);
    order_apply(t, tree[C3], tree[AC3]);
    order_apply(t, tree[AC], tree[AAC]);
    order_times(s, t->c, tree[AAC], tree[CAAC]);
    order_apply(t, tree[CAC], tree[A_CAC]);
    order_apply(t, tree[AC2], tree[AAC2]);
    order_apply(t, tree[AAC], tree[AAAC]);
    for (int k = 0; k < NTREE; k++)
        if (order[k] <= rule->order) worst = pcs_max(worst, fabs(pcs_dense_dot(s, t->b, tree[k]) - sum[k]));
    double rows[PCS_MAX_STAGES];
    order_apply(t, tree[ONE], rows);
    for (int i = 0; i < s; i++) worst = pcs_max(worst, fabs(rows[i] - t->c[i]));
    return worst;
}
