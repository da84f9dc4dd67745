#include "plot/csv.h"
#include "core/text.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 34)

// Where the reader stands in the text, which it changes: fields end with 0.
typedef struct reader {
    pcs_csv *csv;
    char *at, *end;
    int line; // from 1
} reader;

static bool reader_is_line_end(const reader *r)
{
    return r->at == r->end || *r->at == '\n' || (*r->at == '\r' && (r->at + 1 == r->end || r->at[1] == '\n'));
}

static void reader_end_line(reader *r)
{
    if (r->at < r->end && *r->at == '\r') r->at++;
    if (r->at < r->end) r->at++;
    r->line++;
}

// To the next line that holds a row; false: there is none.
static bool reader_find_row(reader *r)
{
    while (r->at < r->end && (*r->at == '#' || reader_is_line_end(r))) {
        while (!reader_is_line_end(r)) r->at++;
        reader_end_line(r);
    }
    return r->at < r->end;
}

static pcs_status reader_quoted(reader *r, char **field, char **stop)
{
    int line = r->line;
    char *to = ++r->at;
    *field = to;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"')) break;
        if (*r->at == '"') r->at++;
        if (*r->at == '\n') r->line++;
        *to++ = *r->at;
    }
    if (r->at == r->end)
        return pcs_fail(r->csv->ctx, PCS_BAD_INPUT, "%s:%d: a quote that does not end", r->csv->path, line);
    r->at++;
    *stop = to;
    return PCS_OK;
}

// The next field; *is_last when the line ends after it. The byte behind it becomes its ending 0.
static pcs_status reader_field(reader *r, const char **out, bool *is_last)
{
    char *field = r->at, *stop = r->at;
    if (r->at < r->end && *r->at == '"') {
        PCS_TRY(reader_quoted(r, &field, &stop));
    } else {
        while (!reader_is_line_end(r) && *r->at != ',') r->at++;
        stop = r->at;
    }
    *is_last = reader_is_line_end(r);
    if (!*is_last && *r->at != ',')
        return pcs_fail(r->csv->ctx, PCS_BAD_INPUT, "%s:%d: text behind a quote", r->csv->path, r->line);
    if (*is_last) reader_end_line(r);
    else r->at++;
    *stop = '\0';
    *out = field;
    return PCS_OK;
}

// Counts fields without changing the text.
static int reader_count_fields(const reader *r)
{
    int count = 1;
    bool is_quoted = false;
    for (const char *p = r->at; p < r->end && (is_quoted || *p != '\n'); p++) {
        if (*p == '"') is_quoted = !is_quoted;
        count += !is_quoted && *p == ',';
    }
    return count;
}

static pcs_status reader_head(reader *r)
{
    pcs_csv *csv = r->csv;
    if (!reader_find_row(r)) return pcs_fail(csv->ctx, PCS_BAD_INPUT, "%s: empty, needs a line of names", csv->path);
    int line = r->line;
    csv->ncolumn = reader_count_fields(r);
    PCS_TAKE(csv->ctx, csv->names, csv->ncolumn + 1, "columns");
    for (int c = 0; c < csv->ncolumn; c++) {
        const char *name;
        bool is_last;
        PCS_TRY(reader_field(r, &name, &is_last));
        csv->names[c] = pcs_take_text(csv->ctx, name);
        if (csv->names[c] == NULL) return PCS_NO_MEMORY;
        for (int k = 0; k < c; k++)
            if (strcmp(csv->names[k], name) == 0)
                return pcs_fail(csv->ctx, PCS_BAD_INPUT, "%s:%d: two columns are called '%.80s'", csv->path, line,
                                name);
    }
    return PCS_OK;
}

static pcs_status reader_value(const reader *r, const char *field, int line, double *out)
{
    const char *end = field;
    *out = NAN;
    if (*field == '\0') return PCS_OK;
    double value = pcs_text_number(field, &end);
    if (*end == '\0') *out = value;
    else if (r->csv->texts == NULL)
        return pcs_fail(r->csv->ctx, PCS_BAD_INPUT, "%s:%d: '%.40s' is no number", r->csv->path, line, field);
    return PCS_OK;
}

static pcs_status reader_row(reader *r, int row)
{
    pcs_csv *csv = r->csv;
    int count = 0, line = r->line;
    for (bool is_last = false; !is_last; count++) {
        const char *field;
        PCS_TRY(reader_field(r, &field, &is_last));
        if (count >= csv->ncolumn) continue;
        size_t place = (size_t)count * (size_t)csv->nrow + (size_t)row;
        if (csv->texts != NULL) csv->texts[place] = field;
        PCS_TRY(reader_value(r, field, line, &csv->values[place]));
    }
    if (count == csv->ncolumn) return PCS_OK;
    return pcs_fail(csv->ctx, PCS_BAD_INPUT, "%s:%d: %d field%s where the head names %d columns", csv->path, line,
                    count, count == 1 ? "" : "s", csv->ncolumn);
}

// Rows that remain; lines within quotes are not among them.
static pcs_status reader_count_rows(const reader *r, int *out)
{
    reader probe = *r;
    *out = 0;
    while (reader_find_row(&probe)) {
        bool is_quoted = false;
        for (; probe.at < probe.end && (is_quoted || *probe.at != '\n'); probe.at++) is_quoted ^= *probe.at == '"';
        if (probe.at < probe.end) probe.at++;
        if (++*out == INT_MAX) return pcs_fail(r->csv->ctx, PCS_BAD_INPUT, "%s: too many rows", r->csv->path);
    }
    return PCS_OK;
}

static pcs_status csv_parse(pcs_csv *csv, char *bytes, size_t size, bool keeps_texts)
{
    reader r = { .csv = csv, .at = bytes, .end = bytes + size, .line = 1 };
    PCS_TRY(reader_head(&r));
    PCS_TRY(reader_count_rows(&r, &csv->nrow));
    size_t count = (size_t)csv->ncolumn * (size_t)csv->nrow;
    PCS_TAKE(csv->ctx, csv->values, count, "values of a table");
    if (keeps_texts) PCS_TAKE(csv->ctx, csv->texts, count, "texts of a table");
    for (int row = 0; row < csv->nrow; row++) {
        reader_find_row(&r);
        PCS_TRY(reader_row(&r, row));
    }
    return PCS_OK;
}

pcs_status pcs_csv_read(pcs_context *ctx, const char *path, bool keeps_texts, pcs_csv **out)
{
    char *bytes;
    size_t size;
    PCS_TAKE(ctx, *out, 1, "a table");
    **out = (pcs_csv){ .ctx = ctx, .path = pcs_take_text(ctx, path) };
    if ((*out)->path == NULL) return PCS_NO_MEMORY;
    pcs_status opened = pcs_text_file(ctx, path, "the table", MOST_BYTES, &bytes, &size);
    if (opened != PCS_OK) return opened == PCS_IO_ERROR ? PCS_BAD_INPUT : opened;
    pcs_status status = csv_parse(*out, bytes, size, keeps_texts);
    // Texts point into the file's bytes.
    if (status == PCS_OK && keeps_texts) return pcs_defer(ctx, pcs_scratch_free, bytes);
    pcs_scratch_free(bytes);
    return status;
}

int pcs_csv_find(const pcs_csv *csv, const char *name)
{
    for (int c = 0; c < csv->ncolumn; c++)
        if (strcmp(csv->names[c], name) == 0) return c;
    return -1;
}

const char *const *pcs_csv_names(const pcs_csv *csv)
{
    return csv->names;
}
