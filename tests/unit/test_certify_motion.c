// The certificate of whole steps: honest ones of every scheme pass; one entry of the state that is off by a millionth
// is found in the equations of motion or in the positions, and nothing of it is left when the step is judged again;
// restitution and gates are those of the case, those of `wave` included.

#include "build/build.h"
#include "sim/certify.h"
#include "support/check.h"
#include "support/every_scheme.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A run with a certificate of its own beside that of the simulation.
typedef struct trial {
    pcs_context *ctx;
    pcs_sim *sim;
    pcs_certifier *certifier;
} trial;

enum { MOST_SETS = 4 };

// False when the scheme refuses the system; `set` ends with NULL.
static bool open_trial(const char *path, const char *const *set, trial *t)
{
    int count = 0;
    while (set[count] != NULL) count++;
    *t = (trial){ 0 };
    CHECK_OK(NULL, pcs_context_create(&t->ctx));
    if (pcs_build_sim_from(t->ctx, path, count, set, &t->sim) != PCS_OK) {
        pcs_context_destroy(&t->ctx);
        return false;
    }
    CHECK_OK(t->ctx, pcs_sim_start(t->sim));
    CHECK_OK(t->ctx, pcs_certifier_create(t->ctx, t->sim->scheme, NULL, false, &t->certifier));
    pcs_certifier_start(t->certifier, &t->sim->report.measure);
    (void)pcs_certify(t->certifier, NULL, &t->sim->state, &t->sim->report);
    return true;
}

static void advance(trial *t, double h)
{
    pcs_sim *sim = t->sim;
    pcs_state_copy(&sim->state, &sim->before);
    CHECK_OK(t->ctx, sim->scheme->ops->step(sim->scheme, &sim->state, h, &sim->report));
    assert_int_equal(sim->report.outcome, PCS_CONVERGED);
}

static bool judge(trial *t)
{
    return pcs_certify(t->certifier, &t->sim->before, &t->sim->state, &t->sim->report);
}

static void demand(trial *t, const char *what)
{
    char text[512];
    if (judge(t)) return;
    pcs_certifier_describe(t->certifier, sizeof text, text);
    fail_msg("%s: %s", what, text);
}

static const pcs_check *find_check(const trial *t, const char *name)
{
    const pcs_certificate *c = pcs_certifier_certificate(t->certifier);
    for (int i = 0; i < c->ncheck; i++)
        if (strstr(c->checks[i].name, name) != NULL) return &c->checks[i];
    return NULL;
}

static bool is_broken(const trial *t, const char *name)
{
    const pcs_check *check = find_check(t, name);
    return check != NULL && check->worst_ratio > 1.0;
}

typedef struct place {
    const char *path;
    const char *set[MOST_SETS]; // ends with NULL
    double h;
} place;

// Linear and not, with constant and varying mass, free and joined, in contact and in flight.
static const place places[] = {
    { "cases/ball", { NULL }, 1e-3 },
    { "cases/incline", { NULL }, 1e-3 },
    { "cases/impacting_oscillator", { NULL }, 1e-3 },
    { "cases/pendulum", { NULL }, 1e-3 },
    { "cases/slider_crank", { "system.friction=0.0" }, 1e-4 },
    { "cases/rocking_block", { NULL }, 1e-3 },
    { "cases/bar_clamped", { "mesh.bar.elements=8", "elements.bar.damping={mass: 0.1, stiffness: 1.0e-3}" }, 1e-3 },
    { "cases/beam_pendulum", { "mesh.beam.elements=2", "elements.beam.E=2.1e+6" }, 2e-4 },
};
enum { NPLACE = sizeof places / sizeof *places };

static bool try_trial(const place *where, const char *scheme, trial *out)
{
    char text[160];
    const char *set[MOST_SETS + 3] = { text, "time.step=1.0e-6" };
    for (int i = 0; where->set[i] != NULL; i++) set[i + 2] = where->set[i];
    snprintf(text, sizeof text, "scheme={%s}", scheme);
    return open_trial(where->path, set, out);
}

// Where the state is looked for faults.
static double *entry(pcs_state *x, int vector, int i)
{
    return vector == 0 ? &x->v[i] : vector == 1 ? &x->q[i] : &x->history[vector - 2][i];
}

// One entry of the state off by 1e-5 of the largest of its kind: some law breaks, and none does when it is set
// right again.
static void spoil(trial *t, const char *what, int vector, int i)
{
    pcs_sim *sim = t->sim;
    double *x = entry(&sim->state, vector, i), keep = *x, size = 0.0;
    int n = sim->system->nv;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(*entry(&sim->state, vector, k)));
    if (size == 0.0) return;
    *x += 1e-5 * (vector == 1 ? fmax(size, sim->system->length) : size);
    bool holds = judge(t);
    bool is_seen = is_broken(t, "equations of motion") || is_broken(t, "positions follow");
    pcs_certifier_rewind(t->certifier);
    *x = keep;
    if (holds || !is_seen) fail_msg("%s: entry %d of vector %d passes", what, i, vector);
    demand(t, what);
    pcs_certifier_rewind(t->certifier);
}

// Position corrections of ggl_midpoint and of an impulse that a half-explicit impact drops are not told.
static bool reports_positions(const trial *t, const char *scheme)
{
    bool is_hit = false;
    for (int j = 0; j < t->sim->system->nrow; j++) is_hit = is_hit || t->sim->report.rows[j].is_impact;
    return strstr(scheme, "ggl_midpoint") == NULL && !is_hit;
}

TEST(every_entry_is_judged)
{
    int count = 0;
    for (int s = 0; every_scheme[s] != NULL; s++)
        for (int p = 0; p < NPLACE; p++) {
            char what[160];
            trial t;
            snprintf(what, sizeof what, "%s on %s", every_scheme[s], places[p].path);
            if (!try_trial(&places[p], every_scheme[s], &t)) continue;
            for (int k = 0; k < 6; k++) {
                advance(&t, places[p].h);
                demand(&t, what);
            }
            pcs_certifier_mark(t.certifier);
            advance(&t, places[p].h);
            demand(&t, what);
            const pcs_check *motion = find_check(&t, "equations of motion");
            bool is_judged = motion != NULL && motion->tolerance > 0.0 && motion->worst_ratio < 0.1;
            pcs_certifier_rewind(t.certifier);
            for (int i = 0; i < t.sim->system->nv && is_judged; i++) {
                spoil(&t, what, 0, i);
                if (reports_positions(&t, every_scheme[s])) spoil(&t, what, 1, i);
                for (int k = 0; k < t.sim->scheme->ops->nhistory; k++) spoil(&t, what, 2 + k, i);
            }
            count += is_judged;
            pcs_context_destroy(&t.ctx);
        }
    print_message("%d judged\n", count);
    CHECK(count >= 157);
}

static double falling_restitution(const void *params, double speed)
{
    return ((const pcs_newton *)params)->restitution / (1.0 + speed);
}

// A ball whose restitution falls with the speed of approach rebounds by it, and the certificate holds; judged by
// another restitution, the first impact tells.
TEST(restitution_is_that_of_the_law)
{
    // clang-format off
    static const char *const choices[] = {
        "alpha_ggl", "moreau_jean, theta: 0.5", "newmark", "jump_newmark, gamma: 0.5", "half_explicit",
        "half_explicit_rk", "half_explicit_acceleration", "tdg_plus", "splitting", "moreau_jean_explicit",
        "moreau_midpoint", "ggl_midpoint", "ggl_midpoint, coupling: decoupled",
    };
    // clang-format on
    static const pcs_law_ops falling = { .restitution = falling_restitution };
    static const pcs_newton own = { 0.8 }, changed = { 0.8 + 1e-5 };
    for (size_t k = 0; k < 2 * sizeof choices / sizeof *choices; k++) {
        char text[160];
        const char *const set[] = { text, "time.step=1.0e-2", NULL };
        trial t;
        snprintf(text, sizeof text, "scheme={type: %s}", choices[k / 2]);
        CHECK(open_trial("cases/ball", set, &t));
        pcs_row *row = &t.sim->system->laws[0];
        const pcs_row_report *r = &t.sim->report.rows[0];
        bool is_hit = false, is_off = false;
        for (int i = 0; i < 200 && !is_hit; i++) {
            row->law = (pcs_law){ &falling, &own };
            advance(&t, 1e-2);
            is_hit = r->is_impact;
            is_off = is_hit && k % 2 == 1;
            if (is_off) row->law.params = &changed;
            if (judge(&t) == is_off) fail_msg("%s: step %d", choices[k / 2], i);
        }
        CHECK(is_hit && fabs(r->rate + 0.8 * r->rate_before / (1.0 - r->rate_before)) < 0.11); // g h = 0.1
        if (is_off) CHECK_TEXT(pcs_certifier_certificate(t.certifier)->broken->name, "gap rate + restitution >= 0");
        pcs_context_destroy(&t.ctx);
    }
}

// A law that is imposed on a ball on its way up, which asks for nothing there.
TEST(gates_are_where_the_scheme_says)
{
    static const char *const choices[] = { "moreau_jean, theta: 0.5", "newmark", "hht", "moreau_jean_explicit",
                                           "moreau_midpoint" };
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
        char text[160];
        const char *const set[] = { text, "time.step=1.0e-2", "system.velocity=1.0", NULL };
        trial t;
        snprintf(text, sizeof text, "scheme={type: %s}", choices[k]);
        CHECK(open_trial("cases/ball", set, &t));
        advance(&t, 1e-2);
        demand(&t, choices[k]);
        pcs_certifier_mark(t.certifier);
        advance(&t, 1e-2);
        demand(&t, choices[k]);
        pcs_certifier_rewind(t.certifier);
        pcs_row_report *row = &t.sim->report.rows[0];
        CHECK(row->rate > 0.0 && !row->is_gated);
        row->is_gated = true;
        CHECK(!judge(&t));
        CHECK_TEXT(pcs_certifier_certificate(t.certifier)->broken->name, "contact law imposed");
        pcs_certifier_rewind(t.certifier);
        row->gate_is_contradictory = true; // then it is a choice, and counted where the scheme states gaps
        CHECK(judge(&t));
        pcs_context_destroy(&t.ctx);
    }
}

TEST(contradictions_are_counted)
{
    const char *const set[] = { "scheme={type: alpha_ggl}", "time.step=1.0e-2", "system.velocity=1.0", NULL };
    trial t;
    CHECK(open_trial("cases/ball", set, &t));
    for (int i = 0; i < 3; i++) {
        advance(&t, 1e-2);
        t.sim->report.rows[0].gate_is_contradictory = i > 0;
        t.sim->report.rows[0].is_gated = i > 0;
        demand(&t, "a contradiction");
    }
    const pcs_check *check = find_check(&t, "contact status was ambiguous");
    CHECK(check != NULL && check->is_reported_only && check->worst_value == 2.0);
    advance(&t, 1e-2);
    t.sim->report.rows[0].is_gated = true;
    CHECK(!judge(&t)); // no contradiction, no choice
    pcs_context_destroy(&t.ctx);
}

// Opens a bar under `wave`, off the grid so that contacts are held at an offset, with the certificate of another gate;
// ends some steps into the first contact, or with the first complaint.
static void open_wave(const char *gate, const char *judged_gate, trial *t, trial *judged)
{
    static const char *const bar = "mesh.bar={type: line, from: [0, 5.06, 0], to: [0, 15.06, 0], elements: 40}";
    char scheme[64];
    const char *const set[] = { scheme, bar, NULL };
    snprintf(scheme, sizeof scheme, "scheme={type: wave, rounding: %s}", judged_gate);
    CHECK(open_trial("cases/bar_wave", set, judged));
    advance(judged, judged->sim->step_size); // matrices of the step are made in the first one
    snprintf(scheme, sizeof scheme, "scheme={type: wave, rounding: %s}", gate);
    CHECK(open_trial("cases/bar_wave", set, t));
    t->certifier = judged->certifier;
    pcs_certifier_start(t->certifier, &t->sim->report.measure);
    for (int loaded = 0; loaded<5; loaded += t->sim->report.rows[0].step_impulse> 0.0) {
        pcs_certifier_mark(t->certifier);
        advance(t, t->sim->step_size);
        if (!judge(t)) return;
    }
}

// Signs and complementarity on V, contacts held until they let go, the energy of every step: each has a fault that
// breaks it, and holds again without.
TEST(promises_of_wave_are_judged)
{
    enum { NEGATIVE, SLIPPED, OPENED, LET_GO, MISSED, NFAULT };
    static const char *const gates[] = { "nearest", "before" };
    static const char *const law = "gap rate + restitution >= 0";
    const char *const names[NFAULT] = { law, law, law, "contact law imposed exactly", "energy ledger closes" };
    for (int k = 0; k < 2 * NFAULT; k++) {
        int fault = k / 2;
        trial t, judged;
        open_wave(gates[k % 2], gates[k % 2], &t, &judged);
        CHECK(pcs_certifier_certificate(t.certifier)->broken == NULL);
        pcs_row_report *row = &t.sim->report.rows[0], keep = *row;
        double v = t.sim->state.v[0], work = t.sim->report.external_work;
        CHECK(row->step_impulse > 0.0);
        pcs_certifier_rewind(t.certifier);
        if (fault == NEGATIVE) row->multiplier = -row->multiplier;
        if (fault == SLIPPED || fault == OPENED) t.sim->state.v[0] += fault == OPENED ? 1e-8 : -1e-8;
        if (fault == LET_GO) row->is_gated = false;
        if (fault == MISSED) t.sim->report.external_work += 1e-7;
        CHECK(!judge(&t));
        if (!is_broken(&t, names[fault])) fail_msg("'%s' holds", names[fault]);
        *row = keep;
        t.sim->report.external_work = work;
        t.sim->state.v[0] = v;
        pcs_certifier_rewind(t.certifier);
        demand(&t, "the step set right");
        pcs_context_destroy(&t.ctx);
        pcs_context_destroy(&judged.ctx);
    }
}

// A contact is closed where the other gate would not close it.
TEST(gates_of_wave_are_those_of_the_case)
{
    trial t, judged;
    open_wave("before", "nearest", &t, &judged);
    CHECK_TEXT(pcs_certifier_certificate(t.certifier)->broken->name, "contact law imposed exactly");
    pcs_context_destroy(&t.ctx);
    pcs_context_destroy(&judged.ctx);
}
