#define _GNU_SOURCE

#include "support/campaign.h"
#include "build/build.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAMPAIGN_CHILDREN = 64, CAMPAIGN_SETS = 64, CAMPAIGN_NAME = 256 };

// What a run's process sends back.
typedef struct campaign_result {
    bool is_done; // came to its end
    long steps, impacts, iterations, impact_iterations, worst, cuts, handovers;
    double t, seconds;           // s, reached, and of the processor
    double energy, scale;        // J, at the end of a step, and the largest kinetic energy so far
    double rise;                 // of energy in one step beyond external work over `scale` before it, largest
    char message[CAMPAIGN_TEXT]; // why it stopped, or what is wrong
} campaign_result;

typedef struct campaign_sum {
    long runs, stopped, wrong, steps, impacts, iterations, impact_iterations, worst, cuts, handovers;
    double rise, seconds;
} campaign_sum;

typedef struct campaign_entry {
    char name[CAMPAIGN_NAME], message[CAMPAIGN_TEXT];
    double t;
    bool is_wrong;
} campaign_entry;

typedef struct campaign_child {
    pid_t pid;
    int end; // where it is read
    long index;
} campaign_child;

typedef struct campaign_state {
    const campaign_group *group;
    const campaign_choice *choice;
    long nentry, room;
    campaign_entry *entries; // of all groups
    campaign_sum sums[CAMPAIGN_CHILDREN], total;
    int nchild;
    campaign_child children[CAMPAIGN_CHILDREN];
} campaign_state;

// Counters of steps that were cut and of solvers that handed a step on: none are kept yet.
static long campaign_cuts(const pcs_sim *sim)
{
    return sim->view.cut_steps;
}

static long campaign_handovers(const pcs_sim *sim)
{
    return sim->view.handovers;
}

static int campaign_count(const campaign_axis *axis)
{
    int count = 0;
    while (axis->values[count].label != NULL) count++;
    return count;
}

static long campaign_size(const campaign_group *group)
{
    long size = 1;
    for (int a = 0; group->axes[a] != NULL; a++) size *= campaign_count(group->axes[a]);
    return size;
}

// The value of axis `a` in run `index`; the last axis changes fastest.
static const campaign_value *campaign_pick(const campaign_group *group, long index, int a)
{
    int last = 0;
    while (group->axes[last] != NULL) last++;
    for (int b = last - 1; b > a; b--) index /= campaign_count(group->axes[b]);
    return &group->axes[a]->values[index % campaign_count(group->axes[a])];
}

static void campaign_name(const campaign_group *group, long index, char name[CAMPAIGN_NAME])
{
    size_t used = (size_t)snprintf(name, CAMPAIGN_NAME, "%s:", group->name);
    for (int a = 0; group->axes[a] != NULL && used < CAMPAIGN_NAME; a++) {
        const char *label = campaign_pick(group, index, a)->label;
        if (label[0] != '\0') used += (size_t)snprintf(name + used, CAMPAIGN_NAME - used, " %s", label);
    }
}

static bool campaign_is_chosen(const campaign_group *group, const campaign_choice *choice, long index)
{
    if (choice->label == NULL) return true;
    for (int a = 0; group->axes[a] != NULL; a++)
        if (strcmp(campaign_pick(group, index, a)->label, choice->label) == 0) return true;
    return false;
}

// Assignments of a run, cut at ';' in place; one thread for each process.
static int campaign_sets(const campaign_group *group, long index, size_t room, char *text, const char **set)
{
    int count = 0;
    size_t used = 0;
    set[count++] = "solver.threads=1";
    for (int a = 0; group->axes[a] != NULL; a++) {
        const char *given = campaign_pick(group, index, a)->assignments;
        if (used + strlen(given) + 1 > room) return -1;
        strcpy(text + used, given);
        for (char *part = strtok(text + used, ";"); part != NULL; part = strtok(NULL, ";")) {
            if (count == CAMPAIGN_SETS) return -1;
            set[count++] = part;
        }
        used += strlen(given) + 1;
    }
    return count;
}

static bool campaign_has_impact(const pcs_sim *sim)
{
    for (int j = 0; j < pcs_system_npoint(sim->system); j++)
        if (sim->report.rows[j].is_impact) return true;
    return false;
}

static double campaign_energy(const pcs_sim *sim)
{
    const pcs_measure *now = &sim->ledger.now;
    return now->kinetic + now->strain + now->potential;
}

// Kinetic energy, or what is still small beside all energy where nothing moves.
static double campaign_scale(const pcs_sim *sim)
{
    const pcs_measure *now = &sim->ledger.now;
    return fmax(now->kinetic, 1e-6 * (now->strain + fabs(now->potential)));
}

static void campaign_note(const pcs_sim *sim, campaign_result *r)
{
    const double beginning = 0.05; // share of a run in which there may be too little motion to compare with
    double rise = campaign_energy(sim) - r->energy - sim->report.external_work;
    int iterations = sim->report.iterations;
    double scale = fmax(r->scale, campaign_scale(sim));
    // What stuck so far had a kinetic energy of round-off; the work of loads sets it in motion.
    bool begins = r->scale < 1e-12 * scale && rise <= fabs(sim->report.external_work);
    if (begins) r->rise = 0.0;
    else if (r->t > beginning * sim->end_time && r->scale > 0.0) r->rise = fmax(r->rise, rise / r->scale);
    r->t = sim->state.t;
    r->energy = campaign_energy(sim);
    r->scale = scale;
    r->steps++;
    r->iterations += iterations;
    r->worst = iterations > r->worst ? iterations : r->worst;
    if (!campaign_has_impact(sim)) return;
    r->impacts++;
    r->impact_iterations += iterations;
}

// The processor's time is up: the run ends after the present step, or is killed when that takes as long again.
static volatile sig_atomic_t campaign_is_late;

static void campaign_be_late(int signal)
{
    (void)signal;
    campaign_is_late = 1;
}

static void campaign_limit(int seconds)
{
    rlim_t soft = (rlim_t)seconds;
    sigaction(SIGXCPU, &(struct sigaction){ .sa_handler = campaign_be_late }, NULL);
    setrlimit(RLIMIT_CPU, &(struct rlimit){ soft, 2 * soft });
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
}

static pcs_status campaign_go(const campaign_group *group, pcs_sim *sim, campaign_notes *notes, campaign_result *r)
{
    PCS_TRY(pcs_sim_start(sim));
    r->energy = campaign_energy(sim);
    r->scale = campaign_scale(sim);
    if (group->judge != NULL) group->judge(sim, false, notes);
    while (!pcs_sim_is_done(sim)) {
        PCS_TRY(pcs_sim_step(sim));
        campaign_note(sim, r);
        if (campaign_is_late) return pcs_fail(sim->ctx, PCS_FAILED, "took too long");
        if (group->judge != NULL) group->judge(sim, pcs_sim_is_done(sim), notes);
    }
    r->is_done = true;
    if (r->rise > 1.0)
        snprintf(notes->fault, sizeof notes->fault, "energy rose in one step by %.3g of the kinetic energy", r->rise);
    return PCS_OK;
}

static double campaign_processor(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec;
}

// One run, in its own process.
static void campaign_one(const campaign_group *group, long index, campaign_result *r)
{
    char text[4096];
    const char *set[CAMPAIGN_SETS];
    int nset = campaign_sets(group, index, sizeof text, text, set);
    campaign_notes notes = { 0 };
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    if (nset < 0 || pcs_context_create(&ctx) != PCS_OK) return;
    pcs_status status = pcs_build_sim_from(ctx, group->path, nset, set, &sim);
    if (status == PCS_OK) status = campaign_go(group, sim, &notes, r);
    snprintf(r->message, sizeof r->message, "%s", status == PCS_OK ? notes.fault : pcs_message(ctx));
    if (sim != NULL) {
        r->cuts = campaign_cuts(sim);
        r->handovers = campaign_handovers(sim);
    }
    r->seconds = campaign_processor();
    pcs_context_destroy(&ctx);
}

static bool campaign_start(campaign_state *s, long index)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        campaign_result r = { 0 };
        campaign_limit(s->choice->seconds);
        campaign_one(s->group, index, &r);
        _exit(write(ends[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    close(ends[1]);
    if (pid < 0) close(ends[0]);
    else s->children[s->nchild++] = (campaign_child){ pid, ends[0], index };
    return pid > 0;
}

static void campaign_add(campaign_sum *sum, const campaign_result *r)
{
    sum->runs++;
    sum->stopped += !r->is_done;
    sum->wrong += r->is_done && r->message[0] != '\0';
    sum->steps += r->steps;
    sum->impacts += r->impacts;
    sum->iterations += r->iterations;
    sum->impact_iterations += r->impact_iterations;
    sum->worst = r->worst > sum->worst ? r->worst : sum->worst;
    sum->cuts += r->cuts;
    sum->handovers += r->handovers;
    sum->rise = fmax(sum->rise, r->rise);
    sum->seconds += r->seconds;
}

// The axis that makes the rows, -1: the whole group is one.
static int campaign_row_axis(const campaign_state *s)
{
    for (int a = 0; s->choice->by != NULL && s->group->axes[a] != NULL; a++)
        if (strcmp(s->group->axes[a]->name, s->choice->by) == 0) return a;
    return -1;
}

static void campaign_enter(campaign_state *s, long index, const campaign_result *r)
{
    if (s->nentry == s->room) {
        s->room = 2 * s->room + 64;
        s->entries = realloc(s->entries, (size_t)s->room * sizeof *s->entries);
        if (s->entries == NULL) abort();
    }
    campaign_entry *entry = &s->entries[s->nentry++];
    *entry = (campaign_entry){ .t = r->t, .is_wrong = r->is_done };
    campaign_name(s->group, index, entry->name);
    memcpy(entry->message, r->message, sizeof entry->message);
}

static double campaign_ratio(long a, long b)
{
    return b > 0 ? (double)a / (double)b : 0.0;
}

static void campaign_tell(const campaign_state *s, long index, const campaign_result *r)
{
    char name[CAMPAIGN_NAME];
    campaign_name(s->group, index, name);
    printf(
        "  %-70s %s t %-8.4g E %-14.10g steps %-6ld it %.2f worst %-3ld impacts %-5ld it %-5.2f rise %.1e %.1f s %s\n",
        name,
        !r->is_done             ? "stopped"
        : r->message[0] != '\0' ? "wrong  "
                                : "done   ",
        r->t, r->energy, r->steps, campaign_ratio(r->iterations, r->steps), r->worst, r->impacts,
        campaign_ratio(r->impact_iterations, r->impacts), r->rise, r->seconds, r->message);
    fflush(stdout);
}

// Takes in the next process that ends.
static void campaign_collect(campaign_state *s)
{
    int status, c = 0;
    pid_t pid = wait(&status);
    while (c < s->nchild && s->children[c].pid != pid) c++;
    if (c == s->nchild) return;
    campaign_child child = s->children[c];
    campaign_result r = { 0 };
    s->children[c] = s->children[--s->nchild];
    if (read(child.end, &r, sizeof r) != (ssize_t)sizeof r) {
        r = (campaign_result){ 0 };
        bool is_slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (is_slow) snprintf(r.message, sizeof r.message, "took too long, within one step");
        else snprintf(r.message, sizeof r.message, "crashed (wait status %d)", status);
    }
    close(child.end);
    int axis = campaign_row_axis(s);
    long row = axis < 0 ? 0 : campaign_pick(s->group, child.index, axis) - s->group->axes[axis]->values;
    campaign_add(&s->sums[row], &r);
    campaign_add(&s->total, &r);
    if (s->choice->is_told) campaign_tell(s, child.index, &r);
    if (!r.is_done || r.message[0] != '\0') campaign_enter(s, child.index, &r);
}

static void campaign_print(const char *name, const char *value, const campaign_sum *sum)
{
    printf("%-22s %-14s %5ld %8ld %6ld %9ld %8ld %6ld %9ld %7.2f %7.2f %7.2f %6ld %8.1e %8.1f\n", name, value,
           sum->runs, sum->stopped, sum->wrong, sum->steps, sum->impacts, sum->cuts, sum->handovers,
           campaign_ratio(sum->iterations, sum->steps),
           campaign_ratio(sum->iterations - sum->impact_iterations, sum->steps - sum->impacts),
           campaign_ratio(sum->impact_iterations, sum->impacts), sum->worst, sum->rise, sum->seconds);
    fflush(stdout);
}

static bool campaign_share_a_factor(long a, long b)
{
    while (b != 0) {
        long rest = a % b;
        a = b;
        b = rest;
    }
    return a > 1;
}

// Distance of the runs that are taken; without a factor in common with all of them, so that every value has its turn.
static long campaign_stride(long size, long most)
{
    long stride = most > 0 && size > most ? (size + most - 1) / most : 1;
    while (stride > 1 && campaign_share_a_factor(stride, size)) stride++;
    return stride;
}

static void campaign_group_run(campaign_state *s)
{
    const campaign_group *group = s->group;
    long size = campaign_size(group), stride = campaign_stride(size, s->choice->most);
    long ncore = sysconf(_SC_NPROCESSORS_ONLN);
    if (ncore < 1) ncore = 1;
    if (ncore > CAMPAIGN_CHILDREN) ncore = CAMPAIGN_CHILDREN;
    memset(s->sums, 0, sizeof s->sums);
    if (group->command != NULL && system(group->command) != 0) fprintf(stderr, "error: %s\n", group->command);
    for (long index = 0; index < size; index += stride) {
        if (!campaign_is_chosen(group, s->choice, index)) continue;
        if (s->nchild == ncore) campaign_collect(s);
        if (!campaign_start(s, index)) abort();
    }
    while (s->nchild > 0) campaign_collect(s);
    int axis = campaign_row_axis(s), count = axis < 0 ? 1 : campaign_count(group->axes[axis]);
    for (int i = 0; i < count; i++)
        if (s->sums[i].runs > 0)
            campaign_print(group->name, axis < 0 ? "" : group->axes[axis]->values[i].label, &s->sums[i]);
}

long campaign_run(int nlist, const campaign_list *lists, const campaign_choice *choice)
{
    campaign_state s = { .choice = choice };
    printf("%-22s %-14s %5s %8s %6s %9s %8s %6s %9s %7s %7s %7s %6s %8s %8s\n", "group",
           choice->by == NULL ? "" : choice->by, "runs", "stopped", "wrong", "steps", "impacts", "cuts", "handovers",
           "it/step", "free", "impact", "worst", "rise", "s");
    for (int l = 0; l < nlist; l++)
        for (int g = 0; g < lists[l].count; g++) {
            s.group = &lists[l].groups[g];
            if (choice->only == NULL || strstr(s.group->name, choice->only) != NULL) campaign_group_run(&s);
        }
    campaign_print("all", "", &s.total);
    for (long i = 0; i < s.nentry; i++)
        printf("%s%s at %.6g s: %s\n", s.entries[i].name, s.entries[i].is_wrong ? " WRONG" : "", s.entries[i].t,
               s.entries[i].message);
    free(s.entries);
    return s.total.stopped + s.total.wrong;
}
