// Where the numbers of a result are: files of a folder, and paths from one folder to another.

#ifndef PCS_PLOT_SOURCE_H
#define PCS_PLOT_SOURCE_H

#include "core/context.h"

bool pcs_source_is_folder(const char *path);
bool pcs_source_is_file(const char *path);
// "folder/name", living as long as the context; NULL without memory.
char *pcs_source_join(pcs_context *ctx, const char *folder, const char *name);
// The folder of a file's path; "." where the path has none.
char *pcs_source_folder(pcs_context *ctx, const char *path);
// The table of a result: the path itself, or history.csv, study.csv, statics.csv or modes.csv of the folder, the first
// that is there.
pcs_status pcs_source_table(pcs_context *ctx, const char *path, char **out);
// The way to an existing file as seen from an existing folder; absolute where they share no folder but '/'.
pcs_status pcs_source_relative(pcs_context *ctx, const char *folder, const char *path, char **out);

#endif
