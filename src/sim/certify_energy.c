// Bounds the energy that a step may gain: the rise of E = T + S + V beyond the work of loads, the energy that negative
// damping supplies, and the work of position corrections of the midpoint rules, which is taken from the report.
//
// A false root of the discrete equations satisfies them, and its gain is the error of the scheme's own quadrature. So
// there are two bounds, and the smaller one holds.
//
// (a) Of all steps, from the state before:   rise <= (A + |W| + |dV|)/2 + 4 H + N,   A = T_n + S_n + V_n - V_lowest
//     A is what the model has to spend, V_lowest the lowest potential so far; W and dV, work of loads and change of the
//     potential in the step, are where energy comes from when nothing moves yet: they count half, so that a jump of the
//     potential cannot pay for itself. H = La^2/(2 m_eff) of the last step: a contact that rests is thrown by about
//     that much where a scheme hops on it. Where all that fails a load may set in: four times what f(t, q_n, v_n)
//     - f_n gives, h^2 f . D^-1 f/2, D = diag(M); f_n stays in it for explicit schemes, where it moves what rests; for
//     linear systems the change of loads over eight steps. Steps not looked at closely may rise four times as much.
//     N is what schemes of the alpha family hold besides E. For linear systems without loads, with 1/2 - af >= 0,
//     al = af - am >= 0, ga = 1/2 + al, 2 be >= ga, and x the filtered way (1 - am) x + am x_n = dq, the equations give
//       d(E + N) = La . G (v_n + v)/2 - al (h^2/2) (2 be - ga) |da|^2_M - (1/2 - af) al (1/2 - am) |dx|^2_K
//       N = (h^2/4) (2 be - ga) |a|^2_M + (1/2) (1/2 - af) al |x|^2_K
//     so that E alone may rise by N_n, which is many times E where h is many periods and forces are not smooth.
//     |x|^2_K <= 8 S/(1 - am - |am|)^2, S the largest strain energy of late. Newmark has al = ga - 1/2, and no x.
//     None of it exceeds B/10 + |W| + |dV|, B as below, but for what rows book as their gain and what a load adds.
//     Where a_n is not kept, the system is linear and has no false roots: such a step is left to the ledger and to E_0.
// (b) From the change of f over the step, where M is constant and the rule is known. With dq the way, df = f - f_n,
//     f_bar the mean of f along dq, so that dV = -f_bar . dq, and x_ga = (1 - ga) x_n + ga x:
//     alpha     M dv = h M a_ga + G^T La and dq = h (v_n + v)/2 + (h^2/2) (2 be - ga) da + c, c a correction, give
//               rise = dq . (M a_ga - f_ga) - ((h^2/2) (2 be - ga) da + c) . M a_ga + La . G (v_n + v)/2
//                      + dq . (f_ga - f_bar)
//     theta     rise = La . G dq/h - (m - 1/2) |dv|^2_M + dq . (f_th - f_bar),   dq = h ((1 - m) v_n + m v)
//     others    rise = La . G v + dq . (f_x - f_bar) + h dv . df up to factors below 1, f_x between f_n and f
//     In all of them |dq . (f_x - f_bar)| <= sum |dq_i| |df_i|: along the way f lies between its ends, roughly.
//     The work of rows is that of the report, if it is a gain; losses are left out, and twice all that is allowed.
//
// Over the whole run,   E - E_0 - sum W <= B/10 + X + O,   B the most of E_0 + sum W - V_lowest so far, X the most of
// |W| + |dV| of a step, O a tenth of what loads that set in give; with forward Euler and central differences, whose
// velocities lag, B/2 + 4 X + O. Schemes that gain by their nature are told, not judged; forward Euler in single steps
// alone. A step of an iteration that takes over a quarter of what is left is greedy: a smaller one may do without.
//
// If the scheme has its loss in closed form and the system is linear, the ledger must also close, up to round-off and
// the work of the residuals of the equations of motion, each within its own tolerance: a step far longer than the
// fastest periods computes small velocities as differences of large ones, and keeps the round-off of those.

#include "sim/certify_data.h"

#include <math.h>
#include <string.h>

static const double harmless = 1e-6; // of all the energy there is: a gain that half a million steps may repeat
static const double greedy = 0.25;   // of what the run may still gain, for one step
static const double most = 0.1;      // of all the energy there is: more from nowhere is not allowed

// Returns the round-off of the work of loads and gravity, J: forces times differences of positions, which round off.
static double energy_work_noise(const pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
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
    const pcs_system *system = self->scheme->system;
    double speed = 4.0 * DBL_EPSILON * pcs_max(system->length, system->place) / self->report->h;
    return self->report->h > 0.0 ? 0.5 * system->mass * speed * speed : 0.0;
}

// Returns the mean of two velocities by the rule; if rows act in stages, the larger one.
static double energy_mean(const pcs_certifier *self, double before, double after)
{
    double last = isnan(self->rule->move) ? 0.5 : self->rule->move;
    return pcs_rule_is_explicit(self->rule) ? pcs_max(before, after) : (1.0 - last) * before + last * after;
}

// Returns the work of the rows over the step, J, as far as it is a gain.
static double energy_row_gain(const pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    double gain = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &self->report->rows[j];
        bool is_smooth =
            pcs_rule_has_smooth_joints(self->rule) && system->rows[j].is_bilateral; // its force is that of the step
        double impulse = is_smooth ? self->report->h * row->force : row->step_impulse;
        if (impulse == 0.0) continue;
        double sign = impulse > 0.0 ? 1.0 : -1.0, before = sign * pcs_system_rate(system, j, self->from->v);
        double after = sign * pcs_system_rate(system, j, self->x->v),
               work = fabs(impulse) * energy_mean(self, before, after);
        gain += pcs_max(is_smooth && system->rows[j].is_driven ? fabs(work) : 0.0, work); // told in means either way
        for (int t = 0; t < system->rows[j].ntangent; t++) {
            int k = system->rows[j].first_tangent + t;
            sign = row->tangent[t] > 0.0 ? 1.0 : -1.0;
            before = sign * pcs_rows_dot(system->T, k, self->from->v);
            after = sign * pcs_rows_dot(system->T, k, self->x->v);
            gain += pcs_max(0.0, fabs(row->tangent[t]) * energy_mean(self, before, after));
        }
    }
    pcs_rows_sum(system, 1, &gain);
    return gain;
}

// Returns sum |df| (|dq| + weight h |dv|), J.
static double energy_change(const pcs_certifier *self, double weight)
{
    const pcs_system *system = self->scheme->system;
    const certify_past *from = self->from;
    double sum = 0.0, h = weight * self->report->h;
    for (int i = 0; i < pcs_system_nown(system); i++)
        sum += fabs(self->f[i] - from->f[i]) * (fabs(self->way[i]) + h * fabs(self->x->v[i] - from->v[i]));
    pcs_system_sum(system, 1, &sum);
    return sum;
}

// Returns the terms of bound (b) that weights of accelerations add, J: those in M a_ga, and the work of corrections c.
static double energy_weighed(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const certify_past *from = self->from;
    const double *a0 = from->history[0], *a = self->x->history[0];
    double h = self->report->h, sum[3] = { 0.0 };
    double ga = self->rule->w.ga, spread = h * h * (self->rule->w.be - 0.5 * ga);
    for (int i = 0; i < system->nv; i++) self->e[i] = (1.0 - ga) * a0[i] + ga * a[i];
    pcs_matrix_multiply(system->M, self->e, self->r);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double wide = spread * (a[i] - a0[i]), mean = 0.5 * h * (from->v[i] + self->x->v[i]);
        sum[0] += self->way[i] * (self->r[i] - (1.0 - ga) * from->f[i] - ga * self->f[i]);
        sum[1] -= wide * self->r[i];
        sum[2] += fabs((self->way[i] - mean - wide) * self->r[i]);
    }
    pcs_system_sum(system, 3, sum);
    return fabs(sum[0]) + fabs(sum[1]) + sum[2];
}

// Returns true if an implicit rule moves positions by h ((1 - m) v_n + m v), with the forces of both ends alone.
static bool energy_moves_by_mean(const pcs_certifier *self)
{
    const pcs_weights *w = &self->rule->w;
    return w->am == 0.0 && w->af == 0.0 && pcs_rule_spread(self->rule) == 0.0 &&
           self->rule->position == PCS_POSITION_FREE;
}

// Returns bound (b), J, INFINITY if there is none.
static double energy_estimate(pcs_certifier *self)
{
    if (self->from == NULL || self->dense != NULL) return INFINITY;
    double rows = energy_row_gain(self);
    switch (self->rule->kind) {
    case PCS_RULE_IMPLICIT:
        return (energy_moves_by_mean(self) ? 0.0 : energy_weighed(self)) + rows + energy_change(self, 0.0);
    case PCS_RULE_BETWEEN:
    case PCS_RULE_HEUN: return rows + energy_change(self, 1.0);
    case PCS_RULE_MIDPOINT: return isnan(self->rule->move) ? INFINITY : rows + energy_change(self, 1.0); // it corrects
    default: return INFINITY;
    }
}

// Returns 2 h^2 f . D^-1 f, J, of bound (a): f all forces of explicit schemes, else their change with time alone; of
// linear systems the change of loads over some steps, since filters carry on a load that has set in.
static double energy_onset(pcs_certifier *self)
{
    enum { CARRIED = 8 };
    const pcs_system *system = self->scheme->system;
    const certify_past *from = self->from;
    bool is_explicit = pcs_rule_is_explicit(self->rule) && self->rule->kind != PCS_RULE_MEAN;
    bool is_linear = system->is_linear && !is_explicit;
    const double *q = is_linear ? self->origin : from->q, *v = is_linear ? self->origin : from->v, *before = from->f;
    double h = self->report->h, sum = 0.0;
    system->ops->force(system, pcs_at(from->t + h, q, v), self->b);
    if (is_linear) system->ops->force(system, pcs_at(from->t - CARRIED * h, q, v), self->r);
    if (is_linear) before = self->r;
    if (is_explicit || (is_linear && self->now.count <= CARRIED)) before = self->origin; // there were no loads
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double change = isfinite(before[i]) ? self->b[i] - before[i] : self->b[i]; // formulas may begin with the run
        sum += change * change / pcs_matrix_diagonal(system->M, i);
    }
    pcs_system_sum(system, 1, &sum);
    return 2.0 * h * h * sum;
}

// Returns (h^2/4) (2 be - ga) |a_n|^2_M, J, INFINITY if a_n is not kept.
static double energy_of_accelerations(pcs_certifier *self, double weight)
{
    const pcs_system *system = self->scheme->system;
    const certify_past *past = &self->past[self->now.past];
    double h = self->report->h, sum = 0.0;
    if (weight == 0.0 || h == 0.0) return 0.0;
    if (!past->is_known) return INFINITY;
    pcs_matrix_multiply(system->M, past->history[0], self->r);
    for (int i = 0; i < pcs_system_nown(system); i++) sum += past->history[0][i] * self->r[i];
    pcs_system_sum(system, 1, &sum);
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

// Checks the energy gain of the complete run, and whether this step is greedy.
static void energy_check_growth(pcs_certifier *self, double rise, double floor)
{
    certify_memory *now = &self->now;
    double grown = pcs_measure_energy(&self->report->measure) - now->initial - now->worked;
    double share = energy_lags(self) ? 0.5 : most, steps = energy_lags(self) ? 4.0 : 1.0;
    double lasting = share * now->supply + steps * now->exchanged + now->onset, left = lasting - (grown - rise);
    self->is_greedy = self->iterates && !self->rule->gains_energy && rise > pcs_max(floor, greedy * left);
    pcs_certify_note(self, CERTIFY_GROWTH, grown, lasting + floor + energy_of_rest(self), -1, -1);
}

// Returns the energy that negative dampers supply, J: the negative damping loss, up to twice their power at the end of
// the step times h. With no such power there, a position correction has made the loss negative, not a damper.
static double energy_fed_by_damping(const pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const pcs_state *x = self->x;
    double fed = -self->report->damping_loss;
    if (!(fed > 0.0)) return 0.0;
    return pcs_min(fed, pcs_max(0.0, -2.0 * self->report->h *
                                         pcs_system_damping_power(system, pcs_at(self->x->t, x->q, x->v), x->v)));
}

// Records the worst value of the run against all energy so far, since at its start there is little to compare with.
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
    const pcs_system *system = self->scheme->system;
    const pcs_step_report *r = self->report;
    const pcs_state *x = self->x;
    now->damped += r->damping_loss;
    now->booked += r->external_work - r->damping_loss - r->material_loss - r->impact_loss - r->friction_loss;
    now->corrected += fabs(r->correction_work);
    double all = now->supply + now->exchanged + floor, change = pcs_measure_energy(&r->measure) - now->initial;
    if (now->damped > all)
        now->exchanged =
            pcs_certify_grown(now->exchanged, fabs(r->h * pcs_system_load_power(system, pcs_at(x->t, x->q, x->v))));
    pcs_certify_note(self, CERTIFY_DAMPING, now->damped, now->supply + 2.0 * now->exchanged + floor, -1, -1);
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
    bool is_driven = self->scheme->system->row_set.ndriven > 0; // by speeds that may jump within a step
    if (corrects || is_driven) fed += pcs_max(0.0, report->correction_work);
    double rise = pcs_measure_energy(&report->measure) - pcs_measure_energy(&now->measure) - fed;
    double exchanged = fabs(report->external_work) + fabs(report->measure.potential - now->measure.potential);
    double spent = pcs_measure_energy(&now->measure) - now->lowest + exchanged;
    self->available = spent + 4.0 * now->held + floor;
    double allowed = (self->from == NULL ? 4.0 : 1.0) * (0.5 * spent + 4.0 * now->held); // NULL: nothing more is known
    if (rise > floor + allowed || report->h > now->h) {
        double stored = energy_stored(self);
        self->available += stored;
        allowed += stored;
    }
    // By Newton's law an impact with friction may gain, and one of a law on positions takes two steps: rows book it.
    if (!energy_lags(self))
        allowed = pcs_min(allowed,
                          most * now->supply + exchanged - pcs_min(0.0, report->impact_loss + report->friction_loss));
    if (rise > floor) allowed = pcs_min(allowed, 2.0 * energy_estimate(self));
    if (rise > floor + allowed) floor += energy_work_noise(self) + energy_of_rest(self);
    if (rise > floor + allowed && self->from != NULL) {
        double onset = energy_onset(self), granted = (energy_lags(self) ? 1.0 : most) * onset;
        self->available += onset;
        now->onset += granted;
        allowed += granted;
    }
    pcs_certify_note(self, CERTIFY_RISE, rise, allowed + floor, -1, -1);
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

void pcs_certify_energy(pcs_certifier *self)
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

// Returns the round-off of x . A x from the sizes of its terms, which cancel in the damping of a body that moves as a
// whole, and in the kinetic energy of a sawtooth in u that one-point masses do not see.
static double energy_of_terms(const pcs_certifier *self, const pcs_matrix *A, const double *x)
{
    const pcs_pattern *pattern = A->pattern;
    double sum = 0.0;
    for (int j = 0; j < pattern->n; j++)
        for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
            if (pattern->row[k] < pcs_system_nown(self->scheme->system))
                sum += fabs(x[pattern->row[k]] * A->value[k] * x[j]);
    pcs_system_sum(self->scheme->system, 1, &sum);
    return PCS_ROUND_SUM * sum;
}

void pcs_certify_ledger(pcs_certifier *self, double energy_defect)
{
    certify_memory *now = &self->now;
    const pcs_system *system = self->scheme->system;
    const pcs_step_report *r = self->report;
    double terms =
        fabs(r->external_work) + fabs(r->damping_loss) + fabs(r->numerical_loss) + fabs(r->measure.potential);
    if (self->from != NULL) pcs_certify_fade(&now->leftover, self->leftover); // of steps that are looked at
    double scale = PCS_ROUND_ENERGY * pcs_certify_grown(now->largest_energy, terms) + energy_work_noise(self) +
                   4.0 * now->leftover;
    bool is_off = fabs(energy_defect) > scale;
    if (is_off && system->C != NULL) scale += r->h * energy_of_terms(self, system->C, self->x->v);
    if (is_off && self->rule->kind == PCS_RULE_WAVE)
        scale += 0.5 * energy_of_terms(self, system->M, self->x->history[0]);
    pcs_certify_note(self, CERTIFY_ENERGY, fabs(energy_defect), scale, -1, -1);
}
