// Frames and their list.
//
// The list is JSON that ParaView reads for the true times, or, of XML files, a collection:
//   { "file-series-version": "1.0", "files": [ { "name": "bar_000000.vtk", "time": 0 }, ... ] }
//   <Collection> <DataSet timestep="0" file="bar_000000.vtu"/> ... </Collection>
// A new entry replaces the closing brackets and brings them again, in one write: the list costs the same for every
// frame, is complete after each one, and needs no memory. When that write fails the old brackets are put back.
//
// A frame in pieces has one file per process. When all are complete, the first process writes the index that names them
// and the entry of the list, and renames the pieces of frames that were held to their final numbers.

#define _POSIX_C_SOURCE 200809L

#include "output/series.h"

#include "core/open.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME_BUFFER = 1 << 16, PATH_ROOM = 4096, HEAD_ROOM = 1024 };

static const char *series_tail(const pcs_series *s)
{
    return s->is_xml ? "\n  </Collection>\n</VTKFile>\n" : "\n  ]\n}\n";
}

// Names a file of a frame by its number, or by its slot where it is held: its piece from 0 on, or the whole, -1.
static void series_name(pcs_series *s, bool is_held, long number, int piece)
{
    const char *xml = s->npiece > 0 && !is_held && piece < 0 ? "pvtu" : "vtu";
    char of_piece[16] = "";
    if (piece >= 0) snprintf(of_piece, sizeof of_piece, "_%d", piece);
    snprintf(s->name, s->name_room, is_held ? "%s_held_%ld%s.%s" : "%s_%06ld%s.%s", s->stem, number, of_piece,
             s->is_xml ? xml : "vtk");
}

static void series_list_name(pcs_series *s)
{
    snprintf(s->name, s->name_room, "%s.%s", s->stem, s->is_xml ? "pvd" : "vtk.series");
}

static void series_close_list(void *object)
{
    pcs_series *s = object;
    if (s->list >= 0) close(s->list);
    s->list = -1;
}

static void series_remove_from(pcs_series *s, long first)
{
    for (long i = first;; i++) {
        series_name(s, false, i, -1);
        if (!pcs_file_remove(s->file, s->name)) break;
    }
}

static void series_remove_old(pcs_series *s, bool is_xml)
{
    s->is_xml = is_xml;
    series_list_name(s);
    pcs_file_remove(s->file, s->name);
    series_remove_from(s, 0);
    for (int i = 0;; i++) {
        series_name(s, true, i, -1);
        if (!pcs_file_remove(s->file, s->name)) break;
    }
}

// A number as it is printed, of `digits` digits at least, after "_"; false: there is none. *text goes on after it.
static bool series_read_number(const char **text, int digits, long *out)
{
    enum { MOST_DIGITS = 18 };
    const char *p = *text + 1;
    int count = 0;
    if (**text != '_') return false;
    for (*out = 0; isdigit((unsigned char)p[count]) && count < MOST_DIGITS; count++) *out = 10 * *out + p[count] - '0';
    *text = p + count;
    return count == digits || (count > digits && p[0] != '0');
}

// Is this the name of a piece or index of a frame from `first` on, complete or not? With first = 0 of one that is held,
// too.
static bool series_is_piece(const pcs_series *s, const char *name, long first)
{
    size_t length = strlen(s->stem);
    if (strncmp(name, s->stem, length) != 0) return false;
    const char *p = name + length;
    bool is_held = strncmp(p, "_held_", 6) == 0;
    long number, piece;
    if (is_held) p += 5;
    if (!series_read_number(&p, is_held ? 1 : 6, &number) || (is_held ? first > 0 : number < first)) return false;
    bool has_piece = series_read_number(&p, 1, &piece);
    const char *ending = has_piece ? ".vtu" : ".pvtu";
    if ((is_held && !has_piece) || strncmp(p, ending, strlen(ending)) != 0) return false;
    p += strlen(ending);
    return *p == '\0' || strcmp(p, ".part") == 0;
}

pcs_status pcs_series_sweep(pcs_series *s, long first)
{
    if (s->file->is_mute) return PCS_OK;
    DIR *folder = opendir(s->file->directory);
    if (folder == NULL && errno == ENOMEM)
        return pcs_fail(s->file->ctx, PCS_NO_MEMORY, "out of memory: looking through %s", s->file->directory);
    if (folder == NULL) return PCS_OK; // likewise files that cannot be removed stay
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (series_is_piece(s, entry->d_name, first)) unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    return PCS_OK;
}

void pcs_series_split(pcs_series *s, int npiece, int piece, const pcs_vtk *data)
{
    s->is_xml = true;
    s->npiece = npiece;
    s->piece = piece;
    s->data = data;
    s->leads = !s->file->is_mute;
    if (piece > 0) s->file->is_mute = false;
}

pcs_status pcs_series_create(pcs_context *ctx, const pcs_view *view, const char *stem, pcs_series *out)
{
    *out = (pcs_series){ .stem = stem, .list = -1, .goes_on = view->is_resumed };
    out->frame_digest = PCS_HASH_START;
    out->name_room = strlen(stem) + 40;
    out->entry_room = 6 * out->name_room + 128;
    PCS_TAKE(ctx, out->name, out->name_room, "the name of a frame");
    PCS_TAKE(ctx, out->entry, out->entry_room, "an entry of the list of frames");
    PCS_TRY(pcs_file_create(ctx, view->directory, out->name_room, FRAME_BUFFER, &out->file));
    PCS_TRY(pcs_defer(ctx, series_close_list, out));
    if (view->is_resumed) return PCS_OK;
    series_remove_old(out, true);
    series_remove_old(out, false);
    return PCS_OK;
}

pcs_status pcs_series_reserve(pcs_context *ctx, pcs_series *s, int count)
{
    s->room = count > 0 ? count : 0;
    PCS_TAKE(ctx, s->held_time, s->room, "times of frames");
    PCS_TAKE(ctx, s->held_pieces, s->room, "times of frames");
    PCS_TAKE(ctx, s->held_digest, s->room, "times of frames");
    // An interrupted run leaves any of them behind.
    int count_left = s->goes_on ? 0 : s->room;
    for (int i = 0; i < count_left; i++) {
        series_name(s, true, i, -1);
        pcs_file_remove(s->file, s->name);
    }
    return PCS_OK;
}

void pcs_series_drop(pcs_series *s, const pcs_view *view)
{
    int count = view->is_interrupted || (s->npiece > 0 && !s->leads) ? 0 : s->nheld;
    for (int i = 0; i < count; i++) {
        int slot = (s->first_held + i) % s->room;
        for (int piece = s->npiece > 0 ? 0 : -1; piece < s->held_pieces[slot]; piece++) {
            series_name(s, true, slot, piece);
            pcs_file_remove(s->file, s->name);
        }
    }
    s->nheld = s->first_held = 0;
}

static pcs_status series_open_list(pcs_series *s)
{
    if (s->file->is_mute) return PCS_OK;
    s->list = pcs_open_again(s->file->path);
    if (s->list >= 0) return PCS_OK;
    return pcs_fail(s->file->ctx, PCS_IO_ERROR, "cannot open %s: %s", s->file->path, pcs_open_reason(errno));
}

// The list with its first entry appears whole, under its name.
static pcs_status series_begin_list(pcs_series *s)
{
    series_list_name(s);
    PCS_TRY(pcs_file_open(s->file, s->name));
    pcs_file_text(s->file, s->is_xml ? "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\">\n  <Collection>\n"
                                     : "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n");
    pcs_file_text(s->file, s->entry);
    s->tail = (long long)(s->file->used - strlen(series_tail(s)));
    s->list_digest = PCS_DIGEST_START;
    pcs_digest_add(&s->list_digest, s->file->buffer, (size_t)s->tail);
    PCS_TRY(pcs_file_commit(s->file));
    return series_open_list(s);
}

static pcs_status series_extend_list(pcs_series *s)
{
    const char *list_tail = series_tail(s);
    size_t length = strlen(s->entry);
    ssize_t n = pwrite(s->list, s->entry, length, (off_t)s->tail);
    if (n == (ssize_t)length) {
        s->tail += (long long)(length - strlen(list_tail));
        pcs_digest_add(&s->list_digest, s->entry, length - strlen(list_tail));
        return PCS_OK;
    }
    int error = n < 0 ? errno : ENOSPC;
    // These bytes have been written before, so there is room for them.
    bool is_whole = pwrite(s->list, list_tail, strlen(list_tail), (off_t)s->tail) == (ssize_t)strlen(list_tail) &&
                    ftruncate(s->list, (off_t)(s->tail + (long long)strlen(list_tail))) == 0;
    series_list_name(s);
    return pcs_fail(s->file->ctx, PCS_IO_ERROR, "cannot write %s/%s: %s%s", s->file->directory, s->name,
                    strerror(error), is_whole ? "" : "; the list is damaged");
}

// `text` inside an attribute of XML; what does not fit is left off. Gives the length.
static size_t series_xml_text(const char *text, size_t room, char *out)
{
    size_t used = 0;
    for (; *text != '\0' && used + 6 < room; text++) {
        bool is_special = *text == '"' || *text == '<' || *text == '&';
        if (is_special) used += (size_t)snprintf(out + used, room - used, "&#%d;", *text);
        else out[used++] = *text;
    }
    out[used] = '\0';
    return used;
}

// The entry of s->name, and what stands after the last one.
static void series_print_entry(pcs_series *s, const char *time)
{
    const char *comma = s->is_xml ? "\n" : ",\n", *before = s->count == 0 ? "" : comma;
    size_t used;
    if (s->is_xml) {
        used = (size_t)snprintf(s->entry, s->entry_room, "%s    <DataSet timestep=\"%s\" file=\"", before, time);
        used += series_xml_text(s->name, s->entry_room - used, s->entry + used);
        snprintf(s->entry + used, s->entry_room - used, "\"/>%s", series_tail(s));
    } else {
        used = (size_t)snprintf(s->entry, s->entry_room, "%s    { \"name\": \"", before);
        used += pcs_json_text(s->name, s->entry_room - used, s->entry + used);
        snprintf(s->entry + used, s->entry_room - used, "\", \"time\": %s }%s", time, series_tail(s));
    }
}

// The index of the next number's pieces.
static pcs_status series_put_index(pcs_series *s, long npiece)
{
    series_name(s, false, s->count, -1);
    PCS_TRY(pcs_file_open(s->file, s->name));
    pcs_vtk_put_index(s->data, s->file);
    for (int piece = 0; piece < npiece; piece++) {
        series_name(s, false, s->count, piece);
        series_xml_text(s->name, s->entry_room, s->entry);
        pcs_file_text(s->file, "    <Piece Source=\"");
        pcs_file_text(s->file, s->entry);
        pcs_file_text(s->file, "\"/>\n");
    }
    pcs_file_text(s->file, "  </PUnstructuredGrid>\n</VTKFile>\n");
    return pcs_file_commit(s->file);
}

// Adds the frame of the next number, whose files are on the disk, to the list.
static pcs_status series_list(pcs_series *s, double t, long npiece, unsigned long long digest)
{
    char number[PCS_NUMBER_ROOM];
    bool is_listed = s->npiece == 0 || s->leads;
    if (is_listed && npiece > 0) PCS_TRY(series_put_index(s, npiece));
    pcs_number_text(NULL, t, number);
    series_name(s, false, s->count, -1);
    series_print_entry(s, number);
    if (is_listed) PCS_TRY(s->list < 0 ? series_begin_list(s) : series_extend_list(s));
    s->frame_digest = pcs_hash(s->frame_digest, &digest, sizeof digest);
    s->count++;
    return PCS_OK;
}

// A frame that is held gets the next number.
static pcs_status series_number_held(pcs_series *s, int slot)
{
    if (s->npiece > 0 && !s->leads) return PCS_OK;
    for (int piece = s->npiece > 0 ? 0 : -1; piece < s->held_pieces[slot]; piece++) {
        series_name(s, true, slot, piece);
        snprintf(s->entry, s->entry_room, "%s", s->name);
        series_name(s, false, s->count, piece);
        PCS_TRY(pcs_file_rename(s->file, s->entry, s->name));
    }
    return PCS_OK;
}

static pcs_status series_keep_held(pcs_series *s)
{
    for (; s->nheld > 0; s->nheld--) {
        PCS_TRY(series_number_held(s, s->first_held));
        int slot = s->first_held;
        PCS_TRY(series_list(s, s->held_time[slot], s->held_pieces[slot], s->held_digest[slot]));
        s->first_held = (slot + 1) % s->room;
    }
    return PCS_OK;
}

// The name of the frame that begins, or of the piece of this process of it, which comes after those that are held.
static void series_name_next(pcs_series *s)
{
    int slot = s->is_holding ? (s->first_held + s->nheld) % s->room : 0;
    series_name(s, s->is_holding, s->is_holding ? slot : s->count + s->nheld, s->npiece > 0 ? s->piece : -1);
}

pcs_status pcs_series_settle(pcs_series *s, double t)
{
    if (!s->is_holding) {
        PCS_TRY(series_keep_held(s));
        return series_list(s, t, s->npiece, s->digest);
    }
    int slot = (s->first_held + s->nheld++) % s->room;
    s->held_time[slot] = t;
    s->held_pieces[slot] = s->npiece;
    s->held_digest[slot] = s->digest;
    return PCS_OK;
}

pcs_status pcs_series_write(pcs_series *s, pcs_frame_use use, const pcs_vtk *data, const char *title,
                            const pcs_state *state)
{
    s->is_holding = use == PCS_FRAME_HELD;
    if (s->is_holding && s->nheld == s->room) {
        s->first_held = (s->first_held + 1) % s->room;
        s->nheld--;
    }
    if (!s->is_holding && s->npiece == 0) PCS_TRY(series_keep_held(s));
    series_name_next(s);
    PCS_TRY(pcs_file_open(s->file, s->name));
    pcs_vtk_put(data, s->file, title, state);
    PCS_TRY(pcs_file_commit(s->file));
    s->digest = s->npiece > 0 || s->file->is_mute ? 0 : pcs_digest_value(&s->file->digest);
    return s->npiece > 0 ? PCS_OK : pcs_series_settle(s, state->t);
}

// Copies the first `tail` bytes of the list that is there to the file that is open; false when these are not there.
static bool series_copy_list(pcs_series *s, int from)
{
    long long left = s->tail;
    unsigned long long digest = pcs_digest_value(&s->list_digest);
    s->list_digest = PCS_DIGEST_START;
    while (left > 0) {
        size_t portion = left < FRAME_BUFFER / 2 ? (size_t)left : FRAME_BUFFER / 2;
        char *room = pcs_file_reserve(s->file, portion);
        ssize_t n = room == NULL ? 0 : read(from, room, portion);
        if (n <= 0) return false;
        pcs_digest_add(&s->list_digest, room, (size_t)n);
        s->file->used += (size_t)n;
        left -= n;
    }
    return pcs_digest_value(&s->list_digest) == digest;
}

// Cuts the list after the last frame that counts: a new one takes its place whole.
static pcs_status series_cut_list(pcs_series *s)
{
    series_list_name(s);
    PCS_TRY(pcs_file_open(s->file, s->name));
    long long unused;
    int from = pcs_open_input(s->file->path, &unused);
    bool is_whole = from >= 0 && series_copy_list(s, from);
    if (from >= 0) close(from);
    if (!is_whole) {
        pcs_file_leave(s->file, 0);
        return pcs_fail(s->file->ctx, PCS_IO_ERROR, "cannot go on with %s: it was changed since the checkpoint",
                        s->file->path);
    }
    pcs_file_text(s->file, series_tail(s));
    PCS_TRY(pcs_file_commit(s->file));
    return series_open_list(s);
}

// Legacy frames hold numbers with the first byte first.
static double series_read_double(const char *bytes)
{
    uint64_t word = 0;
    double x;
    for (int b = 0; b < 8; b++) word = word << 8 | (unsigned char)bytes[b];
    memcpy(&x, &word, sizeof x);
    return x;
}

// Is `s->name` a frame of this time?
static bool series_is_of_time(pcs_series *s, double t)
{
    const char *mark = s->is_xml ? "\"TIME\" NumberOfTuples=\"1\" format=\"ascii\">" : "TIME 1 1 double\n";
    char path[PATH_ROOM], head[HEAD_ROOM + 1] = "";
    ssize_t length = (ssize_t)strlen(mark), n = 0, i = 0;
    snprintf(path, sizeof path, "%s/%s", s->file->directory, s->name);
    long long unused;
    int from = pcs_open_input(path, &unused);
    if (from >= 0) n = read(from, head, HEAD_ROOM);
    if (from >= 0) close(from);
    while (i + length + 8 <= n && memcmp(head + i, mark, (size_t)length) != 0) i++;
    if (i + length + 8 > n) return false;
    return s->is_xml ? strtod(head + i + length, NULL) == t : series_read_double(head + i + length) == t;
}

// The files of frame `number` become those of one that is held, as far as they have its time.
static pcs_status series_hold_frame(pcs_series *s, long number, int slot)
{
    for (int piece = s->npiece > 0 ? 0 : -1; piece < s->held_pieces[slot]; piece++) {
        series_name(s, false, number, piece);
        if (!series_is_of_time(s, s->held_time[slot])) continue;
        snprintf(s->entry, s->entry_room, "%s", s->name);
        series_name(s, true, slot, piece);
        PCS_TRY(pcs_file_rename(s->file, s->entry, s->name));
    }
    return PCS_OK;
}

// A frame that was held at the checkpoint may have got its number since; one that was overwritten will be again.
static pcs_status series_hold_again(pcs_series *s)
{
    for (int k = 0; k < s->nheld; k++)
        for (long i = s->count; i < s->count + s->nheld; i++)
            PCS_TRY(series_hold_frame(s, i, (s->first_held + k) % s->room));
    return PCS_OK;
}

// Frames in pieces, which any number of processes may have written, are only looked for.
static pcs_status series_check_frames(pcs_series *s)
{
    unsigned long long sum = PCS_HASH_START;
    for (long i = 0; i < s->count; i++) {
        char path[PATH_ROOM];
        pcs_digest digest = PCS_DIGEST_START;
        series_name(s, false, i, -1);
        snprintf(path, sizeof path, "%s/%s", s->file->directory, s->name);
        if (s->npiece > 0 ? access(path, F_OK) != 0 : !pcs_file_read_digest(s->file, path, -1, &digest))
            return pcs_fail(s->file->ctx, PCS_IO_ERROR, "cannot go on: the frame %s is gone", path);
        unsigned long long value = pcs_digest_value(&digest);
        sum = pcs_hash(sum, &value, sizeof value);
    }
    if (s->npiece > 0 || sum == s->frame_digest) return PCS_OK;
    return pcs_fail(s->file->ctx, PCS_IO_ERROR, "cannot go on: a frame up to %s/%s was changed since the checkpoint",
                    s->file->directory, s->name);
}

// The frames on the disk become those of the checkpoint, first in the list: it names only what is there.
static pcs_status series_go_back(pcs_series *s)
{
    if (s->file->is_mute || (s->npiece > 0 && !s->leads)) return PCS_OK;
    PCS_TRY(series_check_frames(s));
    series_list_name(s);
    if (s->count > 0) PCS_TRY(series_cut_list(s));
    else pcs_file_remove(s->file, s->name);
    PCS_TRY(series_hold_again(s));
    if (s->npiece > 0) return pcs_series_sweep(s, s->count);
    series_remove_from(s, s->count);
    return PCS_OK;
}

pcs_status pcs_series_carry(pcs_series *s, pcs_carrier *c)
{
    long tail = (long)s->tail, npiece = s->npiece;
    unsigned long long list = pcs_digest_value(&s->list_digest);
    pcs_carry_words(c, "pieces", &npiece, 1);
    if (pcs_carry_reads(c) && (npiece > 0) != (s->npiece > 0))
        pcs_carry_refuse(c, "pieces",
                         npiece > 0 ? "says that processes wrote frames in pieces, and this run writes whole ones"
                                    : "says that frames were written whole, and this run writes pieces");
    pcs_carry_words(c, "frames", &s->count, 1);
    pcs_carry_words(c, "list", &tail, 1);
    pcs_carry_index(c, "held", &s->nheld, 0, s->room);
    pcs_carry_index(c, "first_held", &s->first_held, 0, s->room > 0 ? s->room - 1 : 0);
    pcs_carry_words(c, "held_times", s->held_time, (size_t)s->room);
    pcs_carry_words(c, "held_pieces", s->held_pieces, (size_t)s->room);
    pcs_carry_words(c, "held_digests", s->held_digest, (size_t)s->room);
    pcs_carry_words(c, "frame_digest", &s->frame_digest, 1);
    pcs_carry_words(c, "list_digest", &list, 1);
    if (!pcs_carry_reads(c) || c->status != PCS_OK) return PCS_OK;
    s->tail = tail;
    s->list_digest = (pcs_digest){ .sum = list };
    return series_go_back(s);
}
