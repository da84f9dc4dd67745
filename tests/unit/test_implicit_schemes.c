// The implicit schemes against their own equations, evaluated anew with dense matrices after every step: kinematics,
// dynamics, contact laws, and the energy identities of Acary's slides (eqs. 84, 88, 92, 95 with h^2/2, 104) on random
// bars. And that all step solvers find the same motion.

#include "support/bars.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = BAR_NODES, STEPS = 250 };

// A step seen from outside: states at both ends, impulses, and forces without K q and C v.
typedef struct window {
    double h;
    double q0[N], v0[N], a0[N], vd0[N], f0[N];
    double q1[N], v1[N], a1[N], vd1[N], f1[N];
    double impulse[N]; // G^T La
    double moved[N];   // G^T nu
    double held[N];    // G^T of contacts loaded in one of the 8 steps before
    double M[N * N], K[N * N], C[N * N];
} window;

static void window_open(window *w, const model_run *run)
{
    size_t bytes = N * sizeof(double);
    const pcs_state *x = &run->x;
    memcpy(w->q0, x->q, bytes);
    memcpy(w->v0, x->v, bytes);
    if (x->nhistory > 0) memcpy(w->a0, x->history[0], bytes);
    if (x->nhistory > 1) memcpy(w->vd0, x->history[1], bytes);
    run->m->system->ops->force(run->m->system, pcs_at(x->t, x->q, x->v), w->f0);
    memset(w->held, 0, bytes);
    for (int j = 0; j < run->m->system->nrow; j++)
        if (x->recent[j] > 0) pcs_rows_add_transposed(run->m->system->G, j, 1.0, w->held);
}

static void window_close(window *w, const model_run *run, double h)
{
    size_t bytes = N * sizeof(double);
    const pcs_state *x = &run->x;
    const pcs_system *system = run->m->system;
    w->h = h;
    memcpy(w->q1, x->q, bytes);
    memcpy(w->v1, x->v, bytes);
    if (x->nhistory > 0) memcpy(w->a1, x->history[0], bytes);
    if (x->nhistory > 1) memcpy(w->vd1, x->history[1], bytes);
    system->ops->force(system, pcs_at(x->t, x->q, x->v), w->f1);
    memset(w->impulse, 0, bytes);
    memset(w->moved, 0, bytes);
    for (int j = 0; j < system->nrow; j++) {
        pcs_rows_add_transposed(system->G, j, run->report.rows[j].step_impulse, w->impulse);
        pcs_rows_add_transposed(system->G, j, run->report.rows[j].nu, w->moved);
    }
    model_dense(system->M, N, w->M);
    model_dense(system->K, N, w->K);
    model_dense(system->C, N, w->C);
}

static void times(const double *A, const double *x, double *y)
{
    for (int i = 0; i < N; i++) {
        y[i] = 0.0;
        for (int j = 0; j < N; j++) y[i] += A[i * N + j] * x[j];
    }
}

static double dot(const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++) sum += x[i] * y[i];
    return sum;
}

static double form(const double *x, const double *A, const double *y)
{
    double image[N];
    times(A, y, image);
    return dot(x, image);
}

static void mix(double a, const double *x, double b, const double *y, double *out)
{
    for (int i = 0; i < N; i++) out[i] = a * x[i] + b * y[i];
}

// Applied force at one end of a step: f + K q + C v.
static void applied(const window *w, const double *f, const double *q, const double *v, double *F)
{
    double Kq[N], Cv[N];
    times(w->K, q, Kq);
    times(w->C, v, Cv);
    for (int i = 0; i < N; i++) F[i] = f[i] + Kq[i] + Cv[i];
}

static double stored(const window *w, const double *q, const double *v)
{
    return 0.5 * form(v, w->M, v) + 0.5 * form(q, w->K, q);
}

// A bar between two walls with numbers drawn anew for every seed, thrown under gravity and a load that varies.
static model *random_bar(unsigned long long *seed, double *h)
{
    static const double time[] = { 0.0, 0.1, 0.4 }, factor[] = { 0.3, 1.0, -1.0 };
    char text[160];
    model *m = model_create();
    model_line(m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 3, 0, 0 }, BAR_CELLS);
    snprintf(text, sizeof text, "E=%.17g rho=%.17g area=%.17g mass=%s", 100.0 * exp(model_random(seed)),
             exp(model_random(seed)), 2.0 * exp(model_random(seed)),
             model_random(seed) > 0.0 ? "lumped" : "consistent");
    model_group(m, "rod", "bar", text);
    bar_throw(m, 0.0, 2.0 + model_random(seed));
    model_gravity(m, 4.0 * model_random(seed), 0, 0);
    model_force(m, "bar.start", 3.0 * model_random(seed), 0, 0)->amplitude =
        (pcs_amplitude){ .count = 3, .time = time, .factor = factor };
    snprintf(text, sizeof text, "nodes=bar.end point=3.02,0,0 normal=-1,0,0 restitution=%.17g",
             0.5 + 0.5 * model_random(seed));
    model_contact(m, "wall", "node_plane", text);
    model_contact(m, "back", "node_plane", "nodes=bar.start point=-0.05,0,0 normal=1,0,0 restitution=0.25");
    model_build(m);
    *h = 0.01 * exp(model_random(seed));
    return m;
}

typedef void checker(const window *w, const char *values, double scale);

// Steps of a scheme on random bars, each handed to `check`; contacts must have been at work.
static void watch_steps(const char *scheme, const char *values, checker *check)
{
    unsigned long long seed = 11;
    bar_story s = { 0 };
    for (int bar = 0; bar < 12; bar++) {
        double h;
        model *m = random_bar(&seed, &h);
        model_run run = model_prepare(m, scheme, values, NULL, NULL);
        model_start(&run);
        double scale = run.report.measure.kinetic + run.report.measure.strain;
        for (int step = 0; step < STEPS; step++) {
            window w;
            window_open(&w, &run);
            model_step(&run, h);
            window_close(&w, &run, h);
            scale = fmax(scale, run.report.measure.kinetic + run.report.measure.strain);
            check(&w, values, scale);
            bar_watch(&run, &s);
        }
        model_destroy(&m);
    }
    CHECK(s.nimpact > 20 && s.nloaded > 100);
}

static double value_of(const char *values, const char *name)
{
    const char *at = strstr(values, name);
    return at == NULL ? NAN : strtod(at + strlen(name) + 1, NULL);
}

static void alpha_of(double rho, double *am, double *af, double *ga, double *be)
{
    *am = (2.0 * rho - 1.0) / (rho + 1.0);
    *af = rho / (rho + 1.0);
    *ga = 0.5 + *af - *am;
    *be = 0.25 * (*ga + 0.5) * (*ga + 0.5);
}

// Kinematics with an impulse, filter and dynamics of the family.
static void check_family(const window *w, double am, double af, double ga, double be)
{
    double jump[N], U[N], M[N * N], image[N], h = w->h;
    memcpy(jump, w->impulse, sizeof jump);
    memcpy(M, w->M, sizeof M);
    model_solve(N, M, jump);
    memcpy(U, w->moved, sizeof U);
    memcpy(M, w->M, sizeof M);
    model_solve(N, M, U);
    times(w->M, w->vd1, image);
    for (int i = 0; i < N; i++) {
        double q = w->q0[i] + h * w->v0[i] + h * h * ((0.5 - be) * w->a0[i] + be * w->a1[i]) + 0.5 * h * jump[i] + U[i];
        double v = w->v0[i] + h * ((1.0 - ga) * w->a0[i] + ga * w->a1[i]) + jump[i];
        CHECK_NEAR(w->q1[i], q, 1e-12);
        CHECK_NEAR(w->v1[i], v, 1e-11);
        CHECK_NEAR((1.0 - am) * w->a1[i] + am * w->a0[i], (1.0 - af) * w->vd1[i] + af * w->vd0[i],
                   1e-11 * (1.0 + fabs(w->vd1[i])));
        CHECK_NEAR(image[i], w->f1[i], 1e-10 * (1.0 + fabs(w->f1[i])));
        // A contact that lasts, on the first or the last node, moves with its mean velocity.
        if (w->held[i] != 0.0) CHECK_NEAR(w->q1[i] - w->q0[i], 0.5 * h * (w->v0[i] + w->v1[i]), 1e-13);
        else CHECK(w->moved[i] == 0.0);
    }
}

// dE = dq . F_ga - dq . C v_ga + La . G (v_n + v)/2 - loss,
// loss = (ga - 1/2) |dq|^2_K + (h^2/2) (2 be - ga) da . M a_ga + U . M a_ga + dq . M (vd_ga - a_ga)
static void check_family_energy(const window *w, double ga, double be, double scale)
{
    double dq[N], da[N], a[N], vd[N], v[N], F0[N], F1[N], F[N], mean[N], h = w->h;
    mix(1.0, w->q1, -1.0, w->q0, dq);
    mix(1.0, w->a1, -1.0, w->a0, da);
    mix(1.0 - ga, w->a0, ga, w->a1, a);
    mix(1.0 - ga, w->vd0, ga, w->vd1, vd);
    mix(1.0 - ga, w->v0, ga, w->v1, v);
    mix(0.5, w->v1, 0.5, w->v0, mean);
    applied(w, w->f0, w->q0, w->v0, F0);
    applied(w, w->f1, w->q1, w->v1, F1);
    mix(1.0 - ga, F0, ga, F1, F);
    mix(1.0, vd, -1.0, a, vd);
    double loss = (ga - 0.5) * form(dq, w->K, dq) + 0.5 * h * h * (2.0 * be - ga) * form(da, w->M, a) +
                  dot(w->moved, a) + form(dq, w->M, vd);
    CHECK_NEAR(stored(w, w->q1, w->v1) - stored(w, w->q0, w->v0),
               dot(dq, F) - form(dq, w->C, v) + dot(mean, w->impulse) - loss, 1e-11 * scale);
}

static void check_newmark(const window *w, const char *values, double scale)
{
    double gamma = value_of(values, "gamma"), beta = value_of(values, "beta");
    if (isnan(beta)) beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
    check_family(w, 0.0, 0.0, gamma, beta);
    check_family_energy(w, gamma, beta, scale);
}

static void check_hht(const window *w, const char *values, double scale)
{
    double alpha = value_of(values, "alpha");
    check_family(w, 0.0, alpha, 0.5 + alpha, 0.25 * (1.0 + alpha) * (1.0 + alpha));
    check_family_energy(w, 0.5 + alpha, 0.25 * (1.0 + alpha) * (1.0 + alpha), scale);
}

static void check_alpha(const window *w, const char *values, double scale)
{
    double am, af, ga, be;
    alpha_of(value_of(values, "rho_inf"), &am, &af, &ga, &be);
    check_family(w, am, af, ga, be);
    check_family_energy(w, ga, be, scale);
}

TEST(family_obeys_its_equations)
{
    watch_steps("newmark", "gamma=0.5 beta=0.4", check_newmark);
    watch_steps("newmark", "gamma=0.7 beta=0.6", check_newmark);
    watch_steps("newmark", "gamma=0.9", check_newmark);
    watch_steps("hht", "alpha=0.2", check_hht);
    watch_steps("alpha_velocity", "rho_inf=0.8", check_alpha);
    watch_steps("alpha_velocity", "rho_inf=0.1", check_alpha);
}

// Slides, eq. 95 with h^2/2, and eq. 92.
static void check_newmark_energy(const window *w, const char *values, double scale)
{
    double ga = value_of(values, "gamma"), be = value_of(values, "beta"), h = w->h, spread = 2.0 * be - ga;
    double dq[N], dv[N], da[N], F0[N], F1[N], F[N], dF[N], mean[N];
    mix(1.0, w->q1, -1.0, w->q0, dq);
    mix(1.0, w->v1, -1.0, w->v0, dv);
    mix(1.0, w->a1, -1.0, w->a0, da);
    mix(0.5, w->v1, 0.5, w->v0, mean);
    applied(w, w->f0, w->q0, w->v0, F0);
    applied(w, w->f1, w->q1, w->v1, F1);
    mix(1.0 - ga, F0, ga, F1, F);
    mix(1.0, F1, -1.0, F0, dF);
    double change = stored(w, w->q1, w->v1) - stored(w, w->q0, w->v0);
    double algorithmic = 0.25 * h * h * spread * (form(w->a1, w->M, w->a1) - form(w->a0, w->M, w->a0));
    CHECK_NEAR(change + algorithmic - dot(dq, F),
               -(ga - 0.5) * (form(dq, w->K, dq) + 0.5 * h * h * spread * form(da, w->M, da)) + dot(mean, w->impulse),
               1e-11 * scale);
    CHECK_NEAR(change - dot(dq, F),
               (0.5 - ga) * form(dq, w->K, dq) + 0.5 * h * spread * (form(dq, w->K, dv) - dot(dv, dF)) +
                   dot(mean, w->impulse) + 0.5 * h * spread * dot(da, w->impulse),
               1e-11 * scale);
}

TEST(newmark_energy_is_that_of_the_slides)
{
    watch_steps("newmark", "gamma=0.5 beta=0.25", check_newmark_energy);
    watch_steps("newmark", "gamma=0.5 beta=0.4 variant=published", check_newmark_energy);
    watch_steps("newmark", "gamma=0.7 beta=0.6 variant=published", check_newmark_energy);
    watch_steps("newmark", "gamma=1.0 beta=0.5625 variant=published", check_newmark_energy);
}

// Slides, eqs. 103 and 104. The step before enters through w = (q - q_n)/2 and y = (F - F_n)/2: a line of steps.
TEST(hht_energy_is_that_of_the_slides)
{
    unsigned long long seed = 5;
    double al = 0.3, ga = 0.5 + al, be = 0.25 * (1.0 + al) * (1.0 + al), spread = 2.0 * be - ga;
    for (int bar = 0; bar < 12; bar++) {
        double h, w0[N] = { 0 }, y0[N] = { 0 }, w1[N], y1[N], dq[N], da[N], dw[N], dy[N], F0[N], F1[N], F[N], mean[N];
        model *m = random_bar(&seed, &h);
        model_run run = model_prepare(m, "hht", "alpha=0.3 variant=published", NULL, NULL);
        model_start(&run);
        double scale = run.report.measure.kinetic;
        for (int step = 0; step < STEPS; step++) {
            window w;
            window_open(&w, &run);
            model_step(&run, h);
            window_close(&w, &run, h);
            mix(1.0, w.q1, -1.0, w.q0, dq);
            mix(1.0, w.a1, -1.0, w.a0, da);
            mix(0.5, w.v1, 0.5, w.v0, mean);
            applied(&w, w.f0, w.q0, w.v0, F0);
            applied(&w, w.f1, w.q1, w.v1, F1);
            mix(0.5, F0, 0.5, F1, F);
            mix(0.5, w.q1, -0.5, w.q0, w1);
            mix(0.5, F1, -0.5, F0, y1);
            mix(1.0, w1, -1.0, w0, dw);
            mix(1.0, y1, -1.0, y0, dy);
            double change = stored(&w, w.q1, w.v1) - stored(&w, w.q0, w.v0) +
                            0.25 * h * h * spread * (form(w.a1, w.M, w.a1) - form(w.a0, w.M, w.a0)) +
                            2.0 * al * (1.0 - ga) * (form(w1, w.K, w1) - form(w0, w.K, w0));
            double told = dot(mean, w.impulse) - 0.5 * h * h * al * spread * form(da, w.M, da) -
                          al * (1.0 - 2.0 * al) * form(dw, w.K, dw) + dot(F, dq) + al * (1.0 - 2.0 * al) * dot(dq, dy);
            CHECK_NEAR(change, told, 1e-10 * scale);
            memcpy(w0, w1, sizeof w0);
            memcpy(y0, y1, sizeof y0);
        }
        model_destroy(&m);
    }
}

// Slides, eq. 84.
static void check_theta(const window *w, const char *values, double scale)
{
    double th = value_of(values, "theta"), dq[N], dv[N], v[N], F0[N], F1[N], F[N];
    mix(1.0, w->q1, -1.0, w->q0, dq);
    mix(1.0, w->v1, -1.0, w->v0, dv);
    mix(1.0 - th, w->v0, th, w->v1, v);
    applied(w, w->f0, w->q0, w->v0, F0);
    applied(w, w->f1, w->q1, w->v1, F1);
    mix(1.0 - th, F0, th, F1, F);
    for (int i = 0; i < N; i++) CHECK_NEAR(dq[i], w->h * v[i], 1e-12);
    CHECK_NEAR(stored(w, w->q1, w->v1) - stored(w, w->q0, w->v0) - w->h * dot(v, F),
               (0.5 - th) * (form(dv, w->M, dv) + form(dq, w->K, dq)) + dot(v, w->impulse), 1e-11 * scale);
}

// Slides, eqs. 87 and 88.
static void check_theta_midpoint(const window *w, const char *values, double scale)
{
    double th = value_of(values, "theta"), dq[N], dv[N], mean[N], F0[N], F1[N], F[N], f[N], image[N];
    mix(1.0, w->q1, -1.0, w->q0, dq);
    mix(1.0, w->v1, -1.0, w->v0, dv);
    mix(0.5, w->v0, 0.5, w->v1, mean);
    mix(1.0 - th, w->f0, th, w->f1, f);
    applied(w, w->f0, w->q0, w->v0, F0);
    applied(w, w->f1, w->q1, w->v1, F1);
    mix(1.0 - th, F0, th, F1, F);
    times(w->M, dv, image);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(dq[i], w->h * mean[i], 1e-12);
        CHECK_NEAR(image[i], w->h * f[i] + w->impulse[i], 1e-11 * (1.0 + fabs(image[i])));
    }
    double told = (0.5 - th) * form(dq, w->K, dq) + dot(mean, w->impulse);
    CHECK_NEAR(stored(w, w->q1, w->v1) - stored(w, w->q0, w->v0) - dot(dq, F), told, 1e-11 * scale);
}

TEST(moreau_energy_is_that_of_the_slides)
{
    watch_steps("moreau_jean", "theta=0.5", check_theta);
    watch_steps("moreau_jean", "theta=0.75", check_theta);
    watch_steps("moreau_jean", "theta=0.6 positions=midpoint", check_theta_midpoint);
    watch_steps("moreau_jean", "theta=1.0 positions=midpoint", check_theta_midpoint);
}

// M vd = f + G^T lam, the gap law of lam, and kinematics without any jump.
TEST(index3_obeys_its_equations)
{
    unsigned long long seed = 23;
    double am, af, ga, be;
    int npressed = 0, nfree = 0;
    alpha_of(0.8, &am, &af, &ga, &be);
    for (int bar = 0; bar < 6; bar++) {
        double h;
        model *m = random_bar(&seed, &h);
        model_run run = model_prepare(m, "alpha_index3", "rho_inf=0.8", NULL, NULL);
        model_start(&run);
        for (int step = 0; step < STEPS; step++) {
            window w;
            double image[N], pushed[N];
            window_open(&w, &run);
            model_step(&run, h);
            window_close(&w, &run, h);
            memcpy(pushed, w.f1, sizeof pushed);
            for (int j = 0; j < m->system->nrow; j++) {
                const pcs_row_report *row = &run.report.rows[j];
                pcs_rows_add_transposed(m->system->G, j, row->force, pushed);
                CHECK(row->force >= 0.0 && row->gap >= -1e-13);
                if (row->force > 0.0) CHECK_NEAR(row->gap, 0.0, 1e-13);
                CHECK(!row->is_gated && row->multiplier == 0.0);
                npressed += row->force > 0.0;
                nfree += row->gap > 0.0;
            }
            times(w.M, w.vd1, image);
            for (int i = 0; i < N; i++) {
                CHECK_NEAR(image[i], pushed[i], 1e-9 * (1.0 + fabs(pushed[i])));
                CHECK_NEAR(w.q1[i], w.q0[i] + h * w.v0[i] + h * h * ((0.5 - be) * w.a0[i] + be * w.a1[i]), 1e-11);
                CHECK_NEAR(w.v1[i], w.v0[i] + h * ((1.0 - ga) * w.a0[i] + ga * w.a1[i]), 1e-10);
            }
        }
        model_destroy(&m);
    }
    CHECK(npressed > 50 && nfree > 50);
}

// The bar that presses with one end against a wall hits a stop with the other: positions are those of the motion
// without the stop, the jump is that of the impact law alone, and the force of the first contact lasts.
TEST(impact_is_apart)
{
    const char *const schemes[][2] = { { "jump_newmark", "gamma=0.5" }, { "jump_newmark", "rho_inf=0.7" } };
    for (int k = 0; k < 2; k++) {
        model *pair[2];
        model_run run[2];
        for (int stop = 0; stop < 2; stop++) {
            model *m = pair[stop] = bar_create(true);
            pcs_fe_initial *start = model_initial(m, "bar");
            start->velocity.is_given = true;
            start->velocity.ends[1][0] = 2.0; // at the far end; the near end rests
            model_gravity(m, -40, 0, 0);
            model_contact(m, "wall", "node_plane", "nodes=bar.start point=0,0,0 normal=1,0,0 restitution=0.5");
            if (stop)
                model_contact(m, "stop", "node_plane", "nodes=bar.end point=3.02,0,0 normal=-1,0,0 restitution=0.5");
            model_build(m);
            run[stop] = model_prepare(m, schemes[k][0], schemes[k][1], NULL, NULL);
            model_start(&run[stop]);
        }
        const pcs_row_report *rows = run[1].report.rows;
        for (int step = 0; step < 20 && !rows[1].is_impact; step++)
            for (int stop = 0; stop < 2; stop++) model_step(&run[stop], 0.004);
        CHECK(rows[1].is_impact && !rows[0].is_impact);
        CHECK(memcmp(run[0].x.q, run[1].x.q, sizeof(double) * N) == 0);
        CHECK_NEAR(rows[1].rate_before, -run[0].x.v[N - 1], 1e-14);
        CHECK(rows[1].rate_before < -0.5);
        CHECK_NEAR(rows[1].rate, -0.5 * rows[1].rate_before, 1e-13);
        CHECK(rows[0].force > 5.0 && rows[0].force == run[0].report.rows[0].force);
        CHECK(rows[0].rate >= -1e-13);
        CHECK_NEAR(rows[0].step_impulse, 0.004 * rows[0].force + rows[0].impulse, 1e-14);
        CHECK(rows[1].force == 0.0 && rows[1].step_impulse == rows[1].impulse);
        double jump[N], image[N], M[N * N];
        model_dense(pair[1]->system->M, N, M);
        mix(1.0, run[1].x.v, -1.0, run[0].x.v, jump);
        times(M, jump, image);
        for (int i = 0; i < N; i++)
            CHECK_NEAR(image[i], i == 0 ? rows[0].impulse : i == N - 1 ? -rows[1].impulse : 0.0, 1e-13);
        // The next step starts from forces that have seen the new velocity.
        double f[N], *a = run[1].x.history[1];
        pair[1]->system->ops->force(pair[1]->system, pcs_at(run[1].x.t, run[1].x.q, run[1].x.v), f);
        times(M, a, image);
        CHECK_ALL_NEAR(N, image, f, 1e-10);
        for (int stop = 0; stop < 2; stop++) model_destroy(&pair[stop]);
    }
}

// A node that is closed and approaching at t = 0 has its impact there, and no force of size m v / h follows.
TEST(impact_at_the_start)
{
    const char *const schemes[][2] = { { "jump_newmark", "gamma=0.5" }, { "jump_newmark", "rho_inf=0.8" } };
    for (int k = 0; k < 2; k++) {
        model *m = bar_create(false);
        bar_throw(m, 0.0, 2.0);
        model_contact(m, "wall", "node_plane", "nodes=bar.end point=3,0,0 normal=-1,0,0 restitution=0.25");
        model_build(m);
        model_run run = model_prepare(m, schemes[k][0], schemes[k][1], NULL, NULL);
        model_start(&run);
        double mass = run.solver->effective_mass[0];
        CHECK(run.report.rows[0].is_impact);
        CHECK_NEAR(run.report.rows[0].impulse, mass * 2.0 * 1.25, 1e-13);
        CHECK_NEAR(run.report.impact_loss, 0.5 * mass * 4.0 * (1.0 - 0.0625), 1e-13);
        CHECK_NEAR(run.report.rows[0].rate, 0.5, 1e-13);
        model_step(&run, 1e-5);
        CHECK(run.report.rows[0].step_impulse == 0.0 && run.report.rows[0].gap > 0.0);
        model_destroy(&m);
    }
}

TEST(step_solvers_agree)
{
    const char *const schemes[][2] = {
        { "newmark", "gamma=0.6" },          { "hht", "alpha=0.1" },
        { "alpha_velocity", "rho_inf=0.8" }, { "alpha_index3", "rho_inf=0.8" },
        { "jump_newmark", "rho_inf=0.8" },   { "moreau_jean", "theta=0.7 positions=midpoint" }
    };
    const char *const solvers[] = { "condensed", "schur", "newton" };
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        // Index 3 gains energy with every impact and makes round-off grow.
        int nstep = strcmp(schemes[k][0], "alpha_index3") == 0 ? 40 : 120;
        double end[3][N];
        for (int i = 0; i < 3; i++) {
            model *m = bar_bouncing(true);
            model_run run = model_prepare(m, schemes[k][0], schemes[k][1], solvers[i], NULL);
            bar_story s = { 0 };
            model_start(&run);
            for (int step = 0; step < nstep; step++) {
                model_step(&run, bar_step);
                bar_watch(&run, &s);
            }
            CHECK(s.nloaded > 5);
            memcpy(end[i], run.x.q, sizeof end[i]);
            model_destroy(&m);
        }
        for (int i = 1; i < 3; i++) CHECK_ALL_NEAR(N, end[i], end[0], 1e-11);
    }
}

// For constant matrices forces between the ends are the weighed forces of the ends.
TEST(forces_between_change_nothing_linear)
{
    double end[2][N];
    for (int i = 0; i < 2; i++) {
        model *m = bar_bouncing(true);
        model_run run = model_prepare(m, "moreau_jean", i ? "theta=0.7 forces=midpoint" : "theta=0.7", NULL, NULL);
        model_start(&run);
        for (int step = 0; step < 150; step++) model_step(&run, bar_step);
        memcpy(end[i], run.x.q, sizeof end[i]);
        model_destroy(&m);
    }
    CHECK(memcmp(end[0], end[1], sizeof end[0]) == 0);
}
