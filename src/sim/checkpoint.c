// Fills checkpoints, writes and reads their files, decides when to write them, and restores or starts runs from them.

#define _GNU_SOURCE // syncfs

#include "sim/checkpoint.h"

#include "core/clock.h"
#include "core/open.h"
#include "core/text.h"
#include "sim/certify.h"
#include "step/projection.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Checkpoints on the disk: two generations, each whole or not there at all.

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

// Opens the folder until the context ends; its descriptor reports all later write errors of its file system. -1 if it
// may be written but not read: then nothing is synced.
static pcs_status checkpoint_open_folder(pcs_context *ctx, const char *directory, int *folder)
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

// Returns true if a sync succeeded, or if the file system cannot sync.
static bool file_is_synced(int answer)
{
    return answer == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS;
}

// Syncs the folder of a file.
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

// Renames the temporary file to `path` if `is_done`; the file before becomes `older`, unless that is NULL.
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

// Begins a checkpoint in the temporary file that becomes `path`.
static pcs_status file_begin(pcs_checkpoint_stream *s, const char *path)
{
    char aside[PATH_ROOM + 8];
    snprintf(aside, sizeof aside, "%s.part", path);
    s->used = 0;
    s->sum = PCS_HASH_START;
    s->error = 0;
    s->descriptor = pcs_open_new(aside);
    if (s->descriptor >= 0) return PCS_OK;
    return pcs_fail(s->ctx, PCS_IO_ERROR, "cannot create the checkpoint %s: %s", path, strerror(errno));
}

// Flushes the buffer, whose size is a multiple of the words of the checksum.
static void file_flush(pcs_checkpoint_stream *s)
{
    s->sum = pcs_hash(s->sum, s->buffer, s->used);
    if (s->error == 0 && !file_write_all(s->descriptor, (const char *)s->buffer, s->used)) s->error = errno;
    s->used = 0;
}

static void file_put(void *stream, const void *bytes, size_t size)
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

// Waits until everything that this machine has written there is on the disk; does nothing for -1.
static pcs_status checkpoint_sync(pcs_context *ctx, int folder)
{
    if (folder < 0 || file_is_synced(syncfs(folder))) return PCS_OK;
    return pcs_fail(ctx, PCS_IO_ERROR, "cannot write what a checkpoint counts: %s", strerror(errno));
}

// Completes and closes the temporary file. Returns false, with errno, if any of it could not be written.
static bool file_close(pcs_checkpoint_stream *s, bool is_synced)
{
    file_flush(s);
    if (s->error == 0 && !file_write_all(s->descriptor, (const char *)&s->sum, CHECKSUM)) s->error = errno;
    if (s->error == 0 && is_synced && !file_is_synced(fsync(s->descriptor))) s->error = errno;
    if (close(s->descriptor) != 0 && s->error == 0) s->error = errno;
    errno = s->error;
    return s->error == 0;
}

// Completes it unless `status` is a fault, which is passed on. The one before is kept if it is of this run; those of
// another run are removed now.
// Frames and rows that it counts, very many perhaps, are on the disk before it gets its name, by one call for the whole
// file system, which takes a hundredth of the time of one for each.
static pcs_status checkpoint_end(pcs_checkpoint_stream *s, const char *directory, int folder, pcs_status status)
{
    char newest[PATH_ROOM], older[PATH_ROOM];
    file_path(directory, checkpoint_names[0], newest);
    file_path(directory, checkpoint_names[1], older);
    bool is_done = file_close(s, false) && status == PCS_OK && (folder < 0 || file_is_synced(syncfs(folder)));
    is_done = file_take_place(newest, s->is_second ? older : NULL, is_done);
    if (is_done && !s->is_second) unlink(older);
    s->is_second = s->is_second || is_done;
    if (status != PCS_OK) return status;
    return file_tell(s->ctx, newest, is_done && (folder < 0 || file_is_synced(fsync(folder))));
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

// Reads d->path. Fails with PCS_BAD_INPUT if it is no checkpoint; *is_damaged if it once was one.
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

enum { ASKING_STEPS = 16, LINE_ROOM = 160 };
// Numbers and flags follow one another in the reports of a step and of its rows.
enum {
    REPORT_WORDS = (offsetof(pcs_step_report, is_joined) - offsetof(pcs_step_report, event_time)) / 8,
    ROW_WORDS = offsetof(pcs_row_report, is_gated) / 8,
    ROW_FLAGS = 4
};
_Static_assert(offsetof(pcs_row_report, is_impact) == offsetof(pcs_row_report, is_gated) + ROW_FLAGS - 1,
               "the flags of a row follow one another");
static const double SHORT_RUN = 60.0; // s: some hundred times what syncing takes on a disk that others write to, too

const pcs_option pcs_checkpoint_options[] = {
    PCS_COUNT("every", pcs_checkpoint_params, every, PCS_OPTIONAL, PCS_WITHIN(1, INFINITY),
              "steps from checkpoint to checkpoint; by default only `minutes` counts"),
    PCS_REAL("minutes", pcs_checkpoint_params, minutes, PCS_DEFAULT("10"), PCS_POSITIVE,
             "of wall time from checkpoint to checkpoint; there is always one at the end"),
    { .name = NULL },
};

typedef struct pcs_checkpoint {
    pcs_checkpoint_head head;
    const char *text;             // [head.text_size] resolved case
    pcs_checkpoint_stream stream; // has a buffer only on the rank that writes
    double *work;                 // [work_size] for a portion of the numbers of all ranks
    size_t work_size;
    double last; // s, clock at the last checkpoint
    int folder;  // open descriptor, only on ranks that write
} pcs_checkpoint;

pcs_carrier pcs_checkpoint_carrier(const pcs_sim *sim, pcs_carry_way way)
{
    const pcs_layout *layout = sim->system->layout;
    pcs_carrier c = { .ctx = sim->ctx, .way = way, .source = "checkpoint" };
    c.nequation = c.nown = c.nall = sim->system->nv;
    if (layout == NULL) return c;
    c.comm = layout->comm;
    c.nequation = layout->n;
    c.nown = layout->nown;
    c.nall = layout->nglobal;
    c.serial = layout->serial;
    if (sim->system->row_comm == NULL) return c;
    c.row_number = sim->system->row_number;
    c.nrow_all = sim->system->nrow_all;
    c.npoint_all = c.nrow_all + sim->system->ncompliant_all;
    return c;
}

// Computes the hash of the case, with the version of the program and the files that the case names.
static pcs_status checkpoint_hash(pcs_sim *sim, bool of_motion, const char **text, size_t *size, uint64_t *hash)
{
    char *all = NULL;
    PCS_TRY(pcs_case_dump(sim->input, of_motion, &all, size));
    unsigned long long sum = pcs_hash(PCS_HASH_START, PERCUSS_VERSION, sizeof PERCUSS_VERSION);
    sum = pcs_hash(sum, all, *size);
    PCS_TRY(pcs_case_hash_files(sim->input, &sum));
    *hash = sum;
    *text = all;
    return PCS_OK;
}

pcs_status pcs_checkpoint_hash(pcs_sim *sim, unsigned long long *hash)
{
    const char *text = NULL;
    size_t size = 0;
    uint64_t all = 0;
    PCS_TRY(checkpoint_hash(sim, false, &text, &size, &all));
    *hash = all;
    return PCS_OK;
}

static pcs_status checkpoint_make_head(pcs_sim *sim, pcs_checkpoint_head *head, const char **text)
{
    size_t size = 0;
    const char *unused = NULL;
    const pcs_comm *comm = pcs_context_comm(sim->ctx);
    *head = (pcs_checkpoint_head){ .order = PCS_CHECKPOINT_ORDER, .format = PCS_CHECKPOINT_FORMAT };
    memcpy(head->magic, PCS_CHECKPOINT_MAGIC, sizeof head->magic);
    snprintf(head->version, sizeof head->version, "%s", PERCUSS_VERSION);
    head->nrank = comm == NULL ? 1 : (uint64_t)comm->size;
    PCS_TRY(checkpoint_hash(sim, true, &unused, &size, &head->motion));
    PCS_TRY(checkpoint_hash(sim, false, text, &size, &head->input));
    head->text_size = size;
    return PCS_OK;
}

// Archives the step solver. Reading factors its matrices again, which does not count as work of this run.
static void checkpoint_carry_solver(pcs_sim *sim, pcs_carrier *c)
{
    pcs_step_solver *solver = sim->solver;
    pcs_step_form form = solver->form;
    bool is_prepared = solver->is_prepared, is_there = pcs_projection_is_at(solver, sim->state.q);
    pcs_outcome outcome;
    int nfactor = solver->nfactor;
    pcs_carry_part(c, "solver");
    pcs_carry_words(c, "form", &form, sizeof form / 8);
    pcs_carry_flags(c, "is_prepared", &is_prepared, 1);
    pcs_carry_flags(c, "is_there", &is_there, 1);
    pcs_carry_int(c, "factorizations", &nfactor);
    pcs_carry_words(c, "handovers", &solver->handovers, 1);
    if (pcs_carry_reads(c) && is_prepared) c->status = pcs_step_solver_prepare(solver, &form, &outcome);
    if (!pcs_carry_reads(c)) return;
    if (!is_there) pcs_projection_leave(solver);
    solver->nfactor = nfactor;
    sim->view.step_backend = solver->iteration_backend;
}

// Serializes the counts of the summary.
static void checkpoint_carry_view(pcs_view *view, pcs_carrier *c)
{
    pcs_carry_part(c, "effort");
    pcs_carry_words(c, "iterations", &view->iterations, 1);
    pcs_carry_words(c, "factorizations", &view->factorizations, 1);
    pcs_carry_words(c, "attempts", &view->attempts, 1);
    pcs_carry_words(c, "rejections", &view->rejections, 1);
    pcs_carry_words(c, "cut_steps", &view->cut_steps, 1);
    pcs_carry_words(c, "first_cut", &view->first_cut, 1);
    pcs_carry_words(c, "last_cut", &view->last_cut, 1);
    pcs_carry_index(c, "turning_halvings", &view->turning_halvings, 0, 62);
    pcs_carry_index(c, "kept_halvings", &view->kept_halvings, 0, 62);
    pcs_carry_int(c, "rough_steps", &view->rough_steps);
    pcs_carry_int(c, "rough_wait", &view->rough_wait);
    pcs_carry_index(c, "finest_cut", &view->finest_cut, 0, 62);
    pcs_carry_words(c, "finest_cut_time", &view->finest_cut_time, 1);
    pcs_carry_words(c, "handovers", &view->handovers, 1);
    pcs_carry_words(c, "inexact", &view->inexact, 1);
    pcs_carry_words(c, "memory", &view->memory, 1);
    pcs_carry_words(c, "memory_of_ranks", view->memory_of_ranks, 3);
    pcs_carry_words(c, "checkpoints", &view->ncheckpoint, 1);
}

// Serializes the report of the last step, for observers of the run; the next step does not depend on it.
static void checkpoint_carry_report(pcs_sim *sim, pcs_carrier *c)
{
    pcs_step_report *r = &sim->report;
    const pcs_system *system = sim->system;
    pcs_carry_part(c, "report");
    pcs_carry_int(c, "iterations", &r->iterations);
    pcs_carry_words(c, "sums", &r->event_time, REPORT_WORDS);
    pcs_carry_flags(c, "is_joined", &r->is_joined, 1);
    pcs_carry_table rows = { .count = (size_t)pcs_system_npoint(system), .stride = sizeof *r->rows, .has_laws = true };
    rows.first = &r->rows->gap;
    rows.size = 8 * ROW_WORDS;
    pcs_carry_rows(c, "rows", &rows);
    rows.first = &r->rows->is_gated;
    rows.size = ROW_FLAGS;
    pcs_carry_rows(c, "row_flags", &rows);
    if (sim->reactions == NULL) return;
    pcs_carry_words(c, "reactions", sim->reactions, (size_t)system->nreaction * sizeof *sim->reactions / 8);
}

// Serializes the simulation. Step control has no memory but the state; retries remember how far the last step was cut.
void pcs_checkpoint_carry(pcs_sim *sim, pcs_carrier *c)
{
    pcs_state_carry(&sim->state, c);
    pcs_carry_part(c, "run");
    pcs_carry_words(c, "start_time", &sim->start_time, 1);
    pcs_carry_words(c, "steps", &sim->nstep, 1);
    pcs_carry_words(c, "ledger", &sim->ledger, PCS_LEDGER_WORDS);
    pcs_carry_words(c, "wall_time", &sim->timing, sizeof sim->timing / 8);
    if (pcs_carry_reads(c)) pcs_state_settle(sim->scheme, &sim->state);
    checkpoint_carry_solver(sim, c);
    checkpoint_carry_view(&sim->view, c);
    pcs_certifier_carry(sim->certifier, c);
    checkpoint_carry_report(sim, c);
}

static pcs_status checkpoint_carry_observers(pcs_sim *sim, pcs_carrier *c)
{
    pcs_status status = PCS_OK;
    bool is_alone = pcs_context_comm(sim->ctx) == NULL || pcs_carry_reads(c);
    for (int i = 0; i < sim->nobserver; i++) {
        pcs_observer *o = &sim->observers[i];
        if (o->ops->carry == NULL || (status != PCS_OK && is_alone)) continue;
        pcs_carry_part(c, o->ops->name);
        pcs_status answer = o->ops->carry(o, c); // after a fault, too: other ranks may wait for this one
        o->has_failed = answer != PCS_OK;
        if (status == PCS_OK) status = answer;
    }
    return status == PCS_OK ? c->status : status;
}

pcs_status pcs_checkpoint_open(pcs_sim *sim)
{
    pcs_checkpoint *k;
    pcs_carrier c = pcs_checkpoint_carrier(sim, PCS_CARRY_COUNT);
    if (!sim->has_checkpoints) return PCS_OK;
    PCS_TAKE(sim->ctx, k, 1, "checkpoints");
    PCS_TRY(checkpoint_make_head(sim, &k->head, &k->text));
    pcs_checkpoint_carry(sim, &c);
    PCS_TRY(checkpoint_carry_observers(sim, &c));
    k->head.piece_size = c.used;
    k->work_size = c.work_size;
    if (c.comm != NULL) PCS_TAKE(sim->ctx, k->work, k->work_size, "checkpoints");
    k->last = pcs_clock();
    k->folder = -1;
    k->stream.ctx = sim->ctx;
    k->stream.is_second = sim->view.is_resumed;
    if (pcs_is_root(sim->ctx)) {
        k->stream.buffer = pcs_take_room(sim->ctx, PCS_CHECKPOINT_BUFFER, "checkpoints");
        if (k->stream.buffer == NULL) return PCS_NO_MEMORY;
    }
    const pcs_picture *picture = sim->system->picture;
    if (pcs_is_root(sim->ctx) || (picture != NULL && picture->is_piece))
        PCS_TRY(checkpoint_open_folder(sim->ctx, sim->view.directory, &k->folder));
    sim->checkpoint = k;
    return PCS_OK;
}

// Writes everything to the open file on the rank that writes; the other ranks contribute their part.
static pcs_status checkpoint_fill(pcs_sim *sim, pcs_checkpoint *k, bool is_open)
{
    pcs_carrier c = pcs_checkpoint_carrier(sim, is_open ? PCS_CARRY_WRITE : PCS_CARRY_COUNT);
    c.work = k->work;
    c.work_size = k->work_size;
    c.put = file_put;
    c.sink = &k->stream;
    c.size = (size_t)k->head.piece_size;
    if (is_open) file_put(&k->stream, &k->head, sizeof k->head);
    if (is_open) file_put(&k->stream, k->text, (size_t)k->head.text_size);
    pcs_checkpoint_carry(sim, &c);
    PCS_TRY(checkpoint_carry_observers(sim, &c));
    if (c.used == c.size) return PCS_OK;
    return pcs_fail(sim->ctx, PCS_FAILED, "a checkpoint has %zu bytes of pieces instead of %zu", c.used, c.size);
}

// Writes a checkpoint. Files of other ranks that it counts must be on the disk, without fault, before it gets its name.
static pcs_status checkpoint_put(pcs_sim *sim, pcs_checkpoint *k, bool is_synced)
{
    const pcs_comm *comm = pcs_context_comm(sim->ctx);
    bool is_first = pcs_is_root(sim->ctx);
    k->head.is_done = pcs_sim_is_done(sim);
    char newest[PATH_ROOM];
    file_path(sim->view.directory, checkpoint_names[0], newest);
    pcs_status status = is_first ? file_begin(&k->stream, newest) : PCS_OK;
    bool is_open = is_first && status == PCS_OK;
    if (is_open || (comm != NULL && comm->size > 1)) { // the others wait for this rank
        pcs_status filled = checkpoint_fill(sim, k, is_open);
        if (status == PCS_OK) status = filled;
    }
    if (status == PCS_OK && is_synced && !is_first) status = checkpoint_sync(sim->ctx, k->folder);
    status = pcs_agree(sim->ctx, status);
    if (!is_open) return status;
    return checkpoint_end(&k->stream, sim->view.directory, is_synced ? k->folder : -1, status);
}

pcs_status pcs_checkpoint_write(pcs_sim *sim)
{
    pcs_checkpoint *k = sim->checkpoint;
    if (k == NULL) return PCS_OK;
    double begin = pcs_clock();
    const pcs_timing *spent = &sim->timing;
    bool is_synced = !pcs_sim_is_done(sim) || spent->setup + spent->step + spent->output > SHORT_RUN;
    sim->view.ncheckpoint++;
    pcs_status status = checkpoint_put(sim, k, is_synced);
    k->last = pcs_clock();
    sim->timing.checkpoint += k->last - begin;
    return pcs_agree(sim->ctx, status);
}

pcs_status pcs_checkpoint_save(pcs_sim *sim, const pcs_memory *pieces, const char *path)
{
    pcs_checkpoint_head head;
    pcs_checkpoint_stream s = { .ctx = sim->ctx };
    const char *text;
    PCS_TRY(checkpoint_make_head(sim, &head, &text));
    head.piece_size = pieces->size;
    s.buffer = pcs_scratch(NULL, PCS_CHECKPOINT_BUFFER, 1);
    if (s.buffer == NULL) return pcs_fail(sim->ctx, PCS_NO_MEMORY, "out of memory: a checkpoint");
    pcs_status status = file_begin(&s, path);
    if (status == PCS_OK) {
        file_put(&s, &head, sizeof head);
        file_put(&s, text, (size_t)head.text_size);
        file_put(&s, pieces->bytes, pieces->size);
        bool is_done = file_take_place(path, NULL, file_close(&s, true)) && file_sync_folder(path);
        status = file_tell(sim->ctx, path, is_done);
    }
    pcs_scratch_free(s.buffer);
    return status;
}

// Returns true if a checkpoint is due by the clock of any rank; ranks compare their clocks only every few steps.
static bool checkpoint_is_time(const pcs_sim *sim, double now)
{
    const pcs_comm *comm = pcs_context_comm(sim->ctx);
    double is_time = now - sim->checkpoint->last >= 60.0 * sim->checkpoints.minutes;
    if (comm != NULL && sim->state.step % ASKING_STEPS != 0) return false;
    if (comm != NULL) comm->max(comm, 1, &is_time);
    return is_time > 0.0;
}

pcs_status pcs_checkpoint_step(pcs_sim *sim, double now)
{
    int every = sim->checkpoints.every;
    if (sim->checkpoint == NULL || pcs_sim_is_done(sim)) return PCS_OK; // the end has its own
    bool is_due = (every > 0 && sim->state.step % every == 0) || checkpoint_is_time(sim, now);
    return is_due ? pcs_checkpoint_write(sim) : PCS_OK;
}

// Copies the line of a text that begins at `from`.
static void checkpoint_line(const char *text, size_t size, size_t from, char line[LINE_ROOM])
{
    size_t end = from;
    while (end < size && text[end] != '\n') end++;
    while (from < end && text[from] == ' ') from++;
    snprintf(line, LINE_ROOM, "%.*s", (int)(end - from < LINE_ROOM ? end - from : LINE_ROOM), text + from);
}

// Fails with a message on the first line in which both cases differ.
static pcs_status checkpoint_blame_case(pcs_sim *sim, const pcs_checkpoint_data *d, const char *text, size_t size)
{
    size_t i = 0, begin = 0;
    int number = 2; // after the first line of case.resolved.yaml, which is a comment
    char was[LINE_ROOM], is[LINE_ROOM];
    for (; i < size && i < d->text_size && text[i] == d->text[i]; i++)
        if (text[i] == '\n') {
            begin = i + 1;
            number++;
        }
    checkpoint_line(d->text, d->text_size, begin, was);
    checkpoint_line(text, size, begin, is);
    return pcs_fail(
        sim->ctx, PCS_BAD_INPUT,
        "%s is of another case: line %d of the resolved case was '%s', is '%s'; to go on with another case, "
        "let that one say start: { from: ... }",
        d->path, number, was, is);
}

pcs_status pcs_checkpoint_demand_same(pcs_sim *sim, const pcs_checkpoint_data *d)
{
    const char *text = NULL;
    size_t size = 0;
    uint64_t hash;
    if (strcmp(d->version, PERCUSS_VERSION) != 0)
        return pcs_fail(sim->ctx, PCS_BAD_INPUT, "%s was written by version %s of Percuss, this is %s", d->path,
                        d->version, PERCUSS_VERSION);
    PCS_TRY(checkpoint_hash(sim, false, &text, &size, &hash));
    if (size != d->text_size || memcmp(text, d->text, size) != 0) return checkpoint_blame_case(sim, d, text, size);
    if (hash == d->input) return PCS_OK;
    return pcs_fail(sim->ctx, PCS_BAD_INPUT, "%s is of the same case, but a file that it names has changed since",
                    d->path);
}

pcs_status pcs_checkpoint_begin_reading(pcs_sim *sim, const pcs_checkpoint_data *d, pcs_carrier *c)
{
    *c = pcs_checkpoint_carrier(sim, PCS_CARRY_READ);
    c->source = d->path;
    c->bytes = d->pieces;
    c->size = d->piece_size;
    return PCS_OK;
}

pcs_status pcs_checkpoint_restore(pcs_sim *sim, const pcs_checkpoint_data *d, pcs_carrier *c)
{
    double setup = sim->timing.setup;
    PCS_TRY(pcs_checkpoint_begin_reading(sim, d, c));
    pcs_checkpoint_carry(sim, c);
    sim->timing.setup += setup;
    sim->view.start_time = sim->start_time;
    sim->view.nstep = sim->nstep;
    sim->view.is_resumed = true;
    return c->status;
}

pcs_status pcs_checkpoint_restore_observers(pcs_sim *sim, pcs_carrier *c)
{
    PCS_TRY(checkpoint_carry_observers(sim, c));
    if (c->used == c->size) return PCS_OK;
    return pcs_fail(sim->ctx, PCS_BAD_INPUT, "%s: there is more in it than this run has", c->source);
}

pcs_status pcs_checkpoint_time(pcs_context *ctx, const pcs_checkpoint_data *d, double *t)
{
    size_t size;
    pcs_carrier c = { .ctx = ctx, .way = PCS_CARRY_READ, .source = d->path, .bytes = d->pieces, .size = d->piece_size };
    pcs_carry_part(&c, "state");
    if (!pcs_carry_seek(&c, "state.t", &size)) pcs_carry_refuse(&c, "t", "is not in it");
    pcs_carry_words(&c, "t", t, 1);
    return c.status;
}

// Reads a vector over the equations by its name; fails unless it has the size of this model.
static pcs_status checkpoint_take_vector(pcs_carrier *c, const char *name, double *x, int count)
{
    char full[32];
    size_t size = 0;
    size_t needed = c->comm == NULL ? (size_t)count : (size_t)c->nall;
    snprintf(full, sizeof full, "state.%s", name);
    if (!pcs_carry_seek(c, full, &size) || size != needed * sizeof *x)
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "%s: its model has %zu coordinates in %s, this one has %zu", c->source,
                        size / sizeof *x, name, needed);
    pcs_carry_part(c, "state");
    pcs_carry_vector(c, name, x, count);
    return c->status;
}

// Reads internal variables of materials, which belong to the state; fails unless both runs have the same model.
static pcs_status checkpoint_take_internal(pcs_sim *sim, pcs_carrier *c)
{
    const char *unused;
    size_t size;
    uint64_t motion;
    if (!pcs_system_remembers(sim->system)) return PCS_OK;
    PCS_TRY(checkpoint_hash(sim, true, &unused, &size, &motion));
    if (motion != sim->from->motion)
        return pcs_fail(sim->ctx, PCS_BAD_INPUT,
                        "%s is of another model: what its materials went through is known to a case with the same keys "
                        "only, but for time.end, output, title and certify",
                        c->source);
    PCS_TRY(pcs_checkpoint_begin_reading(sim, sim->from, c));
    pcs_state_carry(&sim->state, c);
    return c->status;
}

pcs_status pcs_checkpoint_start(pcs_sim *sim)
{
    pcs_carrier c;
    pcs_state *x = &sim->state;
    bool has_changed;
    if (sim->from == NULL) return PCS_OK;
    PCS_TRY(pcs_checkpoint_begin_reading(sim, sim->from, &c));
    PCS_TRY(checkpoint_take_vector(&c, "q", x->q, x->nq));
    PCS_TRY(checkpoint_take_vector(&c, "v", x->v, x->nv));
    PCS_TRY(checkpoint_take_internal(sim, &c));
    x->t = sim->start_time;
    return sim->system->row_set.may_change
               ? sim->system->ops->search(sim->system, pcs_at(x->t, x->q, NULL), &has_changed)
               : PCS_OK;
}

pcs_status pcs_checkpoint_end_velocity(pcs_sim *sim, const double **v)
{
    pcs_carrier c;
    pcs_state *x = &sim->state;
    size_t size;
    if (sim->from == NULL || !x->v_is_of_middle) return PCS_OK;
    PCS_TRY(pcs_checkpoint_begin_reading(sim, sim->from, &c));
    if (!pcs_carry_seek(&c, "state.end_velocity", &size)) return PCS_OK;
    PCS_TRY(checkpoint_take_vector(&c, "end_velocity", x->history[0], x->nv));
    *v = x->history[0];
    return PCS_OK;
}

// Resets the report to a start without any change.
static void checkpoint_calm_report(pcs_step_report *r, int nrow, const pcs_measure *before)
{
    r->measure = *before;
    r->external_work = r->damping_loss = r->correction_work = r->material_loss = 0.0;
    r->impact_loss = r->friction_loss = r->numerical_loss = 0.0;
    memset(r->smooth_impulse, 0, sizeof r->smooth_impulse);
    for (int j = 0; j < nrow; j++) {
        pcs_row_report *row = &r->rows[j];
        row->nu = row->shift = row->step_impulse = row->impulse = row->multiplier = 0.0;
        row->normal_loss = row->friction_loss = row->drive_work = 0.0;
        for (int k = 0; k < 2; k++) row->tangent[k] = row->last_tangent[k] = row->tangent_shift[k] = 0.0;
        row->is_gated = row->gate_is_contradictory = row->is_impact = false;
    }
}

pcs_status pcs_checkpoint_start_state(pcs_sim *sim, const pcs_measure *before)
{
    pcs_carrier c;
    const char *unused;
    size_t size;
    uint64_t motion;
    if (sim->from == NULL) return PCS_OK;
    PCS_TRY(checkpoint_hash(sim, true, &unused, &size, &motion));
    if (motion != sim->from->motion) {
        const double *v = sim->state.v;
        PCS_TRY(pcs_checkpoint_end_velocity(sim, &v));
        if (v != sim->state.v) sim->report.measure = *before;
        return PCS_OK;
    }
    PCS_TRY(pcs_checkpoint_begin_reading(sim, sim->from, &c));
    pcs_state_carry(&sim->state, &c);
    PCS_TRY(c.status);
    sim->state.step = 0;
    pcs_state_settle(sim->scheme, &sim->state);
    checkpoint_calm_report(&sim->report, sim->system->nrow, before);
    return PCS_OK;
}
