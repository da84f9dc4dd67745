// Collects contact intervals and extremes over the run; writes summary.json and summary.txt at its end.

#include "output/summary.h"
#include "core/rotation.h"
#include "output/tally.h"

#include <math.h>
#include <string.h>

enum { SUMMARY_BUFFER = 1 << 16, FEWEST_CELLS = 8 };
enum { WINDOW_PARTS = 32 }; // points of a window are at least this part of it apart, every other one
// Extremes that differ by less, of their size or of the range of a probe, are one.
static const double SAME_EXTREME = 1e-9;

typedef struct summary_params {
    double open_time, filter; // s; NAN: not said
    bool text;
} summary_params;

static const pcs_option summary_options[] = {
    PCS_REAL(
        "open_time", summary_params, open_time, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
        "a contact that opens for no longer than this, s, counts as one; by default 3 steps, or half a swing of the "
        "ripple behind a wave front of the mesh where that is longer"),
    PCS_REAL("filter", summary_params, filter, PCS_OPTIONAL, PCS_POSITIVE,
             "window of the moving mean of the filtered peak force, s; by default 10 steps, or two swings of the "
             "ripple behind a wave front of the mesh where these are longer"),
    PCS_FLAG("text", summary_params, text, PCS_DEFAULT("true"), "summary.txt beside summary.json"),
    { .name = NULL },
};

// Drops what lies before the window, and the last point where it is too near to the one before.
static void window_put(pcs_window *w, double length, double t, double impulse)
{
    int first = 0;
    while (first + 1 < w->count && w->t[first + 1] <= t - length) first++;
    w->count -= first;
    memmove(w->t, w->t + first, (size_t)w->count * sizeof *w->t);
    memmove(w->impulse, w->impulse + first, (size_t)w->count * sizeof *w->impulse);
    if (w->count >= 2 && t - w->t[w->count - 2] < length / WINDOW_PARTS) w->count--;
    w->t[w->count] = t;
    w->impulse[w->count++] = impulse;
}

// The impulse at a time between the first two points.
static double window_begin(const pcs_window *w, double t)
{
    if (w->count < 2) return w->impulse[0];
    double share = (t - w->t[0]) / (w->t[1] - w->t[0]);
    return w->impulse[0] + fmin(fmax(share, 0.0), 1.0) * (w->impulse[1] - w->impulse[0]);
}

// A largest value, and the time at which it is first reached: on a plateau round-off would choose any of its times.
static void record_largest(double x, double t, double *largest, double *then, double *time)
{
    bool is_first = !(*largest > -INFINITY);
    if (is_first || x > *largest) *largest = x;
    if (!is_first && !(x - SAME_EXTREME * fabs(x) > *then)) return;
    *then = x;
    *time = t;
}

static void record_begin_interval(pcs_contact_record *c, const pcs_contact_step *now)
{
    c->last = (pcs_interval){ .first_step = now->step,
                              .start = now->start,
                              .end = now->start,
                              .peak_force = -INFINITY,
                              .smooth_peak = NAN,
                              .smooth_time = NAN };
    c->window.count = 0;
    window_put(&c->window, c->window_time, now->start, 0.0);
    c->ninterval++;
}

static void record_filter(pcs_contact_record *c, const pcs_contact_step *now)
{
    pcs_interval *i = &c->last;
    double length = c->window_time;
    bool was_open = now->start > i->end;
    if (was_open) window_put(&c->window, length, now->start, i->impulse - now->step_impulse);
    window_put(&c->window, length, now->t, i->impulse);
    // An interval that lasts a whole number of steps may be a bit short of it by rounding.
    if (!(length > 0.0) || now->t - i->start < length - 1e-6 * now->h) return;
    double mean = (i->impulse - window_begin(&c->window, now->t - length)) / length;
    record_largest(mean, now->t, &i->smooth_peak, &i->smooth_then, &i->smooth_time);
}

// Totals of intervals with a force: the first time that there is one, all of the interval counts.
static void record_add_force(pcs_contact_record *c, const pcs_interval *before)
{
    const pcs_interval *i = &c->last;
    bool had_force = pcs_interval_has_force(before);
    c->pressed_time += i->end - (had_force ? before->end : i->start);
    c->smooth_impulse += i->smooth_impulse - (had_force ? before->smooth_impulse : 0.0);
    record_largest(i->peak_force, i->peak_time, &c->peak_force, &c->peak_then, &c->peak_time);
    record_largest(i->smooth_peak, i->smooth_time, &c->smooth_peak, &c->smooth_then, &c->smooth_time);
}

static void record_touch(pcs_contact_record *c, const pcs_contact_step *now)
{
    bool goes_on = c->ninterval > 0 && now->start - c->last.end <= c->open_time + 1e-6 * now->h;
    if (!goes_on) record_begin_interval(c, now);
    pcs_interval *i = &c->last, before = *i;
    i->last_step = now->step;
    i->smooth_impulse += now->force * now->h;
    i->impulse += now->step_impulse;
    i->pressed += now->pressed;
    i->nimpact += now->nimpact;
    record_largest(now->force, now->t, &i->peak_force, &i->peak_then, &i->peak_time);
    record_filter(c, now);
    c->touching_time += now->t - i->end;
    i->end = now->t;
    if (pcs_interval_has_force(i)) record_add_force(c, &before);
    if (c->ninterval <= PCS_KEPT_INTERVALS) c->kept[c->ninterval - 1] = *i;
}

void pcs_contact_record_add(pcs_contact_record *c, const pcs_contact_step *now)
{
    if (now->gap < c->min_gap) {
        c->min_gap = now->gap;
        c->min_gap_time = now->t;
    }
    c->nimpact += now->nimpact;
    c->impulse += now->step_impulse;
    c->is_touching = now->touches;
    if (now->touches) record_touch(c, now);
}

static void summary_keep_largest(double x, double t, double *largest, double *time)
{
    if (!(x > *largest)) return;
    *largest = x;
    *time = t;
}

// Returns the work of a row on the model in the last step, J.
static double summary_work(const pcs_row_report *row)
{
    return row->drive_work - row->normal_loss - row->friction_loss;
}

static void summary_add_work(const pcs_row_report *row, pcs_contact_record *c)
{
    c->impact_loss += row->normal_loss;
    c->friction_loss += row->friction_loss;
    c->work += summary_work(row);
}

// Numbers of a contact that processes with points of their own add up, and of which they find the largest.
enum { FORCE, STEP_IMPULSE, PRESSED, IMPACTS, IMPACT_LOSS, FRICTION_LOSS, WORK, SUMS };
enum { TOUCHES, NEAREST, SLID, LARGEST, JOINED = SUMS + LARGEST };

// Trapezoidal rule over a step that starts closed and in which the point presses; one that a force law lets stick moves
// without sliding.
static void summary_slide(const pcs_view *view, double speed, int row, pcs_point_record *p)
{
    const pcs_row_report *r = &view->report->rows[row];
    int state = pcs_row_state(view, row, speed);
    bool is_closed = state != PCS_ROW_OPEN, gives_way = row >= view->system->nrow;
    double slip = gives_way && state != PCS_ROW_SLIDES ? 0.0 : hypot(r->slip[0], r->slip[1]);
    bool presses = r->step_impulse > pcs_impulse_rounding(view, row);
    if (presses && p->is_closed) p->slid += 0.5 * view->report->h * (p->slip + slip);
    p->slip = slip;
    p->is_closed = is_closed;
}

// Did a contact close in this step? Its impulse goes through joints and supports at once, and over the step would be
// any force, as it would be in the contact.
static bool summary_has_impact(const pcs_summary *s)
{
    for (int k = 0; k < s->ncontact; k++)
        if (!s->contacts[k].is_joint && s->now[k].nimpact > 0) return true;
    return false;
}

// A joint has neither intervals nor a smallest gap.
static void summary_take_joint(const pcs_view *view, const pcs_contact_info *joint, bool has_force,
                               pcs_contact_record *c)
{
    for (int j = joint->first_row; j < joint->first_row + joint->nrow; j++) {
        const pcs_row_report *row = &view->report->rows[j];
        double t = view->state->t;
        summary_add_work(&view->report->rows[j], c);
        summary_keep_largest(fabs(row->gap), t, &c->misfit, &c->misfit_time);
        if (has_force && isfinite(row->force)) summary_keep_largest(fabs(row->force), t, &c->peak_force, &c->peak_time);
    }
}

// The points that are here.
static pcs_contact_step summary_gather(const pcs_view *view, pcs_summary *s, int k, pcs_contact_record *c)
{
    const pcs_contact_info *contact = &view->system->contacts[k];
    pcs_contact_step sum = {
        .start = s->t, .t = view->state->t, .h = view->report->h, .step = view->state->step, .gap = INFINITY
    };
    for (int j = contact->first_row; j < contact->first_row + contact->nrow; j++) {
        const pcs_row_report *row = &view->report->rows[j];
        double rounding = pcs_impulse_rounding(view, j);
        if (isfinite(row->force)) sum.force += row->force; // at t = 0 there may be none
        sum.step_impulse += row->step_impulse;
        if (row->step_impulse - row->impulse > rounding) sum.pressed += row->step_impulse - row->impulse;
        sum.touches = sum.touches || row->step_impulse > rounding;
        sum.nimpact += row->is_impact && row->impulse > rounding;
        if (row->gap < sum.gap) sum.gap = row->gap;
        summary_add_work(&view->report->rows[j], c);
        if (c->rubs) summary_slide(view, s->speed, j, &s->points[j]);
        if (c->rubs) c->slid = fmax(c->slid, s->points[j].slid);
    }
    return sum;
}

static void summary_gather_here(const pcs_view *view, pcs_summary *s)
{
    for (int k = 0; k < s->ncontact; k++)
        if (!s->contacts[k].is_joint) s->now[k] = summary_gather(view, s, k, &s->contacts[k]);
}

static void summary_add_up(pcs_contact_record *c, const double sums[SUMS], double slid)
{
    c->impact_loss += sums[IMPACT_LOSS];
    c->friction_loss += sums[FRICTION_LOSS];
    c->work += sums[WORK];
    c->slid = fmax(c->slid, slid);
}

// Takes in the points of all processes, of every contact.
static void summary_gather_all(const pcs_view *view, pcs_summary *s)
{
    double *sums = s->joined, *largest = s->joined + SUMS * s->ncontact;
    for (int k = 0; k < s->ncontact; k++) {
        pcs_contact_record here = { .rubs = s->contacts[k].rubs };
        pcs_contact_step *now = &s->now[k];
        *now = summary_gather(view, s, k, &here);
        const double sum[SUMS] = { now->force,       now->step_impulse,  now->pressed, (double)now->nimpact,
                                   here.impact_loss, here.friction_loss, here.work };
        const double most[LARGEST] = { now->touches, -now->gap, here.slid };
        memcpy(sums + SUMS * k, sum, sizeof sum);
        memcpy(largest + LARGEST * k, most, sizeof most);
    }
    pcs_rows_sum(view->system, SUMS * s->ncontact, sums);
    pcs_rows_max_each(view->system, LARGEST * s->ncontact, largest);
    for (int k = 0; k < s->ncontact; k++, sums += SUMS, largest += LARGEST) {
        pcs_contact_step *now = &s->now[k];
        now->force = sums[FORCE];
        now->step_impulse = sums[STEP_IMPULSE];
        now->pressed = sums[PRESSED];
        now->nimpact = (long)sums[IMPACTS];
        now->touches = largest[TOUCHES] != 0.0;
        now->gap = -largest[NEAREST];
        summary_add_up(&s->contacts[k], sums, largest[SLID]);
    }
}

// Misfit and work of every joint in the last step; a support has none.
static void summary_look_at_joints(const pcs_view *view, double *misfit, double *work)
{
    const pcs_system *system = view->system;
    for (int r = 0; r < system->nreaction; r++) {
        int joint = system->reactions[r].contact; // -1: a support
        int first = joint < 0 ? 0 : system->contacts[joint].first_row;
        int count = joint < 0 ? 0 : system->contacts[joint].nrow;
        misfit[r] = work[r] = 0.0;
        for (int j = first; j < first + count; j++) misfit[r] = fmax(misfit[r], fabs(view->report->rows[j].gap));
        for (int j = first; j < first + count; j++) work[r] += summary_work(&view->report->rows[j]);
    }
    if (system->nreaction == 0) return;
    pcs_rows_max_each(system, system->nreaction, misfit);
    pcs_rows_sum(system, system->nreaction, work);
}

static void summary_take_reactions(const pcs_view *view, pcs_summary *s, bool has_force)
{
    const pcs_system *system = view->system;
    double *misfit = s->joined, *work = misfit + system->nreaction;
    summary_look_at_joints(view, misfit, work);
    for (int r = 0; r < system->nreaction; r++) {
        pcs_reaction_record *record = &s->reactions[r];
        double t = view->state->t;
        record->work += work[r];
        summary_keep_largest(misfit[r], t, &record->misfit, &record->misfit_time);
        if (!has_force) continue;
        summary_keep_largest(pcs_norm3(view->reactions[r].force), t, &record->force, &record->force_time);
        summary_keep_largest(pcs_norm3(view->reactions[r].moment), t, &record->moment, &record->moment_time);
    }
}

// Times are those at which an extreme is reached first: on a plateau round-off would choose any of its times.
static void summary_take_extremes(double x, double t, pcs_probe_record *r)
{
    r->min = fmin(r->min, x);
    r->max = fmax(r->max, x);
    double slack = SAME_EXTREME * (r->max - r->min);
    if (x < r->min_then - slack) r->min_then = x, r->min_time = t;
    if (x > r->max_then + slack) r->max_then = x, r->max_time = t;
}

static void summary_take_probes(const pcs_view *view, pcs_summary *s)
{
    for (int k = 0; k < view->nprobe; k++) {
        pcs_probe_record *record = &s->probes[k];
        double x = pcs_state_probe(view->state, view->system, &view->probes[k]);
        double t = view->state->t;
        if (view->state->step == 0) *record = (pcs_probe_record){ x, x, x, t, x, t, .min_then = x, .max_then = x };
        record->end = x;
        summary_take_extremes(x, t, record);
    }
}

static void summary_take_in(const pcs_view *view, pcs_summary *s)
{
    summary_take_probes(view, s);
    s->speed = fmax(s->speed, pcs_model_speed(view));
    if (pcs_rows_are_spread(view->system)) summary_gather_all(view, s);
    else summary_gather_here(view, s);
    bool has_force = !summary_has_impact(s);
    summary_take_reactions(view, s, has_force);
    for (int k = 0; k < s->ncontact; k++) {
        pcs_contact_record *c = &s->contacts[k];
        if (c->is_joint) {
            summary_take_joint(view, &view->system->contacts[k], has_force, c);
            continue;
        }
        pcs_contact_record_add(c, &s->now[k]);
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

// A wave front in a mesh trails a ripple, which comes back to the contact with the release. Its first, longest swings
// last about (2 n)^(1/3) of the shortest periods 2 pi/w of the mesh after a way of 2 n cells, there and back (an Airy
// front); the stable step of central differences is 2/w. Over two such swings a bar's peak is within 8 % of the exact
// force, from 25 to 800 cells; for half of one the ripple opens a contact. A few bodies have no such waves: their
// periods are their motion, and this is 0.
static double summary_swing(const pcs_view *view)
{
    const pcs_system *system = view->system;
    const double pi = 3.14159265358979323846;
    int ncell = system->picture == NULL ? 0 : system->picture->nall_cell;
    if (!pcs_system_is_mesh(system) || ncell < FEWEST_CELLS || !isfinite(system->stable_step)) return 0.0;
    return cbrt(2.0 * ncell) * pi * system->stable_step;
}

static pcs_contact_record summary_contact(const pcs_view *view, const pcs_summary *s, int k)
{
    const pcs_contact_info *contact = &view->system->contacts[k];
    return (pcs_contact_record){ .name = contact->name,
                                 .open_time = s->open_time,
                                 .window_time = s->window,
                                 .rubs = pcs_contact_ntangent(view->system, k) > 0,
                                 .is_joint = pcs_is_joint(view->system, k),
                                 .min_gap = INFINITY,
                                 .peak_force = -INFINITY,
                                 .smooth_peak = NAN };
}

static pcs_status summary_open(pcs_observer *self)
{
    const summary_params *params = self->params;
    pcs_summary *s = self->data;
    const pcs_view *view = self->view;
    while (s->ncontact < view->system->ncontact && !view->system->contacts[s->ncontact].is_joint) s->ncontact++;
    PCS_TAKE(self->ctx, s->contacts, s->ncontact, "the record of contacts");
    PCS_TAKE(self->ctx, s->now, s->ncontact, "the record of contacts");
    PCS_TAKE(self->ctx, s->joined, JOINED * s->ncontact + 2 * view->system->nreaction, "the record of contacts");
    PCS_TAKE(self->ctx, s->points, pcs_system_npoint(view->system), "the record of contacts");
    PCS_TAKE(self->ctx, s->reactions, view->system->nreaction, "the record of reactions");
    PCS_TAKE(self->ctx, s->probes, view->nprobe, "the record of probes");
    PCS_TRY(pcs_file_create(self->ctx, view->directory, sizeof "summary.json", SUMMARY_BUFFER, &s->file));
    PCS_TRY(pcs_digits_create(self->ctx, &s->digits));
    pcs_file_remove(s->file, "summary.json");
    pcs_file_remove(s->file, "summary.txt"); // also of a run that is resumed: it has not ended
    s->min_gap = INFINITY;
    s->t = view->state->t;
    double swing = summary_swing(view), h = view->step_size;
    s->open_time = isfinite(params->open_time) ? params->open_time : fmax(3.0 * h, 0.5 * swing);
    s->window = isfinite(params->filter) ? params->filter : fmax(10.0 * h, 2.0 * swing);
    for (int k = 0; k < s->ncontact; k++) s->contacts[k] = summary_contact(view, s, k);
    if (!view->is_resumed) summary_take_in(view, s);
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
    if (!((const summary_params *)self->params)->text) return PCS_OK;
    PCS_TRY(pcs_file_open(s->file, "summary.txt"));
    pcs_summary_put_text(s, self->view);
    return pcs_file_commit(s->file);
}

// -1: no contact.
static void summary_carry_worst(pcs_summary *s, pcs_carrier *c)
{
    int worst = -1;
    for (int k = 0; k < s->ncontact; k++)
        if (s->worst_contact == s->contacts[k].name) worst = k;
    pcs_carry_index(c, "worst_contact", &worst, -1, s->ncontact - 1);
    if (pcs_carry_reads(c)) s->worst_contact = worst < 0 ? NULL : s->contacts[worst].name;
}

static void summary_carry_contact(pcs_contact_record *c, pcs_carrier *carrier)
{
    const size_t constant = offsetof(pcs_contact_record, ninterval);
    pcs_carry_words(carrier, c->name, &c->ninterval, (sizeof *c - constant) / 8);
    if (pcs_carry_reads(carrier) && (c->ninterval < 0 || c->window.count < 0 || c->window.count >= PCS_WINDOW_POINTS))
        pcs_carry_refuse(carrier, c->name, "has impossible numbers");
}

static pcs_status summary_carry(pcs_observer *self, pcs_carrier *c)
{
    pcs_summary *s = self->data;
    const pcs_system *system = self->view->system;
    pcs_carry_words(c, "t", &s->t, 1);
    for (int k = 0; k < s->ncontact; k++) summary_carry_contact(&s->contacts[k], c);
    size_t npoint = (size_t)pcs_system_npoint(system);
    pcs_carry_rows(c, "points", &(pcs_carry_table){ s->points, npoint, sizeof *s->points, sizeof *s->points, true });
    pcs_carry_words(c, "speed", &s->speed, 1);
    pcs_carry_words(c, "min_gap", &s->min_gap, 1);
    pcs_carry_words(c, "min_gap_time", &s->min_gap_time, 1);
    summary_carry_worst(s, c);
    pcs_carry_words(c, "reactions", s->reactions, (size_t)system->nreaction * sizeof *s->reactions / 8);
    pcs_carry_words(c, "probes", s->probes, (size_t)self->view->nprobe * sizeof *s->probes / 8);
    pcs_carry_int(c, "max_iterations", &s->max_iterations);
    pcs_carry_words(c, "max_iterations_step", &s->max_iterations_step, 1);
    return PCS_OK;
}

const pcs_observer_ops pcs_observer_summary = {
    .name = "summary",
    .summary = "contacts, energy, certificate and effort of the run as summary.json and summary.txt",
    .options = summary_options,
    .params_size = sizeof(summary_params),
    .data_size = sizeof(pcs_summary),
    .is_default = true,
    .open = summary_open,
    .step = summary_step_taken,
    .close = summary_close,
    .carry = summary_carry,
};
