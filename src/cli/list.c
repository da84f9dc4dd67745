// percuss list: all that a case can name, fit to the screen and page by page where it is long.

#define _GNU_SOURCE // popen, ioctl, strcasestr

#include "build/catalogue.h"
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void list_put(void *user, const char *text)
{
    fputs(text, user);
}

static int list_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 40 ? size.ws_col : 0;
}

// Opens a pager that does not stop at short texts, NULL if the output is not a terminal.
static FILE *list_open_pager(void)
{
    const char *pager = getenv("PAGER");
    if (!isatty(STDOUT_FILENO)) return NULL;
    fflush(stdout);
    return popen(pager == NULL || pager[0] == '\0' ? "less -FRX 2>/dev/null || cat" : pager, "w");
}

static int list_plugin(pcs_context *ctx, const pcs_catalogue *catalogue, const char *path)
{
    pcs_status status = pcs_catalogue_write_plugin(ctx, catalogue, path);
    return status == PCS_OK ? PCS_CLI_DONE : pcs_cli_reject(ctx, status);
}

static int list_schema(pcs_context *ctx, const pcs_catalogue *catalogue, const pcs_arguments *a)
{
    if (a->subject != NULL || a->is_markdown)
        return pcs_cli_refuse(a->command, "--schema describes the complete case and does not take",
                              a->is_markdown ? "--markdown" : a->subject, NULL);
    pcs_status status = pcs_catalogue_write_schema(ctx, catalogue);
    return status == PCS_OK ? PCS_CLI_DONE : pcs_cli_reject(ctx, status);
}

// Prints a line for a part that has the word in its name or summary.
static void list_mention(void *user, const char *name, const char *summary)
{
    const char *word = *(const char **)user;
    if (strcasestr(name, word) != NULL || strcasestr(summary, word) != NULL)
        fprintf(stderr, "  %-20s %s\n", name, summary);
}

static int list_refuse(const char *subject)
{
    char hint[128];
    fprintf(stderr, "error: nothing is called '%s'%s see percuss list\n", subject,
            pcs_catalogue_hint(subject, sizeof hint, hint)[0] == '\0' ? "," : hint);
    pcs_catalogue_names(list_mention, &subject);
    return PCS_CLI_BAD_USAGE;
}

int pcs_cli_list(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_catalogue catalogue = { .put = list_put, .user = stdout, .is_markdown = a->is_markdown, .width = list_width() };
    if (a->is_schema) return list_schema(ctx, &catalogue, a);
    bool is_path = a->subject != NULL && strchr(a->subject, '/') != NULL;
    if (is_path) return list_plugin(ctx, &catalogue, a->subject);
    catalogue.name = a->subject;
    FILE *pager = list_open_pager();
    if (pager != NULL) catalogue.user = pager;
    int count = pcs_catalogue_write(&catalogue);
    pcs_catalogue_write_applies(&catalogue);
    if (pager != NULL) pclose(pager);
    return count > 0 ? PCS_CLI_DONE : list_refuse(a->subject);
}
