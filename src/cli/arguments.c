// The command line, option by option; which command takes which option is said by the usage.

#include "cli/arguments.h"
#include "case/case.h"
#include "cli/usage.h"
#include "core/carry.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FLAG, TEXT, TEXTS, COUNT, REAL } kind;

typedef struct option {
    const char *name, *letter; // the letter may be NULL
    kind kind;
    size_t place; // in pcs_arguments, of the type that belongs to the kind
    double least; // of a count
    double most;  // of a count
} option;

#define PLACE(field) offsetof(pcs_arguments, field)

static const option options[] = {
    { "--set", NULL, TEXTS, PLACE(set), 0.0, 0.0 },
    { "--output", "-o", TEXT, PLACE(directory), 0.0, 0.0 },
    { "--quiet", "-q", FLAG, PLACE(is_quiet), 0.0, 0.0 },
    { "--resume", NULL, FLAG, PLACE(resumes), 0.0, 0.0 },
    { "--overwrite", NULL, FLAG, PLACE(overwrites), 0.0, 0.0 },
    { "--no-plugins", NULL, FLAG, PLACE(no_plugins), 0.0, 0.0 },
    { "--steps", NULL, COUNT, PLACE(steps), 1.0, 1e6 },
    { "--time", NULL, REAL, PLACE(time), 0.0, 0.0 },
    { "--count", NULL, COUNT, PLACE(count), 1.0, 1e6 },
    { "--about", NULL, TEXT, PLACE(about), 0.0, 0.0 },
    { "--whirl", NULL, FLAG, PLACE(is_whirl), 0.0, 0.0 },
    { "--markdown", NULL, FLAG, PLACE(is_markdown), 0.0, 0.0 },
    { "--schema", NULL, FLAG, PLACE(is_schema), 0.0, 0.0 },
    { "--man", NULL, FLAG, PLACE(is_man), 0.0, 0.0 },
    { "--help", "-h", FLAG, PLACE(wants_help), 0.0, 0.0 }, // of every command, as is the next
    { "--version", NULL, FLAG, PLACE(wants_version), 0.0, 0.0 },
};
enum { NOPTION = sizeof options / sizeof *options, NCHECKED = NOPTION - 2 };
_Static_assert((int)NOPTION <= (int)PCS_CLI_OPTIONS, "options that were given are counted in an array");

int pcs_cli_refuse(const char *command, const char *what, const char *text, const char *const *names)
{
    char hint[PCS_SPELLING_BYTES] = "";
    if (names != NULL) pcs_spelling_hint(text, names, sizeof hint, hint);
    fprintf(stderr, "error: %s '%s'%s\n", what, text, hint);
    pcs_usage_show(stderr, command);
    return PCS_CLI_BAD_USAGE;
}

// A value that an option does not take.
static int arguments_refuse(const pcs_arguments *a, const option *o, const char *wanted, const char *text)
{
    char what[128];
    snprintf(what, sizeof what, "%s must be %s, is", o->name, wanted);
    return pcs_cli_refuse(a->command, what, text, NULL);
}

static int arguments_read_count(const pcs_arguments *a, const option *o, const char *text, int *out)
{
    char *end = NULL, wanted[64];
    long value = strtol(text, &end, 10);
    snprintf(wanted, sizeof wanted, "a whole number from %.0f to %.0f", o->least, o->most);
    if (end == text || *end != '\0' || (double)value < o->least || (double)value > o->most)
        return arguments_refuse(a, o, wanted, text);
    *out = (int)value;
    return PCS_CLI_DONE;
}

static int arguments_read_number(const pcs_arguments *a, const option *o, const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*out)) return PCS_CLI_DONE;
    return arguments_refuse(a, o, "a number", text);
}

static int arguments_store(pcs_arguments *a, const option *o, const char *text)
{
    void *place = (char *)a + o->place;
    pcs_texts *texts = place;
    a->is_given[o - options] = true;
    switch (o->kind) {
    case FLAG: *(bool *)place = true; break;
    case TEXT: *(const char **)place = text; break;
    case TEXTS: texts->text[texts->count++] = text; break;
    case COUNT: return arguments_read_count(a, o, text, place);
    case REAL: return arguments_read_number(a, o, text, place);
    }
    return PCS_CLI_DONE;
}

static int arguments_refuse_unknown(const pcs_arguments *a, const char *text)
{
    const char *names[2 * NOPTION + 1] = { NULL };
    int count = 0;
    for (int i = 0; i < NOPTION; i++) {
        names[count++] = options[i].name;
        if (options[i].letter != NULL) names[count++] = options[i].letter;
    }
    return pcs_cli_refuse(a->command, "unknown option", text, names);
}

// --name VALUE, --name=VALUE, -n VALUE, and -n4 of a count, as of make.
static int arguments_parse_option(int argc, char **argv, int *i, pcs_arguments *a)
{
    const char *text = argv[*i];
    for (const option *o = options; o < options + NOPTION; o++) {
        size_t length = strlen(o->name);
        bool is_letter = o->letter != NULL && strncmp(text, o->letter, 2) == 0;
        bool is_alone = strcmp(text, o->name) == 0 || (is_letter && text[2] == '\0');
        if (is_alone && o->kind == FLAG) return arguments_store(a, o, NULL);
        if (is_alone && *i + 1 == argc) return pcs_cli_refuse(a->command, "a value must follow the option", text, NULL);
        if (is_alone) return arguments_store(a, o, argv[++*i]);
        if (o->kind != FLAG && strncmp(text, o->name, length) == 0 && text[length] == '=')
            return arguments_store(a, o, text + length + 1);
        if (o->kind == COUNT && is_letter && isdigit((unsigned char)text[2])) return arguments_store(a, o, text + 2);
    }
    return arguments_refuse_unknown(a, text);
}

int pcs_cli_parse(int argc, char **argv, pcs_arguments *a)
{
    a->hash = PCS_HASH_START;
    for (int i = 1; i < argc; i++) a->hash = pcs_hash(a->hash, argv[i], strlen(argv[i]) + 1);
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
        } else {
            answer = pcs_cli_refuse(a->command, "one argument too many:", argv[i], NULL);
        }
        if (answer != PCS_CLI_DONE) return answer;
    }
    return PCS_CLI_DONE;
}

static int arguments_refuse_foreign(const char *command, const option *o)
{
    char takers[256], what[384];
    pcs_usage_takers(o->name, sizeof takers, takers);
    snprintf(what, sizeof what, "%s is an option of %s, not of", o->name, takers);
    return pcs_cli_refuse(command, what, command, NULL);
}

int pcs_cli_check_usage(const pcs_arguments *a)
{
    const char *command = a->command;
    for (int i = 0; i < NCHECKED; i++)
        if (a->is_given[i] && !pcs_usage_takes(command, options[i].name))
            return arguments_refuse_foreign(command, &options[i]);
    pcs_usage_item item;
    const char *place = NULL;
    bool wants_subject = pcs_usage_next(command, &place, &item) && !item.is_option && !item.is_optional;
    if (wants_subject && a->subject == NULL) {
        bool is_case = strncmp(item.name, "CASE", 4) == 0;
        return pcs_cli_refuse(command, is_case ? "a case must follow" : "results must follow", command, NULL);
    }
    if (a->nword > 0 && !pcs_usage_takes(command, "--"))
        return pcs_cli_refuse(command, "options of PETSc are for run and check, not for", command, NULL);
    if (a->about != NULL && strcmp(a->about, "statics") != 0)
        return pcs_cli_refuse(command, "--about must be 'statics', is", a->about, NULL);
    if (a->resumes && a->overwrites)
        return pcs_cli_refuse(command, "--resume and --overwrite are both given to", command, NULL);
    if (strcmp(command, "modes") == 0 && a->about == NULL && a->steps > 0)
        return pcs_cli_refuse(command, "--steps is for statics and modes --about statics, not for", command, NULL);
    return PCS_CLI_DONE;
}
