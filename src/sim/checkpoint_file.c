// Checkpoints on the disk: two generations, each whole or not there at all.

#define _GNU_SOURCE // syncfs

#include "sim/checkpoint_file.h"

#include "core/open.h"
#include "core/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const checkpoint_names[] = { "checkpoint.bin", "checkpoint.old.bin" };
enum { PATH_ROOM = 4200, CHECKSUM = 8 };

static void file_path(const char *directory, const char *name, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/%s", directory, name);
}

static void file_close_folder(void *folder)
{
    int *descriptor = folder;
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

// A folder that may be written but not read cannot be synced.
pcs_status pcs_checkpoint_open_folder(pcs_context *ctx, const char *directory, int *folder)
{
    *folder = pcs_open_folder(directory);
    if (*folder < 0 && errno != EACCES)
        return pcs_fail(ctx, PCS_IO_ERROR, "cannot open the folder %s: %s", directory, strerror(errno));
    return pcs_defer(ctx, file_close_folder, folder);
}

void pcs_checkpoint_remove(const char *directory, bool only_newest)
{
    char path[PATH_ROOM];
    for (int i = 0; i < (only_newest ? 1 : 2); i++) {
        file_path(directory, checkpoint_names[i], path);
        unlink(path);
    }
}

static bool file_write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(descriptor, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (n == 0) errno = ENOSPC;
            return false;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

// A file system that cannot sync is not waited for.
static bool file_is_synced(int answer)
{
    return answer == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS;
}

// The folder that a file is in.
static bool file_sync_folder(const char *path)
{
    char directory[PATH_ROOM];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL) snprintf(directory, sizeof directory, ".");
    else slash[slash == directory] = '\0';
    int descriptor = pcs_open_folder(directory);
    if (descriptor < 0) return errno == EACCES;
    bool is_done = file_is_synced(fsync(descriptor));
    close(descriptor);
    return is_done;
}

// The file that becomes `path`.
static pcs_status file_write_aside(pcs_context *ctx, const char *path, const pcs_memory *all)
{
    char aside[PATH_ROOM + 8];
    snprintf(aside, sizeof aside, "%s.part", path);
    int descriptor = pcs_open_new(aside);
    if (descriptor < 0)
        return pcs_fail(ctx, PCS_IO_ERROR, "cannot create the checkpoint %s: %s", path, strerror(errno));
    bool is_done = file_write_all(descriptor, all->bytes, all->size) && file_is_synced(fsync(descriptor));
    int error = errno;
    if (close(descriptor) != 0 && is_done) {
        is_done = false;
        error = errno;
    }
    if (is_done) return PCS_OK;
    unlink(aside);
    return pcs_fail(ctx, PCS_IO_ERROR, "cannot write the checkpoint %s: %s", path, strerror(error));
}

// It gets its name if all is well with `is_done`; what was there goes to `older`, unless that is NULL.
static bool file_take_place(const char *path, const char *older, bool is_done)
{
    char aside[PATH_ROOM + 8];
    snprintf(aside, sizeof aside, "%s.part", path);
    is_done = is_done && (older == NULL || rename(path, older) == 0 || errno == ENOENT) && rename(aside, path) == 0;
    int error = errno;
    if (!is_done) unlink(aside);
    errno = error;
    return is_done;
}

static pcs_status file_tell(pcs_context *ctx, const char *path, bool is_done)
{
    if (is_done) return PCS_OK;
    return pcs_fail(ctx, PCS_IO_ERROR, "cannot write the checkpoint %s: %s", path, strerror(errno));
}

pcs_status pcs_checkpoint_begin(pcs_checkpoint_stream *s, const char *directory)
{
    char newest[PATH_ROOM], aside[PATH_ROOM + 8];
    file_path(directory, checkpoint_names[0], newest);
    snprintf(aside, sizeof aside, "%s.part", newest);
    s->used = 0;
    s->sum = PCS_HASH_START;
    s->error = 0;
    s->descriptor = pcs_open_new(aside);
    if (s->descriptor >= 0) return PCS_OK;
    return pcs_fail(s->ctx, PCS_IO_ERROR, "cannot create the checkpoint %s: %s", newest, strerror(errno));
}

// Whole buffers are multiples of the words that the checksum is made of.
static void file_flush(pcs_checkpoint_stream *s)
{
    s->sum = pcs_hash(s->sum, s->buffer, s->used);
    if (s->error == 0 && !file_write_all(s->descriptor, (const char *)s->buffer, s->used)) s->error = errno;
    s->used = 0;
}

void pcs_checkpoint_put(void *stream, const void *bytes, size_t size)
{
    pcs_checkpoint_stream *s = stream;
    const unsigned char *from = bytes;
    while (size > 0) {
        size_t room = PCS_CHECKPOINT_BUFFER - s->used, count = size < room ? size : room;
        memcpy(s->buffer + s->used, from, count);
        s->used += count;
        from += count;
        size -= count;
        if (s->used == PCS_CHECKPOINT_BUFFER) file_flush(s);
    }
}

pcs_status pcs_checkpoint_sync(pcs_context *ctx, int folder)
{
    if (folder < 0 || file_is_synced(syncfs(folder))) return PCS_OK;
    return pcs_fail(ctx, PCS_IO_ERROR, "cannot write what a checkpoint counts: %s", strerror(errno));
}

// Frames and rows that it counts, very many perhaps, are on the disk before it gets its name, by one call for the whole
// file system, which takes a hundredth of the time of one for each.
pcs_status pcs_checkpoint_end(pcs_checkpoint_stream *s, const char *directory, int folder, pcs_status status)
{
    char newest[PATH_ROOM], older[PATH_ROOM];
    file_path(directory, checkpoint_names[0], newest);
    file_path(directory, checkpoint_names[1], older);
    file_flush(s);
    if (s->error == 0 && !file_write_all(s->descriptor, (const char *)&s->sum, CHECKSUM)) s->error = errno;
    if (close(s->descriptor) != 0 && s->error == 0) s->error = errno;
    bool is_good = status == PCS_OK && s->error == 0;
    bool is_done =
        file_take_place(newest, s->is_second ? older : NULL, is_good && (folder < 0 || file_is_synced(syncfs(folder))));
    if (is_done && !s->is_second) unlink(older);
    s->is_second = s->is_second || is_done;
    if (status != PCS_OK) return status;
    if (s->error != 0) errno = s->error;
    return file_tell(s->ctx, newest, is_done && (folder < 0 || file_is_synced(fsync(folder))));
}

pcs_status pcs_checkpoint_put_file(pcs_context *ctx, const char *path, const pcs_memory *all)
{
    PCS_TRY(file_write_aside(ctx, path, all));
    return file_tell(ctx, path, file_take_place(path, NULL, true) && file_sync_folder(path));
}

void pcs_checkpoint_free(pcs_checkpoint_data *data)
{
    pcs_scratch_free(data->bytes);
    *data = (pcs_checkpoint_data){ .bytes = NULL };
}

// Returns the error in the bytes, NULL if none. *is_damaged is true if an older checkpoint may still be complete.
static const char *file_judge(const pcs_checkpoint_data *d, bool *is_damaged)
{
    pcs_checkpoint_head head;
    uint64_t sum;
    *is_damaged = true;
    if (d->size < sizeof head + CHECKSUM) return "it is cut off";
    memcpy(&head, d->bytes, sizeof head);
    if (head.magic[0] == '\0') return "it begins with zeros"; // as what a lost machine had not written yet
    *is_damaged = false;
    if (memcmp(head.magic, PCS_CHECKPOINT_MAGIC, sizeof head.magic) != 0) return "this is no checkpoint of Percuss";
    if (head.order != PCS_CHECKPOINT_ORDER) return "it comes from a machine with another order of bytes";
    if (head.format != PCS_CHECKPOINT_FORMAT) return "its format is that of another version of the program";
    *is_damaged = true;
    size_t rest = d->size - sizeof head - CHECKSUM;
    if (head.text_size > rest || head.piece_size != rest - head.text_size) return "it is cut off";
    memcpy(&sum, d->bytes + d->size - CHECKSUM, sizeof sum);
    if (sum != pcs_hash(PCS_HASH_START, d->bytes, d->size - CHECKSUM)) return "its checksum is wrong: it was changed";
    *is_damaged = head.nrank < 1 || head.nrank > INT32_MAX || memchr(head.version, '\0', sizeof head.version) == NULL;
    return *is_damaged ? "its head is wrong" : NULL;
}

static void file_describe(pcs_checkpoint_data *d)
{
    const pcs_checkpoint_head *head = (const void *)d->bytes;
    d->input = head->input;
    d->motion = head->motion;
    d->version = head->version;
    d->is_done = head->is_done != 0;
    d->text = (const char *)d->bytes + sizeof *head;
    d->text_size = (size_t)head->text_size;
    d->pieces = d->bytes + sizeof *head + d->text_size;
    d->piece_size = (size_t)head->piece_size;
}

// PCS_BAD_INPUT when it is no checkpoint, and *is_damaged when it once was one. The path is in the data.
static pcs_status file_read(pcs_context *ctx, pcs_checkpoint_data *d, bool *is_damaged)
{
    char *bytes = NULL;
    *is_damaged = false;
    PCS_TRY(pcs_text_file(ctx, d->path, "the checkpoint", PCS_TEXT_MOST, &bytes, &d->size));
    d->bytes = (unsigned char *)bytes;
    const char *fault = file_judge(d, is_damaged);
    if (fault != NULL) {
        pcs_scratch_free(d->bytes);
        d->bytes = NULL;
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s: %s", d->path, fault);
    }
    file_describe(d);
    return PCS_OK;
}

static bool file_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

pcs_status pcs_checkpoint_find(pcs_context *ctx, const char *path, bool is_older, pcs_checkpoint_data *out,
                               bool *is_there, char note[512])
{
    bool is_damaged = false;
    *out = (pcs_checkpoint_data){ .bytes = NULL };
    *is_there = false;
    note[0] = '\0';
    if (!file_is_folder(path)) {
        snprintf(out->path, sizeof out->path, "%s", path);
        *is_there = access(path, F_OK) == 0;
        return *is_there ? file_read(ctx, out, &is_damaged) : PCS_OK;
    }
    for (int i = is_older; i < 2; i++) {
        file_path(path, checkpoint_names[i], out->path);
        if (access(out->path, F_OK) != 0) continue;
        *is_there = true;
        pcs_status status = file_read(ctx, out, &is_damaged);
        if (status == PCS_OK || !is_damaged || i == 1) return status;
        snprintf(note, 512, "%.440s; going on from the one before it", pcs_message(ctx));
        pcs_fail(ctx, PCS_OK, "%s", ""); // it has been told
        *is_there = false;
    }
    // The newest is damaged, and there is no other.
    return note[0] == '\0' ? PCS_OK : pcs_fail(ctx, PCS_BAD_INPUT, "%s: damaged, and there is none before it", path);
}
