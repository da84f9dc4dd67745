// Steps per second of the pure time loop, beside yardsticks measured in the same process and the same minute.
//
//   bench_steps [CASE [LARGEST]]     CASE: default cases/bar_impact; LARGEST: most elements, default 1000000
//
// The bar of the case is scaled to N elements with the step scaled alike, put a few steps before the wall, and
// timed with its contact closed. Every repetition starts from the same saved state; all contestants take turns and the
// best time of each counts, so that the ratios hold on a busy machine, too. Nothing here can fail for being slow.

#define _POSIX_C_SOURCE 200809L

#include "bench_yardsticks.h"
#include "build/build.h"

#include <sys/wait.h>
#include <unistd.h>

enum { PURE, CERTIFIED, MEMORY, CHAIN, NCONTESTANT };
enum { FLIGHT = 4, WARM_UP = 10, TEXT = 160, NSET = 7, NSIZE = 4, NVECTOR = 2 + PCS_MAX_HISTORY };

static const double chain_goal = 2.5, memory_goal = 1024.0;
static const double small_goal = 2.0;                               // certified step over chain, 50 elements
static const double stream_goal[BENCH_NSCHEME] = { 1.5, 1.6, 1.6 }; // pure step over memory, 10^6 elements
static const double thread_goal = 1.7;                              // of two threads

typedef struct size_row {
    int elements, steps, rounds; // steps per repetition, repetitions
} size_row;

static const size_row sizes[NSIZE] = { { 50, 40, 1500 }, { 1000, 100, 200 }, { 100000, 10, 60 }, { 1000000, 4, 20 } };

typedef struct snapshot {
    int n, count;
    double *saved[NVECTOR]; // [n] each
    double t;
    long step;
} snapshot;

typedef struct engine {
    const char *path;
    int scheme, elements, steps; // steps of a repetition
    int threads;                 // 0: one
    pcs_context *ctx;
    pcs_sim *sim;
    snapshot start;
} engine;

static void steps_fail(const engine *e, const char *what)
{
    fprintf(stderr, "error: %s, %d elements: %s: %s\n", bench_scheme_names[e->scheme], e->elements, what,
            e->ctx != NULL ? pcs_message(e->ctx) : "no memory");
    exit(1);
}

static double steps_gap(double h)
{
    return (FLIGHT - 0.5) * bench_speed * h;
}

// The case scaled to e->elements; the explicit scheme takes its own step, 0.9 of the stable one.
static void steps_start(engine *e)
{
    double h = bench_step_size(e->scheme, e->elements), gap = steps_gap(h);
    bool is_explicit = e->scheme == BENCH_HALF_EXPLICIT;
    const char *name = bench_scheme_names[e->scheme];
    char text[NSET][TEXT];
    snprintf(text[0], TEXT, "mesh.bar.elements=%d", e->elements);
    snprintf(text[1], TEXT, "mesh.bar.from=[%.17e, 0, 0]", gap);
    snprintf(text[2], TEXT, "mesh.bar.to=[%.17e, 0, 0]", gap + bench_length);
    snprintf(text[3], TEXT, "time.end=%.17e", 1e6 * h);
    if (is_explicit) {
        snprintf(text[4], TEXT, "time.step=auto");
        snprintf(text[5], TEXT, "scheme={type: %s}", name);
    } else {
        snprintf(text[4], TEXT, "time.step=%.17e", h);
        snprintf(text[5], TEXT, "scheme={type: %s, rho_inf: %g}", name, bench_rho_inf);
    }
    snprintf(text[6], TEXT, "solver={threads: %d}", e->threads > 0 ? e->threads : 1);
    const char *set[NSET];
    for (int k = 0; k < NSET; ++k) set[k] = text[k];
    if (pcs_context_create(&e->ctx) != PCS_OK || pcs_build_sim_from(e->ctx, e->path, NSET, set, &e->sim) != PCS_OK ||
        pcs_sim_start(e->sim) != PCS_OK) {
        steps_fail(e, "set-up");
    }
}

static void steps_certified(void *self, int steps)
{
    engine *e = self;
    for (int k = 0; k < steps; ++k) {
        if (pcs_sim_step(e->sim) != PCS_OK) steps_fail(e, "certified step");
    }
}

static void steps_pure(void *self, int steps)
{
    engine *e = self;
    pcs_sim *sim = e->sim;
    for (int k = 0; k < steps; ++k) {
        pcs_status status = sim->scheme->ops->step(sim->scheme, &sim->state, sim->step_size, &sim->report);
        if (status != PCS_OK || sim->report.outcome != PCS_CONVERGED) steps_fail(e, "step");
    }
}

// The certified run is not set back: it goes on while the contact is closed and then begins anew.
static void steps_renew(void *self)
{
    engine *e = self;
    double contact = 2.0 * bench_length / sqrt(bench_young / bench_density);
    if (e->sim != NULL && (double)(e->sim->state.step + e->steps) * e->sim->step_size < 0.9 * contact) return;
    pcs_context_destroy(&e->ctx);
    steps_start(e);
    steps_certified(e, WARM_UP);
}

// The vectors of a state; a scheme may exchange the pointers from step to step.
static int steps_vectors(const pcs_state *x, double *vector[NVECTOR])
{
    vector[0] = x->q;
    vector[1] = x->v;
    for (int k = 0; k < x->nhistory; ++k) vector[2 + k] = x->history[k];
    return 2 + x->nhistory;
}

static void steps_save(engine *e)
{
    double *vector[NVECTOR];
    snapshot *s = &e->start;
    s->n = e->sim->system->nv;
    s->count = steps_vectors(&e->sim->state, vector);
    s->t = e->sim->state.t;
    s->step = e->sim->state.step;
    for (int k = 0; k < s->count; ++k) {
        s->saved[k] = bench_vector(s->n);
        memcpy(s->saved[k], vector[k], (size_t)s->n * sizeof(double));
    }
}

static void steps_restore(void *self)
{
    engine *e = self;
    double *vector[NVECTOR];
    steps_vectors(&e->sim->state, vector);
    for (int k = 0; k < e->start.count; ++k) memcpy(vector[k], e->start.saved[k], (size_t)e->start.n * sizeof(double));
    e->sim->state.t = e->start.t;
    e->sim->state.step = e->start.step;
}

static void steps_destroy(engine *e)
{
    for (int k = 0; k < e->start.count; ++k) free(e->start.saved[k]);
    pcs_context_destroy(&e->ctx);
}

static double steps_time(void (*run)(void *, int), void *self, int steps)
{
    double start = bench_seconds();
    run(self, steps);
    return (bench_seconds() - start) / steps;
}

// Seconds of a step of each contestant, the best repetition.
static void steps_measure(const char *path, int scheme, const size_row *size, double best[NCONTESTANT])
{
    engine pure = { .path = path, .scheme = scheme, .elements = size->elements, .steps = size->steps };
    engine certified = pure;
    steps_renew(&pure);
    bench_form form = bench_form_of(scheme, pure.sim->step_size);
    bench_yard yard = bench_yard_create(&form, size->elements + 1);
    struct {
        void (*run)(void *, int);
        void (*prepare)(void *);
        void *self;
    } contestant[NCONTESTANT] = {
        [PURE] = { steps_pure, steps_restore, &pure },
        [CERTIFIED] = { steps_certified, steps_renew, &certified },
        [MEMORY] = { bench_yard_memory, bench_yard_reset, &yard },
        [CHAIN] = { bench_yard_chain, bench_yard_reset, &yard },
    };
    steps_save(&pure);
    for (int k = 0; k < NCONTESTANT; ++k) best[k] = INFINITY;
    for (int round = 0; round < size->rounds; ++round) {
        for (int k = 0; k < NCONTESTANT; ++k) {
            contestant[k].prepare(contestant[k].self);
            best[k] = fmin(best[k], steps_time(contestant[k].run, contestant[k].self, size->steps));
        }
    }
    bench_yard_destroy(&yard);
    steps_destroy(&certified);
    steps_destroy(&pure);
}

// Microseconds with four digits, however large.
static void steps_print_time(int width, double seconds)
{
    double us = 1e6 * seconds;
    printf(" %*.*f", width, us < 1.0 ? 4 : us < 10.0 ? 3 : us < 100.0 ? 2 : us < 1000.0 ? 1 : 0, us);
}

static void steps_print(int elements, const double t[NCONTESTANT])
{
    printf("%9d %10.0f", elements, 1.0 / t[PURE]);
    for (int k = PURE; k <= CERTIFIED; ++k) steps_print_time(10, t[k]);
    printf("  ");
    for (int k = MEMORY; k < NCONTESTANT; ++k) steps_print_time(8, t[k]);
    printf("   ");
    for (int k = MEMORY; k < NCONTESTANT; ++k) printf(" %7.2f", t[PURE] / t[k]);
    printf(" %9.2f\n", t[CERTIFIED] / t[CHAIN]);
    fflush(stdout);
}

static const char *steps_verdict(bool is_met)
{
    return is_met ? "goal met" : "goal missed";
}

typedef struct goal {
    const char *where, *yardstick;
    double measured, limit;
} goal;

// Adds a line to the verdict.
static void steps_add_goal(size_t size, char *goals, int scheme, goal g)
{
    size_t used = strlen(goals);
    snprintf(goals + used, size - used, "  %-14s %s: %.2f x (%s); limit %.1f: %s\n", bench_scheme_names[scheme],
             g.where, g.measured, g.yardstick, g.limit, steps_verdict(g.measured <= g.limit));
}

// One table for a scheme; `goals` gets the lines of the verdict.
static void steps_table(const char *path, int scheme, int largest, size_t size, char *goals)
{
    const char *solves =
        scheme == BENCH_HALF_EXPLICIT ? "two chain solves + two passes" : "one chain solve + two passes";
    printf("\n%s\n%9s %10s %10s %10s   %-17s    %-15s %9s\n", bench_scheme_names[scheme], "", "", "us/step", "us/step",
           " yardsticks, us", " pure / yard", "certified");
    printf("%9s %10s %10s %10s  ", "elements", "steps/s", "pure", "certified");
    printf(" %8s %8s    %7s %7s %9s\n", "memory", "chain", "memory", "chain", "/ chain");
    for (int k = 0; k < NSIZE && sizes[k].elements <= largest; ++k) {
        double t[NCONTESTANT];
        steps_measure(path, scheme, &sizes[k], t);
        steps_print(sizes[k].elements, t);
        if (sizes[k].elements == 50)
            steps_add_goal(size, goals, scheme,
                           (goal){ "N=50, certified", solves, t[CERTIFIED] / t[CHAIN], small_goal });
        if (sizes[k].elements == 1000)
            steps_add_goal(size, goals, scheme, (goal){ "N=1000", solves, t[PURE] / t[CHAIN], chain_goal });
        if (sizes[k].elements == 1000000)
            steps_add_goal(size, goals, scheme,
                           (goal){ "N=1000000", "memory", t[PURE] / t[MEMORY], stream_goal[scheme] });
    }
}

// One thread against two, seconds on the wall; the states must be the same to the last bit.
static void steps_threads(const char *path, int scheme, const size_row *size)
{
    engine one = { .path = path, .scheme = scheme, .elements = size->elements, .steps = size->steps, .threads = 1 };
    engine two = one, *engines[] = { &one, &two };
    double best[2] = { INFINITY, INFINITY };
    two.threads = 2;
    for (int k = 0; k < 2; ++k) steps_renew(engines[k]);
    for (int k = 0; k < 2; ++k) steps_save(engines[k]);
    for (int round = 0; round < size->rounds; ++round)
        for (int k = 0; k < 2; ++k) {
            steps_restore(engines[k]);
            double start = bench_wall();
            steps_pure(engines[k], size->steps);
            best[k] = fmin(best[k], (bench_wall() - start) / size->steps);
        }
    if (pcs_state_hash(&one.sim->state) != pcs_state_hash(&two.sim->state))
        steps_fail(&two, "threads change the result");
    printf("  %-14s N=%d: %.0f us with one, %.0f us with two: %.2f x faster; aim %.1f: %s\n",
           bench_scheme_names[scheme], size->elements, 1e6 * best[0], 1e6 * best[1], best[0] / best[1], thread_goal,
           steps_verdict(best[0] / best[1] >= thread_goal));
    for (int k = 0; k < 2; ++k) steps_destroy(engines[k]);
}

// Memory of one simulation, measured in a process of its own so that nothing else is counted.
static void steps_memory(const char *path, int scheme, int elements)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    if (child > 0) {
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) exit(1);
        return;
    }
    double before = bench_status_bytes("VmRSS:");
    engine e = { .path = path, .scheme = scheme, .elements = elements };
    steps_start(&e);
    steps_certified(&e, 2);
    double now = bench_status_bytes("VmRSS:") - before, most = bench_status_bytes("VmHWM:") - before;
    const char *verdict = elements < 100000 ? "too small to tell" : steps_verdict(now / elements < memory_goal);
    printf("  %-14s N=%d: resident %.0f B, taken at set-up %.0f B, most while building %.0f B; limit %.0f B: %s\n",
           bench_scheme_names[scheme], elements, now / elements, (double)pcs_bytes_taken(e.ctx) / elements,
           most / elements, memory_goal, verdict);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "cases/bar_impact";
    int largest = argc > 2 ? atoi(argv[2]) : sizes[NSIZE - 1].elements;
    char goals[32 * TEXT] = "";
    printf("Memory per element\n");
    for (int scheme = 0; scheme < BENCH_NSCHEME; ++scheme) steps_memory(path, scheme, largest);
    printf("\nTime loop of a bar with one closed contact, best of many repetitions\n"
           "  memory: least traffic of a step, streamed; chain: two-chain solve and two passes over the state\n");
    for (int scheme = 0; scheme < BENCH_NSCHEME; ++scheme) steps_table(path, scheme, largest, sizeof goals, goals);
    printf("\nThreads, seconds on the wall of the pure loop\n");
    for (int k = 0; k < NSIZE && sizes[k].elements <= largest; ++k)
        for (int scheme = 0; scheme < BENCH_NSCHEME && sizes[k].elements >= 200000; ++scheme)
            steps_threads(path, scheme, &sizes[k]);
    printf("\nGoals\n%s", goals);
    return 0;
}
