// The judgement of a step, and what it remembers, reports and stores in checkpoints. Before the first step the model is
// compared with the case: coefficients of contacts with its text, travel times of waves with mass and stiffness.

#include "core/comm.h"
#include "core/text.h"
#include "sim/certify_data.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// Which checks apply, and the worst ratio of each.
//
// If rows are distributed over processes, each judges its own, and the worst of every check is joined: if several
// have the same, the first of them has it, and the violation that counts is that of the first row, as in one process.

static bool check_only_reports(const pcs_rule *rule, int check)
{
    switch (check) {
    case CERTIFY_PENETRATION:
    case CERTIFY_GAP_ERROR: return rule->level == PCS_LEVEL_ACCELERATION;
    // Allows forward Euler, which gains in every step, more. A run that has gained half of all energy fails even so.
    case CERTIFY_GROWTH: return rule->gains_energy && rule->kind != PCS_RULE_EULER;
    case CERTIFY_RISE: return rule->gains_energy;
    default: return check == CERTIFY_CONTRADICTION || check == CERTIFY_NUMERICAL || check == CERTIFY_CORRECTION;
    }
}

static void check_add(pcs_certifier *self, int check, bool applies, const char *unit, const char *name)
{
    bool is_marked = check == CERTIFY_NUMERICAL || check == CERTIFY_CORRECTION;
    if (!applies) return;
    self->check[check] = &self->now.checks[self->now.certificate.ncheck++];
    *self->check[check] = (pcs_check){ .name = name,
                                       .unit = unit,
                                       .is_reported_only = check_only_reports(self->rule, check),
                                       .mark = check == CERTIFY_GAP_ERROR ? 0.01 : is_marked };
}

static void certify_choose(pcs_certifier *self)
{
    const pcs_scheme_ops *ops = self->scheme->ops;
    const pcs_system *system = self->system;
    const pcs_rule *rule = self->rule;
    const pcs_row_set *set = &system->row_set;
    bool is_mesh = pcs_system_is_mesh(system);
    bool rows = pcs_system_nrow(system) > 0, presses = pcs_system_ncompliant(system) > 0;
    bool limits = rows && pcs_rule_limits_gaps(rule), has_impacts = rows && rule->position != PCS_POSITION_FORCE;
    bool corrects = limits && has_impacts, separates = rows && pcs_rule_separates_impacts(rule);
    bool gates = has_impacts && ((limits && system->is_linear) || rule->gate != PCS_GATE_NONE);
    bool bends = rows && pcs_system_has_bias(system);
    bool has_friction = pcs_system_ntangent(system) > 0 && rule->position != PCS_POSITION_FORCE;
    bool rotates = set->ndriven > 0 && !system->is_linear && rule->impact != PCS_IMPACT_LOCATED;
    bool passes = set->may_pass && (set->may_change || rule->impact != PCS_IMPACT_LOCATED);
    bool spins = system->rotations.are_somewhere && !(presses && pcs_system_is_damped(system));
    bool powers = system->soft_friction == NULL && (is_mesh || system->is_linear);
    bool closes = pcs_rule_has_closed_loss(rule) && system->is_linear;
    bool travels = rule->kind == PCS_RULE_WAVE && isfinite(ops->ask_waves(system, self->scheme->params).mismatch);
#define CERTIFY_ADD(check, applies, unit, name) check_add(self, CERTIFY_##check, applies, unit, name);
    CERTIFY_CHECKS(CERTIFY_ADD)
    self->now.certificate.checks = self->now.checks;
    self->now.bad_row = self->now.bad_equation = -1;
}

void pcs_certify_accumulate_scale(pcs_certifier *self, int check, double value, double tolerance, int row)
{
    pcs_check *c = self->check[check];
    certify_memory *now = &self->now;
    if (c == NULL || (value <= 0.0 && c->tolerance > 0.0)) return;
    // Allows nothing where unbounded motion gives inf - inf, so that no message says nan.
    if (isnan(tolerance)) tolerance = DBL_MIN;
    if (isnan(value)) value = INFINITY;
    double ratio = value <= 0.0 ? 0.0 : value / tolerance;
    if (isnan(ratio)) ratio = INFINITY;
    if (ratio > c->worst_ratio || c->tolerance == 0.0) {
        c->worst_ratio = ratio;
        c->worst_value = value <= 0.0 ? 0.0 : value;
        c->tolerance = tolerance;
        c->worst_time = self->x == NULL ? 0.0 : self->x->t;
    }
    if (!(ratio > 1.0) || c->is_reported_only || now->certificate.broken != NULL) return;
    now->certificate.broken = c;
    now->bad_row = pcs_row_number(self->system, row);
    now->bad_equation = self->equation;
}

// Gets the worst ratio of each check of rows, equal in all processes between steps. -1 if none was recorded or the
// check is not about rows.
static void certify_part(const pcs_certifier *self, double *ratio)
{
    for (int i = 0; i < CERTIFY_COUNT; i++) {
        const pcs_check *c = self->check[i];
        bool is_known = c != NULL && (i <= CERTIFY_ROTATION || i >= CERTIFY_PENETRATION);
        is_known = is_known && !(c->tolerance == 0.0 && c->worst_ratio == 0.0);
        ratio[i] = is_known ? c->worst_ratio : -1.0;
    }
}

// Sends the record of the first process with the worst ratio of a check to all.
static void join_check(pcs_certifier *self, int check, bool is_worst)
{
    const pcs_system *system = self->system;
    pcs_check *c = self->check[check];
    int number = pcs_process_number(system->ctx);
    double reported[CHECK_WORDS] = { 0.0 };
    double first = pcs_rows_max(system, is_worst ? -number : -pcs_process_count(system->ctx));
    if (first == -number) memcpy(reported, &c->worst_ratio, sizeof reported);
    pcs_rows_sum(system, CHECK_WORDS, reported);
    memcpy(&c->worst_ratio, reported, sizeof reported);
}

// Makes the worst ratios since those `before`, and the first violation of the rows, known to all processes. Exchanges
// more only if a ratio has grown or a check failed.
static void certify_join(pcs_certifier *self, const double *before, bool was_broken)
{
    certify_memory *now = &self->now;
    double here[CERTIFY_COUNT + 1], worst[CERTIFY_COUNT + 1], *broken = &worst[CERTIFY_COUNT];
    certify_part(self, here);
    bool breaks = now->certificate.broken != NULL && !was_broken;
    here[CERTIFY_COUNT] = breaks ? -(double)now->bad_row : -(double)INFINITY;
    memcpy(worst, here, sizeof worst);
    pcs_rows_max_each(self->system, CERTIFY_COUNT + 1, worst);
    for (int i = 0; i < CERTIFY_COUNT; i++)
        if (worst[i] != before[i]) join_check(self, i, here[i] == worst[i]);
    if (*broken == -INFINITY) return;
    double which = breaks && here[CERTIFY_COUNT] == *broken ? (double)(now->certificate.broken - now->checks) : -1.0;
    which = pcs_rows_max(self->system, which);
    now->certificate.broken = &now->checks[(int)which];
    now->bad_row = (int)-*broken;
}

// Bounds the energy that a step may gain: the rise of E = T + S + V beyond the work of loads, the energy that negative
// damping supplies, and the work of position corrections of the midpoint rules, which is taken from the report.
//
// A false root of the discrete equations satisfies them, and its gain is the error of the scheme's own quadrature. So
// the state before bounds it:   rise <= (A + |W| + |dV|)/2 + 4 H + N,   A = T_n + S_n + V_n - V_lowest
//     A is what the model has to spend, V_lowest the lowest potential so far; W and dV, work of loads and change of the
//     potential in the step, are where energy comes from when nothing moves yet: they count half, so that a jump of the
//     potential cannot pay for itself. H = La^2/(2 m_eff) of the last step: a contact that rests is thrown by about
//     that much where a scheme hops on it. Where all that fails a load may set in: four times what f(t, q_n, v_n)
//     - f_n gives, h^2 f . D^-1 f/2, D = diag(M); f_n stays in it for explicit schemes, where it moves what rests; for
//     linear systems the change of loads over eight steps. Steps not looked at closely may rise four times as much.
//     N is what schemes of the alpha family hold besides E. For linear systems without loads, with 1/2 - af >= 0,
//     al = af - am >= 0, ga = 1/2 + al, 2 be >= ga, and x the filtered increment (1 - am) x + am x_n = dq, there is
//       d(E + N) = La . G (v_n + v)/2 - al (h^2/2) (2 be - ga) |da|^2_M - (1/2 - af) al (1/2 - am) |dx|^2_K
//       N = (h^2/4) (2 be - ga) |a|^2_M + (1/2) (1/2 - af) al |x|^2_K
//     so that E alone may rise by N_n, which is many times E where h is many periods and forces are not smooth.
//     |x|^2_K <= 8 S/(1 - am - |am|)^2, S the largest strain energy of late. Newmark has al = ga - 1/2, and no x.
//     None of it exceeds B/10 + |W| + |dV|, B as below, but for what rows book as their gain and what a load adds.
//     Where a_n is not kept, the system is linear and has no false roots: such a step is left to the ledger and to E_0.
//
// Over the whole run,   E - E_0 - sum W <= B/10 + X + O,   B the most of E_0 + sum W - V_lowest so far, X the most of
// |W| + |dV| of a step, O a tenth of what loads that set in give; with forward Euler and central differences, whose
// velocities lag, B/2 + 4 X + O. Schemes that gain by their nature are reported, not judged; forward Euler in single
// steps alone. A step of an iteration that takes over a quarter of what is left is greedy: a smaller one may do
// without.
//
// If the scheme has its loss in closed form and the system is linear, the ledger must also close, up to round-off and
// the work of the residuals of the equations of motion, each within its own tolerance: a step far longer than the
// fastest periods computes small velocities as differences of large ones, and keeps the round-off of those.

static const double harmless = 1e-6; // of all energy: a gain that half a million steps may repeat
static const double greedy = 0.25;   // of the energy that the run may still gain: share of one step
static const double most = 0.1;      // of all energy: largest gain without a cause

// Returns the round-off of the work of loads and gravity, J: forces times differences of positions, which round off.
static double energy_work_noise(const pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_state *x = self->x;
    double size = fabs(system->ops->load_work(system, x->t, self->origin, x->q)), weight = 0.0;
    int n = system->gravity == NULL ? 0 : pcs_system_nown(system);
    for (int i = 0; i < n; i++) weight += fabs(system->gravity[i] * x->q[i]);
    if (system->gravity != NULL) pcs_system_sum(system, 1, &weight);
    return PCS_ROUND_SUM * (size + weight);
}

// Returns the kinetic energy, J, of a model at rest whose velocity is the round-off of its positions over the step.
static double energy_of_rest(const pcs_certifier *self)
{
    double speed = 4.0 * DBL_EPSILON * pcs_max(self->system->length, self->system->place) / self->h;
    return self->h > 0.0 ? 0.5 * self->system->mass * speed * speed : 0.0;
}

// Returns true if an implicit rule moves positions by h ((1 - m) v_n + m v), with the forces of both ends alone.
static bool energy_moves_by_mean(const pcs_certifier *self)
{
    const pcs_weights *w = &self->rule->w;
    return w->am == 0.0 && w->af == 0.0 && pcs_rule_acceleration_gap(self->rule) == 0.0 &&
           self->rule->position == PCS_POSITION_FREE;
}

// Returns 2 h^2 f . D^-1 f, J: f all forces of explicit schemes, else their change with time alone; of
// linear systems the change of loads over some steps, since filters carry on a load that has set in.
static double energy_onset(pcs_certifier *self)
{
    enum { HOST_WORDS = 8 };
    const pcs_system *system = self->system;
    const pcs_state *from = self->from;
    bool is_explicit = pcs_rule_is_explicit(self->rule) && self->rule->kind != PCS_RULE_MEAN;
    bool is_linear = system->is_linear && !is_explicit;
    const double *q = is_linear ? self->origin : from->q, *v = is_linear ? self->origin : from->v, *before = self->f0;
    double h = self->h, sum = 0.0;
    system->ops->force(system, pcs_at(from->t + h, q, v), self->b);
    if (is_linear) system->ops->force(system, pcs_at(from->t - HOST_WORDS * h, q, v), self->r);
    if (is_linear) before = self->r;
    if (is_explicit || (is_linear && self->now.count <= HOST_WORDS))
        before = self->origin; // there were no loads before
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double change = isfinite(before[i]) ? self->b[i] - before[i] : self->b[i]; // undefined before the run
        sum += change * change / pcs_matrix_diagonal(system->M, i);
    }
    pcs_system_sum(system, 1, &sum);
    return 2.0 * h * h * sum;
}

// Returns (h^2/4) (2 be - ga) |a_n|^2_M, J, INFINITY if a_n is not kept.
static double energy_of_accelerations(pcs_certifier *self, double weight)
{
    double h = self->h, sum = 0.0;
    if (weight == 0.0 || h == 0.0) return 0.0;
    if (self->before == NULL) return INFINITY;
    const double *a = self->before->history[0];
    pcs_matrix_multiply(self->system->M, a, self->r);
    for (int i = 0; i < pcs_system_nown(self->system); i++) sum += a[i] * self->r[i];
    pcs_system_sum(self->system, 1, &sum);
    return 0.25 * h * h * weight * sum;
}

// Returns N of the state before, J.
static double energy_stored(pcs_certifier *self)
{
    const pcs_weights *w = &self->rule->w;
    if (self->rule->kind != PCS_RULE_IMPLICIT || energy_moves_by_mean(self)) return 0.0;
    double lag = w->af - w->am, filter = 1.0 - w->am - fabs(w->am);
    double stored = energy_of_accelerations(self, pcs_max(0.0, 2.0 * w->be - w->ga));
    if (lag > 0.0) stored += 4.0 * (0.5 - w->af) * lag / (filter * filter) * self->now.strain;
    return stored;
}

// Returns true if velocities lag half a step behind positions, with energies of order 1.
static bool energy_lags(const pcs_certifier *self)
{
    return self->rule->kind == PCS_RULE_EULER || self->rule->kind == PCS_RULE_CENTRAL;
}

// Checks the energy gain of the complete run, and whether this step gains too much of it.
static void energy_check_growth(pcs_certifier *self, double rise, double floor)
{
    certify_memory *now = &self->now;
    double grown = pcs_measure_energy(&self->report->measure) - now->initial - now->worked;
    double share = energy_lags(self) ? 0.5 : most, steps = energy_lags(self) ? 4.0 : 1.0;
    double lasting = share * now->supply + steps * now->exchanged + now->onset, left = lasting - (grown - rise);
    self->is_greedy = self->iterates && !self->rule->gains_energy && rise > pcs_max(floor, greedy * left);
    pcs_certify_note(self, CERTIFY_GROWTH, grown, lasting + floor + energy_of_rest(self), -1);
}

// Returns the energy that negative dampers supply, J: the negative damping loss, up to twice their power at the end of
// the step times h. With no such power there, a position correction has made the loss negative, not a damper.
static double energy_fed_by_damping(const pcs_certifier *self)
{
    const pcs_state *x = self->x;
    double fed = -self->report->damping_loss;
    if (!(fed > 0.0)) return 0.0;
    return pcs_min(fed, pcs_max(0.0, -2.0 * self->h *
                                         pcs_system_damping_power(self->system, pcs_at(self->x->t, x->q, x->v), x->v)));
}

// Records the largest gain of the run over all energy so far, since there is little to compare with at the start.
static void energy_report(pcs_certifier *self, int check, double value, double allowed)
{
    pcs_check *c = self->check[check];
    if (c == NULL) return;
    if (value > c->worst_value) c->worst_time = self->x->t;
    c->worst_value = pcs_max(c->worst_value, value);
    c->tolerance = allowed;
    c->worst_ratio = c->worst_value / allowed;
}

// Checks that damping takes no more energy than there has been. Work of loads is F . dq, damping loss goes by
// velocities: if a sudden load meets dampers far faster than a step, the first displacement is off by h^2 F/m, but the
// velocity is not: D <= ga h F . v. Reports the change that loads, dampers and rows do not explain: a loss is
// dissipation of the scheme, a gain is an error, and so are corrections that exceed the energy and cancel.
static void energy_check_losses(pcs_certifier *self, double floor)
{
    certify_memory *now = &self->now;
    const pcs_step_report *r = self->report;
    const pcs_state *x = self->x;
    now->damped += r->damping_loss;
    now->booked += r->external_work - r->damping_loss - r->material_loss - r->impact_loss - r->friction_loss;
    now->corrected += fabs(r->correction_work);
    double all = now->supply + now->exchanged + floor, change = pcs_measure_energy(&r->measure) - now->initial;
    if (now->damped > all)
        now->exchanged = pcs_certify_grown(now->exchanged,
                                           fabs(r->h * pcs_system_load_power(self->system, pcs_at(x->t, x->q, x->v))));
    pcs_certify_note(self, CERTIFY_DAMPING, now->damped, now->supply + 2.0 * now->exchanged + floor, -1);
    energy_report(self, CERTIFY_NUMERICAL, change - now->booked, 0.1 * all);
    energy_report(self, CERTIFY_CORRECTION, now->corrected, all);
}

// Checks the energy gain of the step. False if it is not explained.
static bool energy_check_rise(pcs_certifier *self)
{
    certify_memory *now = &self->now;
    const pcs_step_report *report = self->report;
    double scale = pcs_certify_grown(now->largest_energy, fabs(report->measure.potential));
    double floor = harmless * pcs_certify_grown(scale, now->supply);
    bool corrects = self->rule->kind == PCS_RULE_MIDPOINT || self->rule->kind == PCS_RULE_MEAN;
    double fed = report->external_work + energy_fed_by_damping(self);
    bool is_driven = self->system->row_set.ndriven > 0; // by speeds that may jump within a step
    if (corrects || is_driven) fed += pcs_max(0.0, report->correction_work);
    double rise = pcs_measure_energy(&report->measure) - pcs_measure_energy(&now->measure) - fed;
    double exchanged = fabs(report->external_work) + fabs(report->measure.potential - now->measure.potential);
    double spent = pcs_measure_energy(&now->measure) - now->lowest + exchanged;
    self->available = spent + 4.0 * now->held + floor;
    double allowed = (self->from == NULL ? 4.0 : 1.0) * (0.5 * spent + 4.0 * now->held); // unknown start of the step
    if (rise > floor + allowed || report->h > now->h) {
        double stored = energy_stored(self);
        self->available += stored;
        allowed += stored;
    }
    // Adds the work of rows: Newton's law with friction may gain energy, and a law on positions takes two steps.
    if (!energy_lags(self))
        allowed = pcs_min(allowed,
                          most * now->supply + exchanged - pcs_min(0.0, report->impact_loss + report->friction_loss));
    if (rise > floor + allowed) floor += energy_work_noise(self) + energy_of_rest(self);
    if (rise > floor + allowed && self->from != NULL) {
        double onset = energy_onset(self), granted = (energy_lags(self) ? 1.0 : most) * onset;
        self->available += onset;
        now->onset += granted;
        allowed += granted;
    }
    pcs_certify_note(self, CERTIFY_RISE, rise, allowed + floor, -1);
    now->worked += fed;
    bool is_explained = rise <= allowed + floor;
    if (is_explained) {
        now->exchanged = pcs_certify_grown(now->exchanged, exchanged);
        now->lowest = pcs_min(now->lowest, report->measure.potential);
        now->supply = pcs_certify_grown(now->supply, now->initial + now->worked - now->lowest);
    }
    energy_check_growth(self, rise, floor);
    energy_check_losses(self, floor);
    return is_explained;
}

// Checks energies first, as a step with unexplained energy must not widen any tolerance.
static void certify_energy(pcs_certifier *self)
{
    certify_memory *now = &self->now;
    const pcs_measure *m = &self->report->measure;
    bool is_explained = energy_check_rise(self);
    now->held = self->survey.held;
    now->strain = pcs_max(m->strain, 0.5 * now->strain);
    if (is_explained)
        now->largest_energy =
            pcs_certify_grown(now->largest_energy, pcs_max(m->kinetic + m->strain, self->survey.held_by_joints));
}

// Returns the round-off of x . A x from the sizes of its terms, which cancel in the damping of a rigid motion and in
// the kinetic energy of a sawtooth in u that one-point masses do not see.
static double energy_of_terms(const pcs_certifier *self, const pcs_matrix *A, const double *x)
{
    const pcs_pattern *pattern = A->pattern;
    double sum = 0.0;
    for (int j = 0; j < pattern->n; j++)
        for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
            if (pattern->row[k] < pcs_system_nown(self->system)) sum += fabs(x[pattern->row[k]] * A->value[k] * x[j]);
    pcs_system_sum(self->system, 1, &sum);
    return PCS_ROUND_SUM * sum;
}

// Checks the energy ledger where it has to close. Called after the equations of motion, whose residuals do work.
static void certify_ledger(pcs_certifier *self, double energy_defect)
{
    certify_memory *now = &self->now;
    const pcs_step_report *r = self->report;
    double terms =
        fabs(r->external_work) + fabs(r->damping_loss) + fabs(r->numerical_loss) + fabs(r->measure.potential);
    if (self->from != NULL) pcs_certify_fade(&now->leftover, self->leftover); // in steps that are examined
    double scale = PCS_ROUND_ENERGY * pcs_certify_grown(now->largest_energy, terms) + energy_work_noise(self) +
                   4.0 * now->leftover;
    bool is_off = fabs(energy_defect) > scale;
    if (is_off && self->system->C != NULL) scale += r->h * energy_of_terms(self, self->system->C, self->x->v);
    if (is_off && self->rule->kind == PCS_RULE_WAVE)
        scale += 0.5 * energy_of_terms(self, self->system->M, self->x->history[0]);
    pcs_certify_note(self, CERTIFY_ENERGY, fabs(energy_defect), scale, -1);
}

// Forces and directions against the energies and gaps that they follow from, at a few accepted states of a run.
//
// Equations of motion are checked with the forces of the system, and so cannot see a force that is wrong itself. Along
// a direction d that is drawn at random, but the same in every run, with positions q(s) = q moved by s d:
//
//   forces      E(q(1)) - E(q(0)) = -int (f(t, q(s), 0) - loads) . d ds,   E = S + V;  by Simpson's rule on two halves
//   work        the same along the displacement in the step, as time advances, with the energies of its ends and the
//               losses of materials and friction of force laws; and h D against the booked damping loss
//   damping     v . (f(t, q, v) - f(t, q, 0)) = -D,                        D the power of damping
//   gyroscopic  (f(t, q, v) + f(t, q, -v))/2 - f(t, q, 0) = p . [v, d] along d,   p = M v
//   directions  (g(q(1)) - g(q(-1)))/2 = G d, and (dG/dt) v = d(G v)/dt with q moved by v, of every row
//
// [v, d] is the difference between moving by v, then d, and by d, then v: v x d for finite rotations, from their
// composition, and 0 for coordinates that add up. The even part in v is free of damping.
//
// States: the steps 1, 16, 256, ...; of nonlinear models also where the strain energy has grown by a factor of 8 since,
// as when a contact with a force law closes, and every 64th step for the work: if every equation of motion holds and
// forces do the booked work, a loss that is not booked belongs to the scheme. |d| is a tenth of the displacement in the
// step, between 1e-9 and 1e-6 of the model, so that the path stays in the regime of the run. Simpson's rule on the
// complete path gives the error of that on its halves, and a second difference of a gap its curvature: the tolerance is
// large where a law has a kink. Materials with internal variables and friction of force laws have such energies along
// the displacement of the step only, and nonlinear systems in closed form do not give the power of their damping.

static const double of_force = 1e-6, of_power = 1e-6, of_gyro = 1e-5, of_increment = 1e-2; // fractions of their terms

// Returns the round-off, W, of internal forces that cancel in f, in their power at velocities of this size.
static double forces_noise(const pcs_certifier *self, double size)
{
    double strain = fabs(self->report->measure.strain);
    return PCS_ROUND_FORCE * size * sqrt(2.0 * strain * self->stiffness);
}

static double forces_size(const pcs_certifier *self)
{
    double length = pcs_certify_length(self);
    double increment = 0.1 * self->h * pcs_system_largest(self->system, self->x->v);
    return pcs_min(pcs_max(increment, 1e-9 * length), 1e-6 * length);
}

// Moves q by `part` of d and returns the power of forces along d, without loads. Raises sizes[0] to sum |f_i d_i| and
// sizes[1] to the effect of round-off of positions.
static double forces_power(pcs_certifier *self, const double *d, double part, double sizes[2])
{
    const pcs_system *system = self->system;
    double *q = self->increment, *f = self->b, sum[3] = { 0.0 };
    double t = self->x->t + pcs_min(part, 0.0) * self->h; // time passes along the path of the step only
    for (int i = 0; i < system->nv; i++) self->e[i] = part * d[i];
    pcs_retract(&system->rotations, self->x->q, self->e, q);
    system->ops->force(system, pcs_at(t, q, self->origin), f);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double arm = system->arms == NULL ? 1.0 : system->arms[i];
        sum[0] += f[i] * d[i];
        sum[1] += fabs(f[i] * d[i]);
        sum[2] += PCS_ROUND_SUM * fabs(f[i]) * (fabs(q[i]) + pcs_certify_length(self) / arm);
    }
    pcs_system_sum(system, 3, sum);
    sizes[0] = pcs_max(sizes[0], sum[1]);
    sizes[1] = pcs_max(sizes[1], sum[2]);
    return sum[0] - pcs_system_load_power(system, pcs_at(t, q, d));
}

// Returns the energy that materials, and friction of force laws, have dissipated in the step, J.
static double forces_loss(const pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double sum = 0.0;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) sum += self->report->rows[j].friction_loss;
    pcs_rows_sum(system, 1, &sum);
    return self->report->material_loss + sum;
}

// Compares work with energies along the path from `first` parts of d, in self->tolerance, to one more.
static void forces_check_path(pcs_certifier *self, double first, const pcs_measure *begin, const pcs_measure *end)
{
    enum { POINTS = 5 };
    double *d = self->tolerance, power[POINTS], sizes[2] = { 0.0 };
    for (int k = 0; k < POINTS; k++) power[k] = forces_power(self, d, first + 0.25 * k, sizes);
    double halves = (power[0] + 4.0 * power[1] + 2.0 * power[2] + 4.0 * power[3] + power[4]) / 12.0;
    double whole = (power[0] + 4.0 * power[2] + power[4]) / 6.0, ends = 0.5 * (power[0] + power[4]);
    double change = (end->strain - begin->strain) + (end->potential - begin->potential);
    double size = fabs(end->strain) + fabs(begin->strain) + fabs(end->potential) + fabs(begin->potential);
    double length = pcs_system_largest(self->system, d);
    double allowed = of_force * sizes[0] + sizes[1] + PCS_ROUND_SUM * size + forces_noise(self, length);
    allowed += 8.0 * fabs(halves - whole);
    if (first != 0.0) {
        const pcs_system *system = self->system;
        change += forces_loss(self);
        allowed += (system->soft_friction == NULL ? of_increment : 1.0) * fabs(halves - ends);
        // Adds the round-off of forces K q that cancel in a rigid motion.
        allowed += 4.0 * DBL_EPSILON * self->stiffness * pcs_system_largest(system, self->x->q) * length;
    }
    pcs_certify_note(self, first == 0.0 ? CERTIFY_GRADIENT : CERTIFY_WORK, fabs(change + halves), allowed, -1);
}

static void forces_check_gradient(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    pcs_measure begin, end;
    pcs_certify_draw(self, forces_size(self), self->tolerance);
    pcs_retract(&system->rotations, self->x->q, self->tolerance, self->increment);
    system->ops->measure(system, pcs_at(self->x->t, self->x->q, self->origin), PCS_ENERGY, &begin);
    system->ops->measure(system, pcs_at(self->x->t, self->increment, self->origin), PCS_ENERGY, &end);
    forces_check_path(self, 0.0, &begin, &end);
}

// Adds to `out` the difference between moving by a, then b, and moving by b, then a.
static void forces_commute(pcs_certifier *self, double scale, const double *a, const double *b, double *out)
{
    const pcs_system *system = self->system;
    double *ab = self->increment, *ba = self->b, *x = self->e;
    for (int k = 0; k < 2; k++) {
        double *q = k == 0 ? ab : ba;
        for (int i = 0; i < system->nv; i++) x[i] = scale * (k == 0 ? a : b)[i];
        pcs_retract(&system->rotations, self->x->q, x, q);
        for (int i = 0; i < system->nv; i++) x[i] = scale * (k == 0 ? b : a)[i];
        pcs_retract(&system->rotations, q, x, q);
    }
    pcs_difference(&system->rotations, ba, ab, x);
    for (int i = 0; i < system->nv; i++) out[i] += x[i];
}

// Evaluates p . [v, d] by differences over angles of 1e-4, with both signs, so that the error is of second order.
static double forces_gyroscopic(pcs_certifier *self, const double *d, double *size)
{
    const pcs_system *system = self->system;
    const double *v = self->x->v;
    double *bracket = self->r, sum[2] = { 0.0 };
    double fastest = pcs_system_largest(system, v) + pcs_system_largest(system, d);
    double scale = 1e-4 * pcs_certify_length(self) / fastest;
    memset(bracket, 0, (size_t)system->nv * sizeof *bracket);
    forces_commute(self, scale, v, d, bracket);
    forces_commute(self, -scale, v, d, bracket);
    pcs_matrix_multiply(system->M, v, self->e);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double part = self->e[i] * bracket[i] / (2.0 * scale * scale);
        sum[0] += part;
        sum[1] += fabs(self->e[i] * v[i]);
    }
    pcs_system_sum(system, 2, sum);
    *size = sum[1] * pcs_system_largest(system, v) / pcs_certify_length(self);
    return sum[0];
}

// Checks how velocities change the forces: the odd part has the power of damping, the even one is gyroscopic.
static void forces_check_velocities(pcs_certifier *self)
{
    enum { ODD, ODD_SIZE, NOISE, EVEN, EVEN_SIZE, SUMS };
    const pcs_system *system = self->system;
    const double *q = self->x->q, *v = self->x->v;
    double *d = self->tolerance, *ahead = self->b, *rest = self->e, *back = self->r, sum[SUMS] = { 0.0 }, size;
    double t = self->x->t, speed = pcs_system_largest(system, v), noise = forces_noise(self, speed);
    pcs_certify_draw(self, speed, d);
    for (int i = 0; i < system->nv; i++) self->increment[i] = -v[i];
    system->ops->force(system, pcs_at(t, q, v), ahead);
    system->ops->force(system, pcs_at(t, q, self->origin), rest);
    system->ops->force(system, pcs_at(t, q, self->increment), back);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double part = v[i] * (ahead[i] - rest[i]);
        sum[ODD] += part;
        sum[ODD_SIZE] += fabs(part);
        sum[NOISE] += fabs(v[i]) * (fabs(ahead[i]) + fabs(rest[i]));
        sum[EVEN] += (0.5 * (ahead[i] + back[i]) - rest[i]) * d[i];
        sum[EVEN_SIZE] += (fabs(ahead[i]) + fabs(back[i]) + fabs(rest[i])) * fabs(d[i]);
    }
    pcs_system_sum(system, SUMS, sum);
    if (pcs_certify_is_on(self, CERTIFY_DAMPING_POWER)) {
        double lost = pcs_system_is_damped(system) ? pcs_system_damping_power(system, pcs_at(t, q, v), v) : 0.0;
        double gyration = speed / pcs_certify_length(self) * self->report->measure.kinetic;
        double allowed = of_power * (sum[ODD_SIZE] + fabs(lost)) + PCS_ROUND_SUM * (sum[NOISE] + gyration) + noise;
        pcs_certify_note(self, CERTIFY_DAMPING_POWER, fabs(sum[ODD] + lost), allowed, -1);
    }
    if (!pcs_certify_is_on(self, CERTIFY_GYROSCOPIC) || !(speed > 0.0)) return;
    double expected = forces_gyroscopic(self, d, &size);
    double allowed = of_gyro * (fabs(expected) + size) + PCS_ROUND_SUM * sum[EVEN_SIZE] + noise;
    pcs_certify_note(self, CERTIFY_GYROSCOPIC, fabs(sum[EVEN] - expected), allowed, -1);
}

static bool certify_examines(const pcs_certifier *self)
{
    const certify_memory *now = &self->now;
    long count = now->count;
    if (count == 0 || !(self->h > 0.0)) return false;
    while (count % 16 == 0) count /= 16;
    bool has_grown = self->report->measure.strain > 8.0 * pcs_max(now->examined, 1e-6 * now->largest_energy);
    return count == 1 || (!self->system->is_linear && has_grown);
}

// Compares booked damping with powers at both ends of the step and in between, along v and along the displacement.
// Rules with weights up to 3/2 evaluate it beyond an end: four times the difference of these is allowed.
static void forces_check_booked(pcs_certifier *self, const double *increment)
{
    enum { POINTS = 4 };
    const pcs_system *system = self->system;
    const pcs_state *from = self->from;
    double *q = self->increment, *v = self->e, *along = self->b, h = self->h, power[POINTS];
    for (int i = 0; i < system->nv; i++) v[i] = 0.5 * increment[i];
    pcs_retract(&system->rotations, from->q, v, q);
    for (int i = 0; i < system->nv; i++) {
        v[i] = 0.5 * (from->v[i] + self->x->v[i]);
        along[i] = increment[i] / h;
    }
    power[0] = pcs_system_damping_power(system, pcs_at(self->x->t, from->q, from->v), from->v);
    power[1] = pcs_system_damping_power(system, pcs_at(self->x->t, self->x->q, self->x->v), self->x->v);
    power[2] = pcs_system_damping_power(system, pcs_at(self->x->t, q, v), v);
    power[3] = pcs_system_damping_power(system, pcs_at(self->x->t, q, v), along);
    double least = power[0], largest = power[0], floor = 1e-9 * self->now.largest_energy;
    for (int k = 1; k < POINTS; k++) {
        least = pcs_min(least, power[k]);
        largest = pcs_max(largest, power[k]);
    }
    double off = fabs(self->report->damping_loss - h * power[2]);
    pcs_certify_note(self, CERTIFY_WORK, off, 4.0 * h * (largest - least) + of_power * h * largest + floor, -1);
}

// Compares the energies at the ends of the step with the work of forces along its path.
static void forces_check_work(pcs_certifier *self)
{
    double *d = self->tolerance;
    pcs_difference(&self->system->rotations, self->from->q, self->x->q, d);
    // Leaves out damped force laws, whose normal and friction forces are larger where bodies approach than at rest.
    if (self->system->soft_friction == NULL || self->report->damping_loss == 0.0)
        forces_check_path(self, -1.0, &self->now.measure, &self->report->measure);
    if (pcs_system_is_damped(self->system)) forces_check_booked(self, d);
}

// Returns true if the step is examined: forces against energies, directions of rows against gaps.
static void certify_forces(pcs_certifier *self)
{
    enum { EVERY = 64 }; // number of steps between two examinations
    bool is_asked = self->is_examined || self->now.count % EVERY == 0;
    if (self->is_examined) {
        self->now.examined = pcs_max(self->now.examined, self->report->measure.strain);
        if (pcs_certify_is_on(self, CERTIFY_GRADIENT)) forces_check_gradient(self);
        forces_check_velocities(self);
    }
    if (self->from != NULL && is_asked) forces_check_work(self);
}

// Steps in which equations of motion are checked: the first ones, every 256th, or every 8th if steps iterate, and those
// in which a contact may close, acts, or an iteration took longer than in the last step checked.
enum { BEGINNING = 8, SELDOM = 256, OFTEN = 8 }; // the last two are powers of two

static pcs_status certify_take_rows(pcs_context *ctx, pcs_certifier *self)
{
    const pcs_system *system = self->system;
    bool has_rebound = false;
    for (int j = 0; j < system->nrow; j++)
        has_rebound = has_rebound || (system->rows[j].ntangent > 0 && system->rows[j].tangent_restitution != 0.0);
    has_rebound = pcs_rows_any(system, has_rebound); // all processes return together
    PCS_TAKE_EACH(ctx, system->nrow, "the certificate", certify_row, &self->rows, &self->kept_rows);
    PCS_TAKE_EACH(ctx, system->nrow, "the certificate", double, &self->gap, &self->bias, &self->start_gap,
                  &self->start_rate, &self->middle_gap, &self->middle_rate, &self->z, &self->moved, &self->jump,
                  &self->gap_error, &self->drive[0], &self->drive[1], &self->drive[2], &self->drive[3]);
    PCS_TAKE(ctx, self->z_t, system->ntangent, "the certificate");
    PCS_TAKE(ctx, self->is_spare, system->nrow, "the certificate");
    PCS_TAKE(ctx, self->ends, system->nrow, "the certificate");
    if (has_rebound) PCS_TAKE(ctx, self->rebound, system->ntangent, "the certificate");
    if (!pcs_system_has_joints(system)) return PCS_OK;
    PCS_TAKE(ctx, self->point, pcs_system_npoint(system), "the certificate");
    PCS_TAKE(ctx, self->normal, pcs_system_npoint(system), "the certificate");
    return PCS_OK;
}

static pcs_status certify_take_vectors(pcs_context *ctx, pcs_certifier *self)
{
    int n = self->system->nv;
    PCS_TAKE(ctx, self->origin, self->system->nq, "the certificate");
    PCS_TAKE_EACH(ctx, n, "the certificate", double, &self->f0, &self->f, &self->increment, &self->e, &self->r,
                  &self->b, &self->tolerance);
    if (self->rule->kind == PCS_RULE_RUNGE_KUTTA)
        for (int k = 0; k < self->rule->tableau->s; k++)
            PCS_TAKE_EACH(ctx, n, "the certificate", double, &self->stage_v[k], &self->stage_a[k]);
    return PCS_OK;
}

// Allocates directions and mass for the certifier if those of the system vary.
static pcs_status certify_take_places(pcs_context *ctx, pcs_certifier *self)
{
    const pcs_system *system = self->system;
    self->G = system->G;
    self->T = system->T;
    self->M = system->M;
    if (system->row_set.vary) {
        PCS_TRY(pcs_rows_copy(ctx, system->G, &self->G));
        PCS_TRY(pcs_rows_copy(ctx, system->T, &self->T));
    }
    if (!system->mass_varies) return PCS_OK;
    PCS_TRY(pcs_matrix_create(ctx, system->M->pattern, &self->M));
    PCS_TAKE(ctx, self->dense, (size_t)system->nv * (size_t)system->nv, "the certificate");
    return PCS_OK;
}

// Returns the difference between a coefficient and the number under this key of a contact, or of a closed-form system;
// 0 if the case has none.
static double case_difference(pcs_case *input, const char *contact, const char *key, double value)
{
    char path[PCS_PATH_BYTES];
    snprintf(path, sizeof path, "contacts.%s.%s", contact, key);
    const pcs_yaml *own = pcs_case_find(input, path);
    snprintf(path, sizeof path, "system.%s", key);
    if (pcs_yaml_get_kind(own) != PCS_YAML_SCALAR) own = pcs_case_find(input, path);
    if (pcs_yaml_get_kind(own) != PCS_YAML_SCALAR) return 0.0;
    const char *end;
    return fabs(value - pcs_text_number(pcs_yaml_text(own), &end));
}

static void case_compare(pcs_certifier *self, pcs_case *input)
{
    const pcs_system *system = self->system;
    double worst = 0.0;
    int culprit = -1;
    for (int j = 0; j < pcs_system_npoint(system); j++) {
        const pcs_row *row = &system->rows[j];
        if (row->is_bilateral) continue;
        const char *name = system->contacts[row->contact].name;
        double off = case_difference(input, name, "friction", row->friction);
        off = pcs_max(off, case_difference(input, name, "tangent_restitution", row->tangent_restitution));
        if (j < system->nrow)
            off = pcs_max(off, case_difference(input, name, "restitution", pcs_restitution(row, 0.0)));
        if (row->law.ops == &pcs_law_newton)
            off = pcs_max(off, case_difference(input, name, "law.restitution", pcs_restitution(row, 0.0)));
        if (!(off > worst)) continue;
        worst = off;
        culprit = j;
    }
    pcs_certify_note(self, CERTIFY_COEFFICIENTS, pcs_system_max(system, worst), PCS_ROUND_SUM, culprit);
}

// Checks the travel times 2 sqrt((m/4)/k) of waves, with mass m/4 and stiffness -k off the diagonal for a cell between
// two nodes. With wave-exact masses every cell is checked; with springs beside cells, only the best of all.
static void case_check_travel(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_pattern *pattern = system->M->pattern;
    const pcs_travel *axial = &system->travel[PCS_WAVE_AXIAL], *across = &system->travel[PCS_WAVE_TRANSVERSE];
    bool has_beams = axial->shortest != across->shortest || axial->longest != across->longest;
    double best = INFINITY;
    if (!pcs_certify_is_on(self, CERTIFY_TRAVEL) || has_beams) return;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            double mass = system->M->value[p], stiffness = -system->K->value[p];
            if (pattern->row[p] == j || !(mass > 0.0) || !(stiffness > 0.0)) continue;
            double time = 2.0 * sqrt(mass / stiffness);
            best = pcs_min(best, pcs_max(axial->shortest - time, time - axial->longest) / axial->mean);
        }
    if (isfinite(best)) pcs_certify_note(self, CERTIFY_TRAVEL, best, 1e-9, -1);
}

static double certify_stiffness(const pcs_system *system)
{
    double largest = 0.0;
    if (system->K != NULL)
        for (int k = 0; k < system->K->pattern->nnz; k++) largest = pcs_max(largest, fabs(system->K->value[k]));
    return pcs_system_max(system, largest) * pcs_system_ndof(system);
}

pcs_status pcs_certifier_create(pcs_context *ctx, const pcs_scheme *scheme, pcs_case *input, bool is_controlled,
                                pcs_certifier **out)
{
    pcs_certifier *self;
    pcs_system *system = scheme->system;
    const pcs_rule *rule = &scheme->rule;
    PCS_TAKE(ctx, self, 1, "the certificate");
    self->scheme = scheme;
    self->system = system;
    self->rule = rule;
    self->is_controlled = is_controlled;
    self->equation = -1;
    certify_choose(self);
    PCS_TRY(certify_take_rows(ctx, self));
    PCS_TRY(certify_take_vectors(ctx, self));
    PCS_TRY(certify_take_places(ctx, self));
    self->needs_middle = rule->rate == PCS_RATE_MIDDLE || rule->gate == PCS_GATE_MIDDLE;
    self->iterates = !system->is_linear && (!pcs_rule_is_explicit(rule) || rule->kind == PCS_RULE_MEAN);
    self->stiffness = certify_stiffness(system);
    case_check_travel(self);
    if (input != NULL) case_compare(self, input);
    *out = self;
    return PCS_OK;
}

const pcs_certificate *pcs_certifier_certificate(const pcs_certifier *self)
{
    return &self->now.certificate;
}

void pcs_certifier_start(pcs_certifier *self, const pcs_measure *before)
{
    certify_memory *now = &self->now;
    memcpy(now->momentum, before->free_momentum, sizeof now->momentum);
    now->measure = *before;
    now->initial = pcs_measure_energy(before);
    now->lowest = before->potential;
    now->supply = before->kinetic + before->strain;
    // Ignores a spring with a force at rest, whose energy may fall below that of the reference state.
    now->largest_energy = before->kinetic + fabs(before->strain);
    now->strain = before->strain;
    now->damped = now->booked = now->corrected = now->deformation = now->examined = 0.0;
    now->worked = now->exchanged = now->onset = now->held = now->residual = now->last_residual = now->leftover = 0.0;
}

void pcs_certifier_mark(pcs_certifier *self)
{
    self->kept = self->now;
    memcpy(self->kept_rows, self->rows, (size_t)self->system->nrow * sizeof *self->rows);
}

void pcs_certifier_rewind(pcs_certifier *self)
{
    self->now = self->kept;
    memcpy(self->rows, self->kept_rows, (size_t)self->system->nrow * sizeof *self->rows);
}

// Returns true if a contact, closed by its last impulse, got none in this step and has not separated either.
static bool certify_is_held(const pcs_certifier *self, int row)
{
    const pcs_row_report *r = &self->report->rows[row];
    if (self->rule->gate != PCS_GATE_HELD || !(self->rows[row].impulse > 0.0) || r->step_impulse > 0.0) return false;
    return r->rate + r->target <= self->rule->gate_rest * self->x->largest_rate;
}

// Records the rows that the next step starts from. Returns true if an open contact may close in it, by a wide margin.
static bool certify_remember_rows(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double tie = PCS_ROUND_LENGTH * system->length, ahead = 2.0 * self->h;
    bool may_close = false, goes_on = self->rule->gate == PCS_GATE_HELD && !(self->h > 0.0);
    for (int j = 0; j < system->nrow; j++) {
        double gap = self->rows[j].gap = self->gap[j];
        if (!certify_is_held(self, j)) self->rows[j].impulse = self->report->rows[j].step_impulse;
        if (self->report->rows[j].step_impulse > 0.0) self->rows[j].recent = PCS_RECENT;
        else if (!(self->report->h > 0.0)) self->rows[j].recent = self->x->recent[j]; // as the start has set it
        else self->rows[j].recent = pcs_max(self->rows[j].recent - 1.0, 0.0);
        if (goes_on && self->x->was_loaded[j]) self->rows[j].impulse = 1.0; // the impulse of an earlier run is unknown
        if (system->rows[j].is_bilateral) continue;
        if (gap > tie && gap + ahead * self->rows[j].rate < 0.0) may_close = true;
    }
    return pcs_rows_any(system, may_close);
}

// Returns true if the next step is examined closely, which includes steps with hardly any motion, as a load may set in.
static bool certify_will_watch(const pcs_certifier *self, bool may_close)
{
    const certify_memory *now = &self->now;
    double spent = pcs_measure_energy(&now->measure) - now->lowest;
    long rest = now->count & ((self->iterates ? OFTEN : SELDOM) - 1); // remainder of a division by a power of two
    return may_close || now->count <= BEGINNING || rest == 0 || spent <= 1e-6 * now->largest_energy;
}

// Records the state that the next step starts from.
static void certify_remember(pcs_certifier *self)
{
    certify_memory *now = &self->now;
    bool may_close = certify_remember_rows(self);
    now->measure = self->report->measure;
    now->h = self->report->h;
    now->count++;
    now->is_awaited = certify_will_watch(self, may_close);
}

bool pcs_certifier_wants_start(const pcs_certifier *self)
{
    return self->iterates || self->now.is_awaited || self->system->row_set.may_pass;
}

// Finds the start of the step, forces at both ends and the displacement. Skips a report of several steps, which does
// not give the start of the last one.
static void certify_prepare(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_state *x = self->x, *from = self->before;
    if (from == NULL || self->report->is_joined) return;
    self->from = from;
    system->ops->force(system, pcs_at(from->t, from->q, from->v), self->f0);
    system->ops->force(system, pcs_at(from->t + self->h, x->q, x->v), self->f);
    pcs_difference(&system->rotations, from->q, x->q, self->increment);
}

// Checks that impulses change the momentum, and nothing else does.
static void certify_momentum(pcs_certifier *self)
{
    const pcs_step_report *report = self->report;
    double defect = 0.0;
    // Takes the magnitude, as the energy of preloaded springs may be below that of the reference state.
    double strain = pcs_max(fabs(self->now.measure.strain), fabs(report->measure.strain));
    double size = self->survey.size + self->system->mass * self->speed;
    for (int k = 0; k < 3; k++) {
        double expected = self->now.momentum[k] + report->smooth_impulse[k] + self->survey.momentum[k];
        double off = fabs(report->measure.free_momentum[k] - expected);
        defect = pcs_larger(defect, off);
        size += fabs(report->smooth_impulse[k]);
        self->now.momentum[k] = report->measure.free_momentum[k];
    }
    if (isnan(defect)) defect = INFINITY;
    if (self->from != NULL) self->now.last_residual = self->residual;
    pcs_certify_fade(&self->now.residual, self->now.last_residual);
    double noise = PCS_ROUND_VELOCITY * size, left = 4.0 * self->now.residual;
    if (!pcs_certify_is_news(self, CERTIFY_MOMENTUM, defect, noise + left)) return;
    double inside = report->h * sqrt(2.0 * strain * self->stiffness);
    pcs_certify_note(self, CERTIFY_MOMENTUM, defect, noise + PCS_ROUND_FORCE * inside + left, -1);
}

bool pcs_certify(pcs_certifier *self, const pcs_state *before, const pcs_state *x, const pcs_step_report *report,
                 double energy_defect)
{
    certify_memory *now = &self->now;
    double known[CERTIFY_COUNT];
    self->before = pcs_certifier_wants_start(self) ? before : NULL;
    self->x = x;
    self->report = report;
    self->h = report->h;
    self->from = NULL;
    self->residual = self->leftover = 0.0;
    self->allowed = -1;
    self->has_moved = false;
    now->largest_h = pcs_certify_grown(now->largest_h, report->h);
    self->is_examined = certify_examines(self);
    pcs_certify_survey(self);
    bool must_watch = self->survey.is_hit || self->survey.acts || report->iterations > now->iterations;
    if (must_watch || now->is_awaited) {
        certify_prepare(self);
        now->iterations = report->iterations;
    }
    certify_energy(self);
    self->speed = sqrt(2.0 * now->largest_energy / self->system->mass);
    bool was_broken = now->certificate.broken != NULL, is_distributed = pcs_rows_are_distributed(self->system);
    if (is_distributed) certify_part(self, known);
    pcs_certify_rows(self);
    if (is_distributed) certify_join(self, known, was_broken);
    pcs_certify_all_rows(self);
    if (self->from != NULL) pcs_certify_motion(self);
    if (pcs_certify_is_on(self, CERTIFY_ENERGY)) certify_ledger(self, energy_defect);
    certify_momentum(self);
    certify_forces(self);
    // Resets what the system caches for its rows to the end of the step.
    if (self->has_moved) pcs_system_gaps(self->system, pcs_at(x->t, x->q, NULL), self->gap);
    certify_remember(self);
    return now->certificate.broken == NULL;
}

bool pcs_certifier_is_greedy(const pcs_certifier *self)
{
    return self->is_greedy;
}

// Returns true if the broken check is one of energy gain.
static bool certify_is_of_energy(const pcs_certifier *self)
{
    const pcs_check *broken = self->now.certificate.broken;
    return broken != NULL && (broken == self->check[CERTIFY_RISE] || broken == self->check[CERTIFY_GROWTH]);
}

double pcs_certifier_shorter(const pcs_certifier *self, double share)
{
    const pcs_check *broken = self->now.certificate.broken;
    if (!certify_is_of_energy(self) || !(broken->tolerance > 0.0)) return 0.5;
    double allowed = broken->tolerance / broken->worst_value;
    return pcs_min(0.5, broken == self->check[CERTIFY_GROWTH] ? share * allowed : allowed);
}

// Returns advice on energy that no load explains, or "" if another check failed.
static const char *certify_advice(const pcs_certifier *self)
{
    if (!certify_is_of_energy(self)) return "";
    return "; try a smaller step, numerical damping that keeps the order (hht, or rho_inf < 1) or alpha_ggl";
}

// Returns the contact of a row by its index in one process.
static const pcs_contact_info *certify_contact(const pcs_system *system, int number)
{
    if (!pcs_rows_are_distributed(system)) return &system->contacts[system->rows[number].contact];
    const pcs_contact_info *info = system->contacts;
    while (number < info->first_all || number >= info->first_all + info->nall) info++;
    return info;
}

void pcs_certifier_describe(const pcs_certifier *self, size_t size, char *text)
{
    const certify_memory *now = &self->now;
    const pcs_check *c = now->certificate.broken;
    char where[128] = "", name[96];
    if (c == NULL) {
        snprintf(text, size, "certificate holds");
        return;
    }
    if (now->bad_row >= 0) snprintf(where, sizeof where, " at '%s'", certify_contact(self->system, now->bad_row)->name);
    if (now->bad_equation >= 0) {
        self->system->ops->describe(self->system, now->bad_equation, NULL, NULL, sizeof name, name);
        snprintf(where, sizeof where, " at %s", name);
    }
    snprintf(text, size, "certificate violated: %s%s: defect %.6g %s, allowed %.6g %s%s", c->name, where,
             c->worst_value, c->unit, c->tolerance, c->unit, certify_advice(self));
}

// Serializes the index of the broken check, -1 if none.
static void carry_broken(pcs_certifier *self, pcs_archive *c)
{
    pcs_certificate *certificate = &self->now.certificate;
    int broken = certificate->broken == NULL ? -1 : (int)(certificate->broken - certificate->checks);
    pcs_archive_index(c, "broken", &broken, -1, certificate->ncheck - 1);
    if (pcs_archive_reads(c)) certificate->broken = broken < 0 ? NULL : &self->now.checks[broken];
}

void pcs_certifier_serialize(pcs_certifier *self, pcs_archive *c)
{
    certify_memory *now = &self->now;
    const pcs_system *system = self->system;
    pcs_archive_table rows = { self->rows, (size_t)system->nrow, sizeof *self->rows, sizeof *self->rows, false };
    size_t nnumber = (offsetof(certify_memory, is_awaited) - offsetof(certify_memory, momentum)) / sizeof(double);
    pcs_archive_part(c, "certificate");
    for (int i = 0; i < now->certificate.ncheck; i++)
        pcs_archive_words(c, now->checks[i].name, &now->checks[i].worst_ratio, CHECK_WORDS);
    carry_broken(self, c);
    pcs_archive_index(c, "bad_row", &now->bad_row, -1, pcs_system_nrow(system) + pcs_system_ncompliant(system) - 1);
    pcs_archive_int(c, "bad_equation", &now->bad_equation);
    if (pcs_archive_reads(c) && now->bad_equation >= system->nv) now->bad_equation = -1; // equation of another process
    pcs_archive_words(c, "numbers", now->momentum, nnumber);
    pcs_archive_flags(c, "is_awaited", &now->is_awaited, 1);
    pcs_archive_int(c, "iterations", &now->iterations);
    pcs_archive_rows(c, "rows", &rows);
}
