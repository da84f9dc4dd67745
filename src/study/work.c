// Worker processes. Each takes the next run that waits, until there is none; the parent watches, and replaces a worker
// that dies. They share the list of runs and the number of the next one. When all runs are over others read what was
// measured.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "study/work.h"
#include "core/clock.h"
#include "core/pool.h"
#include "output/file.h"
#include "study/measure.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, FAULT_BYTES = 1024, BAR_WIDTH = 24 };

typedef struct shared {
    atomic_int next, done;   // run to begin, and how many are over
    atomic_int kept;         // of these, how many were there
    atomic_bool stop;        // no further run
    atomic_int nfault;       // measures that cannot be read
    char fault[FAULT_BYTES]; // the first of these
    atomic_size_t told;      // bytes of reasons
} shared;

typedef struct team {
    const pcs_plan *plan;
    const pcs_study_options *options;
    shared *all;
    pcs_run *runs;           // [nrun] shared
    char *reasons;           // [nrun * PCS_RUN_REASON] shared, taken from the front; NULL: nobody tells any more
    pcs_measured *values;    // [nrun * nmeasure] shared, while runs are measured, else NULL
    int nrun, njob, nworker; // workers that live
    double begin, shown;     // s, clock
} team;

// Memory that worker processes share, all zero.
typedef struct common {
    void *memory;
    size_t bytes;
} common;

static void work_release(void *object)
{
    const common *c = object;
    munmap(c->memory, c->bytes);
}

static pcs_status work_share(pcs_context *ctx, size_t bytes, void *out)
{
    common *c;
    PCS_TAKE(ctx, c, 1, "a study");
    c->bytes = bytes;
    c->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->memory == MAP_FAILED) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %zu bytes for a study", bytes);
    memcpy(out, &c->memory, sizeof c->memory);
    return pcs_defer(ctx, work_release, c);
}

static bool work_is_done(const pcs_run *run)
{
    return run->end == PCS_RUN_DONE || run->end == PCS_RUN_KEPT;
}

// What is measured lives in a context of its own. A measure that cannot be read ends the study: so it is in all runs.
static void work_measure(team *t, int r, const pcs_run *others, pcs_measured *values)
{
    char folder[PATH_ROOM];
    pcs_context *ctx = NULL;
    pcs_status status = pcs_context_create(&ctx);
    snprintf(folder, sizeof folder, "%s/runs/%s", t->options->directory, t->runs[r].name);
    pcs_measure_source source = { .ctx = ctx,
                                  .folder = folder,
                                  .plan = t->plan,
                                  .directory = t->options->directory,
                                  .runs = others,
                                  .level = r % t->plan->nlevel };
    if (status == PCS_OK) status = pcs_measure_read(&source, values);
    bool is_first = status != PCS_OK && atomic_fetch_add(&t->all->nfault, 1) == 0;
    if (is_first) snprintf(t->all->fault, FAULT_BYTES, "%s", ctx == NULL ? "out of memory" : pcs_message(ctx));
    if (status != PCS_OK) atomic_store(&t->all->stop, true);
    pcs_context_destroy(&ctx);
}

static int work_next(team *t)
{
    bool is_over = atomic_load(&t->all->stop) || atomic_load(&t->all->next) >= t->nrun;
    return is_over ? t->nrun : atomic_fetch_add(&t->all->next, 1);
}

// Every run tells one reason at most: there is room for all, and none is taken by those that tell nothing.
static void work_tell(team *t, int r, const char *reason)
{
    size_t bytes = strlen(reason) + 1;
    if (bytes == 1) return;
    t->runs[r].reason = memcpy(t->reasons + atomic_fetch_add(&t->all->told, bytes), reason, bytes);
}

// The first run of each worker shows whether the measures are there before the others are made.
static void work_run(team *t)
{
    pcs_measured *trial = pcs_scratch(NULL, (size_t)t->plan->nmeasure + 1, sizeof *trial);
    bool is_tried = trial == NULL || t->plan->nmeasure == 0;
    for (int r; (r = work_next(t)) < t->nrun;) {
        t->runs[r].process = (int)getpid();
        t->runs[r].end = PCS_RUN_GOES_ON;
        char reason[PCS_RUN_REASON];
        pcs_run_make(t->plan, t->njob - 1, t->options->directory, r, &t->runs[r], reason);
        work_tell(t, r, reason);
        atomic_fetch_add(&t->all->kept, t->runs[r].end == PCS_RUN_KEPT);
        atomic_fetch_add(&t->all->done, 1);
        if (is_tried || !work_is_done(&t->runs[r])) continue;
        is_tried = true;
        work_measure(t, r, NULL, trial);
    }
    pcs_scratch_free(trial);
}

static void work_read(team *t)
{
    size_t nmeasure = (size_t)t->plan->nmeasure;
    for (int r; (r = work_next(t)) < t->nrun;)
        if (work_is_done(&t->runs[r])) work_measure(t, r, t->runs, t->values + (size_t)r * nmeasure);
}

// One run after another takes and gives back the same memory: it stays with the process, which else spends as much
// time on pages as on the model.
static void work_keep_memory(void)
{
#ifdef __GLIBC__
    enum { MOST_KEPT = 1 << 28 }; // bytes
    mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
    mallopt(M_MMAP_THRESHOLD, MOST_KEPT / 8);
#endif
}

static bool work_hire(team *t)
{
    pid_t process = fork();
    if (process < 0) return false;
    if (process == 0) {
        work_keep_memory();
        if (t->values != NULL) work_read(t);
        else work_run(t);
        _exit(0);
    }
    t->nworker++;
    return true;
}

static void work_tell_death(int status, size_t room, char *out)
{
    bool is_signal = WIFSIGNALED(status);
    snprintf(out, room, "the process ended by %s %d", is_signal ? "signal" : "code",
             is_signal ? WTERMSIG(status) : WEXITSTATUS(status));
}

// A worker has died: its run, which is one of the last that were begun, is over; what it measured is not known.
static void work_bury(team *t, int process, int status)
{
    int r = atomic_load(&t->all->next);
    if (t->values != NULL) {
        if (atomic_fetch_add(&t->all->nfault, 1) == 0) work_tell_death(status, FAULT_BYTES, t->all->fault);
        atomic_store(&t->all->stop, true);
        return;
    }
    if (r > t->nrun) r = t->nrun;
    while (--r >= 0 && (t->runs[r].end != PCS_RUN_GOES_ON || t->runs[r].process != process)) continue;
    if (r < 0) return;
    t->runs[r].end = PCS_RUN_BROKE;
    atomic_fetch_add(&t->all->done, 1);
    char reason[PCS_RUN_REASON];
    work_tell_death(status, sizeof reason, reason);
    work_tell(t, r, reason);
}

// "[=====>      ]  18 of 40 runs, 12 s, about 15 s left". Runs that were there took no time: they do not count for what
// is left.
static void work_show(team *t, bool is_last)
{
    char text[160], bar[BAR_WIDTH + 1], rest[48] = "";
    double now = pcs_clock(), spent = now - t->begin;
    int done = atomic_load(&t->all->done), made = done - atomic_load(&t->all->kept);
    if (t->values != NULL || !t->options->is_terminal || (!is_last && now - t->shown < 0.2)) return;
    t->shown = now;
    int full = (int)((double)BAR_WIDTH * done / t->nrun);
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < full ? '=' : ' ';
    if (full < BAR_WIDTH) bar[full] = '>';
    bar[BAR_WIDTH] = '\0';
    if (made > 0 && !is_last) snprintf(rest, sizeof rest, ", about %.0f s left", spent / made * (t->nrun - done));
    snprintf(text, sizeof text, "\r[%s]  %d of %d runs, %.0f s%-20s%s", bar, done, t->nrun, spent, rest,
             is_last ? "\n" : "");
    t->options->show(t->options->show_user, text);
}

// A part of the time that has passed: long studies are looked at less often.
static void work_pause(const team *t)
{
    double seconds = fmin(fmax(0.02 * (pcs_clock() - t->begin), 1e-3), 0.05);
    nanosleep(&(struct timespec){ .tv_nsec = (long)(1e9 * seconds) }, NULL);
}

// Waits for the end of all workers.
static void work_watch(team *t)
{
    while (t->nworker > 0) {
        int status = 0;
        bool is_asked = t->options->stop_request != NULL && *t->options->stop_request != 0;
        if (is_asked && t->values == NULL) atomic_store(&t->all->stop, true);
        pid_t process = waitpid(-1, &status, WNOHANG);
        if (process > 0) {
            t->nworker--;
            bool is_sound = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            if (is_sound) continue;
            work_bury(t, (int)process, status);
            if (atomic_load(&t->all->next) < t->nrun && !atomic_load(&t->all->stop)) (void)work_hire(t);
            continue;
        }
        if (process < 0 && errno == ECHILD) break;
        work_show(t, false);
        work_pause(t);
    }
    work_show(t, true);
}

// Lets workers go through all runs.
static pcs_status work_through(team *t)
{
    t->njob = t->plan->jobs > 0 ? t->plan->jobs : pcs_pool_processors();
    if (t->njob > t->nrun) t->njob = t->nrun;
    t->begin = pcs_clock();
    for (int i = 0; i < t->njob; i++)
        if (!work_hire(t)) break;
    if (t->nworker == 0) return pcs_fail(t->plan->ctx, PCS_FAILED, "no process for a run: %s", strerror(errno));
    work_watch(t);
    if (atomic_load(&t->all->nfault) == 0) return PCS_OK;
    return pcs_fail(t->plan->ctx, PCS_BAD_INPUT, "%s", t->all->fault);
}

pcs_status pcs_study_work(const pcs_plan *plan, const pcs_study_options *options, pcs_run **out)
{
    char folder[PATH_ROOM];
    team t = { .plan = plan, .options = options, .nrun = plan->npoint * plan->nlevel };
    snprintf(folder, sizeof folder, "%s/runs", options->directory);
    PCS_TRY(pcs_file_make_folder(plan->ctx, folder));
    PCS_TRY(work_share(plan->ctx, sizeof *t.all, &t.all));
    PCS_TRY(work_share(plan->ctx, (size_t)t.nrun * sizeof *t.runs, &t.runs));
    PCS_TRY(work_share(plan->ctx, (size_t)t.nrun * PCS_RUN_REASON, &t.reasons));
    for (int r = 0; r < t.nrun; r++) t.runs[r].reason = "";
    *out = t.runs;
    return work_through(&t);
}

pcs_status pcs_study_measure(const pcs_plan *plan, const pcs_study_options *options, pcs_run *runs, pcs_measured **out)
{
    team t = { .plan = plan, .options = options, .runs = runs, .nrun = plan->npoint * plan->nlevel };
    size_t count = (size_t)t.nrun * (size_t)plan->nmeasure;
    PCS_TRY(work_share(plan->ctx, sizeof *t.all, &t.all));
    PCS_TRY(work_share(plan->ctx, (count + 1) * sizeof *t.values, &t.values));
    for (size_t i = 0; i < count; i++) t.values[i] = (pcs_measured){ .value = NAN };
    *out = t.values;
    return work_through(&t);
}
