// Frames of the model for ParaView: unstructured grid of lines at the current positions.
//
// Points are reference + displacement, so that the body moves by itself. Point data: displacement, velocity, rotation,
// radius (for ParaView's Tube filter). Cell data: the system's fields (axial_force, stress, strain_energy, ...) and the
// y axis of the section. A cell of one node is a vertex.

#include "output/series.h"

#include <string.h>

enum { VERTEX_CELL = 1, LINE_CELL = 3, FIELD_NAME_ROOM = 64 };

typedef struct frames_data {
    pcs_series series;
    long every; // 0: no frames
    long last;  // step of the last frame
} frames_data;

static const pcs_option frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default about 100 frames over the run"),
    { .name = NULL },
};

static bool frames_is_vertex(const pcs_picture *picture, int cell)
{
    return picture->cells[cell][0] == picture->cells[cell][1];
}

static void frames_put_grid(pcs_file *f, const pcs_picture *picture)
{
    pcs_file_print(f, "POINTS %d double\n", picture->npoint);
    for (int i = 0; i < picture->npoint; i++) {
        const double *X = picture->reference[i], *u = picture->displacement[i];
        pcs_file_doubles(f, (double[3]){ X[0] + u[0], X[1] + u[1], X[2] + u[2] }, 3);
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

static void frames_put_data(pcs_file *f, const pcs_picture *picture)
{
    bool has_turns = picture->rotation != NULL, has_radius = picture->radius != NULL;
    bool has_axes = picture->section_y != NULL;
    pcs_file_print(f, "POINT_DATA %d\nFIELD FieldData %d\n", picture->npoint, 2 + has_turns + has_radius);
    pcs_vtk_vectors(f, "displacement", (const double(*)[3])picture->displacement, picture->npoint);
    pcs_vtk_vectors(f, "velocity", (const double(*)[3])picture->velocity, picture->npoint);
    if (has_turns) pcs_vtk_vectors(f, "rotation", (const double(*)[3])picture->rotation, picture->npoint);
    if (has_radius) pcs_vtk_reals(f, "radius", picture->radius, picture->npoint);
    if (picture->nfield + has_axes == 0 || picture->ncell == 0) return;
    pcs_file_print(f, "CELL_DATA %d\nFIELD FieldData %d\n", picture->ncell, picture->nfield + has_axes);
    if (has_axes) pcs_vtk_vectors(f, "section_y", (const double(*)[3])picture->section_y, picture->ncell);
    for (int k = 0; k < picture->nfield; k++) {
        char name[FIELD_NAME_ROOM];
        pcs_safe_name(picture->field_names[k], sizeof name, name);
        pcs_vtk_reals(f, name, picture->fields[k], picture->ncell);
    }
}

static pcs_status frames_write(const pcs_view *view, frames_data *d)
{
    pcs_system *system = view->system;
    pcs_series *s = &d->series;
    d->last = view->state->step;
    system->ops->draw(system, view->state->q, view->state->v,
                      system->picture); // all ranks, whatever becomes of the file
    pcs_status status = pcs_series_begin(s, view->title != NULL ? view->title : view->case_name, "UNSTRUCTURED_GRID",
                                         view->state->t, view->state->step);
    if (status == PCS_OK) {
        frames_put_grid(s->file, system->picture);
        frames_put_data(s->file, system->picture);
        status = pcs_series_end(s, view->state->t);
    }
    s->has_failed = status != PCS_OK;
    return status;
}

static pcs_status frames_open(pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    // The name "contacts" belongs to the contact frames.
    const char *stem = strcmp(view->case_name, "contacts") == 0 ? "model" : view->case_name;
    PCS_TRY(pcs_series_create(self->ctx, view->directory, stem, &d->series));
    bool has_picture = view->system->picture != NULL && view->system->picture->npoint > 0;
    d->every = has_picture ? pcs_frames_every(self->params, view) : 0;
    return d->every == 0 ? PCS_OK : frames_write(view, d);
}

static pcs_status frames_step(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->every == 0 || d->series.has_failed || self->view->state->step % d->every != 0) return PCS_OK;
    return frames_write(self->view, d);
}

static pcs_status frames_close(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->every == 0 || d->series.has_failed || d->last == self->view->state->step) return PCS_OK;
    return frames_write(self->view, d);
}

const pcs_observer_ops pcs_observer_frames = {
    .name = "frames",
    .summary = "the model in time as legacy VTK files for ParaView",
    .options = frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(frames_data),
    .is_default = true,
    .open = frames_open,
    .step = frames_step,
    .close = frames_close,
};
