// Commands that are programs of their own: `percuss study` runs percuss-study, as git does.

#define _POSIX_C_SOURCE 200809L // readlink, access

#include "cli/external.h"
#include "cli/arguments.h"
#include "cli/cases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Beside the program, in the tree where it was built, and where it was installed; then on PATH.
static const char *const external_folders[] = { "", "../libexec/percuss/" };

const char *const pcs_external_names[] = { "study", "plot", "compare", "report", "view", "fit", NULL };

static bool external_is_known(const char *name)
{
    int i = 0;
    while (pcs_external_names[i] != NULL && strcmp(pcs_external_names[i], name) != 0) i++;
    return pcs_external_names[i] != NULL;
}

// Replaces this process; comes back when there is no such program.
static void external_start(const char *program, const char *const *arguments)
{
    const char *const *first = arguments;
    execvp(program, (char *const *)first);
    if (errno != ENOENT && errno != ENOTDIR) fprintf(stderr, "error: %s: %s\n", program, strerror(errno));
}

int pcs_cli_external(const char *name, const char **arguments)
{
    char folder[PCS_CASE_PATH / 2], program[PCS_CASE_PATH];
    bool is_plain = name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
    if (!is_plain || strlen(name) > 64) return -1;
    arguments[0] = program;
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(folder, '/');
    for (size_t i = 0; slash != NULL && i < sizeof external_folders / sizeof *external_folders; i++) {
        slash[1] = '\0';
        snprintf(program, sizeof program, "%s%spercuss-%s", folder, external_folders[i], name);
        if (access(program, X_OK) == 0) external_start(program, arguments);
    }
    snprintf(program, sizeof program, "percuss-%s", name);
    external_start(program, arguments);
    if (!external_is_known(name)) return -1;
    fprintf(stderr, "error: percuss %s is part of the Python package: install the Debian package python3-percuss\n",
            name);
    return PCS_CLI_BAD_USAGE;
}
