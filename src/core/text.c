
#define _POSIX_C_SOURCE 200809L // read

#include "core/text.h"

#include "core/open.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 14 };

static pcs_status text_refuse_size(pcs_context *ctx, const char *path, size_t most)
{
    return pcs_fail(ctx, PCS_BAD_INPUT, "%s: longer than %zu bytes", path, most);
}

static pcs_status text_read(pcs_context *ctx, const char *path, size_t most, int file, char **bytes, size_t *size)
{
    size_t room = 0;
    for (ssize_t count = 1; count != 0;) {
        if (*size + 1 >= room) {
            room = room == 0 ? FIRST_BYTES : 2 * room;
            char *larger = pcs_scratch(*bytes, room, 1);
            if (larger == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: reading %s", path);
            *bytes = larger;
        }
        count = read(file, *bytes + *size, room - 1 - *size);
        if (count < 0 && errno != EINTR)
            return pcs_fail(ctx, PCS_IO_ERROR, "cannot read %s: %s", path, strerror(errno));
        if (count > 0) *size += (size_t)count;
        if (*size > most) return text_refuse_size(ctx, path, most);
    }
    (*bytes)[*size] = '\0';
    return PCS_OK;
}

pcs_status pcs_text_file(pcs_context *ctx, const char *path, const char *what, size_t most, char **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    long long length = 0;
    int file = pcs_open_input(path, &length);
    if (file < 0) return pcs_fail(ctx, PCS_IO_ERROR, "cannot open %s '%s': %s", what, path, pcs_open_reason(errno));
    bool is_short = (unsigned long long)length <= most;
    pcs_status status = is_short ? text_read(ctx, path, most, file, bytes, size) : text_refuse_size(ctx, path, most);
    close(file);
    if (status == PCS_OK) return PCS_OK;
    pcs_scratch_free(*bytes);
    *bytes = NULL;
    return status;
}

double pcs_text_number(const char *text, const char **end)
{
    const char *point = localeconv()->decimal_point, *dot = strchr(text, '.');
    char *stop = NULL;
    if (dot == NULL || strcmp(point, ".") == 0) {
        double value = strtod(text, &stop);
        *end = stop;
        return value;
    }
    size_t length = strlen(text), npoint = strlen(point), head = (size_t)(dot - text);
    char *copy = pcs_scratch(NULL, length + npoint, 1);
    *end = text;
    if (copy == NULL) return NAN;
    memcpy(copy, text, head);
    memcpy(copy + head, point, npoint);
    memcpy(copy + head + npoint, dot + 1, length - head);
    double value = strtod(copy, &stop);
    if (*stop == '\0') *end = text + length;
    pcs_scratch_free(copy);
    return value;
}

void pcs_text_add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

void pcs_text_set_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (found == NULL) return;
    *found = '.';
    memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
}

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
