// Cases to start from, with comments: percuss new bar DIR.

#define _POSIX_C_SOURCE 200809L // access

#include "cli/commands.h"
#include "output/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BUFFER = 1 << 14 };

// Written by cmake/templates.cmake from the files in src/cli/new; each begins with its title.
static const struct {
    const char *name, *text;
} templates[] = {
#include "cli/new_cases.def"
};
enum { NTEMPLATE = sizeof templates / sizeof *templates };

const char *pcs_cli_template(int i)
{
    return i < NTEMPLATE ? templates[i].name : NULL;
}

static int new_list(const char *name)
{
    const char *names[NTEMPLATE + 1] = { NULL };
    for (int i = 0; i < NTEMPLATE; i++) names[i] = pcs_cli_template(i);
    if (name != NULL) return pcs_cli_refuse("new", "there is no case to start from called", name, names);
    for (int i = 0; i < NTEMPLATE; i++) {
        const char *title = templates[i].text + strlen("title: ");
        printf("%-10s %.*s\n", templates[i].name, (int)strcspn(title, "\n"), title);
    }
    return PCS_CLI_DONE;
}

int pcs_cli_new(pcs_context *ctx, const pcs_arguments *a)
{
    char path[4200];
    int chosen = 0;
    while (chosen < NTEMPLATE && (a->subject == NULL || strcmp(templates[chosen].name, a->subject) != 0)) chosen++;
    if (chosen == NTEMPLATE) return new_list(a->subject);
    const char *directory = a->directory == NULL ? templates[chosen].name : a->directory;
    snprintf(path, sizeof path, "%s/case.yaml", directory);
    if (access(path, F_OK) == 0) return pcs_cli_refuse(a->command, "this file is there already:", path, NULL);
    pcs_file *f = NULL;
    pcs_status status = pcs_file_make_folder(ctx, directory);
    if (status == PCS_OK) status = pcs_file_create(ctx, directory, sizeof "case.yaml", FILE_BUFFER, &f);
    if (status == PCS_OK) status = pcs_file_open(f, "case.yaml");
    if (status == PCS_OK) pcs_file_text(f, templates[chosen].text);
    if (status == PCS_OK) status = pcs_file_commit(f);
    if (status != PCS_OK) return pcs_cli_reject(ctx, PCS_FAILED);
    if (!a->is_quiet) printf("%s\nRun it: percuss run %s\n", path, directory);
    return PCS_CLI_DONE;
}
