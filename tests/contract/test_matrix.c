// Every scheme on every system: it runs, certified, finite and without gaining energy, and comes nearer to the motion
// with half the step; or it refuses, at once and with the reason that stands here.
//
// Smooth motion (before the first impact) is compared with adaptive Runge-Kutta at 1e-13. There every scheme keeps its
// order; where a contact is closed from the start, half the step must bring it nearer. What is exact to round-off is
// near enough.

#include "build/build.h"
#include "closed_form/closed_form.h"
#include "schemes/scheme.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 256, MOST_SETS = 5, MOST_UNKNOWNS = 64, MOST_POINTS = 400, RUN_STEPS = 300 };

// What about a system decides whether a scheme takes it, and with what order.
enum { FRICTION = 1, JOINTS = 2, RATES = 4, RESTS = 8, MESH = 16, FORM = 32 }; // RATES: forces depend on velocities

typedef struct matrix_system {
    const char *name, *path;
    double step;          // s, of the run
    double smooth, until; // s, step and end of the smooth motion
    int kind;
    const char *set;        // of the case, may be NULL
    const char *smooth_set; // of the smooth motion: some vibration, and no friction where nothing touches
} matrix_system;

static const matrix_system systems[] = {
    { "ball", "cases/ball", 5e-3, 1e-2, 0.3, FORM, NULL, NULL },
    { "ball_in_box", "cases/ball_in_box", 5e-3, 1e-2, 0.3, FORM, NULL, NULL },
    { "oscillator", "cases/oscillator", 1e-3, 1e-4, 0.04, FORM, NULL, "system.stretch=0.001" },
    { "impacting_oscillator", "cases/impacting_oscillator", 5e-3, 1e-2, 0.2, FORM, NULL, NULL },
    { "pendulum", "cases/pendulum", 2e-3, 1e-2, 0.3, JOINTS | FORM, NULL, NULL },
    { "rocking_block", "cases/rocking_block", 5e-3, 1e-2, 0.1, FORM, NULL, NULL },
    { "slider_crank", "cases/slider_crank", 1e-4, 1e-4, 1e-3, FRICTION | RATES | FORM, NULL, "system.friction=0" },
    { "slider_crank_bilateral", "cases/slider_crank_bilateral", 2e-4, 2.5e-5, 0.01, JOINTS | RATES | FORM, NULL, NULL },
    { "incline", "cases/incline", 1e-2, 1e-2, 0.4, FRICTION | RESTS | FORM, NULL, NULL },
    { "stick_slip", "cases/stick_slip", 1e-2, 1e-2, 0.1, FRICTION | RESTS | FORM, NULL, NULL },
    { "puck", "cases/puck", 1e-2, 1e-2, 0.4, FRICTION | RESTS | FORM, NULL, NULL },
    { "spinning_ball", "cases/spinning_ball", 5e-3, 1e-2, 0.3, FRICTION | FORM, NULL, "system.friction=0" },
    // Explicit schemes run on the bar at 0.9 and 0.45 of their stable step.
    { "bar", "cases/bar_impact", 5e-3, 5e-4, 0.1, MESH, "mesh.bar.elements=20",
      "initial.0.displacement={from: [0, 0, 0], to: [0.1, 0, 0]}" },
};
enum { NSYSTEM = sizeof systems / sizeof *systems };

typedef struct matrix_variant {
    const char *scheme, *options; // in the form of a case
    double order;                 // in smooth motion; INFINITY: exact to its tolerance; NAN: of a mesh of its own
    double joint_order;           // with joints: 1 where constraint forces are those of a frozen direction; 0: the same
    double rate_order;            // 1 where forces see the velocity of the start; 0: the same
    double gain;                  // energy that it may gain, in units of the largest kinetic and strain energy
} matrix_variant;

static const matrix_variant variants[] = {
    { "alpha_ggl", "rho_inf: 0.8", 2, 0, 0, 0.01 },
    { "alpha_ggl", "variant: modified_lcp", 2, 0, 0, 0.06 }, // a demonstration: it chatters
    { "moreau_jean", "theta: 0.5", 2, 1, 0, 0.01 },
    { "moreau_jean", "theta: 0.7", 1, 0, 0, 0.01 },
    { "moreau_jean", "theta: 0.5, positions: midpoint", 2, 1, 0, 0.01 },
    { "half_explicit", "", 2, 0, 0, 0.01 },
    { "wave", "allow_mismatch: true", NAN, 0, 0, 0.01 }, // it has another mass
    { "newmark", "", 2, 1, 0, 0.01 },
    { "hht", "", 2, 1, 0, 0.01 },
    { "alpha_velocity", "", 2, 1, 0, 0.01 },
    { "moreau_jean_explicit", "", 1, 0, 0, 0.06 },
    { "moreau_midpoint", "", 2, 1, 1, 0.01 },
    { "schatzman_paoli", "", 1, 0, 0, 0.03 },
    { "half_explicit_acceleration", "", 2, 0, 0, 0.01 },
    // What the gap alone, without a law of impact, does to the energy: the pendulum at steps of 5 ms gains a
    // hundredfold, and then a step has no solution.
    { "alpha_index3", "", 2, 0, 0, INFINITY },
    { "event_driven", "", INFINITY, 0, 0, 0.01 },
    { "jump_newmark", "rho_inf: 0.8", 2, 0, 0, 0.01 },
    { "half_explicit_rk", "", 4, 0, 0, 0.01 },
    { "half_explicit_rk", "method: hem3", 3, 0, 0, 0.01 },
    { "half_explicit_rk", "method: hem5", 5, 0, 0, 0.01 },
    { "splitting", "", 5, 1, 0, 0.01 },
    { "splitting", "contact_forces: true", 5, 0, 0, 0.01 },
    { "tdg_minus", "", 2, 0, 0, 0.01 },
    { "tdg_plus", "", 2, 0, 0, 0.01 },
    { "tdg_minus", "degree: 2", 4, 0, 0, 0.01 },
    { "tdg_plus", "degree: 2", 4, 0, 0, 0.01 },
    { "ggl_midpoint", "", 2, 0, 0, 0.01 },
    { "ggl_midpoint", "metric: mass", 2, 0, 0, 0.01 },
    { "ggl_midpoint", "coupling: decoupled, metric: mass", 2, 1, 1, 0.35 }, // by the work of its corrections
    { "mannshardt", "", 4, 0, 0, 0.01 },
};
enum { NVARIANT = sizeof variants / sizeof *variants };

// What is refused, and why. Nothing else may be.
static const struct {
    const char *scheme, *options;
    int kind;
    const char *reason;
} refusals[] = {
    { "moreau_jean_explicit", "", MESH, "forward Euler is unstable at any step on an undamped elastic model" },
    { "wave", "allow_mismatch: true", FORM, "waves travel in meshes" },
    { "alpha_ggl", "variant: modified_lcp", FRICTION, "'variant: modified_lcp' does not take friction" },
    { "half_explicit_acceleration", "", FRICTION, "contact on acceleration level, without friction" },
    { "alpha_index3", "", FRICTION, "no law at velocity level, which friction needs" },
    { "splitting", "", MESH, "would sink without contact forces" },
    { "splitting", "contact_forces: true", FRICTION, "contact on acceleration level, without friction" },
    { "tdg_minus", "", FRICTION, "contact on acceleration level, without friction" },
    { "tdg_plus", "", FRICTION, "contact on acceleration level, without friction" },
    { "event_driven", "", FRICTION, "contact on acceleration level, without friction" },
    { "mannshardt", "", FRICTION, "contact on acceleration level, without friction" },
    { "tdg_minus", "degree: 2", FRICTION, "contact on acceleration level, without friction" },
    { "tdg_plus", "degree: 2", FRICTION, "contact on acceleration level, without friction" },
    { "ggl_midpoint", "", MESH, "a Euclidean correction would push single nodes of a mesh" },
};
enum { NREFUSAL = sizeof refusals / sizeof *refusals };

static const char *expected_refusal(const matrix_variant *c, const matrix_system *s)
{
    for (int i = 0; i < NREFUSAL; i++) {
        bool is_it = strcmp(refusals[i].scheme, c->scheme) == 0 && strcmp(refusals[i].options, c->options) == 0;
        if (is_it && (refusals[i].kind & s->kind) != 0) return refusals[i].reason;
    }
    return NULL;
}

typedef struct matrix_run {
    pcs_context *ctx;
    pcs_sim *sim;
    pcs_status status; // of the last call
} matrix_run;

// `step` 0: the step is found by the scheme.
static matrix_run matrix_open(const matrix_variant *c, const matrix_system *s, double step, double end, bool is_smooth)
{
    matrix_run run = { 0 };
    char text[3][TEXT];
    const char *set[MOST_SETS];
    int nset = 0;
    snprintf(text[0], TEXT, "scheme={type: %s%s%s}", c->scheme, c->options[0] == '\0' ? "" : ", ", c->options);
    snprintf(text[1], TEXT, step > 0.0 ? "time.step=%.17g" : "time.step=auto", step);
    snprintf(text[2], TEXT, "time.end=%.17g", end);
    for (int i = 0; i < 3; i++) set[nset++] = text[i];
    if (s->set != NULL) set[nset++] = s->set;
    if (is_smooth && s->smooth_set != NULL) set[nset++] = s->smooth_set;
    CHECK_OK(NULL, pcs_context_create(&run.ctx));
    run.status = pcs_build_sim_from(run.ctx, s->path, nset, set, &run.sim);
    return run;
}

static void matrix_complain(int *nfault, const matrix_variant *c, const matrix_system *s, const char *text)
{
    (*nfault)++;
    print_message("%s {%s} on %s: %s\n", c->scheme, c->options, s->name, text);
}

// Energy, less what loads have put in; *scale is the part that moves.
static double matrix_energy(const pcs_sim *sim, double *scale)
{
    const pcs_measure *now = &sim->ledger.now;
    *scale = fmax(*scale, now->kinetic + now->strain);
    return now->kinetic + now->strain + now->potential - sim->ledger.external_work;
}

// Runs through impacts; gives the largest gain of energy in units of what moves.
static double check_run(const matrix_variant *c, const matrix_system *s, double step, int *nfault)
{
    char text[2 * TEXT];
    matrix_run run = matrix_open(c, s, step, RUN_STEPS * step, false);
    if (run.status == PCS_OK) run.status = pcs_sim_start(run.sim);
    double scale = 0.0, gain = 0.0, start = run.status == PCS_OK ? matrix_energy(run.sim, &scale) : 0.0;
    bool is_finite = true;
    while (run.status == PCS_OK && !pcs_sim_is_done(run.sim)) {
        run.status = pcs_sim_step(run.sim);
        if (run.status == PCS_OK) gain = fmax(gain, matrix_energy(run.sim, &scale) - start);
        for (int i = 0; i < run.sim->system->nv; i++)
            is_finite = is_finite && isfinite(run.sim->state.q[i]) && isfinite(run.sim->state.v[i]);
    }
    snprintf(text, sizeof text, "step %g: %s", step, pcs_message(run.ctx));
    if (run.status != PCS_OK) matrix_complain(nfault, c, s, text);
    if (!is_finite) matrix_complain(nfault, c, s, "not finite");
    gain = scale > 0.0 ? gain / scale : gain;
    snprintf(text, sizeof text, "step %g: gains %g of its energy, allowed %g", step, gain, c->gain);
    if (run.status == PCS_OK && !(gain <= c->gain)) matrix_complain(nfault, c, s, text);
    pcs_context_destroy(&run.ctx);
    return gain;
}

// A gain that can be seen must go with the step.
static void check_runs(const matrix_variant *c, const matrix_system *s, double step, int *nfault)
{
    char text[TEXT];
    double gain = check_run(c, s, step, nfault);
    if (!isfinite(c->gain) || !(gain > 0.01)) return;
    double finer = check_run(c, s, 0.5 * step, nfault);
    snprintf(text, sizeof text, "gains %g of its energy at step %g, still %g at half of it", gain, step, finer);
    if (finer > 0.6 * gain) matrix_complain(nfault, c, s, text);
}

typedef struct matrix_path {
    int n, count;
    double y[MOST_POINTS][MOST_UNKNOWNS]; // coordinates in units of the system's size, then velocities
    double fastest;                       // of the velocities, at least those that cross the system in that time
} matrix_path;

static void path_add(matrix_path *path, const pcs_sim *sim)
{
    CHECK(path->count < MOST_POINTS);
    double *y = path->y[path->count++];
    for (int i = 0; i < path->n; i++) {
        y[i] = sim->state.q[i] / sim->system->length;
        y[path->n + i] = sim->state.v[i];
        path->fastest = fmax(path->fastest, fabs(sim->state.v[i]));
    }
}

// Smooth motion with `share` steps in each of the table; false when the scheme could not get through.
static bool path_follow(const matrix_variant *c, const matrix_system *s, int share, matrix_path *path)
{
    matrix_run run = matrix_open(c, s, s->smooth / share, s->until, true);
    if (run.status == PCS_OK) run.status = pcs_sim_start(run.sim);
    path->n = run.status == PCS_OK ? run.sim->system->nv : 0;
    path->count = 0;
    path->fastest = run.status == PCS_OK ? run.sim->system->length / s->until : 0.0;
    CHECK(2 * path->n <= MOST_UNKNOWNS);
    while (run.status == PCS_OK && !pcs_sim_is_done(run.sim)) {
        run.status = pcs_sim_step(run.sim);
        if (run.status == PCS_OK && run.sim->state.step % share == 0) path_add(path, run.sim);
    }
    bool is_there = run.status == PCS_OK;
    if (!is_there) print_message("%s\n", pcs_message(run.ctx));
    pcs_context_destroy(&run.ctx);
    return is_there;
}

// The largest over time: at a single instant errors may pass through zero.
static double path_distance(const matrix_path *a, const matrix_path *reference)
{
    double distance = 0.0;
    CHECK(a->count == reference->count && a->n == reference->n);
    for (int k = 0; k < a->count; k++)
        for (int i = 0; i < a->n; i++) {
            const double *y = a->y[k], *z = reference->y[k];
            distance = fmax(distance, fabs(y[i] - z[i]));
            distance = fmax(distance, fabs(y[a->n + i] - z[a->n + i]) / reference->fastest);
        }
    return distance;
}

// The reference: integrated to a tolerance, or by very small steps where contacts rub.
static void path_refer(const matrix_system *s, matrix_path *out)
{
    static const matrix_variant adaptive = { .scheme = "event_driven", .options = "rtol: 1.0e-13, atol: 1.0e-15" };
    static const matrix_variant fine = { .scheme = "half_explicit", .options = "" };
    bool has_friction = (s->kind & FRICTION) != 0 && s->smooth_set == NULL;
    CHECK(has_friction ? path_follow(&fine, s, 256, out) : path_follow(&adaptive, s, 1, out));
}

// What is left of the stated order on this system.
static double expected_order(const matrix_variant *c, const matrix_system *s)
{
    double order = c->order;
    if ((s->kind & JOINTS) != 0 && c->joint_order > 0.0) order = fmin(order, c->joint_order);
    if ((s->kind & RATES) != 0 && c->rate_order > 0.0) order = fmin(order, c->rate_order);
    return (s->kind & RESTS) != 0 && isfinite(order) ? fmin(order, 1.0) : order;
}

static void check_smooth(const matrix_variant *c, const matrix_system *s, int *nfault)
{
    const double exact = 1e-11, followed = 1e-7; // round-off of some hundred steps, and tolerances of adaptive steps
    static matrix_path reference, path;          // too large for the stack
    char text[TEXT];
    double error[2];
    path_refer(s, &reference);
    for (int i = 0; i < 2; i++) {
        if (!path_follow(c, s, 1 + i, &path)) {
            matrix_complain(nfault, c, s, "does not get through smooth motion");
            return;
        }
        error[i] = path_distance(&path, &reference);
    }
    double order = log2(error[0] / error[1]), wanted = expected_order(c, s);
    snprintf(text, sizeof text, "smooth motion: errors %g %g, order %.3f, stated %g", error[0], error[1], order,
             wanted);
    bool is_fine = isinf(wanted) ? fmax(error[0], error[1]) <= followed : error[1] <= exact || order >= wanted - 0.15;
    if (!is_fine) matrix_complain(nfault, c, s, text);
}

// The largest step of the run that the scheme takes.
static double matrix_step(const matrix_variant *c, const matrix_system *s)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        bool is_it = strcmp(pcs_schemes[i]->name, c->scheme) == 0;
        if (!is_it || !pcs_rule_is_explicit(&pcs_schemes[i]->rule) || (s->kind & MESH) == 0) continue;
        matrix_run run = matrix_open(c, s, 0.0, 1.0, false);
        double step = run.status == PCS_OK ? run.sim->step_size : 0.01 * s->step; // refused: any stable one
        pcs_context_destroy(&run.ctx);
        return step;
    }
    return s->step;
}

// True when the pair is refused; a refusal that is not expected, and the lack of one that is, are faults.
static bool check_refusal(const matrix_variant *c, const matrix_system *s, double step, int *nfault)
{
    const char *reason = expected_refusal(c, s);
    matrix_run run = matrix_open(c, s, step, step, false);
    bool is_refused = run.status != PCS_OK;
    if (is_refused) {
        const char *text = pcs_message(run.ctx);
        bool is_known =
            reason != NULL && strstr(text, reason) != NULL && strstr(text, "cannot advance this model") != NULL;
        if (!is_known || run.status == PCS_FAILED || run.status == PCS_NO_MEMORY) matrix_complain(nfault, c, s, text);
    } else if (reason != NULL) {
        matrix_complain(nfault, c, s, "must be refused, is not");
    }
    pcs_context_destroy(&run.ctx);
    return is_refused;
}

static void variant_takes_every_system(void **state)
{
    const matrix_variant *c = *state;
    int nfault = 0;
    for (int i = 0; i < NSYSTEM; i++) {
        const matrix_system *s = &systems[i];
        double step = matrix_step(c, s);
        if (check_refusal(c, s, step, &nfault)) continue;
        check_runs(c, s, step, &nfault);
        if (!isnan(c->order)) check_smooth(c, s, &nfault);
    }
    CHECK(nfault == 0);
}

TEST(tables_are_complete)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        int count = 0;
        for (int k = 0; k < NVARIANT; k++) count += strcmp(variants[k].scheme, pcs_schemes[i]->name) == 0;
        if (count == 0) fail_msg("the table of variants lacks scheme '%s'", pcs_schemes[i]->name);
    }
    for (int i = 0; pcs_closed_forms[i] != NULL; i++) {
        int count = 0;
        for (int k = 0; k < NSYSTEM; k++) count += strcmp(systems[k].name, pcs_closed_forms[i]->name) == 0;
        if (count == 0) fail_msg("the table of systems lacks '%s'", pcs_closed_forms[i]->name);
    }
}

int main(void)
{
    for (int k = 0; k < NVARIANT; k++) {
        struct CMUnitTest test = cmocka_unit_test_prestate(variant_takes_every_system, (void *)&variants[k]);
        test.name = variants[k].scheme;
        check_add_test(test);
    }
    return check_run_tests();
}
