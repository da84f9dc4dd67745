// The usage and the help, which are texts, and their parts: checks of the command line, the page of the manual and the
// completion of shells are made from them.

#include "cli/usage.h"

#include <string.h>

const char pcs_cli_usage[] =
    "usage: percuss run CASE [-o DIR] [--resume | --overwrite] [--set path.to.key=value]... [--quiet]\n"
    "                   [-- PETSC OPTIONS]\n"
    "       percuss statics CASE [--steps N] [--time T] [-o DIR] [--set ...] [--quiet]\n"
    "       percuss modes CASE [--count N] [--about statics] [--whirl] [--steps N] [--time T] [-o DIR] [--set ...]\n"
    "                     [--quiet]\n"
    "       percuss study CASE|STUDY ...\n"
    "       percuss plot RESULTS... ...\n"
    "       percuss compare A B ...\n"
    "       percuss fit CASE ...\n"
    "       percuss report RESULTS|STUDY [-o report.html] [--quiet]\n"
    "       percuss view RESULTS [--time T|peak] [--field NAME] -o PICTURE.png|MOVIE.mp4\n"
    "       percuss check CASE [--no-plugins] [--set path.to.key=value]... [--quiet] [-- PETSC OPTIONS]\n"
    "       percuss new [bar|pendulum|two_bars|frame|rotor] [DIR | -o DIR] [--quiet]\n"
    "       percuss list [NAME] [--markdown] | --schema\n"
    "       percuss help [COMMAND] [--man]\n"
    "       percuss --help | --version\n";

const char pcs_cli_help[] =
    "\n"
    "Bars, beams and bodies that hit, stick, slide and rebound. CASE is a file or a folder that holds case.yaml.\n"
    "\n"
    "  run      simulate the case; results go to DIR (results/<case> unless given)\n"
    "  statics  equilibrium under loads that rise from zero, starting from the reference state (initial values are\n"
    "           not used), as the section `statics` of the case says; statics.csv and a frame per load step go to DIR\n"
    "           (results/<case>_statics unless given)\n"
    "  modes    natural frequencies and mode shapes about the reference state, smallest first; to the screen,\n"
    "           to modes.csv and as frames for ParaView in DIR (results/<case>_modes unless given)\n"
    "  study    run the case over values of its keys, side by side; study.csv, study.json and the runs go to DIR\n"
    "           (results/<case>_study unless given); finished runs are not repeated\n"
    "  plot     pictures of results, by matplotlib; one picture of the columns of history.csv that are named, or the\n"
    "           usual pictures of a run, study, equilibrium or modes; several results share a picture\n"
    "  compare  where two results or studies first differ, column by column; A and B are folders or CSV files\n"
    "  fit      parameters of the case that reproduce measured data best, with confidence intervals\n"
    "  report   one page of HTML about results of run, study, statics or modes: the model in motion, contacts,\n"
    "           energies, curves, pictures, certificate; report.html in their folder unless -o names another file\n"
    "  view     write a picture or movie of the results in the folder RESULTS, by ParaView's Python\n"
    "  check    report every error of the case, build the model, do not run it\n"
    "  new      write a commented case to start from into DIR (named like the case unless given)\n"
    "  list     elements, schemes, gap types and everything else a case can name, with options,\n"
    "           allowed ranges and defaults\n"
    "  help     this text, or the part of it about COMMAND\n"
    "\n"
    "study, plot, compare, report, view and fit are programs percuss-NAME in Python; any other one on PATH runs, "
    "too.\n";

const char pcs_cli_option_help[] =
    "\n"
    "  -o, --output DIR          where the results go\n"
    "  --set path.to.key=value   replace or add a value of the case, with the same checks; list items by\n"
    "                            number from 0: --set scheme.rho_inf=0.5 --set initial.0.velocity=[1,0,0]\n"
    "  -q, --quiet               no progress, no summary on the screen\n"
    "  --resume                  of run: go on from the last checkpoint in DIR\n"
    "  --overwrite               of run: start again where DIR holds an interrupted run\n"
    "  --no-plugins              of check: refuse a case that names a plug-in, whose code would run\n"
    "  --steps N                 of statics: least number of load steps [1 for linear models\n"
    "                            without friction, else 10]\n"
    "  --time T                  of statics and modes: time at which loads and driven joints are taken, s [0];\n"
    "                            of view: time of the picture, or peak, that of the largest contact force [peak];\n"
    "                            of modes the number of a mode [1]\n"
    "  --field NAME              of view: what the colours show, as stress or velocity.x [bending_stress, stress, "
    "...]\n"
    "  --count N                 of modes: how many [10]\n"
    "  --about statics           of modes: about the equilibrium, in which closed contacts stay closed\n"
    "  --whirl                   of modes: with damping and gyroscopic forces, forward and backward whirl; always\n"
    "                            where the damping or stiffness matrix is not symmetric\n"
    "  --markdown                of list: as Markdown tables\n"
    "  --schema                  of list: the JSON schema of a case file, by which editors complete and check keys\n"
    "  --man                     of help: the page of the manual, in roff\n"
    "  -- -ksp_type cg ...       options of PETSc, for runs under mpiexec and for `solver: { linear: petsc }`;\n"
    "                            -mass_... and -iteration_... are for one matrix, others for both\n"
    "\n"
    "Exit status: 0 done, 1 the simulation could not go on (what was computed is kept), 2 bad input or usage.\n"
    "compare: 0 alike, 1 they differ, 2 bad input or usage.\n";

bool pcs_usage_verb(const char **place, size_t size, char *name)
{
    static const char head[] = "percuss ";
    while ((*place = strstr(*place, head)) != NULL) {
        *place += sizeof head - 1;
        size_t length = strcspn(*place, " \n");
        if ((*place)[0] == '-') continue;
        snprintf(name, size, "%.*s", (int)length, *place);
        *place += length;
        return true;
    }
    return false;
}

// The words that follow a verb in the usage, up to the next verb.
static const char *usage_of(const char *verb)
{
    char name[PCS_USAGE_WORD];
    const char *place = pcs_cli_usage;
    while (pcs_usage_verb(&place, sizeof name, name))
        if (strcmp(name, verb) == 0) return place;
    return NULL;
}

// The next word without brackets and dots; `is_closed`: a bracket ends behind it.
static bool usage_word(const char **place, char word[PCS_USAGE_WORD], bool *is_closed)
{
    *place += strspn(*place, " \n");
    size_t length = strcspn(*place, " \n"), first = strspn(*place, "["), last = length;
    if (length == 0 || strncmp(*place, "percuss ", 8) == 0) return false;
    *is_closed = false;
    while (last > first && strchr("].", (*place)[last - 1]) != NULL)
        if ((*place)[--last] == ']') *is_closed = true;
    snprintf(word, PCS_USAGE_WORD, "%.*s", (int)(last - first), *place + first);
    *place += length;
    return true;
}

bool pcs_usage_next(const char *verb, const char **place, pcs_usage_item *out)
{
    bool is_closed, is_bracketed;
    if (*place == NULL) *place = usage_of(verb);
    *out = (pcs_usage_item){ .is_option = false };
    do {
        if (*place == NULL) return false;
        is_bracketed = (*place)[strspn(*place, " \n")] == '[';
        if (!usage_word(place, out->name, &is_closed)) return false;
    } while (strcmp(out->name, "|") == 0);
    out->is_option = out->name[0] == '-';
    out->is_optional = is_bracketed;
    if (!out->is_option || is_closed) return true;
    const char *ahead = *place + strspn(*place, " \n");
    if (strchr("[-|", *ahead) == NULL && strncmp(ahead, "percuss ", 8) != 0) usage_word(place, out->value, &is_closed);
    return true;
}

bool pcs_usage_help(const char **text, pcs_usage_entry *out)
{
    while (**text != '\0' && strncmp(*text, "  ", 2) != 0) { // paragraphs stand at the margin
        *text += strcspn(*text, "\n");
        *text += **text == '\n';
    }
    if (**text == '\0') return false;
    const char *term = *text + 2, *gap = strstr(term, "  ");
    out->term = term;
    out->nterm = gap == NULL ? strcspn(term, "\n") : (size_t)(gap - term);
    out->text = term + out->nterm;
    out->text += strspn(out->text, " ");
    *text = out->text;
    do { // lines that are further in go on
        *text += strcspn(*text, "\n");
        *text += **text == '\n';
    } while (strncmp(*text, "   ", 3) == 0);
    out->ntext = (size_t)(*text - out->text);
    return true;
}

// Is `name` one of "-o, --output DIR"?
static bool usage_is_named(const pcs_usage_entry *entry, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = entry->term; p < entry->term + entry->nterm;) {
        size_t word = strcspn(p, " ,\n");
        if (word == length && strncmp(p, name, length) == 0) return true;
        p += word + strspn(p + word, " ,");
        if (*p != '-') break;
    }
    return false;
}

bool pcs_usage_find(const char *name, pcs_usage_entry *out)
{
    const char *text = name[0] == '-' ? pcs_cli_option_help : pcs_cli_help;
    while (pcs_usage_help(&text, out))
        if (usage_is_named(out, name)) return true;
    return false;
}

void pcs_usage_summary(const pcs_usage_entry *entry, size_t size, char *text)
{
    size_t used = 0, length = strcspn(entry->text, "\n");
    while (used < length && used < size - 1 && entry->text[used] != ';') {
        text[used] = entry->text[used];
        used++;
    }
    text[used] = '\0';
}

bool pcs_usage_is_same(const char *option, const char *other)
{
    pcs_usage_entry a, b;
    if (strcmp(option, other) == 0) return true;
    return pcs_usage_find(option, &a) && pcs_usage_find(other, &b) && a.term == b.term;
}

bool pcs_usage_takes(const char *verb, const char *option)
{
    pcs_usage_item item;
    for (const char *place = NULL; pcs_usage_next(verb, &place, &item);)
        if (item.is_option && pcs_usage_is_same(item.name, option)) return true;
    return false;
}

void pcs_usage_takers(const char *option, size_t size, char *text)
{
    char name[PCS_USAGE_WORD];
    text[0] = '\0';
    for (const char *place = pcs_cli_usage; pcs_usage_verb(&place, sizeof name, name);) {
        size_t used = strlen(text);
        if (pcs_usage_takes(name, option)) snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    }
}

void pcs_usage_show(FILE *stream, const char *verb)
{
    const char *begin = verb == NULL ? NULL : usage_of(verb);
    if (begin == NULL) {
        fputs(pcs_cli_usage, stream);
        return;
    }
    const char *end = strstr(begin, "percuss ");
    if (end == NULL) end = begin + strlen(begin);
    while (end > begin && strchr(" \n", end[-1]) != NULL) end--;
    fprintf(stream, "usage: percuss %s%.*s\n", verb, (int)(end - begin), begin);
}

bool pcs_usage_explain(FILE *stream, const char *verb)
{
    pcs_usage_entry entry;
    if (!pcs_usage_find(verb, &entry)) return false;
    pcs_usage_show(stream, verb);
    fprintf(stream, "\n  %.*s", (int)(entry.text + entry.ntext - entry.term), entry.term);
    fputc('\n', stream);
    for (const char *text = pcs_cli_option_help; pcs_usage_help(&text, &entry);) {
        char name[PCS_USAGE_WORD];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(entry.term, ", "), entry.term);
        if (pcs_usage_takes(verb, name))
            fprintf(stream, "  %.*s", (int)(entry.text + entry.ntext - entry.term), entry.term);
    }
    return true;
}
