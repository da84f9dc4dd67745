// The commands with their options, in one table each: the reading of the command line, usage, help, the page of the
// manual and completion come from them. This folder and main.c are the only ones that print.

#ifndef PCS_CLI_ARGUMENTS_H
#define PCS_CLI_ARGUMENTS_H

#include "core/context.h"

#include <stdio.h>

// Exit status.
enum { PCS_CLI_DONE = 0, PCS_CLI_COULD_NOT_GO_ON = 1, PCS_CLI_BAD_USAGE = 2 };

enum { PCS_CLI_OPTIONS = 32 };

// Texts of an option that may be given several times.
typedef struct pcs_texts {
    int count;
    const char **text; // [count]
} pcs_texts;

typedef struct pcs_arguments {
    const char *command, *subject; // run CASE, list NAME
    const char *directory;
    pcs_texts set;
    int count, steps;  // of modes and load steps, -1: not said
    const char *about; // of modes: "statics", or NULL
    double time;       // s, NAN: not said
    int nword;
    const char *const *words; // [nword] after --, for PETSc
    bool resumes, overwrites; // of run
    bool no_plugins;          // of check
    bool is_quiet, is_markdown, is_schema, is_man, is_whirl, wants_help, wants_version;
    unsigned long long hash;        // of all arguments
    bool is_given[PCS_CLI_OPTIONS]; // of the option at this place of the table
} pcs_arguments;

typedef struct pcs_verb {
    const char *name;      // NULL ends the table
    bool is_for_one;       // process: it is not started by mpiexec
    const char *arguments; // "CASE"; "[NAME]" may be left out
    const char *help;
} pcs_verb;

typedef enum pcs_cli_kind {
    PCS_CLI_FLAG,
    PCS_CLI_TEXT,
    PCS_CLI_TEXTS,
    PCS_CLI_COUNT,
    PCS_CLI_REAL,
    PCS_CLI_WORDS // all that follow
} pcs_cli_kind;

typedef struct pcs_cli_option {
    const char *name, *letter; // "--output", "-o"; NULL: no letter; a NULL name ends the table
    pcs_cli_kind kind;
    const char *value;    // of what kind: "DIR"; the only text allowed if it begins with a small letter; NULL: a flag
    const char *commands; // that take it: "run statics"; NULL: all
    const char *help;
    size_t place;       // in pcs_arguments, of the type that belongs to the kind
    double least, most; // of a count
} pcs_cli_option;

extern const pcs_verb pcs_verbs[];
extern const pcs_cli_option pcs_cli_options[];

// NULL if there is none.
const pcs_verb *pcs_verb_find(const char *name);
bool pcs_verb_takes(const char *command, const pcs_cli_option *option);

// Each gives the exit status; PCS_CLI_DONE where all is well. `set` has room for argc texts.
int pcs_cli_parse(int argc, char **argv, pcs_arguments *a);
// Options that make no sense for a command are errors, too.
int pcs_cli_check_usage(const pcs_arguments *a);
// An error on the screen, with a hint at the nearest of the names unless these are NULL, and the usage of the command,
// or of all commands where it is NULL or unknown.
int pcs_cli_refuse(const char *command, const char *what, const char *text, const char *const *names);
// The same about an unknown command.
int pcs_cli_refuse_command(const char *name);

// The usage of a command, or of all where it is NULL.
void pcs_usage_show(FILE *stream, const pcs_verb *command);
// Usage and help of a command with its options, or all there is, to the screen.
void pcs_usage_explain(const pcs_verb *command);
// The page of the manual, in roff, to the screen.
void pcs_usage_man(void);

#endif
