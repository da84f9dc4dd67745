// The laws of contacts and joints, on gaps and rates evaluated anew from the state:
//
//   positions (schemes that state it)        g >= 0,  nu >= 0,  one of them 0;  gate agrees with g(q - X nu)
//   velocities, on gated rows                xi = G v + target >= 0,  La >= 0,  one of them 0;  La = 0 elsewhere
//   forces, of all contacts                  smooth force, impact and sum over the step >= 0
//   bilateral rows                           g = 0 (position level), xi = 0; multipliers of any sign
//   target                                   e of the case times the rate that the scheme says, and the speed of
//                                            driven rows
//   gate                                     imposed where the scheme says: g_n + (h/2) G_n v_n <= 0, or g(q_M) < tol
//                                            wave.c: g_n + share h G Vf <= 0, or held since the step before
//   friction                                 below
//   held contacts (schemes that state it)    G (q - q_n) = (h/2) G (v_n + v), nu = 0 on others
//   impulse law                              G v - G v_before = G M^-1 G^T La
//   impact loss                              -La . G (v_before + v)/2 over all contacts
//   penetration                              at most 2 max|gap rate| h for schemes that penetrate by design, and h^2
//                                            |(dG/dt) v| more with every step of a lasting contact on a curved path
//
// Lengths to 1e-13 of the model, of the gap and of the positions along it, velocities to 1e-11 V and to what directions
// turn by when positions round off, impulses to m_eff 1e-11 V; V = sqrt(2 E / m) with the largest energy so far, or the
// velocities of the row if larger. Besides, what impulses of the row, or of its joint, do to it rounds off. A gap rate
// is at most sqrt(2 E_n / m_eff) with the energy E_n that there was before the step: a state that has no business to be
// fast buys no penetration.

#include "sim/certify_data.h"

#include "step/projection.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Returns the size of the model, m; 1 for a single point without size.
double pcs_certify_length(const pcs_certifier *self)
{
    double length = self->system->length;
    return length > 0.0 ? length : 1.0;
}

// Draws the direction d, of this size in m; the same over any number of processes.
void pcs_certify_draw(const pcs_certifier *self, double size, double *d)
{
    const pcs_system *system = self->system;
    for (int i = 0; i < system->nv; i++) {
        double arm = system->arms == NULL ? 1.0 : system->arms[i];
        bool has_serial = system->layout != NULL && i < system->layout->n;
        int number = has_serial ? system->layout->serial[i] : i;
        unsigned long long x = (unsigned long long)number + 1 + 1024ULL * (unsigned long long)self->now.count;
        d[i] = size / arm * pcs_draw(pcs_mix(x * PCS_MIX_STEP));
    }
}

static const double of_direction = 1e-3, of_bend = 1e-2; // fractions of their terms

// A row at the end of the step, for all checks.
typedef struct row_now {
    int row;
    const pcs_row_report *row_report;
    const pcs_row *law;
    double mass;      // kg, effective mass
    double gap, rate; // m and m/s
    double length;    // m, round-off of the gap
    double target;    // m/s, the velocity law is rate + target >= 0
} row_now;

// Fills z and z_t with the multipliers of the last impulses.
static void rows_fill_last(pcs_certifier *self)
{
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row *law = &self->system->rows[j];
        self->z[j] = self->report->rows[j].multiplier;
        for (int t = 0; t < law->ntangent; t++)
            self->z_t[law->first_tangent + t] = self->report->rows[j].last_tangent[t];
    }
}

// Returns true if restitution of PCS_RATE_BEFORE applies in this step.
static bool rows_may_rebound(const pcs_certifier *self)
{
    return self->rule->impact != PCS_IMPACT_WHEN_CLOSING || self->survey.is_hit;
}

// Coulomb's law of the contacts, on tangential velocities evaluated anew from the state. Friction Lt that came with the
// impulse La, and the velocity that the law of the scheme is about,
//
//   |Lt| <= mu La,    xt = T v + e_t u,    xt = 0 inside the disc and against Lt on its edge
//   u   T_n v_n: restitution of the start (rule.h);  T v_n along the directions of the law: of the middle, and where
//       the rule has none;  T v before the impulses: of impacts, else 0
//
// are one equation: Lt = P(Lt - m xt), P the nearest point of the disc, for any mass m. What it is off by, over m, is a
// velocity: |xt| where friction is inside the disc, and the smaller of |xt| and mu La/m times the angle between Lt and
// -xt on its edge. Of schemes with several stages this is the last one; impulses summed over a step stay in the sum of
// the discs.

// Evaluates the velocities for the tangential restitution.
static void friction_find_rebound(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    const pcs_state *from = self->from;
    pcs_rate_kind kind = self->rule->rate;
    self->has_rebound = kind == PCS_RATE_BEFORE || from != NULL;
    if (self->rebound == NULL || !self->has_rebound) return;
    if (kind == PCS_RATE_START) pcs_certify_evaluate(self, from->t, from->q, NULL, NULL, NULL);
    if (kind != PCS_RATE_BEFORE) {
        pcs_rows_multiply(kind == PCS_RATE_START ? self->T : system->T, from->v, self->rebound);
    } else if (rows_may_rebound(self)) { // T v before the last impulses
        rows_fill_last(self);
        memcpy(self->b, self->x->v, (size_t)system->nv * sizeof *self->b);
        pcs_projection_push(self->scheme->solver, -1.0, self->z, self->z_t, self->b);
        pcs_rows_multiply(system->T, self->b, self->rebound);
    } else {
        memset(self->rebound, 0, (size_t)system->ntangent * sizeof *self->rebound);
    }
}

// Returns |Lt - P(Lt - m xt)|/m, m/s.
static double friction_defect(double limit, double mass, const double impulse[2], const double slip[2])
{
    double y[2] = { impulse[0] - mass * slip[0], impulse[1] - mass * slip[1] }, length = hypot(y[0], y[1]);
    double share = length > limit ? limit / length : 1.0;
    return hypot(impulse[0] - share * y[0], impulse[1] - share * y[1]) / mass;
}

static void friction_check_slip(pcs_certifier *self, int row, double mass, double tolerance)
{
    const pcs_row *law = &self->system->rows[row];
    const pcs_row_report *r = &self->report->rows[row];
    double slip[2] = { 0.0 }, impulse = hypot(r->last_tangent[0], r->last_tangent[1]);
    if (!(r->multiplier > 0.0) && impulse == 0.0) return;
    if (law->tangent_restitution != 0.0 && !self->has_rebound) return;
    for (int t = 0; t < law->ntangent; t++) {
        int k = law->first_tangent + t;
        slip[t] = pcs_rows_dot(self->system->T, k, self->x->v);
        if (self->rebound != NULL) slip[t] += law->tangent_restitution * self->rebound[k];
    }
    double limit = law->friction * pcs_max(r->multiplier, 0.0);
    double off = friction_defect(limit, mass, r->last_tangent, slip);
    pcs_certify_note(self, CERTIFY_SLIP, off, tolerance + PCS_ROUND_SUM * impulse / mass, row);
}

// Checks Coulomb's law of a row, with its effective mass and a velocity tolerance.
static void friction_check(pcs_certifier *self, int row, double mass, double tolerance)
{
    const pcs_row_report *r = &self->report->rows[row];
    double friction = self->system->rows[row].friction;
    double last = friction * fabs(r->multiplier), all = friction * fabs(r->step_impulse);
    double beyond =
        pcs_max(hypot(r->last_tangent[0], r->last_tangent[1]) - last, hypot(r->tangent[0], r->tangent[1]) - all);
    pcs_certify_note(self, CERTIFY_CONE, beyond, mass * tolerance + PCS_ROUND_SUM * (last + all), row);
    if (pcs_certify_is_on(self, CERTIFY_SLIP)) friction_check_slip(self, row, mass, tolerance);
}

// Checks that friction of force laws lies within its cone at the end of the step.
static void friction_check_soft(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) {
        const pcs_row_report *r = &self->report->rows[j];
        double limit = system->rows[j].friction * r->multiplier, beyond = hypot(r->last_tangent[0], r->last_tangent[1]);
        pcs_certify_note(self, CERTIFY_CONE, beyond - limit, PCS_ROUND_SUM * limit, j);
    }
}

// Compares gaps of joints, and of closed contacts, with the deformation: a joint that opens, or a contact that
// sinks, by as much as the model deforms gives displacements and forces of another model, however small the gap is
// relative to the size of the model.
//
//   joints      error = |g|, angles times the size of the model
//   contacts    error = -g - s - d,   s = penetration that impacts explain: that before, and 2 h times the speed of
//               approach when an impulse begins; d = drift of curved paths. Held contacts do not move.
//
//   driven      error = |g| - d,   d = displacement that the mean of the speeds at both ends of a step misses, of which
//               the law of such rows removes a quarter in each of the next steps
//
// The deformation is the largest difference, so far, of displacements along an axis, or of rotations, up to a radian,
// times the size of the model, between nodes, supports included. For one rigid body and for driven rows it is the
// motion itself. Schemes that hold gaps by a law of their own are judged by that law, to round-off, instead.

enum { AXES = 7 };           // displacements, rotations, and coordinates of a closed form
enum { STEPS_BETWEEN = 16 }; // between updates of the deformation, which cost a pass

// Returns the largest relative displacement of the state, m; *motion gets the largest displacement.
static double gap_error_deformation(const pcs_certifier *self, double *motion)
{
    const pcs_system *system = self->system;
    double end[2 * AXES], span = 0.0; // largest, and negated smallest
    for (int a = 0; a < AXES; a++) end[a] = end[AXES + a] = system->scale.holds[a] ? 0.0 : -INFINITY;
    for (int i = 0; i < pcs_system_nown(system); i++) {
        int a = system->scale.axis[i];
        double x = self->x->q[i] * (system->arms == NULL ? 1.0 : system->arms[i]);
        if (a >= 3 && a < 6) x = pcs_min(pcs_max(x, -system->length), system->length); // the rest is rigid motion
        end[a] = pcs_max(end[a], x);
        end[AXES + a] = pcs_max(end[AXES + a], -x);
    }
    if (system->layout != NULL) system->layout->comm->max(system->layout->comm, 2 * AXES, end);
    *motion = 0.0;
    for (int a = 0; a < AXES; a++) {
        if (end[a] == -INFINITY) continue;
        *motion = pcs_max(*motion, pcs_max(end[a], end[AXES + a]));
        span = pcs_max(span, end[a] + end[AXES + a]);
    }
    return span > PCS_ROUND_LENGTH * *motion ? span : *motion;
}

// Returns the error of a contact in this step, m. Records the penetration that its impact explains in `sunk`.
static double gap_error_of_contact(pcs_certifier *self, int row)
{
    certify_row *kept = &self->rows[row];
    double depth = -self->gap[row], before = pcs_max(0.0, -kept->gap), h = self->h;
    double approach = pcs_max(0.0, -kept->rate);
    if (depth <= 0.0) kept->sunk = 0.0;
    if (!(self->report->rows[row].step_impulse > 0.0) || depth <= 0.0) return 0.0;
    if (!(kept->impulse > 0.0) || h == 0.0) {
        double explained = h == 0.0 ? depth : before + 2.0 * h * approach;
        kept->sunk = pcs_max(kept->sunk, pcs_min(depth, explained));
    }
    return depth - kept->sunk - kept->drift;
}

// Computes the error of a row beyond round-off, while its record is still that of the step before.
static void gap_error_find(pcs_certifier *self, int row)
{
    const pcs_row *law = &self->system->rows[row];
    double size = fabs(self->gap[row]) * (law->is_angle ? self->system->length : 1.0);
    double gap_error = law->is_bilateral ? size - self->rows[row].overlap : gap_error_of_contact(self, row);
    if (law->is_bilateral && self->h == 0.0) self->rows[row].overlap = size;
    self->gap_error[row] = gap_error - 1e3 * pcs_gap_tie(self->system, row, self->x->q);
}

// Checks that driven rotations are below a radian per step of the case. Longer steps cut a circle into chords, and
// smaller ones in their place only follow the error. Leaves in `drive` the motions at the ends of this step.
static void gap_error_check_drives(pcs_certifier *self)
{
    pcs_system *system = self->system;
    double t = self->x->t, h = self->h, step = self->is_controlled ? h : self->scheme->step;
    double start = pcs_min(t - h, pcs_max(t - step, 0.0)); // start of the step of the case that ends here
    if (system->row_set.ndriven == 0 || !(h > 0.0)) return;
    pcs_system_drives(system, start, self->drive[0], self->drive[1]);
    pcs_system_drives(system, t, self->drive[2], self->drive[3]);
    for (int j = 0; j < system->nrow && !self->report->is_joined; j++)
        if (system->rows[j].is_driven && system->rows[j].is_angle)
            pcs_certify_note(self, CERTIFY_ROTATION, fabs(self->drive[2][j] - self->drive[0][j]), 0.9, j);
    pcs_system_drives(system, t - h, self->drive[0], self->drive[1]);
}

// Subtracts from the errors of driven rows the displacement that their speeds at the ends of steps do not give.
static void gap_error_explain_drives(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double h = self->h, after = isfinite(self->rule->move) ? self->rule->move : 0.5;
    double left = 1.0 - 0.25 * h / pcs_max(h, self->scheme->step);
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_driven) continue;
        double mean = (1.0 - after) * self->drive[1][j] + after * self->drive[3][j];
        double missed = fabs(self->drive[2][j] - self->drive[0][j] - h * mean);
        double size = system->rows[j].is_angle ? system->length : 1.0;
        self->rows[j].drift = left * self->rows[j].drift + 2.0 * size * missed;
        self->gap_error[j] -= self->rows[j].drift;
    }
}

// Compares the errors of all rows with the deformation.
static void gap_error_check(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    certify_memory *now = &self->now;
    double worst = 0.0, motion = 0.0;
    gap_error_check_drives(self);
    if (!pcs_certify_is_on(self, CERTIFY_GAP_ERROR)) return;
    if (system->row_set.ndriven > 0 && self->h > 0.0) gap_error_explain_drives(self);
    for (int j = 0; j < system->nrow; j++) worst = pcs_max(worst, self->gap_error[j]);
    worst = pcs_rows_max(system, worst);
    if (!(worst > 0.0) && self->x->step % STEPS_BETWEEN != 0) return;
    now->deformation = pcs_max(now->deformation, gap_error_deformation(self, &motion));
    if (self->h == 0.0) return; // an error at the start comes from the case
    for (int j = 0; j < system->nrow; j++) {
        double scale = system->rows[j].is_driven ? pcs_max(motion, now->deformation) : now->deformation;
        pcs_certify_note(self, CERTIFY_GAP_ERROR, self->gap_error[j], 0.1 * scale, j);
    }
}

// Returns true if the gate of a row is checked by its smooth gap. Not if the gap law decides alone.
static bool rows_judges_gate(const pcs_row_report *r)
{
    return !r->gate_is_contradictory && !(r->is_gated && r->nu > 0.0);
}

// Adds the momentum of an impulse along a row of G or T, as it was imposed last; raises *size by its absolute parts.
static void rows_add_momentum(const pcs_system *system, const pcs_rows *rows, int row, double impulse, double sum[3],
                              double *size)
{
    double along[3];
    if (impulse == 0.0) return;
    pcs_row_resultant(system, rows, row, along);
    for (int k = 0; k < 3; k++) {
        sum[k] += impulse * along[k];
        if (size != NULL) *size += fabs(impulse * along[k]);
    }
}

static void rows_survey_one(const pcs_certifier *self, int row, certify_survey *sum)
{
    const pcs_system *system = self->system;
    const pcs_row *law = &system->rows[row];
    const pcs_row_report *r = &self->report->rows[row];
    double impulse = pcs_max(fabs(r->multiplier), fabs(r->step_impulse));
    sum->is_hit = sum->is_hit || r->is_impact;
    sum->is_ambiguous = sum->is_ambiguous || r->gate_is_contradictory;
    sum->acts = sum->acts || (r->step_impulse != 0.0 && !law->is_bilateral);
    rows_add_momentum(system, system->G, row, r->step_impulse, sum->momentum, &sum->size);
    for (int t = 0; t < law->ntangent; t++)
        rows_add_momentum(system, system->T, law->first_tangent + t, r->tangent[t], sum->momentum, NULL);
    if (law->is_bilateral) impulse += fabs(r->force) * self->h;
    if (impulse == 0.0) return;
    double held = 0.5 * impulse * impulse / self->scheme->solver->effective_mass[row];
    if (!law->is_bilateral) sum->held = pcs_certify_grown(sum->held, held);
    sum->held_by_joints = pcs_certify_grown(sum->held_by_joints, held);
}

void pcs_certify_survey(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    certify_survey sum = { 0 };
    rows_fill_last(self);
    for (int j = 0; j < system->nrow; j++) rows_survey_one(self, j, &sum);
    double most[] = { sum.is_hit, sum.acts, sum.is_ambiguous, sum.held, sum.held_by_joints };
    double total[] = { sum.momentum[0], sum.momentum[1], sum.momentum[2], sum.size };
    pcs_rows_max_each(system, 5, most);
    pcs_rows_sum(system, 4, total);
    self->survey = (certify_survey){ .is_hit = most[0] > 0.0,
                                     .acts = most[1] > 0.0,
                                     .is_ambiguous = most[2] > 0.0,
                                     .held = most[3],
                                     .held_by_joints = most[4],
                                     .momentum = { total[0], total[1], total[2] },
                                     .size = total[3] };
}

// Computes gap changes by multipliers of the last stage, G X (nu + shift) + G XT shift_t, m, for the check of gates.
static void rows_find_moves(pcs_certifier *self)
{
    const pcs_row_report *rows = self->report->rows;
    if (!pcs_rule_limits_gaps(self->rule) || !pcs_certify_is_on(self, CERTIFY_GATE)) return;
    for (int j = 0; j < self->system->nrow; j++) {
        self->z[j] = rows[j].nu + rows[j].shift;
        for (int t = 0; t < self->system->rows[j].ntangent; t++)
            self->z_t[self->system->rows[j].first_tangent + t] = rows[j].tangent_shift[t];
    }
    pcs_projection_rates(self->scheme->solver, self->z, self->z_t, self->moved);
}

// Returns the round-off of a joint's gap, m: that of the positions, of which the gap is a difference.
static double rows_place(const pcs_certifier *self, int row)
{
    if (self->point == NULL) return 0.0;
    const double *x = self->point[row];
    return PCS_ROUND_LENGTH * (fabs(x[0]) + fabs(x[1]) + fabs(x[2]));
}

// Returns the round-off of a gap, m, from the positions at the start of the step: these may be larger than the model,
// as angles are after many rotations, and cancel in the gap.
static double rows_length(const pcs_certifier *self, int row)
{
    const double *q = self->from != NULL ? self->from->q : self->x->q;
    return pcs_gap_tie(self->system, row, q) + PCS_ROUND_LENGTH * self->rows[row].largest_gap;
}

static void rows_check_position(pcs_certifier *self, const row_now *now)
{
    const pcs_row_report *r = now->row_report;
    double mass = now->mass, gap = now->gap;
    if (!pcs_rule_limits_gaps(self->rule)) return;
    // Adds the round-off of the displacement nu/m_eff and of the violation that it removes, as they cancel.
    double length = now->length + PCS_ROUND_SUM * fabs(r->nu) / mass;
    if (now->law->is_bilateral) {
        pcs_certify_note(self, CERTIFY_GAP, fabs(gap), length + rows_place(self, now->row), now->row);
        return;
    }
    pcs_certify_note(self, CERTIFY_GAP, fabs(pcs_larger(-gap, -r->nu / mass)), length, now->row);
    if (!rows_judges_gate(r)) return;
    double smooth = gap - self->moved[now->row]; // gap that the smooth motion alone would have left
    double off = r->is_gated ? smooth : pcs_max(-smooth, r->nu / mass);
    pcs_certify_note(self, CERTIFY_GATE, off, length, now->row);
}

// Returns the round-off of a gap rate, m/s, from the rotation of its direction: a large angle gives the direction only
// to the round-off of the angle. An entry of the direction that vanishes here may change fastest, so the largest entry
// is used for all. For angles of a mesh the lever arm is the size of the model.
static double rows_rotate(const pcs_certifier *self, int row)
{
    const pcs_system *system = self->system;
    const pcs_rows *G = system->G;
    double arm = 0.0, place = 0.0, speed = 0.0;
    if (!system->row_set.vary) return 0.0;
    for (int k = G->start[row]; k < G->start[row + 1]; k++) {
        int i = G->column[k];
        arm = pcs_max(arm, fabs(G->value[k]));
        place = pcs_max(place, pcs_system_size(system, i, self->x->q[i]));
        speed = pcs_max(speed, pcs_system_size(system, i, self->x->v[i]));
    }
    if (system->arms != NULL) arm = 1.0;
    return PCS_ROUND_SUM * (arm * place / system->length) * (arm * speed);
}

// Converts a speed, m/s, to the unit of a row: for an angle, rad/s of a point at the distance of the model size.
static double rows_speed(const pcs_certifier *self, int row, double speed)
{
    return self->system->rows[row].is_angle ? speed / self->system->length : speed;
}

// Bounds the velocity, m/s, that impulses of a joint's rows give to one of them: sum |W_ij| |P_j|, W = G M^-1 G^T. In
// light parts the terms are far larger than their sum, which keeps their round-off.
static double rows_exchange(const pcs_certifier *self, const row_now *now)
{
    const double *mass = self->scheme->solver->effective_mass;
    double sum = 0.0, h = self->h;
    int joint = now->law->contact, j = now->row;
    while (j > 0 && self->system->rows[j - 1].contact == joint) j--;
    for (; j < self->system->nrow && self->system->rows[j].contact == joint; j++)
        sum += (fabs(self->report->rows[j].multiplier) + h * fabs(self->report->rows[j].force)) / sqrt(mass[j]);
    return sum / sqrt(now->mass);
}

// Returns true if a weight of the tableau is negative: then the mean of pushing forces may pull.
static bool rows_mean_may_pull(const pcs_tableau *tableau)
{
    bool may = false;
    for (int k = 0; k < PCS_MAX_STAGES; k++) may = may || (tableau != NULL && tableau->b[k] < 0.0);
    return may;
}

// Returns the largest pull of a contact, N s: by the multiplier of its law, by the smooth part, the impact or the sum
// of its impulses, for any law that the scheme solves.
static double rows_pull(const pcs_certifier *self, const pcs_row_report *r)
{
    double force = self->h * r->force;
    if (rows_mean_may_pull(self->rule->tableau)) return -pcs_min(r->multiplier, r->impulse);
    if (self->rule->position == PCS_POSITION_FORCE) return -force; // the sum over the step is filtered, and may pull
    return -pcs_min(pcs_min(r->multiplier, force), pcs_min(r->impulse, r->step_impulse));
}

// Returns by how much a row with xi = G v + target violates its law, m/s.
static double rows_off_law(const pcs_certifier *self, const row_now *now, double xi)
{
    const pcs_row_report *r = now->row_report;
    double jump = r->multiplier / now->mass;
    if (now->law->is_bilateral) return r->is_gated ? fabs(xi) : fabs(jump);
    double pull = rows_pull(self, r) / now->mass;
    if (self->rule->position == PCS_POSITION_FORCE) return pull;
    return pcs_larger(fabs(r->is_gated ? pcs_larger(-xi, -jump) : jump), pull);
}

static void rows_check_velocity(pcs_certifier *self, const row_now *now)
{
    const pcs_row_report *r = now->row_report;
    double mass = now->mass, xi = now->rate + now->target;
    double speed = rows_speed(self, now->row, self->speed);
    double tolerance = PCS_ROUND_VELOCITY * pcs_certify_grown(speed, pcs_max(fabs(r->rate_before), fabs(now->target)));
    // A joint that acts in the smooth motion obeys its law without its impulse, too.
    if (pcs_rule_has_smooth_joints(self->rule) && now->law->is_bilateral)
        xi = pcs_larger(fabs(xi), fabs(r->rate_before + now->target));
    double jump = now->rate - r->rate_before - self->jump[now->row];
    tolerance += PCS_ROUND_SUM * (fabs(r->multiplier) + self->h * fabs(r->force)) / mass; // for a light node
    tolerance += rows_speed(self, now->row, rows_rotate(self, now->row));
    if (self->rule->kind == PCS_RULE_CENTRAL) tolerance += now->length / self->h; // the law is one of gaps
    bool is_off = now->law->is_bilateral && pcs_max(fabs(xi), fabs(jump)) > tolerance;
    if (is_off) tolerance += PCS_ROUND_SUM * rows_exchange(self, now); // all rows of a joint, only if needed
    pcs_certify_note(self, CERTIFY_LAW, rows_off_law(self, now, xi), tolerance, now->row);
    pcs_certify_note(self, CERTIFY_IMPULSE_LAW, fabs(jump), tolerance, now->row);
    if (now->law->ntangent > 0) friction_check(self, now->row, mass, tolerance);
}

// Finds gaps and rates at the start of the step, along the present directions of rows. Returns false if unknown.
static bool rows_find_start(pcs_certifier *self)
{
    const pcs_state *from = self->from;
    if (self->report->is_joined || !(self->h > 0.0)) return false;
    if (!self->system->row_set.vary && !self->needs_middle) {
        for (int j = 0; j < self->system->nrow; j++) {
            self->start_gap[j] = self->rows[j].gap;
            self->start_rate[j] = self->rows[j].rate;
        }
        return self->now.count > 0;
    }
    if (from == NULL) return false;
    pcs_certify_evaluate(self, from->t, from->q, self->start_gap, from->v, self->start_rate);
    if (!self->needs_middle) return true;
    for (int i = 0; i < self->system->nv; i++) self->b[i] = from->q[i] + 0.5 * self->h * from->v[i];
    pcs_certify_evaluate(self, from->t, self->b, self->middle_gap, from->v, self->middle_rate);
    return true;
}

// Returns true for a contact between masses that waves do not carry, which has an impact (schemes/wave.c): the rest of
// a row of M is below 0.6 of its diagonal, and half of h^2 K is below that.
static bool rows_is_heavy(const pcs_certifier *self, int row)
{
    const pcs_system *system = self->system;
    const pcs_matrix *M = system->M;
    double h = self->h;
    for (int k = system->G->start[row]; k < system->G->start[row + 1]; k++) {
        int i = system->G->column[k];
        double mass = pcs_matrix_diagonal(M, i), rest = -mass, stiffness = pcs_matrix_diagonal(system->K, i);
        if (system->G->value[k] == 0.0) continue;
        for (int p = M->pattern->start[i]; p < M->pattern->start[i + 1]; p++) rest += fabs(M->value[p]);
        if (rest >= 0.6 * mass || 0.5 * h * h * stiffness >= mass) return false;
    }
    return system->G->start[row + 1] > system->G->start[row];
}

// Returns -(1 - e) G u_n/2 with u_n = 2 V - u; e is that of the case in the step that closes, and 0 later.
static double rows_reflected(const pcs_certifier *self, int row)
{
    const pcs_system *system = self->system;
    double before = 2.0 * pcs_system_rate(system, row, self->x->v) - pcs_system_rate(system, row, self->x->history[0]);
    double e = self->rows[row].impulse > 0.0 ? 0.0 : pcs_restitution(&system->rows[row], before);
    return rows_is_heavy(self, row) ? -0.5 * (1.0 - e) * before : 0.0;
}

// Returns the target, m/s, that the velocity law of a gated contact must have by the rule of the scheme, or the
// reported one if it cannot be computed.
static double rows_target(const pcs_certifier *self, int row, bool has_start)
{
    const pcs_row *law = &self->system->rows[row];
    const pcs_row_report *r = &self->report->rows[row];
    pcs_rate_kind kind = self->rule->rate;
    bool needs_start = kind != PCS_RATE_BEFORE && kind != PCS_RATE_REFLECTED;
    if (!r->is_gated || law->is_bilateral || (needs_start && !has_start)) return r->target;
    if (self->report->is_joined)
        return r->target; // the report does not say whether the last of several steps had an impact
    double start = self->start_rate[row], middle = self->middle_rate[row];
    switch (kind) {
    case PCS_RATE_START: return pcs_restitution(law, start) * start;
    case PCS_RATE_MIDDLE: return pcs_restitution(law, middle) * middle;
    case PCS_RATE_BEFORE: return rows_may_rebound(self) ? pcs_restitution(law, r->rate_before) * r->rate_before : 0.0;
    case PCS_RATE_REFLECTED: return rows_reflected(self, row);
    case PCS_RATE_NONE: break;
    }
    return r->target;
}

// Returns the gap at the end of the step without the impulse of its only contact, which has moved positions by half a
// step of its jump; a position law beyond that has raised the gap to 0. Returns -INFINITY if several contacts act.
static double rows_gap_ahead(const pcs_certifier *self, int row)
{
    double gap = self->gap[row];
    if (!self->report->rows[row].is_gated) return gap;
    for (int j = 0; j < self->system->nrow; j++)
        if (j != row && self->report->rows[j].multiplier != 0.0) return -INFINITY;
    if (self->system->row_set.vary) return -INFINITY;
    return gap - 0.5 * self->h * self->jump[row];
}

// Returns the round-off, m, of half a step of the velocity, of which only a part may be along the gap.
static double rows_increment(const pcs_certifier *self, int row)
{
    const pcs_rows *G = self->system->G;
    const double *v = self->from != NULL ? self->from->v : self->x->v;
    int first = G->start[row], count = G->start[row + 1] - first;
    double size = pcs_rounding_of_sum(count, G->value + first, G->column + first, v) / DBL_EPSILON;
    return PCS_ROUND_LENGTH * 0.5 * self->h * size;
}

// Checks the gate of a contact against the gap that the rule of the scheme predicts, for most rules at mid-step.
static void rows_check_forecast(pcs_certifier *self, const row_now *now)
{
    const pcs_row_report *r = now->row_report;
    if (now->law->is_bilateral || self->rule->gate == PCS_GATE_NONE) return;
    double half = 0.5 * self->h * self->start_rate[now->row];
    double length = now->length + rows_increment(self, now->row);
    length += PCS_ROUND_LENGTH * self->h * fabs(self->rows[now->row].impulse) / now->mass;
    double foreseen = self->start_gap[now->row] + half;
    if (self->rule->gate == PCS_GATE_MIDDLE) foreseen = self->middle_gap[now->row];
    if (self->rule->gate_looks_ahead) foreseen = pcs_min(foreseen, rows_gap_ahead(self, now->row));
    if (self->rule->gate == PCS_GATE_HELD) {
        double ahead = self->rule->gate_share * self->h * r->rate_before;
        foreseen = self->start_gap[now->row] + ahead;
        if (self->rows[now->row].impulse > 0.0) foreseen = -self->system->length;
        length += PCS_ROUND_SUM * fabs(ahead) + self->rule->gate_slack * self->h * fabs(r->rate_before);
    }
    // A tie within round-off may count as closed or open.
    if (r->gate_is_contradictory) return;
    pcs_certify_note(self, CERTIFY_GATE, r->is_gated ? foreseen : -foreseen, 2.0 * length, now->row);
}

// Checks the loss of impacts that are separate from the motion: the work of their impulses.
static void rows_check_impact(pcs_certifier *self)
{
    const pcs_system *system = self->system;
    double sum[3] = { 0.0 }; // loss and its magnitude, J, and impulse, N s
    if (!self->survey.is_hit || self->report->is_joined || !pcs_certify_is_on(self, CERTIFY_IMPACT_LOSS)) return;
    for (int j = 0; j < system->nrow; j++) {
        double la = system->rows[j].is_bilateral ? 0.0 : self->report->rows[j].multiplier;
        double before = self->report->rows[j].rate_before, after = self->rows[j].rate;
        sum[0] -= 0.5 * la * (before + after);
        sum[1] += 0.5 * fabs(la) * (fabs(before) + fabs(after));
        sum[2] += fabs(la);
    }
    pcs_rows_sum(system, 3, sum);
    // Allows round-off of all velocities, however slowly this contact closes.
    double tolerance = 10.0 * PCS_ROUND_ENERGY * sum[1] + PCS_ROUND_VELOCITY * self->speed * sum[2];
    pcs_certify_note(self, CERTIFY_IMPACT_LOSS, fabs(self->report->impact_loss - sum[0]), tolerance, -1);
}

// Checks penetration: beyond the displacement of a step only round-off, the initial overlap, and the drift of a
// constrained velocity on a curved path are allowed. A joint may drift.
static void rows_check_penetration(pcs_certifier *self, const row_now *now)
{
    int row = now->row;
    certify_row *kept = &self->rows[row];
    if (!pcs_certify_is_on(self, CERTIFY_PENETRATION)) return;
    double gap = now->gap, h = self->h, fastest = sqrt(2.0 * self->available / now->mass);
    double rate = pcs_min(pcs_max(fabs(now->rate), fabs(now->row_report->rate_before)), fastest);
    const pcs_system *system = self->system; // points may move from row to row of a contact
    int at = system->row_set.may_change ? system->contacts[now->law->contact].first_row : row;
    double *largest = &self->rows[at].largest_rate;
    *largest = pcs_certify_grown(*largest, rate);
    if (now->law->is_bilateral) return;
    kept->drift = gap > 0.0 ? 0.0 : kept->drift + h * h * fabs(self->bias[row]);
    if (h == 0.0) kept->overlap = pcs_max(0.0, -gap);
    double allowed = 2.0 * *largest * self->now.largest_h + kept->overlap + kept->drift;
    pcs_certify_note(self, CERTIFY_PENETRATION, -gap, allowed + self->rule->event_depth + now->length, row);
}

// Returns G (q - q_n) - (h/2) G (v_n + v), m, the part of Newmark's formulas and position multipliers; its *rounding.
static double rows_excess(const pcs_certifier *self, const row_now *now, double *rounding)
{
    const pcs_rows *G = self->system->G;
    double h = self->h, sum = 0.0, size = 0.0, bend = 0.0;
    bool has_impact = pcs_rule_separates_impacts(self->rule) && self->survey.is_hit; // displacement before the impact
    for (int k = G->start[now->row]; k < G->start[now->row + 1]; k++) {
        int i = G->column[k];
        double increment = self->increment[i] - 0.5 * h * self->from->v[i];
        sum += G->value[k] * increment;
        size += fabs(G->value[k]) * (fabs(self->increment[i]) + h * fabs(self->from->v[i]) + h * fabs(self->x->v[i]));
        bend += fabs(G->value[k]) * (fabs(self->from->history[0][i]) + fabs(self->x->history[0][i]));
    }
    *rounding = PCS_ROUND_LENGTH * size + PCS_ROUND_VELOCITY * h * h * bend;
    return sum - 0.5 * h * (has_impact ? now->row_report->rate_before : now->rate);
}

// Checks that a lasting contact keeps its gap. Only Newmark's formulas move others.
static void rows_check_held(pcs_certifier *self, const row_now *now)
{
    double rounding, h = self->h;
    if (!pcs_certify_is_on(self, CERTIFY_HELD) || self->from == NULL || now->law->is_bilateral) return;
    double excess = rows_excess(self, now, &rounding), length = now->length + rounding;
    length += PCS_ROUND_SUM * (fabs(now->row_report->nu) + h * fabs(now->row_report->multiplier)) / now->mass;
    if (!(self->rows[now->row].recent > 0.0)) excess = now->row_report->nu / now->mass;
    pcs_certify_note(self, CERTIFY_HELD, fabs(excess), length, now->row);
}

// Checks contacts between the ends of the step, where no law is evaluated, with nodes on straight lines.
static void rows_check_passages(pcs_certifier *self)
{
    const pcs_state *from = self->before;
    pcs_passage worst = { 0 };
    if (from == NULL) return;
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *r = &self->report->rows[j];
        self->ends[j] = (pcs_passage_row){ .gap = { self->rows[j].gap, self->gap[j] },
                                           .is_loaded = r->step_impulse != 0.0 || r->nu != 0.0 };
    }
    self->system->ops->passages(self->system, from->q, self->x->q, self->ends, &worst);
    if (worst.allowed > 0.0) pcs_certify_note(self, CERTIFY_PASSAGE, worst.depth, worst.allowed, worst.row);
}

// Checks the directions of the rows at the end of the step against differences of the gaps.
static void rows_check_directions(pcs_certifier *self)
{
    pcs_system *system = self->system;
    double *d = self->tolerance, *ahead = self->moved, *behind = self->jump;
    pcs_certify_draw(self, 1e-7 * pcs_certify_length(self), d);
    pcs_retract(&system->rotations, self->x->q, d, self->b);
    pcs_system_gaps(system, pcs_at(self->x->t, self->b, NULL), ahead);
    for (int i = 0; i < system->nv; i++) self->e[i] = -d[i];
    pcs_retract(&system->rotations, self->x->q, self->e, self->b);
    pcs_system_gaps(system, pcs_at(self->x->t, self->b, NULL), behind);
    pcs_certify_evaluate(self, self->x->t, self->x->q, self->gap, NULL, NULL);
    for (int j = 0; j < system->nrow; j++) {
        double gap = self->gap[j];
        self->is_spare[j] = gap > 0.0 && ahead[j] == gap && behind[j] == gap;
        if (self->is_spare[j]) continue;
        double size = 0.0, bend = fabs(ahead[j] - 2.0 * gap + behind[j]);
        for (int k = self->G->start[j]; k < self->G->start[j + 1]; k++)
            size += fabs(self->G->value[k] * d[self->G->column[k]]);
        double off = fabs(0.5 * (ahead[j] - behind[j]) - pcs_rows_dot(self->G, j, d));
        double allowed = of_direction * size + bend + 4.0 * pcs_gap_tie(system, j, self->x->q);
        pcs_certify_note(self, CERTIFY_DIRECTION, off, allowed, j);
    }
}

// Evaluates the gap rates along v at the end of the step, with q moved by v over a time.
static void rows_find_rates(pcs_certifier *self, double time, double *rate)
{
    for (int i = 0; i < self->system->nv; i++) self->e[i] = time * self->x->v[i];
    pcs_retract(&self->system->rotations, self->x->q, self->e, self->b);
    pcs_certify_evaluate(self, self->x->t, self->b, NULL, self->x->v, rate);
}

// Checks (dG/dt) v against the change of the rates, over a displacement of 1e-5 of the model.
static void rows_check_bends(pcs_certifier *self)
{
    pcs_system *system = self->system;
    double fastest = pcs_system_largest(system, self->x->v), time = 1e-5 * pcs_certify_length(self) / fastest;
    double *ahead = self->moved, *behind = self->jump, *nearer = self->start_rate;
    // Velocities at rest are round-off, down to numbers whose reciprocal overflows.
    bool is_at_rest = !(fastest > PCS_ROUND_VELOCITY * self->speed);
    if (!self->is_examined || !pcs_certify_is_on(self, CERTIFY_BEND) || is_at_rest) return;
    rows_find_rates(self, 0.5 * time, ahead);
    rows_find_rates(self, -0.5 * time, behind);
    for (int j = 0; j < system->nrow; j++) nearer[j] = (ahead[j] - behind[j]) / time;
    rows_find_rates(self, time, ahead);
    rows_find_rates(self, -time, behind);
    rows_find_rates(self, 0.0, self->bias); // at the end, which moves the directions back
    // A rate that bends leaves a second difference. One that jumps where it is 0, at the middle of a bore, leaves none:
    // over half the displacement it changes twice as fast.
    for (int j = 0; j < system->nrow; j++)
        nearer[j] = 2.0 * fabs(nearer[j] - (ahead[j] - behind[j]) / (2.0 * time)) +
                    fabs(ahead[j] - 2.0 * self->bias[j] + behind[j]) / time;
    pcs_system_rate_bias(system, pcs_at(self->x->t, self->x->q, self->x->v), self->bias);
    for (int j = 0; j < system->nrow; j++) {
        if (self->is_spare[j] || system->rows[j].is_driven) continue;
        double change = (ahead[j] - behind[j]) / (2.0 * time);
        double allowed = of_bend * (fabs(change) + fabs(self->bias[j])) + nearer[j];
        double noise = 1e-9 * fastest * fastest / pcs_certify_length(self);
        allowed += system->rows[j].is_angle ? noise / pcs_certify_length(self) : noise;
        pcs_certify_note(self, CERTIFY_BEND, fabs(change - self->bias[j]), allowed, j);
    }
}

static row_now rows_look_at(pcs_certifier *self, int row, bool has_start)
{
    double gap = self->gap[row], *largest = &self->rows[row].largest_gap;
    *largest = pcs_certify_grown(*largest, fabs(gap));
    return (row_now){ .row = row,
                      .row_report = &self->report->rows[row],
                      .law = &self->system->rows[row],
                      .mass = self->scheme->solver->effective_mass[row],
                      .gap = gap,
                      .rate = pcs_system_rate(self->system, row, self->x->v),
                      .length = rows_length(self, row),
                      .target = rows_target(self, row, has_start) };
}

void pcs_certify_rows(pcs_certifier *self)
{
    pcs_system *system = self->system;
    const pcs_state *x = self->x;
    pcs_system_gaps(system, pcs_at(x->t, x->q, NULL), self->gap);
    if (self->point != NULL) pcs_system_points(system, pcs_at(x->t, x->q, NULL), self->point, self->normal);
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, pcs_at(x->t, x->q, x->v), self->bias);
    if (pcs_certify_is_on(self, CERTIFY_IMPULSE_LAW))
        pcs_projection_rates(self->scheme->solver, self->z, self->z_t, self->jump);
    rows_find_moves(self);
    bool has_start = rows_find_start(self);
    if (pcs_system_ntangent(system) > 0) friction_find_rebound(self);
    for (int j = 0; j < system->nrow; j++) {
        row_now now = rows_look_at(self, j, has_start);
        rows_check_position(self, &now);
        rows_check_velocity(self, &now);
        if (has_start) rows_check_forecast(self, &now);
        rows_check_penetration(self, &now);
        gap_error_find(self, j);
        rows_check_held(self, &now);
        self->rows[j].rate = now.rate; // rate of the last state from here on, as gaps are still needed
    }
    friction_check_soft(self);
    if (self->is_examined && pcs_system_nrow(system) > 0) rows_check_directions(self);
    rows_check_bends(self);
    gap_error_check(self);
    if (pcs_certify_is_on(self, CERTIFY_PASSAGE)) rows_check_passages(self);
}

void pcs_certify_all_rows(pcs_certifier *self)
{
    rows_check_impact(self);
    self->now.contradictions += self->survey.is_ambiguous;
    pcs_certify_note(self, CERTIFY_CONTRADICTION, self->now.contradictions, 1.0, -1);
}
