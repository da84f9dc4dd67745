// Tables of two columns from text files: a time and a value in each line.

#ifndef PCS_CORE_TABLE_H
#define PCS_CORE_TABLE_H

#include "core/context.h"
#include "core/option.h"

// Rows [time, value] with rising times, at least one. Numbers are parted by a comma, a semicolon or blanks; lines that
// are empty or begin with '#' are left out, and so is a first line of names. Memory of the context.
pcs_status pcs_table_read(pcs_context *ctx, const char *path, pcs_list *out);

#endif
