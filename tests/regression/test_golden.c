// Every shipped case up to some steps after its first impact, against the digits that it gave before: whoever moves
// code sees here that no result has moved.
//
// A line of golden.csv: case, steps, t, and of each of positions, velocities, histories of the scheme, impulses so far
// and energies the sum  s = sum_i cos(i) x_i  with its size  sum_i |cos(i) x_i|,  and more where what it is made from
// cancels. Sums must agree to 1e-12 of the size.
// Where results are meant to change:  build/tests/regression_test_golden print > tests/regression/golden.csv

#define _POSIX_C_SOURCE 200809L // scandir

#include "support/check.h"
#include "support/watch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_AFTER = 20, MOST_STEPS = 2000, NSUM = 5 };

typedef struct golden {
    char name[64];
    long steps;
    double t, sum[NSUM], size[NSUM];
} golden;

static const char *const sums[NSUM] = { "positions", "velocities", "history", "impulses", "energies" };

static int golden_is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

// The shipped cases by name, to be freed.
static int golden_cases(struct dirent ***out)
{
    int count = scandir("cases", out, golden_is_case, alphasort);
    CHECK(count > 0);
    return count;
}

static void golden_add(golden *g, int kind, int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        g->sum[kind] += cos(i) * x[i];
        g->size[kind] += fabs(cos(i) * x[i]);
    }
}

// Goes on to the end of the run, or of what is looked at; impulses count as they come.
static void golden_run(watch *w, golden *g)
{
    const pcs_sim *sim = w->sim;
    long last = MOST_STEPS;
    while (!pcs_sim_is_done(sim) && sim->state.step < last) {
        CHECK_OK(w->ctx, pcs_sim_step(w->sim));
        for (int j = 0; j < sim->system->nrow; j++) {
            const pcs_row_report *row = &sim->report.rows[j];
            if (row->is_impact && last == MOST_STEPS) last = sim->state.step + STEPS_AFTER;
            golden_add(g, 3, 1, &row->step_impulse);
            golden_add(g, 3, 2, row->tangent);
            g->size[3] += sim->report.h * fabs(row->force); // beside it an impulse may be mere round-off
        }
    }
}

static golden golden_of(const char *name)
{
    golden g = { 0 };
    char path[128];
    snprintf(g.name, sizeof g.name, "%s", name);
    snprintf(path, sizeof path, "cases/%s", name);
    watch *w = watch_open(path, NULL);
    golden_run(w, &g);
    const pcs_state *x = &w->sim->state;
    const pcs_measure *m = &w->sim->report.measure;
    g.steps = x->step;
    g.t = x->t;
    golden_add(&g, 0, w->sim->system->nq, x->q);
    golden_add(&g, 1, w->sim->system->nv, x->v);
    for (int i = 0; i < x->nhistory; i++) golden_add(&g, 2, w->sim->system->nv, x->history[i]);
    // Velocities come from positions over h, accelerations from velocities: both are known to some units of the last
    // place of what they come from, which the steps since the first impact add up; over hundreds of steps those before
    // it, too, as the root of their number. (The last digit of E moves velocities of beam_pendulum by 6e-12 of them.)
    double h = w->sim->report.h, grown = fmax(1.0, sqrt((double)g.steps / 100.0));
    g.size[1] += 0.01 * grown * g.size[0] / h;
    if (x->nhistory > 0) g.size[2] += 0.05 * grown * g.size[0] / (h * h);
    golden_add(&g, 4, 3, (const double[]){ m->kinetic, m->strain, m->potential });
    watch_close(&w);
    return g;
}

static void golden_print(void)
{
    printf("case,steps,t");
    for (int k = 0; k < NSUM; k++) printf(",%s,size", sums[k]);
    printf("\n");
    struct dirent **cases;
    int count = golden_cases(&cases);
    for (int i = 0; i < count; i++) {
        golden g = golden_of(cases[i]->d_name);
        free(cases[i]);
        printf("%s,%ld,%.17g", g.name, g.steps, g.t);
        for (int k = 0; k < NSUM; k++) printf(",%.17g,%.3g", g.sum[k], g.size[k]);
        printf("\n");
    }
    free(cases);
}

static bool golden_read(FILE *file, golden *g)
{
    *g = (golden){ 0 };
    int count = fscanf(file, " %63[^,],%ld,%lf", g->name, &g->steps, &g->t);
    for (int k = 0; k < NSUM; k++) count += fscanf(file, ",%lf,%lf", &g->sum[k], &g->size[k]);
    return count == 3 + 2 * NSUM;
}

TEST(results_are_those_of_before)
{
    FILE *file = fopen("tests/regression/golden.csv", "r");
    CHECK(file != NULL);
    CHECK(fscanf(file, "%*[^\n]") == 0);
    struct dirent **cases;
    int count = golden_cases(&cases), moved = 0;
    for (int i = 0; i < count; i++) {
        golden before;
        CHECK(golden_read(file, &before) && strcmp(before.name, cases[i]->d_name) == 0);
        free(cases[i]);
        golden now = golden_of(before.name);
        for (int k = 0; k < NSUM; k++) {
            double off = fabs(now.sum[k] - before.sum[k]) / (before.size[k] > 0.0 ? before.size[k] : 1.0);
            if (off <= 1e-12 && now.steps == before.steps) continue;
            print_message("%s: %s off by %.1e of their size after %ld steps, %ld before\n", now.name, sums[k], off,
                          now.steps, before.steps);
            moved++;
        }
    }
    free(cases);
    fclose(file);
    CHECK(moved == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "print") == 0) {
        golden_print();
        return 0;
    }
    return check_run_tests();
}
