// The tables of commands and options, the reading of the command line by them, and the texts that are made from them:
// usage, help and the page of the manual.

#define _POSIX_C_SOURCE 200809L // fmemopen

#include "cli/arguments.h"

#include "case/case.h"
#include "core/carry.h"
#include "core/text.h"
#include "percuss.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 112, TEXT_ROOM = 8192, TERM_ROOM = 160 };

const pcs_verb pcs_verbs[] = {
    { "run", false, "CASE", "simulate the case; results go to DIR (results/<case> unless given)" },
    { "statics", true, "CASE",
      "equilibrium under loads that rise from zero, starting from the reference state (initial values are not used), "
      "as the section `statics` of the case says; statics.csv and a frame per load step go to DIR "
      "(results/<case>_statics unless given)" },
    { "modes", true, "CASE",
      "natural frequencies and mode shapes about the reference state, smallest first, on the screen, in modes.csv and "
      "as frames for ParaView in DIR (results/<case>_modes unless given)" },
    { "study", true, "CASE|STUDY ...",
      "run the case over values of its keys, side by side; study.csv, study.json and the runs go to DIR "
      "(results/<case>_study unless given); finished runs are not repeated" },
    { "plot", true, "RESULTS ...",
      "pictures of results, by matplotlib: one of the given columns of history.csv, or the usual ones of a run, study, "
      "equilibrium or modes; several results share a picture" },
    { "compare", true, "A B ...",
      "where two results or studies first differ, column by column; A and B are folders or CSV files" },
    { "fit", true, "CASE ...", "parameters of the case that reproduce measured data best, with confidence intervals" },
    { "converge", true, "CASE ...", "refine mesh and step until a measure is as accurate as requested" },
    { "report", true, "RESULTS|STUDY ...",
      "one page of HTML about results of run, study, statics or modes: the model in motion, contacts, energies, "
      "curves, pictures, certificate; report.html in their folder unless -o names another file" },
    { "view", true, "RESULTS ...", "a picture or movie of the results in the folder RESULTS, by ParaView's Python" },
    { "check", false, "CASE", "report every error of the case, build the model, do not run it" },
    { "new", true, "[TEMPLATE] [DIR]",
      "write a commented case to start from into DIR (named like the case unless given); without TEMPLATE, list them" },
    { "list", true, "[NAME]",
      "elements, schemes, gap types and everything else a case can name, with options, allowed ranges and defaults" },
    { "help", true, "[COMMAND]", "this text, or the part of it about COMMAND" },
    { .name = NULL },
};

#define PLACE(field) offsetof(pcs_arguments, field)

const pcs_cli_option pcs_cli_options[] = {
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
static const char status[] =
    "Exit status: 0 done, 1 the simulation could not go on (what was computed is kept), 2 bad input or usage. "
    "compare: 0 alike, 1 they differ, 2 bad input or usage.";

const pcs_verb *pcs_verb_find(const char *name)
{
    const pcs_verb *c = pcs_verbs;
    while (c->name != NULL && strcmp(c->name, name) != 0) c++;
    return c->name == NULL ? NULL : c;
}

bool pcs_verb_takes(const char *command, const pcs_cli_option *option)
{
    size_t length = strlen(command);
    for (const char *p = option->commands; p != NULL; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, command, length) == 0 && strchr(" ", p[length]) != NULL) return true;
    }
    return option->commands == NULL;
}

// Writes words from `column` on, with `indent` blanks before further lines. What is in brackets stays in one line.
static void usage_fill(FILE *stream, int column, int indent, const char *text)
{
    while (*text != '\0') {
        int length = 0, depth = 0;
        for (; text[length] != '\0' && (text[length] != ' ' || depth > 0); length++)
            depth += (text[length] == '[') - (text[length] == ']');
        bool is_full = column > indent && column + 1 + length > WIDTH;
        if (is_full) fprintf(stream, "\n%*s", indent, "");
        else if (column > indent) fputc(' ', stream);
        fprintf(stream, "%.*s", length, text);
        column = (is_full ? indent : column + (column > indent)) + length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

static void usage_of(FILE *stream, const pcs_verb *c, const char *head)
{
    char text[TEXT_ROOM];
    int column = fprintf(stream, "%spercuss %s ", head, c->name);
    snprintf(text, sizeof text, "%s", c->arguments);
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        if (o->commands == NULL || !pcs_verb_takes(c->name, o)) continue;
        pcs_text_add(text, sizeof text, " [%s%s%s]%s", o->letter == NULL ? o->name : o->letter,
                     o->value == NULL ? "" : " ", o->value == NULL ? "" : o->value,
                     o->kind == PCS_CLI_TEXTS ? "..." : "");
    }
    usage_fill(stream, column, column, text);
}

void pcs_usage_show(FILE *stream, const pcs_verb *command)
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

void pcs_usage_explain(const pcs_verb *command)
{
    char term[TERM_ROOM];
    pcs_usage_show(stdout, command);
    if (command == NULL) printf("\n%s\n", about);
    putchar('\n');
    for (const pcs_verb *c = pcs_verbs; c->name != NULL; c++)
        if (command == NULL || command == c) usage_fill(stdout, printf("  %-8s ", c->name), 11, c->help);
    if (command == NULL) printf("\n%s\n", tools);
    putchar('\n');
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++)
        if (o->commands != NULL && (command == NULL || pcs_verb_takes(command->name, o)))
            usage_fill(stdout, printf("  %-25s ", usage_term(o, term)), 28, o->help);
    if (command != NULL) return;
    putchar('\n');
    usage_fill(stdout, 0, 0, status);
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
    pcs_usage_show(stream, NULL);
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

void pcs_usage_man(void)
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
    man_put(status, strlen(status));
    puts(
        ".SH FILES\n.TP\n.I case.yaml\nthe case within a folder; every key is listed by\n.B percuss list\n"
        ".TP\n.I share/percuss/cases\ncases that can be run by their names\n"
        ".TP\n.I share/percuss/case.schema.json\nthe JSON schema of a case file, for editors\n"
        ".SH EXAMPLES\n.nf\npercuss run bar_impact\npercuss run bar_impact \\-\\-set mesh.bar.elements=400 \\-o finer\n"
        "percuss study bar_impact \\-\\-vary scheme.rho_inf=0,0.5,1\n.fi\n"
        ".SH \"SEE ALSO\"\n.BR paraview (1),\n.BR mpiexec (1)");
}

// Reads the command line by the tables of commands and options.

int pcs_cli_refuse(const char *command, const char *what, const char *text, const char *const *names)
{
    char hint[PCS_SPELLING_BYTES] = "";
    if (names != NULL) pcs_spelling_hint(text, names, sizeof hint, hint);
    fprintf(stderr, "error: %s '%s'%s\n", what, text, hint);
    pcs_usage_show(stderr, command == NULL ? NULL : pcs_verb_find(command));
    return PCS_CLI_BAD_USAGE;
}

// Reports a value that an option does not take. Returns the exit status.
static int arguments_refuse(const pcs_arguments *a, const pcs_cli_option *o, const char *wanted, const char *text)
{
    char what[128];
    snprintf(what, sizeof what, "%s must be %s, is", o->name, wanted);
    return pcs_cli_refuse(a->command, what, text, NULL);
}

static int arguments_read_count(const pcs_arguments *a, const pcs_cli_option *o, const char *text, int *out)
{
    char *end = NULL, wanted[64];
    long value = strtol(text, &end, 10);
    snprintf(wanted, sizeof wanted, "a whole number from %.0f to %.0f", o->least, o->most);
    if (end == text || *end != '\0' || (double)value < o->least || (double)value > o->most)
        return arguments_refuse(a, o, wanted, text);
    *out = (int)value;
    return PCS_CLI_DONE;
}

static int arguments_read_number(const pcs_arguments *a, const pcs_cli_option *o, const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    bool is_number = end != text && *end == '\0' && isfinite(*out), is_bounded = o->most > 0.0;
    if (is_number && !(is_bounded && (*out < o->least || *out > o->most))) return PCS_CLI_DONE;
    return arguments_refuse(a, o, is_number ? "in [1e-15, 1e-3]" : "a number", text);
}

static int arguments_read_text(const pcs_arguments *a, const pcs_cli_option *o, const char *text, const char **out)
{
    char wanted[64];
    bool is_choice = islower((unsigned char)o->value[0]) != 0;
    snprintf(wanted, sizeof wanted, "'%s'", o->value);
    if (is_choice && strcmp(text, o->value) != 0) return arguments_refuse(a, o, wanted, text);
    *out = text;
    return PCS_CLI_DONE;
}

static int arguments_store(pcs_arguments *a, const pcs_cli_option *o, const char *text)
{
    void *place = (char *)a + o->place;
    pcs_texts *texts = place;
    a->is_given[o - pcs_cli_options] = true;
    switch (o->kind) {
    case PCS_CLI_FLAG: *(bool *)place = true; break;
    case PCS_CLI_TEXT: return arguments_read_text(a, o, text, place);
    case PCS_CLI_TEXTS: texts->text[texts->count++] = text; break;
    case PCS_CLI_COUNT: return arguments_read_count(a, o, text, place);
    case PCS_CLI_REAL: return arguments_read_number(a, o, text, place);
    case PCS_CLI_WORDS: break; // read with all words that follow
    }
    return PCS_CLI_DONE;
}

static int arguments_refuse_unknown(const pcs_arguments *a, const char *text)
{
    const char *names[2 * PCS_CLI_OPTIONS + 1] = { NULL };
    int count = 0;
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        names[count++] = o->name;
        if (o->letter != NULL) names[count++] = o->letter;
    }
    return pcs_cli_refuse(a->command, "unknown option", text, names);
}

static int arguments_take_words(int argc, char **argv, int *i, pcs_arguments *a, const pcs_cli_option *o)
{
    a->nword = argc - *i - 1;
    a->words = (const char *const *)argv + *i + 1;
    a->is_given[o - pcs_cli_options] = a->nword > 0;
    *i = argc;
    return PCS_CLI_DONE;
}

// Parses --name VALUE, --name=VALUE or -n VALUE.
static int arguments_parse_option(int argc, char **argv, int *i, pcs_arguments *a)
{
    const char *text = argv[*i];
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        size_t length = strlen(o->name);
        bool is_alone = strcmp(text, o->name) == 0 || (o->letter != NULL && strcmp(text, o->letter) == 0);
        if (is_alone && o->kind == PCS_CLI_FLAG) return arguments_store(a, o, NULL);
        if (is_alone && o->kind == PCS_CLI_WORDS) return arguments_take_words(argc, argv, i, a, o);
        if (is_alone && *i + 1 == argc) return pcs_cli_refuse(a->command, "a value must follow the option", text, NULL);
        if (is_alone) return arguments_store(a, o, argv[++*i]);
        bool takes_value = o->kind != PCS_CLI_FLAG && o->kind != PCS_CLI_WORDS;
        if (takes_value && strncmp(text, o->name, length) == 0 && text[length] == '=')
            return arguments_store(a, o, text + length + 1);
    }
    return arguments_refuse_unknown(a, text);
}

int pcs_cli_parse(int argc, char **argv, pcs_arguments *a)
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
            answer = pcs_cli_refuse(a->command, "one argument too many:", argv[i], NULL);
        }
        if (answer != PCS_CLI_DONE) return answer;
    }
    return PCS_CLI_DONE;
}

int pcs_cli_refuse_command(const char *name)
{
    const char *names[64] = { NULL };
    for (int i = 0; pcs_verbs[i].name != NULL && i < 63; i++) names[i] = pcs_verbs[i].name;
    return pcs_cli_refuse(NULL, "unknown command", name, names);
}

static int arguments_refuse_foreign(const char *command, const pcs_cli_option *o)
{
    char what[384];
    snprintf(what, sizeof what, "%s is an option of ", o->name);
    for (const char *p = o->commands; *p != '\0'; p++)
        pcs_text_add(what, sizeof what - 16, "%s%c", *p == ' ' ? "," : "", *p);
    pcs_text_add(what, sizeof what, ", not of");
    return pcs_cli_refuse(command, what, command, NULL);
}

int pcs_cli_check_usage(const pcs_arguments *a)
{
    const char *command = a->command;
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++)
        if (a->is_given[o - pcs_cli_options] && !pcs_verb_takes(command, o))
            return arguments_refuse_foreign(command, o);
    if (a->subject == NULL && pcs_verb_find(command)->arguments[0] != '[')
        return pcs_cli_refuse(command, "a case must follow", command, NULL);
    if (a->resumes && a->overwrites)
        return pcs_cli_refuse(command, "--resume and --overwrite are both given to", command, NULL);
    if (a->resumes && !isnan(a->perturb))
        return pcs_cli_refuse(command, "--perturb and --resume are both given to", command, NULL);
    if (strcmp(command, "modes") == 0 && a->about == NULL && a->steps > 0)
        return pcs_cli_refuse(command, "--steps is for statics and modes --about statics, not for", command, NULL);
    return PCS_CLI_DONE;
}
