// Cases by their names: those in the folder `cases`, those beside the folder that the program was built in, and those
// that were installed with it, wherever that is.

#define _POSIX_C_SOURCE 200809L // readlink

#include "cli/cases.h"

#include "case/case.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// In the folder above that of the program.
static const char *const near_program[] = { "cases", "share/percuss/cases" };
enum { NFOLDER = 1 + sizeof near_program / sizeof *near_program };

// Finds folder k of cases. False if the program cannot find its own path.
static bool cases_folder(int k, char folder[PCS_CASE_PATH])
{
    char program[PCS_CASE_PATH / 2];
    if (k == 0) return snprintf(folder, PCS_CASE_PATH, "cases") > 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = '\0';
    for (int part = 0; part < 2; part++) {
        char *slash = strrchr(program, '/');
        if (slash == NULL) return false;
        *slash = '\0';
    }
    return snprintf(folder, PCS_CASE_PATH, "%s/%s", program, near_program[k - 1]) < PCS_CASE_PATH;
}

static bool cases_holds(const char *folder, const char *name, const char *file, char path[PCS_CASE_PATH])
{
    int length = snprintf(path, PCS_CASE_PATH, "%s/%s%s", folder, name, file);
    return length < PCS_CASE_PATH && access(path, F_OK) == 0;
}

typedef struct wanted_case {
    const char *name;
    char hint[PCS_SPELLING_BYTES];
} wanted_case;

static void cases_take_hint(void *user, const char *name)
{
    wanted_case *wanted = user;
    const char *const names[] = { name, NULL };
    if (wanted->hint[0] == '\0') pcs_spelling_hint(wanted->name, names, sizeof wanted->hint, wanted->hint);
}

pcs_status pcs_cli_find_case(pcs_context *ctx, const char **subject, char path[PCS_CASE_PATH])
{
    char folder[PCS_CASE_PATH];
    wanted_case wanted = { .name = *subject };
    if (strchr(wanted.name, '/') != NULL || access(wanted.name, F_OK) == 0) return PCS_OK;
    for (int k = 0; k < NFOLDER; k++)
        if (cases_folder(k, folder) && cases_holds(folder, wanted.name, "", path)) {
            *subject = path;
            return PCS_OK;
        }
    pcs_cli_each_case(cases_take_hint, &wanted);
    return pcs_fail(ctx, PCS_IO_ERROR, "'%s' is no file, folder or name of a case%s", wanted.name, wanted.hint);
}

static void cases_within(const char *folder, pcs_case_taker *take, void *user)
{
    char path[PCS_CASE_PATH];
    DIR *stream = opendir(folder);
    if (stream == NULL) return;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (cases_holds(folder, entry->d_name, "/case.yaml", path)) take(user, entry->d_name);
    closedir(stream);
}

void pcs_cli_each_case(pcs_case_taker *take, void *user)
{
    char folder[PCS_CASE_PATH];
    for (int k = 0; k < NFOLDER; k++)
        if (cases_folder(k, folder)) cases_within(folder, take, user);
}
