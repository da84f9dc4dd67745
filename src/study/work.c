// Worker processes. Each takes the next run that waits, until there is none; the parent watches, and replaces a worker
// that dies. They share the list of runs and the number of the next one.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "study/work.h"
#include "core/clock.h"
#include "core/pool.h"
#include "output/file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, MOST_JOBS = 4096 };

typedef struct shared {
    atomic_int next;  // run
    atomic_bool stop; // no further run
    pcs_run runs[];   // [nrun]
} shared;

typedef struct team {
    const pcs_plan *plan;
    const pcs_study_options *options;
    shared *all;
    size_t bytes;
    int nrun, njob, nworker; // workers that live
    double begin, shown;     // s, clock
} team;

static void work_release(void *object)
{
    team *t = object;
    munmap(t->all, t->bytes);
}

static void work_do(team *t)
{
    for (int r; !atomic_load(&t->all->stop) && (r = atomic_fetch_add(&t->all->next, 1)) < t->nrun;) {
        t->all->runs[r].process = (int)getpid();
        t->all->runs[r].end = PCS_RUN_GOES_ON;
        pcs_run_make(t->plan, t->options->directory, r, &t->all->runs[r]);
    }
}

static bool work_hire(team *t)
{
    pid_t process = fork();
    if (process < 0) return false;
    if (process == 0) {
        work_do(t);
        _exit(0);
    }
    t->nworker++;
    return true;
}

// A run whose worker has died.
static void work_bury(team *t, int process, int status)
{
    for (int r = 0; r < t->nrun; r++) {
        pcs_run *run = &t->all->runs[r];
        if (run->end != PCS_RUN_GOES_ON || run->process != process) continue;
        run->end = PCS_RUN_BROKE;
        snprintf(run->reason, sizeof run->reason, "the process ended by %s %d", WIFSIGNALED(status) ? "signal" : "code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

static void work_show(team *t, bool is_last)
{
    char text[160];
    double now = pcs_clock();
    int done = 0;
    if (!t->options->is_terminal || (!is_last && now - t->shown < 0.2)) return;
    t->shown = now;
    for (int r = 0; r < t->nrun; r++) done += t->all->runs[r].end > PCS_RUN_GOES_ON;
    double spent = now - t->begin, left = done > 0 ? spent / done * (t->nrun - done) : 0.0;
    snprintf(text, sizeof text, "\r%d of %d runs, %.0f s, about %.0f s left        %s", done, t->nrun, spent, left,
             is_last ? "\n" : "");
    t->options->show(t->options->show_user, text);
}

// Waits for the end of all workers.
static void work_watch(team *t)
{
    while (t->nworker > 0) {
        int status = 0;
        if (t->options->stop_request != NULL && *t->options->stop_request != 0) atomic_store(&t->all->stop, true);
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
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    }
    work_show(t, true);
}

pcs_status pcs_study_work(const pcs_plan *plan, const pcs_study_options *options, pcs_run **out)
{
    team *t;
    char folder[PATH_ROOM];
    PCS_TAKE(plan->ctx, t, 1, "a study");
    *t = (team){ .plan = plan, .options = options, .nrun = plan->npoint * plan->nlevel, .begin = pcs_clock() };
    t->njob = plan->jobs > 0 ? plan->jobs : pcs_pool_processors();
    if (t->njob > t->nrun) t->njob = t->nrun;
    snprintf(folder, sizeof folder, "%s/runs", options->directory);
    PCS_TRY(pcs_file_make_folder(plan->ctx, folder));
    t->bytes = sizeof *t->all + (size_t)t->nrun * sizeof *t->all->runs;
    t->all = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->all == MAP_FAILED) return pcs_fail(plan->ctx, PCS_NO_MEMORY, "out of memory: a study of %d runs", t->nrun);
    PCS_TRY(pcs_defer(plan->ctx, work_release, t));
    for (int i = 0; i < t->njob; i++)
        if (!work_hire(t)) break;
    if (t->nworker == 0) return pcs_fail(plan->ctx, PCS_FAILED, "no process for a run: %s", strerror(errno));
    work_watch(t);
    *out = t->all->runs;
    return PCS_OK;
}
