// The certificate: an honest step passes; a step doctored against exactly one condition is caught by that condition and
// no other, above its tolerance and not below; tolerances have the units of the model; what is not a number never
// passes.

#include "sim/certify.h"
#include "support/check.h"
#include "support/model.h"

#include "step/step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 5, ROWS = 2 };

// One unit of length, mass and time of the model, in m, kg and s.
typedef struct units {
    double length, mass, time;
} units;

static const units si = { 1.0, 1.0, 1.0 }, systems[] = { { 1e-3, 1e3, 1.0 }, { 1024.0, 1e-9, 1e4 } };

// A bar of 4 m with 2 kg a cell, 1 kg at its ends. Its end touches a wall, its start is 1 m from another one.
typedef struct scene {
    model *m;
    units u;
    pcs_scheme_ops ops;
    pcs_scheme scheme;
    pcs_certifier *certifier;
    pcs_state x;
    double q[N], v[N], recent[ROWS];
    pcs_row_report rows[ROWS];
    pcs_step_report report;
    double metre, speed, impulse, joule; // one m, m/s, N s, J in the units of the model
} scene;

static void build_bar(scene *s)
{
    char text[256];
    const units *u = &s->u;
    model_line(s->m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 4 * s->metre, 0, 0 }, N - 1);
    snprintf(text, sizeof text, "E=%.17g rho=%.17g area=%.17g mass=lumped",
             100 * u->length * u->time * u->time / u->mass, 2 * u->length * u->length * u->length / u->mass,
             1 / (u->length * u->length));
    model_group(s->m, "rod", "bar", text);
    snprintf(text, sizeof text, "nodes=bar.end point=%.17g,0,0 normal=-1,0,0 restitution=0.5", 4 * s->metre);
    model_contact(s->m, "wall", "node_plane", text);
    snprintf(text, sizeof text, "nodes=bar.start point=%.17g,0,0 normal=1,0,0 restitution=0.5", -s->metre);
    model_contact(s->m, "back", "node_plane", text);
    model_build(s->m);
}

// The certificate of a scheme that limits gaps, or one that separates impacts, before its first step.
static void open_scene(scene *s, units u, bool limits_gaps)
{
    *s = (scene){ .u = u, .m = model_create(), .metre = 1.0 / u.length, .speed = u.time / u.length };
    s->impulse = s->speed / u.mass;
    s->joule = s->speed * s->speed / u.mass;
    build_bar(s);
    s->ops = (pcs_scheme_ops){ .name = "claims",
                               .rule = { .kind = limits_gaps ? PCS_RULE_NONE : PCS_RULE_IMPLICIT,
                                         .position = limits_gaps ? PCS_POSITION_CORRECTED : PCS_POSITION_FREE,
                                         .impact = limits_gaps ? PCS_IMPACT_IN_STEP : PCS_IMPACT_ALWAYS } };
    s->scheme = (pcs_scheme){ .ops = &s->ops, .rule = s->ops.rule, .ctx = s->m->ctx, .system = s->m->system };
    CHECK_OK(s->m->ctx, pcs_step_solver_create(s->m->ctx, "condensed", "auto", s->m->system, &s->scheme.solver));
    CHECK_OK(s->m->ctx, pcs_certifier_create(s->m->ctx, &s->scheme, NULL, false, &s->certifier));
    CHECK_RELATIVE(s->scheme.solver->effective_mass[0], 1.0 / u.mass, 1e-12);
    s->x = (pcs_state){ .t = 0.25 / u.time, .step = 1, .q = s->q, .v = s->v, .recent = s->recent };
    s->report = (pcs_step_report){ .h = 0.01 / u.time, .bad_equation = -1, .rows = s->rows };
}

// The step of a scheme without fault that left the end `gap` from the wall, with this rate and these multipliers; the
// law is rate + target >= 0. The middle of the bar moves at 1 m/s: the scale of all velocities. All in SI.
static void print(scene *s, double gap, double rate, double target, double la, double nu)
{
    const pcs_system *system = s->m->system;
    pcs_measure before;
    s->q[N - 1] = -gap * s->metre;
    s->v[N - 1] = -rate * s->speed;
    s->v[2] = s->speed;
    s->rows[0] = (pcs_row_report){
        .gap = gap * s->metre,
        .rate = rate * s->speed,
        .rate_before = (rate - la) * s->speed,
        .target = target * s->speed,
        .multiplier = la * s->impulse,
        .step_impulse = la * s->impulse,
        .nu = nu * s->metre / s->u.mass,
        .is_gated = gap - nu <= 0.0,
    };
    s->rows[1] = (pcs_row_report){ .gap = s->metre };
    system->ops->measure(system, pcs_at(0.0, s->q, s->v), PCS_ENERGY, &s->report.measure);
    before = s->report.measure;
    before.free_momentum[0] += la * s->impulse; // the wall pushes along -x
    pcs_certifier_start(s->certifier, &before);
}

static bool judge(scene *s)
{
    return pcs_certify(s->certifier, NULL, &s->x, &s->report);
}

static const pcs_check *find_check(const pcs_certifier *certifier, const char *name)
{
    const pcs_certificate *certificate = pcs_certifier_certificate(certifier);
    for (int i = 0; i < certificate->ncheck; i++)
        if (strstr(certificate->checks[i].name, name) != NULL) return &certificate->checks[i];
    fail_msg("no check '%s'", name);
    return NULL;
}

// 1 kg hits with 1 m/s and leaves with 0.5: 0.375 J are lost.
static void hit(scene *s)
{
    print(s, 0, 0.5, -0.5, 1.5, 0);
    s->rows[0].is_impact = true;
    s->report.impact_loss = 0.375 * s->joule;
    pcs_measure before = s->report.measure;
    before.free_momentum[0] += 1.5 * s->impulse;
    before.kinetic += s->report.impact_loss;
    pcs_certifier_start(s->certifier, &before);
}

// A step that breaks one condition by a size, in SI: what is told of it, the impact above if all of that is 0, and a
// number of the scene that is off.
#define ROW(member) offsetof(scene, rows) + offsetof(pcs_row_report, member)
#define REPORT(member) offsetof(scene, report) + offsetof(pcs_step_report, member)
typedef enum fraud_unit {
    AS_REPORTED,
    SPEED,
    IMPULSE,
    FORCE,
    ENERGY,
    GATE
} fraud_unit; // GATE: the law is the other way
typedef struct fraud {
    const char *check;
    bool limits_gaps;
    double reported[5], per_size[5]; // gap, rate, target, la, nu, and what is added for each unit of the size
    fraud_unit unit;
    double sign;
    size_t place;
} fraud;

#define GAP_LAW "gap >= 0, position multiplier >= 0, one of them 0"
#define RATE_LAW "gap rate + restitution >= 0, impulse >= 0, one of them 0"
static const fraud frauds[] = {
    { GAP_LAW, true, { 0, 1 }, { -1 }, AS_REPORTED, 0, 0 },
    { GAP_LAW, true, { 0, 1 }, { 0, 0, 0, 0, -1 }, AS_REPORTED, 0, 0 },
    { GAP_LAW, true, { 0, 1 }, { 1, 0, 0, 0, 2 }, AS_REPORTED, 0, 0 },
    { "contact law imposed exactly where the smooth gap closes", true, { 0, 1 }, { 1 }, GATE, 0, 0 },
    { "contact law imposed exactly where the smooth gap closes", true, { 0, 1 }, { 0, 0, 0, 0, 1 }, GATE, 0, 0 },
    { RATE_LAW, true, { 0 }, { 0, -1 }, AS_REPORTED, 0, 0 },
    { RATE_LAW, false, { 0, 0.5, -0.5 }, { 0, -1 }, AS_REPORTED, 0, 0 },
    { RATE_LAW, true, { 0, 1, -1 }, { 0, 0, 0, -1 }, AS_REPORTED, 0, 0 },
    { RATE_LAW, false, { 0 }, { 0, 1, 0, 1 }, AS_REPORTED, 0, 0 },
    { RATE_LAW, true, { 0.01, 1 }, { 0, 0, 0, 1 }, AS_REPORTED, 0, 0 },
    { RATE_LAW, false, { 0.01, 1 }, { 0, 0, 0, -1 }, AS_REPORTED, 0, 0 },
    { "impulse = effective mass x velocity jump", true, { 0, 0, 0, 1.5 }, { 0 }, SPEED, 1, ROW(rate_before) },
    { "impact loss = work of the impulses", false, { 0 }, { 0 }, ENERGY, 1, REPORT(impact_loss) },
    { "impact loss = work of the impulses", false, { 0 }, { 0 }, ENERGY, -1, REPORT(impact_loss) },
    { "momentum balance", true, { 0, 0, 0, 1.5 }, { 0 }, IMPULSE, 1, REPORT(smooth_impulse) },
    { "momentum balance", false, { 0.01 }, { 0 }, IMPULSE, -1, REPORT(smooth_impulse[2]) },
    { "momentum balance", false, { 0, 0, 0, 1.5 }, { 0 }, IMPULSE, -1, ROW(step_impulse) },
    { "energy ledger closes", false, { 0.01 }, { 0 }, ENERGY, 1, REPORT(numerical_loss) },
    { "energy ledger closes", false, { 0.01 }, { 0 }, ENERGY, -1, REPORT(numerical_loss) },
    { "penetration <= 2 max|gap rate| h", false, { 0, 1 }, { -1 }, AS_REPORTED, 0, 0 },
    { RATE_LAW, true, { 0, 1, -1 }, { 0 }, FORCE, -1, ROW(force) },
    { RATE_LAW, false, { 0, 1, -1 }, { 0 }, IMPULSE, -1, ROW(impulse) },
};
enum { NFRAUD = sizeof frauds / sizeof *frauds };

static void act(const fraud *f, double size, scene *s)
{
    double x[5], sum = 0.0;
    for (int i = 0; i < 5; i++) {
        x[i] = f->reported[i] + size * f->per_size[i];
        sum += fabs(x[i]);
    }
    if (sum == 0.0) hit(s);
    else print(s, x[0], x[1], x[2], x[3], x[4]);
    const double scales[] = { 0.0, s->speed, s->impulse, s->impulse / s->report.h, s->joule, 0.0 };
    if (f->unit == GATE) s->rows[0].is_gated = !s->rows[0].is_gated;
    else if (f->unit != AS_REPORTED) *(double *)((char *)s + f->place) += f->sign * size * scales[f->unit];
    if (f->place == REPORT(impact_loss)) s->report.numerical_loss -= f->sign * size * s->joule; // so the ledger closes
}

// Commits the fraud on a fresh certificate; gives the ratio of its check, and demands that no other one fails.
static double commit(const fraud *f, units u, double size, bool *holds)
{
    scene s;
    open_scene(&s, u, f->limits_gaps);
    act(f, size, &s);
    *holds = judge(&s);
    const pcs_certificate *certificate = pcs_certifier_certificate(s.certifier);
    double ratio = NAN;
    for (int i = 0; i < certificate->ncheck; i++) {
        const pcs_check *c = &certificate->checks[i];
        if (strcmp(c->name, f->check) == 0) ratio = c->worst_ratio;
        else if (!(c->worst_ratio <= 1.0)) fail_msg("'%s' fails as well: %g", c->name, c->worst_ratio);
    }
    if (isnan(ratio)) fail_msg("no check '%s'", f->check);
    if (*holds) CHECK(certificate->broken == NULL);
    else assert_string_equal(certificate->broken->name, f->check);
    char text[256];
    pcs_certifier_describe(s.certifier, sizeof text, text);
    CHECK_TEXT(text, *holds ? "certificate holds" : f->check);
    model_destroy(&s.m);
    return ratio;
}

TEST(every_fraud_is_caught)
{
    for (int i = 0; i < NFRAUD; i++) {
        const fraud *f = &frauds[i];
        bool holds;
        double size = strstr(f->check, "penetration") != NULL ? 0.5 : 1e-6, ratio = commit(f, si, size, &holds);
        print_message("%s: tolerance %.3g\n", f->check, size / ratio);
        CHECK(!holds && ratio > 1.0);
        // The defect grows with the size: twice the tolerance is caught, half of it is not.
        ratio = commit(f, si, 2.0 * size / ratio, &holds);
        if (holds) fail_msg("%s: twice the tolerance passes (%g)", f->check, ratio);
        CHECK_NEAR(ratio, 2.0, 0.02);
        ratio = commit(f, si, 0.25 * 2.0 * size / commit(f, si, size, &holds), &holds);
        if (!holds) fail_msg("%s: half the tolerance is caught (%g)", f->check, ratio);
        CHECK_NEAR(ratio, 0.5, 0.02);
    }
}

// 1e-13 of the model's size, 1e-11 of the largest velocity sqrt(2 E / m) = 0.5 m/s or of the row's own; in millimetres
// and tonnes, or in units of nobody, the same step has the same ratio.
TEST(tolerances_are_small_and_have_units)
{
    static const double known[NFRAUD] = { [0] = 4e-13, [5] = 5e-12, [7] = 1e-11, [17] = 1e-11, [19] = 0.02 };
    for (int i = 0; i < NFRAUD; i++) {
        bool holds;
        double size = strstr(frauds[i].check, "penetration") != NULL ? 0.5 : 1e-6;
        double ratio = commit(&frauds[i], si, size, &holds);
        if (known[i] > 0.0) CHECK_RELATIVE(size / ratio, known[i], 0.01);
        for (size_t k = 0; k < sizeof systems / sizeof *systems; k++)
            CHECK_RELATIVE(commit(&frauds[i], systems[k], size, &holds), ratio, 1e-4);
    }
}

static bool passes_with(bool limits_gaps, size_t offset)
{
    scene s;
    open_scene(&s, si, limits_gaps);
    hit(&s);
    *(double *)((char *)&s + offset) = NAN;
    bool holds = judge(&s);
    if (!holds) {
        char text[256];
        pcs_certifier_describe(s.certifier, sizeof text, text);
        CHECK(strstr(text, "nan") != NULL || strstr(text, "inf") != NULL);
    }
    model_destroy(&s.m);
    return holds;
}

TEST(nan_never_passes)
{
    const size_t places[] = {
        ROW(multiplier),
        ROW(rate_before),
        ROW(step_impulse),
        REPORT(smooth_impulse),
        REPORT(measure.free_momentum),
        offsetof(scene, q) + (N - 1) * sizeof(double),
        offsetof(scene, v) + (N - 1) * sizeof(double),
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (passes_with(false, places[i])) fail_msg("place %zu passes", i);
        if (passes_with(true, places[i])) fail_msg("place %zu passes", i);
    }
    CHECK(!passes_with(false, REPORT(numerical_loss)));
    CHECK(!passes_with(false, REPORT(impact_loss)));
    CHECK(!passes_with(true, ROW(nu)));
}

// A contact that touches, but for round-off, before anything moves: there is no rate yet to allow for it. An overlap
// that the start has let pass is not held against the scheme, only what it adds.
TEST(touching_and_overlap_of_the_start_pass)
{
    static const double before[] = { -4e-16, -1e-10 }, after[] = { -1e-9, -2e-10 };
    for (int i = 0; i < 2; i++) {
        scene s;
        open_scene(&s, si, false);
        print(&s, before[i], 0, 0, 0, 0);
        s.report.h = 0.0;
        CHECK(judge(&s));
        s.report.h = 0.01;
        CHECK(judge(&s));
        print(&s, after[i], 0, 0, 0, 0);
        CHECK(!judge(&s)); // at rest nothing may sink in
        model_destroy(&s.m);
    }
}

// A contact that closes at 1e-9 of the model's velocity: its rate has the round-off of 1 m/s, and that is no fraud.
TEST(gentle_impact_passes)
{
    scene s;
    open_scene(&s, si, false);
    print(&s, 0, 0.5e-9, -0.5e-9, 1.5e-9, 0);
    s.rows[0].is_impact = true;
    s.report.impact_loss = -0.5 * 1.5e-9 * (-1e-9 + 0.5e-9 + 4e-16);
    CHECK(judge(&s));
    s.report.impact_loss = 0.0;
    print(&s, 0, 0.5e-9, -0.5e-9, 1.5e-9, 0);
    s.rows[0].is_impact = true;
    s.report.impact_loss = 1e-3;
    CHECK(!judge(&s));
    model_destroy(&s.m);
}

// The second row is judged like the first.
TEST(every_row_is_judged)
{
    scene s;
    open_scene(&s, si, true);
    print(&s, 0.01, 1, 0, 0, 0);
    s.q[0] = -1.0 - 1e-6;
    s.rows[1].is_gated = true;
    s.m->system->ops->measure(s.m->system, pcs_at(0.0, s.q, s.v), PCS_ENERGY, &s.report.measure);
    pcs_certifier_start(s.certifier, &s.report.measure);
    CHECK(!judge(&s));
    assert_string_equal(pcs_certifier_certificate(s.certifier)->broken->name, GAP_LAW);
    model_destroy(&s.m);
}

// A state that is a hundred times as fast out of nowhere: its energy tells, and lends no size to what may penetrate.
TEST(energy_comes_from_somewhere)
{
    scene s;
    open_scene(&s, si, false);
    print(&s, 0.01, -1, 0, 0, 0);
    CHECK(judge(&s));
    const pcs_check *penetration = find_check(s.certifier, "penetration");
    s.v[N - 1] *= 100.0;
    s.rows[0].rate *= 100.0;
    s.rows[0].rate_before *= 100.0;
    s.q[N - 1] = 0.5;
    s.m->system->ops->measure(s.m->system, pcs_at(0.0, s.q, s.v), PCS_ENERGY, &s.report.measure);
    CHECK(!judge(&s));
    assert_string_equal(pcs_certifier_certificate(s.certifier)->broken->name, "energy gained in a step");
    CHECK(penetration->worst_value == 0.5 && penetration->tolerance < 0.1);
    model_destroy(&s.m);
}

// A rod stretched by d, all of its mass m at the free end: S = k d^2/2, and a step of h^2 k/m = 4 would get 16 S from a
// force of k d that sets in. This one has acted all along: no step may gain more than a tenth of S, linear or not.
static void check_stretched(const char *type, const char *held)
{
    enum { FREE = 0 };
    const double k = 100.0, d = 0.01, strain = 0.5 * k * d * d;
    model *m = model_create();
    model_line(m, "rod", (double[]){ 0, 0, 0 }, (double[]){ 1, 0, 0 }, 1);
    model_group(m, type, "rod", "E=100 rho=2 area=1 mass=lumped");
    model_support(m, "rod.start", held);
    model_build(m);
    model_run run = model_prepare(m, "moreau_jean", "theta=1", "newton", NULL);
    pcs_certifier *certifier;
    pcs_state before;
    CHECK_OK(m->ctx, pcs_certifier_create(m->ctx, run.scheme, NULL, false, &certifier));
    run.x.q[FREE] = d;
    model_start(&run);
    pcs_certifier_start(certifier, &run.report.measure);
    model_step(&run, 1e-6);
    CHECK(pcs_certify(certifier, NULL, &run.x, &run.report));
    CHECK_OK(m->ctx, pcs_state_clone(m->ctx, &run.x, &before));
    model_step(&run, 0.2);
    run.x.v[FREE] = sqrt(2.0 * 6.0 * strain);
    m->system->ops->measure(m->system, pcs_at(run.x.t, run.x.q, run.x.v), PCS_ENERGY, &run.report.measure);
    CHECK(!pcs_certify(certifier, &before, &run.x, &run.report));
    const pcs_check *rise = find_check(certifier, "gained in a step");
    CHECK(rise->worst_value > 4.0 * strain && rise->tolerance < 0.11 * strain);
    model_destroy(&m);
}

TEST(elastic_forces_pay_for_nothing)
{
    check_stretched("rod_large_2d", "xy");
    check_stretched("rod", "x");
}

// A little in every step is too much in the end: a tenth of what there was.
TEST(growth_is_caught)
{
    scene s;
    int count = 0;
    open_scene(&s, si, true);
    print(&s, 0.01, 0, 0, 0, 0);
    while (judge(&s) && count < 100) {
        s.report.measure.kinetic *= 1.02;
        count++;
    }
    assert_string_equal(pcs_certifier_certificate(s.certifier)->broken->name, "energy gained since the start");
    CHECK(count == 5); // 1.02^4 = 1.082, 1.02^5 = 1.104
    CHECK(find_check(s.certifier, "in a step")->worst_ratio < 0.25);
    model_destroy(&s.m);
}
