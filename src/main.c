// The command line: run, statics, modes, study, check and list. Exit status 0 done, 1 the simulation could not go on, 2
// bad input or usage.

#define _POSIX_C_SOURCE 200809L // sigaction, isatty

#include "analysis/modes.h"
#include "analysis/statics.h"
#include "build/build.h"
#include "build/catalogue.h"
#include "core/comm.h"
#include "percuss.h"
#include "study/study.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DONE = 0, COULD_NOT_GO_ON = 1, BAD_USAGE = 2, PATH_ROOM = 4096 };

static const char usage[] =
    "usage: percuss run CASE [-o DIR] [--set path.to.key=value]... [--quiet] [-- PETSC OPTIONS]\n"
    "       percuss statics CASE [--steps N] [--time T] [-o DIR] [--set ...] [--quiet]\n"
    "       percuss modes CASE [--count N] [--about statics] [--whirl] [--steps N] [--time T] [-o DIR] [--set ...]\n"
    "       percuss study CASE|STUDY [--vary path.to.key=values]... [--refine mesh=2,3] [--measure NAME=PLACE]...\n"
    "                     [-j N] [--keep] [-o DIR] [--set ...] [--quiet]\n"
    "       percuss check CASE [--set path.to.key=value]...\n"
    "       percuss list [NAME] [--markdown]\n"
    "       percuss --help | --version\n";

static const char help[] =
    "\n"
    "Bars, beams and bodies that hit, stick, slide and rebound. CASE is a file or a folder that holds case.yaml.\n"
    "\n"
    "  run      simulate the case; results go to DIR (results/<case> unless given)\n"
    "  statics  equilibrium under loads that rise from nothing, from the reference state (initial values are not\n"
    "           used); statics.csv and a frame per load step go to DIR (results/<case>_statics unless given)\n"
    "  modes    natural frequencies and mode shapes about the reference state, smallest first; to the screen,\n"
    "           to modes.csv and as frames for ParaView in DIR (results/<case>_modes unless given)\n"
    "  study    run the case over values of its keys, side by side; study.csv, study.json and the runs go to DIR\n"
    "           (results/<case>_study unless given); a run that is there is not made again\n"
    "  check    report every error of the case, build the model, do not run it\n"
    "  list     elements, schemes, gap types and everything else a case can name, with options,\n"
    "           allowed ranges and defaults\n"
    "\n"
    "  -o, --output DIR          where the results go\n"
    "  --set path.to.key=value   replace or add a value of the case, with the same checks; list items by\n"
    "                            number from 0: --set scheme.rho_inf=0.5 --set initial.0.velocity=[1,0,0]\n"
    "  -q, --quiet               no progress, no summary on the screen\n"
    "  --steps N                 of statics: load steps at least [1 for linear models, else 10]\n"
    "  --time T                  of statics and modes: time at which loads and driven joints stand, s [0]\n"
    "  --count N                 of modes: how many [10]\n"
    "  --about statics           of modes: about the equilibrium, in which closed contacts stay closed\n"
    "  --whirl                   of modes: with damping and gyroscopic forces, forward and backward whirl; without\n"
    "                            asking where the damping or stiffness matrix is not symmetric\n"
    "  --vary path.to.key=V      of study: values between commas, or from:to:by; several make a product\n"
    "  --refine \"mesh=2,3 step=2,3\"  of study: factor and levels; measures get order, limit and bound\n"
    "  --measure NAME=PLACE      of study: a number of summary.json by its place: peak=wall.peak_force\n"
    "  -j, --jobs N              of study: runs at a time [the number of processors]\n"
    "  --keep                    of study: histories and frames of all runs, too\n"
    "  --markdown                of list: as Markdown tables\n"
    "  -- -ksp_type cg ...       options of PETSc, for runs under mpiexec and for `solver: { linear: petsc }`;\n"
    "                            -mass_... and -iteration_... are for one matrix, others for both\n"
    "\n"
    "Exit status: 0 done, 1 the simulation could not go on (what was computed is kept), 2 bad input or usage.\n";

// Set by a signal; the run ends after the present step.
static volatile sig_atomic_t stop_request = 0;

static void main_stop(int signal_number)
{
    (void)signal_number;
    stop_request = 1;
}

typedef struct arguments {
    const char *command, *subject; // run CASE, list NAME
    const char *directory;
    int nset;
    const char **set; // [nset]
    int nvary, nmeasure;
    const char **vary, **measure; // [nvary], [nmeasure] of a study
    const char *refine;           // likewise
    int jobs;                     // -1: not said
    bool keeps_output;
    int count, steps;  // of modes and load steps, -1: not said
    const char *about; // of modes: "statics", or NULL
    double time;       // s, NAN: not said
    int nword;
    const char *const *words; // [nword] after --, for PETSc
    bool is_quiet, is_markdown, is_whirl, wants_help, wants_version;
} arguments;

// Every line of a message is an error of its own. All ranks know it, one tells it.
static void main_print_errors(const pcs_context *ctx)
{
    const char *message = pcs_is_root(ctx) ? pcs_message(ctx) : "";
    while (*message != '\0') {
        size_t length = strcspn(message, "\n");
        fprintf(stderr, "%s%.*s\n", strncmp(message, "...", 3) == 0 ? "" : "error: ", (int)length, message);
        message += length + (message[length] == '\n');
    }
}

// What was changed without being an error.
static void main_print_notes(const pcs_case *c)
{
    for (const char *line = pcs_case_notes(c); *line != '\0'; line += strcspn(line, "\n") + 1)
        fprintf(stderr, "note: %.*s\n", (int)strcspn(line, "\n"), line);
}

// A case that cannot be built: the exit status, after the errors are told.
static int main_reject(const pcs_context *ctx, pcs_status status)
{
    main_print_errors(ctx);
    return status == PCS_NO_MEMORY || status == PCS_FAILED ? COULD_NOT_GO_ON : BAD_USAGE;
}

// The same for what went wrong afterwards.
static int main_fail(const pcs_context *ctx, pcs_status status)
{
    fflush(stdout);
    main_print_errors(ctx);
    return status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED ? BAD_USAGE : COULD_NOT_GO_ON;
}

static int main_refuse(const char *what, const char *text, const char *const *names)
{
    char hint[PCS_SPELLING_BYTES] = "";
    if (names != NULL) pcs_spelling_hint(text, names, sizeof hint, hint);
    fprintf(stderr, "error: %s '%s'%s\n%s", what, text, hint, usage);
    return BAD_USAGE;
}

// The value of an option: --name=value, or the next argument. NULL when this is another option or has no value.
static const char *main_option_value(const char *name, int argc, char **argv, int *i)
{
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0) return NULL;
    if (name[1] == '-' && argv[*i][length] == '=') return argv[*i] + length + 1;
    if (argv[*i][length] != '\0' || *i + 1 >= argc) return NULL;
    return argv[++*i];
}

// A whole number from 1 on.
static int main_parse_count(const char *option, const char *text, int *out)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > 1000000) {
        fprintf(stderr, "error: %s must be a whole number from 1 to 1000000, is '%s'\n%s", option, text, usage);
        return BAD_USAGE;
    }
    *out = (int)value;
    return DONE;
}

static int main_parse_time(const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*out)) return DONE;
    fprintf(stderr, "error: --time must be a number, is '%s'\n%s", text, usage);
    return BAD_USAGE;
}

// Options of the analyses without motion; -1: this is another one.
static int main_parse_analysis(int argc, char **argv, int *i, arguments *a)
{
    const char *value;
    if ((value = main_option_value("--count", argc, argv, i)) != NULL)
        return main_parse_count("--count", value, &a->count);
    if ((value = main_option_value("--steps", argc, argv, i)) != NULL)
        return main_parse_count("--steps", value, &a->steps);
    if ((value = main_option_value("--time", argc, argv, i)) != NULL) return main_parse_time(value, &a->time);
    if ((value = main_option_value("--about", argc, argv, i)) != NULL) {
        a->about = value;
        return strcmp(value, "statics") == 0 ? DONE : main_refuse("--about must be 'statics', is", value, NULL);
    }
    if (strcmp(argv[*i], "--whirl") != 0) return -1;
    a->is_whirl = true;
    return DONE;
}

// Options of studies; -1: this is another one.
static int main_parse_study(int argc, char **argv, int *i, arguments *a)
{
    const char *value;
    if ((value = main_option_value("--vary", argc, argv, i)) != NULL) a->vary[a->nvary++] = value;
    else if ((value = main_option_value("--measure", argc, argv, i)) != NULL) a->measure[a->nmeasure++] = value;
    else if ((value = main_option_value("--refine", argc, argv, i)) != NULL) a->refine = value;
    else if ((value = main_option_value("-j", argc, argv, i)) != NULL ||
             (value = main_option_value("--jobs", argc, argv, i)) != NULL)
        return main_parse_count("--jobs", value, &a->jobs);
    else if (strcmp(argv[*i], "--keep") == 0) a->keeps_output = true;
    else return -1;
    return DONE;
}

static bool main_lacks_value(const char *text)
{
    static const char *const names[] = { "--set",  "-o",        "--output", "--count", "--steps", "--time", "--about",
                                         "--vary", "--measure", "--refine", "-j",      "--jobs",  NULL };
    int i = 0;
    while (names[i] != NULL && strcmp(names[i], text) != 0) i++;
    return names[i] != NULL;
}

static int main_parse_option(int argc, char **argv, int *i, arguments *a)
{
    static const char *const names[] = { "--set",      "--output",  "--quiet", "--help", "--version", "--count",
                                         "--markdown", "--whirl",   "--steps", "--time", "--about",   "--vary",
                                         "--refine",   "--measure", "--jobs",  "--keep", "-o",        "-q",
                                         "-h",         "-j",        NULL };
    int answer = main_parse_analysis(argc, argv, i, a);
    if (answer < 0) answer = main_parse_study(argc, argv, i, a);
    if (answer >= 0) return answer;
    const char *text = argv[*i], *value;
    if ((value = main_option_value("--set", argc, argv, i)) != NULL) {
        a->set[a->nset++] = value;
    } else if ((value = main_option_value("-o", argc, argv, i)) != NULL ||
               (value = main_option_value("--output", argc, argv, i)) != NULL) {
        a->directory = value;
    } else if (strcmp(text, "--quiet") == 0 || strcmp(text, "-q") == 0) {
        a->is_quiet = true;
    } else if (strcmp(text, "--markdown") == 0) {
        a->is_markdown = true;
    } else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
        a->wants_help = true;
    } else if (strcmp(text, "--version") == 0) {
        a->wants_version = true;
    } else if (main_lacks_value(text)) {
        return main_refuse("a value must follow the option", text, NULL);
    } else {
        return main_refuse("unknown option", text, names);
    }
    return DONE;
}

static int main_parse(int argc, char **argv, arguments *a)
{
    for (int i = 1; i < argc; i++) {
        int answer = DONE;
        if (strcmp(argv[i], "--") == 0) {
            a->nword = argc - i - 1;
            a->words = (const char *const *)argv + i + 1;
            break;
        }
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            answer = main_parse_option(argc, argv, &i, a);
        } else if (a->command == NULL) {
            a->command = argv[i];
        } else if (a->subject == NULL) {
            a->subject = argv[i];
        } else {
            answer = main_refuse("one argument too many:", argv[i], NULL);
        }
        if (answer != DONE) return answer;
    }
    return DONE;
}

// Path of a result; false when it is too long.
static bool main_result_path(const char *directory, const char *stem, const char *ending, char path[PATH_ROOM])
{
    int length = snprintf(path, PATH_ROOM, "%s/%s%s", directory, stem, ending);
    return length > 0 && length < PATH_ROOM;
}

// Copies a text file of the results to the screen; absent when the case switched it off.
static void main_show_file(const char *directory, const char *stem, const char *ending)
{
    char path[PATH_ROOM], block[4096];
    if (!main_result_path(directory, stem, ending, path)) return;
    FILE *file = fopen(path, "r");
    if (file == NULL) return;
    for (size_t count; (count = fread(block, 1, sizeof block, file)) > 0;) fwrite(block, 1, count, stdout);
    fclose(file);
}

// Tells the path of a result that is there.
static void main_show_path(const char *text, const char *directory, const char *stem, const char *ending)
{
    char path[PATH_ROOM];
    if (main_result_path(directory, stem, ending, path) && access(path, R_OK) == 0) printf("%s%s\n", text, path);
}

static void main_show_frames(const char *name, const char *directory, const char *ending)
{
    printf("\nResults in %s\n", directory);
    main_show_path("Open in ParaView: ", directory, name, ending);
}

static void main_show_results(const pcs_sim *sim, const char *directory)
{
    if (access(directory, X_OK) != 0) return;
    main_show_file(directory, "summary", ".txt");
    main_show_frames(sim->view.case_name, directory, ".vtk.series");
    main_show_path("or with stress and contact forces: paraview --script=", directory, "view", ".py");
}

// Where a command writes: as said, or results/<case><ending>.
static bool main_directory(const arguments *a, const char *name, const char *ending, char directory[PATH_ROOM])
{
    bool is_given = a->directory != NULL;
    int length = snprintf(directory, PATH_ROOM, "%s%s%s", is_given ? "" : "results/", is_given ? a->directory : name,
                          is_given ? "" : ending);
    return length > 0 && length < PATH_ROOM - 64;
}

static void main_show_progress(void *user, const char *text)
{
    fputs(text, user);
    fflush(user);
}

static void main_be_quiet(void *user, const char *text)
{
    (void)user;
    (void)text;
}

// The first signal ends the run after the present step, the second one ends the program.
static void main_catch_signals(void)
{
    struct sigaction action = { .sa_handler = main_stop, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // A limit on file sizes is then a write that fails, with a message, and not the end of the program.
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
}

static int main_run(pcs_context *ctx, const arguments *a)
{
    pcs_sim *sim = NULL;
    pcs_status status = pcs_build_sim_from(ctx, a->subject, a->nset, a->set, &sim);
    if (status != PCS_OK) return main_reject(ctx, status);
    if (a->nword > 0 && pcs_context_comm(ctx) == NULL)
        return main_refuse(
            "options of PETSc are for mpiexec and for solver.linear=petsc, not for this run:", a->words[0], NULL);
    if (!a->is_quiet && pcs_is_root(ctx)) main_print_notes(sim->input);
    char directory[PATH_ROOM];
    if (!main_directory(a, sim->view.case_name, "", directory)) return main_refuse("too long a path:", directory, NULL);
    main_catch_signals();
    sim->stop_request = &stop_request;
    sim->view.show = pcs_is_root(ctx) ? main_show_progress : NULL;
    sim->view.show_user = stderr;
    sim->view.is_terminal = isatty(STDERR_FILENO) != 0;
    status = pcs_sim_run(sim, directory, !a->is_quiet);
    if (!a->is_quiet && pcs_is_root(ctx)) main_show_results(sim, directory);
    return status == PCS_OK ? DONE : main_fail(ctx, status);
}

static void main_show_modes(const pcs_modes *modes)
{
    printf("%5s %16s %16s %12s  %s\n", "mode", "w, rad/s", "f, Hz", "damping", "kind");
    for (int k = 0; k < modes->count; k++) {
        const pcs_mode *m = &modes->modes[k];
        printf("%5d %16.9g %16.9g %12.5g  %s%s%s\n", k + 1, m->w, m->w / 6.28318530717958647693, m->damping,
               pcs_mode_kind_text(m->kind), m->name[0] == '\0' ? "" : ": ", m->name);
    }
}

// The model of an analysis, and where its results go.
static int main_build_analysis(pcs_context *ctx, const arguments *a, const char *ending, pcs_analysis *out,
                               char directory[PATH_ROOM])
{
    pcs_status status = pcs_build_analysis_from(ctx, a->subject, a->nset, a->set, out);
    if (status != PCS_OK) return main_fail(ctx, status == PCS_IO_ERROR ? PCS_BAD_INPUT : status);
    bool has_room = main_directory(a, out->case_name, ending, directory);
    return has_room ? DONE : main_refuse("too long a path:", directory, NULL);
}

static pcs_statics_options main_statics_options(const arguments *a)
{
    return (pcs_statics_options){ .steps = a->steps > 0 ? a->steps : 0, .time = isnan(a->time) ? 0.0 : a->time };
}

static int main_statics(pcs_context *ctx, const arguments *a)
{
    pcs_analysis analysis;
    pcs_statics statics;
    char directory[PATH_ROOM];
    int answer = main_build_analysis(ctx, a, "_statics", &analysis, directory);
    if (answer != DONE) return answer;
    pcs_statics_options options = main_statics_options(a);
    pcs_status status = pcs_statics_run(&analysis, &options, directory, &statics);
    if (!a->is_quiet && status != PCS_BAD_INPUT) {
        main_show_file(directory, "summary", ".txt");
        main_show_frames(analysis.case_name, directory, "_statics.vtk.series");
    }
    return status == PCS_OK ? DONE : main_fail(ctx, status);
}

// The equilibrium about which to look for modes.
static pcs_status main_find_state(const pcs_analysis *on, const arguments *a, pcs_modes_options *modes)
{
    pcs_statics statics;
    pcs_statics_options options = main_statics_options(a);
    modes->time = options.time;
    if (a->about == NULL) return PCS_OK;
    double *q;
    PCS_TAKE(on->ctx, q, on->system->nq, "equilibrium");
    memcpy(q, on->start, (size_t)on->system->nq * sizeof *q);
    PCS_TRY(pcs_statics_solve(on, &options, q, NULL, NULL, &statics));
    modes->q = q;
    modes->held = statics.held;
    modes->force = statics.force;
    return PCS_OK;
}

static int main_modes(pcs_context *ctx, const arguments *a)
{
    pcs_analysis analysis;
    pcs_modes modes;
    char directory[PATH_ROOM];
    int answer = main_build_analysis(ctx, a, "_modes", &analysis, directory);
    if (answer != DONE) return answer;
    pcs_modes_options options = { .count = a->count > 0 ? a->count : 10, .is_whirl = a->is_whirl };
    pcs_status status = main_find_state(&analysis, a, &options);
    if (status == PCS_OK) status = pcs_modes_find(&analysis, &options, &modes);
    if (status == PCS_OK && !a->is_quiet) main_show_modes(&modes);
    if (status == PCS_OK) status = pcs_modes_write(&analysis, &modes, directory);
    if (status != PCS_OK) return main_fail(ctx, status);
    if (!a->is_quiet) main_show_frames(analysis.case_name, directory, "_modes.vtk.series");
    return DONE;
}

// The name of a case without its folders and ending: where a study goes that is told no place.
static void main_stem(const char *path, char stem[PATH_ROOM])
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    size_t begin = length;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    snprintf(stem, PATH_ROOM, "%.*s", (int)(length - begin), path + begin);
    char *dot = strrchr(stem, '.');
    if (dot != NULL && dot != stem) *dot = '\0';
}

static int main_study(pcs_context *ctx, const arguments *a)
{
    char stem[PATH_ROOM], directory[PATH_ROOM];
    pcs_study_result result;
    main_stem(a->subject, stem);
    if (!main_directory(a, stem, "_study", directory)) return main_refuse("too long a path:", directory, NULL);
    main_catch_signals();
    pcs_study_options options = { .path = a->subject,
                                  .directory = directory,
                                  .nset = a->nset,
                                  .nvary = a->nvary,
                                  .nmeasure = a->nmeasure,
                                  .set = a->set,
                                  .vary = a->vary,
                                  .measure = a->measure,
                                  .refine = a->refine,
                                  .jobs = a->jobs > 0 ? a->jobs : 0,
                                  .keeps_output = a->keeps_output,
                                  .show = a->is_quiet ? main_be_quiet : main_show_progress,
                                  .show_user = stdout,
                                  .is_terminal = !a->is_quiet && isatty(STDOUT_FILENO) != 0,
                                  .stop_request = &stop_request };
    pcs_status status = pcs_study_run(ctx, &options, &result);
    if (status != PCS_OK) return main_fail(ctx, status);
    if (!a->is_quiet)
        printf("\n%d of %d runs done (%d were there), %d refused, %d failed\nResults in %s/study.csv and study.json\n",
               result.ndone, result.nrun, result.nkept, result.nrefused, result.nfailed, directory);
    bool is_whole = result.ndone + result.nrefused == result.nrun && result.ndone > 0;
    return is_whole ? DONE : COULD_NOT_GO_ON;
}

static int main_check(pcs_context *ctx, const arguments *a)
{
    pcs_sim *sim = NULL;
    pcs_status status = pcs_build_sim_from(ctx, a->subject, a->nset, a->set, &sim);
    if (status != PCS_OK) return main_reject(ctx, status);
    if (!a->is_quiet && pcs_is_root(ctx)) {
        printf("%s: fine, %d dofs, %d contact point%s, %s, ", pcs_case_file(sim->input), pcs_system_ndof(sim->system),
               sim->system->nrow, sim->system->nrow == 1 ? "" : "s", sim->scheme->ops->name);
        if (sim->view.is_controlled) printf("steps of controlled size\n");
        else printf("%ld steps of %g s\n", sim->nstep, sim->step_size);
    }
    return DONE;
}

static void main_put(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

static int main_list(const arguments *a)
{
    const pcs_catalogue catalogue = { .put = main_put, .name = a->subject, .is_markdown = a->is_markdown };
    int count = pcs_catalogue_write(&catalogue);
    pcs_catalogue_write_applies(&catalogue);
    if (count > 0) return DONE;
    fprintf(stderr, "error: nothing is called '%s', see percuss list\n", a->subject);
    return BAD_USAGE;
}

// Options that make no sense for a command are errors, too.
static int main_check_usage(const arguments *a)
{
    bool is_run = strcmp(a->command, "run") == 0, is_list = strcmp(a->command, "list") == 0;
    bool is_modes = strcmp(a->command, "modes") == 0, is_statics = strcmp(a->command, "statics") == 0;
    if (!is_list && a->subject == NULL) return main_refuse("a case must follow", a->command, NULL);
    bool is_study = strcmp(a->command, "study") == 0;
    if (!is_study && (a->nvary > 0 || a->nmeasure > 0 || a->refine != NULL || a->jobs > 0 || a->keeps_output))
        return main_refuse("--vary, --refine, --measure, --jobs and --keep are for study, not for", a->command, NULL);
    if (!is_run && !is_modes && !is_statics && !is_study && a->directory != NULL)
        return main_refuse("--output is not an option of", a->command, NULL);
    if (!is_modes && a->count > 0) return main_refuse("--count is not an option of", a->command, NULL);
    if (!is_modes && a->about != NULL) return main_refuse("--about is not an option of", a->command, NULL);
    bool has_loads = is_statics || (is_modes && a->about != NULL);
    if (!has_loads && a->steps > 0)
        return main_refuse("--steps is for statics and modes --about statics, not for", a->command, NULL);
    if (!is_modes && !is_statics && !isnan(a->time)) return main_refuse("--time is not an option of", a->command, NULL);
    if (!is_modes && a->is_whirl) return main_refuse("--whirl is not an option of", a->command, NULL);
    if (!is_list && a->is_markdown) return main_refuse("--markdown is not an option of", a->command, NULL);
    if (is_list && a->nset > 0) return main_refuse("--set is not an option of", a->command, NULL);
    return DONE;
}

// MPI and PETSc come in only under mpiexec, or when the case asks for them later on.
static int main_start_ranks(pcs_context *ctx, const arguments *a, bool is_for_one)
{
    pcs_context_set_options(ctx, a->nword, a->words);
    if (!pcs_comm_is_launched()) return DONE;
    pcs_status status = pcs_comm_start(ctx);
    if (status == PCS_OK && is_for_one && pcs_context_comm(ctx)->size > 1)
        status = pcs_fail(ctx, PCS_UNSUPPORTED, "'%s' is for one process: start it without mpiexec", a->command);
    if (status == PCS_OK && is_for_one) pcs_context_set_comm(ctx, NULL);
    return status == PCS_OK ? DONE : main_reject(ctx, status);
}

static int main_do(pcs_context *ctx, const arguments *a, int which)
{
    switch (which) {
    case 0: return main_run(ctx, a);
    case 1: return main_check(ctx, a);
    case 3: return main_modes(ctx, a);
    case 5: return main_study(ctx, a);
    default: return main_statics(ctx, a);
    }
}

static int main_dispatch(const arguments *a)
{
    static const char *const commands[] = { "run", "check", "list", "modes", "statics", "study", "help", NULL };
    bool is_help = a->command != NULL && strcmp(a->command, "help") == 0;
    if (a->wants_help || is_help) return fputs(usage, stdout), fputs(help, stdout), DONE;
    if (a->wants_version) return printf("percuss %s\n", percuss_version()), DONE;
    if (a->command == NULL) return fputs(usage, stderr), BAD_USAGE;
    int which = 0;
    while (commands[which] != NULL && strcmp(commands[which], a->command) != 0) which++;
    if (commands[which] == NULL) return main_refuse("unknown command", a->command, commands);
    int answer = main_check_usage(a);
    if (answer != DONE || which == 2) return answer != DONE ? answer : main_list(a);

    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return fputs("error: out of memory\n", stderr), COULD_NOT_GO_ON;
    answer = main_start_ranks(ctx, a, which >= 3);
    if (answer == DONE) answer = main_do(ctx, a, which);
    pcs_context_destroy(&ctx);
    return answer;
}

int main(int argc, char **argv)
{
    size_t room = (size_t)argc + 1;
    const char **texts = pcs_scratch(NULL, 3 * room, sizeof *texts);
    if (texts == NULL) return fputs("error: out of memory\n", stderr), COULD_NOT_GO_ON;
    arguments a = { .count = -1, .steps = -1, .jobs = -1, .time = NAN, .set = texts };
    a.vary = texts + room;
    a.measure = texts + 2 * room;
    int answer = main_parse(argc, argv, &a);
    if (answer == DONE) answer = main_dispatch(&a);
    pcs_scratch_free(texts);
    if ((fflush(stdout) != 0 || ferror(stdout)) && answer == DONE) {
        fputs("error: the screen output could not be written\n", stderr);
        answer = COULD_NOT_GO_ON;
    }
    return answer;
}
