// A system written by hand: a falling ball whose table of operations is its own few and the defaults for the rest, with
// nothing behind it that a cast could find. Every scheme moves it as the ball in closed form, and the observers write
// it.

#include "build/build.h"
#include "support/check.h"
#include "system/defaults.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 400 };
static const double mass = 1.0, weight = 10.0, radius = 0.2;

static void own_force(const pcs_system *self, double t, const double *q, const double *v, double *f)
{
    (void)self;
    (void)t;
    (void)q;
    (void)v;
    f[0] = -mass * weight;
}

static void own_gaps(pcs_system *self, const double *q, double *gap)
{
    (void)self;
    gap[0] = q[0] - radius;
}

static void own_measure(const pcs_system *self, const double *q, const double *v, pcs_measure *out)
{
    (void)self;
    *out = (pcs_measure){ .kinetic = 0.5 * mass * v[0] * v[0], .potential = mass * weight * q[0] };
}

static void own_describe(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                         char *text)
{
    (void)self, (void)span, (void)q;
    snprintf(text, size, "equation %d", equation);
}

static const pcs_system_ops own_ops = {
    .force = own_force,
    .update_mass = pcs_default_update_mass,
    .update_tangents = pcs_default_update_tangents,
    .update_directions = pcs_default_update_directions,
    .add_inertia_stiffness = pcs_default_add_inertia_stiffness,
    .update_slopes = pcs_default_update_slopes,
    .add_joint_stiffness = pcs_default_add_joint_stiffness,
    .gaps = own_gaps,
    .row_drives = pcs_default_row_drives,
    .search = pcs_default_search,
    .rate_bias = pcs_default_rate_bias,
    .measure = own_measure,
    .resultant = pcs_default_resultant,
    .change = pcs_default_change,
    .damping_power = pcs_default_damping_power,
    .load_work = pcs_default_load_work,
    .load_power = pcs_default_load_power,
    .row_resultant = pcs_default_row_resultant,
    .tangent_resultant = pcs_default_row_resultant,
    .reactions = pcs_default_reactions,
    .stable_step = pcs_default_stable_step,
    .draw = pcs_default_draw,
    .contact_points = pcs_default_contact_points,
    .tangents = pcs_default_tangents,
    .probe = pcs_default_probe,
    .find_sizes = pcs_default_find_sizes,
    .find_rigid = pcs_default_find_rigid,
    .describe = own_describe,
};

// The ball of the case, or that of this file in its place.
static pcs_sim *own_open(pcs_context **ctx, const char *scheme, bool is_own)
{
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
    sim->system->ops = &own_ops;
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
