// What the certificate carries from step to step, written down and read back: the worst of every check, sizes that
// tolerances follow, rows, and the last state.

#include "sim/certify_data.h"

#include <stddef.h>
#include <string.h>

enum { CHECK_WORDS = 4 };
_Static_assert(offsetof(pcs_check, worst_time) == offsetof(pcs_check, worst_ratio) + (CHECK_WORDS - 1) * sizeof(double),
               "the numbers of a check follow one another");

// Which check is broken, -1: none.
static void carry_broken(pcs_certifier *self, pcs_carrier *c)
{
    pcs_certificate *certificate = &self->now.certificate;
    int broken = certificate->broken == NULL ? -1 : (int)(certificate->broken - certificate->checks);
    pcs_carry_index(c, "broken", &broken, -1, certificate->ncheck - 1);
    if (pcs_carry_reads(c)) certificate->broken = broken < 0 ? NULL : &self->now.checks[broken];
}

static void carry_rows(certify_rows *rows, size_t nrow, pcs_carrier *c)
{
    static const char *const names[] = { "largest_gap", "largest_rate", "overlap", "drift", "gap",  "rate",
                                         "impulse",     "recent",       "strayed", "reach", "bend", "sunk" };
    double *const arrays[] = { rows->largest_gap, rows->largest_rate, rows->overlap, rows->drift,
                               rows->gap,         rows->rate,         rows->impulse, rows->recent,
                               rows->strayed,     rows->reach,        rows->bend,    rows->sunk };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pcs_carry_rows(c, names[i], &(pcs_carry_table){ arrays[i], nrow, sizeof(double), sizeof(double), false });
}

// What is not known is what an older step has left: nobody reads it, and it is no part of what is carried.
static void carry_clear(certify_past *past, size_t bytes, int nhistory)
{
    if (!past->has_force) memset(past->f, 0, bytes);
    if (past->is_known) return;
    memset(past->q, 0, bytes);
    memset(past->v, 0, bytes);
    for (int i = 0; i < nhistory; i++) memset(past->history[i], 0, bytes);
}

// Where the last state stands of the two places is nobody's business: one that is read has the first.
static void carry_past(pcs_certifier *self, pcs_carrier *c)
{
    if (pcs_carry_reads(c)) {
        self->now.past = 0;
        self->marked = -1;
    }
    certify_past *past = &self->past[self->now.past];
    int n = self->scheme->system->nv, nhistory = self->scheme->ops->nhistory;
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
    const pcs_system *system = self->scheme->system;
    size_t nnumber = (offsetof(certify_memory, past) - offsetof(certify_memory, momentum)) / sizeof(double);
    pcs_carry_part(c, "certificate");
    for (int i = 0; i < now->certificate.ncheck; i++)
        pcs_carry_words(c, now->checks[i].name, &now->checks[i].worst_ratio, CHECK_WORDS);
    for (int i = 0; i < CERTIFY_COUNT; i++) pcs_certify_know(self, i);
    carry_broken(self, c);
    pcs_carry_index(c, "bad_row", &now->bad_row, -1, pcs_system_nrow(system) + pcs_system_ncompliant(system) - 1);
    pcs_carry_int(c, "bad_equation", &now->bad_equation);
    if (pcs_carry_reads(c) && now->bad_equation >= system->nv) now->bad_equation = -1; // of another rank
    pcs_carry_words(c, "numbers", now->momentum, nnumber);
    pcs_carry_flags(c, "is_awaited", &now->is_awaited, 1);
    pcs_carry_int(c, "iterations", &now->iterations);
    carry_rows(&self->rows, (size_t)system->nrow, c);
    carry_past(self, c);
}
