// Cases by their names: those in the folder `cases`, and those that were installed with the program, wherever that is.

#define _POSIX_C_SOURCE 200809L // readlink

#include "cli/cases.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The folder of the installed cases; false when the program does not know where it is itself.
static bool cases_installed(char folder[PCS_CASE_PATH])
{
    char program[PCS_CASE_PATH / 2];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL) return false;
    *slash = '\0';
    snprintf(folder, PCS_CASE_PATH, "%s/../share/percuss/cases", program);
    return true;
}

const char *pcs_cli_find_case(const char *subject, char path[PCS_CASE_PATH])
{
    char folder[PCS_CASE_PATH];
    if (subject == NULL || strchr(subject, '/') != NULL || access(subject, F_OK) == 0) return subject;
    snprintf(path, PCS_CASE_PATH, "cases/%s", subject);
    if (access(path, F_OK) == 0) return path;
    if (!cases_installed(folder)) return subject;
    int length = snprintf(path, PCS_CASE_PATH, "%s/%s", folder, subject);
    return length < PCS_CASE_PATH && access(path, F_OK) == 0 ? path : subject;
}

static void cases_within(const char *folder, pcs_case_taker *take, void *user)
{
    DIR *stream = opendir(folder);
    if (stream == NULL) return;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        char path[PCS_CASE_PATH];
        int length = snprintf(path, sizeof path, "%s/%s/case.yaml", folder, entry->d_name);
        if (length < PCS_CASE_PATH && access(path, F_OK) == 0) take(user, entry->d_name);
    }
    closedir(stream);
}

void pcs_cli_each_case(pcs_case_taker *take, void *user)
{
    char folder[PCS_CASE_PATH];
    cases_within("cases", take, user);
    if (cases_installed(folder)) cases_within(folder, take, user);
}
