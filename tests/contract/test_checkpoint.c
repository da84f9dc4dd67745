// What a checkpoint holds is all of a simulation: with every scheme and step solver, under step control and over all
// kinds of contacts and joints, steps of a simulation made anew from the bytes of another are the same steps, and
// state, ledger, certificate and counts are the same bytes in the end.

#include "build/build.h"
#include "sim/checkpoint.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 15 };

static const char *const schemes[] = {
    "type: alpha_ggl",
    "type: alpha_velocity",
    "type: newmark",
    "type: hht",
    "type: alpha_index3",
    "type: moreau_jean, theta: 0.6",
    "type: moreau_jean_explicit",
    "type: moreau_midpoint, gap_tolerance: 1.0e-6",
    "type: schatzman_paoli",
    "type: half_explicit, impulsive_step: 1.0e-5",
    "type: half_explicit_acceleration",
    "type: half_explicit_rk",
    "type: jump_newmark, rho_inf: 0.8",
    "type: jump_bathe",
    "type: splitting, contact_forces: true",
    "type: tdg_minus",
    "type: tdg_plus, degree: 2",
    "type: ggl_midpoint, metric: mass, gap_tolerance: 1.0e-6",
    "type: event_driven, accumulation: rest",
    "type: mannshardt",
};

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
                                     "tests/study/settling/capstan.yaml",
                                     "tests/study/settling/four_bar.yaml" };
enum { NSCHEME = sizeof schemes / sizeof *schemes, NCASE = sizeof cases / sizeof *cases };

typedef struct job {
    const char *path;
    const char *set[4];
    int nset;
} job;

typedef struct bytes {
    unsigned char *bytes;
    size_t size;
} bytes;

// NULL where the case does not take this.
static pcs_sim *open_job(const job *j, pcs_context **ctx)
{
    pcs_sim *sim = NULL;
    *ctx = NULL;
    CHECK_OK(NULL, pcs_context_create(ctx));
    if (pcs_build_sim_from(*ctx, j->path, j->nset, j->set, &sim) == PCS_OK && pcs_sim_start(sim) == PCS_OK) return sim;
    pcs_context_destroy(ctx);
    return NULL;
}

static pcs_carrier carrier(pcs_sim *sim, pcs_carry_way way)
{
    int n = sim->system->nv;
    return (pcs_carrier){
        .ctx = sim->ctx, .way = way, .source = "memory", .nequation = n, .nown = n, .nall = n, .nrank = 1
    };
}

// The clock apart.
static bytes save(pcs_sim *sim)
{
    pcs_timing spent = sim->timing;
    sim->timing = (pcs_timing){ .setup = 0.0 };
    pcs_carrier c = carrier(sim, PCS_CARRY_COUNT);
    pcs_checkpoint_carry(sim, &c);
    bytes out = { .bytes = calloc(c.used, 1), .size = c.used };
    CHECK(out.bytes != NULL);
    c = carrier(sim, PCS_CARRY_WRITE);
    c.bytes = out.bytes;
    c.size = out.size;
    pcs_checkpoint_carry(sim, &c);
    CHECK_OK(sim->ctx, c.status);
    CHECK(c.used == out.size);
    sim->timing = spent;
    return out;
}

static void load(pcs_sim *sim, bytes from)
{
    pcs_carrier c = carrier(sim, PCS_CARRY_READ);
    c.bytes = from.bytes;
    c.size = from.size;
    pcs_checkpoint_carry(sim, &c);
    CHECK_OK(sim->ctx, c.status);
    CHECK(c.used == from.size);
}

static bool walk(pcs_sim *sim, long count)
{
    for (long i = 0; i < count && !pcs_sim_is_done(sim); i++)
        if (pcs_sim_step(sim) != PCS_OK) return false;
    return true;
}

// Three steps beyond the first impact, or as far as is worth its while.
static bool approach(pcs_sim *sim)
{
    bool is_slow = strcmp(sim->scheme->ops->name, "event_driven") == 0, has_impact = false;
    if (is_slow && sim->system->nv > 20) return false;
    long last = 4 + (long)((is_slow ? 1e3 : 2e3) / (sim->system->nv + 20.0));
    while (sim->state.step < last && !pcs_sim_is_done(sim)) {
        if (pcs_sim_step(sim) != PCS_OK) return false;
        for (int r = 0; r < sim->system->nrow; r++) {
            if (!sim->report.rows[r].is_impact || has_impact) continue;
            has_impact = true;
            last = sim->state.step + 3;
        }
    }
    return !pcs_sim_is_done(sim);
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

static bool check_job(const job *j)
{
    pcs_context *ctx, *other_ctx;
    pcs_sim *sim = open_job(j, &ctx), *other;
    if (sim == NULL) return false;
    bool is_ready = approach(sim);
    if (is_ready) {
        bytes kept = save(sim);
        bool is_good = walk(sim, STEPS);
        other = open_job(j, &other_ctx);
        CHECK(other != NULL);
        load(other, kept);
        CHECK(walk(other, STEPS) == is_good);
        bytes end = save(sim), again = save(other);
        CHECK(end.size == again.size && end.size == kept.size);
        if (memcmp(end.bytes, again.bytes, end.size) != 0)
            fail_msg("%s, %s: '%s' differs", j->path, j->set[0], difference(end, again));
        CHECK(memcmp(end.bytes, kept.bytes, end.size) != 0);
        free(kept.bytes);
        free(end.bytes);
        free(again.bytes);
        pcs_context_destroy(&other_ctx);
    }
    pcs_context_destroy(&ctx);
    return is_ready;
}

static void every_scheme_goes_on_from_a_checkpoint(void **state)
{
    (void)state;
    for (int k = 0; k < NSCHEME; k++) {
        char scheme[128];
        int count = 0;
        snprintf(scheme, sizeof scheme, "scheme={%s}", schemes[k]);
        for (int i = 0; i < NCASE; i++) {
            job j = { .path = cases[i], .set = { scheme, "certify=warn", "time.step=auto" }, .nset = 2 };
            bool is_done = check_job(&j);
            j.nset = 3; // an explicit scheme, for which the step of the case is too long
            count += is_done || check_job(&j);
        }
        print_message("%s: %d of %d cases\n", schemes[k], count, NCASE);
        CHECK(count >= 3);
    }
}

static void every_solver_goes_on_from_a_checkpoint(void **state)
{
    (void)state;
    static const char *const ways[] = { "solver={type: schur}",
                                        "solver={type: newton}",
                                        "solver={type: condensed}",
                                        "solver={type: sequential}",
                                        "solver={type: pgs}",
                                        "time.control={type: adaptive, tolerance: 1e-3}",
                                        "time.retry=0" };
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        int count = 0;
        for (int i = 0; i < NCASE; i++) {
            job j = { .path = cases[i], .set = { ways[k], "certify=warn" }, .nset = 2 };
            count += check_job(&j);
        }
        print_message("%s: %d of %d cases\n", ways[k], count, NCASE);
        CHECK(count >= 2);
    }
}

// Of another model, cut, or with a name, size or flag that is wrong: told, and never read.
static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    pcs_context *ctx, *other_ctx;
    const job ball = { .path = "cases/ball_in_box" }, bar = { .path = "cases/bar_impact" };
    pcs_sim *sim = open_job(&ball, &ctx), *other = open_job(&bar, &other_ctx);
    CHECK(sim != NULL && other != NULL);
    bytes kept = save(sim);
    pcs_carrier c = carrier(other, PCS_CARRY_READ);
    c.bytes = kept.bytes;
    c.size = kept.size;
    pcs_checkpoint_carry(other, &c);
    CHECK(c.status == PCS_BAD_INPUT);
    CHECK(strstr(pcs_message(other_ctx), "'state.q' has") != NULL);
    for (size_t size = 0; size < kept.size; size += 1 + size / 16) {
        c = carrier(sim, PCS_CARRY_READ);
        c.bytes = kept.bytes;
        c.size = size;
        pcs_checkpoint_carry(sim, &c);
        CHECK(c.status == PCS_BAD_INPUT);
    }
    size_t size;
    c.size = kept.size;
    CHECK(pcs_carry_seek(&c, "certificate.is_awaited", &size) && size == 1);
    kept.bytes[c.used + sizeof "certificate.is_awaited" + 8] = 2;
    c = carrier(sim, PCS_CARRY_READ);
    c.bytes = kept.bytes;
    c.size = kept.size;
    pcs_checkpoint_carry(sim, &c);
    CHECK(c.status == PCS_BAD_INPUT && strstr(pcs_message(ctx), "neither true nor false") != NULL);
    free(kept.bytes);
    pcs_context_destroy(&ctx);
    pcs_context_destroy(&other_ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(every_scheme_goes_on_from_a_checkpoint),
        cmocka_unit_test(every_solver_goes_on_from_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
