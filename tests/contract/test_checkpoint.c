// What a checkpoint holds is all of a simulation: with every scheme and step solver, under step control and over all
// kinds of contacts and joints, steps of a simulation made anew from the bytes of another are the same steps, and
// state, ledger, certificate and counts are the same bytes in the end. Steps of the same simulation from a state that
// was kept and put back are the same, too.

#include "sim/sim.h"
#include "support/check.h"
#include "support/every_scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 15, SCHUR_MEMORY = 2 };

static const char *const cases[] = { "cases/ball_in_box",
                                     "cases/bar_impact",
                                     "cases/bars_two",
                                     "cases/bar_plastic",
                                     "cases/bar_viscoelastic",
                                     "cases/beams_crossed",
                                     "cases/beam_pile",
                                     "cases/double_pendulum_stop",
                                     "cases/slider_crank",
                                     "cases/puck",
                                     "cases/incline",
                                     "cases/rotor",
                                     "cases/beam_pendulum",
                                     "tests/contract/state_ball_on_beam.yaml",
                                     "tests/contract/state_balls_on_beam.yaml",
                                     "tests/contract/state_laws.yaml",
                                     "tests/contract/state_held.yaml",
                                     "tests/contract/state_round.yaml",
                                     "tests/study/settling/capstan.yaml",
                                     "tests/study/settling/four_bar.yaml",
                                     NULL };

typedef struct bytes {
    unsigned char *bytes;
    size_t size;
} bytes;

static pcs_archive archive(pcs_sim *sim, pcs_archive_mode mode)
{
    int n = sim->system->nv;
    return (pcs_archive){ .ctx = sim->ctx, .mode = mode, .source = "memory", .nequation = n, .nown = n, .nall = n };
}

// The clock apart.
static bytes save(pcs_sim *sim)
{
    pcs_timing spent = sim->timing;
    sim->timing = (pcs_timing){ .setup = 0.0 };
    pcs_archive c = archive(sim, PCS_ARCHIVE_COUNT);
    pcs_checkpoint_serialize(sim, &c);
    bytes out = { .bytes = calloc(c.used, 1), .size = c.used };
    CHECK(out.bytes != NULL);
    c = archive(sim, PCS_ARCHIVE_WRITE);
    c.bytes = out.bytes;
    c.size = out.size;
    pcs_checkpoint_serialize(sim, &c);
    CHECK_OK(sim->ctx, c.status);
    CHECK(c.used == out.size);
    sim->timing = spent;
    return out;
}

static void load(pcs_sim *sim, bytes from)
{
    pcs_archive c = archive(sim, PCS_ARCHIVE_READ);
    c.bytes = from.bytes;
    c.size = from.size;
    pcs_checkpoint_serialize(sim, &c);
    CHECK_OK(sim->ctx, c.status);
    CHECK(c.used == from.size);
}

static bool walk(pcs_sim *sim, long count)
{
    for (long i = 0; i < count && !pcs_sim_is_done(sim); i++)
        if (pcs_sim_step(sim) != PCS_OK) return false;
    return true;
}

// The name of the first piece that differs.
static const char *difference(bytes a, bytes b)
{
    size_t place = 0, from = 0;
    while (place < a.size && a.bytes[place] == b.bytes[place]) place++;
    for (size_t next = 0; next <= place;) {
        unsigned long long size;
        from = next;
        size_t length = strlen((const char *)a.bytes + from) + 1;
        memcpy(&size, a.bytes + from + length, sizeof size);
        next += length + sizeof size + (size_t)size;
    }
    return (const char *)a.bytes + from;
}

// Counts, ledger and certificate as those see them who look at the run, whether they are carried or not.
static void demand_same_view(const scheme_job *j, const pcs_sim *a, const pcs_sim *b)
{
    const pcs_view *x = &a->view, *y = &b->view;
    const long counts[][2] = { { x->iterations, y->iterations }, { x->factorizations, y->factorizations },
                               { x->attempts, y->attempts },     { x->rejections, y->rejections },
                               { x->handovers, y->handovers },   { x->inexact, y->inexact },
                               { a->state.step, b->state.step } };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i][0] != counts[i][1])
            fail_msg("%s, %s: count %zu is %ld, was %ld", j->path, j->set[0], i, counts[i][1], counts[i][0]);
    CHECK(memcmp(&a->ledger, &b->ledger, PCS_LEDGER_WORDS * sizeof(double)) == 0);
    for (int i = 0; i < x->certificate->ncheck; i++) {
        const pcs_check *was = &x->certificate->checks[i], *is = &y->certificate->checks[i];
        if (memcmp(&was->worst_ratio, &is->worst_ratio, sizeof is->worst_ratio) != 0)
            fail_msg("%s, %s: check '%s' differs", j->path, j->set[0], is->name);
    }
}

// Forces at a state, as those see them who look at the run.
static double *forces(const pcs_sim *sim)
{
    double *f = calloc((size_t)sim->system->nv, sizeof *f);
    CHECK(f != NULL);
    sim->system->ops->force(sim->system, pcs_at(sim->state.t, sim->state.q, sim->state.v), f);
    return f;
}

static void demand_same_forces(const scheme_job *j, const pcs_sim *sim, double *before)
{
    double *f = forces(sim);
    if (memcmp(f, before, (size_t)sim->system->nv * sizeof *f) != 0)
        fail_msg("%s, %s: forces differ", j->path, j->set[0]);
    free(f);
    free(before);
}

// The next steps of a simulation, and of another one from its checkpoint. Returns false if one of them failed.
static bool check_going_on(const scheme_job *j, pcs_sim *sim)
{
    pcs_context *ctx;
    bytes kept = save(sim);
    double *before = forces(sim);
    bool is_good = walk(sim, STEPS);
    pcs_sim *other = scheme_job_open(j, &ctx);
    CHECK(other != NULL);
    load(other, kept);
    demand_same_forces(j, other, before);
    CHECK(walk(other, STEPS) == is_good);
    bytes end = save(sim), again = save(other);
    CHECK(end.size == again.size && end.size == kept.size);
    if (memcmp(end.bytes, again.bytes, end.size) != 0)
        fail_msg("%s, %s: '%s' differs", j->path, j->set[0], difference(end, again));
    CHECK(memcmp(end.bytes, kept.bytes, end.size) != 0);
    demand_same_view(j, sim, other);
    free(kept.bytes);
    free(end.bytes);
    free(again.bytes);
    pcs_context_destroy(&ctx);
    return is_good;
}

// The steps up to here once more, from the state before them.
static void demand_same_again(const scheme_job *j, pcs_sim *sim, const pcs_state *start)
{
    unsigned long long end = pcs_state_hash(&sim->state), kept = pcs_state_hash(start);
    pcs_state_restore(sim->scheme, start, &sim->state);
    CHECK(pcs_state_hash(&sim->state) == kept && kept != end);
    if (!walk(sim, STEPS) || pcs_state_hash(&sim->state) != end)
        fail_msg("%s, %s: other steps from the state before", j->path, j->set[0]);
    CHECK(pcs_state_hash(start) == kept);
}

static bool check_job(const scheme_job *j)
{
    pcs_context *ctx;
    pcs_sim *sim = scheme_job_open(j, &ctx);
    if (sim == NULL) return false;
    bool is_ready = scheme_job_approach(sim, 2e3);
    if (is_ready) {
        pcs_state start;
        CHECK_OK(ctx, pcs_state_clone(ctx, &sim->state, &start));
        if (check_going_on(j, sim)) demand_same_again(j, sim, &start);
    }
    pcs_context_destroy(&ctx);
    return is_ready;
}

TEST(every_scheme_goes_on_from_a_checkpoint)
{
    check_every_scheme_is_listed();
    scheme_jobs_try(NULL, cases, 3, 1, check_job);
}

TEST(every_solver_goes_on_from_a_checkpoint)
{
    static const char *const choices[] = { "solver={type: schur}",
                                           "solver={type: newton}",
                                           "solver={type: condensed}",
                                           "time.control={type: adaptive, tolerance: 1e-3}",
                                           "time.retry=0",
                                           NULL };
    scheme_jobs_try(choices, cases, 2, 2, check_job);
}

// Only contacts with force laws have steps that follow them.
TEST(control_by_contacts_goes_on_from_a_checkpoint)
{
    static const char *const choices[] = { "time.control={type: contact}", NULL };
    static const char *const laws[] = { "tests/contract/state_laws.yaml", "cases/hertz_bar", NULL };
    scheme_jobs_try(choices, laws, 1, 2, check_job);
}

// The parts of steps are those that bodies needed before the checkpoint, though they are slow there.
TEST(steps_that_follow_turning_go_on_from_a_checkpoint)
{
    const scheme_job job = { .path = "tests/contract/state_tumbling.yaml", .set = { "certify=warn" }, .nset = 1 };
    CHECK(check_job(&job));
}

// Steps begin with the halvings that those before the checkpoint needed.
TEST(steps_that_were_cut_go_on_from_a_checkpoint)
{
    const scheme_job job = { .path = "tests/study/settling/spun_beam.yaml" };
    pcs_context *ctx;
    pcs_sim *sim = scheme_job_open(&job, &ctx);
    CHECK(sim != NULL);
    CHECK(walk(sim, STEPS));
    CHECK(sim->view.kept_halvings > 0);
    check_going_on(&job, sim);
    pcs_context_destroy(&ctx);
}

// A damper that waits for the next step (delay_dampers) still does so when the run goes on from the checkpoint.
TEST(dampers_that_wait_go_on_from_a_checkpoint)
{
    static const char *const schemes[] = { "scheme={type: newmark}",
                                           "scheme={type: hht}",
                                           "scheme={type: alpha_ggl}",
                                           "scheme={type: alpha_velocity}",
                                           "scheme={type: alpha_index3}",
                                           "scheme={type: moreau_jean, theta: 0.5}",
                                           "scheme={type: jump_newmark, rho_inf: 0.9}" };
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        for (long steps = 9; steps <= 12; steps++) {
            const scheme_job job = { .path = "tests/contract/state_touch.yaml", .set = { schemes[i] }, .nset = 1 };
            pcs_context *ctx;
            pcs_sim *sim = scheme_job_open(&job, &ctx);
            CHECK(sim != NULL);
            CHECK(walk(sim, steps));
            check_going_on(&job, sim);
            pcs_context_destroy(&ctx);
        }
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
        CHECK(x->nsolver_memory == PCS_SOLVER_MEMORY + pieces[i]);
        int nfilled = 0; // solvers need not use all places
        for (int k = 0; k < x->nsolver_memory; k++) {
            if (x->solver_memory[k].size == 0) continue;
            check_byte(x, &kept, x->solver_memory[k].bytes);
            nfilled++;
        }
        CHECK(nfilled == SCHUR_MEMORY + pieces[i]);
        CHECK(x->nhistory > 0 && (x->nrow_history > 0) == (i != 1));
        pcs_context_destroy(&ctx);
    }
}

// Of another model, cut, or with a name, size or flag that is wrong: told, and never read.
TEST(what_does_not_fit_is_refused)
{
    pcs_context *ctx, *other_ctx;
    const scheme_job ball = { .path = "cases/ball_in_box" }, bar = { .path = "cases/bar_impact" };
    pcs_sim *sim = scheme_job_open(&ball, &ctx), *other = scheme_job_open(&bar, &other_ctx);
    CHECK(sim != NULL && other != NULL);
    bytes kept = save(sim);
    pcs_archive c = archive(other, PCS_ARCHIVE_READ);
    c.bytes = kept.bytes;
    c.size = kept.size;
    pcs_checkpoint_serialize(other, &c);
    CHECK(c.status == PCS_BAD_INPUT);
    CHECK(strstr(pcs_message(other_ctx), "'state.q' has") != NULL);
    for (size_t size = 0; size < kept.size; size += 1 + size / 16) {
        c = archive(sim, PCS_ARCHIVE_READ);
        c.bytes = kept.bytes;
        c.size = size;
        pcs_checkpoint_serialize(sim, &c);
        CHECK(c.status == PCS_BAD_INPUT);
    }
    size_t size;
    c.size = kept.size;
    CHECK(pcs_archive_seek(&c, "certificate.is_awaited", &size) && size == 1);
    kept.bytes[c.used + sizeof "certificate.is_awaited" + 8] = 2;
    c = archive(sim, PCS_ARCHIVE_READ);
    c.bytes = kept.bytes;
    c.size = kept.size;
    pcs_checkpoint_serialize(sim, &c);
    CHECK(c.status == PCS_BAD_INPUT && strstr(pcs_message(ctx), "neither true nor false") != NULL);
    free(kept.bytes);
    pcs_context_destroy(&ctx);
    pcs_context_destroy(&other_ctx);
}
