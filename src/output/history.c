// history.csv: one row per step, or per n-th step: energies, momentum, contacts, probes.
//
// With every n-th step impulse and step_impulse are sums over the steps since the row before; everything else is
// the value of the row's own step. The first and the last state always have a row. A quantity that does not exist
// (a force before the first step, min_gap without contacts) is an empty field. Joints have their largest error and the
// components of their reaction.

#include "output/file.h"
#include "output/tally.h"

#include <math.h>
#include <string.h>

enum { FIXED_COLUMNS = 18, PLAIN_COLUMNS = 5 };
enum { GAP, GAP_RATE, FORCE, IMPULSE, STEP_IMPULSE, FRICTION, STATE, FRICTION_LOSS, CONTACT_COLUMNS };

typedef struct history_params {
    int every; // steps between rows, 0 for no history
} history_params;

typedef struct history_data {
    pcs_row_file file;
    pcs_tally tally;
    pcs_reaction *reactions; // [system->nreaction] of the last step
    pcs_ledger ledger;       // of the last step
    int iterations;          // iterations of the last step
    bool has_row;            // the last step has been written
    int ncolumn;             // most columns
    double *row;             // [ncolumn] row being written
} history_data;

static const pcs_option history_options[] = {
    PCS_COUNT("every", history_params, every, PCS_DEFAULT("1"), PCS_NOT_NEGATIVE,
              "steps from row to row, 0: no history; impulses are summed over the steps in between"),
    { .name = NULL },
};

static const char *const history_contact_columns[CONTACT_COLUMNS] = { "gap",     "gap_rate",     "force",
                                                                      "impulse", "step_impulse", "friction",
                                                                      "state",   "friction_loss" };

// Returns the number of columns of a contact; the last ones exist only with friction.
static int history_contact_columns_of(const pcs_system *system, int contact)
{
    return system->contacts[contact].ntangent > 0 ? CONTACT_COLUMNS : PLAIN_COLUMNS;
}

// Returns the number of points of a contact that have columns of their own.
static int history_points_of(const pcs_system *system, int contact)
{
    return system->contacts[contact].writes_points ? system->contacts[contact].nall : 0;
}

static void history_put_header(const pcs_view *view, pcs_file *f)
{
    const pcs_system *system = view->system;
    pcs_file_text(f, "t,step,kinetic,strain,potential,external_work,damping_loss,impact_loss,friction_loss,"
                     "correction_work,numerical_loss,momentum_x,momentum_y,momentum_z,min_gap,active,iterations");
    if (system->has_materials) pcs_file_column(f, "material_loss", -1, NULL);
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        int ncolumn = history_contact_columns_of(system, c), npoint = history_points_of(system, c);
        if (contact->is_joint) continue;
        for (int i = -1; i < npoint; i++)
            for (int k = 0; k < ncolumn; k++) pcs_file_column(f, contact->name, i, history_contact_columns[k]);
    }
    for (int r = 0; r < system->nreaction; r++) {
        const pcs_reaction_info *info = &system->reactions[r];
        if (info->contact >= 0) pcs_file_column(f, info->name, -1, "gap");
        for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
            if (pcs_reaction_has(info, k)) pcs_file_column(f, info->name, -1, pcs_reaction_names[k]);
    }
    for (int p = 0; p < view->nprobe; p++) pcs_file_column(f, view->probes[p].column, -1, NULL);
    pcs_file_text(f, "\n");
}

static double *history_put_fixed(const history_data *d, const pcs_system *system, double *p)
{
    const pcs_tally *tally = &d->tally;
    const pcs_ledger *l = &d->ledger;
    const double *momentum = l->now.momentum;
    double step = (double)tally->step, active = (double)tally->nactive;
    const double x[FIXED_COLUMNS] = { tally->t,          step,
                                      l->now.kinetic,    l->now.strain,
                                      l->now.potential,  l->external_work,
                                      l->damping_loss,   l->impact_loss,
                                      l->friction_loss,  l->correction_work,
                                      l->numerical_loss, momentum[0],
                                      momentum[1],       momentum[2],
                                      tally->min_gap,    active,
                                      d->iterations,     l->material_loss };
    memcpy(p, x, sizeof x);
    return p + FIXED_COLUMNS - !system->has_materials;
}

static double *history_put_contact(const history_data *d, const pcs_tally_row *row, int ncolumn, double *p)
{
    // Before the first step there is a force or an impulse only when the start was an impact.
    bool is_start = d->tally.step == 0;
    bool has_no_force = is_start && !(isfinite(row->force) && row->force != 0.0);
    const double x[CONTACT_COLUMNS] = { row->gap,          row->rate,     row->force,         row->impulse,
                                        row->step_impulse, row->friction, (double)row->state, row->friction_loss };
    memcpy(p, x, (size_t)ncolumn * sizeof *x);
    if (has_no_force) p[FORCE] = NAN;
    if (has_no_force && ncolumn > FRICTION) p[FRICTION] = NAN;
    if (is_start && row->step_impulse == 0.0) p[IMPULSE] = p[STEP_IMPULSE] = NAN;
    return p + ncolumn;
}

static double *history_put_reaction(const history_data *d, const pcs_system *system, int r, double *p)
{
    const pcs_reaction_info *info = &system->reactions[r];
    const pcs_reaction *x = &d->reactions[r];
    // Before the first step only a scheme that computes forces has some.
    const double *f = x->force, *m = x->moment;
    double size = fabs(f[0]) + fabs(f[1]) + fabs(f[2]) + fabs(m[0]) + fabs(m[1]) + fabs(m[2]);
    bool is_known = d->tally.step > 0 || size > 0.0;
    if (info->contact >= 0) *p++ = -d->tally.sums[info->contact].gap;
    for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
        if (pcs_reaction_has(info, k)) *p++ = is_known ? pcs_reaction_component(x, k) : NAN;
    return p;
}

// Writes the row of the last step that was recorded. `has_state`: the view's state is of that step.
static pcs_status history_put_row(const pcs_view *view, history_data *d, bool has_state)
{
    const pcs_system *system = view->system;
    d->has_row = true;
    d->tally.is_fresh = true;
    const pcs_tally_row *rows = pcs_tally_join(&d->tally, system);
    double *probes = d->row + d->ncolumn - view->nprobe; // all processes take part
    for (int k = 0; k < view->nprobe; k++)
        probes[k] = has_state ? pcs_state_probe(view->state, system, &view->probes[k]) : NAN;
    if (rows == NULL) return PCS_OK;
    double *p = history_put_fixed(d, system, d->row);
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        if (contact->is_joint) continue;
        int ncolumn = history_contact_columns_of(system, c), npoint = history_points_of(system, c);
        p = history_put_contact(d, &d->tally.sums[c], ncolumn, p);
        for (int i = 0; i < npoint; i++) p = history_put_contact(d, &rows[contact->first_all + i], ncolumn, p);
    }
    for (int r = 0; r < system->nreaction; r++) p = history_put_reaction(d, system, r, p);
    memmove(p, probes, (size_t)view->nprobe * sizeof *p);
    return pcs_row_file_put(&d->file, (int)(p - d->row) + view->nprobe, d->row);
}

static void history_take_in(const pcs_view *view, history_data *d)
{
    pcs_tally_add(&d->tally, view);
    for (int r = 0; r < view->system->nreaction; r++) d->reactions[r] = view->reactions[r];
    d->ledger = *view->ledger;
    d->iterations = view->report->iterations;
    d->has_row = false;
}

static pcs_status history_open(pcs_observer *self)
{
    history_data *d = self->data;
    const pcs_view *view = self->view;
    const pcs_system *system = view->system;
    d->file.has_failed = true; // cleared once all is allocated
    size_t ncolumn = FIXED_COLUMNS + (size_t)view->nprobe + (1 + PCS_REACTION_COMPONENTS) * (size_t)system->nreaction;
    PCS_TAKE(self->ctx, d->reactions, system->nreaction, "reactions");
    size_t npoint = 0; // that are written
    for (int c = 0; c < system->ncontact; c++) npoint += (size_t)history_points_of(system, c);
    ncolumn += CONTACT_COLUMNS * ((size_t)system->ncontact + npoint);
    d->ncolumn = (int)ncolumn;
    PCS_TRY(pcs_row_file_create(self->ctx, view->directory, "history.csv", ncolumn, &d->file));
    if (((const history_params *)self->params)->every == 0) {
        pcs_file_remove(d->file.file, "history.csv");
        return PCS_OK;
    }
    PCS_TRY(pcs_tally_create(self->ctx, view, &d->tally));
    PCS_TAKE(self->ctx, d->row, ncolumn, "a row of history.csv");
    if (view->is_resumed) return PCS_OK;
    PCS_TRY(pcs_row_file_open(&d->file));
    history_put_header(view, d->file.file);
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
    return pcs_row_file_close(&d->file);
}

static pcs_status history_carry(pcs_observer *self, pcs_carrier *c)
{
    history_data *d = self->data;
    if (((const history_params *)self->params)->every == 0) return PCS_OK;
    pcs_tally_carry(&d->tally, c);
    pcs_carry_words(c, "reactions", d->reactions, (size_t)self->view->system->nreaction * sizeof *d->reactions / 8);
    pcs_carry_words(c, "ledger", &d->ledger, PCS_LEDGER_WORDS);
    pcs_carry_int(c, "iterations", &d->iterations);
    pcs_carry_flags(c, "has_row", &d->has_row, 1);
    return pcs_row_file_carry(&d->file, c);
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
    .carry = history_carry,
};
