#define _POSIX_C_SOURCE 200809L // strnlen

#include "core/archive.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 128, PART_ROOM = 32, PORTION = 1 << 16 };
static const uint64_t PRIME = 1099511628211ULL; // prime of the hash FNV-1a

_Static_assert(sizeof(long) == 8 && sizeof(double) == 8 && sizeof(bool) == 1, "pieces are written as they stand");

void pcs_archive_part(pcs_archive *c, const char *name)
{
    c->part = name;
}

// Writes "part.name", cut off if it is too long. Returns its size with the zero at its end.
static size_t archive_name(const pcs_archive *c, const char *name, char text[NAME_ROOM])
{
    size_t part = strnlen(c->part, PART_ROOM), rest = strnlen(name, NAME_ROOM - PART_ROOM - 2);
    memcpy(text, c->part, part);
    text[part] = '.';
    memcpy(text + part + 1, name, rest);
    text[part + 1 + rest] = '\0';
    return part + rest + 2;
}

void pcs_archive_refuse(pcs_archive *c, const char *name, const char *what)
{
    char full[NAME_ROOM];
    archive_name(c, name, full);
    if (c->status == PCS_OK) c->status = pcs_fail(c->ctx, PCS_BAD_INPUT, "%s: '%s' %s", c->source, full, what);
}

static void archive_put(pcs_archive *c, const void *bytes, size_t size)
{
    if (c->mode == PCS_ARCHIVE_WRITE && size > c->size - c->used)
        c->status = pcs_fail(c->ctx, PCS_FAILED, "a checkpoint has outgrown its %zu bytes", c->size);
    if (c->status != PCS_OK) return;
    bool is_written = c->mode == PCS_ARCHIVE_WRITE && size > 0;
    if (is_written && c->put != NULL) c->put(c->sink, bytes, size);
    else if (is_written) memcpy(c->bytes + c->used, bytes, size);
    c->used += size;
}

// Writes name and size of a piece, before its bytes.
static void archive_put_head(pcs_archive *c, const char *name, size_t size)
{
    char full[NAME_ROOM];
    unsigned long long count = size;
    archive_put(c, full, archive_name(c, name, full));
    archive_put(c, &count, sizeof count);
}

bool pcs_archive_is_next(const pcs_archive *c, const char *name)
{
    char full[NAME_ROOM];
    size_t length = archive_name(c, name, full);
    return c->size - c->used >= length && memcmp(c->bytes + c->used, full, length) == 0;
}

// Returns the bytes of the next piece, which must have this name and size; NULL otherwise.
static const unsigned char *archive_find(pcs_archive *c, const char *name, size_t size)
{
    char full[NAME_ROOM], text[160];
    if (c->status != PCS_OK) return NULL;
    size_t length = archive_name(c, name, full), left = c->size - c->used;
    unsigned long long found;
    bool has_name = left >= length + sizeof found && memcmp(c->bytes + c->used, full, length) == 0;
    if (!has_name) {
        pcs_archive_refuse(c, name,
                           "is expected, and something else is there: it was written by another model or program");
        return NULL;
    }
    memcpy(&found, c->bytes + c->used + length, sizeof found);
    if (found != size || found > left - length - sizeof found) {
        snprintf(text, sizeof text, "has %llu bytes, this run needs %zu", found, size);
        pcs_archive_refuse(c, name, text);
        return NULL;
    }
    c->used += length + sizeof found + size;
    return c->bytes + c->used - size;
}

void pcs_archive_bytes(pcs_archive *c, const char *name, void *bytes, size_t size)
{
    if (c->mode == PCS_ARCHIVE_READ) {
        const unsigned char *found = archive_find(c, name, size);
        if (found != NULL && size > 0) memcpy(bytes, found, size);
        return;
    }
    archive_put_head(c, name, size);
    archive_put(c, bytes, size);
}

void pcs_archive_words(pcs_archive *c, const char *name, void *words, size_t count)
{
    pcs_archive_bytes(c, name, words, 8 * count);
}

// Splits the bits of a number into two integers, which sums over ranks leave exact; archive_join does the reverse.
static void archive_split(const double *x, double out[2])
{
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    out[0] = (double)(bits >> 32);
    out[1] = (double)(bits & 0xffffffffu);
}

static void archive_join(const double in[2], double *x)
{
    uint64_t bits = (uint64_t)in[0] << 32 | (uint64_t)in[1];
    memcpy(x, &bits, sizeof bits);
}

// Gathers the numbers of all ranks on the first, in the first half of the work.
static void archive_gather(pcs_archive *c, size_t count)
{
    c->comm->gather(c->comm, 2 * count, c->work);
    if (c->comm->rank > 0) return;
    for (size_t i = 0; i < count; i++) archive_join(c->work + 2 * i, c->work + i);
}

// Prepares the work for `count` numbers of all ranks. Returns false if nothing is exchanged yet.
static bool archive_prepare(pcs_archive *c, size_t count)
{
    if (c->work == NULL && c->work_size < 2 * count) c->work_size = 2 * count;
    if (c->work == NULL) return false;
    memset(c->work, 0, 2 * count * sizeof *c->work);
    return true;
}

// Entries in the order of one process, of which each rank has some.
typedef struct archive_list {
    unsigned char *first;
    size_t stride, size;      // bytes from entry to entry, and of one: words of 8 bytes, or fewer that are flags
    size_t count, nown, nall; // entries here, copies of other ranks included, without these, and on all ranks
    const int *number;        // [count] places among all; NULL if all are here
} archive_list;

// Splits the words of this rank's entries among `count` from `from` on.
static void archive_split_list(const pcs_archive *c, const archive_list *x, size_t from, size_t count)
{
    size_t nword = (x->size + 7) / 8;
    for (size_t j = 0; j < x->nown; j++) {
        size_t at = (size_t)x->number[j], left = x->size;
        if (at < from || at >= from + count) continue;
        for (size_t k = 0; k < nword; k++, left -= 8) {
            double word = 0.0;
            memcpy(&word, x->first + j * x->stride + 8 * k, left < 8 ? left : 8);
            archive_split(&word, c->work + 2 * ((at - from) * nword + k));
        }
    }
}

// Writes entries that are distributed over ranks, in portions, so that no rank needs memory for all of them.
static void archive_put_list(pcs_archive *c, const archive_list *x)
{
    size_t nword = (x->size + 7) / 8, most = PORTION / nword + 1;
    for (size_t from = 0; from < x->nall; from += most) {
        size_t count = x->nall - from < most ? x->nall - from : most;
        bool is_exchanged = archive_prepare(c, count * nword);
        if (is_exchanged) {
            archive_split_list(c, x, from, count);
            archive_gather(c, count * nword);
        }
        bool is_whole = x->size % 8 == 0;
        size_t npiece = is_whole ? 1 : count, size = is_whole ? count * x->size : x->size;
        for (size_t i = 0; i < npiece; i++) archive_put(c, is_exchanged ? c->work + i * nword : NULL, size);
    }
}

// Returns false, with a fault, if a byte is neither 0 nor 1: any other value in a bool is undefined behaviour.
static bool archive_are_flags(pcs_archive *c, const char *name, const unsigned char *found, size_t count)
{
    size_t i = 0;
    while (i < count && found[i] <= 1) i++;
    if (i < count) pcs_archive_refuse(c, name, "is neither true nor false");
    return i == count;
}

static void archive_read_list(pcs_archive *c, const char *name, const archive_list *x)
{
    const unsigned char *found = archive_find(c, name, x->nall * x->size);
    size_t nflag = x->size % 8 == 0 ? 0 : x->nall * x->size;
    if (found == NULL || !archive_are_flags(c, name, found, nflag)) return;
    for (size_t j = 0; j < x->count; j++)
        memcpy(x->first + j * x->stride, found + (x->number == NULL ? j : (size_t)x->number[j]) * x->size, x->size);
}

static void archive_list_entries(pcs_archive *c, const char *name, const archive_list *x)
{
    if (c->mode == PCS_ARCHIVE_READ) {
        archive_read_list(c, name, x);
        return;
    }
    archive_put_head(c, name, x->nall * x->size);
    if (x->number != NULL) archive_put_list(c, x);
    else
        for (size_t j = 0; j < x->nall; j++) archive_put(c, x->first + j * x->stride, x->size);
}

void pcs_archive_memory(pcs_archive *c, const char *name, const pcs_memory *memory)
{
    size_t nown = (size_t)memory->nown, nall = (size_t)memory->nall;
    if (memory->serial == NULL || c->comm == NULL) pcs_archive_bytes(c, name, memory->bytes, memory->size);
    else
        archive_list_entries(c, name,
                             &(archive_list){ memory->bytes, 8, 8, memory->size / 8, nown, nall, memory->serial });
}

void pcs_archive_vector(pcs_archive *c, const char *name, double *x, int count)
{
    pcs_archive_memory(c, name,
                       &(pcs_memory){ .bytes = x,
                                      .size = 8 * (size_t)(c->comm == NULL ? count : c->nequation),
                                      .serial = c->serial,
                                      .nown = c->nown,
                                      .nall = c->nall });
}

void pcs_archive_rows(pcs_archive *c, const char *name, const pcs_archive_table *rows)
{
    size_t all = (size_t)(rows->has_laws ? c->npoint_all : c->nrow_all);
    if (c->row_number == NULL) all = rows->count;
    archive_list_entries(
        c, name,
        &(archive_list){ rows->first, rows->stride, rows->size, rows->count, rows->count, all, c->row_number });
}

bool pcs_archive_seek(pcs_archive *c, const char *full, size_t *size)
{
    for (c->used = 0; c->used < c->size;) {
        const char *name = (const char *)c->bytes + c->used;
        size_t length = strnlen(name, c->size - c->used) + 1, left = c->size - c->used;
        unsigned long long found;
        if (length + sizeof found > left) return false;
        memcpy(&found, name + length, sizeof found);
        if (found > left - length - sizeof found) return false;
        *size = (size_t)found;
        if (strcmp(name, full) == 0) return true;
        c->used += length + sizeof found + (size_t)found;
    }
    return false;
}

void pcs_archive_flags(pcs_archive *c, const char *name, bool *flags, size_t count)
{
    archive_list_entries(c, name, &(archive_list){ (unsigned char *)flags, 1, 1, count, count, count, NULL });
}

void pcs_archive_index(pcs_archive *c, const char *name, int *x, int low, int high)
{
    long word = *x;
    char text[96];
    pcs_archive_words(c, name, &word, 1);
    if (!pcs_archive_reads(c)) return;
    if (word >= low && word <= high) {
        *x = (int)word;
        return;
    }
    snprintf(text, sizeof text, "is %ld, must be in [%d, %d]", word, low, high);
    pcs_archive_refuse(c, name, text);
}

void pcs_archive_int(pcs_archive *c, const char *name, int *x)
{
    pcs_archive_index(c, name, x, INT_MIN, INT_MAX);
}

unsigned long long pcs_hash(unsigned long long hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t sum = hash, word;
    for (; size >= sizeof word; p += sizeof word, size -= sizeof word) {
        memcpy(&word, p, sizeof word);
        sum = (sum ^ word) * PRIME;
        sum ^= sum >> 29;
    }
    for (; size > 0; size--) sum = (sum ^ *p++) * PRIME;
    return sum;
}

void pcs_digest_add(pcs_digest *d, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (; size > 0 && d->nrest % sizeof d->rest != 0; size--) d->rest[d->nrest++] = *p++;
    if (d->nrest == sizeof d->rest) {
        d->sum = pcs_hash(d->sum, d->rest, sizeof d->rest);
        d->nrest = 0;
    }
    if (d->nrest > 0) return;
    size_t whole = size - size % sizeof d->rest;
    d->sum = pcs_hash(d->sum, p, whole);
    d->nrest = size - whole;
    memcpy(d->rest, p + whole, d->nrest);
}

unsigned long long pcs_digest_value(const pcs_digest *d)
{
    return pcs_hash(d->sum, d->rest, d->nrest);
}
