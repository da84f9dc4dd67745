// Reads the command line by the tables of commands and options.

#include "cli/arguments.h"
#include "case/case.h"
#include "core/carry.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (end != text && *end == '\0' && isfinite(*out)) return PCS_CLI_DONE;
    return arguments_refuse(a, o, "a number", text);
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
    case PCS_CLI_WORDS: break; // read with all that follow it
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
    size_t used = (size_t)snprintf(what, sizeof what, "%s is an option of ", o->name);
    for (const char *p = o->commands; *p != '\0' && used < sizeof what - 16; p++)
        used += (size_t)snprintf(what + used, sizeof what - used, *p == ' ' ? ", " : "%c", *p);
    snprintf(what + used, sizeof what - used, ", not of");
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
    if (strcmp(command, "modes") == 0 && a->about == NULL && a->steps > 0)
        return pcs_cli_refuse(command, "--steps is for statics and modes --about statics, not for", command, NULL);
    return PCS_CLI_DONE;
}
