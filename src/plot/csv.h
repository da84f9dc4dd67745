// A CSV file as columns: a head of names, then rows of as many fields; quotes as in RFC 4180, lines that begin with '#'
// and empty lines are left out.

#ifndef PCS_PLOT_CSV_H
#define PCS_PLOT_CSV_H

#include "core/context.h"

typedef struct pcs_csv {
    pcs_context *ctx;
    const char *path;
    int ncolumn, nrow;
    const char **names; // [ncolumn]
    double *values;     // [ncolumn][nrow]; NAN: an empty field, or a text
    const char **texts; // [ncolumn][nrow] fields as they are written, NULL when texts are not kept
} pcs_csv;

// With texts any field is allowed; without them a field is empty or a number, else the message says where.
pcs_status pcs_csv_read(pcs_context *ctx, const char *path, bool keeps_texts, pcs_csv **out);
// The column of that name, -1: none.
int pcs_csv_find(const pcs_csv *csv, const char *name);
static inline const double *pcs_csv_column(const pcs_csv *csv, int column)
{
    return csv->values + (size_t)column * (size_t)csv->nrow;
}
static inline const char *pcs_csv_text(const pcs_csv *csv, int column, int row)
{
    return csv->texts[(size_t)column * (size_t)csv->nrow + (size_t)row];
}
// Names with an ending NULL, for hints at the nearest one.
const char *const *pcs_csv_names(const pcs_csv *csv);

#endif
