// Error against cost: fixed steps, controlled steps, event-driven and localised Runge-Kutta, on the ball of v' = -2,
// the impacting oscillator and the slider-crank without friction.
//
//   study_work_precision [file]     (default work_precision.csv in the tests' output; run from the project's folder)
//
// Writes one line per run: problem, kind, method, setting, scheme steps tried, force evaluations, L1 and largest error.
// `make work-precision` draws them. The error is that of the coordinates at the ends of steps; of the
// slider-crank against a tight event-driven run, up to 0.05 s: its motion is chaotic and gets no verdict. On the other
// two the errors of controlled steps must fall with the tolerance, and no fixed step may reach their error at less
// cost.

#include "support/check.h"
#include "support/watch.h"

#include "core/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIXED, CONTROLLED, EVENTS, LOCALISED, NKIND };
static const char *const KINDS[] = { "fixed", "controlled", "event-driven", "localised" };

typedef struct method {
    int kind;
    const char *name, *scheme, *control; // what the settings go into
    int count;
    double settings[10]; // steps per second, tolerance, or rtol
} method;

#define STEPS                                         \
    {                                                 \
        200, 400, 800, 1600, 3200, 6400, 12800, 25600 \
    }
#define TOLERANCES                   \
    {                                \
        1e-2, 1e-3, 1e-4, 1e-5, 1e-6 \
    }

static const method METHODS[] = {
    { FIXED, "Moreau-Jean", "moreau_jean, theta: 0.5", NULL, 8, STEPS },
    { FIXED, "half-explicit", "half_explicit", NULL, 8, STEPS },
    { FIXED, "GGL", "alpha_ggl, rho_inf: 0.8", NULL, 8, STEPS },
    { FIXED, "HEM4", "half_explicit_rk", NULL, 8, STEPS },
    { CONTROLLED, "Moreau-Jean variable order", "moreau_jean, theta: 0.5", "variable", 5, TOLERANCES },
    { CONTROLLED, "Moreau-Jean order 1", "moreau_jean, theta: 0.5", "1", 5, TOLERANCES },
    { CONTROLLED, "half-explicit variable order", "half_explicit", "variable", 5, TOLERANCES },
    { EVENTS,
      "event-driven",
      "event_driven, accumulation: rest",
      NULL,
      9,
      { 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11 } },
    { LOCALISED, "RK4 localised", "mannshardt", NULL, 7, { 12, 25, 50, 100, 200, 400, 800 } },
    { LOCALISED, "RKF5 localised", "mannshardt, method: fehlberg5", NULL, 7, { 12, 25, 50, 100, 200, 400, 800 } },
};
enum { NMETHOD = sizeof METHODS / sizeof *METHODS, MOST = 10 };

// Two angles and their rates on a fine grid, by a tight event-driven run.
enum { NREFERENCE = 5000 };
static const double SPACING = 1e-5;
static double reference[NREFERENCE + 1][4];

static void study_find_reference(void)
{
    watch *w =
        watch_open("cases/slider_crank",
                   (const char *const[]){
                       "scheme={type: event_driven, accumulation: rest, rtol: 1e-12, atol: 1e-14, v_stick: 1e-7}",
                       "system.friction=0.0", "time.step=1e-5", "time.end=0.05", NULL });
    for (int i = 0; i <= NREFERENCE; i++) {
        for (int k = 0; k < 2; k++) {
            reference[i][k] = w->sim->state.q[k];
            reference[i][2 + k] = w->sim->state.v[k];
        }
        if (i < NREFERENCE) CHECK_OK(w->ctx, pcs_sim_step(w->sim));
    }
    watch_close(&w);
}

// Cubic between grid points.
static double study_slider(const double *q, double t)
{
    int i = (int)fmin(floor(t / SPACING), NREFERENCE - 1.0);
    double x = t / SPACING - i, largest = 0.0;
    for (int k = 0; k < 2; k++) {
        double a = reference[i][k], b = reference[i + 1][k], da = SPACING * reference[i][2 + k],
               db = SPACING * reference[i + 1][2 + k];
        double value = a + x * (da + x * (3.0 * (b - a) - 2.0 * da - db + x * (2.0 * (a - b) + da + db)));
        largest = fmax(largest, fabs(q[k] - value));
    }
    return largest;
}

static double study_ball(const double *q, double t)
{
    return fabs(q[0] - watch_exact_ball(t));
}

static double study_oscillator(const double *q, double t)
{
    return fabs(q[0] - watch_exact_oscillator(t));
}

typedef struct problem {
    const char *name, *path, *more;
    double end;
    double (*distance)(const double *q, double t);
    bool has_verdict;
} problem;

static const problem PROBLEMS[] = {
    { "ball", "cases/ball_f2", NULL, 4.0, study_ball, true },
    { "oscillator", "cases/impacting_oscillator", NULL, 1.9, study_oscillator, true },
    { "slider-crank", "cases/slider_crank", "system.friction=0.0", 0.05, study_slider, false },
};

typedef struct outcome {
    bool is_done;
    long attempts, nforce;
    double l1, max;
} outcome;

// Settings as assignments. Steps do not divide the times of events.
static outcome study_run(const problem *p, const method *m, double setting)
{
    char text[4][160];
    double unit = p->end / 4.0; // the ball's run is the measure of a "second"
    double step = m->kind == FIXED || m->kind == LOCALISED ? unit / (setting + 0.37)
                  : m->kind == EVENTS                      ? p->end / 20.0
                                                           : unit / 1000.0;
    snprintf(text[0], sizeof text[0], "scheme={type: %s}", m->scheme);
    if (m->kind == EVENTS)
        snprintf(text[0], sizeof text[0], "scheme={type: %s, rtol: %.1e, atol: %.1e}", m->scheme, setting, setting);
    snprintf(text[1], sizeof text[1], "time.step=%.17g", step);
    snprintf(text[2], sizeof text[2], "time.end=%.17g", p->end);
    snprintf(text[3], sizeof text[3], "time.control={type: adaptive, order: %s, tolerance: %.1e}",
             m->control == NULL ? "" : m->control, setting);
    const char *set[6] = { text[0], text[1], text[2], "time.allow_unstable=true" };
    int count = 4;
    if (m->control != NULL) set[count++] = text[3];
    if (p->more != NULL) set[count++] = p->more;
    const char *ended[7] = { NULL };
    memcpy(ended, set, (size_t)count * sizeof *set);
    watch *w = watch_open(p->path, ended);
    outcome out = { .is_done = true };
    while (!pcs_sim_is_done(w->sim) && out.is_done) {
        double before = w->sim->state.t;
        out.is_done = pcs_sim_step(w->sim) == PCS_OK;
        double distance = p->distance(w->sim->state.q, w->sim->state.t);
        out.l1 += distance * (w->sim->state.t - before);
        out.max = fmax(out.max, distance);
    }
    out.attempts = w->sim->view.attempts;
    out.nforce = w->nforce;
    watch_close(&w);
    return out;
}

// Controlled runs against the cheapest fixed step that is as accurate; gives the number of failures.
static int study_judge(const problem *p, outcome (*runs)[MOST])
{
    int failures = 0;
    for (int m = 0; m < NMETHOD; m++)
        for (int i = 0; i < METHODS[m].count && METHODS[m].kind == CONTROLLED; i++) {
            const outcome *run = &runs[m][i];
            long best = -1;
            for (int f = 0; f < NMETHOD; f++)
                for (int k = 0; k < METHODS[f].count && METHODS[f].kind == FIXED; k++)
                    if (runs[f][k].l1 <= run->l1 && (best < 0 || runs[f][k].nforce < best)) best = runs[f][k].nforce;
            bool is_monotone = i == 0 || (run->l1 < runs[m][i - 1].l1 && run->max < runs[m][i - 1].max);
            bool is_cheaper = best < 0 || run->nforce < best;
            char text[64];
            if (best < 0) snprintf(text, sizeof text, "no fixed step was as accurate");
            else snprintf(text, sizeof text, "best fixed step %ld", best);
            printf("  %-12s %-30s tolerance %.0e: L1 %.2e at %5ld evaluations, %s%s%s\n", p->name, METHODS[m].name,
                   METHODS[m].settings[i], run->l1, run->nforce, text, is_cheaper ? "" : "  NOT CHEAPER",
                   is_monotone ? "" : "  NOT SMALLER");
            failures += !is_monotone + !is_cheaper;
        }
    return failures;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : TESTS_OUTPUT_FOLDER "/work_precision.csv";
    FILE *file = fopen(path, "w");
    int failures = 0;
    if (file == NULL) return fprintf(stderr, "cannot write '%s'\n", path), 1;
    fprintf(file, "problem,kind,method,setting,attempts,evaluations,l1,max\n");
    study_find_reference();
    for (size_t i = 0; i < sizeof PROBLEMS / sizeof *PROBLEMS; i++) {
        static outcome runs[NMETHOD][MOST];
        for (int m = 0; m < NMETHOD; m++)
            for (int k = 0; k < METHODS[m].count; k++) {
                outcome *run = &runs[m][k];
                *run = study_run(&PROBLEMS[i], &METHODS[m], METHODS[m].settings[k]);
                if (!run->is_done) *run = (outcome){ .l1 = INFINITY, .max = INFINITY };
                if (run->is_done)
                    fprintf(file, "%s,%s,%s,%g,%ld,%ld,%.6e,%.6e\n", PROBLEMS[i].name, KINDS[METHODS[m].kind],
                            METHODS[m].name, METHODS[m].settings[k], run->attempts, run->nforce, run->l1, run->max);
            }
        if (PROBLEMS[i].has_verdict) failures += study_judge(&PROBLEMS[i], runs);
    }
    if (fclose(file) != 0) return fprintf(stderr, "cannot write '%s'\n", path), 1;
    printf("%s; results in %s\n",
           failures == 0 ? "controlled steps beat fixed ones everywhere"
                         : "controlled steps do NOT beat fixed ones everywhere",
           path);
    return failures == 0 ? 0 : 1;
}
