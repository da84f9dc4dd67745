// A state is whole: with every scheme and step solver, on every shipped case and on models with all that carries a
// memory, ten steps from a state that was kept and put back are the same ten steps to the last bit. A simulation made
// anew goes on from a checkpoint in test_checkpoint.c. The constant part of the system stays as it was built.

#define _POSIX_C_SOURCE 200809L // scandir

#include "core/carry.h"
#include "support/check.h"
#include "support/every_scheme.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10, MOST_CASES = 64, SCHUR_MEMORY = 2 };

// Hashes of what a step has left behind.
enum { STATE, REPORT, ROWS, REACTIONS, NHASH };
static const char *const hash_names[NHASH] = { "the state", "the report", "a row of the report", "a reaction" };

typedef struct trace {
    bool is_good;
    unsigned long long hash[NHASH];
} trace;

static void record(pcs_sim *sim, bool is_good, trace *out)
{
    const pcs_step_report *r = &sim->report;
    const double sums[10] = {
        r->h,           r->measure.kinetic, r->measure.strain,    r->external_work,     r->damping_loss,
        r->impact_loss, r->correction_work, r->smooth_impulse[0], r->smooth_impulse[1], r->friction_loss
    };
    *out = (trace){ is_good, { pcs_state_hash(&sim->state), PCS_HASH_START, PCS_HASH_START, PCS_HASH_START } };
    out->hash[REPORT] = pcs_hash(PCS_HASH_START, sums, sizeof sums);
    for (int j = 0; j < sim->system->nrow; j++) {
        const bool flags[3] = { r->rows[j].is_gated, r->rows[j].is_closed, r->rows[j].is_impact };
        out->hash[ROWS] = pcs_hash(out->hash[ROWS], &r->rows[j], offsetof(pcs_row_report, is_gated));
        out->hash[ROWS] = pcs_hash(out->hash[ROWS], flags, sizeof flags);
    }
    if (sim->reactions != NULL)
        out->hash[REACTIONS] =
            pcs_hash(PCS_HASH_START, sim->reactions, (size_t)sim->system->nreaction * sizeof *sim->reactions);
}

// Steps up to ten times; a step that fails is the last. Gives the number of traces.
static int walk(pcs_sim *sim, trace out[STEPS])
{
    int count = 0;
    bool is_good = true;
    while (is_good && count < STEPS && !pcs_sim_is_done(sim)) {
        is_good = pcs_sim_step(sim) == PCS_OK;
        record(sim, is_good, &out[count++]);
    }
    return count;
}

// What differs, or NULL.
static const char *difference(const trace *a, const trace *b)
{
    if (a->is_good != b->is_good) return "the outcome";
    for (int i = 0; i < NHASH; i++)
        if (a->hash[i] != b->hash[i]) return hash_names[i];
    return NULL;
}

// Of all that is built from the case and constant afterwards.
static unsigned long long hash_constants(const pcs_system *s)
{
    unsigned long long hash = pcs_hash(PCS_HASH_START, s, offsetof(pcs_system, laws));
    const pcs_matrix *const still[] = { s->mass_varies ? NULL : s->M, s->is_linear ? s->K : NULL,
                                        s->is_linear ? s->C : NULL };
    const pcs_rows *const rows[] = { s->row_set.vary ? NULL : s->G, s->row_set.vary ? NULL : s->T };
    hash = pcs_hash(hash, s->rows, (size_t)s->nrow * sizeof *s->rows);
    hash = pcs_hash(hash, s->contacts, (size_t)s->ncontact * sizeof *s->contacts);
    hash = pcs_hash(hash, s->reactions, (size_t)s->nreaction * sizeof *s->reactions);
    if (s->gravity != NULL) hash = pcs_hash(hash, s->gravity, (size_t)s->nv * sizeof *s->gravity);
    for (int i = 0; i < 3; i++)
        if (still[i] != NULL) hash = pcs_hash(hash, still[i]->value, (size_t)still[i]->pattern->nnz * sizeof(double));
    for (int i = 0; i < 2; i++)
        if (rows[i] != NULL)
            hash = pcs_hash(hash, rows[i]->value, (size_t)rows[i]->start[rows[i]->nrow] * sizeof(double));
    return hash;
}

static void compare(const scheme_job *j, const trace *a, const trace *b, int count, int again)
{
    for (int i = 0; i < count; i++) {
        const char *what = i < again ? difference(&a[i], &b[i]) : "the number of steps";
        if (what == NULL) continue;
        fail_msg("%s, %s, %s: %s differs in step %d after the copy", j->path, j->set[0], j->nset > 2 ? j->set[2] : "",
                 what, i + 1);
    }
}

static bool check_job(const scheme_job *j)
{
    pcs_context *ctx;
    pcs_state kept;
    trace first[STEPS], again[STEPS];
    pcs_sim *sim = scheme_job_open(j, &ctx);
    if (sim == NULL) return false;
    unsigned long long constants = hash_constants(sim->system);
    bool is_ready = scheme_job_approach(sim, 5e3);
    if (is_ready) {
        CHECK_OK(ctx, pcs_state_clone(ctx, &sim->state, &kept));
        CHECK(pcs_state_hash(&kept) == pcs_state_hash(&sim->state));
        int count = walk(sim, first);
        CHECK(count > 0 && pcs_state_hash(&kept) != pcs_state_hash(&sim->state));
        if (first[count - 1].is_good) { // a run that has failed does not go on
            pcs_state_restore(sim->scheme, &kept, &sim->state);
            CHECK(pcs_state_hash(&kept) == pcs_state_hash(&sim->state));
            int nagain = walk(sim, again);
            compare(j, first, again, count, nagain);
        }
    }
    CHECK(hash_constants(sim->system) == constants);
    pcs_context_destroy(&ctx);
    return is_ready;
}

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

// Shipped cases and those that have what they have not.
static void list_cases(const char *list[MOST_CASES + 1])
{
    static char path[MOST_CASES][128];
    static const char *const more[] = {
        "tests/contract/state_ball_on_beam.yaml", "tests/contract/state_balls_on_beam.yaml",
        "tests/contract/state_laws.yaml",         "tests/contract/state_held.yaml",
        "tests/study/settling/capstan.yaml",      "tests/study/settling/four_bar.yaml"
    };
    struct dirent **found;
    int count = scandir("cases", &found, is_case, alphasort), n = 0;
    CHECK(count > 0 && count + 6 <= MOST_CASES);
    for (int i = 0; i < count; i++) {
        snprintf(path[n], sizeof path[0], "cases/%.100s", found[i]->d_name);
        list[n] = path[n];
        n++;
        free(found[i]);
    }
    free(found);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) list[n++] = more[i];
    list[n] = NULL;
}

TEST(every_scheme_carries_all_in_its_state)
{
    const char *cases[MOST_CASES + 1];
    list_cases(cases);
    check_every_scheme_is_listed();
    scheme_jobs_try(NULL, cases, 3, 3, check_job);
}

// Step solvers and step control, with the scheme of the case.
TEST(every_solver_carries_all_in_the_state)
{
    static const char *const ways[] = { "solver={type: schur}", "solver={type: newton}", "solver={type: condensed}",
                                        "time.control={type: adaptive, tolerance: 1e-3}", NULL };
    const char *cases[MOST_CASES + 1];
    list_cases(cases);
    scheme_jobs_try(ways, cases, 2, 2, check_job);
}

// Only contacts with force laws have steps that follow them.
TEST(control_by_contacts_carries_all_in_the_state)
{
    static const char *const ways[] = { "time.control={type: contact}", NULL };
    static const char *const laws[] = { "tests/contract/state_laws.yaml", "cases/hertz_bar", NULL };
    scheme_jobs_try(ways, laws, 1, 2, check_job);
}

// Changes one byte of x: that shows in the hash, and a copy takes it back.
static void check_byte(pcs_state *x, const pcs_state *kept, void *member)
{
    unsigned char *byte = member, was = *byte;
    unsigned long long hash = pcs_state_hash(kept);
    CHECK(pcs_state_hash(x) == hash);
    *byte ^= 0x15;
    CHECK(pcs_state_hash(x) != hash);
    pcs_state_copy(kept, x);
    CHECK(*byte == was && pcs_state_hash(x) == hash);
}

// No member is forgotten where states are copied and hashed, also where nothing of a run shows it.
TEST(every_member_counts)
{
    static const char *const paths[] = { "tests/contract/state_ball_on_beam.yaml",
                                         "tests/contract/state_balls_on_beam.yaml", "cases/bar_clamped" };
    static const char *const sets[] = { "scheme={type: alpha_ggl}", "scheme={type: half_explicit}",
                                        "scheme={type: alpha_index3}" };
    static const int pieces[] = { 2, 1, 0 }; // impulses and forces of a support; what a search has found; none
    for (int i = 0; i < 3; i++) {
        pcs_context *ctx;
        pcs_state kept;
        scheme_job j = { .path = paths[i], .set = { sets[i], "time.step=1e-5", "solver={type: schur}" }, .nset = 3 };
        pcs_sim *sim = scheme_job_open(&j, &ctx);
        CHECK(sim != NULL);
        pcs_state *x = &sim->state;
        CHECK_OK(ctx, pcs_state_clone(ctx, x, &kept));
        void *members[] = { &x->t, &x->step, &x->next_h, &x->largest_rate, x->q, x->v, x->was_loaded, x->memory };
        for (size_t k = 0; k < sizeof members / sizeof *members; k++) check_byte(x, &kept, members[k]);
        for (int k = 0; k < x->nhistory; k++) check_byte(x, &kept, &x->history[k][x->nv - 1]);
        for (int k = 0; k < x->nrow_history; k++) check_byte(x, &kept, &x->row_history[k][x->nrow - 1]);
        CHECK(x->ncarried == PCS_SOLVER_MEMORY + pieces[i]);
        int nfilled = 0; // solvers need not use all places
        for (int k = 0; k < x->ncarried; k++) {
            if (x->carried[k].size == 0) continue;
            check_byte(x, &kept, x->carried[k].bytes);
            nfilled++;
        }
        CHECK(nfilled == SCHUR_MEMORY + pieces[i]);
        CHECK(x->nhistory > 0 && (x->nrow_history > 0) == (i != 1));
        pcs_context_destroy(&ctx);
    }
}
