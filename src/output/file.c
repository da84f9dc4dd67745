// Buffered files on plain descriptors, so that no write allocates. Each is renamed to its name when complete.

#define _DEFAULT_SOURCE // flock

#include "output/file.h"

#include "core/comm.h"
#include "core/open.h"
#include "core/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

pcs_status pcs_file_write(pcs_context *ctx, const char *directory, const char *name, const char *text)
{
    pcs_file *f;
    PCS_TRY(pcs_file_create(ctx, directory, strlen(name), 1 << 14, &f));
    PCS_TRY(pcs_file_open(f, name));
    pcs_file_text(f, text);
    return pcs_file_commit(f);
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
    pcs_number_text(x, text);
    pcs_file_text(f, text);
}

void pcs_file_json(pcs_file *f, const char *text)
{
    pcs_file_text(f, "\"");
    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        size_t length = text_utf8(text, 4);
        if (length == 0) pcs_file_text(f, "\\ufffd");
        else if (c == '"' || c == '\\') pcs_file_print(f, "\\%c", c);
        else if (c < 0x20 || c == 0x7F) pcs_file_print(f, "\\u%04x", c);
        else pcs_file_bytes(f, text, length);
        text += length == 0 ? 1 : length;
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
