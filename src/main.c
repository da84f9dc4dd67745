// The program: finds the command and calls it. Exit status 0: done, 1: the simulation could not go on, 2: bad input.

#define _GNU_SOURCE // fmemopen, dladdr, sigaction, readlink, ioctl, strcasestr, sigaltstack

#include "analysis/modes.h"
#include "analysis/statics.h"
#include "build/build.h"
#include "build/catalogue.h"
#include "case/case.h"
#include "core/archive.h"
#include "core/blas.h"
#include "core/comm.h"
#include "core/open.h"
#include "core/text.h"
#include "linsolve/linsolve.h"
#include "output/file.h"
#include "output/summary.h"
#include "percuss.h"
#include "sim/horizon.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

// Exit status.
enum { PCS_CLI_DONE = 0, PCS_CLI_COULD_NOT_GO_ON = 1, PCS_CLI_BAD_USAGE = 2 };

enum { PCS_CLI_OPTIONS = 32, PCS_CASE_PATH = 4096 };

// Texts of an option that may be given several times.
typedef struct pcs_texts {
    int count;
    const char **text; // [count]
} pcs_texts;

typedef struct pcs_arguments {
    const char *command, *subject; // run CASE, list NAME
    const char *directory;
    pcs_texts set;
    int count, steps;  // number of modes, of load steps; -1 if not given
    const char *about; // state of modes: "statics", or NULL
    double time;       // s, NAN if not given
    int nword;
    const char *const *words; // [nword] after --, for PETSc
    bool resumes, overwrites; // options of run
    double perturb;           // relative size, NAN if not given; likewise
    bool no_plugins;          // option of check
    bool is_quiet, is_markdown, is_schema, is_man, is_whirl, wants_help, wants_version;
    unsigned long long hash;        // hash of all arguments
    bool is_given[PCS_CLI_OPTIONS]; // the option at this index of the table is given
} pcs_arguments;

typedef int command_call(pcs_context *ctx, const pcs_arguments *a);
static command_call cli_run, cli_statics, cli_modes, cli_check, cli_new, cli_list;

typedef struct pcs_verb {
    const char *name;      // NULL ends the table
    command_call *call;    // NULL if it is a program of its own, or help
    bool is_for_one;       // runs in one process only, not under mpiexec
    const char *arguments; // "CASE"; "[NAME]" may be left out
    const char *help;
} pcs_verb;

typedef enum pcs_cli_kind {
    PCS_CLI_FLAG,
    PCS_CLI_TEXT,
    PCS_CLI_TEXTS,
    PCS_CLI_COUNT,
    PCS_CLI_REAL,
    PCS_CLI_WORDS // all following words
} pcs_cli_kind;

typedef struct pcs_cli_option {
    const char *name, *letter; // "--output", "-o"; NULL if no letter; a NULL name ends the table
    pcs_cli_kind kind;
    const char *value;    // kind of value, "DIR"; in lower case the only text allowed; NULL for a flag
    const char *commands; // commands that take it, "run statics"; NULL for all
    const char *help;
    size_t place;       // offset in pcs_arguments of a member whose type belongs to the kind
    double least, most; // range of a count
} pcs_cli_option;

enum { WIDTH = 112, TEXT_ROOM = 8192, TERM_ROOM = 160 };

// The commands with their options, in one table each: the reading of the command line, usage, help, the page of the
// manual and completion come from them.

static const pcs_verb pcs_verbs[] = {
    { "run", cli_run, false, "CASE", "simulate the case; results go to DIR (results/<case> unless given)" },
    { "statics", cli_statics, true, "CASE",
      "equilibrium under loads that rise from zero, starting from the reference state (initial values are not used), "
      "as the section `statics` of the case says; statics.csv and a frame per load step go to DIR "
      "(results/<case>_statics unless given)" },
    { "modes", cli_modes, true, "CASE",
      "natural frequencies and mode shapes about the reference state, smallest first, on the screen, in modes.csv and "
      "as frames for ParaView in DIR (results/<case>_modes unless given)" },
    { "study", NULL, true, "CASE|STUDY ...",
      "run the case over values of its keys, side by side; study.csv, study.json and the runs go to DIR "
      "(results/<case>_study unless given); finished runs are not repeated" },
    { "plot", NULL, true, "RESULTS ...",
      "pictures of results, by matplotlib: one of the given columns of history.csv, or the usual ones of a run, study, "
      "equilibrium or modes; several results share a picture" },
    { "compare", NULL, true, "A B ...",
      "where two results or studies first differ, column by column; A and B are folders or CSV files" },
    { "fit", NULL, true, "CASE ...",
      "parameters of the case that reproduce measured data best, with confidence intervals" },
    { "converge", NULL, true, "CASE ...", "refine mesh and step until a measure is as accurate as requested" },
    { "report", NULL, true, "RESULTS|STUDY ...",
      "one page of HTML about results of run, study, statics or modes: the model in motion, contacts, energies, "
      "curves, pictures, certificate; report.html in their folder unless -o names another file" },
    { "view", NULL, true, "RESULTS ...",
      "a picture or movie of the results in the folder RESULTS, by ParaView's Python" },
    { "check", cli_check, false, "CASE", "report every error of the case, build the model, do not run it" },
    { "new", cli_new, true, "[TEMPLATE] [DIR]",
      "write a commented case to start from into DIR (named like the case unless given); without TEMPLATE, list them" },
    { "list", cli_list, true, "[NAME]",
      "elements, schemes, gap types and everything else a case can name, with options, allowed ranges and defaults" },
    { "help", NULL, true, "[COMMAND]", "this text, or the part of it about COMMAND" },
    { .name = NULL },
};

#define PLACE(field) offsetof(pcs_arguments, field)

static const pcs_cli_option pcs_cli_options[] = {
    { "--output", "-o", PCS_CLI_TEXT, "DIR", "run statics modes new", "where the results go", PLACE(directory), 0, 0 },
    { "--set", NULL, PCS_CLI_TEXTS, "path.to.key=value", "run statics modes check",
      "replace or add a value of the case, with the same checks; list items by number from 0: "
      "--set scheme.rho_inf=0.5 --set initial.0.velocity=[1,0,0]",
      PLACE(set), 0, 0 },
    { "--quiet", "-q", PCS_CLI_FLAG, NULL, "run statics modes check new", "no progress, no summary on the screen",
      PLACE(is_quiet), 0, 0 },
    { "--resume", NULL, PCS_CLI_FLAG, NULL, "run", "continue from the last checkpoint in DIR", PLACE(resumes), 0, 0 },
    { "--overwrite", NULL, PCS_CLI_FLAG, NULL, "run", "start again where DIR holds an interrupted run",
      PLACE(overwrites), 0, 0 },
    { "--perturb", NULL, PCS_CLI_REAL, "SIZE", "run",
      "also run two neighbours whose start velocities differ by the fraction SIZE (such as 1e-9, at most 1e-3) of "
      "those "
      "of the motion, and report until when the probes agree",
      PLACE(perturb), 1e-15, 1e-3 },
    { "--no-plugins", NULL, PCS_CLI_FLAG, NULL, "check", "refuse a case that names a plug-in, whose code would run",
      PLACE(no_plugins), 0, 0 },
    { "--steps", NULL, PCS_CLI_COUNT, "N", "statics modes",
      "least number of load steps [1 for linear models without friction, else 10]; of modes with --about statics",
      PLACE(steps), 1, 1e6 },
    { "--time", NULL, PCS_CLI_REAL, "T", "statics modes", "time at which loads and driven joints are evaluated, s [0]",
      PLACE(time), 0, 0 },
    { "--count", NULL, PCS_CLI_COUNT, "N", "modes", "number of modes [10]", PLACE(count), 1, 1e6 },
    { "--about", NULL, PCS_CLI_TEXT, "statics", "modes",
      "modes about the equilibrium, in which closed contacts stay closed", PLACE(about), 0, 0 },
    { "--whirl", NULL, PCS_CLI_FLAG, NULL, "modes",
      "with damping and gyroscopic forces, forward and backward whirl; always where the damping or stiffness matrix is "
      "not symmetric",
      PLACE(is_whirl), 0, 0 },
    { "--markdown", NULL, PCS_CLI_FLAG, NULL, "list", "tables in Markdown", PLACE(is_markdown), 0, 0 },
    { "--schema", NULL, PCS_CLI_FLAG, NULL, "list",
      "the JSON schema of a case file, by which editors complete and check keys", PLACE(is_schema), 0, 0 },
    { "--man", NULL, PCS_CLI_FLAG, NULL, "help", "the page of the manual, in roff", PLACE(is_man), 0, 0 },
    { "--", NULL, PCS_CLI_WORDS, "PETSC OPTIONS", "run check",
      "for runs under mpiexec and for `solver: { linear: petsc }`: -- -ksp_type cg; -mass_... and -iteration_... are "
      "for one matrix, others for both",
      0, 0, 0 },
    { "--help", "-h", PCS_CLI_FLAG, NULL, NULL, "this text, or the part of it about the command", PLACE(wants_help), 0,
      0 },
    { "--version", NULL, PCS_CLI_FLAG, NULL, NULL, "version, compiler and libraries", PLACE(wants_version), 0, 0 },
    { .name = NULL },
};
_Static_assert(sizeof pcs_cli_options / sizeof *pcs_cli_options <= PCS_CLI_OPTIONS, "each has a place in is_given");

static const char about[] = "Simulates impact, friction and vibration of bars, beams and rigid bodies. CASE is a file "
                            "or a folder that holds case.yaml.";
static const char tools[] =
    "study, plot, compare, report, view, fit, converge are programs percuss-NAME in Python; others on PATH run, too.";
static const char statuses[] =
    "Exit status: 0 done, 1 the simulation could not go on (what was computed is kept), 2 bad input or usage. "
    "compare: 0 alike, 1 they differ, 2 bad input or usage.";

// Returns the command of this name, NULL if there is none.
static const pcs_verb *verb_find(const char *name)
{
    const pcs_verb *c = pcs_verbs;
    while (c->name != NULL && strcmp(c->name, name) != 0) c++;
    return c->name == NULL ? NULL : c;
}

// Returns the command of this name, NULL if there is none.
static bool verb_takes(const char *command, const pcs_cli_option *option)
{
    size_t length = strlen(command);
    for (const char *p = option->commands; p != NULL; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, command, length) == 0 && strchr(" ", p[length]) != NULL) return true;
    }
    return option->commands == NULL;
}

static void usage_put(void *user, const char *text)
{
    fputs(text, user);
}

static void usage_of(FILE *stream, const pcs_verb *c, const char *head)
{
    char text[TEXT_ROOM];
    int column = fprintf(stream, "%spercuss %s ", head, c->name);
    snprintf(text, sizeof text, "%s", c->arguments);
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        if (o->commands == NULL || !verb_takes(c->name, o)) continue;
        pcs_text_add(text, sizeof text, " [%s%s%s]%s", o->letter == NULL ? o->name : o->letter,
                     o->value == NULL ? "" : " ", o->value == NULL ? "" : o->value,
                     o->kind == PCS_CLI_TEXTS ? "..." : "");
    }
    pcs_text_fill(usage_put, stream, WIDTH, column, column, text);
}

// Prints the usage of a command, or of all if it is NULL.
static void usage_show(FILE *stream, const pcs_verb *command)
{
    if (command != NULL) {
        usage_of(stream, command, "usage: ");
        return;
    }
    for (const pcs_verb *c = pcs_verbs; c->name != NULL; c++)
        usage_of(stream, c, c == pcs_verbs ? "usage: " : "       ");
    fputs("       percuss --help | --version\n", stream);
}

// Writes "-o, --output DIR".
static const char *usage_term(const pcs_cli_option *o, char term[TERM_ROOM])
{
    snprintf(term, TERM_ROOM, "%s%s%s%s%s", o->letter == NULL ? "" : o->letter, o->letter == NULL ? "" : ", ", o->name,
             o->value == NULL ? "" : " ", o->value == NULL ? "" : o->value);
    return term;
}

// Prints usage and help of a command with its options, or of all if it is NULL.
static void usage_explain(const pcs_verb *command)
{
    char term[TERM_ROOM];
    usage_show(stdout, command);
    if (command == NULL) printf("\n%s\n", about);
    putchar('\n');
    for (const pcs_verb *c = pcs_verbs; c->name != NULL; c++)
        if (command == NULL || command == c)
            pcs_text_fill(usage_put, stdout, WIDTH, printf("  %-8s ", c->name), 11, c->help);
    if (command == NULL) printf("\n%s\n", tools);
    putchar('\n');
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++)
        if (o->commands != NULL && (command == NULL || verb_takes(command->name, o)))
            pcs_text_fill(usage_put, stdout, WIDTH, printf("  %-25s ", usage_term(o, term)), 28, o->help);
    if (command != NULL) return;
    putchar('\n');
    pcs_text_fill(usage_put, stdout, WIDTH, 0, 0, statuses);
}

// Prints one line of text for roff; hyphens that someone may copy become minus signs.
static void man_put(const char *text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\'')) fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\') fputs("\\e", stdout);
        else if (text[i] == '"') fputs("\\(dq", stdout);
        else if (text[i] == '-') fputs("\\-", stdout);
        else putchar(text[i]);
    }
    putchar('\n');
}

static void man_entry(const char *term, const char *text)
{
    printf(".TP\n.B ");
    man_put(term, strlen(term));
    man_put(text, strlen(text));
}

static void man_synopsis(void)
{
    char usage[TEXT_ROOM] = "";
    FILE *stream = fmemopen(usage, sizeof usage, "w");
    if (stream == NULL) return;
    usage_show(stream, NULL);
    fclose(stream);
    puts(".nf");
    for (const char *text = usage + strlen("usage: "); *text != '\0';) {
        size_t margin = strspn(text, " "), line = strcspn(text, "\n");
        if (strncmp(text + margin, "percuss", 7) != 0) fputs("    ", stdout);
        man_put(text + margin, line - margin);
        text += line + (text[line] == '\n');
    }
    puts(".fi");
}

// Prints the page of the manual, in roff.
static void usage_man(void)
{
    char term[TERM_ROOM];
    printf(".TH PERCUSS 1 \"\" \"Percuss %s\" \"User Commands\"\n", percuss_version());
    puts(".SH NAME\npercuss \\- flexible bodies in contact, by nonsmooth time integration\n.SH SYNOPSIS");
    man_synopsis();
    puts(".SH DESCRIPTION");
    man_put(about, strlen(about));
    man_put(tools, strlen(tools));
    puts(".SH COMMANDS");
    for (const pcs_verb *c = pcs_verbs; c->name != NULL; c++) man_entry(c->name, c->help);
    puts(".SH OPTIONS");
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) man_entry(usage_term(o, term), o->help);
    puts(".SH \"EXIT STATUS\"");
    man_put(statuses, strlen(statuses));
    puts(
        ".SH FILES\n.TP\n.I case.yaml\nthe case within a folder; every key is listed by\n.B percuss list\n"
        ".TP\n.I share/percuss/cases\ncases that can be run by their names\n"
        ".TP\n.I share/percuss/case.schema.json\nthe JSON schema of a case file, for editors\n"
        ".SH EXAMPLES\n.nf\npercuss run bar_impact\npercuss run bar_impact \\-\\-set mesh.bar.elements=400 \\-o finer\n"
        "percuss study bar_impact \\-\\-vary scheme.rho_inf=0,0.5,1\n.fi\n"
        ".SH \"SEE ALSO\"\n.BR paraview (1),\n.BR mpiexec (1)");
}

// Reads the command line by the tables of commands and options.

// Prints an error, with a hint at the nearest of the names unless these are NULL, and the usage of the command, or of
// all commands if it is NULL or unknown. Returns the exit status.
static int cli_refuse(const char *command, const char *what, const char *text, const char *const *names)
{
    char hint[PCS_SPELLING_BYTES] = "";
    if (names != NULL) pcs_spelling_hint(text, names, sizeof hint, hint);
    fprintf(stderr, "error: %s '%s'%s\n", what, text, hint);
    usage_show(stderr, command == NULL ? NULL : verb_find(command));
    return PCS_CLI_BAD_USAGE;
}

// Reports a value that an option does not take. Returns the exit status.
static int arguments_refuse(const pcs_arguments *a, const pcs_cli_option *o, const char *wanted, const char *text)
{
    char what[128];
    snprintf(what, sizeof what, "%s must be %s, is", o->name, wanted);
    return cli_refuse(a->command, what, text, NULL);
}

// Reads the value of an option, or notes the option itself.
static int arguments_store(pcs_arguments *a, const pcs_cli_option *o, const char *text)
{
    void *place = (char *)a + o->place;
    pcs_texts *texts = place;
    char *end = NULL, wanted[64];
    double x = o->kind == PCS_CLI_REAL ? strtod(text, &end) : 0.0;
    if (o->kind == PCS_CLI_COUNT) x = (double)strtol(text, &end, 10);
    bool is_number = end != NULL && end != text && *end == '\0' && isfinite(x);
    bool is_within = is_number && (o->most == 0.0 || (x >= o->least && x <= o->most));
    a->is_given[o - pcs_cli_options] = true;
    switch (o->kind) {
    case PCS_CLI_FLAG: *(bool *)place = true; break;
    case PCS_CLI_TEXT:
        snprintf(wanted, sizeof wanted, "'%s'", o->value);
        if (islower((unsigned char)o->value[0]) && strcmp(text, o->value) != 0)
            return arguments_refuse(a, o, wanted, text);
        *(const char **)place = text;
        break;
    case PCS_CLI_TEXTS: texts->text[texts->count++] = text; break;
    case PCS_CLI_COUNT:
        snprintf(wanted, sizeof wanted, "a whole number from %.0f to %.0f", o->least, o->most);
        if (!is_within) return arguments_refuse(a, o, wanted, text);
        *(int *)place = (int)x;
        break;
    case PCS_CLI_REAL:
        if (!is_within) return arguments_refuse(a, o, is_number ? "in [1e-15, 1e-3]" : "a number", text);
        *(double *)place = x;
        break;
    case PCS_CLI_WORDS: break; // read with all words that follow
    }
    return PCS_CLI_DONE;
}

// Parses --name VALUE, --name=VALUE or -n VALUE.
static int arguments_parse_option(int argc, char **argv, int *i, pcs_arguments *a)
{
    const char *text = argv[*i], *names[2 * PCS_CLI_OPTIONS + 1] = { NULL };
    int count = 0;
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        size_t length = strlen(o->name);
        bool is_alone = strcmp(text, o->name) == 0 || (o->letter != NULL && strcmp(text, o->letter) == 0);
        bool takes_value = o->kind != PCS_CLI_FLAG && o->kind != PCS_CLI_WORDS;
        if (is_alone && o->kind == PCS_CLI_FLAG) return arguments_store(a, o, NULL);
        if (is_alone && takes_value && *i + 1 == argc)
            return cli_refuse(a->command, "a value must follow the option", text, NULL);
        if (is_alone && takes_value) return arguments_store(a, o, argv[++*i]);
        if (takes_value && strncmp(text, o->name, length) == 0 && text[length] == '=')
            return arguments_store(a, o, text + length + 1);
        if (is_alone) { // all words that follow
            a->nword = argc - *i - 1;
            a->words = (const char *const *)argv + *i + 1;
            a->is_given[o - pcs_cli_options] = a->nword > 0;
            *i = argc;
            return PCS_CLI_DONE;
        }
        names[count++] = o->name;
        if (o->letter != NULL) names[count++] = o->letter;
    }
    return cli_refuse(a->command, "unknown option", text, names);
}

// Parses the arguments; `set` needs space for argc texts. This and the next return the exit status or PCS_CLI_DONE.
static int cli_parse(int argc, char **argv, pcs_arguments *a)
{
    a->hash = PCS_HASH_START;
    for (int i = 1; i < argc; i++) a->hash = pcs_hash(a->hash, argv[i], strlen(argv[i]) + 1);
    for (int i = 1; i < argc; i++) {
        int answer = PCS_CLI_DONE;
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            answer = arguments_parse_option(argc, argv, &i, a);
        } else if (a->command == NULL) {
            a->command = argv[i];
        } else if (a->subject == NULL) {
            a->subject = argv[i];
        } else if (strcmp(a->command, "new") == 0 && a->directory == NULL) {
            a->directory = argv[i];
        } else {
            answer = cli_refuse(a->command, "one argument too many:", argv[i], NULL);
        }
        if (answer != PCS_CLI_DONE) return answer;
    }
    return PCS_CLI_DONE;
}

// Prints the error about an unknown command. Returns the exit status.
static int cli_refuse_command(const char *name)
{
    const char *names[64] = { NULL };
    for (int i = 0; pcs_verbs[i].name != NULL && i < 63; i++) names[i] = pcs_verbs[i].name;
    return cli_refuse(NULL, "unknown command", name, names);
}

static int arguments_refuse_foreign(const char *command, const pcs_cli_option *o)
{
    char what[384];
    snprintf(what, sizeof what, "%s is an option of ", o->name);
    for (const char *p = o->commands; *p != '\0'; p++)
        pcs_text_add(what, sizeof what - 16, "%s%c", *p == ' ' ? "," : "", *p);
    pcs_text_add(what, sizeof what, ", not of");
    return cli_refuse(command, what, command, NULL);
}

// Checks the arguments of a command; options that it does not take are errors.
static int cli_check_usage(const pcs_arguments *a)
{
    const char *command = a->command;
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++)
        if (a->is_given[o - pcs_cli_options] && !verb_takes(command, o)) return arguments_refuse_foreign(command, o);
    if (a->subject == NULL && verb_find(command)->arguments[0] != '[')
        return cli_refuse(command, "a case must follow", command, NULL);
    if (a->resumes && a->overwrites)
        return cli_refuse(command, "--resume and --overwrite are both given to", command, NULL);
    if (a->resumes && !isnan(a->perturb))
        return cli_refuse(command, "--perturb and --resume are both given to", command, NULL);
    if (strcmp(command, "modes") == 0 && a->about == NULL && a->steps > 0)
        return cli_refuse(command, "--steps is for statics and modes --about statics, not for", command, NULL);
    return PCS_CLI_DONE;
}

// percuss --version: what was built, by what, and which libraries are linked. Versions come from the libraries that
// are loaded, or from the build if these do not give one.

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void ilaver_(int *major, int *minor, int *patch);

// Writes the configuration of OpenBLAS, or the file name of another BLAS.
static void version_blas(size_t size, char *text)
{
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_config");
    char *(*print)(void) = NULL;
    Dl_info info;
    memcpy(&print, &symbol, sizeof print);
    if (print != NULL) {
        snprintf(text, size, "%s", print());
        return;
    }
    symbol = dlsym(RTLD_DEFAULT, "dgemm_");
    const char *name = symbol != NULL && dladdr(symbol, &info) != 0 ? info.dli_fname : "linked in";
    const char *slash = strrchr(name, '/');
    snprintf(text, size, "%s", slash == NULL ? name : slash + 1);
}

// Prints version, compiler, flags and libraries.
static void cli_version(void)
{
    int suite[3], cholmod[3], lapack[3];
    char blas[256] = "";
    pcs_suitesparse_version(suite, cholmod);
    version_blas(sizeof blas, blas);
    ilaver_(&lapack[0], &lapack[1], &lapack[2]);
    printf("percuss %s\ncompiler     %s\nbuild        %s\n", percuss_version(), COMPILER, PERCUSS_BUILD);
    printf("SuiteSparse  %d.%d.%d, CHOLMOD %d.%d.%d\n", suite[0], suite[1], suite[2], cholmod[0], cholmod[1],
           cholmod[2]);
    printf("ARPACK       %s\nBLAS         %s\nLAPACK       %d.%d.%d\n", PERCUSS_ARPACK, blas, lapack[0], lapack[1],
           lapack[2]);
    printf("libyaml      %s\nPETSc        %s\n", pcs_yaml_version(), PERCUSS_PETSC_VERSION);
}

// Folders of cases, relative to the folder of the program.
static const char *const near_program[] = { "cases", "share/percuss/cases" };
enum { NFOLDER = 1 + sizeof near_program / sizeof *near_program, MOST_CASES = 1024 };

// Finds folder k of cases. False if the program cannot find its own path.
static bool cases_folder(int k, char folder[PCS_CASE_PATH])
{
    return k == 0 ? snprintf(folder, PCS_CASE_PATH, "cases") > 0
                  : pcs_open_near_program(near_program[k - 1], 1, PCS_CASE_PATH, folder);
}

static bool cases_holds(const char *folder, const char *name, const char *file, char path[PCS_CASE_PATH])
{
    int length = snprintf(path, PCS_CASE_PATH, "%s/%s%s", folder, name, file);
    return length < PCS_CASE_PATH && access(path, F_OK) == 0;
}

// Lists the names of all cases, ended by NULL. One may come twice.
static void cases_list(pcs_context *ctx, const char *names[MOST_CASES + 1])
{
    char folder[PCS_CASE_PATH], path[PCS_CASE_PATH];
    int count = 0;
    for (int k = 0; k < NFOLDER; k++) {
        DIR *stream = cases_folder(k, folder) ? opendir(folder) : NULL;
        if (stream == NULL) continue;
        for (const struct dirent *entry; (entry = readdir(stream)) != NULL && count < MOST_CASES;)
            if (cases_holds(folder, entry->d_name, "/case.yaml", path))
                if ((names[count] = pcs_take_text(ctx, entry->d_name)) != NULL) count++;
        closedir(stream);
    }
    names[count] = NULL;
}

// Sets `subject` to `path` if it is the name of a case and not a path; fails if it is neither.
static pcs_status cli_find_case(pcs_context *ctx, const char **subject, char path[PCS_CASE_PATH])
{
    char folder[PCS_CASE_PATH], hint[PCS_SPELLING_BYTES];
    const char *name = *subject, *names[MOST_CASES + 1];
    if (strchr(name, '/') != NULL || access(name, F_OK) == 0) return PCS_OK;
    for (int k = 0; k < NFOLDER; k++)
        if (cases_folder(k, folder) && cases_holds(folder, name, "", path)) {
            *subject = path;
            return PCS_OK;
        }
    cases_list(ctx, names);
    return pcs_fail(ctx, PCS_IO_ERROR, "'%s' is no file, folder or name of a case%s", name,
                    pcs_spelling_hint(name, names, sizeof hint, hint));
}

// Commands, their results on the screen and the signals that end them.

// Set by a signal; the run ends after the present step.
static volatile sig_atomic_t stop_request = 0;

static void commands_stop(int signal_number)
{
    static const char reported[] = "\nstopping after this step; again to end at once\n";
    stop_request = 1;
    if (signal_number == SIGINT || signal_number == SIGTERM) { // the second such signal ends the program
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    if (isatty(STDERR_FILENO) && write(STDERR_FILENO, reported, sizeof reported - 1) < 0) return;
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
static int cli_reject(const pcs_context *ctx, pcs_status status)
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

// Copies the summary to the screen; absent when the case switched it off.
static void commands_show_summary(pcs_context *ctx, const char *directory)
{
    char path[PCS_CASE_PATH], *text;
    size_t size;
    if (!commands_result_path(directory, "summary", ".txt", path) || access(path, R_OK) != 0) return;
    if (pcs_text_file(ctx, path, "the summary", PCS_TEXT_MOST, &text, &size) == PCS_OK) fputs(text, stdout);
    pcs_scratch_free(text);
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

// Shows where the results are, and warns at the very end if they are not reliable.
static void commands_show_results(const pcs_sim *sim, const char *directory)
{
    if (access(directory, X_OK) == 0) {
        commands_show_summary(sim->ctx, directory);
        bool has_frames = commands_show_frames(sim->view.case_name, directory, ".vtk.series");
        if (commands_show_path("Open in ParaView: ", directory, sim->view.case_name, ".pvd")) has_frames = true;
        if (has_frames) // else the script has nothing to open
            commands_show_path("or with stress and contact forces: paraview --script=", directory, "view", ".py");
    }
    for (int i = 0; i < sim->nobserver; i++) {
        const pcs_summary *s = sim->observers[i].data;
        if (strcmp(sim->observers[i].ops->name, "summary") != 0 || s->verdict.verdict != PCS_UNRESOLVED) continue;
        printf("UNRESOLVED: %s; the summary says what to change\n",
               pcs_resolution_advise(&s->verdict, &s->resolution).reason);
    }
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
    cli_refuse(a->command,
               "options of PETSc are for mpiexec and for solver.linear=petsc, not for this case:", a->words[0], NULL);
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

static int cli_run(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_sim *sim = NULL;
    pcs_status status = pcs_build_sim_from(ctx, a->subject, a->set.count, a->set.text, &sim);
    if (status == PCS_OK && !isnan(a->perturb))
        status = pcs_horizon_create(sim, a->perturb, commands_build_neighbour, (void *)a);
    if (status != PCS_OK) return cli_reject(ctx, status);
    if (!commands_take_words(ctx, a)) return PCS_CLI_BAD_USAGE;
    commands_print_notes(ctx, a, sim->input);
    char directory[PCS_CASE_PATH];
    if (!commands_directory(a, sim->view.case_name, "", directory))
        return cli_refuse(a->command, "too long a path:", directory, NULL);
    commands_catch_signals();
    sim->stop_request = &stop_request;
    sim->resumes = a->resumes;
    sim->overwrites = a->overwrites;
    sim->view.show = pcs_is_root(ctx) ? commands_show : NULL;
    sim->view.show_user = stderr;
    sim->view.is_terminal = isatty(STDERR_FILENO) != 0;
    status = pcs_sim_run(sim, directory, !a->is_quiet);
    // Leaves the folder of a refused run as another run has left it.
    if (!a->is_quiet && pcs_is_root(ctx) && sim->has_files) commands_show_results(sim, directory);
    return status == PCS_OK ? PCS_CLI_DONE : commands_fail(ctx, status);
}

// Builds the model of an analysis and makes the path of its results. Returns the exit status.
static int commands_build_analysis(pcs_context *ctx, const pcs_arguments *a, const char *ending, pcs_analysis *out,
                                   char directory[PCS_CASE_PATH])
{
    pcs_status status = pcs_build_analysis_from(ctx, a->subject, a->set.count, a->set.text, out);
    if (status != PCS_OK) return commands_fail(ctx, status == PCS_IO_ERROR ? PCS_BAD_INPUT : status);
    commands_print_notes(ctx, a, out->input);
    bool has_room = commands_directory(a, out->case_name, ending, directory);
    return has_room ? PCS_CLI_DONE : cli_refuse(a->command, "too long a path:", directory, NULL);
}

// Returns the options of the case, with those of the command line in place of them.
static pcs_statics_options commands_statics_options(const pcs_analysis *on, const pcs_arguments *a)
{
    pcs_statics_options options = on->statics;
    if (a->steps > 0) options.steps = a->steps;
    if (!isnan(a->time)) options.time = a->time;
    return options;
}

static int cli_statics(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_analysis analysis;
    pcs_statics statics;
    char directory[PCS_CASE_PATH];
    int answer = commands_build_analysis(ctx, a, "_statics", &analysis, directory);
    if (answer != PCS_CLI_DONE) return answer;
    pcs_statics_options options = commands_statics_options(&analysis, a);
    pcs_status status = pcs_statics_run(&analysis, &options, directory, &statics);
    if (!a->is_quiet && status != PCS_BAD_INPUT) {
        commands_show_summary(ctx, directory);
        commands_show_frames(analysis.case_name, directory, "_statics.vtk.series");
    }
    return status == PCS_OK ? PCS_CLI_DONE : commands_fail(ctx, status);
}

// Finds the equilibrium about which the modes are sought, if one is asked for.
static pcs_status commands_find_state(const pcs_analysis *on, const pcs_arguments *a, pcs_modes_options *modes)
{
    pcs_statics statics;
    pcs_statics_options options = commands_statics_options(on, a);
    modes->time = options.time;
    if (a->about == NULL) return PCS_OK;
    double *q;
    PCS_TAKE(on->ctx, q, on->system->nq, "equilibrium");
    memcpy(q, on->start, (size_t)on->system->nq * sizeof *q);
    return pcs_modes_about(on, options, q, &statics, modes);
}

static int cli_modes(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_analysis analysis;
    pcs_modes modes;
    char directory[PCS_CASE_PATH];
    int answer = commands_build_analysis(ctx, a, "_modes", &analysis, directory);
    if (answer != PCS_CLI_DONE) return answer;
    pcs_modes_options options = { .count = a->count > 0 ? a->count : 10, .is_whirl = a->is_whirl };
    pcs_status status = commands_find_state(&analysis, a, &options);
    if (status == PCS_OK) status = pcs_modes_find(&analysis, &options, &modes);
    bool is_shown = status == PCS_OK && !a->is_quiet;
    if (is_shown) printf("%5s %16s %16s %12s  %s\n", "mode", "w, rad/s", "f, Hz", "damping", "kind");
    int nshown = is_shown ? modes.count : 0;
    for (int k = 0; k < nshown; k++) {
        const pcs_mode *m = &modes.modes[k];
        printf("%5d %16.9g %16.9g %12.5g  %s%s%s\n", k + 1, m->w, pcs_mode_hertz(m), m->damping,
               pcs_mode_kind_text(m->kind), m->name[0] == '\0' ? "" : ": ", m->name);
    }
    if (status == PCS_OK) status = pcs_modes_write(&analysis, &modes, directory);
    if (status != PCS_OK) return commands_fail(ctx, status);
    if (!a->is_quiet) commands_show_frames(analysis.case_name, directory, "_modes.vtk.series");
    return PCS_CLI_DONE;
}

static void commands_print_line(void *user, const char *line)
{
    printf("  %s\n", line);
}

static int cli_check(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_sim *sim = NULL;
    const pcs_source source = {
        .path = a->subject, .nset = a->set.count, .set = a->set.text, .no_plugins = a->no_plugins
    };
    pcs_status status = pcs_build_to_check(ctx, &source, &sim);
    if (status != PCS_OK) return cli_reject(ctx, status);
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

// Written by cmake/templates.cmake from the files in src/new; each begins with its title.
static const struct {
    const char *name, *text;
} templates[] = {
#include "new_cases.def"
};
enum { NTEMPLATE = sizeof templates / sizeof *templates };

static int new_list(const char *name)
{
    const char *names[NTEMPLATE + 1] = { NULL };
    for (int i = 0; i < NTEMPLATE; i++) names[i] = templates[i].name;
    if (name != NULL) return cli_refuse("new", "there is no case to start from called", name, names);
    for (int i = 0; i < NTEMPLATE; i++) {
        const char *title = templates[i].text + strlen("title: ");
        printf("%-10s %.*s\n", templates[i].name, (int)strcspn(title, "\n"), title);
    }
    return PCS_CLI_DONE;
}

static int cli_new(pcs_context *ctx, const pcs_arguments *a)
{
    char path[4200];
    int chosen = 0;
    while (chosen < NTEMPLATE && (a->subject == NULL || strcmp(templates[chosen].name, a->subject) != 0)) chosen++;
    if (chosen == NTEMPLATE) return new_list(a->subject);
    const char *directory = a->directory == NULL ? templates[chosen].name : a->directory;
    snprintf(path, sizeof path, "%s/case.yaml", directory);
    if (access(path, F_OK) == 0) return cli_refuse(a->command, "this file is there already:", path, NULL);
    pcs_status status = pcs_file_make_folder(ctx, directory);
    if (status == PCS_OK) status = pcs_file_write(ctx, directory, "case.yaml", templates[chosen].text);
    if (status != PCS_OK) return cli_reject(ctx, PCS_FAILED);
    if (!a->is_quiet) printf("%s\nRun it: percuss run %s\n", path, directory);
    return PCS_CLI_DONE;
}

// percuss list: all that a case can name, fit to the screen.

// Prints an error, and a line for each part that has the word in its name or summary.
static int list_refuse(const char *subject)
{
    char hint[PCS_SPELLING_BYTES];
    pcs_catalogue_names all;
    pcs_catalogue_list(&all);
    fprintf(stderr, "error: nothing is called '%s'%s see percuss list\n", subject,
            pcs_spelling_hint(subject, all.name, sizeof hint, hint)[0] == '\0' ? "," : hint);
    for (int i = 0; i < all.count; i++)
        if (strcasestr(all.name[i], subject) != NULL || strcasestr(all.summary[i], subject) != NULL)
            fprintf(stderr, "  %-20s %s\n", all.name[i], all.summary[i]);
    return PCS_CLI_BAD_USAGE;
}

static int cli_list(pcs_context *ctx, const pcs_arguments *a)
{
    struct winsize size;
    bool has_width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 40;
    bool is_path = a->subject != NULL && strchr(a->subject, '/') != NULL;
    pcs_catalogue catalogue = { .put = usage_put, .user = stdout, .is_markdown = a->is_markdown };
    if (has_width) catalogue.width = size.ws_col;
    if (!is_path) catalogue.name = a->subject;
    if (a->is_schema && (a->subject != NULL || a->is_markdown))
        return cli_refuse(a->command, "--schema describes the complete case and does not take",
                          a->is_markdown ? "--markdown" : a->subject, NULL);
    pcs_status status = PCS_OK;
    if (a->is_schema) status = pcs_catalogue_write_schema(ctx, &catalogue);
    else if (is_path) status = pcs_catalogue_write_plugin(ctx, &catalogue, a->subject);
    else return pcs_catalogue_write(&catalogue) > 0 ? PCS_CLI_DONE : list_refuse(a->subject);
    return status == PCS_OK ? PCS_CLI_DONE : cli_reject(ctx, status);
}

// Completion for shells: percuss complete WORD... prints what the last word may become, a line each, with a tab and a
// few words about it. A line `:files` asks the shell to add names of files. Candidates that end with '.' or '=' go on.

enum { WORD_ROOM = 160, MOST = 4096 };

typedef struct completion {
    pcs_context *ctx;
    const char *verb, *present; // the command, and the word being written
    int nword;
    char **words; // [nword] from the command on
    int count;
    const char **reported; // [count] words printed, each once
} completion;

static void complete_print(completion *k, const char *word, const char *summary)
{
    if (strncmp(word, k->present, strlen(k->present)) != 0 || k->count == MOST || k->reported == NULL) return;
    for (int i = 0; i < k->count; i++)
        if (strcmp(k->reported[i], word) == 0) return;
    k->reported[k->count] = pcs_take_text(k->ctx, word);
    if (k->reported[k->count] == NULL) return;
    k->count++;
    printf("%s%s%s\n", word, summary[0] == '\0' ? "" : "\t", summary);
}

// Prints a word with the first clause of its help.
static void complete_print_helped(completion *k, const char *word, const char *help)
{
    char text[WORD_ROOM];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(help, ";,(["), help);
    complete_print(k, word, text);
}

static void complete_verbs(completion *k)
{
    for (const pcs_verb *c = pcs_verbs; c->name != NULL; c++) complete_print_helped(k, c->name, c->help);
}

// Prints the options of a command, or those that need none.
static void complete_options(completion *k, const char *command)
{
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        if (o->kind == PCS_CLI_WORDS || !verb_takes(command, o)) continue;
        if (o->letter != NULL) complete_print_helped(k, o->letter, o->help);
        complete_print_helped(k, o->name, o->help);
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
    complete_print(k, word, "");
}

// Prints the keys of the case among the words before: those of the file, and all that its readers know; ignores errors.
static void complete_keys(completion *k)
{
    char path[PCS_CASE_PATH];
    pcs_case *c = NULL;
    pcs_analysis analysis;
    if (k->nword < 3) return;
    const char *subject = k->words[1];
    if (cli_find_case(k->ctx, &subject, path) != PCS_OK || pcs_case_load(k->ctx, subject, &c) != PCS_OK) return;
    pcs_case_paths(c, complete_path, k);
    (void)pcs_build_analysis_of(k->ctx, &(pcs_source){ .loaded = c }, &analysis);
    pcs_case_paths(c, complete_path, k);
}

static void complete_argument(completion *k, const pcs_verb *c)
{
    const char *names[MOST_CASES + 1] = { NULL };
    pcs_catalogue_names parts = { 0 };
    bool is_case = strcmp(c->arguments, "CASE") == 0;
    if (is_case) cases_list(k->ctx, names);
    for (int i = 0; names[i] != NULL; i++) complete_print(k, names[i], "");
    if (is_case) puts(":files");
    if (strcmp(c->arguments, "[NAME]") == 0) pcs_catalogue_list(&parts);
    for (int i = 0; i < parts.count; i++) complete_print(k, parts.name[i], parts.summary[i]);
    if (strcmp(c->arguments, "[COMMAND]") == 0) complete_verbs(k);
    for (int i = 0; strncmp(c->arguments, "[TEMPLATE]", 10) == 0 && i < NTEMPLATE; i++)
        complete_print(k, templates[i].name, "");
}

// Prints the values of the previous word if that is an option, else returns false. Some shells break words at '='.
static bool complete_value(completion *k)
{
    const char *before = k->words[k->nword - 2];
    bool is_broken = strcmp(before, "=") == 0;
    if (is_broken && k->nword > 2) before = k->words[k->nword - 3];
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        bool is_it = strcmp(before, o->name) == 0 || (o->letter != NULL && strcmp(before, o->letter) == 0);
        if (!is_it || o->value == NULL || !verb_takes(k->verb, o)) continue;
        if (o->kind == PCS_CLI_TEXTS) complete_keys(k);
        else if (strcmp(o->value, "DIR") == 0) puts(":files");
        else if (o->kind == PCS_CLI_TEXT) complete_print(k, o->value, "");
        return true;
    }
    return is_broken;
}

// Prints the possible completions of the last word, for shells.
static int cli_complete(int nword, char **words)
{
    completion k = { .nword = nword, .words = words };
    if (nword < 1) return PCS_CLI_DONE;
    k.verb = words[0];
    k.present = words[nword - 1];
    if (pcs_context_create(&k.ctx) != PCS_OK) return PCS_CLI_COULD_NOT_GO_ON;
    k.reported = pcs_take(k.ctx, MOST, sizeof *k.reported, "completion");
    const pcs_verb *c = verb_find(k.verb);
    bool is_option = k.present[0] == '-', is_first = nword < 2;
    if (is_first) complete_verbs(&k);
    bool has_value = !is_first && c != NULL && complete_value(&k);
    if (is_option && (is_first || (c != NULL && !has_value))) complete_options(&k, is_first ? "" : c->name);
    else if (!is_first && c != NULL && !has_value) complete_argument(&k, c);
    pcs_context_destroy(&k.ctx);
    return PCS_CLI_DONE;
}

// MPI and PETSc come in only under mpiexec, or when the case asks for them later on.
static int main_start_ranks(pcs_context *ctx, const pcs_arguments *a, bool is_for_one)
{
    pcs_around(ctx)->noption = a->nword;
    pcs_around(ctx)->options = a->words;
    if (!pcs_processes_are_launched()) return PCS_CLI_DONE;
    pcs_status status = pcs_processes_start(ctx);
    if (status == PCS_OK) status = pcs_demand_same(ctx, status, a->hash, "command line");
    if (status == PCS_OK && is_for_one && pcs_context_comm(ctx)->size > 1)
        status = pcs_fail(ctx, PCS_UNSUPPORTED, "'%s' is for one process: start it without mpiexec", a->command);
    if (status == PCS_OK && is_for_one) pcs_around(ctx)->comm = NULL;
    return status == PCS_OK ? PCS_CLI_DONE : cli_reject(ctx, status);
}

// Replaces this process. Returns only if there is no such program.
static void main_start(const char *program, const char *const *arguments)
{
    execvp(program, (char *const *)arguments);
    if (errno != ENOENT && errno != ENOTDIR) fprintf(stderr, "error: %s: %s\n", program, strerror(errno));
}

// Runs percuss-NAME in place of this process: beside the program, as in the tree where it was built, where it was
// installed, or on PATH. The first of `arguments`, which end with NULL, is replaced by its path. Returns only if there
// is none: with the exit status after a message, or with -1 when no such command is known.
static int main_replace(const char *name, const char **arguments)
{
    static const char *const folders[] = { "", "../libexec/percuss/" };
    char place[PCS_CASE_PATH / 2], program[PCS_CASE_PATH];
    bool is_plain = name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
    if (!is_plain || strlen(name) > 64) return -1;
    arguments[0] = program;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(place, sizeof place, "%spercuss-%s", folders[i], name);
        bool is_known = pcs_open_near_program(place, 0, sizeof program, program);
        if (is_known && access(program, X_OK) == 0) main_start(program, arguments);
    }
    snprintf(program, sizeof program, "percuss-%s", name);
    main_start(program, arguments);
    if (verb_find(name) == NULL) return -1;
    fprintf(stderr, "error: percuss %s is part of the Python package: install the Debian package python3-percuss\n",
            name);
    return PCS_CLI_BAD_USAGE;
}

// Runs percuss-NAME for `percuss NAME ...`, percuss-NAME --help for `percuss help NAME` and percuss-NAME --complete ...
// for `percuss complete NAME ...`; -1 if there is none.
static int main_run_external(int argc, char **argv, const char **room)
{
    if (argc < 2) return -1;
    bool is_help = argc == 3 && strcmp(argv[1], "help") == 0, is_complete = strcmp(argv[1], "complete") == 0;
    if (is_complete && argc < 4) return -1;
    const char *name = argv[is_help || is_complete ? 2 : 1];
    const pcs_verb *own = verb_find(name);
    if (name[0] == '-' || strcmp(name, "help") == 0 || (own != NULL && own->call != NULL)) return -1;
    for (int i = 2; i < argc; i++) room[i - 1] = argv[i];
    room[argc - 1] = NULL;
    if (is_help) room[1] = "--help";
    if (is_complete) room[1] = "--complete";
    return main_replace(name, room);
}

static int main_call(const pcs_verb *command, pcs_arguments *a)
{
    char path[PCS_CASE_PATH];
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return fputs("error: out of memory\n", stderr), PCS_CLI_COULD_NOT_GO_ON;
    int answer = main_start_ranks(ctx, a, command->is_for_one);
    pcs_status status = PCS_OK;
    if (answer == PCS_CLI_DONE && strcmp(command->arguments, "CASE") == 0)
        status = pcs_agree(ctx, cli_find_case(ctx, &a->subject, path));
    if (status != PCS_OK) answer = cli_reject(ctx, status);
    if (answer == PCS_CLI_DONE) answer = command->call(ctx, a);
    pcs_context_destroy(&ctx);
    return answer;
}

static int main_dispatch(pcs_arguments *a)
{
    bool is_help = a->command != NULL && strcmp(a->command, "help") == 0;
    const pcs_verb *command = a->command == NULL ? NULL : verb_find(a->command);
    if (a->wants_version && !is_help && !a->wants_help) return cli_version(), PCS_CLI_DONE;
    if (a->command == NULL && !a->wants_help) return usage_show(stderr, NULL), PCS_CLI_BAD_USAGE;
    if (a->command != NULL && command == NULL) return cli_refuse_command(a->command);
    int answer = command == NULL || a->wants_help ? PCS_CLI_DONE : cli_check_usage(a);
    if (answer != PCS_CLI_DONE) return answer;
    if (!a->wants_help && !is_help) return main_call(command, a);
    const char *name = is_help ? a->subject : a->command; // all of the help, or the part about one command
    command = name == NULL ? NULL : verb_find(name);
    if (name != NULL && command == NULL) return cli_refuse_command(name);
    bool is_all = name == NULL || strcmp(name, "help") == 0;
    if (a->is_man) usage_man();
    else usage_explain(is_all ? NULL : command);
    return PCS_CLI_DONE;
}

// Closed standard streams would give their numbers to result files, which would then receive messages.
static void main_open_streams(void)
{
    int number;
    do number = open("/dev/null", O_RDWR);
    while (number >= 0 && number <= STDERR_FILENO);
    if (number > STDERR_FILENO) close(number);
}

// Ends at once with a message, by calls that are allowed at any time.
static void main_end(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
    _exit(PCS_CLI_COULD_NOT_GO_ON);
}

// OpenBLAS may allocate buffers for its threads before main begins, and hangs if it cannot. If the address space is
// limited, the program restarts itself once with as many threads as fit into half of it, or ends. This runs before the
// C library has set up the environment. Builds with sanitizers leave it out: they need the complete address space.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { MOST_VARIABLES = 4096 };
static const char *const main_thread_names[] = { "OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=" };

static bool main_is_named(const char *variable, const char *name)
{
    return strncmp(variable, name, strlen(name)) == 0;
}

// Returns the number of threads that a variable allows, that of all processors if it is not set.
static long main_count_threads(char **variables, const char *name)
{
    for (; *variables != NULL; variables++)
        if (main_is_named(*variables, name)) return strtol(*variables + strlen(name), NULL, 10);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

static void main_look_for_room(int argc, char **argv, char **variables)
{
    static const rlim_t least_stack = 256 << 10; // bytes
    struct rlimit limit;
    static char *kept[MOST_VARIABLES + 3], text[2][64];
    int count = 0;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < least_stack) {
        limit.rlim_cur = least_stack;
        if (setrlimit(RLIMIT_STACK, &limit) != 0) main_end("error: too small a stack: 256 kB are needed (ulimit -s)\n");
    }
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur / PCS_BLAS_BUFFER >= INT_MAX) return;
    int most = limit.rlim_cur < 4 * PCS_BLAS_BUFFER ? 1 : (int)(limit.rlim_cur / PCS_BLAS_BUFFER / 2);
    bool has_room = true;
    for (int i = 0; i < 2; i++) {
        has_room = has_room && main_count_threads(variables, main_thread_names[i]) <= most;
        snprintf(text[i], sizeof text[i], "%s%d", main_thread_names[i], most);
    }
    if (has_room && !pcs_blas_has_room()) main_end("error: out of memory: too little address space (ulimit -v)\n");
    if (has_room) return;
    for (; *variables != NULL && count < MOST_VARIABLES; variables++)
        if (!main_is_named(*variables, main_thread_names[0]) && !main_is_named(*variables, main_thread_names[1]))
            kept[count++] = *variables;
    kept[count++] = text[0];
    kept[count++] = text[1];
    kept[count] = NULL;
    execve("/proc/self/exe", argv, kept); // on failure the threads may find room anyway
}

__attribute__((section(".preinit_array"), used)) static void (*const main_first)(int, char **,
                                                                                 char **) = main_look_for_room;
#endif

// Says that the program has crashed: a case may name a plug-in, whose faults are not the program's. Only calls that a
// signal handler may make.
static void main_report_crash(int signal_number)
{
    main_end("error: the program crashed, by a fault of its own or of a plug-in that the case names\n");
}

// Installs handlers on a stack of their own, as the stack may have overflowed. Keeps handlers of others (sanitizers).
static void main_watch_crashes(void)
{
    static char stack[1 << 16];
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = main_report_crash, .sa_flags = SA_ONSTACK }, before;
    if (sigaltstack(&other, NULL) != 0) return;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

int main(int argc, char **argv)
{
    main_open_streams();
    main_watch_crashes();
    size_t room = (size_t)argc + 2;
    const char **texts = pcs_scratch(NULL, room, sizeof *texts);
    if (texts == NULL) return fputs("error: out of memory\n", stderr), PCS_CLI_COULD_NOT_GO_ON;
    pcs_arguments a = { .count = -1, .steps = -1, .time = NAN, .perturb = NAN, .set.text = texts };
    bool is_complete = argc > 1 && strcmp(argv[1], "complete") == 0;
    int answer = main_run_external(argc, argv, texts);
    if (answer < 0 && is_complete) return pcs_scratch_free(texts), cli_complete(argc - 2, argv + 2);
    if (answer < 0) answer = cli_parse(argc, argv, &a);
    if (answer == PCS_CLI_DONE) answer = main_dispatch(&a);
    pcs_scratch_free(texts);
    if ((fflush(stdout) != 0 || ferror(stdout)) && answer == PCS_CLI_DONE) {
        fputs("error: the screen output could not be written\n", stderr);
        answer = PCS_CLI_COULD_NOT_GO_ON;
    }
    return answer;
}
