// Collects contact intervals and extremes over the run; writes summary.json and summary.txt at its end.

#include "output/summary.h"

#include "core/rotation.h"
#include "output/frames.h"
#include "output/tally.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

// Judges whether a run is resolved, from figures that cost next to nothing, by rules that were calibrated on runs with
// known answers (docs/validation.md): resolved, an error below 2 % is likely; unresolved, one above 20 %; else coarse.
//
// Figures of an episode of contact, over E = the largest kinetic and strain energy so far:
//   net       |numerical loss + impact loss - correction work| / E since the episode before
//   share     largest part of the impulse that one step has
//   ripple    TV(F)/(2 max F) - 1, F the means over 44 equal bins of the episode, a tenth longer at both ends
//   cells     per wavelength at the period T of twice the duration: T c/l of axial waves, of bending
//             2 pi sqrt(sqrt(E I/(rho A)) T/(2 pi))/l
// Without contact, the period that counts follows from the kinetic energy K: a mode of w makes it oscillate with 2 w,
// and over a sampled oscillation the sums of squares of second and first differences are as (2 sin(w h))^2 to 1. Modes
// weigh by (energy times w^2)^2: one with a hundredth of the energy is seen from ten times the frequency on.

const char *const pcs_verdict_names[PCS_VERDICTS + 1] = { "resolved", "coarse", "unresolved", "none" };
const char *const pcs_class_names[PCS_CLASSES] = { "flexible bodies", "force law", "rigid bodies", "no contact",
                                                   "waves" };
const char *const pcs_grade_names[PCS_GRADES] = { "impulse", "velocity", "duration", "filtered_peak", "energy" };

enum { BINS = 44 };
static const double PI = 3.14159265358979323846;
static const double COUNTS = 0.05;  // relative to the largest impulse: smallest one of an episode that counts
static const double REOPENS = 0.05; // fraction of its duration for which an episode may open

// Returns the loss by the method so far, J, which is not physical: impacts of nodes of flexible bodies belong to it.
static double resolution_net(const pcs_view *view)
{
    const pcs_ledger *l = view->ledger;
    bool is_rigid = !(view->axial_cell > 0.0);
    return l->numerical_loss - l->correction_work + (is_rigid ? 0.0 : l->impact_loss);
}

// Returns the mean step, s, NAN before the first one.
static double resolution_step(const pcs_view *view)
{
    long steps = view->state->step;
    return steps > 0 ? (view->state->t - view->start_time) / (double)steps : NAN;
}

// Returns an energy relative to the energy in play. A model without energy loses 0 or 1.
static double resolution_part(const pcs_resolution *r, double energy)
{
    if (r->energy > 0.0) return energy / r->energy;
    return energy == 0.0 ? 0.0 : INFINITY;
}

static void resolution_find_cells(const pcs_view *view, double period, pcs_episode *e)
{
    double bending = view->bending_cell > 0.0 ? 2.0 * PI * sqrt(period / (2.0 * PI * view->bending_cell)) : INFINITY;
    e->axial = view->axial_cell > 0.0 ? period / view->axial_cell : INFINITY;
    e->cells = e->axial < bending ? e->axial : bending;
}

// Returns the impulse since the episode began, at any time.
static double episode_impulse(const pcs_contact_resolution *c, double t, long *from)
{
    long i = *from;
    while (i + 1 < c->count && c->t[i + 1] < t) i++;
    *from = i;
    if (t <= c->t[0] || i + 1 >= c->count) return t <= c->t[0] ? 0.0 : c->now.impulse;
    return c->impulse[i] + (t - c->t[i]) / (c->t[i + 1] - c->t[i]) * (c->impulse[i + 1] - c->impulse[i]);
}

static double episode_ripple(const pcs_contact_resolution *c)
{
    double length = c->now.end - c->now.start, width = 1.2 * length / BINS, begin = c->now.start - 0.1 * length;
    double before = 0.0, force = 0.0, variation = 0.0, largest = 0.0;
    long from = 0;
    for (int bin = 0; bin < BINS; bin++) {
        double impulse = episode_impulse(c, begin + (bin + 1) * width, &from);
        variation += fabs(impulse - before - force);
        force = impulse - before;
        before = impulse;
        largest = fmax(largest, force);
    }
    return largest > 0.0 ? (variation + force) / (2.0 * largest) - 1.0 : NAN;
}

// Adds a point; drops every other one when there is no room.
static void episode_put(pcs_contact_resolution *c, double t, double impulse)
{
    if (c->count >= 2 && t - c->t[c->count - 2] < c->spacing) c->count--;
    if (c->count == PCS_EPISODE_POINTS) {
        c->count = PCS_EPISODE_POINTS / 2;
        for (int i = 0; i < c->count; i++) c->t[i] = c->t[2 * i], c->impulse[i] = c->impulse[2 * i];
        c->spacing = 2.0 * fmax(c->spacing, (t - c->t[0]) / PCS_EPISODE_POINTS);
    }
    c->t[c->count] = t;
    c->impulse[c->count++] = impulse;
}

// Records that a figure is smaller than needed, and the factor by which steps or cells are too large.
static void advise(pcs_advice *a, double need, double have, double *factor, const char *reason)
{
    if (have >= need) return; // an unknown figure, NAN, is not enough
    *factor = fmax(*factor, have > 0.0 ? need / have : 2.0);
    if (a->reason == NULL) a->reason = reason;
}

// Records that a figure which steps and cells, if any, determine together is larger than allowed.
static void advise_both(pcs_advice *a, const pcs_episode *e, double allowed, double x, const char *reason)
{
    if (x <= allowed) return;
    a->step = fmax(a->step, 2.0);
    if (isfinite(e->cells)) a->cells = fmax(a->cells, 2.0);
    if (a->reason == NULL) a->reason = reason;
}

static const char loses[] = "the method loses or gains energy", cells[] = "too few cells per wavelength";

// A contact that outlasts travel times, as under a heavy mass, has a force with jumps, which is no ripple where many
// cells carry them.
static void advise_contact(const pcs_episode *e, pcs_advice *a)
{
    bool has_law = e->class == PCS_CLASS_LAW, has_jumps = !has_law && e->ripple >= 0.3 && e->cells >= 500.0;
    double shares = has_jumps ? 80.0 : 133.0;
    if (has_law) advise(a, 70.0, (double)e->steps, &a->step, "too few steps in contact");
    else advise(a, shares, e->impulse / e->largest, &a->step, "one step has too large a share of the impulse");
    advise(a, has_law ? 45.0 : 6.0, e->cells, &a->cells, cells);
    advise_both(a, e, has_law ? 0.04 : 0.02, e->net, loses);
    if (!has_jumps) advise_both(a, e, has_law ? 0.03 : 0.005, e->ripple, "the force has ripple");
}

// Finds what is missing by the rules of the class.
static pcs_advice advise_by_class(const pcs_episode *e)
{
    pcs_advice a = { .step = 1.0, .cells = 1.0 };
    if (e->class == PCS_CLASS_FLEXIBLE || e->class == PCS_CLASS_LAW) advise_contact(e, &a);
    if (e->contact < 0 && isnan(e->period)) {
        a.reason = "the kinetic energy hardly changes, so no period can be measured";
        return a;
    }
    if (e->class == PCS_CLASS_RIGID && e->flight <= 0) a.reason = "the contact was closed from the start";
    else if (e->class == PCS_CLASS_RIGID)
        advise(&a, 60.0, (double)e->flight, &a.step, "too few steps before the contact");
    if (e->class == PCS_CLASS_RIGID) advise_both(&a, e, 0.1, e->variation, loses);
    if (e->class == PCS_CLASS_WAVE) {
        advise(&a, 40.0, (double)e->steps, &a.step, "too few steps in contact");
        advise(&a, e->contact < 0 ? 56.0 : 20.0, e->cells, &a.cells, cells);
        a.step = a.cells = fmax(a.step, a.cells); // the step follows the cells
    }
    if (e->class == PCS_CLASS_FREE) {
        // Bending has no fronts, which need cells, but modes far apart: the second has a period of a sixth.
        advise(&a, e->cells < e->axial ? 220.0 : 120.0, e->period, &a.step, "too few steps in a period");
        advise(&a, 80.0, e->axial, &a.cells, cells);
        advise(&a, 16.0, e->cells, &a.cells, cells);
        advise_both(&a, e, 0.012, e->variation, loses);
    }
    return a;
}

static const double SPRINGS = 1e-6; // least strain energy of bodies on springs, of the energy in play

pcs_advice pcs_resolution_advise(const pcs_episode *e, const pcs_resolution *r)
{
    pcs_advice a = advise_by_class(e);
    bool is_rigid = e->class == PCS_CLASS_RIGID;
    bool has_springs = is_rigid && (isfinite(r->period) || r->strain > SPRINGS * r->energy);
    if (r->corrections > r->energy) advise_both(&a, e, 0.0, 1.0, "large corrections of positions cancel");
    if (has_springs) advise(&a, 60.0, r->period, &a.step, "too few steps in the shortest period of springs");
    for (int g = 0; g < PCS_GRADES; g++) a.grade[g] = e->verdict;
    bool has_impulse = e->net <= 0.03 && e->largest <= 0.02 * e->impulse && e->cells >= 6.0;
    if (e->class == PCS_CLASS_FLEXIBLE && has_impulse) a.grade[0] = PCS_RESOLVED;
    if (e->lasts) a.grade[0] = a.grade[2] = e->verdict > PCS_COARSE ? e->verdict : PCS_COARSE;
    if (e->contact < 0) a.grade[0] = PCS_VERDICTS;
    if (e->contact < 0 || is_rigid) a.grade[2] = a.grade[3] = PCS_VERDICTS;
    a.grade[4] = e->net > 0.2 ? PCS_UNRESOLVED : PCS_COARSE;
    if (e->net <= 0.02) a.grade[4] = PCS_RESOLVED;
    return a;
}

static long judge(const pcs_episode *e)
{
    bool is_bad = false;
    if (e->class == PCS_CLASS_FLEXIBLE)
        is_bad = e->net > 0.3 || (e->steps < 12 && e->net > 0.12) || (e->largest > 0.3 * e->impulse && !e->has_opened);
    if (e->class == PCS_CLASS_LAW) is_bad = e->steps < 6 || e->net > 0.3 || (e->ripple > 0.145 && e->cells < 20.0);
    if (e->class == PCS_CLASS_FREE) is_bad = e->period < 12.0 || e->cells < 4.0 || e->variation > 0.5;
    if (is_bad) return PCS_UNRESOLVED;
    return advise_by_class(e).reason == NULL ? PCS_RESOLVED : PCS_COARSE;
}

static bool resolution_is_wave(const pcs_view *view)
{
    return strcmp(view->scheme_name, "wave") == 0;
}

static long resolution_class(const pcs_view *view, int contact)
{
    const pcs_system *system = view->system;
    bool has_law = system->contacts[contact].nrow > 0 && system->contacts[contact].first_row >= system->nrow;
    if (pcs_rows_are_distributed(system)) has_law = pcs_rows_max(system, has_law) > 0.0;
    if (resolution_is_wave(view)) return PCS_CLASS_WAVE;
    if (has_law) return PCS_CLASS_LAW;
    return view->axial_cell > 0.0 ? PCS_CLASS_FLEXIBLE : PCS_CLASS_RIGID;
}

// Returns true if what was read from a checkpoint names verdicts, classes and the contact k.
static bool resolution_is_sound(const pcs_contact_resolution *c, int k)
{
    bool is_sound = c->count >= 0 && c->count <= PCS_EPISODE_POINTS;
    for (int v = 0; v < PCS_VERDICTS && is_sound; v++) {
        const pcs_episode *e = &c->kept[v];
        bool is_own = e->verdict == v && e->contact == k && e->class >= 0 && e->class < PCS_CLASSES;
        is_sound = e->impulse == 0.0 || (is_own && isfinite(e->impulse));
    }
    return is_sound;
}

// Ends the episode of a contact, judges it, and keeps it if no other of this verdict has a larger impulse.
static void episode_end(pcs_summary *s, const pcs_view *view, int k)
{
    pcs_contact_resolution *c = &s->resolution.contact[k];
    pcs_episode *e = &c->now;
    if (!(e->impulse > 0.0)) return;
    e->class = resolution_class(view, k);
    e->contact = k;
    e->net = resolution_part(&s->resolution, fabs(c->net - c->net_before));
    c->net_before = c->net;
    e->ripple = episode_ripple(c);
    resolution_find_cells(view, 2.0 * (e->end - e->start), e);
    e->variation = resolution_part(&s->resolution, s->resolution.variation);
    e->period = NAN;
    e->verdict = judge(e);
    if (e->impulse > c->kept[e->verdict].impulse) c->kept[e->verdict] = *e;
}

// Adds a step to the episode of a contact that touches, or begins another.
static void episode_add(pcs_summary *s, const pcs_view *view, int k)
{
    pcs_contact_resolution *c = &s->resolution.contact[k];
    const pcs_contact_step *now = &s->now[k];
    pcs_episode *e = &c->now;
    double open = now->start - e->end, reopens = pcs_max(s->open_time, REOPENS * (e->end - e->start));
    if (!(e->impulse > 0.0) || open > reopens + 1e-6 * now->h) {
        long last = e->impulse > 0.0 ? e->first_step + e->steps : 1;
        episode_end(s, view, k);
        *e = (pcs_episode){ .first_step = now->step, .flight = now->step - last, .start = now->start };
        c->count = 0;
        c->spacing = 0.0;
        episode_put(c, now->start, 0.0);
        open = 0.0;
    }
    if (open > 0.5 * now->h) {
        e->has_opened = 1;
        episode_put(c, now->start, e->impulse);
    }
    e->impulse += now->step_impulse;
    e->largest = pcs_max(e->largest, now->step_impulse);
    e->end = now->t;
    e->steps = now->step - e->first_step + 1;
    c->net = resolution_net(view);
    episode_put(c, now->t, e->impulse);
}

static void resolution_add(pcs_summary *s, const pcs_view *view)
{
    pcs_resolution *r = &s->resolution;
    const pcs_ledger *l = view->ledger;
    double slope = l->now.kinetic - r->kinetic;
    r->energy = pcs_max(r->energy, l->now.kinetic + l->now.strain);
    r->strain = pcs_max(r->strain, l->now.strain);
    if (view->state->step == 0 || l->now.kinetic < r->least) r->least = l->now.kinetic;
    r->most = pcs_max(r->most, l->now.kinetic);
    r->variation += fabs(l->numerical_loss - r->numerical);
    r->corrections += fabs(l->correction_work - r->correction);
    if (view->state->step > 0) r->slopes2 += slope * slope;
    if (view->state->step > 1) r->curvatures2 += (slope - r->slope) * (slope - r->slope);
    r->numerical = l->numerical_loss;
    r->correction = l->correction_work;
    r->kinetic = l->now.kinetic;
    r->slope = slope;
    for (int k = 0; k < s->ncontact; k++)
        if (s->now[k].touches && !s->contacts[k].is_joint) episode_add(s, view, k);
}

// Returns the motion of a run without contact as an episode.
static pcs_episode resolution_free(const pcs_resolution *r, const pcs_view *view)
{
    long steps = view->state->step;
    double ratio = sqrt(r->curvatures2 / r->slopes2);
    bool prints = r->most - r->least > 0.01 * r->energy && steps >= 3;
    pcs_episode e = { .class = PCS_CLASS_FREE, .contact = -1, .steps = steps, .end = view->state->t };
    if (resolution_is_wave(view)) e.class = PCS_CLASS_WAVE;
    e.period = prints ? 2.0 * PI / asin(fmin(0.5 * ratio, 1.0)) : NAN;
    e.variation = resolution_part(r, r->variation);
    e.net = resolution_part(r, fabs(resolution_net(view)));
    resolution_find_cells(view, e.period * resolution_step(view), &e);
    e.ripple = NAN;
    e.verdict = judge(&e);
    return e;
}

// Returns the worst episode of contact, of those that count the one with the largest impulse, or the free motion.
static pcs_episode resolution_worst(const pcs_summary *s, const pcs_view *view)
{
    const pcs_resolution *r = &s->resolution;
    const pcs_episode *worst = NULL;
    double largest = 0.0;
    for (int k = 0; k < s->ncontact; k++)
        for (int v = 0; v < PCS_VERDICTS; v++) largest = fmax(largest, r->contact[k].kept[v].impulse);
    for (int v = PCS_RESOLVED; v < PCS_VERDICTS; v++)
        for (int k = 0; k < s->ncontact; k++) {
            const pcs_episode *e = &r->contact[k].kept[v];
            bool is_worse = worst == NULL || v > worst->verdict || e->impulse > worst->impulse;
            if (e->impulse > COUNTS * largest && is_worse) worst = e;
        }
    return worst == NULL ? resolution_free(r, view) : *worst;
}

// Ends the episodes that last, and returns the one that decides.
static pcs_episode resolution_judge(pcs_summary *s, const pcs_view *view)
{
    for (int k = 0; k < s->ncontact; k++) {
        s->resolution.contact[k].now.lasts = s->now[k].touches;
        episode_end(s, view, k);
    }
    double stable = view->system->stable_step; // 2/w of the fastest mode
    s->resolution.period = isfinite(stable) ? PI * stable / resolution_step(view) : NAN;
    pcs_episode e = resolution_worst(s, view);
    bool is_complete = pcs_resolution_advise(&e, &s->resolution).reason == NULL;
    if (e.verdict == PCS_RESOLVED && !is_complete) e.verdict = PCS_COARSE;
    return e;
}

// summary.json for programs and summary.txt, one screen of it, for people.

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

// Returns the change of energy minus external work and corrections plus losses, J: zero if all is accounted for.
static double ledger_imbalance(const pcs_ledger *l)
{
    double now = pcs_measure_energy(&l->now);
    double lost = l->damping_loss + l->impact_loss + l->friction_loss + l->numerical_loss + l->material_loss;
    double booked = l->external_work + l->correction_work - lost;
    return now - l->initial - booked;
}

static const char *const summary_endings[] = { "running", "finished", "stopped" };

static double summary_wall_time(const pcs_timing *w)
{
    return w->setup + w->step + w->certify + w->output + w->checkpoint;
}

// Returns an interval with NAN for forces that it does not have: an impulse within one step has none.
static pcs_interval summary_show_interval(const pcs_interval *from)
{
    pcs_interval i = *from;
    if (!(from->pressed > 0.0)) i.peak_force = i.peak_time = i.smooth_peak = i.smooth_time = NAN;
    return i;
}

typedef struct json {
    pcs_file *f;
    int depth;
    bool is_first; // first value in its object or list
    bool has_name; // the name of the next value has been written
} json;

static void json_indent(json *j)
{
    static const char blanks[] = "\n                "; // the summary is less than eight objects and lists deep
    pcs_file_bytes(j->f, blanks, 1 + 2 * (size_t)j->depth);
}

// Puts the value that printf's conversion asks for.
static void json_value(json *j, char conversion, va_list *values)
{
    const char *text = conversion == 's' ? va_arg(*values, const char *) : NULL;
    double x = conversion == 'g' ? va_arg(*values, double) : NAN;
    if (conversion == 'd') x = va_arg(*values, int);
    if (conversion == 'l') x = (double)va_arg(*values, long);
    if (text != NULL) pcs_file_json(j->f, text);
    else if (isfinite(x)) pcs_file_number(j->f, x);
    else pcs_file_text(j->f, "null");
}

static void json_token(json *j, const char *token, size_t length, va_list *values)
{
    bool is_name = token[length] == ':', is_bracket = *token == '{' || *token == '[';
    if (*token == '}' || *token == ']') {
        j->depth--;
        if (!j->is_first) json_indent(j);
        pcs_file_bytes(j->f, token, 1);
        j->is_first = false;
        return;
    }
    if (!j->has_name && !j->is_first) pcs_file_text(j->f, ",");
    if (!j->has_name) json_indent(j);
    bool is_quoted = is_name && *token != '%';
    if (is_quoted) pcs_file_bytes(j->f, "\"", 1);
    if (*token == '%') json_value(j, token[1], values);
    else pcs_file_bytes(j->f, token, length);
    if (is_name) pcs_file_text(j->f, is_quoted ? "\": " : ": ");
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
    const pcs_picture *picture = view->system->picture;
    json_put(j, "version: %s, case: %s, title: %s, ending: %s", view->version, view->case_name, view->title,
             summary_endings[view->ending]);
    json_put(j, "reason: %s, question: %s, scheme: %s, solver: %s", view->reason, view->question, view->scheme_name,
             view->solver_name);
    json_put(j, "mass_backend: %s, step_backend: %s", view->mass_backend, view->step_backend);
    json_put(j, "model: { points: %d, cells: %d, dofs: %d, contact_points: %d, joint_rows: %d }",
             picture == NULL ? 0 : picture->nall_node, picture == NULL ? 0 : picture->nall_cell,
             pcs_system_ndof(view->system), pcs_count_points(view->system), pcs_count_conditions(view->system));
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
             has_touched ? c->last.end : NAN, c->pressed_time > 0.0 ? c->smooth_impulse / c->pressed_time : NAN);
    json_put(j, "peak_force: %g, peak_force_time: %g", c->peak_force, isfinite(c->peak_force) ? c->peak_time : NAN);
    json_put(j, "filtered_peak_force: %g, filtered_peak_force_time: %g", c->smooth_peak,
             isfinite(c->smooth_peak) ? c->smooth_time : NAN);
    json_put(j, "total_impulse: %g, impact_loss: %g, friction_loss: %g, work: %g, sliding_distance: %g", c->impulse,
             c->impact_loss, c->friction_loss, c->work, c->has_friction ? c->slid : NAN);
    json_put(j, "min_gap: %g, min_gap_time: %g", c->min_gap, c->min_gap_time);
    json_put(j, c->is_touching ? "is_touching_at_end: true" : "is_touching_at_end: false");
    // Lists the first intervals and the last. interval_count has the total.
    json_put(j, "intervals: [");
    for (long i = 0; i < c->ninterval && i < PCS_KEPT_INTERVALS; i++) json_interval(j, &c->kept[i]);
    if (c->ninterval > PCS_KEPT_INTERVALS) json_interval(j, &c->last);
    json_put(j, "] }");
}

// Returns the contact of the smallest gap, the first one to have it; NULL without contacts.
static const pcs_contact_record *summary_worst(const pcs_summary *s)
{
    const pcs_contact_record *worst = NULL;
    for (int k = 0; k < s->ncontact; k++) {
        const pcs_contact_record *c = &s->contacts[k];
        double least = worst == NULL ? INFINITY : worst->min_gap;
        if (c->min_gap < least || (c->min_gap == least && worst != NULL && c->min_gap_time < worst->min_gap_time))
            worst = c;
    }
    return worst;
}

static void json_contacts(json *j, const pcs_summary *s)
{
    const pcs_contact_record *worst = summary_worst(s);
    json_put(j, "min_gap: %g, min_gap_time: %g, open_time: %g, filter_window: %g, contacts: [",
             worst == NULL ? NAN : worst->min_gap, worst == NULL ? NAN : worst->min_gap_time, s->open_time, s->window);
    for (int k = 0; k < s->ncontact; k++)
        if (!s->contacts[k].is_joint) json_contact(j, &s->contacts[k]);
    json_put(j, "]");
}

// Puts joints or supports. A joint of a system in closed form has no reaction in space.
static void json_reactions(json *j, bool of_joints, const pcs_summary *s, const pcs_view *view)
{
    json_put(j, of_joints ? "joints: [" : "supports: [");
    for (int k = 0; k < s->ncontact; k++) {
        const pcs_contact_record *c = &s->contacts[k];
        if (!of_joints || !c->is_joint) continue;
        json_put(j, "{ name: %s, largest_error: %g, largest_error_time: %g, work: %g", c->name, c->gap_error,
                 c->gap_error_time, c->work);
        json_put(j, "peak_force: %g, peak_force_time: %g }", c->peak_force,
                 isfinite(c->peak_force) ? c->peak_time : NAN);
    }
    for (int r = 0; r < view->system->nreaction; r++) {
        const pcs_reaction_record *x = &s->reactions[r];
        if ((view->system->reactions[r].contact >= 0) != of_joints) continue;
        json_put(j, "{ name: %s", view->system->reactions[r].name);
        if (of_joints)
            json_put(j, "largest_error: %g, largest_error_time: %g, work: %g", x->gap_error, x->gap_error_time,
                     x->work);
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

static void json_energy(json *j, const pcs_summary *s, const pcs_view *view)
{
    const pcs_ledger *l = view->ledger;
    json_put(j, "energy: { initial: %g, final: %g, kinetic: %g, strain: %g, potential: %g", l->initial,
             pcs_measure_energy(&l->now), l->now.kinetic, l->now.strain, l->now.potential);
    json_put(j, "external_work: %g, damping_loss: %g", l->external_work, l->damping_loss);
    if (view->system->has_materials) json_put(j, "material_loss: %g", l->material_loss);
    json_put(j, "impact_loss: %g, friction_loss: %g, correction_work: %g", l->impact_loss, l->friction_loss,
             l->correction_work);
    json_put(j, "numerical_loss: %g, numerical_loss_is: %s, imbalance: %g, largest_rise: %g", l->numerical_loss,
             l->numerical_is_remainder ? "remainder" : "formula", ledger_imbalance(l), l->largest_rise);
    json_put(j, "largest_kinetic: %g }", s->resolution.most);
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

static void json_resolution(json *j, const pcs_summary *s, const pcs_view *view)
{
    const pcs_episode *e = &s->verdict;
    const pcs_resolution *r = &s->resolution;
    pcs_advice advice = pcs_resolution_advise(e, r);
    long steps = view->state->step;
    bool helps = advice.step > 1.0 || advice.cells > 1.0;
    json_put(j, "resolution: { verdict: %s, class: %s, reason: %s, contact: %s", pcs_verdict_names[e->verdict],
             pcs_class_names[e->class], e->verdict == PCS_RESOLVED ? NULL : advice.reason,
             e->contact < 0 ? NULL : s->contacts[e->contact].name);
    json_put(j, "start: %g, end: %g, steps: %ld, steps_before: %ld, largest_share: %g, ripple: %g, net_loss: %g",
             e->start, e->end, e->steps, e->flight, e->contact < 0 ? NAN : e->largest / e->impulse, e->ripple, e->net);
    json_put(j, "cells_per_wavelength: %g, steps_per_period: %g, numerical_variation: %g, correction_variation: %g",
             e->cells, e->period, e->variation, r->corrections / r->energy);
    json_put(j, "cut_share: %g, handover_share: %g, grades: {", (double)view->cut_steps / (double)steps,
             (double)view->handovers / (double)steps);
    for (int g = 0; g < PCS_GRADES; g++) json_put(j, "%s: %s", pcs_grade_names[g], pcs_verdict_names[advice.grade[g]]);
    json_put(j, "peak: %s }, advice: { step: %g, elements_factor: %g } }", "never",
             helps ? resolution_step(view) / advice.step : NAN, advice.cells);
}

static void json_horizon(json *j, const pcs_view *view)
{
    const pcs_horizon *h = view->horizon;
    json_put(j, "horizon: { perturbation: %g, energy: %g, compared: %g, time: %g, reason: %s, probes: [", h->size,
             h->energy, h->compared, h->time, h->reason[0] == '\0' ? NULL : h->reason);
    for (int k = 0; k < view->nprobe; k++) {
        const pcs_horizon_probe *probe = &h->probes[k];
        json_put(j, "{ name: %s, time: %g, largest: %g }", view->probes[k].column, probe->time,
                 probe->is_judged ? probe->largest : NAN);
    }
    json_put(j, "] }");
}

// Puts bounds of fields, from the number `first` of the record on.
static void json_bounds(json *j, const pcs_frames_record *record, int first, int count, const char *const *names)
{
    for (int k = 0; k < count; k++)
        json_put(j, "%s: { min: %g, max: %g, largest_time: %g }", names[k], -record->fields[first + k].below,
                 record->fields[first + k].above, record->field_time[first + k]);
}

// Writes the bounds over all frames, so that pictures are scaled without reading every frame.
static void json_frames(json *j, const pcs_frames_record *record, const pcs_picture *picture)
{
    static const char *const components[4] = { "x", "y", "z", "magnitude" };
    const pcs_bounds *x = record->position;
    json_put(j, "frames: { drawn: %ld, low: [ %g, %g, %g ], high: [ %g, %g, %g ], fields: {", record->count,
             -x[0].below, -x[1].below, -x[2].below, x[0].above, x[1].above, x[2].above);
    json_bounds(j, record, 0, picture->nfield, picture->field_names);
    json_put(j, "}, point_fields: {");
    json_bounds(j, record, picture->nfield, picture->npoint_field, picture->point_names);
    json_put(j, "}, vectors: {");
    for (x = record->vectors; x < record->vectors + 4 * PCS_FRAME_VECTORS; x += 4) {
        if (!(-x[3].below <= x[3].above)) continue;
        json_put(j, "%s: {", pcs_frame_vectors[(x - record->vectors) / 4]);
        for (int k = 0; k < 4; k++) json_put(j, "%s: { min: %g, max: %g }", components[k], -x[k].below, x[k].above);
        json_put(j, "}");
    }
    json_put(j, "} }");
}

static void summary_put_json(const pcs_summary *s, const pcs_view *view)
{
    json j = { .f = s->file, .depth = 1, .is_first = true };
    pcs_file_text(j.f, "{");
    json_head(&j, view);
    json_effort(&j, s, view);
    json_contacts(&j, s);
    json_reactions(&j, true, s, view);
    json_reactions(&j, false, s, view);
    json_probes(&j, s, view);
    json_energy(&j, s, view);
    json_certificate(&j, view->certificate);
    json_resolution(&j, s, view);
    if (view->horizon != NULL) json_horizon(&j, view);
    for (int i = 0; i < view->nobserver; i++) {
        const pcs_frames_record *record = view->observers[i].data; // first member of the data of frames
        if (strcmp(view->observers[i].ops->name, "frames") == 0 && record->count > 0)
            json_frames(&j, record, view->system->picture);
    }
    pcs_file_text(j.f, "\n}\n");
}

// Returns the ending of a word that counts things.
static const char *summary_plural(long count)
{
    return count == 1 ? "" : "s";
}

static void summary_text_head(pcs_file *f, const pcs_summary *s, const pcs_view *view)
{
    const pcs_picture *picture = view->system->picture;
    int npoint = pcs_count_points(view->system), ncondition = pcs_count_conditions(view->system);
    long done = view->state->step;
    if (view->title != NULL) pcs_file_print(f, "%s\n", view->title);
    pcs_file_print(f, "%s %s at t = %.10g s after ", view->case_name, summary_endings[view->ending], view->state->t);
    if (view->is_controlled) pcs_file_print(f, "%ld steps of controlled size\n", done);
    else pcs_file_print(f, "%ld of %ld steps of %.6g s\n", done, view->nstep, view->step_size);
    if (view->reason != NULL) {
        pcs_file_text(f, "reason: ");
        pcs_file_text(f, view->reason);
        pcs_file_text(f, "\n");
    }
    if (view->question != NULL) pcs_file_print(f, "question: %s\n", view->question);
    pcs_file_print(f, "\nModel        %d points, %d cells, %d dofs, %d contact point%s",
                   picture == NULL ? 0 : picture->nall_node, picture == NULL ? 0 : picture->nall_cell,
                   pcs_system_ndof(view->system), npoint, summary_plural(npoint));
    if (ncondition > 0) pcs_file_print(f, ", %d condition%s of joints", ncondition, summary_plural(ncondition));
    pcs_file_text(f, "\n");
    pcs_file_print(f, "Method       %s, solver %s, linear algebra %s (mass), %s (step)\n", view->scheme_name,
                   view->solver_name, view->mass_backend != NULL ? view->mass_backend : "none",
                   view->step_backend != NULL ? view->step_backend : "none");
    pcs_file_print(f, "Effort       %.3g iterations per step, at most %d; %ld factorization%s\n",
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
        pcs_file_print(f, "Hand-overs   %ld steps in which %s did not converge were solved by another solver\n",
                       view->handovers, view->solver_name);
    if (view->is_controlled) {
        pcs_file_print(f, "Step control %ld steps tried, %ld rejected, mean step %.3g s", view->attempts,
                       view->rejections, done > 0 ? view->state->t / (double)done : 0.0);
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
        pcs_file_print(f, "\nJoint %s: largest error %.3g at t = %.6g s, largest force %.6g N at t = %.6g s\n", c->name,
                       c->gap_error, c->gap_error_time, isfinite(c->peak_force) ? c->peak_force : 0.0, c->peak_time);
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
    if (c->has_friction) pcs_file_print(f, "  slid %.6g m, friction took %.6g J\n", c->slid, c->friction_loss);
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
                   "at t [s]", "error", "at t [s]");
    for (int r = 0; r < system->nreaction && r < SHOWN_REACTIONS; r++) {
        const pcs_reaction_record *x = &s->reactions[r];
        pcs_file_print(f, "  %-18s %12.6g %10.5g %12.6g %10.5g", system->reactions[r].name, x->force, x->force_time,
                       x->moment, x->moment_time);
        if (system->reactions[r].contact >= 0) pcs_file_print(f, " %12.3g %10.5g", x->gap_error, x->gap_error_time);
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
        pcs_file_print(f, "  %-20s %+16.3g\n", "not accounted for", ledger_imbalance(l));
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

static void summary_text_resolution(pcs_file *f, const pcs_summary *s, const pcs_view *view)
{
    const pcs_episode *e = &s->verdict;
    pcs_advice advice = pcs_resolution_advise(e, &s->resolution);
    bool helps = advice.step > 1.0 || advice.cells > 1.0;
    bool is_resolved = e->verdict == PCS_RESOLVED;
    pcs_file_print(f, "\nResolution: %s (%s)%s%s\n", pcs_verdict_names[e->verdict], pcs_class_names[e->class],
                   is_resolved ? "" : ": ", is_resolved || advice.reason == NULL ? "" : advice.reason);
    if (e->contact >= 0)
        pcs_file_print(
            f, "  contact %s from %.6g to %.6g s: %ld steps, %ld before it; at most %.2g of its impulse in one step\n",
            s->contacts[e->contact].name, e->start, e->end, e->steps, e->flight, e->largest / e->impulse);
    else if (isfinite(e->period)) pcs_file_print(f, "  %.3g steps in a period of the kinetic energy\n", e->period);
    pcs_file_print(f, "  relative to the energy exchanged: net loss %.2g, variation of the numerical loss %.2g", e->net,
                   e->variation);
    if (isfinite(e->ripple)) pcs_file_print(f, "; ripple of the force %.2g", e->ripple);
    if (isfinite(e->cells)) pcs_file_print(f, "; %.3g cells per wavelength", e->cells);
    pcs_file_text(f, "\n  ");
    for (int g = 0; g < PCS_GRADES; g++)
        pcs_file_print(f, "%s %s, ", pcs_grade_names[g], pcs_verdict_names[advice.grade[g]]);
    pcs_file_text(f, "raw peak never resolved\n");
    if (is_resolved || !helps) return;
    if (view->is_controlled) pcs_file_text(f, "  try a smaller tolerance, or more steps, in time.control");
    else pcs_file_print(f, "  try time.step=%.3g", resolution_step(view) / advice.step);
    if (advice.cells > 1.0) pcs_file_print(f, " and %.2g times the elements", advice.cells);
    pcs_file_text(f, "\n");
}

static void summary_text_horizon(pcs_file *f, const pcs_view *view)
{
    const pcs_horizon *h = view->horizon;
    const char *head = "\n  ";
    double largest = -1.0;
    if (h == NULL) return;
    for (int k = 0; k < view->nprobe; k++)
        if (h->probes[k].is_judged) largest = fmax(largest, h->probes[k].largest);
    bool is_judged = largest >= 0.0;
    if (isfinite(h->time))
        pcs_file_print(f,
                       "\nHorizon: after %.4g s the motion with this step depends on %.0e of its start: quote "
                       "statistics, not curves",
                       h->time, h->size);
    else if (!is_judged) pcs_file_print(f, "\nHorizon: not judged: %s", h->reason);
    else
        pcs_file_print(f, "\nHorizon: none up to %.6g s; %.0e of the start grows to %.1e of the range of a probe",
                       h->compared, h->size, largest);
    for (int k = 0; k < view->nprobe; k++, head = ", ") {
        const pcs_horizon_probe *probe = &h->probes[k];
        if (isfinite(probe->time)) pcs_file_print(f, "%s%s %.4g s", head, view->probes[k].column, probe->time);
        else pcs_file_print(f, "%s%s %s", head, view->probes[k].column, probe->is_judged ? "none" : "not judged");
    }
    if (is_judged && h->reason[0] != '\0')
        pcs_file_print(f, "\n  A neighbour ended at %.6g s: %s", h->compared, h->reason);
    pcs_file_text(f, "\n");
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

static void summary_put_text(const pcs_summary *s, const pcs_view *view)
{
    summary_text_head(s->file, s, view);
    for (int k = 0; k < s->ncontact && k < SHOWN_CONTACTS; k++) summary_text_contact(s->file, &s->contacts[k]);
    if (s->ncontact > SHOWN_CONTACTS) {
        const pcs_contact_record *worst = summary_worst(s);
        pcs_file_print(s->file, "\n... and %d more contacts in summary.json; smallest gap %.6g m, at %s\n",
                       s->ncontact - SHOWN_CONTACTS, worst == NULL ? INFINITY : worst->min_gap,
                       worst == NULL ? NULL : worst->name);
    }
    if (pcs_count_points(view->system) > 0)
        pcs_file_print(s->file,
                       "\nA contact ends when it stays open for more than %.4g s; filtered: largest mean over %.4g s\n",
                       s->open_time, s->window);
    summary_text_reactions(s->file, s, view->system);
    summary_text_energy(s->file, view->ledger);
    summary_text_certificate(s->file, view->certificate);
    summary_text_resolution(s->file, s, view);
    summary_text_horizon(s->file, view);
    summary_text_cost(s->file, view);
}

enum { SUMMARY_BUFFER = 1 << 16, FEWEST_CELLS = 8 };
enum { WINDOW_PARTS = 32 }; // least distance of points of a window, as a fraction of it, every other one
// Extremes that differ by less, relative to their size or to the range of a probe, are equal.
static const double SAME_EXTREME = 1e-9;

typedef struct summary_params {
    double open_time, filter; // s, NAN if not given
    bool text;
} summary_params;

static const pcs_option summary_options[] = {
    PCS_REAL("open_time", summary_params, open_time, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "openings up to this duration do not end a contact, s; by default 3 steps, or half a period of the ripple "
             "behind a wave front if that is longer"),
    PCS_REAL("filter", summary_params, filter, PCS_OPTIONAL, PCS_POSITIVE,
             "window of the moving mean of the filtered peak force, s; by default 10 steps, or two periods of the "
             "ripple behind a wave front if these are longer"),
    PCS_FLAG("text", summary_params, text, PCS_DEFAULT("true"), "summary.txt beside summary.json"),
    { .name = NULL },
};

// Adds a point; drops points before the window, and the last one if it is too near to the one before.
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

// Updates a largest value and the time at which it is first reached. On a plateau round-off would choose the time.
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
    pcs_window *w = &c->window;
    double length = c->window_time;
    bool was_open = now->start > i->end;
    if (was_open) window_put(w, length, now->start, i->impulse - now->step_impulse);
    window_put(w, length, now->t, i->impulse);
    // Allows for round-off of an interval that lasts a whole number of steps.
    if (!(length > 0.0) || now->t - i->start < length - 1e-6 * now->h) return;
    double begin = w->impulse[0]; // impulse at the beginning of the window, between its first two points
    double share = w->count < 2 ? 0.0 : (now->t - length - w->t[0]) / (w->t[1] - w->t[0]);
    if (w->count > 1) begin += fmin(fmax(share, 0.0), 1.0) * (w->impulse[1] - w->impulse[0]);
    record_largest((i->impulse - begin) / length, now->t, &i->smooth_peak, &i->smooth_then, &i->smooth_time);
}

// Adds the last step to the totals over intervals with a force. From the first force on, the whole interval counts.
static void record_add_force(pcs_contact_record *c, const pcs_interval *before)
{
    const pcs_interval *i = &c->last;
    bool had_force = before->pressed > 0.0;
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
    if (i->pressed > 0.0) record_add_force(c, &before);
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

// Numbers of a contact in a step that are added up over its points, here and in other processes, and of which the
// largest counts.
enum { FORCE, STEP_IMPULSE, PRESSED, IMPACTS, IMPACT_LOSS, FRICTION_LOSS, WORK, SUMS };
enum { TOUCHES, NEAREST, SLID, LARGEST, JOINED = SUMS + LARGEST };

// Adds the sliding distance, by the trapezoidal rule, of a step that starts closed and in which the point presses; a
// compliant point that sticks moves without sliding.
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

// Updates work, largest error and largest force of a joint, which has neither intervals nor a smallest gap.
static void summary_take_joint(const pcs_view *view, const pcs_contact_info *joint, bool has_force,
                               pcs_contact_record *c)
{
    for (int j = joint->first_row; j < joint->first_row + joint->nrow; j++) {
        const pcs_row_report *row = &view->report->rows[j];
        double t = view->state->t;
        c->work += summary_work(row);
        summary_keep_largest(fabs(row->gap), t, &c->gap_error, &c->gap_error_time);
        if (has_force && isfinite(row->force)) summary_keep_largest(fabs(row->force), t, &c->peak_force, &c->peak_time);
    }
}

// Adds up the points of a contact that are here; joints have none.
static void summary_gather(const pcs_view *view, const pcs_summary *s, int k, double sum[SUMS], double largest[LARGEST])
{
    const pcs_contact_info *contact = &view->system->contacts[k];
    int count = s->contacts[k].is_joint ? 0 : contact->nrow;
    memset(sum, 0, SUMS * sizeof *sum);
    largest[TOUCHES] = largest[SLID] = 0.0;
    largest[NEAREST] = -INFINITY;
    for (int j = contact->first_row; j < contact->first_row + count; j++) {
        const pcs_row_report *row = &view->report->rows[j];
        double rounding = pcs_impulse_rounding(view, j);
        if (isfinite(row->force)) sum[FORCE] += row->force; // at t = 0 there may be none
        sum[STEP_IMPULSE] += row->step_impulse;
        if (row->step_impulse - row->impulse > rounding) sum[PRESSED] += row->step_impulse - row->impulse;
        sum[IMPACTS] += row->is_impact && row->impulse > rounding;
        sum[IMPACT_LOSS] += row->normal_loss;
        sum[FRICTION_LOSS] += row->friction_loss;
        sum[WORK] += summary_work(row);
        if (row->step_impulse > rounding) largest[TOUCHES] = 1.0;
        if (-row->gap > largest[NEAREST]) largest[NEAREST] = -row->gap;
        if (s->contacts[k].has_friction) summary_slide(view, s->speed, j, &s->points[j]);
        if (s->contacts[k].has_friction) largest[SLID] = fmax(largest[SLID], s->points[j].slid);
    }
}

// Adds up the results of each contact in the last step. Returns true if one closed. Its impulse passes through joints
// and supports at once, and a force over the step would be arbitrary, as it would be in the contact.
static bool summary_gather_all(const pcs_view *view, pcs_summary *s)
{
    double *sums = s->joined, *largest = s->joined + SUMS * s->ncontact;
    bool has_impact = false;
    for (int k = 0; k < s->ncontact; k++) summary_gather(view, s, k, sums + SUMS * k, largest + LARGEST * k);
    pcs_rows_sum(view->system, SUMS * s->ncontact, sums);
    pcs_rows_max_each(view->system, LARGEST * s->ncontact, largest);
    for (int k = 0; k < s->ncontact; k++, sums += SUMS, largest += LARGEST) {
        pcs_contact_record *c = &s->contacts[k];
        s->now[k] = (pcs_contact_step){ .start = s->t,
                                        .t = view->state->t,
                                        .h = view->report->h,
                                        .step = view->state->step,
                                        .force = sums[FORCE],
                                        .step_impulse = sums[STEP_IMPULSE],
                                        .pressed = sums[PRESSED],
                                        .nimpact = (long)sums[IMPACTS],
                                        .touches = largest[TOUCHES] != 0.0,
                                        .gap = -largest[NEAREST] };
        has_impact = has_impact || s->now[k].nimpact > 0;
        c->impact_loss += sums[IMPACT_LOSS];
        c->friction_loss += sums[FRICTION_LOSS];
        c->work += sums[WORK];
        c->slid = fmax(c->slid, largest[SLID]);
    }
    return has_impact;
}

// Finds the error, m or rad, and the work, J, of every joint in the last step; 0 for supports.
static void summary_look_at_joints(const pcs_view *view, double *gap_error, double *work)
{
    const pcs_system *system = view->system;
    for (int r = 0; r < system->nreaction; r++) {
        int joint = system->reactions[r].contact; // -1 for a support
        int first = joint < 0 ? 0 : system->contacts[joint].first_row;
        int count = joint < 0 ? 0 : system->contacts[joint].nrow;
        gap_error[r] = work[r] = 0.0;
        for (int j = first; j < first + count; j++) gap_error[r] = fmax(gap_error[r], fabs(view->report->rows[j].gap));
        for (int j = first; j < first + count; j++) work[r] += summary_work(&view->report->rows[j]);
    }
    if (system->nreaction == 0) return;
    pcs_rows_max_each(system, system->nreaction, gap_error);
    pcs_rows_sum(system, system->nreaction, work);
}

static void summary_take_reactions(const pcs_view *view, pcs_summary *s, bool has_force)
{
    const pcs_system *system = view->system;
    double *gap_error = s->joined, *work = gap_error + system->nreaction;
    summary_look_at_joints(view, gap_error, work);
    for (int r = 0; r < system->nreaction; r++) {
        pcs_reaction_record *record = &s->reactions[r];
        double t = view->state->t;
        record->work += work[r];
        summary_keep_largest(gap_error[r], t, &record->gap_error, &record->gap_error_time);
        if (!has_force) continue;
        summary_keep_largest(pcs_norm3(view->reactions[r].force), t, &record->force, &record->force_time);
        summary_keep_largest(pcs_norm3(view->reactions[r].moment), t, &record->moment, &record->moment_time);
    }
}

// Updates the extremes and the times at which they are first reached. On a plateau round-off would choose the time.
static void summary_take_probes(const pcs_view *view, pcs_summary *s)
{
    for (int k = 0; k < view->nprobe; k++) {
        pcs_probe_record *r = &s->probes[k];
        double x = pcs_state_probe(view->state, view->system, &view->probes[k]), t = view->state->t;
        if (view->state->step == 0) *r = (pcs_probe_record){ x, x, x, t, x, t, .min_then = x, .max_then = x };
        r->end = x;
        r->min = fmin(r->min, x);
        r->max = fmax(r->max, x);
        double slack = SAME_EXTREME * (r->max - r->min);
        if (x < r->min_then - slack) r->min_then = x, r->min_time = t;
        if (x > r->max_then + slack) r->max_then = x, r->max_time = t;
    }
}

static void summary_take_in(const pcs_view *view, pcs_summary *s)
{
    summary_take_probes(view, s);
    s->speed = fmax(s->speed, pcs_model_speed(view));
    bool has_force = !summary_gather_all(view, s);
    resolution_add(s, view);
    summary_take_reactions(view, s, has_force);
    for (int k = 0; k < s->ncontact; k++) {
        pcs_contact_record *c = &s->contacts[k];
        if (c->is_joint) summary_take_joint(view, &view->system->contacts[k], has_force, c);
        else pcs_contact_record_add(c, &s->now[k]);
    }
    if (view->report->iterations > s->max_iterations) {
        s->max_iterations = view->report->iterations;
        s->max_iterations_step = view->state->step;
    }
    s->t = view->state->t;
}

// Returns the duration, s, of the longest swings of the ripple that trails a wave front in a mesh and returns to the
// contact with the release. They last about (2 n)^(1/3) of the shortest periods 2 pi/w of the mesh after 2 n cells,
// there and back (an Airy front); the stable step of central differences is 2/w. Over two such swings a bar's peak is
// within 8 % of the exact force, from 25 to 800 cells; for half of one the ripple opens a contact. Returns 0 for a few
// bodies, which have no such waves: their periods are their motion.
static double summary_swing(const pcs_view *view)
{
    const pcs_system *system = view->system;
    const double pi = 3.14159265358979323846;
    int ncell = system->picture == NULL ? 0 : system->picture->nall_cell;
    if (!pcs_system_is_mesh(system) || ncell < FEWEST_CELLS || !isfinite(system->stable_step)) return 0.0;
    return cbrt(2.0 * ncell) * pi * system->stable_step;
}

static pcs_status summary_open(pcs_observer *self)
{
    const summary_params *params = self->params;
    pcs_summary *s = self->data;
    const pcs_view *view = self->view;
    while (s->ncontact < view->system->ncontact && !view->system->contacts[s->ncontact].is_joint) s->ncontact++;
    PCS_TAKE(self->ctx, s->contacts, s->ncontact, "the record of contacts");
    PCS_TAKE(self->ctx, s->now, s->ncontact, "the record of contacts");
    PCS_TAKE(self->ctx, s->resolution.contact, s->ncontact, "the record of contacts");
    PCS_TAKE(self->ctx, s->joined, JOINED * s->ncontact + 2 * view->system->nreaction, "the record of contacts");
    PCS_TAKE(self->ctx, s->points, pcs_system_npoint(view->system), "the record of contacts");
    PCS_TAKE(self->ctx, s->reactions, view->system->nreaction, "the record of reactions");
    PCS_TAKE(self->ctx, s->probes, view->nprobe, "the record of probes");
    PCS_TRY(pcs_file_create(self->ctx, view->directory, sizeof "summary.json", SUMMARY_BUFFER, &s->file));
    pcs_file_remove(s->file, "summary.json");
    pcs_file_remove(s->file, "summary.txt"); // also in a resumed run, which has not ended
    s->t = view->state->t;
    double swing = summary_swing(view), h = view->step_size;
    s->open_time = isfinite(params->open_time) ? params->open_time : fmax(3.0 * h, 0.5 * swing);
    s->window = isfinite(params->filter) ? params->filter : fmax(10.0 * h, 2.0 * swing);
    for (int k = 0; k < s->ncontact; k++) {
        const pcs_contact_info *contact = &view->system->contacts[k];
        bool has_friction = contact->ntangent > 0, is_joint = pcs_is_joint(view->system, k);
        s->contacts[k] = (pcs_contact_record){
            contact->name,           s->open_time,      s->window, has_friction, is_joint, .min_gap = INFINITY,
            .peak_force = -INFINITY, .smooth_peak = NAN
        };
    }
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
    if (s->file == NULL) return PCS_OK; // it could not be opened
    s->verdict = resolution_judge(s, self->view);
    PCS_TRY(pcs_file_open(s->file, "summary.json"));
    summary_put_json(s, self->view);
    PCS_TRY(pcs_file_commit(s->file));
    if (((const summary_params *)self->params)->text) {
        PCS_TRY(pcs_file_open(s->file, "summary.txt"));
        summary_put_text(s, self->view);
        PCS_TRY(pcs_file_commit(s->file));
    }
    if (!self->view->refuses_unresolved || s->verdict.verdict != PCS_UNRESOLVED) return PCS_OK;
    return pcs_fail(self->ctx, PCS_FAILED, "the run is unresolved, which 'resolution: refuse' does not allow: %s",
                    pcs_resolution_advise(&s->verdict, &s->resolution).reason);
}

static pcs_status summary_serialize(pcs_observer *self, pcs_archive *c)
{
    pcs_summary *s = self->data;
    const pcs_system *system = self->view->system;
    pcs_archive_words(c, "t", &s->t, 1);
    for (pcs_contact_record *x = s->contacts; x < s->contacts + s->ncontact; x++) {
        pcs_archive_words(c, x->name, &x->ninterval, (sizeof *x - offsetof(pcs_contact_record, ninterval)) / 8);
        if (pcs_archive_reads(c) && (x->ninterval < 0 || x->window.count < 0 || x->window.count >= PCS_WINDOW_POINTS))
            pcs_archive_refuse(c, x->name, "has impossible numbers");
    }
    pcs_archive_words(c, "resolution", &s->resolution, offsetof(pcs_resolution, contact) / 8);
    pcs_archive_words(c, "episodes", s->resolution.contact, (size_t)s->ncontact * sizeof *s->resolution.contact / 8);
    for (int k = 0; k < s->ncontact && pcs_archive_reads(c); k++)
        if (!resolution_is_sound(&s->resolution.contact[k], k))
            pcs_archive_refuse(c, s->contacts[k].name, "has impossible numbers");
    size_t npoint = (size_t)pcs_system_npoint(system);
    pcs_archive_rows(c, "points",
                     &(pcs_archive_table){ s->points, npoint, sizeof *s->points, sizeof *s->points, true });
    pcs_archive_words(c, "speed", &s->speed, 1);
    pcs_archive_words(c, "reactions", s->reactions, (size_t)system->nreaction * sizeof *s->reactions / 8);
    pcs_archive_words(c, "probes", s->probes, (size_t)self->view->nprobe * sizeof *s->probes / 8);
    pcs_archive_int(c, "max_iterations", &s->max_iterations);
    pcs_archive_words(c, "max_iterations_step", &s->max_iterations_step, 1);
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
    .serialize = summary_serialize,
};
