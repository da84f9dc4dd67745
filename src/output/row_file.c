#include "output/row_file.h"

#include "core/clock.h"

#include <string.h>

enum { BUFFER_ROWS = 64, LEAST_BUFFER = 1 << 17, MOST_BUFFER = 1 << 22 };
static const double flush_interval = 1.0; // s, so that a slow run can be watched

// Some rows, and one that is as long as can be.
static size_t row_file_buffer(size_t row_room)
{
    size_t size = BUFFER_ROWS * row_room;
    if (size > MOST_BUFFER) size = MOST_BUFFER;
    if (size < LEAST_BUFFER) size = LEAST_BUFFER;
    return size > 2 * row_room ? size : 2 * row_room;
}

pcs_status pcs_row_file_create(pcs_context *ctx, const char *directory, const char *name, size_t row_room,
                               pcs_row_file *out)
{
    *out = (pcs_row_file){ .row_room = row_room, .has_failed = true };
    return pcs_file_create(ctx, directory, strlen(name) + 1, row_file_buffer(row_room), &out->file);
}

pcs_status pcs_row_file_open(pcs_row_file *f, const char *name)
{
    pcs_file_remove(f->file, name);
    PCS_TRY(pcs_file_open(f->file, name));
    f->has_failed = false;
    return PCS_OK;
}

pcs_status pcs_row_file_flush(pcs_row_file *f, bool is_last)
{
    double now = pcs_clock();
    bool is_full = f->file->used + f->row_room > f->file->size;
    if (!is_full && !is_last && now - f->flushed < flush_interval) return PCS_OK;
    pcs_status status = pcs_file_flush(f->file);
    if (status == PCS_OK) {
        f->complete = f->file->written;
        f->flushed = now;
        return PCS_OK;
    }
    // A half-written row is cut off; what is left keeps the name of an unfinished file.
    f->has_failed = true;
    pcs_file_leave(f->file, f->complete);
    return status;
}

pcs_status pcs_row_file_carry(pcs_row_file *f, const char *name, pcs_carrier *c)
{
    long size = 0;
    unsigned long long digest = 0;
    if (c->way == PCS_CARRY_WRITE) PCS_TRY(pcs_row_file_flush(f, true));
    size = (long)f->complete;
    digest = pcs_digest_value(&f->file->digest);
    pcs_carry_words(c, "file", &size, 1);
    pcs_carry_words(c, "digest", &digest, 1);
    if (!pcs_carry_reads(c)) return PCS_OK;
    f->complete = size;
    PCS_TRY(pcs_file_reopen(f->file, name, size, digest));
    f->has_failed = false;
    return PCS_OK;
}
