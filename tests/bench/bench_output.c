// What frames and history cost beside the steps: processor time of the thread that steps, and of all, over the same
// bytes written plainly (frames) or the same numbers printed by the C library (history).
//
//   bench_output [ELEMENTS]     default: 200, as cases/bar_impact is run, and 100000 with 100 steps
//
// All take turns and the best time of each counts. Files go to memory, /dev/shm, or to TMPDIR.

#define _XOPEN_SOURCE 700 // nftw, mkdtemp

#include "bench_clock.h"
#include "build/build.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTHING, HISTORY, FRAMES, NKIND, PIECE = 1 << 16, ROOM = 4096 };

typedef struct cost {
    double own, all; // s of processor time: of this thread, of the process
} cost;

static char place[ROOM];

static void output_stop(const char *what)
{
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static cost output_now(void)
{
    struct timespec own, all;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    return (cost){ (double)own.tv_sec + 1e-9 * (double)own.tv_nsec, (double)all.tv_sec + 1e-9 * (double)all.tv_nsec };
}

static void output_keep_least(cost *best, const cost *begin)
{
    cost now = output_now();
    best->own = fmin(best->own, now.own - begin->own);
    best->all = fmin(best->all, now.all - begin->all);
}

static int output_remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind, (void)at;
    return remove(path);
}

static void output_run(int elements, int kind, cost *best)
{
    static const char *const kinds[NKIND][2] = { { "output.frames=false", "output.history=false" },
                                                 { "output.frames=false", "output.history={every: 1}" },
                                                 { "output.frames={every: 10}", "output.history=false" } };
    char mesh[128], folder[ROOM + 16];
    snprintf(mesh, sizeof mesh, "mesh.bar={type: line, from: [0.005, 0, 0], to: [10.005, 0, 0], elements: %d}",
             elements);
    const char *time = elements > 1000 ? "time={step: 4.0e-6, end: 4.0e-4}" : "time={step: 2.0e-3, end: 1.5}";
    const char *set[] = { mesh, time, kinds[kind][0], kinds[kind][1], "output.checkpoint=false", "output.view=false" };
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    if (pcs_context_create(&ctx) != PCS_OK || pcs_build_sim_from(ctx, "cases/bar_impact", 6, set, &sim) != PCS_OK)
        output_stop(ctx == NULL ? "no memory" : pcs_message(ctx));
    snprintf(folder, sizeof folder, "%s/%d", place, kind);
    cost begin = output_now();
    if (pcs_sim_run(sim, folder, false) != PCS_OK) output_stop(pcs_message(ctx));
    output_keep_least(best, &begin);
    pcs_context_destroy(&ctx);
}

// The frames of the last run again, each in one file that gets its name when it is whole.
static long output_copy_frames(long long *bytes, cost *best)
{
    static char piece[PIECE];
    char path[ROOM + 64], part[ROOM + 80];
    struct stat about;
    snprintf(path, sizeof path, "%s/%d/bar_impact_000000.vtk", place, FRAMES);
    if (stat(path, &about) != 0) output_stop("there is no frame");
    long count = 0;
    cost begin = output_now();
    for (;; count++) {
        snprintf(path, sizeof path, "%s/%d/bar_impact_%06ld.vtk", place, FRAMES, count);
        if (access(path, F_OK) != 0) break;
        snprintf(path, sizeof path, "%s/plain_%06ld.vtk", place, count);
        snprintf(part, sizeof part, "%s.part", path);
        int file = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        for (long long left = about.st_size; left > 0; left -= PIECE)
            if (write(file, piece, left < PIECE ? (size_t)left : PIECE) < 0) output_stop("cannot write");
        if (close(file) != 0 || rename(part, path) != 0) output_stop("cannot write");
    }
    output_keep_least(best, &begin);
    *bytes = about.st_size;
    return count;
}

// As many numbers as the history of the last run has.
static long output_print_history(cost *best)
{
    char path[ROOM + 64], text[64];
    snprintf(path, sizeof path, "%s/%d/history.csv", place, HISTORY);
    FILE *file = fopen(path, "r");
    long count = 0, length = 0;
    for (int c; file != NULL && (c = fgetc(file)) != EOF;) count += c == ',' || c == '\n';
    if (file != NULL) fclose(file);
    cost begin = output_now();
    for (long i = 0; i < count; i++) length += snprintf(text, sizeof text, "%.17g", sqrt(2.0 + (double)i));
    output_keep_least(best, &begin);
    if (length == 0) output_stop("there is no history");
    return count;
}

static void output_measure(int elements)
{
    const cost none = { INFINITY, INFINITY };
    cost runs[NKIND] = { none, none, none }, plain = none, printed = none;
    long nframe = 0, nnumber = 0;
    long long bytes = 0;
    for (int round = 0; round < (elements > 1000 ? 5 : 20); round++) {
        for (int kind = 0; kind < NKIND; kind++) output_run(elements, kind, &runs[kind]);
        nframe = output_copy_frames(&bytes, &plain);
        nnumber = output_print_history(&printed);
    }
    const cost *steps = &runs[NOTHING];
    printf("%d elements: the run without output %.2f ms of processor time\n", elements, 1e3 * steps->all);
    printf(
        "  %ld frames of %.2f MB: %.2f ms in the thread that steps, %.2f in all; over plain files of that size: %.2f, "
        "%.2f\n",
        nframe, 1e-6 * (double)bytes, 1e3 * (runs[FRAMES].own - steps->own), 1e3 * (runs[FRAMES].all - steps->all),
        (runs[FRAMES].own - steps->own) / plain.all, (runs[FRAMES].all - steps->all) / plain.all);
    if (elements > 1000) return; // so few numbers are lost in the noise
    printf("  history, %ld numbers: %.2f ms; over snprintf alone: %.2f\n", nnumber,
           1e3 * (runs[HISTORY].all - steps->all), (runs[HISTORY].all - steps->all) / printed.all);
}

int main(int count, char **words)
{
    const char *given = getenv("TMPDIR"), *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
    snprintf(place, sizeof place, "%s/bench_output_XXXXXX", given != NULL ? given : memory);
    if (mkdtemp(place) == NULL) output_stop("no folder for results");
    if (count > 1) output_measure((int)strtol(words[1], NULL, 10));
    if (count == 1) output_measure(200);
    if (count == 1) output_measure(100000);
    nftw(place, output_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
