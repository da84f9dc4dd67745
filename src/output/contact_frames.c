// Frames of the contact points for ParaView: one vertex per point with gap, force, impulses, normal and state.
// The arrow of the force has its friction, too.
//
// impulse and step_impulse are sums since the frame before, be it written or not, so that no impact
// is lost between two frames; gap, gap_velocity, force and state are those of the frame's own step: 0 open, 1 closed
// (it sticks, where there is friction), 2 slides.
//
// By default frames are due with those of the model, and only these are written: the first one, those in which a point
// is closed or has passed on an impulse, and the next one after these. A viewer shows the last frame that is no later;
// the others would repeat open contacts.

#include "output/series.h"
#include "output/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE_ROOM = 256 };

// Holds the values written for one contact point: m, m/s, N s, N.
typedef struct contact_shown {
    double position[3], normal[3], arrow[3];
    double gap, rate, impulse, step_impulse, force;
    double state, contact;
} contact_shown;
enum { SHOWN_NUMBERS = 16, SHOWN_ARRAYS = 9 };
_Static_assert(sizeof(contact_shown) == SHOWN_NUMBERS * sizeof(double), "numbers without gaps, for other processes");

typedef struct contact_frames_data {
    pcs_series series;
    pcs_tally tally;
    char title[TITLE_ROOM];
    int npoint, *row;                    // [npoint] contact points of this process, by their index in reports
    double (*position)[3], (*normal)[3]; // [nrow + ncompliant]
    double (*across)[3];                 // [ntangent + ncompliant_tangent] directions of friction, NULL if unknown
    contact_shown *points;               // [npoint]
    pcs_collect collect;                 // gathers points that are distributed over processes
    contact_shown *shown;                // [nshown] points of all processes on the one that writes; else those above
    int nshown;
    bool has_all;    // writes frames of open contacts, too
    bool shows_load; // a contact was loaded in the last frame written
    pcs_vtk vtk;
    pcs_vtk_array arrays[SHOWN_ARRAYS];
    int *entry; // [2 nshown]
} contact_frames_data;

static const pcs_option contact_frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default as for frames, and only while something touches"),
    { .name = NULL },
};

static double contact_frames_finite(double x)
{
    return isfinite(x) ? x : 0.0; // a force that does not exist yet
}

static void contact_frames_look_at(const contact_frames_data *d, const pcs_system *system, int point)
{
    const pcs_tally_row *from = &d->tally.rows[d->row[point]];
    const pcs_row *row = &system->rows[d->row[point]];
    contact_shown *to = &d->points[point];
    int ntangent = d->across == NULL ? 0 : row->ntangent;
    *to = (contact_shown){ .gap = contact_frames_finite(from->gap),
                           .rate = contact_frames_finite(from->rate),
                           .impulse = contact_frames_finite(from->impulse),
                           .step_impulse = contact_frames_finite(from->step_impulse),
                           .force = contact_frames_finite(from->force),
                           .state = (double)from->state,
                           .contact = row->contact };
    memcpy(to->position, d->position[d->row[point]], sizeof to->position);
    memcpy(to->normal, d->normal[d->row[point]], sizeof to->normal);
    for (int k = 0; k < 3; k++) to->arrow[k] = to->force * to->normal[k];
    for (int t = 0; t < ntangent; t++)
        for (int k = 0; k < 3; k++) to->arrow[k] += from->tangent[t] * d->across[row->first_tangent + t][k];
}

// Evaluates all contact points, without joints, and gathers them on the process that writes.
static void contact_frames_draw(const pcs_view *view, contact_frames_data *d)
{
    pcs_system *system = view->system;
    const pcs_row_values asked = { .point = d->position, .normal = d->normal, .across = d->across };
    system->ops->evaluate_rows(system, pcs_view_at(view), &asked);
    for (int j = 0; j < d->npoint; j++) contact_frames_look_at(d, system, j);
    pcs_collect_put(&d->collect, SHOWN_NUMBERS, d->points->position, d->shown->position);
}

// Returns true if a contact was closed or loaded since the last frame.
static bool contact_frames_is_loaded(const contact_frames_data *d, const pcs_system *system)
{
    bool is_loaded = false;
    for (int j = 0; j < d->npoint; j++) {
        const pcs_tally_row *row = &d->tally.rows[d->row[j]];
        is_loaded = is_loaded || row->state != PCS_ROW_OPEN || row->impulse != 0.0 || row->step_impulse != 0.0;
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
    contact_frames_draw(view, d); // before anything can go wrong with the file: all processes take part
    pcs_status status = pcs_series_write(s, &d->vtk, d->title, view->state);
    d->tally.is_fresh = true;
    s->has_failed = status != PCS_OK;
    return status;
}

// Writes the title "contacts of bar_impact: 0 wall, 1 floor", which gives the number of every contact.
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

// Allocates the points that are shown, a vertex each, and the arrays over them.
static pcs_status contact_frames_make_data(pcs_context *ctx, contact_frames_data *d)
{
    const contact_shown *x = d->shown;
    const pcs_vtk_array arrays[SHOWN_ARRAYS] = {
        { "gap", 1, &x->gap, SHOWN_NUMBERS, false },
        { "gap_velocity", 1, &x->rate, SHOWN_NUMBERS, false },
        { "impulse", 1, &x->impulse, SHOWN_NUMBERS, false },
        { "step_impulse", 1, &x->step_impulse, SHOWN_NUMBERS, false },
        { "force", 1, &x->force, SHOWN_NUMBERS, false },
        { "normal", 3, x->normal, SHOWN_NUMBERS, false },
        { "force_vector", 3, x->arrow, SHOWN_NUMBERS, false },
        { "state", 1, &x->state, SHOWN_NUMBERS, true },
        { "contact", 1, &x->contact, SHOWN_NUMBERS, true },
    };
    PCS_TAKE(ctx, d->entry, 2 * (size_t)d->nshown, "contact results");
    for (int i = 0; i < d->nshown; i++) {
        d->entry[2 * i] = 1;
        d->entry[2 * i + 1] = i;
    }
    memcpy(d->arrays, arrays, sizeof arrays);
    d->vtk = (pcs_vtk){ .dataset = "POLYDATA", .cell_kind = "VERTICES", .position = x->position };
    d->vtk.position_stride = SHOWN_NUMBERS;
    d->vtk.npoint = d->vtk.ncell = d->nshown;
    d->vtk.nentry = 2 * d->nshown;
    d->vtk.entry = d->entry;
    d->vtk.point_arrays = d->arrays;
    d->vtk.npoint_array = SHOWN_ARRAYS;
    return PCS_OK;
}

static pcs_status contact_frames_take_shown(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    const pcs_system *system = self->view->system;
    PCS_TAKE(self->ctx, d->points, d->npoint, "contact results");
    d->shown = d->points;
    d->nshown = d->npoint;
    if (pcs_rows_are_spread(system)) {
        int *number; // among those that are shown: points with force laws come after joints
        d->nshown = pcs_is_root(self->ctx) ? pcs_count_points(system) : 0;
        PCS_TAKE(self->ctx, d->shown, d->nshown, "contact results");
        PCS_TAKE(self->ctx, number, d->npoint, "contact results");
        for (int j = 0; j < d->npoint; j++)
            number[j] = system->row_number[d->row[j]] - (d->row[j] < system->nrow ? 0 : pcs_count_conditions(system));
        PCS_TRY(pcs_collect_create(self->ctx, d->npoint, number, &d->collect));
    }
    return contact_frames_make_data(self->ctx, d);
}

static pcs_status contact_frames_open(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    const pcs_view *view = self->view;
    int n = pcs_system_npoint(view->system);
    PCS_TAKE(self->ctx, d->position, n, "contact points");
    PCS_TAKE(self->ctx, d->normal, n, "contact normals");
    int ntangent = view->system->ntangent + view->system->ncompliant_tangent;
    if (ntangent > 0 && pcs_system_is_mesh(view->system))
        PCS_TAKE(self->ctx, d->across, ntangent, "directions of friction");
    PCS_TRY(pcs_tally_create(self->ctx, view, &d->tally));
    PCS_TRY(pcs_series_create(self->ctx, view, "contacts", &d->series));
    contact_frames_make_title(view, d->title);
    d->npoint = pcs_contact_rows(view->system);
    PCS_TAKE(self->ctx, d->row, d->npoint, "contact points");
    for (int j = 0; j < d->npoint; j++) d->row[j] = pcs_contact_row(view->system, j);
    PCS_TRY(contact_frames_take_shown(self));
    if (d->npoint == 0 && !pcs_rows_are_spread(view->system)) return PCS_OK;
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
    // The positions must belong to the step whose results were taken in.
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
