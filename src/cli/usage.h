// What the texts of the command line say: verbs, their options and arguments, and the help on each.

#ifndef PCS_CLI_USAGE_H
#define PCS_CLI_USAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { PCS_USAGE_WORD = 64 };

// A word of the usage of a verb: an option with its value ("" for none), or an argument.
typedef struct pcs_usage_item {
    char name[PCS_USAGE_WORD], value[PCS_USAGE_WORD];
    bool is_option;
} pcs_usage_item;

// A paragraph of the help: "-o, --output DIR", and what it says.
typedef struct pcs_usage_entry {
    const char *term, *text;
    size_t nterm, ntext;
} pcs_usage_entry;

// The next verb of the usage; *place starts as the usage itself.
bool pcs_usage_verb(const char **place, size_t size, char *name);
// The next word of a verb's usage; *place starts as NULL.
bool pcs_usage_next(const char *verb, const char **place, pcs_usage_item *out);
// The next entry of a help text; *text moves behind it.
bool pcs_usage_help(const char **text, pcs_usage_entry *out);
// The entry of a verb or option.
bool pcs_usage_find(const char *name, pcs_usage_entry *out);
// The first clause of an entry, in one line.
void pcs_usage_summary(const pcs_usage_entry *entry, size_t size, char *text);

#endif
