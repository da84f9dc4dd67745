// The commands, cases by their names, results on the screen and the signals that end a run.

#define _GNU_SOURCE // sigaction, readlink, popen, ioctl, strcasestr

#include "cli/commands.h"

#include "analysis/modes.h"
#include "analysis/statics.h"
#include "build/build.h"
#include "build/catalogue.h"
#include "case/case.h"
#include "core/comm.h"
#include "core/open.h"
#include "output/file.h"
#include "output/summary.h"
#include "sim/horizon.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Folders of cases, relative to the folder of the program.
static const char *const near_program[] = { "cases", "share/percuss/cases" };
enum { NFOLDER = 1 + sizeof near_program / sizeof *near_program };

// Finds folder k of cases. False if the program cannot find its own path.
static bool cases_folder(int k, char folder[PCS_CASE_PATH])
{
    char program[PCS_CASE_PATH / 2];
    if (k == 0) return snprintf(folder, PCS_CASE_PATH, "cases") > 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = '\0';
    for (int part = 0; part < 2; part++) {
        char *slash = strrchr(program, '/');
        if (slash == NULL) return false;
        *slash = '\0';
    }
    return snprintf(folder, PCS_CASE_PATH, "%s/%s", program, near_program[k - 1]) < PCS_CASE_PATH;
}

static bool cases_holds(const char *folder, const char *name, const char *file, char path[PCS_CASE_PATH])
{
    int length = snprintf(path, PCS_CASE_PATH, "%s/%s%s", folder, name, file);
    return length < PCS_CASE_PATH && access(path, F_OK) == 0;
}

typedef void cases_taker(void *user, const char *name);

static void cases_within(const char *folder, cases_taker *take, void *user)
{
    char path[PCS_CASE_PATH];
    DIR *stream = opendir(folder);
    if (stream == NULL) return;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (cases_holds(folder, entry->d_name, "/case.yaml", path)) take(user, entry->d_name);
    closedir(stream);
}

// Passes every name to `take`. One may come twice.
static void cases_each(cases_taker *take, void *user)
{
    char folder[PCS_CASE_PATH];
    for (int k = 0; k < NFOLDER; k++)
        if (cases_folder(k, folder)) cases_within(folder, take, user);
}

typedef struct wanted_case {
    const char *name;
    char hint[PCS_SPELLING_BYTES];
} wanted_case;

static void cases_take_hint(void *user, const char *name)
{
    wanted_case *wanted = user;
    const char *const names[] = { name, NULL };
    if (wanted->hint[0] == '\0') pcs_spelling_hint(wanted->name, names, sizeof wanted->hint, wanted->hint);
}

pcs_status pcs_cli_find_case(pcs_context *ctx, const char **subject, char path[PCS_CASE_PATH])
{
    char folder[PCS_CASE_PATH];
    wanted_case wanted = { .name = *subject };
    if (strchr(wanted.name, '/') != NULL || access(wanted.name, F_OK) == 0) return PCS_OK;
    for (int k = 0; k < NFOLDER; k++)
        if (cases_folder(k, folder) && cases_holds(folder, wanted.name, "", path)) {
            *subject = path;
            return PCS_OK;
        }
    cases_each(cases_take_hint, &wanted);
    return pcs_fail(ctx, PCS_IO_ERROR, "'%s' is no file, folder or name of a case%s", wanted.name, wanted.hint);
}

// Commands, their results on the screen and the signals that end them.

// Set by a signal; the run ends after the present step.
static volatile sig_atomic_t stop_request = 0;

static void commands_stop(int signal_number)
{
    static const char told[] = "\nstopping after this step; again to end at once\n";
    stop_request = 1;
    if (signal_number == SIGINT || signal_number == SIGTERM) { // the second such signal ends the program
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

// Prints what was changed without being an error, in one process.
static void commands_print_notes(const pcs_context *ctx, const pcs_arguments *a, const pcs_case *c)
{
    if (a->is_quiet || !pcs_is_root(ctx)) return;
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
static bool commands_result_path(const char *directory, const char *stem, const char *ending, char path[PCS_CASE_PATH])
{
    int length = snprintf(path, PCS_CASE_PATH, "%s/%s%s", directory, stem, ending);
    return length > 0 && length < PCS_CASE_PATH;
}

// Copies a text file of the results to the screen; absent when the case switched it off.
static void commands_show_file(const char *directory, const char *stem, const char *ending)
{
    char path[PCS_CASE_PATH], block[4096];
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
    char path[PCS_CASE_PATH];
    bool is_there = commands_result_path(directory, stem, ending, path) && access(path, R_OK) == 0;
    if (is_there) printf("%s%s\n", text, path);
    return is_there;
}

static bool commands_show_frames(const char *name, const char *directory, const char *ending)
{
    printf("\nResults in %s\n", directory);
    return commands_show_path("Open in ParaView: ", directory, name, ending);
}

// Warns at the very end if the results are not reliable.
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
    if (!has_frames) return; // nothing for the script to open
    commands_show_path("or with stress and contact forces: paraview --script=", directory, "view", ".py");
}

// Makes the path where a command writes: the given one, or results/<case><ending>.
static bool commands_directory(const pcs_arguments *a, const char *name, const char *ending,
                               char directory[PCS_CASE_PATH])
{
    bool is_given = a->directory != NULL;
    int length = snprintf(directory, PCS_CASE_PATH, "%s%s%s", is_given ? "" : "results/",
                          is_given ? a->directory : name, is_given ? "" : ending);
    return length > 0 && length < PCS_CASE_PATH - 64;
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
    // Turns a limit on file sizes into a write that fails, with a message, instead of the end of the program.
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

// Builds the case of the command line with a perturbed start.
static pcs_status commands_build_neighbour(void *user, const pcs_perturbation *with, pcs_context **ctx, pcs_sim **out)
{
    const pcs_arguments *a = user;
    char text[128];
    PCS_TRY(pcs_context_create(ctx));
    const char **set;
    PCS_TAKE(*ctx, set, a->set.count + 1, "a neighbour");
    for (int i = 0; i < a->set.count; i++) set[i] = a->set.text[i];
    snprintf(text, sizeof text, "perturbation={ energy: %.17g, seed: %d }", with->energy, with->seed);
    set[a->set.count] = text;
    return pcs_build_sim_from(*ctx, a->subject, a->set.count + 1, set, out);
}

int pcs_cli_run(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_sim *sim = NULL;
    pcs_status status = pcs_build_sim_from(ctx, a->subject, a->set.count, a->set.text, &sim);
    if (status == PCS_OK && !isnan(a->perturb))
        status = pcs_horizon_create(sim, a->perturb, commands_build_neighbour, (void *)a);
    if (status != PCS_OK) return pcs_cli_reject(ctx, status);
    if (!commands_take_words(ctx, a)) return PCS_CLI_BAD_USAGE;
    commands_print_notes(ctx, a, sim->input);
    char directory[PCS_CASE_PATH];
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
    // Leaves the folder of a refused run as another run has left it.
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
                                   char directory[PCS_CASE_PATH])
{
    pcs_status status = pcs_build_analysis_from(ctx, a->subject, a->set.count, a->set.text, out);
    if (status != PCS_OK) return commands_fail(ctx, status == PCS_IO_ERROR ? PCS_BAD_INPUT : status);
    commands_print_notes(ctx, a, out->input);
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
    char directory[PCS_CASE_PATH];
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
    options.has_friction = false; // vibrations are small, and contacts with friction can slide in them
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
    char directory[PCS_CASE_PATH];
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
        commands_print_notes(ctx, a, sim->input);
        if (sim->view.question != NULL) fprintf(stderr, "question: %s\n", sim->view.question);
    }
    return PCS_CLI_DONE;
}

// Cases to start from, with comments: percuss new bar DIR.

// Written by cmake/templates.cmake from the files in src/cli/new; each begins with its title.
static const struct {
    const char *name, *text;
} templates[] = {
#include "cli/new_cases.def"
};
enum { NTEMPLATE = sizeof templates / sizeof *templates };

static const char *new_template(int i)
{
    return i < NTEMPLATE ? templates[i].name : NULL;
}

static int new_list(const char *name)
{
    const char *names[NTEMPLATE + 1] = { NULL };
    for (int i = 0; i < NTEMPLATE; i++) names[i] = new_template(i);
    if (name != NULL) return pcs_cli_refuse("new", "there is no case to start from called", name, names);
    for (int i = 0; i < NTEMPLATE; i++) {
        const char *title = templates[i].text + strlen("title: ");
        printf("%-10s %.*s\n", templates[i].name, (int)strcspn(title, "\n"), title);
    }
    return PCS_CLI_DONE;
}

int pcs_cli_new(pcs_context *ctx, const pcs_arguments *a)
{
    char path[4200];
    int chosen = 0;
    while (chosen < NTEMPLATE && (a->subject == NULL || strcmp(templates[chosen].name, a->subject) != 0)) chosen++;
    if (chosen == NTEMPLATE) return new_list(a->subject);
    const char *directory = a->directory == NULL ? templates[chosen].name : a->directory;
    snprintf(path, sizeof path, "%s/case.yaml", directory);
    if (access(path, F_OK) == 0) return pcs_cli_refuse(a->command, "this file is there already:", path, NULL);
    pcs_file *f = NULL;
    pcs_status status = pcs_file_make_folder(ctx, directory);
    if (status == PCS_OK) status = pcs_file_create(ctx, directory, sizeof "case.yaml", 1 << 14, &f);
    if (status == PCS_OK) status = pcs_file_open(f, "case.yaml");
    if (status == PCS_OK) pcs_file_text(f, templates[chosen].text);
    if (status == PCS_OK) status = pcs_file_commit(f);
    if (status != PCS_OK) return pcs_cli_reject(ctx, PCS_FAILED);
    if (!a->is_quiet) printf("%s\nRun it: percuss run %s\n", path, directory);
    return PCS_CLI_DONE;
}

// percuss list: all that a case can name, fit to the screen and page by page where it is long.

static void list_put(void *user, const char *text)
{
    fputs(text, user);
}

static int list_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 40 ? size.ws_col : 0;
}

// Opens a pager that does not stop at short texts, NULL if the output is not a terminal.
static FILE *list_open_pager(void)
{
    const char *pager = getenv("PAGER");
    if (!isatty(STDOUT_FILENO)) return NULL;
    fflush(stdout);
    return popen(pager == NULL || pager[0] == '\0' ? "less -FRX 2>/dev/null || cat" : pager, "w");
}

static int list_plugin(pcs_context *ctx, const pcs_catalogue *catalogue, const char *path)
{
    pcs_status status = pcs_catalogue_write_plugin(ctx, catalogue, path);
    return status == PCS_OK ? PCS_CLI_DONE : pcs_cli_reject(ctx, status);
}

static int list_schema(pcs_context *ctx, const pcs_catalogue *catalogue, const pcs_arguments *a)
{
    if (a->subject != NULL || a->is_markdown)
        return pcs_cli_refuse(a->command, "--schema describes the complete case and does not take",
                              a->is_markdown ? "--markdown" : a->subject, NULL);
    pcs_status status = pcs_catalogue_write_schema(ctx, catalogue);
    return status == PCS_OK ? PCS_CLI_DONE : pcs_cli_reject(ctx, status);
}

// Prints a line for a part that has the word in its name or summary.
static void list_mention(void *user, const char *name, const char *summary)
{
    const char *word = *(const char **)user;
    if (strcasestr(name, word) != NULL || strcasestr(summary, word) != NULL)
        fprintf(stderr, "  %-20s %s\n", name, summary);
}

static int list_refuse(const char *subject)
{
    char hint[128];
    fprintf(stderr, "error: nothing is called '%s'%s see percuss list\n", subject,
            pcs_catalogue_hint(subject, sizeof hint, hint)[0] == '\0' ? "," : hint);
    pcs_catalogue_names(list_mention, &subject);
    return PCS_CLI_BAD_USAGE;
}

int pcs_cli_list(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_catalogue catalogue = { .put = list_put, .user = stdout, .is_markdown = a->is_markdown, .width = list_width() };
    if (a->is_schema) return list_schema(ctx, &catalogue, a);
    bool is_path = a->subject != NULL && strchr(a->subject, '/') != NULL;
    if (is_path) return list_plugin(ctx, &catalogue, a->subject);
    catalogue.name = a->subject;
    FILE *pager = list_open_pager();
    if (pager != NULL) catalogue.user = pager;
    int count = pcs_catalogue_write(&catalogue);
    pcs_catalogue_write_applies(&catalogue);
    if (pager != NULL) pclose(pager);
    return count > 0 ? PCS_CLI_DONE : list_refuse(a->subject);
}

// Completion for shells: percuss complete WORD... prints what the last word may become, a line each, with a tab and a
// few words about it. A line `:files` asks the shell to add names of files. Candidates that end with '.' or '=' go on.

enum { TEXT_ROOM = 160, MOST = 4096 };

typedef struct completion {
    pcs_context *ctx;
    const char *verb, *present; // the command, and the word being written
    int nword;
    char **words; // [nword] from the command on
    int count;
    const char **told; // [count] words printed, each once
} completion;

static void complete_tell(completion *k, const char *word, const char *summary)
{
    if (strncmp(word, k->present, strlen(k->present)) != 0 || k->count == MOST) return;
    for (int i = 0; i < k->count; i++)
        if (strcmp(k->told[i], word) == 0) return;
    k->told[k->count] = pcs_take_text(k->ctx, word);
    if (k->told[k->count] == NULL) return;
    k->count++;
    printf("%s%s%s\n", word, summary[0] == '\0' ? "" : "\t", summary);
}

// Prints a word with the first clause of its help.
static void complete_tell_helped(completion *k, const char *word, const char *help)
{
    char text[TEXT_ROOM];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(help, ";,(["), help);
    complete_tell(k, word, text);
}

static void complete_verbs(completion *k)
{
    for (const pcs_verb *c = pcs_verbs; c->name != NULL; c++) complete_tell_helped(k, c->name, c->help);
}

// Prints the options of a command, or those that need none.
static void complete_options(completion *k, const char *command)
{
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        if (o->kind == PCS_CLI_WORDS || !pcs_verb_takes(command, o)) continue;
        if (o->letter != NULL) complete_tell_helped(k, o->letter, o->help);
        complete_tell_helped(k, o->name, o->help);
    }
}

// Prints a path up to its next dot, so that completion shows one level at a time.
static void complete_path(void *user, const char *path)
{
    completion *k = user;
    char word[PCS_CASE_PATH];
    size_t written = strlen(k->present), length = strlen(path);
    if (strncmp(path, k->present, written < length ? written : length) != 0 || written > length) return;
    size_t next = written + strcspn(path + written, ".");
    snprintf(word, sizeof word, "%.*s%s", (int)next, path, path[next] == '.' ? "." : "=");
    complete_tell(k, word, "");
}

// Prints the keys of the case among the words before: those of the file, and all that its readers know; ignores errors.
static void complete_keys(completion *k)
{
    char path[PCS_CASE_PATH];
    pcs_case *c = NULL;
    pcs_analysis analysis;
    if (k->nword < 3) return;
    const char *subject = k->words[1];
    if (pcs_cli_find_case(k->ctx, &subject, path) != PCS_OK || pcs_case_load(k->ctx, subject, &c) != PCS_OK) return;
    pcs_case_paths(c, complete_path, k);
    (void)pcs_build_analysis(k->ctx, c, &analysis);
    pcs_case_paths(c, complete_path, k);
}

static void complete_case(void *user, const char *name)
{
    complete_tell(user, name, "");
}

static void complete_name(void *user, const char *name, const char *summary)
{
    complete_tell(user, name, summary);
}

static void complete_argument(completion *k, const pcs_verb *c)
{
    if (strcmp(c->arguments, "CASE") == 0) {
        cases_each(complete_case, k);
        puts(":files");
    }
    if (strcmp(c->arguments, "[NAME]") == 0) pcs_catalogue_names(complete_name, k);
    if (strcmp(c->arguments, "[COMMAND]") == 0) complete_verbs(k);
    for (int i = 0; strncmp(c->arguments, "[TEMPLATE]", 10) == 0 && new_template(i) != NULL; i++)
        complete_tell(k, new_template(i), "");
}

// Prints the values of the previous word if that is an option, else returns false. Some shells break words at '='.
static bool complete_value(completion *k)
{
    const char *before = k->words[k->nword - 2];
    bool is_broken = strcmp(before, "=") == 0;
    if (is_broken && k->nword > 2) before = k->words[k->nword - 3];
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        bool is_it = strcmp(before, o->name) == 0 || (o->letter != NULL && strcmp(before, o->letter) == 0);
        if (!is_it || o->value == NULL || !pcs_verb_takes(k->verb, o)) continue;
        if (o->kind == PCS_CLI_TEXTS) complete_keys(k);
        else if (strcmp(o->value, "DIR") == 0) puts(":files");
        else if (o->kind == PCS_CLI_TEXT) complete_tell(k, o->value, "");
        return true;
    }
    return is_broken;
}

static void complete_words(completion *k)
{
    const pcs_verb *c = pcs_verb_find(k->verb);
    if (k->nword < 2) {
        complete_verbs(k);
        if (k->present[0] == '-') complete_options(k, "");
    } else if (c != NULL && !complete_value(k)) {
        if (k->present[0] == '-') complete_options(k, c->name);
        else complete_argument(k, c);
    }
}

int pcs_cli_complete(int nword, char **words)
{
    completion k = { .nword = nword, .words = words };
    if (nword < 1) return PCS_CLI_DONE;
    k.verb = words[0];
    k.present = words[nword - 1];
    if (pcs_context_create(&k.ctx) != PCS_OK) return PCS_CLI_COULD_NOT_GO_ON;
    k.told = pcs_take(k.ctx, MOST, sizeof *k.told, "completion");
    if (k.told != NULL) complete_words(&k);
    pcs_context_destroy(&k.ctx);
    return PCS_CLI_DONE;
}
