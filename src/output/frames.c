// Frames of the model for ParaView: unstructured grid of lines at the current positions. Beside them what stands still,
// at first as large as the model, in the end as large as its motion, and as a series of its own what nodes carry.
//
// Points are reference + displacement, so that the body moves by itself. Point data: displacement, velocity, rotation,
// radius (for ParaView's Tube filter), section forces. Cell data: the y axis of the section and the system's fields
// (axial_force, stress, strain_energy, ...).
//
// Large frames are written by a thread beside the steps, one at a time: the values are copied where others may
// draw, and what depends on the file waits for it: the next frame, checkpoints, the end. A failure ends the run
// after the step in which it is found.
//
// With several processes either rank 0 writes the frame between the steps, as all wait for one another anyway, or each
// rank writes its piece by a thread of its own. A frame in pieces is completed by all ranks together: they wait for
// their pieces and agree that all are there, then rank 0 writes index and list. If a piece fails, all ranks learn of it
// and the frame is removed.

#define _POSIX_C_SOURCE 200809L // access

#include "output/frames.h"

#include "core/aside.h"
#include "core/pool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, NAME_ROOM = 64, KNOWN_ROOM = 512 };
enum { LARGE_FRAME = 2000 }; // points: below that, a file costs more than what is in it

// An array of the picture as it was when a frame was taken.
typedef struct frames_copy {
    const double *from;
    double *to;
    size_t count;
} frames_copy;

typedef struct frames_data {
    pcs_frames_record record; // first: others find it by this observer's name
    pcs_series series;
    pcs_obstacles obstacles;
    pcs_schedule schedule;
    pcs_vtk vtk;
    double (*position)[3]; // [vtk.npoint] m
    frames_copy *copies;   // [ncopy] of arrays of the picture
    int ncopy;
    pcs_aside *aside;      // NULL: frames are written between the steps
    pcs_context *messages; // of the thread
    pcs_view shown;        // what the frame in flight is told: title, and of the state time and step
    pcs_state state;
    pcs_frame_use use;
    bool is_beside;    // by threads; on all processes alike
    bool is_unsettled; // a frame in pieces, likewise
    pcs_status status; // of a piece that was written between the steps
} frames_data;

static const char *const frames_precisions[] = { "double", "float", NULL };
static const char *const frames_formats[] = { "vtk", "vtu", NULL };
static const char *const frames_pieces[] = { "auto", "always", "never", NULL };

static const pcs_option frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default about 100 frames over the run or its windows"),
    PCS_LIST("window", pcs_frames_params, window, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "[from, to], s, or a list of such pairs: frames only then, of the model and of the contacts"),
    PCS_COUNT("around_contacts", pcs_frames_params, around_contacts, PCS_OPTIONAL, PCS_WITHIN(1, INFINITY),
              "only so many frames before and after a contact point opens or closes, and the first and the last one"),
    PCS_NAMES("fields", pcs_frames_params, fields, PCS_OPTIONAL,
              "arrays to write beside positions and radii, as they are called in a frame, or none; by default all"),
    PCS_CHOICE("precision", pcs_frames_params, precision, PCS_DEFAULT("double"), frames_precisions,
               "of positions and arrays; float halves the files and keeps seven digits"),
    PCS_CHOICE("format", pcs_frames_params, format, PCS_DEFAULT("vtk"), frames_formats,
               "of the model: vtk, legacy files, or vtu, XML files compressed by zlib and <case>.pvd"),
    PCS_CHOICE(
        "pieces", pcs_frames_params, pieces, PCS_DEFAULT("auto"), frames_pieces,
        "every rank writes its part of the model as a vtu file, and <case>.pvd names them: auto, of several ranks "
        "with 50000 nodes or more"),
    { .name = NULL },
};

// Is an array asked for?
static bool frames_wants(const pcs_names *fields, const char *name)
{
    bool is_named = fields->count == 0;
    for (int i = 0; i < fields->count && !is_named; i++) is_named = strcmp(fields->text[i], name) == 0;
    return is_named;
}

static bool frames_has(const pcs_vtk_array *arrays, int count, const char *name)
{
    bool is_found = false;
    for (int i = 0; i < count && !is_found; i++) is_found = strcmp(arrays[i].name, name) == 0;
    return is_found;
}

static void frames_add(pcs_vtk_array *arrays, int *count, const char *name, int ncomponent, const double *x)
{
    if (x != NULL) arrays[(*count)++] = (pcs_vtk_array){ .name = name, .ncomponent = ncomponent, .x = x };
}

// Lists all arrays that the picture has.
static pcs_status frames_list(pcs_context *ctx, const pcs_picture *picture, pcs_vtk *v)
{
    double(*const vectors[PCS_FRAME_VECTORS])[3] = { picture->displacement, picture->velocity, picture->rotation };
    for (int i = 0; i < PCS_FRAME_VECTORS; i++)
        frames_add(v->point_arrays, &v->npoint_array, pcs_frame_vectors[i], 3,
                   vectors[i] == NULL ? NULL : vectors[i][0]);
    frames_add(v->point_arrays, &v->npoint_array, "radius", 1, picture->radius);
    for (int k = 0; k < picture->npoint_field; k++)
        frames_add(v->point_arrays, &v->npoint_array, picture->point_names[k], 1, picture->point_fields[k]);
    if (picture->section_y != NULL) frames_add(v->cell_arrays, &v->ncell_array, "section_y", 3, picture->section_y[0]);
    for (int k = 0; k < picture->nfield; k++) {
        char name[NAME_ROOM];
        pcs_safe_name(picture->field_names[k], sizeof name, name);
        const char *kept = pcs_take_text(ctx, name);
        if (kept == NULL) return PCS_NO_MEMORY;
        frames_add(v->cell_arrays, &v->ncell_array, kept, 1, picture->fields[k]);
    }
    return PCS_OK;
}

// Names of all arrays that can be asked for, each once.
static void frames_print_names(const pcs_vtk *v, size_t room, char *text)
{
    size_t used = 0;
    for (int k = 0; k < v->npoint_array + v->ncell_array && used < room; k++) {
        int cell_array = k - v->npoint_array;
        const char *name = cell_array < 0 ? v->point_arrays[k].name : v->cell_arrays[cell_array].name;
        bool is_known = cell_array >= 0 && frames_has(v->point_arrays, v->npoint_array, name);
        if (is_known || strcmp(name, "radius") == 0) continue;
        used += (size_t)snprintf(text + used, room - used, "%s%s", k == 0 ? "" : ", ", name);
    }
}

static pcs_status frames_demand(pcs_context *ctx, const pcs_vtk *v, const pcs_names *fields, int *index)
{
    for (int i = 0; i < fields->count; i++) {
        *index = i;
        const char *wanted = fields->text[i];
        char known[KNOWN_ROOM] = "";
        if (strcmp(wanted, "none") == 0 || frames_has(v->point_arrays, v->npoint_array, wanted) ||
            frames_has(v->cell_arrays, v->ncell_array, wanted))
            continue;
        frames_print_names(v, sizeof known, known);
        return pcs_fail(ctx, PCS_BAD_INPUT, "the model has no '%s'; it has %s", wanted, known);
    }
    return PCS_OK;
}

// Leaves only what is asked for; radii always stay.
static void frames_choose(pcs_vtk_array *arrays, int *count, const pcs_names *fields)
{
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (strcmp(arrays[i].name, "radius") == 0 || frames_wants(fields, arrays[i].name)) arrays[kept++] = arrays[i];
    *count = kept;
}

// Lists the arrays of a picture; PCS_BAD_INPUT if it does not have the one of number *index of those asked for.
static pcs_status frames_find_arrays(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields,
                                     pcs_vtk *out, int *index)
{
    *out = (pcs_vtk){ .dataset = "UNSTRUCTURED_GRID", .cell_kind = "CELLS" };
    PCS_TAKE(ctx, out->point_arrays, PCS_FRAME_VECTORS + 1 + picture->npoint_field, "frames");
    PCS_TAKE(ctx, out->cell_arrays, 1 + picture->nfield, "frames");
    PCS_TRY(frames_list(ctx, picture, out));
    return frames_demand(ctx, out, fields, index);
}

// Takes all memory. A cell of one node given twice is a vertex.
static pcs_status frames_make_data(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields,
                                   frames_data *d)
{
    pcs_vtk *v = &d->vtk;
    int index, *entry;
    PCS_TRY(frames_find_arrays(ctx, picture, fields, v, &index));
    frames_choose(v->point_arrays, &v->npoint_array, fields);
    frames_choose(v->cell_arrays, &v->ncell_array, fields);
    v->npoint = picture->npoint;
    v->ncell = picture->ncell;
    PCS_TAKE(ctx, d->position, v->npoint, "frames");
    PCS_TAKE(ctx, entry, 3 * (size_t)v->ncell, "frames");
    v->position = d->position[0];
    v->entry = entry;
    for (int c = 0; c < v->ncell; c++) {
        const int *node = picture->cells[c];
        int count = node[0] == node[1] ? 1 : 2;
        entry[v->nentry++] = count;
        for (int k = 0; k < count; k++) entry[v->nentry++] = node[k];
    }
    return PCS_OK;
}

// Takes memory for copies of arrays, which stay when the picture is drawn again.
static pcs_status frames_keep(pcs_context *ctx, frames_data *d)
{
    pcs_vtk *v = &d->vtk;
    PCS_TAKE(ctx, d->copies, v->npoint_array + v->ncell_array, "frames written beside the steps");
    for (int i = 0; i < v->npoint_array + v->ncell_array; i++) {
        bool is_of_points = i < v->npoint_array;
        pcs_vtk_array *array = is_of_points ? &v->point_arrays[i] : &v->cell_arrays[i - v->npoint_array];
        frames_copy *copy = &d->copies[d->ncopy++];
        copy->from = array->x;
        copy->count = (size_t)array->ncomponent * (size_t)(is_of_points ? v->npoint : v->ncell);
        PCS_TAKE(ctx, copy->to, copy->count, "frames written beside the steps");
        array->x = copy->to;
    }
    return PCS_OK;
}

// Takes positions and copies from the picture as it is drawn.
static void frames_update(frames_data *d, const pcs_picture *picture)
{
    for (int i = 0; i < d->vtk.npoint; i++)
        for (int k = 0; k < 3; k++) d->position[i][k] = picture->reference[i][k] + picture->displacement[i][k];
    for (int i = 0; i < d->ncopy; i++) memcpy(d->copies[i].to, d->copies[i].from, d->copies[i].count * sizeof(double));
}

// Writes the file of a frame, whose values are in its arrays.
static pcs_status frames_put(void *object)
{
    frames_data *d = object;
    const pcs_view *view = &d->shown;
    const char *title = view->title != NULL ? view->title : view->case_name;
    return pcs_series_write(&d->series, d->use, &d->vtk, title, view->state);
}

// For the frame in flight.
static pcs_status frames_wait(const pcs_observer *self)
{
    frames_data *d = self->data;
    pcs_status status = pcs_aside_wait(d->aside);
    d->series.file->ctx = self->ctx;
    if (status == PCS_OK) return PCS_OK;
    d->series.has_failed = true;
    return pcs_fail(self->ctx, status, "%s", pcs_message(d->messages));
}

// Takes the picture as it is drawn.
static void frames_take(const pcs_observer *self, pcs_frame_use use)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    pcs_frames_record_add(&d->record, view->system->picture, view->state->t);
    frames_update(d, view->system->picture);
    d->shown = *view;
    d->shown.state = &d->state;
    d->state.t = view->state->t;
    d->state.step = view->state->step;
    d->use = use;
}

static pcs_status frames_begin(frames_data *d)
{
    if (d->aside == NULL) return frames_put(d);
    d->series.file->ctx = d->messages;
    pcs_aside_start(d->aside, frames_put, d);
    return PCS_OK;
}

// Completes the frame in pieces that has begun, or removes it, on all processes.
static pcs_status frames_settle(const pcs_observer *self)
{
    frames_data *d = self->data;
    if (!d->is_unsettled) return PCS_OK;
    d->is_unsettled = false;
    pcs_status status = d->aside != NULL ? frames_wait(self) : d->status;
    status = pcs_agree(self->ctx, status);
    if (status == PCS_OK) status = pcs_agree(self->ctx, pcs_series_settle(&d->series, d->state.t));
    d->series.has_failed = status != PCS_OK;
    if (status != PCS_OK && d->series.leads) (void)pcs_series_sweep(&d->series, d->series.count);
    return status;
}

static pcs_status frames_write_piece(const pcs_observer *self, pcs_frame_use use)
{
    frames_data *d = self->data;
    frames_take(self, use);
    pcs_status status = d->series.leads ? pcs_obstacles_write_carried(&d->obstacles, use, self->view) : PCS_OK;
    if (d->obstacles.ncarried > 0) status = pcs_agree(self->ctx, status);
    d->series.has_failed = status != PCS_OK;
    if (status != PCS_OK) return status;
    d->is_unsettled = true;
    d->status = frames_begin(d);
    return d->is_beside ? PCS_OK : frames_settle(self);
}

static pcs_status frames_write(const pcs_observer *self, pcs_frame_use use)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    pcs_system *system = view->system;
    if (use == PCS_FRAME_NONE) return PCS_OK;
    if (d->series.npiece > 0) PCS_TRY(frames_settle(self));        // its values stand in the picture
    system->ops->draw(system, pcs_view_at(view), system->picture); // all processes, whatever becomes of the file
    if (system->picture->is_elsewhere) return PCS_OK;
    if (d->series.npiece > 0) return frames_write_piece(self, use);
    PCS_TRY(frames_wait(self));
    frames_take(self, use);
    pcs_status status = frames_begin(d);
    if (status == PCS_OK) status = pcs_obstacles_write_carried(&d->obstacles, use, view);
    d->series.has_failed = status != PCS_OK;
    return status;
}

// All that was drawn is on the disk.
static pcs_status frames_finish(const pcs_observer *self)
{
    const frames_data *d = self->data;
    return d->series.npiece > 0 ? frames_settle(self) : frames_wait(self);
}

static pcs_status frames_put_obstacles(const pcs_observer *self)
{
    frames_data *d = self->data;
    PCS_TRY(frames_finish(self));
    if (d->record.count == 0 || (d->series.npiece > 0 && !d->series.leads)) return PCS_OK;
    pcs_status status = pcs_obstacles_write_still(&d->obstacles, d->series.file, self->view, &d->record);
    d->series.has_failed = status != PCS_OK;
    return status;
}

static void frames_forget_messages(void *object)
{
    pcs_context_destroy(&((frames_data *)object)->messages);
}

// A thread for large frames, where there is a processor for it. Ranks wait for one another at times, and so their
// pieces are always written beside the steps.
static bool frames_are_beside(const pcs_observer *self, const frames_data *d)
{
    const pcs_picture *picture = self->view->system->picture;
    int nprocess = pcs_process_count(self->ctx);
    if (picture->is_piece) return picture->nall_node / nprocess >= LARGE_FRAME;
    return pcs_context_comm(self->ctx) == NULL && d->vtk.npoint >= LARGE_FRAME && pcs_pool_share(self->ctx) >= 2;
}

// May somebody else draw the picture while a frame is written? Waves do, and who drives a run alone may.
static bool frames_are_overdrawn(const pcs_observer *self)
{
    const pcs_view *view = self->view;
    bool is_overdrawn = pcs_context_comm(self->ctx) == NULL;
    for (int i = 0; i < view->nobserver; i++)
        is_overdrawn = is_overdrawn || strcmp(view->observers[i].ops->name, "waves") == 0;
    return is_overdrawn;
}

static pcs_status frames_hire(const pcs_observer *self, frames_data *d)
{
    d->is_beside = frames_are_beside(self, d);
    if (!d->is_beside) return PCS_OK;
    pcs_aside *aside;
    if (pcs_context_create(&d->messages) != PCS_OK) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: frames");
    PCS_TRY(pcs_defer(self->ctx, frames_forget_messages, d));
    if (frames_are_overdrawn(self)) PCS_TRY(frames_keep(self->ctx, d));
    PCS_TRY(pcs_aside_create(self->ctx, &aside)); // last: it ends before all else is given back
    d->aside = aside;
    return PCS_OK;
}

// One process may go on with what several have begun.
static bool frames_go_on_in_pieces(const pcs_observer *self)
{
    char path[PATH_ROOM];
    const pcs_view *view = self->view;
    snprintf(path, sizeof path, "%s/%s_000000.pvtu", view->directory, pcs_frames_stem(view->case_name));
    return view->is_resumed && access(path, F_OK) == 0;
}

// Files of a frame, their format and what is in them.
static pcs_status frames_make_grid(const pcs_observer *self, frames_data *d)
{
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = self->view->system->picture;
    int nprocess = picture->is_piece ? pcs_process_count(self->ctx) : 1;
    bool has_pieces = picture->is_piece || params->pieces == PCS_PIECES_ALWAYS ||
                      (params->pieces == PCS_PIECES_AUTO && frames_go_on_in_pieces(self));
    d->series.is_xml = params->format == PCS_FORMAT_VTU || has_pieces;
    if (picture->is_elsewhere) return PCS_OK;
    PCS_TRY(frames_make_data(self->ctx, picture, &params->fields, d));
    d->vtk.is_single = params->precision == PCS_PRECISION_FLOAT;
    if (d->series.is_xml) PCS_TRY(pcs_vtk_make_xml(self->ctx, &d->vtk));
    if (has_pieces) pcs_series_split(&d->series, nprocess, nprocess > 1 ? pcs_process_number(self->ctx) : 0, &d->vtk);
    return PCS_OK;
}

static pcs_status frames_prepare(const pcs_observer *self, frames_data *d)
{
    const pcs_view *view = self->view;
    const pcs_frames_params *params = self->params;
    PCS_TRY(pcs_series_create(self->ctx, view, pcs_frames_stem(view->case_name), &d->series));
    PCS_TRY(pcs_obstacles_create(self->ctx, view, &d->obstacles));
    if (!view->is_resumed) pcs_file_remove(d->series.file, "obstacles.vtk");
    if (!view->is_resumed) PCS_TRY(pcs_series_sweep(&d->series, 0));
    if (view->system->picture == NULL || view->system->picture->nall_node == 0) return PCS_OK;
    PCS_TRY(frames_make_grid(self, d));
    PCS_TRY(pcs_frames_record_create(self->ctx, view->system, &d->record));
    PCS_TRY(pcs_series_reserve(self->ctx, &d->series, params->around_contacts));
    PCS_TRY(pcs_series_reserve(self->ctx, &d->obstacles.series, params->around_contacts));
    PCS_TRY(pcs_schedule_create(self->ctx, params, view, &d->schedule));
    return frames_hire(self, d);
}

static pcs_status frames_open(pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    const pcs_picture *picture = view->system->picture;
    pcs_status status = frames_prepare(self, d);
    // Before any process writes, old files are gone, and all are ready.
    if (picture != NULL && picture->is_piece) status = pcs_agree(self->ctx, status);
    if (status != PCS_OK || view->is_resumed || picture == NULL || picture->nall_node == 0) return status;
    PCS_TRY(frames_write(self, pcs_schedule_end(&d->schedule, view)));
    return frames_put_obstacles(self);
}

static pcs_status frames_step(pcs_observer *self)
{
    frames_data *d = self->data;
    pcs_frame_use use = pcs_schedule_step(&d->schedule, self->view);
    // Reports a failed background write at once; with pieces all ranks learn of it when they complete the frame.
    if (d->series.npiece == 0 && pcs_aside_has_failed(d->aside)) return frames_wait(self);
    return d->series.has_failed ? PCS_OK : frames_write(self, use);
}

static pcs_status frames_close(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->schedule.every == 0 || d->series.has_failed) return PCS_OK;
    PCS_TRY(frames_finish(self));
    pcs_series_drop(&d->series, self->view);
    pcs_series_drop(&d->obstacles.series, self->view);
    PCS_TRY(frames_write(self, pcs_schedule_end(&d->schedule, self->view)));
    return frames_put_obstacles(self);
}

static pcs_status frames_carry(pcs_observer *self, pcs_carrier *c)
{
    frames_data *d = self->data;
    if (d->schedule.every == 0) return PCS_OK;
    PCS_TRY(frames_finish(self));
    pcs_frames_record_carry(&d->record, self->view->system->picture, c);
    pcs_schedule_carry(&d->schedule, c);
    PCS_TRY(pcs_series_carry(&d->series, c));
    return pcs_obstacles_carry(&d->obstacles, c);
}

static pcs_status frames_check(const pcs_observer *self, char place[PCS_OBSERVER_PLACE])
{
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = self->view->system->picture;
    int index = 0;
    pcs_vtk ignored;
    if (picture == NULL || picture->nall_node == 0 || picture->is_elsewhere) return PCS_OK;
    pcs_status status = frames_find_arrays(self->ctx, picture, &params->fields, &ignored, &index);
    snprintf(place, PCS_OBSERVER_PLACE, "fields.%d", index);
    return status;
}

const pcs_observer_ops pcs_observer_frames = {
    .name = "frames",
    .summary = "the model in time as VTK files for ParaView",
    .options = frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(frames_data),
    .is_default = true,
    .check_params = pcs_schedule_check,
    .check = frames_check,
    .open = frames_open,
    .step = frames_step,
    .close = frames_close,
    .carry = frames_carry,
};
