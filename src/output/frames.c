// Frames of the model for ParaView: unstructured grid of lines at the current positions. Beside them what stands still,
// at first as large as the model, in the end as large as its motion, and as a series of its own what nodes carry.

//
// Large frames are written by a thread beside the steps, one at a time: the values are copied, and what wants to know
// what is on the disk waits: the next frame, checkpoints, the end. A failure ends the run after the step in which it is
// found. Of several ranks the one that writes does so between the steps, as they wait for one another anyway.

#include "output/frames.h"
#include "core/aside.h"
#include "core/comm.h"
#include "core/pool.h"
#include "output/vtu.h"

enum { LARGE_FRAME = 2000 }; // points: below that, a file costs more than what is in it

typedef struct frames_data {
    pcs_frames_record record; // first: others find it by this observer's name
    pcs_series series;
    pcs_carried carried;
    pcs_schedule schedule;
    pcs_grid grid;
    pcs_vtu *vtu;          // NULL: legacy files
    pcs_aside *aside;      // NULL: frames are written between the steps
    pcs_context *messages; // of the thread
    pcs_view shown;        // what the frame in flight is told: title, and of the state time and step
    pcs_state state;
    pcs_frame_use use;
} frames_data;

static const char *const frames_precisions[] = { "double", "float", NULL };
static const char *const frames_formats[] = { "vtk", "vtu", NULL };

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
    { .name = NULL },
};

// The file of a frame, whose values are in the grid.
static pcs_status frames_put(void *object)
{
    frames_data *d = object;
    const pcs_view *view = &d->shown;
    const char *title = view->title != NULL ? view->title : view->case_name;
    PCS_TRY(pcs_series_begin(&d->series, d->use, title, "UNSTRUCTURED_GRID", view));
    if (d->vtu == NULL) pcs_grid_put(&d->grid, d->series.file);
    else pcs_vtu_put(d->vtu, d->series.file, view);
    return pcs_series_end(&d->series, view->state->t);
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

static pcs_status frames_write(const pcs_observer *self, pcs_frame_use use)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    pcs_system *system = view->system;
    if (use == PCS_FRAME_NONE) return PCS_OK;
    system->ops->draw(system, view->state->q, view->state->v,
                      system->picture); // all ranks, whatever becomes of the file
    if (system->picture->is_elsewhere) return PCS_OK;
    PCS_TRY(frames_wait(self));
    pcs_frames_record_add(&d->record, system->picture, view->state->t);
    pcs_grid_update(&d->grid);
    d->shown = *view;
    d->shown.state = &d->state;
    d->state.t = view->state->t;
    d->state.step = view->state->step;
    d->use = use;
    pcs_status status = PCS_OK;
    if (d->aside != NULL) {
        d->series.file->ctx = d->messages;
        pcs_aside_start(d->aside, frames_put, d);
    } else {
        status = frames_put(d);
    }
    if (status == PCS_OK) status = pcs_carried_write(&d->carried, use, view);
    d->series.has_failed = status != PCS_OK;
    return status;
}

static pcs_status frames_put_obstacles(const pcs_observer *self)
{
    frames_data *d = self->data;
    PCS_TRY(frames_wait(self));
    pcs_status status = d->record.count > 0 ? pcs_obstacles_write(d->series.file, self->view, &d->record) : PCS_OK;
    d->series.has_failed = status != PCS_OK;
    return status;
}

static void frames_forget_messages(void *object)
{
    pcs_context_destroy(&((frames_data *)object)->messages);
}

// A thread for large frames, where there is a processor for it.
static pcs_status frames_hire(const pcs_observer *self, frames_data *d)
{
    if (d->grid.npoint < LARGE_FRAME || pcs_context_comm(self->ctx) != NULL || pcs_pool_share(self->ctx) < 2)
        return PCS_OK;
    pcs_aside *aside;
    if (pcs_context_create(&d->messages) != PCS_OK) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: frames");
    PCS_TRY(pcs_defer(self->ctx, frames_forget_messages, d));
    PCS_TRY(pcs_grid_keep(self->ctx, &d->grid));
    PCS_TRY(pcs_aside_create(self->ctx, &aside)); // last: it ends before all else is given back
    d->aside = aside;
    return PCS_OK;
}

static pcs_status frames_open(pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = view->system->picture;
    PCS_TRY(pcs_series_create(self->ctx, view, pcs_frames_stem(view->case_name), &d->series));
    PCS_TRY(pcs_carried_create(self->ctx, view, &d->carried));
    if (!view->is_resumed) pcs_file_remove(d->series.file, "obstacles.vtk");
    if (picture == NULL || picture->npoint == 0) return PCS_OK;
    bool is_single = params->precision == PCS_PRECISION_FLOAT;
    d->series.is_xml = params->format == PCS_FORMAT_VTU;
    if (!picture->is_elsewhere) PCS_TRY(pcs_grid_create(self->ctx, picture, &params->fields, &d->grid));
    if (!picture->is_elsewhere && d->series.is_xml) PCS_TRY(pcs_vtu_create(self->ctx, &d->grid, is_single, &d->vtu));
    PCS_TRY(pcs_frames_record_create(self->ctx, view->system, &d->record));
    PCS_TRY(pcs_series_reserve(self->ctx, &d->series, params->around_contacts));
    PCS_TRY(pcs_series_reserve(self->ctx, &d->carried.series, params->around_contacts));
    d->series.file->is_single = is_single;
    PCS_TRY(pcs_schedule_create(self->ctx, params, view, &d->schedule));
    PCS_TRY(frames_hire(self, d));
    if (view->is_resumed) return PCS_OK;
    PCS_TRY(frames_write(self, pcs_schedule_end(&d->schedule, view)));
    return frames_put_obstacles(self);
}

static pcs_status frames_step(pcs_observer *self)
{
    frames_data *d = self->data;
    pcs_frame_use use = pcs_schedule_step(&d->schedule, self->view);
    if (pcs_aside_has_failed(d->aside)) return frames_wait(self);
    return d->series.has_failed ? PCS_OK : frames_write(self, use);
}

static pcs_status frames_close(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->schedule.every == 0 || d->series.has_failed) return PCS_OK;
    PCS_TRY(frames_wait(self));
    pcs_series_drop(&d->series, self->view);
    pcs_series_drop(&d->carried.series, self->view);
    PCS_TRY(frames_write(self, pcs_schedule_end(&d->schedule, self->view)));
    return frames_put_obstacles(self);
}

static pcs_status frames_carry(pcs_observer *self, pcs_carrier *c)
{
    frames_data *d = self->data;
    if (d->schedule.every == 0) return PCS_OK;
    PCS_TRY(frames_wait(self));
    pcs_frames_record_carry(&d->record, self->view->system->picture, c);
    pcs_schedule_carry(&d->schedule, c);
    PCS_TRY(pcs_series_carry(&d->series, c));
    return pcs_carried_carry(&d->carried, c);
}

const pcs_observer_ops pcs_observer_frames = {
    .name = "frames",
    .summary = "the model in time as VTK files for ParaView",
    .options = frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(frames_data),
    .is_default = true,
    .check_params = pcs_schedule_check,
    .open = frames_open,
    .step = frames_step,
    .close = frames_close,
    .carry = frames_carry,
};
