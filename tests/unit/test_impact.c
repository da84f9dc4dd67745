// The contact problem of explicit schemes on real systems at random velocities and gates: the answer must satisfy every
// law it states, and impulses must do to the velocities what the mass says.

#include "build/build.h"
#include "check.h"
#include "model.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

enum { N = 16, M = 64 };

typedef struct setting {
    const char *path, *set;
} setting;

static const setting settings[] = {
    { "cases/slider_crank", "system.friction=0.02" }, // four corners on three coordinates
    { "cases/slider_crank", "system.friction=0.6" },
    { "cases/slider_crank", "system.friction=0.0" },
    { "cases/slider_crank_bilateral", "certify=strict" },
    { "cases/pendulum", "certify=strict" },
    { "cases/rocking_block", "system.friction=0.5" },
    { "cases/rocking_block", "system.points=9" },
    { "cases/puck", "certify=strict" },
    { "cases/spinning_ball", "certify=strict" },
};

typedef struct answer {
    double v[N], la[M], la_t[2 * M], rate_before[M], nu[M], d[N], q[N];
    unsigned char gate[M];
} answer;

static const double none[2 * M];

static bool try_solve(pcs_sim *sim, const double *v, const unsigned char *gate, const double *target, answer *out)
{
    const pcs_step_form form = { .h = 1.0 };
    pcs_outcome outcome;
    pcs_step_result result;
    memcpy(out->v, v, sizeof out->v);
    memcpy(out->gate, gate, sizeof out->gate);
    memcpy(out->q, sim->state.q, (size_t)sim->system->nq * sizeof *out->q);
    pcs_step_problem problem = { .q = out->q,
                                 .v = out->v,
                                 .d = out->d,
                                 .target = target,
                                 .gate = out->gate,
                                 .nu = out->nu,
                                 .la = out->la,
                                 .rate_before = out->rate_before,
                                 .target_t = none,
                                 .la_t = out->la_t };
    CHECK_OK(sim->ctx, pcs_step_solver_prepare(sim->solver, &form, &outcome));
    sim->solver->ops->solve(sim->solver, &problem, &result);
    return result.outcome == PCS_CONVERGED;
}

// Friction: in the disc; sliding only on its edge and against the motion.
static void check_friction(const pcs_system *system, int row, const answer *a, double size)
{
    const pcs_row *r = &system->rows[row];
    double impulse2 = 0.0, slip2 = 0.0, power = 0.0, limit = r->friction * a->la[row];
    for (int t = r->first_tangent; t < r->first_tangent + r->ntangent; t++) {
        double slip = pcs_rows_dot(system->T, t, a->v);
        impulse2 += a->la_t[t] * a->la_t[t];
        slip2 += slip * slip;
        power += slip * a->la_t[t];
    }
    CHECK(sqrt(impulse2) <= limit + size);
    CHECK_NEAR(power, -sqrt(slip2) * limit, size * (1.0 + sqrt(slip2)));
}

static void check_answer(const pcs_sim *sim, const double *v, const unsigned char *gate, const double *target,
                         const answer *a, double tolerance)
{
    const pcs_system *system = sim->system;
    double moved[N], scale = 0.0;
    memcpy(moved, v, sizeof moved);
    for (int j = 0; j < system->nrow; j++) scale = fmax(scale, fabs(a->la[j]));
    for (int j = 0; j < system->nrow; j++) {
        bool is_bilateral = system->rows[j].is_bilateral, is_on = gate[j] || is_bilateral;
        double xi = pcs_rows_dot(system->G, j, a->v) + target[j];
        CHECK_NEAR(a->rate_before[j], pcs_rows_dot(system->G, j, v), 0.0);
        CHECK_NEAR(a->nu[j], 0.0, 0.0);
        CHECK(a->gate[j] == is_on);
        if (!is_on) CHECK_NEAR(a->la[j], 0.0, 0.0);
        if (is_bilateral) CHECK_NEAR(xi, 0.0, tolerance);
        if (is_on && !is_bilateral) {
            CHECK(a->la[j] >= -tolerance * scale);
            CHECK(xi >= -tolerance);
            CHECK_NEAR(a->la[j] * xi, 0.0, tolerance * scale);
        }
        check_friction(system, j, a, tolerance * scale);
        const double *column = pcs_projection_column(sim->solver, j);
        for (int i = 0; i < system->nv; i++) moved[i] += a->la[j] * column[i];
    }
    for (int t = 0; t < system->ntangent; t++) {
        const double *column = sim->solver->projection->XT->value[t];
        for (int i = 0; i < system->nv; i++) moved[i] += a->la_t[t] * column[i];
    }
    for (int i = 0; i < system->nv; i++) CHECK_NEAR(a->v[i], moved[i], 1e-12 * (1.0 + fabs(moved[i])));
}

// Two opposite corners jammed by strong friction have no impulses that satisfy the laws: the solver must say so instead
// of giving an answer that is none.
TEST(answers_satisfy_the_laws_or_there_is_none)
{
    unsigned long long seed = 3;
    int nfailed = 0;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        bool jams = strcmp(settings[k].set, "system.friction=0.6") == 0;
        CHECK_OK(NULL, pcs_context_create(&ctx));
        CHECK_OK(ctx, pcs_build_sim_from(ctx, settings[k].path, 1, &settings[k].set, &sim));
        double start[N];
        memcpy(start, sim->state.q, (size_t)sim->system->nq * sizeof *start);
        for (int trial = 0; trial < (jams ? 400 : 100); trial++) {
            double v[N] = { 0 }, target[M] = { 0 };
            unsigned char gate[M] = { 1, 0, 1, trial % 2 == 0 };
            answer a = { 0 };
            model_randomize(&seed, sim->system->nv, v);
            for (int i = 0; i < sim->system->nv; i++) sim->state.q[i] = start[i] + 0.1 * model_random(&seed);
            CHECK(pcs_projection_move(sim->solver, sim->state.q));
            // Newton's law: with opposite walls, targets of any other kind may have no solution.
            for (int j = 0; j < sim->system->nrow; j++) {
                if (!jams) gate[j] = model_random(&seed) > -0.5;
                // Opposite corners with friction may jam.
                if (k == 0) gate[j] = gate[j] && (j < 2) == (trial % 2);
                if (!sim->system->rows[j].is_bilateral) target[j] = 0.3 * pcs_rows_dot(sim->system->G, j, v);
            }
            bool is_solved = try_solve(sim, v, gate, target, &a);
            CHECK(is_solved || jams);
            nfailed += !is_solved;
            if (is_solved) check_answer(sim, v, gate, target, &a, jams ? 1e-9 : 1e-11); // jammed: thousands of momenta
        }
        pcs_context_destroy(&ctx);
    }
    print_message("%d have no answer\n", nfailed);
    CHECK(nfailed >= 76 && nfailed <= 80);
}
