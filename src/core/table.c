#include "core/table.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_BYTES = 256 << 20 };

typedef struct table_reader {
    pcs_context *ctx;
    const char *path;
    int line, nrow;
    bool has_names;
    double *value; // [2 * nrow]
} table_reader;

static const char *table_skip(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r') p++;
    return p;
}

// Reads the number at *p and moves *p behind the separator that follows; NAN if there is none.
static double table_number(const char **p)
{
    const char *start = table_skip(*p), *end = start;
    bool is_digit = isdigit((unsigned char)start[strspn(start, "+-.")]);
    double value = is_digit ? pcs_text_number(start, &end) : NAN;
    if (end == start) return NAN;
    const char *q = table_skip(end);
    if (*q == ',' || *q == ';') q = table_skip(q + 1);
    bool is_parted = q > end || *q == '\0';
    *p = q;
    return is_parted && isfinite(value) ? value : NAN;
}

static pcs_status table_line(table_reader *t, const char *text)
{
    const char *p = table_skip(text);
    t->line++;
    if (*p == '\0' || *p == '#') return PCS_OK;
    if (t->nrow == 0 && !t->has_names && (isalpha((unsigned char)*p) || *p == '"')) {
        t->has_names = true;
        return PCS_OK;
    }
    double time = table_number(&p), value = table_number(&p);
    if (isnan(time) || isnan(value) || *p != '\0')
        return pcs_fail(t->ctx, PCS_BAD_INPUT, "%s:%d: must be two numbers 't, value', is '%.40s'", t->path, t->line,
                        text);
    double *row = t->value + 2 * t->nrow;
    if (t->nrow > 0 && !(time > row[-2]))
        return pcs_fail(t->ctx, PCS_BAD_INPUT, "%s:%d: the time must be later than in the row before (%g), is %g",
                        t->path, t->line, row[-2], time);
    row[0] = time;
    row[1] = value;
    t->nrow++;
    return PCS_OK;
}

static pcs_status table_lines(table_reader *t, char *text, size_t size)
{
    int count = 1;
    for (size_t i = 0; i < size; i++) count += text[i] == '\n';
    PCS_TAKE(t->ctx, t->value, 2 * (size_t)count, "a table");
    for (char *line = text, *end = text + size; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) stop = end;
        *stop = '\0';
        PCS_TRY(table_line(t, line));
        line = stop + 1;
    }
    return t->nrow > 0 ? PCS_OK : pcs_fail(t->ctx, PCS_BAD_INPUT, "%s: has no rows 't, value'", t->path);
}

pcs_status pcs_table_read(pcs_context *ctx, const char *path, pcs_list *out)
{
    char *text = NULL;
    size_t size = 0;
    PCS_TRY(pcs_text_file(ctx, path, "the table", MOST_BYTES, &text, &size));
    table_reader t = { .ctx = ctx, .path = path };
    static const char mark[] = "\xef\xbb\xbf"; // some programs begin UTF-8 files with a byte order mark
    size_t skip = size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    pcs_status status = table_lines(&t, text + skip, size - skip);
    pcs_scratch_free(text);
    *out = (pcs_list){ .nrow = t.nrow, .count = 2 * t.nrow, .value = t.value };
    return status;
}
