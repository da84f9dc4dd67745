// The usage and the help, which are texts, taken apart: the page of the manual and the completion of shells are made
// from them.

#include "cli/usage.h"
#include "cli/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
    bool is_closed;
    if (*place == NULL) *place = usage_of(verb);
    *out = (pcs_usage_item){ .is_option = false };
    do {
        if (*place == NULL || !usage_word(place, out->name, &is_closed)) return false;
    } while (strcmp(out->name, "|") == 0);
    out->is_option = out->name[0] == '-';
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
