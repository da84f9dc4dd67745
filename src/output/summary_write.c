// summary.json for programs and summary.txt, one screen of it, for people.

#include "output/frames.h"
#include "output/summary.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { SHOWN_CONTACTS = 6, SHOWN_REACTIONS = 12, SHOWN_INTERVALS = 4, LONGEST_CHECK = 56 };

const char *pcs_check_verdict(const pcs_check *check)
{
    if (!check->is_reported_only && !(check->worst_ratio <= 1.0)) return "broken";
    if (check->mark > 0.0 && check->worst_ratio > check->mark) return "marked";
    return check->is_reported_only ? "reported" : "held";
}

static bool summary_is_marked(const pcs_check *check)
{
    return strcmp(pcs_check_verdict(check), "marked") == 0;
}

const char *pcs_certificate_verdict(const pcs_certificate *certificate)
{
    bool is_marked = false;
    for (int i = 0; i < certificate->ncheck; i++) is_marked = is_marked || summary_is_marked(&certificate->checks[i]);
    if (certificate->broken != NULL) return "broken";
    return is_marked ? "marked" : "held";
}

double pcs_ledger_imbalance(const pcs_ledger *l)
{
    double now = pcs_measure_energy(&l->now);
    double lost = l->damping_loss + l->impact_loss + l->friction_loss + l->numerical_loss + l->material_loss;
    double booked = l->external_work + l->correction_work - lost;
    return now - l->initial - booked;
}

static const char *summary_ending(const pcs_view *view)
{
    static const char *const texts[] = { "running", "finished", "stopped" };
    return texts[view->ending];
}

typedef struct summary_model {
    int npoint, ncell, ndof, ncontact_point, njoint_row;
} summary_model;

static summary_model summary_get_model(const pcs_view *view)
{
    const pcs_picture *picture = view->system->picture;
    return (summary_model){ .npoint = picture == NULL ? 0 : picture->nall_node,
                            .ncell = picture == NULL ? 0 : picture->nall_cell,
                            .ndof = pcs_system_ndof(view->system),
                            .ncontact_point = pcs_count_points(view->system),
                            .njoint_row = pcs_count_conditions(view->system) };
}

static double summary_wall_time(const pcs_timing *w)
{
    return w->setup + w->step + w->certify + w->output + w->checkpoint;
}

// Returns an interval with NAN for forces that it does not have: an impulse within one step has none.
static pcs_interval summary_show_interval(const pcs_interval *from)
{
    pcs_interval i = *from;
    if (!pcs_interval_has_force(from)) i.peak_force = i.peak_time = i.smooth_peak = i.smooth_time = NAN;
    return i;
}

typedef struct json {
    pcs_file *f;
    pcs_digits *digits;
    int depth;
    bool is_first; // in its object or list
    bool has_name; // the value that comes next follows its name
} json;

static void json_indent(json *j)
{
    pcs_file_text(j->f, "\n");
    for (int i = 0; i < j->depth; i++) pcs_file_text(j->f, "  ");
}

static void json_end(json *j, char bracket)
{
    j->depth--;
    if (!j->is_first) json_indent(j);
    pcs_file_bytes(j->f, &bracket, 1);
    j->is_first = false;
}

// Puts the value that printf's conversion asks for.
static void json_value(json *j, char conversion, va_list *values)
{
    char number[PCS_NUMBER_ROOM] = "null";
    if (conversion == 's') {
        const char *text = va_arg(*values, const char *);
        if (text == NULL) pcs_file_text(j->f, number);
        else pcs_file_json(j->f, text);
        return;
    }
    double x = conversion == 'g' ? va_arg(*values, double) : 0.0;
    if (conversion == 'd') pcs_integer_text(va_arg(*values, int), number);
    else if (conversion == 'l') pcs_integer_text(va_arg(*values, long), number);
    else if (isfinite(x)) pcs_number_text(j->digits, x, number);
    pcs_file_text(j->f, number);
}

static void json_token(json *j, const char *token, size_t length, va_list *values)
{
    bool is_name = token[length] == ':', is_bracket = *token == '{' || *token == '[';
    if (*token == '}' || *token == ']') {
        json_end(j, *token);
        return;
    }
    if (!j->has_name && !j->is_first) pcs_file_text(j->f, ",");
    if (!j->has_name) json_indent(j);
    const char *quote = is_name && *token != '%' ? "\"" : "";
    pcs_file_text(j->f, quote);
    if (*token == '%') json_value(j, token[1], values);
    else pcs_file_bytes(j->f, token, length);
    pcs_file_text(j->f, quote);
    if (is_name) pcs_file_text(j->f, ": ");
    j->has_name = is_name;
    j->is_first = is_bracket;
    j->depth += is_bracket;
}

// Puts a piece of JSON with the values of printf's conversions %g, %d, %ld and %s: null for what is not finite or NULL.
// Names stand without quotes, before ':'; line breaks and commas are its own.
__attribute__((format(printf, 2, 3))) static void json_put(json *j, const char *form, ...)
{
    va_list values;
    va_start(values, form);
    while (*form != '\0') {
        size_t length = strcspn(form, ":, ");
        json_token(j, form, length, &values);
        form += length;
        form += strspn(form, ":, ");
    }
    va_end(values);
}

static void json_head(json *j, const pcs_view *view)
{
    summary_model model = summary_get_model(view);
    json_put(j, "version: %s, case: %s, title: %s, ending: %s", view->version, view->case_name, view->title,
             summary_ending(view));
    json_put(j, "reason: %s, question: %s, scheme: %s, solver: %s", view->reason, view->question, view->scheme_name,
             view->solver_name);
    json_put(j, "mass_backend: %s, step_backend: %s", view->mass_backend, view->step_backend);
    json_put(j, "model: { points: %d, cells: %d, dofs: %d, contact_points: %d, joint_rows: %d }", model.npoint,
             model.ncell, model.ndof, model.ncontact_point, model.njoint_row);
}

static void json_effort(json *j, const pcs_summary *s, const pcs_view *view)
{
    const pcs_timing *w = view->timing;
    const size_t *of_processes = view->memory_of_ranks;
    long done = view->state->step;
    json_put(j, "time: { reached: %g, end: %g, step: %g }", view->state->t, view->end_time, view->step_size);
    json_put(j, "steps: { done: %ld", done);
    if (view->is_controlled) json_put(j, "planned: null");
    else json_put(j, "planned: %ld", view->nstep);
    json_put(j, "attempts: %ld, rejections: %ld, cut: %ld, finest_cut: %d", view->attempts, view->rejections,
             view->cut_steps, view->finest_cut);
    json_put(j, "handovers: %ld, inexact: %ld, iterations: %ld, iterations_mean: %g", view->handovers, view->inexact,
             view->iterations, done > 0 ? (double)view->iterations / (double)done : NAN);
    json_put(j, "iterations_max: %d, iterations_max_step: %ld, factorizations: %ld }", s->max_iterations,
             s->max_iterations_step, view->factorizations);
    json_put(j, "wall_time: { setup: %g, step: %g, certify: %g, output: %g, checkpoint: %g", w->setup, w->step,
             w->certify, w->output, w->checkpoint);
    json_put(j, "checkpoints: %ld, total: %g, steps_per_second: %g }", view->ncheckpoint, summary_wall_time(w),
             (double)done / w->step);
    json_put(j, "memory_bytes: %ld", (long)view->memory);
    if (of_processes[0] > 0)
        json_put(j, "ranks: { count: %ld, memory_bytes_least: %ld, memory_bytes_most: %ld }", (long)of_processes[0],
                 (long)of_processes[1], (long)of_processes[2]);
}

static void json_interval(json *j, const pcs_interval *from)
{
    pcs_interval i = summary_show_interval(from);
    json_put(j, "{ start: %g, end: %g, duration: %g, first_step: %ld, last_step: %ld, mean_force: %g", i.start, i.end,
             i.end - i.start, i.first_step, i.last_step, pcs_interval_mean(&i));
    json_put(j, "peak_force: %g, peak_force_time: %g, filtered_peak_force: %g, filtered_peak_force_time: %g",
             i.peak_force, i.peak_time, i.smooth_peak, i.smooth_time);
    json_put(j, "total_impulse: %g, impacts: %ld }", i.impulse, i.nimpact);
}

static void json_contact(json *j, const pcs_contact_record *c)
{
    bool has_touched = c->ninterval > 0;
    json_put(j, "{ name: %s, interval_count: %ld, impacts: %ld, time_in_contact: %g", c->name, c->ninterval, c->nimpact,
             c->touching_time);
    json_put(j, "first_time: %g, last_time: %g, mean_force: %g", has_touched ? c->kept[0].start : NAN,
             has_touched ? c->last.end : NAN, pcs_contact_mean(c));
    json_put(j, "peak_force: %g, peak_force_time: %g", c->peak_force, isfinite(c->peak_force) ? c->peak_time : NAN);
    json_put(j, "filtered_peak_force: %g, filtered_peak_force_time: %g", c->smooth_peak,
             isfinite(c->smooth_peak) ? c->smooth_time : NAN);
    json_put(j, "total_impulse: %g, impact_loss: %g, friction_loss: %g, work: %g, sliding_distance: %g", c->impulse,
             c->impact_loss, c->friction_loss, c->work, c->rubs ? c->slid : NAN);
    json_put(j, "min_gap: %g, min_gap_time: %g", c->min_gap, c->min_gap_time);
    json_put(j, c->is_touching ? "is_touching_at_end: true" : "is_touching_at_end: false");
    // The first ones and the last; interval_count says how many there were.
    json_put(j, "intervals: [");
    for (long i = 0; i < c->ninterval && i < PCS_KEPT_INTERVALS; i++) json_interval(j, &c->kept[i]);
    if (c->ninterval > PCS_KEPT_INTERVALS) json_interval(j, &c->last);
    json_put(j, "] }");
}

static void json_contacts(json *j, const pcs_summary *s)
{
    json_put(j, "min_gap: %g, min_gap_time: %g, open_time: %g, filter_window: %g, contacts: [", s->min_gap,
             s->worst_contact == NULL ? NAN : s->min_gap_time, s->open_time, s->window);
    for (int k = 0; k < s->ncontact; k++)
        if (!s->contacts[k].is_joint) json_contact(j, &s->contacts[k]);
    json_put(j, "]");
}

static void json_misfit(json *j, double misfit, double time, double work)
{
    json_put(j, "largest_misfit: %g, largest_misfit_time: %g, work: %g", misfit, time, work);
}

// Puts joints or supports. A joint of a system in closed form has no reaction in space.
static void json_reactions(json *j, bool of_joints, const pcs_summary *s, const pcs_view *view)
{
    json_put(j, of_joints ? "joints: [" : "supports: [");
    for (int k = 0; k < s->ncontact; k++) {
        const pcs_contact_record *c = &s->contacts[k];
        if (!of_joints || !c->is_joint) continue;
        json_put(j, "{ name: %s", c->name);
        json_misfit(j, c->misfit, c->misfit_time, c->work);
        json_put(j, "peak_force: %g, peak_force_time: %g }", c->peak_force,
                 isfinite(c->peak_force) ? c->peak_time : NAN);
    }
    for (int r = 0; r < view->system->nreaction; r++) {
        const pcs_reaction_record *x = &s->reactions[r];
        if ((view->system->reactions[r].contact >= 0) != of_joints) continue;
        json_put(j, "{ name: %s", view->system->reactions[r].name);
        if (of_joints) json_misfit(j, x->misfit, x->misfit_time, x->work);
        json_put(j, "peak_force: %g, peak_force_time: %g, peak_moment: %g, peak_moment_time: %g }", x->force,
                 x->force_time, x->moment, x->moment_time);
    }
    json_put(j, "]");
}

static void json_probes(json *j, const pcs_summary *s, const pcs_view *view)
{
    json_put(j, "probes: [");
    for (int k = 0; k < view->nprobe; k++) {
        const pcs_probe_record *x = &s->probes[k];
        json_put(j, "{ name: %s, start: %g, end: %g, min: %g, min_time: %g, max: %g, max_time: %g }",
                 view->probes[k].column, x->start, x->end, x->min, x->min_time, x->max, x->max_time);
    }
    json_put(j, "]");
}

static void json_energy(json *j, const pcs_view *view)
{
    const pcs_ledger *l = view->ledger;
    json_put(j, "energy: { initial: %g, final: %g, kinetic: %g, strain: %g, potential: %g", l->initial,
             pcs_measure_energy(&l->now), l->now.kinetic, l->now.strain, l->now.potential);
    json_put(j, "external_work: %g, damping_loss: %g", l->external_work, l->damping_loss);
    if (view->system->has_materials) json_put(j, "material_loss: %g", l->material_loss);
    json_put(j, "impact_loss: %g, friction_loss: %g, correction_work: %g", l->impact_loss, l->friction_loss,
             l->correction_work);
    json_put(j, "numerical_loss: %g, numerical_loss_is: %s, imbalance: %g, largest_rise: %g }", l->numerical_loss,
             l->numerical_is_remainder ? "remainder" : "formula", pcs_ledger_imbalance(l), l->largest_rise);
}

static void json_certificate(json *j, const pcs_certificate *certificate)
{
    json_put(j, "certificate: { verdict: %s, broken: %s, checks: [", pcs_certificate_verdict(certificate),
             certificate->broken == NULL ? NULL : certificate->broken->name);
    for (int i = 0; i < certificate->ncheck; i++) {
        const pcs_check *check = &certificate->checks[i];
        json_put(j, "{ name: %s, unit: %s, worst_value: %g, tolerance: %g, worst_ratio: %g, worst_time: %g",
                 check->name, check->unit, check->worst_value, check->tolerance, check->worst_ratio, check->worst_time);
        json_put(j, "verdict: %s }", pcs_check_verdict(check));
    }
    json_put(j, "] }");
}

// Puts bounds of fields, from the number `first` of the record on.
static void json_bounds(json *j, const pcs_frames_record *record, int first, int count, const char *const *names)
{
    for (int k = 0; k < count; k++)
        json_put(j, "%s: { min: %g, max: %g, largest_time: %g }", names[k], record->field_low[first + k],
                 record->field_high[first + k], record->field_time[first + k]);
}

// Puts bounds of the components of vectors, and of their sizes.
static void json_vectors(json *j, const pcs_frames_record *record)
{
    static const char *const components[4] = { "x", "y", "z", "magnitude" };
    for (int v = 0; v < PCS_FRAME_VECTORS; v++) {
        const double *low = record->vector_low[v], *high = record->vector_high[v];
        if (!(low[3] <= high[3])) continue;
        json_put(j, "%s: {", pcs_frame_vectors[v]);
        for (int k = 0; k < 4; k++) json_put(j, "%s: { min: %g, max: %g }", components[k], low[k], high[k]);
        json_put(j, "}");
    }
}

// Puts what all frames have shown: the scale of pictures without a look at every frame.
static void json_frames(json *j, const pcs_view *view)
{
    const pcs_frames_record *record = pcs_frames_record_find(view);
    const pcs_picture *picture = view->system->picture;
    if (record == NULL) return;
    const double *low = record->low, *high = record->high;
    json_put(j, "frames: { drawn: %ld, low: [ %g, %g, %g ], high: [ %g, %g, %g ], fields: {", record->count, low[0],
             low[1], low[2], high[0], high[1], high[2]);
    json_bounds(j, record, 0, picture->nfield, picture->field_names);
    json_put(j, "}, point_fields: {");
    json_bounds(j, record, picture->nfield, picture->npoint_field, picture->point_names);
    json_put(j, "}, vectors: {");
    json_vectors(j, record);
    json_put(j, "} }");
}

void pcs_summary_put_json(const pcs_summary *s, const pcs_view *view)
{
    json j = { .f = s->file, .digits = s->digits, .depth = 1, .is_first = true };
    pcs_file_text(j.f, "{");
    json_head(&j, view);
    json_effort(&j, s, view);
    json_contacts(&j, s);
    json_reactions(&j, true, s, view);
    json_reactions(&j, false, s, view);
    json_probes(&j, s, view);
    json_energy(&j, view);
    json_certificate(&j, view->certificate);
    json_frames(&j, view);
    pcs_file_text(j.f, "\n}\n");
}

// Returns the ending of a word that counts things.
static const char *summary_plural(long count)
{
    return count == 1 ? "" : "s";
}

static void summary_text_head(pcs_file *f, const pcs_summary *s, const pcs_view *view)
{
    summary_model model = summary_get_model(view);
    long done = view->state->step;
    if (view->title != NULL) pcs_file_print(f, "%s\n", view->title);
    pcs_file_print(f, "%s %s at t = %.10g s after ", view->case_name, summary_ending(view), view->state->t);
    if (view->is_controlled) pcs_file_print(f, "%ld steps of controlled size\n", done);
    else pcs_file_print(f, "%ld of %ld steps of %.6g s\n", done, view->nstep, view->step_size);
    if (view->reason != NULL) {
        pcs_file_text(f, "reason: ");
        pcs_file_text(f, view->reason);
        pcs_file_text(f, "\n");
    }
    if (view->question != NULL) pcs_file_print(f, "question: %s\n", view->question);
    pcs_file_print(f, "\nModel        %d points, %d cells, %d dofs, %d contact point%s", model.npoint, model.ncell,
                   model.ndof, model.ncontact_point, summary_plural(model.ncontact_point));
    if (model.njoint_row > 0)
        pcs_file_print(f, ", %d condition%s of joints", model.njoint_row, summary_plural(model.njoint_row));
    pcs_file_text(f, "\n");
    pcs_file_print(f, "Method       %s, solver %s, linear algebra %s (mass), %s (step)\n", view->scheme_name,
                   view->solver_name, view->mass_backend != NULL ? view->mass_backend : "none",
                   view->step_backend != NULL ? view->step_backend : "none");
    pcs_file_print(f, "Effort       %.3g iterations a step, at most %d; %ld factorization%s\n",
                   done > 0 ? (double)view->iterations / (double)done : 0.0, s->max_iterations, view->factorizations,
                   summary_plural(view->factorizations));
    if (view->cut_steps > 0) {
        pcs_file_print(
            f, "Cut steps    %ld covered by smaller ones, from t = %.6g to %.6g s; the finest h/%ld at %.6g s\n",
            view->cut_steps, view->first_cut, view->last_cut, 1L << view->finest_cut, view->finest_cut_time);
    }
    if (!view->is_controlled && 2 * view->cut_steps > done)
        pcs_file_print(
            f, "             Most steps: they are too long for this motion. Steps of %.3g s usually take less work\n",
            ldexp(view->step_size, -view->finest_cut));
    if (view->handovers > 0)
        pcs_file_print(f, "Hand-overs   %ld steps that %s could not settle went to another solver\n", view->handovers,
                       view->solver_name);
    if (view->is_controlled) {
        pcs_file_print(f, "Step control %ld scheme steps tried, %ld steps rejected, %.3g s a step in the mean",
                       view->attempts, view->rejections, done > 0 ? view->state->t / (double)done : 0.0);
        if (view->inexact > 0) pcs_file_print(f, "; %ld above the tolerance at the smallest step", view->inexact);
        pcs_file_text(f, "\n");
    }
}

static void summary_text_interval(pcs_file *f, const pcs_interval *from)
{
    pcs_interval i = summary_show_interval(from);
    const double forces[] = { pcs_interval_mean(&i), i.peak_force, i.smooth_peak };
    pcs_file_print(f, "  %12.7g %12.7g %12.7g", i.start, i.end, i.end - i.start);
    for (int k = 0; k < 3; k++) {
        if (isfinite(forces[k])) pcs_file_print(f, " %11.6g", forces[k]);
        else pcs_file_print(f, " %11s", "-");
    }
    pcs_file_print(f, " %11.6g %8ld\n", i.impulse, i.nimpact);
}

static void summary_text_contact(pcs_file *f, const pcs_contact_record *c)
{
    if (c->is_joint) {
        pcs_file_print(f, "\nJoint %s: largest misfit %.3g at t = %.6g s, largest force %.6g N at t = %.6g s\n",
                       c->name, c->misfit, c->misfit_time, isfinite(c->peak_force) ? c->peak_force : 0.0, c->peak_time);
        return;
    }
    pcs_file_print(f, "\nContact %s: ", c->name);
    if (c->ninterval == 0) {
        pcs_file_print(f, "never closed, smallest gap %.6g m at t = %.6g s\n", c->min_gap, c->min_gap_time);
        return;
    }
    if (c->ninterval == 1) pcs_file_text(f, "closed once");
    else pcs_file_print(f, "closed %ld times, %.7g s in all", c->ninterval, c->touching_time);
    pcs_file_print(f, "; smallest gap %.3g m at t = %.6g s\n", c->min_gap, c->min_gap_time);
    if (c->rubs) pcs_file_print(f, "  slid %.6g m, friction took %.6g J\n", c->slid, c->friction_loss);
    pcs_file_text(
        f, "     start [s]      end [s]    lasts [s]    mean [N]    peak [N] filtered[N] impulse[Ns]  impacts\n");
    long first = c->ninterval <= SHOWN_INTERVALS ? c->ninterval : SHOWN_INTERVALS - 1;
    for (long i = 0; i < first; i++) summary_text_interval(f, &c->kept[i]);
    if (first == c->ninterval) return;
    long hidden = c->ninterval - first - 1;
    pcs_file_print(f, "  ... %ld more, in all %.6g N s and %ld impact%s; the last:\n", hidden, c->impulse, c->nimpact,
                   summary_plural(c->nimpact));
    summary_text_interval(f, &c->last);
}

static void summary_text_reactions(pcs_file *f, const pcs_summary *s, const pcs_system *system)
{
    if (system->nreaction == 0) return;
    pcs_file_print(f, "\n%-20s %12s %10s %12s %10s %12s %10s\n", "Reactions", "force [N]", "at t [s]", "moment [N m]",
                   "at t [s]", "misfit", "at t [s]");
    for (int r = 0; r < system->nreaction && r < SHOWN_REACTIONS; r++) {
        const pcs_reaction_record *x = &s->reactions[r];
        pcs_file_print(f, "  %-18s %12.6g %10.5g %12.6g %10.5g", system->reactions[r].name, x->force, x->force_time,
                       x->moment, x->moment_time);
        if (system->reactions[r].contact >= 0) pcs_file_print(f, " %12.3g %10.5g", x->misfit, x->misfit_time);
        pcs_file_text(f, "\n");
    }
    if (system->nreaction > SHOWN_REACTIONS)
        pcs_file_print(f, "  ... and %d more in summary.json\n", system->nreaction - SHOWN_REACTIONS);
}

static void summary_text_energy(pcs_file *f, const pcs_ledger *l)
{
    const struct {
        const char *name;
        double change;
    } lines[] = {
        { "external work", l->external_work }, { "damping", -l->damping_loss },
        { "materials", -l->material_loss },    { "impacts", -l->impact_loss },
        { "friction", -l->friction_loss },     { "numerical loss", l->correction_work - l->numerical_loss },
    };
    double end = pcs_measure_energy(&l->now);
    pcs_file_print(f, "\nEnergy [J]\n  %-20s %16.9g\n", "at the start", l->initial);
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        bool is_numerical = k + 1 == sizeof lines / sizeof lines[0];
        if (lines[k].change == 0.0 && !is_numerical) continue;
        pcs_file_print(f, "  %-20s %+16.9g", lines[k].name, lines[k].change + 0.0);
        if (is_numerical) pcs_file_text(f, l->numerical_is_remainder ? "   the remainder" : "   by formula");
        pcs_file_text(f, "\n");
    }
    pcs_file_print(f, "  %-20s %16.9g   kinetic %.6g, strain %.6g, potential %.6g\n", "at the end", end, l->now.kinetic,
                   l->now.strain, l->now.potential);
    if (!l->numerical_is_remainder) {
        pcs_file_print(f, "  %-20s %+16.3g\n", "not accounted for", pcs_ledger_imbalance(l));
    }
    pcs_file_print(f, "  %-20s %16.3g   in one step, beyond the external work\n", "largest rise", l->largest_rise);
}

static void summary_text_certificate(pcs_file *f, const pcs_certificate *certificate)
{
    int width = 0;
    for (int i = 0; i < certificate->ncheck; i++) {
        int length = (int)strlen(certificate->checks[i].name);
        if (length > width) width = length < LONGEST_CHECK ? length : LONGEST_CHECK;
    }
    if (certificate->broken != NULL)
        pcs_file_print(f, "\nCertificate: BROKEN, first '%s'\n", certificate->broken->name);
    else pcs_file_text(f, "\nCertificate: every check held");
    for (int i = 0; i < certificate->ncheck && certificate->broken == NULL; i++)
        if (summary_is_marked(&certificate->checks[i])) pcs_file_print(f, "; MARKED: %s", certificate->checks[i].name);
    if (certificate->broken == NULL) pcs_file_text(f, "\n");
    pcs_file_print(f, "  %-*s %9s %9s %-6s %8s %10s\n", width, "", "worst", "allowed", "", "ratio", "at t [s]");
    for (int i = 0; i < certificate->ncheck; i++) {
        const pcs_check *check = &certificate->checks[i];
        pcs_file_print(f, "  %-*.*s %9.3g %9.3g %-6s %8.2g %10.5g", width, LONGEST_CHECK, check->name,
                       check->worst_value, check->tolerance, check->unit != NULL ? check->unit : "", check->worst_ratio,
                       check->worst_time);
        const char *verdict = pcs_check_verdict(check);
        if (strcmp(verdict, "held") != 0) pcs_file_print(f, "  %s", verdict);
        pcs_file_text(f, "\n");
    }
}

static void summary_text_cost(pcs_file *f, const pcs_view *view)
{
    const pcs_timing *w = view->timing;
    double total = summary_wall_time(w);
    pcs_file_print(f, "\nWall time    %.3g s: set-up %.3g, steps %.3g, certificate %.3g, output %.3g", total, w->setup,
                   w->step, w->certify, w->output);
    if (w->step > 0.0) pcs_file_print(f, " (%.3g steps/s)", (double)view->state->step / w->step);
    if (view->ncheckpoint > 0)
        pcs_file_print(f, "\nCheckpoints  %ld, %.2g %% of the time", view->ncheckpoint,
                       total > 0.0 ? 100.0 * w->checkpoint / total : 0.0);
    pcs_file_print(f, "\nMemory       %.3g MB\n", 1e-6 * (double)view->memory);
}

void pcs_summary_put_text(const pcs_summary *s, const pcs_view *view)
{
    summary_text_head(s->file, s, view);
    for (int k = 0; k < s->ncontact && k < SHOWN_CONTACTS; k++) summary_text_contact(s->file, &s->contacts[k]);
    if (s->ncontact > SHOWN_CONTACTS) {
        pcs_file_print(s->file, "\n... and %d more contacts in summary.json; smallest gap %.6g m, at %s\n",
                       s->ncontact - SHOWN_CONTACTS, s->min_gap, s->worst_contact);
    }
    if (pcs_count_points(view->system) > 0)
        pcs_file_print(s->file,
                       "\nA contact ends when it stays open for more than %.4g s; filtered: largest mean over %.4g s\n",
                       s->open_time, s->window);
    summary_text_reactions(s->file, s, view->system);
    summary_text_energy(s->file, view->ledger);
    summary_text_certificate(s->file, view->certificate);
    summary_text_cost(s->file, view);
}
