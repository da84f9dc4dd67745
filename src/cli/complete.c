// Completion for shells: percuss complete WORD... prints what the last word may become, a line each, with a tab and a
// few words about it. A line `:files` asks the shell to add names of files. Candidates that end with '.' or '=' go on.

#define _POSIX_C_SOURCE 200809L // access

#include "build/build.h"
#include "build/catalogue.h"
#include "case/case.h"
#include "cli/cases.h"
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 4096, TEXT_ROOM = 160, MOST = 4096 };

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
    char word[PATH_ROOM];
    size_t written = strlen(k->present), length = strlen(path);
    if (strncmp(path, k->present, written < length ? written : length) != 0 || written > length) return;
    size_t next = written + strcspn(path + written, ".");
    snprintf(word, sizeof word, "%.*s%s", (int)next, path, path[next] == '.' ? "." : "=");
    complete_tell(k, word, "");
}

// Prints the keys of the case among the words before: those of the file, and all that its readers know; ignores errors.
static void complete_keys(completion *k)
{
    char path[PATH_ROOM];
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
        pcs_cli_each_case(complete_case, k);
        puts(":files");
    }
    if (strcmp(c->arguments, "[NAME]") == 0) pcs_catalogue_names(complete_name, k);
    if (strcmp(c->arguments, "[COMMAND]") == 0) complete_verbs(k);
    for (int i = 0; strncmp(c->arguments, "[TEMPLATE]", 10) == 0 && pcs_cli_template(i) != NULL; i++)
        complete_tell(k, pcs_cli_template(i), "");
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
