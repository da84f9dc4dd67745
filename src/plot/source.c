#define _XOPEN_SOURCE 700 // realpath

#include "plot/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096 };

bool pcs_source_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool pcs_source_is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

char *pcs_source_join(pcs_context *ctx, const char *folder, const char *name)
{
    size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *path = pcs_take(ctx, room, 1, "a path");
    bool has_slash = length > 0 && folder[length - 1] == '/';
    if (path != NULL) snprintf(path, room, "%s%s%s", folder, has_slash ? "" : "/", name);
    return path;
}

char *pcs_source_folder(pcs_context *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = pcs_take_text(ctx, slash == NULL ? "." : path);
    if (folder == NULL || slash == NULL) return folder;
    folder[slash == path ? 1 : slash - path] = '\0';
    return folder;
}

pcs_status pcs_source_table(pcs_context *ctx, const char *path, char **out)
{
    static const char *const names[] = { "history.csv", "study.csv", "statics.csv", "modes.csv" };
    if (!pcs_source_is_folder(path)) {
        *out = pcs_take_text(ctx, path);
        return *out == NULL ? PCS_NO_MEMORY : PCS_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *out = pcs_source_join(ctx, path, names[i]);
        if (*out == NULL) return PCS_NO_MEMORY;
        if (pcs_source_is_file(*out)) return PCS_OK;
    }
    return pcs_fail(ctx, PCS_BAD_INPUT, "%s: no history.csv, study.csv, statics.csv or modes.csv there", path);
}

static pcs_status source_real(pcs_context *ctx, const char *path, char real[PATH_ROOM])
{
    if (strlen(path) >= PATH_ROOM || realpath(path, real) == NULL)
        return pcs_fail(ctx, PCS_IO_ERROR, "cannot find '%s': %s", path, strerror(errno));
    return PCS_OK;
}

pcs_status pcs_source_relative(pcs_context *ctx, const char *folder, const char *path, char **out)
{
    char from[PATH_ROOM + 1], to[PATH_ROOM];
    PCS_TRY(source_real(ctx, folder, from));
    PCS_TRY(source_real(ctx, path, to));
    size_t length = strlen(from), common = 0, ups = 0;
    if (from[length - 1] != '/') memcpy(from + length, "/", 2);
    for (size_t i = 0; from[i] != '\0' && from[i] == to[i]; i++)
        if (from[i] == '/') common = i + 1;
    for (const char *p = from + common; *p != '\0'; p++) ups += *p == '/';
    if (common <= 1) ups = common = 0;
    size_t room = 3 * ups + strlen(to + common) + 1;
    PCS_TAKE(ctx, *out, room, "a path");
    for (size_t i = 0; i < ups; i++) memcpy(*out + 3 * i, "../", 3);
    memcpy(*out + 3 * ups, to + common, strlen(to + common) + 1);
    return PCS_OK;
}
