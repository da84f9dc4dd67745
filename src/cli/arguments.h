// The command line as it was written, and what is wrong with it. This folder and main.c are the only ones that print.

#ifndef PCS_CLI_ARGUMENTS_H
#define PCS_CLI_ARGUMENTS_H

#include <stdbool.h>

// Exit status.
enum { PCS_CLI_DONE = 0, PCS_CLI_COULD_NOT_GO_ON = 1, PCS_CLI_BAD_USAGE = 2 };

enum { PCS_CLI_OPTIONS = 32 };

// Texts of an option that may be given several times.
typedef struct pcs_texts {
    int count;
    const char **text; // [count]
} pcs_texts;

typedef struct pcs_arguments {
    const char *command, *subject; // run CASE, list NAME, report RESULTS
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

// Each gives the exit status; PCS_CLI_DONE where all is well. `set` has room for argc texts.
int pcs_cli_parse(int argc, char **argv, pcs_arguments *a);
// Options that make no sense for a command are errors, too.
int pcs_cli_check_usage(const pcs_arguments *a);
// An error on the screen, with a hint at the nearest of the names unless these are NULL, and the usage of the command,
// or of all commands where it is NULL or unknown.
int pcs_cli_refuse(const char *command, const char *what, const char *text, const char *const *names);

#endif
