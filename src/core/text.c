
#define _POSIX_C_SOURCE 200809L // read

#include "core/text.h"

#include "core/open.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
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

void pcs_text_fill(void (*put)(void *user, const char *text), void *user, int width, int column, int indent,
                   const char *text)
{
    char piece[1024];
    int gap = 0; // blanks before the next word, none at the end of a line
    while (*text != '\0') {
        int length = 0, depth = 0;
        for (; text[length] != '\0' && (text[length] != ' ' || depth > 0); length++)
            depth += (text[length] == '[') - (text[length] == ']');
        bool is_full = width > 0 && column > indent && column + gap + length > width;
        int blanks = is_full ? indent : gap;
        snprintf(piece, sizeof piece, "%s%*s%.*s", is_full ? "\n" : "", blanks, "", length, text);
        put(user, piece);
        column = (is_full ? 0 : column) + blanks + length;
        text += length;
        gap = (int)strspn(text, " ");
        text += gap;
    }
    put(user, "\n");
}

void pcs_text_set_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (found == NULL) return;
    *found = '.';
    memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
}

// Exact and fast conversion of doubles to text.
//
// |x| = m 2^e below 10^17 is scaled to 17 digits: D + F = |x| 10^q with 10^16 <= D < 10^17 and 0 <= F < 1. Powers up
// to 10^22 are doubles, and the product is a sum of two doubles with an error below 10^-12, so rounding is certain
// unless F lies near 1/2; then, as for every other doubt, the C library decides. A decimal reads back to x when it is
// nearer to x than half the distance to the neighbouring double, in units of D: D / (2 m), on the lower side of a power
// of two D / (4 m).

// Writes the number by the C library, with the decimal sign of the locale replaced by a point.
static size_t digits_slow(double x, char *text)
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, PCS_NUMBER_ROOM, "%.*g", precision, x);
        if (precision == 17 || strtod(text, NULL) == x) break;
    }
    pcs_text_set_point(text);
    return strlen(text);
}

typedef struct scaled {
    uint64_t digits; // D
    double fraction; // F
    double mantissa; // m / 2^53
    int decimal;     // exponent of the first digit
} scaled;

static scaled digits_scale(double x)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    int exponent;
    scaled s = { .mantissa = frexp(x, &exponent) };
    for (s.decimal = (int)floor((exponent - 1) * 0.30102999566398120);; s.decimal++) { // right, or one too small
        double high = x, low = 0.0;
        for (int left = 16 - s.decimal; left > 0; left -= 22) {
            double power = powers[left < 22 ? left : 22], product = high * power;
            low = fma(high, power, -product) + low * power;
            high = product;
        }
        s.digits = (uint64_t)((int64_t)high + (int64_t)floor(low)); // high is above 2^53, a whole number
        s.fraction = low - floor(low);
        if (s.digits < UINT64_C(100000000000000000)) return s;
    }
}

// Tries `drop` digits fewer than 17. Returns 1 if the rest reads back to x, 0 if it does not, -1 if uncertain.
static int digits_shorten(const scaled *s, unsigned drop, uint64_t *digits)
{
    const double doubt = 1e-9;
    static const uint64_t units[] = { 1, 10, 100 };
    uint64_t unit = units[drop];
    double above = (double)(s->digits % unit) + s->fraction, half = 0.5 * (double)unit;
    if (fabs(above - half) < doubt) return -1;
    bool is_up = above > half;
    double error = is_up ? (double)unit - above : above, allowed = 0x1p-54 * (double)s->digits / s->mantissa;
    if (!is_up && s->mantissa == 0.5) allowed *= 0.5;
    if (drop > 0 && fabs(error - allowed) < doubt) return -1;
    *digits = s->digits / unit + is_up;
    return drop == 0 || error < allowed;
}

// Lays out `count` digits with the first at 10^decimal as %.*g does.
static size_t digits_layout(const char *digits, int count, int precision, int decimal, char *out)
{
    bool has_exponent = decimal < -4 || decimal >= precision;
    int whole = has_exponent ? 1 : decimal + 1; // digits before the point; else zeros behind it, and one before
    int first = whole < 1 ? whole - 1 : 0, last = count > whole ? count : whole, size = abs(decimal);
    char *p = out;
    for (int i = first; i < last; i++) {
        if (i == whole) *p++ = '.';
        *p++ = i < 0 || i >= count ? '0' : digits[i];
    }
    if (has_exponent) {
        *p++ = 'e';
        *p++ = decimal < 0 ? '-' : '+';
        if (size >= 100) *p++ = (char)('0' + size / 100);
        *p++ = (char)('0' + size / 10 % 10);
        *p++ = (char)('0' + size % 10);
    }
    *p = '\0';
    return (size_t)(p - out);
}

size_t pcs_number_text(double x, char text[PCS_NUMBER_ROOM])
{
    size_t sign = signbit(x) != 0;
    memcpy(text, sign ? "-0" : "0", 2 + sign);
    if (x == 0.0) return 1 + sign;
    if (!isnormal(x) || fabs(x) >= 1e17) return digits_slow(x, text);
    scaled s = digits_scale(fabs(x));
    for (unsigned drop = 2;; drop--) {
        uint64_t value;
        char digits[18];
        int verdict = digits_shorten(&s, drop, &value), precision = 17 - (int)drop, count = precision;
        if (verdict < 0) return digits_slow(x, text);
        if (verdict == 0) continue;
        for (int i = 17; i >= 0; i--, value /= 10) digits[i] = (char)('0' + value % 10);
        bool has_grown = digits[drop] != '0'; // rounding up gave a power of ten
        const char *first = digits + drop + !has_grown;
        while (count > 1 && first[count - 1] == '0') count--;
        return sign + digits_layout(first, count, precision, s.decimal + has_grown, text + sign);
    }
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
