// <case>.waves.csv: fields of a body, or of bodies one behind the other, over position and time, as a matrix.
//
//   # percuss waves: body bar, 200 cells, fields stress vx
//   # percuss waves: body striker (60), bar (400), 460 cells, fields stress         of several, with their cells
//   400, s1, .., s200, s1, .., s200        columns, and positions of cells
//   t1, stress at s1 .. s200, vx at s1 .. s200
//   t2, ...
//
// The position s of a cell is that of its middle, m, measured along the bodies from the start of the first cell in the
// reference state. Displacements ux.. and velocities vx.. of a cell are the means of its nodes.

#include "output/file.h"
#include "output/observer.h"

#include "core/rotation.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 256, NODE_FIELDS = 6, DEFAULT_ROWS = 400 };
static const char *const waves_node_fields[NODE_FIELDS + 1] = { "ux", "uy", "uz", "vx", "vy", "vz", NULL };

typedef struct waves_params {
    pcs_names body, of;
    int every; // steps between rows, -1 if not given
} waves_params;

typedef struct waves_data {
    pcs_row_file rows;
    pcs_set cells; // cells of all bodies
    int *field;    // [of.count] index into waves_node_fields, or NODE_FIELDS + that of the picture
    long every;
    long last; // step of the last row
    char name[NAME_ROOM];
    double *own; // [cells of the picture] values of one field
    double *row; // [columns] row being written
    pcs_collector collector;
} waves_data;

static const pcs_option waves_options[] = {
    PCS_NAMES("body", waves_params, body, PCS_REQUIRED,
              "mesh part or set of cells along a line, or a list of them in their order along it"),
    PCS_NAMES("of", waves_params, of, PCS_REQUIRED,
              "fields of the cells, such as stress, and ux, uy, uz, vx, vy, vz in their middle"),
    PCS_COUNT("every", waves_params, every, PCS_OPTIONAL, PCS_POSITIVE,
              "steps from row to row; by default about 400 rows over the run"),
    { .name = NULL },
};

static const char *const waves_cell_options[] = { "body", NULL };

// Returns the index of a field, -1 if there is none of this name.
static int waves_find_field(const pcs_picture *picture, const char *name)
{
    for (int k = 0; k < NODE_FIELDS; k++)
        if (strcmp(waves_node_fields[k], name) == 0) return k;
    for (int k = 0; k < picture->nfield; k++)
        if (strcmp(picture->field_names[k], name) == 0) return NODE_FIELDS + k;
    return -1;
}

static pcs_status waves_reject_field(const pcs_observer *self, const char *name)
{
    const pcs_picture *picture = self->view->system->picture;
    char known[512] = "";
    for (int k = 0; k < picture->nfield; k++) pcs_text_add(known, sizeof known, ", %s", picture->field_names[k]);
    return pcs_fail(self->ctx, PCS_BAD_INPUT,
                    "there is no field '%.80s' over a body: there are ux, uy, uz, vx, vy, vz%s", name, known);
}

static pcs_status waves_check(const pcs_observer *self, char place[PCS_OBSERVER_PLACE])
{
    const waves_params *p = self->params;
    if (self->view->mesh == NULL)
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "a system in closed form has no body with cells");
    if (p->of.count == 0) return pcs_fail(self->ctx, PCS_BAD_INPUT, "'of' is empty, needs fields such as stress or vx");
    for (int k = 0; k < p->of.count; k++) {
        snprintf(place, PCS_OBSERVER_PLACE, "of.%d", k);
        if (waves_find_field(self->view->system->picture, p->of.text[k]) < 0)
            return waves_reject_field(self, p->of.text[k]);
    }
    return PCS_OK;
}

static double waves_distance(const double a[3], const double b[3])
{
    double way[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
    return pcs_norm3(way);
}

static void waves_middle(const pcs_mesh *mesh, int cell, double out[3])
{
    const int *node = mesh->cell[cell];
    for (int k = 0; k < 3; k++) out[k] = 0.5 * (mesh->x[node[0]][k] + mesh->x[node[1]][k]);
}

static double waves_length(const pcs_mesh *mesh, int cell)
{
    return waves_distance(mesh->x[mesh->cell[cell][0]], mesh->x[mesh->cell[cell][1]]);
}

// Returns the distance, m, between the middles of two cells: along both if they share a node, else straight.
static double waves_advance(const pcs_mesh *mesh, int from, int to)
{
    const int *a = mesh->cell[from], *b = mesh->cell[to];
    double x[3], y[3];
    if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])
        return 0.5 * (waves_length(mesh, from) + waves_length(mesh, to));
    waves_middle(mesh, from, x);
    waves_middle(mesh, to, y);
    return waves_distance(x, y);
}

static void waves_put_head(const pcs_view *view, const waves_params *p, waves_data *d)
{
    pcs_file *f = d->rows.file;
    const pcs_mesh *mesh = view->mesh;
    pcs_file_text(f, "# percuss waves: body ");
    for (int k = 0; k < p->body.count; k++) {
        pcs_file_print(f, k == 0 ? "%.128s" : ", %.128s", p->body.text[k]);
        if (p->body.count > 1) pcs_file_print(f, " (%d)", pcs_mesh_cell_set(mesh, p->body.text[k])->count);
    }
    pcs_file_print(f, ", %d cells, fields", d->cells.count);
    for (int k = 0; k < p->of.count; k++) pcs_file_print(f, " %.128s", p->of.text[k]);
    pcs_file_text(f, "\n");
    double *x = d->row;
    *x++ = (double)p->of.count * d->cells.count;
    for (int k = 0; k < p->of.count; k++) {
        double place = 0.5 * waves_length(mesh, d->cells.items[0]);
        for (int i = 0; i < d->cells.count; i++) {
            if (i > 0) place += waves_advance(mesh, d->cells.items[i - 1], d->cells.items[i]);
            *x++ = place;
        }
    }
    pcs_row_file_add(&d->rows, (int)(x - d->row), d->row);
}

static double waves_value(const pcs_picture *picture, int field, int cell)
{
    if (field >= NODE_FIELDS) return picture->fields[field - NODE_FIELDS][cell];
    const int *node = picture->cells[cell];
    const double(*x)[3] = (const double(*)[3])(field < 3 ? picture->displacement : picture->velocity);
    return 0.5 * (x[node[0]][field % 3] + x[node[1]][field % 3]);
}

static pcs_status waves_put_row(const pcs_view *view, int nfield, waves_data *d)
{
    pcs_system *system = view->system;
    d->last = view->state->step;
    system->ops->draw(system, pcs_view_at(view), system->picture); // all processes take part
    d->row[0] = view->state->t;
    for (int k = 0; k < nfield; k++) {
        for (int c = 0; c < system->picture->ncell; c++) d->own[c] = waves_value(system->picture, d->field[k], c);
        const double *all = pcs_collect(&d->collector, 1, d->own);
        double *row = d->row + 1 + k * d->cells.count;
        int nplace = all == NULL ? 0 : d->cells.count;
        for (int i = 0; i < nplace; i++) row[i] = all[pcs_mesh_cell_number(view->mesh, d->cells.items[i])];
    }
    return pcs_row_file_put(&d->rows, 1 + nfield * d->cells.count, d->row);
}

static long waves_every(const waves_params *p, const pcs_view *view)
{
    if (p->every > 0) return p->every;
    double steps = view->is_controlled ? view->end_time / view->step_size : (double)view->nstep;
    return steps > DEFAULT_ROWS ? (long)ceil(steps / DEFAULT_ROWS) : 1;
}

// Lists the cells of all bodies, one after the other.
static pcs_status waves_find_cells(const pcs_observer *self, const pcs_names *bodies, pcs_set *cells)
{
    const pcs_mesh *mesh = self->view->mesh;
    int *items;
    if (bodies->count == 0) return pcs_fail(self->ctx, PCS_BAD_INPUT, "'body' is empty, needs a mesh part");
    for (int k = 0; k < bodies->count; k++) {
        const pcs_set *set = pcs_mesh_cell_set(mesh, bodies->text[k]);
        if (set == NULL || set->count == 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "there are no cells in a set '%s'", bodies->text[k]);
        cells->count += set->count;
    }
    PCS_TAKE(self->ctx, items, cells->count, "waves");
    cells->items = items;
    for (int k = 0; k < bodies->count; k++) {
        const pcs_set *set = pcs_mesh_cell_set(mesh, bodies->text[k]);
        memcpy(items, set->items, (size_t)set->count * sizeof *items);
        items += set->count;
    }
    return PCS_OK;
}

static pcs_status waves_open(pcs_observer *self)
{
    waves_data *d = self->data;
    const waves_params *p = self->params;
    const pcs_view *view = self->view;
    d->rows.has_failed = true; // cleared once all is allocated
    char place[PCS_OBSERVER_PLACE];
    PCS_TRY(waves_check(self, place));
    PCS_TRY(waves_find_cells(self, &p->body, &d->cells));
    PCS_TAKE(self->ctx, d->field, p->of.count, "waves");
    for (int k = 0; k < p->of.count; k++) d->field[k] = waves_find_field(view->system->picture, p->of.text[k]);
    snprintf(d->name, sizeof d->name, "%.200s.waves.csv", view->case_name);
    size_t ncolumn = 1 + (size_t)p->of.count * (size_t)d->cells.count;
    PCS_TRY(pcs_row_file_create(self->ctx, view->directory, d->name, ncolumn, &d->rows));
    PCS_TAKE(self->ctx, d->row, ncolumn, "waves");
    d->every = waves_every(p, view);
    PCS_TAKE(self->ctx, d->own, view->system->picture->ncell, "waves");
    PCS_TRY(pcs_collect_cells(self->ctx, view, 1, &d->collector));
    if (view->is_resumed) return PCS_OK;
    PCS_TRY(pcs_row_file_open(&d->rows));
    waves_put_head(view, p, d);
    return waves_put_row(view, p->of.count, d);
}

static pcs_status waves_step(pcs_observer *self)
{
    waves_data *d = self->data;
    if (d->rows.has_failed || self->view->state->step % d->every != 0) return PCS_OK;
    return waves_put_row(self->view, ((const waves_params *)self->params)->of.count, d);
}

static pcs_status waves_close(pcs_observer *self)
{
    waves_data *d = self->data;
    if (d->rows.has_failed) return PCS_OK;
    if (d->last != self->view->state->step)
        PCS_TRY(waves_put_row(self->view, ((const waves_params *)self->params)->of.count, d));
    return pcs_row_file_close(&d->rows);
}

static pcs_status waves_carry(pcs_observer *self, pcs_carrier *c)
{
    waves_data *d = self->data;
    pcs_carry_words(c, "last", &d->last, 1);
    return pcs_row_file_carry(&d->rows, c);
}

const pcs_observer_ops pcs_observer_waves = {
    .name = "waves",
    .summary = "fields along bodies over position and time as <case>.waves.csv, for x-t diagrams",
    .options = waves_options,
    .params_size = sizeof(waves_params),
    .data_size = sizeof(waves_data),
    .cell_options = waves_cell_options,
    .check = waves_check,
    .open = waves_open,
    .step = waves_step,
    .close = waves_close,
    .carry = waves_carry,
};
