// Result files: written aside as "<name>.part", renamed when complete; every write is checked.
//
// The put functions fill a buffer and remember the first failure, which the next call that gives a status reports
// with the path. Nothing allocates after create. Of several processes one writes; for the others this does nothing.

#ifndef PCS_OUTPUT_FILE_H
#define PCS_OUTPUT_FILE_H

#include "core/carry.h"
#include "core/context.h"
#include "output/text.h"

typedef struct pcs_file {
    pcs_context *ctx;
    const char *directory; // borrowed
    char *path, *part;     // [room] the final name, and the name while it is written
    size_t room;
    int descriptor; // -1: closed
    int error;      // errno of the first failure, 0: none
    bool is_mute;   // another process writes
    char *buffer;   // [size]
    size_t size, used;
    long long written; // bytes handed to the system
    pcs_digest digest; // of these
    bool is_patched;   // some of them were replaced, and the digest is made again from the file
} pcs_file;

// `name_length` bounds the names that open will get. The descriptor is closed with the context at the latest.
pcs_status pcs_file_create(pcs_context *ctx, const char *directory, size_t name_length, size_t buffer_size,
                           pcs_file **out);
pcs_status pcs_file_open(pcs_file *f, const char *name);
// Goes on with a file that an earlier process has left, complete or not, after its first `size` bytes, which must have
// this digest; the rest is cut off.
pcs_status pcs_file_reopen(pcs_file *f, const char *name, long long size, unsigned long long digest);
// Computes the digest of the first `size` bytes of a file, or of all of it where `size` is negative; false if it has
// fewer or is no regular file. Uses the buffer of `f`, which must be empty.
bool pcs_file_read_digest(pcs_file *f, const char *path, long long size, pcs_digest *out);
// Hands the buffer to the system.
pcs_status pcs_file_flush(pcs_file *f);
// Completes the file: flush, close, rename. On failure nothing is left behind.
pcs_status pcs_file_commit(pcs_file *f);
// Closes the file and leaves its first `size` bytes under the name it has while it is written.
void pcs_file_leave(pcs_file *f, long long size);
// Removes `name` of an earlier run; false when there was none (or it cannot be removed).
bool pcs_file_remove(pcs_file *f, const char *name);

// Gives the file `from` the name `to`; the one that is open must be committed.
pcs_status pcs_file_rename(pcs_file *f, const char *from, const char *to);

// Room for `bytes` at the end of the buffer; the caller fills it and adds to `used`. NULL after a failure.
char *pcs_file_reserve(pcs_file *f, size_t bytes);
void pcs_file_text(pcs_file *f, const char *text);
void pcs_file_bytes(pcs_file *f, const void *bytes, size_t left);
// The byte of the file that comes next, and bytes in the place of others from there on that it has already.
long long pcs_file_place(const pcs_file *f);
void pcs_file_patch(pcs_file *f, long long place, const void *bytes, size_t count);
void pcs_file_print(pcs_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A number with the digits it needs.
void pcs_file_number(pcs_file *f, double x);
// A text of any length as a JSON string, in quotes.
void pcs_file_json(pcs_file *f, const char *text);
// The head of a further column of a CSV file: ",name", with a point from 0 on ",name[point]", with a quantity
// ",name.quantity" or ",name[point].quantity"; in quotes where the name needs them.
void pcs_file_column(pcs_file *f, const char *name, int point, const char *quantity);
// A table that grows row by row: rows reach the disk whole, after a while or when the buffer is full, so that a run can
// be watched, and what a failure leaves behind ends with a whole row.
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

// Makes every folder of a path.
pcs_status pcs_file_make_folder(pcs_context *ctx, const char *path);

// Takes a folder for one run: PCS_IO_ERROR when another process writes there. *lock goes to pcs_file_unlock_folder; the
// system gives the folder back when the process ends, however it does. File systems without locks are not watched.
pcs_status pcs_file_lock_folder(pcs_context *ctx, const char *path, int *lock);
void pcs_file_unlock_folder(int lock);

#endif
