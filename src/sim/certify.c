// The judgement of a step, and what it remembers, reports and stores in checkpoints. Before the first step the model is
// compared with the case: coefficients of contacts with its text, travel times of waves with mass and stiffness.

#include "sim/certify_data.h"

#include "core/text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
                  &self->misfit, &self->drive[0], &self->drive[1], &self->drive[2], &self->drive[3]);
    PCS_TAKE(ctx, self->z_t, system->ntangent, "the certificate");
    PCS_TAKE(ctx, self->is_spare, system->nrow, "the certificate");
    PCS_TAKE(ctx, self->ends, system->nrow, "the certificate");
    if (has_rebound) PCS_TAKE(ctx, self->rebound, system->ntangent, "the certificate");
    if (!pcs_system_has_joints(system)) return PCS_OK;
    PCS_TAKE(ctx, self->point, pcs_system_npoint(system), "the certificate");
    PCS_TAKE(ctx, self->normal, pcs_system_npoint(system), "the certificate");
    return PCS_OK;
}

// Allocates the two saved states and the work of residuals.
static pcs_status certify_take_vectors(pcs_context *ctx, pcs_certifier *self)
{
    int n = self->system->nv;
    PCS_TAKE(ctx, self->origin, self->system->nq, "the certificate");
    PCS_TAKE_EACH(ctx, n, "the certificate", double, &self->f, &self->way, &self->e, &self->r, &self->b,
                  &self->tolerance);
    for (int k = 0; k < 2; k++) {
        certify_past *past = &self->past[k];
        PCS_TAKE_EACH(ctx, n, "the certificate", double, &past->q, &past->v, &past->f);
        for (int i = 0; i < self->scheme->ops->nhistory; i++) PCS_TAKE(ctx, past->history[i], n, "the certificate");
    }
    if (self->rule->kind == PCS_RULE_RUNGE_KUTTA)
        for (int k = 0; k < self->rule->tableau->s; k++)
            PCS_TAKE_EACH(ctx, n, "the certificate", double, &self->stage_v[k], &self->stage_a[k]);
    return PCS_OK;
}

static pcs_status certify_copy_rows(pcs_context *ctx, const pcs_rows *rows, pcs_rows **out)
{
    if (rows == NULL) return PCS_OK;
    PCS_TRY(pcs_rows_create(ctx, rows->nrow, rows->ncol, rows->start[rows->nrow], out));
    size_t count = (size_t)rows->start[rows->nrow]; // entries of constant rows stay as they are
    memcpy((*out)->start, rows->start, (size_t)(rows->nrow + 1) * sizeof *rows->start);
    memcpy((*out)->column, rows->column, count * sizeof *rows->column);
    memcpy((*out)->value, rows->value, count * sizeof *rows->value);
    (*out)->halo = rows->halo;
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
        PCS_TRY(certify_copy_rows(ctx, system->G, &self->G));
        PCS_TRY(certify_copy_rows(ctx, system->T, &self->T));
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
    self->equation = self->marked = -1;
    pcs_certify_choose(self);
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
    self->marked = self->now.past;
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
    size_t bytes = (size_t)self->system->nv * sizeof(double);
    bool may_close = certify_remember_rows(self);
    now->measure = self->report->measure;
    now->h = self->report->h;
    now->count++;
    if (now->past == self->marked) now->past = 1 - now->past;
    certify_past *past = &self->past[now->past];
    now->is_awaited = certify_will_watch(self, may_close);
    past->is_known = self->iterates || now->is_awaited || self->system->row_set.may_pass;
    past->has_force = past->is_known && self->from != NULL && self->has_force;
    past->t = self->x->t;
    if (!past->is_known) return;
    memcpy(past->q, self->x->q, bytes);
    memcpy(past->v, self->x->v, bytes);
    for (int i = 0; i < self->scheme->ops->nhistory; i++) memcpy(past->history[i], self->x->history[i], bytes);
    if (past->has_force) memcpy(past->f, self->f, bytes);
}

bool pcs_certify(pcs_certifier *self, const pcs_state *x, const pcs_step_report *report, double energy_defect)
{
    certify_memory *now = &self->now;
    double before[CERTIFY_COUNT];
    self->x = x;
    self->report = report;
    self->h = report->h;
    self->from = NULL;
    self->residual = self->leftover = 0.0;
    self->allowed = -1;
    self->has_moved = false;
    now->largest_h = pcs_certify_grown(now->largest_h, report->h);
    self->is_examined = pcs_certify_examines(self);
    pcs_certify_survey(self);
    bool must_watch = self->survey.is_hit || self->survey.acts || report->iterations > now->iterations;
    if (must_watch || now->is_awaited) {
        if (self->past[now->past].is_known) pcs_certify_prepare(self);
        now->iterations = report->iterations;
    }
    pcs_certify_energy(self);
    self->speed = sqrt(2.0 * now->largest_energy / self->system->mass);
    bool was_broken = now->certificate.broken != NULL, is_spread = pcs_rows_are_spread(self->system);
    if (is_spread) pcs_certify_part(self, before);
    pcs_certify_rows(self);
    if (is_spread) pcs_certify_join(self, before, was_broken);
    pcs_certify_all_rows(self);
    if (self->from != NULL) pcs_certify_motion(self);
    if (pcs_certify_is_on(self, CERTIFY_ENERGY)) pcs_certify_ledger(self, energy_defect);
    pcs_certify_momentum(self);
    pcs_certify_forces(self);
    // Resets what the system caches for its rows to the end of the step.
    if (self->has_moved) pcs_system_gaps(self->system, pcs_at(x->t, x->q, NULL), self->gap);
    certify_remember(self);
    return now->certificate.broken == NULL;
}

void pcs_certifier_renew(pcs_certifier *self, const pcs_state *x)
{
    certify_past *past = &self->past[self->now.past];
    past->has_force = false;
    for (int i = 0; i < x->nhistory; i++) memcpy(past->history[i], x->history[i], (size_t)x->nv * sizeof(double));
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
    pcs_rule_kind kind = self->rule->kind;
    bool lags = kind == PCS_RULE_EULER || kind == PCS_RULE_MIDPOINT || kind == PCS_RULE_CENTRAL;
    if (!certify_is_of_energy(self)) return "";
    if (pcs_system_is_gyroscopic(self->system) && lags)
        return "; this scheme takes forces at the velocity before the step, which makes motions with gyroscopic "
               "moments grow at any step size: try half_explicit or alpha_ggl";
    return "; try a smaller step, numerical damping that keeps the order (hht, or rho_inf < 1) or alpha_ggl";
}

// Returns the contact of a row by its index in one process.
static const pcs_contact_info *certify_contact(const pcs_system *system, int number)
{
    if (!pcs_rows_are_spread(system)) return &system->contacts[system->rows[number].contact];
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
static void carry_broken(pcs_certifier *self, pcs_carrier *c)
{
    pcs_certificate *certificate = &self->now.certificate;
    int broken = certificate->broken == NULL ? -1 : (int)(certificate->broken - certificate->checks);
    pcs_carry_index(c, "broken", &broken, -1, certificate->ncheck - 1);
    if (pcs_carry_reads(c)) certificate->broken = broken < 0 ? NULL : &self->now.checks[broken];
}

// Zeroes arrays of an older step, which nothing reads, as a checkpoint must not contain them.
static void carry_clear(certify_past *past, size_t bytes, int nhistory)
{
    if (!past->has_force) memset(past->f, 0, bytes);
    if (past->is_known) return;
    memset(past->q, 0, bytes);
    memset(past->v, 0, bytes);
    for (int i = 0; i < nhistory; i++) memset(past->history[i], 0, bytes);
}

// Archives the last state, whichever of the two buffers holds it. A checkpoint is read into the first.
static void carry_past(pcs_certifier *self, pcs_carrier *c)
{
    if (pcs_carry_reads(c)) {
        self->now.past = 0;
        self->marked = -1;
    }
    certify_past *past = &self->past[self->now.past];
    int n = self->system->nv, nhistory = self->scheme->ops->nhistory;
    pcs_carry_words(c, "t", &past->t, 1);
    pcs_carry_flags(c, "is_known", &past->is_known, 1);
    pcs_carry_flags(c, "has_force", &past->has_force, 1);
    carry_clear(past, (size_t)n * sizeof(double), nhistory);
    pcs_carry_vector(c, "q", past->q, n);
    pcs_carry_vector(c, "v", past->v, n);
    pcs_carry_vector(c, "f", past->f, n);
    for (int i = 0; i < nhistory; i++) pcs_carry_vector(c, "history", past->history[i], n);
}

void pcs_certifier_carry(pcs_certifier *self, pcs_carrier *c)
{
    certify_memory *now = &self->now;
    const pcs_system *system = self->system;
    pcs_carry_table rows = { self->rows, (size_t)system->nrow, sizeof *self->rows, sizeof *self->rows, false };
    size_t nnumber = (offsetof(certify_memory, past) - offsetof(certify_memory, momentum)) / sizeof(double);
    pcs_carry_part(c, "certificate");
    for (int i = 0; i < now->certificate.ncheck; i++)
        pcs_carry_words(c, now->checks[i].name, &now->checks[i].worst_ratio, CHECK_WORDS);
    for (int i = 0; i < CERTIFY_COUNT; i++) pcs_certify_know(self, i);
    carry_broken(self, c);
    pcs_carry_index(c, "bad_row", &now->bad_row, -1, pcs_system_nrow(system) + pcs_system_ncompliant(system) - 1);
    pcs_carry_int(c, "bad_equation", &now->bad_equation);
    if (pcs_carry_reads(c) && now->bad_equation >= system->nv) now->bad_equation = -1; // equation of another process
    pcs_carry_words(c, "numbers", now->momentum, nnumber);
    pcs_carry_flags(c, "is_awaited", &now->is_awaited, 1);
    pcs_carry_int(c, "iterations", &now->iterations);
    pcs_carry_rows(c, "rows", &rows);
    carry_past(self, c);
}
