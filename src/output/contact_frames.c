// Frames of the contact points for ParaView: one vertex per point with gap, force, impulses, normal and state.
// The arrow of the force has its friction, too.
//
// impulse and step_impulse are sums since the frame before, written or not, so that no impact
// is lost between two frames; gap, gap_velocity, force and state are those of the frame's own step: 0 open, 1 closed
// (it sticks, where there is friction), 2 slides.
//
// By default frames are due with those of the model, and only these are written: the first one, those in which a point
// is closed or has passed on an impulse, and the next one after these. A viewer shows the last frame that is no later;
// the others would repeat open contacts.

#include "core/text.h"
#include "output/series.h"
#include "output/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE_ROOM = 256 };

typedef struct contact_frames_data {
    pcs_series series;
    pcs_tally tally;
    char title[TITLE_ROOM];
    int npoint, nall;                    // number of points here and of all processes, without those of joints
    double (*position)[3], (*normal)[3]; // [nrow + ncompliant]
    double (*across)[3];                 // [ntangent + ncompliant_tangent] directions of friction, NULL if unknown
    // Values of points: m, m/s, N s, N
    double (*place)[3], (*direction)[3], (*arrow)[3];                      // [npoint]
    double *gap, *rate, *impulse, *step_impulse, *force, *state, *contact; // [npoint]
    bool has_all;                                                          // writes frames of open contacts, too
    bool shows_load; // a contact was loaded in the last frame written
    pcs_vtk vtk;
} contact_frames_data;

static const pcs_option contact_frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default as for frames, and only while something touches"),
    { .name = NULL },
};

static double contact_frames_finite(double x)
{
    return isfinite(x) ? x : 0.0; // a force that is not defined yet
}

static bool contact_frames_shows(const pcs_system *system, int row)
{
    return !system->contacts[system->rows[row].contact].is_joint;
}

// Stores the values of a row as those of a point.
static void contact_frames_look_at(const contact_frames_data *d, const pcs_system *system, int j, int point)
{
    const pcs_tally_row *from = &d->tally.rows[j];
    const pcs_row *row = &system->rows[j];
    int ntangent = d->across == NULL ? 0 : row->ntangent;
    d->gap[point] = contact_frames_finite(from->gap);
    d->rate[point] = contact_frames_finite(from->rate);
    d->impulse[point] = contact_frames_finite(from->impulse);
    d->step_impulse[point] = contact_frames_finite(from->step_impulse);
    d->force[point] = contact_frames_finite(from->force);
    d->state[point] = (double)from->state;
    d->contact[point] = row->contact;
    memcpy(d->place[point], d->position[j], sizeof *d->place);
    memcpy(d->direction[point], d->normal[j], sizeof *d->direction);
    for (int k = 0; k < 3; k++) d->arrow[point][k] = d->force[point] * d->normal[j][k];
    for (int t = 0; t < ntangent; t++)
        for (int k = 0; k < 3; k++) d->arrow[point][k] += from->tangent[t] * d->across[row->first_tangent + t][k];
}

// Evaluates all contact points, without joints.
static void contact_frames_draw(const pcs_view *view, contact_frames_data *d)
{
    pcs_system *system = view->system;
    const pcs_row_values asked = { .point = d->position, .normal = d->normal, .across = d->across };
    system->ops->evaluate_rows(system, pcs_view_at(view), &asked);
    for (int j = 0, point = 0; j < d->tally.nrow; j++)
        if (contact_frames_shows(system, j)) contact_frames_look_at(d, system, j, point++);
}

// Returns true if a contact was closed or loaded since the last frame.
static bool contact_frames_is_loaded(const contact_frames_data *d, const pcs_system *system)
{
    bool is_loaded = false;
    for (int j = 0; j < d->tally.nrow && !is_loaded; j++) {
        const pcs_tally_row *row = &d->tally.rows[j];
        bool is_active = row->state != PCS_ROW_OPEN || row->impulse != 0.0 || row->step_impulse != 0.0;
        is_loaded = is_active && contact_frames_shows(system, j);
    }
    return pcs_rows_any(system, is_loaded);
}

static bool contact_frames_is_needed(contact_frames_data *d, const pcs_system *system)
{
    bool was_loaded = d->shows_load;
    d->shows_load = contact_frames_is_loaded(d, system);
    return d->has_all || d->shows_load || was_loaded || d->series.count == 0;
}

static pcs_status contact_frames_write(const pcs_view *view, contact_frames_data *d, bool is_end)
{
    pcs_series *s = &d->series;
    if (!pcs_series_is_due(s, view, is_end)) return PCS_OK;
    if (!contact_frames_is_needed(d, view->system)) {
        d->tally.is_fresh = true;
        return PCS_OK;
    }
    contact_frames_draw(view, d);
    pcs_status status = pcs_series_write(s, &d->vtk, d->title, view->state);
    d->tally.is_fresh = true;
    s->has_failed = status != PCS_OK;
    return status;
}

// Writes the title "contacts of bar_impact: 0 wall, 1 floor", which gives the number of every contact.
static void contact_frames_make_title(const pcs_view *view, char *title)
{
    snprintf(title, TITLE_ROOM, "contacts of %s:", view->case_name);
    for (int c = 0; c < view->system->ncontact; c++)
        if (!view->system->contacts[c].is_joint)
            pcs_text_add(title, TITLE_ROOM, "%s %d %s", c == 0 ? "" : ",", c, view->system->contacts[c].name);
}

// Returns the options of these frames; if `every` is not given, those of the model's frames, and none without these.
static const pcs_frames_params *contact_frames_params(const pcs_observer *self)
{
    static const pcs_frames_params none = { .every = 0 };
    const pcs_frames_params *params = self->params;
    if (params->every >= 0) return params;
    for (int i = 0; i < self->view->nobserver; i++) {
        const pcs_observer *other = &self->view->observers[i];
        if (strcmp(other->ops->name, "frames") == 0) return other->params;
    }
    return &none;
}

// Lists the points, a vertex each, and the arrays over them, in the order of one process and without joints.
static pcs_status contact_frames_make_grid(pcs_context *ctx, const pcs_system *system, contact_frames_data *d)
{
    const pcs_vtk_array arrays[] = {
        { "gap", 1, d->gap, false },
        { "gap_velocity", 1, d->rate, false },
        { "impulse", 1, d->impulse, false },
        { "step_impulse", 1, d->step_impulse, false },
        { "force", 1, d->force, false },
        { "normal", 3, d->direction[0], false },
        { "force_vector", 3, d->arrow[0], false },
        { "state", 1, d->state, true },
        { "contact", 1, d->contact, true },
    };
    int *entry, *number = NULL;
    if (pcs_rows_are_spread(system)) PCS_TAKE(ctx, number, d->npoint, "contact results");
    for (int j = 0, point = 0; j < d->tally.nrow && number != NULL; j++)
        if (contact_frames_shows(system, j)) // points with force laws come after joints
            number[point++] = system->row_number[j] - (j < system->nrow ? 0 : pcs_count_conditions(system));
    d->vtk = (pcs_vtk){ .dataset = "POLYDATA", .cell_kind = "VERTICES", .position = d->place[0] };
    PCS_TRY(pcs_collector_create(ctx, d->npoint, number, d->nall, 3, &d->vtk.of_points));
    d->vtk.npoint = d->vtk.ncell = d->vtk.of_points.nall;
    d->vtk.nentry = 2 * d->vtk.ncell;
    PCS_TAKE(ctx, entry, d->vtk.nentry, "contact results");
    for (int i = 0; i < d->vtk.ncell; i++) {
        entry[2 * i] = 1;
        entry[2 * i + 1] = i;
    }
    d->vtk.entry = entry;
    d->vtk.npoint_array = sizeof arrays / sizeof *arrays;
    PCS_TAKE(ctx, d->vtk.point_arrays, d->vtk.npoint_array, "contact results");
    memcpy(d->vtk.point_arrays, arrays, sizeof arrays);
    return PCS_OK;
}

static pcs_status contact_frames_take(pcs_context *ctx, const pcs_system *system, contact_frames_data *d)
{
    int n = d->tally.nrow, ntangent = system->ntangent + system->ncompliant_tangent;
    for (int j = 0; j < n; j++) d->npoint += contact_frames_shows(system, j);
    PCS_TAKE(ctx, d->position, n, "contact points");
    PCS_TAKE(ctx, d->normal, n, "contact normals");
    if (ntangent > 0 && pcs_system_is_mesh(system)) PCS_TAKE(ctx, d->across, ntangent, "directions of friction");
    PCS_TAKE(ctx, d->place, d->npoint, "contact results");
    PCS_TAKE(ctx, d->direction, d->npoint, "contact results");
    PCS_TAKE(ctx, d->arrow, d->npoint, "contact results");
    PCS_TAKE_EACH(ctx, d->npoint, "contact results", double, &d->gap, &d->rate, &d->impulse, &d->step_impulse,
                  &d->force, &d->state, &d->contact);
    d->nall = pcs_rows_are_spread(system) ? pcs_count_points(system) : d->npoint;
    return PCS_OK;
}

static pcs_status contact_frames_open(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    const pcs_view *view = self->view;
    PCS_TRY(pcs_tally_create(self->ctx, view, &d->tally));
    PCS_TRY(pcs_series_create(self->ctx, view, "contacts", &d->series));
    contact_frames_make_title(view, d->title);
    PCS_TRY(contact_frames_take(self->ctx, view->system, d));
    PCS_TRY(contact_frames_make_grid(self->ctx, view->system, d));
    if (d->nall == 0) return PCS_OK;
    const pcs_frames_params *params = contact_frames_params(self);
    d->has_all = params == self->params;
    pcs_series_plan(&d->series, params, view);
    if (d->series.every == 0 || view->is_resumed) return PCS_OK;
    pcs_tally_add(&d->tally, view);
    return contact_frames_write(view, d, true);
}

static pcs_status contact_frames_step(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    if (d->series.every == 0 || d->series.has_failed) return PCS_OK;
    pcs_tally_add(&d->tally, self->view);
    return contact_frames_write(self->view, d, false);
}

static pcs_status contact_frames_close(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    if (d->series.every == 0 || d->series.has_failed) return PCS_OK;
    // The positions must belong to the step whose results were recorded.
    if (d->tally.step != self->view->state->step) return PCS_OK;
    return contact_frames_write(self->view, d, true);
}

static pcs_status contact_frames_carry(pcs_observer *self, pcs_carrier *c)
{
    contact_frames_data *d = self->data;
    if (d->series.every == 0) return PCS_OK;
    pcs_tally_carry(&d->tally, c);
    pcs_carry_flags(c, "shows_load", &d->shows_load, 1);
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
