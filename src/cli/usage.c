// The tables of commands and options, and the texts that are made from them: usage, help and the page of the manual.

#define _POSIX_C_SOURCE 200809L // fmemopen

#include "cli/arguments.h"
#include "percuss.h"

#include <string.h>

enum { WIDTH = 112, TEXT_ROOM = 8192, TERM_ROOM = 160 };

const pcs_verb pcs_verbs[] = {
    { "run", false, "CASE", "simulate the case; results go to DIR (results/<case> unless given)" },
    { "statics", true, "CASE",
      "equilibrium under loads that rise from zero, starting from the reference state (initial values are not used), "
      "as the section `statics` of the case says; statics.csv and a frame per load step go to DIR "
      "(results/<case>_statics unless given)" },
    { "modes", true, "CASE",
      "natural frequencies and mode shapes about the reference state, smallest first; to the screen, to modes.csv and "
      "as frames for ParaView in DIR (results/<case>_modes unless given)" },
    { "study", true, "CASE|STUDY ...",
      "run the case over values of its keys, side by side; study.csv, study.json and the runs go to DIR "
      "(results/<case>_study unless given); finished runs are not repeated" },
    { "plot", true, "RESULTS ...",
      "pictures of results, by matplotlib; one picture of the columns of history.csv that are named, or the usual "
      "pictures of a run, study, equilibrium or modes; several results share a picture" },
    { "compare", true, "A B ...",
      "where two results or studies first differ, column by column; A and B are folders or CSV files" },
    { "fit", true, "CASE ...", "parameters of the case that reproduce measured data best, with confidence intervals" },
    { "converge", true, "CASE ...", "refine mesh and step until a measure is as accurate as was asked for" },
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
    { "--resume", NULL, PCS_CLI_FLAG, NULL, "run", "go on from the last checkpoint in DIR", PLACE(resumes), 0, 0 },
    { "--overwrite", NULL, PCS_CLI_FLAG, NULL, "run", "start again where DIR holds an interrupted run",
      PLACE(overwrites), 0, 0 },
    { "--no-plugins", NULL, PCS_CLI_FLAG, NULL, "check", "refuse a case that names a plug-in, whose code would run",
      PLACE(no_plugins), 0, 0 },
    { "--steps", NULL, PCS_CLI_COUNT, "N", "statics modes",
      "least number of load steps [1 for linear models without friction, else 10]; of modes with --about statics",
      PLACE(steps), 1, 1e6 },
    { "--time", NULL, PCS_CLI_REAL, "T", "statics modes", "time at which loads and driven joints are taken, s [0]",
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

static const char about[] =
    "Bars, beams and bodies that hit, stick, slide and rebound. CASE is a file or a folder that holds case.yaml.";
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
    size_t used = (size_t)snprintf(text, sizeof text, "%s", c->arguments);
    for (const pcs_cli_option *o = pcs_cli_options; o->name != NULL; o++) {
        if (o->commands == NULL || !pcs_verb_takes(c->name, o)) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, " [%s%s%s]%s",
                                 o->letter == NULL ? o->name : o->letter, o->value == NULL ? "" : " ",
                                 o->value == NULL ? "" : o->value, o->kind == PCS_CLI_TEXTS ? "..." : "");
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
