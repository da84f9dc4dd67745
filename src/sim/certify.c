// What is checked after every step, on gaps and rates evaluated anew from the state:
//
//   position level (schemes that state it)   g >= 0,  nu >= 0,  g or nu vanishes,  gate agrees with g(q - X nu)
//   velocity level, on gated rows            xi = G v + target >= 0,  La >= 0,  xi or La vanishes; La = 0 elsewhere
//   bilateral rows                           g = 0 (position level), xi = 0; multipliers of any sign
//   impulse law                              G v - G v_before = G M^-1 G^T La
//   impact loss                              one contact alone: m_eff (v_before^2 - target^2) / 2, target = e v_before
//   momentum                                 change = impulse of the smooth forces + impulses of the contacts
//   energy                                   the ledger closes, where the scheme has its loss in closed form
//   penetration                              at most 2 max|gap rate| h for schemes that penetrate by design, and h^2
//                                            |(dG/dt) v| more with every step of a lasting contact on a curved path
//
// Scales: L = size of the model and of the gap, V = sqrt(2 E / m) with the largest energy so far, or the
// velocities of the row if larger; lengths to 1e-13 L, velocities to 1e-11 V, impulses to m_eff 1e-11 V.

#include "sim/certify.h"

#include "step/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    GAP,
    POSITION_MULTIPLIER,
    POSITION_COMPLEMENT,
    GATE,
    RATE,
    IMPULSE,
    VELOCITY_COMPLEMENT,
    OPEN_IMPULSE,
    IMPULSE_LAW,
    IMPACT_LOSS,
    MOMENTUM,
    ENERGY,
    PENETRATION,
    NCHECK
};

static const pcs_check certify_checks[NCHECK] = {
    [GAP] = { .name = "gap >= 0", .unit = "m" },
    [POSITION_MULTIPLIER] = { .name = "position multiplier >= 0", .unit = "kg m" },
    [POSITION_COMPLEMENT] = { .name = "gap or position multiplier vanishes", .unit = "m" },
    [GATE] = { .name = "contact law imposed exactly where the smooth gap closes", .unit = "m" },
    [RATE] = { .name = "gap rate + restitution >= 0 on closed contacts", .unit = "m/s" },
    [IMPULSE] = { .name = "contact impulse >= 0", .unit = "N s" },
    [VELOCITY_COMPLEMENT] = { .name = "rate law or impulse vanishes", .unit = "m/s" },
    [OPEN_IMPULSE] = { .name = "no impulse on open contacts", .unit = "N s" },
    [IMPULSE_LAW] = { .name = "impulse = effective mass x velocity jump", .unit = "m/s" },
    [IMPACT_LOSS] = { .name = "impact loss = m_eff v^2 (1 - e^2) / 2", .unit = "J" },
    [MOMENTUM] = { .name = "momentum balance", .unit = "kg m/s" },
    [ENERGY] = { .name = "energy ledger closes", .unit = "J" },
    [PENETRATION] = { .name = "penetration <= 2 max|gap rate| h", .unit = "m" },
};

struct pcs_certifier {
    pcs_context *ctx;
    const pcs_scheme *scheme;
    pcs_check checks[NCHECK]; // only those that apply, in order
    int place[NCHECK];        // of each condition in `checks`, -1: does not apply
    pcs_certificate certificate;
    double *gap;            // [nrow]
    double *largest_gap;    // [nrow] so far, m
    double *largest_rate;   // [nrow] so far, m/s
    double (*point)[3];     // [nrow] where it is, and its normal, when there are joints; else NULL
    double (*normal)[3];    // [nrow]
    double *overlap;        // [nrow] that the model starts with, m
    double *drift;          // [nrow] that the present contact may have gathered where gaps are curved, m
    double *bias;           // [nrow] (dG/dt) v, m/s^2
    double *z, *z_t;        // [nrow], [ntangent] multipliers
    double *moved, *jump;   // [nrow] what they do to gaps and velocities
    double (*resultant)[3]; // [nrow] momentum of a unit impulse
    double *origin;         // [nq] zero
    double momentum[3];     // kg m/s, of the moving equations before the step
    double largest_energy;  // J
    double h;               // s, largest step so far
    pcs_certifier *kept;    // all of it at the mark
};

static bool certify_applies(const pcs_scheme_ops *ops, const pcs_system *system, int check)
{
    switch (check) {
    case GAP:
    case POSITION_MULTIPLIER:
    case POSITION_COMPLEMENT: return ops->is_position_level;
    case GATE: return ops->is_position_level && !ops->ignores_restitution && system->is_linear;
    case RATE:
    case IMPULSE:
    case VELOCITY_COMPLEMENT:
    case OPEN_IMPULSE:
    case IMPULSE_LAW: return !ops->ignores_restitution;
    case MOMENTUM: return system->ops->resultant != NULL;
    case PENETRATION: return !ops->is_position_level;
    case ENERGY: return ops->has_closed_loss && system->is_linear;
    case IMPACT_LOSS: return ops->separates_impacts;
    default: return true;
    }
}

// What grows from step to step.
static pcs_status certify_take_memory(pcs_context *ctx, pcs_certifier *self, int nrow)
{
    PCS_TAKE(ctx, self->largest_gap, nrow, "the certificate");
    PCS_TAKE(ctx, self->largest_rate, nrow, "the certificate");
    PCS_TAKE(ctx, self->overlap, nrow, "the certificate");
    PCS_TAKE(ctx, self->drift, nrow, "the certificate");
    return PCS_OK;
}

static bool certify_has_joints(const pcs_system *system)
{
    for (int c = 0; c < system->ncontact; c++)
        if (system->contacts[c].is_joint) return true;
    return false;
}

pcs_status pcs_certifier_create(pcs_context *ctx, const pcs_scheme *scheme, pcs_certifier **out)
{
    pcs_certifier *self;
    int nrow = scheme->system->nrow, count = 0;
    PCS_TAKE(ctx, self, 1, "the certificate");
    self->ctx = ctx;
    self->scheme = scheme;
    PCS_TAKE(ctx, self->kept, 1, "the certificate");
    PCS_TAKE(ctx, self->gap, nrow, "the certificate");
    PCS_TRY(certify_take_memory(ctx, self, nrow));
    PCS_TRY(certify_take_memory(ctx, self->kept, nrow));
    double **rows[] = { &self->bias, &self->z, &self->moved, &self->jump };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) PCS_TAKE(ctx, *rows[i], nrow, "the certificate");
    PCS_TAKE(ctx, self->z_t, scheme->system->ntangent, "the certificate");
    PCS_TAKE(ctx, self->resultant, nrow, "the certificate");
    if (certify_has_joints(scheme->system)) {
        PCS_TAKE(ctx, self->point, nrow, "the certificate");
        PCS_TAKE(ctx, self->normal, nrow, "the certificate");
    }
    PCS_TAKE(ctx, self->origin, scheme->system->nq, "the certificate");
    for (int j = 0; j < nrow && scheme->system->ops->row_resultant != NULL; j++)
        scheme->system->ops->row_resultant(scheme->system, j, self->resultant[j]);
    for (int i = 0; i < NCHECK; i++) {
        // Without contacts only the balances are left.
        bool is_on = certify_applies(scheme->ops, scheme->system, i) && (nrow > 0 || i == MOMENTUM || i == ENERGY);
        self->place[i] = is_on ? count : -1;
        if (is_on) self->checks[count++] = certify_checks[i];
        if (is_on && i == PENETRATION) self->checks[count - 1].is_reported_only = scheme->ops->lets_contacts_sink;
    }
    self->certificate = (pcs_certificate){ .ncheck = count, .checks = self->checks };
    *out = self;
    return PCS_OK;
}

const pcs_certificate *pcs_certifier_certificate(const pcs_certifier *self)
{
    return &self->certificate;
}

void pcs_certifier_start(pcs_certifier *self, const pcs_measure *before)
{
    for (int k = 0; k < 3; k++) self->momentum[k] = before->free_momentum[k];
    self->largest_energy = before->kinetic + before->strain;
}

static void certify_copy(pcs_certifier *to, const pcs_certifier *from, int nrow)
{
    size_t bytes = (size_t)nrow * sizeof(double);
    memcpy(to->checks, from->checks, sizeof to->checks);
    to->certificate = from->certificate; // points into the checks that are in use
    memcpy(to->momentum, from->momentum, sizeof to->momentum);
    to->largest_energy = from->largest_energy;
    to->h = from->h;
    memcpy(to->largest_gap, from->largest_gap, bytes);
    memcpy(to->largest_rate, from->largest_rate, bytes);
    memcpy(to->overlap, from->overlap, bytes);
    memcpy(to->drift, from->drift, bytes);
}

void pcs_certifier_mark(pcs_certifier *self)
{
    certify_copy(self->kept, self, self->scheme->system->nrow);
}

void pcs_certifier_rewind(pcs_certifier *self)
{
    certify_copy(self, self->kept, self->scheme->system->nrow);
}

// A NaN counts as a violation.
static void certify_note(pcs_certifier *self, int check, double value, double tolerance, double t)
{
    if (self->place[check] < 0) return;
    pcs_check *c = &self->checks[self->place[check]];
    double ratio = value <= 0.0 ? 0.0 : value / tolerance;
    if (isnan(ratio)) ratio = INFINITY;
    if (ratio > c->worst_ratio || c->tolerance == 0.0) {
        c->worst_ratio = ratio;
        c->worst_value = value <= 0.0 ? 0.0 : value;
        c->tolerance = tolerance;
        c->worst_time = t;
    }
    if (ratio > 1.0 && !c->is_reported_only && self->certificate.broken == NULL) self->certificate.broken = c;
}

// What the multipliers of the step's last stage did to the gaps, G X (nu + shift), and to the velocities of the rows.
static void certify_find_effects(pcs_certifier *self, const pcs_step_report *report)
{
    const pcs_system *system = self->scheme->system;
    for (int j = 0; j < system->nrow; j++) self->z[j] = report->rows[j].nu + report->rows[j].shift;
    if (self->place[GATE] >= 0) pcs_projection_rates(self->scheme->solver, self->z, NULL, self->moved);
    for (int j = 0; j < system->nrow; j++) {
        self->z[j] = report->rows[j].multiplier;
        for (int t = 0; t < system->rows[j].ntangent; t++)
            self->z_t[system->rows[j].first_tangent + t] = report->rows[j].last_tangent[t];
    }
    if (self->place[IMPULSE_LAW] >= 0) pcs_projection_rates(self->scheme->solver, self->z, self->z_t, self->jump);
}

// The gap of a joint is a difference of positions and rounds off like them, however small the model is.
static double certify_place(const pcs_certifier *self, int row)
{
    if (self->point == NULL) return 0.0;
    const double *x = self->point[row];
    return 1e-13 * (fabs(x[0]) + fabs(x[1]) + fabs(x[2]));
}

static void certify_position(pcs_certifier *self, const pcs_step_report *report, int row, double t)
{
    const pcs_row_report *r = &report->rows[row];
    double mass = self->scheme->solver->effective_mass[row], gap = self->gap[row];
    double length = 1e-13 * (self->scheme->system->length + self->largest_gap[row]);
    if (self->scheme->system->rows[row].is_bilateral) {
        certify_note(self, GAP, fabs(gap), length + certify_place(self, row), t);
        return;
    }
    certify_note(self, GAP, -gap, length, t);
    certify_note(self, POSITION_MULTIPLIER, -r->nu, mass * length, t);
    certify_note(self, POSITION_COMPLEMENT, fmin(fabs(gap), fabs(r->nu) / mass), length, t);
    double smooth = gap - self->moved[row]; // what the smooth motion alone would have left
    certify_note(self, GATE, r->is_gated ? smooth : -smooth, length, t);
}

static void certify_velocity(pcs_certifier *self, const pcs_state *x, const pcs_step_report *report, int row,
                             double speed)
{
    const pcs_row_report *r = &report->rows[row];
    double mass = self->scheme->solver->effective_mass[row], rate = pcs_system_rate(self->scheme->system, row, x->v);
    double tolerance = 1e-11 * fmax(speed, fmax(fabs(r->rate_before), fabs(r->target)));
    double xi = rate + r->target;
    if (r->is_gated && self->scheme->system->rows[row].is_bilateral) {
        certify_note(self, RATE, fabs(xi), tolerance, x->t);
    } else if (r->is_gated) {
        certify_note(self, RATE, -xi, tolerance, x->t);
        certify_note(self, IMPULSE, -r->multiplier, mass * tolerance, x->t);
        certify_note(self, VELOCITY_COMPLEMENT, fmin(fabs(xi), fabs(r->multiplier) / mass), tolerance, x->t);
    } else {
        certify_note(self, OPEN_IMPULSE, fabs(r->multiplier), mass * tolerance, x->t);
    }
    certify_note(self, IMPULSE_LAW, fabs(rate - r->rate_before - self->jump[row]), tolerance, x->t);
    self->largest_rate[row] = fmax(self->largest_rate[row], fmax(fabs(rate), fabs(r->rate_before)));
}

// The closed form holds where one contact alone got an impulse, and no friction took its share.
static void certify_impact(pcs_certifier *self, const pcs_step_report *report, double speed, double t)
{
    int hit = -1, count = 0;
    for (int j = 0; j < self->scheme->system->nrow; j++)
        if (report->rows[j].multiplier > 0.0) {
            hit = j;
            count++;
        }
    if (count != 1 || !report->rows[hit].is_impact || report->is_joined) return;
    const pcs_row_report *r = &report->rows[hit];
    if (r->last_tangent[0] != 0.0 || r->last_tangent[1] != 0.0 || self->place[IMPACT_LOSS] < 0) return;
    double mass = pcs_projection_mass(self->scheme->solver, hit);
    double loss = 0.5 * mass * (r->rate_before * r->rate_before - r->target * r->target);
    double size = 0.5 * mass * (r->rate_before * r->rate_before + r->target * r->target);
    // However gently a contact closes, its velocity carries the round-off of all others.
    double tolerance = 1e-10 * size + 1e-11 * speed * r->multiplier;
    certify_note(self, IMPACT_LOSS, fabs(report->impact_loss - loss), tolerance, t);
}

// Momentum that the rows gave in the step, friction included. Directions that vary stand where the law was imposed.
static void certify_row_momentum(pcs_certifier *self, const pcs_step_report *report, double sum[3])
{
    const pcs_system *system = self->scheme->system;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &report->rows[j];
        if (system->ops->update_directions != NULL && system->ops->row_resultant != NULL)
            system->ops->row_resultant(system, j, self->resultant[j]);
        for (int k = 0; k < 3; k++) sum[k] += row->step_impulse * self->resultant[j][k];
        for (int t = 0; t < system->rows[j].ntangent && system->ops->tangent_resultant != NULL; t++) {
            double across[3] = { 0.0 };
            if (row->tangent[t] == 0.0) continue;
            system->ops->tangent_resultant(system, system->rows[j].first_tangent + t, across);
            for (int k = 0; k < 3; k++) sum[k] += row->tangent[t] * across[k];
        }
    }
}

static void certify_momentum(pcs_certifier *self, const pcs_step_report *report, double speed, double t)
{
    double defect = 0.0, size = self->scheme->system->mass * speed, rows[3] = { 0.0 };
    certify_row_momentum(self, report, rows);
    for (int k = 0; k < 3; k++) {
        double expected = self->momentum[k] + report->smooth_impulse[k] + rows[k];
        double off = fabs(report->measure.free_momentum[k] - expected);
        if (!(off <= defect)) defect = isnan(off) ? INFINITY : off; // fmax would lose a NaN
        size = fmax(size, fabs(report->smooth_impulse[k]));
        self->momentum[k] = report->measure.free_momentum[k];
    }
    certify_note(self, MOMENTUM, defect, 1e-11 * size, t);
}

// Beyond the way of a step only round-off, what the model started with, and what a constrained velocity leaves of a
// curved path are allowed. A joint may drift.
static void certify_penetration(pcs_certifier *self, const pcs_step_report *report, int row, double t)
{
    if (self->scheme->system->rows[row].is_bilateral) return;
    self->drift[row] = self->gap[row] > 0.0 ? 0.0 : self->drift[row] + report->h * report->h * fabs(self->bias[row]);
    double length = 1e-13 * (self->scheme->system->length + self->largest_gap[row]);
    if (report->h == 0.0) self->overlap[row] = fmax(0.0, -self->gap[row]);
    double allowed = 2.0 * self->largest_rate[row] * self->h + self->overlap[row] + self->drift[row] + length;
    certify_note(self, PENETRATION, -self->gap[row], allowed, t);
}

// The work of a load or of gravity is a force times a difference of positions, which keeps the round-off of positions.
static double certify_work_noise(const pcs_certifier *self, const pcs_state *x)
{
    const pcs_system *system = self->scheme->system;
    double size = 0.0;
    if (self->place[ENERGY] < 0) return 0.0;
    if (system->ops->load_work != NULL) size = fabs(system->ops->load_work(system, x->t, self->origin, x->q));
    double weight = 0.0;
    int n = system->gravity == NULL ? 0 : pcs_system_nown(system);
    for (int i = 0; i < n; i++) weight += fabs(system->gravity[i] * x->q[i]);
    if (system->gravity != NULL) pcs_system_sum(system, 1, &weight);
    return 1e-14 * (size + weight);
}

bool pcs_certify(pcs_certifier *self, const pcs_state *x, const pcs_step_report *report, double energy_defect)
{
    const pcs_system *system = self->scheme->system;
    const pcs_measure *m = &report->measure;
    self->largest_energy = fmax(self->largest_energy, m->kinetic + m->strain);
    self->h = fmax(self->h, report->h);
    // What it takes to hold a body that rests is a scale, too.
    for (int j = 0; j < system->nrow; j++) {
        double impulse = report->rows[j].multiplier;
        if (system->rows[j].is_bilateral && report->h > 0.0) impulse += report->rows[j].force * report->h;
        self->largest_energy =
            fmax(self->largest_energy, 0.5 * impulse * impulse / self->scheme->solver->effective_mass[j]);
    }
    double speed = sqrt(2.0 * self->largest_energy / system->mass);
    self->scheme->system->time = x->t;
    system->ops->gaps(system, x->q, self->gap);
    if (self->point != NULL) system->ops->contact_points(system, x->q, self->point, self->normal);
    if (system->ops->rate_bias != NULL) system->ops->rate_bias(system, x->q, x->v, self->bias);
    certify_find_effects(self, report);
    for (int j = 0; j < system->nrow; j++) {
        self->largest_gap[j] = fmax(self->largest_gap[j], fabs(self->gap[j]));
        certify_position(self, report, j, x->t);
        certify_velocity(self, x, report, j, speed);
        certify_penetration(self, report, j, x->t);
    }
    certify_impact(self, report, speed, x->t);
    certify_momentum(self, report, speed, x->t);
    double energy = 1e-11 * fmax(self->largest_energy, fabs(m->potential)) + certify_work_noise(self, x);
    certify_note(self, ENERGY, fabs(energy_defect), energy, x->t);
    return self->certificate.broken == NULL;
}

void pcs_certifier_describe(const pcs_certifier *self, size_t size, char *text)
{
    const pcs_check *c = self->certificate.broken;
    if (c == NULL) snprintf(text, size, "certificate holds");
    else
        snprintf(text, size, "certificate violated: %s: defect %.6g %s, allowed %.6g %s", c->name, c->worst_value,
                 c->unit, c->tolerance, c->unit);
}
