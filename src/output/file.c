// Buffered files on plain descriptors, so that no write allocates. Each is renamed to its name when complete.

#define _DEFAULT_SOURCE // flock

#include "output/file.h"

#include "core/comm.h"
#include "core/open.h"
#include "core/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Exact and fast conversion of doubles to text, and escaping of names.
//
// A normal |x| = m 2^e is scaled to 17 digits: D + F = m 2^e 10^q with 10^16 <= D < 10^17 and 0 <= F < 1. With 128 bits
// of 10^q, of which up to 326 steps of ten have cut off at most 2 units each, D + F is a little too small, by less than
// 2^-60, so rounding is certain unless F lies near 1/2; then, as for every other doubt, the C library decides. A
// decimal reads back to x when it is nearer to x than half the distance to the neighbouring double, in units of D:
// D / (2 m), on the lower side of a power of two D / (4 m).

enum { LOWEST_POWER = -294, HIGHEST_POWER = 326, NPOWER = HIGHEST_POWER - LOWEST_POWER + 1 };

__extension__ typedef unsigned __int128 wide;

// 10^q is mantissa 2^exponent, the top bit of the mantissa set, truncated.
typedef struct power {
    wide mantissa;
    int exponent;
} power;

struct pcs_digits {
    power powers[NPOWER]; // 10^(LOWEST_POWER + i)
};

pcs_status pcs_digits_create(pcs_context *ctx, pcs_digits **out)
{
    pcs_digits *d = pcs_take_room(ctx, sizeof *d, "powers of ten");
    if (d == NULL) return PCS_NO_MEMORY;
    power *one = &d->powers[-LOWEST_POWER];
    *one = (power){ (wide)1 << 127, -127 };
    for (power *p = one + 1; p < d->powers + NPOWER; p++) { // ten times the one before
        wide m = p[-1].mantissa, tenfold = m / 2 + m / 8;
        bool is_long = tenfold >> 127 != 0;
        *p = (power){ is_long ? tenfold : m + m / 4, p[-1].exponent + (is_long ? 4 : 3) };
    }
    for (power *p = one - 1; p >= d->powers; p--) { // a tenth
        wide fifth = p[1].mantissa / 5, rest = p[1].mantissa % 5;
        int shift = fifth >> 125 != 0 ? 2 : 3;
        *p = (power){ (fifth << shift) + (rest << shift) / 5, p[1].exponent - 1 - shift };
    }
    *out = d;
    return PCS_OK;
}

// Writes the number by the C library, with the decimal sign of the locale replaced by a point.
static size_t text_slow(double x, char *text)
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, PCS_NUMBER_ROOM, "%.*g", precision, x);
        if (precision == 17 || strtod(text, NULL) == x) break;
    }
    pcs_text_set_point(text);
    return strlen(text);
}

typedef struct scaled {
    uint64_t digits;   // D
    double fraction;   // F
    uint64_t mantissa; // m
    int decimal;       // exponent of the first digit
} scaled;

static scaled text_scale(const pcs_digits *table, uint64_t bits)
{
    const uint64_t limit = UINT64_C(100000000000000000); // 10^17
    scaled s = { .mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52 };
    int exponent = (int)(bits >> 52 & 0x7FF) - 1075;               // x = m 2^exponent
    s.decimal = (int)floor((exponent + 52) * 0.30102999566398120); // right, or one too small
    uint64_t m = s.mantissa << 11;
    for (;; s.decimal++) {
        const power *p = &table->powers[16 - s.decimal - LOWEST_POWER];
        wide low = (wide)m * (uint64_t)p->mantissa;
        wide high = (wide)m * (uint64_t)(p->mantissa >> 64) + (uint64_t)(low >> 64);
        int shift = -(exponent - 11 + p->exponent) - 128; // between 1 and 63: D has 50 to 60 bits of 192
        uint64_t top = (uint64_t)(high >> 64), next = (uint64_t)high;
        s.digits = top >> shift;
        if (s.digits >= limit) continue;
        uint64_t fraction = top << (64 - shift) | next >> shift;
        s.fraction = (double)(fraction >> 11) * 0x1p-53;
        return s;
    }
}

// Tries `drop` digits fewer than 17. Returns 1 if the rest reads back to x, 0 if it does not, -1 if uncertain.
static int text_shorten(const scaled *s, unsigned drop, uint64_t *digits)
{
    const double doubt = 1e-9;
    static const uint64_t units[] = { 1, 10, 100 };
    uint64_t unit = units[drop];
    double above = (double)(s->digits % unit) + s->fraction, half = 0.5 * (double)unit;
    if (fabs(above - half) < doubt) return -1;
    bool is_up = above > half;
    double error = is_up ? (double)unit - above : above;
    double allowed = 0.5 * (double)s->digits / (double)s->mantissa;
    if (!is_up && s->mantissa == UINT64_C(1) << 52) allowed *= 0.5;
    if (drop > 0 && fabs(error - allowed) < doubt) return -1;
    *digits = s->digits / unit + is_up;
    return drop == 0 || error < allowed;
}

// Writes 18 digits with leading zeros, in two halves, so that most divisions are short ones.
static void text_digits(uint64_t value, char out[18])
{
    const uint64_t half = 1000000000;
    uint32_t parts[2] = { (uint32_t)(value / half), (uint32_t)(value % half) };
    for (int part = 0; part < 2; part++) {
        for (int i = 8; i >= 0; i--) {
            out[9 * part + i] = (char)('0' + parts[part] % 10);
            parts[part] /= 10;
        }
    }
}

// Lays out `count` digits with the first at 10^decimal as %.*g does.
static size_t text_layout(const char *digits, int count, int precision, int decimal, char *out)
{
    bool has_exponent = decimal < -4 || decimal >= precision;
    int whole =
        has_exponent ? 1 : decimal + 1; // digits before the point; not positive: zeros behind it, and one before
    int first = whole < 1 ? whole - 1 : 0, last = count > whole ? count : whole,
        size = decimal < 0 ? -decimal : decimal;
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

static size_t text_integer(long x, char text[PCS_NUMBER_ROOM])
{
    char digits[18];
    text_digits((uint64_t)x, digits);
    size_t first = 9;
    while (first < 17 && digits[first] == '0') first++;
    memcpy(text, digits + first, 18 - first);
    text[18 - first] = '\0';
    return 18 - first;
}

size_t pcs_number_text(const pcs_digits *table, double x, char text[PCS_NUMBER_ROOM])
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    size_t sign = bits >> 63;
    if (sign) text[0] = '-';
    if (x == 0.0) {
        memcpy(text + sign, "0", 2);
        return sign + 1;
    }
    if (x > 0.0 && x < 1e9 && x == (double)(long)x) return text_integer((long)x, text);
    if (table == NULL || !isnormal(x)) return text_slow(x, text);
    scaled s = text_scale(table, bits);
    for (unsigned drop = 2;; drop--) {
        uint64_t value;
        int verdict = text_shorten(&s, drop, &value);
        if (verdict < 0) return text_slow(x, text);
        if (verdict == 0) continue;
        char digits[18];
        int precision = 17 - (int)drop, count = precision;
        text_digits(value, digits);
        bool has_grown = digits[drop] != '0'; // rounding up gave a power of ten
        const char *first = digits + drop + !has_grown;
        while (count > 1 && first[count - 1] == '0') count--;
        return sign + text_layout(first, count, precision, s.decimal + has_grown, text + sign);
    }
}

enum { JSON_PIECE = 8 };

// Returns the length of the UTF-8 sequence at the start of a text with `left` bytes, 0 if there is none.
static size_t text_utf8(const char *text, size_t left)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *p = (const unsigned char *)text;
    size_t length = 1;
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xC0) return 0;
    while (length < 4 && (p[0] & (0x80U >> length)) != 0) length++;
    if (length > left || (length == 4 && (p[0] & 0x08U) != 0)) return 0;
    unsigned code = p[0] & (0x7FU >> length);
    for (size_t i = 1; i < length; i++) {
        if (p[i] >> 6 != 0x2) return 0;
        code = code << 6 | (p[i] & 0x3FU);
    }
    return code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? 0 : length;
}

// Writes the next character of `*text`, or its escape in a JSON string, to `piece` without a terminating 0, and moves
// `*text` past it. Returns the number of bytes written.
static size_t json_piece(const char **text, char piece[JSON_PIECE])
{
    const char *p = *text;
    unsigned char c = (unsigned char)*p;
    size_t length = text_utf8(p, 4);
    *text += length == 0 ? 1 : length;
    if (length == 0) return (size_t)snprintf(piece, JSON_PIECE, "\\ufffd");
    if (c == '"' || c == '\\') return (size_t)snprintf(piece, JSON_PIECE, "\\%c", c);
    if (c < 0x20 || c == 0x7F) return (size_t)snprintf(piece, JSON_PIECE, "\\u%04x", c);
    memcpy(piece, p, length);
    return length;
}

size_t pcs_json_text(const char *text, size_t room, char *out)
{
    char piece[JSON_PIECE];
    size_t used = 0;
    while (*text != '\0') {
        size_t length = json_piece(&text, piece);
        if (used + length >= room) break;
        memcpy(out + used, piece, length);
        used += length;
    }
    if (room > 0) out[used] = '\0';
    return used;
}

size_t pcs_safe_name(const char *text, size_t room, char *out)
{
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < room; n++) {
        char c = text[n];
        bool is_safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out[n] = is_safe ? c : '_';
    }
    out[n] = '\0';
    return n;
}

enum { PRINT_ROOM = 1024 }; // bytes of one formatted piece

static void file_close_at_end(void *object)
{
    pcs_file *f = object;
    if (f->descriptor >= 0) close(f->descriptor);
    f->descriptor = -1;
}

pcs_status pcs_file_create(pcs_context *ctx, const char *directory, size_t name_length, size_t buffer_size,
                           pcs_file **out)
{
    pcs_file *f;
    PCS_TAKE(ctx, f, 1, "a result file");
    *f = (pcs_file){ .ctx = ctx, .directory = directory, .descriptor = -1, .size = buffer_size };
    f->is_mute = !pcs_is_root(ctx);
    f->room = strlen(directory) + 1 + name_length + sizeof ".part";
    PCS_TAKE(ctx, f->path, f->room, "the path of a result file");
    PCS_TAKE(ctx, f->part, f->room, "the path of a result file");
    f->buffer = pcs_take_room(ctx, buffer_size, "the buffer of a result file");
    if (f->buffer == NULL) return PCS_NO_MEMORY;
    PCS_TRY(pcs_defer(ctx, file_close_at_end, f));
    *out = f;
    return PCS_OK;
}

static pcs_status file_fail(pcs_file *f, const char *verb, int error)
{
    return pcs_fail(f->ctx, PCS_IO_ERROR, "cannot %s %s: %s", verb, f->path, pcs_open_reason(error));
}

static void file_set_path(pcs_file *f, const char *name)
{
    size_t length = strlen(f->directory);
    const char *slash = length > 0 && f->directory[length - 1] == '/' ? "" : "/";
    snprintf(f->path, f->room, "%s%s%s", f->directory, slash, name);
    snprintf(f->part, f->room, "%s.part", f->path);
}

pcs_status pcs_file_open(pcs_file *f, const char *name)
{
    file_set_path(f, name);
    f->used = 0;
    f->written = 0;
    f->digest = PCS_DIGEST_START;
    f->is_patched = false;
    f->error = 0;
    if (f->is_mute) return PCS_OK;
    f->descriptor = pcs_open_new(f->part);
    if (f->descriptor < 0) f->error = errno; // text put into it is lost
    return f->descriptor < 0 ? file_fail(f, "create", f->error) : PCS_OK;
}

bool pcs_file_read_digest(pcs_file *f, const char *path, long long size, pcs_digest *out)
{
    long long length = 0;
    int file = pcs_open_input(path, &length);
    if (file < 0) return false;
    long long left = size < 0 ? length : size;
    *out = PCS_DIGEST_START;
    while (left > 0) {
        size_t portion = (unsigned long long)left < f->size ? (size_t)left : f->size;
        ssize_t n = read(file, f->buffer, portion);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        pcs_digest_add(out, f->buffer, (size_t)n);
        left -= n;
    }
    close(file);
    return left == 0;
}

static pcs_status file_reopen(pcs_file *f, const char *name, long long size, unsigned long long digest)
{
    struct stat about;
    file_set_path(f, name);
    f->used = 0;
    f->written = size;
    f->error = 0;
    if (f->is_mute) return PCS_OK;
    const char *from = access(f->part, F_OK) == 0 ? f->part : f->path;
    f->descriptor = pcs_open_again(from);
    if (f->descriptor < 0 || fstat(f->descriptor, &about) != 0) return file_fail(f, "go on with", errno);
    if (about.st_size < size)
        return pcs_fail(f->ctx, PCS_IO_ERROR, "cannot go on with %s: it has %lld bytes, at the checkpoint it had %lld",
                        from, (long long)about.st_size, size);
    if (!pcs_file_read_digest(f, from, size, &f->digest) || pcs_digest_value(&f->digest) != digest)
        return pcs_fail(f->ctx, PCS_IO_ERROR, "cannot go on with %s: it was changed since the checkpoint", from);
    if (from == f->path && rename(f->path, f->part) != 0) return file_fail(f, "go on with", errno);
    if (ftruncate(f->descriptor, (off_t)size) != 0 || lseek(f->descriptor, 0, SEEK_END) < 0)
        return file_fail(f, "cut", errno);
    return PCS_OK;
}

// Writes what the buffer holds unless something failed before.
static void file_drain(pcs_file *f)
{
    size_t done = f->is_mute ? f->used : 0;
    while (f->error == 0 && done < f->used) {
        ssize_t n = write(f->descriptor, f->buffer + done, f->used - done);
        if (n > 0) done += (size_t)n;
        else if (n < 0 && errno != EINTR) f->error = errno;
        else if (n == 0) f->error = ENOSPC;
    }
    if (!f->is_mute) pcs_digest_add(&f->digest, f->buffer, done);
    f->written += (long long)done;
    f->used = 0;
}

pcs_status pcs_file_flush(pcs_file *f)
{
    file_drain(f);
    return f->error == 0 ? PCS_OK : file_fail(f, "write", f->error);
}

pcs_status pcs_file_commit(pcs_file *f)
{
    file_drain(f);
    if (f->is_mute) return PCS_OK;
    int error = f->error;
    if (close(f->descriptor) != 0 && error == 0) error = errno;
    f->descriptor = -1;
    if (error == 0 && f->is_patched && !pcs_file_read_digest(f, f->part, -1, &f->digest)) error = EIO;
    if (error == 0 && rename(f->part, f->path) == 0) return PCS_OK;
    if (error == 0) error = errno;
    unlink(f->part);
    return file_fail(f, "write", error);
}

void pcs_file_leave(pcs_file *f, long long size)
{
    if (f->descriptor < 0) return;
    // Ignores a failure here: the file is left as it is.
    int ignored = ftruncate(f->descriptor, (off_t)size);
    (void)ignored;
    close(f->descriptor);
    f->descriptor = -1;
}

bool pcs_file_remove(pcs_file *f, const char *name)
{
    file_set_path(f, name);
    if (f->is_mute) return false;
    return unlink(f->path) == 0;
}

static void file_write_at(pcs_file *f, long long place, const char *text, size_t count)
{
    while (count > 0 && f->error == 0) {
        ssize_t n = pwrite(f->descriptor, text, count, (off_t)place);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) f->error = n < 0 ? errno : ENOSPC;
        else text += n, place += n, count -= (size_t)n;
    }
}

// Writes the buffer followed by `closing` in one call, so that no reader finds a file without its end. The text after
// it overwrites `closing`.
static void file_drain_closed(pcs_file *f, const char *closing)
{
    size_t length = strlen(closing);
    if (f->error != 0 || f->used + length > f->size) {
        file_drain(f);
        file_write_at(f, f->written, closing, length);
        return;
    }
    memcpy(f->buffer + f->used, closing, length);
    file_write_at(f, f->written, f->buffer, f->used + length);
    if (f->error == 0 && lseek(f->descriptor, (off_t)f->written + (off_t)f->used, SEEK_SET) < 0) f->error = errno;
    pcs_digest_add(&f->digest, f->buffer, f->used);
    f->written += (long long)f->used;
    f->used = 0;
}

pcs_status pcs_file_publish(pcs_file *f, const char *closing)
{
    long long before = f->written;
    if (f->is_mute) file_drain(f);
    if (f->is_mute) return PCS_OK;
    file_drain_closed(f, closing);
    if (f->error == 0 && rename(f->part, f->path) != 0 && errno != ENOENT) f->error = errno; // or renamed already
    int error = f->error;
    if (error == 0) return PCS_OK;
    // The file ends as before. These bytes have been written once, so there is space for them.
    f->error = 0;
    if (before > 0 && ftruncate(f->descriptor, (off_t)before) == 0) file_write_at(f, before, closing, strlen(closing));
    else unlink(f->part);
    f->error = error;
    return file_fail(f, "write", error);
}

pcs_status pcs_file_serialize(pcs_file *f, const char *name, pcs_archive *c)
{
    long size = (long)f->written;
    unsigned long long digest = pcs_digest_value(&f->digest);
    pcs_archive_words(c, "file", &size, 1);
    pcs_archive_words(c, "digest", &digest, 1);
    if (!pcs_archive_reads(c)) return PCS_OK;
    if (size > 0) return file_reopen(f, name, size, digest);
    pcs_file_remove(f, name);
    return PCS_OK;
}

char *pcs_file_reserve(pcs_file *f, size_t bytes)
{
    if (f->used + bytes > f->size) file_drain(f);
    return f->error != 0 || bytes > f->size ? NULL : f->buffer + f->used;
}

void pcs_file_text(pcs_file *f, const char *text)
{
    pcs_file_bytes(f, text, strlen(text));
}

void pcs_file_bytes(pcs_file *f, const void *bytes, size_t left)
{
    const char *text = bytes;
    while (left > 0 && f->error == 0) {
        if (f->used == f->size) file_drain(f);
        size_t n = f->size - f->used < left ? f->size - f->used : left;
        memcpy(f->buffer + f->used, text, n);
        f->used += n;
        text += n;
        left -= n;
    }
}

long long pcs_file_place(const pcs_file *f)
{
    return f->written + (long long)f->used;
}

void pcs_file_patch(pcs_file *f, long long place, const void *bytes, size_t count)
{
    const char *text = bytes;
    size_t written = place < f->written ? (size_t)(f->written - place) : 0; // the rest is still in the buffer
    if (written > count) written = count;
    f->is_patched = f->is_patched || written > 0;
    if (!f->is_mute) file_write_at(f, place, text, written);
    if (count > written && f->error == 0)
        memcpy(f->buffer + (place + (long long)written - f->written), text + written, count - written);
}

void pcs_file_print(pcs_file *f, const char *format, ...)
{
    char text[PRINT_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pcs_file_text(f, text);
}

void pcs_file_number(pcs_file *f, double x)
{
    char text[PCS_NUMBER_ROOM];
    pcs_number_text(NULL, x, text);
    pcs_file_text(f, text);
}

void pcs_file_json(pcs_file *f, const char *text)
{
    char piece[JSON_PIECE];
    pcs_file_text(f, "\"");
    while (*text != '\0') {
        const char *plain = text; // letters that need no escape
        while (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\') text++;
        pcs_file_bytes(f, plain, (size_t)(text - plain));
        if (*text != '\0') pcs_file_bytes(f, piece, json_piece(&text, piece));
    }
    pcs_file_text(f, "\"");
}

void pcs_file_column(pcs_file *f, const char *name, int point, const char *quantity)
{
    const char *quote = strpbrk(name, ",\"\r\n") != NULL ? "\"" : "";
    pcs_file_text(f, ",");
    pcs_file_text(f, quote);
    for (const char *p = name; *p != '\0'; p++) {
        const char letter[3] = { *p, *p == '"' ? '"' : '\0', '\0' };
        pcs_file_text(f, letter);
    }
    if (point >= 0) pcs_file_print(f, "[%d]", point);
    if (quantity != NULL) pcs_file_print(f, ".%s", quantity);
    pcs_file_text(f, quote);
}

pcs_status pcs_file_make_folder(pcs_context *ctx, const char *path)
{
    char text[4096];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof text)
        return pcs_fail(ctx, PCS_IO_ERROR, "output directory '%s': unusable name", path);
    memcpy(text, path, length + 1);
    if (mkdir(path, 0777) == 0) return PCS_OK;
    for (size_t i = errno == EEXIST ? length + 1 : 1; i <= length; i++) { // the folders above it first
        if (text[i] != '/' && text[i] != '\0') continue;
        char keep = text[i];
        text[i] = '\0';
        if (mkdir(text, 0777) != 0 && errno != EEXIST)
            return pcs_fail(ctx, PCS_IO_ERROR, "cannot make the output directory '%s': %s", text, strerror(errno));
        text[i] = keep;
    }
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return pcs_fail(ctx, PCS_IO_ERROR, "output directory '%s' is not a directory", path);
    return PCS_OK;
}

pcs_status pcs_file_lock_folder(pcs_context *ctx, const char *path, int *lock)
{
    *lock = pcs_open_folder(path);
    if (*lock < 0)
        return pcs_fail(ctx, PCS_IO_ERROR, "cannot open the output directory '%s': %s", path, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return PCS_OK;
    pcs_file_unlock_folder(*lock);
    return pcs_fail(ctx, PCS_IO_ERROR, "another run writes into the output directory '%s': give this one another by -o",
                    path);
}

void pcs_file_unlock_folder(int lock)
{
    if (lock >= 0) close(lock);
}
