// Tables that grow with time: history.csv, statics.csv, and <case>.waves.csv further below.
//
// history.csv: one row per step, or per n-th step: energies, momentum, contacts, probes. A static analysis has a table
// statics.csv, which begins with columns of its own and has no rates and impulses.
//
// With every n-th step impulse and step_impulse are sums over the steps since the row before; everything else is
// the value of the row's own step. The first and the last state always have a row. A quantity that does not exist
// (a force before the first step, min_gap without contacts) is an empty field. Joints have their largest error and the
// components of their reaction.

#include "core/clock.h"
#include "core/rotation.h"
#include "core/text.h"
#include "output/file.h"
#include "output/observer.h"
#include "output/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A table of numbers that grows row by row. Complete rows are flushed from time to time or when the buffer is full, so
// that a run can be followed, and a file left by a failure ends with a complete row.
typedef struct row_file {
    pcs_file *file;
    const char *name;   // borrowed
    size_t row_room;    // most bytes of a row
    bool has_failed;    // nothing more is written
    long long complete; // bytes of complete rows on the disk
    double flushed;     // time of the last flush, s
} row_file;

enum { LEAST_BUFFER = 1 << 17 };
static const double flush_interval = 1.0; // s, so that a slow run can be followed

// Creates the file, with a buffer for two rows at least; has_failed is set until it is opened.
static pcs_status row_file_create(pcs_context *ctx, const char *directory, const char *name, size_t ncolumn,
                                  row_file *out)
{
    *out = (row_file){ .name = name, .row_room = ncolumn * (PCS_NUMBER_ROOM + 1), .has_failed = true };
    out->flushed = -INFINITY;
    size_t size = 2 * out->row_room > LEAST_BUFFER ? 2 * out->row_room : LEAST_BUFFER;
    return pcs_file_create(ctx, directory, strlen(name) + 1, size, &out->file);
}

// Opens the file after removing that of an earlier run. The caller may add a header; it is flushed with the first row.
static pcs_status row_file_open(row_file *f)
{
    pcs_file_remove(f->file, f->name);
    PCS_TRY(pcs_file_open(f->file, f->name));
    f->has_failed = false;
    return PCS_OK;
}

// Flushes complete rows; on failure cuts off a partial row.
static pcs_status row_file_flush(row_file *f)
{
    f->flushed = pcs_clock();
    pcs_status status = pcs_file_flush(f->file);
    if (status == PCS_OK) {
        f->complete = f->file->written;
        return PCS_OK;
    }
    // Cuts off a half-written row. The rest keeps the name of an unfinished file.
    f->has_failed = true;
    pcs_file_leave(f->file, f->complete);
    return status;
}

// Adds a row; NAN becomes an empty field.
static void row_file_add(row_file *f, int count, const double *x)
{
    char *begin = pcs_file_reserve(f->file, f->row_room), *p = begin;
    if (begin == NULL) return;
    for (int i = 0; i < count; i++) {
        if (!isnan(x[i])) p += pcs_number_text(x[i], p);
        *p++ = i + 1 < count ? ',' : '\n';
    }
    f->file->used += (size_t)(p - begin);
}

// Adds a row and flushes: after the first one, then from time to time or when the buffer cannot take another one.
static pcs_status row_file_put(row_file *f, int count, const double *x)
{
    row_file_add(f, count, x);
    bool is_full = f->file->used + f->row_room > f->file->size;
    return is_full || pcs_clock() - f->flushed >= flush_interval ? row_file_flush(f) : PCS_OK;
}

static pcs_status row_file_close(row_file *f)
{
    PCS_TRY(row_file_flush(f));
    return pcs_file_commit(f->file);
}

// Saves the length of the complete rows in a checkpoint, or continues after those that a checkpoint lists.
static pcs_status row_file_serialize(row_file *f, pcs_archive *c)
{
    if (c->mode == PCS_ARCHIVE_WRITE) PCS_TRY(row_file_flush(f));
    PCS_TRY(pcs_file_serialize(f->file, f->name, c));
    if (!pcs_archive_reads(c)) return PCS_OK;
    f->complete = f->file->written;
    f->has_failed = false;
    return PCS_OK;
}

typedef struct history_params {
    int every; // steps between rows, 0 for no history
} history_params;

typedef struct history_data {
    row_file file;
    pcs_tally tally;
    pcs_reaction *reactions; // [system->nreaction] of the last step
    pcs_ledger ledger;       // of the last step
    int iterations;          // iterations of the last step
    bool has_row;            // the last step has been written
    bool is_head;            // names of columns are written, not a row
    int count;               // columns of the present row so far
    double *row;             // row being written; NULL while columns are counted
    double *probes;          // [nprobe]
} history_data;

static const pcs_option history_options[] = {
    PCS_COUNT("every", history_params, every, PCS_DEFAULT("1"), PCS_NOT_NEGATIVE,
              "steps from row to row, 0: no history; impulses are summed over the steps in between"),
    { .name = NULL },
};

// Adds a column to the row, or its name to the head.
static void history_put(history_data *d, const char *name, int point, const char *what, double x)
{
    if (d->is_head && d->count == 0) pcs_file_text(d->file.file, name);
    else if (d->is_head) pcs_file_column(d->file.file, name, point, what);
    else if (d->row != NULL) d->row[d->count] = x;
    d->count++;
}

// Puts the columns of a run that are not of contacts.
static void history_put_fixed(history_data *d, const pcs_system *system)
{
    const pcs_tally *tally = &d->tally;
    const pcs_ledger *l = &d->ledger;
    const double *momentum = l->now.momentum;
    double step = (double)tally->step, active = (double)tally->nactive;
    const double x[] = { tally->t,          step,
                         l->now.kinetic,    l->now.strain,
                         l->now.potential,  l->external_work,
                         l->damping_loss,   l->impact_loss,
                         l->friction_loss,  l->correction_work,
                         l->numerical_loss, momentum[0],
                         momentum[1],       momentum[2],
                         tally->min_gap,    active,
                         d->iterations };
    if (d->is_head)
        pcs_file_text(d->file.file,
                      "t,step,kinetic,strain,potential,external_work,damping_loss,impact_loss,friction_loss,"
                      "correction_work,numerical_loss,momentum_x,momentum_y,momentum_z,min_gap,active,iterations");
    else if (d->row != NULL) memcpy(d->row, x, sizeof x);
    d->count = sizeof x / sizeof *x;
    if (system->has_materials) history_put(d, "material_loss", -1, NULL, l->material_loss);
}

// Returns the largest slip in the rows of a contact, with its sign for one direction.
static double history_slip(const pcs_view *view, int first, int count)
{
    double largest = 0.0;
    for (int j = first; j < first + count; j++) {
        const double *x = view->report->rows[j].slip;
        double slip = view->system->rows[j].ntangent == 2 ? hypot(x[0], x[1]) : x[0];
        if (fabs(slip) > fabs(largest)) largest = slip;
    }
    return largest;
}

// Writes a contact with point < 0, else one of its points.
static void history_put_contact(history_data *d, const pcs_view *view, const pcs_contact_info *contact, int point,
                                const pcs_tally_row *row)
{
    // Before the first step there is a force or an impulse only when the start was an impact.
    bool is_still = view->columns != NULL, is_start = d->tally.step == 0 && !is_still;
    bool has_friction = contact->ntangent > 0 && !view->is_smooth;
    bool has_force = !is_start || (isfinite(row->force) && row->force != 0.0);
    bool has_impulse = !is_start || row->step_impulse != 0.0;
    int first = contact->first_row + (point < 0 ? 0 : point), count = point < 0 ? contact->nrow : 1;
    double slip = is_still && !d->is_head ? history_slip(view, first, count) : 0.0;
    const struct {
        const char *name;
        double value;
        bool exists, is_known;
    } columns[] = { { "gap", row->gap, true, true },
                    { "gap_rate", row->rate, !is_still, true },
                    { "force", row->force, true, has_force },
                    { "impulse", row->impulse, !is_still, has_impulse },
                    { "step_impulse", row->step_impulse, !is_still, has_impulse },
                    { "friction", row->friction, has_friction, has_force },
                    { "slip", slip, has_friction && is_still, true },
                    { "state", (double)row->state, has_friction, true },
                    { "friction_loss", row->friction_loss, has_friction && !is_still, true } };
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        if (columns[k].exists)
            history_put(d, contact->name, point, columns[k].name, columns[k].is_known ? columns[k].value : NAN);
}

static void history_put_reaction(history_data *d, const pcs_view *view, int r)
{
    const pcs_reaction_info *info = &view->system->reactions[r];
    const pcs_reaction *x = &d->reactions[r];
    // Before the first step only a scheme that computes forces has some.
    const double *f = x->force, *m = x->moment;
    double size = fabs(f[0]) + fabs(f[1]) + fabs(f[2]) + fabs(m[0]) + fabs(m[1]) + fabs(m[2]);
    bool is_still = view->columns != NULL, is_known = is_still || d->tally.step > 0 || size > 0.0;
    if (info->contact >= 0 && !is_still) history_put(d, info->name, -1, "gap", -d->tally.sums[info->contact].gap);
    for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
        if (pcs_reaction_has(info, k))
            history_put(d, info->name, -1, pcs_reaction_names[k], is_known ? pcs_reaction_component(x, k) : NAN);
}

// Puts all columns; rows [points of all processes] are not read for the head.
static void history_put_all(history_data *d, const pcs_view *view, const pcs_tally_row *rows)
{
    static const pcs_tally_row none = { 0 };
    const pcs_system *system = view->system;
    d->count = 0;
    for (int i = 0; i < view->ncolumn; i++) history_put(d, view->columns[i].name, -1, NULL, view->columns[i].value);
    if (view->columns == NULL) history_put_fixed(d, system);
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        for (int i = -1; !contact->is_joint && i < (contact->writes_points ? contact->nall : 0); i++) {
            const pcs_tally_row *point = rows == NULL || i < 0 ? &none : &rows[contact->first_all + i];
            history_put_contact(d, view, contact, i, i < 0 ? &d->tally.sums[c] : point);
        }
    }
    for (int r = 0; r < system->nreaction; r++) history_put_reaction(d, view, r);
    for (int p = 0; p < view->nprobe; p++) history_put(d, view->probes[p].column, -1, NULL, d->probes[p]);
}

// Writes the row of the last step that was recorded. `has_state`: the view's state is of that step.
static pcs_status history_put_row(const pcs_view *view, history_data *d, bool has_state)
{
    d->has_row = true;
    d->tally.is_fresh = true;
    const pcs_tally_row *rows = pcs_tally_join(&d->tally, view->system);
    for (int k = 0; k < view->nprobe; k++) { // all processes take part
        const pcs_probe *probe = &view->probes[k];
        d->probes[k] = NAN;
        if (has_state && view->still != NULL)
            d->probes[k] = view->system->ops->probe(view->system, probe, *view->still);
        else if (has_state) d->probes[k] = pcs_state_probe(view->state, view->system, probe);
    }
    if (rows == NULL) return PCS_OK;
    history_put_all(d, view, rows);
    return row_file_put(&d->file, d->count, d->row);
}

static void history_take_in(const pcs_view *view, history_data *d)
{
    pcs_tally_add(&d->tally, view);
    for (int r = 0; r < view->system->nreaction; r++) d->reactions[r] = view->reactions[r];
    if (view->ledger != NULL) d->ledger = *view->ledger;
    d->iterations = view->report->iterations;
    d->has_row = false;
}

static pcs_status history_open(pcs_observer *self)
{
    history_data *d = self->data;
    const pcs_view *view = self->view;
    const char *name = view->columns == NULL ? "history.csv" : "statics.csv";
    d->file.has_failed = true; // cleared once all is allocated
    PCS_TAKE(self->ctx, d->reactions, view->system->nreaction, "reactions");
    PCS_TAKE(self->ctx, d->probes, view->nprobe, "probes");
    PCS_TRY(pcs_tally_create(self->ctx, view, &d->tally));
    history_put_all(d, view, NULL);
    PCS_TRY(row_file_create(self->ctx, view->directory, name, (size_t)d->count, &d->file));
    if (((const history_params *)self->params)->every == 0) {
        pcs_file_remove(d->file.file, name);
        return PCS_OK;
    }
    PCS_TAKE(self->ctx, d->row, d->count, "a row of a table");
    if (view->is_resumed) return PCS_OK;
    PCS_TRY(row_file_open(&d->file));
    d->is_head = true;
    history_put_all(d, view, NULL);
    pcs_file_text(d->file.file, "\n");
    d->is_head = false;
    history_take_in(view, d);
    return history_put_row(view, d, true);
}

static pcs_status history_step(pcs_observer *self)
{
    history_data *d = self->data;
    if (d->file.has_failed) return PCS_OK;
    history_take_in(self->view, d);
    if (d->tally.step % ((const history_params *)self->params)->every != 0) return PCS_OK;
    return history_put_row(self->view, d, true);
}

static pcs_status history_close(pcs_observer *self)
{
    history_data *d = self->data;
    if (d->file.has_failed) return PCS_OK;
    if (!d->has_row) PCS_TRY(history_put_row(self->view, d, self->view->state->step == d->tally.step));
    return row_file_close(&d->file);
}

static pcs_status history_serialize(pcs_observer *self, pcs_archive *c)
{
    history_data *d = self->data;
    if (((const history_params *)self->params)->every == 0) return PCS_OK;
    pcs_tally_serialize(&d->tally, c);
    pcs_archive_words(c, "reactions", d->reactions, (size_t)self->view->system->nreaction * sizeof *d->reactions / 8);
    pcs_archive_words(c, "ledger", &d->ledger, PCS_LEDGER_WORDS);
    pcs_archive_int(c, "iterations", &d->iterations);
    pcs_archive_flags(c, "has_row", &d->has_row, 1);
    return row_file_serialize(&d->file, c);
}

const pcs_observer_ops pcs_observer_history = {
    .name = "history",
    .summary = "energies, momentum, contacts and probes over time as history.csv",
    .options = history_options,
    .params_size = sizeof(history_params),
    .data_size = sizeof(history_data),
    .is_default = true,
    .open = history_open,
    .step = history_step,
    .close = history_close,
    .serialize = history_serialize,
};

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

enum { NAME_ROOM = 256, NODE_FIELDS = 6, DEFAULT_ROWS = 400 };
static const char *const waves_node_fields[NODE_FIELDS + 1] = { "ux", "uy", "uz", "vx", "vy", "vz", NULL };

typedef struct waves_params {
    pcs_names body, of;
    int every; // steps between rows, -1 if not given
} waves_params;

typedef struct waves_data {
    row_file rows;
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

static pcs_status waves_check(const pcs_observer *self, char place[PCS_OBSERVER_PLACE])
{
    const waves_params *p = self->params;
    const pcs_picture *picture = self->view->system->picture;
    char known[512] = "";
    if (self->view->mesh == NULL)
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "a system in closed form has no body with cells");
    for (int k = 0; k < picture->nfield; k++) pcs_text_add(known, sizeof known, ", %s", picture->field_names[k]);
    for (int k = 0; k < p->of.count; k++) {
        snprintf(place, PCS_OBSERVER_PLACE, "of.%d", k);
        if (waves_find_field(picture, p->of.text[k]) < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT,
                            "there is no field '%.80s' over a body: there are ux, uy, uz, vx, vy, vz%s", p->of.text[k],
                            known);
    }
    return PCS_OK;
}

static double waves_length(const pcs_mesh *mesh, int cell)
{
    const double *a = mesh->x[mesh->cell[cell][0]], *b = mesh->x[mesh->cell[cell][1]];
    return pcs_norm3((double[3]){ b[0] - a[0], b[1] - a[1], b[2] - a[2] });
}

// Returns the distance, m, between the middles of two cells: along both if they share a node, else straight.
static double waves_advance(const pcs_mesh *mesh, int from, int to)
{
    const int *a = mesh->cell[from], *b = mesh->cell[to];
    double way[3];
    if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])
        return 0.5 * (waves_length(mesh, from) + waves_length(mesh, to));
    for (int k = 0; k < 3; k++)
        way[k] = 0.5 * (mesh->x[b[0]][k] + mesh->x[b[1]][k]) - 0.5 * (mesh->x[a[0]][k] + mesh->x[a[1]][k]);
    return pcs_norm3(way);
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
    row_file_add(&d->rows, (int)(x - d->row), d->row);
}

static pcs_status waves_put_row(const pcs_view *view, int nfield, waves_data *d)
{
    pcs_system *system = view->system;
    pcs_picture *picture = system->picture;
    d->last = view->state->step;
    system->ops->draw(system, pcs_view_at(view), picture); // all processes take part
    d->row[0] = view->state->t;
    for (int k = 0; k < nfield; k++) {
        int field = d->field[k], axis = field % 3;
        double(*x)[3] = field < 3 ? picture->displacement : picture->velocity;
        for (int c = 0; c < picture->ncell; c++)
            d->own[c] = field < NODE_FIELDS ? 0.5 * (x[picture->cells[c][0]][axis] + x[picture->cells[c][1]][axis])
                                            : picture->fields[field - NODE_FIELDS][c];
        const double *all = pcs_collect(&d->collector, 1, d->own);
        double *row = d->row + 1 + k * d->cells.count;
        int nplace = all == NULL ? 0 : d->cells.count;
        for (int i = 0; i < nplace; i++) row[i] = all[pcs_mesh_cell_number(view->mesh, d->cells.items[i])];
    }
    return row_file_put(&d->rows, 1 + nfield * d->cells.count, d->row);
}

// Lists the cells of all bodies, which the reader of the case has found, one after the other.
static pcs_status waves_find_cells(const pcs_observer *self, const pcs_names *bodies, pcs_set *cells)
{
    const pcs_mesh *mesh = self->view->mesh;
    int *items;
    for (int k = 0; k < bodies->count; k++) cells->count += pcs_mesh_cell_set(mesh, bodies->text[k])->count;
    PCS_TAKE(self->ctx, items, cells->count, "waves");
    cells->items = items;
    for (int k = 0; k < bodies->count; k++) {
        const pcs_set *set = pcs_mesh_cell_set(mesh, bodies->text[k]);
        for (int i = 0; i < set->count; i++) *items++ = set->items[i];
    }
    return PCS_OK;
}

// Plans to collect a number of each cell, in the order of the mesh. Collective.
static pcs_status waves_plan(pcs_context *ctx, const pcs_view *view, pcs_collector *out)
{
    const pcs_picture *picture = view->system->picture;
    if (pcs_process_count(ctx) == 1) return pcs_collector_create(ctx, picture->ncell, NULL, picture->ncell, 1, out);
    int *number = pcs_take(ctx, (size_t)picture->ncell, sizeof *number, "the cells of the picture");
    PCS_TRY(pcs_agree(ctx, number == NULL ? PCS_NO_MEMORY : PCS_OK));
    for (int c = 0; c < picture->ncell; c++) number[c] = pcs_mesh_cell_number(view->mesh, picture->cell_numbers[c]);
    return pcs_collector_create(ctx, picture->ncell, number, picture->nall_cell, 1, out);
}

static pcs_status waves_open(pcs_observer *self)
{
    waves_data *d = self->data;
    const waves_params *p = self->params;
    const pcs_view *view = self->view;
    d->rows.has_failed = true; // cleared once all is allocated
    PCS_TRY(waves_find_cells(self, &p->body, &d->cells));
    PCS_TAKE(self->ctx, d->field, p->of.count, "waves");
    for (int k = 0; k < p->of.count; k++) d->field[k] = waves_find_field(view->system->picture, p->of.text[k]);
    snprintf(d->name, sizeof d->name, "%.200s.waves.csv", view->case_name);
    size_t ncolumn = 1 + (size_t)p->of.count * (size_t)d->cells.count;
    PCS_TRY(row_file_create(self->ctx, view->directory, d->name, ncolumn, &d->rows));
    PCS_TAKE(self->ctx, d->row, ncolumn, "waves");
    double steps = view->is_controlled ? view->end_time / view->step_size : (double)view->nstep;
    d->every = steps > DEFAULT_ROWS ? (long)ceil(steps / DEFAULT_ROWS) : 1;
    if (p->every > 0) d->every = p->every;
    PCS_TAKE(self->ctx, d->own, view->system->picture->ncell, "waves");
    PCS_TRY(waves_plan(self->ctx, view, &d->collector));
    if (view->is_resumed) return PCS_OK;
    PCS_TRY(row_file_open(&d->rows));
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
    return row_file_close(&d->rows);
}

static pcs_status waves_serialize(pcs_observer *self, pcs_archive *c)
{
    waves_data *d = self->data;
    pcs_archive_words(c, "last", &d->last, 1);
    return row_file_serialize(&d->rows, c);
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
    .serialize = waves_serialize,
};
