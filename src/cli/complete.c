// Completion for shells: percuss complete WORD... prints what the last word may become, a line each, with a tab and a
// few words about it. A line `:files` asks the shell to add names of files. Candidates that end with '.' or '=' go on.

#define _POSIX_C_SOURCE 200809L // access

#include "build/build.h"
#include "build/catalogue.h"
#include "case/paths.h"
#include "cli/cases.h"
#include "cli/commands.h"
#include "cli/usage.h"

#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 4096, TEXT_ROOM = 160, MOST = 4096 };

typedef struct completion {
    pcs_context *ctx;
    const char *verb, *present; // the word that is being written
    int nword;
    char **words; // [nword] from the verb on
    int count;
    const char **told; // [count] each once
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

static void complete_tell_helped(completion *k, const char *word)
{
    char text[TEXT_ROOM] = "";
    pcs_usage_entry entry;
    if (pcs_usage_find(word, &entry)) pcs_usage_summary(&entry, sizeof text, text);
    complete_tell(k, word, text);
}

static void complete_verbs(completion *k)
{
    char name[PCS_USAGE_WORD];
    for (const char *place = pcs_cli_usage; pcs_usage_verb(&place, sizeof name, name);) complete_tell_helped(k, name);
    if (k->present[0] != '-') return;
    complete_tell(k, "--help", "this help");
    complete_tell(k, "--version", "version, compiler and libraries");
}

// "-o" and "--output" are the same: the help names both.
static void complete_aliases(completion *k, const char *option)
{
    pcs_usage_entry entry;
    complete_tell_helped(k, option);
    if (!pcs_usage_find(option, &entry)) return;
    for (const char *p = entry.term; p < entry.term + entry.nterm && *p == '-'; p += strspn(p, ", ")) {
        char name[PCS_USAGE_WORD];
        size_t length = strcspn(p, ", \n");
        snprintf(name, sizeof name, "%.*s", (int)length, p);
        complete_tell_helped(k, name);
        p += length;
    }
}

static void complete_options(completion *k)
{
    pcs_usage_item item;
    for (const char *place = NULL; pcs_usage_next(k->verb, &place, &item);)
        if (item.is_option && strcmp(item.name, "--") != 0) complete_aliases(k, item.name);
    complete_tell(k, "--help", "this help");
}

// A path up to its next dot, so that one sees a level at a time.
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

// Keys of the case among the words before: those of the file, and all that its readers know. Errors do not matter.
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

// What the usage calls CASE, RESULTS, NAME, or gives as words to choose from: bar|pendulum.
static void complete_argument(completion *k, const char *text)
{
    char word[PCS_USAGE_WORD];
    bool wants_files = false;
    for (size_t length; *text != '\0'; text += length + (text[length] == '|')) {
        length = strcspn(text, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        bool is_kind = word[0] >= 'A' && word[0] <= 'Z';
        if (strcmp(word, "CASE") == 0) pcs_cli_each_case(complete_case, k);
        if (strcmp(word, "NAME") == 0) pcs_catalogue_names(complete_name, k);
        else if (!is_kind) complete_tell(k, word, "");
        else wants_files = true;
    }
    if (wants_files) puts(":files");
}

// What the usage shows as the value of an option: a file, words to choose from, or anything.
static void complete_choices(completion *k, char *value)
{
    static const char *const files[] = { "DIR", "FILE", "PICTURE", "report" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strncmp(value, files[i], strlen(files[i])) != 0) continue;
        puts(":files");
        return;
    }
    if (strpbrk(value, "=.,") != NULL) return;
    for (const char *word = strtok(value, "|"); word != NULL; word = strtok(NULL, "|"))
        if (word[0] >= 'a' && word[0] <= 'z') complete_tell(k, word, "");
}

// The value of the option before; false when there is none. Some shells break words at '='.
static bool complete_value(completion *k)
{
    const char *before = k->words[k->nword - 2];
    bool is_broken = strcmp(before, "=") == 0;
    if (is_broken && k->nword > 2) before = k->words[k->nword - 3];
    if (before[0] != '-') return is_broken;
    if (strcmp(before, "--set") == 0 || strcmp(before, "--vary") == 0) return complete_keys(k), true;
    pcs_usage_item item;
    for (const char *place = NULL; pcs_usage_next(k->verb, &place, &item);) {
        if (!item.is_option || !pcs_usage_is_same(item.name, before)) continue;
        complete_choices(k, item.value);
        return item.value[0] != '\0';
    }
    return is_broken;
}

static void complete_words(completion *k)
{
    pcs_usage_item item;
    if (k->nword < 2) {
        complete_verbs(k);
    } else if (complete_value(k)) {
        return;
    } else if (k->present[0] == '-') {
        complete_options(k);
    } else {
        const char *place = NULL;
        if (pcs_usage_next(k->verb, &place, &item) && !item.is_option) complete_argument(k, item.name);
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
