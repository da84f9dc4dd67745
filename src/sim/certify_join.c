// Records the worst ratio of value and tolerance of every check.
//
// Rows that each rank judges for itself, where they are distributed over ranks (pcs_system.row_comm):
// what is remembered of a row is known to its rank alone, and the worst of every check is joined. Where ranks have the
// same, the first of them has it, and the violation that counts is that of the first row, as in one process.

#include "core/comm.h"
#include "sim/certify_data.h"

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
    if (c == NULL || (value <= 0.0 && c->tolerance > 0.0)) return;
    // Values of a motion without bounds may be inf - inf: nothing is allowed then, and no message says nan.
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
    if (!(ratio > 1.0) || c->is_reported_only || self->now.certificate.broken != NULL) return;
    self->now.certificate.broken = c;
    self->now.bad_row = pcs_row_number(self->scheme->system, row);
    self->now.bad_equation = equation;
}

// Indices of the numbers reduced over ranks: a ratio per check, then the first row that breaks one, a contradiction.
enum { BROKEN = CERTIFY_COUNT, CONTRADICTION, NUMBERS };
enum { WORDS = 4 }; // of a check, one after the other: worst ratio, its value, tolerance and time

// Returns the worst ratio of a check of rows, equal on all ranks between steps, -1 if none was noted or not of rows.
static double join_ratio(const pcs_certifier *self, int check)
{
    const pcs_check *c = self->check[check];
    bool is_of_rows = check <= CERTIFY_STAY || (check >= CERTIFY_PENETRATION && check <= CERTIFY_OFFSET);
    if (!is_of_rows || c == NULL || (c->tolerance == 0.0 && c->worst_ratio == 0.0)) return -1.0;
    return c->worst_ratio;
}

void pcs_certify_part(pcs_certifier *self)
{
    self->was_broken = self->now.certificate.broken != NULL;
    for (int i = 0; i < CERTIFY_COUNT; i++) self->ratio_before[i] = join_ratio(self, i);
}

// Copies each worst ratio, its value, tolerance and time from its rank to all: `worst` is reduced, `here` of this rank.
static void join_details(pcs_certifier *self, const double worst[NUMBERS], const double here[NUMBERS])
{
    const pcs_comm *comm = self->comm;
    certify_memory *now = &self->now;
    double first[BROKEN + 1], told[BROKEN * WORDS + 1] = { 0 };
    for (int i = 0; i <= BROKEN; i++) first[i] = here[i] == worst[i] ? -comm->rank : -comm->size;
    comm->max(comm, BROKEN + 1, first);
    for (int i = 0; i < BROKEN; i++) {
        const pcs_check *c = self->check[i];
        if (c != NULL && c == now->certificate.broken && first[BROKEN] == -comm->rank) told[BROKEN * WORDS] = i;
        if (c == NULL || first[i] != -comm->rank) continue;
        memcpy(&told[i * WORDS], &c->worst_ratio, WORDS * sizeof *told);
    }
    comm->sum(comm, BROKEN * WORDS + 1, told);
    for (int i = 0; i < BROKEN; i++) {
        pcs_check *c = self->check[i];
        if (c == NULL || worst[i] == self->ratio_before[i]) continue;
        memcpy(&c->worst_ratio, &told[i * WORDS], WORDS * sizeof *told);
        pcs_certify_know(self, i);
    }
    if (worst[BROKEN] == -INFINITY) return;
    now->certificate.broken = self->check[(int)told[BROKEN * WORDS]];
    now->bad_row = (int)-worst[BROKEN];
}

void pcs_certify_join(pcs_certifier *self, double *contradictions)
{
    const pcs_comm *comm = self->comm;
    const certify_memory *now = &self->now;
    double here[NUMBERS], worst[NUMBERS];
    for (int i = 0; i < BROKEN; i++) here[i] = worst[i] = join_ratio(self, i);
    bool breaks = now->certificate.broken != NULL && !self->was_broken;
    here[BROKEN] = worst[BROKEN] = breaks ? -(double)now->bad_row : -(double)INFINITY;
    worst[CONTRADICTION] = *contradictions;
    comm->max(comm, NUMBERS, worst);
    *contradictions = worst[CONTRADICTION];
    // Skips the exchange if no ratio has grown and no check broke.
    bool is_new = worst[BROKEN] != -INFINITY;
    for (int i = 0; i < BROKEN; i++) is_new = is_new || worst[i] != self->ratio_before[i];
    if (is_new) join_details(self, worst, here);
}
