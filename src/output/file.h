// Result files: written as "<name>.part", renamed when complete; every write is checked.
//
// The put functions fill a buffer and remember the first failure, which the next call that gives a status reports
// with the path. Nothing allocates after create. Of several processes one writes; for the others this does nothing.

#ifndef PCS_OUTPUT_FILE_H
#define PCS_OUTPUT_FILE_H

#include "core/archive.h"
#include "core/context.h"

typedef struct pcs_file {
    pcs_context *ctx;
    const char *directory; // borrowed
    char *path, *part;     // [room] final path, and path while it is written
    size_t room;
    int descriptor; // -1 if closed
    int error;      // errno of the first failure, 0 if none
    bool is_mute;   // another process writes
    char *buffer;   // [size]
    size_t size, used;
    long long written; // bytes passed to the system
    pcs_digest digest; // digest of these
    bool is_patched;   // some bytes were replaced, so that the digest is recomputed from the file
} pcs_file;

// Creates a file for names of at most `name_length` bytes. The descriptor is closed with the context at the latest.
pcs_status pcs_file_create(pcs_context *ctx, const char *directory, size_t name_length, size_t buffer_size,
                           pcs_file **out);
pcs_status pcs_file_open(pcs_file *f, const char *name); // after a failure, text put into it is lost
// Computes the digest of the first `size` bytes of a file, or of all of it if `size` is negative. Returns false if it
// has fewer or is no regular file. Uses the buffer of `f`, which must be empty.
bool pcs_file_read_digest(pcs_file *f, const char *path, long long size, pcs_digest *out);
// Passes the buffer to the system.
pcs_status pcs_file_flush(pcs_file *f);
// Completes the file: flush, close, rename. On failure nothing is left behind.
pcs_status pcs_file_commit(pcs_file *f);
// Writes a complete file.
pcs_status pcs_file_write(pcs_context *ctx, const char *directory, const char *name, const char *text);
// Closes the file and leaves its first `size` bytes under its temporary name.
void pcs_file_leave(pcs_file *f, long long size);
// Removes `name` of an earlier run. False if there was none or it cannot be removed.
bool pcs_file_remove(pcs_file *f, const char *name);

// Flushes the file with `closing` at its end, which the next text replaces, and renames it: complete after each call.
pcs_status pcs_file_publish(pcs_file *f, const char *closing);
// Writes the length of the file, or continues one that an earlier process has left, complete or not, after that
// length: it must have the same digest up to there, and the rest is cut off. Removes a file of length 0.
pcs_status pcs_file_serialize(pcs_file *f, const char *name, pcs_archive *c);

// Reserves `bytes` at the end of the buffer. The caller fills them and adds to `used`. NULL after a failure.
char *pcs_file_reserve(pcs_file *f, size_t bytes);
void pcs_file_text(pcs_file *f, const char *text);
void pcs_file_bytes(pcs_file *f, const void *bytes, size_t left);
// Returns the offset of the next byte. pcs_file_patch replaces bytes that were written before, from `place` on.
long long pcs_file_place(const pcs_file *f);
void pcs_file_patch(pcs_file *f, long long place, const void *bytes, size_t count);
void pcs_file_print(pcs_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Writes a number with as many digits as it needs.
void pcs_file_number(pcs_file *f, double x);
// Writes a text of any length as a JSON string, in quotes.
void pcs_file_json(pcs_file *f, const char *text);
// Writes the head of a further column of a CSV file: ",name", with a point from 0 on ",name[point]", with a quantity
// ",name.quantity" or ",name[point].quantity"; in quotes if the name needs them.
void pcs_file_column(pcs_file *f, const char *name, int point, const char *quantity);

// Makes every folder of a path.
pcs_status pcs_file_make_folder(pcs_context *ctx, const char *path);

// Locks a folder for one run; PCS_IO_ERROR if another process writes there. *lock goes to pcs_file_unlock_folder; the
// system unlocks the folder when the process ends, however it ends. File systems without locks are not protected.
pcs_status pcs_file_lock_folder(pcs_context *ctx, const char *path, int *lock);
void pcs_file_unlock_folder(int lock);

#endif
