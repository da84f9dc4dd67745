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
// weigh by energy times w^2, so that fast ones are seen long before they hold 1 % of the energy.

#include "output/summary.h"

#include <string.h>

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

double pcs_resolution_step(const pcs_view *view)
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

static double resolution_cells(const pcs_view *view, double period)
{
    double axial = view->axial_cell > 0.0 ? period / view->axial_cell : INFINITY;
    double bending = view->bending_cell > 0.0 ? 2.0 * PI * sqrt(period / (2.0 * PI * view->bending_cell)) : INFINITY;
    return axial < bending ? axial : bending;
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

static void advise_contact(const pcs_episode *e, pcs_advice *a)
{
    bool has_law = e->class == PCS_CLASS_LAW;
    if (has_law) advise(a, 75.0, (double)e->steps, &a->step, "too few steps in contact");
    else advise(a, 133.0, e->impulse / e->largest, &a->step, "one step has too large a share of the impulse");
    advise(a, has_law ? 45.0 : 6.0, e->cells, &a->cells, cells);
    advise_both(a, e, has_law ? 0.04 : 0.02, e->net, loses);
    advise_both(a, e, has_law ? 0.03 : 0.005, e->ripple, "the force has ripple");
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
        advise(&a, 75.0, (double)e->flight, &a.step, "too few steps before the contact");
    if (e->class == PCS_CLASS_RIGID) advise_both(&a, e, 0.1, e->variation, loses);
    if (e->class == PCS_CLASS_WAVE) {
        advise(&a, 40.0, (double)e->steps, &a.step, "too few steps in contact");
        advise(&a, e->contact < 0 ? 56.0 : 20.0, e->cells, &a.cells, cells);
        a.step = a.cells = fmax(a.step, a.cells); // the step follows the cells
    }
    if (e->class == PCS_CLASS_FREE) {
        advise(&a, 120.0, e->period, &a.step, "too few steps in a period");
        advise(&a, 80.0, e->cells, &a.cells, cells);
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

static bool judge_is_unresolved(const pcs_episode *e)
{
    switch (e->class) {
    case PCS_CLASS_FLEXIBLE:
        return e->net > 0.3 || (e->steps < 12 && e->net > 0.12) || (e->largest > 0.3 * e->impulse && !e->has_opened);
    case PCS_CLASS_LAW: return e->steps < 6 || e->net > 0.3 || (e->ripple > 0.145 && e->cells < 20.0);
    case PCS_CLASS_FREE: return e->period < 12.0 || e->cells < 4.0 || e->variation > 0.5;
    default: return false;
    }
}

static long judge(const pcs_episode *e)
{
    if (judge_is_unresolved(e)) return PCS_UNRESOLVED;
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
    if (pcs_rows_are_spread(system)) has_law = pcs_rows_max(system, has_law) > 0.0;
    if (resolution_is_wave(view)) return PCS_CLASS_WAVE;
    if (has_law) return PCS_CLASS_LAW;
    return view->axial_cell > 0.0 ? PCS_CLASS_FLEXIBLE : PCS_CLASS_RIGID;
}

bool pcs_resolution_is_sound(const pcs_contact_resolution *c, int k)
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
    e->cells = resolution_cells(view, 2.0 * (e->end - e->start));
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

void pcs_resolution_add(pcs_summary *s, const pcs_view *view)
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
    bool tells = r->most - r->least > 0.01 * r->energy && steps >= 3;
    pcs_episode e = { .class = PCS_CLASS_FREE, .contact = -1, .steps = steps, .end = view->state->t };
    if (resolution_is_wave(view)) e.class = PCS_CLASS_WAVE;
    e.period = tells ? 2.0 * PI / asin(fmin(0.5 * ratio, 1.0)) : NAN;
    e.variation = resolution_part(r, r->variation);
    e.net = resolution_part(r, fabs(resolution_net(view)));
    e.cells = resolution_cells(view, e.period * pcs_resolution_step(view));
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

pcs_episode pcs_resolution_judge(pcs_summary *s, const pcs_view *view)
{
    for (int k = 0; k < s->ncontact; k++) {
        s->resolution.contact[k].now.lasts = s->now[k].touches;
        episode_end(s, view, k);
    }
    double stable = view->system->stable_step; // 2/w of the fastest mode
    s->resolution.period = isfinite(stable) ? PI * stable / pcs_resolution_step(view) : NAN;
    pcs_episode e = resolution_worst(s, view);
    bool is_complete = pcs_resolution_advise(&e, &s->resolution).reason == NULL;
    if (e.verdict == PCS_RESOLVED && !is_complete) e.verdict = PCS_COARSE;
    return e;
}
