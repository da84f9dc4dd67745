// Impacts that accumulate, looped over the table of schemes: what constrains positions or velocities ends in rest, the
// others do what is known of them; and nine contacts on one base, seven too many, do not cycle.

#include "build/build.h"
#include "support/check.h"
#include "support/watch.h"

#include "core/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct kind {
    const char *scheme, *options;
    // Contact at acceleration level keeps what velocity is left; index 3 has no impact law; unified GGL hops on by g h,
    // since its position law lifts the ball to where its impact law may send it back.
    bool is_exempt;
} kind;

// Schemes that leave a choice to the user, then those that need not come to rest.
static const kind special[] = {
    { "alpha_ggl", ", rho_inf: 0.8", false },
    { "moreau_jean", ", theta: 0.5", false },
    { "jump_newmark", ", gamma: 0.5", false },
    { "splitting", ", contact_forces: true", false },
    { "half_explicit_acceleration", "", true },
    { "tdg_minus", "", true },
    { "tdg_plus", "", true },
    { "alpha_index3", "", true },
    { "ggl_midpoint", "", true },
};

static kind kind_of(const char *scheme)
{
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(special[i].scheme, scheme) == 0) return special[i];
    return (kind){ .scheme = scheme, .options = "" };
}

// The largest velocity and distance from the floor after 3.9 s; rest begins at 3.602 s.
TEST(ball_ends_in_rest)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        kind k = kind_of(pcs_schemes[i]->name);
        if (pcs_schemes[i]->ask_waves != NULL) continue; // it takes meshes only
        char scheme[96];
        snprintf(scheme, sizeof scheme, "scheme={type: %s%s}", k.scheme, k.options);
        watch *w = watch_open("cases/ball", (const char *const[]){ scheme, "time.end=4.2", NULL });
        double speed = 0.0, gap = 0.0, force = 0.0;
        long count = 0;
        while (!pcs_sim_is_done(w->sim)) {
            CHECK_OK(w->ctx, pcs_sim_step(w->sim));
            if (w->sim->state.t < 4.0) continue;
            speed = fmax(speed, fabs(w->sim->state.v[0]));
            gap = fmax(gap, fabs(w->sim->report.rows[0].gap));
            force += w->sim->report.rows[0].step_impulse / w->sim->report.h;
            count++;
        }
        force /= (double)count;
        CHECK(isfinite(speed) && isfinite(gap));
        if (strcmp(k.scheme, "ggl_midpoint") == 0) CHECK(speed < 2.0 * 10.0 * 2e-3);
        if (!k.is_exempt) {
            CHECK(speed < 1e-10);
            CHECK(gap < 2.0 * 4.0 * 2e-3 * 0.2); // a fifth of the way of the fastest step, either way
            CHECK_NEAR(force, 10.0, 1e-8);
        }
        watch_close(&w);
    }
}

// A block that falls flat on nine points, then rests on all of them.
TEST(nine_contacts_do_not_cycle)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        kind k = kind_of(pcs_schemes[i]->name);
        if (pcs_schemes[i]->ask_waves != NULL) continue; // it takes meshes only
        char scheme[96];
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        snprintf(scheme, sizeof scheme, "scheme={type: %s%s}", k.scheme, k.options);
        const char *set[] = { scheme, "system.points=9", "time.end=3.0" };
        CHECK_OK(NULL, pcs_context_create(&ctx));
        CHECK_OK(ctx, pcs_build_sim_from(ctx, "cases/rocking_block", 3, set, &sim));
        CHECK_OK(ctx, pcs_sim_start(sim));
        int most = 0;
        while (!pcs_sim_is_done(sim)) {
            CHECK_OK(ctx, pcs_sim_step(sim));
            if (sim->report.iterations > most) most = sim->report.iterations;
        }
        double weight = 0.0;
        for (int j = 0; j < 9; j++) weight += sim->report.rows[j].step_impulse / sim->report.h;
        CHECK(isfinite(sim->report.measure.kinetic));
        if (!k.is_exempt) {
            CHECK(sim->report.measure.kinetic < 1e-15);
            CHECK_NEAR(weight, 9.81, 1e-7);
        }
        pcs_context_destroy(&ctx);
    }
}
