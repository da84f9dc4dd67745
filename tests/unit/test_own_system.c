// A system written by hand: a falling ball whose table of operations is its own few and the defaults for the rest, with
// nothing behind it that a cast could find. Every scheme moves it as the ball in closed form, and the observers write
// it.

#include "build/build.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 400 };
static const double mass = 1.0, weight = 10.0, radius = 0.2;

static void own_force(const pcs_system *self, pcs_instant at, double *f)
{
    (void)self;
    (void)at;
    f[0] = -mass * weight;
}

static void own_evaluate_rows(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    (void)self;
    if (out->gap != NULL) out->gap[0] = at.q[0] - radius;
    if (out->bias != NULL) out->bias[0] = 0.0;
    if (out->point != NULL) memset(out->point, 0, sizeof *out->point);
    if (out->normal != NULL) memset(out->normal, 0, sizeof *out->normal);
}

static void own_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    (void)self;
    *out = (pcs_measure){ 0 };
    if ((what & PCS_ENERGY) == 0) return;
    out->kinetic = 0.5 * mass * at.v[0] * at.v[0];
    out->potential = mass * weight * at.q[0];
}

static void own_update(pcs_system *self, pcs_instant at, pcs_update what, const double *x)
{
    (void)self, (void)at, (void)what, (void)x;
}

static double own_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    (void)self, (void)t, (void)q0, (void)q1;
    return 0.0;
}

static void own_draw(pcs_system *self, pcs_instant at, pcs_picture *picture)
{
    (void)self, (void)at, (void)picture;
}

static void own_describe(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                         char *text)
{
    (void)self, (void)span, (void)q;
    snprintf(text, size, "equation %d", equation);
}

// The ball of the case, or that of this file in its place.
static pcs_sim *own_open(pcs_context **ctx, const char *scheme, bool is_own)
{
    static pcs_system_ops own;
    char text[128];
    const char *more = "";
    if (strcmp(scheme, "moreau_jean") == 0) more = ", theta: 0.5";
    if (strcmp(scheme, "jump_newmark") == 0) more = ", rho_inf: 0.8";
    snprintf(text, sizeof text, "scheme={type: %s%s}", scheme, more);
    const char *const set[] = { text };
    pcs_sim *sim = NULL;
    CHECK_OK(NULL, pcs_context_create(ctx));
    CHECK_OK(*ctx, pcs_build_sim_from(*ctx, "cases/ball", 1, set, &sim));
    if (!is_own) return sim;
    own = *sim->system->ops; // what does nothing for a ball
    own.force = own_force;
    own.update = own_update;
    own.evaluate_rows = own_evaluate_rows;
    own.measure = own_measure;
    own.load_work = own_load_work;
    own.draw = own_draw;
    own.describe = own_describe;
    sim->system->ops = &own;
    sim->system->name = "own";
    sim->system->data = NULL;
    sim->system->coordinates = NULL;
    sim->view.nprobe = sim->nprobe = 0; // those of the closed form
    return sim;
}

TEST(every_scheme_moves_it)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        pcs_context *ctx[2];
        pcs_sim *sim[2];
        if (pcs_schemes[i]->ask_waves != NULL) continue; // it takes meshes only
        for (int k = 0; k < 2; k++) {
            sim[k] = own_open(&ctx[k], pcs_schemes[i]->name, k == 1);
            CHECK_OK(ctx[k], pcs_sim_start(sim[k]));
            for (int step = 0; step < STEPS; step++) CHECK_OK(ctx[k], pcs_sim_step(sim[k]));
        }
        CHECK(fabs(sim[0]->state.q[0] - 1.001) > 0.01);
        CHECK_NEAR(sim[1]->state.q[0], sim[0]->state.q[0], 1e-11);
        CHECK_NEAR(sim[1]->state.v[0], sim[0]->state.v[0], 1e-10);
        for (int k = 0; k < 2; k++) pcs_context_destroy(&ctx[k]);
    }
}

TEST(observers_write_it)
{
    pcs_context *ctx;
    pcs_sim *sim = own_open(&ctx, "alpha_ggl", true);
    char folder[512], path[600], line[256];
    snprintf(folder, sizeof folder, "%s/own_system", TESTS_OUTPUT_FOLDER);
    CHECK_OK(ctx, pcs_sim_run(sim, folder, false));
    snprintf(path, sizeof path, "%s/history.csv", folder);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    int count = 0;
    while (fgets(line, sizeof line, file) != NULL) count += strchr(line, '\n') != NULL;
    fclose(file);
    CHECK(count == 2002); // a header, the start and every step
    pcs_context_destroy(&ctx);
}
