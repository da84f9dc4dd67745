// Texts of the command line, its options and their checks.

#include "cli/arguments.h"
#include "case/case.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char pcs_cli_usage[] =
    "usage: percuss run CASE [-o DIR] [--resume] [--set path.to.key=value]... [--quiet] [-- PETSC OPTIONS]\n"
    "       percuss statics CASE [--steps N] [--time T] [-o DIR] [--set ...] [--quiet]\n"
    "       percuss modes CASE [--count N] [--about statics] [--whirl] [--steps N] [--time T] [-o DIR] [--set ...]\n"
    "       percuss study CASE|STUDY [--vary path.to.key=values]... [--refine mesh=2,3] [--measure NAME=PLACE]...\n"
    "                     [-j N] [--keep] [-o DIR] [--set ...] [--quiet]\n"
    "       percuss plot RESULTS... [COLUMN...] [-o PICTURE|DIR] [--x COLUMN] [--range A:B] [--exact FILE.csv] "
    "[--width CM] [--quiet]\n"
    "       percuss compare A B [--tolerance T] [--quiet]\n"
    "       percuss report RESULTS|STUDY [-o report.html] [--quiet]\n"
    "       percuss view RESULTS [--time T|peak] [--field NAME] -o PICTURE.png|MOVIE.mp4\n"
    "       percuss check CASE [--set path.to.key=value]...\n"
    "       percuss new [bar|pendulum|two_bars|frame|rotor] [DIR]\n"
    "       percuss list [NAME] [--markdown] | --schema\n"
    "       percuss help [--man]\n"
    "       percuss --help | --version\n";

const char pcs_cli_help[] =
    "\n"
    "Bars, beams and bodies that hit, stick, slide and rebound. CASE is a file or a folder that holds case.yaml.\n"
    "\n"
    "  run      simulate the case; results go to DIR (results/<case> unless given)\n"
    "  statics  equilibrium under loads that rise from nothing, from the reference state (initial values are not\n"
    "           used), as the section `statics` of the case says; statics.csv and a frame per load step go to DIR\n"
    "           (results/<case>_statics unless given)\n"
    "  modes    natural frequencies and mode shapes about the reference state, smallest first; to the screen,\n"
    "           to modes.csv and as frames for ParaView in DIR (results/<case>_modes unless given)\n"
    "  study    run the case over values of its keys, side by side; study.csv, study.json and the runs go to DIR\n"
    "           (results/<case>_study unless given); a run that is there is not made again\n"
    "  plot     pictures of results, drawn by gnuplot from a script that stays beside each; with columns of "
    "history.csv\n"
    "           one picture of these, without them those one wants of a run; several results are drawn into one "
    "picture\n"
    "  compare  where two results or studies first differ, column by column; A and B are folders or CSV files\n"
    "  report   one page of HTML with all that belongs to the results of a run or study: certificate, energies,\n"
    "           contacts, curves, pictures, the case; report.html in their folder unless -o says where\n"
    "  view     write a picture or movie of the results in the folder RESULTS, by ParaView's Python\n"
    "  check    report every error of the case, build the model, do not run it\n"
    "  new      write a case to start from, with comments, into DIR (its name unless given)\n"
    "  list     elements, schemes, gap types and everything else a case can name, with options,\n"
    "           allowed ranges and defaults\n"
    "  help     this text\n";

const char pcs_cli_option_help[] =
    "\n"
    "  -o, --output DIR          where the results go\n"
    "  --set path.to.key=value   replace or add a value of the case, with the same checks; list items by\n"
    "                            number from 0: --set scheme.rho_inf=0.5 --set initial.0.velocity=[1,0,0]\n"
    "  -q, --quiet               no progress, no summary on the screen\n"
    "  --resume                  of run: go on from the last checkpoint in DIR\n"
    "  --steps N                 of statics: load steps at least [1 for linear models without\n"
    "                            friction, else 10]\n"
    "  --time T                  of statics and modes: time at which loads and driven joints stand, s [0]; of view: "
    "that\n"
    "                            of the picture, or peak, the largest contact force [peak]\n"
    "  --field NAME              of view: what colours show, stress or velocity.x [bending_stress, stress, ...]\n"
    "  --count N                 of modes: how many [10]\n"
    "  --about statics           of modes: about the equilibrium, in which closed contacts stay closed\n"
    "  --whirl                   of modes: with damping and gyroscopic forces, forward and backward whirl; without\n"
    "                            asking where the damping or stiffness matrix is not symmetric\n"
    "  --vary path.to.key=V      of study: values between commas, or from:to:by; several make a product\n"
    "  --refine \"mesh=2,3 step=2,3\"  of study: factor, levels; order, limit and bound of measures; also separately\n"
    "  --measure NAME=PLACE      of study: a number of summary.json, peak=wall.peak_force; or see list study\n"
    "  -j, --jobs N              of study: runs at a time [the number of processors]\n"
    "  --keep                    of study: histories and frames of all runs, too\n"
    "  --x COLUMN                of plot: the horizontal axis [t]\n"
    "  --range A:B               of plot, with columns: part of the horizontal axis that is drawn\n"
    "  --exact FILE.csv          of plot: a solution to draw beside the results, columns with the same names\n"
    "  --width CM                of plot: width of a picture [16]; 8.5 fits a column of a paper\n"
    "  --tolerance T             of compare: largest difference over the size of the column [1e-9]\n"
    "  --markdown                of list: as Markdown tables\n"
    "  --schema                  of list: the JSON schema of a case file, by which editors complete and check keys\n"
    "  --man                     of help: the page of the manual, in roff\n"
    "  -- -ksp_type cg ...       options of PETSc, for runs under mpiexec and for `solver: { linear: petsc }`;\n"
    "                            -mass_... and -iteration_... are for one matrix, others for both\n"
    "\n"
    "Exit status: 0 done, 1 the simulation could not go on (what was computed is kept), 2 bad input or usage.\n"
    "compare: 0 alike, 1 they differ, 2 bad input or usage.\n";

int pcs_cli_refuse(const char *what, const char *text, const char *const *names)
{
    char hint[PCS_SPELLING_BYTES] = "";
    if (names != NULL) pcs_spelling_hint(text, names, sizeof hint, hint);
    fprintf(stderr, "error: %s '%s'%s\n%s", what, text, hint, pcs_cli_usage);
    return PCS_CLI_BAD_USAGE;
}

// The value of an option: --name=value, or the next argument. NULL when this is another option or has no value.
static const char *arguments_option_value(const char *name, int argc, char **argv, int *i)
{
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0) return NULL;
    if (name[1] == '-' && argv[*i][length] == '=') return argv[*i] + length + 1;
    if (argv[*i][length] != '\0' || *i + 1 >= argc) return NULL;
    return argv[++*i];
}

// A whole number from 1 on.
static int arguments_parse_count(const char *option, const char *text, int *out)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > 1000000) {
        fprintf(stderr, "error: %s must be a whole number from 1 to 1000000, is '%s'\n%s", option, text, pcs_cli_usage);
        return PCS_CLI_BAD_USAGE;
    }
    *out = (int)value;
    return PCS_CLI_DONE;
}

static int arguments_parse_number(const char *option, const char *text, double least, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*out) && *out >= least) return PCS_CLI_DONE;
    char range[64] = "";
    if (isfinite(least)) snprintf(range, sizeof range, " from %g on", least);
    fprintf(stderr, "error: %s must be a number%s, is '%s'\n%s", option, range, text, pcs_cli_usage);
    return PCS_CLI_BAD_USAGE;
}

// Options of the analyses without motion; -1: this is another one.
static int arguments_parse_analysis(int argc, char **argv, int *i, pcs_arguments *a)
{
    const char *value;
    if ((value = arguments_option_value("--count", argc, argv, i)) != NULL)
        return arguments_parse_count("--count", value, &a->count);
    if ((value = arguments_option_value("--steps", argc, argv, i)) != NULL)
        return arguments_parse_count("--steps", value, &a->steps);
    if ((value = arguments_option_value("--time", argc, argv, i)) != NULL) {
        a->wants_peak = strcmp(value, "peak") == 0;
        return a->wants_peak ? PCS_CLI_DONE : arguments_parse_number("--time", value, -INFINITY, &a->time);
    }
    if ((value = arguments_option_value("--field", argc, argv, i)) != NULL) {
        a->field = value;
        return PCS_CLI_DONE;
    }
    if ((value = arguments_option_value("--about", argc, argv, i)) != NULL) {
        a->about = value;
        return strcmp(value, "statics") == 0 ? PCS_CLI_DONE
                                             : pcs_cli_refuse("--about must be 'statics', is", value, NULL);
    }
    if (strcmp(argv[*i], "--whirl") != 0) return -1;
    a->is_whirl = true;
    return PCS_CLI_DONE;
}

// Options of studies; -1: this is another one.
static int arguments_parse_study(int argc, char **argv, int *i, pcs_arguments *a)
{
    const char *value;
    if ((value = arguments_option_value("--vary", argc, argv, i)) != NULL) a->vary[a->nvary++] = value;
    else if ((value = arguments_option_value("--measure", argc, argv, i)) != NULL) a->measure[a->nmeasure++] = value;
    else if ((value = arguments_option_value("--refine", argc, argv, i)) != NULL) a->refine = value;
    else if ((value = arguments_option_value("-j", argc, argv, i)) != NULL ||
             (value = arguments_option_value("--jobs", argc, argv, i)) != NULL)
        return arguments_parse_count("--jobs", value, &a->jobs);
    else if (strncmp(argv[*i], "-j", 2) == 0 && isdigit((unsigned char)argv[*i][2])) // -j4, as of make
        return arguments_parse_count("--jobs", argv[*i] + 2, &a->jobs);
    else if (strcmp(argv[*i], "--keep") == 0) a->keeps_output = true;
    else return -1;
    return PCS_CLI_DONE;
}

// Two numbers, the smaller one first: A:B.
static int arguments_parse_range(const char *option, const char *text, double range[2])
{
    char *colon = NULL, *end = NULL;
    range[0] = strtod(text, &colon);
    bool has_two = colon != text && *colon == ':';
    if (has_two) range[1] = strtod(colon + 1, &end);
    if (has_two && end != colon + 1 && *end == '\0' && isfinite(range[0]) && isfinite(range[1]) && range[0] < range[1])
        return PCS_CLI_DONE;
    fprintf(stderr, "error: %s must be two rising numbers A:B, is '%s'\n%s", option, text, pcs_cli_usage);
    return PCS_CLI_BAD_USAGE;
}

// Options of plot and compare; -1: this is another one.
static int arguments_parse_plot(int argc, char **argv, int *i, pcs_arguments *a)
{
    const char *value;
    if ((value = arguments_option_value("--x", argc, argv, i)) != NULL) a->axis = value;
    else if ((value = arguments_option_value("--exact", argc, argv, i)) != NULL) a->exact = value;
    else if ((value = arguments_option_value("--range", argc, argv, i)) != NULL)
        return arguments_parse_range("--range", value, a->range);
    else if ((value = arguments_option_value("--width", argc, argv, i)) != NULL)
        return arguments_parse_number("--width", value, 5.0, &a->width);
    else if ((value = arguments_option_value("--tolerance", argc, argv, i)) != NULL)
        return arguments_parse_number("--tolerance", value, 0.0, &a->tolerance);
    else return -1;
    return PCS_CLI_DONE;
}

static bool arguments_lacks_value(const char *text)
{
    static const char *const names[] = { "--set",       "-o",      "--output", "--count",   "--steps",
                                         "--time",      "--about", "--vary",   "--measure", "--refine",
                                         "-j",          "--jobs",  "--x",      "--exact",   "--width",
                                         "--tolerance", "--field", "--range",  NULL };
    int i = 0;
    while (names[i] != NULL && strcmp(names[i], text) != 0) i++;
    return names[i] != NULL;
}

static int arguments_parse_option(int argc, char **argv, int *i, pcs_arguments *a)
{
    static const char *const names[] = { "--set",      "--output",  "--quiet",  "--help",   "--version", "--count",
                                         "--markdown", "--whirl",   "--steps",  "--time",   "--about",   "--vary",
                                         "--refine",   "--measure", "--jobs",   "--keep",   "-o",        "-q",
                                         "-h",         "-j",        "--x",      "--exact",  "--width",   "--tolerance",
                                         "--field",    "--range",   "--resume", "--schema", "--man",     NULL };
    int answer = arguments_parse_analysis(argc, argv, i, a);
    if (answer < 0) answer = arguments_parse_study(argc, argv, i, a);
    if (answer < 0) answer = arguments_parse_plot(argc, argv, i, a);
    if (answer >= 0) return answer;
    const char *text = argv[*i], *value;
    if ((value = arguments_option_value("--set", argc, argv, i)) != NULL) {
        a->set[a->nset++] = value;
    } else if ((value = arguments_option_value("-o", argc, argv, i)) != NULL ||
               (value = arguments_option_value("--output", argc, argv, i)) != NULL) {
        a->directory = value;
    } else if (strcmp(text, "--quiet") == 0 || strcmp(text, "-q") == 0) {
        a->is_quiet = true;
    } else if (strcmp(text, "--resume") == 0) {
        a->resumes = true;
    } else if (strcmp(text, "--markdown") == 0) {
        a->is_markdown = true;
    } else if (strcmp(text, "--schema") == 0) {
        a->is_schema = true;
    } else if (strcmp(text, "--man") == 0) {
        a->is_man = true;
    } else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
        a->wants_help = true;
    } else if (strcmp(text, "--version") == 0) {
        a->wants_version = true;
    } else if (arguments_lacks_value(text)) {
        return pcs_cli_refuse("a value must follow the option", text, NULL);
    } else {
        return pcs_cli_refuse("unknown option", text, names);
    }
    return PCS_CLI_DONE;
}

int pcs_cli_parse(int argc, char **argv, pcs_arguments *a)
{
    for (int i = 1; i < argc; i++) {
        int answer = PCS_CLI_DONE;
        if (strcmp(argv[i], "--") == 0) {
            a->nword = argc - i - 1;
            a->words = (const char *const *)argv + i + 1;
            break;
        }
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            answer = arguments_parse_option(argc, argv, &i, a);
        } else if (a->command == NULL) {
            a->command = argv[i];
        } else if (a->subject == NULL) {
            a->subject = argv[i];
        } else if (strcmp(a->command, "new") == 0 && a->directory == NULL) {
            a->directory = argv[i];
        } else if (strcmp(a->command, "plot") == 0 || strcmp(a->command, "compare") == 0) {
            a->more[a->nmore++] = argv[i];
        } else {
            answer = pcs_cli_refuse("one argument too many:", argv[i], NULL);
        }
        if (answer != PCS_CLI_DONE) return answer;
    }
    return PCS_CLI_DONE;
}

// The same for plot and compare, and their options for other commands.
static int arguments_check_plot(const pcs_arguments *a)
{
    bool is_plot = strcmp(a->command, "plot") == 0, is_compare = strcmp(a->command, "compare") == 0;
    if (!is_plot && (a->axis != NULL || a->exact != NULL || !isnan(a->width) || a->range[0] < a->range[1]))
        return pcs_cli_refuse("--x, --range, --exact and --width are for plot, not for", a->command, NULL);
    if (!is_compare && !isnan(a->tolerance))
        return pcs_cli_refuse("--tolerance is for compare, not for", a->command, NULL);
    if (!is_plot && !is_compare) return PCS_CLI_DONE;
    if (a->subject == NULL) return pcs_cli_refuse("results must follow", a->command, NULL);
    if (a->nset > 0) return pcs_cli_refuse("--set is not an option of", a->command, NULL);
    if (is_compare && a->nmore != 1) return pcs_cli_refuse("two results must follow", a->command, NULL);
    return PCS_CLI_DONE;
}

// Options that make no sense for a command are errors, too.
int pcs_cli_check_usage(const pcs_arguments *a)
{
    int answer = arguments_check_plot(a);
    if (answer != PCS_CLI_DONE) return answer;
    bool is_run = strcmp(a->command, "run") == 0, is_list = strcmp(a->command, "list") == 0;
    bool is_modes = strcmp(a->command, "modes") == 0, is_statics = strcmp(a->command, "statics") == 0;
    bool is_study = strcmp(a->command, "study") == 0, is_new = strcmp(a->command, "new") == 0;
    bool is_report = strcmp(a->command, "report") == 0;
    if (is_report && a->subject == NULL) return pcs_cli_refuse("results must follow", a->command, NULL);
    bool is_view = strcmp(a->command, "view") == 0;
    if (is_view && a->subject == NULL) return pcs_cli_refuse("a folder of results must follow", a->command, NULL);
    if (!is_view && (a->wants_peak || a->field != NULL))
        return pcs_cli_refuse("--field and --time peak are for view, not for", a->command, NULL);
    if (!is_list && !is_new && a->subject == NULL) return pcs_cli_refuse("a case must follow", a->command, NULL);
    if (!is_study && (a->nvary > 0 || a->nmeasure > 0 || a->refine != NULL || a->jobs > 0 || a->keeps_output))
        return pcs_cli_refuse("--vary, --refine, --measure, --jobs and --keep are for study, not for", a->command,
                              NULL);
    bool is_plot = strcmp(a->command, "plot") == 0;
    bool writes = is_run || is_modes || is_statics || is_study || is_new || is_plot || is_report || is_view;
    if (!writes && a->directory != NULL) return pcs_cli_refuse("--output is not an option of", a->command, NULL);
    if (!is_modes && a->count > 0) return pcs_cli_refuse("--count is not an option of", a->command, NULL);
    if (!is_modes && a->about != NULL) return pcs_cli_refuse("--about is not an option of", a->command, NULL);
    bool has_loads = is_statics || (is_modes && a->about != NULL);
    if (!has_loads && a->steps > 0)
        return pcs_cli_refuse("--steps is for statics and modes --about statics, not for", a->command, NULL);
    if (!is_modes && !is_statics && !is_view && !isnan(a->time))
        return pcs_cli_refuse("--time is not an option of", a->command, NULL);
    if (!is_modes && a->is_whirl) return pcs_cli_refuse("--whirl is not an option of", a->command, NULL);
    if (!is_run && a->resumes) return pcs_cli_refuse("--resume is for run, not for", a->command, NULL);
    if (!is_list && a->is_markdown) return pcs_cli_refuse("--markdown is not an option of", a->command, NULL);
    if (!is_list && a->is_schema) return pcs_cli_refuse("--schema is not an option of", a->command, NULL);
    if ((is_list || is_new || is_report || is_view) && a->nset > 0)
        return pcs_cli_refuse("--set is not an option of", a->command, NULL);
    return PCS_CLI_DONE;
}
