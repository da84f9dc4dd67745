// What the certificate knows of scheme `wave`, each promise with a fault that breaks it: signs and complementarity on
// V, contacts held until they let go, their offset, the energy of every step.

#include "build/build.h"
#include "sim/certify.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

typedef struct trial {
    pcs_context *ctx;
    pcs_sim *sim, *judge; // the judge's scheme may have another gate
    pcs_certifier *certifier;
} trial;

static pcs_sim *trial_build(pcs_context *ctx, const char *gate)
{
    char scheme[64];
    pcs_sim *sim = NULL;
    snprintf(scheme, sizeof scheme, "scheme={type: wave, gate: %s}", gate);
    const char *const set[] = { scheme, "mesh.bar={type: line, from: [0, 5.06, 0], to: [0, 15.06, 0], elements: 40}" };
    CHECK_OK(ctx, pcs_build_sim_from(ctx, "cases/bar_wave", 2, set, &sim));
    CHECK_OK(ctx, pcs_sim_start(sim));
    // Matrices of the step are made in the first one.
    CHECK_OK(ctx, sim->scheme->ops->step(sim->scheme, &sim->state, sim->step_size, &sim->report));
    return sim;
}

static bool trial_judge(trial *t, double defect)
{
    return pcs_certify(t->certifier, &t->sim->state, &t->sim->report, defect);
}

static bool trial_step(trial *t)
{
    pcs_sim *sim = t->sim;
    pcs_certifier_mark(t->certifier);
    CHECK_OK(t->ctx, sim->scheme->ops->step(sim->scheme, &sim->state, sim->step_size, &sim->report));
    assert_int_equal(sim->report.outcome, PCS_CONVERGED);
    return trial_judge(t, 0.0);
}

// Off the grid, so that there is an offset; up to some steps into the first contact, or to the first complaint.
static trial trial_open(const char *gate, const char *judged_gate)
{
    trial t = { 0 };
    int loaded = 0;
    CHECK_OK(NULL, pcs_context_create(&t.ctx));
    t.sim = trial_build(t.ctx, gate);
    t.judge = trial_build(t.ctx, judged_gate);
    CHECK_OK(t.ctx, pcs_certifier_create(t.ctx, t.judge->scheme, &t.certifier));
    pcs_certifier_start(t.certifier, &t.sim->report.measure);
    while (loaded < 5 && trial_step(&t)) loaded += t.sim->report.rows[0].step_impulse > 0.0;
    return t;
}

static const char *trial_broken(const trial *t)
{
    const pcs_check *broken = pcs_certifier_certificate(t->certifier)->broken;
    return broken == NULL ? "" : broken->name;
}

enum { NEGATIVE, SLIPPED, OPENED, LET_GO, MISSED, NFAULT };

// Spoils the last step and gives it back as it was.
static void trial_spoil(trial *t, int fault, const char *name)
{
    pcs_sim *sim = t->sim;
    pcs_row_report *row = &sim->report.rows[0], keep = *row;
    double *v = &sim->state.v[0], v0 = *v, defect = 0.0;
    pcs_certifier_rewind(t->certifier);
    if (fault == NEGATIVE) row->multiplier = -row->multiplier;
    if (fault == SLIPPED) *v -= 1e-8;
    if (fault == OPENED) *v += 1e-8;
    if (fault == LET_GO) row->is_gated = false;
    if (fault == MISSED) defect = 1e-7;
    CHECK(!trial_judge(t, defect));
    const pcs_certificate *c = pcs_certifier_certificate(t->certifier);
    bool is_seen = false;
    for (int i = 0; i < c->ncheck; i++)
        is_seen = is_seen || (strstr(c->checks[i].name, name) != NULL && c->checks[i].worst_ratio > 1.0);
    if (!is_seen) fail_msg("'%s' holds, broken is '%s'", name, trial_broken(t));
    *row = keep;
    *v = v0;
    pcs_certifier_rewind(t->certifier);
    CHECK(trial_judge(t, 0.0));
}

TEST(each_promise_is_judged)
{
    const char *const gates[] = { "nearest", "before" };
    static const char *const names[NFAULT] = { [NEGATIVE] = "contact force and impulse >= 0",
                                               [SLIPPED] = "gap rate + restitution >= 0",
                                               [OPENED] = "rate law or impulse vanishes",
                                               [LET_GO] = "contact law imposed exactly",
                                               [MISSED] = "energy ledger closes" };
    for (int k = 0; k < 2; k++) {
        trial t = trial_open(gates[k], gates[k]);
        CHECK_TEXT(trial_broken(&t), "");
        CHECK(t.sim->report.rows[0].step_impulse > 0.0);
        for (int fault = 0; fault < NFAULT; fault++) trial_spoil(&t, fault, names[fault]);
        pcs_context_destroy(&t.ctx);
    }
}

// A contact held at an offset that the other gate does not promise, and closed where that would not close it.
TEST(gates_are_those_of_the_case)
{
    trial t = trial_open("before", "nearest");
    const pcs_certificate *c = pcs_certifier_certificate(t.certifier);
    CHECK(c->broken != NULL);
    CHECK_TEXT(trial_broken(&t), "contact law imposed exactly");
    bool is_far = false;
    for (int i = 0; i < c->ncheck; i++)
        is_far =
            is_far || (strstr(c->checks[i].name, "offset of held contacts") != NULL && c->checks[i].worst_ratio > 1.0);
    CHECK(is_far);
    pcs_context_destroy(&t.ctx);
}
