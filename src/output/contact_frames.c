// Frames of the contact points for ParaView: one vertex per point with gap, force, impulses, normal and state.
// The arrow of the force has its friction, too.
//
// impulse and step_impulse are sums since the frame before, be it written or not (output/schedule.h), so that no impact
// is lost between two frames; gap, gap_velocity, force and state are those of the frame's own step: 0 open, 1 closed
// (it sticks, where there is friction), 2 slides.
//
// Where frames follow those of the model, only the first one is written, those in which some point is closed or has
// passed on an impulse, and the next one after these: a viewer shows the last one that is no later, and the others
// would show open contacts over and over.

#include "output/series.h"
#include "output/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE_ROOM = 256 };

typedef struct contact_frames_data {
    pcs_series series;
    pcs_tally tally;
    pcs_schedule schedule;
    char title[TITLE_ROOM];
    int npoint, *row;                                 // [npoint] points of contacts, by their place in reports
    double (*position)[3], (*normal)[3], (*arrow)[3]; // [nrow + ncompliant], then [npoint]
    double (*across)[3];                              // [ntangent + ncompliant_tangent] of friction; NULL: none known
    bool has_all;                                     // frames of open contacts, too
    bool may_show_load;                               // the last frame written, or one that is held
    double *column;                                   // [npoint]
    int *number;                                      // [2 npoint]
} contact_frames_data;

static const pcs_option contact_frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default as for frames, and only while something touches"),
    { .name = NULL },
};

static void contact_frames_put_points(contact_frames_data *d, int n)
{
    pcs_file *f = d->series.file;
    pcs_file_print(f, "POINTS %d double\n", n);
    pcs_file_doubles(f, &d->position[0][0], 3 * (size_t)n);
    pcs_file_print(f, "\nVERTICES %d %lld\n", n, 2LL * n);
    for (int j = 0; j < n; j++) pcs_file_ints(f, (int[2]){ 1, j }, 2);
    pcs_file_text(f, "\n");
}

// One scalar of all points, by its place in the row.
static void contact_frames_put_reals(contact_frames_data *d, const char *name, size_t offset)
{
    for (int j = 0; j < d->npoint; j++) {
        double x;
        memcpy(&x, (const char *)&d->tally.rows[d->row[j]] + offset, sizeof x);
        d->column[j] = isfinite(x) ? x : 0.0; // a force that does not exist yet
    }
    pcs_vtk_reals(d->series.file, name, d->column, 1, d->npoint);
}

static void contact_frames_put_data(contact_frames_data *d, const pcs_row *rows, int n)
{
    pcs_file *f = d->series.file;
    pcs_file_print(f, "POINT_DATA %d\nFIELD FieldData 9\n", n);
    contact_frames_put_reals(d, "gap", offsetof(pcs_tally_row, gap));
    contact_frames_put_reals(d, "gap_velocity", offsetof(pcs_tally_row, rate));
    contact_frames_put_reals(d, "impulse", offsetof(pcs_tally_row, impulse));
    contact_frames_put_reals(d, "step_impulse", offsetof(pcs_tally_row, step_impulse));
    contact_frames_put_reals(d, "force", offsetof(pcs_tally_row, force)); // last: d->column serves the arrows
    for (int j = 0; j < n; j++) {
        const pcs_row *row = &rows[d->row[j]];
        int ntangent = d->across == NULL ? 0 : row->ntangent;
        for (int k = 0; k < 3; k++) d->arrow[j][k] = d->column[j] * d->normal[j][k];
        for (int t = 0; t < ntangent; t++)
            for (int k = 0; k < 3; k++)
                d->arrow[j][k] += d->tally.rows[d->row[j]].tangent[t] * d->across[row->first_tangent + t][k];
    }
    pcs_vtk_reals(f, "normal", &d->normal[0][0], 3, n);
    pcs_vtk_reals(f, "force_vector", &d->arrow[0][0], 3, n);
    for (int j = 0; j < n; j++) {
        d->number[j] = (int)d->tally.rows[d->row[j]].state;
        d->number[n + j] = rows[d->row[j]].contact;
    }
    pcs_vtk_ints(f, "state", d->number, n);
    pcs_vtk_ints(f, "contact", d->number + n, n);
}

// Is there anything to see since the frame before?
static bool contact_frames_is_loaded(const contact_frames_data *d)
{
    bool is_loaded = false;
    for (int j = 0; j < d->npoint; j++) {
        const pcs_tally_row *row = &d->tally.rows[d->row[j]];
        is_loaded = is_loaded || row->state != PCS_ROW_OPEN || row->impulse != 0.0 || row->step_impulse != 0.0;
    }
    return is_loaded;
}

// A frame that is held may never be seen: only one that is kept shows that all is open again.
static bool contact_frames_is_needed(contact_frames_data *d, pcs_frame_use use)
{
    bool is_loaded = contact_frames_is_loaded(d), was_loaded = d->may_show_load;
    d->may_show_load = is_loaded || (was_loaded && use == PCS_FRAME_HELD);
    return d->has_all || is_loaded || was_loaded || d->series.count == 0;
}

// Points of joints are left out.
static void contact_frames_close_ranks(contact_frames_data *d)
{
    for (int j = 0; j < d->npoint; j++) {
        memmove(d->position[j], d->position[d->row[j]], sizeof *d->position);
        memmove(d->normal[j], d->normal[d->row[j]], sizeof *d->normal);
    }
}

static pcs_status contact_frames_write(const pcs_view *view, contact_frames_data *d, pcs_frame_use use)
{
    pcs_system *system = view->system;
    pcs_series *s = &d->series;
    if (use == PCS_FRAME_NONE) return PCS_OK;
    if (!contact_frames_is_needed(d, use)) {
        d->tally.is_fresh = true;
        return PCS_OK;
    }
    pcs_status status = pcs_series_begin(s, use, d->title, "POLYDATA", view);
    if (status == PCS_OK) {
        system->ops->contact_points(system, view->state->q, d->position, d->normal);
        contact_frames_close_ranks(d);
        if (d->across != NULL) system->ops->tangents(system, d->across);
        contact_frames_put_points(d, d->npoint);
        contact_frames_put_data(d, system->rows, d->npoint);
        status = pcs_series_end(s, d->tally.t);
    }
    d->tally.is_fresh = true;
    s->has_failed = status != PCS_OK;
    return status;
}

// "contacts of bar_impact: 0 wall, 1 floor" tells which number is which.
static void contact_frames_make_title(const pcs_view *view, char *title)
{
    int used = snprintf(title, TITLE_ROOM, "contacts of %s:", view->case_name);
    for (int c = 0; c < view->system->ncontact; c++) {
        if (used >= TITLE_ROOM) return;
        if (view->system->contacts[c].is_joint) continue;
        used += snprintf(title + used, (size_t)(TITLE_ROOM - used), "%s %d %s", c == 0 ? "" : ",", c,
                         view->system->contacts[c].name);
    }
}

// Without a word of its own it follows the frames of the model.
static const pcs_frames_params *contact_frames_params(const pcs_observer *self)
{
    const pcs_frames_params *params = self->params;
    for (int i = 0; i < self->view->nobserver; i++) {
        const pcs_observer *other = &self->view->observers[i];
        if (params->every < 0 && strcmp(other->ops->name, "frames") == 0) return other->params;
    }
    return params;
}

static pcs_status contact_frames_open(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    const pcs_view *view = self->view;
    int n = pcs_system_npoint(view->system);
    PCS_TAKE(self->ctx, d->position, n, "contact points");
    PCS_TAKE(self->ctx, d->normal, n, "contact normals");
    PCS_TAKE(self->ctx, d->arrow, n, "contact forces");
    int ntangent = view->system->ntangent + view->system->ncompliant_tangent;
    if (ntangent > 0 && view->system->has_tangents) PCS_TAKE(self->ctx, d->across, ntangent, "directions of friction");
    PCS_TAKE(self->ctx, d->column, n, "contact results");
    PCS_TAKE(self->ctx, d->number, 2 * n, "contact states");
    PCS_TRY(pcs_tally_create(self->ctx, view, &d->tally));
    PCS_TRY(pcs_series_create(self->ctx, view, "contacts", &d->series));
    contact_frames_make_title(view, d->title);
    d->npoint = pcs_contact_rows(view->system);
    PCS_TAKE(self->ctx, d->row, d->npoint, "contact points");
    for (int j = 0; j < d->npoint; j++) d->row[j] = pcs_contact_row(view->system, j);
    if (d->npoint == 0) return PCS_OK;
    const pcs_frames_params *params = contact_frames_params(self);
    d->has_all = params == self->params;
    PCS_TRY(pcs_schedule_create(self->ctx, params, view, &d->schedule));
    PCS_TRY(pcs_series_reserve(self->ctx, &d->series, params->around_contacts));
    if (d->schedule.every == 0 || view->is_resumed) return PCS_OK;
    pcs_tally_add(&d->tally, view);
    return contact_frames_write(view, d, pcs_schedule_end(&d->schedule, view));
}

static pcs_status contact_frames_step(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    if (d->schedule.every == 0 || d->series.has_failed) return PCS_OK;
    pcs_tally_add(&d->tally, self->view);
    return contact_frames_write(self->view, d, pcs_schedule_step(&d->schedule, self->view));
}

static pcs_status contact_frames_close(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    if (d->schedule.every == 0 || d->series.has_failed) return PCS_OK;
    pcs_series_drop(&d->series, self->view);
    // The positions must belong to the step whose results were taken in.
    if (d->tally.step != self->view->state->step) return PCS_OK;
    return contact_frames_write(self->view, d, pcs_schedule_end(&d->schedule, self->view));
}

static pcs_status contact_frames_carry(pcs_observer *self, pcs_carrier *c)
{
    contact_frames_data *d = self->data;
    if (d->schedule.every == 0) return PCS_OK;
    pcs_tally_carry(&d->tally, c);
    pcs_schedule_carry(&d->schedule, c);
    pcs_carry_flags(c, "may_show_load", &d->may_show_load, 1);
    return pcs_series_carry(&d->series, c);
}

const pcs_observer_ops pcs_observer_contact_frames = {
    .name = "contact_frames",
    .summary = "the contact points in time as legacy VTK files for ParaView, while something touches",
    .options = contact_frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(contact_frames_data),
    .is_default = true,
    .open = contact_frames_open,
    .step = contact_frames_step,
    .close = contact_frames_close,
    .carry = contact_frames_carry,
};
