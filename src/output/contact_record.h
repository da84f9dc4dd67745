// What the summary knows of a contact: intervals of contact, impulses, forces, losses.
//
// An interval begins with a step in which the contact passes on an impulse of more than round-off, and ends when it has
// stayed open for longer than `open_time`. It has a force only when it passes on more than impulses of impacts: what
// closes and opens within one step has an impulse, and a force would be that over the step, whatever the step is.
//
// Beside the largest force stands the largest moving mean over `window`,
//   F_w(t) = (I(t) - I(t - window)) / window,   I(t) the impulse since the interval began,
// over the times at which the interval is at least as old as the window: it does not see the ripple of the mesh.

#ifndef PCS_OUTPUT_CONTACT_RECORD_H
#define PCS_OUTPUT_CONTACT_RECORD_H

#include "output/observer.h"

enum { PCS_KEPT_INTERVALS = 64, PCS_WINDOW_POINTS = 72 };

typedef struct pcs_interval {
    long first_step, last_step;
    double start, end;               // s: from the beginning of the first step to the end of the last
    double peak_force, peak_time;    // N, s: the largest smooth force, and when it is reached first, to 1e-9 of it
    double smooth_peak, smooth_time; // N, s: the largest moving mean, likewise; NAN: shorter than the window
    double peak_then, smooth_then;   // N, at these times
    double smooth_impulse;           // N s, the smooth force over time
    double impulse;                  // N s, all of it
    double pressed;                  // N s, all but impacts: there is a force only if this is positive
    long nimpact;                    // points that closed
} pcs_interval;
_Static_assert(sizeof(pcs_interval) == 14 * 8, "words without gaps, for checkpoints");

// The impulse over the last `window` of time, a broken line through few points.
typedef struct pcs_window {
    long count;
    double t[PCS_WINDOW_POINTS], impulse[PCS_WINDOW_POINTS]; // s, N s: since the interval began
} pcs_window;

// From ninterval on words without gaps, which checkpoints hold; before that what never changes.
typedef struct pcs_contact_record {
    const char *name;              // borrowed
    double open_time, window_time; // s
    bool rubs;                     // there is friction
    bool is_joint;                 // of a system in closed form: only misfit, force and work
    long ninterval;
    long is_touching;                      // in the last step
    pcs_interval kept[PCS_KEPT_INTERVALS]; // the first ones
    pcs_interval last;                     // also while it goes on
    pcs_window window;                     // of the last one
    // Over the whole run, whatever was kept
    double touching_time, impulse;       // s, N s
    double pressed_time, smooth_impulse; // s, N s: of intervals with a force
    double peak_force, peak_time;        // N, s
    double smooth_peak, smooth_time;     // N, s
    double peak_then, smooth_then;       // N
    double min_gap, min_gap_time;        // m, s
    double impact_loss, friction_loss;   // J
    double work;                         // J, of all its impulses on the model
    double slid;                         // m, of the point that slid farthest
    double misfit, misfit_time;          // of a joint, m or rad, s
    long nimpact;
} pcs_contact_record;

// What one step did to a contact as a whole.
typedef struct pcs_contact_step {
    double start, t, h; // s, of the step
    double force, step_impulse, gap;
    double pressed; // N s, of the impulse what is no impact
    bool touches;   // passes on more than round-off
    long step, nimpact;
} pcs_contact_step;

// Writes or reads it, within the part of an observer.
void pcs_contact_record_carry(pcs_contact_record *c, pcs_carrier *carrier);
void pcs_contact_record_add(pcs_contact_record *c, const pcs_contact_step *now);

static inline bool pcs_interval_has_force(const pcs_interval *i)
{
    return i->pressed > 0.0;
}

// NAN where there is no force.
double pcs_interval_mean(const pcs_interval *i);
double pcs_contact_mean(const pcs_contact_record *c);

#endif
