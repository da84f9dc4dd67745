// Commands, their results on the screen and the signals that end them.

#define _POSIX_C_SOURCE 200809L // sigaction, isatty

#include "cli/commands.h"
#include "analysis/modes.h"
#include "analysis/statics.h"
#include "build/build.h"
#include "core/comm.h"
#include "core/open.h"
#include "output/summary.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

// Set by a signal; the run ends after the present step.
static volatile sig_atomic_t stop_request = 0;

static void commands_stop(int signal_number)
{
    static const char told[] = "\nstopping after this step; again to end at once\n";
    stop_request = 1;
    if (signal_number == SIGINT || signal_number == SIGTERM) { // the next one of these two ends the program
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    if (isatty(STDERR_FILENO) && write(STDERR_FILENO, told, sizeof told - 1) < 0) return;
}

// Prints every line of the message as an error of its own, in one process, though all have it.
static void commands_print_errors(const pcs_context *ctx)
{
    const char *message = pcs_is_root(ctx) ? pcs_message(ctx) : "";
    while (*message != '\0') {
        size_t length = strcspn(message, "\n");
        fprintf(stderr, "%s%.*s\n", strncmp(message, "...", 3) == 0 ? "" : "error: ", (int)length, message);
        message += length + (message[length] == '\n');
    }
}

// Prints what was changed without being an error.
static void commands_print_notes(const pcs_case *c)
{
    for (const char *line = pcs_case_notes(c); *line != '\0'; line += strcspn(line, "\n") + 1)
        fprintf(stderr, "note: %.*s\n", (int)strcspn(line, "\n"), line);
}

// Prints the errors of a case that cannot be built. Returns the exit status.
int pcs_cli_reject(const pcs_context *ctx, pcs_status status)
{
    commands_print_errors(ctx);
    return status == PCS_NO_MEMORY || status == PCS_FAILED ? PCS_CLI_COULD_NOT_GO_ON : PCS_CLI_BAD_USAGE;
}

// Prints errors that occurred later. Returns the exit status.
static int commands_fail(const pcs_context *ctx, pcs_status status)
{
    fflush(stdout);
    commands_print_errors(ctx);
    return status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED ? PCS_CLI_BAD_USAGE : PCS_CLI_COULD_NOT_GO_ON;
}

// Makes the path of a result. False if it is too long.
static bool commands_result_path(const char *directory, const char *stem, const char *ending, char path[PATH_ROOM])
{
    int length = snprintf(path, PATH_ROOM, "%s/%s%s", directory, stem, ending);
    return length > 0 && length < PATH_ROOM;
}

// Copies a text file of the results to the screen; absent when the case switched it off.
static void commands_show_file(const char *directory, const char *stem, const char *ending)
{
    char path[PATH_ROOM], block[4096];
    if (!commands_result_path(directory, stem, ending, path)) return;
    long long unused;
    int file = pcs_open_input(path, &unused);
    if (file < 0) return;
    for (ssize_t count; (count = read(file, block, sizeof block)) > 0;) fwrite(block, 1, (size_t)count, stdout);
    close(file);
}

// Prints the path of a result. False if it does not exist.
static bool commands_show_path(const char *text, const char *directory, const char *stem, const char *ending)
{
    char path[PATH_ROOM];
    bool is_there = commands_result_path(directory, stem, ending, path) && access(path, R_OK) == 0;
    if (is_there) printf("%s%s\n", text, path);
    return is_there;
}

static bool commands_show_frames(const char *name, const char *directory, const char *ending)
{
    printf("\nResults in %s\n", directory);
    return commands_show_path("Open in ParaView: ", directory, name, ending);
}

// Says at the very end that the results mean little.
static void commands_show_verdict(const pcs_sim *sim)
{
    for (int i = 0; i < sim->nobserver; i++) {
        const pcs_summary *s = sim->observers[i].data;
        if (strcmp(sim->observers[i].ops->name, "summary") != 0 || s->verdict.verdict != PCS_UNRESOLVED) continue;
        printf("UNRESOLVED: %s; the summary says what to change\n",
               pcs_resolution_advise(&s->verdict, &s->resolution).reason);
    }
}

static void commands_show_results(const pcs_sim *sim, const char *directory)
{
    if (access(directory, X_OK) != 0) return;
    commands_show_file(directory, "summary", ".txt");
    bool has_frames = commands_show_frames(sim->view.case_name, directory, ".vtk.series");
    if (commands_show_path("Open in ParaView: ", directory, sim->view.case_name, ".pvd")) has_frames = true;
    if (!has_frames) return; // the script has nothing to open
    commands_show_path("or with stress and contact forces: paraview --script=", directory, "view", ".py");
}

// Makes the path where a command writes: as said, or results/<case><ending>.
static bool commands_directory(const pcs_arguments *a, const char *name, const char *ending, char directory[PATH_ROOM])
{
    bool is_given = a->directory != NULL;
    int length = snprintf(directory, PATH_ROOM, "%s%s%s", is_given ? "" : "results/", is_given ? a->directory : name,
                          is_given ? "" : ending);
    return length > 0 && length < PATH_ROOM - 64;
}

static void commands_show(void *user, const char *text)
{
    fputs(text, user);
    fflush(user);
}

// Installs handlers that end the run after the current step: for a user's signal, a lost connection, or the warning of
// a batch queue, which may come again every second. Signals that the parent ignores, as nohup does, stay ignored.
static void commands_catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU, SIGALRM };
    struct sigaction action = { .sa_handler = commands_stop }, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    // A limit on file sizes is then a write that fails, with a message, and not the end of the program.
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
}

// Returns false, with an error, if options of PETSc are given and the model is not solved by it.
static bool commands_take_words(const pcs_context *ctx, const pcs_arguments *a)
{
    if (a->nword == 0 || pcs_context_comm(ctx) != NULL) return true;
    pcs_cli_refuse(a->command,
                   "options of PETSc are for mpiexec and for solver.linear=petsc, not for this case:", a->words[0],
                   NULL);
    return false;
}

int pcs_cli_run(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_sim *sim = NULL;
    pcs_status status = pcs_build_sim_from(ctx, a->subject, a->set.count, a->set.text, &sim);
    if (status != PCS_OK) return pcs_cli_reject(ctx, status);
    if (!commands_take_words(ctx, a)) return PCS_CLI_BAD_USAGE;
    if (!a->is_quiet && pcs_is_root(ctx)) commands_print_notes(sim->input);
    char directory[PATH_ROOM];
    if (!commands_directory(a, sim->view.case_name, "", directory))
        return pcs_cli_refuse(a->command, "too long a path:", directory, NULL);
    commands_catch_signals();
    sim->stop_request = &stop_request;
    sim->resumes = a->resumes;
    sim->overwrites = a->overwrites;
    sim->view.show = pcs_is_root(ctx) ? commands_show : NULL;
    sim->view.show_user = stderr;
    sim->view.is_terminal = isatty(STDERR_FILENO) != 0;
    status = pcs_sim_run(sim, directory, !a->is_quiet);
    // The folder of a run that was refused has what another one left there.
    if (!a->is_quiet && pcs_is_root(ctx) && sim->has_files) {
        commands_show_results(sim, directory);
        commands_show_verdict(sim);
    }
    return status == PCS_OK ? PCS_CLI_DONE : commands_fail(ctx, status);
}

static void commands_show_modes(const pcs_modes *modes)
{
    printf("%5s %16s %16s %12s  %s\n", "mode", "w, rad/s", "f, Hz", "damping", "kind");
    for (int k = 0; k < modes->count; k++) {
        const pcs_mode *m = &modes->modes[k];
        printf("%5d %16.9g %16.9g %12.5g  %s%s%s\n", k + 1, m->w, pcs_mode_hertz(m), m->damping,
               pcs_mode_kind_text(m->kind), m->name[0] == '\0' ? "" : ": ", m->name);
    }
}

// Builds the model of an analysis and makes the path of its results. Returns the exit status.
static int commands_build_analysis(pcs_context *ctx, const pcs_arguments *a, const char *ending, pcs_analysis *out,
                                   char directory[PATH_ROOM])
{
    pcs_status status = pcs_build_analysis_from(ctx, a->subject, a->set.count, a->set.text, out);
    if (status != PCS_OK) return commands_fail(ctx, status == PCS_IO_ERROR ? PCS_BAD_INPUT : status);
    bool has_room = commands_directory(a, out->case_name, ending, directory);
    return has_room ? PCS_CLI_DONE : pcs_cli_refuse(a->command, "too long a path:", directory, NULL);
}

// Returns the options of the case, with those of the command line in place of them.
static pcs_statics_options commands_statics_options(const pcs_analysis *on, const pcs_arguments *a)
{
    pcs_statics_options options = on->statics;
    if (a->steps > 0) options.steps = a->steps;
    if (!isnan(a->time)) options.time = a->time;
    return options;
}

int pcs_cli_statics(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_analysis analysis;
    pcs_statics statics;
    char directory[PATH_ROOM];
    int answer = commands_build_analysis(ctx, a, "_statics", &analysis, directory);
    if (answer != PCS_CLI_DONE) return answer;
    pcs_statics_options options = commands_statics_options(&analysis, a);
    pcs_status status = pcs_statics_run(&analysis, &options, directory, &statics);
    if (!a->is_quiet && status != PCS_BAD_INPUT) {
        commands_show_file(directory, "summary", ".txt");
        commands_show_frames(analysis.case_name, directory, "_statics.vtk.series");
    }
    return status == PCS_OK ? PCS_CLI_DONE : commands_fail(ctx, status);
}

// Finds the equilibrium about which the modes are sought, if one is asked for.
static pcs_status commands_find_state(const pcs_analysis *on, const pcs_arguments *a, pcs_modes_options *modes)
{
    pcs_statics statics;
    pcs_statics_options options = commands_statics_options(on, a);
    options.path = PCS_PATH_LOAD;
    options.has_friction = false; // vibrations are small, and contacts that rub are free to slide in them
    modes->time = options.time;
    if (a->about == NULL) return PCS_OK;
    double *q;
    PCS_TAKE(on->ctx, q, on->system->nq, "equilibrium");
    memcpy(q, on->start, (size_t)on->system->nq * sizeof *q);
    PCS_TRY(pcs_statics_solve(on, &options, q, NULL, NULL, &statics));
    modes->q = q;
    modes->held = statics.held;
    modes->force = statics.force;
    modes->load_factor = statics.factor;
    return PCS_OK;
}

int pcs_cli_modes(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_analysis analysis;
    pcs_modes modes;
    char directory[PATH_ROOM];
    int answer = commands_build_analysis(ctx, a, "_modes", &analysis, directory);
    if (answer != PCS_CLI_DONE) return answer;
    pcs_modes_options options = { .count = a->count > 0 ? a->count : 10, .is_whirl = a->is_whirl };
    pcs_status status = commands_find_state(&analysis, a, &options);
    if (status == PCS_OK) status = pcs_modes_find(&analysis, &options, &modes);
    if (status == PCS_OK && !a->is_quiet) commands_show_modes(&modes);
    if (status == PCS_OK) status = pcs_modes_write(&analysis, &modes, directory);
    if (status != PCS_OK) return commands_fail(ctx, status);
    if (!a->is_quiet) commands_show_frames(analysis.case_name, directory, "_modes.vtk.series");
    return PCS_CLI_DONE;
}

static void commands_print_line(void *user, const char *line)
{
    printf("  %s\n", line);
}

int pcs_cli_check(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_sim *sim = NULL;
    const pcs_source source = {
        .path = a->subject, .nset = a->set.count, .set = a->set.text, .no_plugins = a->no_plugins
    };
    pcs_status status = pcs_build_to_check(ctx, &source, &sim);
    if (status != PCS_OK) return pcs_cli_reject(ctx, status);
    if (!commands_take_words(ctx, a)) return PCS_CLI_BAD_USAGE;
    if (!a->is_quiet && pcs_is_root(ctx)) {
        char text[256];
        pcs_describe_sim(sim, sizeof text, text);
        printf("%s: fine, %s\n", pcs_case_file(sim->input), text);
        pcs_describe_bars(sim, commands_print_line, NULL);
        commands_print_notes(sim->input);
        if (sim->view.question != NULL) fprintf(stderr, "question: %s\n", sim->view.question);
    }
    return PCS_CLI_DONE;
}
