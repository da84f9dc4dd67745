// Frames of the model for ParaView: unstructured grid of lines at the current positions. Beside them what stands still,
// at first as large as the model, in the end as large as its motion, and as a series of its own what nodes carry.
//
// Points are reference + displacement, so that the body moves by itself. Point data: displacement, velocity, rotation,
// radius (for ParaView's Tube filter), section forces. Cell data: the y axis of the section and the system's fields
// (axial_force, stress, strain_energy, ...).
//
// With several processes either the first one writes the frame, or each writes its piece. A frame in pieces is
// completed by all together: they agree that all pieces are there, then the first one writes index and list. If a piece
// fails, all learn of it and the frame is removed.

#define _POSIX_C_SOURCE 200809L // access

#include "output/frames.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, NAME_ROOM = 64, KNOWN_ROOM = 512 };

typedef struct frames_data {
    pcs_frames_record record; // must be first: others find it by this observer's name
    pcs_series series;
    pcs_obstacles obstacles;
    pcs_vtk vtk;
    double (*position)[3]; // [vtk.npoint] m
} frames_data;

static const char *const frames_precisions[] = { "double", "float", NULL };
static const char *const frames_formats[] = { "vtk", "vtu", NULL };
static const char *const frames_pieces[] = { "auto", "always", "never", NULL };

static const pcs_option frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default about 100 frames over the run or its windows"),
    PCS_LIST("window", pcs_frames_params, window, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "[from, to], s, or a list of such pairs: frames only then, of the model and of the contacts"),
    PCS_NAMES("fields", pcs_frames_params, fields, PCS_OPTIONAL,
              "arrays to write beside positions and radii, as they are called in a frame, or none; by default all"),
    PCS_CHOICE("precision", pcs_frames_params, precision, PCS_DEFAULT("double"), frames_precisions,
               "of positions and arrays; float halves the files and keeps seven digits"),
    PCS_CHOICE("format", pcs_frames_params, format, PCS_DEFAULT("vtk"), frames_formats,
               "of the model: vtk, legacy files, or vtu, XML files compressed by zlib and <case>.pvd"),
    PCS_CHOICE("pieces", pcs_frames_params, pieces, PCS_DEFAULT("auto"), frames_pieces,
               "every process writes its part of the model as a vtu file, and <case>.pvd names them: auto, of several "
               "processes with 50000 nodes or more"),
    { .name = NULL },
};

// Returns true if an array is asked for, by name or because no names are given.
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

// Writes the names of all arrays that can be asked for, each once.
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

// Removes arrays that are not asked for; radii always stay.
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

// Allocates all memory. A cell of one node given twice is a vertex.
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

// Copies the picture as it is drawn.
static void frames_take(const pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_picture *picture = self->view->system->picture;
    pcs_frames_record_add(&d->record, picture, self->view->state->t);
    for (int i = 0; i < d->vtk.npoint; i++)
        for (int k = 0; k < 3; k++) d->position[i][k] = picture->reference[i][k] + picture->displacement[i][k];
}

static pcs_status frames_put(const pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    const char *title = view->title != NULL ? view->title : view->case_name;
    return pcs_series_write(&d->series, &d->vtk, title, view->state);
}

// Writes the pieces of a frame and completes it, or removes it, on all processes.
static pcs_status frames_write_pieces(const pcs_observer *self)
{
    frames_data *d = self->data;
    pcs_status status = !d->series.list->is_mute ? pcs_obstacles_write_carried(&d->obstacles, self->view) : PCS_OK;
    if (status == PCS_OK) status = frames_put(self);
    status = pcs_agree(self->ctx, status);
    if (status == PCS_OK) status = pcs_agree(self->ctx, pcs_series_settle(&d->series, self->view->state->t));
    if (status != PCS_OK && !d->series.list->is_mute) (void)pcs_series_sweep(&d->series, d->series.count);
    return status;
}

static pcs_status frames_write(const pcs_observer *self, bool is_end)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    pcs_system *system = view->system;
    pcs_status status;
    if (d->series.has_failed || !pcs_series_is_due(&d->series, view, is_end)) return PCS_OK;
    system->ops->draw(system, pcs_view_at(view), system->picture); // all processes, whatever becomes of the file
    if (system->picture->is_elsewhere) return PCS_OK;
    frames_take(self);
    if (d->series.npiece > 0) {
        status = frames_write_pieces(self);
    } else {
        status = frames_put(self);
        if (status == PCS_OK) status = pcs_obstacles_write_carried(&d->obstacles, view);
    }
    d->series.has_failed = status != PCS_OK;
    return status;
}

static pcs_status frames_put_obstacles(const pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->record.count == 0 || (d->series.npiece > 0 && d->series.list->is_mute)) return PCS_OK;
    pcs_status status = pcs_obstacles_write_still(&d->obstacles, d->series.file, self->view, &d->record);
    d->series.has_failed = status != PCS_OK;
    return status;
}

// Returns true if a resumed run has frames in pieces, which several processes may have begun.
static bool frames_go_on_in_pieces(const pcs_observer *self)
{
    char path[PATH_ROOM];
    const pcs_view *view = self->view;
    snprintf(path, sizeof path, "%s/%s_000000.pvtu", view->directory, pcs_frames_stem(view->case_name));
    return view->is_resumed && access(path, F_OK) == 0;
}

// Chooses the files of a frame, their format and contents.
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
    PCS_TRY(pcs_series_create(self->ctx, view, pcs_frames_stem(view->case_name), &d->series));
    PCS_TRY(pcs_obstacles_create(self->ctx, view, &d->obstacles));
    if (!view->is_resumed) pcs_file_remove(d->series.file, "obstacles.vtk");
    if (view->system->picture == NULL || view->system->picture->nall_node == 0) return PCS_OK;
    PCS_TRY(frames_make_grid(self, d));
    PCS_TRY(pcs_frames_record_create(self->ctx, view->system, &d->record));
    pcs_series_plan(&d->series, self->params, view);
    return PCS_OK;
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
    PCS_TRY(frames_write(self, true));
    return frames_put_obstacles(self);
}

static pcs_status frames_step(pcs_observer *self)
{
    return frames_write(self, false);
}

static pcs_status frames_close(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->series.every == 0 || d->series.has_failed) return PCS_OK;
    PCS_TRY(frames_write(self, true));
    return frames_put_obstacles(self);
}

static pcs_status frames_carry(pcs_observer *self, pcs_carrier *c)
{
    frames_data *d = self->data;
    if (d->series.every == 0) return PCS_OK;
    pcs_frames_record_carry(&d->record, self->view->system->picture, c);
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
    .check_params = pcs_frames_check,
    .check = frames_check,
    .open = frames_open,
    .step = frames_step,
    .close = frames_close,
    .carry = frames_carry,
};
