// Many contacts at once: effort, time and memory of a step of a pile of beams against the number of contacts.
//
//   bench_contacts [most contacts, 10648]     growth table: 125, 1000, 10648 contacts

#define _POSIX_C_SOURCE 200809L

#include "bench_clock.h"
#include "tests/support/pile.h"

typedef struct bench_case {
    const char *name, *scheme, *option;
    double value, friction, speed, sideways, gap;
} bench_case;

static const bench_case bench_cases[] = {
    { "rest, GGL", "alpha_ggl", "rho_inf", 0.8, 0.0, 0.0, 0.0, 0.0 },
    { "rest, Moreau-Jean", "moreau_jean", "theta", 0.6, 0.0, 0.0, 0.0, 0.0 },
    { "rest, friction, GGL", "alpha_ggl", "rho_inf", 0.8, 0.4, 0.0, 0.0, 0.0 },
    { "slide, friction, GGL", "alpha_ggl", "rho_inf", 0.8, 0.4, 0.0, 1.0, 0.0 },
    { "slide, friction, Moreau-Jean", "moreau_jean", "theta", 0.6, 0.4, 0.0, 1.0, 0.0 },
    { "fall, friction, GGL", "alpha_ggl", "rho_inf", 0.8, 0.4, 1.0, 0.2, 1e-3 },
};
enum { NCASE = sizeof bench_cases / sizeof *bench_cases, STEPS = 10 };

typedef struct bench_result {
    int dofs, contacts;
    double solves, products, seconds, bytes, gap;
    long revisits, projections;
    bool is_done;
} bench_result;

static bench_result bench_run(const bench_case *b, int width, const char *solver)
{
    pile_shape shape = { .width = width,
                         .layers = width,
                         .elements = 1,
                         .gap = b->gap,
                         .speed = b->speed,
                         .sideways = b->sideways,
                         .friction = b->friction,
                         .young = 1e9 };
    pile *p = pile_build(&shape);
    pile_run run = pile_prepare(p, b->scheme, b->option, b->value, solver);
    bench_result r = { .dofs = p->system->nv, .contacts = p->system->nrow, .is_done = true };
    double start = bench_seconds();
    for (int k = 0; k < STEPS && r.is_done; k++) {
        pile_demand(p->ctx, run.scheme->ops->step(run.scheme, &run.x, 1e-3, &run.report));
        r.is_done = run.report.outcome == PCS_CONVERGED;
        r.solves += run.report.iterations / (double)STEPS;
        r.products += run.solver->products / (double)STEPS;
        r.revisits += run.solver->revisits;
        r.projections += run.solver->projections;
        for (int j = 0; j < r.contacts; j++) r.gap = fmin(r.gap, run.report.rows[j].gap);
    }
    r.seconds = (bench_seconds() - start) / STEPS;
    r.bytes = (double)pcs_bytes_taken(p->ctx);
    pile_destroy(p);
    return r;
}

static void bench_growth(int most)
{
    static const int widths[] = { 5, 10, 22 };
    printf("%-30s %8s %8s %7s %9s %8s %11s %9s %10s %10s\n", "pile", "contacts", "dofs", "solves", "products",
           "revisits", "projections", "s/step", "MB", "min gap");
    for (int i = 0; i < NCASE; i++)
        for (int k = 0; k < 3; k++) {
            if (widths[k] * widths[k] * widths[k] > most) continue;
            bench_result r = bench_run(&bench_cases[i], widths[k], "schur");
            printf("%-30s %8d %8d %7.1f %9.1f %8ld %11ld %9.4f %10.1f %10.1e%s\n", bench_cases[i].name, r.contacts,
                   r.dofs, r.solves, r.products, r.revisits, r.projections, r.seconds, r.bytes / 1e6, r.gap,
                   r.is_done ? "" : "  NOT CONVERGED");
            fflush(stdout);
        }
}

int main(int argc, char **argv)
{
    bench_growth(argc > 1 ? atoi(argv[1]) : 10648);
    return 0;
}
