// What the texts of the command line say: verbs, their options and arguments, and the help on each.

#ifndef PCS_CLI_USAGE_H
#define PCS_CLI_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

extern const char pcs_cli_usage[], pcs_cli_help[], pcs_cli_option_help[];

enum { PCS_USAGE_WORD = 64 };

// A word of the usage of a verb: an option with its value ("" for none), or an argument.
typedef struct pcs_usage_item {
    char name[PCS_USAGE_WORD], value[PCS_USAGE_WORD];
    bool is_option, is_optional;
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
// The usage of a verb, or all of it where the verb is NULL or unknown.
void pcs_usage_show(FILE *stream, const char *verb);
// Usage and help of a verb with its options; false where it is unknown.
bool pcs_usage_explain(FILE *stream, const char *verb);
// Does the verb take the option? One of its names will do.
bool pcs_usage_takes(const char *verb, const char *option);
// The verbs that do: "statics, modes, view".
void pcs_usage_takers(const char *option, size_t size, char *text);
// The next entry of a help text; *text moves behind it.
bool pcs_usage_help(const char **text, pcs_usage_entry *out);
// The entry of a verb or option.
bool pcs_usage_find(const char *name, pcs_usage_entry *out);
// Are both names of one option, such as -o and --output?
bool pcs_usage_is_same(const char *option, const char *other);
// The first clause of an entry, in one line.
void pcs_usage_summary(const pcs_usage_entry *entry, size_t size, char *text);

#endif
