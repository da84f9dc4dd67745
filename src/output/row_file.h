// A table that grows row by row: rows reach the disk whole, after a while or when the buffer is full, so that a run can
// be watched, and what a failure leaves behind ends with a whole row.

#ifndef PCS_OUTPUT_ROW_FILE_H
#define PCS_OUTPUT_ROW_FILE_H

#include "core/carry.h"
#include "output/file.h"

typedef struct pcs_row_file {
    pcs_file *file;
    size_t row_room;    // bytes that a row may need
    bool has_failed;    // nothing more is written
    long long complete; // bytes of whole rows that reached the disk
    double flushed;     // when, s
} pcs_row_file;

// `has_failed` until it is opened.
pcs_status pcs_row_file_create(pcs_context *ctx, const char *directory, const char *name, size_t row_room,
                               pcs_row_file *out);
// Removes `name` of an earlier run.
pcs_status pcs_row_file_open(pcs_row_file *f, const char *name);
// Hands rows on when the buffer has no room for one more, or after a while.
pcs_status pcs_row_file_flush(pcs_row_file *f, bool is_last);
// The rows so far are on the disk, or the file goes on after those that a checkpoint knows of.
pcs_status pcs_row_file_carry(pcs_row_file *f, const char *name, pcs_carrier *c);

#endif
