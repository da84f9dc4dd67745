// Collects contact intervals and extremes over the run; writes summary.json and summary.txt at its end.

#include "output/summary.h"
#include "core/rotation.h"

#include <math.h>

enum { SUMMARY_BUFFER = 1 << 16 };

// What one step did to a contact as a whole.
typedef struct summary_step {
    double start, t, h; // s, of the step
    double force, step_impulse, gap;
    long step, nimpact;
} summary_step;

static summary_step summary_gather(const pcs_view *view, double start, const pcs_contact_info *contact)
{
    summary_step sum = {
        .start = start, .t = view->state->t, .h = view->report->h, .step = view->state->step, .gap = INFINITY
    };
    for (int j = contact->first_row; j < contact->first_row + contact->nrow; j++) {
        const pcs_row_report *row = &view->report->rows[j];
        if (isfinite(row->force)) sum.force += row->force; // at t = 0 there may be none
        sum.step_impulse += row->step_impulse;
        sum.nimpact += row->is_impact;
        if (row->gap < sum.gap) sum.gap = row->gap;
    }
    return sum;
}

static void summary_begin_interval(pcs_contact_record *c, const summary_step *now)
{
    c->last = (pcs_interval){ .first_step = now->step, .start = now->start, .peak_force = -INFINITY };
    c->ninterval++;
    c->is_touching = true;
}

static void summary_keep_interval(pcs_contact_record *c)
{
    if (c->ninterval <= PCS_KEPT_INTERVALS) c->kept[c->ninterval - 1] = c->last;
}

static void summary_add_step(pcs_contact_record *c, const summary_step *now)
{
    if (now->gap < c->min_gap) {
        c->min_gap = now->gap;
        c->min_gap_time = now->t;
    }
    c->nimpact += now->nimpact;
    c->is_touching = c->is_touching && now->step_impulse > 0.0;
    if (!(now->step_impulse > 0.0)) return;

    if (!c->is_touching) summary_begin_interval(c, now);
    pcs_interval *i = &c->last;
    i->last_step = now->step;
    i->end = now->t;
    i->smooth_impulse += now->force * now->h;
    i->impulse += now->step_impulse;
    i->nimpact += now->nimpact;
    if (now->force > i->peak_force) {
        i->peak_force = now->force;
        i->peak_time = now->t;
    }
    if (now->force > c->peak_force) {
        c->peak_force = now->force;
        c->peak_time = now->t;
    }
    c->touching_time += now->h;
    c->smooth_impulse += now->force * now->h;
    c->impulse += now->step_impulse;
    summary_keep_interval(c);
}

static void summary_keep_largest(double x, double t, double *largest, double *time)
{
    if (!(x > *largest)) return;
    *largest = x;
    *time = t;
}

static void summary_take_reactions(const pcs_view *view, pcs_summary *s)
{
    const pcs_system *system = view->system;
    for (int r = 0; r < system->nreaction; r++) {
        pcs_reaction_record *record = &s->reactions[r];
        int joint = system->reactions[r].contact; // -1: a support
        double t = view->state->t, misfit = 0.0;
        int first = joint < 0 ? 0 : system->contacts[joint].first_row;
        int count = joint < 0 ? 0 : system->contacts[joint].nrow;
        for (int j = first; j < first + count; j++) misfit = fmax(misfit, fabs(view->report->rows[j].gap));
        summary_keep_largest(misfit, t, &record->misfit, &record->misfit_time);
        summary_keep_largest(pcs_norm3(view->reactions[r].force), t, &record->force, &record->force_time);
        summary_keep_largest(pcs_norm3(view->reactions[r].moment), t, &record->moment, &record->moment_time);
    }
}

static void summary_take_in(const pcs_view *view, pcs_summary *s)
{
    summary_take_reactions(view, s);
    for (int k = 0; k < s->ncontact; k++) {
        pcs_contact_record *c = &s->contacts[k];
        summary_step now = summary_gather(view, s->t, &view->system->contacts[k]);
        summary_add_step(c, &now);
        if (c->min_gap < s->min_gap) {
            s->min_gap = c->min_gap;
            s->min_gap_time = c->min_gap_time;
            s->worst_contact = c->name;
        }
    }
    if (view->report->iterations > s->max_iterations) {
        s->max_iterations = view->report->iterations;
        s->max_iterations_step = view->state->step;
    }
    s->t = view->state->t;
}

static pcs_status summary_open(pcs_observer *self)
{
    pcs_summary *s = self->data;
    const pcs_view *view = self->view;
    while (s->ncontact < view->system->ncontact && !view->system->contacts[s->ncontact].is_joint) s->ncontact++;
    PCS_TAKE(self->ctx, s->contacts, s->ncontact, "the record of contacts");
    PCS_TAKE(self->ctx, s->reactions, view->system->nreaction, "the record of reactions");
    PCS_TRY(pcs_file_create(self->ctx, view->directory, sizeof "summary.json", SUMMARY_BUFFER, &s->file));
    pcs_file_remove(s->file, "summary.json");
    pcs_file_remove(s->file, "summary.txt");
    s->min_gap = INFINITY;
    s->t = view->state->t;
    for (int k = 0; k < s->ncontact; k++) {
        s->contacts[k].name = view->system->contacts[k].name;
        s->contacts[k].min_gap = INFINITY;
        s->contacts[k].peak_force = -INFINITY;
    }
    summary_take_in(view, s);
    return PCS_OK;
}

static pcs_status summary_step_taken(pcs_observer *self)
{
    summary_take_in(self->view, self->data);
    return PCS_OK;
}

static pcs_status summary_close(pcs_observer *self)
{
    pcs_summary *s = self->data;
    if (s->file == NULL) return PCS_OK; // open failed
    PCS_TRY(pcs_file_open(s->file, "summary.json"));
    pcs_summary_put_json(s, self->view);
    PCS_TRY(pcs_file_commit(s->file));
    PCS_TRY(pcs_file_open(s->file, "summary.txt"));
    pcs_summary_put_text(s, self->view);
    return pcs_file_commit(s->file);
}

const pcs_observer_ops pcs_observer_summary = {
    .name = "summary",
    .summary = "contacts, energy, certificate and effort of the run as summary.json and summary.txt",
    .data_size = sizeof(pcs_summary),
    .is_default = true,
    .open = summary_open,
    .step = summary_step_taken,
    .close = summary_close,
};
