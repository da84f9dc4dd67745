// Tables of two columns from text files: a time and a value in each line.

#ifndef PCS_CORE_TABLE_H
#define PCS_CORE_TABLE_H

#include "core/context.h"
#include "core/option.h"

// Reads rows [time, value] with rising times, at least one. Numbers are separated by a comma, a semicolon or blanks;
// empty lines, lines that begin with '#' and a first line of names are skipped. Uses memory of the context.
pcs_status pcs_table_read(pcs_context *ctx, const char *path, pcs_list *out);

#endif
