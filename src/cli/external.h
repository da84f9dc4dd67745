// Commands that are programs of their own.

#ifndef PCS_CLI_EXTERNAL_H
#define PCS_CLI_EXTERNAL_H

extern const char *const pcs_external_names[]; // those that come with Percuss; ends with NULL

// Runs percuss-NAME, found beside the program, in the folder libexec/percuss or on PATH, in place of this process.
// `arguments` end with NULL; the first is replaced by the path. Comes back only when that is not possible: with the
// exit status after a message, or with -1 when there is no such program and none is known.
int pcs_cli_external(const char *name, const char **arguments);

#endif
