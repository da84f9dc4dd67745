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
    int count, steps;  // number of modes, of load steps; -1 if not given
    const char *about; // state of modes: "statics", or NULL
    double time;       // s, NAN if not given
    int nword;
    const char *const *words; // [nword] after --, for PETSc
    bool resumes, overwrites; // options of run
    double perturb;           // relative size, NAN if not given; likewise
    bool no_plugins;          // option of check
    bool is_quiet, is_markdown, is_schema, is_man, is_whirl, wants_help, wants_version;
    unsigned long long hash;        // hash of all arguments
    bool is_given[PCS_CLI_OPTIONS]; // the option at this index of the table is given
} pcs_arguments;

typedef struct pcs_verb {
    const char *name;      // NULL ends the table
    bool is_for_one;       // runs in one process only, not under mpiexec
    const char *arguments; // "CASE"; "[NAME]" may be left out
    const char *help;
} pcs_verb;

typedef enum pcs_cli_kind {
    PCS_CLI_FLAG,
    PCS_CLI_TEXT,
    PCS_CLI_TEXTS,
    PCS_CLI_COUNT,
    PCS_CLI_REAL,
    PCS_CLI_WORDS // all following words
} pcs_cli_kind;

typedef struct pcs_cli_option {
    const char *name, *letter; // "--output", "-o"; NULL if no letter; a NULL name ends the table
    pcs_cli_kind kind;
    const char *value;    // kind of value, "DIR"; in lower case the only text allowed; NULL for a flag
    const char *commands; // commands that take it, "run statics"; NULL for all
    const char *help;
    size_t place;       // offset in pcs_arguments of a member whose type belongs to the kind
    double least, most; // range of a count
} pcs_cli_option;

extern const pcs_verb pcs_verbs[];
extern const pcs_cli_option pcs_cli_options[];

// Returns the command of this name, NULL if there is none.
const pcs_verb *pcs_verb_find(const char *name);
bool pcs_verb_takes(const char *command, const pcs_cli_option *option);

// Parses the arguments; `set` needs space for argc texts. This and the next return the exit status or PCS_CLI_DONE.
int pcs_cli_parse(int argc, char **argv, pcs_arguments *a);
// Checks the arguments of a command; options that it does not take are errors.
int pcs_cli_check_usage(const pcs_arguments *a);
// Prints an error, with a hint at the nearest of the names unless these are NULL, and the usage of the command, or of
// all commands if it is NULL or unknown. Returns the exit status.
int pcs_cli_refuse(const char *command, const char *what, const char *text, const char *const *names);
// Prints the error about an unknown command. Returns the exit status.
int pcs_cli_refuse_command(const char *name);

// Prints the usage of a command, or of all if it is NULL.
void pcs_usage_show(FILE *stream, const pcs_verb *command);
// Prints usage and help of a command with its options, or of all if it is NULL.
void pcs_usage_explain(const pcs_verb *command);
// Prints the page of the manual, in roff.
void pcs_usage_man(void);

#endif
