// Large models on one core: lattices of beams against a wall and piles of beams with friction, as they grow.
//
//   study_lattice [LARGEST [WHAT [STIFFER]]]     default: lattices and piles of up to 1000000 equations
//
// WHAT: plane, space, pile; STIFFER: factor of Young's modulus of the piles, 1.
//
// Every size runs in a process of its own, which gives its peak memory; times are of the processor. The wall of the
// lattices is tilted a little, so that contacts close a few more in every step and sets keep changing. Set-up is
// everything up to the end of the first step, which factors the iteration matrix. Per step, in mean and at most:
// `round` changes of contact sets, `solves` products with the condensed matrix (one or two linear solves each);
// `revisit` counts sets that came back, in all. The balance of momentum is the worst of all steps, relative to
// mass times speed, beside ten times the tolerance of the solver. Piles run until they rest: E_kin at the end over that
// of the start; `floor` is the force of the floor over the weight, less 1.

#define _GNU_SOURCE

#include "build/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double solver_tolerance = 1e-14;
static const char *const space_struts =
    "elements.struts={type: beam_timo_3d, mesh: net, E: 2.1e+11, nu: 0.3, rho: 7800.0, orientation: [0.36, 0.48, 0.8], "
    "section: {type: rectangle, width: 0.01, height: 0.01, shear_factor: 0.8333333333333333}}";

typedef struct study_row {
    int dofs, contacts, steps;
    double setup, stepping; // s of the processor
    int rounds, most_rounds, solves, most_solves, cycles, most_closed;
    double balance, smallest_gap, kinetic[2], floor;
} study_row;

static double study_processor(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_sec +
           1e-6 * (double)use.ru_stime.tv_usec;
}

static void study_demand(pcs_context *ctx, pcs_status status)
{
    if (status == PCS_OK) return;
    fprintf(stderr, "error: %s\n", ctx != NULL ? pcs_message(ctx) : "no memory");
    _exit(1);
}

// Vertical force of the floor over the weight of all beams, less 1; contacts named l0... are the floor's.
static double study_floor(const pcs_sim *sim)
{
    const pcs_system *system = sim->system;
    double impulse = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (strncmp(system->contacts[system->rows[j].contact].name, "l0", 2) == 0)
            impulse += sim->report.rows[j].step_impulse;
    return impulse / (9.81 * system->mass * sim->step_size) - 1.0;
}

// `momentum` is that before the step, and after it when this returns; `size` is mass times speed at the start.
static void study_note(const pcs_sim *sim, study_row *row, double momentum[3], double size)
{
    const pcs_system *system = sim->system;
    const pcs_step_report *report = &sim->report;
    double moved[3], lost[3];
    int closed = 0;
    memcpy(lost, report->smooth_impulse, sizeof lost);
    for (int j = 0; j < system->nrow; j++) {
        row->smallest_gap = fmin(row->smallest_gap, report->rows[j].gap);
        closed += report->rows[j].step_impulse > 0.0;
        pcs_row_resultant(system, system->G, j, moved);
        for (int k = 0; k < 3; k++) lost[k] += report->rows[j].step_impulse * moved[k];
        for (int t = 0; t < system->rows[j].ntangent; t++) {
            pcs_row_resultant(system, system->T, system->rows[j].first_tangent + t, moved);
            for (int k = 0; k < 3; k++) lost[k] += report->rows[j].tangent[t] * moved[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        double after = report->measure.free_momentum[k];
        row->balance = fmax(row->balance, fabs(after - momentum[k] - lost[k]) / size);
        momentum[k] = after;
    }
    row->most_closed = closed > row->most_closed ? closed : row->most_closed;
    row->rounds += report->iterations;
    row->solves += sim->solver->products;
    row->cycles += sim->solver->revisits;
    row->most_rounds = report->iterations > row->most_rounds ? report->iterations : row->most_rounds;
    row->most_solves = sim->solver->products > row->most_solves ? sim->solver->products : row->most_solves;
}

static void study_run(const char *path, int nset, const char *const *set, study_row *row)
{
    pcs_context *ctx = NULL;
    pcs_sim *sim;
    pcs_measure measure;
    double momentum[3], begin = study_processor();
    *row = (study_row){ .smallest_gap = INFINITY };
    study_demand(NULL, pcs_context_create(&ctx));
    study_demand(ctx, pcs_build_sim_from(ctx, path, nset, set, &sim));
    study_demand(ctx, pcs_sim_start(sim));
    sim->system->ops->measure(sim->system, pcs_at(sim->state.t, sim->state.q, sim->state.v), PCS_ENERGY, &measure);
    memcpy(momentum, measure.free_momentum, sizeof momentum);
    row->kinetic[0] = measure.kinetic;
    double size = sqrt(2.0 * measure.kinetic * sim->system->mass);
    for (row->steps = 0; !pcs_sim_is_done(sim); row->steps++) {
        study_demand(ctx, pcs_sim_step(sim));
        study_note(sim, row, momentum, size);
        if (row->steps == 0) row->setup = study_processor() - begin;
    }
    row->stepping = (study_processor() - begin - row->setup) / (row->steps - 1);
    row->kinetic[1] = sim->report.measure.kinetic;
    row->floor = study_floor(sim);
    row->dofs = sim->system->nv;
    row->contacts = sim->system->nrow;
    pcs_context_destroy(&ctx);
}

// Runs one size in a child; false when it failed.
static bool study_measure(const char *path, int nset, const char *const *set, study_row *row, double *bytes)
{
    int ends[2], status;
    struct rusage use;
    if (pipe(ends) != 0) return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        study_run(path, nset, set, row);
        _exit(write(ends[1], row, sizeof *row) == (ssize_t)sizeof *row ? 0 : 1);
    }
    close(ends[1]);
    bool is_read = child > 0 && read(ends[0], row, sizeof *row) == (ssize_t)sizeof *row;
    close(ends[0]);
    if (child > 0) wait4(child, &status, 0, &use);
    *bytes = 1024.0 * (double)use.ru_maxrss;
    return is_read && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void study_print(const study_row *r, double bytes, bool is_pile)
{
    int steps = r->steps;
    printf("%9d %9d %8d %6d %8.0f %9.2f %10.3f %10.2f %5.1f %4d %7.1f %5d %7d", r->dofs, r->contacts, r->most_closed,
           steps, bytes / r->dofs, r->setup, r->stepping, 1e6 * r->stepping / r->dofs, (double)r->rounds / steps,
           r->most_rounds, (double)r->solves / steps, r->most_solves, r->cycles);
    printf(" %10.1e %9.1e", r->balance, r->smallest_gap);
    if (is_pile) printf(" %9.1e %9.1e", r->kinetic[1] / r->kinetic[0], r->floor);
    printf("\n");
    fflush(stdout);
}

static void study_head(const char *title, bool is_pile)
{
    printf("\n%s\n%9s %9s %8s %6s %8s %9s %10s %10s %5s %4s %7s %5s %7s %10s %9s", title, "equations", "contacts",
           "closed", "steps", "B/eq", "set-up s", "s/step", "us/step/eq", "round", "most", "solves", "most", "revisit",
           "balance", "least gap");
    if (is_pile) printf(" %9s %9s", "E_kin", "floor");
    printf("\n");
}

// `wide` is how far the lattice reaches along y; the wall is tilted by the way of twenty steps.
static bool study_lattice(const char *cells, double wide, bool is_space)
{
    char net[160], wall[160];
    const char *set[] = { net,
                          wall,
                          "contacts.wall.point=[0.0009, 0, 0]",
                          "time={step: 1.1e-5, end: 2.75e-4}",
                          "scheme={type: alpha_ggl, rho_inf: 0.8}",
                          "solver.type=schur",
                          space_struts };
    study_row row;
    double bytes;
    snprintf(net, sizeof net, "mesh.net.%s", cells);
    snprintf(wall, sizeof wall, "contacts.wall.normal=[1, %.17g, 0]", 20.0 * 1.1e-4 / wide);
    if (!study_measure("cases/frame_lattice", is_space ? 7 : 6, set, &row, &bytes)) return false;
    study_print(&row, bytes, false);
    return true;
}

static bool study_pile(int width, int layers, const char *scheme, double end, double stiffer)
{
    char path[512], command[1024], when[64], modulus[64];
    const char *const set[] = { scheme, when, modulus };
    study_row row;
    double bytes;
    snprintf(path, sizeof path, "%s/pile_%d_%d.yaml", TESTS_OUTPUT_FOLDER, width, layers);
    snprintf(command, sizeof command, "/usr/bin/python3 tests/study/make_pile.py %d %d 0.0001 >'%s'", width, layers,
             path);
    snprintf(when, sizeof when, "time.end=%.17g", end);
    snprintf(modulus, sizeof modulus, "elements.beams.E=%.17g", 1e10 * stiffer);
    if (system(command) != 0 || !study_measure(path, 3, set, &row, &bytes)) return false;
    study_print(&row, bytes, true);
    return true;
}

static bool study_lattices(double largest, bool is_space)
{
    static const struct {
        double dofs, wide;
        const char *cells;
    } plane[] = { { 1e4, 10.0, "cells=[33, 100]" },
                  { 1e5, 100.0, "cells=[33, 1000]" },
                  { 1e6, 1000.0, "cells=[33, 10000]" } },
      space[] = { { 1e4, 1.4, "cells=[8, 14, 14]" },
                  { 1e5, 3.1, "cells=[16, 31, 31]" },
                  { 3e5, 4.6, "cells=[23, 46, 46]" }, // from here on factors fill
                  { 1e6, 7.0, "cells=[33, 70, 70]" } };
    study_head(is_space ? "Lattices in space" : "Plane lattices, 33 boxes deep", false);
    for (int i = 0; i < (is_space ? 4 : 3); i++) {
        double dofs = is_space ? space[i].dofs : plane[i].dofs;
        if (dofs > largest) break;
        if (!study_lattice(is_space ? space[i].cells : plane[i].cells, is_space ? space[i].wide : plane[i].wide,
                           is_space))
            return false;
    }
    return true;
}

static bool study_piles(double largest, double stiffer)
{
    static const char *const schemes[] = { "scheme={type: moreau_jean, theta: 0.5}",
                                           "scheme={type: alpha_ggl, rho_inf: 0.8}" };
    static const char *const titles[] = { "Piles with friction until they rest, moreau_jean",
                                          "The same with gaps enforced, alpha_ggl, during the impact" };
    static const struct {
        double dofs;
        int width, layers;
    } piles[] = { { 6e2, 5, 4 }, { 1e4, 12, 7 }, { 6e4, 32, 10 } };
    for (int s = 0; s < 2; s++) {
        study_head(titles[s], true);
        for (int i = 0; i < 3; i++)
            if (piles[i].dofs <= largest &&
                !study_pile(piles[i].width, piles[i].layers, schemes[s], s == 0 ? 0.25 : 0.025, stiffer))
                return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    double largest = argc > 1 ? atof(argv[1]) : 1e6;
    const char *what = argc > 2 ? argv[2] : "";
    bool is_done = true;
    printf("Tolerance of the contact solver %.0e of the speed; momentum must balance to ten times that, %.0e\n",
           solver_tolerance, 10.0 * solver_tolerance);
    if (*what == '\0' || strcmp(what, "plane") == 0) is_done = is_done && study_lattices(largest, false);
    if (*what == '\0' || strcmp(what, "space") == 0) is_done = is_done && study_lattices(largest, true);
    double stiffer = argc > 3 ? atof(argv[3]) : 1.0;
    if (*what == '\0' || strcmp(what, "pile") == 0) is_done = is_done && study_piles(largest, stiffer);
    return is_done ? 0 : 1;
}
