// Which checks apply, and the worst ratio of each.
//
// If rows are distributed over processes, each judges its own, and the worst of every check is joined: if several
// have the same, the first of them has it, and the violation that counts is that of the first row, as in one process.

#include "sim/certify_data.h"

#include "core/comm.h"

#include <math.h>
#include <string.h>

static bool check_only_reports(const pcs_rule *rule, int check)
{
    switch (check) {
    case CERTIFY_PENETRATION:
    case CERTIFY_MISFIT: return rule->level == PCS_LEVEL_ACCELERATION;
    // Allows forward Euler, which gains in every step, more. A run that has gained half of all energy fails even so.
    case CERTIFY_GROWTH: return rule->gains_energy && rule->kind != PCS_RULE_EULER;
    case CERTIFY_RISE: return rule->gains_energy;
    default: return check == CERTIFY_CONTRADICTION || check == CERTIFY_NUMERICAL || check == CERTIFY_CORRECTION;
    }
}

void pcs_certify_know(pcs_certifier *self, int check)
{
    const pcs_check *c = self->check[check];
    double known = INFINITY;
    if (c != NULL) known = c->tolerance > 0.0 ? c->worst_ratio * (1.0 - 4.0 * DBL_EPSILON) : -INFINITY;
    self->now.known[check] = known;
}

static void check_add(pcs_certifier *self, int check, bool applies, const char *unit, const char *name)
{
    bool is_marked = check == CERTIFY_NUMERICAL || check == CERTIFY_CORRECTION;
    if (applies) {
        self->check[check] = &self->now.checks[self->now.certificate.ncheck++];
        *self->check[check] = (pcs_check){ .name = name,
                                           .unit = unit,
                                           .is_reported_only = check_only_reports(self->rule, check),
                                           .mark = check == CERTIFY_MISFIT ? 0.01 : is_marked };
    }
    pcs_certify_know(self, check);
}

void pcs_certify_choose(pcs_certifier *self)
{
    const pcs_scheme_ops *ops = self->scheme->ops;
    const pcs_system *system = self->system;
    const pcs_rule *rule = self->rule;
    const pcs_row_set *set = &system->row_set;
    bool is_mesh = pcs_system_is_mesh(system);
    bool rows = pcs_system_nrow(system) > 0, presses = pcs_system_ncompliant(system) > 0;
    bool limits = rows && pcs_rule_limits_gaps(rule), strikes = rows && rule->position != PCS_POSITION_FORCE;
    bool corrects = limits && strikes, separates = rows && pcs_rule_separates_impacts(rule);
    bool gates = strikes && ((limits && system->is_linear) || rule->gate != PCS_GATE_NONE);
    bool bends = rows && pcs_system_has_bias(system);
    bool rubs = pcs_system_ntangent(system) > 0 && rule->position != PCS_POSITION_FORCE;
    bool turns = set->ndriven > 0 && !system->is_linear && rule->impact != PCS_IMPACT_LOCATED;
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

void pcs_certify_weigh_up(pcs_certifier *self, int check, double value, double tolerance, int row)
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
        pcs_certify_know(self, check);
    }
    if (!(ratio > 1.0) || c->is_reported_only || now->certificate.broken != NULL) return;
    now->certificate.broken = c;
    now->bad_row = pcs_row_number(self->system, row);
    now->bad_equation = self->equation;
}

void pcs_certify_part(const pcs_certifier *self, double *ratio)
{
    for (int i = 0; i < CERTIFY_COUNT; i++) {
        const pcs_check *c = self->check[i];
        bool is_known = c != NULL && (i <= CERTIFY_TURN || i >= CERTIFY_PENETRATION);
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
    double told[CHECK_WORDS] = { 0.0 };
    double first = pcs_rows_max(system, is_worst ? -number : -pcs_process_count(system->ctx));
    if (first == -number) memcpy(told, &c->worst_ratio, sizeof told);
    pcs_rows_sum(system, CHECK_WORDS, told);
    memcpy(&c->worst_ratio, told, sizeof told);
    pcs_certify_know(self, check);
}

void pcs_certify_join(pcs_certifier *self, const double *before, bool was_broken)
{
    certify_memory *now = &self->now;
    double here[CERTIFY_COUNT + 1], worst[CERTIFY_COUNT + 1], *broken = &worst[CERTIFY_COUNT];
    pcs_certify_part(self, here);
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

void pcs_certify_stand(pcs_certifier *self, double t, const double *q, double *gap, const double *v, double *rate)
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
