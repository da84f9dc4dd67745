#define _POSIX_C_SOURCE 200809L // stat

#include "report/report.h"
#include "report/parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { BUFFER = 1 << 16 };

static bool report_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// Without slashes at its end.
static pcs_status report_folder(pcs_context *ctx, const char *path, char **out)
{
    *out = pcs_take_text(ctx, path);
    if (*out == NULL) return PCS_NO_MEMORY;
    for (size_t length = strlen(*out); length > 1 && (*out)[length - 1] == '/'; length--) (*out)[length - 1] = '\0';
    if (strlen(*out) + 64 > PCS_PAGE_PATH) return pcs_fail(ctx, PCS_BAD_INPUT, "too long a path: '%.80s...'", path);
    return PCS_OK;
}

// Splits the path of the page into the folder, which is made, and the name.
static pcs_status report_split(pcs_context *ctx, const char *output, char **folder, const char **name)
{
    PCS_TRY(report_folder(ctx, output, folder));
    *name = "report.html";
    if (report_is_folder(*folder)) return PCS_OK;
    char *slash = strrchr(*folder, '/');
    *name = slash == NULL ? pcs_take_text(ctx, *folder) : slash + 1;
    if (*name == NULL) return PCS_NO_MEMORY;
    if (slash == *folder) return report_folder(ctx, "/", folder);
    if (slash == NULL) return report_folder(ctx, ".", folder);
    *slash = '\0';
    return pcs_file_make_folder(ctx, *folder);
}

pcs_status pcs_report(pcs_context *ctx, const char *results, const char *output, const char **path)
{
    char *folder, *place;
    const char *name;
    PCS_TRY(report_folder(ctx, results, &folder));
    pcs_page page = { .ctx = ctx, .folder = folder };
    bool is_study = pcs_page_has(&page, "study.csv");
    if (!report_is_folder(folder)) return pcs_fail(ctx, PCS_BAD_INPUT, "there is no folder '%s'", folder);
    if (!is_study && !pcs_page_has(&page, "summary.json"))
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "'%s' holds neither summary.json nor study.csv: a report is of the results of a run or a study",
                        folder);
    PCS_TRY(report_split(ctx, output == NULL ? folder : output, &place, &name));
    PCS_TRY(pcs_file_create(ctx, place, strlen(name) + 1, BUFFER, &page.f));
    PCS_TRY(pcs_file_open(page.f, name));
    pcs_status status = is_study ? pcs_report_study(&page) : pcs_report_run(&page);
    if (status != PCS_OK) {
        remove(page.f->part);
        return status;
    }
    *path = page.f->path;
    return pcs_file_commit(page.f);
}
