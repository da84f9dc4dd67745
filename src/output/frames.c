// Frames of the model for ParaView: unstructured grid of lines at the current positions. Beside them what stands still,
// at first as large as the model, in the end as large as its motion, and as a series of its own what nodes carry.
//
// Points are reference + displacement, so that the body moves by itself. Point data: displacement, velocity, rotation,
// radius (for ParaView's Tube filter), section forces where members do not branch. Cell data: the system's fields
// (axial_force, stress, strain_energy, ...) and the y axis of the section. A cell of one node is a vertex.

#include "output/frames.h"
#include "output/series.h"

#include <stdio.h>
#include <string.h>

enum { VERTEX_CELL = 1, LINE_CELL = 3, FIELD_NAME_ROOM = 64, KNOWN_ROOM = 512 };

typedef struct frames_data {
    pcs_frames_record record; // first: others find it by this observer's name
    pcs_series series;
    pcs_series carried; // bearings, discs and joints
    pcs_schedule schedule;
    const pcs_names *fields; // to be written; empty: all
} frames_data;

static const char *const frames_precisions[] = { "double", "float", NULL };

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
    { .name = NULL },
};

static bool frames_is_vertex(const pcs_picture *picture, int cell)
{
    return picture->cells[cell][0] == picture->cells[cell][1];
}

static void frames_put_grid(pcs_file *f, const pcs_picture *picture)
{
    pcs_file_print(f, "POINTS %d %s\n", picture->npoint, f->is_single ? "float" : "double");
    for (int i = 0; i < picture->npoint; i++) {
        const double *X = picture->reference[i], *u = picture->displacement[i];
        pcs_file_reals(f, (double[3]){ X[0] + u[0], X[1] + u[1], X[2] + u[2] }, 3);
    }
    long long size = 3LL * picture->ncell;
    for (int c = 0; c < picture->ncell; c++) size -= frames_is_vertex(picture, c);
    pcs_file_print(f, "\nCELLS %d %lld\n", picture->ncell, size);
    for (int c = 0; c < picture->ncell; c++) {
        bool is_vertex = frames_is_vertex(picture, c);
        pcs_file_ints(f, (int[3]){ is_vertex ? 1 : 2, picture->cells[c][0], picture->cells[c][1] }, is_vertex ? 2 : 3);
    }
    pcs_file_print(f, "\nCELL_TYPES %d\n", picture->ncell);
    for (int c = 0; c < picture->ncell; c++)
        pcs_file_ints(f, &(int){ frames_is_vertex(picture, c) ? VERTEX_CELL : LINE_CELL }, 1);
    pcs_file_text(f, "\n");
}

// Is an array asked for?
static bool frames_has(const frames_data *d, const char *name)
{
    bool is_named = d->fields->count == 0;
    for (int i = 0; i < d->fields->count && !is_named; i++) is_named = strcmp(d->fields->text[i], name) == 0;
    return is_named;
}

static void frames_put_point_data(const frames_data *d, const pcs_picture *picture)
{
    pcs_file *f = d->series.file;
    bool has_motion = frames_has(d, "displacement"), has_velocity = frames_has(d, "velocity");
    bool has_turns = picture->rotation != NULL && frames_has(d, "rotation"), has_radius = picture->radius != NULL;
    int count = has_motion + has_velocity + has_turns + has_radius;
    for (int k = 0; k < picture->npoint_field; k++) count += frames_has(d, picture->point_names[k]);
    if (count == 0) return;
    pcs_file_print(f, "POINT_DATA %d\nFIELD FieldData %d\n", picture->npoint, count);
    if (has_motion) pcs_vtk_vectors(f, "displacement", (const double(*)[3])picture->displacement, picture->npoint);
    if (has_velocity) pcs_vtk_vectors(f, "velocity", (const double(*)[3])picture->velocity, picture->npoint);
    if (has_turns) pcs_vtk_vectors(f, "rotation", (const double(*)[3])picture->rotation, picture->npoint);
    if (has_radius) pcs_vtk_reals(f, "radius", picture->radius, picture->npoint);
    for (int k = 0; k < picture->npoint_field; k++)
        if (frames_has(d, picture->point_names[k]))
            pcs_vtk_reals(f, picture->point_names[k], picture->point_fields[k], picture->npoint);
}

static void frames_put_cell_data(const frames_data *d, const pcs_picture *picture)
{
    pcs_file *f = d->series.file;
    bool has_axes = picture->section_y != NULL && frames_has(d, "section_y");
    int count = has_axes;
    char name[FIELD_NAME_ROOM];
    for (int k = 0; k < picture->nfield; k++) {
        pcs_safe_name(picture->field_names[k], sizeof name, name);
        count += frames_has(d, name);
    }
    if (count == 0 || picture->ncell == 0) return;
    pcs_file_print(f, "CELL_DATA %d\nFIELD FieldData %d\n", picture->ncell, count);
    if (has_axes) pcs_vtk_vectors(f, "section_y", (const double(*)[3])picture->section_y, picture->ncell);
    for (int k = 0; k < picture->nfield; k++) {
        pcs_safe_name(picture->field_names[k], sizeof name, name);
        if (frames_has(d, name)) pcs_vtk_reals(f, name, picture->fields[k], picture->ncell);
    }
}

static pcs_status frames_write(const pcs_view *view, frames_data *d, pcs_frame_use use)
{
    pcs_system *system = view->system;
    pcs_series *s = &d->series;
    if (use == PCS_FRAME_NONE) return PCS_OK;
    system->ops->draw(system, view->state->q, view->state->v,
                      system->picture); // all ranks, whatever becomes of the file
    pcs_frames_record_add(&d->record, system->picture, view->state->t);
    pcs_status status =
        pcs_series_begin(s, use, view->title != NULL ? view->title : view->case_name, "UNSTRUCTURED_GRID", view);
    if (status == PCS_OK) {
        frames_put_grid(s->file, system->picture);
        frames_put_point_data(d, system->picture);
        frames_put_cell_data(d, system->picture);
        status = pcs_series_end(s, view->state->t);
    }
    if (status == PCS_OK) status = pcs_obstacles_write_carried(&d->carried, use, view);
    s->has_failed = status != PCS_OK;
    return status;
}

static pcs_status frames_put_obstacles(frames_data *d, const pcs_view *view)
{
    pcs_status status = d->record.count > 0 ? pcs_obstacles_write(d->series.file, view, &d->record) : PCS_OK;
    d->series.has_failed = status != PCS_OK;
    return status;
}

static bool frames_knows(const pcs_picture *picture, const char *wanted)
{
    bool is_known = strcmp(wanted, "none") == 0 || strcmp(wanted, "displacement") == 0 ||
                    strcmp(wanted, "velocity") == 0 || (picture->rotation != NULL && strcmp(wanted, "rotation") == 0) ||
                    (picture->section_y != NULL && strcmp(wanted, "section_y") == 0);
    for (int k = 0; k < picture->nfield && !is_known; k++) {
        char name[FIELD_NAME_ROOM];
        pcs_safe_name(picture->field_names[k], sizeof name, name);
        is_known = strcmp(wanted, name) == 0;
    }
    for (int k = 0; k < picture->npoint_field && !is_known; k++)
        is_known = strcmp(wanted, picture->point_names[k]) == 0;
    return is_known;
}

static pcs_status frames_demand_fields(pcs_context *ctx, const pcs_names *fields, const pcs_picture *picture)
{
    for (int i = 0; i < fields->count; i++) {
        if (frames_knows(picture, fields->text[i])) continue;
        char known[KNOWN_ROOM] = "displacement, velocity";
        for (int k = 0; k < picture->nfield; k++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, ", %s", picture->field_names[k]);
        }
        if (picture->npoint_field > 0 && frames_knows(picture, "bending_moment"))
            strncat(known, ", bending_moment", sizeof known - strlen(known) - 1);
        return pcs_fail(ctx, PCS_BAD_INPUT, "output.frames.fields: the model has no '%s'; it has %s", fields->text[i],
                        known);
    }
    return PCS_OK;
}

static pcs_status frames_open(pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = view->system->picture;
    PCS_TRY(pcs_series_create(self->ctx, view->directory, pcs_frames_stem(view->case_name), &d->series));
    PCS_TRY(pcs_series_create(self->ctx, view->directory, "obstacles", &d->carried));
    pcs_file_remove(d->series.file, "obstacles.vtk");
    if (picture == NULL || picture->npoint == 0) return PCS_OK;
    d->fields = &params->fields;
    PCS_TRY(frames_demand_fields(self->ctx, d->fields, picture));
    PCS_TRY(pcs_frames_record_create(self->ctx, view->system, &d->record));
    PCS_TRY(pcs_series_reserve(self->ctx, &d->series, params->around_contacts));
    PCS_TRY(pcs_series_reserve(self->ctx, &d->carried, params->around_contacts));
    d->series.file->is_single = params->precision == PCS_PRECISION_FLOAT;
    PCS_TRY(pcs_schedule_create(self->ctx, params, view, &d->schedule));
    PCS_TRY(frames_write(view, d, pcs_schedule_end(&d->schedule, view)));
    return frames_put_obstacles(d, view);
}

static pcs_status frames_step(pcs_observer *self)
{
    frames_data *d = self->data;
    pcs_frame_use use = pcs_schedule_step(&d->schedule, self->view);
    return d->series.has_failed ? PCS_OK : frames_write(self->view, d, use);
}

static pcs_status frames_close(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->schedule.every == 0 || d->series.has_failed) return PCS_OK;
    pcs_series_drop(&d->series);
    pcs_series_drop(&d->carried);
    PCS_TRY(frames_write(self->view, d, pcs_schedule_end(&d->schedule, self->view)));
    return frames_put_obstacles(d, self->view);
}

const pcs_observer_ops pcs_observer_frames = {
    .name = "frames",
    .summary = "the model in time as legacy VTK files for ParaView",
    .options = frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(frames_data),
    .is_default = true,
    .check_params = pcs_schedule_check,
    .open = frames_open,
    .step = frames_step,
    .close = frames_close,
};
